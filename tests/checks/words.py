#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""words.py [FILE.md...] - sentences that readers stumble over, a line each; by default of README.md and docs/*.md,
without the pages that the program writes. Exit status 1 if there are any.

Found are: sentences, up to a semicolon, of more than 35 words; more than two numbers with intervals in a sentence,
which belong into a table;
and phrases that readers had to read twice, each with what to write instead. Code, tables and headings are not read."""
import glob
import re
import sys

MOST_WORDS, MOST_INTERVALS = 35, 2
INTERVAL = re.compile(r"\d %? ?\[-?\d[^\[\]]*, [^\[\]]*\]")
END = re.compile(r"(?:(?<=[.!?])[*)\"]*\s+(?=[*(\"]*[A-Z`\[])|;\s+)")
RIDDLES = {
    r"\b(?:has|have|had) (?:only )?0?\.\d+ (?:\[[^\]]*\] )?of (?:the|its|their) error": "lowers the error by N %",
    r"\bin the place of\b": "instead of, or: replaces",
    r"\bunless (?:it|they) says? otherwise\b": "by default",
    r"\bno part of what\b": "does not count as, or: never changes",
    r"\bfor whatever\b": "for every",
    r"\bsays? otherwise\b": "name the option",
    r"\bwho is to blame\b": "which one failed",
    r"\b(?:is|are) asked\b": "who asks what",
    r"\btold apart\b": "compared by, or: distinguished by",
    r"\bso-manieth\b": "every n-th",
    r"\bhowever (?:a|the|it) \w+ ends\b": "when it ends",
    r"\bwhat the \w+ leaves?\b": "the part that it cannot represent",
    r"\bcomes? to a verdict\b": "takes seconds and tells whether",
    r"\bis another program\b": "say what is refused, and which option allows it",
    r"\bnothing of it\b": "none of this",
    r"\bwhat has (?:looked|seen)\b": "name the method",
    r"\bthat break others\b": "name the inputs: identical tokens, m = n, huge norms",
    r"\bwhat stands? for\b": "which tokens represent",
    r"\bthe other way round\b": "say both directions",
    r"\bas (?:far|long) as that holds\b": "say when it holds",
}


def is_generated(text):
    return "do not edit" in text[:400] or text.startswith("# Claims\n")


def paragraphs(text):
    """(line, text) of each paragraph and item of a list, without code, tables and headings."""
    begun, lines, fenced = 0, [], False
    for number, line in enumerate(text.split("\n") + [""], 1):
        fenced ^= line.startswith("```")
        item = re.match(r" *(?:[*-]|\d+\.) ", line)
        apart = not line.strip() or line.startswith(("```", "    ", "#", "![", "*`")) or line.lstrip().startswith("|")
        if fenced or item or apart:
            if lines:
                yield begun, " ".join(lines)
            begun, lines = number, []
        if not fenced and not apart:
            begun = begun if lines else number
            lines.append(line[item.end():] if item else line.strip())


def findings(path):
    with open(path) as file:
        text = file.read()
    for line, paragraph in paragraphs(text):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"`[^`]*`", "`", paragraph))
        for sentence in END.split(plain):
            words = len(re.findall(r"\w[\w'.,-]*|`", INTERVAL.sub("1", sentence)))
            intervals = len(INTERVAL.findall(sentence))
            shown = f"{path}:{line}: '{sentence[:60].strip()}'"
            if words > MOST_WORDS:
                yield f"{shown}: {words} words; at most {MOST_WORDS}"
            if intervals > MOST_INTERVALS:
                yield f"{shown}: {intervals} intervals; make it a table"
            for riddle, better in RIDDLES.items():
                found = re.search(riddle, sentence, re.I)
                if found:
                    yield f"{shown}: '{found.group()}'; better: {better}"


def main(paths):
    if not paths:
        paths = [p for p in ["README.md", *sorted(glob.glob("docs/*.md"))] if not is_generated(open(p).read())]
    found = [one for path in paths for one in findings(path)]
    print("\n".join(found), end="\n" if found else "")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
