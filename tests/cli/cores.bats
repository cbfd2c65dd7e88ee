# SPDX-License-Identifier: GPL-3.0-or-later
# Cores compared: their figures' data, recomputed with NumPy from the rows.

load helpers

sweep() {
    "$NYSBENCH" run experiments/00-smoke.yaml -q --set trials=3 --set 'landmarks=[4, 8, 16]' \
        --set factors=nystromformer --set metrics=error \
        --set 'problems=["gaussian(n=60, d=8)", "clusters(n=64, d=8, count=4)"]' \
        --set 'strategies=[uniform, segment_means]' \
        --set 'cores=[svd, "svd(rcond=[0.1, 0.01, 1e-10])", iterative, "iterative(steps=[2, 12, 30])",
            "iterative(steps=[6, 12], precision=float)", "tikhonov(lambda=[0.1, 0.01, 0.0001])",
            "fitted(rows=[8, 16, 32])", fitted, chosen, best]' \
        --set 'plots=[cutoff, steps, cores, rows, precision]' -o "$WORK/r" "$@"
}

@test "figures by cut-off, steps, above the best core, rows and precision hold what the rows give" {
    sweep
    for figure in cutoff_uniform cutoff_segment_means steps_uniform cores_segment_means rows_fitted precision; do
        [ -s "$WORK/r/plots/$figure.dat" ]
        if command -v gnuplot >/dev/null; then [ -s "$WORK/r/plots/$figure.png" ]; fi
    done
    py check_figures "$WORK/r"
}

@test "a core that looks at all of S is skipped where rows are sampled" {
    undrawn
    sweep --set 'rows=sample(20)' --set 'cores=[best, fitted, "svd(rcond=1e-15)"]'
    reasons "$WORK/r"
    [ "$(grep -c ',skipped,' "$WORK/r/rows.csv")" -eq 36 ]
}

@test "the spectrum of A and the filter of six steps are those of the run's landmarks" {
    sweep --set 'plots=[spectrum]'
    [ -s "$WORK/r/plots/spectrum_iterative_steps_6.dat" ]
    "$NYSBENCH" export "$WORK/r" --landmarks "$WORK/landmarks"
    py check_spectrum "$WORK"
    told plot "$WORK/r" spectrum
    expect_status 0
}

@test "plot draws a figure of one m at any m of the run" {
    undrawn
    sweep
    for kind in cutoff steps spectrum; do
        "$NYSBENCH" plot "$WORK/r" $kind
        grep -q "m = 8" "$WORK/r/plots/$kind"_*.gp
        "$NYSBENCH" plot "$WORK/r" $kind -m 16
        if grep -q "m = 8" "$WORK/r/plots/$kind"_*.gp; then false; fi
        grep -q "m = 16" "$WORK/r/plots/$kind"_*.gp
        told plot "$WORK/r" $kind -m 9
        expect_status 1
    done
    py check_picked_m "$WORK/r"
    for words in "-m 8" "cores -m 8" "rows -m 8"; do
        told plot "$WORK/r" $words
        expect_status 2
    done
}

@test "measure gives a row to every core, whether it depends on the trial or not" {
    run "$NYSBENCH" measure --head experiments/data/vit_astronaut_n257_L6.safetensors:2 --strategy segment_means -m 8 \
        --trial 3 --metrics error --json \
        --core svd --core fitted --core iterative --core chosen
    expect_status 0
    py check_cores "$output"
}

@test "an iteration that rounding or its start drives out of its region is diverged, never a number, and says why" {
    py write_growing_head "$WORK"
    printf '%s\n' "problems: heads(file=$WORK)" 'strategies: uniform' 'landmarks: 8' 'trials: 1' 'draws: shared' \
        'metrics: error' 'plots: []' 'cores: ["iterative(steps=[6, 34, 60], precision=float)",' \
        '    "iterative(steps=[6, 66, 500])", "iterative(start=given, scale=0.001)",' \
        '    "iterative(steps=0, start=given, scale=0.001)", "shifted(gamma=0, steps=[6, 68])", chosen]' \
        >"$WORK/c.yaml"
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r" || [ $? -eq 1 ]
    py_tells check_diverged "$WORK/r/rows.csv"
}

