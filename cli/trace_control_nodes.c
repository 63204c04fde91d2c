// SPDX-License-Identifier: Apache-2.0
// FSDB and BGP in weft trace-control.
#include <inttypes.h>

#include "trace_control.h"

#include "base/units.h"

enum { TEXT = 32 };

static void print_event(const struct trace_view *v, const struct weft_control_event *e) {
    static const char *const did[] = {"crashes", "starts again", "is shut down", "", "",
                                      "",        "is drained",   "is used again"};
    const struct weft_topology *t = v->topology;
    char at[TEXT];
    weft_format_time(e->time_ps, at, sizeof at);
    printf("  at %-6s ", at);
    if (e->what == WEFT_CONTROL_CUT) {
        uint32_t n = 0;
        for (uint32_t i = 0; i < t->nodes; i++)
            n += e->side[i];
        printf("%u node%s cut off from the others", n, n > 1 ? "s are" : " is");
    } else if (e->what == WEFT_CONTROL_HEAL)
        printf("nobody is cut off any more");
    else if (e->what == WEFT_CONTROL_MOVE)
        printf("a host moves from %s to %s", t->node[e->node].name, t->node[e->to].name);
    else
        printf("%s %s", t->node[e->node].name, did[e->what]);
    printf(":");
}

static void print_times(const char *what, uint32_t n, weft_time_ps last) {
    char text[TEXT];
    if (!n) return;
    weft_format_time(last, text, sizeof text);
    printf(" %u %s", n, what);
    if (last) printf(" (the last after %s)", text);
    printf(";");
}

static void print_fsdb(const struct trace_view *v, const struct weft_control_nodes *nodes) {
    const struct weft_fsdb_result *r = nodes->fsdb;
    char first[TEXT];
    weft_format_time(r->first_full_ps, first, sizeof first);
    printf("\nfsdb: %s, %.0f heartbeats a second; %s of others at each node; a start of all takes %s, %s\n",
           weft__counted(r->sessions, "session").text, r->heartbeats_per_s, weft__counted(r->objects, "object").text,
           first, weft__counted(r->first_messages, "message").text);
    for (uint32_t i = 0; i < nodes->fsdb_events; i++) {
        const struct weft_control_event *e = &v->trace->event[nodes->fsdb_event[i]];
        const struct weft_fsdb_outcome *o = &r->outcome[i];
        print_event(v, e);
        print_times("sessions lost", o->lost, o->lost_last_ps);
        print_times("times a node flushed another's neighbours", o->flushed, o->flushed_last_ps);
        print_times("sessions made", o->established, o->established_last_ps);
        print_times("nodes know where the host is", o->told, o->told_last_ps);
        printf(" %s\n", weft__counted(o->connects + o->states + o->changes, "message").text);
    }
}

static void print_bgp(const struct trace_view *v, const struct weft_control_nodes *nodes) {
    static const char *const did[] = {"is lost",
                                      "shuts down",
                                      "is back",
                                      "loses %s to superspines",
                                      "has %s to superspines back",
                                      "hears no longer of a building on %s",
                                      "hears of a building again on %s"};
    const struct weft_exit_timeline *x = nodes->exits;
    const struct weft_bgp_result *r = x->bgp;
    char first[TEXT], at[TEXT], last[TEXT];
    if (!r) return;
    weft_format_time(r->first_ps, first, sizeof first);
    printf("\nbgp: %s, %" PRIu64 " iBGP and %" PRIu64 " eBGP sessions; %s an aggregate, ECMP over %" PRIu64
           "; %s at an RDSW, %" PRIu64 " at all; from nothing in %s with %s\n",
           weft__counted(x->setup.edsws, "EDSW").text, r->ibgp_sessions, r->ebgp_sessions,
           weft__counted(r->paths, "next hop").text, r->width, weft__counted(r->rib, "path").text, r->rib_all, first,
           weft__counted(r->first_updates, "UPDATE").text);
    for (uint32_t i = 0; i < x->events; i++) {
        const struct weft_bgp_event *e = &x->event[i];
        const struct weft_bgp_outcome *o = &r->outcome[i];
        uint32_t links = (uint32_t)__builtin_popcountll(e->links);
        weft_format_time(e->time_ps, at, sizeof at);
        weft_format_time(o->last_ps, last, sizeof last);
        printf("  at %-6s %s ", at, v->topology->node[x->edsw[e->edsw]].name);
        printf(did[e->what], weft__counted(links, "link").text);
        printf(": the last RDSW knows after %s; %s; %s", last, weft__counted(o->paths, "next hop").text,
               weft__counted(o->updates, "UPDATE").text);
        if (o->lost_ps > 0) {
            char lost[TEXT];
            weft_format_time((weft_time_ps)o->lost_ps, lost, sizeof lost);
            printf("; lost meanwhile: %s of all traffic to other buildings", lost);
        }
        printf("\n");
    }
}

