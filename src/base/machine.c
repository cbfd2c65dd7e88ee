/* SPDX-License-Identifier: GPL-3.0-or-later */
/* machine.c - a group's limits hold for all groups below it, so each folder on the way
 * from the top to the process's own is asked. In a container the path may name folders
 * that are not mounted there; what is mounted at the top are then its own. */
#include "base/machine.h"

#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef double limit_of(const char *folder); /* infinity: none */

/* Opens a file of that folder; NULL: it cannot be opened. */
static FILE *open_in(const char *folder, const char *name)
{
    char path[PATH_MAX];
    return snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path ? fopen(path, "r") : NULL;
}

/* Returns the first words of a file that are numbers; how many. */
static int read_numbers(const char *folder, const char *name, double *a, double *b)
{
    FILE *in = open_in(folder, name);
    int count = in ? fscanf(in, "%lf %lf", a, b) : 0;
    if (in) fclose(in);
    return count > 0 ? count : 0;
}

/* Returns the number behind a word that begins a line; 0: there is none. */
static double read_key(const char *folder, const char *name, const char *key)
{
    char word[128];
    double value, found = 0;
    FILE *in = open_in(folder, name);
    while (in && found == 0 && fscanf(in, "%127s %lf%*[^\n]", word, &value) > 0)
        if (strcmp(word, key) == 0) found = value;
    if (in) fclose(in);
    return found;
}

static double cpus_v2(const char *folder)
{
    double quota, period; /* cpu.max: "max 100000" or "150000 100000" */
    return read_numbers(folder, "cpu.max", &quota, &period) == 2 && period > 0 ? quota / period : INFINITY;
}

static double cpus_v1(const char *folder)
{
    double quota, period, none;
    if (read_numbers(folder, "cpu.cfs_quota_us", &quota, &none) < 1 || quota <= 0) return INFINITY;
    return read_numbers(folder, "cpu.cfs_period_us", &period, &none) == 1 && period > 0 ? quota / period : INFINITY;
}

/* Returns what is left in a group, whose file cache, a key of memory.stat, counts as free. */
static double memory_in(const char *folder, const char *most, const char *used, const char *cache)
{
    double limit, held, none;
    if (read_numbers(folder, most, &limit, &none) < 1 || read_numbers(folder, used, &held, &none) < 1) return INFINITY;
    if (!(limit < 0x1p60)) return INFINITY; /* version 1 says "no limit" with a number like that */
    return fmax(0, limit - fmax(0, held - read_key(folder, "memory.stat", cache)));
}

static double memory_v2(const char *folder)
{
    return memory_in(folder, "memory.max", "memory.current", "inactive_file");
}

static double memory_v1(const char *folder)
{
    return memory_in(folder, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file");
}

/* Returns the least of the limits at a mount below ROOT/sys/fs/cgroup and at each folder of `path` below that. */
static double least(const char *root, const char *name, const char *path, limit_of *limit)
{
    char mount[2 * PATH_MAX], folder[PATH_MAX];
    snprintf(mount, sizeof mount, "%s/sys/fs/cgroup%s", root, name);
    double found = limit(mount);
    for (const char *end = path; *end;) {
        end += 1 + strcspn(end + 1, "/");
        if (end - path > 1 &&
            snprintf(folder, sizeof folder, "%s%.*s", mount, (int)(end - path), path) < (int)sizeof folder)
            found = fmin(found, limit(folder));
    }
    return found;
}

/* True if the comma-separated list names the controller. */
static bool names(const char *list, const char *controller)
{
    size_t length = strlen(controller);
    for (const char *at = list; (at = strstr(at, controller)); at += length)
        if ((at == list || at[-1] == ',') && (at[length] == ',' || at[length] == '\0')) return true;
    return false;
}

/* Lines of proc/self/cgroup: "0::/path" of version 2, "4:cpu,cpuacct:/path" of version 1. */
static double in_groups(const char *root, const char *controller, limit_of *v2, limit_of *v1)
{
    char line[PATH_MAX];
    double found = INFINITY;
    FILE *in = open_in(root, "proc/self/cgroup");
    while (in && fgets(line, sizeof line, in)) {
        line[strcspn(line, "\n")] = '\0';
        char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;
        if (!path || path[1] != '/') continue;
        *path++ = '\0';
        *list = '/'; /* as a mount is called */
        if (list[1] == '\0')
            found = fmin(found, fmin(least(root, "", path, v2), least(root, "/unified", path, v2)));
        else if (names(list + 1, controller + 1))
            found = fmin(found, fmin(least(root, list, path, v1), least(root, controller, path, v1)));
    }
    if (in) fclose(in);
    return found;
}

double nb_group_cpus(const char *root)
{
    return in_groups(root, "/cpu", cpus_v2, cpus_v1);
}

double nb_group_memory(const char *root)
{
    return in_groups(root, "/memory", memory_v2, memory_v1);
}

double nb_system_memory(const char *root)
{
    double kib = read_key(root, "proc/meminfo", "MemAvailable:");
    return kib > 0 ? 1024 * kib : INFINITY;
}

double nb_available_memory(void)
{
    return fmin(nb_system_memory(""), nb_group_memory(""));
}

int nb_usable_cpus(void)
{
    cpu_set_t set;
    int by_affinity = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    double by_quota = ceil(nb_group_cpus(""));
    return by_quota < by_affinity ? (int)fmax(1, by_quota) : by_affinity;
}

double nb_load(void)
{
    double minute;
    return getloadavg(&minute, 1) == 1 ? minute : 0;
}

int nb_all_cpus(void)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    return cpus < 1 ? 1 : (int)cpus;
}

void nb_cpu_name(char name[NB_CPU_NAME])
{
    char line[512];
    FILE *in = fopen("/proc/cpuinfo", "r");
    strcpy(name, "unknown");
    while (in && fgets(line, sizeof line, in) && sscanf(line, "model name%*[ \t:]%255[^\n]", name) != 1) continue;
    if (in) fclose(in);
}

double nb_busy_s(void)
{
    double user, nice, system, idle, wait, irq, softirq, steal = 0;
    FILE *in = fopen("/proc/stat", "r");
    int count = in ? fscanf(in, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &user, &nice, &system, &idle, &wait, &irq,
                            &softirq, &steal)
                   : 0;
    if (in) fclose(in);
    return count >= 7 ? (user + nice + system + irq + softirq + steal) / (double)sysconf(_SC_CLK_TCK) : NAN;
}
