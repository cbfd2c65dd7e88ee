/* SPDX-License-Identifier: GPL-3.0-or-later */
/* progress.c - see experiment.h */
#include "commands/experiment.h"

#include "base/clock.h"

#include <string.h>
#include <unistd.h>

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

nb_status nb_progress_init(nb_progress *p, const nb_predicted *predicted, const nb_plan *plan, const bool *pending,
                           nb_ctx *ctx)
{
    *p = (nb_progress){.state = {.scenes = predicted->unit_count, .predicted_s = predicted->wall_s},
                       .quiet = p->quiet,
                       .terminal = p->terminal,
                       .total_s = predicted->total_s};
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

/* Draws in one piece, lest the size change in the midst of it. The sequences are those of ECMA-48, erase to the end of
 * the line (EL) and of the screen (ED), and DEC's private mode 7, without which a bar that was drawn for a wider
 * terminal is cut, not broken. The cursor waits at the start of the line, where a terminal of another size leaves
 * it. */
static void draw_bar(nb_progress *p)
{
    char bar[NB_PROGRESS_LINE];
    int told = nb_terminal_columns(STDERR_FILENO), columns = told ? told : 80;
    nb_progress_text(&p->state, columns < 2 ? 1 : columns < NB_PROGRESS_LINE ? columns - 1 : NB_PROGRESS_LINE - 1, bar);
    fprintf(stderr, "\r\033[?7l\033[K%s\033[J\033[?7h\r", bar);
    p->drawn = true;
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
        if (is_done(p) || nb_clock_s() >= p->drawn_s + PERIOD_S) draw_bar(p);
        return;
    }
    nb_progress_text(&p->state, 0, text);
    fprintf(stderr, "nysbench: %s\n", text);
    p->shown = tenths;
}

void nb_progress_watch(nb_progress *p)
{
    if (p->quiet || !p->terminal || is_done(p)) return;
    take_time(p);
    draw_bar(p);
}

void nb_progress_clear(nb_progress *p)
{
    if (p->drawn) fputs("\r\033[J", stderr);
    p->drawn = false;
}

void nb_progress_end(nb_progress *p)
{
    if (p->quiet || !p->terminal || (!p->drawn && p->state.rows == 0)) return;
    take_time(p);
    draw_bar(p);
    fputc('\n', stderr);
    p->drawn = false;
}
