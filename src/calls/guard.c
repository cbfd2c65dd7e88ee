/* SPDX-License-Identifier: GPL-3.0-or-later */
/* guard.c - checksums of what must not change, before and after a call. */
#include "calls/guard.h"

#include "components/plugin.h"
#include "nystrom/factors_record.h"
#include "nystrom/make_scene.h"
#include "nystrom/scene_record.h"
#include "nystrom/spectrum_record.h"

#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

static _Atomic(const nb_component *) inside;

const nb_component *nb_guard_inside(void)
{
    return inside;
}

enum { LARGE = 1 << 20 }; /* bytes of S from which reading it takes longer than closing its pages */

static bool has(const nb_guard *g, const void *bytes)
{
    int i = 0;
    while (i < g->count && g->spans[i].bytes != bytes) i++;
    return i < g->count;
}

static void add_sum(nb_guard *g, const char *name, const void *bytes, size_t count, uint64_t sum)
{
    g->full = g->count == NB_GUARD_SPANS;
    if (!g->full) g->spans[g->count++] = (nb_span){name, bytes, count, sum};
}

/* Once. */
static void add(nb_guard *g, const char *name, const void *bytes, size_t count)
{
    if (bytes && count > 0 && !has(g, bytes)) add_sum(g, name, bytes, count, nb_checksum(bytes, count, 0));
}

/* Points of the scene: read once for all calls, since nothing may change them in between. */
static void add_points(nb_guard *g, nb_scene *s, int number, const char *name, const double *x, size_t rows)
{
    size_t bytes = rows * (size_t)s->head->n * sizeof *x;
    if (!x || has(g, x)) return;
    if (s->known[number].bytes != x) {
        s->known[number].bytes = x;
        s->known[number].sum = nb_checksum(x, bytes, 0);
    }
    add_sum(g, name, x, bytes, s->known[number].sum);
}

static void add_reals(nb_guard *g, const char *name, const double *x, size_t rows, size_t columns)
{
    add(g, name, x, rows * columns * sizeof *x);
}

/* The pages that hold S alone are made read-only; the rest of it, at both ends, is read. */
static void add_rows(nb_guard *g, const double *rows, size_t n)
{
    if (g->closed) return;
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = n * n * sizeof *rows;
    uintptr_t start = (uintptr_t)rows, first = (start + page - 1) / page * page, last = (start + bytes) / page * page;
    if (bytes < LARGE || mprotect((void *)first, last - first, PROT_READ) != 0) {
        add(g, "S", rows, bytes);
        return;
    }
    g->closed = (void *)first;
    g->closed_bytes = last - first;
    add(g, "S", rows, first - start);
    add(g, "S", (const void *)last, start + bytes - last);
}

static void add_spectrum(nb_guard *g, const nb_kept_spectrum *kept, size_t n)
{
    const nb_spectrum *s = &kept->of;
    static const char name[] = "the singular triplets of S";
    size_t count = (size_t)s->count;
    add(g, name, kept, sizeof *kept);
    add_reals(g, name, s->values, count, 1);
    add_reals(g, name, s->left, n, count);
    add_reals(g, name, s->right, n, count);
    add_reals(g, name, s->tail, count + 1, 1);
    add_reals(g, name, s->tail_accuracy, count + 1, 1);
}

static void add_head(nb_guard *g, nb_scene *s)
{
    const nb_head *h = s->head;
    add(g, "the head", h, sizeof *h);
    add_points(g, s, 0, "Q", h->q, (size_t)h->d);
    add_points(g, s, 1, "K", h->k, (size_t)h->d);
    add_points(g, s, 2, "V", h->v, (size_t)h->dv);
}

static void add_scene(nb_guard *g, const nb_scene *s)
{
    size_t n = (size_t)s->head->n;
    add(g, "the scene", s, offsetof(nb_scene, rows));
    add(g, "the scene", s->positions, n * sizeof *s->positions);
    add(g, "the kernel's options", s->options, s->kernel->component->options_size);
    if (s->factors.x != s->head->q) add_reals(g, "the factors of S", s->factors.x, (size_t)s->factors.rank, n);
    if (s->factors.y != s->head->k) add_reals(g, "the factors of S", s->factors.y, (size_t)s->factors.rank, n);
}

/* Adds what the scene has cached so far. */
static void add_kept(nb_guard *g, nb_scene *s)
{
    static const char scene[] = "the scene", sums[] = "the sums of S";
    size_t n = (size_t)s->head->n;
    add_points(g, s, 3, "[Q; K]", s->stacked, 2 * (size_t)s->head->d);
    add_points(g, s, 4, "the queries and keys in one set", s->united, 2 * (size_t)s->head->d);
    if (s->stacked) add(g, scene, &s->stacked, sizeof s->stacked);
    if (s->united) add(g, scene, &s->united, sizeof s->united);
    if (s->row_sums) add(g, scene, &s->norm, sizeof s->norm);
    if (s->row_sums) add(g, scene, &s->baseline_mean, sizeof s->baseline_mean);
    if (s->row_sums) add(g, scene, &s->row_sums, sizeof s->row_sums);
    if (s->column_sums) add(g, scene, &s->column_sums, sizeof s->column_sums);
    if (s->gathered & NB_SCENE_ENTROPY) add(g, scene, &s->entropy, sizeof s->entropy);
    if (s->output) add(g, scene, &s->output, sizeof s->output);
    if (s->formed) add(g, scene, &s->rows, sizeof s->rows);
    add_reals(g, sums, s->row_sums, n, 1);
    add_reals(g, sums, s->column_sums, n, 1);
    add_reals(g, "S V", s->output, (size_t)s->head->dv, n);
    for (int i = 0; i < s->spectrum_count; i++) add_spectrum(g, s->spectra[i], n);
    if (s->formed) add_rows(g, s->rows, n);
}

