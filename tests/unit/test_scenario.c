// SPDX-License-Identifier: Apache-2.0
// From text to bound structs: defaults, sections, devices, variants, settings, and back as a flat list.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "own_memory.h"
#include "transport/roce_rc.h"
#include "weft/param.h"
#include "weft/sim.h"

#define MAX_SETTINGS 4

static struct weft_scenario_file *file;
static struct weft_scenario *scenario;

static int tear_down(void **state) {
    (void)state;
    weft_scenario_free(scenario);
    weft_scenario_file_free(file);
    scenario = NULL;
    file = NULL;
    assert_int_equal(weft_memory_bytes(WEFT_MEMORY_SCENARIO), 0);
    return 0;
}

static enum weft_status read_with(const char *text, const char *const *settings, struct weft_error *ret_error) {
    uint32_t n = 0;
    while (settings && settings[n])
        n++;
    *ret_error = (struct weft_error){0};
    return weft_scenario_file_parse("dir/s.yaml", text, strlen(text), settings, n, &file, ret_error);
}

static void bind(const char *text, uint32_t variant, const char *const *settings) {
    tear_down(NULL);
    struct weft_error error;
    if (read_with(text, settings, &error) || weft_scenario_new(file, variant, &scenario, &error))
        fail_msg("%s", error.text);
}

static void everything_has_a_default(void **state) {
    (void)state;
    bind("topology: single\n", 0, NULL);
    assert_string_equal(scenario->name, "s");
    assert_string_equal(scenario->about, "");
    assert_string_equal(scenario->variant, "");
    assert_string_equal(scenario->path, "dir/s.yaml");
    assert_string_equal(scenario->topology.model->name, "single");
    assert_int_equal(scenario->workloads, 0);
    assert_int_equal(scenario->devices, 1);
    assert_null(scenario->device[0].match);
    assert_null(scenario->events_tree);
    const struct weft_switch_conf *sw = &scenario->device[0].sw;
    assert_int_equal(sw->processing_ps, 300 * WEFT_PS_PER_NS);
    assert_string_equal(sw->queueing.model->name, "oq");
    assert_string_equal(sw->arbiter.model->name, "islip");
    assert_string_equal(sw->scheduler.model->name, "strict");
    assert_string_equal(sw->buffer.model->name, "static");
    assert_string_equal(sw->aqm.model->name, "none");
    assert_string_equal(sw->route.model->name, "ecmp");
    assert_int_equal(sw->aqm_priorities, 0x7f);
    assert_int_equal(sw->pfc.priorities, 1 << 3);
    assert_int_equal(sw->pfc.quanta, 65535);
    assert_true(sw->pfc.watchdog_ps == WEFT_TIME_NEVER);
    assert_int_equal(sw->dscp_map[48], 7);
    const struct weft_host_conf *host = &scenario->device[0].host;
    assert_int_equal(host->mtu_bytes, 4096);
    assert_string_equal(host->cc.model->name, "none");
    assert_string_equal(host->transport.model->name, "roce_rc");
    const struct weft__roce_rc_conf *transport = host->transport.conf;
    assert_int_equal(transport->timeout_ps, UINT64_C(4096000) << 12); // IBTA: 4.096 us x 2^12
    assert_int_equal(transport->cnp_interval_ps, 50 * WEFT_PS_PER_US);
    assert_true(host->ecn);
    assert_int_equal(scenario->run.seed, 1);
    assert_true(scenario->run.until_ps == WEFT_TIME_NEVER);
    assert_int_equal(scenario->run.detection_ps, 10 * WEFT_PS_PER_MS);
    assert_string_equal(scenario->run.sample_ports, "*");
}

static const char whole[] = "name: whole\n"
                            "about: every section\n"
                            "topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 4}\n"
                            "events: [{at: 1ms, link: leaf-0--spine-0, state: down}]\n"
                            "switch:\n"
                            "  buffer: {size: 800KB, xoff: 700KB, xon: 600KB}\n"
                            "  pfc: {priorities: [3, 4]}\n"
                            "host: {cc: {kind: dcqcn, g: 1/16}}\n"
                            "devices:\n"
                            "  - match: spine-*\n"
                            "    switch: {buffer.xoff: 650KB, pfc.priorities: none}\n"
                            "  - {match: host-0, host: {cc: none}}\n"
                            "workload:\n"
                            "  - {kind: incast, sources: host-1..3, dst: host-0, size: 1MB, group: in}\n"
                            "  - {kind: permutation, size: 2MB}\n"
                            "run: {seed: 7, until: 10ms}\n"
                            "variants:\n"
                            "  plain: {host.cc: none}\n"
                            "  same:\n"
                            "  gain: {host.cc.g: 1/4, workload.1.size: 3MB, run: {seed: 8}}\n";

