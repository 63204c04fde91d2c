// SPDX-License-Identifier: Apache-2.0
// Senders that draw a way for each packet load ports unevenly: a fluid is without the queues of that. Of k lines at
// their full rate, each with a packet a turn, a port of m gets Binomial(k, 1/m) packets a turn. Its queue before a
// packet is then, in packets, rho (1 - 1/k) / (2 (1 - rho)) on average (P/D/1 with such batches: Kleinrock, "Queueing
// Systems I", 5.6), rho = k / m; and while it has not come to that, or never does, as a random walk that starts from
// nothing and is reflected there has it after n turns: sqrt(2 n rho (1 - 1/m) / pi). Marks and what a sender knows of
// its ways after a round trip end the walk.
#include <math.h>

#include "estimate/fluid.h"

/// What flows over a link now, of its capacity; known until rates change again.
static double part_of(struct weft__fluid *x, struct weft__level_link *link) {
    if (link->used_at == x->settlings) return link->used;
    double rate = 0;
    link->used_by = 0;
    for (uint32_t i = 0; i < link->members; i++) {
        double weight = (double)x->levels.entry[link->member[i].entry].weight;
        if (weight > 0) rate += weight * x->levels.flow[link->member[i].flow].rate;
        link->used_by += weight > 0;
    }
    link->used_at = x->settlings;
    return link->used = fmin(rate / link->capacity, 1);
}

double weft__lines_wait(const struct weft__fluid *x, uint32_t qp, const struct weft__piece *piece) {
    double lines = (double)x->way[qp].lines, frame = piece->last + WEFT_WIRE_OVERHEAD;
    double line = x->levels.link[x->levels.entry[x->levels.flow[qp].first].link].capacity;
    double turns = ceil(ceil(piece->wire / frame - 1e-3) / lines), took = (double)(x->now_ps - x->drain[qp].begun_ps);
    return lines > 1 ? fmax(turns * lines * frame / line - took, 0) : 0;
}

double weft__draws_wait(struct weft__fluid *x, uint32_t qp, uint32_t last) {
    const struct weft__level_flow *f = &x->levels.flow[qp];
    const double line = x->levels.link[x->levels.entry[f->first].link].capacity;
    double took = fmin((double)(x->now_ps - x->drain[qp].begun_ps), (double)x->way[qp].rtt_ps), wait = 0;
    for (uint32_t e = f->first; e < f->first + f->entries; e++) {
        struct weft__level_link *link = &x->levels.link[x->levels.entry[e].link];
        if (!link->ports || x->levels.entry[e].weight < 0) continue;
        double turn = (last + WEFT_WIRE_OVERHEAD) * link->ports / link->capacity, part = part_of(x, link);
        double lines = fmax(part * link->capacity / line, 1);
        if (x->way[qp].lines == link->ports) lines = link->used_by; // a queue pair alone takes its NIC's lines in turn
        double walk = sqrt(2 * fmax(took / turn, 1) * part / M_PI);
        walk *= sqrt(1 - 1 / (double)link->ports) * (lines > 1);
        double settled = part < 1 ? part * (1 - 1 / lines) / (2 * (1 - part)) : walk;
        wait += turn * fmin(walk, settled);
    }
    return wait;
}
