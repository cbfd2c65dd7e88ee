# SPDX-License-Identifier: GPL-3.0-or-later
# Cores compared: their figures' data, recomputed with NumPy from the rows.

load helpers

sweep() {
    "$NYSBENCH" run experiments/00-smoke.yaml -q --set trials=3 --set 'landmarks=[4, 8, 16]' --set factors=nystromformer --set metrics=error \
        --set 'problems=["gaussian(n=60, d=8)", "clusters(n=64, d=8, count=4)"]' --set 'strategies=[uniform, segment_means]' \
        --set 'cores=[svd, "svd(rcond=[0.1, 0.01, 1e-10])", iterative, "iterative(steps=[2, 12, 30])", "iterative(steps=[6, 12], precision=float)", "tikhonov(lambda=[0.1, 0.01, 0.0001])", "fitted(rows=[8, 16, 32])", fitted, chosen, best]' \
        --set 'plots=[cutoff, steps, cores, rows, precision]' -o "$WORK/r" "$@"
}

@test "figures by cut-off, steps, above the best core, rows and precision hold what the rows give" {
    sweep
    for figure in cutoff_uniform cutoff_segment_means steps_uniform cores_segment_means rows_fitted precision; do
        [ -s "$WORK/r/plots/$figure.dat" ]
        if command -v gnuplot >/dev/null; then [ -s "$WORK/r/plots/$figure.png" ]; fi
    done
    /usr/bin/python3 - "$WORK/r" <<'PY'
import csv, sys
import numpy as np
read = lambda name: list(csv.DictReader(open(f"{sys.argv[1]}/{name}", newline="")))
rows = [r for r in read("rows.csv") if r["status"] == "ok"]
number = lambda r, c: float(r[c])
def pick(core, strategy, problem, m=None):
    return [r for r in rows if r["core"].startswith(core) and r["strategy"].startswith(strategy) and r["problem"].startswith(problem)
            and (m is None or r["landmarks"] == m)]
def line(kind, figure, panel, series):
    return [r for r in read(f"plots/{kind}.csv") if (r["figure"], r["panel"], r["series"]) == (figure, panel, series)]
def same(got, values, column="median"):
    assert np.isclose(float(got[column]), np.median(values), rtol=1e-12), (got, np.median(values))

at = "8"  # the middle one
# svd over its cut-offs, from left to right
got = line("cutoff", "uniform", "gaussian(n=60, d=8)", "svd")
assert [float(r["x"]) for r in got] == [1e-10, 0.01, 0.03, 0.1]
for r, core in zip(got, ("svd(rcond=1e-10", "svd(rcond=0.01,", "svd(rcond=0.02", "svd(rcond=0.1")):
    same(r, [number(x, "error") for x in pick(core, "uniform", "gaussian", at)])
got = line("cutoff", "uniform", "gaussian(n=60, d=8)", "subspace part: the best core")
same(got[0], [number(x, "error_subspace") for x in pick("best", "uniform", "gaussian", at)])
# iterative: the measured cut-off falls with the steps
got = line("cutoff", "segment_means", "clusters(n=64, d=8, count=4)", "iterative")
assert [float(r["x"]) for r in got] == sorted(float(r["x"]) for r in got) and len(got) == 4
got = line("steps", "uniform", "|I - AX|_F: gaussian(n=60, d=8)", "iterative")
assert [float(r["x"]) for r in got] == [2, 6, 12, 30]
same(got[3], [number(x, "core_residual") for x in pick("iterative(steps=30,", "uniform", "gaussian", at)])
# the best rcond of each choice of landmarks
def excess(r):
    return number(r, "error") / number(r, "error_subspace") - 1
got = line("cores", "uniform", "gaussian(n=60, d=8)", "best rcond of svd (oracle)")
for r, m in zip(got, ("4", "8", "16")):
    least = {}
    for x in pick("svd(", "uniform", "gaussian", m):
        least[x["trial"]] = min(least.get(x["trial"], np.inf), excess(x))
    assert int(r["count"]) == 3
    same(r, list(least.values()))
got = line("rows", "fitted", "gaussian(n=60, d=8)", "uniform")
assert [float(r["x"]) for r in got] == [0.5, 1, 2, 4, 8]
same(got[4], [1 + excess(x) for x in pick("fitted(rows=32", "uniform", "gaussian", "4")])
assert len([r for r in read("plots/precision.csv") if r["panel"] == "gaussian(n=60, d=8)"]) == 2 * (9 + 9)
PY
}

