/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scene_private.h - the scene from inside: for the library alone. */
#ifndef NB_SCENE_PRIVATE_H
#define NB_SCENE_PRIVATE_H

#include "kernels/kernel.h"
#include "nystrom/scene.h"
#include "nystrom/watch.h"

#include <stdint.h>

enum { NB_NEAR = 64 }; /* rows that are formed at once: they stay in the cache */

typedef struct nb_forward_time { /* of the landmarks' passes, forward_time.h */
    int m;
    double seconds;
    struct nb_forward_time *next;
} nb_forward_time;

struct nb_scene {
    const nb_head *head; /* under a kernel of one point set: with q = k */
    const nb_choice *kernel;
    const void *options; /* the kernel's, resolved for this head */
    /* Foresight. */
    unsigned along;      /* NB_SCENE_* of make_scene.h */
    nb_low_rank factors; /* of S, where the kernel has them and they are thin; rank = 0: none, or not to be used */
    bool keep;           /* S is kept once it is formed */

    nb_take_points *take; /* gives the points of its tokens, where the head holds none; NULL: it holds them */
    const void *take_self;
    nb_scene *whole;     /* the one that it was cut from, or NULL */
    const int *of_whole; /* which of its tokens: n, ascending */
    bool *read;          /* n: the tokens whose rows of S have been read since this was set; NULL: nobody asks */

    const char *problem; /* whose head it is, and which: they name the order of its tokens */
    int number;
    double *entries;   /* of the kernel that were formed */
    nb_ctx *ctx;       /* owns what is cached below */
    int *positions;    /* 0 ... n-1 */
    double *rows;      /* S, n x n, or NULL: not kept */
    bool formed;       /* `rows` is filled */
    unsigned gathered; /* what is known of the following */
    double norm, baseline_mean, entropy;
    double *row_sums, *column_sums; /* n */
    double *output;                 /* S V by rows, dv x n */
    double *stacked;                /* the tokens' [q; k], 2d x n */
    double *united;                 /* the queries, then the keys, d x 2n */
    int spectrum_count;
    struct nb_kept_spectrum **spectra; /* spectrum_private.h */
    double exact_s;                    /* 0: not measured yet */
    nb_forward_time *forward_times;    /* for each m that was asked for */
    nb_watch *watch;                   /* is told what is kept from now on, or NULL */
    struct {
        const void *bytes;
        uint64_t sum;
    } known[5];      /* checksums of Q, K, V, [Q; K] and both in one set (calls/guard.h) */
    double reused_s; /* time saved since this was last set to 0, by reusing what was there */
};

const nb_kernel *nb_scene_kernel_record(const nb_scene *scene);

nb_status nb_scene_fill(const nb_scene *scene, const nb_tile *tile, double *out, nb_ctx *ctx);

/* Whoever reads rows of S says so: of these tokens, or NULL: all. In the whole's `read` are the tokens themselves; of a
 * cut whose rows were read, all its tokens. That all of the whole's rows were read is not told: an oracle's alone
 * are. */
void nb_scene_note_read(const nb_scene *scene, int count, const int *tokens);

/* Rows first ... first + count - 1 of S, up to column `keys`; out is n x count. */
nb_status nb_scene_form(const nb_scene *scene, int first, int count, int keys, double *out, nb_ctx *ctx);

#endif