static const weft_bytes *buffer_xoff(const struct weft_device_conf *device) {
    const struct weft_param_table *table = device->sw.buffer.model->params;
    for (uint32_t i = 0; i < table->n; i++)
        if (!strcmp(table->rows[i].name, "xoff"))
            return (const weft_bytes *)((const char *)device->sw.buffer.conf + table->rows[i].offset);
    fail_msg("a static buffer has no xoff");
    return NULL;
}

static void sections_and_devices(void **state) {
    (void)state;
    bind(whole, 1, NULL);
    assert_int_equal(weft_scenario_variants(file), 3);
    assert_string_equal(weft_scenario_variant_name(file, 1), "same");
    assert_string_equal(scenario->name, "whole");
    assert_string_equal(scenario->variant, "same");
    assert_non_null(scenario->events_tree);
    assert_int_equal(scenario->devices, 3);
    assert_int_equal(*buffer_xoff(&scenario->device[0]), 700000);
    assert_string_equal(scenario->device[1].match, "spine-*");
    assert_int_equal(*buffer_xoff(&scenario->device[1]), 650000);
    assert_int_equal(scenario->device[1].sw.pfc.priorities, 0);
    assert_string_equal(scenario->device[1].host.cc.model->name, "dcqcn"); // the default section shows through
    assert_string_equal(scenario->device[2].host.cc.model->name, "none");
    assert_int_equal(scenario->device[2].sw.pfc.priorities, 0x18);
    assert_ptr_equal(weft_scenario_device(scenario, "spine-1"), &scenario->device[1]);
    assert_ptr_equal(weft_scenario_device(scenario, "host-0"), &scenario->device[2]);
    assert_ptr_equal(weft_scenario_device(scenario, "host-1"), &scenario->device[0]);
    assert_int_equal(scenario->workloads, 2);
    assert_string_equal(scenario->workload[1].model->name, "permutation");
    assert_int_equal(scenario->workload[1].place.line, 15);
    assert_int_equal(scenario->run.seed, 7);
    assert_int_equal(scenario->run.until_ps, 10 * WEFT_PS_PER_MS);
}

struct wanted {
    const char *path;
    char value[128];
    unsigned seen;
};

static void on_value(void *context, const char *path, const char *value, const char *dflt) {
    struct wanted *w = context;
    if (strcmp(path, w->path)) return;
    w->seen++;
    snprintf(w->value, sizeof w->value, "%s", value);
}

static void assert_value(const char *path, const char *value) {
    struct wanted w = {.path = path};
    weft_scenario_each(scenario, on_value, &w);
    if (w.seen != 1) fail_msg("%s: seen %u times", path, w.seen);
    assert_string_equal(w.value, value);
}

static void variants_and_settings(void **state) {
    (void)state;
    bind(whole, 0, NULL);
    assert_value("host.cc.kind", "none");
    assert_value("devices.0.host.cc.kind", "none"); // devices build on the overridden default
    bind(whole, 1, NULL);
    assert_value("host.cc.kind", "dcqcn");
    assert_value("host.cc.g", "0.0625");
    assert_value("workload.1.size", "2MB");
    bind(whole, 2, NULL);
    assert_value("host.cc.g", "0.25");
    assert_value("workload.1.size", "3MB");
    assert_value("workload.0.size", "1MB");
    assert_value("run.seed", "8");
    assert_value("run.until", "10ms");
    assert_value("events.0.link", "leaf-0--spine-0");
    const char *const settings[] = {"run.seed=9", "host.cc.g=1/2", "workload.0={kind: permutation}",
                                    "switch.pfc.priorities=[0, 1]", NULL};
    bind(whole, 2, settings);
    assert_value("run.seed", "9");
    assert_value("host.cc.g", "0.5");
    assert_value("workload.0.kind", "permutation");
    assert_value("workload.0.size", "1MB"); // of another kind: what the old one said is gone, this is the default
    assert_value("switch.pfc.priorities", "0,1");
    assert_value("devices.0.switch.pfc.priorities", "none");
    const char *const back_to_default[] = {"host=", NULL};
    bind(whole, 1, back_to_default);
    assert_value("host.cc.kind", "none");
}

