# SPDX-License-Identifier: GPL-3.0-or-later
"""Queries, keys and values of a Hugging Face model's attention, as head files.

    nysbench.capture(model, tokenizer(text, return_tensors="pt"), layers=[0, 6, 11])[6].save("heads.safetensors")
    python -m nysbench.capture FOLDER --text a.txt b.txt --layers 0,6,11 -o heads.safetensors

The module can be called: it is `capture`. docs/models.md is the manual.
"""
from __future__ import annotations

import argparse
import contextlib
import csv
import hashlib
import inspect
import io
import json
import os
import re
import sys
import types
import wave
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ._arguments import (ArgumentError, Error, FileError, ShapeError, count_of, flag, integers, replacing,
                         write_tensors)
from ._transformers import check_outputs, needs, off_by, require_model, taken_over

# The command's: tokens of a text, if nothing is said; kinds of inputs; columns of a table of them.
_TOKENS = 512
_KINDS = ("text", "image", "audio")
_COLUMNS = ("kind", "file", "name", "source", "licence")


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
        return replace(self, metadata=metadata, **parts)

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
    write_tensors(path, tensors, texts)


def _stored(arrays, dtype, path):
    if np.dtype(dtype) not in (np.float16, np.float32):
        raise ArgumentError(f"{path}: dtype {np.dtype(dtype)}: allowed are float16 and float32")
    with np.errstate(over="ignore"):
        stored = (arrays[0] if len(arrays) == 1 else np.stack(arrays)).astype(dtype)
    if not np.isfinite(stored).all():
        raise ArgumentError(f"{path}: some numbers are not finite" + (" in float16" if dtype == np.float16 else ""))
    return stored


@dataclass
class _Input:
    """A file to capture from; source, licence: for people."""
    kind: str
    file: Path
    name: str
    source: str = ""
    licence: str = ""


