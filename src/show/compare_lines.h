/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compare_lines.h - the lines of a comparison with their words, for those that print them. */
#ifndef NB_COMPARE_LINES_H
#define NB_COMPARE_LINES_H

#include "answers/compare.h"

typedef struct {
    bool full;     /* all numbers that are known of a line, and what they mean */
    bool by_model; /* lines of each model too, not only over all of them */
} nb_compare_view;

typedef struct {
    const nb_compared *of;
    bool by_error;                                  /* of the comparison by a measure of error */
    int value, base, setting;                       /* numbers of the contrast */
    const char *metric, *method, *baseline, *model; /* labels */
    double ratio;                                   /* or the difference; NaN: there is none */
    const char *settings;                           /* those that vary: "landmarks 8, core svd" */
    const char *band;                               /* the same without what goes across */
    const char *shown;                              /* the ratio in digits; "-": there is none */
    const char *interval;                           /* the joint one: "[0.5, 0.9]"; "-": there is none */
    const char *mark;                               /* "!": heads differ, or times were disturbed; else "" */
    const char *verdict;                            /* in a word, with the mark */
    const char *name;                               /* which line it is: "landmarks 8, kmeans over uniform, MiniLM" */
    bool whole; /* all lines of its method are refused, and this one stands for them */
    int along;  /* its value of what goes across */
    int line;   /* its number among all lines */
    int place;  /* the first such number among those that are shown that have its band */
} nb_compare_line;

typedef struct { /* a column of the settings */
    const char *name;
    const char *head; /* what a table calls it: "setting_" before one that the comparison has too */
    bool varies;
    bool hidden; /* people are not told: all lines have what configs have by default */
} nb_compare_setting;

typedef struct {
    const nb_comparison *comparison;
    const nb_contrasts *contrasts; /* of the comparison, as are the terms */
    const nb_contrast_terms *terms;
    bool full, by_model; /* as in nb_compare_view */
    bool two;            /* lines of two comparisons, in the brief table one for each method */
    bool more;           /* more of the metric is better */
    int setting_count, varying;
    nb_compare_setting *settings;
    int along; /* the first setting of integers that varies, which goes across; -1: none */
    int count;
    nb_compare_line *items; /* all lines */
    int shown_count;
    nb_compare_line **shown;  /* those that are shown, in the order of the brief table */
    bool intervals, verdicts; /* any of these has one */
    bool across;              /* they are so many that the brief table has what goes across in columns */
    nb_ctx *ctx;
} nb_compare_lines;

/* The lines of a comparison and, where there are two, of that beside it. */
nb_status nb_compare_lines_find(const nb_comparison *comparison, const nb_compare_view *view, bool two,
                                nb_compare_lines *lines, nb_ctx *ctx);
/* Returns a number of an estimate on the scale of the comparison. */
double nb_compare_scaled(const nb_compare_lines *lines, double x);
/* Shows an interval of an estimate; "-": there is none. */
const char *nb_compare_interval(const nb_compare_lines *lines, const char *format, double low, double high);
/* Returns the label of a setting. */
const char *nb_compare_label(const nb_compare_line *line, int setting);

#endif
