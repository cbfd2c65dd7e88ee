# SPDX-License-Identifier: GPL-3.0-or-later
"""kernel_ridge and nystrom of nysbench.torch beside PyTorch's exact attentions: errors, times and memory on real heads.

    python3 tests/bench/gpu.py FOLDER --sources aitzgorri,greentock,... [--bundle FOLDER] [--minutes 8] [--n 4097,...]
    python3 tests/bench/gpu.py FOLDER --sources ... --errors --minutes 90      # on a CPU

The heads are those of the ViT of experiments/models in exact passes over photographs, in float16 on a GPU and in
float32 on a CPU. `vit_torch.py bundle` writes the bundle for a machine without network. Three files in FOLDER are
written in this order, row by row, until the minutes are over:

gpu_times.csv   milliseconds of a call, the median of 25 after warming up, by CUDA events: of a CUDA graph (ms) and of a
                call as it is (ms_eager), on three layers' heads in turn; more than six heads are copies. bytes: the
                most that a call holds beside its inputs.
gpu_models.csv  the whole ViT with an attention in all layers: ms, ms_eager, bytes, the error of its output, its mean
                cosine.
gpu_errors.csv  |attention - exact| / |exact| of each layer and head, exact in float32, a column a seed.

enlarged: the photograph has fewer pixels than that. Clocks are as found.
"""
import argparse
import csv
import os
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", part) for part in ("experiments/models", "python")]

import torch
from PIL import Image
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

import nysbench.torch
import vit_torch

REPEATS, LAYERS_TIMED, SEEDS = 25, (3, 6, 9), 3
WHERE = "source", "enlarged", "device", "dtype"
COLUMNS = {"times": ("n", "heads", "attention", "ms", "ms_eager", "bytes", *WHERE, "why"),
           "models": ("n", "attention", "ms", "ms_eager", "bytes", "error", "cosine", *WHERE),
           "errors": ("n", *WHERE, "layer", "head", "attention", *(f"error_{seed}" for seed in range(SEEDS)))}


def sdpa(backend):
    def attend(q, k, v):
        with sdpa_kernel(backend):
            return functional.scaled_dot_product_attention(q, k, v)
    return attend


EXACT = {"cudnn": sdpa(SDPBackend.CUDNN_ATTENTION), "flash": sdpa(SDPBackend.FLASH_ATTENTION),
         "efficient": sdpa(SDPBackend.EFFICIENT_ATTENTION)}
APPROXIMATE = {
    "kernel_ridge(landmarks=104)": lambda q, k, v, seed=1: nysbench.torch.kernel_ridge(q, k, v, 104, seed=seed),
    "kernel_ridge(landmarks=192)": lambda q, k, v, seed=1: nysbench.torch.kernel_ridge(q, k, v, 192, seed=seed),
    "nystrom(landmarks=64)": lambda q, k, v, seed=1: nysbench.torch.nystrom(q, k, v, 64),
    "nystrom(landmarks=64, strategy=kmeans)":
        lambda q, k, v, seed=1: nysbench.torch.nystrom(q, k, v, 64, strategy="kmeans", seed=seed)}

# Partly in operations of PyTorch, and so slower: measured last.
NEAR = {"kernel_ridge(landmarks=104, near=auto, grid=auto)":
        lambda q, k, v, seed=1: nysbench.torch.kernel_ridge(q, k, v, 104, near="auto", grid="auto", seed=seed)}


def window_attention(n, width=128):
    """The nearest 2 width + 1 tokens of the raster, by flex_attention."""
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention
    mask = create_block_mask(lambda b, h, i, j: (i - j).abs() <= width, None, None, n, n, device="cuda", _compile=True)
    attend = torch.compile(flex_attention)
    return lambda q, k, v, seed=1: attend(q, k, v, block_mask=mask)


def reference(q, k, v):
    """Exact attention in float32, without n x n in memory."""
    with sdpa_kernel([SDPBackend.EFFICIENT_ATTENTION, SDPBackend.FLASH_ATTENTION, SDPBackend.MATH]):
        return functional.scaled_dot_product_attention(q.float(), k.float(), v.float())


