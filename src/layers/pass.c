/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pass.c - see pass.h. */
#include "layers/pass.h"

#include "base/clock.h"

void nb_pass_part(nb_pass *pass, nb_part part)
{
    double now_s = nb_clock_s();
    pass->part_s[part] += now_s - pass->last_s;
    pass->last_s = now_s;
}

void nb_pass_parts(nb_pass *pass, nb_part a, double a_s, nb_part b, double b_s)
{
    double before_s = pass->part_s[a];
    nb_pass_part(pass, a);
    double of_b_s = b_s > 0 ? (pass->part_s[a] - before_s) * b_s / (a_s + b_s) : 0;
    pass->part_s[a] -= of_b_s;
    pass->part_s[b] += of_b_s;
}

nb_status nb_causal_refusal(const void *options, const nb_layer_shape *shape, const char **why, nb_ctx *ctx)
{
    (void)options, (void)ctx;
    if (!shape->causal) *why = "it looks at earlier tokens alone, and this layer has no causal mask";
    return NB_OK;
}
