-- A choice of landmarks is what one strategy picked on one head in one trial, for one kernel, pairing and factors.
-- Those with one like_id differ in landmarks and trial alone; those of one level (choice_level.sql) are of one panel
-- and have as many landmarks. `outcome` has each choice against each core: a row is in each trial that it stands for
-- (key.last_trial). above, unseen: as in above_best_core.sql.
-- needs: above_best_core choice_level
CREATE TEMP TABLE taken AS
WITH line AS MATERIALIZED (
    SELECT line_id, dense_rank() OVER (ORDER BY head_id, kernel_id, strategy_id, pairing_id, factors_id) AS like_id
    FROM key WHERE opens)
SELECT k.panel_id, k.core_id, k.trial, k.last_trial, r.landmarks, 16 * r.landmarks >= r.n AS dense, like_id,
       r.status = 'ok' AS ok, r.above, r.unseen
FROM key AS k JOIN line USING (line_id) JOIN above_best_core AS r ON r.id = k.id;

CREATE TEMP TABLE choice (id INTEGER PRIMARY KEY, level_id INTEGER, like_id INTEGER, landmarks INTEGER, trial INTEGER,
                          last_trial INTEGER, panel_id INTEGER, dense INTEGER);
INSERT INTO choice (level_id, like_id, landmarks, trial, last_trial, panel_id, dense)
SELECT level.id, like_id, landmarks, trial, min(last_trial), panel_id, dense
FROM taken JOIN choice_level AS level USING (panel_id, landmarks, dense) GROUP BY level.id, like_id, landmarks, trial
ORDER BY level.id, like_id, landmarks, trial;
CREATE UNIQUE INDEX choices ON choice (like_id, landmarks, trial);

CREATE TEMP TABLE outcome AS
SELECT c.level_id, c.id AS choice_id, t.core_id, t.trial, t.ok, t.above, t.unseen
FROM taken AS t JOIN choice AS c ON c.like_id = t.like_id AND c.landmarks = t.landmarks
    AND c.trial BETWEEN t.trial AND t.last_trial;
