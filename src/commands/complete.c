/* SPDX-License-Identifier: GPL-3.0-or-later */
/* complete.c - nysbench complete WORD..., which the shells' completions in src/commands/completions call. What an
 * option or an argument takes is known by its name in --help: SPEC, COLUMN, csv|json, and, in capital letters, the kind
 * of a component. Names of files are left to the shell. */
#include "api/kinds.h"
#include "commands/experiment.h"
#include "commands/command.h"
#include "components/study.h"
#include "config/keys.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Prints "TEXT MORE<tab>HELP" if the text begins with the word; of the help the first line. */
static void offer(const char *word, const char *text, const char *more, const char *help)
{
    if (strncmp(text, word, strlen(word)) == 0) printf("%s%s\t%.*s\n", text, more, (int)strcspn(help, "\n"), help);
}

static void offer_registry(const char *word, const nb_registry *registry)
{
    for (const nb_entry *e = registry->entries; e->component; e++)
        if (!nb_component_of_caller(e->component)) offer(word, e->component->name, "", e->component->summary);
}

static nb_status offer_columns(const char *word, bool labels, const char *more, nb_ctx *ctx)
{
    for (const nb_entry *e = nb_studies.entries; e->component; e++) {
        const nb_column *columns = ((const nb_study *)e->component)->columns;
        if (labels) NB_TRY(ctx, nb_columns_with_labels(columns, &columns, ctx));
        for (; columns->name; columns++) offer(word, columns->name, more, columns->help);
    }
    return NB_OK;
}

static void offer_keys(const char *word)
{
    for (const nb_entry *e = nb_studies.entries; e->component; e++) {
        nb_config_key keys[NB_MOST_KEYS];
        int block_keys, count = nb_config_keys((const nb_study *)e->component, keys, &block_keys);
        for (int i = 0; i < count; i++) offer(word, keys[i].name, "=", keys[i].option ? keys[i].option->help : "");
    }
}

static nb_status offer_topics(const char *word, nb_ctx *ctx)
{
    nb_topic *topics;
    int count;
    NB_TRY(ctx, nb_manual_topics(&topics, &count, ctx));
    for (int i = 0; i < count; i++) offer(word, topics[i].name, "", topics[i].summary);
    return NB_OK;
}

/* The registry of that kind, in capital letters or not; NULL: there is none. */
static const nb_registry *find_kind(const char *kind)
{
    const nb_registry *found;
    for (int i = 0; (found = nb_kind_at(i)) && strcasecmp(found->kind, kind) != 0;) i++;
    return found;
}

/* One of the alternatives of what an option, whose long name that is, or (NULL) an argument takes. */
static nb_status offer_alternative(const char *word, const char *takes, const char *option, nb_ctx *ctx)
{
    bool spec = strcmp(takes, "SPEC") == 0, any = strcmp(takes, "NAME") == 0;
    const nb_registry *kind = find_kind(spec && option ? option : takes);
    if (!isupper((unsigned char)*takes)) {
        offer(word, takes, "", "");
        return NB_OK;
    }
    if (kind) offer_registry(word, kind);
    for (int i = 0; nb_kind_at(i); i++) {
        if (any || (spec && !kind)) offer_registry(word, nb_kind_at(i));
        if (strcmp(takes, "KIND") == 0) offer(word, nb_kind_at(i)->kind, "", "");
    }
    for (int i = 0; strcmp(takes, "WHAT") == 0 && nb_new_at(i); i++) offer(word, nb_new_at(i), "", "");
    for (int i = 0; strcmp(takes, "STATUS") == 0 && nb_retry_statuses[i]; i++)
        offer(word, nb_retry_statuses[i], "", "");
    if (strncmp(takes, "KEY=", 4) == 0) offer_keys(word);
    if (any || strncmp(takes, "COLUMN=", 7) == 0) return offer_columns(word, true, any ? "" : "=", ctx);
    if (strcmp(takes, "COLUMN") == 0) return offer_columns(word, false, "", ctx);
    return strcmp(takes, "TOPIC") == 0 ? offer_topics(word, ctx) : NB_OK;
}

