// SPDX-License-Identifier: Apache-2.0
// The solvers of fabrics over many numbers of hosts: their results must be consistent, by themselves and with the
// network built from them.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "weft/fabric.h"
#include "weft/scenario.h"
#include "weft/summary.h"

static const unsigned sizes[] = {2,   3,   7,   8,   16,  17,  31,   32,   33,   64,   65,   100,  127,
                                 128, 129, 255, 256, 257, 500, 1000, 1151, 1152, 1153, 2049, 4096, 5003};

static struct weft_scenario_file *file_of(const char *name, unsigned hosts, const char *more) {
    char setting[64];
    const char *settings[] = {setting, more};
    struct weft_scenario_file *file = NULL;
    struct weft_error error = {0};
    snprintf(setting, sizeof setting, "fabric.hosts=%u", hosts);
    enum weft_status status = weft_scenario_file_read(name, settings, more ? 2 : 1, &file, &error);
    if (status) fail_msg("%s: %s", name, error.text);
    return file;
}

static struct weft_fabric_plan *plan_of(struct weft_scenario_file *file, struct weft_arena *arena) {
    struct weft_model_conf model;
    const char *name, *about;
    struct weft_error error = {0};
    assert_int_equal(weft_scenario_fabric(file, 0, arena, &model, &name, &about, &error), WEFT_OK);
    assert_non_null(model.model);
    return weft_fabric_plan_new(&model, arena);
}

/// No chip has more ports in use than it has; there is a port for each host; the ends of cables are ports.
static void check_ports(const char *name, unsigned hosts, const struct weft_fabric_plan *p) {
    uint64_t ports = 0, ends = 0;
    for (uint32_t i = 0; i < p->layers; i++) {
        const struct weft_fabric_layer *l = &p->layer[i];
        if (l->ports_max && l->ports > l->ports_max)
            fail_msg("%s, %u hosts: %s uses %llu ports of %llu", name, hosts, l->name, (unsigned long long)l->ports,
                     (unsigned long long)l->ports_max);
        ports += l->chips * l->ports;
    }
    for (uint32_t i = 0; i < p->cables; i++)
        ends += p->cable[i].links * p->cable[i].chip_ends;
    assert_true(p->host_ports >= hosts);
    if (ends > ports)
        fail_msg("%s, %u hosts: %llu ends of cables at %llu ports", name, hosts, (unsigned long long)ends,
                 (unsigned long long)ports);
    assert_int_equal(weft_fabric_bill(p).ports, ends);
}

static void ports_add_up(void **state) {
    for (uint32_t i = 0; i < weft_blueprint_count(); i++)
        for (unsigned k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
            const char *name = weft_blueprint_at(i)->name;
            struct weft_scenario_file *file = file_of(name, sizes[k], NULL);
            const struct weft_fabric_plan *p = plan_of(file, arena);
            if (!*p->reason) check_ports(name, sizes[k], p);
            weft_scenario_file_free(file);
            weft_arena_free(arena);
        }
}

