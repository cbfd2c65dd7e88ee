/* SPDX-License-Identifier: GPL-3.0-or-later */
/* table.c - see table.h */
#include "show/table.h"

#include "base/files.h"
#include "components/registry.h"
#include "show/cells.h"
#include "show/query.h"
#include "run/run_folder.h"

#include <string.h>

static bool is_of(const nb_table *table, const nb_relation *relation)
{
    return strcmp(table->study, relation->study->component.name) == 0;
}

int nb_tables_last(void)
{
    int last = 0;
    for (const nb_entry *e = nb_tables.entries; e->component; e++)
        if (((const nb_table *)e->component)->place > last) last = ((const nb_table *)e->component)->place;
    return last;
}

nb_status nb_table_show(nb_page *page, const nb_table *table, nb_relation *relation, nb_ctx *ctx)
{
    nb_ctx *own;
    NB_NEED(own, nb_ctx_child(ctx));
    NB_TRY(ctx, nb_query_show(relation, table->sql, page, own));
    nb_ctx_release(own, 0);
    return NB_OK;
}

nb_status nb_tables_show(nb_page *page, int last, nb_relation *relation, nb_ctx *ctx)
{
    for (int place = 1; place <= (last ? last : nb_tables_last()); place++)
        for (const nb_entry *e = nb_tables.entries; e->component; e++) {
            const nb_table *table = (const nb_table *)e->component;
            if (table->place == place && is_of(table, relation)) NB_TRY(ctx, nb_table_show(page, table, relation, ctx));
        }
    return NB_OK;
}

nb_status nb_tables_write(const char *folder, nb_relation *relation, nb_ctx *ctx)
{
    for (const nb_entry *e = nb_tables.entries; e->component; e++) {
        const nb_table *table = (const nb_table *)e->component;
        nb_grid grid;
        if (!table->file || !is_of(table, relation)) continue;
        nb_mark mark = nb_ctx_mark(ctx);
        NB_TRY(ctx, nb_query_fill(relation, table->sql, &grid, ctx));
        NB_TRY(ctx, nb_run_write(folder, table->file, grid.count ? nb_grid_print_csv : NULL, &grid, ctx));
        nb_ctx_release(ctx, mark);
    }
    return NB_OK;
}

nb_status nb_tables_print_files(FILE *out, const char *folder, const char *study, nb_ctx *ctx)
{
    for (const nb_entry *e = nb_tables.entries; e->component; e++) {
        const nb_table *table = (const nb_table *)e->component;
        const char *path;
        if (!table->file || strcmp(table->study, study) != 0) continue;
        NB_TRY(ctx, nb_run_path(folder, table->file, &path, ctx));
        if (nb_is_file(path)) fprintf(out, ", %s", table->file);
    }
    return NB_OK;
}
