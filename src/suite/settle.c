/* SPDX-License-Identifier: GPL-3.0-or-later */
/* settle.c - finds the sizes at which a method has so many multiplications, by counting those of passes. */
#include "suite/suite.h"

#include "base/apart.h"
#include "base/default_seed.h"
#include "components/plugin.h"

#include <math.h>
#include <string.h>

const int nb_suite_parts[NB_SUITE_SHARES] = {4, 8, 16, 32};

double nb_suite_exact(const nb_layer_shape *s)
{
    return (double)nb_layer_heads(s) * s->n * s->n * (s->d + s->dv);
}

nb_status nb_suite_layer(const nb_suite *suite, int input, nb_layer *layer, nb_ctx *ctx)
{
    const char *path = suite->inputs[input].path;
    nb_head_shape file;
    NB_TRY(ctx, nb_head_file_shape(path, &file, ctx));
    NB_TRY(ctx, nb_layer_load(path, 0, file.heads, layer, ctx));
    layer->shape.causal = suite->tracks[suite->models[suite->inputs[input].model].track].causal;
    return NB_OK;
}

nb_status nb_suite_enough(const nb_suite *suite, int input, const char *label, double multiplications,
                          const nb_layer_shape *shape, nb_ctx *ctx)
{
    const char *place;
    NB_TRY(ctx, nb_suite_place(suite, input, &place, ctx));
    double least = (double)nb_layer_heads(shape) * shape->n * shape->dv;
    NB_REQUIRE(ctx, multiplications >= least, NB_EINVAL,
               "%s: %s: it has %.0f multiplications, fewer than one for each of the %.0f numbers that it returns",
               label, place, multiplications, least);
    return NB_OK;
}

typedef struct { /* of the process in which passes are made */
    const nb_suite *suite;
    int model;
    const nb_suite_method *method;
    nb_layer layer;
    double exact;
    struct {
        int size[NB_SUITE_SHARES]; /* -1: there is none */
        double multiplications[NB_SUITE_SHARES], bytes[NB_SUITE_SHARES], growth[NB_SUITE_SHARES];
        bool counted;  /* a pass */
        char why[256]; /* else: why there is none */
    } found;
} settling;

typedef struct {
    double multiplications, bytes; /* multiplications infinite: it is refused, because of found.why */
} taken;

static void gather(int heads, int n, int d, int first, int count, const nb_scalar *from, nb_scalar *to)
{
    size_t each = (size_t)count * (size_t)d;
    for (int h = 0; h < heads; h++)
        memcpy(to + (size_t)h * each, from + ((size_t)h * (size_t)n + (size_t)first) * (size_t)d, each * sizeof *to);
}

/* Some tokens of a layer. */
typedef struct {
    nb_layer layer;
    nb_scalar *q, *k, *v;
} piece;

static nb_status allocate_piece(const nb_layer *layer, int count, piece *p, nb_ctx *ctx)
{
    p->layer = *layer;
    p->layer.shape.n = count;
    return nb_layer_allocate(&p->layer, &p->q, &p->k, &p->v, ctx);
}

static void take_piece(const nb_layer *layer, int first, piece *p)
{
    const nb_layer_shape *s = &layer->shape;
    int key_heads = nb_layer_key_heads(s), count = p->layer.shape.n;
    gather(nb_layer_heads(s), s->n, s->d, first, count, layer->q, p->q);
    gather(key_heads, s->n, s->d, first, count, layer->k, p->k);
    gather(key_heads, s->n, s->dv, first, count, layer->v, p->v);
}

/* A pass token by token, as a decoder makes it: blocks of queries would compute scores that a mask takes away. Its
 * outputs are those of one pass, and are not kept. */
