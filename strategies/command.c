/* SPDX-License-Identifier: GPL-3.0-or-later */
/* command.c - landmarks from any program, in Python or anything else.
 *
 * Without `serve` the program is started in a new folder, which is its current one and its last
 * argument. It finds there
 *     points.npy    the points, float64 (n, d)
 *     request.json  m, side ("queries", "keys", "joint", "shared" or "both", see nb_pairing), seed, n, d, causal
 * and leaves picks.npy: integers of shape (m), which are tokens, or floats of shape
 * (m, d), which are points. Its standard output is thrown away; the end of its
 * standard error tells why a row failed.
 *
 * With the pairing `both` it finds queries.npy and keys.npy, float64 (n, d) each, instead of points.npy, and leaves
 * query_picks.npy and key_picks.npy, tokens in both or points in both; or picks.npy alone, tokens that serve both
 * sides.
 *
 * With `serve` it is a server (base/server.h): each pick is a question, an object with what request.json holds and the
 * folder with the files, which is a new one for each pick. The answer {"done": "picks"} says that it has left the files
 * as above, {"done": "groups"} that their integers, of shape (n), are the groups of the tokens. Either may have
 * "waited_s": N, the seconds that the question waited there behind others'.
 *
 * `run` is split into words at blanks, with quotes and backslashes as a shell has
 * them, and no shell is involved. Since the program runs elsewhere, a word that names
 * a file in the folder of the call, where nysbench was started, becomes its absolute
 * path, and so does what follows the first '=' of a word (--weights=w.npy); links are
 * not followed, so that the python of a virtual environment stays that. The first word
 * is looked for in PATH if it has no '/'. Folders stay as they are: the folder of
 * the call is in the environment, as NYSBENCH_FOLDER.
 *
 * select_s includes the files, a few ms, and starting the program, for a Python with NumPy some 0.1 s; but not the
 * start of a server, which its first pick would have alone, nor waited_s. */
#include "strategy.h"

#include "base/clock.h"
#include "base/files.h"
#include "base/last_words.h"
#include "base/process.h"
#include "base/scratch.h"
#include "base/server.h"
#include "base/words.h"
#include "data/tensor.h"
#include "nystrom/picks_file.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOG "stderr.txt"

typedef struct {
    const char *run;
    double timeout;
    int deterministic;
    int serve;
    double start;
} command_options;

static const nb_option options[] = {
    NB_FILE(command_options, run, NULL, "the program and its arguments, such as \"python3 mine.py\""),
    NB_REAL(command_options, timeout, "60", 1e-3, 1e6,
            "seconds for one call; after that it is told to end, and killed a second later"),
    NB_BOOL(command_options, deterministic, "false",
            "the program does not use the seed: its picks are the same in all trials"),
    {.key = "serve",
     .type = NB_OPTION_BOOL,
     .offset = NB_FIELD_(command_options, serve, int),
     .initial = "false",
     .newer = true,
     .help = "the program stays alive and makes all picks of a worker; `python3 -m nysbench.serve FILE.py` is one"},
    {.key = "start",
     .type = NB_OPTION_REAL,
     .offset = NB_FIELD_(command_options, start, double),
     .initial = "60",
     .lo = 1e-3,
     .hi = 1e6,
     .newer = true,
     .for_key = "serve",
     .for_value = "true",
     .help = "seconds until such a program is ready"},
    NB_OPTION_END};

enum { PICKS, GROUPS }; /* what the program has left */

typedef struct {
    const nb_points *points, *keys; /* the pairing `both`: the queries and the keys; else keys is NULL */
    nb_picks *picks, *of_keys;      /* of these points */
    int m;
    const command_options *options;
} call;

/* Finds the folder in which nysbench was called, as far as this process knows. */
static nb_status current_folder(const char **here, nb_ctx *ctx)
{
    char *path = getcwd(NULL, 0);
    NB_REQUIRE(ctx, path, NB_EIO, "the current folder is not known: %s", strerror(errno));
    *here = path;
    return nb_defer(ctx, free, path);
}

