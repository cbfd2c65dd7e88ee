/* SPDX-License-Identifier: GPL-3.0-or-later */
/* complete.c - nysbench complete LINE: called by the shells' completions, which are in src/cli/completions. */
#include "cli/complete.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "CANDIDATE<tab>HELP" a line; of the help only the first line. */
static void print(const nb_candidates *c)
{
    for (int i = 0; i < c->count; i++)
        printf("%s\t%.*s\n", c->items[i].text, (int)strcspn(c->items[i].help, "\n"), c->items[i].help);
}

/* As readline puts them in the place of `shown`, the part of the word behind the last of bash's COMP_WORDBREAKS: with
 * backslashes unless the word is quoted. */
static nb_status print_for_bash(const nb_candidates *c, const char *shown, nb_ctx *ctx)
{
    const char *plain = shown + (c->quote && *shown == c->quote);
    if (!c->quote) NB_TRY(ctx, nb_complete_unquote(shown, &plain, ctx));
    size_t word = strlen(c->word), kept = strlen(plain), cut = kept <= word ? word - kept : 0;
    for (int i = 0; i < c->count; i++) {
        for (const char *at = c->items[i].text + cut; *at; at++) {
            if (!c->quote && strchr(" \t\\'\"`$&;|<>()[]{}*?!#", *at)) putchar('\\');
            putchar(*at);
        }
        putchar('\n');
    }
    return NB_OK;
}

static int run(const nb_command *command, int argc, const char **argv, nb_ctx *ctx)
{
    const char **arguments;
    char *shown = NULL;
    nb_candidates candidates;
    struct poptOption options[] = {
        NB_HELP_OPTION,
        {"bash", '\0', POPT_ARG_STRING, &shown, 0, "In bash's words, of which this is the current one", "WORD"},
        POPT_TABLEEND};
    int code = nb_command_parse(command, argc, argv, options, (nb_arguments){1, 1, &arguments, 0}, ctx);
    if (code != NB_GO_ON) return code;
    nb_status status = nb_complete(arguments[0], &candidates, ctx);
    if (status == NB_OK && shown) status = print_for_bash(&candidates, shown, ctx);
    if (status == NB_OK && !shown) print(&candidates);
    return status == NB_OK ? NB_EXIT_OK : nb_print_failure(ctx, NB_EXIT_FAILED);
}

const nb_command nb_command_complete = {
    "complete", "LINE", "List what may stand at the end of a command line, for a shell", run, false, 0};
