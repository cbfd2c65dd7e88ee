/* SPDX-License-Identifier: GPL-3.0-or-later */
/* head.c - q, k and v out of a .safetensors file or a folder of .npy files. */
#include "data/head.h"

#include "base/builder.h"
#include "base/files.h"
#include "base/numbers.h"
#include "data/tensor.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

typedef struct { /* one of q, k, v, wherever it lies */
    const char *path, *name;
    nb_tensor tensor;
    bool there, tokens_first; /* tokens_first: (n, heads, d) of each input */
    int inputs, heads, n, d;  /* inputs: 0 without such a dimension; heads: of all inputs */
} source;

typedef enum { UNSAID, HEADS_FIRST, TOKENS_FIRST } file_layout;
static const char *const layouts[] = {[HEADS_FIRST] = "heads,n,d", [TOKENS_FIRST] = "n,heads,d"};

typedef struct {
    source q, k, v;
    file_layout layout;
    bool causal, unmasked;
} head_file;

nb_status nb_head_new(int n, int d, nb_head *head, nb_ctx *ctx)
{
    *head = (nb_head){.n = n, .d = d, .dv = d};
    NB_NEED(head->q, nb_alloc_reals(ctx, (size_t)d, (size_t)n));
    NB_NEED(head->k, nb_alloc_reals(ctx, (size_t)d, (size_t)n));
    NB_NEED(head->v, nb_alloc_reals(ctx, (size_t)d, (size_t)n));
    return NB_OK;
}

/* "0 to 11": the numbers of the file's heads; those of any file, and why, if it cannot be read. */
static nb_status name_heads(const char *path, const char **text, nb_ctx *ctx)
{
    nb_head_shape shape;
    nb_status status = nb_head_file_shape(path, &shape, ctx);
    if (status == NB_ENOMEM) return status;
    if (status == NB_OK)
        NB_NEED(*text, nb_format(ctx, "0 to %d", shape.heads - 1));
    else
        NB_NEED(*text, nb_format(ctx, "0 to %d; %s", NB_MOST_HEADS, nb_error_message(ctx)));
    nb_error_clear(ctx);
    return NB_OK;
}

nb_status nb_head_split(const char *text, const char **file, int *head, nb_ctx *ctx)
{
    struct stat info;
    const char *numbers, *colon = strrchr(text, ':');
    *file = text;
    *head = -1;
    if (!colon || stat(text, &info) == 0) return NB_OK;
    NB_NEED(*file, nb_format(ctx, "%.*s", (int)(colon - text), text));
    if (nb_parse_int(colon + 1, 0, NB_MOST_HEADS, head)) return NB_OK;
    NB_TRY(ctx, name_heads(*file, &numbers, ctx));
    NB_FAIL(ctx, NB_EINVAL, "%s: head '%s', allowed are %s", text, colon + 1, numbers);
}

/* A file must have q. */
static bool is_optional(const char *name)
{
    return strcmp(name, "q") != 0;
}

static nb_status open_npy(const char *folder, const char *name, source *s, nb_ctx *ctx)
{
    struct stat info;
    s->name = name;
    NB_NEED(s->path, nb_format(ctx, "%s/%s.npy", folder, name));
    if (is_optional(name) && stat(s->path, &info) != 0 && errno == ENOENT) return NB_OK;
    s->there = true;
    return nb_npy_open(s->path, &s->tensor, ctx);
}

#define TO_CAPTURE "python -m nysbench.capture makes a file of a model's heads"

/* A model's checkpoint is easily given instead of its heads. */
static nb_status refuse_checkpoint(const char *folder, nb_ctx *ctx)
{
    static const char *const files[] = {"q.npy", "model.safetensors.index.json", "model.safetensors", "config.json"};
    enum { FILES = sizeof files / sizeof *files };
    int i;
    for (i = 0; i < FILES; i++) {
        char *path;
        struct stat info;
        NB_NEED(path, nb_format(ctx, "%s/%s", folder, files[i]));
        if (stat(path, &info) == 0) break;
    }
    NB_REQUIRE(ctx, i == 0 || i == FILES, NB_EIO, "%s: is a model's checkpoint, with %s and no q.npy: " TO_CAPTURE,
               folder, files[i]);
    return NB_OK;
}

