// SPDX-License-Identifier: Apache-2.0
// Invariants of a cell switch: FIFOs and the slots of their cells, requests, credits, and the timers of ports.
#include "base/check.h"
#include "box/tin/gnet_switch.h"

/// What the FIFOs of a TiN hold in all.
struct kept {
    uint32_t cells, queues;
};

/// What the FIFO of a VC holds.
struct content {
    uint32_t cells, units, bytes;
};

static struct content add_up(const struct weft__gnet *g, const struct weft__gnet_queue *queue) {
    struct content content = {0};
    for (uint32_t slot = queue->head; slot && content.cells <= g->cells.spare.words * 64;) {
        uint32_t wire = weft__gnet_wire(&g->cells.slot[slot]);
        content.cells++;
        content.units += weft__gnet_units(wire);
        content.bytes += wire;
        slot = g->cells.slot[slot].node;
    }
    return content;
}

/// The FIFOs of an input. *ret_wants: the outputs that their first cells request.
static void check_input(const struct weft__gnet *g, uint32_t i, struct kept *kept, uint64_t *ret_wants,
                        struct weft__check *c) {
    const struct weft__gnet_in *in = &g->in[i];
    bool is_link = in->rate != WEFT__GNET_NO_LINK;
    uint32_t waiting = 0;
    *ret_wants = 0;
    for (uint32_t q = in->queue; q && kept->queues <= g->queues.spare.words * 64; q = g->queues.queue[q].next) {
        const struct weft__gnet_queue *queue = &g->queues.queue[q];
        struct content content = add_up(g, queue);
        kept->queues++;
        kept->cells += content.cells;
        weft__check_at_most(c, "whether a FIFO in the input's list is empty", !content.cells, "no", 0);
        weft__check_equal(c, "credit units in an input's FIFO", queue->units, "units of its cells",
                          content.units & UINT16_MAX);
        if (is_link)
            weft__check_at_most(c, "credit units in an input's FIFO", content.units, "its size",
                                g->depth[WEFT__GNET_FIFO_UNITS][i]);
        if (queue->out != WEFT__GNET_NO_OUT) waiting |= 1u << queue->vc;
        if (queue->out < WEFT__GNET_PORTS) *ret_wants |= UINT64_C(1) << queue->out;
    }
    weft__check_equal(c, "VCs of the input marked as waiting", in->waiting, "VCs whose first cell requests an output",
                      waiting);
    for (uint32_t vc = 0; vc < WEFT_GNET_VCS && is_link; vc++)
        weft__check_at_most(c, "credit units owed for a VC", in->owed[vc], "those that are not yet returned",
                            in->batch_units - 1u);
}

/// Credits for the FIFOs at the far end of an output.
static void check_credits(const struct weft__gnet *g, uint32_t o, struct weft__check *c) {
    const struct weft__gnet_out *out = &g->out[o];
    int32_t granted = g->port[o].credits / WEFT_GNET_VCS;
    for (uint32_t vc = 0; vc < WEFT_GNET_VCS; vc++) {
        bool is_idle = out->credits[vc] == granted && out->creditable >> vc & 1 && !g->port[o].starved_ps[vc];
        if (is_idle && granted >= weft__gnet_lump_units(g)) continue; // nothing below can be broken
        weft__check_at_most(c, "whether the credit of a VC is negative", out->credits[vc] < 0, "no", 0);
        if (out->credits[vc] > 0)
            weft__check_at_most(c, "credit of a VC, units", (uint64_t)out->credits[vc], "the far FIFO",
                                (uint64_t)granted);
        weft__check_equal(c, "the mark that a VC has credit for a cell", out->creditable >> vc & 1,
                          "whether its credit covers one", out->credits[vc] >= weft__gnet_lump_units(g));
        weft__check_at_most(c, "whether a VC counts as starved", g->port[o].starved_ps[vc] > 0,
                            "whether it has cells and no credit", out->queued & ~out->creditable & 1u << vc);
    }
}