@test "a core that looks at all of S is skipped where rows are sampled" {
    undrawn
    sweep --set 'rows=sample(20)' --set 'cores=[best, fitted, "svd(rcond=1e-15)"]'
    grep -q "best looks at all of S" "$WORK/r/rows.csv"
    [ "$(grep -c ',skipped,' "$WORK/r/rows.csv")" -eq 36 ]
}

@test "the spectrum of A and the filter of six steps are those of the run's landmarks" {
    sweep --set 'plots=[spectrum]'
    [ -s "$WORK/r/plots/spectrum_iterative_steps_6.dat" ]
    "$NYSBENCH" export "$WORK/r" --landmarks "$WORK/landmarks"
    /usr/bin/python3 - "$WORK" <<'PY'
import csv, sys
import numpy as np
work = sys.argv[1]
read = lambda name: list(csv.DictReader(open(f"{work}/{name}", newline="")))
got = read("r/plots/spectrum.csv")
checked = 0
for row in read("landmarks/index.csv"):
    if row["trial"] != "0" or row["landmarks"] != "8" or not row["strategy"].startswith("uniform"):
        continue
    load = lambda name: np.load(f"{work}/landmarks/instance-{row['instance']}/{name}.npy")
    q, k = load("q"), load("k")
    a = np.exp(q[load(row["picks"] + "-queries")] @ k[load(row["picks"] + "-keys")].T / np.sqrt(q.shape[1]))
    a /= a.sum(1, keepdims=True)
    s = np.linalg.svd(a, compute_uv=False)
    p = s**2 / (np.abs(a).sum(0).max() * np.abs(a).sum(1).max())
    for _ in range(6):
        p = p * (13 - p * (15 - p * (7 - p))) / 4
    panel = row["problem"].split("(")[0]
    line = lambda series: np.array([float(r["median"]) for r in got if r["figure"] == "iterative(steps=6)"
                                    and r["panel"].startswith(panel) and r["series"] == series])
    np.testing.assert_allclose(line("uniform"), s / s[0], rtol=1e-12, atol=1e-15)  # rounding of the SVD, relative to s[0]
    np.testing.assert_allclose(line("uniform: filter"), p, rtol=1e-9, atol=1e-15)  # smallest s of A here: 1e-5 of the largest
    checked += 1
assert checked == 2, checked
assert {r["figure"] for r in got} == {"svd(rcond=0.03)", "iterative(steps=6)"}, {r["figure"] for r in got}
PY
    run "$NYSBENCH" plot "$WORK/r" spectrum
    [ "$status" -eq 0 ]
    [[ $output == "spectrum: 2 figures"* ]]
}

@test "plot draws a figure of one m at any m of the run" {
    undrawn
    sweep
    for kind in cutoff steps spectrum; do
        "$NYSBENCH" plot "$WORK/r" $kind
        grep -q "m = 8" "$WORK/r/plots/$kind"_*.gp
        "$NYSBENCH" plot "$WORK/r" $kind -m 16
        if grep -q "m = 8" "$WORK/r/plots/$kind"_*.gp; then false; fi
        grep -q "m = 16" "$WORK/r/plots/$kind"_*.gp
        run "$NYSBENCH" plot "$WORK/r" $kind -m 9
        expect_status 1
        expect "--m 9: the run has no such number of landmarks; it has 4, 8, 16"
    done
    /usr/bin/python3 - "$WORK/r" <<'PY'
import csv, sys
import numpy as np
read = lambda name: list(csv.DictReader(open(f"{sys.argv[1]}/{name}", newline="")))
errors = [float(r["error"]) for r in read("rows.csv") if r["core"].startswith("iterative(steps=12,") and "double" in r["core"]
          and r["strategy"].startswith("uniform") and r["problem"].startswith("gaussian") and r["landmarks"] == "16"]
got = [r for r in read("plots/steps.csv") if (r["figure"], r["panel"], r["series"], float(r["x"])) == ("uniform", "error: gaussian(n=60, d=8)", "iterative", 12)]
assert len(errors) == 3 and float(got[0]["median"]) == np.median(errors), (errors, got)
PY
    for words in "-m 8" "cores -m 8" "rows -m 8"; do
        run "$NYSBENCH" plot "$WORK/r" $words
        expect_status 2
        expect "--m is for --landmarks and the kinds cutoff, spectrum and steps"
    done
}

