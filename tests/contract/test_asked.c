// SPDX-License-Identifier: Apache-2.0
// A box asks, or refuses. Over every parameter of the sections `switch` and `host`, those of their models included, and
// every box that reads the section: a value either changes what happens in a network that uses the box in every way, or
// is refused by the check of scenario and topology. Of a choice each value must differ from each other, and from a run
// without the model that it belongs to: a model that is accepted and not asked is no other than none.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "box/box.h"
#include "run.h"
#include "weft/param.h"
#include "weft/param_load.h"

enum { SETTINGS = 16, TEXT = 160, VALUES = 16 };

struct settings {
    char text[SETTINGS][TEXT];
    unsigned n;
};

__attribute__((format(printf, 2, 3))) static void set(struct settings *s, const char *format, ...) {
    va_list args;
    va_start(args, format);
    assert_true(s->n < SETTINGS);
    vsnprintf(s->text[s->n++], TEXT, format, args);
    va_end(args);
}

// --- networks -----------------------------------------------------------------------------------------------------

#define EDGE                                                                                                           \
    "switch: {buffer: {kind: static, size: 200KB, xoff: 60KB, xon: 40KB}, aqm: {kind: wred, min: 15KB, max: 50KB, "    \
    "max_probability: 50%}}\n"                                                                                         \
    "host: {cc: dcqcn, cnp_interval: 50us, timeout: 50us, ack_every: 4}\n"                                             \
    "devices: [{match: host-0, host: {drain_rate: 60Gbps, rx_buffer: 100KB, rx_xoff: 40KB, rx_xon: 20KB}}]\n"          \
    "run: {until: 300us, stall: 250us, seed: 3, detection: 5us}\n"
#define NIC                                                                                                            \
    "switch: {buffer: {kind: static, size: 200KB, xoff: 60KB, xon: 40KB}, aqm: {kind: wred, min: 15KB, max: 50KB, "    \
    "max_probability: 50%}}\n"                                                                                         \
    "host: {cc: dcqcn, cnp_interval: 50us, timeout: 50us, ack_every: 4, drain_rate: 60Gbps, rx_buffer: 100KB, "        \
    "rx_xoff: 40KB, rx_xon: 20KB}\n"                                                                                   \
    "run: {until: 300us, stall: 250us, seed: 3, detection: 5us}\n"
#define TRAFFIC                                                                                                        \
    "workload:\n"                                                                                                      \
    "- {kind: incast, sources: 'host-1..8', dst: host-0, size: 150KB, group: lossless}\n"                              \
    "- {kind: incast, sources: 'host-1..8', dst: host-0, size: 60KB, priority: 1, qps: 2, group: lossy}\n"             \
    "- {kind: flow, src: host-8, dst: host-1, size: 60KB, group: other}\n"                                             \
    "- {kind: flow, src: host-5, dst: host-2, size: 60KB, start: 20us, group: other}\n"

