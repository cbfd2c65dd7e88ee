/* SPDX-License-Identifier: GPL-3.0-or-later */
/* submit.c - nysbench submit EXP.yaml --jobs N: a Slurm job array of the unfinished shards,
 * and a job that merges and plots when they have ended, in whatever way. */
#include "commands/command.h"

#include "base/files.h"
#include "base/words.h"
#include "base/text.h"
#include "commands/experiment.h"
#include "commands/submission.h"
#include "run/run_folder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ARRAY_SCRIPT "shards.sh"
#define MERGE_SCRIPT "merge.sh"

typedef struct { /* the command line's; NULL: not given */
    nb_whole_value jobs, minutes;
    nb_worker_choices workers; /* of them a task has --timeout and --memory */
    int mixed, dry_run;
    const char *const *sbatch; /* options behind "--" */
} choices;

typedef struct {
    choices c;
    nb_experiment e;
    nb_submission s;
    const char *here, *run, *program; /* current folder, the run's and the program, from the root */
    const char *config;               /* its text */
    int *of;                          /* the shard of each row */
    nb_shard_state *states;
} sending;

/* The time limit of a task, if none is given. */
static nb_status predict_minutes(sending *s, nb_ctx *ctx)
{
    enum { TIMES = 3, MORE = 10, MOST = 365 * 24 * 60 };
    double *seconds, longest = 0;
    NB_TRY(ctx, nb_shards_seconds(&s->e.plan, s->of, s->s.shards, &seconds, ctx));
    for (int i = 1; i <= s->s.shards; i++) longest = fmax(longest, seconds[i]);
    s->s.minutes = (int)fmin(ceil(TIMES * longest / 60) + MORE, MOST);
    printf(
        "time limit: %d minutes a shard: %d times the %.2g minutes predicted for the longest, plus %d; --minutes sets "
        "another\n",
        s->s.minutes, TIMES, longest / 60, MORE);
    return NB_OK;
}

/* Jobs of another config would write into the same folders. */
static nb_status check_earlier(const sending *s, nb_ctx *ctx)
{
    for (int i = 1; i <= s->s.shards; i++) {
        const nb_submission *earlier = s->states[i].sent;
        const char *path, *config;
        if (!s->states[i].queue) continue;
        NB_TRY(ctx, nb_run_path(earlier->folder, NB_SUBMISSION_CONFIG, &path, ctx));
        NB_TRY(ctx, nb_read_file(path, &config, ctx));
        NB_REQUIRE(
            ctx, strcmp(config, s->config) == 0, NB_EINVAL,
            "%s: shards of another config are still in the queue: wait, or 'scancel %s', or choose another --out",
            s->run, earlier->array);
    }
    return NB_OK;
}

static nb_status choose_shards(sending *s, nb_ctx *ctx)
{
    int finished = 0, busy = 0;
    NB_NEED(s->s.sent, nb_alloc(ctx, (size_t)s->s.shards, sizeof *s->s.sent));
    for (int i = 1; i <= s->s.shards; i++) {
        const nb_shard_state *state = &s->states[i];
        if (state->done == state->planned)
            finished++;
        else if (state->queue || state->locked)
            busy++;
        else
            s->s.sent[s->s.sent_count++] = i;
        NB_REQUIRE(ctx, s->c.mixed || !state->other_build || state->done == state->planned, NB_EINVAL,
                   "shard %d/%d holds rows of another build of nysbench; --mixed continues beside them", i,
                   s->s.shards);
    }
    printf("shards: %d, of which %d are finished, %d in the queue or running, and %d are to be submitted\n",
           s->s.shards, finished, busy, s->s.sent_count);
    return NB_OK;
}

static nb_status find_places(sending *s, nb_ctx *ctx)
{
    const char *longest;
    NB_TRY(ctx, nb_whole_path("/proc/self/exe", &s->program, ctx));
    NB_TRY(ctx, nb_whole_path(".", &s->here, ctx));
    NB_NEED(s->run, *s->e.folder == '/' ? nb_strdup(ctx, s->e.folder) : nb_format(ctx, "%s/%s", s->here, s->e.folder));
    NB_TRY(ctx, nb_run_shard_folder(s->run, (nb_shard){s->s.shards, s->s.shards}, &longest, ctx));
    NB_TRY(ctx, nb_run_check_folder(longest, ctx));
    return nb_config_text(&s->e.config, false, &s->config, ctx);
}

