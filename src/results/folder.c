// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "weft/report.h"

enum weft_status weft_report_folder(const char *path, struct weft_error *ret_error) {
    enum weft_status status = WEFT_OK;
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    char *part = weft_arena_text(arena, path);
    for (char *at = part + (*part != 0);; at++) { // not before a leading slash
        if (*at && *at != '/') continue;
        char was = *at;
        *at = 0;
        if (mkdir(part, 0777) && errno != EEXIST)
            status = weft_error_set(ret_error, WEFT_ERROR_SYSTEM, WEFT_NOWHERE, "cannot make the folder '%s': %s", part,
                                    strerror(errno));
        *at = was;
        if (!was || status) break;
    }
    if (!status && access(path, W_OK | X_OK))
        status = weft_error_set(ret_error, WEFT_ERROR_SYSTEM, WEFT_NOWHERE, "cannot write into the folder '%s': %s",
                                path, strerror(errno));
    return status;
}
