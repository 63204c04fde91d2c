// SPDX-License-Identifier: Apache-2.0
// Different views of a Clique agree: its TiNs, its ports, its events and its samples add up to its counters.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <unistd.h>

#include "box/tin/tin_outcome.h"
#include "gnet_decode.h"
#include "run.h"

/// Load, links that lose bits, one that fails.
static const char lossy[] =
    "topology: {kind: dragonfly, pods: 3, tins: 4, hosts_per_tin: 1, global_delay: 100ns, global_parallel: 4, "
    "local_ports: 6, global_ports: 2, bit_error_rate: 2e-6}\n"
    "run: {detection: 10us, sample_interval: 1us}\nhost: {timeout: 200us}\n"
    "events: [{at: 15us, link: tin-0--tin-1, state: down}, {at: 25us, link: tin-4--tin-5, state: down}]\n"
    "workload: [{kind: poisson, load: 95%, size: 4096B, duration: 60us}]\n";

static void tins_and_ports_add_up(void **state) {
    struct run r = run_once(lossy);
    const struct weft_outcome *o = r.outcome;
    assert_int_equal(weft_outcome_cliques(o)->tins, 12);
    assert_int_equal(weft_outcome_cliques(o)->gnet_ports, 12 * 8);
    struct weft_tin_outcome sum = {0};
    for (uint32_t i = 0; i < weft_outcome_cliques(o)->tins; i++) {
        const struct weft_tin_outcome *one = &weft_outcome_cliques(o)->tin[i].counts;
#define X(field, type, help) sum.field += one->field;
        WEFT_TIN_COUNTERS(X)
#undef X
#define X(field, type, help) sum.field = one->field > sum.field ? one->field : sum.field;
        WEFT_TIN_WATERMARKS(X)
#undef X
    }
#define X(field, type, help) assert_int_equal(sum.field, weft_outcome_tin(o)->field);
    WEFT_TIN_COUNTERS(X)
    WEFT_TIN_WATERMARKS(X)
#undef X
    struct weft_gnet_port ports = {0};
    uint32_t global = 0;
    for (uint32_t i = 0; i < weft_outcome_cliques(o)->gnet_ports; i++) {
        ports.cells += weft_outcome_cliques(o)->gnet_port[i].cells;
        ports.credit_stalls += weft_outcome_cliques(o)->gnet_port[i].credit_stalls;
        ports.credit_stall_ps += weft_outcome_cliques(o)->gnet_port[i].credit_stall_ps;
        global += weft_outcome_cliques(o)->gnet_port[i].global;
    }
    assert_int_equal(global, 12 * 2);
    assert_true(ports.cells > 0 && ports.credit_stalls > 0);
    assert_int_equal(ports.cells, weft_outcome_tin(o)->cell_hops);
    assert_int_equal(ports.credit_stalls, weft_outcome_tin(o)->credit_stalls);
    assert_int_equal(ports.credit_stall_ps, weft_outcome_tin(o)->credit_stall_ps);
    run_free(&r);
}

/// Every lost cell, and every packet given up, is in an event; cells lost as their link fails are its consequence.
static void losses_are_events(void **state) {
    struct run r = run_once(lossy);
    for (uint32_t threads = 1; threads <= 3; threads++) {
        struct weft_outcome *o = run_recorded(&r, threads, lossy);
        uint64_t cells = 0, given_up = 0, down = 0, caused = 0;
        for (uint32_t i = 0; i < o->recorded; i++) {
            const struct weft_event *e = &o->record[i];
            if (e->kind == WEFT_EVENT_CELLS_LOST) {
                cells += e->more;
                if (e->detail == WEFT_DROP_LINK_DOWN) {
                    down++;
                    assert_true(e->cause > 0);
                    assert_int_equal(o->record[e->cause - 1].kind, WEFT_EVENT_LINK_DOWN);
                }
            }
            if (e->kind == WEFT_EVENT_DROPPED && e->detail == WEFT_DROP_REASSEMBLY) {
                given_up += e->more;
                caused += e->cause > 0;
            }
        }
        assert_true(cells > 0 && down > 0 && given_up > 0 && caused > 0);
        assert_int_equal(cells, weft_outcome_tin(o)->cells_lost + weft_outcome_tin(o)->cells_unroutable);
        assert_int_equal(given_up, o->drops[WEFT_DROP_REASSEMBLY]);
        weft_outcome_free(o);
    }
    run_free(&r);
}

