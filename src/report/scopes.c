/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scopes.c - see scopes.h */
#include "report/scopes.h"

#include "report/labels.h"

#include <string.h>

enum { MOST_COLUMNS = 32 };

int nb_setting_row(const nb_contrasts *c, int setting)
{
    return c->settings.rows[c->settings.first[setting]];
}

typedef struct {
    const nb_frame *frame;
    const nb_groups *groups; /* rows by scope */
    nb_scopes *out;
    nb_ctx *ctx;
} namer;

static int row_of(const namer *n, int scope)
{
    return n->groups->rows[n->groups->first[scope]];
}

static bool varies(const namer *n, const nb_codes *codes)
{
    for (int s = 1; s < n->groups->count; s++)
        if (codes->of[row_of(n, s)] != codes->of[row_of(n, 0)]) return true;
    return false;
}

static nb_status append(const char **list, const char *column, const char *value, nb_ctx *ctx)
{
    const char *comma = **list ? ", " : "";
    if (column)
        NB_NEED(*list, nb_format(ctx, "%s%s%s %s", *list, comma, column, value));
    else
        NB_NEED(*list, nb_format(ctx, "%s%s%s", *list, comma, value));
    return NB_OK;
}

/* What one column adds to the names of all scopes. */
static nb_status add_column(const namer *n, const char *column, const char **names, const char **stems, bool named)
{
    nb_codes codes;
    const char *const *labels;
    NB_TRY(n->ctx, nb_frame_codes(n->frame, column, &codes, n->ctx));
    NB_TRY(n->ctx, nb_labels_of_values(n->frame, column, &labels, n->ctx));
    bool apart = varies(n, &codes);
    if (!apart && n->groups->count > 0)
        NB_TRY(n->ctx, append(&n->out->constant, column, labels[codes.of[row_of(n, 0)]], n->ctx));
    for (int s = 0; s < n->groups->count; s++) {
        const char *label = labels[codes.of[row_of(n, s)]];
        if (apart) NB_TRY(n->ctx, append(&names[s], column, label, n->ctx));
        if (apart || named) NB_TRY(n->ctx, append(&stems[s], NULL, label, n->ctx));
    }
    return NB_OK;
}

/* The column `named` comes first in stems. */
static nb_status name_all(const namer *n, const char *const *columns, const char *named)
{
    const char **names, **stems;
    NB_NEED(names, nb_alloc(n->ctx, (size_t)n->groups->count + 1, sizeof *names));
    NB_NEED(stems, nb_alloc(n->ctx, (size_t)n->groups->count + 1, sizeof *stems));
    for (int s = 0; s < n->groups->count; s++) names[s] = stems[s] = "";
    n->out->constant = "";
    for (int pass = 0; pass < 2; pass++)
        for (const char *const *c = columns; *c; c++) {
            bool first = named && strcmp(*c, named) == 0;
            if (first == (pass == 0)) NB_TRY(n->ctx, add_column(n, *c, names, stems, first));
        }
    n->out->names = names;
    n->out->stems = stems;
    return NB_OK;
}

/* What the strata of each scope are. */
static nb_status name_over(const namer *n, const nb_replicates *r)
{
    static const char *const names[] = {"", "all models", "all problems", "all models and problems"};
    const char **over;
    NB_NEED(over, nb_alloc(n->ctx, (size_t)n->groups->count + 1, sizeof *over));
    for (int s = 0; s < n->groups->count; s++) {
        nb_selection rows = nb_group_rows(n->groups, s);
        int kinds = 0;
        for (int i = 0; i < rows.count; i++) kinds |= r->generated[r->stratum[rows.at[i]]] ? 2 : 1;
        over[s] = names[kinds];
    }
    n->out->over = over;
    return NB_OK;
}

nb_status nb_scopes_find(const nb_frame *f, const nb_contrasts *contrasts, const char *along, const char *named,
                         nb_scopes *out, nb_ctx *ctx)
{
    const char **columns;
    const int *values;
    int *of, *at, count = 0;
    nb_selection all;
    nb_groups groups;
    NB_NEED(columns, nb_alloc(ctx, MOST_COLUMNS + 1, sizeof *columns));
    for (const char *const *c = contrasts->setting_columns; *c && count < MOST_COLUMNS; c++)
        if (strcmp(*c, along) != 0) columns[count++] = *c;
    NB_TRY(ctx, nb_frame_all(f, &all, ctx));
    NB_TRY(ctx, nb_frame_group(f, all, columns, &groups, ctx));
    NB_TRY(ctx, nb_frame_ints(f, along, &values, ctx));
    NB_NEED(of, nb_alloc(ctx, (size_t)contrasts->settings.count + 1, sizeof *of));
    NB_NEED(at, nb_alloc(ctx, (size_t)contrasts->settings.count + 1, sizeof *at));
    for (int s = 0; s < contrasts->settings.count; s++) {
        of[s] = groups.of[nb_setting_row(contrasts, s)];
        at[s] = values[nb_setting_row(contrasts, s)];
    }
    *out = (nb_scopes){.count = groups.count, .of = of, .along = at, .columns = columns};
    const namer n = {f, &groups, out, ctx};
    NB_TRY(ctx, name_over(&n, &contrasts->replicates));
    return name_all(&n, columns, named);
}

nb_status nb_scopes_stratum(const nb_contrasts *c, int stratum, const char **label, nb_ctx *ctx)
{
    (void)ctx;
    *label = c->replicates.labels[stratum];
    return NB_OK;
}
