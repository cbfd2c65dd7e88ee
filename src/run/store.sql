-- The statements of the store (store.c tells what its tables hold). A word in braces is a form of the study's columns
-- (schema.sql); {version} is that of the store's format.

-- Large pages: a row has 600 bytes, and is written, journalled and written again by the page.
-- name: create
PRAGMA page_size = 16384;
BEGIN;
CREATE TABLE manifests (id INTEGER PRIMARY KEY, build TEXT NOT NULL, executable TEXT NOT NULL, text TEXT NOT NULL);
CREATE TABLE results (position INTEGER, wanted INTEGER, inputs TEXT NOT NULL,
                      manifest INTEGER REFERENCES manifests (id), {definitions},
                      UNIQUE ({identity}, n, d, inputs));
CREATE INDEX positions ON results (position);
CREATE VIEW run AS SELECT {names} FROM results WHERE position IS NOT NULL ORDER BY position;
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT);
PRAGMA user_version = {version};

-- name: begin
BEGIN;

-- name: begin_writing
BEGIN IMMEDIATE;

-- name: commit
COMMIT;

-- name: rollback
ROLLBACK;

-- name: version
PRAGMA user_version;

-- name: check
PRAGMA quick_check(1);

-- KiB: to write, the pages of a plan of 80,000 rows.
-- name: cache_to_write
PRAGMA temp_store = MEMORY;
PRAGMA cache_size = -65536;

-- Who reads goes through the file, with little. What is made of rows may be larger than memory: it is in a file.
-- name: cache_to_read
PRAGMA temp_store = FILE;
PRAGMA cache_size = -2048;

-- name: count_tables
SELECT count(*) FROM sqlite_schema;

-- Views in the place of its tables.
-- name: count_views
SELECT count(*) FROM main.sqlite_schema WHERE type <> 'table' AND name IN ('results', 'manifests', 'meta');

-- name: set
INSERT OR REPLACE INTO meta VALUES (:key, :value);

-- name: get
SELECT value FROM meta WHERE key = :key;

-- name: labels
SELECT key, value FROM meta WHERE key GLOB 'label *';

-- Writes something that changes nothing.
-- name: touch
REPLACE INTO meta SELECT * FROM meta;

-- Columns that rows of an older program lack: as whoever reads sees them, and in the table.
-- name: show_lacking
CREATE TEMP VIEW results AS SELECT *, {lacking} FROM main.results;

-- name: add_lacking
ALTER TABLE results ADD COLUMN {definitions};

-- name: show_added
DROP VIEW run;
CREATE VIEW run AS SELECT {names} FROM results WHERE position IS NOT NULL ORDER BY position;
PRAGMA user_version = {version};

-- name: find_manifest
SELECT id FROM manifests WHERE text = :text;

-- name: add_manifest
INSERT INTO manifests (text, build, executable) VALUES (:text, :build, :executable);

-- name: count_manifests
SELECT count(*) FROM manifests;

-- Manifests: number, rows in the plan, hidden rows, text, build, executable and arithmetic, which no store that this
-- program writes lacks.
-- name: manifests
SELECT m.id, count(r.position), count(r.inputs) - count(r.position), m.text, m.build, m.executable,
       coalesce(json_extract(m.text, '$.arithmetic'), 'arithmetic unknown')
FROM manifests AS m LEFT JOIN results AS r ON r.manifest = m.id GROUP BY m.id ORDER BY m.id;

-- Those of hidden rows that are planned again, since they were measured on other data.
-- name: replaced
SELECT m.id, 0, count(*), m.text, m.build, m.executable,
       coalesce(json_extract(m.text, '$.arithmetic'), 'arithmetic unknown')
FROM results AS old CROSS JOIN results AS new ON true{paired} CROSS JOIN manifests AS m ON m.id = old.manifest
WHERE new.position IS NOT NULL AND new.status = 'planned' AND old.position IS NULL AND old.status <> 'planned'
GROUP BY m.id ORDER BY m.id;

-- One of each program.
-- name: programs
SELECT min(m.id), sum(r.rows), 0, m.text, m.build, m.executable,
       coalesce(json_extract(m.text, '$.arithmetic'), 'arithmetic unknown') AS arithmetic
FROM (SELECT manifest, count(*) AS rows FROM results WHERE position IS NOT NULL GROUP BY manifest) AS r
JOIN manifests AS m ON m.id = r.manifest GROUP BY m.executable, arithmetic ORDER BY min(m.id);

-- The rows of a plan, by rowid, with the metrics that are wanted and the digests of their data.
-- name: make_planned
CREATE TEMP TABLE planned AS SELECT {planned}, wanted, inputs FROM results LIMIT 0;

-- name: add_planned
INSERT INTO planned ({planned}, rowid, wanted, inputs) VALUES ({parameters}, :position, :wanted, :inputs);

-- Takes the position from rows that have another row's, or one outside of the plan; then writes the rows of the plan
-- that are not there as planned. Results stay where all that is wanted is measured.
-- name: place
UPDATE results AS old SET position = NULL
WHERE position IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM planned AS new
    WHERE new.rowid = old.position{paired} AND old.n = new.n AND old.d = new.d AND old.inputs = new.inputs);
INSERT INTO results ({planned}, position, wanted, inputs)
SELECT {planned}, rowid, wanted, inputs FROM planned AS new
WHERE NOT EXISTS (
    SELECT 1 FROM results AS old
    WHERE old.position = new.rowid AND (old.wanted & new.wanted) = new.wanted{unchanged})
ON CONFLICT ({identity}, n, d, inputs) DO UPDATE SET position = excluded.position, {told},
    status = CASE WHEN (wanted & excluded.wanted) = excluded.wanted THEN status ELSE 'planned' END, {kept};

-- name: end_planning
DROP TABLE planned;
UPDATE results SET manifest = NULL WHERE status = 'planned' AND manifest IS NOT NULL;

-- The rows that ended so are planned again.
-- name: plan_again
UPDATE results SET status = 'planned', {cleared} WHERE position IS NOT NULL AND status = :status;

-- name: count_measured
SELECT count(*) FROM (SELECT 1 FROM results WHERE status <> 'planned' LIMIT 1);

-- name: statuses
SELECT position, status FROM results WHERE position IS NOT NULL;

-- Of the rows of `planned`.
-- name: standing
SELECT new.rowid, old.status
FROM planned AS new CROSS JOIN results AS old ON old.n = new.n AND old.d = new.d{paired}
    AND old.inputs = new.inputs
WHERE (old.wanted & new.wanted) = new.wanted;

-- name: write
UPDATE results SET {assignments}, wanted = :wanted, manifest = :manifest WHERE position = :position;

-- name: count_rows
SELECT count(*) FROM results WHERE position IS NOT NULL;

-- name: rows
SELECT {names} FROM results WHERE position IS NOT NULL ORDER BY position;

-- name: signatures
SELECT coalesce(manifest, 0) FROM results WHERE position IS NOT NULL ORDER BY position;
