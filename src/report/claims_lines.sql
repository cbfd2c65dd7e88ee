-- headless: a line for each claim
-- labels: 2
SELECT verdict, id AS claim, line AS found FROM told WHERE row = 'claim' ORDER BY number;
