-- The cell of each line of rows that strategies are paired by, and what the line agrees in with others (pairs.sql).
-- needs: cell pairs:strategy
CREATE TEMP VIEW cell_line AS
SELECT g.question, g.setting, g.head_id, g.same, k.panel_id, k.core_id, k.landmarks, variant_id, k.strategy_id
FROM agreed AS g CROSS JOIN key AS k ON k.id = g.id JOIN variant_of AS v ON v.line_id = k.line_id;