def main(arguments=None):
    """python -m nysbench.capture, heads of a model that is in a folder, from texts, images and recordings. The exit
    status: 0, or after a message 2, or 130 if interrupted."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        inputs = _inputs(options)
        for line in _write_files(options, inputs):
            print(line, flush=True)
    except (Error, ImportError) as error:
        print(f"nysbench.capture: error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt as interrupt:
        what = str(interrupt) or "interrupted; the files named above are written"
        print(f"nysbench.capture: {what}", file=sys.stderr)
        return 130
    return 0


def _parser():
    parser = argparse.ArgumentParser(
        prog="python -m nysbench.capture", allow_abbrev=False,
        description="Write queries, keys and values of a Hugging Face model's self-attention, after rotary embedding, "
                    "as head files.")
    add = parser.add_argument
    add("model", metavar="MODEL",
        help="a folder with a model, or the name of one that is in the cache; nothing is downloaded")
    what = {"text": "UTF-8 texts", "image": "images", "audio": "recordings, .wav or what soundfile reads"}
    for kind in _KINDS:
        add(f"--{kind}", nargs="+", action="extend", default=[], metavar="[NAME=]FILE",
            help=f"{what[kind]}; NAME: the file's stem if not given")
    add("--inputs", metavar="TABLE.csv",
        help=f"a table of inputs with columns {', '.join(_COLUMNS)}; the last three may be missing")
    add("--layers", type=_numbers, metavar="LIST", help="comma-separated numbers (default: all)")
    add("--heads", type=_numbers, metavar="LIST", help="comma-separated numbers of query heads (default: all)")
    add("--tokens", type=_count, metavar="N",
        help=f"a text is cut to N tokens, and a shorter one is an error (default: {_TOKENS}, or as many as it has); of "
             "images and recordings the first N are kept")
    add("--part", metavar="NAME",
        help="a part to run instead of the whole model, such as vision_model (default: the encoder, if there is a "
             "decoder too)")
    add("--dtype", choices=("float32", "float16"), default="float32",
        help="of the numbers in the files (default: float32)")
    add("--model-name", metavar="TEXT", help="for the metadata (default: the folder's name)")
    add("--revision", metavar="TEXT", help="of the model (default: the cache's, or a digest of the weights)")
    add("--licence", metavar="TEXT", help="of the model (default: as its card says)")
    add("--source-licence", metavar="TEXT", help="of the inputs, if the table says nothing")
    add("-o", "--out", required=True, metavar="OUT",
        help="FILE.safetensors for all inputs together (FILE_L3.safetensors of several layers), or a folder for a file "
             "of each input and layer")
    return parser


def _numbers(text):
    try:
        return [int(number) for number in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: expected comma-separated numbers") from None


def _count(text):
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a whole number from 1")
    return int(text)


def _inputs(options):
    found = [_named(kind, text, options) for kind in _KINDS for text in getattr(options, kind)]
    if options.inputs:
        found += _table(Path(options.inputs), options)
    if not found:
        raise ArgumentError("no input: give --text, --image, --audio or --inputs")
    if len({one.kind for one in found}) > 1:
        raise ArgumentError(f"inputs of several kinds: {', '.join(sorted({one.kind for one in found}))}")
    for one in found:
        if not re.fullmatch(r"[\w.+-]+", one.name):
            raise ArgumentError(f"name {one.name!r} of {one.file}: allowed are letters, digits and . _ + -; "
                                "give NAME=FILE")
    names = [one.name for one in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ArgumentError(f"two inputs have the name {twice[0]}: give NAME=FILE")
    return found


def _named(kind, text, options):
    name, equals, file = text.partition("=")
    if not equals or Path(text).exists():
        name, file = Path(text).stem, text
    return _Input(kind, Path(file), name, licence=options.source_licence)


def _table(path, options):
    found, reader = [], csv.DictReader(io.StringIO(_read_text(path), newline=""))
    try:
        columns, rows = reader.fieldnames or [], [(reader.line_num, row) for row in reader]
    except csv.Error as error:
        raise FileError(f"{path}, line {reader.line_num}: is no CSV: {error}") from error
    if set(columns) - set(_COLUMNS) or {"kind", "file"} - set(columns):
        raise ArgumentError(f"{path}: columns {', '.join(map(repr, columns))}: allowed are {', '.join(_COLUMNS)}, "
                            "the first two must be there")
    for line, row in rows:
        if None in row or None in row.values() or row["kind"] not in _KINDS:
            raise ArgumentError(f"{path}, line {line}: expected a kind ({', '.join(_KINDS)}) and a value "
                                "for each column")
        where = path.parent / row["file"]
        found.append(_Input(row["kind"], where, row.get("name") or where.stem, row.get("source", ""),
                           row.get("licence") or options.source_licence))
    return found


def _read_text(path):
    """A UTF-8 text, without the byte order mark with which some programs begin one."""
    with _opened(path, encoding="utf-8-sig") as file:
        try:
            return file.read()
        except UnicodeDecodeError as error:
            raise FileError(f"{path}: is not UTF-8: byte {error.start}") from error


def _opened(path, **how):
    try:
        with open(path, "rb") as file:
            pointer = file.read(23) == b"version https://git-lfs"
        if not pointer:
            return open(path, **how)
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}") from error
    raise FileError(f"{path}: is a Git LFS pointer, in whose place `git lfs pull` puts the file")


def _write_files(options, inputs):
    """Writes the files; yields a line about each."""
    for part in sorted(Path(options.model).glob("*")):
        if part.is_file():
            _opened(part, mode="rb").close()
    reader = _Reader(options, inputs[0].kind)
    model = _part(_model(options.model), options.part)
    facts = _facts(options)
    together = options.out.endswith(".safetensors")
    if not together:
        try:
            os.makedirs(options.out, exist_ok=True)
        except OSError as error:
            raise FileError(f"{options.out}: {error.strerror}") from error
    kept = []
    with contextlib.closing((_together if together else _apart)(model, reader, inputs, options)) as captured:
        for one, layers in zip(inputs, captured):
            for heads in layers.values():
                heads.metadata.update(reader.facts(one), **facts)
            kept.append({number: _cut(heads, one, options) for number, heads in layers.items()})
            if not together:
                yield from (_write(_file_of(options, one, heads), [heads], [one], options)
                            for heads in kept.pop().values())
        for number in kept[0] if kept else ():
            path = options.out if len(kept[0]) == 1 else f"{options.out[:-len('.safetensors')]}_L{number}.safetensors"
            yield _write(path, [layers[number] for layers in kept], inputs, options)


def _apart(model, reader, inputs, options):
    """{layer: Heads} of each input."""
    for one in inputs:
        yield capture(model, reader(one, model), layers=options.layers, heads=options.heads)


def _together(model, reader, inputs, options):
    """The same. Until it is closed, the heads are in the folder OUT.kept, which an interrupt leaves for the next such
    call."""
    store, done, interrupted = Store(f"{options.out}.kept", model, (options.layers, options.heads)), 0, False
    try:
        for one in inputs:
            yield store.captured(reader(one, model))
            done += 1
    except KeyboardInterrupt:
        interrupted = True
        raise KeyboardInterrupt(
            f"interrupted after {done} of {len(inputs)} inputs; their heads are kept in {store.folder}, and the "
            "same command goes on") from None
    finally:
        if not interrupted:
            store.remove()


def _cut(heads, one, options):
    return heads if one.kind == "text" or options.tokens is None else heads.first(options.tokens)


def _file_of(options, one, heads):
    model = re.sub(r"[^\w.+-]+", "-", heads.metadata["model"])
    return os.path.join(options.out, f"{model}_{one.name}_n{heads.q.shape[-2]}_L{heads.layer}.safetensors")


def _write(path, heads, inputs, options):
    """Heads of one layer, one for each input; the line about them."""
    facts = {key: "; ".join(dict.fromkeys(filter(None, (x.metadata.get(key) for x in heads))))
             for key in ("source", "source_licence", "cut")}
    facts["input_sha256"] = " ".join(x.metadata["input_sha256"] for x in heads)
    names = " ".join(one.name for one in inputs)
    facts |= {"sources": names} if len(inputs) > 1 else {"input": names}
    save(path, heads, np.dtype(options.dtype), **facts)
    worst, shape = max(heads, key=lambda x: x.error / x.allowed), heads[0].q.shape
    counts = f"{shape[0]} heads, n = {shape[1]}, d = {shape[2]}, {'causal' if worst.causal else 'no mask'}"
    return (f"{path}: layer {worst.layer}, {len(heads)} input{'s'[:len(heads) > 1]}, {counts}; "
            f"softmax(QK'/sqrt d) V is off by {worst.error:.1e} of the largest output, "
            f"rounding allows {worst.allowed:.1e}")


def _model(path):
    """The model in float32, all of whose layers have weights."""
    transformers = needs("transformers")
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    try:
        model, report = transformers.AutoModel.from_pretrained(
            path, local_files_only=True, dtype="float32", output_loading_info=True, attn_implementation="eager")
    except (OSError, ValueError, needs("safetensors").SafetensorError) as error:
        raise FileError(f"{path}: is not a model that transformers can load: {error}") from error
    missing = sorted(name for name in report["missing_keys"] if re.search(r"\.\d+\.", name))
    if missing:
        raise FileError(f"{path}: the weights of {len(missing)} parts are missing, such as {missing[0]}")
    return model.eval()


def _part(model, name):
    if name is None:
        return model.get_encoder() if getattr(model.config, "is_encoder_decoder", False) else model
    try:
        return model.get_submodule(name)
    except AttributeError:
        parts = ", ".join(part for part, _ in model.named_children())
        raise ArgumentError(f"part {name}: the model has {parts}, and what is in them") from None


class _Reader:
    """Makes what a model takes of a file; input(one, model) is the arguments of its forward."""

    def __init__(self, options, kind):
        transformers = needs("transformers")
        self.options, self.digests = options, {}
        self.read = {"text": self._text, "image": self._image, "audio": self._audio}[kind]
        factory = {"text": "AutoTokenizer", "image": "AutoImageProcessor", "audio": "AutoFeatureExtractor"}[kind]
        try:
            self.processor = getattr(transformers, factory).from_pretrained(options.model, local_files_only=True)
        except (OSError, ValueError) as error:
            raise FileError(f"{options.model}: has nothing for {kind} inputs: {error}") from error

    def __call__(self, one, model):
        prepared = dict(self.read(one))
        taken = inspect.signature(type(model).forward).parameters
        found = {name: x for name, x in prepared.items() if name in taken and not name.endswith("attention_mask")}
        if not found:
            raise ArgumentError(f"{type(model).__name__} takes none of {', '.join(prepared)}: choose a part")
        main = found.get(getattr(model, "main_input_name", None), next(iter(found.values()))).numpy()
        kept = main.astype("<i4" if main.dtype.kind == "i" else "<f4")
        self.digests[one.name] = hashlib.sha256(kept.tobytes()).hexdigest()
        return found

    def facts(self, one):
        """Metadata of an input that was read."""
        return {"source": one.source or one.name, "source_licence": one.licence, "input_sha256": self.digests[one.name]}

    def _text(self, one):
        wanted, longest = self.options.tokens, self.processor.model_max_length
        if wanted and wanted > longest:
            raise ArgumentError(f"--tokens {wanted}: the model's texts have at most {longest}")
        most = wanted or min(_TOKENS, longest)
        prepared = self.processor(_read_text(one.file), truncation=True, max_length=most, return_tensors="pt")
        count = prepared["input_ids"].shape[-1]
        if count > most:
            added = self.processor.num_special_tokens_to_add()
            raise ArgumentError(
                f"--tokens {most}: expected at least {added}, which the tokenizer adds to each text")
        if count == 0 or (wanted and count < wanted):
            raise ArgumentError(f"{one.file}: {count} tokens" + (f", fewer than --tokens {wanted}" if wanted else ""))
        return prepared

    def _image(self, one):
        try:
            from PIL import Image
        except ImportError as error:
            raise ImportError(f"{error}: images need the package pillow") from error
        with _opened(one.file, mode="rb") as file:
            try:
                picture = Image.open(file).convert("RGB")
            except OSError as error:
                raise FileError(f"{one.file}: is no image that pillow knows") from error
        return self.processor(images=picture, return_tensors="pt")

    def _audio(self, one):
        sound, rate = _sound(one.file)
        wanted = self.processor.sampling_rate
        return self.processor(_resampled(sound, rate, wanted), sampling_rate=wanted, return_tensors="pt")


def _sound(path):
    """(mono, samples a second) of a recording; .wav files of 16 bits need no further package."""
    try:
        import soundfile
    except ImportError:
        return _wave(path)
    with _opened(path, mode="rb") as file:
        try:
            sound, rate = soundfile.read(file, dtype="float32", always_2d=True)
        except soundfile.LibsndfileError as error:
            raise FileError(f"{path}: is no recording: {error.error_string}") from error
    return sound.mean(1), rate


def _wave(path):
    with _opened(path, mode="rb") as file:
        try:
            with wave.open(file) as sound:
                if sound.getsampwidth() != 2:
                    bits = 8 * sound.getsampwidth()
                    raise FileError(f"{path}: {bits} bits a sample: that needs the package soundfile")
                samples = np.frombuffer(sound.readframes(sound.getnframes()), "<i2")
                mono = samples.reshape(-1, sound.getnchannels()).mean(1, dtype=np.float32) / 32768
                return mono, sound.getframerate()
        except (wave.Error, EOFError) as error:
            raise FileError(f"{path}: is no .wav file: {error}; others need the package soundfile") from error


def _resampled(sound, rate, wanted):
    """Sound at another rate by its Fourier series: the frequencies that both rates have."""
    if rate == wanted:
        return sound
    count = max(1, round(len(sound) * wanted / rate))
    return (np.fft.irfft(np.fft.rfft(sound)[:count // 2 + 1], count) * (count / len(sound))).astype(np.float32)


def _facts(options):
    """Metadata of the model that options or its folder give."""
    import transformers

    import torch
    facts = {"licence": options.licence or _card_licence(Path(options.model)), "model": options.model_name,
             "revision": options.revision or _digest(Path(options.model)),
             "software": f"transformers {transformers.__version__}, torch {torch.__version__}"}
    return {key: value for key, value in facts.items() if value}


def _card_licence(folder):
    card = folder / "README.md"
    text = card.read_text(encoding="utf-8-sig", errors="replace") if card.is_file() else ""
    head = re.match(r"---\n(.*?)\n---", text, re.S)
    found = head and re.search(r"^license: *(\S.*?) *$", head.group(1), re.M)
    return found.group(1) if found else None


def _digest(folder):
    """sha256 of the weights of a folder that is no snapshot of a cache, which has a revision."""
    weights = sorted(path for path in folder.glob("*") if path.suffix in (".safetensors", ".bin"))
    if not weights or folder.resolve().parent.name == "snapshots":
        return None
    digest = hashlib.sha256()
    for path in weights:
        with open(path, "rb") as file:
            for block in iter(lambda: file.read(1 << 20), b""):
                digest.update(block)
    return f"sha256:{digest.hexdigest()}"


class _Callable(types.ModuleType):
    """nysbench.capture(...) is capture(...)."""

    def __call__(self, model, inputs, *, layers=None, heads=None, folder=None):
        return capture(model, inputs, layers=layers, heads=heads, folder=folder)


_Callable.__call__.__doc__ = capture.__doc__
if __name__ == "__main__":
    sys.exit(main())
sys.modules[__name__].__class__ = _Callable
