// SPDX-License-Identifier: Apache-2.0
// weft trace-control of a Clique, as text: sizes, bootstrap, transitions, clocks.
#include <inttypes.h>
#include <stdio.h>

#include "trace_control.h"

#include "base/units.h"

enum { NAME = 128, EVENTS_SHOWN = 40, WAVES_MAX = 64 };

static void print_counts(const struct weft_clique_trace *c) {
    const struct weft_sdn_counts *n = &c->counts;
    printf("\nstate: %s, %" PRIu64 " IP flows one by one, %" PRIu64 " with indexed groups\n",
           weft__counted(n->ip_addresses, "address").text, n->ip_flows, n->ip_indexed);
    printf("       %" PRIu64 " GNet flows by port, VC and destination, %" PRIu64 " by class of ports; of these %" PRIu64
           " and %" PRIu64 " lead somewhere, to %s; %" PRIu64 " for escape VCs\n",
           n->gnet_naive, n->gnet_classes, n->gnet_entries, n->gnet_flows, weft__counted(n->groups, "group").text,
           n->gnet_escapes);
}

static void print_bootstrap(const struct weft_clique_trace *c, const struct weft_bootstrap_conf *conf) {
    const struct weft_bootstrap_result *r = c->bootstrap;
    if (!r) {
        printf("\nbootstrap: no TiN has a link to the datacenter network (gateways): no TiN can start\n");
        return;
    }
    printf("\nbootstrap: %s a TiN, %s of it over PMOS if it has a neighbour only; a MOS word of 6 bytes every %s\n",
           weft__short_bytes(r->tin_bytes).text, weft__short_bytes(r->pmos_bytes).text,
           weft__short_time(conf->mos_word_ps).text);
    if (conf->proxies_lost)
        printf("  %s fail at %s for %s: %s continue through other proxies\n",
               weft__counted(conf->proxies_lost, "proxy").text, weft__short_time(conf->lost_at_ps).text,
               weft__short_time(conf->lost_for_ps).text, weft__counted(r->retried, "TiN").text);
    for (uint32_t wave = 0; wave < r->waves && wave < WAVES_MAX; wave++) {
        uint32_t n = 0;
        weft_time_ps least = WEFT_TIME_NEVER, most = 0, first = WEFT_TIME_NEVER, last = 0;
        for (uint32_t i = 0; i < c->clique->tins; i++) {
            const struct weft_bootstrap_tin *t = &r->tin[i];
            if (t->wave != wave || t->done_ps == WEFT_TIME_NEVER) continue;
            weft_time_ps took = t->done_ps - t->begun_ps;
            n++;
            least = took < least ? took : least;
            most = took > most ? took : most;
            first = t->done_ps < first ? t->done_ps : first;
            last = t->done_ps > last ? t->done_ps : last;
        }
        printf("  wave %u: %4u TiNs, each in %s to %s, done between %s and %s\n", wave, n, weft__short_time(least).text,
               weft__short_time(most).text, weft__short_time(first).text, weft__short_time(last).text);
    }
    printf("  %u of %s after %s; a TiN takes %s to %s, half of them up to %s; %" PRIu64 " MOS words, %s sent again\n",
           r->done, weft__counted(c->clique->tins, "TiN").text, weft__short_time(r->done_ps).text,
           weft__short_time(r->least_ps).text, weft__short_time(r->most_ps).text, weft__short_time(r->p50_ps).text,
           r->words, weft__counted(r->resent, "packet").text);
}

