// SPDX-License-Identifier: Apache-2.0
#include "engine/ranks.h"

#include <stdlib.h>
#include <string.h>

#include "base/image.h"
#include "engine/side.h"
#include "weft/memory.h"

/// Packets for one inbox follow it. A group of packets with extra data has exactly one packet.
struct group {
    uint32_t inbox, packets;
};
/// What follows a packet that carries extra data.
struct beside {
    uint32_t side, companion; ///< size of each, in bytes
};
/// Precedes all groups.
struct head {
    struct weft__report report;
    uint64_t plain_bytes; ///< after these come the packets with extra data
};

struct weft__exchange {
    struct weft_parcel *out, *into, *rich; ///< [ranks]
};

static void add_report(struct weft__report *all, const struct weft__report *r) {
    if (r->next_window < all->next_window) all->next_window = r->next_window;
    all->under_way_bytes += r->under_way_bytes;
    all->started += r->started;
    all->finished += r->finished;
    if (r->progress_ps > all->progress_ps) all->progress_ps = r->progress_ps;
    for (uint32_t c = 0; c < WEFT__COUNTS_SHOWN; c++)
        all->count[c] += r->count[c];
    all->interrupt |= r->interrupt;
    all->pausing |= r->pausing;
    all->failed |= r->failed;
    all->sides |= r->sides;
}

struct weft__report weft__reports_sum(const struct weft__report *report, uint32_t first, uint32_t end) {
    struct weft__report all = {.next_window = WEFT__NO_WINDOW};
    for (uint32_t k = first; k < end; k++)
        add_report(&all, &report[k]);
    return all;
}

struct weft__report weft__exchange_sum(const struct weft__engine *e, const struct weft__report *own) {
    struct weft__report all = *own;
    for (uint32_t r = 0; r < e->conf.ranks->n; r++)
        if (r != e->conf.ranks->self) add_report(&all, &e->other[r]);
    return all;
}

static uint32_t first_of(const struct weft__engine *e, uint32_t rank) {
    return (uint32_t)((uint64_t)e->conf.workers * rank / e->conf.ranks->n);
}

uint32_t weft__exchange_rank_of(const struct weft__engine *e, uint32_t worker) {
    uint32_t rank = 0;
    if (!e->conf.ranks) return 0;
    while (worker >= first_of(e, rank + 1))
        rank++;
    return rank;
}

void weft__exchange_init(struct weft__engine *e) {
    const struct weft_ranks *ranks = e->conf.ranks;
    e->own_end = e->conf.workers;
    if (!ranks) return;
    e->own_first = first_of(e, ranks->self);
    e->own_end = first_of(e, ranks->self + 1);
    e->exchange = weft_memory_new(WEFT_MEMORY_FLIGHT, 1, sizeof *e->exchange);
    struct weft_parcel *parcel = weft_memory_new(WEFT_MEMORY_FLIGHT, 3 * (size_t)ranks->n, sizeof *parcel);
    e->other = weft_memory_new(WEFT_MEMORY_FLIGHT, ranks->n, sizeof *e->other);
    *e->exchange = (struct weft__exchange){parcel, parcel + ranks->n, parcel + 2 * (size_t)ranks->n};
}

void weft__exchange_deinit(struct weft__engine *e) {
    if (!e->exchange) return;
    for (uint32_t k = 0; k < 3 * e->conf.ranks->n; k++)
        free(e->exchange->out[k].bytes);
    weft_memory_free(WEFT_MEMORY_FLIGHT, e->exchange->out, 3 * (size_t)e->conf.ranks->n * sizeof *e->exchange->out);
    weft_memory_free(WEFT_MEMORY_FLIGHT, e->exchange, sizeof *e->exchange);
    weft_memory_free(WEFT_MEMORY_FLIGHT, e->other, e->conf.ranks->n * sizeof *e->other);
}

void weft__exchange_renew(struct weft__engine *e) {
    memset(e->exchange->out, 0, 3 * (size_t)e->conf.ranks->n * sizeof *e->exchange->out);
}

void weft__exchange_forget(struct weft__engine *e) {
    size_t reports = 2 * (size_t)e->conf.workers + 1; // where the reports begin
    weft__image_forget(e->report_memory, reports * sizeof *e->report);
    weft__image_forget(e->other, e->conf.ranks->n * sizeof *e->other);
    weft__image_forget(e->exchange->out, 3 * (size_t)e->conf.ranks->n * sizeof *e->exchange->out);
}

/// Makes room for n more bytes.
static unsigned char *extend_parcel(struct weft_parcel *p, size_t n) {
    if (p->n + n > p->capacity) {
        size_t capacity = 2 * (p->n + n) + 4096;
        unsigned char *bytes = realloc(p->bytes, capacity);
        if (!bytes) weft_memory_fail();
        p->bytes = bytes;
        p->capacity = capacity;
    }
    p->n += n;
    return p->bytes + p->n - n;
}

// --- sending ------------------------------------------------------------------------------------------------------

static void put_rich(struct weft__worker *w, struct weft_parcel *rich, uint32_t inbox, const struct weft_packet *packet,
                     const unsigned char *companion, uint32_t n) {
    const struct weft__side *side = packet->side ? weft__side_of(w, packet) : NULL;
    struct beside beside = {side ? sizeof side->user + sizeof side->psn : 0, n};
    unsigned char *to = extend_parcel(rich, sizeof inbox + sizeof *packet + sizeof beside + beside.side + n);
    memcpy(to, &inbox, sizeof inbox);
    to += sizeof inbox;
    memcpy(to, packet, sizeof *packet);
    to += sizeof *packet;
    memcpy(to, &beside, sizeof beside);
    to += sizeof beside;
    if (side) {
        memcpy(to, &side->psn, sizeof side->psn);
        memcpy(to + sizeof side->psn, side->user, sizeof side->user);
        weft__side_release(w, packet);
    }
    if (n) memcpy(to + beside.side, companion, n);
}

