// SPDX-License-Identifier: Apache-2.0
// The rate at most of a queue pair that its own end sets, whatever the links allow: a window in flight, messages in a
// closed loop, the share of the line that a congestion control leaves unused.
#include <math.h>

#include "estimate/fluid.h"
#include "weft/cc.h"

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

double weft__bound_of(const struct weft__fluid *x, uint32_t number) {
    const struct weft_qp_conf *qp = &x->net.qp[number];
    const struct weft_flow *flow = &x->net.workload->flow[qp->flow];
    const struct weft_host_conf *host = weft__fluid_host(x, qp->src);
    const struct weft_topology *t = x->net.topology;
    double line =
        (double)t->link[weft_topology_port(t, t->host[qp->src], 0)->link].rate_bps / 8 / (double)WEFT_PS_PER_S;
    uint32_t framing = x->net.hosts.framing_bytes + (uint32_t)host->wire.overhead_bytes;
    uint32_t frame = weft__message_frame_bytes(qp->mtu, false, x->net.hosts.data_header_bytes) + framing;
    double ratio = (double)frame / qp->mtu, bound = 0;
    struct weft_cc_estimate cc = {.share = 1};
    double rtt = round_time(x, number, frame, frame, line);
    ((const struct weft_cc_ops *)host->cc.model->ops)
        ->estimate(host->cc.conf,
                   &(struct weft_cc_path){weft_time_of_real(rtt),
                                          weft_topology_port(t, t->host[qp->src], 0)
                                              ? t->link[weft_topology_port(t, t->host[qp->src], 0)->link].rate_bps
                                              : 0,
                                          qp->mtu},
                   &cc);
    if (cc.share < 1) bound = line * cc.share;
    if (host->window_bytes) bound = smaller_bound((double)host->window_bytes * ratio / rtt, bound);
    if (cc.window_bytes) bound = smaller_bound((double)cc.window_bytes * ratio / rtt, bound);
    if (!flow->depth) return bound;
    double message = (double)flow->message_bytes * ratio;
    double loop = (double)flow->depth * message / round_time(x, number, message, frame, line);
    return smaller_bound(loop, bound);
}
