/* SPDX-License-Identifier: GPL-3.0-or-later */
/* provenance.c - facts, each from the library or system that knows it. */
#include "run/provenance.h"

#include "base/files.h"
#include "base/digest.h"
#include "base/gnuplot.h"
#include "base/machine.h"
#include "base/version.h"
#include "components/plugin.h"
#include "linalg/blas.h"
#include "linalg/vector.h"
#include "nystrom/scene.h"
#include "build.h"

#include <gsl/gsl_version.h>
#include <lapacke.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include <yaml.h>

#ifdef __clang__
#define COMPILER __VERSION__
#else
#define COMPILER "gcc " __VERSION__
#endif

/* JSON is UTF-8. Names of files need not be; then bytes that are not ASCII become '?'. */
static json_t *text_of(const char *text)
{
    json_t *whole = json_string(text);
    char *copy = whole ? NULL : strdup(text);
    for (char *c = copy; c && *c; c++) *c = (unsigned char)*c < 0x80 ? *c : '?';
    if (copy) whole = json_string(copy);
    free(copy);
    return whole;
}

static int add_text(json_t *facts, const char *key, const char *value)
{
    return json_object_set_new(facts, key, text_of(value));
}

static json_t *pack_program(const nb_program *program)
{
    lapack_int major = 0, minor = 0, patch = 0;
    char lapack[96];
    nb_blas_info blas;
    nb_blas_describe(&blas);
    LAPACKE_ilaver(&major, &minor, &patch);
    snprintf(lapack, sizeof lapack, "%d.%d.%d", (int)major, (int)minor, (int)patch);
    return json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:b, s:i, s:i, s:b, s:s, s:i, s:s, s:s, s:s, s:s, s:s}",
        "nysbench", NB_VERSION, "build", program->build, "executable", program->executable, "arithmetic",
        program->arithmetic, "compiler", COMPILER, "flags", NB_FLAGS, "blas", blas.config, "blas_kernels", blas.kernels,
        "blas_kernels_best", blas.best, "blas_kernels_worse", blas.worse, "blas_threads", blas.threads, "blas_int_bits",
        blas.int_bits, "blas_restarted", blas.restarted, "vector_width", nb_vector_width(), "rows_a_stripe", NB_STRIPE,
        "lapack", lapack, "gsl", gsl_version, "sqlite", sqlite3_libversion(), "libyaml", yaml_get_version_string(),
        "jansson", jansson_version_str());
}

static int add_machine(json_t *facts)
{
    struct utsname system;
    struct sysinfo memory;
    char text[256];
    nb_cpu_name(text);
    int failed = add_text(facts, "cpu", text);
    failed |= json_object_set_new(facts, "cpus_usable", json_integer(nb_usable_cpus()));
    if (sysinfo(&memory) == 0)
        failed |= json_object_set_new(facts, "memory_mib",
                                      json_integer((json_int_t)(memory.totalram * memory.mem_unit / 1048576)));
    if (uname(&system) == 0) {
        snprintf(text, sizeof text, "%.60s %.60s %.60s", system.sysname, system.release, system.machine);
        failed |= add_text(facts, "system", text);
    }
    return failed;
}

nb_status nb_program_here(int blas_threads, nb_program *program, nb_ctx *ctx)
{
    long long bytes;
    nb_blas_info blas;
    nb_blas_describe(&blas);
    const char *name = "OpenBLAS ", /* "OpenBLAS 0.3.21 ...": the version alone */
        *version = strncmp(blas.config, name, strlen(name)) == 0 ? blas.config + strlen(name) : "?";
    NB_NEED(program->arithmetic, nb_format(ctx, "%s kernels of OpenBLAS %.*s, %s vectors, %d BLAS thread%s",
                                           blas.kernels, (int)strcspn(version, " "), version, nb_vector_width(),
                                           blas_threads, blas_threads == 1 ? "" : "s"));
    program->build = NB_BUILD_ID;
    return nb_digest_file("/proc/self/exe", &program->executable, &bytes, ctx);
}

nb_status nb_provenance(const nb_program *program, bool gnuplot, json_t **facts, nb_ctx *ctx)
{
    const char *line;
    *facts = pack_program(program);
    NB_REQUIRE(ctx, *facts, NB_ENOMEM, "out of memory: the provenance");
    NB_TRY(ctx, nb_defer_json(ctx, *facts));
    int failed = add_machine(*facts);
    if (gnuplot) failed |= add_text(*facts, "gnuplot", nb_gnuplot_version(&line, ctx) ? line : "not installed");
    NB_REQUIRE(ctx, !failed, NB_ENOMEM, "out of memory: the provenance");
    return NB_OK;
}

