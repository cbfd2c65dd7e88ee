# SPDX-License-Identifier: GPL-3.0-or-later
"""usage: python3 experiments/models/serve.py MODEL

MODEL: minilm, vit, whisper, smollm2, antiberty, rxnmapper, minilm-512, vit-1025, vit-4097, vit-8282, smollm2-1024,
smollm2-2048, smollm2-4096, smollm2-8192, vit-regions, whisper-words, smollm2-passkey or smollm2-variable; or one of
these with -test or -replication

Answers questions about a model, a line of JSON each, with a line of JSON (docs/models.md): describe, effect, heads. One
thread. Needs NumPy, what fetch.sh brings, and the package nysbench with its library (make, in this checkout).
"""
import json
import os
import sys

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"  # read once, when NumPy is imported

import packages
import weights
from effect import Diverged, Effects, Refused, names, without_part
from nysbench.serve import take_streams

SECONDS = {"minilm": 0.2, "vit": 0.4, "whisper": 1, "smollm2": 4, "minilm-512": 0.5, "vit-1025": 3, "vit-4097": 25,
           "vit-8282": 90, "smollm2-1024": 10, "smollm2-2048": 20, "smollm2-4096": 50, "smollm2-8192": 240,
           "vit-regions": 4, "whisper-words": 3, "smollm2-passkey": 10, "smollm2-variable": 10,
           "antiberty": 0.1, "rxnmapper": 0.1}  # of a pass, one thread


def describe(name, effects, question):
    model = effects.model
    return {"model": model.name, "layers": model.layers, "heads": model.heads, "key_heads": model.key_heads,
            "n": model.n, "d": model.d, "dv": model.d, "causal": model.causal, "sources": effects.sources,
            "seconds": SECONDS[without_part(name)]}


def effect(name, effects, question):
    try:
        found = effects.effect(effects.sources[question["source"]], question["attention"], question["layers"],
                               question["seed"], question["trial"], question.get("plugins", ()))
    except Diverged as why:
        return {"diverged": str(why)}
    except Refused as why:
        return {"skipped": str(why)}
    del found["errors_after"]  # no number, as a column is
    return found


def heads(name, effects, question):
    found = effects.heads(effects.sources[question["source"]], question["layers"])
    weights.write_safetensors(question["file"], found)
    return {}


QUESTIONS = {"describe": describe, "effect": effect, "heads": heads}


def answer(name, effects, line):
    """The answer to a line, a line of JSON; {"error": why} if there is none, or one with NaN in it."""
    try:
        question = json.loads(line)
        if question.get("do") not in QUESTIONS:
            return json.dumps({"error": f"do: {question.get('do')}; allowed: {', '.join(QUESTIONS)}"})
        return json.dumps(QUESTIONS[question["do"]](name, effects, question), allow_nan=False)
    except Exception as error:  # whatever it is, the next question may be answered
        return json.dumps({"error": f"{type(error).__name__}: {error}"})


def main(words):
    """The exit status."""
    if len(words) != 1 or words[0] not in names():
        print(__doc__, file=sys.stderr)
        return 2
    questions, answers = take_streams()
    try:
        effects = Effects(words[0])
    except packages.NotFetched as error:
        print(f"serve.py: {error}", file=sys.stderr)
        return 2
    print('{"ready": 1}', file=answers, flush=True)
    for line in questions:
        print(answer(words[0], effects, line), file=answers, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