static nb_status take_steps(nb_attending *attending, const nb_layer *layer, nb_scalar *out, nb_passed *all, nb_ctx *ctx)
{
    piece token;
    nb_passed passed;
    NB_TRY(ctx, allocate_piece(layer, 1, &token, ctx));
    *all = (nb_passed){.multiplications = 0};
    for (int t = 0; t < layer->shape.n && !all->refusal && !all->diverged; t++) {
        take_piece(layer, t, &token);
        NB_TRY(ctx, nb_attention_extend(attending, &token.layer, out, &passed, ctx));
        all->multiplications += passed.multiplications;
        all->bytes = fmax(all->bytes, passed.bytes);
        all->refusal = passed.refusal;
        all->diverged = passed.diverged;
    }
    return NB_OK;
}

static void refuse(settling *s, const char *why)
{
    snprintf(s->found.why, sizeof s->found.why, "%s", why);
}

/* Counts what a pass over a layer takes. */
static nb_status count(settling *s, const nb_layer *layer, int size, taken *found, nb_ctx *ctx)
{
    const nb_layer_shape *shape = &layer->shape;
    nb_choice attention;
    const char *spec, *why;
    nb_attending attending;
    nb_passed passed;
    nb_scalar *out;
    nb_team *team;
    *found = (taken){INFINITY, NAN};
    NB_TRY(ctx, nb_suite_spec(s->method, size, &spec, ctx));
    nb_status status = nb_choice_parse(&nb_attentions, spec, &attention, ctx);
    if (status == NB_OK) status = nb_plugin_open(&attention, ctx);
    if (status == NB_OK) status = nb_attention_check(&attention, ctx);
    if (status == NB_EINVAL) {
        refuse(s, nb_error_message(ctx));
        nb_error_clear(ctx);
        return NB_OK;
    }
    NB_TRY(ctx, status);
    NB_TRY(ctx, nb_attention_refusal(&attention, shape, &why, ctx));
    if (!why) {
        bool steps = shape->causal && nb_attention_traits(&attention) & NB_ATTENTION_STEPS;
        NB_NEED(out, nb_alloc_scalars(ctx, (size_t)nb_layer_heads(shape) * (size_t)shape->n * (size_t)shape->dv));
        NB_TRY(ctx, nb_team_new(1, &team, ctx));
        NB_TRY(ctx, nb_attention_open(&attention, shape, team, (nb_stream){.seed = NB_DEFAULT_SEED}, &attending, ctx));
        NB_TRY(ctx, (steps ? take_steps : nb_attention_forward)(&attending, layer, out, &passed, ctx));
        why = passed.refusal ? passed.refusal : passed.diverged;
    }
    if (why) {
        refuse(s, why);
        return NB_OK;
    }
    *found = (taken){passed.multiplications, passed.bytes};
    s->found.counted = true;
    return nb_suite_enough(s->suite, s->suite->models[s->model].first, attention.label, passed.multiplications, shape,
                           ctx);
}

