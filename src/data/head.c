/* head.c - q, k and v out of a .safetensors file or a folder of .npy files. */
#include "data/head.h"

#include "data/tensor.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

typedef struct { /* one of q, k, v, wherever it lies */
    const char *path, *name;
    nb_tensor tensor;
    bool there;
    int heads, n, d;
} source;

typedef struct {
    source q, k, v;
    bool causal;
} head_file;

nb_status nb_head_new(int n, int d, nb_head *head, nb_ctx *ctx)
{
    *head = (nb_head){.n = n, .d = d, .dv = d};
    NB_NEED(head->q, nb_alloc_reals(ctx, (size_t)d, (size_t)n));
    NB_NEED(head->k, nb_alloc_reals(ctx, (size_t)d, (size_t)n));
    NB_NEED(head->v, nb_alloc_reals(ctx, (size_t)d, (size_t)n));
    return NB_OK;
}

static nb_status open_npy(const char *folder, const char *name, source *s, nb_ctx *ctx)
{
    struct stat info;
    s->name = name;
    NB_NEED(s->path, nb_format(ctx, "%s/%s.npy", folder, name));
    if (strcmp(name, "v") == 0 && stat(s->path, &info) != 0 && errno == ENOENT) return NB_OK;
    s->there = true;
    return nb_npy_open(s->path, &s->tensor, ctx);
}

static nb_status open_folder(const char *path, head_file *f, nb_ctx *ctx)
{
    NB_TRY(ctx, open_npy(path, "q", &f->q, ctx));
    NB_TRY(ctx, open_npy(path, "k", &f->k, ctx));
    return open_npy(path, "v", &f->v, ctx);
}

/* The names of the first few. */
static const char *names_of(const nb_safetensors *file, nb_ctx *ctx)
{
    enum { SHOWN = 6 };
    const char *names = file->count ? file->tensors[0].name : "no tensor";
    for (int i = 1; i < file->count && i < SHOWN && names; i++) names = nb_format(ctx, "%s, %s", names, file->tensors[i].name);
    return names && file->count > SHOWN ? nb_format(ctx, "%s and %d more", names, file->count - SHOWN) : names;
}

static nb_status find_tensor(const char *path, const nb_safetensors *file, const char *name, source *s, nb_ctx *ctx)
{
    const nb_tensor *tensor = nb_safetensors_find(file, name);
    *s = (source){.path = path, .name = name, .there = tensor};
    if (tensor) s->tensor = *tensor;
    if (tensor || strcmp(name, "v") == 0) return NB_OK;
    const char *names;
    NB_NEED(names, names_of(file, ctx));
    NB_FAIL(ctx, NB_EIO, "%s: tensor '%s' is missing; the file has %s", path, name, names);
}

static nb_status open_safetensors(const char *path, head_file *f, nb_ctx *ctx)
{
    nb_safetensors file;
    NB_TRY(ctx, nb_safetensors_open(path, &file, ctx));
    NB_TRY(ctx, find_tensor(path, &file, "q", &f->q, ctx));
    NB_TRY(ctx, find_tensor(path, &file, "k", &f->k, ctx));
    NB_TRY(ctx, find_tensor(path, &file, "v", &f->v, ctx));
    const char *causal = nb_safetensors_metadata(&file, "causal");
    f->causal = causal && strcmp(causal, "true") == 0;
    NB_REQUIRE(ctx, !causal || f->causal || strcmp(causal, "false") == 0, NB_EIO,
               "%s: __metadata__, causal: '%s' is not true or false", path, causal);
    return NB_OK;
}

/* (heads, n, d) or (n, d). */
static nb_status take_shape(source *s, nb_ctx *ctx)
{
    const nb_tensor *t = &s->tensor;
    if (!s->there) return NB_OK;
    NB_REQUIRE(ctx, t->rank == 2 || t->rank == 3, NB_EDIM, "%s: tensor '%s' has %d dimensions, expected (heads, n, d) or (n, d)",
               s->path, s->name, t->rank);
    for (int i = 0; i < t->rank; i++)
        NB_REQUIRE(ctx, t->shape[i] >= 1 && t->shape[i] <= INT_MAX, NB_EDIM, "%s: tensor '%s', shape: dimension %d is %lld", s->path,
                   s->name, i, (long long)t->shape[i]);
    NB_REQUIRE(ctx, t->dtype <= NB_F64, NB_EIO, "%s: tensor '%s', dtype: holds integers, expected floating-point numbers", s->path,
               s->name);
    s->heads = t->rank == 3 ? (int)t->shape[0] : 1;
    s->n = (int)t->shape[t->rank - 2];
    s->d = (int)t->shape[t->rank - 1];
    return NB_OK;
}

