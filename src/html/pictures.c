/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pictures.c - a figure NAME is drawn into files NAME.svg or NAME_*.svg. */
#include "html/pictures.h"

#include "base/files.h"
#include "base/gnuplot.h"
#include "base/machine.h"
#include "components/registry.h"
#include "report/figure.h"
#include "report/graph.h"
#include "run/run_folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char ending[] = ".svg";

enum { MOST_PLACES = 1000 }; /* more than any figure's */

typedef struct {
    const char *run, *folder; /* of the run; of its figures */
    const nb_study *study;
    nb_relation *relation;
    const char *experiment;   /* NULL: the run has no rows */
    const char *const *named; /* figures of the run's config, NULL-terminated */
    nb_gnuplots *gnuplots;    /* NULL: not started yet */
    nb_ctx *ctx;
} finder;

/* Whether a file is of a figure of that name. */
static bool is_of(const char *file, const char *name)
{
    size_t length = strlen(name);
    return strncmp(file, name, length) == 0 && (file[length] == '_' || strcmp(file + length, ending) == 0);
}

/* The place of a file's figure in the list of all; of several, that of the longest name; of none, the end of the
 * list. */
static int figure_of(const finder *f, const char *file)
{
    int found = -1, count = 0;
    size_t longest = 0;
    for (const nb_entry *e = nb_figures.entries; e->component; e++, count++) {
        const char *name = e->component->name;
        if (strcmp(((const nb_figure *)e->component)->study, f->study->component.name) != 0 || !is_of(file, name) ||
            strlen(name) <= longest)
            continue;
        found = count;
        longest = strlen(name);
    }
    return found < 0 ? count : found;
}

static int is_svg(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name), of = strlen(ending);
    return entry->d_name[0] != '.' && length > of && strcmp(entry->d_name + length - of, ending) == 0;
}

/* The names of the files, sorted; none where there is no folder. */
static nb_status list_files(const finder *f, int *count, const char ***names)
{
    struct dirent **entries = NULL;
    int found = scandir(f->folder, &entries, is_svg, alphasort), reason = errno;
    NB_REQUIRE(f->ctx, found >= 0 || reason == ENOENT, NB_EIO, "folder %s: cannot be read: %s", f->folder,
               strerror(reason));
    bool all = (*names = nb_alloc(f->ctx, (size_t)(found > 0 ? found : 0) + 1, sizeof **names)) != NULL;
    for (int i = 0; i < found; i++) {
        if (all) all = ((*names)[i] = nb_strdup(f->ctx, entries[i]->d_name)) != NULL;
        free(entries[i]);
    }
    free(entries);
    *count = found > 0 ? found : 0;
    return all ? NB_OK : NB_ENOMEM;
}

static bool is_among(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(*names, name) == 0) return true;
    return false;
}

static bool is_drawn(const char *name, int count, const char *const *files)
{
    for (int i = 0; i < count; i++)
        if (is_of(files[i], name)) return true;
    return false;
}

static nb_status draw(const finder *f, const nb_figure *figure)
{
    int figures;
    nb_drawing drawing = {.relation = f->relation,
                          .run = f->run,
                          .folder = f->folder,
                          .experiment = f->experiment,
                          .gnuplots = f->gnuplots};
    NB_TRY(f->ctx, nb_run_baseline(f->run, &drawing.baseline, f->ctx));
    nb_mark mark = nb_ctx_mark(f->ctx);
    nb_status status = nb_graph_draw(figure, &drawing, &figures, f->ctx);
    nb_ctx_release(f->ctx, mark);
    return status;
}

