/* SPDX-License-Identifier: GPL-3.0-or-later */
/* command.c - what the commands share: options, and how errors are reported. */
#include "commands/command.h"

#include "base/builder.h"
#include "components/plugin.h"
#include "base/fields.h"
#include "base/files.h"
#include "base/numbers.h"
#include "base/text.h"
#include "answers/caveats.h"
#include "rows/open.h"
#include "rows/run_facts.h"
#include "run/run_folder.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void nb_print_message(const char *kind, const char *format, ...)
{
    char raw[4096], clean[4 * sizeof raw];
    va_list args;
    va_start(args, format);
    nb_print_cut(raw, sizeof raw, format, args);
    va_end(args);
    nb_text_clean(raw, "", clean, sizeof clean);
    fprintf(stderr, "nysbench: %s: %s\n", kind, clean);
}

nb_status nb_announce_code(const char *const *names, nb_ctx *ctx)
{
    nb_string all = NB_NO_TEXT;
    for (int i = 0; names[i]; i++) NB_TRY(ctx, nb_append_item(&all, "; ", ctx, "%s", names[i]));
    if (*all.text) nb_print_message("note", "this runs code with your rights: %s", all.text);
    return NB_OK;
}

void nb_warn_without_gnuplot(const char *run)
{
    nb_print_warning("gnuplot is not installed, or does not answer, and figures need it; install it (apt install "
                     "gnuplot-nox, dnf install gnuplot, conda install gnuplot), then %s%s%s draws them",
                     run ? "'nysbench plot " : "the same command", run ? run : "", run ? "'" : "");
}

void nb_print_failure(const nb_ctx *ctx)
{
    nb_print_error("%s", nb_error_message(ctx));
    if (getenv("NYSBENCH_TRACE")) fputs(nb_error_trace(ctx), stderr);
}

nb_status nb_check_run(const char *folder, nb_ctx *ctx)
{
    NB_REQUIRE(ctx, nb_run_exists(folder, ctx), NB_EINVAL,
               "%s: is not the folder of a run: it has no " NB_STORE_FILE "%s", folder, nb_run_hint(folder, ctx));
    return NB_OK;
}

nb_status nb_warn_of_builds(nb_store *store, nb_ctx *ctx)
{
    return nb_builds_print(stderr, "nysbench: warning: ", "; 'nysbench info RUN' shows more", store, ctx);
}

nb_status nb_command_rows(const char *folder, nb_relation **relation, const char **experiment, nb_ctx *ctx)
{
    nb_store *store;
    const nb_given_labels *labels;
    const char *baseline;
    NB_NEED(store, nb_alloc(ctx, 1, sizeof *store));
    NB_TRY(ctx, nb_run_open(folder, store, &labels, ctx));
    NB_TRY(ctx, nb_warn_of_builds(store, ctx));
    NB_TRY(ctx, nb_relation_open(relation, store, labels, ctx));
    NB_TRY(ctx, nb_relation_experiment(*relation, experiment, ctx));
    NB_REQUIRE(ctx, *experiment, NB_EIO, "%s: the run has no rows", folder);
    NB_TRY(ctx, nb_run_baseline(folder, &baseline, ctx));
    return nb_relation_take_baseline(*relation, baseline, ctx);
}

nb_status nb_command_keep(nb_relation *relation, const char *const *where, nb_ctx *ctx)
{
    int count = 0, part_count;
    nb_condition_text *all, *parts;
    if (!where || !*where) return NB_OK;
    NB_NEED(all, nb_alloc(ctx, 1, sizeof *all));
    for (int i = 0; where[i]; i++) {
        const nb_condition_text *before = all;
        NB_TRY(ctx, nb_conditions_split(where[i], &part_count, &parts, ctx));
        NB_NEED(all, nb_alloc(ctx, (size_t)(count + part_count) + 1, sizeof *all));
        memcpy(all, before, (size_t)count * sizeof *all);
        memcpy(all + count, parts, (size_t)part_count * sizeof *all);
        count += part_count;
    }
    return nb_relation_keep(relation, all, ctx);
}

