// SPDX-License-Identifier: Apache-2.0
// Codec of the files of ns-3's RDMA simulators: alibaba-edu/High-Precision-Congestion-Control (HPCC) and
// aliyun/ns-3-alibabacloud (SimAI): topology, flows, configuration. Words are separated by blanks or line ends. Lines
// after the last link or flow are not read, as in the simulators: HPCC's own files have explanations there.
#ifndef WEFT_IMPORT_HPCC_READ_H
#define WEFT_IMPORT_HPCC_READ_H

#include "base/lines.h"
#include "import/flow_file.h"

struct weft__hpcc_link {
    uint32_t src, dst;
    weft_rate_bps rate_bps;
    weft_time_ps delay_ps;
    double error_rate; ///< fraction of packets that are lost
    struct weft_place place;
};

enum weft__hpcc_role { WEFT__HPCC_HOST, WEFT__HPCC_SWITCH, WEFT__HPCC_NVSWITCH };

struct weft__hpcc_topology {
    uint32_t nodes, switches, nvswitches, links;
    uint32_t gpus_per_server; ///< 0: HPCC's form, without servers
    const char *gpu_type;     ///< of SimAI's form
    uint8_t *role;            ///< [nodes], enum weft__hpcc_role
    struct weft__hpcc_link *link;
    int rest_line; ///< the first non-empty line after the last link, which ns-3 does not read; 0: none
};

/// In the arena. Errors are at `place` if the file cannot be read, else in it.
enum weft_status weft__hpcc_read_topology(const char *path, struct weft_place place, struct weft_arena *arena,
                                          struct weft__hpcc_topology *ret_topology, struct weft_error *ret_error);

/// Flows one by one; the caller closes its lines.
struct weft__hpcc_flows {
    struct weft__lines lines;
    uint64_t n, read;
    bool portless; ///< five columns per flow, without the port: ConWeave's form
    int rest_line; ///< as for a topology; known after the last flow
};
enum weft_status weft__hpcc_flows_open(struct weft__hpcc_flows *flows, const char *path, struct weft_place place,
                                       struct weft_error *ret_error);
/// *ret_more false: there are no more.
enum weft_status weft__hpcc_flows_next(struct weft__hpcc_flows *flows, struct weft__file_flow *ret_flow, bool *ret_more,
                                       struct weft_error *ret_error);

#endif
