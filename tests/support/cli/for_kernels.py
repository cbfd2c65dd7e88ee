# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/cli/kernels.bats asks in Python: for_kernels.py FUNCTION ARGUMENT..."""
import csv
import sys


def check_rows(rows_csv):
    rows = list(csv.DictReader(open(rows_csv, newline="")))
    assert len(rows) == 44 and all(r["status"] == "ok" for r in rows)
    for r in rows:
        gram, softmax = r["kernel"].startswith("gram"), r["kernel"].startswith("softmax")
        assert (r["pairing"] == "queries") == gram, r
        assert bool(r["rowsum_deviation"]) == bool(r["entropy_difference"]) == softmax, r
        assert 0 < float(r["floor_rank"]) <= float(r["error_subspace"]) <= float(r["error"]), r
        assert 0 < float(r["baseline_mean"]) < 1 and r["spectral_error"] and r["negative_mass"] and r["output_error"], r


def check_engines(*paths):
    a, b = (list(csv.DictReader(open(path, newline=""))) for path in paths)
    assert len(a) == len(b) == 8
    for x, y in zip(a, b):
        for name in "error error_subspace error_core floor_rank baseline_mean output_error cosine".split():
            assert abs(float(x[name]) - float(y[name])) < 1e-12, (name, x[name], y[name])


globals()[sys.argv[1]](*sys.argv[2:])
