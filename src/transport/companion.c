// SPDX-License-Identifier: Apache-2.0
#include "transport/companion.h"

#include <string.h>

#include "base/image.h"
#include "engine/ranks.h"
#include "transport/program.h"
#include "transport/rma.h"

/// The last packet of a message: its part, and the step of a schedule.
struct message {
    uint32_t at, slot; ///< in the connection's rings: at of parts, slot of messages
    struct weft__span span;
    uint32_t step;
};
/// The same for remote memory access.
struct rma_message {
    uint32_t slot;
    struct weft__rma_message message;
};
_Static_assert(sizeof(struct message) <= WEFT__COMPANION_BYTES, "fits");
_Static_assert(sizeof(struct rma_message) <= WEFT__COMPANION_BYTES, "fits");
_Static_assert(64 * sizeof(weft_time_ps) <= WEFT__COMPANION_BYTES, "as many slots as a connection may have");

static struct weft__rma_pipe *pipe_of(const struct weft__hosts *hosts, uint32_t qp, uint32_t *ret_slots) {
    struct weft__rma_connection *c = &hosts->rmas->connection[hosts->rmas->of_flow[hosts->qp[qp].flow]];
    *ret_slots = c->slots;
    return c->request.qp == qp ? &c->request : &c->answer;
}

static uint32_t give_rma(const struct weft__hosts *hosts, const struct weft_packet *p, unsigned char *ret) {
    uint32_t slots;
    const struct weft__rma_pipe *pipe = pipe_of(hosts, p->qp, &slots);
    struct rma_message m = {0};
    while (pipe->message[m.slot].psn_end != p->psn + 1)
        if (++m.slot == slots) return 0; // retransmitted after it was acknowledged: nobody reads it
    m.message = pipe->message[m.slot];
    memcpy(ret, &m, sizeof m);
    return sizeof m;
}

static uint32_t give_message(const struct weft__sending *s, const struct weft_packet *p, unsigned char *ret) {
    uint32_t carrier = p->qp - s->qp;
    for (uint32_t slot = 0; slot < s->slots; slot++) {
        uint32_t at = slot * s->parts + (s->parts == 1 ? 0 : carrier);
        if (s->span[at].psn_end != p->psn + 1 || s->span[at].carrier != carrier) continue;
        struct message m = {at, slot, s->span[at], s->sends ? s->sends->step[slot] : 0};
        memcpy(ret, &m, sizeof m);
        return sizeof m;
    }
    return 0;
}

uint32_t weft__companions_give(const struct weft__hosts *hosts, const struct weft_packet *p, unsigned char *ret) {
    if (p->kind == WEFT_PACKET_DATA && p->flags & WEFT_PACKET_LAST) {
        if (hosts->rmas && hosts->flow[hosts->qp[p->qp].flow].rma) return give_rma(hosts, p, ret);
        const struct weft__sending *s = hosts->carrier ? hosts->carrier[p->qp].sending : NULL;
        return s ? give_message(s, p, ret) : 0;
    }
    if (p->kind == WEFT_PACKET_CTS) {
        const struct weft__sending *s = hosts->carrier[p->qp].sending;
        uint32_t n = s->slots * (uint32_t)sizeof(weft_time_ps);
        memcpy(ret, hosts->programs->wire[s->connection].granted_ps, n);
        return n;
    }
    if (p->kind != WEFT_PACKET_SERVER || p->flags) return 0;
    const struct weft__sending *s = hosts->programs->wire[p->qp].sending;
    if (!s->sends) return 0;
    memcpy(ret, &s->sends->step[p->dst % s->slots], sizeof *s->sends->step);
    return sizeof *s->sends->step;
}

static void take_message(struct weft__sending *s, const unsigned char *bytes) {
    struct message m;
    memcpy(&m, bytes, sizeof m);
    s->span[m.at] = m.span;
    if (s->sends) s->sends->step[m.slot] = m.step;
}

void weft__companions_take(const struct weft__hosts *hosts, const struct weft_packet *p, const unsigned char *bytes,
                           uint32_t n) {
    uint32_t slots;
    struct rma_message m;
    if (p->kind == WEFT_PACKET_SERVER) {
        const struct weft__sending *s = hosts->programs->wire[p->qp].sending;
        memcpy(&s->sends->step[p->dst % s->slots], bytes, n);
    } else if (p->kind == WEFT_PACKET_CTS) {
        memcpy(hosts->programs->wire[hosts->carrier[p->qp].sending->connection].granted_ps, bytes, n);
    } else if (hosts->rmas && hosts->flow[hosts->qp[p->qp].flow].rma) {
        memcpy(&m, bytes, sizeof m);
        pipe_of(hosts, p->qp, &slots)->message[m.slot] = m.message;
    } else {
        take_message(hosts->carrier[p->qp].sending, bytes);
    }
}

// --- afterwards ---------------------------------------------------------------------------------------------------

static void forget_sending(const struct weft__sending *s) {
    if (s->span) weft__image_forget(s->span, (size_t)s->slots * s->parts * sizeof *s->span);
    if (s->sends) weft__image_forget(s->sends->step, s->slots * sizeof *s->sends->step);
}

static void forget_pipe(const struct weft__rma_pipe *pipe, uint32_t slots) {
    weft__image_forget(pipe->message, slots * sizeof *pipe->message);
}

void weft__companions_forget(const struct weft__hosts *hosts, bool (*owns)(const void *context, uint32_t host),
                             const void *context) {
    const struct weft__programs *programs = hosts->programs;
    for (uint32_t i = 0; programs && i < programs->n; i++) {
        const struct weft__program *p = &programs->program[i];
        bool own = owns(context, p->job->host[p->rank]);
        for (uint32_t k = 0; !own && k < p->sendings; k++)
            forget_sending(&p->sending[k]);
        for (uint32_t k = 0; !own && k < p->receivings; k++) {
            weft_time_ps *granted_ps = programs->wire[p->receiving[k].connection].granted_ps;
            if (granted_ps) weft__image_forget(granted_ps, p->receiving[k].slots * sizeof *granted_ps);
        }
    }
    for (uint32_t i = 0; hosts->rmas && i < hosts->rmas->connections; i++) {
        const struct weft__rma_connection *c = &hosts->rmas->connection[i];
        if (!owns(context, hosts->qp[c->request.qp].src)) forget_pipe(&c->request, c->slots);
        if (!owns(context, hosts->qp[c->answer.qp].src)) forget_pipe(&c->answer, c->slots);
    }
}