nb_status nb_check_output(const nb_command *c, const char *option, const char *path, nb_ctx *ctx)
{
    const char *folder;
    struct stat info;
    NB_REQUIRE(ctx, *path, NB_EINVAL, "%s: %s is empty: expected the name of a file, or -", c->name,
               nb_field(ctx, option, NULL));
    NB_TRY(ctx, nb_folder_of(path, &folder, ctx));
    NB_REQUIRE(ctx, stat(folder, &info) == 0 && S_ISDIR(info.st_mode), NB_EINVAL, "%s: %s: there is no folder %s%s",
               c->name, nb_field(ctx, option, path), folder, nb_path_hint(folder));
    return NB_OK;
}

nb_status nb_command_find(const nb_command *command, const nb_registry *registry, const char *name,
                          const nb_component **found, nb_ctx *ctx)
{
    const char *const *names, *hint;
    if ((*found = nb_registry_find(registry, name))) return NB_OK;
    NB_TRY(ctx, nb_registry_names(registry, &names, ctx));
    NB_NEED(hint, nb_hint(name, names, ctx));
    NB_FAIL(ctx, NB_EINVAL, "%s: no %s '%s'%s", command->name, registry->kind, name, hint);
}

const nb_command *nb_command_named(const char *name)
{
    int i = 0;
    while (nb_commands[i] && strcmp(nb_commands[i]->name, name) != 0) i++;
    return nb_commands[i];
}

int nb_run_command(const nb_command *c, int argc, const char **argv, nb_ctx *ctx)
{
    nb_command_line line = {.command = c, .argc = argc, .argv = argv, .format.words = nb_format_names};
    nb_status status = c->run(&line, ctx);
    if (status == NB_OK || line.ended) return line.exit;
    nb_print_failure(ctx);
    if (line.show_usage && !nb_spells_keywords())
        fprintf(stderr, "usage: nysbench %s%s%s\nSee 'nysbench %s --help'.\n", c->name, *c->arguments ? " " : "",
                c->arguments, c->name);
    if (nb_error_status(ctx) == NB_EHOST) return NB_EXIT_FAILED; /* no mistake in the call */
    return line.stage == NB_BEGINS || (line.stage == NB_ASKS && status == NB_EINVAL) ? NB_EXIT_USAGE : NB_EXIT_FAILED;
}

static void free_options(void *context)
{
    poptFreeContext(context);
}

static nb_status bad_option(nb_command_line *line, poptContext context, int code, const struct poptOption *options,
                            nb_ctx *ctx)
{
    const char *given = poptBadOption(context, POPT_BADOPTION_NOALIAS), *names[32] = {NULL}, *hint = "";
    if (nb_spells_keywords())
        NB_NEED(given,
                nb_format(ctx, "%.*s", (int)strcspn(given + strspn(given, "-"), "="), given + strspn(given, "-")));
    for (int i = 0; options[i].longName && i < 31; i++)
        NB_NEED(names[i], nb_strdup(ctx, nb_spell_option(ctx, options[i].longName, NULL)));
    if (code == POPT_ERROR_BADOPT) NB_NEED(hint, nb_hint(given, names, ctx));
    line->show_usage = true;
    NB_FAIL(ctx, NB_EINVAL, "%s: %s: %s%s", line->command->name, given, poptStrerror(code), hint);
}

/* *all <- the table, behind --help. */
static nb_status add_help(const struct poptOption *options, struct poptOption **all, nb_ctx *ctx)
{
    size_t count = 0;
    while (options[count].longName) count++;
    NB_NEED(*all, nb_alloc(ctx, count + 2, sizeof **all));
    **all = (struct poptOption){"help", 'h', POPT_ARG_NONE, NULL, 'h', "Show this help and exit", NULL};
    memcpy(*all + 1, options, count * sizeof **all);
    return NB_OK;
}

