// SPDX-License-Identifier: Apache-2.0
// Each header alone: its bytes written out by hand from the layouts in docs/wire.md, there and back; cut short
// anywhere; any bytes; fields that do not fit.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <string.h>

#include "weft/packet.h"
#include "weft/random.h"
#include "weft/wire.h"

enum { RANDOM_TRIES = 2000, BYTES_MAX = 128 };

/// A codec with its struct behind a void pointer, so that one test covers all.
struct codec {
    const char *name;
    size_t bytes; ///< of the header in the sample
    size_t struct_bytes;
    size_t (*encode)(const void *, uint8_t *, size_t);
    enum weft_wire_status (*decode)(const uint8_t *, size_t, void *);
};

#define CODEC(x)                                                                                                       \
    static size_t encode_##x(const void *p, uint8_t *ret, size_t size) {                                               \
        return weft_##x##_encode(p, ret, size);                                                                        \
    }                                                                                                                  \
    static enum weft_wire_status decode_##x(const uint8_t *bytes, size_t size, void *ret) {                            \
        return weft_##x##_decode(bytes, size, ret);                                                                    \
    }
CODEC(ethernet)
CODEC(vlan)
CODEC(pause)
CODEC(pfc)
CODEC(ipv4)
CODEC(ipv6)
CODEC(udp)
CODEC(bth)
CODEC(reth)
CODEC(aeth)
CODEC(immdt)
CODEC(ieth)
CODEC(atomic_eth)
CODEC(atomic_ack_eth)

static const struct codec codecs[] = {
#define ROW(x, bytes)                                                                                                  \
    { #x, bytes, sizeof(struct weft_##x), encode_##x, decode_##x }
    ROW(ethernet, 14), ROW(vlan, 4), ROW(pause, 4),       ROW(pfc, 20),           ROW(ipv4, 20),
    ROW(ipv6, 40),     ROW(udp, 8),  ROW(bth, 12),        ROW(reth, 16),          ROW(aeth, 4),
    ROW(immdt, 4),     ROW(ieth, 4), ROW(atomic_eth, 28), ROW(atomic_ack_eth, 8),
};

static const struct codec *codec_at(const char *name) {
    for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++)
        if (!strcmp(codecs[i].name, name)) return &codecs[i];
    fail_msg("no codec %s", name);
    return NULL;
}

/// `value` encodes to exactly `bytes`, decodes to itself, and fails for any shorter buffer.
static void there_and_back(const char *name, const void *value, const uint8_t *bytes, size_t size) {
    const struct codec *c = codec_at(name);
    uint8_t written[BYTES_MAX];
    _Alignas(8) uint8_t read[BYTES_MAX];
    assert_int_equal(c->encode(value, written, sizeof written), size);
    assert_memory_equal(written, bytes, size);
    memset(read, 0, sizeof read);
    assert_int_equal(c->decode(bytes, size, read), WEFT_WIRE_OK);
    memset(written, 0xa5, sizeof written);
    assert_int_equal(c->encode(read, written, size), size);
    assert_memory_equal(written, bytes, size);
    for (size_t n = 0; n < size; n++) {
        assert_int_equal(c->encode(value, written, n), 0);
        assert_int_equal(c->decode(bytes, n, read), WEFT_WIRE_TRUNCATED);
    }
}

#define BYTES(...) ((const uint8_t[]){__VA_ARGS__}), sizeof((const uint8_t[]){__VA_ARGS__})

static void layouts_ethernet(void **state) {
    (void)state;
    there_and_back("ethernet", &(struct weft_ethernet){{1, 2, 3, 4, 5, 6}, {7, 8, 9, 10, 11, 12}, 0x86dd},
                   BYTES(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0x86, 0xdd));
    there_and_back("vlan", &(struct weft_vlan){.priority = 3, .drop_eligible = true, .id = 0xabc, .ethertype = 0x800},
                   BYTES(0x7a, 0xbc, 0x08, 0x00));
    there_and_back("pause", &(struct weft_pause){0xffff}, BYTES(0, 1, 0xff, 0xff));
    there_and_back("pfc", &(struct weft_pfc){.classes = 0x18, .quanta = {[3] = 0xffff, [4] = 0x1234}},
                   BYTES(1, 1, 0, 0x18, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0x12, 0x34, 0, 0, 0, 0, 0, 0));
}

