// SPDX-License-Identifier: Apache-2.0
// Senders that draw a way for each packet load ports unevenly: a fluid is without the queues of that. Of k lines at
// their full rate, each with a packet a turn, a port of m gets Binomial(k, 1/m) packets a turn. Its queue before a
// packet is then, in packets, rho (1 - 1/k) / (2 (1 - rho)) on average (P/D/1 with such batches: Kleinrock, "Queueing
// Systems I", 5.6), rho = k / m; and while it has not come to that, or never does, as a random walk that starts from
// nothing and is reflected there has it after n turns: sqrt(2 n rho (1 - 1/m) / pi). Marks and what a sender knows of
// its ways after a round trip end the walk.
//
// A NIC with several lines (planes) gives each packet the line that is free first. So its own lines are even, and those
// of a receiver are not: no sender knows how full they are. Where a NIC sends by several queue pairs, a packet of one
// of them comes by any line; where it sends by one, packets come by all lines in turn.
#include <math.h>

#include "base/digest.h"
#include "estimate/fluid.h"

/// What flows over a link now, of its capacity; known until rates change again.
static double part_of(struct weft__fluid *x, struct weft__level_link *link) {
    if (link->used_at == x->settlings) return link->used;
    double rate = 0;
    uint32_t first = WEFT_NONE;
    link->used_by = 0;
    link->gathers = false;
    for (uint32_t i = 0; i < link->members; i++) {
        double weight = (double)x->levels.entry[link->member[i].entry].weight;
        const struct weft__level_flow *flow = &x->levels.flow[link->member[i].flow];
        if (weight <= 0) continue;
        rate += weight * flow->rate;
        uint32_t begins = x->levels.entry[flow->first].link;
        link->gathers |= link->used_by++ && begins != first;
        first = begins;
    }
    link->used_at = x->settlings;
    return link->used = fmin(rate / link->capacity, 1);
}

/// How much longer its packets take than at the rate of all lines of a NIC: each has one of them.
static double sender_wait(const struct weft__fluid *x, uint32_t qp, const struct weft__piece *piece) {
    double lines = (double)x->way[qp].lines, frame = piece->last + WEFT_WIRE_OVERHEAD;
    double line = x->levels.link[x->levels.entry[x->levels.flow[qp].first].link].capacity;
    double turns = ceil(ceil(piece->wire / frame - 1e-3) / lines), took = (double)(x->now_ps - x->drain[qp].begun_ps);
    return lines > 1 ? fmax(turns * lines * frame / line - took, 0) : 0;
}

/// From 0 to 1, another one for each number.
static double draw_of(uint64_t *number) {
    return ((double)(weft__digest_mix(0, ++*number) >> 11) + 0.5) * 0x1p-53;
}

/// How many of the packets come by each of so many lines.
static void draw_lines(double *ret_packets, uint32_t lines, double packets, uint64_t number) {
    enum { SINGLE = 32 }; // the sum of more is as good as normal
    double each = packets > SINGLE ? packets / lines : 0;
    for (uint32_t k = 0; k < lines; k++) {
        ret_packets[k] = each;
        if (each <= 0) continue;
        double normal = sqrt(-2 * log(draw_of(&number))) * cos(2 * M_PI * draw_of(&number));
        ret_packets[k] = fmax(each + sqrt(each * (1 - 1 / (double)lines)) * normal, 0);
    }
    for (double left = packets - each * lines; left > 0.5; left--)
        ret_packets[(uint32_t)(draw_of(&number) * lines)]++;
}

/// In turn, from one of them on, no line gets more than its part.
static void take_turns(double *ret_packets, uint32_t lines, double packets, uint32_t turn) {
    for (uint32_t k = 0; k < lines; k++)
        ret_packets[k] = packets >= lines || (k + lines - turn % lines) % lines < packets ? packets / lines : 0;
}

/// At a receiver with several lines: its packets have come when the last of these lines has them. What a line has got
/// beyond its part waits there, until the line has time for it.
static double receiver_wait(struct weft__fluid *x, uint32_t qp, const struct weft__piece *piece,
                            struct weft__level_link *link) {
    enum { LINES_MAX = 64 }; // a NIC has 32 at most
    double frame = piece->last + WEFT_WIRE_OVERHEAD, packets = ceil(piece->wire / frame - 1e-3), came[LINES_MAX];
    double took = piece->wire / packets / link->capacity, wait = 0, began = (double)x->drain[qp].begun_ps;
    double idle = (1 - part_of(x, link)) * (double)(x->now_ps - link->at_ps);
    struct weft__level_link *own = &x->levels.link[x->levels.entry[x->levels.flow[qp].first].link];
    const struct weft_qp_conf *conf = &x->net.qp[qp];
    uint32_t lines = link->ports < LINES_MAX ? link->ports : LINES_MAX;
    part_of(x, own);
    bool even = own->used_by < 2 || !link->gathers; // lines of one sender bring no more than those here take
    if (link->used_by < 2) idle = fmax(idle, began - (double)link->at_ps);
    link->at_ps = x->now_ps;
    if (even)
        take_turns(came, lines, packets, piece->psn_end - (uint32_t)packets);
    else
        draw_lines(came, lines, packets,
                   weft__digest_mix(weft__digest_mix(x->seed[conf->src], conf->at_src), piece->psn_end));
    for (uint32_t k = 0; k < lines; k++) {
        double queued = fmax(link->queued_ps[k] - idle, 0);
        if (came[k] > 0) wait = fmax(wait, queued + fmax((came[k] - 1) * lines - packets + 1, 0) * took);
        if (!even) queued = fmax(queued + (came[k] * lines - packets) * took, 0);
        link->queued_ps[k] = queued;
    }
    return wait;
}

double weft__draws_wait(struct weft__fluid *x, uint32_t qp, const struct weft__piece *piece) {
    const struct weft__level_flow *f = &x->levels.flow[qp];
    const double line = x->levels.link[x->levels.entry[f->first].link].capacity;
    double took = fmin((double)(x->now_ps - x->drain[qp].begun_ps), (double)x->way[qp].rtt_ps);
    double wait = sender_wait(x, qp, piece);
    for (uint32_t e = f->first; e < f->first + f->entries; e++) {
        struct weft__level_link *link = &x->levels.link[x->levels.entry[e].link];
        if (!link->ports || x->levels.entry[e].weight < 0) continue;
        if (x->way[qp].lines == link->ports) { // a port in each plane; at the NIC itself sender_wait has it
            if (e > f->first) wait += receiver_wait(x, qp, piece, link);
            continue;
        }
        double turn = (piece->last + WEFT_WIRE_OVERHEAD) * link->ports / link->capacity, part = part_of(x, link);
        double lines = fmax(part * link->capacity / line, 1);
        double walk = sqrt(2 * fmax(took / turn, 1) * part / M_PI);
        walk *= sqrt(1 - 1 / (double)link->ports) * (lines > 1);
        double settled = part < 1 ? part * (1 - 1 / lines) / (2 * (1 - part)) : walk;
        wait += turn * fmin(walk, settled);
    }
    return wait;
}
