# SPDX-License-Identifier: GPL-3.0-or-later
# --format: the same for every command that prints a table; and how a table looks on a terminal.

load helpers

setup_file() {
    export SHARED=$BATS_FILE_TMPDIR
    cat >"$SHARED/c.yaml" <<'Y'
problems: ["gaussian(n=48, d=4)", "smooth(n=48, d=4)"]
strategies: [uniform, "kmeans(restarts=4)"]
cores: [svd, iterative]
landmarks: [4, 8]
trials: 6
metrics: error
plots: []
claims:
  - {says: "k-means | is <b>*less*</b>", compare: {strategy: [kmeans, uniform], metric: error, where: {core: iterative}}, expect: {ratio: [0.5, 0.9]}}
Y
    "${NYSBENCH:-$PWD/nysbench}" run "$SHARED/c.yaml" -q -o "$SHARED/r" >/dev/null
}

each() { # every command with --format, a line each
    cat <<Y
table $SHARED/r errors
table $SHARED/r
compare $SHARED/r
claims $SHARED/r
status $SHARED/r
info
info $SHARED/r
list
list cores
plan $SHARED/c.yaml
measure --head experiments/data/vit_astronaut_n257_L6.safetensors:1 --strategy uniform -m 20 --core svd
Y
}

@test "every command that prints a table has it as table, csv, json and markdown" {
    while read -ra words; do
        for format in table csv json markdown; do
            "$NYSBENCH" "${words[@]}" --format $format >"$WORK/$format" 2>"$WORK/errors"
            [ ! -s "$WORK/errors" ]
        done
        "$NYSBENCH" "${words[@]}" >"$WORK/usual"
        sed -i '/^time: about /d' "$WORK"/{table,usual} # a prediction, which the load changes
        cmp "$WORK/table" "$WORK/usual"
        /usr/bin/python3 - "$WORK" "${words[*]}" <<'PY'
import csv, json, sys
rows = list(csv.DictReader(open(sys.argv[1] + "/csv", newline=""), strict=True))
objects = json.load(open(sys.argv[1] + "/json"), parse_constant=lambda name: sys.exit(name))
assert rows and all(None not in row and None not in row.values() for row in rows), sys.argv[2]
if not sys.argv[2].startswith(("info", "claims")):  # whose objects have parts
    assert [list(row) for row in rows] == [list(o) for o in objects], sys.argv[2]
    for row, o in zip(rows, objects):
        for key, text in row.items():
            if key.endswith("_s"):  # a time
                continue
            same = text == "" if o[key] is None else float(text) == o[key] if isinstance(o[key], float) else text == str(o[key])
            assert same or text in ("inf", "-inf") and o[key] is None, (key, text, o[key])
PY
        [[ "${words[0]}" =~ ^(claims|plan|status)$ ]] || # other words, or no table where there are no shards
            python3 tests/support/markdown.py "$WORK/markdown" "$WORK/table" >/dev/null
    done < <(each)
}

@test "html: what a table says, as an element for another page" {
    "$NYSBENCH" compare "$SHARED/r" >"$WORK/text"
    "$NYSBENCH" compare "$SHARED/r" --format html >"$WORK/html"
    /usr/bin/python3 - "$WORK" <<'PY'
import html.parser, re, sys
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
page.feed(open(sys.argv[1] + "/html").read())
assert not page.open and page.tags <= {"div", "h4", "p", "table", "thead", "tbody", "tr", "th", "td", "ul", "li", "strong"}, page.tags
words = " ".join(open(sys.argv[1] + "/text").read().split()).split()
assert set(page.words) == set(words) | {"setting"}, set(page.words) ^ set(words)  # the head of what stands as bands in the text
PY
}

@test "JSON that nobody reads any more ends the command as it ends every filter, without a message" {
    /usr/bin/python3 - "$NYSBENCH" "$SHARED/r" <<'PY'
import os, subprocess, sys
for words in (["export", sys.argv[2], "--format", "json"], ["table", sys.argv[2], "errors", "--format", "json"],
              ["claims", sys.argv[2], "--format", "json"]):
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([sys.argv[1], *words], stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert (done.returncode, done.stderr) == (-13, ""), (words, done)
PY
}

@test "a format that there is not" {
    while read -ra words; do
        run "$NYSBENCH" "${words[@]}" --format xml
        expect_status 2
        [ "${lines[0]}" = "nysbench: error: ${words[0]}: --format xml is unknown; allowed: table, csv, json, markdown, latex, html" ]
    done < <(each)
    run "$NYSBENCH" table "$SHARED/r" errors shares --format json
    expect_status 2
    expect "--format json takes one NAME at a time"
}

@test "--json is --format json" {
    "$NYSBENCH" info "$SHARED/r" --json | cmp - <("$NYSBENCH" info "$SHARED/r" --format json)
    measure=(measure --head experiments/data/vit_astronaut_n257_L6.safetensors:1 --strategy uniform -m 5 --core svd --core iterative --metrics error)
    "$NYSBENCH" "${measure[@]}" --json >"$WORK/lines"
    "$NYSBENCH" "${measure[@]}" --format json >"$WORK/list"
    /usr/bin/python3 - "$WORK" <<'PY'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1] + "/lines")]
