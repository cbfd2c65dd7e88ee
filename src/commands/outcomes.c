/* SPDX-License-Identifier: GPL-3.0-or-later */
/* outcomes.c - rows of the same status and reason are one group: ten thousand
 * failures for one reason are one line, and three rows to look at. */
#include "commands/results.h"

#include "base/shell.h"
#include "run/match.h"
#include "run/run_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROUPS = 8, EACH = 3 }; /* that are printed: reasons, rows of each */

typedef struct {
    const nb_row *row;
    int index; /* in the plan */
} outcome;

typedef struct { /* outcomes first ... first + count - 1 are of one status and reason */
    int first, count;
} group;

typedef struct {
    const nb_experiment *e;
    int count, group_count;
    outcome *of;   /* what is looked at, in the plan's order; later sorted by group */
    group *groups; /* the largest first */
    nb_keys keys;
    const char *command; /* all but the key */
} outcomes;

/* The rows that are looked at, with their places in the plan. */
static nb_status find_rows(outcomes *o, const bool *only, const nb_row_list *rows, nb_ctx *ctx)
{
    const nb_plan *plan = &o->e->plan;
    NB_NEED(o->of, nb_alloc(ctx, (size_t)rows->count + 1, sizeof *o->of));
    for (int i = 0, index = 0; i < rows->count; i++, index++) {
        index = nb_plan_find(plan, index, nb_row_at(rows, i));
        NB_REQUIRE(ctx, index < plan->row_count, NB_EBUG, "row %d of %d of the store is not in the plan", i,
                   rows->count);
        if (!only || only[index]) o->of[o->count++] = (outcome){nb_row_at(rows, i), index};
    }
    return NB_OK;
}

