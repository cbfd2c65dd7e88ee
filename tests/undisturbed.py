#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""undisturbed.py PROGRAM FOLDER [PART...] - whatever is done to a run, its rows end up as those of a run that was left
alone.

    kills    the run, a worker, a plug-in's call, all of them and the programs, the whole group, and a worker's
    successor too, at random moments faults   SIGKILL, ENOSPC and EIO at each operation on a file of the run (strace,
    with --inject) torn     the store as a power loss leaves it: of what was not synced, any sectors, or none
    hostile  strategies and commands that harm whoever they can, among others that do not

Counts come from the environment: KILLS (1000 for all that there is to see), FAULTS (0: all of them), TORN (500),
HOSTILE (0: all). Prints a line a part; exit status 1 where rows were lost, doubled or changed, or a process or file was
left. SEED repeats the choices."""
import ast
import collections
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

PROGRAM, WORK = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2])
COUNT = {"KILLS": 60, "FAULTS": 60, "TORN": 30, "HOSTILE": 0}
COUNT.update({key: int(os.environ[key]) for key in COUNT if os.environ.get(key)})
SEED = int(os.environ.get("SEED") or random.randrange(1 << 30))
TMP = WORK + "/tmp"
ENV = dict(os.environ, TMPDIR=TMP, OPENBLAS_NUM_THREADS="1")
SLEEPER = f"sleep 299.{os.getpid()}"  # what programs and plug-ins leave behind here
failures = []


def fail(what):
    failures.append(what)
    print("failed:", what, flush=True)


def write(name, text):
    with open(name, "w") as out:
        out.write(text)


def experiment(name, strategies, trials, problems='gaussian(n=[40, 60], d=4)', cores="[svd, iterative]"):
    path = f"{WORK}/{name}.yaml"
    write(path,
          json.dumps({"problems": problems, "strategies": strategies, "cores": ["svd", "iterative"], "landmarks": 3,
                      "trials": trials,
                            "metrics": "error", "plots": []}))
    return path


def words(config, folder, *more):
    return [PROGRAM, "run", config, "-q", "-o", folder, *more]


def run(config, folder, *more, timeout=300):
    return subprocess.run(words(config, folder, *more), env=ENV, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=timeout)


IDENTITY = "problem head kernel trial n d strategy landmarks pairing factors core rows engine precision".split()
LEFT_OUT = {"experiment", "position", "manifest"}  # and times


def rows(folder):
    """Rows of the store that are not planned, by identity, without times; None where there is no sound store yet."""
    if not os.path.exists(folder + "/results.sqlite"):
        return {}
    db = sqlite3.connect(folder + "/results.sqlite", timeout=60)
    db.row_factory = sqlite3.Row
    try:
        if db.execute("PRAGMA integrity_check").fetchall()[0][0] != "ok":
            fail(f"{folder}: the store is not sound")
        found = db.execute("SELECT * FROM results WHERE position IS NOT NULL").fetchall()
    except sqlite3.OperationalError as error:
        if "no such table" in str(error):
            return {}
        raise
    finally:
        db.close()
    result = {}
    for row in found:
        key = tuple(row[c] for c in IDENTITY)
        if key in result:
            fail(f"{folder}: a row twice: {key}")
        if row["status"] != "planned":
            result[key] = {c: row[c] for c in row.keys() if c not in LEFT_OUT and not c.endswith("_s")}
    return result


def compare(what, expected, got, whole=True):
    lost = [key for key in expected if key not in got] if whole else []
    changed = [key for key in got if key in expected and got[key] != expected[key]]
    if lost or changed:
        key = (lost + changed)[0]
        fail(f"{what}: {len(lost)} rows lost, {len(changed)} changed; {key}: {expected[key]}, {got.get(key)}")
    return len(lost), len(changed)


def command_line(pid):
    try:
        return open(f"/proc/{pid}/cmdline", "rb").read().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return ""


def processes():
    """All that belongs to this test but itself."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        line = command_line(pid)
        if int(pid) != os.getpid() and "undisturbed.py" not in line and (WORK in line or line == SLEEPER):
            found.append((int(pid), line))
    return found


