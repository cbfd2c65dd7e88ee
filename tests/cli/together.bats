# SPDX-License-Identifier: GPL-3.0-or-later
# A row is the same bytes alone, beside others, with --only, with --retry and after the worker that
# measured it has been killed twice. Under the kernels of OpenBLAS in use and the two others of this CPU that differ
# most from them; with TOGETHER=all, under every kernel that this CPU runs, and with more sizes, strategies and cores.

load helpers

setup_file() {
    NYSBENCH=${NYSBENCH:-$PWD/nysbench}
    chosen_kernels >"$BATS_FILE_TMPDIR/kernels"
}

# The kernels in use, and those of SSE3, AVX2, AVX-512 and AVX, of which two are taken. Under the sanitizers, which make
# it slow, the kernels in use alone.
chosen_kernels() {
    local used others
    used=$(of_json 'print(x["blas_kernels"])' "$NYSBENCH" info)
    echo "$used"
    if sanitized; then return; fi
    others=$(kernels_here | grep -vx "$used") || return 0
    if [ "${TOGETHER:-}" = all ]; then
        echo "$others"
    else
        printf '%s\n' Nehalem Haswell SkylakeX Sandybridge | grep -xF "$others" | head -2
    fi
}

# The sizes are where small products have kernels of their own, up to 353 with eight columns, and
# where a stripe would be a sliver, 513. Nested strategies share columns between their m, and the
# one token of m = 1 often begins another's choice.
experiment() { # PRECISION [SIZES]
    local sizes=${2:-65, 353, 513} strategies="uniform, segment_means, farthest_point" more="" landmarks="1, 8, 33"
    if [ "${TOGETHER:-}" = all ]; then
        sizes="64, 65, 128, 257, 353, 513"
        strategies="uniform, segment_means, 'kmeans(snap=nearest)', farthest_point, leverage"
        landmarks="1, 8, 20, 33"
        more="iterative, 'fitted(keep_rows=true)', "
    fi
    config <<Y
problems: "gaussian(n=[$sizes], d=6)"
strategies: [$strategies]
cores: [svd, fitted, "chosen(rows=100)", "exact_rows(rows=70)", ${more}best]
factors: [nystromformer, cur]
landmarks: [$landmarks]
trials: 1
precision: $1
plots: []
Y
}

or_all() { # WORD WORD: the second with TOGETHER=all
    if [ "${TOGETHER:-}" = all ]; then echo "$2"; else echo "$1"; fi
}

# same WHOLE COUNT PART...: every measured row of each PART, at least COUNT, is WHOLE's to the last byte but for times.
same() {
    py compare_rows "$@"
}

measure() { # FOLDER OPTION...
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/$1" "${@:2}"
}

# A row alone of each size, and others in different company.
alone_is_together() { # PRECISION
    experiment "$1"
    rm -rf "$WORK"/{all,one-*}
    measure all -j 2
    measure one-1 -j 1 --only "strategy=uniform, landmarks=8, factors=nystromformer, core=svd"
    measure one-2 -j 1 --only "strategy=farthest_point, landmarks=33, factors=cur"
    measure one-3 -j 1 --only "landmarks=1, core=chosen"
    measure one-4 -j 1 --only "core=best, factors=cur"
    measure one-5 -j 1 --set strategies=farthest_point --set landmarks=33 --set cores=fitted
    if [ "${TOGETHER:-}" = all ]; then
        measure one-6 -j 1 --only "strategy=segment_means, landmarks=20"
        measure one-7 -j 1 --set strategies=uniform --set landmarks=8 --set cores=svd
    fi
    same "$WORK/all" "$(or_all 3 6)" "$WORK"/one-*
}

@test "rows alone, by --only and together are the same bytes under every kernel, in double and in mixed precision" {
    local kernel precision
    for kernel in $(cat "$BATS_FILE_TMPDIR/kernels"); do
        for precision in double mixed; do
            echo "$kernel, $precision"
            OPENBLAS_CORETYPE=$kernel alone_is_together "$precision"
        done
    done
}

@test "so are rows of a sample, of a causal head and of other kernels than the softmax" {
    local kernel set
    experiment double "65, 353"
    for kernel in $(cat "$BATS_FILE_TMPDIR/kernels"); do
        for set in "rows=sample(40)" "kernels=[gram(of=queries),gauss]" \
            "problems=heads(file=experiments/data/smollm2_opticks_n1024_L15.safetensors,head=0,max_n=300)"; do
            echo "$kernel, $set"
            rm -rf "$WORK/all" "$WORK/one"
            OPENBLAS_CORETYPE=$kernel measure all -j 2 --set "$set" --set landmarks=[8,20] --set cores=[svd,iterative]
            OPENBLAS_CORETYPE=$kernel measure one --set "$set" --set landmarks=8 --set strategies=farthest_point \
                --set cores=svd
            same "$WORK/all" 2 "$WORK/one"
        done
    done
}

# A strategy whose pick kills its worker, each time it is tried, until the file $WORK/well is there.
@test "rows measured again after their worker was killed twice are the same bytes, and so are those of --retry" {
    cat >"$WORK/fatal.c" <<C
#include "strategy.h"
#include <signal.h>
#include <unistd.h>
static nb_status pick(const nb_points *p, int m, const void *o, nb_picks *picks, nb_ctx *ctx)
{
    int *tokens;
    (void)p, (void)o, (void)ctx;
    if (access("$WORK/well", F_OK) != 0) raise(SIGKILL);
    NB_NEED(tokens, nb_picks_tokens(picks, m));
    for (int i = 0; i < m; i++) tokens[i] = i;
    return NB_OK;
}
static const char *const references[] = {"none: made to fail", NULL};
static const nb_option options[] = {NB_OPTION_END};
static const nb_strategy fatal = {.component = {"fatal", "kills its worker", references, options, 0},
                                  .pairing = NB_JOINT, .pick = pick};
NB_PLUGIN({"strategy", &fatal.component});
C
    build_plugin "$WORK/fatal.c" "$WORK/fatal.so"
    experiment double "65, 353"
    sed -i -e 's/^strategies: \[/strategies: [fatal, /; s/leverage/kmeans/' \
        -e 's/^cores:.*/cores: [svd, iterative, fitted]/; s/^landmarks.*/landmarks: [8, 20]/' "$WORK/c.yaml"
    local kernel
    for kernel in $(cat "$BATS_FILE_TMPDIR/kernels"); do
        echo "$kernel"
        rm -rf "$WORK/killed" "$WORK/all" "$WORK/well"
        export OPENBLAS_CORETYPE=$kernel
        run measure killed -j 2 --plugin "$WORK/fatal.so"
        expect_status 1
        of_csv "$WORK/killed/rows.csv" 'assert "crashed" in {r["status"] for r in rows}'
        touch "$WORK/well"
        measure all -j 1 --plugin "$WORK/fatal.so"
        same "$WORK/all" "$(or_all 72 200)" "$WORK/killed"
        measure killed -j 1 --plugin "$WORK/fatal.so" --retry crashed
        same "$WORK/all" "$(or_all 96 250)" "$WORK/killed"
    done
}
