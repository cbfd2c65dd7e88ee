/* SPDX-License-Identifier: GPL-3.0-or-later */
/* complete.c - nysbench complete LINE, which the shells' completions in src/commands/completions call. What an
 * option or an argument takes is known by its name in --help: SPEC, FILE.npy, RUN, csv|json, and, in capital letters,
 * the kind of a component. */
#include "commands/complete.h"

#include "api/kinds.h"
#include "base/files.h"
#include "base/text.h"
#include "commands/manual.h"
#include "commands/experiment.h"
#include "components/study.h"
#include "config/keys.h"
#include "run/run_folder.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

typedef struct {
    char **words; /* plain; the last is the one to complete */
    int count;
    char quote; /* that it ends within; 0: none */
} line_words;

/* Reads one word; returns where it ends. */
static const char *read_word(const char *at, char *word, char *quote)
{
    *quote = 0;
    for (; *at && (*quote || !isspace((unsigned char)*at)); at++) {
        if (*quote && *at == *quote)
            *quote = 0;
        else if (!*quote && (*at == '\'' || *at == '"'))
            *quote = *at;
        else if (*at == '\\' && *quote != '\'') {
            if (at[1]) *word++ = *++at;
        } else
            *word++ = *at;
    }
    *word = '\0';
    return at;
}

/* Removes a shell's quotes and backslashes from a text of one word. */
static nb_status unquote(const char *text, const char **plain, nb_ctx *ctx)
{
    char *word, quote;
    NB_NEED(word, nb_strdup(ctx, text));
    read_word(text, word, &quote);
    *plain = word;
    return NB_OK;
}

static nb_status split(const char *line, line_words *w, nb_ctx *ctx)
{
    size_t most = strlen(line) / 2 + 2;
    NB_NEED(w->words, nb_alloc(ctx, most, sizeof *w->words));
    w->count = 0;
    for (bool more = true; more;) {
        line += strspn(line, " \t\n");
        NB_NEED(w->words[w->count], nb_alloc(ctx, strlen(line) + 1, 1));
        line = read_word(line, w->words[w->count++], &w->quote);
        more = *line;
    }
    return NB_OK;
}

nb_status nb_complete_add(nb_candidates *c, const char *before, const char *text, const char *more, const char *help)
{
    NB_NEED(text, nb_format(c->ctx, "%s%s%s", before, text, more));
    if (strncmp(text, c->word, strlen(c->word)) != 0) return NB_OK;
    for (int i = 0; i < c->count; i++)
        if (strcmp(c->items[i].text, text) == 0) return NB_OK;
    NB_GROW(c->ctx, c->items, c->count, c->capacity);
    c->items[c->count++] = (nb_candidate){text, help};
    return NB_OK;
}

nb_status nb_complete_words(nb_candidates *c, const char *before, const char *const *words)
{
    for (; *words; words++) NB_TRY(c->ctx, nb_complete_add(c, before, *words, "", ""));
    return NB_OK;
}

typedef struct {
    const char *before, *ending; /* ending: NULL: no files */
    bool runs;
} wanted;

/* One entry of a folder; `shown` is the folder as it was typed, with its '/', and `folder` where it is. */
static nb_status add_entry(nb_candidates *c, const wanted *w, const char *shown, const char *folder, const char *name)
{
    const char *path, *store;
    struct stat info;
    NB_NEED(path, nb_format(c->ctx, "%s%s", folder, name));
    if (stat(path, &info) != 0 || !nb_text_is_clean(name, "")) return NB_OK;
    bool is_folder = S_ISDIR(info.st_mode);
    if (!is_folder && (!w->ending || !nb_text_ends(name, w->ending))) return NB_OK;
    NB_NEED(store, nb_format(c->ctx, "%s/%s", path, NB_STORE_FILE));
    bool is_run = w->runs && is_folder && stat(store, &info) == 0;
    NB_NEED(path, nb_format(c->ctx, "%s%s", w->before, shown));
    return nb_complete_add(c, path, name, is_folder && !is_run ? "/" : "", "");
}

