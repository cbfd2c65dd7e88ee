/* SPDX-License-Identifier: GPL-3.0-or-later */
/* landmark_files.c - repeats the run as far as the landmarks. */

#include "base/files.h"
#include "data/tensor.h"
#include "studies/error/runner.h"
#include "nystrom/picks_file.h"
#include "show/cells.h"
#include "config/labels.h"
#include "run/run_folder.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    const nb_plan *plan;
    const nb_row_labels *labels;
    const char *out;    /* the folder */
    int *failed;        /* choices that could not be made */
    const char *folder; /* of the instance */
    int instance;
    FILE *index;
    gsl_rng *rng;
} writer;

/* x (d x count, a point a column) as (count, d), if there are any. */
static nb_status save_points(const char *folder, const char *name, int d, int count, const double *x, nb_ctx *ctx)
{
    const char *path;
    int64_t shape[2] = {count, d};
    if (!x) return NB_OK;
    NB_TRY(ctx, nb_run_path(folder, name, &path, ctx));
    return nb_npy_save_reals(path, 2, shape, x, ctx);
}

/* reason NULL: its landmarks are in files of that number; else it failed. */
static void print_line(const writer *w, int row_index, int number, const char *reason)
{
    const nb_planned_scene *scene = &w->plan->scenes[w->plan->rows[row_index].scene];
    nb_error_row row;
    nb_plan_row(w->plan, row_index, &row);
    fprintf(w->index, "%d,%d,", w->instance, scene->causal);
    nb_csv_print_text(w->index, row.problem);
    fprintf(w->index, ",%d,", row.head);
    nb_csv_print_text(w->index, row.kernel);
    fprintf(w->index, ",%d,", row.trial);
    nb_csv_print_text(w->index, row.strategy);
    fprintf(w->index, ",%d,%s,", row.landmarks, row.pairing);
    if (!reason) fprintf(w->index, "%d", number);
    fprintf(w->index, ",%s,", reason ? "failed" : "ok");
    nb_csv_print_text(w->index, reason);
    for (int c = w->labels->own; w->labels->columns[c].name; c++) {
        if (w->labels->columns[c].offset == offsetof(nb_error_row, core)) continue;
        fputc(',', w->index);
        nb_csv_print_text(w->index, nb_row_labels_at(w->labels, c, &row.row));
    }
    fputc('\n', w->index);
}

/* The same as those of the run's rows. */
static nb_status make_labels(const nb_plan *plan, const nb_given_labels *given, nb_row_labels *labels, nb_ctx *ctx)
{
    nb_row_list rows = {.columns = nb_error_columns, .row_size = sizeof(nb_error_row), .labels = given};
    NB_NEED(rows.bytes, nb_alloc(ctx, (size_t)plan->row_count + 1, rows.row_size));
    for (; rows.count < plan->row_count; rows.count++) nb_plan_row(plan, rows.count, nb_row_at(&rows, rows.count));
    return nb_row_labels_make(&rows, labels, ctx);
}

static nb_status save_picks(writer *w, int row_index, int number, nb_scene *scene, nb_ctx *ctx)
{
    const nb_planned_row *planned = &w->plan->rows[row_index];
    const nb_error_method *method = nb_error_method_of(w->plan, row_index);
    const nb_head *head = nb_scene_head(scene);
    const char *queries, *keys;
    nb_landmarks landmarks;
    if (method->m > head->n) return NB_OK;
    if (nb_run_pick(w->plan, planned->scene, scene, planned->trial, method, w->rng, &landmarks, ctx) != NB_OK) {
        print_line(w, row_index, 0, nb_error_message(ctx));
        nb_error_clear(ctx);
        ++*w->failed;
        return NB_OK;
    }
    if (landmarks.refusal) return NB_OK;
    NB_NEED(queries, nb_format(ctx, "%s/%d-queries.npy", w->folder, number));
    NB_NEED(keys, nb_format(ctx, "%s/%d-keys.npy", w->folder, number));
    NB_TRY(ctx, nb_picks_save(queries, &landmarks.queries, head->d, head->n, head->q, ctx));
    NB_TRY(ctx, nb_picks_save(keys, &landmarks.keys, head->d, head->n, head->k, ctx));
    print_line(w, row_index, number, NULL);
    return NB_OK;
}

