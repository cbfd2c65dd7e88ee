-- The rows, and how far each is above the best core of F X B on the same landmarks, as a share of that one's error:
-- `above`; `unseen`, the same on the rows of S that the core has not looked at. NULL where the best core's error
-- (`subspace`) is not known, or rounding noise. Rows of old stores do not say what that is (subspace_noise).
CREATE TEMP VIEW above_best_core AS
WITH row_with_noise AS (SELECT run.*, coalesce(error_subspace_noise, 1e-12) AS subspace_noise FROM run),
row_with_best AS (
    SELECT row_with_noise.*,
           CASE WHEN status = 'ok' AND NOT is_noise(error_subspace, subspace_noise) THEN error_subspace END AS subspace,
           CASE WHEN status = 'ok' AND NOT is_noise(error_unseen_subspace, subspace_noise)
               THEN error_unseen_subspace END AS unseen_subspace
    FROM row_with_noise)
SELECT row_with_best.*, error / subspace - 1 AS above, error_unseen / unseen_subspace - 1 AS unseen FROM row_with_best;
