/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pass.c - see pass.h. */
#include "layers/pass.h"

#include "base/clock.h"

#include <string.h>

const char *const nb_pass_clock_names[] = {
    [NB_CLOCK_PASS] = "pass", [NB_CLOCK_CALL] = "call", [NB_CLOCK_OWN] = "own", [NB_CLOCK_NONE] = "none"};

void nb_pass_part(nb_pass *pass, nb_part part)
{
    double now_s = nb_clock_s();
    pass->part_s[part] += now_s - pass->last_s;
    pass->last_s = now_s;
}

void nb_pass_parts(nb_pass *pass, const double busy_s[NB_PART_COUNT])
{
    double start_s = pass->last_s, all_s = 0;
    pass->last_s = nb_clock_s();
    for (int i = 0; i < NB_PART_COUNT; i++) all_s += busy_s[i];
    for (int i = 0; i < NB_PART_COUNT && all_s > 0; i++)
        pass->part_s[i] += (pass->last_s - start_s) * busy_s[i] / all_s;
}

void nb_pass_append(const nb_pass *pass, int key_head, nb_scalar *k, nb_scalar *v)
{
    const nb_layer *layer = pass->layer;
    size_t d = (size_t)layer->shape.d, dv = (size_t)layer->shape.dv, count = (size_t)layer->shape.n;
    size_t first = (size_t)pass->first, at = (size_t)key_head * count;
    memcpy(k + first * d, layer->k + at * d, count * d * sizeof *k);
    memcpy(v + first * dv, layer->v + at * dv, count * dv * sizeof *v);
}

nb_status nb_causal_refusal(const void *options, const nb_layer_shape *shape, const char **why, nb_ctx *ctx)
{
    (void)options, (void)ctx;
    if (!shape->causal) *why = "it looks at earlier tokens alone, and this layer has no causal mask";
    return NB_OK;
}

nb_status nb_keys_refusal(int keys, const nb_layer_shape *shape, const char **why, nb_ctx *ctx)
{
    if (keys > shape->n) NB_NEED(*why, nb_format(ctx, "keys = %d, and there are n = %d", keys, shape->n));
    return NB_OK;
}
