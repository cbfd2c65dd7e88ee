# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/cli/isolation.bats asks in Python: for_isolation.py FUNCTION ARGUMENT..."""
import csv
import json
import subprocess
import sys


def check_rows(good, mixed, status, count):
    def rows(name):
        for row in csv.DictReader(open(name, newline="")):
            del row["select_s"], row["core_s"], row["forward_s"], row["exact_s"], row["experiment"]
            yield row
    mixed = list(rows(mixed))
    for row in rows(good):
        assert row["status"] in ("ok", "skipped") and row in mixed, row
    bad = [row for row in mixed if row["status"] not in ("ok", "skipped")]
    assert len(bad) == int(count) and all(r["status"] == status and r["reason"] and r["error"] == "" for r in bad), [
        (r["strategy"], r["core"], r["landmarks"], r["status"], r["reason"]) for r in bad]
    print(*sorted({r["strategy"].split("(")[0] + ": " + r["reason"] for r in bad}), sep="\n")


def run_acts(program, work, plugin, acts_a_run):
    acts_a_run = int(acts_a_run)
    alone = acts_a_run == 1
    STRATEGIES, CORES, KERNELS = (
        ["uniform", "kmeans", "leverage", "farthest_point"],
        ["svd", "iterative", "fitted"],
        ["softmax", "exp"],
    )
    PROBLEMS = [
        "gaussian(n=60, d=4)",
        "heads(file=experiments/data/vit_astronaut_n257_L6.safetensors, head=0, max_n=70)",
    ]

    FACTORS = ["nystromformer", "cur"]

    def run(name, jobs, known_kernels, factors, problems=(), kernels=(), strategies=(), cores=()):
        config = {
            "name": "x",
            "problems": PROBLEMS[:1] + list(problems) + PROBLEMS[1:],
            "kernels": known_kernels[:1] + list(kernels) + known_kernels[1:],
            "strategies": STRATEGIES[:1] + list(strategies) + STRATEGIES[1:],
            "cores": CORES[:1] + list(cores) + CORES[1:],
            "factors": factors,
            "landmarks": [3, 12],
            "trials": 2 if alone else 1,
            "plots": [],
        }
        json.dump(config, open(work + "/m.yaml", "w"))
        done = subprocess.run(
            [
                program,
                "run",
                work + "/m.yaml",
                "-q",
                "--fresh",
                "-j",
                str(jobs),
                "--plugin",
                plugin,
                "-o",
                work + "/" + name,
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        rows = list(csv.DictReader(open(work + "/" + name + "/rows.csv", newline="")))
        rows = [{key: value for key, value in row.items() if not key.endswith("_s")} for row in rows] # times
        return done.returncode, rows, done.stderr

    def names(kind):
        text = subprocess.run(
            [program, "list", kind, "--plugin", plugin], capture_output=True, text=True, check=True
        ).stdout
        for line in text.splitlines():
            name, _, reason = line.strip().partition(" ")
            if reason.strip().startswith("changed "):
                yield name

    code, good, _ = run("good", 0, KERNELS, FACTORS)
    assert code == 0 and {row["status"] for row in good} <= {"ok", "skipped"}, code
    acts = innocent = runs = 0
    first_results = {}
    for kind, key in [("strategies", "strategy"), ("cores", "core"), ("kernels", "kernel"), ("problems", "problem")]:
        quiet = kind in ("kernels", "problems") # with them there is no m at which nothing happens
        named, kernels = list(names(kind)), KERNELS if quiet or alone else KERNELS[:1]
        factors = FACTORS[:1] if kind == "cores" and not alone else FACTORS
        for first in range(0, len(named), acts_a_run):
            some = named[first:first + acts_a_run]
            runs += 1
            code, rows, said = run(
                "bad", 1 + runs % 2, kernels, factors, **{kind: [name if quiet else name + "(from=3)" for name in some]}
            )
            others = [row for row in rows if row[key].split("(")[0] not in some]
            same = [row for row in good if row["factors"] in factors and row["kernel"].split("(")[0] in kernels]
            assert others == same, (some, [(a, b) for a, b in zip(others, same) if a != b][:2], said)
            assert code in (0, 1), (some, code, said)
            for name in some:
                theirs = [row for row in rows if row[key].startswith(name + "(")]
                # In a process of its own it has picked as all others do, whatever else it did there.
                results = [
                    [row[column] for column in ("problem", "landmarks", "factors", "core", "status", "reason", "error")]
                    for row in theirs
                ]
                results = [[value.replace(name, "") for value in result] for result in results]
                first_results.setdefault(kind, results)
                assert theirs and (quiet or results == first_results[kind]), (name, results, first_results[kind], said)
                acts, innocent = acts + 1, innocent + len(others)
    print(acts, "acts,", innocent, "innocent rows unchanged", file=sys.stderr)
    assert acts == 51, acts


def check_json(work):
    import numpy as np
    assert np.load(work + "/k.npy").tolist() == [0, 1, 2]
    assert json.load(open(work + "/row.json"))["status"] == "ok"
    assert np.load(work + "/o.npy").shape == (1, 257, 64)


globals()[sys.argv[1]](*sys.argv[2:])
