# SPDX-License-Identifier: GPL-3.0-or-later
# Every command: help, results on standard output, wrong arguments refused with 2.

load helpers

@test "--help everywhere" {
    run "$NYSBENCH" --help
    expect_status 0
    local command commands=(run plan plot table export list describe info select measure check new fit)
    for command in "${commands[@]}"; do expect "  $command"; done
    for command in "${commands[@]}"; do
        run "$NYSBENCH" "$command" --help # golden.bats has each
        expect_status 0
    done
}

@test "usage errors" {
    run "$NYSBENCH" run --set trials=1 --out "$WORK/r" --help
    expect_status 0
    run "$NYSBENCH" run --set trials=1 --out "$WORK/r" a b
    expect_status 2
    run "$NYSBENCH"
    expect_status 0
    tell nysbench
    told rnu
    expect_status 2
    told run
    expect_status 2
    told run a.yaml b.yaml
    expect_status 2
    told run --fresch a.yaml
    expect_status 2
    told run a.yaml --out
    expect_status 2
    told list strategie
    expect_status 2
    told describe kmean
    expect_status 2
    told export "$WORK" --format xml
    expect_status 2
    told plot "$WORK" eror
    expect_status 2
}

@test "a folder without a run" {
    for command in plot export; do
        told "$command" "$WORK"
        expect_status 2
    done
}

@test "list names every component but what calls a function of the library's user, describe explains it" {
    local name names
    names=$(components strategies src/problems src/kernels src/cores)
    of_json 'print(*sorted(r["name"] for r in x if r["kind"] in ("strategy", "problem", "kernel", "core")), sep="\n")' \
        "$NYSBENCH" list | diff <(grep -vx callback <<<"$names" | LC_ALL=C sort) -
    for name in $names; do
        [ "$("$NYSBENCH" describe "$name" | grep -c '^references:')" -eq 1 ]
    done
}

@test "info tells BLAS kernels and threads" {
    unset OPENBLAS_CORETYPE # what a caller's environment names may be slower kernels
    of_json 'assert x["blas"].startswith("OpenBLAS") and x["blas_kernels"], x
assert x["blas_threads"] == 1 and not x["blas_kernels_worse"], x' "$NYSBENCH" info
}

@test "OPENBLAS_CORETYPE: the user's valid choice wins, others are refused" {
    OPENBLAS_CORETYPE=Nehalem of_json 'assert x["blas_kernels"] == "Nehalem", x
assert x["blas_kernels_worse"] or x["blas_kernels_best"] == "Nehalem", x' "$NYSBENCH" info
    OPENBLAS_CORETYPE=Nehalm run "$NYSBENCH" info
    expect_status 2
    output=$(sed 's/this CPU allows .*/this CPU allows .../' <<<"$output") tell OPENBLAS_CORETYPE=Nehalm nysbench info
    OPENBLAS_CORETYPE=Nehalm run "$NYSBENCH" list # which computes nothing
    expect_status 0
    if ! grep -q avx512f /proc/cpuinfo; then
        OPENBLAS_CORETYPE=SkylakeX run "$NYSBENCH" info
        expect_status 2
        expect "OPENBLAS_CORETYPE=SkylakeX"
    fi
    OPENBLAS_NUM_THREADS=2 of_json 'assert x["blas_threads"] in (1, 2), x' "$NYSBENCH" info
}

