# SPDX-License-Identifier: GPL-3.0-or-later
"""usage: python3 -m nysbench.serve FILE.py [FUNCTION] [NAME=VALUE ...]

Serves the picks of a strategy in Python, the cores of a function of F, A or B, or the outputs of a function of q, k and
v, for command(run="...", serve=true). FUNCTION may be left out where the file has only one strategy. A VALUE is a
number, true, false or a text. What the function prints goes to standard error, the end of which stands in the reason of
a failed row. Needs only NumPy.

docs/plugins.md has the protocol, for servers in other languages.
"""
import ast
import contextlib
import json
import math
import numbers
import os
import pickle
import sys
import time
import traceback
from typing import Any

import numpy as np

from ._functions import REQUIRED, Groups, Mistake, NotFinite, Strategy, article, method, module_of, without_exit

VERSION = 1  # of the protocol
WITHOUT_MASK = ("has no causal form, and the layer is causal: let it name the parameter causal, or say "
                "nysbench.attention_function(causal=True) if it keeps to the mask by itself")
LONGEST_DEVICE = 80


def load(path):
    """What a Python file defines, by name. Its folder is the first in sys.path, as if Python had been started with it.

    Compiled anew each time: Python takes a file that has changed within a second, and not in size, for the one that it
    has compiled before.
    """
    if not os.path.isfile(path):
        raise Mistake(f"there is no file {path}")
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    module = type(sys)("__served__")
    module.__file__ = path
    sys.modules[module.__name__] = module
    with open(path, "rb") as source, without_exit():
        exec(compile(source.read(), path, "exec"), vars(module))
    return vars(module)


def load_copy(path):
    """The function of a file that cloudpickle has written."""
    with open(path, "rb") as file:
        try:
            copied = pickle.load(file)
        except Exception as error:  # whatever the function's modules raise
            raise Mistake(
                f"{path}: the copy of a function cannot be read: {line_of(error)}; if another version of nysbench, "
                "of Python or of a package has written it, call nysbench.run again in a session that has the function"
            ) from None
    return method(copied)


def find(names, wanted, path):
    """The strategy of that name, which may be a plain function; None: the file's only one."""
    if wanted is not None:
        found = names.get(wanted)
        if not callable(found):
            raise Mistake(f"{path}: has no function {wanted}")
        try:
            return method(found)
        except (TypeError, ValueError) as error:
            raise Mistake(f"{path}: {error}") from None
    found = {id(value): (name, value) for name, value in names.items() if isinstance(value, Strategy)}
    if len(found) != 1:
        known = ", ".join(name for name, _ in found.values())
        raise Mistake(
            f"{path} has several marked functions: name one after the file ({known})" if known else
            f"{path} has no function marked @nysbench.strategy, @nysbench.core or @nysbench.attention_function")
    return next(iter(found.values()))[1]


def value_of(text):
    """A number, true or false, or else the text."""
    if text in ("true", "false"):
        return text == "true"
    for read in int, float:
        try:
            return read(text)
        except ValueError:
            continue
    return text


def check_served(words):
    """Without serve=true, command() gives the folder of a pick as the last word."""
    if os.path.isfile(os.path.join(words[-1], "request.json")):
        raise Mistake(f"'{words[-1]}' is not NAME=VALUE; command(...) needs serve=true for nysbench.serve")


def options_of(strategy, words):
    """The options given as NAME=VALUE, by name."""
    options = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals:
            raise Mistake(f"'{word}': expected NAME=VALUE")
        if name not in strategy.options:
            raise Mistake(f"{strategy.__name__} has no option {name}; options: {', '.join(strategy.options) or 'none'}")
        if name in options:
            raise Mistake(f"the option {name} is given twice")
        options[name] = value_of(text)
    missing = [name for name, default in strategy.options.items() if default is REQUIRED and name not in options]
    if missing:
        raise Mistake(f"{strategy.__name__} needs a value for {', '.join(missing)}")
    return options


