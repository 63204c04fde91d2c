// SPDX-License-Identifier: Apache-2.0
// Why a port was paused, or was not. From the causes of events, or from maxima, counters and configuration.
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "timeline.h"

static weft_time_ps end_of(const struct timeline_view *v, const struct weft_pause *p) {
    return p->resumed ? v->t.event[p->resumed - 1].time_ps : v->t.sim_time_ps;
}

static bool is_there(const struct timeline_view *v, const struct weft_pause *p, uint32_t port, uint32_t priority) {
    const struct weft_event *e = &v->t.event[p->event - 1];
    return e->port == port && e->priority == priority;
}

// --- why ----------------------------------------------------------------------------------------------------------

/// The pause of that place at `time`, or its longest one; NULL: none.
static const struct weft_pause *choose_pause(const struct timeline_view *v, const struct weft_pause *pause, uint32_t n,
                                             uint32_t port, uint32_t priority, weft_time_ps time) {
    const struct weft_pause *chosen = NULL;
    weft_time_ps longest = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (!is_there(v, &pause[i], port, priority)) continue;
        weft_time_ps from = v->t.event[pause[i].event - 1].time_ps, to = end_of(v, &pause[i]);
        if (time == WEFT_TIME_NEVER ? !chosen || to - from > longest : from <= time && time <= to) {
            chosen = &pause[i];
            longest = to - from;
        }
    }
    return chosen;
}

/// The same answer for several pauses of a place, most paused time first.
struct reason {
    uint32_t by, root_port, root_kind, times;
    weft_time_ps total_ps;
};

static int by_total(const void *a, const void *b) {
    const struct reason *x = a, *y = b;
    return (x->total_ps < y->total_ps) - (x->total_ps > y->total_ps);
}

static uint32_t sum_reasons(const struct timeline_view *v, const struct weft_pause *pause, uint32_t n, uint32_t port,
                            uint32_t priority, struct reason *reason, uint32_t max) {
    uint32_t reasons = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct weft_pause *p = &pause[i];
        if (!is_there(v, p, port, priority)) continue;
        const struct weft_event *root = p->root ? &v->t.event[p->root - 1] : NULL;
        struct reason r = {p->by, root ? root->port : WEFT_NONE, root ? root->kind : WEFT_EVENT_KINDS, 0, 0};
        uint32_t k = 0;
        while (k < reasons &&
               (reason[k].by != r.by || reason[k].root_port != r.root_port || reason[k].root_kind != r.root_kind))
            k++;
        if (k == max) continue;
        if (k == reasons) reason[reasons++] = r;
        reason[k].times++;
        reason[k].total_ps += end_of(v, p) - v->t.event[p->event - 1].time_ps;
    }
    qsort(reason, reasons, sizeof *reason, by_total);
    return reasons;
}

static void print_reasons(const struct timeline_view *v, const struct reason *reason, uint32_t n, const char *name,
                          uint32_t priority) {
    char a[TIMELINE_TEXT], b[TIMELINE_TEXT];
    weft_time_ps total = 0;
    uint32_t times = 0;
    for (uint32_t k = 0; k < n; k++) {
        total += reason[k].total_ps;
        times += reason[k].times;
    }
    printf("%s was not allowed to send priority %u %s, %s in all:\n", name, priority, weft__counted(times, "time").text,
           timeline_duration(total, a));
    for (uint32_t k = 0; k < n; k++) {
        printf("  %s by %s", timeline_duration(reason[k].total_ps, a),
               reason[k].by == WEFT_NONE ? "a peer whose record is incomplete" : v->t.port[reason[k].by].name);
        if (reason[k].root_kind == WEFT_EVENT_CONGESTED)
            printf(", because of the queue of %s", timeline_port(v, reason[k].root_port, "to", b));
        else if (reason[k].root_kind == WEFT_EVENT_SFC_SENT)
            printf(", because of messages (SFC) from the queue of %s", timeline_port(v, reason[k].root_port, "to", b));
        else if (reason[k].root_kind == WEFT_EVENT_XOFF)
            printf(", because of the host of %s", timeline_port(v, reason[k].root_port, NULL, b));
        printf(" (%u)\n", reason[k].times);
    }
}

