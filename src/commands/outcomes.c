/* SPDX-License-Identifier: GPL-3.0-or-later */
/* outcomes.c - how rows ended, as a run tells it at its end. Rows of the same status and reason are one group: ten
 * thousand failures for one reason are one line, and three rows to look at. A report's are in show/report.sql. */
#include "commands/experiment.h"

#include "base/fields.h"
#include "base/words.h"
#include "rows/made_tables.h"
#include "rows/statement.h"
#include "run/match.h"
#include "run/run_folder.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

enum { GROUPS = 8, EACH = 3 }; /* that are printed: reasons, rows of each */

enum { STATUS, REASON, COUNT, POSITION, NTH, GROUP }; /* columns of a row that went wrong */

typedef struct {
    nb_grid rows; /* that went wrong, the largest group first; NTH: in its group */
    nb_keys keys;
    const char *command; /* all but the key */
} outcomes;

nb_status nb_outcomes_choose(const nb_relation *r, const nb_plan *plan, const bool *only, int *failures, nb_ctx *ctx)
{
    sqlite3_stmt *insert;
    nb_grid a;
    NB_TRY(ctx, nb_table_make(r, "asked", "outcomes.asked", NULL, &insert, ctx));
    for (int i = 0; only && i < plan->row_count; i++)
        if (only[i]) NB_TRY(ctx, nb_relation_add(r, insert, "i", i));
    NB_TRY(ctx, nb_sql_ask(r, "outcomes.failures", NB_GIVEN(NB_GIVE_INT("some", only != NULL)), &a, ctx));
    *failures = (int)nb_grid_at(&a, 0, 0)->integer;
    return NB_OK;
}

static nb_status find_wrong(const nb_relation *r, bool some, nb_grid *rows, nb_ctx *ctx)
{
    return nb_sql_ask(r, "outcomes.wrong", NB_GIVEN(NB_GIVE_INT("some", some)), rows, ctx);
}

/* Each status once with its count, in the order in which people want them; then why rows were skipped, the most
 * frequent reason first. Where all were, that is a warning too. */
static nb_status print_counts(const nb_relation *r, bool some, nb_ctx *ctx)
{
    nb_grid counts, skipped;
    long long all = 0;
    NB_TRY(ctx, nb_sql_ask(r, "outcomes.counts", NB_GIVEN(NB_GIVE_INT("some", some)), &counts, ctx));
    for (int i = 0; i < counts.count; i++) all += nb_grid_at(&counts, i, 1)->integer;
    printf("rows: %lld", all);
    for (const char *const *status = nb_row_statuses; *status; status++)
        for (int i = 0; i < counts.count; i++)
            if (strcmp(nb_grid_at(&counts, i, 0)->text, *status) == 0)
                printf(", %lld %s", nb_grid_at(&counts, i, 1)->integer, *status);
    NB_TRY(ctx, nb_sql_ask(r, "outcomes.skipped", NB_GIVEN(NB_GIVE_INT("some", some)), &skipped, ctx));
    for (int i = 0; i < skipped.count; i++)
        printf("\nskipped: %lld rows: %s", nb_grid_at(&skipped, i, 0)->integer, nb_grid_at(&skipped, i, 1)->text);
    fputc('\n', stdout);
    fflush(stdout);
    if (counts.count == 1 && skipped.count > 0)
        nb_print_warning("nothing was measured: every row was skipped%s: %s", skipped.count > 1 ? ", most often" : "",
                         nb_grid_at(&skipped, 0, 1)->text);
    return NB_OK;
}

