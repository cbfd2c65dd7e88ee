/* SPDX-License-Identifier: GPL-3.0-or-later */
/* config_text.c - the config as YAML. The keys that make rows stand in their
 * blocks, where the file has blocks, each with all of them. */
#include "config/config.h"

#include "base/fields.h"
#include "base/files.h"
#include "base/text.h"
#include "components/plugin.h"
#include "config/yaml.h"

#include <string.h>

typedef struct {
    FILE *out;
    const nb_config *config;
    bool origins;
    const char *set; /* what rules are from that no file has */
    int indent;
} printer;

static void print_origin(const printer *p, const nb_origins *of, const char *key)
{
    for (int i = 0; i < of->count && p->origins; i++)
        if (strcmp(of->items[i].key, key) == 0) fprintf(p->out, "  # %s", of->items[i].text);
    fputc('\n', p->out);
}

static void print_text(const printer *p, const char *key, const char *text, bool quoted)
{
    fprintf(p->out, "%s: ", key);
    if (quoted)
        nb_yaml_print_quoted(p->out, text);
    else
        fputs(text, p->out);
    print_origin(p, &p->config->origins, key);
}

static void print_items(const printer *p, int count, const char *const *texts)
{
    for (int i = 0; i < count; i++) {
        fprintf(p->out, "%*s- ", p->indent + 2, "");
        nb_yaml_print_quoted(p->out, texts[i]);
        fputc('\n', p->out);
    }
}

static void print_list(const printer *p, const char *key, int count, const char *const *texts)
{
    fprintf(p->out, "%s:%s", key, count ? "" : " []");
    print_origin(p, &p->config->origins, key);
    print_items(p, count, texts);
}

static nb_status value_text(const nb_axis *a, const nb_axis_list *list, int index, const char **text, nb_ctx *ctx)
{
    if (a->type == NB_AXIS_COMPONENT) return nb_choice_written(&list->choices.items[index], text, ctx);
    if (a->type != NB_AXIS_REAL) return nb_axis_value_text(a, list, index, text, ctx);
    NB_NEED(*text, nb_format(ctx, "%.17g", list->reals[index]));
    return NB_OK;
}

/* Numbers stand on one line. */
static nb_status print_values(const printer *p, const nb_config_block *b, int axis, nb_ctx *ctx)
{
    const nb_axis *a = &p->config->study->axes[axis];
    bool numbers = a->type == NB_AXIS_INTEGER || a->type == NB_AXIS_REAL;
    const char **texts;
    NB_NEED(texts, nb_alloc(ctx, (size_t)b->count[axis] + 1, sizeof *texts));
    for (int i = 0; i < b->count[axis]; i++)
        NB_TRY(ctx, value_text(a, &p->config->lists[axis], b->values[axis][i], &texts[i], ctx));
    fprintf(p->out, "%*s%s:%s", p->indent, "", a->key, numbers ? " [" : "");
    for (int i = 0; i < b->count[axis] && numbers; i++) fprintf(p->out, "%s%s", i ? ", " : "", texts[i]);
    if (numbers) fputc(']', p->out);
    print_origin(p, &b->origins, a->key);
    if (!numbers) print_items(p, b->count[axis], texts);
    return NB_OK;
}

static void print_zip(const printer *p, const nb_config_block *b)
{
    const nb_axis *axes = p->config->study->axes;
    const char *between = "";
    fputs("zip: [", p->out);
    for (int first = 0; axes[first].key; first++) {
        int members = 0;
        for (int axis = first + 1; axes[axis].key; axis++) {
            if (b->group[first] != first || b->group[axis] != first) continue;
            if (members++ == 0) fprintf(p->out, "%s[%s", between, axes[first].key);
            fprintf(p->out, ", %s", axes[axis].key);
        }
        if (members == 0) continue;
        fputc(']', p->out);
        between = ", ";
    }
    fputc(']', p->out);
    print_origin(p, &b->origins, "zip");
}

