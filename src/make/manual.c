/* SPDX-License-Identifier: GPL-3.0-or-later */
/* manual.c - writes the manual when the program is built: FOLDER/manual/TOPIC.txt, which `nysbench help TOPIC` shows
 * (src/commands/manual.c says how it is laid out), and the pages for man(1) into FOLDER/man/man1, man5 and man7, with
 * the date that SOURCE_DATE_EPOCH of the environment says, or today's. A page is made in two steps:
 *
 * 1. its Markdown is put together from the tables of options and the documents;
 * 2. libcmark-gfm reads that as a tree, which is printed as text for a terminal or as roff for man(1). The heading of
 *    level 1 is left out, and one of level 2 is a section. Each row of a table is a term, the first cell, with its
 *    meaning, as a code followed by a block quote is; code is as who has installed the program types it. */
#include "commands/command.h"

#include "base/files.h"
#include "base/numbers.h"
#include "base/text.h"
#include "base/version.h"

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm-extension_api.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char COMMANDS[] = "commands.md"; /* the document with what the tables do not say */

enum { INDENT = 4, ROFF_WIDTH = 78 };

/* Adds an empty node to the end of its parent. */
static cmark_node *add_node(cmark_node *parent, cmark_node_type type)
{
    cmark_node *node = cmark_node_new(type);
    cmark_node_append_child(parent, node);
    return node;
}

