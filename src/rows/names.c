/* SPDX-License-Identifier: GPL-3.0-or-later */
/* names.c - see names.h */
#include "rows/names.h"

#include "attentions/attention.h"
#include "base/builder.h"
#include "base/text.h"
#include "components/registry.h"
#include "config/labels.h"
#include "cores/core.h"
#include "kernels/kernel.h"
#include "partitions/partition.h"
#include "problems/problem.h"
#include "rows/columns.h"
#include "rows/made_tables.h"
#include "rows/statement.h"
#include "strategies/strategy.h"

#include <math.h>
#include <string.h>

/* Returns whether it says how a file of heads is read. */
static bool is_of_reading(const nb_option *o)
{
    return !o->names_files && !o->selects_head;
}

/* Returns what files of heads of one kind agree in: the model, the layer, the shape, and the problem's options except
 * the file and the head. For other data it is the problem itself. */
static nb_status kind_of(const char *spec, const nb_data_origin *origin, const nb_choice *choice, const char **kind,
                         nb_ctx *ctx)
{
    nb_string all = NB_NO_TEXT;
    *kind = spec;
    if (!origin->model || !choice) return NB_OK;
    NB_TRY(ctx,
           nb_append(&all, ctx, "%s, layer %s, n = %d, d = %d", origin->model, origin->layer, origin->n, origin->d));
    for (const nb_option *o = choice->component->options; o->key; o++) {
        const char *text;
        if (!is_of_reading(o)) continue;
        NB_TRY(ctx, nb_option_text(choice->options, o, 0, &text, ctx));
        NB_TRY(ctx, nb_append(&all, ctx, ", %s = %s", o->key, text));
    }
    *kind = all.text;
    return NB_OK;
}

/* *choice: NULL where the component is not in this program. */
static nb_status choose(const nb_registry *registry, const char *spec, const nb_choice **choice, nb_ctx *ctx)
{
    nb_choice *room;
    bool there;
    *choice = NULL;
    if (!registry) return NB_OK;
    NB_NEED(room, nb_alloc(ctx, 1, sizeof *room));
    NB_TRY(ctx, nb_choice_recall(registry, spec, room, &there, ctx));
    if (there) *choice = room;
    return NB_OK;
}

static const nb_registry *registry_of(const nb_relation *r, int kind)
{
    return nb_column_registry(r->study->columns, r->kinds[kind]->name);
}

bool nb_has_components(const nb_relation *r, int kind)
{
    return registry_of(r, kind);
}

nb_status nb_component_label(const nb_relation *r, const char *column, const char **text, nb_ctx *ctx)
{
    const nb_registry *registry = nb_column_registry(r->study->columns, column);
    return registry ? nb_labels_apart(registry, r->labels, 1, (const char *const[]){*text}, text, ctx) : NB_OK;
}

nb_status nb_problem_labels(const nb_relation *r, int count, const char *const *specs, const char **labels)
{
    return nb_labels_apart(&nb_problems, r->labels, count, specs, labels, r->ctx);
}

/* Returns whether a component draws; one that the program does not know may. An attention draws by itself: its strategy
 * and core stand beside it. */
static bool draws(const nb_relation *r, const nb_registry *registry, const nb_choice *c)
{
    bool attends = registry == &nb_attentions;
    if (!attends && nb_column_find(r->study->columns, "attention")) return false;
    if (attends) return !c || nb_attention_traits(c) & NB_ATTENTION_RANDOM;
    if (registry == &nb_strategies) return !c || nb_strategy_traits(c) & NB_RANDOM;
    if (registry == &nb_cores) return !c || nb_core_traits(c) & NB_CORE_RANDOM;
    return registry == &nb_partitions && (!c || ((const nb_partition *)c->component)->random);
}

nb_status nb_names_number(nb_names *names, int kind, const char *spec, int *number, bool *known)
{
    nb_texts *specs = &names->relation->specs[kind];
    int count = specs->count;
    NB_TRY(specs->ctx, nb_texts_number(specs, spec, number));
    *known = *number < count;
    if (!*known) NB_GROW(specs->ctx, names->facts[kind], *number, names->room[kind]);
    return NB_OK;
}

nb_spec_facts *nb_fact_of(const nb_names *names, int kind, int number)
{
    return &names->facts[kind][number];
}

