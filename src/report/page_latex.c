/* SPDX-License-Identifier: GPL-3.0-or-later */
/* page_latex.c - the tables of a page for a paper: booktabs' rules, siunitx' columns of numbers, the heading as caption
 * and notes below. Tables of one heading that have the same columns are one, with a column for what their own headings
 * differ in. Paragraphs that belong to no table are comments. */
#include "report/page_record.h"

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
    } else {
        print_braced(out, cell.text, (int)strlen(cell.text));
        print_braced(out, cell.mark, (int)strlen(cell.mark));
    }
}

typedef struct { /* of a table that is several of the page's */
    const nb_page_sheet *table;
    const char *title; /* its heading; NULL: none */
    int at;            /* its block */
    int first, length; /* the part of it in which they differ */
} part;

/* `name`: of the part, beside its first row; NULL: there is no such column. */
static void print_rows(FILE *out, const nb_page_sheet *t, const part *name)
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
        if (name && r == 0) print_part(out, name->title + name->first, name->length);
        for (int c = 0; c < t->column_count; c++) {
            if (c > 0 || name) fputs(" & ", out);
            print_cell(out, nb_page_cell_at(t, r, c), t->columns[c].kind & NB_PAGE_NUMBER);
        }
        fputs(" \\\\\n", out);
    }
}

static void print_table(FILE *out, const char *above, int count, const part *parts)
{
    const nb_page_sheet *t = parts[0].table;
    const char *caption = count > 1 ? NULL : parts[0].title;
    fputs("\\begin{table}\n\\centering\n", out);
    if (above || caption) {
        fputs("\\caption{", out);
        print_escaped(out, above ? above : "");
        fputs(above && caption ? ": " : "", out);
        print_escaped(out, caption ? caption : "");
        fputs("}\n", out);
    }
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
        print_rows(out, parts[i].table, count > 1 ? &parts[i] : NULL);
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

/* Cuts titles to what they differ in: between what all begin with, up to a word, and what all end with, from ',' or ')'
 * on. */
static void cut_titles(part *parts, int count)
{
    const char *one = parts[0].title;
    size_t begin = strlen(one), end = begin;
    for (int i = 1; i < count; i++) {
        const char *title = parts[i].title;
        size_t same = 0, length = strlen(title);
        while (same < begin && title[same] == one[same]) same++;
        begin = same;
        for (same = 0; same < end && same < length && title[length - 1 - same] == one[strlen(one) - 1 - same];) same++;
        end = same;
    }
    while (begin > 0 && !strchr("( ", one[begin - 1])) begin--;
    while (end > 0 && !strchr(",)", one[strlen(one) - end])) end--;
    if (begin == 0) end = 0; /* a whole component differs */
    for (int i = 0; i < count; i++)
        parts[i].first = (int)begin, parts[i].length = (int)(strlen(parts[i].title) - begin - end);
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
    if (count > 1) cut_titles(parts, count);
    return count;
}

static void print_comment(FILE *out, const char *text)
{
    fputs("% ", out);
    for (; *text; text++) fputc(*text == '\n' ? ' ' : *text, out);
    fputc('\n', out);
}

/* Notes that follow a table are its own. */
nb_status nb_page_print_latex(FILE *out, const nb_page *page)
{
    const char *above = NULL, *caption = NULL, *used = NULL; /* headings: of level 2, below; of the table before */
    part *parts;
    bool open = false;
    NB_NEED(parts, nb_alloc(page->ctx, (size_t)page->count + 1, sizeof *parts));
    fputs("% \\usepackage{booktabs,siunitx}\n", out);
    for (int i = 0; i < page->count; i++) {
        const nb_page_block *b = &page->blocks[i];
        if (b->kind == NB_NOTE && open) {
            fputs("\\par\\footnotesize ", out);
            print_escaped(out, b->mark);
            fputs(*b->mark ? " " : "", out);
            print_escaped(out, b->text);
            fputc('\n', out);
            continue;
        }
        if (b->table && b->table->row_count == 0) continue;
        if (open && b->kind != NB_PARAGRAPH) fputs("\\end{table}\n", out), open = false;
        if (b->kind == NB_HEADING && b->level <= 2) above = b->text, caption = NULL;
        if (b->kind == NB_HEADING && b->level > 2) caption = b->text;
        if (!b->table) {
            print_comment(out, b->text);
            continue;
        }
        int count = find_parts(page, i, caption, caption != used, parts);
        for (caption = used = parts[count - 1].title; i < parts[count - 1].at; i++)
            if (!page->blocks[i].table) print_comment(out, page->blocks[i].text);
        print_table(out, above, count, parts);
        open = true;
    }
    if (open) fputs("\\end{table}\n", out);
    return NB_OK;
}
