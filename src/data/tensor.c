/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tensor.c - elements of arrays in files: from and to bytes. */
#include "data/tensor.h"

#include "base/builder.h"
#include "data/bytes.h"

#include <math.h>
#include <string.h>

static const unsigned char sizes[NB_DTYPE_COUNT] = {
    [NB_F16] = 2, [NB_BF16] = 2, [NB_F32] = 4, [NB_F64] = 8, [NB_I8] = 1,  [NB_I16] = 2,
    [NB_I32] = 4, [NB_I64] = 8,  [NB_U8] = 1,  [NB_U16] = 2, [NB_U32] = 4, [NB_U64] = 8};

const char *const nb_dtype_names[] = {
    [NB_F16] = "float16", [NB_BF16] = "bfloat16", [NB_F32] = "float32", [NB_F64] = "float64",
    [NB_I8] = "int8",     [NB_I16] = "int16",     [NB_I32] = "int32",   [NB_I64] = "int64",
    [NB_U8] = "uint8",    [NB_U16] = "uint16",    [NB_U32] = "uint32",  [NB_U64] = "uint64"};

nb_status nb_tensor_shape(const nb_tensor *t, const char **text, nb_ctx *ctx)
{
    nb_string list = NB_NO_TEXT;
    for (int i = 0; i < t->rank; i++) NB_TRY(ctx, nb_append_item(&list, ", ", ctx, "%lld", (long long)t->shape[i]));
    NB_NEED(*text, nb_format(ctx, "(%s%s)", list.text, t->rank == 1 ? "," : ""));
    return NB_OK;
}

size_t nb_dtype_size(nb_dtype dtype)
{
    return sizes[dtype];
}

bool nb_tensor_extent(const nb_tensor *tensor, int64_t *count, int64_t *bytes)
{
    *count = 1;
    for (int i = 0; i < tensor->rank; i++)
        if (tensor->shape[i] < 0 || __builtin_mul_overflow(*count, tensor->shape[i], count)) return false;
    return !__builtin_mul_overflow(*count, (int64_t)sizes[tensor->dtype], bytes);
}

nb_status nb_output_extent(const char *path, nb_dtype dtype, int rank, const int64_t *shape, int64_t *count,
                           int64_t *bytes, nb_ctx *ctx)
{
    nb_tensor t = {.dtype = dtype, .rank = rank};
    NB_REQUIRE(ctx, rank >= 0 && rank <= NB_MAX_RANK, NB_EINVAL, "%s: rank %d, allowed are 0 to %d", path, rank,
               NB_MAX_RANK);
    for (int i = 0; i < rank; i++) t.shape[i] = shape[i];
    NB_REQUIRE(ctx, nb_tensor_extent(&t, count, bytes), NB_EINVAL, "%s: shape: a dimension is negative, or too large",
               path);
    return NB_OK;
}

/* sign 1, exponent 5, fraction 10 bits. */
double nb_half_to_real(uint16_t bits)
{
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double magnitude = exponent == 31  ? (fraction ? NAN : INFINITY)
                       : exponent == 0 ? ldexp(fraction, -24)
                                       : ldexp(1024 + fraction, exponent - 25);
    return bits >> 15 ? -magnitude : magnitude;
}

static uint64_t word_at(const unsigned char *bytes, size_t size, bool big_endian)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++) value = value << 8 | bytes[big_endian ? i : size - 1 - i];
    return value;
}

static double real(nb_dtype dtype, uint64_t bits)
{
    uint32_t bits32 = (uint32_t)(dtype == NB_BF16 ? bits << 16 : bits);
    float single;
    double value;
    switch (dtype) {
    case NB_F16: return nb_half_to_real((uint16_t)bits);
    case NB_BF16:
    case NB_F32: memcpy(&single, &bits32, sizeof single); return (double)single;
    case NB_F64: memcpy(&value, &bits, sizeof value); return value;
    case NB_U8:
    case NB_U16:
    case NB_U32:
    case NB_U64: return (double)bits;
    default: /* signed: the sign bit is the highest of its size */
        return (double)((int64_t)(bits << (64 - 8 * sizes[dtype])) >> (64 - 8 * sizes[dtype]));
    }
}

/* Returns the place in the file's order of element `index` of C order. */
static int64_t stored_index(const nb_tensor *t, int64_t index)
{
    if (!t->fortran_order || t->rank < 2) return index;
    int64_t coordinates[NB_MAX_RANK], stored = 0;
    for (int i = t->rank - 1; i >= 0; i--) {
        coordinates[i] = index % t->shape[i];
        index /= t->shape[i];
    }
    for (int i = t->rank - 1; i >= 0; i--) stored = stored * t->shape[i] + coordinates[i];
    return stored;
}

