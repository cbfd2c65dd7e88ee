/* plots.h - the figures of a run: data as CSV, a gnuplot script beside it, SVG
 * and PNG. */
#ifndef NB_PLOTS_H
#define NB_PLOTS_H

#include "base/ctx.h"
#include "report/summary.h"

#include <stdio.h>

extern const char *const nb_plot_kinds[]; /* NULL-terminated; each has a script plots/KIND.gp */

/* Writes the data and scripts of one kind into `folder` (made if it is not
 * there), and draws with gnuplot where `draw`. A kind that is of one m takes `m`, 0:
 * the middle one. *figures: how many there are; 0 where the run has nothing for this
 * kind. NB_EINVAL where the run does not have m, NB_EIO where a file cannot be
 * written or gnuplot fails. */
nb_status nb_plot(const char *folder, const char *kind, const char *experiment, const nb_summary *summary, int m, bool draw,
                  int *figures, nb_ctx *ctx);

bool nb_plot_of_one_m(const char *kind);

/* `m` where it is among those, which are in ascending order; 0 becomes the middle one
 * of them, where there are any. */
nb_status nb_plot_choose_m(int count, const int *landmarks, int *m, nb_ctx *ctx);

/* Says that the run has no rows for the kind. */
void nb_plot_warn(const char *kind);

/* Removes the figures of a kind that were drawn by this program, but for the given stems,
 * with their data and scripts: their rows are gone. Where there are no stems, KIND.csv too. */
nb_status nb_plot_prune(const char *folder, const char *kind, int count, const char *const *stems, nb_ctx *ctx);

/* What other figures share. A gnuplot string in single quotes; a script of plots/
 * beside the data; a text as the stem of a file, in place (NULL stays NULL). */
void nb_plot_print_string(FILE *out, const char *text);
nb_status nb_plot_copy_script(const char *folder, const char *name, nb_ctx *ctx);
char *nb_plot_file_name(char *text);

#endif
