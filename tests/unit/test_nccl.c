// SPDX-License-Identifier: Apache-2.0
// What NCCL writes about servers: which NIC is near which GPU, what is made of it, and what is refused.
// tests/contract/test_collective.c checks that channels carry what they should.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <math.h>

#include "import/nccl.h"
#include "import_files.h"
#include "weft/report.h"

static const char *example(const char *name) {
    static char path[2][512];
    static unsigned next;
    char *at = path[next++ % 2];
    snprintf(at, sizeof path[0], "%s/examples/import/nccl/%s", getenv("WEFT_ROOT"), name);
    return at;
}

#define PCI(body) "<pci link_speed='16.0 GT/s PCIe' link_width='16'>" body "</pci>"
#define GPU(dev, rank) PCI("<gpu dev='" dev "' rank='" rank "' sm='80'/>")
#define NIC(dev, speed) PCI("<nic><net name='n" dev "' dev='" dev "' speed='" speed "'/></nic>")

/// Two GPUs at a PCI switch with one NIC; two at another with two; and one with none, which uses what all can reach.
static const char mixed[] = "<system version='1'><cpu>" PCI(GPU("3", "0") GPU("2", "1") NIC("10", "200000"))
    PCI(GPU("1", "2") NIC("11", "200000") GPU("0", "3") NIC("12", "100000")) PCI(GPU("4", "4"))
        NIC("13", "1000") "</cpu></system>";

static void who_is_near(void **state) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    struct weft__nccl_server s;
    struct weft_error error = {0};
    assert_int_equal(weft__nccl_server_read(put("s.xml", mixed), WEFT_NOWHERE, arena, &s, &error), WEFT_OK);
    static const struct {
        int64_t dev, nic;
        double mbps;
    } expected[] = {{3, 10, 100000}, {2, 10, 100000}, {1, 11, 150000}, {0, 12, 150000}, {4, 10, 500000}};
    assert_int_equal(s.gpus, 5);
    assert_int_equal(s.nics, 3);
    assert_int_equal(s.slow, 1);
    for (uint32_t g = 0; g < s.gpus; g++) {
        assert_int_equal(s.gpu[g].dev, expected[g].dev);
        assert_int_equal(s.nic[s.gpu[g].nic].dev, expected[g].nic);
        assert_true(fabs(s.gpu[g].net_mbps - expected[g].mbps) < 1);
        assert_true(fabs(weft__nccl_gpu_gbps(&s.gpu[g]) - 16. * 16 * 128 / 130) < 1e-9);
    }
    assert_int_equal(weft__nccl_nic_gpu(&s, 11), 2);
    assert_int_equal(weft__nccl_nic_gpu(&s, 13), WEFT_NONE);
    assert_int_equal(weft__nccl_gpu_find(&s, 0), 3);
    weft_arena_free(arena);
}

/// H100: 18 NVLinks of 20.6 GB/s, 400 Gbit/s to each GPU, on rails.
static void the_example_runs(void **state) {
    const char *path[] = {example("graph.xml"), example("topo.xml")};
    struct run r = run_import("nccl", path, 2);
    assert_int_equal(r.topology->hosts, 8);
    assert_int_equal(r.topology->link[0].rate_bps, UINT64_C(400000000000));
    const struct weft_job *job = &r.workload->job[0];
    assert_int_equal(job->server.gpus, 4);
    assert_int_equal(job->server.cabling, WEFT_CABLING_RACK);
    assert_int_equal(job->server.rate_bps, UINT64_C(2966400000000));
    assert_int_equal(r.outcome->job[0].ranks_done, 8);
    // a ring leaves a server by the NIC by which it has come: nothing goes from rail to rail
    for (uint32_t c = 0; c < job->connections; c++)
        if (job->connection[c].flow != WEFT_NONE)
            assert_int_equal(job->connection[c].src % 4, job->connection[c].dst % 4);
    // four rings, each of a NIC: 4 x 50 GB/s less the headers of packets
    const struct weft_run run = {
        .scenario = r.scenario, .topology = r.topology, .workload = r.workload, .outcome = r.outcome};
    double busbw = weft_report_collective(&run, 0, job->ops - 1).busbw * 1e-9;
    assert_true(busbw > 180 && busbw < 200);
    run_free(&r);
}