@test "measure gives a row to every core, whether it depends on the trial or not" {
    run "$NYSBENCH" measure --head experiments/data/vit_astronaut_n257_L6.safetensors:2 --strategy segment_means -m 8 --trial 3 --metrics error --json \
        --core svd --core fitted --core iterative --core chosen
    expect_status 0
    /usr/bin/python3 - "$output" <<'PY'
import json, sys
rows = {r["core"].split("(")[0]: r["trial"] for r in map(json.loads, sys.argv[1].splitlines())}
assert rows == {"svd": 0, "iterative": 0, "fitted": 3, "chosen": 3}, rows
PY
}

@test "an iteration that rounding or its start drives out of its region is diverged, never a number, and says why" {
    /usr/bin/python3 - "$WORK" <<'PY'
import sys
import numpy as np
rng = np.random.default_rng(1)
np.save(f"{sys.argv[1]}/q.npy", np.repeat(rng.normal(size=(1, 1, 8)), 64, 1))  # A of rank one
np.save(f"{sys.argv[1]}/k.npy", rng.normal(size=(1, 64, 8)))
PY
    printf 'problems: "heads(file=%s)"\nstrategies: uniform\nlandmarks: 8\ntrials: 1\nmetrics: error\nplots: []\ncores: ["iterative(steps=[6, 34, 60], precision=float)", "iterative(steps=[6, 66, 500])", "iterative(start=given, scale=0.001)", "iterative(steps=0, start=given, scale=0.001)", "shifted(gamma=0, steps=[6, 68])", chosen]\n' \
        "$WORK" >"$WORK/c.yaml"
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r" || [ $? -eq 1 ]
    /usr/bin/python3 - "$WORK/r/rows.csv" <<'PY'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1], newline="")))
said = {}
for r in rows:
    key = (r["core"] if r["core"].startswith("shifted") else r["core"].split(",")[0]) + (" float" if "float" in r["core"] else "") + (" given" if "given" in r["core"] else "")
    said[key] = (r["status"], r["error"] != "", r["reason"])
good, bad = {"iterative(steps=6 float", "iterative(steps=6", "iterative(steps=0 given", "shifted(gamma=0, steps=6)", "chosen(of=svd"}, {"shifted(gamma=0, steps=68)", "iterative(steps=34 float", "iterative(steps=60 float", "iterative(steps=66", "iterative(steps=500", "iterative(steps=6 given"}
assert set(said) == good | bad, said
assert all(said[k][:2] == ("ok", True) for k in good) and all(said[k][:2] == ("diverged", False) for k in bad), said
assert said["iterative(steps=66"][2].startswith("rounding has driven the iteration out of its region")
assert said["shifted(gamma=0, steps=68)"][2] == said["iterative(steps=66"][2]
assert said["iterative(steps=500"][2] == "the core is not finite"
assert "X_0 lies outside of the region of convergence" in said["iterative(steps=6 given"][2] and "not below 3" in said["iterative(steps=6 given"][2]
PY
}

@test "a scale is refused where the start has a divisor of its own" {
    for core in iterative newton_schulz damped_newton hyperpower chebyshev; do
        for start in paper exact worst; do
            run "$NYSBENCH" measure --head experiments/data/vit_astronaut_n257_L6.safetensors:2 --strategy uniform -m 8 --core "$core(scale=3, start=$start)"
            expect_status 2
            expect "--core: $core: scale = 3 is for start=given alone; here start=$start"
        done
        run "$NYSBENCH" measure --head experiments/data/vit_astronaut_n257_L6.safetensors:2 --strategy uniform -m 8 --core "$core(scale=300, start=given)" --metrics error
        expect_status 0
    done
    printf 'problems: "gaussian(n=30, d=4)"\nstrategies: uniform\nlandmarks: 8\ntrials: 1\ncores: ["iterative(start=[given, paper], scale=[1, 2])"]\n' >"$WORK/c.yaml"
    run "$NYSBENCH" plan "$WORK/c.yaml"
    expect_status 2
    expect "c.yaml:5:10: iterative: scale = 2 is for start=given alone; here start=paper"
}

