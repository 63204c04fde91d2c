// SPDX-License-Identifier: Apache-2.0
// What the two ends of a link tell each other: pauses (IEEE 802.3 annex 31B, 802.1Q clause 36) and DCBX.
#include <string.h>

#include "base/grow.h"
#include "base/units.h"
#include "decode.h"

// --- pauses -------------------------------------------------------------------------------------------------------

/// NULL: the maximum number is reached.
static struct weft_decode_pauser *pauser_of(struct weft_decode *d, const struct weft__decode_at *at, uint8_t priority) {
    const uint8_t *mac = at->frame->ethernet.src;
    for (uint32_t i = 0; i < d->pausers; i++) {
        struct weft_decode_pauser *p = &d->pauser[i];
        if (p->interface == at->raw->interface && p->priority == priority && !memcmp(p->mac, mac, 6)) return p;
    }
    if (d->pausers == WEFT_DECODE_PAUSERS_MAX) return NULL;
    if (!d->pauser) d->pauser = weft_arena_alloc(d->arena, WEFT_DECODE_PAUSERS_MAX, sizeof *d->pauser);
    struct weft_decode_pauser *p = &d->pauser[d->pausers++];
    *p = (struct weft_decode_pauser){.interface = at->raw->interface, .priority = priority, .first_ps = at->time_ps};
    memcpy(p->mac, mac, 6);
    p->assumed = !weft_decode_interface_at(d, at->raw->interface)->rate_bps;
    return p;
}

/// The current pause ends now at the latest.
static void end_pause(struct weft_decode_pauser *p, weft_time_ps now) {
    weft_time_ps until = p->until_ps < now ? p->until_ps : now;
    if (until > p->since_ps) p->paused_ps += until - p->since_ps;
    p->until_ps = p->since_ps = now;
}

static void pause_class(struct weft_decode *d, const struct weft__decode_at *at, uint8_t priority, uint16_t quanta) {
    struct weft_decode_pauser *p = pauser_of(d, at, priority);
    if (!p) return;
    weft_rate_bps rate = weft_decode_interface_at(d, at->raw->interface)->rate_bps;
    p->last_ps = at->time_ps;
    *(quanta ? &p->xoff : &p->xon) += 1;
    bool paused = p->until_ps > at->time_ps;
    if (d->conf.on_pause && paused != !!quanta) d->conf.on_pause(d->conf.context, d, p, quanta);
    end_pause(p, at->time_ps);
    p->until_ps =
        at->time_ps + weft_time_of_bytes((weft_bytes)quanta * WEFT_QUANTUM_BITS / 8, rate ? rate : d->conf.rate_bps);
}

void weft__decode_pause(struct weft_decode *d, const struct weft__decode_at *at) {
    const struct weft_frame *f = at->frame;
    d->pauses++;
    if (f->layers & WEFT_LAYER_PAUSE) pause_class(d, at, WEFT_PRIORITIES, f->pause.quanta);
    for (uint8_t p = 0; f->layers & WEFT_LAYER_PFC && p < WEFT_PRIORITIES; p++)
        if (f->pfc.classes >> p & 1) pause_class(d, at, p, f->pfc.quanta[p]);
}

void weft__decode_pause_end(struct weft_decode *d) {
    bool assumed = false;
    for (uint32_t i = 0; i < d->pausers; i++) {
        end_pause(&d->pauser[i], d->last_ps);
        assumed |= d->pauser[i].assumed;
    }
    if (assumed)
        weft__decode_warn(d, "the file does not say how fast every paused link is: times paused assume %s (--rate)",
                          weft__short_rate(d->conf.rate_bps).text);
    if (d->pausers == WEFT_DECODE_PAUSERS_MAX)
        weft__decode_warn(d, "%u stations and classes sent pauses; those of later ones are in the total only",
                          WEFT_DECODE_PAUSERS_MAX);
}

// --- DCBX ---------------------------------------------------------------------------------------------------------

static struct weft_decode_lldp *lldp_of(struct weft_decode *d, uint32_t interface, const struct weft_dcbx_end *end) {
    for (uint32_t i = 0; i < d->lldps; i++)
        if (d->lldp[i].interface == interface && !memcmp(d->lldp[i].end.mac, end->mac, 6)) return &d->lldp[i];
    if (d->lldps == WEFT_DECODE_LLDP_MAX) return NULL;
    struct weft_decode_lldp *l = &WEFT__ADD(d->arena, d->lldp, d->lldps);
    l->interface = interface;
    l->end = *end;
    return l;
}

void weft__decode_lldp(struct weft_decode *d, const struct weft__decode_at *at) {
    struct weft_lldpdu pdu;
    struct weft_dcbx_end end;
    memset(&end, 0, sizeof end);
    d->lldp_frames++;
    if (weft_dcbx_frame_decode(at->raw->data, at->raw->captured, &pdu, &end)) {
        if (!d->broken++) d->broken_first = at->raw->number;
        return;
    }
    struct weft_decode_lldp *l = lldp_of(d, at->raw->interface, &end);
    if (!l) return;
    l->frames++;
    if (!memcmp(&l->end, &end, sizeof end)) return;
    l->end = end;
    l->changes++;
    l->changed_ps = at->time_ps;
}

static void differences_of(struct weft_decode *d, const struct weft_decode_lldp *own,
                           const struct weft_decode_lldp *peer) {
    struct weft_dcbx_operation operation;
    char found[256], consequence[256];
    weft_dcbx_negotiate(&own->end, &peer->end, &operation);
    for (uint32_t i = 0; i < operation.differences && i < WEFT_DCBX_DIFFERENCES_MAX; i++) {
        weft_dcbx_explain(&operation.difference[i], found, consequence, sizeof found);
        struct weft_decode_difference *row = &d->difference[d->differences++];
        *row = (struct weft_decode_difference){.interface = own->interface,
                                               .found = weft_arena_text(d->arena, found),
                                               .consequence = weft_arena_text(d->arena, consequence)};
        memcpy(row->own, own->end.mac, 6);
        memcpy(row->peer, peer->end.mac, 6);
    }
}

/// Two senders at one interface are the ends of its link; more than two mean a copy of several links.
void weft__decode_lldp_end(struct weft_decode *d) {
    if (d->lldps < 2) return;
    d->difference = weft_arena_alloc(d->arena, (size_t)d->lldps / 2 * WEFT_DCBX_DIFFERENCES_MAX, sizeof *d->difference);
    for (uint32_t i = 0; i < d->lldps; i++) {
        uint32_t others = 0, first = i, other = i;
        for (uint32_t k = 0; k < d->lldps; k++) {
            if (k == i || d->lldp[k].interface != d->lldp[i].interface) continue;
            others++;
            other = k;
            if (k < first) first = k;
        }
        if (others == 1 && first == i) differences_of(d, &d->lldp[i], &d->lldp[other]);
    }
}
