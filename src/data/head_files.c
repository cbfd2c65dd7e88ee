/* SPDX-License-Identifier: GPL-3.0-or-later */
/* head_files.c - patterns and folders that stand for several files of heads. */
#include "data/head.h"

#include "base/text.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char special[] = "*?[\\", q_npy[] = "/q.npy";

bool nb_head_files_pattern(const char *text)
{
    return strpbrk(text, "*?[");
}

/* The text as a pattern that means itself. NULL: out of memory. */
static const char *escaped(const char *text, nb_ctx *ctx)
{
    char *out = nb_alloc(ctx, 2 * strlen(text) + 1, 1), *to = out;
    for (; out && *text; *to++ = *text++)
        if (strchr(special, *text)) *to++ = '\\';
    return out;
}

static void free_glob(void *found)
{
    globfree(found);
}

static nb_status match(const char *pattern, glob_t *found, nb_ctx *ctx)
{
    int code = glob(pattern, found->gl_pathv ? GLOB_APPEND : 0, NULL, found);
    NB_REQUIRE(ctx, code == 0 || code == GLOB_NOMATCH, code == GLOB_NOSPACE ? NB_ENOMEM : NB_EIO,
               "%s: cannot be searched for files", pattern);
    return NB_OK;
}

/* Takes the names found, without the folder before them and without q.npy at the end, since a folder of .npy files is
 * named by its path. */
static nb_status take_names(const glob_t *found, size_t skip, bool in_folder, const char ***names, nb_ctx *ctx)
{
    NB_NEED(*names, nb_alloc(ctx, found->gl_pathc + 1, sizeof **names));
    for (size_t i = 0; i < found->gl_pathc; i++) {
        const char *name = found->gl_pathv[i] + skip;
        size_t length = strlen(name), end = sizeof q_npy - 1;
        if (in_folder && length > end && strcmp(name + length - end, q_npy) == 0) length -= end;
        NB_NEED((*names)[i], nb_format(ctx, "%.*s", (int)length, name));
    }
    if (found->gl_pathc > 0) qsort(*names, found->gl_pathc, sizeof **names, nb_text_compare);
    return NB_OK;
}

nb_status nb_head_files(const char *folder, const char *text, int *count, const char *const **files, nb_ctx *ctx)
{
    const char *path, *q, *base, **names;
    struct stat info;
    glob_t *found;
    NB_NEED(path, nb_format(ctx, "%s%s", folder, text));
    NB_NEED(q, nb_format(ctx, "%s%s", path, q_npy));
    bool there = stat(path, &info) == 0, in_folder = there && S_ISDIR(info.st_mode) && stat(q, &info) != 0;
    *count = there ? 0 : -1;
    if (!in_folder && (there || !nb_head_files_pattern(text))) return NB_OK;
    NB_NEED(found, nb_alloc(ctx, 1, sizeof *found));
    NB_TRY(ctx, nb_defer(ctx, free_glob, found));
    NB_NEED(base, escaped(in_folder ? path : folder, ctx));
    NB_NEED(path, nb_format(ctx, "%s%s", base, in_folder ? "/*.safetensors" : text));
    NB_TRY(ctx, match(path, found, ctx));
    NB_NEED(path, nb_format(ctx, "%s/*%s", base, q_npy));
    if (in_folder) NB_TRY(ctx, match(path, found, ctx));
    NB_TRY(ctx, take_names(found, strlen(folder), in_folder, &names, ctx));
    if (found->gl_pathc > 0) *count = (int)found->gl_pathc;
    *files = names;
    return NB_OK;
}
