/* SPDX-License-Identifier: GPL-3.0-or-later */
/* submit.c - nysbench submit EXP.yaml --jobs N: a Slurm job array of the unfinished shards, and a job that merges and
 * plots when they have ended, in whatever way. RUN/submissions/NUMBER has the config of that time, scripts and logs. */
#include "commands/command.h"

#include "base/files.h"
#include "base/process.h"
#include "base/words.h"
#include "base/text.h"
#include "commands/experiment.h"
#include "components/plugin.h"
#include "run/run_folder.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

#define CONFIG "experiment.yaml"
#define ARRAY_SCRIPT "shards.sh"
#define MERGE_SCRIPT "merge.sh"

typedef struct {
    nb_whole_value jobs, limit;
    nb_worker_choices workers; /* of them a task has --timeout and --memory */
    int mixed, dry_run;
    const char *const *sbatch; /* options behind "--" */
    nb_experiment e;
    const char *folder; /* of the submission */
    int shards, minutes;
    int sent_count, *sent;            /* shards in the array */
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
    nb_machine_speed machine;
    NB_TRY(ctx, nb_measure_machine(&machine, ctx));
    NB_TRY(ctx, nb_shards_seconds(&s->e.plan, s->of, s->shards, machine.rate, &seconds, ctx));
    for (int i = 1; i <= s->shards; i++) longest = fmax(longest, seconds[i]);
    s->minutes = (int)fmin(ceil(TIMES * longest / 60) + MORE, MOST);
    printf(
        "time limit: %d minutes a shard: %d times the %.2g minutes predicted for the longest, plus %d; --minutes sets "
        "another\n",
        s->minutes, TIMES, longest / 60, MORE);
    return NB_OK;
}

static nb_status choose_shards(sending *s, nb_ctx *ctx)
{
    int finished = 0, busy = 0;
    NB_NEED(s->sent, nb_alloc(ctx, (size_t)s->shards, sizeof *s->sent));
    for (int i = 1; i <= s->shards; i++) {
        const nb_shard_state *state = &s->states[i];
        if (state->done == state->planned)
            finished++;
        else if (state->locked)
            busy++;
        else
            s->sent[s->sent_count++] = i;
        NB_REQUIRE(ctx, s->mixed || !state->other_build || state->done == state->planned, NB_EINVAL,
                   "shard %d/%d holds rows of another build of nysbench; --mixed continues beside them", i, s->shards);
    }
    printf("shards: %d, of which %d are finished, %d running, and %d are to be submitted\n", s->shards, finished, busy,
           s->sent_count);
    return NB_OK;
}

static nb_status find_places(sending *s, nb_ctx *ctx)
{
    const char *longest;
    NB_TRY(ctx, nb_whole_path("/proc/self/exe", &s->program, ctx));
    NB_TRY(ctx, nb_whole_path(".", &s->here, ctx));
    NB_NEED(s->run, *s->e.folder == '/' ? nb_strdup(ctx, s->e.folder) : nb_format(ctx, "%s/%s", s->here, s->e.folder));
    NB_TRY(ctx, nb_run_shard_folder(s->run, (nb_shard){s->shards, s->shards}, &longest, ctx));
    NB_TRY(ctx, nb_run_check_folder(longest, ctx));
    return nb_config_text(&s->e.config, false, &s->config, ctx);
}

/* "--array=1,3-5" */
static nb_status array_option(const sending *s, const char **option, nb_ctx *ctx)
{
    nb_string all = NB_NO_TEXT;
    NB_TRY(ctx, nb_append(&all, ctx, "--array="));
    for (int i = 0, last; i < s->sent_count; i = last + 1) {
        for (last = i; last + 1 < s->sent_count && s->sent[last + 1] == s->sent[last] + 1;) last++;
        NB_TRY(ctx, nb_append(&all, ctx, last > i ? "%s%d-%d" : "%s%d", i ? "," : "", s->sent[i], s->sent[last]));
    }
    *option = all.text;
    return NB_OK;
}

/* Makes the script of a job: it runs this program with `command`, and `last` as it is. */
static nb_status script(const sending *s, const char *does, const char *command, const char *last, const char **text,
                        nb_ctx *ctx)
{
    const char *folder;
    NB_TRY(ctx, nb_shell_word(s->here, &folder, ctx));
    NB_NEED(*text, nb_format(ctx, "#!/bin/sh\n# %s Written by nysbench submit.\ncd %s || exit\nexec %s%s%s\n", does,
                             folder, command, last, s->mixed ? " --mixed" : ""));
    return NB_OK;
}

