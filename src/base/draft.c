// SPDX-License-Identifier: Apache-2.0
#include "base/stream.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/// A name that was handed out.
struct kept {
    struct kept *next;
    char name[];
};

static struct {
    bool keep;
    pthread_mutex_t lock;
    struct kept *first;
} drafts = {.lock = PTHREAD_MUTEX_INITIALIZER};

/// The process whose draft of `name` a file is; 0: it is none.
static pid_t writer_of(const char *file, const char *name) {
    size_t length = strlen(name);
    if (strncmp(file, name, length) || file[length] != '.' || !isdigit((unsigned char)file[length + 1])) return 0;
    char *end;
    errno = 0;
    long id = strtol(file + length + 1, &end, 10);
    return errno || strcmp(end, ".tmp") ? 0 : (pid_t)id;
}

static void remove_abandoned(const char *path, struct weft_arena *arena) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *in = !slash ? "." : weft_arena_format(arena, "%.*s", (int)(slash == path ? 1 : slash - path), path);
    struct weft_memory_cleanup cleanup;
    DIR *folder = weft__folder_open(in, &cleanup);
    if (!folder) return; // the later write reports the reason
    for (const struct dirent *entry; (entry = readdir(folder));) {
        pid_t writer = writer_of(entry->d_name, name);
        if (writer > 0 && kill(writer, 0) && errno == ESRCH) unlinkat(dirfd(folder), entry->d_name, 0);
    }
    weft__folder_close(folder, &cleanup);
}

/// False: not enough memory.
static bool keep_name(const char *name) {
    pthread_mutex_lock(&drafts.lock);
    struct kept *k = drafts.first;
    while (k && strcmp(k->name, name))
        k = k->next;
    bool known = k;
    if (!known && (k = malloc(sizeof *k + strlen(name) + 1))) {
        strcpy(k->name, name);
        k->next = drafts.first;
        drafts.first = k;
    }
    pthread_mutex_unlock(&drafts.lock);
    return k;
}

const char *weft__draft_name(const char *path, struct weft_arena *arena) {
    remove_abandoned(path, arena);
    const char *name = weft_arena_format(arena, "%s.%ld.tmp", path, (long)getpid());
    if (drafts.keep && !keep_name(name)) weft_memory_fail();
    return name;
}

void weft__drafts_keep(void) {
    drafts.keep = true;
}

void weft__drafts_remove(void) {
    pthread_mutex_lock(&drafts.lock);
    for (const struct kept *k = drafts.first; k; k = k->next)
        unlink(k->name);
}
