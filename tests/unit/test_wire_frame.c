// SPDX-License-Identifier: Apache-2.0
// Whole frames: every opcode over IPv4 and IPv6, tagged and not, with and without FCS, and the MAC control frames.
// Built, taken apart, cut short at every byte, with every bit turned over, and with random bytes.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <string.h>

#include "weft/packet.h"
#include "weft/random.h"
#include "wire_decode.h"

enum { FRAME_MAX = 256, RANDOM_TRIES = 100000 };

static const uint8_t payload[] = "payload of a message";

/// A frame with something in every field that `layers` has.
static struct weft_frame sample(uint32_t layers, uint8_t opcode, size_t payload_bytes) {
    return (struct weft_frame){
        .layers = layers,
        .ethernet = {.dst = {2, 0, 0, 0, 0, 1}, .src = {2, 0, 0, 0, 0, 2}},
        .vlan = {.priority = 3, .id = 100},
        .pause = {.quanta = 0x1234},
        .pfc = {.classes = 0x08, .quanta = {[3] = 65535}},
        .ipv4 =
            {.dscp = 24, .ecn = WEFT_ECN_ECT0, .dont_fragment = true, .ttl = 64, .src = 0x0a000001, .dst = 0x0a000002},
        .ipv6 =
            {.dscp = 24, .ecn = WEFT_ECN_ECT0, .flow_label = 0x12345, .hop_limit = 64, .src = {0xfd}, .dst = {0xfe}},
        .grh = {.flow_label = 0x12345, .hop_limit = 64, .src = {0xfe, 0x80, [15] = 1}, .dst = {0xfe, 0x80, [15] = 2}},
        .udp = {.src_port = 0xc123},
        .bth = {.opcode = opcode, .pkey = 0xffff, .dest_qp = 0x11, .ack_request = true, .psn = 0x800001},
        .reth = {.address = UINT64_C(0x7f0012345678), .rkey = 0x9999, .length = 4096},
        .aeth = {.code = WEFT_AETH_ACK, .value = WEFT_AETH_NO_CREDITS, .msn = 5},
        .atomic_eth = {.address = 1, .rkey = 2, .swap_add = 3, .compare = 4},
        .atomic_ack_eth = {.original = 5},
        .immdt = {.data = 6},
        .ieth = {.rkey = 7},
        .payload = payload,
        .payload_bytes = payload_bytes,
    };
}

/// Each shape of frame that there is, with its bytes.
typedef void on_frame(const struct weft_frame *built, const uint8_t *bytes, size_t size);

static void build(uint32_t layers, uint8_t opcode, size_t payload_bytes, on_frame *on) {
    struct weft_frame frame = sample(layers, opcode, payload_bytes);
    uint8_t bytes[FRAME_MAX];
    size_t size = weft_frame_build(&frame, bytes, sizeof bytes);
    assert_int_equal(size, weft_frame_bytes(&frame));
    assert_in_range(size, WEFT_FRAME_MIN_NO_FCS, FRAME_MAX);
    on(&frame, bytes, size);
}

static void each_roce(uint32_t around, on_frame *on) {
    static const uint32_t networks[] = {WEFT_LAYER_IPV4 | WEFT_LAYER_UDP, WEFT_LAYER_IPV6 | WEFT_LAYER_UDP,
                                        WEFT_LAYER_GRH};
    for (unsigned n = 0; n < 3; n++)
        for (unsigned i = 0; i < 256; i++) {
            const struct weft_roce_opcode *opcode = weft_roce_opcode_find((uint8_t)i);
            if (!opcode) continue;
            uint32_t layers = around | networks[n] | WEFT_LAYER_BTH | opcode->layers | WEFT_LAYER_ICRC;
            for (size_t bytes = 0; bytes <= (opcode->payload ? 5 : 0); bytes++)
                build(layers, (uint8_t)i, bytes, on);
            if (i == WEFT_ROCE_CNP) build(layers, (uint8_t)i, WEFT_CNP_RESERVED_BYTES, on);
        }
}

