// SPDX-License-Identifier: Apache-2.0
// Allocation in steps, an option (tin.allocation_step). The first cell of a FIFO must take the virtual channel that it
// will have at its output, if no other cell has it, before it may request the output; it returns the channel when it
// starts to cross. Channels are allocated at each step of a clock, and so are outputs, to cells that already had their
// channel. So a channel of an output is closed for at least two steps per cell, and for longer while the cell that has
// it waits for its input or its output: other cells for that output and channel cannot even request it. Outputs are
// allocated once per step: each input requests one, in turn, and each output takes one input, in turn; inputs that were
// not taken wait for the next step.
//
// This is BookSim 2's default router, with VC and switch allocators separable_input_first (src/routers/iq_router.cpp:
// _VCAllocUpdate takes the channel, _SWAllocUpdate returns it). Its `speculative = 1` does both in one step, and then
// performs like cells here without the option.
#include "box/tin/gnet_switch.h"

enum { INPUTS = WEFT__GNET_PORTS * WEFT_GNET_VCS };

struct weft__gnet_channels {
    weft_time_ps step_ps, last_ps;                  ///< last_ps: time of the last step, plus one ps; 0: there was none
    uint32_t taken[WEFT__GNET_PORTS];               ///< VCs in use at an output
    uint16_t turn[WEFT__GNET_PORTS][WEFT_GNET_VCS]; ///< per VC of an output: the input VC after the one that had it
                                                    ///< last
    uint32_t won_n;
    struct {
        uint8_t in;
        uint16_t queue;
    } won[INPUTS];
};

struct weft__gnet_channels *weft__gnet_channels_new(weft_time_ps step, struct weft_arena *arena) {
    struct weft__gnet_channels *c = weft_arena_alloc(arena, 1, sizeof *c);
    c->step_ps = step;
    return c;
}

void weft__gnet_channel_ask(struct weft__node *node, struct weft__gnet *g, weft_time_ps now) {
    const struct weft__gnet_channels *c = g->channels;
    weft_time_ps from = now < c->last_ps ? c->last_ps : now;
    weft__timer_set(&node->timers, g->key0 + 1, (from + c->step_ps - 1) / c->step_ps * c->step_ps);
}

void weft__gnet_channel_give(struct weft__gnet *g, uint32_t o, uint32_t vc) {
    g->channels->taken[o] &= ~(1u << vc);
}

/// Finds, among the input VCs that wait for a channel, the next in turn, and gives it the channel.
static void offer_channel(struct weft__gnet *g, uint32_t o, uint32_t vc, uint64_t inputs) {
    struct weft__gnet_channels *c = g->channels;
    uint32_t least = INPUTS, next = 0;
    for (; inputs; inputs &= inputs - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(inputs);
        for (uint32_t q = g->in[i].queue; q; q = g->queues.queue[q].next) {
            const struct weft__gnet_queue *queue = &g->queues.queue[q];
            uint32_t own = i * WEFT_GNET_VCS + queue->vc, distance = (own + INPUTS - c->turn[o][vc]) % INPUTS;
            if (queue->out != (o | WEFT__GNET_NO_CHANNEL) || queue->out_vc != vc || distance >= least) continue;
            least = distance;
            next = (own + 1) % INPUTS;
            c->won[c->won_n].in = (uint8_t)i;
            c->won[c->won_n].queue = (uint16_t)q;
        }
    }
    if (least == INPUTS) return;
    c->turn[o][vc] = (uint16_t)next;
    c->won_n++;
}

void weft__gnet_channel_find(struct weft__gnet *g) {
    struct weft__gnet_channels *c = g->channels;
    uint64_t inputs = 0, outputs = 0;
    uint32_t asked[WEFT__GNET_PORTS];
    for (uint64_t left = g->links | g->endpoints; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(left);
        for (uint32_t q = g->in[i].queue; q; q = g->queues.queue[q].next) {
            const struct weft__gnet_queue *queue = &g->queues.queue[q];
            uint32_t o = queue->out % WEFT__GNET_PORTS;
            if (!(queue->out & WEFT__GNET_NO_CHANNEL)) continue;
            asked[o] = outputs & weft__gnet_bit(o) ? asked[o] | 1u << queue->out_vc : 1u << queue->out_vc;
            outputs |= weft__gnet_bit(o);
            inputs |= weft__gnet_bit(i);
        }
    }
    c->won_n = 0;
    for (; outputs; outputs &= outputs - 1) {
        uint32_t o = (uint32_t)__builtin_ctzll(outputs);
        for (uint32_t vcs = asked[o] & ~c->taken[o]; vcs; vcs &= vcs - 1)
            offer_channel(g, o, (uint32_t)__builtin_ctz(vcs), inputs);
    }
}

void weft__gnet_channel_take(struct weft__node *node, struct weft__gnet *g, weft_time_ps now) {
    struct weft__gnet_channels *c = g->channels;
    for (uint32_t k = 0; k < c->won_n; k++) {
        struct weft__gnet_queue *queue = &g->queues.queue[c->won[k].queue];
        queue->out %= WEFT__GNET_PORTS;
        c->taken[queue->out] |= 1u << queue->out_vc;
        g->out[queue->out].requests |= weft__gnet_bit(c->won[k].in);
        g->wanted |= weft__gnet_bit(queue->out);
    }
    c->last_ps = now + 1;
    for (uint64_t left = g->links | g->endpoints; left; left &= left - 1)
        if (g->in[__builtin_ctzll(left)].waiting) {
            weft__gnet_channel_ask(node, g, now);
            return;
        }
}
