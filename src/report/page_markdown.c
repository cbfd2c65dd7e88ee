/* SPDX-License-Identifier: GPL-3.0-or-later */
/* page_markdown.c - a page as GitHub Flavored Markdown (https://github.github.com/gfm/). */
#include "report/page_record.h"

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

/* Prints a text between fences that are longer than any in it. */
static void print_verbatim(FILE *out, const char *text)
{
    size_t fence = 3;
    for (const char *at = text; (at = strchr(at, '`'));) {
        size_t ticks = strspn(at, "`");
        fence = ticks >= fence ? ticks + 1 : fence;
        at += ticks;
    }
    for (int end = 0; end < 2; end++) {
        for (size_t i = 0; i < fence; i++) fputc('`', out);
        fputc('\n', out);
        if (end) return;
        fputs(text, out);
        if (*text && text[strlen(text) - 1] != '\n') fputc('\n', out);
    }
}

static void print_cell(FILE *out, const char *text, const char *mark)
{
    fputc(' ', out);
    print_escaped(out, text, true);
    print_escaped(out, mark, true);
    fputs(" |", out);
}

static void print_table(FILE *out, const nb_page_sheet *t)
{
    fputc('|', out);
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a block that is a table has one */
    if (t->band_head) print_cell(out, t->band_head, "");
    for (int c = 0; c < t->column_count; c++) print_cell(out, t->columns[c].text, "");
    fputs(t->band_head ? "\n|---|" : "\n|", out);
    for (int c = 0; c < t->column_count; c++) fputs(t->columns[c].kind & NB_PAGE_NUMBER ? "---:|" : "---|", out);
    fputc('\n', out);
    for (int r = 0; r < t->row_count; r++) {
        fputc('|', out);
        if (t->band_head) print_cell(out, t->rows[r].band ? t->rows[r].band : "", "");
        for (int c = 0; c < t->column_count; c++) {
            nb_page_entry cell = nb_page_cell_at(t, r, c);
            print_cell(out, cell.text, cell.mark);
        }
        fputc('\n', out);
    }
}

static void print_block(FILE *out, const nb_page_block *b)
{
    switch (b->kind) {
    case NB_HEADING:
        for (int i = 0; i < b->level && i < 6; i++) fputc('#', out);
        fputc(' ', out);
        print_escaped(out, b->text, false);
        fputc('\n', out);
        break;
    case NB_PARAGRAPH: print_line(out, b->text); break;
    case NB_ITEM: /* which has no mark */
    case NB_NOTE:
        fputs(*b->mark ? "* **" : "* ", out);
        print_escaped(out, b->mark, false);
        fputs(*b->mark ? "** " : "", out);
        print_line(out, b->text);
        break;
    case NB_PICTURE:
        fputs("![", out);
        print_escaped(out, b->text, false);
        fprintf(out, "](%s)\n", b->mark);
        break;
    case NB_VERBATIM: print_verbatim(out, b->text); break;
    case NB_TABLE: print_table(out, b->table); break;
    case NB_BLOCK_KINDS: break;
    }
}

static bool is_item(const nb_page_block *b)
{
    return b->kind == NB_ITEM || b->kind == NB_NOTE;
}

nb_status nb_page_print_markdown(FILE *out, const nb_page *page)
{
    const nb_page_block *before = NULL;
    for (int i = 0; i < page->count; i++) {
        const nb_page_block *b = &page->blocks[i];
        if (b->table && b->table->row_count == 0) continue;
        if (before && !(is_item(before) && is_item(b))) fputc('\n', out);
        print_block(out, b);
        before = b;
    }
    return NB_OK;
}
