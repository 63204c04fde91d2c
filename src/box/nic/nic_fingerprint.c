// SPDX-License-Identifier: Apache-2.0
// Everything that determines a NIC's future while nothing is in flight (base/digest.h). Two kinds of timers do not
// count. First, the timer of a sender with nothing outstanding: when it fires, it only checks how long ago there was
// progress (IBTA local ACK timeout, roce_rc.c). Second, timers of what has yet to start, which the code that skips time
// moves.
#include "box/box.h"
#include "box/nic/nic.h"
#include "transport/program.h"

static const char *why_refused(const struct weft__nic *nic) {
    if (nic->planes) return "host.planes: a NIC of several ports";
    if (nic->pull) return "congestion control by credit of receivers";
    if (nic->end.rma) return "remote memory access";
    if (nic->end.driven) return "a program drives the hosts";
    if (nic->end.hosts->hold) return "source flow control";
    if (nic->end.hosts->triggers) return "flows that wait for others";
    if (nic->conf->drain_rate_bps) return "host.drain_rate";
    if (nic->transport->draws && nic->transport->draws(nic->conf->transport.conf)) return "timeouts that are drawn";
    if (nic->port.credit) return "credit-based flow control of links";
    return NULL;
}

/// The states that models keep of a queue pair at this end: `sends`, or it receives.
static const char *mix_models(const struct weft__nic *nic, uint32_t qp, bool sends, struct weft__fingerprint *s,
                              struct weft_arena *arena) {
    const struct weft__hosts *hosts = nic->end.hosts;
    const struct weft_model_conf *transport = &nic->conf->transport, *cc = &nic->conf->cc;
    void **state = sends ? hosts->sender_state : hosts->receiver_state;
    weft_model_fingerprint *fingerprint =
        sends ? nic->transport->fingerprint_sender : nic->transport->fingerprint_receiver;
    const char *refused =
        weft__model_fingerprint(transport->model, fingerprint, state ? state[qp] : NULL, transport->conf, s, arena);
    if (refused || !sends || !nic->cc->state_size(cc->conf)) return refused;
    return weft__model_fingerprint(cc->model, nic->cc->fingerprint, hosts->sender[qp].cc, cc->conf, s, arena);
}

static void mix_sender(const struct weft__nic *nic, uint32_t qp, struct weft__fingerprint *s) {
    const struct weft_qp_sender *sender = &nic->end.hosts->sender[qp];
    weft__fingerprint_mix(s, (uint64_t)sender->started | (uint64_t)sender->ready << 1 | (uint64_t)sender->done << 2 |
                                 (uint64_t)sender->sampling << 3 | (uint64_t)sender->counts << 4 |
                                 (uint64_t)sender->blocked << 5 | (uint64_t)sender->timeouts << 8);
    weft__fingerprint_mix(s, (uint64_t)(sender->posted - sender->next) << 32 | (sender->next - sender->una));
    weft__fingerprint_mix(s, sender->highest - sender->next);
    weft__fingerprint_mix(s, sender->rate_bps);
    weft__fingerprint_mix(s, sender->window_bytes);
    weft__fingerprint_mix_until(s, sender->next_send_ps);
    const struct weft_qp_conf *conf = &nic->end.hosts->qp[qp];
    const struct weft_qp_sample *sample = &nic->end.hosts->sample[qp];
    if (nic->posts_later && sample->issued > sender->posted) weft__fingerprint_mix(s, sample->issued - sender->posted);
    if (conf->message_packets) weft__fingerprint_mix(s, (uint64_t)(conf->packets - sender->next) << 32 | sample->seen);
    if (sender->next != sender->una) weft__fingerprint_mix_since(s, sender->progress_ps);
    const struct weft__carrier *carrier = nic->end.hosts->carrier ? &nic->end.hosts->carrier[qp] : NULL;
    if (!carrier || !carrier->sending) return;
    weft__fingerprint_mix(s, carrier->psn_end - sender->posted);
    weft__fingerprint_mix_until(s, carrier->next_ps);
}

static void mix_receiver(const struct weft__nic *nic, uint32_t qp, struct weft__fingerprint *s) {
    const struct weft_qp_receiver *r = &nic->end.hosts->receiver[qp];
    weft__fingerprint_mix(s, (uint64_t)r->unacked | (uint64_t)r->nak_sent << 16 | (uint64_t)r->notified << 17 |
                                 (uint64_t)r->marked << 18 |
                                 (uint64_t)(nic->end.hosts->sender[qp].next - r->expected) << 32);
    if (r->notified) weft__fingerprint_mix_since(s, r->cnp_ps);
}

