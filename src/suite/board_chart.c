/* SPDX-License-Identifier: GPL-3.0-or-later */
/* board_chart.c - the drawings of a board, as elements of SVG that take their colours from board.css. */
#include "suite/board.h"

#include "show/html.h"

#include <math.h>
#include <string.h>

/* Of a chart, in its own units: both axes are logarithmic. */
enum { WIDTH = 580, HEIGHT = 320, LEFT = 40, RIGHT = 216, TOP = 12, BOTTOM = 42, LINE = 15, LEADERS = 5 };
#define HIGHEST 0.0 /* log2 of the largest error that is drawn: that of an output of zeros */

/* Of a line with a number and its interval. */
enum { LONG = 150, HIGH = 14, MIDDLE = 7 };
#define LEAST (-2.0) /* numbers below it stand at the edge */

typedef struct {
    double low, high; /* log2 of the errors at its edges */
} scale;

static double x_of(int share)
{
    double width = WIDTH - LEFT - RIGHT;
    return LEFT + width * (NB_SUITE_SHARES - 1 - share) / (NB_SUITE_SHARES - 1);
}

static double y_of(const scale *s, double error)
{
    double at = fmin(fmax(error, s->low), s->high);
    return TOP + (HEIGHT - TOP - BOTTOM) * (s->high - at) / (s->high - s->low);
}

static scale find_scale(const nb_board_track *t)
{
    scale s = {INFINITY, -INFINITY};
    for (int i = 0; i < t->counted; i++)
        for (int k = 0; k < NB_SUITE_SHARES; k++) {
            s.low = fmin(s.low, t->entries[i].errors[k].mean);
            s.high = fmax(s.high, t->entries[i].errors[k].mean);
        }
    s.high = fmin(s.high + 0.1, HIGHEST);
    s.low = fmin(s.low - 0.3, s.high - 1);
    return s;
}

