/* SPDX-License-Identifier: GPL-3.0-or-later */
/* spread.c - see spread.h. Banerjee's bound: let a normal mean have the variance V = A + B or less, and let a and b be
 * independent of it and of each other, A and B times chi-square over k and l degrees of freedom, divided by these. With
 * F(x) = P(Z^2 <= x) of a standard normal Z, which is concave,
 *
 *     P(mean^2 <= t_k^2 a + t_l^2 b) >= E F(A/V t_k^2 a/A + B/V t_l^2 b/B)
 *                                    >= A/V E F(t_k^2 a/A) + B/V E F(t_l^2 b/B) = confidence,
 *
 * since each term is P(|T| <= t) of a Student's T. Its p is that of the level at which both sides are equal:
 * mean^2 = x + y with P(T_k^2 > x/a) = P(T_l^2 > y/b). */
#include "statistics/spread.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdbool.h>

enum { HALVINGS = 60 };

static double bound_p(double mean, const nb_spread *s)
{
    if (!(s->common > 0)) return nb_t_p(mean, sqrt(s->own), s->own_df);
    if (!(s->own > 0)) return nb_t_p(mean, sqrt(s->common), s->common_df);
    double low = 0, high = 1, p = NAN;
    for (int i = 0; i < HALVINGS; i++) {
        double share = (low + high) / 2;
        p = 2 * gsl_cdf_tdist_Q(fabs(mean) * sqrt(share / s->own), s->own_df);
        bool more = p > 2 * gsl_cdf_tdist_Q(fabs(mean) * sqrt((1 - share) / s->common), s->common_df);
        *(more ? &low : &high) = share;
    }
    return p;
}

double nb_spread_half(const nb_spread *s, double confidence)
{
    nb_interval interval = nb_t_interval(0, s->se, s->df, confidence);
    double alpha = 1 - confidence;
    if (isnan(interval.high) || alpha >= NB_SATTERTHWAITE_LEVEL) return interval.high;
    double own = gsl_cdf_tdist_Qinv(alpha / 2, s->own_df) * sqrt(s->own);
    double common = s->common > 0 ? gsl_cdf_tdist_Qinv(alpha / 2, s->common_df) * sqrt(s->common) : 0;
    return fmax(interval.high, sqrt(own * own + common * common));
}

double nb_spread_p(double mean, const nb_spread *s)
{
    double p = nb_t_p(mean, s->se, s->df);
    return p < NB_SATTERTHWAITE_LEVEL ? fmax(p, fmin(NB_SATTERTHWAITE_LEVEL, bound_p(mean, s))) : p;
}