static nb_status open_folder(const char *path, head_file *f, nb_ctx *ctx)
{
    NB_TRY(ctx, refuse_checkpoint(path, ctx));
    NB_TRY(ctx, open_npy(path, "q", &f->q, ctx));
    NB_TRY(ctx, open_npy(path, "k", &f->k, ctx));
    return open_npy(path, "v", &f->v, ctx);
}

/* The names of the first few. */
static const char *names_of(const nb_safetensors *file, nb_ctx *ctx)
{
    enum { SHOWN = 6 };
    nb_string names = NB_NO_TEXT;
    if (file->count == 0) return "no tensor";
    for (int i = 0; i < file->count && i < SHOWN; i++)
        if (nb_append_item(&names, ", ", ctx, "%s", file->tensors[i].name) != NB_OK) return NULL;
    bool more = file->count > SHOWN;
    return more ? nb_format(ctx, "%s and %d more", names.text, file->count - SHOWN) : names.text;
}

/* Its names end as those of a model's checkpoint. */
static bool has_weights(const nb_safetensors *file)
{
    static const char end[] = ".weight";
    for (int i = 0; i < file->count; i++) {
        size_t length = strlen(file->tensors[i].name);
        if (length >= sizeof end && strcmp(file->tensors[i].name + length + 1 - sizeof end, end) == 0) return true;
    }
    return false;
}

static nb_status find_tensor(const char *path, const nb_safetensors *file, const char *name, source *s, nb_ctx *ctx)
{
    *s = (source){.path = path, .name = name};
    NB_TRY(ctx, nb_safetensors_find(path, file, name, &s->there, &s->tensor, ctx));
    if (s->there || is_optional(name)) return NB_OK;
    const char *names;
    NB_NEED(names, names_of(file, ctx));
    NB_FAIL(ctx, NB_EIO, "%s: tensor '%s' is missing; the file has %s%s", path, name, names,
            has_weights(file) ? ", as a model's checkpoint: " TO_CAPTURE : "");
}

static nb_status open_safetensors(const char *path, head_file *f, nb_ctx *ctx)
{
    nb_safetensors file;
    NB_TRY(ctx, nb_safetensors_open(path, &file, ctx));
    NB_TRY(ctx, find_tensor(path, &file, "q", &f->q, ctx));
    NB_TRY(ctx, find_tensor(path, &file, "k", &f->k, ctx));
    NB_TRY(ctx, find_tensor(path, &file, "v", &f->v, ctx));
    const char *causal = nb_safetensors_metadata(&file, "causal");
    f->unmasked = !causal;
    f->causal = causal && strcmp(causal, "true") == 0;
    NB_REQUIRE(ctx, !causal || f->causal || strcmp(causal, "false") == 0, NB_EIO,
               "%s: __metadata__, causal: '%s' is not true or false", path, causal);
    const char *layout = nb_safetensors_metadata(&file, "layout");
    f->layout = !layout ? UNSAID : strcmp(layout, layouts[TOKENS_FIRST]) == 0 ? TOKENS_FIRST : HEADS_FIRST;
    NB_REQUIRE(ctx, f->layout != HEADS_FIRST || strcmp(layout, layouts[HEADS_FIRST]) == 0, NB_EIO,
               "%s: __metadata__, layout: '%s' is not '%s' or '%s'", path, layout, layouts[HEADS_FIRST],
               layouts[TOKENS_FIRST]);
    return NB_OK;
}

/* (heads, n, d), (n, heads, d), the same with inputs before them, or (n, d). */
static nb_status take_shape(source *s, file_layout layout, nb_ctx *ctx)
{
    const nb_tensor *t = &s->tensor;
    if (!s->there) return NB_OK;
    NB_REQUIRE(ctx, t->rank >= 2 && t->rank <= 4, NB_EDIM,
               "%s: tensor '%s' has %d dimensions, expected (heads, n, d), (inputs, heads, n, d) or (n, d)", s->path,
               s->name, t->rank);
    for (int i = 0; i < t->rank; i++)
        NB_REQUIRE(ctx, t->shape[i] >= 1 && t->shape[i] <= INT_MAX, NB_EDIM,
                   "%s: tensor '%s', shape: dimension %d is %lld", s->path, s->name, i, (long long)t->shape[i]);
    NB_REQUIRE(ctx, t->dtype <= NB_F64, NB_EIO,
               "%s: tensor '%s', dtype: holds integers, expected floating-point numbers", s->path, s->name);
    s->tokens_first = t->rank >= 3 && layout == TOKENS_FIRST;
    s->heads = t->rank >= 3 ? (int)t->shape[t->rank - (s->tokens_first ? 2 : 3)] : 1;
    s->n = (int)t->shape[t->rank - (s->tokens_first ? 3 : 2)];
    s->d = (int)t->shape[t->rank - 1];
    if (t->rank < 4) return NB_OK;
    s->inputs = (int)t->shape[0];
    NB_REQUIRE(ctx, (int64_t)s->inputs * s->heads <= NB_MOST_HEADS, NB_EDIM,
               "%s: tensor '%s' has %d inputs of %d heads, allowed are %d heads in all", s->path, s->name, s->inputs,
               s->heads, NB_MOST_HEADS);
    s->heads *= s->inputs;
    return NB_OK;
}