@test "a run draws again what was drawn of earlier rows, and leaves no figure of rows that are gone" {
    undrawn
    small() {
        "$NYSBENCH" run experiments/00-smoke.yaml -q --set trials=1 --set landmarks=4 --set factors=nystromformer --set metrics=error \
            --set 'problems=gaussian(n=40, d=4)' --set plots=error -o "$WORK/r" "$@"
    }
    small --set 'strategies=[uniform, segment_means]' --set 'cores=[svd, iterative]'
    "$NYSBENCH" plot "$WORK/r" cutoff
    [ -s "$WORK/r/plots/cutoff_segment_means.dat" ]
    touch "$WORK/r/plots/error_notes.txt" "$WORK/r/plots/mine.png" "$WORK/r/plots/error_for_paper.png" "$WORK/r/plots/rows_backup.csv"
    echo "plot 'mine'" >"$WORK/r/plots/cutoff_mine.gp"
    mkdir "$WORK/r/plots/error_old.gp"
    small --set strategies=uniform --set 'cores=[svd, "svd(rcond=0.1)", "svd(rcond=0.2)"]'
    grep -q ",svd,1,2" "$WORK/r/plots/cutoff.csv" # rcond = 0.2
    for gone in cutoff_segment_means.dat cutoff_segment_means.gp error_iterative.gp; do
        if [ -e "$WORK/r/plots/$gone" ]; then echo "$gone is there"; false; fi
    done
    for kept in cutoff_uniform.dat curves.gp error_svd.gp error_notes.txt mine.png error_for_paper.png rows_backup.csv cutoff_mine.gp error_old.gp; do [ -e "$WORK/r/plots/$kept" ]; done
    run "$NYSBENCH" plot "$WORK/r" rows
    expect_status 0
    expect "warning: plot rows: the run has no rows that it draws"
}

@test "the spectra of one problem's heads share a panel, however the heads were named" {
    undrawn
    file=experiments/data/vit_astronaut_n257_L6.safetensors
    "$NYSBENCH" run experiments/00-smoke.yaml -q --set trials=1 --set landmarks=8 --set factors=nystromformer --set metrics=error --set strategies=uniform \
        --set "problems=[\"heads(file=$file, head=0)\", \"gaussian(n=40, d=4)\", \"heads(file=$file, head=[1, 2])\"]" --set plots=spectrum -o "$WORK/r"
    /usr/bin/python3 - "$WORK/r/plots/spectrum.csv" <<'PY'
import csv, sys
rows = [r for r in csv.DictReader(open(sys.argv[1], newline="")) if r["figure"] == "iterative(steps=6)" and r["series"] == "uniform"]
counts = {r["panel"]: r["count"] for r in rows}
assert len(rows) == 16 and counts == {"heads(file=vit_astronaut_n257_L6.safetensors)": "3", "gaussian(n=40, d=4)": "1"}, (len(rows), counts)
PY
}

