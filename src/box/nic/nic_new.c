// SPDX-License-Identifier: Apache-2.0
// Prepares a NIC for a run, and collects its state at the end.
#include "box/nic/nic.h"
#include "transport/driven.h"
#include "transport/program.h"
#include "transport/raw.h"
#include "transport/rma.h"

#include <assert.h>

void weft__nic_trace_start(struct weft__nic *nic, weft_time_ps now, uint32_t qp) {
    uint32_t flow = nic->end.hosts->qp[qp].flow;
    if (qp && nic->end.hosts->qp[qp - 1].flow == flow) return; // the queue pairs of a flow start together
    struct weft_event *event = weft__nic_trace_qp(nic, now, WEFT_EVENT_FLOW_STARTED, qp);
    if (!event) return;
    event->value = nic->end.hosts->flow[flow].bytes;
    event->priority = nic->end.hosts->qp[qp].priority;
}

void weft__nic_on_down(struct weft__node *node, struct weft__nic *nic, weft_time_ps now) {
    weft_time_ps next = WEFT_TIME_NEVER;
    nic->is_down = false;
    for (uint32_t i = 0; i < nic->downs; i++) {
        const struct weft__down *at = &nic->down[i];
        nic->is_down |= now >= at->from_ps && now < at->to_ps;
        if (at->from_ps > now && at->from_ps < next) next = at->from_ps;
        if (at->to_ps > now && at->to_ps < next) next = at->to_ps;
    }
    if (next != WEFT_TIME_NEVER) weft__timer_set(&node->timers, weft__nic_key(nic, WEFT__KEY_DOWN), next);
}

