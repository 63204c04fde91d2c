// SPDX-License-Identifier: Apache-2.0
// Sequence numbers and messages. Opcodes and numbers: IBTA vol. 1 chapter 9 (FIRST, MIDDLE, LAST, ONLY; numbers of 24
// bits, one a packet; a READ request takes as many as its response has packets).
#include <string.h>

#include "decode.h"

// --- numbers ------------------------------------------------------------------------------------------------------

static uint32_t psn_distance(uint32_t from, uint32_t to) {
    return (to - from) & WEFT_PSN_MASK;
}

static void add_gap(struct weft_decode_psns *s, uint32_t from, uint32_t n) {
    if (!n) return;
    if (s->gaps == WEFT_DECODE_GAPS) { // the oldest gap is given up
        s->given_up += s->gap[0].n;
        memmove(s->gap, s->gap + 1, (WEFT_DECODE_GAPS - 1) * sizeof *s->gap);
        s->gaps--;
    }
    s->gap[s->gaps++] = (struct weft_decode_gap){from, n};
}

/// Whether the number was missing; it is no longer.
static bool fills_gap(struct weft_decode_psns *s, uint32_t psn) {
    for (uint32_t i = 0; i < s->gaps; i++) {
        struct weft_decode_gap g = s->gap[i];
        uint32_t at = psn_distance(g.from, psn);
        if (at >= g.n) continue;
        memmove(s->gap + i, s->gap + i + 1, (s->gaps - i - 1) * sizeof *s->gap);
        s->gaps--;
        add_gap(s, g.from, at);
        add_gap(s, (psn + 1) & WEFT_PSN_MASK, g.n - at - 1);
        return true;
    }
    return false;
}

uint64_t weft__decode_missing(const struct weft_decode_psns *s) {
    uint64_t missing = s->given_up;
    for (uint32_t i = 0; i < s->gaps; i++)
        missing += s->gap[i].n;
    return missing;
}

enum weft__decode_psn weft__decode_psn(struct weft_decode_psns *s, uint32_t psn, uint32_t *ret_skipped) {
    uint32_t ahead = psn_distance(s->next, psn), behind = psn_distance(psn, s->next), slack = s->slack;
    *ret_skipped = 0;
    if (!s->begun || (ahead > WEFT_DECODE_RESTART + slack && behind > WEFT_DECODE_RESTART)) {
        bool first = !s->begun;
        uint64_t missing = weft__decode_missing(s);
        *s = (struct weft_decode_psns){.begun = true, .next = (psn + 1) & WEFT_PSN_MASK, .given_up = missing};
        return first ? WEFT__PSN_NEXT : WEFT__PSN_RESTART;
    }
    if (ahead <= WEFT_DECODE_RESTART + slack) {
        uint32_t skipped = ahead > slack ? ahead - slack : 0;
        if (skipped) add_gap(s, (psn - skipped) & WEFT_PSN_MASK, skipped);
        s->next = (psn + 1) & WEFT_PSN_MASK;
        s->slack = 0;
        *ret_skipped = skipped;
        return skipped ? WEFT__PSN_GAP : WEFT__PSN_NEXT;
    }
    return fills_gap(s, psn) ? WEFT__PSN_LATE : WEFT__PSN_RESENT;
}

// --- messages -----------------------------------------------------------------------------------------------------

enum part { FIRST = 1, LAST = 2 };
struct meaning {
    uint8_t verb, part;
    bool response, known;
};