def given(request, read):
    """The values of _functions.GIVEN, or of TO_CORES, for a request; read: an array by its name."""
    values: dict[str, Any] = {"rng": np.random.default_rng(request["seed"]),
                              **{name: request[name] for name in ("m", "n", "seed", "causal")}}
    if request.get("do") == "core":
        return {**values, **{name: read(name) for name in "FAB"}}
    side = request["side"]
    values.update(side=side, points=None if side == "both" else read("points"), queries=None, keys=None)
    if side == "both":
        values.update(queries=read("queries"), keys=read("keys"))
    elif side == "joint" and request["d"] % 2 == 0:  # [q; k]
        values["queries"], values["keys"] = np.hsplit(values["points"], 2)
    elif side in ("queries", "keys"):
        values[side] = values["points"]
    return values


def read_from(folder):
    """Reads arrays of a request's folder, by their names."""

    def read(name):
        array = np.load(os.path.join(folder, name + ".npy"))
        array.setflags(write=False)
        return array

    return read


def array_of(returned):
    """What a function has returned as an array: of objects, where that has no numbers."""
    try:
        return np.asarray(returned)
    except ValueError:  # lists of different lengths
        return np.empty(0, object)


def came(returned):
    """What a function has returned, for messages: "None", "'text'", "ndarray (float32) of shape (2, 3)"."""
    if returned is None or isinstance(returned, (bool, int, float, complex, str, bytes)):
        return f"{returned!r:.60}"
    kind, array = type(returned).__name__, returned if hasattr(returned, "shape") and hasattr(
        returned, "dtype") else array_of(returned)
    if array is not returned and array.dtype == object:
        return kind
    return f"{kind} ({array.dtype}) of shape {tuple(array.shape)}"


def picks_of(result, request, alone):
    """What is to be saved: integers or floats, of a shape and with values that are allowed.

    alone: they serve both sides of the pairing `both`, which points cannot.
    """
    groups = isinstance(result, Groups)
    if groups:
        result = result.labels
    array = array_of(result)
    if array.dtype.kind not in "iuf":
        raise Mistake(f"returned {came(result)}; expected integers, floats or nysbench.Groups")
    check_shape(array, groups, request, alone)
    array = array.astype(np.float64 if array.dtype.kind == "f" else np.int64)
    (check_points if array.dtype.kind == "f" else check_groups if groups else check_tokens)(array, request)
    return array


def check_shape(array, groups, request, alone):
    m, n, d = (request[name] for name in "mnd")
    allowed: dict[str, tuple[int, ...]] = {"integers": (n if groups else m,)}
    if not (groups or alone):
        allowed["floats"] = (m, d)
    kind = "floats" if array.dtype.kind == "f" else "integers"
    if allowed.get(kind) == array.shape:
        return
    meanings = {"integers": "the group of each token" if groups else f"tokens from 0 to {n - 1}", "floats": "points"}
    expected = ", or ".join(f"{name} of shape {shape}, {meanings[name]}"
                            for name, shape in allowed.items())
    raise Mistake(f"returned {'groups, ' if groups else ''}{kind} of shape {array.shape}; "
                  f"allowed are {expected}")


def check_points(points, _):
    if not np.isfinite(points).all():
        row, column = np.argwhere(~np.isfinite(points))[0]
        raise NotFinite(
            f"returned points that are not finite: coordinate {column} of landmark {row} is {points[row, column]}")


def check_tokens(tokens, request):
    wrong = np.flatnonzero((tokens < 0) | (tokens >= request["n"]))
    if len(wrong):
        raise Mistake(
            f"returned landmark {wrong[0]} as token {tokens[wrong[0]]}; allowed are tokens from 0 to {request['n'] - 1}"
        )
    order = np.argsort(tokens, kind="stable")
    again = np.flatnonzero(np.diff(tokens[order]) == 0)
    if len(again):
        first, second = order[again[0]], order[again[0] + 1]
        raise Mistake(
            f"returned token {tokens[first]} twice, as landmarks {first} and {second}; each landmark needs a token of "
            "its own"
        )


def check_groups(labels, request):
    wrong = np.flatnonzero((labels < 0) | (labels >= request["m"]))
    if len(wrong):
        raise Mistake(
            f"returned token {wrong[0]} in group {labels[wrong[0]]}; allowed are groups from 0 to {request['m'] - 1}")
    empty = np.flatnonzero(np.bincount(labels, minlength=request["m"]) == 0)
    if len(empty):
        raise Mistake(f"returned groups of which {empty[0]} is empty; each of the {request['m']} groups needs a token")


