/* SPDX-License-Identifier: GPL-3.0-or-later */
/* claims.c - a claim is a mapping, and so are its parts: each is sorted by key first, so that what is unknown, twice
 * there or empty is told at once, and then read in an order in which a part knows those that decide what it may be. */
#include "config/claims.h"

#include "base/numbers.h"
#include "base/range.h"
#include "config/lookup.h"
#include "config/values.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <string.h>

enum {
    SAYS,
    SOURCE,
    ID,
    FORMS,
    EXPECT = FORMS + NB_CLAIM_FORMS,
    EACH,
    CONFOUNDED,
    FAILURES,
    CONFIDENCE,
    SMALLEST,
    KEYS
};
static const char *const claim_keys[] = {"says",     "source",     "id",       "compare", "measure", "order",
                                         "slope",    "correlate",  "untested", "expect",  "each",    "confounded",
                                         "failures", "confidence", "smallest", NULL};

typedef struct {
    const nb_study *study;
    bool look_up;
    nb_claim *claim;
    const char **columns; /* by which rows can be selected; ends with NULL */
    nb_mistakes *mistakes;
    nb_ctx *ctx;
} reader;

static int index_of(const char *name, const char *const *names)
{
    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], name) == 0) return i;
    return -1;
}

static nb_status read_pair(const reader *r, const char *what, nb_yaml key, nb_yaml value, const char *const *names,
                           nb_yaml *values)
{
    const char *name = nb_yaml_scalar(key) ? nb_yaml_scalar(key) : nb_yaml_kind(key), *hint;
    nb_place at = nb_yaml_place(key);
    int index = index_of(name, names);
    if (index < 0) {
        NB_NEED(hint, nb_hint(name, names, r->ctx));
        return nb_mistakes_add(r->mistakes, at, "%s: key '%s' is unknown%s", what, name, hint);
    }
    if (values[index].node) return nb_mistakes_add(r->mistakes, at, "%s: key '%s' appears a second time", what, name);
    if (nb_yaml_is_null(value)) return nb_mistakes_add(r->mistakes, at, "%s: key '%s' has no value", what, name);
    values[index] = value;
    return NB_OK;
}

/* Sorts the pairs of a mapping by key; a value's node is NULL where it is not there. */
static nb_status collect(const reader *r, const char *what, nb_yaml mapping, const char *const *names, nb_yaml **values)
{
    int count = 0;
    while (names[count]) count++;
    NB_NEED(*values, nb_alloc(r->ctx, (size_t)count + 1, sizeof **values));
    if (mapping.node->type != YAML_MAPPING_NODE)
        return nb_mistakes_add(r->mistakes, nb_yaml_place(mapping), "%s: expected {%s: ...}, found %s", what,
                               names[0] ? names[0] : "", nb_yaml_scalar(mapping) ? "a text" : nb_yaml_kind(mapping));
    for (int i = 0; i < nb_yaml_pairs(mapping); i++) {
        nb_yaml key, value;
        nb_yaml_pair(mapping, i, &key, &value);
        NB_TRY(r->ctx, read_pair(r, what, key, value, names, *values));
    }
    return NB_OK;
}

static nb_status missing(const reader *r, const char *what, nb_yaml mapping, const char *key)
{
    return mapping.node->type == YAML_MAPPING_NODE
               ? nb_mistakes_add(r->mistakes, nb_yaml_place(mapping), "%s: key '%s' is missing", what, key)
               : NB_OK;
}

/* Some words, on one line. */
static nb_status read_sentence(const reader *r, const char *what, nb_yaml value, const char **out)
{
    const char *text = nb_yaml_scalar(value);
    char *copy;
    size_t length = 0;
    NB_NEED(copy, nb_strdup(r->ctx, text ? text : ""));
    for (const char *c = copy; *c; c++) {
        bool blank = isspace((unsigned char)*c);
        if (!blank || (length > 0 && copy[length - 1] != ' ')) copy[length++] = blank ? ' ' : *c;
    }
    if (length > 0 && copy[length - 1] == ' ') length--;
    copy[length] = '\0';
    *out = copy;
    return length > 0 ? NB_OK
                      : nb_mistakes_add(r->mistakes, nb_yaml_place(value), "claims: %s: expected some words, found %s",
                                        what, text ? "none" : nb_yaml_kind(value));
}

