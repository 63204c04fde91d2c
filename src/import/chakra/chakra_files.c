// SPDX-License-Identifier: Apache-2.0
// Which files are traces of which ranks. ASTRA-sim and Chakra's tools name them PREFIX.N.et.
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/grow.h"
#include "base/order.h"
#include "base/stream.h"
#include "base/tree.h"
#include "import/chakra/chakra.h"
#include "import/chakra/chakra_json.h"

/// Where the suffix begins, such as ".et" or ".et.gz"; NULL: it has none.
static const char *ending_of(const char *path) {
    static const char *const endings[] = {".et", ".et.gz", ".et.zst", ".json", ".json.gz", ".json.zst"};
    size_t n = strlen(path);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t m = strlen(endings[i]);
        if (n > m && !strcmp(path + n - m, endings[i])) return path + n - m;
    }
    return NULL;
}

const char *weft__chakra_suffix(const char *path, uint32_t *ret_rank) {
    enum { DIGITS_MAX = 8 };
    const char *end = ending_of(path), *at = end;
    if (!end) return NULL;
    while (at > path && at[-1] >= '0' && at[-1] <= '9')
        at--;
    if (at == end || end - at > DIGITS_MAX || at == path || at[-1] != '.') return NULL;
    *ret_rank = (uint32_t)strtoul(at, NULL, 10);
    return at - 1;
}

WEFT__ORDER(by_rank, struct weft__chakra_file, WEFT__UP(rank))

struct finder {
    struct weft__chakra_files *files;
    struct weft_arena *arena;
    struct weft_place place;
    struct weft_error *error;
    struct weft__chakra_file *list;
    uint32_t n, room;
    bool json; ///< those that are wanted
};

static void add_file(struct finder *f, const char *path, uint32_t rank) {
    f->list = weft__memory_grow(f->list, f->n, &f->room, sizeof *f->list);
    f->list[f->n++] = (struct weft__chakra_file){rank, path};
}

/// A name in the folder: taken if it is that of a trace and, with a prefix, has this prefix.
static enum weft_status take_name(struct finder *f, const char *folder, const char *name, const char *prefix) {
    uint32_t rank;
    const char *suffix = weft__chakra_suffix(name, &rank);
    if (!suffix || weft__chakra_json_named(name) != f->json ||
        (prefix && (strncmp(name, prefix, (size_t)(suffix - name)) || prefix[suffix - name])))
        return WEFT_OK;
    if (!weft__text_is_plain(name))
        return WEFT_REFUSE(f->error, f->place,
                           "file: a trace in '%s' has a name that is not UTF-8 or has control characters", folder);
    const char *path = weft_arena_format(f->arena, "%s%s", folder, name);
    size_t n = strlen(folder) + (size_t)(suffix - name);
    if (!f->n)
        f->files->prefix = weft_arena_format(f->arena, "%.*s", (int)n, path);
    else if (strncmp(f->files->prefix, path, n) || f->files->prefix[n])
        return WEFT_REFUSE(f->error, f->place, "file: '%s' has traces of two prefixes, %s and %.*s; expected a prefix",
                           folder, f->files->prefix, (int)n, path);
    add_file(f, path, rank);
    return WEFT_OK;
}

/// Finds all traces in the folder, or those of a prefix, that are JSON or not (f->json). `folder` ends with a slash, or
/// is empty.
static enum weft_status scan_folder(struct finder *f, const char *folder, const char *prefix) {
    struct weft_memory_cleanup cleanup;
    DIR *dir = weft__folder_open(*folder ? folder : ".", &cleanup);
    if (!dir) return WEFT_REFUSE(f->error, f->place, "file: cannot read '%s': %s", folder, strerror(errno));
    enum weft_status status = WEFT_OK;
    for (const struct dirent *entry; !status && (entry = readdir(dir));)
        status = take_name(f, folder, entry->d_name, prefix);
    weft__folder_close(dir, &cleanup);
    return status;
}

/// Traces in JSON count if there are no others.
static enum weft_status scan_both(struct finder *f, const char *folder, const char *prefix) {
    enum weft_status status = scan_folder(f, folder, prefix);
    if (status || f->n) return status;
    f->json = true;
    return scan_folder(f, folder, prefix);
}

static enum weft_status find_files(struct finder *f, const char *path) {
    struct stat about;
    uint32_t rank = 0;
    bool there = !stat(path, &about);
    size_t n = strlen(path);
    if (there && S_ISDIR(about.st_mode))
        return scan_both(f, weft_arena_format(f->arena, "%s%s", path, n && path[n - 1] == '/' ? "" : "/"), NULL);
    if (there) {
        const char *suffix = weft__chakra_suffix(path, &rank);
        if (suffix) f->files->prefix = weft_arena_format(f->arena, "%.*s", (int)(suffix - path), path);
        add_file(f, path, rank);
        return WEFT_OK;
    }
    const char *slash = strrchr(path, '/');
    size_t folder = slash ? (size_t)(slash + 1 - path) : 0;
    return scan_both(f, weft_arena_format(f->arena, "%.*s", (int)folder, path), path + folder);
}

static enum weft_status check_files(const struct finder *f, const char *path) {
    const struct weft__chakra_file *list = f->list;
    if (!f->n)
        return WEFT_REFUSE(f->error, f->place,
                           "file: no trace at '%s'; expected a folder, a file, or a prefix of files PREFIX.0.et, "
                           "PREFIX.1.et, ...",
                           path);
    for (uint32_t i = 1; i < f->n; i++)
        if (list[i].rank == list[i - 1].rank)
            return WEFT_REFUSE(f->error, f->place, "file: rank %" PRIu32 " has two traces, %s and %s; expected one",
                               list[i].rank, list[i - 1].path, list[i].path);
    if (list[f->n - 1].rank < WEFT_SCHEDULE_RANKS_MAX) return WEFT_OK;
    return WEFT_REFUSE(f->error, f->place, "file: %s: expected a rank below %u", list[f->n - 1].path,
                       WEFT_SCHEDULE_RANKS_MAX);
}

enum weft_status weft__chakra_find(const char *path, struct weft_place place, struct weft_arena *arena,
                                   struct weft__chakra_files *ret_files, struct weft_error *ret_error) {
    struct finder f = {.files = ret_files, .arena = arena, .place = place, .error = ret_error};
    *ret_files = (struct weft__chakra_files){.prefix = path};
    enum weft_status status = find_files(&f, path);
    if (f.n) qsort(f.list, f.n, sizeof *f.list, by_rank);
    if (!status) status = check_files(&f, path);
    if (!status) {
        ret_files->files = f.n;
        ret_files->file = weft_arena_alloc(arena, f.n, sizeof *f.list);
        memcpy(ret_files->file, f.list, f.n * sizeof *f.list);
    }
    weft_memory_free(WEFT_MEMORY_SCENARIO, f.list, f.room * sizeof *f.list);
    return status;
}