static nb_status count_once(settling *s, const nb_layer *layer, int size, taken *found, nb_ctx *ctx)
{
    nb_mark mark = nb_ctx_mark(ctx);
    NB_TRY(ctx, count(s, layer, size, found, ctx));
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

static bool fits(const settling *s, int share, taken found)
{
    return found.multiplications * nb_suite_parts[share] <= s->exact;
}

/* Takes a size for all shares that it fits. */
static void take_size(settling *s, int size, taken found)
{
    for (int i = 0; i < NB_SUITE_SHARES; i++) {
        if (!fits(s, i, found) || size < s->found.size[i]) continue;
        s->found.size[i] = size;
        s->found.multiplications[i] = found.multiplications;
        s->found.bytes[i] = found.bytes;
    }
}

/* From the largest size that fits a share to the least power of two that does not, by halves. */
static nb_status refine(settling *s, int share, nb_ctx *ctx)
{
    int least = s->found.size[share], too_large = 1;
    taken found;
    if (least < 1) return NB_OK;
    while (too_large <= least) too_large *= 2;
    too_large = nb_lesser(too_large, s->layer.shape.n + 1);
    while (too_large - least > 1) {
        int middle = least + (too_large - least) / 2;
        NB_TRY(ctx, count_once(s, &s->layer, middle, &found, ctx));
        take_size(s, middle, found);
        *(fits(s, share, found) ? &least : &too_large) = middle;
    }
    return NB_OK;
}

static nb_status find_sizes(settling *s, nb_ctx *ctx)
{
    taken found;
    if (!s->method->size) {
        NB_TRY(ctx, count_once(s, &s->layer, 0, &found, ctx));
        take_size(s, 0, found);
        return NB_OK;
    }
    double last = INFINITY; /* of a method that is dear at its least sizes too, multiplications fall at first */
    for (int size = 1; size <= s->layer.shape.n; size *= 2) {
        NB_TRY(ctx, count_once(s, &s->layer, size, &found, ctx));
        take_size(s, size, found);
        if (isfinite(found.multiplications) && !fits(s, 0, found) && found.multiplications > last) break;
        last = found.multiplications;
    }
    for (int i = 0; i < NB_SUITE_SHARES; i++) NB_TRY(ctx, refine(s, i, ctx));
    return NB_OK;
}

/* Compares the multiplications with those of the first half of the tokens. */
static nb_status find_growth(settling *s, nb_ctx *ctx)
{
    piece half;
    NB_TRY(ctx, allocate_piece(&s->layer, s->layer.shape.n / 2, &half, ctx));
    take_piece(&s->layer, 0, &half);
    for (int i = 0; i < NB_SUITE_SHARES; i++) {
        taken found = {INFINITY, NAN};
        if (s->found.size[i] >= 0) NB_TRY(ctx, count_once(s, &half.layer, s->found.size[i], &found, ctx));
        s->found.growth[i] =
            isfinite(found.multiplications) ? log2(s->found.multiplications[i] / found.multiplications) : NAN;
    }
    return NB_OK;
}

static nb_status settle(void *self, nb_ctx *ctx)
{
    settling *s = self;
    NB_TRY(ctx, nb_suite_layer(s->suite, s->suite->models[s->model].first, &s->layer, ctx));
    s->exact = nb_suite_exact(&s->layer.shape);
    for (int i = 0; i < NB_SUITE_SHARES; i++) s->found.size[i] = -1;
    NB_TRY(ctx, find_sizes(s, ctx));
    return find_growth(s, ctx);
}

nb_status nb_suite_settle(const nb_suite *suite, int model, const nb_suite_method *method, double limit_s,
                          nb_suite_setting settings[NB_SUITE_SHARES], nb_ctx *ctx)
{
    settling s = {.suite = suite, .model = model, .method = method};
    const char *spec;
    nb_status status = nb_apart(settle, &s, limit_s, &s.found, sizeof s.found, ctx);
    if (status == NB_EBUG) return nb_suite_refuse(suite, suite->models[model].first, method->label, "a pass", ctx);
    NB_TRY(ctx, status);
    for (int i = 0; i < NB_SUITE_SHARES; i++) {
        nb_suite_setting *to = &settings[i];
        *to = (nb_suite_setting){.size = s.found.size[i],
                                 .multiplications = s.found.multiplications[i],
                                 .bytes = s.found.bytes[i],
                                 .growth = s.found.growth[i]};
        if (to->size < 0) {
            NB_NEED(to->why, nb_strdup(ctx, s.found.counted ? NB_SUITE_TOO_DEAR : s.found.why));
            continue;
        }
        NB_TRY(ctx, nb_suite_spec(method, to->size, &spec, ctx));
        NB_TRY(ctx, nb_choice_parse(&nb_attentions, spec, &to->attention, ctx));
        nb_choice *c = &to->attention;
        if (c->given && to->size > 0) { /* a label that was given stands for one size: each gets its own */
            NB_NEED(c->given, nb_format(ctx, "%s(%s=%d)", c->given, method->size, to->size));
            c->label = c->given;
        }
        to->text = c->resolved;
    }
    return NB_OK;
}
