/* SPDX-License-Identifier: GPL-3.0-or-later */
/* progress.c - see progress.h */
#include "commands/progress.h"

#include "base/clock.h"
#include "components/study.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 30, NARROWEST = 10 }; /* columns of the bar, at most and at least */
static const double ENOUGH = 0.2;    /* share after which only the pace predicts what is left */
static const double PERIOD_S = 0.2;  /* between drawings */

double nb_progress_left_s(const nb_progress_state *s)
{
    double known_s = s->elapsed_s - s->since_s, by_prediction = s->predicted_s * (1 - s->share),
           by_pace = by_prediction;
    if (s->share > 0) by_pace = known_s * (1 - s->share) / s->share;
    double trust = s->share > 0 ? fmin(1, s->share / ENOUGH) : 0;
    double left_s = trust * by_pace + (1 - trust) * by_prediction - s->since_s;
    return isfinite(left_s) ? fmax(0, left_s) : 0;
}

const char *nb_duration_text(double seconds, char text[NB_QUANTITY])
{
    static const struct {
        double seconds;
        const char *name;
    } units[] = {{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}};
    int u = 0;
    if (seconds < 59.5 || !(seconds < 1e9)) {
        snprintf(text, NB_QUANTITY, seconds < 9.95 ? "%.1f s" : seconds < 1e9 ? "%.0f s" : "%g s", seconds);
        return text;
    }
    while (u < 2 && seconds < units[u].seconds - units[u + 2].seconds / 2) u++; /* what rounds to a day is one */
    int small = (int)lround(seconds / units[u + 1].seconds), per = (int)lround(units[u].seconds / units[u + 1].seconds);
    if (small % per)
        snprintf(text, NB_QUANTITY, "%d %s %d %s", small / per, units[u].name, small % per, units[u + 1].name);
    else
        snprintf(text, NB_QUANTITY, "%d %s", small / per, units[u].name);
    return text;
}

const char *nb_bytes_text(double bytes, char text[NB_QUANTITY])
{
    static const char *const names[] = {"KiB", "MiB", "GiB", "TiB"};
    double value = bytes / 1024;
    size_t u = 0;
    while (u < 3 && value >= 999.5) {
        value /= 1024;
        u++;
    }
    snprintf(text, NB_QUANTITY, value < 9.95 ? "%.1f %s" : "%.0f %s", value, names[u]);
    return text;
}

/* The longest of three forms that has room in so many columns, or the shortest cut. */
static void print_state(const nb_progress_state *s, int percent, const char *time, int width,
                        char text[NB_PROGRESS_LINE])
{
    char failed[NB_QUANTITY] = "";
    size_t room = width ? (size_t)width : NB_PROGRESS_LINE - 1;
    if (s->failed) snprintf(failed, sizeof failed, ", %d failed", s->failed);
    snprintf(text, NB_PROGRESS_LINE, "%d %%, %d of %d scenes, %d of %d rows%s, %s", percent, s->scenes_done, s->scenes,
             s->rows_done, s->rows, failed, time);
    if (strlen(text) > room)
        snprintf(text, NB_PROGRESS_LINE, "%d %%, %d of %d rows%s, %s", percent, s->rows_done, s->rows, failed, time);
    if (strlen(text) > room) snprintf(text, NB_PROGRESS_LINE, "%d %%%s, %s", percent, failed, time);
    if (strlen(text) > room) text[room] = '\0';
}

void nb_progress_text(const nb_progress_state *s, int width, char text[NB_PROGRESS_LINE])
{
    char left[NB_QUANTITY], time[NB_QUANTITY + 8], state[NB_PROGRESS_LINE], bar[WIDTH + 1];
    bool all = s->rows_done == s->rows;
    int percent = all ? 100 : (int)fmin(99, 100 * fmax(0, fmin(1, s->share)));
    double left_s = all ? s->elapsed_s : nb_progress_left_s(s);
    if (all || left_s > 0)
        snprintf(time, sizeof time, "%s%s", nb_duration_text(left_s, left), all ? "" : " left");
    else
        snprintf(time, sizeof time, "longer than predicted");
    print_state(s, percent, time, width, state);
    int room = width - (int)strlen(state) - 3, size = room < WIDTH ? room : WIDTH; /* "[", "] " */
    if (size < NARROWEST) {
        memcpy(text, state, sizeof state);
        return;
    }
    for (int i = 0; i < size; i++) bar[i] = i < size * percent / 100 ? '#' : '.';
    snprintf(text, NB_PROGRESS_LINE, "[%.*s] %.*s", size, bar, NB_PROGRESS_LINE - WIDTH - 4, state);
}

