/* SPDX-License-Identifier: GPL-3.0-or-later */
/* begin.c - a method's settings, and the experiment that measures them. */
#include "suite/suite.h"

#include "base/default_seed.h"
#include "base/fields.h"
#include "base/files.h"

#include <string.h>

enum { TRIALS = 3 };

/* Says why a method is not in a track; NULL: it is. */
static const char *absence(const nb_suite_track *track, unsigned traits)
{
    if (!track->causal) return NULL;
    if (!(traits & NB_ATTENTION_CAUSAL)) return "it has no causal form";
    return traits & NB_ATTENTION_FORESEES ? "its causal form chooses or fits by later tokens" : NULL;
}

/* Sets why a method has no output at any share on any model of a track; NULL: it has. */
static void find_refusal(nb_suite_result *r, int track)
{
    const char *why = NULL;
    for (int m = 0; m < r->suite->model_count; m++)
        for (int k = 0; r->suite->models[m].track == track && k < NB_SUITE_SHARES; k++) {
            if (!r->settings[m][k].why) return;
            why = r->settings[m][k].why;
        }
    r->absent[track] = why;
}

static nb_status settle_model(nb_suite_result *r, int model, double limit_s, nb_ctx *ctx)
{
    if (r->method.sizes) return nb_suite_read_counts(r->suite, model, &r->method, r->settings[model], ctx);
    NB_REQUIRE(ctx, !(r->method.traits & NB_ATTENTION_ELSEWHERE), NB_EINVAL,
               "%s: a program computes it, so its multiplications are not counted and it has no number; %s tells "
               "them, or cost= and sizes= of nysbench.suite; %s times it without a number",
               r->method.label, nb_field(ctx, "sizes", "FILE"), nb_field(ctx, "timed", NULL));
    return nb_suite_settle(r->suite, model, &r->method, limit_s, r->settings[model], ctx);
}

static nb_status settle_track(nb_suite_result *r, int track, double limit_s, nb_ctx *ctx)
{
    const nb_suite *s = r->suite;
    const char *baseline = s->tracks[track].baseline;
    nb_suite_method stands;
    for (int m = 0; m < s->model_count; m++)
        if (s->models[m].track == track) NB_TRY(ctx, settle_model(r, m, limit_s, ctx));
    find_refusal(r, track);
    if (r->absent[track]) return NB_OK;
    NB_TRY(ctx, nb_suite_method_find(baseline, &stands, ctx));
    for (int m = 0; m < s->model_count; m++) {
        if (s->models[m].track != track) continue;
        NB_TRY(ctx, nb_suite_trust(s, m, r->settings[m], limit_s, ctx));
        NB_TRY(ctx, nb_suite_settle(s, m, &stands, limit_s, r->baselines[m], ctx));
        for (int k = 0; k < NB_SUITE_SHARES; k++)
            NB_REQUIRE(ctx, !r->baselines[m][k].why, NB_EINVAL, "%s: the baseline %s at 1/%d: %s", s->models[m].name,
                       baseline, nb_suite_parts[k], r->baselines[m][k].why);
    }
    return NB_OK;
}

/* Checks the outputs of a method that is timed alone, as those of any other. */
static nb_status trust_track(nb_suite_result *r, int track, double limit_s, nb_ctx *ctx)
{
    nb_suite_setting setting[NB_SUITE_SHARES] = {{.text = NULL}};
    NB_TRY(ctx, nb_choice_parse(&nb_attentions, r->method.spec, &setting[0].attention, ctx));
    NB_TRY(ctx, nb_attention_ready(&setting[0].attention, ctx));
    for (int m = 0; m < r->suite->model_count; m++)
        if (r->suite->models[m].track == track) NB_TRY(ctx, nb_suite_trust(r->suite, m, setting, limit_s, ctx));
    r->absent[track] = NB_SUITE_UNCOUNTED;
    return NB_OK;
}

