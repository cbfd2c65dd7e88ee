/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compute.c - one call of a core. */
#include "calls/compute.h"

#include "base/clock.h"
#include "calls/guard.h"
#include "nystrom/factors_record.h"

nb_status nb_core_compute(const nb_choice *core, nb_factors *factors, nb_scene *scene, nb_stream stream, double *x,
                          double *core_s, nb_ctx *ctx)
{
    nb_guard guard;
    factors->stream = stream;
    factors->stream.component = core->canonical;
    nb_guard_begin(&guard, core, scene, factors);
    double start_s = nb_clock_s();
    nb_status status = ((const nb_core *)core->component)->compute(factors, core->options, x, ctx);
    *core_s = nb_clock_s() - start_s;
    return nb_guard_end(&guard, status, ctx);
}