/* Finds what has been done and what is queued, and chooses the shards to send. */
static nb_status look_around(sending *s, nb_ctx *ctx)
{
    nb_submission *earlier;
    int count;
    NB_TRY(ctx, nb_shards_assign(&s->e.plan, s->s.shards, &s->of, ctx));
    NB_TRY(ctx, nb_shard_states(s->run, &s->e.plan, s->of, s->s.shards, &s->states, ctx));
    NB_TRY(ctx, nb_submissions_load(s->run, &count, &earlier, ctx));
    NB_TRY(ctx, nb_shard_states_ask(count, earlier, s->s.shards, s->states, ctx));
    NB_TRY(ctx, check_earlier(s, ctx));
    return choose_shards(s, ctx);
}

/* "1,3-5" */
static nb_status array_text(const nb_submission *s, const char **text, nb_ctx *ctx)
{
    char *all, *at;
    enum { MOST_DIGITS = 16 };
    NB_NEED(all, nb_alloc(ctx, (size_t)s->sent_count + 1, MOST_DIGITS));
    at = all;
    for (int i = 0, last; i < s->sent_count; i = last + 1) {
        for (last = i; last + 1 < s->sent_count && s->sent[last + 1] == s->sent[last] + 1;) last++;
        at += sprintf(at, last > i ? "%s%d-%d" : "%s%d", i ? "," : "", s->sent[i], s->sent[last]);
    }
    *text = all;
    return NB_OK;
}

/* Makes the script of a job: it runs this program with `command`, and `last` as it is. */
static nb_status script(const sending *s, const char *does, const char *command, const char *last, const char **text,
                        nb_ctx *ctx)
{
    const char *folder = "";
    NB_TRY(ctx, nb_shell_add(ctx, &folder, s->here, NULL));
    NB_NEED(*text, nb_format(ctx, "#!/bin/sh\n# %s Written by nysbench submit.\ncd%s || exit\nexec%s%s%s\n", does,
                             folder, command, last, s->c.mixed ? " --mixed" : ""));
    return NB_OK;
}

static nb_status array_script(const sending *s, const char **text, nb_ctx *ctx)
{
    const char *config, *line = "", *last;
    NB_TRY(ctx, nb_run_path(s->s.folder, NB_SUBMISSION_CONFIG, &config, ctx));
    NB_TRY(ctx, nb_shell_add(ctx, &line, s->program, "run", config, "--out", s->run, NULL));
    if (s->c.workers.timeout.text) NB_TRY(ctx, nb_shell_add(ctx, &line, "--timeout", s->c.workers.timeout.text, NULL));
    if (s->c.workers.memory) NB_TRY(ctx, nb_shell_add(ctx, &line, "--memory", s->c.workers.memory, NULL));
    NB_NEED(last,
            nb_format(ctx, " --shard \"$SLURM_ARRAY_TASK_ID/%d\" --jobs \"${SLURM_CPUS_PER_TASK:-1}\"", s->s.shards));
    return script(s, "One shard of a run; Slurm says which.", line, last, text, ctx);
}

static nb_status merge_script(const sending *s, const char **text, nb_ctx *ctx)
{
    const char *line = "", *last;
    NB_TRY(ctx, nb_shell_add(ctx, &line, s->program, "merge", s->run, NULL));
    NB_NEED(last, nb_format(ctx, " --shards %d", s->s.shards));
    return script(s, "Merges the shards of a run and draws its figures.", line, last, text, ctx);
}

/* Arguments that a caller may replace, the caller's, and those that are fixed. The logs are named relative to
 * --chdir, where no % or \ of a path can mean anything to Slurm. */
static nb_status sbatch_options(const sending *s, const char *kind, const char *must, const char *log,
                                const char *const **options, nb_ctx *ctx)
{
    size_t given = (size_t)nb_text_count(s->c.sbatch), count = 0;
    const char **all;
    NB_NEED(all, nb_alloc(ctx, given + 6, sizeof *all));
    NB_NEED(all[count++], nb_format(ctx, "--job-name=%s-%s", kind, s->e.config.name));
    NB_NEED(all[count++], nb_format(ctx, "--time=%d", s->s.minutes));
    for (size_t i = 0; i < given; i++) all[count++] = s->c.sbatch[i];
    NB_NEED(all[count++], nb_format(ctx, "--output=%s", log));
    NB_NEED(all[count++], nb_format(ctx, "--chdir=%s", s->s.folder));
    all[count++] = must;
    *options = all;
    return NB_OK;
}

/* Two at a time would send the same shards; the lock goes with this process. */
static nb_status lock_submissions(const sending *s, nb_ctx *ctx)
{
    const char *folder;
    NB_TRY(ctx, nb_run_path(s->run, NB_SUBMISSIONS_FOLDER, &folder, ctx));
    NB_TRY(ctx, nb_make_folder(folder, ctx));
    return nb_lock_folder(folder, ctx);
}

