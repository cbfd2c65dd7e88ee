/* SPDX-License-Identifier: GPL-3.0-or-later */
/* npy.c - NumPy's .npy files: magic, version, length of the header, the header
 * (a Python dictionary with the keys descr, fortran_order and shape), the data.
 * NumPy enhancement proposal 1; versions 1.0, 2.0 and 3.0. */
#include "base/files.h"
#include "base/builder.h"
#include "base/numbers.h"
#include "data/bytes.h"
#include "data/tensor.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>

enum { LONGEST_HEADER = 1 << 16 };

typedef struct {
    const char *path, *at;
    nb_tensor *tensor;
    bool has_type, has_order, has_shape;
    nb_ctx *ctx;
} parser;

static nb_status bad(parser *p, const char *field, const char *expected)
{
    NB_FAIL(p->ctx, NB_EIO, "%s: header, %s: expected %s, found '%.24s'", p->path, field, expected, p->at);
}

static void blanks(parser *p)
{
    while (isspace((unsigned char)*p->at)) p->at++;
}

static bool take_text(parser *p, const char *text)
{
    blanks(p);
    size_t length = strlen(text);
    if (strncmp(p->at, text, length) != 0) return false;
    p->at += length;
    return true;
}

/* A quoted text without escapes, of less than `size` characters. */
static nb_status text(parser *p, const char *field, char *out, size_t size)
{
    blanks(p);
    char quote = *p->at;
    const char *end = quote == '\'' || quote == '"' ? strchr(p->at + 1, quote) : NULL;
    if (!end || (size_t)(end - p->at) > size) return bad(p, field, "a short quoted text");
    memcpy(out, p->at + 1, (size_t)(end - p->at - 1));
    out[end - p->at - 1] = '\0';
    p->at = end + 1;
    return NB_OK;
}

static nb_status type(parser *p)
{
    static const struct {
        const char *name;
        nb_dtype dtype;
    } types[] = {{"f2", NB_F16}, {"f4", NB_F32}, {"f8", NB_F64}, {"i1", NB_I8},  {"i2", NB_I16}, {"i4", NB_I32},
                 {"i8", NB_I64}, {"u1", NB_U8},  {"u2", NB_U16}, {"u4", NB_U32}, {"u8", NB_U64}};
    char name[16];
    NB_TRY(p->ctx, text(p, "descr", name, sizeof name));
    p->tensor->big_endian = name[0] == '>';
    for (size_t i = 0; i < sizeof types / sizeof *types && strchr("<>=|", name[0]) && name[0]; i++)
        if (strcmp(name + 1, types[i].name) == 0) {
            p->tensor->dtype = types[i].dtype;
            return NB_OK;
        }
    NB_FAIL(p->ctx, NB_EIO, "%s: header, descr: '%s' is not one of f2, f4, f8, i1, i2, i4, i8, u1, u2, u4, u8", p->path,
            name);
}

static nb_status shape(parser *p)
{
    nb_tensor *t = p->tensor;
    if (!take_text(p, "(")) return bad(p, "shape", "'('");
    for (t->rank = 0; !take_text(p, ")"); t->rank++) {
        long long size;
        if (t->rank == NB_MAX_RANK) return bad(p, "shape", "at most 8 dimensions");
        blanks(p);
        const char *end = isdigit((unsigned char)*p->at) ? nb_integer_at(p->at, 0, LLONG_MAX, &size) : NULL;
        if (!end) return bad(p, "shape", "a dimension from 0 to 2^63 - 1");
        t->shape[t->rank] = size;
        p->at = end;
        if (take_text(p, ",")) continue;
        if (t->rank == 0 || !take_text(p, ")")) return bad(p, "shape", "',' or ')'");
        t->rank++;
        return NB_OK;
    }
    return NB_OK;
}

static nb_status once(parser *p, bool *seen, const char *key)
{
    NB_REQUIRE(p->ctx, !*seen, NB_EIO, "%s: header: key '%s' appears twice", p->path, key);
    *seen = true;
    return NB_OK;
}

static nb_status pair(parser *p)
{
    char key[16];
    NB_TRY(p->ctx, text(p, "key", key, sizeof key));
    if (!take_text(p, ":")) return bad(p, key, "':'");
    if (strcmp(key, "descr") == 0) {
        NB_TRY(p->ctx, once(p, &p->has_type, key));
        return type(p);
    }
    if (strcmp(key, "shape") == 0) {
        NB_TRY(p->ctx, once(p, &p->has_shape, key));
        return shape(p);
    }
    NB_REQUIRE(p->ctx, strcmp(key, "fortran_order") == 0, NB_EIO,
               "%s: header: key '%s' is unknown; allowed: descr, fortran_order, shape", p->path, key);
    NB_TRY(p->ctx, once(p, &p->has_order, key));
    p->tensor->fortran_order = take_text(p, "True");
    return p->tensor->fortran_order || take_text(p, "False") ? NB_OK : bad(p, key, "True or False");
}

static nb_status dictionary(parser *p)
{
    if (!take_text(p, "{")) return bad(p, "start", "'{'");
    while (!take_text(p, "}")) {
        NB_TRY(p->ctx, pair(p));
        if (take_text(p, ",")) continue;
        if (!take_text(p, "}")) return bad(p, "after a value", "',' or '}'");
        break;
    }
    blanks(p);
    if (*p->at) return bad(p, "end", "blanks");
    const char *missing = !p->has_type ? "descr" : !p->has_order ? "fortran_order" : !p->has_shape ? "shape" : NULL;
    NB_REQUIRE(p->ctx, !missing, NB_EIO, "%s: header: key '%s' is missing", p->path, missing);
    return NB_OK;
}

