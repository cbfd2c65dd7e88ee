-- summary: the attention of least output error for a share of exact attention's time, and the best of the others
-- reference: none: geometric means, and t intervals over sources, as in compare
-- place: 4
-- file: at_time.csv
-- needs: at_time
-- heading: The least output error of a pass of at most that share of exact attention's time
-- labels: 4
-- format: error: %.2g
-- format: second error: %.2g
-- format: times: %.2g
-- format: x: %.3g
-- cell: interval: [{interval: ratio %.2g}, {_high: ratio %.2g}] | -
-- paragraph: In the table:
-- word: time: of the fastest exact attention of the run, on the same layers and threads
-- word: chosen: for how many sources the first and the second are the best on all other sources; no source judges what
--   it has helped to choose, so error and interval are of those that its others have chosen
-- word: x: times faster than that
-- word: error: geometric mean over layers and trials; second: the best of all other attentions, not of other options
-- word: times: the second's error over the first's, on the same layers; above 1 the first has less error
-- word: interval: 95 % of that line alone, over sources and trials, where there are 6 sources or more
-- note: -: no other attention is that fast; no line: none is, or there is one source alone, on which nothing can be
--   judged
SELECT cell.layers, cell.threads, cell.n, exact.label AS baseline, 1.0 / fraction AS at_most, cell.attention, chosen,
       times, error, other.attention AS second, second_chosen, second_times, second_error, ratio, low AS ratio_low,
       high AS ratio_high, judges, at_time.sources
FROM at_time JOIN cell USING (cell_id) JOIN exact ON exact.attention_id = exact_id
LEFT JOIN cell AS other ON other.cell_id = second_cell_id
ORDER BY at_time.family_id, at_time.threads, at_time.n, fraction DESC;

SELECT cell.layers, cell.threads, cell.n, '1/' || fraction AS time, cell.attention_label AS attention,
       chosen || coalesce(', ' || second_chosen, '') || ' of ' || judges AS chosen, times AS x,
       error, coalesce(other.attention_label, '-') AS second, second_error AS "second error", ratio AS times,
       low AS interval, high AS _high, at_time.sources
FROM at_time JOIN cell USING (cell_id) JOIN exact ON exact.attention_id = exact_id
LEFT JOIN cell AS other ON other.cell_id = second_cell_id
ORDER BY at_time.family_id, at_time.threads, at_time.n, fraction DESC;
