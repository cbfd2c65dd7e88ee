/* SPDX-License-Identifier: GPL-3.0-or-later */
/* check.c - nysbench check: the conformance checks on somebody's components, each on each
 * head in a process of its own, so that one that crashes or hangs is a verdict too. */
#include "commands/command.h"

#include "api/kinds.h"
#include "base/files.h"
#include "base/text.h"
#include "commands/python_file.h"
#include "components/plugin.h"
#include "config/code.h"
#include "kernels/kernel.h"
#include "conformance/conformance.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    const nb_choice *kernel;
    const nb_registry *kind; /* NULL: any */
    double timeout_s;
    int count, failures;
} tally;

typedef struct {
    nb_status status;
    long calls;
    const char *message, *cause; /* cause: the message without its place */
} verdict;

enum { MOST_CHECKS = 16 };

/* The causes that were told of one component, and by which checks. */
typedef struct {
    int count;
    const char *checks[MOST_CHECKS], *causes[MOST_CHECKS];
} told_causes;

/* `where` is the head's name, or NULL. */
static nb_status try(const nb_check *check, nb_trial_run *run, const char *where, const tally *t, verdict *v,
                     nb_ctx *ctx)
{
    v->status = nb_check_apart(check, run, t->timeout_s, ctx);
    v->calls += run->told.calls;
    if (v->status == NB_OK) return NB_OK;
    if (*run->told.place) where = run->told.place;
    NB_NEED(v->message, nb_format(ctx, "%s%s%s", where ? where : "", where ? ": " : "", nb_error_message(ctx)));
    NB_NEED(v->cause, nb_strdup(ctx, nb_conformance_cause(nb_error_message(ctx))));
    nb_error_clear(ctx);
    return NB_OK;
}

/* The check on one head after the other, up to the first on which it fails. */
static nb_status on_heads(const nb_check *check, const nb_trial_run *what, const tally *t, verdict *v, nb_ctx *ctx)
{
    nb_head head;
    const char *name = "";
    for (int i = 0; v->status == NB_OK; i++) {
        NB_TRY(ctx, nb_conformance_head(i, &name, &head, ctx));
        if (!name) return NB_OK;
        nb_trial_run run = *what;
        run.head = &head;
        NB_TRY(ctx, try(check, &run, name, t, v, ctx));
    }
    return NB_OK;
}

static void print_line(const char *text)
{
    nb_text_print_lines(stdout, "", 4, nb_format_width(), text);
    fflush(stdout);
}

static nb_status print_check(tally *t, const char *label, const char *check, const verdict *v, const char *what,
                             nb_ctx *ctx)
{
    bool failed = v->status != NB_OK;
    const char *calls = "", *text;
    t->count++;
    t->failures += failed;
    if (!failed && v->calls) NB_NEED(calls, nb_format(ctx, "; %ld calls", v->calls));
    NB_NEED(text, nb_format(ctx, "%s %s, %s: %s%s", failed ? "FAIL" : "PASS", label, check, failed ? v->message : what,
                            calls));
    print_line(text);
    return NB_OK;
}

/* A cause that an earlier check has told is not told again. */
static nb_status spare_cause(told_causes *told, const char *check, verdict *v, nb_ctx *ctx)
{
    for (int i = 0; i < told->count; i++)
        if (nb_conformance_same(told->causes[i], v->cause)) {
            NB_NEED(v->message, nb_format(ctx, "the same as in %s", told->checks[i]));
            return NB_OK;
        }
    if (told->count == MOST_CHECKS) return NB_OK;
    told->checks[told->count] = check;
    told->causes[told->count++] = v->cause;
    return NB_OK;
}

/* Prints pairings that are passed over, which is no verdict. */
static nb_status print_refused(const char *label, const nb_refused *refused, nb_ctx *ctx)
{
    for (nb_pairing p = 0; p < NB_PAIRING_COUNT; p++) {
        const char *text;
        if (!refused->why[p]) continue;
        NB_NEED(text,
                nb_format(ctx, "SKIP %s, pairing %s: it refuses: %s", label, nb_pairing_names[p], refused->why[p]));
        print_line(text);
    }
    return NB_OK;
}

