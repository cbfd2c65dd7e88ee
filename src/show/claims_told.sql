-- The answers to claims in words: the verdict, with the mark of times that were disturbed, what was found, what is
-- expected, of how many, what there is to say besides, and all of that in one line.
DROP VIEW IF EXISTS temp.told;
CREATE TEMP VIEW told AS
SELECT *, CASE WHEN sources = 0 THEN note ELSE
          coalesce(name || ': ', '') || quantity || ' ' || found || ', expected ' || expected || '; ' ||
          units || CASE note WHEN '' THEN '' ELSE '; ' || note END END AS line
FROM (SELECT *, numeral(estimate) || CASE WHEN low IS NULL THEN '' ELSE
                 ' [' || coalesce(bound('%.3g', finite(low), edge, other), numeral(low)) || ', ' ||
                 coalesce(bound('%.3g', finite(high), edge, other), numeral(high)) || ']' END AS found,
             CASE WHEN ordered THEN 'below 1'
                  WHEN finite(expected_low) IS NULL THEN 'at most ' || shown('%.4g', expected_high)
                  WHEN finite(expected_high) IS NULL THEN 'at least ' || shown('%.4g', expected_low)
                  ELSE shown('%.4g', expected_low) || ' to ' || shown('%.4g', expected_high) END AS expected,
             sources || CASE sources WHEN 1 THEN ' source, ' ELSE ' sources, ' END ||
             heads || CASE heads WHEN 1 THEN ' head' ELSE ' heads' END ||
             CASE WHEN family > max(parts, 1) THEN '; one of ' || family || ' that hold together' ELSE '' END AS units,
             CASE WHEN disturbed > 0 AND verdict <> 'void' THEN verdict || ' !' ELSE verdict END AS marked,
             ltrim(CASE WHEN finite(more) IS NULL THEN coalesce(why, '') ELSE 'about ' || shown('%.0f', more) ||
                   ' more source' || CASE more WHEN 1 THEN '' ELSE 's' END || ' would decide' END ||
                   CASE WHEN disturbed > 0 THEN '; ' || disturber || ' disturbed ' || disturbed || ' of ' || timed ||
                        CASE WHEN form = 'compare' THEN ' pairs of times' ELSE ' times' END ||
                        ' (' || disturber_hint || ')' ELSE '' END, '; ') AS note
      FROM (SELECT *, CASE WHEN ordered THEN 1 ELSE lowest END AS edge, CASE WHEN NOT ordered THEN highest END AS other,
                   CASE WHEN untested IS NULL THEN lowest END AS expected_low,
                   CASE WHEN untested IS NULL THEN highest END AS expected_high,
                   CASE WHEN untested IS NOT NULL THEN NULL WHEN expectation = 'value' THEN measured
                        WHEN expectation LIKE '%difference' THEN 'difference' WHEN expectation = 'wins' THEN 'wins'
                        ELSE 'ratio' END AS quantity FROM answer));
