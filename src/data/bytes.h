/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bytes.h - a file opened with its length known, and elements in it. */
#ifndef NB_BYTES_H
#define NB_BYTES_H

#include "data/tensor.h"

#include <stdio.h>

/* An open regular file, closed with ctx's memory; NB_EIO with the reason. */
nb_status nb_open_input(const char *path, FILE **file, int64_t *length, nb_ctx *ctx);

/* Exactly `count` bytes from `offset`; NB_EIO where the file ends before. */
nb_status nb_read_bytes(const char *path, FILE *file, int64_t offset, size_t count, void *out, nb_ctx *ctx);

/* The product of the shape, all of it times the element size; false where a
 * dimension is negative or the product overflows. */
bool nb_tensor_extent(const nb_tensor *tensor, int64_t *count, int64_t *bytes);

/* The same of an array that is to be written: NB_EINVAL, naming rank or shape. */
nb_status nb_output_extent(const char *path, nb_dtype dtype, int rank, const int64_t *shape, int64_t *count,
                           int64_t *bytes, nb_ctx *ctx);

#endif
