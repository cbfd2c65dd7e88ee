# SPDX-License-Identifier: GPL-3.0-or-later
# A row is the same bytes alone, beside others, with --only, with --retry and after the worker that
# measured it has been killed twice, under every kernel of OpenBLAS that this CPU runs.

load helpers

# The sizes are where small products have kernels of their own, up to 353 with eight columns, and
# where a stripe would be a sliver, 513. Nested strategies share columns between their m, and the
# one token of m = 1 often begins another's choice.
experiment() { # PRECISION
    config <<Y
problems: "gaussian(n=[64, 65, 128, 257, 353, 513], d=6)"
strategies: [uniform, segment_means, "kmeans(snap=nearest)", farthest_point, leverage]
cores: [svd, iterative, fitted, "chosen(rows=100)", "exact_rows(rows=70)", "fitted(keep_rows=true)", best]
factors: [nystromformer, cur]
landmarks: [1, 8, 20, 33]
trials: 1
precision: $1
plots: []
Y
}

# Under the sanitizers, which make it slow, the kernels in use alone.
every_kernel() {
    if sanitized; then
        "$NYSBENCH" info | sed -n 's/^blas_kernels  *//p'
    else
        kernels_here
    fi
}

# same WHOLE PART [COUNT]: every measured row of PART, at least COUNT, is WHOLE's to the last byte but for times.
same() {
    /usr/bin/python3 - "$1/rows.csv" "$2/rows.csv" "${3:-1}" <<'PY'
import csv, sys
def rows(name):
    for row in csv.DictReader(open(name, newline="")):
        [row.pop(c) for c in ("select_s", "core_s", "forward_s", "exact_s", "experiment")]
        if row["status"] in ("ok", "skipped", "diverged"):
            yield tuple(row[c] for c in ("n", "strategy", "landmarks", "pairing", "factors", "core")), row
whole, part = dict(rows(sys.argv[1])), list(rows(sys.argv[2]))
assert len(part) >= int(sys.argv[3]), len(part)
bad = [(key, c, row[c], whole[key][c]) for key, row in part for c in row if row[c] != whole[key][c]]
assert not bad, (len(bad), bad[:5])
PY
}

# A row alone of each size, and others in different company.
alone_is_together() { # PRECISION
    experiment "$1"
    "$NYSBENCH" run "$WORK/c.yaml" -q -j 2 -o "$WORK/all"
    for only in "strategy=uniform, landmarks=8, factors=nystromformer, core=svd" "strategy=farthest_point, landmarks=20, factors=cur" \
        "strategy=segment_means, landmarks=33" "landmarks=1, core=chosen" "core=best, factors=cur"; do
        rm -rf "$WORK/one"
        "$NYSBENCH" run "$WORK/c.yaml" -q -j 1 --only "$only" -o "$WORK/one"
        same "$WORK/all" "$WORK/one" 6
    done
    for alone in "strategies=uniform landmarks=8 cores=svd" "strategies=farthest_point landmarks=20 cores=fitted"; do
        rm -rf "$WORK/one"
        "$NYSBENCH" run "$WORK/c.yaml" -q -j 1 $(printf -- '--set %s ' $alone) -o "$WORK/one"
        same "$WORK/all" "$WORK/one" 12
    done
}

@test "rows alone, by --only and together are the same bytes under every kernel, in double and in mixed precision" {
    local kernel precision
    for kernel in $(every_kernel); do
        for precision in double mixed; do
            echo "$kernel, $precision"
            OPENBLAS_CORETYPE=$kernel alone_is_together "$precision"
            rm -rf "$WORK/all"
        done
    done
}

@test "so are rows of a sample, of a causal head and of other kernels than the softmax" {
    local kernel set
    experiment double
    for kernel in $(every_kernel); do
        for set in "rows=sample(40)" "kernels=[gram(of=queries),gauss]" "problems=heads(file=experiments/data/smollm2_opticks_n1024_L15.safetensors,head=0,max_n=300)"; do
            echo "$kernel, $set"
            rm -rf "$WORK/all" "$WORK/one"
            OPENBLAS_CORETYPE=$kernel "$NYSBENCH" run "$WORK/c.yaml" -q -j 2 --set "$set" --set landmarks=[8,20] --set cores=[svd,iterative] -o "$WORK/all"
            OPENBLAS_CORETYPE=$kernel "$NYSBENCH" run "$WORK/c.yaml" -q --set "$set" --set landmarks=8 --set strategies=farthest_point --set cores=svd -o "$WORK/one"
            same "$WORK/all" "$WORK/one" 2
        done
    done
}

# A strategy whose pick kills its worker, each time it is tried, until the file $WORK/well is there.
@test "rows that were measured again after their worker was killed twice are the same bytes, and so are those of --retry" {
    cat >"$WORK/fatal.c" <<C
#include "strategy.h"
#include <signal.h>
#include <unistd.h>
static nb_status pick(const nb_points *p, int m, const void *o, nb_picks *picks, nb_ctx *ctx)
{
    int *tokens;
    (void)p, (void)o;
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
    cc -std=c11 -D_GNU_SOURCE -I. -Isrc -Istrategies -shared -fPIC "$WORK/fatal.c" -o "$WORK/fatal.so"
    experiment double
    sed -i 's/^strategies: \[/strategies: [fatal, /; s/leverage/kmeans/; s/^cores:.*/cores: [svd, iterative, fitted]/; s/^landmarks.*/landmarks: [8, 20]/' "$WORK/c.yaml"
    local kernel
    for kernel in $(every_kernel); do
        echo "$kernel"
        rm -rf "$WORK/killed" "$WORK/all" "$WORK/well"
        export OPENBLAS_CORETYPE=$kernel
        run "$NYSBENCH" run "$WORK/c.yaml" -q -j 2 --plugin "$WORK/fatal.so" -o "$WORK/killed"
        expect_status 1
        expect "crashed"
        touch "$WORK/well"
        "$NYSBENCH" run "$WORK/c.yaml" -q -j 1 --plugin "$WORK/fatal.so" -o "$WORK/all"
        same "$WORK/all" "$WORK/killed" 200
        "$NYSBENCH" run "$WORK/c.yaml" -q -j 1 --plugin "$WORK/fatal.so" --retry crashed -o "$WORK/killed"
        same "$WORK/all" "$WORK/killed" 250
    done
}