static nb_status check_choice(const nb_registry *registry, const nb_choice *choice, tally *t, nb_ctx *ctx)
{
    nb_refused refused = {.why = {NULL}};
    told_causes told = {.count = 0};
    verdict early = {.status = nb_check_early(choice, registry, ctx)};
    if (early.status != NB_OK) {
        NB_NEED(early.message, nb_strdup(ctx, nb_error_message(ctx)));
        nb_error_clear(ctx);
        return print_check(t, choice->label, "options", &early, "", ctx);
    }
    if (registry == &nb_strategies) NB_TRY(ctx, nb_find_refused(choice, t->kernel, t->timeout_s, &refused, ctx));
    NB_TRY(ctx, print_refused(choice->label, &refused, ctx));
    for (const nb_check *check = nb_checks_of(registry); check->name; check++) {
        verdict v = {.status = NB_OK};
        nb_trial_run run = {.choice = choice, .kernel = t->kernel, .refused = refused};
        NB_TRY(ctx,
               nb_checks_need_heads(registry) ? on_heads(check, &run, t, &v, ctx) : try(check, &run, NULL, t, &v, ctx));
        const char *idle = check->idle ? check->idle(choice) : NULL;
        if (idle) v.calls = 0;
        if (v.status != NB_OK) NB_TRY(ctx, spare_cause(&told, check->name, &v, ctx));
        NB_TRY(ctx, print_check(t, choice->label, check->name, &v, idle ? idle : check->what, ctx));
    }
    return NB_OK;
}

static nb_status check_record(const nb_registry *registry, const nb_component *c, tally *t, nb_ctx *ctx)
{
    verdict v = {.status = nb_check_record(registry, c, ctx)};
    NB_NEED(v.message, nb_strdup(ctx, nb_error_message(ctx)));
    nb_error_clear(ctx);
    return print_check(t, c->name, "record", &v, "summary, references, options refuse bad values", ctx);
}

/* As it is and with each choice of each option. */
static nb_status check_component(const nb_registry *registry, const nb_component *c, tally *t, nb_ctx *ctx)
{
    nb_choices choices = {.count = 0};
    NB_TRY(ctx, check_record(registry, c, t, ctx));
    for (const nb_option *o = c->options; o->key; o++)
        NB_REQUIRE(ctx, o->initial, NB_EINVAL,
                   "%s needs the option '%s': nysbench check --plugin FILE.so '%s(%s=...)' checks it", c->name, o->key,
                   c->name, o->key);
    NB_TRY(ctx, nb_conformance_variants(registry, c, "", &choices, ctx));
    for (int i = 0; i < choices.count; i++) NB_TRY(ctx, check_choice(registry, &choices.items[i], t, ctx));
    return NB_OK;
}

static nb_status check_plugin(const char *path, tally *t, nb_ctx *ctx)
{
    const char *code[2] = {NULL};
    NB_NEED(code[0], nb_format(ctx, "plug-in %s", path));
    NB_TRY(ctx, nb_announce_code(code, ctx));
    NB_TRY(ctx, nb_plugin_load(path, ctx));
    for (int i = 0; nb_registries[i]; i++)
        for (const nb_entry *e = nb_registries[i]->entries; e->component; e++)
            if (strcmp(e->file, path) == 0) NB_TRY(ctx, check_component(nb_registries[i], e->component, t, ctx));
    return NB_OK;
}