static const struct network {
    const char *name, *text;
    const char *faster; ///< a setting with which ports differ in their rates; NULL: they cannot
} networks[] = {
    {"switch",
     "topology: {kind: leaf_spine, leaves: 3, spines: 3, hosts_per_leaf: 3, rate: 100Gbps, bit_error_rate: 3e-7}\n"
     "events: [{at: 60us, link: leaf-1--spine-0, state: down}]\n" EDGE TRAFFIC,
     "topology.spine_rate=200Gbps"},
    {"interface_node",
     "topology: {kind: dsf_l1_zone, rdsws: 3, fdsws: 2, hosts_per_rdsw: 3, rails: 1, virtual_devices: 1, host_rate: "
     "100Gbps, bit_error_rate: 3e-7}\n" EDGE TRAFFIC,
     NULL},
    {"tin",
     "topology: {kind: dragonfly, pods: 1, tins: 3, hosts_per_tin: 3, local_parallel: 1, local_ports: 2, host_rate: "
     "100Gbps, bit_error_rate: 3e-7}\n" EDGE TRAFFIC,
     NULL},
    {"nic",
     "topology: {kind: leaf_spine, leaves: 3, spines: 3, hosts_per_leaf: 3, rate: 100Gbps, bit_error_rate: 3e-7}\n" NIC
         TRAFFIC "- {kind: flow, src: host-7, dst: host-3, size: 60KB, verb: read, group: read}\n"
     "- {kind: collective, collective: {kind: all_reduce_ring, channels: 1, chunk: 8KiB, slice: 8KiB}, size: 72KiB}\n",
     NULL},
    {"nic of remote memory access",
     "topology: {kind: leaf_spine, leaves: 3, spines: 3, hosts_per_leaf: 3, rate: 100Gbps, bit_error_rate: 3e-7}\n" NIC
     "workload:\n"
     "- {kind: rma, clients: 'host-1..8', servers: host-0, rate: 400000, duration: 100us, size: 32KB, verb: write}\n"
     "- {kind: rma, clients: 'host-4..5', servers: 'host-0..1', rate: 400000, duration: 100us, size: 32KB, verb: "
     "write, "
     "group: more}\n"
     "- {kind: flow, src: host-7, dst: host-3, size: 60KB, verb: read, group: read}\n"
     "- {kind: rma, clients: host-3, servers: host-1, rate: 400000, duration: 100us, size: 32KB, priority: 1, group: "
     "reads}\n"
     "- {kind: collective, collective: all_reduce_ring, hosts: 'host-5..6', size: 8KB, server: {gpus: 1}, group: "
     "ranks}\n",
     NULL},
};

// --- one run ------------------------------------------------------------------------------------------------------

enum answer { NO_SENSE, REFUSED, RUN }; // no sense: the value does not fit the others of the scenario, on any box

static enum answer answer_of(const struct network *net, const struct settings *s, uint64_t *ret_digest) {
    const char *texts[SETTINGS];
    struct run r = {0};
    for (unsigned i = 0; i < s->n; i++)
        texts[i] = s->text[i];
    enum answer answer = NO_SENSE;
    struct weft_scenario *scenario = NULL;
    *ret_digest = 0;
    if (weft_scenario_file_parse("t.yaml", net->text, strlen(net->text), texts, s->n, &r.file, &r.error)) return answer;
    if (!weft_scenario_new(r.file, 0, &scenario, &r.error)) {
        weft_scenario_free(scenario);
        answer = REFUSED;
        if (!run_bind(&r, 0)) {
            answer = RUN;
            r.outcome = run_again(&r, 1, net->text);
            *ret_digest = r.outcome->digest;
        } else {
            assert_int_not_equal(r.error.text[0], 0);
        }
    }
    run_free(&r);
    return answer;
}

// --- values -------------------------------------------------------------------------------------------------------

struct values {
    char text[VALUES][TEXT];
    unsigned n;
    bool each; ///< a choice: each must differ from each other
};

static void add_value(struct values *v, const char *text) {
    for (unsigned i = 0; i < v->n; i++)
        if (!strcmp(v->text[i], text)) return;
    assert_true(v->n < VALUES);
    snprintf(v->text[v->n++], TEXT, "%s", text);
}

/// Its default times a factor, if that is in its range.
static void add_scaled(struct values *v, const struct weft_param *row, double factor) {
    struct weft_param own = *row;
    union {
        uint64_t whole;
        double real;
    } value = {0};
    char text[TEXT];
    own.offset = 0;
    if (!row->dflt || weft_param_parse(&own, row->dflt, WEFT_NOWHERE, &value, NULL, NULL)) return;
    if (row->type == WEFT_PARAM_REAL)
        value.real *= factor;
    else if (value.whole != WEFT_TIME_NEVER)
        value.whole = (uint64_t)((double)value.whole * factor);
    weft_param_format(&own, &value, text, sizeof text);
    struct weft_error error;
    if (!weft_param_parse(&own, text, WEFT_NOWHERE, &value, NULL, &error)) add_value(v, text);
}

