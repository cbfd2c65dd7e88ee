/* TEMPLATE.c - tokens along waves, x_il = sin(2 pi i / period + l) + noise: say here what
 * it draws, the formula, the source.
 *
 * `nysbench new problem NAME` copies this file. In src/problems/ the build finds it and
 * `nysbench list` names it; the conformance test asks for a line in its list of heads.
 * Elsewhere it becomes a plug-in, see src/components/plugin.h. The record's name and its symbol,
 * nb_problem_NAME, must equal the file's stem. */
#include "problems/problem.h"

#include <math.h>

typedef struct {
    int n, d;
    double period, noise;
    int permute;
} template_options;

static const nb_option options[] = {
    NB_INT(template_options, n, "1024", 1, 1 << 20, "tokens"),
    NB_INT(template_options, d, "64", 1, 1 << 14, "dimension of a head"),
    NB_REAL(template_options, period, "100", 1e-3, 1e9, "length of the waves, in tokens"),
    NB_REAL(template_options, noise, "0.3", 0, 1e3, "standard deviation of what is added"),
    NB_PERMUTE(template_options),
    NB_OPTION_END};

/* The shape of the heads; called before anything runs, so it reports what is impossible. */
static nb_status shape(const void *opts, nb_problem_shape *shape, nb_ctx *ctx)
{
    const template_options *o = opts;
    (void)ctx;
    *shape = (nb_problem_shape){.count = 1, .n = o->n, .d = o->d};
    return NB_OK;
}

/* x (d x n): a token is a column. All that is drawn comes from nb_ctx_rng(ctx). */
static void draw(const template_options *o, double *x, nb_ctx *ctx)
{
    nb_draw_normals(nb_ctx_rng(ctx), (size_t)o->d * (size_t)o->n, o->noise, x);
    for (int i = 0; i < o->n; i++)
        for (int l = 0; l < o->d; l++) x[(size_t)i * (size_t)o->d + (size_t)l] += sin(2 * M_PI * i / o->period + l);
}

static nb_status make(const void *opts, int head, nb_head *out, nb_ctx *ctx)
{
    const template_options *o = opts;
    (void)head;
    NB_TRY(ctx, nb_head_new(o->n, o->d, out, ctx)); /* q, k and v, each d x n */
    draw(o, out->q, ctx);
    draw(o, out->k, ctx);
    draw(o, out->v, ctx);
    return NB_OK;
}

static const char *const references[] = {"Author, Title, where and when", NULL};

const nb_problem nb_problem_TEMPLATE = {
    .component = {"TEMPLATE", "one line for the list", references, options, sizeof(template_options)},
    .random = true, /* the data are others in each trial */
    .shape = shape,
    .make = make,
};

NB_PLUGIN({"problem", &nb_problem_TEMPLATE.component}); /* elsewhere; in src/problems/ it says nothing */
