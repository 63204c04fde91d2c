// SPDX-License-Identifier: Apache-2.0
// A message of a RoCE conversation is a flow: from the timestamp of its first packet, with the bytes of its payload. A
// READ is a flow of the host that is read, from the timestamp of the request.
#include "capture.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/order.h"

enum { BLOCK = 4096, ADDRESS_BYTES = 64 };

/// Messages in the order of their ends, in blocks, because their number is unknown.
struct kept {
    struct weft_decode_message message[BLOCK];
    uint32_t n;
    struct kept *next;
};

struct collecting {
    struct weft__capture_flows *all;
    struct weft_arena *arena;
    struct weft__capture_queues *queues;
    struct kept *first, *last;
    uint32_t *bucket, buckets; ///< of addresses: number + 1; 0: none
};

static void keep_message(void *context, const struct weft_decode_message *message) {
    struct collecting *c = context;
    if (!c->last || c->last->n == BLOCK) {
        struct kept *block = weft_arena_alloc(c->arena, 1, sizeof *block);
        if (c->last)
            c->last->next = block;
        else
            c->first = block;
        c->last = block;
    }
    c->last->message[c->last->n++] = *message;
}

static void see_frame(void *context, const struct weft_decode *d, const struct weft_decode_seen *seen) {
    weft__capture_queues_seen(((struct collecting *)context)->queues, d, seen);
}

static void see_pause(void *context, const struct weft_decode *d, const struct weft_decode_pauser *p, bool stops) {
    weft__capture_queues_pause(((struct collecting *)context)->queues, d, p, stops);
}

// --- addresses ----------------------------------------------------------------------------------------------------

/// The place of the address in the table, or the place where it would go.
static uint32_t *bucket_of(const struct collecting *c, const struct weft_decode_address *address) {
    uint64_t hash = weft__hash(WEFT__HASH_START, address, sizeof *address);
    for (uint64_t at = hash ^ hash >> 32;; at++) {
        uint32_t *bucket = &c->bucket[at & (c->buckets - 1)];
        if (!*bucket || !memcmp(&c->all->address[*bucket - 1], address, sizeof *address)) return bucket;
    }
}

static uint32_t number_of(struct collecting *c, const struct weft_decode_address *address) {
    uint32_t *bucket = bucket_of(c, address);
    if (!*bucket) {
        c->all->address[c->all->addresses++] = *address;
        *bucket = c->all->addresses;
    }
    return *bucket - 1;
}

static bool parse_address(const char *text, struct weft_decode_address *ret) {
    memset(ret, 0, sizeof *ret);
    ret->network = strchr(text, ':') ? WEFT_DECODE_IPV6 : WEFT_DECODE_IPV4;
    return inet_pton(ret->network == WEFT_DECODE_IPV4 ? AF_INET : AF_INET6, text, ret->octet) == 1;
}

/// A GID of RoCEv1 is written as an IPv6 address, which stands for both.
static void list_address(struct collecting *c, struct weft_decode_address address, bool gids) {
    if (address.network == WEFT_DECODE_IPV6 && gids) address.network = WEFT_DECODE_ROCE_V1;
    number_of(c, &address);
}

static enum weft_status list_addresses(struct collecting *c, const char *text, bool gids, struct weft_place place,
                                       struct weft_error *ret_error) {
    while (*text) {
        char word[ADDRESS_BYTES];
        struct weft_decode_address address;
        text += strspn(text, " ");
        size_t n = strcspn(text, ",");
        snprintf(word, sizeof word, "%.*s", (int)(n < sizeof word ? n : sizeof word - 1), text);
        word[strcspn(word, " ")] = 0;
        uint32_t before = c->all->addresses;
        if (!parse_address(word, &address))
            return WEFT_REFUSE(ret_error, place, "addresses: '%s'; expected an IPv4 or IPv6 address", word);
        list_address(c, address, gids);
        if (c->all->addresses == before) return WEFT_REFUSE(ret_error, place, "addresses: '%s' is a duplicate", word);
        text += n + (text[n] == ',');
    }
    return WEFT_OK;
}

static enum weft_status number_addresses(struct collecting *c, const char *text, struct weft_place place,
                                         struct weft_error *ret_error) {
    const struct weft_decode *d = &c->all->decode;
    size_t listed = 1, room;
    bool gids = false;
    for (const char *at = text; *at; at++)
        listed += *at == ',';
    room = 2 * (size_t)d->conversations + listed;
    for (c->buckets = 16; c->buckets < 2 * room; c->buckets *= 2) {
    }
    c->bucket = weft_arena_alloc(c->arena, c->buckets, sizeof *c->bucket);
    c->all->address = weft_arena_alloc(c->arena, room, sizeof *c->all->address);
    for (uint32_t i = 0; i < d->conversations; i++)
        gids |= d->conversation[i]->key.src.network == WEFT_DECODE_ROCE_V1;
    enum weft_status status = list_addresses(c, text, gids, place, ret_error);
    for (uint32_t i = 0; i < d->conversations && !status; i++) {
        number_of(c, &d->conversation[i]->key.src);
        number_of(c, &d->conversation[i]->key.dst);
    }
    return status;
}

// --- flows --------------------------------------------------------------------------------------------------------

static uint64_t pair_key(uint32_t src, uint32_t dst) {
    return (uint64_t)src << 32 | dst;
}

