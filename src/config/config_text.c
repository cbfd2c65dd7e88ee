/* SPDX-License-Identifier: GPL-3.0-or-later */
/* config_text.c - the config as YAML. The keys that make rows stand in their
 * blocks, where the file has blocks, each with all of them. */
#include "config/axes.h"

#include "components/plugin.h"
#include "config/yaml_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    FILE *out;
    const nb_config *config;
    bool origins;
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

/* `origins` has where the list comes from. */
static void print_list(const printer *p, const nb_origins *origins, const char *key, int count,
                       const char *const *texts)
{
    fprintf(p->out, "%s:%s", key, count ? "" : " []");
    print_origin(p, origins, key);
    for (int i = 0; i < count; i++) {
        fprintf(p->out, "%*s- ", p->indent + 2, "");
        nb_yaml_print_quoted(p->out, texts[i]);
        fputc('\n', p->out);
    }
}

static const char *value_text(const nb_config *c, nb_axis axis, int index)
{
    switch (axis) {
    case NB_AXIS_PROBLEM: return c->problems.items[index].resolved;
    case NB_AXIS_KERNEL: return c->kernels.items[index].resolved;
    case NB_AXIS_STRATEGY: return c->strategies.items[index].resolved;
    case NB_AXIS_CORE: return c->cores.items[index].resolved;
    case NB_AXIS_PAIRING: return c->pairings[index];
    case NB_AXIS_FACTORS: return c->factors[index];
    case NB_AXIS_LANDMARKS: /* numbers, printed on one line */
    case NB_AXES: break;
    }
    return "";
}

static void print_values(const printer *p, const nb_config_block *b, nb_axis axis)
{
    fprintf(p->out, "%s:", nb_axis_keys[axis]);
    if (axis == NB_AXIS_LANDMARKS) {
        for (int i = 0; i < b->count[axis]; i++)
            fprintf(p->out, "%s%d", i ? ", " : " [", p->config->landmarks[b->values[axis][i]]);
        fputc(']', p->out);
    }
    print_origin(p, &b->origins, nb_axis_keys[axis]);
    for (int i = 0; i < b->count[axis] && axis != NB_AXIS_LANDMARKS; i++) {
        fprintf(p->out, "%*s- ", p->indent + 2, "");
        nb_yaml_print_quoted(p->out, value_text(p->config, axis, b->values[axis][i]));
        fputc('\n', p->out);
    }
}

static void print_zip(const printer *p, const nb_config_block *b)
{
    const char *between = "";
    fputs("zip: [", p->out);
    for (nb_axis first = NB_AXIS_PROBLEM; first < NB_AXES; first++) {
        int members = 0;
        for (nb_axis axis = first + 1; axis < NB_AXES; axis++) {
            if (b->group[first] != first || b->group[axis] != first) continue;
            if (members++ == 0) fprintf(p->out, "%s[%s", between, nb_axis_keys[first]);
            fprintf(p->out, ", %s", nb_axis_keys[axis]);
        }
        if (members == 0) continue;
        fputc(']', p->out);
        between = ", ";
    }
    fputc(']', p->out);
    print_origin(p, &b->origins, nb_block_keys[NB_KEY_ZIP]);
}

static void print_rule(const printer *p, const nb_rule *rule)
{
    fprintf(p->out, "%*s- {", p->indent + 2, "");
    for (int k = 0; k < rule->key_count; k++) {
        fprintf(p->out, "%s%s: [", k ? ", " : "", rule->keys[k].key);
        for (int i = 0; i < rule->keys[k].count; i++) {
            if (i > 0) fputs(", ", p->out);
            nb_yaml_print_quoted(p->out, rule->keys[k].texts[i]);
        }
        fputc(']', p->out);
    }
    fputc('}', p->out);
    if (p->origins && rule->place.line > 0) fprintf(p->out, "  # %s:%d", rule->place.source, rule->place.line);
    if (p->origins && rule->place.line == 0) fputs("  # --set", p->out);
    fputc('\n', p->out);
}

static void print_rules(const printer *p, int block)
{
    int count = 0;
    for (int i = 0; i < p->config->rule_count; i++) {
        if (p->config->rules[i].block != block) continue;
        if (count++ == 0) fprintf(p->out, "%*sexclude:\n", p->indent, "");
        print_rule(p, &p->config->rules[i]);
    }
}

static void print_block(const printer *p, const nb_config_block *b)
{
    fprintf(p->out, "trials: %d", b->trials);
    print_origin(p, &b->origins, nb_block_keys[NB_KEY_TRIALS]);
    for (nb_axis axis = NB_AXIS_PROBLEM; axis < NB_AXES; axis++) {
        fprintf(p->out, "%*s", p->indent, "");
        print_values(p, b, axis);
    }
    fprintf(p->out, "%*s", p->indent, "");
    print_zip(p, b);
}

static void print_blocks(printer *p)
{
    const nb_config *c = p->config;
    if (!c->named_blocks) {
        print_block(p, &c->blocks[0]);
        print_rules(p, -1);
        return;
    }
    print_rules(p, -1);
    fputs("blocks:\n", p->out);
    p->indent = 4;
    for (int b = 0; b < c->block_count; b++) {
        fputs("  - ", p->out);
        print_block(p, &c->blocks[b]);
        print_rules(p, b);
    }
    p->indent = 0;
}

static int count_texts(const char *const *texts)
{
    int count = 0;
    while (texts[count]) count++;
    return count;
}

static void print_config(printer *p)
{
    const nb_config *c = p->config;
    print_text(p, "name", c->name, true);
    print_text(p, "question", c->question, true);
    fprintf(p->out, "seed: %lld", c->seed);
    print_origin(p, &c->origins, "seed");
    print_list(p, &c->origins, "plugins", count_texts(nb_plugins_loaded()), nb_plugins_loaded());
    print_blocks(p);
    print_text(p, "baseline", c->baseline->resolved, true);
    print_list(p, &c->origins, "metrics", c->metric_count, c->metrics);
    print_text(p, "rows", c->rows, false);
    print_text(p, "engine", nb_engine_names[c->engine], false);
    print_text(p, "precision", nb_precision_names[c->precision], false);
    print_list(p, &c->origins, "plots", c->plot_count, c->plots);
}

static nb_status write_text(const nb_config *config, bool origins, const char **text, nb_ctx *ctx)
{
    char *buffer = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&buffer, &size);
    NB_REQUIRE(ctx, out, NB_ENOMEM, "out of memory: the resolved config");
    printer p = {.out = out, .config = config, .origins = origins};
    print_config(&p);
    bool failed = ferror(out);
    if (fclose(out) != 0 || failed) {
        free(buffer);
        NB_FAIL(ctx, NB_ENOMEM, "out of memory: the resolved config");
    }
    *text = buffer;
    return nb_defer(ctx, free, buffer);
}

nb_status nb_config_text(const nb_config *config, const char **text, nb_ctx *ctx)
{
    return write_text(config, false, text, ctx);
}

nb_status nb_config_text_with_origins(const nb_config *config, const char **text, nb_ctx *ctx)
{
    return write_text(config, true, text, ctx);
}