static nb_status check_shapes(const char *path, const head_file *f, nb_ctx *ctx)
{
    const source *q = &f->q, *k = &f->k, *v = &f->v;
    NB_REQUIRE(ctx, k->n == q->n, NB_EDIM, "%s: q has %d tokens, k has %d", path, q->n, k->n);
    NB_REQUIRE(ctx, k->d == q->d, NB_EDIM, "%s: q has dimension d = %d, k has %d", path, q->d, k->d);
    NB_REQUIRE(ctx, k->heads <= q->heads && q->heads % k->heads == 0, NB_EDIM, "%s: the %d heads of q are no multiple of k's %d",
               path, q->heads, k->heads);
    if (!v->there) return NB_OK;
    NB_REQUIRE(ctx, v->n == q->n, NB_EDIM, "%s: q has %d tokens, v has %d", path, q->n, v->n);
    NB_REQUIRE(ctx, v->heads == k->heads, NB_EDIM, "%s: k has %d heads, v has %d", path, k->heads, v->heads);
    return NB_OK;
}

static nb_status open_file(const char *path, head_file *f, nb_ctx *ctx)
{
    struct stat info;
    *f = (head_file){.causal = false};
    bool folder = stat(path, &info) == 0 && S_ISDIR(info.st_mode);
    NB_TRY(ctx, folder ? open_folder(path, f, ctx) : open_safetensors(path, f, ctx));
    NB_TRY(ctx, take_shape(&f->q, ctx));
    NB_TRY(ctx, take_shape(&f->k, ctx));
    NB_TRY(ctx, take_shape(&f->v, ctx));
    return check_shapes(path, f, ctx);
}

nb_status nb_head_file_shape(const char *path, nb_head_shape *shape, nb_ctx *ctx)
{
    head_file f;
    nb_mark mark = nb_ctx_mark(ctx);
    nb_status status = open_file(path, &f, ctx);
    nb_ctx_release(ctx, mark);
    if (status == NB_OK)
        *shape = (nb_head_shape){.heads = f.q.heads, .key_heads = f.k.heads, .n = f.q.n, .d = f.q.d, .dv = f.v.d, .causal = f.causal};
    return status;
}

/* (n, d) in C order is d x n with a point a column. */
static nb_status read_points(const source *s, int head, double **x, nb_ctx *ctx)
{
    int64_t count = (int64_t)s->n * s->d;
    NB_NEED(*x, nb_alloc_reals(ctx, (size_t)s->d, (size_t)s->n));
    NB_TRY(ctx, nb_tensor_read_reals(s->path, &s->tensor, head * count, count, *x, ctx));
    for (int64_t i = 0; i < count; i++)
        NB_REQUIRE(ctx, isfinite((*x)[i]), NB_ENUMERIC, "%s: tensor '%s', head %d: token %lld, coordinate %lld is NaN or Inf",
                   s->path, s->name, head, (long long)(i / s->d), (long long)(i % s->d));
    return NB_OK;
}

nb_status nb_head_load(const char *path, int index, nb_head *head, nb_ctx *ctx)
{
    head_file f;
    NB_TRY(ctx, open_file(path, &f, ctx));
    NB_REQUIRE(ctx, index >= 0 && index < f.q.heads, NB_EINVAL, "%s: head %d is not one of its heads 0 to %d", path, index,
               f.q.heads - 1);
    int key_head = index / (f.q.heads / f.k.heads);
    nb_head out = {.n = f.q.n, .d = f.q.d, .dv = f.v.d, .causal = f.causal};
    NB_TRY(ctx, read_points(&f.q, index, &out.q, ctx));
    NB_TRY(ctx, read_points(&f.k, key_head, &out.k, ctx));
    if (f.v.there) NB_TRY(ctx, read_points(&f.v, key_head, &out.v, ctx));
    *head = out;
    return NB_OK;
}
