// SPDX-License-Identifier: Apache-2.0
// The list of hints. To add one: a function that calls say() if it applies, and its name in the list.
#include "weft/hints.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/units.h"
#include "weft/aqm.h"
#include "weft/credit.h"
#include "weft/fabric.h"
#include "weft/poster.h"
#include "weft/route.h"
#include "weft/sim.h"
#include "weft/summary.h"
#include "weft/transport.h"
#include "weft/waits.h"

enum { TEXT = 400 };

__attribute__((format(printf, 2, 3))) static void say(struct weft_hints *h, const char *format, ...) {
    char text[TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    uint32_t i = 0;
    while (i < h->n && strcmp(h->hint[i].text, text))
        i++;
    if (i == WEFT_HINTS_MAX) return;
    if (i == h->n) h->hint[h->n++].text = weft_arena_text(h->arena, text);
    h->hint[i].runs++;
}

/// Each layer with less to the layers above it than to those below. A millionth less is rounding.
static void say_oversubscribed(struct weft_hints *h) {
    struct weft_layer_summary *layer;
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    uint32_t n = weft_topology_layers(h->now->topology, arena, &layer);
    for (uint32_t i = 0; i < n; i++) {
        const struct weft_layer_summary *l = &layer[i];
        if (!l->up_bps || (double)l->down_bps < 1.000001 * (double)l->up_bps) continue;
        say(h, "layer %s is oversubscribed %.3g:1: %s down, %s up (weft topo shows all layers)", l->name,
            (double)l->down_bps / (double)l->up_bps, weft__short_rate(l->down_bps).text,
            weft__short_rate(l->up_bps).text);
    }
}

/// A blueprint that comes in steps (a torus, groups, whole leaves) has more hosts than were asked for.
static void say_spare(struct weft_hints *h) {
    const struct weft_blueprint_conf *asked = h->now->scenario->fabric.model ? h->now->scenario->fabric.conf : NULL;
    const struct weft_topology *t = h->now->topology;
    uint64_t hosts = t->networks ? t->hosts / t->networks : 0;
    if (asked && hosts != asked->hosts)
        say(h,
            "the topology comes with %" PRIu64 " hosts, and fabric.hosts is %" PRIu64
            ": the others stay idle under entries that name no hosts, and are in the bill",
            hosts, asked->hosts);
}

static const struct weft_device_conf *conf_of(const struct weft_run *run, uint32_t node) {
    return weft_scenario_device(run->scenario, run->topology->node[node].name);
}

static bool goes_back_n(const struct weft_run *run) {
    for (uint32_t h = 0; h < run->topology->hosts; h++) {
        const struct weft_model_conf *transport = &conf_of(run, run->topology->host[h])->host.transport;
        const struct weft_transport_ops *ops = transport->model->ops;
        if (!strcmp(transport->model->name, "roce_rc") && !(ops->sacks && ops->sacks(transport->conf))) return true;
    }
    return false;
}

/// Whether a switch has neither PFC nor marks and, after a run, has dropped packets.
static bool has_lossy(const struct weft_run *run) {
    const struct weft_topology *t = run->topology;
    for (uint32_t i = 0; i < t->switches; i++) {
        const struct weft_node_info *node = &t->node[t->switch_node[i]];
        const struct weft_switch_conf *conf = &conf_of(run, t->switch_node[i])->sw;
        if (conf->pfc.priorities || strcmp(conf->aqm.model->name, "none")) continue;
        if (!run->outcome || weft_outcome_sum(run->outcome, node->port0, node->ports).drops) return true;
    }
    return false;
}

/// Of two hosts with exact clocks both send in step.
static bool has_equal_clocks(const struct weft_run *run) {
    uint32_t exact = 0;
    for (uint32_t h = 0; h < run->topology->hosts && exact < 2; h++)
        exact += conf_of(run, run->topology->host[h])->host.clock_ppm <= 0;
    return exact == 2;
}

/// Facts about lossy go-back-N: S. Zhu et al., SIGCOMM 2015, section 2, on losses; phase effects: Floyd and Jacobson,
/// "On traffic phase effects in packet-switched gateways", 1992.
static void say_phase(struct weft_hints *h) {
    const struct weft_outcome *o = h->now->outcome;
    if (o && !o->drops[WEFT_DROP_BUFFER_FULL]) return;
    if (!has_lossy(h->now) || !goes_back_n(h->now) || !has_equal_clocks(h->now)) return;
    say(h,
        "go-back-N%s without PFC or marks, and hosts with equal clocks: one of two senders into a full queue may win "
        "every time; goodput is too high, shares are too unequal, and other seeds do not show it; expected "
        "host.clock_ppm, such as 50",
        o ? " lost packets" : "");
}

/// Whether a switch may choose other ways for later packets of a queue pair; any may as links fail and come back.
static bool has_spreading(const struct weft_run *run) {
    for (uint32_t i = 0; i < run->topology->switches; i++) {
        const struct weft_route_ops *ops = conf_of(run, run->topology->switch_node[i])->sw.route.model->ops;
        if (ops->choose) return true;
    }
    return false;
}

/// Packets overtook others on several paths, no host placed any, and nothing else was lost.
static void say_overtaken(struct weft_hints *h) {
    const struct weft_outcome *o = h->now->outcome;
    if (!o || !o->drops[WEFT_DROP_OUT_OF_ORDER] || !goes_back_n(h->now)) return;
    for (uint32_t k = 0; k < WEFT_DROPS; k++)
        if (k != WEFT_DROP_OUT_OF_ORDER && k != WEFT_DROP_DUPLICATE && o->drops[k]) return;
    for (uint32_t f = 0; f < h->now->workload->flows; f++)
        if (o->flow[f].out_of_order_placed) return;
    say(h,
        "hosts discarded %" PRIu64 " packets that had overtaken others, and all were sent again; expected "
        "host.transport: {kind: roce_rc, out_of_order: accept}%s",
        o->drops[WEFT_DROP_OUT_OF_ORDER],
        has_spreading(h->now) ? ", or a switch.route that keeps a queue pair on one path" : "");
}

/// Packets came a second time, 1% of the payload and more, though none was lost: their senders had waited too short.
static void say_resent(struct weft_hints *h) {
    const struct weft_outcome *o = h->now->outcome;
    weft_bytes delivered = 0;
    weft_time_ps patience = WEFT_TIME_NEVER;
    for (uint32_t k = 0; o && k < WEFT_DROPS; k++)
        if (k != WEFT_DROP_DUPLICATE && o->drops[k]) return;
    for (uint32_t f = 0; o && f < h->now->workload->flows; f++)
        delivered += o->flow[f].delivered_bytes;
    if (!o || !o->drops[WEFT_DROP_DUPLICATE] || o->drop_bytes[WEFT_DROP_DUPLICATE] < delivered / 100) return;
    for (uint32_t i = 0; i < h->now->topology->hosts; i++) {
        const struct weft_model_conf *transport = &conf_of(h->now, h->now->topology->host[i])->host.transport;
        const struct weft_transport_ops *ops = transport->model->ops;
        weft_time_ps own = ops->patience ? ops->patience(transport->conf) : WEFT_TIME_NEVER;
        if (own < patience) patience = own;
    }
    if (patience == WEFT_TIME_NEVER) return;
    char left[96] = "", bytes[32];
    weft_format_bytes(o->held_bytes, bytes, sizeof bytes);
    if (o->end == WEFT_END_DONE && o->held_bytes)
        snprintf(left, sizeof left, ", and %s were still under way when all was finished", bytes);
    say(h,
        "%" PRIu64 " packets were sent again though none was lost%s: answers took longer than the transport's timeout "
        "(%s); expected a longer host.transport.timeout, or less waiting in queues",
        o->drops[WEFT_DROP_DUPLICATE], left, weft__short_time(patience).text);
}

/// All switches pause, or their links need credit, and links may wait for one another in a circle.
static void say_circle(struct weft_hints *h) {
    const struct weft_topology *t = h->now->topology;
    uint8_t waits = 0xff;
    for (uint32_t s = 0; s < t->switches; s++) {
        const struct weft_switch_conf *conf = &conf_of(h->now, t->switch_node[s])->sw;
        waits &= conf->pfc.priorities | weft_credit_grants(&conf->credit);
    }
    if (!waits || t->networks > 1) return;
    struct weft_routes *routes = weft_routes_new(t, NULL);
    uint32_t port = weft_routes_find_wait(routes, t);
    weft_routes_free(routes);
    char name[128];
    if (port == WEFT_NONE) return;
    weft_topology_port_name(t, port, name, sizeof name);
    say(h,
        "shortest paths close a circle of links that may wait for one another, from %s on: with pauses or credit it "
        "can "
        "deadlock (docs/torus.md)",
        name);
}

/// Whether packets of some priority were lost at a port whose neighbour paused it for that port: PFC worked.
static bool has_lost_paused(const struct weft_run *run) {
    const struct weft_topology *t = run->topology;
    for (uint32_t k = 0; k < t->ports; k++)
        for (uint32_t p = 0; p < WEFT_PRIORITIES; p++)
            if (weft_outcome_at(run->outcome, k, p)->drops && weft_outcome_at(run->outcome, k, p)->pfc_tx_xoff &&
                weft_outcome_at(run->outcome, t->port[k].peer, p)->paused_ps)
                return true;
    return false;
}

static void say_headroom(struct weft_hints *h) {
    const struct weft_outcome *o = h->now->outcome;
    if (o && (o->drops[WEFT_DROP_HEADROOM] || o->drops[WEFT_DROP_NIC_BUFFER]) && has_lost_paused(h->now))
        say(h, "packets were lost in spite of PFC, for want of headroom (weft plan pfc shows at which links)");
}

static void say_values(struct weft_hints *h) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    const char *text = weft_hint_values(h->now->scenario, h->now->topology, h->now->workload, arena);
    if (text) say(h, "%s", text);
}

