# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/cli/select.bats asks in Python: for_select.py FUNCTION ARGUMENT..."""
import csv
import filecmp
import json
import subprocess
import sys


def check_same_landmarks(program, work, head):
    rows = list(csv.DictReader(open(work + "/r/rows.csv", newline="")))
    index = list(csv.DictReader(open(work + "/l/index.csv", newline="")))
    assert len(index) == 2 * 4 * 2 - 2  # segment means are not random, so they have no second trial
    same_digits = 0
    for picks in index:
        common = ["--head", f"{head}:{picks['head']}", "--seed", "41", "--trial", picks["trial"]]
        by_strategy = ["--strategy", picks["strategy"], "--landmarks", picks["landmarks"]]
        for side in ("queries", "keys"):
            subprocess.run(
                [program, "select", *common, *by_strategy, "--side", side, "-o", f"{work}/{side}.npy"],
                check=True,
                capture_output=True,
            )
            assert filecmp.cmp(
                f"{work}/{side}.npy",
                f"{work}/l/instance-{picks['instance']}/{picks['picks']}-{side}.npy",
                shallow=False,
            )
        if picks["head"] == "0":
            continue
        by_files = ["--query-landmarks", work + "/queries.npy", "--key-landmarks", work + "/keys.npy"]
        for how in (by_strategy, by_files):
            for factors in ("nystromformer", "cur"):
                done = subprocess.run(
                    [
                        program,
                        "measure",
                        *common,
                        *how,
                        "--factors",
                        factors,
                        "--core",
                        "iterative",
                        "--core",
                        "svd",
                        "--json",
                    ],
                    capture_output=True,
                    text=True,
                )
                objects = [json.loads(line) for line in done.stdout.splitlines()]
                assert len(objects) == 2
                assert done.returncode == (2 if all(o["status"] == "skipped" for o in objects) else 0), done
                for o in objects:
                    row, = [r for r in rows if (r["head"], r["trial"], r["strategy"], r["factors"], r["core"]) ==
                            (picks["head"], picks["trial"], picks["strategy"], factors, o["core"])]
                    own = {key: text for key, text in row.items() if not key.endswith("_label")} # which a run has
                    assert list(own) == list(o)
                    for key, text in own.items():
                        if key in ("experiment", "select_s", "core_s", "forward_s", "exact_s") or (
                            how is by_files and key in ("strategy", "pairing", "seed", "trial", "flops")
                        ):
                            continue
                        assert (float(text) if isinstance(o[key], float) else text) == (
                            o[key] if isinstance(o[key], float) else "" if o[key] is None else str(o[key])
                        ), (key, text, o[key])
                        same_digits += isinstance(o[key], float)
    assert same_digits > 500, same_digits


def write_landmarks(work):
    import numpy
    for name, a in {
        "few": numpy.arange(3),
        "points": numpy.zeros((3, 64)),
        "wide": numpy.zeros((3, 5)),
        "nan": numpy.full((3, 64), numpy.nan),
        "range": numpy.array([0, 257, 1]),
        "twice": numpy.array([5, 5, 1]),
        "none": numpy.zeros(0, int),
        "more": numpy.arange(4),
        "huge": numpy.array([1, 2**63], numpy.uint64),
    }.items():
        numpy.save(f"{work}/{name}.npy", a)


globals()[sys.argv[1]](*sys.argv[2:])
