/* SPDX-License-Identifier: GPL-3.0-or-later */
/* new_experiment.c - an experiment of a few answers, which replace the template's values. The whole is loaded and
 * planned before it is written: a mistake in an answer or in a file of heads is found as it would be by a run. */
#include "commands/experiment.h"

#include "api/one_head.h"
#include "base/builder.h"
#include "base/files.h"
#include "base/words.h"
#include "config/lookup.h"
#include "data/head.h"

#include <ctype.h>
#include <string.h>

enum { MOST_ENTRIES = 16 };

typedef struct {
    const char *comment; /* lines that begin with '#', with their ends */
    const char *key;
    const char *value; /* as the template or a person writes it */
    const char *yaml;  /* the same as YAML on one line */
    bool given;
} entry;

typedef struct {
    const char *template_path, *title; /* title: the template's first comment */
    const char *name;                  /* that the file gives its experiment, as YAML */
    const char *claim;                 /* as a mapping of YAML, a key a line; NULL: none */
    int count;
    entry items[MOST_ENTRIES];
    bool no_mask;  /* a file has a causal mask, which is left out */
    bool unmasked; /* a file does not say whether it has one */
} form;

static entry *find_entry(form *f, const char *key)
{
    int i = 0;
    while (i < f->count && strcmp(f->items[i].key, key) != 0) i++;
    return i < f->count ? &f->items[i] : NULL;
}

/* In single quotes, unless it is plain in every place of YAML. NULL: out of memory, also before. */
static const char *quoted(const char *text, nb_ctx *ctx)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_()=. /-";
    if (!text || (isalnum((unsigned char)*text) && !text[strspn(text, plain)])) return text;
    const char *doubled = nb_replaced(ctx, text, "'", "''");
    return doubled ? nb_format(ctx, "'%s'", doubled) : NULL;
}

/* Items as a YAML list; one alone as itself. */
static nb_status list_yaml(const char *value, const char **yaml, nb_ctx *ctx)
{
    const char *at;
    NB_TRY(ctx, nb_list_inside(value, &at, ctx));
    if (!at) at = value;
    bool one = !*nb_item_end(at);
    nb_string items = NB_NO_TEXT;
    while (*at) {
        const char *stop = nb_item_end(at), *item;
        NB_NEED(item, quoted(nb_item_text(at, stop, ctx), ctx));
        NB_TRY(ctx, nb_append_item(&items, ", ", ctx, "%s", item));
        at = *stop ? stop + 1 : stop;
    }
    NB_NEED(*yaml, nb_format(ctx, one ? "%s" : "[%s]", items.text));
    return NB_OK;
}

static nb_status set_value(entry *e, const char *value, nb_ctx *ctx)
{
    NB_NEED(e->value, nb_strdup(ctx, value));
    if (strcmp(e->key, "question") != 0) return list_yaml(value, &e->yaml, ctx);
    NB_NEED(e->yaml, quoted(nb_item_text(value, value + strlen(value), ctx), ctx));
    return NB_OK;
}

/* Comment lines and "key: value" lines, with empty lines between. */
static nb_status read_template(form *f, nb_ctx *ctx)
{
    nb_string comment = NB_NO_TEXT;
    const char *text;
    NB_TRY(ctx, nb_shared_file("templates", "experiment.yaml", &f->template_path, ctx));
    NB_TRY(ctx, nb_read_file(f->template_path, &text, ctx));
    for (const char *end; *text; text = *end ? end + 1 : end) {
        end = text + strcspn(text, "\n");
        const char *colon = memchr(text, ':', (size_t)(end - text)), *value;
        if (*text == '#') {
            NB_TRY(ctx, nb_append(&comment, ctx, "%.*s\n", (int)(end - text), text));
        } else if (text == end) {
            if (!f->title) f->title = comment.text;
            comment = (nb_string)NB_NO_TEXT;
        } else {
            NB_REQUIRE(ctx, colon && f->count < MOST_ENTRIES, NB_EBUG, "%s: not a template", f->template_path);
            entry *e = &f->items[f->count++];
            e->comment = comment.text;
            comment = (nb_string)NB_NO_TEXT;
            NB_NEED(e->key, nb_format(ctx, "%.*s", (int)(colon - text), text));
            NB_NEED(value, nb_format(ctx, "%.*s", (int)(end - colon - 2), colon + 2));
            NB_TRY(ctx, set_value(e, value, ctx));
        }
    }
    return NB_OK;
}