nb_status nb_names_look_at(nb_names *names, int kind, int number, const nb_data_origin *origin)
{
    const nb_relation *r = names->relation;
    const char *spec = r->specs[kind].items[number];
    nb_spec_facts *f = nb_fact_of(names, kind, number);
    const nb_registry *registry = registry_of(r, kind);
    const nb_choice *choice;
    NB_TRY(r->ctx, choose(registry, spec, &choice, r->ctx));
    *f = (nb_spec_facts){.choice = choice, .draws = draws(r, registry, choice), .first = -1};
    f->apart = nb_is_of_runs(r, kind) && !nb_text_among(spec, r->shared);
    if (kind != r->problem) return NB_OK;
    const char *label = nb_given_label_of(r->labels, &nb_problems, spec);
    if (choice && ((const nb_problem *)choice->component)->random) f->stratum = label ? label : choice->label;
    return kind_of(spec, origin, choice, &f->alike, r->ctx);
}

/* The component with all options but one, as its identity or its label has them. */
static nb_status without(const nb_choice *choice, const nb_option *except, bool label, const char **out, nb_ctx *ctx)
{
    nb_string all = NB_NO_TEXT;
    const char *value;
    for (const nb_option *o = choice->component->options; o->key; o++) {
        if (o == except) continue;
        NB_TRY(ctx, nb_option_text(choice->options, o, label ? 0 : 17, &value, ctx));
        if (label && o->initial && strcmp(value, o->initial) == 0) continue;
        NB_TRY(ctx, nb_append_item(&all, ", ", ctx, "%s=%s", o->key, value));
    }
    NB_NEED(*out, *all.text ? nb_format(ctx, "%s(%s)", choice->component->name, all.text)
                            : nb_strdup(ctx, choice->component->name));
    return NB_OK;
}

/* NaN of a text or a word. */
static double number_of(const nb_choice *choice, const nb_option *o)
{
    const char *field = (const char *)choice->options + o->offset;
    if (o->type == NB_OPTION_REAL) return *(const double *)field;
    return o->type == NB_OPTION_INT && *(const int *)field > NB_SECOND ? (double)*(const int *)field : NAN;
}

/* Returns whether the option is a size: of a drawn problem `n`, of a file `max_n`, of an attention what it says. */
static bool is_size(const nb_registry *registry, const nb_choice *choice, const nb_option *o)
{
    size_t length = strlen(o->key);
    const char *size = registry == &nb_attentions ? ((const nb_attention *)choice->component)->size : NULL;
    if (registry != &nb_problems) return size && strcmp(o->key, size) == 0;
    return o->type == NB_OPTION_INT &&
           (strcmp(o->key, "n") == 0 || (length > 2 && strcmp(o->key + length - 2, "_n") == 0));
}

static nb_status add_options(const nb_relation *r, sqlite3_stmt *s, int kind, int id, const nb_choice *choice)
{
    for (const nb_option *o = choice->component->options; o->key; o++) {
        const char *value, *rest, *label;
        nb_mark mark = nb_ctx_mark(r->ctx);
        NB_TRY(r->ctx, nb_option_text(choice->options, o, 17, &value, r->ctx));
        NB_TRY(r->ctx, without(choice, o, false, &rest, r->ctx));
        NB_TRY(r->ctx, without(choice, o, true, &label, r->ctx));
        NB_TRY(r->ctx, nb_relation_add(r, s, "tttttiiri", r->kinds[kind]->name, o->key, value, rest, label, id,
                                       (int)(o - choice->component->options), number_of(choice, o),
                                       is_size(registry_of(r, kind), choice, o)));
        nb_ctx_release(r->ctx, mark);
    }
    return NB_OK;
}

static bool reads_files(const nb_choice *c)
{
    const nb_option *o = c->component->options;
    while (o->key && !o->names_files) o++;
    return o->key;
}

/* inputs <- by spec of the problem that reads files, how it reads them, in what others of the run read them otherwise:
 * "max_n = 12, permute = true"; NULL of other problems. */