static void layouts_ip(void **state) {
    (void)state;
    struct weft_ipv4 ipv4 = {.dscp = 24,
                             .ecn = WEFT_ECN_CE,
                             .total_length = 60,
                             .identification = 0x1234,
                             .dont_fragment = true,
                             .ttl = 64,
                             .protocol = WEFT_IP_UDP,
                             .checksum = 0xbeef,
                             .src = 0x0a000001,
                             .dst = 0x0a010203};
    there_and_back("ipv4", &ipv4,
                   BYTES(0x45, 0x63, 0, 60, 0x12, 0x34, 0x40, 0, 64, 17, 0xbe, 0xef, 10, 0, 0, 1, 10, 1, 2, 3));
    ipv4.options_bytes = 4;
    memcpy(ipv4.options, "\x94\x04\x00\x00", 4); // router alert
    ipv4.dont_fragment = false;
    ipv4.reserved_flag = ipv4.more_fragments = true;
    ipv4.fragment_offset = 0x1001;
    there_and_back(
        "ipv4", &ipv4,
        BYTES(0x46, 0x63, 0, 60, 0x12, 0x34, 0xb0, 1, 64, 17, 0xbe, 0xef, 10, 0, 0, 1, 10, 1, 2, 3, 0x94, 4, 0, 0));
    there_and_back("ipv6",
                   &(struct weft_ipv6){.dscp = 48,
                                       .ecn = WEFT_ECN_ECT0,
                                       .flow_label = 0xabcde,
                                       .payload_length = 40,
                                       .next_header = 17,
                                       .hop_limit = 255,
                                       .src = {0xfd, [15] = 1},
                                       .dst = {0xfd, [15] = 2}},
                   BYTES(0x6c, 0x2a, 0xbc, 0xde, 0, 40, 17, 255, 0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
                         0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2));
    there_and_back("udp", &(struct weft_udp){.src_port = 0xc001, .dst_port = 4791, .length = 40, .checksum = 0xfffe},
                   BYTES(0xc0, 1, 0x12, 0xb7, 0, 40, 0xff, 0xfe));
}

static void layouts_roce(void **state) {
    (void)state;
    struct weft_bth bth = {.opcode = WEFT_RC_WRITE_ONLY,
                           .solicited = true,
                           .pad_count = 2,
                           .pkey = 0xffff,
                           .fecn = true,
                           .dest_qp = 0x123456,
                           .ack_request = true,
                           .psn = 0xabcdef};
    there_and_back("bth", &bth, BYTES(0x0a, 0xa0, 0xff, 0xff, 0x80, 0x12, 0x34, 0x56, 0x80, 0xab, 0xcd, 0xef));
    bth = (struct weft_bth){.migration = true, .version = 5, .becn = true, .reserved6 = 0x15, .reserved7 = 0x2a};
    there_and_back("bth", &bth, BYTES(0, 0x45, 0, 0, 0x55, 0, 0, 0, 0x2a, 0, 0, 0));
    there_and_back("reth", &(struct weft_reth){UINT64_C(0x0102030405060708), 0x090a0b0c, 0x0d0e0f10},
                   BYTES(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16));
    there_and_back("aeth", &(struct weft_aeth){.code = WEFT_AETH_ACK, .value = WEFT_AETH_NO_CREDITS, .msn = 7},
                   BYTES(0x1f, 0, 0, 7));
    there_and_back("aeth", &(struct weft_aeth){.code = WEFT_AETH_NAK, .value = WEFT_NAK_PSN_SEQUENCE, .msn = 0x010203},
                   BYTES(0x60, 1, 2, 3));
    there_and_back("aeth", &(struct weft_aeth){.reserved = true, .code = WEFT_AETH_RNR_NAK, .value = 14},
                   BYTES(0xae, 0, 0, 0));
    there_and_back("immdt", &(struct weft_immdt){0x01020304}, BYTES(1, 2, 3, 4));
    there_and_back("ieth", &(struct weft_ieth){0x01020304}, BYTES(1, 2, 3, 4));
    there_and_back("atomic_eth", &(struct weft_atomic_eth){1, 2, 3, UINT64_C(0xf0f1f2f3f4f5f6f7)},
                   BYTES(0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3, 0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5,
                         0xf6, 0xf7));
    there_and_back("atomic_ack_eth", &(struct weft_atomic_ack_eth){UINT64_C(0x1122334455667788)},
                   BYTES(0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88));
}