/* Adds FILE[:H] to the problems. Under a causal mask most strategies have no landmarks, so it is left out; where a file
 * does not say whether there is one, none is assumed. */
static nb_status add_one(form *f, const char *text, nb_ctx *ctx)
{
    entry *e = find_entry(f, "problems");
    const char *spec, *file;
    int head;
    nb_head_shape shape;
    NB_TRY(ctx, nb_head_split(text, &file, &head, ctx));
    NB_TRY(ctx, nb_head_file_shape(file, &shape, ctx));
    f->no_mask = f->no_mask || shape.causal;
    f->unmasked = f->unmasked || shape.unmasked;
    NB_TRY(ctx, nb_head_spec(file, head, shape.causal || shape.unmasked ? 0 : -1, &spec, ctx));
    if (e->given) NB_NEED(spec, nb_format(ctx, "%s, %s", e->value, spec));
    e->given = true;
    return set_value(e, spec, ctx);
}

/* The first strategy and the last one: does this beat that? *challenger is NULL if there is one alone. */
static nb_status find_rivals(form *f, const char **baseline, const char **challenger, nb_ctx *ctx)
{
    const char *at = find_entry(f, "strategies")->yaml, *end;
    *challenger = NULL;
    if (*at != '[') return NB_OK;
    NB_NEED(at, nb_format(ctx, "%.*s", (int)strlen(at) - 2, at + 1));
    end = nb_item_end(at);
    NB_NEED(*baseline, nb_item_text(at, end, ctx));
    while (*end) {
        at = end + 1;
        end = nb_item_end(at);
    }
    NB_NEED(*challenger, nb_item_text(at, end, ctx));
    return NB_OK;
}

/* Returns what tables call a strategy, or the text itself if it names none (`check` tells that). */
static const char *strategy_label(const char *text, nb_ctx *ctx)
{
    nb_choice choice;
    if (nb_choice_parse(&nb_strategies, text, &choice, ctx) == NB_OK) return choice.label;
    nb_error_clear(ctx);
    return text;
}

/* Makes the claim about the rows as a YAML mapping, with `between` between its keys. */
static nb_status make_claim(form *f, const char *between, const char **claim, nb_ctx *ctx)
{
    const char *baseline, *challenger, *says, *first, *last;
    NB_TRY(ctx, find_rivals(f, &baseline, &challenger, ctx));
    *claim = NULL;
    if (!challenger) return NB_OK;
    NB_NEED(says, nb_format(ctx, "%s has less error than %s", strategy_label(challenger, ctx),
                            strategy_label(baseline, ctx)));
    NB_NEED(says, quoted(says, ctx));
    NB_NEED(first, quoted(baseline, ctx));
    NB_NEED(last, quoted(challenger, ctx));
    NB_NEED(*claim, nb_format(ctx, "says: %s%scompare: {strategy: [%s, %s], metric: error}%sexpect: {ratio: [null, 1]}",
                              says, between, last, first, between));
    return NB_OK;
}

/* The question, if nobody has given one. */
static nb_status make_question(form *f, nb_ctx *ctx)
{
    entry *e = find_entry(f, "question");
    const char *baseline, *challenger, *text;
    NB_TRY(ctx, find_rivals(f, &baseline, &challenger, ctx));
    if (e->given || !challenger) return NB_OK;
    NB_NEED(text, nb_format(ctx, "Does %s beat %s?", strategy_label(challenger, ctx), strategy_label(baseline, ctx)));
    return set_value(e, text, ctx);
}

/* A file, or all files of a pattern or a folder. */
static nb_status add_heads(form *f, const char *text, nb_ctx *ctx)
{
    const char *const *files;
    int count;
    NB_TRY(ctx, nb_lookup_heads(text, NULL, &count, &files, ctx));
    if (count <= 0) return add_one(f, text, ctx);
    for (int i = 0; i < count; i++) NB_TRY(ctx, add_one(f, files[i], ctx));
    return NB_OK;
}

