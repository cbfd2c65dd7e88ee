/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ctx.h - the context of a computation: its first error with a trace, the memory it owns, and its random stream. There
 * are no globals, so two contexts may live side by side. */
#ifndef NB_CTX_H
#define NB_CTX_H

#if defined __FAST_MATH__ || defined __ASSOCIATIVE_MATH__ || defined __RECIPROCAL_MATH__ || \
    (defined __FINITE_MATH_ONLY__ && __FINITE_MATH_ONLY__)
#error "-ffast-math and its parts (-Ofast too) change what NaN, Inf and sums are: build without"
#endif

#include <gsl/gsl_rng.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

typedef enum {
    NB_OK = 0,
    NB_EINVAL,   /* an argument or option is out of range */
    NB_ENOMEM,   /* memory ran out */
    NB_EDIM,     /* shapes do not agree */
    NB_ENUMERIC, /* NaN or Inf in the input, or LAPACK info > 0 */
    NB_EIO,      /* a file or the store */
    NB_EBUG,     /* a broken invariant: please report */
    NB_EHOST,    /* the machine: no process, no disk space; ends the run */
    NB_EREFUSED, /* returned by strategies only: these landmarks are impossible here, and the row is `skipped` */
    NB_ECRASHED, /* the process that a component ran in ended: the row is `crashed` */
    NB_ELATE,    /* it was ended after its time limit: the row is `timeout` */
    NB_STATUS_COUNT
} nb_status;

typedef struct nb_ctx nb_ctx;
typedef void nb_destroy_fn(void *ptr);

nb_ctx *nb_ctx_new(void);      /* NULL only if out of memory */
void nb_ctx_free(nb_ctx *ctx); /* NULL is allowed */

/* Makes a second arena that shares its parent's error record, random stream, patience and failing allocation, for
 * objects that must outlive the parent's next release. It is freed with the parent's memory around it. NULL with
 * NB_ENOMEM recorded. */
nb_ctx *nb_ctx_child(nb_ctx *parent);

/* Allocates count * size zeroed bytes, aligned to 64 and owned by ctx: never free() them. NULL on failure, with
 * NB_ENOMEM recorded (also if the product overflows). */
void *nb_alloc(nb_ctx *ctx, size_t count, size_t size);
double *nb_alloc_reals(nb_ctx *ctx, size_t rows, size_t cols); /* rows * cols zeroed doubles */
void *nb_alloc_unset(nb_ctx *ctx, size_t count, size_t size);  /* the same, not zeroed */
double *nb_alloc_raw(nb_ctx *ctx, size_t count);               /* doubles, not zeroed */
/* Returns the array itself if its `capacity` is above `count`, else a copy with twice the room, at least 8 and at most
 * INT_MAX. The caller keeps `capacity` with the array. NULL when out of memory; nothing has changed then. Use it
 * through NB_GROW below. */
void *nb_grown(nb_ctx *ctx, void *items, size_t size, int count, int *capacity);

char *nb_strdup(nb_ctx *ctx, const char *text);
char *nb_format(nb_ctx *ctx, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same for sentences and cells, which many calls make: "" when out of memory, and who shows them asks at the end
 * whether that was so, NB_ENOMEM. */
const char *nb_phrase(nb_ctx *ctx, const char *format, ...) __attribute__((format(printf, 2, 3)));
nb_status nb_phrases_end(const nb_ctx *ctx);
/* Copies a text with `to` in the place of each `from`. */
const char *nb_replaced(nb_ctx *ctx, const char *text, const char *from, const char *to);

/* Returns the text itself if it is NULL or clean (text.h), else a clean copy; NULL for the copy when out of memory. */
const char *nb_clean(nb_ctx *ctx, const char *text, const char *kept);

/* Hands a foreign object to ctx, which destroys it with the memory around it, last in first out. On failure it is
 * destroyed at once. */
nb_status nb_defer(nb_ctx *ctx, nb_destroy_fn *destroy, void *ptr);

/* Releasing a mark frees everything allocated since. */
typedef size_t nb_mark;
nb_mark nb_ctx_mark(const nb_ctx *ctx);
void nb_ctx_release(nb_ctx *ctx, nb_mark mark);

/* The random stream that the caller has set for this call, a component's only source of randomness (random.h). */
gsl_rng *nb_ctx_rng(nb_ctx *ctx);
void nb_ctx_set_rng(nb_ctx *ctx, gsl_rng *rng);

const char *nb_status_name(nb_status status);
nb_status nb_error_status(const nb_ctx *ctx);    /* NB_OK if there is none */
const char *nb_error_message(const nb_ctx *ctx); /* "" if there is none */
const char *nb_error_trace(const nb_ctx *ctx);   /* the calls it passed through, one per line */
void nb_error_clear(nb_ctx *ctx);
/* Copies another context's error with its trace, replacing this one's. */
void nb_error_copy(nb_ctx *ctx, const nb_ctx *from);
nb_status nb_error_set(nb_ctx *ctx, nb_status status, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 5, 6))); /* the message is cleaned (text.h) */
/* Prints as vsnprintf does, but cuts a long text in the middle, since its end gives the reason. */
void nb_print_cut(char *out, size_t size, const char *format, va_list args) __attribute__((format(printf, 3, 0)));
/* Replaces the message of an error, and leaves its status and trace. */
void nb_error_reword(nb_ctx *ctx, const char *format, ...) __attribute__((format(printf, 2, 3)));
void nb_error_pass(nb_ctx *ctx, nb_status status, const char *file, int line, const char *expression);

