// SPDX-License-Identifier: Apache-2.0
// Flows named one by one: the k-th host of `src` sends to the k-th host of `dst`.
#include <inttypes.h>

#include "generator.h"
#include "weft/param.h"

struct flow_conf {
    struct weft_workload_common common;
    const char *src, *dst, *path;
    uint64_t draw, source_port, destination_port;
};
static const struct weft_param_table flow_params = WEFT_PARAM_TABLE_OF(
    "flow", struct flow_conf, WEFT_PARAM_UNCHECKED, WEFT_WORKLOAD_ROWS(struct flow_conf),
    WEFT_TEXT(struct flow_conf, src, "src", NULL, "hosts that send; a single one sends to every host of dst"),
    WEFT_TEXT(struct flow_conf, dst, "dst", NULL,
              "hosts that receive, in pairs with src; a single one receives from every host of src"),
    WEFT_TEXT(struct flow_conf, path, "path", "",
              "switches on the data's path, in order: leaf-0 > spine-1 > leaf-2, or a list; leaf-0/5 names the egress "
              "port. Empty: as routed; also as routed while a link of the path is out of service"),
    WEFT_UINT(struct flow_conf, source_port, "source_port", "0", "0", "65535",
              "UDP source port of the first queue pair, the others count on from it: 49152 to 65535, or 1 to 16383 as "
              "other simulators number them; 0: host.source_port"),
    WEFT_UINT(struct flow_conf, destination_port, "destination_port", "0", "0", "65535",
              "UDP port that switch.route ecmp_murmur3 hashes; on the wire it is RoCEv2's. 0: the route model's"),
    WEFT_UINT(struct flow_conf, draw, "draw", "0", "0", "1000000", "number of pairs drawn by the seed; 0: all"));

static enum weft_status flow_expand(const void *conf, struct weft_place place, const struct weft_topology *topology,
                                    uint64_t seed, uint32_t entry, struct weft_workload *w,
                                    struct weft_error *ret_error) {
    const struct flow_conf *c = conf;
    uint32_t *src, *dst, n_src, n_dst;
    WEFT_TRY(weft_topology_select_hosts(topology, c->src, place, &src, &n_src, ret_error));
    WEFT_TRY(weft_topology_select_hosts(topology, c->dst, place, &dst, &n_dst, ret_error));
    if (n_src != n_dst && n_src != 1 && n_dst != 1)
        return WEFT_REFUSE(ret_error, place,
                           "src '%s' is %" PRIu32 " hosts and dst '%s' is %" PRIu32
                           "; expected as many, or a single src or dst",
                           c->src, n_src, c->dst, n_dst);
    if (c->source_port && !weft_source_port_is_good(c->source_port))
        return WEFT_REFUSE(ret_error, place, "source_port is %" PRIu64 "; expected 49152 to 65535, or 1 to 16383",
                           c->source_port);
    struct weft_workload_common common = c->common;
    common.source_port = (uint16_t)c->source_port;
    common.destination_port = (uint16_t)c->destination_port;
    uint32_t pairs = n_src > n_dst ? n_src : n_dst;
    if (c->draw > pairs)
        return WEFT_REFUSE(ret_error, place,
                           "draw is %" PRIu64 " of %" PRIu32 " pairs; expected no more than there are", c->draw, pairs);
    uint64_t wanted = c->draw ? c->draw : pairs;
    WEFT_TRY(weft__workload_reserve(w, &c->common, place, wanted, ret_error));
    struct weft_random random = weft__workload_stream(seed, entry, 0, WEFT_RANDOM_DRAW);
    // A pair is taken with probability "still needed" over "not yet seen" (Knuth, algorithm S).
    for (uint32_t i = 0; i < pairs && wanted; i++) {
        if (wanted < pairs - i && weft_random_below(&random, pairs - i) >= wanted) continue;
        wanted--;
        uint32_t from = src[n_src == 1 ? 0 : i], to = dst[n_dst == 1 ? 0 : i];
        WEFT_TRY(weft_workload_path(w, c->path, place, from, to, &common.path, ret_error));
        WEFT_TRY(weft_workload_add(w, &common, place, from, to, common.size_bytes, common.start_ps, ret_error));
    }
    return WEFT_OK;
}

static bool flow_draws(const void *conf) {
    return ((const struct flow_conf *)conf)->draw > 0;
}

const struct weft_model weft__workload_flow =
    WEFT_MODEL_OF(WORKLOAD, "flow", "flows between named hosts, pair by pair",
                  "plain; `draw` chooses among the pairs (selection sampling; Knuth, TAOCP 3.4.2, algorithm S)",
                  &flow_params, &(const struct weft_workload_ops){.expand = flow_expand, .draws = flow_draws});
