-- How far each core's error is above the subspace part, which is the best core's on the same landmarks, as a share of
-- that, by landmarks: the median over panels, variants, heads and trials (above), quantiles and the core's median time.
-- A row counts in each trial of its panel that it stands for. complete: it is measured on the choices of landmarks that
-- most cores are; nearness: the rank by above, of these that are no oracles; next_id, next: the core behind it, and its
-- above.
-- needs: core cell
CREATE TEMP TABLE excess AS
WITH lasting_row AS MATERIALIZED (SELECT id, last_trial FROM key WHERE trial < last_trial),
weighed_row AS (
    SELECT m.*, min(coalesce(last_trial, m.trial), trials - 1) - m.trial + 1 AS times
    FROM member AS m JOIN panel ON panel.id = m.panel_id LEFT JOIN lasting_row AS l ON l.id = m.id
    WHERE above IS NOT NULL)
SELECT core_id, landmarks, panel_id, variant_id, head_id, size(list(repeated(above, times))) AS count,
       list(repeated(above, times)) AS above, list(repeated(core_s, times)) AS core_s
FROM weighed_row
GROUP BY core_id, landmarks, panel_id, variant_id, head_id;
CREATE UNIQUE INDEX excesses ON excess (core_id, landmarks, panel_id, variant_id, head_id, count);

CREATE TEMP TABLE core_above AS
WITH core_median AS (
    SELECT core_id, landmarks, size(list(above)) AS count, count(*) AS choices, median(above) AS above,
           quantile(above, 0.1) AS p10, quantile(above, 0.9) AS p90, median(core_s) AS core_s
    FROM excess GROUP BY core_id, landmarks),
fullest_core AS (
    SELECT landmarks, core_id AS most_id, choices AS most FROM (
        SELECT m.*, row_number() OVER (PARTITION BY landmarks ORDER BY count DESC, place) AS rank
        FROM core_median AS m JOIN core ON core.id = core_id) WHERE rank = 1),
shared_choice AS (
    SELECT a.core_id, a.landmarks, count(*) AS shared
    FROM excess AS a JOIN fullest_core AS f USING (landmarks) JOIN excess AS b ON b.core_id = most_id
        AND b.landmarks = a.landmarks AND b.panel_id = a.panel_id AND b.variant_id = a.variant_id
        AND b.head_id = a.head_id AND b.count = a.count
    GROUP BY a.core_id, a.landmarks),
per_core AS (
    SELECT core_id, landmarks, coalesce(count, 0) AS count, above, p10, p90, core_s,
           coalesce(shared = most AND choices = most, 0) AS complete
    FROM (SELECT DISTINCT core_id, landmarks FROM cell) LEFT JOIN core_median USING (core_id, landmarks)
    LEFT JOIN fullest_core USING (landmarks) LEFT JOIN shared_choice USING (core_id, landmarks))
SELECT per_core.*, CASE WHEN complete AND NOT oracle THEN row_number() OVER rivals END AS nearness,
       lead(core_id) OVER rivals AS next_id, lead(above) OVER rivals AS next
FROM per_core JOIN core ON core.id = core_id
WINDOW rivals AS (PARTITION BY landmarks, complete AND NOT oracle ORDER BY above, place);
