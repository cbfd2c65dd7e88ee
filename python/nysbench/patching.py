# SPDX-License-Identifier: GPL-3.0-or-later
"""Any registered attention in the place of a Hugging Face model's own."""
from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ._arrays import LARGEST_SEED, SEED, flag, integer, integers
from ._attending import drawn_seed
from ._attention_function import attend_tensors
from ._attention_interface import check_outputs, full_precision, layer_number, needs, off_by, require_model, taken_over
from ._errors import ArgumentError
from ._heads import LARGEST_TRIAL
from ._layers import attention_of_layer
from ._library import text
from ._strategy import Mistake, without_options


@contextlib.contextmanager
def patch(model: Any, spec: str | Callable, layers: Sequence[int] | None = None, *, threads: int | None = None, seed: int | None = None,
          trial: int = 0, strategy: Callable | None = None, plugins: Sequence[str | os.PathLike] = (), check: bool = True,
          backend: str | None = None) -> Iterator[None]:
    """While the context lasts, the self-attention of a model's layers is a registered one.

    >>> with torch.no_grad(), nysbench.patch(model, "nystrom(strategy=kmeans, landmarks=8)", layers=[1]):
    ...     outputs = model(**inputs[0])

    model: a module of transformers, whole or a part (model.encoder), whose attention is sdpa or eager.
    spec, threads, seed, trial, strategy, plugins: as for nysbench.attention; each layer gets the same seed. A function or module that
        takes tensors gets the model's own, on its device and in its type, without gradients.
    layers: a list of numbers, the last in the names of the modules (encoder.layer.3.attention.self is 3); None: all. In a model
        of an encoder and a decoder a number names a layer of each. Other layers, and cross-attention, stay as they are.
    check: in its first pass each layer's own attention is computed too, and must be softmax(q k'/sqrt d) v to float32
        rounding; False skips the check.
    backend: "torch": nysbench.torch computes it, on the device and in the type of the model, with gradients; ArgumentError
        for a spec that it does not have. "c": the library, in float32 on the CPU. None: nysbench.torch where it has the spec
        and the layer is on another device or in half precision, or trains; else the library. Both have the same
        distribution of landmarks, from other draws.

    Contexts may be nested; the inner one is asked first. The model decides whether the attention is causal, by its mask
    or module. ArgumentError, in the pass, for padding, a window, sinks, soft-capping, a bias, a pass that continues a
    cache, weights of the attention being asked for, and dropout in training; and in the end for a layer that no pass
    came by, and for a patch that no pass has used.
    A backward pass through a patched layer raises RuntimeError, unless nysbench.torch computes it or a function that takes
    tensors.
    """
    check = flag("check", check)
    require_model(model)
    wanted = None if layers is None else set(integers("layers", layers))
    _require_numbers(model, wanted)
    given = without_options(spec, "attention") if callable(spec) else spec
    seed = integer("seed", SEED if seed is None else seed, 0, LARGEST_SEED)
    trial = integer("trial", trial, 0, LARGEST_TRIAL)
    arrays = functools.partial(attention_of_layer, spec=given, threads=threads, seed=seed, trial=trial, strategy=strategy,
                               plugins=plugins)
    if callable(given):
        if backend is not None:
            raise ArgumentError(f"backend: {given.__name__} is a function, which computes by itself")
        tensors = functools.partial(_attend, given, drawn_seed(given, seed, trial)) if given.tensors else None
        choose = lambda call: tensors
    else:
        choose = _Backend(spec, backend, threads, seed, trial, strategy)
    replacement = _Replacement(wanted, arrays, choose, check)
    with taken_over(model, replacement):
        yield
    replacement.finish()


def _require_numbers(model, wanted):
    """Refuses numbers that no module of the model has."""
    there = {layer_number(name) for name, module in model.named_modules()}
    missing = sorted((wanted or set()) - there)
    if missing:
        raise ArgumentError(f"layers {missing}: expected numbers of layers of the model")


def _attend(found, seed, q, k, v, *, causal):
    try:
        return attend_tensors(found, q, k, v, causal=causal, seed=seed)
    except Mistake as mistake:
        raise ArgumentError(f"{found.__name__}: {mistake}") from None