/// Values that are texts of a topology's own lists are in the flat list too.
static void lists_are_listed(void **state) {
    (void)state;
    bind("topology:\n  kind: list\n  nodes: [{name: a, role: host}, {name: b, role: host}, {name: s, role: switch}]\n"
         "  links: [{from: a, to: s}, {from: b, to: s}]\n",
         0, NULL);
    assert_value("topology.kind", "list");
    assert_value("topology.nodes.2.name", "s");
    assert_value("topology.links.1.from", "b");
}

static void collect(void *context, const char *path, const char *value, const char *dflt) {
    // the flat list as settings; a list in a topology is not a path of settings
    FILE *out = context;
    if (strcmp(path, "name") && strcmp(path, "about") && strncmp(path, "events", 6))
        fprintf(out, "%s=\"%s\"%c", path, value, 0);
}

/// Every value of the flat list, given as a setting, leads to the same flat list.
static void flat_list_reads_back(void **state) {
    (void)state;
    for (uint32_t variant = 0; variant < 3; variant++) {
        bind(whole, variant, NULL);
        char *before, *after;
        size_t size, size_after;
        FILE *out = open_memstream(&before, &size);
        weft_scenario_each(scenario, collect, out);
        fclose(out);
        const char *settings[2048];
        uint32_t n = 0;
        for (char *s = before; s < before + size; s += strlen(s) + 1)
            settings[n++] = s;
        assert_true(n > 100);
        settings[n] = NULL;
        bind(whole, variant, settings);
        out = open_memstream(&after, &size_after);
        weft_scenario_each(scenario, collect, out);
        fclose(out);
        assert_int_equal(size, size_after);
        assert_memory_equal(before, after, size);
        free(before);
        free(after);
    }
}

