/* SPDX-License-Identifier: GPL-3.0-or-later */
/* core.c - what a core's record says, and what it must. */
#include "cores/core.h"

#include "components/component_facts.h"

#include <float.h>
#include <math.h>

const size_t nb_core_texts[] = {offsetof(nb_core, explanation), 0};

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

static const nb_core *record_of(const nb_choice *core)
{
    return (const nb_core *)core->component;
}

static void tell_traits(const nb_choice *of, const void *question, void *answer)
{
    (void)question;
    *(unsigned *)answer = record_of(of)->traits_of(of->options);
}

unsigned nb_core_traits(const nb_choice *core)
{
    unsigned traits = record_of(core)->traits;
    if (record_of(core)->traits_of) nb_ask_fact(core, "traits_of", tell_traits, NULL, 0, &traits, sizeof traits);
    return traits;
}

typedef struct {
    int n, m;
} sizes;

static void tell_cost(const nb_choice *of, const void *question, void *answer)
{
    const sizes *s = question;
    *(nb_core_cost *)answer = record_of(of)->cost(of->options, s->n, s->m);
}

nb_core_cost nb_core_cost_of(const nb_choice *core, int n, int m)
{
    const sizes asked = {n, m};
    nb_core_cost told = {.multiplications = NAN};
    if (record_of(core)->cost) nb_ask_fact(core, "cost", tell_cost, &asked, sizeof asked, &told, sizeof told);
    return told;
}