/// No chip has more ports in use, or lanes, than the part that is billed has rate for, and the bill of a radix is that
/// of chips of so many ports: whatever the hosts' rate.
static void parts_have_the_capacity(void **state) {
    static const char *const rates[] = {"fabric.rate=100G", "fabric.rate=400G", "fabric.rate=800G", "fabric.rate=1.6T"};
    for (uint32_t i = 0; i < weft_blueprint_count(); i++)
        for (unsigned k = 0; k < 4 * (sizeof sizes / sizeof *sizes); k++) {
            struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
            const char *name = weft_blueprint_at(i)->name;
            struct weft_scenario_file *file = file_of(name, sizes[k / 4], rates[k % 4]);
            const struct weft_fabric_plan *p = plan_of(file, arena);
            for (uint32_t l = 0; l < p->layers && !*p->reason; l++) {
                const struct weft_fabric_layer *layer = &p->layer[l];
                bool both = !strcmp(layer->name, "rdsw") || !strcmp(layer->name, "edsw"); // ports and lanes
                if (!layer->part->rate_bps || both) continue;
                if ((double)layer->ports * (double)layer->rate_bps > 1.001 * (double)layer->part->rate_bps)
                    fail_msg("%s, %u hosts, %s: %s has %llu ports of %llu bit/s, and a %s", name, sizes[k / 4],
                             rates[k % 4], layer->name, (unsigned long long)layer->ports,
                             (unsigned long long)layer->rate_bps, layer->part->name);
            }
            struct weft_fabric_item item[WEFT_FABRIC_ITEMS_MAX];
            uint32_t items = *p->reason ? 0 : weft_fabric_items(p, item);
            for (uint32_t n = 0; n < items; n++)
                if (item[n].part == &p->conf->nic && item[n].part->rate_bps)
                    assert_true(item[n].n * (double)item[n].part->rate_bps >=
                                (double)p->conf->hosts * (double)p->conf->rate_bps);
            weft_scenario_file_free(file);
            weft_arena_free(arena);
        }
}

/// With a radix, chips of that many ports are billed: 16 ports of 400G are a quarter of a 25.6T chip and an eighth of
/// one of 51.2T.
static void radix_is_billed(void **state) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    struct weft_scenario_file *file = file_of("roce-ecmp", 256, "fabric.radix=16");
    const struct weft_fabric_plan *p = plan_of(file, arena);
    assert_int_equal(p->layers, 3);
    for (uint32_t l = 0; l < 3; l++) {
        assert_int_equal(p->layer[l].ports_max, 16);
        assert_int_equal(p->layer[l].part->rate_bps, UINT64_C(6400000000000));
        assert_true(p->layer[l].part->watts > 62 && p->layer[l].part->watts < 114); // 455 / 4, 500 / 8
    }
    assert_true(weft_fabric_bill(p).watts < 22000); // 53664 with whole chips
    weft_scenario_file_free(file);
    weft_arena_free(arena);
}

/// All hosts at one leaf: no spine is built or billed.
static void one_leaf_stands_alone(void **state) {
    static const unsigned hosts[] = {2, 16, 17};
    for (unsigned k = 0; k < 3; k++) {
        struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
        struct weft_scenario_file *file = file_of("roce-ecmp", hosts[k], NULL);
        const struct weft_fabric_plan *p = plan_of(file, arena);
        assert_int_equal(weft_fabric_bill(p).chips, hosts[k] <= 16 ? 1 : 4);
        assert_int_equal(p->layers, hosts[k] <= 16 ? 1 : 2);
        weft_scenario_file_free(file);
        weft_arena_free(arena);
    }
}

/// The network that is built has the plan's hosts and links, and the bisection that the oversubscription allows.
static void check_network(const char *name, const struct weft_fabric_plan *p, const struct weft_scenario *s,
                          double bisection_least) {
    struct weft_topology *t;
    struct weft_error error = {0};
    enum weft_status status = weft_topology_new(&s->topology, s->topology_tree, s->events_tree, s->arena, &t, &error);
    if (status) fail_msg("%s, %s: %s", name, p->topology, error.text);
    uint64_t links = p->inner_links;
    for (uint32_t i = 0; i < p->cables; i++)
        links += p->cable[i].links;
    assert_int_equal(t->hosts, p->host_ports * (p->planes ? p->planes : 1));
    if (t->links != links) fail_msg("%s: %u links are built, %llu planned", name, t->links, (unsigned long long)links);
    if (!(bisection_least > 0)) return;
    weft_time_ps *processing = weft_arena_alloc(s->arena, t->nodes, sizeof *processing);
    const struct weft_topology_summary *sum = weft_topology_summarise(t, processing, NULL, s->arena);
    if ((double)sum->bisection_bps < bisection_least * (double)sum->half_bps)
        fail_msg("%s, %s: bisection %llu of %llu", name, p->topology, (unsigned long long)sum->bisection_bps,
                 (unsigned long long)sum->half_bps);
}