static void say_ideal_host(struct weft_hints *h) {
    for (uint32_t i = 0; i < h->now->topology->hosts; i++) {
        const struct weft_host_conf *host = &conf_of(h->now, h->now->topology->host[i])->host;
        if (host->processing_ps || host->work_request_qp_ps || host->receive_latency_ps ||
            weft__posting_takes_time(host))
            return;
    }
    say(h, "hosts take no time (host.send_latency, host.receive_latency, host.processing and host.work_request are "
           "0ns), so messages finish sooner than on real "
           "hosts, small ones most of all");
}

static void say_one_seed(struct weft_hints *h) {
    const struct weft_run *run = h->now;
    if (!run->outcome || h->seeds > 1 || !weft_simulation_draws(run->scenario, run->topology)) return;
    say(h, "one seed: another draws other paths and arrivals, and figures may differ; weft compare --seeds 1..8 shows "
           "means with their intervals");
}

/// In the order in which they are printed.
static void (*const list[])(struct weft_hints *h) = {
    say_oversubscribed, say_spare,    say_phase,  say_overtaken,  say_resent,
    say_circle,         say_headroom, say_values, say_ideal_host, say_one_seed,
};

void weft_hints_add(struct weft_hints *h, const struct weft_run *run) {
    h->now = run;
    h->runs++;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        list[i](h);
}

void weft_hints_print(FILE *file, const struct weft_hints *h) {
    for (uint32_t i = 0; i < h->n; i++) {
        fprintf(file, "weft: hint: %s", h->hint[i].text);
        if (h->hint[i].runs < h->runs)
            fprintf(file, " (%" PRIu32 " of %" PRIu32 " %s)", h->hint[i].runs, h->runs,
                    h->seeds > 1 ? "runs" : "variants");
        fputc('\n', file);
    }
}
