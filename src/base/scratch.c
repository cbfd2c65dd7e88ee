/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scratch.c - see scratch_root.c for the folder that these are in. */
#include "base/scratch.h"

#include "base/process.h"
#include "base/scratch_root.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

nb_status nb_temporary_folder(const char **path, nb_ctx *ctx)
{
    NB_TRY(ctx, nb_scratch_name(ctx));
    NB_TRY(ctx, nb_process_watch(ctx));
    return nb_scratch_add(path, ctx);
}

nb_status nb_scratch_trouble(const char **trouble, nb_ctx *ctx)
{
    static const char page[4096];
    const char *folder, *path = NULL;
    nb_mark mark = nb_ctx_mark(ctx);
    *trouble = NULL;
    nb_status status = nb_temporary_folder(&folder, ctx);
    if (status == NB_OK && !(path = nb_format(ctx, "%s/page", folder))) status = NB_ENOMEM;
    int file = path ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
    if (status != NB_ENOMEM && (file < 0 || write(file, page, sizeof page) != sizeof page)) *trouble = strerror(errno);
    if (file >= 0 && close(file) != 0) *trouble = strerror(errno);
    nb_ctx_release(ctx, mark);
    return status == NB_ENOMEM ? status : NB_OK;
}
