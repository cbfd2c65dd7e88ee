# SPDX-License-Identifier: GPL-3.0-or-later
"""Attentions of PyTorch and of nysbench.torch that time themselves, on a GPU if there is one; experiments/40-gpu.yaml has
their commands, such as

    command(run="python3 -m nysbench.serve experiments/plugins/torch_attention.py attend which=cudnn", serve=true)

On a GPU the pass is in float16, and its seconds are the median of 20 after three to warm up, by CUDA events; on a CPU it
is in float32, and they are the median of three, by the clock. What moves the heads to the device and back is not in the seconds.
"""
import statistics
import time

import torch
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

import nysbench.torch

GPU = torch.cuda.is_available()
WARM_UP, REPEATS = 3, 20
EXACT = {"exact": None, "cudnn": SDPBackend.CUDNN_ATTENTION, "flash": SDPBackend.FLASH_ATTENTION,
         "efficient": SDPBackend.EFFICIENT_ATTENTION}


def exact(q, k, v, backend):
    if backend is None:
        return functional.scaled_dot_product_attention(q, k, v)
    with sdpa_kernel(backend):
        return functional.scaled_dot_product_attention(q, k, v)


def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, seed, which="kernel_ridge", landmarks=104):
    """which: kernel_ridge, nystrom (of segment means), or an exact attention: exact (PyTorch's choice), cudnn, flash,
    efficient."""
    q, k, v = (x[None].to("cuda" if GPU else "cpu", torch.float16 if GPU else torch.float32) for x in (q, k, v))
    if which in EXACT:
        call = lambda: exact(q, k, v, EXACT[which])
    elif which == "kernel_ridge":
        call = lambda: nysbench.torch.kernel_ridge(q, k, v, landmarks, seed=seed)
    elif which == "nystrom":
        call = lambda: nysbench.torch.nystrom(q, k, v, landmarks)
    else:
        raise ValueError(f"which={which}: expected kernel_ridge, nystrom, {', '.join(EXACT)}")
    for _ in range(WARM_UP if GPU else 0):
        call()
    seconds = statistics.median(timed(call) for _ in range(REPEATS if GPU else 3))
    return call()[0].float().cpu(), seconds, f"{torch.cuda.get_device_name()}, float16" if GPU else "cpu, float32"


def timed(call):
    """Seconds of a call."""
    if not GPU:
        start = time.perf_counter()
        call()
        return time.perf_counter() - start
    start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    call()
    stop.record()
    stop.synchronize()
    return start.elapsed_time(stop) / 1000
