/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scripts.h - the gnuplot scripts of a folder of figures, which may be edited there, and
 * what else figures of all kinds share. */
#ifndef NB_SCRIPTS_H
#define NB_SCRIPTS_H

#include "base/ctx.h"
#include "base/gnuplot.h"

#include <stdio.h>

/* Writes a script if it is not there, or as the program wrote it; an edited one is never overwritten. If it was made
 * from the same text, it is used; else the text goes to NAME.new, which figures are drawn by until somebody removes it.
 * Both are reported. The folder keeps digests of what was written. */
nb_status nb_plot_write_script(const char *folder, const char *name, const char *text, nb_ctx *ctx);
nb_status nb_plot_print_script(const char *folder, const char *name,
                               nb_status (*print)(FILE *out, const void *what, nb_ctx *ctx), const void *what,
                               nb_ctx *ctx);
/* A script of plots/ and all that it loads, with looks.gp, and style.gp where there is none, into a folder that is
 * there. */
nb_status nb_plot_copy_script(const char *folder, const char *name, nb_ctx *ctx);

typedef struct {         /* how the figures of a folder look */
    bool paper;          /* as in a journal: of a given width, small, and without a title; else as on a screen */
    double width;        /* on paper, in points of 1/72 inch */
    bool dots;           /* figures of ratios have a dot for each head */
    const char *formats; /* those of svg, png and pdf, separated by blanks */
} nb_plot_style;

extern const nb_plot_style nb_plot_screen; /* that of a folder unless said otherwise: as on a screen, SVG and PNG */
nb_status nb_plot_write_style(const char *folder, const nb_plot_style *style, nb_ctx *ctx); /* makes the folder */

/* Prints what a figure's script begins with: what it draws. */
void nb_plot_print_head(FILE *out, const char *stem);

/* Starts gnuplot on the figure's script, STEM.gp, after removing the figure's earlier files. `gnuplots` NULL: does
 * nothing. */
nb_status nb_plot_draw(nb_gnuplots *gnuplots, const char *folder, const char *stem, nb_ctx *ctx);

/* Removes the figures of a kind that were drawn by this program, but for the given stems and those whose script has
 * been edited, with their data and scripts: their rows are gone. Where nothing is left, KIND.csv too. `longer` are the
 * kinds whose names begin with KIND_, up to NULL; their figures stay. */
nb_status nb_plot_prune(const char *folder, const char *kind, const char *const *longer, int count,
                        const char *const *stems, nb_ctx *ctx);

/* A gnuplot string in single quotes; a text as the stem of a file, in place (NULL stays
 * NULL). */
void nb_plot_print_string(FILE *out, const char *text);
char *nb_plot_file_name(char *text);

/* A line that gives a gnuplot variable its value. */
void nb_plot_set_text(FILE *out, const char *name, const char *text);
/* Arrays of `count` texts (NULL: "") or ints: `first` is the first of them, each other is so many bytes behind the one
 * before. */
void nb_plot_set_texts(FILE *out, const char *name, int count, const void *first, size_t bytes);
void nb_plot_set_ints(FILE *out, const char *name, int count, const void *first, size_t bytes);

#endif
