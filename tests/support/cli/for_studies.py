# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/cli/studies.bats asks in Python: for_studies.py FUNCTION ARGUMENT..."""
import csv
import json
import struct
import sys


def print_rows(rows_csv):
    for row in csv.DictReader(open(rows_csv, newline="")):
        row.pop("norm_s")
        print(list(row.values()))


def check_numbers(rows_csv):
    import numpy as np
    data = open("experiments/data/vit_astronaut_n257_L6.safetensors", "rb").read()
    size = struct.unpack("<Q", data[:8])[0]
    head = json.loads(data[8:8 + size])
    kinds = {"F16": np.float16, "F32": np.float32, "F64": np.float64}
    def tensor(name):
        begin, end = head[name]["data_offsets"]
        return (
            np.frombuffer(data[8 + size + begin : 8 + size + end], kinds[head[name]["dtype"]])
            .reshape(head[name]["shape"])
            .astype(float)
        )
    points = {"queries": tensor("q"), "keys": tensor("k")}
    checked = 0
    for row in csv.DictReader(open(rows_csv, newline="")):
        if row["problem"].startswith("heads("):
            norms = np.linalg.norm(points[row["side"]][int(row["head"])], axis=1) ** int(row["exponent"])
            assert (
                abs(float(row["norm_mean"]) / norms.mean() - 1) < 1e-12
            ), row  # sums of 257 positive numbers, in another order
            assert abs(float(row["norm_most"]) / norms.max() - 1) < 1e-12, row
            checked += 1
    assert checked == 12, checked


globals()[sys.argv[1]](*sys.argv[2:])
