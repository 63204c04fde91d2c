// SPDX-License-Identifier: Apache-2.0
// FSDB and BGP in weft trace-control.
#include <inttypes.h>
#include <stdio.h>

#include "trace_control.h"

#include "base/units.h"

static void print_event(const struct weft_control_answer *v, const struct weft_control_event *e) {
    static const char *const did[] = {"crashes", "starts again", "is shut down", "", "",
                                      "",        "is drained",   "is used again"};
    const struct weft_topology *t = v->topology;
    printf("  at %-6s ", weft__short_time(e->time_ps).text);
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
    if (!n) return;
    printf(" %u %s", n, what);
    if (last) printf(" (the last after %s)", weft__short_time(last).text);
    printf(";");
}

static void print_fsdb(const struct weft_control_answer *v, const struct weft_control_nodes *nodes) {
    const struct weft_fsdb_result *r = nodes->fsdb;
    printf("\nfsdb: %s, %.0f heartbeats a second; %s of others at each node; a start of all takes %s, %s\n",
           weft__counted(r->sessions, "session").text, r->heartbeats_per_s, weft__counted(r->objects, "object").text,
           weft__short_time(r->first_full_ps).text, weft__counted(r->first_messages, "message").text);
    for (uint32_t i = 0; i < nodes->fsdb_events; i++) {
        const struct weft_control_event *e = &v->dsf->event[nodes->fsdb_event[i]];
        const struct weft_fsdb_outcome *o = &r->outcome[i];
        print_event(v, e);
        print_times("sessions lost", o->lost, o->lost_last_ps);
        print_times("times a node flushed another's neighbours", o->flushed, o->flushed_last_ps);
        print_times("sessions made", o->established, o->established_last_ps);
        print_times("nodes know where the host is", o->told, o->told_last_ps);
        printf(" %s\n", weft__counted(o->connects + o->states + o->changes, "message").text);
    }
}

static void print_bgp(const struct weft_control_answer *v, const struct weft_control_nodes *nodes) {
    static const char *const did[] = {"is lost",
                                      "shuts down",
                                      "is back",
                                      "loses %s to superspines",
                                      "has %s to superspines back",
                                      "hears no longer of a building on %s",
                                      "hears of a building again on %s"};
    const struct weft_exit_timeline *x = nodes->exits;
    const struct weft_bgp_result *r = x->bgp;
    if (!r) return;
    printf("\nbgp: %s, %" PRIu64 " iBGP and %" PRIu64 " eBGP sessions; %s an aggregate, ECMP over %" PRIu64
           "; %s at an RDSW, %" PRIu64 " at all; from nothing in %s with %s\n",
           weft__counted(x->setup.edsws, "EDSW").text, r->ibgp_sessions, r->ebgp_sessions,
           weft__counted(r->paths, "next hop").text, r->width, weft__counted(r->rib, "path").text, r->rib_all,
           weft__short_time(r->first_ps).text, weft__counted(r->first_updates, "UPDATE").text);
    for (uint32_t i = 0; i < x->events; i++) {
        const struct weft_bgp_event *e = &x->event[i];
        const struct weft_bgp_outcome *o = &r->outcome[i];
        uint32_t links = (uint32_t)__builtin_popcountll(e->links);
        printf("  at %-6s %s ", weft__short_time(e->time_ps).text, v->topology->node[x->edsw[e->edsw]].name);
        printf(did[e->what], weft__counted(links, "link").text);
        printf(": the last RDSW knows after %s; %s; %s", weft__short_time(o->last_ps).text,
               weft__counted(o->paths, "next hop").text, weft__counted(o->updates, "UPDATE").text);
        if (o->lost_ps > 0) {
            printf("; lost meanwhile: %s of all traffic to other buildings",
                   weft__short_time((weft_time_ps)o->lost_ps).text);
        }
        printf("\n");
    }
}

void trace_control_print_nodes(const struct weft_control_answer *v) {
    for (uint32_t i = 0; i < v->dsf->fabrics; i++) {
        const struct weft_fabric *f = v->dsf->fabric[i];
        if (v->dsf->fabrics > 1) printf("\nthe fabric of %s\n", f->device[f->dest_device[0]].name);
        print_fsdb(v, &v->dsf->nodes[i]);
        print_bgp(v, &v->dsf->nodes[i]);
    }
}
