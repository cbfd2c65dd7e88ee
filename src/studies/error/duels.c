/* SPDX-License-Identifier: GPL-3.0-or-later */
/* duels.c - see duels.h */
#include "studies/error/duels.h"

#include <math.h>

/* Each is asked for many times, and may be the least of many. */
static nb_status find_errors(nb_duels *d, nb_ctx *ctx)
{
    const nb_entrants *e = d->entrants;
    double *errors;
    NB_NEED(errors, nb_alloc_reals(ctx, (size_t)e->count + 1, (size_t)e->choices.count + 1));
    for (int a = 0; a < e->count; a++)
        for (int i = 0; i < e->choices.count; i++)
            errors[(size_t)a * (size_t)e->choices.count + (size_t)i] = nb_entrant_error(e, a, i);
    d->errors = errors;
    return NB_OK;
}

double nb_duels_error(const nb_duels *d, int entrant, int choice)
{
    return d->errors[(size_t)entrant * (size_t)d->entrants->choices.count + (size_t)choice];
}

nb_status nb_duels_make(nb_duels *d, const nb_entrants *entrants, bool oracles, nb_ctx *ctx)
{
    size_t room = (size_t)entrants->choices.count + 1;
    *d = (nb_duels){.entrants = entrants};
    NB_NEED(d->mine, nb_alloc_reals(ctx, room, 1));
    NB_NEED(d->other, nb_alloc_reals(ctx, room, 1));
    NB_NEED(d->ratios, nb_alloc_reals(ctx, room, 1));
    NB_NEED(d->shown, nb_alloc(ctx, (size_t)entrants->count + 1, sizeof *d->shown));
    for (int i = 0; i < entrants->count; i++)
        d->shown[i] = entrants->of[i].usual && (oracles || !entrants->of[i].oracle);
    return find_errors(d, ctx);
}

nb_duel nb_duel_of(const nb_duels *d)
{
    nb_duel duel = {.below = NAN};
    int count = 0, below = 0;
    for (int i = 0; i < d->entrants->choices.count; i++) {
        double ratio = d->mine[i] / d->other[i];
        if (!isfinite(ratio)) continue;
        below += ratio < 1;
        d->ratios[count++] = ratio;
    }
    duel.ratio = nb_statistic_of(count, d->ratios);
    if (count > 0) duel.below = (double)below / count;
    return duel;
}

nb_status nb_duels_show(nb_page *page, const nb_duels *d, const char *corner, nb_duel_cell *cell, const void *what)
{
    const nb_entrants *e = d->entrants;
    int number = 0;
    nb_page_table(page);
    nb_page_column(page, NB_PAGE_NUMBER | NB_PAGE_LABEL, "%s", "");
    nb_page_column(page, NB_PAGE_LABEL, "%s", corner);
    for (int i = 0; i < e->count; i++)
        if (d->shown[i]) nb_page_column(page, NB_PAGE_NUMBER, "%d", ++number);
    number = 0;
    for (int a = 0; a < e->count; a++) {
        if (!d->shown[a]) continue;
        nb_page_row(page);
        nb_page_cell(page, "%d", ++number);
        nb_page_cell(page, "%s", e->of[a].label);
        for (int b = 0; b < e->count; b++) {
            char text[16];
            if (!d->shown[b]) continue;
            nb_status status = cell(what, a, b, text, sizeof text);
            if (status != NB_OK) return status;
            nb_page_cell(page, "%s", text);
        }
    }
    return NB_OK;
}
