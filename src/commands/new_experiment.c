/* SPDX-License-Identifier: GPL-3.0-or-later */
/* new_experiment.c - an experiment of a few answers. They replace the template's values, and the whole is loaded before
 * it is written: a mistake in an answer is found as it would be in a file. */
#include "commands/experiment.h"

#include "api/one_head.h"
#include "base/files.h"
#include "base/words.h"
#include "config/config.h"
#include "data/head.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { MOST_ANSWERS = 8 };

typedef struct {
    const char *path, *text; /* of the template */
    const char *name;        /* that the file gives its experiment, as YAML */
    int count;
    nb_override answers[MOST_ANSWERS]; /* as YAML on one line */
    bool no_mask;                      /* a file has a causal mask, which is left out */
    bool unmasked;                     /* a file does not say whether it has one */
} form;

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
    *yaml = one ? "" : "[";
    for (const char *separator = ""; *at; separator = ", ") {
        const char *stop = nb_item_end(at), *item;
        NB_NEED(item, quoted(nb_item_text(at, stop, ctx), ctx));
        NB_NEED(*yaml, nb_format(ctx, "%s%s%s", *yaml, separator, item));
        at = *stop ? stop + 1 : stop;
    }
    if (!one) NB_NEED(*yaml, nb_format(ctx, "%s]", *yaml));
    return NB_OK;
}

static nb_status answer(form *f, const char *key, const char *value, nb_ctx *ctx)
{
    nb_override *a = &f->answers[f->count++];
    a->key = key;
    if (strcmp(key, "question") != 0) return list_yaml(value, &a->value, ctx);
    NB_NEED(a->value, quoted(nb_item_text(value, value + strlen(value), ctx), ctx));
    return NB_OK;
}

/* Returns the answer for a key; NULL: there is none. */
static const char *find_answer(const form *f, const char *key)
{
    for (int i = 0; i < f->count; i++)
        if (strcmp(f->answers[i].key, key) == 0) return f->answers[i].value;
    return NULL;
}

/* FILE[:H] as a problem. Under a causal mask most strategies have no landmarks, so it is left out; where a file does
 * not say whether there is one, none is assumed. */
static nb_status head_problem(form *f, const char *text, const char **spec, nb_ctx *ctx)
{
    const char *file;
    int head;
    nb_head_shape shape;
    NB_TRY(ctx, nb_head_split(text, &file, &head, ctx));
    NB_TRY(ctx, nb_head_file_shape(file, &shape, ctx));
    f->no_mask = f->no_mask || shape.causal;
    f->unmasked = f->unmasked || shape.unmasked;
    return nb_head_spec(file, head, shape.causal || shape.unmasked ? "false" : NULL, spec, ctx);
}

/* Adds a file, or all files of a pattern or a folder, to the list of problems. */
static nb_status add_heads(form *f, const char *text, const char **list, nb_ctx *ctx)
{
    const char *const *files = &text, *spec;
    int count;
    NB_TRY(ctx, nb_head_files("", text, &count, &files, ctx));
    NB_REQUIRE(ctx, count >= 0 || !nb_head_files_pattern(text), NB_EINVAL, "%s: there is no such file", text);
    for (int i = 0; i < (count > 0 ? count : 1); i++) {
        NB_TRY(ctx, head_problem(f, count > 0 ? files[i] : text, &spec, ctx));
        NB_NEED(*list, nb_format(ctx, "%s%s%s", *list, **list ? ", " : "", spec));
    }
    return NB_OK;
}

/* The first strategy and the last one: does this beat that? *challenger is NULL if there is one alone. */
static nb_status find_rivals(const form *f, const char **baseline, const char **challenger, nb_ctx *ctx)
{
    static const char key[] = "\nstrategies: ";
    const char *at = find_answer(f, "strategies"), *end;
    *challenger = NULL;
    if (!at) NB_REQUIRE(ctx, at = strstr(f->text, key), NB_EBUG, "%s: has no strategies", f->path);
    if (*at == '\n') NB_NEED(at, nb_format(ctx, "%.*s", (int)strcspn(at + strlen(key), "\n"), at + strlen(key)));
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
static nb_status make_claim(const form *f, const char *between, const char **claim, nb_ctx *ctx)
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
    const char *baseline, *challenger, *text;
    NB_TRY(ctx, find_rivals(f, &baseline, &challenger, ctx));
    if (find_answer(f, "question") || !challenger) return NB_OK;
    NB_NEED(text, nb_format(ctx, "Does %s beat %s?", strategy_label(challenger, ctx), strategy_label(baseline, ctx)));
    return answer(f, "question", text, ctx);
}

