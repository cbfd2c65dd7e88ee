/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heads.c - attention heads from a file: .safetensors with q, k, v, or a folder with q.npy, k.npy, v.npy, perhaps of
 * many inputs; one scene a head. A file with q alone is for what looks at queries alone. */
#include "problems/problem.h"

#include <string.h>

typedef struct {
    const char *file, *model;
    int head, causal, max_n, first, permute;
} heads_options;

enum { AUTO, ON, OFF };
static const char *const masks[] = {"auto", "true", "false", NULL};

static const nb_option options[] = {
    NB_OPTION_FIELD(
        heads_options, file, NB_OPTION_STRING, const char *, NULL,
        "a .safetensors file or a folder of .npy files, q, k and v of shape (heads, n, d) or (n, d), or, of many "
        "inputs, (inputs, heads, n, d); v may be missing, and k where only queries are looked at; in a config also "
        "a pattern with *, ? or [ ], or a folder of such files, which stands for a list of them",
        .names_files = true, .many_files = true),
    NB_OPTION_FIELD(heads_options, head, NB_OPTION_INT, int, "all",
                    "which of the file's query heads, from 0; a list takes several; head h of input i is i * heads + h",
                    .lo = 0, .hi = 1 << 20, .word = "all", .selects_head = true),
    NB_ENUM(
        heads_options, causal, "auto", masks,
        "whether a query sees only the keys up to its own position; auto: as the file's metadata `causal` says, and no "
        "if there are none, as in .npy files"),
    NB_INT_OR(heads_options, max_n, "all", "all", 1, 1 << 30,
              "a window of at most that many tokens, taken as if there were no others"),
    NB_INT(heads_options, first, "0", 0, 1 << 30, "the window's first token"),
    NB_OPTION_FIELD(
        heads_options, model, NB_OPTION_STRING, const char *, "auto",
        "the model that the heads are of; auto: as the file's metadata `model` says, which .npy files have not",
        .newer = true),
    NB_PERMUTE(heads_options),
    NB_OPTION_END};

static bool causal(const heads_options *o, bool by_file)
{
    return o->causal == AUTO ? by_file : o->causal == ON;
}

static int window(const heads_options *o, int n)
{
    return o->max_n == NB_AUTO || o->max_n > n - o->first ? n - o->first : o->max_n;
}

static nb_status shape(const void *opts, nb_problem_shape *shape, nb_ctx *ctx)
{
    const heads_options *o = opts;
    nb_head_shape file;
    NB_TRY(ctx, nb_head_file_shape(o->file, &file, ctx));
    NB_REQUIRE(ctx, o->head == NB_AUTO || o->head < file.heads, NB_EINVAL,
               "%s: head = %d is not one of its heads 0 to %d", o->file, o->head, file.heads - 1);
    NB_REQUIRE(ctx, o->first < file.n, NB_EINVAL, "%s: first = %d is not one of its tokens 0 to %d", o->file, o->first,
               file.n - 1);
    *shape = (nb_problem_shape){.first = o->head == NB_AUTO ? 0 : o->head,
                                .count = o->head == NB_AUTO ? file.heads : 1,
                                .n = window(o, file.n),
                                .d = file.d,
                                .each = o->head == NB_AUTO ? file.heads / (file.inputs > 0 ? file.inputs : 1) : 1,
                                .shared = o->head == NB_AUTO && file.key_heads > 0 ? file.heads / file.key_heads : 1,
                                .causal = causal(o, file.causal)};
    NB_TRY(ctx, nb_head_origins_of(o->file, &file, &shape->origins, ctx));
    shape->origins.sources += shape->first;
    if (strcmp(o->model, "auto") != 0) shape->origins.model = o->model;
    NB_TRY(ctx, nb_head_lack(o->file, &file, &shape->keyless, ctx));
    if (file.dv == 0)
        NB_NEED(shape->valueless,
                nb_format(ctx, "%s has no values (it has q%s)", o->file, file.key_heads ? ", k" : ""));
    NB_TRY(ctx, nb_head_doubt(o->file, &file, &shape->warning, ctx));
    if (o->causal != AUTO || !file.unmasked || file.key_heads == 0) return NB_OK;
    if (!shape->warning)
        shape->warning = NB_HEAD_UNMASKED;
    else
        NB_NEED(shape->warning, nb_format(ctx, "%s; " NB_HEAD_UNMASKED, shape->warning));
    return NB_OK;
}

static nb_status make(const void *opts, int head, nb_head *out, nb_ctx *ctx)
{
    const heads_options *o = opts;
    NB_TRY(ctx, nb_head_load(o->file, head, out, ctx));
    out->causal = causal(o, out->causal);
    out->n = window(o, out->n);
    out->q += (size_t)o->first * (size_t)out->d;
    if (out->k) out->k += (size_t)o->first * (size_t)out->d;
    if (out->v) out->v += (size_t)o->first * (size_t)out->dv;
    return NB_OK;
}

static const char *const references[] = {"the safetensors format; the .npy format (NumPy enhancement proposal 1)",
                                         NULL};

const nb_problem nb_problem_heads = {
    .component = {"heads", "attention heads captured from a model, from a file", references, options,
                  sizeof(heads_options)},
    .shape = shape,
    .make = make,
};