@test "the table of cores holds the medians of the rows" {
    "$NYSBENCH" run experiments/00-smoke.yaml --set trials=3 --set 'landmarks=[4, 8, 60]' --set metrics=error \
        --set 'problems=["gaussian(n=60, d=8)", "clusters(n=64, d=8, count=4)", "heads(file=experiments/data/vit_astronaut_n257_L6.safetensors)"]' --set 'cores=["svd(rcond=1e-15)", iterative, fitted, best]' --set plots=[] -q -o "$WORK/r" >/dev/null
    "$NYSBENCH" table "$WORK/r" cores >"$WORK/out"
    /usr/bin/python3 - "$WORK" <<'PY'
import csv, re, sys
import numpy as np
rows = [r for r in csv.DictReader(open(f"{sys.argv[1]}/r/rows.csv", newline="")) if r["status"] == "ok"]
text = open(f"{sys.argv[1]}/out").read()
table = text.strip().split("\n")
assert table[1].split() == ["landmarks", "4", "8", "60", "core_s"]
assert [line.split()[0] for line in table[2:6]] == ["svd(rcond=1e-15)", "iterative(steps=6)", "fitted(rows=auto)", "best"]
# on a head segment means are the same in all trials: one row of svd stands for three, beside three of fitted
once = lambda r: r["problem"].startswith("heads") and r["strategy"].startswith("segment") and r["core"].split("(")[0] != "fitted"
assert sum(map(once, rows)) == 3 * 3 * 3 and all(r["trial"] == "0" for r in rows if once(r)), sum(map(once, rows))
rows = [r for r in rows for _ in range(3 if once(r) else 1)]
least = {}
for line, core in zip(table[2:6], ("svd", "iterative", "fitted", "best")):
    words = line.split()
    for m, word in zip((4, 8, 60), words[1:4]):
        of = [(float(r["error"]), float(r["error_subspace"])) for r in rows if r["core"].split("(")[0] == core and int(r["landmarks"]) == m
              and float(r["error_subspace"]) > float(r["error_subspace_noise"])]  # at m = n there is nothing but rounding, on gaussian
        median = max(0, 100 * np.median([e / s - 1 for e, s in of]))
        number = float(word.strip("*"))
        assert abs(number - median) <= (0.0501 if median < 9.95 else 0.501 if median < 1e5 else 0.5 * median), (line, m, median)
        if core != "best" and median < least.get(m, (np.inf,))[0]:
            least[m] = median, core
        least[m, core] = word.endswith("*")
    seconds = np.median([float(r["core_s"]) for r in rows if r["core"].split("(")[0] == core and int(r["landmarks"]) == 60 and float(r["error_subspace"]) > float(r["error_subspace_noise"])])
    assert abs(float(words[4]) / seconds - 1) < 0.06, (words, seconds)
for m in (4, 8, 60):
    assert least[m, least[m][1]] and sum(least[m, core] for core in ("svd", "iterative", "fitted", "best")) == 1, (m, least)
PY
}

# A program for command(run="python3 x.py HOW", ...), served or not, which keeps the last F, A and B of each HOW.
program() {
    cat >"$WORK/x.py" <<'PY'
import json, os, shutil, sys, time
import numpy as np
how, here = sys.argv[1], os.environ["NYSBENCH_FOLDER"]

def answer(q, folder):
    f, a, b = (np.load(f"{folder}/{name}.npy") for name in "FAB")
    assert {x.dtype for x in (f, a, b)} == {np.dtype("<f8")} and (f.shape, a.shape, b.shape) == ((q["n"], q["m"]), 2 * (q["m"],), (q["m"], q["n"])), q
    print(json.dumps(q), file=open(here + "/asked", "a"))
    for name in "FAB":
        shutil.copy(f"{folder}/{name}.npy", f"{here}/{how}-{name}.npy")
    if how == "late":
        time.sleep(2)
    if how == "oops":
        sys.exit("no X")
    x = np.linalg.pinv(a, rcond=1e-9)
    x = {"half": x.astype("<f2"), "single": x.astype("<f4"), "whole": np.eye(q["m"], dtype=int), "flat": x.ravel(), "small": x[1:],
         "nan": np.where(np.eye(q["m"]) > 0, np.nan, x), "column": np.asfortranarray(x)}.get(how, x)
    if how != "nothing":
        np.save(folder + "/X.npy", x)
    return {"late": {"done": "core", "waited_s": 2}, "picks": {"done": "picks"}}.get(how, {"done": "core"})

if os.path.exists(sys.argv[-1] + "/request.json"):
    answer(json.load(open(sys.argv[-1] + "/request.json")), sys.argv[-1])
else:
    print('{"ready": 1}', flush=True)
    for line in sys.stdin:
        q = json.loads(line)
        print(json.dumps(answer(q, q["folder"])), flush=True)
PY
    cd "$WORK"
}