class _Backend:
    """Called with a call: the attention of nysbench.torch that is to compute it, or None, for the library."""

    def __init__(self, spec, backend, threads, seed, trial, strategy):
        text("spec", spec)  # TypeError for what is none
        if backend not in (None, "torch", "c"):
            raise ArgumentError(f"backend {backend!r}: expected 'torch', 'c' or None")
        self.spec, self.backend, self.strategy = spec, backend, strategy
        self.seed = seed if trial == 0 else int(np.random.SeedSequence([seed, trial]).generate_state(1)[0])
        if backend == "torch":
            self._require(threads)

    def _require(self, threads):
        from .torch._models import HAS
        if threads is not None:
            raise ArgumentError("threads: the torch backend has those of PyTorch, see torch.set_num_threads")
        if self.strategy is not None:
            raise ArgumentError(f"strategy: a function is not for the torch backend: {HAS}")
        if self.attention is None:
            raise ArgumentError(f"{self.spec}: {HAS}")

    @functools.cached_property
    def attention(self):
        from .torch._models import find_attention  # with Triton, half a second: not for layers that the library computes
        return find_attention(self.spec, self.seed)

    def __call__(self, call):
        if self.backend == "torch":
            return self.attention
        wanted = self.backend is None and self.strategy is None and _suits_torch(call)
        return self.attention if wanted else None


def _suits_torch(call):
    """Whether the layer is on another device than the CPU, in half precision, or trains."""
    torch = needs("torch")
    gradients = torch.is_grad_enabled() and any(x.requires_grad for x in (call.q, call.k, call.v))
    # Checkpoints of gradients have a first pass of a module that trains without gradients.
    return (call.q.device.type != "cpu" or call.q.dtype in (torch.float16, torch.bfloat16) or gradients or call.module.training)


class _Replacement:
    """Handles the calls: those of the layers wanted by choose(call), an attention of tensors, or, if that is None, by one of
    float32 arrays; both are called as attention(q, k, v, causal=...)."""

    def __init__(self, wanted, arrays, choose, check):
        self.wanted, self.arrays, self.choose, self.check = wanted, arrays, choose, check
        self.checked, self.seen, self.calls = set(), set(), 0

    def __call__(self, call):
        self.calls += 1
        if call.crossed or (self.wanted is not None and call.number not in self.wanted):
            return call.outputs()
        self.seen.add(call.number)
        call.check_replaceable()
        causal = call.causal()
        if self.check and call.name not in self.checked:
            _check(call, causal)
            self.checked.add(call.name)
        return self._outputs(call, causal), None

    def _outputs(self, call, causal):
        tensors = self.choose(call)
        return call.replaced(tensors or self._by_arrays, causal)

    def _by_arrays(self, q, k, v, *, causal):
        torch = needs("torch")
        found = torch.from_numpy(self.arrays(_array(q), _array(k), _array(v), causal=causal)).to(q.device)
        return _without_gradient()(q, k, v, found) if torch.is_grad_enabled() else found

    def finish(self):
        missing = sorted((self.wanted or set()) - self.seen)
        where = f"layers {missing}: " if missing else ""
        if not self.calls:
            raise ArgumentError(f"{where}the patch has replaced nothing: within its context no part of the model was called whose "
                                "attention goes through transformers' attention interface")
        if missing:
            raise ArgumentError(f"{where}the model has no self-attention of that number")
        if not self.seen:
            raise ArgumentError("the patch has replaced nothing: all attention that was called within its context is cross-attention")


def _array(x):
    """A tensor in float32 and C order; a view where it is that already, in the memory of the CPU."""
    torch = needs("torch")
    return x.detach().to(device="cpu", dtype=torch.float32).contiguous().numpy()


def _check(call, causal):
    """The model's own attention, in float32, against the formula."""
    torch = needs("torch")
    with torch.no_grad(), full_precision(call.q.device):
        q, k, v = call.q.float(), call.k.float(), call.v.float()
        mask = call.mask if call.mask is None or call.mask.dtype == torch.bool else call.mask.float()
        own = call.own_outputs(q=q, k=k, v=v, mask=mask)
        check_outputs(call, *off_by(q * call.factor(), k, v, causal, own))


@functools.lru_cache(maxsize=None)
def _without_gradient():
    """found, as an output of q, k and v through which there is no way back."""
    torch = needs("torch")

    class WithoutGradient(torch.autograd.Function):
        @staticmethod
        def forward(_, q, k, v, found):
            return found

        @staticmethod
        def backward(_, gradient):
            raise RuntimeError("a patched attention has no gradient: train the model outside of nysbench.patch")

    return WithoutGradient.apply
