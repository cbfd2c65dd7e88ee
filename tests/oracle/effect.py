# SPDX-License-Identifier: GPL-3.0-or-later
"""Recomputes the effect study with NumPy and SciPy: its rows and its tables.

usage: effect.py NYSBENCH WORK_FOLDER

Prints TAP. The model is that of tests/support/tiny_model.py, whose program has nysbench compute the replaced attention;
here it is computed from its definition in double precision: S is formed, and F, A, B of segment means and of strided
tokens, nystromformer, cur and nocore; a window. Three sources, with and without a causal mask, the latter with two sets
of layers. Other strategies, with the core tikhonov, are in the tables alone, with two trials.

Tolerances: error and its parts are computed in double precision from the same float32 points: 1e-9 of the number. What
has been through passes in single precision (outputs, and all that the program tells) has errors of some 1e-7, times at
most 1/0.03, the largest that X magnifies: 1e-5 relative or, for numbers that count, absolute. A rank that two texts of
the corpus swap for rounding would be seen; at 30 texts none is that close. Tables are from the rows' own 17 digits:
1e-9.
"""
import csv
import itertools
import os
import subprocess
import sys

import numpy as np
from scipy import stats

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import tiny_model as tiny

TINY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support", "tiny_model.py")
RCOND = 0.03
CONFIG = """
study: effect
trials: 2
plots: []
problems: ['live_model(run="{run}", layers={layers}, source=[0, 2, 5])']
attentions:
  - "nystrom(strategy=[segment_means, uniform(strided=true)], landmarks=[4, 8], core=svd(rcond=0.03))"
  - "nystrom(strategy=segment_means, landmarks=[4, 8], core=identity, factors=nocore)"
  - "nystrom(strategy=uniform(strided=true), landmarks=[4, 8], core=svd(rcond=0.03), factors=cur)"
  - "nystrom(strategy=[uniform, kmeans], landmarks=[4, 8], core=tikhonov)"
  - "nystrom(strategy=[uniform, farthest_point], landmarks=[4, 8], core=tikhonov, factors=cur)"
  - longformer(window=6, global=0)
"""
LAYERS = {"2": [2], "half": [0, 2]}
PREDICTORS = ["error", "error_subspace", "error_core", "output_error", "layer_error"]
EFFECTS = ["model_error", "embedding_distance", "rank_agreement", "top10_overlap", "perplexity_ratio", "kl",
           "task_error"]


def softmax(s):
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def exact(q, k, causal):
    s = q @ k.T / np.sqrt(tiny.D)
    return softmax(np.where(np.tril(np.ones(s.shape, bool)), s, -np.inf) if causal else s)


