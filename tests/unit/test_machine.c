/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What control groups allow, read from trees that are made here: both versions, limits
 * above the process's own group, containers whose path is not mounted, broken files. */
#include "testing.h"

#include "base/files.h"
#include "base/machine.h"
#include "base/scratch.h"

#include <sched.h>
#include <unistd.h>

static const char *tree(nb_ctx *ctx)
{
    const char *root;
    assert_ok(ctx, nb_temporary_folder(&root, ctx));
    return root;
}

/* Writes root/folder/name. */
static void put(const char *root, const char *folder, const char *name, const char *text, nb_ctx *ctx)
{
    const char *path = nb_format(ctx, "%s/%s", root, folder);
    assert_ok(ctx, nb_make_folder(path, ctx));
    FILE *out = fopen(nb_format(ctx, "%s/%s", path, name), "w");
    assert_non_null(out);
    assert_true(fputs(text, out) >= 0);
    assert_int_equal(fclose(out), 0);
}

static void test_no_groups(void **state)
{
    const char *root = tree(*state);
    assert_true(isinf(nb_group_cpus(root)));
    assert_true(isinf(nb_group_memory(root)));
    assert_true(isinf(nb_system_memory(root)));
    put(root, "proc/self", "cgroup", "nonsense\n0\n3:cpu\n0:::\n::\n", *state);
    put(root, "proc", "meminfo", "MemTotal: 10 kB\n", *state);
    assert_true(isinf(nb_group_cpus(root)));
    assert_true(isinf(nb_group_memory(root)));
    assert_true(isinf(nb_system_memory(root)));
}

static void test_cpus_version_2(void **state)
{
    const char *root = tree(*state);
    put(root, "proc/self", "cgroup", "0::/user.slice/job.scope\n", *state);
    put(root, "sys/fs/cgroup/user.slice/job.scope", "cpu.max", "max 100000\n", *state);
    assert_true(isinf(nb_group_cpus(root)));
    put(root, "sys/fs/cgroup/user.slice", "cpu.max", "250000 100000\n", *state);
    assert_true(nb_group_cpus(root) == 2.5);
    put(root, "sys/fs/cgroup/user.slice/job.scope", "cpu.max", "50000 100000\n", *state);
    assert_true(nb_group_cpus(root) == 0.5);
    put(root, "sys/fs/cgroup/user.slice/other.scope", "cpu.max", "1000 100000\n", *state);
    assert_true(nb_group_cpus(root) == 0.5);
    put(root, "sys/fs/cgroup/user.slice/job.scope", "cpu.max", "\n", *state);
    assert_true(nb_group_cpus(root) == 2.5);
}

/* The path is the host's; what is mounted at the top are the container's own limits. */
static void test_cpus_in_a_container(void **state)
{
    const char *root = tree(*state);
    put(root, "proc/self", "cgroup", "0::/docker/0123456789\n", *state);
    put(root, "sys/fs/cgroup", "cpu.max", "300000 100000\n", *state);
    assert_true(nb_group_cpus(root) == 3);
}

static void test_cpus_version_1(void **state)
{
    const char *root = tree(*state);
    put(root, "proc/self", "cgroup", "9:cpuset:/a\n4:cpu,cpuacct:/slurm/job_7\n2:memory:/b\n", *state);
    put(root, "sys/fs/cgroup/cpu,cpuacct/slurm/job_7", "cpu.cfs_quota_us", "-1\n", *state);
    put(root, "sys/fs/cgroup/cpu,cpuacct/slurm/job_7", "cpu.cfs_period_us", "100000\n", *state);
    assert_true(isinf(nb_group_cpus(root)));
    put(root, "sys/fs/cgroup/cpu,cpuacct/slurm", "cpu.cfs_quota_us", "400000\n", *state);
    assert_true(isinf(nb_group_cpus(root)));
    put(root, "sys/fs/cgroup/cpu,cpuacct/slurm", "cpu.cfs_period_us", "100000\n", *state);
    assert_true(nb_group_cpus(root) == 4);
    put(root, "sys/fs/cgroup/cpu/slurm/job_7", "cpu.cfs_quota_us", "100000\n", *state);
    put(root, "sys/fs/cgroup/cpu/slurm/job_7", "cpu.cfs_period_us", "50000\n", *state);
    assert_true(nb_group_cpus(root) == 2);
}

static void test_memory(void **state)
{
    const char *root = tree(*state);
    put(root, "proc", "meminfo", "MemTotal:       24000000 kB\nMemFree: 1 kB\nMemAvailable:   1000 kB\n", *state);
    assert_true(nb_system_memory(root) == 1024000);
    put(root, "proc/self", "cgroup", "4:memory:/m\n0::/a/b\n", *state);
    put(root, "sys/fs/cgroup/a/b", "memory.max", "max\n", *state);
    put(root, "sys/fs/cgroup/a/b", "memory.current", "5000\n", *state);
    assert_true(isinf(nb_group_memory(root)));
    put(root, "sys/fs/cgroup/a", "memory.max", "10000\n", *state);
    put(root, "sys/fs/cgroup/a", "memory.current", "8000\n", *state);
    assert_true(nb_group_memory(root) == 2000);
    put(root, "sys/fs/cgroup/a", "memory.stat", "anon 1\nfile 77\ninactive_file 1500\nactive_file 9\n", *state);
    assert_true(nb_group_memory(root) == 3500);
    put(root, "sys/fs/cgroup/memory/m", "memory.limit_in_bytes", "9223372036854771712\n", *state);
    put(root, "sys/fs/cgroup/memory/m", "memory.usage_in_bytes", "100\n", *state);
    assert_true(nb_group_memory(root) == 3500);
    put(root, "sys/fs/cgroup/memory/m", "memory.limit_in_bytes", "1000\n", *state);
    put(root, "sys/fs/cgroup/memory/m", "memory.usage_in_bytes", "900\n", *state);
    put(root, "sys/fs/cgroup/memory/m", "memory.stat", "inactive_file 3\ntotal_inactive_file 50\n", *state);
    assert_true(nb_group_memory(root) == 150);
    put(root, "sys/fs/cgroup/memory/m", "memory.usage_in_bytes", "2000\n", *state);
    assert_true(nb_group_memory(root) == 0);
}

static void test_here(void **state)
{
    cpu_set_t all, one;
    (void)state;
    assert_in_range(nb_usable_cpus(), 1, 100000);
    assert_true(nb_available_memory() > 1 << 20);
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&one);
    for (size_t i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &all)) CPU_SET(i, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(nb_usable_cpus(), 1);
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_ctx(test_no_groups),      test_with_ctx(test_cpus_version_2), test_with_ctx(test_cpus_in_a_container),
        test_with_ctx(test_cpus_version_1), test_with_ctx(test_memory),         test_with_ctx(test_here),
    };
    return run_all(tests);
}
