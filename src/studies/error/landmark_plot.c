/* SPDX-License-Identifier: GPL-3.0-or-later */
/* landmark_plot.c - repeats the run as far as the landmarks of one head, and shows their places: along the sequence,
 * and in the plane of the first two principal components. */

#include "base/files.h"
#include "studies/error/runner.h"
#include "linalg/linalg.h"
#include "show/figure.h"
#include "config/labels.h"
#include "rows/open.h"
#include "rows/relation.h"
#include "rows/run_facts.h"
#include "show/scripts.h"
#include "show/query.h"
#include "run/run_folder.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct { /* one way to pick */
    const nb_error_method *method;
    nb_landmarks landmarks;
    const char *name;
    int look;         /* the number of its colour, from 1 */
    const char *none; /* why there are no landmarks; NULL: there are */
    bool same;        /* queries and keys have the same */
    const char *gaps; /* a remark on the places along the sequence */
} lane;

typedef struct {
    const nb_plan *plan;
    const nb_planned_scene *planned;
    const nb_landmark_view *view;
    nb_scene *scene;
    const nb_grid *variants; /* STRATEGY ... LOOK */
    int m, lane_count;
    lane *lanes;
    int *shared[2];      /* n: how many lanes have the token as a query, as a key landmark */
    double *axes;        /* d x 2 */
    double *mean;        /* d */
    double explained[2]; /* fractions of the variance */
    const char *output;
} picture;

static const nb_picks *picks_of(const lane *l, int side)
{
    return side == 0 ? &l->landmarks.queries : &l->landmarks.keys;
}

static bool same_picks(const nb_landmarks *l)
{
    const nb_picks *q = &l->queries, *k = &l->keys;
    if (q->kind == NB_TOKENS) return memcmp(q->tokens, k->tokens, (size_t)q->m * sizeof(int)) == 0;
    return q->kind == NB_GROUPS && memcmp(q->groups, k->groups, (size_t)q->n * sizeof(int)) == 0;
}

/* Finds where landmark j lies along the sequence: at its token, or the mean of its group's; first and last are the ends
 * of a group without a hole, else the mean itself. */
static void place(const nb_picks *p, int j, double *at, double *first, double *last)
{
    int lowest = p->n, highest = -1, count = 0;
    double sum = 0;
    if (p->kind == NB_TOKENS) {
        *at = *first = *last = p->tokens[j];
        return;
    }
    for (int i = 0; i < p->n; i++) {
        if (p->groups[i] != j) continue;
        lowest = i < lowest ? i : lowest;
        highest = i;
        sum += i;
        count++;
    }
    bool whole = highest - lowest + 1 == count;
    *at = sum / count;
    *first = whole ? lowest : *at;
    *last = whole ? highest : *at;
}

/* The median and the largest of the gaps between neighbours along the sequence. */
static nb_status gaps(const nb_picks *p, const char **text, nb_ctx *ctx)
{
    double *at, *gap, first, last;
    size_t m = (size_t)p->m;
    NB_NEED(*text, nb_format(ctx, "-"));
    if (p->kind == NB_POINTS || p->m < 2) return NB_OK;
    NB_NEED(at, nb_alloc_reals(ctx, m, 1));
    NB_NEED(gap, nb_alloc_reals(ctx, m, 1));
    for (int j = 0; j < p->m; j++) place(p, j, &at[j], &first, &last);
    gsl_sort(at, 1, m);
    for (size_t j = 0; j + 1 < m; j++) gap[j] = at[j + 1] - at[j];
    gsl_sort(gap, 1, m - 1);
    NB_NEED(*text, nb_format(ctx, "%.3g, %.3g", gsl_stats_median_from_sorted_data(gap, 1, m - 1), gap[m - 2]));
    return NB_OK;
}

