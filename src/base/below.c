// SPDX-License-Identifier: Apache-2.0
#include "base/below.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool has_parent(const char *path) {
    for (const char *at = path; at; at = strchr(at, '/')) {
        at += *at == '/';
        if (!strncmp(at, "..", 2) && (!at[2] || at[2] == '/')) return true;
    }
    return false;
}

/// The absolute path without links: of the part that exists, followed by the part that does not. NULL: see the header.
static const char *resolve_path(const char *path, struct weft_arena *arena) {
    char resolved[PATH_MAX];
    char *head = weft_arena_text(arena, *path ? path : ".");
    struct stat about;
    for (size_t end = strlen(head);; head[end] = 0) {
        if (realpath(end ? head : *path == '/' ? "/" : ".", resolved)) {
            const char *rest = path + (end < strlen(path) ? end : strlen(path));
            return has_parent(rest) ? NULL : weft_arena_format(arena, "%s/%s", resolved, rest);
        }
        if (!end || errno != ENOENT || !lstat(head, &about)) return NULL;
        while (end && head[end - 1] == '/')
            end--;
        while (end && head[end - 1] != '/')
            end--;
        while (end > 1 && head[end - 1] == '/')
            end--;
        if (end == 1 && *path == '/') end = 0;
    }
}

/// The next component at or after `*at`, past slashes and "."; its length, 0 at the end.
static size_t next_component(const char **at) {
    for (;;) {
        while (**at == '/')
            ++*at;
        size_t length = strcspn(*at, "/");
        if (length != 1 || **at != '.') return length;
        ++*at;
    }
}

bool weft__path_is_below(const char *path, const char *folder, struct weft_arena *arena) {
    const char *a = resolve_path(path, arena), *b = resolve_path(folder, arena);
    if (!a || !b) return false;
    for (size_t length; (length = next_component(&b)); a += length, b += length)
        if (next_component(&a) != length || strncmp(a, b, length)) return false;
    return true;
}