/* Returns a file's absolute path, independent of the current folder. */
static json_t *place_of(const char *path)
{
    char *whole = realpath(path, NULL);
    json_t *place = text_of(whole ? whole : path);
    free(whole);
    return place;
}

/* Adds texts, NULL-terminated, each in that form. */
static int add_list(json_t *facts, const char *key, const char *const *texts, json_t *(*form)(const char *text))
{
    json_t *list = json_array();
    int failed = json_object_set_new(facts, key, list);
    for (; *texts && !failed; texts++) failed = json_array_append_new(list, form(*texts));
    return failed;
}

/* Adds the files that the plan's rows are made from. */
static int add_files(json_t *facts, const nb_inputs *inputs)
{
    json_t *list = json_array();
    int failed = json_object_set_new(facts, "files", list);
    for (int i = 0; i < inputs->count && !failed; i++) {
        const nb_input *file = &inputs->items[i];
        json_t *object = json_pack("{s:o, s:o, s:I, s:s}", "path", text_of(file->path), "place", place_of(file->path),
                                   "bytes", (json_int_t)file->bytes, "sha256", file->sha256);
        failed = json_array_append_new(list, object);
    }
    return failed;
}

nb_status nb_manifest_make(const nb_program *program, const nb_invocation *how, const nb_plan *plan,
                           nb_manifest *manifest, nb_ctx *ctx)
{
    json_t *facts;
    const char *config, *load; /* of the last minute */
    char moment[32], host[256] = "";
    time_t now = time(NULL);
    struct tm utc;
    strftime(moment, sizeof moment, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    gethostname(host, sizeof host - 1);
    NB_TRY(ctx, nb_config_text(plan->config, false, &config, ctx));
    manifest->program = *program;
    NB_TRY(ctx, nb_provenance(program, how->gnuplot, &facts, ctx));
    NB_NEED(load, nb_format(ctx, "%.2f of %d CPUs", nb_load(), nb_all_cpus()));
    int failed = add_text(facts, "started", moment) | add_text(facts, "host", host) | add_text(facts, "load", load);
    failed |= add_list(facts, "arguments", how->argv, text_of);
    failed |= json_object_set_new(facts, "jobs", json_integer(how->workers.jobs));
    failed |= json_object_set_new(facts, "blas_threads", json_integer(how->workers.blas_threads));
    failed |= add_list(facts, "plugins", nb_plugins_loaded(), place_of);
    failed |= add_files(facts, plan->inputs);
    failed |= add_text(facts, "config", config);
    char *text = failed ? NULL : json_dumps(facts, JSON_INDENT(2));
    NB_REQUIRE(ctx, text, NB_ENOMEM, "out of memory: the manifest");
    NB_TRY(ctx, nb_defer(ctx, free, text));
    NB_NEED(manifest->text, nb_format(ctx, "%s\n", text));
    return NB_OK;
}

static const char *digest_then(const json_t *facts, const char *path)
{
    size_t i;
    const json_t *file;
    json_array_foreach(json_object_get(facts, "files"), i, file)
    {
        const char *name = json_string_value(json_object_get(file, "path"));
        if (name && strcmp(name, path) == 0) return json_string_value(json_object_get(file, "sha256"));
    }
    return NULL;
}

nb_status nb_manifest_changes(const char *text, const nb_inputs *now, const char ***lines, nb_ctx *ctx)
{
    json_error_t error;
    json_t *facts = json_loads(text, 0, &error);
    int count = 0;
    NB_REQUIRE(ctx, facts, NB_EIO, "a manifest in the store is not JSON: %s", error.text);
    NB_TRY(ctx, nb_defer_json(ctx, facts));
    NB_NEED(*lines, nb_alloc(ctx, (size_t)now->count + 1, sizeof **lines));
    for (int i = 0; i < now->count; i++) {
        const char *before = digest_then(facts, now->items[i].path);
        if (!before || strcmp(before, now->items[i].sha256) == 0) continue;
        NB_NEED((*lines)[count++],
                nb_format(ctx, "%s: has other contents (SHA-256 %.*s...) than when rows were measured on it (%.*s...)",
                          now->items[i].path, NB_DIGEST_SHOWN, now->items[i].sha256, NB_DIGEST_SHOWN, before));
    }
    return NB_OK;
}
