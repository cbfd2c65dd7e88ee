/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trust.c - refuses a method whose outputs cannot be believed, by the checks that every attention has to pass
 * (conformance/conformance_attentions.c), on a head of each model. */
#include "suite/suite.h"

#include "base/text.h"
#include "conformance/conformance.h"

#include <string.h>

static const char *const demanded[] = {"output", "causal", "random", NULL};

nb_status nb_suite_refuse(const nb_suite *s, int input, const char *label, const char *what, nb_ctx *ctx)
{
    const char *place, *why;
    NB_NEED(why, nb_strdup(ctx, nb_error_message(ctx)));
    nb_error_clear(ctx);
    NB_TRY(ctx, nb_suite_place(s, input, &place, ctx));
    NB_FAIL(ctx, NB_EINVAL, "%s: %s: %s: %s", label, place, what, why);
}

nb_status nb_suite_trust(const nb_suite *s, int model, const nb_suite_setting settings[NB_SUITE_SHARES], double limit_s,
                         nb_ctx *ctx)
{
    const nb_choice *attention = NULL;
    int input = s->models[model].first;
    nb_head head;
    for (int k = NB_SUITE_SHARES - 1; k >= 0; k--)
        if (settings[k].attention.component) attention = &settings[k].attention;
    if (!attention) return NB_OK;
    NB_TRY(ctx, nb_head_load(s->inputs[input].path, 0, &head, ctx));
    head.causal = s->tracks[s->models[model].track].causal;
    for (const nb_check *check = nb_attention_checks; check->name; check++) {
        nb_trial_run run = {.choice = attention, .head = &head};
        if (!nb_text_among(check->name, demanded)) continue;
        if (strcmp(check->name, "causal") == 0 && !head.causal) continue;
        nb_status status = nb_check_apart(check, &run, limit_s, ctx);
        if (status == NB_EBUG || status == NB_ENUMERIC)
            return nb_suite_refuse(s, input, attention->label, *run.told.place ? run.told.place : check->name, ctx);
        NB_TRY(ctx, status);
    }
    return NB_OK;
}
