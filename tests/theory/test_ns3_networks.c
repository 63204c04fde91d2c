// SPDX-License-Identifier: Apache-2.0
// Topologies and flows in HPCC's own files, 128 and 1024 hosts, 1000 B and 4096 B of payload, imported with and without
// DCQCN. Flows that meet no other are as in ns-3 to the nanosecond; the form is the recurrence that its devices follow
// (qbb-net-device.cc, rdma-hw.cc): frame i leaves hop k at
//     d(k, i) = max(d(k - 1, i) + delay(k - 1), d(k, i - 1)) + floor(8 bytes / rate(k)),
// data of payload + 48 B one way and an ACK of 60 B for each packet back, until the last ACK is at the sender. Incasts
// and permutations end, and fct.txt has a line a flow.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "../command.h"
#include "form.h"
#include "run.h"
#include "weft/random.h"

enum { HOPS_MAX = 6, PACKETS_MAX = 512, SENDERS = 48 };

/// A fat tree of switches with k ports: hosts, then edge, aggregation and core switches.
struct tree {
    uint32_t k, hosts, edge, aggregation, core, nodes;
    uint32_t host_gbps, gbps, delay_ns;
};

static struct tree tree_of(uint32_t k, uint32_t host_gbps, uint32_t gbps, uint32_t delay_ns) {
    uint32_t hosts = k * k * k / 4, half = k * k / 2;
    return (struct tree){k,         hosts, hosts,   hosts + half, hosts + 2 * half, hosts + 2 * half + k * k / 4,
                         host_gbps, gbps,  delay_ns};
}

static FILE *open_in(const struct fixture *f, const char *name) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", f->dir, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    return file;
}

static void write_link(FILE *file, const struct tree *t, uint32_t a, uint32_t b) {
    fprintf(file, "%u %u %uGbps %.6fms 0\n", a, b, a < t->hosts ? t->host_gbps : t->gbps, t->delay_ns / 1e6);
}

static void write_topology(const struct fixture *f, const struct tree *t) {
    FILE *file = open_in(f, "topology.txt");
    uint32_t half = t->k / 2;
    fprintf(file, "%u %u %u\n", t->nodes, t->nodes - t->hosts, 3 * t->hosts);
    for (uint32_t s = t->hosts; s < t->nodes; s++)
        fprintf(file, "%u ", s);
    fputs("\n", file);
    for (uint32_t h = 0; h < t->hosts; h++)
        write_link(file, t, h, t->edge + h / half);
    for (uint32_t e = 0; e < t->k * half; e++)
        for (uint32_t a = 0; a < half; a++) {
            write_link(file, t, t->edge + e, t->aggregation + e / half * half + a);
            write_link(file, t, t->aggregation + e, t->core + e % half * half + a);
        }
    assert_int_equal(fclose(file), 0);
}

static void write_config(const struct fixture *f, uint32_t payload, bool dcqcn) {
    char text[200];
    snprintf(text, sizeof text,
             "TOPOLOGY_FILE topology.txt\nFLOW_FILE flow.txt\nPACKET_PAYLOAD_SIZE %u\nENABLE_QCN %d\nCC_MODE 1\n"
             "HAS_WIN 0\nBUFFER_SIZE 32\n",
             payload, dcqcn);
    write_text(f, "config.txt", text);
}

/// Times at which frames are through a hop; `free` is when its link is.
static void cross(uint64_t *at_ns, const uint32_t *bytes, uint32_t n, uint32_t gbps, uint32_t delay_ns) {
    uint64_t free = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t start = at_ns[i] > free ? at_ns[i] : free;
        free = start + UINT64_C(8) * bytes[i] / gbps;
        at_ns[i] = free + delay_ns;
    }
}

static uint64_t form_ns(const struct tree *t, uint32_t src, uint32_t dst, uint32_t size, uint32_t payload) {
    uint32_t half = t->k / 2, n = (size + payload - 1) / payload, data[PACKETS_MAX], ack[PACKETS_MAX];
    uint32_t hops = src / half == dst / half ? 2 : src / half / half == dst / half / half ? 4 : 6;
    uint64_t at[PACKETS_MAX] = {0};
    assert_true(n <= PACKETS_MAX);
    for (uint32_t i = 0; i < n; i++) {
        data[i] = (i + 1 < n ? payload : size - (n - 1) * payload) + 48;
        ack[i] = 60;
    }
    for (uint32_t h = 0; h < 2 * hops; h++) {
        uint32_t hop = h % hops;
        bool last = hop == 0 || hop + 1 == hops;
        cross(at, h < hops ? data : ack, n, last ? t->host_gbps : t->gbps, t->delay_ns);
    }
    return at[n - 1];
}

