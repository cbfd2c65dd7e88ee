/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bytes.h - a file opened with its length known, and bytes of it. */
#ifndef NB_BYTES_H
#define NB_BYTES_H

#include "base/ctx.h"

#include <stdint.h>
#include <stdio.h>

/* An open regular file, closed with ctx's memory; NB_EIO with the reason. */
nb_status nb_open_input(const char *path, FILE **file, int64_t *length, nb_ctx *ctx);

/* Exactly `count` bytes from `offset`; NB_EIO where the file ends before. */
nb_status nb_read_bytes(const char *path, FILE *file, int64_t offset, size_t count, void *out, nb_ctx *ctx);

#endif
