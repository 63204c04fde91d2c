// SPDX-License-Identifier: Apache-2.0
// Switch front-end and firmware of TiNs: a session per TiN, one RPC at a time, and memory for no more.
#include "control/clique/sdn_run.h"

/// Sends the next RPCs of a TiN, as many as may be in flight.
static void send_rpcs(struct weft_sdn *s, weft_time_ps now, uint32_t tin) {
    struct weft__sdn_session *e = &s->session[tin];
    uint32_t most = (uint32_t)(s->conf->rpc_bytes / s->conf->op_bytes);
    while (e->connected && e->rpcs < s->conf->outstanding && e->sent < e->given) {
        if (e->next_ps > now) {
            weft__sdn_note(s, e->next_ps, WEFT__SDN_DUE_SEND, tin, 0);
            return;
        }
        uint32_t ops = e->given - e->sent < most ? e->given - e->sent : most;
        for (uint32_t i = e->sent; i < e->sent + ops; i++) { // the entry's state when the RPC arrives
            if (e->op[i].kind == WEFT__SDN_FLOW)
                *weft__sdn_entry(&s->expected, e->op[i].column, tin, e->op[i].row) = e->op[i].group;
            else if (e->op[i].kind == WEFT__SDN_EGRESS)
                e->egress_sent = e->op[i].group;
            else
                e->expected[e->op[i].group] = e->op[i].kind == WEFT__SDN_GROUP_ADD;
        }
        e->sent += ops;
        e->op[e->sent - 1].last = true;
        e->rpcs++;
        s->now_outcome->rpcs++;
        if (ops * s->conf->op_bytes > s->result->rpc_most) s->result->rpc_most = ops * s->conf->op_bytes;
        if (s->conf->rate) e->next_ps = now + ops * (WEFT_PS_PER_S / s->conf->rate);
        weft__sdn_tell_tin(s, now, WEFT_SDN_RPC, s->conf->rpc_ps + s->conf->latency_ps, tin, ops);
    }
}

void weft__sdn_lose_session(struct weft_sdn *s, weft_time_ps now, uint32_t tin) {
    struct weft__sdn_session *e = &s->session[tin];
    if (e->connected) e->lost_ps = now;
    e->connected = e->writing = false;
    e->life++;
    e->rpcs = 0;
}

void weft__sdn_try_to_connect(struct weft_sdn *s, weft_time_ps now, uint32_t tin) {
    weft__sdn_note(s, now + 1 + weft_random_below(&s->random, s->conf->connect_ps), WEFT__SDN_DUE_CONNECT, tin, 0);
}

void weft__sdn_reboot(struct weft_sdn *s, weft_time_ps now, uint32_t tin) {
    weft__sdn_lose_session(s, now, tin);
    s->session[tin].rebooting = true;
    weft__sdn_note(s, now + s->conf->reboot_ps, WEFT__SDN_DUE_BOOTED, tin, 0);
}

static void on_rpc(struct weft_sdn *s, weft_time_ps now, uint32_t tin, uint32_t ops) {
    struct weft__sdn_session *e = &s->session[tin];
    weft_bytes held = s->conf->firmware_bytes + (e->there - e->written + ops) * s->conf->op_bytes;
    if (held > s->conf->sram_bytes) { // no memory: the session is lost
        s->result->overflows++;
        weft__sdn_lose_session(s, now, tin);
        weft__sdn_try_to_connect(s, now, tin);
        return;
    }
    if (held > s->result->sram_most) s->result->sram_most = held;
    e->there += ops;
    if (!e->writing) weft__sdn_note(s, now + s->conf->op_ps, WEFT__SDN_DUE_WRITE, tin, 0);
    e->writing = true;
}

static void on_write(struct weft_sdn *s, weft_time_ps now, uint32_t tin) {
    struct weft__sdn_session *e = &s->session[tin];
    struct weft__sdn_op op = e->op[e->written++];
    s->now_outcome->writes++;
    weft__sdn_write(s, now, tin, op);
    if (op.kind == WEFT__SDN_EGRESS) {
        double share = s->egress_all ? (double)s->egress_down / s->egress_all : 0;
        s->now_outcome->lost_ps += share * (double)(now - s->event_ps) / s->f->tins;
        s->now_outcome->done_ps = now - s->event_ps;
    }
    if (op.last) weft__sdn_tell_tin(s, now, WEFT_SDN_ANSWER, s->conf->latency_ps, tin, e->written);
    e->writing = e->written < e->there;
    if (e->writing) weft__sdn_note(s, now + s->conf->op_ps, WEFT__SDN_DUE_WRITE, tin, 0);
}

