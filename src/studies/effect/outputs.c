/* SPDX-License-Identifier: GPL-3.0-or-later */
/* outputs.c - a pass of each attention over the heads of each layer, as the model's program makes it, against exact
 * outputs in double precision. */
#include "studies/effect/work.h"

#include <math.h>

static nb_status pass(const nb_effect_work *w, nb_effect_job *job, const nb_layer *layer, nb_scalar *out, nb_ctx *own)
{
    nb_attending attending;
    nb_passed passed;
    NB_TRY(own, nb_attention_open(job->attention, &layer->shape, w->team, nb_effect_stream(w), &attending, own));
    NB_TRY(own, nb_attention_forward(&attending, layer, out, &passed, own));
    const char *why = passed.refusal ? passed.refusal : passed.diverged;
    return why ? nb_effect_end_job(w, job, passed.refusal ? "skipped" : "diverged", why) : NB_OK;
}

/* The mean over a layer's heads, divided by the number of layers. */
static void add_errors(const nb_effect_work *w, nb_effect_job *job, int layer, const nb_scalar *out)
{
    nb_layer_shape one = w->layers[layer].shape;
    int heads = one.heads;
    size_t outputs = (size_t)one.n * (size_t)one.dv;
    one.heads = one.key_heads = 1;
    for (int h = 0; h < heads; h++) {
        nb_exact exact = w->exact[layer];
        exact.out += (size_t)h * outputs;
        nb_likeness like = nb_exact_compare(&one, &exact, out + (size_t)h * outputs);
        job->result.local.output_error += like.error / heads / w->part->layer_count;
    }
}

static nb_status judge(const nb_effect_work *w, nb_effect_job *job, int layer, const nb_scalar *out, nb_ctx *own)
{
    const char *where, *reason;
    add_errors(w, job, layer, out);
    if (!isnan(job->result.local.output_error)) return NB_OK;
    NB_TRY(own, nb_layer_find_odd(&w->layers[layer].shape, out, &where, own));
    NB_NEED(reason, nb_format(own, "%s: outputs are not finite%s%s", job->attention->label, where ? ": " : "",
                              where ? where : ""));
    return nb_effect_end_job(w, job, "diverged", reason);
}

static nb_status find_job(const nb_effect_work *w, nb_effect_job *job, nb_scalar *out)
{
    job->result.local.output_error = 0;
    for (int l = 0; l < w->part->layer_count && !job->status; l++) {
        nb_ctx *own;
        nb_mark mark = nb_ctx_mark(w->ctx);
        NB_NEED(own, nb_ctx_child(w->ctx));
        nb_status status = pass(w, job, &w->layers[l], out, own);
        if (status == NB_OK && !job->status) status = judge(w, job, l, out, own);
        NB_TRY(w->ctx, nb_effect_take_failure(w, job, status));
        nb_ctx_release(w->ctx, mark);
    }
    return NB_OK;
}

nb_status nb_effect_find_outputs(nb_effect_work *w)
{
    const nb_layer_shape *s = &w->layers[0].shape;
    nb_scalar *out;
    NB_NEED(out, nb_alloc_scalars(w->ctx, (size_t)s->heads * (size_t)s->n * (size_t)s->dv));
    for (nb_effect_job *job = w->jobs; job < w->jobs + w->count; job++) {
        if (job->status) continue;
        nb_pending_at(w->pending, NB_EFFECT_AT_OUTPUT, job->row, job->row + 1);
        NB_TRY(w->ctx, find_job(w, job, out));
    }
    return NB_OK;
}