/// A file for each server says how many there are; servers without channels get weft's rings, channels alone a stated
/// rate; a server of one GPU has no network within.
static void what_is_not_given(void **state) {
    const char *servers[] = {put("a.xml", mixed), put("b.xml", mixed), put("c.xml", mixed)};
    struct run r = run_import("nccl", servers, 3);
    assert_int_equal(r.topology->hosts, 15);
    assert_int_equal(r.topology->link[0].rate_bps, UINT64_C(100000000000));
    assert_string_equal(r.workload->job[0].op[1].name, "all_reduce_ring");
    run_free(&r);
    const char *channels = example("graph.xml");
    r = run_import("nccl", &channels, 1);
    assert_int_equal(r.topology->hosts, 8);
    assert_int_equal(r.topology->link[0].rate_bps, UINT64_C(200000000000));
    run_free(&r);
    const char *one = put("one.xml", "<system><pci><gpu dev='0'/></pci></system>");
    r = run_import("nccl", &one, 1);
    assert_int_equal(r.topology->hosts, 2);
    run_free(&r);
}

static weft_rate_bps rate_of(const struct run *r, const char *port) {
    return r->topology->link[r->topology->port[weft_topology_find_port(r->topology, port)].link].rate_bps;
}

/// Read in place: hosts by server and rank, each as fast as its part of the NICs; leaf k has the k-th of every server,
/// and uplinks as fast as its fastest host.
static void servers_in_place(void **state) {
    put("a.xml", mixed);
    put("b.xml", "<system>" PCI(GPU("0", "0")) PCI(GPU("1", "1")) PCI(GPU("2", "2")) PCI(GPU("3", "3"))
                     PCI(GPU("4", "4") NIC("0", "400000")) "</system>");
    struct run r = RUN(
        run_once, "topology: {kind: nccl, file: [%s/a.xml, %s/b.xml], servers: 3}\nworkload: [{kind: permutation}]\n",
        folder, folder);
    assert_int_equal(r.topology->hosts, 15);
    assert_int_equal(r.topology->switches, 5 + 3);
    assert_int_equal(r.topology->links, 15 + 15);
    assert_int_equal(rate_of(&r, "leaf-0->host-0"), UINT64_C(100000000000));
    assert_int_equal(rate_of(&r, "leaf-2->host-2"), UINT64_C(150000000000));
    assert_int_equal(rate_of(&r, "leaf-2->host-7"), UINT64_C(80000000000)); // a fifth of a NIC that all share
    assert_int_equal(rate_of(&r, "leaf-2->host-12"), UINT64_C(150000000000));
    assert_int_equal(rate_of(&r, "leaf-2->spine-1"), UINT64_C(150000000000));
    assert_int_equal(rate_of(&r, "leaf-4->spine-0"), UINT64_C(500000000000));
    run_free(&r);
    r = RUN(run_once, "topology: {kind: nccl, file: %s/a.xml, network: single}\nworkload: [{kind: permutation}]\n",
            folder);
    assert_int_equal(r.topology->hosts, 10);
    assert_int_equal(r.topology->switches, 1);
    assert_int_equal(rate_of(&r, "switch-0->host-8"), UINT64_C(150000000000));
    run_free(&r);
    put("c.xml", "<system>" PCI(GPU("0", "0")) "</system>");
    char text[300];
    snprintf(text, sizeof text, "topology: {kind: nccl, file: '%s/a.xml,%s/c.xml'}\nworkload: [{kind: permutation}]\n",
             folder, folder);
    assert_int_equal(weft_scenario_file_parse("t.yaml", text, strlen(text), NULL, 0, &r.file, &r.error), WEFT_OK);
    assert_int_equal(run_bind(&r, 0), WEFT_ERROR_INPUT);
    assert_non_null(strstr(r.error.text, "c.xml: has 1 GPUs, and"));
    run_free(&r);
}

#define GRAPH(body) "<graphs version='1'><graph id='0' pattern='4' nchannels='1'>\n" body "</graph></graphs>"

