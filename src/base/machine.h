/* SPDX-License-Identifier: GPL-3.0-or-later */
/* machine.h - how much of the machine this process may use: what the scheduler and
 * the control groups (cgroups, version 1 and 2) that it is in allow. */
#ifndef NB_MACHINE_H
#define NB_MACHINE_H

/* CPUs by affinity, or fewer if a group's quota, rounded up, is less; at least 1. */
int nb_usable_cpus(void);

/* Of the whole machine: processes that wanted a CPU, on average over the last minute, and CPUs. */
double nb_load(void);
int nb_all_cpus(void);

/* CPU seconds that all processes of the machine have taken since it started, in steps of some 10 ms; NaN where the
 * system does not tell. */
double nb_busy_s(void);

/* Bytes that can be had without swapping: the system's, or what is left in the
 * fullest of the groups, whose file cache counts as free. */
double nb_available_memory(void);

/* The same of another tree than "": with ROOT/proc/self/cgroup, ROOT/proc/meminfo and ROOT/sys/fs/cgroup. Infinity
 * if there is no limit. */
double nb_group_cpus(const char *root);   /* the quota, CPUs */
double nb_group_memory(const char *root); /* left in the groups, bytes */
double nb_system_memory(const char *root);

#endif
