// SPDX-License-Identifier: Apache-2.0
// Cables in the forms of other programs: ibnetdiscover, Slurm, containerlab, Graphviz, NetBox, LLDP tables and Arista's
// JSON. The files of examples/import/cables are read by hand; mistakes in each form have their place.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#include "import_files.h"

static const char *peer_of(const struct weft_topology *t, const char *name) {
    uint32_t port = weft_topology_find_port(t, name);
    if (port == WEFT_NONE) fail_msg("no port %s", name);
    return t->node[t->port[t->port[port].peer].node].name;
}

static const struct weft_link_info *link_at(const struct weft_topology *t, const char *name) {
    uint32_t port = weft_topology_find_port(t, name);
    if (port == WEFT_NONE) fail_msg("no port %s", name);
    return &t->link[t->port[port].link];
}

static struct run run_example(const char *name) {
    char path[256];
    snprintf(path, sizeof path, "%s/examples/import/cables/%s", getenv("WEFT_ROOT"), name);
    const char *paths[] = {path};
    return run_import("cables", paths, 1);
}

static char *text_of_example(const char *name) {
    char path[256];
    struct weft_error error;
    snprintf(path, sizeof path, "%s/examples/import/cables/%s", getenv("WEFT_ROOT"), name);
    const char *paths[] = {path};
    char *text = import("cables", paths, 1, &error);
    assert_string_equal(error.text, "");
    return text;
}

static void assert_has(const char *text, const char *what) {
    if (!strstr(text, what)) fail_msg("'%s' is not in:\n%s", what, text);
}

static void assert_size(const struct run *r, uint32_t hosts, uint32_t switches, uint32_t links) {
    assert_int_equal(r->topology->hosts, hosts);
    assert_int_equal(r->topology->switches, switches);
    assert_int_equal(r->topology->links, links);
}

#define GBPS(n) (UINT64_C(1000000000) * (n))

/// Node and adapter from descriptions; 4xNDR is 400 Gbit/s, 2xNDR 200; the aggregation node is no host; an adapter
/// without a node's name has its GUID.
static void ibnetdiscover(void **state) {
    struct run r = run_example("subnet.ibnetdiscover");
    assert_size(&r, 4, 2, 5);
    assert_string_equal(peer_of(r.topology, "leaf-1/port-1"), "gpu-1.mlx5_0");
    assert_string_equal(peer_of(r.topology, "leaf-1/port-2"), "gpu-1.mlx5_1");
    assert_string_equal(peer_of(r.topology, "leaf-1/port-3"), "gpu-2");
    assert_string_equal(peer_of(r.topology, "leaf-1/port-35"), "spine-1");
    assert_string_equal(peer_of(r.topology, "spine-1/port-1"), "ca-e09d730300858d88");
    assert_int_equal(link_at(r.topology, "leaf-1/port-1")->rate_bps, GBPS(400));
    assert_int_equal(link_at(r.topology, "leaf-1/port-3")->rate_bps, GBPS(200));
    run_free(&r);
}

#define CA(guid, port, text)                                                                                           \
    "caguid=0x1\nCa\t1 \"H-" guid "\" # \"" text "\"\n[1](" guid ") \"S-aa\"[" port                                    \
    "] # lid 1 lmc 0 \"sw\" lid 2 4xEDR\n"

/// Two chips of a chassis have one name, and two servers too: their GUIDs tell them apart.
static void ibnetdiscover_equal_names(void **state) {
    const char *path =
        put("ib.txt", "vendid=0x2c9\nswitchguid=0xaa\nSwitch\t36 \"S-aa\" # \"MF0;core:CS7500/L1/U1\"\n"
                      "[1] \"H-1\"[1](1) # \"ubuntu mlx5_0\" lid 1 4xEDR\n"
                      "[2] \"H-2\"[1](2) # \"ubuntu mlx5_0\" lid 1 4xEDR\n"
                      "[3] \"S-bb\"[1] # \"MF0;core:CS7500/L2/U1\" lid 1 4xEDR\n"
                      "switchguid=0xbb\nSwitch\t36 \"S-bb\" # \"MF0;core:CS7500/L2/U1\"\n"
                      "[1] \"S-aa\"[3] # \"MF0;core:CS7500/L1/U1\" lid 1 4xEDR\n" CA("1", "1", "ubuntu mlx5_0")
                          CA("2", "2", "ubuntu mlx5_0"));
    struct run r = run_import("cables", &path, 1);
    assert_size(&r, 2, 2, 3);
    assert_string_equal(peer_of(r.topology, "switch-aa/port-1"), "ca-1");
    assert_string_equal(peer_of(r.topology, "switch-aa/port-2"), "ca-2");
    assert_string_equal(peer_of(r.topology, "switch-aa/port-3"), "switch-bb");
    run_free(&r);
}

