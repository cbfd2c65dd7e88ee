/* SPDX-License-Identifier: GPL-3.0-or-later */
/* files.c - folders, and files that are replaced whole or not at all. */
#include "base/files.h"

#include "base/text.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

nb_status nb_file_status(int reason)
{
    static const int lacks[] = {ENOSPC, EDQUOT, EFBIG, EMFILE, ENFILE, ENOMEM};
    for (size_t i = 0; i < sizeof lacks / sizeof *lacks; i++)
        if (reason == lacks[i]) return NB_EHOST;
    return NB_EIO;
}

nb_status nb_make_folder(const char *path, nb_ctx *ctx)
{
    char *copy;
    struct stat info;
    NB_REQUIRE(ctx, *path, NB_EIO, "a folder's name is empty");
    NB_NEED(copy, nb_strdup(ctx, path));
    for (char *slash = copy; slash;) {
        slash = strchr(slash + 1, '/');
        if (slash) *slash = '\0';
        if (mkdir(copy, 0777) != 0 && errno != EEXIST)
            NB_FAIL(ctx, nb_file_status(errno), "folder %s: cannot be made: %s", copy, strerror(errno));
        if (slash) *slash = '/';
    }
    NB_REQUIRE(ctx, stat(path, &info) == 0 && S_ISDIR(info.st_mode), NB_EIO, "%s: is not a folder", path);
    NB_REQUIRE(ctx, access(path, W_OK | X_OK) == 0, NB_EIO, "folder %s: cannot be written to: %s", path,
               strerror(errno));
    return NB_OK;
}

/* Returns 0, or why the file cannot be locked: EWOULDBLOCK if another process still holds it after so many tries. */
static int lock(int file, int tries)
{
    enum { PAUSE_US = 5000 };
    while (flock(file, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) return errno;
        if (--tries == 0) return EWOULDBLOCK;
        usleep(PAUSE_US);
    }
    return 0;
}

/* Locks what is at the path, and leaves it open: closing it would unlock. */
static nb_status lock_for_run(const char *path, int how, const char *folder, const char *other, nb_ctx *ctx)
{
    enum { TRIES = 20 }; /* it may be held by nb_folder_is_locked alone */
    int file = open(path, how | O_CLOEXEC, 0666);
    NB_REQUIRE(ctx, file >= 0, nb_file_status(errno), "%s: cannot be opened: %s", path, strerror(errno));
    int reason = lock(file, TRIES);
    if (reason == 0) return NB_OK;
    close(file);
    NB_REQUIRE(ctx, reason != EWOULDBLOCK, NB_EIO, "folder %s: %s is writing into it", folder, other);
    NB_FAIL(ctx, NB_EIO, "folder %s: cannot be locked, so two runs could write into it: %s", folder, strerror(reason));
}

/* The lock of a folder itself ends at this machine; that of a file in it reaches the
 * others that share a network file system. */
nb_status nb_lock_folder(const char *path, nb_ctx *ctx)
{
    const char *name;
    NB_NEED(name, nb_format(ctx, "%s/.lock", path));
    NB_TRY(ctx, lock_for_run(path, O_RDONLY | O_DIRECTORY, path, "another run", ctx));
    return lock_for_run(name, O_RDWR | O_CREAT, path, "a run on another machine", ctx);
}

static nb_status look_at_lock(const char *path, bool *locked, nb_ctx *ctx)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 && errno == ENOENT) return NB_OK;
    NB_REQUIRE(ctx, file >= 0, nb_file_status(errno), "%s: cannot be opened: %s", path, strerror(errno));
    int code = flock(file, LOCK_SH | LOCK_NB), reason = errno;
    close(file);
    *locked = *locked || code != 0;
    NB_REQUIRE(ctx, code == 0 || reason == EWOULDBLOCK, NB_EIO, "%s: its lock cannot be read: %s", path,
               strerror(reason));
    return NB_OK;
}

nb_status nb_folder_is_locked(const char *path, bool *locked, nb_ctx *ctx)
{
    const char *name;
    *locked = false;
    NB_NEED(name, nb_format(ctx, "%s/.lock", path));
    NB_TRY(ctx, look_at_lock(path, locked, ctx));
    return look_at_lock(name, locked, ctx);
}

/* Returns the file of that name, made, locked and empty; -1 with errno. Its name is always the same, so that the next
 * program reuses what a killed one has left; the lock keeps two writers apart. One that was renamed while this one
 * waited for the lock is another file by now. An empty file is not truncated: ext4 takes a truncated one for the
 * replacement of a file and writes it to the disk when it is closed, which whoever removes it waits for. */
