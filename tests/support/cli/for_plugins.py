# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/cli/plugins.bats asks in Python: for_plugins.py FUNCTION ARGUMENT..."""
import csv
import json
import os
import re
import runpy
import struct
import sys


def write_tensors(path, name, head, out):
    import numpy as np
    with open(path, "rb") as f:
        size = struct.unpack("<Q", f.read(8))[0]
        t = json.loads(f.read(size))[name]
        f.seek(8 + size + t["data_offsets"][0])
        raw = f.read(t["data_offsets"][1] - t["data_offsets"][0])
    np.save(
        out,
        np.frombuffer(raw, {"F64": "<f8", "F32": "<f4", "F16": "<f2"}[t["dtype"]])
        .reshape(t["shape"])[int(head)]
        .astype(float),
    )


def check_results(work):
    assert json.load(open(work + "/r/manifest.json"))["plugins"] == [os.path.realpath(work + "/mine.so")]


def check_outputs(out_npy, heads):
    import numpy as np
    out = np.load(out_npy)
    with open(heads, "rb") as f:
        size = struct.unpack("<Q", f.read(8))[0]
        v = json.loads(f.read(size))["v"]
        f.seek(8 + size + v["data_offsets"][0])
        raw = f.read(v["data_offsets"][1] - v["data_offsets"][0])
    v = np.frombuffer(raw, {"F64": "<f8", "F32": "<f4", "F16": "<f2"}[v["dtype"]]).reshape(v["shape"]).astype(float)
    assert np.allclose(out, 0.25 * v + 0.75 * v.mean(axis=1, keepdims=True), rtol=0, atol=1e-5)


def check_reason(work, pairing, strategy):
    specs = [line.rstrip("\n").split("|") for line in open(work + "/cases")]
    json.dump(
        {
            "problems": "gaussian(n=20, d=2)",
            "cores": "svd",
            "landmarks": 3,
            "trials": 1,
            "plots": [],
            "metrics": "error",
            "pairing": pairing,
            "strategies": [strategy] + [f'command(run="{run}", timeout={limit})' for run, limit in specs],
        },
        open(work + "/c.yaml", "w"),
    )


def reasons(work):
    """The reason of each case, in the order of the cases."""
    rows = {
        row["strategy"]: row["reason"]
        for row in csv.DictReader(open(work + "/r/rows.csv", newline=""))
        if row["status"] == "failed"
    }
    for line in open(work + "/cases"):
        run, _ = line.rstrip("\n").split("|")
        (why,) = (
            why
            for spec, why in rows.items()
            if spec.startswith((f'command(run="{run}"', f"command(run={run},"))
        )
        print(re.sub(r"Traceback.*(?=\b\w+Error)", "", why))


def check_request():
    import numpy as np
    q, k = np.load("q.npy"), np.load("k.npy")
    seeds = []
    for mode in "one", "two", "tokens", "points":
        told = [json.loads(line) for line in open("whole/told-" + mode)]
        for request, files, *arrays in told:
            seeds.append(request.pop("seed"))
            m = request.pop("m")
            assert m in (5, 8) and request == {"side": "both", "n": 257, "d": 64, "causal": False}, request
            assert files == "keys.npy queries.npy request.json", files
            assert arrays[:4] == ["<f8", "<f8", [257, 64], [257, 64]] and np.allclose(
                arrays[4:], [q.sum(), k.sum()], rtol=1e-10, atol=0
            )
    assert len(set(seeds)) == 16 and all(0 <= s < 2**32 for s in seeds)
    rows = {}
    for r in csv.DictReader(open("r/rows.csv", newline="")):
        mode = r.pop("strategy").split('both.py ')[1].split('"')[0]
        for name in "select_s", "core_s", "exact_s", "strategy_label":
            r.pop(name)
        rows[mode, r["factors"], r["landmarks"], r["trial"]] = r
    for _, factors, m, trial in rows:
        row = {other: rows[other, factors, m, trial] for other in ("one", "two", "tokens", "points")}
        assert (
            row["one"] == row["two"] and row["one"]["status"] == "ok" and row["tokens"]["error"] != row["one"]["error"]
        )
        assert row["points"]["status"] == ("ok" if factors == "nystromformer" else "skipped")
        if (
            factors == "nystromformer"
        ):  # the bases of tokens, which others may share, are made in another way, so they round otherwise
            assert np.isclose(float(row["points"]["error"]), float(row["tokens"]["error"]), rtol=1e-10, atol=0)
    given = json.load(open("given.json"))
    assert given["error"] == float(rows["tokens", "nystromformer", "5", "0"]["error"]), given
    assert np.array_equal(np.load("queries.npy"), np.argsort((q * k).sum(axis=1), kind="stable")[:5])
    assert np.array_equal(np.load("keys.npy"), np.argsort((k * k).sum(axis=1), kind="stable")[:5])


