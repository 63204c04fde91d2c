// SPDX-License-Identifier: Apache-2.0
// Networks described as graphs: InfraGraph, cables, SONiC neighbours, GraphML. What they become, and what is refused
// and where.
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

/// Devices within devices, slices with steps and backwards, numbers after points; JSON.
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

/// Scale-up and scale-out: two networks, whose names precede those of their nodes.
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

/// Port 62 of each switch is cabled to port 63 of the next one, and that of the last to the first. The file is
/// compressed, and line numbers refer to its content.
static void infragraph_ring_compressed(void **state) {
    char command[600];
    const char *path =
        put("ring.json",
            "{\"devices\": [" SWITCH ", {\"name\": \"h\", \"components\": [{\"name\": \"nic\", "
            "\"count\": 1, \"choice\": \"nic\"}]}],\n\"links\": [{\"name\": \"e\"}],\n"
            "\"instances\": [{\"name\": \"h\", \"device\": \"h\", \"count\": 4}, {\"name\": "
            "\"s\", \"device\": \"sw\", \"count\": 4}],\n\"edges\": [" EDGE(
                "h", "nic", "s", "port[0]", "one2one") ",\n" EDGE("s", "port[62]", "s", "port[63]", "ring") "]}\n");
    snprintf(command, sizeof command, "gzip -kf '%s' && sed 's/\"ring/\"rung/' '%s' | gzip >'%s/bad.gz'", path, path,
             folder);
    assert_int_equal(system(command), 0);
    char packed[2][300];
    snprintf(packed[0], sizeof packed[0], "%s.gz", path);
    snprintf(packed[1], sizeof packed[1], "%s/bad.gz", folder);
    const char *paths[] = {packed[0], packed[1]};
    struct run r = run_import("infragraph", paths, 1);
    assert_int_equal(r.topology->links, 8);
    assert_string_equal(peer(r.topology, "s.0/port.62"), "s.1");
    assert_string_equal(peer(r.topology, "s.1/port.63"), "s.0");
    assert_string_equal(peer(r.topology, "s.3/port.62"), "s.0");
    assert_string_equal(peer(r.topology, "s.0/port.63"), "s.3");
    run_free(&r);
    struct weft_error error;
    free(import("infragraph", &paths[1], 1, &error));
    has(error.text, "bad.gz:5:");
}

/// Devices in files of their own, alone or in a list: read in place too. An instance without a device is left out
/// unless an edge ends at it.
static void infragraph_files(void **state) {
    remove(put("graph.json", "")); // of another test
    struct weft_error error;
    const char *path[] = {
        put("net.json",
            "{\"links\": [{\"name\": \"e\"}],\n\"instances\": [{\"name\": \"h\", \"device\": \"dgx\", "
            "\"count\": 3}, {\"name\": \"s\", \"device\": \"sw\", \"count\": 1}, {\"name\": \"r\", "
            "\"device\": \"router\", \"count\": 1}],\n\"edges\": [" EDGE("h", "nic", "s[0]", "port", "one2one") "]}\n"),
        put("devices.json", "{\"devices\": [" SERVER "," CARD "]}\n"),
        put("switch.json", SWITCH),
    };
    char *text = import("infragraph", path, 3, &error);
    has(text, "3 hosts, 1 switch, 3 links");
    has(text, "switch.json (device)");
    has(text, "instance r: no edge ends at it, and no file defines its device 'router'");
    free(text);
    struct run r = run_import("infragraph", path, 3);
    assert_string_equal(peer(r.topology, "s.0/port.2"), "h.2.nic.0");
    run_free(&r);
    free(import("infragraph", path, 2, &error));
    has(error.text, "net.json:2:");
    has(error.text, "no device 'sw' in the files given; ");
    has(error.text, "/switch.json defines it: expected that file, too");
    const char *twice[] = {path[0], path[1], path[2], path[2]};
    free(import("infragraph", twice, 4, &error));
    has(error.text, "switch.json:1:1: a second device 'sw'");
    const char *wrong[] = {path[1], put("wrong.json", "{\"devices\": 5, \"components\": [], \"choice\": 1}")};
    free(import("infragraph", wrong, 2, &error));
    has(error.text, "wrong.json:1:13: devices: expected a list");
    const char *alone = path[2];
    free(import("infragraph", &alone, 1, &error));
    has(error.text, "no edges between instances; ");
    has(error.text, "/net.json has instances of 'sw': expected that file, too");
    remove(put("net.json", ""));
    free(import("infragraph", &alone, 1, &error));
    has(error.text, "expected the links of a network: the file with instances of these devices, too");
    const char *within = put("within.json", "{\"name\": \"card\", \"components\": [{\"name\": \"absent\", \"choice\": "
                                            "\"device\", \"count\": 1}]}");
    free(import("infragraph", &within, 1, &error));
    has(error.text, "within.json:1:33: no device 'absent'; expected a file that defines it, beside the others");
}

