// SPDX-License-Identifier: Apache-2.0
// Frames from attached hosts into the network, with the attach delay, and out of it at their times.
#include <stdlib.h>
#include <string.h>

#include "live/live.h"
#include "weft/memory.h"
#include "weft/packet.h"
#include "weft/sim.h"
#include "wire/bytes.h"
#include "wire/checksum.h"

enum { HEADER = 14, FRAMES_AT_ONCE = 64 };

static void add_output(struct weft__live *l, struct weft__live_queue *q, uint32_t host, weft_time_ps due,
                       const uint8_t *bytes, size_t length) {
    struct weft__live_output *o = malloc(sizeof *o + length);
    if (!o) {
        l->attach[host].counts->refused++;
        return;
    }
    *o = (struct weft__live_output){.due_ps = due, .host = host, .length = (uint32_t)length};
    memcpy(o->bytes, bytes, length);
    if (q->last)
        q->last->next = o;
    else
        q->first = o;
    q->last = o;
}

static struct weft__live_output *take_output(struct weft__live_queue *q) {
    struct weft__live_output *o = q->first;
    q->first = o->next;
    if (!q->first) q->last = NULL;
    return o;
}

// --- from hosts ---------------------------------------------------------------------------------------------------

/// Of IPv4 and, in one piece, of its TCP or UDP. A wrong one is often none yet: the sender's kernel leaves the sum to
/// hardware that a veth pair does not have.
static bool has_bad_checksum(const uint8_t *b, size_t length) {
    if (length < HEADER + 20 || weft__get16(b + 12) != 0x0800) return false;
    const uint8_t *ip = b + HEADER;
    size_t own = (size_t)(ip[0] & 15) * 4, total = weft__get16(ip + 2);
    if (own < 20 || total < own || HEADER + total > length) return true;
    if (weft__internet_checksum(ip, own, 0)) return true;
    size_t least = ip[9] == 6 ? 20 : ip[9] == 17 ? 8 : 0;
    if (!least || weft__get16(ip + 6) & 0x3fff || total < own + least) return false;
    if (ip[9] == 17 && !weft__get16(ip + own + 6)) return false; // UDP without
    uint64_t sum = ip[9] + (total - own) + (uint16_t)~weft__internet_checksum(ip + 12, 8, 0);
    return weft__internet_checksum(ip + own, total - own, sum) != 0;
}

struct reading {
    struct weft__live *live;
    uint32_t host;
};

static void pass_on(struct weft__live *l, uint32_t from, weft_time_ps time, const uint8_t *bytes, size_t length) {
    for (uint32_t i = 0; i < l->conf->hosts; i++)
        if (i != from) add_output(l, &l->flood, i, time, bytes, length);
}

/// Times are whole nanoseconds, as in the record.
static weft_time_ps arrival_of(struct weft__live *l, struct weft_live_attached *counts) {
    weft_time_ps at = weft__live_now(l) + l->delay_ps, soonest = weft__live_soon(l);
    counts->late += at < soonest;
    if (at < soonest) at = soonest;
    return (at + WEFT_PS_PER_NS - 1) / WEFT_PS_PER_NS * WEFT_PS_PER_NS;
}

static void on_frame(void *context, const uint8_t *bytes, size_t length) {
    const struct reading *r = context;
    struct weft__live *l = r->live;
    struct weft_live_attached *counts = l->attach[r->host].counts;
    struct weft_error error = {0};
    enum weft_frame_fate fate = WEFT_FRAME_LONG;
    weft_time_ps time = arrival_of(l, counts);
    counts->received++;
    counts->received_bytes += length;
    if (bytes && weft_drive_put(l->drive, l->number[r->host], time, bytes, length, &fate, &error)) {
        l->over = true;
        l->why = weft_arena_text(l->arena, error.text);
        return;
    }
    counts->fate[fate]++;
    if (fate == WEFT_FRAME_LONG || fate == WEFT_FRAME_SHORT) return;
    counts->bad_checksums += has_bad_checksum(bytes, length);
    weft__live_record_frame(l, r->host, time, bytes, length);
    l->answer->frames += fate == WEFT_FRAME_SENT;
    if (fate == WEFT_FRAME_FLOODED || fate == WEFT_FRAME_UNKNOWN) pass_on(l, r->host, time, bytes, length);
}

void weft__live_read_host(struct weft__live *l, uint32_t i) {
    struct reading r = {l, i};
    weft__attach_read(&l->attach[i], FRAMES_AT_ONCE, on_frame, &r);
}

enum weft_status weft__live_put_again(struct weft__live *l, uint32_t i, weft_time_ps time, const uint8_t *bytes,
                                      size_t length, struct weft_error *ret_error) {
    return weft_drive_put(l->drive, l->number[i], time, bytes, length, NULL, ret_error);
}

