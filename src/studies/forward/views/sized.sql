-- Attentions, and what those that differ in their size alone have in common: a label, and which of them comes first.
CREATE TEMP TABLE sized AS
WITH named AS (
    SELECT id AS attention_id, spec, exact, coalesce(
               (SELECT rest_label FROM option WHERE kind = 'attention' AND option.id = component.id AND size), label)
           AS label FROM component WHERE kind = 'attention')
SELECT *, min(attention_id) OVER (PARTITION BY label) AS first FROM named;