/// The first schema had no counts: there are as many as connections mention.
static void infragraph_without_counts(void **state) {
    const char *path[] = {
        put("net.yaml", "infrastructure:\n"
                        "  links: [{name: eth, bandwidth: {choice: gigabytes_per_second, gigabytes_per_second: 50}}]\n"
                        "  instances: [{name: leaf, device: generic-switch}, {name: server, device: generic-server}]\n"
                        "  connections:\n"
                        "  - server.0.nic.0.eth.leaf.0.port.0\n  - server.0.nic.1.eth.leaf.1.port.0\n"
                        "  - server.2.nic.0.eth.leaf.0.port.1\n  - leaf.0.port.2.eth.leaf.1.port.2\n"),
        put("server.yaml",
            "infrastructure:\n  devices:\n  - name: generic-server\n    components: [{name: npu, type: npu}, "
            "{name: nic, type: nic, external: true}]\n    links: [{name: pcie}]\n"
            "    connections: [npu.0.pcie.nic.0, npu.0.pcie.nic.1]\n"),
        put("switch.yaml", "infrastructure:\n  devices:\n  - name: generic-switch\n    components: [{name: asic, type: "
                           "custom}, {name: port, type: nic, external: true}]\n    links: [{name: ic}]\n"
                           "    connections: [asic.0.ic.port.0, asic.0.ic.port.1, asic.0.ic.port.2]\n"),
    };
    struct run r = run_import("infragraph", path, 3);
    assert_int_equal(r.topology->hosts, 3);
    assert_string_equal(peer(r.topology, "leaf.0/port.1"), "server.2.nic.0");
    assert_string_equal(peer(r.topology, "leaf.0/port.2"), "leaf.1");
    run_free(&r);
}

/// Before schema 1.0: connections, which say every link, here of instances in their devices.
#define OLD(connections)                                                                                               \
    "name: old\n"                                                                                                      \
    "links: [{name: eth, physical: {bandwidth: {choice: g_bits_per_second, g_bits_per_second: 100}}}]\n"               \
    "devices:\n"                                                                                                       \
    "- {name: server, components: [{name: npu, type: npu, count: 2}, {name: nic, type: nic, count: 2, external: "      \
    "true}]"                                                                                                           \
    ", links: [{name: pcie, choic: bandwidth, bandwidth: {giga_bytes_per_second: 11}}], connections: "                 \
    "[npu.0.pcie.nic.0, npu.1.pcie.nic.1],\n"                                                                          \
    "   instances: [{name: host, count: 2}]}\n"                                                                        \
    "- {name: switch, components: [{name: port, type: custom, count: 4, external: true}],\n"                           \
    "   instances: [{name: leaf, count: 1}]}\n"                                                                        \
    "connections:\n" connections

/// With a list of cables beside it a config_db.json is one of them; alone it is read whole.
static void a_config_db_alone_is_sonics(void **state) {
    const char *db = put("leaf-1.json",
                         "{\"PORT\": {\"Ethernet0\": {\"speed\": \"100000\", \"lanes\": \"0\"}, \"Ethernet8\": "
                         "{\"speed\": \"100000\", \"lanes\": \"1\"}}, \"DEVICE_NEIGHBOR\": {\"Ethernet0\": "
                         "{\"name\": \"a\"}, \"Ethernet8\": {\"name\": \"b\"}}}"),
               *list = put("more.csv", "device a,port a,device b,port b\nleaf-1,Ethernet16,c,eth0\n");
    char command[900];
    for (int k = 0; k < 2; k++) {
        snprintf(command, sizeof command,
                 "\"$WEFT\" import %s %s --out %s/o.yaml --force && grep -q 'weft import %s of' %s/o.yaml", db,
                 k ? list : "", folder, k ? "cables" : "sonic", folder);
        assert_int_equal(system(command), 0);
    }
}

