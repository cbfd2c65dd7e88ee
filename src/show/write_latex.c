/* SPDX-License-Identifier: GPL-3.0-or-later */
/* write_latex.c - the tables of a page for a paper (show/paper.h), with booktabs' rules and siunitx' columns of
 * numbers; notes below them in a small face; all else as comments. */
#include "show/paper.h"

#include <string.h>

typedef struct {
    bool open; /* the table that was written last: what belongs to it may follow */
} state;

static void print_part(FILE *out, const char *text, int length)
{
    static const char *const escapes[][2] = {{"\\", "\\textbackslash{}"},  {"~", "\\textasciitilde{}"},
                                             {"^", "\\textasciicircum{}"}, {"<", "\\textless{}"},
                                             {">", "\\textgreater{}"},     {"|", "\\textbar{}"}};
    for (const char *at = text; at < text + length; at++) {
        const char *escape = NULL;
        for (size_t i = 0; i < sizeof escapes / sizeof *escapes; i++)
            if (*at == *escapes[i][0]) escape = escapes[i][1];
        if (escape)
            fputs(escape, out);
        else
            fprintf(out, strchr("&%$#_{}", *at) ? "\\%c" : "%c", *at);
    }
}

static void print_text(FILE *out, const char *begin, const char *text, const char *end)
{
    fputs(begin, out);
    print_part(out, text, (int)strlen(text));
    fputs(end, out);
}

/* Prints a number, with braces around what stands in front of its digits and behind them. */
static void print_number(FILE *out, nb_page_entry cell)
{
    if (cell.digits > cell.text) {
        fputc('{', out);
        print_part(out, cell.text, (int)(cell.digits - cell.text));
        fputc('}', out);
    }
    fputs(cell.digits, out);
    if (*cell.mark) print_text(out, "{", cell.mark, "}");
}

/* In a column of numbers what is none stands in braces. */
static void print_cell(FILE *out, nb_page_entry cell, bool among_numbers)
{
    bool braced = among_numbers && (*cell.text || *cell.mark);
    if (among_numbers && cell.digits) {
        print_number(out, cell);
        return;
    }
    print_text(out, braced ? "{" : "", cell.text, "");
    print_text(out, "", cell.mark, braced ? "}" : "");
}

static void print_row(FILE *out, const nb_page_sheet *t, int row)
{
    const char *band = t->rows[row].band;
    if (t->rows[row].ruled || (row > 0 && t->rows[row - 1].band && !band)) fputs("\\midrule\n", out);
    if (band && nb_page_begins_band(t, row)) {
        fprintf(out, "\\multicolumn{%d}{l}", t->column_count);
        print_text(out, "{", band, "} \\\\\n");
    }
    for (int c = 0; c < t->column_count; c++) {
        if (c > 0) fputs(" & ", out);
        print_cell(out, nb_page_cell_at(t, row, c), nb_page_is_number(t, c));
    }
    fputs(" \\\\\n", out);
}

static void print_tabular(FILE *out, const nb_page_sheet *t)
{
    fputs("\\begin{tabular}{", out);
    for (int c = 0; c < t->column_count; c++) fputc(nb_page_is_number(t, c) ? 'S' : 'l', out);
    fputs("}\n\\toprule\n", out);
    for (int c = 0; c < t->column_count && !t->headless; c++) {
        const char *head = t->columns[c].text;
        if (c > 0) fputs(" & ", out);
        if (*head) print_text(out, "{", head, "}");
    }
    if (!t->headless) fputs(" \\\\\n\\midrule\n", out);
    for (int r = 0; r < t->row_count; r++) print_row(out, t, r);
    fputs("\\bottomrule\n\\end{tabular}\n", out);
}

/* Prints a formula, in which bars are those of norms. */
static void print_formula(FILE *out, const char *formula)
{
    fputc('$', out);
    for (; *formula; formula++) fprintf(out, *formula == '|' ? "\\|" : "%c", *formula);
    fputc('$', out);
}

static void print_caption(FILE *out, const char *text, const char *formula)
{
    const char *at = *formula ? strstr(text, formula) : NULL;
    fputs("\\caption{", out);
    if (at) {
        print_part(out, text, (int)(at - text));
        print_formula(out, formula);
        text = at + strlen(formula);
    }
    print_text(out, "", text, "}\n");
}

static nb_status write_table(nb_page_walk *w)
{
    const nb_page_block *b = w->block;
    fputs("\\begin{table}\n\\centering\n", w->out);
    if (*b->text) print_caption(w->out, b->text, b->formula);
    if (*b->text && *b->mark) fprintf(w->out, "\\label{tab:%s}\n", b->mark);
    print_tabular(w->out, b->table);
    ((state *)w->own)->open = true;
    return NB_OK;
}

static nb_status write_note(nb_page_walk *w)
{
    const char *mark = w->block->mark;
    print_text(w->out, "\\par\\footnotesize ", mark, *mark ? " " : "");
    print_text(w->out, "", w->block->text, "\n");
    return NB_OK;
}

static nb_status write_comment(nb_page_walk *w)
{
    fputs("% ", w->out);
    for (const char *at = w->block->text; *at; at++) fputc(*at == '\n' ? ' ' : *at, w->out);
    fputc('\n', w->out);
    return NB_OK;
}

/* Begins the page, and ends a table behind its notes and the comments among them. */
static void write_between(nb_page_walk *w)
{
    state *s = w->own;
    bool more = w->block && (w->block->kind == NB_NOTE || w->block->kind == NB_PARAGRAPH);
    if (!w->before) fputs("% \\usepackage{booktabs,siunitx}\n", w->out);
    if (s->open && !more) fputs("\\end{table}\n", w->out);
    s->open = s->open && more;
}

const nb_page_writer nb_page_latex_writer = {.own_size = sizeof(state),
                                             .edit = nb_paper_make,
                                             .between = write_between,
                                             .block = {[NB_HEADING] = write_comment,
                                                       [NB_PARAGRAPH] = write_comment,
                                                       [NB_ITEM] = write_comment,
                                                       [NB_NOTE] = write_note,
                                                       [NB_PICTURE] = write_comment,
                                                       [NB_VERBATIM] = write_comment,
                                                       [NB_TABLE] = write_table}};