/// What samples say that a GNet link has sent is what its port has, up to the last sample.
static void links_are_sampled(void **state) {
    struct run r = run_once(lossy);
    const struct weft_outcome *o = r.outcome;
    for (uint32_t i = 0; i < weft_outcome_cliques(o)->gnet_ports; i++) {
        const struct weft_gnet_port *p = &weft_outcome_cliques(o)->gnet_port[i];
        uint64_t bytes = 0, before = 0;
        weft_time_ps last = 0;
        for (uint64_t s = 0; s < o->samples; s++) {
            const struct weft_sample *x = &o->sample[s];
            if (x->port != p->port) continue;
            assert_int_equal(x->priority, 0);
            assert_true(x->queue_bytes <= 32 * p->output_bytes_max && x->ingress_bytes <= 32 * p->fifo_bytes_max);
            bytes += x->tx_bytes;
            // no faster than 27.15G, up to a cell that had just begun
            if (last) assert_true(x->tx_bytes <= 3394 * (x->time_ps - last) / WEFT_PS_PER_US + 160);
            last = x->time_ps;
            before = bytes;
        }
        assert_true(before <= p->bytes);
        if (p->bytes > 20000) assert_true(bytes * 2 > p->bytes);
    }
    run_free(&r);
}

/// Marks by the depth of an RTS queue have a story: the queue fills, marks, and every CNP goes back to that.
static void marks_have_a_cause(void **state) {
    struct run r = run_scenario("aquila/small.yaml", "marked", NULL);
    const struct weft_outcome *o = r.outcome;
    uint32_t port = weft_topology_find_port(r.topology, "tin-15->host-31");
    uint64_t marked = 0, cnps = 0;
    for (uint32_t i = 0; i < o->recorded; i++) {
        const struct weft_event *e = &o->record[i];
        if (e->kind == WEFT_EVENT_MARKING_BEGAN) {
            assert_int_equal(e->port, port);
            assert_int_equal(o->record[e->cause - 1].kind, WEFT_EVENT_QUEUE_ABOVE);
        }
        if (e->kind == WEFT_EVENT_MARKING_ENDED) marked += e->value;
        if (e->kind != WEFT_EVENT_CNP_SENT) continue;
        cnps++;
        const struct weft_event *flow = &o->record[e->cause - 1];
        assert_int_equal(flow->kind, WEFT_EVENT_FLOW_MARKED);
        assert_int_equal(o->record[flow->cause - 1].kind, WEFT_EVENT_MARKING_BEGAN);
    }
    assert_true(marked > 0 && cnps > 0);
    assert_int_equal(marked, weft_outcome_tin(o)->marked);
    assert_int_equal(cnps, o->cnps);
    run_free(&r);
}

enum { PACKET = 6, INTERFACE = 1, USER0 = 147 };

static uint32_t word(const uint8_t *at) {
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static size_t slurp(const char *path, uint8_t **ret) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    *ret = malloc(1 << 24);
    size_t size = fread(*ret, 1, 1 << 24, file);
    fclose(file);
    assert_true(size < 1 << 24);
    return size;
}