/* The words of `run` as the program is to see them, and one more, or NULL. */
static nb_status make_words(const char *run, const char *here, const char *last, char ***words, nb_ctx *ctx)
{
    int count;
    char **given;
    NB_TRY(ctx, nb_words_split(run, &count, &given, ctx));
    NB_NEED(*words, nb_alloc(ctx, (size_t)count + 2, sizeof **words));
    for (int i = 0; i < count; i++) NB_TRY(ctx, nb_word_absolute(given, i, here, &(*words)[i], ctx));
    if (last) NB_NEED((*words)[count], nb_strdup(ctx, last));
    return NB_OK;
}

static nb_status print_text(FILE *out, const void *text, nb_ctx *ctx)
{
    NB_REQUIRE(ctx, text, NB_ENOMEM, "out of memory: request.json");
    fprintf(out, "%s\n", (const char *)text);
    return NB_OK;
}

static nb_status write_points(const char *folder, const char *name, const nb_points *p, nb_ctx *ctx)
{
    const char *path;
    NB_NEED(path, nb_format(ctx, "%s/%s", folder, name));
    return nb_npy_save_reals(path, 2, (int64_t[]){p->n, p->d}, p->x, ctx);
}

static void drop(void *object)
{
    json_decref(object);
}

static nb_status make_request(const call *c, unsigned long seed, json_t **request, nb_ctx *ctx)
{
    const nb_points *p = c->points;
    const char *side = c->keys ? nb_pairing_names[NB_BOTH] : nb_side_names[p->side];
    *request = json_pack("{s:i, s:s, s:I, s:i, s:i, s:b}", "m", c->m, "side", side, "seed", (json_int_t)seed, "n", p->n,
                         "d", p->d, "causal", (int)nb_scene_head(p->scene)->causal);
    NB_REQUIRE(ctx, *request, NB_ENOMEM, "out of memory: a request");
    return nb_defer(ctx, drop, *request);
}

static nb_status write_all_points(const char *folder, const call *c, nb_ctx *ctx)
{
    NB_TRY(ctx, write_points(folder, c->keys ? "queries.npy" : "points.npy", c->points, ctx));
    return c->keys ? write_points(folder, "keys.npy", c->keys, ctx) : NB_OK;
}

static nb_status write_request(const char *folder, const json_t *request, nb_ctx *ctx)
{
    const char *path;
    NB_NEED(path, nb_format(ctx, "%s/request.json", folder));
    char *text = json_dumps(request, JSON_INDENT(2));
    nb_status status = nb_write_file(path, print_text, text, ctx);
    free(text);
    return status;
}

static nb_status find_words(const command_options *o, const char *last, char ***words, const char **variable,
                            nb_ctx *ctx)
{
    const char *here;
    NB_TRY(ctx, current_folder(&here, ctx));
    NB_TRY(ctx, make_words(o->run, here, last, words, ctx));
    NB_NEED(*variable, nb_format(ctx, "NYSBENCH_FOLDER=%s", here));
    return NB_OK;
}

/* The program for this pick alone. */
static nb_status run(const char *folder, const command_options *o, const char **said, nb_ctx *ctx)
{
    pid_t pid;
    nb_ending ending;
    char **words;
    const char *end, *log;
    nb_process program = {.folder = folder, .log = LOG};
    NB_TRY(ctx, find_words(o, folder, &words, &program.variable, ctx));
    program.words = words;
    NB_NEED(log, nb_format(ctx, "%s/" LOG, folder));
    NB_TRY(ctx, nb_process_spawn(&program, &pid, ctx));
    NB_TRY(ctx, nb_process_await(pid, o->timeout, &ending, ctx));
    NB_TRY(ctx, nb_ending_text(&ending, o->timeout, &end, ctx));
    NB_TRY(ctx, nb_last_words(log, folder, pid, said, ctx));
    NB_REQUIRE(ctx, !*end, NB_EIO, "%s: %s%s", o->run, end, *said);
    return NB_OK;
}

/* *kind <- what the program says that it has left. */
static nb_status find_kind(const json_t *answer, const char *folder, const call *c, const char *said, int *kind,
                           nb_ctx *ctx)
{
    const char *done = json_string_value(json_object_get(answer, "done"));
    bool picks = done && strcmp(done, "picks") == 0, groups = done && strcmp(done, "groups") == 0;
    char *text = json_dumps(answer, JSON_COMPACT);
    NB_REQUIRE(ctx, text, NB_ENOMEM, "out of memory: an answer");
    NB_TRY(ctx, nb_defer(ctx, free, text));
    nb_hide_chance(text, folder, 0);
    NB_REQUIRE(
        ctx, picks || groups, NB_EIO,
        "%s: answered %.60s; allowed are {\"done\": \"picks\"}, {\"done\": \"groups\"} and {\"error\": \"why\"}%s",
        c->options->run, text, said);
    *kind = groups ? GROUPS : PICKS;
    return NB_OK;
}

