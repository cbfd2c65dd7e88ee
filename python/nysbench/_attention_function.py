# SPDX-License-Identifier: GPL-3.0-or-later
"""Attentions for nysbench that are Python functions, callable objects or modules of PyTorch. Needs only NumPy.

    def mine(q, k, v):
        scores = np.exp(q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1]))
        return scores / scores.sum(-1, keepdims=True) @ v

    nysbench.run(study="forward", attentions=["streamed", "kernel_ridge(landmarks=104)", mine], heads=...)
"""
from __future__ import annotations

import contextlib
import math
import numbers
import sys
import time
from collections.abc import Callable

import numpy as np

from ._arrays import flag
from ._strategy import Mistake, Strategy, module_of, signature

TO_ATTENTIONS = ("q", "k", "v", "causal", "scale", "rng", "seed")
"""What a function that computes the outputs of a layer may name as parameters:

q, k, v   float32 (heads, n, d), (heads, n, d) and (heads, n, dv), read-only; heads that share a key head have a copy of it each
causal    whether a query sees only the keys up to its own position; a function that does not name it has no causal form
scale     1/sqrt(d)
rng       a numpy.random.Generator, seeded anew for each pass
seed      the integer that seeded it

It returns floats (heads, n, dv); or a tuple of these and the seconds that the pass took by its own clock; or of these, the
seconds and a text that names the device.
"""

TENSORS, ARRAYS = "torch", "numpy"
WITHOUT_MASK = ("has no causal form, and the layer is causal: let it name the parameter causal, or say "
                "nysbench.attention_function(causal=True) if it keeps to the mask by itself")
LONGEST_DEVICE = 80


class AttentionFunction(Strategy):
    """A function that computes the outputs of a layer."""

    kind, GIVEN = "attention", TO_ATTENTIONS

    def __init__(self, function, *, tensors=None, causal=None, grouped=False, timed=False, name=None):
        super().__init__(function)
        self.__name__ = self.__name__ if name is None else name
        self.settings = {"tensors": tensors, "grouped": grouped}  # what its outputs may depend on
        self.tensors = _wants_tensors(function) if tensors is None else tensors == TENSORS
        self.causal = "causal" in self.given if causal is None else flag("causal", causal)
        self.grouped, self.timed = flag("grouped", grouped), flag("timed", timed)
        self.steps = callable(getattr(function, "extend", None)) and callable(getattr(function, "restart", None))

    def piece(self):
        """What takes the tokens that come next: its method extend, with the same settings."""
        return AttentionFunction(self.function.extend, tensors=TENSORS if self.tensors else ARRAYS, causal=True, grouped=self.grouped,
                                 name=f"{self.__name__}.extend")

    def _check(self):
        missing = [name for name in "qkv" if name not in self.given]
        if missing:
            raise TypeError(f"{self.__name__}: has no parameter {' and no '.join(missing)}: an attention is given q, k and v")

    @property
    def identity(self):
        """What the digest is of."""
        return self.function if self.settings == {"tensors": None, "grouped": False} else (self.function, self.settings)


def attention_function(function: Callable | None = None, *, tensors: str | None = None, causal: bool | None = None,
                       grouped: bool = False, timed: bool = False, name: str | None = None) -> AttentionFunction:
    """Says more of a function or module that stands for an attention than the function alone does.

    >>> @nysbench.attention_function(name="mean of the values")
    ... def mean(q, k, v):
    ...     return np.broadcast_to(v.mean(axis=1, keepdims=True), v.shape)
    >>> q, k, v = np.random.default_rng(1).standard_normal((3, 2, 32, 8))
    >>> nysbench.attention(q, k, v, mean).shape
    (2, 32, 8)

    tensors: "torch", q, k and v are tensors, for a module on the device and in the type of its parameters; "numpy", they are
        arrays. None: tensors for a torch.nn.Module and where the annotation of q, k or v is torch.Tensor.
    causal: True for one that always keeps to the mask of a causal layer. None: if it names the parameter `causal`.
    grouped: k and v have as many heads as there are key heads. False: as many as q has.
    timed: the study `forward` times it by a clock around its calls. It always takes the seconds that the function returns.
    name: what tables and figures call it.
    """
    if tensors not in (None, TENSORS, ARRAYS):
        raise ValueError(f"tensors {tensors!r}: expected {TENSORS!r} or {ARRAYS!r}")
    settings = {"tensors": tensors, "causal": causal, "grouped": grouped, "timed": timed, "name": name}
    return (lambda given: AttentionFunction(given, **settings)) if function is None else AttentionFunction(function, **settings)


def _wants_tensors(function):
    named = [parameter.annotation for name, parameter in signature(function).items() if name in ("q", "k", "v")]
    torch = sys.modules.get("torch")
    return module_of(function) is not None or any(
        one.rpartition(".")[2] == "Tensor" if isinstance(one, str) else torch is not None and one is torch.Tensor for one in named)


