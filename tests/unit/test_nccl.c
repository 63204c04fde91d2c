// SPDX-License-Identifier: Apache-2.0
// What NCCL writes about servers: which NIC is near which GPU, what is made of it, and what is refused.
// tests/contract/test_collective.c checks that channels carry what they should.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <math.h>

#include "import/nccl/nccl.h"
#include "import_files.h"
#include "report/text.h"
#include "weft/outcome.h"
#include "weft/placement.h"
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
        int64_t dev;
        uint32_t host;
    } expected[] = {{3, 0}, {2, 0}, {1, 1}, {0, 2}, {4, 0}};
    static const double mbps[] = {200000, 200000, 100000};
    assert_int_equal(s.gpus, 5);
    assert_int_equal(s.nics, 3);
    assert_int_equal(s.slow, 1);
    assert_int_equal(s.hosts, 3);
    for (uint32_t g = 0; g < s.gpus; g++) {
        assert_int_equal(s.gpu[g].dev, expected[g].dev);
        assert_int_equal(s.gpu[g].host, expected[g].host);
        assert_true(fabs(weft__nccl_gpu_gbps(&s.gpu[g]) - 16. * 16 * 128 / 130) < 1e-9);
    }
    for (uint32_t h = 0; h < s.hosts; h++)
        assert_true(fabs(s.host[h].mbps - mbps[h]) < 1);
    assert_int_equal(s.host[0].gpus, 3); // the GPU without a NIC of its own uses one of the three, too
    assert_int_equal(s.host[0].gpu[2], 4);
    assert_int_equal(weft__nccl_nic_host(&s, 11), 1);
    assert_int_equal(weft__nccl_nic_host(&s, 13), WEFT_NONE);
    assert_int_equal(weft__nccl_gpu_find(&s, 0), 3);
    weft_arena_free(arena);
}

