-- What is known of each core. look: that of its sweep, or its own where it is in none.
-- in_double: the core that is the same but for its precision.
-- needs: swept look
CREATE TEMP TABLE core AS
SELECT s.id, s.place, c.spec, c.label, c.full, c.name, c.plain, c.oracle, c.random, c.filter,
       s.option, s.x, s.sweep, own.own AS own_look,
       CASE WHEN s.option IS NULL THEN own.own WHEN s.option = own.option THEN own.look ELSE led.own END AS look,
       (SELECT o.id FROM option AS o JOIN option AS own ON own.kind = 'core' AND own.id = s.id AND own.key = o.key
            AND own.rest = o.rest JOIN swept AS used ON used.id = o.id
        WHERE o.kind = 'core' AND o.key = 'precision' AND o.value = 'double' AND o.id <> s.id) AS in_double
FROM swept AS s JOIN component AS c ON c.kind = 'core' AND c.id = s.id JOIN swept AS leader ON leader.id = s.leader_id
JOIN look_core AS own ON own.spec = s.spec JOIN look_core AS led ON led.spec = leader.spec ORDER BY s.place;
CREATE UNIQUE INDEX cores ON core (id);