/* Excludes from select_s what the question waited for others, which is at most asked_s. */
static nb_status leave_out_wait(const json_t *answer, double asked_s, const call *c, const char *said, nb_ctx *ctx)
{
    const json_t *waited = json_object_get(answer, "waited_s");
    if (!waited) return NB_OK;
    char *text = json_dumps(waited, JSON_COMPACT | JSON_ENCODE_ANY);
    NB_REQUIRE(ctx, text, NB_ENOMEM, "out of memory: an answer");
    NB_TRY(ctx, nb_defer(ctx, free, text));
    NB_REQUIRE(ctx, json_is_number(waited) && json_number_value(waited) >= 0, NB_EIO,
               "%s: answered with waited_s %.60s; allowed are seconds, 0 or more%s", c->options->run, text, said);
    nb_scene_leave_out(c->points->scene, fmin(json_number_value(waited), asked_s));
    return NB_OK;
}

/* The program that makes all picks: its start is not this one's. */
static nb_status serve(const char *folder, const call *c, json_t *request, int *kind, const char **said, nb_ctx *ctx)
{
    const command_options *o = c->options;
    nb_service service = {.start_s = o->start, .timeout_s = o->timeout};
    nb_reply reply;
    char **words, *text;
    NB_TRY(ctx, find_words(o, NULL, &words, &service.variable, ctx));
    service.words = words;
    NB_REQUIRE(ctx, json_object_set_new(request, "folder", json_string(folder)) == 0, NB_EHOST,
               "%s: the name of a temporary folder is no UTF-8", folder);
    double asked_s = nb_clock_s();
    NB_TRY(ctx, nb_server_ask(&service, request, &reply, ctx));
    asked_s = nb_clock_s() - asked_s - reply.start_s;
    nb_scene_leave_out(c->points->scene, reply.start_s);
    NB_NEED(text, nb_strdup(ctx, reply.answer ? reply.said : reply.trouble));
    nb_hide_chance(text, folder, 0);
    *said = text;
    NB_REQUIRE(ctx, reply.answer, NB_EIO, "%s: %s", o->run, text);
    NB_TRY(ctx, find_kind(reply.answer, folder, c, text, kind, ctx));
    return leave_out_wait(reply.answer, asked_s, c, text, ctx);
}

/* left: picks.npy, query_picks.npy and key_picks.npy, NULL where there is none: the first alone or, with `both`, the
 * two others. */
static nb_status find_picks(const char *folder, const call *c, const char *said, const char *left[3], nb_ctx *ctx)
{
    static const char *const names[3] = {"picks.npy", "query_picks.npy", "key_picks.npy"};
    const char *run = c->options->run, *came = "";
    for (int i = 0; i < (c->keys ? 3 : 1); i++) {
        NB_NEED(left[i], nb_format(ctx, "%s/%s", folder, names[i]));
        if (nb_is_file(left[i]))
            NB_NEED(came, nb_format(ctx, "%s%s%s", came, *came ? ", " : "", names[i]));
        else
            left[i] = NULL;
    }
    NB_REQUIRE(ctx, c->keys || left[0], NB_EIO, "%s: left no picks.npy%s", run, said);
    NB_REQUIRE(ctx, left[0] ? !left[1] && !left[2] : left[1] && left[2], NB_EIO,
               "%s: left %s; allowed are query_picks.npy and key_picks.npy, or picks.npy alone, tokens that serve both "
               "sides%s",
               run, *came ? came : "no picks", said);
    return NB_OK;
}

/* Names of files in the folder are told without it. */
static void hide_folder(char *text, const char *folder)
{
    size_t length = strlen(folder);
    for (char *at = text; (at = strstr(at, folder));) {
        char *rest = at + length + (at[length] == '/');
        memmove(at, rest, strlen(rest) + 1);
    }
}