static void what_infragraph_cannot_say(void **state) {
    static const struct bad_file bad[] = {
        {"infragraph",
         "devices: [{name: d, components: [{name: nic, count: 0, choice: nic}]}]\ninstances: [{name: h, device: d, "
         "count: "
         "2}]\nlinks: [{name: e}]\nedges: [{ep1: {instance: 'h[0]', component: 'nic[0]'}, ep2: {instance: 'h[1]', "
         "component: 'nic[0]'}, scheme: one2one, link: e}]\n",
         "'nic[0]' chooses of none: its count is 0"},
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
        {"infragraph", GRAPH(EDGE("h", "nic.port", "s", "port", "one2one")), "nic is not a device"},
        {"infragraph", GRAPH(EDGE("h", "nic", "s", "port[0:4]", "ring")),
         ":4:11: a ring from 3 to 8 components; expected as many of both, at least 2"},
        {"infragraph", GRAPH(EDGE("s[0]", "port[0]", "s[0]", "port[1]", "ring")), ":4:11: a ring from 1 to 1"},
        {"infragraph", GRAPH(EDGE("h", "nic", "s", "port", "star")), "star"},
        {"infragraph", GRAPH(""), ":1:1: no edges between instances"},
        {"infragraph", GRAPH(EDGE("h[0]", "nic", "h[1]", "nic", "one2one")), "linked directly; expected a switch"},
        {"infragraph", GRAPH("{\"scheme\": \"one2one\", \"link\": \"e\"}"), ":4:11: an edge without ep1"},
        {"infragraph", "devices:\n- {name: a, components: [{name: a, count: 1, choice: device}]}\n",
         ":2:3: device 'a' is within itself"},
        {"infragraph", "devices:\n- {name: a, components: [{name: b, count: 1, choice: gpu}]}\n",
         ":2:54: component.choice: no choice"},
        {"infragraph", "devices:\n- {name: a, components: []}\n- {name: a}\n", ":3:3: a second device 'a'"},
        {"infragraph", "devices:\n- {name: a, components: []}\nconnections: []\n", ":1:1: no edges"},
        {"infragraph", OLD("- host.0.nic.0.eth.leaf.0.port\n"),
         ":9:3: 'host.0.nic.0.eth.leaf.0.port' is not a connection"},
        {"infragraph", OLD("- host.0.nic.0.eth.leaf.x.port.0\n"), "expected instance.N.component.N.link.instance.N"},
        {"infragraph", OLD("- host.0.nic.0.eth.leaf.0.port.9\n"), ":9:3: "},
        {"infragraph", OLD("- host.0.nic.0.fc.leaf.0.port.0\n"), ":9:3: no link 'fc'"},
        {"infragraph", OLD("- host.0.nic.0.eth.leaf.0.port.0\nedges: []\n"), ":10:1: 'edges' is not a key of a file"},
        {"infragraph", "devices: 1\ncomponents: 2\n", ":2:1: "},
        {"infragraph", "devices:\n- {name: a, components: [}\n", ":2:"},
    };
    refuse_all(bad, sizeof bad / sizeof *bad);
}

static const char four_links[] = OLD("- host.0.nic.0.eth.leaf.0.port.0\n"
                                     "- host.0.nic.1.eth.leaf.0.port.2\n"
                                     "- leaf.0.port.1.eth.host.1.nic.0\n");

static void infragraph_connections(void **state) {
    const char *path = put("old.yaml", four_links);
    char *text = import_one("infragraph", path);
    has(text, "3 hosts, 1 switch, 3 links");
    has(text, "{match: 'host.*', host: {drain_rate: 88Gbps}}");
    free(text);
    struct run r = run_import("infragraph", &path, 1);
    assert_string_equal(peer(r.topology, "leaf.0/port.0"), "host.0.nic.0");
    assert_string_equal(peer(r.topology, "leaf.0/port.1"), "host.1.nic.0");
    assert_string_equal(peer(r.topology, "leaf.0/port.2"), "host.0.nic.1");
    assert_int_equal(r.topology->link[0].rate_bps, UINT64_C(100000000000));
    run_free(&r);
}