/* A mistake in the terms of who answers: with the option that it is in. */
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

/* Loads the template with the answers; the first mistake becomes the error. */
static nb_status check(const form *f, nb_ctx *ctx)
{
    nb_override overrides[MOST_ANSWERS + 2];
    nb_mistakes mistakes;
    nb_config config;
    const char *claim;
    int count = f->count;
    nb_mistakes_init(&mistakes, ctx);
    memcpy(overrides, f->answers, sizeof f->answers);
    overrides[count++] = (nb_override){"name", f->name};
    NB_TRY(ctx, make_claim(f, ", ", &claim, ctx));
    if (claim) {
        NB_NEED(claim, nb_format(ctx, "[{%s}]", claim));
        overrides[count++] = (nb_override){"claims", claim};
    }
    NB_TRY(ctx, nb_config_load(f->path, count, overrides, &config, &mistakes, ctx));
    if (mistakes.count == 0) NB_TRY(ctx, nb_config_check_ready(&config, "--set strategies", &mistakes));
    if (mistakes.count == 0) return NB_OK;
    NB_FAIL(ctx, NB_EINVAL, "%s", in_words(mistakes.texts[0], ctx));
}

static nb_status take_answers(form *f, const nb_new_answers *a, nb_ctx *ctx)
{
    const char *problems = "";
    for (int i = 0; a->heads && a->heads[i]; i++) NB_TRY(ctx, add_heads(f, a->heads[i], &problems, ctx));
    if (*problems) NB_TRY(ctx, answer(f, "problems", problems, ctx));
    for (const nb_override *given = a->values; given->key; given++)
        if (given->value) NB_TRY(ctx, answer(f, given->key, given->value, ctx));
    return check(f, ctx);
}

/* Long lists are written an item a line. */
static void print_answer(FILE *out, const char *key, const char *yaml)
{
    enum { WIDTH = 100 };
    size_t length = strlen(yaml);
    if (*yaml != '[' || (length <= WIDTH && !strstr(yaml, "file="))) {
        fprintf(out, "%s: %s\n", key, yaml);
        return;
    }
    fprintf(out, "%s:\n", key);
    for (const char *at = yaml + 1, *end; at < yaml + length - 1; at = end + 2) {
        end = nb_item_end(at);
        if (!*end) end = yaml + length - 1;
        fprintf(out, "  - %.*s\n", (int)(end - at), at);
    }
}

/* The template, with the answers in the place of its values. */
static nb_status print_document(FILE *out, const void *what, nb_ctx *ctx)
{
    const form *f = what;
    const char *claim;
    for (const char *line = f->text, *next; *line; line = next) {
        const char *key, *yaml;
        next = line + strcspn(line, "\n");
        next += *next == '\n';
        NB_NEED(key, nb_format(ctx, "%.*s", (int)strcspn(line, ":\n"), line));
        if (f->no_mask && strcmp(key, "problems") == 0)
            fputs("# causal=false: without the causal mask that a file has, under which means are no landmarks.\n",
                  out);
        if (f->unmasked && strcmp(key, "problems") == 0)
            fputs("# causal=false: no mask is assumed where a file names none, as .npy files cannot. For a decoder's\n"
                  "# heads set causal=true, and then factors: cur and strategies that pick tokens.\n",
                  out);
        if ((yaml = find_answer(f, key)))
            print_answer(out, key, yaml);
        else
            fprintf(out, "%.*s", (int)(next - line), line);
    }
    NB_TRY(ctx, make_claim(f, "\n    ", &claim, ctx));
    if (claim)
        fprintf(
            out,
            "\n# What is claimed of the rows; each run tests whether it holds for other inputs too. With fewer than\n"
            "# six inputs the interval is wide.\nclaims:\n  - %s\n",
            claim);
    return NB_OK;
}

nb_status nb_new_experiment(const char *path, const nb_new_answers *answers, nb_ctx *ctx)
{
    form f = {.count = 0};
    NB_TRY(ctx, nb_shared_file("templates", "experiment.yaml", &f.path, ctx));
    NB_TRY(ctx, nb_read_file(f.path, &f.text, ctx));
    NB_TRY(ctx, nb_stem_of(path, &f.name, ctx));
    NB_NEED(f.name, quoted(f.name, ctx));
    NB_TRY(ctx, take_answers(&f, answers, ctx));
    NB_TRY(ctx, make_question(&f, ctx));
    NB_TRY(ctx, nb_write_file(path, print_document, &f, ctx));
    if (f.unmasked) nb_print_warning("%s", NB_HEAD_UNMASKED);
    return NB_OK;
}