static nb_status describe(lane *l, nb_ctx *ctx)
{
    const char *queries, *keys;
    if (l->none) {
        l->gaps = "";
        return NB_OK;
    }
    l->same = same_picks(&l->landmarks);
    NB_TRY(ctx, gaps(&l->landmarks.queries, &queries, ctx));
    NB_TRY(ctx, gaps(&l->landmarks.keys, &keys, ctx));
    if (l->landmarks.queries.kind == NB_POINTS) l->none = "free points, which have no place in the sequence";
    l->gaps = queries;
    if (!l->same && !l->none) NB_NEED(l->gaps, nb_format(ctx, "%s | %s", queries, keys));
    return NB_OK;
}

enum { STRATEGY, PAIRING, NAME, USUAL, LOOK };

/* Returns the number of the variant with this pairing or, where there is none, as under kernels of one set of points,
 * with any; -1: there is none. */
static int find_variant(const nb_grid *variants, const char *strategy, const char *pairing)
{
    int found = -1;
    for (int v = 0; v < variants->count; v++) {
        const nb_cell *cells = nb_grid_at(variants, v, 0);
        if (strcmp(cells[STRATEGY].text, strategy) != 0) continue;
        if (cells[PAIRING].type == NB_CELL_TEXT && strcmp(cells[PAIRING].text, pairing) == 0) return v;
        if (found < 0) found = v;
    }
    return found;
}

static bool is_new(const picture *p, const nb_error_method *method)
{
    for (int i = 0; i < p->lane_count; i++)
        if (nb_error_same_strategy(p->lanes[i].method, method)) return false;
    return method->m == p->m;
}

static nb_status name(const picture *p, lane *l, nb_ctx *ctx)
{
    const char *pairing = nb_pairing_names[l->method->pairing];
    int v = find_variant(p->variants, l->method->strategy->canonical, pairing);
    NB_REQUIRE(ctx, v >= 0, NB_EBUG, "%s has no rows", l->method->strategy->label);
    const nb_cell *usual = nb_grid_at(p->variants, v, USUAL);
    bool other = usual->type == NB_CELL_TEXT && strcmp(usual->text, pairing) != 0;
    for (int c = 0; c < p->plan->method_count; c++)
        other |= nb_error_methods(p->plan)[c].strategy == l->method->strategy &&
                 nb_error_methods(p->plan)[c].pairing != l->method->pairing;
    l->name = nb_grid_at(p->variants, v, NAME)->text;
    l->look = 1 + (int)nb_grid_at(p->variants, v, LOOK)->integer;
    if (nb_strategy_traits(l->method->strategy) & NB_ORACLE)
        NB_NEED(l->name, nb_format(ctx, "%s" NB_ORACLE_MARK, l->name));
    if (other) NB_NEED(l->name, nb_format(ctx, "%s, %s", l->name, pairing));
    return NB_OK;
}

/* A strategy that fails has an empty lane that says why. */
static nb_status pick_lane(picture *p, const nb_error_method *method, gsl_rng *rng, nb_ctx *ctx)
{
    lane *l = &p->lanes[p->lane_count];
    *l = (lane){.method = method};
    int planned = (int)(p->planned - p->plan->scenes);
    nb_status status = nb_run_pick(p->plan, planned, p->scene, p->view->trial, method, rng, &l->landmarks, ctx);
    if (status == NB_ENOMEM) return status;
    l->none = l->landmarks.refusal;
    if (status != NB_OK) {
        NB_NEED(l->none, nb_strdup(ctx, nb_error_message(ctx)));
        nb_error_clear(ctx);
    }
    NB_TRY(ctx, name(p, l, ctx));
    p->lane_count++;
    return describe(l, ctx);
}

