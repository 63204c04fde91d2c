// SPDX-License-Identifier: Apache-2.0
// Every transport between two hosts, over a channel that loses, trims, repeats, delays and marks: everything posted is
// delivered once, messages are whole in their order, nothing is acknowledged that did not come, every packet is
// accounted for, and the same seed gives the same answer. There is no engine: what a transport asks for is done here.
#include "models.h"

#include <stdio.h>

#include "weft/random.h"
#include "weft/transport.h"
#include "weft/workload.h"

enum { PACKETS = 300, IN_FLIGHT = 4096, MTU = 1000, EVENTS_MAX = 200000 };
#define NS WEFT_PS_PER_NS
#define US WEFT_PS_PER_US

struct channel {
    double loss, repeat, trim;        ///< trim: the payload is lost, the header is not
    weft_time_ps delay_ps, jitter_ps; ///< jitter above 0: packets overtake one another
};

struct flight {
    struct weft_packet p;
    bool to_receiver;
    bool sacks;
    struct weft_sack sack; ///< of a reply, if it has one
};

struct pair {
    const struct weft_transport_ops *ops;
    struct weft_qp_conf qp;
    struct weft_qp_sender sender;
    struct weft_qp_sample sample;
    struct weft_qp_receiver receiver;
    struct weft_transport_fact at_sender, at_receiver;
    weft_time_ps now_ps, turn_ps, sender_timer_ps, receiver_timer_ps, post_ps;
    struct channel channel;
    weft_bytes window_bytes; ///< at most; 0: none
    struct weft_random random;
    struct flight flight[IN_FLIGHT];
    uint32_t flights;
    bool came[PACKETS], ends[PACKETS]; ///< per PSN: delivered; the last of a message
    uint32_t delivered, discarded, lost, sent, messages;
    const char *wrong;
    uint64_t digest;
};

static void expect(struct pair *c, bool holds, const char *otherwise) {
    if (!holds && !c->wrong) c->wrong = otherwise;
}

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static bool chance(struct pair *c, double p) {
    return weft_random_unit(&c->random) < p;
}

static void mix(struct pair *c, uint64_t value) {
    c->digest = (c->digest ^ value ^ c->now_ps << 16) * UINT64_C(0x9e3779b97f4a7c15);
}

/// Everything below it is acknowledged.
static uint32_t acked(const struct pair *c) {
    return c->sender.counts ? c->sample.below : c->sender.una;
}

static void check(struct pair *c) {
    const char *broken = c->ops->check_sender(&c->sender, &c->at_sender);
    if (!broken) broken = c->ops->check_receiver(&c->receiver, &c->at_receiver);
    expect(c, !broken, broken);
    expect(c, c->qp.verb == WEFT_VERB_READ || (acked(c) <= c->receiver.expected && c->sender.una <= c->delivered),
           "acknowledged, but it never came");
    uint32_t data = 0;
    for (uint32_t i = 0; i < c->flights; i++)
        data += c->flight[i].to_receiver;
    expect(c, c->sent == c->delivered + c->discarded + c->lost + data, "a packet is not accounted for");
}

static void set_timer(struct pair *c, weft_time_ps *timer, weft_time_ps answer) {
    if (!answer) return;
    expect(c, answer > c->now_ps, "a timer that is not ahead");
    *timer = answer;
}

// --- the channel --------------------------------------------------------------------------------------------------

static void carry(struct pair *c, const struct weft_packet *p, bool to_receiver, const struct weft_sack *sack) {
    c->sent += to_receiver;
    if (chance(c, c->channel.loss)) {
        c->lost += to_receiver;
        return;
    }
    assert_true(c->flights < IN_FLIGHT);
    struct flight *f = &c->flight[c->flights++];
    *f = (struct flight){*p, to_receiver, sack != NULL, sack ? *sack : (struct weft_sack){0}};
    f->p.time_ps = c->now_ps + c->channel.delay_ps;
    if (c->channel.jitter_ps) f->p.time_ps += weft_random_below(&c->random, c->channel.jitter_ps);
    if (to_receiver && chance(c, 0.02)) f->p.ecn = WEFT_ECN_CE;
    if (p->kind == WEFT_PACKET_DATA && c->ops->on_trimmed && chance(c, c->channel.trim)) f->p.spare = 1;
    if (chance(c, c->channel.repeat)) carry(c, p, to_receiver, sack);
}