static void add_literal(cmark_node *parent, cmark_node_type type, const char *text)
{
    cmark_node_set_literal(add_node(parent, type), text);
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
    move_children(cmark_node_first_child(cell) ? cell : name, add_node(page, CMARK_NODE_PARAGRAPH));
    words = add_node(add_node(page, CMARK_NODE_BLOCK_QUOTE), CMARK_NODE_PARAGRAPH);
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

/* Code is without the "./" of a checkout, and without tabs, which mark words. */
static void take_block(cmark_node *page, cmark_node *block, nb_ctx *ctx)
{
    cmark_node_type type = cmark_node_get_type(block);
    int level = type == CMARK_NODE_HEADING ? cmark_node_get_heading_level(block) : 0;
    if (type == CMARK_NODE_CODE_BLOCK) {
        const char *code = nb_replaced(ctx, cmark_node_get_literal(block), "./nysbench ", "nysbench ");
        if (code) code = nb_replaced(ctx, code, "\t", "    ");
        if (!code) abort(); /* as libcmark-gfm does */
        cmark_node_set_literal(block, code);
    }
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
static cmark_node *make_page(const char *markdown, nb_ctx *ctx)
{
    cmark_node *page = cmark_node_new(CMARK_NODE_DOCUMENT);
    cmark_gfm_core_extensions_ensure_registered();
    cmark_parser *parser = cmark_parser_new(CMARK_OPT_DEFAULT);
    cmark_parser_attach_syntax_extension(parser, cmark_find_syntax_extension("table"));
    cmark_parser_feed(parser, markdown, strlen(markdown));
    cmark_node *document = cmark_parser_finish(parser);
    drop_links(document);
    for (cmark_node *block; (block = cmark_node_first_child(document));) take_block(page, block, ctx);
    cmark_node_free(document);
    cmark_parser_free(parser);
    return page;
}

/* Puts a tab before the words of each heading and paragraph that has some. */
static void mark_words(cmark_node *page)
{
    cmark_iter *all = cmark_iter_new(page);
    for (cmark_event_type event; (event = cmark_iter_next(all)) != CMARK_EVENT_DONE;) {
        cmark_node *node = cmark_iter_get_node(all);
        cmark_node_type type = cmark_node_get_type(node);
        if (event != CMARK_EVENT_ENTER || (type != CMARK_NODE_PARAGRAPH && type != CMARK_NODE_HEADING)) continue;
        if (!cmark_node_first_child(node)) continue;
        cmark_node *tab = cmark_node_new(CMARK_NODE_TEXT);
        cmark_node_set_literal(tab, "\t");
        cmark_node_prepend_child(node, tab);
    }
    cmark_iter_free(all);
}

/* One block in lines, each so far from the margin. */
static void print_block(cmark_node *block, int indent, FILE *out)
{
    char *text = cmark_render_plaintext(block, CMARK_OPT_NOBREAKS, 0);
    for (const char *line = text; *line;) {
        size_t bytes = strcspn(line, "\n");
        fprintf(out, "%*s%.*s\n", bytes ? indent : 0, "", (int)bytes, line);
        line += bytes + (line[bytes] == '\n');
    }
    free(text);
}

static void print_blocks(cmark_node *page, FILE *out)
{
    cmark_node_type before = CMARK_NODE_NONE;
    for (cmark_node *block = cmark_node_first_child(page); block; block = cmark_node_next(block)) {
        cmark_node_type type = cmark_node_get_type(block);
        bool top = type == CMARK_NODE_HEADING, meaning = type == CMARK_NODE_BLOCK_QUOTE;
        bool deeper = meaning || type == CMARK_NODE_CODE_BLOCK;
        if (before != CMARK_NODE_NONE && before != CMARK_NODE_HEADING && !meaning) fputc('\n', out);
        print_block(block, !top ? deeper ? 2 * INDENT : INDENT : cmark_node_get_heading_level(block) > 1 ? 2 : 0, out);
        before = type;
    }
}

static bool starts(const char *text, const char *with)
{
    return text && strncmp(text, with, strlen(with)) == 0;
}

/* Code is in bold: mandoc does not know the font that libcmark-gfm names. */
static nb_status print_roff(const char *markdown, const char *name, int section, const char *date, FILE *out,
                            nb_ctx *ctx)
{
    const char *before = NULL, *two_before = NULL;
    bool code = false;
    char *title;
    NB_NEED(title, nb_strdup(ctx, name));
    for (char *c = title; *c; c++) *c = (char)toupper((unsigned char)*c);
    fprintf(out, ".\\\" made by src/make/manual.c: do not edit\n.TH %s %d %s \"nysbench %s\" \"nysbench manual\"\n",
            title, section, date, NB_VERSION);
    cmark_node *page = make_page(markdown, ctx);
    char *rendered = cmark_render_man(page, CMARK_OPT_DEFAULT, ROFF_WIDTH);
    const char *text = nb_replaced(ctx, rendered, "\\f[C]", "\\fB");
    free(rendered);
    cmark_node_free(page);
    NB_NEED(text, text ? nb_replaced(ctx, text, "\\f[]", "\\fR") : NULL);
    for (const char *line = text, *next; *line; line = next) {
        next = line + strcspn(line, "\n");
        next += *next == '\n';
        bool first = starts(before, ".RS") || starts(two_before, ".SH") || starts(two_before, ".SS");
        code = starts(line, ".nf\n") || (code && !starts(line, ".fi\n"));
        if (!(first && starts(line, ".PP\n")) && (*line != '\n' || code))
            fprintf(out, "%.*s\n", (int)strcspn(line, "\n"), line);
        two_before = before;
        before = line;
    }
    return NB_OK;
}

/* The section of the document under "## HEADING", up to the next one; "" if there is none. */
static nb_status read_section(const char *document, const char *heading, const char **section, nb_ctx *ctx)
{
    const char *path, *text, *line;
    NB_TRY(ctx, nb_shared_file("docs", document, &path, ctx));
    NB_TRY(ctx, nb_read_file(path, &text, ctx));
    NB_NEED(line, nb_format(ctx, "\n## %s\n", heading));
    const char *found = strstr(text, line);
    *section = "";
    if (!found) return NB_OK;
    found += strlen(line);
    const char *end = strstr(found, "\n## ");
    NB_NEED(*section, nb_format(ctx, "%.*s", (int)(end ? end - found : (long)strlen(found)), found));
    return NB_OK;
}

static nb_status print_section(FILE *out, const char *title, const char *heading, nb_ctx *ctx)
{
    const char *text;
    NB_TRY(ctx, read_section(COMMANDS, heading, &text, ctx));
    NB_REQUIRE(ctx, *text, NB_EINVAL, "docs/%s: has no section '%s'", COMMANDS, heading);
    fprintf(out, "## %s\n%s\n", title, text);
    return NB_OK;
}

/* Plain text, in which nothing is markup. */
static void print_plain(FILE *out, const char *text)
{
    for (; *text; text++) fprintf(out, strchr("\\`*_[]<>&#|", *text) ? "\\%c" : "%c", *text);
    fputs("\n\n", out);
}

static void print_item(FILE *out, const char *term, const char *meaning)
{
    fprintf(out, "`%s`\n\n> ", term);
    print_plain(out, meaning);
}

/* "-o, --out DIR", and what each is. */
static nb_status print_options(FILE *out, const nb_command *c, nb_ctx *ctx)
{
    const struct poptOption *options;
    NB_TRY(ctx, nb_command_options(c, &options, ctx));
    fputs("## OPTIONS\n\n", out);
    for (const struct poptOption *o = options; o->longName; o++) {
        char *names, brief[8] = "";
        if (o->shortName) snprintf(brief, sizeof brief, "-%c, ", o->shortName);
        NB_NEED(names, nb_format(ctx, "%s--%s%s%s", brief, o->longName, o->argDescrip ? " " : "",
                                 o->argDescrip ? o->argDescrip : ""));
        print_item(out, names, o->descrip);
    }
    return NB_OK;
}

/* "run what is missing": the summary's first sentence within another one. */
static nb_status print_name(FILE *out, const char *name, const char *summary, nb_ctx *ctx)
{
    char *clause;
    NB_NEED(clause, nb_format(ctx, "%.*s", (int)strcspn(summary, ".\n"), summary));
    if (islower((unsigned char)clause[1])) clause[0] = (char)tolower((unsigned char)clause[0]);
    fprintf(out, "## NAME\n\n%s - ", name);
    print_plain(out, clause);
    return NB_OK;
}

/* The examples are what follows the first line of code. */
static nb_status print_command(FILE *out, const nb_command *c, const char *name, nb_ctx *ctx)
{
    const char *text;
    NB_TRY(ctx, read_section(COMMANDS, c->name, &text, ctx));
    const char *code = strstr(text, "\n    ");
    NB_TRY(ctx, print_name(out, name, c->summary, ctx));
    fprintf(out, "## SYNOPSIS\n\nnysbench %s \\[OPTION]... ", c->name);
    print_plain(out, c->arguments);
    fprintf(out, "## DESCRIPTION\n\n%s.\n\n%.*s\n\n", c->summary, code ? (int)(code - text) : (int)strlen(text), text);
    NB_TRY(ctx, print_options(out, c, ctx));
    if (code) fprintf(out, "## EXAMPLES\n%s\n", code);
    return print_section(out, "EXIT STATUS", "Exit status", ctx);
}

static nb_status print_program(FILE *out, const char *summary, nb_ctx *ctx)
{
    NB_TRY(ctx, print_name(out, "nysbench", summary, ctx));
    fputs("## SYNOPSIS\n\nnysbench COMMAND \\[OPTION]... \\[ARGUMENT]...\n\n"
          "## DESCRIPTION\n\nEach command has options of its own: 'nysbench COMMAND --help' lists them, and 'nysbench "
          "help COMMAND' explains the command.\n\n"
          "## COMMANDS\n\n",
          out);
    for (const nb_command *c = nb_command_next(NULL); c; c = nb_command_next(c)) {
        const char *call, *clause;
        NB_NEED(call, nb_format(ctx, "%s%s%s", c->name, *c->arguments ? " " : "", c->arguments));
        NB_NEED(clause, nb_format(ctx, "%.*s", (int)strcspn(c->summary, ".\n"), c->summary));
        print_item(out, call, clause);
    }
    NB_TRY(ctx, print_section(out, "ENVIRONMENT", "Environment", ctx));
    NB_TRY(ctx, print_section(out, "FILES", "Files", ctx));
    return print_section(out, "EXIT STATUS", "Exit status", ctx);
}

static nb_status print_document(FILE *out, const nb_topic *t, const char *name, nb_ctx *ctx)
{
    const char *text;
    NB_TRY(ctx, nb_read_file(t->path, &text, ctx));
    NB_TRY(ctx, print_name(out, name, t->summary, ctx));
    fprintf(out, "## DESCRIPTION\n\n%s\n", text);
    return NB_OK;
}

/* The page as Markdown. */
static nb_status print_topic(FILE *out, const void *what, nb_ctx *ctx)
{
    const nb_topic *t = what;
    const char *name;
    if (!t->command && !t->path) return print_program(out, t->summary, ctx);
    NB_NEED(name, nb_format(ctx, "nysbench-%.*s", (int)strcspn(t->name, "."), t->name));
    return t->command ? print_command(out, t->command, name, ctx) : print_document(out, t, name, ctx);
}

static nb_status print_text(FILE *out, const void *topic, nb_ctx *ctx)
{
    const char *markdown;
    NB_TRY(ctx, nb_print_text(print_topic, topic, &markdown, ctx));
    cmark_node *page = make_page(markdown, ctx);
    mark_words(page);
    print_blocks(page, out);
    cmark_node_free(page);
    return NB_OK;
}

typedef struct {
    const nb_topic *topic;
    const char *name, *date;
    int section;
} man_page;

static nb_status print_man(FILE *out, const void *what, nb_ctx *ctx)
{
    const man_page *m = what;
    const char *markdown;
    NB_TRY(ctx, nb_print_text(print_topic, m->topic, &markdown, ctx));
    NB_NEED(markdown, nb_format(ctx,
                                "%s\n## SEE ALSO\n\n%s, nysbench-config(5), nysbench-columns(7), "
                                "nysbench-components(7)\n",
                                markdown, strcmp(m->name, "nysbench") == 0 ? "nysbench-run(1)" : "nysbench(1)"));
    return print_roff(markdown, m->name, m->section, m->date, out, ctx);
}

static nb_status find_date(const char **date, nb_ctx *ctx)
{
    static const long long END = 253402300799; /* of the year 9999 */
    const char *said = getenv("SOURCE_DATE_EPOCH");
    long long seconds = time(NULL);
    char text[16];
    struct tm utc;
    NB_REQUIRE(ctx, !said || nb_parse_integer(said, 0, END, &seconds), NB_EINVAL,
               "SOURCE_DATE_EPOCH is '%s': expected seconds since 1970", said);
    strftime(text, sizeof text, "%Y-%m-%d", gmtime_r(&(time_t){seconds}, &utc));
    NB_NEED(*date, nb_strdup(ctx, text));
    return NB_OK;
}

/* Returns the section of the manual that the topic's page for man(1) is in; 0: it has none. */
static int section_of(const nb_topic *t)
{
    static const char *const documents[] = {"config", "columns", "components", NULL};
    static const int sections[] = {5, 7, 7};
    int document = nb_text_index(t->name, documents);
    return !t->path ? 1 : document < 0 ? 0 : sections[document];
}

static nb_status write_man(const char *folder, const nb_topic *topic, const char *date, nb_ctx *ctx)
{
    man_page m = {.topic = topic, .name = "nysbench", .date = date, .section = section_of(topic)};
    const char *place, *path;
    if (m.section == 0) return NB_OK;
    if (topic->command || topic->path) NB_NEED(m.name, nb_format(ctx, "nysbench-%s", topic->name));
    NB_NEED(place, nb_format(ctx, "%s/man/man%d", folder, m.section));
    NB_NEED(path, nb_format(ctx, "%s/%s.%d", place, m.name, m.section));
    NB_TRY(ctx, nb_make_folder(place, ctx));
    return nb_write_file(path, print_man, &m, ctx);
}

static nb_status write_manual(const char *folder, nb_ctx *ctx)
{
    nb_topic *topics;
    int count;
    const char *date, *place, *path;
    NB_TRY(ctx, nb_manual_topics(&topics, &count, ctx));
    NB_TRY(ctx, find_date(&date, ctx));
    NB_NEED(place, nb_format(ctx, "%s/manual", folder));
    NB_TRY(ctx, nb_make_folder(place, ctx));
    for (int i = 0; i < count; i++) {
        NB_NEED(path, nb_format(ctx, "%s/%s.txt", place, topics[i].name));
        NB_TRY(ctx, nb_write_file(path, print_text, &topics[i], ctx));
        NB_TRY(ctx, write_man(folder, &topics[i], date, ctx));
    }
    return NB_OK;
}

int main(int argc, char **argv)
{
    nb_ctx *ctx = nb_ctx_new();
    if (!ctx || argc != 2) {
        fputs(ctx ? "usage: make_manual FOLDER\n" : "make_manual: out of memory\n", stderr);
        return NB_EXIT_USAGE;
    }
    nb_status status = write_manual(argv[1], ctx);
    if (status != NB_OK) nb_print_failure(ctx);
    nb_ctx_free(ctx);
    return status == NB_OK ? NB_EXIT_OK : NB_EXIT_FAILED;
}
