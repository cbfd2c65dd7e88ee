/* SPDX-License-Identifier: GPL-3.0-or-later */
/* range.c -
 *
 *     range = term [ ".." term [ "step" integer ] ]
 *     term  = integer [ "^" integer ]
 *
 * Two powers of the same base make a range of powers, which has no step. */
#include "base/range.h"

#include "base/numbers.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    long long value, base; /* base 0: no power */
} term;

static const char form[] = "is neither an integer nor a range like 8..64, 8..64 step 8 or 2^3..2^6";
static const char large[] = "has a number that is too large";

bool nb_range_like(const char *text)
{
    const char *body = text + (*text == '-' || *text == '+');
    if (!isdigit((unsigned char)*body) || body[strspn(body, "0123456789.^+-")]) return false;
    if (strstr(body, "..")) return true;
    const char *power = strchr(body, '^');
    return power && isdigit((unsigned char)power[1]) && power[1 + strspn(power + 1, "0123456789")] == '\0';
}

static const char *skip(const char *at)
{
    while (isspace((unsigned char)*at)) at++;
    return at;
}

/* Returns what is wrong, or NULL, as do all functions that read. */
static const char *read_integer(const char **at, long long *value)
{
    const char *end = nb_integer_at(*at, LLONG_MIN, LLONG_MAX, value);
    if (!end) return isdigit((unsigned char)(*at)[**at == '-' || **at == '+']) ? large : form;
    *at = skip(end);
    return NULL;
}

static const char *read_term(const char **at, term *t)
{
    long long exponent;
    *t = (term){.base = 0};
    const char *wrong = read_integer(at, &t->value);
    if (wrong || **at != '^') return wrong;
    *at = skip(*at + 1);
    t->base = t->value;
    t->value = 1;
    wrong = read_integer(at, &exponent);
    if (!wrong && (t->base < 2 || exponent < 0)) wrong = form;
    for (; !wrong && exponent > 0; exponent--)
        if (__builtin_mul_overflow(t->value, t->base, &t->value)) wrong = large;
    return wrong;
}

/* The text between the terms: false if it is not what is expected. */
static bool read_word(const char **at, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(*at, word, length) != 0) return false;
    *at = skip(*at + length);
    return true;
}

static const char *span_wrong(const nb_range *r, const term *first, const term *last, bool stepped)
{
    long long span;
    if (first->base != last->base) return "has one end that is a power and one that is not, or powers of two numbers";
    if (first->base && stepped) return "has powers and a step; a range of powers has none";
    if (r->step < 1) return "has a step below 1";
    if (r->last < r->first) return "ends before it begins";
    return __builtin_sub_overflow(r->last, r->first, &span) ? "is too long" : NULL;
}

static const char *parse(const char *text, nb_range *r)
{
    term first, last;
    const char *at = skip(text), *wrong = read_term(&at, &first);
    if (wrong) return wrong;
    last = first;
    bool ranged = read_word(&at, "..");
    if (ranged) wrong = read_term(&at, &last);
    if (wrong) return wrong;
    *r = (nb_range){.first = first.value, .last = last.value, .step = 1, .base = ranged ? first.base : 0};
    bool stepped = ranged && read_word(&at, "step");
    if (stepped) wrong = read_integer(&at, &r->step);
    if (wrong) return wrong;
    return *at ? form : span_wrong(r, &first, &last, stepped);
}

const char *nb_range_hint(const char *text, nb_ctx *ctx)
{
    long long a, b, c;
    char between[2];
    int end = 0;
    if (sscanf(text, " %9lld %1[-:] %9lld %n", &a, between, &b, &end) == 3 && end > 0 && !text[end] && a < b &&
        (*between == ':' || a >= 0))
        return nb_format(ctx, "; did you mean '%lld..%lld'?", a, b);
    if (sscanf(text, " %9lld : %9lld : %9lld %n", &a, &b, &c, &end) != 3 || end == 0 || text[end]) return "";
    long long last = b > c ? b : c, step = b > c ? c : b;
    return a < last && step > 0 ? nb_format(ctx, "; did you mean '%lld..%lld step %lld'?", a, last, step) : "";
}

nb_status nb_range_parse(const char *text, nb_range *range, const char **wrong, nb_ctx *ctx)
{
    const char *why = parse(text, range);
    *wrong = NULL;
    if (why) NB_NEED(*wrong, nb_format(ctx, "'%s' %s", text, why));
    if (!why && range->base == 0) range->last -= (range->last - range->first) % range->step;
    return NB_OK;
}

long long nb_range_count(const nb_range *range)
{
    long long count = 1;
    if (range->base == 0) {
        long long steps = (range->last - range->first) / range->step;
        return steps + (steps < 9223372036854775807);
    }
    for (long long x = range->first; x != range->last; x *= range->base) count++;
    return count;
}

long long nb_range_item(const nb_range *range, long long index)
{
    long long x = range->first;
    if (range->base == 0) return x + index * range->step;
    for (; index > 0; index--) x *= range->base;
    return x;
}

bool nb_range_holds(const nb_range *range, long long number)
{
    if (number < range->first || number > range->last) return false;
    if (range->base == 0) return (number - range->first) % range->step == 0;
    long long x = range->first;
    while (x < number) x *= range->base;
    return x == number;
}
