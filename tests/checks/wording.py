#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""wording.py - which tests of the command line assert a sentence by themselves. Sentences are golden: told, warned and
tell (tests/cli/helpers.bash) compare them with tests/golden/messages. What a test asserts are facts.

Prints FILE:LINE: PHRASE for each phrase, two words or more with blanks or numbers between them, in

    what `[[`, `[`, grep, expect and cmp or diff with a here-string compare with
    the arguments of a function whose body compares with "$1" and the like
    the strings in a statement of of_csv and of_json

of tests/*/*.bats, and in comparisons of their Python, tests/support/cli/*.py; from the repository's root, or of the
files named. A line that has to have one names the reason, or the line above it: NOLINT(wording): reason. --count
counts the phrases by file, those with a reason too.
"""
import ast
import collections
import glob
import re
import sys

PHRASE = re.compile(r"(?<![\w/=.(<-])[A-Za-z]{2,}[,;.]? (?:[0-9.]+ )?[A-Za-z]{2,}(?![\w=(/-]|\.\w)")
BEFORE = {"if", "elif", "then", "else", "while", "until", "do", "!", "{", "run", "until_true", "eval", "time"}
STATEMENTS = {"of_csv", "of_json", "of"}


class Reader:
    """Commands of a text in bash: lists of words, each with its line; what stands in $(...) are commands too."""

    def __init__(self, text):
        self.text, self.at, self.line = text, 0, 1
        self.commands, self.documents = [], []

    def take(self, count=1):
        taken = self.text[self.at:self.at + count]
        self.at += count
        self.line += taken.count("\n")
        return taken

    def next_is(self, *texts):
        return any(self.text.startswith(text, self.at) for text in texts)

    def until(self, end):
        start = self.at
        while self.at < len(self.text) and not self.next_is(end):
            self.take(2 if end != "'" and self.next_is("\\") else 1)
        found = self.text[start:self.at]
        self.take(len(end))
        return found

    def braces(self):
        depth, start = 0, self.at
        while self.at < len(self.text):
            depth += {"{": 1, "}": -1}.get(self.text[self.at], 0)
            if self.next_is('"') and depth:
                self.take()
                self.quoted()
                continue
            self.take(2 if self.next_is("\\") else 1)
            if not depth:
                break
        return "$" + self.text[start:self.at]

    def substitution(self):
        """What begins with a dollar sign: as it stands, or commands of their own, of which nothing stands here."""
        self.take()
        if self.next_is("(("):
            return "$" + self.until("))")
        if self.next_is("("):
            self.take()
            self.read(")")
            return "$()"
        if self.next_is("{"):
            return self.braces()
        if self.next_is("'"):
            self.take()
            text = ""
            while not self.next_is("'"):
                text += self.take(2 if self.next_is("\\") else 1)
            self.take()
            return text.replace("\\n", "\n").replace("\\'", "'")
        return "$"

    def quoted(self):
        text = ""
        while self.at < len(self.text) and not self.next_is('"'):
            if self.next_is("\\"):
                pair = self.take(2)
                text += "" if pair == "\\\n" else pair[1] if pair[1] in '"$`\\' else pair
            elif self.next_is("$"):
                text += self.substitution()
            else:
                text += self.take()
        self.take()
        return text

    def here_documents(self):
        """Behind the end of a line: the documents that the line asks for, which are no commands."""
        for word in self.documents:
            while self.at < len(self.text):
                if self.until("\n").strip("\t") == word:
                    break
        self.documents = []

    def word(self):
        text = ""
        while self.at < len(self.text) and not self.next_is(" ", "\t", "\n", ";", "&", "|", "(", ")", "<", ">"):
            if self.next_is("\\"):
                pair = self.take(2)
                text += "" if pair == "\\\n" else pair[1]
            elif self.next_is("'"):
                self.take()
                text += self.until("'")
            elif self.next_is('"'):
                self.take()
                text += self.quoted()
            elif self.next_is("$"):
                text += self.substitution()
            else:
                text += self.take()
        return text

    def read(self, end=None):
        """Commands up to the end, which is a bracket or that of the text."""
        words = []

        def finish():
            nonlocal words
            if words:
                self.commands.append(words)
            words = []

        while self.at < len(self.text):
            condition = words and words[0][0] == "[["
            if self.next_is("\n"):
                self.take()
                self.here_documents()
                if not condition:
                    finish()
            elif self.next_is(" ", "\t"):
                self.take()
            elif self.next_is("\\\n"):
                self.take(2)
            elif self.next_is("#"):
                while self.at < len(self.text) and not self.next_is("\n"):
                    self.take()
            elif end and self.next_is(end):
                finish()
                self.take()
                return
            elif self.next_is("<<<"):
                self.take(3)
                words.append(("<<<", self.line))
            elif self.next_is("<<"):
                self.take(3 if self.next_is("<<-") else 2)
                self.documents.append(self.word())
            elif self.next_is("<(", ">("):
                self.take(2)
                self.read(")")
                words.append(("<()", self.line))
            elif condition and self.next_is("(", ")", "&&", "||", "<", ">"):
                words.append((self.take(2 if self.next_is("&&", "||") else 1), self.line))
            elif condition and words[-1][0] == "=~":
                words.append((self.pattern(), self.line))
            elif self.next_is(">&", "<&", "&>"):
                self.take(2)
            elif self.next_is(";", "&", "|", "(", ")"):
                if self.next_is("()"):
                    words.append((self.take(2), self.line))
                else:
                    self.take()
                    finish()
            elif self.next_is("<", ">"):
                self.take()
            else:
                line = self.line
                text = self.word()
                words.append((text, line))
                if text == "]]" and condition or text == "{":
                    finish()
        finish()

    def pattern(self):
        """A regular expression without quotes: blanks and brackets in it are escaped or in quotes."""
        text = ""
        while self.at < len(self.text) and not self.next_is(" ", "\n"):
            text += self.take() if self.next_is("(", ")", "|", ";", "<", ">", "&") else self.word()
        return text


def commands_of(text):
    reader = Reader(text)
    reader.read()
    return reader.commands


def plain(words):
    """The words from the command's name on."""
    while words and (words[0][0] in BEFORE or re.match(r"[A-Za-z_]+=", words[0][0])):
        if words[0][0] == "eval" and len(words) == 2:
            return [(text, words[1][1]) for inner in commands_of(words[1][0]) for text, _ in plain(inner)]
        words = words[1:]
    return words


def compared(words, asserting):
    """What a command compares with, as pairs of text and line."""
    name, rest = words[0][0], words[1:]
    if name in asserting:
        return rest
    if name in ("[[", "["):
        return [right for operator, right in zip(rest, rest[1:]) if operator[0] in ("=", "==", "!=", "=~")]
    if name in ("grep", "pgrep"):
        patterns = [right for option, right in zip(rest, rest[1:]) if option[0] == "-e"]
        values = {index + 1 for index, word in enumerate(rest) if re.fullmatch(r"-[a-zA-Z]*[ABCm]", word[0])}
        others = [word for index, word in enumerate(rest)
                  if index not in values and not re.match(r"-.", word[0])]
        return patterns or others[:1]
    if name in ("cmp", "diff"):
        return [right for operator, right in zip(rest, rest[1:]) if operator[0] == "<<<"]
    if name in STATEMENTS:
        return [(inner[0] or inner[1], line) for text, line in rest
                for inner in re.findall(r"\"([^\"]*)\"|'([^']*)'", text) if " " in (inner[0] or inner[1])]
    return []


def functions_of(commands):
    """The functions that compare with their arguments."""
    found, name = {"expect", "py"}, None
    for words in commands:
        if len(words) > 1 and words[1][0] == "()":
            name = words[0][0]
            words = words[2:]
        elif words[0][0] == "@test":
            name = None
        elif name and words[0][0] == "}":
            name = None
        words = plain(words)
        if name and words and any(re.search(r"\$[1-9@*]|\$\{[1-9@*]", text) for text, _ in compared(words, found)):
            found.add(name)
    return found


def phrase_in(literal):
    """Of a literal or a pattern: without what stands for something, and with one blank where there may be several."""
    simple = re.sub(r"\$\{[^}]*\}|\$\w+|\$\(\)", "", literal.replace("\\ ", " "))
    simple = re.sub(r"\[\^?[^]]*\][*+?]?|\.[*+?]|[\\^$*+?]", "", re.sub(r" [*+]| {2,}\*?", " ", simple))
    return PHRASE.search(simple) and not re.match("(UPDATE|SELECT|DELETE) ", literal)


def phrases_of_python(lines):
    for node in ast.walk(ast.parse("\n".join(lines))):
        for part in ast.walk(node) if isinstance(node, ast.Compare) else ():
            if isinstance(part, ast.Constant) and isinstance(part.value, str) and phrase_in(part.value):
                yield part.lineno, part.end_lineno, part.value


def phrases_of_bash(lines):
    commands = commands_of("\n".join(lines))
    asserting = functions_of(commands)
    for words in commands:
        words = plain(words)
        for literal, line in compared(words, asserting) if words else ():
            if phrase_in(literal) and "output=$(" not in lines[line - 1]:
                yield line, words[-1][1], literal


def phrases(path):
    """Line, text, and whether a reason is given."""
    with open(path) as file:
        lines = file.read().split("\n")
    found = phrases_of_python(lines) if path.endswith(".py") else phrases_of_bash(lines)
    for line, last, literal in sorted(set(found)):
        yield line, literal, "NOLINT(wording): " in " ".join(lines[max(0, line - 2):last])


counts = collections.Counter()
bad = False
for path in [name for name in sys.argv[1:] if name != "--count"] or sorted(
        glob.glob("tests/*/*.bats") + glob.glob("tests/support/cli/*.py")):
    for line, literal, excused in phrases(path):
        counts[path] += 1
        if not excused and "--count" not in sys.argv:
            bad = True
            print(f"{path}:{line}: {literal!r}")
if "--count" in sys.argv:
    for path, count in counts.most_common():
        print(count, path)
    print(sum(counts.values()), "in all")
sys.exit(bad)