static nb_status read_id(const reader *r, nb_yaml value)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    const char *text = nb_yaml_scalar(value);
    if (!text || !isalnum((unsigned char)*text) || text[strspn(text, letters)])
        return nb_mistakes_add(
            r->mistakes, nb_yaml_place(value),
            "claims: id: expected letters, digits, '.', '_' and '-', beginning with a letter or digit, found '%s'",
            text ? text : nb_yaml_kind(value));
    NB_NEED(r->claim->id, nb_strdup(r->ctx, text));
    return NB_OK;
}

/* What rows can be selected and divided by. */
static bool selects(const nb_column *c)
{
    static const char *const others[] = {"experiment", "status", "reason", NULL};
    return c->type != NB_COLUMN_REAL && c->type != NB_COLUMN_SEED && index_of(c->name, others) < 0;
}

/* What a method is, apart from the data: columns whose values can be compared. */
static bool compares(const nb_axis *axis)
{
    return strcmp(axis->column, "problem") != 0;
}

static const nb_axis *axis_of(const nb_study *study, const char *column)
{
    for (const nb_axis *axis = study->axes; axis->key; axis++)
        if (strcmp(axis->column, column) == 0) return axis;
    return NULL;
}

static nb_status add_value(const reader *r, const char *text, nb_place place, int *count, nb_claim_value **values)
{
    nb_claim_value *all;
    NB_NEED(all, nb_alloc(r->ctx, (size_t)*count + 1, sizeof *all));
    if (*count > 0) memcpy(all, *values, (size_t)*count * sizeof *all);
    all[*count].place = place;
    NB_NEED(all[*count].text, nb_strdup(r->ctx, text));
    *values = all;
    ++*count;
    return NB_OK;
}

/* Components: as written, or, where a file of one is elsewhere, each of them with its file. */
static nb_status add_parts(const reader *r, nb_yaml value, int part_count, nb_choice_part *parts, int *count,
                           nb_claim_value **values)
{
    bool moved = false, changed;
    const char *text;
    for (int p = 0; p < part_count && r->look_up && value.in_file; p++) {
        NB_TRY(r->ctx, nb_lookup_options(parts[p].component, parts[p].options, value.source, &changed, r->ctx));
        moved = moved || changed;
    }
    if (!moved) return add_value(r, nb_yaml_scalar(value), nb_yaml_place(value), count, values);
    for (int p = 0; p < part_count; p++) {
        NB_TRY(r->ctx, nb_choice_part_text(&parts[p], &text, r->ctx));
        NB_TRY(r->ctx, add_value(r, text, nb_yaml_place(value), count, values));
    }
    return NB_OK;
}

static nb_status read_component(const reader *r, const char *what, const nb_axis *axis, nb_yaml value, int *count,
                                nb_claim_value **values)
{
    nb_choice_part *parts;
    int part_count;
    nb_place at = nb_yaml_place(value);
    NB_TRY(r->ctx,
           nb_choice_parts_read(axis->registry, nb_yaml_scalar(value), at, &part_count, &parts, r->mistakes, r->ctx));
    for (int p = 0; p < part_count; p++)
        for (int g = 0; g < parts[p].count; g++)
            if (parts[p].given[g]->selects_head)
                return nb_mistakes_add(r->mistakes, at, "%s: the column 'head' names heads, not the option '%s'", what,
                                       parts[p].given[g]->key);
    return part_count == 0 ? NB_OK
                           : nb_mistakes_take(r->mistakes, at, add_parts(r, value, part_count, parts, count, values));
}

static nb_status read_integers(const reader *r, const char *what, nb_yaml value, int *count, nb_claim_value **values)
{
    nb_range *ranges;
    int found;
    NB_TRY(r->ctx, nb_read_ranges(what, value, 0, INT_MAX, &found, &ranges, r->mistakes));
    return found ? add_value(r, nb_yaml_scalar(value), nb_yaml_place(value), count, values) : NB_OK;
}

