# SPDX-License-Identifier: GPL-3.0-or-later
# Programs that stay alive and make all picks of a worker: command(run="...", serve=true).

load helpers

export PYTHONPATH=$PWD/python
SERVE="/usr/bin/python3 -m nysbench.serve"
HEAD=$PWD/experiments/data/vit_astronaut_n257_L6.safetensors

# No process has the folder of this test in its command line, as servers of its files have.
none_runs() {
    ! pgrep -f "$WORK/" >/dev/null
}

# No process has that command line, to a letter.
none_is() {
    ! pgrep -xf "$1" >/dev/null
}

empty() { # FOLDER
    [ -z "$(ls -A "$1")" ] || { ls "$1"; return 1; }
}

# served PROBLEM PAIRING LANDMARKS: c.yaml with the strategies of the file `cases`, RUN|TIMEOUT|..., and uniform.
served() {
    /usr/bin/python3 - "$@" >c.yaml <<'PY'
import json, sys
problem, pairing, landmarks = sys.argv[1:]
specs = [line.rstrip("\n").split("|")[:2] for line in open("cases")]
print(json.dumps({"problems": problem, "cores": "svd", "landmarks": json.loads(landmarks), "trials": 1, "plots": [], "metrics": "error", "pairing": pairing,
                  "strategies": ["exchange" if pairing == "both" else "uniform"] + ["command(run=%s, timeout=%s, serve=true)" % (json.dumps(run), limit) for run, limit in specs]}))
PY
}

# Each line "RUN|TIMEOUT|REASON" of the file `cases` gave failed rows alone, with that reason.
expect_reasons() {
    /usr/bin/python3 - <<'PY'
import csv, json
rows = [(row["strategy"], row["status"], row["reason"]) for row in csv.DictReader(open("r/rows.csv", newline=""))]
for line in open("cases"):
    run, _, reason = line.rstrip("\n").split("|")
    found = [row for row in rows if row[0].startswith("command(run=%s, timeout=" % json.dumps(run))]
    assert found and all(status == "failed" and reason in why for _, status, why in found), (run, reason, found)
PY
}

