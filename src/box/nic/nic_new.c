// SPDX-License-Identifier: Apache-2.0
// A NIC made ready for a run, and what it holds at its end.
#include "transport/program.h"
#include "transport/rma.h"

void weft__nic_on_absence(struct weft__node *node, struct weft__nic *nic, weft_time_ps now) {
    weft_time_ps next = weft_clique_absence_next(nic->absence, nic->absences, nic->tin, now);
    nic->away = weft_clique_is_absent(nic->absence, nic->absences, nic->tin, now);
    nic->room_bytes = nic->away ? 0 : INT64_MAX; // nothing leaves; it shares no NIC
    if (next != WEFT_TIME_NEVER) weft__timer_set(&node->timers, WEFT__KEY_ABSENCE, next);
}

struct weft__nic *weft__nic_new(const struct weft__nic_setup *setup, struct weft__node *node) {
    struct weft__nic *nic = weft__arena_lines(setup->arena, 1, sizeof *nic);
    nic->conf = setup->conf;
    nic->hosts = setup->hosts;
    nic->host = setup->host;
    nic->scheduler = setup->conf->scheduler.model->ops;
    nic->cc = setup->conf->cc.model->ops;
    nic->line_rate_bps = setup->line_rate_bps;
    nic->room_bytes = setup->room_bytes;
    nic->sends = setup->sends;
    nic->receives = setup->receives;
    nic->send_qp = setup->send_qp;
    nic->receive_qp = setup->receive_qp;
    nic->pool = setup->pool;
    nic->sampled = setup->sampled;
    nic->sample_interval_ps = setup->sample_interval_ps;
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++)
        nic->backlog[p].ready = WEFT_NONE;

    if (setup->events_max) {
        nic->trace = weft__trace_new(setup->node, setup->port0, 1, setup->events_max, NULL, 0, setup->arena);
        nic->trace->rate_bps = weft_arena_alloc(setup->arena, nic->sends + 1, sizeof *nic->trace->rate_bps);
    }

    node->ops = &weft__nic_ops;
    node->state = nic;
    nic->gpu = setup->gpu;
    if (nic->gpu) nic->gpu->key0 = weft__key_read(nic, nic->receives);
    nic->rma = setup->rma;
    nic->round_trips = setup->round_trips;
    uint32_t keys =
        weft__key_read(nic, nic->receives) + (nic->gpu ? weft__gpu_keys(nic->hosts->programs, nic->gpu) : 0);
    if (nic->rma) nic->rma->key0 = keys;
    weft__timers_init(&node->timers, keys + (nic->rma ? weft__rma_host_keys(nic->rma) : 0));
    if (nic->gpu) weft__gpu_start(node, nic);
    if (nic->rma) weft__rma_host_start(node, nic);
    if (nic->sampled) weft__timer_set(&node->timers, WEFT__KEY_SAMPLE, 0);
    nic->absence = setup->absence;
    nic->absences = setup->absences;
    nic->tin = setup->tin;
    if (nic->absences) weft__nic_on_absence(node, nic, 0);
    if (setup->lldp) weft__timer_set(&node->timers, WEFT__ETHER_KEY_LLDP, 0);
    for (uint32_t k = 0; k < nic->sends; k++) {
        const struct weft__qp_conf *qp = &nic->hosts->qp[nic->send_qp[k]];
        if (qp->verb != WEFT_VERB_READ)
            weft__timer_set(&node->timers, weft__key_pace(k), nic->hosts->flow[qp->flow].start_ps);
    }
    for (uint32_t k = 0; k < nic->receives; k++) {
        const struct weft__qp_conf *qp = &nic->hosts->qp[nic->receive_qp[k]];
        nic->hosts->receiver[nic->receive_qp[k]].progress_ps = WEFT_TIME_NEVER;
        if (qp->verb == WEFT_VERB_READ)
            weft__timer_set(&node->timers, weft__key_read(nic, k), nic->hosts->flow[qp->flow].start_ps);
    }
    return nic;
}

void weft__nic_finish(struct weft__nic *nic, weft_time_ps now) {
    weft__port_finish(&nic->port, now);
    for (uint32_t k = 0; k < nic->receives; k++) {
        uint32_t qp = nic->receive_qp[k], f = nic->hosts->qp[qp].flow;
        nic->hosts->outcome[f].delivered_bytes += nic->hosts->receiver[qp].delivered_bytes;
        assert(nic->hosts->flow[f].rma || nic->hosts->outcome[f].delivered_bytes <= nic->hosts->flow[f].bytes);
    }
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++)
        nic->port.counters[p].ingress_bytes_max = nic->received_bytes_max[p];
    weft__nic_finish_holds(nic, now);
}

weft_bytes weft__nic_held(const void *state) {
    const struct weft__nic *nic = state;
    weft_bytes bytes = 0;
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++)
        bytes += nic->received_bytes[p];
    return bytes;
}
