-- headless: a line for each claim; one without a name is called by what it says, or the beginning of that
-- labels: 1
SELECT marked AS verdict, CASE WHEN id NOT LIKE 'claim-%' THEN id WHEN length(says) <= 60 THEN says
       ELSE id || ': ' || substr(says, 1, 45) || '...' END AS claim, line AS found
FROM told WHERE row = 'claim' ORDER BY number;
