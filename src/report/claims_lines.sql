-- headless: a line for each claim; one without a name is called by what it says, if that is short
-- labels: 1
SELECT verdict, CASE WHEN id LIKE 'claim-%' AND length(says) <= 60 THEN says ELSE id END AS claim, line AS found FROM told WHERE row = 'claim' ORDER BY number;
