// SPDX-License-Identifier: Apache-2.0
// Clusters described as graphs: InfraGraph. What they become, and what is refused and where.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#include "import_files.h"

static const char *peer(const struct weft_topology *t, const char *name) {
    uint32_t port = weft_topology_find_port(t, name);
    if (port == WEFT_NONE) fail_msg("no port %s", name);
    return t->node[t->port[t->port[port].peer].node].name;
}

static char *import_one(const char *format, const char *path) {
    struct weft_error error;
    char *text = import(format, &path, 1, &error);
    assert_string_equal(error.text, "");
    return text;
}

static void has(const char *text, const char *what) {
    if (!strstr(text, what)) fail_msg("'%s' is not in:\n%s", what, text);
}

// --- InfraGraph ---------------------------------------------------------------------------------------------------

/// Edges of the sample by hand: NICs in the order of hosts, the first four ports of a leaf; then two links a spine.
static void infragraph_sample(void **state) {
    char path[256];
    snprintf(path, sizeof path, "%s/examples/import/infragraph/clos.yaml", getenv("WEFT_ROOT"));
    const char *paths[] = {path};
    char *text = import_one("infragraph", path);
    has(text, "8 hosts, 4 switches, 16 links");
    has(text, "{match: 'host.*', host: {drain_rate: 88Gbps}}");  // 11 GB/s
    has(text, "{match: 'leaf.*', switch: {processing: 500ns}}"); // 250 ns in, 250 ns out
    has(text, "server: {gpus: 2}");
    has(text, "links within servers host: pcie, nvlink");
    free(text);
    struct run r = run_import("infragraph", paths, 1);
    const struct weft_topology *t = r.topology;
    assert_int_equal(t->hosts, 8);
    assert_string_equal(peer(t, "leaf.0/port.0"), "host.0.nic.0");
    assert_string_equal(peer(t, "leaf.0/port.3"), "host.1.nic.1");
    assert_string_equal(peer(t, "leaf.1/port.2"), "host.3.nic.0");
    assert_string_equal(peer(t, "leaf.0/port.5"), "spine.0");
    assert_string_equal(peer(t, "leaf.0/port.6"), "spine.1");
    assert_string_equal(peer(t, "spine.1/port.3"), "leaf.1");
    const struct weft_link_info *l = &t->link[t->port[weft_topology_find_port(t, "leaf.0/port.0")].link];
    assert_int_equal(l->rate_bps, UINT64_C(100000000000));
    assert_int_equal(l->delay_ps, 15000);
    l = &t->link[t->port[weft_topology_find_port(t, "spine.1/port.3")].link];
    assert_int_equal(l->rate_bps, UINT64_C(200000000000));
    assert_int_equal(l->delay_ps, 250000);
    run_free(&r);
}

#define SWITCH "{\"name\": \"sw\", \"components\": [{\"name\": \"port\", \"count\": 64, \"choice\": \"port\"}]}"
#define CARD "{\"name\": \"cx\", \"components\": [{\"name\": \"port\", \"count\": 2, \"choice\": \"port\"}]}"
#define SERVER                                                                                                         \
    "{\"name\": \"dgx\", \"components\": [{\"name\": \"cx\", \"count\": 4, \"choice\": \"device\"},"                   \
    "{\"name\": \"nic\", \"count\": 1, \"choice\": \"nic\"}, {\"name\": \"xpu\", \"count\": 8, \"choice\": \"xpu\"}]}"
#define GRAPH(edges)                                                                                                   \
    "{\"devices\": [" SERVER "," CARD "," SWITCH "],\n\"links\": [{\"name\": \"e\", \"physical\": {\"bandwidth\": "    \
    "{\"gigatransfers_per_second\": 8}}}],\n\"instances\": [{\"name\": \"h\", \"device\": \"dgx\", \"count\": 3},"     \
    "{\"name\": \"s\", \"device\": \"sw\", \"count\": 2}],\n\"edges\": [" edges "]}\n"
#define EDGE(i1, c1, i2, c2, scheme)                                                                                   \
    "{\"ep1\": {\"instance\": \"" i1 "\", \"component\": \"" c1 "\"}, \"ep2\": {\"instance\": \"" i2                   \
    "\", \"component\": \"" c2 "\"}, \"scheme\": \"" scheme "\", \"link\": \"e\"}"

/// Devices within devices, slices with steps and backwards, numbers behind points; JSON.
static void infragraph_paths(void **state) {
    const char *path =
        put("graph.json",
            GRAPH(EDGE("h", "cx[0:4:2].port[1]", "s[0]", "port[5:0:-1]", "one2one") ",\n" EDGE(
                "h[1:3]", "cx.3.port.0", "s.1", "port",
                "one2one") ",\n" EDGE("s[0]", "port[10:12]", "s[1]", "port[10:12]",
                                      "one2one") ",\n" EDGE("s[0]", "port[20]", "s[0]", "port[21]", "one2one")));
    char *text = import_one("infragraph", path);
    has(text, "7 hosts, 2 switches, 9 links");
    has(text, "1 links from a switch to itself");
    has(text, "200Gbps for 9 links without a bandwidth, 9 of them with one in transfers (rate)");
    has(text, "8 xpus of each of the servers h");
    free(text);
    struct run r = run_import("infragraph", &path, 1);
    assert_string_equal(peer(r.topology, "s.0/port.5"), "h.0.cx.0.port.1");
    assert_string_equal(peer(r.topology, "s.0/port.4"), "h.0.cx.2.port.1");
    assert_string_equal(peer(r.topology, "s.0/port.1"), "h.2.cx.0.port.1");
    assert_string_equal(peer(r.topology, "s.1/port.1"), "h.2.cx.3.port.0");
    assert_string_equal(peer(r.topology, "s.0/port.11"), "s.1");
    run_free(&r);
}

