/* SPDX-License-Identifier: GPL-3.0-or-later */
/* page_latex.c - the tables of a page for a paper: booktabs' rules, siunitx' columns of numbers, and a label.
 *
 * 1. Tables of one heading that have the same columns are one, with a column for what their own headings differ in.
 * 2. The caption is the heading, what their own headings agree in, the paragraphs above the table, and the first one
 *    below it, which says what it holds.
 * 3. Other paragraphs below it, and notes, stand there in a small face.
 * 4. All else is a comment: items, what leads to them, and what names an option of the program. */
#include "report/page_record.h"

#include <ctype.h>
#include <string.h>

enum { MOST_ROWS = 40 }; /* of several tables in one, so that it fits a page */

/* The length of a norm, as |S - FXB|_F, that begins the text; 0: none does. */
static int norm_length(const char *text, int length)
{
    int inside = 1 + (int)strcspn(text + (*text != '\0'), "|");
    return *text == '|' && inside + 3 <= length && strncmp(text + inside, "|_F", 3) == 0 ? inside + 3 : 0;
}

static void print_part(FILE *out, const char *text, int length)
{
    static const char *const escapes[][2] = {{"\\", "\\textbackslash{}"},  {"~", "\\textasciitilde{}"},
                                             {"^", "\\textasciicircum{}"}, {"<", "\\textless{}"},
                                             {">", "\\textgreater{}"},     {"|", "\\textbar{}"}};
    for (int at = 0; at < length; at++) {
        const char *escape = NULL;
        int norm = norm_length(text + at, length - at);
        for (size_t i = 0; i < sizeof escapes / sizeof *escapes; i++)
            if (text[at] == *escapes[i][0]) escape = escapes[i][1];
        if (norm > 0)
            fprintf(out, "$\\|%.*s\\|_F$", norm - 4, text + at + 1);
        else if (escape)
            fputs(escape, out);
        else
            fprintf(out, strchr("&%$#_{}", text[at]) ? "\\%c" : "%c", text[at]);
        at += norm > 0 ? norm - 1 : 0;
    }
}

static void print_escaped(FILE *out, const char *text)
{
    print_part(out, text, (int)strlen(text));
}

static void print_braced(FILE *out, const char *text, int length)
{
    if (length == 0) return;
    fputc('{', out);
    print_part(out, text, length);
    fputc('}', out);
}

/* Prints a cell; in a column of numbers what is none stands in braces, also behind or before one. */
static void print_cell(FILE *out, nb_page_entry cell, bool number)
{
    size_t before = strspn(cell.text, "("), digits = strspn(cell.text + before, "0123456789.+-e");
    bool is_number = strpbrk(cell.text, "0123456789") && before + digits == strlen(cell.text);
    if (!number) {
        print_escaped(out, cell.text);
        print_escaped(out, cell.mark);
    } else if (is_number) {
        print_braced(out, cell.text, (int)before);
        fputs(cell.text + before, out);
        print_braced(out, cell.mark, (int)strlen(cell.mark));
    } else if (*cell.text || *cell.mark) {
        fputc('{', out);
        print_escaped(out, cell.text);
        print_escaped(out, cell.mark);
        fputc('}', out);
    }
}

typedef struct { /* of a table that is several of the page's */
    const nb_page_sheet *table;
    const char *title; /* its heading; NULL: none */
    const char *name;  /* what of it differs from those of the others */
    int at;            /* its block */
} part;

/* `name`: of the part, beside its first row; NULL: there is no such column. */
static void print_rows(FILE *out, const nb_page_sheet *t, const char *name)
{
    const char *band = NULL;
    for (int r = 0; r < t->row_count; r++) {
        const char *mine = t->rows[r].band;
        if (mine && (!band || strcmp(mine, band) != 0)) {
            fprintf(out, "\\multicolumn{%d}{l}{", t->column_count + (name != NULL));
            print_escaped(out, mine);
            fputs("} \\\\\n", out);
        } else if (band && !mine) {
            fputs("\\midrule\n", out);
        }
        band = mine;
        if (name && r == 0) print_escaped(out, name);
        for (int c = 0; c < t->column_count; c++) {
            if (c > 0 || name) fputs(" & ", out);
            print_cell(out, nb_page_cell_at(t, r, c), t->columns[c].kind & NB_PAGE_NUMBER);
        }
        fputs(" \\\\\n", out);
    }
}

