/* SPDX-License-Identifier: GPL-3.0-or-later */
/* write_markdown.c - a page as GitHub Flavored Markdown (https://github.github.com/gfm/). */
#include "show/page_record.h"

#include <ctype.h>
#include <string.h>

/* Returns whether a character begins something there. Within a word an underscore does not, nor does a bracket without
 * a link behind it. */
static bool has_meaning(const char *at, char before, bool cell)
{
    switch (*at) {
    case '_': return !isalnum((unsigned char)before) || !isalnum((unsigned char)at[1]);
    case ']': return at[1] == '(';
    case '&': return isalnum((unsigned char)at[1]) || at[1] == '#';
    case '|': return cell;
    default: return strchr("\\`*~<$", *at) != NULL;
    }
}

/* Any ASCII punctuation may have a backslash before it (GFM, 2.4). */
static void print_escaped(FILE *out, const char *text, bool cell)
{
    for (char before = ' '; *text; before = *text++) {
        if (has_meaning(text, before, cell)) fputc('\\', out);
        fputc(*text, out);
    }
}

/* Escapes what would begin something else at the start of a line: "#", "-", "+", "=", ">", "[" and "1.". */
static void print_line(FILE *out, const char *text)
{
    text += strspn(text, " ");
    size_t digits = strspn(text, "0123456789");
    if (digits > 0 && text[digits] && strchr(".)", text[digits])) {
        fprintf(out, "%.*s\\", (int)digits, text);
        text += digits;
    } else if (*text && strchr("#-+=>[", *text))
        fputc('\\', out);
    print_escaped(out, text, false);
    fputc('\n', out);
}

static nb_status write_heading(nb_page_walk *w)
{
    for (int i = 0; i < w->block->level && i < 6; i++) fputc('#', w->out);
    fputc(' ', w->out);
    print_escaped(w->out, w->block->text, false);
    fputc('\n', w->out);
    return NB_OK;
}

static nb_status write_paragraph(nb_page_walk *w)
{
    print_line(w->out, w->block->text);
    return NB_OK;
}

/* Of items too, which have no mark. */
static nb_status write_note(nb_page_walk *w)
{
    const char *mark = w->block->mark;
    fputs(*mark ? "* **" : "* ", w->out);
    print_escaped(w->out, mark, false);
    fputs(*mark ? "** " : "", w->out);
    print_line(w->out, w->block->text);
    return NB_OK;
}

static nb_status write_picture(nb_page_walk *w)
{
    fputs("![", w->out);
    print_escaped(w->out, w->block->text, false);
    fprintf(w->out, "](%s)\n", w->block->mark);
    return NB_OK;
}

static void print_fence(FILE *out, size_t length)
{
    for (size_t i = 0; i < length; i++) fputc('`', out);
    fputc('\n', out);
}

/* Writes a text between fences that are longer than any in it. */
static nb_status write_verbatim(nb_page_walk *w)
{
    const char *text = w->block->text;
    size_t fence = 3;
    for (const char *at = text; (at = strchr(at, '`'));) {
        size_t ticks = strspn(at, "`");
        fence = ticks >= fence ? ticks + 1 : fence;
        at += ticks;
    }
    print_fence(w->out, fence);
    fputs(text, w->out);
    if (*text && text[strlen(text) - 1] != '\n') fputc('\n', w->out);
    print_fence(w->out, fence);
    return NB_OK;
}

static void print_row(FILE *out, const nb_page_sheet *t, int row)
{
    fputc('|', out);
    for (int c = nb_page_first_column(t); c < t->column_count; c++) {
        nb_page_entry cell = nb_page_cell_at(t, row, c);
        fputc(' ', out);
        print_escaped(out, cell.text, true);
        print_escaped(out, cell.mark, true);
        fputs(" |", out);
    }
    fputc('\n', out);
}

static nb_status write_table(nb_page_walk *w)
{
    const nb_page_sheet *t = w->block->table;
    print_row(w->out, t, NB_PAGE_HEADS);
    fputc('|', w->out);
    for (int c = nb_page_first_column(t); c < t->column_count; c++)
        fputs(nb_page_is_number(t, c) ? "---:|" : "---|", w->out);
    fputc('\n', w->out);
    for (int r = 0; r < t->row_count; r++) print_row(w->out, t, r);
    return NB_OK;
}

/* Items of one list have no empty line between them. */
static void write_between(nb_page_walk *w)
{
    if (w->block && w->before && !(nb_page_is_item(w->before) && nb_page_is_item(w->block))) fputc('\n', w->out);
}

const nb_page_writer nb_page_markdown_writer = {.between = write_between,
                                                .block = {[NB_HEADING] = write_heading,
                                                          [NB_PARAGRAPH] = write_paragraph,
                                                          [NB_ITEM] = write_note,
                                                          [NB_NOTE] = write_note,
                                                          [NB_PICTURE] = write_picture,
                                                          [NB_VERBATIM] = write_verbatim,
                                                          [NB_TABLE] = write_table}};