static nb_status load_groups(const char *const left[3], const call *c, nb_ctx *ctx)
{
    NB_TRY(ctx, nb_picks_load_groups(left[1] ? left[1] : left[0], c->m, c->points->n, c->picks, ctx));
    if (left[2]) return nb_picks_load_groups(left[2], c->m, c->points->n, c->of_keys, ctx);
    if (c->keys) *c->of_keys = *c->picks;
    return NB_OK;
}

static nb_status load_picks(const char *const left[3], const call *c, nb_ctx *ctx)
{
    const nb_points *p = c->points;
    if (!c->keys) return nb_picks_load(left[0], c->m, p->d, p->n, c->picks, ctx);
    return nb_picks_load_sides(left[1] ? left[1] : left[0], left[2], c->m, p->d, p->n, c->picks, c->of_keys, ctx);
}

/* The picks, or what is wrong with them. */
static nb_status load(const char *folder, const call *c, int kind, const char *said, nb_ctx *ctx)
{
    const char *left[3] = {NULL};
    char *message;
    NB_TRY(ctx, find_picks(folder, c, said, left, ctx));
    nb_status status = kind == GROUPS ? load_groups(left, c, ctx) : load_picks(left, c, ctx);
    if (status == NB_OK || status == NB_ENOMEM) return status;
    NB_NEED(message, nb_strdup(ctx, nb_error_message(ctx)));
    nb_error_clear(ctx);
    hide_folder(message, folder);
    NB_FAIL(ctx, status, "%s: %s%s", c->options->run, message, said);
}

static nb_status ask(const call *c, nb_ctx *ctx)
{
    const char *folder, *said;
    json_t *request;
    int kind = PICKS;
    NB_TRY(ctx, nb_temporary_folder(&folder, ctx));
    NB_TRY(ctx, make_request(c, c->options->deterministic ? 0 : gsl_rng_get(nb_ctx_rng(ctx)), &request, ctx));
    NB_TRY(ctx, write_all_points(folder, c, ctx));
    if (c->options->serve) {
        NB_TRY(ctx, serve(folder, c, request, &kind, &said, ctx));
    } else {
        NB_TRY(ctx, write_request(folder, request, ctx));
        NB_TRY(ctx, run(folder, c->options, &said, ctx));
    }
    return load(folder, c, kind, said, ctx);
}

/* If there is no room for its files even now that they are gone, that is the reason. */
static nb_status ask_with_room(const call *c, nb_ctx *ctx)
{
    nb_mark mark = nb_ctx_mark(ctx);
    nb_status status = ask(c, ctx);
    if (status == NB_OK || status == NB_ENOMEM || status == NB_EHOST) return status;
    nb_ctx_release(ctx, mark);
    const char *trouble;
    if (nb_scratch_trouble(&trouble, ctx) != NB_OK) return NB_ENOMEM;
    if (!trouble) return status;
    nb_error_clear(ctx);
    NB_FAIL(ctx, NB_EHOST, "temporary files cannot be written, see TMPDIR: %s", trouble);
}

static nb_status pick(const nb_points *points, int m, const void *opts, nb_picks *picks, nb_ctx *ctx)
{
    return ask_with_room(&(call){.points = points, .picks = picks, .m = m, .options = opts}, ctx);
}

static nb_status pick_both(const nb_points *queries, const nb_points *keys, int m, const void *opts,
                           nb_picks *of_queries, nb_picks *of_keys, nb_ctx *ctx)
{
    return ask_with_room(
        &(call){.points = queries, .keys = keys, .picks = of_queries, .of_keys = of_keys, .m = m, .options = opts},
        ctx);
}

static unsigned traits_of(const void *opts)
{
    return (((const command_options *)opts)->deterministic ? 0 : NB_RANDOM) | NB_ELSEWHERE;
}

/* True for programs that run a script named in their first argument. */
static bool is_interpreter(const char *program)
{
    static const char *const names[] = {"python", "pypy", "Rscript", "julia", "perl", "ruby", "node",
                                        "lua",    "php",  "bash",    "dash",  "zsh",  "sh",   NULL};
    const char *slash = strrchr(program, '/'), *stem = slash ? slash + 1 : program;
    for (int i = 0; names[i]; i++) {
        size_t length = strlen(names[i]);
        if (strncmp(stem, names[i], length) == 0 && !stem[length + strspn(stem + length, "0123456789.")]) return true;
    }
    return false;
}

/* The word that names a script for an interpreter, perhaps behind `env NAME=VALUE...`; 0: none does for sure. Behind an
 * option may be its value, and behind -c, -e or -m is none, unless it is -m nysbench.serve. */