/* One or more values of a column, whose kinds of mistakes are those of its axis. */
static nb_status read_value(const reader *r, const char *what, const char *column, nb_yaml value, int *count,
                            nb_claim_value **values)
{
    const nb_axis *axis = axis_of(r->study, column);
    int word, before = r->mistakes->count;
    if (!nb_yaml_scalar(value))
        return nb_mistakes_add(r->mistakes, nb_yaml_place(value), "%s: expected a value, found %s", what,
                               nb_yaml_kind(value));
    if (nb_column_find(r->study->columns, column)->type != NB_COLUMN_TEXT)
        return read_integers(r, what, value, count, values);
    if (axis && axis->type == NB_AXIS_COMPONENT) return read_component(r, what, axis, value, count, values);
    if (axis) NB_TRY(r->ctx, nb_read_word(what, value, axis->words, &word, r->mistakes));
    return r->mistakes->count > before ? NB_OK
                                       : add_value(r, nb_yaml_scalar(value), nb_yaml_place(value), count, values);
}

static nb_status read_values(const reader *r, const char *what, const char *column, nb_yaml value, int *count,
                             nb_claim_value **values)
{
    const char *key;
    NB_NEED(key, nb_format(r->ctx, "%s: %s", what, column));
    if (nb_yaml_count(value) == 0)
        NB_TRY(r->ctx, nb_mistakes_add(r->mistakes, nb_yaml_place(value), "%s: the list is empty", key));
    for (int i = 0; i < nb_yaml_count(value); i++)
        NB_TRY(r->ctx, read_value(r, key, column, nb_yaml_item(value, i), count, values));
    return NB_OK;
}

/* A mapping from columns to values; no node: no condition. */
static nb_status read_where(const reader *r, nb_yaml value, nb_claim_where *where)
{
    nb_yaml *values;
    if (!value.node) return NB_OK;
    NB_TRY(r->ctx, collect(r, "claims: where", value, r->columns, &values));
    for (int i = 0; r->columns[i]; i++) where->count += values[i].node != NULL;
    NB_NEED(where->items, nb_alloc(r->ctx, (size_t)where->count + 1, sizeof *where->items));
    where->count = 0;
    for (int i = 0; r->columns[i]; i++) {
        if (!values[i].node) continue;
        nb_claim_condition *c = &where->items[where->count++];
        c->column = r->columns[i];
        NB_TRY(r->ctx, read_values(r, "claims: where", c->column, values[i], &c->count, &c->values));
    }
    return NB_OK;
}

