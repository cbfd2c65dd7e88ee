/* SPDX-License-Identifier: GPL-3.0-or-later */
/* complete_files.c - paths that begin as told. */
#include "commands/complete.h"

#include "base/text.h"
#include "run/run_folder.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct {
    const char *before, *ending; /* ending: NULL: no files */
    bool runs;
} wanted;

/* One entry of a folder; `shown` is the folder as it was typed, with its '/', and `folder` where it is. */
static nb_status add_entry(nb_candidates *c, const wanted *w, const char *shown, const char *folder, const char *name)
{
    const char *path, *store;
    struct stat info;
    NB_NEED(path, nb_format(c->ctx, "%s%s", folder, name));
    if (stat(path, &info) != 0 || !nb_text_is_clean(name, "")) return NB_OK;
    bool is_folder = S_ISDIR(info.st_mode);
    if (!is_folder && (!w->ending || !nb_text_ends(name, w->ending))) return NB_OK;
    NB_NEED(store, nb_format(c->ctx, "%s/%s", path, NB_STORE_FILE));
    bool is_run = w->runs && is_folder && stat(store, &info) == 0;
    NB_NEED(path, nb_format(c->ctx, "%s%s", w->before, shown));
    return nb_complete_add(c, path, name, is_folder && !is_run ? "/" : "", "");
}

static nb_status add_paths(nb_candidates *c, const wanted *w, const char *start)
{
    struct dirent **entries;
    const char *slash = strrchr(start, '/'), *shown, *folder, *home = getenv("HOME");
    size_t length = slash ? (size_t)(slash + 1 - start) : 0;
    nb_status status = NB_OK;
    NB_NEED(shown, nb_format(c->ctx, "%.*s", (int)length, start));
    bool at_home = home && strncmp(shown, "~/", 2) == 0;
    NB_NEED(folder, nb_format(c->ctx, "%s%s", at_home ? home : *shown ? "" : "./", at_home ? shown + 1 : shown));
    int count = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name, *typed = start + length;
        bool hidden = *name == '.' && (*typed != '.' || !name[1] || strcmp(name, "..") == 0);
        if (!hidden && status == NB_OK && strncmp(name, typed, strlen(typed)) == 0)
            status = add_entry(c, w, shown, folder, name);
        free(entries[i]);
    }
    if (count >= 0) free(entries);
    return status;
}

nb_status nb_complete_files(nb_candidates *c, const char *before, const char *start, const char *ending)
{
    return add_paths(c, &(wanted){before, ending, false}, start);
}

nb_status nb_complete_runs(nb_candidates *c, const char *before, const char *start)
{
    struct stat info;
    bool usual = !*start && stat("results", &info) == 0 && S_ISDIR(info.st_mode);
    return add_paths(c, &(wanted){before, NULL, true}, usual ? "results/" : start);
}
