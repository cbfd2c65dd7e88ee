/* SPDX-License-Identifier: GPL-3.0-or-later */
/* command.c - what the commands share: options, and how errors are reported. */
#include "commands/command.h"

#include "components/plugin.h"
#include "base/files.h"
#include "base/numbers.h"
#include "base/text.h"
#include "run/run_folder.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static __attribute__((format(printf, 2, 0))) void print_message(const char *kind, const char *format, va_list args)
{
    char raw[4096], clean[4 * sizeof raw];
    nb_print_cut(raw, sizeof raw, format, args);
    nb_text_clean(raw, "", clean, sizeof clean);
    fprintf(stderr, "nysbench: %s: %s\n", kind, clean);
}

int nb_print_error(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_message("error", format, args);
    va_end(args);
    return NB_EXIT_USAGE;
}

void nb_print_warning(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_message("warning", format, args);
    va_end(args);
}

void nb_warn_without_gnuplot(const char *run)
{
    nb_print_warning("gnuplot is not installed, or does not answer, and figures need it; install it (apt install "
                     "gnuplot-nox, dnf install gnuplot, conda install gnuplot), then %s%s%s draws them",
                     run ? "'nysbench plot " : "the same command", run ? run : "", run ? "'" : "");
}

int nb_print_failure(const nb_ctx *ctx, int exit_status)
{
    nb_print_error("%s", nb_error_message(ctx));
    if (getenv("NYSBENCH_TRACE")) fputs(nb_error_trace(ctx), stderr);
    return nb_error_status(ctx) == NB_EHOST ? NB_EXIT_FAILED : exit_status; /* no mistake in the call */
}

int nb_command_end(nb_status status, const nb_ctx *ctx)
{
    return status == NB_OK ? NB_EXIT_OK : nb_print_failure(ctx, status == NB_EINVAL ? NB_EXIT_USAGE : NB_EXIT_FAILED);
}

int nb_command_check_run(const char *folder, nb_ctx *ctx)
{
    if (nb_run_exists(folder, ctx)) return NB_GO_ON;
    return nb_print_error("%s: is not the folder of a run: it has no " NB_STORE_FILE "%s", folder,
                          nb_run_hint(folder, ctx));
}

int nb_command_check_output(const nb_command *c, const char *path, nb_ctx *ctx)
{
    const char *folder;
    struct stat info;
    if (!*path) return nb_print_error("%s: -o is empty: expected the name of a file, or -", c->name);
    if (nb_folder_of(path, &folder, ctx) != NB_OK) return nb_print_failure(ctx, NB_EXIT_FAILED);
    if (stat(folder, &info) == 0 && S_ISDIR(info.st_mode)) return NB_GO_ON;
    return nb_print_error("%s: -o %s: there is no folder %s%s", c->name, path, folder, nb_path_hint(folder));
}

int nb_print_mistakes(const nb_mistakes *mistakes)
{
    for (int i = 0; i < mistakes->count; i++) nb_print_error("%s", mistakes->texts[i]);
    return NB_EXIT_USAGE;
}

int nb_command_find(const nb_command *command, const nb_registry *registry, const char *name,
                    const nb_component **found, nb_ctx *ctx)
{
    const char *const *names, *hint;
    if ((*found = nb_registry_find(registry, name))) return NB_GO_ON;
    if (nb_registry_names(registry, &names, ctx) != NB_OK || !(hint = nb_hint(name, names, ctx)))
        return nb_print_failure(ctx, NB_EXIT_FAILED);
    return nb_print_error("%s: no %s '%s'%s", command->name, registry->kind, name, hint);
}

static void free_options(void *context)
{
    poptFreeContext(context);
}

static int usage(const nb_command *c)
{
    fprintf(stderr, "usage: nysbench %s%s%s\nSee 'nysbench %s --help'.\n", c->name, *c->arguments ? " " : "",
            c->arguments, c->name);
    return NB_EXIT_USAGE;
}

