/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slurm.c - sbatch and squeue, without a shell. */
#include "commands/submission.h"

#include "base/process.h"
#include "base/numbers.h"
#include "base/text.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LIMIT_S = 120 };

nb_status nb_slurm_command(const char *const *options, const char *script, char ***words, nb_ctx *ctx)
{
    size_t count = (size_t)nb_text_count(options);
    NB_NEED(*words, nb_alloc(ctx, count + 4, sizeof **words));
    NB_NEED((*words)[0], nb_strdup(ctx, "sbatch"));
    NB_NEED((*words)[1], nb_strdup(ctx, "--parsable"));
    for (size_t i = 0; i < count; i++) NB_NEED((*words)[i + 2], nb_strdup(ctx, options[i]));
    NB_NEED((*words)[count + 2], nb_strdup(ctx, script));
    return NB_OK;
}

/* --parsable prints JOB, or JOB;CLUSTER. */
nb_status nb_slurm_submit(const char *const *options, const char *script, const char **job, nb_ctx *ctx)
{
    char **words;
    const char *said;
    NB_TRY(ctx, nb_slurm_command(options, script, &words, ctx));
    NB_TRY(ctx, nb_capture(words, NULL, LIMIT_S, &said, ctx));
    int digits = (int)strspn(said, "0123456789");
    NB_REQUIRE(ctx, digits > 0 && strchr(";\n", said[digits]), NB_EIO,
               "sbatch: expected the number of a job, found '%.*s'", (int)strcspn(said, "\n"), said);
    NB_NEED(*job, nb_format(ctx, "%.*s", digits, said));
    return NB_OK;
}

static int count_lines(const char *text)
{
    int count = 0;
    for (; *text; text++) count += *text == '\n';
    return count;
}

/* "JOB INDEX STATE", where INDEX is N/A outside of an array. */
static nb_status read_task(char *line, nb_slurm_task *task, nb_ctx *ctx)
{
    int number = -1;
    char *rest = NULL, *job = strtok_r(line, " ", &rest), *index = strtok_r(NULL, " ", &rest),
         *state = strtok_r(NULL, " ", &rest);
    NB_REQUIRE(ctx, state, NB_EIO, "squeue: expected a job, an index and a state, found '%s'", line);
    nb_parse_int(index, 0, INT_MAX, &number);
    *task = (nb_slurm_task){.job = job, .state = state, .index = number};
    return NB_OK;
}

/* SQUEUE_STATES, SQUEUE_PARTITION and their like would hide tasks, which would be taken for lost. */
static nb_status forget_filters(nb_ctx *ctx)
{
    char *name;
    int i = 0;
    while (environ[i]) {
        NB_NEED(name, nb_format(ctx, "%.*s", (int)strcspn(environ[i], "="), environ[i]));
        if (strncmp(name, "SQUEUE_", strlen("SQUEUE_")) != 0 || unsetenv(name) != 0) i++;
    }
    return NB_OK;
}

nb_status nb_slurm_queue(uid_t user, int *count, nb_slurm_task **tasks, nb_ctx *ctx)
{
    const char *said;
    char *whose, *text, *rest = NULL;
    NB_NEED(whose, nb_format(ctx, "--user=%u", (unsigned)user));
    NB_TRY(ctx, forget_filters(ctx));
    char *words[] = {"squeue", "--noheader", "--array", "--format=%F %K %T", whose, NULL};
    NB_TRY(ctx, nb_capture(words, NULL, LIMIT_S, &said, ctx));
    NB_NEED(text, nb_strdup(ctx, said));
    NB_NEED(*tasks, nb_alloc(ctx, (size_t)count_lines(said) + 1, sizeof **tasks));
    *count = 0;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        NB_TRY(ctx, read_task(line, &(*tasks)[(*count)++], ctx));
    return NB_OK;
}
