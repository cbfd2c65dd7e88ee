/* SPDX-License-Identifier: GPL-3.0-or-later */
/* page_parts.c - see page_parts.h */
#include "show/page_parts.h"

#include <string.h>

enum { MOST_ROWS = 40 }; /* of several tables in one, so that it fits a page */

static bool has_same_heads(const nb_page_sheet *a, const nb_page_sheet *b)
{
    bool same = a->column_count == b->column_count && a->headless == b->headless;
    for (int c = 0; same && c < a->column_count; c++)
        same = strcmp(a->columns[c].text, b->columns[c].text) == 0 && a->columns[c].kind == b->columns[c].kind;
    return same;
}

int nb_page_find_parts(const nb_page *page, int first, const char *title, bool own, nb_page_part *parts)
{
    int count = 0, rows = 0;
    for (int i = first; i < page->count && (own || count == 0); i++) {
        const nb_page_block *b = &page->blocks[i];
        bool heading = b->kind == NB_HEADING && b->level > 2;
        if (heading) title = b->text;
        if (b->kind == NB_PARAGRAPH || heading || (b->table && b->table->row_count == 0)) continue;
        bool again = count > 0 && title == parts[count - 1].title;
        if (again && b->table) count -= count > 1;
        if (!b->table || again || (count > 0 && !has_same_heads(b->table, parts[0].table))) break;
        rows += b->table->row_count;
        if (count > 0 && rows > MOST_ROWS) break;
        parts[count++] = (nb_page_part){.table = b->table, .title = title, .at = i};
    }
    return count;
}

/* The length of the first of a list's items, which commas outside of brackets part. */
static size_t item_length(const char *list)
{
    size_t i = 0;
    for (int depth = 0; list[i] && (depth > 0 || list[i] != ','); i++)
        depth += (strchr("([{", list[i]) != NULL) - (strchr(")]}", list[i]) != NULL);
    return i;
}

/* Returns what follows the item, and the comma behind it. */
static const char *item_end(const char *list)
{
    list += item_length(list);
    return list + strspn(list, ", ");
}

static int item_count(const char *list)
{
    int count = 0;
    for (; *list; list = item_end(list)) count++;
    return count;
}

/* *list <- with one more item, of that length. */
static nb_status add_item(const char **list, const char *item, size_t length, nb_ctx *ctx)
{
    NB_NEED(*list, nb_format(ctx, "%s%s%.*s", *list, **list && length > 0 ? ", " : "", (int)length, item));
    return NB_OK;
}

static nb_status cut_lists(int count, const char *const *lists, const char **names, const char **shared, nb_ctx *ctx);

/* The first items, which differ: of one component with as many options each, shared <- the component with the options
 * that are the same, and the names <- the others. Else each name <- the item. */
static nb_status cut_items(int count, const char *const *items, const char **names, const char **shared, nb_ctx *ctx)
{
    size_t head = strcspn(items[0], "("), *lengths;
    const char **options, *same = "";
    bool alike = true;
    NB_NEED(options, nb_alloc(ctx, (size_t)count, sizeof *options));
    NB_NEED(lengths, nb_alloc(ctx, (size_t)count, sizeof *lengths));
    for (int i = 0; i < count; i++) {
        size_t length = lengths[i] = item_length(items[i]);
        alike = alike && head + 1 < length && strncmp(items[i], items[0], head + 1) == 0 && items[i][length - 1] == ')';
        NB_NEED(options[i],
                nb_format(ctx, "%.*s", alike ? (int)(length - head - 2) : 0, items[i] + (alike ? head + 1 : 0)));
        alike = alike && item_count(options[i]) == item_count(options[0]);
    }
    for (int i = 0; i < count && !alike; i++) NB_TRY(ctx, add_item(&names[i], items[i], lengths[i], ctx));
    if (!alike) return NB_OK;
    NB_TRY(ctx, cut_lists(count, options, names, &same, ctx));
    NB_NEED(same, nb_format(ctx, *same ? "%.*s(%s)" : "%.*s", (int)head, items[0], same));
    return add_item(shared, same, strlen(same), ctx);
}

/* Adds the items that all lists have at one place to *shared, and the others to the list's name. */
static nb_status cut_lists(int count, const char *const *lists, const char **names, const char **shared, nb_ctx *ctx)
{
    const char **rest;
    bool alike = true;
    NB_NEED(rest, nb_alloc(ctx, (size_t)count, sizeof *rest));
    memcpy(rest, lists, (size_t)count * sizeof *rest);
    for (int i = 1; i < count; i++) alike = alike && item_count(rest[i]) == item_count(rest[0]);
    for (int i = 0; i < count && !alike; i++) NB_TRY(ctx, add_item(&names[i], rest[i], strlen(rest[i]), ctx));
    while (alike && *rest[0]) {
        size_t length = item_length(rest[0]);
        bool same = true;
        for (int i = 1; i < count; i++)
            same = same && item_length(rest[i]) == length && strncmp(rest[i], rest[0], length) == 0;
        NB_TRY(ctx, same ? add_item(shared, rest[0], length, ctx) : cut_items(count, rest, names, shared, ctx));
        for (int i = 0; i < count; i++) rest[i] = item_end(rest[i]);
    }
    return NB_OK;
}

nb_status nb_page_name_parts(int count, nb_page_part *parts, const char **shared, nb_ctx *ctx)
{
    const char **titles, **names;
    NB_NEED(titles, nb_alloc(ctx, (size_t)count, sizeof *titles));
    NB_NEED(names, nb_alloc(ctx, (size_t)count, sizeof *names));
    for (int i = 0; i < count; i++) {
        titles[i] = parts[i].title ? parts[i].title : "";
        names[i] = "";
    }
    *shared = "";
    NB_TRY(ctx, cut_lists(count, titles, names, shared, ctx));
    for (int i = 0; i < count; i++) parts[i].name = names[i];
    return NB_OK;
}