nb_status nb_suite_begin(const nb_suite *s, const nb_suite_method *method, double limit_s, nb_suite_result *r,
                         nb_ctx *ctx)
{
    *r = (nb_suite_result){.suite = s, .method = *method};
    NB_NEED(r->absent, nb_alloc(ctx, (size_t)s->track_count, sizeof *r->absent));
    NB_NEED(r->settings, nb_alloc(ctx, (size_t)s->model_count, sizeof *r->settings));
    NB_NEED(r->baselines, nb_alloc(ctx, (size_t)s->model_count, sizeof *r->baselines));
    NB_NEED(r->outcomes, nb_alloc(ctx, (size_t)s->count, sizeof *r->outcomes));
    for (int t = 0; t < s->track_count; t++) {
        r->absent[t] = absence(&s->tracks[t], method->traits);
        if (r->absent[t]) continue;
        NB_TRY(ctx, (method->uncounted ? trust_track : settle_track)(r, t, limit_s, ctx));
    }
    return NB_OK;
}

static nb_status print_quoted(FILE *out, const char *text)
{
    putc('\'', out);
    for (; *text; text++) {
        if (*text == '\'') putc('\'', out);
        putc(*text, out);
    }
    fputs("'\n", out);
    return NB_OK;
}

static nb_status print_settings(FILE *out, const nb_suite_setting *settings, nb_choices *printed, nb_ctx *ctx)
{
    for (int k = 0; k < NB_SUITE_SHARES; k++) {
        const nb_choice *c = &settings[k].attention;
        const char *text;
        if (!c->component || nb_choices_find(printed, c) >= 0) continue;
        NB_TRY(ctx, nb_choices_append(printed, *c, ctx));
        NB_TRY(ctx, nb_choice_written(c, &text, ctx));
        fputs("      - ", out);
        NB_TRY(ctx, print_quoted(out, text));
    }
    return NB_OK;
}

bool nb_suite_is_measured(const nb_suite_result *r, int input)
{
    const nb_suite *s = r->suite;
    return !r->absent[s->models[s->inputs[input].model].track] && (!r->chosen || r->chosen[input]);
}

static nb_status print_model(FILE *out, const nb_suite_result *r, int m, nb_ctx *ctx)
{
    const nb_suite *s = r->suite;
    const nb_suite_model *model = &s->models[m];
    nb_choices printed = {.count = 0};
    if (r->absent[model->track]) return NB_OK;
    fputs("  - problems:\n", out);
    for (int i = model->first; i < model->first + model->count; i++) {
        const char *path, *whole, *spec;
        if (!nb_suite_is_measured(r, i)) continue;
        NB_TRY(ctx, nb_whole_path(s->inputs[i].path, &whole, ctx));
        NB_NEED(path, nb_quoted(whole, ctx));
        NB_NEED(spec,
                nb_format(ctx, "heads(file=%s, causal=%s)", path, s->tracks[model->track].causal ? "true" : "false"));
        fputs("      - ", out);
        NB_TRY(ctx, print_quoted(out, spec));
    }
    fputs("    attentions:\n", out);
    NB_TRY(ctx, print_settings(out, r->baselines[m], &printed, ctx));
    return print_settings(out, r->settings[m], &printed, ctx);
}

static nb_status print_experiment(FILE *out, const void *what, nb_ctx *ctx)
{
    const nb_suite_result *r = what;
    fprintf(out,
            "# Suite %s, %s form, of one method; nysbench suite has chosen the sizes and reads the rows.\n"
            "question: What is its error at the same multiplications as the baseline?\n"
            "study: forward\nseed: %d\ntimed: false\ntrials: %d\nplots: []\nblocks:\n",
            r->suite->version, r->suite->form, NB_DEFAULT_SEED, TRIALS);
    for (int m = 0; m < r->suite->model_count; m++) NB_TRY(ctx, print_model(out, r, m, ctx));
    return NB_OK;
}

nb_status nb_suite_write_experiment(const nb_suite_result *r, const char *path, nb_ctx *ctx)
{
    return nb_write_file(path, print_experiment, r, ctx);
}
