/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scripts.c - see scripts.h */
#include "show/scripts.h"

#include "base/digest.h"
#include "base/files.h"
#include "base/texts.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STYLE "style.gp"
#define LOOKS "looks.gp"

const nb_plot_style nb_plot_screen = {.formats = "svg png", .dots = true};

/* A gnuplot string in single quotes, where nothing but the quote is special; in
 * double quotes gnuplot would run what stands in backquotes. Quotes at the beginning stand in a string before it, since
 * gnuplot reads '' there as an empty one. */
void nb_plot_print_string(FILE *out, const char *text)
{
    size_t quotes = strspn(text, "'");
    if (quotes > 0) fputc('"', out);
    for (size_t i = 0; i < quotes; i++) fputs("\\047", out);
    if (quotes > 0) fputs("\".", out);
    text += quotes;
    fputc('\'', out);
    for (; *text; text++) {
        if (*text == '\'') fputc('\'', out);
        fputc(iscntrl((unsigned char)*text) ? ' ' : *text, out);
    }
    fputc('\'', out);
}

void nb_plot_set_text(FILE *out, const char *name, const char *text)
{
    fprintf(out, "%s = ", name);
    nb_plot_print_string(out, text);
    fputc('\n', out);
}

void nb_plot_set_texts(FILE *out, const char *name, int count, const void *first, size_t bytes)
{
    fprintf(out, "array %s[%d] = [", name, count);
    for (int i = 0; i < count; i++) {
        const char *text = *(const char *const *)(const void *)((const char *)first + (size_t)i * bytes);
        fputs(i ? ", " : "", out);
        nb_plot_print_string(out, text ? text : "");
    }
    fputs("]\n", out);
}

void nb_plot_set_ints(FILE *out, const char *name, int count, const void *first, size_t bytes)
{
    fprintf(out, "array %s[%d] = [", name, count);
    for (int i = 0; i < count; i++)
        fprintf(out, "%s%d", i ? ", " : "", *(const int *)(const void *)((const char *)first + (size_t)i * bytes));
    fputs("]\n", out);
}

static nb_status remove_file(const char *path, nb_ctx *ctx)
{
    NB_REQUIRE(ctx, unlink(path) == 0 || errno == ENOENT, NB_EIO, "%s: cannot be removed: %s", path, strerror(errno));
    return NB_OK;
}

char *nb_plot_file_name(char *text)
{
    for (char *c = text; c && *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr(".-+", *c) && (unsigned char)*c < 0x80) *c = '_';
    for (size_t last = text ? strlen(text) : 0; last > 0 && text[last - 1] == '_'; last--) text[last - 1] = '\0';
    return text;
}

/* The digests of what the program wrote last of each script of the folder, NAME.gp or NAME.gp.new, in the form of
 * sha256sum. */
#define DIGESTS ".scripts.sha256"
#define OFFERED ".new" /* ends the name of a script beside one that was edited */

typedef struct {
    const char *text;
    const char *written; /* digest of what the program wrote last; NULL: unknown */
    bool edited;         /* it is not as the program wrote it, or that is unknown */
} script_file;

/* Splits the folder's list at the script's line: what stands before and after it, and the digest (NULL: no line). */
static nb_status find_digest(const char *folder, const char *name, const char **before, const char **digest,
                             const char **after, nb_ctx *ctx)
{
    const char *path, *text = "", *ending;
    *digest = NULL;
    NB_NEED(path, nb_format(ctx, "%s/" DIGESTS, folder));
    NB_NEED(ending, nb_format(ctx, "  %s\n", name));
    if (nb_is_file(path)) NB_TRY(ctx, nb_read_file(path, &text, ctx));
    *before = text;
    *after = "";
    for (const char *line = text, *end; *line; line = *end ? end + 1 : end) {
        end = line + strcspn(line, "\n");
        if (end - line < NB_DIGEST_LETTERS || strncmp(line + NB_DIGEST_LETTERS, ending, strlen(ending)) != 0) continue;
        NB_NEED(*before, nb_format(ctx, "%.*s", (int)(line - text), text));
        NB_NEED(*digest, nb_format(ctx, "%.*s", NB_DIGEST_LETTERS, line));
        *after = end + 1;
        break;
    }
    return NB_OK;
}

static nb_status keep_digest(const char *folder, const char *name, const char *digest, nb_ctx *ctx)
{
    const char *path, *text, *before, *old, *after;
    NB_TRY(ctx, find_digest(folder, name, &before, &old, &after, ctx));
    if (old && strcmp(old, digest) == 0) return NB_OK;
    NB_NEED(path, nb_format(ctx, "%s/" DIGESTS, folder));
    NB_NEED(text, nb_format(ctx, "%s%s  %s\n%s", before, digest, name, after));
    return nb_write_file(path, nb_print_whole, text, ctx);
}

