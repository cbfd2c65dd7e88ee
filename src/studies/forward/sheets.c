/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sheets.c - see sheets.h */
#include "studies/forward/sheets.h"

static void see_threads(nb_forward_sheet *of, int threads)
{
    int at = 0;
    while (at < of->thread_count && of->threads[at] < threads) at++;
    if (at < of->thread_count && of->threads[at] == threads) return;
    for (int i = of->thread_count++; i > at; i--) of->threads[i] = of->threads[i - 1];
    of->threads[at] = threads;
}

nb_status nb_forward_sheet_make(nb_forward_sheet *of, const nb_figure *figure, const nb_frame *frame,
                                const nb_drawing *drawing, int times, nb_sheet *sheet, nb_ctx *ctx)
{
    *of = (nb_forward_sheet){.thread_count = 0};
    NB_TRY(ctx, nb_forward_summary_make(frame, &of->summary, ctx));
    size_t cells = (size_t)of->summary.cell_count + 1, series = 2 * (size_t)of->summary.attentions.count + 2;
    NB_NEED(of->threads, nb_alloc(ctx, cells, sizeof *of->threads));
    for (int i = 0; i < of->summary.cell_count; i++) see_threads(of, of->summary.cells[i].threads);
    *sheet = (nb_sheet){.kind = figure->component.name, .experiment = drawing->experiment};
    NB_NEED(sheet->figures, nb_alloc(ctx, cells * (size_t)times, sizeof *sheet->figures));
    NB_NEED(sheet->panels, nb_alloc(ctx, cells * NB_FORWARD_BASELINES, sizeof *sheet->panels));
    NB_NEED(sheet->series, nb_alloc(ctx, series, sizeof *sheet->series));
    return NB_OK;
}

int nb_forward_figure_of(const nb_forward_sheet *of, int threads)
{
    int at = 0;
    while (of->threads[at] != threads) at++;
    return at;
}

nb_status nb_forward_name_figure(const nb_forward_sheet *of, int threads, const char *text, nb_sheet *sheet,
                                 nb_ctx *ctx)
{
    int count = of->threads[threads];
    NB_NEED(sheet->figures[sheet->figure_count++],
            nb_format(ctx, "%s%s%d thread%s", text, *text ? " with " : "", count, count == 1 ? "" : "s"));
    return NB_OK;
}

nb_status nb_forward_family_panels(const nb_forward_sheet *of, nb_sheet *sheet, int **panels, nb_ctx *ctx)
{
    const nb_forward_summary *s = &of->summary;
    NB_NEED(*panels, nb_alloc(ctx, (size_t)s->family_count + 1, sizeof **panels));
    for (int f = 0; f < s->family_count; f++) (*panels)[f] = -1;
    for (int first = 0, end; first < s->cell_count; first = end) {
        end = nb_forward_next_family(s, first);
        int family = s->cells[first].family;
        if (nb_forward_next_n(s, first) == end || (*panels)[family] >= 0) continue;
        (*panels)[family] = sheet->panel_count;
        sheet->panels[sheet->panel_count++] = s->families[family];
    }
    return NB_OK;
}