@test "a scale is refused where the start has a divisor of its own" {
    for core in iterative newton_schulz damped_newton hyperpower chebyshev; do
        for start in paper exact worst; do
            told measure --head experiments/data/vit_astronaut_n257_L6.safetensors:2 --strategy uniform -m 8 \
                --core "$core(scale=3, start=$start)"
            expect_status 2
        done
        run "$NYSBENCH" measure --head experiments/data/vit_astronaut_n257_L6.safetensors:2 --strategy uniform -m 8 \
            --core "$core(scale=300, start=given)" --metrics error
        expect_status 0
    done
    printf '%s\n' 'problems: "gaussian(n=30, d=4)"' 'strategies: uniform' 'landmarks: 8' 'trials: 1' \
        'cores: ["iterative(start=[given, paper], scale=[1, 2])"]' >"$WORK/c.yaml"
    told plan "$WORK/c.yaml"
    expect_status 2
}

@test "a run draws again what was drawn of earlier rows, and leaves no figure of rows that are gone" {
    undrawn
    small() {
        "$NYSBENCH" run experiments/00-smoke.yaml -q --set trials=1 --set landmarks=4 --set factors=nystromformer \
            --set metrics=error \
            --set 'problems=gaussian(n=40, d=4)' --set plots=error -o "$WORK/r" "$@"
    }
    small --set 'strategies=[uniform, segment_means]' --set 'cores=[svd, iterative]'
    "$NYSBENCH" plot "$WORK/r" cutoff
    [ -s "$WORK/r/plots/cutoff_segment_means.dat" ]
    touch "$WORK/r/plots/error_notes.txt" "$WORK/r/plots/mine.png" "$WORK/r/plots/error_for_paper.png" \
        "$WORK/r/plots/rows_backup.csv"
    echo "plot 'mine'" >"$WORK/r/plots/cutoff_mine.gp"
    mkdir "$WORK/r/plots/error_old.gp"
    small --set strategies=uniform --set 'cores=[svd, "svd(rcond=0.1)", "svd(rcond=0.2)"]'
    grep -q ",svd,1,2" "$WORK/r/plots/cutoff.csv" # rcond = 0.2
    for gone in cutoff_segment_means.dat cutoff_segment_means.gp error_iterative.gp; do
        if [ -e "$WORK/r/plots/$gone" ]; then echo "$gone is there"; false; fi
    done
    for kept in cutoff_uniform.dat curves.gp error_svd.gp error_notes.txt mine.png error_for_paper.png rows_backup.csv \
        cutoff_mine.gp error_old.gp; do
        [ -e "$WORK/r/plots/$kept" ]
    done
    warned plot "$WORK/r" rows
    expect_status 0
}

@test "the spectra of one problem's heads share a panel, however the heads were named" {
    undrawn
    file=experiments/data/vit_astronaut_n257_L6.safetensors
    "$NYSBENCH" run experiments/00-smoke.yaml -q --set trials=1 --set landmarks=8 --set factors=nystromformer \
        --set metrics=error --set strategies=uniform \
        --set "problems=[\"heads(file=$file, head=0)\", \"gaussian(n=40, d=4)\", \"heads(file=$file, head=[1, 2])\"]" \
        --set plots=spectrum -o "$WORK/r"
    py check_panels "$WORK/r/plots/spectrum.csv"
}

@test "the table of cores holds the medians of the rows" {
    "$NYSBENCH" run experiments/00-smoke.yaml --set trials=3 --set 'landmarks=[4, 8, 60]' --set metrics=error \
        --set "problems=[\"gaussian(n=60, d=8)\", \"clusters(n=64, d=8, count=4)\", heads(file=$ASTRONAUT)]" \
        --set 'cores=["svd(rcond=1e-15)", iterative, fitted, best]' --set plots=[] -q -o "$WORK/r" >/dev/null
    "$NYSBENCH" table "$WORK/r" cores >"$WORK/out"
    py check_table "$WORK"
}

# A program for command(run="python3 x.py HOW", ...), served or not, which keeps the last F, A and B of each HOW.
program() {
    cp "$REPOSITORY/tests/cli/plugins/cores.py" "$WORK/x.py"
    cd "$WORK"
}

core() { # HOW [OPTION...]: a line of a list
    local IFS=,
    echo "  - 'command(run=\"/usr/bin/python3 x.py $1\"${2:+, }${*:2})'"
}

