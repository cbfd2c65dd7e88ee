-- summary: strategies on an axis of mean ranks, with the critical difference
-- reference: J. Demsar, Statistical comparisons of classifiers over multiple data sets, J. Mach. Learn. Res. 7, 2006
-- needs: ranking drawn_variant
-- script: ranks.gp
-- title: mean ranks by error, with {_stem}, {_title}
-- data: rank _level _side _to _layer _ranked _difference _layers
-- set: subtitle 1: the least error in every source
-- set: bar_text {_bars}
-- cell: _panel: {_panel}, Friedman's p = {_p: %.2g}{_outcome} | {_panel}
WITH bar AS ( -- from the first of a group to its last
    SELECT standing_id, first, last, row_number() OVER (PARTITION BY standing_id ORDER BY first) - 1 AS number
    FROM equals WHERE first < last),
bar_layers AS ( -- as many as bars lie side by side somewhere: of bars that end in order, every so many-th is free
    SELECT standing_id, max(depth) AS layers
    FROM (SELECT a.standing_id, count(*) AS depth FROM bar AS a JOIN bar AS b ON b.standing_id = a.standing_id
              AND b.first <= a.first AND b.last >= a.first GROUP BY a.standing_id, a.first)
    GROUP BY standing_id),
drawn_standing AS (
    SELECT *, stem || CASE WHEN min(title) OVER of_scope < max(title) OVER of_scope THEN ', ' || title ELSE '' END
           AS figure
    FROM titled WINDOW of_scope AS (PARTITION BY scope_id))
SELECT figure, landmarks, m.label AS strategy, r.rank, groups, sources, planned - sources AS left_out, chi2, chi2_p, f,
       f_p, w, critical_difference,
       figure AS _figure, 'm = ' || landmarks || coalesce(', no test: ' || untested, ', ' || sources ||
           CASE WHEN sources < planned THEN ' of ' || planned ELSE '' END || ' sources') AS _panel,
       chi2_p AS _p, CASE WHEN chi2_p > 0.05 THEN ': no difference shown' ELSE '' END AS _outcome,
       m.label AS _series, (
           SELECT v.look FROM drawn_variant AS v JOIN key AS k ON k.number = setting_id
           WHERE v.strategy_id = r.strategy_id AND v.factors_id = k.factors_id
           ORDER BY v.pairing_id IS k.pairing_id DESC, leads DESC LIMIT 1) AS _look,
       CASE WHEN r.place <= (test.ranked + 1) / 2 THEN r.place - 1 ELSE test.ranked - r.place END AS _level,
       r.place > (test.ranked + 1) / 2 AS _side, coalesce(final.rank, r.rank) AS _to,
       coalesce(number % layers, -1) AS _layer, test.ranked AS _ranked,
       coalesce(critical_difference, 0) AS _difference, coalesce(layers, 0) AS _layers,
       stem AS _stem, title AS _title,
       CASE WHEN max(chi2 IS NOT NULL) OVER (PARTITION BY figure)
           THEN 'bars join what is not told apart by Nemenyi''s test, alpha = 0.05' ELSE '' END AS _bars
FROM ranking AS r JOIN drawn_standing USING (standing_id) JOIN test USING (standing_id)
JOIN method AS m ON m.id = r.strategy_id
LEFT JOIN bar ON bar.standing_id = r.standing_id AND bar.first = r.place
LEFT JOIN ranked AS final ON final.standing_id = r.standing_id AND final.place = bar.last
LEFT JOIN bar_layers ON bar_layers.standing_id = r.standing_id
ORDER BY scope_id, stratum_id, landmarks, r.place;