def check_farthest(work):
    import numpy as np
    k, picks = np.load(work + "/keys.npy"), np.load(work + "/k.npy")
    assert picks.dtype == np.int64 and picks.shape == (6,)
    for j in range(1, 6):
        distance = np.min([((k - k[i]) ** 2).sum(axis=1) for i in picks[:j]], axis=0)
        assert distance.argmax() == picks[j], (j, picks)
    request = json.load(open(work + "/kept/request.json"))
    points = np.load(work + "/kept/points.npy")
    assert points.shape == (257, k.shape[1]) and points.dtype == float
    assert {key: request[key] for key in ("m", "side", "n", "d", "causal")} == {
        "m": 6,
        "side": "queries",
        "n": 257,
        "d": k.shape[1],
        "causal": False,
    }
    assert 0 <= request["seed"] < 2**32
    stacked = np.load(work + "/joint/points.npy")
    assert json.load(open(work + "/joint/request.json"))["side"] == "joint" and stacked.shape == (257, 2 * k.shape[1])
    assert np.array_equal(stacked, np.hstack([points, k]))
    assert np.array_equal(np.load(work + "/joint-queries.npy"), points[:6] + 1) and np.array_equal(
        np.load(work + "/joint-keys.npy"), k[:6] + 1
    )


def check_profile(work):
    import numpy as np
    p = runpy.run_path("experiments/plugins/profile_landmarks.py")
    Q, K, C, W, R, x, m = p["Q"], p["K"], p["C"], p["W"][:, 0], p["R"], p["keys"], 18
    n, d = Q.shape
    def attention(queries, keys):
        e = np.exp(queries @ keys.T / d**0.5)
        return e / e.sum(axis=1, keepdims=True)
    assert C.shape == (4 * m, d) and np.isclose((W**2).sum(), n) and W.min() >= 1
    assert np.allclose(W**2 @ C, Q.sum(axis=0)) # means of groups of these sizes
    assert np.allclose(R, attention(C, K), rtol=1e-12, atol=0)
    rest = W[:, None] * np.sqrt(R) # pivoted QR takes the largest column of what is left of them
    for j in p["pivots"]:
        norms = (rest**2).sum(axis=0)
        assert norms[j] >= (1 - 1e-9) * norms.max(), (j, norms.argmax())
        u = rest[:, j] / norms[j] ** 0.5
        rest = rest - np.outer(u, u @ rest)
    rows = W[:, None] * R
    def left(x, ridge):
        """The least |rows - A B|^2 + ridge |B|^2 over B, relative to |rows|^2."""
        A = np.vstack([W[:, None] * attention(C, x.reshape(m, d)), ridge**0.5 * np.eye(m)])
        right = np.vstack([rows, np.zeros((m, n))])
        return ((right - A @ np.linalg.lstsq(A, right, rcond=None)[0]) ** 2).sum() / (rows**2).sum()
    start = p["shrunk"]
    assert np.array_equal(start, 0.7 * K[p["pivots"]])
    ridge = 3e-5 * ((W[:, None] * attention(C, start)) ** 2).sum()
    assert np.isclose(p["ridge"], ridge)
    value, gradient = p["residual"](start.ravel())
    assert np.isclose(value, left(start.ravel(), ridge), rtol=1e-9, atol=0)
    # differences of second order along directions of +-1, in which an error of any entry shows, and rounding of 1e-16 /
    # 1e-5
    step = 1e-5
    for along in np.random.default_rng(1).choice([-1.0, 1.0], (16, m * d)):
        difference = (left(start.ravel() + step * along, ridge) - left(start.ravel() - step * along, ridge)) / (
            2 * step
        )
        assert abs(difference - along @ gradient) < 1e-6 * np.abs(gradient).max(), (difference, along @ gradient)
    after = p["residual"](x.ravel())[0]
    assert after < 0.12 * value, (after, value) # 0.05 to 0.08 of it over 6 seeds; one step alone: 0.16 to 0.21
    F, folder = attention(Q, x), work
    assert np.allclose(
        np.load(folder + "/query_picks.npy"),
        [np.average(Q, axis=0, weights=F[:, j] ** 4) for j in range(m)],
        rtol=1e-10,
        atol=1e-10,
    )
    assert np.array_equal(np.load(folder + "/key_picks.npy"), x)


def check_errors(two_csv):
    errors = {}
    for r in csv.DictReader(open(two_csv, newline="")):
        assert r["status"] == "ok", r["reason"]
        errors.setdefault(r["strategy"].split("(")[0], {})[r["trial"]] = float(r["error"])
    kmeans = errors.pop("kmeans")
    assert len(kmeans) == 2 and errors
    for strategy, found in errors.items():
        assert found.keys() == kmeans.keys() and all(found[t] < 0.5 * kmeans[t] for t in kmeans), (
            strategy,
            found,
            kmeans,
        )


globals()[sys.argv[1]](*sys.argv[2:])
