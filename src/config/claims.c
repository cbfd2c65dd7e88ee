/* SPDX-License-Identifier: GPL-3.0-or-later */
/* claims.c - a claim is a mapping, and so are its parts, each with a table of keys: first its pairs are sorted by key,
 * so that what is unknown, twice there or empty is told at once, and then each is read in the order of the table, in
 * which a key stands behind those that decide what it may be. */
#include "config/keys.h"

#include "base/builder.h"
#include "base/files.h"
#include "base/numbers.h"
#include "base/text.h"
#include "config/lookup.h"
#include "statistics/verdict.h"

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

typedef struct key key;

typedef struct {
    nb_condition_reader *common; /* of conditions */
    nb_claim *claim;
    const struct spelling *spelling;
    const char **columns;    /* columns by which rows can be grouped; ends with NULL */
    nb_yaml mapping;         /* that is read */
    const char *what;        /* its name, for mistakes */
    nb_claim_series *series; /* what `metric` and `where` belong to */
    nb_conditions *where;
    int given; /* of what a measure takes: bits */
    nb_mistakes *mistakes;
    nb_ctx *ctx;
} reader;

/* The keys that a form may be written under. `slope` and `correlate` are short for `measure` with a query. */
struct spelling {
    const char *key;
    nb_claim_form form;
    bool order;
    const char *query; /* that it has unless it names another */
    const char *value; /* what `expect` calls its value */
};
static const struct spelling spellings[] = {
    {"compare", NB_CLAIM_COMPARE, false, NULL, "value"},
    {"order", NB_CLAIM_COMPARE, true, NULL, "value"},
    {"measure", NB_CLAIM_MEASURE, false, "value.sql", "value"},
    {"slope", NB_CLAIM_MEASURE, false, "slope.sql", "slope"},
    {"correlate", NB_CLAIM_MEASURE, false, "correlation.sql", "correlation"},
    {"untested", NB_CLAIM_UNTESTED, false, NULL, "value"},
};
enum { SPELLINGS = sizeof spellings / sizeof *spellings };

struct key {
    const char *name;
    nb_status (*read)(reader *r, const key *k, nb_yaml value);
    bool needed;
    const key *inside;        /* of a mapping */
    size_t offset;            /* of the claim's member, where `read` only sets that */
    const char *const *words; /* what the value may be; NULL-terminated */
    double lo, hi;
    const char *expected;
};

static nb_status read_key(reader *r, const key *k, nb_yaml mapping, nb_yaml value)
{
    if (value.node) return k->read(r, k, value);
    return k->needed ? nb_yaml_mistake(mapping, r->mistakes, "%s: key '%s' is missing", r->what, k->name) : NB_OK;
}

/* Sorts the pairs of a mapping by the keys of a table that ends with a key without a name. */
static nb_status sort_pairs(reader *r, nb_yaml mapping, const key *keys, nb_yaml **values)
{
    const char **names;
    int count = 0;
    while (keys[count].name) count++;
    NB_NEED(names, nb_alloc(r->ctx, (size_t)count + 1, sizeof *names));
    for (int i = 0; i < count; i++) names[i] = keys[i].name;
    return nb_read_mapping(r->what, mapping, names, values, r->mistakes);
}

static nb_status read_keys(reader *r, nb_yaml mapping, const key *keys)
{
    nb_yaml *values;
    r->mapping = mapping;
    NB_TRY(r->ctx, sort_pairs(r, mapping, keys, &values));
    for (int i = 0; keys[i].name && mapping.node->type == YAML_MAPPING_NODE; i++)
        NB_TRY(r->ctx, read_key(r, &keys[i], mapping, values[i]));
    return NB_OK;
}

/* Some words, on one line. */
static nb_status read_sentence(reader *r, const key *k, nb_yaml value)
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
    *(const char **)((char *)r->claim + k->offset) = copy;
    if (length > 0) return NB_OK;
    return nb_yaml_mistake(value, r->mistakes, "claims: %s: expected some words, found %s", k->name,
                           text ? "none" : nb_yaml_kind(value));
}

static nb_status read_name(reader *r, const key *k, nb_yaml value)
{
    const char *what;
    NB_NEED(what, nb_format(r->ctx, "claims: %s", k->name));
    return nb_read_name(what, value, "", (const char **)(void *)((char *)r->claim + k->offset), r->mistakes);
}