static nb_status add_paths(nb_candidates *c, const wanted *w, const char *start)
{
    const char *slash = strrchr(start, '/'), *shown, *folder, *home = getenv("HOME"), **names;
    size_t length = slash ? (size_t)(slash + 1 - start) : 0;
    int count;
    NB_NEED(shown, nb_format(c->ctx, "%.*s", (int)length, start));
    bool at_home = home && strncmp(shown, "~/", 2) == 0;
    NB_NEED(folder, nb_format(c->ctx, "%s%s", at_home ? home : *shown ? "" : "./", at_home ? shown + 1 : shown));
    nb_status status = nb_folder_names(folder, NULL, &count, &names, c->ctx);
    if (status == NB_EIO) nb_error_clear(c->ctx);
    if (status != NB_OK) return status == NB_EIO ? NB_OK : status;
    for (int i = 0; i < count; i++) {
        const char *typed = start + length;
        if ((*names[i] != '.' || *typed == '.') && strncmp(names[i], typed, strlen(typed)) == 0)
            NB_TRY(c->ctx, add_entry(c, w, shown, folder, names[i]));
    }
    return NB_OK;
}

nb_status nb_complete_files(nb_candidates *c, const char *before, const char *start, const char *ending)
{
    return add_paths(c, &(wanted){before, ending, false}, start);
}

/* Adds folders of runs, and those that lead to them; if nothing is typed, those in results/. */
static nb_status add_runs(nb_candidates *c, const char *before, const char *start)
{
    struct stat info;
    bool usual = !*start && stat("results", &info) == 0 && S_ISDIR(info.st_mode);
    return add_paths(c, &(wanted){before, NULL, true}, usual ? "results/" : start);
}

static nb_status add_commands(nb_candidates *c)
{
    for (const nb_command *k = nb_command_next(NULL); k; k = nb_command_next(k))
        NB_TRY(c->ctx, nb_complete_add(c, "", k->name, "", k->summary));
    NB_TRY(c->ctx, nb_complete_add(c, "", "--help", "", "Show the commands"));
    return nb_complete_add(c, "", "--version", "", "Show the version");
}

static nb_status add_registry(nb_candidates *c, const char *before, const nb_registry *registry)
{
    for (const nb_entry *e = registry->entries; e->component; e++)
        if (!nb_component_of_caller(e->component))
            NB_TRY(c->ctx, nb_complete_add(c, before, e->component->name, "", e->component->summary));
    return NB_OK;
}

static nb_status add_kinds(nb_candidates *c, const char *before)
{
    for (int i = 0; nb_kind_at(i); i++) NB_TRY(c->ctx, nb_complete_add(c, before, nb_kind_at(i)->kind, "", ""));
    return NB_OK;
}

static nb_status add_columns(nb_candidates *c, const char *before, bool labels, const char *more)
{
    for (const nb_entry *e = nb_studies.entries; e->component; e++) {
        const nb_column *columns = ((const nb_study *)e->component)->columns;
        if (labels) NB_TRY(c->ctx, nb_columns_with_labels(columns, &columns, c->ctx));
        for (; columns->name; columns++) NB_TRY(c->ctx, nb_complete_add(c, before, columns->name, more, columns->help));
    }
    return NB_OK;
}

/* Adds the names that `describe` knows. */
static nb_status add_names(nb_candidates *c, const char *before)
{
    for (int i = 0; nb_kind_at(i); i++) NB_TRY(c->ctx, add_registry(c, before, nb_kind_at(i)));
    return add_columns(c, before, true, "");
}

static nb_status add_keys(nb_candidates *c, const char *before)
{
    for (const nb_entry *e = nb_studies.entries; e->component; e++) {
        const nb_study *study = (const nb_study *)e->component;
        nb_config_key keys[NB_MOST_KEYS];
        int block_keys, count = nb_config_keys(study, keys, &block_keys);
        for (int i = 0; i < count; i++)
            NB_TRY(c->ctx, nb_complete_add(c, before, keys[i].name, "=", keys[i].option ? keys[i].option->help : ""));
    }
    return NB_OK;
}

