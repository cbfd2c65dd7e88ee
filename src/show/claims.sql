-- A part for each claim, with its models or parts.
SELECT kind, text FROM (
    SELECT number, 0 AS place, 'heading 2' AS kind, experiment AS text FROM told
    WHERE runs > 1 AND number IN (SELECT min(number) FROM told GROUP BY run)
    UNION ALL
    SELECT number, 1, 'heading 4', printf('%-10s', marked) || '  ' || id || ': ' || says FROM told WHERE row = 'claim'
    UNION ALL
    SELECT number, 2, 'note', '(' || source || ')' FROM told WHERE row = 'claim' AND source <> ''
    UNION ALL
    SELECT number, 3, 'note', CASE WHEN parts = 0 THEN line ELSE quantity || ', expected ' || expected ||
           ' in each of ' || parts || ' parts' END ||
           CASE WHEN finite(slack) IS NULL THEN '' ELSE '; slack ' || numeral(slack) END
    FROM told WHERE row = 'claim'
    UNION ALL
    SELECT number, 4, 'item', name || ': ' || marked || ', ' || found || '; ' || units ||
           CASE note WHEN '' THEN '' ELSE '; ' || note END FROM told WHERE row = 'part'
    UNION ALL
    SELECT number, 4, 'item', label || ': ' || found || '; ' || units FROM told
    WHERE row = 'model' AND parts = 0 AND claim IN (SELECT claim FROM told WHERE row = 'claim' AND models > 1))
ORDER BY number, place;
