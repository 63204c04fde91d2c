// SPDX-License-Identifier: Apache-2.0
// One switch and its hosts: for studying a queue, a threshold or a scheduler in isolation.
#include <stdio.h>

#include "topology/builder.h"
#include "weft/param.h"

struct single_conf {
    uint64_t hosts;
    weft_rate_bps rate_bps;
    weft_time_ps delay_ps;
    double bit_error_rate;
};

#define T struct single_conf
static const struct weft_param_table single_params =
    WEFT_PARAM_TABLE_OF("single", T, .lists = weft__topology_lists,
                        WEFT_UINT(T, hosts, "hosts", "8", "2", "65535", "hosts; host i is at port i of switch-0"),
                        WEFT__COMMON_LINE_ROWS(T));

static enum weft_status single_build(const void *conf, const struct weft_tree *tree, struct weft_topology_builder *b,
                                     struct weft_error *ret_error) {
    const T *c = conf;
    WEFT_TRY(weft__topology_check_size(b, c->hosts + 1, c->hosts, ret_error));
    uint32_t sw = weft_topology_add_node(b, WEFT_NODE_SWITCH, "switch", 1, WEFT_NONE, "switch-0");
    for (uint64_t h = 0; h < c->hosts; h++) {
        char name[32];
        snprintf(name, sizeof name, "host-%llu", (unsigned long long)h);
        uint32_t host = weft_topology_add_node(b, WEFT_NODE_HOST, "host", 0, WEFT_NONE, name);
        weft_topology_add_link(b, sw, host, c->rate_bps, c->delay_ps, c->bit_error_rate);
    }
    return WEFT_OK;
}

const struct weft_model weft__topology_single =
    WEFT_MODEL_OF(TOPOLOGY, "single", "one switch with all hosts", "none needed", &single_params,
                  &(const struct weft_topology_ops){.build = single_build});
