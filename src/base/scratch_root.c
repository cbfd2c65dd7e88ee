/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scratch_root.c - TMPDIR/nysbench-TOKEN/OWNER-NUMBER. Any process that knows the token, 128 random bits drawn before
 * the program starts another process, can remove everything. Removing goes from an open folder to what is in it
 * (openat, unlinkat),
 * so that a link or a folder that is exchanged meanwhile leads nowhere else. */
#include "base/scratch_root.h"

#include "base/numbers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* The process's own, as its folder is. */
static struct {
    char *path; /* NULL: not chosen yet */
    pid_t owner;
    int count; /* folders made */
} scratch;

nb_status nb_scratch_name(nb_ctx *ctx)
{
    uint64_t token[2];
    const char *given = getenv("TMPDIR"), *root = given && *given ? given : "/tmp";
    if (scratch.path) return NB_OK;
    NB_REQUIRE(ctx, getrandom(token, sizeof token, 0) == sizeof token, NB_EHOST,
               "the system gives no random numbers: %s", strerror(errno));
    char *here = *root == '/' ? NULL : getcwd(NULL, 0); /* a strategy may go elsewhere */
    int length = asprintf(&scratch.path, "%s%s%s/nysbench-%016llx%016llx", here ? here : "", here ? "/" : "", root,
                          (unsigned long long)token[0], (unsigned long long)token[1]);
    free(here);
    if (length < 0) scratch.path = NULL;
    NB_REQUIRE(ctx, scratch.path, NB_ENOMEM, "out of memory: a folder's name");
    return NB_OK;
}

const char *nb_scratch_token(void)
{
    return scratch.path ? strrchr(scratch.path, '/') + 1 : "";
}

void nb_scratch_own(pid_t owner)
{
    scratch.owner = owner;
}

/* Returns the program's folder, or -1 with errno; no link, and this user's. */
static int open_own(int at, const char *path)
{
    struct stat info;
    int folder = openat(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0 || (fstat(folder, &info) == 0 && info.st_uid == geteuid())) return folder;
    close(folder);
    errno = EPERM;
    return -1;
}

/* A folder is emptied first. A deep one is moved to the top and removed from there, so that only a few files are
 * open however deep the folders go. */
static void remove_entry(int top, int at, const char *name, int depth)
{
    enum { DEEPEST = 16 };
    static unsigned moved;
    char higher[48];
    if (unlinkat(at, name, 0) == 0 || (errno != EISDIR && errno != EPERM)) return;
    if (unlinkat(at, name, AT_REMOVEDIR) == 0) return;
    if (depth == DEEPEST) {
        snprintf(higher, sizeof higher, "deep-%d-%u", (int)getpid(), moved++);
        renameat(at, name, top, higher);
        return;
    }
    int folder = open_own(at, name);
    if (folder < 0 && errno == EACCES && fchmodat(at, name, 0700, AT_SYMLINK_NOFOLLOW) == 0)
        folder = open_own(at, name);
    if (folder >= 0) fchmod(folder, 0700); /* nothing can be removed from one that may not be written to */
    DIR *all = folder >= 0 ? fdopendir(folder) : NULL;
    if (folder >= 0 && !all) close(folder);
    for (struct dirent *e; all && (e = readdir(all));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            remove_entry(top, dirfd(all), e->d_name, depth + 1);
    if (all) closedir(all);
    unlinkat(at, name, AT_REMOVEDIR);
}

static bool is_of(const char *name, pid_t owner)
{
    long long maker;
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) return false;
    if (owner == 0 || strncmp(name, "deep-", 5) == 0) return true;
    const char *end = nb_integer_at(name, owner, owner, &maker);
    return end && *end == '-';
}

/* One look at the program's folder; whether something went. */
static bool remove_some(int top, pid_t owner)
{
    bool removed = false;
    int again = openat(top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *all = again >= 0 ? fdopendir(again) : NULL;
    if (again >= 0 && !all) close(again);
    for (struct dirent *e; all && (e = readdir(all));) {
        if (!is_of(e->d_name, owner)) continue;
        remove_entry(top, top, e->d_name, 0);
        removed = removed || faccessat(top, e->d_name, F_OK, AT_SYMLINK_NOFOLLOW) != 0;
    }
    if (all) closedir(all);
    return removed;
}

/* As long as there is progress: something may have been moved to the top meanwhile. */
void nb_scratch_remove(pid_t owner)
{
    int top = scratch.path ? open_own(AT_FDCWD, scratch.path) : -1;
    while (top >= 0 && remove_some(top, owner)) {
    }
    if (top >= 0) close(top);
    if (top >= 0 && owner == 0) rmdir(scratch.path);
}

static void remove_folder(void *name)
{
    int top = open_own(AT_FDCWD, scratch.path);
    if (top >= 0) remove_entry(top, top, name, 0);
    if (top >= 0) close(top);
    free(name);
}

nb_status nb_scratch_add(const char **path, nb_ctx *ctx)
{
    char *name = NULL;
    NB_TRY(ctx, nb_scratch_name(ctx));
    NB_REQUIRE(ctx, asprintf(&name, "%d-%d", (int)(scratch.owner ? scratch.owner : getpid()), scratch.count++) > 0,
               NB_ENOMEM, "out of memory: a folder's name");
    int top = -1, made = mkdir(scratch.path, 0700) == 0 || errno == EEXIST ? 0 : -1;
    if (made == 0) made = top = open_own(AT_FDCWD, scratch.path);
    if (top >= 0) made = mkdirat(top, name, 0700);
    int reason = errno;
    if (top >= 0) close(top);
    if (made < 0) free(name);
    NB_REQUIRE(ctx, made >= 0, NB_EHOST, "no temporary folder can be made in %.*s: %s",
               (int)(strrchr(scratch.path, '/') - scratch.path), scratch.path, strerror(reason));
    NB_TRY(ctx, nb_defer(ctx, remove_folder, name));
    NB_NEED(*path, nb_format(ctx, "%s/%s", scratch.path, name));
    return NB_OK;
}
