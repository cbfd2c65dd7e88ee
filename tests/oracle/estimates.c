/* SPDX-License-Identifier: GPL-3.0-or-later */
/* estimates.c - src/statistics as a filter, for estimates.py. A request is a word and its numbers, apart by white
 * space; its answer is a line of numbers, or of NAME=NUMBER.
 *
 *     estimate CONFIDENCE RESAMPLES SEED FAMILY MARGIN STRATA n {STRATUM SOURCE VALUE VARIANCE}
 *         a line for each stratum; joint_low, joint_high and verdict (nb_verdict): as one of a FAMILY
 *     wilcoxon PRATT n X    holm n P    spearman n X Y    friedman N K TABLE    range K RANGE */
#include "holm.h"

#include "statistics/agreement.h"
#include "statistics/estimate.h"
#include "statistics/friedman.h"
#include "statistics/multiple.h"
#include "statistics/ranks.h"
#include "statistics/verdict.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUST(call) \
    do { \
        if ((call) != NB_OK) { \
            fprintf(stderr, "%s: %s\n", #call, nb_error_message(ctx)); \
            exit(EXIT_FAILURE); \
        } \
    } while (0)

static double number(void)
{
    double value;
    if (scanf("%lf", &value) != 1) exit(EXIT_FAILURE);
    return value;
}

static int count(void)
{
    return (int)number();
}

static double *numbers(int n, nb_ctx *ctx)
{
    double *values = nb_alloc_reals(ctx, (size_t)n, 1);
    for (int i = 0; values && i < n; i++) values[i] = number();
    return values;
}

static void print(int n, const double *values)
{
    for (int i = 0; i < n; i++) printf("%.17g ", values[i]);
}

static void print_estimate(const nb_estimate *e, int family, double margin, nb_ctx *ctx)
{
    const nb_evidence evidence = {.found = 1, .sources = NB_LEAST_SOURCES, .drawn_trials = -1, .has_interval = true};
    const nb_interval joint = nb_estimate_interval(e, nb_joint_confidence(e->confidence, family));
    nb_verdict verdict;
    const char *why;
    MUST(nb_judge(joint, margin, &evidence, false, &verdict, &why, ctx));
    printf("joint_low=%.17g joint_high=%.17g verdict=%d ", joint.low, joint.high, verdict);
#define SHOW(field) printf(#field "=%.17g ", (double)e->field)
    SHOW(sources), SHOW(units), SHOW(infinite), SHOW(mean), SHOW(sd), SHOW(se), SHOW(df), SHOW(low), SHOW(high);
    SHOW(t_p), SHOW(boot_low), SHOW(boot_high), SHOW(median);
    SHOW(below), SHOW(above), SHOW(ties), SHOW(below_share), SHOW(below_low), SHOW(below_high), SHOW(wilcoxon_w);
    SHOW(wilcoxon_p), SHOW(sign_p), SHOW(shift), SHOW(shift_low), SHOW(shift_high), SHOW(icc), SHOW(design_effect);
    SHOW(effective);
    printf("\n");
}

static void answer_estimate(nb_ctx *ctx)
{
    nb_estimate_terms terms = {.confidence = number(), .resamples = count()};
    terms.seed = (long long)number();
    int family = count();
    double margin = number();
    int strata = count(), n = count();
    nb_unit_value *units = nb_alloc(ctx, (size_t)n, sizeof *units);
    nb_estimate *estimates = nb_alloc(ctx, (size_t)strata + 1, sizeof *estimates);
    for (int i = 0; i < n; i++) {
        units[i].stratum = count();
        units[i].source = count();
        units[i].value = number();
        units[i].variance = number();
    }
    MUST(nb_estimate_units(n, units, strata, &terms, estimates, ctx));
    for (int g = 0; g <= strata; g++) print_estimate(&estimates[g], family, margin, ctx);
}

static void answer_friedman(nb_ctx *ctx)
{
    nb_friedman test;
    int blocks = count(), methods = count();
    double *table = numbers(blocks * methods, ctx), *ranks = nb_alloc_reals(ctx, (size_t)methods, 1);
    MUST(nb_friedman_test(blocks, methods, table, ranks, &test, ctx));
    printf("%.17g %.17g %.17g %.17g %.17g ", test.chi2, test.p, test.w, test.f, test.f_p);
    print(methods, ranks);
}

static void answer_spearman(nb_ctx *ctx)
{
    nb_agreement found;
    int n = count();
    double *x = numbers(n, ctx), *y = numbers(n, ctx);
    MUST(nb_spearman(n, x, y, &found, ctx));
    printf("%.17g %.17g", found.value, found.p);
}

static void answer_values(const char *word, nb_ctx *ctx)
{
    bool pratt = !strcmp(word, "wilcoxon") && count();
    int n = count();
    double *values = numbers(n, ctx), *out = nb_alloc_reals(ctx, (size_t)n, 1), w, p;
    if (!strcmp(word, "holm")) {
        adjust_by_holm(n, values, out);
        print(n, out);
    } else {
        MUST(nb_wilcoxon(n, values, pratt ? NB_ZEROS_PRATT : NB_ZEROS_DROPPED, &w, &p, ctx));
        printf("%.17g %.17g", w, p);
    }
}

static void answer(const char *word, nb_ctx *ctx)
{
    if (!strcmp(word, "estimate")) {
        answer_estimate(ctx);
        return;
    }
    if (!strcmp(word, "friedman")) {
        answer_friedman(ctx);
    } else if (!strcmp(word, "range")) {
        int methods = count();
        printf("%.17g", nb_range_p(methods, number()));
    } else if (!strcmp(word, "spearman")) {
        answer_spearman(ctx);
    } else {
        answer_values(word, ctx);
    }
    printf("\n");
}

int main(void)
{
    char word[16];
    nb_ctx *ctx = nb_ctx_new();
    if (!ctx) return EXIT_FAILURE;
    while (scanf("%15s", word) == 1) {
        nb_mark mark = nb_ctx_mark(ctx);
        answer(word, ctx);
        nb_ctx_release(ctx, mark);
    }
    nb_ctx_free(ctx);
    return EXIT_SUCCESS;
}