/// A router is no host: it sends nothing of its own.
static void ibnetdiscover_routers(void **state) {
    const char *path =
        put("ib.txt", "vendid=0x2c9\nswitchguid=0xaa\nSwitch\t36 \"S-aa\" # \"MF0;leaf:MQM9700/U1\"\n"
                      "[1] \"H-1\"[1](1) # \"gpu-1 mlx5_0\" lid 1 4xEDR\n"
                      "[2] \"H-2\"[1](2) # \"gpu-2 mlx5_0\" lid 1 4xEDR\n"
                      "[3] \"R-cc\"[1](cc) # \"Router\" lid 1 4xEDR\n" CA("1", "1", "gpu-1 mlx5_0")
                          CA("2", "2", "gpu-2 mlx5_0") "rtguid=0xcc\nRt\t1 \"R-cc\" # \"Router\"\n"
                                                       "[1](cc) \"S-aa\"[3] # lid 1 \"sw\" lid 2 4xEDR\n");
    struct run r = run_import("cables", &path, 1);
    assert_size(&r, 2, 2, 3);
    assert_string_equal(peer_of(r.topology, "leaf/port-3"), "Router");
    run_free(&r);
}

/// Eight nodes below two switches below one: four cables from each leaf to the top.
static void slurm(void **state) {
    struct run r = run_example("topology.conf");
    assert_size(&r, 8, 3, 8 + 2 * 4);
    assert_true(weft_topology_find_node(r.topology, "gpu010") != WEFT_NONE);
    assert_true(weft_topology_find_node(r.topology, "gpu10") == WEFT_NONE);
    run_free(&r);
    char *text = text_of_example("topology.conf");
    assert_has(text, "Slurm's file says neither how many there are nor their speed");
    assert_has(text, "rate: 200Gbps");
    free(text);
    r = run_example("topology.yaml");
    assert_size(&r, 5, 3, 5 + 2 + 3);
    run_free(&r);
}

