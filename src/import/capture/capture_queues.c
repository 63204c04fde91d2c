// SPDX-License-Identifier: Apache-2.0
#include "base/order.h"
#include "import/capture/capture.h"

#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "weft/packet.h"

enum {
    SENT = 1 << 16,        ///< packets remembered until they appear again
    PAIRS = 1 << 10,       ///< of an interface and a number of hops
    SAMPLES_MAX = 1 << 20, ///< packets whose depth is kept, at most; the first ones
    BLOCK = 1 << 12,
    EVENTS_MAX = 1 << 16, ///< of pauses
    SURE = 8,             ///< this many marks without an unmarked packet are no coincidence
};

struct sent {
    uint64_t key;
    weft_time_ps time_ps;
    uint32_t interface;
    bool ce;
};
/// An interface at which packets appear again, and their remaining hops: only packets with the same number of hops are
/// compared, because their wires are assumed to be equally long.
struct pair {
    uint32_t interface, ttl;
    bool used;
    weft_bytes payload_bytes; ///< the largest; only packets of that size are compared
    weft_time_ps least_ps;
};
struct sample {
    uint32_t pair, payload_bytes;
    weft_time_ps time_ps; ///< later the depth, in bytes
    bool marked;
};
struct block {
    struct sample sample[BLOCK];
    struct block *next;
};

/// The data of a conversation in flight.
struct flight {
    uint64_t hash; ///< of its ends, whatever the interface; 0: not yet known
    bool begun, timed;
    uint32_t sent, acked, timed_psn;
    weft_bytes packet_bytes; ///< the largest
    weft_time_ps timed_ps;
};
/// An interface.
struct port {
    uint64_t packets; ///< in flight, unacknowledged
    weft_bytes bytes;
    weft_time_ps round_trip_ps; ///< the shortest; 0: none
    weft_time_ps stopped_ps;
    weft_bytes stopped_bytes; ///< in flight then
    // a burst
    weft_time_ps last_ps;
    weft_bytes burst_bytes;
    uint64_t senders; ///< bits
    bool marked;
    weft_bytes bound; ///< 0: none
    uint64_t bursts;
};
struct event {
    uint32_t interface;
    weft_bytes bytes;
    weft_rate_bps drain_bps; ///< at which it decreased in the pause that ends
    uint8_t mac[6];
};

struct weft__capture_queues {
    struct weft_arena *arena;
    struct sent *sent;
    struct pair *pair;
    struct block *first, *last;
    uint64_t samples;
    struct flight *flight;
    uint32_t flights;
    struct port *port;
    uint32_t ports;
    struct event *event[2]; ///< of stops, of goes
    uint32_t events[2];
};

struct weft__capture_queues *weft__capture_queues_new(struct weft_arena *arena) {
    struct weft__capture_queues *q = weft_arena_alloc(arena, 1, sizeof *q);
    q->arena = arena;
    q->sent = weft_arena_alloc(arena, SENT, sizeof *q->sent);
    q->pair = weft_arena_alloc(arena, PAIRS, sizeof *q->pair);
    return q;
}

static uint32_t room_for(uint32_t n) {
    uint32_t room = 16;
    while (room <= n)
        room *= 2;
    return room;
}

static struct flight *flight_of(struct weft__capture_queues *q, uint32_t number) {
    if (number >= q->flights) {
        uint32_t room = room_for(number);
        struct flight *more = weft_arena_alloc(q->arena, room, sizeof *more);
        if (q->flights) memcpy(more, q->flight, q->flights * sizeof *more);
        q->flight = more;
        q->flights = room;
    }
    return &q->flight[number];
}

static struct port *port_of(struct weft__capture_queues *q, uint32_t interface) {
    if (interface >= q->ports) {
        uint32_t room = room_for(interface);
        struct port *more = weft_arena_alloc(q->arena, room, sizeof *more);
        if (q->ports) memcpy(more, q->port, q->ports * sizeof *more);
        q->port = more;
        q->ports = room;
    }
    return &q->port[interface];
}

static weft_rate_bps rate_of(const struct weft_decode *d, uint32_t interface) {
    weft_rate_bps rate = weft_decode_interface_at(d, interface)->rate_bps;
    return rate ? rate : d->conf.rate_bps;
}

static weft_bytes bytes_in(weft_time_ps time, weft_rate_bps rate) {
    return (weft_bytes)((double)time * (double)rate / 8 / (double)WEFT_PS_PER_S);
}

// --- packets that are seen twice ----------------------------------------------------------------------------------