/// From the pause back to its first cause, one line each.
static void print_chain(const struct timeline_view *v, uint32_t id) {
    for (bool first = true; id; id = v->t.event[id - 1].cause, first = false) {
        char text[TIMELINE_TEXT];
        printf("%13s  %s", timeline_time(v->t.event[id - 1].time_ps, text), first ? "" : "because ");
        timeline_event_text(v, id, stdout);
        printf("\n");
    }
}

/// The ongoing pause at the egress port that most of an ingress buffer is for; NULL: there is none.
static const struct weft_pause *find_lasting(const struct timeline_view *v, const struct weft_pause *pause, uint32_t n,
                                             const struct weft_pause *of) {
    if (of->resumed || !of->xoff) return NULL;
    uint64_t port = v->t.event[of->xoff - 1].more;
    for (uint32_t i = n; i--;)
        if (!pause[i].resumed && is_there(v, &pause[i], (uint32_t)port, v->t.event[of->event - 1].priority))
            return &pause[i];
    return NULL;
}

/// A pause that congestion caused may last because of another pause; in a deadlock this leads back to itself.
static void print_lasting(const struct timeline_view *v, const struct weft_pause *pause, uint32_t n,
                          const struct weft_pause *chosen) {
    bool *seen = weft_arena_alloc(v->arena, n, sizeof *seen);
    char port[TIMELINE_TEXT], time[TIMELINE_TEXT];
    if (!chosen->resumed) printf("It lasts to the end of the run");
    const struct weft_pause *p = chosen, *next;
    for (; (next = find_lasting(v, pause, n, p)) && !seen[next - pause]; p = next) {
        const struct weft_event *e = &v->t.event[next->event - 1];
        seen[next - pause] = true;
        printf(",\n  because %s is paused since %s", timeline_port(v, e->port, NULL, port),
               timeline_time(e->time_ps, time));
    }
    if (!chosen->resumed) printf("%s.\n", next ? ",\n  and so on in a circle: a deadlock" : "");
}

static void why_json(const struct timeline_view *v, const struct weft_pause *pause, uint32_t n,
                     const struct weft_pause *chosen, uint32_t port, uint32_t priority) {
    struct weft__json j = {.file = stdout};
    weft_time_ps total = 0;
    uint64_t times = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (!is_there(v, &pause[i], port, priority)) continue;
        times++;
        total += end_of(v, &pause[i]) - v->t.event[pause[i].event - 1].time_ps;
    }
    weft__json_begin_object(&j);
    weft__json_key_string(&j, "port", v->t.port[port].name);
    weft__json_key_u64(&j, "priority", priority);
    weft__json_key_u64(&j, "pauses", times);
    weft__json_key_u64(&j, "paused_ps", total);
    weft__json_key_u64(&j, "duration_ps", end_of(v, chosen) - v->t.event[chosen->event - 1].time_ps);
    weft__json_key(&j, "because");
    weft__json_begin_array(&j);
    for (uint32_t id = chosen->event; id; id = v->t.event[id - 1].cause)
        timeline_event_json(v, id, &j);
    weft__json_end_array(&j);
    weft__json_end_object(&j);
    printf("\n");
}

/// There is no such pause.
static enum weft_status fail_pause(const struct timeline_view *v, const struct weft_pause *pause, uint32_t n,
                                   uint32_t port, uint32_t priority, weft_time_ps time, struct weft_error *ret_error) {
    const char *name = v->t.port[port].name;
    const struct weft_pause *nearest = NULL;
    weft_time_ps distance = WEFT_TIME_NEVER;
    for (uint32_t i = 0; i < n; i++) {
        weft_time_ps from = v->t.event[pause[i].event - 1].time_ps, to = end_of(v, &pause[i]);
        weft_time_ps away = time < from ? from - time : time - to;
        if (!is_there(v, &pause[i], port, priority) || away >= distance) continue;
        nearest = &pause[i];
        distance = away;
    }
    char from[TIMELINE_TEXT], to[TIMELINE_TEXT];
    weft_time_ps paused_ps = weft_timeline_at(&v->t, port, priority)->paused_ps;
    if (!nearest && paused_ps)
        return weft_error_set(
            ret_error, WEFT_ERROR_INPUT, WEFT_NOWHERE,
            "%s was paused for priority %u, for %s, but that is not recorded: its node had more events "
            "than run.events allows; run again with --set run.events=N",
            name, priority, timeline_duration(paused_ps, from));
    if (!nearest)
        return weft_error_set(ret_error, WEFT_ERROR_INPUT, WEFT_NOWHERE,
                              "%s was not paused for priority %u; --why-not %s/%u says why not", name, priority, name,
                              priority);
    return weft_error_set(ret_error, WEFT_ERROR_INPUT, WEFT_NOWHERE,
                          "%s was not paused for priority %u at that time; the nearest pause is from %s to %s", name,
                          priority, timeline_time(v->t.event[nearest->event - 1].time_ps, from),
                          timeline_time(end_of(v, nearest), to));
}

