# SPDX-License-Identifier: GPL-3.0-or-later
"""Any registered attention in the place of a Hugging Face model's own."""
from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from . import attention
from ._arrays import SEED, flag, integers
from ._attention_function import attend_tensors, seed_of
from ._attention_interface import check_outputs, full_precision, layer_number, needs, off_by, require_model, taken_over
from ._errors import ArgumentError
from ._strategy import Mistake, without_options


@contextlib.contextmanager
def patch(model: Any, spec: str | Callable, layers: Sequence[int] | None = None, *, threads: int | None = None, seed: int | None = None,
          trial: int = 0, strategy: Callable | None = None, check: bool = True) -> Iterator[None]:
    """While the context lasts, the self-attention of a model's layers is a registered one.

    >>> with torch.no_grad(), nysbench.patch(model, "nystrom(strategy=kmeans, landmarks=8)", layers=[1]):
    ...     outputs = model(**inputs[0])

    model: a module of transformers, whole or a part (model.encoder), whose attention is sdpa or eager.
    spec, threads, seed, trial, strategy: as for nysbench.attention; each layer gets the same seed. A function or module that
        takes tensors gets the model's own, on its device and in its type, without gradients.
    layers: a list of numbers, the last in the names of the modules (encoder.layer.3.attention.self is 3); None: all. In a model
        of an encoder and a decoder a number names a layer of each. Other layers, and cross-attention, stay as they are.
    check: in its first pass each layer's own attention is computed too, and must be softmax(q k'/sqrt d) v to float32
        rounding; False skips the check.

    Contexts may be nested; the inner one is asked first. The model decides whether the attention is causal, by its mask
    or module. ArgumentError, in the pass, for padding, a window, sinks, soft-capping, a bias, a pass that continues a
    cache, weights of the attention being asked for, and dropout in training; and in the end for a layer that no pass
    came by, and for a patch that no pass has used.
    A backward pass through a patched layer raises RuntimeError, unless it is a function that takes tensors.
    """
    require_model(model)
    wanted = None if layers is None else set(integers("layers", layers))
    _require_numbers(model, wanted)
    given = without_options(spec, "attention") if callable(spec) else spec
    replaced = functools.partial(attention, spec=given, threads=threads, seed=seed, trial=trial, strategy=strategy)
    if getattr(given, "tensors", False):
        replaced = functools.partial(_attend, given, seed_of(SEED if seed is None else seed, trial))
    replacement = _Replacement(wanted, replaced, flag("check", check), getattr(given, "tensors", False))
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
        raise ArgumentError(str(mistake)) from None


class _Replacement:
    """Handles the calls: those of the layers wanted by attention(q, k, v, causal=...), of float32 arrays or of tensors."""

    def __init__(self, wanted, attention, check, tensors):
        self.wanted, self.attention, self.check, self.tensors = wanted, attention, check, tensors
        self.checked, self.seen, self.calls = set(), set(), 0

    def __call__(self, call):
        self.calls += 1
        if call.crossed or (self.wanted is not None and call.number not in self.wanted):
            return call.outputs()
        self.seen.add(call.number)
        call.check_plain()
        if call.options.get("output_attentions"):
            call.refuse("its weights are asked for (output_attentions), which a patched attention does not have")
        causal = call.causal()
        if self.check and call.name not in self.checked:
            _check(call, causal)
            self.checked.add(call.name)
        return self._outputs(call, causal), None

    def _outputs(self, call, causal):
        torch = needs("torch")
        factor = call.factor()
        q = call.q if factor == 1 else call.q * factor
        if self.tensors:
            return self.attention(q, call.k, call.v, causal=causal).transpose(1, 2).to(call.q.dtype).contiguous()
        q, k, v = (_array(x) for x in (q, call.k, call.v))
        found = torch.from_numpy(self.attention(q, k, v, causal=causal))
        found = found.transpose(1, 2).to(device=call.q.device, dtype=call.q.dtype).contiguous()
        return _without_gradient()(call.q, call.k, call.v, found) if torch.is_grad_enabled() else found

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
