/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_safetensors.c - any bytes as a .safetensors file: refused by name, or every
 * tensor of a known type is read; then as a file of heads. */
#include "data/head.h"
#include "data/tensor.h"
#include "input.h"

#include <math.h>

static void read_tensors(const char *path, size_t size, nb_ctx *ctx)
{
    nb_safetensors file;
    if (nb_safetensors_open(path, &file, ctx) != NB_OK) {
        nb_fuzz_check_message(ctx, path);
        return;
    }
    for (int i = 0; i < file.count; i++) {
        nb_tensor t;
        bool there;
        if (nb_safetensors_find(path, &file, file.tensors[i].name, &there, &t, ctx) != NB_OK) {
            nb_fuzz_check_message(ctx, path);
            nb_error_clear(ctx);
            continue;
        }
        NB_MUST(there, "tensor '%s' is not found", file.tensors[i].name);
        NB_MUST((uint64_t)t.count * nb_dtype_size(t.dtype) <= size, "%lld elements in %zu bytes", (long long)t.count,
                size);
        double *values = nb_alloc_reals(ctx, (size_t)t.count + 1, 1);
        NB_MUST(values && nb_tensor_read_reals(path, &t, 0, t.count, values, ctx) == NB_OK, "%s",
                nb_error_message(ctx));
    }
}

static void check_finite(int rows, int cols, const double *x)
{
    for (int64_t i = 0; x && i < (int64_t)rows * cols; i++)
        NB_MUST(isfinite(x[i]), "entry %lld is %g", (long long)i, x[i]);
}

static void load_heads(const char *path, nb_ctx *ctx)
{
    enum { MOST = 4 };
    nb_head_shape shape;
    if (nb_head_file_shape(path, &shape, ctx) != NB_OK) {
        nb_fuzz_check_message(ctx, path);
        return;
    }
    NB_MUST(shape.n >= 1 && shape.d >= 1 && shape.heads >= 1, "%s", "a head without points");
    NB_MUST(shape.key_heads == 0 || shape.heads % shape.key_heads == 0, "%d heads share %d", shape.heads,
            shape.key_heads); /* none: queries alone */
    for (int h = 0; h < shape.heads && h < MOST; h++) {
        nb_head head;
        if (nb_head_load(path, h, &head, ctx) != NB_OK) {
            nb_fuzz_check_message(ctx, path);
            nb_error_clear(ctx);
            continue;
        }
        NB_MUST(head.n == shape.n && head.d == shape.d && head.dv == shape.dv, "%s", "other than the header says");
        check_finite(head.d, head.n, head.q);
        check_finite(head.d, head.n, head.k);
        check_finite(head.dv, head.n, head.v);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    nb_ctx *ctx = nb_ctx_new();
    const char *path = nb_fuzz_file(data, size);
    NB_MUST(ctx, "no memory for a context");
    read_tensors(path, size, ctx);
    nb_error_clear(ctx);
    load_heads(path, ctx);
    nb_ctx_free(ctx);
    return 0;
}