/// What the NIC does later, and the stages that posting keeps busy.
static void mix_later(const struct weft__nic *nic, struct weft__fingerprint *s) {
    for (uint32_t k = 0; k < WEFT__NIC_LATERS; k++) {
        struct weft__fifo_cursor cursor = weft__fifo_begin(&nic->later[k]);
        weft__fingerprint_mix(s, nic->later[k].n);
        for (const struct weft_packet *p; (p = weft__fifo_next(&cursor));) {
            weft__fingerprint_mix(s, (uint64_t)p->kind << 40 | (uint64_t)p->flags << 32 | p->qp);
            weft__fingerprint_mix_until(s, p->time_ps);
        }
    }
    weft__fingerprint_mix_until(s, nic->poster.host_free_ps);
    weft__fingerprint_mix_until(s, nic->poster.nic_free_ps);
    weft__fingerprint_mix_until(s, nic->poster.last_ps);
}

/// Mixes a timer of the NIC into a sum, because the order in the heap depends on history. False: it does not count.
static bool counts_timer(const struct weft__nic *nic, uint32_t key, bool *ret_looks) {
    *ret_looks = false;
    if (key < WEFT__KEY_QPS) return true;
    if (key < nic->key_read0) {
        uint32_t qp = nic->send_qp[(key - WEFT__KEY_QPS) / WEFT__SENDER_KEYS];
        const struct weft_qp_sender *sender = &nic->end.hosts->sender[qp];
        if (!sender->started) return false;
        return (key - WEFT__KEY_QPS) % WEFT__SENDER_KEYS != 1 || sender->next != sender->una;
    }
    *ret_looks = key < nic->key_read0 + nic->receives;
    if (*ret_looks || !nic->end.gpu) return true;
    return weft__gpu_counts(&nic->end, key);
}

static void mix_timers(const struct weft__node *node, const struct weft__nic *nic, struct weft__fingerprint *s) {
    uint64_t sum[2] = {0}, looks[2] = {0}, kept[2] = {0};
    for (uint32_t key = 0; key < node->timers.keys; key++) {
        weft_time_ps at = weft__timer_at(&node->timers, key);
        bool look;
        if (at == WEFT_TIME_NEVER || !counts_timer(nic, key, &look)) continue;
        uint64_t both[2] = {key, key}, fixed[2] = {key, key};
        weft__fingerprint_mix_into(both, at - s->now_ps);
        weft__fingerprint_mix_into(fixed, at);
        for (uint32_t k = 0; k < 2; k++)
            *(look ? &looks[k] : &sum[k]) += both[k];
        for (uint32_t k = 0; k < 2 && look; k++)
            kept[k] += fixed[k];
        if (look && (!s->looks_ps || at < s->looks_ps)) s->looks_ps = at;
    }
    for (uint32_t k = 0; k < 2; k++) {
        weft__fingerprint_mix(s, sum[k]);
        weft__fingerprint_mix_into(s->looks, looks[k]);
        weft__fingerprint_mix_into(s->kept, kept[k]);
    }
}

void weft__nic_pass_looks(struct weft__network *net, uint32_t node, weft_time_ps time) {
    const struct weft__nic *nic = weft__network_state(net, node);
    struct weft__timers *timers = &net->engine.node[node].timers;
    for (uint32_t k = 0; k < nic->receives; k++) {
        uint32_t key = weft__key_read(nic, k);
        if (weft__timer_at(timers, key) != WEFT_TIME_NEVER)
            weft__timer_set(timers, key, weft__timer_at(timers, key) - time);
    }
    weft__engine_reschedule(&net->engine, node);
}

const char *weft__nic_fingerprint(const struct weft__network *net, uint32_t node, struct weft__fingerprint *ret) {
    const struct weft__nic *nic = weft__network_state(net, node);
    const char *refused = why_refused(nic);
    if (refused) return refused;
    weft__port_fingerprint(&nic->port, ret);
    bool takes_all = nic->room_bytes > INT64_MAX / 2; // it started with INT64_MAX
    if (!takes_all) weft__fingerprint_mix(ret, (uint64_t)nic->room_bytes);
    weft__fingerprint_mix(ret,
                          (uint64_t)nic->control_mask | (uint64_t)nic->ready_mask << 8 | (uint64_t)nic->is_down << 16);
    mix_later(nic, ret);
    for (uint32_t k = 0; k < nic->sends; k++) {
        refused = mix_models(nic, nic->send_qp[k], true, ret, net->outcome->arena);
        if (refused) return refused;
        mix_sender(nic, nic->send_qp[k], ret);
    }
    for (uint32_t k = 0; k < nic->receives; k++) {
        refused = mix_models(nic, nic->receive_qp[k], false, ret, net->outcome->arena);
        if (refused) return refused;
        mix_receiver(nic, nic->receive_qp[k], ret);
    }
    if (nic->end.gpu) weft__gpu_fingerprint(&nic->end, ret);
    mix_timers(&net->engine.node[node], nic, ret);
    return NULL;
}