/// Values of what no range gives, or where the ends of the range say nothing in these networks.
static const struct known {
    const char *id, *value[8];
} known[] = {
    {"switch.aqm_priorities", {"1", "3"}},
    {"switch.aqm.wred.by_rate", {"100Gbps 10KB 20KB 100%"}},
    {"switch.aqm.wred.drop", {"60KB"}},
    {"switch.aqm.wred.drop_incapable", {"true"}},
    {"switch.aqm.wred.preset", {"none", "ns3_rdma", "hpcc"}}, // none: those of the paper
    {"switch.sfc.adaptive.source_rate", {"10Gbps"}},
    {"switch.aqm.trim.dscp", {"0", "24"}},
    {"switch.buffer",
     {"{kind: static, size: 200KB, xoff: 60KB, xon: 40KB}",
      "{kind: dynamic, total: 400KB, headroom: 10KB, reserve: 1KB}", "{kind: pool, size: 400KB, xoff: 90KB, xon: 60KB}",
      "{kind: egress, size: 400KB, xoff: 90KB, xon: 60KB}"}},
    {"switch.buffer.static.size", {"150KB", "70KB"}},
    {"switch.buffer.static.xoff", {"50KB"}},
    {"switch.buffer.static.xon", {"20KB"}},
    {"switch.buffer.pool.size", {"95KB", "300KB"}},
    {"switch.buffer.pool.xoff", {"60KB"}},
    {"switch.buffer.pool.xon", {"30KB"}},
    {"switch.buffer.pool.headroom", {"1KB"}},
    {"switch.buffer.egress.size", {"95KB", "300KB"}},
    {"switch.buffer.egress.xoff", {"60KB"}},
    {"switch.buffer.egress.xon", {"30KB"}},
    {"switch.buffer.egress.headroom", {"1KB"}},
    {"switch.buffer.dynamic.threshold_min", {"50KB", "100KB"}},
    {"switch.buffer.dynamic.weights", {"1,1,1,8,1,1,1,1"}},
    {"switch.buffer.static.cell", {"254B"}},
    {"switch.buffer.pool.cell", {"254B"}},
    {"switch.buffer.egress.cell", {"254B"}},
    {"switch.buffer.dynamic.cell", {"254B"}},
    {"switch.packet_rate", {"20000000", "5000000"}},
    {"switch.pipes", {"3"}},
    {"switch.fabric_patience", {"1", "3"}},
    {"host.window", {"20KB"}},
    {"host.work_request", {"1us"}},
    {"host.packet_rate", {"3000000", "5000000"}},
    {"host.pcie_round_trip", {"100ns", "1us"}},
    {"host.work_request_qp", {"1us"}},
    {"host.stall", {"5us"}},
    {"host.stall_chance", {"0.5"}},
    {"host.idle", {"0.3"}},
    {"host.jitter", {"0.2"}},
    {"host.launch_skew", {"0.2"}},
    {"host.pfc.quanta", {"40"}},
    {"host.rx_buffer", {"60KB"}},
    {"host.rx_xoff", {"60KB"}},
    {"host.rx_xon", {"10KB"}},
    {"host.drain_slow_every", {"20us"}},
    {"host.drain_slow_time", {"2us"}},
    {"host.drain_slow_rate", {"5Gbps"}},
    {"host.drain_slow_below", {"0bps"}},
    {"host.rx_resume", {"0B"}},
    {"host.scheduler.dwrr.strict", {"1", "3"}},
    {"host.dscp", {"0,24,16,8,32,40,50,48"}},
    {"switch.scheduler.dwrr.strict", {"1", "3"}},
    {"switch.route",
     {"ecmp", "ecmp_murmur3", "e_ecmp", "path_pinning", "spray", "flowlet", "load_aware",
      "{kind: te, interval: 50us, collector_delay: 1us, programming_delay: 1us}"}},
    {"switch.sfc", {"none", "{kind: fixed, threshold: 20KB}", "{kind: adaptive, threshold: 40KB, floor: 10KB}"}},
    {"switch.dscp_map", {"{24: 1, 8: 3}"}},
    {"switch.pcp_map", {"0,1,2,4,3,5,6,7", "0,1,2,1,4,5,6,7"}},
};