static void build(const char *name, unsigned hosts, const char *more, double bisection_least) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    struct weft_scenario_file *file = file_of(name, hosts, more);
    const struct weft_fabric_plan *p = plan_of(file, arena);
    struct weft_scenario *s = NULL;
    struct weft_error error = {0};
    enum weft_status status = weft_scenario_new(file, 0, &s, &error);
    if (*p->reason) {
        assert_int_equal(status, WEFT_ERROR_INPUT);
        assert_non_null(strstr(error.text, p->reason));
    } else {
        if (status) fail_msg("%s, %u hosts: %s", name, hosts, error.text);
        check_network(name, p, s, bisection_least);
    }
    weft_scenario_free(s);
    weft_scenario_file_free(file);
    weft_arena_free(arena);
}

/// Every blueprint becomes the network that was planned, at odd numbers too.
static void plans_are_built(void **state) {
    static const unsigned some[] = {2, 17, 129, 256, 257};
    for (uint32_t i = 0; i < weft_blueprint_count(); i++)
        for (unsigned k = 0; k < sizeof some / sizeof *some; k++)
            build(weft_blueprint_at(i)->name, some[k], NULL, 0);
}

/// Half of the hosts reach the other half at full rate, or at the part that was asked for.
static void bisection_is_as_asked(void **state) {
    static const unsigned some[] = {32, 64, 200, 256, 512};
    for (unsigned k = 0; k < sizeof some / sizeof *some; k++) {
        build("roce-ecmp", some[k], NULL, 1);
        build("roce-ecmp", some[k], "fabric.oversubscription=2", 0.5);
        build("roce-ecmp", some[k], "fabric.radix=32", 1);
        build("rail", some[k], NULL, 1);
        build("dsf-l1", some[k], NULL, 1);
        build("dsf-l2", some[k], NULL, 1);
    }
    build("roce-ecmp", 1024, "fabric.radix=32", 1); // three layers
}

/// Table 3 of Zhao et al., "Insights into DeepSeek-V3", ISCA 2025 (arXiv 2505.09343), with chips of 64 ports:
/// endpoints, switches and links between switches, exact. (Its Slim Fly has q = 28, for which no such graph exists: 28
/// is no power of a prime. It is left out.)
static const struct published {
    const char *name, *set;
    unsigned hosts;
    uint64_t switches, links;
    double cost; ///< thousand dollars per endpoint
} table_3[] = {{"roce-ecmp", "per_leaf: 32", 2048, 96, 2048, 4.39},
               {"rail-only", "per_leaf: 32", 16384, 768, 16384, 4.39},
               {"roce-ecmp", "per_leaf: 32", 65536, 5120, 131072, 7.5},
               {"dragonfly", "per_leaf: 16", 261632, 16352, 384272, 5.8}};

/// Its costs per endpoint: a switch of 64 ports at 30, an end of a link between switches at 1.085, and an endpoint with
/// its cable at 0.81 give those of both fat trees (two equations for three unknowns; any price of a switch below 33
/// does, within their rounding). Then the dragonfly has 5.87, as published 5.8: 1.2% more.
static void published_counts_are_exact(void **state) {
    for (unsigned i = 0; i < sizeof table_3 / sizeof *table_3; i++) {
        const struct published *of = &table_3[i];
        struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
        char more[512];
        snprintf(more, sizeof more,
                 "fabric={%s, radix: 64, rate: 400G, host_cable: 2, copper: 3, leaf: {name: x, class: \"\", rate: "
                 "25.6Tbps, price: 30}, spine: {name: x, class: \"\", rate: 25.6Tbps, price: 30}, optic: {rate: 400G, "
                 "price: 1.085}, nic: {rate: 400G, price: 0.81}}",
                 of->set);
        struct weft_scenario_file *file = file_of(of->name, of->hosts, more);
        const struct weft_fabric_plan *p = plan_of(file, arena);
        struct weft_fabric_bill bill = weft_fabric_bill(p);
        uint64_t links = 0;
        for (uint32_t k = 0; k < p->cables; k++)
            links += p->cable[k].chip_ends == 2 ? p->cable[k].links : 0;
        assert_int_equal(p->host_ports, of->hosts);
        assert_int_equal(bill.chips, of->switches);
        assert_int_equal(links, of->links);
        double cost = bill.price / of->hosts;
        if (!(fabs(cost - of->cost) < 0.015 * of->cost)) fail_msg("%s: %g, published %g", of->name, cost, of->cost);
        weft_scenario_file_free(file);
        weft_arena_free(arena);
    }
}

