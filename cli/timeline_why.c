// SPDX-License-Identifier: Apache-2.0
// Why a port was paused, or was not. From the causes of events, or from maxima, counters and configuration.
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
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

WEFT__ORDER(by_total, struct timeline_reason, WEFT__DOWN(total_ps))

/// The same answer for several pauses of a place.
static void add_reason(const struct timeline_view *v, struct timeline_why *why, const struct weft_pause *p) {
    const struct weft_event *root = p->root ? &v->t.event[p->root - 1] : NULL;
    uint32_t port = root ? root->port : WEFT_NONE, kind = root ? root->kind : WEFT_EVENT_KINDS, k = 0;
    weft_time_ps time = end_of(v, p) - v->t.event[p->event - 1].time_ps;
    why->pauses++;
    why->paused_ps += time;
    while (k < why->reasons &&
           (why->reason[k].by_port != p->by || why->reason[k].root_port != port || why->reason[k].root != kind))
        k++;
    if (k == TIMELINE_REASONS_MAX) return;
    if (k == why->reasons)
        why->reason[why->reasons++] = (struct timeline_reason){.by = p->by == WEFT_NONE ? NULL : v->t.port[p->by].name,
                                                               .because_of = root ? v->t.port[port].name : NULL,
                                                               .root_kind = root ? weft_event_infos[kind].name : NULL,
                                                               .by_port = p->by,
                                                               .root_port = port,
                                                               .root = kind};
    why->reason[k].times++;
    why->reason[k].total_ps += time;
}

static void print_reasons(const struct timeline_view *v, const struct timeline_why *why) {
    weft_time_ps total = 0;
    uint32_t times = 0;
    for (uint32_t k = 0; k < why->reasons; k++) {
        total += why->reason[k].total_ps;
        times += why->reason[k].times;
    }
    printf("%s was not allowed to send priority %u %s, %s in all:\n", why->port, why->priority,
           weft__counted(times, "time").text, weft__about_time(total).text);
    for (uint32_t k = 0; k < why->reasons; k++) {
        const struct timeline_reason *r = &why->reason[k];
        printf("  %s by %s", weft__about_time(r->total_ps).text, r->by ? r->by : "a peer whose record is incomplete");
        if (r->root == WEFT_EVENT_CONGESTED)
            printf(", because of the queue of %s", timeline_port(v, r->root_port, "to").text);
        else if (r->root == WEFT_EVENT_SFC_SENT)
            printf(", because of messages (SFC) from the queue of %s", timeline_port(v, r->root_port, "to").text);
        else if (r->root == WEFT_EVENT_XOFF)
            printf(", because of the host of %s", r->because_of);
        printf(" (%u)\n", r->times);
    }
}

