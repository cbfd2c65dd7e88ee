-- Attentions that differ in their size alone are one curve, of a label and a number. look: the number of an attention's
-- colour, from 0: the first of each curve has its curve's number, the others follow.
CREATE TEMP TABLE curve AS
WITH named AS (
    SELECT id AS attention_id, exact, coalesce(
               (SELECT rest_label FROM option WHERE kind = 'attention' AND option.id = component.id AND size), label)
           AS label FROM component WHERE kind = 'attention'),
led AS (SELECT *, min(attention_id) OVER (PARTITION BY label) AS first FROM named)
SELECT attention_id, exact, label, dense_rank() OVER (ORDER BY first) - 1 AS number,
       row_number() OVER (ORDER BY attention_id <> first, attention_id) - 1 AS look
FROM led;
