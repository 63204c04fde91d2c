// SPDX-License-Identifier: Apache-2.0
// The queue pairs of a run, with what its hosts share, and the programs that use them.
#include <assert.h>

#include "box/box.h"
#include "sim/attached.h"
#include "sim/paths.h"
#include "sim/run.h"
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

/// Queue pairs that messages take: of a connection with fewer messages than that, the first ones.
static uint16_t *find_carrying(const struct weft_workload *w, struct weft_arena *arena) {
    uint16_t *laid = weft_arena_alloc(arena, w->flows, sizeof *laid);
    for (uint32_t f = 0; f < w->flows; f++)
        laid[f] = (uint16_t)(w->flow[f].qps < w->flow[f].bytes ? w->flow[f].qps : w->flow[f].bytes);
    for (uint32_t j = 0; j < w->jobs; j++)
        for (uint32_t i = 0; i < w->job[j].connections; i++) {
            const struct weft_connection *c = &w->job[j].connection[i];
            if (c->flow == WEFT_NONE || c->rings >= c->slots || weft_job_splits(&w->job[j], c)) continue;
            if (c->rings < laid[c->flow]) laid[c->flow] = c->rings;
        }
    return laid;
}

void weft__queue_pairs_new(struct weft__network *net, bool states) {
    const struct weft_workload *w = net->workload;
    const struct weft_topology *t = net->topology;
    struct weft_arena *arena = net->arena_qp;
    const uint16_t *laid = states ? NULL : find_carrying(w, arena);
    for (uint32_t i = 0; i < w->flows; i++) {
        const struct weft_flow *f = &w->flow[i];
        net->qps += laid                ? laid[i]
                    : f->qps < f->bytes ? f->qps
                                        : (uint32_t)f->bytes; // a queue pair carries at least one byte
    }
    net->qp = weft_arena_alloc(arena, net->qps, sizeof *net->qp);
    struct weft_qp_sender *sender = states ? weft__arena_lines(arena, net->qps, sizeof *sender) : NULL;
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
            uint32_t at_src = sends[f->src]++, at_dst = receives[f->dst]++;
            if (laid && k >= laid[i]) continue;
            net->qp[q] = (struct weft_qp_conf){
                .flow = i,
                .src = f->src,
                .dst = f->dst,
                .bytes = bytes,
                .at_src = at_src,
                .at_dst = at_dst,
                .mtu = (uint16_t)conf->mtu_bytes,
                .entropy = weft__flow_entropy(conf, net->scenario->run.seed, f, before[i], k),
                .priority = f->priority,
                .verb = f->verb,
                .plane = f->plane,
            };
            weft__qp_count_packets(&net->qp[q], f);
            if (!f->messages && sender) sender[q].posted = net->qp[q].packets;
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
        .qp_numbers = weft__qp_numbers(w, t->hosts, laid, arena),
        .laid = laid,
        .path = w->path,
        .framing_bytes = t->hosts ? weft_host_framing_bytes(&net->device[t->host[0]]->host) : 0,
        .data_header_bytes = t->hosts ? (uint32_t)net->device[t->host[0]]->host.data_header_bytes : 0,
        .sender = sender,
        .sample = weft_arena_alloc(arena, net->qps, sizeof(struct weft_qp_sample)),
        .receiver = states ? weft__arena_lines(arena, net->qps, sizeof(struct weft_qp_receiver)) : NULL,
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
    if (net->raw) weft__attached_place(net);
    net->hosts.programs = net->programs = weft__jobs_new(net);
    net->rma = weft__rma_new(net);
    net->hosts.triggers = weft__triggers_new(net);
}