static nb_status read_metric(const reader *r, nb_yaml value, nb_claim_value *metric)
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
static nb_status read_compared(const reader *r, const char *what, nb_yaml body, const char *const *columns,
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
        NB_TRY(r->ctx, read_values(r, what, c->column, values[i], &c->value_count, &c->values));
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
static nb_status name_axes(const reader *r, bool integers, const char ***names)
{
    int count = 0;
    NB_NEED(*names, nb_alloc(r->ctx, NB_MOST_AXES + 3, sizeof **names));
    for (const nb_axis *axis = r->study->axes; axis->key; axis++)
        if (compares(axis) && (!integers || axis->type == NB_AXIS_INTEGER)) (*names)[count++] = axis->column;
    return NB_OK;
}

/* compare, order: {COLUMN: [A, B], metric: ..., where: ...} */
static nb_status read_pairs(const reader *r, const char *what, nb_yaml body)
{
    const char **names;
    nb_yaml *values;
    int axes = 0;
    NB_TRY(r->ctx, name_axes(r, false, &names));
    while (names[axes]) axes++;
    names[axes] = "metric";
    names[axes + 1] = "where";
    NB_TRY(r->ctx, collect(r, what, body, names, &values));
    nb_yaml metric = values[axes], where = values[axes + 1];
    names[axes] = NULL;
    NB_TRY(r->ctx, read_compared(r, what, body, names, values));
    NB_TRY(r->ctx,
           metric.node ? read_metric(r, metric, &r->claim->series[0].metric) : missing(r, what, body, "metric"));
    return read_where(r, where, &r->claim->where);
}

static nb_status read_measure(const reader *r, const char *what, nb_yaml body)
{
    static const char *const names[] = {"metric", "where", "statistic", NULL};
    nb_yaml *values;
    NB_TRY(r->ctx, collect(r, what, body, names, &values));
    NB_TRY(r->ctx,
           values[0].node ? read_metric(r, values[0], &r->claim->series[0].metric) : missing(r, what, body, "metric"));
    NB_TRY(r->ctx, read_where(r, values[1], &r->claim->where));
    if (!values[2].node) return NB_OK;
    return nb_read_word("claims: statistic", values[2], nb_claim_statistics, &r->claim->statistic, r->mistakes);
}

/* The column that a body names: of integers, or of whatever can be compared. */
static nb_status read_column(const reader *r, const char *what, const char *key, bool integers, nb_yaml body,
                             nb_yaml value)
{
    const char **names, *text;
    int index, before = r->mistakes->count;
    if (!value.node) return missing(r, what, body, key);
    NB_TRY(r->ctx, name_axes(r, integers, &names));
    NB_NEED(text, nb_format(r->ctx, "%s: %s", what, key));
    NB_TRY(r->ctx, nb_read_word(text, value, names, &index, r->mistakes));
    if (r->mistakes->count == before) r->claim->column = names[index];
    return NB_OK;
}

static nb_status read_slope(const reader *r, const char *what, nb_yaml body)
{
    static const char *const names[] = {"metric", "against", "where", NULL};
    nb_yaml *values;
    NB_TRY(r->ctx, collect(r, what, body, names, &values));
    NB_TRY(r->ctx,
           values[0].node ? read_metric(r, values[0], &r->claim->series[0].metric) : missing(r, what, body, "metric"));
    NB_TRY(r->ctx, read_column(r, what, "against", true, body, values[1]));
    return read_where(r, values[2], &r->claim->where);
}

/* x: {metric: ..., where: ...} */
static nb_status read_series(const reader *r, const char *what, nb_yaml value, nb_claim_series *s)
{
    static const char *const names[] = {"metric", "where", NULL};
    nb_yaml *values;
    NB_TRY(r->ctx, collect(r, what, value, names, &values));
    NB_TRY(r->ctx, values[0].node ? read_metric(r, values[0], &s->metric) : missing(r, what, value, "metric"));
    return read_where(r, values[1], &s->where);
}

static nb_status read_metrics(const reader *r, nb_yaml value)
{
    if (nb_yaml_count(value) != 2)
        return nb_mistakes_add(r->mistakes, nb_yaml_place(value), "claims: metrics: expected two, as [error, mse]");
    for (int i = 0; i < 2; i++) NB_TRY(r->ctx, read_metric(r, nb_yaml_item(value, i), &r->claim->series[i].metric));
    return NB_OK;
}

static nb_status read_correlate(const reader *r, const char *what, nb_yaml body)
{
    enum { OVER, METRICS, X, Y, WHERE };
    static const char *const names[] = {"over", "metrics", "x", "y", "where", NULL};
    nb_yaml *values;
    NB_TRY(r->ctx, collect(r, what, body, names, &values));
    NB_TRY(r->ctx, read_column(r, what, "over", false, body, values[OVER]));
    bool both = values[X].node && values[Y].node, any = values[X].node || values[Y].node;
    if (values[METRICS].node ? any : !both)
        NB_TRY(r->ctx,
               nb_mistakes_add(r->mistakes, nb_yaml_place(body),
                               "%s: expected either metrics: [A, B], or x and y: {metric: A, where: {...}}", what));
    if (values[METRICS].node) NB_TRY(r->ctx, read_metrics(r, values[METRICS]));
    if (values[X].node) NB_TRY(r->ctx, read_series(r, "claims: x", values[X], &r->claim->series[0]));
    if (values[Y].node) NB_TRY(r->ctx, read_series(r, "claims: y", values[Y], &r->claim->series[1]));
    return read_where(r, values[WHERE], &r->claim->where);
}

static nb_status read_body(const reader *r, nb_yaml body)
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
    case NB_CLAIM_UNTESTED: return read_sentence(r, "untested", body, &c->untested);
    default: return NB_OK;
    }
}