static void each_frame(on_frame *on) {
    static const uint32_t around[] = {0, WEFT_LAYER_VLAN, WEFT_LAYER_FCS, WEFT_LAYER_VLAN | WEFT_LAYER_FCS};
    for (unsigned i = 0; i < 4; i++) {
        each_roce(around[i], on);
        build(around[i] | WEFT_LAYER_PAUSE, 0, 0, on);
        build(around[i] | WEFT_LAYER_PFC, 0, 0, on);
        build(around[i] | WEFT_LAYER_IPV4, 0, 20, on);
        build(around[i] | WEFT_LAYER_IPV6, 0, 20, on);
        build(around[i] | WEFT_LAYER_IPV4 | WEFT_LAYER_UDP, 0, 20, on);
        build(around[i] | WEFT_LAYER_IPV6 | WEFT_LAYER_UDP, 0, 20, on);
    }
}

static bool has_fcs(const struct weft_frame *f) {
    return f->layers & WEFT_LAYER_FCS;
}

/// The promise of weft_frame_decode, on any bytes at all.
static enum weft_wire_status check_promise(const uint8_t *bytes, size_t size, bool fcs, struct weft_frame *ret) {
    enum weft_wire_status status = weft_frame_decode(bytes, size, fcs, ret);
    if (size < WEFT_ETHERNET_BYTES + (fcs ? WEFT_FCS_BYTES : 0)) {
        assert_int_equal(status, WEFT_WIRE_TRUNCATED);
        return status;
    }
    uint8_t again[FRAME_MAX];
    assert_int_equal(weft_frame_bytes(ret), size);
    assert_int_equal(weft_frame_encode(ret, again, size), size);
    assert_memory_equal(again, bytes, size);
    assert_int_equal(weft_frame_encode(ret, again, size - 1), 0);
    assert_int_equal(weft_frame_encode_headers(ret, again, sizeof again), weft_frame_header_bytes(ret));
    assert_memory_equal(again, bytes, weft_frame_header_bytes(ret));
    return status;
}

static void comes_back(const struct weft_frame *built, const uint8_t *bytes, size_t size) {
    struct weft_frame frame;
    assert_int_equal(check_promise(bytes, size, has_fcs(built), &frame), WEFT_WIRE_OK);
    assert_int_equal(frame.layers, built->layers);
    assert_int_equal(frame.payload_bytes, built->payload_bytes);
    if (frame.payload_bytes) assert_memory_equal(frame.payload, built->payload, frame.payload_bytes);
    assert_int_equal(frame.padding_bytes, built->padding_bytes);
    assert_int_equal(frame_faults(&frame, bytes, size), 0);
    if (frame.layers & WEFT_LAYER_ICRC) {
        assert_int_equal(frame.icrc, built->icrc);
        assert_int_equal(frame.bth.opcode, built->bth.opcode);
        assert_int_equal((frame.payload_bytes + frame.bth.pad_count) % 4, 0);
    }
}

static void round_trip(void **state) {
    (void)state;
    each_frame(comes_back);
}

/// Cut off after the Ethernet header and before the end of what the lengths cover: TRUNCATED, and the rest is kept.
static void cut_short(const struct weft_frame *built, const uint8_t *bytes, size_t size) {
    if (has_fcs(built)) return;
    struct weft_frame frame;
    size_t covered = size - built->padding_bytes;
    for (size_t n = 0; n < size; n++) {
        enum weft_wire_status status = check_promise(bytes, n, false, &frame);
        assert_int_equal(status, n < covered ? WEFT_WIRE_TRUNCATED : WEFT_WIRE_OK);
        assert_false(frame.layers & ~built->layers);
        if (n < covered) assert_false(frame.layers & WEFT_LAYER_ICRC);
        if (n >= weft_frame_header_bytes(built))
            assert_int_equal(frame.layers | WEFT_LAYER_ICRC, built->layers | WEFT_LAYER_ICRC);
    }
}

static void truncation(void **state) {
    (void)state;
    each_frame(cut_short);
}

/// Is a change of this byte one that the ICRC must not see? IBTA annex A17; RFC 791 and 8200 for the places.
static uint8_t masked_bits(const struct weft_frame *f, size_t ip_at, size_t at) {
    if (at < ip_at) return 0xff; // Ethernet
    at -= ip_at;
    size_t udp = f->layers & WEFT_LAYER_IPV4 ? WEFT_IPV4_BYTES : WEFT_IPV6_BYTES;
    size_t bth = f->layers & WEFT_LAYER_GRH ? WEFT_GRH_BYTES : udp + WEFT_UDP_BYTES;
    if (at == bth + 4 || (f->layers & WEFT_LAYER_UDP && (at == udp + 6 || at == udp + 7))) return 0xff;
    if (f->layers & WEFT_LAYER_IPV4) return at == 1 || at == 8 || at == 10 || at == 11 ? 0xff : 0;
    return at == 0 ? 0x0f : (at >= 1 && at <= 3) || at == 7 ? 0xff : 0;
}