/// Eight planes of 100G ports reach 131072 hosts in two layers, where 64 ports of 800G reach 65536 in three, with 3/5
/// of the switches and 2/3 of the links of a host's rate per host (OCP MRC); HPN's pod has 15360 (SIGCOMM 2024).
static void planes_reach_further(void **state) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    struct weft_scenario_file *file[3] = {
        file_of("eight-planes", 131072, "fabric.rate=800G"),
        file_of("roce-ecmp", 65536, "fabric={rate: 800G, per_leaf: 32, leaf: {class: tomahawk5}}"),
        file_of("dual-tor", 15360, NULL)};
    struct weft_fabric_bill bill[3];
    double ends[3] = {0};
    for (uint32_t i = 0; i < 3; i++) {
        const struct weft_fabric_plan *p = plan_of(file[i], arena);
        assert_string_equal(p->reason, "");
        bill[i] = weft_fabric_bill(p);
        for (uint32_t k = 0; k < p->cables; k++)
            ends[i] += (double)p->cable[k].links * (double)p->cable[k].rate_bps / (double)p->host_ports;
    }
    assert_true(fabs((double)bill[0].chips / 131072 / ((double)bill[1].chips / 65536) - 3. / 5) < 1e-9);
    assert_true(fabs(ends[0] / ends[1] - 2. / 3) < 1e-9);
    assert_int_equal(bill[2].chips, 240 + 120);
    for (uint32_t i = 0; i < 3; i++)
        weft_scenario_file_free(file[i]);
    weft_arena_free(arena);
}

/// The largest that there are, by the counts of chips and pods alone.
static void ends_are_known(void **state) {
    static const struct {
        const char *name, *more;
        unsigned hosts;
        bool built;
    } cases[] = {{"aquila", NULL, 1152, true},
                 {"aquila", NULL, 1153, false},
                 {"star", NULL, 128, true},
                 {"star", NULL, 129, false},
                 {"star", "fabric.rate=800Gbps", 65, false},
                 {"roce-ecmp", "fabric={per_leaf: 0, radix: 16, layers_max: 2}", 128, true},
                 {"roce-ecmp", "fabric={per_leaf: 0, radix: 16, layers_max: 2}", 129, false},
                 {"roce-ecmp", "fabric={per_leaf: 0, radix: 16}", 1024, true},
                 {"roce-ecmp", "fabric={per_leaf: 0, radix: 16}", 1025, false},
                 {"ideal", NULL, 5003, true}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
        struct weft_scenario_file *file = file_of(cases[i].name, cases[i].hosts, cases[i].more);
        const struct weft_fabric_plan *p = plan_of(file, arena);
        if (!*p->reason != cases[i].built)
            fail_msg("%s, %u hosts: %s", cases[i].name, cases[i].hosts, *p->reason ? p->reason : "built");
        weft_scenario_file_free(file);
        weft_arena_free(arena);
    }
}

