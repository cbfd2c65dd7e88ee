# SPDX-License-Identifier: GPL-3.0-or-later
# What docs/developing.md says of adding things: one of each, in a copy of the tree, without an edit of another file
# but for a measured column: its member, its measure and its line in the table.

load ../cli/helpers

@test "one more strategy, core, kernel, problem, attention, study, figure, table and command, each a file; a column" {
    [ "$(git rev-parse --show-toplevel 2>/dev/null)" = "$PWD" ] || skip "only from the source tree under git"
    tree=$WORK/tree
    mkdir "$tree"
    git ls-files -z | while IFS= read -r -d '' file; do
        ! [ -e "$file" ] || printf '%s\0' "$file" # deleted, and that not yet committed
    done | xargs -0 cp --parents -t "$tree"
    # Only what is new is compiled, without optimization: objects of the same sources are taken over, with their ages.
    mkdir "$tree/build"
    cp -a build/src build/strategies "$tree/build/"
    find "$tree" -path "$tree/build" -prune -o -type f -exec touch -d '2 days ago' {} +
    cd "$tree"
    for kind in strategy core kernel problem attention; do "$NYSBENCH" new $kind "added_$kind" >/dev/null; done
    mkdir src/studies/norms
    cp "$OLDPWD/tests/cli/plugins/norms.c" src/studies/norms/norms.c
    sed 's/^-- script: curves.gp/-- script: added.gp/' src/studies/error/figures/error.sql \
        >src/studies/error/figures/added_figure.sql
    sed '1s/curves/added/' plots/curves.gp >plots/added.gp
    cp src/studies/error/tables/errors.sql src/studies/error/tables/added_table.sql
    cat >src/commands/added.c <<'EOF'
/* added.c - nysbench added */
#include "commands/command.h"

#include <stdio.h>

static nb_status run(nb_command_line *line, nb_ctx *ctx)
{
    const struct poptOption options[] = {POPT_TABLEEND};
    NB_TRY(ctx, nb_parse_command(line, options, 0, ctx));
    puts("added");
    return NB_OK;
}

NB_COMMAND(added, "", "Say that it is there", false, NB_MORE + 99);
EOF
    sed -i 's/^    double mse; .*/&\n    double added_column;/' src/nystrom/measures.h
    sed -i 's/^    out->mse = .*/&\n    out->added_column = 2 * out->mse;/' src/nystrom/streamed.c
    sed -i 's/^    REAL(mse, .*/&\n    REAL(added_column, .help = "twice the mse"),/' src/studies/error/columns.c
    make OPT=-O0 build/nysbench >"$WORK/out" 2>&1 || { cat "$WORK/out"; return 1; }
    ! grep -i warning "$WORK/out" || return 1
    ln -s build/nysbench nysbench
    run ./nysbench list
    expect_status 0
    for name in added_strategy added_core added_kernel added_problem added_attention added_figure added_table norms; do
        expect "$(printf '\n  %s ' "$name")"
    done
    [ "$(./nysbench added)" = added ]
    run ./nysbench --help
    expect "$(printf '\n  added ')"
    cat >c.yaml <<'EOF'
problems: added_problem
kernels: added_kernel
strategies: added_strategy
cores: added_core
landmarks: [2, 3]
trials: 1
plots: [added_figure]
EOF
    run ./nysbench run c.yaml -q -o r
    expect_status 0
    expect_rows r "2 ok"
    of_csv r/rows.csv 'assert all(float(r["added_column"]) == 2 * float(r["mse"]) > 0 for r in rows), rows'
    run ./nysbench describe added_column
    expect_status 0
    expect "twice the mse" # NOLINT(wording): what columns.c above says
    run ./nysbench run c.yaml -q -o r2 --set metrics=added_column
    expect_status 0
    run ./nysbench table r added_table
    expect_status 0
    printf 'study: norms\nproblems: added_problem\nexponents: [1, 2]\nplots: []\n' >c.yaml
    run ./nysbench run c.yaml -q -o n
    expect_status 0
    grep -q norm_mean n/rows.csv
    [ -s r/plots/added_figure_added_core.svg ]
    sed -i 's/{"added_strategy"/{"uniform"/' strategies/added_strategy.c
    run make OPT=-O0 build/nysbench
    [ "$status" -ne 0 ]
    output=$(grep '^nysbench: error' <<<"$output") tell make
    ./nysbench list >/dev/null # the last one that was right
}
