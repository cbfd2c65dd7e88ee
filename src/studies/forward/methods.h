/* SPDX-License-Identifier: GPL-3.0-or-later */
/* methods.h - one attention with so many threads on one layer: its memory, its outputs, its passes. */
#ifndef NB_FORWARD_METHODS_H
#define NB_FORWARD_METHODS_H

#include "studies/forward/exact.h"
#include "studies/forward/rounds.h"
#include "studies/forward/study.h"

typedef struct { /* what the methods of a layer share */
    const nb_layer *layer;
    nb_stream stream;   /* seed and trial */
    nb_scalar *out;     /* dv x n for each head: of whichever method had its turn last */
    nb_scalar *eraser;  /* NB_ERASER scalars that are written to empty the caches */
    bool cold, closing; /* caches are emptied before each pass; workspaces are opened and closed around each span,
                           since they do not fit into memory together */
    double checksum;    /* of outputs, so that none is computed for nothing */
} nb_forward_bench;
enum { NB_ERASER = 1 << 24 };

typedef struct {
    int row; /* of the plan */
    const nb_choice *attention;
    int threads, keeps;
    nb_team *team; /* of so many threads; others may have the same */
    nb_forward_bench *bench;
    nb_ctx *own; /* what is opened */
    bool open;
    nb_attending attending;
    nb_passed passed;                                 /* its last pass */
    int fresh_passes;                                 /* with an index that chooses anew */
    double (*parts)[NB_PART_COUNT], *multiplications; /* of each span of kept passes: the means of a pass */
    int spans;
    double span_parts[NB_PART_COUNT], span_multiplications, bytes; /* bytes: the most of any pass */
    int span_passes;
    nb_forward measures;
    const char *status, *reason; /* NULL: it is still in the race */
} nb_forward_method;

/* What is known of a method before it runs. */
nb_status nb_forward_method_make(nb_forward_method *method, nb_forward_bench *bench, int row,
                                 const nb_choice *attention, int threads, nb_ctx *ctx);

/* One pass in a process of its own: measures.peak_bytes. */
nb_status nb_forward_find_peak(nb_forward_method *method, nb_ctx *ctx);

/* Whether there are outputs, and (unless `exact` is NULL) what they are worth: one pass against the exact outputs, and
 * one with V = 1 for rowsum_deviation. */
nb_status nb_forward_find_errors(nb_forward_method *method, const nb_exact *exact, nb_ctx *ctx);

/* Passes with the landmarks kept, and (`fresh`) with new ones, as contestants; of an attention that keeps none, all
 * are the first kind. */
nb_contestant nb_forward_contestant(nb_forward_method *method, bool fresh);

/* Measures from what was timed. */
nb_status nb_forward_take_times(nb_forward_method *method, const nb_timed *kept, const nb_timed *fresh, nb_ctx *ctx);

#endif