/* The header's text and where the data begin. */
static nb_status header(const char *path, FILE *file, int64_t length, char **out, int64_t *data, nb_ctx *ctx)
{
    unsigned char start[NB_START_BYTES + 1];
    NB_REQUIRE(ctx, length >= 10, NB_EIO, "%s: is not a .npy file: it has %lld bytes", path, (long long)length);
    NB_TRY(ctx, nb_read_start(path, file, length, start, ctx));
    if (memcmp(start, "\x93NUMPY", 6) != 0) {
        const char *other = start[8] == '{' ? "a .safetensors file" : nb_other_kind(start);
        NB_FAIL(ctx, NB_EIO, "%s: is not a .npy file: it %s%s", path, other ? "is " : "does not begin with ",
                other ? other : "\\x93NUMPY");
    }
    NB_REQUIRE(ctx, start[6] >= 1 && start[6] <= 3 && start[7] == 0, NB_EIO,
               "%s: version %d.%d, allowed are 1.0, 2.0 and 3.0", path, start[6], start[7]);
    int64_t size = start[8] | start[9] << 8;
    if (start[6] > 1) size |= (int64_t)start[10] << 16 | (int64_t)start[11] << 24;
    *data = (start[6] > 1 ? 12 : 10) + size;
    NB_REQUIRE(ctx, *data <= length, NB_EIO, "%s: header length %lld is more than the file's %lld bytes", path,
               (long long)size, (long long)length);
    NB_REQUIRE(ctx, size <= LONGEST_HEADER, NB_EIO, "%s: header length %lld, allowed are at most %d", path,
               (long long)size, LONGEST_HEADER);
    NB_NEED(*out, nb_alloc(ctx, (size_t)size + 1, 1));
    NB_TRY(ctx, nb_read_bytes(path, file, *data - size, (size_t)size, *out, ctx));
    NB_REQUIRE(ctx, strlen(*out) == (size_t)size, NB_EIO, "%s: header: holds a NUL byte", path);
    return NB_OK;
}

static nb_status open_npy(const char *path, nb_tensor *tensor, nb_ctx *ctx)
{
    FILE *file;
    int64_t length, bytes;
    char *text_;
    *tensor = (nb_tensor){.name = ""};
    NB_TRY(ctx, nb_open_input(path, &file, &length, ctx));
    NB_TRY(ctx, header(path, file, length, &text_, &tensor->offset, ctx));
    parser p = {.path = path, .at = text_, .tensor = tensor, .ctx = ctx};
    NB_TRY(ctx, dictionary(&p));
    NB_REQUIRE(ctx, nb_tensor_extent(tensor, &tensor->count, &bytes), NB_EIO, "%s: header, shape: too large", path);
    NB_REQUIRE(ctx, bytes == length - tensor->offset, NB_EIO,
               "%s: header, shape: stands for %lld bytes, the file has %lld", path, (long long)bytes,
               (long long)(length - tensor->offset));
    return NB_OK;
}

nb_status nb_npy_open(const char *path, nb_tensor *tensor, nb_ctx *ctx)
{
    nb_mark mark = nb_ctx_mark(ctx);
    nb_status status = open_npy(path, tensor, ctx);
    nb_ctx_release(ctx, mark);
    return status;
}

typedef struct {
    const char *type;
    int rank;
    const int64_t *shape;
    int64_t count;
    const void *values; /* of this machine: little endian */
    size_t each;        /* bytes */
} array;

static nb_status print(FILE *out, const void *what, nb_ctx *ctx)
{
    const array *a = what;
    char *dictionary_;
    nb_string dimensions = NB_NO_TEXT;
    for (int i = 0; i < a->rank; i++)
        NB_TRY(ctx, nb_append_item(&dimensions, ", ", ctx, "%lld", (long long)a->shape[i]));
    if (a->rank == 1) NB_TRY(ctx, nb_append(&dimensions, ctx, ","));
    NB_NEED(dictionary_,
            nb_format(ctx, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", a->type, dimensions.text));
    size_t used = 10 + strlen(dictionary_) + 1, padded = (used + 63) / 64 * 64, size = padded - 10;
    fwrite("\x93NUMPY\x01", 1, 7, out);
    fputc(0, out);
    fputc((int)(size & 255), out);
    fputc((int)(size >> 8), out);
    fprintf(out, "%s%*s\n", dictionary_, (int)(padded - used), "");
    if (a->count) fwrite(a->values, a->each, (size_t)a->count, out);
    return NB_OK;
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "files are written as this machine has its numbers");

static nb_status save(const char *path, array a, nb_ctx *ctx)
{
    int64_t bytes;
    NB_TRY(ctx, nb_output_extent(path, a.each == 4 ? NB_F32 : NB_F64, a.rank, a.shape, &a.count, &bytes, ctx));
    return strcmp(path, "-") == 0 ? print(stdout, &a, ctx) : nb_write_file(path, print, &a, ctx);
}

nb_status nb_npy_save_reals(const char *path, int rank, const int64_t *shape_, const double *values, nb_ctx *ctx)
{
    return save(path, (array){.type = "<f8", .rank = rank, .shape = shape_, .values = values, .each = 8}, ctx);
}

nb_status nb_npy_save_floats(const char *path, int rank, const int64_t *shape_, size_t each, const void *values,
                             nb_ctx *ctx)
{
    const char *type = each == 4 ? "<f4" : "<f8";
    return save(path, (array){.type = type, .rank = rank, .shape = shape_, .values = values, .each = each}, ctx);
}

nb_status nb_npy_save_integers(const char *path, int rank, const int64_t *shape_, const int64_t *values, nb_ctx *ctx)
{
    return save(path, (array){.type = "<i8", .rank = rank, .shape = shape_, .values = values, .each = 8}, ctx);
}
