# SPDX-License-Identifier: GPL-3.0-or-later
"""every.py - functions for nysbench.serve: for every pairing, one that raises, one that hangs."""
import os
import subprocess
import sys
import numpy as np
import nysbench
print('{"done": "picks"}')
print(os.getpid(), file=open(os.environ["NYSBENCH_FOLDER"] + "/starts", "a"))

def first(x, m):
    return np.argsort(x[:, 0], kind="stable")[:m]

def loud():
    print("a word")
    os.write(1, b"b\n")
    subprocess.run("echo c; cat", shell=True, check=True)
    assert sys.stdin.read() == "" and os.read(0, 1) == b""

@nysbench.strategy
def every(points, queries, keys, m, scale, note="", flag=False):
    """With the pairing both, another kind of answer for each m."""
    assert (scale, note, flag) == (3, "a=b", True)
    loud()
    if points is not None:
        return first(points, m)
    parts = nysbench.Groups(np.arange(len(keys)) * m // len(keys))
    tokens = first(queries, m), first(keys, m)
    return {4: tokens[0], 5: tokens, 6: (queries[tokens[0]], keys[tokens[1]]), 7: parts,
            8: (parts, nysbench.Groups(np.arange(len(keys)) % m)), 9: tokens[1]}[m]

def quarrels(points, m):
    loud()
    raise KeyError(m)

def hangs(points, m):
    subprocess.run(["sleep", "35.1"])
