# SPDX-License-Identifier: GPL-3.0-or-later
"""Forward passes of PyTorch's attentions and of nysbench's, in turns.

    forward_peer.py FORWARD TIMES.csv RATIOS.csv [--sizes 512,...] [--heads 1,8] [--threads 2] [--seconds 10]
        [--patience 60] [--clock wall|cpu] [--append]

FORWARD is build/bench/forward; --append adds to the files. `malloc` is "kept" if the environment tells malloc to keep
what is freed (MALLOC_MMAP_MAX_=0), as nysbench does, "installed" otherwise; PyTorch depends much on it. One input,
heads of d = 64, normal numbers, float32; 64 landmarks and six steps.

    torch naive        softmax(Q K'/sqrt d) V, as written
    torch sdpa         scaled_dot_product_attention
    torch nystrom      the arithmetic of Nystromformer, F (X (B V)), in the fewest operations of PyTorch
    hugging face       NystromformerSelfAttention of transformers, projections and convolution left out
    lucidrains         NystromAttention of nystrom-attention, projections and convolution left out
    naive, streamed, nystrom    nysbench's
    sgemm              one product of order 1024 in each thread: `share` is a method's multiplications at that rate
                       over its time, the core's included, exponentials not

In each round each method has its turn, the order drawn anew: a pass that is not timed, then one that is, or as many as
fill 5 ms where it takes less than 1 ms; of methods that take 0.25 s and more only the first pass of all is not timed.
Rounds in which other processes keep more than 0.1 CPUs busy do not count, unless there are not even 5 others, and for
a quieter machine it waits, --patience seconds in all for each n and number of heads. The rounds end when all medians
are known to 2 % (half the interval of order statistics that covers a median with 95 %), or after --seconds; five times
that if the machine is busy. `others` is the CPUs that others keep busy in the worst round that counts. A ratio is the
median over rounds, with the least and the largest. A method that would need more than 4 GB for S is left out.
--clock cpu is for a machine that is never quiet: times are of the two processes' work, with --threads 1; all rounds
count.
"""
import argparse
import csv
import datetime
import itertools
import os
import platform
import random
import statistics
import subprocess
import sys
import time

import torch
import torch.nn.functional as F
import transformers
from importlib.metadata import version
from nystrom_attention import NystromAttention
from transformers import NystromformerConfig
from transformers.models.nystromformer.modeling_nystromformer import NystromformerSelfAttention

D, LANDMARKS, STEPS, ORDER = 64, 64, 6, 1024
MOST_BYTES = 4e9
QUIET = 0.1
clock = time.perf_counter
OURS = {"naive": "naive", "streamed": "streamed",
        "nystrom": f"nystrom(strategy=segment_means, landmarks={LANDMARKS}, core=iterative(steps={STEPS}))"}
RATIOS = [("torch nystrom", "nystrom"), ("hugging face", "nystrom"), ("lucidrains", "nystrom"),
          ("torch sdpa", "streamed"), ("torch naive", "naive"), ("naive", "streamed"), ("naive", "nystrom"),
          ("streamed", "nystrom"), ("torch sdpa", "nystrom"), ("torch sdpa", "torch nystrom")]


class Given(torch.nn.Module):
    """In the place of a projection: what it would give."""

    def __init__(self, value):
        super().__init__()
        self.value = value

    def forward(self, _):
        return self.value


def merged(x):
    """(1, heads, n, d) as (1, n, heads d)."""
    return x.transpose(1, 2).reshape(1, x.shape[2], -1)


def apart(y, heads):
    return y.reshape(1, y.shape[1], heads, -1).transpose(1, 2)


def naive(q, k, v):
    return torch.softmax(q @ k.transpose(-1, -2) / D**0.5, dim=-1) @ v


def nystrom(q, k, v):
    q = q * D**-0.5
    means = [x.unflatten(-2, (LANDMARKS, -1)).mean(dim=-2) for x in (q, k)]
    f = torch.softmax(q @ means[1].transpose(-1, -2), dim=-1)
    a = torch.softmax(means[0] @ means[1].transpose(-1, -2), dim=-1)
    b = torch.softmax(means[0] @ k.transpose(-1, -2), dim=-1)
    sums = [a.sum(dim=i).amax(dim=-1)[..., None, None] for i in (-1, -2)]
    x, identity = a.transpose(-1, -2) / (sums[0] * sums[1]), torch.eye(LANDMARKS)
    for _ in range(STEPS):
        ax = a @ x
        x = 0.25 * x @ (13 * identity - ax @ (15 * identity - ax @ (7 * identity - ax)))
    return f @ (x @ (b @ v))


def hugging_face(q, k, v):
    heads, n = q.shape[1:3]
    config = NystromformerConfig(hidden_size=heads * D, num_attention_heads=heads, num_landmarks=LANDMARKS,
                                 segment_means_seq_len=n)
    module = NystromformerSelfAttention(config).eval()
    module.conv_kernel_size = None  # the config does not allow that
    module.query, module.key, module.value = (Given(merged(x)) for x in (q, k, v))
    return lambda: module(module.query.value)[0]