static nb_status read_word(reader *r, const key *k, nb_yaml value)
{
    const char *what;
    NB_NEED(what, nb_format(r->ctx, "claims: %s", k->name));
    return nb_read_word(what, value, k->words, (int *)(void *)((char *)r->claim + k->offset), r->mistakes);
}

static nb_status read_real(reader *r, const key *k, nb_yaml value)
{
    const char *text = nb_yaml_scalar(value);
    if (text && nb_parse_real(text, k->lo, k->hi, (double *)(void *)((char *)r->claim + k->offset))) return NB_OK;
    return nb_yaml_mistake(value, r->mistakes, "claims: %s: expected %s, found '%s'", k->name, k->expected,
                           nb_yaml_found(value));
}

/* True if the claim is about a column's values, or correlates what is measured under some of them with what is under
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
static nb_status read_names(reader *r, const key *k, nb_yaml value, const char *const *allowed)
{
    int count, before = r->mistakes->count;
    const char *what, **names;
    if (nb_yaml_count(value) == 0) return NB_OK;
    NB_NEED(what, nb_format(r->ctx, "claims: %s", k->name));
    NB_TRY(r->ctx, nb_read_words(what, value, allowed, NULL, &count, &names, r->mistakes));
    *(const char ***)(void *)((char *)r->claim + k->offset) = names;
    if (r->mistakes->count > before) return NB_OK;
    for (int i = 0; i < count; i++) {
        nb_yaml name = nb_yaml_item(value, i);
        if (is_about(r->claim, names[i]))
            NB_TRY(r->ctx,
                   nb_yaml_mistake(name, r->mistakes, "%s: the claim itself is about values of '%s'", what, names[i]));
        for (int j = 0; j < i; j++)
            if (strcmp(names[i], names[j]) == 0)
                NB_TRY(r->ctx, nb_yaml_mistake(name, r->mistakes, "%s: '%s' appears a second time", what, names[i]));
    }
    return NB_OK;
}

static nb_status read_each(reader *r, const key *k, nb_yaml value)
{
    return read_names(r, k, value, r->columns);
}

/* True if values of the axis can be compared: it is part of a method, not of the data. */
static bool compares(const nb_axis *axis)
{
    return strcmp(axis->column, "problem") != 0;
}

/* Columns in which compared rows may differ. */
static nb_status read_confounded(reader *r, const key *k, nb_yaml value)
{
    static const char *const of_data[] = {"head", "trial", NULL};
    const char **allowed;
    int count = 0;
    NB_NEED(allowed, nb_alloc(r->ctx, (size_t)nb_column_count(r->common->study->columns) + 3, sizeof *allowed));
    for (int i = 0; r->columns[i]; i++) {
        const nb_axis *axis = nb_axis_of_column(r->common->study, r->columns[i]);
        if (nb_column_find(r->common->study->columns, r->columns[i])->identity && (!axis || compares(axis)) &&
            !nb_text_among(r->columns[i], of_data))
            allowed[count++] = r->columns[i];
    }
    if (r->claim->form == NB_CLAIM_COMPARE) allowed[count++] = "rows_seen";
    allowed[count++] = "build";
    return read_names(r, k, value, allowed);
}

static nb_status read_metric(reader *r, const key *k, nb_yaml value)
{
    const char **names;
    int count = 0, index, before = r->mistakes->count;
    (void)k;
    NB_NEED(names, nb_alloc(r->ctx, (size_t)nb_column_count(r->common->study->columns) + 1, sizeof *names));
    for (const nb_column *c = r->common->study->columns; c->name; c++)
        if (c->measure) names[count++] = c->name;
    NB_TRY(r->ctx, nb_read_word("claims: metric", value, names, &index, r->mistakes));
    if (r->mistakes->count == before)
        r->series->metric = (nb_named_value){.text = names[index], .place = nb_yaml_place(value)};
    return NB_OK;
}

static nb_status read_where(reader *r, const key *k, nb_yaml value)
{
    (void)k;
    return nb_conditions_read(r->common, "claims: where", value, r->where);
}

