// SPDX-License-Identifier: Apache-2.0
// Many hosts send to one at the same time.
#include <inttypes.h>
#include <string.h>

#include "generator.h"
#include "weft/param.h"

struct incast_conf {
    struct weft_workload_common common;
    const char *sources, *dst;
};
static const struct weft_param_table incast_params = WEFT_PARAM_TABLE_OF(
    "incast", struct incast_conf, WEFT_PARAM_UNCHECKED, WEFT_WORKLOAD_ROWS(struct incast_conf),
    WEFT_TEXT(struct incast_conf, sources, "sources", NULL, "hosts that send; a pattern never includes dst"),
    WEFT_TEXT(struct incast_conf, dst, "dst", NULL, "the one host that receives"));

static enum weft_status incast_expand(const void *conf, struct weft_place place, const struct weft_topology *topology,
                                      uint64_t seed, uint32_t entry, struct weft_workload *w,
                                      struct weft_error *ret_error) {
    (void)seed, (void)entry;
    const struct incast_conf *c = conf;
    uint32_t *src, *dst, n_src, n_dst;
    enum weft_status status = weft_topology_select_hosts(topology, c->sources, place, &src, &n_src, ret_error);
    if (!status) status = weft_topology_select_hosts(topology, c->dst, place, &dst, &n_dst, ret_error);
    if (status) return status;
    if (n_dst != 1)
        return WEFT_REFUSE(ret_error, place, "dst '%s' is %" PRIu32 " hosts; expected exactly one", c->dst, n_dst);
    if (n_src == 1 && src[0] == dst[0])
        return WEFT_REFUSE(ret_error, place, "sources '%s' has no host but dst; expected other hosts", c->sources);
    bool pattern = strpbrk(c->sources, "*?["); // which may match dst as well
    for (uint32_t i = 0; i < n_src && !pattern; i++)
        if (src[i] == dst[0])
            return WEFT_REFUSE(ret_error, place,
                               "sources '%s' has dst '%s' among them, which does not send to itself; expected other "
                               "hosts, or a pattern such as \"*\"",
                               c->sources, c->dst);
    status = weft__workload_reserve(w, &c->common, place, n_src, ret_error);
    for (uint32_t i = 0; i < n_src && !status; i++)
        if (src[i] != dst[0])
            status = weft_workload_add(w, &c->common, place, src[i], dst[0], c->common.size_bytes, c->common.start_ps,
                                       ret_error);
    return status;
}

const struct weft_model weft__workload_incast =
    WEFT_MODEL_OF(WORKLOAD, "incast", "many hosts send to one at the same time", "plain; nothing is drawn",
                  &incast_params, &(const struct weft_workload_ops){.expand = incast_expand});
