/* SPDX-License-Identifier: GPL-3.0-or-later */
/* multiple.c - see multiple.h */
#include "statistics/multiple.h"

#include <math.h>

double nb_joint_confidence(double confidence, int family)
{
    return family > 1 ? 1 - (1 - confidence) / family : confidence;
}

double nb_holm_next(nb_holm_steps *s, double p)
{
    s->largest = fmax(s->largest, fmin(1, s->left * p));
    s->left--;
    return s->largest;
}