/// `gpus` GPUs and `nics` NICs at one PCI switch: how many hosts, with how many NICs and GPUs each.
static void who_shares(void **state) {
    static const struct {
        unsigned gpus, nics, hosts, first_nics, first_gpus, last_nics, last_gpus;
    } expected[] = {{1, 1, 1, 1, 1, 1, 1}, {8, 1, 1, 1, 8, 1, 8}, {8, 2, 2, 1, 4, 1, 4},
                    {8, 8, 8, 1, 1, 1, 1}, {2, 4, 2, 2, 1, 2, 1}, {1, 8, 1, 8, 1, 8, 1},
                    {2, 3, 2, 1, 1, 2, 1}, {3, 2, 2, 1, 2, 1, 1}, {4, 0, 4, 0, 1, 0, 1}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        char text[4096] = "<system><pci>", *at = text + strlen(text);
        for (unsigned k = 0; k < expected[i].gpus; k++)
            at += sprintf(at, "<pci><gpu dev='%u' rank='%u'/></pci>", k, k);
        for (unsigned k = 0; k < expected[i].nics; k++)
            at += sprintf(at, "<nic><net dev='%u' speed='1000'/></nic>", k);
        strcpy(at, "</pci></system>");
        struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
        struct weft__nccl_server s;
        struct weft_error error = {0};
        assert_int_equal(weft__nccl_server_read(put("s.xml", text), WEFT_NOWHERE, arena, &s, &error), WEFT_OK);
        assert_int_equal(s.hosts, expected[i].hosts);
        assert_int_equal(s.host[0].nics, expected[i].first_nics);
        assert_int_equal(s.host[0].gpus, expected[i].first_gpus);
        assert_int_equal(s.host[s.hosts - 1].nics, expected[i].last_nics);
        assert_int_equal(s.host[s.hosts - 1].gpus, expected[i].last_gpus);
        weft_arena_free(arena);
    }
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
    assert_int_equal(r.topology->hosts, 9);
    assert_int_equal(r.workload->job[0].ranks, 15);
    assert_int_equal(r.topology->link[0].rate_bps, UINT64_C(200000000000));
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

/// Read in place: hosts by server and rank, each as fast as its NIC; leaf k has the k-th of every server, and uplinks
/// as fast as its fastest host.
static void servers_in_place(void **state) {
    put("a.xml", mixed);
    put("b.xml", "<system>" PCI(GPU("0", "0")) PCI(GPU("1", "1")) PCI(GPU("2", "2")) PCI(GPU("3", "3"))
                     PCI(GPU("4", "4") NIC("0", "400000")) "</system>");
    struct run r = RUN(
        run_once, "topology: {kind: nccl, file: [%s/a.xml, %s/b.xml], servers: 3}\nworkload: [{kind: permutation}]\n",
        folder, folder);
    assert_int_equal(r.topology->hosts, 3 + 1 + 3);
    assert_int_equal(r.topology->switches, 3 + 3);
    assert_int_equal(r.topology->links, 7 + 9);
    assert_int_equal(rate_of(&r, "leaf-0->host-0"), UINT64_C(200000000000));
    assert_int_equal(rate_of(&r, "leaf-2->host-2"), UINT64_C(100000000000));
    assert_int_equal(rate_of(&r, "leaf-0->host-3"), UINT64_C(400000000000)); // a NIC that all share
    assert_int_equal(rate_of(&r, "leaf-2->host-6"), UINT64_C(100000000000));
    assert_int_equal(rate_of(&r, "leaf-2->spine-1"), UINT64_C(100000000000));
    assert_int_equal(rate_of(&r, "leaf-0->spine-0"), UINT64_C(400000000000));
    assert_int_equal(r.topology->machines, 3);
    assert_string_equal(r.topology->machine[r.topology->machine_of[3]].name, "server-1");
    assert_int_equal(r.topology->nic[r.topology->machine[1].nic0].gpus, 5);
    run_free(&r);
    r = RUN(run_once, "topology: {kind: nccl, file: %s/a.xml, network: single}\nworkload: [{kind: permutation}]\n",
            folder);
    assert_int_equal(r.topology->hosts, 6);
    assert_int_equal(r.topology->switches, 1);
    assert_int_equal(rate_of(&r, "switch-0->host-5"), UINT64_C(100000000000));
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

// --- NICs that GPUs share -----------------------------------------------------------------------------------------

/// A server of 8 GPUs and `nics` NICs of 100 Gbit/s, each near 8 / nics consecutive GPUs.
static const char *server_of(unsigned nics) {
    static char text[8192];
    char *at = text + sprintf(text, "<system version='1'>");
    for (unsigned n = 0; n < nics; n++) {
        at += sprintf(at, "<pci link_speed='32.0 GT/s PCIe' link_width='16'>");
        for (unsigned g = n * 8 / nics; g < (n + 1) * 8 / nics; g++)
            at += sprintf(
                at, "<pci link_speed='32.0 GT/s PCIe' link_width='16'><gpu dev='%u' rank='%u' sm='90'/></pci>", g, g);
        at += sprintf(at, "<nic><net dev='%u' speed='100000'/></nic></pci>", n);
    }
    strcpy(at, "</system>");
    return text;
}

/// One channel for each NIC, which enters and leaves by it: the GPUs from its first one on.
static const char *channels_of(unsigned nics) {
    static char text[16384];
    char *at = text + sprintf(text, "<graphs version='1'>");
    for (unsigned id = 0; id < 2; id++) {
        at += sprintf(at, "<graph id='%u' pattern='%u' nchannels='%u'>", id, id ? 1 : 4, nics);
        for (unsigned n = 0; n < nics; n++) {
            at += sprintf(at, "<channel><net dev='%u'/>", n);
            for (unsigned k = 0; k < 8; k++)
                at += sprintf(at, "<gpu dev='%u'/>", (n * 8 / nics + k) % 8);
            at += sprintf(at, "<net dev='%u'/></channel>", n);
        }
        at += sprintf(at, "</graph>");
    }
    strcpy(at, "</graphs>");
    return text;
}

/// An ACK of 84 bytes of line time goes back for each packet of 4096 B in 4174, and the ring fills both directions.
#define GOODPUT (12.5 * 4096 / (4174 + 84))

static double busbw_of(const struct run *r) {
    const struct weft_run run = {
        .scenario = r->scenario, .topology = r->topology, .workload = r->workload, .outcome = r->outcome};
    assert_int_equal(r->outcome->job[0].ranks_done, r->workload->job[0].ranks);
    return weft_report_collective(&run, 0, r->workload->job[0].ops - 1).busbw * 1e-9;
}

/// nccl-tests 196, NCCL 392: the GPU by which a channel leaves its server has the whole NIC, however many share it.
/// Two servers: a ring crosses each NIC once; a tree sends each byte once each way, so busbw is 2 x 15 / 16 times that.
static void a_gpu_alone_has_the_nic(void **state) {
    for (unsigned nics = 1; nics < 8; nics *= 2) {
        put("topo.xml", server_of(nics));
        put("graph.xml", channels_of(nics));
        for (unsigned tree = 0; tree < 2; tree++) {
            struct run r = RUN(run_once,
                               "topology: {kind: nccl, file: %s/topo.xml, network: single}\n"
                               "workload:\n- kind: collective\n  size: %uMiB\n"
                               "  server: {gpus: 8, rate: %s}\n"
                               "  collective: {kind: nccl, file: %s/graph.xml, server: %s/topo.xml, collective: %s}\n",
                               folder, tree ? 32 * nics : 4 * nics, tree ? "4Tbps" : "2Tbps", folder, folder,
                               tree ? "all_reduce_tree" : "all_reduce_ring");
            assert_int_equal(r.topology->hosts, 2 * nics);
            double expected = nics * GOODPUT * (tree ? 2. * 15 / 16 : 1), found = busbw_of(&r);
            if (found < 0.93 * expected || found > 1.02 * expected)
                fail_msg("%u NICs, tree %u: %g GB/s, expected %g", nics, tree, found, expected);
            run_free(&r);
        }
    }
}

/// GPUs that send together share the NIC, and within the server each has its own port, whatever topology has the NICs.
static void gpus_together_share_the_nic(void **state) {
    static const char form[] = "topology: {kind: single, hosts: %u, rate: 100Gbps}\nworkload: [{kind: collective, "
                               "collective: %s, size: 16MiB, server: {gpus: 8, nics: %u, rate: 2Tbps}}]\n";
    for (unsigned nics = 1; nics <= 8; nics *= 2) {
        // half of what a GPU sends goes to the other server: 8 / 16 of its bytes, and busbw counts 15 / 16
        struct run r = RUN(run_once, form, 2 * nics, "all_to_all", nics);
        double expected = nics / 8. * GOODPUT * 15 / 8, found = busbw_of(&r);
        if (found < 0.9 * expected || found > 1.02 * expected)
            fail_msg("%u NICs: %g GB/s, expected %g", nics, found, expected);
        assert_int_equal(r.workload->job[0].ranks, 16);
        run_free(&r);
        r = RUN(run_once, form, nics == 8 ? 8 : 2 * nics, "all_reduce_tree", nics);
        assert_int_equal(r.workload->job[0].ranks, nics == 8 ? 8 : 16);
        run_free(&r);
    }
    // within a server nothing is slower for a shared NIC: 8 GPUs of one server, and the same with a NIC each
    struct run one = RUN(run_once, "topology: {kind: single, hosts: 2, rate: 100Gbps}\nworkload: [{kind: collective, "
                                   "collective: all_to_all, hosts: host-0, server: {gpus: 8, nics: 1}, size: 8MiB}]\n");
    struct run own = RUN(run_once, "topology: {kind: single, hosts: 16, rate: 100Gbps}\nworkload: [{kind: collective, "
                                   "collective: all_to_all, hosts: host-0..7, server: {gpus: 8}, size: 8MiB}]\n");
    assert_true(busbw_of(&one) == busbw_of(&own));
    run_free(&one);
    run_free(&own);
}

/// A job of one all-to-all of 8 MiB on servers of 8 GPUs, over `network`.
static struct run all_to_all(unsigned servers, const char *network, const char *pxn) {
    return RUN(run_once,
               "topology: {kind: nccl, file: %s/topo.xml, servers: %u, network: %s, delay: 500ns}\n"
               "workload:\n- {kind: collective, size: 8MiB, collective: {kind: all_to_all%s}, server: {gpus: 8, rate: "
               "2.9664Tbps}}\n",
               folder, servers, network, pxn);
}

/// nccl-tests 130: with PXN a network of rails is as good as one switch, and each GPU sends (R - g) / R of its data
/// through its NIC, so busbw is NIC x (R - 1) / (R - g). Without it, messages collide in the spines.
static void all_to_alls_on_rails(void **state) {
    for (unsigned nics = 2; nics <= 8; nics *= 4) {
        put("topo.xml", server_of(nics));
        for (unsigned servers = 2; servers <= 4; servers *= 2) {
            double ranks = 8 * servers, expected = nics / 8. * GOODPUT * (ranks - 1) / (ranks - 8);
            struct run rail = all_to_all(servers, "rail", ""), single = all_to_all(servers, "single", "");
            struct run off = all_to_all(servers, "rail", ", pxn: off");
            if (busbw_of(&rail) < 0.96 * expected || busbw_of(&rail) > 1.005 * expected)
                fail_msg("%u NICs, %u servers: %g GB/s, expected %g", nics, servers, busbw_of(&rail), expected);
            assert_true(fabs(busbw_of(&rail) / busbw_of(&single) - 1) < 0.01);
            assert_true(busbw_of(&off) < 0.9 * busbw_of(&rail) || nics == 2);
            // what is sent over the network stays on its rail
            const struct weft_job *job = &rail.workload->job[0];
            for (uint32_t c = 0; c < job->connections; c++)
                if (job->connection[c].flow != WEFT_NONE)
                    assert_int_equal(job->host[job->connection[c].src] % nics,
                                     job->host[job->connection[c].dst] % nics);
            run_free(&rail);
            run_free(&single);
            run_free(&off);
        }
    }
}

/// auto: on for servers from NCCL's files, off elsewhere; the report says which.
static void who_uses_pxn(void **state) {
    static const char form[] =
        "topology: {kind: leaf_spine, leaves: 4, hosts_per_leaf: 2, spines: 2}\nworkload: [{kind: "
        "collective, size: 1MiB, collective: {kind: all_to_all%s}, server: {gpus: 4, cabling: "
        "rail}}]\n";
    static const struct {
        const char *pxn, *says;
        bool relays;
    } cases[] = {{"", "no PXN: messages of all_to_all", false},
                 {", pxn: off", "no PXN: messages of all_to_all", false},
                 {", pxn: on", "  PXN: messages of all_to_all", true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run r = RUN(run_text, form, cases[i].pxn);
        const struct weft_job_op *op = &r.workload->job[0].op[r.workload->job[0].ops - 1];
        assert_int_equal(op->ops->relays(op->conf, &op->shape), cases[i].relays);
        const struct weft_run run = {
            .scenario = r.scenario, .topology = r.topology, .workload = r.workload, .outcome = r.outcome};
        char *text;
        size_t size;
        FILE *file = open_memstream(&text, &size);
        weft__report_jobs_table(file, &run);
        fclose(file);
        if (!strstr(text, cases[i].says)) fail_msg("%s: %s", cases[i].pxn, text);
        free(text);
        run_free(&r);
    }
}

/// GPUs that share NICs have lines of their own in a rank file, and any number of threads the same run.
static void shared_nics_are_placed(void **state) {
    put("topo.xml", server_of(2));
    static const char form[] = "topology: {kind: nccl, file: %s/topo.xml, servers: 4}\n"
                               "workload: [{kind: collective, collective: all_reduce_ring, size: 1MiB, "
                               "ranks: 16, server: {gpus: 8}, placement: {kind: random, seed: 3}}]\n";
    struct run one = RUN(run_text, form, folder);
    const struct weft_job *job = &one.workload->job[0];
    for (uint32_t r = 0; r < 16; r++) {
        assert_int_equal(job->gpu[r], r % 8);
        assert_int_equal(job->host[r] % 2, r % 8 / 4);
    }
    char *text, path[512];
    size_t size;
    FILE *file = open_memstream(&text, &size);
    weft_rank_file_write(file, "", job, one.topology, job->host, job->gpu);
    fclose(file);
    snprintf(path, sizeof path, "%s", put("ranks.txt", text));
    free(text);
    struct run read = RUN(run_once,
                          "topology: {kind: nccl, file: %s/topo.xml, servers: 4}\nworkload: [{kind: "
                          "collective, collective: all_reduce_ring, size: 1MiB, rank_file: '%s', "
                          "server: {gpus: 8}}]\n",
                          folder, path);
    assert_true(one.outcome->digest == read.outcome->digest);
    run_free(&one);
    run_free(&read);
}

static void bad_shares(void **state) {
    static const struct {
        const char *topology, *server, *expected;
    } bad[] = {
        {"{kind: single, hosts: 8}", "{gpus: 8, nics: 3}", "8 GPUs cannot share 3 NICs equally"},
        {"{kind: single, hosts: 9}", "{gpus: 8, nics: 2}", "server.nics: 9 hosts are not servers of 2"},
        {"{kind: nccl, file: FOLDER/topo.xml}", "{gpus: 4}",
         "server-0 has 8 GPUs, which share 2 NICs; expected gpus: 8"},
        {"{kind: nccl, file: FOLDER/topo.xml}", "{gpus: 1}", "expected gpus: 8"},
        {"{kind: nccl, file: FOLDER/topo.xml}", "{gpus: 8, nics: 4}", "no nics of the job's own"},
        {"{kind: nccl, file: FOLDER/topo.xml}", "{gpus: 8}, rank_file: FOLDER/bad.txt",
         "bad.txt:2:8: GPU 5 is none of the 4 that share host-0"},
        {"{kind: nccl, file: FOLDER/topo.xml}", "{gpus: 8}, rank_file: FOLDER/twice.txt",
         "twice.txt:2:1: host-0 has rank 0 already; expected each GPU once"},
    };
    put("topo.xml", server_of(2));
    put("bad.txt", "host-0 0\nhost-0 5\n");
    put("twice.txt", "host-0 2\nhost-0 2\n");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char form[1024], text[2048], *to = text;
        snprintf(form, sizeof form, "topology: %s\nworkload: [{kind: collective, server: %s}]\n", bad[i].topology,
                 bad[i].server);
        for (const char *p = form; *p;)
            if (!strncmp(p, "FOLDER", 6)) {
                to += sprintf(to, "%s", folder);
                p += 6;
            } else {
                *to++ = *p++;
            }
        *to = 0;
        struct run r = {0};
        assert_int_equal(weft_scenario_file_parse("t.yaml", text, strlen(text), NULL, 0, &r.file, &r.error), WEFT_OK);
        assert_int_equal(run_bind(&r, 0), WEFT_ERROR_INPUT);
        if (!strstr(r.error.text, bad[i].expected)) fail_msg("%s", r.error.text);
        run_free(&r);
    }
}

// --- AMD's files, and lists of PCI devices ------------------------------------------------------------------------

#define AMD(busid, dev, gcn, links)                                                                                    \
    "<pci busid='" busid "' class='0x120000' link_speed='32.0 GT/s PCIe' link_width='16'><gpu dev='" dev "' sm='304' " \
    "gcn='" gcn "' arch='38911' rank='" dev "' gdr='1'>" links "</gpu></pci>"
#define XGMI(target, count) "<xgmi target='" target "' count='" count "' tclass='0x120000'/>"

/// RCCL's topo.h: 48 GB/s a link of gfx94x and gfx95x, 36 of gfx90a, 24 of all before; older files have bare numbers.
static void links_of_amd(void **state) {
    static const struct {
        const char *text;
        double gigabytes;
        uint32_t unlinked;
    } cases[] = {
        {AMD("a", "0", "gfx942", XGMI("b", "1")) AMD("b", "1", "gfx942", XGMI("a", "1")), 48, 0},
        {AMD("a", "0", "942", XGMI("b", "2")) AMD("b", "1", "942", XGMI("a", "2")), 96, 0},
        {AMD("a", "0", "gfx950", XGMI("b", "1") XGMI("c", "1")) AMD("b", "1", "gfx950", XGMI("a", "1") XGMI("c", "1"))
             AMD("c", "2", "gfx950", XGMI("a", "1") XGMI("b", "1")),
         96, 0},
        {AMD("a", "0", "gfx90a", XGMI("b", "4")) AMD("b", "1", "gfx90a", XGMI("a", "4")), 144, 0},
        {AMD("a", "0", "910", XGMI("b", "1")) AMD("b", "1", "910", XGMI("a", "1")), 36, 0},
        {AMD("a", "0", "908", XGMI("b", "1") XGMI("c", "1")) AMD("b", "1", "908", XGMI("a", "1") XGMI("d", "1"))
             AMD("c", "2", "908", XGMI("a", "1") XGMI("d", "1")) AMD("d", "3", "908", XGMI("b", "1") XGMI("c", "1")),
         48, 2}, // a square: two pairs have no link
        {AMD("a", "0", "gfx942", "") AMD("b", "1", "gfx942", ""), 32. * 16 * 128 / 130 / 8, 0}, // PCI
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[4096];
        snprintf(text, sizeof text, "<system version='2'><cpu>%s</cpu></system>", cases[i].text);
        struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
        struct weft__nccl_server s;
        struct weft_error error = {0};
        if (weft__nccl_server_read(put("s.xml", text), WEFT_NOWHERE, arena, &s, &error)) fail_msg("%s", error.text);
        for (uint32_t g = 0; g < s.gpus; g++)
            if (fabs(weft__nccl_gpu_gbps(&s.gpu[g]) - 8 * cases[i].gigabytes) > 1e-9)
                fail_msg("%zu: %g Gbit/s", i, weft__nccl_gpu_gbps(&s.gpu[g]));
        assert_int_equal(s.unlinked, cases[i].unlinked);
        weft_arena_free(arena);
    }
}

/// Two GPUs of AMD and the rate in the scenario: XGMI, not PCI. A NIC of 200 Tbit/s is not believed.
static void an_import_of_amd(void **state) {
    static const char text[] = "<system version='2'><cpu><pci>" AMD("a", "0", "gfx942", XGMI("b", "1"))
        NIC("0", "400000") "</pci><pci>" AMD("b", "1", "gfx942", XGMI("a", "1"))
            NIC("1", "200000000") "</pci></cpu></system>";
    const char *path = put("amd.xml", text);
    struct weft_error error;
    char *written = import("nccl", &path, 1, &error);
    static const char *const says[] = {
        "GPUs of a server talk at 384Gbps each way, what RCCL reckons with for 1 XGMI links of 48 GB/s (gfx942)",
        "the speed of 1 NIC, 200000000 Mbit/s: no NIC is that fast",
        "200Gbps for 1 NIC whose speed no file says (rate)", "server: {gpus: 2, rate: 384Gbps}"};
    for (size_t i = 0; i < sizeof says / sizeof *says; i++)
        if (!strstr(written, says[i])) fail_msg("%s\n%s", written, says[i]);
    free(written);
    struct run r = run_import("nccl", &path, 1);
    assert_int_equal(rate_of(&r, "leaf-0->host-0"), UINT64_C(400000000000));
    assert_int_equal(rate_of(&r, "leaf-1->host-1"), UINT64_C(200000000000));
    run_free(&r);
}

/// A server without a NIC: what an import says of NICs is said once, and is not that some have no speed.
static void an_import_without_nics(void **state) {
    const char *path = put("bare.xml", "<system version='2'><cpu><pci>" AMD("a", "0", "gfx942", XGMI("b", "1"))
                                           AMD("b", "1", "gfx942", XGMI("a", "1")) "</pci></cpu></system>");
    struct weft_error error;
    char *written = import("nccl", &path, 1, &error);
    if (!strstr(written, "2 GPUs, 0 NICs") || strstr(written, "whose speed no file says") ||
        !strstr(written, "# - the NICs: ") || !strstr(written, " has none, and each GPU gets one of 200Gbps (rate)"))
        fail_msg("%s", written);
    free(written);
}

#define DEVICE(busid, class) "<pci busid='" busid "' class='" class "' link_speed='32.0 GT/s' link_width='16'/>"

/// Files of cloud images (NCCL_TOPO_FILE): PCI devices by their class, NICs with <net> or without. A VGA controller and
/// a bridge are no GPUs.
static void lists_of_devices(void **state) {
    static const char bare[] = "<system version='1'><cpu><pci class='0x060400'>" DEVICE("0000:21:00.0", "0x020000")
        DEVICE("0000:22:00.0", "0x030200")
            DEVICE("0000:23:00.0", "0x030200") "</pci><pci class='0x060400'>" DEVICE("0000:10:00.0", "0x020700")
                DEVICE("0000:11:00.0", "0x120000") "</pci>" DEVICE("0000:99:00.0", "0x030000") "</cpu></system>";
    const char *path = put("static.xml", bare);
    struct run r = run_import("nccl", &path, 1);
    assert_int_equal(r.workload->job[0].ranks, 2 * 3);
    assert_int_equal(r.topology->hosts, 2 * 2);
    assert_int_equal(rate_of(&r, "leaf-0->host-0"), UINT64_C(200000000000)); // --set rate
    assert_int_equal(r.topology->nic[r.topology->machine[0].nic0].gpus, 1);  // GPU 0 is that of the first bus
    assert_int_equal(r.topology->nic[r.topology->machine[0].nic0 + 1].gpus, 2);
    run_free(&r);
    path = put("static.xml", "<system><pci>" DEVICE("0000:22:00.0", "0x030200") NIC("0", "400000") "</pci></system>");
    r = run_import("nccl", &path, 1);
    assert_int_equal(rate_of(&r, "switch-0->host-0"), UINT64_C(400000000000));
    run_free(&r);
}

/// Servers whose channels are in different orders, as those of different machines are.
static void channels_of_each_server(void **state) {
    static const char ring[] =
        "<graphs version='1'><graph id='0' pattern='4' nchannels='1'><channel><net dev='0'/><gpu "
        "dev='%d'/><gpu dev='%d'/><gpu dev='%d'/><net dev='0'/></channel>%s</graph></graphs>";
    char one[512], two[1024];
    snprintf(one, sizeof one, ring, 0, 1, 2, "");
    snprintf(two, sizeof two, ring, 2, 0, 1, "<channel><gpu dev='0'/><gpu dev='1'/><gpu dev='2'/></channel>");
    const char *paths[] = {put("one.xml", one), put("two.xml", two)};
    struct run r = run_import("nccl", paths, 2);
    const struct weft_job *job = &r.workload->job[0];
    assert_int_equal(job->ranks, 6);
    static const uint32_t next[] = {1, 2, 5, 4, 0, 3}; // 0 1 2, then 5 3 4
    uint32_t n = 0;
    for (uint32_t c = 0; c < job->connections; c++) {
        if (job->connection[c].communicator != job->op[job->ops - 1].communicator) continue; // a barrier's
        assert_int_equal(job->connection[c].dst, next[job->connection[c].src]);
        n++;
    }
    assert_int_equal(n, 6); // one channel: those that both have
    assert_int_equal(r.outcome->job[0].ranks_done, 6);
    run_free(&r);
    paths[1] = put("two.xml", "<graphs><graph id='0' pattern='4'><channel><gpu dev='0'/></channel></graph></graphs>");
    struct weft_error error;
    free(import("nccl", paths, 2, &error));
    assert_non_null(strstr(error.text, "two.xml: has channels of 1 GPUs, and"));
}

#define GRAPH(body) "<graphs version='1'><graph id='0' pattern='4' nchannels='1'>\n" body "</graph></graphs>"

static void bad_files(void **state) {
    static const struct bad_file bad[] = {
        {"nccl", "<system>", "1:9: no element found"},
        {"nccl", "<system/>", "1:1: no <gpu> is in it, and no <pci> with the class of a GPU"},
        {"nccl", "<system version='3'><gpu dev='0'/></system>", "1:1: <system> has version=\"3\"; expected"},
        {"nccl", "<graphs version='3'/>", "1:1: <graphs> has version=\"3\"; expected"},
        {"nccl", "<system><gpu dev='0'><xgmi count='0'/></gpu></system>", "<xgmi> has count=\"0\""},
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

/// Goals of a job's operations of kind nccl, in order: as letters of (r)educe, (g)ather, s(c)atter, e(x)change, (n)ext.
static void assert_goals(struct run *r, const char *expected) {
    static const char letter[WEFT_GOALS] = {[WEFT_GOAL_ALL_REDUCE] = 'r',
                                            [WEFT_GOAL_ALL_GATHER] = 'g',
                                            [WEFT_GOAL_REDUCE_SCATTER] = 'c',
                                            [WEFT_GOAL_EXCHANGE] = 'x',
                                            [WEFT_GOAL_NEXT] = 'n'};
    const struct weft_job *job = &r->workload->job[0];
    char found[64] = "";
    for (uint32_t i = 0; i < job->ops; i++)
        if (job->op[i].name && !strcmp(job->op[i].name, "nccl") && !strchr(found, letter[job->op[i].goal]))
            snprintf(found + strlen(found), sizeof found - strlen(found), "%c", letter[job->op[i].goal]);
    assert_int_equal(r->outcome->job[0].ranks_done, job->ranks);
    assert_string_equal(found, expected);
    run_free(r);
}

#define SERVERS "topology: {kind: single, hosts: 16, rate: 400Gbps}\nworkload: [{server: {gpus: 8}, "

/// Jobs, and files of other tools, name NCCL in place of an algorithm; the files say what each operation is for.
static void chosen_in_jobs(void **state) {
    struct run r = RUN(run_once, SERVERS
                       "kind: job, operations: [{collective: nccl, size: 1MB}, {collective: {kind: nccl, function: "
                       "all_to_all}, size: 1MB}, {collective: {kind: nccl, function: send_recv}, size: 1MB}]}]\n");
    assert_goals(&r, "rxn");
    r = RUN(run_once,
            SERVERS "kind: simai, file: %s, all_reduce: nccl, all_gather: nccl, reduce_scatter: nccl, "
                    "all_to_all: nccl}]\n",
            example("../simai.txt"));
    assert_goals(&r, "rgxc");
    r = RUN(run_once,
            "topology: {kind: single, hosts: 4}\nworkload: [{server: {gpus: 2}, kind: chakra, file: %s, "
            "all_reduce: nccl}]\n",
            example("../chakra/step"));
    assert_goals(&r, "r");
}

/// NCCL_IB_QPS_PER_CONNECTION and NCCL_IB_SPLIT_DATA_ON_QPS are the job's qps and qp_scaling, which may not differ.
static void queue_pairs_of_connections(void **state) {
    static const char form[] = SERVERS "kind: collective, size: 1MB, collective: {kind: nccl, %s}, %s}]\n";
    struct run r = RUN(run_once, form, "NCCL_IB_QPS_PER_CONNECTION: 4, NCCL_IB_SPLIT_DATA_ON_QPS: 1", "qps: 4");
    struct run same = RUN(run_once, form, "function: all_reduce", "qps: 4, qp_scaling: split");
    assert_int_equal(r.workload->flow[0].qps, 4);
    assert_int_equal(r.outcome->digest, same.outcome->digest);
    run_free(&r);
    run_free(&same);
    static const char *const bad[][3] = {
        {"NCCL_IB_QPS_PER_CONNECTION: 4", "qps: 2", "qps: 2, and NCCL_IB_QPS_PER_CONNECTION: 4"},
        {"NCCL_IB_SPLIT_DATA_ON_QPS: 1", "qp_scaling: round_robin", "NCCL_IB_SPLIT_DATA_ON_QPS: 1; expected one"},
        {"NCCL_ALGO: collnetdirect", "qps: 1", "SHARP"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[1024];
        struct run b = {0};
        snprintf(text, sizeof text, form, bad[i][0], bad[i][1]);
        assert_int_equal(weft_scenario_file_parse("t.yaml", text, strlen(text), NULL, 0, &b.file, &b.error), WEFT_OK);
        assert_int_equal(run_bind(&b, 0), WEFT_ERROR_INPUT);
        if (!strstr(b.error.text, bad[i][2])) fail_msg("%s", b.error.text);
        run_free(&b);
    }
}

/// The hops between servers of a ring's channels: with NCCL_CROSS_NIC 1 from another rail, else on it.
static void rings_cross_nics(void **state) {
    for (unsigned cross = 0; cross < 3; cross++) {
        struct run r = RUN(run_once,
                           SERVERS "kind: collective, size: 64MB, collective: {kind: nccl, NCCL_ALGO: ring, "
                                   "NCCL_CROSS_NIC: %u}}]\n",
                           cross);
        const struct weft_job *job = &r.workload->job[0];
        uint32_t crossing = 0, flows = 0;
        for (uint32_t c = 0; c < job->connections; c++) {
            if (job->connection[c].flow == WEFT_NONE) continue;
            flows++;
            crossing += job->connection[c].src % 8 != job->connection[c].dst % 8;
        }
        assert_true(flows > 0);
        assert_int_equal(crossing, cross == 1 ? flows : 0);
        run_free(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_near),
        cmocka_unit_test(the_example_runs),
        cmocka_unit_test(what_is_not_given),
        cmocka_unit_test(who_shares),
        cmocka_unit_test(a_gpu_alone_has_the_nic),
        cmocka_unit_test(gpus_together_share_the_nic),
        cmocka_unit_test(shared_nics_are_placed),
        cmocka_unit_test(all_to_alls_on_rails),
        cmocka_unit_test(who_uses_pxn),
        cmocka_unit_test(bad_shares),
        cmocka_unit_test(links_of_amd),
        cmocka_unit_test(an_import_of_amd),
        cmocka_unit_test(an_import_without_nics),
        cmocka_unit_test(lists_of_devices),
        cmocka_unit_test(channels_of_each_server),
        cmocka_unit_test(servers_in_place),
        cmocka_unit_test(bad_files),
        cmocka_unit_test(depth),
        cmocka_unit_test(what_does_not_fit),
        cmocka_unit_test(chosen_in_jobs),
        cmocka_unit_test(queue_pairs_of_connections),
        cmocka_unit_test(rings_cross_nics),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