static nb_status offer_values(const char *word, const char *takes, const char *option, nb_ctx *ctx)
{
    char *rest, *alternative;
    NB_NEED(rest, nb_strdup(ctx, takes));
    while ((alternative = strsep(&rest, "|"))) NB_TRY(ctx, offer_alternative(word, alternative, option, ctx));
    return NB_OK;
}

static nb_status offer_options(const char *word, const struct poptOption *options, nb_ctx *ctx)
{
    for (const struct poptOption *o = options; o->longName; o++) {
        const char *name;
        NB_NEED(name, nb_format(ctx, "--%s", o->longName));
        offer(word, name, "", o->descrip);
    }
    return NB_OK;
}

/* The option with a value that a word is, "-s" or "--set"; NULL: none. */
static const struct poptOption *find_option(const struct poptOption *options, const char *word)
{
    for (const struct poptOption *o = options; o->longName; o++) {
        bool is_long = strncmp(word, "--", 2) == 0 && strcmp(word + 2, o->longName) == 0;
        bool is_short = o->shortName && word[0] == '-' && word[1] == o->shortName && !word[2];
        if ((is_long || is_short) && o->argDescrip && !(o->argInfo & POPT_ARGFLAG_OPTIONAL)) return o;
    }
    return NULL;
}

/* Finds the name of the argument at `place`, from 0: "RUN" of "RUN [FIGURE]"; the last may be repeated. "": none. */
static nb_status find_argument(const nb_command *command, int place, const char **takes, nb_ctx *ctx)
{
    char *rest, *word, *last = "";
    *takes = "";
    NB_NEED(rest, nb_strdup(ctx, command->arguments));
    for (int i = 0; (word = strsep(&rest, " ")) && *word != '-'; i++) {
        word += *word == '[';
        last = strstr(word, "...") ? word : "";
        word[strcspn(word, "].")] = '\0';
        if (i == place) *takes = word;
    }
    if (!**takes) *takes = last;
    return NB_OK;
}

/* `words` are those behind the command; a shell may take '=' for a word. */
static nb_status complete(const nb_command *command, const char *const *words, nb_ctx *ctx)
{
    const struct poptOption *options, *pending = NULL;
    const char *takes;
    int place = 0;
    NB_TRY(ctx, nb_command_options(command, &options, ctx));
    for (; words[1]; words++) {
        if (strcmp(*words, "=") == 0) continue;
        place += !pending && **words != '-';
        pending = pending ? NULL : find_option(options, *words);
    }
    const char *word = strcmp(*words, "=") == 0 ? "" : *words;
    if (pending) return offer_values(word, pending->argDescrip, pending->longName, ctx);
    if (*word == '-') return offer_options(word, options, ctx);
    NB_TRY(ctx, find_argument(command, place, &takes, ctx));
    return offer_values(word, takes, NULL, ctx);
}

static nb_status run(nb_command_line *line, nb_ctx *ctx)
{
    const struct poptOption options[] = {POPT_TABLEEND};
    NB_TRY(ctx, nb_parse_command(line, options, 0, ctx));
    line->stage = NB_WORKS;
    const char **words = line->arguments;
    const nb_command *command = words[1] ? nb_command_named(words[0]) : NULL;
    if (words[1]) return command && command->place > 0 ? complete(command, words + 1, ctx) : NB_OK;
    for (const nb_command *k = nb_command_next(NULL); k; k = nb_command_next(k)) offer(*words, k->name, "", k->summary);
    offer(*words, "--help", "", "Show the commands");
    offer(*words, "--version", "", "Show the version");
    return NB_OK;
}

NB_COMMAND(complete, "WORD...", "List what may stand for the last word of a command line, for a shell", false, 0);
