/* SPDX-License-Identifier: GPL-3.0-or-later */
/* estimate.h - estimates and tests from units that are nested in sources, and these in strata. A unit is what is
 * measured (an attention head), a source what a statement may be generalised over (a text, an image, a recording), a
 * stratum a fixed group (a model). Units of a source are not independent: the source is the replicate. */
#ifndef NB_ESTIMATE_H
#define NB_ESTIMATE_H

#include "base/ctx.h"
#include "statistics/crossed.h"
#include "statistics/intervals.h"
#include "statistics/sources.h"

/* The least sources for a verdict: with fewer, no two-sided exact test can reach 0.05 (2^-5 = 0.03). */
enum { NB_LEAST_SOURCES = 6 };
#define NB_MOST_MISSING 0.05 /* largest share of missing pairs for a verdict */

typedef struct {
    double confidence;             /* confidence of intervals, such as 0.95 */
    int resamples;                 /* resamples of the bootstrap; 0: no bootstrap */
    long long seed;                /* of the bootstrap */
    const nb_common_error *common; /* one for each stratum, then one for all; NULL: none */
    bool mean_alone;               /* without the median and what is of ranks and signs, which are NaN then, or 0 */
} nb_estimate_terms;

/* NaN: impossible from so few sources, or from values that are not finite. Statistics of ranks and signs allow
 * infinite ones, and pool the sources of all strata. If sources do not differ at all, intervals have no width, and p
 * is 0 or 1. */
typedef struct {
    int sources, units;
    int infinite;      /* units that are not finite */
    double confidence; /* of the intervals below */
    double mean;       /* mean of the sources' means; over strata: mean of the strata's means; +-inf if units are */
    double sd;         /* standard deviation of the sources' means; over strata: pooled */
    double se, df;     /* of the mean; df by Satterthwaite if se has several parts */
    /* degrees of freedom of the part of se that the spread of sources shows; of all of se if it has no other part */
    double own_df;
    double common_se;                          /* the part of se that all sources share; 0: none is seen */
    double common_square, common_df;           /* as in nb_common_error */
    double low, high;                          /* t interval of the mean, see nb_spread_half */
    double t_p;                                /* two-sided p of mean = 0, see nb_spread_p */
    double boot_low, boot_high;                /* cluster bootstrap, BCa: sources resampled, within their strata */
    double median;                             /* of the sources' means, as are all members below */
    int below, above, ties;                    /* sources with a mean below, above, equal to 0 */
    double below_share, below_low, below_high; /* share among those without ties; Clopper-Pearson */
    double wilcoxon_w, wilcoxon_p;             /* signed rank, zeros by Pratt, exact with ties */
    double sign_p;
    double shift, shift_low, shift_high;  /* Hodges-Lehmann */
    double icc, design_effect, effective; /* nested analysis of variance: effective number of independent units */
} nb_estimate;

/* Sets `estimates`: one for each stratum, then one over all strata that have units, with equal weights. Any order of
 * units gives the same bits.
 *
 * The units' own variances are added to se^2, though part of them is in the spread of sources already: so se is an
 * upper bound, too large by at most these. The bootstrap, ranks and signs leave out these variances and the error that
 * sources share. design_effect takes an icc below 0 as 0.
 *
 * NB_EINVAL, NB_ENUMERIC: as nb_sources_gather; NB_EINVAL: a confidence below 0.5 or not below 1. */
nb_status nb_estimate_units(int count, const nb_unit_value *units, int strata, const nb_estimate_terms *terms,
                            nb_estimate *estimates, nb_ctx *ctx);

/* Returns the t interval of the mean at another confidence. */
nb_interval nb_estimate_interval(const nb_estimate *estimate, double confidence);

/* Returns about how many more sources would move the interval at `confidence` off `edge`, or into -margin ... margin
 * if that takes fewer (margin 0: not considered), with power 0.8: the least number for which the distance is at least
 * half the interval and t_0.8 se, with se's own part for so many sources and the degrees of freedom that it then has.
 * More sources also shrink common_square, but not common_se. NaN if the number is unknown, or if none would do because
 * of common_se. */
double nb_estimate_more(const nb_estimate *estimate, double confidence, double edge, double margin);

#endif
