#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""pinv.py RUN - how far each way to compute X is above the best core, from the rows of a
run of experiments/03-pinv.yaml: the README's table, on the heads of its files. A choice of
landmarks that is the same in all trials has the rows of cores without randomness once, in
trial 0; they stand for the other trials."""
import collections, csv, os, sys

choices = collections.defaultdict(lambda: collections.defaultdict(dict))
errors = collections.defaultdict(lambda: collections.defaultdict(dict))
unseen = collections.defaultdict(lambda: collections.defaultdict(dict))
times, sizes = collections.defaultdict(list), {}
kinds = {"svd(rcond=1e-15)": "svd(rcond=1.0000000000000001e-15", "iterative(steps=6)": "iterative(steps=6, start=paper, scale=1, tolerance=0, precision=double)",
         "best rcond (oracle)": "svd(", "best steps (oracle)": "iterative(", "best lambda (oracle)": "tikhonov(", "chosen": "chosen(", "fitted": "fitted(rows=auto, ridge=auto, keep_rows=false)",
         "six steps, 4m rows kept": "exact_rows(of=iterative(", "fitted, its rows kept": "fitted(rows=auto, ridge=auto, keep_rows=true)",
         "best core, 4m rows kept": "exact_rows(of=best"}
for r in csv.DictReader(open(os.path.join(sys.argv[1], "rows.csv"), newline="")):
    if r["status"] == "ok" and r["problem"].startswith("heads("):
        key = r["problem"], r["head"], (r["strategy"], r["pairing"], r["factors"]), r["landmarks"]
        sizes[key] = int(r["n"])
        errors[key][r["trial"]][r["core"]] = float(r["error"])
        choices[key][r["trial"]][r["core"]] = float(r["error"]) / float(r["error_subspace"]) - 1
        if r["error_unseen"]:
            unseen[key][r["trial"]][r["core"]] = float(r["error_unseen"]) / float(r["error_unseen_subspace"]) - 1
        times[int(r["n"]), "exact"].append(float(r["exact_s"]))
        for name in ("iterative(steps=6)", "fitted"):
            if r["core"].startswith(kinds[name]):
                times[int(r["n"]), name, int(r["landmarks"])].append(float(r["core_s"]))

def at(values, share=0.5):
    return sorted(values)[int(share * (len(values) - 1))]

def line(name, values):
    print(f"{name:24} {100 * at(values):7.1f} % ({100 * at(values, 0.1):.1f} - {100 * at(values, 0.9):.1f})")

above = collections.defaultdict(list) # by kind: one number for each choice of landmarks, in the same order
of_choice = []                        # m, n
on_unseen, as_best = collections.defaultdict(list), []
for key, trials in choices.items():
    for trial, cores in trials.items():
        cores, new = {**trials["0"], **cores}, {**unseen[key]["0"], **unseen[key][trial]}
        of_choice.append((int(key[3]), sizes[key]))
        for name, prefix in kinds.items():
            above[name].append(min(x for core, x in cores.items() if core.startswith(prefix)))
        for name in ("iterative(steps=6)", "chosen", "fitted"):
            on_unseen[name] += [(int(key[3]), x) for core, x in new.items() if core.startswith(kinds[name])]
        if 4 * int(key[3]) < sizes[key]:
            kept, best = ([x for core, x in cores.items() if core.startswith(kinds[name])][0] for name in ("fitted, its rows kept", "best core, 4m rows kept"))
            as_best.append((int(key[3]), (1 + kept) / (1 + best) - 1))
different = sum(any(core.startswith("svd(") for core in cores) for trials in choices.values() for cores in trials.values())
print(f"{len(above['fitted'])} choices of landmarks, {different} different; above the best core of F X B (below 0: rows of S are kept): median (10-90 %).")
print("Of an oracle the best setting of each choice is taken, by the errors that are compared.")
for name, values in above.items():
    line(name, values)
print("on the rows of S that it has not seen, above the best core for those rows")
for name, values in on_unseen.items():
    line(name, [x for _, x in values])
line("fitted, m = 64", [x for m, x in on_unseen["fitted"] if m == 64])
print("on the same rows, above the best core for all rows")
line("fitted", [x for _, x in as_best])
line("fitted, m = 64", [x for m, x in as_best if m == 64])
share = lambda good: 100 * sum(good) / max(1, len(good))
print(f"fitted below six steps: {share([f < s for f, s in zip(above['fitted'], above['iterative(steps=6)'])]):.0f} %; below every cut-off (oracle): "
      f"{share([f < min(c) for f, *c in zip(above['fitted'], above['best rcond (oracle)'], above['best steps (oracle)'], above['best lambda (oracle)'])]):.0f} %")
for what, holds in [("all", lambda m, n: True)] + [(f"m = {m}", lambda k, n, m=m: k == m) for m in (8, 16, 32, 64)] + [("4m / n >= 0.25", lambda m, n: 4 * m >= 0.25 * n)]:
    of = [k for k, (m, n) in enumerate(of_choice) if holds(m, n)]
    six, fit, both = (above[name] for name in ("six steps, 4m rows kept", "fitted", "fitted, its rows kept"))
    print(f"six steps with the 4m rows kept, {what}: below fitted on {share([six[k] < fit[k] for k in of]):.0f} %, below the best core on {share([six[k] < 0 for k in of]):.0f} %; "
          f"fitted with them kept: below the best core on {share([both[k] < 0 for k in of]):.0f} %, below six steps with them on {share([both[k] < six[k] for k in of]):.0f} %")
# What one may have instead at about the same cost: six steps with twice the landmarks.
for m in (8, 16, 32):
    ratios = []
    for (problem, head, strategy, landmarks), trials in choices.items():
        other = choices.get((problem, head, strategy, str(2 * m)))
        if landmarks != str(m) or not other:
            continue
        for trial in trials:
            one, two = {**errors[problem, head, strategy, landmarks]["0"], **errors[problem, head, strategy, landmarks][trial]}, errors[problem, head, strategy, str(2 * m)]
            two = {**two["0"], **two.get(trial, {})}
            pick = lambda cores, name: next(x for core, x in cores.items() if core.startswith(kinds[name]))
            ratios.append(pick(one, "fitted") / pick(two, "iterative(steps=6)"))
    print(f"error of fitted with m = {m} over six steps with m = {2 * m}: {at(ratios):.2f} ({at(ratios, 0.1):.2f} - {at(ratios, 0.9):.2f}), below 1 on {100 * sum(x < 1 for x in ratios) / len(ratios):.0f} %")
# Multiplications of a forward pass: F, B, B V, F (X B V); then X. fitted has 4m rows of S and of S Q_B, a QR of B, and 61 ridges;
# whoever keeps rows has them times V. Exact attention has S and S V.
def exact(n, d, m):
    return 2 * n * n * d
def six(n, d, m):
    return 4 * n * m * d + 24 * m**3
def fitted(n, d, m):
    return 4 * n * m * d + 4 * m * n * (d + m) + 2 * n * m**2 + (61 * 4 + 22 + 11) * m**3  # ridges, SVDs of F_I and R_B
def kept(n, d, m):
    return 8 * m * n * d
for size in ((257, 64, 64), (1024, 64, 8), (1024, 64, 32), (1024, 64, 64), (4096, 64, 64)):
    n, d, m = size
    parts = {"six steps": six(*size), "six steps, 4m rows kept": six(*size) + kept(*size), "fitted": fitted(*size), "six steps with 2m": six(n, d, 2 * m)}
    print(f"multiplications at n, d, m = {size}: exact attention {exact(*size):.2g}; of that " + ", ".join(f"{name} {100 * x / exact(*size):.1f} %" for name, x in parts.items())
          + f"; over those of six steps: fitted {parts['fitted'] / parts['six steps']:.1f}, six steps with 2m {parts['six steps with 2m'] / parts['six steps']:.1f}")
for n in sorted({key[0] for key in times}):
    print(f"n = {n}: exact attention {1e3 * at(times[n, 'exact']):.1f} ms on one core (exact_s); X alone (core_s) " +
          ", ".join(f"m = {m}: six steps {1e3 * at(times[n, 'iterative(steps=6)', m]):.2f}, fitted {1e3 * at(times[n, 'fitted', m]):.1f} ms" for m in (8, 32, 64)))
