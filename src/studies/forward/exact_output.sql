-- Which rows have exact outputs (exact_output.h): their attention is exact by its traits, or their output is but for
-- rounding. So a function or a program that computes exact attention counts too.

-- name: is_exact
(output_error <= exact_output_error() OR attention_id IN (SELECT id FROM component WHERE kind = 'attention' AND exact))
