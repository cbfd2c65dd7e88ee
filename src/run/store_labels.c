/* SPDX-License-Identifier: GPL-3.0-or-later */
/* store_labels.c - a store keeps the labels of plug-ins' components, which only a program with the plug-in can make of
 * their texts: in `meta`, under the key "label KIND TEXT". nb_run_open adds them to the labels of the config. */
#include "run/store_private.h"

#include "components/plugin.h"
#include "components/registry.h"

#include <string.h>

#define PREFIX "label"

/* Whether another choice has the label, as files of one name in two folders may: then it tells too little. */
static bool is_shared(const nb_choices *choices, const nb_choice *one)
{
    for (int i = 0; i < choices->count; i++)
        if (strcmp(choices->items[i].label, one->label) == 0 &&
            strcmp(choices->items[i].canonical, one->canonical) != 0)
            return true;
    return false;
}

nb_status nb_store_keep_labels(nb_store *store, const nb_config *config, nb_ctx *ctx)
{
    for (int a = 0; config->study->axes[a].key; a++) {
        const nb_choices *choices = &config->lists[a].choices;
        const char *key;
        if (config->study->axes[a].type != NB_AXIS_COMPONENT) continue;
        for (int i = 0; i < choices->count; i++) {
            const nb_choice *one = &choices->items[i];
            if (one->given || !nb_plugin_within(one) || is_shared(choices, one)) continue;
            NB_NEED(key, nb_format(ctx, PREFIX " %s %s", config->study->axes[a].registry->kind, one->canonical));
            NB_TRY(ctx, nb_store_set(store, key, one->label, ctx));
        }
    }
    return NB_OK;
}

/* Adds a label where nothing else gives one. */
static nb_status add_label(const nb_registry *registry, const char *text, const char *label, nb_given_labels *labels,
                           nb_ctx *ctx)
{
    nb_choice known;
    bool there;
    if (nb_given_label_of(labels, registry, text)) return NB_OK;
    NB_TRY(ctx, nb_choice_recall(registry, text, &known, &there, ctx));
    if (there) return NB_OK;
    NB_GROW(ctx, labels->items, labels->count, labels->capacity);
    labels->items[labels->count++] = (nb_given_label){registry, text, label};
    return NB_OK;
}

nb_status nb_store_labels(nb_store *store, nb_given_labels *labels, nb_ctx *ctx)
{
    sqlite3_stmt *s;
    int code;
    NB_TRY(ctx, nb_store_prepare(store, "store.labels", &s, ctx));
    while ((code = sqlite3_step(s)) == SQLITE_ROW) {
        const char *key = (const char *)sqlite3_column_text(s, 0) + sizeof PREFIX, *text, *label;
        size_t length = strcspn(key, " ");
        if (!key[length] || !sqlite3_column_text(s, 1)) continue;
        NB_NEED(text, nb_strdup(ctx, key + length + 1));
        NB_NEED(label, nb_strdup(ctx, (const char *)sqlite3_column_text(s, 1)));
        for (int i = 0; nb_registries[i]; i++)
            if (strlen(nb_registries[i]->kind) == length && strncmp(nb_registries[i]->kind, key, length) == 0)
                NB_TRY(ctx, add_label(nb_registries[i], text, label, labels, ctx));
    }
    return code == SQLITE_DONE ? NB_OK : nb_store_fail(store, "reading labels", ctx);
}