/// Without instances a device is an instance with its own name, as many times as connections mention.
static void infragraph_without_instances(void **state) {
    const char *path = put("old.json", "{\"connections\": [\"server.0.nic.0.eth.sw.0.port.0\", "
                                       "\"server.2.nic.0.eth.sw.0.port.1\"], \"links\": [{\"name\": \"eth\"}], "
                                       "\"devices\": [{\"name\": \"server\", \"components\": [{\"name\": \"nic\", "
                                       "\"type\": \"nic\", \"count\": 1}, {\"name\": \"xpu\", \"type\": \"xpu\", "
                                       "\"count\": 1}]}, {\"name\": \"sw\", \"components\": "
                                       "[{\"name\": \"port\", \"type\": \"nic\", \"count\": 2}]}]}");
    struct run r = run_import("infragraph", &path, 1);
    assert_int_equal(r.topology->hosts, 2);
    assert_string_equal(peer(r.topology, "sw.0/port.1"), "server.2.nic.0");
    run_free(&r);
}

// --- cables -------------------------------------------------------------------------------------------------------

static const struct weft_link_info *link_of(const struct weft_topology *t, const char *port) {
    uint32_t p = weft_topology_find_port(t, port);
    if (p == WEFT_NONE) fail_msg("no port %s", port);
    return &t->link[t->port[p].link];
}

static void cables_sample(void **state) {
    char path[256];
    snprintf(path, sizeof path, "%s/examples/import/cables/cables.csv", getenv("WEFT_ROOT"));
    const char *paths[] = {path};
    char *text = import_one("cables", path);
    has(text, "8 devices: 4 hosts, 4 switches, 8 cables");
    has(text, "those with one cable are hosts (hosts)");
    free(text);
    struct run r = run_import("cables", paths, 1);
    assert_string_equal(peer(r.topology, "leaf-1/Ethernet8"), "server-3");
    assert_string_equal(peer(r.topology, "spine-1/Ethernet8"), "leaf-1");
    assert_int_equal(link_of(r.topology, "leaf-1/Ethernet8")->rate_bps, UINT64_C(200000000000));
    assert_int_equal(link_of(r.topology, "leaf-1/Ethernet8")->delay_ps, 15000);   // 3 m of 5 ns
    assert_int_equal(link_of(r.topology, "spine-1/Ethernet8")->delay_ps, 200000); // 40 m
    run_free(&r);
}

/// Two hosts, each with a cable to both leaves: one host a cable, or two networks in each of which a host has a port.
static void cables_of_dual_tors(void **state) {
    static const char text[] = "device_a,port_a,device_b,port_b,speed\n"
                               "gpu-0,eth0,leaf-0,Ethernet0,200000\ngpu-0,eth1,leaf-1,Ethernet0,200000\n"
                               "gpu-1,eth1,leaf-1,Ethernet4,200000\ngpu-1,eth0,leaf-0,Ethernet4,200000\n"
                               "leaf-0,Ethernet8,spine-0,Ethernet0,400000\nleaf-1,Ethernet8,spine-0,Ethernet4,400000\n";
    const char *path = put("dual.csv", text);
    char *made = import_set("cables", "hosts: gpu-*", &path, 1);
    has(made, "2 hosts have several cables: each cable has a host of its own");
    assert_null(strstr(made, "planes: queue_pair"));
    free(made);
    made = import_set("cables", "{hosts: gpu-*, planes: on}", &path, 1);
    has(made, "  planes: on\n");
    has(made, "  planes: queue_pair\n");
    has(made, "planes share 1 switch");
    const char *scenario = put("dual.yaml", made);
    struct run r = {0};
    if (weft_scenario_file_read(scenario, NULL, 0, &r.file, &r.error) || run_bind(&r, 0)) fail_msg("%s", r.error.text);
    assert_int_equal(r.topology->networks, 2);
    assert_string_equal(peer(r.topology, "plane-0-leaf-0/Ethernet4"), "plane-0-gpu-1");
    assert_string_equal(peer(r.topology, "plane-1-leaf-1/Ethernet4"), "plane-1-gpu-1");
    assert_int_equal(r.topology->links, 2 * 3);
    r.outcome = run_again(&r, 1, made);
    assert_int_equal(r.status, WEFT_OK);
    run_free(&r);
    free(made);
}

