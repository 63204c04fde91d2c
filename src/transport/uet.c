// SPDX-License-Identifier: Apache-2.0
// The transport of Ultra Ethernet (UET): packets of a connection take many paths, are acknowledged selectively and
// delivered in any order (RUD), or take one path and are delivered in order (ROD). A switch without room for a packet
// trims it to its header, which continues in the control queue; the receiver answers it with a NACK, and the sender
// retransmits that packet. A packet lost without a trace is found by a timeout. None of this needs PFC:
// acknowledgements, NACKs and trimmed packets have their own priority.
//
// Sources: Ultra Ethernet Consortium, UE specification 1.0, packet delivery sublayer (RUD, ROD, SACK, trimming); rules
// and figures as in the consortium's reference simulator, uet-htsim, sim/uec.cpp: a SACK for every 16,384 bytes, and at
// once for the first packet, a marked one, one that asks for it, a duplicate, and when the last gap closes after a SACK
// was requested; 64 bits from the packet or from 63 before it; an immediate NACK of trimmed packets. Differences: PSNs
// do not wrap; a round trip is measured with packets that were sent once, or twice if the first was trimmed (uet-htsim:
// twice for any reason, because its answers tell the two apart); ROD goes back to the missing packet (uet-htsim has no
// ROD). Our own: the window of PSNs, and that a READ request asks for the whole response, whose packets are
// acknowledged.
#include "transport/uet.h"

#include "transport/frames.h"
#include "transport/scoreboard.h"
#include "weft/param.h"
#include "weft/spray.h"
#include "weft/workload.h"

static const char *const deliveries[] = {"rud", "rod", NULL};

#define T struct weft__uet_conf

static const struct weft_spray_ops *spray_of(const struct weft__uet_conf *c) {
    return c->spray.model->ops;
}

static const struct weft_param_table params = WEFT_PARAM_TABLE_OF(
    "uet", struct weft__uet_conf, WEFT_PARAM_UNCHECKED,
    WEFT_CHOICE(T, delivery, "delivery", "rud", deliveries,
                "packets take many paths and are delivered as they arrive (RUD); or they take one, whatever spray "
                "says, and early ones are resent (ROD)"),
    WEFT_MODEL_PARAM(T, spray, "spray", WEFT_KIND_SPRAY, "oblivious", "path of each packet"),
    WEFT_BYTES(T, sack_bytes, "sack", "16384B", "1B", "16MB", "payload per SACK (uet-htsim)"),
    WEFT_UINT(T, reorder.packets, "psn_window", "512", "1", "65536",
              "packets, from the first unacknowledged one on, that may be in flight (assumed)"),
    WEFT_UINT(T, sack_bits, "sack_window", "64", "1", "64", "packets that one SACK covers (UE 1.0: 64)"),
    WEFT_TIME(
        T, timeout_ps, "timeout", "100us", "1us", "never",
        "resend a packet without an answer after this time (uet-htsim: 15us and six drains of a queue, 99us at 100G)"),
    WEFT_UINT(T, control_priority, "control_priority", "6", "0", "7", "priority of SACKs and NACKs (assumed)"));
#undef T

static weft_time_ps uet_patience(const void *conf) {
    return ((const struct weft__uet_conf *)conf)->timeout_ps;
}

static bool uet_in_order(const void *conf) {
    return ((const struct weft__uet_conf *)conf)->delivery == WEFT__UET_ROD;
}

static weft_bytes uet_ack_payload(const void *conf) {
    return ((const struct weft__uet_conf *)conf)->sack_bytes;
}

static bool uet_spreads(const void *conf) {
    const struct weft__uet_conf *c = conf;
    return !uet_in_order(conf) && spray_of(c)->values(c->spray.conf) > 1;
}

static bool is_always(const void *conf) {
    return true;
}

static uint8_t uet_control_priority(const void *conf) {
    return (uint8_t)((const struct weft__uet_conf *)conf)->control_priority;
}

// --- sender -------------------------------------------------------------------------------------------------------

/// A packet in flight.
struct sent {
    uint64_t ns : 46; ///< time of sending, modulo 2^46 (19 hours)
    uint64_t value : 16;
    uint64_t times : 2; ///< how often it was sent, at most TIMES_MAX
};
static const uint64_t NS_MASK = (UINT64_C(1) << 46) - 1;
enum { TIMES_MAX = 3 };
enum { PLACES_MIN = 64 };

