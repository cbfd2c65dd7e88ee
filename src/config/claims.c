/* SPDX-License-Identifier: GPL-3.0-or-later */
/* claims.c - a claim is a mapping, and so are its parts: each is sorted by key first, so that what is unknown, twice
 * there or empty is told at once, and then read in an order in which a part knows those that decide what it may be. */
#include "config/claims_private.h"

#include "base/numbers.h"
#include "config/values.h"

#include <ctype.h>
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

/* Returns the index of a name among names that end with NULL, or -1. */
static int index_of(const char *name, const char *const *names)
{
    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], name) == 0) return i;
    return -1;
}

static nb_status read_pair(const nb_claim_reader *r, const char *what, nb_yaml key, nb_yaml value,
                           const char *const *names, nb_yaml *values)
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
nb_status nb_claim_collect(const nb_claim_reader *r, const char *what, nb_yaml mapping, const char *const *names,
                           nb_yaml **values)
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

nb_status nb_claim_missing(const nb_claim_reader *r, const char *what, nb_yaml mapping, const char *key)
{
    return mapping.node->type == YAML_MAPPING_NODE
               ? nb_mistakes_add(r->mistakes, nb_yaml_place(mapping), "%s: key '%s' is missing", what, key)
               : NB_OK;
}

/* Some words, on one line. */
nb_status nb_claim_sentence(const nb_claim_reader *r, const char *what, nb_yaml value, const char **out)
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

static nb_status read_id(const nb_claim_reader *r, nb_yaml value)
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

/* True for columns by which rows can be selected and grouped. */
static bool selects(const nb_column *c)
{
    static const char *const others[] = {"experiment", "status", "reason", NULL};
    return (c->type != NB_COLUMN_REAL || c->identity) && c->type != NB_COLUMN_SEED && index_of(c->name, others) < 0;
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
static nb_status read_names(const nb_claim_reader *r, const char *what, nb_yaml value, const char *const *allowed,
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

/* Reads `confounded`: columns in which compared rows may differ. */
static nb_status read_confounded(const nb_claim_reader *r, nb_yaml value)
{
    const char **allowed;
    int count = 0;
    NB_NEED(allowed, nb_alloc(r->ctx, (size_t)nb_column_count(r->study->columns) + 3, sizeof *allowed));
    for (int i = 0; r->columns[i]; i++) {
        const nb_column *c = nb_column_find(r->study->columns, r->columns[i]);
        const nb_axis *axis = nb_claim_axis(r->study, c->name);
        if (c->identity && (!axis || nb_claim_compares(axis)) &&
            index_of(c->name, (const char *const[]){"head", "trial", NULL}) < 0)
            allowed[count++] = c->name;
    }
    if (r->claim->form != NB_CLAIM_CORRELATE) {
        allowed[count++] = "rows_seen";
        allowed[count++] = "build";
    }
    return read_names(r, "claims: confounded", value, allowed, &r->claim->confounded);
}

static nb_status read_confidence(const nb_claim_reader *r, nb_yaml value)
{
    const char *text = nb_yaml_scalar(value);
    if (text && nb_parse_real(text, 0.5, 1, &r->claim->confidence) && r->claim->confidence < 1) return NB_OK;
    return nb_mistakes_add(r->mistakes, nb_yaml_place(value),
                           "claims: confidence: expected a number of at least 0.5, below 1, found '%s'",
                           text ? text : nb_yaml_kind(value));
}

static nb_status read_smallest(const nb_claim_reader *r, nb_yaml value)
{
    const char *text = nb_yaml_scalar(value);
    if (text && nb_parse_real(text, 1, 1e6, &r->claim->smallest)) return NB_OK;
    return nb_mistakes_add(r->mistakes, nb_yaml_place(value),
                           "claims: smallest: expected a ratio of at least 1, as 1.02, found '%s'",
                           text ? text : nb_yaml_kind(value));
}

static nb_status read_option(const nb_claim_reader *r, int key, nb_yaml value)
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
static nb_status read_form(const nb_claim_reader *r, nb_yaml claim, const nb_yaml *values, bool *known)
{
    int found = 0;
    for (int f = 0; f < NB_CLAIM_FORMS; f++)
        if (values[FORMS + f].node && found++ == 0) r->claim->form = (nb_claim_form)f;
    *known = found == 1;
    if (found == 1) return nb_claim_body_read(r, values[FORMS + r->claim->form]);
    return nb_mistakes_add(r->mistakes, nb_yaml_place(claim),
                           "claims: expected one of compare, measure, order, slope, correlate and untested, found %s",
                           found ? "several" : "none");
}

static nb_status read_expectation(const nb_claim_reader *r, nb_yaml claim, nb_yaml expect)
{
    bool none = r->claim->form == NB_CLAIM_ORDER || r->claim->form == NB_CLAIM_UNTESTED;
    r->claim->expectation = NB_EXPECT_NOTHING;
    if (expect.node && none)
        return nb_mistakes_add(r->mistakes, nb_yaml_place(expect), "claims: expect: %s expects nothing else",
                               nb_claim_forms[r->claim->form]);
    if (r->claim->form == NB_CLAIM_ORDER) r->claim->high = 1;
    if (none) return NB_OK;
    return expect.node ? nb_claim_expect_read(r, expect)
                       : nb_mistakes_add(r->mistakes, nb_yaml_place(claim), "claims: key 'expect' is missing");
}

static nb_status read_claim(const nb_claim_reader *r, nb_yaml value)
{
    nb_yaml *values;
    bool known, expected;
    NB_TRY(r->ctx, nb_claim_collect(r, "claims", value, claim_keys, &values));
    if (value.node->type != YAML_MAPPING_NODE) return NB_OK;
    if (values[SAYS].node)
        NB_TRY(r->ctx, nb_claim_sentence(r, "says", values[SAYS], &r->claim->says));
    else
        NB_TRY(r->ctx, nb_claim_missing(r, "claims", value, "says"));
    if (values[SOURCE].node) NB_TRY(r->ctx, nb_claim_sentence(r, "source", values[SOURCE], &r->claim->source));
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

static nb_status check_ids(const nb_claim_reader *r, int count, const nb_claim *claims)
{
    for (int i = 0; i < count; i++)
        for (int j = 0; j < i; j++)
            if (strcmp(claims[i].id, claims[j].id) == 0)
                NB_TRY(r->ctx, nb_mistakes_add(r->mistakes, claims[i].place, "claims: id: two claims are called '%s'",
                                               claims[i].id));
    return NB_OK;
}

static nb_status name_columns(nb_claim_reader *r)
{
    int count = 0;
    NB_NEED(r->columns, nb_alloc(r->ctx, (size_t)nb_column_count(r->study->columns) + 1, sizeof *r->columns));
    for (const nb_column *c = r->study->columns; c->name; c++)
        if (selects(c)) r->columns[count++] = c->name;
    return NB_OK;
}

static nb_status begin(nb_claim_reader *r, int index, nb_yaml item)
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
    nb_claim_reader r = {.study = study, .look_up = look_up, .mistakes = mistakes, .ctx = mistakes->ctx};
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
