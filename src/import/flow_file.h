// SPDX-License-Identifier: Apache-2.0
// A workload made of the flows of another tool's file: its parameters, and the conversion of flows. A format supplies a
// reader.
#pragma once

#include "import/hosts.h"
#include "weft/workload.h"

/// First member of the configuration.
struct weft__flow_file_conf {
    struct weft_workload_common common;
    const char *file, *hosts, *ranks;
};
/// The rows of a configuration that begins with this one; `what` the file is, for the help.
#define WEFT__FLOW_FILE_ROWS(what)                                                                                     \
    WEFT_WORKLOAD_ROWS(struct weft__flow_file_conf),                                                                   \
        WEFT_TEXT(struct weft__flow_file_conf, file, "file", NULL, what "; relative to the scenario"),                 \
        WEFT__FILE_HOSTS_ROWS(struct weft__flow_file_conf)

/// No network carries more in the time that weft simulates.
#define WEFT__FILE_FLOW_BYTES_MAX UINT64_C(100000000000000)

struct weft__file_flow {
    uint64_t src, dst; ///< numbers of hosts
    uint64_t priority;
    bool prioritised;          ///< it has a priority of its own
    uint16_t destination_port; ///< 0: none
    weft_bytes bytes;
    weft_time_ps start_ps;
    struct weft_place place;
};

struct weft__flow_reader {
    void *state;
    enum weft_status (*open)(void *state, const char *path, struct weft_place place, struct weft_error *ret_error);
    /// The next flow; *ret_more false: there is none, and the file is whole.
    enum weft_status (*next)(void *state, struct weft__file_flow *ret_flow, bool *ret_more,
                             struct weft_error *ret_error);
    void (*close)(void *state);
};

/// What `expand` of the workload does.
enum weft_status weft__flow_file_expand(const struct weft__flow_file_conf *conf, struct weft_place place,
                                        const struct weft_topology *topology, const struct weft__flow_reader *reader,
                                        struct weft_workload *w, struct weft_error *ret_error);
