// SPDX-License-Identifier: Apache-2.0
// Guests that stand still while the network catches up: QEMU's machine protocol (docs/interop/qmp-spec), of which
// `stop` and `cont` are needed. A guest's clocks stand still too, so its timers do not see the wait.
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "live/live.h"
#include "weft/memory.h"
#include "weft/sim.h"

enum { WAIT_MS = 1000, ANSWER_MAX = 4096 };

/// Reads until a line with this word has come, in WAIT_MS at most. False: it has not.
static bool await_word(int fd, const char *word) {
    char text[ANSWER_MAX];
    size_t n = 0;
    while (n < sizeof text - 1) {
        struct pollfd at = {.fd = fd, .events = POLLIN};
        if (poll(&at, 1, WAIT_MS) <= 0) return false;
        ssize_t got = read(fd, text + n, sizeof text - 1 - n);
        if (got <= 0) return false;
        n += (size_t)got;
        text[n] = 0;
        const char *found = strstr(text, word);
        if (found && strchr(found, '\n')) return true;
        const char *line = strrchr(text, '\n');
        if (!found && line) { // events in between
            n -= (size_t)(line + 1 - text);
            memmove(text, line + 1, n + 1);
        }
    }
    return false;
}

static bool execute_command(int fd, const char *command) {
    char text[64];
    int n = snprintf(text, sizeof text, "{\"execute\":\"%s\"}\n", command);
    return send(fd, text, (size_t)n, MSG_NOSIGNAL) == n && await_word(fd, "\"return\"");
}

enum weft_status weft__live_qmp_begin(struct weft__live *l, struct weft_error *ret_error) {
    l->qmp = weft_arena_alloc(l->arena, l->conf->qmps, sizeof *l->qmp);
    for (uint32_t i = 0; i < l->conf->qmps; i++)
        l->qmp[i] = -1;
    for (uint32_t i = 0; i < l->conf->qmps; i++) {
        const char *path;
        WEFT_TRY(weft_scenario_write_path(l->simulation->scenario, "live", "qmp", l->conf->qmp[i], l->options->folder,
                                          l->arena, &path, ret_error));
        errno = 0;
        l->qmp[i] = weft__attach_connect(path);
        if (l->qmp[i] < 0 || !await_word(l->qmp[i], "\"QMP\"") || !execute_command(l->qmp[i], "qmp_capabilities"))
            return WEFT_REFUSE(ret_error, l->conf->place,
                               "live.qmp: no QEMU at %s%s%s; expected one with -qmp unix:%s,server=on,wait=off", path,
                               errno ? ": " : "", errno ? strerror(errno) : "", path);
    }
    return WEFT_OK;
}

void weft__live_qmp(struct weft__live *l, const char *command) {
    for (uint32_t i = 0; i < l->conf->qmps; i++)
        if (l->qmp[i] >= 0 && !execute_command(l->qmp[i], command)) {
            close(l->qmp[i]); // this guest has ended
            l->qmp[i] = -1;
        }
}

void weft__live_qmp_end(struct weft__live *l) {
    for (uint32_t i = 0; l->qmp && i < l->conf->qmps; i++)
        if (l->qmp[i] >= 0) close(l->qmp[i]);
}