#define MEANS(verb, part)                                                                                              \
    { WEFT_VERB_##verb, part, WEFT_VERB_##verb == WEFT_VERB_READ, true }

static bool meaning_of(uint8_t opcode, struct meaning *ret) {
    static const struct meaning meanings[] = {
        [WEFT_RC_SEND_FIRST] = MEANS(SEND, FIRST),
        [WEFT_RC_SEND_MIDDLE] = MEANS(SEND, 0),
        [WEFT_RC_SEND_LAST] = MEANS(SEND, LAST),
        [WEFT_RC_SEND_LAST_IMMEDIATE] = MEANS(SEND, LAST),
        [WEFT_RC_SEND_LAST_INVALIDATE] = MEANS(SEND, LAST),
        [WEFT_RC_SEND_ONLY] = MEANS(SEND, FIRST | LAST),
        [WEFT_RC_SEND_ONLY_IMMEDIATE] = MEANS(SEND, FIRST | LAST),
        [WEFT_RC_SEND_ONLY_INVALIDATE] = MEANS(SEND, FIRST | LAST),
        [WEFT_RC_WRITE_FIRST] = MEANS(WRITE, FIRST),
        [WEFT_RC_WRITE_MIDDLE] = MEANS(WRITE, 0),
        [WEFT_RC_WRITE_LAST] = MEANS(WRITE, LAST),
        [WEFT_RC_WRITE_LAST_IMMEDIATE] = MEANS(WRITE, LAST),
        [WEFT_RC_WRITE_ONLY] = MEANS(WRITE, FIRST | LAST),
        [WEFT_RC_WRITE_ONLY_IMMEDIATE] = MEANS(WRITE, FIRST | LAST),
        [WEFT_RC_READ_RESPONSE_FIRST] = MEANS(READ, FIRST),
        [WEFT_RC_READ_RESPONSE_MIDDLE] = MEANS(READ, 0),
        [WEFT_RC_READ_RESPONSE_LAST] = MEANS(READ, LAST),
        [WEFT_RC_READ_RESPONSE_ONLY] = MEANS(READ, FIRST | LAST),
    };
    if (opcode >= sizeof meanings / sizeof *meanings) return false;
    *ret = meanings[opcode];
    return ret->known;
}

static void emit_message(const struct weft_decode *d, const struct weft_decode_message *m) {
    if (d->conf.on_message && !m->of->again) d->conf.on_message(d->conf.context, m);
}

static void close_open(const struct weft_decode *d, struct weft_conversation *c, struct weft_decode_open *o,
                       bool response, bool whole) {
    if (!o->open) return;
    o->open = false;
    c->cut_front += o->cut;
    c->cut_back += !whole;
    if (!whole && !o->cut && o->said > o->bytes) o->bytes = o->said;
    struct weft_decode_message m = {.of = c,
                                    .verb = o->verb,
                                    .response = response,
                                    .cut_front = o->cut,
                                    .cut_back = !whole,
                                    .start_ps = o->start_ps,
                                    .bytes = o->bytes};
    emit_message(d, &m);
}

static void count_message(struct weft_conversation *c, const struct meaning *m) {
    if (m->response)
        c->read_responses++;
    else if (m->verb == WEFT_VERB_SEND)
        c->sends++;
    else
        c->writes++;
}

/// A READ request or atomic is a complete message.
static void single_message(const struct weft_decode *d, struct weft_conversation *c, const struct weft__decode_at *at) {
    const struct weft_frame *f = at->frame;
    uint8_t opcode = f->bth.opcode;
    if (opcode == WEFT_RC_COMPARE_SWAP || opcode == WEFT_RC_FETCH_ADD) c->atomics++;
    if (opcode != WEFT_RC_READ_REQUEST) return;
    c->reads++;
    struct weft_decode_message m = {.of = c,
                                    .verb = WEFT_VERB_READ,
                                    .request = true,
                                    .start_ps = at->time_ps,
                                    .bytes = f->layers & WEFT_LAYER_RETH ? f->reth.length : 0};
    emit_message(d, &m);
}

void weft__decode_message(struct weft_decode *d, struct weft_conversation *c, const struct weft__decode_at *at,
                          weft_bytes payload, enum weft__decode_psn is, uint32_t skipped) {
    struct meaning m;
    if (!meaning_of(at->frame->bth.opcode, &m)) {
        close_open(d, c, &c->sending, false, false);
        single_message(d, c, at);
        return;
    }
    struct weft_decode_open *o = m.response ? &c->responding : &c->sending;
    if (payload > c->mtu_bytes) c->mtu_bytes = (uint32_t)payload;
    if (m.part & FIRST || is == WEFT__PSN_RESTART || (o->open && o->verb != m.verb))
        close_open(d, c, o, m.response, false);
    if (!o->open) {
        *o = (struct weft_decode_open){.open = true, .cut = !(m.part & FIRST), .verb = m.verb, .start_ps = at->time_ps};
        if (at->frame->layers & WEFT_LAYER_RETH) o->said = at->frame->reth.length;
        count_message(c, &m);
    } else {
        o->bytes += (weft_bytes)skipped * c->mtu_bytes; // between a message's packets only full ones can be missing
    }
    o->bytes += payload;
    if (m.part & LAST) close_open(d, c, o, m.response, true);
}

void weft__decode_message_end(struct weft_decode *d, struct weft_conversation *c) {
    close_open(d, c, &c->sending, false, false);
    close_open(d, c, &c->responding, true, false);
}
