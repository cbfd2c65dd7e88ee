-- Entrants against each other: the ratio of their errors on the same landmarks, and on twice as many by the same
-- strategy on the same head in the same trial. An entry is never rounding noise (choice.sql), so ratios are plain.
-- needs: entrant
CREATE TEMP VIEW duel AS
SELECT a.id AS a_id, b.id AS b_id, a.usual AND b.usual AND a.id <> b.id AS usual, x.level_id,
       x.error / y.error AS ratio
FROM entrant AS a CROSS JOIN entrant AS b CROSS JOIN entry AS x ON x.entrant_id = a.id
CROSS JOIN entry AS y ON y.entrant_id = b.id AND y.level_id = x.level_id AND y.choice_id = x.choice_id
WHERE x.error / y.error < 9e999;

CREATE TEMP TABLE twice AS
SELECT c.id AS choice_id, c.level_id, c.landmarks, t.id AS twice_id, t.level_id AS twice_level
FROM choice AS c CROSS JOIN choice AS t ON t.like_id = c.like_id AND t.landmarks = 2 * c.landmarks
    AND t.trial BETWEEN c.trial AND c.last_trial
UNION ALL
SELECT c.id AS choice_id, c.level_id, c.landmarks, t.id AS twice_id, t.level_id AS twice_level
FROM choice AS t CROSS JOIN choice AS c ON c.like_id = t.like_id AND c.landmarks = t.landmarks / 2
    AND c.trial > t.trial AND c.trial <= t.last_trial
WHERE t.trial < t.last_trial AND t.landmarks % 2 = 0;

CREATE TEMP VIEW duel_of_twice AS
SELECT t.landmarks, a.id AS a_id, b.id AS b_id, x.error / y.error AS ratio
FROM twice AS t JOIN entrant AS a JOIN entrant AS b
JOIN entry AS x ON x.entrant_id = a.id AND x.level_id = t.level_id AND x.choice_id = t.choice_id
JOIN entry AS y ON y.entrant_id = b.id AND y.level_id = t.twice_level AND y.choice_id = t.twice_id
WHERE a.usual AND NOT a.oracle AND b.usual AND NOT b.oracle AND x.error / y.error < 9e999;