/// PAIRS: there is no room for another one.
static uint32_t find_pair(struct weft__capture_queues *q, uint32_t interface, uint32_t ttl) {
    uint32_t at = (interface * 31 + ttl) % PAIRS;
    for (uint32_t tries = 0; tries < PAIRS; tries++, at = (at + 1) % PAIRS) {
        struct pair *p = &q->pair[at];
        if (!p->used) *p = (struct pair){.interface = interface, .ttl = ttl, .used = true, .least_ps = WEFT_TIME_NEVER};
        if (p->interface == interface && p->ttl == ttl) return at;
    }
    return PAIRS;
}

static void add_sample(struct weft__capture_queues *q, struct sample sample) {
    if (q->samples == SAMPLES_MAX) return;
    if (q->samples % BLOCK == 0) {
        struct block *block = weft_arena_alloc(q->arena, 1, sizeof *block);
        *(q->last ? &q->last->next : &q->first) = block;
        q->last = block;
    }
    q->last->sample[q->samples++ % BLOCK] = sample;
}

static void match_sent(struct weft__capture_queues *q, const struct weft_decode_seen *s, struct flight *f) {
    const struct weft_decode_key *key = &s->of->key;
    if (!f->hash) {
        struct weft_decode_key ends = *key;
        ends.interface = 0;
        f->hash = weft__hash(WEFT__HASH_START, &ends, sizeof ends) | 1;
    }
    uint64_t name = f->hash ^ (s->psn + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15);
    struct sent *sent = &q->sent[(name ^ name >> 32) % SENT];
    if (sent->key != name || sent->interface == key->interface || s->time_ps < sent->time_ps) {
        *sent = (struct sent){name, s->time_ps, key->interface, s->ce};
        return;
    }
    uint32_t at = find_pair(q, key->interface, s->of->path[!s->requests].ttl);
    if (at == PAIRS || sent->ce) return; // it was not marked between the two
    struct pair *p = &q->pair[at];
    weft_time_ps time = s->time_ps - sent->time_ps;
    if (s->payload_bytes > p->payload_bytes) {
        p->payload_bytes = s->payload_bytes;
        p->least_ps = WEFT_TIME_NEVER;
    }
    if (s->payload_bytes == p->payload_bytes && time < p->least_ps) p->least_ps = time;
    add_sample(q, (struct sample){at, (uint32_t)s->payload_bytes, time, s->ce});
}

// --- bursts -------------------------------------------------------------------------------------------------------

static void note_burst(struct weft__capture_queues *q, const struct weft_decode *d, const struct weft_decode_seen *s) {
    struct port *p = port_of(q, s->of->key.interface);
    weft_time_ps own = weft_time_of_bytes(s->bytes + WEFT_WIRE_OVERHEAD, rate_of(d, s->of->key.interface));
    if (s->time_ps > p->last_ps + own + own / 2 || !p->burst_bytes) {
        p->burst_bytes = 0;
        p->senders = 0;
        p->marked = false;
    }
    p->last_ps = s->time_ps;
    p->burst_bytes += s->bytes;
    p->senders |= UINT64_C(1) << s->of->number % 64;
    if (!s->ce || p->marked) return;
    p->marked = true;
    unsigned n = (unsigned)__builtin_popcountll(p->senders);
    weft_bytes bound = p->burst_bytes / n * (n - 1);
    if (n < 2) return;
    p->bursts++;
    if (!p->bound || bound < p->bound) p->bound = bound;
}

// --- what is on its way -------------------------------------------------------------------------------------------

/// Adds what a conversation sends, or removes what is acknowledged; a large jump of numbers starts again.
static void send_packet(struct weft__capture_queues *q, const struct weft_decode_seen *s, struct flight *f) {
    struct port *p = port_of(q, s->of->key.interface);
    uint32_t more = (s->psn - f->sent) & WEFT_PSN_MASK;
    if (s->bytes > f->packet_bytes) f->packet_bytes = s->bytes;
    if (!f->begun) {
        f->begun = true;
        f->acked = (s->psn - 1) & WEFT_PSN_MASK;
        more = 1;
    } else if (more > WEFT_DECODE_RESTART) {
        return;
    }
    f->sent = s->psn;
    p->packets += more;
    p->bytes += more * f->packet_bytes;
    if (f->timed) return;
    f->timed = true;
    f->timed_psn = s->psn;
    f->timed_ps = s->time_ps;
}