/// The pairs of addresses whose first has sent a READ request to the second; sorted.
static uint64_t *find_readers(struct collecting *c, size_t *ret_n) {
    const struct weft_decode *d = &c->all->decode;
    uint64_t *pair = weft_arena_alloc(c->arena, d->conversations + 1, sizeof *pair);
    *ret_n = 0;
    for (uint32_t i = 0; i < d->conversations; i++) {
        const struct weft_conversation *v = d->conversation[i];
        if (v->reads) pair[(*ret_n)++] = pair_key(number_of(c, &v->key.src), number_of(c, &v->key.dst));
    }
    qsort(pair, *ret_n, sizeof *pair, weft__by_u64);
    return pair;
}

static void add_flow(struct collecting *c, const struct weft_decode_message *m, const uint64_t *pair, size_t pairs) {
    struct weft__capture_flows *all = c->all;
    uint32_t from = number_of(c, &m->of->key.src), to = number_of(c, &m->of->key.dst);
    struct weft__capture_flow flow = {m->request ? to : from, m->request ? from : to, m->verb, m->start_ps, m->bytes};
    uint64_t key = pair_key(flow.dst, flow.src);
    if (m->response && bsearch(&key, pair, pairs, sizeof *pair, weft__by_u64)) {
        all->echoes++;
    } else if (!m->bytes) {
        all->empty++;
    } else if (from == to) {
        all->own++;
    } else {
        all->taken_front += m->cut_front;
        all->taken_back += m->cut_back;
        all->answers += m->response;
        all->bytes += m->bytes;
        all->flow[all->flows++] = flow;
    }
}

WEFT__ORDER(by_start, struct weft__capture_flow,
            WEFT__UP(start_ps) ?: WEFT__UP(src) ?: WEFT__UP(dst) ?: WEFT__UP(verb) ?: WEFT__UP(bytes))

static void make_flows(struct collecting *c) {
    size_t n = 0, pairs;
    for (const struct kept *k = c->first; k; k = k->next)
        n += k->n;
    const uint64_t *pair = find_readers(c, &pairs);
    c->all->flow = weft_arena_alloc(c->arena, n + 1, sizeof *c->all->flow);
    for (const struct kept *k = c->first; k; k = k->next)
        for (uint32_t i = 0; i < k->n; i++)
            add_flow(c, &k->message[i], pair, pairs);
    qsort(c->all->flow, c->all->flows, sizeof *c->all->flow, by_start);
    for (uint32_t i = 0; i < c->all->decode.conversations; i++) {
        const struct weft_conversation *v = c->all->decode.conversation[i];
        if (!v->again) c->all->atomics += v->atomics;
    }
}

enum weft_status weft__capture_flows_read(const char *path, const char *addresses, struct weft_place place,
                                          struct weft__capture_queues *queues, struct weft_arena *arena,
                                          struct weft__capture_flows *ret, struct weft_error *ret_error) {
    memset(ret, 0, sizeof *ret);
    struct collecting c = {.all = ret, .arena = arena, .queues = queues};
    struct weft_decode_conf conf = {.follow_qp = WEFT_NONE, .context = &c, .on_message = keep_message};
    if (queues) {
        conf.on_seen = see_frame;
        conf.on_pause = see_pause;
    }
    enum weft_status status = weft_decode_file(path, &conf, arena, &ret->decode, ret_error);
    if (!status) status = number_addresses(&c, addresses, place, ret_error);
    if (!status) make_flows(&c);
    return status;
}

// --- in words -----------------------------------------------------------------------------------------------------

void weft__capture_flows_tell(const struct weft__capture_flows *f,
                              void (*say)(void *context, enum weft_import_note note, const char *text), void *context) {
    const struct {
        uint64_t n;
        enum weft_import_note note;
        const char *text;
    } thing[] = {
        {f->taken_front, WEFT_IMPORT_FOUND, "messages began before the capture: flows of what it has of them"},
        {f->taken_back, WEFT_IMPORT_FOUND,
         "messages do not end in the capture: flows of what they announce, or else what it has"},
        {f->answers, WEFT_IMPORT_FOUND, "READ responses without their request: flows from their first packet on"},
        {f->empty, WEFT_IMPORT_LEFT_OUT, "messages without payload"},
        {f->own, WEFT_IMPORT_LEFT_OUT, "messages of an address to itself"},
        {f->atomics, WEFT_IMPORT_LOST, "atomic operations"},
        {f->decode.others, WEFT_IMPORT_LOST, "frames that are not RoCE, pauses or LLDP"},
    };
    char text[160];
    for (size_t i = 0; i < sizeof thing / sizeof *thing; i++) {
        if (!thing[i].n) continue;
        snprintf(text, sizeof text, "%" PRIu64 " %s", thing[i].n, thing[i].text);
        say(context, thing[i].note, text);
    }
    if (f->decode.unwraps) {
        const char *kinds = weft_decode_tunnels_text(&f->decode, f->decode.arena);
        say(context, WEFT_IMPORT_FOUND,
            weft_arena_format(f->decode.arena, "%" PRIu64 " frames were unwrapped: %s", f->decode.unwraps, kinds));
    }
    for (uint32_t i = 0; i < f->decode.warnings; i++)
        say(context, WEFT_IMPORT_FOUND, f->decode.warning[i]);
}