def errors(found, exact):
    """Of each head."""
    return ((found.double() - exact.double()).square().sum((-2, -1)) / exact.double().square().sum((-2, -1))).sqrt()


class Bench:
    def __init__(self, given):
        self.given, self.cuda = given, given.device == "cuda"
        self.dtype = torch.float16 if self.cuda else torch.float32
        self.device = torch.cuda.get_device_name() if self.cuda else "cpu"
        self.model = vit_torch.ViT(vit_torch.read_parameters(given.bundle), given.device, self.dtype)
        self.paths = vit_torch.find_photographs(given.bundle)
        self.end = time.monotonic() + 60 * given.minutes
        os.makedirs(given.folder, exist_ok=True)
        self.files = {part: open(os.path.join(given.folder, f"gpu_{part}.csv"), "w", newline="") for part in COLUMNS}
        for part, columns in COLUMNS.items():
            csv.writer(self.files[part], lineterminator="\n").writerow(columns)
        self.exact = EXACT if self.cuda else {"exact": functional.scaled_dot_product_attention}

    def row(self, part, **values):
        values = dict(device=self.device, dtype=str(self.dtype)[6:], **values)
        csv.writer(self.files[part], lineterminator="\n").writerow([values.get(column, "") for column in COLUMNS[part]])
        self.files[part].flush()

    def over(self, part):
        over = time.monotonic() > self.end
        if over:
            print(f"{part}: the minutes are over, the rest is left out", flush=True)
        return over

    def sources(self, n):
        """Those photographs that have the pixels, else the three largest, enlarged: (source, whether it is)."""
        side = {source: min(Image.open(self.paths[source]).size) for source in self.given.sources}
        large = [source for source in side if side[source] >= 14 * round((n - 1)**0.5)]
        return ([(source, False) for source in large[:8]]
                or [(source, True) for source in sorted(side, key=side.get, reverse=True)[:3]])

    def pixels(self, source, n):
        return vit_torch.read_square(self.paths[source], n, enlarge=True)[None]

    def heads(self, source, n, layers):
        return dict(vit_torch.layer_heads(self.model, self.pixels(source, n), layers))

    def measure_errors(self, n, attentions):
        for source, enlarged in self.sources(n):
            if self.over(f"errors n={n} {source}"):
                return
            for layer, (q, k, v) in vit_torch.layer_heads(self.model, self.pixels(source, n), range(self.model.layers)):
                exact = reference(q, k, v)
                for name, attend in attentions.items():
                    seeds = 1 if name == "nystrom(landmarks=64)" else SEEDS  # segment means draw nothing
                    found = torch.stack([errors(attend(q, k, v, seed), exact)[0] for seed in range(seeds)], -1)
                    for head, each in enumerate(found.tolist()):
                        by_seed = {f"error_{seed}": f"{error:.4g}" for seed, error in enumerate(each)}
                        self.row("errors", n=n, source=source, enlarged=int(enlarged), layer=layer, head=head,
                                 attention=name, **by_seed)

    def milliseconds(self, calls):
        """(of a graph, as it is, bytes): medians over the calls in turn."""
        for call in calls:
            call()
        held = self.bytes_of(calls[0])
        if not self.cuda:
            return "", self.median(calls), held
        eager = self.median(calls)
        try:
            graphs = [self.graph(call) for call in calls]
        except RuntimeError as problem:
            print(f"no graph: {str(problem).splitlines()[0]}", flush=True)
            return "", eager, held
        return self.median(graphs), eager, held

    def median(self, calls):
        times = []
        for i in range(3 + REPEATS):
            if self.cuda:
                start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
                start.record()
                calls[i % len(calls)]()
                stop.record()
                stop.synchronize()
                times.append(start.elapsed_time(stop))
            else:
                start = time.perf_counter()
                calls[i % len(calls)]()
                times.append(1000 * (time.perf_counter() - start))
        return f"{statistics.median(times[3:]):.5g}"

    def bytes_of(self, call):
        if not self.cuda:
            return ""
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        call()
        return torch.cuda.max_memory_allocated() - before

    @staticmethod
    def graph(call):
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(2):
                call()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            call()
        return graph.replay

    def measure_times(self, n, heads, attentions):
        source, enlarged = self.sources(n)[0]
        found = self.heads(source, n, LAYERS_TIMED)
        copies = max(1, heads // self.model.heads)
        inputs = [tuple(x[:, :heads].repeat(1, copies, 1, 1) for x in found[layer]) for layer in LAYERS_TIMED]
        for name, attend in attentions.items():
            if self.over(f"times n={n} heads={heads} {name}"):
                return
            if n * n * heads > 3e10 and name in ("efficient", "flash"):
                continue  # never the fastest there, and takes a minute
            self.time(name, attend, inputs, n=n, heads=heads, source=source, enlarged=int(enlarged))
        del inputs, found
        if self.cuda:
            torch.cuda.empty_cache()

    def time(self, name, attend, inputs, **where):
        try:
            ms, eager, held = self.milliseconds([lambda x=x: attend(*x) for x in inputs])
            self.row("times", attention=name, ms=ms, ms_eager=eager, bytes=held, **where)
            print(f"times  n={where['n']:6d} heads={where['heads']:3d} {name:40s} {ms or '-':>8s} {eager:>8s} ms",
                  flush=True)
        except RuntimeError as problem:  # a backend that has no such kernel, or no memory left
            self.row("times", attention=name, why=str(problem).splitlines()[0][:200], **where)

    def measure_model(self, n):
        source, enlarged = self.sources(n)[0]
        pixels = torch.as_tensor(self.pixels(source, n), device=self.given.device)
        first = next(iter(self.exact))
        exact = self.model(pixels, lambda layer, *x: self.exact[first](*x)).double()
        for name, attend in {first: self.exact[first], **APPROXIMATE}.items():
            if self.over(f"models n={n} {name}"):
                return
            def run(attend=attend):
                return self.model(pixels, lambda layer, *x: attend(*x))
            found = run().double()
            cosine = functional.cosine_similarity(found, exact, -1).mean().item()
            ms, eager, held = self.milliseconds([run])
            self.row("models", n=n, source=source, enlarged=int(enlarged), attention=name, ms=ms, ms_eager=eager,
                     bytes=held, error=f"{errors(found, exact).item():.5g}", cosine=f"{cosine:.6f}")
            print(f"models n={n:6d} {name:40s} {ms or '-':>8s} {eager:>8s} ms, cosine {cosine:.5f}", flush=True)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", help="where the three files go")
    parser.add_argument("--bundle", help="the folder that vit_torch.py bundle wrote")
    parser.add_argument("--minutes", type=float, default=8)
    parser.add_argument("--n", type=vit_torch.lengths, default=[4097, 8282, 16385, 32762, 65537])
    parser.add_argument("--models", type=vit_torch.lengths, default=[4097, 16385, 32762, 50177])
    parser.add_argument("--heads", default="24,6,96,1")
    parser.add_argument("--sources", type=lambda text: text.split(","), required=True, help="test photographs")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--window", action="store_true", help="time flex_attention with a window, which compiles long")
    parser.add_argument("--errors", action="store_true", help="only gpu_errors.csv, which needs no GPU")
    return parser.parse_args()


def main():
    given = arguments()
    torch.backends.cuda.matmul.allow_tf32 = False
    bench = Bench(given)
    print(bench.device, torch.__version__, flush=True)
    with torch.no_grad():
        if given.errors:
            for n in given.n:
                bench.measure_errors(n, APPROXIMATE)
            return 0
        for heads in (int(part) for part in given.heads.split(",")):
            for n in given.n:
                bench.measure_times(n, heads, {**bench.exact, **APPROXIMATE})
        for n in given.models:
            bench.measure_model(n)
        for n in given.n:
            bench.measure_errors(n, APPROXIMATE)
        for n in given.n if given.window else []:
            if n <= 32768:  # its mask is made from n x n entries
                bench.measure_times(n, 24, {"window(257)": window_attention(n)})
        for n in given.n:
            bench.measure_times(n, 24, NEAR)
            bench.measure_errors(n, NEAR)
    return 0


if __name__ == "__main__":
    sys.exit(main())
