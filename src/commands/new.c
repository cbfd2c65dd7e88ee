/* SPDX-License-Identifier: GPL-3.0-or-later */
/* new.c - nysbench new WHAT NAME: writes a working component, or an experiment, to start from. */
#include "commands/command.h"

#include "base/files.h"
#include "base/words.h"
#include "base/text.h"
#include "commands/experiment.h"
#include "components/plugin.h"

#include <string.h>
#include <sys/stat.h>

/* Folder of a kind's files in the source tree, and the header by which the tree is recognised. */
static const struct {
    const char *kind, *folder, *header;
} places[] = {{"strategy", "strategies", "strategies/strategy.h"},
              {"problem", "src/problems", "src/problems/problem.h"},
              {"kernel", "src/kernels", "src/kernels/kernel.h"},
              {"core", "src/cores", "src/cores/core.h"},
              {"attention", "src/attentions", "src/attentions/attention.h"}};
enum { KINDS = sizeof places / sizeof *places };

const char *nb_new_at(int index)
{
    return index == 0 ? "experiment" : index <= KINDS ? places[index - 1].kind : NULL;
}

/* With the headers that the program has, or else with those that are installed. */
static nb_status print_makefile(FILE *out, const void *name, nb_ctx *ctx)
{
    const char *flags;
    NB_TRY(ctx, nb_plugin_flags(&flags, ctx));
    fprintf(out,
            "# nysbench check ./%s.so; nysbench run --plugin ./%s.so EXPERIMENT.yaml\n"
            "CFLAGS ?= -O2 -g -Wall -Wextra\n"
            "NYSBENCH := %s\n"
            "%s.so: %s.c\n"
            "\t$(CC) $(CFLAGS) $(NYSBENCH) -shared -fPIC $< -o $@\n",
            (const char *)name, (const char *)name, flags ? flags : "$(shell pkg-config --cflags nysbench)",
            (const char *)name, (const char *)name);
    return NB_OK;
}

/* The template of the kind with its name, in both spellings, replaced. */
static nb_status read_template(const char *kind, const char *name, const char **text, nb_ctx *ctx)
{
    const char *file, *path;
    NB_NEED(file, nb_format(ctx, "%s.c", kind));
    NB_TRY(ctx, nb_shared_file("templates", file, &path, ctx));
    NB_TRY(ctx, nb_read_file(path, text, ctx));
    NB_NEED(*text, nb_replaced(ctx, *text, "template", "TEMPLATE"));
    NB_NEED(*text, nb_replaced(ctx, *text, "TEMPLATE", name));
    return NB_OK;
}

static nb_status check_name(const char *kind, const char *name, nb_ctx *ctx)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    const nb_registry *const *registry = nb_registries;
    while (strcmp((*registry)->kind, kind) != 0) registry++;
    NB_REQUIRE(ctx, name[0] >= 'a' && name[0] <= 'z' && !name[strspn(name, letters)], NB_EINVAL,
               "'%s' is not a name for %s %s: allowed are a-z, 0-9 and '_', beginning with a letter", name,
               nb_article(kind), kind);
    NB_REQUIRE(ctx, !nb_registry_find(*registry, name), NB_EINVAL, "there is %s %s '%s' already", nb_article(kind),
               kind, name);
    return NB_OK;
}

static bool is_there(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0;
}

static nb_status write_new(const char *path, nb_status (*print)(FILE *, const void *, nb_ctx *), const void *what,
                           nb_ctx *ctx)
{
    NB_REQUIRE(ctx, !is_there(path), NB_EINVAL, "%s: exists already", path);
    return nb_write_file(path, print, what, ctx);
}

static nb_status print_plugin_next(const char *source, const char *makefile, const char *folder, const char *name,
                                   nb_ctx *ctx)
{
    const char *program, *place = "", *object;
    NB_TRY(ctx, nb_shell_program(&program, ctx));
    if (folder) NB_TRY(ctx, nb_shell_word(folder, &place, ctx));
    NB_NEED(object, nb_format(ctx, "%s/%s.so", folder ? folder : ".", name));
    NB_TRY(ctx, nb_shell_word(object, &object, ctx));
    printf("%s\n%s\n"
           "Now:\n"
           "  make%s%s\n"
           "  %s check %s\n"
           "  %s run --plugin %s EXPERIMENT.yaml\n",
           source, makefile, folder ? " -C " : "", place, program, object, program, object);
    return NB_OK;
}

/* In the source tree a file in the kind's folder is all; elsewhere there is a Makefile too. */
static nb_status make_component(int kind, const char *name, const char *folder, nb_ctx *ctx)
{
    const char *source, *makefile, *program, *text;
    bool in_tree = !folder && nb_is_file(places[kind].header);
    NB_TRY(ctx, check_name(places[kind].kind, name, ctx));
    NB_TRY(ctx, read_template(places[kind].kind, name, &text, ctx));
    if (folder) NB_TRY(ctx, nb_make_folder(folder, ctx));
    NB_NEED(source, nb_format(ctx, "%s/%s.c", in_tree ? places[kind].folder : folder ? folder : ".", name));
    NB_NEED(makefile, nb_format(ctx, "%s/Makefile", folder ? folder : "."));
    NB_REQUIRE(ctx, in_tree || !is_there(makefile), NB_EINVAL, "%s: exists already", makefile);
    NB_TRY(ctx, write_new(source, nb_print_whole, text, ctx));
    if (!in_tree) NB_TRY(ctx, write_new(makefile, print_makefile, name, ctx));
    if (!in_tree) return print_plugin_next(source, makefile, folder, name, ctx);
    NB_TRY(ctx, nb_shell_program(&program, ctx));
    printf("%s\nNow:\n  make\n  %s check %s\n", source, program, name);
    return NB_OK;
}

