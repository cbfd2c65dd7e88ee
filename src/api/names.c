/* SPDX-License-Identifier: GPL-3.0-or-later */
/* names.c - what components, figures and tables there are. */
#include "api/kinds.h"

#include "api/handle.h"

#include <string.h>

const nb_registry *nb_kind_at(int index)
{
    int components = 0;
    while (nb_registries[components]) components++;
    return index < components ? nb_registries[index] : nb_outputs[index - components];
}

nb_status nb_kind_find(const char *kind, const nb_registry **registry, nb_ctx *ctx)
{
    const char *plurals[NB_MOST_KINDS + 1] = {NULL}, *hint;
    NB_REQUIRE(ctx, kind, NB_EINVAL, "the kind is NULL");
    for (int i = 0; (*registry = nb_kind_at(i)); i++) {
        if (strcmp((*registry)->kind, kind) == 0 || strcmp((*registry)->plural, kind) == 0) return NB_OK;
        if (i < NB_MOST_KINDS) plurals[i] = (*registry)->plural;
    }
    NB_NEED(hint, nb_hint(kind, plurals, ctx));
    NB_FAIL(ctx, NB_EINVAL, "no kind '%s'%s", kind, hint);
}

static nb_status names_of(nysbench *h, const char *kind, const char *const **names)
{
    const nb_registry *registry;
    NB_REQUIRE(h->ctx, names, NB_EINVAL, "names is NULL");
    *names = NULL;
    NB_TRY(h->ctx, nb_kind_find(kind, &registry, h->ctx));
    NB_TRY(h->ctx, nb_registry_names(registry, names, h->results));
    nb_call_keep(h);
    return NB_OK;
}

nysbench_status nysbench_names(nysbench *handle, const char *kind, const char *const **names)
{
    NB_CALL(handle, false, names_of(handle, kind, names));
}

static nb_status summary_of(const nysbench *h, const char *kind, const char *name, const char **summary)
{
    const nb_registry *registry;
    const char *const *names, *hint;
    NB_REQUIRE(h->ctx, name && summary, NB_EINVAL, "the name or the summary is NULL");
    *summary = NULL;
    NB_TRY(h->ctx, nb_kind_find(kind, &registry, h->ctx));
    const nb_component *c = nb_registry_find(registry, name);
    if (c) *summary = c->summary;
    if (c) return NB_OK;
    NB_TRY(h->ctx, nb_registry_names(registry, &names, h->ctx));
    NB_NEED(hint, nb_hint(name, names, h->ctx));
    NB_FAIL(h->ctx, NB_EINVAL, "no %s '%s'%s", registry->kind, name, hint);
}

nysbench_status nysbench_summary(nysbench *handle, const char *kind, const char *name, const char **summary)
{
    NB_CALL(handle, true, summary_of(handle, kind, name, summary));
}
