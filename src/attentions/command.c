/* SPDX-License-Identifier: GPL-3.0-or-later */
/* command.c - outputs from any program, in Python or anything else (data/asking.h), asked for each input of a batch.
 *
 * It finds in the folder of the question
 *     q.npy, k.npy, v.npy  float32 (heads, n, d), (key_heads, n, d) and (key_heads, n, dv)
 *     request.json         do ("attention"), heads, key_heads, n, d, dv, causal, scale (1/sqrt d), seed, threads, timed
 * and leaves out.npy, floats of shape (heads, n, dv). With `serve` the answer is {"done": "attention"}.
 *
 * The answer may also have "seconds", what the pass itself has taken by the program's own clock, and "device", a text
 * that says where; a program that is not served leaves them in answer.json. Without seconds, and with timed=true, the
 * call is timed: the program's start unless it is served, its reading and writing, but not the files here, nor what the
 * question waited behind others. */
#include "attentions/attention.h"

#include "base/clock.h"
#include "data/asking.h"
#include "data/tensor.h"

#include <math.h>
#include <string.h>

typedef enum { ALWAYS, OWN, NEVER } when_timed;

typedef struct {
    nb_asking program;
    int causal, timed;
} command_options;

static const char *const when_timed_names[] = {[ALWAYS] = "true", [OWN] = "own", [NEVER] = "false", NULL};

static const nb_option options[] = {
    NB_ASKING_FIELDS("its outputs are the same in all trials", "makes all outputs of a worker"),
    NB_BOOL(command_options, causal, "false",
            "the program keeps to a causal mask where the question says causal; else causal layers are skipped"),
    NB_ENUM(command_options, timed, "true", when_timed_names,
            "true: by the seconds that it answers, or around its call; own: by the seconds that it answers, and else "
            "not; false: not"),
    NB_OPTION_END};

static const char *const done[] = {"attention", NULL};

typedef struct {
    char device[128];
    gsl_rng *rng;
} state;

typedef struct {
    nb_pass *pass;
    const command_options *o;
    unsigned long seed;
    nb_question question;
} call;

static nb_status open(const void *opts, const nb_layer_shape *shape, int threads, void **out, nb_ctx *ctx)
{
    state *s;
    (void)opts, (void)shape, (void)threads;
    NB_NEED(s, nb_alloc(ctx, 1, sizeof *s));
    *out = s;
    return nb_random_new(&s->rng, ctx);
}

static nb_status open_question(call *c, nb_ctx *ctx)
{
    const nb_layer_shape *s = &c->pass->layer->shape;
    json_t *request = json_pack("{s:s, s:i, s:i, s:i, s:i, s:i, s:b, s:f, s:I, s:i, s:s}", "do", done[0], "heads",
                                s->heads, "key_heads", s->key_heads, "n", s->n, "d", s->d, "dv", s->dv, "causal",
                                (int)s->causal, "scale", 1 / sqrt(s->d), "seed", (json_int_t)c->seed, "threads",
                                nb_team_threads(c->pass->team), "timed", when_timed_names[c->o->timed]);
    nb_status status = nb_question_open(&c->question, &c->o->program, request, ctx);
    c->question.done = done;
    return status;
}

/* Those of one input: x is the batch's. */
static nb_status add_input(call *c, const char *name, int input, int heads, int d, const nb_scalar *x, nb_ctx *ctx)
{
    int n = c->pass->layer->shape.n;
    size_t each = (size_t)heads * (size_t)n * (size_t)d;
    return nb_question_add_floats(&c->question, name, 3, (int64_t[]){heads, n, d}, sizeof *x, x + (size_t)input * each,
                                  ctx);
}

static nb_status read_outputs(const call *c, const char *path, int input, nb_ctx *ctx)
{
    const nb_layer_shape *s = &c->pass->layer->shape;
    int64_t each = (int64_t)s->n * s->dv;
    nb_tensor t;
    const char *shape;
    NB_TRY(ctx, nb_npy_open(path, &t, ctx));
    NB_TRY(ctx, nb_tensor_shape(&t, &shape, ctx));
    NB_REQUIRE(ctx,
               t.dtype <= NB_F64 && t.rank == 3 && t.shape[0] == s->heads && t.shape[1] == s->n && t.shape[2] == s->dv,
               NB_EINVAL, "out.npy: %s of shape %s; allowed are floats of shape (%d, %d, %d): heads, tokens, dv",
               nb_dtype_names[t.dtype], shape, s->heads, s->n, s->dv);
    nb_scalar *out = c->pass->out + (int64_t)input * s->heads * each;
    for (int64_t h = 0; h < s->heads; h++)
        NB_TRY(ctx, nb_tensor_read_scalars(path, &t, h * each, each, out + h * each, ctx));
    return NB_OK;
}