/// A line may go on after a backslash; a switch may be below two others, which then share its cables; trees of their
/// own are joined, and the import says so.
static void slurm_shapes(void **state) {
    static const struct {
        const char *text;
        uint32_t hosts, switches, links;
        const char *core;
    } cases[] = {
        {"SwitchName=s0 Nodes=n[0-1],\\\nn[2-3]\nSwitchName=s1 \\\n  Nodes=n4\nSwitchName=t Switches=s[0-1]\n", 5, 3,
         5 + 4 + 1, NULL},
        {"SwitchName=s0 Nodes=n[0-3]\nSwitchName=s1 Nodes=n[4-7]\n", 8, 3, 8 + 2 * 4, "a switch core that joins"},
        {"SwitchName=s0 Nodes=n[0-3]\nSwitchName=s1 Nodes=n[4-7]\nSwitchName=a Switches=s[0-1]\n"
         "SwitchName=b Switches=s[0-1]\n",
         8, 4, 8 + 4 * 2, NULL},
        {"SwitchName=s0 Nodes=n[0-3]\nSwitchName=s1 Nodes=n[4-7]\nSwitchName=m0 Switches=s[0-1]\n"
         "SwitchName=m1 Switches=s[0-1]\nSwitchName=t Switches=m[0-1]\n",
         8, 5, 8 + 4 * 2 + 2 * 4, NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = put("t.conf", cases[i].text);
        struct run r = run_import("cables", &path, 1);
        assert_size(&r, cases[i].hosts, cases[i].switches, cases[i].links);
        run_free(&r);
        struct weft_error error;
        char *text = import("cables", &path, 1, &error);
        if (!strstr(text, cases[i].core ? cases[i].core : "a switch core") != !cases[i].core) fail_msg("%s", text);
        free(text);
    }
}

/// A line ends at a '#' that has no backslash; what a comment ends with joins no line to it.
static void slurm_comments(void **state) {
    static const char *const texts[] = {
        "SwitchName=s1 Nodes=tux[0-3]#x\nSwitchName=s2 Nodes=tux[4-7] # y \\\nSwitchName=t Switches=s[1-2]#\n",
        "# \\\nSwitchName=s1 Nodes=tux[0-1],\\ # more\ntux[2-3]\nSwitchName=s2 Nodes=tux[4-7]\nSwitchName=t "
        "Switches=s[1-2]\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *path = put("t.conf", texts[i]);
        struct run r = run_import("cables", &path, 1);
        assert_size(&r, 8, 3, 8 + 2 * 4);
        for (unsigned n = 0; n < 8; n++) {
            char name[16];
            snprintf(name, sizeof name, "tux%u", n);
            assert_true(weft_topology_find_node(r.topology, name) != WEFT_NONE);
        }
        run_free(&r);
    }
}

/// However many comments stand before it, a file is known by its first lines, and a fault has its own line.
static void comments_in_front(void **state) {
    static const char *const forms[] = {
        "SwitchName=s1 Nodes=n[1-2]\n",
        "- topology: a\n  tree:\n    switches:\n    - {switch: s1, nodes: \"n[1-2]\"}\n",
        "device A,port A,device B,port B,role A,role B\ns1,1,n1,1,switch,host\ns1,2,n2,1,switch,host\n",
        "name: lab\ntopology:\n  nodes:\n    s1: {kind: bridge}\n    n1: {kind: linux}\n    n2: {kind: linux}\n"
        "  links:\n    - endpoints: [\"s1:e1\", \"n1:e1\"]\n    - endpoints: [\"s1:e2\", \"n2:e1\"]\n",
        "what is this\n",
    };
    static const unsigned lines[] = {1, 1000, 3000};
    enum { GOOD = sizeof forms / sizeof *forms - 1 };
    for (size_t i = 0; i <= GOOD; i++)
        for (size_t k = 0; k < sizeof lines / sizeof *lines; k++) {
            size_t size = 0;
            char *text = NULL, expected[40];
            struct weft_error error;
            FILE *file = open_memstream(&text, &size);
            for (unsigned n = 0; n < lines[k]; n++)
                fputs(n % 3 ? "# a long comment about this cluster of ours\n" : "\n", file);
            fputs(forms[i], file);
            fclose(file);
            const char *path = put("commented.txt", text);
            free(text);
            free(import("cables", &path, 1, &error));
            snprintf(expected, sizeof expected, ":%u:1: ", lines[k] + 1);
            if (i < GOOD) {
                assert_string_equal(error.text, "");
                struct run r = run_import("cables", &path, 1);
                assert_int_equal(r.topology->hosts, 2);
                run_free(&r);
            } else if (k && !strstr(error.text, expected)) {
                fail_msg("%s", error.text);
            }
        }
}

/// Keys of YAML have no order. Of several topologies one is taken, and the others are named.
static void slurm_yaml(void **state) {
    static const struct {
        const char *text;
        uint32_t hosts;
        const char *left_out;
    } cases[] = {
        {"- cluster_default: true\n  topology: gpu\n  tree:\n    switches:\n      - {switch: s1, nodes: \"n[1-4]\"}\n",
         4, NULL},
        {"---\n- block:\n    block_sizes: [4]\n    blocks:\n    - block: b1\n      nodes: n[1-3]\n  topology: "
         "default\n",
         3, NULL},
        {"# one\n- topology: cpu\n  tree:\n    switches:\n    - {switch: c1, nodes: \"c[1-4]\"}\n"
         "- tree:\n    switches:\n    - {switch: s1, nodes: \"n[1-5]\"}\n  topology: gpu\n  cluster_default: true\n"
         "- topology: all\n  flat: true\n- flat: true\n",
         5, "# - topology cpu, topology all, topology without a name (topology gpu is taken)\n"},
        {"- topology: all\n  flat: true\n- topology: b\n  block:\n    blocks:\n    - {block: b1, nodes: \"n[1-2]\"}\n",
         2, "# - topology all (topology b is taken)\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = put("t.yaml", cases[i].text);
        struct weft_error error;
        char *text = import("cables", &path, 1, &error);
        assert_string_equal(error.text, "");
        if (cases[i].left_out) assert_has(text, cases[i].left_out);
        assert_int_equal(strstr(text, "is taken") != NULL, cases[i].left_out != NULL);
        free(text);
        struct run r = run_import("cables", &path, 1);
        assert_int_equal(r.topology->hosts, cases[i].hosts);
        run_free(&r);
    }
}

/// Blocks are switches below one of their own; 100 nodes give 50 bundles of two cables each.
static void slurm_blocks(void **state) {
    const char *path =
        put("t.conf", "blockname=b1 nodes=n[1-100]\nBlockName=b2 Nodes=m[1-2],k7 # spare\nBlockSizes=2,4\n");
    struct run r = run_import("cables", &path, 1);
    assert_size(&r, 103, 3, 103 + 50 + 3);
    uint32_t core = weft_topology_find_node(r.topology, "core");
    assert_true(core != WEFT_NONE);
    assert_int_equal(r.topology->link[103 - 3].rate_bps, GBPS(400));
    run_free(&r);
}

static void containerlab(void **state) {
    struct run r = run_example("lab.clab.yml");
    assert_size(&r, 2, 2, 4);
    assert_string_equal(peer_of(r.topology, "leaf1/e1-1"), "h1");
    assert_string_equal(peer_of(r.topology, "leaf2/e1-50"), "leaf1");
    run_free(&r);
    char *text = text_of_example("lab.clab.yml");
    assert_has(text,
               "1 cables that are planned, not between two ports of devices, or with several ends that do not pair");
    free(text);
}

static void dot(void **state) {
    struct run r = run_example("topology.dot");
    assert_size(&r, 3, 1, 3); // spine1 has one cable and no function: a host, as the text says
    assert_string_equal(peer_of(r.topology, "leaf1/swp2"), "server2");
    run_free(&r);
    const char *path =
        put("edges.dot", "strict graph { a [function=host]; b; c [function=\"server\"]\n"
                         "a -- b:p1:n; b:p3 -- c [color=red]; b:p2 -- d /* two\nlines */ [x=1]; d [function=host] }");
    r = run_import("cables", &path, 1);
    assert_size(&r, 3, 1, 3);
    assert_string_equal(peer_of(r.topology, "b/p2"), "d");
    run_free(&r);
}

/// 10 feet are 3048 mm, of 5 ns a metre; power cables and planned ones are left out.
static void netbox(void **state) {
    static const char *const name[] = {"netbox.json", "netbox.csv"};
    for (unsigned i = 0; i < 2; i++) {
        struct run r = run_example(name[i]);
        assert_size(&r, 2, 1, 2);
        assert_string_equal(peer_of(r.topology, "leaf-1/Ethernet1"), "gpu-1");
        assert_int_equal(link_at(r.topology, "leaf-1/Ethernet1")->delay_ps, 15240);
        run_free(&r);
    }
    const char *path = put("export.csv", "ID,Termination A,Termination B,Device A,Device B,Status,Length\n"
                                         "1,Ethernet1,eth0,leaf-1,gpu-1,Connected,5 Feet\n"
                                         "2,Ethernet2,eth0,leaf-1,gpu-2,Connected,30 m\n");
    struct run r = run_import("cables", &path, 1);
    assert_int_equal(link_at(r.topology, "leaf-1/Ethernet1")->delay_ps, 7620);
    assert_int_equal(link_at(r.topology, "leaf-1/Ethernet2")->delay_ps, 150000);
    run_free(&r);
    // a breakout and a trunk, exported as lists: two servers are not one
    path = put("export.csv", "ID,Rack A,Device A,Termination A,Device B,Termination B,Status,Length,Bend\n"
                             "1,R1,leaf-1,Ethernet1,\"gpu-1,gpu-2\",\"eth0,eth1\",Connected,3 m,4\n"
                             "2,R1,leaf-1,\"Ethernet5,Ethernet6\",\"gpu-3,gpu-4\",\"eth0,eth0\",Connected,3 m,4\n"
                             "3,R1,leaf-1,\"Ethernet7,Ethernet8,Ethernet9\",\"gpu-5,gpu-6\",eth0,Connected,3 m,4\n"
                             "4,R1,leaf-1,Ethernet10,\"gpu-7,\",\"eth2,\",Connected,3 m,4\n");
    r = run_import("cables", &path, 1);
    assert_size(&r, 5, 1, 5);
    assert_string_equal(peer_of(r.topology, "leaf-1/Ethernet1:2"), "gpu-2");
    assert_string_equal(peer_of(r.topology, "leaf-1/Ethernet6"), "gpu-4");
    run_free(&r);
    struct weft_error error;
    char *text = import("cables", &path, 1, &error);
    assert_has(text, "# - columns Bend\n");
    assert_has(text, "# - columns 'ID,Rack A'\n");
    free(text);
    // the bulk import, in JSON
    path = put("bulk.json",
               "[{\"side_a_device\": \"leaf-1\", \"side_a_type\": \"dcim.interface\", \"side_a_name\": \"E1\","
               " \"side_b_device\": \"gpu-1\", \"side_b_type\": \"dcim.interface\", \"side_b_name\": \"eth0\","
               " \"length\": 10, \"length_unit\": \"ft\"},"
               " {\"side_a_device\": \"leaf-1\", \"side_a_name\": \"E2\", \"side_b_device\": \"gpu-2\","
               " \"side_b_name\": \"eth0\"},"
               " {\"side_a_device\": \"leaf-1\", \"side_a_type\": \"dcim.powerport\", \"side_a_name\": \"PSU\","
               " \"side_b_device\": \"pdu-1\", \"side_b_name\": \"1\"}]");
    r = run_import("cables", &path, 1);
    assert_size(&r, 2, 1, 2);
    assert_int_equal(link_at(r.topology, "leaf-1/E1")->delay_ps, 15240);
    run_free(&r);
}

#define NETBOX_END(device, port)                                                                                       \
    "{\"object_type\": \"dcim.interface\", \"object\": {\"device\": {\"name\": \"" device "\"}, \"name\": \"" port     \
    "\"}}"
#define NETBOX_CABLE(a, b, status)                                                                                     \
    "{\"a_terminations\": [" a "], \"b_terminations\": [" b "], \"status\": {\"value\": \"" status "\"}}"
#define NETBOX_CABLES                                                                                                  \
    NETBOX_CABLE(NETBOX_END("leaf-1", "Ethernet1"), NETBOX_END("gpu-1", "eth0") "," NETBOX_END("gpu-2", "eth0"),       \
                 "connected")                                                                                          \
    "," NETBOX_CABLE(NETBOX_END("gpu-3", "eth0") "," NETBOX_END("gpu-4", "eth0"),                                      \
                     NETBOX_END("leaf-1", "Ethernet5") "," NETBOX_END("leaf-1", "Ethernet6"), "connected")

/// NetBox's interfaces, each with what it is connected to, and its cables as GraphQL has them.
static void netbox_interfaces_and_graphql(void **state) {
    const char *path =
        put("interfaces.json",
            "{\"count\": 4, \"next\": null, \"results\": ["
            "{\"device\": {\"name\": \"leaf-1\"}, \"name\": \"E1\", \"type\": {\"value\": \"400gbase-x-qsfp112\"},"
            " \"connected_endpoints\": [{\"device\": {\"name\": \"gpu-1\"}, \"name\": \"eth0\"}],"
            " \"connected_endpoints_type\": \"dcim.interface\", \"connected_endpoints_reachable\": true},"
            "{\"device\": {\"name\": \"gpu-1\"}, \"name\": \"eth0\", \"speed\": 400000000,"
            " \"connected_endpoints\": [{\"device\": {\"name\": \"leaf-1\"}, \"name\": \"E1\"}]},"
            "{\"device\": {\"name\": \"gpu-2\"}, \"name\": \"eth0\", \"speed\": 400000000,"
            " \"connected_endpoints\": [{\"device\": {\"name\": \"leaf-1\"}, \"name\": \"E2\"}]},"
            "{\"device\": {\"name\": \"leaf-1\"}, \"name\": \"E3\", \"connected_endpoints\": null}]}");
    struct run r = run_import("cables", &path, 1);
    assert_size(&r, 2, 1, 2);
    assert_int_equal(link_at(r.topology, "leaf-1/E1")->rate_bps, 400000000000);
    assert_int_equal(link_at(r.topology, "leaf-1/E2")->rate_bps, 400000000000);
    run_free(&r);
    path = put("graphql.json",
               "{\"data\": {\"cable_list\": ["
               "{\"status\": \"connected\", \"length\": 10, \"length_unit\": \"ft\", \"a_terminations\":"
               " [{\"__typename\": \"InterfaceType\", \"name\": \"E1\", \"device\": {\"name\": \"leaf-1\"}}],"
               " \"b_terminations\": [{\"name\": \"eth0\", \"device\": {\"name\": \"gpu-1\"}}]},"
               "{\"status\": \"connected\", \"a_terminations\":"
               " [{\"__typename\": \"InterfaceType\", \"name\": \"E2\", \"device\": {\"name\": \"leaf-1\"}}],"
               " \"b_terminations\": [{\"name\": \"eth0\", \"device\": {\"name\": \"gpu-2\"}}]},"
               "{\"status\": \"connected\", \"a_terminations\":"
               " [{\"__typename\": \"PowerPortType\", \"name\": \"PSU\", \"device\": {\"name\": \"leaf-1\"}}],"
               " \"b_terminations\": [{\"name\": \"1\", \"device\": {\"name\": \"pdu-1\"}}]}]}}");
    r = run_import("cables", &path, 1);
    assert_size(&r, 2, 1, 2);
    assert_int_equal(link_at(r.topology, "leaf-1/E1")->delay_ps, 15240);
    run_free(&r);
}

/// Types of NetBox's interfaces that say a speed, in Mbit/s, and those that say none, which are named.
static void netbox_types(void **state) {
    static const struct {
        const char *type;
        uint64_t mbps;
    } types[] = {
        {"10base-t", 10},
        {"100base-tx", 100},
        {"1000base-t", 1000},
        {"1000base-x-sfp", 1000},
        {"2.5gbase-t", 2500},
        {"5gbase-t", 5000},
        {"25gbase-x-sfp28", 25000},
        {"100gbase-kr4", 100000},
        {"800gbase-x-osfp", 800000},
        {"1.6tbase-cr8", 1600000},
        {"infiniband-ndr", 400000},
        {"infiniband-ndr-4x", 400000},
        {"infiniband-hdr", 200000},
        {"infiniband-edr-4x", 100000},
        {"inifiband-fdr10", 40000},
        {"infiniband-xdr", 800000},
        {"32gfc-sfp28", 0},
        {"virtual", 0},
        {"other", 0},
        {"10g-epon", 0},
        {"sonet-oc192", 0},
        {"infiniband-zdr", 0},
        {"ieee802.11ac", 0},
        {"", 0},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        char text[400];
        snprintf(text, sizeof text,
                 "{\"results\": [{\"device\": {\"name\": \"leaf-1\"}, \"name\": \"E1\", \"type\": {\"value\": \"%s\"},"
                 " \"connected_endpoints\": [{\"device\": {\"name\": \"gpu-1\"}, \"name\": \"eth0\"}]},"
                 " {\"device\": {\"name\": \"leaf-1\"}, \"name\": \"E2\", \"type\": \"%s\","
                 " \"connected_endpoints\": [{\"device\": {\"name\": \"gpu-2\"}, \"name\": \"eth0\"}]}]}",
                 types[i].type, types[i].type);
        const char *path = put("types.json", text);
        struct weft_error error;
        char *said = import("cables", &path, 1, &error);
        snprintf(text, sizeof text, "# - speeds of interfaces whose type says none: %s\n", types[i].type);
        if (*types[i].type && !strstr(said, text) != !!types[i].mbps) fail_msg("%s: %s", types[i].type, said);
        bool lanes = types[i].mbps && strchr(types[i].type, 'i') && !strstr(types[i].type, "4x");
        assert_int_equal(strstr(said, "4 lanes for 2 interfaces of InfiniBand") != NULL, lanes);
        free(said);
        struct run r = run_import("cables", &path, 1);
        assert_int_equal(link_at(r.topology, "leaf-1/E1")->rate_bps,
                         types[i].mbps ? types[i].mbps * 1000000 : UINT64_C(200000000000));
        assert_int_equal(link_at(r.topology, "leaf-1/E2")->rate_bps, link_at(r.topology, "leaf-1/E1")->rate_bps);
        run_free(&r);
    }
}

/// A breakout is as many cables as its ends, with names at the one port; a trunk joins the ends in order. A page of
/// several is told, and what is left out where the network lacks it.
static void netbox_breakouts(void **state) {
    const char *path = put("nb.json", "{\"next\": \"https://x/?offset=2\", \"results\": [" NETBOX_CABLES "]}");
    struct weft_error error;
    (void)state;
    struct run r = run_import("cables", &path, 1);
    assert_size(&r, 4, 1, 4);
    assert_string_equal(peer_of(r.topology, "leaf-1/Ethernet1:1"), "gpu-1");
    assert_string_equal(peer_of(r.topology, "leaf-1/Ethernet1:2"), "gpu-2");
    assert_string_equal(peer_of(r.topology, "leaf-1/Ethernet6"), "gpu-4");
    run_free(&r);
    char *text = import("cables", &path, 1, &error);
    assert_has(text, "the cables of further pages");
    free(text);
    path = put("nb.json", "{\"next\": null, \"results\": [" NETBOX_CABLES "]}");
    text = import("cables", &path, 1, &error);
    assert_null(strstr(text, "further pages"));
    free(text);
    path = put("nb.json", "[" NETBOX_CABLES ", " NETBOX_CABLE(
                              NETBOX_END("leaf-1", "Ethernet9"), NETBOX_END("leaf-2", "Ethernet9"),
                              "planned") ", " NETBOX_CABLE(NETBOX_END("leaf-2", "Ethernet1"),
                                                           NETBOX_END("gpu-5", "eth0") "," NETBOX_END("gpu-6", "eth0"),
                                                           "connected") "]");
    text = import("cables", &path, 1, &error);
    free(text);
    assert_has(error.text, "in parts");
    assert_has(error.text, "; left out: 1 cable, planned");
}

#define DUAL(more)                                                                                                     \
    "device A,port A,device B,role A,role B\na,eth0,t1,host,leaf\na,eth1,t2,host,leaf\nb,eth0,t1,host,leaf\n" more

/// If the two cables of each host lead to separate networks, these are planes; an error names a host with one cable.
static void dual_planes(void **state) {
    const char *path = put("dual.csv", DUAL("b,eth1,t2,host,leaf\n"));
    struct weft_error error;
    char *text = import("cables", &path, 1, &error);
    assert_has(text, "  planes: on\n");
    assert_has(text, "  planes: queue_pair\n");
    free(text);
    struct run r = run_import("cables", &path, 1);
    assert_size(&r, 4, 2, 4);
    run_free(&r);
    path = put("dual.csv", DUAL(""));
    text = import("cables", &path, 1, &error);
    free(text);
    assert_has(error.text, "host b has 1 link, and host a has 2; expected as many each");
}

/// The same neighbours as SONiC, as Arista and as Cumulus print them, each named after its file.
static void neighbours_in_tables(void **state) {
    const char *path[] = {put("leaf-1.txt",
                              "LocalPort    RemoteDevice    RemotePortID    Capability    RemotePortDescr\n"
                              "-----------  --------------  --------------  ------------  -----------------\n"
                              "Ethernet0    spine-1         Ethernet0       BR            to leaf 1, port 0\n"
                              "Ethernet4    gpu-1           eth0            O\n"
                              "eth0         oob             Gi1/0/3         BR\n"
                              "--------------------------------------------------\n"
                              "Total entries displayed:  2\n"),
                          put("leaf-2.txt", "Last table change time   : 0:10:00 ago\n\n"
                                            "Port          Neighbor Device ID       Neighbor Port ID    TTL\n"
                                            "Et1           spine-1                  Ethernet4           120\n"
                                            "Et2           gpu-2                    eth0                120\n"
                                            "Ma1           oob                      Gi1/0/4             120\n"),
                          put("leaf-3.txt", "LocalPort  Speed  Mode  RemoteHost  RemotePort\n"
                                            "---------  -----  ----  ----------  ----------\n"
                                            "swp1       400G   Def   spine-1     Ethernet8\n"
                                            "swp2       N/A    Def   gpu-3       eth0\n"),
                          put("leaf-4.txt", "Device ID            Local Intf      Hold-time  Capability  Port ID\n"
                                            "spine-1              Eth1/1          120        BR          Ethernet12\n"
                                            "gpu-4                Eth1/2          120        S           eth0\n"
                                            "Total entries displayed: 2\n"),
                          put("leaf-5.txt", "-----\nLLDP neighbors:\n-----\n"
                                            "Interface:    swp1, via: LLDP, RID: 1, Time: 0 day, 00:10:20\n"
                                            "  Chassis:     \n    ChassisID:    mac 98:03:9b:aa:bb:01\n"
                                            "    SysName:      gpu-5\n    Capability:   Bridge, off\n"
                                            "    Capability:   Station, on\n  Port:        \n"
                                            "    PortID:       ifname eth0\n    TTL:          120\n-----\n"
                                            "Interface:    swp2, via: LLDP, RID: 2, Time: 0 day, 00:10:20\n"
                                            "  Chassis:     \n    ChassisID:    mac 98:03:9b:aa:bb:02\n"
                                            "    SysName:      spine-1\n    Capability:   Bridge, on\n"
                                            "  Port:        \n    PortID:       ifname Ethernet16\n-----\n")};
    struct run r = run_import("cables", path, 5);
    assert_size(&r, 5, 6, 10);
    assert_string_equal(peer_of(r.topology, "leaf-5/swp1"), "gpu-5");
    assert_string_equal(peer_of(r.topology, "spine-1/Ethernet16"), "leaf-5");
    assert_string_equal(peer_of(r.topology, "leaf-1/Ethernet0"), "spine-1");
    assert_string_equal(peer_of(r.topology, "leaf-2/Et2"), "gpu-2");
    assert_int_equal(link_at(r.topology, "leaf-3/swp1")->rate_bps, GBPS(400));
    run_free(&r);
}

static void neighbours_of_arista(void **state) {
    struct run r = run_example("leaf-9.json");
    assert_size(&r, 2, 1, 2);
    assert_string_equal(peer_of(r.topology, "leaf-9/Ethernet2"), "gpu-2");
    run_free(&r);
    const char *path =
        put("tor.json", "{\"lldpNeighbors\": {\"Ethernet1\": {\"lldpNeighborInfo\": [{\"systemName\": \"gpu-1\", "
                        "\"systemCapabilities\": {\"stationOnly\": true}, \"neighborInterfaceInfo\": "
                        "{\"interfaceId\": \"\\\"eth0\\\"\"}}]}, \"Ethernet2\": {\"lldpNeighborInfo\": "
                        "[{\"systemName\": \"gpu-2\", \"systemCapabilities\": {\"stationOnly\": true}, "
                        "\"neighborInterfaceInfo\": {\"interfaceId_v2\": \"eth0\"}}]}}}");
    r = run_import("cables", &path, 1);
    assert_size(&r, 2, 1, 2);
    assert_string_equal(peer_of(r.topology, "tor/Ethernet1"), "gpu-1");
    run_free(&r);
}

static void mistakes(void **state) {
    static const struct bad_file bad[] = {
        {"cables", "vendid=0x2c9\nswitchguid=0x1\nSwitch\t36 \"S\" # \"x\"\n", ":3:"},
        {"cables", "vendid=0x2c9\nswitchguid=0x1\nSwitch\t36 \"S-1\" # \"x\"\n[1] H-1[1]\n", ":4:"},
        {"cables", "vendid=0x2c9\nswitchguid=0x1\nSwitch\t36 \"S-1\" # \"x\"\n[1] \"S-2\"[1] # \"y\" lid 1 4xEDR\n",
         "\"S-2\" has no block of its own"},
        {"cables", "vendid=0x2c9\nswitchguid=0x1\nSwitch\t36 \"S-1\"\nSwitch\t36 \"S-1\"\n", "two blocks"},
        {"cables", "vendid=1\ncaguid=2\nCa 1 \"H\"\n",
         ":3:1: expected Ca, a number of ports and a name such as \"H-0002"},
        {"cables", "vendid=1\ncaguid=2\nRt\t1\n", ":3:1: expected Rt, a number of ports and a name such as \"R-0002"},
        {"cables", "SwitchName=s1 Nodes=n[1-\n", ":1:1: 'n[1-': expected a ] behind the ["},
        {"cables", "SwitchName=s1 Nodes=n[4-1]\n", "expected a range that goes up"},
        {"cables", "SwitchName=s1 Nodes=n[a-b]\n", "expected numbers and ranges such as [1-4,7]"},
        {"cables", "SwitchName=s1 Nodes=n[1-99999999]\n", "more than 1048576 names"},
        {"cables", "SwitchName=s1 Switches=s2\n", "switch s2 has no line of its own"},
        {"cables", "SwitchName=s0 Switches=s1\nSwitchName=s1 Switches=s2\nSwitchName=s2 Switches=s1\n", "below itself"},
        {"cables", "SwitchName=s1 Switches=s2\nSwitchName=s2 Switches=s1\n", "every switch is below another"},
        {"cables", "SwitchName=s1 Nodes=a,b\nSwitchName=s1 Nodes=c\n", ":2:1: s1 is there twice"},
        {"cables", "SwitchName=s1 Nodes=a\nNodes=b\n", ":2:1: expected SwitchName= or BlockName="},
        {"cables", "graph { a -- }", "expected the name of a device"},
        {"cables", "graph { a -- b", "the file ends within the graph"},
        {"cables", "graph { a -- \"b\n }", ":1:14: a text without its second quote"},
        {"cables", "graph { subgraph x { a -- b } }", "a subgraph"},
        {"cables", "topology:\n  nodes: {a: {}}\n  links:\n  - endpoints: [a]\n", ":4:5: expected two 'endpoints'"},
        {"cables", "topology:\n  nodes: {a: {}}\n  links:\n  - endpoints: [a, b]\n", "an endpoint such as"},
        {"cables", "side_a_device,side_a_name,side_b_device,side_b_name,length,length_unit\na,1,b,1,5,yard\n",
         "\"yard\" is not a unit"},
        {"cables", "LocalPort    RemoteDevice    RemotePortID\nEthernet0-with-a-long-name spine x\n",
         ":2:1: the line is not aligned to the header"},
        {"cables", "{\"lldpNeighbors\": [{\"port\": \"Ethernet1\"}]}", "without its port or its name"},
    };
    refuse_all(bad, sizeof bad / sizeof *bad);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ibnetdiscover),
        cmocka_unit_test(ibnetdiscover_equal_names),
        cmocka_unit_test(ibnetdiscover_routers),
        cmocka_unit_test(slurm),
        cmocka_unit_test(slurm_comments),
        cmocka_unit_test(comments_in_front),
        cmocka_unit_test(slurm_yaml),
        cmocka_unit_test(slurm_blocks),
        cmocka_unit_test(slurm_shapes),
        cmocka_unit_test(containerlab),
        cmocka_unit_test(dot),
        cmocka_unit_test(netbox),
        cmocka_unit_test(netbox_interfaces_and_graphql),
        cmocka_unit_test(netbox_types),
        cmocka_unit_test(netbox_breakouts),
        cmocka_unit_test(dual_planes),
        cmocka_unit_test(neighbours_in_tables),
        cmocka_unit_test(mistakes),
        cmocka_unit_test(neighbours_of_arista),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
