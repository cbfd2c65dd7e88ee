/* SPDX-License-Identifier: GPL-3.0-or-later */
/* core.c - what a core's record says, and what it must. */
#include "cores/core.h"

#include <float.h>
#include <math.h>

const char *nb_core_lacks(const nb_component *component)
{
    const nb_core *c = (const nb_core *)component;
    if (c->traits & ~(unsigned)NB_CORE_TRAITS) return "traits out of NB_CORE_TRAITS";
    return c->compute ? NULL : "the function compute";
}

double nb_core_rcond(double rcond, int m)
{
    return isnan(rcond) ? m * DBL_EPSILON : rcond;
}

unsigned nb_core_traits(const nb_choice *core)
{
    const nb_core *c = (const nb_core *)core->component;
    return c->traits_of ? c->traits_of(core->options) : c->traits;
}
