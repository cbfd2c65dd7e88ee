/* SPDX-License-Identifier: GPL-3.0-or-later */
/* keys.c - see keys.h */
#include "config/keys.h"

#include "base/default_seed.h"
#include "base/text.h"
#include "components/plugin.h"
#include "components/study.h"
#include "components/registry.h"
#include "config/config_study.h"
#include "config/lookup.h"

#include <string.h>

static nb_status read_name(const nb_config_loader *l, const nb_config_key *k, nb_yaml f)
{
    bool of_file = !f.in_file && f.source == l->path;
    const char *hint = of_file ? ", which is the file's name; a line 'name: ...' sets another" : "";
    return nb_read_name(k->name, f, hint, &l->config->name, l->mistakes);
}

static nb_status read_question(const nb_config_loader *l, const nb_config_key *k, nb_yaml f)
{
    if (!nb_yaml_scalar(f))
        return nb_yaml_mistake(f, l->mistakes, "%s: expected a text, found %s", k->name, nb_yaml_kind(f));
    NB_NEED(l->config->question, nb_strdup(l->ctx, nb_yaml_scalar(f)));
    return NB_OK;
}

static nb_status read_seed(const nb_config_loader *l, const nb_config_key *k, nb_yaml f)
{
    return nb_read_integer(k->name, f, 0, 9223372036854775807, &l->config->seed, l->mistakes);
}

/* A config that was resolved before the key was there is of a run whose sources share their draws. */
static nb_status read_draws(const nb_config_loader *l, const nb_config_key *k, nb_yaml f)
{
    l->config->draws = NB_DRAWS_SHARED;
    return l->recalls && !f.in_file ? NB_OK : nb_read_word(k->name, f, nb_draws_words, &l->config->draws, l->mistakes);
}

/* Loads the plug-ins first, since later keys may name their components. */
nb_status nb_config_read_plugins(const nb_config_loader *l, nb_yaml f)
{
    int count;
    const char **paths;
    if (nb_yaml_count(f) == 0) return NB_OK;
    NB_TRY(l->ctx, nb_read_texts("plugins", f, &count, &paths, l->mistakes));
    for (int i = 0; i < count; i++) {
        nb_status status = f.in_file ? nb_lookup_path(paths[i], f.source, &paths[i], l->ctx) : NB_OK;
        if (status == NB_OK && !l->recalls) status = nb_plugin_load(paths[i], l->ctx);
        if (f.in_file) status = nb_lookup_explain_path(status, paths[i], f.source, l->ctx);
        NB_TRY(l->ctx, nb_mistakes_take(l->mistakes, nb_yaml_place(f), status));
    }
    return NB_OK;
}

nb_status nb_config_read_study(const nb_config_loader *l, nb_yaml f)
{
    nb_choices named = {.count = 0};
    const char *text = nb_yaml_scalar(f);
    if (!text) return nb_yaml_mistake(f, l->mistakes, "study: expected its name, found %s", nb_yaml_kind(f));
    const nb_component *found = nb_registry_find(&nb_studies, text);
    if (found) l->config->study = (const nb_study *)found;
    return found ? NB_OK
                 : nb_choices_add(&named, &nb_studies, text, nb_yaml_place(f), l->mistakes,
                                  l->ctx); /* tells what there is */
}

/* One of the values that are compared with other options, or whatever is near. */
static nb_status hint_baseline(const nb_choices *list, const char *text, const nb_choices *named, const char **hint,
                               nb_ctx *ctx)
{
    const char **labels;
    NB_NEED(labels, nb_alloc(ctx, (size_t)list->count + 1, sizeof *labels));
    for (int i = 0; i < list->count; i++) {
        labels[i] = list->items[i].label;
        if (named->count != 1 || list->items[i].component != named->items[0].component) continue;
        NB_NEED(*hint, nb_format(ctx, "; did you mean '%s'?", labels[i]));
        return NB_OK;
    }
    NB_NEED(*hint, nb_hint(text, labels, ctx));
    return NB_OK;
}

/* After the values of all blocks; without them if something was wrong. */
static nb_status read_baseline(const nb_config_loader *l, const nb_config_key *k, nb_yaml f)
{
    nb_config *c = l->config;
    const nb_axis *axis = &c->study->axes[c->study->baseline];
    const nb_choices *list = &c->lists[c->study->baseline].choices;
    nb_choices named = {.count = 0};
    int mistakes = l->mistakes->count;
    const char *text = nb_yaml_scalar(f);
    nb_plugin_call(&c->study->component, "default_baseline");
    const nb_config_study *study = nb_config_study_of(c->study);
    c->baseline = study->default_baseline ? study->default_baseline(c) : list->count ? list->items : NULL;
    nb_plugin_return(&c->study->component);
    if (text && strcmp(text, "default") == 0) return NB_OK;
    if (!text)
        return nb_yaml_mistake(f, l->mistakes, "%s: expected %s %s, found %s", k->name,
                               nb_article(axis->registry->kind), axis->registry->kind, nb_yaml_kind(f));
    NB_TRY(l->ctx, nb_choices_add(&named, axis->registry, text, nb_yaml_place(f), l->mistakes, l->ctx));
    if (l->mistakes->count > mistakes || c->block_count == 0) return NB_OK;
    for (int i = 0; i < named.count && f.in_file; i++)
        NB_TRY(l->ctx, nb_lookup_choice(&named.items[i], f.source, l->ctx));
    int at = named.count == 1 ? nb_choices_find(list, &named.items[0]) : -1;
    if (at < 0) {
        const char *hint;
        NB_TRY(l->ctx, hint_baseline(list, text, &named, &hint, l->ctx));
        return nb_yaml_mistake(f, l->mistakes, "%s: expected one of the %s, found '%s'%s", k->name, axis->key, text,
                               hint);
    }
    c->baseline = &list->items[at];
    return NB_OK;
}