nb_status nb_outcomes_failures(const nb_experiment *e, const bool *only, const nb_row_list *rows, int *failures,
                               nb_ctx *ctx)
{
    outcomes o = {.e = e};
    nb_mark mark = nb_ctx_mark(ctx);
    NB_TRY(ctx, find_rows(&o, only, rows, ctx));
    *failures = 0;
    for (int i = 0; i < o.count; i++) *failures += !nb_row_is_well(o.of[i].row);
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

static int compare_reasons(const outcome *a, const outcome *b)
{
    int order = strcmp(a->row->status, b->row->status);
    return order ? order : strcmp(a->row->reason ? a->row->reason : "", b->row->reason ? b->row->reason : "");
}

static int by_reason(const void *a, const void *b)
{
    const outcome *x = a, *y = b;
    int order = compare_reasons(x, y);
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

static int by_size(const void *a, const void *b)
{
    const group *x = a, *y = b;
    return x->count != y->count ? (x->count < y->count) - (x->count > y->count)
                                : (x->first > y->first) - (x->first < y->first);
}

/* Groups of those for which `wanted` holds. */
static nb_status make_groups(outcomes *o, bool (*wanted)(const nb_row *row), nb_ctx *ctx)
{
    int kept = 0;
    outcome *of;
    NB_NEED(of, nb_alloc(ctx, (size_t)o->count + 1, sizeof *of));
    for (int i = 0; i < o->count; i++)
        if (wanted(o->of[i].row)) of[kept++] = o->of[i];
    o->of = of;
    o->count = kept;
    qsort(of, (size_t)kept, sizeof *of, by_reason);
    NB_NEED(o->groups, nb_alloc(ctx, (size_t)kept + 1, sizeof *o->groups));
    o->group_count = 0;
    for (int i = 0, next; i < kept; i = next) {
        for (next = i + 1; next < kept && compare_reasons(&of[i], &of[next]) == 0;) next++;
        o->groups[o->group_count++] = (group){i, next - i};
    }
    qsort(o->groups, (size_t)o->group_count, sizeof *o->groups, by_size);
    return NB_OK;
}

static bool skipped(const nb_row *row)
{
    return strcmp(row->status, "skipped") == 0;
}

static bool went_wrong(const nb_row *row)
{
    return !nb_row_is_well(row) && strcmp(row->status, "planned") != 0;
}

/* Each status once with its count, in the order in which people want them. */
static void print_counts(const outcomes *o)
{
    printf("rows: %d", o->count);
    for (const char *const *status = nb_row_statuses; *status; status++) {
        int of = 0;
        for (int i = 0; i < o->count; i++) of += strcmp(o->of[i].row->status, *status) == 0;
        if (of > 0) printf(", %d %s", of, *status);
    }
    fputc('\n', stdout);
}

static nb_status print_skipped(outcomes o, nb_ctx *ctx)
{
    NB_TRY(ctx, make_groups(&o, skipped, ctx));
    for (int g = 0; g < o.group_count; g++)
        printf("skipped: %d rows: %s\n", o.groups[g].count, o.of[o.groups[g].first].row->reason);
    return NB_OK;
}

/* This program's, with what was given that changes rows, how they end, or their place. */
static nb_status make_command(const nb_experiment *e, const char **command, nb_ctx *ctx)
{
    NB_TRY(ctx, nb_shell_program(command, ctx));
    NB_TRY(ctx, nb_shell_add(ctx, command, "run", e->path, NULL));
    for (const char **set = e->set; set && *set; set++) NB_TRY(ctx, nb_shell_add(ctx, command, "--set", *set, NULL));
    for (const char **plugin = e->plugins; plugin && *plugin; plugin++)
        NB_TRY(ctx, nb_shell_add(ctx, command, "--plugin", *plugin, NULL));
    if (e->out) NB_TRY(ctx, nb_shell_add(ctx, command, "--out", e->out, NULL));
    if (e->shard_text) NB_TRY(ctx, nb_shell_add(ctx, command, "--shard", e->shard_text, NULL));
    if (e->limits) NB_NEED(*command, nb_format(ctx, "%s%s", *command, e->limits));
    return NB_OK;
}

/* The first rows of a group, each with the command that repeats it alone. */
static nb_status print_group(const outcomes *o, const group *g, int most, FILE *out, nb_ctx *ctx)
{
    const nb_row *row = o->of[g->first].row;
    fprintf(out, "%s: %d row%s: %s\n", row->status, g->count, g->count == 1 ? "" : "s",
            row->reason ? row->reason : "no reason is known");
    for (int i = 0; i < g->count && i < most; i++) {
        const char *key, *word;
        nb_mark mark = nb_ctx_mark(ctx);
        nb_status status = nb_keys_text(&o->keys, o->of[g->first + i].index, &key, ctx);
        if (status == NB_OK) status = nb_shell_word(key, &word, ctx);
        if (status == NB_OK) fprintf(out, "    %s --only %s\n", o->command, word);
        nb_ctx_release(ctx, mark);
        NB_TRY(ctx, status);
    }
    return NB_OK;
}

static nb_status print_all(FILE *out, const void *what, nb_ctx *ctx)
{
    const outcomes *o = what;
    for (int g = 0; g < o->group_count; g++) NB_TRY(ctx, print_group(o, &o->groups[g], o->groups[g].count, out, ctx));
    return NB_OK;
}

static nb_status print_failures(outcomes *o, const char *path, nb_ctx *ctx)
{
    bool more = o->group_count > GROUPS;
    for (int g = 0; g < o->group_count && g < GROUPS; g++) {
        fputs("nysbench: ", stderr);
        NB_TRY(ctx, print_group(o, &o->groups[g], EACH, stderr, ctx));
        more = more || o->groups[g].count > EACH;
    }
    if (o->group_count > GROUPS)
        fprintf(stderr, "nysbench: and for %d more reason%s\n", o->group_count - GROUPS,
                o->group_count - GROUPS == 1 ? "" : "s");
    if (more) fprintf(stderr, "nysbench: %s has them all\n", path);
    return NB_OK;
}

static nb_status print(const nb_experiment *e, const bool *only, const nb_row_list *rows, nb_ctx *ctx)
{
    const char *path;
    outcomes all = {.e = e}, o;
    NB_TRY(ctx, nb_run_path(e->folder, NB_FAILURES_FILE, &path, ctx));
    NB_TRY(ctx, find_rows(&all, NULL, rows, ctx));
    NB_TRY(ctx, make_groups(&all, went_wrong, ctx));
    if (all.group_count > 0) NB_TRY(ctx, nb_keys_init(&e->plan, &all.keys, ctx));
    NB_TRY(ctx, make_command(e, &all.command, ctx));
    o = (outcomes){.e = e, .keys = all.keys, .command = all.command};
    NB_TRY(ctx, find_rows(&o, only, rows, ctx));
    print_counts(&o);
    NB_TRY(ctx, print_skipped(o, ctx));
    fflush(stdout);
    NB_TRY(ctx, make_groups(&o, went_wrong, ctx));
    NB_TRY(ctx, print_failures(&o, path, ctx));
    if (o.group_count > 0)
        fprintf(stderr, "nysbench: the next run leaves these rows alone, unless it has --retry failed\n");
    return nb_run_write(e->folder, NB_FAILURES_FILE, all.group_count ? print_all : NULL, &all, ctx); /* of all rows */
}

nb_status nb_outcomes_print(const nb_experiment *e, const bool *only, const nb_row_list *rows, nb_ctx *ctx)
{
    nb_mark mark = nb_ctx_mark(ctx);
    nb_status status = print(e, only, rows, ctx);
    nb_ctx_release(ctx, mark);
    return status;
}
