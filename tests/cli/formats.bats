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
  - {says: "k-means | is <b>*less*</b>",
     compare: {strategy: [kmeans, uniform], metric: error, where: {core: iterative}}, expect: {ratio: [0.5, 0.9]}}
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
measure --head experiments/data/vit_astronaut_n257_L6.safetensors:1 --strategy kmeans -m 20 --core svd
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
        py check_formats "$WORK" "${words[*]}"
        [[ "${words[0]}" =~ ^(claims|plan|status)$ ]] || # other words, or no table where there are no shards
            python3 tests/support/markdown.py "$WORK/markdown" "$WORK/table" >/dev/null
    done < <(each)
}

@test "html: what a table says, as an element for another page" {
    "$NYSBENCH" compare "$SHARED/r" >"$WORK/text"
    "$NYSBENCH" compare "$SHARED/r" --format html >"$WORK/html"
    py check_html "$WORK"
}

@test "JSON that nobody reads any more ends the command as it ends every filter, without a message" {
    py check_broken_pipe "$NYSBENCH" "$SHARED/r"
}

@test "a format that there is not" {
    while read -ra words; do
        told "${words[@]}" --format xml
        expect_status 2
    done < <(each)
    told table "$SHARED/r" errors shares --format json
    expect_status 2
}

@test "--json is --format json" {
    "$NYSBENCH" info "$SHARED/r" --json | cmp - <("$NYSBENCH" info "$SHARED/r" --format json)
    measure=(measure --head experiments/data/vit_astronaut_n257_L6.safetensors:1 --strategy uniform -m 5 --core svd \
        --core iterative --metrics error)
    "$NYSBENCH" "${measure[@]}" --json >"$WORK/lines"
    "$NYSBENCH" "${measure[@]}" --format json >"$WORK/list"
    py check_json "$WORK"
}

@test "what has a meaning in Markdown is a text there" {
    "$NYSBENCH" claims "$SHARED/r" --format markdown >"$WORK/md"
    grep -qF '| k-means \| is \<b>\*less\*\</b> |' "$WORK/md"
    python3 tests/support/markdown.py "$WORK/md" | grep -qF '"k-means | is <b>*less*</b>"'
}

@test "a table fits COLUMNS, and shows all the same" {
    for width in 40 60 80 100; do
        COLUMNS=$width "$NYSBENCH" compare "$SHARED/r" >"$WORK/$width"
        py check_width "$WORK/$width" $width
        grep -q better "$WORK/$width"
    done
    COLUMNS=nonsense "$NYSBENCH" compare "$SHARED/r" | cmp - <("$NYSBENCH" compare "$SHARED/r")
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
        py check_columns "$WORK/$locale"
    done
    cmp "$WORK/C" "$WORK/C.UTF-8"
}

@test "on a terminal a table has its width and bold headings, and without them is the same" {
    COLUMNS=70 "$NYSBENCH" compare "$SHARED/r" >"$WORK/plain"
    TERM=xterm on_terminal 70 env -u COLUMNS -u NO_COLOR "$NYSBENCH" compare "$SHARED/r" >"$WORK/bold"
    grep -q $'\033\\[1m' "$WORK/bold"
    sed 's/\x1b\[[0-9]*m//g' "$WORK/bold" | cmp - "$WORK/plain"
    NO_COLOR=1 TERM=xterm on_terminal 70 env -u COLUMNS "$NYSBENCH" compare "$SHARED/r" | cmp - "$WORK/plain"
    TERM=dumb on_terminal 70 env -u COLUMNS -u NO_COLOR "$NYSBENCH" compare "$SHARED/r" | cmp - "$WORK/plain"
    TERM=xterm "$NYSBENCH" compare "$SHARED/r" | cmp - <(NO_COLOR=1 "$NYSBENCH" compare "$SHARED/r")
}

@test "LaTeX has each table once, with as many cells in each line as columns, and nothing that is not escaped" {
    "$NYSBENCH" run experiments/00-smoke.yaml -q --set plots=[] --set metrics=error -o "$WORK/r"
    "$NYSBENCH" table "$WORK/r" errors --format latex >"$WORK/tex"
    "$NYSBENCH" compare "$WORK/r" --format latex >>"$WORK/tex"
    py check_latex "$WORK/tex"
}

@test "a LaTeX table has a label, and a caption that says its conditions; it is compiled where there is a LaTeX" {
    "$NYSBENCH" run experiments/00-smoke.yaml -q --set plots=[] --set metrics=error --set factors=nystromformer \
        -o "$WORK/r" \
        --set 'strategies=[uniform, kmeans]'
    "$NYSBENCH" compare "$WORK/r" --format latex >"$WORK/compare.tex"
    "$NYSBENCH" table "$WORK/r" errors wins --format latex >"$WORK/tables.tex"
    py_tells check_captions "$WORK/compare.tex" "$WORK/tables.tex"
    command -v pdflatex || return 0
    printf '%s\n' '\documentclass{article}\usepackage{booktabs,siunitx}\begin{document}' \
        '\input{compare}\input{tables}' \
        'Table~\ref{tab:compare}\end{document}' >"$WORK/paper.tex"
    (cd "$WORK" && pdflatex -interaction=nonstopmode -halt-on-error paper && pdflatex -interaction=nonstopmode paper)
    [ "$(grep -c 'undefined' "$WORK/paper.log")" -eq 0 ]
}

@test "a LaTeX table without a heading has the conditions above it as its caption" {
    "$NYSBENCH" measure --head experiments/data/minilm_us-constitution_n512_L3.safetensors:0 --strategy uniform \
        --landmarks 8 --core 'iterative(steps=6)' --factors cur --format latex >"$WORK/tex"
    quoted '^\\caption.*' "$WORK/tex"
}

@test "tables that differ in their problem are one in LaTeX, with a column for what differs; its formula is one" {
    "$NYSBENCH" run experiments/00-smoke.yaml -q --set plots=[] --set metrics=error --set cores=iterative \
        --set 'problems=gaussian(n=[48, 65], d=8)' \
        --set factors=nystromformer -o "$WORK/r"
    "$NYSBENCH" table "$WORK/r" errors --format latex >"$WORK/tex"
    "$NYSBENCH" table "$WORK/r" errors --format markdown >"$WORK/md"
    quoted '\\caption.*|\\par\\footnotesize.*' "$WORK/tex"
    py check_merged_tables "$WORK/tex" "$WORK/md"
}