/* A number from lo to hi, or, where it may be, null for none. */
static nb_status read_number(const reader *r, const char *what, nb_yaml value, bool open, double lo, double hi,
                             double *number)
{
    const char *text = nb_yaml_scalar(value);
    *number = NAN;
    if ((open && nb_yaml_is_null(value)) || (text && nb_parse_real(text, lo, hi, number))) return NB_OK;
    char from[NB_REAL_TEXT], to[NB_REAL_TEXT];
    nb_real_text(lo, from);
    nb_real_text(hi, to);
    bool bounded = hi < 1e300;
    return nb_mistakes_add(r->mistakes, nb_yaml_place(value), "%s: expected a number%s%s%s%s%s, found '%s'", what,
                           lo > -1e300 ? bounded ? " from " : " of at least " : "", lo > -1e300 ? from : "",
                           bounded ? " to " : "", bounded ? to : "", open ? ", or null" : "",
                           text ? text : nb_yaml_kind(value));
}

/* [lo, hi], of which one may be null. */
static nb_status read_range(const reader *r, const char *what, nb_yaml value, double lo, double hi)
{
    nb_claim *c = r->claim;
    int before = r->mistakes->count;
    if (value.node->type != YAML_SEQUENCE_NODE || nb_yaml_count(value) != 2)
        return nb_mistakes_add(r->mistakes, nb_yaml_place(value),
                               "%s: expected [LOW, HIGH], of which one may be null, found %s", what,
                               nb_yaml_scalar(value) ? nb_yaml_scalar(value) : "another list");
    for (int i = 0; i < 2; i++)
        NB_TRY(r->ctx, read_number(r, what, nb_yaml_item(value, i), true, lo, hi, &c->given[i]));
    if (r->mistakes->count > before) return NB_OK;
    c->low = isnan(c->given[0]) ? -INFINITY : c->given[0];
    c->high = isnan(c->given[1]) ? INFINITY : c->given[1];
    if (isinf(c->low) && isinf(c->high))
        return nb_mistakes_add(r->mistakes, nb_yaml_place(value), "%s: expects nothing: both ends are open", what);
    if (c->low < c->high) return NB_OK;
    return nb_mistakes_add(r->mistakes, nb_yaml_place(value), "%s: the range is empty: %s is not below %s", what,
                           nb_yaml_scalar(nb_yaml_item(value, 0)), nb_yaml_scalar(nb_yaml_item(value, 1)));
}

/* value: a range, or a number with a margin. */
static nb_status read_expected_value(const reader *r, const char *what, nb_yaml value, nb_yaml within)
{
    nb_claim *c = r->claim;
    if (!within.node && !nb_yaml_scalar(value)) return read_range(r, what, value, -INFINITY, INFINITY);
    if (!within.node)
        return nb_mistakes_add(r->mistakes, nb_yaml_place(value),
                               "%s: expected [LOW, HIGH], or a number and a margin, as {value: 0.22, within: 0.05}",
                               what);
    NB_TRY(r->ctx, read_number(r, what, value, false, -INFINITY, INFINITY, &c->given[0]));
    NB_TRY(r->ctx, read_number(r, "claims: expect: within", within, false, 0, INFINITY, &c->within));
    if (!(c->within > 0))
        return isnan(c->within) ? NB_OK
                                : nb_mistakes_add(r->mistakes, nb_yaml_place(within),
                                                  "claims: expect: within: expected a number above 0, found '%s'",
                                                  nb_yaml_scalar(within));
    c->low = c->given[0] - c->within;
    c->high = c->given[0] + c->within;
    return NB_OK;
}

/* equal: a ratio above 1; equal_difference: a number above 0. */
static nb_status read_equal(const reader *r, const char *what, nb_yaml value, bool ratio)
{
    nb_claim *c = r->claim;
    NB_TRY(r->ctx, read_number(r, what, value, false, ratio, INFINITY, &c->given[0]));
    if (isnan(c->given[0])) return NB_OK;
    if (!(c->given[0] > ratio))
        return nb_mistakes_add(r->mistakes, nb_yaml_place(value), "%s: expected a number above %d, found '%s'", what,
                               ratio, nb_yaml_scalar(value));
    c->low = ratio ? 1 / c->given[0] : -c->given[0];
    c->high = c->given[0];
    return NB_OK;
}

