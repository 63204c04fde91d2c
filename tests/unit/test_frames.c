// SPDX-License-Identifier: Apache-2.0
// Every kind of packet as a frame: as long as the simulator counts it, right in its check sums, and saying what the
// packet says.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#include "sim/frames.h"
#include "topologies.h"
#include "weft/sim.h"
#include "wire_decode.h"

static struct built built;
static struct weft__frames frames; // the network's hosts 0 to 3; one queue pair from 1 to 2
static struct weft_qp_conf qps[6], *const qp = &qps[5];
static const struct weft_qp_numbers numbers[6] = {[5] = {.at_src = 7, .at_dst = 9}};

static int set_up(void **state) {
    (void)state;
    built = build_text("topology: {kind: single, hosts: 4}");
    frames.topology = built.t;
    frames.qp = qps;
    frames.qp_numbers = numbers;
    frames.format = &weft__frames_roce;
    weft__frames_init(&frames);
    return built.t ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    built_free(&built);
    return 0;
}

static uint8_t bytes[WEFT__FRAME_BYTES_MAX];

static struct weft_frame build(const struct weft_packet *p) {
    struct weft_frame f;
    size_t size = weft__frames_build(&frames, p, NULL, 0, bytes);
    assert_int_equal(size, p->bytes - 4);
    assert_int_equal(weft_frame_decode(bytes, size, false, &f), WEFT_WIRE_OK);
    assert_int_equal(frame_faults(&f, bytes, size), 0);
    return f;
}

/// What every frame of the queue pair has. `src`, `dst`: hosts.
static void assert_ends(const struct weft_frame *f, const struct weft_packet *p, uint32_t src, uint32_t dst) {
    uint8_t mac[6];
    weft_address_mac(built.t->node[built.t->host[src]].port0, mac);
    assert_memory_equal(f->ethernet.src, mac, 6);
    weft_address_mac(built.t->node[built.t->host[dst]].port0, mac);
    assert_memory_equal(f->ethernet.dst, mac, 6);
    assert_int_equal(f->ipv4.src, 0x0a000001 + src);
    assert_int_equal(f->ipv4.dst, 0x0a000001 + dst);
    assert_int_equal(f->ipv4.dscp, p->dscp);
    assert_int_equal(f->ipv4.ecn, p->ecn);
    assert_int_equal(f->udp.src_port, 0xc000 + p->entropy);
    assert_int_equal(f->udp.dst_port, 4791);
    assert_int_equal(f->bth.dest_qp, dst == 2 ? 9 : 7);
}

/// Opcodes of first, middle, last and only, from IBTA vol. 1 table 38.
static const struct {
    uint8_t verb, opcode[4];
} verbs[] = {
    {WEFT_VERB_SEND, {0x00, 0x01, 0x02, 0x04}},
    {WEFT_VERB_WRITE, {0x06, 0x07, 0x08, 0x0a}},
    {WEFT_VERB_READ, {0x0d, 0x0e, 0x0f, 0x10}},
};

static void assert_data(uint32_t verb, uint32_t psn, uint8_t opcode) {
    qp->verb = verbs[verb].verb;
    struct weft_packet p = {
        .kind = WEFT_PACKET_DATA,
        .bytes = (uint16_t)weft__qp_frame_bytes(qp, psn, 0),
        .dst = 2,
        .qp = 5,
        .psn = psn,
        .entropy = 0x1234,
        .dscp = 24,
        .ecn = psn % 2 ? WEFT_ECN_CE : WEFT_ECN_ECT0,
        .flags = WEFT_PACKET_ACK_REQUEST,
    };
    const struct weft_frame f = build(&p);
    assert_ends(&f, &p, 1, 2);
    assert_int_equal(f.bth.opcode, opcode);
    assert_int_equal(f.bth.psn, psn & 0xffffff);
    assert_int_equal(f.bth.ack_request, qp->verb != WEFT_VERB_READ); // responses ask for no acknowledgement
    assert_int_equal(f.payload_bytes, weft__qp_payload(qp, psn));
    assert_int_equal((f.payload_bytes + f.bth.pad_count) % 4, 0);
    for (size_t i = 0; i < f.payload_bytes; i++)
        assert_int_equal(f.payload[i], ((uint64_t)psn * qp->mtu + i) & 0xff);
    if (f.layers & WEFT_LAYER_RETH) assert_int_equal(f.reth.length, qp->bytes);
    if (f.layers & WEFT_LAYER_AETH) assert_int_equal(f.aeth.code, WEFT_AETH_ACK);

    frames.headers = true;
    size_t headers = weft__frames_build(&frames, &p, NULL, 0, bytes + p.bytes);
    frames.headers = false;
    assert_int_equal(headers, p.bytes - 4 - f.payload_bytes - f.bth.pad_count - 4);
    assert_memory_equal(bytes, bytes + p.bytes, headers);
}

static void data(void **state) {
    (void)state;
    static const uint16_t mtus[] = {64, 1000, 1024, 4096, 9000};
    for (uint32_t v = 0; v < 3; v++)
        for (size_t m = 0; m < sizeof mtus / sizeof *mtus; m++) {
            const uint32_t lasts[] = {1, 2, 3, 4, mtus[m] - 1u, mtus[m]};
            for (size_t i = 0; i < sizeof lasts / sizeof *lasts; i++) {
                *qp = (struct weft_qp_conf){.src = 1, .dst = 2, .packets = 1, .bytes = lasts[i], .mtu = mtus[m]};
                assert_data(v, 0, verbs[v].opcode[3]);
                qp->packets = 4;
                qp->bytes += 3u * mtus[m];
                for (uint32_t psn = 0; psn < 4; psn++)
                    assert_data(v, psn, verbs[v].opcode[psn == 0 ? 0 : psn == 3 ? 2 : 1]);
            }
        }
    // sequence numbers have 24 bits on the wire
    *qp = (struct weft_qp_conf){.src = 1, .dst = 2, .packets = 20000000, .bytes = 20000000 * 64ul, .mtu = 64};
    assert_data(0, 0x1000003, 0x01);
    assert_data(1, 0x1000003, 0x07);
}

