-- Each core's pairs with the first core of the run, on the same landmarks, where the two are compared.
-- needs: pairs:core core variant
CREATE TEMP VIEW core_contest AS
SELECT k.panel_id, v.variant_id, k.landmarks, a AS core_id, p.*
FROM pair AS p CROSS JOIN key AS k ON k.id = p.a_id CROSS JOIN variant_of AS v ON v.line_id = k.line_id
WHERE question = 'core' AND b = (SELECT id FROM core WHERE place = 0) AND a <> (SELECT id FROM core WHERE place = 0)
    AND refusal IS NULL;

CREATE TEMP VIEW core_left_out AS -- why, somewhere
SELECT a AS core_id, core.full || ' is left out: ' || refusal_told(refusal, 'it', first.full) AS note
FROM core AS first JOIN refused_core ON b = first.id JOIN core ON core.id = a WHERE first.place = 0;