def attend(found, q, k, v, *, causal, seed, options=None, timed=False, gradients=False):
    """(outputs (heads, n, dv), seconds or None, a text for the device or None): what a function makes of one input.

    q (heads, n, d), k and v (key heads, n, ...): arrays, or tensors for one that wants these. The outputs are of the
    function's kind, and their numbers are not looked at. timed: seconds are measured here if the function returns none.
    gradients: as torch has them switched on or off; else there are none.
    """
    if causal and not found.causal:
        raise Mistake(WITHOUT_MASK)
    heads = q.shape[0]
    if not found.grouped and k.shape[0] != heads:
        k, v = (_repeated(x, heads // x.shape[0]) for x in (k, v))
    values = {"q": q, "k": k, "v": v, "causal": causal, "scale": 1 / math.sqrt(q.shape[-1]), "seed": seed,
              "rng": np.random.default_rng(seed)}
    start = time.perf_counter()
    with contextlib.nullcontext() if gradients else _without_gradients(found):
        result = found.pick(values, options or {})
        outputs, seconds, device = _parts(result)
        if timed and seconds is None:
            _wait_for(outputs)
            seconds = time.perf_counter() - start
    expected = (heads, q.shape[1], v.shape[-1])
    outputs = outputs if hasattr(outputs, "detach") else np.asarray(outputs)
    if tuple(outputs.shape) != expected or not _holds_floats(outputs):
        raise Mistake(f"returned {_kind(outputs)} ({outputs.dtype}) of shape {tuple(outputs.shape)}; expected "
                      f"real numbers of shape {expected}: heads, tokens and the dimension of v")
    if str(getattr(outputs, "device", "")) == "meta":
        raise Mistake("returned a tensor on the device meta, which has no numbers; expected one on the CPU or a GPU")
    return outputs, seconds, device or _device_of(outputs)


def attend_arrays(found, q, k, v, **given):
    """The same of NumPy arrays, to a float32 array."""
    if found.tensors:
        q, k, v = (_tensor(x, found.function) for x in (q, k, v))
    else:
        for x in (q, k, v):
            x.setflags(write=False)
    outputs, seconds, device = attend(found, q, k, v, **given)
    if hasattr(outputs, "detach"):
        outputs = outputs.detach().float().cpu().numpy()
    return np.ascontiguousarray(outputs, dtype=np.float32), seconds, device


def attend_tensors(found, q, k, v, *, causal, seed):
    """The outputs (batch, heads, n, dv) of one that takes tensors, for tensors (batch, heads, n, ...); with gradients."""
    outputs = [attend(found, *one, causal=causal, seed=seed, gradients=True)[0] for one in zip(q, k, v)]
    return sys.modules["torch"].stack([sys.modules["torch"].as_tensor(one, device=q.device) for one in outputs])


def _tensor(x, function):
    import torch
    tensor, module = torch.from_numpy(x if x.flags.writeable else x.copy()), module_of(getattr(function, "__self__", function))
    like = next((p for p in module.parameters() if p.is_floating_point()), None) if module is not None else None
    return tensor if like is None else tensor.to(device=like.device, dtype=like.dtype)


def _repeated(x, times):
    return x.repeat_interleave(times, 0) if hasattr(x, "repeat_interleave") else np.repeat(x, times, axis=0)


def _without_gradients(found):
    return sys.modules["torch"].no_grad() if found.tensors else contextlib.nullcontext()


def _wait_for(outputs):
    """Until a device has computed them."""
    if getattr(outputs, "is_cuda", False):
        sys.modules["torch"].cuda.synchronize(outputs.device)


def _device_of(outputs):
    """Of tensors that are not the CPU's."""
    if not getattr(outputs, "is_cuda", False):
        return None
    name = sys.modules["torch"].cuda.get_device_name(outputs.device)
    return f"{name}, {str(outputs.dtype).rpartition('.')[2]}"


def _parts(result):
    """Outputs, seconds and device of what it returned."""
    if not isinstance(result, tuple):
        return result, None, None
    if len(result) not in (2, 3):
        raise Mistake(f"returned {len(result)} values; expected outputs, or (outputs, seconds), or "
                      "(outputs, seconds, device)")
    outputs, seconds, device = (*result, None)[:3]
    if seconds is not None:
        number = seconds.item() if hasattr(seconds, "item") and getattr(seconds, "ndim", 1) == 0 else seconds
        if isinstance(number, bool) or not isinstance(number, numbers.Real) or not 0 <= number < math.inf:
            raise Mistake(f"returned {_kind(seconds)} beside its outputs; expected seconds, a number of 0 or more")
        seconds = float(number)
    if device is not None and (not isinstance(device, str) or len(device.encode()) > LONGEST_DEVICE or not device.isprintable()):
        raise Mistake(f"returned the device {device!r:.100}; expected a text of at most {LONGEST_DEVICE} bytes in "
                      "one line")
    return outputs, seconds, device


def _holds_floats(outputs):
    return outputs.is_floating_point() if hasattr(outputs, "is_floating_point") else outputs.dtype.kind in "fiu"


def _kind(value):
    return "None" if value is None else type(value).__name__
