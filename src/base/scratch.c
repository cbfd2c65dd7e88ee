/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scratch.c - TMPDIR/nysbench-scratch-TOKEN/NUMBER, a folder TOKEN for each process that makes any.
 *
 * 1. A process holds a lock (flock) on its folder TOKEN, which nobody inherits, and which ends with the process however
 *    that ends.
 * 2. Who gets the lock on another's folder knows that its process is dead, and removes it: before making a first folder
 *    and at the end of the program.
 * 3. A folder may go between being made and being locked. One that is locked and still has a name stays.
 *
 * Removing goes from an open folder to what is in it (openat, unlinkat), so that a link or a folder that is exchanged
 * meanwhile leads nowhere else. */
#include "base/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "nysbench-scratch-"

/* The process's own folder. */
static struct {
    char *path; /* NULL: none */
    int lock;   /* its descriptor */
    int count;  /* folders made in it */
} own;

/* Opens a folder of this user's, no link; -1 with errno. */
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

/* One look at what is in a folder; whether something went. */
static bool remove_some(int top)
{
    bool removed = false;
    int again = openat(top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *all = again >= 0 ? fdopendir(again) : NULL;
    if (again >= 0 && !all) close(again);
    for (struct dirent *e; all && (e = readdir(all));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
        remove_entry(top, top, e->d_name, 0);
        removed = removed || faccessat(top, e->d_name, F_OK, AT_SYMLINK_NOFOLLOW) != 0;
    }
    if (all) closedir(all);
    return removed;
}

/* TMPDIR or /tmp, as an absolute path, since a plug-in may change the working folder; malloc's. NULL: no memory. */
static char *find_root(void)
{
    char *root = NULL;
    const char *given = getenv("TMPDIR");
    if (!given || !*given) given = "/tmp";
    char *here = *given == '/' ? NULL : getcwd(NULL, 0);
    if (asprintf(&root, "%s%s%s", here ? here : "", here ? "/" : "", given) < 0) root = NULL;
    free(here);
    return root;
}

/* Removes the folders of dead processes. As long as there is progress: something may have been moved to the top. */
static void sweep(const char *root)
{
    DIR *all = opendir(root);
    for (struct dirent *e; all && (e = readdir(all));) {
        int top = strncmp(e->d_name, PREFIX, strlen(PREFIX)) == 0 ? open_own(dirfd(all), e->d_name) : -1;
        if (top >= 0 && flock(top, LOCK_EX | LOCK_NB) == 0) {
            while (remove_some(top)) {
            }
            unlinkat(dirfd(all), e->d_name, AT_REMOVEDIR);
        }
        if (top >= 0) close(top);
    }
    if (all) closedir(all);
}

void nb_scratch_forget(void)
{
    if (own.path) close(own.lock);
    free(own.path);
    own.path = NULL;
}

void nb_scratch_finish(void)
{
    char *root = own.path ? strndup(own.path, (size_t)(strrchr(own.path, '/') - own.path)) : find_root();
    nb_scratch_forget();
    if (root) sweep(root);
    free(root);
}

/* False with errno if the folder has no name any more: a program in it, or another's sweep, took it away. */
static bool is_there(int folder)
{
    struct stat info;
    if (fstat(folder, &info) != 0) return false;
    errno = ENOENT;
    return info.st_nlink > 0;
}

/* Makes a folder there and locks it; false with errno. */
static bool make_own(const char *root)
{
    uint64_t token[2];
    own.path = NULL;
    own.lock = -1;
    if (getrandom(token, sizeof token, 0) != sizeof token ||
        asprintf(&own.path, "%s/" PREFIX "%016llx%016llx", root, (unsigned long long)token[0],
                 (unsigned long long)token[1]) < 0) {
        own.path = NULL;
        return false;
    }
    bool made = mkdir(own.path, 0700) == 0 && (own.lock = open_own(AT_FDCWD, own.path)) >= 0 &&
                flock(own.lock, LOCK_EX | LOCK_NB) == 0 && is_there(own.lock);
    int reason = errno;
    if (!made) nb_scratch_forget();
    errno = reason;
    return made;
}

static nb_status need_own(nb_ctx *ctx)
{
    enum { TRIES = 10 };
    if (own.path && is_there(own.lock)) return NB_OK;
    nb_scratch_forget();
    char *root = find_root();
    NB_REQUIRE(ctx, root, NB_ENOMEM, "out of memory: a folder's name");
    NB_TRY(ctx, nb_defer(ctx, free, root));
    sweep(root);
    for (int i = 1; !make_own(root); i++)
        NB_REQUIRE(ctx, i < TRIES && (errno == EWOULDBLOCK || errno == ENOENT) && access(root, F_OK) == 0, NB_EHOST,
                   "no temporary folder can be made in %s: %s", root, strerror(errno));
    return NB_OK;
}

static void remove_folder(void *name)
{
    if (own.path) remove_entry(own.lock, own.lock, name, 0);
    free(name);
}

nb_status nb_temporary_folder(const char **path, nb_ctx *ctx)
{
    char *name = NULL;
    NB_TRY(ctx, need_own(ctx));
    NB_REQUIRE(ctx, asprintf(&name, "%d", own.count++) > 0, NB_ENOMEM, "out of memory: a folder's name");
    NB_TRY(ctx, nb_defer(ctx, remove_folder, name));
    NB_REQUIRE(ctx, mkdirat(own.lock, name, 0700) == 0, NB_EHOST, "no temporary folder can be made in %s: %s", own.path,
               strerror(errno));
    NB_NEED(*path, nb_format(ctx, "%s/%s", own.path, name));
    return NB_OK;
}

nb_status nb_scratch_trouble(const char **trouble, nb_ctx *ctx)
{
    static const char page[4096];
    const char *folder, *path = NULL;
    nb_mark mark = nb_ctx_mark(ctx);
    *trouble = NULL;
    nb_status status = nb_temporary_folder(&folder, ctx);
    if (status == NB_OK && !(path = nb_format(ctx, "%s/page", folder))) status = NB_ENOMEM;
    int file = path ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
    if (status != NB_ENOMEM && (file < 0 || write(file, page, sizeof page) != sizeof page)) *trouble = strerror(errno);
    if (file >= 0 && close(file) != 0) *trouble = strerror(errno);
    nb_ctx_release(ctx, mark);
    return status == NB_ENOMEM ? status : NB_OK;
}
