/* SPDX-License-Identifier: GPL-3.0-or-later */
/* help.c - nysbench help [TOPIC] */

#include "commands/command.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COLUMNS = 80, MOST = 100, LEAST = 40 }; /* of a line: where the terminal does not say; at most, and at least */

static int line_width(void)
{
    int columns = nb_terminal_columns(STDOUT_FILENO);
    return columns == 0 ? COLUMNS : columns < LEAST ? LEAST : columns > MOST ? MOST : columns;
}

/* In the pager, which may end before it has read all. */
static nb_status show(const nb_topic *topic, nb_ctx *ctx)
{
    const char *pager = getenv("PAGER");
    if (!isatty(STDOUT_FILENO)) return nb_manual_print(topic, line_width(), stdout, ctx);
    if (!pager || !*pager) pager = "if command -v less >/dev/null; then exec less -FX; else exec cat; fi";
    signal(SIGPIPE, SIG_DFL); /* as the pager starts with it */
    FILE *out = popen(pager, "w");
    signal(SIGPIPE, SIG_IGN);
    signal(SIGINT, SIG_IGN); /* Ctrl-C is for the pager */
    NB_REQUIRE(ctx, out, NB_EHOST, "the pager '%s' cannot be started", pager);
    setvbuf(out, NULL, _IONBF, 0); /* what is left in a buffer when the pager has ended would hide how it did */
    nb_status status = nb_manual_print(topic, line_width(), out, ctx);
    int end = pclose(out);
    NB_TRY(ctx, status);
    NB_REQUIRE(ctx, WIFEXITED(end) && WEXITSTATUS(end) < 126, NB_EHOST, "PAGER is '%s', which cannot be run", pager);
    return NB_OK;
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
    if (name && !topic) {
        nb_topic word;
        bool found;
        NB_TRY(ctx, nb_manual_word(name, &word, &found, ctx));
        return found ? show(&word, ctx) : unknown(name, topics, count, ctx);
    }
    if (topic) return show(topic, ctx);
    fputs("Topics of 'nysbench help TOPIC':\n\n", stdout);
    for (int i = 0; i < count; i++)
        printf("  %-16s %.*s\n", topics[i].name, (int)strcspn(topics[i].summary, ".\n"), topics[i].summary);
    return NB_OK;
}

NB_COMMAND(help, "[TOPIC]", "Show a page of the manual; without TOPIC, list them", false, NB_MORE + 30);