static nb_status pick_all(picture *p, gsl_rng *rng, nb_ctx *ctx)
{
    NB_NEED(p->lanes, nb_alloc(ctx, (size_t)p->plan->method_count, sizeof *p->lanes));
    for (int c = 0; c < p->plan->method_count; c++)
        if (is_new(p, &nb_error_methods(p->plan)[c]))
            NB_TRY(ctx, pick_lane(p, &nb_error_methods(p->plan)[c], rng, ctx));
    for (int side = 0; side < 2; side++) {
        NB_NEED(p->shared[side], nb_alloc(ctx, (size_t)p->planned->n, sizeof(int)));
        for (int i = 0; i < p->lane_count; i++) {
            const nb_picks *picks = picks_of(&p->lanes[i], side);
            for (int j = 0; j < picks->m && picks->kind == NB_TOKENS; j++) p->shared[side][picks->tokens[j]]++;
        }
    }
    return NB_OK;
}

static const double *points_of(const picture *p)
{
    return p->view->queries ? nb_scene_head(p->scene)->q : nb_scene_head(p->scene)->k;
}

/* The two directions of largest variance of the points, from the SVD of what is left
 * without their mean; a head of one dimension has one. */
static nb_status principal_components(picture *p, nb_ctx *ctx)
{
    size_t n = (size_t)p->planned->n, d = (size_t)p->planned->d, r = n < d ? n : d;
    const double *x = points_of(p);
    double *centred, *u, *s, *vt, sum = 0;
    NB_NEED(p->mean, nb_alloc_reals(ctx, d, 1));
    NB_NEED(p->axes, nb_alloc_reals(ctx, d, 2));
    NB_NEED(centred, nb_alloc_reals(ctx, d, n));
    NB_NEED(u, nb_alloc_reals(ctx, d, r));
    NB_NEED(s, nb_alloc_reals(ctx, r, 1));
    NB_NEED(vt, nb_alloc_reals(ctx, r, n));
    for (size_t i = 0; i < n * d; i++) p->mean[i % d] += x[i] / (double)n;
    for (size_t i = 0; i < n * d; i++) centred[i] = x[i] - p->mean[i % d];
    NB_TRY(ctx, nb_svd((int)d, (int)n, centred, u, s, vt, ctx));
    memcpy(p->axes, u, d * (r < 2 ? r : 2) * sizeof *u);
    for (size_t i = 0; i < r; i++) sum += s[i] * s[i];
    for (size_t i = 0; i < 2 && i < r && sum > 0; i++) p->explained[i] = s[i] * s[i] / sum;
    return NB_OK;
}

static void print_projections(FILE *out, const picture *p, int number, int count, const double *x)
{
    int d = p->planned->d;
    for (int i = 0; i < count; i++) {
        double at[2] = {0, 0};
        for (int a = 0; a < 2; a++)
            for (int l = 0; l < d; l++) at[a] += p->axes[a * d + l] * (x[i * d + l] - p->mean[l]);
        fprintf(out, "%d,%.9g,%.9g\n", number, at[0], at[1]);
    }
}

/* lane (0: the tokens), then the coordinates. */
static nb_status print_plane(FILE *out, const void *what, nb_ctx *ctx)
{
    const picture *p = what;
    const double *x = points_of(p);
    double *landmarks;
    NB_NEED(landmarks, nb_alloc_reals(ctx, (size_t)p->planned->d, (size_t)p->m));
    fputs("lane,x,y\n", out);
    print_projections(out, p, 0, p->planned->n, x);
    for (int i = 0; i < p->lane_count; i++) {
        const nb_picks *picks = picks_of(&p->lanes[i], p->view->queries ? 0 : 1);
        if (picks->kind == NB_NO_PICKS) continue;
        NB_TRY(ctx, nb_picks_landmarks(picks, p->planned->d, p->planned->n, x, landmarks, ctx));
        print_projections(out, p, i + 1, p->m, landmarks);
    }
    return NB_OK;
}

enum { BOTH, QUERIES, KEYS }; /* the half of a lane */

