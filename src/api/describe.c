/* SPDX-License-Identifier: GPL-3.0-or-later */
/* describe.c - nysbench_describe: the options and sources of a component, a column, a figure or a table. */
#include "api/handle.h"
#include "api/kinds.h"
#include "base/files.h"
#include "base/text.h"
#include "components/study.h"
#include "cores/core.h"
#include "kernels/kernel.h"
#include "strategies/strategy.h"

#include <stdio.h>
#include <string.h>

enum { WIDTH = 80 }; /* of a line */

const char *nb_explanation_of(const nb_registry *registry, const nb_component *c)
{
    if (registry == &nb_strategies) return ((const nb_strategy *)c)->explanation;
    if (registry == &nb_attentions) return ((const nb_attention *)c)->explanation;
    if (registry == &nb_kernels) return ((const nb_kernel *)c)->explanation;
    return registry == &nb_cores ? ((const nb_core *)c)->explanation : NULL;
}

/* True if it has figures or tables, which have no options. */
static bool is_output(const nb_registry *registry)
{
    return registry == &nb_figures || registry == &nb_tables;
}

/* The text behind `before`, which is padded on its left or, if it takes more than `indent` columns, has a line of its
 * own. */
static void fill(FILE *out, const char *before, int indent, const char *text)
{
    int gap = indent - nb_text_columns(before);
    if (gap < 0)
        fprintf(out, "%s\n%*s", before, indent, "");
    else
        fprintf(out, "%*s%s", gap, "", before);
    nb_text_wrap(out, indent, indent, WIDTH, text);
    fputc('\n', out);
}

/* Makes one blank of each end of a line and what the next one is set in by. */
static void join_lines(char *text)
{
    char *to = text;
    for (const char *from = text; *from;) {
        bool end = *from == '\n';
        *to++ = end ? ' ' : *from;
        from += end ? 1 + strspn(from + 1, " \n") : 1;
    }
    *to = '\0';
}

/* Returns where the next paragraph of an explanation begins: at an item of a list, a line with two blanks and a dash,
 * or behind one; NULL: there is none. */
static const char *next_part(const char *part)
{
    bool item = *part == ' ';
    for (const char *end = strchr(part, '\n'); end; end = strchr(end + 1, '\n'))
        if (strncmp(end + 1, "  - ", 4) == 0 || (item && end[1] != ' ')) return end + 1;
    return NULL;
}

static nb_status explain(FILE *out, const char *text, nb_ctx *ctx)
{
    for (const char *next; text; text = next) {
        char *part;
        bool item = *text == ' ';
        next = next_part(text);
        NB_NEED(part, nb_format(ctx, "%.*s", (int)(next ? (size_t)(next - text) : strlen(text)), text));
        join_lines(part);
        fill(out, item ? "  - " : "", item ? 4 : 0, item ? part + 4 : part);
    }
    return NB_OK;
}

static nb_status fill_option(FILE *out, const char *key, const char *help, const char *allowed, nb_ctx *ctx)
{
    enum { INDENT = 15 };
    const char *before;
    NB_NEED(before, nb_format(ctx, "  %-12s ", key));
    fill(out, before, INDENT, help);
    fill(out, "", INDENT, allowed);
    return NB_OK;
}

static nb_status describe(FILE *out, const nb_registry *registry, const nb_component *c, nb_ctx *ctx)
{
    const char *explanation = nb_explanation_of(registry, c), *allowed, *line;
    NB_NEED(line, nb_format(ctx, "%s (%s): %s", c->name, registry->kind, c->summary));
    fill(out, "", 0, line);
    if (explanation) {
        fputc('\n', out);
        NB_TRY(ctx, explain(out, explanation, ctx));
    }
    bool labelled = !is_output(registry) && registry != &nb_studies;
    if (!is_output(registry)) fprintf(out, "\noptions:%s\n", labelled || c->options->key ? "" : " none");
    for (const nb_option *o = c->options; o->key; o++) {
        NB_NEED(allowed, nb_option_allowed(o, true, ctx));
        NB_NEED(line, nb_format(ctx, "%s; default: %s", allowed, o->initial ? o->initial : "none: it must be given"));
        NB_TRY(ctx, fill_option(out, o->key, o->help, line, ctx));
    }
    if (labelled)
        NB_TRY(ctx, fill_option(out, NB_LABEL_OPTION, NB_LABEL_HELP,
                                "text; default: the name and the options that are given", ctx));
    fprintf(out, "\nreferences:\n");
    for (int i = 0; c->references[i]; i++) fill(out, "  ", 4, c->references[i]);
    return NB_OK;
}

