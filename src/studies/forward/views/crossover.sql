-- From which n on an attention is faster than another one, at the n that both have and are compared at: those that
-- overtake another, and all against exact ones.
-- needs: speedup
CREATE TEMP TABLE crossover AS
WITH per_n AS (
    SELECT a.family_id, a.layers, threads, n, a.attention_id AS a_id, b.attention_id AS b_id, a.amortized_s AS a_s,
           b.amortized_s AS b_s, first_value(b.amortized_s / a.amortized_s) OVER up AS first,
           first_value(b.amortized_s / a.amortized_s) OVER down AS last
    FROM cell AS a JOIN cell AS b USING (family_id, threads, n)
    WHERE a.attention_id <> b.attention_id AND (a.cell_id, b.cell_id) IN compared
    WINDOW up AS (PARTITION BY a.family_id, threads, a.attention_id, b.attention_id ORDER BY n),
           down AS (PARTITION BY a.family_id, threads, a.attention_id, b.attention_id ORDER BY n DESC))
SELECT family_id, layers, threads, a_id, b_id, min(n) AS n_from, max(n) AS n_to, crossing(n, a_s, b_s) AS n_crossing,
       max(first) AS first, max(last) AS last, a.spec, a.label, b.spec AS of_spec, b.label AS of_label
FROM per_n JOIN component AS a ON a.kind = 'attention' AND a.id = a_id
JOIN component AS b ON b.kind = 'attention' AND b.id = b_id
GROUP BY family_id, threads, a_id, b_id HAVING count(*) > 1 AND (n_crossing > n_from OR (b.exact AND NOT a.exact));
