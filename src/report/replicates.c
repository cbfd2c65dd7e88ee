/* SPDX-License-Identifier: GPL-3.0-or-later */
/* replicates.c - see replicates.h */
#include "report/replicates.h"

#include "base/texts.h"
#include "components/registry.h"
#include "problems/problem.h"
#include "report/labels.h"

#include <string.h>

static const char nameless[] = "(no model named)";

/* Of data that are drawn anew in each trial: the problem, for people; else NULL. */
static nb_status name_generated(const nb_given_labels *given, const char *problem, const char **name, nb_ctx *ctx)
{
    const char *label = nb_given_label_of(given, &nb_problems, problem);
    nb_choice choice;
    *name = NULL;
    nb_status status = nb_choice_parse(&nb_problems, problem, &choice, ctx);
    if (status == NB_ENOMEM) return status;
    nb_error_clear(ctx); /* a plug-in's that is not loaded */
    if (status == NB_OK && ((const nb_problem *)choice.component)->random) *name = label ? label : choice.label;
    return NB_OK;
}

/* Of the source of a row, for people; `generated`: of drawn data. */
static nb_status name_source(const nb_row *row, bool told, bool generated, const char **name, nb_ctx *ctx)
{
    if (generated)
        NB_NEED(*name, nb_format(ctx, "trial %d", row->trial));
    else
        *name = told && row->source ? row->source : row->problem;
    return NB_OK;
}

/* By the codes of the problems. */
static nb_status name_problems(const nb_frame *f, nb_codes *problems, const char ***names, nb_ctx *ctx)
{
    NB_TRY(ctx, nb_frame_codes(f, "problem", problems, ctx));
    NB_NEED(*names, nb_alloc(ctx, (size_t)problems->count + 1, sizeof **names));
    for (int p = 0; p < problems->count; p++) {
        const nb_row *row = nb_frame_row(f, problems->first[p]);
        NB_TRY(ctx, name_generated(f->labels, row->problem, &(*names)[p], ctx));
    }
    return NB_OK;
}

/* A problem's name is its label, and stays whole. */
static nb_status label_strata(int count, const char *const *names, const bool *generated, const char *const **labels,
                              nb_ctx *ctx)
{
    const char **brief, **own;
    NB_NEED(brief, nb_alloc(ctx, (size_t)count + 1, sizeof *brief));
    NB_NEED(own, nb_alloc(ctx, (size_t)count + 1, sizeof *own));
    for (int s = 0; s < count; s++) {
        brief[s] = names[s];
        if (!generated[s]) NB_TRY(ctx, nb_label_stratum(names[s], &brief[s], ctx));
    }
    for (int s = 0; s < count; s++) {
        own[s] = brief[s];
        for (int i = 0; i < count; i++)
            if (i != s && strcmp(brief[i], brief[s]) == 0) own[s] = names[s];
    }
    *labels = own;
    return NB_OK;
}

/* Groups of the rows by what decides stratum and source, and these once for each group. */
nb_status nb_replicates_find(const nb_frame *f, nb_replicates *found, nb_ctx *ctx)
{
    static const char *const by_data[] = {"problem", "trial", NULL}, *const by_head[] = {"problem", "head", NULL};
    bool told = nb_column_find(f->columns, "source");
    const char *const *told_by[] = {(const char *const[]){"problem", "trial", "model", "source", NULL}, by_data};
    nb_texts strata, sources;
    nb_selection all;
    nb_groups data, heads;
    nb_codes problems;
    int *stratum, *source, *stratum_of;
    bool *generated;
    const char **names, **drawn;
    nb_texts_init(&strata, ctx);
    nb_texts_init(&sources, ctx);
    NB_TRY(ctx, nb_frame_all(f, &all, ctx));
    NB_TRY(ctx, nb_frame_group(f, all, told_by[told ? 0 : 1], &data, ctx));
    NB_TRY(ctx, nb_frame_group(f, all, by_head, &heads, ctx));
    NB_TRY(ctx, name_problems(f, &problems, &drawn, ctx));
    NB_NEED(stratum, nb_alloc(ctx, (size_t)f->count + 1, sizeof *stratum));
    NB_NEED(source, nb_alloc(ctx, (size_t)f->count + 1, sizeof *source));
    NB_NEED(stratum_of, nb_alloc(ctx, (size_t)data.count + 1, sizeof *stratum_of));
    NB_NEED(generated, nb_alloc(ctx, (size_t)data.count + 1, sizeof *generated));
    NB_NEED(names, nb_alloc(ctx, (size_t)data.count + 1, sizeof *names));
    for (int g = 0; g < data.count; g++) {
        int first = data.rows[data.first[g]];
        const nb_row *row = nb_frame_row(f, first);
        const char *name = drawn[problems.of[first]], *text;
        int s, number;
        NB_TRY(ctx, nb_texts_number(&strata, name ? name : told && row->model ? row->model : nameless, &s));
        if (name)
            NB_NEED(text, nb_format(ctx, "%d %s %d", s, row->problem, row->trial));
        else
            NB_NEED(text, nb_format(ctx, "%d %s", s, told && row->source ? row->source : row->problem));
        NB_TRY(ctx, nb_texts_number(&sources, text, &number));
        generated[s] = name;
        stratum_of[number] = s;
        if (!names[number]) NB_TRY(ctx, name_source(row, told, name, &names[number], ctx));
        for (int i = data.first[g]; i < data.first[g + 1]; i++) {
            stratum[data.rows[i]] = s;
            source[data.rows[i]] = number;
        }
    }
    *found = (nb_replicates){.strata = strata.count,
                             .sources = sources.count,
                             .names = strata.items,
                             .stratum = stratum,
                             .source = source,
                             .head = heads.of,
                             .generated = generated,
                             .source_names = names,
                             .stratum_of = stratum_of};
    return label_strata(strata.count, strata.items, generated, &found->labels, ctx);
}
