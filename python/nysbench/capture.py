# SPDX-License-Identifier: GPL-3.0-or-later
"""Queries, keys and values of a Hugging Face model's attention, as head files.

    nysbench.capture(model, tokenizer(text, return_tensors="pt"), layers=[0, 6, 11])[6].save("heads.safetensors")
    python -m nysbench.capture FOLDER --text a.txt b.txt --layers 0,6,11 -o heads.safetensors

The module can be called: it is `capture`. docs/models.md is the manual.
"""
from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import types
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ._arguments import ArgumentError, FileError, ShapeError, count_of, flag, integers
from ._head_files import replacing, write
from ._transformers import check_outputs, needs, off_by, require_model, taken_over


@dataclass
class Heads:
    """Heads of one layer, of one input, float32.

    q: (heads, n, d), after rotary embedding and with the scale that makes softmax(q k'/sqrt d) v the model's own.
    k, v: (key heads, n, d and dv); a key head serves heads / key heads heads that follow each other.
    heads, key_heads: their numbers in the model. causal: whether a query sees only the keys up to its own.
    error, allowed: the largest difference between softmax(q k'/sqrt d) v and the module's own output, relative to the
        largest output, and how large rounding may make it.
    metadata: texts for the file.
    """
    layer: int
    module: str
    q: np.ndarray = field(repr=False)
    k: np.ndarray = field(repr=False)
    v: np.ndarray = field(repr=False)
    heads: list
    key_heads: list
    causal: bool
    error: float
    allowed: float
    metadata: dict = field(default_factory=dict, repr=False)

    def __post_init__(self):
        self.causal = flag("causal", self.causal)

    def first(self, tokens):
        """The same with the first tokens alone; without a causal mask these are the model's rows over fewer keys."""
        n, tokens = self.q.shape[-2], count_of("tokens", tokens)
        if tokens > n:
            raise ArgumentError(f"{self.module}: {tokens} tokens are asked for, the input has {n}")
        if tokens == n:
            return self
        parts = {name: getattr(self, name)[..., :tokens, :] for name in "qkv"}
        metadata = {**self.metadata, "cut": f"first {tokens} of {n} tokens"}
        return Heads(**{**self.__dict__, **parts, "metadata": metadata})

    def save(self, path, dtype=np.float32, **metadata):
        """Writes the heads as a file that nysbench reads; further metadata are texts."""
        save(path, [self], dtype, **metadata)


class _Recorder:
    """Takes the heads out of the calls of one pass."""

    def __init__(self, layers, heads):
        self.layers, self.heads = layers, heads
        self.found, self.seen, self.crossed = {}, {}, []

    def __call__(self, call):
        if call.crossed:
            self.crossed.append(call.name)
            return call.outputs()
        name = self.seen.setdefault(call.number, call.name)
        if self.layers is not None and call.number not in self.layers:
            return call.outputs()
        if name != call.name:
            raise ArgumentError(f"layer {call.number} is {name} and also {call.name}: capture a part of the model")
        if call.number in self.found:
            call.refuse("attends more than once in a pass")
        call.check_plain()
        result = call.outputs()
        own = result[0] if call.next is call.own else call.own_outputs()
        self.found[call.number] = self._take(call, call.causal(), own)
        return result

    def _take(self, call, causal, outputs):
        torch = needs("torch")
        for name, x in {"queries": call.q, "keys": call.k, "values": call.v, "outputs": outputs}.items():
            if x.dtype not in (torch.float32, torch.float64):
                call.refuse(f"its {name} are {x.dtype}, too coarse to check: call model.float() first, and capture "
                            "outside of torch.autocast")
        if call.q.shape[0] != 1:
            call.refuse(f"attends in a batch of {call.q.shape[0]}: give one input at a time, in a list "
                        "(if it is one, its attention is in windows)")
        heads, key_heads, rows = _choose(call, self.heads)
        q = (call.q[:, heads] * call.factor()).float()
        k, v = call.k[:, rows].float(), call.v[:, rows].float()
        error, allowed = off_by(q, k, v, causal, outputs[:, :, heads])
        check_outputs(call, error, allowed)
        q, k, v = (x[0].detach().cpu().contiguous().numpy().copy() for x in (q, k, v))
        return Heads(call.number, call.name, q, k, v, heads, key_heads, causal, error, allowed)

    def finish(self):
        missing = sorted(set(self.layers or ()) - set(self.found))
        if not self.seen:
            raise ArgumentError("no self-attention of the model goes through transformers' attention interface")
        if missing:
            raise ArgumentError(f"layers {_listed(missing)}: the model has {_listed(sorted(self.seen))}")
        return dict(sorted(self.found.items()))


def _listed(numbers):
    return ",".join(map(str, numbers))