void trace_control_print_nodes(const struct trace_view *v) {
    for (uint32_t i = 0; i < v->trace->fabrics; i++) {
        const struct weft_fabric *f = v->trace->fabric[i];
        if (v->trace->fabrics > 1) printf("\nthe fabric of %s\n", f->device[f->dest_device[0]].name);
        print_fsdb(v, &v->trace->nodes[i]);
        print_bgp(v, &v->trace->nodes[i]);
    }
}

static void json_event(struct weft__json *j, const struct trace_view *v, const struct weft_control_event *e) {
    weft__json_key_u64(j, "time_ps", e->time_ps);
    weft__json_key_string(j, "do", weft_control_whats[e->what]);
    if (e->node != WEFT_NONE) weft__json_key_string(j, "node", v->topology->node[e->node].name);
    if (e->to != WEFT_NONE) weft__json_key_string(j, "to", v->topology->node[e->to].name);
}

static void json_fsdb(struct weft__json *j, const struct trace_view *v, const struct weft_control_nodes *nodes) {
    const struct weft_fsdb_result *r = nodes->fsdb;
    weft__json_key(j, "fsdb");
    weft__json_begin_object(j);
    weft__json_key_u64(j, "sessions", r->sessions);
    weft__json_key_real(j, "heartbeats_per_s", r->heartbeats_per_s);
    weft__json_key_u64(j, "objects", r->objects);
    weft__json_key_u64(j, "start_ps", r->first_full_ps);
    weft__json_key_u64(j, "start_messages", r->first_messages);
    weft__json_key(j, "events");
    weft__json_begin_array(j);
    for (uint32_t i = 0; i < nodes->fsdb_events; i++) {
        const struct weft_fsdb_outcome *o = &r->outcome[i];
        weft__json_begin_object(j);
        json_event(j, v, &v->trace->event[nodes->fsdb_event[i]]);
        weft__json_key_u64(j, "lost", o->lost);
        weft__json_key_u64(j, "lost_last_ps", o->lost_last_ps);
        weft__json_key_u64(j, "flushed", o->flushed);
        weft__json_key_u64(j, "flushed_last_ps", o->flushed_last_ps);
        weft__json_key_u64(j, "established", o->established);
        weft__json_key_u64(j, "established_last_ps", o->established_last_ps);
        weft__json_key_u64(j, "told", o->told);
        weft__json_key_u64(j, "told_last_ps", o->told_last_ps);
        weft__json_key_u64(j, "messages", o->connects + o->states + o->changes);
        weft__json_end_object(j);
    }
    weft__json_end_array(j);
    weft__json_end_object(j);
}

static void json_bgp(struct weft__json *j, const struct trace_view *v, const struct weft_control_nodes *nodes) {
    static const char *const did[] = {"lost", "shut", "back", "link_down", "link_up", "way_down", "way_up"};
    const struct weft_exit_timeline *x = nodes->exits;
    const struct weft_bgp_result *r = x->bgp;
    if (!r) return;
    weft__json_key(j, "bgp");
    weft__json_begin_object(j);
    weft__json_key_u64(j, "ibgp_sessions", r->ibgp_sessions);
    weft__json_key_u64(j, "ebgp_sessions", r->ebgp_sessions);
    weft__json_key_u64(j, "next_hops", r->paths);
    weft__json_key_u64(j, "ecmp_width", r->width);
    weft__json_key_u64(j, "paths_rdsw", r->rib);
    weft__json_key_u64(j, "paths_all", r->rib_all);
    weft__json_key_u64(j, "start_ps", r->first_ps);
    weft__json_key_u64(j, "start_updates", r->first_updates);
    weft__json_key(j, "events");
    weft__json_begin_array(j);
    for (uint32_t i = 0; i < x->events; i++) {
        const struct weft_bgp_outcome *o = &r->outcome[i];
        weft__json_begin_object(j);
        weft__json_key_u64(j, "time_ps", x->event[i].time_ps);
        weft__json_key_string(j, "edsw", v->topology->node[x->edsw[x->event[i].edsw]].name);
        weft__json_key_string(j, "what", did[x->event[i].what]);
        weft__json_key_u64(j, "links", (uint64_t)__builtin_popcountll(x->event[i].links));
        weft__json_key_u64(j, "convergence_ps", o->last_ps);
        weft__json_key_u64(j, "next_hops", o->paths);
        weft__json_key_u64(j, "updates", o->updates);
        weft__json_key_real(j, "lost_ps", o->lost_ps);
        weft__json_end_object(j);
    }
    weft__json_end_array(j);
    weft__json_end_object(j);
}

void trace_control_json_nodes(struct weft__json *j, const struct trace_view *v) {
    weft__json_key(j, "nodes");
    weft__json_begin_array(j);
    for (uint32_t i = 0; i < v->trace->fabrics; i++) {
        weft__json_begin_object(j);
        json_fsdb(j, v, &v->trace->nodes[i]);
        json_bgp(j, v, &v->trace->nodes[i]);
        weft__json_end_object(j);
    }
    weft__json_end_array(j);
}
