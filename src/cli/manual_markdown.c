/* SPDX-License-Identifier: GPL-3.0-or-later */
/* manual_markdown.c - a document of docs/ as a page: its tree (libcmark-gfm), node by node. A table that fits the page
 * is a table; else each of its rows is a term, the first cell, with what it means. */
#include "cli/manual_page.h"

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm-extension_api.h>
#include <stdlib.h>
#include <string.h>

enum { FITS = 76, MOST_COLUMNS = 32 };

/* The words within a node, escaped. */
static void put_inline(nb_manual_page *p, FILE *out, cmark_node *node)
{
    for (cmark_node *n = cmark_node_first_child(node); n; n = cmark_node_next(n)) {
        cmark_node_type type = cmark_node_get_type(n);
        const char *around = !p->roff                    ? NULL
                             : type == CMARK_NODE_STRONG ? "\\fB"
                             : type == CMARK_NODE_EMPH   ? "\\fI"
                                                         : NULL;
        if (type == CMARK_NODE_TEXT || type == CMARK_NODE_CODE)
            nb_manual_escape(p, out, cmark_node_get_literal(n), type == CMARK_NODE_CODE);
        if (type == CMARK_NODE_SOFTBREAK || type == CMARK_NODE_LINEBREAK) fputc(' ', out);
        if (around) fputs(around, out);
        put_inline(p, out, n);
        if (around) fputs("\\fR", out);
    }
}

/* Returns a copy of them, the ctx's; "" after an error. `plain`: not escaped. */
static const char *inline_of(nb_manual_page *p, cmark_node *node, bool plain)
{
    nb_manual_page as_text = {.ctx = p->ctx};
    char *text = NULL, *copy;
    size_t size;
    FILE *memory = open_memstream(&text, &size);
    if (memory) put_inline(plain ? &as_text : p, memory, node);
    bool whole = memory && fclose(memory) == 0;
    copy = whole ? nb_strdup(p->ctx, text) : NULL;
    free(text);
    if (!copy && p->status == NB_OK) p->status = NB_ENOMEM;
    return copy ? copy : "";
}

static int columns_of(const char *text)
{
    int columns = 0;
    for (; *text; text++) columns += (*text & 0xc0) != 0x80;
    return columns;
}

static cmark_node *cell(cmark_node *row, int column)
{
    cmark_node *c = cmark_node_first_child(row);
    while (c && column-- > 0) c = cmark_node_next(c);
    return c;
}

/* The columns' widths, and whether they fit with two blanks between them. */
static bool fits(nb_manual_page *p, cmark_node *table, int columns, int widths[MOST_COLUMNS])
{
    int sum = 2 * (columns - 1);
    for (int c = 0; c < columns; c++) {
        widths[c] = 0;
        for (cmark_node *row = cmark_node_first_child(table); row; row = cmark_node_next(row)) {
            int wide = cell(row, c) ? columns_of(inline_of(p, cell(row, c), true)) : 0;
            if (wide > widths[c]) widths[c] = wide;
        }
        sum += widths[c];
    }
    return sum <= FITS;
}

static void put_aligned(nb_manual_page *p, cmark_node *table, int columns, const int *widths)
{
    const uint8_t *sides = cmark_gfm_extensions_get_table_alignments(table);
    char *text = NULL;
    size_t size;
    FILE *memory = open_memstream(&text, &size);
    for (cmark_node *row = cmark_node_first_child(table); memory && row; row = cmark_node_next(row)) {
        for (int c = 0; c < columns; c++) {
            const char *words = cell(row, c) ? inline_of(p, cell(row, c), true) : "";
            int gap = widths[c] - columns_of(words);
            bool right = sides && sides[c] == 'r';
            fprintf(memory, "%s%*s%s%*s", c ? "  " : "", right ? gap : 0, "", words,
                    right || c == columns - 1 ? 0 : gap, "");
        }
        fputc('\n', memory);
    }
    if (memory && fclose(memory) == 0)
        nb_manual_code(p, text);
    else
        p->status = NB_ENOMEM;
    free(text);
}

/* "may be: 1 to 8; default: 1; restarts of the algorithm": the last column is what the row is about. */
static const char *row_words(nb_manual_page *p, cmark_node *head, cmark_node *row, int columns)
{
    const char *words = "";
    for (int c = 1; c < columns; c++) {
        const char *text = cell(row, c) ? inline_of(p, cell(row, c), false) : "";
        bool last = c == columns - 1;
        if (!*text) continue;
        words =
            last ? nb_format(p->ctx, "%s%s%s", words, *words ? "; " : "", text)
                 : nb_format(p->ctx, "%s%s%s: %s", words, *words ? "; " : "", inline_of(p, cell(head, c), false), text);
        if (!words) {
            p->status = NB_ENOMEM;
            return "";
        }
    }
    return words;
}

