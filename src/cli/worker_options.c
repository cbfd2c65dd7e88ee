/* SPDX-License-Identifier: GPL-3.0-or-later */
/* worker_options.c - see worker_options.h */
#include "cli/worker_options.h"

#include "base/numbers.h"
#include "base/machine.h"
#include "linalg/blas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bytes: a number and K, M, G or T, which are powers of 1024. */
static int read_memory(const nb_command *command, const char *text, double *bytes)
{
    static const char suffixes[] = "KMGT";
    char digits[32] = "";
    double number;
    if (!text) return NB_GO_ON;
    size_t length = strspn(text, "0123456789.");
    const char *suffix = text[length] && !text[length + 1] ? strchr(suffixes, text[length]) : NULL;
    if (length < sizeof digits) memcpy(digits, text, length);
    if (suffix && nb_parse_real(digits, 0, 1e6, &number) && number > 0) {
        *bytes = number * pow(1024, (double)(suffix - suffixes + 1));
        return NB_GO_ON;
    }
    nb_print_error("%s: --memory '%s': expected a number and K, M, G or T, such as 8G", command->name, text);
    return NB_EXIT_USAGE;
}

/* Checks that no limit is given with --jobs 0, which has no process to apply it to. */
static int check_here(const nb_command *command, const nb_worker_choices *chosen)
{
    const char *limit = chosen->timeout ? "--timeout" : chosen->memory ? "--memory" : NULL;
    if (!limit) return NB_GO_ON;
    nb_print_error("%s: %s: needs a worker, and with --jobs 0 there is none", command->name, limit);
    return NB_EXIT_USAGE;
}

nb_status nb_worker_own(const nb_worker_choices *chosen, nb_ctx *ctx)
{
    char *const texts[] = {chosen->jobs, chosen->blas_threads, chosen->timeout, chosen->memory};
    nb_status status = NB_OK;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i] && nb_defer(ctx, free, texts[i]) != NB_OK) status = NB_ENOMEM;
    return status;
}

static int read_timeout(const nb_command *command, const nb_worker_choices *chosen, double *seconds)
{
    return nb_command_real(command, "--timeout", chosen->timeout, 1e-3, 1e7, seconds);
}

int nb_worker_patience(const nb_command *command, const nb_worker_choices *chosen, nb_ctx *ctx)
{
    double seconds = nb_ctx_patience(ctx);
    int code = read_timeout(command, chosen, &seconds);
    nb_ctx_set_patience(ctx, fmax(seconds, 1));
    return code;
}

int nb_worker_read(const nb_command *command, const nb_worker_choices *chosen, nb_workers *workers)
{
    enum { MOST_JOBS = 1024 };
    int cpus = nb_usable_cpus();
    double most = INFINITY;
    *workers = (nb_workers){.blas_threads = 1};
    int code = nb_command_number(command, "--blas-threads", chosen->blas_threads, 1, nb_blas_most_threads(),
                                 &workers->blas_threads);
    if (code != NB_GO_ON) return code;
    workers->jobs = workers->blas_threads > 1 ? 1 : cpus < MOST_JOBS ? cpus : MOST_JOBS;
    code = nb_command_number(command, "--jobs", chosen->jobs, 0, MOST_JOBS, &workers->jobs);
    if (code == NB_GO_ON) code = read_timeout(command, chosen, &workers->timeout_s);
    if (code == NB_GO_ON) code = read_memory(command, chosen->memory, &most);
    if (code == NB_GO_ON && workers->jobs == 0) return check_here(command, chosen);
    workers->memory = fmin(most, nb_available_memory());
    if (isinf(workers->memory)) workers->memory = 0;
    return code;
}