/// A graph whose hosts have two links each.
static void a_graph_of_dual_tors(void **state) {
    static const char text[] =
        "{\"directed\": false, \"multigraph\": false,\n"
        "\"nodes\": [{\"id\": \"g0\", \"type\": \"host\"}, {\"id\": \"g1\", \"type\": \"host\"},\n"
        "{\"id\": \"t0\", \"type\": \"switch\"}, {\"id\": \"t1\", \"type\": \"switch\"}],\n"
        "\"links\": [{\"source\": \"g0\", \"target\": \"t0\"}, {\"source\": \"g0\", \"target\": \"t1\"},\n"
        "{\"source\": \"g1\", \"target\": \"t0\"}, {\"source\": \"g1\", \"target\": \"t1\"}]}\n";
    const char *path = put("dual.json", text);
    struct run r = run_import("networkx", &path, 1);
    assert_int_equal(r.topology->networks, 2);
    assert_int_equal(r.topology->hosts, 4);
    assert_string_equal(r.topology->node[r.topology->host[0]].name, "plane-0-g0");
    assert_int_equal(r.scenario->device[0].host.planes, WEFT_PLANES_QUEUE_PAIR);
    run_free(&r);
}

/// A list that is given twice is no network of twice as many cables.
static void cables_twice(void **state) {
    char path[256];
    struct weft_error error;
    snprintf(path, sizeof path, "%s/examples/import/cables/cables.csv", getenv("WEFT_ROOT"));
    const char *paths[] = {path, path};
    char *text = import("cables", paths, 2, &error);
    has(error.text, "is there twice; expected each file once");
    assert_string_equal(text, "");
    free(text);
}

/// A server with two NICs is two hosts; a cable that both ends list is one; names that weft has not; roles in the file.
static void cables_by_hand(void **state) {
    const char *path = put("cables.csv", "Source;Source Port;Destination;Destination Port;speed;role a;role b;note\n"
                                         "gpu-0;eth0;tor-0;1/1;100000;server;leaf;x\n"
                                         "gpu-0;eth1;tor-1;E1/1;100000;server;leaf;\n"
                                         "tor-0;E1/2;tor-1;E1/2;400G;leaf;leaf;\n"
                                         "tor-1;E1/2;tor-0;E1/2;400G;leaf;leaf;\n"
                                         "tor-1;E1/3;gpu-1;;100Gbps;leaf;server;\n");
    char *text = import_one("cables", path);
    has(text, "4 devices: 3 hosts, 2 switches, 4 cables");
    has(text, "1 cables are told from both ends");
    has(text, "1 hosts have several cables");
    has(text, "1 names of ports");
    has(text, "columns note");
    has(text, "150ns for 4 cables without a length (delay)");
    free(text);
    struct run r = run_import("cables", &path, 1);
    assert_string_equal(peer(r.topology, "tor-0/0"), "gpu-0.eth0");
    assert_string_equal(peer(r.topology, "tor-1/E1/1"), "gpu-0.eth1");
    assert_int_equal(link_of(r.topology, "tor-0/E1/2")->rate_bps, UINT64_C(400000000000));
    assert_int_equal(r.topology->links, 4);
    run_free(&r);
}

#define HEARD(port, name, id, type)                                                                                    \
    "\"" port "\": {\"via\": \"LLDP\", \"chassis\": {\"" name "\": {\"id\": {\"type\": \"mac\", \"value\": \"0:1\"}, " \
    "\"capability\": [{\"type\": \"Bridge\", \"enabled\": " type "}, {\"type\": \"Station\", \"enabled\": true}]}}, "  \
    "\"port\": {\"id\": {\"type\": \"ifname\", \"value\": \"" id "\"}}}"
#define HEARD0(port, name, id)                                                                                         \
    "{\"name\": \"" port "\", \"chassis\": [{\"name\": [{\"value\": \"" name "\"}], \"capability\": [{\"type\": "      \
    "\"Router\", \"enabled\": true}]}], \"port\": [{\"id\": [{\"type\": \"ifname\", \"value\": \"" id "\"}]}]}"