/* Appends to a caption: a sentence as one, and else as a part of the one before. */
static void print_more(FILE *out, const char *text, const char **before)
{
    size_t length = strlen(text), end = strlen(*before);
    if (end > 0) fputs((*before)[end - 1] == '.' ? " " : length > 0 && text[length - 1] == '.' ? ". " : "; ", out);
    print_escaped(out, text);
    *before = text;
}

static bool is_paragraph(const nb_page *page, int block)
{
    return block >= 0 && block < page->count && page->blocks[block].kind == NB_PARAGRAPH;
}

/* Returns whether the block is a paragraph above a table, from which only paragraphs part it. */
static bool is_above(const nb_page *page, int block)
{
    bool paragraph = is_paragraph(page, block);
    while (is_paragraph(page, block)) block++;
    return paragraph && block < page->count && page->blocks[block].table && page->blocks[block].table->row_count > 0;
}

/* Returns whether the block is a paragraph below a table that serves a reader of the paper, and leads to no items. */
static bool is_told(const nb_page *page, int block)
{
    if (!is_paragraph(page, block) || is_above(page, block)) return false;
    if (block + 1 < page->count && page->blocks[block + 1].kind == NB_ITEM) return false;
    const char *text = page->blocks[block].text;
    return *text && text[strlen(text) - 1] != ':' && !strstr(text, "--");
}

typedef struct { /* headings: of level 2 and its block, below; of the table before */
    const char *above, *caption, *used;
    const char *shared; /* what the headings of a table that is several of the page's agree in */
    bool goes_on;       /* likewise, as did those of the table before */
    int block, tables;  /* tables: how many have been printed */
} state;

static void print_caption(FILE *out, const nb_page *page, const state *at, int count, const part *parts)
{
    const char *before = "", *title = count > 1 ? at->shared : parts[0].title ? parts[0].title : "";
    int first = parts[0].at, below = parts[count - 1].at + 1;
    if (!at->above && !*title) return;
    fputs("\\caption{", out);
    if (at->above) {
        fputc(toupper((unsigned char)*at->above), out);
        print_escaped(out, at->above + 1);
        fputs(*title ? ": " : "", out);
    }
    print_escaped(out, title);
    before = *title ? title : at->above;
    if (count > 1 && at->goes_on) print_more(out, "continued", &before);
    while (is_paragraph(page, first - 1)) first--;
    for (int i = at->block + 1; is_paragraph(page, i) && i < first; i++) print_more(out, page->blocks[i].text, &before);
    for (int i = first; i < parts[0].at && count == 1; i++) print_more(out, page->blocks[i].text, &before);
    if (is_told(page, below)) print_more(out, page->blocks[below].text, &before);
    fputs(before[strlen(before) - 1] == '.' ? "}\n" : ".}\n", out);
    if (!page->name) return;
    fprintf(out, "\\label{tab:%s", page->name);
    if (at->tables > 0) fprintf(out, "-%d", at->tables + 1);
    fputs("}\n", out);
}

static void print_table(FILE *out, const nb_page *page, const state *at, int count, const part *parts)
{
    const nb_page_sheet *t = parts[0].table;
    fputs("\\begin{table}\n\\centering\n", out);
    print_caption(out, page, at, count, parts);
    fputs(count > 1 ? "\\begin{tabular}{l" : "\\begin{tabular}{", out);
    for (int c = 0; c < t->column_count; c++) fputc(t->columns[c].kind & NB_PAGE_NUMBER ? 'S' : 'l', out);
    fputs("}\n\\toprule\n", out);
    for (int c = 0; c < t->column_count && !t->headless; c++) {
        if (c > 0 || count > 1) fputs(" & ", out);
        print_braced(out, t->columns[c].text, (int)strlen(t->columns[c].text));
    }
    if (!t->headless) fputs(" \\\\\n\\midrule\n", out);
    for (int i = 0; i < count; i++) {
        if (i > 0) fputs("\\midrule\n", out);
        print_rows(out, parts[i].table, count > 1 ? parts[i].name : NULL);
    }
    fputs("\\bottomrule\n\\end{tabular}\n", out);
}

