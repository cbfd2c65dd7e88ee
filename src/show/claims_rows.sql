-- For programs: a row for each claim, then one for each of its models and parts.
SELECT experiment, id, row, name, CASE row WHEN 'model' THEN NULL ELSE verdict END AS verdict, quantity,
       finite(estimate) AS estimate, finite(low) AS low, finite(high) AS high, finite(expected_low) AS expected_low,
       finite(expected_high) AS expected_high, sources, heads, nullif(family, 0) AS family, CAST(finite(more)
           AS INTEGER) AS more_sources, finite(slack) AS slack,
       CASE row WHEN 'model' THEN NULL ELSE disturbed END AS disturbed, why,
       CASE row WHEN 'claim' THEN says END AS says, CASE row WHEN 'claim' THEN source END AS source,
       CASE row WHEN 'claim' THEN claim_text END AS claim
FROM told WHERE row <> 'model' OR part = 0 ORDER BY number;