/// So many lines of the flow file, each 100 us after the one before: none meets another.
static void write_lone_flows(const struct fixture *f, const struct tree *t, uint32_t n) {
    static const uint32_t sizes[] = {1, 999, 1000, 1001, 4096, 4097, 50000, 123457};
    FILE *file = open_in(f, "flow.txt");
    struct weft_random random = weft_random_stream(1, t->k, 0);
    fprintf(file, "%u\n", n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t src = (uint32_t)weft_random_below(&random, t->hosts),
                 dst = (src + 1 + (uint32_t)weft_random_below(&random, t->hosts - 1)) % t->hosts;
        fprintf(file, "%u %u 3 100 %u %.9f\n", src, dst, sizes[i % 8], 2 + i * 1e-4);
    }
    assert_int_equal(fclose(file), 0);
}

static void run_imported(struct fixture *f, uint32_t flows) {
    char text[64];
    if (weft(f, "import hpcc config.txt --out s.yaml --force")) fail_msg("%s", f->err);
    if (weft(f, "run s.yaml --out r --force --export hpcc")) fail_msg("%s", f->err);
    snprintf(text, sizeof text, "%u", flows);
    slurp(f, "r/fct.txt", f->out, sizeof f->out);
    uint32_t lines = 0;
    for (const char *at = f->out; (at = strchr(at, '\n')); at++)
        lines++;
    assert_int_equal(lines, flows);
}

static uint32_t node_of(uint32_t address) {
    uint32_t id = address - 0x0b000001;
    return (id >> 16) * 256 + (id >> 8 & 255);
}

/// fct.txt: source, destination, ports, bytes, start and completion.
static void check_form(const struct fixture *f, const struct tree *t, uint32_t payload) {
    uint32_t src, dst, size;
    uint64_t fct;
    for (const char *at = f->out; *at; at = strchr(at, '\n') + 1) {
        assert_int_equal(sscanf(at, "%x %x %*u %*u %" SCNu32 " %*u %" SCNu64, &src, &dst, &size, &fct), 4);
        uint64_t form = form_ns(t, node_of(src), node_of(dst), size, payload);
        form_assert("Lone flows as in ns-3 with HPCC, 128 and 1024 hosts", (double)fct, (double)form, 0);
    }
}

static void lone_flows(void **state) {
    struct fixture *f = *state;
    const struct tree trees[] = {tree_of(8, 100, 400, 1000), tree_of(16, 200, 200, 150)};
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t v = 0; v < 4; v++) {
            uint32_t payload = v % 2 ? 4096 : 1000;
            write_topology(f, &trees[i]);
            write_lone_flows(f, &trees[i], 200);
            write_config(f, payload, v / 2);
            run_imported(f, 200);
            check_form(f, &trees[i], payload);
        }
}

/// The last flow of an incast cannot end before the receiver's link has carried all of its packets.
static void check_incast(const struct fixture *f, const struct tree *t, uint32_t size, uint32_t payload) {
    uint64_t fct, last = 0, packet = UINT64_C(8) * (payload + 48) / t->host_gbps;
    for (const char *at = f->out; *at; at = strchr(at, '\n') + 1) {
        assert_int_equal(sscanf(at, "%*x %*x %*u %*u %*u %*u %" SCNu64, &fct), 1);
        if (fct > last) last = fct;
    }
    assert_true(last > SENDERS * (size / payload) * packet);
}

/// Everyone sends to host 0, and each host to the one half the network away.
static void incast_and_permutation(void **state) {
    struct fixture *f = *state;
    const struct tree trees[] = {tree_of(8, 100, 100, 1000), tree_of(16, 200, 200, 150)};
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t v = 0; v < 8; v++) {
            const struct tree *t = &trees[i];
            bool incast = v / 4;
            uint32_t payload = v % 2 ? 4096 : 1000, flows = incast ? SENDERS : t->hosts, size = incast ? 98304 : 20480;
            write_topology(f, t);
            write_config(f, payload, v / 2 % 2);
            FILE *file = open_in(f, "flow.txt");
            fprintf(file, "%u\n", flows);
            for (uint32_t n = 0; n < flows; n++)
                fprintf(file, "%u %u 3 100 %u 2.0\n", incast ? 1 + n * (t->hosts / SENDERS) : n,
                        incast ? 0 : (n + t->hosts / 2) % t->hosts, size);
            assert_int_equal(fclose(file), 0);
            run_imported(f, flows);
            if (incast) check_incast(f, t, size, payload);
        }
}

static int make_folder(void **state) {
    static struct fixture fixture;
    strcpy(fixture.dir, "/tmp/weft-ns3-XXXXXX");
    *state = &fixture;
    return mkdtemp(fixture.dir) ? 0 : -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lone_flows), cmocka_unit_test(incast_and_permutation)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