static nb_status read_script(const char *folder, const char *name, script_file *s, nb_ctx *ctx)
{
    const char *path, *before, *after, *digest;
    NB_NEED(path, nb_format(ctx, "%s/%s", folder, name));
    NB_TRY(ctx, nb_read_file(path, &s->text, ctx));
    NB_TRY(ctx, nb_digest_text(s->text, &digest, ctx));
    NB_TRY(ctx, find_digest(folder, name, &before, &s->written, &after, ctx));
    s->edited = !s->written || strcmp(s->written, digest) != 0;
    return NB_OK;
}

/* Beside an edited script: what the program would write now, unless the edited one was made from that. */
static nb_status offer_script(const char *folder, const char *name, const script_file *old, const char *text,
                              nb_ctx *ctx)
{
    const char *path, *offered, *digest;
    NB_NEED(path, nb_format(ctx, "%s/%s", folder, name));
    NB_NEED(offered, nb_format(ctx, "%s" OFFERED, path));
    NB_TRY(ctx, nb_digest_text(text, &digest, ctx));
    if (!nb_is_file(offered) && old->written && strcmp(old->written, digest) == 0) {
        fprintf(stderr, "nysbench: note: %s has been edited; it is used as it is\n", path);
        return NB_OK;
    }
    NB_TRY(ctx, nb_write_file(offered, nb_print_whole, text, ctx));
    fprintf(stderr,
            "nysbench: warning: %s has been edited and is kept; what nysbench would write now is %s: copy what you "
            "need from it, then remove it\n",
            path, offered);
    return keep_digest(folder, name, digest, ctx);
}

nb_status nb_plot_write_script(const char *folder, const char *name, const char *text, nb_ctx *ctx)
{
    const char *path, *offered, *digest;
    NB_NEED(path, nb_format(ctx, "%s/%s", folder, name));
    NB_NEED(offered, nb_format(ctx, "%s" OFFERED, path));
    if (nb_is_file(path)) {
        script_file old;
        NB_TRY(ctx, read_script(folder, name, &old, ctx));
        if (old.edited && strcmp(old.text, text) != 0) return offer_script(folder, name, &old, text, ctx);
    }
    NB_TRY(ctx, remove_file(offered, ctx));
    NB_TRY(ctx, nb_write_file(path, nb_print_whole, text, ctx));
    NB_TRY(ctx, nb_digest_text(text, &digest, ctx));
    return keep_digest(folder, name, digest, ctx);
}

nb_status nb_plot_print_script(const char *folder, const char *name,
                               nb_status (*print)(FILE *out, const void *what, nb_ctx *ctx), const void *what,
                               nb_ctx *ctx)
{
    const char *text;
    NB_TRY(ctx, nb_print_text(print, what, &text, ctx));
    return nb_plot_write_script(folder, name, text, ctx);
}

static nb_status copy_script(const char *folder, const char *name, nb_ctx *ctx)
{
    const char *from, *text;
    NB_TRY(ctx, nb_shared_file("plots", name, &from, ctx));
    NB_TRY(ctx, nb_read_file(from, &text, ctx));
    return nb_plot_write_script(folder, name, text, ctx);
}

nb_status nb_plot_write_style(const char *folder, const nb_plot_style *style, nb_ctx *ctx)
{
    const char *text;
    NB_NEED(text, nb_format(ctx,
                            "# How the figures of this folder look: edit it and run gnuplot NAME.gp.\n"
                            "style = \"%s\" # screen or paper\n"
                            "formats = \"%s\" # any of svg, png, pdf\n"
                            "page = %g # of paper, the width in points of 1/72 inch\n"
                            "dots = %d # 1: ratios have a dot for each head\n",
                            style->paper ? "paper" : "screen", style->formats, style->width, style->dots));
    NB_TRY(ctx, nb_make_folder(folder, ctx));
    return nb_plot_write_script(folder, STYLE, text, ctx);
}

/* Copies a script and those whose names stand between `load "` and `"` in it, but for what all have; each once. */
static nb_status copy_loaded(const char *folder, const char *name, nb_texts *copied, nb_ctx *ctx)
{
    static const char load[] = "load \"";
    const char *path, *text, *loaded;
    int number, before = copied->count;
    NB_TRY(ctx, nb_texts_number(copied, name, &number));
    if (number < before) return NB_OK;
    NB_TRY(ctx, copy_script(folder, name, ctx));
    NB_NEED(path, nb_format(ctx, "%s/%s", folder, name));
    NB_TRY(ctx, nb_read_file(path, &text, ctx));
    while ((text = strstr(text, load))) {
        text += strlen(load);
        NB_NEED(loaded, nb_format(ctx, "%.*s", (int)strcspn(text, "\""), text));
        if (strcmp(loaded, STYLE) != 0 && strcmp(loaded, LOOKS) != 0)
            NB_TRY(ctx, copy_loaded(folder, loaded, copied, ctx));
    }
    return NB_OK;
}

