/* SPDX-License-Identifier: GPL-3.0-or-later */
/* help.c - nysbench help [TOPIC] */

#include "commands/command.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { COLUMNS = 80, MOST = 100, LEAST = 40 }; /* of a line: where the terminal does not say; at most, and at least */

static int line_width(void)
{
    int columns = nb_terminal_columns(STDOUT_FILENO);
    return columns == 0 ? COLUMNS : columns < LEAST ? LEAST : columns > MOST ? MOST : columns;
}

static void print_topics(const nb_topic *topics, int count)
{
    fputs("Topics of 'nysbench help TOPIC':\n\n", stdout);
    for (int i = 0; i < count; i++)
        printf("  %-16s %.*s\n", topics[i].name, (int)strcspn(topics[i].summary, ".\n"), topics[i].summary);
}

static nb_status unknown(const char *name, const nb_topic *topics, int count, nb_ctx *ctx)
{
    const char **names, *hint;
    NB_NEED(names, nb_alloc(ctx, (size_t)count + 1, sizeof *names));
    for (int i = 0; i < count; i++) names[i] = topics[i].name;
    NB_NEED(hint, nb_hint(name, names, ctx));
    NB_FAIL(ctx, NB_EINVAL, "help: no topic '%s'%s", name, hint);
}

static nb_status run(nb_command_line *line, nb_ctx *ctx)
{
    nb_topic *topics;
    int count;
    const struct poptOption options[] = {POPT_TABLEEND};
    NB_TRY(ctx, nb_parse_command(line, options, 0, ctx));
    line->stage = NB_ASKS;
    const char *name = line->arguments[0];
    NB_TRY(ctx, nb_manual_topics(&topics, &count, ctx));
    const nb_topic *topic = name ? nb_manual_find(topics, count, name) : NULL;
    if (name && !topic) return unknown(name, topics, count, ctx);
    if (topic) return nb_manual_print(topic, line_width(), stdout, ctx);
    print_topics(topics, count);
    return NB_OK;
}

NB_COMMAND(help, "[TOPIC]", "Show a page of the manual; without TOPIC, list them", false, NB_MORE + 30);
