/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bytes.c - see bytes.h */
#include "data/bytes.h"

#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static void close_file(void *file)
{
    fclose(file);
}

nb_status nb_open_input(const char *path, FILE **file, int64_t *length, nb_ctx *ctx)
{
    struct stat info;
    const char *place;
    NB_TRY(ctx, nb_shipped_path(path, &place, ctx));
    int descriptor = open(place, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* does not wait for a pipe's writer */
    *file = descriptor < 0 ? NULL : fdopen(descriptor, "rb");
    if (!*file) {
        int reason = errno;
        if (descriptor >= 0) close(descriptor);
        NB_FAIL(ctx, nb_file_status(reason), "%s: cannot be opened: %s%s", path, strerror(reason), nb_path_hint(path));
    }
    NB_TRY(ctx, nb_defer(ctx, close_file, *file));
    NB_REQUIRE(ctx, fstat(fileno(*file), &info) == 0, NB_EIO, "%s: %s", path, strerror(errno));
    NB_REQUIRE(ctx, S_ISREG(info.st_mode), NB_EIO, "%s: is not a regular file", path);
    *length = info.st_size;
    return NB_OK;
}

nb_status nb_read_bytes(const char *path, FILE *file, int64_t offset, size_t count, void *out, nb_ctx *ctx)
{
    NB_REQUIRE(ctx, fseeko(file, offset, SEEK_SET) == 0, NB_EIO, "%s: %s", path, strerror(errno));
    size_t got = fread(out, 1, count, file);
    NB_REQUIRE(ctx, got == count, NB_EIO, "%s: ends after %zu of %zu bytes from offset %lld", path, got, count,
               (long long)offset);
    return NB_OK;
}

nb_status nb_read_start(const char *path, FILE *file, int64_t length, unsigned char start[NB_START_BYTES + 1],
                        nb_ctx *ctx)
{
    memset(start, 0, NB_START_BYTES + 1);
    return nb_read_bytes(path, file, 0, length < NB_START_BYTES ? (size_t)length : NB_START_BYTES, start, ctx);
}

const char *nb_other_kind(const unsigned char start[NB_START_BYTES + 1])
{
    static const char *const pages[] = {"<!doctype html", "<html", "<?xml"};
    const char *text = (const char *)start;
    if (memcmp(text, "\x93NUMPY", 6) == 0) return "a .npy file";
    if (memcmp(text, "PK\3\4", 4) == 0) return "a zip archive, as .npz and .pt files are";
    if (strncmp(text, "version https://git-lfs", 23) == 0)
        return "a Git LFS pointer, in whose place `git lfs pull` puts the file";
    text += strspn(text, " \t\r\n\xef\xbb\xbf"); /* and a byte order mark */
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
        if (strncasecmp(text, pages[i], strlen(pages[i])) == 0)
            return "an HTML or XML page, which a server sent in the place of the file";
    /* A .safetensors file may begin with '{' too, and has zeros from its fourth byte on. */
    return *text == '{' && strlen(text) > 4 ? "JSON, as the index of a model's checkpoint is" : NULL;
}