static nb_status name_inputs(const nb_names *names, const char **inputs)
{
    const nb_relation *r = names->relation;
    const nb_texts *specs = &r->specs[r->problem];
    const nb_component *reader = NULL;
    const char **texts;
    NB_NEED(texts, nb_alloc(r->ctx, (size_t)specs->count + 1, sizeof *texts));
    for (int i = 0; i < specs->count; i++) {
        const nb_choice *c = nb_fact_of(names, r->problem, i)->choice;
        if (!c || !reads_files(c) || (reader && c->component != reader)) continue;
        reader = c->component;
        inputs[i] = "";
    }
    for (const nb_option *o = reader ? reader->options : NULL; o && o->key; o++) {
        const char *any = NULL;
        bool differ = false;
        for (int i = 0; i < specs->count && is_of_reading(o); i++) {
            const nb_choice *c = nb_fact_of(names, r->problem, i)->choice;
            if (!c || !inputs[i]) continue;
            NB_TRY(r->ctx, nb_option_text(c->options, o, 0, &texts[i], r->ctx));
            differ = differ || (any && strcmp(any, texts[i]) != 0);
            any = texts[i];
        }
        for (int i = 0; i < specs->count && differ; i++)
            if (inputs[i])
                NB_NEED(inputs[i],
                        nb_format(r->ctx, "%s%s%s = %s", inputs[i], *inputs[i] ? ", " : "", o->key, texts[i]));
    }
    return NB_OK;
}

static nb_status add_component(const nb_names *names, sqlite3_stmt *s, sqlite3_stmt *options, int kind, int id,
                               const char *label, const char *input)
{
    const nb_relation *r = names->relation;
    const nb_spec_facts *f = nb_fact_of(names, kind, id);
    const nb_registry *registry = registry_of(r, kind);
    const char *spec = r->specs[kind].items[id], *full = nb_given_label_of(r->labels, registry, spec);
    const nb_choice *choice = f->choice;
    const nb_kernel *kernel = choice && registry == &nb_kernels ? (const nb_kernel *)choice->component : NULL;
    unsigned strategy = choice && registry == &nb_strategies ? nb_strategy_traits(choice) : 0,
             core = choice && registry == &nb_cores ? nb_core_traits(choice) : 0,
             attention = choice && registry == &nb_attentions ? nb_attention_traits(choice) : 0;
    if (!full && choice && choice->component->options->key) NB_TRY(r->ctx, nb_choice_full(choice, &full, r->ctx));
    if (!full) full = label;
    NB_TRY(r->ctx, nb_relation_add(r, s, "tttttiiiiiiiiiiiit", r->kinds[kind]->name, spec, label, full,
                                   choice ? choice->component->name : NULL, id, kind, f->first, f->open,
                                   (strategy & NB_ORACLE || core & NB_CORE_ORACLE),
                                   (strategy & NB_RANDOM || core & NB_CORE_RANDOM), ((core & NB_CORE_FILTER) != 0),
                                   ((attention & NB_ATTENTION_EXACT) != 0), (choice && choice->plain),
                                   (kernel && kernel->points), (kernel && kernel->low_rank),
                                   (!kernel || kernel->stochastic), input));
    return choice ? add_options(r, options, kind, id, choice) : NB_OK;
}

nb_status nb_names_make(const nb_names *names)
{
    const nb_relation *r = names->relation;
    sqlite3_stmt *component, *option;
    nb_mark mark = nb_ctx_mark(r->ctx);
    NB_TRY(r->ctx, nb_table_make(r, "component", "names.component", NULL, &component, r->ctx));
    NB_TRY(r->ctx, nb_table_make(r, "option", "names.option", NULL, &option, r->ctx));
    for (int kind = 0; kind < r->kind_count; kind++) {
        const nb_registry *registry = registry_of(r, kind);
        const nb_texts *specs = &r->specs[kind];
        const char **labels, **inputs;
        NB_NEED(labels, nb_alloc(r->ctx, (size_t)specs->count + 1, sizeof *labels));
        NB_NEED(inputs, nb_alloc(r->ctx, (size_t)specs->count + 1, sizeof *inputs));
        if (kind == r->problem) NB_TRY(r->ctx, name_inputs(names, inputs));
        for (int i = 0; i < specs->count; i++) labels[i] = specs->items[i];
        if (registry) NB_TRY(r->ctx, nb_labels_apart(registry, r->labels, specs->count, specs->items, labels, r->ctx));
        for (int i = 0; i < specs->count; i++)
            NB_TRY(r->ctx, add_component(names, component, option, kind, i, labels[i], inputs[i]));
    }
    nb_ctx_release(r->ctx, mark);
    return nb_sql_run(r, "names.one_input", NULL, r->ctx);
}