struct sender_state {
    void *spray;
    struct sent *sent; ///< [mask + 1]
    struct weft__scoreboard *board;
    uint32_t asked;        ///< the last packet that asked for an acknowledgement; the first need not ask
    bool asks;             ///< its separate request for an acknowledgement is in flight
    uint8_t waits;         ///< how often it has waited for credit in vain since anything was acknowledged
    weft_time_ps empty_ps; ///< since when nothing has been in flight
};

static uint32_t places_of(const struct weft__uet_conf *c) {
    uint32_t places = PLACES_MIN;
    while (places < c->reorder.packets)
        places *= 2;
    return places;
}

static size_t aligned_size(size_t size) {
    return (size + 15) / 16 * 16;
}

static size_t spray_size(const struct weft__uet_conf *c) {
    return aligned_size(spray_of(c)->state_size(c->spray.conf));
}

static size_t uet_sender_size(const void *conf) {
    const struct weft__uet_conf *c = conf;
    return aligned_size(sizeof(struct sender_state)) + spray_size(c) +
           aligned_size(places_of(c) * sizeof(struct sent)) + weft__scoreboard_size(c->reorder.packets);
}

static void uet_start(struct weft_qp_sender *s, const struct weft_transport_fact *fact) {
    const struct weft__uet_conf *c = fact->conf;
    struct sender_state *state = fact->state;
    state->spray = (char *)state + aligned_size(sizeof *state);
    state->sent = (struct sent *)(void *)((char *)state->spray + spray_size(c));
    state->board =
        (struct weft__scoreboard *)(void *)((char *)state->sent + aligned_size(places_of(c) * sizeof(struct sent)));
    weft__scoreboard_start(state->board, c->reorder.packets, s);
    // The entropy was drawn from the run's seed; including it makes queue pairs of one host differ.
    uint64_t seed = (uint64_t)fact->qp->entropy << 32 | fact->qp->src;
    struct weft_random random = weft_random_stream(seed, fact->qp->at_src, WEFT_RANDOM_PATH);
    spray_of(c)->start(state->spray, c->spray.conf, &random, fact->planes);
}

static void tell_spray(const struct weft_transport_fact *fact, uint32_t psn, enum weft_spray_news what) {
    const struct weft__uet_conf *c = fact->conf;
    struct sender_state *state = fact->state;
    const struct weft_spray_ops *spray = spray_of(c);
    if (spray->news && c->delivery == WEFT__UET_RUD)
        spray->news(state->spray, c->spray.conf, fact->now_ps, state->sent[psn & state->board->mask].value, what);
}

static void arm_timer(struct weft_qp_sender *s, weft_time_ps due, weft_time_ps *ret_timer) {
    s->armed = due != WEFT_TIME_NEVER;
    if (s->armed) *ret_timer = due;
}

/// The header entropy of a queue pair for one of its path values.
static uint16_t entropy_of(const struct weft_transport_fact *fact, uint32_t entropy, uint32_t value) {
    const struct weft__uet_conf *c = fact->conf;
    uint32_t values = c->delivery == WEFT__UET_ROD ? 1 : spray_of(c)->values(c->spray.conf);
    return (uint16_t)((entropy & ~(values - 1)) | value);
}

static uint16_t uet_path(const struct weft_transport_fact *fact) {
    const struct weft__uet_conf *c = fact->conf;
    struct sender_state *state = fact->state;
    bool single = c->delivery == WEFT__UET_ROD;
    uint32_t value = single ? 0 : spray_of(c)->next(state->spray, c->spray.conf, fact->now_ps, fact->plane);
    return entropy_of(fact, fact->qp->entropy, value & ~WEFT_SPRAY_ASK);
}

