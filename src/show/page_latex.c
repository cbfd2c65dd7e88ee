/* SPDX-License-Identifier: GPL-3.0-or-later */
/* page_latex.c - the tables of a page for a paper: booktabs' rules, siunitx' columns of numbers, and a label.
 *
 * 1. Tables of one heading that have the same columns are one, with a column for what their own headings differ in.
 * 2. The caption is the heading, what their own headings agree in, and the paragraphs that are NB_PAGE_ABOVE or
 *    NB_PAGE_HOLDS.
 * 3. Remarks on a table, and notes, stand below it in a small face.
 * 4. All else is a comment. */
#include "show/page_parts.h"

#include <ctype.h>
#include <string.h>

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
static void print_cell(FILE *out, nb_page_entry cell, bool among_numbers)
{
    if (among_numbers && cell.digits) {
        print_braced(out, cell.text, (int)(cell.digits - cell.text));
        fputs(cell.digits, out);
        print_braced(out, cell.mark, (int)strlen(cell.mark));
        return;
    }
    bool braced = among_numbers && (*cell.text || *cell.mark);
    if (braced) fputc('{', out);
    print_escaped(out, cell.text);
    print_escaped(out, cell.mark);
    if (braced) fputc('}', out);
}

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

/* Begins a caption, by a capital, or appends to it: a sentence as one, and else as a part of the one before. */
static void print_more(FILE *out, const char *text, const char **before)
{
    size_t length = strlen(text), end = strlen(*before);
    if (length == 0) return;
    fputs(end == 0 ? "\\caption{" : (*before)[end - 1] == '.' ? " " : text[length - 1] == '.' ? ". " : "; ", out);
    if (end == 0) fputc(toupper((unsigned char)*text), out);
    print_escaped(out, text + (end == 0));
    *before = text;
}

static const nb_page_block *block_at(const nb_page *page, int i)
{
    static const nb_page_block none = {.kind = NB_HEADING};
    return i >= 0 && i < page->count ? &page->blocks[i] : &none;
}

static bool is_paragraph(const nb_page *page, int i)
{
    return block_at(page, i)->kind == NB_PARAGRAPH;
}

/* Returns whether the block is a paragraph of that use. */
static bool is_for(const nb_page *page, int i, nb_page_use use)
{
    return is_paragraph(page, i) && page->blocks[i].use == use;
}

/* Returns whether the block is of the caption of a table, from which only paragraphs part it. */
static bool is_above(const nb_page *page, int i)
{
    if (!is_for(page, i, NB_PAGE_ABOVE)) return false;
    while (is_paragraph(page, i)) i++;
    return block_at(page, i)->table && block_at(page, i)->table->row_count > 0;
}

/* Returns whether the block, which is below a table and others of its own, is the table's too. */
static bool is_own(const nb_page *page, int i)
{
    return block_at(page, i)->kind == NB_NOTE || (is_paragraph(page, i) && !is_above(page, i));
}

typedef struct { /* headings: of level 2, below that, of the table before */
    const char *above, *caption, *used;
    const char *shared; /* what the headings of a table that is several of the page's agree in */
    bool goes_on;       /* likewise, as did those of the table before */
    int block;          /* below the heading of level 2 */
    int tables;         /* how many have been written */
} state;

static void print_uses(FILE *out, const nb_page *page, nb_page_use use, int first, int end, const char **before)
{
    for (int i = first; i < end; i++)
        if (is_for(page, i, use)) print_more(out, page->blocks[i].text, before);
}

