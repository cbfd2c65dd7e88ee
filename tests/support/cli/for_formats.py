# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/cli/formats.bats asks in Python: for_formats.py FUNCTION ARGUMENT..."""
import csv
import html.parser
import json
import os
import re
import subprocess
import sys
import unicodedata


def check_formats(work, words):
    rows = list(csv.DictReader(open(work + "/csv", newline=""), strict=True))
    objects = json.load(open(work + "/json"), parse_constant=lambda name: sys.exit(name))
    assert rows and all(None not in row and None not in row.values() for row in rows), words
    if not words.startswith(("info", "claims")):  # whose objects have parts
        assert [list(row) for row in rows] == [list(o) for o in objects], words
        for row, o in zip(rows, objects):
            for key, text in row.items():
                if key.endswith("_s"):  # a time
                    continue
                assert same(text, o[key]) or text in ("inf", "-inf") and o[key] is None, (key, text, o[key])


def same(text, value):
    """Whether a cell of CSV is a value of JSON; a part with parts of its own is JSON there too."""
    if value is None:
        return text == ""
    if isinstance(value, (dict, list)):
        return json.loads(text) == value
    return float(text) == value if isinstance(value, float) else text == str(value)


def check_html(work):
    class Page(html.parser.HTMLParser):
        def __init__(self):
            super().__init__()
            self.open, self.tags, self.words = [], set(), []
        def handle_starttag(self, tag, attributes):
            assert not {"id", "style", "onclick"} & {name for name, _ in attributes}, attributes
            self.open.append(tag)
            self.tags.add(tag)
        def handle_endtag(self, tag):
            assert self.open.pop() == tag
        def handle_data(self, text):
            assert self.open or not text.strip(), text
            self.words += text.split()
    page = Page()
    page.feed(open(work + "/html").read())
    assert not page.open and page.tags <= {
        "div",
        "h4",
        "p",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "ul",
        "li",
        "strong",
    }, page.tags
    words = " ".join(open(work + "/text").read().split()).split()
    assert set(page.words) == set(words) | {"setting"}, set(page.words) ^ set(
        words
    )  # the head of what stands as bands in the text


def check_broken_pipe(program, folder):
    for words in (["export", folder, "--format", "json"], ["table", folder, "errors", "--format", "json"],
                  ["claims", folder, "--format", "json"]):
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run([program, *words], stdout=writer, stderr=subprocess.PIPE, text=True)
        os.close(writer)
        assert (done.returncode, done.stderr) == (-13, ""), (words, done)


def check_json(work):
    lines = [json.loads(line) for line in open(work + "/lines")]
    drop = lambda rows: [{k: v for k, v in row.items() if not k.endswith("_s")} for row in rows]
    assert len(lines) == 2 and drop(lines) == drop(json.load(open(work + "/list")))


def check_width(file, columns):
    for line in open(file):
        assert len(line.rstrip("\n")) <= int(columns), line


def check_columns(file):
    def columns(text):
        return sum(2 if unicodedata.east_asian_width(c) in "WF" else not unicodedata.combining(c) for c in text)
    wanted = "uniform", "区間の平均", "dias"
    lines = [line.rstrip(")\n") for line in open(file, encoding="utf-8") if any(word in line for word in wanted)]
    assert len(lines) == 3 and len({columns(line) for line in lines}) == 1, lines


def check_latex(tex):
    text = "\n".join(line for line in open(tex).read().splitlines() if not line.startswith("%"))
    tables = re.findall(r"\\begin\{tabular\}\{([lS]+)\}\n\\toprule\n(.*?)\\bottomrule\n\\end\{tabular\}", text, re.S)
    assert len(tables) == text.count(r"\begin{table}") == text.count(r"\end{table}") > 2, text
    for columns, body in tables:
        for line in body.splitlines():
            if line.endswith(r"\\") and not line.startswith(r"\multicolumn"):
                assert len(re.findall(r"(?<!\\)&", line)) == len(columns) - 1, line
    bare = text.replace(r"$\|S - FXB\|_F / \|S\|_F$", "")
    bare = re.sub(r"\\[a-zA-Z]+\*?|\\[&%$#_{}\\]", "", bare)
    assert not re.search(r"[%$#_^~<>|\\]", bare) and bare.count("{") == bare.count("}"), bare


def check_captions(*paths):
    compare, tables = (open(path).read() for path in paths)
    caption = re.search(r"\\caption\{(.*)\}\n\\label\{tab:compare\}\n", compare)[1]
    assert "trials." not in compare.replace(caption, "")
    labels = re.findall(r"\\caption\{[A-Z].*\.\}\n\\label\{tab:(.*)\}", tables)
    assert labels == ["errors", "wins", *(f"wins-{i}" for i in range(2, len(labels)))] and len(labels) > 8, labels
    captions = re.findall(r"\\caption.*", compare + tables)
    print(*captions[:3], captions[-1], *sorted(set(re.findall(r"\\par\\footnotesize.*", compare + tables))), sep="\n")


def check_merged_tables(*paths):
    text, markdown = (open(path).read() for path in paths)
    assert text.count(r"\begin{table}") == 1 and "\n & {landmarks} & {4} & {8} " in text
    rows = [line[:-3].split(" & ") for line in text.splitlines() if line.endswith(r"\\") and " & " in line][1:]
    names = ["gaussian(n=48, d=8)", "gaussian(n=65, d=8)"]
    assert [row[0] for row in rows if row[0]] == names and rows[len(rows) // 2][0] == names[1], rows
    cells = [[re.sub(r"[{}\\]", "", cell) for cell in row[1:]] for row in rows]
    lines = [
        [cell.strip().replace("\\", "") for cell in line.split("|")[2:-1]]
        for line in markdown.splitlines()
        if line.startswith("| ")
    ]
    assert cells == [line for line in lines if line[0] != "landmarks"], (cells, lines)


globals()[sys.argv[1]](*sys.argv[2:])
