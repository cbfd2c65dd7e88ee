/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ctx.c - the arena is a stack of blocks; a mark is its height. */
#include "base/ctx.h"

#include "base/text.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64, GUARD = 0xa5, MESSAGE_BYTES = 1024, TRACE_BYTES = 2048 };

typedef struct {
    void *ptr; /* malloc's: the memory that is handed out begins at first_aligned */
    nb_destroy_fn *destroy;
    unsigned char *guard; /* 1 to 64 bytes behind that memory, up to the alignment; NULL: a foreign object */
} block;

typedef struct {       /* what a child shares with its parent */
    long fail_in;      /* allocations until the one that fails; 0: none fails */
    size_t held, most; /* bytes */
    gsl_rng *rng;
    double patience_s, isolation_s;
    void (*on_wait)(void *self);
    void *waits;
    bool overrun;        /* a guard was written to */
    char exhausted[128]; /* the first allocation that failed, or "" */
    nb_status error;
    char message[MESSAGE_BYTES];
    char trace[TRACE_BYTES];
} record;

struct nb_ctx {
    block *blocks;
    size_t count, capacity;
    record *shared;
    record own; /* a parent's; unused in a child */
};

nb_ctx *nb_ctx_new(void)
{
    nb_ctx *ctx = calloc(1, sizeof *ctx);
    if (!ctx) return NULL;
    ctx->shared = &ctx->own;
    ctx->own.patience_s = 20;
    return ctx;
}

static void free_child(void *child)
{
    nb_ctx_free(child);
}

nb_ctx *nb_ctx_child(nb_ctx *parent)
{
    nb_ctx *child = nb_ctx_new();
    if (!child) {
        nb_error_set(parent, NB_ENOMEM, __FILE__, __LINE__, "out of memory: a context");
        return NULL;
    }
    child->shared = parent->shared;
    return nb_defer(parent, free_child, child) == NB_OK ? child : NULL;
}

void nb_ctx_free(nb_ctx *ctx)
{
    if (!ctx) return;
    nb_ctx_release(ctx, 0);
    free(ctx->blocks);
    free(ctx);
}

static nb_status push(nb_ctx *ctx, void *ptr, nb_destroy_fn *destroy, unsigned char *guard)
{
    if (ctx->count == ctx->capacity) {
        size_t capacity = ctx->capacity ? 2 * ctx->capacity : 64;
        block *blocks = realloc(ctx->blocks, capacity * sizeof *blocks);
        if (!blocks) return NB_ENOMEM;
        ctx->blocks = blocks;
        ctx->capacity = capacity;
    }
    ctx->blocks[ctx->count++] = (block){ptr, destroy, guard};
    return NB_OK;
}

static bool injected_failure(nb_ctx *ctx)
{
    return ctx->shared->fail_in > 0 && --ctx->shared->fail_in == 0;
}

static unsigned char *first_aligned(void *ptr)
{
    return (unsigned char *)ptr + (ALIGNMENT - (uintptr_t)ptr % ALIGNMENT) % ALIGNMENT;
}

static size_t guard_bytes(const unsigned char *guard)
{
    return ALIGNMENT - (uintptr_t)guard % ALIGNMENT;
}

/* All bytes are the first one. */
static bool whole(const block *b)
{
    return !b->guard || (*b->guard == GUARD && memcmp(b->guard, b->guard + 1, guard_bytes(b->guard) - 1) == 0);
}

/* Uses malloc, whose small blocks are at hand: aligned_alloc takes several times as long. */
void *nb_alloc_unset(nb_ctx *ctx, size_t count, size_t size)
{
    size_t bytes = 0, padded = 0;
    void *ptr = NULL;
    if (!injected_failure(ctx) && !__builtin_mul_overflow(count, size, &bytes) &&
        !__builtin_add_overflow(bytes, (size_t)(2 * ALIGNMENT), &padded))
        ptr = malloc(padded);
    unsigned char *start = ptr ? first_aligned(ptr) : NULL, *guard = ptr ? start + bytes : NULL;
    if (ptr && push(ctx, ptr, free, guard) != NB_OK) {
        free(ptr);
        ptr = NULL;
    }
    if (ptr) {
        record *r = ctx->shared;
        memset(guard, GUARD, guard_bytes(guard));
        r->held += bytes;
        if (r->held > r->most) r->most = r->held;
        return start;
    }
    char *first = ctx->shared->exhausted;
    if (!*first) snprintf(first, sizeof ctx->shared->exhausted, "out of memory: %zu objects of %zu bytes", count, size);
    nb_error_set(ctx, NB_ENOMEM, __FILE__, __LINE__, "out of memory: %zu objects of %zu bytes", count, size);
    return NULL;
}

void *nb_alloc(nb_ctx *ctx, size_t count, size_t size)
{
    void *ptr = nb_alloc_unset(ctx, count, size);
    return ptr ? memset(ptr, 0, count * size) : NULL;
}

