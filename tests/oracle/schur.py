# SPDX-License-Identifier: GPL-3.0-or-later
"""What Nystrom attention from rows and columns of S (factors=cur, exact inverse) leaves out of S is the Schur
complement of the landmark matrix, with zeros in the landmarks' rows and columns; and to refine it by more landmarks is
to take the Schur complement of a Schur complement (the quotient property: Crabtree and Haynsworth, Proc. AMS 22, 1969).

usage: schur.py NYSBENCH WORK_FOLDER

Prints TAP. The errors, of S and of the outputs, are those that the program measures at these landmarks; here they are
those of complements that are eliminated step by step with NumPy. Tolerance: 1e-9 of an error.
"""
import json
import os
import subprocess
import sys

import numpy as np
from scipy import special

from measures import Tap

PROGRAM, WORK = sys.argv[1:]
N, D, STEPS = 23, 7, (4, 3, 5)


def eliminated(s, rows, columns):
    """The Schur complement of s[rows, columns], at its place in a matrix as large as s, else 0."""
    left = s - s[:, columns] @ np.linalg.solve(s[np.ix_(rows, columns)], s[rows])
    left[rows], left[:, columns] = 0, 0
    return left


def measured(rows, columns):
    """What the program says of these landmarks."""
    for side, tokens in (("queries", rows), ("keys", columns)):
        np.save(os.path.join(WORK, f"{side}.npy"), np.array(tokens))
    run = [PROGRAM, "measure", "--head", WORK, "--query-landmarks", os.path.join(WORK, "queries.npy"),
           "--key-landmarks", os.path.join(WORK, "keys.npy"), "--factors", "cur", "--core", "svd(rcond=1e-15)",
           "--causal", "false", "--json"]
    return json.loads(subprocess.run(run, check=True, capture_output=True).stdout)


def main():
    tap, rng = Tap(), np.random.default_rng(1969)
    os.makedirs(WORK, exist_ok=True)
    q, k, v = rng.normal(size=(3, N, D)) * 2.385
    for name, x in (("q", q), ("k", k), ("v", v)):
        np.save(os.path.join(WORK, f"{name}.npy"), x)
    s = special.softmax(q @ k.T / np.sqrt(D), axis=1)
    rows, columns, left, at = rng.permutation(N), rng.permutation(N), s, 0
    for step in STEPS:
        # Each step takes the complement of what the last one has left, in its new landmarks alone.
        left = eliminated(left, rows[at:at + step], columns[at:at + step])
        left[rows[:at]], left[:, columns[:at]] = 0, 0
        at += step
        found = measured(rows[:at], columns[:at])
        for column, truth in (("error", np.linalg.norm(left) / np.linalg.norm(s)),
                              ("output_error", np.linalg.norm(left @ v) / np.linalg.norm(s @ v))):
            tap.check(abs(found[column] - truth) <= 1e-9 * truth, f"{at} landmarks: {column} is that of the complement",
                      (found[column], truth))
        whole = eliminated(s, rows[:at], columns[:at])
        tap.check(np.allclose(left, whole, rtol=0, atol=1e-9 * np.abs(whole).max()),
                  f"{at} landmarks: complements of complements are the complement", np.abs(left - whole).max())
    print(f"1..{tap.count}")
    return tap.failed > 0


if __name__ == "__main__":
    sys.exit(main())