@test "a command that computes nothing ends the threads of OpenBLAS, which would wait in a loop" {
    mkfifo "$WORK/pipe"
    OPENBLAS_NUM_THREADS=2 "$NYSBENCH" board "$WORK/pipe" 2>"$WORK/said" &
    local of=$! threads end=$((SECONDS + 10))
    exec 4>"$WORK/pipe" # which waits until it reads
    until threads=(/proc/"$of"/task/*) && [ ${#threads[@]} -eq 1 ] || [ $SECONDS -ge $end ]; do sleep 0.01; done
    echo '{}' >&4
    exec 4>&-
    wait "$of" || [ $? -eq 2 ]
    [ ${#threads[@]} -eq 1 ] # the system forgets a thread a moment after its end
}

@test "export: CSV is the run's file, JSON has the same rows" {
    "$NYSBENCH" run experiments/00-smoke.yaml -q --set plots=[] -o "$WORK/r" >/dev/null
    "$NYSBENCH" export "$WORK/r" >"$WORK/x.csv"
    cmp "$WORK/x.csv" "$WORK/r/rows.csv"
    "$NYSBENCH" export "$WORK/r" --format json >"$WORK/x.json"
    py check_export "$WORK/x.csv" "$WORK/x.json"
}

@test "standard output that cannot be written" {
    run bash -c "'$NYSBENCH' list > /dev/full"
    expect_status 1
    tell nysbench list
}

@test "plot draws again from the store alone, one kind or all" {
    "$NYSBENCH" run experiments/00-smoke.yaml -q --set plots=[] -o "$WORK/r" >/dev/null
    run "$NYSBENCH" plot "$WORK/r" error
    expect_status 0
    [ "$(find "$WORK/r/plots" -name 'error_*.svg' | wc -l)" -eq 2 ]
    [ -s "$WORK/r/plots/error_svd_rcond_1e-15.svg" ]
    [ ! -e "$WORK/r/plots/svd_vs_iterative.csv" ]
    (cd "$WORK/r/plots" && rm error_svd_rcond_1e-15.png && gnuplot error_svd_rcond_1e-15.gp &&
        [ -s error_svd_rcond_1e-15.png ])
}

@test "an installed program finds its plot scripts" {
    installed
    cd "$WORK"
    printf 'problems: gaussian(n=20, d=3)\nstrategies: uniform\ncores: svd\nlandmarks: [2, 4]\ntrials: 2\nname: x\n' \
        >x.yaml
    run "$INSTALLED_TREE/usr/bin/nysbench" run x.yaml
    expect_status 0
    [ -s results/x/plots/error_svd.svg ]
}

@test "a second start that did not get its kernels says so, and none leaves a trace" {
    NYSBENCH_STARTED_AGAIN=SkylakeX OPENBLAS_CORETYPE=Nehalem OPENBLAS_NUM_THREADS=1 warned info
    expect_status 0
    mkdir "$WORK/bin"
    printf '#!/bin/sh\nenv >"%s/env"\n' "$WORK" >"$WORK/bin/gnuplot"
    chmod +x "$WORK/bin/gnuplot"
    PATH="$WORK/bin:$PATH" "$NYSBENCH" info >/dev/null
    grep -q '^OPENBLAS_NUM_THREADS=1$' "$WORK/env"
    [ -z "$(grep NYSBENCH_STARTED_AGAIN "$WORK/env")" ]
}

@test "nothing in src/ knows a component by name" {
    names=$(components strategies src/problems src/cores | grep -vx heads)
    ! grep -rnE "nb_partition_(given|kmeans|none|random|segments)\b" src --include=*.c --include=*.h |
        grep -v "^src/partitions/" || return 1
    names=$(paste -sd '|' <<<"$names")
    grep -rnoE "nb_(strategy|problem|core)_($names)\b" src --include=*.c --include=*.h |
        awk -F: '{ name = $3; sub(/nb_(strategy|problem|core)_/, "", name) }
            $1 !~ "^src/(problems|cores)/" name ".c$"' >"$WORK/known"
    # a word of a component's own options may be another's name; clusters are also what the study coherence counts
    grep -rnE "\"(|[^\"]*[\`'])($names)[\"\`'(]" src --include=*.c --include=*.h |
        grep -vE "^src/(problems|cores|partitions|attentions)/|^src/studies/coherence/.*\"clusters\"" >>"$WORK/known" ||
            [ $? -eq 1 ]
    [ ! -s "$WORK/known" ] || { cat "$WORK/known"; return 1; }
}

@test "the strategies of README.md and docs/plugins.md work when pasted" {
    mkdir "$WORK/tree"
    cp -a Makefile CHANGELOG.md src strategies plots docs "$WORK/tree"
    mkdir "$WORK/tree/build" # the objects, so that only what is new is compiled
    cp -a build/src build/strategies build/*.[cdho] "$WORK/tree/build"
    sed -n '/^## A file in the tree/,/^## A plug-in/p' docs/plugins.md | sed -n '/^```c$/,/^```$/p' |
        sed '1d;$d' >"$WORK/tree/strategies/largest_norm.c"
    [ "$(wc -l <"$WORK/tree/strategies/largest_norm.c")" -le 40 ]
    sed -n '/^```c$/,/^```$/p' README.md | sed '1d;$d' >"$WORK/tree/strategies/every_kth.c"
    cd "$WORK/tree"
    make -s build/nysbench >"$WORK/log" 2>&1 || { cat "$WORK/log"; return 1; }
    [ -z "$(grep -iE 'warning|error' "$WORK/log")" ]
    printf '%s\n' 'problems: gaussian(n=40, d=3)' 'strategies: [uniform, largest_norm, every_kth]' 'cores: svd' \
        'landmarks: 4' 'name: x' 'plots: []' >x.yaml
    run build/nysbench run x.yaml
    expect_status 0
    [ "$(grep -c ',largest_norm,.*,ok,' results/x/rows.csv)" -eq 10 ]
    [ "$(grep -c ',every_kth,.*,ok,' results/x/rows.csv)" -eq 10 ]
    run build/nysbench check every_kth
    expect_status 0
}

@test "medians and quantiles in the figure's data are those of the rows (NumPy)" {
    undrawn
    "$NYSBENCH" run experiments/00-smoke.yaml -q --set trials=5 --set pairing=joint -o "$WORK/r" >/dev/null
    py check_quantiles "$WORK/r"
}

@test "plan has a line for heads that follow each other, and ten lines of data at most" {
    config <<'Y'
problems:
  - heads(file=experiments/data/minilm_us-constitution_n512_L3.safetensors, head=[0, 2, 3])
  - heads(file=experiments/data/vit_astronaut_n257_L6.safetensors)
strategies: uniform
landmarks: 4
cores: svd
Y
    run "$NYSBENCH" plan "$WORK/c.yaml"
    expect_status 0
    output=$(sed '1,/^scenes: /d' <<<"$output") tell nysbench plan
    for last in 12 10; do
        run "$NYSBENCH" plan "$WORK/c.yaml" --set "problems=gaussian(n=20, d=1..$last)"
        expect_status 0
        output=$(sed '1,/^scenes: /d' <<<"$output") tell nysbench plan --set "problems=gaussian(n=20, d=1..$last)"
    done
}

@test "of several things with one name the first is described, and a line names each other one" {
    run "$NYSBENCH" describe kmeans
    expect_status 0
    output=$(grep -E '^(kmeans|There)' <<<"$output") tell nysbench describe kmeans
    run "$NYSBENCH" describe partition/kmeans
    expect_status 0
    output=$(grep -E '^(kmeans|There)' <<<"$output") tell nysbench describe partition/kmeans
    run "$NYSBENCH" describe partition/uniform
    expect_status 2
    told describe partitio/kmeans
    expect_status 2
}

@test "no line of a plan is wider than 80 columns" {
    for experiment in 00-smoke 03-pinv 05-fitted-limits; do
        run "$NYSBENCH" plan "experiments/$experiment.yaml"
        expect_status 0
        [ "$(wc -L <<<"$output")" -le 80 ] || { echo "$output"; return 1; }
    done
}
