/* SPDX-License-Identifier: GPL-3.0-or-later */
/* worker_options.c - see worker_options.h */
#include "commands/worker_options.h"

#include "base/numbers.h"
#include "base/machine.h"

#include <math.h>
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
    return nb_print_error("%s: --memory '%s': expected a number and K, M, G or T, such as 8G", command->name, text);
}

/* Checks that no limit is given with --jobs 0, which has no process to apply it to. */
static int check_here(const nb_command *command, const nb_worker_choices *chosen)
{
    const char *limit = chosen->timeout.text ? "--timeout" : chosen->memory ? "--memory" : NULL;
    if (!limit) return NB_GO_ON;
    return nb_print_error("%s: %s: needs a worker, and with --jobs 0 there is none", command->name, limit);
}

int nb_worker_read(const nb_command *command, const nb_worker_choices *chosen, nb_workers *workers)
{
    double most = INFINITY;
    int cpus = nb_usable_cpus();
    *workers = (nb_workers){.blas_threads = (int)chosen->blas_threads.value, .timeout_s = chosen->timeout.value};
    workers->jobs = chosen->jobs.text           ? (int)chosen->jobs.value
                    : workers->blas_threads > 1 ? 1
                    : cpus < NB_MOST_JOBS       ? cpus
                                                : NB_MOST_JOBS;
    int code = read_memory(command, chosen->memory, &most);
    if (code == NB_GO_ON && workers->jobs == 0) return check_here(command, chosen);
    workers->memory = fmin(most, nb_available_memory());
    if (isinf(workers->memory)) workers->memory = 0;
    return code;
}