static void print_half(FILE *out, const picture *p, int number, int half)
{
    const nb_picks *picks = picks_of(&p->lanes[number - 1], half == KEYS);
    for (int j = 0; j < picks->m && picks->kind != NB_POINTS; j++) {
        double at, first, last;
        place(picks, j, &at, &first, &last);
        int token = picks->kind == NB_TOKENS ? picks->tokens[j] : -1, others = 0;
        if (token >= 0)
            others = half == BOTH && p->shared[0][token] > p->shared[1][token] ? p->shared[0][token]
                                                                               : p->shared[half != QUERIES][token];
        fprintf(out, "%d,%d,%d,%.9g,%.9g,%.9g,%d\n", number, half, picks->kind == NB_TOKENS, at, first, last, others);
    }
}

/* Lane 0 has the tokens that several strategies have. */
static nb_status print_lanes(FILE *out, const void *what, nb_ctx *ctx)
{
    const picture *p = what;
    (void)ctx;
    fputs("lane,half,token,place,first,last,strategies\n", out);
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < p->planned->n; i++)
            if (p->shared[side][i] > 1)
                fprintf(out, "0,%d,1,%d,%d,%d,%d\n", side ? KEYS : QUERIES, i, i, i, p->shared[side][i]);
    for (int i = 0; i < p->lane_count; i++)
        for (int half = p->lanes[i].same ? BOTH : QUERIES; half <= (p->lanes[i].same ? BOTH : KEYS); half++)
            print_half(out, p, i + 1, half);
    return NB_OK;
}

/* Prints what the key of each token receives: the mean over the queries of its column of S. */
static nb_status print_received(FILE *out, const void *what, nb_ctx *ctx)
{
    const picture *p = what;
    const double *rows, *columns;
    NB_TRY(ctx, nb_scene_sums(p->scene, &rows, &columns, ctx));
    fputs("token,received\n", out);
    for (int i = 0; i < p->planned->n; i++) fprintf(out, "%d,%.9g\n", i, columns[i] / p->planned->n);
    return NB_OK;
}

static nb_status print_driver(FILE *out, const void *what, nb_ctx *ctx)
{
    const picture *p = what;
    const char *title;
    NB_NEED(title, nb_format(ctx, "%s: %s, head %d, trial %d, m = %d", p->plan->config->name,
                             p->planned->problem->label, p->planned->head, p->view->trial, p->m));
    nb_plot_print_head(out, p->output);
    fprintf(out, "n = %d\nside = \"%s\"\nexplained_1 = %.4f\nexplained_2 = %.4f\n", p->planned->n,
            p->view->queries ? "queries" : "keys", p->explained[0], p->explained[1]);
    nb_plot_set_text(out, "title", title);
    nb_plot_set_texts(out, "lanes", p->lane_count, &p->lanes->name, sizeof *p->lanes);
    nb_plot_set_texts(out, "gaps", p->lane_count, &p->lanes->gaps, sizeof *p->lanes);
    nb_plot_set_texts(out, "none", p->lane_count, &p->lanes->none, sizeof *p->lanes);
    nb_plot_set_ints(out, "looks", p->lane_count, &p->lanes->look, sizeof *p->lanes);
    fputs("load \"landmarks.gp\"\n", out);
    return NB_OK;
}

static nb_status write_picture(const picture *p, const char *folder, nb_gnuplots *gnuplots, nb_ctx *ctx)
{
    static const struct {
        const char *ending;
        nb_status (*print)(FILE *out, const void *what, nb_ctx *ctx);
    } files[] = {{"_lanes.csv", print_lanes}, {"_plane.csv", print_plane}, {"_received.csv", print_received}};
    const char *path, *script;
    NB_TRY(ctx, nb_make_folder(folder, ctx));
    NB_TRY(ctx, nb_plot_copy_script(folder, "landmarks.gp", ctx));
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        NB_NEED(path, nb_format(ctx, "%s/%s%s", folder, p->output, files[i].ending));
        NB_TRY(ctx, nb_write_file(path, files[i].print, p, ctx));
    }
    NB_NEED(script, nb_format(ctx, "%s.gp", p->output));
    NB_TRY(ctx, nb_plot_print_script(folder, script, print_driver, p, ctx));
    return nb_plot_draw(gnuplots, folder, p->output, ctx);
}