static nb_status check_shapes(const char *path, const head_file *f, nb_ctx *ctx)
{
    const source *q = &f->q, *k = &f->k, *v = &f->v;
    NB_REQUIRE(ctx, k->there || !v->there, NB_EIO, "%s: there is a tensor 'v' and no 'k'", path);
    if (!k->there) return NB_OK;
    NB_REQUIRE(ctx, k->inputs == q->inputs, NB_EDIM, "%s: q has %d inputs, k has %d (0: no such dimension)", path,
               q->inputs, k->inputs);
    NB_REQUIRE(ctx, k->n == q->n, NB_EDIM, "%s: q has %d tokens, k has %d", path, q->n, k->n);
    NB_REQUIRE(ctx, k->d == q->d, NB_EDIM, "%s: q has dimension d = %d, k has %d", path, q->d, k->d);
    NB_REQUIRE(ctx, k->heads <= q->heads && q->heads % k->heads == 0, NB_EDIM,
               "%s: q has %d heads, which is not a multiple of k's %d", path, q->heads, k->heads);
    if (!v->there) return NB_OK;
    NB_REQUIRE(ctx, v->inputs == q->inputs, NB_EDIM, "%s: q has %d inputs, v has %d (0: no such dimension)", path,
               q->inputs, v->inputs);
    NB_REQUIRE(ctx, v->n == q->n, NB_EDIM, "%s: q has %d tokens, v has %d", path, q->n, v->n);
    NB_REQUIRE(ctx, v->heads == k->heads, NB_EDIM, "%s: k has %d heads, v has %d", path, k->heads, v->heads);
    return NB_OK;
}

static nb_status open_file(const char *path, head_file *f, nb_ctx *ctx)
{
    struct stat info;
    *f = (head_file){.unmasked = true};
    bool folder = stat(path, &info) == 0 && S_ISDIR(info.st_mode);
    NB_TRY(ctx, folder ? open_folder(path, f, ctx) : open_safetensors(path, f, ctx));
    NB_TRY(ctx, take_shape(&f->q, f->layout, ctx));
    NB_TRY(ctx, take_shape(&f->k, f->layout, ctx));
    NB_TRY(ctx, take_shape(&f->v, f->layout, ctx));
    return check_shapes(path, f, ctx);
}

static int heads_of_each(const nb_head_shape *shape)
{
    return shape->inputs > 0 ? shape->heads / shape->inputs : shape->heads;
}

nb_status nb_head_file_shape(const char *path, nb_head_shape *shape, nb_ctx *ctx)
{
    head_file f;
    nb_mark mark = nb_ctx_mark(ctx);
    nb_status status = open_file(path, &f, ctx);
    nb_ctx_release(ctx, mark);
    if (status != NB_OK) return status;
    *shape = (nb_head_shape){.heads = f.q.heads,
                             .key_heads = f.k.heads,
                             .inputs = f.q.inputs,
                             .n = f.q.n,
                             .d = f.q.d,
                             .dv = f.v.d,
                             .causal = f.causal,
                             .unmasked = f.unmasked};
    shape->doubtful =
        f.q.tensor.rank >= 3 && f.layout == UNSAID && (heads_of_each(shape) > shape->n || shape->n < shape->d);
    return NB_OK;
}