def factors(q, k, causal, spec):
    """F, X, B of one head."""
    m = int(spec.split("landmarks=")[1].split(",")[0])
    groups = np.arange(tiny.N).reshape(m, -1)
    tokens = [(2 * j + 1) * tiny.N // (2 * m) for j in range(m)]
    if "factors=cur" in spec:
        s = exact(q, k, causal)
        return s[:, tokens], np.linalg.pinv(s[np.ix_(tokens, tokens)], rcond=RCOND), s[tokens]
    mean = "segment_means" in spec
    ql, kl = (np.stack([x[g].mean(0) for g in groups]) if mean else x[tokens] for x in (q, k))
    f, a, b = (softmax(x @ y.T / np.sqrt(tiny.D)) for x, y in ((q, kl), (ql, kl), (ql, k)))
    return f, np.eye(m) if "factors=nocore" in spec else np.linalg.pinv(a, rcond=RCOND), b


def window(q, k, v, causal):
    """Longformer's: keys at most 6/2 tokens away."""
    s = q @ k.T / np.sqrt(tiny.D)
    i = np.arange(tiny.N)
    near = np.abs(i[:, None] - i) <= 3
    if causal:
        near &= i[:, None] >= i
    return softmax(np.where(near, s, -np.inf)) @ v


def attention_of(spec, causal):
    def attention(q, k, v):
        q, k, v = (x.astype(float) for x in (q, k, v))
        shared = len(q) // len(k)
        out = []
        for h in range(len(q)):
            key, value = k[h // shared], v[h // shared]
            if spec.startswith("longformer"):
                out.append(window(q[h], key, value, causal))
            else:
                f, x, b = factors(q[h], key, causal, spec)
                out.append(f @ (x @ (b @ value)))
        return np.stack(out)
    return attention


def heads_of(model, source, layers):
    for layer in layers:
        q, k, v = (x.astype(float) for x in model.exact_pass(source)[1][layer])
        for h in range(len(q)):
            yield q[h], k[h * len(k) // len(q)], v[h * len(k) // len(q)]


def errors(model, source, layers, spec):
    """Means over the heads of the exact pass."""
    found = []
    for q, k, v in heads_of(model, source, layers):
        s = exact(q, k, model.causal)
        one = {"error": np.nan, "error_subspace": np.nan, "error_core": np.nan}
        if spec.startswith("nystrom"):
            f, x, b = factors(q, k, model.causal, spec)
            qf, qb = (orthonormal(y) for y in (f, b.T))
            part = qf @ (qf.T @ s @ qb) @ qb.T
            norm = np.linalg.norm(s)
            one = {"error": np.linalg.norm(s - f @ x @ b) / norm, "error_subspace": np.linalg.norm(s - part) / norm,
                   "error_core": np.linalg.norm(part - f @ x @ b) / norm}
        out = attention_of(spec, model.causal)(q[None], k[None], v[None])[0]
        found.append({**one, "output_error": tiny.relative(out, s @ v)})
    return {name: np.mean([one[name] for one in found]) for name in found[0]}


def orthonormal(x):
    u, s, _ = np.linalg.svd(x, full_matrices=False)
    return u[:, s > 1e-13 * s[0]]


def close(text, value, relative, absolute=0):
    if np.isnan(value):
        return text == ""
    return text != "" and abs(float(text) - value) <= relative * abs(value) + absolute


class Tap:
    def __init__(self):
        self.seen, self.wrong = {}, {}

    def check(self, name, good, what):
        self.seen[name] = self.seen.get(name, 0) + 1
        if not good:
            self.wrong.setdefault(name, what)

    def end(self):
        for number, (name, count) in enumerate(sorted(self.seen.items()), 1):
            print(f"{'not ok' if name in self.wrong else 'ok'} {number} - {name}: {count} times")
            if name in self.wrong:
                print(self.wrong[name], file=sys.stderr)
        print(f"1..{len(self.seen)}")
        return bool(self.wrong)


def check_rows(tap, kind, model, rows):
    for row in rows:
        source, layers = int(row["source"][-1]), LAYERS[row["layer"]]
        spec = row["attention"]
        if "core=tikhonov" in spec:
            continue
        tap.check(f"{kind}: status", row["status"] == "ok", row)
        for name, value in errors(model, source, layers, spec).items():
            tolerance = 1e-5 if name == "output_error" else 1e-9
            tap.check(f"{kind}: {name}", close(row[name], value, tolerance), (row, name, value))
        told = tiny.effects(model, source, layers, attention_of(spec, model.causal))
        for name in EFFECTS + ["layer_error"]:
            value = told.get(name, np.nan)
            absolute = 0 if name in ("model_error", "layer_error") else 1e-5
            tap.check(f"{kind}: {name}", close(row[name], value, 1e-5, absolute), (row, name, value))


def number(row, name):
    return float(row[name]) if row[name] else np.nan


def agreement(rows, predictor, effect):
    """Sources, attentions, mean and its t interval, within what a correlation can be."""
    rhos, most = [], 0
    there = [p for p in PREDICTORS if any(r[p] for r in rows)]
    for source in sorted({r["source"] for r in rows}):
        own = [r for r in rows if r["source"] == source and r["core"] and all(r[p] for p in (predictor, *there))
               and r[effect]]
        attentions = sorted({r["attention"] for r in own})
        if len(attentions) < 3:
            continue
        x, y = ([np.mean([number(r, c) for r in own if r["attention"] == a]) for a in attentions]
                for c in (predictor, effect))
        if len(set(x)) > 1 and len(set(y)) > 1:
            rhos.append(stats.spearmanr(x, y)[0])
            most = max(most, len(attentions))
    if not rhos:
        return None
    half = stats.t.ppf(0.975, len(rhos) - 1) * np.std(rhos, ddof=1) / np.sqrt(len(rhos))
    return len(rhos), most, np.mean(rhos), *np.clip([np.mean(rhos) - half, np.mean(rhos) + half], -1, 1)


def check_tables(tap, kind, folder, rows):
    rows = [r for r in rows if r["status"] == "ok"]
    lines = {(r["layers"], r["landmarks"], r["core"], r["effect"], r["predictor"]): r
             for r in csv.DictReader(open(os.path.join(folder, "predictors.csv"), newline=""))}
    wanted = 0
    for layer in LAYERS:
        for m, core in itertools.product(("4", "8"), ("svd", "identity", "tikhonov", "all")):
            own = [r for r in rows if (r["layer"], r["landmarks"]) == (layer, m) and core in (r["core"], "all")]
            for effect in EFFECTS:
                for predictor in PREDICTORS:
                    want = agreement(own, predictor, effect)
                    if want is None:
                        continue
                    wanted += 1
                    line = lines.get((layer, m, core, effect, predictor))
                    names = ("sources", "attentions", "correlation", "low", "high")
                    good = line and all(close(line[c], w, 1e-9, 1e-9) for c, w in zip(names, want))
                    tap.check(f"{kind}: predictors.csv", good, (layer, m, core, effect, predictor, line, want))
    tap.check(f"{kind}: predictors.csv has no other line", wanted == len(lines) > 0, (wanted, len(lines)))
    for line in csv.DictReader(open(os.path.join(folder, "effects.csv"), newline="")):
        own = [r for r in rows if (r["layer"], r["attention"]) == (line["layers"], line["attention"])]
        for c in EFFECTS + ["layer_error", "error", "error_subspace", "output_error"]:
            values = [number(r, c) for r in own if r[c]]
            want = np.median(values) if values else np.nan
            tap.check(f"{kind}: effects.csv", line["n"] == str(tiny.N) and len(own) == int(line["rows"])
                      and close(line[c], want, 1e-9), (line, c, want))


def run(program, folder, words, layers, *options):
    os.makedirs(folder, exist_ok=True)
    path, out = os.path.join(folder, "effect.yaml"), os.path.join(folder, "run")
    call = " ".join([sys.executable, os.path.realpath(TINY), os.path.realpath(program), *words])
    # What no model of the experiment can have is a mistake: under a mask, means and cores of landmarks' own.
    kept = [line for line in CONFIG.splitlines() if "causal" not in words or "nystrom" not in line or "=cur" in line]
    open(path, "w").write("\n".join(kept).format(run=call, layers=layers))
    done = subprocess.run([program, "run", path, "--quiet", "--out", out, *options], stdout=subprocess.DEVNULL)
    if done.returncode != 0:
        sys.exit(f"the run ends with exit status {done.returncode}")
    return out, list(csv.DictReader(open(os.path.join(out, "rows.csv"), newline="")))


def main():
    program, work = sys.argv[1:]
    tap = Tap()
    for kind, words, model, layers, count in (("encoder", [], tiny.Model(), "[2, half]", 3 * 2 * (9 + 2 * 8)),
                                              ("causal", ["causal", "shared"], tiny.Model(True, 1), "half",
                                               3 * (3 + 2 * 4))):
        out, rows = run(program, os.path.join(work, kind), words, layers)
        tap.check(f"{kind}: rows", len(rows) == count, len(rows))
        check_rows(tap, kind, model, rows)
        check_tables(tap, kind, out, rows)
    # a predictor that the model does not tell
    out, rows = run(program, os.path.join(work, "bare"), ["without=layer_error"], "2", "--only", "landmarks=4")
    check_tables(tap, "without layer_error", out, rows)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
