# SPDX-License-Identifier: GPL-3.0-or-later
"""cores.py - a core in a way that its first word names, served or not; keeps the last F, A and B."""
import json
import os
import shutil
import sys
import time
import numpy as np
how, here = sys.argv[1], os.environ["NYSBENCH_FOLDER"]

def answer(q, folder):
    f, a, b = (np.load(f"{folder}/{name}.npy") for name in "FAB")
    n, m = q["n"], q["m"]
    assert f.dtype == a.dtype == b.dtype == np.dtype("<f8"), q
    assert (f.shape, a.shape, b.shape) == ((n, m), (m, m), (m, n)), q
    print(json.dumps(q), file=open(here + "/asked", "a"))
    for name in "FAB":
        shutil.copy(f"{folder}/{name}.npy", f"{here}/{how}-{name}.npy")
    if how == "late":
        time.sleep(2)
    if how == "oops":
        sys.exit("no X")
    x = np.linalg.pinv(a, rcond=1e-9)
    x = {"half": x.astype("<f2"), "single": x.astype("<f4"), "whole": np.eye(m, dtype=int), "flat": x.ravel(),
         "small": x[1:], "nan": np.where(np.eye(m) > 0, np.nan, x), "column": np.asfortranarray(x)}.get(how, x)
    if how != "nothing":
        np.save(folder + "/X.npy", x)
    return {"late": {"done": "core", "waited_s": 2}, "picks": {"done": "picks"}}.get(how, {"done": "core"})

if os.path.exists(sys.argv[-1] + "/request.json"):
    answer(json.load(open(sys.argv[-1] + "/request.json")), sys.argv[-1])
else:
    print('{"ready": 1}', flush=True)
    for line in sys.stdin:
        q = json.loads(line)
        print(json.dumps(answer(q, q["folder"])), flush=True)
