// SPDX-License-Identifier: Apache-2.0
// Each box has an oscillator that is off by a constant part, so that its ports send a little faster or slower than
// their rate says. Without that, equal senders stay in step for ever, and one of two may win every place in a full
// queue (Floyd and Jacobson, "On traffic phase effects in packet-switched gateways", 1992).
//
// Source: IEEE 802.3 allows 100 ppm either way. One measured link drains 50 ppm below its rate (simllm, measurements of
// a ConnectX-5 pair). Assumed: the law, normal with a deviation of 20 ppm and cut at the bound, and that it is constant
// over a run. Temperature and the noise of PLLs are not modelled.
// What goes by this clock: bits of Ethernet frames, and of cells in a DSF. What does not: timers, the pace that
// congestion control sets (both repeat seldom, or change), links of a Clique (whose times are whole picoseconds per
// cell) and memory.
#include "box/clock.h"

static const double deviation_ppm = 20;

double weft__clock_bound_ppm(const struct weft_device_conf *device, const struct weft_node_info *node) {
    return node->role == WEFT_NODE_HOST ? device->host.clock_ppm : device->sw.clock_ppm;
}

struct weft__speed weft__clock_speed(const struct weft_topology *t, const struct weft_device_conf *const *device,
                                     uint64_t seed, uint32_t port) {
    weft_rate_bps rate = t->link[t->port[port].link].rate_bps;
    uint32_t node = weft__actor(t, device, t->port[port].node);
    double bound = weft__clock_bound_ppm(device[node], &t->node[node]);
    if (bound <= 0) return weft__speed_of(rate);
    struct weft_random random = weft_random_stream(weft_random_seed_of(seed, t->node[node].name), 0, WEFT_RANDOM_CLOCK);
    return weft__speed_by_clock(rate, deviation_ppm * weft_random_normal(&random, bound / deviation_ppm));
}

weft_time_ps weft__clock_slack(const struct weft_device_conf *device, const struct weft_node_info *node,
                               weft_time_ps time) {
    double bound = weft__clock_bound_ppm(device, node);
    return bound > 0 ? (weft_time_ps)((double)time * bound * 1e-6) + 1 : 0;
}