static int bad_option(const nb_command *c, poptContext context, int code, const struct poptOption *options, nb_ctx *ctx)
{
    const char *given = poptBadOption(context, POPT_BADOPTION_NOALIAS), *names[32] = {NULL}, *hint = "";
    int count = 0;
    for (const struct poptOption *o = options; (o->longName || o->shortName || o->arg) && count < 31; o++)
        if (o->longName) names[count++] = nb_format(ctx, "--%s", o->longName);
    if (code == POPT_ERROR_BADOPT) hint = nb_hint(given, names, ctx);
    nb_print_error("%s: %s: %s%s", c->name, given, poptStrerror(code), hint ? hint : "");
    return usage(c);
}

/* A command that is asked for its options instead of being run: its copy stands first in an `inquiry`. */
enum { ASKED = -1 };
typedef struct {
    nb_command command; /* place: ASKED */
    struct poptOption **options;
} inquiry;

/* *all <- the table, behind --help. */
static nb_status add_help(const struct poptOption *options, struct poptOption **all, nb_ctx *ctx)
{
    size_t count = 0;
    while (options[count].longName || options[count].shortName) count++;
    NB_NEED(*all, nb_alloc(ctx, count + 2, sizeof **all));
    **all = (struct poptOption){"help", 'h', POPT_ARG_NONE, NULL, 'h', "Show this help and exit", NULL};
    memcpy(*all + 1, options, count * sizeof **all);
    return NB_OK;
}

nb_status nb_command_options(const nb_command *command, const struct poptOption **options, nb_ctx *ctx)
{
    struct poptOption *copy = NULL;
    inquiry asked = {.command = *command, .options = &copy};
    const char *arguments[] = {command->name, NULL};
    asked.command.place = ASKED;
    command->run(&asked.command, 1, arguments, ctx);
    NB_NEED(*options, copy);
    return NB_OK;
}

nb_status nb_command_names(const char *const **names, nb_ctx *ctx)
{
    const char **list;
    int count = 0;
    while (nb_commands[count]) count++;
    NB_NEED(list, nb_alloc(ctx, (size_t)count + 1, sizeof *list));
    count = 0;
    for (int i = 0; nb_commands[i]; i++)
        if (nb_commands[i]->place > 0) list[count++] = nb_commands[i]->name;
    *names = list;
    return NB_OK;
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
    for (const struct poptOption *o = options; o->longName || o->shortName; o++) {
        unsigned type = o->argInfo & POPT_ARG_MASK;
        void *text = o->arg && (type == POPT_ARG_STRING || type == POPT_ARG_ARGV) ? *(void **)o->arg : NULL;
        if (text && nb_defer(ctx, type == POPT_ARG_ARGV ? free_texts : free, text) != NB_OK) status = NB_ENOMEM;
    }
    return status;
}

static int read_word(const nb_command *c, const char *name, nb_word_value *word)
{
    const char *const *words = word->words;
    word->value = nb_text_index(word->text, words);
    if (word->value >= 0) return NB_GO_ON;
    fprintf(stderr, "nysbench: error: %s: --%s %s is unknown; allowed:", c->name, name, word->text);
    for (int i = 0; words[i]; i++) fprintf(stderr, "%s %s", i ? "," : "", words[i]);
    fputc('\n', stderr);
    return NB_EXIT_USAGE;
}

static int read_whole(const nb_command *c, const char *name, nb_whole_value *number)
{
    if (nb_parse_integer(number->text, number->min, number->max, &number->value)) return NB_GO_ON;
    nb_print_error("%s: --%s '%s': expected a whole number from %lld to %lld", c->name, name, number->text, number->min,
                   number->max);
    return usage(c);
}

int nb_command_real(const nb_command *c, const char *name, nb_real_value *number)
{
    if (!number->text || nb_parse_real(number->text, number->min, number->max, &number->value)) return NB_GO_ON;
    nb_print_error("%s: --%s '%s': expected a number from %g to %g", c->name, name, number->text, number->min,
                   number->max);
    return usage(c);
}