nb_status nb_head_doubt(const char *path, const nb_head_shape *s, const char **text, nb_ctx *ctx)
{
    const char *inputs = s->inputs > 0 ? "inputs, " : "", *count = "";
    int heads = heads_of_each(s);
    *text = NULL;
    if (!s->doubtful) return NB_OK;
    if (s->inputs > 0) NB_NEED(count, nb_format(ctx, "%d, ", s->inputs));
    NB_NEED(*text,
            nb_format(ctx,
                      "%s: q of shape (%s%d, %d, %d) is read as (%sheads, n, d): %d head%s of n = %d tokens, d = %d; "
                      "if it is (%sn, heads, d), "
                      "transpose it or give the .safetensors metadata layout '%s' ('%s' if this is right)",
                      path, count, heads, s->n, s->d, inputs, heads, heads == 1 ? "" : "s", s->n, s->d, inputs,
                      layouts[TOKENS_FIRST], layouts[HEADS_FIRST]));
    return NB_OK;
}

nb_status nb_head_lack(const char *path, const nb_head_shape *shape, const char **text, nb_ctx *ctx)
{
    struct stat info;
    nb_safetensors file;
    *text = NULL;
    if (shape->key_heads > 0) return NB_OK;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        NB_NEED(*text, nb_format(ctx, "%s has no keys (no k.npy)", path));
        return NB_OK;
    }
    const char *names;
    NB_TRY(ctx, nb_safetensors_open(path, &file, ctx));
    NB_NEED(names, names_of(&file, ctx));
    NB_NEED(*text, nb_format(ctx, "%s has no keys (it has %s)", path, names));
    return NB_OK;
}

static nb_status copy_text(const nb_safetensors *file, const char *key, const char **text, nb_ctx *ctx)
{
    const char *found = nb_safetensors_metadata(file, key);
    if (found && *found) NB_NEED(*text, nb_clean(ctx, found, ""));
    return NB_OK;
}

static int count_words(const char *text)
{
    int count = 0;
    while (*(text += strspn(text, " "))) {
        text += strcspn(text, " ");
        count++;
    }
    return count;
}

/* all[i] <- the words of the text, each up to a '[' where `cut`. */
static nb_status take_words(const char *text, bool cut, const char **all, nb_ctx *ctx)
{
    while (*(text += strspn(text, " "))) {
        size_t length = strcspn(text, " "), shown = cut ? strcspn(text, " [") : length;
        NB_NEED(*all++, nb_format(ctx, "%.*s", (int)(shown > 0 ? shown : length), text));
        text += length;
    }
    return NB_OK;
}

/* all[i] <- the texts of a JSON list, for names that have blanks; *is_list: the text is one. */
static nb_status take_list(const char *path, const char *text, int inputs, const char **all, bool *is_list, nb_ctx *ctx)
{
    json_t *list = json_loads(text, 0, NULL);
    *is_list = json_is_array(list);
    if (!list) return NB_OK;
    NB_TRY(ctx, nb_defer_json(ctx, list));
    if (!*is_list) return NB_OK;
    NB_REQUIRE(ctx, (int)json_array_size(list) == inputs, NB_EIO,
               "%s: __metadata__, sources: %zu names, expected one for each of the %d inputs", path,
               json_array_size(list), inputs);
    for (int i = 0; i < inputs; i++) {
        const char *name = json_string_value(json_array_get(list, (size_t)i));
        NB_REQUIRE(ctx, name && *name, NB_EIO, "%s: __metadata__, sources: item %d is not a name", path, i);
        NB_NEED(all[i], nb_clean(ctx, name, ""));
    }
    return NB_OK;
}

/* Names the source of each input; `sources`, `input`: the metadata, or NULL. */
static nb_status name_inputs(const char *path, int inputs, const char *sources, const char *input, const char **all,
                             nb_ctx *ctx)
{
    bool done = false;
    if (sources) NB_TRY(ctx, take_list(path, sources, inputs, all, &done, ctx));
    if (done) return NB_OK;
    if (sources) {
        NB_REQUIRE(ctx, count_words(sources) == inputs, NB_EIO,
                   "%s: __metadata__, sources: %d words, expected one for each of the %d inputs", path,
                   count_words(sources), inputs);
        return take_words(sources, false, all, ctx);
    }
    for (const char *colon; input && (colon = strstr(input, ": ")); input = colon + 2) continue;
    if (input && count_words(input) == inputs) return take_words(input, true, all, ctx);
    for (int i = 0; i < inputs; i++) NB_NEED(all[i], nb_format(ctx, "%s input %d", path, i));
    return NB_OK;
}

