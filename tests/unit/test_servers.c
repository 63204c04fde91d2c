// SPDX-License-Identifier: Apache-2.0
// Servers of a job are the devices that files name, whatever form the names have: never hosts that happen to follow one
// another. A server that lacks a link is one with fewer links: only jobs that use it are refused.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#include "import_files.h"
#include "topology/builder.h"
#include "weft/placement.h"

// --- names --------------------------------------------------------------------------------------------------------

static void devices_of_names(void **state) {
    (void)state;
    static const struct {
        const char *name, *device; // NULL: the name is that of a device
    } names[] = {
        {"gpu-1.hca0", "gpu-1"},
        {"gpu-1.mlx5_0", "gpu-1"},
        {"gpu-1:eth2", "gpu-1"},
        {"gpu-1/ib0", "gpu-1"},
        {"gpu-1/Ethernet1/1", "gpu-1"},
        {"a.b.c.enp25s0f0np0", "a.b.c"},
        {"dgx.cluster.rdma7", "dgx.cluster"},
        {"node1.gpu3", "node1"},
        {"gpu-1", NULL},
        {"gpu1.cluster.example", NULL},
        {"10.0.0.1", NULL},
        {"0c:42:a1:00:00:01", NULL},
        {"gpu-1.hca", NULL},
        {"rack1.node7", NULL},
        {".eth0", NULL},
        {"/eth0", NULL},
        {"gpu-1/", NULL},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n = weft__topology_device_length(names[i].name),
               expected = names[i].device ? strlen(names[i].device) : 0;
        if (n != expected) fail_msg("%s: %zu, expected %zu", names[i].name, n, expected);
    }
}

// --- lists of cables ----------------------------------------------------------------------------------------------

/// gpu-1 to gpu-4, of which 2 and 3 have lost a link each, in the forms in which files name ports.
static const struct {
    const char *what, *name, *text, *port[6];
} forms[] = {
    {"columns",
     "a.csv",
     "Device A,Port A,Device B,Port B\n"
     "gpu-1,hca0,leaf-1,p1\ngpu-1,hca1,leaf-2,p1\ngpu-2,hca0,leaf-1,p2\ngpu-3,hca1,leaf-2,p3\n"
     "gpu-4,hca0,leaf-1,p4\ngpu-4,hca1,leaf-2,p4\nleaf-1,p9,spine-1,p1\nleaf-2,p9,spine-1,p2\n",
     {"gpu-1.hca0", "gpu-1.hca1", "gpu-2", "gpu-3", "gpu-4.hca0", "gpu-4.hca1"}},
    {"device:port",
     "b.csv",
     "Device A,Device B,Speed (Gbps)\n"
     "gpu-1:eth0,leaf-1:p1,400\ngpu-1:eth1,leaf-2:p1,400\ngpu-2:eth0,leaf-1:p2,400\ngpu-3:eth1,leaf-2:p3,400\n"
     "gpu-4:eth0,leaf-1:p4,400\ngpu-4:eth1,leaf-2:p4,400\nleaf-1:p9,spine-1:p1,400\nleaf-2:p9,spine-1:p2,400\n",
     {"gpu-1.eth0", "gpu-1.eth1", "gpu-2", "gpu-3", "gpu-4.eth0", "gpu-4.eth1"}},
    {"device/ifname",
     "c.csv",
     "Device A,Device B,Speed (Gbps)\n"
     "gpu-1/ib0,leaf-1/p1,400\ngpu-4/ib0,leaf-1/p4,400\ngpu-2/ib0,leaf-1/p2,400\ngpu-1/ib1,leaf-2/p1,400\n"
     "gpu-3/ib1,leaf-2/p3,400\ngpu-4/ib1,leaf-2/p4,400\nleaf-1/p9,spine-1/p1,400\nleaf-2/p9,spine-1/p2,400\n",
     {"gpu-1.ib0", "gpu-1.ib1", "gpu-2", "gpu-3", "gpu-4.ib0", "gpu-4.ib1"}},
    {"device.port",
     "d.csv",
     "Device A,Device B,Speed (Gbps)\n" // by rail, so that links of a server do not follow one another
     "gpu-1.mlx5_0,leaf-1,400\ngpu-2.mlx5_0,leaf-1,400\ngpu-4.mlx5_0,leaf-1,400\ngpu-1.mlx5_1,leaf-2,400\n"
     "gpu-3.mlx5_1,leaf-2,400\ngpu-4.mlx5_1,leaf-2,400\nleaf-1,spine-1,400\nleaf-2,spine-1,400\n",
     {"gpu-1.mlx5_0", "gpu-1.mlx5_1", "gpu-2.mlx5_0", "gpu-3.mlx5_1", "gpu-4.mlx5_0", "gpu-4.mlx5_1"}},
};

