/* SPDX-License-Identifier: GPL-3.0-or-later */
/* safetensors.c - .safetensors files: 8 bytes with the length N of the header,
 * little endian; N bytes of JSON, { name: {dtype, shape, data_offsets} } and
 * perhaps __metadata__, a map of texts; the data, without holes. */
#include "base/files.h"
#include "data/bytes.h"
#include "data/tensor.h"

#include <stdlib.h>
#include <string.h>

enum {
    SHORTEST_HEADER = 2,
    LONGEST_HEADER = 100000000, /* as in the reader of the format's authors */
    DEEPEST = 3,                /* the header, a tensor, its shape */
    LONGEST_LIST = 1000
};

static const struct {
    const char *name;
    nb_dtype dtype;
} types[] = {{"F16", NB_F16}, {"BF16", NB_BF16}, {"F32", NB_F32}, {"F64", NB_F64}, {"I8", NB_I8},   {"I16", NB_I16},
             {"I32", NB_I32}, {"I64", NB_I64},   {"U8", NB_U8},   {"U16", NB_U16}, {"U32", NB_U32}, {"U64", NB_U64}};
enum { TYPES = sizeof types / sizeof *types };

/* Parsed, JSON can take 80 times its length, and the headers of tensors take 12 times theirs. Refuses what is deeper or
 * has longer lists than these before it is parsed. */
static nb_status check_extent(const char *path, const char *text, size_t size, nb_ctx *ctx)
{
    int depth = 0, commas = 0;
    bool quoted = false;
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '"') quoted = !quoted;
        if (quoted && text[i] == '\\') i++;
        if (quoted) continue;
        if (text[i] == '{' || text[i] == '[') depth++, commas = 0;
        if (text[i] == '}' || text[i] == ']') depth--;
        if (text[i] == ',') commas++;
        NB_REQUIRE(ctx, depth <= DEEPEST, NB_EIO, "%s: header: is nested deeper than a tensor's shape (byte %zu)", path,
                   i);
        NB_REQUIRE(ctx, depth < DEEPEST || commas < LONGEST_LIST, NB_EIO,
                   "%s: header: a list has more than %d items (byte %zu)", path, LONGEST_LIST, i);
    }
    return NB_OK;
}

/* The header's JSON, which is the caller's to release, where the data begin, and
 * the file's length. */
static nb_status read_header(const char *path, json_t **root, int64_t *data, int64_t *length, nb_ctx *ctx)
{
    FILE *file;
    unsigned char start[NB_START_BYTES + 1];
    uint64_t size = 0;
    char *text;
    json_error_t error;
    NB_TRY(ctx, nb_open_input(path, &file, length, ctx));
    NB_REQUIRE(ctx, *length >= 8, NB_EIO, "%s: is not a .safetensors file: it has %lld bytes", path,
               (long long)*length);
    NB_TRY(ctx, nb_read_start(path, file, *length, start, ctx));
    const char *other = nb_other_kind(start);
    NB_REQUIRE(
        ctx, !other, NB_EIO,
        "%s: is not a .safetensors file: it is %s (allowed for a head: a .safetensors file, or a folder of q.npy, "
        "k.npy and perhaps v.npy)",
        path, other);
    for (int i = 7; i >= 0; i--) size = size << 8 | start[i];
    NB_REQUIRE(ctx, size <= (uint64_t)(*length - 8), NB_EIO,
               "%s: header length %llu is more than the file's %lld bytes: no .safetensors file, or one cut off", path,
               (unsigned long long)size, (long long)*length);
    NB_REQUIRE(ctx, size >= SHORTEST_HEADER && size <= LONGEST_HEADER, NB_EIO,
               "%s: header length %llu, allowed are %d to %d", path, (unsigned long long)size, SHORTEST_HEADER,
               LONGEST_HEADER);
    *data = 8 + (int64_t)size;
    NB_NEED(text, nb_alloc(ctx, (size_t)size + 1, 1));
    NB_TRY(ctx, nb_read_bytes(path, file, 8, (size_t)size, text, ctx));
    NB_REQUIRE(ctx, text[0] == '{', NB_EIO, "%s: header: begins with byte %d, expected '{'", path,
               (unsigned char)text[0]);
    NB_TRY(ctx, check_extent(path, text, (size_t)size, ctx));
    *root = json_loadb(text, (size_t)size, JSON_REJECT_DUPLICATES, &error);
    NB_REQUIRE(ctx, *root, NB_EIO, "%s: header: is not JSON: %s (byte %d)", path, error.text, error.position);
    return NB_OK;
}

static nb_status read_dtype(const char *path, const json_t *json, nb_tensor *t, nb_ctx *ctx)
{
    const char *name = json_string_value(json_object_get(json, "dtype"));
    for (int i = 0; name && i < TYPES; i++)
        if (strcmp(name, types[i].name) == 0) {
            t->dtype = types[i].dtype;
            return NB_OK;
        }
    NB_FAIL(ctx, NB_EIO, "%s: tensor '%s', dtype: %s is not one of F16, BF16, F32, F64, I8 ... I64, U8 ... U64", path,
            t->name, name ? name : "no text, which");
}

/* A list of integers that are not negative. */
static nb_status read_integers(const char *path, const char *name, const json_t *json, const char *field, size_t most,
                               int64_t *out, nb_ctx *ctx)
{
    const json_t *list = json_object_get(json, field);
    NB_REQUIRE(ctx, json_is_array(list) && json_array_size(list) <= most, NB_EIO,
               "%s: tensor '%s', %s: expected a list of at most %zu integers", path, name, field, most);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *number = json_array_get(list, i);
        NB_REQUIRE(ctx, json_is_integer(number) && json_integer_value(number) >= 0, NB_EIO,
                   "%s: tensor '%s', %s: item %zu is not an integer from 0", path, name, field, i);
        out[i] = json_integer_value(number);
    }
    return NB_OK;
}

