/* SPDX-License-Identifier: GPL-3.0-or-later */
/* claims_check.c - the values of the study's axes that a claim names are looked for in the config's lists, before
 * anything runs. A word of a resolved axis may appear in rows though no list has it, so any is let pass. Values of
 * other columns are looked for in the rows alone. */
#include "config/keys.h"

#include <string.h>

typedef struct {
    int count; /* of the values that a text means */
    int first;
} meaning;

/* Heads of a problem are one component. */
static bool is_repeated(const nb_axis *axis, const nb_axis_list *list, int index)
{
    const nb_choice *items = list->choices.items;
    for (int i = 0; axis->type == NB_AXIS_COMPONENT && i < index; i++)
        if (strcmp(items[i].canonical, items[index].canonical) == 0) return true;
    return false;
}

/* Finds what the value means among those of the column; that it is none of them is a mistake. */
static nb_status find_meaning(const nb_config *config, const char *what, const char *column,
                              const nb_named_value *value, meaning *m, nb_mistakes *mistakes)
{
    nb_ctx *ctx = mistakes->ctx;
    const nb_axis *axis = nb_axis_of_column(config->study, column);
    const char **names, *hint;
    int count = 0;
    *m = (meaning){1, value->word};
    if (!axis || (axis->type == NB_AXIS_WORD && axis->resolved)) return NB_OK;
    const nb_axis_list *list = &config->lists[axis - config->study->axes];
    *m = (meaning){.count = 0};
    NB_NEED(names, nb_alloc(ctx, (size_t)list->count + 1, sizeof *names));
    for (int i = 0; i < list->count; i++) {
        bool means = false;
        if (is_repeated(axis, list, i)) continue;
        NB_TRY(ctx, nb_axis_value_text(axis, list, i, &names[count++], ctx));
        NB_TRY(ctx, nb_named_value_means(value, axis, list, i, &means, ctx));
        if (means && m->count++ == 0) m->first = i;
    }
    if (m->count > 0) return NB_OK;
    NB_NEED(hint, nb_hint(value->text, names, ctx));
    return nb_mistakes_add(mistakes, value->place, "claims: %s: the experiment has no %s '%s'%s", what, column,
                           value->text, hint);
}

static nb_status check_where(const nb_config *config, const nb_conditions *where, nb_mistakes *mistakes)
{
    meaning m;
    for (int i = 0; i < where->count; i++)
        for (int v = 0; v < where->items[i].count; v++)
            NB_TRY(mistakes->ctx,
                   find_meaning(config, "where", where->items[i].column, &where->items[i].values[v], &m, mistakes));
    return NB_OK;
}

/* Each means one value of the column, and no two of them the same. */
static nb_status check_values(const nb_config *config, const nb_claim *c, nb_mistakes *mistakes)
{
    nb_ctx *ctx = mistakes->ctx;
    meaning *m;
    const char *what = nb_claim_forms[c->form];
    NB_NEED(m, nb_alloc(ctx, (size_t)c->value_count + 1, sizeof *m));
    for (int i = 0; i < c->value_count; i++) {
        const nb_named_value *value = &c->values[i];
        NB_TRY(ctx, find_meaning(config, what, c->column, value, &m[i], mistakes));
        if (m[i].count > 1)
            NB_TRY(ctx, nb_mistakes_add(mistakes, value->place,
                                        "claims: %s: '%s' means %d values of %s that the experiment has; name one",
                                        what, value->text, m[i].count, c->column));
        for (int j = 0; j < i; j++)
            if (m[i].count == 1 && m[j].count == 1 && m[i].first == m[j].first)
                NB_TRY(ctx, nb_mistakes_add(mistakes, value->place, "claims: %s: '%s' and '%s' are the same %s", what,
                                            c->values[j].text, value->text, c->column));
    }
    return NB_OK;
}

static nb_status check_metric(const nb_config *config, const nb_named_value *metric, nb_mistakes *mistakes)
{
    const nb_column *column = metric->text ? nb_column_find(config->study->columns, metric->text) : NULL;
    if (!column || !column->wanted || (column->wanted & config->wanted)) return NB_OK;
    return nb_mistakes_add(mistakes, metric->place, "claims: metric: '%s' is not among the config's metrics",
                           metric->text);
}

nb_status nb_claims_check(const nb_config *config, nb_mistakes *mistakes)
{
    nb_ctx *ctx = mistakes->ctx;
    for (int i = 0; i < config->claim_count; i++) {
        const nb_claim *c = &config->claims[i];
        for (int s = 0; s < c->series_count; s++) NB_TRY(ctx, check_metric(config, &c->series[s].metric, mistakes));
        if (config->block_count == 0) continue;
        NB_TRY(ctx, check_values(config, c, mistakes));
        NB_TRY(ctx, check_where(config, &c->where, mistakes));
        for (int s = 0; s < c->series_count; s++) NB_TRY(ctx, check_where(config, &c->series[s].where, mistakes));
    }
    return NB_OK;
}