/// Cells of two TiNs' links as bytes: every one decodes, there are as many as the ports count, and the file is the same
/// for any number of threads.
static void captured_cells_are_those_counted(void **state) {
    static const char text[] =
        "topology: {kind: dragonfly, pods: 3, tins: 4, hosts_per_tin: 1, global_parallel: 4, "
        "local_ports: 6, global_ports: 2}\ncapture: {ports: \"tin-[03]/[0-7]\"}\n"
        "workload: [{kind: poisson, load: 50%, size: 1007B, duration: 20us}, {kind: rma, group: a, "
        "transport: 1rma, verb: write, rate: 100000, duration: 20us}, {kind: rma, group: b, "
        "transport: 1rma, verb: atomic, rate: 100000, duration: 20us}]\n";
    char path[] = "/tmp/weft-cells-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    struct run r = run_once(text);
    uint8_t *first = NULL;
    size_t size = 0;
    for (uint32_t threads = 1; threads <= 3; threads++) {
        struct weft_outcome *o =
            run_with(&r, &(struct weft_sim_options){.threads = threads, .capture_file = path}, text);
        assert_int_equal(o->digest, r.outcome->digest); // capturing changes nothing
        uint8_t *bytes;
        size_t n = slurp(path, &bytes);
        if (first) {
            assert_int_equal(n, size);
            assert_memory_equal(bytes, first, n);
            free(bytes);
        } else {
            first = bytes;
            size = n;
        }
        weft_outcome_free(o);
    }
    uint64_t cells = 0, counted = 0, bytes = 0, counted_bytes = 0, shortest = 0, types[WEFT_GNET_TYPES] = {0};
    for (size_t at = 0; at < size; at += word(first + at + 4)) {
        const uint8_t *body = first + at + 8;
        if (word(first + at) == INTERFACE) assert_int_equal(word(body) & 0xffff, USER0);
        if (word(first + at) != PACKET) continue;
        struct weft_gnet_cell cell;
        assert_int_equal(gnet_cell_decode(body + 20, word(body + 12), &cell), WEFT_GNET_WIRE_OK);
        assert_int_equal(cell.header.length, word(body + 12));
        types[cell.header.type]++;
        cells++;
        bytes += cell.header.length;
        shortest += cell.header.type == WEFT_GNET_TYPE_DATA && cell.header.length == WEFT_GNET_CELL_BYTES_MIN;
    }
    for (uint32_t i = 0; i < weft_outcome_cliques(r.outcome)->gnet_ports; i++) { // sent there, or sent to there
        const struct weft_gnet_port *p = &weft_outcome_cliques(r.outcome)->gnet_port[i];
        const char *own = r.topology->node[r.topology->port[p->port].node].name,
                   *peer = r.topology->node[r.topology->port[r.topology->port[p->port].peer].node].name;
        for (unsigned end = 0; end < 2; end++)
            if (!strcmp(end ? own : peer, "tin-0") || !strcmp(end ? own : peer, "tin-3")) {
                counted += p->cells;
                counted_bytes += p->bytes;
            }
    }
    assert_int_equal(cells, counted);
    assert_int_equal(bytes, counted_bytes); // of a WRITE of 1007 B, 7 x 152 + 3 in cells, the last is padded to 16
    assert_true(shortest > 100);
    for (unsigned t = WEFT_GNET_TYPE_RTS; t < WEFT_GNET_TYPES; t++)
        assert_true(types[t] > 0 || t == WEFT_GNET_TYPE_CTD);
    free(first);
    unlink(path);
    run_free(&r);
}