static void uet_turn(struct weft_qp_sender *s, const struct weft_transport_fact *fact,
                     struct weft_transport_send *ret) {
    const struct weft__uet_conf *c = fact->conf;
    struct sender_state *state = fact->state;
    ret->again = weft__scoreboard_send(state->board, s, &ret->psn);
    bool single = c->delivery == WEFT__UET_ROD;
    uint32_t value = single ? 0 : spray_of(c)->next(state->spray, c->spray.conf, fact->now_ps, fact->plane);
    bool asks = value & WEFT_SPRAY_ASK;
    value &= ~WEFT_SPRAY_ASK;
    struct sent *sent = &state->sent[ret->psn & state->board->mask];
    uint8_t times = !ret->again ? 1 : sent->times < TIMES_MAX ? (uint8_t)(sent->times + 1) : TIMES_MAX;
    *sent = (struct sent){fact->now_ps / WEFT_PS_PER_NS & NS_MASK, value & UINT16_MAX, times & 3u};
    ret->entropy = entropy_of(fact, ret->entropy, value);
    bool full = (weft_bytes)(s->next - s->una) * fact->qp->mtu >= s->window_bytes;
    if (ret->again || asks || full || s->blocked || s->next == s->posted) {
        ret->flags = WEFT_PACKET_ACK_REQUEST;
        state->asked = ret->psn;
    }
    if (!s->armed)
        arm_timer(s, c->timeout_ps == WEFT_TIME_NEVER ? c->timeout_ps : fact->now_ps + c->timeout_ps, &ret->timer_ps);
}

static weft_time_ps age_of(const struct sender_state *state, weft_time_ps now, uint32_t psn) {
    return ((now / WEFT_PS_PER_NS - state->sent[psn & state->board->mask].ns) & NS_MASK) * WEFT_PS_PER_NS;
}

/// Marks everything that a SACK or NACK reports as arrived.
static void take_sack(struct weft_qp_sender *s, const struct weft_transport_fact *fact, uint32_t below,
                      struct weft_transport_news *ret) {
    struct weft__scoreboard *board = ((struct sender_state *)fact->state)->board;
    ret->acked = weft__scoreboard_came_below(board, s, below);
    ret->acked += weft__scoreboard_came_all(board, s, fact->sack->base, fact->sack->bits);
    fact->sample->below = board->below;
    if (!ret->acked) return;
    s->progress_ps = fact->now_ps;
    s->timeouts = 0;
    ((struct sender_state *)fact->state)->waits = 0;
}

static void on_sack(struct weft_qp_sender *s, const struct weft_transport_fact *fact, const struct weft_packet *p,
                    struct weft_transport_news *ret) {
    struct sender_state *state = fact->state;
    uint32_t psn = fact->sack->psn;
    if (psn == WEFT_NONE) state->asks = false;
    bool known = psn < s->highest && s->highest - psn <= state->board->mask + 1;
    bool timed = known && weft__scoreboard_is_out(state->board, s, psn) &&
                 state->sent[psn & state->board->mask].times < TIMES_MAX;
    weft_time_ps age = timed ? age_of(state, fact->now_ps, psn) : 0;
    take_sack(s, fact, p->psn, ret);
    if (ret->acked) ret->rtt_ps = age;
    if (known) tell_spray(fact, psn, p->flags & WEFT_PACKET_ECHO ? WEFT_SPRAY_MARKED : WEFT_SPRAY_GOOD);
}

/// Credit for a trimmed packet may be lost, too, or its turn may take long: when to send without credit, twice as late
/// each time.
static weft_time_ps gives_up(const struct sender_state *state, const struct weft__uet_conf *c) {
    enum { DOUBLINGS = 10 };
    if (c->timeout_ps == WEFT_TIME_NEVER) return WEFT_TIME_NEVER;
    return state->empty_ps + (c->timeout_ps << (state->waits < DOUBLINGS ? state->waits : DOUBLINGS));
}

/// RUD: that packet is lost. ROD: everything from there on is lost.
static void on_nack(struct weft_qp_sender *s, const struct weft_transport_fact *fact, const struct weft_packet *p,
                    struct weft_transport_news *ret) {
    const struct weft__uet_conf *c = fact->conf;
    struct sender_state *state = fact->state;
    uint32_t psn = fact->sack->psn;
    take_sack(s, fact, p->psn, ret);
    uint32_t end = c->delivery == WEFT__UET_ROD ? s->highest : psn + 1;
    if (weft__scoreboard_is_out(state->board, s, psn)) {
        tell_spray(fact, psn, WEFT_SPRAY_TRIMMED);
        ret->trim_ps = age_of(state, fact->now_ps, psn);
    }
    for (; psn < end; psn++)
        ret->lost_packets += weft__scoreboard_lose(state->board, s, psn);
    ret->lost = ret->lost_packets;
    s->timeouts = 0; // its receiver knows of the packet
    if (s->next != s->una) return;
    state->empty_ps = fact->now_ps;
    if (!s->armed) arm_timer(s, gives_up(state, c), &ret->timer_ps);
}