/// A control packet goes from host 2 to host 1, against the data.
static struct weft_packet control(enum weft_packet_kind kind, uint16_t size, uint32_t psn) {
    *qp = (struct weft_qp_conf){.src = 1, .dst = 2, .packets = 40, .bytes = 39 * 4096 + 1, .mtu = 4096};
    return (struct weft_packet){
        .kind = kind & 15u, .bytes = size, .dst = 1, .qp = 5, .psn = psn, .entropy = 7, .dscp = 48};
}

static void acks(void **state) {
    (void)state;
    struct weft_packet p = control(WEFT_PACKET_ACK, WEFT_FRAME_ACK, 39);
    struct weft_frame f = build(&p);
    assert_ends(&f, &p, 2, 1);
    assert_int_equal(f.bth.opcode, 0x11);
    assert_int_equal(f.bth.psn, 38); // the last one that has arrived
    assert_int_equal(f.aeth.code, 0);
    assert_int_equal(f.aeth.value, 31);
    assert_int_equal(f.aeth.msn, 0);
    p.psn = 40;
    f = build(&p);
    assert_int_equal(f.bth.psn, 39);
    assert_int_equal(f.aeth.msn, 1); // the message is complete

    p = control(WEFT_PACKET_NAK, WEFT_FRAME_ACK, 12);
    f = build(&p);
    assert_ends(&f, &p, 2, 1);
    assert_int_equal(f.bth.opcode, 0x11);
    assert_int_equal(f.bth.psn, 12); // the one expected
    assert_int_equal(f.aeth.code, 3);
    assert_int_equal(f.aeth.value, 0);
}

static void cnp(void **state) {
    (void)state;
    struct weft_packet p = control(WEFT_PACKET_CNP, WEFT_FRAME_CNP, 0);
    struct weft_frame f = build(&p);
    assert_ends(&f, &p, 2, 1);
    assert_int_equal(f.bth.opcode, 0x81);
    assert_true(f.bth.becn && !f.bth.fecn);
    for (unsigned i = 0; i < 16; i++)
        assert_int_equal(bytes[14 + 20 + 8 + 12 + i], 0);
    frames.cnp_mark = WEFT_CNP_FECN;
    f = build(&p);
    frames.cnp_mark = WEFT_CNP_BECN;
    assert_true(f.bth.fecn && !f.bth.becn);
}

static void read_request(void **state) {
    (void)state;
    struct weft_packet p = control(WEFT_PACKET_READ, WEFT_FRAME_READ, 10);
    struct weft_frame f = build(&p);
    assert_ends(&f, &p, 2, 1);
    assert_int_equal(f.bth.opcode, 0x0c);
    assert_int_equal(f.bth.psn, 10);
    assert_int_equal(f.reth.length, 29 * 4096 + 1); // all that is missing
    const uint64_t address = f.reth.address;
    p.psn = 0;
    f = build(&p);
    assert_int_equal(f.reth.length, qp->bytes);
    assert_int_equal(address - f.reth.address, 10 * 4096);
}

/// IEEE 802.1Qbb: destination 01-80-C2-00-00-01, 0x8808, 0x0101, class-enable vector, eight times.
static void pause(void **state) {
    (void)state;
    struct weft_packet p = {.kind = WEFT_PACKET_PFC,
                            .bytes = WEFT_FRAME_MIN,
                            .dst = WEFT_NONE,
                            .qp = 0xabcd,
                            .psn = 0x18 | 0x08 << 8}; // 3 and 4 named, 3 to be paused
    uint8_t wanted[60] = {0x01, 0x80, 0xc2, 0, 0, 1, 0x02, 0, 0, 0, 0, 6, 0x88, 0x08, 0x01, 0x01, 0, 0x18};
    wanted[18 + 6] = 0xab;
    wanted[18 + 7] = 0xcd;
    assert_int_equal(weft__frames_build(&frames, &p, NULL, 6, bytes), 60);
    assert_memory_equal(bytes, wanted, 60);
}

static void sfcm(void **state) {
    (void)state;
    struct weft_packet p = control(WEFT_PACKET_SFCM, WEFT_FRAME_SFCM, 10000);
    qp->priority = 3;
    qp->entropy = 0x123;
    p.entropy = 9; // the switch
    struct weft_frame f = build(&p);
    struct weft_sfcm m;
    assert_int_equal(f.ipv4.src, 0x0a000003); // as if host 2 had sent it
    assert_int_equal(f.ipv4.dst, 0x0a000002);
    assert_int_equal(f.udp.dst_port, WEFT_UDP_PORT_SFCM);
    assert_int_equal(sfcm_decode(f.payload, f.payload_bytes, &m), WEFT_WIRE_OK);
    assert_int_equal(m.priority, 3);
    assert_int_equal(m.src_port, 0xc123);
    assert_int_equal(m.dest_qp, 9);
    assert_int_equal(m.pause_ns, 10000);
    assert_int_equal(m.congestion_point, 9);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(data),         cmocka_unit_test(acks),  cmocka_unit_test(cnp),
                                       cmocka_unit_test(read_request), cmocka_unit_test(pause), cmocka_unit_test(sfcm)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