/// Every link's VCs are counted at every sample; together they hold what samples of links say, whatever the number of
/// threads.
static void depths_of_vcs_are_those_of_links(void **state) {
    struct run r = run_once(lossy);
    const struct weft_outcome *o = r.outcome;
    struct weft_outcome *other = run_again(&r, 2, lossy);
    assert_memory_equal(weft_outcome_cliques(o)->depths, weft_outcome_cliques(other)->depths,
                        sizeof *weft_outcome_cliques(o)->depths);
    weft_outcome_free(other);
    double output = 0, fifo = 0, link_output = 0, link_fifo = 0;
    uint64_t total = weft_outcome_cliques(o)->depths->output[0].n;
    assert_true(total > 0 && total % weft_outcome_cliques(o)->gnet_ports == 0);
    for (uint32_t vc = 0; vc < WEFT_GNET_VCS; vc++) {
        assert_int_equal(weft_outcome_cliques(o)->depths->output[vc].n, total);
        assert_int_equal(weft_outcome_cliques(o)->depths->fifo[vc].n, total);
        output += (double)total * weft_histogram_mean(&weft_outcome_cliques(o)->depths->output[vc]);
        fifo += (double)total * weft_histogram_mean(&weft_outcome_cliques(o)->depths->fifo[vc]);
    }
    for (uint64_t s = 0; s < o->samples; s++) {
        uint32_t at = r.topology->port[o->sample[s].port].node;
        if (r.topology->node[at].box != WEFT_BOX_TIN ||
            !weft_topology_link_is_fabric(r.topology, r.topology->port[o->sample[s].port].link))
            continue;
        link_output += (double)o->sample[s].queue_bytes;
        link_fifo += (double)o->sample[s].ingress_bytes;
    }
    print_message("outputs %.0f of %.0f B, FIFOs %.0f of %.0f B\n", output, link_output, fifo, link_fifo);
    assert_true(link_output > 0 && link_fifo > 0);
    assert_true(fabs(output / link_output - 1) < 1e-9);
    assert_true(fabs(fifo / link_fifo - 1) < 1e-9);
    run_free(&r);
}

/// Each request that 1RMA returns is an event at its host's port, with what it waited for and the node that it asked.
static void timeouts_of_1rma_are_events(void **state) {
    static const char text[] =
        "topology: {kind: dragonfly, pods: 3, tins: 4, hosts_per_tin: 2, global_parallel: 4, local_ports: 6, "
        "global_ports: 2, bit_error_rate: 0.000003}\n"
        "tin: {rma: {window: 8KB, dispatch_timeout: 2us, timeout: 20us}}\n"
        "workload: [{kind: rma, group: a, transport: 1rma, clients: \"host-0..5\", servers: host-20, priority: 5, "
        "rate: "
        "1000000, duration: 40us, cc: {initial_cwnd: 15}}]\n";
    struct run r = run_once(text);
    struct weft_outcome *o = run_recorded(&r, 2, text);
    uint64_t waits[2] = {0, 0};
    for (uint32_t i = 0; i < o->recorded; i++) {
        const struct weft_event *e = &o->record[i];
        if (e->kind != WEFT_EVENT_RMA_TIMEOUT) continue;
        const struct weft_node_info *client = &r.topology->node[r.topology->port[r.topology->port[e->port].peer].node],
                                    *server = &r.topology->node[r.topology->port[e->more].node];
        assert_true(e->detail < 2);
        waits[e->detail]++;
        assert_true(client->role == WEFT_NODE_HOST && client->index <= 5);
        assert_string_equal(server->name, "host-20");
        assert_int_equal(e->value, e->detail == WEFT_EVENT_RMA_WINDOW ? 2 * WEFT_PS_PER_US : 20 * WEFT_PS_PER_US);
        assert_int_equal(e->priority, 5);
    }
    print_message("without an answer %" PRIu64 ", without room %" PRIu64 "\n", waits[0], waits[1]);
    assert_true(waits[0] > 0 && waits[1] > 0);
    assert_int_equal(waits[WEFT_EVENT_RMA_ANSWER], o->rma[0].timeouts);
    assert_int_equal(waits[WEFT_EVENT_RMA_WINDOW], o->rma[0].dispatch_timeouts);
    weft_outcome_free(o);
    run_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tins_and_ports_add_up),
        cmocka_unit_test(losses_are_events),
        cmocka_unit_test(links_are_sampled),
        cmocka_unit_test(marks_have_a_cause),
        cmocka_unit_test(captured_cells_are_those_counted),
        cmocka_unit_test(depths_of_vcs_are_those_of_links),
        cmocka_unit_test(timeouts_of_1rma_are_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
