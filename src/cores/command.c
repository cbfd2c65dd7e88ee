/* SPDX-License-Identifier: GPL-3.0-or-later */
/* command.c - X from any program, in Python or anything else (data/asking.h).
 *
 * It finds in the folder of the question
 *     F.npy, A.npy, B.npy  the factors, float64 (n, m), (m, m) and (m, n)
 *     request.json         do ("core"), m, n, seed, causal
 * and leaves X.npy, floats of shape (m, m). With `serve` the answer is {"done": "core"}.
 *
 * core_s includes the files and starting the program; but not forming F and B, the start of a server, and waited_s. */
#include "cores/core.h"

#include "data/asking.h"
#include "data/tensor.h"
#include "linalg/linalg.h"
#include "linalg/vector.h"

#include <float.h>

static const nb_option options[] = {
    NB_ASKING_OPTIONS("its X is the same in all trials", "computes the X of all rows of a worker")};

static const char *const done[] = {"core", NULL};

typedef struct {
    nb_factors *factors;
    const nb_asking *program;
    nb_outer_factors outer;
    nb_question question;
} call;

static nb_status open(call *c, nb_ctx *ctx)
{
    unsigned long seed = 0;
    if (!c->program->deterministic) NB_TRY(ctx, nb_factors_seed(c->factors, NULL, &seed, ctx));
    json_t *request = json_pack("{s:s, s:i, s:i, s:I, s:b}", "do", done[0], "m", nb_factors_m(c->factors), "n",
                                c->outer.n, "seed", (json_int_t)seed, "causal", (int)c->outer.causal);
    nb_status status = nb_question_open(&c->question, c->program, request, ctx);
    c->question.done = done;
    return status;
}

static nb_status read_x(const call *c, const char *path, double *x, nb_ctx *ctx)
{
    int m = nb_factors_m(c->factors);
    nb_tensor t;
    const char *shape;
    double *rows;
    NB_TRY(ctx, nb_npy_open(path, &t, ctx));
    NB_TRY(ctx, nb_tensor_shape(&t, &shape, ctx));
    NB_REQUIRE(ctx, (t.dtype == NB_F64 || t.dtype == NB_F32) && t.rank == 2 && t.shape[0] == m && t.shape[1] == m,
               NB_EINVAL, "X.npy: %s of shape %s; allowed are float64 or float32 of shape (%d, %d)",
               nb_dtype_names[t.dtype], shape, m, m);
    NB_NEED(rows, nb_alloc_raw(ctx, (size_t)t.count));
    NB_TRY(ctx, nb_tensor_read_reals(path, &t, 0, t.count, rows, ctx));
    nb_transpose(m, m, rows, x);
    if (t.dtype == NB_F32) nb_factors_note_epsilon(c->factors, FLT_EPSILON);
    return nb_all_finite((size_t)t.count, x) ? NB_OK : nb_factors_note_diverged(c->factors, "X has NaN or Inf", ctx);
}

static nb_status ask(call *c, double *x, nb_ctx *ctx)
{
    int m = nb_factors_m(c->factors), n = c->outer.n;
    const char *path;
    NB_TRY(ctx, nb_question_add(&c->question, "F.npy", n, m, c->outer.f, ctx));
    NB_TRY(ctx, nb_question_add(&c->question, "A.npy", m, m, c->outer.a, ctx));
    NB_TRY(ctx, nb_question_add(&c->question, "B.npy", m, n, c->outer.b, ctx));
    nb_status status = nb_question_ask(&c->question, ctx);
    nb_factors_leave_out(c->factors, c->question.spared_s);
    NB_TRY(ctx, status);
    NB_TRY(ctx, nb_question_find(&c->question, "X.npy", &path, ctx));
    NB_REQUIRE(ctx, path, NB_EIO, "%s: left no X.npy%s", c->question.who, c->question.said);
    return nb_question_read(&c->question, read_x(c, path, x, ctx), ctx);
}

static nb_status compute(nb_factors *factors, const void *opts, double *x, nb_ctx *ctx)
{
    call c = {.factors = factors, .program = opts};
    NB_TRY(ctx, nb_factors_form(factors, &c.outer, ctx));
    nb_status status = open(&c, ctx);
    if (status == NB_OK) status = ask(&c, x, ctx);
    return nb_question_end(&c.question, status, ctx);
}

static const char *refusal(const nb_factors *factors, const void *opts)
{
    (void)opts;
    return nb_factors_form_refusal(factors);
}

static unsigned traits_of(const void *opts)
{
    return (((const nb_asking *)opts)->deterministic ? 0 : NB_CORE_RANDOM) | NB_CORE_ELSEWHERE;
}

static nb_status ready(const void *opts, nb_ctx *ctx)
{
    return nb_asking_ready(opts, ctx);
}

static const char *const references[] = {"the program that it runs; the .npy format (NumPy enhancement proposal 1)",
                                         NULL};

const nb_core nb_core_command = {
    .component = {"command", "X that a program of your own computes from F, A and B, through files", references,
                  options, sizeof(nb_asking)},
    .traits = NB_CORE_RANDOM | NB_CORE_ELSEWHERE,
    .traits_of = traits_of,
    .compute = compute,
    .refusal = refusal,
    .ready = ready,
};