/// Two switches that hear each other, one in each of lldpctl's forms; the second cable between them under other names.
static void neighbours_heard_from_both_ends(void **state) {
    const char *path[] = {
        put("leaf-0.lldp.json",
            "{\"lldp\": {\"interface\": [{" HEARD("Ethernet0", "gpu-0", "eth0", "false") "}, {" HEARD(
                "Ethernet4", "leaf-1", "swp1", "true") "},\n{" HEARD("Ethernet8", "leaf-1", "alias9", "true") "}]}}"),
        put("leaf-1.json", "{\"lldp\": [{\"interface\": [" HEARD0("swp1", "leaf-0", "Ethernet4") ",\n" HEARD0(
                               "swp9", "leaf-0", "alias8") "," HEARD0("swp2", "gpu-1", "eth0") "]}]}")};
    struct weft_error error;
    char *text = import("cables", path, 2, &error);
    has(error.text, "the network has 1 host(s)"); // gpu-1 says that it routes
    free(text);
    text = import_set("cables", "{hosts: 'gpu-*', ignore: eth9}", path, 2);
    has(text, "4 devices: 2 hosts, 2 switches, 4 cables");
    has(text, "2 cables are told from both ends");
    has(text, "1 cables whose ends call the ports by different names");
    has(text, "200Gbps for 4 cables without a speed");
    has(text, "hosts: 'gpu-*'");
    free(text);
}

#define BODY(name, own, port, other, there, length)                                                                    \
    "\"DEVICE_METADATA\": {\"localhost\": {\"hostname\": \"" name                                                      \
    "\"}},\n\"PORT\": {\"Ethernet0\": {\"lanes\": \"1\", "                                                             \
    "\"speed\": \"100000\"}, \"" port                                                                                  \
    "\": {\"lanes\": \"2\", \"speed\": \"400000\"}},\n\"CABLE_LENGTH\": {\"AZURE\": "                                  \
    "{\"" port "\": \"" length "\"}},\n\"DEVICE_NEIGHBOR\": {\"Ethernet0\": {\"name\": \"" own                         \
    "\", \"port\": \"eth0\"}, "                                                                                        \
    "\"" port "\": {\"name\": \"" other "\", \"port\": \"" there "\"}}"
#define CONFIG(...) "{" BODY(__VA_ARGS__) "}"
#define POOL(size)                                                                                                     \
    ",\n\"BUFFER_POOL\": {\"in\": {\"type\": \"ingress\", \"mode\": \"dynamic\", \"size\": \"" size "\"}},\n"          \
    "\"BUFFER_PROFILE\": {\"p\": {\"pool\": \"in\", \"size\": \"20000\", \"xoff\": \"10000\", \"dynamic_th\": "        \
    "\"0\"}},\n"                                                                                                       \
    "\"BUFFER_PG\": {\"Ethernet0|3\": {\"profile\": \"p\"}}"
#define POOLED(size, ...) "{" BODY(__VA_ARGS__) POOL(size) "}"

static void neighbours_of_sonic(void **state) {
    const char *path[] = {put("a.json", CONFIG("leaf-0", "gpu-0", "Ethernet4", "leaf-1", "Ethernet8", "5m")),
                          put("b.json", CONFIG("leaf-1", "gpu-1", "Ethernet8", "leaf-0", "Ethernet4", "40m"))};
    struct run r = run_import("cables", path, 2);
    assert_int_equal(r.topology->links, 3);
    assert_string_equal(peer(r.topology, "leaf-0/Ethernet4"), "leaf-1");
    assert_string_equal(peer(r.topology, "leaf-1/Ethernet0"), "gpu-1");
    assert_int_equal(link_of(r.topology, "leaf-1/Ethernet0")->rate_bps, UINT64_C(100000000000));
    assert_int_equal(link_of(r.topology, "leaf-1/Ethernet8")->delay_ps, 200000); // the longer of the two that are said
    run_free(&r);
}

/// Two switches with pools of 10 and 20 MB, one of them with a third as neighbour: each keeps its own.
static void several_sonic_switches(void **state) {
    const char *path[] = {
        put("a.json", POOLED("10000000", "leaf-0", "gpu-0", "Ethernet4", "leaf-1", "Ethernet8", "5m")),
        put("b.json", POOLED("20000000", "leaf-1", "gpu-1", "Ethernet8", "leaf-0", "Ethernet4", "5m")),
        put("c.json", CONFIG("leaf-1", "gpu-1", "Ethernet8", "leaf-0", "Ethernet4", "5m")),
        put("d.json", CONFIG("", "gpu-1", "Ethernet8", "leaf-0", "Ethernet4", "5m"))};
    struct weft_error error;
    char *text = import("sonic", path, 2, &error);
    assert_string_equal(error.text, "");
    has(text, "2 hosts, 2 switches, 3 cables by DEVICE_NEIGHBOR");
    has(text, "leaf-1: total: 19980KB that groups share"); // 20 MB less the 20 KB of a group; 2 x 8 reserves besides
    has(text, "- match: leaf-0\n  switch:\n    buffer: {kind: dynamic, total: 10140000B");
    has(text, "- match: leaf-1\n  switch:\n    buffer: {kind: dynamic, total: 20140000B");
    has(text, "- match: 'gpu-0,gpu-1'\n  host:\n    pfc: {priorities: none}\n");
    free(text);
    struct run r = run_import("sonic", path, 2);
    assert_string_equal(peer(r.topology, "leaf-0/Ethernet4"), "leaf-1");
    run_free(&r);
    text = import("sonic", (const char *[]){path[1], path[2]}, 2, &error);
    has(error.text, "c.json: DEVICE_METADATA|localhost.hostname: 'leaf-1' is that of");
    free(text);
    text = import("sonic", (const char *[]){path[1], path[3]}, 2, &error);
    has(error.text, "d.json: DEVICE_METADATA|localhost.hostname: ''; expected the name of a switch");
    free(text);
}

