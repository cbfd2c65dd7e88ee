/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Times passes of attentions as it is told, so that another program can time its own in turn.
 *
 *     build/bench/forward [cpu]        reads lines "SPEC n heads threads" and answers each with a line
 *
 * Heads are normal numbers, d = 64. The answer is the seconds of a pass, or "error: " and why there is none: memory is
 * allocated and a first pass made before the clock starts, and passes under a millisecond are repeated for 5 ms, whose
 * mean counts. Attentions stay open until another n, number of heads or of threads is asked for; of slow ones (0.25 s)
 * only the first pass of all is not counted. The SPEC "sgemm" is a product of float matrices of order n in each thread,
 * the limit of what attentions can do. With `cpu` seconds are of this process's work, which is a pass of one thread on
 * a machine that does something else too. */
#include "attentions/attention.h"
#include "base/clock.h"
#include "linalg/blas.h"

#include <gsl/gsl_randist.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { D = 64, MOST_OPEN = 32, LINE = 4096 };

#define SLOW_S 0.25
#define SHORT_S 1e-3
#define BATCH_S 5e-3

static double (*now_s)(void) = nb_clock_s;

typedef struct {
    char *spec;
    nb_choice choice;
    nb_attending attending;
    double last_s; /* of its last pass */
} opened;

/* What is asked for now: a shape, with all that was opened for it. */
typedef struct {
    int n, heads, threads;
    nb_layer layer;
    nb_scalar *out;
    nb_team *team;
    opened attentions[MOST_OPEN];
    int count;
    nb_mark mark;
} shop;

static nb_status draw(nb_layer *layer, gsl_rng *rng, nb_ctx *ctx)
{
    size_t count = (size_t)layer->shape.heads * (size_t)layer->shape.n * D;
    nb_scalar *x;
    NB_NEED(x, nb_alloc_scalars(ctx, 3 * count));
    for (size_t i = 0; i < 3 * count; i++) x[i] = (nb_scalar)gsl_ran_gaussian_ziggurat(rng, 1);
    layer->q = x;
    layer->k = x + count;
    layer->v = x + 2 * count;
    return NB_OK;
}

static nb_status set_up(shop *s, gsl_rng *rng, nb_ctx *ctx)
{
    s->layer.shape = (nb_layer_shape){.batch = 1, .heads = s->heads, .key_heads = s->heads, .n = s->n, .d = D, .dv = D};
    NB_NEED(s->out, nb_alloc_scalars(ctx, (size_t)s->heads * (size_t)s->n * D));
    NB_TRY(ctx, draw(&s->layer, rng, ctx));
    return nb_team_new(s->threads, &s->team, ctx);
}

static nb_status open_one(shop *s, const char *spec, opened **out, nb_ctx *ctx)
{
    for (int i = 0; i < s->count; i++)
        if (strcmp(s->attentions[i].spec, spec) == 0) {
            *out = &s->attentions[i];
            return NB_OK;
        }
    NB_REQUIRE(ctx, s->count < MOST_OPEN, NB_EINVAL, "more than %d attentions are open", MOST_OPEN);
    opened *o = &s->attentions[s->count];
    *o = (opened){.last_s = 0};
    NB_NEED(o->spec, nb_strdup(ctx, spec));
    NB_TRY(ctx, nb_choice_parse(&nb_attentions, spec, &o->choice, ctx));
    NB_TRY(ctx, nb_attention_check(&o->choice, ctx));
    NB_TRY(ctx, nb_attention_open(&o->choice, &s->layer.shape, s->team, (nb_stream){.seed = 1}, &o->attending, ctx));
    s->count++;
    *out = o;
    return NB_OK;
}

static nb_status pass(shop *s, opened *o, nb_ctx *ctx)
{
    nb_passed passed;
    NB_TRY(ctx, nb_attention_forward(&o->attending, &s->layer, s->out, &passed, ctx));
    o->last_s = passed.seconds;
    return NB_OK;
}

