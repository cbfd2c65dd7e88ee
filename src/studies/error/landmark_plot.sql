-- The variants whose landmarks a picture shows (landmark_plot.c).

-- name: variants
-- needs: drawn_variant
SELECT strategy, pairing, name, usual, look FROM drawn_variant ORDER BY id;
