-- Attentions of one colour: those of a strategy, or of a name.
CREATE TEMP TABLE series AS
SELECT attention_id, coalesce(strategy, substr(attention, 1, instr(attention || '(', '(') - 1)) AS series
FROM run GROUP BY attention_id;