struct wanted {
    const char *path;
    char value[64];
};
static void on_value(void *context, const char *path, const char *value, const char *dflt) {
    struct wanted *w = context;
    (void)dflt;
    if (!strcmp(path, w->path)) snprintf(w->value, sizeof w->value, "%s", value);
}
static void check_value(const char *blueprint, const char *more, const char *path, const char *expected) {
    struct weft_scenario_file *file = file_of(blueprint, 256, more);
    struct weft_scenario *s = NULL;
    struct weft_error error = {0};
    struct wanted w = {path, ""};
    if (weft_scenario_new(file, 0, &s, &error)) fail_msg("%s", error.text);
    weft_scenario_each(s, on_value, &w);
    assert_string_equal(w.value, expected);
    weft_scenario_free(s);
    weft_scenario_file_free(file);
}

/// What a file says of a layer's switches, here that they take 3.8 us, leaves them the memory of their chips, with a
/// headroom for those 3.8 us too: 190 KB at 400 Gbit/s. Entries 0 and 1 are the solver's, for cluster switches and
/// aggregators; the file's come behind them.
static void devices_keep_their_memory(void **state) {
    (void)state;
    check_value("ai-zone", NULL, "devices.2.match", "ctsw-*");
    check_value("ai-zone", NULL, "devices.2.switch.processing", "3.8us");
    check_value("ai-zone", NULL, "devices.2.switch.buffer.kind", "static");
    check_value("ai-zone", NULL, "devices.2.switch.buffer.size", "666666666B"); // 192 GB / 288 ports
    check_value("ai-zone", NULL, "devices.2.switch.buffer.xoff", "666296080B");
    static const char own[] = "devices=[{match: ctsw-*, switch: {processing: 300ns}}]";
    check_value("ai-zone", own, "devices.2.switch.buffer.xoff", "666471080B"); // 3.5 us x 50 GB/s = 175,000 B more
    check_value("ai-zone", "devices=[{match: ctsw-1, switch: {queueing: voq}}]", "devices.2.switch.buffer.kind",
                "static");
    check_value("ai-zone", "devices=[{match: rtsw-*, switch: {queueing: voq}}]", "devices.2.switch.buffer.kind",
                "dynamic");
}

/// Values that a blueprint's authors have at 100G, at 400G.
static void settings_in_proportion(void **state) {
    (void)state;
    static const char rate[] = "fabric.rate=400Gbps";
    check_value("roce-dcqcn", rate, "switch.aqm.min", "1600KB");
    check_value("roce-dcqcn", rate, "switch.aqm.max", "6400KB");
    check_value("roce-dcqcn", rate, "host.cc.kind", "dcqcn_connectx");
    check_value("roce-dcqcn", rate, "host.cc.additive_increase", "80Mbps");
    check_value("roce-dcqcn", rate, "host.cc.hyper_increase", "800Mbps");
    check_value("roce-dcqcn", "fabric.rate=200Gbps", "host.cc.additive_increase", "40Mbps");
    check_value("roce-dcqcn", "host.cc.additive_increase=5Mbps", "host.cc.additive_increase", "5Mbps");
}