double *nb_alloc_raw(nb_ctx *ctx, size_t count)
{
    return nb_alloc_unset(ctx, count, sizeof(double));
}

double *nb_alloc_reals(nb_ctx *ctx, size_t rows, size_t cols)
{
    size_t count = 0;
    if (__builtin_mul_overflow(rows, cols, &count)) count = SIZE_MAX;
    return nb_alloc(ctx, count, sizeof(double));
}

void *nb_grown(nb_ctx *ctx, void *items, size_t size, int count, int *capacity)
{
    if (count < *capacity) return items;
    if (*capacity == INT_MAX) {
        nb_error_set(ctx, NB_ENOMEM, __FILE__, __LINE__, "out of memory: more than %d objects", INT_MAX);
        return NULL;
    }
    int wanted = *capacity > INT_MAX / 2 ? INT_MAX : *capacity > 0 ? 2 * *capacity : 8;
    void *larger = nb_alloc(ctx, (size_t)wanted, size);
    if (!larger) return NULL;
    if (count > 0) memcpy(larger, items, (size_t)count * size);
    *capacity = wanted;
    return larger;
}

char *nb_strdup(nb_ctx *ctx, const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = nb_alloc(ctx, bytes, 1);
    return copy ? memcpy(copy, text, bytes) : NULL;
}

const char *nb_replaced(nb_ctx *ctx, const char *text, const char *from, const char *to)
{
    size_t length = strlen(from), count = 0;
    for (const char *at = text; (at = strstr(at, from)); at += length) count++;
    char *copy = nb_alloc(ctx, strlen(text) + count * strlen(to) + 1, 1), *end = copy;
    for (const char *at; copy && (at = strstr(text, from)); text = at + length)
        end += sprintf(end, "%.*s%s", (int)(at - text), text, to);
    if (copy) sprintf(end, "%s", text);
    return copy;
}

const char *nb_clean(nb_ctx *ctx, const char *text, const char *kept)
{
    char *clean;
    if (!text || nb_text_is_clean(text, kept)) return text;
    size_t bytes = nb_text_clean(text, kept, NULL, 0) + 1;
    if ((clean = nb_alloc(ctx, bytes, 1))) nb_text_clean(text, kept, clean, bytes);
    return clean;
}