static void uet_control(struct weft_qp_sender *s, const struct weft_transport_fact *fact, const struct weft_packet *p,
                        struct weft_transport_news *ret) {
    ret->moved = true;
    if (p->kind == WEFT_PACKET_READ || !fact->sack) return;
    if (p->kind == WEFT_PACKET_NAK)
        on_nack(s, fact, p, ret);
    else
        on_sack(s, fact, p, ret);
}

/// The window was cut while everything in flight had already left, and perhaps no SACK is due for it: a request follows
/// the first of these packets through the same queues, so that it does not overtake it.
static void uet_held(struct weft_qp_sender *s, const struct weft_transport_fact *fact,
                     struct weft_transport_reply *ret) {
    struct sender_state *state = fact->state;
    if (s->next == s->una || state->asks || weft__scoreboard_is_out(state->board, s, state->asked)) return;
    uint32_t psn = state->board->below;
    while (!weft__scoreboard_is_out(state->board, s, psn))
        psn++;
    state->asks = true;
    *ret = (struct weft_transport_reply){
        .psn = psn, .kind = WEFT_PACKET_ACK, .priority = fact->qp->priority, .asks = true};
    ret->entropy = entropy_of(fact, fact->qp->entropy, state->sent[psn & state->board->mask].value);
}

static void uet_sender_timer(struct weft_qp_sender *s, const struct weft_transport_fact *fact,
                             struct weft_transport_news *ret) {
    const struct weft__uet_conf *c = fact->conf;
    struct sender_state *state = fact->state;
    weft_time_ps oldest = 0;
    bool any = false;
    s->armed = false;
    for (uint32_t psn = state->board->below; psn < s->highest; psn++) {
        if (!weft__scoreboard_is_out(state->board, s, psn)) continue;
        weft_time_ps age = age_of(state, fact->now_ps, psn);
        if (age >= c->timeout_ps) {
            tell_spray(fact, psn, WEFT_SPRAY_TIMEOUT);
            ret->lost_packets += weft__scoreboard_lose(state->board, s, psn);
            state->sent[psn & state->board->mask].times = TIMES_MAX; // an answer may belong to either transmission
        } else {
            any = true;
            if (age > oldest) oldest = age;
        }
    }
    if (any) arm_timer(s, fact->now_ps + c->timeout_ps - oldest, &ret->timer_ps);
    bool held = s->next == s->una && s->next < s->posted && !ret->lost_packets;
    if (held && fact->now_ps < gives_up(state, c)) {
        arm_timer(s, gives_up(state, c), &ret->timer_ps);
        return;
    }
    if (!ret->lost_packets && !held) return;
    if (held && state->waits < UINT8_MAX) state->waits++;
    state->asks = false; // that request, or its answer, may be lost, too
    if (s->timeouts < UINT8_MAX) s->timeouts++;
    ret->lost = ret->moved = true;
}

static uint32_t uet_planes(const void *sender_state, const void *conf) {
    const struct weft__uet_conf *c = conf;
    const struct sender_state *state = sender_state;
    const struct weft_spray_ops *spray = spray_of(c);
    return state->board && spray->planes && c->delivery == WEFT__UET_RUD ? spray->planes(state->spray) : 0;
}

static const char *uet_check_sender(const struct weft_qp_sender *s, const struct weft_transport_fact *fact) {
    const struct weft__uet_conf *c = fact->conf;
    const struct sender_state *state = fact->state;
    if (!state->board) return NULL; // not begun
    if (s->highest > s->posted) return "more was sent than there is";
    const char *wrong = weft__scoreboard_check(state->board, s);
    return wrong ? wrong : spray_of(c)->check(state->spray, c->spray.conf);
}

// --- receiver -----------------------------------------------------------------------------------------------------

struct receiver_state {
    struct weft_sack sack; ///< for the reply being built
    bool asked;            ///< an acknowledgement was requested while packets were missing
    struct weft__reorder reorder;
};

