/* SPDX-License-Identifier: GPL-3.0-or-later */
/* methods.h - one attention with a number of threads on one layer: its memory, its outputs, its passes. */
#ifndef NB_FORWARD_METHODS_H
#define NB_FORWARD_METHODS_H

#include "studies/forward/exact.h"
#include "studies/forward/rounds.h"
#include "studies/forward/study.h"

typedef struct { /* what the methods of a layer share */
    const nb_layer *layer;
    nb_stream stream;  /* seed and trial */
    nb_scalar *out;    /* dv x n for each head: output of the method that ran last */
    nb_scalar *eraser; /* NB_ERASER scalars, written to empty the caches */
    /* cold: empty the caches before each pass; closing: open and close workspaces around each span, since together
     * they do not fit into memory. */
    bool cold, closing;
    double elsewhere_s, elsewhere_busy_s; /* of passes elsewhere: wall clock, and CPU time of the whole machine */
    double begun_s, begun_busy_s;         /* of such a pass, when it began */
    double checksum;                      /* of outputs, so that the compiler cannot leave out their computation */
} nb_forward_bench;
enum { NB_ERASER = 1 << 24 };

typedef struct {
    int row; /* of the plan */
    const nb_choice *attention;
    int threads, keeps;
    int kept, fresh, gemm; /* numbers of the contestants of its passes, and of a product of matrices; -1: none */
    nb_team *team;         /* has this many threads; methods may share it */
    nb_forward_bench *bench;
    nb_ctx *own; /* memory of the opened workspace */
    bool open;
    nb_attending attending;
    nb_passed passed;                                 /* its last pass */
    bool elsewhere;                                   /* another process computes it */
    nb_pass_clock clock;                              /* of all its passes, by the first */
    const char *device;                               /* the first pass's */
    int fresh_passes;                                 /* passes that choose landmarks anew, each with its own index */
    double (*parts)[NB_PART_COUNT], *multiplications; /* by span of kept passes: means over its passes */
    int spans;
    double span_parts[NB_PART_COUNT], span_multiplications, bytes; /* bytes: the most of any pass */
    int span_passes;
    nb_forward measures;
    const char *status, *reason; /* NULL: it is still running */
} nb_forward_method;

/* Fills in what is known of a method before it runs. */
nb_status nb_forward_method_make(nb_forward_method *method, nb_forward_bench *bench, int row,
                                 const nb_choice *attention, int threads, nb_ctx *ctx);

/* Measures peak_bytes by one pass in a process of its own. */
nb_status nb_forward_find_peak(nb_forward_method *method, nb_ctx *ctx);

/* Checks that there are outputs and, unless `exact` is NULL, measures their errors: by one pass against the exact
 * outputs, and one with V = 1 for rowsum_deviation, of a method elsewhere only if that is wanted. wanted:
 * NB_FORWARD_WANT_*; with WANT_ERROR that of S~ too, by n / NB_EXACT_COLUMNS passes more. */
nb_status nb_forward_find_errors(nb_forward_method *method, const nb_exact *exact, unsigned wanted, nb_ctx *ctx);

/* Whether times of its passes mean something; known after nb_forward_find_errors. */
bool nb_forward_is_timed(const nb_forward_method *method);

/* Makes a contestant: of passes that keep the landmarks, or (`fresh`) choose new ones. For an attention that keeps
 * none, all passes are of the first kind. */
nb_contestant nb_forward_contestant(nb_forward_method *method, bool fresh);

/* Computes the measures from the times. */
nb_status nb_forward_take_times(nb_forward_method *method, const nb_timed *kept, const nb_timed *fresh, nb_ctx *ctx);

/* Calls act(self, ctx) in a child process and measures the most by which its resident set grew meanwhile; NaN if the
 * system does not tell. Returns act's status, with its message; NB_EBUG if act did not return. This process must have
 * no other threads. */
nb_status nb_peak_of(nb_status (*act)(void *self, nb_ctx *ctx), void *self, double *bytes, nb_ctx *ctx);

enum { NB_GEMM_SIZE = 1024 };
#define NB_GEMM_FLOPS (2.0 * NB_GEMM_SIZE * NB_GEMM_SIZE * NB_GEMM_SIZE) /* of one product */

/* Makes a contestant of random matrices that ctx owns. */
nb_status nb_forward_gemm(nb_team *team, gsl_rng *rng, nb_contestant *contestant, nb_ctx *ctx);

#endif
