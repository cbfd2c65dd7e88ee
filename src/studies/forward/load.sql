-- The load of other programs while a row was timed, in CPUs.

-- name: is_much
load > much_load()