@test "serve: whatever a Python function does wrong is a failed row with the reason, the run goes on, and nothing is left" {
    cd "$WORK"
    mkdir tmp
    cat >bad.py <<'PY'
import os, signal, subprocess, sys, time
import numpy as np
import nysbench

def raises(points, m):
    print("seen by nobody", 3 * m)
    raise ValueError("not\n this")

def fails_deep(points, m):
    return np.linalg.cholesky(points)

def nothing(points, m): pass
def mask(points, m): return np.arange(len(points)) < m
def texts(points, m): return ["a"] * m
def shape(points, m): return np.arange(3 * m).reshape(3, m)
def few(points, m): return range(m - 1)
def twice(points, m): return [1] * m
def far(points, m): return np.arange(m) + len(points)
def nan(points, m): return np.full((m, points.shape[1]), np.nan)
def wide(points, m): return np.zeros((m, 1))
def ragged(points, m): return [[1], [1, 2]]
def no_group(points, m): return nysbench.Groups(np.zeros(len(points), int))
def groups(points, m): return nysbench.Groups([m] * len(points))
def short(points, m): return nysbench.Groups([0, 1])
def writes(points, m): points[0] = 0
def exits(points, m): sys.exit(3)
def gone(points, m): os._exit(0)
def killed(points, m): os.kill(os.getpid(), signal.SIGKILL)
def hangs(points, m): subprocess.run(["sleep", "35.1"])
def deaf(points, m):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True: time.sleep(1)
def needs(points, m, power): return range(m)
def named(points, m, *rest): return range(m)
def unnamed(points): return range(3)
def two(queries, keys, m): return range(m)
def part(points, keys, m): return range(m)
PY
    echo 'import nysbench, nowhere' >import.py
    printf 'import nysbench\ndef f(points, m): return range(m)\none = nysbench.strategy(f)\ntwo = nysbench.strategy(f)\nthree = 3\n' >several.py
    local s="$SERVE bad.py"
    cat >cases <<EOF
$s raises|60|: ValueError: not this (bad.py, line 7): seen by nobody
$s fails_deep|60|: LinAlgError: Last 2 dimensions of the array must be square (bad.py, line 10)
$s nothing|60|: returned NoneType (object); expected integers, floats or nysbench.Groups
$s mask|60|: returned ndarray (bool); expected
$s texts|60|: returned list (<U1); expected
$s shape|60|: returned integers of shape (3, 
$s few|60|, tokens from 0 to 19, or floats of shape (
$s twice|60|: picks.npy: landmarks 0 and 1 are both token 1
$s far|60|: picks.npy: landmark 0 is token 20, allowed are 0 to 19
$s nan|60|: picks.npy: NaN or Inf in the landmark points
$s wide|60|: returned floats of shape (
$s ragged|60|: ValueError: 
$s no_group|60|: picks.npy: group 1 
$s groups|60|: picks.npy: token 0 is of group 
$s short|60|: returned groups, integers of shape (2); allowed are integers of shape (20), the group of each token
$s writes|60|: ValueError: assignment destination is read-only (bad.py, line 25)
$s exits|60|: exit status 3
$s gone|60|: ended without an answer
$s killed|60|: killed by signal 9 (Killed)
$s hangs|0.3|: not done after 0.3 s
$s deaf|0.3|: not done after 0.3 s
$s|60|: exit status 2: nysbench.serve: $WORK/bad.py has no function marked @nysbench.strategy
$s nope|60|: exit status 2: nysbench.serve: $WORK/bad.py: has no function nope
$s needs|60|: exit status 2: nysbench.serve: needs needs a value for power
$s needs power=2 power=3|60|: exit status 2: nysbench.serve: the option power is given twice
$s needs power=2 scale=3|60|: exit status 2: nysbench.serve: needs has no option scale; options: power
$s needs power=2 3|60|: exit status 2: nysbench.serve: '3': expected NAME=VALUE
$s named|60|: exit status 2: nysbench.serve: $WORK/bad.py: named: '*rest': a strategy's parameters are given by name
$s unnamed|60|: exit status 2: nysbench.serve: $WORK/bad.py: unnamed: has no parameter m, how many landmarks to pick
$s two|60|: two takes queries and keys, but with pairing joint it gets points: use pairing both
$s part|60|: part takes points and keys, but with pairing joint it gets points: keys are given with pairing both only
$SERVE several.py|60|: exit status 2: nysbench.serve: $WORK/several.py has several strategies: name one after the file (one, two)
$SERVE import.py|60|: exit status 2: nysbench.serve: ModuleNotFoundError: No module named 'nowhere' (import.py, line 1)
$SERVE --help|60|: exit status 2: 
EOF
    served 'gaussian(n=20, d=2)' joint '[3, 5]'
    TMPDIR=$WORK/tmp run "$NYSBENCH" run c.yaml -q -j 2 -o r
    expect_status 1
    expect "rows: 70, 2 ok, 68 failed"
    expect_reasons
    none_runs
    none_is 'sleep 35.1'
    empty tmp
}

@test "serve: what a program writes that is no answer is told, and costs its own rows alone" {
    cd "$WORK"
    mkdir tmp
    cat >server.py <<'PY'
import json, os, sys, time
say = lambda text: os.write(1, text.encode())
case = sys.argv[1]
before = {"unready": '{"ready": 0}\n', "talks": "hello\n", "silent": "", "ends": ""}
if case == "silent":
    time.sleep(60)
say(before.get(case, '{"ready": 1}\n'))
line = case != "ends" and sys.stdin.readline()
folder = json.loads(line)["folder"] if line else ""
answers = {"words": "done\n", "list": "[]\n", "empty": "{}\n", "else": '{"done": "it"}\n', "twice": '{"done": "picks"}\n{"done": "picks"}\n', "binary": "{}\0\1\n",
           "endless": "x" * 70000, "half": '{"done": ', "error": '{"error": ["a"]}\n', "told": '{"error": "in %s/x and %s/y"}\n' % (os.getcwd(), folder), "nothing": '{"done": "picks"}\n',
           "loud": '{"done": "picks"}\n', "where": '{"done": "%s/x"}\n' % folder}
if case in ("loud", "where"):
    print("in", folder, file=sys.stderr, flush=True)
say(answers.get(case, ""))
if case == "closes":
    os.close(1)
if case not in ("half", "ends"):
    time.sleep(60)
PY
    local s="/usr/bin/python3 server.py"
    cat >cases <<EOF
$s unready|60|: wrote '{"ready": 0}'; expected a line of JSON, {"ready": 1}
$s talks|60|: wrote 'hello'; expected a line of JSON, {"ready": 1}
$s ends|60|: ended before it was ready
$s words|60|: wrote 'done'; expected a line of JSON, an object
$s list|60|: wrote '[]'; expected a line of JSON, an object
$s binary|60|; expected a line of JSON, an object
$s error|60|: wrote '{"error": ["a"]}'; expected a line of JSON, an object
$s empty|60|: answered {}; allowed are {"done": "picks"}, {"done": "groups"} and {"error": "why"}
$s else|60|: answered {"done":"it"}; allowed are
$s twice|60|: wrote '{"done": "picks"}\\x0a{"done": "picks"}\\x0a'; expected one line, an object, and nothing behind it
$s endless|60|...', 65536 bytes without the end of a line
$s half|60|: ended without an answer
$s closes|60|: closed its standard output
$s told|60|: in ./x and ./y
$s nothing|60|: left no picks.npy
$s loud|60|: left no picks.npy: in .
$s where|60|: answered {"done":"./x"}; allowed are {"done": "picks"}, {"done": "groups"} and {"error": "why"}: in .
$s sleeps|0.3|: not done after 0.3 s
EOF
    served 'gaussian(n=20, d=2)' joint '[3]'
    TMPDIR=$WORK/tmp run "$NYSBENCH" run c.yaml -q -j 2 -o r
    expect_status 1
    expect "rows: 19, 1 ok, 18 failed"
    expect_reasons
    echo "$s silent|60|: not ready after 0.3 s" >cases
    served 'gaussian(n=20, d=2)' joint '[3]'
    sed -i 's/serve=true/serve=true, start=0.3/' c.yaml
    TMPDIR=$WORK/tmp run "$NYSBENCH" run c.yaml -q -j 2 -o r --fresh
    expect_status 1
    expect_reasons
    none_runs
    empty tmp
}

@test "serve: one process makes all picks of a worker, with a seed for each; rows are the same for any number of workers and in any order" {
    cd "$WORK"
    cat >mine.py <<'PY'
import json, os
import nysbench
folder = os.environ["NYSBENCH_FOLDER"]
print(os.getpid(), file=open(folder + "/starts", "a"))

@nysbench.strategy
def drawn(points, m, rng, seed, side, causal, first=0, note="", flag=False):
    """Some, at random."""
    with open(folder + "/picks", "a") as out:
        print(json.dumps([os.getpid(), seed, m, side, causal, list(points.shape), first, note, flag]), file=out)
    return rng.permutation(len(points))[:m]
PY
    cat >c.yaml <<EOF
problems: ["gaussian(n=30, d=3)", "gaussian(n=20, d=2)", "heads(file=$HEAD)"]
strategies: ['command(run="$SERVE mine.py drawn first=3 note=a=b flag=true", serve=true)']
pairing: [joint, independent, shared]
cores: svd
landmarks: [3, 5]
trials: 3
plots: []
metrics: error
EOF
    "$NYSBENCH" run c.yaml -q -j 1 -o one >/dev/null
    [ "$(wc -l <starts)" -eq 1 ]
    mv picks one.picks
    "$NYSBENCH" run c.yaml -q -j 2 -o two >/dev/null
    [ "$(wc -l <starts)" -le 3 ] # the one before, and one for each worker
    diff <(timeless one/rows.csv) <(timeless two/rows.csv)
    "$NYSBENCH" run c.yaml -q -j 1 -o three --set 'landmarks=[5]' >/dev/null
    "$NYSBENCH" run c.yaml -q -j 1 -o three >/dev/null
    diff <(timeless one/rows.csv | sort) <(timeless three/rows.csv | sort)
    /usr/bin/python3 - <<'PY'
import json
told = [json.loads(line) for line in open("one.picks")]
pids, seeds, sizes, sides, causal, shapes, *options = zip(*told)
assert len(set(pids)) == 1 and not any(causal) and set(zip(*options)) == {(3, "a=b", True)}, options
shape = {"joint": lambda n, d: [n, 2 * d], "shared": lambda n, d: [2 * n, d], "queries": lambda n, d: [n, d], "keys": lambda n, d: [n, d]}
for side, of in shape.items():
    found = [told_shape for told_side, told_shape in zip(sides, shapes) if told_side == side]
    assert {tuple(s) for s in found} == {tuple(of(30, 3)), tuple(of(20, 2)), tuple(of(257, 64))}, (side, found)
by = {}
for seed, m, side in zip(seeds, sizes, sides):
    by.setdefault((m, side), set()).add(seed)
assert len(by) == 8 and all(len(s) == 3 for s in by.values()) and len(set(seeds)) == 24 and all(0 <= s < 2**32 for s in seeds), by
PY
}

@test "serve: a program that ends behind an answer, or says more a while later, is started anew, and no row shows it" {
    cd "$WORK"
    cat >server.py <<'PY'
import json, os, sys, time
import numpy as np
print(os.getpid(), file=open(os.environ["NYSBENCH_FOLDER"] + "/starts-" + sys.argv[1], "a"))
print('{"ready": 1}', flush=True)
for line in sys.stdin:
    r = json.loads(line)
    np.save(r["folder"] + "/picks.npy", np.random.default_rng(r["seed"]).permutation(r["n"])[:r["m"]])
    print('{"done": "picks"}', flush=True)
    if sys.argv[1] == "ends":
        sys.exit(3)
    if sys.argv[1] == "more":
        time.sleep(0.02)
        print("more", flush=True)
PY
    for how in stays ends more; do
        cat >c.yaml <<EOF
problems: "gaussian(n=30, d=3)"
strategies: ['command(run="/usr/bin/python3 server.py $how", serve=true)']
cores: svd
landmarks: [3, 5]
trials: 8
plots: []
metrics: error
EOF
        for jobs in 1 2; do
            run "$NYSBENCH" run c.yaml -q -j $jobs --fresh -o $how-$jobs
            expect_status 0
            expect "rows: 16, 16 ok"
        done
        diff <(timeless $how-1/rows.csv) <(timeless $how-2/rows.csv)
    done
    [ "$(wc -l <starts-stays)" -le 3 ]
    [ "$(wc -l <starts-ends)" -eq 32 ]
    [ "$(wc -l <starts-more)" -gt 3 ]
}

@test "serve: what a function reads is empty, and what it prints, writes and starts does not get between the answers" {
    cd "$WORK"
    cat >mine.py <<'PY'
import os, subprocess, sys
print('{"done": "picks"}')

def loud(points, m):
    print("a word")
    os.write(1, b"b\n")
    subprocess.run("echo c; cat", shell=True, check=True)
    assert sys.stdin.read() == "" and os.read(0, 1) == b""
    return range(m)

def quarrels(points, m):
    loud(points, m)
    raise KeyError(m)
PY
    cat >cases <<EOF
$SERVE mine.py quarrels|60|: KeyError: 3 (mine.py, line 13): 
EOF
    served 'gaussian(n=20, d=2)' joint '[3]'
    run "$NYSBENCH" run c.yaml -q -o r
    expect_status 1
    expect_reasons
    grep -qE 'b[|]c[|]a word|a word[|]b[|]c' r/rows.csv # standard output may be buffered
    run "$NYSBENCH" select --head "$HEAD:1" --strategy "command(run=\"$SERVE mine.py loud\", serve=true)" -m 4 -o k.npy --side keys
    expect_status 0
    expect "0 1 2 3"
}

@test "serve: with both, a function gets queries and keys; one answer for both sides, two, points and groups; as many rows are those of files" {
    cd "$WORK"
    cat >mine.py <<'PY'
import numpy as np
from nysbench import Groups

def scores(queries, keys):
    return np.argsort((queries * keys).sum(axis=1), kind="stable"), np.argsort((keys * keys).sum(axis=1), kind="stable")

def one(queries, keys, m): return scores(queries, keys)[0][:m]
def two(queries, keys, m): return tuple(side[:m] for side in scores(queries, keys))
def points(queries, keys, m): return tuple(x[side[:m]] for x, side in zip((queries, keys), scores(queries, keys)))
def parts(queries, keys, m): return Groups(np.arange(len(keys)) * m // len(keys))
def part(points, m): return Groups(np.arange(len(points)) * m // len(points))
def other(queries, keys, m): return parts(queries, keys, m), Groups(np.arange(len(keys)) % m)
def mixed(queries, keys, m): return parts(queries, keys, m), np.arange(m)
def joint(points, m): return range(m)
def blend(points, queries, m): return range(m)
def key(keys, m): return scores(keys, keys)[1][:m]
def every(points, queries, keys, m): return one(queries, keys, m)
PY
    cat >file.py <<'PY'
import json, sys
import numpy as np
import mine
m, answer = json.load(open("request.json"))["m"], getattr(mine, sys.argv[1])(np.load("queries.npy"), np.load("keys.npy"), json.load(open("request.json"))["m"])
if sys.argv[1] == "one":
    np.save("picks.npy", answer)
else:
    np.save("query_picks.npy", answer[0]), np.save("key_picks.npy", answer[1])
PY
    local specs
    specs=$(printf "'command(run=\"$SERVE mine.py %s\", serve=true, deterministic=true)'," one two points parts other key every)
    cat >c.yaml <<EOF
problems: "heads(file=$HEAD, head=1)"
strategies: [$specs $(printf "'command(run=\"/usr/bin/python3 file.py %s\", deterministic=true)'," one two points)]
pairing: both
cores: svd
landmarks: [5, 8]
trials: 1
plots: []
metrics: error
EOF
    run "$NYSBENCH" run c.yaml -q -j 2 -o r
    expect_status 0
    for method in segment_means "command(run=\"$SERVE mine.py part\", serve=true, deterministic=true)"; do
        "$NYSBENCH" measure --head "$HEAD:1" --strategy "$method" --pairing joint -m 5 --core svd --metrics error --json >"parts-${method%%(*}.json"
    done
    /usr/bin/python3 - <<'PY'
import csv, json
error = {}
for row in csv.DictReader(open("r/rows.csv", newline="")):
    script, name = row["strategy"].split(".py ")[0].split()[-1], row["strategy"].split(".py ")[1].split('"')[0]
    error[script.rpartition("/")[2], name, row["landmarks"]] = row["error"]
for m in "5", "8":
    for name in "one", "two", "points":
        assert error["mine", name, m] == error["file", name, m], (name, m)
    assert len({error["mine", name, m] for name in ("one", "two", "parts", "other", "key")}) == 5
    assert error["mine", "every", m] == error["mine", "one", m]
# tokens in order, cut into m parts of sizes that differ by one at most: the means of segments
served, own = (json.load(open("parts-%s.json" % name))["error"] for name in ("command", "segment_means"))
assert abs(served / own - 1) < 0.1 and float(error["mine", "parts", "5"]) == served, (served, own, error)
PY
    cat >cases <<EOF
$SERVE mine.py mixed|60|: returned groups of one side and picks of the other
$SERVE mine.py joint|60|: joint takes points, but with pairing both it gets queries and keys: use another pairing
$SERVE mine.py blend|60|: blend takes points and queries, but with pairing both it gets queries and keys: points are given with other pairings only
EOF
    served 'gaussian(n=20, d=2)' both '[3]'
    run "$NYSBENCH" run c.yaml -q -o r --fresh
    expect_status 1
    expect_reasons
}

@test "serve: any Python: a virtual environment's, one with a prefix of its own, paths with blanks; what is not there is told before anything runs" {
    mkdir -p "$WORK/bl ank/my env/bin" "$WORK/bl ank/prefix/bin" "$WORK/bl ank/prefix/lib"
    cd "$WORK/bl ank"
    local here real version
    here=$(pwd -P)
    real=$(readlink -f /usr/bin/python3)
    version=$(basename "$real")
    ln -s /usr/bin/python3 "my env/bin/python"
    printf 'home = /usr/bin\ninclude-system-site-packages = true\n' >"my env/pyvenv.cfg"
    cp "$real" "prefix/bin/$version" # as conda has it: no link, no pyvenv.cfg, a library beside it
    ln -s "$version" prefix/bin/python
    ln -s "/usr/lib/$version" "prefix/lib/$version"
    cat >"my strategy.py" <<'PY'
import os, sys
import nysbench

@nysbench.strategy
def first(points, m):
    print(os.path.realpath(sys.prefix), file=open(os.environ["NYSBENCH_FOLDER"] + "/told", "w"))
    return range(m)
PY
    local python where spec
    while IFS='|' read -r python where; do
        spec="command(run=\"$python -m nysbench.serve 'my strategy.py' first\", serve=true)"
        run env PYTHONPATH="$PYTHONPATH:/usr/lib/python3/dist-packages" "$NYSBENCH" select --head "$HEAD:1" --strategy "$spec" -m 3 -o k.npy
        expect_status 0
        [ "$(cat told)" = "$where" ] || { cat told; return 1; }
        rm told
    done <<EOF
'my env/bin/python'|$here/my env
'prefix/bin/python'|$here/prefix
/usr/bin/env 'my env/bin/python'|$here/my env
EOF
    local words expected
    while IFS='|' read -r words expected; do
        run "$NYSBENCH" select --head "$HEAD:1" --strategy "command(run=\"$words\", serve=true)" -m 3 -o k.npy
        expect_status 2
        expect "$expected"
    done <<EOF
python3 -m nysbench.serve none.py first|there is no file $here/none.py
'my env/bin/python' -m nysbench.serve none.py|there is no file $here/none.py
'my env/bin/python3' -m nysbench.serve 'my strategy.py'|there is no program $here/my env/bin/python3
'./my strategy.py'|$here/my strategy.py is not executable: chmod +x makes it so, or put before it what runs it, such as python3
EOF
}

@test "serve: the file is part of what a row is, serve=false is what it was" {
    cd "$WORK"
    printf 'def first(points, m):\n    return range(m)\n' >mine.py
    cp "$OLDPWD/experiments/plugins/farthest.py" .
    cat >c.yaml <<EOF
problems: "gaussian(n=20, d=2)"
strategies: ['command(run="$SERVE mine.py first", serve=true)', 'command(run="/usr/bin/python3 farthest.py")']
cores: svd
landmarks: 3
trials: 1
plots: []
EOF
    "$NYSBENCH" run c.yaml -q -o r >/dev/null
    [ "$(grep -c 'serve=' r/rows.csv)" -eq 1 ]
    local words
    for words in "" " first"; do
        run "$NYSBENCH" select --head "$HEAD:1" --strategy "command(run=\"$SERVE mine.py$words\")" -m 5 --side keys -o k.npy
        expect_status 1
        expect "is not NAME=VALUE; command(...) needs serve=true for nysbench.serve"
    done
    run "$NYSBENCH" plan c.yaml -o r
    expect "of which 2 are done and 0 are to run"
    printf 'def first(points, m):\n    return range(1, m + 1)\n' >mine.py
    run "$NYSBENCH" plan c.yaml -o r
    expect "of which 1 are done and 1 are to run"
}

@test "serve: programs end with the run that started them, whoever is killed" {
    cd "$WORK"
    mkdir tmp
    cat >mine.py <<'PY'
import subprocess

def hangs(points, m):
    subprocess.run(["sleep", "36.1"])

def leaves(points, m):
    subprocess.Popen(["setsid", "sleep", "36.2"])
    subprocess.Popen(["sleep", "36.2"])
    return range(m)
PY
    echo "$SERVE mine.py hangs|60|" >cases
    served 'gaussian(n=20, d=2)' joint '[3, 4]'
    local id
    for id in run worker; do
        TMPDIR=$WORK/tmp "$NYSBENCH" run c.yaml -q -j 1 -o r --fresh >/dev/null 2>&1 3>&- &
        local run=$! victim=$!
        until_true pgrep -xf 'sleep 36.1'
        # a worker is the parent of the server, which is the parent of sleep
        [ $id = run ] || victim=$(ps -o ppid= -p "$(ps -o ppid= -p "$(pgrep -xf 'sleep 36.1')" | tr -d ' ')" | tr -d ' ')
        kill -9 "$victim"
        [ $id = run ] || { until_true pgrep -xf 'sleep 36.1'; kill "$run"; }
        local code=0
        wait "$run" || code=$?
        [ "$code" -gt 128 ] # by a signal
        until_true none_runs
        until_true none_is 'sleep 36.1'
        until_true empty tmp
    done
    echo "$SERVE mine.py leaves|60|" >cases
    served 'gaussian(n=20, d=2)' joint '[3, 4]'
    TMPDIR=$WORK/tmp run "$NYSBENCH" run c.yaml -q -j 1 -o r --fresh
    expect "rows: 4, 4 ok"
    none_is 'sleep 36.2'
    none_runs
    empty tmp
}

@test "serve: the examples pick as farthest.py does, and where a file is missing the one in Perl says so" {
    local run
    for run in "/usr/bin/python3 experiments/plugins/farthest.py\"" "$SERVE experiments/plugins/farthest_served.py\", serve=true" "perl experiments/plugins/farthest.pl\", serve=true"; do
        "$NYSBENCH" select --head "$HEAD:1" --strategy "command(run=\"$run, deterministic=true)" -m 6 --side keys -o "$WORK/k.npy" >/dev/null
        /usr/bin/python3 -c 'import numpy, sys; print(*numpy.load(sys.argv[1]))' "$WORK/k.npy" >>"$WORK/tokens"
    done
    [ "$(wc -l <"$WORK/tokens")" -eq 3 ]
    [ "$(sort -u "$WORK/tokens" | wc -l)" -eq 1 ]
    [ "$(wc -w <"$WORK/tokens")" -eq 18 ]
    printf '{"folder":"%s","m":2,"seed":0,"n":4,"d":2}\n' "$WORK" >"$WORK/question"
    run perl experiments/plugins/farthest.pl <"$WORK/question"
    expect '{"ready": 1}'
    expect "points.npy: No such file"
    expect '{"error": "cannot pick"}'
}

@test "serve: the start is no part of select_s" {
    cd "$WORK"
    printf 'import time\ntime.sleep(3)\ndef first(points, m): return range(m)\n' >mine.py
    "$NYSBENCH" measure --head "$HEAD:1" --strategy "command(run=\"$SERVE mine.py first\", serve=true)" -m 4 --core svd --metrics error --json >row.json
    # a pick takes milliseconds: it would have to be delayed for 3 s to fail this
    /usr/bin/python3 -c 'import json; s = json.load(open("row.json"))["select_s"]; assert 0 < s < 3, s'
}

@test "serve: the function in the manual picks; without NAME=VALUE it takes its default" {
    cd "$WORK"
    sed -n '/^## A strategy in Python$/,/^and in the config/p' "$OLDPWD/docs/plugins.md" | sed -n 's/^    //p; /^$/p' >mine.py
    grep -q nysbench.strategy mine.py
    local words
    for words in "norms power=1" norms ""; do
        run "$NYSBENCH" select --head "$HEAD:1" --strategy "command(run=\"$SERVE mine.py $words\", serve=true)" -m 5 -o k.npy --side keys
        expect_status 0
        expect "5 tokens"
    done
    /usr/bin/python3 - <<'PY'
import numpy as np
import mine
points = np.ones((6, 2)) * np.arange(6)[:, None]
assert 0 not in mine.norms(points, 5, np.random.default_rng(0)) # it stays a function; the token of norm 0 is the last
PY
}

@test "serve: a function for every pairing passes the checks, with any allocation of nysbench failing" {
    cd "$WORK"
    cat >mine.py <<'PY'
def drawn(points, queries, keys, m, rng):
    one, two = (rng.permutation(len(keys if points is None else points))[:m] for _ in range(2))
    return (one, two) if points is None else one

def constant(points, queries, keys, m):
    return range(m)
PY
    run "$NYSBENCH" check "command(run=\"$SERVE mine.py drawn\", serve=true)"
    expect_status 0
    expect "0 of 5 checks failed"
    run "$NYSBENCH" check "command(run=\"$SERVE mine.py constant\", serve=true)"
    expect_status 1
    expect "traits: 130 tokens: it is declared random, but picks the same in another trial: add deterministic=true, or draw from the seed"
    expect "1 of 5 checks failed"
}

@test "serve: check passes over the pairings that a program refuses, says why, and makes all checks of the others" {
    cd "$WORK"
    cat >mine.py <<'PY'
def points(points, m, rng): return rng.permutation(len(points))[:m]
def pair(queries, keys, m, rng): return rng.permutation(len(keys))[:m]
def neither(points, m): raise ValueError("never")
PY
    cat >plain.py <<'PY'
import json
import numpy as np
r = json.load(open("request.json"))
np.save("picks.npy", np.random.default_rng(r["seed"]).permutation(len(np.load("points.npy")))[:r["m"]])
PY
    local run pairings calls why
    while IFS='|' read -r run pairings calls why; do
        run "$NYSBENCH" check "command(run=\"$run)" --timeout 600
        expect_status 0
        [[ "$output" == *"SKIP command(run="*", $pairings: it refuses: "*"$why"* ]]
        [[ "$output" == *", picks: "*"; $calls calls on 9 heads"* ]]
        [[ "$output" =~ ", memory: an error and nothing left when any one allocation fails; "[0-9]+ ]]
        expect "0 of 5 checks failed"
    done <<EOF
$SERVE mine.py points", serve=true|pairing both|592|points takes points, but with pairing both it gets queries and keys: use another pairing
$SERVE mine.py pair", serve=true|every pairing but both|100|pair takes queries and keys, but with pairing joint it gets points: use pairing both
/usr/bin/python3 plain.py"|pairing both|592|No such file or directory: 'points.npy'
EOF
    run "$NYSBENCH" check "command(run=\"$SERVE mine.py neither\", serve=true)"
    expect_status 1
    [ "$(grep -c '^SKIP' <<<"$output")" -eq 0 ]
    expect ", picks: 1 token: m = 1, pairing independent: "
    expect "ValueError: never (mine.py, line 3)"
}

@test "serve: check finds a program that does not draw from its seed" {
    cd "$WORK"
    cat >mine.py <<'PY'
import numpy
def tokens(points, m): return numpy.random.permutation(len(points))[:m]
PY
    printf 'import json, numpy, mine\nnumpy.save("picks.npy", mine.tokens(numpy.load("points.npy"), json.load(open("request.json"))["m"]))\n' >plain.py
    local run
    for run in "$SERVE mine.py tokens\", serve=true" "/usr/bin/python3 plain.py\""; do
        run "$NYSBENCH" check "command(run=\"$run)"
        expect_status 1
        [[ "$output" =~ "FAIL command(run="[^$'\n']*", picks: "[^$'\n']*": the same seed gave other landmarks: of the "(queries|keys)", landmark "[0-9]+" is " ]]
        expect "1 of 5 checks failed"
        run "$NYSBENCH" check "command(run=\"$run, deterministic=true)"
        expect_status 1
        expect ", traits: 130 tokens: it is declared not random, but picks others in another trial: drop deterministic=true"
    done
}