/* This program's, with what was given that changes rows, how they end, or their place. */
static nb_status make_command(const nb_experiment *e, const char **command, nb_ctx *ctx)
{
    nb_string line = NB_NO_TEXT;
    NB_TRY(ctx, nb_shell_add(ctx, &line, program_invocation_name, "run", e->path, NULL));
    for (const char **set = e->set; set && *set; set++) NB_TRY(ctx, nb_shell_add(ctx, &line, "--set", *set, NULL));
    for (const char **plugin = e->plugins; plugin && *plugin; plugin++)
        NB_TRY(ctx, nb_shell_add(ctx, &line, "--plugin", *plugin, NULL));
    if (e->out) NB_TRY(ctx, nb_shell_add(ctx, &line, "--out", e->out, NULL));
    if (e->shard_text) NB_TRY(ctx, nb_shell_add(ctx, &line, "--shard", e->shard_text, NULL));
    if (*e->limits) NB_TRY(ctx, nb_append_item(&line, " ", ctx, "%s", e->limits));
    *command = line.text;
    return NB_OK;
}

/* So many groups, with the first rows of each, and the command that repeats it alone. */
static nb_status print_groups(FILE *out, const outcomes *o, const char *before, int groups, int each, nb_ctx *ctx)
{
    for (int i = 0; i < o->rows.count && nb_grid_at(&o->rows, i, GROUP)->integer <= groups; i++) {
        const nb_cell *row = nb_grid_at(&o->rows, i, 0);
        const char *key, *word;
        if (row[NTH].integer == 1)
            fprintf(out, "%s%s: %lld row%s: %s\n", before, row[STATUS].text, row[COUNT].integer,
                    row[COUNT].integer == 1 ? "" : "s", row[REASON].text);
        if (row[NTH].integer > each) continue;
        nb_mark mark = nb_ctx_mark(ctx);
        NB_TRY(ctx, nb_keys_text(&o->keys, (int)row[POSITION].integer, &key, ctx));
        NB_TRY(ctx, nb_shell_word(key, &word, ctx));
        fprintf(out, "    %s --only %s\n", o->command, word);
        nb_ctx_release(ctx, mark);
    }
    return NB_OK;
}

static nb_status print_all(FILE *out, const void *what, nb_ctx *ctx)
{
    return print_groups(out, what, "", INT_MAX, INT_MAX, ctx);
}

static nb_status print_failures(const outcomes *o, const char *path, nb_ctx *ctx)
{
    if (o->rows.count == 0) return NB_OK;
    int others = (int)nb_grid_at(&o->rows, o->rows.count - 1, GROUP)->integer - GROUPS;
    bool more = others > 0;
    for (int i = 0; i < o->rows.count; i++) more = more || nb_grid_at(&o->rows, i, NTH)->integer > EACH;
    NB_TRY(ctx, print_groups(stderr, o, "nysbench: ", GROUPS, EACH, ctx));
    if (others > 0) fprintf(stderr, "nysbench: and for %d more reason%s\n", others, others == 1 ? "" : "s");
    if (more) fprintf(stderr, "nysbench: %s has them all\n", path);
    fprintf(stderr, "nysbench: the next run leaves these rows alone, unless it has %s\n",
            nb_spell_option(ctx, "retry", "failed"));
    return NB_OK;
}

static nb_status print_outcomes(const nb_experiment *e, const nb_relation *r, bool some, nb_ctx *ctx)
{
    const char *path;
    outcomes all = {.command = ""}, asked;
    NB_TRY(ctx, nb_run_path(e->folder, NB_FAILURES_FILE, &path, ctx));
    NB_TRY(ctx, find_wrong(r, false, &all.rows, ctx));
    if (all.rows.count > 0) NB_TRY(ctx, nb_keys_init(&e->plan, &all.keys, ctx));
    NB_TRY(ctx, make_command(e, &all.command, ctx));
    asked = all;
    NB_TRY(ctx, find_wrong(r, some, &asked.rows, ctx));
    NB_TRY(ctx, print_counts(r, some, ctx));
    NB_TRY(ctx, print_failures(&asked, path, ctx));
    return nb_run_write(e->folder, NB_FAILURES_FILE, all.rows.count ? print_all : NULL, &all, ctx);
}

nb_status nb_outcomes_print(const nb_experiment *e, const nb_relation *r, bool some, nb_ctx *ctx)
{
    nb_mark mark = nb_ctx_mark(ctx);
    nb_status status = print_outcomes(e, r, some, ctx);
    nb_ctx_release(ctx, mark);
    return status;
}