static void bit_flip(const struct weft_frame *built, const uint8_t *bytes, size_t size) {
    size_t ip_at = WEFT_ETHERNET_BYTES + (built->layers & WEFT_LAYER_VLAN ? WEFT_VLAN_BYTES : 0);
    size_t covered = size - built->padding_bytes - (has_fcs(built) ? WEFT_FCS_BYTES : 0);
    uint8_t flipped[FRAME_MAX];
    memcpy(flipped, bytes, size);
    for (size_t at = 0; at < size; at++)
        for (unsigned bit = 0; bit < 8; bit++) {
            flipped[at] ^= (uint8_t)(1 << bit);
            struct weft_frame frame;
            check_promise(flipped, size, has_fcs(built), &frame);
            uint32_t faults = frame_faults(&frame, flipped, size);
            assert_int_equal(!(faults & FAULT_FCS), !has_fcs(built)); // a CRC finds every single bit
            if (frame.layers & built->layers & WEFT_LAYER_ICRC && at < covered)
                assert_int_equal(!(faults & FAULT_ICRC), masked_bits(built, ip_at, at) >> bit & 1);
            flipped[at] ^= (uint8_t)(1 << bit);
        }
}

static void bit_flips(void **state) {
    (void)state;
    each_frame(bit_flip);
}

/// Random bytes, and frames with a few random bytes.
static void random_bytes(void **state) {
    (void)state;
    struct weft_random random = weft_random_stream(11, 0, WEFT_RANDOM_TEST);
    unsigned statuses[3] = {0};
    for (unsigned i = 0; i < RANDOM_TRIES; i++) {
        uint8_t bytes[FRAME_MAX], opcode = (uint8_t)weft_random_below(&random, 0x20);
        struct weft_frame frame = sample(i % 2 ? WEFT_LAYER_IPV4 : WEFT_LAYER_IPV6, opcode, sizeof payload);
        frame.layers |= WEFT_LAYER_UDP | WEFT_LAYER_BTH | WEFT_LAYER_ICRC;
        size_t size = i % 8 ? weft_frame_build(&frame, bytes, sizeof bytes) : 0;
        assert_true(i % 8 == 0 || size > 0);
        size_t changes = 4;
        if (!size) changes = size = weft_random_below(&random, FRAME_MAX);
        for (size_t n = 0; n < changes; n++)
            bytes[changes == size ? n : weft_random_below(&random, 46)] = (uint8_t)weft_random_u64(&random);
        statuses[check_promise(bytes, size, weft_random_below(&random, 4) == 0, &frame)]++;
        frame_faults(&frame, bytes, size);
    }
    for (unsigned i = 0; i < 3; i++)
        assert_in_range(statuses[i], RANDOM_TRIES / 100, RANDOM_TRIES);
}