static int open_temporary(const char *temporary)
{
    enum { TRIES = 2000 }; /* another process may be writing it */
    struct stat ours, named;
    for (;;) {
        int file = open(temporary, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (file < 0) return -1;
        bool locked = lock(file, TRIES) != EWOULDBLOCK /* best effort without locks */, known = fstat(file, &ours) == 0;
        bool same =
            known && lstat(temporary, &named) == 0 && ours.st_ino == named.st_ino && ours.st_dev == named.st_dev;
        if (locked && same && S_ISREG(ours.st_mode) && (ours.st_size == 0 || ftruncate(file, 0) == 0)) return file;
        int reason = locked && same && !S_ISREG(ours.st_mode) ? EEXIST : errno;
        close(file);
        errno = reason;
        if (!locked || !known || same) return -1;
    }
}

/* `temporary` is NULL if the file has its name already. */
static nb_status write_and_name(FILE *out, const char *temporary, const char *path,
                                nb_status (*print)(FILE *out, const void *what, nb_ctx *ctx), const void *what,
                                nb_ctx *ctx)
{
    nb_status status = print(out, what, ctx);
    bool failed = ferror(out);
    failed = fclose(out) != 0 || failed;
    if (status == NB_OK && !failed && (!temporary || rename(temporary, path) == 0)) return NB_OK;
    int reason = errno;
    if (temporary) unlink(temporary);
    NB_TRY(ctx, status);
    NB_FAIL(ctx, nb_file_status(reason), "%s: cannot be written: %s", path, strerror(reason));
}

nb_status nb_write_file(const char *path, nb_status (*print)(FILE *out, const void *what, nb_ctx *ctx),
                        const void *what, nb_ctx *ctx)
{
    struct stat info;
    const char *temporary, *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    bool replace = stat(path, &info) != 0 || S_ISREG(info.st_mode) ||
                   S_ISDIR(info.st_mode); /* else a pipe or device: never replaced */
    NB_NEED(temporary, nb_format(ctx, "%.*s.%.200s.nysbench.tmp", (int)(name - path), path,
                                 name)); /* a name has 255 bytes at most */
    int lock = replace ? open_temporary(temporary) : -1, file = lock >= 0 ? fcntl(lock, F_DUPFD_CLOEXEC, 0) : -1;
    FILE *out = file >= 0 ? fdopen(file, "w") : replace ? NULL : fopen(path, "w");
    int reason = errno;
    nb_status status = out ? write_and_name(out, replace ? temporary : NULL, path, print, what, ctx) : NB_EIO;
    if (!out && file >= 0) close(file);
    if (lock >= 0) close(lock); /* only now: the file has its name, or is removed */
    NB_REQUIRE(ctx, out, nb_file_status(reason), "%s: cannot be written: %s", path, strerror(reason));
    return status;
}

nb_status nb_print_whole(FILE *out, const void *text, nb_ctx *ctx)
{
    (void)ctx;
    fputs(text, out);
    return NB_OK;
}

nb_status nb_print_text(nb_status (*print)(FILE *out, const void *what, nb_ctx *ctx), const void *what,
                        const char **text, nb_ctx *ctx)
{
    char *buffer = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&buffer, &size);
    NB_REQUIRE(ctx, out, NB_ENOMEM, "out of memory: a text");
    nb_status status = print(out, what, ctx);
    bool failed = ferror(out);
    failed = fclose(out) != 0 || failed;
    nb_status kept = buffer ? nb_defer(ctx, free, buffer) : NB_OK;
    *text = buffer;
    NB_TRY(ctx, status);
    NB_REQUIRE(ctx, !failed && buffer, NB_ENOMEM, "out of memory: a text");
    return kept;
}

nb_status nb_read_file(const char *path, const char **text, nb_ctx *ctx)
{
    char *buffer;
    struct stat info;
    *text = NULL;
    FILE *in = fopen(path, "r");
    NB_REQUIRE(ctx, in, nb_file_status(errno), "%s: cannot be opened: %s", path, strerror(errno));
    bool regular = fstat(fileno(in), &info) == 0 && S_ISREG(info.st_mode);
    buffer = regular ? nb_alloc(ctx, (size_t)info.st_size + 1, 1) : NULL;
    bool whole = buffer && fread(buffer, 1, (size_t)info.st_size, in) == (size_t)info.st_size;
    fclose(in);
    NB_REQUIRE(ctx, regular, NB_EIO, "%s: is not a file", path);
    if (!buffer) return NB_ENOMEM;
    NB_REQUIRE(ctx, whole, NB_EIO, "%s: cannot be read", path);
    *text = buffer;
    return NB_OK;
}

typedef struct {
    FILE *file;
    const char *path;
} source;

static nb_status copy(FILE *out, const void *what, nb_ctx *ctx)
{
    const source *from = what;
    char buffer[4096];
    size_t got;
    while ((got = fread(buffer, 1, sizeof buffer, from->file)) > 0) fwrite(buffer, 1, got, out);
    NB_REQUIRE(ctx, !ferror(from->file), NB_EIO, "%s: cannot be read", from->path);
    return NB_OK;
}

nb_status nb_copy_file(const char *from, const char *to, nb_ctx *ctx)
{
    source s = {fopen(from, "rb"), from};
    NB_REQUIRE(ctx, s.file, nb_file_status(errno), "%s: cannot be opened: %s", from, strerror(errno));
    nb_status status = nb_write_file(to, copy, &s, ctx);
    fclose(s.file);
    return status;
}

bool nb_is_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

