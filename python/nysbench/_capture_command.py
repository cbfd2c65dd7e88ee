# SPDX-License-Identifier: GPL-3.0-or-later
"""The command `python -m nysbench.capture`: heads of a model that is in a folder, from texts, images and recordings."""
from __future__ import annotations

import argparse
import contextlib
import csv
import hashlib
import inspect
import io
import os
import re
import sys
import wave
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ._arguments import ArgumentError, Error, FileError
from ._transformers import needs
from .capture import Store, capture, save

TOKENS = 512  # of a text, if nothing is said
KINDS = ("text", "image", "audio")
COLUMNS = ("kind", "file", "name", "source", "licence")


@dataclass
class Input:
    """A file to capture from; source, licence: for people."""
    kind: str
    file: Path
    name: str
    source: str = ""
    licence: str = ""


def main(arguments=None):
    """Exit status: 0, or after a message 2, or 130 if interrupted."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        inputs = _inputs(options)
        for line in _capture(options, inputs):
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
    for kind in KINDS:
        add(f"--{kind}", nargs="+", action="extend", default=[], metavar="[NAME=]FILE",
            help=f"{what[kind]}; NAME: the file's stem if not given")
    add("--inputs", metavar="TABLE.csv",
        help=f"a table of inputs with columns {', '.join(COLUMNS)}; the last three may be missing")
    add("--layers", type=_numbers, metavar="LIST", help="comma-separated numbers (default: all)")
    add("--heads", type=_numbers, metavar="LIST", help="comma-separated numbers of query heads (default: all)")
    add("--tokens", type=_count, metavar="N",
        help=f"a text is cut to N tokens, and a shorter one is an error (default: {TOKENS}, or as many as it has); of "
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
    found = [_named(kind, text, options) for kind in KINDS for text in getattr(options, kind)]
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
    return Input(kind, Path(file), name, licence=options.source_licence)


def _table(path, options):
    found, reader = [], csv.DictReader(io.StringIO(_read_text(path), newline=""))
    try:
        columns, rows = reader.fieldnames or [], [(reader.line_num, row) for row in reader]
    except csv.Error as error:
        raise FileError(f"{path}, line {reader.line_num}: is no CSV: {error}") from error
    if set(columns) - set(COLUMNS) or {"kind", "file"} - set(columns):
        raise ArgumentError(f"{path}: columns {', '.join(map(repr, columns))}: allowed are {', '.join(COLUMNS)}, "
                            "the first two must be there")
    for line, row in rows:
        if None in row or None in row.values() or row["kind"] not in KINDS:
            raise ArgumentError(f"{path}, line {line}: expected a kind ({', '.join(KINDS)}) and a value "
                                "for each column")
        where = path.parent / row["file"]
        found.append(Input(row["kind"], where, row.get("name") or where.stem, row.get("source", ""),
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


def _capture(options, inputs):
    """Writes the files; yields a line about each."""
    for path in sorted(Path(options.model).glob("*")):
        if path.is_file():
            _opened(path, mode="rb").close()
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
        most = wanted or min(TOKENS, longest)
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