/// Everything that the flow manager asked for is done: answers its RPCs.
static void complete_flows(struct weft_sdn *s, weft_time_ps now, uint32_t tin) {
    struct weft__sdn_session *e = &s->session[tin];
    e->n = e->given = e->sent = e->there = e->written = e->confirmed = 0;
    for (uint32_t what = 0; what < WEFT__SDN_ASKED; what++)
        if (e->asked[what]) weft__sdn_tell(s, now, WEFT_SDN_PROGRAMMED, s->conf->call_ps, tin, what);
    e->asked[WEFT__SDN_BATCH] = e->asked[WEFT__SDN_EXITS] = false;
}

static void on_answer(struct weft_sdn *s, weft_time_ps now, uint32_t tin, uint32_t end) {
    struct weft__sdn_session *e = &s->session[tin];
    e->rpcs--;
    e->confirmed = end;
    send_rpcs(s, now, tin);
    if (e->confirmed == e->n) complete_flows(s, now, tin);
}

/// Connects if the firmware is not restarting and the line is not cut; otherwise tries again when it may.
static void connect_tin(struct weft_sdn *s, weft_time_ps now, uint32_t tin) {
    const struct weft__sdn_session *e = &s->session[tin];
    if (e->connected || e->rebooting || !e->allowed) return;
    weft__sdn_tell_tin(s, now, WEFT_SDN_CONNECT, s->conf->latency_ps, tin, 0);
}

static void on_connect(struct weft_sdn *s, weft_time_ps now, uint32_t tin) {
    uint64_t registers = s->groups.tin[tin].n;
    for (uint32_t c = 0; c < weft__sdn_columns(&s->columns); c++)
        registers += s->tables.column[c] ? s->tables.rows : 0;
    weft__sdn_tell_tin(s, now, WEFT_SDN_REGISTERS, registers * s->conf->read_ps + s->conf->latency_ps, tin, 0);
}

/// A TiN reports the state of one of its ports, or its registers do.
static void on_port(struct weft_sdn *s, weft_time_ps now, uint32_t tin, uint32_t link, bool down) {
    if (link != WEFT_NONE) s->reported[link] = down;
    weft__sdn_publish(s, now, WEFT_SDN_PORT_WRITE, tin, link, down);
}

static void on_registers(struct weft_sdn *s, weft_time_ps now, uint32_t tin) {
    struct weft__sdn_session *e = &s->session[tin];
    if (e->connected) return;
    e->connected = true;
    s->now_outcome->repaired += weft__sdn_reconcile(s, tin);
    s->now_outcome->session_ps = now - e->lost_ps;
    for (uint64_t ports = s->f->tin[tin].local | s->f->tin[tin].global; ports; ports &= ports - 1) {
        uint32_t link = s->wiring->link[tin * WEFT_GNET_PORTS_MAX + (uint32_t)__builtin_ctzll(ports)];
        if (s->down[link] != s->reported[link]) on_port(s, now, tin, link, s->down[link]);
    }
    if (e->n)
        send_rpcs(s, now, tin);
    else // all of it was written, and only the answer was lost
        complete_flows(s, now, tin);
}

void weft__sdn_at_front_end(struct weft_sdn *s, const struct weft__due *due) {
    weft_time_ps now = due->time_ps;
    uint32_t tin = due->who;
    switch (due->kind) {
    case WEFT__SDN_DUE_PORT: // the firmware has noticed; without a session it is read later
        if (s->session[tin].connected)
            weft__sdn_tell_port(s, now, WEFT_SDN_PORT_STATUS, s->conf->latency_ps, tin, due->what, due->round);
        break;
    case WEFT__SDN_DUE_WRITE:
        on_write(s, now, tin);
        break;
    case WEFT__SDN_DUE_CONNECT:
        connect_tin(s, now, tin);
        break;
    case WEFT__SDN_DUE_BOOTED:
        s->session[tin].rebooting = false;
        weft__sdn_try_to_connect(s, now, tin);
        break;
    case WEFT__SDN_DUE_SEND:
        send_rpcs(s, now, tin);
        break;
    case WEFT_SDN_PORT_STATUS:
        on_port(s, now, tin, due->what, due->round);
        break;
    case WEFT_SDN_PROGRAM:
        s->session[tin].given += due->what;
        send_rpcs(s, now, tin);
        break;
    case WEFT_SDN_RPC:
        on_rpc(s, now, tin, due->what);
        break;
    case WEFT_SDN_ANSWER:
        on_answer(s, now, tin, due->what);
        break;
    case WEFT_SDN_CONNECT:
        on_connect(s, now, tin);
        break;
    case WEFT_SDN_REGISTERS:
        on_registers(s, now, tin);
        break;
    }
}
