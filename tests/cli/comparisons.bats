# SPDX-License-Identifier: GPL-3.0-or-later
# What a run compares with what, in its tables and figures, against NumPy's own
# computation from the rows.

load helpers

small() { # OPTIONS...
    "$NYSBENCH" run experiments/00-smoke.yaml --set plots=[] --set metrics=[error] --set factors=nystromformer \
        --set 'problems=["clusters(n=64, d=8, count=4)", "heads(file=experiments/data/vit_astronaut_n257_L6.safetensors)"]' -o "$WORK/r" "$@"
}

@test "the baseline has a strategy's pairing, or the line names both" {
    run small --set 'blocks=[{strategies: [uniform, kmeans, segment_means], pairing: [joint, independent]}, {pairing: both, strategies: exchange}]'
    expect_status 0
    "$NYSBENCH" table "$WORK/r" errors >"$WORK/errors"
    grep -q "^    kmeans, independent " "$WORK/errors"
    grep -q "^  The pairing is [a-z]* unless a line names another.$" "$WORK/errors"
    [ "$("$NYSBENCH" table "$WORK/r" shares | grep -c '^    exchange, oracle, both, baseline [a-z]* ')" -eq 2 ] # once a core
    run "$NYSBENCH" plot "$WORK/r" ratio
    expect "note: plot ratio: exchange, oracle is left out: no row of it agrees with one of the baseline in all but the strategy"
    "$NYSBENCH" table "$WORK/r" shares --format csv >"$WORK/r/shares.csv"
    /usr/bin/python3 - "$WORK/r" <<'PY'
import csv, sys
import numpy as np
rows = [r for r in csv.DictReader(open(sys.argv[1] + "/rows.csv", newline="")) if r["status"] == "ok"]
def errors(strategy, pairing, of):
    return {(r["head"], r["trial"]): float(r["error"]) for r in rows if r["strategy"].startswith(strategy) and r["pairing"] == pairing
            and all(r[k] == of[k] for k in ("problem", "core", "landmarks"))}
seen = 0
for r in csv.DictReader(open(sys.argv[1] + "/shares.csv", newline="")):
    if r["pairing"] == "both":
        assert r["baseline_pairing"] in ("joint", "independent") and r["error_relative"] and not r["error_share"], r
    else:
        assert r["baseline_pairing"] == r["pairing"], r
    if r["panel"] == "all" or not r["strategy"].startswith("kmeans") or r["problem"].startswith("heads"):
        continue
    mine, base = errors("kmeans", r["pairing"], r), errors("uniform", r["pairing"], r)
    assert len(mine) == 2 and np.isclose(float(r["error_relative"]), np.median([mine[k] / base[k] for k in mine]), rtol=1e-12)
    seen += 1
assert seen == 2 * 2 * 2, seen
PY
    [ "$(grep -c '[0-9)]\*' "$WORK/errors")" -eq 0 ] # two trials are too few for a star
}

@test "a star is for what is surely below the next of its pairing, and never for the heads of one file" {
    run small -q --set trials=12 --set cores=iterative --set 'blocks=[{strategies: [uniform, kmeans], pairing: [joint, independent]}, {pairing: both, strategies: exchange}]'
    expect_status 0
    run "$NYSBENCH" table "$WORK/r" errors
    expect "* better than the next of its column"
    # kmeans is, at each m, under joint and under independent; exchange has no other beside it
    [ "$(sed -n '/^clusters/,/^$/p' <<<"$output" | grep '^    kmeans' | grep -o '[0-9)]\*' | wc -l)" -eq 4 ]
    [ "$(sed -n '/^clusters/,/^$/p' <<<"$output" | grep -o '[0-9)]\*' | wc -l)" -eq 4 ]
    [ "$(sed -n '/^heads/,/^$/p' <<<"$output" | grep -c '[0-9)]\*')" -eq 0 ]
    # of five trials none
    small -q --set trials=5 --set cores=iterative --set strategies=[uniform,kmeans]
    "$NYSBENCH" table "$WORK/r" errors | sed -n '1,/^Median/p' >"$WORK/five"
    [ "$(grep -c '[0-9)]\*' "$WORK/five")" -eq 0 ]
}

