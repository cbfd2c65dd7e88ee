-- The numbers of colours, points and dashes, from 0 (plots/looks.gp), by series: those of the whole run, whichever of
-- its rows are kept.
-- needs: series
CREATE TEMP TABLE look_series AS
SELECT series, dense_rank() OVER (ORDER BY min(attention_id)) - 1 AS look FROM series GROUP BY series;
