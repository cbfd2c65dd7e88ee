/* SPDX-License-Identifier: GPL-3.0-or-later */
/* work.c - whole numbers, so that a difference does not depend on what was counted before, as it would to rounding. */
#include "linalg/work.h"

static _Thread_local uint64_t multiplications;

void nb_count_multiplications(double count)
{
    multiplications += (uint64_t)(count + 0.5);
}

uint64_t nb_multiplications(void)
{
    return multiplications;
}
