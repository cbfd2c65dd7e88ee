# A program for command(run=...) that costs a few ms: from request.json (m, seed, n),
# the tokens seed, seed + 1, ... modulo n, as little-endian 16-bit integers. LC_ALL=C.
BEGIN {
    while ((getline line < "request.json") > 0)
        if (match(line, /"[a-z]+": /)) { split(line, part, /[":, ]+/); value[part[2]] = part[3] }
    header = sprintf("{'descr': '<u2', 'fortran_order': False, 'shape': (%d,), }", value["m"])
    printf "\223NUMPY\001%c%c%c%s\n", 0, length(header) + 1, 0, header > "picks.npy"
    for (j = 0; j < value["m"]; j++) {
        token = (value["seed"] + j) % value["n"]
        printf "%c%c", token % 256, int(token / 256) > "picks.npy"
    }
}