/* Those that a form may have, all of which are next to each other; NB_EXPECT_NOTHING: none. */
static bool may_expect(nb_claim_form form, int expectation)
{
    switch (form) {
    case NB_CLAIM_COMPARE: return expectation <= NB_EXPECT_EQUAL_DIFFERENCE;
    case NB_CLAIM_MEASURE: return expectation == NB_EXPECT_VALUE;
    case NB_CLAIM_SLOPE: return expectation == NB_EXPECT_SLOPE;
    case NB_CLAIM_CORRELATE: return expectation == NB_EXPECT_CORRELATION;
    default: return false;
    }
}

static nb_status list_expectations(const reader *r, const char **list)
{
    *list = "";
    for (int e = 0; e < NB_EXPECT_NOTHING; e++)
        if (may_expect(r->claim->form, e))
            NB_NEED(*list, nb_format(r->ctx, "%s%s%s", *list, **list ? ", " : "", nb_claim_expectations[e]));
    return NB_OK;
}

static nb_status read_expected(const reader *r, nb_yaml value, nb_yaml within)
{
    const char *what;
    NB_NEED(what, nb_format(r->ctx, "claims: expect: %s", nb_claim_expectations[r->claim->expectation]));
    switch (r->claim->expectation) {
    case NB_EXPECT_RATIO: return read_range(r, what, value, 0, INFINITY);
    case NB_EXPECT_WINS: return read_range(r, what, value, 0, 1);
    case NB_EXPECT_EQUAL: return read_equal(r, what, value, true);
    case NB_EXPECT_EQUAL_DIFFERENCE: return read_equal(r, what, value, false);
    case NB_EXPECT_VALUE: return read_expected_value(r, what, value, within);
    case NB_EXPECT_CORRELATION: return read_range(r, what, value, -1, 1);
    default: return read_range(r, what, value, -INFINITY, INFINITY);
    }
}

/* One expectation, of those that the claim's form has. */
static nb_status read_expect(const reader *r, nb_yaml value)
{
    const char *names[NB_EXPECT_NOTHING + 2] = {NULL}, *list;
    nb_yaml *values;
    nb_claim *c = r->claim;
    memcpy(names, nb_claim_expectations, NB_EXPECT_NOTHING * sizeof *names);
    names[NB_EXPECT_NOTHING] = "within";
    NB_TRY(r->ctx, collect(r, "claims: expect", value, names, &values));
    NB_TRY(r->ctx, list_expectations(r, &list));
    int found = 0, wrong = -1;
    for (int e = 0; e < NB_EXPECT_NOTHING; e++) {
        if (!values[e].node) continue;
        if (may_expect(c->form, e) && found++ == 0) c->expectation = e;
        if (!may_expect(c->form, e)) wrong = e;
    }
    if (wrong >= 0)
        return nb_mistakes_add(r->mistakes, nb_yaml_place(values[wrong]),
                               "claims: expect: '%s' is not for %s, which has %s", names[wrong],
                               nb_claim_forms[c->form], list);
    if (values[NB_EXPECT_NOTHING].node && c->expectation != NB_EXPECT_VALUE)
        return nb_mistakes_add(r->mistakes, nb_yaml_place(values[NB_EXPECT_NOTHING]),
                               "claims: expect: 'within' is the margin of a value: {value: 0.22, within: 0.05}");
    if (found != 1)
        return nb_mistakes_add(r->mistakes, nb_yaml_place(value), "claims: expect: expected one of %s, found %s", list,
                               found ? "several" : "none");
    return read_expected(r, values[c->expectation], values[NB_EXPECT_NOTHING]);
}

/* Whether the claim is about a column's values, or correlates what is measured under some of them with what is under
 * others. */
static bool is_about(const nb_claim *c, const char *column)
{
    if (c->column && strcmp(c->column, column) == 0) return true;
    for (int s = 0; s < c->series_count; s++)
        for (int i = 0; i < c->series[s].where.count; i++)
            if (strcmp(c->series[s].where.items[i].column, column) == 0) return true;
    return false;
}

