/* SPDX-License-Identifier: GPL-3.0-or-later */
/* claims_check.c - what a claim names is looked for in the config's lists, before anything runs. A word of a resolved
 * axis may appear in rows though no list has it, so any is let pass. */
#include "config/keys.h"

#include <string.h>

typedef struct {         /* the values of a column that the experiment has */
    const nb_axis *axis; /* with its list; NULL: the others say */
    const nb_axis_list *list;
    int range_count, text_count;
    nb_range *ranges;
    const char **texts;
    bool any; /* whatever a claim may say */
} stock;

typedef struct {
    int count; /* of the values that a text means */
    int first;
} meaning;

typedef struct {
    const nb_config *config;
    nb_mistakes *mistakes;
    nb_ctx *ctx;
} checker;

static bool is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static void add_range(stock *s, long long first, long long last)
{
    s->ranges[s->range_count++] = (nb_range){.first = first, .last = last, .step = 1};
}

/* Collects the heads' values in the column, if the shapes are known. */
static nb_status stock_data(const checker *k, const char *column, stock *s)
{
    int problems = k->config->shapes ? k->config->lists[NB_AXIS_PROBLEM].count : 0, heads = 0;
    bool known = is(column, "head") || is(column, "n") || is(column, "d") || is(column, "model") ||
                 is(column, "layer") || is(column, "source");
    for (int i = 0; i < problems; i++) heads += k->config->shapes[i].count;
    NB_NEED(s->ranges, nb_alloc(k->ctx, (size_t)problems + 1, sizeof *s->ranges));
    NB_NEED(s->texts, nb_alloc(k->ctx, (size_t)heads + 1, sizeof *s->texts));
    s->any = !known || problems == 0;
    for (int i = 0; i < problems; i++) {
        const nb_problem_shape *shape = &k->config->shapes[i];
        if (is(column, "head")) add_range(s, shape->first, shape->first + shape->count - 1);
        if (is(column, "n")) add_range(s, shape->n, shape->n);
        if (is(column, "d")) add_range(s, shape->d, shape->d);
        if (is(column, "model") && shape->origins.model) s->texts[s->text_count++] = shape->origins.model;
        if (is(column, "layer") && shape->origins.layer) s->texts[s->text_count++] = shape->origins.layer;
        for (int h = 0; is(column, "source") && shape->origins.sources && h < shape->count; h++)
            if (shape->origins.sources[h]) s->texts[s->text_count++] = shape->origins.sources[h];
    }
    return NB_OK;
}

static nb_status find_stock(const checker *k, const char *column, stock *s)
{
    const nb_study *study = k->config->study;
    *s = (stock){.axis = nb_axis_of_column(study, column)};
    if (s->axis) {
        s->list = &k->config->lists[s->axis - study->axes];
        s->any = s->axis->type == NB_AXIS_WORD && s->axis->resolved;
        return NB_OK;
    }
    for (const nb_option *o = study->component.options; o && o->key; o++) {
        if (!is(o->key, column)) continue;
        NB_NEED(s->texts, nb_alloc(k->ctx, 1, sizeof *s->texts));
        s->text_count = 1;
        return nb_config_setting(k->config, o, s->texts, k->ctx);
    }
    if (!is(column, "trial")) return stock_data(k, column, s);
    NB_NEED(s->ranges, nb_alloc(k->ctx, 1, sizeof *s->ranges));
    add_range(s, 0, k->config->trials - 1);
    return NB_OK;
}

/* Heads of a problem are one component. */
static bool is_repeated(const stock *s, int index)
{
    const nb_choice *items = s->list->choices.items;
    for (int i = 0; s->axis->type == NB_AXIS_COMPONENT && i < index; i++)
        if (is(items[i].canonical, items[index].canonical)) return true;
    return false;
}

/* A word that may be in no list has a number of its own. */
static nb_status match(const checker *k, const stock *s, const nb_named_value *value, meaning *m)
{
    *m = (meaning){.count = 0};
    if (s->axis && s->any) *m = (meaning){1, value->word};
    for (int i = 0; s->axis && !s->any && i < s->list->count; i++) {
        bool means = false;
        if (!is_repeated(s, i)) NB_TRY(k->ctx, nb_named_value_means(value, s->axis, s->list, i, &means, k->ctx));
        if (means && m->count++ == 0) m->first = i;
    }
    for (int i = 0; i < s->range_count; i++)
        for (long long n = s->ranges[i].first; n <= s->ranges[i].last; n++)
            if (nb_range_holds(&value->range, n) && m->count++ == 0) m->first = (int)n;
    for (int i = 0; i < s->text_count; i++)
        if (is(s->texts[i], value->text) && m->count++ == 0) m->first = i;
    if (s->any && m->count == 0) m->count = 1;
    return NB_OK;
}

