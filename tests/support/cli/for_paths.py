# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/cli/paths.bats asks in Python: for_paths.py FUNCTION ARGUMENT..."""
import csv
import json
import os
import subprocess
import sys


def write_experiment(folder, name, where):
    quoted = json.dumps(where + "/" + name, ensure_ascii=False).replace("\\n", "\n")
    json.dump(
        {
            "name": "odd",
            "question": name,
            "problems": f"heads(file={quoted}, head=0, max_n=40)",
            "strategies": ["uniform", "kmeans"],
            "cores": ["svd", "iterative"],
            "landmarks": [3, 5],
            "trials": 2,
            "plots": ["error", "cutoff"],
        },
        open(folder + "/c.yaml", "w"),
    )


def check_names(folder, head):
    rows = list(csv.DictReader(open(folder + "/rows.csv", newline="")))
    text = head.replace("\\", "\\\\").replace('"', '\\"')
    assert len(rows) == 16 and all(f'file="{text}"' in row["problem"] for row in rows), rows[0]["problem"]
    manifest = json.load(open(folder + "/manifest.json"))
    assert folder in json.dumps(manifest, ensure_ascii=False).replace('\\"', '"').replace("\\\\", "\\").replace(
        "\\n", "\n"
    )


def check_long_paths():
    program, here = os.environ["NYSBENCH"], os.getcwd()
    def folder(bytes): # of the whole path of a store in it
        left = bytes - len(here + "//results.sqlite")
        return "/".join(["d" * 99] * (left // 100) + ["d" * (left % 100)])
    def call(status, *words):
        done = subprocess.run([program, *words], capture_output=True, text=True)
        assert done.returncode == status, (words, done)
        return done.stderr
    long, longest = folder(505), folder(504)
    def told(bytes):
        return (f"results.sqlite: its whole path has {bytes} bytes, and SQLite opens none above 504: "
                "choose a folder with a shorter path\n")
    assert told(505) in call(2, "run", "c.yaml", "-q", "--out", long)
    assert told(505) in call(2, "plan", "c.yaml", "--out", long)
    assert told(505) in call(2, "demo", "--out", long[:-8])
    assert told(504 + len("/shards/7-of-7")) in call(2, "submit", "c.yaml", "--jobs", "7", "--out", longest)
    assert os.listdir() == ["c.yaml"], os.listdir()
    call(0, "run", "c.yaml", "-q", "--out", longest)
    assert told(505) in call(2, "merge", long, longest)
    assert not os.path.exists(long)
    os.rename(longest, long)
    assert told(505) in call(1, "export", long)


def check_words(work):
    config = json.load(open(work + "/c.yaml"))
    config.update(
        strategies=f'command(run="/usr/bin/python3 {work}/p.py $(touch\\\\ pwned)`touch\\\\ pwned`;touch pwned")',
        landmarks=3,
        trials=1,
        plots=[],
    )
    json.dump(config, open(work + "/c.yaml", "w"))


globals()[sys.argv[1]](*sys.argv[2:])
