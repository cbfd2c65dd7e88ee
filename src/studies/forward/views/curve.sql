-- Attentions that differ in their size alone are one curve, of a label and a number. look: the attention's own.
-- needs: sized look
CREATE TEMP TABLE curve AS
SELECT attention_id, exact, label, dense_rank() OVER (ORDER BY first) - 1 AS number, look, look_of_curve
FROM sized JOIN look_attention USING (spec);
