/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_spec.c - any text as a spec of any kind: mistakes with their place, or choices
 * whose canonical text, read again, gives the same. */
#include "components/component.h"
#include "components/registry.h"
#include "input.h"

static void check_choice(const nb_registry *registry, const nb_choice *choice, nb_ctx *ctx)
{
    enum { MOST_KEPT = 1 << 16 };
    nb_choice again;
    nb_mark mark = nb_ctx_mark(ctx);
    NB_MUST(strlen(choice->resolved) < MOST_KEPT, "%zu bytes", strlen(choice->resolved));
    NB_MUST(nb_choice_parse(registry, choice->resolved, &again, ctx) == NB_OK, "%s: %s", choice->resolved,
            nb_error_message(ctx));
    NB_MUST(strcmp(choice->resolved, again.resolved) == 0, "'%s' became '%s'", choice->resolved, again.resolved);
    NB_MUST(strcmp(choice->canonical, again.canonical) == 0, "'%s' became '%s'", choice->canonical, again.canonical);
    nb_ctx_release(ctx, mark);
}

static void choose(const nb_registry *registry, const char *text, nb_ctx *ctx)
{
    enum { MOST = 20 };
    nb_choices choices = {.count = 0};
    nb_mistakes mistakes = {.ctx = ctx};
    nb_status status = nb_choices_add(&choices, registry, text, (nb_place){"input", 1, 1}, &mistakes, ctx);
    NB_MUST(status == NB_OK, "%s", nb_error_message(ctx));
    for (int i = 0; i < mistakes.count; i++)
        NB_MUST(strncmp(mistakes.texts[i], "input:1:", 8) == 0, "%s", mistakes.texts[i]);
    NB_MUST(choices.count > 0 || mistakes.count > 0, "'%s' gives neither a choice nor a mistake", text);
    for (int i = 0; i < choices.count && i < MOST && mistakes.count == 0; i++)
        check_choice(registry, &choices.items[i], ctx);
}

/* The first byte names the registry. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int kinds = 0;
    nb_ctx *ctx = nb_ctx_new();
    char *text = size ? calloc(size, 1) : NULL;
    while (nb_registries[kinds]) kinds++;
    if (text) {
        memcpy(text, data + 1, size - 1);
        choose(nb_registries[data[0] % kinds], text, ctx);
    }
    free(text);
    nb_ctx_free(ctx);
    return 0;
}