/// Scale-up and scale-out: two networks, whose nodes have its name before theirs.
static void infragraph_parts(void **state) {
    const char *path =
        put("graph.json",
            GRAPH(EDGE("h", "nic", "s[0]", "port", "one2one") "," EDGE("h", "xpu[0:2]", "s[1]", "port", "one2one")));
    struct run r = run_import("infragraph", &path, 1);
    assert_int_equal(r.topology->networks, 2);
    assert_int_equal(r.topology->hosts, 9);
    assert_string_equal(peer(r.topology, "part-0-s.0/port.2"), "part-0-h.2.nic.0");
    assert_string_equal(peer(r.topology, "part-1-s.1/port.3"), "part-1-h.1.xpu.1");
    run_free(&r);
}

static void infragraph_many2many_and_switches(void **state) {
    struct weft_error error;
    const char *path =
        put("graph.json", GRAPH(EDGE("h[0]", "nic", "s[0]", "port[0]", "one2one") ",\n" EDGE(
                              "h[1]", "nic", "s[1]", "port[0]", "one2one") ",\n" EDGE("s[0]", "port[1:3]", "s[1]",
                                                                                      "port[1:3]", "many2many")));
    char *text = import("infragraph", &path, 1, &error); // four links between two ports each: a port has one cable
    has(error.text, "a second port port.1 at s.0");
    free(text);
    path = put("graph.json", GRAPH(EDGE("h[0:3]", "nic", "s[0]", "port[7]", "many2many")));
    text = import("infragraph", &path, 1, &error);
    has(error.text, "a second port port.7 at s.0");
    free(text);
}

static void what_infragraph_cannot_say(void **state) {
    static const struct bad_file bad[] = {
        {"infragraph", GRAPH(EDGE("h[0:4]", "nic", "s", "port", "one2one")),
         ":4:11: 'h[0:4]' asks for numbers 0 to 3; expected 0 to 2"},
        {"infragraph", GRAPH(EDGE("h[2:1]", "nic", "s", "port", "one2one")), ":4:11: 'h[2:1]' chooses nothing"},
        {"infragraph", GRAPH(EDGE("h[0:2:0]", "nic", "s", "port", "one2one")), "'h[0:2:0]': expected names with"},
        {"infragraph", GRAPH(EDGE("h[]", "nic", "s", "port", "one2one")), "'h[]': expected names with"},
        {"infragraph", GRAPH(EDGE("h[-1]", "nic", "s", "port", "one2one")), "'h[-1]' asks for numbers -1 to -1"},
        {"infragraph", GRAPH(EDGE("h[1", "nic", "s", "port", "one2one")), "'h[1': expected names with"},
        {"infragraph", GRAPH(EDGE("hh", "nic", "s", "port", "one2one")), ":4:11: no instance 'hh'; did you mean 'h'?"},
        {"infragraph", GRAPH(EDGE("h", "nick", "s", "port", "one2one")),
         ":4:11: no component of device 'dgx' 'nick'; did you mean 'nic'?"},
        {"infragraph", GRAPH(EDGE("h", "cx[0]", "s", "port", "one2one")), "'cx[0]' is a whole device"},
        {"infragraph", GRAPH(EDGE("h", "nic.port", "s", "port", "one2one")), "nic is no device"},
        {"infragraph", GRAPH(EDGE("h", "nic", "s", "port", "ring")), "ring"},
        {"infragraph", GRAPH(""), ":1:1: no edges between instances"},
        {"infragraph", GRAPH(EDGE("h[0]", "nic", "h[1]", "nic", "one2one")), "linked directly; expected a switch"},
        {"infragraph", GRAPH("{\"scheme\": \"one2one\", \"link\": \"e\"}"), ":4:11: an edge without ep1"},
        {"infragraph", "devices:\n- {name: a, components: [{name: a, count: 1, choice: device}]}\n",
         ":2:3: device 'a' is within itself"},
        {"infragraph", "devices:\n- {name: a, components: [{name: b, count: 1, choice: gpu}]}\n",
         ":2:54: component.choice: no choice"},
        {"infragraph", "devices:\n- {name: a, components: []}\n- {name: a}\n", ":3:3: a second device 'a'"},
        {"infragraph", "devices:\n- {name: a, components: []}\nconnections: []\n", ":3:1: "},
        {"infragraph", "devices: 1\ncomponents: 2\n", ":2:1: "},
        {"infragraph", "devices:\n- {name: a, components: [}\n", ":2:"},
    };
    refuse_all(bad, sizeof bad / sizeof *bad);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(infragraph_sample),          cmocka_unit_test(infragraph_paths),
        cmocka_unit_test(infragraph_parts),           cmocka_unit_test(infragraph_many2many_and_switches),
        cmocka_unit_test(what_infragraph_cannot_say),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