/// The next to arrive; equal times in the order of sending.
static uint32_t next_flight(const struct pair *c) {
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < c->flights; i++)
        if (best == UINT32_MAX || c->flight[i].p.time_ps < c->flight[best].p.time_ps) best = i;
    return best;
}

static struct flight take_flight(struct pair *c, uint32_t i) {
    struct flight f = c->flight[i];
    memmove(&c->flight[i], &c->flight[i + 1], (--c->flights - i) * sizeof f);
    return f;
}

// --- the hosts ----------------------------------------------------------------------------------------------------

/// Bits that an ACK has begin behind the first packet that is missing, and tell of packets that came.
static void check_sack(struct pair *c, const struct weft_sack *sack) {
    expect(c, sack->base > c->receiver.expected, "a SACK tells of what is known");
    expect(c, sack->base >= PACKETS || c->came[sack->base] == (sack->bits & 1), "a SACK leaves a packet out");
    for (uint32_t i = 0; i < 64; i++)
        if (sack->bits >> i & 1)
            expect(c, sack->base + i < PACKETS && c->came[sack->base + i], "a SACK tells of what never came");
}

static void control(struct pair *c, const struct weft_transport_reply *reply) {
    if (!reply->kind) return;
    expect(c, reply->kind < WEFT_PACKET_SFCM && reply->priority < WEFT_PRIORITIES, "a reply that is none");
    mix(c, reply->psn + ((uint64_t)reply->kind << 32));
    if (reply->kind == WEFT_PACKET_CNP) return;
    if (reply->kind == WEFT_PACKET_ACK && reply->sack && reply->sack->base) check_sack(c, reply->sack);
    struct weft_packet p = {.psn = reply->psn, .kind = reply->kind & 15u, .priority = reply->priority & 7u};
    carry(c, &p, reply->asks, reply->sack);
}

static void deliver(struct pair *c, const struct weft_packet *p, const struct weft_transport_receipt *receipt) {
    if (receipt->verdict != WEFT_TRANSPORT_DELIVERED) {
        c->discarded++;
        return;
    }
    expect(c, p->psn < PACKETS && !c->came[p->psn], "delivered twice");
    c->came[p->psn] = true;
    c->delivered++;
    c->receiver.delivered_bytes += MTU;
}

/// Messages are whole if all packets up to the end of the last of them have come.
static void count_messages(struct pair *c, uint32_t messages) {
    c->messages += messages;
    uint32_t whole = 0;
    for (uint32_t psn = 0; psn < PACKETS && c->came[psn]; psn++)
        whole += c->ends[psn];
    expect(c, c->messages <= whole, "a message is not whole, or one before it is not");
}

static void on_data(struct pair *c, const struct weft_packet *p) {
    struct weft_transport_receipt receipt = {.messages = 0};
    if (p->spare) {
        c->ops->on_trimmed(&c->receiver, &c->at_receiver, p, &receipt);
        expect(c, receipt.verdict != WEFT_TRANSPORT_DELIVERED, "a trimmed packet is delivered");
        c->discarded++;
        control(c, &receipt.reply);
        return;
    }
    if (p->kind == WEFT_PACKET_ACK) {
        struct weft_transport_reply answer = {.kind = 0};
        c->ops->on_asked(&c->receiver, &c->at_receiver, p, &answer);
        c->discarded++;
        control(c, &answer);
        return;
    }
    c->ops->on_data(&c->receiver, &c->at_receiver, p, &receipt);
    expect(c, receipt.early || receipt.verdict != WEFT_TRANSPORT_REFUSED, "the expected packet is refused");
    control(c, &receipt.notify);
    deliver(c, p, &receipt);
    count_messages(c, receipt.messages);
    control(c, &receipt.reply);
    set_timer(c, &c->receiver_timer_ps, receipt.timer_ps);
    if (c->receiver.expected == PACKETS) c->receiver_timer_ps = WEFT_TIME_NEVER;
}

static bool may_send(const struct pair *c) {
    const struct weft_qp_sender *s = &c->sender;
    return s->started && !s->done && !s->blocked && s->next < s->posted &&
           (weft_bytes)(s->next - s->una) * MTU < s->window_bytes;
}

/// The window holds the sender back, or nothing does.
static void ask(struct pair *c) {
    if (!c->ops->on_held || c->sender.done || c->sender.next >= c->sender.posted || may_send(c)) return;
    struct weft_transport_reply reply = {.kind = 0};
    c->ops->on_held(&c->sender, &c->at_sender, &reply);
    expect(c, !reply.kind || reply.asks, "what a sender sends that is held asks for nothing");
    control(c, &reply);
}