def lucidrains(q, k, v):
    module = NystromAttention(dim=8, dim_head=D, heads=q.shape[1], num_landmarks=LANDMARKS, pinv_iterations=STEPS,
                              residual=False).eval()
    module.to_qkv, module.to_out = Given(torch.cat([merged(x) for x in (q, k, v)], dim=-1)), torch.nn.Identity()
    nothing = torch.zeros(1, q.shape[2], 1)
    return lambda: module(nothing)


def peers(n, heads):
    q, k, v = torch.randn(3, 1, heads, n, D)
    made = {"torch sdpa": lambda: F.scaled_dot_product_attention(q, k, v), "torch nystrom": lambda: nystrom(q, k, v),
            "hugging face": hugging_face(q, k, v), "lucidrains": lucidrains(q, k, v)}
    if 4 * heads * n * n <= MOST_BYTES:
        made["torch naive"] = lambda: naive(q, k, v)
    return made


def agree():
    """Methods that compute the same must give the same, or the times mean nothing. (One head: the two modules
    take the start of the iteration from all heads together.)"""
    torch.manual_seed(1)
    q, k, v = torch.randn(3, 1, 1, 512, D)
    exact, ours = naive(q, k, v), nystrom(q, k, v)
    pairs = [(exact, F.scaled_dot_product_attention(q, k, v)), (ours, apart(hugging_face(q, k, v)(), 1)),
             (ours, apart(lucidrains(q, k, v)(), 1))]
    for x, y in pairs:
        difference = ((x - y).norm() / x.norm()).item()
        if not difference < 1e-4:
            sys.exit(f"forward_peer.py: two peers that compute the same differ by {difference:.2g}")


class Program:
    """build/bench/forward, which answers a line with the seconds of a pass."""

    def __init__(self, path, clock, threads):
        self.threads = threads
        self.process = subprocess.Popen([path, clock], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __call__(self, spec, n, heads):
        self.process.stdin.write(f"{spec} {n} {heads} {self.threads}\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline().strip()
        if not line or line.startswith("error"):
            sys.exit(f"forward_peer.py: {spec}, n = {n}, {heads} heads: {line or 'the program has ended'}")
        return float(line)


class Peer:
    """A pass of PyTorch, timed as build/bench/forward times its own."""

    def __init__(self, call):
        self.call, self.last_s = call, 0.0

    def passed(self):
        began = clock()
        self.call()
        self.last_s = clock() - began

    def __call__(self):
        if self.last_s < 0.25:
            self.passed()
        passes = 1 + int(5e-3 / self.last_s) if self.last_s < 1e-3 else 1
        began = clock()
        for _ in range(passes):
            self.passed()
        return (clock() - began) / passes


def steady(seconds):
    """Whether the median is known to 2 %. Of n times the (n/2 - sqrt n)-th and its mirror image cover it with 95 %."""
    ordered = sorted(seconds)
    low = max(0, int(len(ordered) / 2 - len(ordered) ** 0.5))
    return (ordered[-1 - low] - ordered[low]) / 2 <= 0.02 * statistics.median(ordered)


class Others:
    """CPUs that other processes of the machine keep busy, on average since the last call."""

    def __init__(self, process):
        self.process, self.tick_s, self.last = process, 1 / os.sysconf("SC_CLK_TCK"), None
        self()

    def __call__(self):
        with open("/proc/stat") as file:  # user, nice, system, -, -, irq, softirq, steal
            all_s = self.tick_s * sum(int(x) for i, x in enumerate(file.readline().split()[1:9]) if i not in (3, 4))
        with open(f"/proc/{self.process.pid}/stat") as file:
            own_s = time.process_time() + self.tick_s * sum(map(int, file.read().rpartition(")")[2].split()[11:13]))
        others_s, now_s = all_s - own_s, time.perf_counter()
        last, self.last = self.last or (others_s, now_s - 1), (others_s, now_s)
        return max(0.0, (others_s - last[0]) / (now_s - last[1]))

    def wait(self, patience_s):
        """Until the machine is quiet for a while, or so many seconds; returns the seconds."""
        began = time.perf_counter()
        while time.perf_counter() - began < patience_s:
            self()
            time.sleep(0.5)
            if self() <= QUIET:
                break
        return time.perf_counter() - began


def measure(program, n, heads, seconds, patience_s):
    """Seconds of each method in the rounds that count, and the CPUs that others kept busy in the worst of these."""
    with torch.inference_mode():
        turns = {name: Peer(call) for name, call in peers(n, heads).items()}
        for name, spec in OURS.items():
            if name != "naive" or 4 * heads * n * n <= MOST_BYTES:
                turns[name] = lambda spec=spec: program(spec, n, heads)
        turns["sgemm"] = lambda: program("sgemm", ORDER, 1)
        rounds, fresh, others = [], [], Others(program.process)
        patience_s -= others.wait(patience_s)
        began = since = time.perf_counter()
        while True:
            order = list(turns)
            random.shuffle(order)
            times = {}
            for name in order:
                time.sleep(0.01)  # until the other's idle threads stop spinning
                times[name] = turns[name]()
            fresh.append(times)
            if time.perf_counter() - since < 1:  # the system counts CPU time in hundredths
                continue
            busy, since = others(), time.perf_counter()
            rounds += [(busy, times) for times in fresh]
            fresh = []
            rounds.sort(key=lambda r: r[0])
            kept = [r for i, r in enumerate(rounds) if r[0] <= QUIET or i < 5]
            seen = {name: [r[1][name] for r in kept] for name in turns}
            over_s = since - began - seconds
            quiet = len(kept) >= 5 and kept[-1][0] <= QUIET
            if quiet and (all(map(steady, seen.values())) or over_s > 0) or len(kept) >= 3 and over_s > 4 * seconds:
                return seen, kept[-1][0]
            if busy > QUIET:
                waited_s = others.wait(patience_s)
                patience_s, began, since = patience_s - waited_s, began + waited_s, time.perf_counter()


def flops(name, n, heads):
    if "nystrom" in name or name in ("hugging face", "lucidrains"):
        m = LANDMARKS
        return 2 * heads * (4 * n * m * D + 2 * m * m * D + 4 * STEPS * m**3)
    return 4 * heads * n * n * D


def timed_rows(n, heads, times, others, sgemm_flops):
    rate, rows = sgemm_flops / statistics.median(times["sgemm"]), []
    for name, seconds in times.items():
        middle = statistics.median(seconds)
        share = 1.0 if name == "sgemm" else flops(name, n, heads) / rate / middle
        rows.append({"n": n, "heads": heads, "method": name, "min_ms": f"{1e3 * min(seconds):.3f}",
                     "median_ms": f"{1e3 * middle:.3f}", "max_ms": f"{1e3 * max(seconds):.3f}", "rounds": len(seconds),
                     "share": f"{share:.2f}", "others": f"{others:.2f}"})
    return rows


def ratio_rows(n, heads, times, others):
    rows = []
    for slow, fast in RATIOS:
        if slow in times and fast in times:
            each = sorted(a / b for a, b in zip(times[slow], times[fast]))
            rows.append({"n": n, "heads": heads, "method": slow, "over": fast,
                         "ratio": f"{statistics.median(each):.2f}", "least": f"{each[0]:.2f}",
                         "most": f"{each[-1]:.2f}", "others": f"{others:.2f}"})
    return rows


def machine():
    with open("/proc/cpuinfo") as file:
        return next((line.split(":")[1].strip() for line in file if line.startswith("model name")), platform.machine())


def write(path, rows, facts, append):
    with open(path, "a" if append else "w", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0], *facts])
        if not append:
            writer.writeheader()
        writer.writerows(row | facts for row in rows)