drop = lambda rows: [{k: v for k, v in row.items() if not k.endswith("_s")} for row in rows]
assert len(lines) == 2 and drop(lines) == drop(json.load(open(sys.argv[1] + "/list")))
PY
}

@test "what has a meaning in Markdown is a text there" {
    "$NYSBENCH" claims "$SHARED/r" --format markdown >"$WORK/md"
    grep -qF '| k-means \| is \<b>\*less\*\</b> |' "$WORK/md"
    python3 tests/support/markdown.py "$WORK/md" | grep -qF '"k-means | is <b>*less*</b>"'
}

@test "a table fits COLUMNS, and shows all the same" {
    for width in 40 60 80 100; do
        COLUMNS=$width "$NYSBENCH" compare "$SHARED/r" >"$WORK/$width"
        /usr/bin/python3 - "$WORK/$width" $width <<'PY'
import sys
for line in open(sys.argv[1]):
    assert len(line.rstrip("\n")) <= int(sys.argv[2]), line
PY
        grep -q better "$WORK/$width"
    done
    COLUMNS=nonsense "$NYSBENCH" compare "$SHARED/r" | cmp - <("$NYSBENCH" compare "$SHARED/r")
}

terminal() { # WIDTH COMMAND...: what it writes to a terminal of that width
    /usr/bin/python3 - "$@" <<'PY'
import fcntl, os, pty, struct, sys, termios
child, fd = pty.fork()
if child == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("4H", 24, int(sys.argv[1]), 0, 0))
    os.execvp(sys.argv[2], sys.argv[2:])
text = b""
try:
    while part := os.read(fd, 4096):
        text += part
except OSError:
    pass
os.waitpid(child, 0)
sys.stdout.buffer.write(text.replace(b"\r\n", b"\n"))
PY
}

@test "labels in East Asian scripts and with combining marks leave the columns straight, whatever the locale" {
    config <<'Y'
problems: gaussian(n=32, d=4)
strategies: [uniform, 'segment_means(label="区間の平均")', 'kmeans(label="kmédias")']
cores: svd
landmarks: 4
trials: 3
plots: []
Y
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r" >/dev/null
    for locale in C C.UTF-8; do
        LC_ALL=$locale COLUMNS=80 "$NYSBENCH" table "$WORK/r" errors >"$WORK/$locale"
        /usr/bin/python3 - "$WORK/$locale" <<'PY'
import sys, unicodedata
def columns(text):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else not unicodedata.combining(c) for c in text)
wanted = "uniform", "区間の平均", "dias"
lines = [line.rstrip(")\n") for line in open(sys.argv[1], encoding="utf-8") if any(word in line for word in wanted)]
assert len(lines) == 3 and len({columns(line) for line in lines}) == 1, lines
PY
    done
    cmp "$WORK/C" "$WORK/C.UTF-8"
}

@test "on a terminal a table has its width and bold headings, and without them is the same" {
    COLUMNS=70 "$NYSBENCH" compare "$SHARED/r" >"$WORK/plain"
    TERM=xterm terminal 70 env -u COLUMNS -u NO_COLOR "$NYSBENCH" compare "$SHARED/r" >"$WORK/bold"
    grep -q $'\033\\[1m' "$WORK/bold"
    sed 's/\x1b\[[0-9]*m//g' "$WORK/bold" | cmp - "$WORK/plain"
    NO_COLOR=1 TERM=xterm terminal 70 env -u COLUMNS "$NYSBENCH" compare "$SHARED/r" | cmp - "$WORK/plain"
    TERM=dumb terminal 70 env -u COLUMNS -u NO_COLOR "$NYSBENCH" compare "$SHARED/r" | cmp - "$WORK/plain"
    TERM=xterm "$NYSBENCH" compare "$SHARED/r" | cmp - <(NO_COLOR=1 "$NYSBENCH" compare "$SHARED/r")
}

@test "LaTeX has each table once, with as many cells in each line as columns, and nothing that is not escaped" {
    "$NYSBENCH" run experiments/00-smoke.yaml -q --set plots=[] --set metrics=error -o "$WORK/r"
    "$NYSBENCH" table "$WORK/r" errors --format latex >"$WORK/tex"
    "$NYSBENCH" compare "$WORK/r" --format latex >>"$WORK/tex"
    /usr/bin/python3 -SE - "$WORK/tex" <<'PY'
import re, sys
text = "\n".join(line for line in open(sys.argv[1]).read().splitlines() if not line.startswith("%"))
tables = re.findall(r"\\begin\{tabular\}\{([lS]+)\}\n\\toprule\n(.*?)\\bottomrule\n\\end\{tabular\}", text, re.S)
assert len(tables) == text.count(r"\begin{table}") == text.count(r"\end{table}") > 2, text
for columns, body in tables:
    for line in body.splitlines():
        if line.endswith(r"\\") and not line.startswith(r"\multicolumn"):
            assert len(re.findall(r"(?<!\\)&", line)) == len(columns) - 1, line
bare = re.sub(r"\$\\\|[^$|]*\\\|_F\$", "", text) # norms
bare = re.sub(r"\\[a-zA-Z]+\*?|\\[&%$#_{}\\]", "", bare)
assert not re.search(r"[%$#_^~<>|\\]", bare) and bare.count("{") == bare.count("}"), bare
PY
}

