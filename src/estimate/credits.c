// SPDX-License-Identifier: Apache-2.0
// Data waits for credit in a queue at the entrance to a fabric, one for each port where data leaves. What a queue has
// in credit, less the data that waits, is its surplus: it falls with the data that comes and, while the port grants
// credit, grows at the rate of that. Below a threshold the queue asks, and above it says that it is content; either
// takes effect a loop later. Credit of a queue without data is given up with age. Acknowledgements and clear-to-sends
// wait in queues of their own direction, as little data does.
#include <math.h>

#include "base/grow.h"
#include "estimate/fluid.h"

uint32_t weft__credits_add(struct weft__fluid *x, uint32_t node, uint32_t dst) {
    const struct weft_topology *t = x->net.topology;
    weft_rate_bps rate_bps = t->link[weft_topology_port(t, t->host[dst], 0)->link].rate_bps;
    struct weft__credit_queue queue = {.line = (double)rate_bps / 8 / (double)WEFT_PS_PER_S};
    weft__box_of(&x->net.topology->node[node])->credit(&x->forwarding, node, dst, &queue.conf);
    WEFT__ADD_DOUBLE(WEFT_MEMORY_QP, x->queue, x->queues, x->queues_room, 64) = queue;
    return x->queues - 1;
}

/// The entry of the link where it leaves the network: the last but loads.
static uint32_t exit_of(const struct weft__fluid *x, uint32_t qp) {
    uint32_t e = x->levels.flow[qp].first + x->levels.flow[qp].entries - 1;
    while (x->levels.entry[e].weight < 0)
        e--;
    return e;
}

/// The rate that the port where it leaves would give the queue: that of its credits, a share for each of its pieces,
/// those included that have drained at this very time.
static double port_rate(const struct weft__fluid *x, uint32_t qp) {
    const struct weft__credit_queue *q = &x->queue[x->way[qp].queue];
    const struct weft__level_link *port = &x->levels.link[x->levels.entry[exit_of(x, qp)].link];
    uint32_t pieces = q->pieces + (q->drained_ps == x->now_ps ? q->drained : 0);
    return fmin(port->level * (pieces ? pieces : 1), port->capacity * q->conf.speedup);
}

static void note_state(struct weft__credit_queue *q, bool asks) {
    q->asks = asks;
    q->turn[q->turns++] = (struct weft__credit_turn){q->at_ps + (double)q->conf.loop_ps, asks};
}

/// What has happened until now, with data coming at one rate.
static void go_on(struct weft__credit_queue *q, double now, double rate) {
    double threshold = (double)q->conf.surplus_bytes;
    while (q->at_ps < now) {
        bool says = q->turns < WEFT__CREDIT_TURNS; // else what it said before has not been heard for long
        if (says && !q->asks && q->surplus < threshold && q->inflow > 0) note_state(q, true);
        double slope = (q->granted ? rate : 0) - q->inflow, until = q->turns ? fmin(now, q->turn[0].at_ps) : now;
        double crossing = slope != 0 ? q->at_ps + (threshold - q->surplus) / slope : now;
        bool crosses = q->asks ? slope > 0 && q->surplus < threshold : slope < 0 && q->surplus >= threshold;
        crosses &= q->turns < WEFT__CREDIT_TURNS;
        if (crosses && crossing < until) until = crossing;
        q->surplus = fmin(q->surplus + slope * (until - q->at_ps), (double)q->conf.balance_bytes);
        q->at_ps = until;
        if (crosses && crossing <= until) {
            q->surplus = threshold;
            note_state(q, !q->asks);
        }
        if (!q->turns || q->turn[0].at_ps > until) continue;
        q->granted = q->turn[0].granted;
        for (uint32_t k = 1; k < q->turns; k++)
            q->turn[k - 1] = q->turn[k];
        q->turns--;
    }
    if (q->inflow > 0) q->active_ps = fmax(q->active_ps, now);
    if (q->inflow > 0 || q->surplus < 0 || now <= q->active_ps + (double)q->conf.age_ps) return;
    *q = (struct weft__credit_queue){
        .conf = q->conf, .at_ps = q->at_ps, .active_ps = q->active_ps, .line = q->line, .pieces = q->pieces};
}

void weft__credits_flow(struct weft__fluid *x, uint32_t qp, double more) {
    if (x->way[qp].queue == WEFT_NONE) return;
    struct weft__credit_queue *q = &x->queue[x->way[qp].queue];
    go_on(q, (double)x->now_ps, port_rate(x, qp));
    q->inflow = fmax(q->inflow + more, 0);
}

/// Credits are whole, and those of a port come in turn: a little data takes as long there as a credit does.
void weft__credits_begin(struct weft__fluid *x, uint32_t qp, double wire) {
    if (x->way[qp].queue == WEFT_NONE) return;
    struct weft__credit_queue *q = &x->queue[x->way[qp].queue];
    bool others = q->pieces++ > 0; // it shares their credits
    double credit = (double)q->conf.credit_bytes, whole = ceil(wire / credit) * credit / q->conf.speedup;
    weft__levels_weigh(&x->levels, qp, exit_of(x, qp), whole > wire && !others ? (float)(whole / wire) : 1);
}

/// How long the last of what has come waits.
static double wait_of(struct weft__credit_queue *q, double now, double rate) {
    double wait = fmax(-q->surplus / rate, 0);
    for (uint32_t k = 0; k < q->turns && !q->granted && wait > 0; k++)
        if (q->turn[k].granted) {
            wait += q->turn[k].at_ps - now;
            break;
        }
    q->active_ps = fmax(q->active_ps, now + wait);
    return wait;
}

double weft__credits_wait(struct weft__fluid *x, uint32_t qp) {
    if (x->way[qp].queue == WEFT_NONE) return 0;
    weft__credits_flow(x, qp, 0);
    struct weft__credit_queue *q = &x->queue[x->way[qp].queue];
    double rate = port_rate(x, qp);
    q->drained = q->drained_ps == x->now_ps ? q->drained + 1 : 1;
    q->drained_ps = x->now_ps;
    q->pieces--;
    return wait_of(q, (double)x->now_ps, rate);
}

double weft__credits_control(struct weft__fluid *x, uint32_t qp, double first_ps) {
    if (x->way[qp].back == WEFT_NONE) return 0;
    struct weft__credit_queue *q = &x->queue[x->way[qp].back];
    double rate = q->line * q->conf.speedup, now = (double)x->now_ps, frame = WEFT_FRAME_ACK;
    go_on(q, first_ps, rate);
    if (!q->asks && q->surplus < (double)q->conf.surplus_bytes && q->turns < WEFT__CREDIT_TURNS) note_state(q, true);
    q->active_ps = fmax(q->active_ps, now);
    go_on(q, now, rate);
    q->surplus -= frame;
    return wait_of(q, now, rate);
}
