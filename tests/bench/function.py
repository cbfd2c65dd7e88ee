#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""function.py - what nysbench.run adds to the calls of a function that stands for an attention.

An attention in NumPy on 8 inputs of 12 heads, n = 1024, one worker, whose other work is little. In turns a run without
the function and one with it: added = (with_s - without_s - calls_s) / calls_s, where calls_s is what the function's
calls took, timed inside of it. The line has the medians over the turns; they mean something on a machine that does
nothing else. added_cpu is the same of CPU time, of all processes, which other programs disturb less."""
import os
import statistics
import time

import numpy as np

import nysbench

TURNS, INPUTS, SHAPE = 7, 8, (12, 1024, 64)
took, worked = [], []


def softmax_attention(q, k, v, scale):
    weights = q @ k.transpose(0, 2, 1) * scale
    weights = np.exp(weights - weights.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v


def attention(q, k, v, scale):
    """Times a call with all that it does, the freeing of its matrices included."""
    began, cpu = time.perf_counter(), time.process_time()
    outputs = softmax_attention(q, k, v, scale)
    took.append(time.perf_counter() - began)
    worked.append(time.process_time() - cpu)
    return outputs


def seconds_of(*functions):
    """Of a run: by the clock, and of the CPUs."""
    began, cpu = time.perf_counter(), sum(os.times()[:4])
    nysbench.run(study="forward", attentions=["linear", *functions], heads={"random": inputs}, timed=False, jobs=1,
                 quality_rows=64, progress=False)
    return time.perf_counter() - began, sum(os.times()[:4]) - cpu


def turn():
    """Of one: without_s, with_s, calls_s, added and added_cpu."""
    took.clear()
    worked.clear()
    (without_s, cpu_without), (with_s, cpu_with) = seconds_of(), seconds_of(attention)
    return (without_s, with_s, sum(took), (with_s - without_s - sum(took)) / sum(took),
            (cpu_with - cpu_without - sum(worked)) / sum(worked))


rng = np.random.default_rng(1)
inputs = [tuple(rng.standard_normal(SHAPE, dtype=np.float32) for _ in "qkv") for _ in range(INPUTS)]
turn()  # to warm up
turns = list(zip(*(turn() for _ in range(TURNS))))
without_s, with_s, calls_s, added, added_cpu = map(statistics.median, turns)
print("inputs,heads,n,calls,without_s,with_s,calls_s,added,added_least,added_most,added_cpu")
print(f"{INPUTS},{SHAPE[0]},{SHAPE[1]},{len(took)},{without_s:.2f},{with_s:.2f},{calls_s:.2f},{added:.3f},"
      f"{min(turns[3]):.3f},{max(turns[3]):.3f},{added_cpu:.3f}")