/* Describes the first allocation that failed, even if its caller went on: later code in this process may run short of
 * memory. NULL: none failed. */
const char *nb_ctx_exhausted(const nb_ctx *ctx);
void nb_ctx_forget_exhausted(nb_ctx *ctx);

/* Time limit in seconds of each call of a plug-in's strategy or core, which then runs in a child process
 * (calls/isolated.h); 0, the default: it runs in this one. */
double nb_ctx_isolation(const nb_ctx *ctx);
void nb_ctx_isolate(nb_ctx *ctx, double limit_s);

/* nb_ctx_wait calls act(self): it stands before this process waits for another, whose user may interrupt it. NULL, the
 * default: nothing is called. */
void nb_ctx_on_wait(nb_ctx *ctx, void (*act)(void *self), void *self);
void nb_ctx_wait(const nb_ctx *ctx);

/* Time limit in seconds of each call of a plug-in before anything runs (base/apart.h); 20 by default. */
double nb_ctx_patience(const nb_ctx *ctx);
void nb_ctx_set_patience(nb_ctx *ctx, double seconds);

/* Bytes allocated and alive in this context with its parents and children; and the peak since the last nb_ctx_watch, or
 * since the start. */
size_t nb_ctx_held(const nb_ctx *ctx);
size_t nb_ctx_most(const nb_ctx *ctx);
void nb_ctx_watch(nb_ctx *ctx);

size_t nb_ctx_blocks(const nb_ctx *ctx); /* blocks alive, for tests */
bool nb_ctx_overrun(const nb_ctx *ctx); /* true if something was written just past the end of a block, alive or freed */
/* Makes the k-th next allocation fail (1 = the next; 0: none). Returns how many were still to come before the
 * allocation set to fail earlier; 0: it has failed. */
long nb_ctx_fail_alloc(nb_ctx *ctx, long k);

#define NB_FAIL(ctx, status, ...) \
    do { \
        nb_error_set((ctx), (status), __FILE__, __LINE__, __VA_ARGS__); \
        return (status); \
    } while (0)
#define NB_REQUIRE(ctx, condition, status, ...) \
    do { \
        if (!(condition)) NB_FAIL((ctx), (status), __VA_ARGS__); \
    } while (0)
#define NB_TRY(ctx, expression) \
    do { \
        nb_status nb_try_ = (expression); \
        if (nb_try_ != NB_OK) { \
            nb_error_pass((ctx), nb_try_, __FILE__, __LINE__, #expression); \
            return nb_try_; \
        } \
    } while (0)
/* Assigns the allocation, or returns NB_ENOMEM (which the allocation recorded). */
#define NB_NEED(pointer, allocation) \
    do { \
        if (!((pointer) = (allocation))) return NB_ENOMEM; \
    } while (0)
/* Makes room for one more item behind `count` items of an array that ctx owns, or returns NB_ENOMEM. `capacity` is kept
 * with the array: 0 where there is no array yet. */
#define NB_GROW(ctx, items, count, capacity) \
    do { \
        void *nb_grown_ = nb_grown((ctx), (items), sizeof *(items), (count), &(capacity)); \
        if (!nb_grown_) return NB_ENOMEM; \
        (items) = nb_grown_; \
    } while (0)

#endif