/* The middle one of the run's that fit n tokens; 0: none does. */
static nb_status middle(const nb_relation *relation, int n, int *m, nb_ctx *ctx)
{
    nb_grid a;
    NB_TRY(ctx, nb_relation_sizes(relation, n, &a, ctx));
    *m = a.count ? (int)nb_grid_at(&a, a.count / 2, 0)->integer : 0;
    return NB_OK;
}

/* `shared`: what the pictures of all scenes share. */
static nb_status plot_scene(const picture *shared, int scene, const nb_drawing *d, int *figures, nb_ctx *ctx)
{
    const nb_plan *plan = shared->plan;
    picture p = *shared;
    p.planned = &plan->scenes[scene];
    gsl_rng *rng;
    nb_head head;
    if (p.m == 0) NB_TRY(ctx, middle(d->relation, p.planned->n, &p.m, ctx));
    if (p.m == 0 || p.m > p.planned->n) return NB_OK;
    NB_TRY(ctx, nb_random_new(&rng, ctx));
    NB_TRY(ctx, nb_plan_head(plan, scene, p.view->trial, rng, &head, ctx));
    NB_TRY(ctx, nb_run_make_scene(plan, scene, &head, &p.scene, ctx));
    NB_TRY(ctx, pick_all(&p, rng, ctx));
    NB_TRY(ctx, principal_components(&p, ctx));
    NB_NEED(p.output, nb_plot_file_name(nb_format(ctx, "landmarks_%d_%s_head%d_m%d", *figures + 1,
                                                  p.planned->problem->label, p.planned->head, p.m)));
    NB_TRY(ctx, write_picture(&p, d->folder, d->gnuplots, ctx));
    ++*figures;
    return NB_OK;
}

nb_status nb_plot_landmarks(const char *run_folder, const nb_landmark_view *view, const char *folder,
                            nb_gnuplots *gnuplots, int *figures, nb_ctx *ctx)
{
    nb_config config;
    nb_plan plan;
    nb_store store;
    const nb_given_labels *labels;
    nb_grid variants;
    picture shared = {.plan = &plan, .variants = &variants, .view = view, .m = view->m};
    nb_drawing drawing = {.run = run_folder, .folder = folder, .gnuplots = gnuplots};
    *figures = 0;
    NB_TRY(ctx, nb_experiment_again(run_folder, view->programs, false, &config, &plan, ctx));
    NB_TRY(ctx, nb_run_open(run_folder, &store, &labels, ctx));
    NB_TRY(ctx, nb_relation_open(&drawing.relation, &store, labels, ctx));
    NB_TRY(ctx, nb_query_fill(drawing.relation, nb_sql_text("landmark_plot.variants"), &variants, ctx));
    if (shared.m != 0) NB_TRY(ctx, nb_figure_choose_m(drawing.relation, &shared.m, ctx));
    NB_REQUIRE(ctx, view->trial < config.trials, NB_EINVAL, "trial %d: the run has the trials 0 to %d", view->trial,
               config.trials - 1);
    for (int i = 0; i < plan.scene_count; i++) {
        const nb_planned_scene *s = &plan.scenes[i];
        bool first = i == 0 || s[-1].problem != s->problem || s[-1].value[NB_ERROR_KERNEL] != s->value[NB_ERROR_KERNEL];
        if (view->head < 0 ? !first : s->head != view->head) continue;
        nb_mark mark = nb_ctx_mark(ctx);
        nb_status status = plot_scene(&shared, i, &drawing, figures, ctx);
        nb_ctx_release(ctx, mark);
        NB_TRY(ctx, status);
    }
    NB_REQUIRE(ctx, *figures > 0, NB_EINVAL,
               "the run has nothing to draw: no problem has head %d, or all have fewer tokens than landmarks",
               view->head);
    return NB_OK;
}