static void bad_files(void **state) {
    static const struct bad_file bad[] = {
        {"nccl", "<system>", "1:9: no element found"},
        {"nccl", "<system/>", "1:1: no <gpu> is in it"},
        {"nccl", "<system version='2'><gpu dev='0'/></system>", "1:1: <system> has version=\"2\"; expected"},
        {"nccl", "<graphs version='2'/>", "1:1: <graphs> has version=\"2\"; expected"},
        {"nccl", "<system>\n<gpu/></system>", "2:1: <gpu> has no attribute 'dev'"},
        {"nccl", "<system>\n<gpu dev='0'/>\n<gpu dev='0'/></system>", "3:1: another GPU of the file has this dev"},
        {"nccl", "<system><gpu dev='0'><nvlink count='0'/></gpu></system>", "<nvlink> has count=\"0\""},
        {"nccl", "<system><net dev='0' speed='fast'/></system>", "<net> has speed=\"...\"; expected a whole number"},
        {"nccl", "<graphs><channel/></graphs>", "1:9: expected <graph> here"},
        {"nccl", "<graphs/>", "no channel of rings (id 0) or trees (id 1) is in it"},
        {"nccl", GRAPH("<channel><net dev='0'/></channel>"), "2:24: the channel has no <gpu>"},
        {"nccl", GRAPH("<channel><cpu/></channel>"), "2:10: expected <gpu> or <net>"},
        {"nccl", GRAPH("<channel><gpu dev='0'/>\n<gpu dev='0'/></channel>"), "3:1: this GPU is in the channel already"},
        {"nccl", GRAPH("<channel><gpu dev='0'/></channel>\n<channel><gpu dev='0'/><gpu dev='1'/></channel>"),
         "the channel has 2 GPUs, those before it have 1"},
        {"nccl", GRAPH("<channel><gpu dev='0x100000000000000'/></channel>"), "from 0 to 2147483647"},
        {"nccl", "<!DOCTYPE system [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><system>&a;</system>", "a document type"},
    };
    refuse_all(bad, sizeof bad / sizeof *bad);
    const char *differ[] = {put("a.xml", mixed), put("b.xml", "<system>\n<gpu dev='0'/></system>")};
    struct weft_error error;
    char *text = import("nccl", differ, 2, &error);
    assert_non_null(strstr(error.text, "b.xml: has 1 GPUs, and "));
    assert_string_equal(text, "");
    free(text);
    const char *apart[] = {put("a.xml", "<system><gpu dev='0'/></system>"),
                           put("g.xml", GRAPH("<channel><gpu dev='7'/></channel>"))};
    text = import("nccl", apart, 2, &error);
    assert_non_null(strstr(error.text, "g.xml: channel 0 of graph 0 has GPU 7; expected one of the 1 in "));
    free(text);
}

/// Nested deeper than any such file.
static void depth(void **state) {
    char text[4096] = "<system>";
    for (int k = 0; k < 100; k++)
        strcat(text, "<pci>");
    const struct bad_file bad = {"nccl", text, "expected at most 64 levels of elements"};
    refuse_all(&bad, 1);
}

/// Each message of the collective that does not fit the files or the job.
static void what_does_not_fit(void **state) {
    static const struct {
        const char *collective, *more, *expected;
    } bad[] = {
        {"", ", server: {gpus: 2}", "is for servers of 4 GPUs; expected a group with as many ranks in each"},
        {", collective: all_to_all", ", server: {gpus: 4}", "'all_to_all' goes round no channels"},
        {", server: /none.xml", ", server: {gpus: 4}", "cannot read '/none.xml'"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[2048];
        struct run r = {0};
        snprintf(text, sizeof text,
                 "topology: {kind: single, hosts: 8}\n"
                 "workload: [{kind: collective, collective: {kind: nccl, file: %s%s}%s}]\n",
                 example("graph.xml"), bad[i].collective, bad[i].more);
        assert_int_equal(weft_scenario_file_parse("t.yaml", text, strlen(text), NULL, 0, &r.file, &r.error), WEFT_OK);
        assert_int_equal(run_bind(&r, 0), WEFT_ERROR_INPUT);
        if (!strstr(r.error.text, bad[i].expected)) fail_msg("%s", r.error.text);
        run_free(&r);
    }
    const char *other = put("graph.xml", GRAPH("<channel><gpu dev='0x7'/><gpu dev='0'/></channel>"));
    char text[1024];
    struct run r = {0};
    snprintf(text, sizeof text,
             "topology: {kind: single, hosts: 4}\n"
             "workload: [{kind: collective, server: {gpus: 2}, collective: {kind: nccl, file: %s}}]\n",
             other);
    assert_int_equal(weft_scenario_file_parse("t.yaml", text, strlen(text), NULL, 0, &r.file, &r.error), WEFT_OK);
    assert_int_equal(run_bind(&r, 0), WEFT_ERROR_INPUT);
    assert_non_null(strstr(r.error.text, "graph.xml: channel 0 has GPU 7; expected one of the 2 of the server"));
    run_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_near),       cmocka_unit_test(the_example_runs), cmocka_unit_test(what_is_not_given),
        cmocka_unit_test(servers_in_place),  cmocka_unit_test(bad_files),        cmocka_unit_test(depth),
        cmocka_unit_test(what_does_not_fit),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