/* The one key of a body that is the name of a column, with its values. */
static nb_status read_compared(reader *r, const key *k, nb_yaml value)
{
    nb_claim *c = r->claim;
    nb_column_values compared;
    bool pair = !c->order;
    int before = r->mistakes->count, found = nb_yaml_count(value);
    if (c->column)
        return nb_yaml_mistake(r->mapping, r->mistakes, "%s: expected values of one column, found '%s' and '%s'",
                               r->what, c->column, k->name);
    c->column = k->name;
    NB_TRY(r->ctx, nb_column_values_read(r->common, r->what, k->name, value, &compared));
    c->value_count = compared.count;
    c->values = compared.values;
    if (r->mistakes->count > before || (found >= 2 && !(pair && found > 2))) return NB_OK;
    return nb_yaml_mistake(value, r->mistakes, "%s: %s: expected %s, found %d value%s", r->what, k->name,
                           pair ? "[A, B], A against B" : "at least [A, B]", found, found == 1 ? "" : "s");
}

static const nb_claim_query *find_query(const char *name)
{
    for (const nb_claim_query *q = nb_claim_queries; q->name; q++)
        if (strcmp(name, q->name) == 0) return q;
    return NULL;
}

/* The text of a file that is not shipped. A run's folder has the text itself, and names none: it may be anybody's. */
static nb_status read_query_file(reader *r, nb_yaml value, const char *name)
{
    const char *path = name;
    nb_string list = NB_NO_TEXT;
    for (const nb_claim_query *q = nb_claim_queries; q->name; q++)
        NB_TRY(r->ctx, nb_append_item(&list, ", ", r->ctx, "%s", q->name));
    if (!r->common->config)
        return nb_yaml_mistake(value, r->mistakes, "claims: query: '%s' is unknown; allowed: %s, or a text of SQL",
                               name, list.text);
    nb_status status = NB_OK;
    if (r->common->look_up && value.in_file) status = nb_lookup_path(name, value.source, &path, r->ctx);
    if (status == NB_OK) status = nb_read_file(path, &r->claim->sql, r->ctx);
    if (status != NB_EIO) return status;
    NB_NEED(name, nb_format(r->ctx, "claims: query: %s; shipped are %s", nb_error_message(r->ctx), list.text));
    nb_error_clear(r->ctx);
    return nb_yaml_mistake(value, r->mistakes, "%s", name);
}

/* query: the name of a shipped query or of a file, or SQL itself. */
static nb_status read_query(reader *r, const key *k, nb_yaml value)
{
    const char *text = nb_yaml_scalar(value);
    (void)k;
    if (r->claim->query != nb_claim_queries)
        return nb_yaml_mistake(value, r->mistakes, "claims: query: %s is one by itself; write it as measure",
                               r->spelling->key);
    if (!text)
        return nb_yaml_mistake(value, r->mistakes, "claims: query: expected the name of a file or SQL, found %s",
                               nb_yaml_kind(value));
    r->claim->query = find_query(text);
    if (r->claim->query) return NB_OK;
    bool names_file = nb_text_ends(text, ".sql") && strlen(text) > 4 && !strpbrk(text, " \t\n");
    if (names_file) return read_query_file(r, value, text);
    NB_NEED(r->claim->sql, nb_strdup(r->ctx, text));
    return NB_OK;
}

enum { GIVEN_X = 1, GIVEN_Y = 2, GIVEN_METRICS = 4, GIVEN_METRIC = 8, METRICS = 15, GIVEN_OVER = 16 };

/* The column over whose values a query measures: an axis's, of integers where the query needs these. */
static nb_status read_over(reader *r, const key *k, nb_yaml value)
{
    const char *names[NB_MOST_AXES + 1] = {NULL}, *what;
    const nb_claim_query *query = r->claim->query;
    int index, count = 0, before = r->mistakes->count;
    r->given |= GIVEN_OVER;
    for (const nb_axis *axis = r->common->study->axes; axis->key; axis++)
        if (compares(axis) && (!query || query->over == NB_OVER_ANYTHING || axis->type == NB_AXIS_INTEGER))
            names[count++] = axis->column;
    if (r->claim->column)
        return nb_yaml_mistake(value, r->mistakes, "%s: %s: the column is '%s' already", r->what, k->name,
                               r->claim->column);
    if (query && query->over == NB_OVER_NOTHING)
        return nb_yaml_mistake(value, r->mistakes, "%s: %s: %s takes no column; name another query", r->what, k->name,
                               query->name);
    NB_NEED(what, nb_format(r->ctx, "%s: %s", r->what, k->name));
    NB_TRY(r->ctx, nb_read_word(what, value, names, &index, r->mistakes));
    if (r->mistakes->count == before) r->claim->column = names[index];
    return NB_OK;
}

