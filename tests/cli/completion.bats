# SPDX-License-Identifier: GPL-3.0-or-later
# Completion: what the program says may follow, and what bash, zsh and fish make of it on a terminal. Shells that are
# not
# installed are skipped here; make test-long has them.

load helpers

# follows WORD...: the candidates for the last word, without their explanations, on one line.
follows() {
    "$NYSBENCH" complete -- "$@" | cut -f 1 | sort -u | tr '\n' '|' | sed 's/|$//'
}

is() { # CANDIDATES WORD...
    local found
    found=$(follows "${@:2}")
    [ "$found" = "$1" ] || { echo "${*:2}: '$found', expected '$1'"; return 1; }
}

@test "commands, options, and values that are words" {
    [ "$(follows '' | tr '|' '\n' | sort)" = \
        "$( ("$NYSBENCH" --help | sed -n 's/^  \([a-z]\{1,\}\) .*/\1/p'; echo --help; echo --version) | sort)" ]
    is 'plan|plot' pl
    is '' complete
    is '' nothing ''
    [ "$(follows run - | tr '|' '\n' | sort)" = \
        "$("$NYSBENCH" run --help | sed -nE 's/^  (-.,|   ) (--[a-z-]+).*/\2/p' | sort)" ]
    is 'keys|queries' select --side ''
    is 'queries' select --side = q
    is 'keys|queries' select --side =
    is 'failed' run x.yaml --retry f
    is '' run -j ''
    is 'csv|html|json|latex|markdown|table' claims r --format ''
    is 'difference' compare r --scale d
    is 'strategy=|strategy_label=' compare r -w strat
    is 'landmarks=' run x.yaml -s land
    is 'study=' plan x.yaml --set stu
    is 'compare|comparing|components' help comp
    is 'ranks' table r ran
    is 'ranks' table r errors ran
    is 'error' plot r err
    is '' plot r error err
    is 'softmax' describe softm
    is 'strategy' list strat
    is 'attention|core|experiment|kernel|problem|strategy' new ''
    is 'kmeans' select --strategy kme
    is 'svd' measure --core sv
    is 'kernel_ridge' suite ker
    is 'kmeans' suite linear kme
    is '' plan ''
}

# What the shells are tried on.
things() {
    mkdir -p "$WORK/bin" "$WORK/results/done" "$WORK/some/where"
    ln -s "$(realpath "$NYSBENCH")" "$WORK/bin/nysbench"
    touch "$WORK/one.yaml" "$WORK/with a blank.yaml"
    PATH=$WORK/bin:$PATH
}

@test "the answer needs no BLAS, and is there at once" {
    run env OPENBLAS_CORETYPE=nonsense NYSBENCH_TRACE=1 "$NYSBENCH" complete -- pl
    expect_status 0
    [ "${#lines[@]}" -eq 2 ]
    sanitized && return 0
    time_of() { # the least CPU time of ten, in ms: other processes take none of it
        local TIMEFORMAT='%3U %3S' least=100000 user system spent
        for _ in $(seq 10); do
            read -r user system < <({ time "$NYSBENCH" complete -- select --strategy km >/dev/null; } 2>&1)
            spent=$((10#${user/./} + 10#${system/./}))
            [ "$spent" -ge "$least" ] || least=$spent
        done
        echo "$least"
    }
    [ "$(time_of)" -lt 100 ]
}

# in_shell SHELL SCRIPT
in_shell() {
    command -v "$1" >/dev/null || skip "$1 is not installed"
    things
    run /usr/bin/python3 tests/support/completion.py "$1" "src/commands/completions/$2" "$WORK"
    [ -z "$output" ] || { echo "$output"; return 1; }
    expect_status 0
}

@test "in bash" {
    in_shell bash nysbench.bash
}

@test "in zsh" {
    in_shell zsh _nysbench
}

@test "in fish" {
    in_shell fish nysbench.fish
}