/* Columns out of `allowed`, each once, and not those that the claim is about. */
static nb_status read_names(const reader *r, const char *what, nb_yaml value, const char *const *allowed,
                            const char ***names)
{
    int count, before = r->mistakes->count;
    if (nb_yaml_count(value) == 0) return NB_OK;
    NB_TRY(r->ctx, nb_read_words(what, value, allowed, NULL, &count, names, r->mistakes));
    if (r->mistakes->count > before) return NB_OK;
    for (int i = 0; i < count; i++) {
        if (is_about(r->claim, (*names)[i]))
            NB_TRY(r->ctx, nb_mistakes_add(r->mistakes, nb_yaml_place(nb_yaml_item(value, i)),
                                           "%s: the claim itself is about values of '%s'", what, (*names)[i]));
        for (int j = 0; j < i; j++)
            if (strcmp((*names)[i], (*names)[j]) == 0)
                NB_TRY(r->ctx, nb_mistakes_add(r->mistakes, nb_yaml_place(nb_yaml_item(value, i)),
                                               "%s: '%s' appears a second time", what, (*names)[i]));
    }
    return NB_OK;
}

/* What two methods may differ in beside what is compared. */
static nb_status read_confounded(const reader *r, nb_yaml value)
{
    const char **allowed;
    int count = 0;
    NB_NEED(allowed, nb_alloc(r->ctx, NB_MOST_AXES + (size_t)nb_column_count(r->study->columns), sizeof *allowed));
    for (int i = 0; r->columns[i]; i++) {
        const nb_column *c = nb_column_find(r->study->columns, r->columns[i]);
        const nb_axis *axis = axis_of(r->study, c->name);
        if (c->identity && (!axis || compares(axis)) &&
            index_of(c->name, (const char *const[]){"head", "trial", NULL}) < 0)
            allowed[count++] = c->name;
    }
    if (r->claim->form != NB_CLAIM_CORRELATE) allowed[count++] = "rows_seen";
    return read_names(r, "claims: confounded", value, allowed, &r->claim->confounded);
}

static nb_status read_confidence(const reader *r, nb_yaml value)
{
    const char *text = nb_yaml_scalar(value);
    if (text && nb_parse_real(text, 0.5, 1, &r->claim->confidence) && r->claim->confidence < 1) return NB_OK;
    return nb_mistakes_add(r->mistakes, nb_yaml_place(value),
                           "claims: confidence: expected a number of at least 0.5, below 1, found '%s'",
                           text ? text : nb_yaml_kind(value));
}

static nb_status read_smallest(const reader *r, nb_yaml value)
{
    const char *text = nb_yaml_scalar(value);
    if (text && nb_parse_real(text, 1, 1e6, &r->claim->smallest)) return NB_OK;
    return nb_mistakes_add(r->mistakes, nb_yaml_place(value),
                           "claims: smallest: expected a ratio of at least 1, as 1.02, found '%s'",
                           text ? text : nb_yaml_kind(value));
}

static nb_status read_option(const reader *r, int key, nb_yaml value)
{
    nb_claim *c = r->claim;
    if (!nb_claim_takes(c, claim_keys[key])) {
        const char *of =
            key == SMALLEST && c->expectation < NB_EXPECT_NOTHING ? nb_claim_expectations[c->expectation] : NULL;
        return nb_mistakes_add(r->mistakes, nb_yaml_place(value), "claims: %s: means nothing for %s%s%s",
                               claim_keys[key], nb_claim_forms[c->form], of ? " with expect: " : "", of ? of : "");
    }
    switch (key) {
    case EACH: return read_names(r, "claims: each", value, r->columns, &c->each);
    case CONFOUNDED: return read_confounded(r, value);
    case FAILURES: return nb_read_word("claims: failures", value, nb_claim_failure_words, &c->failures, r->mistakes);
    case CONFIDENCE: return read_confidence(r, value);
    default: return read_smallest(r, value);
    }
}

/* The one form that a claim has. */
static nb_status read_form(const reader *r, nb_yaml claim, const nb_yaml *values, bool *known)
{
    int found = 0;
    for (int f = 0; f < NB_CLAIM_FORMS; f++)
        if (values[FORMS + f].node && found++ == 0) r->claim->form = (nb_claim_form)f;
    *known = found == 1;
    if (found == 1) return read_body(r, values[FORMS + r->claim->form]);
    return nb_mistakes_add(r->mistakes, nb_yaml_place(claim),
                           "claims: expected one of compare, measure, order, slope, correlate and untested, found %s",
                           found ? "several" : "none");
}

