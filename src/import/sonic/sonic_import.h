// SPDX-License-Identifier: Apache-2.0
// What the importers of one and of several SONiC switches share.
#pragma once

#include "weft/import.h"
#include "weft/sonic.h"

struct weft__sonic_import_conf {
    struct weft_import_common common;
    weft_time_ps metre_ps;
    const char *hosts;
};

/// A switch under construction.
struct weft__sonic_making {
    const struct weft_sonic *s;
    const struct weft__sonic_import_conf *conf;
    const struct weft_sonic_port *port; ///< the port that the switch is modelled on
    uint8_t lossless;                   ///< queues
    uint32_t up;
    struct weft_import *im;
    FILE *sw, *host;    ///< the settings of the switch and of its hosts
    const char *prefix; ///< for notes: "leaf-1: ", or "" for a single switch
};

/// Fills port, lossless and up; an error unless `least` ports are up.
enum weft_status weft__sonic_making_init(struct weft__sonic_making *m, const struct weft_import_file *file,
                                         uint32_t least, struct weft_error *ret_error);
/// Writes the sections `switch` and `host`, without their keys.
void weft__sonic_say_boxes(struct weft__sonic_making *m);
/// Several switches: the network of their neighbours, and an entry of `devices` for each.
enum weft_status weft__sonic_make_fleet(const struct weft__sonic_import_conf *conf, const struct weft_import_file *file,
                                        uint32_t files, const struct weft_sonic_lookup *lookup,
                                        struct weft_import *import, struct weft_error *ret_error);
