/* SPDX-License-Identifier: GPL-3.0-or-later */
/* verdict.c - see verdict.h */
#include "statistics/verdict.h"

#include <math.h>

const char *const nb_verdict_names[] = {
    [NB_NO_VERDICT] = "none", [NB_REFUSED] = "refused",       [NB_EXACT] = "exact",        [NB_BETTER] = "better",
    [NB_WORSE] = "worse",     [NB_EQUIVALENT] = "equivalent", [NB_UNDECIDED] = "undecided"};

bool nb_lacks_times(const nb_evidence *v)
{
    return !v->refusal && !v->unfinished && v->sources == 0 && v->exact == 0 && v->exact_baseline == 0 &&
           v->untimed > 0;
}

static nb_status tell_empty(const nb_evidence *v, const char **why, nb_ctx *ctx)
{
    *why = v->exact > 0              ? "its errors are rounding alone"
           : v->exact_baseline > 0   ? "the baseline is exact, its errors are rounding: compare with another"
           : nb_lacks_times(v)       ? "not timed"
           : v->untimed_baseline > 0 ? "the baseline was not timed: compare with another"
           : v->noise > 0            ? "nothing is above its rounding noise"
                                     : v->empty;
    if (*why == v->empty && v->skipped > 0) NB_NEED(*why, nb_format(ctx, "skipped: %s", v->empty));
    return NB_OK;
}

nb_status nb_find_reason(const nb_evidence *v, const char **why, nb_ctx *ctx)
{
    int all = v->found + v->missing;
    *why = NULL;
    if (v->refusal)
        *why = v->refusal;
    else if (v->unfinished)
        *why = v->unfinished;
    else if (v->sources == 0)
        NB_TRY(ctx, tell_empty(v, why, ctx));
    else if (v->infinite > 0 && v->ratios)
        NB_NEED(*why, nb_format(ctx, "%d ratio%s 0 or infinite", v->infinite, v->infinite == 1 ? " is" : "s are"));
    else if (v->infinite > 0)
        NB_NEED(*why, nb_format(ctx, "%d value%s not finite", v->infinite, v->infinite == 1 ? " is" : "s are"));
    else if (v->sources < NB_LEAST_SOURCES)
        NB_NEED(*why,
                nb_format(ctx, "%d source%s, fewer than %d", v->sources, v->sources == 1 ? "" : "s", NB_LEAST_SOURCES));
    else if (v->drawn_trials >= 0 && v->drawn_trials < NB_LEAST_TRIALS)
        NB_NEED(*why, nb_format(ctx, "%d trial%s of what is drawn, fewer than %d", v->drawn_trials,
                                v->drawn_trials == 1 ? "" : "s", NB_LEAST_TRIALS));
    else if (v->missing > NB_MOST_MISSING * all)
        NB_NEED(*why, nb_format(ctx, "%d of %d %s are missing, more than %.0f %%", v->missing, all, v->counted,
                                100 * NB_MOST_MISSING));
    else if (!v->has_interval)
        *why = v->no_interval;
    return NB_OK;
}

nb_finding nb_find(const nb_test *t)
{
    double low = t->interval.low, high = t->interval.high;
    bool highest = t->below ? high < t->expected.high : high <= t->expected.high;
    if (low >= t->expected.low && highest) return NB_FOUND_INSIDE;
    if (low > t->expected.high || high < t->expected.low) return NB_FOUND_OUTSIDE;
    return low >= t->same.low && high <= t->same.high ? NB_FOUND_SAME : NB_FOUND_NOTHING;
}

nb_verdict nb_direction(bool less, bool more)
{
    return less != more ? NB_BETTER : NB_WORSE;
}

nb_status nb_judge(nb_interval interval, double margin, const nb_evidence *v, bool more, nb_verdict *verdict,
                   const char **why, nb_ctx *ctx)
{
    const nb_test below = {.interval = interval, .expected = {-INFINITY, 0}, .same = {-margin, margin}, .below = true};
    NB_TRY(ctx, nb_find_reason(v, why, ctx));
    if (*why) {
        bool exact = !v->unfinished && v->sources == 0 && v->exact > 0;
        *verdict = v->refusal ? NB_REFUSED : exact ? NB_EXACT : NB_NO_VERDICT;
        return NB_OK;
    }
    switch (nb_find(&below)) {
    case NB_FOUND_INSIDE: *verdict = nb_direction(true, more); break;
    case NB_FOUND_OUTSIDE: *verdict = nb_direction(false, more); break;
    case NB_FOUND_SAME: *verdict = NB_EQUIVALENT; break;
    case NB_FOUND_NOTHING: *verdict = NB_UNDECIDED; break;
    }
    return NB_OK;
}
