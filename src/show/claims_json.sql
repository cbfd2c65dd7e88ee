-- An object for each row of answers, which belongs into a list of the last one before that is less deep.
WITH object AS (
    SELECT *, json_object('verdict', verdict, 'more_sources', CAST(finite(more) AS INTEGER), 'slack',
               json(shown('%.16e', finite(slack))), 'disturbed', disturbed, 'why', why) AS verdicts,
           json_object('estimate', json(shown('%.16e', finite(estimate))), 'low', json(shown('%.16e', finite(low))),
               'high', json(shown('%.16e', finite(high))), 'sources', sources, 'heads', heads, 'family', nullif(family,
                   0)) AS numbers
    FROM told)
SELECT CASE row WHEN 'claim' THEN 0 WHEN 'part' THEN 1 ELSE 1 + (part > 0) END AS depth, row || 's' AS list,
       '{' || CASE row
           WHEN 'model' THEN trim(json_object('model', name), '{}') || ',' || trim(numbers, '{}')
           WHEN 'part' THEN trim(json_object('part', name), '{}') || ',' || trim(verdicts, '{}') || ',' ||
               trim(numbers, '{}') || ',"models":[]'
           ELSE trim(json_object('experiment', nullif(experiment, ''), 'id', id, 'says', says, 'source',
                   nullif(source, ''), 'form', form), '{}') || ',' || trim(verdicts, '{}') || ',' ||
               trim(json_object('part', name, 'quantity', quantity), '{}') || ',' ||
               trim(numbers, '{}') || ',' ||
               trim(json_object('expected_low', json(shown('%.16e', finite(expected_low))),
                   'expected_high', json(shown('%.16e', finite(expected_high))), 'claim', claim_text), '{}')
                       || ',"models":[],"parts":[]' END || '}' AS text
FROM object ORDER BY number;