static nb_status read_place(const char *path, const char *name, const json_t *json, int64_t data_bytes,
                            nb_stored_tensor *t, nb_ctx *ctx)
{
    int64_t offsets[2] = {0};
    NB_REQUIRE(ctx, json_is_object(json), NB_EIO, "%s: tensor '%s': is not a JSON object", path, name);
    NB_TRY(ctx, read_integers(path, name, json, "data_offsets", 2, offsets, ctx));
    NB_REQUIRE(ctx, json_array_size(json_object_get(json, "data_offsets")) == 2 && offsets[0] <= offsets[1], NB_EIO,
               "%s: tensor '%s', data_offsets: expected a begin and an end", path, name);
    NB_REQUIRE(ctx, offsets[1] <= data_bytes, NB_EIO,
               "%s: tensor '%s', data_offsets: ends at %lld, the file has %lld bytes of data", path, name,
               (long long)offsets[1], (long long)data_bytes);
    *t = (nb_stored_tensor){name, offsets[0], offsets[1], json};
    return NB_OK;
}

static nb_status check_metadata(const char *path, json_t *json, nb_ctx *ctx)
{
    const char *key;
    json_t *value;
    NB_REQUIRE(ctx, json_is_object(json), NB_EIO, "%s: __metadata__: is not a JSON object", path);
    json_object_foreach(json, key, value)
        NB_REQUIRE(ctx, json_is_string(value), NB_EIO, "%s: __metadata__, '%s': is not a text", path, key);
    return NB_OK;
}

static int by_offset(const void *a, const void *b)
{
    const nb_stored_tensor *s = a, *t = b;
    if (s->begin != t->begin) return s->begin < t->begin ? -1 : 1;
    return s->end == t->end ? 0 : s->end < t->end ? -1 : 1;
}

/* The tensors, sorted, must cover the data without holes or overlaps. */
static nb_status check_cover(const char *path, const nb_safetensors *file, int64_t data_bytes, nb_ctx *ctx)
{
    int64_t at = 0;
    for (int i = 0; i < file->count; i++) {
        const nb_stored_tensor *t = &file->tensors[i];
        NB_REQUIRE(ctx, t->begin == at, NB_EIO,
                   "%s: tensor '%s', data_offsets: begins at %lld, expected %lld (no holes, no overlaps)", path,
                   t->name, (long long)t->begin, (long long)at);
        at = t->end;
    }
    NB_REQUIRE(ctx, at == data_bytes, NB_EIO, "%s: data_offsets: end at %lld, the file has %lld bytes of data", path,
               (long long)at, (long long)data_bytes);
    return NB_OK;
}

nb_status nb_safetensors_open(const char *path, nb_safetensors *file, nb_ctx *ctx)
{
    int64_t length, data;
    json_t *root, *value;
    const char *name;
    *file = (nb_safetensors){.count = 0};
    nb_mark mark = nb_ctx_mark(ctx);
    nb_status status = read_header(path, &root, &data, &length, ctx);
    nb_ctx_release(ctx, mark);
    NB_TRY(ctx, status);
    NB_TRY(ctx, nb_defer_json(ctx, root));
    file->metadata = json_object_get(root, "__metadata__");
    if (json_is_null(file->metadata)) file->metadata = NULL; /* which the authors' reader takes for none */
    if (file->metadata) NB_TRY(ctx, check_metadata(path, file->metadata, ctx));
    NB_NEED(file->tensors, nb_alloc(ctx, json_object_size(root) + 1, sizeof *file->tensors));
    json_object_foreach(root, name, value) if (strcmp(name, "__metadata__") != 0)
        NB_TRY(ctx, read_place(path, name, value, length - data, &file->tensors[file->count++], ctx));
    qsort(file->tensors, (size_t)file->count, sizeof *file->tensors, by_offset);
    NB_TRY(ctx, check_cover(path, file, length - data, ctx));
    for (int i = 0; i < file->count; i++) {
        file->tensors[i].begin += data;
        file->tensors[i].end += data;
    }
    return NB_OK;
}

nb_status nb_safetensors_find(const char *path, const nb_safetensors *file, const char *name, bool *there,
                              nb_tensor *tensor, nb_ctx *ctx)
{
    int64_t bytes;
    int i = 0;
    while (i < file->count && strcmp(file->tensors[i].name, name) != 0) i++;
    *there = i < file->count;
    if (!*there) return NB_OK;
    const nb_stored_tensor *stored = &file->tensors[i];
    int64_t held = stored->end - stored->begin;
    *tensor = (nb_tensor){.name = stored->name, .offset = stored->begin};
    NB_TRY(ctx, read_dtype(path, stored->header, tensor, ctx));
    NB_TRY(ctx, read_integers(path, name, stored->header, "shape", NB_MAX_RANK, tensor->shape, ctx));
    tensor->rank = (int)json_array_size(json_object_get(stored->header, "shape"));
    NB_REQUIRE(ctx, nb_tensor_extent(tensor, &tensor->count, &bytes), NB_EIO, "%s: tensor '%s', shape: too large", path,
               name);
    NB_REQUIRE(ctx, bytes == held, NB_EIO, "%s: tensor '%s', shape: stands for %lld bytes, data_offsets for %lld", path,
               name, (long long)bytes, (long long)held);
    return NB_OK;
}

const char *nb_safetensors_metadata(const nb_safetensors *file, const char *key)
{
    return json_string_value(json_object_get(file->metadata, key));
}