left = collections.Counter()


def nothing_left(what, *folders):
    end = time.monotonic() + 20
    while (processes() or os.listdir(TMP)) and time.monotonic() < end:
        time.sleep(0.02)
    files = os.listdir(TMP) + [name for folder in folders for _, _,
                               names in os.walk(folder) for name in names if name.endswith((".tmp", "-journal"))]
    there = processes()
    left["processes"] += len(there)
    left["files"] += len(files)
    if files or there:
        fail(f"{what}: left: {there} {files}")
        for pid, _ in there:
            os.kill(pid, signal.SIGKILL)
        for name in os.listdir(TMP):
            shutil.rmtree(f"{TMP}/{name}", ignore_errors=True)


def children(pid):
    try:
        return [int(child) for child in open(f"/proc/{pid}/task/{pid}/children").read().split()]
    except OSError:
        return []


def kill(pid, number=signal.SIGKILL):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def command(script):
    """The strategy that runs a shell script in its own folder."""
    return f'command(run="sh {script}", deterministic=true)'


def shell(name, text):
    write(f"{WORK}/{name}.sh", text + "\n")
    return f"{WORK}/{name}.sh"


# Tokens 0, 1, 2.
GOOD_PICKS = f"cp '{WORK}/picks.npy' picks.npy"


def make_picks():
    header = str({"descr": "<i8", "fortran_order": False, "shape": (3,)}).ljust(117) + "\n"
    with open(WORK + "/picks.npy", "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() +
                  b"".join(i.to_bytes(8, "little") for i in range(3)))


def attack(running, pick):
    """One kill, or two; what was hit."""
    workers = children(running.pid)
    if pick == "group":
        os.killpg(running.pid, signal.SIGKILL)
    elif pick == "run" or not workers:
        kill(running.pid)
        return "run"
    elif pick == "run and workers":
        for pid in [running.pid] + workers:
            kill(pid)
    elif pick == "all":
        for pid in [running.pid] + workers + [child for worker in workers for child in children(worker)]:
            kill(pid)
    elif pick == "call":
        for pid in children(random.choice(workers)):
            if command_line(pid).startswith(PROGRAM):  # a program that is killed has failed
                kill(pid)
    else:
        kill(workers[0])
        if pick == "worker twice":
            end = time.monotonic() + 0.3
            while time.monotonic() < end:
                fresh = [worker for worker in children(running.pid) if worker not in workers]
                if fresh:
                    kill(fresh[-1])
                    break
    return pick


def build(plugin):
    shared, root = f"{WORK}/{plugin}.so", os.path.dirname(os.path.abspath(__file__)) + "/.."
    subprocess.run(["cc", "-std=c11", "-D_GNU_SOURCE", "-I.", "-Isrc", "-Istrategies", "-w", "-shared", "-fPIC",
                    f"tests/cli/plugins/{plugin}.c", "-o", shared, "-lm"],
                   cwd=root, check=True)
    return shared


def hurt(row):
    """Whether a kill shows in the row. A program has the command line of its worker until it is executed, and may be
    hit as a call then."""
    return row["status"] == "crashed" or (row["status"] == "failed"
                                          and row["reason"].endswith("killed by signal 9 (Killed)"))