/* Reads a value that is more than a text, as the table says; plug-ins come last, since a time limit holds for them. */
static int read_value(const nb_command *c, const struct poptOption *o, nb_ctx *ctx)
{
    switch (o->val) {
    case NB_TAKES_WHOLE: return read_whole(c, o->longName, o->arg);
    case NB_TAKES_REAL: return nb_command_real(c, o->longName, o->arg);
    case NB_TAKES_WORD: return read_word(c, o->longName, o->arg);
    case NB_TAKES_PATIENCE: {
        int code = nb_command_real(c, o->longName, o->arg);
        nb_ctx_set_patience(ctx, fmax(((nb_real_value *)o->arg)->value, 1));
        return code;
    }
    case NB_TAKES_OUTPUT: return nb_command_check_output(c, *(char **)o->arg, ctx);
    default: return NB_GO_ON;
    }
}

static int read_values(const nb_command *c, const struct poptOption *options, nb_ctx *ctx)
{
    int code = NB_GO_ON;
    for (const struct poptOption *o = options; (o->longName || o->shortName) && code == NB_GO_ON; o++)
        if (o->val >= NB_TAKES_WHOLE && *(void **)o->arg) code = read_value(c, o, ctx);
    for (const struct poptOption *o = options; (o->longName || o->shortName) && code == NB_GO_ON; o++) {
        const char *const *files = o->val == NB_TAKES_PLUGINS ? *(const char **const *)o->arg : NULL;
        for (; files && *files; files++)
            if (nb_plugin_load(*files, ctx) != NB_OK) return nb_print_failure(ctx, NB_EXIT_USAGE);
    }
    return code;
}

/* The argument of that index is missing: its word among the command's arguments, without the dots of a list. */
static void say_missing(const nb_command *c, int index)
{
    const char *word = c->arguments;
    for (; index > 0; index--) word += strcspn(word, " ") + 1;
    size_t length = strcspn(word, " ");
    if (length > 3 && strncmp(word + length - 3, "...", 3) == 0) length -= 3;
    nb_print_error("%s: %.*s is missing", c->name, (int)length, word);
}

int nb_command_parse(const nb_command *c, int argc, const char **argv, const struct poptOption *own,
                     nb_arguments arguments, nb_ctx *ctx)
{
    static const char *none[] = {NULL};
    struct poptOption *options;
    if (add_help(own, &options, ctx) != NB_OK) return nb_print_failure(ctx, NB_EXIT_FAILED);
    if (c->place == ASKED) {
        *((const inquiry *)c)->options = options;
        return NB_EXIT_OK;
    }
    const char *name = nb_format(ctx, "nysbench %s", c->name);
    if (!name) return nb_print_failure(ctx, NB_EXIT_FAILED);
    argv[0] = name; /* a run records the call */
    const char *heading = nb_format(ctx, "%s%s%s\n\n%s.", name, *c->arguments ? " " : "", c->arguments, c->summary);
    if (!heading) return nb_print_failure(ctx, NB_EXIT_FAILED);
    poptContext context = poptGetContext("nysbench", argc - 1, argv + 1, options, POPT_CONTEXT_KEEP_FIRST);
    if (!context || nb_defer(ctx, free_options, context) != NB_OK) return nb_print_failure(ctx, NB_EXIT_FAILED);
    poptSetOtherOptionHelp(context, heading);
    int code;
    do code = poptGetNextOpt(context);
    while (code >= 0 && code != 'h');
    if (own_texts(options, ctx) != NB_OK) return nb_print_failure(ctx, NB_EXIT_FAILED);
    if (code == 'h') {
        poptPrintHelp(context, stdout, 0);
        return NB_EXIT_OK;
    }
    if (code < -1) return bad_option(c, context, code, options, ctx);
    const char **texts = poptGetArgs(context);
    *arguments.given = texts ? texts : none;
    int count = nb_text_count(*arguments.given), min = arguments.min;
    if (count >= min && count <= arguments.max) {
        code = read_values(c, options, ctx);
        for (int i = 0; i < count && i < arguments.runs && code == NB_GO_ON; i++)
            code = nb_command_check_run((*arguments.given)[i], ctx);
        return code;
    }
    if (count < min)
        say_missing(c, count);
    else
        nb_print_error("%s: unexpected argument '%s'", c->name, (*arguments.given)[arguments.max]);
    return usage(c);
}
