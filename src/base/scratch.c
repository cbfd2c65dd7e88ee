/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scratch.c - TMPDIR/nysbench-scratch-OWNER-TOKEN/NUMBER, such a folder for each process that makes any.
 *
 * 1. A process holds a lock (flock) on its folder, which nobody inherits, and which ends with the process however that
 *    ends. Where machines share TMPDIR, a machine may see its own locks alone; hence OWNER, the process's machine,
 *    boot, space of process numbers, and number.
 * 2. Who gets the lock on another's folder, and is on the owner's machine, where no process has that number, knows that
 *    its process is dead, and removes it: before making a first folder and at the end of the program. Folders of other
 *    machines are left to them.
 * 3. A folder may go between being made and being locked. One that is locked and still has a name stays. */
#include "base/scratch.h"

#include "base/digest.h"
#include "base/pidfd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <poll.h>
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
static int open_own(const char *path)
{
    struct stat info;
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0 || (fstat(folder, &info) == 0 && info.st_uid == geteuid())) return folder;
    close(folder);
    errno = EPERM;
    return -1;
}

/* Removes a folder with all that is in it. Nothing can be removed from a folder that may not be written to. */
static void remove_tree(char *path)
{
    FTS *all = fts_open((char *const[]){path, NULL}, FTS_PHYSICAL, NULL);
    for (FTSENT *e; all && (e = fts_read(all));) {
        if (e->fts_info == FTS_D)
            fchmodat(AT_FDCWD, e->fts_accpath, 0700, AT_SYMLINK_NOFOLLOW);
        else if (e->fts_info == FTS_DP)
            rmdir(e->fts_accpath);
        else
            unlink(e->fts_accpath);
    }
    if (all) fts_close(all);
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

enum { LETTERS = 8 }; /* of a name's or a boot's checksum */

typedef struct {
    char host[LETTERS + 1], boot[LETTERS + 1];
    unsigned long long space; /* of process numbers, such as a container's; 0: unknown */
    int process;
} owner;

static void print_checksum(const char *text, char *out)
{
    snprintf(out, LETTERS + 1, "%08x", (unsigned)nb_checksum(text, strlen(text), 0));
}

static owner describe_oneself(void)
{
    char text[256] = "";
    struct stat space;
    owner o = {.process = getpid()};
    gethostname(text, sizeof text - 1);
    print_checksum(text, o.host);
    FILE *boot = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (!boot || !fgets(text, sizeof text, boot)) *text = '\0';
    if (boot) fclose(boot);
    print_checksum(text, o.boot);
    if (stat("/proc/self/ns/pid", &space) == 0) o.space = space.st_ino;
    return o;
}

/* Also if nobody has waited for it yet. */
static bool has_ended(pid_t pid)
{
    struct pollfd polled = {.fd = nb_pidfd_open(pid), .events = POLLIN};
    if (polled.fd < 0) return errno == ESRCH;
    bool ended = poll(&polled, 1, 0) > 0;
    close(polled.fd);
    return ended;
}

/* Whether a folder's owner may be dead, for its lock to decide: never on another machine. One of this process's number
 * is an earlier process's, or what this one has forgotten. */
static bool may_be_dead(const char *name, const owner *me)
{
    owner o;
    if (sscanf(name, PREFIX "%8[0-9a-f]-%8[0-9a-f]-%llx-%d-", o.host, o.boot, &o.space, &o.process) != 4) return false;
    if (strcmp(o.host, me->host) != 0) return false;
    if (strcmp(o.boot, me->boot) != 0 || o.space != me->space) return true; /* numbers tell nothing */
    return o.process == me->process || has_ended(o.process);
}

/* Removes the folders of dead processes, and what this one has forgotten. */
static void sweep(const char *root)
{
    const owner me = describe_oneself();
    DIR *all = opendir(root);
    for (struct dirent *e; all && (e = readdir(all));) {
        char *path = NULL;
        if (!may_be_dead(e->d_name, &me) || asprintf(&path, "%s/%s", root, e->d_name) < 0) continue;
        int top = open_own(path);
        if (top >= 0 && flock(top, LOCK_EX | LOCK_NB) == 0) remove_tree(path);
        if (top >= 0) close(top);
        free(path);
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
    uint64_t token;
    const owner me = describe_oneself();
    own.path = NULL;
    own.lock = -1;
    if (getrandom(&token, sizeof token, 0) != sizeof token ||
        asprintf(&own.path, "%s/" PREFIX "%s-%s-%llx-%d-%016llx", root, me.host, me.boot, me.space, me.process,
                 (unsigned long long)token) < 0) {
        own.path = NULL;
        return false;
    }
    bool made = mkdir(own.path, 0700) == 0 && (own.lock = open_own(own.path)) >= 0 &&
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

/* A forked process has its parent's memory, but not its folders. */
static void remove_folder(void *path)
{
    if (own.path && strncmp(path, own.path, strlen(own.path)) == 0) remove_tree(path);
    free(path);
}

nb_status nb_temporary_folder(const char **path, nb_ctx *ctx)
{
    char *made = NULL;
    NB_TRY(ctx, need_own(ctx));
    NB_REQUIRE(ctx, asprintf(&made, "%s/%d", own.path, own.count++) > 0, NB_ENOMEM, "out of memory: a folder's name");
    *path = made;
    NB_TRY(ctx, nb_defer(ctx, remove_folder, made));
    NB_REQUIRE(ctx, mkdir(made, 0700) == 0, NB_EHOST, "no temporary folder can be made in %s: %s", own.path,
               strerror(errno));
    return NB_OK;
}

/* *trouble: why so many bytes cannot be written there; NULL if they can. */
static nb_status find_trouble(size_t bytes, const char **trouble, nb_ctx *ctx)
{
    const char *folder, *path = NULL;
    nb_mark mark = nb_ctx_mark(ctx);
    *trouble = NULL;
    nb_status status = nb_temporary_folder(&folder, ctx);
    if (status == NB_OK && !(path = nb_format(ctx, "%s/room", folder))) status = NB_ENOMEM;
    int file = path ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
    int reason = file < 0 ? errno : posix_fallocate(file, 0, (off_t)bytes);
    if (status != NB_ENOMEM && reason != 0) *trouble = strerror(reason);
    if (file >= 0) close(file);
    nb_ctx_release(ctx, mark);
    return status == NB_ENOMEM ? status : NB_OK;
}

nb_status nb_scratch_end(size_t bytes, nb_status status, nb_ctx *ctx)
{
    const char *trouble;
    if (status == NB_OK || status == NB_ENOMEM || status == NB_EHOST) return status;
    if (find_trouble(bytes, &trouble, ctx) != NB_OK) return NB_ENOMEM;
    if (!trouble) return status;
    nb_error_clear(ctx);
    NB_FAIL(ctx, NB_EHOST, "temporary files cannot be written, see TMPDIR: %s", trouble);
}
