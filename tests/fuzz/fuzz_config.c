/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_config.c - any bytes as an experiment's file: mistakes with their place, or a
 * config whose resolved text, read again, gives the same text. */
#include "config/config.h"
#include "input.h"

static bool load(const char *path, nb_config *config, nb_mistakes *mistakes, nb_ctx *ctx)
{
    *mistakes = (nb_mistakes){.ctx = ctx};
    if (nb_config_load(path, 0, NULL, config, mistakes, ctx) != NB_OK) nb_fuzz_check_message(ctx, path);
    for (int i = 0; i < mistakes->count; i++)
        NB_MUST(strncmp(mistakes->texts[i], path, strlen(path)) == 0, "the mistake is '%s'", mistakes->texts[i]);
    return mistakes->count == 0 && !*nb_error_message(ctx);
}

static void read_again(const nb_config *config, nb_ctx *ctx)
{
    const char *once, *twice;
    nb_config again;
    nb_mistakes mistakes;
    NB_MUST(nb_config_text(config, false, &once, ctx) == NB_OK, "%s", nb_error_message(ctx));
    bool right = load(nb_fuzz_file(once, strlen(once)), &again, &mistakes, ctx);
    NB_MUST(right, "%s%s in\n%s", nb_error_message(ctx), mistakes.count ? mistakes.texts[0] : "", once);
    NB_MUST(nb_config_text(&again, false, &twice, ctx) == NB_OK, "%s", nb_error_message(ctx));
    NB_MUST(strcmp(once, twice) == 0, "first\n%s\nthen\n%s", once, twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    nb_ctx *ctx = nb_ctx_new();
    nb_config config;
    nb_mistakes mistakes;
    NB_MUST(ctx, "no memory for a context");
    if (load(nb_fuzz_file(data, size), &config, &mistakes, ctx)) read_again(&config, ctx);
    nb_ctx_free(ctx);
    return 0;
}