#define LINE(fields) "device a,port a,device b,port b,speed,length\n" fields "\n"

static void what_cables_cannot_be(void **state) {
    static const struct bad_file bad[] = {
        {"cables", LINE("a,p,b,q,100,1"),
         ":2:9: '100'; expected 1Gbps to 100Tbps of a number without a unit (speed_unit"},
        {"cables", LINE("a,p,b,q,fast,1"), ":2:9: "},
        {"cables", LINE("a,p,b,q,100G,0"), ":2:14: '0'; expected 1mm to 1000km"},
        {"cables", LINE("a,p,b,q"), ":2:"},
        {"cables", LINE(",p,b,q,100G,1"), ":2:1: device A is empty"},
        {"cables", LINE("a,p,a,q,100G,1"), ":2:1: a cable from a to itself"},
        {"cables", LINE("a,p,b,q,100G,1\na,p,b,r,100G,1"), "at least two"},
        {"cables", LINE("a,p,b,q,100G,1\nb,q,a,p,200G,1"), ":3:1: the speed is not that of the other end"},
        {"cables", LINE("a,,s,p1,100G,1\nb,,s,p1,100G,1"), ":3:1: a second port p1 at s (the first is on line 2)"},
        {"cables", LINE("a,,s,1/1,100G,1\nb,,s,1/1,100G,1"), ":3:1: a second port 1/1 at s (the first is on line 2)"},
        {"cables", LINE(""), "no cable is in it"},
        {"cables", "a,b\n1,2\n", "does not begin a file of cables"},
        {"cables", "{\"lldp\": {}}", ":1:10: no 'interface' in 'lldp'"},
        {"cables", "{\"lldp\": {\"interface\": {\"e\": {}}}}", ":1:30: a neighbour without a chassis"},
        {"cables", "{\"lldp\": {\"interface\": [1]}}", ":1:25: expected interfaces"},
        {"cables", "{\"lldp\": ", ":1:"},
        {"cables", "{\"DEVICE_NEIGHBOR\": {}}", ":1:1: neither 'lldp'"},
    };
    refuse_all(bad, sizeof bad / sizeof *bad);
}

// --- GraphML ------------------------------------------------------------------------------------------------------

static void graphml_sample(void **state) {
    char path[256];
    snprintf(path, sizeof path, "%s/examples/import/graphml/graph.graphml", getenv("WEFT_ROOT"));
    const char *paths[] = {path};
    char *text = import_one("graphml", path);
    has(text, "4 hosts, 3 switches, 6 links");
    assert_null(strstr(text, "Assumed, as the files do not say it:\n# - 200Gbps"));
    free(text);
    struct run r = run_import("graphml", paths, 1);
    const struct weft_link_info *host = link_of(r.topology, "leaf-1->server-3"),
                                *up = link_of(r.topology, "leaf-1->spine-0");
    assert_int_equal(host->rate_bps, UINT64_C(200000000000)); // the key's default
    assert_int_equal(host->delay_ps, 15000);
    assert_int_equal(up->rate_bps, UINT64_C(400000000000));
    assert_int_equal(up->delay_ps, 150000);
    run_free(&r);
}

#define GRAPHML(inside) "<graphml><key id='k' for='edge' attr.name='rate'/><key id='y'/>\n" inside "</graphml>"

