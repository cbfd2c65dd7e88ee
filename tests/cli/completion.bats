# SPDX-License-Identifier: GPL-3.0-or-later
# Completion: what the program says may follow, and what bash, zsh and fish make of it on a terminal. Shells that are not
# installed are skipped here; make test-long has them.

load helpers

# follows LINE: the candidates, without their explanations, on one line.
follows() {
    "$NYSBENCH" complete -- "$1" | cut -f 1 | tr '\n' '|' | sed 's/|$//'
}

is() { # LINE CANDIDATES
    [ "$(follows "$1")" = "$2" ] || { echo "$1: '$(follows "$1")', expected '$2'"; return 1; }
}

@test "commands, options, and values that are words" {
    [ "$(follows 'nysbench ' | tr '|' '\n' | sort)" = \
        "$( ("$NYSBENCH" --help | sed -n 's/^  \([a-z]\{1,\}\) .*/\1/p'; echo --help; echo --version) | sort)" ]
    is 'nysbench pl' 'plan|plot'
    is 'nysbench complete' ''
    is 'nysbench nothing ' ''
    [ "$(follows 'nysbench run -' | tr '|' '\n' | sort)" = "$("$NYSBENCH" run --help | sed -nE 's/^  (-.,|   ) (--[a-z-]+).*/\2/p' | sort)" ]
    is 'nysbench select --side ' 'queries|keys'
    is 'nysbench select --side=k' '--side=keys'
    is 'nysbench run x.yaml --retry f' 'failed'
    is 'nysbench run -j ' ''
    is 'nysbench claims r --format ' 'table|csv|json|markdown|latex'
    is 'nysbench compare r --scale d' 'difference'
    is 'nysbench compare r -w strat' 'strategy=|strategy_label='
    is 'nysbench run x.yaml -s land' 'landmarks='
    is 'nysbench plan x.yaml --set stu' 'study='
    is 'nysbench help comp' 'compare|comparing|components'
    is 'nysbench table r ran' 'ranks'
    is 'nysbench plot r err' 'error'
    is 'nysbench describe softm' 'softmax'
    is 'nysbench list strat' 'strategy'
    is 'nysbench' ''
    is '' ''
}

@test "specs: names, options that are not given yet, values, lists, specs in specs, ends" {
    local s='nysbench select --strategy'
    is "$s kme" 'kmeans|kmeans('
    is "$s 'kmeans(res" 'kmeans(restarts=|kmeans(restarts=1'
    is "$s 'kmeans(restarts=4" 'kmeans(restarts=4)|kmeans(restarts=4,'
    is "$s 'kmeans(restarts=4,res" ''
    is "$s 'kmeans(restarts=4, sna" 'kmeans(restarts=4, snap=|kmeans(restarts=4, snap=none'
    is "$s 'kmeans(restarts=[1, 4" 'kmeans(restarts=[1, 4]|kmeans(restarts=[1, 4,'
    is "$s 'kmeans(restarts=[1,4]" 'kmeans(restarts=[1,4])|kmeans(restarts=[1,4],'
    is "$s 'kmeans(metric=c" 'kmeans(metric=cosine'
    is "$s=kmeans\\(metric=c" '--strategy=kmeans(metric=cosine'
    is "$s 'kmeans(nothing=" ''
    is "$s 'kmeans(metri=c" ''
    is "$s 'kmeans(restarts=4)" ''
    is "$s 'nothing(" ''
    is 'nysbench measure --core sv' 'svd|svd('
    is "nysbench forward -a 'nystrom(strategy=segm" 'nystrom(strategy=segment_means'
    is "nysbench forward -a 'nystrom(strategy=kmeans(restarts=4)" 'nystrom(strategy=kmeans(restarts=4))|nystrom(strategy=kmeans(restarts=4),'
    is "nysbench forward -a 'nystrom(strategy=kmeans(metric=cosine,restarts=4),lan" \
        'nystrom(strategy=kmeans(metric=cosine,restarts=4),landmarks=|nystrom(strategy=kmeans(metric=cosine,restarts=4),landmarks=64'
}

# What the shells are tried on.
things() {
    mkdir -p "$WORK/bin" "$WORK/results/done" "$WORK/some/where"
    ln -s "$(realpath "$NYSBENCH")" "$WORK/bin/nysbench"
    touch "$WORK/one.yaml" "$WORK/with a blank.yaml" "$WORK/other.txt" "$WORK/.hidden.yaml" "$WORK/results/done/results.sqlite"
    PATH=$WORK/bin:$PATH
}

@test "files of the right kind, folders, runs" {
    things
    cd "$WORK"
    is 'nysbench plan ' 'bin/|one.yaml|results/|some/|with a blank.yaml'
    is 'nysbench plan .h' '.hidden.yaml'
    is 'nysbench plan o' 'one.yaml'
    is "nysbench plan 'with a b" 'with a blank.yaml'
    is 'nysbench plot ' 'results/done'
    is 'nysbench plot so' 'some/'
    is 'nysbench info results/d' 'results/done'
    is 'nysbench claims results/done results/' 'results/done'
    is 'nysbench merge results/done so' 'some/'
    is 'nysbench info results/done ' ''
    is 'nysbench run --out s' 'some/'
    is 'nysbench measure --head other' 'other.txt'
    is "nysbench plan $WORK/on" "$WORK/one.yaml"
    HOME=$WORK is 'nysbench plan ~/on' '~/one.yaml'
    is 'nysbench plan nowhere/' ''
}

@test "the answer needs no BLAS, and is there at once" {
    run env OPENBLAS_CORETYPE=nonsense NYSBENCH_TRACE=1 "$NYSBENCH" complete -- "nysbench pl"
    expect_status 0
    [ "${#lines[@]}" -eq 2 ]
    sanitized && return 0
    time_of() { # the shortest of ten, in ms
        local i start least=100000
        for i in $(seq 10); do
            start=$(date +%s%N)
            "$NYSBENCH" complete -- "nysbench select --strategy 'kmeans(" >/dev/null
            i=$((($(date +%s%N) - start) / 1000000))
            [ "$i" -ge "$least" ] || least=$i
        done
        echo "$least"
    }
    [ "$(time_of)" -lt 100 ]
}

# in_shell SHELL SCRIPT
in_shell() {
    command -v "$1" >/dev/null || skip "$1 is not installed"
    things
    run /usr/bin/python3 tests/cli/completion.py "$1" "src/commands/completions/$2" "$WORK"
    [ -z "$output" ] || { echo "$output"; return 1; }
    expect_status 0
}

@test "in bash, with quotes, brackets, commas and blanks" {
    in_shell bash nysbench.bash
}

@test "in zsh" {
    in_shell zsh _nysbench
}

@test "in fish" {
    in_shell fish nysbench.fish
}
