-- How the rows of a run were measured: by which calls of the program, a column each, and by the last of them.
DROP TABLE IF EXISTS temp.call;
CREATE TEMP TABLE call AS
SELECT *, row_number() OVER (ORDER BY id) AS number, row_number() OVER (ORDER BY id DESC) AS back, count(*) OVER ()
    AS calls
FROM (SELECT manifest AS id, count(*) AS rows FROM results WHERE position IS NOT NULL GROUP BY manifest)
JOIN manifests AS m USING (id);

SELECT 'No row has been measured yet.' AS paragraph WHERE NOT EXISTS (SELECT 1 FROM call);

SELECT calls || ' calls of the program have added rows; the last 5:' AS paragraph FROM call WHERE back = 1
    AND calls > 5;

-- labels: 1
SELECT f.name AS " ", CASE calls WHEN 1 THEN 'as measured' ELSE 'call ' || number END AS _across,
       CAST(CASE f.key WHEN 'rows' THEN rows WHEN 'executable' THEN substr(json_extract(text, '$.executable'), 1, 12)
       ELSE json_extract(text, '$.' || f.key) END AS TEXT) AS _cell
FROM call JOIN (
    SELECT key AS place, json_extract(value, '$[0]') AS key, json_extract(value, '$[1]') AS name
    FROM json_each('[["started", "started"], ["rows", "rows"], ["nysbench", "nysbench"], ["build", "build"],
        ["executable", "executable, SHA-256"], ["compiler", "compiler"], ["arithmetic", "arithmetic"], ["host", "host"],
        ["cpu", "processor"], ["cpus_usable", "usable CPUs"], ["load", "load before it began"],
        ["memory_mib", "memory, MiB"], ["system", "system"], ["jobs", "workers"],
        ["blas_threads", "BLAS threads each"], ["blas", "BLAS"], ["lapack", "LAPACK"], ["gsl", "GSL"],
        ["gnuplot", "gnuplot"]]')) AS f
WHERE back <= 5 ORDER BY place, number;

SELECT 'The command, from the folder that it was given in, with the same build:' AS paragraph FROM call WHERE back = 1;

SELECT group_concat(CASE WHEN w.key = 0 OR w.value GLOB '[^=]*' AND w.value NOT GLOB '*[^a-zA-Z0-9_@%+=:,./-]*'
           THEN w.value ELSE '''' || replace(w.value, '''', '''\''''') || '''' END, ' ') OVER (
           ORDER BY w.key ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS verbatim
FROM call, json_each(call.text, '$.arguments') AS w WHERE back = 1 LIMIT 1;

SELECT 'Files that the rows are made from: ' || json_array_length(text, '$.files') AS "heading 6"
FROM call WHERE back = 1 AND json_array_length(text, '$.files') > 0;

-- labels: 1
SELECT json_extract(f.value, '$.path') AS file, json_extract(f.value, '$.bytes') AS bytes,
       json_extract(f.value, '$.sha256') AS "SHA-256"
FROM call, json_each(call.text, '$.files') AS f WHERE back = 1 ORDER BY f.key;