nb_status nb_plot_copy_script(const char *folder, const char *name, nb_ctx *ctx)
{
    const char *path;
    nb_texts copied;
    nb_texts_init(&copied, ctx);
    NB_NEED(path, nb_format(ctx, "%s/" STYLE, folder));
    if (!nb_is_file(path)) NB_TRY(ctx, nb_plot_write_style(folder, &nb_plot_screen, ctx));
    NB_TRY(ctx, copy_script(folder, LOOKS, ctx));
    return copy_loaded(folder, name, &copied, ctx);
}

void nb_plot_print_head(FILE *out, const char *stem)
{
    fprintf(out, "# draws %s; run: gnuplot %s.gp\noutput = \"%s\"\n", stem, stem, stem);
}

/* The endings of a figure's files: pictures; then its data; last the file that shows that they are the program's. */
static const char *const pictures[] = {"svg", "png", "pdf", NULL}, *const others[] = {"dat", "gp" OFFERED, "gp", NULL};

static nb_status remove_files(const char *folder, const char *stem, const char *const *endings, nb_ctx *ctx)
{
    const char *path;
    for (; *endings; endings++) {
        NB_NEED(path, nb_format(ctx, "%s/%s.%s", folder, stem, *endings));
        NB_TRY(ctx, remove_file(path, ctx));
    }
    return NB_OK;
}

/* Those of other formats would show other rows. So would an edited script from before. */
nb_status nb_plot_draw(nb_gnuplots *gnuplots, const char *folder, const char *stem, nb_ctx *ctx)
{
    const char *script, *offered;
    if (!gnuplots) return NB_OK;
    NB_NEED(script, nb_format(ctx, "%s.gp", stem));
    NB_NEED(offered, nb_format(ctx, "%s/%s" OFFERED, folder, script));
    if (nb_is_file(offered)) {
        NB_NEED(script, nb_format(ctx, "%s" OFFERED, script));
        fprintf(stderr, "nysbench: note: the figure %s is drawn by %s as long as that is there\n", stem, script);
    }
    NB_TRY(ctx, remove_files(folder, stem, pictures, ctx));
    return nb_gnuplots_start(gnuplots, folder, script, ctx);
}

/* Finds whether there is STEM.gp of a figure that was drawn by this program, as its first line says; one that was
 * edited is kept. */
static nb_status is_ours(const char *folder, const char *stem, bool *ours, bool *edited, nb_ctx *ctx)
{
    const char *name, *path, *wanted;
    script_file s;
    NB_NEED(name, nb_format(ctx, "%s.gp", stem));
    NB_NEED(path, nb_format(ctx, "%s/%s", folder, name));
    NB_NEED(wanted, nb_format(ctx, "# draws %s; ", stem));
    *ours = *edited = false;
    if (!nb_is_file(path)) return NB_OK;
    NB_TRY(ctx, read_script(folder, name, &s, ctx));
    *ours = strncmp(s.text, wanted, strlen(wanted)) == 0;
    *edited = *ours && s.edited;
    if (*edited)
        fprintf(stderr, "nysbench: note: %s has been edited and is kept with its figure, whose rows are gone\n", path);
    return NB_OK;
}

/* Returns whether a figure is of that kind, or of one whose name goes on. */
static bool is_of_kind(const char *stem, const char *kind)
{
    size_t length = strlen(kind);
    return strncmp(stem, kind, length) == 0 && (stem[length] == '\0' || stem[length] == '_');
}

/* The figure whose script has that name, where it is of the kind, of none of `longer`, and none of `stems`. */
static nb_status prune_script(const char *folder, const char *name, const char *kind, const char *const *longer,
                              int count, const char *const *stems, bool *kept, nb_ctx *ctx)
{
    size_t length = strlen(name);
    char *stem;
    bool ours, edited;
    NB_NEED(stem, nb_strdup(ctx, name));
    stem[length - 3] = '\0';
    if (!is_of_kind(stem, kind)) return NB_OK;
    for (; *longer; longer++)
        if (is_of_kind(stem, *longer)) return NB_OK;
    for (int i = 0; i < count; i++)
        if (strcmp(stems[i], stem) == 0) return NB_OK;
    NB_TRY(ctx, is_ours(folder, stem, &ours, &edited, ctx));
    *kept |= edited;
    if (!ours || edited) return NB_OK;
    NB_TRY(ctx, remove_files(folder, stem, pictures, ctx));
    return remove_files(folder, stem, others, ctx);
}

nb_status nb_plot_prune(const char *folder, const char *kind, const char *const *longer, int count,
                        const char *const *stems, nb_ctx *ctx)
{
    const char **names;
    bool kept = false;
    int found;
    NB_TRY(ctx, nb_folder_names(folder, ".gp", &found, &names, ctx));
    for (int i = 0; i < found; i++) NB_TRY(ctx, prune_script(folder, names[i], kind, longer, count, stems, &kept, ctx));
    if (found < 0 || count > 0 || kept) return NB_OK;
    return remove_files(folder, kind, (const char *const[]){"csv", NULL}, ctx);
}