nb_status nb_command_options(const nb_command *command, const struct poptOption **options, nb_ctx *ctx)
{
    const char *arguments[] = {command->name, NULL};
    nb_command_line line = {.command = command, .argc = 1, .argv = arguments, .options = options};
    nb_status status = command->run(&line, ctx);
    if (line.ended) nb_error_clear(ctx);
    return line.ended ? NB_OK : status;
}

static void free_texts(void *ptr)
{
    char **texts = ptr;
    for (int i = 0; texts[i]; i++) free(texts[i]);
    free(texts);
}

/* Takes ownership of what popt has allocated for the options' values. */
static nb_status own_texts(const struct poptOption *options, nb_ctx *ctx)
{
    nb_status status = NB_OK;
    for (const struct poptOption *o = options; o->longName; o++) {
        unsigned type = o->argInfo & POPT_ARG_MASK;
        void *text = o->arg && (type == POPT_ARG_STRING || type == POPT_ARG_ARGV) ? *(void **)o->arg : NULL;
        if (text && nb_defer(ctx, type == POPT_ARG_ARGV ? free_texts : free, text) != NB_OK) status = NB_ENOMEM;
    }
    return status;
}

static nb_status read_word(const nb_command_line *line, const char *name, nb_word_value *word, nb_ctx *ctx)
{
    nb_string allowed = NB_NO_TEXT;
    word->value = nb_text_index(word->text, word->words);
    if (word->value >= 0) return NB_OK;
    for (int i = 0; word->words[i]; i++) NB_TRY(ctx, nb_append_item(&allowed, ", ", ctx, "%s", word->words[i]));
    NB_FAIL(ctx, NB_EINVAL, "%s: %s is unknown; allowed: %s", line->command->name,
            nb_spell_option(ctx, name, word->text), allowed.text);
}

static nb_status read_whole(nb_command_line *line, const char *name, nb_whole_value *number, nb_ctx *ctx)
{
    if (nb_parse_integer(number->text, number->min, number->max, &number->value)) return NB_OK;
    line->show_usage = true;
    NB_FAIL(ctx, NB_EINVAL, "%s: %s: expected a whole number from %lld to %lld", line->command->name,
            nb_spell_quoted(ctx, name, number->text), number->min, number->max);
}

nb_status nb_command_real(nb_command_line *line, const char *name, nb_real_value *number, nb_ctx *ctx)
{
    if (!number->text || nb_parse_real(number->text, number->min, number->max, &number->value)) return NB_OK;
    line->show_usage = true;
    NB_FAIL(ctx, NB_EINVAL, "%s: %s: expected a number from %g to %g", line->command->name,
            nb_spell_quoted(ctx, name, number->text), number->min, number->max);
}

/* Reads a value that is more than a text, as the table says. */
static nb_status read_value(nb_command_line *line, const struct poptOption *o, nb_ctx *ctx)
{
    switch (o->val) {
    case NB_TAKES_WHOLE: return read_whole(line, o->longName, o->arg, ctx);
    case NB_TAKES_REAL: return nb_command_real(line, o->longName, o->arg, ctx);
    case NB_TAKES_WORD: return read_word(line, o->longName, o->arg, ctx);
    case NB_TAKES_PATIENCE:
        NB_TRY(ctx, nb_command_real(line, o->longName, o->arg, ctx));
        nb_ctx_set_patience(ctx, fmax(((nb_real_value *)o->arg)->value, 1));
        return NB_OK;
    case NB_TAKES_OUTPUT: return nb_check_output(line->command, o->longName, *(char **)o->arg, ctx);
    default: return NB_OK;
    }
}

