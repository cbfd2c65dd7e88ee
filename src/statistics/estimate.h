/* SPDX-License-Identifier: GPL-3.0-or-later */
/* estimate.h - what units say together, where they are nested in sources and these in strata. A unit is what is
 * measured (an attention head), a source what a statement may be generalised over (a text, an image, a recording), a
 * stratum a group that is fixed (a model). Units of a source are not independent: the source is the replicate. */
#ifndef NB_ESTIMATE_H
#define NB_ESTIMATE_H

#include "base/ctx.h"
#include "statistics/crossed.h"
#include "statistics/sources.h"

enum { NB_LEAST_SOURCES = 6 }; /* for a verdict: of fewer, no two-sided exact test at 0.05 can tell (2^-5 = 0.03) */
#define NB_MOST_MISSING 0.05   /* share of the pairs; with more missing there is no verdict */

typedef struct {
    double confidence; /* of intervals: 0.95 */
    int resamples;     /* of the bootstrap; 0: none */
    long long seed;    /* of the bootstrap */
    double margin;     /* > 0: what is within -margin ... margin is the same, for the two one-sided tests; 0: none */
    const nb_common_error *common; /* of each stratum, then of all; NULL: none */
} nb_estimate_terms;

/* NaN: it cannot be had from so few sources, or from values that are not finite. What goes by ranks and signs takes
 * infinite ones, and pools the sources of all strata. Where sources do not differ at all, intervals have no width, and
 * p is 0 or 1. */
typedef struct {
    int sources, units;
    int infinite;      /* units that are not finite */
    double confidence; /* of what follows */
    double mean;       /* of the means of sources; over strata: of the means of strata; +-inf if units are */
    double sd;         /* of the means of sources; over strata: pooled */
    double se, df;     /* of the mean; Satterthwaite's where it has several parts */
    double own_df;     /* of the part of se that the spread of sources shows; that of all where it has no other */
    double common_se;  /* the part of se that all sources have in common; 0: none is seen */
    double common_square, common_df; /* what it is estimated from, see nb_common_error */
    double low, high;                /* t interval of the mean */
    double t_p;                      /* two-sided, of mean = 0 */
    double same_p;                   /* the larger of the two one-sided tests' against the margin */
    double same_low, same_high;      /* t interval at 1 - 2 alpha, which lies in the margin where same_p <= alpha */
    double boot_low, boot_high;      /* cluster bootstrap, BCa: sources resampled, within their strata */
    double median;                   /* of the means of sources, as are all that follow */
    int below, above, ties;          /* sources with a mean below, above, equal to 0 */
    double below_share, below_low, below_high; /* of those that are no ties; Clopper-Pearson */
    double wilcoxon_w, wilcoxon_p;             /* signed rank, zeros by Pratt, exact with ties */
    double sign_p;
    double shift, shift_low, shift_high;  /* Hodges-Lehmann */
    double icc, design_effect, effective; /* nested analysis of variance: effective number of independent units */
} nb_estimate;

/* `estimates`: one for each stratum, then one over all that have units, with equal weights. The same bits for the same
 * values in any order of units.
 *
 * The units' own variances are added to se^2, though part of them is in the spread of sources already: se is an upper
 * bound, too large by at most them. The bootstrap leaves them out, and what sources
 * have in common; so do ranks and signs. design_effect takes an icc below 0 as 0.
 *
 * NB_EINVAL, NB_ENUMERIC: as nb_sources_gather; NB_EINVAL: a confidence below 0.5 or not below 1. */
nb_status nb_estimate_units(int count, const nb_unit_value *units, int strata, const nb_estimate_terms *terms,
                            nb_estimate *estimates, nb_ctx *ctx);

/* About how many more sources bring the interval off `edge`, or into -margin ... margin if that takes fewer (margin 0:
 * that counts for nothing), with power 0.8: the least for which se, with its own part by so many sources, is below
 * distance / (t_(1 - alpha/2) + t_0.8) of the degrees of freedom that it then has. Of what the common part is estimated
 * from, the rest lessens too. NaN where that cannot be said, or where no number of them would, because of what sources
 * have in common. */
double nb_estimate_more(const nb_estimate *estimate, double edge, double margin);

#endif