static int add_names(const nb_registry *const *registries, const char **names, int count, int most)
{
    for (int i = 0; registries[i]; i++)
        for (const nb_entry *e = registries[i]->entries; e->component && count < most; e++)
            names[count++] = e->component->name;
    return count;
}

static nb_status unknown(const char *name, nb_ctx *ctx)
{
    const char *names[256] = {NULL}, *hint;
    int count = add_names(nb_registries, names, 0, 255);
    count = add_names(nb_outputs, names, count, 255);
    for (const nb_entry *e = nb_studies.entries; e->component; e++) {
        const nb_column *columns;
        NB_TRY(ctx, nb_columns_with_labels(((const nb_study *)e->component)->columns, &columns, ctx));
        for (const nb_column *c = columns; c->name && count < 255; c++) names[count++] = c->name;
    }
    NB_NEED(hint, nb_hint(name, names, ctx));
    NB_FAIL(ctx, NB_EINVAL, "no component or column '%s'%s", name, hint);
}

/* Describes the columns of that name in all studies; *found: how many there are. */
static nb_status describe_columns(FILE *out, const char *name, int *found, nb_ctx *ctx)
{
    for (const nb_entry *e = nb_studies.entries; e->component; e++) {
        const nb_column *columns, *column;
        NB_TRY(ctx, nb_columns_with_labels(((const nb_study *)e->component)->columns, &columns, ctx));
        if (!(column = nb_column_find(columns, name))) continue;
        bool several = nb_studies.entries[1].component;
        const char *line;
        NB_NEED(line, nb_format(ctx, "%s (column%s%s): %s", column->name, several ? " of " : "",
                                several ? e->component->name : "", column->help));
        fill(out, "", 0, line);
        ++*found;
    }
    return NB_OK;
}

typedef struct {
    const char *kind, *name;
} asked;

/* Describes what has the name: of one kind, or (NULL) of the first that has it, with a line for each other one. */
static nb_status describe_all(FILE *out, const void *what, nb_ctx *ctx)
{
    const char *kind = ((const asked *)what)->kind, *name = ((const asked *)what)->name;
    const nb_registry *only = NULL, *registry;
    if (kind) NB_TRY(ctx, nb_kind_find(kind, &only, ctx));
    int found = 0, described = 0;
    if (!kind) NB_TRY(ctx, describe_columns(out, name, &found, ctx));
    for (int i = 0; (registry = nb_kind_at(i)); i++) {
        const nb_component *c = nb_registry_find(registry, name);
        if (!c || (only && registry != only)) continue;
        if (found++) fputc('\n', out);
        if (described++)
            fprintf(out, "There is also %s %s of this name: nysbench describe %s/%s\n", nb_article(registry->kind),
                    registry->kind, registry->kind, name);
        else
            NB_TRY(ctx, describe(out, registry, c, ctx));
    }
    return found ? NB_OK : unknown(name, ctx);
}

static nb_status make_text(nysbench *h, const char *kind, const char *name, const char **text)
{
    const char *made;
    NB_REQUIRE(h->ctx, name && text, NB_EINVAL, "the name or the text is NULL");
    *text = NULL;
    NB_TRY(h->ctx, nb_print_text(describe_all, &(asked){kind, name}, &made, h->ctx));
    NB_NEED(*text, nb_strdup(h->results, made));
    return NB_OK;
}

nysbench_status nysbench_describe(nysbench *handle, const char *kind, const char *name, const char **text)
{
    NB_CALL(handle, false, make_text(handle, kind, name, text));
}