/* Numbers, such as of landmarks, that all these rows have. */
static nb_status numbers_text(const nb_plan *plan, const nb_doing *d, const char **text, nb_ctx *ctx)
{
    const nb_axis *axes = plan->config->study->axes;
    *text = "";
    for (int axis = 0; axes[axis].key; axis++) {
        int value = nb_plan_value(plan, d->first, axis), row = d->first;
        if (axes[axis].scene || axes[axis].type != NB_AXIS_INTEGER) continue;
        while (row < d->end && nb_plan_value(plan, row, axis) == value) row++;
        if (row == d->end) NB_NEED(*text, nb_format(ctx, "%s, %s %d", *text, axes[axis].column, value));
    }
    return NB_OK;
}

/* ", kmeans, landmarks 16: the strategy's pick, 12 s"; the time from a second on. */
static nb_status work_text(const nb_plan *plan, const nb_doing *d, double now_s, const char **text, nb_ctx *ctx)
{
    const nb_phase *phase = NULL, *phases = plan->config->study->phases;
    char time[NB_QUANTITY] = "", taken[NB_QUANTITY + 2] = "";
    const char *component = "", *numbers;
    double taken_s = now_s - d->since_s;
    for (int i = 0; i < d->phase && phases[i].doing; i++) phase = i + 1 == d->phase ? &phases[i] : NULL;
    if (phase && phase->axis > NB_AXIS_PROBLEM)
        NB_NEED(component, nb_format(ctx, ", %s", nb_plan_choice(plan, d->first, phase->axis)->label));
    NB_TRY(ctx, numbers_text(plan, d, &numbers, ctx));
    if (taken_s >= 1) snprintf(taken, sizeof taken, ", %s", nb_duration_text(taken_s, time));
    NB_NEED(*text, nb_format(ctx, "%s%s: %s%s", component, numbers, phase ? phase->doing : "the start", taken));
    NB_NEED(*text, nb_clean(ctx, *text, ""));
    return NB_OK;
}

nb_status nb_progress_worker(const nb_plan *plan, const nb_doing *d, double now_s, int columns, char *text, nb_ctx *ctx)
{
    enum { LEAST = 12 }; /* columns of the problem */
    char problem[NB_PROGRESS_BYTES];
    const char *work, *whole, *of;
    if (d->first == d->end) {
        nb_screen_shorten("  nothing", columns, text, NB_PROGRESS_BYTES);
        return NB_OK;
    }
    const nb_planned_scene *scene = &plan->scenes[plan->rows[d->first].scene];
    NB_TRY(ctx, work_text(plan, d, now_s, &work, ctx));
    NB_NEED(of, nb_format(ctx, "%s head %d", scene->problem->label, scene->head));
    NB_NEED(of, nb_clean(ctx, of, ""));
    int room = columns - 2 - nb_screen_columns(work);
    nb_screen_shorten(of, room > LEAST ? room : LEAST, problem, sizeof problem);
    NB_NEED(whole, nb_format(ctx, "  %s%s", problem, work));
    nb_screen_shorten(whole, columns, text, NB_PROGRESS_BYTES);
    return NB_OK;
}

nb_status nb_progress_init(nb_progress *p, const nb_predicted *predicted, const nb_plan *plan, const bool *pending,
                           nb_ctx *ctx)
{
    *p = (nb_progress){.state = {.scenes = predicted->unit_count, .predicted_s = predicted->wall_s},
                       .quiet = p->quiet,
                       .terminal = p->terminal,
                       .total_s = predicted->total_s,
                       .plan = plan,
                       .ctx = ctx};
    NB_NEED(p->weight_s, nb_alloc_reals(ctx, (size_t)plan->row_count + 1, 1));
    NB_NEED(p->unit_of, nb_alloc(ctx, (size_t)plan->row_count + 1, sizeof *p->unit_of));
    NB_NEED(p->left, nb_alloc(ctx, (size_t)predicted->unit_count + 1, sizeof *p->left));
    for (int u = 0; u < predicted->unit_count; u++) {
        const nb_unit *unit = &predicted->units[u];
        for (int i = unit->first; i < unit->end; i++) p->left[u] += pending[i];
        for (int i = unit->first; i < unit->end; i++) {
            p->unit_of[i] = u;
            p->weight_s[i] = predicted->unit_s[u] / p->left[u];
        }
        p->state.rows += p->left[u];
    }
    p->start_s = p->row_s = nb_clock_s();
    return NB_OK;
}

