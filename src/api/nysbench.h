/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nysbench.h - libnysbench: landmarks, their error and attention layers, for programs in any language.
 *
 *     cc mine.c $(pkg-config --cflags --libs libnysbench)
 *
 * Every function that can fail returns a status, NYSBENCH_OK or the reason, with a message in the handle. Nothing is
 * printed, no process is started or ended, and there is no state beside the handles: any number of them may be used at
 * a time, each by one thread at a time. While a call runs, the OpenBLAS that this library is linked with works with one
 * thread and GSL's error handler is off; both are as they were when the last call has returned. Numbers are read and
 * written as in the locale "C", whatever the program's is. In a child of fork, what other threads' calls have set is as
 * it was before; what these calls used there is of no use any more, nor is any attention that has several threads.
 *
 * Arrays are C's: a matrix of n x d holds its n rows one after the other. Numbers are checked: NaN and Inf are refused.
 * What a call gives is the handle's, and lives until the next call with it. */
#ifndef NYSBENCH_H
#define NYSBENCH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Grows when anything here changes so that programs must be compiled again; also the number in the library's soname. */
#define NYSBENCH_API 1

typedef enum {
    NYSBENCH_OK = 0,
    NYSBENCH_EINVAL,   /* an argument, a spec or an option is not what is allowed */
    NYSBENCH_ENOMEM,   /* memory ran out */
    NYSBENCH_EDIM,     /* shapes do not agree */
    NYSBENCH_ENUMERIC, /* NaN or Inf in the input, or a factorisation failed */
    NYSBENCH_EIO,      /* a file */
    NYSBENCH_EBUG,     /* a broken invariant: please report */
    NYSBENCH_EHOST     /* the machine: it gives no thread */
} nysbench_status;

int nysbench_api(void);             /* NYSBENCH_API of the library */
const char *nysbench_version(void); /* "0.9.0" */
const char *nysbench_status_name(nysbench_status status);

/* A handle: the last message, and the memory of results. */
typedef struct nysbench nysbench;
nysbench_status nysbench_new(nysbench **handle);      /* NYSBENCH_ENOMEM is all that can go wrong */
void nysbench_free(nysbench *handle);                 /* NULL is allowed */
const char *nysbench_message(const nysbench *handle); /* of the last call, if it failed; else "" */
/* Returns a sentence on what is doubtful about the last call's head file or its cores, "" if nothing is. */
const char *nysbench_warning(const nysbench *handle);

/* ---- what there is: kind is problem, kernel, strategy, core, partition, attention, study, figure or table ---- */

/* NULL-terminated, sorted. They stay while only nysbench_summary is called. */
nysbench_status nysbench_names(nysbench *handle, const char *kind, const char *const **names);
nysbench_status nysbench_summary(nysbench *handle, const char *kind, const char *name, const char **summary);
/* What `nysbench describe NAME` prints; kind may be NULL: whatever has the name, columns too. */
nysbench_status nysbench_describe(nysbench *handle, const char *kind, const char *name, const char **text);

/* ---- landmarks of one head, and their error ---- */

/* A head, and what is to be done with it. Set by nysbench_request_init; fields that are then left alone have their
 * default. */
typedef struct {
    size_t size; /* of this struct, as the caller knows it; a larger one than the library's is refused */

    /* The head: arrays, which are not copied, or a file. */
    int n, d, dv;        /* tokens, dimensions */
    const double *q, *k; /* n x d; k NULL: the points q alone, and then the default kernel is gram(of=queries) */
    const double *v;     /* n x dv, or NULL */
    int causal;          /* 1: a query sees the keys up to its own position; 0: all; -1 (default): as the file says */
    const char *file;    /* "heads.safetensors:3", or a folder of .npy files, instead of arrays */

    const char *kernel;   /* a spec; default: softmax */
    const char *strategy; /* a spec */
    int landmarks;        /* m */
    const char *pairing;  /* default: the strategy's own */
    int64_t seed;         /* default: an experiment's, 20260101 */
    int trial;            /* of the seed, 0 to 999999 */

    /* nysbench_measure alone. */
    const char *factors;      /* nystromformer (default), cur, nocore or kernel_ridge */
    const char *const *cores; /* specs, NULL-terminated; default: every core that needs no option */
    const char *metrics;      /* names of columns with commas between; default: all */
    /* Landmarks of one's own instead of strategy and pairing: `landmarks` tokens, or points (landmarks x d). Tokens of
     * one side alone serve both. */
    const int64_t *query_tokens, *key_tokens;
    const double *query_points, *key_points;

    /* What arrays are called in the rows' column `problem` (default: arrays), and which head of it they are. Components
     * that look at some rows of S draw them by this name: with that of a run's rows they draw what the run did. */
    const char *problem;
    int head;
} nysbench_request;

