/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nysbench.h - libnysbench picks landmarks, measures their error and runs attention layers, for programs in any
 * language.
 *
 *     cc mine.c $(pkg-config --cflags --libs libnysbench)
 *
 * Every function that can fail returns a status, NYSBENCH_OK or the reason, and leaves a message in the handle. The
 * library prints nothing, starts and ends no process, and keeps no state outside the handles but the functions that the
 * program adds. Any number of handles may exist; each may be used by one thread at a time. While a call runs, the
 * OpenBLAS that the library is linked with uses one thread and GSL's error handler is off; both are restored when the
 * last running call returns. Numbers are read and written as in the locale "C", whatever the program's locale is. In a
 * child of fork, the settings changed by other threads' calls are restored, but handles that those calls were using and
 * attentions with several threads must not be used.
 *
 * Arrays are row-major, as in C: an n x d matrix holds its n rows one after the other. NaN and Inf are refused. The
 * handle owns what a call returns; it lives until the next call with that handle. */
#ifndef NYSBENCH_H
#define NYSBENCH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Grows with every change that requires programs to be recompiled; also the number in the library's soname. */
#define NYSBENCH_API 1

typedef enum {
    NYSBENCH_OK = 0,
    NYSBENCH_EINVAL,   /* an argument, a spec or an option has a value that is not allowed */
    NYSBENCH_ENOMEM,   /* memory ran out */
    NYSBENCH_EDIM,     /* shapes do not agree */
    NYSBENCH_ENUMERIC, /* NaN or Inf in the input, or a factorisation failed */
    NYSBENCH_EIO,      /* a file cannot be read */
    NYSBENCH_EBUG,     /* a broken invariant: please report */
    NYSBENCH_EHOST     /* the system cannot create a thread */
} nysbench_status;

int nysbench_api(void);             /* NYSBENCH_API of the library */
const char *nysbench_version(void); /* "0.9.0" */
const char *nysbench_status_name(nysbench_status status);

/* A handle holds the last message and the memory of results. */
typedef struct nysbench nysbench;
nysbench_status nysbench_new(nysbench **handle);      /* fails only with NYSBENCH_ENOMEM */
void nysbench_free(nysbench *handle);                 /* NULL is allowed */
const char *nysbench_message(const nysbench *handle); /* the last call's message, or "" if it succeeded */
/* Returns a sentence of caution about the last call's head file or cores; "" if there is none. */
const char *nysbench_warning(const nysbench *handle);

/* ---- lists of components: kind is problem, kernel, strategy, core, partition, attention, study, figure or table
 * ---- */

/* Sets a sorted, NULL-terminated list. It stays valid while only nysbench_summary is called. */
nysbench_status nysbench_names(nysbench *handle, const char *kind, const char *const **names);
nysbench_status nysbench_summary(nysbench *handle, const char *kind, const char *name, const char **summary);
/* Sets the text that `nysbench describe NAME` prints. With kind NULL the columns of that name are described, and of
 * components the first, with a line for each other one. */
nysbench_status nysbench_describe(nysbench *handle, const char *kind, const char *name, const char **text);

/* ---- landmarks of one head, and their error ---- */

/* A head and what to do with it. nysbench_request_init fills in the defaults; set the fields that should differ. */
typedef struct {
    size_t size; /* sizeof the caller's struct; one larger than the library's is refused */

    /* The head: arrays, which are not copied, or a file. */
    int n, d, dv; /* tokens, dimensions */
    /* n x d; with k NULL the head is the points q alone, and the default kernel is gram(of=queries). */
    const double *q, *k;
    const double *v; /* n x dv, or NULL */
    int causal; /* 1: a query sees the keys up to its own position; 0: it sees all; -1 (default): the file decides */
    const char *file; /* "heads.safetensors:3", or a folder of .npy files, instead of arrays */

    const char *kernel;   /* a spec; default: softmax */
    const char *strategy; /* a spec */
    int landmarks;        /* m */
    const char *pairing;  /* default: the strategy's own */
    int64_t seed;         /* default: an experiment's, 20260101 */
    int trial;            /* repetition, 0 to 999999; chooses the random streams together with the seed */

    /* The fields below are for nysbench_measure alone. */
    const char *factors;      /* nystromformer (default), cur, nocore or kernel_ridge */
    const char *const *cores; /* specs, NULL-terminated; default: every core that needs no option */
    const char *metrics;      /* names of columns with commas between; default: all */
    /* The caller's own landmarks in place of strategy and pairing: `landmarks` tokens, or points (landmarks x d). If
     * only one side is given it serves both. */
    const int64_t *query_tokens, *key_tokens;
    const double *query_points, *key_points;

    /* Name and head number of the arrays in the rows' columns `problem` (default: arrays) and `head`. Components that
     * read random rows of S seed their draws with this name: with the name that a run's rows have, they draw the same
     * rows as the run. */
    const char *problem;
    int head;

    /* Of a file's head: `source` (default), its source draws with a seed of its own, as in an experiment; `shared`, it
     * draws with `seed` itself. Arrays name no source, and draw with `seed` itself: nysbench_source_seed has that of a
     * source. */
    const char *draws;
} nysbench_request;