static void errors(void **state) {
    (void)state;
    static const struct {
        const char *text, *setting, *expected;
    } cases[] = {
        {"[1]\n", NULL, "dir/s.yaml:1:1: expected a scenario: a map with topology"},
        {"name: x\n", NULL, "dir/s.yaml:1:1: topology is missing"},
        {"topology: sinle\n", NULL, "dir/s.yaml:1:11: topology: no topology \"sinle\"; did you mean \"single\"?"},
        {"topology: {hosts: 4}\n", NULL, "dir/s.yaml:1:11: topology: which kind? expected one of"},
        {"topology: single\nswich: {}\n", NULL, "dir/s.yaml:2:1: swich: unknown key; did you mean \"switch\"?"},
        {"topology: single\nvariants: [a]\n", NULL, "dir/s.yaml:2:11: variants: expected a map of names"},
        {"topology: single\nvariants: {}\n", NULL, "variants: expected a map of names"},
        {"topology: single\nvariants: {a: b}\n", NULL, "dir/s.yaml:2:15: variants.a: expected a map of paths"},
        {"topology: single\nvariants:\n  a: {host.ccc: none}\n", NULL,
         "dir/s.yaml:3:7: host.ccc: unknown key; did you mean \"cc\"?"},
        {"topology: single\nvariants:\n  a: {variants.b: 1}\n", NULL, "dir/s.yaml:3:7: variants: cannot be overridden"},
        {"topology: single\ncases: {a: 3}\n", NULL, "dir/s.yaml:2:12: cases.a: expected a map of paths"},
        {"topology: single\ncases: {a: {cases.b: 3}}\n", NULL, "dir/s.yaml:2:13: cases: cannot be overridden"},
        {"topology: single\ncases: {a: {variants: 3}}\n", NULL, "variants: expected a map of names"},
        {"topology: single\nbase: [a]\n", NULL, "dir/s.yaml:2:7: base: expected the name of a scenario file"},
        {"topology: single\nbase: '-'\n", NULL, "base: expected the name of a scenario file"},
        {"topology: single\ncases: {a: {run.sed: 1}}\nvariants: {b: , c: }\n", NULL,
         "did you mean \"seed\"? (variant a/b)"},
        {"topology: single\nvariants: {a: , b: {run.sed: 1}}\n", NULL, "did you mean \"seed\"? (variant b)"},
        {"topology: single\nworkload: {kind: incast}\n", NULL, "dir/s.yaml:2:11: workload: expected a list of entries"},
        {"topology: single\nworkload: [{kind: incst}]\n", NULL,
         "dir/s.yaml:2:19: workload.0: no workload \"incst\"; did you mean \"incast\"?"},
        {"topology: single\nworkload: [{size: 1MB}]\n", NULL, "dir/s.yaml:2:12: workload.0: which kind?"},
        {"topology: single\ndevices: [{switch: {}}]\n", NULL, "dir/s.yaml:2:11: devices.0.match is missing"},
        {"topology: single\ndevices: [{match: a, swich: {}}]\n", NULL,
         "dir/s.yaml:2:22: devices.0.swich: unknown key; did you mean \"switch\"?"},
        {"topology: single\ndevices: [{match: a, switch: {pfc.quant: 3}}]\n", NULL,
         "dir/s.yaml:2:31: devices.0.switch.pfc.quant: unknown key; did you mean \"quanta\"?"},
        {"topology: single\ndevices: [{match: a, host: none}]\n", NULL, "devices.0.host: found a text; expected a map"},
        {"topology: single\n", "run.seed", "--set run.seed: expected path=value"},
        {"topology: single\n", "=3", "--set =3: expected path=value"},
        {"topology: single\n", "run.sed=3", "--set run.sed=3: run.sed: unknown key; did you mean \"seed\"?"},
        {"topology: single\n", "run.seed=[", "--set run.seed=[: not YAML"},
        {"topology: single\n", "run.seed=\x01", "--set run.seed=?: byte 0x01 is not text"},
        {"topology: single\n", "workload.0.size=1MB", "workload.0.size=1MB: workload: expected a list"},
        {"topology: single\nvariants: {a: {}}\n", "variants.a=3", "--set variants.a=3: variants: cannot be overridden"},
        {"topology: single\nhost: {rx_xon: 300KB, drain_rate: 1Gbps}\n", NULL,
         "s.yaml:2:7: host: rx_xon (300KB) is above rx_xoff"},
        {"topology: single\nhost: {rx_xoff: 500KB, drain_rate: 1Gbps}\n", NULL,
         "host: rx_xoff (500KB) is above rx_buffer (400KB)"},
        {"topology: single\nhost: {window: 1KB}\n", NULL, "host: window (1000B) is below mtu (4096B)"},
        {"topology: single\nswitch: {pfc: {quanta: 0}}\n", NULL, "switch.pfc.quanta: \"0\" is out of range 1 to 65535"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const settings[] = {cases[i].setting, NULL};
        struct weft_error error;
        enum weft_status status = read_with(cases[i].text, settings, &error);
        for (uint32_t v = 0; !status && v < weft_scenario_variants(file); v++) {
            weft_scenario_free(scenario);
            scenario = NULL;
            status = weft_scenario_new(file, v, &scenario, &error);
        }
        if (status != WEFT_ERROR_INPUT) fail_msg("accepted: %s", cases[i].text);
        if (!strstr(error.text, cases[i].expected)) fail_msg("\"%s\" lacks \"%s\"", error.text, cases[i].expected);
        tear_down(NULL);
    }
}

static void fit(void **state) {
    (void)state;
    static const struct {
        const char *more, *expected; ///< NULL: it fits
    } cases[] = {
        {"", NULL},
        {"devices: [{match: switch-0}]\n", NULL},
        {"devices: [{match: switch-1}]\n", "s.yaml:2:19: devices.0.match: no node is called \"switch-1\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        snprintf(text, sizeof text, "topology: single\n%s", cases[i].more);
        bind(text, 0, NULL);
        struct weft_topology *t;
        struct weft_error error = {0};
        assert_int_equal(
            weft_topology_new(&scenario->topology, scenario->topology_tree, NULL, scenario->arena, &t, &error),
            WEFT_OK);
        enum weft_status status = weft_simulation_check(scenario, t, &error);
        assert_int_equal(status, cases[i].expected ? WEFT_ERROR_INPUT : WEFT_OK);
        if (status && !strstr(error.text, cases[i].expected))
            fail_msg("\"%s\" lacks \"%s\"", error.text, cases[i].expected);
    }
}

/// The example of docs/scenario.md is a scenario, in every variant.
static void example_in_docs(void **state) {
    (void)state;
    char path[4096], *text = calloc(1, 1 << 16);
    snprintf(path, sizeof path, "%s/docs/scenario.md", getenv("WEFT_ROOT"));
    FILE *docs = fopen(path, "r");
    assert_non_null(docs);
    size_t size = fread(text, 1, (1 << 16) - 1, docs);
    fclose(docs);
    assert_true(size > 0);
    char *begin = strstr(text, "```yaml\n"), *end = begin ? strstr(begin, "\n```\n") : NULL;
    assert_non_null(end);
    *end = 0;
    for (uint32_t variant = 0; variant < 3; variant++) {
        bind(begin + 8, variant, NULL);
        struct weft_topology *t;
        struct weft_workload *w = NULL;
        struct weft_error error = {0};
        if (weft_topology_new(&scenario->topology, scenario->topology_tree, scenario->events_tree, scenario->arena, &t,
                              &error) ||
            weft_simulation_check(scenario, t, &error) ||
            weft_workload_new(scenario->workload, scenario->workloads, t, 1, WEFT_TIME_NEVER, scenario->arena, &w,
                              &error))
            fail_msg("%s", error.text);
        assert_int_equal(w->flows, 4);
    }
    assert_int_equal(weft_scenario_variants(file), 3);
    free(text);
}

static const char with_cases[] = "topology: single\n"
                                 "switch: {buffer: {size: 800KB, xoff: 700KB, xon: 600KB}}\n"
                                 "variants: {pfc: , dcqcn: {host.cc: {kind: dcqcn, g: 1/16}}}\n"
                                 "cases:\n"
                                 "  '1':\n"
                                 "  '2.1': {switch.buffer.size: 1MB, variants.dcqcn.host.cc.g: 1/64}\n"
                                 "  more: {variants.both: {host.window: 1MB}}\n";

/// The value in force at `path`.
static char value[256];
static const char *wanted;

static void keep_wanted(void *context, const char *path, const char *text, const char *dflt) {
    (void)context;
    if (!strcmp(path, wanted)) snprintf(value, sizeof value, "%s", text);
}

static void value_is(const char *path, const char *expected) {
    wanted = path;
    snprintf(value, sizeof value, "nothing");
    weft_scenario_each(scenario, keep_wanted, NULL);
    assert_string_equal(value, expected);
}

/// For models in a map every parameter is listed; a name that refers to another one is as written.
static void models_in_a_map(void **state) {
    (void)state;
    static const char text[] = "topology:\n  kind: networks\n  networks: {a: {kind: single, hosts: 3}, b: a}\n"
                               "  machines: [{name: m, nics: {a: 2}}]\n";
    struct weft_error error = {0};
    assert_int_equal(weft_scenario_file_parse("m.yaml", text, sizeof text - 1, NULL, 0, &file, &error), WEFT_OK);
    assert_int_equal(weft_scenario_new(file, 0, &scenario, &error), WEFT_OK);
    value_is("topology.networks.a.kind", "single");
    value_is("topology.networks.a.hosts", "3");
    value_is("topology.networks.a.rate", "200Gbps");
    value_is("topology.networks.b", "a");
    value_is("topology.machines.0.nics.a", "2");
}

/// Every case has every variant, and may change them or have more.
static void cases(void **state) {
    (void)state;
    static const struct {
        const char *name, *case_name, *size, *cc, *window;
    } expected[] = {
        {"1/pfc", "1", "800KB", "none", "0B"},         {"1/dcqcn", "1", "800KB", "dcqcn", "0B"},
        {"2.1/pfc", "2.1", "1MB", "none", "0B"},       {"2.1/dcqcn", "2.1", "1MB", "dcqcn", "0B"},
        {"more/pfc", "more", "800KB", "none", "0B"},   {"more/dcqcn", "more", "800KB", "dcqcn", "0B"},
        {"more/both", "more", "800KB", "none", "1MB"},
    };
    for (uint32_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        bind(with_cases, i, NULL);
        assert_int_equal(weft_scenario_variants(file), sizeof expected / sizeof *expected);
        assert_string_equal(weft_scenario_variant_name(file, i), expected[i].name);
        assert_string_equal(scenario->variant, expected[i].name);
        assert_string_equal(scenario->case_name, expected[i].case_name);
        value_is("switch.buffer.size", expected[i].size);
        value_is("host.cc.kind", expected[i].cc);
        value_is("host.window", expected[i].window);
        if (i == 1) value_is("host.cc.g", "0.0625");
        if (i == 3) value_is("host.cc.g", "0.015625");
    }
    bind("topology: single\ncases: {a: , b: {host.mtu: 64B}}\n", 1, NULL); // cases without variants
    assert_int_equal(weft_scenario_variants(file), 2);
    assert_string_equal(scenario->variant, "b");
    assert_int_equal(scenario->device[0].host.mtu_bytes, 64);
}

static char base_folder[] = "/tmp/weft-test-base-XXXXXX";

static void write_text(const char *name, const char *text) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", base_folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static enum weft_status read_file(const char *name, struct weft_error *error) {
    char path[256];
    tear_down(NULL);
    *error = (struct weft_error){0};
    snprintf(path, sizeof path, "%s/%s", base_folder, name);
    return weft_scenario_file_read(path, NULL, 0, &file, error);
}

static void fails_with(const char *name, const char *expected) {
    struct weft_error error;
    enum weft_status status = read_file(name, &error);
    if (!status) status = weft_scenario_new(file, 0, &scenario, &error);
    assert_int_equal(status, WEFT_ERROR_INPUT);
    if (!strstr(error.text, expected)) fail_msg("\"%s\" lacks \"%s\"", error.text, expected);
}

/// A file over another over a third, claims and all; places of errors are those of the file that holds the mistake.
static void bases(void **state) {
    (void)state;
    static const char *const names[] = {"ground.yaml", "middle.yaml", "top.yaml",  "loop.yaml", "bad.yaml",
                                        "lost.yaml",   "claims.yaml", "same.yaml", "but.yaml",  "own.yaml"};
    assert_non_null(mkdtemp(base_folder));
    write_text(names[0], with_cases);
    write_text(names[1], "base: ground.yaml\nswitch.buffer.xoff: 650KB\nhost: {window: 5KB}\n");
    write_text(names[2], "base: middle.yaml\nname: top\ncases: {'1': {host.window: 6KB}, '2.1': , '2.2': {}}\n"
                         "variants: {pfc: {host.mtu: 1KB}}\n");
    write_text(names[3], "base: loop.yaml\n");
    write_text(names[4], "base: ground.yaml\nhost: {windo: 5KB}\n");
    write_text(names[5], "topology: single\nbase: nowhere.yaml\n");
    write_text(names[6], "topology: single\nclaims: [{text: a, that: 1 < 2}, {text: b, that: 2 < 3}]\n");
    write_text(names[7], "base: claims.yaml\n");
    write_text(names[8], "base: same.yaml\nclaims.1: {text: c}\n");
    write_text(names[9], "base: but.yaml\nclaims: [{text: d, that: 3 < 4}]\n");
    static const char *const claims[][2] = {{"a", "b"}, {"a", "c"}, {"d", NULL}};
    struct weft_error error;
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(read_file(names[7 + i], &error), WEFT_OK);
        const struct weft_tree *list = weft_scenario_claims(file);
        assert_int_equal(list->n, claims[i][1] ? 2 : 1);
        for (uint32_t c = 0; c < list->n; c++)
            assert_string_equal(weft_tree_find(list->child[c], "text")->text, claims[i][c]);
    }
    assert_int_equal(read_file("top.yaml", &error), WEFT_OK);
    assert_int_equal(weft_scenario_variants(file), 9);
    assert_int_equal(weft_scenario_new(file, 0, &scenario, &error), WEFT_OK);
    assert_string_equal(scenario->name, "top");
    assert_string_equal(scenario->variant, "1/pfc");
    value_is("switch.buffer.xoff", "650KB");
    value_is("host.window", "6KB");
    value_is("host.mtu", "1KB");
    assert_string_equal(weft_scenario_variant_name(file, 7), "2.2/pfc");
    fails_with("loop.yaml", "loop.yaml:1:7: base: more than 8 files");
    fails_with("bad.yaml", "bad.yaml:2:8: host.windo: unknown key");
    fails_with("lost.yaml", "lost.yaml:2:7: base: ");
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s/%s", base_folder, names[i]);
        unlink(path);
    }
    rmdir(base_folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(everything_has_a_default, tear_down),
        cmocka_unit_test_teardown(sections_and_devices, tear_down),
        cmocka_unit_test_teardown(variants_and_settings, tear_down),
        cmocka_unit_test_teardown(lists_are_listed, tear_down),
        cmocka_unit_test_teardown(flat_list_reads_back, tear_down),
        cmocka_unit_test_teardown(errors, tear_down),
        cmocka_unit_test_teardown(fit, tear_down),
        cmocka_unit_test_teardown(example_in_docs, tear_down),
        cmocka_unit_test_teardown(models_in_a_map, tear_down),
        cmocka_unit_test_teardown(cases, tear_down),
        cmocka_unit_test_teardown(bases, tear_down),
    };
    return cmocka_run_group_tests(tests, open_memory, close_memory);
}