static void cnp(void **state) {
    (void)state;
    struct weft_bth becn = weft_bth_cnp(0xd2, WEFT_CNP_BECN), fecn = weft_bth_cnp(0xd2, WEFT_CNP_FECN);
    there_and_back("bth", &becn, BYTES(0x81, 0, 0xff, 0xff, 0x40, 0, 0, 0xd2, 0, 0, 0, 0));
    there_and_back("bth", &fecn, BYTES(0x81, 0, 0xff, 0xff, 0x80, 0, 0, 0xd2, 0, 0, 0, 0));
}

/// Any bytes: decoded, they encode to themselves; not decoded, the struct is as it was.
static void any_bytes(void **state) {
    (void)state;
    struct weft_random random = weft_random_stream(7, 0, WEFT_RANDOM_TEST);
    for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++) {
        const struct codec *c = &codecs[i];
        unsigned decoded = 0;
        for (unsigned n = 0; n < RANDOM_TRIES; n++) {
            uint8_t bytes[BYTES_MAX], again[BYTES_MAX];
            _Alignas(8) uint8_t value[BYTES_MAX], before[BYTES_MAX];
            for (size_t k = 0; k < sizeof bytes; k++)
                bytes[k] = (uint8_t)weft_random_u64(&random);
            size_t size = weft_random_below(&random, sizeof bytes);
            if (n % 2 && c->decode == decode_pause) memcpy(bytes, "\0\1", 2);
            if (n % 2 && c->decode == decode_pfc) memcpy(bytes, "\1\1", 2);
            memset(value, 0x5a, sizeof value);
            memcpy(before, value, sizeof value);
            if (c->decode(bytes, size, value)) {
                assert_memory_equal(value, before, sizeof value);
                continue;
            }
            decoded++;
            size_t written = c->encode(value, again, sizeof again);
            assert_in_range(written, c->bytes, size);
            assert_memory_equal(again, bytes, written);
        }
        assert_in_range(decoded, RANDOM_TRIES / 100, RANDOM_TRIES);
    }
}