enum weft_status timeline_why(const struct timeline_view *v, uint32_t port, uint32_t priority, weft_time_ps time,
                              bool json, struct weft_error *ret_error) {
    uint32_t n;
    const struct weft_pause *pause = weft_pauses_list(v->t.event, v->t.events, v->t.ports, v->arena, &n);
    const struct weft_pause *chosen = choose_pause(v, pause, n, port, priority, time);
    const char *name = v->t.port[port].name;
    if (!chosen) return fail_pause(v, pause, n, port, priority, time, ret_error);
    if (json) {
        why_json(v, pause, n, chosen, port, priority);
        return WEFT_OK;
    }
    struct reason reason[16];
    uint32_t reasons = sum_reasons(v, pause, n, port, priority, reason, 16);
    print_reasons(v, reason, reasons, name, priority);
    char a[TIMELINE_TEXT];
    printf("%s of %s:\n", time == WEFT_TIME_NEVER ? "the longest," : "that one,",
           timeline_duration(end_of(v, chosen) - v->t.event[chosen->event - 1].time_ps, a));
    print_chain(v, chosen->event);
    print_lasting(v, pause, n, chosen);
    return WEFT_OK;
}

// --- why not ------------------------------------------------------------------------------------------------------

struct answer {
    const char *reason; ///< a word for programs
    char *text;
};

static bool is_lossless(const char *priorities, uint32_t priority) {
    for (const char *p = priorities; p && *p; p++)
        if (*p == (char)('0' + priority)) return true;
    return false;
}

static const char *setting_of(const struct timeline_view *v, const char *node, const char *role, const char *path) {
    char full[128];
    snprintf(full, sizeof full, "%s.%s", role, path);
    return weft_timeline_setting(&v->t, node, full);
}

/// How far the peer's buffer stayed below XOFF.
static char *say_level(const struct timeline_view *v, uint32_t peer, uint32_t priority, bool host) {
    const char *node = v->t.port[peer].node, *name = v->t.port[peer].name;
    weft_bytes most = weft_timeline_at(&v->t, peer, priority)->ingress_bytes_max;
    char bytes[TIMELINE_TEXT];
    timeline_bytes(most, bytes);
    if (host) {
        const char *drain = setting_of(v, node, "host", "drain_rate"), *xoff = setting_of(v, node, "host", "rx_xoff");
        if (drain && !strncmp(drain, "0", 1))
            return weft_arena_format(v->arena,
                                     "%s never sent a pause: its host takes data as fast as it comes "
                                     "(host.drain_rate: %s)",
                                     name, drain);
        return weft_arena_format(v->arena,
                                 "%s never sent a pause: its receive buffer held %s at most, XOFF is above "
                                 "%s (host.rx_xoff)",
                                 name, bytes, xoff ? xoff : "?");
    }
    const char *kind = setting_of(v, node, "switch", "buffer.kind"),
               *xoff = setting_of(v, node, "switch", "buffer.xoff");
    if (xoff)
        return weft_arena_format(v->arena,
                                 "%s never sent a pause: its ingress buffer held %s at most, XOFF is above "
                                 "%s (switch.buffer.xoff)",
                                 name, bytes, xoff);
    return weft_arena_format(v->arena,
                             "%s never sent a pause: its ingress buffer held %s at most, and never exceeded "
                             "the threshold of the %s buffer",
                             name, bytes, kind ? kind : "?");
}

/// The last change of a port's lossless priorities; 0: they are as configured.
static uint32_t find_agreement(const struct timeline_view *v, uint32_t port) {
    uint32_t id = v->t.events;
    while (id && (v->t.event[id - 1].kind != WEFT_EVENT_LOSSLESS || v->t.event[id - 1].port != port))
        id--;
    return id;
}