@test "errors that are rounding noise are shown as such and not compared" {
    config <<'Y'
problems: gaussian(n=48, d=4)
kernels: gram
strategies: [uniform, segment_means, kmeans]
cores: [svd(rcond=1e-8), iterative(steps=30)]
trials: 3
landmarks: [2, 8, 16]
metrics: error
plots: [svd_vs_iterative]
Y
    run "$NYSBENCH" run "$WORK/c.yaml" -o "$WORK/r"
    expect_status 0
    "$NYSBENCH" table "$WORK/r" errors >"$WORK/out"
    "$NYSBENCH" table "$WORK/r" shares --format csv >"$WORK/r/shares.csv"
    # at m = 8 and 16, beyond d, the matrix has the rank of A
    /usr/bin/python3 - "$WORK" <<'PY'
import csv, re, sys
read = lambda name: list(csv.DictReader(open(f"{sys.argv[1]}/r/{name}", newline="")))
rows = read("rows.csv")
assert all(r["status"] == "ok" for r in rows)
key = lambda r: (r["strategy"], r["core"].split("(")[0], r["landmarks"])
noise, error, ratios = {}, {}, 0
for r in rows:
    noise.setdefault(key(r), {})[r["trial"]] = float(r["error"]) <= float(r["error_noise"])
    error.setdefault(key(r), []).append(float(r["error"]))
assert sum(map(sum, (n.values() for n in noise.values()))) >= 12
base = next(s for s, _, _ in noise if s.startswith("uniform"))
for r in read("shares.csv"):
    if r["landmarks"]:
        k = key(r)
        both = sum(noise[k][t] and noise[base, k[1], k[2]][t] for t in "012")
        assert (int(r["noise"]), int(r["count"])) == (both, 3 - both), r
        assert (r["error_relative"] == "") == (both == 3), r
        ratios += both == 3
assert ratios >= 4, ratios
for r in read("plots/svd_vs_iterative.csv"):
    if int(r["series"]) > 0:
        s = next(s for s, _, _ in noise if s.split("(")[0] == r["series_name"])
        both = sum(noise[s, "svd", r["landmarks"]][t] and noise[s, "iterative", r["landmarks"]][t] for t in "012")
        assert int(r["count"]) == 3 - both, r
# a mark for a median of noise, and a star only where one of two is none
core = None
for line in open(sys.argv[1] + "/out"):
    if line.startswith("  svd(") or line.startswith("  iterative("):
        core = line.split("(")[0].strip()
    words = line.split()
    if core and line.startswith("    ") and len(words) == 4:
        s = next(s for s, _, _ in noise if s.split("(")[0] == words[0])
        for m, word in zip(("2", "8", "16"), words[1:]):
            noisy = {o: 2 * sum(noise[o, core, m].values()) >= 3 for o in {o for o, _, _ in noise}}
            assert word.endswith("~") <= noisy[s] and (word.endswith("*") or word.endswith("~") == noisy[s]), line
            assert not (word.endswith("*") and noisy[s] and sum(noisy.values()) > 1), line
    elif core and line.startswith("  best rank m"):
        break
else:
    assert False, "no table"
PY
}

