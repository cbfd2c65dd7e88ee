/* SPDX-License-Identifier: GPL-3.0-or-later */
/* machine.h - how much of the machine this process may use, as the scheduler and its control groups (cgroups, version 1
 * and 2) allow. */
#ifndef NB_MACHINE_H
#define NB_MACHINE_H

/* Returns the number of CPUs by affinity, or the quota of a control group, rounded up, if that is less; at least 1. */
int nb_usable_cpus(void);

/* For the whole machine: the load average over the last minute, and the number of CPUs. */
double nb_load(void);
int nb_all_cpus(void);

/* Writes the name of the kind of CPU, as the system has it; "unknown" if it does not tell. */
enum { NB_CPU_NAME = 256 };
void nb_cpu_name(char name[NB_CPU_NAME]);

/* Returns the CPU seconds of all the machine's processes since it started, in steps of about 10 ms; NaN if the system
 * does not tell. */
double nb_busy_s(void);

/* Returns the bytes available without swapping: the system's, or what is left in the fullest control group, counting
 * its file cache as free. */
double nb_available_memory(void);

/* The same read from ROOT/proc/self/cgroup, ROOT/proc/meminfo and ROOT/sys/fs/cgroup, for tests. Infinity if there is
 * no limit. */
double nb_group_cpus(const char *root);   /* the quota, CPUs */
double nb_group_memory(const char *root); /* left in the groups, bytes */
double nb_system_memory(const char *root);

#endif