/// A job of servers of two GPUs, with more keys; its error, or NULL.
static const char *bind_job(struct run *r, const char *topology, const char *more) {
    char *text = text_of("topology: %s\nworkload:\n- kind: job\n  operations: [{collective: all_reduce_ring, size: "
                         "64KiB}]\n  server: {gpus: 2%s}\n%s\n",
                         topology, *more == ',' ? more : "", *more == ',' ? "" : more);
    *r = (struct run){0};
    assert_int_equal(weft_scenario_file_parse("t.yaml", text, strlen(text), NULL, 0, &r->file, &r->error), WEFT_OK);
    enum weft_status status = run_bind(r, 0);
    free(text);
    return status ? r->error.text : NULL;
}

static void expect_error(const char *topology, const char *more, const char *expected) {
    struct run r;
    const char *error = bind_job(&r, topology, more);
    if (!error || !strstr(error, expected)) fail_msg("%s, %s: %s\nexpected %s", topology, more, error, expected);
    run_free(&r);
}

/// Each rank's host by name, and who is in a server with whom: "gpu-1.hca0 gpu-1.hca1 | ...".
static void expect_ranks(const char *topology, const char *more, const char *expected) {
    struct run r;
    const char *error = bind_job(&r, topology, more);
    if (error) fail_msg("%s, %s: %s", topology, more, error);
    const struct weft_job *job = &r.workload->job[0];
    char found[512] = "";
    for (uint32_t k = 0; k < job->ranks; k++) {
        uint32_t server = weft_server_of(&job->server, r.topology, job->host[k]).server;
        bool next = k && server != weft_server_of(&job->server, r.topology, job->host[k - 1]).server;
        sprintf(found + strlen(found), "%s%s",
                next ? " | "
                : k  ? " "
                     : "",
                r.topology->node[r.topology->host[job->host[k]]].name);
    }
    if (strcmp(found, expected)) fail_msg("%s, %s: ranks %s; expected %s", topology, more, found, expected);
    r.outcome = run_again(&r, 1, "");
    assert_int_equal(r.outcome->job[0].ranks_done, job->ranks);
    run_free(&r);
}

static void servers_are_devices(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char topology[256], ranks[256], more[256], expected[256];
        const char *const *port = forms[i].port;
        put(forms[i].name, forms[i].text);
        snprintf(topology, sizeof topology, "{kind: cables, file: '%s/%s', hosts: \"gpu-*\"}", folder, forms[i].name);
        snprintf(ranks, sizeof ranks, "%s %s | %s %s", port[0], port[1], port[4], port[5]);
        // a job with a number of ranks takes whole servers; one that avoids the others by hosts runs, too
        expect_ranks(topology, "  ranks: 4", ranks);
        snprintf(more, sizeof more, "  hosts: \"%s,%s,%s,%s\"", port[5], port[0], port[4], port[1]);
        expect_ranks(topology, more, ranks);
        expect_ranks(topology, "  hosts: \"gpu-1*,gpu-4*\"", ranks);
        expect_ranks(topology, "  hosts: \"gpu-4,gpu-1\"", ranks); // devices
        expect_ranks(topology, "  hosts: \"gpu-[1,4]\"", ranks);
        expect_error(topology, "  hosts: \"gpu-?\"", "server: 2 of 4 servers have fewer than 2 NICs");
        // gpu-2 and gpu-3 are not one server
        snprintf(expected, sizeof expected,
                 "ranks: 6 take 3 servers of 2 GPUs, but of 4 servers 2 are free; NICs are missing: %s",
                 "gpu-2 has 1, gpu-3 has 1");
        expect_error(topology, "  ranks: 6", expected);
        expect_error(topology, "", "server: 2 of 4 servers have fewer than 2 NICs: gpu-2 has 1, gpu-3 has 1; expected");
        snprintf(more, sizeof more, "  hosts: \"%s,%s\"", port[2], port[3]);
        expect_error(topology, more, "server: each of the 2 servers has 1 NIC, not 2; expected server.nics: 1 ");
        expect_error(topology, "  placement: random", "NICs: gpu-2 has 1, gpu-3 has 1; expected");
        expect_error(topology, ", cabling: rail", "no cabling of the job's own");
        expect_error(topology, "  order: listed", "server: 2 of 4 servers have fewer than 2 NICs");
        snprintf(more, sizeof more, "%s\n%s\n%s\n%s\n", port[4], port[5], port[1], port[0]);
        put("ranks.txt", more);
        snprintf(more, sizeof more, "  rank_file: '%s/ranks.txt'\n  ranks: 4", folder);
        snprintf(ranks, sizeof ranks, "%s %s | %s %s", port[4], port[5], port[1], port[0]);
        expect_ranks(topology, more, ranks);
    }
}

