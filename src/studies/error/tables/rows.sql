-- summary: cores by the number of rows of S that they look at, by problem
-- reference: none: medians over heads and trials
-- needs: by_rows
-- heading: Cores by the rows of S that they look at
-- paragraph: In the tables:
-- word: error: over the best core's, median over the rows of the run
-- word: unseen: the same on the rows of S that the core has not looked at, over the best core's for these
-- word: below first: the number of choices of landmarks on which it is below the first core of the run, {_first}
-- word: below kept: the same against that core with as many rows of S kept exactly; both are blank where
--   'nysbench compare' refuses the two
SELECT panel.title AS problem, core.spec AS core, r.rows, error, unseen, below_first, below_kept
FROM by_rows AS r JOIN panel ON panel.id = panel_id JOIN core ON core.id = core_id ORDER BY panel_id, r.place;

SELECT panel.items AS _part, core.full AS core, r.rows, error, unseen, coalesce(below_first, '') AS "below first",
       coalesce(below_kept, '') AS "below kept", (SELECT core.full FROM core WHERE place = 0) AS _first
FROM by_rows AS r JOIN panel ON panel.id = panel_id JOIN core ON core.id = core_id ORDER BY panel_id, r.place;