/// From the pause back to its first cause, one line each.
static void print_chain(const struct timeline_view *v, uint32_t id) {
    for (bool first = true; id; id = v->t.event[id - 1].cause, first = false) {
        printf("%13s  %s", weft__at_us(v->t.event[id - 1].time_ps).text, first ? "" : "because ");
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
    if (!chosen->resumed) printf("It lasts to the end of the run");
    const struct weft_pause *p = chosen, *next;
    for (; (next = find_lasting(v, pause, n, p)) && !seen[next - pause]; p = next) {
        const struct weft_event *e = &v->t.event[next->event - 1];
        seen[next - pause] = true;
        printf(",\n  because %s is paused since %s", timeline_port(v, e->port, NULL).text,
               weft__at_us(e->time_ps).text);
    }
    if (!chosen->resumed) printf("%s.\n", next ? ",\n  and so on in a circle: a deadlock" : "");
}

/// There is no such pause.
static enum weft_status refuse_place(const struct timeline_view *v, const struct weft_pause *pause, uint32_t n,
                                     uint32_t port, uint32_t priority, weft_time_ps time,
                                     struct weft_error *ret_error) {
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
    weft_time_ps paused_ps = weft_timeline_at(&v->t, port, priority)->paused_ps;
    if (!nearest && paused_ps)
        return WEFT_REFUSE(ret_error, WEFT_NOWHERE,
                           "%s was paused for priority %u, for %s, but that is not recorded: its node had more events "
                           "than run.events allows; run again with --set run.events=N",
                           name, priority, weft__about_time(paused_ps).text);
    if (!nearest)
        return WEFT_REFUSE(ret_error, WEFT_NOWHERE, "%s was not paused for priority %u; --why-not %s/%u says why not",
                           name, priority, name, priority);
    return WEFT_REFUSE(
        ret_error, WEFT_NOWHERE, "%s was not paused for priority %u at that time; the nearest pause is from %s to %s",
        name, priority, weft__at_us(v->t.event[nearest->event - 1].time_ps).text, weft__at_us(end_of(v, nearest)).text);
}

enum weft_status timeline_find_why(struct timeline_view *v, uint32_t port, uint32_t priority, weft_time_ps time,
                                   struct weft_error *ret_error) {
    uint32_t n;
    const struct weft_pause *pause = weft_pauses_list(v->t.event, v->t.events, v->t.ports, v->arena, &n);
    const struct weft_pause *chosen = choose_pause(v, pause, n, port, priority, time);
    struct timeline_why *why = weft_arena_alloc(v->arena, 1, sizeof *why);
    if (!chosen) return refuse_place(v, pause, n, port, priority, time, ret_error);
    *why = (struct timeline_why){.port = v->t.port[port].name,
                                 .priority = priority,
                                 .duration_ps = end_of(v, chosen) - v->t.event[chosen->event - 1].time_ps,
                                 .reason = weft_arena_alloc(v->arena, TIMELINE_REASONS_MAX, sizeof *why->reason),
                                 .chosen = chosen};
    for (uint32_t i = 0; i < n; i++)
        if (is_there(v, &pause[i], port, priority)) add_reason(v, why, &pause[i]);
    qsort(why->reason, why->reasons, sizeof *why->reason, by_total);
    v->at_ps = time;
    v->why = why;
    return WEFT_OK;
}

void timeline_print_why(const struct timeline_view *v) {
    uint32_t n;
    const struct weft_pause *pause = weft_pauses_list(v->t.event, v->t.events, v->t.ports, v->arena, &n);
    print_reasons(v, v->why);
    printf("%s of %s:\n", v->at_ps == WEFT_TIME_NEVER ? "the longest," : "that one,",
           weft__about_time(v->why->duration_ps).text);
    print_chain(v, v->why->chosen->event);
    print_lasting(v, pause, n, v->why->chosen);
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

static const char *find_setting(const struct timeline_view *v, const char *node, const char *role, const char *path) {
    char full[128];
    snprintf(full, sizeof full, "%s.%s", role, path);
    return weft_timeline_setting(&v->t, node, full);
}

/// How far the peer's buffer stayed below XOFF.
static char *say_level(const struct timeline_view *v, uint32_t peer, uint32_t priority, bool host) {
    const char *node = v->t.port[peer].node, *name = v->t.port[peer].name;
    weft_bytes most = weft_timeline_at(&v->t, peer, priority)->ingress_bytes_max;
    struct weft__quantity_text bytes = weft__about_bytes(most);
    if (host) {
        const char *drain = find_setting(v, node, "host", "drain_rate"),
                   *xoff = find_setting(v, node, "host", "rx_xoff");
        if (drain && !strncmp(drain, "0", 1))
            return weft_arena_format(v->arena,
                                     "%s never sent a pause: its host takes data as fast as it comes "
                                     "(host.drain_rate: %s)",
                                     name, drain);
        return weft_arena_format(v->arena,
                                 "%s never sent a pause: its receive buffer held %s at most, XOFF is above "
                                 "%s (host.rx_xoff)",
                                 name, bytes.text, xoff ? xoff : "?");
    }
    const char *kind = find_setting(v, node, "switch", "buffer.kind"),
               *xoff = find_setting(v, node, "switch", "buffer.xoff");
    if (xoff)
        return weft_arena_format(v->arena,
                                 "%s never sent a pause: its ingress buffer held %s at most, XOFF is above "
                                 "%s (switch.buffer.xoff)",
                                 name, bytes.text, xoff);
    return weft_arena_format(v->arena,
                             "%s never sent a pause: its ingress buffer held %s at most, and never exceeded "
                             "the threshold of the %s buffer",
                             name, bytes.text, kind ? kind : "?");
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
    uint32_t ports = 0;
    for (uint32_t i = 0; i < v->t.ports; i++)
        ports += !strcmp(v->t.port[i].node, peer_node);
    // A host is one port. A switch with one port would be useless, and its answer differs only in what it quotes.
    bool host = ports == 1;
    const char *lossless = find_setting(v, peer_node, host ? "host" : "switch", "pfc.priorities");
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
                                                 weft__about_time(own->paused_ps).text, name, priority)};
    if (agreed && !(v->t.event[agreed - 1].value >> priority & 1))
        return (struct answer){"pfc_off", weft_arena_format(v->arena,
                                                            "%s has no PFC for priority %u, as agreed by DCBX: its "
                                                            "lossless priorities are %s since %s",
                                                            v->t.port[peer].name, priority,
                                                            timeline_priorities(v->t.event[agreed - 1].value).text,
                                                            weft__at_us(v->t.event[agreed - 1].time_ps).text)};
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

void timeline_find_why_not(struct timeline_view *v, uint32_t port, uint32_t priority) {
    struct timeline_why_not *why = weft_arena_alloc(v->arena, 1, sizeof *why);
    struct answer answer = find_answer(v, port, priority);
    uint32_t peer = v->t.port[port].peer_port;
    *why = (struct timeline_why_not){.port = v->t.port[port].name,
                                     .peer_port = v->t.port[peer].name,
                                     .reason = answer.reason,
                                     .text = answer.text,
                                     .priority = priority,
                                     .ingress_bytes_max = weft_timeline_at(&v->t, peer, priority)->ingress_bytes_max};
    v->why_not = why;
}