/// A field one above what its bits hold is refused, and the largest that fits is not.
#define REFUSES(x, field, most)                                                                                        \
    do {                                                                                                               \
        uint8_t bytes[BYTES_MAX];                                                                                      \
        struct weft_##x value = {0};                                                                                   \
        value.field = (most);                                                                                          \
        assert_int_not_equal(weft_##x##_encode(&value, bytes, sizeof bytes), 0);                                       \
        value.field = (most) + 1;                                                                                      \
        assert_int_equal(weft_##x##_encode(&value, bytes, sizeof bytes), 0);                                           \
    } while (0)

static void too_large(void **state) {
    (void)state;
    REFUSES(vlan, priority, 7);
    REFUSES(vlan, id, 0xfff);
    REFUSES(ipv4, dscp, 63);
    REFUSES(ipv4, ecn, 3);
    REFUSES(ipv4, fragment_offset, 0x1fff);
    REFUSES(ipv4, options_bytes, 40);
    REFUSES(ipv6, dscp, 63);
    REFUSES(ipv6, ecn, 3);
    REFUSES(ipv6, flow_label, 0xfffff);
    REFUSES(bth, pad_count, 3);
    REFUSES(bth, version, 15);
    REFUSES(bth, reserved6, 63);
    REFUSES(bth, dest_qp, 0xffffff);
    REFUSES(bth, reserved7, 127);
    REFUSES(bth, psn, 0xffffff);
    REFUSES(aeth, code, 3);
    REFUSES(aeth, value, 31);
    REFUSES(aeth, msn, 0xffffff);
    uint8_t bytes[BYTES_MAX];
    assert_int_equal(weft_ipv4_encode(&(struct weft_ipv4){.options_bytes = 6}, bytes, sizeof bytes), 0);
    assert_int_equal(weft_ipv4_encode(&(struct weft_ipv4){.options_bytes = 44}, bytes, sizeof bytes), 0);
}

static void malformed(void **state) {
    (void)state;
    uint8_t bytes[64] = {0x44};
    struct weft_ipv4 ipv4;
    struct weft_ipv6 ipv6;
    struct weft_pfc pfc;
    struct weft_pause pause;
    assert_int_equal(weft_ipv4_decode(bytes, sizeof bytes, &ipv4), WEFT_WIRE_MALFORMED);
    bytes[0] = 0x65;
    assert_int_equal(weft_ipv4_decode(bytes, sizeof bytes, &ipv4), WEFT_WIRE_MALFORMED);
    bytes[0] = 0x45;
    assert_int_equal(weft_ipv6_decode(bytes, sizeof bytes, &ipv6), WEFT_WIRE_MALFORMED);
    assert_int_equal(weft_pfc_decode(bytes, sizeof bytes, &pfc), WEFT_WIRE_MALFORMED);
    assert_int_equal(weft_pause_decode(bytes, sizeof bytes, &pause), WEFT_WIRE_MALFORMED);
}

/// RFC 1071's sum of a header that is printed in many places: 45 00 00 73 ... c0 a8 00 01 c0 a8 00 c7 has 0xb861.
static void ipv4_checksum(void **state) {
    (void)state;
    struct weft_ipv4 ip = {.total_length = 0x73,
                           .dont_fragment = true,
                           .ttl = 64,
                           .protocol = 17,
                           .checksum = 0x1111,
                           .src = 0xc0a80001,
                           .dst = 0xc0a800c7};
    assert_int_equal(weft_ipv4_calc_checksum(&ip), 0xb861);
    ip.dscp = 64;
    assert_int_equal(weft_ipv4_calc_checksum(&ip), 0);
}

static void opcodes(void **state) {
    (void)state;
    unsigned known = 0;
    for (unsigned i = 0; i < 256; i++) {
        const struct weft_roce_opcode *opcode = weft_roce_opcode_find((uint8_t)i);
        if (!opcode) continue;
        assert_int_equal(opcode->opcode, i);
        known++;
    }
    assert_int_equal(known, 0x15 + 2 + 1); // RC 0x00 to 0x14, two with invalidate, CNP
    assert_null(weft_roce_opcode_find(0x15));
    assert_string_equal(weft_roce_opcode_find(WEFT_RC_WRITE_LAST_IMMEDIATE)->name, "RC RDMA WRITE Last with Immediate");
    assert_string_equal(weft_roce_opcode_find(WEFT_ROCE_CNP)->name, "CNP");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layouts_ethernet), cmocka_unit_test(layouts_ip),
        cmocka_unit_test(layouts_roce),     cmocka_unit_test(cnp),
        cmocka_unit_test(any_bytes),        cmocka_unit_test(too_large),
        cmocka_unit_test(malformed),        cmocka_unit_test(ipv4_checksum),
        cmocka_unit_test(opcodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