def results_of(result, request):
    """"picks" or "groups", and an array for each side: two with the pairing `both`, unless the first serves both."""
    both = request["side"] == "both"
    two = both and isinstance(result, tuple) and len(result) == 2
    results = result if two else (result,)
    kinds = {isinstance(one, Groups) for one in results}
    if len(kinds) > 1:
        raise Mistake("returned groups of one side and picks of the other")
    return "groups" if kinds.pop() else "picks", [picks_of(one, request, both and not two) for one in results]


def leave(result, request):
    """Writes the result into the request's folder; what it is: "picks" or "groups"."""
    kind, arrays = results_of(result, request)
    for file, array in zip(("query_picks", "key_picks") if len(arrays) == 2 else ("picks",), arrays):
        np.save(os.path.join(request["folder"], file + ".npy"), array)
    return kind


def leave_outputs(found, options, request):
    """Writes an attention's outputs into the request's folder; the answer."""
    arrays = [_mapped(os.path.join(request["folder"], name + ".npy")) for name in "qkv"]
    outputs, seconds, device = attend_arrays(found, *arrays, causal=request["causal"], seed=request["seed"],
                                             options=options, timed=request["timed"] == "true")
    np.save(os.path.join(request["folder"], "out.npy"), outputs)
    said = {"seconds": seconds, "device": device}
    return {"done": "attention", **{name: value for name, value in said.items() if value is not None}}


def _mapped(path):
    """The array of a file of a question: mapped, which costs no copy, and copied on writing, since PyTorch takes no
    array that is read-only. NumPy's own reader takes ten times as long, for headers of any age."""
    with open(path, "rb") as file:
        start = int.from_bytes(file.read(10)[8:], "little") + 10
        header = ast.literal_eval(file.read(start - 10).decode())
    return np.asarray(np.memmap(path, header["descr"], "c", start, header["shape"]))


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
    returned, outputs = outputs, outputs if hasattr(outputs, "detach") else array_of(outputs)
    if tuple(outputs.shape) != expected or not _holds_floats(outputs):
        raise Mistake(f"returned {came(returned)}; expected real numbers of shape {expected}: heads, tokens and the "
                      "dimension of v")
    if str(getattr(outputs, "device", "")) == "meta":
        raise Mistake("returned a tensor on the device meta, which has no numbers; expected one on the CPU or a GPU")
    return outputs, seconds, device or _device_of(outputs)


def attend_arrays(found, q, k, v, **how):
    """The same of NumPy arrays, to a float32 array."""
    if found.tensors:
        q, k, v = (_tensor(x, found.function) for x in (q, k, v))
    else:
        for x in (q, k, v):
            x.setflags(write=False)
    outputs, seconds, device = attend(found, q, k, v, **how)
    if hasattr(outputs, "detach"):
        outputs = outputs.detach().float().cpu().numpy()
    return np.ascontiguousarray(outputs, dtype=np.float32), seconds, device


def attend_tensors(found, q, k, v, *, causal, seed):
    """The outputs (batch, heads, n, dv) of one that takes tensors, for tensors (batch, heads, n, ...); with
    gradients."""
    outputs = [attend(found, *one, causal=causal, seed=seed, gradients=True)[0] for one in zip(q, k, v)]
    return sys.modules["torch"].stack([sys.modules["torch"].as_tensor(one, device=q.device) for one in outputs])


def _tensor(x, function):
    import torch
    tensor, module = torch.from_numpy(x if x.flags.writeable else x.copy()), module_of(
        getattr(function, "__self__", function))
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
        if isinstance(number, bool) or not isinstance(number, numbers.Real) or not 0 <= float(number) < math.inf:
            raise Mistake(f"returned {came(seconds)} beside its outputs; expected seconds, a number of 0 or more")
        seconds = float(number)
    if device is not None and (not isinstance(device, str) or len(device.encode()) > LONGEST_DEVICE
                               or not device.isprintable()):
        raise Mistake(f"returned the device {device!r:.100}; expected a text of at most {LONGEST_DEVICE} bytes in "
                      "one line")
    return outputs, seconds, device


