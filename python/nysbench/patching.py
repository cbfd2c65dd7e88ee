# SPDX-License-Identifier: GPL-3.0-or-later
"""Any attention in the place of a Hugging Face model's own: `patch` puts it there for a while, and `effect`, the study
of that name with a model of this session, measures what it does to the model's output."""
from __future__ import annotations

import contextlib
import functools
import os
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ._arguments import (LARGEST_TRIAL, ArgumentError, NumericError, ShapeError, flag, integer, integers, labelled,
                         quoted, seed_of, write_tensors)
from ._attention import attention_of_layer, drawn_seed, lacks_strategy, with_strategy
from ._commands import run_served
from ._functions import BRIDGE, Mistake, exception_of, without_options
from ._library import text
from ._result import Run
from ._transformers import check_outputs, full_precision, layer_number, needs, off_by, require_model, taken_over
from .capture import capture, hash_arguments, hash_model
from .serve import attend_tensors, line_of, printable

_KEPT = 2  # exact passes that `effect` keeps


@contextlib.contextmanager
def patch(model: Any, spec: str | Callable, layers: Sequence[int] | None = None, *, threads: int | None = None,
          seed: int | None = None, trial: int = 0, strategy: Callable | None = None,
          plugins: Sequence[str | os.PathLike] = (), check: bool = True, backend: str | None = None) -> Iterator[None]:
    """While the context lasts, the self-attention of a model's layers is a registered one.

    >>> with torch.no_grad(), nysbench.patch(model, "nystrom(strategy=kmeans, landmarks=8)", layers=[1]):
    ...     outputs = model(**inputs[0])

    model: a module of transformers, whole or a part (model.encoder), whose attention is sdpa or eager.
    spec, threads, seed, trial, strategy, plugins: as for nysbench.attention; each layer gets the same seed. A function
        or module that takes tensors gets the model's own, on its device and in its type, without gradients.
    layers: a list of numbers, the last in the names of the modules (encoder.layer.3.attention.self is 3); None: all. In
        a model of an encoder and a decoder a number names a layer of each. Other layers, and cross-attention, stay as
        they are.
    check: in its first pass each layer's own attention is computed too, and must be softmax(q k'/sqrt d) v to float32
        rounding; False skips the check.
    backend: "torch": nysbench.torch computes it, on the device and in the type of the model, with gradients;
        ArgumentError for a spec that it does not have. "c": the library, in float32 on the CPU. None: nysbench.torch
        where it has the spec and the layer is on another device or in half precision, or trains; else the library. Both
        have the same distribution of landmarks, from other draws.

    Contexts may be nested; the inner one is asked first. The model decides whether the attention is causal, by its mask
    or module. ArgumentError, in the pass, for padding, a window, sinks, soft-capping, a bias, a pass that continues a
    cache, weights of the attention being asked for, and dropout in training; and in the end for a layer that no pass
    came by, and for a patch that no pass has used.
    A backward pass through a patched layer raises RuntimeError, unless nysbench.torch computes it or a function that
    takes tensors.
    """
    check = flag("check", check)
    require_model(model)
    wanted = None if layers is None else set(integers("layers", layers))
    _require_numbers(model, wanted)
    given = without_options(spec, "attention") if callable(spec) else spec
    seed = seed_of(seed)
    trial = integer("trial", trial, 0, LARGEST_TRIAL)
    arrays = functools.partial(attention_of_layer, spec=given, threads=threads, seed=seed, trial=trial,
                               strategy=strategy, plugins=plugins)
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
        raise exception_of(mistake, found.__name__) from None


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
        from .torch._models import (
            find_attention,  # with Triton, half a second: not for layers that the library computes
        )
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
    return (call.q.device.type != "cpu" or call.q.dtype in (torch.float16, torch.bfloat16) or gradients
            or call.module.training)


class _Replacement:
    """Handles the calls: those of the layers wanted by choose(call), an attention of tensors, or, if that is None, by
    one of float32 arrays; both are called as attention(q, k, v, causal=...)."""

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
            raise ArgumentError(
                f"{where}the patch has replaced nothing: within its context no part of the model was called whose "
                "attention goes through transformers' attention interface")
        if missing:
            raise ArgumentError(f"{where}the model has no self-attention of that number")
        if not self.seen:
            raise ArgumentError(
                "the patch has replaced nothing: all attention that was called within its context is cross-attention")


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

    class WithoutGradient(torch.autograd.Function):  # type: ignore[name-defined]  # torch is imported above
        @staticmethod
        def forward(_, q, k, v, found):
            return found

        @staticmethod
        def backward(_, gradient):
            raise RuntimeError("a patched attention has no gradient: train the model outside of nysbench.patch")

    return WithoutGradient.apply