@test "a strategy has one colour in all figures of a run, and a core too" {
    undrawn
    config <<'Y'
problems: clusters(n=48, d=8, count=4)
strategies: [segment_means, uniform, kmeans]
factors: [nystromformer, cur]
pairing: joint
cores: [best, iterative, "svd(rcond=[0.1, 0.01, 0.001])", fitted, "fitted(rows=[8, 16, 32])"]
trials: 2
landmarks: [4, 8]
metrics: error
plots: [error, rows, spectrum, cores, cutoff]
Y
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r" >/dev/null
    "$NYSBENCH" plot "$WORK/r" --landmarks >/dev/null
    /usr/bin/python3 - "$WORK/r/plots" <<'PY'
import glob, os, re, sys
def array(text, name):
    inside = re.search(rf"^array {name}\[\d+\] = \[(.*)\]$", text, re.M).group(1)
    return re.findall(r"'([^']*)'", inside) if "'" in inside else [int(x) for x in inside.split(", ")]
strategies, cores, kinds = {}, {}, set()
for path in glob.glob(sys.argv[1] + "/*_*.gp"):
    text, kind = open(path).read(), os.path.basename(path).split("_")[0]
    assert text.startswith("# draws"), path
    labels = array(text, "lanes" if kind == "landmarks" else "series")
    looks = array(text, "looks") if "array looks" in text else list(range(1, len(labels) + 1))
    kinds.add(kind)
    for label, look in zip(labels, looks):
        label = label.replace(": filter", "")
        if kind in ("cores", "cutoff"):
            cores.setdefault(re.sub(r"^best \w+ of ", "", label).split("(")[0].strip(), set()).add(look)
        elif look:  # black: best rank m and the constant matrix
            strategies.setdefault(label, set()).add(look)
assert kinds == {"error", "rows", "spectrum", "landmarks", "cores", "cutoff"}, kinds
lanes = {"segment_means", "uniform", "kmeans"}  # one for both factors
# cur takes tokens: means and free points are skipped
assert set(strategies) == lanes | {f"{s}, nystromformer" for s in lanes} | {"uniform, cur"}, strategies
for label, looks in strategies.items():
    assert len(looks) == 1 and (label not in lanes or looks == strategies[label + ", nystromformer"]), strategies
assert cores == {"iterative": {2}, "svd": {3}, "fitted": {4}, "subspace part: the best core": {0}}, cores
PY
}

@test "two scripts of one name are told apart" {
    mkdir "$WORK/a" "$WORK/b"
    cp experiments/plugins/farthest.py "$WORK/a/mine.py"
    cp experiments/plugins/farthest.py "$WORK/b/mine.py"
    config <<Y
problems: gaussian(n=30, d=4)
strategies: [uniform, 'command(run="/usr/bin/python3 $WORK/a/mine.py")', 'command(run="/usr/bin/python3 $WORK/b/mine.py")']
pairing: joint
cores: [svd, iterative]
landmarks: 4
trials: 1
metrics: error
plots: cores
Y
    run "$NYSBENCH" run "$WORK/c.yaml" -o "$WORK/r"
    expect_status 0
    expect "    command(run=a/mine.py) "
    expect "    command(run=b/mine.py) "
    [ -s "$WORK/r/plots/cores_command_run_a_mine.py.gp" ]
    [ -s "$WORK/r/plots/cores_command_run_b_mine.py.gp" ]
}

