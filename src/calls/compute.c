/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compute.c - one call of a core. */
#include "calls/compute.h"

#include "base/clock.h"
#include "calls/called.h"
#include "calls/isolated.h"
#include "nystrom/factors_record.h"

typedef struct {
    const nb_choice *core;
    nb_factors *factors;
    double *x;
    nb_computed *out;
} call;

static nb_status make_call(void *self, nb_ctx *ctx)
{
    const call *c = self;
    const nb_core *core = (const nb_core *)c->core->component;
    nb_status status = NB_OK;
    const nb_component *caller;
    NB_TRY(ctx, nb_called_begin(c->core, &caller, ctx));
    c->out->refusal = core->refusal ? core->refusal(c->factors, c->core->options) : NULL;
    double start_s = nb_clock_s();
    if (!c->out->refusal) status = core->compute(c->factors, c->core->options, c->x, ctx);
    c->out->seconds = nb_clock_s() - start_s + c->factors->reused_s;
    return nb_called_end(caller, c->core, status, ctx);
}

/* X, and what nb_factors_begin clears. */
static void move_call(void *self, nb_parcel *parcel)
{
    const call *c = self;
    nb_factors *f = c->factors;
    c->out->refusal = nb_parcel_text(parcel, c->out->refusal);
    nb_parcel_move(parcel, c->x, (size_t)f->m * (size_t)f->m * sizeof *c->x);
    nb_parcel_move(parcel, &c->out->seconds, sizeof c->out->seconds);
    nb_parcel_move(parcel, &f->notes, sizeof f->notes);
    f->notes.diverged = nb_parcel_text(parcel, f->notes.diverged);
    nb_parcel_move(parcel, &f->seen, sizeof f->seen);
    nb_parcel_move(parcel, &f->keep_rows, sizeof f->keep_rows);
}

nb_status nb_core_compute(const nb_choice *core, nb_factors *factors, nb_scene *scene, nb_stream stream, double *x,
                          nb_computed *computed, nb_ctx *ctx)
{
    call c = {core, factors, x, computed};
    size_t m = (size_t)factors->m;
    *computed = (nb_computed){.refusal = NULL};
    nb_factors_begin(factors);
    factors->stream = stream;
    factors->stream.component = core->canonical;
    NB_TRY(ctx,
           nb_isolated_call(&(nb_isolated){core, "the core", scene, &c, make_call, move_call, m * m * sizeof *x}, ctx));
    NB_REQUIRE(ctx, factors->seen >= 0 && factors->seen <= factors->n, NB_EINVAL, "it has seen %d rows of %d",
               factors->seen, factors->n);
    /* Texts that came from a child are ctx's, which is released. */
    if (computed->refusal) NB_NEED(computed->refusal, nb_strdup(factors->ctx, computed->refusal));
    if (factors->notes.diverged) NB_NEED(factors->notes.diverged, nb_strdup(factors->ctx, factors->notes.diverged));
    return NB_OK;
}