def effect(model: Any, inputs: Mapping[str, Any] | Sequence[Mapping[str, Any]],
           attentions: str | Callable | Sequence[str | Callable], *, layers: str | int | Sequence[str | int] = ("all",),
           sources: Sequence[str] | None = None, trials: int = 1, strategy: Callable | None = None,
           folder: str | os.PathLike | None = None, jobs: int | None = None, progress: bool = True, **keys: Any) -> Run:
    """Replaces the attention of a model's layers, and measures what becomes of its output: a Run of the study `effect`.

    >>> run = nysbench.effect(model, inputs, ["nystrom(strategy=[uniform, kmeans], landmarks=8)"], progress=False)
    >>> len(nysbench.row_arrays(run.folder)["model_error"]) == 2 * len(inputs)
    True

    model: a module of transformers in evaluation mode, as for `capture`.
    inputs: a list of the arguments of its forward, such as {"input_ids": ...}, of equal numbers of tokens; each is a
        source.
    attentions: specs, see names("attention"), and functions and modules, as for run. strategy: a function that picks
        the landmarks of the specs that take a strategy and name none, as for attention. layers: a list of "all", "half"
        (every other) or numbers of layers; each choice is measured by itself. sources: names of the inputs. keys:
        further keys of the config, such as claims.
    folder, jobs, progress: as for `run`.

    Columns of run.rows: model_error, |H - H_exact|_F / |H_exact|_F of the last hidden states; embedding_distance, 1 -
    cosine of their means over tokens (models without a mask); perplexity_ratio and kl (nats) of the next tokens (causal
    language models); error, output_error and so on of the same heads. Raises as `run` and `capture` do.
    """
    progress = flag("progress", progress)
    require_model(model)
    inputs = [inputs] if isinstance(inputs, Mapping) else list(inputs)
    names = [f"input-{i}"
             for i in range(len(inputs))] if sources is None else ["-".join(str(one).split()) for one in sources]
    if len(names) != len(inputs):
        raise ArgumentError(f"sources: {len(names)} names for {len(inputs)} inputs")
    _check_shapes(inputs)
    served = _Model(model, inputs, names)
    served.describe({})  # raises here what capture refuses
    name = f"model-{_digest(model, inputs, names)}"
    choices = [layers] if isinstance(layers, (str, int)) else list(layers)
    problem = f"live_model(run={quoted(f'{BRIDGE} {name}')}, layers=[{', '.join(map(str, choices))}], timeout=1e6)"

    def make_keys(functions):
        served.functions = functions
        given = [attentions] if isinstance(attentions, str) or callable(attentions) else list(attentions)
        if strategy is not None:
            picked, name = functions.bare_spec(strategy, "strategy")
            takes = [isinstance(one, str) and lacks_strategy(one) for one in given]
            if not any(takes):
                raise ArgumentError(
                    f"strategy: {name} picks landmarks, and no attention here wants a strategy: expected a spec such "
                    "as nystrom(landmarks=64)")
            given = [
                _labelled(with_strategy(one, picked), with_strategy(one, name)) if wants else one
                for wants, one in zip(takes, given)
            ]
        return {"study": "effect", "problems": problem, "attentions": given, "trials": trials, **keys}

    return run_served(make_keys, {name: served}, folder, jobs, progress)


def _check_shapes(inputs):
    """Inputs have equally many tokens, as the heads of a layer have in all sources."""
    for i, one in enumerate(inputs):
        for name, value in one.items():
            first, found = (getattr(x, "shape", None) for x in (inputs[0].get(name), value))
            if first is not None and found is not None and tuple(first) != tuple(found):
                raise ShapeError(
                    f"inputs: {name} of input {i} has the shape {tuple(found)}, and that of input 0 {tuple(first)}: "
                    "expected inputs of equally many tokens")


def _labelled(spec, label):
    return spec if "label" in label else labelled(spec, label)