static nb_status add_topics(nb_candidates *c, const char *before)
{
    nb_topic *topics;
    int count;
    NB_TRY(c->ctx, nb_manual_topics(&topics, &count, c->ctx));
    for (int i = 0; i < count; i++) NB_TRY(c->ctx, nb_complete_add(c, before, topics[i].name, "", topics[i].summary));
    return NB_OK;
}

/* The registry of that kind, in capital letters or not, singular; NULL: there is none. */
static const nb_registry *find_kind(const char *kind)
{
    const nb_registry *found;
    for (int i = 0; (found = nb_kind_at(i)) && strcasecmp(found->kind, kind) != 0;) i++;
    return found;
}

static const char *long_name(const struct poptOption *option)
{
    return option && option->longName ? option->longName : "";
}

/* One of the alternatives of what an option takes, or (NULL) an argument. */
static nb_status add_alternative(nb_candidates *c, const char *before, const char *takes,
                                 const struct poptOption *option)
{
    const char *start = c->word + strlen(before), *dot = strchr(takes, '.');
    const nb_registry *kind = find_kind(takes);
    size_t head = strcspn(takes, "[,.");
    if (!isupper((unsigned char)*takes)) return nb_complete_add(c, before, takes, "", "");
    if (strcmp(takes, "SPEC") == 0) return nb_complete_spec(c, before, start, find_kind(long_name(option)));
    if (strncmp(takes, "COLUMN=", 7) == 0) return add_columns(c, before, true, "=");
    if (strncmp(takes, "KEY=", 4) == 0) return add_keys(c, before);
    if (kind) return add_registry(c, before, kind);
    if (dot && isalpha((unsigned char)dot[1])) return nb_complete_files(c, before, start, dot);
    if (head == 4 && strncmp(takes, "FILE", head) == 0) return nb_complete_files(c, before, start, "");
    if (strncmp(takes, "RUN", head) == 0) return add_runs(c, before, start);
    if (strcmp(takes, "DIR") == 0 || strcmp(takes, "OUT") == 0) return nb_complete_files(c, before, start, NULL);
    if (strcmp(takes, "COLUMN") == 0) return add_columns(c, before, false, "");
    if (strcmp(takes, "KIND") == 0) return add_kinds(c, before);
    if (strcmp(takes, "STATUS") == 0) return nb_complete_words(c, before, nb_retry_statuses);
    if (strcmp(takes, "NAME") == 0) return add_names(c, before);
    return strcmp(takes, "TOPIC") == 0 ? add_topics(c, before) : NB_OK;
}

static nb_status add_values(nb_candidates *c, const char *before, const char *takes, const struct poptOption *option)
{
    char *rest, *alternative;
    NB_NEED(rest, nb_strdup(c->ctx, takes));
    while ((alternative = strsep(&rest, "|"))) NB_TRY(c->ctx, add_alternative(c, before, alternative, option));
    return NB_OK;
}

static nb_status add_options(nb_candidates *c, const struct poptOption *options)
{
    for (const struct poptOption *o = options; o->longName || o->shortName; o++)
        if (o->longName && !(o->argInfo & POPT_ARGFLAG_DOC_HIDDEN))
            NB_TRY(c->ctx, nb_complete_add(c, "--", o->longName, "", o->descrip ? o->descrip : ""));
    return NB_OK;
}

/* The option that a word is, "-s", "--set" or "--set=...". NULL: none. */
static const struct poptOption *find_option(const struct poptOption *options, const char *word)
{
    size_t length = strcspn(word, "=");
    for (const struct poptOption *o = options; o->longName || o->shortName; o++) {
        bool is_long = o->longName && strncmp(word, "--", 2) == 0 && strlen(o->longName) == length - 2 &&
                       strncmp(word + 2, o->longName, length - 2) == 0;
        if (is_long || (o->shortName && word[0] == '-' && word[1] == o->shortName && !word[2])) return o;
    }
    return NULL;
}

