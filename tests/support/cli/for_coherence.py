# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/cli/coherence.bats asks in Python: for_coherence.py FUNCTION ARGUMENT..."""
import csv
import json
import math
import sqlite3
import sys


def write_clusters(folder):
    import numpy as np
    tokens = np.arange(60)
    for name, clusters in (
        ("good", tokens // 15),
        ("short", tokens[:59] // 15),
        ("many", tokens // 10),
        ("gap", tokens // 30 * 2),
        ("square", tokens.reshape(6, 10) // 15),
        ("real", tokens / 15),
    ):
        np.save(f"{folder}/{name}.npy", clusters)


def reasons(path):
    """What rows ended with, each once."""
    for status, reason in sorted({(row["status"], row["reason"]) for row in csv.DictReader(open(path, newline=""))}):
        print(status, reason)


def print_rows(rows_csv):
    for row in csv.DictReader(open(rows_csv, newline="")):
        row.pop("divide_s")
        print(list(row.values()))


def check_infinities(work):
    rows = list(csv.DictReader(open(f"{work}/r/rows.csv", newline="")))
    objects = json.load(open(f"{work}/rows.json"))
    stored = (
        sqlite3.connect(f"{work}/r/results.sqlite").execute("SELECT mu_block, reduction, lemma1 FROM run").fetchall()
    )
    assert len(rows) == len(objects) == len(stored) > 0
    infinite = 0
    for row, o, (block, reduction, lemma) in zip(rows, objects, stored):
        without_rank = int(row["rankless_clusters"]) > 0
        infinite += without_rank
        assert (row["mu_block"] == "inf") == (o["mu_block"] == "inf") == (block == math.inf) == without_rank, row
        assert (
            (row["reduction"] == "-inf") == (o["reduction"] == "-inf") == (reduction == -math.inf) == without_rank
        ), row
        assert (row["lemma1"] == "") == (o["lemma1"] is None) == (lemma is None) == without_rank, row
        if not without_rank:
            assert float(row["mu_block"]) == o["mu_block"] == block == float(row["mu_block_finite"]), row
    assert 0 < infinite < len(rows), infinite
    table = [r for r in csv.DictReader(open(f"{work}/table.csv", newline="")) if r["measure"] == "mu_block"]
    assert sum(int(r["infinite"]) for r in table) == infinite
    assert all((r["mean"] == "inf") == (r["infinite"] != "0") for r in table), table


def check_figure(coherence_csv):
    rows = list(csv.DictReader(open(coherence_csv, newline="")))
    assert {r["figure"] for r in rows} == {"partitions", "clusters", "tau"}
    assert {r["panel"] for r in rows} == {
        "ViT-S/14 layer 6, queries",
        "SmolLM2-135M-Instruct layer 15, queries",
        "clusters(n=60, d=8, spread=0.01), queries",
    }
    assert {r["series"] for r in rows} == {"kmeans", "random", "segments", "none"}


def check_json(json_path, csv_path):
    assert {x["tau"] for x in json.load(open(json_path))} == {0.05, 0.2}
    assert {(float(x["method"]), float(x["baseline"])) for x in csv.DictReader(open(csv_path, newline=""))} == {
        (0.2, 0.05)
    }


def check_skipped(rows_csv):
    for row in csv.DictReader(open(rows_csv, newline="")):
        k, n, d = int(row["clusters"]), int(row["n"]), int(row["d"])
        rank = 3 if row["problem"].startswith("low_rank") else d
        skipped = k > min(n, rank)
        assert row["status"] == ("skipped" if skipped else "ok") and (row["mu"] == "") == skipped, row


globals()[sys.argv[1]](*sys.argv[2:])
