/* SPDX-License-Identifier: GPL-3.0-or-later */
/* page_latex.c - the tables of a page for a paper: booktabs' rules, siunitx' columns of numbers, the heading as caption
 * and notes below. Paragraphs that belong to no table are comments. */
#include "report/page_private.h"

#include <string.h>

static void print_escaped(FILE *out, const char *text)
{
    static const char *const escapes[][2] = {{"\\", "\\textbackslash{}"},  {"~", "\\textasciitilde{}"},
                                             {"^", "\\textasciicircum{}"}, {"<", "\\textless{}"},
                                             {">", "\\textgreater{}"},     {"|", "\\textbar{}"}};
    for (; *text; text++) {
        const char *escape = NULL;
        for (size_t i = 0; i < sizeof escapes / sizeof *escapes; i++)
            if (*text == *escapes[i][0]) escape = escapes[i][1];
        if (escape)
            fputs(escape, out);
        else if (strchr("&%$#_{}", *text))
            fprintf(out, "\\%c", *text);
        else
            fputc(*text, out);
    }
}

static void print_braced(FILE *out, const char *text, int length)
{
    char one[2] = "";
    if (length == 0) return;
    fputc('{', out);
    for (int i = 0; i < length; i++) {
        *one = text[i];
        print_escaped(out, one);
    }
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

static void print_rows(FILE *out, const nb_page_sheet *t)
{
    const char *band = NULL;
    for (int r = 0; r < t->row_count; r++) {
        const char *mine = t->rows[r].band;
        if (mine && (!band || strcmp(mine, band) != 0)) {
            fprintf(out, "\\multicolumn{%d}{l}{", t->column_count);
            print_escaped(out, mine);
            fputs("} \\\\\n", out);
        } else if (band && !mine) {
            fputs("\\midrule\n", out);
        }
        band = mine;
        for (int c = 0; c < t->column_count; c++) {
            if (c > 0) fputs(" & ", out);
            print_cell(out, nb_page_cell_at(t, r, c), t->columns[c].kind & NB_PAGE_NUMBER);
        }
        fputs(" \\\\\n", out);
    }
}

static void print_table(FILE *out, const nb_page_sheet *t, const char *above, const char *caption)
{
    fputs("\\begin{table}\n\\centering\n", out);
    if (above || caption) {
        fputs("\\caption{", out);
        print_escaped(out, above ? above : "");
        fputs(above && caption ? ": " : "", out);
        print_escaped(out, caption ? caption : "");
        fputs("}\n", out);
    }
    fputs("\\begin{tabular}{", out);
    for (int c = 0; c < t->column_count; c++) fputc(t->columns[c].kind & NB_PAGE_NUMBER ? 'S' : 'l', out);
    fputs("}\n\\toprule\n", out);
    for (int c = 0; c < t->column_count && !t->headless; c++) {
        if (c > 0) fputs(" & ", out);
        print_braced(out, t->columns[c].text, (int)strlen(t->columns[c].text));
    }
    if (!t->headless) fputs(" \\\\\n\\midrule\n", out);
    print_rows(out, t);
    fputs("\\bottomrule\n\\end{tabular}\n", out);
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
    const char *above = NULL, *caption = NULL; /* headings of level 2 and below */
    bool open = false;
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
        print_table(out, b->table, above, caption);
        open = true;
    }
    if (open) fputs("\\end{table}\n", out);
    return NB_OK;
}