/* *any: something was; *undrawn: something could not be, without gnuplot. */
static nb_status draw_missing(finder *f, int count, const char *const *files, bool *any, bool *undrawn)
{
    const char *version, *data;
    *any = *undrawn = false;
    for (const nb_entry *e = nb_figures.entries; e->component; e++) {
        const nb_figure *figure = (const nb_figure *)e->component;
        NB_NEED(data, nb_format(f->ctx, "%s/%s.csv", f->folder, e->component->name));
        if (strcmp(figure->study, f->study->component.name) != 0 || figure->again || !f->experiment ||
            is_drawn(e->component->name, count, files) ||
            (!is_among(e->component->name, f->named) && !nb_is_file(data)))
            continue;
        *undrawn = !f->gnuplots && !nb_gnuplot_version(&version, f->ctx);
        if (*undrawn) return NB_OK;
        if (!f->gnuplots) NB_TRY(f->ctx, nb_gnuplots_new(nb_usable_cpus(), &f->gnuplots, f->ctx));
        NB_TRY(f->ctx, draw(f, figure));
        *any = true;
    }
    return NB_OK;
}

typedef struct {
    int rank, figure;
    const char *file;
} placed;

static int by_place(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return x->figure != y->figure ? (x->figure > y->figure) - (x->figure < y->figure) : strcmp(x->file, y->file);
}

/* Those of the config in its order, then those that have a place, then the others. */
static placed place(const finder *f, const char *file)
{
    placed of = {.figure = figure_of(f, file), .file = file};
    const nb_figure *figure =
        (const nb_figure *)nb_figures.entries[of.figure].component; /* NULL: the end of the list */
    while (f->named[of.rank] && !(figure && strcmp(f->named[of.rank], figure->component.name) == 0)) of.rank++;
    if (!f->named[of.rank]) of.rank += figure && figure->place > 0 ? figure->place : MOST_PLACES;
    return of;
}

/* What its figure shows, and which of several it is. */
static nb_status set_picture(const finder *f, placed of, nb_picture *picture)
{
    const nb_component *figure = nb_figures.entries[of.figure].component; /* NULL: the end of the list */
    int length = (int)(strlen(of.file) - strlen(ending));
    picture->name = of.file;
    NB_NEED(picture->path, nb_format(f->ctx, "%s/%s", f->folder, of.file));
    if (figure)
        NB_NEED(picture->caption, nb_format(f->ctx, "%.*s: %s", length, of.file, figure->summary));
    else
        NB_NEED(picture->caption, nb_format(f->ctx, "%.*s", length, of.file));
    return NB_OK;
}

nb_status nb_pictures_find(const char *run, nb_relation *relation, nb_pictures *pictures, nb_ctx *ctx)
{
    finder f = {.run = run, .study = nb_relation_study(relation), .relation = relation, .ctx = ctx};
    const char **files, **named;
    placed *order;
    bool drawn;
    NB_TRY(ctx, nb_run_path(run, NB_PLOTS_FOLDER, &f.folder, ctx));
    NB_TRY(ctx, nb_run_plots(run, &named, ctx));
    f.named = named;
    NB_TRY(ctx, nb_relation_experiment(relation, &f.experiment, ctx));
    NB_TRY(ctx, list_files(&f, &pictures->count, &files));
    nb_status status = draw_missing(&f, pictures->count, files, &drawn, &pictures->undrawn);
    nb_status waited = nb_gnuplots_wait(f.gnuplots, ctx);
    NB_TRY(ctx, status == NB_OK ? waited : status);
    if (drawn) NB_TRY(ctx, list_files(&f, &pictures->count, &files));
    NB_NEED(order, nb_alloc(ctx, (size_t)pictures->count + 1, sizeof *order));
    NB_NEED(pictures->items, nb_alloc(ctx, (size_t)pictures->count + 1, sizeof *pictures->items));
    for (int i = 0; i < pictures->count; i++) order[i] = place(&f, files[i]);
    qsort(order, (size_t)pictures->count, sizeof *order, by_place);
    for (int i = 0; i < pictures->count; i++) NB_TRY(ctx, set_picture(&f, order[i], &pictures->items[i]));
    return NB_OK;
}
