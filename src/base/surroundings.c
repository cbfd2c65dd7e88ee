/* SPDX-License-Identifier: GPL-3.0-or-later */
/* surroundings.c - the calling thread's and the process's state, by questions to the system
 * that change nothing. */
#include "base/surroundings.h"

#include <cblas.h>
#include <fcntl.h>
#include <fenv.h>
#include <gsl/gsl_errno.h>
#include <locale.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#ifdef __x86_64__
#include <xmmintrin.h>
#endif

/* Each step maps different words, and different sums, to different sums, so that one
 * changed word is never lost; four chains hide the latency of the product. */
static uint64_t mix(uint64_t sum, uint64_t word)
{
    sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
    return sum ^ sum >> 32;
}

uint64_t nb_checksum(const void *bytes, size_t count, uint64_t start)
{
    const unsigned char *at = bytes;
    uint64_t sums[4] = {start, 1, 2, 3}, word[4] = {0};
    for (; count >= sizeof word; count -= sizeof word, at += sizeof word) {
        memcpy(word, at, sizeof word);
        for (int i = 0; i < 4; i++) sums[i] = mix(sums[i], word[i]);
    }
    memset(word, 0, sizeof word);
    if (count > 0) memcpy(word, at, count);
    for (int i = 0; i < 4; i++) sums[0] = mix(mix(sums[0], word[i]), sums[i]);
    return mix(sums[0], count);
}

static uint64_t text_sum(const char *text, uint64_t start)
{
    return text ? nb_checksum(text, strlen(text), start) : mix(start, 1);
}

/* Rounding, traps, and whether denormal numbers count; not which exceptions there were. */
static uint64_t arithmetic(void)
{
#if defined __x86_64__
    unsigned short x87;
    __asm__ volatile("fnstcw %0" : "=m"(x87));
    return (uint64_t)(_mm_getcsr() & ~0x3fu) << 16 | x87;
#elif defined __aarch64__
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return control;
#else
    return (uint64_t)fegetround() << 32 | (uint64_t)fegetexcept();
#endif
}

static uint64_t file_sum(const struct stat *info)
{
    return mix(mix(1, (uint64_t)info->st_dev), (uint64_t)info->st_ino);
}

static uint64_t folder_sum(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? file_sum(&info) : 0;
}

static uint64_t working_folder(void)
{
    return folder_sum(".");
}

static uint64_t root_folder(void)
{
    return folder_sum("/");
}

static uint64_t mode_mask(void)
{
    mode_t mask = umask(077);
    umask(mask);
    return mask;
}

static uint64_t user(void)
{
    return (uint64_t)geteuid() << 32 | getegid();
}

static uint64_t family(void)
{
    int at_end = 0;
    prctl(PR_GET_PDEATHSIG, &at_end);
    return mix(mix((uint64_t)getsid(0), (uint64_t)getpgrp()), (uint64_t)at_end);
}

static uint64_t processors(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    return nb_checksum(&set, sizeof set, (uint64_t)(unsigned)getpriority(PRIO_PROCESS, 0));
}

static uint64_t limits(void)
{
    uint64_t sum = 0;
    for (int i = 0; i < RLIMIT_NLIMITS; i++) {
        struct rlimit limit = {.rlim_cur = 0};
        getrlimit((__rlimit_resource_t)i, &limit);
        sum = mix(mix(sum, limit.rlim_cur), limit.rlim_max);
    }
    return sum;
}

static uint64_t handlers(void)
{
    uint64_t sum = 0;
    for (int number = 1; number < NSIG; number++) {
        struct sigaction action;
        uint64_t handler = 0;
        if (sigaction(number, NULL, &action) != 0) continue;
        memcpy(&handler, &action.sa_handler, sizeof action.sa_handler);
        sum = mix(mix(sum, handler), (uint64_t)(unsigned)action.sa_flags);
    }
    return sum;
}

static uint64_t blocked(void)
{
    sigset_t set;
    uint64_t bits = 0;
    sigprocmask(SIG_SETMASK, NULL, &set);
    for (int number = 1; number < NSIG; number++)
        if (sigismember(&set, number) == 1) bits |= (uint64_t)1 << (number - 1);
    return bits;
}

static uint64_t timers(void)
{
    static const __itimer_which_t kinds[] = {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};
    uint64_t running = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct itimerval timer = {.it_value = {0}};
        getitimer(kinds[i], &timer);
        running += timer.it_value.tv_sec || timer.it_value.tv_usec;
    }
    return running;
}

static uint64_t blas_threads(void)
{
    return (uint64_t)openblas_get_num_threads();
}

static uint64_t environment(void)
{
    uint64_t sum = 0;
    for (char **entry = environ; entry && *entry; entry++) sum = text_sum(*entry, sum);
    return sum;
}

static uint64_t language(void)
{
    return text_sum(setlocale(LC_ALL, NULL), (uint64_t)(uintptr_t)uselocale((locale_t)0));
}

static uint64_t error_handler(void)
{
    gsl_error_handler_t *now = gsl_set_error_handler_off();
    uint64_t sum = 0;
    gsl_set_error_handler(now);
    memcpy(&sum, &now, sizeof now);
    return sum;
}

static uint64_t streams(void)
{
    uint64_t sum = 0;
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        struct stat info;
        sum = mix(sum, fstat(fd, &info) == 0 ? file_sum(&info) : 0);
    }
    return sum;
}

/* Returns whether one more file can be opened. */
static uint64_t room(void)
{
    int fd = open("/", O_PATH | O_CLOEXEC);
    if (fd >= 0) close(fd);
    return fd >= 0;
}

static uint64_t (*const questions[NB_SURROUNDINGS])(void) = {
    arithmetic, working_folder, root_folder,  mode_mask,   user,     family,        processors, limits, handlers,
    blocked,    timers,         blas_threads, environment, language, error_handler, streams,    room};

const char *const nb_surroundings_names[NB_SURROUNDINGS] = {"the floating-point environment",
                                                            "the working folder",
                                                            "the root folder",
                                                            "the file mode mask",
                                                            "the user or group",
                                                            "the session, process group or parent's signal",
                                                            "the processors or the priority",
                                                            "the resource limits",
                                                            "the signal handlers",
                                                            "the blocked signals",
                                                            "the timers",
                                                            "the number of BLAS threads",
                                                            "the environment",
                                                            "the locale",
                                                            "GSL's error handler",
                                                            "the standard streams",
                                                            "the room for open files"};

nb_surroundings nb_surroundings_now(void)
{
    nb_surroundings now;
    for (int i = 0; i < NB_SURROUNDINGS; i++) now.of[i] = questions[i]();
    return now;
}

uint32_t nb_surroundings_changed(const nb_surroundings *before, const nb_surroundings *now)
{
    uint32_t changed = 0;
    for (int i = 0; i < NB_SURROUNDINGS; i++)
        if (now->of[i] != before->of[i]) changed |= (uint32_t)1 << i;
    return changed;
}

const char *nb_list_names(int count, const char *const *names, nb_ctx *ctx)
{
    const char *text = "";
    for (int i = 0; i < count && text; i++)
        text = nb_format(ctx, "%s%s%s", text, i == 0 ? "" : i + 1 < count ? ", " : " and ", names[i]);
    return text;
}

const char *nb_surroundings_text(uint32_t changed, nb_ctx *ctx)
{
    const char *names[NB_SURROUNDINGS];
    int count = 0;
    for (int i = 0; i < NB_SURROUNDINGS; i++)
        if (changed >> i & 1) names[count++] = nb_surroundings_names[i];
    return nb_list_names(count, names, ctx);
}