static void print_axes(FILE *out, const scale *s)
{
    static const double ticks[] = {0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1};
    for (size_t i = 0; i < sizeof ticks / sizeof *ticks; i++) {
        double at = log2(ticks[i]), y = y_of(s, at);
        if (at < s->low || at > s->high) continue;
        fprintf(out, "<line class=\"axis\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>", LEFT, WIDTH - RIGHT, y, y);
        fprintf(out, "<text class=\"tick\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n", LEFT - 6, y + 4,
                ticks[i]);
    }
    for (int k = 0; k < NB_SUITE_SHARES; k++)
        fprintf(out, "<text class=\"tick\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">1/%d</text>\n", x_of(k),
                HEIGHT - BOTTOM + 18, nb_suite_parts[k]);
    fprintf(out,
            "<text class=\"tick\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">share of exact attention's "
            "multiplications</text>\n",
            (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8);
}

/* The band of the intervals, then the curve. */
static void print_line(FILE *out, const scale *s, const nb_estimate errors[NB_SUITE_SHARES])
{
    fputs("<path d=\"", out);
    for (int k = NB_SUITE_SHARES - 1; k >= 0; k--)
        fprintf(out, "%c%.1f %.1f", k == NB_SUITE_SHARES - 1 ? 'M' : 'L', x_of(k), y_of(s, errors[k].high));
    for (int k = 0; k < NB_SUITE_SHARES; k++) fprintf(out, "L%.1f %.1f", x_of(k), y_of(s, errors[k].low));
    fputs("z\"/><polyline points=\"", out);
    for (int k = NB_SUITE_SHARES - 1; k >= 0; k--) fprintf(out, "%.1f,%.1f ", x_of(k), y_of(s, errors[k].mean));
    fputs("\"/>", out);
}

/* Where the labels at the ends of curves stand: in the order of these, so far apart that they can be read. */
static void place_labels(const scale *s, const nb_board_track *t, int count, double at[LEADERS + 1])
{
    int order[LEADERS + 1];
    for (int i = 0; i <= count; i++) {
        int k = i;
        at[i] = y_of(s, i < count ? t->entries[i].errors[0].mean : t->baseline[0].mean);
        for (; k > 0 && at[order[k - 1]] > at[i]; k--) order[k] = order[k - 1];
        order[k] = i;
    }
    for (int k = count; k >= 0; k--) {
        double least = TOP + LINE * k, most = k == count ? HEIGHT - BOTTOM : at[order[k + 1]] - LINE;
        at[order[k]] = fmax(least, fmin(at[order[k]], most));
    }
    for (int k = 1; k <= count; k++) at[order[k]] = fmax(at[order[k]], at[order[k - 1]] + LINE);
}

static void print_label(FILE *out, double y, const char *text)
{
    enum { MOST = 24 };
    fprintf(out, "<text x=\"%d\" y=\"%.1f\">", WIDTH - RIGHT + 8, y + 4);
    bool whole = strlen(text) <= MOST;
    char shown[MOST + 1];
    snprintf(shown, sizeof shown, "%.*s%s", whole ? MOST : MOST - 3, text, whole ? "" : "...");
    nb_html_print_text(out, "", shown, "</text>");
}

static void print_curve(FILE *out, const scale *s, const nb_board *board, int track, int place, double label_y)
{
    const nb_board_entry *e = &board->tracks[track].entries[place];
    const char *name = board->suite->tracks[track].name;
    if (place < LEADERS)
        fprintf(out, "<g class=\"curve led c%d\" data-entry=\"%s-%d\"><title>", place, name, place + 1);
    else
        fprintf(out, "<g class=\"curve\" data-entry=\"%s-%d\"><title>", name, place + 1);
    nb_html_print_text(out, "", e->result->method.label, "</title>");
    print_line(out, s, e->errors);
    if (place < LEADERS) print_label(out, label_y, e->result->method.label);
    fputs("</g>\n", out);
}

void nb_board_print_curves(FILE *out, const nb_board *board, int track)
{
    const nb_board_track *t = &board->tracks[track];
    scale s = find_scale(t);
    int leaders = t->counted < LEADERS ? t->counted : LEADERS;
    double labels[LEADERS + 1];
    place_labels(&s, t, leaders, labels);
    fprintf(out,
            "<figure>\n<div class=\"drawing\" role=\"region\" tabindex=\"0\" aria-label=\"Curves of the %s\">\n"
            "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"Error of the outputs against the share of exact "
            "attention's multiplications; below, entries have errors at each share\">\n",
            board->suite->tracks[track].name, WIDTH, HEIGHT);
    print_axes(out, &s);
    for (int i = t->counted - 1; i >= 0; i--) print_curve(out, &s, board, track, i, i < leaders ? labels[i] : 0);
    fputs("<g class=\"curve baseline\"><title>the baseline</title>", out);
    print_line(out, &s, t->baseline);
    print_label(out, labels[leaders], "the baseline");
    fprintf(out,
            "</g>\n</svg>\n</div>\n<figcaption>Relative error of the outputs, geometric mean over models, with 95 %% "
            "intervals over sources, of the first %d and of entries that are open; errors above %g, that of "
            "zeros, are drawn at the edge.</figcaption>\n</figure>\n",
            leaders, exp2(HIGHEST));
}

void nb_board_print_whisker(FILE *out, const nb_board_track *t, const nb_estimate *e)
{
    double low = INFINITY, high = 0;
    for (int i = 0; i < t->counted; i++) {
        low = fmin(low, t->entries[i].number.low);
        high = fmax(high, t->entries[i].number.high);
    }
    low = fmax(low, LEAST);
    double unit = (LONG - 8) / (high - low), zero = 4 - low * unit;
    double from = 4 + unit * (fmax(e->low, low) - low), to = 4 + unit * (fmax(e->high, low) - low);
    fprintf(out, "<svg class=\"whisker\" width=\"%d\" height=\"%d\" aria-hidden=\"true\">", LONG, HIGH);
    fprintf(out, "<line class=\"zero\" x1=\"%.1f\" x2=\"%.1f\" y1=\"0\" y2=\"%d\"/>", zero, zero, HIGH);
    if (to > from) fprintf(out, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>", from, to, MIDDLE, MIDDLE);
    if (e->mean >= low)
        fprintf(out, "<circle cx=\"%.1f\" cy=\"%d\" r=\"3.5\"/></svg>", 4 + unit * (e->mean - low), MIDDLE);
    else
        fprintf(out, "<polygon points=\"1,%d 8,%d 8,%d\"/></svg>", MIDDLE, MIDDLE - 4, MIDDLE + 4);
}
