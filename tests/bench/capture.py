# SPDX-License-Identifier: GPL-3.0-or-later
"""What capture and patch cost beyond the model's own pass: 12 layers of 12 heads, width 384, n = 512, as MiniLM has.

usage: capture.py [THREADS], with torch and transformers: after `make test-long`, build/hf-venv/bin/python. Prints CSV:
seconds of wall and of CPU time, the median of nine passes in turns; `streamed` is exact attention by the library.
"""
import statistics
import sys
import time

import torch
import transformers

import nysbench

SIZES = dict(vocab_size=3000, hidden_size=384, num_hidden_layers=12, num_attention_heads=12, intermediate_size=1536)


def patched(model, given, check):
    with nysbench.patch(model, "streamed", threads=torch.get_num_threads(), check=check):
        model(**given)


def timed(work):
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def main():
    if len(sys.argv) > 1:
        torch.set_num_threads(int(sys.argv[1]))
    torch.manual_seed(1)
    model = transformers.BertModel(transformers.BertConfig(**SIZES)).eval()
    given = {"input_ids": torch.randint(5, 3000, (1, 512))}
    works = {"model": lambda: model(**given), "capture": lambda: nysbench.capture(model, given),
             "patch streamed": lambda: patched(model, given, True),
             "patch streamed, check=False": lambda: patched(model, given, False)}
    with torch.no_grad():
        for work in works.values():
            work()
        times = [{name: timed(work) for name, work in works.items()} for _ in range(9)]
    print("what,wall_s,cpu_s,threads")
    for name in works:
        wall, cpu = (statistics.median(turn[name][i] for turn in times) for i in (0, 1))
        print(f'"{name}",{wall:.3f},{cpu:.3f},{torch.get_num_threads()}')


main()
