/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bytes.h - opens a file of known length and reads bytes of it. */
#ifndef NB_BYTES_H
#define NB_BYTES_H

#include "base/ctx.h"

#include <stdint.h>
#include <stdio.h>

/* Opens a regular file, closed with ctx's memory; NB_EIO with the reason. */
nb_status nb_open_input(const char *path, FILE **file, int64_t *length, nb_ctx *ctx);

/* Reads exactly `count` bytes from `offset`; NB_EIO if the file ends before. */
nb_status nb_read_bytes(const char *path, FILE *file, int64_t offset, size_t count, void *out, nb_ctx *ctx);

enum { NB_START_BYTES = 32 };

/* Returns the kind of an unexpected file, by its first bytes and a final zero; NULL: unknown. */
const char *nb_other_kind(const unsigned char start[NB_START_BYTES + 1]);

/* Reads the first bytes of a file, with zeros past its end. */
nb_status nb_read_start(const char *path, FILE *file, int64_t length, unsigned char start[NB_START_BYTES + 1],
                        nb_ctx *ctx);

#endif