static bool takes_next(const struct poptOption *o)
{
    return o && o->argDescrip && (o->argInfo & POPT_ARG_MASK) != POPT_ARG_NONE && !(o->argInfo & POPT_ARGFLAG_OPTIONAL);
}

/* Finds the name of the argument at `place`, from 0: "RUN" of "RUN [FIGURE]"; "" if there is none. */
static nb_status argument_at(const nb_command *command, int place, const char **takes, nb_ctx *ctx)
{
    char *rest, *word, *last = "";
    *takes = "";
    NB_NEED(rest, nb_strdup(ctx, command->arguments));
    for (int i = 0; (word = strsep(&rest, " ")); i++) {
        if (*word == '-') return NB_OK; /* a call in which options come first */
        word += *word == '[';
        char *dots = strstr(word, "...");
        last = dots ? word : "";
        if (dots) *dots = '\0';
        word[strcspn(word, "]")] = '\0';
        if (i == place) *takes = word;
    }
    if (!**takes) *takes = last;
    return NB_OK;
}

static nb_status add_for_command(nb_candidates *c, const nb_command *command, const line_words *w)
{
    const struct poptOption *options, *pending = NULL, *of_word;
    const char *takes, *before;
    int place = 0;
    bool ended = false; /* by "--" */
    NB_TRY(c->ctx, nb_command_options(command, &options, c->ctx));
    for (int i = 2; i < w->count - 1; i++) {
        const char *word = w->words[i];
        const struct poptOption *o = ended || pending ? NULL : find_option(options, word);
        place += !pending && (ended || *word != '-');
        ended = ended || (!pending && strcmp(word, "--") == 0);
        pending = takes_next(o) && (word[1] != '-' || !strchr(word, '=')) ? o : NULL;
    }
    if (pending) return add_values(c, "", pending->argDescrip, pending);
    if (ended || *c->word != '-') {
        NB_TRY(c->ctx, argument_at(command, place, &takes, c->ctx));
        return *takes ? add_values(c, "", takes, NULL) : NB_OK;
    }
    if (!strchr(c->word, '=')) return add_options(c, options);
    of_word = find_option(options, c->word);
    if (!of_word || !of_word->argDescrip) return NB_OK;
    NB_NEED(before, nb_format(c->ctx, "%.*s", (int)strcspn(c->word, "=") + 1, c->word));
    return add_values(c, before, of_word->argDescrip, of_word);
}

/* Finds the candidates for a line as typed in the shell, with its quotes, from the program's name to the cursor. Each
 * candidate replaces the whole last word, and is longer unless that is complete already. A line that makes no sense has
 * none. Nothing is run, and no plug-in is loaded. */
static nb_status complete(const char *line, nb_candidates *c, nb_ctx *ctx)
{
    line_words w;
    NB_TRY(ctx, split(line, &w, ctx));
    *c = (nb_candidates){.word = w.words[w.count - 1], .quote = w.quote, .ctx = ctx};
    if (w.count == 1) return NB_OK;
    if (w.count == 2) return add_commands(c);
    for (const nb_command *k = nb_command_next(NULL); k; k = nb_command_next(k))
        if (strcmp(k->name, w.words[1]) == 0) return add_for_command(c, k, &w);
    return NB_OK;
}

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
    if (!c->quote) NB_TRY(ctx, unquote(shown, &plain, ctx));
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
    const struct poptOption options[] = {
        NB_TEXT_OPTION("bash", '\0', shown, "In bash's words, of which this is the current one", "WORD"),
        POPT_TABLEEND};
    int code = nb_command_parse(command, argc, argv, options, (nb_arguments){1, 1, &arguments, 0}, ctx);
    if (code != NB_GO_ON) return code;
    nb_status status = complete(arguments[0], &candidates, ctx);
    if (status == NB_OK && shown) status = print_for_bash(&candidates, shown, ctx);
    if (status == NB_OK && !shown) print(&candidates);
    return status == NB_OK ? NB_EXIT_OK : nb_print_failure(ctx, NB_EXIT_FAILED);
}

NB_COMMAND(complete, "LINE", "List what may stand at the end of a command line, for a shell", false, 0);