static nb_status number_submission(sending *s, nb_ctx *ctx)
{
    struct stat info;
    int number = 0;
    do NB_NEED(s->s.folder, nb_format(ctx, "%s/" NB_SUBMISSIONS_FOLDER "/%d", s->run, ++number));
    while (stat(s->s.folder, &info) == 0);
    return NB_OK;
}

static nb_status write_scripts(const sending *s, nb_ctx *ctx)
{
    const char *array, *merge;
    NB_TRY(ctx, nb_make_folder(s->s.folder, ctx));
    NB_TRY(ctx, array_script(s, &array, ctx));
    NB_TRY(ctx, merge_script(s, &merge, ctx));
    NB_TRY(ctx, nb_run_write_text(s->s.folder, NB_SUBMISSION_CONFIG, s->config, ctx));
    NB_TRY(ctx, nb_run_write_text(s->s.folder, ARRAY_SCRIPT, array, ctx));
    return nb_run_write_text(s->s.folder, MERGE_SCRIPT, merge, ctx);
}

static nb_status print_command(const char *const *options, const char *script_path, const char *text, nb_ctx *ctx)
{
    char **words;
    const char *line = "";
    NB_TRY(ctx, nb_slurm_command(options, script_path, &words, ctx));
    for (int i = 0; words[i]; i++) NB_TRY(ctx, nb_shell_add(ctx, &line, words[i], NULL));
    printf("\n%s\n%s", line + 1, text);
    return NB_OK;
}

/* On that job, and on all earlier arrays that have shards under way. */
static nb_status dependency(const sending *s, const char *job, const char **option, nb_ctx *ctx)
{
    NB_NEED(*option, nb_format(ctx, "--dependency=afterany:%s", job));
    for (int i = 1; i <= s->s.shards; i++) {
        bool again = !s->states[i].queue;
        for (int j = 1; j < i && !again; j++) again = s->states[j].queue && s->states[j].sent == s->states[i].sent;
        if (!again) NB_NEED(*option, nb_format(ctx, "%s:%s", *option, s->states[i].sent->array));
    }
    return NB_OK;
}

/* The array's options and script, or the merge's, which waits for job `after`. */
static nb_status job_of(const sending *s, const char *after, const char *const **options, const char **path,
                        nb_ctx *ctx)
{
    const char *array, *must = NULL;
    NB_TRY(ctx, nb_run_path(s->s.folder, after ? MERGE_SCRIPT : ARRAY_SCRIPT, path, ctx));
    if (after) {
        NB_TRY(ctx, dependency(s, after, &must, ctx));
        return sbatch_options(s, "merge", must, "merge.log", options, ctx);
    }
    NB_TRY(ctx, array_text(&s->s, &array, ctx));
    NB_NEED(must, nb_format(ctx, "--array=%s", array));
    return sbatch_options(s, "shards", must, "shard-%a.log", options, ctx);
}

static nb_status dry_run(const sending *s, nb_ctx *ctx)
{
    const char *const *options, *path, *text;
    NB_TRY(ctx, job_of(s, NULL, &options, &path, ctx));
    NB_TRY(ctx, array_script(s, &text, ctx));
    NB_TRY(ctx, print_command(options, path, text, ctx));
    NB_TRY(ctx, job_of(s, "ARRAY", &options, &path, ctx));
    NB_TRY(ctx, merge_script(s, &text, ctx));
    return print_command(options, path, text, ctx);
}

/* Submits the array and then the merge. Each is recorded at once, so that a refused merge does not lose the array. */
static nb_status submit(sending *s, nb_ctx *ctx)
{
    const char *const *options, *path;
    NB_TRY(ctx, write_scripts(s, ctx));
    NB_TRY(ctx, job_of(s, NULL, &options, &path, ctx));
    NB_TRY(ctx, nb_slurm_submit(options, path, &s->s.array, ctx));
    printf("shards: job %s\n", s->s.array);
    NB_TRY(ctx, nb_submission_save(&s->s, ctx));
    NB_TRY(ctx, job_of(s, s->s.array, &options, &path, ctx));
    NB_TRY(ctx, nb_slurm_submit(options, path, &s->s.merge, ctx));
    printf("merge: job %s\n", s->s.merge);
    NB_TRY(ctx, nb_submission_save(&s->s, ctx));
    printf("scripts and logs: %s\n", s->s.folder);
    return NB_OK;
}

