#!/usr/bin/env python3
"""pinv.py RUN - how far each way to compute X is above the best core, from the rows of a
run of experiments/03-pinv.yaml: the README's table, on the heads of its files. A choice of
landmarks that is the same in all trials has the rows of cores without randomness once, in
trial 0; they stand for the other trials."""
import collections, csv, os, sys

choices = collections.defaultdict(lambda: collections.defaultdict(dict))
errors = collections.defaultdict(lambda: collections.defaultdict(dict))
for r in csv.DictReader(open(os.path.join(sys.argv[1], "rows.csv"), newline="")):
    if r["status"] == "ok" and r["problem"].startswith("heads("):
        key = r["problem"], r["head"], r["strategy"], r["landmarks"]
        errors[key][r["trial"]][r["core"]] = float(r["error"])
        choices[key][r["trial"]][r["core"]] = float(r["error"]) / float(r["error_subspace"]) - 1
kinds = {"svd(rcond=1e-15)": "svd(rcond=1.0000000000000001e-15", "iterative(steps=6)": "iterative(steps=6, start=paper, scale=1, tolerance=0, precision=double",
         "best rcond": "svd(", "best steps": "iterative(", "best lambda": "tikhonov(", "chosen": "chosen(", "fitted": "fitted(rows=auto"}
above = collections.defaultdict(list)
for trials in choices.values():
    for cores in trials.values():
        cores = {**trials["0"], **cores}
        for name, prefix in kinds.items():
            above[name].append(min(x for core, x in cores.items() if core.startswith(prefix)))
different = sum(any(core.startswith("svd(") for core in cores) for trials in choices.values() for cores in trials.values())
print(f"{len(above['fitted'])} choices of landmarks, {different} different; above the best core: median (10-90 %)")
for name, values in above.items():
    at = lambda p: sorted(values)[int(p * (len(values) - 1))]
    print(f"{name:20} {100 * at(0.5):7.1f} % ({100 * at(0.1):.1f} - {100 * at(0.9):.1f})")
share = lambda good: 100 * sum(good) / len(above["fitted"])
print(f"fitted below six steps: {share(f < s for f, s in zip(above['fitted'], above['iterative(steps=6)'])):.0f} %; below every cut-off: "
      f"{share(f < min(c) for f, *c in zip(above['fitted'], above['best rcond'], above['best steps'], above['best lambda'])):.0f} %")
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
    at = lambda p: sorted(ratios)[int(p * (len(ratios) - 1))]
    print(f"error of fitted with m = {m} over six steps with m = {2 * m}: {at(0.5):.2f} ({at(0.1):.2f} - {at(0.9):.2f}), below 1 on {100 * sum(x < 1 for x in ratios) / len(ratios):.0f} %")
# Multiplications of a forward pass: F, B, B V, F (X B V); then X. fitted has 4m rows of S and of S Q_B, a QR of B, and 61 ridges.
def six(n, d, m):
    return 4 * n * m * d + 24 * m**3
def fitted(n, d, m):
    return 4 * n * m * d + 4 * m * n * (d + m) + 2 * n * m**2 + (61 * 4 + 22 + 11) * m**3  # ridges, SVDs of F_I and R_B
size = 1024, 64, 32
print(f"multiplications at n, d, m = {size}, over those of six steps: fitted {fitted(*size) / six(*size):.1f}, six steps with 2m {six(1024, 64, 64) / six(*size):.1f}")
