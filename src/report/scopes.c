/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scopes.c - see scopes.h */
#include "report/scopes.h"

#include <string.h>

typedef struct {
    const nb_contrasts *contrasts;
    int along; /* among the setting's columns */
    nb_scopes *out;
    int *of, *first; /* by setting; by scope: a setting of it */
    nb_ctx *ctx;
} namer;

static const nb_cell *cell(const namer *n, int scope, int column, int what)
{
    return nb_setting_cell(n->contrasts, n->first[scope], column, what);
}

static bool varies(const namer *n, int column)
{
    for (int s = 1; s < n->out->count; s++)
        if (!nb_cell_same(cell(n, s, column, NB_OF_ROW), cell(n, 0, column, NB_OF_ROW))) return true;
    return false;
}

static nb_status append(const char **list, const char *column, const char *value, nb_ctx *ctx)
{
    NB_NEED(*list, nb_format(ctx, "%s%s%s%s%s", *list, **list ? ", " : "", column, *column ? " " : "", value));
    return NB_OK;
}

/* What one column adds to the names of all scopes. */
static nb_status add_column(const namer *n, int column, const char **names, const char **stems, bool named)
{
    const char *name = n->contrasts->setting_columns[column];
    bool apart = varies(n, column);
    if (!apart && n->out->count > 0)
        NB_TRY(n->ctx, append(&n->out->constant, name, cell(n, 0, column, NB_OF_LABEL)->text, n->ctx));
    for (int s = 0; s < n->out->count; s++) {
        if (apart) NB_TRY(n->ctx, append(&names[s], name, cell(n, s, column, NB_OF_LABEL)->text, n->ctx));
        if (apart || named) NB_TRY(n->ctx, append(&stems[s], "", cell(n, s, column, NB_OF_LABEL)->text, n->ctx));
    }
    return NB_OK;
}

/* The column `named` comes first in stems. */
static nb_status name_all(const namer *n, const char *named)
{
    const char **names, **stems;
    NB_NEED(names, nb_alloc(n->ctx, (size_t)n->out->count + 1, sizeof *names));
    NB_NEED(stems, nb_alloc(n->ctx, (size_t)n->out->count + 1, sizeof *stems));
    for (int s = 0; s < n->out->count; s++) names[s] = stems[s] = "";
    n->out->constant = "";
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; n->contrasts->setting_columns[k]; k++) {
            bool first = named && strcmp(n->contrasts->setting_columns[k], named) == 0;
            if (k != n->along && first == (pass == 0)) NB_TRY(n->ctx, add_column(n, k, names, stems, first));
        }
    n->out->names = names;
    n->out->stems = stems;
    return NB_OK;
}

/* What the strata of each scope are. */
static nb_status name_over(const namer *n, int planned, const nb_planned *rows)
{
    static const char *const names[] = {"", "all models", "all problems", "all models and problems"};
    const char **over;
    int *kinds;
    NB_NEED(over, nb_alloc(n->ctx, (size_t)n->out->count + 1, sizeof *over));
    NB_NEED(kinds, nb_alloc(n->ctx, (size_t)n->out->count + 1, sizeof *kinds));
    for (int i = 0; i < planned; i++) kinds[n->of[rows[i].setting]] |= n->contrasts->drawn[rows[i].stratum] ? 2 : 1;
    for (int s = 0; s < n->out->count; s++) over[s] = names[kinds[s]];
    n->out->over = over;
    return NB_OK;
}

static bool same_scope(const namer *n, int a, int b)
{
    for (int k = 0; n->contrasts->setting_columns[k]; k++)
        if (k != n->along && !nb_cell_same(nb_setting_cell(n->contrasts, a, k, NB_OF_ROW),
                                           nb_setting_cell(n->contrasts, b, k, NB_OF_ROW)))
            return false;
    return true;
}

nb_status nb_scopes_find(const nb_contrasts *contrasts, int planned, const nb_planned *rows, const char *along,
                         const char *named, nb_scopes *out, nb_ctx *ctx)
{
    namer n = {.contrasts = contrasts, .out = out, .ctx = ctx};
    size_t settings = (size_t)contrasts->settings.count + 1;
    int *at;
    NB_NEED(n.of, nb_alloc(ctx, settings, sizeof *n.of));
    NB_NEED(n.first, nb_alloc(ctx, settings, sizeof *n.first));
    NB_NEED(at, nb_alloc(ctx, settings, sizeof *at));
    *out = (nb_scopes){.of = n.of, .along = at};
    while (strcmp(contrasts->setting_columns[n.along], along) != 0) n.along++;
    for (int s = 0; s < contrasts->settings.count; s++) {
        int scope = 0;
        while (scope < out->count && !same_scope(&n, n.first[scope], s)) scope++;
        if (scope == out->count) n.first[out->count++] = s;
        n.of[s] = scope;
        at[s] = (int)nb_setting_cell(contrasts, s, n.along, NB_OF_ROW)->integer;
    }
    NB_TRY(ctx, name_over(&n, planned, rows));
    return name_all(&n, named);
}
