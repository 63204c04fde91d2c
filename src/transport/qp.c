// SPDX-License-Identifier: Apache-2.0
#include "transport/qp.h"

#include <math.h>

#include "weft/cc.h"
#include "weft/transport.h"

void weft__qp_count_packets(struct weft_qp_conf *qp, const struct weft_flow *flow) {
    qp->packets = flow->messages ? WEFT_QP_MESSAGES : (uint32_t)((qp->bytes + qp->mtu - 1) / qp->mtu);
    qp->plain = !flow->messages && !flow->depth && flow->verb != WEFT_VERB_READ;
    if (!flow->depth) return;
    if (flow->message_bytes < qp->mtu) qp->mtu = (uint16_t)flow->message_bytes; // no packet is longer
    qp->message_packets = flow->message_bytes / qp->mtu + (flow->message_bytes % qp->mtu != 0);
    qp->message_last = (uint16_t)(flow->message_bytes - (qp->message_packets - 1) * qp->mtu);
    qp->packets = (uint32_t)(qp->bytes / flow->message_bytes) * qp->message_packets;
}

weft_time_ps weft__request_time(const struct weft_host_conf *c, uint64_t seed, const struct weft_qp_conf *qp,
                                const struct weft_packet *request, weft_time_ps time) {
    enum { DRAWS_BITS = 16 }; // draws that one request may use
    const uint32_t receives = UINT32_C(1) << 31;
    if (!(c->jitter > 0 || c->stall_ps)) return time;
    uint32_t who = request->kind == WEFT_PACKET_DATA ? qp->at_src : qp->at_dst | receives;
    struct weft_random jitter = weft_random_stream(seed, who, WEFT_RANDOM_ISSUE);
    struct weft_random stall = weft_random_stream(seed, who, WEFT_RANDOM_STALL);
    jitter.drawn = stall.drawn = (uint64_t)request->psn << DRAWS_BITS;
    if (c->jitter > 0) {
        double median = (double)(c->send_latency_ps + c->receive_latency_ps);
        double more = weft_random_lognormal(&jitter, median, c->jitter) - median;
        weft_time_ps by = weft_time_of_real(fabs(more));
        time = more > 0 ? weft_time_plus(time, by) : time > by ? time - by : 0;
    }
    if (c->stall_ps && weft_random_unit(&stall) < c->stall_chance)
        time = weft_time_plus(time, weft_time_of_real(weft_random_exponential(&stall, (double)c->stall_ps)));
    return time;
}

weft_time_ps weft__request_issue(struct weft__poster *poster, const struct weft_host_conf *c, uint64_t seed,
                                 const struct weft_qp_conf *qp, const struct weft_packet *request) {
    if (!(c->jitter > 0 || c->stall_ps)) return request->time_ps;
    weft_time_ps time = weft__request_time(c, seed, qp, request, request->time_ps);
    if (time < poster->nic_free_ps) time = poster->nic_free_ps;
    if (poster->issued_ps < time) poster->issued_ps = time;
    return poster->issued_ps;
}

uint32_t weft__qp_frame_bytes(const struct weft_qp_conf *qp, uint32_t psn, uint32_t data_header_bytes) {
    if (__builtin_expect(data_header_bytes, 0)) return weft__qp_payload(qp, psn) + data_header_bytes;
    uint32_t bytes = weft__qp_frame_least(weft__qp_payload(qp, psn));
    bool first = psn == 0, last = psn + 1 == qp->packets;
    if (qp->message_packets) first = psn % qp->message_packets == 0;
    if (qp->verb == WEFT_VERB_WRITE && first) bytes += WEFT_FRAME_RETH;
    if (qp->verb == WEFT_VERB_READ && (first || last)) bytes += WEFT_FRAME_AETH;
    return bytes < WEFT_FRAME_MIN ? WEFT_FRAME_MIN : bytes;
}

struct weft_connection_bytes weft_connection_bytes(const struct weft_model_conf *transport,
                                                   const struct weft_model_conf *cc, bool messages) {
    const struct weft_transport_ops *ops = transport->model->ops;
    const struct weft_qp_conf qp = {.packets = messages ? WEFT_QP_MESSAGES : 1};
    struct weft_connection_bytes bytes = {sizeof(struct weft_qp_sender) + sizeof(struct weft_qp_sample),
                                          sizeof(struct weft_qp_receiver)};
    if (ops->sender_size) bytes.sender += ops->sender_size(transport->conf);
    if (ops->receiver_size) bytes.receiver += ops->receiver_size(transport->conf, &qp);
    if (cc) bytes.sender += ((const struct weft_cc_ops *)cc->model->ops)->state_size(cc->conf);
    return bytes;
}