nb_status nb_whole_path(const char *path, const char **whole, nb_ctx *ctx)
{
    char *found = realpath(path, NULL);
    NB_REQUIRE(ctx, found, NB_EIO, "%s: cannot be found: %s", path, strerror(errno));
    *whole = found;
    return nb_defer(ctx, free, found);
}

const char *nb_path_hint(const char *path)
{
    return *path == '~' ? "; only a shell expands '~': write the folder out" : "";
}

/* The folder of the program, or of the shared library that this code is in. */
static nb_status own_folder(char *folder, size_t size, nb_ctx *ctx)
{
    static const char here = 0;
    Dl_info object;
    struct link_map *map = NULL;
    dladdr1(&here, &object, (void **)&map, RTLD_DL_LINKMAP);
    bool library = map && *map->l_name;
    ssize_t length = library ? snprintf(folder, size, "%s", map->l_name) : readlink("/proc/self/exe", folder, size - 1);
    NB_REQUIRE(ctx, length > 0 && (size_t)length < size, NB_EIO, "/proc/self/exe: cannot be read: %s", strerror(errno));
    folder[length] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash) *slash = '\0';
    return NB_OK;
}

static void release_json(void *json)
{
    json_decref(json);
}

nb_status nb_defer_json(nb_ctx *ctx, json_t *json)
{
    return nb_defer(ctx, release_json, json);
}

nb_status nb_read_json(const char *path, json_t **json, nb_ctx *ctx)
{
    json_error_t error;
    FILE *in = fopen(path, "r");
    NB_REQUIRE(ctx, in, nb_file_status(errno), "%s: cannot be opened: %s", path, strerror(errno));
    *json = json_loadf(in, JSON_REJECT_DUPLICATES, &error);
    fclose(in);
    NB_REQUIRE(ctx, *json, NB_EINVAL, "%s:%d: %s", path, error.line, error.text);
    return nb_defer_json(ctx, *json);
}

nb_status nb_folder_names(const char *folder, const char *ending, int *count, const char ***names, nb_ctx *ctx)
{
    struct dirent **entries;
    int found = scandir(folder, &entries, NULL, alphasort);
    *count = -1;
    NB_REQUIRE(ctx, found >= 0 || errno == ENOENT, nb_file_status(errno), "folder %s: cannot be read: %s", folder,
               strerror(errno));
    if (found < 0) return NB_OK;
    bool all = (*names = nb_alloc(ctx, (size_t)found + 1, sizeof **names));
    *count = 0;
    for (int i = 0; i < found; i++) {
        const char *name = entries[i]->d_name;
        bool wanted = ending ? *name != '.' && nb_text_ends(name, ending) : strcmp(name, ".") && strcmp(name, "..");
        if (all && wanted) all = ((*names)[(*count)++] = nb_strdup(ctx, name));
        free(entries[i]);
    }
    free(entries);
    return all ? NB_OK : NB_ENOMEM;
}

nb_status nb_folder_of(const char *path, const char **folder, nb_ctx *ctx)
{
    const char *slash = strrchr(path, '/');
    NB_NEED(*folder, !slash ? "." : slash == path ? "/" : nb_format(ctx, "%.*s", (int)(slash - path), path));
    return NB_OK;
}

nb_status nb_stem_of(const char *path, const char **stem, nb_ctx *ctx)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    NB_NEED(*stem, nb_format(ctx, "%.*s", dot && dot > name ? (int)(dot - name) : (int)strlen(name), name));
    return NB_OK;
}

nb_status nb_shared_file(const char *folder, const char *name, const char **path, nb_ctx *ctx)
{
    static const char *const places[] = {"", "/../share/nysbench", "/../../share/nysbench"}; /* lib/x86_64-linux-gnu */
    char own[PATH_MAX];
    NB_TRY(ctx, own_folder(own, sizeof own, ctx));
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        NB_NEED(*path, nb_format(ctx, "%s%s/%s/%s", own, places[i], folder, name));
        if (nb_is_file(*path)) return NB_OK;
    }
    NB_FAIL(ctx, NB_EIO, "%s/%s: is neither in %s nor in share/nysbench", folder, name, own);
}

nb_status nb_shipped_folder(const char **folder, nb_ctx *ctx)
{
    static const char one[] = "data/README.md";
    const char *file;
    NB_TRY(ctx, nb_shared_file("experiments", one, &file, ctx));
    NB_TRY(ctx, nb_whole_path(file, &file, ctx));
    NB_NEED(*folder, nb_format(ctx, "%.*s", (int)(strlen(file) - sizeof one), file));
    return NB_OK;
}

nb_status nb_shipped_path(const char *path, const char **found, nb_ctx *ctx)
{
    static const char shipped[] = "experiments/";
    const char *name = path + sizeof shipped - 1;
    struct stat info;
    *found = path;
    if (strncmp(path, shipped, sizeof shipped - 1) != 0 || stat(path, &info) == 0) return NB_OK;
    nb_status status = nb_shared_file("experiments", name, found, ctx);
    if (status != NB_EIO) return status;
    nb_error_clear(ctx);
    *found = path;
    return NB_OK;
}
