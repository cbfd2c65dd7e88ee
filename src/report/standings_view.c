/* SPDX-License-Identifier: GPL-3.0-or-later */
/* standings_view.c - see standings_view.h */
#include "report/standings_view.h"

nb_status nb_standings_view_make(nb_relation *relation, const nb_standing_terms *terms, const char *along,
                                 const char *named, nb_standings_view *v, nb_ctx *ctx)
{
    *v = (nb_standings_view){.terms = *terms, .along = along, .ctx = ctx};
    NB_TRY(ctx, nb_standings_make(relation, terms, &v->standings, ctx));
    return nb_scopes_find(&v->standings.contrasts, v->standings.planned, v->standings.rows, along, named, &v->scopes,
                          ctx);
}

static int along_of(const nb_standings_view *v, const nb_ranking *s)
{
    return v->scopes.along[s->setting];
}

/* The standings of a scope and stratum, sorted by insertion. */
static nb_status fill(const nb_standings_view *v, nb_standings_block *b)
{
    int *along;
    NB_NEED(b->items, nb_alloc(v->ctx, (size_t)v->standings.count + 1, sizeof *b->items));
    NB_NEED(along, nb_alloc(v->ctx, (size_t)v->standings.count + 1, sizeof *along));
    for (int i = 0; i < v->standings.count; i++) {
        const nb_ranking *s = &v->standings.items[i];
        if (v->scopes.of[s->setting] != b->scope || s->stratum != b->stratum) continue;
        int at = b->count++;
        for (; at > 0 && along_of(v, b->items[at - 1]) > along_of(v, s); at--) b->items[at] = b->items[at - 1];
        b->items[at] = s;
    }
    for (int i = 0; i < b->count; i++) along[i] = along_of(v, b->items[i]);
    b->along = along;
    b->stratum_label = v->scopes.over[b->scope];
    if (b->stratum == NB_OVER_STRATA) return NB_OK;
    b->stratum_label = v->standings.contrasts.stratum_labels[b->stratum];
    return NB_OK;
}

nb_status nb_standings_view_blocks(const nb_standings_view *v, int *count, nb_standings_block **blocks)
{
    int room = 0;
    *blocks = NULL;
    *count = 0;
    for (int scope = 0; scope < v->scopes.count; scope++)
        for (int s = NB_OVER_STRATA; s < v->standings.contrasts.strata; s++) {
            nb_standings_block b = {.scope = scope, .stratum = s};
            NB_TRY(v->ctx, fill(v, &b));
            if (b.count == 0) continue;
            NB_GROW(v->ctx, *blocks, *count, room);
            (*blocks)[(*count)++] = b;
        }
    return NB_OK;
}

const char *nb_standing_label(const nb_standings_view *v, const nb_ranking *s, int method)
{
    return nb_value_label(&v->standings.contrasts, s->methods[method]);
}

int nb_standing_place(const nb_ranking *s, int code)
{
    for (int k = 0; k < s->count; k++)
        if (s->methods[k] == code) return k;
    return -1;
}

nb_status nb_standings_grid(const nb_standings_view *v, const char *const *columns, nb_grid *g)
{
    const char **heads;
    int count = 0, rest = 0, settings = 0;
    while (v->standings.contrasts.setting_columns[settings]) settings++;
    while (columns[rest]) rest++;
    NB_NEED(heads, nb_alloc(v->ctx, (size_t)(settings + rest) + 2, sizeof *heads));
    for (int i = 0; i < settings; i++) heads[count++] = v->standings.contrasts.setting_columns[i];
    heads[count++] = "model";
    for (int i = 0; i < rest; i++) heads[count++] = columns[i];
    return nb_grid_make(g, heads, true, v->ctx);
}

static nb_status add_value(nb_grid *g, const nb_cell *cell)
{
    if (cell->type == NB_CELL_INT) return nb_grid_int(g, (int)cell->integer);
    return cell->type == NB_CELL_REAL ? nb_grid_real(g, "%.4g", cell->real) : nb_grid_text(g, cell->text);
}

nb_status nb_standing_add_setting(nb_grid *g, const nb_standings_view *v, const nb_ranking *s)
{
    const nb_contrasts *c = &v->standings.contrasts;
    for (int k = 0; c->setting_columns[k]; k++)
        NB_TRY(v->ctx, add_value(g, nb_setting_cell(c, s->setting, k, NB_OF_ROW)));
    return nb_grid_text(g, s->stratum == NB_OVER_STRATA ? "all" : c->names[s->stratum]);
}

nb_status nb_standing_add_method(nb_grid *g, const nb_standings_view *v, const nb_ranking *s, int method)
{
    NB_TRY(v->ctx, add_value(g, nb_answer_at(&v->standings.contrasts.values, s->methods[method], NB_OF_ROW)));
    return nb_grid_text(g, nb_standing_label(v, s, method));
}

static const char *letters_of(int group, nb_ctx *ctx)
{
    char text[8] = "";
    int at = sizeof text - 1;
    for (; group >= 0 && at > 0; group = group / 26 - 1) text[--at] = (char)('a' + group % 26);
    return nb_strdup(ctx, text + at);
}

nb_status nb_standing_letters(int first, int last, const char **letters, nb_ctx *ctx)
{
    const char *from, *to;
    *letters = "";
    if (first < 0) return NB_OK;
    NB_NEED(from, letters_of(first, ctx));
    NB_NEED(to, letters_of(last, ctx));
    if (first == last)
        *letters = from;
    else
        NB_NEED(*letters, nb_format(ctx, "%s%s%s", from, last == first + 1 && last < 26 ? "" : "-", to));
    return NB_OK;
}

nb_status nb_standing_untested(const nb_ranking *s, const char **why, nb_ctx *ctx)
{
    *why = NULL;
    if (s->ranked < 2)
        *why = s->ranked == 0 ? "no method has a result" : "only one method has a result";
    else if (s->sources == 0)
        *why = "in no source all methods have a result";
    else if (s->sources < NB_LEAST_SOURCES)
        NB_NEED(*why,
                nb_format(ctx, "%d source%s, fewer than %d", s->sources, s->sources == 1 ? "" : "s", NB_LEAST_SOURCES));
    return NB_OK;
}