static void print_what(const struct weft_control_answer *v, const struct weft_clique_event *e, uint32_t others) {
    static const char *const did[] = {[WEFT_CONTROL_CUT] = "loses its session with the controller",
                                      [WEFT_CONTROL_HEAL] = "can have a session again",
                                      [WEFT_CONTROL_REBOOT] = "reboots its firmware",
                                      [WEFT_CONTROL_CORRUPT] = "has an entry that nobody wrote",
                                      [WEFT_CONTROL_JUMP] = "has a clock that jumps"};
    const struct weft_topology *t = v->topology;
    char end[2][NAME];
    printf("  at %-6s ", weft__short_time(e->time_ps).text);
    if (e->given) {
        printf("%s", v->clique->clique->tin[e->tin].name);
        if (others) printf(" (and %u more)", others);
        printf(" %s:", did[e->given->what]);
        return;
    }
    for (uint32_t k = 0; k < 2; k++)
        weft_topology_port_name(t, t->link[e->link].port[k], end[k], sizeof end[k]);
    printf("%s to %s", end[0], end[1]);
    if (e->links > 1) printf(" and %u more", e->links - 1);
    printf(" %s:", e->up ? "up again" : "down");
}

/// `others`: how many had the same event just before.
static void print_outcome(const struct weft_control_answer *v, uint32_t i, uint32_t others) {
    const struct weft_sdn_outcome *o = &v->clique->sdn->outcome[i];
    print_what(v, &v->clique->sdn_event[i], others);
    if (v->clique->sdn->checked && o->cut_pairs)
        printf(" %s of TiNs may lose cells at once;", weft__counted(o->cut_pairs, "pair").text);
    if (o->noticed_ps) printf(" noticed after %s,", weft__short_time(o->noticed_ps).text);
    if (o->computed_ps) printf(" computed after %s;", weft__short_time(o->computed_ps).text);
    if (o->session_ps) printf(" session restored after %s;", weft__short_time(o->session_ps).text);
    if (o->repaired) printf(" %s to correct differences;", weft__counted(o->repaired, "write").text);
    if (o->flows)
        printf(" %s and %s at %s in %s;", weft__counted(o->flows, "flow").text, weft__counted(o->groups, "group").text,
               weft__counted(o->tins, "TiN").text, weft__counted(o->batches, "batch").text);
    if (o->writes) printf(" %s in %s;", weft__counted(o->writes, "write").text, weft__counted(o->rpcs, "RPC").text);
    if (o->lost_ps > 0)
        printf(" %s worth of traffic out of the Clique lost;", weft__short_time((weft_time_ps)o->lost_ps).text);
    if (o->done_ps) printf(" done after %s;", weft__short_time(o->done_ps).text);
    if (v->clique->sdn->checked) {
        if (o->cut_pairs && o->restored_ps)
            printf(" all pairs restored after %s;", weft__short_time(o->restored_ps).text);
        if (o->left_pairs) printf(" %s without a route;", weft__counted(o->left_pairs, "pair").text);
        printf(" black holes made by writes: %" PRIu64, o->holes);
    }
    printf("\n");
}

/// Messages of each kind, and their latency.
static void print_messages(const struct weft_sdn_result *r) {
    uint64_t n[WEFT_SDN_MESSAGE_KINDS] = {0};
    weft_time_ps least[WEFT_SDN_MESSAGE_KINDS], most[WEFT_SDN_MESSAGE_KINDS] = {0};
    for (uint32_t i = 0; i < r->messages; i++) {
        const struct weft_sdn_message *m = &r->message[i];
        weft_time_ps takes = m->arrives_ps - m->sent_ps;
        least[m->kind] = n[m->kind]++ && least[m->kind] < takes ? least[m->kind] : takes;
        most[m->kind] = most[m->kind] > takes ? most[m->kind] : takes;
    }
    printf("  messages: %u, of these %u lost with sessions\n", r->messages, r->messages_lost);
    for (uint32_t k = 0; k < WEFT_SDN_MESSAGE_KINDS; k++) {
        const struct weft_sdn_message_info *info = &weft_sdn_message_info[k];
        if (!n[k]) continue;
        printf("  %8" PRIu64 "  %-14s to %-14s  %s", n[k], info->from, info->to, weft__short_time(least[k]).text);
        if (most[k] > least[k]) printf(" to %s", weft__short_time(most[k]).text);
        printf("  %s\n", info->what);
    }
}

