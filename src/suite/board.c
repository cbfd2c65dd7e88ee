/* SPDX-License-Identifier: GPL-3.0-or-later */
/* board.c - see board.h */
#include "suite/board.h"

#include "show/html.h"
#include "show/write_html.h"

#include <math.h>
#include <string.h>

static int by_number(const void *a, const void *b)
{
    const nb_board_entry *x = a, *y = b;
    if (x->counted != y->counted) return x->counted ? -1 : 1;
    if (x->counted && x->number.mean != y->number.mean) return x->number.mean > y->number.mean ? -1 : 1;
    return strcmp(x->result->method.label, y->result->method.label);
}

/* At each share, over all models. */
static nb_status find_curve(const nb_suite_result *r, int track, nb_suite_value what, nb_estimate to[NB_SUITE_SHARES],
                            nb_ctx *ctx)
{
    nb_estimate *all;
    nb_mark mark = nb_ctx_mark(ctx);
    NB_NEED(all, nb_alloc(ctx, (size_t)r->suite->model_count + 1, sizeof *all));
    for (int k = 0; k < NB_SUITE_SHARES; k++) {
        NB_TRY(ctx, nb_suite_estimates(r, track, what, k, all, ctx));
        to[k] = all[r->suite->model_count];
    }
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

static nb_status make_entry(const nb_suite_result *r, int track, nb_board_entry *e, nb_ctx *ctx)
{
    *e = (nb_board_entry){.result = r, .counted = !r->absent[track]};
    e->time = nb_suite_time_ratio(r, track, NB_SUITE_TIMED);
    NB_TRY(ctx, nb_suite_damage_estimate(r, track, &e->damage, ctx));
    if (!e->counted) return NB_OK;
    NB_TRY(ctx, nb_suite_estimate(r, track, -1, &e->number, ctx));
    NB_TRY(ctx, nb_suite_nine_in_ten(r, track, &e->nine_in_ten, ctx));
    NB_TRY(ctx, find_curve(r, track, NB_SUITE_NUMBER, e->shares, ctx));
    return find_curve(r, track, NB_SUITE_ERROR, e->errors, ctx);
}

static bool is_entry(const nb_suite_result *r, int track)
{
    return !r->absent[track] || nb_suite_is_timed(r, track);
}

/* The device of all times of a track. */
static const char *find_device(const nb_board_track *t, int track)
{
    const char *device = NULL;
    for (int i = 0; i < t->count; i++) {
        const nb_suite_result *r = t->entries[i].result;
        if (!nb_suite_is_timed(r, track)) continue;
        if (device && strcmp(device, r->device) != 0) return NULL;
        device = r->device;
    }
    return device;
}

static nb_status make_track(nb_board *b, int track, nb_ctx *ctx)
{
    nb_board_track *t = &b->tracks[track];
    NB_NEED(t->entries, nb_alloc(ctx, (size_t)b->count + 1, sizeof *t->entries));
    for (int i = 0; i < b->count; i++) {
        if (!is_entry(&b->results[i], track)) continue;
        NB_TRY(ctx, make_entry(&b->results[i], track, &t->entries[t->count], ctx));
        t->counted += t->entries[t->count++].counted;
    }
    t->device = find_device(t, track);
    if (t->counted == 0) return NB_OK;
    qsort(t->entries, (size_t)t->count, sizeof *t->entries, by_number);
    return find_curve(t->entries[0].result, track, NB_SUITE_BASELINE, t->baseline, ctx);
}

nb_status nb_board_make(const nb_suite *suite, int count, const nb_suite_result *results, const char *const *paths,
                        nb_board *b, nb_ctx *ctx)
{
    *b = (nb_board){.suite = suite, .count = count, .results = results};
    for (int i = 0; i < count; i++)
        for (int k = 0; k < i; k++)
            NB_REQUIRE(ctx, strcmp(results[i].method.text, results[k].method.text) != 0, NB_EINVAL,
                       "%s: it is of %s, and so is %s: a method has one place", paths[i], results[i].method.text,
                       paths[k]);
    NB_NEED(b->tracks, nb_alloc(ctx, (size_t)suite->track_count, sizeof *b->tracks));
    for (int t = 0; t < suite->track_count; t++) NB_TRY(ctx, make_track(b, t, ctx));
    return NB_OK;
}

/* A choice of a filter: what rows of methods have, its text in the list of choices, and what the details say. */
typedef struct {
    const char *value, *filter, *told;
} filter_choice;

static const filter_choice linears[] = {{"yes", "linear in n", "cost linear in n"},
                                        {"no", "more than linear", "cost more than linear in n"},
                                        {"unknown", "not known", "growth of its cost not known"},
                                        {NULL, NULL, NULL}};
static const filter_choice trainings[] = {{"no", "none", "needs no training"},
                                          {"yes", "made for trained weights", "made for weights trained with it"},
                                          {NULL, NULL, NULL}};
static const filter_choice sights[] = {{"earlier", "earlier ones do", "needs no later tokens"},
                                       {"all", "all at once", "needs all tokens at once"},
                                       {NULL, NULL, NULL}};

static const filter_choice *linear_of(const nb_suite_method *m)
{
    return &linears[m->linear == 1 ? 0 : m->linear == 0 ? 1 : 2];
}

static const filter_choice *training_of(const nb_suite_method *m)
{
    return &trainings[(m->traits & NB_ATTENTION_UNTRAINED) != 0];
}

static const filter_choice *sight_of(const nb_suite_method *m)
{
    return &sights[!nb_suite_needs_earlier_alone(m)];
}

static void print_choice(FILE *out, const char *name, const char *label, const char *all, const filter_choice *choices)
{
    fprintf(out, "<label>%s<select name=\"%s\"><option value=\"\">%s</option>", label, name, all);
    for (; choices->value; choices++) fprintf(out, "<option value=\"%s\">%s</option>", choices->value, choices->filter);
    fputs("</select></label>\n", out);
}

/* Without scripts they do nothing, and are not shown. */
static void print_filters(FILE *out, const nb_board *b)
{
    fputs("<form class=\"filters\" aria-label=\"Filter the entries\" hidden>\n"
          "<label>Track<select name=\"track\"><option value=\"\">all</option>",
          out);
    for (int t = 0; t < b->suite->track_count; t++)
        fprintf(out, "<option value=\"%s\">%s</option>", b->suite->tracks[t].name, b->suite->tracks[t].name);
    fputs("</select></label>\n", out);
    print_choice(out, "linear", "Cost", "any", linears);
    print_choice(out, "trained", "Training", "any", trainings);
    print_choice(out, "sees", "Tokens it needs", "any", sights);
    fputs("<output></output>\n</form>\n", out);
}

static void print_head(FILE *out, const char *kind, const char *first, const char *text)
{
    fprintf(out, "<th scope=\"col\" class=\"%s\"%s>%s</th>", kind, first, text);
}

static void print_small(FILE *out, const char *text)
{
    nb_html_print_text(out, " <small>", text, "</small>");
}

static void print_heads(FILE *out, const nb_board_track *t)
{
    const char *down = " data-first=\"descending\"";
    fputs("<colgroup><col><col class=\"number\"><col class=\"interval\"><col class=\"picture\">", out);
    for (int k = 0; k < 3 + NB_SUITE_SHARES; k++) fputs("<col class=\"minor\">", out);
    fputs("</colgroup>\n<thead>\n<tr>", out);
    print_head(out, "", "", "Method");
    fputs("<th scope=\"col\" class=\"number\" data-first=\"descending\" aria-sort=\"descending\">Number</th>", out);
    print_head(out, "interval", "", "95 % interval");
    fputs("<td class=\"picture\"></td>", out);
    print_head(out, "number minor", down, "9 in 10");
    for (int k = 0; k < NB_SUITE_SHARES; k++) {
        char text[16];
        snprintf(text, sizeof text, "at 1/%d", nb_suite_parts[k]);
        print_head(out, "number minor", down, text);
    }
    print_head(out, "number minor", "", "Damage");
    fputs("<th scope=\"col\" class=\"number minor\">Time", out);
    if (t->device) print_small(out, t->device);
    fputs("</th></tr>\n</thead>\n", out);
}

static void print_warning(FILE *out, const char *text)
{
    fprintf(out, " <span class=\"warning\">%s</span>", text);
}

/* Damage and time; a device that is not that of all stands beside the time. */
static void print_blocks(FILE *out, const nb_board_track *t, int track, const nb_board_entry *e)
{
    fputs("<td class=\"number minor\">", out);
    fprintf(out, isfinite(e->damage.mean) ? "%.2f" : "-", e->damage.mean);
    fputs("</td><td class=\"number minor\">", out);
    fprintf(out, isfinite(e->time) ? "%.2f" : "-", e->time);
    if (nb_suite_is_disturbed(e->result, track)) putc('*', out);
    if (isfinite(e->time) && !t->device) print_small(out, e->result->device);
    fputs("</td></tr>\n", out);
}

static void print_numbers(FILE *out, const nb_board_track *t, const nb_board_entry *e)
{
    fprintf(out, "<td class=\"number worth\">%.2f</td><td>[%.2f, %.2f]</td><td class=\"picture\">", e->number.mean,
            e->number.low, e->number.high);
    nb_board_print_whisker(out, t, &e->number);
    fprintf(out, "</td><td class=\"number minor\">%.2f</td>", e->nine_in_ten);
    for (int k = 0; k < NB_SUITE_SHARES; k++) fprintf(out, "<td class=\"number minor\">%.2f</td>", e->shares[k].mean);
}

static void print_no_numbers(FILE *out)
{
    fputs("<td class=\"number worth\">-</td><td>-</td><td class=\"picture\"></td>", out);
    for (int k = 0; k < 1 + NB_SUITE_SHARES; k++) fputs("<td class=\"number minor\">-</td>", out);
}

static void print_row(FILE *out, const nb_board_track *t, int track, const nb_board_entry *e)
{
    const nb_suite_method *m = &e->result->method;
    fputs("<tr><th scope=\"row\">", out);
    nb_html_print_method(out, m->label);
    if (m->tuned && strcmp(m->tuned, "test") == 0) print_warning(out, "tuned on test sources");
    if (m->sizes) print_warning(out, "cost not counted");
    if (m->traits & NB_ATTENTION_ORACLE) print_warning(out, "reads exact outputs");
    fputs("</th>", out);
    if (e->counted)
        print_numbers(out, t, e);
    else
        print_no_numbers(out);
    print_blocks(out, t, track, e);
}

static void print_summary(FILE *out, const nb_suite_method *m)
{
    bool linear = m->declared & NB_SUITE_SAYS_LINEAR, trained = m->declared & NB_SUITE_SAYS_TRAINED;
    fprintf(out, "%s%s; %s%s; %s; ", linear_of(m)->told, linear ? " (its author says)" : "", training_of(m)->told,
            trained ? " (its author says)" : "", sight_of(m)->told);
    if (!m->tuned)
        fputs("tuning not said", out);
    else if (strcmp(m->tuned, "none") == 0)
        fputs("not tuned", out);
    else
        fprintf(out, "tuned on %s sources", m->tuned);
}

static nb_status print_entry(FILE *out, const nb_board *b, int track, int place, nb_html_state *state, nb_ctx *ctx)
{
    const nb_board_track *t = &b->tracks[track];
    const nb_board_entry *e = &t->entries[place];
    const nb_suite_method *m = &e->result->method;
    nb_page page;
    nb_mark mark = nb_ctx_mark(ctx);
    fprintf(out, "<tbody id=\"%s-%d\" data-linear=\"%s\" data-trained=\"%s\" data-sees=\"%s\">\n",
            b->suite->tracks[track].name, place + 1, linear_of(m)->value, training_of(m)->value, sight_of(m)->value);
    print_row(out, t, track, e);
    fprintf(out, "<tr class=\"more\"><td colspan=\"%d\"><details><summary>", 7 + NB_SUITE_SHARES);
    print_summary(out, m);
    fputs("</summary>\n", out);
    NB_TRY(ctx, nb_board_make_details(&page, e, track, ctx));
    state->folded = false;
    NB_TRY(ctx, nb_page_write(&nb_page_html_writer, (nb_page_walk){.out = out, .page = &page, .own = state}));
    fputs("</details></td></tr>\n</tbody>\n", out);
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

static void print_absent(FILE *out, const nb_board *b, int track)
{
    int count = b->count - b->tracks[track].count;
    if (count == 0) return;
    fprintf(out, "<details><summary>%d method%s not among the %s, and why</summary>\n<ul>\n", count,
            count == 1 ? " is" : "s are", b->suite->tracks[track].name);
    for (int i = 0; i < b->count; i++) {
        if (is_entry(&b->results[i], track)) continue;
        nb_html_print_text(out, "<li>", b->results[i].method.label, ": ");
        nb_html_print_text(out, "", b->results[i].absent[track], "</li>\n");
    }
    fputs("</ul>\n</details>\n", out);
}

static nb_status print_track(FILE *out, const nb_board *b, int track, nb_html_state *state, nb_ctx *ctx)
{
    const nb_board_track *t = &b->tracks[track];
    const char *name = b->suite->tracks[track].name;
    fprintf(out, "<section class=\"track\" data-track=\"%s\" aria-labelledby=\"%s\">\n<h2 id=\"%s\">%c%s</h2>\n", name,
            name, name, name[0] - 'a' + 'A', name + 1);
    if (t->count == 0) {
        fputs("<p>No method is in this track.</p>\n", out);
    } else {
        if (t->counted > 0) nb_board_print_curves(out, b, track);
        fprintf(out,
                "<div class=\"table\" role=\"region\" tabindex=\"0\" aria-label=\"Methods for %s\">\n"
                "<table class=\"board buttons\">\n<caption>%d %s on %d sources, by their number. The baseline is ",
                name, t->count, t->count == 1 ? "method" : "methods", t->entries[0].number.sources);
        nb_html_print_text(out, "", b->suite->tracks[track].baseline, ".</caption>\n");
        print_heads(out, t);
        for (int i = 0; i < t->count; i++) NB_TRY(ctx, print_entry(out, b, track, i, state, ctx));
        fputs("</table>\n</div>\n", out);
    }
    print_absent(out, b, track);
    fputs("</section>\n", out);
    return NB_OK;
}

nb_status nb_board_print(FILE *out, const void *what, nb_ctx *ctx)
{
    static const char *const styles[] = {nb_asset_report_css, nb_asset_board_css, NULL}, *const scripts[] = {
                                                                                             nb_asset_report_js,
                                                                                             nb_asset_board_js, NULL};
    const nb_html_assets assets = {styles, scripts};
    const nb_board *b = what;
    nb_html_state state = {.anchors = NULL};
    const char *title;
    NB_NEED(title, nb_format(ctx, "Approximate attention: suite %s, %s form", b->suite->version, b->suite->form));
    nb_html_begin(out, title, &assets);
    nb_html_print_text(out, "<main>\n<h1>", title, "</h1>\n");
    fprintf(out,
            "<p>How much less error an attention has than a baseline that costs as much, for %d method%s. The "
            "number is the mean of log2(the baseline's error / the method's) at 1/4, 1/8, 1/16 and 1/32 of exact "
            "attention's multiplications: 0 is the baseline, 1 is half its error. Nine in ten heads have at least what "
            "stands under \"9 in 10\".</p>\n"
            "<p>Damage is what a model loses with the method in all layers at 1/8: the relative error of the encoder's "
            "output, or ln of the ratio of the decoder's perplexities; 0 is none. Time is that of a pass at 1/8 over "
            "that of exact attention; * where other programs used the CPU; -: not measured. Neither is in the number, "
            "nor is training. Where a method refuses a head, marked by "
            "*, the mean of V stands for its output. Methods whose intervals overlap may differ only by luck.</p>\n",
            b->count, b->count == 1 ? "" : "s");
    print_filters(out, b);
    for (int t = 0; t < b->suite->track_count; t++) NB_TRY(ctx, print_track(out, b, t, &state, ctx));
    fputs("</main>\n", out);
    nb_html_end(out, &assets);
    return NB_OK;
}
