/* SPDX-License-Identifier: GPL-3.0-or-later */
/* input.h - what the fuzz harnesses share: bytes as a file that has no name in any
 * folder, and a check that stays when assert() is compiled out.
 *
 * A harness defines LLVMFuzzerTestOneInput. With libFuzzer it is given what that makes
 * up; with replay.c, the files that are named. */
#ifndef NB_FUZZ_INPUT_H
#define NB_FUZZ_INPUT_H

#include "base/ctx.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NB_MUST(condition, ...) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition); \
            fprintf(stderr, __VA_ARGS__); \
            fputc('\n', stderr); \
            abort(); \
        } \
    } while (0)

/* The path of a file with just these bytes, until the next call. */
static inline const char *nb_fuzz_file(const void *data, size_t size)
{
    static char path[64];
    static int file = -1;
    if (file < 0) file = memfd_create("input", MFD_CLOEXEC);
    NB_MUST(file >= 0 && ftruncate(file, 0) == 0 && pwrite(file, data, size, 0) == (ssize_t)size,
            "no memory for the input");
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    return path;
}

/* An error names the file that it is about. */
static inline void nb_fuzz_check_message(const nb_ctx *ctx, const char *path)
{
    const char *message = nb_error_message(ctx);
    NB_MUST(strncmp(message, path, strlen(path)) == 0, "the message is '%s'", message);
}

#endif
