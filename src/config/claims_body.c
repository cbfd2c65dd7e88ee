/* SPDX-License-Identifier: GPL-3.0-or-later */
/* claims_body.c - what a claim compares or measures, by its form. */
#include "config/claims_private.h"

#include "config/values.h"

static nb_status read_metric(const nb_claim_reader *r, nb_yaml value, nb_claim_value *metric)
{
    const char **names;
    int count = 0, index;
    NB_NEED(names, nb_alloc(r->ctx, (size_t)nb_column_count(r->study->columns) + 1, sizeof *names));
    for (const nb_column *c = r->study->columns; c->name; c++)
        if (c->measure) names[count++] = c->name;
    int before = r->mistakes->count;
    NB_TRY(r->ctx, nb_read_word("claims: metric", value, names, &index, r->mistakes));
    if (r->mistakes->count == before) *metric = (nb_claim_value){names[index], nb_yaml_place(value)};
    return NB_OK;
}

/* The one key of a body that is the name of a column, with its values. */
static nb_status read_compared(const nb_claim_reader *r, const char *what, nb_yaml body, const char *const *columns,
                               const nb_yaml *values)
{
    nb_claim *c = r->claim;
    nb_place at = nb_yaml_place(body);
    for (int i = 0; columns[i]; i++) {
        if (!values[i].node) continue;
        if (c->column)
            return nb_mistakes_add(r->mistakes, at, "%s: expected values of one column, found '%s' and '%s'", what,
                                   c->column, columns[i]);
        c->column = columns[i];
        int before = r->mistakes->count;
        NB_TRY(r->ctx, nb_claim_values_read(r, what, c->column, values[i], &c->value_count, &c->values));
        int found = nb_yaml_count(values[i]);
        if (r->mistakes->count == before && (found < 2 || (c->form == NB_CLAIM_COMPARE && found > 2)))
            NB_TRY(r->ctx,
                   nb_mistakes_add(r->mistakes, nb_yaml_place(values[i]), "%s: %s: expected %s, found %d value%s", what,
                                   c->column, c->form == NB_CLAIM_COMPARE ? "[A, B], A against B" : "at least [A, B]",
                                   found, found == 1 ? "" : "s"));
    }
    if (c->column || body.node->type != YAML_MAPPING_NODE) return NB_OK;
    return nb_mistakes_add(r->mistakes, at, "%s: expected a column with its values, as %s: [A, B]", what, columns[0]);
}

/* Columns whose values can be compared; integers: those alone. */
static nb_status name_axes(const nb_claim_reader *r, bool integers, const char ***names)
{
    int count = 0;
    NB_NEED(*names, nb_alloc(r->ctx, NB_MOST_AXES + 3, sizeof **names));
    for (const nb_axis *axis = r->study->axes; axis->key; axis++)
        if (nb_claim_compares(axis) && (!integers || axis->type == NB_AXIS_INTEGER)) (*names)[count++] = axis->column;
    return NB_OK;
}

/* compare, order: {COLUMN: [A, B], metric: ..., where: ...} */
static nb_status read_pairs(const nb_claim_reader *r, const char *what, nb_yaml body)
{
    const char **names;
    nb_yaml *values;
    int axes = 0;
    NB_TRY(r->ctx, name_axes(r, false, &names));
    while (names[axes]) axes++;
    names[axes] = "metric";
    names[axes + 1] = "where";
    NB_TRY(r->ctx, nb_claim_collect(r, what, body, names, &values));
    nb_yaml metric = values[axes], where = values[axes + 1];
    names[axes] = NULL;
    NB_TRY(r->ctx, read_compared(r, what, body, names, values));
    NB_TRY(r->ctx, metric.node ? read_metric(r, metric, &r->claim->series[0].metric)
                               : nb_claim_missing(r, what, body, "metric"));
    return nb_claim_where_read(r, where, &r->claim->where);
}

static nb_status read_measure(const nb_claim_reader *r, const char *what, nb_yaml body)
{
    static const char *const names[] = {"metric", "where", "statistic", NULL};
    nb_yaml *values;
    NB_TRY(r->ctx, nb_claim_collect(r, what, body, names, &values));
    NB_TRY(r->ctx, values[0].node ? read_metric(r, values[0], &r->claim->series[0].metric)
                                  : nb_claim_missing(r, what, body, "metric"));
    NB_TRY(r->ctx, nb_claim_where_read(r, values[1], &r->claim->where));
    if (!values[2].node) return NB_OK;
    return nb_read_word("claims: statistic", values[2], nb_claim_statistics, &r->claim->statistic, r->mistakes);
}