static nb_status read_one_metric(reader *r, const key *k, nb_yaml value)
{
    r->given |= GIVEN_METRIC;
    return read_metric(r, k, value);
}

static nb_status read_metrics(reader *r, const key *k, nb_yaml value)
{
    r->given |= GIVEN_METRICS;
    if (nb_yaml_count(value) != 2)
        return nb_yaml_mistake(value, r->mistakes, "claims: metrics: expected two, as [error, mse]");
    for (int i = 0; i < 2; i++) {
        r->series = &r->claim->series[i];
        NB_TRY(r->ctx, read_metric(r, k, nb_yaml_item(value, i)));
    }
    return NB_OK;
}

static nb_status read_inside(reader *r, const key *k, nb_yaml value)
{
    return read_keys(r, value, k->inside);
}

/* x: {metric: ..., where: ...} */
static nb_status read_series(reader *r, const key *k, nb_yaml value)
{
    reader inner = *r;
    r->given |= *k->name == 'x' ? GIVEN_X : GIVEN_Y;
    inner.series = &r->claim->series[*k->name == 'y'];
    inner.where = &inner.series->where;
    inner.what = *k->name == 'x' ? "claims: x" : "claims: y";
    return read_inside(&inner, k, value);
}

static const key series_keys[] = {
    {.name = "metric", .read = read_metric, .needed = true}, {.name = "where", .read = read_where}, {NULL}};
static const key measure_keys[] = {
    {.name = "metric", .read = read_one_metric},
    {.name = "query", .read = read_query},
    {.name = "over", .read = read_over},
    {.name = "against", .read = read_over}, /* so `slope` calls it */
    {.name = "metrics", .read = read_metrics},
    {.name = "x", .read = read_series, .inside = series_keys},
    {.name = "y", .read = read_series, .inside = series_keys},
    {.name = "where", .read = read_where},
    {.name = "statistic", .read = read_word, .offset = offsetof(nb_claim, statistic), .words = nb_claim_statistics},
    {NULL}};

/* compare, order: {COLUMN: [A, B], metric: ..., where: ...} */
static nb_status read_pairs(reader *r, const key *k, nb_yaml body)
{
    key keys[NB_MOST_AXES + 3] = {{NULL}};
    int count = 0;
    (void)k;
    for (const nb_axis *axis = r->common->study->axes; axis->key; axis++)
        if (compares(axis)) keys[count++] = (key){.name = axis->column, .read = read_compared};
    keys[count++] = (key){.name = "metric", .read = read_metric, .needed = true};
    keys[count] = (key){.name = "where", .read = read_where};
    NB_TRY(r->ctx, read_keys(r, body, keys));
    if (r->claim->column || body.node->type != YAML_MAPPING_NODE) return NB_OK;
    return nb_yaml_mistake(body, r->mistakes, "%s: expected a column with its values, as %s: [A, B]", r->what,
                           keys[0].name);
}

/* A query has as many metrics as it takes; one that is no shipped one has none, one or two. */
static nb_status check_metrics(reader *r, nb_yaml body)
{
    nb_claim *c = r->claim;
    int given = r->given & METRICS;
    bool one = given == GIVEN_METRIC, pair = given == GIVEN_METRICS || given == (GIVEN_X | GIVEN_Y);
    int takes = c->query ? c->query->metrics : 0;
    c->series_count = pair ? 2 : one;
    if (takes == 1 && !given) return nb_yaml_mistake(body, r->mistakes, "%s: key 'metric' is missing", r->what);
    if (takes == 1 && !one)
        return nb_yaml_mistake(body, r->mistakes, "%s: expected metric: A alone: %s takes one", r->what,
                               c->query->name);
    if (pair || (takes == 0 && (one || !given)) || takes == 1) return NB_OK;
    return nb_yaml_mistake(body, r->mistakes,
                           "%s: expected either%s metrics: [A, B], or x and y: {metric: A, where: "
                           "{...}}",
                           r->what, takes ? "" : " metric: A, or");
}

