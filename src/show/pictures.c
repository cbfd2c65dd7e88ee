/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pictures.c - the pictures of a report: those that the run's folder has, and first the missing ones, which figure.h
 * draws. A figure NAME is drawn into files NAME.svg or NAME_*.svg. */
#include "show/report.h"

#include "base/files.h"
#include "base/gnuplot.h"
#include "base/machine.h"
#include "components/registry.h"
#include "show/figure.h"
#include "run/run_folder.h"
#include "rows/run_facts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char ending[] = ".svg";

enum { MOST_PLACES = 1000 }; /* more than any figure's, and than figures */

typedef struct {
    nb_drawing drawing; /* gnuplots NULL: not started yet; experiment NULL: the run has no rows */
    const nb_study *study;
    const char **named; /* figures of the run's config, NULL-terminated */
    int count;          /* of the files of figures, by name */
    const char **files;
    nb_ctx *ctx;
} finder;

/* Returns whether a file is of a figure of that name. */
static bool is_of(const char *file, const char *name)
{
    size_t length = strlen(name);
    return strncmp(file, name, length) == 0 && (file[length] == '_' || strcmp(file + length, ending) == 0);
}

/* The place of a file's figure in the list of all, which is sorted; of several, that of the longest name, the last of
 * them; of none, the end of the list. */
static int figure_of(const finder *f, const char *file)
{
    int found = -1, count = 0;
    for (const nb_entry *e = nb_figures.entries; e->component; e++, count++)
        if (strcmp(((const nb_figure *)e->component)->study, f->study->component.name) == 0 &&
            is_of(file, e->component->name))
            found = count;
    return found < 0 ? count : found;
}

/* Lists the files; there are none where there is no folder. */
static nb_status list_files(finder *f)
{
    NB_TRY(f->ctx, nb_folder_names(f->drawing.folder, ending, &f->count, &f->files, f->ctx));
    if (f->count < 0) f->count = 0;
    return NB_OK;
}

/* Finds whether the figure is to be drawn: it has no file, but the config names it, or its data are there. */
static nb_status is_missing(const finder *f, const nb_figure *figure, bool *missing)
{
    const char *name = figure->component.name, *data;
    NB_NEED(data, nb_format(f->ctx, "%s/%s.csv", f->drawing.folder, name));
    *missing = nb_is_file(data);
    for (int i = 0; f->named[i]; i++) *missing |= strcmp(f->named[i], name) == 0;
    *missing &= strcmp(figure->study, f->study->component.name) == 0 && !figure->again && f->drawing.experiment;
    for (int i = 0; i < f->count; i++) *missing &= !is_of(f->files[i], name);
    return NB_OK;
}

/* Draws what is missing; *undrawn: something could not be drawn without gnuplot. */
static nb_status draw_missing(finder *f, bool *undrawn)
{
    nb_drawing *d = &f->drawing;
    const char *version;
    for (const nb_entry *e = nb_figures.entries; e->component; e++) {
        bool missing;
        int figures;
        NB_TRY(f->ctx, is_missing(f, (const nb_figure *)e->component, &missing));
        if (!missing) continue;
        *undrawn = !d->gnuplots && !nb_gnuplot_version(&version, f->ctx);
        if (*undrawn) return NB_OK;
        if (!d->gnuplots) NB_TRY(f->ctx, nb_gnuplots_new(nb_usable_cpus(), &d->gnuplots, f->ctx));
        nb_mark mark = nb_ctx_mark(f->ctx);
        NB_TRY(f->ctx, nb_graph_draw((const nb_figure *)e->component, d, &figures, f->ctx));
        nb_ctx_release(f->ctx, mark);
    }
    return NB_OK;
}

/* Figures of the config in its order, then those that have a place, then the others; those by their place in the list
 * of all. */