/* Nothing has this name, of that kind. */
static nb_status unknown(const nb_registry *kind, const char *name, nb_ctx *ctx)
{
    enum { MOST = 4 * NB_PLUGIN_ROOM + 256 };
    const char *names[MOST + 1] = {NULL}, *hint;
    int count = 0;
    for (int i = 0; nb_registries[i]; i++)
        for (const nb_entry *e = nb_registries[i]->entries; e->component && count < MOST; e++)
            if (!kind || kind == nb_registries[i]) names[count++] = e->component->name;
    NB_NEED(hint, nb_hint(name, names, ctx));
    NB_FAIL(ctx, NB_EINVAL, "no %s '%s'%s", kind ? kind->kind : "component", name, hint);
}

/* Checks a spec of any kind; a name that two kinds have means both, if they take the options and are no program, which
 * answers as one kind: as a strategy, unless another is asked for. */
static nb_status check_spec(const char *text, tally *t, nb_ctx *ctx)
{
    const char *name;
    const nb_registry *refused = NULL;
    const char *const *code;
    bool found = false;
    NB_TRY(ctx, nb_spec_code(text, &code, ctx));
    NB_TRY(ctx, nb_announce_code(code, ctx));
    NB_NEED(name, nb_format(ctx, "%.*s", (int)strcspn(text, "( "), text));
    for (int i = 0; nb_registries[i]; i++) {
        nb_choice choice;
        if ((t->kind && t->kind != nb_registries[i]) || !nb_registry_find(nb_registries[i], name)) continue;
        nb_status status = nb_choice_parse(nb_registries[i], text, &choice, ctx);
        if (status == NB_EINVAL) {
            if (!refused) refused = nb_registries[i];
            nb_error_clear(ctx);
            continue;
        }
        NB_TRY(ctx, status);
        found = true;
        NB_TRY(ctx, check_record(nb_registries[i], choice.component, t, ctx));
        NB_TRY(ctx, check_choice(nb_registries[i], &choice, t, ctx));
        if (nb_registries[i] == &nb_strategies && nb_strategy_traits(&choice) & NB_ELSEWHERE) break;
    }
    nb_choice none;
    if (refused && !found) return nb_choice_parse(refused, text, &none, ctx);
    return found ? NB_OK : unknown(t->kind, name, ctx);
}

static nb_status check_python(const char *what, double timeout_s, nb_ctx *ctx)
{
    const char *words[] = {what, NULL, NULL};
    NB_NEED(words[1], nb_format(ctx, "%g", timeout_s));
    return nb_become_python("check_file", words, ctx);
}

static nb_status run(nb_command_line *line, nb_ctx *ctx)
{
    nb_real_value timeout = {.min = 1, .max = 86400, .value = 60};
    const char *kind = NULL;
    nb_choice kernel;
    tally t = {.kernel = &kernel};
    const struct poptOption options[] = {
        NB_PLUGIN_OPTION(line),
        NB_TEXT_OPTION("kind", 'k', kind,
                       "Of which kind SPEC is, where several have its name (default: all; of command: strategy)",
                       "KIND"),
        NB_PATIENCE_OPTION("timeout", 't', timeout, "Seconds for each check on each head (default: 60)"),
        POPT_TABLEEND};
    nb_ctx_set_patience(ctx, timeout.value);
    NB_TRY(ctx, nb_parse_command(line, options, 0, ctx));
    const char *what = line->arguments[0];
    t.timeout_s = timeout.value;
    if (nb_is_python_file(what)) return check_python(what, t.timeout_s, ctx);
    if (kind) NB_TRY(ctx, nb_kind_find(kind, &t.kind, ctx));
    NB_TRY(ctx, nb_choice_parse(&nb_kernels, nb_standard_kernel(), &kernel, ctx));
    NB_TRY(ctx, (nb_is_file(what) || nb_text_ends(what, ".so") ? check_plugin : check_spec)(what, &t, ctx));
    printf("%d of %d checks failed\n", t.failures, t.count);
    line->exit = t.failures ? NB_EXIT_FAILED : NB_EXIT_OK;
    return NB_OK;
}

NB_COMMAND(check, "FILE|SPEC", "Test a component on inputs that break others", true, NB_YOUR_OWN + 30);