static void add_factors(nb_guard *g, nb_factors *f)
{
    static const char name[] = "what cores share";
    size_t m = (size_t)f->m;
    double one, infinity;
    nb_factors_norms(f, &one, &infinity);
    add_reals(g, "A", f->a, m, m);
    add(g, name, f, offsetof(nb_factors, ctx));
    add(g, name, &f->n, offsetof(nb_factors, spectrum) - offsetof(nb_factors, n));
    add(g, name, &f->norm_one, sizeof one);
    add(g, name, &f->norm_infinity, sizeof infinity);
    if (!f->ranges) return;
    add(g, name, f->ranges, sizeof *f->ranges);
    add_reals(g, name, f->ranges->r_f, (size_t)f->ranges->rank_f, m);
    add_reals(g, name, f->ranges->r_b, (size_t)f->ranges->rank_b, m);
    add_reals(g, name, f->ranges->mid, (size_t)f->ranges->rank_f, (size_t)f->ranges->rank_b);
}

static void add_shared(nb_guard *g, const nb_factors *f)
{
    static const char name[] = "what cores share";
    size_t m = (size_t)f->m;
    if (f->spectrum.values) add(g, name, &f->spectrum, sizeof f->spectrum);
    add_reals(g, name, f->spectrum.u, m, m);
    add_reals(g, name, f->spectrum.values, m, 1);
    add_reals(g, name, f->spectrum.vt, m, m);
    add_reals(g, name, f->rows.target, (size_t)f->rows.rank_b, (size_t)f->rows.k);
    add_reals(g, name, f->rows.f, m, (size_t)f->rows.k);
    add_reals(g, name, f->rows.squares, (size_t)f->rows.k, 1);
}

static void see_scene(nb_watch *watch)
{
    nb_guard *g = (nb_guard *)watch;
    add_kept(g, g->scene);
}

static void see_factors(nb_watch *watch)
{
    nb_guard *g = (nb_guard *)watch;
    add_shared(g, g->factors);
}

void nb_guard_begin(nb_guard *g, const nb_choice *component, nb_scene *scene, nb_factors *factors)
{
    g->on = nb_plugin_of(component->component);
    if (g->on) nb_guard_start(g, component, scene, factors);
}

void nb_guard_start(nb_guard *g, const nb_choice *component, nb_scene *scene, nb_factors *factors)
{
    *g = (nb_guard){.on = true, .name = component->component->name, .outer = inside};
    add(g, "its options", component->options, component->component->options_size);
    if (scene) add_head(g, scene);
    if (factors) {
        g->factors = factors;
        g->watch = (nb_watch){see_factors, factors->watch};
        add_factors(g, factors);
        add_shared(g, factors);
        factors->watch = &g->watch;
    } else if (scene) {
        g->scene = scene;
        g->watch = (nb_watch){see_scene, scene->watch};
        add_scene(g, scene);
        add_kept(g, scene);
        scene->watch = &g->watch;
    }
    g->before = nb_surroundings_now();
    inside = component->component;
}

void nb_guard_add(nb_guard *g, const char *name, const void *bytes, size_t count)
{
    if (g->on) add(g, name, bytes, count);
}

/* "the working folder, Q and K" */
static const char *names_of_changed(const nb_guard *g, uint32_t surroundings, nb_ctx *ctx)
{
    const char *names[NB_SURROUNDINGS + NB_GUARD_SPANS];
    int count = 0;
    for (int i = 0; i < NB_SURROUNDINGS; i++)
        if (surroundings >> i & 1) names[count++] = nb_surroundings_names[i];
    for (int i = 0; i < g->count; i++) {
        const nb_span *s = &g->spans[i];
        if (nb_checksum(s->bytes, s->count, 0) == s->sum || (count > 0 && names[count - 1] == s->name)) continue;
        names[count++] = s->name;
    }
    return nb_list_names(count, names, ctx);
}

nb_status nb_guard_end(nb_guard *g, nb_status status, nb_ctx *ctx)
{
    const char *names, *message;
    if (!g->on) return status;
    inside = g->outer;
    if (g->scene) g->scene->watch = g->watch.outer;
    if (g->factors) g->factors->watch = g->watch.outer;
    if (g->closed) mprotect(g->closed, g->closed_bytes, PROT_READ | PROT_WRITE);
    nb_surroundings now = nb_surroundings_now();
    NB_NEED(names, names_of_changed(g, nb_surroundings_changed(&g->before, &now), ctx));
    NB_REQUIRE(ctx, !g->full, NB_EBUG, "a guard has room for %d pieces of memory, and there are more", NB_GUARD_SPANS);
    if (status != NB_OK && !*nb_error_message(ctx))
        nb_error_set(ctx, status, __FILE__, __LINE__, "%s failed without a message: %s", g->name,
                     nb_status_name(status));
    if (!*names) return status;
    NB_NEED(message, status == NB_OK ? "" : nb_format(ctx, "; %s", nb_error_message(ctx)));
    nb_error_clear(ctx);
    nb_error_set(ctx, NB_EBUG, __FILE__, __LINE__, "changed %s%s", names, message);
    nb_ctx_spoil(ctx, nb_error_message(ctx));
    return NB_EBUG;
}