static int find_script(int count, char *const *words)
{
    const char *slash = strrchr(words[0], '/');
    int i = 0;
    if (strcmp(slash ? slash + 1 : words[0], "env") == 0)
        for (i = 1; i < count && strchr(words[i], '=');) i++;
    if (i + 1 >= count || !is_interpreter(words[i])) return 0;
    i++;
    if (i + 2 < count && strcmp(words[i], "-m") == 0 && strcmp(words[i + 1], "nysbench.serve") == 0) i += 2;
    return *words[i] != '-' ? i : 0;
}

static nb_status find_program(const char *name, const char *here, nb_ctx *ctx)
{
    const char *path = getenv("PATH"), *file;
    if (strchr(name, '/')) {
        NB_NEED(file,
                *name == '/' ? name : nb_format(ctx, "%s/%s", here, name + (strncmp(name, "./", 2) == 0 ? 2 : 0)));
        NB_REQUIRE(ctx, access(file, F_OK) == 0, NB_EIO, "there is no program %s", file);
        NB_REQUIRE(ctx, nb_is_file(file) && access(file, X_OK) == 0, NB_EIO,
                   "%s is not executable: chmod +x makes it so, or put before it what runs it, such as python3", file);
        return NB_OK;
    }
    for (; path && *path; path += strcspn(path, ":"), path += *path == ':') {
        int length = (int)strcspn(path, ":");
        NB_NEED(file, nb_format(ctx, "%.*s/%s", length ? length : 1, length ? path : ".", name));
        if (nb_is_file(file) && access(file, X_OK) == 0) return NB_OK;
    }
    NB_FAIL(ctx, NB_EIO, "there is no program '%s' in PATH; for one in the current folder, write ./%s", name, name);
}

static nb_status find_parts(const char *run, nb_ctx *ctx)
{
    const char *here, *file;
    char **words;
    int count;
    NB_TRY(ctx, nb_words_split(run, &count, &words, ctx));
    NB_TRY(ctx, current_folder(&here, ctx));
    NB_TRY(ctx, find_program(words[0], here, ctx));
    const char *script = words[find_script(count, words)];
    if (script == words[0] || nb_is_file(script) || (*script == '/' && access(script, F_OK) == 0)) return NB_OK;
    NB_NEED(file, *script == '/' ? script : nb_format(ctx, "%s/%s", here, script));
    NB_REQUIRE(ctx, access(file, F_OK) != 0, NB_EIO, "%s is a folder, which has to be named by its absolute path",
               file);
    NB_FAIL(ctx, NB_EIO, "there is no file %s", file);
}

/* NB_EIO if the program does not get ready. */
static nb_status try_server(const command_options *o, nb_ctx *ctx)
{
    nb_service service = {.start_s = o->start, .timeout_s = o->timeout};
    const char *trouble;
    char **words;
    NB_TRY(ctx, find_words(o, NULL, &words, &service.variable, ctx));
    service.words = words;
    NB_TRY(ctx, nb_server_try(&service, &trouble, ctx));
    NB_REQUIRE(ctx, !trouble, NB_EIO, "%s", trouble);
    return NB_OK;
}

/* Reports a program that cannot be started here; what a program that is not served needs besides is not checked. */
static nb_status ready(const void *opts, nb_ctx *ctx)
{
    const command_options *o = opts;
    const char *reason;
    nb_status status = find_parts(o->run, ctx);
    if (status == NB_OK && o->serve) status = try_server(o, ctx);
    if (status == NB_OK || status == NB_ENOMEM) return status;
    NB_NEED(reason, nb_strdup(ctx, nb_error_message(ctx)));
    nb_error_clear(ctx);
    NB_FAIL(ctx, status, "command: run = %s: %s", o->run, reason);
}

static const char *const references[] = {"the program that it runs; the .npy format (NumPy enhancement proposal 1)",
                                         NULL};

const nb_strategy nb_strategy_command = {
    .component = {"command", "landmarks that a program of your own picks, through files", references, options,
                  sizeof(command_options)},
    .traits = NB_RANDOM | NB_ELSEWHERE,
    .pairing = NB_JOINT,
    .traits_of = traits_of,
    .pick = pick,
    .pick_both = pick_both,
    .ready = ready,
};
