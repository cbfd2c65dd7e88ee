#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""notebook.py --renew - runs the cells of docs/notebook.ipynb and stores their outputs. Needs nysbench, pandas and
matplotlib.

test_docs.py runs the cells too, and compares what they give with what is stored: texts, and numbers to their last
digit, but no figures, which depend on the version of matplotlib."""
import ast
import contextlib
import html.parser
import io
import json
import math
import os
import re
import sys
import tempfile

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/notebook.ipynb")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


def read():
    with open(PATH, encoding="utf-8") as file:
        return json.load(file)


def run(notebook):
    """The outputs of each cell of code, as a notebook stores them, and the values of their last lines. Progress and
    warnings, which go to standard error, are no outputs."""
    outputs, values, names, before = [], [], {}, os.getcwd()
    with tempfile.TemporaryDirectory() as folder, as_in_a_notebook():
        os.chdir(folder)  # the notebook needs no checkout
        try:
            for count, cell in enumerate((cell for cell in notebook["cells"] if cell["cell_type"] == "code"), 1):
                with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.redirect_stderr(io.StringIO()):
                    value = execute("".join(cell["source"]), names)
                streams = [{"name": "stdout", "output_type": "stream", "text": lines(said.getvalue())}] \
                    if said.getvalue() else []
                results = [] if value is None else [
                    {"data": data_of(value), "execution_count": count, "metadata": {}, "output_type": "execute_result"}]
                outputs.append(streams + results)
                values.append(value)
        finally:
            os.chdir(before)
    return outputs, values


def as_in_a_notebook():
    """A context in which pandas shows as many columns as in a notebook."""
    try:
        import pandas
    except ImportError:
        return contextlib.nullcontext()
    return pandas.option_context("display.max_columns", 20)


def execute(source, names):
    """Runs a cell; the value of its last line where that is an expression."""
    tree = ast.parse(source, "docs/notebook.ipynb")
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "docs/notebook.ipynb", "exec"), names)
    return eval(compile(ast.Expression(last.value), "docs/notebook.ipynb", "eval"), names) if last else None


def data_of(value):
    data = {"text/html": lines(value._repr_html_())} if hasattr(value, "_repr_html_") else {}
    return {**data, "text/plain": lines(re.sub(r" object at 0x\w+", "", repr(value)))}


def lines(text):
    return text.rstrip("\n").splitlines(keepends=True)


class Texts(html.parser.HTMLParser):
    """The words of a page, and the cells of its tables by row."""

    def __init__(self, page):
        super().__init__()
        self.words, self.rows, self.style, self.cell = [], [], False, False
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.style = tag == "style"
        self.cell = tag == "td"
        if tag == "tr":
            self.rows.append([])
        if tag == "td":
            self.rows[-1].append("")

    def handle_data(self, text):
        if self.style:
            return
        self.words += text.split()
        if self.cell:
            self.rows[-1][-1] += text

    def handle_endtag(self, tag):
        self.style, self.cell = self.style and tag != "style", self.cell and tag != "td"


def alike(stored, made):
    """The same words, and numbers but for the last digit, since libraries round differently. Lines are broken as
    COLUMNS say."""
    stored, made = " ".join(stored.split()), " ".join(made.split())
    return NUMBER.sub("#", stored) == NUMBER.sub("#",
                                                 made) and all(map(close, NUMBER.findall(stored), NUMBER.findall(made)))


def close(a, b):
    decimals = len(a.partition("e")[0].partition(".")[2])
    return a == b or (decimals > 0 and math.isclose(float(a), float(b), rel_tol=1e-3,
                                                    abs_tol=1.01 * 10.0 ** -decimals * ("e" not in a)))


def table_alike(stored, made):
    """A DataFrame's HTML, and the list of dicts that is there without pandas."""
    rows = [row for row in Texts(stored).rows if row]
    return len(rows) == len(made) and all(
        len(row) == len(line) and all(cell_alike(text, value) for text, value in zip(row, line.values())) for row,
        line in zip(rows, made))


def cell_alike(text, value):
    if value is None:
        return text in ("None", "NaN", "")
    if NUMBER.fullmatch(text) and not isinstance(value, str):
        return close(text, repr(value))
    return text == str(value) or (text.endswith("...") and str(value).startswith(text[:-3]))  # pandas cuts long texts


def difference(stored, made, value):
    """How the outputs of a cell differ from those that are stored; None: they do not."""
    if [one["output_type"] for one in stored] != [one["output_type"] for one in made]:
        return f"outputs {[one['output_type'] for one in made]}, stored are {[one['output_type'] for one in stored]}"
    for old, new in zip(stored, made):
        texts = [(old["text"], new["text"])] if "text" in old \
            else [(old["data"]["text/plain"], new["data"]["text/plain"])]
        page = "".join(old.get("data", {}).get("text/html", ""))
        if 'class="dataframe"' in page and isinstance(value, list):
            if not table_alike(page, value):
                return f"{value}, stored is {page}"
            continue
        if page:
            texts.append((" ".join(Texts(page).words),
                          " ".join(Texts("".join(new["data"].get("text/html", ""))).words)))
        for old_text, new_text in texts:
            if not alike("".join(old_text), "".join(new_text)):
                return f"{''.join(new_text)}, stored is {''.join(old_text)}"
    return None


def main(arguments):
    if arguments != ["--renew"]:
        raise SystemExit(__doc__)
    for name in ("matplotlib", "pandas"):  # as a reader has them
        __import__(name)
    notebook = read()
    outputs, _ = run(notebook)
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for count, (cell, output) in enumerate(zip(cells, outputs), 1):
        cell.update(execution_count=count, outputs=output)
    with open(PATH, "w", encoding="utf-8") as file:
        json.dump(notebook, file, indent=1, ensure_ascii=False)
        file.write("\n")


if __name__ == "__main__":
    main(sys.argv[1:])
