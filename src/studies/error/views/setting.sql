-- The settings that strategies are compared in, each known by the number of its first row, and so is its scope, in
-- which settings differ in landmarks alone.
-- needs: pairs:strategy
CREATE TEMP TABLE setting AS
SELECT setting AS setting_id, min(scope) AS scope_id, max(k.landmarks) AS landmarks
FROM agreed AS g JOIN key AS k ON k.id = g.id WHERE question = 'strategy' GROUP BY setting;
CREATE UNIQUE INDEX settings ON setting (setting_id);