static void print_rules(const printer *p, int block)
{
    int count = 0;
    for (int i = 0; i < p->config->rule_count; i++) {
        const nb_rule *rule = &p->config->rules[i];
        if (rule->block != block) continue;
        if (count++ == 0) fprintf(p->out, "%*sexclude:\n", p->indent, "");
        fprintf(p->out, "%*s- ", p->indent + 2, "");
        nb_conditions_print(p->out, &rule->keys);
        if (p->origins && rule->place.line > 0) fprintf(p->out, "  # %s:%d", rule->place.source, rule->place.line);
        if (p->origins && rule->place.line == 0) fprintf(p->out, "  # %s", p->set);
        fputc('\n', p->out);
    }
}

static nb_status print_block(const printer *p, const nb_config_block *b, nb_ctx *ctx)
{
    fprintf(p->out, "trials: %d", b->trials);
    print_origin(p, &b->origins, "trials");
    for (int axis = 0; p->config->study->axes[axis].key; axis++) NB_TRY(ctx, print_values(p, b, axis, ctx));
    fprintf(p->out, "%*s", p->indent, "");
    print_zip(p, b);
    return NB_OK;
}

static nb_status print_blocks(printer *p, nb_ctx *ctx)
{
    const nb_config *c = p->config;
    if (!c->named_blocks) {
        NB_TRY(ctx, print_block(p, &c->blocks[0], ctx));
        print_rules(p, -1);
        return NB_OK;
    }
    print_rules(p, -1);
    fputs("blocks:\n", p->out);
    p->indent = 4;
    for (int b = 0; b < c->block_count; b++) {
        fputs("  - ", p->out);
        NB_TRY(ctx, print_block(p, &c->blocks[b], ctx));
        print_rules(p, b);
    }
    p->indent = 0;
    return NB_OK;
}

/* A plain word stands as it is. */
static nb_status print_settings(const printer *p, nb_ctx *ctx)
{
    for (const nb_option *o = p->config->study->component.options; o && o->key; o++) {
        const char *text;
        NB_TRY(ctx, nb_config_setting(p->config, o, &text, ctx));
        print_text(p, o->key, text, !*text || strpbrk(text, ":#{}[],&*!|>'\"%@` "));
    }
    return NB_OK;
}

static void print_claims(const printer *p)
{
    fprintf(p->out, "claims:%s", p->config->claim_count ? "" : " []");
    print_origin(p, &p->config->origins, "claims");
    for (int i = 0; i < p->config->claim_count; i++) fprintf(p->out, "  - %s\n", p->config->claims[i].text);
}

static nb_status print_config(FILE *out, const void *what, nb_ctx *ctx)
{
    printer asked = *(const printer *)what, *p = &asked;
    const nb_config *c = p->config;
    p->out = out;
    print_text(p, "name", c->name, true);
    print_text(p, "question", c->question, true);
    fprintf(p->out, "seed: %lld", c->seed);
    print_origin(p, &c->origins, "seed");
    print_text(p, "draws", nb_draws_words[c->draws], false);
    print_text(p, "split", c->split_file, true);
    print_text(p, "sources", c->sources, true);
    print_list(p, "plugins", nb_text_count(nb_plugins_loaded()), nb_plugins_loaded());
    print_text(p, "study", c->study->component.name, false);
    NB_TRY(ctx, print_blocks(p, ctx));
    if (c->baseline) print_text(p, "baseline", c->baseline->resolved, true);
    print_list(p, "metrics", c->metric_count, c->metrics);
    NB_TRY(ctx, print_settings(p, ctx));
    print_list(p, "plots", c->plot_count, c->plots);
    print_claims(p);
    return NB_OK;
}

nb_status nb_config_setting(const nb_config *config, const nb_option *option, const char **text, nb_ctx *ctx)
{
    enum { DIGITS = 17 };
    if (option->type != NB_OPTION_STRING) return nb_option_text(config->settings, option, DIGITS, text, ctx);
    *text = *(const char *const *)((const char *)config->settings + option->offset);
    return NB_OK;
}

nb_status nb_config_text(const nb_config *config, bool origins, const char **text, nb_ctx *ctx)
{
    return nb_print_text(
        print_config, &(printer){.config = config, .origins = origins, .set = nb_field(ctx, "set", NULL)}, text, ctx);
}