/// Numbers as ids, drawing within data, parallel edges, directed ones in both directions.
static void graphml_by_hand(void **state) {
    const char *path = put(
        "g.graphml",
        GRAPHML(
            "<graph edgedefault='directed'><node id='0'><data key='y'><y:Shape><y:Label>no</y:Label></y:Shape></data>"
            "</node><node id='1'/><node id='7'/><edge source='0' target='7'/><edge source='7' target='0'/>"
            "<edge source='1' target='7'><data key='k'> 100Gbps\n</data></edge><edge source='7' target='1'>"
            "<data key='k'>100Gbps</data></edge></graph>"));
    struct run r = run_import("graphml", &path, 1);
    assert_int_equal(r.topology->links, 2);
    assert_string_equal(peer(r.topology, "switch-7/0"), "host-0");
    assert_int_equal(link_of(r.topology, "switch-7/0")->rate_bps, UINT64_C(200000000000));
    assert_int_equal(link_of(r.topology, "switch-7/1")->rate_bps, UINT64_C(100000000000));
    run_free(&r);
}

static void what_graphml_cannot_say(void **state) {
    static const struct bad_file bad[] = {
        {"graphml", "<graphml><graph><node/></graph></graphml>", ":1:17: <node> has no attribute 'id'"},
        {"graphml", GRAPHML("<node id='0'/>"), ":2:1: <node> outside a graph"},
        {"graphml", GRAPHML("<graph><node id='0'><node id='1'/></node></graph>"), ":2:21: <node> outside a graph"},
        {"graphml", GRAPHML("<graph><node id='0'><graph/></node></graph>"), ":2:21: a second graph"},
        {"graphml", GRAPHML("<graph edgedefault='both'/>"), ":2:1: edgedefault 'both'"},
        {"graphml", GRAPHML("<graph><node id='0'/><node id='0'/></graph>"), ":2:22: a second node with the id"},
        {"graphml", GRAPHML("<graph><node id='0'/><edge source='0' target='1'/></graph>"), ":2:22: target '1'"},
        {"graphml", GRAPHML("<graph><node id='0'/><edge source='0'/></graph>"),
         ":2:22: <edge> has no attribute 'target'"},
        {"graphml", GRAPHML("<graph><hyperedge/></graph>"), ":2:8: a hyperedge"},
        {"graphml", GRAPHML("<graph><node id='0'><data key='z'>1</data></node></graph>"), ":2:21: data of a key 'z'"},
        {"graphml",
         GRAPHML("<graph edgedefault='directed'><node id='0'/><edge source='0' target='0' directed='false'/></graph>"),
         ":2:45: an edge that is directed unlike"},
        {"graphml",
         GRAPHML(
             "<graph><node id='0'/><node id='1'/><edge source='0' target='1'><data key='k'>9</data></edge></graph>"),
         ":2:36: a rate of 9 bit/s"},
        {"graphml", GRAPHML(""), ":1:1: no graph"},
        {"graphml", GRAPHML("<graph/>"), ":1:1: no node in the graph"},
        {"graphml", GRAPHML("<graph>"), "expected XML"},
        {"graphml", "<!DOCTYPE graphml [<!ENTITY a 'b'>]><graphml/>", "a document type"},
        {"graphml", "<gml/>", "does not begin a file of graphml"},
    };
    refuse_all(bad, sizeof bad / sizeof *bad);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(infragraph_sample),
        cmocka_unit_test(infragraph_paths),
        cmocka_unit_test(infragraph_parts),
        cmocka_unit_test(infragraph_many2many_and_switches),
        cmocka_unit_test(infragraph_files),
        cmocka_unit_test(infragraph_without_counts),
        cmocka_unit_test(infragraph_ring_compressed),
        cmocka_unit_test(what_infragraph_cannot_say),
        cmocka_unit_test(a_config_db_alone_is_sonics),
        cmocka_unit_test(infragraph_connections),
        cmocka_unit_test(infragraph_without_instances),
        cmocka_unit_test(cables_sample),
        cmocka_unit_test(cables_twice),
        cmocka_unit_test(cables_of_dual_tors),
        cmocka_unit_test(a_graph_of_dual_tors),
        cmocka_unit_test(cables_by_hand),
        cmocka_unit_test(neighbours_heard_from_both_ends),
        cmocka_unit_test(neighbours_of_sonic),
        cmocka_unit_test(several_sonic_switches),
        cmocka_unit_test(what_cables_cannot_be),
        cmocka_unit_test(graphml_sample),
        cmocka_unit_test(graphml_by_hand),
        cmocka_unit_test(what_graphml_cannot_say),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
