/* SPDX-License-Identifier: GPL-3.0-or-later */
/* manual_page.c - see manual_page.h. A term is a paragraph, and its meaning a block quote below it. */
#include "commands/manual_page.h"

#include "base/version.h"

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm-extension_api.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { INDENT = 4, ROFF_WIDTH = 78 };

/* Adds an empty node to the end of its parent. */
static cmark_node *add(cmark_node *parent, cmark_node_type type)
{
    cmark_node *node = cmark_node_new(type);
    cmark_node_append_child(parent, node);
    return node;
}

static void add_literal(cmark_node *parent, cmark_node_type type, const char *text)
{
    cmark_node_set_literal(add(parent, type), text);
}

/* Copies the texts of a node, which are within its block's until they are asked for. */
static void own_texts(cmark_node *node)
{
    cmark_node_get_literal(node);
    for (cmark_node *child = cmark_node_first_child(node); child; child = cmark_node_next(child)) own_texts(child);
}

static void move_children(cmark_node *from, cmark_node *to)
{
    own_texts(from);
    for (cmark_node *child; (child = cmark_node_first_child(from));) cmark_node_append_child(to, child);
}

/* "may be: 1 to 8; default: 1; restarts of the algorithm": the last column is what the row is about. */
static void add_row(cmark_node *page, cmark_node *head, cmark_node *row)
{
    cmark_node *name = cmark_node_first_child(head), *cell = cmark_node_first_child(row), *words;
    move_children(cmark_node_first_child(cell) ? cell : name, add(page, CMARK_NODE_PARAGRAPH));
    words = add(add(page, CMARK_NODE_BLOCK_QUOTE), CMARK_NODE_PARAGRAPH);
    while ((cell = cmark_node_next(cell)) && (name = cmark_node_next(name))) {
        if (!cmark_node_first_child(cell)) continue;
        if (cmark_node_first_child(words)) add_literal(words, CMARK_NODE_TEXT, "; ");
        if (cmark_node_next(cell)) {
            add_literal(words, CMARK_NODE_TEXT, cmark_node_get_literal(cmark_node_first_child(name)));
            add_literal(words, CMARK_NODE_TEXT, ": ");
        }
        move_children(cell, words);
    }
}

static void add_table(cmark_node *page, cmark_node *table)
{
    cmark_node *head = cmark_node_first_child(table);
    for (cmark_node *row = cmark_node_next(head); row; row = cmark_node_next(row)) add_row(page, head, row);
    cmark_node_free(table);
}

/* Without the "./" of a checkout. */
static void install_code(cmark_node *code)
{
    static const char call[] = "./nysbench ";
    char *text = strdup(cmark_node_get_literal(code)), *to = text;
    if (!text) abort(); /* as libcmark-gfm does */
    for (const char *from = text; *from; *to++ = *from++)
        if (strncmp(from, call, strlen(call)) == 0) from += strlen("./");
    *to = '\0';
    cmark_node_set_literal(code, text);
    free(text);
}

static void take_block(cmark_node *page, cmark_node *block)
{
    cmark_node_type type = cmark_node_get_type(block);
    int level = type == CMARK_NODE_HEADING ? cmark_node_get_heading_level(block) : 0;
    if (type == CMARK_NODE_CODE_BLOCK) install_code(block);
    if (level > 1) cmark_node_set_heading_level(block, level - 1);
    cmark_node_unlink(block);
    if (level == 1)
        cmark_node_free(block);
    else if (strcmp(cmark_node_get_type_string(block), "table") == 0)
        add_table(page, block);
    else
        cmark_node_append_child(page, block);
}

/* Leaves the words of links to other pages, whose files a reader of the manual does not have. */
static void drop_links(cmark_node *document)
{
    cmark_iter *all = cmark_iter_new(document);
    for (cmark_event_type event; (event = cmark_iter_next(all)) != CMARK_EVENT_DONE;) {
        cmark_node *link = cmark_iter_get_node(all);
        if (event != CMARK_EVENT_EXIT || cmark_node_get_type(link) != CMARK_NODE_LINK) continue;
        if (strstr(cmark_node_get_url(link), "://")) continue;
        for (cmark_node *word; (word = cmark_node_first_child(link));) cmark_node_insert_before(link, word);
        cmark_node_free(link);
    }
    cmark_iter_free(all);
}

