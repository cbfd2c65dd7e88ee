/* SPDX-License-Identifier: GPL-3.0-or-later */
/* landmark_pass_private.h - what a pass from landmarks keeps for each head. */
#ifndef NB_LANDMARK_PASS_PRIVATE_H
#define NB_LANDMARK_PASS_PRIVATE_H

#include "layers/landmark_pass.h"
#include "layers/softmax.h"

enum { NB_STRETCH = 1024, NB_REASON = 256 }; /* keys of a task of B V; bytes */

typedef struct {         /* one query head's */
    nb_scalar *q, *k;    /* d x m: its landmarks; behind those of q the queries that are drawn */
    int *queries, *keys; /* m: which tokens they are, where they are tokens; behind those of the queries, the drawn */
    double *weights;     /* m + drawn: queries that each of these stands for */
    bool tokens;
    double *a, *x;         /* m x m, unless the core is fitted to outputs */
    nb_scalar *w;          /* dv x m: (X (B V))' */
    nb_scalar *sums;       /* (dv + 2) x m for each stretch of keys: of exp() v; largest logit; of exp() */
    nb_scalar *lse;        /* n, of cur: ln of the sums of S's rows before they are divided */
    int *kept, kept_count; /* tokens whose rows the core returns exactly */
    double one;            /* |A|_1 */
    double select_s, core_s;
    nb_status status;
    bool refused, diverged;
    char reason[NB_REASON];
} nb_landmark_head;

typedef struct {
    nb_landmark_how how;
    nb_choice kernel; /* set in each pass */
    int stretches, most_kept;
    nb_landmark_head *heads;
    nb_softmax *softmax; /* one for each thread */
    double *busy_s;      /* by thread: with B V */
    nb_scalar **gather;  /* by thread: (d + dv) x NB_BLOCK_QUERIES, where rows are kept */
    double **middle;     /* by thread: 2 dv x m */
} nb_landmark_state;

typedef struct {
    nb_pass *pass;
    nb_landmark_state *s;
    bool fresh;       /* landmarks are chosen in this pass */
    bool inverts;     /* X is yet to be computed, by nb_landmark_invert */
    double batch_one; /* the largest |A|_1 */
} nb_landmark_work;

/* Returns whether the core asks for more than A. */
bool nb_landmark_looks_at_s(const nb_landmark_how *how);

/* Landmarks and A of all heads, and X unless work->inverts is set; on a pass that keeps them, nothing. */
nb_status nb_landmark_middle(nb_landmark_work *work, nb_ctx *ctx);

/* A task of an nb_landmark_work: X of one head, from A. */
void nb_landmark_invert(void *work, int head, int thread);

/* Queries of which B V is asked: the landmarks', and those that are drawn. */
int nb_landmark_queries(const nb_landmark_how *how);

/* Draws these of a head that has its landmarks. */
nb_status nb_landmark_draw(const nb_landmark_work *work, int head, nb_landmark_head *h, nb_ctx *ctx);

/* W of one head, fitted to the exact outputs (dv x m + drawn) at these queries; the head says how it went. */
void nb_landmark_fit(const nb_landmark_work *work, int head, int thread, const nb_scalar *outputs);

/* Keep what a head's task has to tell: a failure of `ctx`, or nothing; a reason. */
void nb_landmark_keep_failure(nb_landmark_head *h, nb_status status, nb_ctx *ctx);
void nb_landmark_note(nb_landmark_head *h, bool *flag, const char *reason);

/* The first head that has something to tell, tells it. */
nb_status nb_landmark_outcome(nb_pass *pass, const nb_landmark_state *state, nb_ctx *ctx);

#endif
