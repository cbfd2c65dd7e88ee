# SPDX-License-Identifier: GPL-3.0-or-later
"""kernel_ridge and nystrom in models of transformers: of a spec, for nysbench.patch, and by name, as
attn_implementation."""
from __future__ import annotations

import functools
import inspect
import re
import sys
from collections.abc import Callable
from typing import Any

from .._transformers import Call, layer_number, needs
from .._arguments import ArgumentError
from ._kernel_ridge import kernel_ridge
from ._near_keys import KINDS
from ._nystrom import nystrom

NAME = "nysbench_kernel_ridge"
HAS = (
    "the torch backend has kernel_ridge with the options landmarks, rows, queries, keys, near, window, top, grid and "
    "tolerance, and nystrom with landmarks, strategy=segment_means or uniform, and core=iterative with steps")

_SPEC = re.compile(r"\s*(\w+)\s*(?:\((.*)\))?\s*", re.DOTALL)
_OPTION = re.compile(r"""\s*(\w+)\s*=\s*((?:"(?:\\.|[^"\\])*"|\([^()]*\)|[^,()"])+)(?:,|$)""")
_COUNT = re.compile(r"[1-9][0-9]*")


def find_attention(spec: str, seed: int) -> Callable | None:
    """attention(q, k, v, causal=...) of the tensors of a layer for a spec; None for what this package does not have."""
    name, options = _parts(spec)
    options.pop("label", None)
    try:
        if name == "kernel_ridge":
            return functools.partial(_attend, kernel_ridge, seed=seed, **_ridge_options(**options))
        if name == "nystrom" and set(options) <= {"landmarks", "strategy", "core"}:
            return functools.partial(_attend, nystrom, seed=seed, **_nystrom_options(**options))
    except _NotHere:
        pass
    return None


class _NotHere(Exception):
    """The library may have it."""


def _ridge_options(near="none", grid="none", window="auto", top="auto", tolerance="0", **counts):
    if near not in KINDS or not set(counts) <= {"landmarks", "rows", "queries", "keys"}:
        raise _NotHere
    found = {name: None if text == "auto" and name != "landmarks" else _count(text) for name, text in counts.items()}
    found["window"], found["top"] = (None if text == "auto" else 0 if text == "0" else _count(text)
                                     for text in (window, top))
    found["grid"] = None if grid == "none" else grid if grid == "auto" else _count(grid)
    return {"near": near, "tolerance": _number(tolerance), **found}


def _nystrom_options(landmarks="64", strategy="segment_means", core="iterative"):
    strategy, core = _parts(strategy), _parts(core)
    if strategy not in (("segment_means", {}), ("uniform", {})):
        raise _NotHere
    if core[0] != "iterative" or not set(core[1]) <= {"steps"}:
        raise _NotHere
    steps = {name: _count(text) for name, text in core[1].items()}
    return {"landmarks": _count(landmarks), "strategy": strategy[0], **steps}


def _parts(spec):
    """The name and the texts of the options of a spec; ("", {}) for what is no spec or has lists or deeper specs in
    specs."""
    found = _SPEC.fullmatch(spec)
    if found is None:
        return "", {}
    options, at, inside = {}, 0, found[2] or ""
    while inside[at:].strip():
        option = _OPTION.match(inside, at)
        if option is None or option[1] in options:
            return "", {}
        options[option[1]], at = option[2].strip(), option.end()
    return found[1], options


def _count(text):
    if not _COUNT.fullmatch(text):
        raise _NotHere
    return int(text)


def _number(text):
    try:
        return float(text)
    except ValueError:
        raise _NotHere from None


def _attend(attention, q, k, v, *, causal, **options):
    if causal:
        raise ArgumentError(f"{attention.__name__} lets every query see all keys, and the layer is causal")
    return attention(q, k.to(q.dtype), v.to(q.dtype), **options)  # torch.autocast may leave other types


def register(name: str, attention: Callable = kernel_ridge, **options: Any) -> None:
    """Makes an attention of this package an attn_implementation of transformers.

    >>> nysbench.torch.register("my_ridge", landmarks=48)
    >>> model = transformers.AutoModel.from_pretrained(folder, attn_implementation="my_ridge")

    name: an identifier; a name that was registered here before gets the new options.
    attention: kernel_ridge or nystrom. options: its own, beside q, k and v.

    All attention of the model goes there, with the model's scale, and gradients. ArgumentError, in the pass, for what
    lets a query see fewer than all keys (a causal layer, padding, a window, a cache that is continued), for sinks,
    soft-capping and biases, dropout in training, and weights being asked for.
    """
    if not isinstance(name, str) or not name.isidentifier():
        raise ArgumentError(f"name {name!r}: expected an identifier such as 'my_ridge'")
    if attention not in (kernel_ridge, nystrom):
        raise ArgumentError("attention: expected nysbench.torch.kernel_ridge or nysbench.torch.nystrom")
    inspect.signature(attention).bind(None, None, None, **options)  # TypeError for other options
    needs("transformers")
    from transformers.modeling_utils import AttentionInterface
    if name not in _registered and (name == "eager" or name in AttentionInterface._global_mapping):
        raise ArgumentError(f"name {name!r}: transformers has an attention of this name")
    _registered[name] = _implementation(attention, options)
    _enter_tables()


def _implementation(attention, options):
    attention = functools.partial(_attend, attention, **options)

    def attend(module, query, key, value, attention_mask=None, **given):
        layer = getattr(module, "layer_idx", None)
        name = type(module).__name__ + ("" if layer is None else f", layer {layer}")
        call = Call(module, name, layer_number(name), query, key, value, attention_mask, given, None, "sdpa", None,
                    None)
        call.check_replaceable()
        causal = call.causal()
        try:
            return call.replaced(attention, causal), None
        except ArgumentError as error:
            raise ArgumentError(f"{name}: {error}") from None
    return attend


# By name. Of transformers' two tables each is filled when its module is there, or once it is imported: to import these
# modules takes seconds, which a program that has no model of transformers should not spend.
_registered = {NAME: _implementation(kernel_ridge, {})}
_TABLES = {"transformers.modeling_utils": "AttentionInterface", "transformers.masking_utils": "AttentionMaskInterface"}


def _enter_tables():
    for module, table in _TABLES.items():
        table = getattr(sys.modules.get(module), table, None)  # None: not imported yet, or an older transformers
        if table is not None:
            for name, function in _registered.items():
                table.register(name, table._global_mapping["sdpa"] if module.endswith("masking_utils") else function)


class _AfterImport:
    """A finder that has the tables filled after their modules are imported, which others find."""

    def find_spec(self, name, path=None, target=None):
        if name not in _TABLES:
            return None
        others = (finder.find_spec for finder in sys.meta_path if finder is not self and hasattr(finder, "find_spec"))
        spec = next((found for found in (find(name, path, target) for find in others) if found is not None), None)
        if spec is not None:
            execute = spec.loader.exec_module

            def execute_and_enter(module):
                execute(module)
                _enter_tables()
            spec.loader.exec_module = execute_and_enter
        return spec


sys.meta_path.insert(0, _AfterImport())
_enter_tables()