static void values_of(const struct weft_param *row, const char *id, struct values *ret) {
    *ret = (struct values){.each = row->type == WEFT_PARAM_CHOICE || row->type == WEFT_PARAM_BOOL ||
                                   row->type == WEFT_PARAM_MODEL};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        for (unsigned k = 0; !strcmp(known[i].id, id) && k < 8 && known[i].value[k]; k++)
            add_value(ret, known[i].value[k]);
    if (ret->n) return;
    switch (row->type) {
    case WEFT_PARAM_CHOICE:
        for (unsigned i = 0; row->choices[i]; i++)
            add_value(ret, row->choices[i]);
        break;
    case WEFT_PARAM_BOOL:
        add_value(ret, "true");
        add_value(ret, "false");
        break;
    case WEFT_PARAM_MODEL:
        for (uint32_t i = 0; i < weft_model_count((enum weft_model_kind)row->model_kind); i++)
            add_value(ret, weft_model_at((enum weft_model_kind)row->model_kind, i)->name);
        break;
    case WEFT_PARAM_PRIORITIES:
        add_value(ret, "none");
        add_value(ret, "1,3");
        break;
    case WEFT_PARAM_WEIGHTS:
        add_value(ret, "1,8,1,1,1,1,1,1");
        break;
    case WEFT_PARAM_TIME:
    case WEFT_PARAM_RATE:
    case WEFT_PARAM_BYTES:
    case WEFT_PARAM_UINT:
    case WEFT_PARAM_REAL:
        for (unsigned k = 0; k < 4; k++)
            add_scaled(ret, row, (const double[]){4, 0.25, 0.05, 20}[k]);
        if (row->min) add_value(ret, row->min);
        if (row->max) add_value(ret, row->max);
        break;
    default:
        break;
    }
}

// --- what a parameter needs ---------------------------------------------------------------------------------------

static const char FASTER[] = "faster";

