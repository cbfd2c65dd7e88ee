/* SPDX-License-Identifier: GPL-3.0-or-later */
/* isolated.c - see isolated.h */
#include "calls/isolated.h"

#include "components/plugin.h"
#include "nystrom/passes.h"
#include "nystrom/scene_record.h"
#include "nystrom/spectrum_record.h"

#include <string.h>

typedef struct {
    const nb_isolated *call;
    bool rows, sums; /* of the scene, before */
    int spectra;
} errand;

static nb_status act(void *self, nb_ctx *ctx)
{
    const nb_isolated *call = ((const errand *)self)->call;
    return call->act(call->self, ctx);
}

/* In the child: what the scene has now, and had not before. */
static nb_scene_lost find_lost(const errand *e, const nb_scene *scene)
{
    nb_scene_lost lost = {.rows = scene->formed && !e->rows, .sums = scene->row_sums && !e->sums};
    for (int i = e->spectra; i < scene->spectrum_count; i++) {
        const nb_kept_spectrum *s = scene->spectra[i];
        int *most = s->vectors_too ? &lost.vectors : &lost.values;
        if (s->asked > *most) *most = s->asked;
    }
    return lost;
}

/* A scene that was cut from another counts for that too. */
static void move(void *self, nb_parcel *parcel)
{
    const errand *e = self;
    nb_scene *scene = e->call->scene;
    e->call->move(e->call->self, parcel);
    if (!scene) return;
    nb_scene_lost lost = find_lost(e, scene);
    nb_parcel_move(parcel, &lost, sizeof lost);
    scene->lost = lost;
    for (; scene; scene = scene->whole) {
        nb_parcel_move(parcel, &scene->reused_s, sizeof scene->reused_s);
        if (scene->read) nb_parcel_move(parcel, scene->read, (size_t)scene->head->n * sizeof *scene->read);
    }
}

/* Computes what children have computed before. What fails here fails in the next one too, which says so. */
static void recover(nb_scene *scene, nb_ctx *ctx)
{
    const nb_scene_lost lost = scene->lost;
    const double *rows, *of_rows, *of_columns;
    const nb_spectrum *spectrum;
    int n = scene->head->n;
    nb_status status = NB_OK;
    scene->lost = (nb_scene_lost){.rows = false};
    if (lost.rows) status = nb_scene_rows(scene, &rows, ctx);
    if (lost.sums && status == NB_OK) status = nb_scene_sums(scene, &of_rows, &of_columns, ctx);
    if (lost.vectors > 0 && lost.vectors <= n && status == NB_OK)
        status = nb_scene_singular_vectors(scene, lost.vectors, &spectrum, ctx);
    if (lost.values > 0 && lost.values <= n && status == NB_OK)
        status = nb_scene_singular_values(scene, lost.values, &spectrum, ctx);
    if (status != NB_OK) nb_error_clear(ctx);
    nb_ctx_forget_exhausted(ctx);
}

static nb_status report_end(const nb_isolated *call, const nb_return *back, double limit_s, nb_ctx *ctx)
{
    const char *text;
    if (back->how == NB_ENDED)
        NB_TRY(ctx, nb_ending_sentence(call->doing, &back->ending, limit_s, &text, ctx));
    else
        NB_NEED(text, nb_format(ctx, "%s %s the channel between its process and the worker", call->doing,
                                back->how == NB_CLOSED ? "closed" : "wrote something else into"));
    NB_FAIL(ctx, back->how == NB_ENDED && back->ending.timed_out ? NB_ELATE : NB_ECRASHED, "%s", text);
}

nb_status nb_isolated_call(const nb_isolated *call, nb_ctx *ctx)
{
    double limit_s = nb_ctx_isolation(ctx);
    errand e = {.call = call};
    nb_return back = {.how = NB_ENDED};
    if (limit_s == 0 || !nb_plugin_within(call->of)) return call->act(call->self, ctx);
    if (call->scene) {
        recover(call->scene, ctx);
        e.rows = call->scene->formed;
        e.sums = call->scene->row_sums;
        e.spectra = call->scene->spectrum_count;
    }
    for (int attempt = 0; attempt < 2; attempt++) {
        const nb_errand run = {
            .self = &e, .act = act, .move = move, .limit_s = limit_s, .most = NB_MOST_HEARD + call->bytes};
        NB_TRY(ctx, nb_errand_run(&run, &back, ctx));
        if (back.how != NB_ENDED || !nb_ended_from_outside(&back.ending)) break;
    }
    if (back.how != NB_RETURNED) return report_end(call, &back, limit_s, ctx);
    if (back.status != NB_OK) nb_error_set(ctx, back.status, __FILE__, __LINE__, "%s", back.message);
    return back.status;
}