def _digest(model, inputs, names):
    """Of all that the answers depend on: parameters, buffers, inputs."""
    found = hash_model(model, names)
    for one in inputs:
        hash_arguments(found, one)
    return found.hexdigest()[:16]


class _Model:
    """Answers the questions of a live_model (docs/models.md)."""

    def __init__(self, model, inputs, names):
        self.model, self.inputs, self.names, self.label = model, inputs, names, type(model).__name__
        self.kept = OrderedDict()  # by source: its heads by layer, and its exact outputs
        self.functions: Any = None  # of the experiment

    def __call__(self, question, _):
        answers = {"describe": self.describe, "heads": self.heads, "effect": self.effect}
        try:
            return answers[question["do"]](question)
        except NumericError as error:
            return {"diverged": printable(str(error))}
        except ArgumentError as error:
            return {"skipped": printable(str(error))}
        except Exception as error:  # whatever the model raises is the reason of its rows
            return {"error": line_of(error)[:300]}

    def exact(self, source):
        if source not in self.kept:
            while len(self.kept) >= _KEPT:
                self.kept.popitem(last=False)
            self.kept[source] = capture(self.model, self.inputs[source]), self.outputs(source)
        self.kept.move_to_end(source)
        return self.kept[source]

    def outputs(self, source):
        """Last hidden states (n, width), and log probabilities (n, words) or None, float64."""
        torch = needs("torch")
        with torch.no_grad():
            found = self.model(**self.inputs[source], output_hidden_states=True)
        last = getattr(found, "last_hidden_state", None)
        hidden = found.hidden_states[-1] if last is None else last
        logits = getattr(found, "logits", None)
        foretold = None
        if logits is not None and "input_ids" in self.inputs[source] and logits.shape[:2] == hidden.shape[:2]:
            foretold = torch.log_softmax(logits[0].double(), -1).cpu().numpy()
        return hidden[0].double().cpu().numpy(), foretold

    def describe(self, _):
        layers, _ = self.exact(0)
        one = layers[min(layers)]
        return {
            "model": one.metadata.get("model",
                                      type(self.model).__name__), "layers": len(layers), "heads": len(one.heads),
            "key_heads": len(one.key_heads), "n": one.q.shape[-2], "d": one.q.shape[-1], "dv": one.v.shape[-1],
            "causal": one.causal, "sources": self.names
        }

    def heads(self, question):
        layers, _ = self.exact(question["source"])
        parts = {name: np.concatenate([getattr(layers[i], name) for i in question["layers"]]) for name in "qkv"}
        write_tensors(question["file"], parts, {})
        return {}

    def attention(self, spec):
        """What a row's spec means to this process: a function, or a spec and, or None, a function in it, its
        strategy."""
        for bare, found in self.functions.found.items():
            if spec == bare:
                return found, None
            option = f"strategy={bare}"
            for written in f"{option}, ", f", {option}", f"({option})":
                if written in spec:
                    return spec.replace(written, ""), found
        return spec, None

    def effect(self, question):
        layers, (hidden, foretold) = self.exact(question["source"])
        attention, strategy = self.attention(question["attention"])
        with patch(self.model, attention, question["layers"], threads=1, strategy=strategy, seed=question["seed"],
                   trial=question["trial"], check=False, plugins=question.get("plugins", ()),
                   backend=None if callable(attention) else "c"):  # the other columns are of the library's draws
            new_hidden, new_foretold = self.outputs(question["source"])
        if not np.isfinite(new_hidden).all():
            return {"diverged": "the last hidden states are not finite"}
        found = {"model_error": float(np.linalg.norm(new_hidden - hidden) / np.linalg.norm(hidden))}
        if not layers[min(layers)].causal:
            a, b = hidden.mean(0), new_hidden.mean(0)
            found["embedding_distance"] = float(1 - a @ b / np.linalg.norm(a) / np.linalg.norm(b))
        elif foretold is not None:
            tokens = np.asarray(self.inputs[question["source"]]["input_ids"].cpu())[0, 1:]
            at = np.arange(len(tokens)), tokens
            found["perplexity_ratio"] = float(np.exp(np.mean(foretold[at] - new_foretold[at])))
            found["kl"] = float(np.mean(np.sum(np.exp(foretold) * (foretold - new_foretold), axis=-1)))
        return found
