/* SPDX-License-Identifier: GPL-3.0-or-later */
/* claims_expect.c - what a claim expects: a range of a ratio, a difference or a value, or how far two may differ. */
#include "config/keys.h"

#include "base/builder.h"
#include "base/numbers.h"

#include <math.h>
#include <string.h>

typedef struct {
    nb_claim *claim;
    const char *what; /* what is read, for mistakes */
    nb_mistakes *mistakes;
    nb_ctx *ctx;
} expectation_reader;

/* Each expectation belongs to one form of claims, and its numbers lie in this range. */
static const struct {
    nb_claim_form form;
    double lo, hi;
} expected[] = {[NB_EXPECT_RATIO] = {NB_CLAIM_COMPARE, 0, INFINITY},
                [NB_EXPECT_DIFFERENCE] = {NB_CLAIM_COMPARE, -INFINITY, INFINITY},
                [NB_EXPECT_WINS] = {NB_CLAIM_COMPARE, 0, 1},
                [NB_EXPECT_EQUAL] = {NB_CLAIM_COMPARE, 1, INFINITY},
                [NB_EXPECT_EQUAL_DIFFERENCE] = {NB_CLAIM_COMPARE, 0, INFINITY},
                [NB_EXPECT_VALUE] = {NB_CLAIM_MEASURE, -INFINITY, INFINITY}};

/* A number from lo to hi, or, where it may be, null for none. */
static nb_status read_number(expectation_reader *r, const char *what, nb_yaml value, bool open, double lo, double hi,
                             double *number)
{
    const char *text = nb_yaml_scalar(value), *range = "";
    *number = NAN;
    if ((open && nb_yaml_is_null(value)) || (text && nb_parse_real(text, lo, hi, number))) return NB_OK;
    if (isfinite(hi))
        NB_NEED(range, nb_format(r->ctx, " from %g to %g", lo, hi));
    else if (isfinite(lo))
        NB_NEED(range, nb_format(r->ctx, " of at least %g", lo));
    return nb_yaml_mistake(value, r->mistakes, "%s: expected a number%s%s, found '%s'", what, range,
                           open ? ", or null" : "", nb_yaml_found(value));
}

/* [lo, hi], of which one may be null. */
static nb_status read_range(expectation_reader *r, nb_yaml value)
{
    nb_claim *c = r->claim;
    int before = r->mistakes->count;
    double lo = c->query ? c->query->lo : expected[c->expectation].lo;
    double hi = c->query ? c->query->hi : expected[c->expectation].hi;
    if (value.node->type != YAML_SEQUENCE_NODE || nb_yaml_count(value) != 2)
        return nb_yaml_mistake(value, r->mistakes, "%s: expected [LOW, HIGH], of which one may be null, found %s",
                               r->what, nb_yaml_scalar(value) ? nb_yaml_scalar(value) : "another list");
    for (int i = 0; i < 2; i++)
        NB_TRY(r->ctx, read_number(r, r->what, nb_yaml_item(value, i), true, lo, hi, &c->given[i]));
    if (r->mistakes->count > before) return NB_OK;
    c->low = isnan(c->given[0]) ? -INFINITY : c->given[0];
    c->high = isnan(c->given[1]) ? INFINITY : c->given[1];
    if (isinf(c->low) && isinf(c->high))
        return nb_yaml_mistake(value, r->mistakes, "%s: expects nothing: both ends are open", r->what);
    if (c->low < c->high) return NB_OK;
    return nb_yaml_mistake(value, r->mistakes, "%s: the range is empty: %s is not below %s", r->what,
                           nb_yaml_scalar(nb_yaml_item(value, 0)), nb_yaml_scalar(nb_yaml_item(value, 1)));
}

/* A number above `least`. */
static nb_status read_above(expectation_reader *r, const char *what, nb_yaml value, double least, double *number)
{
    NB_TRY(r->ctx, read_number(r, what, value, false, least, INFINITY, number));
    if (isnan(*number) || *number > least) return NB_OK;
    return nb_yaml_mistake(value, r->mistakes, "%s: expected a number above %g, found '%s'", what, least,
                           nb_yaml_scalar(value));
}

/* value: a range, or a number with a margin. */
static nb_status read_expected_value(expectation_reader *r, nb_yaml value, nb_yaml within)
{
    nb_claim *c = r->claim;
    if (!within.node && !nb_yaml_scalar(value)) return read_range(r, value);
    if (!within.node)
        return nb_yaml_mistake(value, r->mistakes,
                               "%s: expected [LOW, HIGH], or a number and a margin, as {value: 0.22, within: 0.05}",
                               r->what);
    NB_TRY(r->ctx, read_number(r, r->what, value, false, -INFINITY, INFINITY, &c->given[0]));
    NB_TRY(r->ctx, read_above(r, "claims: expect: within", within, 0, &c->within));
    c->low = c->given[0] - c->within;
    c->high = c->given[0] + c->within;
    return NB_OK;
}

/* equal: a ratio above 1; equal_difference: a number above 0. */
static nb_status read_equal(expectation_reader *r, nb_yaml value)
{
    nb_claim *c = r->claim;
    NB_TRY(r->ctx, read_above(r, r->what, value, expected[c->expectation].lo, &c->given[0]));
    c->low = c->expectation == NB_EXPECT_EQUAL ? 1 / c->given[0] : -c->given[0];
    c->high = c->given[0];
    return NB_OK;
}

nb_status nb_expectation_read(nb_yaml value, const char *form, const char *value_name, nb_claim *c,
                              nb_mistakes *mistakes)
{
    expectation_reader reader = {.claim = c, .mistakes = mistakes, .ctx = mistakes->ctx}, *r = &reader;
    const char *names[NB_EXPECT_NOTHING + 2] = {NULL};
    nb_string list = NB_NO_TEXT;
    nb_yaml *values;
    int found = 0, wrong = -1;
    memcpy(names, nb_claim_expectations, NB_EXPECT_NOTHING * sizeof *names);
    names[NB_EXPECT_VALUE] = value_name;
    names[NB_EXPECT_NOTHING] = "within";
    NB_TRY(r->ctx, nb_read_mapping("claims: expect", value, names, &values, r->mistakes));
    for (int e = 0; e < NB_EXPECT_NOTHING; e++) {
        bool allowed = expected[e].form == c->form;
        if (allowed) NB_TRY(r->ctx, nb_append_item(&list, ", ", r->ctx, "%s", names[e]));
        if (values[e].node && !allowed) wrong = e;
        if (values[e].node && allowed && found++ == 0) c->expectation = e;
    }
    nb_yaml within = values[NB_EXPECT_NOTHING];
    if (wrong >= 0)
        return nb_yaml_mistake(values[wrong], r->mistakes, "claims: expect: '%s' is not for %s, which has %s",
                               names[wrong], form, list.text);
    if (within.node && c->expectation != NB_EXPECT_VALUE)
        return nb_yaml_mistake(within, r->mistakes,
                               "claims: expect: 'within' is the margin of a value: {value: 0.22, within: 0.05}");
    if (found != 1)
        return nb_yaml_mistake(value, r->mistakes, "claims: expect: expected one of %s, found %s", list.text,
                               found ? "several" : "none");
    NB_NEED(r->what, nb_format(r->ctx, "claims: expect: %s", names[c->expectation]));
    if (c->expectation == NB_EXPECT_VALUE) return read_expected_value(r, values[c->expectation], within);
    bool equal = c->expectation == NB_EXPECT_EQUAL || c->expectation == NB_EXPECT_EQUAL_DIFFERENCE;
    return (equal ? read_equal : read_range)(r, values[c->expectation]);
}
