# A program for command(run=...) that costs a few ms. For a strategy, from request.json (m, seed, n),
# the tokens seed, seed + 1, ... modulo n, as little-endian 16-bit integers; for a core, X = c I with a number c from
# 1 up to 1 + 2^-4 of the seed's last 16 bits, as little-endian float64. LC_ALL=C.
function begin(file, type, shape,    header) {
    header = sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", type, shape)
    printf "\223NUMPY\001%c%c%c%s\n", 0, length(header) + 1, 0, header > file
}
BEGIN {
    while ((getline line < "request.json") > 0)
        if (match(line, /"[a-z]+": /)) { split(line, part, /[":, ]+/); value[part[2]] = part[3] }
    m = value["m"]
    if (value["do"] == "core") {
        begin("X.npy", "<f8", m ", " m)
        for (i = 0; i < m * m; i++)
            if (i % (m + 1) == 0)
                printf "%c%c%c%c%c%c\360\077", 0, 0, 0, 0, value["seed"] % 256, int(value["seed"] / 256) % 256 > "X.npy"
            else
                printf "%c%c%c%c%c%c%c%c", 0, 0, 0, 0, 0, 0, 0, 0 > "X.npy"
        exit
    }
    begin("picks.npy", "<u2", m ",")
    for (j = 0; j < m; j++) {
        token = (value["seed"] + j) % value["n"]
        printf "%c%c", token % 256, int(token / 256) > "picks.npy"
    }
}
