// SPDX-License-Identifier: Apache-2.0
// The queue pairs of a run, with what its hosts share, and the programs that use them.
#include <assert.h>

#include "box/box.h"
#include "sim/run.h"
#include "sim/paths.h"
#include "weft/aqm.h"
#include "weft/cc.h"
#include "weft/transport.h"

/// The transports' own state, of senders or receivers; NULL: none.
static void **make_transport_state(const struct weft__network *net, bool sending) {
    void **state = NULL;
    for (uint32_t q = 0; q < net->qps; q++) {
        const struct weft_qp_conf *qp = &net->qp[q];
        const struct weft_model_conf *transport =
            &net->device[net->topology->host[sending ? qp->src : qp->dst]]->host.transport;
        const struct weft_transport_ops *ops = transport->model->ops;
        size_t size = 0;
        if (sending && ops->sender_size) size = ops->sender_size(transport->conf);
        if (!sending && ops->receiver_size) size = ops->receiver_size(transport->conf, qp);
        if (!size) continue;
        if (!state) state = weft_arena_alloc(net->arena_qp, net->qps, sizeof *state);
        state[q] = weft_arena_alloc(net->arena_qp, 1, size);
    }
    return state;
}

/// Whether a switch trims packets.
static bool has_trimming(const struct weft__network *net) {
    for (uint32_t i = 0; i < net->topology->switches; i++) {
        const struct weft_model *aqm = net->device[net->topology->switch_node[i]]->sw.aqm.model;
        if (((const struct weft_aqm_ops *)aqm->ops)->trim) return true;
    }
    return false;
}

void weft__queue_pairs_new(struct weft__network *net, bool states) {
    const struct weft_workload *w = net->workload;
    const struct weft_topology *t = net->topology;
    struct weft_arena *arena = net->arena_qp;
    for (uint32_t i = 0; i < w->flows; i++) {
        const struct weft_flow *f = &w->flow[i];
        net->qps += f->qps < f->bytes ? f->qps : (uint32_t)f->bytes; // a queue pair carries at least one byte
    }
    net->qp = weft_arena_alloc(arena, net->qps, sizeof *net->qp);
    struct weft_qp_sender *sender = weft__arena_lines(arena, net->qps, sizeof *sender);
    struct weft_arena *scratch = weft_arena_new(WEFT_MEMORY_QP);
    const uint64_t *before = weft_workload_qps_before(w, scratch);
    uint32_t *left = weft_arena_alloc(arena, w->flows, sizeof *left);
    uint32_t *unacked = weft_arena_alloc(arena, w->flows, sizeof *unacked);
    uint32_t *sends = weft_arena_alloc(arena, t->hosts, sizeof *sends);
    uint32_t *receives = weft_arena_alloc(arena, t->hosts, sizeof *receives);
    uint32_t q = 0;
    bool posting = false;
    for (uint32_t i = 0; i < w->flows; i++) {
        const struct weft_flow *f = &w->flow[i];
        const struct weft_host_conf *conf = &net->device[t->host[f->src]]->host;
        const struct weft_cc_ops *cc = conf->cc.model->ops;
        size_t cc_size = states ? cc->state_size(conf->cc.conf) : 0;
        for (uint32_t k = 0; k < f->qps; k++) {
            weft_bytes bytes = f->bytes / f->qps + (k < f->bytes % f->qps);
            if (!bytes) break;
            uint32_t at_src = sends[f->src]++;
            net->qp[q] = (struct weft_qp_conf){
                .flow = i,
                .src = f->src,
                .dst = f->dst,
                .bytes = bytes,
                .at_src = at_src,
                .at_dst = receives[f->dst]++,
                .mtu = (uint16_t)conf->mtu_bytes,
                .entropy = weft__flow_entropy(conf, net->scenario->run.seed, f, before[i], k),
                .priority = f->priority,
                .verb = f->verb,
                .plane = f->plane,
            };
            weft__qp_count_packets(&net->qp[q], f);
            if (!f->messages) sender[q].posted = net->qp[q].packets;
            posting |= f->depth > 0;
            if (cc_size) sender[q].cc = weft_arena_alloc(arena, 1, cc_size);
            left[i]++;
            unacked[i]++;
            q++;
        }
    }
    weft_arena_free(scratch);
    assert(q == net->qps); // as many as were counted
    net->hosts = (struct weft__hosts){
        .qp = net->qp,
        .qp_numbers = weft__qp_numbers(w, t->hosts, arena),
        .path = w->path,
        .framing_bytes = t->hosts ? weft_host_framing_bytes(&net->device[t->host[0]]->host) : 0,
        .data_header_bytes = t->hosts ? (uint32_t)net->device[t->host[0]]->host.data_header_bytes : 0,
        .sender = sender,
        .sample = weft_arena_alloc(arena, net->qps, sizeof(struct weft_qp_sample)),
        .receiver = weft__arena_lines(arena, net->qps, sizeof(struct weft_qp_receiver)),
        .hold = net->sfc_pause_ps ? weft_arena_alloc(arena, net->qps, sizeof(struct weft__qp_hold)) : NULL,
        .sender_state = states ? make_transport_state(net, true) : NULL,
        .receiver_state = states ? make_transport_state(net, false) : NULL,
        .flow = w->flow,
        .outcome = net->outcome->flow,
        .qps_left = left,
        .qps_unacked = unacked,
        .posting = posting,
        .trimming = has_trimming(net),
        .ops = t->hosts ? weft__box_of(&t->node[t->host[0]])->endpoint : NULL,
    };
    net->hosts.programs = net->programs = weft__jobs_new(net);
    net->rma = weft__rma_new(net);
    net->hosts.triggers = weft__triggers_new(net);
}