core() { # HOW [OPTION...]: a line of a list
    local IFS=,
    echo "  - 'command(run=\"/usr/bin/python3 x.py $1\"${2:+, }${*:2})'"
}

@test "command: a program gets F, A and B as they are defined, and its pseudo-inverse gives the rows of svd, by both engines, and from some rows of S" {
    local head
    head=$PWD/experiments/data/vit_astronaut_n257_L6.safetensors
    program
    mkdir head
    /usr/bin/python3 -c 'import numpy as np
r = np.random.default_rng(5)
np.save("head/q.npy", r.normal(size=(23, 3))), np.save("head/k.npy", r.normal(size=(23, 3)))'
    {
        printf 'problems: heads(file=head)\nstrategies: [segment_means, uniform]\nlandmarks: [4, 7]\ntrials: 2\nplots: []\nmetrics: [error, core_residual]\ncores:\n  - svd(rcond=1e-9)\n'
        core served serve=true
        core started deterministic=true
        core single serve=true
        core column serve=true deterministic=true
    } >c.yaml
    local how
    for how in "engine=streamed factors=[nystromformer,cur]" "engine=direct factors=[nystromformer,cur]" "rows=sample(9) factors=nystromformer"; do
        "$NYSBENCH" run c.yaml -q -j 2 -o r --fresh --set "${how% *}" --set "${how#* }"
        /usr/bin/python3 - <<'PY'
import csv
import numpy as np
rows = list(csv.DictReader(open("r/rows.csv", newline="")))
own = lambda core: {tuple(r[c] for c in ("strategy", "factors", "landmarks", "trial")): r for r in rows if core in r["core"]}
svd = own("svd")
assert len(svd) in (12, 8) and all(len(own(core)) >= len(svd) for core in ("served", "started", "single", "column")), svd.keys()
for core in "served", "started", "single", "column":
    for key, r in own(core).items():
        if key[0] == "segment_means" and key[1] == "cur":
            assert r["status"] == "skipped"
            continue
        # two SVDs of a matrix of condition at most 1e9 and entries of at most 1: 1e9 times 1e-16, or 1e-7 in single precision
        trial = key if key in svd else key[:3] + ("0",)
        error, least = float(r["error"]), float(svd[trial]["error"])
        assert r["status"] == "ok" and abs(error / least - 1) < (1e-3 if core == "single" else 1e-6), (core, key, error, least)
PY
    done
    /usr/bin/python3 - <<'PY'
import json
asked = [json.loads(line) for line in open("asked")]
assert {tuple(sorted(a)) for a in asked} == {("causal", "do", "m", "n", "seed"), ("causal", "do", "folder", "m", "n", "seed")}
assert all(a["do"] == "core" and a["n"] == 23 and a["causal"] is False and 0 <= a["seed"] < 2**32 for a in asked)
seeds = {(a["m"], a["seed"]) for a in asked if "folder" in a}
# served and single, for two numbers of landmarks and two trials, and 0 where nothing is drawn
assert len(seeds) == 2 * 2 * 2 + 2 and {a["seed"] for a in asked if "folder" not in a} == {0}, seeds
PY
    for how in nystromformer cur; do
        "$NYSBENCH" measure --head head --strategy uniform -m 7 --factors $how --core "$(core $how | sed "s/^  - '//; s/'$//")" >/dev/null
    done
    /usr/bin/python3 - <<'PY'
import numpy as np
q, k = (np.load(f"head/{name}.npy") for name in "qk")
softmax = lambda a, b: (lambda e: e / e.sum(1, keepdims=True))(np.exp(a @ b.T / 3**0.5))
S = softmax(q, k)
F, A, B = (np.load(f"cur-{name}.npy") for name in "FAB")
tokens = [int(np.abs(S - b).max(1).argmin()) for b in B]
# products of three terms, and a quotient of sums of 23: some units of 2^-53
close = lambda x, y: np.abs(x - y).max() < 1e-14
assert len(set(tokens)) == 7 and close(B, S[tokens]) and close(F, S[:, tokens]) and close(A, S[np.ix_(tokens, tokens)])
F, A, B = (np.load(f"nystromformer-{name}.npy") for name in "FAB")
assert close(B, S[tokens]) and close(F, softmax(q, k[tokens])) and close(A, softmax(q[tokens], k[tokens]))
PY
    # a forward pass: float32 outputs of at most 1, from the same X but for the rounding above
    "$NYSBENCH" forward --head "$head" --attention 'nystrom(landmarks=16, core=command(run="/usr/bin/python3 x.py served", serve=true))' -o one.npy
    "$NYSBENCH" forward --head "$head" --attention 'nystrom(landmarks=16, core=svd(rcond=1e-9))' -o two.npy
    /usr/bin/python3 -c 'import numpy as np; a, b = np.load("one.npy"), np.load("two.npy"); assert np.abs(a - b).max() < 1e-4 * np.abs(b).max(), np.abs(a - b).max()'
}

