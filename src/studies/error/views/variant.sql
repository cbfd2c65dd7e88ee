-- A variant is one way to pick landmarks and to form factors, with its label. variant_of: that of each line of rows.
-- needs: way
CREATE TEMP TABLE variant AS
SELECT way.id, way.strategy_id, way.factors_id, way.pairing_id, way.leads, way.strategy, way.pairing, way.factors,
       s.label AS name, s.oracle,
       (SELECT spec FROM component WHERE kind = 'pairing' AND id = usual_id) AS usual,
       s.label || CASE WHEN s.oracle THEN ', oracle' ELSE '' END
       || CASE WHEN (usual_id IS NOT NULL AND way.pairing_id IS NOT NULL AND way.pairing_id <> usual_id) OR EXISTS (
            SELECT 1 FROM way AS o WHERE o.strategy_id = way.strategy_id AND o.pairing_id <> way.pairing_id)
          THEN ', ' || way.pairing ELSE '' END
       || CASE WHEN EXISTS (SELECT 1 FROM way AS o WHERE o.factors_id <> way.factors_id) THEN ', ' || way.factors
           ELSE '' END
       AS label
FROM way LEFT JOIN component AS s ON s.kind = 'strategy' AND s.id = way.strategy_id
ORDER BY way.id;
CREATE INDEX variants ON variant (strategy_id, factors_id, pairing_id);

CREATE TEMP TABLE variant_of (line_id INTEGER PRIMARY KEY, variant_id INTEGER);
INSERT INTO variant_of
SELECT line_id, v.id FROM key AS k JOIN component AS c ON c.kind = 'kernel' AND c.id = k.kernel_id
JOIN variant AS v ON v.strategy_id = k.strategy_id AND v.factors_id = k.factors_id
    AND CASE WHEN c.one_set THEN v.leads ELSE v.pairing_id = k.pairing_id END
WHERE opens ORDER BY line_id;
