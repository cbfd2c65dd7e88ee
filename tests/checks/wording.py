#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""wording.py - which tests assert a sentence by themselves. Sentences are golden: told, warned and tell
(tests/cli/helpers.bash) compare them with tests/golden/messages, tell (tests/support/told.h) compares them with
tests/golden/unit, and told, tell and show (tests/python/golden.py) with tests/golden/python. What a test asserts are
facts.

Prints FILE:LINE: PHRASE for each phrase, two words or more with blanks or numbers between them, in

    what `[[`, `[`, grep, expect and cmp or diff with a here-string compare with
    the arguments of a function whose body compares with "$1" and the like
    the strings in a statement of of_csv and of_json

of tests/*/*.bats; in what Python compares with (compared.py), in their tests/support/cli/*.py and in tests in Python;
and, in tests/unit/*.c and tests/conformance/*.c, in

    calls of assert_string_equal, strstr, strcmp and the like
    calls of functions and macros that compare with a parameter, and in tables of which such calls have an entry

From the repository's root, or of the files named. A line that has to have one names the reason, or the line above it:
NOLINT(wording): reason. In C this may be the first line of a call, a table or a function that compares, or the line
above, for all that it is given. --count counts the phrases by file, those with a reason beside them too.
"""
import collections
import glob
import re
import sys

from compared import texts_compared

PHRASE = re.compile(r"(?<![\w/=.(<-])[A-Za-z]{2,}[,;.]? (?:[0-9.]+ )?[A-Za-z]{2,}(?![\w=(/-]|\.\w)")
BEFORE = {"if", "elif", "then", "else", "while", "until", "do", "!", "{", "run", "until_true", "eval", "time"}
STATEMENTS = {"of_csv", "of_json", "of"}
FILES = ["*/*.bats", "support/cli/*.py", "python/*.py", "python_long/*.py", "models_long/*.py", "oracle/*.py",
         "browser/*.py", "unit/*.c", "conformance/*.c"]
C_COMPARES = {"assert_string_equal", "assert_string_not_equal", "assert_memory_equal", "assert_memory_not_equal",
              "strstr", "strcmp", "strncmp", "strcasecmp", "memcmp", "memmem"}
C_STRING = r'"(?:[^"\\\n]|\\.)*"'


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
    for text in texts_compared("\n".join(lines)):
        if phrase_in(text.value):
            yield text.lineno, text.end_lineno, text.value


def phrases_of_bash(lines):
    commands = commands_of("\n".join(lines))
    asserting = functions_of(commands)
    for words in commands:
        words = plain(words)
        for literal, line in compared(words, asserting) if words else ():
            if phrase_in(literal) and "output=$(" not in lines[line - 1]:
                yield line, words[-1][1], literal


def closed(code, start):
    """The place of the bracket that closes the one at start, and the commas between its parts."""
    depth, commas = 0, []
    for token in re.compile(C_STRING + r"|'(?:[^'\\]|\\.)+'|[][(){},]").finditer(code, start):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(token[0], 0)
        if token[0] == "," and depth == 1:
            commas.append(token.start())
        if not depth:
            return token.start(), commas
    return len(code), commas


def calls_of(code, functions):
    """Of each call of these functions, what it is given to compare, as pairs of a place and a text."""
    for call in re.finditer(rf"\b({'|'.join(sorted(functions))})\(", code):
        end, commas = closed(code, call.end() - 1)
        parts = list(zip([call.end()] + [comma + 1 for comma in commas], commas + [end]))
        compared = functions[call[1]] or range(len(parts))
        yield call.start(), [(parts[i][0], code[slice(*parts[i])]) for i in compared if i < len(parts)]


def has_reason(text, start):
    """Whether the line of that place, or the one above it, has a reason."""
    above = text.rfind("\n", 0, text.rfind("\n", 0, start))
    return "NOLINT(wording): " in text[above + 1:(text + "\n").index("\n", start)]


def words_of(code):
    return set(re.findall(r"\w+", re.sub(C_STRING, "", code)))


def comparing_in_c(text, code):
    """C_COMPARES, and the functions and macros that compare a parameter: which of them."""
    defined = []
    for kind, pattern in ((r"\bchar \*(?:const )?(\w+)$", r"^static [^;{}=()]*?(\w+)\(([^{};]*)\)\n\{(.*?)^\}"),
                          (r"(\w+)$", r"^#define (\w+)\(([^)\n]*)\)((?:[^\n]*\\\n)*[^\n]*)")):
        for found in re.finditer(pattern, code, re.M | re.S):
            names = [re.search(kind, parameter) for parameter in found[2].split(",")]
            if not has_reason(text, found.start()):
                defined.append((found[1], [name and name[1] for name in names], found[3]))
    known, before = dict.fromkeys(C_COMPARES), None
    while known != before:
        before = dict(known)
        for name, parameters, body in defined:
            given = {word for _, parts in calls_of(body, before) for _, part in parts for word in words_of(part)}
            if compared := [i for i, parameter in enumerate(parameters) if parameter in given]:
                known[name] = compared
    return known


def phrases_of_c(lines):
    text = "\n".join(lines)
    code = re.sub(rf"{C_STRING}|/\*.*?\*/", flags=re.S, string=text,
                  repl=lambda found: found[0] if found[0][0] == '"' else re.sub(r".", " ", found[0]))
    places = list(calls_of(code, comparing_in_c(text, code)))
    for name in {name for _, parts in places for _, part in parts
                 for name in re.findall(r"(\w+)\[", re.sub(C_STRING, "", part))}:
        for table in re.finditer(rf"\b{name}(?:\[[^]]*\])+ =\s*\{{", code):
            places.append((table.start(), [(table.end(), code[table.end():closed(code, table.end() - 1)[0]])]))
    for start, part in ((part[0], part[1]) for place, parts in places if not has_reason(text, place) for part in parts):
        for literals in re.finditer(rf"{C_STRING}(?:\s*{C_STRING})*", part):
            literal = "".join(each[1:-1] for each in re.findall(C_STRING, literals[0])).replace("\\n", "\n")
            if phrase_in(literal):
                line = text.count("\n", 0, start + literals.start()) + 1
                yield line, line + literals[0].count("\n"), literal


def phrases(path):
    """Line, text, and whether a reason is given."""
    with open(path) as file:
        lines = file.read().split("\n")
    of = {"py": phrases_of_python, "c": phrases_of_c}.get(path.rsplit(".")[-1], phrases_of_bash)
    found = of(lines)
    for line, last, literal in sorted(set(found)):
        yield line, literal, "NOLINT(wording): " in " ".join(lines[max(0, line - 2):last])


counts = collections.Counter()
bad = False
for path in [name for name in sys.argv[1:] if name != "--count"] or sorted(
        name for pattern in FILES for name in glob.glob(f"tests/{pattern}")):
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
