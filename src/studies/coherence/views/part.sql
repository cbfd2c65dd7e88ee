-- A part is what one line is of: rows that are ok and agree in model, layer, n, side, k, tau and partition. Its number
-- is the position of its first row.
CREATE TEMP TABLE member AS
SELECT id, source_id, min(position) OVER (
           PARTITION BY stratum_id, layer, n, side_id, clusters, tau, partition_id) AS part_id,
       min(position) OVER (PARTITION BY stratum_id, layer, n, side_id) AS data_id
FROM run WHERE status = 'ok';
CREATE INDEX members ON member (part_id);

CREATE TEMP TABLE part AS
SELECT part_id, data_id, stratum.name AS model, stratum.label AS model_label, layer, n, side, clusters, tau,
       partition, partition_id, partition_label, sources, rows
FROM (SELECT part_id, data_id, count(*) AS rows, count(DISTINCT source_id) AS sources FROM member GROUP BY part_id)
JOIN run ON position = part_id JOIN stratum ON stratum.id = stratum_id
ORDER BY part_id;

-- What tables say of a part's data, for people, above its lines.
CREATE TEMP TABLE data AS
SELECT data_id,
       model_label || coalesce(char(10) || 'layer ' || layer, '') || char(10) || side || char(10) || 'n = ' || n
           AS items,
       'sources: ' || max(sources) AS about,
       model_label || coalesce(' layer ' || layer, '') || ', ' || side
       || CASE WHEN count(*) OVER (PARTITION BY model, layer, side) > 1 THEN ', n = ' || n ELSE '' END AS panel
FROM part GROUP BY data_id;