static nb_status save_head(const char *folder, const nb_head *h, nb_ctx *ctx)
{
    NB_TRY(ctx, nb_make_folder(folder, ctx));
    NB_TRY(ctx, save_points(folder, "q.npy", h->d, h->n, h->q, ctx));
    NB_TRY(ctx, save_points(folder, "k.npy", h->d, h->n, h->k, ctx));
    return save_points(folder, "v.npy", h->dv, h->n, h->v, ctx);
}

/* Returns the next row whose landmarks are others. */
static int next_choice(const nb_plan *plan, int row, int end)
{
    int next = row + 1;
    while (next < end && nb_error_same_picks(nb_error_method_of(plan, row), nb_error_method_of(plan, next))) next++;
    return next;
}

/* Its data cannot be made, so there are no landmarks. */
static void list_failed_instance(writer *w, int first, int end, nb_ctx *ctx)
{
    for (int i = first; i < end; i = next_choice(w->plan, i, end)) {
        print_line(w, i, 0, nb_error_message(ctx));
        ++*w->failed;
    }
    nb_error_clear(ctx);
}

/* Rows first ... end - 1 of the plan are one instance. */
static nb_status save_instance(writer *w, int first, int end, nb_ctx *ctx)
{
    const nb_plan *plan = w->plan;
    const nb_planned_row *rows = plan->rows;
    nb_head head;
    nb_scene *scene;
    if (plan->scenes[rows[first].scene].refusal) return NB_OK;
    NB_NEED(w->folder, nb_format(ctx, "%s/instance-%d", w->out, w->instance));
    nb_status made = nb_plan_head(plan, rows[first].scene, rows[first].trial, w->rng, &head, ctx);
    if (made == NB_OK) made = nb_run_make_scene(plan, rows[first].scene, &head, &scene, ctx);
    if (made != NB_OK) {
        list_failed_instance(w, first, end, ctx);
        return NB_OK;
    }
    NB_TRY(ctx, save_head(w->folder, &head, ctx));
    for (int i = first, number = 0; i < end; i = next_choice(plan, i, end)) {
        nb_mark mark = nb_ctx_mark(ctx);
        nb_status status = save_picks(w, i, number++, scene, ctx);
        nb_ctx_release(ctx, mark);
        NB_TRY(ctx, status);
    }
    return NB_OK;
}

static nb_status save_all(FILE *index, const void *what, nb_ctx *ctx)
{
    writer w = *(const writer *)what;
    const nb_planned_row *rows = w.plan->rows;
    w.index = index;
    *w.failed = 0;
    NB_TRY(ctx, nb_random_new(&w.rng, ctx));
    fputs("instance,causal,problem,head,kernel,trial,strategy,landmarks,pairing,picks,status,reason,"
          "problem_label,kernel_label,strategy_label\n",
          index);
    for (int i = 0, end; i < w.plan->row_count; i = end, w.instance++) {
        for (end = i; end < w.plan->row_count && rows[end].scene == rows[i].scene && rows[end].trial == rows[i].trial;)
            end++;
        nb_mark mark = nb_ctx_mark(ctx);
        nb_status status = save_instance(&w, i, end, ctx);
        nb_ctx_release(ctx, mark);
        NB_TRY(ctx, status);
    }
    return NB_OK;
}

nb_status nb_export_landmarks(const char *run_folder, bool programs, const char *out, int *failed, nb_ctx *ctx)
{
    const char *index;
    const nb_given_labels *given;
    nb_config config;
    nb_plan plan;
    nb_row_labels labels;
    NB_TRY(ctx, nb_experiment_again(run_folder, programs, false, &config, &plan, ctx));
    NB_TRY(ctx, nb_run_labels(run_folder, config.study, &given, ctx));
    NB_TRY(ctx, make_labels(&plan, given, &labels, ctx));
    NB_TRY(ctx, nb_make_folder(out, ctx));
    NB_TRY(ctx, nb_run_path(out, "index.csv", &index, ctx));
    return nb_write_file(index, save_all, &(writer){&plan, &labels, out, failed, .instance = 0}, ctx);
}
