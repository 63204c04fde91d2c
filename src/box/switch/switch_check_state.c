// SPDX-License-Identifier: Apache-2.0
// Invariants of a switch: its ports and buffer, and in an input-queued switch the counts that the arbiter relies on.
#include "base/bits.h"
#include "box/box.h"
#include "box/switch/switch.h"
#include "link/port_check.h"
#include "weft/memory.h"

struct counted {
    struct weft__held held;
    uint32_t *from, *to; ///< [ports]: waiting packets by input, and by output
    weft_bytes *bytes;   ///< [ports]: by output, of priorities that the record counts
    const struct weft__switch *of;
};

static void count_waiting(void *context, const struct weft_packet *p, uint32_t out) {
    struct counted *counted = context;
    weft__held_waiting(&counted->held, p, out);
    counted->from[p->port]++;
    counted->to[out]++;
    if (counted->of->brought[p->priority] && !weft_packet_is_local(p)) counted->bytes[out] += p->bytes;
}

/// The counts of packets that wait at inputs, and the sets of ports that follow from them.
static void check_arbitration(const struct weft__switch *sw, const struct counted *counted, struct weft__check *c) {
    for (uint32_t k = 0; k < sw->ports; k++) {
        weft__check_at(c, k, WEFT_NONE);
        weft__check_equal(c, "packets counted at the input", sw->queued[k], "packets that wait there",
                          counted->from[k]);
        weft__check_equal(c, "packets counted for the output", sw->port[k].waiting, "packets that wait for it",
                          counted->to[k]);
        weft__check_at_most(c, "whether packets wait for the output", counted->to[k] > 0,
                            "its mark among outputs with packets", weft__bits_has(sw->waiting, k));
        weft__check_equal(c, "whether some input has a head for the output",
                          sw->queueing->ready(sw->queueing_state, k) != 0 && !counted->to[k], "without any packet", 0);
    }
}

/// What the record counts by input and output.
static void check_brought(const struct weft__switch *sw, const struct counted *counted, struct weft__check *c) {
    for (uint32_t out = 0; out < sw->ports; out++) {
        uint64_t bytes = 0;
        for (uint32_t p = 0; p < WEFT_PRIORITIES; p++)
            for (uint32_t in = 0; sw->brought[p] && in < sw->ports; in++)
                bytes += weft__switch_brought(sw, p, in)[out];
        weft__check_at(c, out, WEFT_NONE);
        weft__check_equal(c, "bytes counted by input", bytes, "those of packets that wait", counted->bytes[out]);
    }
}

/// A frame that is kept back until it is complete has a timer, and nothing else has it.
static void check_kept_back(const struct weft__switch *sw, const struct weft__timers *timers, struct weft__check *c) {
    for (uint32_t k = 0; sw->deferred && k < sw->ports; k++) {
        const struct weft_packet *kept = &sw->deferred[k];
        weft__check_at(c, k, WEFT_NONE);
        weft__check_equal(c, "time at which the frame kept back is complete, ps",
                          kept->bytes ? kept->time_ps : WEFT_TIME_NEVER, "its timer",
                          weft__timer_at(timers, weft__ether_key(WEFT__SWITCH_KEY_DEFERRED, k)));
    }
}

void weft__switch_check_state(const struct weft__network *net, uint32_t node, weft_time_ps until,
                              struct weft__check *c) {
    const struct weft__switch *sw = net->engine.node[node].state;
    struct counted counted = {.of = sw};
    weft__held_init(&counted.held, &sw->ether);
    counted.from = weft_memory_new(WEFT_MEMORY_SWITCH, sw->ports, sizeof *counted.from);
    counted.to = weft_memory_new(WEFT_MEMORY_SWITCH, sw->ports, sizeof *counted.to);
    counted.bytes = weft_memory_new(WEFT_MEMORY_SWITCH, sw->ports, sizeof *counted.bytes);
    weft__switch_each(sw, count_waiting, &counted);
    weft__ether_check(&sw->ether, &net->engine.node[node].timers, net->topology->node[node].port0, !sw->arbitrated,
                      until, &counted.held, c);
    if (sw->arbitrated) check_arbitration(sw, &counted, c);
    check_brought(sw, &counted, c);
    check_kept_back(sw, &net->engine.node[node].timers, c);
    weft_memory_free(WEFT_MEMORY_SWITCH, counted.from, sw->ports * sizeof *counted.from);
    weft_memory_free(WEFT_MEMORY_SWITCH, counted.to, sw->ports * sizeof *counted.to);
    weft_memory_free(WEFT_MEMORY_SWITCH, counted.bytes, sw->ports * sizeof *counted.bytes);
    weft__held_deinit(&counted.held);
}