/// The FIFOs of an output to a link.
static void check_output(const struct weft__gnet *g, uint32_t o, struct kept *kept, struct weft__check *c) {
    const struct weft__gnet_out *out = &g->out[o];
    uint32_t bytes[WEFT_GNET_VCS] = {0}, queued = 0;
    for (uint32_t q = out->queue; q && kept->queues <= g->queues.spare.words * 64; q = g->queues.queue[q].next) {
        const struct weft__gnet_queue *queue = &g->queues.queue[q];
        struct content content = add_up(g, queue);
        kept->queues++;
        kept->cells += content.cells;
        bytes[queue->vc] = content.bytes;
        queued |= 1u << queue->vc;
    }
    weft__check_equal(c, "VCs of the output marked as queued", out->queued, "VCs with a FIFO", queued);
    for (uint32_t vc = 0; vc < WEFT_GNET_VCS; vc++) {
        if (!bytes[vc] && !g->depth[vc][o] && out->room >> vc & 1 && g->lump <= g->conf->output_bytes) continue;
        weft__check_equal(c, "bytes of a VC at the output", g->depth[vc][o], "bytes of its cells", bytes[vc]);
        weft__check_equal(c, "the mark that a VC has room at the output", out->room >> vc & 1, "whether a cell fits",
                          (weft_bytes)bytes[vc] + g->lump <= g->conf->output_bytes);
    }
    check_credits(g, o, c);
    weft__check_at_most(c, "whether a VC with cells and credit waits", (out->queued & out->creditable) != 0,
                        "whether the output's timer is set", g->sending_armed >> o & 1);
}

static uint32_t count_free(const struct weft__gnet_free *numbers) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < numbers->words; i++)
        n += (uint32_t)__builtin_popcountll(numbers->word[i]);
    return n;
}

/// Timers of ports, and that of cells which endpoints have sent.
static void check_due(const struct weft__gnet *g, struct weft__check *c) {
    const struct weft__gnet_due *due = &g->due;
    uint32_t armed = (uint32_t)(__builtin_popcountll(g->crossing_armed) + __builtin_popcountll(g->sending_armed));
    weft__check_equal(c, "timers of ports in the row", due->end - due->first, "ports with a timer",
                      armed + (g->coming.n > 0));
    for (uint32_t k = due->first; k + 1 < due->end; k++)
        weft__check_at_most(c, "time and key of a timer", due->word[k], "those of the next", due->word[k + 1]);
}

void weft__gnet_check(const struct weft__gnet *g, struct weft__check *c) {
    struct kept kept = {0};
    uint64_t requests[WEFT__GNET_PORTS] = {0}, wanted = 0, wants;
    for (uint64_t left = g->links | g->endpoints; left; left &= left - 1) {
        uint32_t port = (uint32_t)__builtin_ctzll(left);
        weft__check_at(c, port, WEFT_NONE);
        check_input(g, port, &kept, &wants, c);
        for (; wants; wants &= wants - 1)
            requests[__builtin_ctzll(wants)] |= UINT64_C(1) << port;
        if (g->links >> port & 1) check_output(g, port, &kept, c);
    }
    for (uint64_t left = g->links | g->endpoints; left; left &= left - 1) {
        uint32_t o = (uint32_t)__builtin_ctzll(left);
        weft__check_at(c, o, WEFT_NONE);
        weft__check_equal(c, "inputs that request the output", g->out[o].requests, "inputs with such a cell",
                          requests[o]);
        wanted |= (uint64_t)(requests[o] != 0) << o;
    }
    weft__check_at(c, WEFT_NONE, WEFT_NONE);
    weft__check_equal(c, "outputs marked as requested", g->wanted, "outputs with requests", wanted);
    weft__check_equal(c, "slots of cells that are neither free nor reserved",
                      g->cells.spare.words * 64 - 1 - count_free(&g->cells.spare), "cells in FIFOs", kept.cells);
    weft__check_equal(c, "records of FIFOs that are neither free nor reserved",
                      g->queues.spare.words * 64 - 1 - count_free(&g->queues.spare), "FIFOs with cells", kept.queues);
    check_due(g, c);
}