def _choose(call, chosen):
    """Heads; their key heads; the key heads to keep, one for equally many heads each."""
    count, group = call.q.shape[1], call.q.shape[1] // call.k.shape[1]
    heads = list(range(count)) if chosen is None else chosen
    if min(heads) < 0 or max(heads) >= count or len(set(heads)) < len(heads):
        call.refuse(f"heads {_listed(heads)}: allowed are different ones of 0 to {count - 1}")
    of = [h // group for h in heads]
    kept = list(dict.fromkeys(of))
    each = len(of) // len(kept)
    regular = of == [g for g in kept for _ in range(each)]
    return heads, kept if regular else of, kept if regular else of


def capture(model: Any, inputs: Any, *, layers: Sequence[int] | None = None, heads: Sequence[int] | None = None,
            folder: str | os.PathLike | None = None) -> Any:
    """{layer: Heads} of a pass over the inputs; for a list of inputs, a list of such dicts.

    >>> layers = nysbench.capture(model, inputs[0], layers=[0, 2])
    >>> sorted(layers), layers[2].q.shape == layers[2].k.shape
    ([0, 2], True)

    model: a module of transformers in evaluation mode, whole or a part (model.encoder), which is called with the
        inputs: the arguments of its forward, a batch of one without padding.
    layers: a list of numbers, the last in the names of their modules (encoder.layer.3.attention.self is 3); None: all.
    heads: a list of numbers of query heads; None: all. Grouped queries stay grouped where equally many heads of each
        group are chosen; otherwise each query head gets its own copy of its key head.
    folder: keeps the heads of each input as soon as its pass has ended, and the same call reads what is there: it goes
        on where it was interrupted. None: nothing is kept.

    Cross-attention is left out. TypeError for other arguments. Each layer is checked: ArgumentError if softmax(q
    k'/sqrt d) v is not what the module computes, to float32 rounding, and where padding, a window, sinks, soft-capping
    or a bias keep it from being that.
    """
    require_model(model)
    if model.training:
        raise ArgumentError("the model is in training mode: call model.eval() first")
    layers, heads = integers("layers", layers), integers("heads", heads)
    several = [inputs] if isinstance(inputs, Mapping) or hasattr(
        inputs, "shape") or not isinstance(inputs, Iterable) else list(inputs)
    for one in several:
        if not isinstance(one, Mapping):
            raise TypeError("inputs: expected the arguments of the model's forward, such as {'input_ids': ...}, or a "
                            f"list of such, not {type(one).__name__}")
    found = _all_captured(model, several, layers, heads, folder)
    return found[0] if isinstance(inputs, Mapping) else found


def _all_captured(model, several, layers, heads, folder):
    """A list with what _captured returns for each input; KeyboardInterrupt says what is kept of it."""
    found = []
    store = None if folder is None else Store(folder, model, (layers, heads))
    try:
        for one in several:
            found.append(store.captured(one) if store else _captured(model, one, layers, heads))
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"interrupted after {len(found)} of {len(several)} inputs; " + (
            f"their heads are kept, and the same call goes on: {folder}" if store else
            "with folder=... their heads would be kept")) from None
    return found


class Store:
    """Heads in a folder, a file for each input, whose name is a digest of all that they depend on. choice: layers and
    heads."""

    def __init__(self, folder, model, choice):
        self.folder, self.model, self.choice, self.used = Path(folder), model, choice, []
        self.hash = hash_model(model, ("capture", *choice))
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(f"{folder}: {error.strerror}") from error

    def captured(self, one):
        """{layer: Heads} of a pass, or of an earlier one."""
        found = self.hash.copy()
        hash_arguments(found, one)
        path = self.folder / f"{found.hexdigest()[:16]}.npz"
        self.used.append(path)
        if path.exists():
            return self._read(path)
        layers = _captured(self.model, one, *self.choice)
        facts = [{name: value for name, value in vars(heads).items() if name not in "qkv"} for heads in layers.values()]
        arrays = {f"{heads.layer}.{name}": getattr(heads, name) for heads in layers.values() for name in "qkv"}
        try:
            with replacing(path) as file:
                np.savez(file, facts=json.dumps(facts), **arrays)
        except OSError as error:
            raise FileError(f"{path}: cannot be written: {error.strerror}") from error
        return layers

    def remove(self):
        """Removes what this object has used, and the folder if nothing else is there."""
        for path in set(self.used):
            path.unlink(missing_ok=True)
        if not any(self.folder.iterdir()):
            self.folder.rmdir()

    def _read(self, path):
        try:
            with np.load(path, allow_pickle=False) as kept:
                return {facts["layer"]: Heads(**facts, **{name: kept[f"{facts['layer']}.{name}"] for name in "qkv"})
                        for facts in json.loads(str(kept["facts"]))}
        except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as error:
            raise FileError(
                f"{path}: cannot be read as heads that capture has kept; remove it, and they are captured again"
            ) from error


