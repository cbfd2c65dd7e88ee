# SPDX-License-Identifier: GPL-3.0-or-later
"""Recomputes with NumPy what is measured where cores look at rows of S.

usage: unseen.py NYSBENCH WORK_FOLDER

Prints TAP. Which rows a core looks at is the program's secret, but it looks at the first
of one order in each instance: of all sets of 3 out of n = 11 rows one alone gives the
errors of all cores that keep 3, and of all sets of 5 that hold it one those that keep 5.
With these sets every column of every core is recomputed, with both engines.

Tolerance: 1e-9, and 100 times the row's noise estimate (see cores.py) by 1 + |A| |X|.
"""
import csv
import itertools
import os
import subprocess
import sys

import numpy as np
import scipy.linalg

from cores import core
from measures import Group, Tap, exact, factors, kernel_of, measures

CORES = {"iterative": 0, "best": 0, "exact_rows(rows=3)": 3, "exact_rows(of=tikhonov(lambda=0.01), rows=3)": 3,
         "exact_rows(rows=5)": 5,
         "exact_rows(of=svd(rcond=0.3), rows=5)": 5, "exact_rows(of=best, rows=5)": 5,
         "exact_rows(of=fitted(rows=5, ridge=0.001))": 5,
         "fitted(rows=5, ridge=0.001)": 5, "fitted(rows=5, ridge=0.001, keep_rows=true)": 5, "chosen(rows=3)": 3,
         "chosen(rows=5, keep_rows=true)": 5,
         "exact_rows(rows=100)": 11}
CONFIG = """
problems: ["gaussian(n=11, d=3)", "clusters(n=11, d=3, count=4)", "smooth(n=11, d=2)"]
strategies: [uniform, segment_means]
factors: [nystromformer, cur]
landmarks: [2, 4]
trials: 2
metrics: all
plots: []
cores: {cores}
"""
EPS = np.finfo(float).eps


def split(text):
    """name(a=b, c=d(e=f)) into name and options, whose values may be specs."""
    name, _, rest = text.partition("(")
    found, depth, begin = {}, 0, 0
    rest = rest[:-1] + ","
    for i, c in enumerate(rest):
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0 and rest[begin:i].strip():
            key, value = rest[begin:i].strip().split("=", 1)
            found[key], begin = value, i + 1
    return name, found


def middle(spec, s, f, a, b, seen):
    """X, from the rows `seen` where the core looks at some."""
    name, o = split(spec)
    if name == "exact_rows":
        return middle(o["of"], s, f, a, b, seen)
    if name in ("fitted", "chosen"):
        return core(spec, s[seen], f[seen], a, b)
    return core(spec, s, f, a, b)


def expected(s, v, f, a, b, x, seen, keep, oracle):
    t = f @ x @ b
    unseen = np.setdiff1d(np.arange(len(s)), seen)
    all_t, size = t.copy(), np.linalg.norm(s[unseen])
    if keep:
        t[seen] = s[seen]
    want = measures(s, v, a, x, t, True)
    want["spectral_error"] = np.linalg.norm(s - t, 2) / np.linalg.norm(s, 2)
    best = scipy.linalg.pinv(f, rtol=EPS * len(f)) @ s @ scipy.linalg.pinv(b, rtol=EPS * len(f))
    want["error_subspace"] = np.linalg.norm(s - f @ best @ b) / np.linalg.norm(s)
    want["error_core"] = np.nan if keep else np.sqrt(max(0, want["error"] ** 2 - want["error_subspace"] ** 2))
    names = "error_unseen", "error_unseen_subspace", "error_unseen_core"
    if oracle or len(unseen) == 0:
        return want | dict.fromkeys(names, np.nan)
    least = scipy.linalg.pinv(f[unseen], rtol=EPS * len(f)) @ s[unseen] @ scipy.linalg.pinv(b, rtol=EPS * len(f))
    parts = np.linalg.norm((s - all_t)[unseen]), np.linalg.norm((s - f @ least @ b)[unseen]), np.linalg.norm(
        (f @ (least - x) @ b)[unseen])
    return want | {name: part / size for name, part in zip(names, parts)}


def close(row, want, scale):
    """The first column that differs, or None."""
    noise = 1e-9 + 100 * float(row["error_noise"]) * scale
    for name, value in want.items():
        if name in ("landmark_rank", "core_residual", "baseline_mean", "negative_fraction"):
            continue
        got = float(row[name]) if row[name] else np.nan
        bound = noise * (10 + abs(value)) * (1e4 if name in ("spectral_error", "error_core") else 10)
        if np.isnan(got) != np.isnan(value) or abs(got - value) > bound:
            return f"{name}: {got:.12g}, expected {value:.12g}"
    return None