/* The page as a tree, which the caller frees. */
static cmark_node *make_page(const char *markdown)
{
    cmark_node *page = cmark_node_new(CMARK_NODE_DOCUMENT);
    cmark_gfm_core_extensions_ensure_registered();
    cmark_parser *parser = cmark_parser_new(CMARK_OPT_DEFAULT);
    cmark_parser_attach_syntax_extension(parser, cmark_find_syntax_extension("table"));
    cmark_parser_feed(parser, markdown, strlen(markdown));
    cmark_node *document = cmark_parser_finish(parser);
    drop_links(document);
    for (cmark_node *block; (block = cmark_node_first_child(document));) take_block(page, block);
    cmark_node_free(document);
    cmark_parser_free(parser);
    return page;
}

/* One block in lines, each so far from the margin. */
static void print_block(cmark_node *block, int indent, int width, FILE *out)
{
    char *text = cmark_render_plaintext(block, CMARK_OPT_DEFAULT, width - indent);
    for (const char *line = text; *line;) {
        size_t bytes = strcspn(line, "\n");
        fprintf(out, "%*s%.*s\n", bytes ? indent : 0, "", (int)bytes, line);
        line += bytes + (line[bytes] == '\n');
    }
    free(text);
}

void nb_manual_print_text(const char *markdown, int width, FILE *out)
{
    cmark_node *page = make_page(markdown);
    cmark_node_type before = CMARK_NODE_NONE;
    for (cmark_node *block = cmark_node_first_child(page); block; block = cmark_node_next(block)) {
        cmark_node_type type = cmark_node_get_type(block);
        bool top = type == CMARK_NODE_HEADING, meaning = type == CMARK_NODE_BLOCK_QUOTE;
        bool deeper = meaning || type == CMARK_NODE_CODE_BLOCK;
        if (before != CMARK_NODE_NONE && before != CMARK_NODE_HEADING && !meaning) fputc('\n', out);
        print_block(block,
                    !top                                      ? deeper ? 2 * INDENT : INDENT
                    : cmark_node_get_heading_level(block) > 1 ? 2
                                                              : 0,
                    width, out);
        before = type;
    }
    cmark_node_free(page);
}

static bool starts(const char *text, const char *with)
{
    return text && strncmp(text, with, strlen(with)) == 0;
}

/* A line of roff, its code in bold: mandoc does not know the font that libcmark-gfm names. */
static void print_roff_line(const char *line, FILE *out)
{
    static const char code[] = "\\f[C]", end[] = "\\f[]";
    while (*line && *line != '\n') {
        bool begins = starts(line, code), ends = starts(line, end);
        if (begins || ends)
            fputs(begins ? "\\fB" : "\\fR", out);
        else
            fputc(*line, out);
        line += begins ? strlen(code) : ends ? strlen(end) : 1;
    }
    fputc('\n', out);
}

nb_status nb_manual_print_roff(const char *markdown, const char *name, int section, const char *date, FILE *out,
                               nb_ctx *ctx)
{
    const char *before = NULL, *two_before = NULL;
    bool code = false;
    char *title;
    NB_NEED(title, nb_strdup(ctx, name));
    for (char *c = title; *c; c++) *c = (char)toupper((unsigned char)*c);
    fprintf(
        out,
        ".\\\" made by 'nysbench help --man-pages': do not edit\n.TH %s %d %s \"nysbench %s\" \"nysbench manual\"\n",
        title, section, date, NB_VERSION);
    cmark_node *page = make_page(markdown);
    char *text = cmark_render_man(page, CMARK_OPT_DEFAULT, ROFF_WIDTH);
    for (const char *line = text, *next; *line; line = next) {
        next = line + strcspn(line, "\n");
        next += *next == '\n';
        bool first = starts(before, ".RS") || starts(two_before, ".SH") || starts(two_before, ".SS");
        code = starts(line, ".nf\n") || (code && !starts(line, ".fi\n"));
        if (!(first && starts(line, ".PP\n")) && (*line != '\n' || code)) print_roff_line(line, out);
        two_before = before;
        before = line;
    }
    free(text);
    cmark_node_free(page);
    return NB_OK;
}