static void act_on(struct pair *c, const struct weft_transport_news *news) {
    set_timer(c, &c->sender_timer_ps, news->timer_ps);
    expect(c, news->acked || !news->rtt_ps, "a round trip of nothing");
    mix(c, news->acked + ((uint64_t)news->lost << 32));
    if (c->window_bytes) // it is cut by each loss, and grows by a packet with each acknowledgement
        c->sender.window_bytes = news->lost ? MTU : least(c->sender.window_bytes + MTU, c->window_bytes);
    ask(c);
    if (c->sender.una < PACKETS || c->qp.verb == WEFT_VERB_READ) return;
    c->sender.done = true;
    c->sender_timer_ps = WEFT_TIME_NEVER;
}

static void start(struct pair *c) {
    if (c->sender.started) return;
    c->sender.started = true;
    c->ops->on_start(&c->sender, &c->at_sender);
}

static void on_control(struct pair *c, const struct weft_packet *p) {
    struct weft_transport_news news = {.acked = 0};
    if (c->sender.done) return;
    start(c);
    c->ops->on_control(&c->sender, &c->at_sender, p, &news);
    act_on(c, &news);
}

static void turn(struct pair *c) {
    struct weft_transport_send ret = {.entropy = c->qp.entropy};
    c->ops->on_turn(&c->sender, &c->at_sender, &ret);
    expect(c, ret.psn < c->sender.posted, "a packet that is not posted");
    struct weft_packet p = {.psn = ret.psn, .kind = WEFT_PACKET_DATA, .priority = 3, .flags = ret.flags & 7u};
    if (c->qp.packets == WEFT_QP_MESSAGES && c->ends[ret.psn]) p.flags |= WEFT_PACKET_LAST | WEFT_PACKET_ACK_REQUEST;
    mix(c, ret.psn);
    carry(c, &p, true, NULL);
    set_timer(c, &c->sender_timer_ps, ret.timer_ps);
    c->turn_ps = c->now_ps + 100 * NS;
}

/// One message more, or all that there is.
static void post(struct pair *c) {
    uint32_t left = PACKETS - c->sender.posted;
    bool messages = c->qp.packets == WEFT_QP_MESSAGES;
    uint32_t n = messages ? 1 + (uint32_t)weft_random_below(&c->random, left < 12 ? left : 12) : left;
    c->sender.posted += n;
    ask(c);
    c->ends[c->sender.posted - 1] = messages;
    c->post_ps = c->sender.posted == PACKETS ? WEFT_TIME_NEVER : c->now_ps + weft_random_below(&c->random, 3 * US);
}

// --- a run --------------------------------------------------------------------------------------------------------

/// What happens next: data to post, a packet, a timer, the sender's turn. False: nothing will.
static bool step(struct pair *c) {
    uint32_t first = next_flight(c);
    weft_time_ps arrival = first == UINT32_MAX ? WEFT_TIME_NEVER : c->flight[first].p.time_ps;
    weft_time_ps may = !may_send(c) ? WEFT_TIME_NEVER : c->turn_ps > c->now_ps ? c->turn_ps : c->now_ps;
    weft_time_ps next = least(least(arrival, may), least(c->post_ps, least(c->sender_timer_ps, c->receiver_timer_ps)));
    if (next == WEFT_TIME_NEVER) return false;
    c->now_ps = c->at_sender.now_ps = c->at_receiver.now_ps = next;
    if (next == c->post_ps) {
        post(c);
    } else if (next == arrival) {
        struct flight f = take_flight(c, first);
        c->at_sender.sack = f.sacks ? &f.sack : NULL;
        f.to_receiver ? on_data(c, &f.p) : on_control(c, &f.p);
        c->at_sender.sack = NULL;
    } else if (next == c->sender_timer_ps) {
        struct weft_transport_news news = {.acked = 0};
        c->sender_timer_ps = WEFT_TIME_NEVER;
        c->ops->on_sender_timer(&c->sender, &c->at_sender, &news);
        act_on(c, &news);
    } else if (next == c->receiver_timer_ps) {
        struct weft_transport_receipt receipt = {.messages = 0};
        c->receiver_timer_ps = WEFT_TIME_NEVER;
        c->ops->on_receiver_timer(&c->receiver, &c->at_receiver, &receipt);
        control(c, &receipt.reply);
        set_timer(c, &c->receiver_timer_ps, receipt.timer_ps);
    } else {
        turn(c);
    }
    check(c);
    return true;
}