/* Plug-ins come last, since a time limit holds for them. */
static nb_status read_values(nb_command_line *line, const struct poptOption *options, nb_ctx *ctx)
{
    for (const struct poptOption *o = options; o->longName; o++)
        if (o->val >= NB_TAKES_WHOLE && *(void **)o->arg) NB_TRY(ctx, read_value(line, o, ctx));
    for (const char **file = line->plugins; file && *file; file++) NB_TRY(ctx, nb_plugin_load(*file, ctx));
    return NB_OK;
}

/* Checks the number of the arguments by their names, "RUN [TABLE]...", up to options. */
static nb_status check_arguments(nb_command_line *line, nb_ctx *ctx)
{
    int count = nb_text_count(line->arguments), most = 0;
    bool more = false;
    for (const char *word = line->command->arguments; *word && *word != '-'; word += *word == ' ') {
        size_t length = strcspn(word, " ");
        bool repeated = memmem(word, length, "...", 3);
        line->show_usage = true;
        NB_REQUIRE(ctx, *word == '[' || count > most, NB_EINVAL, "%s: %.*s is missing", line->command->name,
                   (int)(length - (repeated ? 3 : 0)), word);
        line->show_usage = false;
        more = more || repeated;
        word += length;
        most++;
    }
    line->show_usage = !more && count > most;
    NB_REQUIRE(ctx, !line->show_usage, NB_EINVAL, "%s: unexpected argument '%s'", line->command->name,
               line->arguments[most]);
    return NB_OK;
}

/* With POSIXLY_CORRECT in the environment popt would take every option behind an argument for another argument. The
 * variable is set again for the programs that this one starts. */
static nb_status make_context(const nb_command_line *line, const struct poptOption *options, poptContext *context,
                              nb_ctx *ctx)
{
    static const char name[] = "POSIXLY_CORRECT";
    const char *given = getenv(name);
    if (given) NB_NEED(given, nb_strdup(ctx, given));
    unsetenv(name);
    *context = poptGetContext("nysbench", line->argc - 1, line->argv + 1, options, POPT_CONTEXT_KEEP_FIRST);
    NB_REQUIRE(ctx, !given || setenv(name, given, 1) == 0, NB_ENOMEM, "out of memory: the environment");
    NB_REQUIRE(ctx, *context, NB_ENOMEM, "out of memory: the command line");
    return nb_defer(ctx, free_options, *context);
}

nb_status nb_parse_command(nb_command_line *line, const struct poptOption *own, int runs, nb_ctx *ctx)
{
    static const char *none[] = {NULL};
    const nb_command *c = line->command;
    struct poptOption *options;
    poptContext context;
    const char *heading;
    NB_TRY(ctx, add_help(own, &options, ctx));
    line->ended = line->options;
    if (line->ended) {
        *line->options = options;
        return NB_EINVAL;
    }
    NB_NEED(line->argv[0], nb_format(ctx, "nysbench %s", c->name)); /* a run records the call */
    NB_NEED(heading,
            nb_format(ctx, "%s%s%s\n\n%s.", line->argv[0], *c->arguments ? " " : "", c->arguments, c->summary));
    NB_TRY(ctx, make_context(line, options, &context, ctx));
    poptSetOtherOptionHelp(context, heading);
    int code;
    do code = poptGetNextOpt(context);
    while (code >= 0 && code != 'h');
    NB_TRY(ctx, own_texts(options, ctx));
    line->ended = code == 'h';
    if (line->ended) {
        poptPrintHelp(context, stdout, 0);
        return NB_EINVAL;
    }
    if (code < -1) return bad_option(line, context, code, options, ctx);
    line->arguments = poptGetArgs(context);
    if (!line->arguments) line->arguments = none;
    NB_TRY(ctx, check_arguments(line, ctx));
    NB_TRY(ctx, read_values(line, options, ctx));
    for (int i = 0; line->arguments[i] && i < runs; i++) NB_TRY(ctx, nb_check_run(line->arguments[i], ctx));
    return NB_OK;
}