bool weft__live_has_room(struct weft__live *l, uint32_t i) {
    bool room = weft_drive_waiting(l->drive, l->number[i]) < l->conf->hold;
    l->attach[i].counts->held += !room;
    return room;
}

// --- to hosts -----------------------------------------------------------------------------------------------------

static bool is_marked(const uint8_t *b, size_t length) {
    if (length < HEADER + 20) return false;
    uint32_t type = weft__get16(b + 12);
    return (type == 0x0800 && (b[15] & 3) == WEFT_ECN_CE) || (type == 0x86dd && (b[15] >> 4 & 3) == WEFT_ECN_CE);
}

static void on_arrived(void *context, struct weft_drive *drive, const struct weft_drive_notice *n) {
    struct weft__live *l = context;
    if (l->quiet) return;
    uint32_t i = 0;
    while (l->number[i] != n->host)
        i++;
    struct weft_live_attached *counts = l->attach[i].counts;
    l->answer->delivered++;
    if (n->time_ps - n->sent_ps < l->trip_ps) l->trip_ps = n->time_ps - n->sent_ps;
    counts->marked += is_marked(n->frame, n->bytes);
    if (n->bytes > HEADER + l->conf->host[i].mtu_bytes)
        counts->too_long++;
    else
        add_output(l, &l->network, i, n->time_ps, n->frame, n->bytes);
}

enum weft_status weft__live_listen(struct weft__live *l, struct weft_error *ret_error) {
    for (uint32_t i = 0; i < l->conf->hosts; i++)
        WEFT_TRY(weft_drive_attach(l->drive, l->number[i], on_arrived, l, ret_error));
    return WEFT_OK;
}

static void write_output(struct weft__live *l, struct weft__live_output *o, weft_time_ps now) {
    struct weft_live_attached *counts = l->attach[o->host].counts;
    weft_histogram_add(l->lateness, now - o->due_ps);
    if (weft__attach_write(&l->attach[o->host], o->bytes, o->length)) {
        counts->delivered++;
        counts->delivered_bytes += o->length;
    } else {
        counts->refused++;
    }
    free(o);
}

void weft__live_write_due(struct weft__live *l) {
    struct weft__live_queue *const queues[] = {&l->network, &l->flood};
    for (unsigned k = 0; k < 2; k++)
        while (queues[k]->first) {
            weft_time_ps now = weft__live_now(l);
            if (queues[k]->first->due_ps > now) break;
            write_output(l, take_output(queues[k]), now);
        }
}

weft_time_ps weft__live_next_due(const struct weft__live *l) {
    weft_time_ps a = l->network.first ? l->network.first->due_ps : WEFT_TIME_NEVER;
    weft_time_ps b = l->flood.first ? l->flood.first->due_ps : WEFT_TIME_NEVER;
    return a < b ? a : b;
}

void weft__live_drop_outputs(struct weft__live *l) {
    while (l->network.first)
        free(take_output(&l->network));
    while (l->flood.first)
        free(take_output(&l->flood));
}

// --- attaching ----------------------------------------------------------------------------------------------------

static enum weft_status attach_host(struct weft__live *l, uint32_t i, struct weft_error *ret_error) {
    const struct weft_live_host *h = &l->conf->host[i];
    struct weft__attach *a = &l->attach[i];
    const struct weft_scenario *s = l->simulation->scenario;
    const char *path = *h->interface ? h->interface : *h->dgram_path ? h->dgram_path : h->unix_path;
    a->counts->name = weft_arena_text(l->arena, h->name);
    l->number[i] = weft_simulation_host_find(l->simulation, h->name);
    if (!*path)
        return WEFT_REFUSE(ret_error, h->place, "live.hosts: %s has neither unix, dgram nor interface; expected one",
                           h->name);
    a->path = weft_arena_text(l->arena, path);
    const char *out = l->options->folder;
    if (!*h->interface)
        WEFT_TRY(weft_scenario_write_path(s, "live", "hosts", path, out, l->arena, &a->path, ret_error));
    if (*h->peer) WEFT_TRY(weft_scenario_write_path(s, "live", "hosts", h->peer, out, l->arena, &a->peer, ret_error));
    return weft__attach_open(a, h, h->place, l->arena, ret_error);
}

enum weft_status weft__live_attach(struct weft__live *l, struct weft_error *ret_error) {
    uint32_t n = l->conf->hosts;
    l->attach = weft_arena_alloc(l->arena, n, sizeof *l->attach);
    l->number = weft_arena_alloc(l->arena, n, sizeof *l->number);
    l->answer->host = weft_arena_alloc(l->arena, n, sizeof *l->answer->host);
    l->answer->hosts = n;
    for (uint32_t i = 0; i < n; i++)
        l->attach[i] = (struct weft__attach){.counts = &l->answer->host[i], .listener = -1, .fd = -1};
    for (uint32_t i = 0; i < n; i++)
        WEFT_TRY(attach_host(l, i, ret_error));
    return WEFT_OK;
}