/// IEEE 802.3 annex 31D, field by field. In `classes` bit 3 is priority 3: 0000 1000.
static void pfc_bytes(void **state) {
    (void)state;
    static const uint8_t expected[64] = {0x01, 0x80, 0xc2, 0, 0, 1, 2, 0, 0, 0, 0, 9,    0x88,
                                         0x08, 1,    1,    0, 8, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    struct weft_frame frame = {
        .layers = WEFT_LAYER_PFC | WEFT_LAYER_FCS,
        .ethernet = {.src = {2, [5] = 9}},
        .pfc = {.classes = 1 << 3, .quanta = {[3] = 65535}},
    };
    memcpy(frame.ethernet.dst, WEFT_MAC_CONTROL_ADDRESS, 6);
    uint8_t bytes[FRAME_MAX];
    assert_int_equal(weft_frame_build(&frame, bytes, sizeof bytes), WEFT_FRAME_MIN);
    assert_memory_equal(bytes, expected, 60);
    assert_int_equal(frame.padding_bytes, 26);
}

/// The CRC-32 of "123456789", its well-known check value; and the remainder with the FCS included.
static void fcs(void **state) {
    (void)state;
    uint8_t bytes[13] = "123456789";
    uint32_t value = weft_fcs_calc(bytes, 9);
    assert_int_equal(value, 0xcbf43926);
    for (unsigned i = 0; i < 4; i++)
        bytes[9 + i] = (uint8_t)(value >> 8 * i);
    assert_int_equal(weft_fcs_calc(bytes, 13), 0x2144df1c);
    assert_int_equal(weft_fcs_calc(NULL, 0), 0);
}

/// IEEE 802.3 clause 3.2.9, one bit after the other.
static uint32_t slow_crc(const uint8_t *bytes, size_t size) {
    uint32_t crc = 0xffffffff;
    for (size_t i = 0; i < size * 8; i++) {
        uint32_t feed = (crc ^ (uint32_t)(bytes[i / 8] >> i % 8)) & 1;
        crc = crc >> 1 ^ (feed ? 0xedb88320 : 0);
    }
    return ~crc;
}

/// The bytes the ICRC is taken over, written out by hand for a frame of each IP: ones where the annex has ones.
static void icrc_by_hand(void **state) {
    (void)state;
    static const uint8_t v6[] = {
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, // LRH
        0x6f, 0xff, 0xff, 0xff, 0,    28,   17,   0xff, // traffic class, flow label, hop limit
        0xfd, 0,    0,    0,    0,    0,    0,    0,    0,    0,    0, 0, 0, 0, 0, 0, // source
        0xfe, 0,    0,    0,    0,    0,    0,    0,    0,    0,    0, 0, 0, 0, 0, 0, // destination
        0xc1, 0x23, 0x12, 0xb7, 0,    28,   0xff, 0xff,                               // UDP checksum
        0x11, 0,    0xff, 0xff, 0xff, 0,    0,    0x11, 0x80, 0x80, 0, 1,             // FECN, BECN and reserved
        0x1f, 0,    0,    5,
    };
    struct weft_frame frame =
        sample(WEFT_LAYER_IPV6 | WEFT_LAYER_UDP | WEFT_LAYER_BTH | WEFT_LAYER_AETH | WEFT_LAYER_ICRC, WEFT_RC_ACK, 0);
    uint8_t bytes[FRAME_MAX];
    assert_int_not_equal(weft_frame_build(&frame, bytes, sizeof bytes), 0);
    assert_int_equal(frame.icrc, slow_crc(v6, sizeof v6));

    static const uint8_t v4[] = {
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,                   // LRH
        0x45, 0xff, 0,    48,   0,    0,    0x40, 0,                      // TOS
        0xff, 17,   0xff, 0xff, 10,   0,    0,    1,    10,   0,    0, 2, // TTL, checksum
        0xc1, 0x23, 0x12, 0xb7, 0,    28,   0xff, 0xff,                   // UDP checksum
        0x11, 0,    0xff, 0xff, 0xff, 0,    0,    0x11, 0x80, 0x80, 0, 1, // FECN, BECN and reserved
        0x1f, 0,    0,    5,
    };
    frame.layers ^= WEFT_LAYER_IPV6 | WEFT_LAYER_IPV4;
    assert_int_not_equal(weft_frame_build(&frame, bytes, sizeof bytes), 0);
    assert_int_equal(frame.icrc, slow_crc(v4, sizeof v4));
}

/// Right over IPv6, found wrong over both; left out over IPv4.
static void udp_checksum(void **state) {
    (void)state;
    uint32_t roce = WEFT_LAYER_UDP | WEFT_LAYER_BTH | WEFT_LAYER_AETH | WEFT_LAYER_ICRC;
    struct weft_frame f = sample(WEFT_LAYER_IPV6 | roce, WEFT_RC_ACK, 0);
    uint8_t bytes[FRAME_MAX];
    size_t size = weft_frame_build(&f, bytes, sizeof bytes);
    assert_int_not_equal(f.udp.checksum, 0);
    assert_int_equal(frame_faults(&f, bytes, size), 0);
    f.udp.checksum ^= 1;
    weft_frame_encode(&f, bytes, sizeof bytes);
    assert_int_equal(frame_faults(&f, bytes, size), FAULT_UDP_CHECKSUM);
    f.udp.checksum = 0; // as rdma_rxe sends it
    weft_frame_encode(&f, bytes, sizeof bytes);
    assert_int_equal(frame_faults(&f, bytes, size), 0);

    f = sample(WEFT_LAYER_IPV4 | roce, WEFT_RC_ACK, 0);
    size = weft_frame_build(&f, bytes, sizeof bytes);
    assert_int_equal(f.udp.checksum, 0);
    uint16_t checksum;
    size_t packet = size - f.padding_bytes - WEFT_ETHERNET_BYTES;
    assert_int_equal(weft_udp_checksum_calc(bytes + WEFT_ETHERNET_BYTES, packet, &checksum), WEFT_WIRE_OK);
    f.udp.checksum = checksum;
    weft_frame_encode(&f, bytes, sizeof bytes);
    assert_int_equal(frame_faults(&f, bytes, size), 0);
    f.udp.checksum++;
    weft_frame_encode(&f, bytes, sizeof bytes);
    assert_int_equal(frame_faults(&f, bytes, size), FAULT_UDP_CHECKSUM);
}

/// RFC 768: the words of the pseudo header and of a datagram of 11 bytes added up by hand; and a sum of 0 goes as ffff.
static void udp_checksum_by_hand(void **state) {
    (void)state;
    uint8_t ip[] = {0x45, 0, 0, 31, 0,    0,    0, 0, 64, 17, 0,    0,    10, 0, 0, 1,
                    10,   0, 0, 2,  0xc1, 0x23, 0, 7, 0,  11, 0xaa, 0xaa, 1,  2, 3};
    uint16_t checksum;
    assert_int_equal(weft_udp_checksum_calc(ip, sizeof ip, &checksum), WEFT_WIRE_OK);
    uint32_t sum = 0x0a00 + 0x0001 + 0x0a00 + 0x0002 + 0x0011 + 0x000b + 0xc123 + 0x0007 + 0x000b + 0x0102 + 0x0300;
    assert_int_equal(checksum, 0xffff - sum);
    ip[28] = (uint8_t)((0xffff - sum + 0x0102) >> 8);
    ip[29] = (uint8_t)(0xffff - sum + 0x0102);
    assert_int_equal(weft_udp_checksum_calc(ip, sizeof ip, &checksum), WEFT_WIRE_OK);
    assert_int_equal(checksum, 0xffff);
    for (size_t n = 0; n < 28; n++)
        assert_int_equal(weft_udp_checksum_calc(ip, n, &checksum), WEFT_WIRE_TRUNCATED);
    ip[9] = 6;
    assert_int_equal(weft_udp_checksum_calc(ip, sizeof ip, &checksum), WEFT_WIRE_MALFORMED);
}

static void icrc_of_something_else(void **state) {
    (void)state;
    uint8_t ip[64] = {0x45, [9] = WEFT_IP_UDP};
    uint32_t icrc;
    assert_int_equal(weft_icrc_calc(ip, 40, &icrc), WEFT_WIRE_OK);
    for (size_t n = 0; n < 40; n++)
        assert_int_equal(weft_icrc_calc(ip, n, &icrc), WEFT_WIRE_TRUNCATED);
    ip[0] = 0x4f;
    assert_int_equal(weft_icrc_calc(ip, 64, &icrc), WEFT_WIRE_TRUNCATED);
    ip[0] = 0x44;
    assert_int_equal(weft_icrc_calc(ip, 64, &icrc), WEFT_WIRE_MALFORMED);
    ip[0] = 0x60;
    assert_int_equal(weft_icrc_calc(ip, 64, &icrc), WEFT_WIRE_MALFORMED); // next header is not UDP
    ip[0] = 0x15;
    ip[6] = WEFT_IP_UDP;
    assert_int_equal(weft_icrc_calc(ip, 64, &icrc), WEFT_WIRE_MALFORMED);
}

/// Sizes of include/weft/packet.h, which the simulator counts with, against what the codec writes.
static void sizes(void **state) {
    (void)state;
    uint32_t roce = WEFT_LAYER_IPV4 | WEFT_LAYER_UDP | WEFT_LAYER_BTH | WEFT_LAYER_ICRC | WEFT_LAYER_FCS;
    struct weft_frame f = sample(roce, WEFT_RC_WRITE_MIDDLE, 4096);
    assert_int_equal(weft_frame_bytes(&f), 4096 + WEFT_FRAME_DATA);
    f = sample(roce | WEFT_LAYER_RETH, WEFT_RC_WRITE_FIRST, 4096);
    assert_int_equal(weft_frame_bytes(&f), 4096 + WEFT_FRAME_DATA + WEFT_FRAME_RETH);
    f = sample(roce | WEFT_LAYER_AETH, WEFT_RC_ACK, 0);
    assert_int_equal(weft_frame_bytes(&f), WEFT_FRAME_ACK);
    f = sample(roce | WEFT_LAYER_RETH, WEFT_RC_READ_REQUEST, 0);
    assert_int_equal(weft_frame_bytes(&f), WEFT_FRAME_READ);
    f = sample(roce, WEFT_ROCE_CNP, WEFT_CNP_RESERVED_BYTES);
    assert_int_equal(weft_frame_bytes(&f), WEFT_FRAME_CNP);
}

/// IBTA vol. 1 table of RC opcodes: the octets of extended headers after the BTH, from opcode 0 on.
static void extended_headers(void **state) {
    (void)state;
    static const struct {
        uint8_t opcode, bytes;
        uint32_t layers;
    } table[] = {
        {0x00, 0, 0},
        {0x01, 0, 0},
        {0x02, 0, 0},
        {0x03, 4, WEFT_LAYER_IMMDT},
        {0x04, 0, 0},
        {0x05, 4, WEFT_LAYER_IMMDT},
        {0x06, 16, WEFT_LAYER_RETH},
        {0x07, 0, 0},
        {0x08, 0, 0},
        {0x09, 4, WEFT_LAYER_IMMDT},
        {0x0a, 16, WEFT_LAYER_RETH},
        {0x0b, 20, WEFT_LAYER_RETH | WEFT_LAYER_IMMDT},
        {0x0c, 16, WEFT_LAYER_RETH},
        {0x0d, 4, WEFT_LAYER_AETH},
        {0x0e, 0, 0},
        {0x0f, 4, WEFT_LAYER_AETH},
        {0x10, 4, WEFT_LAYER_AETH},
        {0x11, 4, WEFT_LAYER_AETH},
        {0x12, 12, WEFT_LAYER_AETH | WEFT_LAYER_ATOMIC_ACK_ETH},
        {0x13, 28, WEFT_LAYER_ATOMIC_ETH},
        {0x14, 28, WEFT_LAYER_ATOMIC_ETH},
        {0x16, 4, WEFT_LAYER_IETH},
        {0x17, 4, WEFT_LAYER_IETH},
        {0x81, 0, 0},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const struct weft_roce_opcode *opcode = weft_roce_opcode_find(table[i].opcode);
        assert_non_null(opcode);
        assert_int_equal(opcode->layers, table[i].layers);
        struct weft_frame with = sample(opcode->layers, table[i].opcode, 0), without = sample(0, table[i].opcode, 0);
        assert_int_equal(weft_frame_header_bytes(&with) - weft_frame_header_bytes(&without), table[i].bytes);
    }
}

static enum weft_wire_status status_of(const struct weft_frame *f, struct weft_frame *ret) {
    static uint8_t bytes[FRAME_MAX];
    size_t size = weft_frame_encode(f, bytes, sizeof bytes);
    assert_int_not_equal(size, 0);
    return check_promise(bytes, size, false, ret);
}

/// Contradictory lengths are MALFORMED, and what precedes the contradiction is read; lengths that reach past the end
/// are TRUNCATED.
static void contradictions(void **state) {
    (void)state;
    uint32_t ip_udp = WEFT_LAYER_IPV4 | WEFT_LAYER_UDP, roce = ip_udp | WEFT_LAYER_BTH | WEFT_LAYER_ICRC;
    uint8_t bytes[FRAME_MAX];
    struct weft_frame good = sample(roce | WEFT_LAYER_RETH, WEFT_RC_WRITE_ONLY, 8), f, read;
    assert_int_not_equal(weft_frame_build(&good, bytes, sizeof bytes), 0);

    f = good; // longer than IP says
    f.udp.length++;
    assert_int_equal(status_of(&f, &read), WEFT_WIRE_MALFORMED);
    assert_int_equal(read.layers, ip_udp);
    f = good;
    f.udp.length--;
    assert_int_equal(status_of(&f, &read), WEFT_WIRE_MALFORMED);
    f = good; // shorter than its own header
    f.ipv4.total_length = 19;
    assert_int_equal(status_of(&f, &read), WEFT_WIRE_MALFORMED);
    assert_int_equal(read.layers, WEFT_LAYER_IPV4);
    f = good; // no room for UDP
    f.ipv4.total_length = 27;
    assert_int_equal(status_of(&f, &read), WEFT_WIRE_MALFORMED);
    assert_int_equal(read.layers, WEFT_LAYER_IPV4);
    f = good; // longer than the frame
    f.ipv4.total_length++;
    f.udp.length++;
    assert_int_equal(status_of(&f, &read), WEFT_WIRE_TRUNCATED);
    assert_int_equal(read.layers, ip_udp | WEFT_LAYER_BTH | WEFT_LAYER_RETH);
    f = good; // room for the BTH and the ICRC, not for the RETH
    f.ipv4.total_length = WEFT_IPV4_BYTES + (f.udp.length = WEFT_UDP_BYTES + WEFT_BTH_BYTES + WEFT_ICRC_BYTES);
    assert_int_equal(status_of(&f, &read), WEFT_WIRE_MALFORMED);
    assert_int_equal(read.layers, ip_udp | WEFT_LAYER_BTH);
    f = good; // a pad count with nothing to pad
    f.bth.opcode = WEFT_RC_SEND_ONLY;
    f.bth.pad_count = 3;
    f.ipv4.total_length = WEFT_IPV4_BYTES + (f.udp.length = WEFT_UDP_BYTES + WEFT_BTH_BYTES + WEFT_ICRC_BYTES);
    assert_int_equal(status_of(&f, &read), WEFT_WIRE_MALFORMED);
    f = good; // a fragment is payload
    f.ipv4.fragment_offset = 1;
    assert_int_equal(status_of(&f, &read), WEFT_WIRE_OK);
    assert_int_equal(read.layers, WEFT_LAYER_IPV4);
}

static void layers_that_do_not_stack(void **state) {
    (void)state;
    static const uint32_t wrong[] = {
        WEFT_LAYER_IPV4 | WEFT_LAYER_IPV6,
        WEFT_LAYER_PFC | WEFT_LAYER_PAUSE,
        WEFT_LAYER_PFC | WEFT_LAYER_IPV4,
        WEFT_LAYER_UDP,
        WEFT_LAYER_IPV4 | WEFT_LAYER_BTH,
        WEFT_LAYER_IPV4 | WEFT_LAYER_UDP | WEFT_LAYER_RETH,
        WEFT_LAYER_GRH | WEFT_LAYER_UDP | WEFT_LAYER_BTH,
        WEFT_LAYER_GRH | WEFT_LAYER_IPV6 | WEFT_LAYER_BTH,
        WEFT_LAYER_ICRC,
        WEFT_LAYER_FCS << 1,
    };
    uint8_t bytes[FRAME_MAX];
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct weft_frame f = sample(wrong[i], WEFT_RC_ACK, 0);
        assert_int_equal(weft_frame_build(&f, bytes, sizeof bytes), 0);
        assert_int_equal(weft_frame_encode_headers(&f, bytes, sizeof bytes), 0);
    }
}