static bool has_same_heads(const nb_page_sheet *a, const nb_page_sheet *b)
{
    bool same = a->column_count == b->column_count && a->headless == b->headless;
    for (int c = 0; same && c < a->column_count; c++)
        same = strcmp(a->columns[c].text, b->columns[c].text) == 0 && a->columns[c].kind == b->columns[c].kind;
    return same;
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

/* Names parts by what their titles differ in; *shared <- what they agree in. */
static nb_status cut_titles(int count, part *parts, const char **shared, nb_ctx *ctx)
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

/* Returns how many tables from a block on are one: of each heading there is one, and they have the same columns. `own`:
 * the first is the first of its heading. */
static int find_parts(const nb_page *page, int first, const char *title, bool own, part *parts)
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
        parts[count++] = (part){.table = b->table, .title = title, .at = i};
    }
    return count;
}

static void print_comment(FILE *out, const char *text)
{
    fputs("% ", out);
    for (; *text; text++) fputc(*text == '\n' ? ' ' : *text, out);
    fputc('\n', out);
}

static void print_note(FILE *out, const char *mark, const char *text)
{
    fputs("\\par\\footnotesize ", out);
    print_escaped(out, mark);
    fputs(*mark ? " " : "", out);
    print_escaped(out, text);
    fputc('\n', out);
}

/* What stands above each of several tables in one. */
static void print_parts(FILE *out, const nb_page *page, int count, const part *parts)
{
    for (int p = 0; p < count && count > 1; p++)
        for (int i = parts[p].at - 1; is_paragraph(page, i); i--) {
            fputs("\\par\\footnotesize ", out);
            print_escaped(out, parts[p].name);
            fputs(": ", out);
            print_escaped(out, page->blocks[i].text);
            fputc('\n', out);
        }
}

/* Prints the blocks below a table from the first on that are its own; returns the last. */
static int print_below(FILE *out, const nb_page *page, int first)
{
    int i = first;
    for (; i < page->count; i++) {
        const nb_page_block *b = &page->blocks[i];
        if (b->kind == NB_NOTE)
            print_note(out, b->mark, b->text);
        else if (is_told(page, i) && i > first)
            print_note(out, "", b->text);
        else if (!is_told(page, i) && is_paragraph(page, i) && !is_above(page, i))
            print_comment(out, b->text);
        else if (!is_told(page, i))
            break;
    }
    return i - 1;
}

nb_status nb_page_print_latex(FILE *out, const nb_page *page)
{
    state at = {.above = NULL};
    part *parts;
    NB_NEED(parts, nb_alloc(page->ctx, (size_t)page->count + 1, sizeof *parts));
    fputs("% \\usepackage{booktabs,siunitx}\n", out);
    for (int i = 0; i < page->count; i++) {
        const nb_page_block *b = &page->blocks[i];
        if ((b->table && b->table->row_count == 0) || is_above(page, i)) continue;
        if (b->kind == NB_HEADING && b->level <= 2) at.above = b->text, at.block = i, at.caption = at.shared = NULL;
        if (b->kind == NB_HEADING && b->level > 2) at.caption = b->text;
        if (!b->table) {
            print_comment(out, b->text);
            continue;
        }
        int count = find_parts(page, i, at.caption, at.caption != at.used, parts);
        const char *shared = NULL;
        if (count > 1) NB_TRY(page->ctx, cut_titles(count, parts, &shared, page->ctx));
        at.goes_on = shared && at.shared && strcmp(shared, at.shared) == 0;
        at.shared = shared;
        at.caption = at.used = parts[count - 1].title;
        print_table(out, page, &at, count, parts);
        print_parts(out, page, count, parts);
        i = print_below(out, page, parts[count - 1].at + 1);
        fputs("\\end{table}\n", out);
        at.tables++;
    }
    return NB_OK;
}