/* Adds the seconds of one input's call to those of the pass. */
static nb_status take_time(const call *c, double call_s, nb_ctx *ctx)
{
    nb_pass *pass = c->pass;
    state *s = pass->state;
    double own_s;
    const char *device;
    NB_TRY(ctx, nb_question_seconds(&c->question, "seconds", &own_s, ctx));
    NB_TRY(ctx, nb_question_text(&c->question, "device", &device, ctx));
    if (device) {
        strncpy(s->device, device, sizeof s->device - 1);
        pass->device = s->device;
    }
    pass->clock = c->o->timed == NEVER ? NB_CLOCK_NONE
                  : !isnan(own_s)      ? NB_CLOCK_OWN
                  : c->o->timed == OWN ? NB_CLOCK_NONE
                                       : NB_CLOCK_CALL;
    pass->seconds += isnan(own_s) ? call_s : own_s;
    return NB_OK;
}

static nb_status ask_outputs(call *c, int input, nb_ctx *ctx)
{
    const nb_layer *l = c->pass->layer;
    const nb_layer_shape *s = &l->shape;
    const char *path;
    NB_TRY(ctx, open_question(c, ctx));
    NB_TRY(ctx, add_input(c, "q.npy", input, s->heads, s->d, l->q, ctx));
    NB_TRY(ctx, add_input(c, "k.npy", input, s->key_heads, s->d, l->k, ctx));
    NB_TRY(ctx, add_input(c, "v.npy", input, s->key_heads, s->dv, l->v, ctx));
    double start_s = nb_clock_s();
    NB_TRY(ctx, nb_question_ask(&c->question, ctx));
    NB_TRY(ctx, take_time(c, nb_clock_s() - start_s - c->question.spared_s, ctx));
    NB_TRY(ctx, nb_question_find(&c->question, "out.npy", &path, ctx));
    NB_REQUIRE(ctx, path, NB_EIO, "%s: left no out.npy%s", c->question.who, c->question.said);
    return nb_question_read(&c->question, read_outputs(c, path, input, ctx), ctx);
}

static nb_status forward(nb_pass *pass, const void *opts, nb_ctx *ctx)
{
    call c = {.pass = pass, .o = opts};
    if (!c.o->program.deterministic) c.seed = nb_attention_seed(((state *)pass->state)->rng, pass->stream);
    pass->seconds = 0;
    for (int input = 0; input < pass->layer->shape.batch; input++) {
        nb_status status = ask_outputs(&c, input, ctx);
        NB_TRY(ctx, nb_question_end(&c.question, status, ctx));
        nb_ctx_release(ctx, c.question.mark); /* and the folder */
    }
    return NB_OK;
}

static nb_attention_cost cost(const void *opts, const nb_layer_shape *shape, int threads)
{
    (void)opts, (void)shape, (void)threads;
    return (nb_attention_cost){.multiplications = NAN, .bytes = NAN};
}

static unsigned traits_of(const void *opts)
{
    const command_options *o = opts;
    return NB_ATTENTION_ELSEWHERE | (o->program.deterministic ? 0 : NB_ATTENTION_RANDOM) |
           (o->causal ? NB_ATTENTION_CAUSAL : 0);
}

static nb_status ready(const void *opts, nb_ctx *ctx)
{
    return nb_asking_ready(&((const command_options *)opts)->program, ctx);
}

static const char *const references[] = {"the program that it runs; the .npy format (NumPy enhancement proposal 1)",
                                         NULL};

const nb_attention nb_attention_command = {
    .component = {"command", "outputs that a program of your own computes from q, k and v, through files", references,
                  options, sizeof(command_options)},
    .traits = NB_ATTENTION_ELSEWHERE | NB_ATTENTION_RANDOM | NB_ATTENTION_CAUSAL,
    .traits_of = traits_of,
    .ready = ready,
    .cost = cost,
    .open = open,
    .forward = forward,
};
