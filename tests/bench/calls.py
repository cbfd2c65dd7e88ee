# SPDX-License-Identifier: GPL-3.0-or-later
"""What a call from Python takes beyond the work, as CSV: calls.py

Layers are so small that the call is much of it. Medians over calls, made in turn in blocks: `seconds` of the call,
`c_s` of the C function alone, called with prepared arguments, `beyond_s` the difference, and `work_s` what the library
says that the pass or the strategy took within.
"""
import ctypes
import statistics
import time

import numpy as np

import nysbench
from nysbench import _landmarks, _library
from nysbench._library import library

ROUNDS, BLOCK = 100, 30  # of each block the first third is to warm up


def in_turns(*calls):
    """The median seconds of each."""
    times = [[] for _ in calls]
    for _ in range(ROUNDS):
        for call, kept in zip(calls, times):
            for i in range(BLOCK):
                began = time.perf_counter()
                call()
                if i >= BLOCK // 3:
                    kept.append(time.perf_counter() - began)
    return [statistics.median(kept) for kept in times]


def show(call, spec, shape, seconds, c_s, work_s):
    heads, n, d = shape
    print(f"{call},{spec},{heads},{n},{d},{seconds:.3g},{c_s:.3g},{seconds - c_s:.2g},{work_s:.2g}", flush=True)


def attention(spec, shape):
    q, k, v = (np.random.default_rng(i).standard_normal(shape, np.float32) for i in range(3))
    opened, out = nysbench.Attention(spec, shape, threads=1), np.empty(shape, np.float32)
    addresses = [ctypes.c_void_p(x.ctypes.data) for x in (q, k, v, out)]
    within = []

    def timed():
        opened(q, k, v, out)
        within.append(opened.cost.seconds)

    function, method, c, _ = in_turns(lambda: nysbench.attention(q, k, v, spec, threads=1, out=out),
                                      lambda: opened(q, k, v, out),
                                      lambda: library.nysbench_attention_forward(opened._inner.pointer, *addresses),
                                      timed)
    for name, seconds in (("attention", function), ("Attention", method)):
        show(name, spec, shape, seconds, c, statistics.median(within))


def select(strategy, n, d, m):
    x, found, handle = np.random.default_rng(1).standard_normal((n, d)), _library.Landmarks(), _library.handle()
    request, within = _landmarks._Request.new(), []
    request.take_head(x, None, None, None, ("points", "keys", None))
    request.strategy, request.landmarks = strategy.encode(), m
    function, c, _ = in_turns(lambda: nysbench.select(x, m, strategy),
                              lambda: handle.call(library.nysbench_select, ctypes.byref(request), ctypes.byref(found)),
                              lambda: within.append(nysbench.select(x, m, strategy).seconds))
    show("select", f"{strategy} m={m}", (1, n, d), function, c, statistics.median(within))


print("call,spec,heads,n,d,seconds,c_s,beyond_s,work_s")
for shape in ((1, 1, 1), (2, 16, 8), (12, 128, 32)):
    attention("streamed", shape)
attention("nystrom(landmarks=4)", (2, 16, 8))
select("uniform", 16, 8, 4)
select("kmeans", 512, 32, 16)