static nb_status read_metrics(const nb_config_loader *l, const nb_config_key *k, nb_yaml f)
{
    nb_config *c = l->config;
    const nb_column *columns = c->study->columns;
    const char **names;
    int count = 0;
    unsigned all = 0;
    NB_NEED(names, nb_alloc(l->ctx, (size_t)nb_column_count(columns) + 1, sizeof *names));
    for (const nb_column *column = columns; column->name; column++) {
        if (column->measure) names[count++] = column->name;
        if (!column->named) all |= column->wanted;
    }
    NB_TRY(l->ctx, nb_read_words(k->name, f, names, "all", &c->metric_count, &c->metrics, l->mistakes));
    for (int i = 0; i < c->metric_count; i++) {
        const nb_column *column = nb_column_find(columns, c->metrics[i]);
        c->wanted |= strcmp(c->metrics[i], "all") == 0 ? all : column ? column->wanted : 0;
    }
    return NB_OK;
}

/* One of the study's own. */
static nb_status read_setting(const nb_config_loader *l, const nb_config_key *k, nb_yaml f)
{
    const nb_option *o = k->option;
    const nb_study *study = l->config->study;
    const char *text = nb_yaml_scalar(f), *expected;
    if (o->type == NB_OPTION_ENUM) {
        int *field = (int *)((char *)l->config->settings + o->offset);
        return nb_read_word(k->name, f, o->choices, field, l->mistakes);
    }
    if (text) NB_NEED(text, nb_strdup(l->ctx, text));
    if (!text || !nb_option_set(o, text, l->config->settings)) {
        NB_NEED(expected, nb_option_allowed(o, false, l->ctx));
        return nb_yaml_mistake(f, l->mistakes, "%s: expected %s, found '%s'", k->name, expected, nb_yaml_found(f));
    }
    const nb_config_study *asked = nb_config_study_of(study);
    if (!asked->read_setting) return NB_OK;
    nb_plugin_call(&study->component, "read_setting");
    nb_status status = asked->read_setting(o, l->config->settings, nb_yaml_place(f), l->mistakes);
    nb_plugin_return(&study->component);
    return status;
}

/* The default figure: the study's first, or the standard one in the tree. */
static const char *standard_figure(const nb_study *study)
{
    const char *const *figures = nb_config_study_of(study)->figures;
    for (const nb_entry *e = nb_figures.entries; e->component && !figures; e++) {
        const nb_output *figure = (const nb_output *)e->component;
        if (figure->standard && strcmp(figure->study, study->component.name) == 0) return e->component->name;
    }
    return figures && *figures ? *figures : "[]";
}

static nb_status read_plots(const nb_config_loader *l, const nb_config_key *k, nb_yaml f)
{
    const nb_study *study = l->config->study;
    const char *const *figures = nb_config_study_of(study)->figures;
    if (nb_yaml_count(f) == 0) return NB_OK;
    if (!figures) NB_TRY(l->ctx, nb_output_names(&nb_figures, study->component.name, &figures, l->ctx));
    return nb_read_words(k->name, f, figures, NULL, &l->config->plot_count, &l->config->plots, l->mistakes);
}

static nb_status read_claims(const nb_config_loader *l, const nb_config_key *k, nb_yaml f)
{
    nb_config *c = l->config;
    (void)k;
    NB_TRY(l->ctx, nb_claims_read(f, c->study, c, &c->claim_count, &c->claims, l->mistakes));
    return nb_claims_check(c, l->mistakes);
}

int nb_config_keys(const nb_study *study, nb_config_key keys[NB_MOST_KEYS], int *block_keys)
{
    static const nb_config_key before[] = {{.name = "trials", .fixed = "10"},
                                           {.name = "zip", .fixed = "[]"},
                                           {.name = "exclude"},
                                           {.name = "blocks"},
                                           {.name = "name", .read = read_name},
                                           {.name = "question", .fixed = "\"\"", .read = read_question},
                                           {.name = "seed", .fixed = NB_DEFAULT_SEED_TEXT, .read = read_seed},
                                           {.name = "draws", .fixed = "source", .read = read_draws},
                                           {.name = "split", .fixed = "none", .read = nb_split_read_file},
                                           {.name = "sources", .fixed = "all", .read = nb_split_read_sources},
                                           {.name = "plugins", .fixed = "[]"},
                                           {.name = "study", .fixed = "default"},
                                           {.name = "metrics", .fixed = "all", .read = read_metrics}};
    int count = 0;
    for (const nb_axis *a = study->axes; a->key; a++)
        keys[count++] = (nb_config_key){.name = a->key, .fixed = a->standard ? a->standard() : a->initial};
    *block_keys = count + 2;
    memcpy(keys + count, before, sizeof before);
    count += (int)(sizeof before / sizeof *before);
    for (const nb_option *o = study->component.options; o && o->key && count < NB_MOST_KEYS - 3; o++)
        keys[count++] = (nb_config_key){.name = o->key, .fixed = o->initial, .read = read_setting, .option = o};
    keys[count++] = (nb_config_key){.name = "plots", .fixed = standard_figure(study), .read = read_plots};
    if (study->baseline >= 0)
        keys[count++] = (nb_config_key){.name = "baseline", .fixed = "default", .read = read_baseline, .late = true};
    keys[count++] = (nb_config_key){.name = "claims", .fixed = "[]", .read = read_claims, .late = true};
    return count;
}
