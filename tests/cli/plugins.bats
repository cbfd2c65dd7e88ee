# SPDX-License-Identifier: GPL-3.0-or-later
# Strategies of users: shared objects, programs, and `check` and `new`.

load helpers

# What several tests read is made once: the plug-in `mine` of the template, early.c, and the two calls that wait 20 s
# for a plug-in that hangs, which go on beside the other tests.
setup_file() {
    setup
    installed
    "$NYSBENCH" new strategy mine --out "$BATS_FILE_TMPDIR/mine" >/dev/null
    plugin "$BATS_FILE_TMPDIR/mine/mine.c" "$BATS_FILE_TMPDIR/mine.so"
    cc -std=c11 -D_GNU_SOURCE -I. -Isrc -Istrategies -shared -fPIC tests/cli/plugins/early.c \
        -o "$BATS_FILE_TMPDIR/early.so"
    hanging begins 1 list --plugin "$BATS_FILE_TMPDIR/early.so"
    hanging picks 3 select --head experiments/data/vit_astronaut_n257_L6.safetensors:0 \
        --plugin "$BATS_FILE_TMPDIR/early.so" \
        --strategy early -m 3 -o "$BATS_FILE_TMPDIR/k.npy"
    teardown
}

# hanging NAME PLACE ARGUMENT...: the program in the background, where early.c hangs at PLACE; NAME.txt gets what it
# says, NAME.status its exit status, NAME.pid the process that ends after both.
hanging() {
    local name=$BATS_FILE_TMPDIR/$1
    (
        code=0
        EARLY=$2 HARM=hang "$NYSBENCH" "${@:3}" >"$name.txt" 2>&1 || code=$?
        echo $code >"$name.status"
    ) </dev/null >/dev/null 2>&1 3>&- &
    echo $! >"$name.pid"
}

# Compiles a plugin against the installed headers: plugin SOURCE.c OUT.so [FLAGS].
plugin() {
    local flags
    flags=$(with_headers pkg-config --cflags nysbench)
    cc $flags -Wall -Wextra -Wpedantic -Werror -shared -fPIC "${@:3}" "$1" -o "$2"
}

# One head of a .safetensors file, as float64: tensor FILE NAME HEAD OUT.npy.
tensor() {
    py write_tensors "$@"
}

# The environment in which pkg-config finds what is installed.
with_headers() {
    PKG_CONFIG_PATH="$INSTALLED_TREE/usr/lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$INSTALLED_TREE" "$@"
}

# The template under the name mine: mine.c and mine.so.
mine() {
    cp "$BATS_FILE_TMPDIR/mine/mine.c" "$BATS_FILE_TMPDIR/mine.so" "$WORK"
}

@test "new writes a plugin that builds, passes its checks and runs; results name it" {
    mine
    run "$NYSBENCH" check "$WORK/mine.so"
    tell_verdicts nysbench check "$WORK/mine.so"
    run "$NYSBENCH" list strategies --plugin "$WORK/mine.so"
    expect "  mine  "
    run "$NYSBENCH" describe --plugin "$WORK/mine.so" mine
    expect "smallest"
    config <<EOF
plugins: [$WORK/mine.so]
problems: gaussian(n=40, d=3)
strategies: [uniform, mine, mine(smallest=true)]
cores: svd
landmarks: [4, 40]
trials: 2
plots: []
EOF
    run "$NYSBENCH" run "$WORK/c.yaml" -q -j 2 -o "$WORK/r" --plugin "$WORK/mine.so"
    expect_status 0
    [ "$(grep -c ',mine(smallest=.*,ok,' "$WORK/r/rows.csv")" -eq 8 ]
    grep -qF -- "- \"$WORK/mine.so\"" "$WORK/r/resolved.yaml"
    py check_results "$WORK"
    run "$NYSBENCH" run "$WORK/r/resolved.yaml" -q -o "$WORK/again"
    expect_status 0
    diff <(timeless "$WORK/r/rows.csv") <(timeless "$WORK/again/rows.csv")
    "$NYSBENCH" export "$WORK/r" --plugin "$WORK/mine.so" --landmarks "$WORK/landmarks"
    grep -q 'mine(smallest=true)' "$WORK/landmarks/index.csv"
}

@test "new and check know every kind; what new writes builds, passes its checks and runs" {
    for kind in core kernel problem attention; do
        run "$NYSBENCH" new "$kind" "my_$kind" --out "$WORK/$kind"
        expect_status 0
        ! grep -qi template "$WORK/$kind/my_$kind.c" || return 1
        plugin "$WORK/$kind/my_$kind.c" "$WORK/$kind.so"
        run "$NYSBENCH" check "$WORK/$kind.so"
        tell_verdicts nysbench check "$WORK/$kind.so"
        run "$NYSBENCH" check --plugin "$WORK/$kind.so" "my_$kind"
        expect_status 0
    done
    config <<EOF
plugins: [$WORK/core.so, $WORK/kernel.so, $WORK/problem.so]
problems: ["my_problem(n=40, d=3)", "my_problem(n=40, d=3, permute=true)"]
kernels: [softmax, my_kernel, my_kernel(shift=0)]
strategies: [uniform, kmeans]
cores: [svd, my_core, my_core(scale=2)]
landmarks: [4, 40]
trials: 2
plots: []
EOF
    run "$NYSBENCH" run "$WORK/c.yaml" -q -j 2 -o "$WORK/r"
    expect_status 0
    expect_rows "$WORK/r" "144 ok"
    local heads=experiments/data/vit_astronaut_n257_L6.safetensors
    run "$NYSBENCH" forward --plugin "$WORK/attention.so" --head $heads -a 'my_attention(share=0.25)' -o "$WORK/out.npy"
    expect_status 0
    py check_outputs "$WORK/out.npy" $heads
}