@test "the forest holds geometric means over m and trials, with intervals over six sources, and stands for the curves of many" {
    run small --set 'strategies=[uniform, segment_means, "kmeans(restarts=[1, 2, 3, 4, 5, 6])", "ridge_leverage(of=[gram, exp, gauss])", group_means, farthest_point, dsquared]' \
        --set pairing=joint --set 'plots=[error, svd_vs_iterative]' --set trials=6 --set 'problems=["clusters(n=64, d=8)", "gaussian(n=64, d=8)"]'
    expect_status 0
    expect "plot error: 14 strategies are too many for curves; drawn as the figure 'forest'"
    [ ! -e "$WORK/r/plots/error.csv" ]
    for f in forest_svd_rcond_1e-15 forest_iterative core_forest_iterative; do
        [ -s "$WORK/r/plots/$f.dat" ]
        if command -v gnuplot >/dev/null; then [ -s "$WORK/r/plots/$f.png" ]; fi
    done
    /usr/bin/python3 - "$WORK/r" <<'PY'
import csv, re, sys
import numpy as np
read = lambda name: list(csv.DictReader(open(f"{sys.argv[1]}/{name}", newline="")))
rows, forest = read("rows.csv"), read("plots/forest.csv")
logs = {} # of error and of its subspace part
for r in rows:
    for name in "error", "error_subspace":
        logs[name, r["strategy_label"], r["core"].split("(")[0], r["problem_label"], r["landmarks"], r["trial"]] = np.log(float(r[name]))
def mean(name, r, problem): # each trial's data are a source
    of = (name, r["strategy"].removesuffix(", oracle"), r["figure"].split("(")[0], problem)
    return np.mean([x - logs[(name, "uniform") + key[2:]] for key, x in logs.items() if key[:4] == of])
problems, checked = sorted({r["problem_label"] for r in rows}), 0
for r in forest:
    of = problems if r["panel"] == "all" else [r["panel"]]
    assert np.isclose(float(r["ratio"]), np.exp(np.mean([mean("error", r, p) for p in of])), rtol=1e-9), r
    assert r["pairing_held_fixed"] == "true"
    assert float(r["low"]) < float(r["ratio"]) < float(r["high"]) or r["strategy"] == "uniform", r
    if r["panel"] == "all":
        assert np.isclose(float(r["subspace_ratio"]), np.exp(np.mean([mean("error_subspace", r, p) for p in of])), rtol=1e-9), r
    checked += 1
assert checked == 2 * 14 * 3, checked
# the least on top: the names are from below
text = open(sys.argv[1] + "/plots/forest_iterative.gp").read()
names = re.findall(r"'([^']*)'", re.search(r"^array series.*$", text, re.M).group(0))
ratio = {r["strategy"]: float(r["ratio"]) for r in forest if r["figure"] == "iterative" and r["panel"] == "all"}
assert [ratio[n] for n in names] == sorted(ratio.values(), reverse=True) and len(names) == 14
PY
    run "$NYSBENCH" plot "$WORK/r" forest
    expect "forest: 2 figures in $WORK/r/plots"
    # the config's baseline is plot's too
    small -q --set 'strategies=[uniform, segment_means, kmeans]' --set pairing=joint --set baseline=kmeans
    "$NYSBENCH" plot "$WORK/r" forest
    grep -q "^title = '.*error relative to kmeans, " "$WORK/r/plots/forest_iterative.gp"
    grep -q '^iterative,kmeans,all,true,1.0000000000000000e+00,' "$WORK/r/plots/forest.csv"
}

@test "the error is drawn as medians with intervals over six sources or more; what has no rows is not in the legend" {
    command -v gnuplot >/dev/null || skip "gnuplot is missing"
    config <<'Y'
problems: ["gaussian(n=40, d=4)", "heads(file=experiments/data/vit_astronaut_n257_L6.safetensors)"]
strategies: [uniform, segment_means, kmeans]
pairing: joint
cores: ["svd(rcond=[0.03, 0.1, 0.3])", iterative]
trials: 6
landmarks: [4, 8]
metrics: error
plots: [error, cutoff]
exclude: {strategy: segment_means, core: iterative}
Y
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r" >/dev/null 2>&1
    grep -q "10-90 % of all rows, not uncertainty" "$WORK/r/plots/cutoff_uniform.svg"
    [ "$(grep -c "10-90 %\|a head, its median" "$WORK/r/plots/error_svd.svg")" -eq 0 ]
    grep -q "95 % interval (median over sources)" "$WORK/r/plots/error_svd.svg"
    grep -q "segment_means" "$WORK/r/plots/error_svd.svg"
    if grep -q "segment_means" "$WORK/r/plots/error_iterative.svg"; then false; fi
    "$NYSBENCH" plot "$WORK/r" error --where 'problem=heads' --format svg >/dev/null # of one source
    [ "$(grep -c "interval" "$WORK/r/plots/selected/error_svd.svg")" -eq 0 ]
    /usr/bin/python3 - "$WORK/r" <<'PY'
import csv, re, sys
import numpy as np
blocks = [b.strip().split("\n") for b in open(sys.argv[1] + "/plots/error_iterative.dat").read().split("\n\n\n")]
blocks = [[tuple(map(float, line.split(","))) for line in b if not line.startswith("#")] for b in blocks]
rows = [r for r in csv.DictReader(open(sys.argv[1] + "/rows.csv", newline="")) if r["status"] == "ok"]
text = open(sys.argv[1] + "/plots/error_iterative.gp").read()
array = lambda name: re.search(rf"^array {name}\[.*\] = \[(.*)\]$", text, re.M).group(1).split(", ")
assert array("series") == ["'uniform'", "'kmeans'", "'best rank m (median)'", "'constant 1/n'"], array("series")
of = [int(b) for b in array("block")]
assert sorted(of) == list(range(8)) and len(blocks) == 8, of
for p, problem in enumerate(("gaussian", "heads")):
    for s, strategy in enumerate(("uniform", "kmeans")):
        for count, m, median, low, high in blocks[of[4 * p + s]]:
            errors = [float(r["error"]) for r in rows if r["strategy"].startswith(strategy) and int(r["landmarks"]) == m
                      and r["core"].startswith("iterative") and r["problem"].startswith(problem)]
            assert count == len(errors) == (6, 18)[p] and np.isclose(median, np.median(errors), rtol=1e-12), (strategy, m)
            # Drawn data have a source each trial: of six the least and the largest. The file is one source.
            assert (low, high) == ((min(errors), max(errors)) if p == 0 else (median, median)), (low, high)
PY
}

