-- The numbers of colours, points and dashes, from 0 (plots/looks.gp), by specs: those of the whole run, whichever of
-- its rows are kept. The first attention of each curve has its curve's number, the others follow.
-- needs: sized
CREATE TEMP TABLE look_attention AS
SELECT spec, dense_rank() OVER (ORDER BY first) - 1 AS look_of_curve,
       row_number() OVER (ORDER BY attention_id <> first, attention_id) - 1 AS look
FROM sized;