static size_t uet_receiver_size(const void *conf, const struct weft_qp_conf *qp) {
    const struct weft__uet_conf *c = conf;
    return offsetof(struct receiver_state, reorder) + weft__reorder_size(&c->reorder, weft_qp_has_messages(qp));
}

static void answer_packet(struct weft_qp_receiver *r, const struct weft_transport_fact *fact,
                          enum weft_packet_kind kind, uint32_t psn, struct weft_transport_reply *ret) {
    const struct weft__uet_conf *c = fact->conf;
    struct receiver_state *state = fact->state;
    ret->kind = (uint8_t)kind;
    ret->psn = r->expected;
    ret->priority = (uint8_t)c->control_priority;
    ret->sack = &state->sack;
    state->sack = (struct weft_sack){.psn = psn};
}

/// `from`: the first packet that it covers.
static void answer_sack(struct weft_qp_receiver *r, const struct weft_transport_fact *fact, uint32_t psn, uint32_t from,
                        bool marked, struct weft_transport_reply *ret) {
    const struct weft__uet_conf *c = fact->conf;
    struct receiver_state *state = fact->state;
    answer_packet(r, fact, WEFT_PACKET_ACK, psn, ret);
    ret->echo = marked;
    r->unacked = 0;
    state->sack.base = from > r->expected + 1 ? from : r->expected + 1;
    state->sack.bits = weft__reorder_bits(&state->reorder, &c->reorder, r->expected, state->sack.base);
    if (c->sack_bits < 64) state->sack.bits &= (UINT64_C(1) << c->sack_bits) - 1;
}

/// The first of the packets up to this one that a SACK can cover.
static uint32_t up_to(const struct weft_transport_fact *fact, uint32_t psn) {
    uint32_t before = (uint32_t)((const struct weft__uet_conf *)fact->conf)->sack_bits - 1;
    return psn > before ? psn - before : 0;
}

static void on_missing(struct weft_qp_receiver *r, const struct weft_transport_fact *fact, uint32_t psn,
                       struct weft_transport_reply *ret) {
    const struct weft__uet_conf *c = fact->conf;
    if (c->delivery == WEFT__UET_RUD) {
        answer_packet(r, fact, WEFT_PACKET_NAK, psn, ret);
    } else if (!r->nak_sent) { // once, until the expected one comes
        r->nak_sent = true;
        answer_packet(r, fact, WEFT_PACKET_NAK, r->expected, ret);
    }
}

static bool came_before(const struct weft_qp_receiver *r, const struct weft_transport_fact *fact, uint32_t psn) {
    const struct weft__uet_conf *c = fact->conf;
    const struct receiver_state *state = fact->state;
    return psn < r->expected ||
           (psn > r->expected && weft__reorder_has(&state->reorder, &c->reorder, r->expected, psn));
}

/// Takes a packet that has not arrived before. False: it is too early.
static bool place_packet(struct weft_qp_receiver *r, const struct weft_transport_fact *fact,
                         const struct weft_packet *p, struct weft_transport_receipt *ret) {
    const struct weft__uet_conf *c = fact->conf;
    struct receiver_state *state = fact->state;
    bool last = p->flags & WEFT_PACKET_LAST;
    if (p->psn == r->expected) {
        r->expected = weft__reorder_next(&state->reorder, &c->reorder, fact->now_ps, p->psn, &ret->messages);
        ret->messages += last;
        r->nak_sent = false;
        return true;
    }
    ret->early = true;
    return c->delivery == WEFT__UET_RUD && weft__reorder_put(&state->reorder, &c->reorder, fact->now_ps, r->expected,
                                                             p->psn, last) == WEFT__REORDER_PLACED;
}