/// A part has the figures of its class, in the order of precedence: its own key, the class, nothing. Inferred and
/// assumed power is called assumed.
static void parts_are_classes(void **state) {
    static const struct {
        const char *name, *more, *part;
        uint32_t layer;
        uint64_t rate_bps, buffer_bytes;
        double watts;
        bool assumed, partitioned;
    } expected[] = {
        {"roce-ecmp", NULL, "tomahawk4", 0, 25600000000000, 113000000, 455, false, false},
        {"roce-ecmp", NULL, "tomahawk5", 1, 51200000000000, 165000000, 500, false, false},
        {"roce-ecmp", "fabric.leaf={class: teralynx10, watts: 600}", "teralynx10", 0, 51200000000000, 200000000, 600,
         false, false},
        {"roce-ecmp", "fabric.leaf.name=ours", "ours", 0, 25600000000000, 113000000, 455, false, false},
        {"ai-zone", NULL, "meta_ctsw", 1, 115200000000000, 192000000000, 5000, true, true},
        {"dsf-l1", NULL, "jericho3ai", 0, 14400000000000, UINT64_C(12) << 30, 450, true, false},
        {"aquila", NULL, "tin", 0, 0, 0, 75, true, false},
        {"aquila", NULL, "tomahawk4", 1, 25600000000000, 0, 455, false, false},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
        const char *rate = !strcmp(expected[i].name, "aquila") ? "fabric.rate=50Gbps" : expected[i].more;
        struct weft_scenario_file *file = file_of(expected[i].name, 256, rate);
        const struct weft_fabric_plan *p = plan_of(file, arena);
        const struct weft_fabric_part *part = p->layer[expected[i].layer].part;
        assert_string_equal(part->name, expected[i].part);
        assert_int_equal(part->rate_bps, expected[i].rate_bps);
        assert_int_equal(part->buffer_bytes, expected[i].buffer_bytes);
        assert_true(part->watts == expected[i].watts);
        assert_int_equal(weft_fabric_part_assumes_watts(part), expected[i].assumed);
        assert_int_equal(part->partitioned, expected[i].partitioned);
        weft_scenario_file_free(file);
        weft_arena_free(arena);
    }
    struct weft_model_conf model;
    const char *name, *about;
    struct weft_error error = {0};
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    struct weft_scenario_file *file = file_of("star", 8, "fabric.leaf.class=tomahawk9");
    assert_int_equal(weft_scenario_fabric(file, 0, arena, &model, &name, &about, &error), WEFT_ERROR_INPUT);
    assert_non_null(strstr(error.text, "fabric.leaf.class: no class \"tomahawk9\"; did you mean \"tomahawk"));
    weft_scenario_file_free(file);
    weft_arena_free(arena);
}

/// chips: listed gives each layer's switches, DSF nodes and hosts the classes of their parts, below the file's own
/// keys.
static void devices_are_as_their_parts(void **state) {
    static const char listed[] = "fabric.chips=listed";
    check_value("roce-ecmp", listed, "switch.chip", "tomahawk4");
    check_value("roce-ecmp", listed, "devices.0.switch.chip", "tomahawk5");
    check_value("roce-ecmp", listed, "host.nic", "connectx7");
    check_value("dsf-region", listed, "interface_node.chip", "jericho3ai");
    check_value("dsf-region", listed, "fabric_node.chip", "fdsw_102t");
    check_value("dsf-region", listed, "devices.1.switch.chip", "tomahawk5");
    // Headroom has the chip's time, 900 ns instead of 300 ns, 30,000 B at 400G, and its cells: 254 B for each 84 B.
    check_value("roce-ecmp", "fabric.per_leaf=16", "switch.buffer.headroom", "120586B");
    check_value("roce-ecmp", listed, "switch.buffer.headroom", "455344B");
    // Without classes of parts, that of the usual switch: 700 ns, 20,000 B more; or that of the section.
    check_value("roce-ecmp", "hardware=ideal", "switch.buffer.headroom", "120586B");
    check_value("roce-ecmp", "hardware=typical", "switch.buffer.headroom", "140586B");
    check_value("roce-ecmp", "switch.chip=tomahawk5", "switch.buffer.headroom", "140586B");
    check_value("roce-ecmp", "fabric={chips: listed, leaf: {class: tomahawk5}}", "switch.buffer.headroom", "425106B");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ports_add_up),
        cmocka_unit_test(parts_have_the_capacity),
        cmocka_unit_test(radix_is_billed),
        cmocka_unit_test(one_leaf_stands_alone),
        cmocka_unit_test(plans_are_built),
        cmocka_unit_test(bisection_is_as_asked),
        cmocka_unit_test(published_counts_are_exact),
        cmocka_unit_test(planes_reach_further),
        cmocka_unit_test(ends_are_known),
        cmocka_unit_test(devices_keep_their_memory),
        cmocka_unit_test(settings_in_proportion),
        cmocka_unit_test(parts_are_classes),
        cmocka_unit_test(devices_are_as_their_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
