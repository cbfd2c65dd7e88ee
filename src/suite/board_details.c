/* SPDX-License-Identifier: GPL-3.0-or-later */
/* board_details.c - what an entry of a board unfolds to: its models, damage, times, references and errors by layer. */
#include "suite/board.h"

#include "base/builder.h"
#include "base/mistakes.h"

#include <math.h>
#include <string.h>

/* The value of the size in an attention as it is written; "": it is not there. */
static const char *size_in(const nb_suite_method *m, const char *attention, nb_ctx *ctx)
{
    nb_mistakes mistakes = {.ctx = ctx};
    nb_spec *spec;
    if (!m->size || !attention) return "";
    if (nb_spec_parse(attention, (nb_place){.source = NULL}, &spec, &mistakes, ctx) != NB_OK || !spec) return "";
    for (int i = 0; i < spec->count; i++)
        if (strcmp(spec->arguments[i].key, m->size) == 0 && spec->arguments[i].value.text)
            return spec->arguments[i].value.text;
    return "";
}

static nb_status add_setting(nb_page *page, const nb_board_entry *e, int model, int k, const nb_estimate *number,
                             const nb_estimate *error, nb_ctx *ctx)
{
    const nb_suite_setting *setting = &e->result->settings[model][k];
    nb_page_row(page);
    nb_page_cell(page, "%s", e->result->suite->models[model].name);
    nb_page_cell(page, "1/%d", nb_suite_parts[k]);
    nb_page_number(page, "%.2f", number->mean);
    nb_page_cell(page, "[%.2f, %.2f]", number->low, number->high);
    nb_page_number(page, "%.3g", exp2(error->mean));
    if (e->result->method.size) nb_page_cell(page, "%s", size_in(&e->result->method, setting->text, ctx));
    if (setting->text)
        nb_page_number(page, "%.3g", setting->multiplications / 1e6);
    else
        nb_page_cell(page, "refused");
    nb_page_number(page, "%.0f", setting->bytes / 1024);
    if (!e->result->timing) return NB_OK;
    const nb_suite_timing *timing = &e->result->timing[model];
    nb_page_number(page, "%.3g", 1e3 * timing->times[k].seconds);
    nb_page_number(page, "%.3g", 1e3 * timing->exact_s);
    return NB_OK;
}

static nb_status add_models(nb_page *page, const nb_board_entry *e, int track, nb_ctx *ctx)
{
    const nb_suite *s = e->result->suite;
    nb_estimate *numbers, *errors;
    NB_NEED(numbers, nb_alloc(ctx, (size_t)s->model_count + 1, sizeof *numbers));
    NB_NEED(errors, nb_alloc(ctx, (size_t)s->model_count + 1, sizeof *errors));
    nb_page_table(page);
    nb_page_column(page, NB_PAGE_WORD | NB_PAGE_LABEL, "model");
    nb_page_column(page, NB_PAGE_WORD | NB_PAGE_LABEL, "share");
    nb_page_column(page, NB_PAGE_NUMBER, "number");
    nb_page_column(page, NB_PAGE_WORD, "interval");
    nb_page_column(page, NB_PAGE_NUMBER, "error");
    if (e->result->method.size) nb_page_column(page, NB_PAGE_NUMBER, "%s", e->result->method.size);
    nb_page_column(page, NB_PAGE_NUMBER, "10^6 multiplications");
    nb_page_column(page, NB_PAGE_NUMBER, "KiB held");
    if (e->result->timing) nb_page_column(page, NB_PAGE_NUMBER, "ms");
    if (e->result->timing) nb_page_column(page, NB_PAGE_NUMBER, "exact ms");
    for (int m = 0; m < s->model_count; m++)
        for (int k = 0; k < NB_SUITE_SHARES && s->models[m].track == track; k++) {
            NB_TRY(ctx, nb_suite_estimates(e->result, track, NB_SUITE_NUMBER, k, numbers, ctx));
            NB_TRY(ctx, nb_suite_estimates(e->result, track, NB_SUITE_ERROR, k, errors, ctx));
            NB_TRY(ctx, add_setting(page, e, m, k, &numbers[m], &errors[m], ctx));
        }
    return NB_OK;
}

/* A model with more inputs has a line for each layer instead. */
enum { MOST_INPUTS = 24 };

static void add_input(nb_page *page, const nb_board_entry *e, int i)
{
    const nb_suite_input *input = &e->result->suite->inputs[i];
    nb_page_row(page);
    nb_page_cell(page, "%s", e->result->suite->models[input->model].name);
    nb_page_number(page, "%.0f", input->layer);
    nb_page_cell(page, "%s", input->source);
    for (int k = 0; k < NB_SUITE_SHARES; k++) {
        const nb_suite_outcome *o = &e->result->outcomes[i][k];
        nb_page_number(page, "%.3g", o->error);
        if (o->refused) nb_page_mark(page, "*");
    }
}

