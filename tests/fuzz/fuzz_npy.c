/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_npy.c - any bytes as a .npy file: refused by name, or read, the same in one go
 * and in two; then as a file of landmarks. */
#include "data/tensor.h"
#include "input.h"
#include "nystrom/picks_file.h"

static void check_reals(const char *path, const nb_tensor *t, nb_ctx *ctx)
{
    double *whole = nb_alloc_reals(ctx, (size_t)t->count + 1, 1), *parts = nb_alloc_reals(ctx, (size_t)t->count + 1, 1);
    int64_t half = t->count / 2;
    NB_MUST(whole && parts, "%s", nb_error_message(ctx));
    NB_MUST(nb_tensor_read_reals(path, t, 0, t->count, whole, ctx) == NB_OK, "%s", nb_error_message(ctx));
    NB_MUST(nb_tensor_read_reals(path, t, 0, half, parts, ctx) == NB_OK, "%s", nb_error_message(ctx));
    NB_MUST(nb_tensor_read_reals(path, t, half, t->count - half, parts + half, ctx) == NB_OK, "%s",
            nb_error_message(ctx));
    NB_MUST(memcmp(whole, parts, (size_t)t->count * sizeof *whole) == 0, "%lld elements", (long long)t->count);
}

static void read_integers(const char *path, const nb_tensor *t, nb_ctx *ctx)
{
    int64_t *values = nb_alloc(ctx, (size_t)t->count + 1, sizeof *values);
    NB_MUST(values, "%s", nb_error_message(ctx));
    if (nb_tensor_read_integers(path, t, 0, t->count, values, ctx) != NB_OK) nb_fuzz_check_message(ctx, path);
    nb_error_clear(ctx);
}

static void load_picks(const char *path, nb_ctx *ctx)
{
    enum { N = 16, D = 3 };
    nb_picks picks = {.ctx = ctx};
    if (nb_picks_load(path, 0, D, N, &picks, ctx) != NB_OK)
        nb_fuzz_check_message(ctx, path);
    else
        NB_MUST(picks.m >= 1 && picks.m <= N, "%d landmarks", picks.m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    nb_ctx *ctx = nb_ctx_new();
    nb_tensor t;
    const char *path = nb_fuzz_file(data, size);
    NB_MUST(ctx, "no memory for a context");
    if (nb_npy_open(path, &t, ctx) == NB_OK) {
        NB_MUST((uint64_t)t.count * nb_dtype_size(t.dtype) <= size, "%lld elements in %zu bytes", (long long)t.count,
                size);
        check_reals(path, &t, ctx);
        read_integers(path, &t, ctx);
    } else {
        nb_fuzz_check_message(ctx, path);
        nb_error_clear(ctx);
    }
    load_picks(path, ctx);
    nb_ctx_free(ctx);
    return 0;
}