@test "a LaTeX table has a label, and a caption that says its conditions; it is compiled where there is a LaTeX" {
    "$NYSBENCH" run experiments/00-smoke.yaml -q --set plots=[] --set metrics=error --set factors=nystromformer -o "$WORK/r" \
        --set 'strategies=[uniform, kmeans]'
    "$NYSBENCH" compare "$WORK/r" --format latex >"$WORK/compare.tex"
    "$NYSBENCH" table "$WORK/r" errors wins --format latex >"$WORK/tables.tex"
    /usr/bin/python3 -SE - "$WORK/compare.tex" "$WORK/tables.tex" <<'PY'
import re, sys
compare, tables = (open(path).read() for path in sys.argv[1:])
caption = re.search(r"\\caption\{(.*)\}\n\\label\{tab:compare\}\n", compare)[1]
assert caption.startswith("Error by strategy, divided by that of uniform, ") and caption.endswith("."), caption
for words in ("; pairing joint", ". No verdict: ", ". Below 1 is better. ", " sources (texts, images or generated data)",
              ", with n = 64 to 257 and 2 trials."):
    assert words in caption, (words, caption)
assert "trials." not in compare.replace(caption, "") and r"\par\footnotesize WARNING: " in compare
labels = re.findall(r"\\caption\{[A-Z].*\.\}\n\\label\{tab:(.*)\}", tables)
assert labels == ["errors", "wins", *(f"wins-{i}" for i in range(2, len(labels)))] and len(labels) > 8, labels
assert tables.count("; kernel softmax, pairing joint") == len(labels) - 1 and ", landmarks 8.}" in tables
assert r"\par\footnotesize clusters(n=64, d=8, count=4): n = 64, d = 8, sources: 2, heads: 1, trials: 2" in tables
PY
    command -v pdflatex || return 0
    printf '%s\n' '\documentclass{article}\usepackage{booktabs,siunitx}\begin{document}' '\input{compare}\input{tables}' \
        'Table~\ref{tab:compare}\end{document}' >"$WORK/paper.tex"
    (cd "$WORK" && pdflatex -interaction=nonstopmode -halt-on-error paper && pdflatex -interaction=nonstopmode paper)
    [ "$(grep -c 'undefined' "$WORK/paper.log")" -eq 0 ]
}

@test "a LaTeX table without a heading has the conditions above it as its caption" {
    "$NYSBENCH" measure --head experiments/data/minilm_us-constitution_n512_L3.safetensors:0 --strategy uniform \
        --landmarks 8 --core 'iterative(steps=6)' --factors cur --format latex >"$WORK/tex"
    grep -q '^\\caption{.* n = 512, d = 32, softmax; uniform, m = 8, pairing joint, factors cur\.}$' "$WORK/tex"
}

@test "tables that differ in their problem are one in LaTeX, with a column for what differs; norms are mathematics" {
    "$NYSBENCH" run experiments/00-smoke.yaml -q --set plots=[] --set metrics=error --set cores=iterative --set 'problems=gaussian(n=[48, 65], d=8)' \
        --set factors=nystromformer -o "$WORK/r"
    "$NYSBENCH" table "$WORK/r" errors --format latex >"$WORK/tex"
    "$NYSBENCH" table "$WORK/r" errors --format markdown >"$WORK/md"
    grep -qF '\caption{Median relative error $\|S - FXB\|_F$ / $\|S\|_F$ over heads and trials: gaussian(d=8).}' "$WORK/tex"
    grep -qF '\par\footnotesize n=65: n = 65, d = 8, sources: 2, heads: 1, trials: 2' "$WORK/tex"
    /usr/bin/python3 -SE - "$WORK/tex" "$WORK/md" <<'PY'
import re, sys
text, markdown = (open(path).read() for path in sys.argv[1:])
assert text.count(r"\begin{table}") == 1 and "\n & {landmarks} & {4} & {8} " in text
rows = [line[:-3].split(" & ") for line in text.splitlines() if line.endswith(r"\\") and " & " in line][1:]
assert [row[0] for row in rows if row[0]] == ["n=48", "n=65"] and rows[len(rows) // 2][0] == "n=65", rows
cells = [[re.sub(r"[{}\\]", "", cell) for cell in row[1:]] for row in rows]
lines = [[cell.strip().replace("\\", "") for cell in line.split("|")[2:-1]] for line in markdown.splitlines() if line.startswith("| ")]
assert cells == [line for line in lines if line[0] != "landmarks"], (cells, lines)
PY
}