static void acknowledge_packets(struct weft__capture_queues *q, const struct weft_decode_seen *s) {
    if (s->of->peer == WEFT_NONE) return;
    struct flight *f = flight_of(q, s->of->peer);
    struct port *p = port_of(q, s->of->key.interface);
    uint32_t more = (s->psn - f->acked) & WEFT_PSN_MASK, all = (f->sent - f->acked) & WEFT_PSN_MASK;
    if (!f->begun || !more || more > all) return;
    f->acked = s->psn;
    weft_bytes bytes = more * f->packet_bytes;
    p->packets -= more < p->packets ? more : p->packets;
    p->bytes -= bytes < p->bytes ? bytes : p->bytes;
    if (!p->packets) p->bytes = 0;
    if (!f->timed || ((s->psn - f->timed_psn) & WEFT_PSN_MASK) > WEFT_DECODE_RESTART) return;
    f->timed = false;
    weft_time_ps time = s->time_ps - f->timed_ps;
    if (s->time_ps > f->timed_ps && (!p->round_trip_ps || time < p->round_trip_ps)) p->round_trip_ps = time;
}

void weft__capture_queues_seen(struct weft__capture_queues *q, const struct weft_decode *d,
                               const struct weft_decode_seen *s) {
    if (s->acknowledges) acknowledge_packets(q, s);
    if (!s->payload_bytes) return;
    struct flight *f = flight_of(q, s->of->number);
    match_sent(q, s, f);
    note_burst(q, d, s);
    if (s->requests && s->is_new) send_packet(q, s, f);
}

void weft__capture_queues_pause(struct weft__capture_queues *q, const struct weft_decode *d,
                                const struct weft_decode_pauser *pauser, bool stops) {
    uint32_t *n = &q->events[!stops];
    if (*n == EVENTS_MAX) return;
    if (!q->event[!stops]) q->event[!stops] = weft_arena_alloc(q->arena, EVENTS_MAX, sizeof **q->event);
    struct event *e = &q->event[!stops][(*n)++];
    struct port *p = port_of(q, pauser->interface);
    weft_time_ps time = pauser->last_ps - p->stopped_ps;
    *e = (struct event){.interface = pauser->interface, .bytes = p->bytes};
    if (!stops && time && p->stopped_bytes > p->bytes)
        e->drain_bps =
            (weft_rate_bps)((double)(p->stopped_bytes - p->bytes) * 8 * (double)WEFT_PS_PER_S / (double)time);
    p->stopped_ps = pauser->last_ps;
    p->stopped_bytes = p->bytes;
    memcpy(e->mac, pauser->mac, sizeof e->mac);
}

// --- marks over depths --------------------------------------------------------------------------------------------

/// Converts the times of samples of the largest packets of each pair to depths; returns how many.
static uint64_t to_depths(struct weft__capture_queues *q, const struct weft_decode *d) {
    uint64_t n = 0;
    struct block *to = q->first;
    uint64_t left = q->samples;
    for (struct block *from = q->first; from; from = from->next)
        for (uint32_t i = 0; i < BLOCK && left; i++, left--) {
            struct sample s = from->sample[i];
            const struct pair *p = &q->pair[s.pair];
            if (s.payload_bytes != p->payload_bytes) continue;
            s.time_ps = bytes_in(s.time_ps - p->least_ps, rate_of(d, p->interface));
            if (n && n % BLOCK == 0) to = to->next;
            to->sample[n++ % BLOCK] = s;
        }
    return n;
}

struct sums {
    uint64_t marked, marked_above; ///< up to `max`, and above it
    double depth, depth_low;       ///< of all between min and max less min; of those up to the first mark
};

static struct sums sum_samples(const struct weft__capture_queues *q, uint64_t n, weft_bytes min, weft_bytes max,
                               weft_bytes first_mark) {
    struct sums s = {0};
    for (const struct block *b = q->first; b && n; b = b->next)
        for (uint32_t i = 0; i < BLOCK && n; i++, n--) {
            weft_bytes depth = b->sample[i].time_ps;
            if (depth > max) {
                s.marked_above += b->sample[i].marked;
                continue;
            }
            s.marked += b->sample[i].marked;
            if (depth <= min) continue;
            s.depth += (double)(depth - min);
            if (depth <= first_mark) s.depth_low += (double)(depth - min);
        }
    return s;
}