static void pack_log(struct weft__worker *w, uint32_t inbox, uint32_t rank, struct weft__log *log) {
    const struct weft__companions *companions = w->engine->conf.companions;
    struct weft_parcel *out = &w->engine->exchange->out[rank], *rich = &w->engine->exchange->rich[rank];
    size_t group_at = out->n;
    struct group group = {inbox, 0};
    extend_parcel(out, sizeof group);
    struct weft__log_cursor c = weft__log_begin(w, log);
    for (const struct weft_packet *p; (p = weft__log_next(&c));) {
        unsigned char room[WEFT__COMPANION_BYTES];
        const unsigned char *companion = room;
        struct weft_packet own; // with its PSN
        const struct weft_packet *asked = p;
        if (__builtin_expect(p->side, 0)) {
            own = *p;
            own.psn = weft__side_psn(w, p);
            asked = &own;
        }
        uint32_t n = companions ? companions->give(companions->context, asked, room, &companion) : 0;
        if (__builtin_expect(n || p->side, 0)) {
            put_rich(w, rich, inbox, p, companion, n);
        } else {
            memcpy(extend_parcel(out, sizeof *p), p, sizeof *p);
            group.packets++;
        }
    }
    memcpy(out->bytes + group_at, &group, sizeof group);
    weft__log_clear(w, log);
}

/// Packs what any local worker has put into inboxes of a worker of another rank.
static void pack_logs(struct weft__worker *w, uint32_t to, uint32_t rank) {
    const struct weft__engine *e = w->engine;
    for (uint32_t inbox = to; inbox < e->inboxes; inbox += e->conf.workers) {
        for (uint32_t word = 0; word < WEFT__RING / 64; word++)
            for (uint64_t bits = w->written[word]; bits; bits &= bits - 1) {
                uint32_t slot = word * 64 + (uint32_t)__builtin_ctzll(bits);
                struct weft__log *row = weft__row_of(w, slot);
                if (row && row[inbox].n) pack_log(w, inbox, rank, &row[inbox]);
            }
        if (w->far[w->parity][inbox].n) pack_log(w, inbox, rank, &w->far[w->parity][inbox]);
    }
}

void weft__exchange_pack(struct weft__engine *e) {
    const struct weft_ranks *ranks = e->conf.ranks;
    for (uint32_t r = 0; r < ranks->n; r++) {
        if (r == ranks->self) continue;
        e->exchange->out[r].n = e->exchange->rich[r].n = 0;
        extend_parcel(&e->exchange->out[r], sizeof(struct head));
        for (uint32_t k = e->own_first; k < e->own_end; k++)
            for (uint32_t to = first_of(e, r); to < first_of(e, r + 1); to++)
                pack_logs(&e->worker[k], to, r);
    }
}

// --- receiving ----------------------------------------------------------------------------------------------------

static void take_plain(struct weft__engine *e, const unsigned char *at, const unsigned char *end) {
    while (at < end) {
        struct group group;
        memcpy(&group, at, sizeof group);
        at += sizeof group;
        struct weft__worker *w = &e->worker[group.inbox % e->conf.workers];
        for (uint32_t i = 0; i < group.packets; i++, at += sizeof(struct weft_packet)) {
            weft_time_ps time;
            memcpy(&time, at + offsetof(struct weft_packet, time_ps), sizeof time);
            memcpy(weft__send_slot(w, group.inbox, time), at, sizeof(struct weft_packet));
        }
    }
}

static void take_rich(struct weft__engine *e, const unsigned char *at, const unsigned char *end) {
    while (at < end) {
        uint32_t inbox;
        struct weft_packet p;
        struct beside beside;
        memcpy(&inbox, at, sizeof inbox);
        memcpy(&p, at + sizeof inbox, sizeof p);
        memcpy(&beside, at + sizeof inbox + sizeof p, sizeof beside);
        at += sizeof inbox + sizeof p + sizeof beside;
        struct weft__worker *w = &e->worker[inbox % e->conf.workers];
        if (beside.side) {
            p.side = false;
            struct weft__side *side = weft__side_attach(w, &p);
            memcpy(&side->psn, at, sizeof side->psn);
            memcpy(side->user, at + sizeof side->psn, sizeof side->user);
        }
        at += beside.side;
        *weft__send_slot(w, inbox, p.time_ps) = p;
        if (beside.companion) e->conf.companions->take(e->conf.companions->context, &p, at, beside.companion);
        at += beside.companion;
    }
}

void weft__exchange_swap(struct weft__engine *e, struct weft__report *report) {
    struct weft_ranks *ranks = e->conf.ranks;
    struct weft__exchange *x = e->exchange;
    struct head head = {.report = weft__reports_sum(report, e->own_first, e->own_end)};
    for (uint32_t r = 0; r < ranks->n; r++) {
        if (r == ranks->self) continue;
        head.plain_bytes = x->out[r].n - sizeof head;
        memcpy(x->out[r].bytes, &head, sizeof head);
        if (x->rich[r].n) memcpy(extend_parcel(&x->out[r], x->rich[r].n), x->rich[r].bytes, x->rich[r].n);
    }
    ranks->exchange(ranks, x->out, x->into);
    for (uint32_t r = 0; r < ranks->n; r++) {
        if (r == ranks->self) continue;
        const unsigned char *at = x->into[r].bytes, *end = at + x->into[r].n;
        memcpy(&head, at, sizeof head);
        at += sizeof head;
        take_plain(e, at, at + head.plain_bytes);
        take_rich(e, at + head.plain_bytes, end);
        e->other[r] = head.report;
    }
}