def kills():
    script, options = shell("pick", GOOD_PICKS), ["--retry", "crashed,failed", "--plugin", build("naps")]
    config = experiment("kills", ["uniform", "kmeans", "naps(ms=4)", command(script)], 30)
    assert run(config, WORK + "/whole", "-j", "1", *options).returncode == 0
    expected, done, hit, crashed, lost, changed, store = rows(WORK + "/whole"), 0, collections.Counter(), 0, 0, 0, 0
    nothing_left("an undisturbed run", WORK + "/whole")
    targets = ["run", "group", "worker", "worker twice", "call", "run and workers", "all"]
    while done < COUNT["KILLS"]:
        folder, before = f"{WORK}/cut{store}", {}
        store += 1
        while True:
            running = subprocess.Popen(words(config, folder, "-j", "2", *options), env=ENV, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL, start_new_session=True)
            ended = False
            while done < COUNT["KILLS"] and not ended:
                try:
                    running.wait(random.uniform(0, 0.6))
                    ended = True
                except subprocess.TimeoutExpired:
                    hit[attack(running, random.choice(targets))] += 1
                    done += 1
            code = running.wait(300)
            after = rows(folder)
            lost += len([key for key in before if key not in after])
            before = {key: row for key, row in after.items() if not hurt(row)}
            compare(f"after {dict(hit)}", expected, before, whole=False)
            crashed += len(after) - len(before)
            if code == 0:
                break
            if done >= COUNT["KILLS"]:
                run(config, folder, "-j", "2", *options)
                break
        lost_here, changed_here = compare("after kills", expected, rows(folder))
        lost, changed = lost + lost_here, changed + changed_here
        nothing_left("after kills", folder)
        shutil.rmtree(folder)
    if lost:
        fail(f"{lost} rows were lost by kills")
    print(f"kills: {done} ({', '.join(f'{n} {what}' for what, n in sorted(hit.items()))}): {lost} of "
          f"{len(expected) * store} rows lost, {changed} changed; "
          f"{crashed} told as crashed or killed on the way; {left['processes']} processes and {left['files']} files "
          f"left", flush=True)