/* A mistake, with the option that it is in instead of the key. */
static const char *in_words(const char *mistake, nb_ctx *ctx)
{
    static const struct {
        const char *place, *option;
    } known[] = {{"--set name: name: ", "the file's name"},       {"--set problems: ", "--heads"},
                 {"--set strategies: ", "--strategies"},          {"--set claims: claims: compare: ", "--strategies"},
                 {"--set landmarks: landmarks: ", "--landmarks"}, {"--set cores: ", "--cores"},
                 {"--set trials: trials: ", "--trials"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t length = strlen(known[i].place);
        if (strncmp(mistake, known[i].place, length) != 0) continue;
        const char *text = nb_format(ctx, "%s: %s", known[i].option, mistake + length);
        return text ? text : "out of memory";
    }
    return mistake;
}

/* Loads the template with all values, and plans it; the first mistake becomes the error. */
static nb_status check_form(form *f, nb_ctx *ctx)
{
    nb_override overrides[MOST_ENTRIES + 2];
    nb_mistakes mistakes = {.ctx = ctx};
    nb_config config;
    nb_plan plan;
    const char *claim;
    int count = 0;
    for (; count < f->count; count++) overrides[count] = (nb_override){f->items[count].key, f->items[count].yaml};
    overrides[count++] = (nb_override){"name", f->name};
    NB_TRY(ctx, make_claim(f, ", ", &claim, ctx));
    if (claim) {
        NB_NEED(claim, nb_format(ctx, "[{%s}]", claim));
        overrides[count++] = (nb_override){"claims", claim};
    }
    NB_TRY(ctx, nb_config_load(f->template_path, count, overrides, &config, &mistakes, ctx));
    if (mistakes.count == 0) NB_TRY(ctx, nb_config_check_ready(&config, "--set strategies", &mistakes));
    NB_REQUIRE(ctx, mistakes.count == 0, NB_EINVAL, "%s", in_words(mistakes.texts[0], ctx));
    NB_TRY(ctx, nb_plan_make(&config, &plan, ctx));
    return nb_plan_check(&plan, ctx);
}

static nb_status take_answers(form *f, const nb_new_answers *a, nb_ctx *ctx)
{
    for (int i = 0; a->heads && a->heads[i]; i++) NB_TRY(ctx, add_heads(f, a->heads[i], ctx));
    for (const nb_override *answer = a->values; answer && answer->key; answer++) {
        entry *e = find_entry(f, answer->key);
        if (!answer->value) continue;
        e->given = true;
        NB_TRY(ctx, set_value(e, answer->value, ctx));
    }
    return check_form(f, ctx);
}

/* Long lists are written an item a line. */
static void print_value(FILE *out, const entry *e)
{
    enum { WIDTH = 100 };
    size_t length = strlen(e->yaml);
    if (*e->yaml != '[' || (length <= WIDTH && !strstr(e->yaml, "file="))) {
        fprintf(out, "%s: %s\n", e->key, e->yaml);
        return;
    }
    fprintf(out, "%s:\n", e->key);
    for (const char *at = e->yaml + 1, *end; at < e->yaml + length - 1; at = end + 2) {
        end = nb_item_end(at);
        if (!*end) end = e->yaml + length - 1;
        fprintf(out, "  - %.*s\n", (int)(end - at), at);
    }
}

static nb_status print_document(FILE *out, const void *what, nb_ctx *ctx)
{
    const form *f = what;
    (void)ctx;
    fputs(f->title, out);
    for (int i = 0; i < f->count; i++) {
        const entry *e = &f->items[i];
        fprintf(out, "\n%s", e->comment);
        if (f->no_mask && strcmp(e->key, "problems") == 0)
            fputs("# causal=false: without the causal mask that a file has, under which means are no landmarks.\n",
                  out);
        if (f->unmasked && strcmp(e->key, "problems") == 0)
            fputs("# causal=false: no mask is assumed where a file names none, as .npy files cannot. For a decoder's\n"
                  "# heads set causal=true, and then factors: cur and strategies that pick tokens.\n",
                  out);
        print_value(out, e);
    }
    if (f->claim)
        fprintf(
            out,
            "\n# What is claimed of the rows; each run tests whether it holds for other inputs too. With fewer than\n"
            "# six inputs the interval is wide.\nclaims:\n  - %s\n",
            f->claim);
    return NB_OK;
}

nb_status nb_new_experiment(const char *path, const nb_new_answers *answers, nb_ctx *ctx)
{
    form *f;
    NB_NEED(f, nb_alloc(ctx, 1, sizeof *f));
    NB_TRY(ctx, read_template(f, ctx));
    NB_TRY(ctx, nb_stem_of(path, &f->name, ctx));
    NB_NEED(f->name, quoted(f->name, ctx));
    NB_TRY(ctx, take_answers(f, answers, ctx));
    NB_TRY(ctx, make_question(f, ctx));
    NB_TRY(ctx, make_claim(f, "\n    ", &f->claim, ctx));
    NB_TRY(ctx, nb_write_file(path, print_document, f, ctx));
    if (f->unmasked) nb_print_warning("%s", NB_HEAD_UNMASKED);
    return NB_OK;
}