static nb_status send(sending *s, nb_ctx *ctx)
{
    NB_TRY(ctx, find_places(s, ctx));
    if (!s->c.dry_run) NB_TRY(ctx, lock_submissions(s, ctx));
    NB_TRY(ctx, look_around(s, ctx));
    if (s->s.sent_count == 0) return NB_OK;
    if (!s->c.minutes.text) NB_TRY(ctx, predict_minutes(s, ctx));
    NB_TRY(ctx, number_submission(s, ctx));
    return s->c.dry_run ? dry_run(s, ctx) : submit(s, ctx);
}

/* Splits off the arguments after "--", which are sbatch's; *argc and *argv become those before it. */
static nb_status split(int *argc, const char ***argv, choices *c, nb_ctx *ctx)
{
    const char **before;
    int dashes = 0;
    while (dashes < *argc && strcmp((*argv)[dashes], "--") != 0) dashes++;
    c->sbatch = dashes < *argc ? *argv + dashes + 1 : *argv + *argc;
    NB_NEED(before, nb_alloc(ctx, (size_t)dashes + 1, sizeof *before));
    memcpy(before, *argv, (size_t)dashes * sizeof *before);
    *argc = dashes;
    *argv = before;
    return NB_OK;
}

static int check_options(const choices *c)
{
    static const char *const ours[] = {"--array", "-a",         "--output", "-o", "--chdir",
                                       "-D",      "--parsable", "--wrap",   NULL};
    for (int i = 0; c->sbatch[i]; i++)
        for (int o = 0; ours[o]; o++) {
            size_t length = strlen(ours[o]);
            bool longer = ours[o][1] == '-' ? c->sbatch[i][length] == '=' : true;
            if (strncmp(c->sbatch[i], ours[o], length) != 0 || (c->sbatch[i][length] && !longer)) continue;
            return nb_print_error("submit: sbatch's %s is set by this command", ours[o]);
        }
    return NB_GO_ON;
}

static int parse(const nb_command *command, int argc, const char **argv, sending *s, nb_ctx *ctx)
{
    choices *c = &s->c;
    nb_workers workers;
    const struct poptOption options[] = {
        NB_EXPERIMENT_OPTIONS(s->e),
        NB_WHOLE_OPTION("jobs", 'j', c->jobs, "Shards, each a task of a Slurm job array", "N"),
        NB_WHOLE_OPTION("minutes", '\0', c->minutes,
                        "Time limit of a shard, in minutes (default: three times the prediction, plus 10)", "M"),
        NB_PATIENCE_OPTION("timeout", '\0', c->workers.timeout, "As for run, in seconds"),
        NB_TEXT_OPTION("memory", '\0', c->workers.memory,
                       "As for run, for each task (default: what is available to it)", "SIZE"),
        NB_FLAG_OPTION("mixed", '\0', c->mixed, "Also submit shards that hold rows of another build, and merge them"),
        NB_FLAG_OPTION("dry-run", '\0', c->dry_run,
                       "Print the scripts and the calls of sbatch; write and submit nothing"),
        POPT_TABLEEND};
    int code = nb_experiment_parse(command, argc, argv, options, &s->e, ctx);
    if (code != NB_GO_ON) return code;
    if (!c->jobs.text) return nb_print_error("submit: --jobs N is missing: the number of shards");
    s->s.shards = (int)c->jobs.value;
    s->s.minutes = (int)c->minutes.value;
    code = nb_worker_read(command, &c->workers, &workers);
    return code == NB_GO_ON ? check_options(c) : code;
}

static int run(const nb_command *command, int argc, const char **argv, nb_ctx *ctx)
{
    sending s = {.c = {.jobs = {.min = 1, .max = NB_MOST_SHARDS},
                       .minutes = {.min = 1, .max = 365 * 24 * 60},
                       .workers = NB_WORKER_DEFAULTS},
                 .s.user = getuid()};
    if (split(&argc, &argv, &s.c, ctx) != NB_OK) return nb_print_failure(ctx, NB_EXIT_FAILED);
    int code = parse(command, argc, argv, &s, ctx);
    if (code != NB_GO_ON) return code;
    if (send(&s, ctx) != NB_OK) return nb_print_failure(ctx, NB_EXIT_USAGE);
    if (s.s.sent_count == 0) printf("nothing to submit; see nysbench status and nysbench merge\n");
    return NB_EXIT_OK;
}

NB_COMMAND(submit, "EXPERIMENT.yaml --jobs N [-- SBATCH OPTIONS]", "Run shards under Slurm, merge and plot them", true,
           NB_MORE + 10);
