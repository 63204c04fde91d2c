// SPDX-License-Identifier: Apache-2.0
// The folder of --out belongs to one command at a time: the folder itself is locked, so nothing is left behind when a
// command is killed. Where a file system cannot lock folders (NFS), a file in it is.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "cli.h"
#include "ranks.h"
#include "weft/ranks.h"
#include "weft/report.h"

static const char *locked; ///< path that this process has, until it ends
static bool made;          ///< by this process
static int lock_fd = -1;   ///< of the folder, or of a file in it

/// 0, or an error number: EWOULDBLOCK if another process has the folder. It takes no memory of weft's, whose layout is
/// the same on all ranks.
static int lock_folder(const char *path, bool shared) {
    const int how = (shared ? LOCK_SH : LOCK_EX) | LOCK_NB;
    char name[PATH_MAX];
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC); // closed when the process ends
    if (fd >= 0 && !flock(fd, how)) return lock_fd = fd, 0;
    if (fd < 0 || errno == EWOULDBLOCK) return errno;
    close(fd);
    if ((size_t)snprintf(name, sizeof name, "%s/.lock", path) >= sizeof name) return ENAMETOOLONG;
    fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) return errno;
    lock_fd = fd;
    return flock(fd, how) && errno == EWOULDBLOCK ? EWOULDBLOCK : 0; // nothing can be locked there
}

void weft_cli_out_folder_forked(void) {
    if (lock_fd >= 0) close(lock_fd);
    lock_fd = -1;
}

enum weft_status weft_cli_own_folder(const char *path, bool shared, struct weft_error *ret_error) {
    const struct weft_ranks *ranks = weft_cli_ranks();
    made = access(path, F_OK);
    enum weft_status status = weft_report_folder(path, ret_error);
    if (status || (ranks && ranks->self) || lock_folder(path, shared) != EWOULDBLOCK) return status; // rank 0 writes
    return WEFT_REFUSE(ret_error, WEFT_NOWHERE,
                       "another weft is writing into '%s'; expected it to have ended, or another folder", path);
}

enum weft_status weft_cli_out_folder(const struct weft_cli_options *o, bool shared, bool fresh,
                                     struct weft_error *ret_error) {
    if (locked && !strcmp(locked, o->out)) return WEFT_OK;
    WEFT_TRY(weft_cli_own_folder(o->out, shared, ret_error));
    locked = o->out;
    if (!fresh || o->force || !weft_cli_is_result(o->out)) return WEFT_OK;
    return WEFT_REFUSE(ret_error, WEFT_NOWHERE, "--out: '%s' holds results already; --force replaces them",
                       o->out); // since it was parsed
}

void weft_cli_drop_out_folder(void) {
    if (made && locked) rmdir(locked); // only if it is empty
}