static nb_status array_script(const sending *s, const char **text, nb_ctx *ctx)
{
    const char *config, *last;
    nb_string line = NB_NO_TEXT;
    NB_TRY(ctx, nb_run_path(s->folder, CONFIG, &config, ctx));
    NB_TRY(ctx, nb_shell_add(ctx, &line, s->program, "run", config, "--out", s->run, NULL));
    if (s->workers.timeout.text) NB_TRY(ctx, nb_shell_add(ctx, &line, "--timeout", s->workers.timeout.text, NULL));
    if (s->workers.memory) NB_TRY(ctx, nb_shell_add(ctx, &line, "--memory", s->workers.memory, NULL));
    NB_NEED(last,
            nb_format(ctx, " --shard \"$SLURM_ARRAY_TASK_ID/%d\" --jobs \"${SLURM_CPUS_PER_TASK:-1}\"", s->shards));
    return script(s, "One shard of a run; Slurm says which.", line.text, last, text, ctx);
}

static nb_status merge_script(const sending *s, const char **text, nb_ctx *ctx)
{
    const char *last;
    nb_string line = NB_NO_TEXT;
    NB_TRY(ctx, nb_shell_add(ctx, &line, s->program, "merge", s->run, NULL));
    for (const char *const *file = nb_plugins_loaded(); *file; file++)
        NB_TRY(ctx, nb_shell_add(ctx, &line, "--plugin", *file, NULL));
    NB_NEED(last, nb_format(ctx, " --shards %d --programs", s->shards));
    return script(s, "Merges the shards of a run and draws its figures.", line.text, last, text, ctx);
}

/* Makes the call of sbatch for the array, or for the merge, which waits for job `after`, NULL-terminated: options that
 * a caller may replace, the caller's, and those that are fixed. The logs are named relative to --chdir, where no % or \
 * of a path can mean anything to Slurm. */
static nb_status job_words(const sending *s, const char *after, char ***words, nb_ctx *ctx)
{
    size_t given = (size_t)nb_text_count(s->sbatch), count = 0;
    const char *must, *path;
    char **all;
    NB_NEED(all, nb_alloc(ctx, given + 9, sizeof *all));
    NB_NEED(all[count++], nb_strdup(ctx, "sbatch"));
    NB_NEED(all[count++], nb_strdup(ctx, "--parsable"));
    NB_NEED(all[count++], nb_format(ctx, "--job-name=%s-%s", after ? "merge" : "shards", s->e.config.name));
    NB_NEED(all[count++], nb_format(ctx, "--time=%d", s->minutes));
    for (size_t i = 0; i < given; i++) NB_NEED(all[count++], nb_strdup(ctx, s->sbatch[i]));
    NB_NEED(all[count++], nb_format(ctx, "--output=%s", after ? "merge.log" : "shard-%a.log"));
    NB_NEED(all[count++], nb_format(ctx, "--chdir=%s", s->folder));
    if (after)
        NB_NEED(must, nb_format(ctx, "--dependency=afterany:%s", after));
    else
        NB_TRY(ctx, array_option(s, &must, ctx));
    NB_TRY(ctx, nb_run_path(s->folder, after ? MERGE_SCRIPT : ARRAY_SCRIPT, &path, ctx));
    NB_NEED(all[count++], nb_strdup(ctx, must));
    NB_NEED(all[count++], nb_strdup(ctx, path));
    *words = all;
    return NB_OK;
}

static nb_status print_job(const sending *s, const char *after, const char *text, nb_ctx *ctx)
{
    char **words;
    nb_string line = NB_NO_TEXT;
    NB_TRY(ctx, job_words(s, after, &words, ctx));
    for (int i = 0; words[i]; i++) NB_TRY(ctx, nb_shell_add(ctx, &line, words[i], NULL));
    printf("\n%s\n%s", line.text, text);
    return NB_OK;
}

/* --parsable prints the line JOB, or JOB;CLUSTER; a site's wrapper and plug-ins may print others. Returns how many
 * digits the number at *line has; 0: there is no such line. */
static int find_job(const char *said, const char **line)
{
    int digits = 0;
    for (const char *at = said; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        int own = (int)strspn(at, "0123456789");
        if (own == 0 || !strchr(";\n", at[own])) continue;
        digits = own;
        *line = at;
    }
    return digits;
}

static nb_status submit_job(const sending *s, const char *after, const char **job, nb_ctx *ctx)
{
    enum { LIMIT_S = 120 };
    char **words;
    const char *said, *line;
    NB_TRY(ctx, job_words(s, after, &words, ctx));
    NB_TRY(ctx, nb_capture(words, NULL, LIMIT_S, &said, ctx));
    int digits = find_job(said, &line);
    NB_REQUIRE(ctx, digits > 0, NB_EIO,
               "sbatch: expected a line with the number of the job alone, found '%.*s'; the job may wait all the same: "
               "look at squeue before you submit again",
               (int)strcspn(said, "\n"), said);
    NB_NEED(*job, nb_format(ctx, "%.*s", digits, line));
    printf("%s: job %s\n", after ? "merge" : "shards", *job);
    return NB_OK;
}