static void put_table(nb_manual_page *p, cmark_node *table)
{
    int columns = cmark_gfm_extensions_get_table_columns(table), widths[MOST_COLUMNS];
    cmark_node *head = cmark_node_first_child(table);
    if (columns <= MOST_COLUMNS && fits(p, table, columns, widths)) {
        put_aligned(p, table, columns, widths);
        return;
    }
    for (cmark_node *row = cmark_node_next(head); row; row = cmark_node_next(row)) {
        const char *term = inline_of(p, cell(row, 0), false);
        if (!*term) term = inline_of(p, cell(head, 0), false);
        nb_manual_term(p, term, row_words(p, head, row, columns));
    }
}

static void put_blocks(nb_manual_page *p, cmark_node *parent);

static void put_list(nb_manual_page *p, cmark_node *list)
{
    int number = cmark_node_get_list_start(list);
    bool ordered = cmark_node_get_list_type(list) == CMARK_ORDERED_LIST;
    for (cmark_node *item = cmark_node_first_child(list); item; item = cmark_node_next(item)) {
        cmark_node *first = cmark_node_first_child(item);
        const char *mark = ordered ? nb_format(p->ctx, "%d. ", number++) : "* ";
        bool words = first && cmark_node_get_type(first) == CMARK_NODE_PARAGRAPH;
        if (!mark) p->status = NB_ENOMEM;
        if (p->status != NB_OK) return;
        nb_manual_point(p, p->roff && ordered ? nb_format(p->ctx, "%.*s", (int)strlen(mark) - 1, mark) : mark,
                        words ? inline_of(p, first, false) : "");
        if (words) cmark_node_unlink(first), cmark_node_free(first);
        if (!cmark_node_first_child(item)) continue;
        if (p->roff) fputs(".RS 4\n", p->out);
        p->depth++;
        p->at_start = true;
        put_blocks(p, item);
        p->depth--;
        p->at_start = false;
        if (p->roff) fputs(".RE\n", p->out);
    }
}

/* Code as who has installed the program types it: without the "./" of a checkout. */
static void put_code(nb_manual_page *p, const char *code)
{
    static const char call[] = "./nysbench ";
    char *text = nb_strdup(p->ctx, code), *to = text;
    if (!text) {
        p->status = NB_ENOMEM;
        return;
    }
    for (const char *from = text; *from; *to++ = *from++)
        if (strncmp(from, call, strlen(call)) == 0) from += strlen("./");
    *to = '\0';
    nb_manual_code(p, text);
}

static void put_blocks(nb_manual_page *p, cmark_node *parent)
{
    for (cmark_node *n = cmark_node_first_child(parent); n && p->status == NB_OK; n = cmark_node_next(n)) {
        cmark_node_type type = cmark_node_get_type(n);
        if (type == CMARK_NODE_HEADING && cmark_node_get_heading_level(n) > 1)
            nb_manual_heading(p, cmark_node_get_heading_level(n) - 1, inline_of(p, n, true));
        else if (type == CMARK_NODE_PARAGRAPH) {
            nb_manual_break(p);
            nb_manual_fill(p, "", p->roff ? 0 : 4 * (1 + p->depth), inline_of(p, n, false));
        } else if (type == CMARK_NODE_CODE_BLOCK)
            put_code(p, cmark_node_get_literal(n));
        else if (type == CMARK_NODE_LIST)
            put_list(p, n);
        else if (type == CMARK_NODE_BLOCK_QUOTE)
            put_blocks(p, n);
        else if (strcmp(cmark_node_get_type_string(n), "table") == 0)
            put_table(p, n);
    }
}

void nb_manual_markdown(nb_manual_page *p, const char *markdown)
{
    cmark_gfm_core_extensions_ensure_registered();
    cmark_parser *parser = cmark_parser_new(CMARK_OPT_DEFAULT);
    cmark_parser_attach_syntax_extension(parser, cmark_find_syntax_extension("table"));
    cmark_parser_feed(parser, markdown, strlen(markdown));
    cmark_node *document = cmark_parser_finish(parser);
    put_blocks(p, document);
    cmark_node_free(document);
    cmark_parser_free(parser);
}