def _holds_floats(outputs):
    return outputs.is_floating_point() if hasattr(outputs, "is_floating_point") else outputs.dtype.kind in "fiu"


def results_left(folder):
    """What is in a request's folder of a function's results, by name."""
    paths = {name: os.path.join(folder, name + ".npy") for name in ("picks", "query_picks", "key_picks", "X", "out")}
    return {name: np.load(path) for name, path in paths.items() if os.path.exists(path)}


def core_of(result, m):
    """X (m, m), float64."""
    array = array_of(result)
    if array.dtype.kind not in "iuf" or array.shape != (m, m):
        raise Mistake(f"returned {came(result)}; expected real numbers of shape ({m}, {m})")
    return array.astype(np.float64)


def printable(text):
    """A text in one line that every reader of JSON takes: what has no glyph, such as NUL or half a surrogate pair, is
    written as Python writes it in a string."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in " ".join(text.split()))


def line_of(error):
    """An exception in one line."""
    try:
        text = str(error)
    except Exception as another:  # of the user's __str__
        text = f"has no text: its __str__ raised {type(another).__name__}"
    return printable(f"{type(error).__name__}: {text}")


def told(error, path):
    """An exception in one line, with the last place in the user's file that it came through."""
    if isinstance(error, Mistake):
        return printable(str(error))
    text = line_of(error)
    places = [place for place in traceback.extract_tb(error.__traceback__) if place.filename == path]
    if not places:
        return text[:300]
    line = f": {places[-1].line}" if places[-1].line else ""
    return f"{text[:300]} ({printable(os.path.basename(path))}, line {places[-1].lineno}{printable(line)[:100]})"


def check_given(strategy, values, side):
    """A function that names some of points, queries and keys gets these; one that names all gets None for some."""
    named = [name for name in ("points", "queries", "keys") if name in strategy.given]
    missing = [name for name in named if values[name] is None]
    if missing and len(named) < 3:
        there = [name for name in ("points", "queries", "keys") if values[name] is not None]
        raise Mistake(f"it takes {' and '.join(named)}, but with pairing {side} there are "
                      f"{' and '.join(there)} alone")


def done(strategy, options, request):
    """Leaves what the function makes of a request in its folder; the answer."""
    kind = request.get("do", "strategy")
    if strategy.kind != kind:
        raise Mistake(f"it is {article(strategy.kind)}, but is used as {article(kind)}")
    if strategy.kind == "attention":
        return leave_outputs(strategy, options, request)
    values = given(request, read_from(request["folder"]))
    if strategy.kind == "core":
        np.save(os.path.join(request["folder"], "X.npy"), core_of(strategy.pick(values, options), request["m"]))
        return {"done": "core"}
    check_given(strategy, values, request["side"])
    return {"done": leave(strategy.pick(values, options), request)}


def greeting(name):
    """What a server says when it can answer; name: what messages call it."""
    longest = 80
    return {"ready": VERSION, "name": printable(name).encode()[:longest].decode(errors="ignore")}


def answer(strategy, options, request, path):
    """What the function makes of a request, or why it made nothing."""
    try:
        return done(strategy, options, request)
    except Exception as error:
        return {"error": told(error, path)}


def take_streams():
    """Questions and answers get files of their own: what the user's code reads is empty, what it prints goes to
    standard error."""
    questions, answers = os.fdopen(os.dup(0), "r", encoding="utf-8"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    return questions, answers


def say(answers, what):
    sys.stdout.flush()
    print(json.dumps(what), file=answers, flush=True)


def main(words):
    """The exit status."""
    if not words or words[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    questions, answers = take_streams()
    path = words[0]
    named = len(words) > 1 and "=" not in words[1]
    try:
        check_served(words)
        strategy = load_copy(path) if path.endswith(".pkl") else find(load(path), words[1] if named else None, path)
        options = options_of(strategy, words[2 if named else 1 :])
    except Exception as error:  # the user's file may raise anything
        print(f"nysbench.serve: {told(error, path)}", file=sys.stderr)
        return 2
    say(answers, greeting(strategy.__name__))
    for line in questions:
        say(answers, answer(strategy, options, json.loads(line), path))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
