/* SPDX-License-Identifier: GPL-3.0-or-later */
/* python_file.c - see python_file.h */
#include "commands/python_file.h"

#include "base/files.h"
#include "commands/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool nb_is_python_file(const char *what)
{
    const char *colon = strrchr(what, ':'), *end = colon ? colon : what + strlen(what);
    return !strchr(what, '(') && end - what > 3 && strncmp(end - 3, ".py", 3) == 0;
}

nb_status nb_show_package(nb_ctx *ctx)
{
    const char *folder, *init, *path, *given = getenv("PYTHONPATH");
    NB_TRY(ctx, nb_shipped_folder(&folder, ctx));
    NB_NEED(init, nb_format(ctx, "%s/../python/nysbench/__init__.py", folder));
    if (!nb_is_file(init)) return NB_OK;
    NB_NEED(path, nb_format(ctx, "%s/../python%s%s", folder, given ? ":" : "", given ? given : ""));
    setenv("PYTHONPATH", path, 1);
    return NB_OK;
}

nb_status nb_become_python(const char *function, const char *const *words, nb_ctx *ctx)
{
    static const char code[] =
        "import sys\n"
        "try:\n"
        "    from nysbench import _commands\n"
        "except ImportError as error:\n"
        "    print(f'nysbench: error: {sys.executable} cannot import the package nysbench: {error}; '\n"
        "          'NYSBENCH_PYTHON may name another Python', file=sys.stderr)\n"
        "    sys.exit(2)\n"
        "sys.exit(getattr(_commands, sys.argv[1])(*sys.argv[2:]))\n";
    const char *python = getenv("NYSBENCH_PYTHON"), *program, *names[2] = {NULL}, **argv;
    size_t count = 0;
    while (words[count]) count++;
    if (!python) python = "python3";
    NB_NEED(names[0], nb_format(ctx, "program %s %s", python, words[0]));
    NB_TRY(ctx, nb_announce_code(names, ctx));
    NB_TRY(ctx, nb_show_package(ctx));
    NB_TRY(ctx, nb_whole_path("/proc/self/exe", &program, ctx));
    setenv("NYSBENCH_PROGRAM", program, 0);
    NB_NEED(argv, nb_alloc(ctx, count + 5, sizeof *argv));
    argv[0] = python, argv[1] = "-c", argv[2] = code, argv[3] = function;
    memcpy(argv + 4, words, count * sizeof *words);
    execvp(python, (char *const *)argv);
    NB_FAIL(ctx, NB_EIO, "%s, which runs functions in Python files, cannot be started: %s", python, strerror(errno));
}
