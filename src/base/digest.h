/* SPDX-License-Identifier: GPL-3.0-or-later */
/* digest.h - SHA-256 digests of files and texts, in hexadecimal, and a fast checksum of memory. */
#ifndef NB_DIGEST_H
#define NB_DIGEST_H

#include "base/ctx.h"

#include <stdint.h>

enum { NB_DIGEST_LETTERS = 64, NB_DIGEST_SHOWN = 12 }; /* letters of a digest; letters shown in messages */

/* Computes the SHA-256 of a file in hexadecimal, and its size in bytes. NB_EIO with the reason if it cannot be read. */
nb_status nb_digest_file(const char *path, const char **sha256, long long *bytes, nb_ctx *ctx);

nb_status nb_digest_text(const char *text, const char **sha256, nb_ctx *ctx);

/* Returns a checksum that differs if one byte, or several adjacent ones, differ; some GB/s. `start` is the checksum of
 * the bytes before. */
uint64_t nb_checksum(const void *bytes, size_t count, uint64_t start);

#endif