static void begin(struct pair *c, const void *conf, weft_bytes window) {
    bool read = c->qp.verb == WEFT_VERB_READ;
    c->at_sender = (struct weft_transport_fact){.conf = conf, .qp = &c->qp, .sample = &c->sample, .planes = 1};
    c->at_receiver = (struct weft_transport_fact){.conf = conf, .qp = &c->qp};
    if (c->ops->sender_size) c->at_sender.state = calloc(1, c->ops->sender_size(conf) + 1);
    if (c->ops->receiver_size) c->at_receiver.state = calloc(1, c->ops->receiver_size(conf, &c->qp) + 1);
    c->window_bytes = read ? 0 : window;
    c->sender.window_bytes = c->window_bytes ? window : UINT64_MAX;
    c->receiver.progress_ps = WEFT_TIME_NEVER;
    c->sender_timer_ps = WEFT_TIME_NEVER;
    c->receiver_timer_ps = read ? US : WEFT_TIME_NEVER;
    if (!read) start(c);
}

/// NULL, or what is wrong.
static const char *run(const struct weft_transport_ops *ops, const void *conf, enum weft_verb verb, bool messages,
                       struct channel channel, weft_bytes window, uint64_t seed, uint64_t *ret_digest) {
    struct pair *c = calloc(1, sizeof *c);
    c->ops = ops;
    c->channel = channel;
    c->random = weft_random_stream(seed, 0, WEFT_RANDOM_TEST);
    c->qp = (struct weft_qp_conf){.packets = messages ? WEFT_QP_MESSAGES : PACKETS,
                                  .bytes = (weft_bytes)PACKETS * MTU,
                                  .dst = 1,
                                  .mtu = MTU,
                                  .priority = 3,
                                  .verb = (uint8_t)verb};
    begin(c, conf, window);
    uint32_t events = 0, posted = 0;
    while (!c->wrong && events++ < EVENTS_MAX && step(c))
        ;
    for (uint32_t psn = 0; psn < PACKETS; psn++)
        posted += c->ends[psn];
    expect(c, c->delivered == PACKETS, "not everything came");
    expect(c, c->receiver.expected == PACKETS, "not everything is accounted for");
    expect(c, verb == WEFT_VERB_READ || c->sender.una == PACKETS, "not everything is acknowledged");
    expect(c, c->messages == (messages ? posted : 0), "not all messages are whole");
    expect(c, events < EVENTS_MAX, "it does not come to an end");
    const char *wrong = c->wrong;
    *ret_digest = c->digest;
    free(c->at_sender.state);
    free(c->at_receiver.state);
    free(c);
    return wrong;
}

static const struct channel channels[] = {
    {0, 0, 0, 500 * NS, 0},      {0.01, 0, 0, 500 * NS, 0},           {0.2, 0, 0, 2 * US, 0},
    {0, 0, 0, 500 * NS, 3 * US}, {0.02, 0.02, 0.2, 500 * NS, 2 * US}, {0.1, 0.1, 0.05, 5 * US, 20 * US},
    {0, 0, 0.3, 2 * US, 0},
};
enum { CHANNELS = sizeof channels / sizeof *channels };

/// Every kind of queue pair over every channel; NULL, or the first error.
static const char *try_all(const struct weft_transport_ops *ops, const void *conf, bool twice) {
    static const weft_bytes windows[] = {0, MTU, 16 * MTU};
    for (unsigned kind = 0; kind < 3; kind++)
        for (unsigned i = 0; i < CHANNELS; i++)
            for (uint64_t seed = 1; seed <= 6; seed++) {
                enum weft_verb verb = kind == 2 ? WEFT_VERB_READ : WEFT_VERB_WRITE;
                uint64_t digest, again;
                const char *wrong = run(ops, conf, verb, kind == 1, channels[i], windows[seed % 3], seed, &digest);
                if (wrong) return wrong;
                if (!twice) continue;
                run(ops, conf, verb, kind == 1, channels[i], windows[seed % 3], seed, &again);
                assert_int_equal(again, digest);
            }
    return NULL;
}

static void holds(const struct weft_model *model, const char *yaml) {
    void *conf = conf_of(model, yaml);
    const char *wrong = try_all(model->ops, conf, true);
    if (wrong) fail_msg("%s %s: %s", model->name, yaml, wrong);
    free(conf);
}

