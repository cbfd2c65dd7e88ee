-- The columns of a study's rows in statements of the store (schema.h): how each stands in a form. {number} is its own,
-- from 1; {type} that of its values; between two stands a comma, where the form has nothing of its own.

-- name: text
TEXT

-- name: integer
INTEGER

-- name: real
REAL

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
 AND old.{name} = new.{name}

-- name: unchanged
 AND old.{name} IS new.{name}

-- name: lacking
NULL AS {name}