# fails ARGUMENT...: the verdicts of a check that fails are golden; $output is all that it says.
fails() {
    run "$NYSBENCH" check "$@"
    expect_status 1
    tell_verdicts nysbench check "$@"
}

@test "check says of a reference and of a summary that they are too short" {
    curt() { # REFERENCES SUMMARY
        sed -e "s|^static const char \*const references.*|static const char *const references[] = {$1};|" \
            -e "s|\"breaks a promise\"|$2|" tests/cli/plugins/bad.c >"$WORK/curt.c"
        build_plugin "$WORK/curt.c" "$WORK/curt.so"
        fails --plugin "$WORK/curt.so" not_random
    }
    curt '"Me, 2020", NULL' '"breaks a promise"'
    curt '"none: made to fail", NULL' '"short"'
}

@test "check tells each broken promise of cores, kernels and problems" {
    plugin tests/cli/plugins/bad_kinds.c "$WORK/bad_kinds.so" -Wno-cast-qual
    fails "$WORK/bad_kinds.so" --timeout 5
    printf 'problems: other_shape\nstrategies: uniform\ncores: svd\nlandmarks: 4\ntrials: 1\nplots: []\n' \
        >"$WORK/c.yaml"
    for name in other_shape other_width; do # a run sees it before its first row
        told run "$WORK/c.yaml" --set "problems=$name" -q --plugin "$WORK/bad_kinds.so" -o "$WORK/r"
        expect_status 2
    done
}

@test "check tells each broken promise of attentions; forward, what they say themselves" {
    plugin tests/cli/plugins/bad_attentions.c "$WORK/bad_attentions.so" -Wno-cast-qual
    fails "$WORK/bad_attentions.so" --timeout 20
    local name
    for name in refuses diverges; do
        told forward --plugin "$WORK/bad_attentions.so" -a "$name" -o "$WORK/out.npy" \
            --head experiments/data/vit_astronaut_n257_L6.safetensors
        [ "$status" -gt 0 ]
        [ ! -e "$WORK/out.npy" ]
    done
}

@test "check does not take what a component fails with by itself for a lack of memory" {
    fails 'command(run="sh -c \"exit 3\"", deterministic=true)'
}

@test "a plug-in is compiled with the program's headers, in a checkout, where it is installed and in a wheel" {
    cd "$WORK"
    "$NYSBENCH" new core mine
    local program
    mkdir -p wheel/include
    cp "$INSTALLED_TREE/usr/bin/nysbench" wheel
    cp -R "$INSTALLED_TREE/usr/include/nysbench" wheel/include
    for program in "$NYSBENCH" "$INSTALLED_TREE/usr/bin/nysbench" wheel/nysbench; do
        rm -f mine.so
        flags=$("$program" info | sed -n 's/^plugin_flags  *//p')
        eval "cc -Wall -Wextra -Werror $flags -shared -fPIC mine.c -o mine.so"
        "$NYSBENCH" check mine.so >/dev/null
    done
    run wheel/nysbench info
    expect "-I$WORK/wheel/include/nysbench"
    make -B CC=echo NYSBENCH=-Iother | grep -q -- "-Iother -shared"
}

