/* tensor.c - elements of arrays in files: from and to bytes. */
#include "data/tensor.h"

#include "data/bytes.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

static const unsigned char sizes[NB_DTYPE_COUNT] = {
    [NB_F16] = 2, [NB_BF16] = 2, [NB_F32] = 4, [NB_F64] = 8, [NB_I8] = 1, [NB_I16] = 2,
    [NB_I32] = 4, [NB_I64] = 8,  [NB_U8] = 1,  [NB_U16] = 2, [NB_U32] = 4, [NB_U64] = 8};

size_t nb_dtype_size(nb_dtype dtype)
{
    return sizes[dtype];
}

static void close_file(void *file)
{
    fclose(file);
}

nb_status nb_open_input(const char *path, FILE **file, int64_t *length, nb_ctx *ctx)
{
    struct stat info;
    *file = fopen(path, "rb");
    NB_REQUIRE(ctx, *file, NB_EIO, "%s: cannot be opened: %s", path, strerror(errno));
    NB_TRY(ctx, nb_defer(ctx, close_file, *file));
    NB_REQUIRE(ctx, fstat(fileno(*file), &info) == 0, NB_EIO, "%s: %s", path, strerror(errno));
    NB_REQUIRE(ctx, S_ISREG(info.st_mode), NB_EIO, "%s: is not a regular file", path);
    *length = info.st_size;
    return NB_OK;
}

nb_status nb_read_bytes(const char *path, FILE *file, int64_t offset, size_t count, void *out, nb_ctx *ctx)
{
    NB_REQUIRE(ctx, fseeko(file, offset, SEEK_SET) == 0, NB_EIO, "%s: %s", path, strerror(errno));
    size_t got = fread(out, 1, count, file);
    NB_REQUIRE(ctx, got == count, NB_EIO, "%s: ends after %zu of %zu bytes from offset %lld", path, got, count,
               (long long)offset);
    return NB_OK;
}

bool nb_tensor_extent(const nb_tensor *tensor, int64_t *count, int64_t *bytes)
{
    *count = 1;
    for (int i = 0; i < tensor->rank; i++)
        if (tensor->shape[i] < 0 || __builtin_mul_overflow(*count, tensor->shape[i], count)) return false;
    return !__builtin_mul_overflow(*count, (int64_t)sizes[tensor->dtype], bytes);
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

/* nearbyint rounds to nearest even in the default mode, which nothing here changes. */
uint16_t nb_real_to_half(double value)
{
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    double magnitude = fabs(value);
    if (isnan(value)) return sign | 0x7e00;
    if (magnitude >= 65520) return sign | 0x7c00;
    int exponent = magnitude < ldexp(1, -14) ? -14 : ilogb(magnitude);
    int fraction = (int)nearbyint(ldexp(magnitude, 10 - exponent)); /* 0 ... 2048 */
    if (fraction < 1024) return (uint16_t)(sign | fraction);
    return (uint16_t)(sign + ((exponent + 14) << 10) + fraction);
}

static uint64_t word(const unsigned char *bytes, size_t size, bool big_endian)
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
    case NB_F16:
        return nb_half_to_real((uint16_t)bits);
    case NB_BF16:
    case NB_F32:
        memcpy(&single, &bits32, sizeof single);
        return (double)single;
    case NB_F64:
        memcpy(&value, &bits, sizeof value);
        return value;
    case NB_U8:
    case NB_U16:
    case NB_U32:
    case NB_U64:
        return (double)bits;
    default: /* signed: the sign bit is the highest of its size */
        return (double)((int64_t)(bits << (64 - 8 * sizes[dtype])) >> (64 - 8 * sizes[dtype]));
    }
}

/* Where element `index` of C order lies in the file's order. */
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

/* The bytes that hold elements first ... first + count - 1 in C order: those
 * alone, or the whole array where its order is another. */
static nb_status load(const char *path, const nb_tensor *t, int64_t first, int64_t count, unsigned char **bytes,
                      int64_t *origin, nb_ctx *ctx)
{
    FILE *file;
    int64_t length, total, all_bytes, size = sizes[t->dtype];
    NB_REQUIRE(ctx, first >= 0 && count >= 0 && first <= t->count && count <= t->count - first, NB_EINVAL,
               "%s: elements %lld to %lld of %lld", path, (long long)first, (long long)(first + count - 1), (long long)t->count);
    NB_TRY(ctx, nb_open_input(path, &file, &length, ctx));
    NB_REQUIRE(ctx, nb_tensor_extent(t, &total, &all_bytes) && total == t->count && t->offset <= length - all_bytes, NB_EIO,
               "%s: is shorter than it was when it was opened", path);
    bool whole = t->fortran_order && t->rank > 1;
    *origin = whole ? 0 : first;
    size_t wanted = (size_t)((whole ? total : count) * size);
    NB_NEED(*bytes, nb_alloc(ctx, wanted + 1, 1));
    return nb_read_bytes(path, file, t->offset + *origin * size, wanted, *bytes, ctx);
}

nb_status nb_tensor_read_reals(const char *path, const nb_tensor *t, int64_t first, int64_t count, double *out, nb_ctx *ctx)
{
    unsigned char *bytes;
    int64_t origin;
    size_t size = sizes[t->dtype];
    nb_mark mark = nb_ctx_mark(ctx);
    nb_status status = load(path, t, first, count, &bytes, &origin, ctx);
    for (int64_t i = 0; i < count && status == NB_OK; i++)
        out[i] = real(t->dtype, word(bytes + (size_t)(stored_index(t, first + i) - origin) * size, size, t->big_endian));
    nb_ctx_release(ctx, mark);
    return status;
}

static nb_status integer(const char *path, nb_dtype dtype, uint64_t bits, int64_t *out, nb_ctx *ctx)
{
    int shift = 64 - 8 * sizes[dtype];
    NB_REQUIRE(ctx, dtype != NB_U64 || bits <= INT64_MAX, NB_EINVAL, "%s: %llu does not fit a signed 64-bit integer", path,
               (unsigned long long)bits);
    *out = dtype >= NB_U8 ? (int64_t)bits : (int64_t)(bits << shift) >> shift;
    return NB_OK;
}

nb_status nb_tensor_read_integers(const char *path, const nb_tensor *t, int64_t first, int64_t count, int64_t *out, nb_ctx *ctx)
{
    unsigned char *bytes;
    int64_t origin;
    size_t size = sizes[t->dtype];
    NB_REQUIRE(ctx, t->dtype >= NB_I8, NB_EINVAL, "%s: holds floating-point numbers, expected integers", path);
    nb_mark mark = nb_ctx_mark(ctx);
    nb_status status = load(path, t, first, count, &bytes, &origin, ctx);
    for (int64_t i = 0; i < count && status == NB_OK; i++)
        status = integer(path, t->dtype, word(bytes + (size_t)(stored_index(t, first + i) - origin) * size, size, t->big_endian),
                         &out[i], ctx);
    nb_ctx_release(ctx, mark);
    return status;
}
