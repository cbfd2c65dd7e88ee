/* SPDX-License-Identifier: GPL-3.0-or-later */
/* records.c - functions that are called without being asked for first. */
#include "conformance/records.h"

#include "base/apart.h"
#include "components/plugin.h"
#include "cores/core.h"
#include "kernels/kernel.h"
#include "problems/problem.h"
#include "strategies/strategy.h"

const char *nb_problem_lacks(const nb_component *component)
{
    const nb_problem *p = (const nb_problem *)component;
    return !p->shape ? "the function shape" : !p->make ? "the function make" : NULL;
}

const char *nb_kernel_lacks(const nb_component *component)
{
    const nb_kernel *k = (const nb_kernel *)component;
    if (k->standard) return "standard = false: the program has its standard kernel";
    return !k->fill ? "the function fill" : NULL;
}

const char *nb_strategy_lacks(const nb_component *component)
{
    const nb_strategy *s = (const nb_strategy *)component;
    if (s->abi != NB_STRATEGY_ABI) return "abi = NB_STRATEGY_ABI: it is zero, or was built for another nysbench";
    if ((unsigned)s->pairing >= NB_PAIRING_COUNT) return "a pairing out of nb_pairing";
    if (s->traits & ~(unsigned)NB_STRATEGY_TRAITS) return "traits out of NB_STRATEGY_TRAITS";
    return s->pairing == NB_BOTH ? (s->pick_both ? NULL : "the function pick_both for its pairing")
           : s->pick             ? NULL
                                 : "the function pick for its pairing";
}

unsigned nb_core_traits(const nb_choice *choice)
{
    const nb_core *core = (const nb_core *)choice->component;
    return core->traits_of ? core->traits_of(choice->options) : core->traits;
}

/* What a plug-in may give: the program's own identity has a trait of its own, and no traits_of. */
static nb_status check_core(void *self, nb_ctx *ctx)
{
    const nb_choice *choice = self;
    const nb_core *core = (const nb_core *)choice->component;
    NB_REQUIRE(ctx, !core->traits_of || !(core->traits_of(choice->options) & ~(unsigned)NB_CORE_TRAITS), NB_EINVAL,
               "its traits_of gives traits out of NB_CORE_TRAITS");
    return NB_OK;
}

nb_status nb_core_check(const nb_choice *core, nb_ctx *ctx)
{
    nb_choice copy = *core;
    return nb_plugin_of(core->component)
               ? nb_apart_named(check_core, &copy, NULL, 0, core->label, "calling its traits_of", ctx)
               : check_core(&copy, ctx);
}

const char *nb_core_lacks(const nb_component *component)
{
    const nb_core *c = (const nb_core *)component;
    if (c->traits & ~(unsigned)NB_CORE_TRAITS) return "traits out of NB_CORE_TRAITS";
    return c->compute ? NULL : "the function compute";
}
