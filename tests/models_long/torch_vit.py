# SPDX-License-Identifier: GPL-3.0-or-later
"""The ViT in PyTorch (experiments/models/vit_torch.py) against the one in NumPy, and its two commands.

usage: torch_vit.py BUILD_MODELS WORK_FOLDER

BUILD_MODELS is what fetch.sh made. Runs in a Python that has PyTorch, NumPy and Pillow. Prints TAP.
"""
import contextlib
import io
import os
import sys

os.environ["NYSBENCH_MODELS"] = os.path.abspath(sys.argv[1])
WORK = os.path.abspath(sys.argv[2])
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path[:0] = [os.path.join(ROOT, folder) for folder in ("experiments/models", "python")]

import numpy as np
import torch

import effect
import read
import vit_torch
import weights
from tap import ROUNDING, Tap

TAP = Tap()
PARTS = "qkv"
HALF = 1e-2  # 2^13 times the unit of single precision, and each of 12 layers adds its own


def command(*words):
    """(status, what it printed), of a command; the status is a text where it ends by an error."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            status = vit_torch.main([str(word) for word in words])
        except SystemExit as end:
            status = end.code
    return status, printed.getvalue()


def check_model(numpy_model, model):
    """Heads and output of two photographs, side by side, are those of the passes in NumPy, one by one."""
    sources = ["astronaut", "rigging"]
    pixels = np.stack([numpy_model.inputs[source] for source in sources])
    seen = {}

    def attention(layer, *qkv):
        seen[layer] = qkv
        return vit_torch.exact_attention(layer, *qkv)

    output = model(pixels, attention)
    TAP.check(list(seen) == list(range(12)), "the attention is asked in each layer", list(seen))
    for at, source in enumerate(sources):
        TAP.close(f"{source}: output", output[at].numpy(), numpy_model.exact(source).output, ROUNDING)
        for layer in (0, 6, 11):
            truth = numpy_model.heads(source, [layer])
            for part, x in zip(PARTS, seen[layer]):
                TAP.close(f"{source} layer {layer}: {part}", x[at].numpy(), truth[part], ROUNDING)
    picked = dict(vit_torch.layer_heads(model, pixels, [0, 6]))
    TAP.check(list(picked) == [0, 6] and all(torch.equal(x, y) for layer in picked for x,
                                             y in zip(picked[layer], seen[layer])),
              "layer_heads has the same q, k and v")
    zero = model(pixels, lambda layer, q, k, v: torch.zeros_like(q))
    TAP.close("an attention that gives nothing", zero.numpy(), output.numpy(), 10, 0.1)


def check_commands(numpy_model, parameters):
    """Heads of a longer photograph, from the packages and from a bundle in half precision; what is refused."""
    source, n, layer = "life", 1025, 6
    truth = numpy_model.heads(source, [layer])
    asked = "--n", n, "--layers", layer, "--sources", source
    bundle = os.path.join(WORK, "bundle")
    status, printed = command("bundle", bundle, "--sources", source)
    TAP.check(status == 0 and sorted(os.listdir(bundle)) == ["life.jpg", vit_torch.WEIGHTS], "a bundle", printed)
    rounded = vit_torch.read_parameters(bundle)
    worst = max(float((np.abs(rounded[name] - x) - 2.0**-11 * np.abs(x)).max()) for name, x in parameters.items())
    TAP.check(rounded.keys() == parameters.keys() and worst <= 2.0**-25, "its parameters, to half precision", worst)
    TAP.check(np.array_equal(vit_torch.read_square(vit_torch.find_photographs(bundle)[source], n),
                             numpy_model.inputs[source]),
              "its photograph is the input that prepare.py made")
    for name, more, bounds in (("from the packages", (), (ROUNDING, 0)),
                               ("from the bundle", ("--bundle", bundle), (HALF, 1e-4))):
        folder = os.path.join(WORK, name)
        status, printed = command("heads", folder, *asked, "--device", "cpu", *more)
        path = os.path.join(folder, f"vit-{n}_{source}_L{layer}.safetensors")
        TAP.check(status == 0 and printed == path + "\n", f"heads {name}", printed)
        for part, x in weights.safetensors(path).items():
            TAP.close(f"{part} {name}", x, truth[part], *bounds)
    for name, words, says in (
            ("no square", ("heads", WORK, "--n", 1024, "--layers", 6, "--sources", source), "1024: "),
            ("no layer", ("heads", WORK, "--n", n, "--layers", 12, "--sources", source), "12: "),
            ("no photograph", ("heads", WORK, *asked[:-1], "lief"), "lief: "),
            ("not in the bundle", ("heads", WORK, *asked[:-1], "garden", "--bundle", bundle), "garden: ")):
        status, printed = command(*words)
        TAP.check(status == 2 and says in printed, f"refused: {name}", printed)
    path = vit_torch.find_photographs(bundle)[source]
    try:
        vit_torch.read_square(path, 65537)
        TAP.check(False, "a photograph of too few pixels is refused", "no error")
    except read.InputError as error:
        TAP.check("3584" in str(error), "a photograph of too few pixels is refused", error)
    TAP.check(vit_torch.read_square(path, 65537, enlarge=True).shape == (3584, 3584, 3), "or enlarged")


def main():
    parameters = vit_torch.read_parameters()
    model, numpy_model = vit_torch.ViT(parameters), effect.Effects("vit")
    check_model(numpy_model, model)
    pixels = numpy_model.inputs["astronaut"]
    half = vit_torch.ViT(parameters, dtype=torch.float16)(pixels[None])[0]
    TAP.check(half.dtype == torch.float16, "half precision stays so", half.dtype)
    TAP.close("astronaut: output in half precision", half.float().numpy(), numpy_model.exact("astronaut").output, HALF,
              1e-5)
    check_commands(effect.Effects("vit-1025"), parameters)
    return TAP.finish()


if __name__ == "__main__":
    sys.exit(main())