static nb_status unknown(const char *kind, nb_ctx *ctx)
{
    nb_string allowed = NB_NO_TEXT;
    for (int i = 0; nb_new_at(i); i++) NB_TRY(ctx, nb_append_item(&allowed, ", ", ctx, "%s", nb_new_at(i)));
    NB_FAIL(ctx, NB_EINVAL, "new: '%s' is unknown; allowed: %s", kind, allowed.text);
}

/* The command line. */
typedef struct {
    char *folder;                                             /* of a component */
    char *question, *landmarks, *strategies, *cores, *trials; /* of an experiment */
    const char **heads;
    int yes, force;
} choices;

static nb_status check_component_options(const choices *c, const char *name, const char *kind, nb_ctx *ctx)
{
    bool others =
        c->question || c->landmarks || c->strategies || c->cores || c->trials || c->heads || c->yes || c->force;
    NB_REQUIRE(ctx, name, NB_EINVAL, "new %s: it needs a NAME", kind);
    NB_REQUIRE(ctx, !others, NB_EINVAL, "new %s: it has the option --out alone; the others are for new experiment",
               kind);
    return NB_OK;
}

static nb_status make_experiment(const choices *c, const char *path, nb_ctx *ctx)
{
    const char *program, *file;
    const nb_override values[] = {{"question", c->question}, {"landmarks", c->landmarks}, {"strategies", c->strategies},
                                  {"cores", c->cores},       {"trials", c->trials},       {NULL, NULL}};
    const nb_new_answers answers = {values, c->heads};
    if (!path) path = "experiment.yaml";
    NB_REQUIRE(ctx, !c->folder, NB_EINVAL, "new experiment: it has no option --out; its FILE may be in any folder");
    NB_REQUIRE(ctx, c->force || !is_there(path), NB_EINVAL, "%s: exists already; --force replaces it", path);
    NB_TRY(ctx, nb_new_experiment(path, &answers, ctx));
    NB_TRY(ctx, nb_shell_program(&program, ctx));
    NB_TRY(ctx, nb_shell_word(path, &file, ctx));
    puts(path);
    if (!c->heads) puts("Its data are drawn; --heads FILE takes heads of your own, and an editor changes the rest.");
    printf("Now:\n  %s plan %s    # what it costs\n  %s run %s\n", program, file, program, file);
    return NB_OK;
}

static nb_status run(nb_command_line *line, nb_ctx *ctx)
{
    choices c = {.folder = NULL};
    const struct poptOption options[] = {
        NB_TEXT_OPTION(
            "out", 'o', c.folder,
            "Where to write a component (default: the kind's folder in the source tree, else here, with a Makefile)",
            "DIR"),
        NB_LIST_OPTION(
            "heads", '\0', c.heads,
            "experiment: a file of heads, one of its heads, a folder of files or a pattern with *; may be repeated "
            "(default: drawn data)",
            "FILE[:H]"),
        NB_TEXT_OPTION("strategies", '\0', c.strategies,
                       "experiment: strategies; the first is the baseline, the last is claimed to be better than it",
                       "LIST"),
        NB_TEXT_OPTION("cores", '\0', c.cores, "experiment: cores", "LIST"),
        NB_TEXT_OPTION("landmarks", 'm', c.landmarks, "experiment: numbers of landmarks", "LIST"),
        NB_TEXT_OPTION("trials", 't', c.trials, "experiment: repetitions", "N"),
        NB_TEXT_OPTION("question", '\0', c.question, "experiment: what is asked, a sentence", "TEXT"),
        NB_FLAG_OPTION("yes", 'y', c.yes, "experiment: no effect; accepted for older scripts"),
        NB_FLAG_OPTION("force", 'f', c.force, "experiment: replace a FILE that is there"),
        POPT_TABLEEND};
    NB_TRY(ctx, nb_parse_command(line, options, 0, ctx));
    const char *kind = line->arguments[0], *name = line->arguments[1];
    int component = 0;
    while (component < KINDS && strcmp(places[component].kind, kind) != 0) component++;
    if (strcmp(kind, "experiment") == 0) return make_experiment(&c, name, ctx);
    if (component == KINDS) return unknown(kind, ctx);
    NB_TRY(ctx, check_component_options(&c, name, kind, ctx));
    return make_component(component, name, c.folder, ctx);
}

NB_COMMAND(new, "WHAT [NAME|FILE]",
           "Write an experiment or a component to start from.\n\n"
           "WHAT is experiment, strategy, core, kernel, problem or attention",
           false, NB_BEGIN_HERE + 20);
