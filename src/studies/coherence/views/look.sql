-- The numbers of colours, points and dashes, from 0 (plots/looks.gp), by partition: those of the whole run, whichever
-- of its rows are kept.
CREATE TEMP TABLE look_partition AS SELECT spec, id AS look FROM component WHERE kind = 'partition';