void nb_progress_row(nb_progress *p, int index, const char *status)
{
    p->state.rows_done++;
    p->state.failed += strcmp(status, "ok") != 0 && strcmp(status, "skipped") != 0;
    p->done_s += p->weight_s[index];
    p->state.scenes_done += --p->left[p->unit_of[index]] == 0;
    p->row_s = nb_clock_s();
}

static bool is_done(const nb_progress *p)
{
    return p->state.rows_done == p->state.rows;
}

/* The lines of as many workers as there are rows of the terminal below the bar; the last says of how many more. */
static nb_status print_workers(const nb_progress *p, int columns, int rows, char (*lines)[NB_PROGRESS_BYTES],
                               int *count)
{
    int most = rows - 2 < NB_SCREEN_LINES - 1 ? rows - 2 : NB_SCREEN_LINES - 1;
    int shown = p->worker_count <= most ? p->worker_count : most > 0 ? most - 1 : 0, more = p->worker_count - shown;
    for (int i = 0; i < shown; i++)
        NB_TRY(p->ctx, nb_progress_worker(p->plan, &p->doing[i], nb_clock_s(), columns, lines[i], p->ctx));
    *count = shown;
    if (more == 0 || most <= 0) return NB_OK;
    char text[NB_QUANTITY];
    snprintf(text, sizeof text, shown ? "  and %d more workers" : "  %d workers", more);
    nb_screen_shorten(text, columns, lines[(*count)++], NB_PROGRESS_BYTES);
    return NB_OK;
}

/* The bar, and if the run goes on the workers; without them if there is no memory for their texts. */
static void draw(nb_progress *p, bool goes_on)
{
    char bar[NB_PROGRESS_LINE], texts[NB_SCREEN_LINES][NB_PROGRESS_BYTES];
    const char *lines[NB_SCREEN_LINES] = {bar};
    int columns, rows, workers = 0;
    nb_screen_size(&columns, &rows);
    int width = columns < 2 ? 1 : columns < NB_PROGRESS_LINE ? columns - 1 : NB_PROGRESS_LINE - 1;
    nb_mark mark = nb_ctx_mark(p->ctx);
    nb_progress_text(&p->state, width, bar);
    if (goes_on && print_workers(p, width, rows, texts, &workers) != NB_OK) {
        nb_error_clear(p->ctx);
        workers = 0;
    }
    for (int i = 0; i < workers; i++) lines[i + 1] = texts[i];
    nb_screen_draw(&p->screen, 1 + workers, lines);
    nb_ctx_release(p->ctx, mark);
    p->drawn_s = nb_clock_s();
}

static void take_time(nb_progress *p)
{
    double now_s = nb_clock_s();
    p->state.elapsed_s = now_s - p->start_s;
    p->state.since_s = now_s - p->row_s;
    p->state.share = is_done(p) ? 1 : p->total_s > 0 ? p->done_s / p->total_s : 0;
}

void nb_progress_show(nb_progress *p)
{
    char text[NB_PROGRESS_LINE];
    take_time(p);
    int tenths = (int)(10 * p->state.share);
    if (p->quiet || (!p->terminal && tenths == p->shown)) return;
    if (p->terminal) {
        if (is_done(p) || nb_clock_s() >= p->drawn_s + PERIOD_S) draw(p, !is_done(p));
        return;
    }
    nb_progress_text(&p->state, 0, text);
    fprintf(stderr, "nysbench: %s\n", text);
    p->shown = tenths;
}

void nb_progress_watch(nb_progress *p, const nb_doing *workers, int count)
{
    if (p->quiet || !p->terminal || is_done(p)) return;
    if (!p->doing) p->doing = nb_alloc(p->ctx, (size_t)count, sizeof *p->doing);
    p->worker_count = p->doing ? count : 0;
    if (p->doing) memcpy(p->doing, workers, (size_t)count * sizeof *workers);
    take_time(p);
    draw(p, true);
}

void nb_progress_end(nb_progress *p)
{
    if (p->quiet || !p->terminal || (p->screen.count == 0 && p->state.rows == 0)) return;
    take_time(p);
    draw(p, false);
    nb_screen_leave(&p->screen);
}
