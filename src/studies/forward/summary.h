/* SPDX-License-Identifier: GPL-3.0-or-later */
/* summary.h - the rows of a run by family of layers, threads, n and attention. A family is what stays the same while n
 * grows: where the data come from, heads, dimensions, mask. */
#ifndef NB_FORWARD_SUMMARY_H
#define NB_FORWARD_SUMMARY_H

#include "report/grid.h"
#include "report/replicates.h"
#include "studies/forward/study.h"

enum { NB_FORWARD_BASELINES = 4 }; /* exact attentions that speed-ups are over, at most */

typedef struct { /* medians over the layers, sources and trials that agree in the first four; NaN: there is none */
    int family, threads, n, attention; /* attention: its code */
    nb_selection rows;
    double latency_s, low_s, high_s; /* low, high: the ends of all rows' intervals together; of a row that has none, its
                                        latency, and NaN if it is alone */
    double time_s;                   /* amortized_s: the latency with what choosing landmarks takes of each pass */
    double fresh_s, first_s, workspace, peak, error, baseline_mean, landmarks;
    double share[NB_PART_COUNT];          /* of the latency, by part */
    double speedup[NB_FORWARD_BASELINES]; /* time_s of the baseline beside it / its own */
} nb_forward_cell;

typedef struct {
    nb_frame frame;
    nb_codes attentions;
    const char *const *labels; /* of the attentions */
    int family_count;
    const char **families; /* for people */
    int baseline_count;
    int baselines[NB_FORWARD_BASELINES]; /* codes of the exact attentions, in order of appearance */
    int cell_count;
    nb_forward_cell *cells; /* of rows that are ok; by family, threads, n, attention */
} nb_forward_summary;

nb_status nb_forward_summary_make(const nb_frame *frame, nb_forward_summary *summary, nb_ctx *ctx);

/* The first cell from `first` on that differs in family or threads; and in n too. */
int nb_forward_next_family(const nb_forward_summary *summary, int first);
int nb_forward_next_n(const nb_forward_summary *summary, int first);

/* Cells of one attention among first ... end - 1, ascending in n: how many, and which (room for end - first). */
int nb_forward_of_attention(const nb_forward_summary *summary, int first, int end, int attention, int *which);

/* Whether nothing of the same family, threads and n is at least as fast and as good, and better in one of both;
 * errors below 1e-5 are rounding, and the same. */
bool nb_forward_is_on_front(const nb_forward_summary *summary, int cell);

/* The first cells of a line: family, threads, n, attention. */
#define NB_FORWARD_KEYS "layers", "threads", "n", "attention"
enum { NB_FORWARD_KEY_COUNT = 4 };
nb_status nb_forward_add_keys(const nb_forward_summary *summary, const nb_forward_cell *cell, nb_grid *grid,
                              nb_ctx *ctx);
/* An attention for people, or, in CSV, with all options. */
const char *nb_forward_name(const nb_forward_summary *summary, int attention, bool csv);

/* Attentions that differ in their size alone (see nb_attention.size) are one curve: by code, its number; and their
 * labels, without it. */
typedef struct {
    int count;
    int *of;
    const char **labels;
} nb_forward_curves;
nb_status nb_forward_find_curves(const nb_forward_summary *summary, nb_forward_curves *curves, nb_ctx *ctx);

#endif