static struct answer find_answer(const struct timeline_view *v, uint32_t port, uint32_t priority) {
    uint32_t peer = v->t.port[port].peer_port;
    const struct weft_counters *own = weft_timeline_at(&v->t, port, priority),
                               *far = weft_timeline_at(&v->t, peer, priority);
    const char *peer_node = v->t.port[peer].node, *name = v->t.port[port].name;
    char a[TIMELINE_TEXT], b[TIMELINE_TEXT];
    uint32_t ports = 0;
    for (uint32_t i = 0; i < v->t.ports; i++)
        ports += !strcmp(v->t.port[i].node, peer_node);
    // A host is one port. A switch with one port would be useless, and its answer differs only in what it quotes.
    bool host = ports == 1;
    const char *lossless = setting_of(v, peer_node, host ? "host" : "switch", "pfc.priorities");
    uint32_t agreed = find_agreement(v, peer), obeyed = find_agreement(v, port);
    if (own->pfc_rx_xoff && !own->paused_ps)
        return (struct answer){
            "not_obeyed",
            weft_arena_format(v->arena, "it received %s but does not obey them: priority %u is not lossless at %s (%s)",
                              weft__counted(own->pfc_rx_xoff, "pause frame").text, priority, name,
                              obeyed ? "by DCBX" : "pfc.priorities")};
    if (own->pfc_rx_xoff)
        return (struct answer){"paused",
                               weft_arena_format(v->arena, "it was: %s, %s in all; --why %s/%u says because of what",
                                                 weft__counted(own->pfc_rx_xoff, "pause frame").text,
                                                 timeline_duration(own->paused_ps, a), name, priority)};
    if (agreed && !(v->t.event[agreed - 1].value >> priority & 1))
        return (struct answer){"pfc_off", weft_arena_format(v->arena,
                                                            "%s has no PFC for priority %u, as agreed by DCBX: its "
                                                            "lossless priorities are %s since %s",
                                                            v->t.port[peer].name, priority,
                                                            timeline_priorities(v->t.event[agreed - 1].value, a),
                                                            timeline_time(v->t.event[agreed - 1].time_ps, b))};
    if (!agreed && lossless && !is_lossless(lossless, priority))
        return (struct answer){"pfc_off", weft_arena_format(v->arena,
                                                            "%s has no PFC for priority %u (%s.pfc.priorities: "
                                                            "%s), so it never asks for a pause",
                                                            peer_node, priority, host ? "host" : "switch",
                                                            *lossless ? lossless : "none")};
    if (far->pfc_tx_xoff)
        return (struct answer){
            "frames_lost",
            weft_arena_format(v->arena, "%s sent %s, but none arrived: see the drops of %s", v->t.port[peer].name,
                              weft__counted(far->pfc_tx_xoff, "pause frame").text, v->t.port[peer].name)};
    if (!own->tx_packets)
        return (struct answer){"nothing_sent",
                               weft_arena_format(v->arena, "%s never sent anything of priority %u", name, priority)};
    return (struct answer){"below_xoff", say_level(v, peer, priority, host)};
}

enum weft_status timeline_why_not(const struct timeline_view *v, uint32_t port, uint32_t priority, bool json,
                                  struct weft_error *ret_error) {
    struct answer answer = find_answer(v, port, priority);
    uint32_t peer = v->t.port[port].peer_port;
    if (!json) {
        printf("%s, priority %u: %s\n", v->t.port[port].name, priority, answer.text);
        return WEFT_OK;
    }
    struct weft__json j = {.file = stdout};
    weft__json_begin_object(&j);
    weft__json_key_string(&j, "port", v->t.port[port].name);
    weft__json_key_u64(&j, "priority", priority);
    weft__json_key_string(&j, "peer_port", v->t.port[peer].name);
    weft__json_key_string(&j, "reason", answer.reason);
    weft__json_key_u64(&j, "ingress_bytes_max", weft_timeline_at(&v->t, peer, priority)->ingress_bytes_max);
    weft__json_key_string(&j, "text", answer.text);
    weft__json_end_object(&j);
    printf("\n");
    return WEFT_OK;
}