@test "what new and demo print to go on with are commands, by the name that the program was called by" {
    cd "$WORK"
    ln -s "$NYSBENCH" nysbench
    run ./nysbench new strategy mine --out "a folder"
    tell nysbench new strategy mine --out "a folder"
    grep '^  ' <<<"$output" >commands
    [ "$(cut -c 3- commands)" = "make -C 'a folder'
./nysbench check 'a folder/mine.so'
./nysbench run --plugin 'a folder/mine.so' EXPERIMENT.yaml" ]
    printf 'problems: gaussian(n=20, d=3)\nstrategies: mine\ncores: svd\nlandmarks: 4\ntrials: 1\nplots: []\n' \
        >EXPERIMENT.yaml
    run sh -e commands # the headers are those of the program, which is not installed
    tell_verdicts sh -e commands
    expect_rows results/EXPERIMENT "1 ok"
    mkdir here
    cd here
    run ../nysbench new core mine
    tell ../nysbench new core mine
    run env PATH="$WORK:$PATH" nysbench new experiment x.yaml
    tell nysbench new experiment x.yaml
    mkdir -p src/kernels
    touch src/kernels/kernel.h
    run ../nysbench new kernel mine
    tell ../nysbench new kernel mine
}

@test "new refuses bad names and files that are there; in the source tree it writes into strategies/" {
    for name in Mine 1st a-b ../x uniform; do
        run "$NYSBENCH" new strategy "$name" --out "$WORK/n"
        expect_status 2
    done
    told new partition mine
    expect_status 2
    "$NYSBENCH" new strategy mine --out "$WORK/n" >/dev/null
    told new strategy mine --out "$WORK/n"
    expect_status 2
    [ "$(wc -l <"$WORK/n/Makefile")" -le 5 ]
    grep -q nb_strategy_mine "$WORK/n/mine.c"
    ! grep -qi template "$WORK/n/mine.c" || return 1
    mkdir -p "$WORK/tree/strategies"
    cp strategies/TEMPLATE.c strategies/strategy.h "$WORK/tree/strategies"
    cd "$WORK/tree"
    "$NYSBENCH" new strategy other >/dev/null
    [ -s strategies/other.c ] && [ ! -e Makefile ]
    mkdir -p src/cores
    touch src/cores/core.h
    "$NYSBENCH" new core other >/dev/null
    [ -s src/cores/other.c ] && [ ! -e Makefile ]
}

@test "what is no plugin, or not for this program, is refused" {
    told list --plugin "$WORK/none.so"
    expect_status 2
    echo text >"$WORK/text.so"
    told list --plugin "$WORK/text.so"
    expect_status 2
    echo 'int nothing;' >"$WORK/empty.c"
    cc -shared -fPIC "$WORK/empty.c" -o "$WORK/empty.so"
    told list --plugin "$WORK/empty.so"
    expect_status 2
    mine
    local declared="static const nb_plugin_part parts[] = {\1, {0}}; extern const nb_plugin nysbench_plugin;"
    sed "s/NB_PLUGIN(\(.*\)); .*/$declared const nb_plugin nysbench_plugin = {NB_ABI + 5, parts};/" \
        "$WORK/mine.c" >"$WORK/wrong.c"
    plugin "$WORK/wrong.c" "$WORK/wrong.so"
    told list --plugin "$WORK/wrong.so"
    expect_status 2
    sed 's/"mine"/"uniform"/' "$WORK/mine.c" >"$WORK/twice.c"
    plugin "$WORK/twice.c" "$WORK/twice.so"
    told list --plugin "$WORK/twice.so"
    expect_status 2
    cp "$WORK/mine.so" "$WORK/copy.so"
    told list --plugin "$WORK/mine.so" --plugin "$WORK/copy.so"
    expect_status 2
    run "$NYSBENCH" list --plugin "$WORK/mine.so" --plugin "$WORK/./mine.so"
    expect_status 0
    printf 'plugins: %s\nproblems: gaussian(n=40, d=3)\nstrategies: mine\ncores: svd\n' "$WORK/none.so" >"$WORK/c.yaml"
    told plan "$WORK/c.yaml"
    expect_status 2
}

@test "a plugin of two kinds: a core and a problem" {
    cat >"$WORK/two.c" <<'EOF'
#include "cores/core.h"
#include "problems/problem.h"

static const char *const references[] = {"none: an example", NULL};
static const nb_option options[] = {NB_OPTION_END};

static nb_status compute(nb_factors *f, const void *o, double *x, nb_ctx *ctx)
{
    (void)o, (void)ctx;
    for (int i = 0; i < nb_factors_m(f) * nb_factors_m(f); i++) x[i] = 0;
    return NB_OK;
}

static nb_status shape(const void *o, nb_problem_shape *s, nb_ctx *ctx)
{
    (void)o, (void)ctx;
    *s = (nb_problem_shape){.count = 1, .n = 9, .d = 2};
    return NB_OK;
}

static nb_status make(const void *o, int head, nb_head *out, nb_ctx *ctx)
{
    (void)o, (void)head;
    return nb_head_new(9, 2, out, ctx);
}

static const nb_core zero = {{"zero", "X = 0: the error is 1", references, options, 0}, .compute = compute};
static const nb_problem origin = {{"origin", "all points are zero", references, options, 0},
                                  .shape = shape, .make = make};
NB_PLUGIN({"core", &zero.component}, {"problem", &origin.component});
EOF
    plugin "$WORK/two.c" "$WORK/two.so"
    printf 'problems: origin\nstrategies: uniform\ncores: zero\nlandmarks: 3\ntrials: 1\nplots: []\n' >"$WORK/c.yaml"
    run "$NYSBENCH" run "$WORK/c.yaml" -q --plugin "$WORK/two.so" -o "$WORK/r"
    expect_status 0
    of_csv "$WORK/r/rows.csv" 'row, = rows; assert row["core"] == "zero" and abs(float(row["error"]) - 1) < 1e-15'
    told run "$WORK/c.yaml" -q -o "$WORK/r"
    expect_status 2
}

@test "the program exports every function that the installed headers declare" {
    command -v gcc >/dev/null || skip "needs gcc's -aux-info"
    cd "$INSTALLED_TREE/usr/include/nysbench"
    find . -name '*.h' | sed 's|.*|#include "&"|' >"$WORK/all.c"
    gcc -I. -aux-info "$WORK/functions" -fsyntax-only "$WORK/all.c"
    grep -oE '\bnb_[a-z_0-9]+ \(' <(grep -v '/\* /usr' "$WORK/functions" | sed 's|/\*.*\*/||; s/(\*/ /') | tr -d ' (' |
        sort -u >"$WORK/declared"
    nm -D --defined-only "$NYSBENCH" | awk '{print $3}' | sort -u >"$WORK/exported"
    [ "$(wc -l <"$WORK/declared")" -gt 50 ]
    [ -z "$(comm -23 "$WORK/declared" "$WORK/exported")" ] || { comm -23 "$WORK/declared" "$WORK/exported"; return 1; }
}

@test "each installed header stands alone, and those of the kinds lead to all of them; scene and factors are opaque" {
    cd "$INSTALLED_TREE/usr/include/nysbench"
    local header
    for header in $(find . -name '*.h'); do echo "#include \"$header\"" >"$WORK/$(tr / _ <<<"${header#./}").c"; done
    cc -std=c11 -I. -Wall -Wextra -Wpedantic -Werror -fsyntax-only "$WORK"/*.h.c
    printf '#include "%s"\n' strategy.h problems/problem.h kernels/kernel.h cores/core.h \
        attentions/attention.h >"$WORK/kinds.c"
    diff <(cc -std=c11 -I. -MM "$WORK/kinds.c" | tr ' ' '\n' | sed -n 's|^[.]/||; /[.]h$/p' | sort -u) \
        <(find . -name '*.h' | cut -c3- | sort)
    printf \
        '#include "strategy.h"\nint f(const nb_scene *s);\nint f(const nb_scene *s) { return nb_scene_head(s)->n; }\n' \
        >"$WORK/one.c"
    cc -std=c11 -I. -Wall -Werror -fsyntax-only "$WORK/one.c"
    sed -i 's/nb_scene_head(s)->n/s->keep/' "$WORK/one.c"
    run cc -std=c11 -I. -Wall -Werror -fsyntax-only "$WORK/one.c"
    expect "incomplete"
    printf '#include "cores/core.h"\nint f(const nb_factors *s);\nint f(const nb_factors *s) { return s->m; }\n' \
        >"$WORK/one.c"
    run cc -std=c11 -I. -Wall -Werror -fsyntax-only "$WORK/one.c"
    expect "incomplete"
}

@test "plug-ins may do all that the headers document: every trait, oracles of S, notes, options that are components" {
    plugin tests/cli/plugins/whole.c "$WORK/whole.so"
    printf '%s\n' 'problems: gaussian(n=40, d=3)' 'strategies: [whole, whole(start=leverage), whole(start=kmeans)]' \
        'cores: [cut, "exact_rows(of=cut)"]' 'landmarks: [4, 20]' 'trials: 1' 'plots: []' >"$WORK/c.yaml"
    told run "$WORK/c.yaml" -q --plugin "$WORK/whole.so" -o "$WORK/r"
    expect_status 1
    [ "$(grep -c ',ok,' "$WORK/r/rows.csv")" -eq 4 ]
    of_csv "$WORK/r/rows.csv" 'assert {float(r["core_cutoff"]) for r in rows if r["status"] == "ok"} == {1e-3}'
    run "$NYSBENCH" check --plugin "$WORK/whole.so" whole
    expect_status 0
    run "$NYSBENCH" check --plugin "$WORK/whole.so" cut
    expect_status 0
}

@test "check tells each broken promise, and outlives a crash and a hang" {
    plugin tests/cli/plugins/bad.c "$WORK/bad.so" -Wno-cast-qual
    fails "$WORK/bad.so" --timeout 1
    # as wide as the terminal, with the same words
    COLUMNS=80 "$NYSBENCH" check "$WORK/bad.so" --timeout 1 >"$WORK/narrow" 2>&1 || [ $? -eq 1 ]
    sed -i 1d "$WORK/narrow" # the note on standard error is one line
    [ "$(awk 'length > 80' "$WORK/narrow" | wc -l)" -eq 0 ]
    diff <(tr -s ' \n' '\n\n' <"$WORK/narrow") <(tail -n +2 <<<"$output" | tr -s ' \n' '\n\n')
    run "$NYSBENCH" check uniform
    expect_status 0
    told check unifrm
    expect_status 2
}

@test "before anything runs a child tries a plug-in: a crash, an exit, a hang are told; its rounding stays its own" {
    printf '%s\n' 'problems: early_problem' 'strategies: [uniform, early]' 'cores: [svd, early_core]' 'landmarks: 3' \
        'trials: 1' 'plots: []' >"$WORK/c.yaml"
    cp "$BATS_FILE_TMPDIR/early.so" "$WORK"
    for place in 1 2 3 4 5 6 8 9; do
        for harm in abort "exit 0" "exit 3"; do
            EARLY=$place HARM=$harm run "$NYSBENCH" run "$WORK/c.yaml" -q --plugin "$WORK/early.so" -o "$WORK/r"
            tell EARLY="$place" HARM="$harm" nysbench run
            expect_status 2
            [[ "$output" != *"a plug-in prints"* ]]
            [ ! -e "$WORK/r" ]
        done
    done
    run "$NYSBENCH" run "$WORK/c.yaml" -q --plugin "$WORK/early.so" -o "$WORK/r"
    expect_status 0
    for place in 1 2 3 4 5 6 8 9 11; do # 1: as code that was built with -ffast-math does
        EARLY=$place HARM=round run "$NYSBENCH" run "$WORK/c.yaml" -q --plugin "$WORK/early.so" --fresh -o "$WORK/s"
        expect_status 0
        cmp <(timeless "$WORK/r/rows.csv") <(timeless "$WORK/s/rows.csv") || { echo "place $place"; return 1; }
    done
}

# early_config: $WORK/c.yaml with the plug-in's strategy and core among others.
early_config() {
    printf '%s\n' 'problems: "gaussian(n=60, d=4)"' 'strategies: [uniform, early]' 'cores: [svd, early_core]' \
        'landmarks: [3, 12]' 'trials: 2' 'plots: []' >"$WORK/c.yaml"
    cp "$BATS_FILE_TMPDIR/early.so" "$WORK"
}

@test "neither the program nor a worker loads a plug-in: calls and questions have processes of their own" {
    early_config
    local command main
    for command in "plan $WORK/c.yaml" "run $WORK/c.yaml -q -j 1 --fresh -o $WORK/r" \
        "run $WORK/c.yaml -q -j 2 --fresh -o $WORK/r" "check early" "list strategies"; do
        rm -f "$WORK/loads"
        LOADS=$WORK/loads "$NYSBENCH" $command --plugin "$WORK/early.so" >/dev/null 2>&1 3>&- &
        main=$!
        wait "$main"
        grep -q . "$WORK/loads"
        ! grep -q "^$main " "$WORK/loads" || { echo "loaded by the program: $command"; return 1; }
        [[ $command != run* ]] || awk -v main="$main" '$2 != main { loaded[$1]; parent[$2] }
            END { for (p in parent) { workers++; if (p in loaded) exit 1 } exit !workers }' "$WORK/loads" ||
            { echo "loaded by a worker: $command"; return 1; }
    done
}

@test "what a constructor does to its process changes no other row and no file" {
    early_config
    "$NYSBENCH" run "$WORK/c.yaml" -q --plugin "$WORK/early.so" -o "$WORK/r"
    local harm
    for harm in round move mask "few files" "no children" environment handler; do
        EARLY=1 HARM=$harm run "$NYSBENCH" run "$WORK/c.yaml" -q -j 2 --plugin "$WORK/early.so" --fresh -o "$WORK/s"
        expect_status 0
        [ "$(grep -v "^a plug-in prints$" <<<"$output")" = "rows: 16, 16 ok" ] || { echo "$harm: $output"; return 1; }
        cmp <(timeless "$WORK/r/rows.csv") <(timeless "$WORK/s/rows.csv") || { echo "$harm"; return 1; }
        [ "$(stat -c %a "$WORK/s/rows.csv")" = "$(stat -c %a "$WORK/r/rows.csv")" ]
    done
    EARLY=1 HARM=close told plan "$WORK/c.yaml" --plugin "$WORK/early.so"
    expect_status 2
}

@test "a constructor that ends its process or hangs only the second time is told, with the file" {
    early_config
    local harm command
    for harm in abort "exit 0" hang; do
        for command in plan "run -q --timeout 1 -o $WORK/r"; do
            if [[ $harm == hang && $command == plan ]]; then continue; fi # it waits 20 s
            rm -f "$WORK/spared"
            SPARED=$WORK/spared EARLY=1 HARM=$harm run timeout 300 "$NYSBENCH" $command "$WORK/c.yaml" \
                --plugin "$WORK/early.so"
            expect_status 2
            [[ $harm != hang ]] || expect "after 1 s"
            tell HARM="$harm" nysbench $command
        done
    done
}

@test "a plug-in that is made anew while a command runs ends it" {
    early_config
    RENEWED=$WORK/early.so EARLY=1 HARM=renew told run "$WORK/c.yaml" -q --plugin "$WORK/early.so" \
        -o "$WORK/r"
    expect_status 2
    "$NYSBENCH" run "$WORK/c.yaml" -q --plugin "$WORK/early.so" -o "$WORK/r"
}

@test "what a plug-in tells is asked in a child and kept: where that ends, rows are measured, and it is told once" {
    printf '%s\n' 'problems: "gaussian(n=90, d=8)"' 'strategies: [uniform, early]' 'cores: [svd, early_core]' \
        'landmarks: 3' 'trials: 4' 'plots: []' >"$WORK/c.yaml"
    "$NYSBENCH" run "$WORK/c.yaml" -q --plugin "$BATS_FILE_TMPDIR/early.so" -o "$WORK/r"
    for harm in abort "exit 0"; do
        EARLY=11 HARM=$harm run "$NYSBENCH" run "$WORK/c.yaml" -q -j 1 --plugin "$BATS_FILE_TMPDIR/early.so" --fresh \
            -o "$WORK/s"
        expect_status 0
        expect_rows "$WORK/s" "16 ok"
        output=$(grep '^nysbench: ' <<<"$output") tell EARLY=11 HARM="$harm" nysbench run
    done
    EARLY=10 HARM=abort run "$NYSBENCH" run "$WORK/c.yaml" -q --plugin "$BATS_FILE_TMPDIR/early.so" --fresh -o "$WORK/s"
    expect_status 0
    cmp <(timeless "$WORK/r/rows.csv") <(timeless "$WORK/s/rows.csv")
    printf '%s\n' 'study: forward' "problems: heads(file=$ASTRONAUT)" 'attentions: [naive, early_attention]' \
        'plots: []' >"$WORK/f.yaml"
    EARLY=11 HARM=abort warned plan "$WORK/f.yaml" --plugin "$BATS_FILE_TMPDIR/early.so"
    expect_status 0
    EARLY=11 HARM=abort run "$NYSBENCH" run "$WORK/f.yaml" -q -o "$WORK/f" --plugin "$BATS_FILE_TMPDIR/early.so"
    expect_status 1 # the process that computes its rows needs it
    expect_rows "$WORK/f" "10 ok, 10 crashed"
}

@test "before anything runs a plug-in has the time of --timeout; check tells what hangs, refuses or crashes" {
    printf 'problems: early_problem\nstrategies: early\ncores: svd\nlandmarks: 3\ntrials: 1\nplots: []\n' \
        >"$WORK/c.yaml"
    local name place
    hangs() { # NAME PLACE ARGUMENT...: in the background
        EARLY=$2 HARM=hang timeout 300 "$NYSBENCH" "${@:3}" \
            --plugin "$BATS_FILE_TMPDIR/early.so" >"$WORK/$1-$2.txt" 2>&1 3>&- &
    }
    for place in 1 2 3 4; do
        hangs early "$place" check early --timeout 1
        hangs run "$place" run "$WORK/c.yaml" --timeout 1 -o "$WORK/r$place"
    done
    hangs early_core 6 check early_core --timeout 1
    hangs early_attention 7 check early_attention --timeout 1
    wait
    for name in early-{1,2,3,4} early_core-6 early_attention-7 run-{1,2,3,4}; do
        output=$(grep -E '^(FAIL|nysbench: error)' "$WORK/$name.txt") status=0 tell "$name"
        grep -q 'after 1 s' "$WORK/$name.txt" # not after the 20 s that there are without --timeout
    done
    EARLY=4 HARM=abort fails early --plugin "$BATS_FILE_TMPDIR/early.so"
}

# wrong PAIRING STRATEGY: each "RUN|TIMEOUT" of $WORK/cases gives a failed row, whose reason is golden, beside one of
# STRATEGY that is ok, and leaves no file.
wrong() {
    mkdir "$WORK/tmp"
    py check_reason "$WORK" "$@"
    local count
    count=$(wc -l <"$WORK/cases")
    TMPDIR=$WORK/tmp run "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r"
    expect_status 1
    expect_rows "$WORK/r" "1 ok, $count failed"
    [[ "$output" != *standard* ]] # what a program of one call prints there is none of a protocol
    output=$(py reasons "$WORK") tell nysbench run c.yaml
    [ -z "$(ls -A "$WORK/tmp")" ] || { ls "$WORK/tmp"; return 1; }
}

@test "command: whatever a program does wrong is a failed row with the reason, and nothing is left" {
    cp tests/support/npy.py "$WORK"
    cp tests/cli/plugins/wrong_picks.py "$WORK/p.py"
    local p="/usr/bin/python3 $WORK/p.py"
    cat >"$WORK/cases" <<EOF
$p shape|60
$p few|60
$p twice|60
$p range|60
$p negative|60
$p huge|60
$p nan|60
$p wide|60
$p flat|60
$p unknown|60
sh -c 'echo oops >&2; exit 3'|60
sh -c 'echo in \$0/here >&2; exit 4'|60
sh -c 'kill -9 \$\$'|60
sh -c 'exec sleep 31.7'|0.2
sh -c 'trap : TERM; sleep 31.7 & sleep 31.7; sleep 31.7'|0.3
sh -c 'sleep 31.7 &'|60
sh -c 'mkdir -p a/b; ln -s / a/root; echo x >a/b/c; echo junk >picks.npy'|60
sh -c 'mkfifo picks.npy'|60
EOF
    wrong joint uniform
    ! pgrep -f '^sleep 31[.]7$' || return 1
}

@test "command: with both, what a program leaves wrong is told with the file, what came and what is allowed" {
    cp tests/support/npy.py "$WORK"
    cp tests/cli/plugins/wrong_pairs.py "$WORK/p.py"
    local p="/usr/bin/python3 $WORK/p.py"
    cat >"$WORK/cases" <<EOF
$p|60
$p query_=tokens|60
$p key_=points|60
$p =tokens key_=tokens|60
$p =tokens query_=tokens key_=tokens|60
$p =points|60
$p =few|60
$p =range|60
$p query_=tokens key_=points|60
$p query_=few key_=tokens|60
$p query_=points key_=few|60
$p query_=points key_=nan|60
$p query_=tokens key_=range|60
sh -c 'mkfifo key_picks.npy; mkdir query_picks.npy'|60
sh -c 'echo junk >key_picks.npy; cp key_picks.npy query_picks.npy'|60
EOF
    wrong both exchange
}

@test "command: with both, a program gets queries and keys; one file of tokens does for two; seeds differ by trial" {
    local head=experiments/data/vit_astronaut_n257_L6.safetensors
    cp tests/support/npy.py "$WORK"
    cp tests/cli/plugins/both.py "$WORK/both.py"
    local here=$PWD
    cd "$WORK"
    config <<EOF
problems: heads(file=$here/$head, head=1)
strategies: [$(printf "'command(run=\"/usr/bin/python3 both.py %s\")'," one two tokens points)]
pairing: both
factors: [nystromformer, cur]
cores: iterative
landmarks: [5, 8]
trials: 2
plots: []
EOF
    "$NYSBENCH" run c.yaml -q -j 1 --set trials=1 -o r >/dev/null
    expect_plan 'rows=32 done=16 to_run=16' c.yaml -o r
    "$NYSBENCH" run c.yaml -q -j 1 -o r >/dev/null
    for mode in one two tokens points; do [ "$(wc -l <told-$mode)" -eq 4 ]; done
    expect_plan 'rows=32 done=32 to_run=0' c.yaml -o r
    mkdir whole
    mv told-* whole
    "$NYSBENCH" run c.yaml -q -j 2 -o whole/r >/dev/null
    diff <(timeless r/rows.csv) <(timeless whole/r/rows.csv)
    for side in queries keys; do
        "$NYSBENCH" select --head "$here/$head:1" --strategy 'command(run="/usr/bin/python3 both.py tokens")' \
            --pairing both -m 5 --side $side -o $side.npy >/dev/null
    done
    "$NYSBENCH" measure --head "$here/$head:1" --query-landmarks queries.npy --key-landmarks keys.npy --core iterative \
        --json >given.json
    tensor "$here/$head" q 1 q.npy
    tensor "$here/$head" k 1 k.npy
    py check_request
}

# picks OUT: a Python that needs nothing, leaves the first tokens, and writes into OUT, in the folder of the call, how
# it was called.
picks() {
    cat <<EOF
import json, os, struct, sys
m = json.load(open("request.json"))["m"]
with open(os.path.join(os.environ["NYSBENCH_FOLDER"], "$1"), "w") as out:
    print(os.path.realpath(sys.prefix), *sys.argv, sep="\n", file=out)
head = ("{'descr': '<i8', 'fortran_order': False, 'shape': (%d,), }" % m).ljust(117) + "\n"
with open("picks.npy", "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
    file.write(struct.pack("<%dq" % m, *range(m)))
EOF
}

# with_command RUN: writes c.yaml, of that command alone, into the current folder.
with_command() {
    local text=$1
    for _ in 1 2; do text=${text//\\/\\\\} text=${text//\"/\\\"}; done # within a spec, within YAML
    cat >c.yaml <<EOF
problems: gaussian(n=20, d=2)
cores: svd
landmarks: 3
trials: 1
plots: []
metrics: error
strategies: ["command(run=\\"$text\\")"]
EOF
}

@test "command: files become absolute, links are not followed, folders stay; KEY=FILE too, which identifies rows" {
    mkdir -p "$WORK/in/venv/bin" "$WORK/in/bl ank" "$WORK/in/pkg"
    cd "$WORK/in"
    ln -s /usr/bin/python3 venv/bin/python
    printf 'home = /usr/bin\n' >venv/pyvenv.cfg
    picks told >"bl ank/mine.py"
    echo 1 >w.npy
    local here
    here=$(pwd -P)
    for program in "venv/bin/python" "./venv/bin/python" "/usr/bin/env venv/bin/python"; do
        with_command "$program 'bl ank/mine.py' --weights=w.npy other=none.npy pkg w.npy"
        run "$NYSBENCH" run c.yaml -q --fresh -o r
        expect_status 0
        sed '$d' told | diff - <(printf '%s\n' "$here/venv" "$here/bl ank/mine.py" "--weights=$here/w.npy" \
            other=none.npy pkg "$here/w.npy")
    done
    echo 2 >w.npy
    expect_plan 'rows=1 done=0 to_run=1' c.yaml -o r
    printf '#!/bin/sh\necho "$0" >"$NYSBENCH_FOLDER/name"\nexec /usr/bin/python3 "$1"\n' >multi.sh
    chmod +x multi.sh
    ln -s multi.sh link
    with_command "./link 'bl ank/mine.py'"
    run "$NYSBENCH" run c.yaml -q --fresh -o r
    expect_status 0
    [ "$(cat name)" = "$here/link" ]
    cp "bl ank/mine.py" pkg/__main__.py
    with_command "/usr/bin/env PYTHONPATH=$here /usr/bin/python3 -m pkg"
    run "$NYSBENCH" run c.yaml -q --fresh -o r
    expect_status 0
}

@test "command: what cannot be started is told before anything runs, with where it was looked for" {
    local here heads=$PWD/experiments/data/vit_astronaut_n257_L6.safetensors
    cd "$WORK"
    here=$(pwd -P)
    picks told >mine.py
    mkdir folder
    while read -r words; do
        with_command "$words"
        told plan c.yaml
        expect_status 2
        planned=$output
        run "$NYSBENCH" run c.yaml
        expect_status 2
        expect "$(tail -n 1 <<<"$planned")"
        [ ! -e results ]
    done <<EOF
python3 nope.py
/usr/bin/python3 sub/nope.py 3
env A=b python3 nope.py
python3 folder
./nope
./mine.py
mine.py
'open
''
EOF
    for words in "python3 -c 'import nope.py'" "sh -c 'cat nope.sh'" "mkdir -p x/y.py" "python3 $here/folder" \
        "env -i python3 nope.py" "python3 -W ignore nope.py"; do
        with_command "$words"
        run "$NYSBENCH" plan c.yaml
        expect_status 0
    done
    with_command "python3 mine.py"
    "$NYSBENCH" run c.yaml -q -o r >/dev/null
    rm mine.py
    run "$NYSBENCH" export r
    expect_status 0
    told select --head "$heads:0" --strategy 'command(run="python3 mine.py")' -m 3 -o k.npy
    expect_status 2
}

@test "command: a program ends with the run that started it" {
    mkdir "$WORK/tmp"
    printf 'problems: gaussian(n=20, d=2)\nstrategies: %s\ncores: svd\nlandmarks: 3\n' \
        "'command(run=\"sh -c \\\"exec sleep 33.3\\\"\")'" >"$WORK/c.yaml"
    TMPDIR=$WORK/tmp "$NYSBENCH" run "$WORK/c.yaml" -q -j 1 -o "$WORK/r" >/dev/null 2>&1 3>&- &
    local id=$!
    until_true pgrep -f '^sleep 33[.]3$'
    kill -9 "$id"
    until_true eval "! pgrep -f '^sleep 33[.]3$'"
}

@test "command: farthest.py picks as NumPy does here, with --jobs 2 as with 1, from relative paths" {
    local spec='command(run="/usr/bin/python3 experiments/plugins/farthest.py")'
    "$NYSBENCH" select --head experiments/data/vit_astronaut_n257_L6.safetensors:1 --strategy "$spec" -m 6 \
        --pairing independent --side keys -o "$WORK/k.npy" >/dev/null
    cp tests/support/npy.py "$WORK"
    cp tests/cli/plugins/keep.py "$WORK/keep.py"
    "$NYSBENCH" select --head experiments/data/vit_astronaut_n257_L6.safetensors:1 \
        --strategy "command(run=\"/usr/bin/python3 '$WORK/keep.py' '$WORK/kept'\")" \
        -m 6 --pairing independent --side queries -o "$WORK/q.npy" >/dev/null
    for side in queries keys; do # by default the points are [q; k], and so are those that it leaves
        "$NYSBENCH" select --head experiments/data/vit_astronaut_n257_L6.safetensors:1 \
            --strategy "command(run=\"/usr/bin/python3 '$WORK/keep.py' '$WORK/joint'\")" \
            -m 6 --side $side -o "$WORK/joint-$side.npy" >/dev/null
    done
    tensor experiments/data/vit_astronaut_n257_L6.safetensors k 1 "$WORK/keys.npy"
    py check_farthest "$WORK"
    config <<EOF
problems: gaussian(n=30, d=3)
cores: svd
landmarks: 4
trials: 2
plots: []
metrics: error
blocks:
  - {strategies: '$spec', pairing: [independent, joint]}
  - {strategies: 'command(run="/usr/bin/python3 experiments/plugins/farthest.py", deterministic=true)', pairing: joint}
EOF
    "$NYSBENCH" run "$WORK/c.yaml" -q -j 1 -o "$WORK/one" >/dev/null
    "$NYSBENCH" run "$WORK/c.yaml" -q -j 2 -o "$WORK/two" >/dev/null
    diff <(timeless "$WORK/one/rows.csv") <(timeless "$WORK/two/rows.csv")
    [ "$(grep -c ',ok,' "$WORK/one/rows.csv")" -eq 6 ]
}

@test "command: each step of profile_landmarks.py is what NumPy and differences make of it" {
    local head=experiments/data/minilm_us-constitution_n512_L3.safetensors
    tensor $head q 1 "$WORK/queries.npy"
    tensor $head k 1 "$WORK/keys.npy"
    echo '{"m": 18, "seed": 2385}' >"$WORK/request.json"
    py check_profile "$WORK"
}

@test "command: profile_landmarks.py and profile have less than half of k-means' error, the same with --jobs 2" {
    config <<EOF
problems: heads(file=experiments/data/minilm_us-constitution_n512_L3.safetensors, head=1)
cores: iterative(steps=6)
landmarks: 16
trials: 2
plots: []
metrics: error
blocks:
  - {strategies: kmeans(restarts=4), pairing: joint}
  - {strategies: 'command(run="/usr/bin/python3 experiments/plugins/profile_landmarks.py")', pairing: both}
  - strategies: profile
EOF
    "$NYSBENCH" run "$WORK/c.yaml" -q -j 1 --set trials=1 -o "$WORK/one" >/dev/null
    "$NYSBENCH" run "$WORK/c.yaml" -q -j 2 -o "$WORK/two" >/dev/null
    timeless "$WORK/one/rows.csv" | sort >"$WORK/one.txt"
    [ "$(wc -l <"$WORK/one.txt")" -eq 3 ]
    [ -z "$(timeless "$WORK/two/rows.csv" | sort | comm -23 "$WORK/one.txt" -)" ]
    # 0.113 to 0.139 against 0.42 to 0.64 over 12 trials: at most a third, so that half leaves room for other draws and
    # rounding.
    py check_errors "$WORK/two/rows.csv"
}

@test "a plug-in that hangs before anything runs is ended after 20 s, and told" {
    local name
    for name in begins picks; do # setup_file has begun both
        timeout 300 tail --pid="$(cat "$BATS_FILE_TMPDIR/$name.pid")" -f /dev/null
        [ "$(cat "$BATS_FILE_TMPDIR/$name.status")" -eq 2 ]
        output=$(cat "$BATS_FILE_TMPDIR/$name.txt") status=2 tell "$name"
    done
    [ ! -e "$BATS_FILE_TMPDIR/k.npy" ]
}

@test "NYSBENCH_KEEP keeps the folders of failed calls, on which the program can be run again" {
    cp tests/cli/plugins/five_is_too_many.py "$WORK/mine.py"
    cp tests/cli/plugins/no_core.py "$WORK/served.py"
    config <<Y
problems: "gaussian(n=20, d=3)"
strategies: "command(run=\"/usr/bin/python3 $WORK/mine.py\", deterministic=true)"
cores: svd(rcond=0.01)
landmarks: [4, 5]
trials: 1
plots: []
Y
    NYSBENCH_KEEP="$WORK/kept" told run "$WORK/c.yaml" -q -o "$WORK/r"
    expect_status 1
    [ "$(cd "$WORK/kept"/call-* && echo *)" = "note points.npy request.json stderr.txt" ]
    run /usr/bin/python3 "$WORK/mine.py" "$WORK/kept"/call-*
    expect "five is too many"
    # Of a program that stays alive, with its question.
    rm -r "$WORK/kept"
    NYSBENCH_KEEP="$WORK/kept" PYTHONPATH=$PWD/python told measure \
        --head experiments/data/vit_astronaut_n257_L6.safetensors:0 --strategy uniform \
        --landmarks 4 --core "command(run=\"/usr/bin/python3 -m nysbench.serve $WORK/served.py\", serve=true)"
    [ "$(cd "$WORK/kept"/call-* && echo *)" = "A.npy B.npy F.npy request.json" ]
    facts of 'assert x["do"] == "core", x' <"$(echo "$WORK/kept"/call-*/request.json)"
    # Where it cannot be kept, the run says so and ends; without the variable nothing is kept.
    NYSBENCH_KEEP="$WORK/c.yaml/in" told run "$WORK/c.yaml" -q -o "$WORK/other"
    expect_status 1
    cd "$WORK"
    run "$NYSBENCH" run c.yaml -q -o again
    expect_status 1
    [ "$(find . -name 'call-*' | wc -l)" -eq 1 ]
}
