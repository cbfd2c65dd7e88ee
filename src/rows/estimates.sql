-- Estimates of the pairs of a view (estimates.h), whose columns before those of a pair are {groups}.

-- name: columns
SELECT name FROM pragma_table_info(:view, 'temp') ORDER BY cid;

-- name: pairs
SELECT {groups:@, }x, y, noise_x, noise_y, se_x, se_y, stratum_id, source_id, head_id, trial, draws
FROM temp.{pairs} ORDER BY {first}{others:, @};

-- name: table
CREATE TEMP TABLE {estimates} (
    ratio REAL, low REAL, high REAL, sources INTEGER, heads INTEGER, missing INTEGER, verdict TEXT, why TEXT,
    untested TEXT
    {groups:, @});

-- name: judge
UPDATE temp.{estimates} SET verdict = ?, why = ?, untested = ? WHERE rowid = ?;
