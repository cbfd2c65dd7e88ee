/* SPDX-License-Identifier: GPL-3.0-or-later */
/* claims_expect.c - what a claim expects, as the interval [low, high] on the scale of its quantity. */
#include "config/claims_private.h"

#include "base/numbers.h"

#include <math.h>
#include <string.h>

/* A number from lo to hi, or, where it may be, null for none. */
static nb_status read_number(const nb_claim_reader *r, const char *what, nb_yaml value, bool open, double lo, double hi,
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
static nb_status read_range(const nb_claim_reader *r, const char *what, nb_yaml value, double lo, double hi)
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
static nb_status read_expected_value(const nb_claim_reader *r, const char *what, nb_yaml value, nb_yaml within)
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
static nb_status read_equal(const nb_claim_reader *r, const char *what, nb_yaml value, bool ratio)
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

static nb_status list_expectations(const nb_claim_reader *r, const char **list)
{
    *list = "";
    for (int e = 0; e < NB_EXPECT_NOTHING; e++)
        if (may_expect(r->claim->form, e))
            NB_NEED(*list, nb_format(r->ctx, "%s%s%s", *list, **list ? ", " : "", nb_claim_expectations[e]));
    return NB_OK;
}

static nb_status read_expected(const nb_claim_reader *r, nb_yaml value, nb_yaml within)
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
nb_status nb_claim_expect_read(const nb_claim_reader *r, nb_yaml value)
{
    const char *names[NB_EXPECT_NOTHING + 2] = {NULL}, *list;
    nb_yaml *values;
    nb_claim *c = r->claim;
    memcpy(names, nb_claim_expectations, NB_EXPECT_NOTHING * sizeof *names);
    names[NB_EXPECT_NOTHING] = "within";
    NB_TRY(r->ctx, nb_claim_collect(r, "claims: expect", value, names, &values));
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