static void print_sdn(const struct weft_control_answer *v) {
    const struct weft_clique_trace *c = v->clique;
    if (c->sdn_events) printf("\ncontroller\n");
    for (uint32_t i = 0, others = 0; i < c->sdn_events && i < EVENTS_SHOWN; i++) {
        const struct weft_control_event *given = c->sdn_event[i].given;
        if (given && i + 1 < c->sdn_events && c->sdn_event[i + 1].given == given) {
            others++;
            continue;
        }
        print_outcome(v, i, others);
        others = 0;
    }
    if (c->sdn_events > EVENTS_SHOWN) printf("  ... and %u more events (--json)\n", c->sdn_events - EVENTS_SHOWN);
    if (!c->sdn_events) return;
    printf("  memory of a control processor: %s at most, RPCs of up to %s, %" PRIu64
           " without room; at the end %s from the plan in entries and groups of TiNs\n",
           weft__short_bytes(c->sdn->sram_most).text, weft__short_bytes(c->sdn->rpc_most).text, c->sdn->overflows,
           weft__counted(c->differences, "difference").text);
    print_messages(c->sdn);
    if (!c->sdn->checked) {
        printf("  routes not checked: the Clique has more than %s (control.sdn.check_tins)\n",
               weft__counted(v->conf->sdn.check_tins, "TiN").text);
        return;
    }
    printf("  traced cells: %" PRIu64 ", %" PRIu64 " arrived, %" PRIu64 " lost, %" PRIu64 " astray", c->cells.cells,
           c->cells.arrived, c->cells.lost, c->cells.astray);
    if (c->cells.suspect != WEFT_NONE)
        printf("; %s is to blame for %" PRIu64, c->clique->tin[c->cells.suspect].name, c->cells.suspicions);
    printf("\n");
}

static void print_timesync(const struct weft_control_answer *v) {
    const struct weft_timesync_result *r = v->clique->timesync;
    printf("\nclocks: primary %s; %s in %s, %" PRIu64 " ignored; channels known to %s\n",
           v->clique->clique->tin[r->primary].name, weft__counted(r->messages, "message").text,
           weft__counted(v->conf->timesync.seeds, "run").text, r->ignored, weft__short_time(r->delay_error_ps).text);
    printf("  depth  TiNs   error: deviation       p50       p99       max     bound\n");
    for (uint32_t k = 1; k < r->depths; k++) {
        const struct weft_timesync_depth *t = &r->depth[k];
        printf("  %5u %5u %19s %9s %9s %9s %9s\n", k, t->tins, weft__short_time((weft_time_ps)t->deviation_ps).text,
               weft__short_time(t->p50_ps).text, weft__short_time(t->p99_ps).text, weft__short_time(t->max_ps).text,
               weft__short_time(t->bound_ps).text);
    }
    for (uint32_t i = 0; i < v->clique->timesync_events; i++) {
        const struct weft_timesync_outcome *o = &r->outcome[i];
        print_what(v, &v->clique->timesync_event[i], 0);
        if (!o->signalled) {
            printf(" no clock depends on it\n");
            continue;
        }
        printf(" %s signal failure, %u listen to another; well again after %s, off by %s at most\n",
               weft__counted(o->signalled, "clock").text, o->moved, weft__short_time(o->restored_ps).text,
               weft__short_time(o->error_ps).text);
    }
}

void trace_clique_print(const struct weft_control_answer *v) {
    const struct weft_clique *c = v->clique->clique;
    uint32_t dcn = 0;
    for (uint32_t i = 0; i < c->tins; i++)
        dcn += c->tin[i].dcn;
    printf("Clique: %s in %s, %s, %s with a link to the datacenter network\n", weft__counted(c->tins, "TiN").text,
           weft__counted(c->pods, "pod").text, weft__counted(c->links, "link").text, weft__counted(dcn, "TiN").text);
    print_counts(v->clique);
    print_bootstrap(v->clique, &v->conf->bootstrap);
    print_sdn(v);
    print_timesync(v);
}