/// By the beginning of the parameter's id: what must be on before it can have an effect.
static const struct need {
    const char *id, *setting[5];
} needs[] = {
    {"switch.arbiter", {"switch.queueing=voq"}},
    {"switch.fabric_patience", {"switch.queueing=voq"}},
    {"switch.fabric_speedup", {"switch.queueing=iq"}},
    {"switch.pipes", {"switch.packet_rate=20000000"}},
    {"switch.pcp_map", {"switch.trust=pcp", "host.vlan=5"}},
    {"switch.trust", {"host.vlan=5", "switch.dscp_map={24: 1, 8: 3}"}},
    {"switch.retry", {"host.retry=llr"}},
    {"switch.credit.cbfc", {"host.credit=cbfc", "switch.pfc.priorities=none", "host.pfc.priorities=none"}},
    {"switch.sfc_proxy", {"switch.sfc={kind: fixed, threshold: 30KB}", "host.sfc=false"}},
    {"switch.sfc.fixed.", {"switch.sfc.threshold=20KB"}},
    {"switch.sfc.adaptive.", {"switch.sfc.threshold=40KB", "switch.sfc.floor=10KB"}},
    {"switch.aqm.wred.preset",
     {"switch.aqm.min=", "switch.aqm.max=", "switch.aqm.max_probability=", "switch.buffer={kind: dynamic, total: 32MB}",
      "host.cc=none"}},
    {"switch.aqm.wred.drop_incapable", {"host.ecn=false"}},
    {"switch.aqm.wred.mark_at", {"switch.aqm.max=2MB", "switch.aqm.max_probability=100%"}},
    {"switch.aqm.trim.", {"switch.aqm.min=5KB", "switch.aqm.max=20KB", "switch.aqm.depth=40KB"}},
    {"switch.aqm.codel.", {"switch.aqm.target=1us", "switch.aqm.interval=20us", "switch.aqm.least=0B"}},
    {"switch.buffer.dynamic.alpha_by_rate", {FASTER}},
    {"switch.buffer.dynamic.",
     {"switch.buffer.total=400KB", "switch.buffer.headroom=10KB", "switch.buffer.reserve=1KB"}},
    {"switch.buffer.pool.", {"switch.buffer.size=400KB", "switch.buffer.xoff=90KB", "switch.buffer.xon=60KB"}},
    {"switch.buffer.egress.", {"switch.buffer.size=400KB", "switch.buffer.xoff=90KB", "switch.buffer.xon=60KB"}},
    {"switch.route.load_aware.gap", {"switch.route.per=flowlet"}},
    {"switch.route.load_aware.entries", {"switch.route.per=flowlet", "switch.route.gap=1us"}},
    {"switch.route.flowlet.entries", {"switch.route.gap=1us"}},
    {"switch.pfc.refresh", {"switch.pfc.quanta=40"}},
    {"switch.pfc.lasts", {"host.pfc.quanta=40", "host.pfc.refresh=1"}},
    {"switch.pfc.watchdog_action", {"switch.pfc.watchdog=2us"}},
    {"host.pfc.refresh", {"host.pfc.quanta=40"}},
    {"host.drain_slow", {"host.drain_slow_every=40us", "host.drain_slow_time=10us"}},
    {"host.rx_resume", {"host.pfc.priorities=none"}},
    {"host.pfc.lasts", {"switch.pfc.quanta=40", "switch.pfc.refresh=1"}},
    {"host.pfc.watchdog_action", {"host.pfc.watchdog=2us"}},
    {"host.pfc.restore", {"host.pfc.watchdog=2us", "host.pfc.watchdog_action=forward"}},
    {"host.jitter", {"host.send_latency=700ns"}},
    {"host.stall_chance", {"host.stall=5us"}},
    {"host.idle", {"host.stall=5us"}},
    {"host.launch_skew", {"host.launch=6.1us"}},
    {"host.sfc", {"switch.sfc={kind: fixed, threshold: 20KB}"}},
    {"host.credit.cbfc", {"switch.credit=cbfc", "switch.pfc.priorities=none", "host.pfc.priorities=none"}},
    {"host.retry", {"switch.retry=llr"}},
    {"switch.pfc.restore", {"switch.pfc.watchdog=2us", "switch.pfc.watchdog_action=drop"}},
};

/// What has no effect that could be seen, by its meaning.
static const struct exempt {
    const char *id, *why;
} exempts[] = {
    {"switch.preset", "sets others"},
    {"switch.buffer.dynamic.xoff_at",
     "differs only where a group holds its threshold to the byte: tests/contract/test_buffer.c"},
    {"host.preset", "sets others"},
    {"switch.chip", "sets others"},
    {"host.nic", "sets others"},
    {"host.stall", "with the default chance a run as short as these has no stall: tests/theory/test_jitter.c"},
    {"host.transport.", "of queue pairs, whatever the NIC"},
    {"host.cc.", "of queue pairs, whatever the NIC"},
    {"host.plane_timeouts", "of hosts with planes: tests/theory/test_planes.c"},
    {"switch.route.te.", "of the controller, which tests/theory/test_te.c looks at"},
};

static bool is_exempt(const char *id) {
    for (size_t i = 0; i < sizeof exempts / sizeof *exempts; i++) {
        size_t n = strlen(exempts[i].id);
        bool all_below = exempts[i].id[n - 1] == '.';
        if (all_below ? !strncmp(id, exempts[i].id, n) : !strcmp(id, exempts[i].id)) return true;
    }
    return false;
}

