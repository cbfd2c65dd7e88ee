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


def window_of(n, width):
    """flex_attention to the nearest 2 width + 1 tokens of the raster; its mask is made from n x n entries."""
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention
    where = "cuda" if GPU else "cpu"
    mask = create_block_mask(lambda b, h, i, j: (i - j).abs() <= width, None, None, n, n, device=where, _compile=GPU)
    compiled = torch.compile(flex_attention) if GPU else flex_attention
    return lambda q, k, v: compiled(q, k, v, block_mask=mask)


def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, seed, which="kernel_ridge", landmarks=104, width=128):
    """which: kernel_ridge, nystrom (of segment means), window, or an exact attention: exact (PyTorch's choice), and on
    a GPU cudnn, flash, efficient."""
    q, k, v = (x[None].to("cuda" if GPU else "cpu", torch.float16 if GPU else torch.float32) for x in (q, k, v))
    if which in EXACT:
        if EXACT[which] and not GPU:
            raise ValueError(f"which={which}: there is no GPU; expected exact, kernel_ridge, nystrom, window")
        call = lambda: exact(q, k, v, EXACT[which])
    elif which == "kernel_ridge":
        call = lambda: nysbench.torch.kernel_ridge(q, k, v, landmarks, seed=seed)
    elif which == "nystrom":
        call = lambda: nysbench.torch.nystrom(q, k, v, landmarks)
    elif which == "window":
        attend_near = window_of(q.shape[-2], width)
        call = lambda: attend_near(q, k, v)
    else:
        raise ValueError(f"which={which}: expected kernel_ridge, nystrom, window, {', '.join(EXACT)}")
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
