/* SPDX-License-Identifier: GPL-3.0-or-later */
/* labels.c - see labels.h */
#include "report/labels.h"

#include "components/registry.h"
#include "strategies/strategy.h"

#include <string.h>

static const nb_registry *registry_of(const char *column)
{
    for (const nb_registry *const *r = nb_registries; *r; r++)
        if (strcmp((*r)->kind, column) == 0) return *r;
    return NULL;
}

/* The text itself where its component is gone. */
static nb_status label_component(const nb_registry *registry, const char *text, bool full, const char **label,
                                 nb_ctx *ctx)
{
    nb_choice choice;
    nb_status status = nb_choice_parse(registry, text, &choice, ctx);
    if (status == NB_ENOMEM) return status;
    nb_error_clear(ctx);
    *label = status != NB_OK ? text : full ? choice.full : choice.label;
    if (status == NB_OK && registry == &nb_strategies && nb_strategy_traits(&choice) & NB_ORACLE)
        NB_NEED(*label, nb_format(ctx, "%s, oracle", *label));
    return NB_OK;
}

static nb_status label(const nb_frame *f, const char *name, int row, bool full, const char **out, nb_ctx *ctx)
{
    const nb_column *column = nb_column_find(f->columns, name);
    const char *field = (const char *)nb_frame_row(f, row) + (column ? column->offset : 0);
    const nb_registry *registry = registry_of(name);
    NB_REQUIRE(ctx, column, NB_EBUG, "rows have no column '%s'", name);
    switch (column->type) {
    case NB_COLUMN_TEXT: {
        const char *text = *(const char *const *)field;
        if (text && registry) return label_component(registry, text, full, out, ctx);
        NB_NEED(*out, nb_strdup(ctx, text ? text : ""));
        break;
    }
    case NB_COLUMN_INT: NB_NEED(*out, nb_format(ctx, "%d", *(const int *)field)); break;
    case NB_COLUMN_SEED: NB_NEED(*out, nb_format(ctx, "%lld", *(const long long *)field)); break;
    case NB_COLUMN_REAL: NB_NEED(*out, nb_format(ctx, "%.4g", *(const double *)field)); break;
    }
    return NB_OK;
}

nb_status nb_label_of(const nb_frame *f, const char *column, int row, const char **text, nb_ctx *ctx)
{
    return label(f, column, row, false, text, ctx);
}

nb_status nb_label_full(const nb_frame *f, const char *column, int row, const char **text, nb_ctx *ctx)
{
    return label(f, column, row, true, text, ctx);
}

nb_status nb_label_stratum(const char *name, const char **out, nb_ctx *ctx)
{
    size_t length = strcspn(name, " ");
    bool whole = *name == '(' || memchr(name, '(', length);
    NB_NEED(*out, whole ? nb_strdup(ctx, name) : nb_format(ctx, "%.*s", (int)length, name));
    return NB_OK;
}