def sets(rows, numbers, s, v, made, seen, within):
    """Those sets of `seen` rows that hold `within` and give the errors of all rows that keep so many."""
    left = []
    for chosen in itertools.combinations(range(len(s)), seen):
        if not set(within) <= set(chosen):
            continue
        good = True
        for row, number in zip(rows, numbers):
            text = list(CORES)[number]
            if not good or CORES[text] != seen or not text.startswith("exact_rows(r"):
                continue
            f, a, b = made[row["strategy"], row["landmarks"], row["factors"]]
            t = f @ middle(row["core"], s, f, a, b, list(chosen)) @ b
            t[list(chosen)] = s[list(chosen)]
            good = abs(np.linalg.norm(s - t) / np.linalg.norm(s) - float(row["error"])) < 1e-9 * (
                1 + float(row["error"]))
        if good:
            left.append(list(chosen))
    return left


def main():
    program, work = sys.argv[1:]
    os.makedirs(work, exist_ok=True)
    config = os.path.join(work, "unseen.yaml")
    with open(config, "w") as file:
        file.write(CONFIG.format(cores="[" + ", ".join(f'"{c}"' for c in CORES) + "]"))
    tap, groups, compared, unique = Tap(), {}, 0, Group()
    for engine in ("streamed", "direct"):
        run, picks = os.path.join(work, engine), os.path.join(work, "landmarks-" + engine)
        done = subprocess.run([program, "run", config, "--quiet", "--set", "engine=" + engine, "--out", run],
                              capture_output=True)
        tap.check(done.returncode == 0, f"the run succeeds ({engine})", done.stderr.decode())
        done = subprocess.run([program, "export", run, "--landmarks", picks], capture_output=True)
        tap.check(done.returncode == 0, f"the landmarks are exported ({engine})", done.stderr.decode())
        with open(os.path.join(run, "rows.csv"), newline="") as file:
            rows = list(csv.DictReader(file))
        with open(os.path.join(picks, "index.csv"), newline="") as file:
            index = list(csv.DictReader(file))
        names = list(dict.fromkeys(row["core"] for row in rows))
        for instance in dict.fromkeys((pick["problem"], pick["trial"]) for pick in index):
            made, mine = {}, [pick for pick in index if (pick["problem"], pick["trial"]) == instance]
            folder = os.path.join(picks, f"instance-{mine[0]['instance']}")
            q, k, v = (np.load(os.path.join(folder, f"{name}.npy")) for name in "qkv")
            s = exact(q, k, False)
            for pick in mine:
                queries, keys = (np.load(os.path.join(folder, f"{pick['picks']}-{side}.npy"))
                                 for side in ("queries", "keys"))
                for kind in ("nystromformer", "cur") if queries.ndim == 1 else ("nystromformer",):
                    made[pick["strategy"], pick["landmarks"],
                         kind] = factors(kind, s, kernel_of("softmax(scale=auto)", q, k)[2], q, k, queries, keys)
            here = [row for row in rows if (row["problem"], row["trial"]) == instance and row["status"] == "ok"]
            numbers = [names.index(row["core"]) for row in here]
            three = sets(here, numbers, s, v, made, 3, [])
            five = sets(here, numbers, s, v, made, 5, three[0] if three else [])
            unique.add(float(len(three) + len(five)), 2, 0, f"{engine} {instance}: {three} {five}")
            if len(three) != 1 or len(five) != 1:
                continue
            seen_of = {0: [], 3: three[0], 5: five[0], 11: list(range(11))}
            for row, number in zip(here, numbers):
                text = list(CORES)[number]
                f, a, b = made[row["strategy"], row["landmarks"], row["factors"]]
                x = middle(row["core"], s, f, a, b, seen_of[CORES[text]])
                keep, oracle = "exact_rows" in text or "keep_rows=true" in text, "best" in text
                want = expected(s, v, f, a, b, x, seen_of[CORES[text]], keep, oracle)
                wrong = close(row, want, 1 + np.linalg.norm(a, 2) * np.linalg.norm(x, 2))
                groups.setdefault((engine, text), Group()).add(float(bool(wrong)), 0, 0,
                                                               f"{instance} {row['strategy']} m = {row['landmarks']} "
                                                               f"{row['factors']}: {wrong}")
                compared += 1
    tap.check(unique.rows == 12 and unique.wrong == 0, "one set of rows explains what is kept, in each of 12 instances",
              unique.detail)
    for name, group in groups.items():
        tap.check(group.rows > 0 and group.wrong == 0, f"{name}: {group.rows} rows, all columns",
                  f"{group.wrong} wrong; {group.detail}")
    tap.check(len(groups) == 2 * len(CORES) and compared > 800, f"every core has rows, {compared} in all",
              f"{sorted(groups)}")
    print(f"1..{tap.count}")
    return tap.failed > 0


if __name__ == "__main__":
    sys.exit(main())
