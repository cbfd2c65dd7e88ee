/* SPDX-License-Identifier: GPL-3.0-or-later */
/* progress.c - see progress.h */
#include "cli/progress.h"

#include "base/clock.h"
#include "base/numbers.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
    WIDTH = 30,
    LEAST = 10,
    COLUMNS = 80
};                                /* of the bar, at most and where there is one; of a terminal that does not say */
static const double ENOUGH = 0.2; /* share after which the pace alone tells what is left */

double nb_progress_left_s(const nb_progress_state *s)
{
    if (!(s->share > 0)) return s->predicted_s;
    double by_pace = s->elapsed_s * (1 - s->share) / s->share, by_prediction = s->predicted_s * (1 - s->share);
    double trust = fmin(1, s->share / ENOUGH);
    return trust * by_pace + (1 - trust) * by_prediction;
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
    long long small = llround(seconds / units[u + 1].seconds), per = llround(units[u].seconds / units[u + 1].seconds);
    if (small % per)
        snprintf(text, NB_QUANTITY, "%lld %s %lld %s", small / per, units[u].name, small % per, units[u + 1].name);
    else
        snprintf(text, NB_QUANTITY, "%lld %s", small / per, units[u].name);
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
    snprintf(time, sizeof time, "%s%s", nb_duration_text(all ? s->elapsed_s : nb_progress_left_s(s), left),
             all ? "" : " left");
    print_state(s, percent, time, width, state);
    int room = width - (int)strlen(state) - 3, size = room < WIDTH ? room : WIDTH; /* "[", "] " */
    if (size < LEAST) {
        memcpy(text, state, sizeof state);
        return;
    }
    for (int i = 0; i < size; i++) bar[i] = i < size * percent / 100 ? '#' : '.';
    snprintf(text, NB_PROGRESS_LINE, "[%.*s] %.*s", size, bar, NB_PROGRESS_LINE - WIDTH - 4, state);
}

/* One less than the terminal's: in the last column some go on to the next line. */
static int usable_columns(void)
{
    const char *told = getenv("COLUMNS");
    struct winsize size;
    int columns = 0;
    if (told) nb_parse_int(told, 1, INT_MAX, &columns);
    if (columns <= 0 && ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0) columns = size.ws_col;
    if (columns <= 0) columns = COLUMNS;
    return columns < 2 ? 1 : columns < NB_PROGRESS_LINE ? columns - 1 : NB_PROGRESS_LINE - 1;
}

nb_status nb_progress_init(nb_progress *p, const nb_predicted *predicted, const nb_plan *plan, const bool *pending,
                           nb_ctx *ctx)
{
    p->state = (nb_progress_state){.scenes = predicted->unit_count, .predicted_s = predicted->wall_s};
    p->total_s = predicted->total_s;
    p->done_s = 0;
    p->shown = 0;
    NB_NEED(p->weight_s, nb_alloc_reals(ctx, (size_t)plan->row_count + 1, 1));
    NB_NEED(p->ran, nb_alloc(ctx, (size_t)plan->row_count + 1, sizeof *p->ran));
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
    p->start_s = nb_clock_s();
    return NB_OK;
}

void nb_progress_row(nb_progress *p, int index, const char *status)
{
    p->ran[index] = true;
    p->state.rows_done++;
    p->state.failed += strcmp(status, "ok") != 0 && strcmp(status, "skipped") != 0;
    p->done_s += p->weight_s[index];
    p->state.scenes_done += --p->left[p->unit_of[index]] == 0;
}

void nb_progress_show(nb_progress *p)
{
    char text[NB_PROGRESS_LINE];
    bool all = p->state.rows_done == p->state.rows;
    p->state.elapsed_s = nb_clock_s() - p->start_s;
    p->state.share = all ? 1 : p->total_s > 0 ? p->done_s / p->total_s : 0;
    int tenths = (int)(10 * p->state.share);
    if (p->quiet || (!p->terminal && tenths == p->shown)) return;
    int width = p->terminal ? usable_columns() : 0;
    nb_progress_text(&p->state, width, text);
    if (p->terminal) { /* blanks over what is left of a longer line */
        int length = (int)strlen(text);
        fprintf(stderr, "\r%-*s", p->shown < width ? p->shown : width, text);
        p->shown = length;
    } else {
        fprintf(stderr, "nysbench: %s\n", text);
        p->shown = tenths;
    }
}

void nb_progress_end(nb_progress *p)
{
    if (!p->quiet && p->terminal && p->shown > 0) fputc('\n', stderr);
    p->shown = 0;
}
