// SPDX-License-Identifier: Apache-2.0
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/digest.h"
#include "weft/report.h"

const char *weft_cli_cache(struct weft_arena *arena) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char *folder = NULL;
    if (cache && *cache == '/')
        folder = weft_arena_format(arena, "%s/weft", cache);
    else if (home && *home == '/')
        folder = weft_arena_format(arena, "%s/.cache/weft", home);
    struct weft_error ignored = {0};
    return folder && !weft_report_folder(folder, &ignored) ? folder : NULL;
}

uint64_t weft_cli_program_hash(uint64_t hash) {
    FILE *file = fopen("/proc/self/exe", "rb");
    char part[1 << 16];
    size_t n;
    while (file && (n = fread(part, 1, sizeof part, file)) > 0)
        hash = weft__hash(hash, part, n);
    if (file) fclose(file);
    return hash;
}
