# SPDX-License-Identifier: GPL-3.0-or-later
"""Recomputes the coherence study with NumPy, from the shipped queries and keys.

usage: coherence.py NYSBENCH WORK_FOLDER

Prints TAP. Everything follows from the definitions, with K = QQ' formed: leverage from the singular vectors of Q, local
ranks from those of each cluster's rows, Nystrom errors with a pseudo-inverse. Random clusters and tokens are drawn from
the same numbers (pivoting.py has the stream); the clusters of k-means are scikit-learn's, given as files. Tolerance:
1e-9 of the larger number, since singular values are sums of n d products and the condition of K_SS is at most 1e6 here.
"""
import csv
import json
import os
import struct
import subprocess
import sys

import numpy as np
from sklearn.cluster import KMeans

from pivoting import Stream

DRAWS = 10
DATA = "experiments/data"
QUERIES = [f"{DATA}/queries/{name}.safetensors" for name in ("minilm_L3_q8", "smollm2_L15_q8", "vit_L6_q8")]
BOTH = f"{DATA}/minilm_us-constitution_n512_L3.safetensors"
CONFIG = """
study: coherence
trials: 2
draws: shared
plots: []
clusters: [1, 8, 16]
tau: [0.05, 0.2]
partitions: [random, segments, none]
blocks:
  - problems: [{queries}]
  - problems: ["heads(file={both}, head=[0, 2])"]
    side: [queries, keys]
  - problems: [{alone}]
    partitions: [{given}]
    zip: [problems, partitions]
    clusters: 16
"""


def tensors(path):
    data = open(path, "rb").read()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    return {name: np.frombuffer(data[8 + size:], np.float16, offset=t["data_offsets"][0],
                                count=int(np.prod(t["shape"]))).reshape(-1, *t["shape"][-2:]).astype(float)
            for name, t in header.items() if name != "__metadata__"}


def drawn_from(row):
    """The problem, as streams name it: without the options that have their defaults."""
    return row["problem"].split(",")[0] + ")"