void nysbench_request_init_sized(nysbench_request *request, size_t size);
#define nysbench_request_init(request) nysbench_request_init_sized((request), sizeof *(request))

typedef enum { NYSBENCH_TOKENS = 1, NYSBENCH_GROUPS, NYSBENCH_POINTS } nysbench_picks_kind;

typedef struct {           /* of one side */
    const int64_t *tokens; /* m distinct indices from 0, if the kind is NYSBENCH_TOKENS */
    const int64_t *groups; /* n numbers from 0 to m - 1, the group of each token, if it is NYSBENCH_GROUPS */
    const double *points; /* m x d, of every kind: the tokens' points of this side, the groups' means, or free points */
} nysbench_side;

typedef struct {
    nysbench_picks_kind kind;
    int m, n, d;
    nysbench_side queries, keys; /* without keys they are the same */
    double select_s;             /* seconds that the strategy took */
    const char *note;            /* what it says about them, or NULL */
} nysbench_landmarks;

/* Picks as `nysbench select` and a run pick. Strategies that work in another process are refused. */
nysbench_status nysbench_select(nysbench *handle, const nysbench_request *request, nysbench_landmarks *landmarks);

/* Measures as `nysbench measure` does: a row for each core. A row that failed or was skipped is a result, see its
 * column `status`; docs/columns.md has all columns. */
nysbench_status nysbench_measure(nysbench *handle, const nysbench_request *request, int *rows);
/* Of the rows of the last nysbench_measure, which these calls keep. A real is also a column of integers. */
nysbench_status nysbench_row_json(nysbench *handle, int row, const char **json); /* an object: columns and values */
nysbench_status nysbench_row_real(nysbench *handle, int row, const char *column, double *value); /* NaN: it is empty */
nysbench_status nysbench_row_text(nysbench *handle, int row, const char *column, const char **value);

/* ---- attention layers, single precision, all heads together ---- */

typedef struct {
    size_t size;                 /* of this struct, as the caller knows it */
    int batch, heads, key_heads; /* inputs; heads of each; key heads of each, which divide these */
    int n, d, dv;                /* tokens, dimension of q and k, dimension of v */
    int causal;
} nysbench_layer;

typedef struct {
    double seconds, multiplications; /* of the last pass */
    double bytes;                    /* the most that it held beside its input and output */
} nysbench_cost;

/* An attention that is ready for passes over layers of one shape, with so many threads, 256 at most (0: one for each
 * CPU). It may outlive the handle, and has a message of its own. */
typedef struct nysbench_attention nysbench_attention;
nysbench_status nysbench_attention_new(nysbench *handle, const char *spec, const nysbench_layer *layer, int threads,
                                       int64_t seed, int trial, nysbench_attention **attention);
void nysbench_attention_free(nysbench_attention *attention); /* NULL is allowed */
const char *nysbench_attention_message(const nysbench_attention *attention);

/* q (batch x heads x n x d), k (batch x key_heads x n x d), v (batch x key_heads x n x dv),
 * out (batch x heads x n x dv). The same bits for any number of threads. NYSBENCH_EINVAL where the attention refuses
 * such heads, NYSBENCH_ENUMERIC where it diverges. */
nysbench_status nysbench_attention_forward(nysbench_attention *attention, const float *q, const float *k,
                                           const float *v, float *out);
/* The next tokens of a causal layer, a prompt or one at a time, for attentions that keep a state (docs/library.md
 * names them): q (batch x heads x tokens x d), k, v and out likewise. They come after those of the calls before, up to
 * the layer's n, and have the bits that one pass over all gives them. NYSBENCH_EDIM behind n; after a failure,
 * restart. */
nysbench_status nysbench_attention_extend(nysbench_attention *attention, int tokens, const float *q, const float *k,
                                          const float *v, float *out);
/* The next pass is the first one again, for attentions that keep landmarks or features between passes; the next tokens
 * are the first ones. */
void nysbench_attention_restart(nysbench_attention *attention);
void nysbench_attention_cost(const nysbench_attention *attention, nysbench_cost *cost);

#ifdef __cplusplus
}
#endif

#endif