nb_status nb_head_origins_of(const char *path, const nb_head_shape *shape, nb_head_origins *origins, nb_ctx *ctx)
{
    struct stat info;
    nb_safetensors file;
    int inputs = shape->inputs > 0 ? shape->inputs : 1;
    const char **all, **names, *input = NULL, *origin = NULL, *list = NULL;
    *origins = (nb_head_origins){.model = NULL};
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode)) {
        NB_TRY(ctx, nb_safetensors_open(path, &file, ctx));
        NB_TRY(ctx, copy_text(&file, "model", &origins->model, ctx));
        NB_TRY(ctx, copy_text(&file, "layer", &origins->layer, ctx));
        NB_TRY(ctx, copy_text(&file, "input", &input, ctx));
        NB_TRY(ctx, copy_text(&file, "source", &origin, ctx));
        NB_TRY(ctx, copy_text(&file, "sources", &list, ctx));
    }
    NB_NEED(all, nb_alloc(ctx, (size_t)shape->heads, sizeof *all));
    NB_NEED(names, nb_alloc(ctx, (size_t)inputs, sizeof *names));
    if (shape->inputs > 0)
        NB_TRY(ctx, name_inputs(path, inputs, list, input, names, ctx));
    else
        NB_NEED(names[0], nb_strdup(ctx, origin ? origin : input ? input : path));
    for (int h = 0; h < shape->heads; h++) all[h] = names[h / (shape->heads / inputs)];
    origins->sources = all;
    return NB_OK;
}

/* One head out of (n, heads, d) of its input, some tokens of all heads at a time. */
static nb_status gather(const source *s, int index, double *x, nb_ctx *ctx)
{
    enum { TOGETHER = 1 << 17 };
    int heads = s->inputs > 0 ? s->heads / s->inputs : s->heads, head = index % heads;
    int64_t token = (int64_t)heads * s->d, most = token < TOGETHER ? TOGETHER / token : 1;
    int64_t first = (int64_t)(index / heads) * s->n * token;
    double *all;
    nb_mark mark = nb_ctx_mark(ctx);
    NB_NEED(all, nb_alloc_raw(ctx, (size_t)(most * token)));
    for (int64_t i = 0; i < s->n; i += most) {
        int64_t count = most < s->n - i ? most : s->n - i;
        NB_TRY(ctx, nb_tensor_read_reals(s->path, &s->tensor, first + i * token, count * token, all, ctx));
        for (int64_t t = 0; t < count; t++)
            memcpy(x + (i + t) * s->d, all + t * token + (int64_t)head * s->d, (size_t)s->d * sizeof *x);
    }
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

/* (n, d) in C order is d x n with a point a column. */
static nb_status read_points(const source *s, int head, double **x, nb_ctx *ctx)
{
    int64_t count = (int64_t)s->n * s->d;
    NB_NEED(*x, nb_alloc_reals(ctx, (size_t)s->d, (size_t)s->n));
    NB_TRY(ctx, s->tokens_first ? gather(s, head, *x, ctx)
                                : nb_tensor_read_reals(s->path, &s->tensor, head * count, count, *x, ctx));
    for (int64_t i = 0; i < count; i++)
        NB_REQUIRE(ctx, isfinite((*x)[i]), NB_ENUMERIC,
                   "%s: tensor '%s', head %d: token %lld, coordinate %lld is NaN or Inf", s->path, s->name, head,
                   (long long)(i / s->d), (long long)(i % s->d));
    return NB_OK;
}

nb_status nb_head_load(const char *path, int index, nb_head *head, nb_ctx *ctx)
{
    head_file f;
    NB_TRY(ctx, open_file(path, &f, ctx));
    NB_REQUIRE(ctx, index >= 0 && index < f.q.heads, NB_EINVAL, "%s: head %d is not one of its heads 0 to %d", path,
               index, f.q.heads - 1);
    int key_head = f.k.there ? index / (f.q.heads / f.k.heads) : 0;
    nb_head out = {.n = f.q.n, .d = f.q.d, .dv = f.v.d, .causal = f.causal};
    NB_TRY(ctx, read_points(&f.q, index, &out.q, ctx));
    if (f.k.there) NB_TRY(ctx, read_points(&f.k, key_head, &out.k, ctx));
    if (f.v.there) NB_TRY(ctx, read_points(&f.v, key_head, &out.v, ctx));
    *head = out;
    return NB_OK;
}