static void take_data(struct weft_qp_receiver *r, const struct weft_transport_fact *fact, const struct weft_packet *p,
                      struct weft_transport_receipt *ret) {
    const struct weft__uet_conf *c = fact->conf;
    struct receiver_state *state = fact->state;
    bool marked = p->ecn == WEFT_ECN_CE, asks = p->flags & WEFT_PACKET_ACK_REQUEST;
    if (came_before(r, fact, p->psn)) {
        ret->verdict = WEFT_TRANSPORT_DUPLICATE;
        ret->early = p->psn > r->expected;
        answer_sack(r, fact, p->psn, up_to(fact, p->psn), marked, &ret->reply);
        return;
    }
    bool first = r->progress_ps == WEFT_TIME_NEVER;
    if (!place_packet(r, fact, p, ret)) {
        ret->verdict = WEFT_TRANSPORT_REFUSED;
        on_missing(r, fact, p->psn, &ret->reply);
        return;
    }
    r->progress_ps = fact->now_ps;
    state->asked |= asks;
    bool closed = state->asked && !state->reorder.ahead;
    if (closed) state->asked = false;
    if (++r->unacked * (weft_bytes)fact->qp->mtu < c->sack_bytes && !marked && !asks && !first && !closed) return;
    answer_sack(r, fact, p->psn, marked || asks ? p->psn : up_to(fact, p->psn), marked, &ret->reply);
}

/// An answer uses the entropy of its packet, so answers take many paths, too.
static void uet_data(struct weft_qp_receiver *r, const struct weft_transport_fact *fact, const struct weft_packet *p,
                     struct weft_transport_receipt *ret) {
    take_data(r, fact, p, ret);
    ret->reply.entropy = p->entropy;
}

static void uet_trimmed(struct weft_qp_receiver *r, const struct weft_transport_fact *fact, const struct weft_packet *p,
                        struct weft_transport_receipt *ret) {
    ret->verdict = WEFT_TRANSPORT_REFUSED;
    if (came_before(r, fact, p->psn))
        answer_sack(r, fact, p->psn, up_to(fact, p->psn), false, &ret->reply);
    else
        on_missing(r, fact, p->psn, &ret->reply);
    ret->reply.entropy = p->entropy;
}

static void uet_asked(struct weft_qp_receiver *r, const struct weft_transport_fact *fact, const struct weft_packet *p,
                      struct weft_transport_reply *ret) {
    answer_sack(r, fact, WEFT_NONE, p->psn, false, ret);
    ret->entropy = p->entropy;
}

/// For a READ: nothing has arrived yet, so the request may be lost.
static void uet_receiver_timer(struct weft_qp_receiver *r, const struct weft_transport_fact *fact,
                               struct weft_transport_receipt *ret) {
    const struct weft__uet_conf *c = fact->conf;
    if (r->progress_ps != WEFT_TIME_NEVER) return;
    ret->reply = (struct weft_transport_reply){.psn = 0, .kind = WEFT_PACKET_READ, .priority = fact->qp->priority};
    if (c->timeout_ps != WEFT_TIME_NEVER) ret->timer_ps = fact->now_ps + c->timeout_ps;
}

static const char *uet_check_receiver(const struct weft_qp_receiver *r, const struct weft_transport_fact *fact) {
    const struct weft__uet_conf *c = fact->conf;
    const struct receiver_state *state = fact->state;
    if (r->expected > fact->qp->packets) return "more came than there is";
    return weft__reorder_check(&state->reorder, &c->reorder, r->expected);
}

const struct weft_model weft__transport_uet =
    WEFT_MODEL_OF(TRANSPORT, "uet",
                  "Ultra Ethernet: spraying senders, selective acknowledgement, NACKs of trimmed packets; RUD and ROD",
                  "UE specification 1.0, packet delivery sublayer; uet-htsim, sim/uec.cpp", &params,
                  &(const struct weft_transport_ops){
                      .on_turn = uet_turn,
                      .on_data = uet_data,
                      .on_trimmed = uet_trimmed,
                      .on_control = uet_control,
                      .on_held = uet_held,
                      .on_asked = uet_asked,
                      .on_start = uet_start,
                      .on_sender_timer = uet_sender_timer,
                      .on_receiver_timer = uet_receiver_timer,
                      .sender_size = uet_sender_size,
                      .receiver_size = uet_receiver_size,
                      .patience = uet_patience,
                      .frames = &weft__frames_uet,
                      .in_order = uet_in_order,
                      .echoes = is_always,
                      .sacks = is_always,
                      .planes = uet_planes,
                      .path = uet_path,
                      .spreads = uet_spreads,
                      .ack_payload = uet_ack_payload,
                      .control_priority = uet_control_priority,
                      .acknowledges_reads = true,
                      .check_sender = uet_check_sender,
                      .check_receiver = uet_check_receiver,
                  },
                  .draws = true);
