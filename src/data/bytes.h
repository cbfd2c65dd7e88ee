/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bytes.h - a file opened with its length known, and bytes of it. */
#ifndef NB_BYTES_H
#define NB_BYTES_H

#include "base/ctx.h"

#include <stdint.h>
#include <stdio.h>

/* An open regular file, closed with ctx's memory; NB_EIO with the reason. */
nb_status nb_open_input(const char *path, FILE **file, int64_t *length, nb_ctx *ctx);

/* Exactly `count` bytes from `offset`; NB_EIO if the file ends before. */
nb_status nb_read_bytes(const char *path, FILE *file, int64_t offset, size_t count, void *out, nb_ctx *ctx);

enum { NB_START_BYTES = 32 };

/* What a file is instead of what was expected, by its first bytes and a final zero; NULL: not known. */
const char *nb_other_kind(const unsigned char start[NB_START_BYTES + 1]);

/* The first bytes of a file, zeros behind its end. */
nb_status nb_read_start(const char *path, FILE *file, int64_t length, unsigned char start[NB_START_BYTES + 1],
                        nb_ctx *ctx);

#endif