/// Between Kmin and Kmax the probability grows with the depth. Kmin is where the first mark is as far above it as it is
/// in the median: at which ln 2 marks are expected between the two. Kmax: no packet above it went unmarked.
static void conclude_marks(const struct weft__capture_queues *q, uint64_t n, struct weft__capture_thresholds *ret) {
    weft_bytes first_mark = WEFT_TIME_NEVER, last_plain = 0;
    uint64_t left = n;
    for (const struct block *b = q->first; b && left; b = b->next)
        for (uint32_t i = 0; i < BLOCK && left; i++, left--) {
            const struct sample *s = &b->sample[i];
            ret->marked += s->marked;
            if (s->time_ps > ret->depth_max) ret->depth_max = s->time_ps;
            if (s->marked && s->time_ps < first_mark) first_mark = s->time_ps;
            if (!s->marked && s->time_ps > last_plain) last_plain = s->time_ps;
        }
    ret->samples = n;
    if (!ret->marked || !first_mark) return;
    ret->marks = WEFT__MARKS_BY_DEPTH;
    ret->min_bytes = ret->max_bytes = first_mark;
    ret->max_probability = 1;
    ret->max_reached = true;
    if (last_plain <= first_mark) return; // a step
    weft_bytes low = 0, high = first_mark;
    while (high - low > 1) {
        weft_bytes min = low + (high - low) / 2;
        struct sums s = sum_samples(q, n, min, last_plain, first_mark);
        *((double)s.marked * s.depth_low > 0.693 * s.depth ? &low : &high) = min;
    }
    struct sums s = sum_samples(q, n, low, last_plain, first_mark);
    ret->min_bytes = low;
    ret->max_bytes = last_plain;
    ret->max_reached = s.marked_above >= SURE;
    double p = s.depth > 0 ? (double)s.marked / s.depth * (double)(last_plain - low) : 1;
    ret->max_probability = p < 1 ? p : 1;
}

static void conclude_bursts(const struct weft__capture_queues *q, struct weft__capture_thresholds *ret) {
    for (uint32_t i = 0; i < q->ports; i++) {
        const struct port *p = &q->port[i];
        if (!p->bound) continue;
        ret->samples += p->bursts;
        if (ret->marks == WEFT__MARKS_UNKNOWN || p->bound < ret->min_bytes) ret->min_bytes = p->bound;
        ret->marks = WEFT__MARKS_BY_BURST;
    }
}

// --- pauses -------------------------------------------------------------------------------------------------------

static bool sends_data(const struct weft_decode *d, const struct event *e) {
    for (uint32_t i = 0; i < d->conversations; i++) {
        const struct weft_conversation *c = d->conversation[i];
        if (c->key.interface == e->interface && c->payload_bytes && !memcmp(c->path[0].mac + 6, e->mac, 6)) return true;
    }
    return false;
}

WEFT__ORDER(by_bytes, struct event, WEFT__UP(bytes))

/// The median over pauses, or over their ends, of what waits in the network at that time; 0 if there are none.
static weft_bytes median_depth(struct weft__capture_queues *q, const struct weft_decode *d, bool stops, uint64_t *ret_n,
                               struct weft__capture_thresholds *t) {
    uint32_t n = 0, of = !stops;
    struct event *event = q->event[of];
    for (uint32_t i = 0; i < q->events[of]; i++) {
        struct event e = event[i];
        weft_time_ps round_trip = port_of(q, e.interface)->round_trip_ps;
        if (sends_data(d, &e)) {
            t->by_senders += stops;
            continue;
        }
        if (!round_trip) continue;
        if (!t->round_trip_ps || round_trip < t->round_trip_ps) t->round_trip_ps = round_trip;
        weft_bytes wire = bytes_in(round_trip / 2, stops ? rate_of(d, e.interface) : e.drain_bps);
        e.bytes = e.bytes > wire ? e.bytes - wire : 0;
        event[n++] = e;
    }
    *ret_n = n;
    if (!n) return 0;
    qsort(event, n, sizeof *event, by_bytes);
    return event[n / 2].bytes;
}

struct weft__capture_thresholds weft__capture_queues_conclude(struct weft__capture_queues *q,
                                                              const struct weft_decode *d) {
    struct weft__capture_thresholds t = {.marks = WEFT__MARKS_UNKNOWN};
    conclude_marks(q, to_depths(q, d), &t);
    if (t.marks == WEFT__MARKS_UNKNOWN) {
        t.samples = 0;
        conclude_bursts(q, &t);
    }
    t.xoff_bytes = median_depth(q, d, true, &t.stops, &t);
    t.xon_bytes = median_depth(q, d, false, &t.goes, &t);
    return t;
}
