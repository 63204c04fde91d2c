// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "base/units.h"
#include "weft/param.h"
#include "weft/scenario.h"

static const char *const contents[] = {"headers", "full", NULL};    // enum weft_capture_content
static const char *const marks[] = {"becn", "fecn", NULL};          // enum weft_cnp_mark
static const char *const switches[] = {"routers", "bridges", NULL}; // enum weft_capture_switches

static const char *capture_check(const void *conf, char *text, size_t size) {
    const struct weft_capture_conf *c = conf;
    if (!*c->file) return "file is empty; expected a name such as capture.pcapng";
    const char *slash = strrchr(c->file, '/'), *name = slash ? slash + 1 : c->file;
    if (!strcmp(name, "results.sqlite") || !strcmp(name, "result.json"))
        return WEFT_SAY(text, size, "file is %s, which --out writes itself; expected a name such as capture.pcapng",
                        name);
    if (c->from_ps < c->until_ps) return NULL;
    return WEFT_SAY(text, size, "until (%s) is not after from (%s): no frame could be recorded",
                    weft__short_time(c->until_ps).text, weft__short_time(c->from_ps).text);
}
const struct weft_param_table weft_capture_table = WEFT_PARAM_TABLE_OF(
    "capture", struct weft_capture_conf, .check = capture_check,
    WEFT_TEXT(struct weft_capture_conf, ports, "ports", "",
              "ports to record, in both directions: names, globs over names or over node->node; none if empty"),
    WEFT_TEXT(
        struct weft_capture_conf, file, "file", "capture.pcapng",
        "file to write, in --out DIR if given, else beside the scenario; weft compare inserts the variant's name"),
    WEFT_CHOICE(struct weft_capture_conf, content, "content", "full", contents,
                "of data frames: everything, with payload and ICRC, or headers only"),
    WEFT_BYTES(struct weft_capture_conf, limit_bytes, "limit", "1GB", "1KB", "1000TB",
               "most bytes of frames in the file; later ones are left out"),
    WEFT_TIME(struct weft_capture_conf, from_ps, "from", "0s", "0s", "1000000s", "frames complete from this time on"),
    WEFT_TIME(struct weft_capture_conf, until_ps, "until", "never", "1ps", "never", "frames complete before this time"),
    WEFT_CHOICE(struct weft_capture_conf, cnp_mark, "cnp", "becn", marks,
                "bit of the BTH that signals congestion in a CNP"),
    WEFT_CHOICE(struct weft_capture_conf, switches, "switches", "routers", switches,
                "a router writes its own and the next MAC address into a frame and subtracts 1 from the TTL (RFC "
                "1812); a bridge changes neither. A DSF and a Clique each count as one router"));