/// Defaults, and each value of each parameter that is a choice, with ACKs for each packet and for some.
static void all_deliver(void **state) {
    for (uint32_t m = 0; m < weft_model_count(WEFT_KIND_TRANSPORT); m++) {
        const struct weft_model *model = weft_model_at(WEFT_KIND_TRANSPORT, m);
        holds(model, "{}");
        for (uint32_t i = 0; i < model->params->n; i++) {
            const struct weft_param *row = &model->params->rows[i];
            for (uint32_t k = 0; row->type == WEFT_PARAM_CHOICE && row->choices[k]; k++) {
                char yaml[128];
                snprintf(yaml, sizeof yaml, "{%s: %s}", row->name, row->choices[k]);
                holds(model, yaml);
            }
        }
    }
}

static void reliable_connections_of_other_settings(void **state) {
    const struct weft_model *model = model_of(WEFT_KIND_TRANSPORT, "roce_rc");
    holds(model, "{ack_every: 7, timeout: 50us}");
    holds(model, "{ack_every: 64, out_of_order: accept, reorder_window: 5, reorder_timeout: 1us, timeout: 100us}");
    holds(model, "{retransmission: selective, reorder_timeout: 0ns, timeout: 100us}");
    holds(model, "{ack_every: 16, retransmission: selective, reorder_window: 5, reorder_timeout: 1us, timeout: 50us}");
    holds(model, "{out_of_order: accept, reorder_timeout: never, timeout: 100us, cnp_interval: 0ns}");
}

static void ultra_ethernet_of_other_settings(void **state) {
    const struct weft_model *model = model_of(WEFT_KIND_TRANSPORT, "uet");
    holds(model, "{delivery: rod, psn_window: 16, timeout: 50us}");
    holds(model, "{spray: reps, sack: 1B, psn_window: 7, timeout: 30us}");
    holds(model, "{spray: bitmap, sack: 1MB, sack_window: 3, psn_window: 100}");
}

// --- what must not pass -------------------------------------------------------------------------------------------

static const struct weft_transport_ops *right;

static void takes_duplicates(struct weft_qp_receiver *r, const struct weft_transport_fact *fact,
                             const struct weft_packet *p, struct weft_transport_receipt *ret) {
    right->on_data(r, fact, p, ret);
    if (ret->verdict == WEFT_TRANSPORT_DUPLICATE) ret->verdict = WEFT_TRANSPORT_DELIVERED;
}
static void drops_the_expected(struct weft_qp_receiver *r, const struct weft_transport_fact *fact,
                               const struct weft_packet *p, struct weft_transport_receipt *ret) {
    right->on_data(r, fact, p, ret);
    if (!ret->early && p->psn == 100) ret->verdict = WEFT_TRANSPORT_DUPLICATE;
}
static void acknowledges_too_much(struct weft_qp_receiver *r, const struct weft_transport_fact *fact,
                                  const struct weft_packet *p, struct weft_transport_receipt *ret) {
    right->on_data(r, fact, p, ret);
    if (ret->early && ret->reply.kind == WEFT_PACKET_NAK) ret->reply.psn++;
}
static void counts_messages_that_are_early(struct weft_qp_receiver *r, const struct weft_transport_fact *fact,
                                           const struct weft_packet *p, struct weft_transport_receipt *ret) {
    right->on_data(r, fact, p, ret);
    ret->messages = ret->verdict == WEFT_TRANSPORT_DELIVERED && p->flags & WEFT_PACKET_LAST;
}
static void gives_up(struct weft_qp_sender *s, const struct weft_transport_fact *fact,
                     struct weft_transport_news *ret) {}

static void faults_are_found(void **state) {
    const struct weft_model *model = model_of(WEFT_KIND_TRANSPORT, "roce_rc");
    right = model->ops;
    struct weft_transport_ops wrong[] = {*right, *right, *right, *right, *right};
    wrong[0].on_data = takes_duplicates;
    wrong[1].on_data = drops_the_expected;
    wrong[2].on_data = acknowledges_too_much;
    wrong[3].on_data = counts_messages_that_are_early;
    wrong[4].on_sender_timer = gives_up;
    void *conf = conf_of(model, "{out_of_order: accept, reorder_timeout: 1us}");
    assert_null(try_all(right, conf, false));
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (!try_all(&wrong[i], conf, false)) fail_msg("fault %u is not found", i);
    free(conf);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_deliver),
        cmocka_unit_test(reliable_connections_of_other_settings),
        cmocka_unit_test(ultra_ethernet_of_other_settings),
        cmocka_unit_test(faults_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