/// A device with more links than a server has GPUs: the rest is left out by hosts.
static void more_links_than_gpus(void **state) {
    (void)state;
    put("more.csv", "Device A,Port A,Device B,Port B\n"
                    "gpu-1,ib0,leaf-1,p1\ngpu-1,ib1,leaf-1,p2\ngpu-1,storage,leaf-1,p3\n"
                    "gpu-2,ib0,leaf-1,p4\ngpu-2,ib1,leaf-1,p5\ngpu-2,storage,leaf-1,p6\n");
    char topology[256];
    snprintf(topology, sizeof topology, "{kind: cables, file: '%s/more.csv', hosts: \"gpu-*\"}", folder);
    expect_error(topology, "", "server: gpu-1 has 3 NICs; expected gpus: 3");
    expect_ranks(topology, "  hosts: \"*.ib?\"", "gpu-1.ib0 gpu-1.ib1 | gpu-2.ib0 gpu-2.ib1");
}

#define HEARD(port, name, id)                                                                                          \
    "{\"" port "\": {\"chassis\": {\"" name "\": {\"capability\": [{\"type\": \"Station\", \"enabled\": true}]}}, "    \
    "\"port\": {\"id\": {\"type\": \"ifname\", \"value\": \"" id "\"}}}}"
#define LLDP(body) "{\"lldp\": {\"interface\": [" body "]}}"
#define SPINE(port)                                                                                                    \
    "{\"swp9\": {\"chassis\": {\"spine-1\": {\"capability\": [{\"type\": \"Router\", \"enabled\": true}]}}, "          \
    "\"port\": "                                                                                                       \
    "{\"id\": {\"type\": \"ifname\", \"value\": \"" port "\"}}}}"

/// Neighbours that two leaves hear, by rail.
static void servers_by_lldp(void **state) {
    (void)state;
    put("leaf-1.json", LLDP(HEARD("swp1", "gpu-1", "eth0") "," HEARD("swp2", "gpu-2", "eth0") "," HEARD(
                           "swp3", "gpu-3", "eth0") "," SPINE("swp1")));
    put("leaf-2.json", LLDP(HEARD("swp1", "gpu-1", "eth1") "," HEARD("swp3", "gpu-3", "eth1") "," SPINE("swp2")));
    char topology[256];
    snprintf(topology, sizeof topology, "{kind: cables, file: ['%s/leaf-1.json', '%s/leaf-2.json']}", folder, folder);
    expect_ranks(topology, "  ranks: 4", "gpu-1.eth0 gpu-1.eth1 | gpu-3.eth0 gpu-3.eth1");
    expect_error(topology, "", "server: 1 of 3 servers have fewer than 2 NICs: gpu-2 has 1; expected");
}

/// Names in a list of nodes; those that say nothing are counted, as the user has written them in order.
static void servers_by_name(void **state) {
    (void)state;
    static const char form[] = "{kind: list, nodes: [{name: s, role: switch}, {name: %s, role: host}, {name: %s, role: "
                               "host}, {name: %s, role: host}, {name: %s, role: host}], links: [{from: %s, to: s}, "
                               "{from: %s, to: s}, {from: %s, to: s}, {from: %s, to: s}]}";
    char topology[1024];
#define NAMES(a, b, c, d) snprintf(topology, sizeof topology, form, a, b, c, d, a, b, c, d)
    NAMES("a.hca0", "b.hca0", "a.hca1", "b.hca1");
    expect_ranks(topology, "", "a.hca0 a.hca1 | b.hca0 b.hca1");
    NAMES("'a:0'", "'b:0'", "'a:1'", "'c:1'");
    expect_error(topology, "", "server: 2 of 3 servers have fewer than 2 NICs: b has 1, c has 1; expected");
    NAMES("h0", "h1", "h2", "h3");
    expect_ranks(topology, "", "h0 h1 | h2 h3");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_of_names),     cmocka_unit_test(servers_are_devices),
        cmocka_unit_test(more_links_than_gpus), cmocka_unit_test(servers_by_lldp),
        cmocka_unit_test(servers_by_name),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