void nysbench_request_init_sized(nysbench_request *request, size_t size);
#define nysbench_request_init(request) nysbench_request_init_sized((request), sizeof *(request))

typedef enum { NYSBENCH_TOKENS = 1, NYSBENCH_GROUPS, NYSBENCH_POINTS } nysbench_picks_kind;

typedef struct {           /* landmarks of one side */
    const int64_t *tokens; /* m distinct indices from 0, if the kind is NYSBENCH_TOKENS */
    const int64_t *groups; /* n numbers from 0 to m - 1, the group of each token, if it is NYSBENCH_GROUPS */
    /* m x d, set for every kind: the tokens' points of this side, the groups' means, or free points */
    const double *points;
} nysbench_side;

typedef struct {
    nysbench_picks_kind kind;
    int m, n, d;
    nysbench_side queries, keys; /* equal if the head has no keys */
    double select_s;             /* seconds that the strategy took */
    const char *note;            /* the strategy's remark on its picks, or NULL */
} nysbench_landmarks;

/* Returns the seed with which a source of a model (NULL: its heads name none) draws in an experiment of that seed with
 * `draws: source`, the default. */
int64_t nysbench_source_seed(int64_t seed, const char *model, const char *source);

/* Picks landmarks as `nysbench select` and a run do. Strategies that work in another process are refused; a function of
 * the program may stand for one. */
nysbench_status nysbench_select(nysbench *handle, const nysbench_request *request, nysbench_landmarks *landmarks);

/* Measures as `nysbench measure` does, one row for each core. A row that failed or was skipped is a result too: see its
 * column `status`. docs/columns.md lists all columns. */
nysbench_status nysbench_measure(nysbench *handle, const nysbench_request *request, int *rows);
/* These read the rows of the last nysbench_measure, and keep them. nysbench_row_real also reads integer columns. */
nysbench_status nysbench_row_json(nysbench *handle, int row, const char **json); /* an object from columns to values */
nysbench_status nysbench_row_real(nysbench *handle, int row, const char *column,
                                  double *value); /* NaN if it is empty */
nysbench_status nysbench_row_text(nysbench *handle, int row, const char *column, const char **value);

/* ---- functions of the program as strategies and cores ---- */

/* A pick: what the function is given, and where it leaves its answer. A later library may add fields at the end. */
typedef struct {
    const char *side; /* whose points: "queries", "keys", "joint", "shared" or "both" */
    /* landmarks; points and their dimension (joint: the tokens' [q; k], twice the head's d; shared: the queries, then
     * the keys, twice its n); whether a query sees only the keys up to its own position */
    int m, n, d, causal;
    uint64_t seed;        /* all chance must come from it; 0 for a deterministic function */
    const double *points; /* n x d; NULL with "both" */
    /* "both": n x d each; "joint": the halves of the points, n x d/2 each; else NULL */
    const double *queries, *keys;

    nysbench_picks_kind kind; /* to be set */
    int64_t *tokens[2];       /* room for n: m tokens, or the groups of n tokens; [1] with "both" alone: of the keys */
    double *free_points[2];   /* room for m x d, likewise */
    int sides;                /* 1; with "both" to be set to 2 unless [0] has tokens or groups that serve both sides */
    char message[512];        /* to be set if the function fails: why */
} nysbench_pick;