def hash_model(model, choice):
    """A sha256 of a model's class, configuration, parameters and buffers, and of what else is chosen."""
    found = hashlib.sha256(repr((type(model).__name__, choice, str(getattr(model, "config", "")))).encode())
    hash_arguments(found, model.state_dict())
    return found


def hash_arguments(found, named):
    """Adds tensors and other values, by name, to a digest."""
    for name, value in named.items():
        found.update(name.encode())
        array = np.asarray(value.detach().cpu().float().numpy() if hasattr(value, "detach") else value)
        found.update(np.ascontiguousarray(array).tobytes())


def _captured(model, inputs, layers, heads):
    """{layer: Heads} of a pass."""
    recorder = _Recorder(None if layers is None else set(layers), heads)
    with needs("torch").no_grad(), taken_over(model, recorder):
        model(**inputs)
    found = recorder.finish()
    for one in found.values():
        one.metadata.update(_described(model))
    return found


def _described(model):
    """What a model says about itself."""
    config = getattr(model, "config", None)
    parts = [type(model).__name__]
    for field_name, what in (("num_hidden_layers", "layers"), ("num_attention_heads", "heads")):
        if isinstance(getattr(config, field_name, None), int):
            parts.append(f"{getattr(config, field_name)} {what}")
    path = getattr(config, "_name_or_path", "") or ""
    found = {"architecture": ", ".join(parts), "model": _model_name(path) or type(model).__name__}
    revision = getattr(config, "_commit_hash", None) or _snapshot(path)
    return {**found, "revision": revision} if revision else found


def _model_name(path):
    """models--org--name/snapshots/HASH, as a cache has them, is org/name; else the folder's name."""
    cached = re.search(r"models--([^/]+)/snapshots/[0-9a-f]+/?$", str(path))
    return cached.group(1).replace("--", "/") if cached else Path(path).name


def _snapshot(path):
    found = re.search(r"/snapshots/([0-9a-f]{40})/?$", str(path))
    return found.group(1) if found else None


def save(path: str | os.PathLike, inputs: Sequence[Heads], dtype: Any = np.float32, **metadata: Any) -> None:
    """Writes Heads of one layer, a list of one for each input, as a .safetensors file.

    One input makes tensors (heads, n, d), several make (inputs, heads, n, d). ShapeError if they have different shapes,
    ArgumentError if they are not of the same layer, or too large for dtype (float32 or float16).
    """
    if not isinstance(inputs, (list, tuple)) or not inputs or not all(isinstance(one, Heads) for one in inputs):
        raise TypeError(f"{path}: expected a list of Heads, such as [layers[3]]")
    one = inputs[0]
    for other in inputs[1:]:
        if (other.layer, other.heads, other.causal) != (one.layer, one.heads, one.causal):
            raise ArgumentError(f"{path}: layer {other.layer}, heads {_listed(other.heads)} beside layer {one.layer}, "
                                f"heads {_listed(one.heads)}: a file holds those of one kind")
        if (other.q.shape, other.v.shape) != (one.q.shape, one.v.shape):
            raise ShapeError(f"{path}: inputs of {one.q.shape[-2]} and {other.q.shape[-2]} tokens: "
                             "a file for all holds equally many of each")
    tensors = {name: _stored([getattr(x, name) for x in inputs], dtype, path) for name in "qkv"}
    n, d = one.q.shape[-2:]
    facts = {"layer": one.layer, "module": one.module, "heads": _listed(one.heads), "kv_heads": _listed(one.key_heads),
             "causal": str(one.causal).lower(), "tokens": n, "n": n, "d": d, "layout": "heads,n,d",
             "error": f"{max(x.error for x in inputs):.1e}"}
    texts = {key: str(value) for key, value in {**facts, **one.metadata, **metadata}.items() if value not in (None, "")}
    write(path, tensors, texts)


def _stored(arrays, dtype, path):
    if np.dtype(dtype) not in (np.float16, np.float32):
        raise ArgumentError(f"{path}: dtype {np.dtype(dtype)}: allowed are float16 and float32")
    with np.errstate(over="ignore"):
        stored = (arrays[0] if len(arrays) == 1 else np.stack(arrays)).astype(dtype)
    if not np.isfinite(stored).all():
        raise ArgumentError(f"{path}: some numbers are not finite" + (" in float16" if dtype == np.float16 else ""))
    return stored


def main(arguments=None):
    """python -m nysbench.capture: its exit status."""
    from . import _capture_command
    return _capture_command.main(arguments)


class _Callable(types.ModuleType):
    """nysbench.capture(...) is capture(...)."""

    def __call__(self, model, inputs, *, layers=None, heads=None, folder=None):
        return capture(model, inputs, layers=layers, heads=heads, folder=folder)


_Callable.__call__.__doc__ = capture.__doc__
if __name__ == "__main__":
    sys.exit(main())
sys.modules[__name__].__class__ = _Callable
