/* SPDX-License-Identifier: GPL-3.0-or-later */
/* functions.h - what SQL can call beside its own; a study adds more (add_functions in components/study.h), such as
 * multiplications() in studies/error/flops.c. Aggregates sort what they are given, so that no result depends on the
 * order of rows; NULL is left out, and what is not known is NULL.
 *
 *   median(x), quantile(x, q)     by linear interpolation; x may be lists
 *   repeated(x, times)            a list of a number, so many times
 *   mean(x), sd(x), geomean(x)    a mean is infinite if any x is
 *   list(x), size(list)           all values as one, of which the above and lists of larger groups are made without
 *                                 reading the rows again; how many they are, 0 of NULL
 *   median_low(x, source), median_high(x, source)
 *                                 the 95 % interval of the median over the sources' own medians, by order statistics;
 *                                 NULL of fewer than 6 sources
 *   least_sources()               how many sources a verdict about others takes
 *   is_noise(x, noise)            whether x is no more than its rounding noise; it is not where that is NULL
 *   at_least_noise(x, noise)      x as a ratio takes it: no less than its rounding noise, if that is known
 *   pair_noise(a, b, noise_a, noise_b)
 *                                 whether both are no more than their rounding noise
 *   pair_ratio(a, b, noise_a, noise_b)
 *                                 a/b as an estimate takes it: 1 where they differ by no more than rounding, NULL
 *                                 where both are noise
 *   friedman_chi2(rank, source, method), friedman_p, friedman_f, friedman_f_p, friedman_w
 *                                 Friedman's test of ranks, its p, Iman and Davenport's F, its p, and Kendall's W; of a
 *                                 rank of each method in each source
 *   nemenyi(sources, methods)     the critical difference of mean ranks, at 0.05; it and Friedman's test are NULL of
 *                                 fewer than 6 sources
 *   listed(text, place)           "a, b, c and 3 more", in the order of the places
 *   mean_of_sources(x, source), mean_low(x, source), mean_high(x, source)
 *                                 the mean of the sources' means, and its t interval
 *   spearman(x, y)                the rank correlation
 *   slope(x, y), slope_low(x, y), slope_high(x, y)
 *                                 of the least squares' line, and its t interval
 *   crossing(x, a, b)             from which x on a < b up to the last x, by lines between logarithms: the least x
 *                                 where it always is, NULL where it is not in the end
 *   finite(x)                     NULL where x is infinite; of a list, the finite ones
 *   ln(x), exp(x)                 natural logarithm, its inverse
 *   field(name, value), call(name)   what a caller can ask for, as the program spells it (fields.h)
 *   refusal_told(refusal, it, other)
 *                                 why two values are not compared (pairs.h), as a sentence that calls them so */
#ifndef NB_FUNCTIONS_H
#define NB_FUNCTIONS_H

#include "base/ctx.h"

#include <sqlite3.h>

nb_status nb_functions_add(sqlite3 *db, nb_ctx *ctx);
/* Adds a number of a study's, as a function without arguments; *value outlives the connection. */
nb_status nb_function_add_constant(sqlite3 *db, const char *name, const double *value, nb_ctx *ctx);

#endif