@test "command: a program gets F, A, B, and its pseudo-inverse gives svd's rows, by both engines, from some rows" {
    local head
    head=$PWD/experiments/data/vit_astronaut_n257_L6.safetensors
    program
    save_head head qk 23,3 5
    {
        printf '%s\n' 'problems: heads(file=head)' 'strategies: [segment_means, uniform]' 'landmarks: [4, 7]' \
            'trials: 2' 'plots: []' 'metrics: [error, core_residual]' 'cores:' '  - svd(rcond=1e-9)'
        core served serve=true
        core started deterministic=true
        core single serve=true
        core column serve=true deterministic=true
    } >c.yaml
    local how
    for how in "engine=streamed factors=[nystromformer,cur]" "engine=direct factors=[nystromformer,cur]" \
        "rows=sample(9) factors=nystromformer"; do
        "$NYSBENCH" run c.yaml -q -j 2 -o r --fresh --set "${how% *}" --set "${how#* }"
        py check_request
    done
    py check_rows
    for how in nystromformer cur; do
        "$NYSBENCH" measure --head head --strategy uniform -m 7 --factors $how \
            --core "$(core $how | sed "s/^  - '//; s/'$//")" >/dev/null
    done
    py check_tokens
    # a forward pass: float32 outputs of at most 1, from the same X but for the rounding above
    "$NYSBENCH" forward --head "$head" \
        --attention 'nystrom(landmarks=16, core=command(run="/usr/bin/python3 x.py served", serve=true))' -o one.npy
    "$NYSBENCH" forward --head "$head" --attention 'nystrom(landmarks=16, core=svd(rcond=1e-9))' -o two.npy
    py check_outputs one.npy two.npy
}

@test "command: a core's mistake is a failed row, an X that is not finite a diverged one; core_s leaves out waiting" {
    program
    {
        printf '%s\n' 'problems: gaussian(n=20, d=2)' 'strategies: uniform' 'landmarks: 3' 'trials: 1' 'plots: []' \
            'metrics: error' 'cores:' '  - svd'
        local how
        for how in half whole flat small nan nothing oops; do core $how serve=true; done
        core picks serve=true
        core oops
    } >c.yaml
    run "$NYSBENCH" run c.yaml -q -j 1 -o r
    expect_status 1
    py_tells check_reasons
    local before after
    read -r before _ </proc/uptime
    "$NYSBENCH" measure --head "$OLDPWD/$ASTRONAUT:1" --strategy uniform -m 4 --metrics error \
        --core 'command(run="/usr/bin/python3 x.py late", serve=true)' --json >late.json
    read -r after _ </proc/uptime
    py check_late "$before" "$after"
    told run c.yaml -q -o s --set 'cores=command(run="./none")'
    expect_status 2
    told measure --head "$OLDPWD/$ASTRONAUT:1" --strategy uniform -m 4 --core 'exact_rows(of=command(run="./none"))'
    expect_status 2
    "$NYSBENCH" run c.yaml -q -o s --set 'rows=sample(5)' --set factors=cur \
        --set 'cores=command(run="/usr/bin/python3 x.py cur")'
    reasons s
}

@test "command: check makes the checks of a core where it is told to, and tells a program that does not draw" {
    program
    run "$NYSBENCH" check --kind core "command(run=\"/usr/bin/python3 x.py served\", serve=true, deterministic=true)"
    expect_status 0
    tell_verdicts nysbench check --kind core deterministic=true
    run "$NYSBENCH" check --kind core "command(run=\"/usr/bin/python3 x.py served\", serve=true)"
    expect_status 1
    tell_verdicts nysbench check --kind core
    told check --kind kernel svd
    expect_status 2
}

@test "a row that stands for all trials counts in each, also where only twice the landmarks have several" {
    head="heads(file=experiments/data/panel/minilm_opticks-b_n256_L3.safetensors, head=0, max_n=64)"
    cat >"$WORK/e.yaml" <<END
question: twice
trials: 5
problems: "$head"
strategies: segment_means
plots: []
blocks:
  - {landmarks: 8, cores: [svd(rcond=0.03), iterative]}
  - {landmarks: 16, cores: [svd(rcond=0.03), iterative, chosen(rows=32)]} # draws rows: five trials
END
    "$NYSBENCH" run "$WORK/e.yaml" -q -o "$WORK/r"
    # of 2 cores with m = 8 each is against 3 with m = 16, in five trials
    "$NYSBENCH" table "$WORK/r" equal_cost -f csv --confounded rows_seen | sed 1d >"$WORK/lines"
    [ "$(wc -l <"$WORK/lines")" -eq 6 ]
    [ "$(grep -c ',8,.*,16,5,' "$WORK/lines")" -eq 6 ]
}
