# SPDX-License-Identifier: GPL-3.0-or-later
"""Attentions from landmarks for tensors of PyTorch, on any device.

    nysbench.torch.kernel_ridge(q, k, v, landmarks=104)
    nysbench.torch.nystrom(q, k, v, landmarks=64, strategy="kmeans")
    AutoModel.from_pretrained(folder, attn_implementation="nysbench_kernel_ridge")

All inputs and heads of a call are computed side by side: kernel_ridge in Triton kernels on a GPU of CUDA, all else in
operations of PyTorch. Nothing waits for the device, so that CUDA graphs can hold a call, but kernel_ridge with
near="equal". torch.compile keeps both in its graph. PyTorch >= 2.4.
"""
try:
    import torch as _torch
except ImportError as problem:
    raise ImportError("nysbench.torch needs PyTorch >= 2.4: pip install torch") from problem

if tuple(int(part) for part in _torch.__version__.split(".")[:2]) < (2, 4):
    raise ImportError(f"nysbench.torch needs PyTorch >= 2.4, and this is {_torch.__version__}")

from ._kernel_ridge import kernel_ridge
from ._models import register
from ._nystrom import nystrom

__all__ = ["kernel_ridge", "nystrom", "register"]