static void print_caption(FILE *out, const nb_page *page, const state *at, int count, const nb_page_part *parts)
{
    const char *before = "", *title = count > 1 ? at->shared : parts[0].title ? parts[0].title : "";
    int common = at->block, own = parts[0].at, below = parts[count - 1].at + 1, end = below;
    while (is_paragraph(page, own - 1)) own--;
    while (is_paragraph(page, common) && common < own) common++;
    while (is_own(page, end)) end++;
    if (at->above) print_more(out, at->above, &before);
    if (*before && *title) {
        fputs(": ", out);
        print_escaped(out, title);
        before = title;
    } else {
        print_more(out, title, &before);
    }
    if (count > 1 && at->goes_on) print_more(out, "continued", &before);
    print_uses(out, page, NB_PAGE_ABOVE, at->block, common, &before);
    if (count == 1) print_uses(out, page, NB_PAGE_ABOVE, own, parts[0].at, &before);
    print_uses(out, page, NB_PAGE_HOLDS, below, end, &before);
    if (!*before) return;
    fputs(before[strlen(before) - 1] == '.' ? "}\n" : ".}\n", out);
    if (!page->name) return;
    fprintf(out, "\\label{tab:%s", page->name);
    if (at->tables > 0) fprintf(out, "-%d", at->tables + 1);
    fputs("}\n", out);
}

static void print_tabular(FILE *out, int count, const nb_page_part *parts)
{
    const nb_page_sheet *t = parts[0].table;
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
static void print_parts(FILE *out, const nb_page *page, int count, const nb_page_part *parts)
{
    for (int p = 0; p < count && count > 1; p++)
        for (int i = parts[p].at - 1; is_paragraph(page, i); i--) {
            if (!is_for(page, i, NB_PAGE_ABOVE)) continue;
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
    for (; is_own(page, i); i++) {
        const nb_page_block *b = &page->blocks[i];
        if (b->kind == NB_PARAGRAPH && b->use == NB_PAGE_ASIDE)
            print_comment(out, b->text);
        else if (b->use != NB_PAGE_HOLDS)
            print_note(out, b->mark, b->text);
    }
    return i - 1;
}

static void begin(nb_page_walk *w)
{
    if (!w->before) fputs("% \\usepackage{booktabs,siunitx}\n", w->out);
}

static nb_status write_comment(nb_page_walk *w)
{
    if (!is_above(w->page, w->at)) print_comment(w->out, w->block->text);
    return NB_OK;
}

static nb_status write_heading(nb_page_walk *w)
{
    state *s = w->own;
    if (w->block->level <= 2)
        s->above = w->block->text, s->block = w->at + 1, s->caption = s->shared = NULL;
    else
        s->caption = w->block->text;
    return write_comment(w);
}

static nb_status write_table(nb_page_walk *w)
{
    state *s = w->own;
    const nb_page *page = w->page;
    const char *shared = NULL;
    nb_page_part *parts;
    NB_NEED(parts, nb_alloc(page->ctx, (size_t)(page->count - w->at), sizeof *parts));
    int count = nb_page_find_parts(page, w->at, s->caption, s->caption != s->used, parts);
    if (count > 1) NB_TRY(page->ctx, nb_page_name_parts(count, parts, &shared, page->ctx));
    s->goes_on = shared && s->shared && strcmp(shared, s->shared) == 0;
    s->shared = shared;
    s->caption = s->used = parts[count - 1].title;
    fputs("\\begin{table}\n\\centering\n", w->out);
    print_caption(w->out, page, s, count, parts);
    print_tabular(w->out, count, parts);
    print_parts(w->out, page, count, parts);
    w->at = print_below(w->out, page, parts[count - 1].at + 1);
    fputs("\\end{table}\n", w->out);
    s->tables++;
    return NB_OK;
}

const nb_page_writer nb_page_latex_writer = {.own_size = sizeof(state),
                                             .between = begin,
                                             .block = {[NB_HEADING] = write_heading,
                                                       [NB_PARAGRAPH] = write_comment,
                                                       [NB_ITEM] = write_comment,
                                                       [NB_NOTE] = write_comment,
                                                       [NB_PICTURE] = write_comment,
                                                       [NB_VERBATIM] = write_comment,
                                                       [NB_TABLE] = write_table}};
