/* SPDX-License-Identifier: GPL-3.0-or-later */
/* page_latex.c - the tables of a page for a paper: booktabs' rules, siunitx' columns of numbers, and a label.
 *
 * 1. Tables of one heading that have the same columns are one, with a column for what their own headings differ in.
 * 2. The caption is the heading, what their own headings agree in, and the paragraphs that are NB_PAGE_SHARED,
 *    NB_PAGE_ABOVE or NB_PAGE_HOLDS.
 * 3. Remarks on a table, and notes, stand below it in a small face.
 * 4. All else is a comment. */
#include "show/page_parts.h"

#include <ctype.h>
#include <string.h>

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

/* Prints a formula, in which bars are those of norms. */
static void print_formula(FILE *out, const char *formula)
{
    fputc('$', out);
    for (; *formula; formula++) fprintf(out, *formula == '|' ? "\\|" : "%c", *formula);
    fputc('$', out);
}

/* A piece of a caption is the heading, that of the table alone, words, or sentences, which end with a stop. */
typedef enum { NO_PIECE, HEADING, TITLE, WORDS, SENTENCES } piece_kind;

typedef struct {
    FILE *out;
    piece_kind last;
} caption;

/* Adds a piece; the first begins by a capital. */
static void add_piece(caption *c, piece_kind kind, const char *text, const char *formula)
{
    static const char *const joints[] = {[HEADING] = "", [TITLE] = ": ", [WORDS] = "; ", [SENTENCES] = ". "};
    const char *at = *formula ? strstr(text, formula) : NULL;
    if (!*text) return;
    fputs(c->last == NO_PIECE ? "\\caption{" : c->last == SENTENCES ? " " : joints[kind], c->out);
    if (c->last == NO_PIECE && text != at) {
        char capital = (char)toupper((unsigned char)*text++);
        print_part(c->out, &capital, 1);
    }
    if (at) {
        print_part(c->out, text, (int)(at - text));
        print_formula(c->out, formula);
        text = at + strlen(formula);
    }
    print_escaped(c->out, text);
    c->last = kind;
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

/* The uses of paragraphs that are of a caption, by whether they stand above the table. */
enum { ABOVE = 1 << NB_PAGE_SHARED | 1 << NB_PAGE_ABOVE, BELOW = 1 << NB_PAGE_HOLDS };

/* Returns whether the block is of the caption of a table, from which only paragraphs part it. */
static bool is_above(const nb_page *page, int i)
{
    if (!is_paragraph(page, i) || !(ABOVE >> page->blocks[i].use & 1)) return false;
    while (is_paragraph(page, i)) i++;
    return block_at(page, i)->table && block_at(page, i)->table->row_count > 0;
}

/* Returns whether the block, which is below a table and others of its own, is the table's too. */
static bool is_own(const nb_page *page, int i)
{
    return block_at(page, i)->kind == NB_NOTE || (is_paragraph(page, i) && !is_above(page, i));
}

typedef struct {
    const nb_page_block *above, *title, *used; /* headings: of level 2, below that, of the table before */
    const char *shared;                        /* what the headings of a table that is several of the page's agree in */
    bool goes_on;                              /* likewise, as did those of the table before */
    int block;                                 /* below the heading of level 2 */
    int tables;                                /* how many have been written */
} state;

/* Adds the paragraphs of these uses among the blocks first ... end - 1. */
static void add_paragraphs(caption *c, const nb_page *page, unsigned uses, int first, int end)
{
    for (int i = first; i < end; i++) {
        const nb_page_block *b = &page->blocks[i];
        if (b->kind == NB_PARAGRAPH && uses >> b->use & 1)
            add_piece(c, b->use == NB_PAGE_SHARED ? WORDS : SENTENCES, b->text, "");
    }
}

/* Returns the first of the paragraphs that stand right above a part, or its table. */
static int first_above(const nb_page *page, const nb_page_part *part)
{
    int i = part->at;
    while (is_paragraph(page, i - 1)) i--;
    return i;
}

/* Returns whether the same stands right above all parts. */
static bool share_above(const nb_page *page, int count, const nb_page_part *parts)
{
    int first = first_above(page, &parts[0]), lines = parts[0].at - first;
    bool same = true;
    for (int p = 1; p < count && same; p++) {
        int own = first_above(page, &parts[p]);
        same = parts[p].at - own == lines;
        for (int i = 0; i < lines && same; i++)
            same = strcmp(page->blocks[own + i].text, page->blocks[first + i].text) == 0;
    }
    return same;
}

static void print_caption(FILE *out, const nb_page *page, const state *at, int count, const nb_page_part *parts)
{
    caption c = {out, NO_PIECE};
    const nb_page_block *title = parts[0].heading;
    int common = at->block, own = first_above(page, &parts[0]), below = parts[count - 1].at + 1, end = below;
    while (is_paragraph(page, common) && common < own) common++;
    while (is_own(page, end)) end++;
    if (at->above) add_piece(&c, HEADING, at->above->text, at->above->formula);
    add_piece(&c, TITLE, count > 1 ? at->shared : title ? title->text : "", "");
    if (count > 1 && at->goes_on) add_piece(&c, WORDS, "continued", "");
    add_paragraphs(&c, page, ABOVE, at->block, common);
    if (share_above(page, count, parts)) add_paragraphs(&c, page, ABOVE, own, parts[0].at);
    add_paragraphs(&c, page, BELOW, below, end);
    if (c.last == NO_PIECE) return;
    fputs(c.last == SENTENCES ? "}\n" : ".}\n", out);
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

/* Prints what stands above each of several tables in one, unless the caption has it. */
static void print_parts(FILE *out, const nb_page *page, int count, const nb_page_part *parts)
{
    for (int p = 0; p < count && !share_above(page, count, parts); p++)
        for (int i = parts[p].at - 1; is_paragraph(page, i); i--) {
            if (!is_above(page, i)) continue;
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
        s->above = w->block, s->block = w->at + 1, s->title = NULL, s->shared = NULL;
    else
        s->title = w->block;
    return write_comment(w);
}

static nb_status write_table(nb_page_walk *w)
{
    state *s = w->own;
    const nb_page *page = w->page;
    const char *shared = NULL;
    nb_page_part *parts;
    NB_NEED(parts, nb_alloc(page->ctx, (size_t)(page->count - w->at), sizeof *parts));
    int count = nb_page_find_parts(page, w->at, s->title, s->title != s->used, parts);
    if (count > 1) NB_TRY(page->ctx, nb_page_name_parts(count, parts, &shared, page->ctx));
    s->goes_on = shared && s->shared && strcmp(shared, s->shared) == 0;
    s->shared = shared;
    s->title = s->used = parts[count - 1].heading;
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
