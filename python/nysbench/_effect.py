# SPDX-License-Identifier: GPL-3.0-or-later
"""What attentions do to a Hugging Face model's output: the study `effect`, with a model of this session."""
from __future__ import annotations

import hashlib
import os
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ._arrays import flag
from ._attention_interface import needs, require_model
from ._callbacks import Callback
from ._errors import ArgumentError, NumericError
from ._experiment import run_served
from ._head_files import quoted, write
from ._layers import with_strategy
from ._result import Run
from ._session import BRIDGE
from .capture import capture
from .patching import patch
from .serve import line_of, printable

_KEPT = 2  # exact passes that are kept


def effect(model: Any, inputs: Mapping[str, Any] | Sequence[Mapping[str, Any]],
           attentions: str | Callable | Sequence[str | Callable], *, layers: str | int | Sequence[str | int] = ("all",),
           sources: Sequence[str] | None = None, trials: int = 1, strategy: Callable | None = None,
           folder: str | os.PathLike | None = None, jobs: int | None = None, progress: bool = True, **keys: Any) -> Run:
    """Replaces the attention of a model's layers, and measures what becomes of its output: a Run of the study `effect`.

    >>> run = nysbench.effect(model, inputs, ["nystrom(strategy=[uniform, kmeans], landmarks=8)"], progress=False)
    >>> len(nysbench.row_arrays(run.folder)["model_error"]) == 2 * len(inputs)
    True

    model: a module of transformers in evaluation mode, as for `capture`.
    inputs: a list of the arguments of its forward, such as {"input_ids": ...}, of equal numbers of tokens; each is a source.
    attentions: specs, see names("attention"), and functions and modules, as for run. strategy: a function that picks the
        landmarks of the specs, as for attention. layers: a list of "all", "half" (every other) or numbers of layers; each choice
        is measured by itself. sources: names of the inputs. keys: further keys of the config, such as claims.
    folder, jobs, progress: as for `run`.

    Columns of run.rows: model_error, |H - H_exact|_F / |H_exact|_F of the last hidden states; embedding_distance, 1 - cosine of
    their means over tokens (models without a mask); perplexity_ratio and kl (nats) of the next tokens (causal language
    models); error, output_error and so on of the same heads. Raises as `run` and `capture` do.
    """
    progress = flag("progress", progress)
    require_model(model)
    inputs = [inputs] if isinstance(inputs, Mapping) else list(inputs)
    names = [f"input-{i}" for i in range(len(inputs))] if sources is None else ["-".join(str(one).split()) for one in sources]
    if len(names) != len(inputs):
        raise ArgumentError(f"sources: {len(names)} names for {len(inputs)} inputs")
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
            given = [_labelled(with_strategy(one, picked), with_strategy(one, name)) if isinstance(one, str) else one for one in given]
        return {"study": "effect", "problems": problem, "attentions": given, "trials": trials, **keys}

    return run_served(make_keys, {name: served}, folder, jobs, progress)


def _labelled(spec, label):
    return spec if "label" in label else f"{spec[:-1]}, label={quoted(label)})"


def _digest(model, inputs, names):
    """Of all that the answers depend on: parameters, buffers, inputs."""
    found = hashlib.sha256(repr((type(model).__name__, names, str(getattr(model, "config", "")))).encode())
    for name, tensor in [*model.state_dict().items(), *(pair for one in inputs for pair in one.items())]:
        found.update(name.encode())
        value = np.asarray(tensor.detach().cpu().float().numpy() if hasattr(tensor, "detach") else tensor)
        found.update(np.ascontiguousarray(value).tobytes())
    return found.hexdigest()[:16]


class _Model:
    """Answers the questions of a live_model (docs/models.md)."""

    def __init__(self, model, inputs, names):
        self.model, self.inputs, self.names = model, inputs, names
        self.kept = OrderedDict()  # by source: its heads by layer, and its exact outputs
        self.functions, self.callbacks = None, {}  # of the experiment; strategies among them, by spec

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
        hidden = getattr(found, "last_hidden_state", None)
        hidden = found.hidden_states[-1] if hidden is None else hidden
        logits = getattr(found, "logits", None)
        foretold = logits is not None and "input_ids" in self.inputs[source] and logits.shape[:2] == hidden.shape[:2]
        return (hidden[0].double().cpu().numpy(),
                torch.log_softmax(logits[0].double(), -1).cpu().numpy() if foretold else None)

    def describe(self, _):
        layers, _ = self.exact(0)
        one = layers[min(layers)]
        return {"model": one.metadata.get("model", type(self.model).__name__), "layers": len(layers), "heads": len(one.heads),
                "key_heads": len(one.key_heads), "n": one.q.shape[-2], "d": one.q.shape[-1], "dv": one.v.shape[-1],
                "causal": one.causal, "sources": self.names}

    def heads(self, question):
        layers, _ = self.exact(question["source"])
        parts = {name: np.concatenate([getattr(layers[i], name) for i in question["layers"]]) for name in "qkv"}
        write(question["file"], parts, {})
        return {}

    def attention(self, spec):
        """What a row's spec means to this process: a function, or the spec with a callback for each function in it."""
        for text, found in self.functions.found.items():
            if spec == text:
                return found
            if text in spec:
                if text not in self.callbacks:
                    self.callbacks[text] = Callback(found)
                spec = spec.replace(text, self.callbacks[text].spec)
        return spec

    def effect(self, question):
        layers, (hidden, foretold) = self.exact(question["source"])
        attention = self.attention(question["attention"])
        with patch(self.model, attention, question["layers"], threads=1, seed=question["seed"], trial=question["trial"],
                   check=False, plugins=question.get("plugins", ()),
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
