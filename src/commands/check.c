/* check.c - nysbench check: the conformance checks on somebody's strategy, each in a
 * process of its own, so that one that crashes or hangs is a verdict too. */
#include "commands/command.h"

#include "base/files.h"
#include "base/plugin.h"
#include "base/process.h"
#include "base/registry.h"
#include "experiment/config.h"
#include "measure/conformance.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct { /* through a pipe, which takes it whole */
    nb_status status;
    long calls;
    int heads;
    char message[1024];
} verdict;

typedef struct {
    const nb_choice *kernel;
    int timeout_s;
    int count, failures;
} tally;

/* The check on one head after the other, up to the first on which it fails. */
static nb_status on_heads(const nb_check *check, const nb_choice *strategy, const nb_choice *kernel, verdict *v, nb_ctx *ctx)
{
    nb_head head;
    const char *name, *message;
    for (;; v->heads++) {
        nb_mark mark = nb_ctx_mark(ctx);
        NB_TRY(ctx, nb_conformance_head(v->heads, &name, &head, ctx));
        if (!name) return NB_OK;
        nb_trial_run run = {.strategy = strategy, .kernel = kernel, .head = &head};
        nb_status status = check->run(&run, ctx);
        v->calls += run.calls;
        if (status != NB_OK) {
            NB_NEED(message, nb_strdup(ctx, nb_error_message(ctx)));
            nb_error_clear(ctx);
            NB_FAIL(ctx, status, "%s: %s", name, message);
        }
        nb_ctx_release(ctx, mark);
    }
}

/* In the child. */
static _Noreturn void tell(int fd, const nb_check *check, const nb_choice *strategy, const nb_choice *kernel, nb_ctx *ctx)
{
    verdict v = {.status = NB_OK};
    v.status = on_heads(check, strategy, kernel, &v, ctx);
    snprintf(v.message, sizeof v.message, "%s", nb_error_message(ctx));
    _exit(write(fd, &v, sizeof v) == sizeof v ? 0 : 1);
}

/* What the child found, or how it ended without a word. */
static nb_status try(const nb_check *check, const nb_choice *strategy, const tally *t, verdict *v, nb_ctx *ctx)
{
    int ends[2];
    pid_t pid;
    nb_ending ending;
    const char *end = "";
    NB_REQUIRE(ctx, pipe2(ends, O_CLOEXEC) == 0, NB_EIO, "a pipe cannot be made: %s", strerror(errno));
    nb_status status = nb_process_fork(&pid, ctx);
    if (status == NB_OK && pid == 0) tell(ends[1], check, strategy, t->kernel, ctx);
    close(ends[1]);
    if (status == NB_OK) status = nb_process_await(pid, t->timeout_s, &ending, ctx);
    bool told = status == NB_OK && read(ends[0], v, sizeof *v) == sizeof *v;
    close(ends[0]);
    NB_TRY(ctx, status);
    if (told) return NB_OK;
    NB_TRY(ctx, nb_ending_text(&ending, t->timeout_s, &end, ctx));
    *v = (verdict){.status = NB_EBUG};
    snprintf(v->message, sizeof v->message, "%s", *end ? end : "it ended the program");
    return NB_OK;
}

static void print(tally *t, const char *strategy, const char *check, const verdict *v, const char *what)
{
    t->count++;
    t->failures += v->status != NB_OK;
    if (v->status != NB_OK)
        printf("FAIL %s, %s: %s\n", strategy, check, v->message);
    else if (v->calls)
        printf("PASS %s, %s: %s; %ld calls on %d heads\n", strategy, check, what, v->calls, v->heads);
    else
        printf("PASS %s, %s: %s\n", strategy, check, what);
    fflush(stdout);
}

static nb_status check_choice(const nb_choice *strategy, tally *t, nb_ctx *ctx)
{
    for (const nb_check *check = nb_strategy_checks; check->name; check++) {
        verdict v;
        NB_TRY(ctx, try(check, strategy, t, &v, ctx));
        print(t, strategy->label, check->name, &v, check->what);
    }
    return NB_OK;
}

static nb_status check_record(const nb_component *c, tally *t, nb_ctx *ctx)
{
    verdict v = {.status = nb_check_record(&nb_strategies, c, ctx)};
    snprintf(v.message, sizeof v.message, "%s", nb_error_message(ctx));
    nb_error_clear(ctx);
    print(t, c->name, "record", &v, "summary, references, options that refuse what they must");
    return NB_OK;
}

/* Each strategy of the plugin, as it is and with each choice of each option. */
static nb_status check_plugin(const char *path, tally *t, nb_ctx *ctx)
{
    NB_TRY(ctx, nb_plugin_load(path, ctx));
    for (const nb_entry *e = nb_strategies.entries; e->component; e++) {
        nb_choices choices = {.count = 0};
        if (strcmp(e->file, path) != 0) continue;
        NB_TRY(ctx, check_record(e->component, t, ctx));
        NB_TRY(ctx, nb_conformance_variants(&nb_strategies, e->component, "", &choices, ctx));
        for (int i = 0; i < choices.count; i++) NB_TRY(ctx, check_choice(&choices.items[i], t, ctx));
    }
    NB_REQUIRE(ctx, t->count > 0, NB_EINVAL, "%s: adds no strategy", path);
    return NB_OK;
}

static nb_status check_spec(const char *text, tally *t, nb_ctx *ctx)
{
    nb_choice choice;
    NB_TRY(ctx, nb_choice_parse(&nb_strategies, text, &choice, ctx));
    NB_TRY(ctx, check_record(choice.component, t, ctx));
    return check_choice(&choice, t, ctx);
}

static bool is_plugin(const char *text)
{
    size_t length = strlen(text);
    return nb_is_file(text) || (length > 3 && strcmp(text + length - 3, ".so") == 0);
}

static int run(const nb_command *command, int argc, const char **argv, nb_ctx *ctx)
{
    char *timeout = NULL;
    const char **arguments, **plugins = NULL;
    nb_choice kernel;
    tally t = {.timeout_s = 60, .kernel = &kernel};
    struct poptOption options[] = {
        NB_HELP_OPTION, NB_PLUGIN_OPTION(plugins),
        {"timeout", 't', POPT_ARG_STRING, &timeout, 0, "Seconds for each check (default: 60)", "SECONDS"}, POPT_TABLEEND};
    int code = nb_command_parse(command, argc, argv, options, 1, 1, &arguments, ctx);
    nb_status status = nb_command_plugins(plugins, ctx);
    if (timeout && nb_defer(ctx, free, timeout) != NB_OK) status = NB_ENOMEM;
    if (code != NB_GO_ON) return code;
    code = nb_command_number(command, "--timeout", timeout, 1, 86400, &t.timeout_s);
    if (code != NB_GO_ON) return code;
    if (status == NB_OK) status = nb_choice_parse(&nb_kernels, nb_standard_kernel(), &kernel, ctx);
    if (status == NB_OK) status = (is_plugin(arguments[0]) ? check_plugin : check_spec)(arguments[0], &t, ctx);
    if (status != NB_OK) return nb_print_failure(ctx, NB_EXIT_USAGE);
    printf("%d of %d checks failed\n", t.failures, t.count);
    return t.failures ? NB_EXIT_FAILED : NB_EXIT_OK;
}

const nb_command nb_command_check = {"check", "FILE.so|SPEC", "Try a strategy on what others fail on, a verdict a line", run, true};