@test "command: what a core does wrong is a failed row with the reason, an X that is not finite a diverged one; waiting is no part of core_s" {
    program
    {
        printf 'problems: gaussian(n=20, d=2)\nstrategies: uniform\nlandmarks: 3\ntrials: 1\nplots: []\nmetrics: error\ncores:\n  - svd\n'
        local how
        for how in half whole flat small nan nothing oops; do core $how serve=true; done
        core picks serve=true
        core late serve=true
        core oops
    } >c.yaml
    run "$NYSBENCH" run c.yaml -q -j 1 -o r
    expect_status 1
    /usr/bin/python3 - <<'PY'
import csv
rows = {("serve=true" in r["core"], r["core"].split("x.py ")[-1].split('"')[0]): r for r in csv.DictReader(open("r/rows.csv", newline=""))}
cases = {"half": "X.npy: float16 of shape (3, 3); allowed are float64 or float32 of shape (3, 3)", "whole": "X.npy: int64 of shape (3, 3)",
         "flat": "X.npy: float64 of shape (9,)", "small": "X.npy: float64 of shape (2, 3)", "nothing": "left no X.npy", "oops": "exit status 1: no X",
         "picks": 'answered {"done":"picks"}; allowed are {"done": "core"} and {"error": "why"}'}
for how, reason in cases.items():
    r = rows[True, how]
    assert r["status"] == "failed" and r["reason"].startswith("/usr/bin/python3 x.py " + how) and reason in r["reason"], r["reason"]
assert rows[False, "oops"]["status"] == "failed" and "exit status 1: no X" in rows[False, "oops"]["reason"]
assert rows[True, "nan"]["status"] == "diverged" and rows[True, "nan"]["reason"] == "X.npy has NaN or Inf"
assert rows[True, "late"]["status"] == "ok" and 0 < float(rows[True, "late"]["core_s"]) < 2, rows[True, "late"]["core_s"]
PY
    run "$NYSBENCH" run c.yaml -q -o s --set 'cores=command(run="./none")'
    expect_status 2
    expect "command: run = ./none: there is no program $WORK/none"
    run "$NYSBENCH" measure --head "$OLDPWD/experiments/data/vit_astronaut_n257_L6.safetensors:1" --strategy uniform -m 4 --core 'exact_rows(of=command(run="./none"))'
    expect_status 2
    expect "there is no program $WORK/none"
    "$NYSBENCH" run c.yaml -q -o s --set 'rows=sample(5)' --set factors=cur --set 'cores=command(run="/usr/bin/python3 x.py cur")'
    run grep skipped s/rows.csv
    expect "F of cur is columns of S, for which all rows of S are needed, and only some are formed"
}

@test "command: check makes the checks of a core where it is told to, and tells a program that does not draw" {
    program
    run "$NYSBENCH" check --kind core "command(run=\"/usr/bin/python3 x.py served\", serve=true, deterministic=true)"
    expect_status 0
    expect "0 of 4 checks failed"
    run "$NYSBENCH" check --kind core "command(run=\"/usr/bin/python3 x.py served\", serve=true)"
    expect_status 1
    expect "it is declared random, but computes the same X in another trial: add deterministic=true, or draw from the seed"
    run "$NYSBENCH" check --kind kernel svd
    expect_status 2
    expect "no kernel 'svd'"
}