// --- the walk -----------------------------------------------------------------------------------------------------

struct walk {
    const struct network *net;
    unsigned looked, deaf, runs;
};

static struct settings with_needs(const struct walk *w, const struct settings *base, const char *id) {
    struct settings s = *base;
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        for (unsigned k = 0; !strncmp(id, needs[i].id, strlen(needs[i].id)) && k < 5 && needs[i].setting[k]; k++)
            if (strcmp(needs[i].setting[k], FASTER) != 0)
                set(&s, "%s", needs[i].setting[k]);
            else if (w->net->faster)
                set(&s, "%s", w->net->faster);
    return s;
}

/// `off`: the digest without the model that the row belongs to; 0: it belongs to none, or to the default.
static void look_at(struct walk *w, const struct weft_param *row, const char *path, const char *id,
                    const struct settings *base, uint64_t off) {
    struct settings s = with_needs(w, base, id);
    struct values v;
    uint64_t plain, digest[VALUES] = {0};
    enum answer answer[VALUES], before = answer_of(w->net, &s, &plain);
    unsigned differ = 0, refused = 0;
    values_of(row, id, &v);
    w->looked++;
    if (before == REFUSED) return; // all of the model is
    if (before != RUN || !v.n) {
        printf("%s: %s: nothing to try (%s)\n", w->net->name, id, before == RUN ? "no value" : "its needs do not fit");
        w->deaf++;
        return;
    }
    for (unsigned i = 0; i < v.n; i++) {
        struct settings one = s;
        set(&one, "%s=%s", path, v.text[i]);
        answer[i] = answer_of(w->net, &one, &digest[i]);
        w->runs++;
        refused += answer[i] == REFUSED;
        differ += answer[i] == RUN && digest[i] != plain && digest[i] != off;
        if (!v.each && (differ || refused)) return;
    }
    for (unsigned i = 0; i < v.n; i++) {
        if (!v.each || answer[i] != RUN) continue;
        if (digest[i] == off)
            printf("%s: %s: %s is as if the model were off\n", w->net->name, id, v.text[i]), w->deaf++;
        for (unsigned k = 0; k < i; k++)
            if (answer[k] == RUN && digest[i] == digest[k]) {
                printf("%s: %s: %s is as %s\n", w->net->name, id, v.text[i], v.text[k]);
                w->deaf++;
            }
    }
    if (!v.each) {
        printf("%s: %s: no value changes anything:", w->net->name, id);
        for (unsigned i = 0; i < v.n; i++)
            printf(" %s%s", v.text[i], answer[i] == NO_SENSE ? " (no sense)" : "");
        printf("\n");
        w->deaf++;
    }
}

static void look_at_table(struct walk *w, const struct weft_param_table *table, const char *path, const char *id,
                          const struct settings *base, uint64_t off) {
    for (uint32_t i = 0; i < table->n; i++) {
        const struct weft_param *row = &table->rows[i];
        char own[TEXT + 64], own_id[TEXT + 64];
        snprintf(own, sizeof own, "%s.%s", path, row->name);
        snprintf(own_id, sizeof own_id, "%s.%s", id, row->name);
        if (is_exempt(own_id)) continue;
        if (row->type == WEFT_PARAM_SECTION) {
            look_at_table(w, row->table, own, own_id, base, off);
            continue;
        }
        look_at(w, row, own, own_id, base, off);
        if (row->type != WEFT_PARAM_MODEL) continue;
        for (uint32_t m = 0; m < weft_model_count((enum weft_model_kind)row->model_kind); m++) {
            const struct weft_model *model = weft_model_at((enum weft_model_kind)row->model_kind, m);
            struct settings s = *base;
            char model_id[TEXT + 128];
            uint64_t without = 0;
            snprintf(model_id, sizeof model_id, "%s.%s", own_id, model->name);
            if (strcmp(model->name, row->dflt) != 0) {
                struct settings default_model = with_needs(w, base, model_id);
                set(&default_model, "%s=%s", own, row->dflt);
                answer_of(w->net, &default_model, &without);
            }
            set(&s, "%s.kind=%s", own, model->name);
            look_at_table(w, model->params, own, model_id, &s, without);
        }
    }
}

