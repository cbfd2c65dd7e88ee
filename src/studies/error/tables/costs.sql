-- summary: multiplications of a forward pass with each core, against exact attention, and times
-- reference: Golub & Van Loan, Matrix Computations, 4th ed. 2013, sec. 8.6 (the SVD's cost)
-- needs: core cost
-- exists: priced_core
-- heading: The cost of a forward pass of one head
-- labels: 4
-- format: multiplications: %.2g
-- format: % of exact: %.1f
-- format: core_s: %.2g
-- format: exact_s: %.2g
-- shared: Multiplications, % of those of exact attention, 2 n^2 d; and median seconds on one CPU for X alone and for
--   exact attention
SELECT n, d, landmarks, spec AS core, multiplications, of_exact, core_s, exact_s
FROM cost JOIN core ON core.id = core_id WHERE (option IS NULL OR plain) AND NOT oracle
ORDER BY size, landmarks, cost.place;

SELECT n, d, landmarks AS m, core.full AS core, multiplications, 100 * of_exact AS "% of exact", core_s, exact_s
FROM cost JOIN core ON core.id = core_id WHERE (option IS NULL OR plain) AND NOT oracle
ORDER BY size, landmarks, cost.place;