struct weft__nic *weft__nic_new(const struct weft__nic_setup *setup, struct weft__node *node) {
    struct weft__nic *nic = weft__arena_lines(setup->arena, 1, sizeof *nic);
    weft__port_place(&nic->port, setup->rows, setup->port0);
    nic->conf = setup->conf;
    nic->end.hosts = setup->hosts;
    nic->end.host = setup->host;
    nic->scheduler = setup->conf->scheduler.model->ops;
    nic->cc = setup->conf->cc.model->ops;
    nic->transport = setup->conf->transport.model->ops;
    nic->collects = weft_host_collects(setup->conf);
    nic->ack_bytes = (uint16_t)weft__nic_control_bytes(nic, WEFT_PACKET_ACK);
    nic->data_ecn = nic->conf->ecn && nic->conf->roce == WEFT_ROCE_V2 ? WEFT_ECN_ECT0 : WEFT_ECN_NOT_ECT;
    nic->line_rate_bps = setup->line_rate_bps;
    nic->room_bytes = setup->room_bytes;
    nic->posts_later = weft__posting_takes_time(setup->conf);
    nic->gaps = weft__any_frames_have_gaps(setup->conf, setup->line_rate_bps);
    nic->sends = setup->sends;
    nic->receives = setup->receives;
    nic->send_qp = setup->send_qp;
    nic->key_read0 = weft__key_pace(nic->sends);
    nic->receive_qp = setup->receive_qp;
    nic->end.pool = setup->pool;
    nic->down = setup->down;
    nic->downs = setup->downs;
    nic->down_drop = setup->down_drop;
    nic->sampled = setup->sampled;
    nic->sampling = setup->sampling;
    nic->draw_seed = setup->draw_seed;
    nic->idle = weft_random_stream(setup->draw_seed, setup->plane, WEFT_RANDOM_IDLE);
    nic->idles = nic->conf->stall_ps && nic->conf->idle > 0;
    if (nic->idles) weft__nic_draw_idle(nic);
    if (nic->conf->drain_slow_every_ps != WEFT_TIME_NEVER) {
        struct weft_random random = weft_random_stream(setup->draw_seed, 0, WEFT_RANDOM_PHASE);
        nic->slow.phase_ps = weft_random_below(&random, nic->conf->drain_slow_every_ps);
        nic->slow.period = nic->slow.phase_ps / nic->conf->drain_slow_every_ps;
    }
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++)
        nic->backlog[p].ready = WEFT_NONE;

    if (setup->events_max) {
        nic->trace = weft__trace_new(setup->node, setup->port0, 1, setup->events_max, NULL, 0, setup->arena);
        nic->trace->rate_bps = weft_arena_alloc(setup->arena, nic->sends + 1, sizeof *nic->trace->rate_bps);
    }

    node->ops = &weft__nic_ops;
    node->state = nic;
    if (setup->first) {
        weft__timers_init(&node->timers, 1);
        weft__nic_planes_join(nic, setup->first, setup->plane, setup->plane_hosts);
        if (nic->sampled) weft__timer_set(&setup->first_node->timers, weft__nic_key(nic, WEFT__KEY_SAMPLE), 0);
        if (nic->downs) weft__nic_on_down(setup->first_node, nic, 0);
        return nic;
    }
    assert(setup->planes <= WEFT__NIC_PLANES_MAX);
    nic->end.gpu = setup->gpu;
    if (nic->end.gpu) nic->end.gpu->key0 = weft__key_read(nic, nic->receives);
    nic->end.rma = setup->rma;
    nic->round_trips = setup->round_trips;
    uint32_t keys = weft__key_read(nic, nic->receives) +
                    (nic->end.gpu ? weft__gpu_keys(nic->end.hosts->programs, nic->end.gpu) : 0);
    if (nic->end.rma) nic->end.rma->key0 = keys;
    if (nic->end.rma) keys += weft__rma_host_keys(nic->end.rma);
    nic->end.raw = setup->raw;
    if (nic->end.raw) nic->end.raw->key = keys++;
    nic->end.driven = setup->driven;
    if (nic->end.driven) {
        node->ops = &weft__nic_driven_ops;
        nic->end.driven->key0 = keys++;
        nic->end.driven->at_src0 = (keys - WEFT__KEY_QPS + WEFT__SENDER_KEYS - 1) / WEFT__SENDER_KEYS;
        nic->end.driven->sends0 = nic->sends;
    }
    if (weft_cc_goes_by_credit(nic->cc, nic->conf->cc.conf)) weft__nic_pull_init(nic, &keys, setup->arena);
    if (setup->planes > 1) weft__nic_planes_init(nic, setup->planes, &keys, setup->arena);
    if (nic->end.raw) node->ops = &weft__nic_raw_ops;
    if (weft__nic_is_plain(nic)) node->ops = &weft__nic_plain_ops;
    weft__timers_init(&node->timers, keys);
    if (nic->end.gpu) weft__gpu_start(node, &nic->end);
    if (nic->end.rma) weft__rma_host_start(node, &nic->end);
    if (nic->end.raw) weft__nic_raw_look(node, nic);
    if (nic->sampled) weft__timer_set(&node->timers, WEFT__KEY_SAMPLE, 0);
    if (nic->downs) weft__nic_on_down(node, nic, 0);
    if (setup->lldp) weft__timer_set(&node->timers, WEFT__ETHER_KEY_LLDP, 0);
    for (uint32_t k = 0; k < nic->sends; k++) {
        const struct weft_qp_conf *qp = &nic->end.hosts->qp[nic->send_qp[k]];
        const struct weft_flow *flow = &nic->end.hosts->flow[qp->flow];
        if (qp->verb < WEFT_VERB_READ && !flow->waits)
            weft__timer_set(&node->timers, weft__key_pace(k), flow->start_ps);
    }
    for (uint32_t k = 0; k < nic->receives; k++) {
        const struct weft_qp_conf *qp = &nic->end.hosts->qp[nic->receive_qp[k]];
        nic->end.hosts->receiver[nic->receive_qp[k]].progress_ps = WEFT_TIME_NEVER;
        const struct weft_flow *flow = &nic->end.hosts->flow[qp->flow];
        if (qp->verb == WEFT_VERB_READ && !flow->waits)
            weft__timer_set(&node->timers, weft__key_read(nic, k),
                            weft__nic_read_time(nic, nic->receive_qp[k], flow->start_ps));
    }
    return nic;
}

void weft__nic_finish(struct weft__nic *nic, weft_time_ps now) {
    weft__port_finish(&nic->port, now);
    for (uint32_t k = 0; k < nic->receives && !nic->plane; k++) {
        const struct weft__hosts *hosts = nic->end.hosts;
        uint32_t qp = nic->receive_qp[k], f = hosts->qp[qp].flow;
        hosts->outcome[f].delivered_bytes += hosts->receiver[qp].delivered_bytes;
    }
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++)
        weft__port_count_ingress(&nic->port, p, nic->received_bytes_max[p]);
    if (!nic->plane) weft__nic_finish_holds(nic, now);
}
