/* SPDX-License-Identifier: GPL-3.0-or-later */
/* table.c - see table.h */
#include "report/table.h"

#include "base/files.h"
#include "components/registry.h"

#include <string.h>

nb_status nb_tables_print(FILE *out, const char *study, const nb_frame *frame, const nb_table_form *form, nb_ctx *ctx)
{
    int last = 0;
    for (const nb_entry *e = nb_tables.entries; e->component; e++)
        if (((const nb_table *)e->component)->place > last) last = ((const nb_table *)e->component)->place;
    for (int place = 1; place <= last; place++)
        for (const nb_entry *e = nb_tables.entries; e->component; e++) {
            const nb_table *table = (const nb_table *)e->component;
            if (table->place != place || strcmp(table->study, study) != 0) continue;
            NB_TRY(ctx, table->print(out, frame, form, ctx));
        }
    return NB_OK;
}

typedef struct {
    const nb_table *table;
    const nb_frame *frame;
    nb_table_form form;
} printed;

static nb_status print(FILE *out, const void *what, nb_ctx *ctx)
{
    const printed *p = what;
    return p->table->print(out, p->frame, &p->form, ctx);
}

nb_status nb_tables_write(const char *folder, const char *study, const nb_frame *frame, const char *baseline,
                          nb_ctx *ctx)
{
    for (const nb_entry *e = nb_tables.entries; e->component; e++) {
        const printed p = {(const nb_table *)e->component, frame, {.baseline = baseline, .csv = true}};
        const char *path;
        if (!p.table->file || strcmp(p.table->study, study) != 0) continue;
        NB_NEED(path, nb_format(ctx, "%s/%s", folder, p.table->file));
        NB_TRY(ctx, nb_write_file(path, print, &p, ctx));
    }
    return NB_OK;
}

void nb_tables_print_files(FILE *out, const char *study)
{
    for (const nb_entry *e = nb_tables.entries; e->component; e++) {
        const nb_table *table = (const nb_table *)e->component;
        if (table->file && strcmp(table->study, study) == 0)
            fprintf(out, "  %-16s %s\n", table->file, table->component.summary);
    }
}
