/* SPDX-License-Identifier: GPL-3.0-or-later */
/* measures.c - nothing measured. */
#include "nystrom/measures.h"

#include <math.h>
#include <stddef.h>

void nb_measures_clear(nb_measures *measures)
{
    double *all = (double *)measures;
    for (size_t i = 0; i < sizeof *measures / sizeof *all; i++) all[i] = NAN;
}
