-- What spectrum.c tells the figure of each singular value of A: its share of the largest, and what a core makes of it.

-- name: table
CREATE TEMP TABLE spectrum (
    core_name TEXT, panel_name TEXT, strategy TEXT, pairing TEXT, factors TEXT, core INTEGER, way INTEGER,
    number INTEGER, value REAL, filter REAL);
