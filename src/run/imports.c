/* SPDX-License-Identifier: GPL-3.0-or-later */
/* imports.c - see imports.h */
#include "run/imports.h"

#include "base/builder.h"
#include "base/files.h"

#include <string.h>
#include <sys/stat.h>

#define BLANKS " \t"
#define NAME_ENDS BLANKS ".,;#(\\\r\n"

/* Folders end with '/'; the current one is "". */

static nb_status folder_of(const char *path, const char **folder, nb_ctx *ctx)
{
    const char *slash = strrchr(path, '/');
    NB_NEED(*folder, nb_format(ctx, "%.*s", slash ? (int)(slash - path) + 1 : 0, path));
    return NB_OK;
}

static nb_status add_package(nb_texts *files, const char *folder, bool *found, nb_ctx *ctx)
{
    const char **names, *path, *place = *folder ? folder : ".";
    struct stat info;
    int count, number;
    *found = stat(place, &info) == 0 && S_ISDIR(info.st_mode); /* a file of that name is no package */
    if (!*found) return NB_OK;
    NB_TRY(ctx, nb_folder_names(place, ".py", &count, &names, ctx));
    for (int i = 0; i < count; i++) {
        NB_NEED(path, nb_format(ctx, "%s%s", folder, names[i]));
        NB_TRY(ctx, nb_texts_number(files, path, &number));
    }
    return NB_OK;
}

/* Adds the files of `name`, such as a.b, whose first part is looked for in that folder. */
static nb_status add_module(nb_texts *files, const char *folder, const char *name, nb_ctx *ctx)
{
    const char *path;
    nb_string place = NB_NO_TEXT;
    int number;
    NB_TRY(ctx, nb_append(&place, ctx, "%s", folder));
    for (size_t length; (length = strcspn(name, NAME_ENDS)) > 0; name += length + 1) {
        bool found;
        NB_NEED(path, nb_format(ctx, "%s%.*s.py", place.text, (int)length, name));
        if (nb_is_file(path)) return nb_texts_number(files, path, &number);
        NB_TRY(ctx, nb_append(&place, ctx, "%.*s/", (int)length, name));
        NB_TRY(ctx, add_package(files, place.text, &found, ctx));
        if (!found || name[length] != '.') break;
    }
    return NB_OK;
}

/* import a, b.c as d */
static nb_status add_list(nb_texts *files, const char *folder, const char *names, nb_ctx *ctx)
{
    const char *end = names + strcspn(names, ";#\n");
    for (const char *name = names; name < end; name += strcspn(name, ",") + 1) {
        name += strspn(name, BLANKS);
        NB_TRY(ctx, add_module(files, folder, name, ctx));
    }
    return NB_OK;
}

/* from a.b import c, or from ..a import b in a package, of whose file `own` is the folder. */
static nb_status add_source(nb_texts *files, const char *folder, const char *own, const char *name, nb_ctx *ctx)
{
    bool found;
    nb_string place = NB_NO_TEXT;
    if (*name != '.') return add_module(files, folder, name, ctx);
    NB_TRY(ctx, nb_append(&place, ctx, "%s", own));
    for (name++; *name == '.'; name++) NB_TRY(ctx, nb_append(&place, ctx, "../"));
    if (!strchr(NAME_ENDS, *name)) return add_module(files, place.text, name, ctx);
    return add_package(files, place.text, &found, ctx);
}

static const char *behind(const char *line, const char *keyword)
{
    size_t length = strlen(keyword), blanks;
    if (strncmp(line, keyword, length) != 0) return NULL;
    blanks = strspn(line + length, BLANKS);
    return blanks > 0 ? line + length + blanks : NULL;
}

static nb_status scan_file(nb_texts *files, const char *folder, const char *path, nb_ctx *ctx)
{
    const char *line, *own, *rest;
    NB_TRY(ctx, folder_of(path, &own, ctx));
    NB_TRY(ctx, nb_read_file(path, &line, ctx));
    for (; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        line += strspn(line, BLANKS);
        if ((rest = behind(line, "import")))
            NB_TRY(ctx, add_list(files, folder, rest, ctx));
        else if ((rest = behind(line, "from")))
            NB_TRY(ctx, add_source(files, folder, own, rest, ctx));
    }
    return NB_OK;
}

nb_status nb_imports_find(nb_texts *files, const char *script, nb_ctx *ctx)
{
    const char *folder;
    int number;
    NB_TRY(ctx, folder_of(script, &folder, ctx));
    NB_TRY(ctx, nb_texts_number(files, script, &number));
    for (int i = 0; i < files->count; i++) NB_TRY(ctx, scan_file(files, folder, files->items[i], ctx));
    return NB_OK;
}