@test "a script that somebody has edited is kept, and told" {
    draw() { run small -q --set "strategies=[$1]" --set plots=error "${@:2}"; }
    draw uniform
    sed -i 's/#0072B2/#123456/' "$WORK/r/plots/looks.gp"
    echo "# mine" >>"$WORK/r/plots/error_svd_rcond_1e-15.gp"
    draw uniform
    expect_status 0
    expect "nysbench: note: $WORK/r/plots/looks.gp has been edited; it is used as it is"
    expect "nysbench: note: $WORK/r/plots/error_svd_rcond_1e-15.gp has been edited; it is used as it is"
    grep -q "#123456" "$WORK/r/plots/looks.gp"
    if command -v gnuplot >/dev/null; then grep -q "18, *52, *86" "$WORK/r/plots/error_iterative.svg"; fi
    # other rows: the script for them is another one
    draw uniform,segment_means
    expect "warning: $WORK/r/plots/error_svd_rcond_1e-15.gp has been edited, and nysbench would now write another script: yours is kept as $WORK/r/plots/error_svd_rcond_1e-15.gp.edited"
    grep -q "^# mine" "$WORK/r/plots/error_svd_rcond_1e-15.gp.edited"
    grep -q "^array series.*'segment_means'" "$WORK/r/plots/error_svd_rcond_1e-15.gp"
    # rows that are gone leave an edited figure where it is
    echo "# mine" >>"$WORK/r/plots/error_iterative.gp"
    draw uniform,segment_means --set 'cores=[svd]'
    expect "nysbench: note: $WORK/r/plots/error_iterative.gp has been edited and is kept with its figure, whose rows are gone"
    [ -s "$WORK/r/plots/error_iterative.gp" ]
}

@test "the table of cores leaves blank what was not planned, and a star to those on all choices of landmarks" {
    config <<'Y'
problems: ["gaussian(n=48, d=4)", "clusters(n=48, d=4)"]
pairing: joint
trials: 2
metrics: error
plots: []
strategies: [uniform, segment_means]
landmarks: [4, 8]
cores: [svd, iterative]
blocks:
  - {}
  - {cores: fitted, landmarks: 8, strategies: uniform}
  - {cores: chosen, landmarks: 4}
Y
    run "$NYSBENCH" run "$WORK/c.yaml" -o "$WORK/r"
    expect_status 0
    table=$("$NYSBENCH" table "$WORK/r" cores | sed -n '/^Cores, /,/^100 /p')
    grep -qE '^  fitted\(rows=auto\) +[0-9.]+! +[0-9.e-]+$' <<<"$table" # on half of the choices: no star
    grep -qE '^  chosen\(of=svd\) +[0-9.]+[* ]  {14}[0-9.e-]+$' <<<"$table" || grep -qE '^  chosen\(of=svd\) +[0-9.]+[* ] +[0-9.e-]+$' <<<"$table"
    if grep -q -- ' - ' <<<"$(grep '^  [sicf]' <<<"$table")"; then false; fi
    [ "$(grep -o '[0-9]\*' <<<"$table" | wc -l)" -eq 2 ]
    [ "$(grep -c '!' <<<"$table")" -eq 1 ]
}