/* Lists the values there are, for a hint; NULL-terminated. */
static nb_status name_stock(const checker *k, const stock *s, const char ***names)
{
    int count = 0, listed = s->list ? s->list->count : 0;
    NB_NEED(*names, nb_alloc(k->ctx, (size_t)(listed + s->range_count + s->text_count) + 1, sizeof **names));
    for (int i = 0; i < listed; i++)
        if (!is_repeated(s, i)) NB_TRY(k->ctx, nb_axis_value_text(s->axis, s->list, i, &(*names)[count++], k->ctx));
    for (int i = 0; i < s->range_count; i++) {
        const nb_range *r = &s->ranges[i];
        NB_NEED((*names)[count++], r->first == r->last ? nb_format(k->ctx, "%lld", r->first)
                                                       : nb_format(k->ctx, "%lld..%lld", r->first, r->last));
    }
    for (int i = 0; i < s->text_count; i++) (*names)[count++] = s->texts[i];
    return NB_OK;
}

/* The nearest text; of numbers, all. */
static nb_status hint_of(const checker *k, const stock *s, const char *text, const char **hint)
{
    const char **names;
    NB_TRY(k->ctx, name_stock(k, s, &names));
    if (s->range_count == 0 && !(s->axis && s->axis->type == NB_AXIS_INTEGER)) {
        NB_NEED(*hint, nb_hint(text, names, k->ctx));
        return NB_OK;
    }
    *hint = "; it has ";
    for (int i = 0; names[i]; i++) NB_NEED(*hint, nb_format(k->ctx, "%s%s%s", *hint, i ? ", " : "", names[i]));
    return NB_OK;
}

static nb_status tell_absent(const checker *k, const char *what, const char *column, const stock *s,
                             const nb_named_value *value)
{
    const char *hint;
    NB_TRY(k->ctx, hint_of(k, s, value->text, &hint));
    return nb_mistakes_add(k->mistakes, value->place, "claims: %s: the experiment has no %s '%s'%s", what, column,
                           value->text, hint);
}

static nb_status check_where(const checker *k, const nb_conditions *where)
{
    for (int w = 0; w < where->count; w++) {
        const nb_column_values *c = &where->items[w];
        stock s;
        NB_TRY(k->ctx, find_stock(k, c->column, &s));
        for (int i = 0; i < c->count; i++) {
            meaning m;
            NB_TRY(k->ctx, match(k, &s, &c->values[i], &m));
            if (m.count == 0) NB_TRY(k->ctx, tell_absent(k, "where", c->column, &s, &c->values[i]));
        }
    }
    return NB_OK;
}

/* Each means one value of the column, and no two of them the same. */
static nb_status check_values(const checker *k, const nb_claim *c)
{
    stock s;
    meaning *m;
    const char *what = nb_claim_forms[c->form];
    if (c->value_count == 0) return NB_OK;
    NB_TRY(k->ctx, find_stock(k, c->column, &s));
    NB_NEED(m, nb_alloc(k->ctx, (size_t)c->value_count, sizeof *m));
    for (int i = 0; i < c->value_count; i++) {
        const nb_named_value *value = &c->values[i];
        NB_TRY(k->ctx, match(k, &s, value, &m[i]));
        if (m[i].count == 0) NB_TRY(k->ctx, tell_absent(k, what, c->column, &s, value));
        if (m[i].count > 1)
            NB_TRY(k->ctx, nb_mistakes_add(k->mistakes, value->place,
                                           "claims: %s: '%s' means %d values of %s that the experiment has; name one",
                                           what, value->text, m[i].count, c->column));
        for (int j = 0; j < i; j++)
            if (m[i].count == 1 && m[j].count == 1 && m[i].first == m[j].first)
                NB_TRY(k->ctx, nb_mistakes_add(k->mistakes, value->place, "claims: %s: '%s' and '%s' are the same %s",
                                               what, c->values[j].text, value->text, c->column));
    }
    return NB_OK;
}

static nb_status check_metric(const checker *k, const nb_named_value *metric)
{
    const nb_column *column = metric->text ? nb_column_find(k->config->study->columns, metric->text) : NULL;
    if (!column || !column->wanted || (column->wanted & k->config->wanted)) return NB_OK;
    return nb_mistakes_add(k->mistakes, metric->place, "claims: metric: '%s' is not among the config's metrics",
                           metric->text);
}

nb_status nb_claims_check(const nb_config *config, nb_mistakes *mistakes)
{
    checker k = {config, mistakes, mistakes->ctx};
    for (int i = 0; i < config->claim_count; i++) {
        const nb_claim *c = &config->claims[i];
        for (int s = 0; s < c->series_count; s++) NB_TRY(k.ctx, check_metric(&k, &c->series[s].metric));
        if (config->block_count == 0) continue;
        NB_TRY(k.ctx, check_values(&k, c));
        NB_TRY(k.ctx, check_where(&k, &c->where));
        for (int s = 0; s < c->series_count; s++) NB_TRY(k.ctx, check_where(&k, &c->series[s].where));
    }
    return NB_OK;
}
