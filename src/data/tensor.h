/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tensor.h - reads and writes arrays in .npy (versions 1 to 3) and .safetensors files. */
#ifndef NB_TENSOR_H
#define NB_TENSOR_H

#include "base/ctx.h"
#include "linalg/scalar.h"

#include <jansson.h>
#include <stdint.h>

enum { NB_MAX_RANK = 8 };

typedef enum {
    NB_F16,
    NB_BF16,
    NB_F32,
    NB_F64,
    NB_I8,
    NB_I16,
    NB_I32,
    NB_I64,
    NB_U8,
    NB_U16,
    NB_U32,
    NB_U64,
    NB_DTYPE_COUNT
} nb_dtype;

/* An array in a file. The readers check that the file holds at least the product of shape[]. */
typedef struct {
    const char *name; /* a safetensors tensor's name; "" for .npy */
    nb_dtype dtype;
    int rank; /* 0 ... NB_MAX_RANK */
    int64_t shape[NB_MAX_RANK];
    bool fortran_order; /* first index runs fastest; safetensors: false */
    bool big_endian;    /* .npy may be; safetensors: false */
    int64_t count;      /* elements */
    int64_t offset;     /* of the first byte from the start of the file */
} nb_tensor;

size_t nb_dtype_size(nb_dtype dtype);
extern const char *const nb_dtype_names[]; /* NumPy's, by nb_dtype */

/* *text <- "(3, 4)" for messages, as NumPy writes it: "(3,)" for one dimension. */
nb_status nb_tensor_shape(const nb_tensor *tensor, const char **text, nb_ctx *ctx);

/* Computes the product of the shape, and the size in bytes; false if a dimension is negative or a product overflows. */
bool nb_tensor_extent(const nb_tensor *tensor, int64_t *count, int64_t *bytes);

/* The same for an array to be written: NB_EINVAL, naming rank or shape. */
nb_status nb_output_extent(const char *path, nb_dtype dtype, int rank, const int64_t *shape, int64_t *count,
                           int64_t *bytes, nb_ctx *ctx);

nb_status nb_npy_open(const char *path, nb_tensor *tensor, nb_ctx *ctx);
/* Write an array in C order, version 1.0, as float64 or int64. `path` is replaced whole or not at all; "-" is standard
 * output. */
nb_status nb_npy_save_reals(const char *path, int rank, const int64_t *shape, const double *values, nb_ctx *ctx);
/* Writes float32 or float64: `each` is the bytes of a number, 4 or 8. */
nb_status nb_npy_save_floats(const char *path, int rank, const int64_t *shape, size_t each, const void *values,
                             nb_ctx *ctx);
nb_status nb_npy_save_integers(const char *path, int rank, const int64_t *shape, const int64_t *values, nb_ctx *ctx);

typedef struct {
    const char *name;
    int64_t begin, end;   /* its bytes in the file */
    const json_t *header; /* its dtype and shape, not checked yet */
} nb_stored_tensor;

typedef struct {
    int count;
    nb_stored_tensor *tensors; /* in the order of their offsets */
    json_t *metadata;          /* the __metadata__ object, strings only; NULL if there is none; owned by ctx */
} nb_safetensors;

nb_status nb_safetensors_open(const char *path, nb_safetensors *file, nb_ctx *ctx);
/* Finds a tensor and checks its dtype and shape; other tensors may have types that are not known here. */
nb_status nb_safetensors_find(const char *path, const nb_safetensors *file, const char *name, bool *there,
                              nb_tensor *tensor, nb_ctx *ctx);
const char *nb_safetensors_metadata(const nb_safetensors *file, const char *key); /* NULL if absent */

/* Read elements first ... first + count - 1 in C order (whatever the order of the file) as doubles or as int64.
 * Integers: NB_EINVAL for a floating type. */
nb_status nb_tensor_read_reals(const char *path, const nb_tensor *t, int64_t first, int64_t count, double *out,
                               nb_ctx *ctx);
/* The same as scalars of forward passes. */
nb_status nb_tensor_read_scalars(const char *path, const nb_tensor *t, int64_t first, int64_t count, nb_scalar *out,
                                 nb_ctx *ctx);
nb_status nb_tensor_read_integers(const char *path, const nb_tensor *t, int64_t first, int64_t count, int64_t *out,
                                  nb_ctx *ctx);

double nb_half_to_real(uint16_t bits);

#endif