static nb_status submit(const sending *s, nb_ctx *ctx)
{
    const char *array, *merge;
    NB_TRY(ctx, array_script(s, &array, ctx));
    NB_TRY(ctx, merge_script(s, &merge, ctx));
    if (s->dry_run) {
        NB_TRY(ctx, print_job(s, NULL, array, ctx));
        return print_job(s, "ARRAY", merge, ctx);
    }
    NB_TRY(ctx, nb_make_folder(s->folder, ctx));
    NB_TRY(ctx, nb_run_write_text(s->folder, CONFIG, s->config, ctx));
    NB_TRY(ctx, nb_run_write_text(s->folder, ARRAY_SCRIPT, array, ctx));
    NB_TRY(ctx, nb_run_write_text(s->folder, MERGE_SCRIPT, merge, ctx));
    NB_TRY(ctx, submit_job(s, NULL, &array, ctx));
    NB_TRY(ctx, submit_job(s, array, &merge, ctx));
    printf("scripts and logs: %s\n", s->folder);
    return NB_OK;
}

static nb_status send(sending *s, nb_ctx *ctx)
{
    struct stat info;
    int number = 0;
    NB_TRY(ctx, find_places(s, ctx));
    NB_TRY(ctx, nb_shards_assign(&s->e.plan, s->shards, &s->of, ctx));
    NB_TRY(ctx, nb_shard_states(s->run, &s->e.plan, s->of, s->shards, &s->states, ctx));
    NB_TRY(ctx, choose_shards(s, ctx));
    if (s->sent_count == 0) return NB_OK;
    if (!s->limit.text) NB_TRY(ctx, predict_minutes(s, ctx));
    do NB_NEED(s->folder, nb_format(ctx, "%s/submissions/%d", s->run, ++number)); /* the next one that is not there */
    while (stat(s->folder, &info) == 0);
    return submit(s, ctx);
}

/* Splits off the arguments after "--", which are sbatch's. */
static nb_status split(nb_command_line *line, sending *s, nb_ctx *ctx)
{
    const char **before;
    int dashes = 0;
    while (dashes < line->argc && strcmp(line->argv[dashes], "--") != 0) dashes++;
    s->sbatch = dashes < line->argc ? line->argv + dashes + 1 : line->argv + line->argc;
    NB_NEED(before, nb_alloc(ctx, (size_t)dashes + 1, sizeof *before));
    memcpy(before, line->argv, (size_t)dashes * sizeof *before);
    line->argc = dashes;
    line->argv = before;
    return NB_OK;
}

static nb_status run(nb_command_line *line, nb_ctx *ctx)
{
    nb_workers workers;
    sending s = {.jobs = {.min = 1, .max = NB_MOST_SHARDS},
                 .limit = {.min = 1, .max = 365 * 24 * 60},
                 .workers = NB_WORKER_DEFAULTS};
    const struct poptOption options[] = {
        NB_EXPERIMENT_OPTIONS(s.e, line),
        NB_WHOLE_OPTION("jobs", 'j', s.jobs, "Shards, each a task of a Slurm job array", "N"),
        NB_WHOLE_OPTION("minutes", '\0', s.limit,
                        "Time limit of a shard, in minutes (default: three times the prediction, plus 10)", "M"),
        NB_PATIENCE_OPTION("timeout", '\0', s.workers.timeout, "As for run, in seconds"),
        NB_TEXT_OPTION("memory", '\0', s.workers.memory, "As for run, for each task (default: what is available to it)",
                       "SIZE"),
        NB_FLAG_OPTION("mixed", '\0', s.mixed, "Also submit shards that hold rows of another build, and merge them"),
        NB_FLAG_OPTION("dry-run", '\0', s.dry_run,
                       "Print the scripts and the calls of sbatch; write and submit nothing"),
        POPT_TABLEEND};
    NB_TRY(ctx, split(line, &s, ctx));
    NB_TRY(ctx, nb_experiment_parse(line, options, &s.e, ctx));
    NB_REQUIRE(ctx, s.jobs.text, NB_EINVAL, "submit: --jobs N is missing: the number of shards");
    s.shards = (int)s.jobs.value;
    s.minutes = (int)s.limit.value;
    NB_TRY(ctx, nb_worker_read(line->command, &s.workers, &workers, ctx));
    NB_TRY(ctx, send(&s, ctx));
    if (s.sent_count == 0) printf("nothing to submit; see nysbench status and nysbench merge\n");
    return NB_OK;
}

NB_COMMAND(submit, "EXPERIMENT.yaml --jobs N [-- SBATCH OPTIONS]", "Run shards under Slurm, merge and plot them", true,
           NB_MORE + 10);
