/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scene_record.h - the struct behind nb_scene, for the library alone. */
#ifndef NB_SCENE_RECORD_H
#define NB_SCENE_RECORD_H

#include "kernels/kernel.h"
#include "nystrom/scene.h"

#include <stdint.h>

enum { NB_NEAR = 64 }; /* rows formed at once, which stay in the cache */

typedef struct nb_forward_time { /* time of a forward pass from m landmarks */
    int m;
    double seconds;
    struct nb_forward_time *next;
} nb_forward_time;

typedef struct {         /* results that somebody had to compute, and that went with a process */
    bool rows, sums;     /* S, and its sums */
    int values, vectors; /* singular values and vectors: how many, 0 for none */
} nb_scene_lost;

struct nb_scene {
    const nb_head *head; /* with q = k under a kernel of one point set */
    const nb_choice *kernel;
    const void *options; /* the kernel's options, resolved for this head */
    /* Hints on the questions to come. */
    unsigned along;      /* NB_SCENE_* to compute in the first pass (make_scene.h) */
    nb_low_rank factors; /* factors of S, if the kernel has them and they are thin; rank = 0: none, or not to be used */
    bool keep;           /* S is kept once it is formed */

    nb_take_points *take; /* gives the points of its tokens; NULL: the head holds them */
    const void *take_self;
    nb_scene *whole;     /* the scene that it was cut from, or NULL */
    const int *of_whole; /* n, ascending: its tokens among the whole's */
    bool *read;          /* n: tokens whose rows of S were read since this was set; NULL: not recorded */

    const char *problem; /* its problem and number, which seed the order of its tokens */
    int number;
    double *entries;   /* entries of the kernel formed so far */
    nb_ctx *ctx;       /* owns the cache below */
    int *positions;    /* 0 ... n-1 */
    double *rows;      /* S, n x n, or NULL: not kept */
    bool formed;       /* `rows` is filled */
    unsigned gathered; /* flags of the known results below */
    double norm, baseline_mean, entropy;
    double *row_sums, *column_sums; /* n */
    double *output;                 /* S V by rows, dv x n */
    double *stacked;                /* the tokens' [q; k], 2d x n */
    double *united;                 /* the queries, then the keys, d x 2n */
    int spectrum_count;
    struct nb_kept_spectrum **spectra; /* spectrum_record.h */
    double exact_s;                    /* seconds of exact attention; 0: not measured yet */
    nb_forward_time *forward_times;    /* one for each m that was asked for */
    nb_scene_lost lost;                /* what a child process has cached in its copy of this */
    double reused_s;                   /* time saved by the cache since this was last set to 0 */
};

const nb_kernel *nb_scene_kernel_record(const nb_scene *scene);

nb_status nb_scene_fill(const nb_scene *scene, const nb_tile *tile, double *out, nb_ctx *ctx);

/* Records that rows of S were read: those of these tokens, or NULL: all. The whole's `read` gets the tokens themselves;
 * for a cut, all tokens of the cut. Reading all rows of the whole is not recorded, since only oracles do that. */
void nb_scene_note_read(const nb_scene *scene, int count, const int *tokens);

/* Forms rows first ... first + count - 1 of S, up to column `keys`; out is n x count. */
nb_status nb_scene_form(const nb_scene *scene, int first, int count, int keys, double *out, nb_ctx *ctx);

#endif
