#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What can be found wrong in the sources without running them: the layout (.clang-format), lines above 120 columns of C
# (clang-format breaks no text), of Python, of SQL, of the shell's scripts and tests and of what builds, clang-tidy's
# checks (.clang-tidy), gcc's analyzer for what is allocated, opened, freed and closed; for the Python pyflakes, ruff
# and mypy (python/pyproject.toml); for the tests of the command line and the unit tests phrases that they assert by
# themselves (tests/checks/wording.py). It also warns of sentences of the manual that readers stumble over
# (tests/checks/words.py). A false finding is marked beside the line, with the reason: NOLINT(check): reason. From the
# repository's root, where build/build.h is: tests/checks/lint.sh [PART]..., the parts being format, lines, python,
# ruff, types, wording, tidy, analyzer and words.
set -u
cd "$(dirname "$0")/../.." || exit 1
flags="-std=c11 -D_GNU_SOURCE -DNB_IN_TREE -I. -Isrc -Ibuild -fopenmp-simd"
# NULL and what has no value clang-tidy looks for, which follows conditions farther and so cries wolf less often.
analyzer="-O1 -fanalyzer -Wno-analyzer-null-dereference -Wno-analyzer-use-of-uninitialized-value"
failed=0

sources() { # FOLDER...
    find "$@" -name '*.c' | sort
}

run() { # NAME COMMAND...: what it prints, and whether it found something; some programs end well all the same
    local name=$1 started=$SECONDS found
    shift
    if found=$("$@" 2>&1) && [ -z "$found" ]; then
        echo "$name: no finding, $((SECONDS - started)) s"
    else
        echo "$found"
        echo "$name: see above, $((SECONDS - started)) s"
        failed=1
    fi
}

format() {
    find src strategies tests -name '*.[ch]' -print0 | xargs -0 clang-format --style=file --dry-run -Werror
}

lines() {
    { find src strategies tests -name '*.[ch]' -print0; find tests python -name '*.py' -print0
        find src tests python '(' -name '*.sh' -o -name '*.bash' -o -name '*.bats' ')' -print0
        find Makefile src/make .ci -type f -print0
        find src experiments tests -name '*.sql' -print0; } |
        LC_ALL=C.UTF-8 xargs -0 grep -nE '^.{121}' | grep -vE '\.sql:[0-9]+:-- reference: ' |
        sed 's/\(:[0-9]*\):.*/\1: more than 120 columns/'
}

python() { # a name that is not defined, an import that nothing uses
    find python experiments tests -name '*.py' -print0 | xargs -0 pyflakes3
}

# with_tool PART PACKAGE VERSION ARGUMENT...: runs a program for Python: the one in PATH, such as Debian's; else that
# version from PyPI, in build/lint. Where neither can be had, the part is skipped.
with_tool() {
    local part=$1 package=$2 program venv=build/lint
    program=$(type -P "$package") || program=$venv/bin/$package
    if [ ! -x "$program" ] && ! { /usr/bin/python3 -m venv --system-site-packages $venv &&
        $venv/bin/pip install --quiet --disable-pip-version-check "$package==$3"; } >/dev/null 2>&1; then
        echo "$part: skipped, $package is not here and cannot be had from PyPI"
        return
    fi
    run "$part" "$program" "${@:4}"
}

ruff() { # mistakes that a line shows
    with_tool ruff ruff 0.17.6 check --quiet --no-cache --output-format=concise --config python/pyproject.toml \
        python experiments tests
}

types() {
    with_tool types mypy 2.4.1 --no-error-summary --config-file python/pyproject.toml \
        --cache-dir build/lint/mypy python/nysbench
}

tidy() { # the count of suppressed warnings, which it prints in any case, is not a finding
    sources src strategies | xargs -P "$(nproc)" -n 4 sh -c "clang-tidy --quiet \"\$@\" -- $flags 2>&1 |
        grep -vE '^[0-9]+ warnings? (generated|treated)|^Suppressed|^Use -header-filter'; true" sh
}

analyze() {
    sources src strategies | xargs -P "$(nproc)" -I FILE gcc $analyzer $flags -S -o /dev/null FILE
}

wording() { # sentences of the program are golden
    tests/checks/wording.py
}

words() { # a warning: what reads well is for people to say
    local found
    found=$(tests/checks/words.py | wc -l)
    echo "words: $found hard sentences; tests/checks/words.py shows them"
}

for part in "${@:-all}"; do
    case $part in
    format | lines | python | wording | tidy) run "$part" "$part" ;;
    analyzer) run analyzer analyze ;;
    ruff | types | words) "$part" ;;
    all)
        run format format
        run lines lines
        run python python
        ruff
        types
        run wording wording
        run analyzer analyze
        run tidy tidy
        words
        ;;
    *)
        echo "tests/checks/lint.sh: no part '$part'; allowed: format, lines, python, ruff, types, wording, tidy," \
            "analyzer, words" >&2
        exit 2
        ;;
    esac
done
exit "$failed"