def show(rows):
    widths = {key: max(len(key), *(len(str(row[key])) for row in rows)) for key in rows[0]}
    for row in [{key: key for key in widths}, *rows]:
        print("  ".join(f"{row[key]:{width}}" for key, width in widths.items()))


def main():
    global clock, QUIET
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("forward")
    parser.add_argument("times")
    parser.add_argument("ratios")
    parser.add_argument("--sizes", default="512,1024,2048,4096,8192,16384,32768")
    parser.add_argument("--heads", default="1,8")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--patience", type=float, default=60)
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall")
    parser.add_argument("--append", action="store_true")
    o = parser.parse_args()
    if o.clock == "cpu":
        clock, QUIET = time.process_time, float("inf")
    torch.set_num_threads(o.threads)
    random.seed(1)
    with torch.inference_mode():
        agree()
    program = Program(o.forward, o.clock, o.threads)
    facts = {"malloc": "kept" if os.environ.get("MALLOC_MMAP_MAX_") == "0" else "installed",
             "clock": o.clock, "threads": o.threads, "machine": machine(), "date": datetime.date.today().isoformat(),
             "versions": f"torch {torch.__version__}, transformers {transformers.__version__}, "
                         f"nystrom-attention {version('nystrom-attention')}, python {platform.python_version()}",
             "command": "make bench PART=forward"}
    timed, ratios = [], []
    for n, heads in itertools.product(map(int, o.sizes.split(",")), map(int, o.heads.split(","))):
        times, others = measure(program, n, heads, o.seconds, o.patience)
        timed.append(timed_rows(n, heads, times, others, 2 * o.threads * ORDER**3))
        ratios.append(ratio_rows(n, heads, times, others))
        write(o.times, timed[-1], facts, o.append or len(timed) > 1)
        write(o.ratios, ratios[-1], facts, o.append or len(timed) > 1)
        print(f"n = {n}, {heads} heads: {len(times['sgemm'])} rounds, others keep {others:.2f} CPUs busy",
              file=sys.stderr, flush=True)
    show(sum(timed, []))
    print()
    show(sum(ratios, []))


main()