def trace(config, folder, *more):
    """Runs it under strace; (how it ended, its lines)."""
    log = WORK + "/strace.log"
    done = subprocess.run(["strace", "-qq", "-y", "-o", log, *more, *words(config, folder, "-j", "1")], env=ENV,
                          stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    return done, open(log, errors="replace").read().splitlines() if os.path.exists(log) else []


CHANGING = "openat mkdir mkdirat write pwrite64 ftruncate fsync fdatasync rename unlink unlinkat rmdir flock".split()


def faults():
    config = experiment("faults", ["uniform", "kmeans"], 2)
    assert run(config, WORK + "/fine", "-j", "1").returncode == 0
    expected, todo, at = rows(WORK + "/fine"), [], collections.Counter()
    done, lines = trace(config, WORK + "/traced", "-e", "trace=" + ",".join(CHANGING))
    assert done.returncode == 0, done.stdout
    for line in lines:
        call = line.split("(")[0]
        at[call] += 1
        if WORK + "/traced" in line or TMP in line:
            todo += [(call, at[call], fault) for fault in ("signal=SIGKILL", "error=ENOSPC", "error=EIO")]
    operations = len(todo) // 3
    if COUNT["FAULTS"]:
        todo = random.sample(todo, min(COUNT["FAULTS"], len(todo)))
    ended, lost, changed = collections.Counter(), 0, 0
    for call, number, fault in todo:
        folder, what = WORK + "/faulty", f"{fault} at {call} {number}"
        done, _ = trace(config, folder, "-e", "trace=" + call, "-e", f"inject={call}:{fault}:when={number}")
        told = done.stdout.decode(errors="replace")
        kind = "killed" if done.returncode in (-9, 137) else "told" if done.returncode in (1, 2) and \
            "nysbench: error" in told else "done" if done.returncode == 0 else "?"
        ended[kind] += 1
        if kind == "?":
            fail(f"{what}: exit status {done.returncode}: {told}")
        if kind == "done":
            compare(what + ", done", expected, rows(folder))
        again = run(config, folder, "-j", "1")
        if again.returncode != 0:
            fail(f"{what}: the same command does not go on: {again.stdout.decode()}")
        else:
            lost_here, changed_here = compare(what, expected, rows(folder))
            lost, changed = lost + lost_here, changed + changed_here
        nothing_left(what, folder)
        shutil.rmtree(folder, ignore_errors=True)
    print(f"faults: {len(todo)} of {3 * operations} (a SIGKILL, ENOSPC and EIO at {operations} operations): "
          f"{ended['killed']} killed, {ended['told']} ended "
          f"with an error, {ended['done']} went on; {lost} rows lost, {changed} changed after going on", flush=True)


class Disk:
    """Files as bytes; what was not synced, as a list of operations."""

    def __init__(self):
        self.synced, self.pending = {}, []

    def do(self, state, operation, sectors=None):
        kind, name, *rest = operation
        if kind == "make":
            state.setdefault(name, bytearray())
        elif kind == "unlink":
            state.pop(name, None)
        elif name in state and kind == "cut":
            state[name] = state[name][:rest[0]] + bytearray(max(0, rest[0] - len(state[name])))
        elif name in state:
            at, data = rest
            for start in range(0, len(data), 512):
                if sectors is None or sectors():
                    piece, end = data[start:start + 512], at + start + len(data[start:start + 512])
                    state[name] += bytearray(max(0, end - len(state[name])))
                    state[name][at + start:end] = piece

    def sync(self, name, folder):
        """Of a file: what was written to it; of the folder: what was made and removed."""
        mine = lambda o: o[0] in ("make", "unlink") if folder else o[1] == name
        for operation in self.pending:
            if mine(operation):
                self.do(self.synced, operation)
        self.pending = [o for o in self.pending if not mine(o)]

    def after_loss(self):
        """Making and removing happen in their order, up to some; of writes any sectors, none, or all."""
        state = {name: bytearray(data) for name, data in self.synced.items()}
        entries = [o for o in self.pending if o[0] in ("make", "unlink")]
        kept, share, others = random.randint(0, len(entries)), random.choice([0, 0.5, 1]), set()
        for operation in self.pending:
            if operation[0] in ("make", "unlink"):
                if kept > 0:
                    self.do(state, operation)
                else:
                    others.add(operation[1])  # what is written to that name from now on is another file's
                kept -= 1
            elif operation[1] in others:
                continue
            elif operation[0] == "cut":
                if random.random() < share:
                    self.do(state, operation)
            else:
                self.do(state, operation, lambda: random.random() < share)
        return state


LINE = re.compile(r'^(\w+)\((.*)\) += (-?\d+)(?:<(.*?)>)?')
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')


def operations(lines, folder):
    store = folder + "/results.sqlite"
    names = {store: "results.sqlite", store + "-journal": "results.sqlite-journal"}
    for line in lines:
        found = LINE.match(line)
        if not found or int(found[3]) < 0:
            continue
        call, arguments = found[1], found[2]
        fd = re.match(r"\d+<(.*?)>", arguments)
        if call == "openat" and "O_CREAT" in arguments and STRING.search(arguments)[1] in names:
            yield "make", names[STRING.search(arguments)[1]]
        elif call == "unlink" and STRING.search(arguments)[1] in names:
            yield "unlink", names[STRING.search(arguments)[1]]
        elif call in ("fsync", "fdatasync") and fd and (fd[1] in names or fd[1] == folder):
            yield "sync", names.get(fd[1])
        elif call == "ftruncate" and fd and fd[1] in names:
            yield "cut", names[fd[1]], int(arguments.rsplit(", ", 1)[1])
        elif call == "pwrite64" and fd and fd[1] in names:
            data = ast.literal_eval("b\"" + STRING.search(arguments)[1] + "\"")
            yield "write", names[fd[1]], int(arguments.rsplit(", ", 1)[1]), data


def put(state, folder):
    os.makedirs(folder)
    for name, data in state.items():
        with open(f"{folder}/{name}", "wb") as out:
            out.write(data)


def torn():
    config, folder = experiment("torn", ["uniform", "kmeans"], 8), WORK + "/power"
    done, lines = trace(config, folder, "-s", "1000000", "-e", "trace=openat,pwrite64,ftruncate,fsync,fdatasync,unlink")
    assert done.returncode == 0, done.stdout
    expected, steps, lost, changed, unready = rows(folder), list(operations(lines, folder)), 0, 0, 0
    commits = [i for i, step in enumerate(steps) if step[0] == "unlink"]
    chosen = sorted(random.randrange(len(steps)) for _ in range(COUNT["TORN"]))
    disk, whole, durable, at = Disk(), {}, [{}], 0
    for i, step in enumerate(steps):
        while at < len(chosen) and chosen[at] == i:
            at += 1
            put(disk.after_loss(), WORK + "/loss")
            before = rows(WORK + "/loss")
            # The last commit may be undone, as its journal's removal is not synced; those before it not.
            if missing := [key for key in durable[-2 if len(durable) > 1 else -1] if key not in before]:
                fail(f"power loss before step {i}: {len(missing)} rows lost")
                lost += len(missing)
            unready += not before
            again = run(config, WORK + "/loss", "-j", "1")
            if again.returncode != 0:
                fail(f"power loss before step {i}, {step[:2]}: {again.stdout.decode()}")
            else:
                lost_here, changed_here = compare(f"power loss before step {i}", expected, rows(WORK + "/loss"))
                lost, changed = lost + lost_here, changed + changed_here
            shutil.rmtree(WORK + "/loss")
        if step[0] == "sync":
            disk.sync(step[1], step[1] is None)
        else:
            disk.pending.append(step)
            disk.do(whole, step)
        if i in commits:
            put(whole, WORK + "/commit")
            durable.append(rows(WORK + "/commit"))
            shutil.rmtree(WORK + "/commit")
    nothing_left("power losses")
    assert durable[-1].keys() == expected.keys(), "the trace of the store is not what was written"
    print(f"torn: {len(chosen)} stores of {len(steps)} steps and {len(commits)} commits, {unready} of them without a "
          f"row: {lost} rows lost, {changed} changed after going on", flush=True)


COMMANDS = {
    "exit": "exit 3", "nothing": ":", "killed": "kill -9 $$", "kills its worker": "kill -9 $PPID",
    "stops its worker": "kill -STOP $PPID",
    "hangs up its worker": "kill -HUP $PPID",
    "terminates its group": "kill 0", "interrupts its worker": "kill -INT $PPID", "segfault": "kill -SEGV $$",
    "its worker's segfault": "kill -SEGV $PPID",
    "daemon": f"setsid sh -c 'trap \"\" HUP TERM; {SLEEPER} & exec {SLEEPER}' </dev/null >/dev/null 2>&1 &",
    "fifty children": f"for i in $(seq 50); do {SLEEPER} & done",
    "a child that breeds": f"(while :; do {SLEEPER} & sleep 0.05; done) &",
    "hangs": f"exec {SLEEPER}", "deaf": f"trap '' TERM HUP INT; {SLEEPER}; {SLEEPER}",
    "no folder": 'd=$PWD; cd /; rm -rf "$d"', "link for a folder": 'd=$PWD; cd /; rm -rf "$d"; ln -s / "$d"',
    "file for a folder": 'd=$PWD; cd /; rm -rf "$d"; echo x >"$d"',
    "folder moved": 'mv "$PWD" "$PWD.moved"', "closed folder": "mkdir a; touch a/b; chmod 000 a .",
    "links": "ln -s / root; ln -s . loop; ln -s ../.. up",
    "deep folder": "i=0; while [ $i -lt 400 ]; do mkdir d && cd d && i=$((i + 1)); done",
    "many files": "seq 2000 | xargs touch",
    "odd names": "touch -- -rf \"$(printf 'a\\nb')\" \"$(printf 'caf\\351')\"",
    "pipe for stderr": "rm stderr.txt; mkfifo stderr.txt; exit 3",
    "folder for stderr": "rm stderr.txt; mkdir stderr.txt; exit 3",
    "link for stderr": "rm stderr.txt; ln -s /dev/zero stderr.txt; exit 3",
    "much on stderr": "head -c 3000000 /dev/urandom >&2; exit 3",
    "escapes on stderr": "printf 'caf\\351 \\033[31m\\007' >&2; exit 3",
    "pipe for picks": "mkfifo picks.npy", "folder for picks": "mkdir picks.npy",
    "endless picks": "ln -s /dev/zero picks.npy", "picks are a terminal": "ln -s /dev/tty picks.npy",
    "no picks inside": ": >picks.npy", "random picks": "head -c 200 /dev/urandom >picks.npy",
    "huge picks": "truncate -s 1T picks.npy",
    "cut picks": f"head -c 130 '{WORK}/picks.npy' >picks.npy",
    "locks": "chmod 000 points.npy request.json; : >lock; exec 9<lock; flock 9; exit 3",
}


def strategies(*options):
    listed = subprocess.run([PROGRAM, "list", "strategies", *options], env=ENV, stdout=subprocess.PIPE,
                            check=True).stdout.decode()
    return [line.split()[0] for line in listed.splitlines() if line]


def hostile():
    """Each alone among others that do no harm, which have to be as they are without it."""
    innocents = ["uniform", "kmeans", "farthest_point"]
    config = experiment("innocent", innocents, 2, "gaussian(n=40, d=4)")
    assert run(config, WORK + "/innocent", "-j", "1").returncode == 0
    expected, acts, changed, lost, told = rows(WORK + "/innocent"), [], 0, 0, collections.Counter()
    for name, script in COMMANDS.items():
        acts.append((name, [], command(shell("act-" + name.replace(" ", "-").replace("'", ""), script))))
    for plugin in ("villains", "strays", "meddlers"):
        shared = build(plugin)
        builtin, names = strategies(), strategies("--plugin", shared)
        acts += [(f"{plugin}: {name}", ["--plugin", shared], name) for name in names if name not in builtin]
    if COUNT["HOSTILE"]:
        acts = random.sample(acts, min(COUNT["HOSTILE"], len(acts)))
    for name, options, strategy in acts:
        config, folder = experiment("act", [innocents[0], strategy, *innocents[1:]], 2,
                                    "gaussian(n=40, d=4)"), WORK + "/act"
        try:
            done = run(config, folder, "-j", "2", "--timeout", "2", "--memory", "400M", *options, timeout=120)
        except subprocess.TimeoutExpired:
            fail(f"{name}: the run does not end")
            continue
        got = rows(folder)
        lost_here, changed_here = compare(name, expected, {key: row for key, row in got.items() if key in expected})
        lost, changed = lost + lost_here, changed + changed_here
        if done.returncode not in (0, 1):
            fail(f"{name}: exit status {done.returncode}: {done.stdout.decode(errors='replace')}")
        for key, row in got.items():
            if key not in expected:
                told[row["status"]] += 1
        if len(got) != len(expected) + 4:
            fail(f"{name}: {len(got)} rows")
        nothing_left(name, folder)
        shutil.rmtree(folder, ignore_errors=True)
    print(f"hostile: {len(acts)} acts: {lost} rows of others lost, {changed} changed; their own are {dict(told)}; "
          f"{left['processes']} processes and {left['files']} files left", flush=True)


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    os.makedirs(TMP)
    make_picks()
    random.seed(SEED)
    for part in sys.argv[3:] or ["kills", "faults", "torn", "hostile"]:
        if part in ("faults", "torn") and not shutil.which("strace"):
            print(f"{part}: skipped, strace is not installed")
            continue
        left.clear()
        start = time.monotonic()
        {"kills": kills, "faults": faults, "torn": torn, "hostile": hostile}[part]()
        print(f"{part}: {time.monotonic() - start:.0f} s, SEED={SEED}", flush=True)
    shutil.rmtree(WORK, ignore_errors=True)
    return 1 if failures else 0


sys.exit(main())