/* Geometric means over sources; marked if the method is refused on one. */
static void add_layer(nb_page *page, const nb_board_entry *e, const nb_suite_model *model, int layer)
{
    const nb_suite *s = e->result->suite;
    double logs[NB_SUITE_SHARES] = {0};
    bool refused[NB_SUITE_SHARES] = {false};
    int count = 0;
    for (int i = model->first; i < model->first + model->count; i++) {
        if (s->inputs[i].layer != layer) continue;
        count++;
        for (int k = 0; k < NB_SUITE_SHARES; k++) {
            logs[k] += log(e->result->outcomes[i][k].error);
            refused[k] = refused[k] || e->result->outcomes[i][k].refused;
        }
    }
    if (count == 0) return;
    nb_page_row(page);
    nb_page_cell(page, "%s", model->name);
    nb_page_number(page, "%.0f", layer);
    nb_page_cell(page, "%d sources", count);
    for (int k = 0; k < NB_SUITE_SHARES; k++) {
        nb_page_number(page, "%.3g", exp(logs[k] / count));
        if (refused[k]) nb_page_mark(page, "*");
    }
}

static void add_inputs(nb_page *page, const nb_board_entry *e, int track)
{
    const nb_suite *s = e->result->suite;
    nb_page_heading(page, NB_PAGE_FOLDED, "Errors by layer and source");
    nb_page_table(page);
    nb_page_column(page, NB_PAGE_WORD | NB_PAGE_LABEL, "model");
    nb_page_column(page, NB_PAGE_NUMBER | NB_PAGE_LABEL, "layer");
    nb_page_column(page, NB_PAGE_WORD | NB_PAGE_LABEL, "source");
    for (int k = 0; k < NB_SUITE_SHARES; k++) nb_page_column(page, NB_PAGE_NUMBER, "at 1/%d", nb_suite_parts[k]);
    for (int m = 0; m < s->model_count; m++) {
        const nb_suite_model *model = &s->models[m];
        int last = 0;
        if (model->track != track) continue;
        for (int i = model->first; i < model->first + model->count; i++) {
            last = s->inputs[i].layer > last ? s->inputs[i].layer : last;
            if (model->count <= MOST_INPUTS) add_input(page, e, i);
        }
        for (int layer = 0; layer <= last && model->count > MOST_INPUTS; layer++) add_layer(page, e, model, layer);
    }
}

static nb_status add_damage(nb_page *page, const nb_board_entry *e, int track, nb_ctx *ctx)
{
    const nb_suite *s = e->result->suite;
    const nb_suite_damaged *d = s->tracks[track].damaged;
    nb_string sources = NB_NO_TEXT;
    if (!d || !e->result->damage) return NB_OK;
    const char *model = s->models[d->model].name;
    const nb_suite_damage *own = &e->result->damage[track];
    if (own->refused)
        nb_page_paragraph(page, "Damage to %s at 1/%d: none is known, since: %s.", model, nb_suite_parts[d->share],
                          own->refused);
    if (!own->values) return NB_OK;
    for (int i = 0; i < d->count; i++)
        NB_TRY(ctx, nb_append_item(&sources, ", ", ctx, "%.3g on %s", own->values[i], d->sources[i]));
    nb_page_paragraph(page, "Damage to %s at 1/%d: %.3g, interval [%.3g, %.3g]; %s.", model, nb_suite_parts[d->share],
                      e->damage.mean, e->damage.low, e->damage.high, sources.text);
    return NB_OK;
}

/* The times of a method that has no number. */
static void add_times(nb_page *page, const nb_board_entry *e, int track)
{
    const nb_suite *s = e->result->suite;
    nb_page_table(page);
    nb_page_column(page, NB_PAGE_WORD | NB_PAGE_LABEL, "model");
    nb_page_column(page, NB_PAGE_NUMBER, "ms");
    nb_page_column(page, NB_PAGE_NUMBER, "exact ms");
    nb_page_column(page, NB_PAGE_NUMBER, "error");
    for (int m = 0; m < s->model_count; m++) {
        const nb_suite_timing *timing = &e->result->timing[m];
        if (s->models[m].track != track) continue;
        nb_page_row(page);
        nb_page_cell(page, "%s", s->models[m].name);
        nb_page_number(page, "%.3g", 1e3 * timing->times[0].seconds);
        nb_page_number(page, "%.3g", 1e3 * timing->exact_s);
        nb_page_number(page, "%.3g", timing->times[0].error);
    }
}

nb_status nb_board_make_details(nb_page *page, const nb_board_entry *e, int track, nb_ctx *ctx)
{
    const nb_suite_method *m = &e->result->method;
    nb_page_make(page, ctx);
    if (strcmp(m->spec, m->label) != 0) nb_page_paragraph(page, "It is %s.", m->spec);
    if (m->sizes)
        nb_page_paragraph(page, "Nobody has counted its multiplications: %s.",
                          e->counted ? "its author tells them" : "it has times, and no number");
    if (e->counted) {
        nb_suite_add_refusals(page, e->result, track);
        NB_TRY(ctx, add_models(page, e, track, ctx));
        NB_TRY(ctx, add_damage(page, e, track, ctx));
    } else
        add_times(page, e, track);
    nb_page_paragraph(page, "References:");
    for (int i = 0; m->references[i]; i++) nb_page_item(page, "%s", m->references[i]);
    if (e->counted) add_inputs(page, e, track);
    return page->status;
}
