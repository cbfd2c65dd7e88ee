# SPDX-License-Identifier: GPL-3.0-or-later
"""usage: python3 experiments/models/classes.py RUN

Divides the heads of a forward run with `heads: 1` into classes by where their queries look, on the mean over all queries
of exact attention, and prints for each class the errors of the run's attentions, geometric means over heads. With the
first 4 tokens as sinks and 111 tokens before a query as its window, a head is

    local      if less than 5 % of its attention is elsewhere, and most of the rest is in the window
    sink       if less than 5 % is elsewhere, and most of the rest is on the sinks
    retrieval  if half of what is elsewhere is on 8 tokens or fewer, the median over queries that look there
    diffuse    otherwise

Needs NumPy."""
import collections
import csv
import json
import os
import re
import sys

import numpy as np

SINKS, WINDOW, ELSEWHERE, FEW = 4, 111, 0.05, 8
CLASSES = ("local", "sink", "retrieval", "diffuse")


def read(path, head, n):
    """q and k of one head, its first n tokens, in single precision."""
    with open(path, "rb") as f:
        tensors = json.loads(f.read(int.from_bytes(f.read(8), "little")))
        start = f.tell()
        for name in "qk":
            kind = {"F16": np.float16, "F32": np.float32}[tensors[name]["dtype"]]
            f.seek(start + tensors[name]["data_offsets"][0])
            shape = tensors[name]["shape"]
            yield np.fromfile(f, kind, int(np.prod(shape))).reshape(shape)[head, :n].astype(np.float32)


def weights(q, k):
    logits = np.where(np.tril(np.ones((len(q), len(q)), bool)), q @ k.T / np.sqrt(np.float32(q.shape[1])), -np.inf)
    w = np.exp(logits - logits.max(axis=1, keepdims=True))
    return w / w.sum(axis=1, keepdims=True)


def class_of(w):
    n = len(w)
    age = np.arange(n)[:, None] - np.arange(n)
    near, first = age <= WINDOW, np.arange(n) < SINKS
    elsewhere = np.where(near | first, 0, w)
    mass = elsewhere.sum(axis=1)
    if mass.mean() < ELSEWHERE:
        return "local" if w[near & ~first].sum() > w[:, first].sum() else "sink"
    looking = elsewhere[mass > mass.mean()]
    half = np.sort(looking, axis=1)[:, ::-1].cumsum(axis=1) < looking.sum(axis=1, keepdims=True) / 2
    return "retrieval" if np.median(half.sum(axis=1) + 1) <= FEW else "diffuse"


def main(words):
    if len(words) != 1 or words[0].startswith("-"):
        sys.exit(__doc__.split("\n", maxsplit=1)[0])
    classes, errors = {}, collections.defaultdict(list)
    with open(os.path.join(words[0], "rows.csv"), encoding="utf-8", newline="") as f:
        rows = [row for row in csv.DictReader(f) if row["status"] == "ok"]
    if not rows or any(row["heads"] != "1" for row in rows):
        sys.exit(f"{words[0]}: expected rows of single heads, of a config with `heads: 1`")
    for row in rows:
        head = re.search(r'file="?([^",)]+)', row["problem"])[1], int(row["head"]), int(row["n"])
        if head not in classes:
            classes[head] = class_of(weights(*read(*head)))
        errors[classes[head], row["attention_label"]].append(float(row["output_error"]))
    count = collections.Counter(classes.values())
    print("attention", *(f"{name} ({count[name]})" for name in CLASSES), sep="\t")
    for attention in dict.fromkeys(row["attention_label"] for row in rows):
        means = (errors[name, attention] for name in CLASSES)
        print(attention, *(f"{np.exp(np.log(x).mean()):.2g}" if x else "-" for x in means), sep="\t")


if __name__ == "__main__":
    main(sys.argv[1:])