def clusters_of(row, n, k, of):
    """The cluster of each token."""
    kind = row["partition"].partition("(")[0]
    if kind == "none":
        return np.zeros(n, int)
    if kind == "segments":
        return np.repeat(np.arange(k), [n // k + (j >= k - n % k) for j in range(k)])
    if kind == "random":
        return Stream(int(row["trial"]), f"partition: {of}", row["partition"], k).shuffled(np.arange(n) % k)
    return np.load(row["partition"].split('"')[-2] if '"' in row["partition"] else row["partition"][11:-1])


def nearest(q, cluster):
    """The token nearest to each mean, another one for each."""
    taken, tokens = np.zeros(len(q), bool), []
    for j in range(cluster.max() + 1):
        distance = ((q - q[cluster == j].mean(axis=0)) ** 2).sum(axis=1)
        distance[taken] = np.inf
        tokens.append(int(distance.argmin()))
        taken[tokens[-1]] = True
    return tokens


def error2(kernel, tokens):
    columns = kernel[:, tokens]
    rest = kernel - columns @ np.linalg.pinv(kernel[np.ix_(tokens, tokens)], rcond=1e-13, hermitian=True) @ columns.T
    return (np.linalg.norm(rest) / np.linalg.norm(kernel)) ** 2


def expected(row, q):
    n, k, tau = len(q), int(row["clusters"]), float(row["tau"])
    of = f"{row['side']} of head {row['head']} of {drawn_from(row)}"
    u, s, _ = np.linalg.svd(q, full_matrices=False)
    leverage = (u[:, :k] ** 2).sum(axis=1)
    cluster = clusters_of(row, n, k, of)
    members = [np.flatnonzero(cluster == j) for j in range(cluster.max() + 1)]
    ranks = np.array([(np.linalg.svd(q[i], compute_uv=False) > tau * s[0]).sum() for i in members])
    most = np.array([leverage[i].max() for i in members])
    sizes = np.array([len(i) for i in members])
    with np.errstate(divide="ignore"):
        blocks = sizes / ranks * most
    mu, block, finite = n / k * leverage.max(), blocks.max(), blocks[ranks > 0].max() if ranks.any() else np.nan
    tokens, kernel = nearest(q, cluster), q @ q.T
    drawn = Stream(int(row["trial"]), f"uniform tokens: {of}", drawn_from(row), k)
    rest2, rest4, whole = (s[k:] ** 2).sum(), (s[k:] ** 4).sum(), (s**4).sum()
    gap = s[k - 1] / s[0]
    return {
        "mu": mu, "mu_block": block, "mu_block_finite": finite, "rankless_clusters": (ranks == 0).sum(),
        "alpha_over_mu": block / mu, "reduction": 1 - block / mu,
        "local_rank_mean": ranks.mean(), "local_rank_least": ranks.min(), "largest_cluster": sizes.max(),
        "lemma1_sizes": sizes.max() <= 2 * n / k, "lemma1_mean_rank": ranks.mean() >= k / 2,
        "lemma1_least_rank": ranks.min() >= k / 2, "lemma1": mu >= k / 4 if np.isfinite(block) else np.nan,
        "lemma1_proof": block <= 4 / k * mu,
        "leverage_at_centroids": leverage[tokens].sum(), "leverage_of_maxima": most.sum(),
        "leverage_at_random": len(members) * k / n, "spectral_gap": gap, "bound_leverage": gap**2 / 2 * most.sum(),
        "best_rank2": rest4 / whole, "error_geometric2": error2(kernel, tokens),
        "bound_geometric": (rest4 + 32 * block / gap**2 * rest2) / whole,
        "error_uniform2": np.mean([error2(kernel, drawn.choose(k, n)) for _ in range(DRAWS)]),
        "bound_uniform": (rest4 + 4 * mu / k * rest2) / whole,
    }


def same(text, value):
    got = float(text) if text else np.nan
    if np.isnan(value) or np.isinf(value):
        return np.isnan(got) if np.isnan(value) else got == value
    return abs(got - value) <= 1e-9 * max(abs(got), abs(value), 1e-6)


def configure(work):
    """The config; clusters of scikit-learn are files beside it."""
    alone, given = [], []
    for path in QUERIES:
        for head in (1, 5):
            labels = KMeans(16, n_init=1, random_state=head).fit(tensors(path)["q"][head]).labels_
            name = os.path.join(work, f"{os.path.basename(path)}-{head}.npy")
            np.save(name, labels.astype(np.int64))
            alone.append(f"'heads(file={path}, head={head})'")
            given.append(f"'given(file=\"{name}\")'")
    text = CONFIG.format(queries=", ".join(f'"heads(file={path}, head=[0, 3])"' for path in QUERIES), both=BOTH,
                         alone=", ".join(alone), given=", ".join(given))
    path = os.path.join(work, "coherence.yaml")
    open(path, "w").write(text)
    return path


def main():
    program, work = sys.argv[1:]
    os.makedirs(work, exist_ok=True)
    out = os.path.join(work, "run")
    done = subprocess.run([program, "run", configure(work), "--quiet", "--out", out], stdout=subprocess.DEVNULL)
    if done.returncode != 0:
        sys.exit(f"the run ends with exit status {done.returncode}")
    data, compared, wrong, kinds, infinite = {}, {}, {}, {}, 0
    for row in csv.DictReader(open(os.path.join(out, "rows.csv"), newline="")):
        path = row["problem"][11:].split(",")[0]
        data[path] = data.get(path) or tensors(path)
        want = expected(row, data[path]["k" if row["side"] == "keys" else "q"][int(row["head"])])
        kind = row["partition"].partition("(")[0] + "/" + row["side"]
        kinds[kind] = kinds.get(kind, 0) + 1
        infinite += row["mu_block"] == "inf"
        for name, value in want.items():
            compared[name] = compared.get(name, 0) + 1
            if row["status"] != "ok" or not same(row[name], float(value)):
                wrong.setdefault(name, f"{row[name]} in row {row}, expected {value}")
    for number, name in enumerate(sorted(compared), 1):
        print(f"{'not ok' if name in wrong else 'ok'} {number} - {name}: {compared[name]} rows")
        if name in wrong:
            print(wrong[name], file=sys.stderr)
    held = {"random/queries": 96, "segments/queries": 48, "none/queries": 48, "random/keys": 24, "segments/keys": 12,
            "none/keys": 12, "given/queries": 12}
    whole = kinds == held and infinite > 0
    print(f"{'ok' if whole else 'not ok'} {len(compared) + 1} - every partition on both sides, some infinite")
    if not whole:
        print(kinds, infinite, file=sys.stderr)
    print(f"1..{len(compared) + 1}")
    return bool(wrong) or not whole


if __name__ == "__main__":
    sys.exit(main())
