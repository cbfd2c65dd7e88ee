/* SPDX-License-Identifier: GPL-3.0-or-later */
/* replay.c - a harness on files, without libFuzzer: HARNESS FILE...; speaks TAP. A
 * crash ends it before the plan's last test, and the exit status says so. */
#include "input.h"

#include <errno.h>

static void replay(int number, const char *path)
{
    static uint8_t data[1 << 20];
    FILE *file = fopen(path, "rb");
    NB_MUST(file, "%s: %s", path, strerror(errno));
    size_t size = fread(data, 1, sizeof data, file);
    NB_MUST(size < sizeof data && !ferror(file), "%s: is larger than 1 MiB, or cannot be read", path);
    fclose(file);
    fprintf(stderr, "%s\n", path);
    LLVMFuzzerTestOneInput(data, size);
    printf("ok %d - %s\n", number, path);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    printf("1..%d\n", argc - 1);
    for (int i = 1; i < argc; i++) replay(i, argv[i]);
    return 0;
}