static void every_key_has_an_effect(const struct network *net, const struct weft_param_table *table) {
    struct walk w = {.net = net};
    uint64_t digest;
    assert_int_equal(answer_of(net, &(struct settings){0}, &digest), RUN);
    look_at_table(&w, table, table->name, table->name, &(struct settings){0}, 0);
    printf("%s: %u parameters, %u runs\n", net->name, w.looked, w.runs);
    assert_true(w.looked > 30);
    assert_int_equal(w.deaf, 0);
}

static void a_switch_asks(void **state) {
    (void)state;
    every_key_has_an_effect(&networks[0], &weft_switch_table);
}

static void an_interface_node_asks(void **state) {
    (void)state;
    every_key_has_an_effect(&networks[1], &weft_switch_table);
}

static void a_tin_asks(void **state) {
    (void)state;
    every_key_has_an_effect(&networks[2], &weft_switch_table);
}

static void a_nic_asks(void **state) {
    (void)state;
    every_key_has_an_effect(&networks[3], &weft_host_table);
    every_key_has_an_effect(&networks[4], &weft_host_table);
}

/// Buffers are deep, so that round trips become long.
static const struct network for_cc = {
    "cc",
    "topology: {kind: leaf_spine, leaves: 3, spines: 3, hosts_per_leaf: 3, rate: 100Gbps}\n"
    "switch: {buffer: {kind: dynamic, total: 32MB, alpha: 8}, aqm: {kind: wred, min: 15KB, max: 50KB, max_probability: "
    "50%}}\n"
    "run: {until: 300us, stall: 250us}\n"
    "workload: [{kind: incast, sources: 'host-1..8', dst: host-0, size: 1MB}]\n",
    NULL};

static enum answer answer_with(const struct weft_model *transport, const char *cc, bool echoes, uint64_t *ret_digest) {
    struct settings s = {0};
    set(&s, "host.transport=%s", transport->name);
    if (echoes) set(&s, "host.transport.ecn_echo=ack");
    set(&s, "host.cc={kind: %s%s}", cc, strcmp(cc, "timely") ? "" : ", t_low: 5us, t_high: 20us"); // for 10G
    return answer_of(&for_cc, &s, ret_digest);
}

/// A congestion control either does something under a transport, or is refused beside it.
static void every_cc_is_asked_by_every_transport(void **state) {
    (void)state;
    for (uint32_t t = 0; t < weft_model_count(WEFT_KIND_TRANSPORT); t++) {
        const struct weft_model *transport = weft_model_at(WEFT_KIND_TRANSPORT, t);
        unsigned runs = 0;
        for (unsigned echoes = 0; echoes < 2; echoes++) {
            uint64_t digest, without;
            enum answer plain = answer_with(transport, "none", echoes, &without);
            for (uint32_t c = 1; plain == RUN && c < weft_model_count(WEFT_KIND_CC); c++) {
                const char *cc = weft_model_at(WEFT_KIND_CC, c)->name;
                if (answer_with(transport, cc, echoes, &digest) != RUN) continue;
                runs++;
                if (digest == without) fail_msg("%s beside %s is as if there were none", cc, transport->name);
            }
        }
        assert_true(runs > 5); // not refused for another reason
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_switch_asks),
        cmocka_unit_test(an_interface_node_asks),
        cmocka_unit_test(a_tin_asks),
        cmocka_unit_test(a_nic_asks),
        cmocka_unit_test(every_cc_is_asked_by_every_transport),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
