-- Each variant against the baseline's on the same data, factors, core and landmarks, in the same pairing if the
-- baseline was planned in that one there (fixed), else in another. ratio: the median over heads and trials of error /
-- baseline's error; pairs that are rounding noise on both sides are counted (noise) and left out. best: the least ratio
-- of those that have the same baseline. The same of the subspace part.
--
-- baseline_of: the baseline of each cell, and the question whose pairs are of the two; opposed, met: these pairs;
-- faced: those of two that are compared.
-- needs: cell_line pairs:strategy,pairing
CREATE TEMP TABLE baseline_of AS
WITH rival AS (SELECT * FROM variant WHERE strategy = :baseline),
opponent AS (
    SELECT c.panel_id, c.core_id, c.landmarks, c.variant_id, b.variant_id AS base_id,
           kernel.one_set OR coalesce(v.pairing_id = r.pairing_id, 1) AS fixed
    FROM cell AS c JOIN variant AS v ON v.id = c.variant_id JOIN rival AS r ON r.factors_id = v.factors_id
    JOIN cell AS b ON b.panel_id = c.panel_id AND b.core_id = c.core_id AND b.landmarks = c.landmarks
        AND b.variant_id = r.id
    JOIN panel ON panel.id = c.panel_id JOIN component AS kernel ON kernel.kind = 'kernel' AND kernel.id = kernel_id)
SELECT *, CASE WHEN fixed THEN 'strategy' ELSE 'strategy, any pairing' END AS question
FROM (SELECT *, row_number() OVER (
    PARTITION BY panel_id, core_id, landmarks, variant_id ORDER BY fixed DESC, base_id) AS place FROM opponent)
WHERE place = 1;

CREATE UNIQUE INDEX baselines ON baseline_of (panel_id, core_id, landmarks, variant_id);

CREATE TEMP TABLE opposed ( -- each line of a cell, and what it is paired with
    panel_id INTEGER, core_id INTEGER, landmarks INTEGER, variant_id INTEGER, same INTEGER, head_id INTEGER,
    question TEXT,
    setting INTEGER, fixed INTEGER, a INTEGER, a_pairing INTEGER, b INTEGER, b_pairing INTEGER,
    PRIMARY KEY (panel_id, core_id, landmarks, variant_id, same)) WITHOUT ROWID;
INSERT INTO opposed
SELECT l.panel_id, l.core_id, l.landmarks, l.variant_id, l.same, l.head_id, l.question, l.setting, n.fixed,
       v.strategy_id, v.pairing_id, base.strategy_id, base.pairing_id
FROM cell_line AS l CROSS JOIN baseline_of AS n ON n.panel_id = l.panel_id AND n.core_id = l.core_id
    AND n.landmarks = l.landmarks AND n.variant_id = l.variant_id AND n.question = l.question
JOIN variant AS v ON v.id = n.variant_id JOIN variant AS base ON base.id = n.base_id;

CREATE TEMP VIEW met AS -- a pair's values have no affinity: + leaves none to what its index is asked by
SELECT o.panel_id, o.core_id, o.landmarks, o.variant_id, o.fixed, p.*
FROM opposed AS o CROSS JOIN pair AS p ON p.question = o.question AND p.same = o.same AND p.a = +o.a AND p.b = +o.b
WHERE fixed OR ((SELECT pairing_id FROM key WHERE id = p.a_id) = a_pairing
                AND (SELECT pairing_id FROM key WHERE id = p.b_id) = b_pairing);

CREATE TEMP TABLE subspace (id INTEGER PRIMARY KEY, x REAL, noise REAL);
INSERT INTO subspace SELECT id, subspace, subspace_noise FROM member ORDER BY id;

CREATE TEMP VIEW faced AS
SELECT m.*, a.x AS sub_x, b.x AS sub_y, a.noise AS sub_noise_x, b.noise AS sub_noise_y,
       pair_noise(a.x, b.x, a.noise, b.noise) AS sub_noise, pair_ratio(a.x, b.x, a.noise, b.noise) AS sub_ratio
FROM met AS m CROSS JOIN subspace AS a ON a.id = a_id CROSS JOIN subspace AS b ON b.id = b_id
WHERE refusal IS NULL;

CREATE TEMP TABLE versus AS
WITH cell_ratio AS (
    SELECT panel_id, core_id, landmarks, variant_id, count(ratio) AS count, count(CASE WHEN noise THEN 1 END) AS noise,
           median(ratio) AS ratio, count(sub_ratio) AS sub_count, count(CASE WHEN sub_noise THEN 1 END) AS sub_noise,
           median(sub_ratio) AS sub_ratio
    FROM faced GROUP BY panel_id, core_id, landmarks, variant_id)
SELECT c.panel_id, c.core_id, c.variant_id, c.landmarks, base_id, coalesce(fixed, 0) AS fixed,
       coalesce(r.count, 0) AS count, coalesce(r.noise, 0) AS noise, c.median AS error, ratio,
       CASE WHEN fixed AND ratio IS NOT NULL THEN min(ratio) OVER peers END AS best,
       coalesce(sub_count, 0) AS sub_count,
       coalesce(sub_noise, 0) AS sub_noise, c.subspace, sub_ratio,
       CASE WHEN fixed AND sub_ratio IS NOT NULL THEN min(sub_ratio) OVER peers END AS sub_best, c.select_s
FROM cell AS c LEFT JOIN baseline_of USING (panel_id, core_id, landmarks, variant_id)
LEFT JOIN cell_ratio AS r USING (panel_id, core_id, landmarks, variant_id)
WINDOW peers AS (PARTITION BY c.panel_id, c.core_id, c.landmarks, base_id, fixed);
