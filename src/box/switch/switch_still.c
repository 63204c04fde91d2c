// SPDX-License-Identifier: Apache-2.0
// Everything that determines a switch's future while nothing is in flight (link/still.h). All empty buffers are equal:
// buffer models count only what they hold, and maxima, which matter only for results.
#include "box/box.h"
#include "box/switch/switch.h"

static const char *why_refused(const struct weft__switch *sw) {
    if (sw->route_state) return "a route model that keeps a state: of flowlets, or of loads";
    if (sw->arbitrated) return "switches with queues at inputs";
    if (sw->sfc_watch_bytes != UINT64_MAX) return "source flow control";
    if (sw->te) return "traffic engineering";
    for (uint32_t k = 0; k < sw->ports; k++)
        if (sw->port[k].credit) return "credit-based flow control of links";
    return NULL;
}

const char *weft__switch_still(const struct weft__network *net, uint32_t node, struct weft__still *ret) {
    const struct weft__switch *sw = weft__network_state(net, node);
    const struct weft__timers *timers = &net->engine.node[node].timers;
    const char *refused = why_refused(sw);
    if (refused) return refused;
    for (uint32_t k = 0; k < sw->ports; k++) {
        weft__port_still(&sw->port[k], ret);
        for (uint32_t p = 0; p < WEFT_PRIORITIES; p++)
            weft__still_mix(ret, sw->buffer->level(sw->buffer_state, sw->conf->buffer.conf, k, p));
    }
    weft__still_mix_random(ret, &sw->ether.ecn_random);
    weft__still_mix(ret, sw->epochs_left);
    for (uint32_t key = 0; key < timers->keys; key++)
        if (weft__timer_at(timers, key) != WEFT_TIME_NEVER) {
            weft__still_mix(ret, key);
            weft__still_mix_since(ret, weft__timer_at(timers, key));
        }
    return NULL;
}
