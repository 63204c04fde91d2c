// SPDX-License-Identifier: Apache-2.0
// The rate at most of a queue pair that its own end sets, whatever the links allow: a window in flight, the share of
// the line that a congestion control leaves unused.

#include <math.h>

#include "box/network.h"
#include "estimate/fluid.h"
#include "weft/cc.h"
#include "weft/transport.h"

/// From the first bit of a message to the notice of its acknowledgement, alone.
static double round_time(const struct weft__fluid *x, uint32_t qp, double wire, uint32_t last, double line) {
    const struct weft__way *way = &x->way[qp];
    const struct weft_host_conf *host = weft__fluid_host(x, x->net.qp[qp].src);
    struct weft__poster idle = {0};
    double post = (double)weft__poster_take(&idle, host, 0, x->net.qp[qp].mtu);
    return post + wire / line + way->base_ps + way->byte_ps * last + way->control_ps +
           (double)weft__notice_latency(host, true);
}

static double smaller_bound(double a, double b) {
    return a > 0 && (b <= 0 || a < b) ? a : b;
}

/// The rate that a window allows: whole packets in flight. It moves on when an acknowledgement is back. One stands for
/// several packets and leaves with the last of them, so the first packet waits for the others.
static double window_bound(const struct weft_host_conf *host, weft_bytes window, uint32_t mtu, double frame,
                           double line, double rtt) {
    const struct weft_transport_ops *ops = host->transport.model->ops;
    weft_bytes acked = ops->ack_payload ? ops->ack_payload(host->transport.conf) : mtu;
    double later = ceil((double)(acked < window ? acked : window) / mtu) - 1;
    return (double)window / mtu * frame / (rtt + later * frame / line);
}

double weft__bound_of(const struct weft__fluid *x, uint32_t number) {
    const struct weft_qp_conf *qp = &x->net.qp[number];
    const struct weft_host_conf *host = weft__fluid_host(x, qp->src);
    const struct weft_topology *t = x->net.topology;
    weft_rate_bps rate_bps = t->link[weft_topology_port(t, t->host[qp->src], 0)->link].rate_bps;
    double line = (double)rate_bps / 8 / (double)WEFT_PS_PER_S;
    uint32_t frame = weft__fluid_frame(x, number);
    double ratio = (double)frame / qp->mtu, bound = 0;
    struct weft_cc_estimate cc = {.share = 1};
    double rtt = round_time(x, number, frame, frame, line);
    uint32_t lines = host->planes == WEFT_PLANES_PACKET ? weft__planes(t, x->net.device) : 1;
    line *= lines;
    rate_bps *= lines;
    const struct weft_cc_path path = {weft_time_of_real(rtt), rate_bps, qp->mtu};
    ((const struct weft_cc_ops *)host->cc.model->ops)->estimate(host->cc.conf, &path, &cc);
    x->way[number].lines = lines;
    x->way[number].rtt_ps = (float)rtt;
    x->way[number].window = (float)((double)cc.first_bytes * ratio);
    x->way[number].step = (float)((double)cc.step_bytes * ratio);
    x->way[number].by_nic = cc.by_nic && x->way[number].queue == WEFT_NONE; // credit is by queue, whoever sends
    if (cc.share < 1) bound = line * cc.share;
    if (host->window_bytes) bound = smaller_bound((double)host->window_bytes * ratio / rtt, bound);
    if (cc.window_bytes) bound = smaller_bound(window_bound(host, cc.window_bytes, qp->mtu, frame, line, rtt), bound);
    return bound;
}

/// The window is W after `acked` bytes: dW = step / W for each, so W^2 = first^2 + 2 step acked; and the rate is W a
/// round trip, until that is more than the links give. What fits into the window needs no acknowledgement.
double weft__bound_wait(struct weft__fluid *x, uint32_t qp, double wire) {
    const struct weft__way *way = &x->way[qp];
    struct weft__drain *d = &x->drain[qp];
    double first = (double)way->window, step = (double)way->step, rtt = (double)way->rtt_ps;
    double took = (double)(x->now_ps - d->begun_ps), window = sqrt(first * first + 2 * step * d->acked);
    if (step <= 0 || took <= 0) return 0;
    double enough = wire / took * rtt, until_enough = (enough * enough - window * window) / (2 * step);
    double late = d->ended_ps > d->begun_ps ? (double)(d->ended_ps - d->begun_ps) : 0;  // those before it were
    double since = d->ended_ps ? ((double)d->begun_ps - (double)d->ended_ps) / rtt : 1; // what they sent is in flight
    double grows = fmin(wire - window * fmax(fmin(since, 1), 0), until_enough);
    d->acked += fmax(fmin(wire, until_enough), 0);
    if (grows > 0) late += rtt / step * (sqrt(window * window + 2 * step * grows) - window) - grows / wire * took;
    d->ended_ps = x->now_ps + weft_time_of_real(late);
    return late;
}