/* The column that a body names: of integers, or of whatever can be compared. */
static nb_status read_column(const nb_claim_reader *r, const char *what, const char *key, bool integers, nb_yaml body,
                             nb_yaml value)
{
    const char **names, *text;
    int index, before = r->mistakes->count;
    if (!value.node) return nb_claim_missing(r, what, body, key);
    NB_TRY(r->ctx, name_axes(r, integers, &names));
    NB_NEED(text, nb_format(r->ctx, "%s: %s", what, key));
    NB_TRY(r->ctx, nb_read_word(text, value, names, &index, r->mistakes));
    if (r->mistakes->count == before) r->claim->column = names[index];
    return NB_OK;
}

static nb_status read_slope(const nb_claim_reader *r, const char *what, nb_yaml body)
{
    static const char *const names[] = {"metric", "against", "where", NULL};
    nb_yaml *values;
    NB_TRY(r->ctx, nb_claim_collect(r, what, body, names, &values));
    NB_TRY(r->ctx, values[0].node ? read_metric(r, values[0], &r->claim->series[0].metric)
                                  : nb_claim_missing(r, what, body, "metric"));
    NB_TRY(r->ctx, read_column(r, what, "against", true, body, values[1]));
    return nb_claim_where_read(r, values[2], &r->claim->where);
}

/* x: {metric: ..., where: ...} */
static nb_status read_series(const nb_claim_reader *r, const char *what, nb_yaml value, nb_claim_series *s)
{
    static const char *const names[] = {"metric", "where", NULL};
    nb_yaml *values;
    NB_TRY(r->ctx, nb_claim_collect(r, what, value, names, &values));
    NB_TRY(r->ctx, values[0].node ? read_metric(r, values[0], &s->metric) : nb_claim_missing(r, what, value, "metric"));
    return nb_claim_where_read(r, values[1], &s->where);
}

static nb_status read_metrics(const nb_claim_reader *r, nb_yaml value)
{
    if (nb_yaml_count(value) != 2)
        return nb_mistakes_add(r->mistakes, nb_yaml_place(value), "claims: metrics: expected two, as [error, mse]");
    for (int i = 0; i < 2; i++) NB_TRY(r->ctx, read_metric(r, nb_yaml_item(value, i), &r->claim->series[i].metric));
    return NB_OK;
}

static nb_status read_correlate(const nb_claim_reader *r, const char *what, nb_yaml body)
{
    enum { OVER, METRICS, X, Y, WHERE };
    static const char *const names[] = {"over", "metrics", "x", "y", "where", NULL};
    nb_yaml *values;
    NB_TRY(r->ctx, nb_claim_collect(r, what, body, names, &values));
    NB_TRY(r->ctx, read_column(r, what, "over", false, body, values[OVER]));
    bool both = values[X].node && values[Y].node, any = values[X].node || values[Y].node;
    if (values[METRICS].node ? any : !both)
        NB_TRY(r->ctx,
               nb_mistakes_add(r->mistakes, nb_yaml_place(body),
                               "%s: expected either metrics: [A, B], or x and y: {metric: A, where: {...}}", what));
    if (values[METRICS].node) NB_TRY(r->ctx, read_metrics(r, values[METRICS]));
    if (values[X].node) NB_TRY(r->ctx, read_series(r, "claims: x", values[X], &r->claim->series[0]));
    if (values[Y].node) NB_TRY(r->ctx, read_series(r, "claims: y", values[Y], &r->claim->series[1]));
    return nb_claim_where_read(r, values[WHERE], &r->claim->where);
}

nb_status nb_claim_body_read(const nb_claim_reader *r, nb_yaml body)
{
    const char *what;
    nb_claim *c = r->claim;
    NB_NEED(what, nb_format(r->ctx, "claims: %s", nb_claim_forms[c->form]));
    c->series_count = c->form == NB_CLAIM_UNTESTED ? 0 : c->form == NB_CLAIM_CORRELATE ? 2 : 1;
    switch (c->form) {
    case NB_CLAIM_COMPARE:
    case NB_CLAIM_ORDER: return read_pairs(r, what, body);
    case NB_CLAIM_MEASURE: return read_measure(r, what, body);
    case NB_CLAIM_SLOPE: return read_slope(r, what, body);
    case NB_CLAIM_CORRELATE: return read_correlate(r, what, body);
    case NB_CLAIM_UNTESTED: return nb_claim_sentence(r, "untested", body, &c->untested);
    default: return NB_OK;
    }
}