static nb_status read_measure(reader *r, const key *k, nb_yaml body)
{
    nb_claim *c = r->claim;
    NB_TRY(r->ctx, read_inside(r, k, body));
    if (body.node->type != YAML_MAPPING_NODE) return NB_OK;
    NB_TRY(r->ctx, check_metrics(r, body));
    if (c->query && c->query->over != NB_OVER_NOTHING && !(r->given & GIVEN_OVER))
        NB_TRY(r->ctx,
               nb_yaml_mistake(body, r->mistakes, "%s: %s needs the key 'over', a column", r->what, c->query->name));
    if (c->statistic != NB_CLAIM_GEOMETRIC_MEAN || c->query == nb_claim_queries) return NB_OK;
    return nb_yaml_mistake(body, r->mistakes,
                           "%s: geometric_mean is of a metric alone; a query may have ln() of its values", r->what);
}

enum { FORMS = 3, EXPECT = FORMS + SPELLINGS, SMALLEST = EXPECT + 6, KEYS };
#define REAL_KEY(member) .name = #member, .read = read_real, .offset = offsetof(nb_claim, member)
static const key claim_keys[KEYS + 1] = {
    {.name = "says", .read = read_sentence, .needed = true, .offset = offsetof(nb_claim, says)},
    {.name = "source", .read = read_sentence, .offset = offsetof(nb_claim, source)},
    {.name = "id", .read = read_name, .offset = offsetof(nb_claim, id)},
    {.name = "compare", .read = read_pairs}, /* these in the order of `spellings` */
    {.name = "order", .read = read_pairs},
    {.name = "measure", .read = read_measure, .inside = measure_keys},
    {.name = "slope", .read = read_measure, .inside = measure_keys},
    {.name = "correlate", .read = read_measure, .inside = measure_keys},
    {.name = "untested", .read = read_sentence, .offset = offsetof(nb_claim, untested)},
    {.name = "expect"},
    {.name = "each", .read = read_each, .offset = offsetof(nb_claim, each)},
    {.name = "confounded", .read = read_confounded, .offset = offsetof(nb_claim, confounded)},
    {.name = "failures", .read = read_word, .offset = offsetof(nb_claim, failures), .words = nb_claim_failure_words},
    {REAL_KEY(confidence), .lo = 0.5, .hi = 1 - DBL_EPSILON / 2, .expected = "a number of at least 0.5, below 1"},
    {.name = "family", .read = read_name, .offset = offsetof(nb_claim, family)},
    {REAL_KEY(smallest), .lo = 1, .hi = 1e6, .expected = "a ratio of at least 1, as 1.02"}};

/* The one form that a claim has. */
static nb_status read_form(reader *r, nb_yaml claim, const nb_yaml *values, bool *known)
{
    int found = 0, form = 0;
    nb_claim *c = r->claim;
    for (int f = 0; f < SPELLINGS; f++)
        if (values[FORMS + f].node && found++ == 0) form = f;
    *known = found == 1;
    if (found != 1)
        return nb_yaml_mistake(claim, r->mistakes,
                               "claims: expected one of compare, order, measure and untested, found %s",
                               found ? "several" : "none");
    r->spelling = &spellings[form];
    c->form = r->spelling->form;
    c->order = r->spelling->order;
    c->series_count = c->form == NB_CLAIM_COMPARE;
    if (r->spelling->query) c->query = find_query(r->spelling->query);
    NB_NEED(r->what, nb_format(r->ctx, "claims: %s", r->spelling->key));
    r->series = c->series;
    r->where = &c->where;
    r->given = 0;
    return read_key(r, &claim_keys[FORMS + form], claim, values[FORMS + form]);
}

static nb_status read_expectation(reader *r, nb_yaml claim, nb_yaml expect)
{
    nb_claim *c = r->claim;
    bool none = c->order || c->form == NB_CLAIM_UNTESTED;
    c->expectation = c->order ? NB_EXPECT_RATIO : NB_EXPECT_NOTHING;
    if (c->order) c->high = 1;
    if (expect.node && none)
        return nb_yaml_mistake(expect, r->mistakes, "claims: expect: %s expects nothing else", r->spelling->key);
    if (none) return NB_OK;
    return expect.node ? nb_expectation_read(expect, r->spelling->key, r->spelling->value, c, r->mistakes)
                       : nb_yaml_mistake(claim, r->mistakes, "claims: key 'expect' is missing");
}