/* Opens the file, which has to hold elements first ... first + count - 1 of the array, and all others. */
static nb_status open_elements(const char *path, const nb_tensor *t, int64_t first, int64_t count, FILE **file,
                               nb_ctx *ctx)
{
    int64_t length, total, all_bytes;
    NB_REQUIRE(ctx, first >= 0 && count >= 0 && first <= t->count && count <= t->count - first, NB_EINVAL,
               "%s: %lld elements from element %lld, there are %lld", path, (long long)count, (long long)first,
               (long long)t->count);
    NB_TRY(ctx, nb_open_input(path, file, &length, ctx));
    NB_REQUIRE(ctx, nb_tensor_extent(t, &total, &all_bytes) && total == t->count && t->offset <= length - all_bytes,
               NB_EIO, "%s: is shorter than it was when it was opened", path);
    return NB_OK;
}

/* The bytes that hold these elements in C order: those alone, or the whole array where its order is another. */
static nb_status load(const char *path, const nb_tensor *t, int64_t first, int64_t count, unsigned char **bytes,
                      int64_t *origin, nb_ctx *ctx)
{
    FILE *file;
    NB_TRY(ctx, open_elements(path, t, first, count, &file, ctx));
    bool whole = t->fortran_order && t->rank > 1;
    *origin = whole ? 0 : first;
    size_t size = sizes[t->dtype], wanted = (size_t)(whole ? t->count : count) * size;
    NB_NEED(*bytes, nb_alloc(ctx, wanted + 1, 1));
    return nb_read_bytes(path, file, t->offset + *origin * (int64_t)size, wanted, *bytes, ctx);
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "read_floats takes the bytes as they are");

static bool is_plain_floats(const nb_tensor *t)
{
    return t->dtype == NB_F32 && !t->big_endian && !t->fortran_order;
}

/* For what most files hold, little-endian float32 in C order, in a tenth of read_any's time. */
static void read_floats(const unsigned char *bytes, int64_t count, double *out)
{
    float value;
    for (int64_t i = 0; i < count; i++) {
        memcpy(&value, bytes + (size_t)i * sizeof value, sizeof value);
        out[i] = (double)value;
    }
}

/* bytes: from the element `origin` of the file's order on. */
static void read_any(const nb_tensor *t, const unsigned char *bytes, int64_t origin, int64_t first, int64_t count,
                     double *out)
{
    size_t size = sizes[t->dtype];
    for (int64_t i = 0; i < count; i++)
        out[i] =
            real(t->dtype, word_at(bytes + (size_t)(stored_index(t, first + i) - origin) * size, size, t->big_endian));
}

nb_status nb_tensor_read_reals(const char *path, const nb_tensor *t, int64_t first, int64_t count, double *out,
                               nb_ctx *ctx)
{
    unsigned char *bytes;
    int64_t origin;
    nb_mark mark = nb_ctx_mark(ctx);
    nb_status status = load(path, t, first, count, &bytes, &origin, ctx);
    if (status == NB_OK) {
        if (is_plain_floats(t))
            read_floats(bytes, count, out);
        else
            read_any(t, bytes, origin, first, count, out);
    }
    nb_ctx_release(ctx, mark);
    return status;
}

nb_status nb_tensor_read_scalars(const char *path, const nb_tensor *t, int64_t first, int64_t count, nb_scalar *out,
                                 nb_ctx *ctx)
{
    FILE *file;
    double *values;
    nb_mark mark = nb_ctx_mark(ctx);
    nb_status status;
    if (is_plain_floats(t) && sizeof *out == sizeof(float)) {
        status = open_elements(path, t, first, count, &file, ctx);
        int64_t at = t->offset + first * (int64_t)sizeof *out;
        if (status == NB_OK) status = nb_read_bytes(path, file, at, (size_t)count * sizeof *out, out, ctx);
    } else {
        NB_NEED(values, nb_alloc_raw(ctx, (size_t)count));
        status = nb_tensor_read_reals(path, t, first, count, values, ctx);
        if (status == NB_OK) nb_scalar_of((size_t)count, values, out);
    }
    nb_ctx_release(ctx, mark);
    return status;
}

static nb_status integer(const char *path, nb_dtype dtype, uint64_t bits, int64_t *out, nb_ctx *ctx)
{
    int shift = 64 - 8 * sizes[dtype];
    NB_REQUIRE(ctx, dtype != NB_U64 || bits <= INT64_MAX, NB_EINVAL, "%s: %llu does not fit a signed 64-bit integer",
               path, (unsigned long long)bits);
    *out = dtype >= NB_U8 ? (int64_t)bits : (int64_t)(bits << shift) >> shift;
    return NB_OK;
}

nb_status nb_tensor_read_integers(const char *path, const nb_tensor *t, int64_t first, int64_t count, int64_t *out,
                                  nb_ctx *ctx)
{
    unsigned char *bytes;
    int64_t origin;
    size_t size = sizes[t->dtype];
    NB_REQUIRE(ctx, t->dtype >= NB_I8, NB_EINVAL, "%s: holds floating-point numbers, expected integers", path);
    nb_mark mark = nb_ctx_mark(ctx);
    nb_status status = load(path, t, first, count, &bytes, &origin, ctx);
    for (int64_t i = 0; i < count && status == NB_OK; i++)
        status = integer(path, t->dtype,
                         word_at(bytes + (size_t)(stored_index(t, first + i) - origin) * size, size, t->big_endian),
                         &out[i], ctx);
    nb_ctx_release(ctx, mark);
    return status;
}