static int rank(const finder *f, int place, const nb_figure *figure)
{
    int rank = 0;
    while (f->named[rank] && !(figure && strcmp(f->named[rank], figure->component.name) == 0)) rank++;
    if (!f->named[rank]) rank += figure && figure->place > 0 ? figure->place : MOST_PLACES;
    return rank * MOST_PLACES + place;
}

/* Adds a picture behind those that stand before it. */
static nb_status add_picture(const finder *f, const char *file, nb_pictures *pictures)
{
    int place = figure_of(f, file), length = (int)(strlen(file) - strlen(ending)), at = pictures->count++;
    const nb_figure *figure = (const nb_figure *)nb_figures.entries[place].component; /* NULL: the end of the list */
    nb_picture picture = {.rank = rank(f, place, figure)};
    NB_NEED(picture.path, nb_format(f->ctx, "%s/%s", f->drawing.folder, file));
    NB_NEED(picture.caption,
            nb_format(f->ctx, "%.*s%s%s", length, file, figure ? ": " : "", figure ? figure->component.summary : ""));
    for (; at > 0 && pictures->items[at - 1].rank > picture.rank; at--) pictures->items[at] = pictures->items[at - 1];
    pictures->items[at] = picture;
    return NB_OK;
}

nb_status nb_pictures_find(const char *run, nb_relation *relation, nb_pictures *pictures, nb_ctx *ctx)
{
    finder f = {.drawing = {.relation = relation, .run = run}, .study = relation->study, .ctx = ctx};
    *pictures = (nb_pictures){.count = 0};
    NB_TRY(ctx, nb_run_path(run, NB_PLOTS_FOLDER, &f.drawing.folder, ctx));
    NB_TRY(ctx, nb_run_plots(run, &f.named, ctx));
    NB_TRY(ctx, nb_relation_experiment(relation, &f.drawing.experiment, ctx));
    NB_TRY(ctx, list_files(&f));
    nb_status status = draw_missing(&f, &pictures->undrawn), waited = nb_gnuplots_wait(f.drawing.gnuplots, ctx);
    NB_TRY(ctx, status == NB_OK ? waited : status);
    if (f.drawing.gnuplots) NB_TRY(ctx, list_files(&f));
    NB_NEED(pictures->items, nb_alloc(ctx, (size_t)f.count + 1, sizeof *pictures->items));
    for (int i = 0; i < f.count; i++) NB_TRY(ctx, add_picture(&f, f.files[i], pictures));
    return NB_OK;
}

/* Letters of both that are folders above both, with the slash behind them. */
static size_t common(const char *folder, const char *path)
{
    size_t last = 0, i = 0;
    for (; folder[i] && folder[i] == path[i]; i++)
        if (folder[i] == '/') last = i + 1;
    return !folder[i] && path[i] == '/' ? i + 1 : last;
}

/* Behind "../" for each folder that is left. */
static char *encode(const char *left, const char *path, nb_ctx *ctx)
{
    size_t ups = *left ? 1 : 0, length = 0;
    for (const char *c = left; *c; c++) ups += *c == '/';
    char *out = nb_alloc(ctx, 3 * (ups + strlen(path)) + 1, 1);
    for (size_t i = 0; out && i < ups; i++) length += (size_t)sprintf(out + length, "../");
    for (; out && *path; path++) {
        unsigned char c = (unsigned char)*path;
        length += (size_t)sprintf(out + length, isalnum(c) || strchr("/-_.", c) ? "%c" : "%%%02X", c);
    }
    return out;
}

nb_status nb_address_of(const char *folder, const char *path, const char **address, nb_ctx *ctx)
{
    const char *from, *to;
    NB_TRY(ctx, nb_whole_path(folder, &from, ctx));
    NB_TRY(ctx, nb_whole_path(path, &to, ctx));
    size_t same = common(from, to), length = strlen(from);
    NB_NEED(*address, encode(from + (same < length ? same : length), to + same, ctx));
    return NB_OK;
}
