/* SPDX-License-Identifier: GPL-3.0-or-later */
/* safetensors.h - writes .safetensors files for tests of what reads them; src/data/safetensors.c has the format. */
#ifndef NB_TEST_SAFETENSORS_H
#define NB_TEST_SAFETENSORS_H

#include "base/files.h"
#include "data/tensor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *name;
    nb_dtype dtype; /* NB_F16, NB_BF16, NB_F32 or NB_F64: values are rounded to nearest even */
    int rank;
    int64_t shape[NB_MAX_RANK];
    const double *values; /* C order */
} tensor_out;

/* Sign, exponent and `fraction_bits` of fraction in 16 bits, rounded once, to nearest even: by way of float, a value
 * just beside a tie would be rounded twice. */
static inline uint16_t narrow_real(double value, int fraction_bits)
{
    int sign = signbit(value) ? 0x8000 : 0, infinity = 0x7fff >> fraction_bits << fraction_bits;
    int lowest = 2 - (1 << (14 - fraction_bits)); /* exponent of the smallest normal number */
    double magnitude = fabs(value);
    if (isnan(value)) return (uint16_t)(sign | infinity | 1 << (fraction_bits - 1));
    int exponent = magnitude < ldexp(1, lowest) ? lowest : ilogb(magnitude);
    if (exponent > 1 - lowest) return (uint16_t)(sign | infinity);
    int fraction = (int)nearbyint(ldexp(magnitude, fraction_bits - exponent)); /* 0 ... 2^(fraction_bits + 1) */
    if (fraction < 1 << fraction_bits) return (uint16_t)(sign | fraction);
    return (uint16_t)(sign + ((exponent - lowest) << fraction_bits) + fraction);
}

static inline uint64_t tensor_bits(nb_dtype dtype, double value)
{
    uint64_t word = 0;
    if (dtype == NB_F16) return narrow_real(value, 10);
    if (dtype == NB_BF16) return narrow_real(value, 7);
    if (dtype == NB_F64) {
        memcpy(&word, &value, sizeof value);
        return word;
    }
    float single = (float)value;
    uint32_t word32;
    memcpy(&word32, &single, sizeof single);
    return word32;
}

static inline size_t tensor_elements(const tensor_out *t)
{
    size_t count = 1;
    for (int i = 0; i < t->rank; i++) count *= (size_t)t->shape[i];
    return count;
}

typedef struct {
    int count;
    const tensor_out *tensors;
    char *header; /* padded with blanks to a multiple of 8 bytes */
} tensors_out;

static inline nb_status print_tensors(FILE *out, const void *what, nb_ctx *ctx)
{
    const tensors_out *c = what;
    uint64_t size = strlen(c->header);
    (void)ctx;
    for (int i = 0; i < 8; i++) fputc((int)(size >> 8 * i & 255), out);
    fwrite(c->header, 1, size, out);
    for (int i = 0; i < c->count; i++) {
        const tensor_out *t = &c->tensors[i];
        for (size_t j = 0; j < tensor_elements(t); j++) {
            uint64_t word = tensor_bits(t->dtype, t->values[j]);
            for (size_t b = 0; b < nb_dtype_size(t->dtype); b++) fputc((int)(word >> 8 * b & 255), out);
        }
    }
    return NB_OK;
}

/* { "__metadata__": ..., "q": {...} }; NULL when out of memory. */
static inline json_t *describe_tensors(int count, const tensor_out *tensors, json_t *metadata)
{
    static const char *const types[] = {[NB_F16] = "F16", [NB_BF16] = "BF16", [NB_F32] = "F32", [NB_F64] = "F64"};
    json_t *root = json_object();
    json_int_t offset = 0;
    int failed = !root || (metadata && json_object_set(root, "__metadata__", metadata));
    for (int i = 0; i < count && !failed; i++) {
        const tensor_out *t = &tensors[i];
        json_t *shape = json_array();
        for (int k = 0; k < t->rank; k++) failed |= json_array_append_new(shape, json_integer(t->shape[k]));
        json_int_t end = offset + (json_int_t)(tensor_elements(t) * nb_dtype_size(t->dtype));
        failed |= json_object_set_new(
            root, t->name,
            json_pack("{s:s, s:o, s:[I, I]}", "dtype", types[t->dtype], "shape", shape, "data_offsets", offset, end));
        offset = end;
    }
    if (!failed) return root;
    json_decref(root);
    return NULL;
}

/* Names differ, metadata (or NULL) has texts alone. */
static inline nb_status save_safetensors(const char *path, int count, const tensor_out *tensors, json_t *metadata,
                                         nb_ctx *ctx)
{
    json_t *root = describe_tensors(count, tensors, metadata);
    char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;
    json_decref(root);
    NB_REQUIRE(ctx, text, NB_ENOMEM, "%s: the header cannot be made", path);
    NB_TRY(ctx, nb_defer(ctx, free, text));
    tensors_out c = {count, tensors, nb_format(ctx, "%s%*s", text, (int)(-strlen(text) % 8), "")};
    return c.header ? nb_write_file(path, print_tensors, &c, ctx) : NB_ENOMEM;
}

#endif
