-- The columns of a study's rows in statements of the store (schema.h): how each stands in a form. {number} is its own,
-- from 1; what stands between two is a comma, or AND where rows are compared.

-- name: definitions
{name} {type}

-- name: names
{name}

-- name: identity
{name}

-- name: planned
{name}

-- name: parameters
?{number}

-- name: told
{name} = excluded.{name}

-- name: assignments
{name} = ?{number}

-- name: kept
{name} = CASE WHEN (wanted & excluded.wanted) = excluded.wanted THEN {name} END

-- name: cleared
{name} = NULL

-- name: paired
old.{name} = new.{name}

-- name: unchanged
old.{name} IS new.{name}

-- name: lacking
NULL AS {name}