static char *print(nb_ctx *ctx, const char *format, va_list args)
{
    char most[256]; /* most texts fit, and are made once */
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(most, sizeof most, format, args);
    char *text = length < 0 ? NULL : nb_alloc(ctx, (size_t)length + 1, 1);
    if (text && (size_t)length < sizeof most)
        memcpy(text, most, (size_t)length);
    else if (text)
        vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

char *nb_format(nb_ctx *ctx, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = print(ctx, format, args);
    va_end(args);
    return text;
}

const char *nb_phrase(nb_ctx *ctx, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = print(ctx, format, args);
    va_end(args);
    return text ? text : "";
}

nb_status nb_phrases_end(const nb_ctx *ctx)
{
    return nb_error_status(ctx) == NB_ENOMEM ? NB_ENOMEM : NB_OK;
}

nb_status nb_defer(nb_ctx *ctx, nb_destroy_fn *destroy, void *ptr)
{
    if (!injected_failure(ctx) && push(ctx, ptr, destroy, NULL) == NB_OK) return NB_OK;
    destroy(ptr);
    NB_FAIL(ctx, NB_ENOMEM, "out of memory: one more object to own");
}

nb_mark nb_ctx_mark(const nb_ctx *ctx)
{
    return ctx->count;
}

void nb_ctx_release(nb_ctx *ctx, nb_mark mark)
{
    while (ctx->count > mark) {
        block last = ctx->blocks[--ctx->count];
        if (!whole(&last)) ctx->shared->overrun = true;
        if (last.guard) ctx->shared->held -= (size_t)(last.guard - first_aligned(last.ptr));
        last.destroy(last.ptr);
    }
}

gsl_rng *nb_ctx_rng(nb_ctx *ctx)
{
    return ctx->shared->rng;
}

void nb_ctx_set_rng(nb_ctx *ctx, gsl_rng *rng)
{
    ctx->shared->rng = rng;
}

const char *nb_status_name(nb_status status)
{
    static const char *const names[NB_STATUS_COUNT] = {
        [NB_OK] = "ok",
        [NB_EINVAL] = "invalid value",
        [NB_ENOMEM] = "out of memory",
        [NB_EDIM] = "shapes do not agree",
        [NB_ENUMERIC] = "numerical failure",
        [NB_EIO] = "input or output failed",
        [NB_EBUG] = "internal error",
        [NB_EHOST] = "the machine failed",
        [NB_EREFUSED] = "refused",
        [NB_ECRASHED] = "crashed",
        [NB_ELATE] = "not done in time",
    };
    return (unsigned)status < NB_STATUS_COUNT ? names[status] : "unknown status";
}

nb_status nb_error_status(const nb_ctx *ctx)
{
    return ctx->shared->error;
}

const char *nb_error_message(const nb_ctx *ctx)
{
    return ctx->shared->message;
}

const char *nb_error_trace(const nb_ctx *ctx)
{
    return ctx->shared->trace;
}

void nb_error_clear(nb_ctx *ctx)
{
    ctx->shared->error = NB_OK;
    ctx->shared->message[0] = ctx->shared->trace[0] = '\0';
}

void nb_error_copy(nb_ctx *ctx, const nb_ctx *from)
{
    ctx->shared->error = from->shared->error;
    memcpy(ctx->shared->message, from->shared->message, MESSAGE_BYTES);
    memcpy(ctx->shared->trace, from->shared->trace, TRACE_BYTES);
}

static void trace(nb_ctx *ctx, const char *file, int line, const char *what)
{
    size_t used = strlen(ctx->shared->trace);
    snprintf(ctx->shared->trace + used, TRACE_BYTES - used, "  %s (%s:%d)\n", what, file, line);
}

void nb_print_cut(char *out, size_t size, const char *format, va_list args)
{
    va_list again;
    char *whole = NULL;
    size_t head = (size - 4) / 2, tail = size - 4 - head;
    va_copy(again, args);
    int length = vsnprintf(out, size, format, args);
    if (length >= 0 && (size_t)length >= size && vasprintf(&whole, format, again) >= 0) {
        memcpy(out + head, "...", 3); /* NOLINT(bugprone-not-null-terminated-result): the tail follows */
        memcpy(out + head + 3, whole + (size_t)length - tail, tail + 1);
        free(whole);
    }
    va_end(again);
}

static void print_message(nb_ctx *ctx, const char *format, va_list args)
{
    char raw[MESSAGE_BYTES];
    va_list again;
    va_copy(again, args);
    nb_print_cut(raw, sizeof raw, format, args);
    if (nb_text_clean(raw, "", ctx->shared->message, MESSAGE_BYTES) >= MESSAGE_BYTES) { /* grown beyond its room */
        nb_print_cut(raw, sizeof raw / 4, format, again);
        nb_text_clean(raw, "", ctx->shared->message, MESSAGE_BYTES);
    }
    va_end(again);
}

nb_status nb_error_set(nb_ctx *ctx, nb_status status, const char *file, int line, const char *format, ...)
{
    if (ctx->shared->error != NB_OK) return status;
    va_list args;
    va_start(args, format);
    print_message(ctx, format, args);
    va_end(args);
    ctx->shared->error = status;
    trace(ctx, file, line, nb_status_name(status));
    return status;
}

void nb_error_reword(nb_ctx *ctx, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_message(ctx, format, args);
    va_end(args);
}

void nb_error_pass(nb_ctx *ctx, nb_status status, const char *file, int line, const char *expression)
{
    if (ctx->shared->error == NB_OK)
        nb_error_set(ctx, status, file, line, "%s failed without a message", expression);
    else
        trace(ctx, file, line, expression);
}

double nb_ctx_patience(const nb_ctx *ctx)
{
    return ctx->shared->patience_s;
}

void nb_ctx_set_patience(nb_ctx *ctx, double seconds)
{
    ctx->shared->patience_s = seconds;
}

const char *nb_ctx_exhausted(const nb_ctx *ctx)
{
    return *ctx->shared->exhausted ? ctx->shared->exhausted : NULL;
}

void nb_ctx_forget_exhausted(nb_ctx *ctx)
{
    ctx->shared->exhausted[0] = '\0';
}

double nb_ctx_isolation(const nb_ctx *ctx)
{
    return ctx->shared->isolation_s;
}

void nb_ctx_isolate(nb_ctx *ctx, double limit_s)
{
    ctx->shared->isolation_s = limit_s;
}

void nb_ctx_on_wait(nb_ctx *ctx, void (*act)(void *self), void *self)
{
    ctx->shared->on_wait = act;
    ctx->shared->waits = self;
}

void nb_ctx_wait(const nb_ctx *ctx)
{
    if (ctx->shared->on_wait) ctx->shared->on_wait(ctx->shared->waits);
}

size_t nb_ctx_held(const nb_ctx *ctx)
{
    return ctx->shared->held;
}

size_t nb_ctx_most(const nb_ctx *ctx)
{
    return ctx->shared->most;
}

void nb_ctx_watch(nb_ctx *ctx)
{
    ctx->shared->most = ctx->shared->held;
}

size_t nb_ctx_blocks(const nb_ctx *ctx)
{
    return ctx->count;
}

bool nb_ctx_overrun(const nb_ctx *ctx)
{
    bool overrun = ctx->shared->overrun;
    for (size_t i = 0; i < ctx->count; i++) overrun = overrun || !whole(&ctx->blocks[i]);
    return overrun;
}

long nb_ctx_fail_alloc(nb_ctx *ctx, long k)
{
    long left = ctx->shared->fail_in;
    ctx->shared->fail_in = k;
    return left;
}