/// Missing payload and padding are zeros; anything larger than any frame is refused.
static void zeros(void **state) {
    (void)state;
    struct weft_frame f = sample(WEFT_LAYER_IPV4, 0, sizeof payload);
    uint8_t bytes[FRAME_MAX], same[FRAME_MAX], nothing[sizeof payload] = {0};
    f.payload = NULL;
    size_t size = weft_frame_build(&f, bytes, sizeof bytes);
    f.payload = nothing;
    assert_int_equal(weft_frame_build(&f, same, sizeof same), size);
    assert_memory_equal(bytes, same, size);
    f.payload = NULL;
    f.payload_bytes = SIZE_MAX;
    assert_int_equal(weft_frame_build(&f, bytes, sizeof bytes), 0);
    f.payload_bytes = SIZE_MAX - 40;
    assert_int_equal(weft_frame_build(&f, bytes, sizeof bytes), 0);
    f.payload_bytes = 0;
    f.padding_bytes = SIZE_MAX;
    assert_int_equal(weft_frame_encode(&f, bytes, sizeof bytes), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip),
        cmocka_unit_test(truncation),
        cmocka_unit_test(bit_flips),
        cmocka_unit_test(random_bytes),
        cmocka_unit_test(pfc_bytes),
        cmocka_unit_test(fcs),
        cmocka_unit_test(icrc_by_hand),
        cmocka_unit_test(icrc_of_something_else),
        cmocka_unit_test(sizes),
        cmocka_unit_test(layers_that_do_not_stack),
        cmocka_unit_test(zeros),
        cmocka_unit_test(udp_checksum),
        cmocka_unit_test(udp_checksum_by_hand),
        cmocka_unit_test(extended_headers),
        cmocka_unit_test(contradictions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