/* The middle of F X B: what the function is given, and where it leaves X. A later library may add fields at the end. */
typedef struct {
    int m, n, causal;
    uint64_t seed;           /* as in nysbench_pick */
    const double *f, *a, *b; /* n x m, m x m, m x n */
    double *x;               /* m x m, to be set; NaN or Inf: the core has diverged */
    char message[512];       /* to be set if the function fails: why */
} nysbench_middle;

/* Return 0, or another number if they fail. Called in the thread of a call of the library, by one call of a handle at a
 * time; with several handles, several at once. They must not use that handle, and leave by returning. */
typedef int (*nysbench_pick_function)(nysbench_pick *pick, void *user);
typedef int (*nysbench_core_function)(nysbench_middle *middle, void *user);

/* Add a function to this process, for all handles. *spec: its spec, such as callback(id=7), which may stand wherever
 * the spec of a strategy or core may: in requests, and within other specs, "nystrom(strategy=callback(id=7),
 * landmarks=64)". `name` is copied; it stands in messages, and the seeds depend on it: with the canonical spec of a
 * `command`, as the rows of a run have it, the function gets the seeds that the command gets. */
nysbench_status nysbench_add_strategy(nysbench *handle, const char *name, int deterministic,
                                      nysbench_pick_function function, void *user, const char **spec);
nysbench_status nysbench_add_core(nysbench *handle, const char *name, int deterministic,
                                  nysbench_core_function function, void *user, const char **spec);
/* Removes it: from now on its spec is refused, and its number is not used again. No call may be using it. */
nysbench_status nysbench_remove(nysbench *handle, const char *spec);

/* ---- attention layers, single precision, all heads together ---- */

typedef struct {
    size_t size;                 /* sizeof the caller's struct */
    int batch, heads, key_heads; /* inputs; query heads of each; key heads of each, a divisor of `heads` */
    int n, d, dv;                /* tokens, dimension of q and k, dimension of v */
    int causal;
} nysbench_layer;

typedef struct {
    double seconds, multiplications; /* of the last pass: wall-clock seconds, and multiplications */
    double bytes;                    /* peak memory beside its input and output */
} nysbench_cost;

/* An attention ready for passes over layers of one shape, with up to 256 threads (0: one for each CPU). It may outlive
 * the handle, and has a message of its own. */
typedef struct nysbench_attention nysbench_attention;
nysbench_status nysbench_attention_new(nysbench *handle, const char *spec, const nysbench_layer *layer, int threads,
                                       int64_t seed, int trial, nysbench_attention **attention);
void nysbench_attention_free(nysbench_attention *attention); /* NULL is allowed */
const char *nysbench_attention_message(const nysbench_attention *attention);

/* Runs one pass: q (batch x heads x n x d), k (batch x key_heads x n x d), v (batch x key_heads x n x dv), out (batch x
 * heads x n x dv). The result has the same bits for any number of threads. NYSBENCH_EINVAL if the attention refuses
 * such heads, NYSBENCH_ENUMERIC if it diverges. */
nysbench_status nysbench_attention_forward(nysbench_attention *attention, const float *q, const float *k,
                                           const float *v, float *out);
/* Continues a causal layer by some tokens, a prompt or one at a time, for attentions that keep a state
 * (docs/plugins.md names them): q (batch x heads x tokens x d), k, v and out likewise. They follow the tokens of
 * earlier calls, up to the layer's n, and get the bits that one pass over all gives them. NYSBENCH_EDIM beyond n;
 * restart after a failure. */
nysbench_status nysbench_attention_extend(nysbench_attention *attention, int tokens, const float *q, const float *k,
                                          const float *v, float *out);
/* Makes the next pass a first one, for attentions that keep landmarks or features between passes, and the next tokens
 * the first ones. */
void nysbench_attention_restart(nysbench_attention *attention);
void nysbench_attention_cost(const nysbench_attention *attention, nysbench_cost *cost);

/* Sets the seed that a run gives the program of an attention `command` in a trial: with it, a function of yours draws
 * what it draws behind that command. */
nysbench_status nysbench_attention_seed(nysbench *handle, const char *spec, int64_t seed, int trial, uint64_t *drawn);

#ifdef __cplusplus
}
#endif

#endif