static nb_status read_option(reader *r, const key *k, nb_yaml value)
{
    const nb_claim *c = r->claim;
    if (nb_claim_takes(c, k->name)) return k->read(r, k, value);
    bool of = k == &claim_keys[SMALLEST] && c->expectation < NB_EXPECT_NOTHING;
    return nb_yaml_mistake(value, r->mistakes, "claims: %s: means nothing for %s%s%s", k->name, r->spelling->key,
                           of ? " with expect: " : "", of ? nb_claim_expectations[c->expectation] : "");
}

static nb_status read_claim(reader *r, nb_yaml value)
{
    nb_yaml *values;
    bool known;
    r->what = "claims";
    NB_TRY(r->ctx, sort_pairs(r, value, claim_keys, &values));
    if (value.node->type != YAML_MAPPING_NODE) return NB_OK;
    for (int k = 0; k < FORMS; k++) NB_TRY(r->ctx, read_key(r, &claim_keys[k], value, values[k]));
    NB_TRY(r->ctx, read_form(r, value, values, &known));
    if (!known) return NB_OK;
    int before = r->mistakes->count;
    NB_TRY(r->ctx, read_expectation(r, value, values[EXPECT]));
    bool sure = r->mistakes->count == before; /* else it is not known whether it has a smallest ratio */
    for (int k = EXPECT + 1; k < KEYS; k++)
        if (values[k].node && (sure || k != SMALLEST)) NB_TRY(r->ctx, read_option(r, &claim_keys[k], values[k]));
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

/* The intervals of a family hold together at one confidence. */
static nb_status check_families(const reader *r, int count, const nb_claim *claims)
{
    for (int i = 0; i < count; i++)
        for (int j = 0; j < i; j++) {
            const nb_claim *a = &claims[j], *b = &claims[i];
            if (!a->family || !b->family || strcmp(a->family, b->family) != 0 || a->confidence == b->confidence)
                continue;
            NB_TRY(r->ctx, nb_mistakes_add(r->mistakes, b->place,
                                           "claims: family: '%s' has a confidence of %.15g here, of %.15g in claim "
                                           "'%s'; a family has one",
                                           b->family, b->confidence, a->confidence, a->id));
            break;
        }
    return NB_OK;
}

/* Names the columns by which rows can be grouped. */
static nb_status name_columns(reader *r)
{
    static const char *const others[] = {"experiment", "status", "reason", NULL};
    int count = 0;
    NB_NEED(r->columns, nb_alloc(r->ctx, (size_t)nb_column_count(r->common->study->columns) + 1, sizeof *r->columns));
    for (const nb_column *c = r->common->study->columns; c->name; c++)
        if ((c->type != NB_COLUMN_REAL || c->identity) && c->type != NB_COLUMN_SEED && !nb_text_among(c->name, others))
            r->columns[count++] = c->name;
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
                           .smallest = NB_USUAL_MARGIN};
    NB_NEED(r->claim->id, nb_format(r->ctx, "claim-%d", index + 1));
    return NB_OK;
}

nb_status nb_claims_read(nb_yaml value, const nb_study *study, const nb_config *config, int *count, nb_claim **claims,
                         nb_mistakes *mistakes)
{
    nb_condition_reader conditions = {
        .study = study, .config = config, .look_up = config != NULL, .mistakes = mistakes};
    reader r = {.common = &conditions, .mistakes = mistakes, .ctx = mistakes->ctx};
    *count = nb_yaml_count(value);
    NB_TRY(r.ctx, name_columns(&r));
    NB_NEED(*claims, nb_alloc(r.ctx, (size_t)*count + 1, sizeof **claims));
    for (int i = 0; i < *count; i++) {
        int before = mistakes->count;
        nb_yaml item = nb_yaml_item(value, i);
        r.claim = &(*claims)[i];
        NB_TRY(r.ctx, begin(&r, i, item));
        const char *of_place = r.claim->id;
        NB_TRY(r.ctx, read_claim(&r, item));
        r.claim->named = strcmp(r.claim->id, of_place) != 0;
        if (mistakes->count == before) NB_TRY(r.ctx, nb_claim_describe(r.claim, r.ctx));
    }
    NB_TRY(r.ctx, check_ids(&r, *count, *claims));
    return check_families(&r, *count, *claims);
}