static nb_status read_expectation(const reader *r, nb_yaml claim, nb_yaml expect)
{
    bool none = r->claim->form == NB_CLAIM_ORDER || r->claim->form == NB_CLAIM_UNTESTED;
    r->claim->expectation = NB_EXPECT_NOTHING;
    if (expect.node && none)
        return nb_mistakes_add(r->mistakes, nb_yaml_place(expect), "claims: expect: %s expects nothing else",
                               nb_claim_forms[r->claim->form]);
    if (r->claim->form == NB_CLAIM_ORDER) r->claim->high = 1;
    if (none) return NB_OK;
    return expect.node ? read_expect(r, expect)
                       : nb_mistakes_add(r->mistakes, nb_yaml_place(claim), "claims: key 'expect' is missing");
}

static nb_status read_claim(const reader *r, nb_yaml value)
{
    nb_yaml *values;
    bool known, expected;
    NB_TRY(r->ctx, collect(r, "claims", value, claim_keys, &values));
    if (value.node->type != YAML_MAPPING_NODE) return NB_OK;
    if (values[SAYS].node)
        NB_TRY(r->ctx, read_sentence(r, "says", values[SAYS], &r->claim->says));
    else
        NB_TRY(r->ctx, missing(r, "claims", value, "says"));
    if (values[SOURCE].node) NB_TRY(r->ctx, read_sentence(r, "source", values[SOURCE], &r->claim->source));
    if (values[ID].node) NB_TRY(r->ctx, read_id(r, values[ID]));
    NB_TRY(r->ctx, read_form(r, value, values, &known));
    if (!known) return NB_OK;
    int before = r->mistakes->count;
    NB_TRY(r->ctx, read_expectation(r, value, values[EXPECT]));
    expected = r->mistakes->count == before; /* else it is not known whether it has a smallest ratio */
    for (int key = EACH; key < KEYS; key++)
        if (values[key].node && (expected || key != SMALLEST)) NB_TRY(r->ctx, read_option(r, key, values[key]));
    return NB_OK;
}

static nb_status check_ids(const reader *r, int count, const nb_claim *claims)
{
    for (int i = 0; i < count; i++)
        for (int j = 0; j < i; j++)
            if (strcmp(claims[i].id, claims[j].id) == 0)
                NB_TRY(r->ctx, nb_mistakes_add(r->mistakes, claims[i].place, "claims: id: two claims are called '%s'",
                                               claims[i].id));
    return NB_OK;
}

static nb_status name_columns(reader *r)
{
    int count = 0;
    NB_NEED(r->columns, nb_alloc(r->ctx, (size_t)nb_column_count(r->study->columns) + 1, sizeof *r->columns));
    for (const nb_column *c = r->study->columns; c->name; c++)
        if (selects(c)) r->columns[count++] = c->name;
    return NB_OK;
}

static nb_status begin(reader *r, int index, nb_yaml item)
{
    static const char *none[] = {NULL};
    *r->claim = (nb_claim){.says = "",
                           .source = "",
                           .place = nb_yaml_place(item),
                           .given = {NAN, NAN},
                           .within = NAN,
                           .low = -INFINITY,
                           .high = INFINITY,
                           .each = none,
                           .confounded = none,
                           .confidence = 0.95,
                           .smallest = 1.02};
    NB_NEED(r->claim->id, nb_format(r->ctx, "claim-%d", index + 1));
    return NB_OK;
}

nb_status nb_claims_read(nb_yaml value, const nb_study *study, bool look_up, int *count, nb_claim **claims,
                         nb_mistakes *mistakes)
{
    reader r = {.study = study, .look_up = look_up, .mistakes = mistakes, .ctx = mistakes->ctx};
    *count = nb_yaml_count(value);
    NB_TRY(r.ctx, name_columns(&r));
    NB_NEED(*claims, nb_alloc(r.ctx, (size_t)*count + 1, sizeof **claims));
    for (int i = 0; i < *count; i++) {
        int before = mistakes->count;
        nb_yaml item = nb_yaml_item(value, i);
        r.claim = &(*claims)[i];
        NB_TRY(r.ctx, begin(&r, i, item));
        NB_TRY(r.ctx, read_claim(&r, item));
        if (mistakes->count == before) NB_TRY(r.ctx, nb_claim_describe(r.claim, r.ctx));
    }
    return check_ids(&r, *count, *claims);
}
