# SPDX-License-Identifier: GPL-3.0-or-later
"""What a call from Python takes beyond the work, as CSV: calls.py

A layer's pass is so small that the call is most of it. `seconds` is the median over calls; `beyond_s` what it takes more
than the C function itself, called in turn with it through a prepared ctypes call of the same attention, whose own time is
in `c_s`, and `pass_s` the pass as the library times it within.
"""
import ctypes
import statistics
import time

import numpy as np

import nysbench
from nysbench import _layers
from nysbench._library import library

CALLS, WARM = 3000, 200


def in_turns(*calls):
    """The median seconds of each."""
    times = [[] for _ in calls]
    for i in range(WARM + CALLS):
        for call, kept in zip(calls, times):
            began = time.perf_counter()
            call()
            if i >= WARM:
                kept.append(time.perf_counter() - began)
    return [statistics.median(kept) for kept in times]


def attention(spec, shape):
    q, k, v = (np.random.default_rng(i).standard_normal(shape, np.float32) for i in range(3))
    opened, out = nysbench.Attention(spec, shape, threads=1), np.empty(shape, np.float32)
    addresses = [ctypes.c_void_p(x.ctypes.data) for x in (q, k, v, out)]
    cost, inside = nysbench._library.Cost(), []

    def prepared():
        library.nysbench_attention_forward(opened._pointer, *addresses)

    def timed():
        prepared()
        library.nysbench_attention_cost(opened._pointer, ctypes.byref(cost))
        inside.append(cost.seconds)

    function, method, c, _ = in_turns(lambda: nysbench.attention(q, k, v, spec, threads=1), lambda: opened(q, k, v), prepared, timed)
    within = statistics.median(inside)
    for name, seconds in (("attention", function), ("Attention", method)):
        print(f"{name},\"{spec} {shape}\",{seconds:.3g},{seconds - c:.2g},{c:.3g},{within:.3g}")


def select(strategy, n, m):
    x = np.random.default_rng(1).standard_normal((n, 8))
    call, = in_turns(lambda: nysbench.select(x, m, strategy))
    picks = statistics.median(nysbench.select(x, m, strategy).seconds for _ in range(CALLS))
    print(f"select,\"{strategy} ({n} x 8) m={m}\",{call:.3g},{call - picks:.2g},,{picks:.3g}")


print("call,of,seconds,beyond_s,c_s,pass_s")
for shape in ((1, 1, 1), (2, 16, 8), (12, 128, 32)):
    attention("streamed", shape)
attention("nystrom(landmarks=4)", (2, 16, 8))
select("uniform", 16, 4)
