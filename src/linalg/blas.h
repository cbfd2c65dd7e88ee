/* SPDX-License-Identifier: GPL-3.0-or-later */
/* blas.h - starts OpenBLAS with the right kernels for this CPU and one thread.
 *
 * An OpenBLAS older than the CPU falls back to its slowest kernels. So its choice is compared with what the CPU can do,
 * and if it is worse the program executes itself once more with OPENBLAS_CORETYPE set, since the library reads that
 * before main. OPENBLAS_NUM_THREADS=1 is set in the same way. */
#ifndef NB_BLAS_H
#define NB_BLAS_H

#include "base/ctx.h"

typedef struct {                     /* the facts that decide */
    bool amd, avx, avx2_fma, avx512; /* avx512: F, DQ, BW and VL */
    bool fma4, threednow;            /* only old AMD CPUs have these */
    const char *running;             /* openblas_get_corename() */
    const char *core_type;           /* OPENBLAS_CORETYPE, or NULL */
    bool threads_set;                /* OPENBLAS_NUM_THREADS or OMP_NUM_THREADS, not empty */
    bool again;                      /* this is the second start */
} nb_blas_situation;

typedef struct {
    const char *core_type; /* to set before the second start, or NULL */
    bool set_threads;      /* to set one thread before the second start */
} nb_blas_decision;

/* NB_EINVAL if the user's OPENBLAS_CORETYPE is unknown or not for this CPU. */
nb_status nb_blas_decide(const nb_blas_situation *situation, nb_blas_decision *decision, nb_ctx *ctx);

/* Returns whether this process may take no more than some memory (ulimit -v, ulimit -d): then the threads that OpenBLAS
 * has from its start, unless the program is started again with one, wait for memory, and the process never ends. */
bool nb_blas_memory_is_limited(void);

/* Decides and acts on the decision; may restart the program instead of returning. Called first in main. */
nb_status nb_blas_start(char **argv, nb_ctx *ctx);

/* Makes OpenBLAS allocate its buffer now. It does so at the first large product, and retries forever if there is no
 * memory. If this process has a memory limit (ulimit -v, ulimit -d), a child tries first. NB_EINVAL if the limit is too
 * low. */
nb_status nb_blas_take_memory(nb_ctx *ctx);

/* Runs a product large enough for that allocation. */
nb_status nb_blas_warm_up(nb_ctx *ctx);

/* Ends the threads that OpenBLAS has from its start, for a command that computes nothing: they wait in a loop, which
 * takes CPU time. What computes starts them again. */
void nb_blas_end_threads(void);

/* Returns how many threads this OpenBLAS was built for. */
int nb_blas_most_threads(void);
/* Sets the number of threads from now on, in this process. NB_EINVAL if OpenBLAS refuses. */
nb_status nb_blas_set_threads(int threads, nb_ctx *ctx);

typedef struct {
    const char *config;  /* OpenBLAS's own description */
    const char *kernels; /* the kernels in use */
    const char *best;    /* the best for this CPU, which are those in use unless they are worse */
    int threads, int_bits;
    bool worse;     /* the kernels in use are slower than the best */
    bool restarted; /* this process is the second start */
} nb_blas_info;

void nb_blas_describe(nb_blas_info *info);

#endif