static nb_status time_attention(shop *s, const char *spec, double *seconds, nb_ctx *ctx)
{
    opened *o;
    NB_TRY(ctx, open_one(s, spec, &o, ctx));
    if (o->last_s < SLOW_S) NB_TRY(ctx, pass(s, o, ctx));
    int passes = o->last_s < SHORT_S ? 1 + (int)(BATCH_S / o->last_s) : 1;
    double start_s = now_s();
    for (int i = 0; i < passes; i++) NB_TRY(ctx, pass(s, o, ctx));
    *seconds = (now_s() - start_s) / passes;
    return NB_OK;
}

typedef struct {
    int n;
    nb_scalar *a; /* 3 n x n for each thread */
} products;

static void multiply(void *self, int task, int thread)
{
    const products *p = self;
    size_t count = (size_t)p->n * (size_t)p->n;
    nb_scalar *a = p->a + 3 * count * (size_t)task;
    (void)thread;
    nb_scalar_gemm(NB_TRANSPOSED, NB_PLAIN, p->n, p->n, p->n, 1, a, p->n, a + count, p->n, 0, a + 2 * count, p->n);
}

/* One product in each thread, the second of two. */
static nb_status time_products(const shop *s, int n, double *seconds, nb_ctx *ctx)
{
    nb_mark mark = nb_ctx_mark(ctx);
    products p = {.n = n};
    size_t count = 3 * (size_t)n * (size_t)n * (size_t)s->threads;
    NB_NEED(p.a, nb_alloc_scalars(ctx, count));
    for (size_t i = 0; i < count; i++) p.a[i] = (nb_scalar)(i % 1013) / 1013 - (nb_scalar)0.5;
    nb_team_run(s->team, s->threads, multiply, &p);
    double start_s = now_s();
    nb_team_run(s->team, s->threads, multiply, &p);
    *seconds = now_s() - start_s;
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

/* Cuts the last `count` integers off a line. */
static bool cut_numbers(char *line, int count, int *numbers)
{
    while (count-- > 0) {
        char *blank = strrchr(line, ' '), *end;
        if (!blank) return false;
        long number = strtol(blank + 1, &end, 10);
        if (end == blank + 1 || *end || number < 1 || number > 1 << 24) return false;
        numbers[count] = (int)number;
        *blank = '\0';
    }
    return true;
}

static nb_status answer(shop *s, char *line, gsl_rng *rng, double *seconds, nb_ctx *ctx)
{
    int numbers[3];
    NB_REQUIRE(ctx, cut_numbers(line, 3, numbers), NB_EINVAL, "expected: SPEC n heads threads");
    if (strcmp(line, "sgemm") == 0 && s->team && s->threads == numbers[2])
        return time_products(s, numbers[0], seconds, ctx);
    if (numbers[0] != s->n || numbers[1] != s->heads || numbers[2] != s->threads) {
        nb_ctx_release(ctx, s->mark);
        *s = (shop){.n = numbers[0], .heads = numbers[1], .threads = numbers[2], .mark = s->mark};
        NB_TRY(ctx, set_up(s, rng, ctx));
    }
    if (strcmp(line, "sgemm") == 0) return time_products(s, numbers[0], seconds, ctx);
    return time_attention(s, line, seconds, ctx);
}

int main(int argc, char **argv)
{
    static shop s;
    char line[LINE];
    gsl_rng *rng;
    nb_ctx *ctx = nb_ctx_new();
    if (argc > 1 && strcmp(argv[1], "cpu") == 0) now_s = nb_work_s;
    if (!ctx || nb_blas_start(argv, ctx) != NB_OK || nb_random_new(&rng, ctx) != NB_OK) return EXIT_FAILURE;
    mallopt(M_MMAP_MAX, 0); /* as main does: memory that was freed is used again */
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    s.mark = nb_ctx_mark(ctx);
    while (fgets(line, sizeof line, stdin)) {
        double seconds;
        line[strcspn(line, "\n")] = '\0';
        if (answer(&s, line, rng, &seconds, ctx) == NB_OK)
            printf("%.9g\n", seconds);
        else
            printf("error: %s\n", nb_error_message(ctx));
        nb_error_clear(ctx);
        fflush(stdout);
    }
    nb_ctx_free(ctx);
    return EXIT_SUCCESS;
}
