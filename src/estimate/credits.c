// SPDX-License-Identifier: Apache-2.0
// Data waits for credit in a queue at the entrance to a fabric, one for each port where data leaves. Of a queue that
// was idle the first data uses the credit that is left, if that is not too old; for the rest the queue asks, and credit
// comes a loop later, somewhat faster than the port sends, until the wait is made good. Data behind that waits no loop
// of its own.
#include "base/grow.h"
#include "estimate/fluid.h"

#include <math.h>

uint32_t weft__credits_add(struct weft__fluid *x, uint32_t node, uint32_t dst) {
    struct weft__credit_queue queue = {.last_ps = WEFT_TIME_NEVER};
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

/// Credits are whole, and those of a port come in turn: a little data takes as long there as a credit does.
void weft__credits_begin(struct weft__fluid *x, uint32_t qp, double wire) {
    if (x->way[qp].queue == WEFT_NONE) return;
    struct weft__credit_queue *q = &x->queue[x->way[qp].queue];
    x->drain[qp].cold = !q->pieces && (q->last_ps == WEFT_TIME_NEVER || x->now_ps >= q->last_ps);
    bool others = q->pieces++ > 0; // it shares their credits
    double credit = (double)q->conf.credit_bytes, whole = ceil(wire / credit) * credit / q->conf.speedup;
    weft__levels_weigh(&x->levels, qp, exit_of(x, qp), whole > wire && !others ? (float)(whole / wire) : 1);
}

/// The rate that the port where it leaves would give it: that of its credits.
static double port_rate(const struct weft__fluid *x, uint32_t qp, double speedup) {
    const struct weft__level_link *port = &x->levels.link[x->levels.entry[exit_of(x, qp)].link];
    return fmin(port->level, port->capacity * speedup);
}

double weft__credits_wait(struct weft__fluid *x, uint32_t qp, double wire) {
    if (x->way[qp].queue == WEFT_NONE) return 0;
    struct weft__credit_queue *q = &x->queue[x->way[qp].queue];
    const struct weft__box_credit *c = &q->conf;
    const struct weft__drain *d = &x->drain[qp];
    bool fresh = q->last_ps != WEFT_TIME_NEVER && d->begun_ps <= q->last_ps + c->age_ps;
    double took = (double)(x->now_ps - d->begun_ps), left = fresh ? q->left : 0, rate = port_rate(x, qp, c->speedup);
    double wait = d->cold ? (double)c->loop_ps : q->wait_ps;
    if (!d->cold)
        wait += wire / rate - took;
    else if (wire > left)
        wait += (wire - left) / rate - took;
    else
        wait = 0;
    q->wait_ps = fmax(wait, 0);
    q->pieces--;
    q->last_ps = x->now_ps + (weft_time_ps)q->wait_ps;
    q->left = left - wire;
    if (q->left < (double)c->surplus_bytes) // it asks, and what comes until it is heard to be content is its own, too
        q->left = fmin((double)c->surplus_bytes + rate * (double)c->loop_ps, (double)c->balance_bytes);
    return q->wait_ps;
}
