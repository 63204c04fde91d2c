// SPDX-License-Identifier: Apache-2.0
// LLDP and DCBX codecs: bytes written down by hand from the standard's figures, the same bytes again, every truncation,
// every flipped bit, and what no encoder may write.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <string.h>

#include "weft/random.h"
#include "weft/wire_lldp.h"

/// An LLDPDU as sent by a port of a data centre switch: D.2.8 to D.2.11 and the CEE TLV, followed by padding.
static const uint8_t sample[] = {
    0x02, 0x07, 0x04, 0x02, 0x00, 0x00, 0x00, 0x00, 0x07,                               // chassis id: MAC
    0x04, 0x05, 0x05, 'e',  't',  'h',  '1',                                            // port id: interface name
    0x06, 0x02, 0x00, 0x78,                                                             // TTL 120 s
    0x0a, 0x04, 'l',  'e',  'a',  'f',                                                  // system name
    0xfe, 0x19, 0x00, 0x80, 0xc2, 0x09,                                                 // ETS configuration
    0x83, 0x00, 0x01, 0x02, 0x23, 50,   30,   20,   0,    0,    0,    0,    0,          // willing, 3 classes
    2,    2,    2,    0,    0,    0,    0,    255,                                      //
    0xfe, 0x19, 0x00, 0x80, 0xc2, 0x0a, 0x00, 0x01, 0x23, 0x45, 0x67,                   // ETS recommendation
    0,    0,    0,    60,   40,   0,    0,    0,    0,    0,    0,    2,    2, 0, 0, 0, //
    0xfe, 0x06, 0x00, 0x80, 0xc2, 0x0b, 0xc8, 0x18,                         // PFC: willing, MBC, 8 capable, 3 and 4
    0xfe, 0x0b, 0x00, 0x80, 0xc2, 0x0c, 0x00, 0x63, 0x12, 0xb7,             // applications: UDP 4791 -> 3
    0x81, 0x89, 0x14,                                                       // EtherType 0x8914 -> 4
    0xfe, 0x37, 0x00, 0x1b, 0x21, 0x02,                                     // CEE
    0x02, 0x0a, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x02, // control: sequence 1, acknowledged 2
    0x04, 0x11, 0x00, 0x00, 0xc0, 0x00, 0x00, 0x01, 0x00, 0x0f, 50,   50,   // priority groups: enabled, willing
    0,    0,    0,    0,    0,    0,    8,                                  //
    0x06, 0x06, 0x00, 0x00, 0x80, 0x00, 0x08, 0x04,                         // PFC: enabled, priority 3, 4 classes
    0x08, 0x0a, 0x00, 0x00, 0xa0, 0x00, 0x12, 0xb7, 0x01, 0x1b, 0x21, 0x08, // applications: error, port 4791
    0x00, 0x00,                                                             // End
    0x00, 0x00, 0xff,                                                       // padding
};
enum { PADDING = 3, SAMPLE = sizeof sample - PADDING };

static struct weft_dcbx decode_dcbx(const uint8_t *bytes, size_t size) {
    struct weft_lldpdu pdu;
    struct weft_dcbx dcbx;
    assert_int_equal(weft_lldpdu_decode(bytes, size, &pdu), WEFT_WIRE_OK);
    assert_int_equal(weft_dcbx_decode(pdu.optional, pdu.optional_bytes, &dcbx), WEFT_WIRE_OK);
    return dcbx;
}

static void head(void **state) {
    struct weft_lldpdu pdu;
    assert_int_equal(weft_lldpdu_decode(sample, sizeof sample, &pdu), WEFT_WIRE_OK);
    assert_int_equal(pdu.chassis.subtype, WEFT_LLDP_CHASSIS_MAC);
    assert_int_equal(pdu.chassis.length, 6);
    assert_memory_equal(pdu.chassis.id, "\2\0\0\0\0\7", 6);
    assert_int_equal(pdu.port.subtype, WEFT_LLDP_PORT_NAME);
    assert_int_equal(pdu.port.length, 4);
    assert_memory_equal(pdu.port.id, "eth1", 4);
    assert_int_equal(pdu.ttl_s, 120);
    assert_true(pdu.ended);
    assert_int_equal(weft_lldpdu_bytes(&pdu), SAMPLE);
    struct weft_lldp_tlv name;
    assert_int_equal(weft_lldp_tlv_decode(pdu.optional, pdu.optional_bytes, &name), WEFT_WIRE_OK);
    assert_int_equal(name.type, WEFT_LLDP_SYSTEM_NAME);
    assert_memory_equal(name.value, "leaf", 4);
}

static void ieee(void **state) {
    struct weft_dcbx d = decode_dcbx(sample, sizeof sample);
    assert_int_equal(d.has,
                     WEFT_DCBX_ETS | WEFT_DCBX_ETS_RECOMMENDATION | WEFT_DCBX_PFC | WEFT_DCBX_APPS | WEFT_DCBX_CEE);
    assert_int_equal(d.repeated | d.malformed, 0);
    assert_true(d.ets.willing && !d.ets.credit_shaper);
    assert_int_equal(d.ets.classes, 3);
    assert_memory_equal(d.ets.table.class_of, "\0\0\0\1\0\2\2\3", 8);
    assert_memory_equal(d.ets.table.percent, "\x32\x1e\x14\0\0\0\0\0", 8);
    assert_memory_equal(d.ets.table.algorithm, "\2\2\2\0\0\0\0\xff", 8);
    assert_memory_equal(d.recommendation.table.class_of, "\0\1\2\3\4\5\6\7", 8);
    assert_int_equal(d.recommendation.table.percent[3], 60);
    assert_int_equal(d.recommendation.table.algorithm[4], WEFT_ETS_SHARE);
    assert_true(d.pfc.willing && d.pfc.macsec_bypass);
    assert_int_equal(d.pfc.capability, 8);
    assert_int_equal(d.pfc.enabled, 0x18);
    assert_int_equal(d.apps.n, 2);
    assert_int_equal(d.apps.app[0].priority, 3);
    assert_int_equal(d.apps.app[0].selector, WEFT_APP_UDP);
    assert_int_equal(d.apps.app[0].protocol, WEFT_UDP_PORT_ROCE);
    assert_int_equal(d.apps.app[1].priority, 4);
    assert_int_equal(d.apps.app[1].selector, WEFT_APP_ETHERTYPE);
    assert_int_equal(d.apps.app[1].protocol, 0x8914);
}

static void cee(void **state) {
    struct weft_cee c = decode_dcbx(sample, sizeof sample).cee;
    assert_int_equal(c.has, 1 << WEFT_CEE_CONTROL | 1 << WEFT_CEE_PG | 1 << WEFT_CEE_PFC | 1 << WEFT_CEE_APPS);
    assert_int_equal(c.control.sequence, 1);
    assert_int_equal(c.control.acknowledged, 2);
    assert_true(c.pg.feature.enabled && c.pg.feature.willing && !c.pg.feature.error);
    assert_memory_equal(c.pg.group_of, "\0\0\0\1\0\0\0\xf", 8);
    assert_int_equal(c.pg.percent[1], 50);
    assert_int_equal(c.pg.classes, 8);
    assert_true(c.pfc.feature.enabled && !c.pfc.feature.willing);
    assert_int_equal(c.pfc.enabled, 8);
    assert_int_equal(c.pfc.classes, 4);
    assert_true(c.apps.feature.error);
    assert_int_equal(c.apps.n, 1);
    assert_int_equal(c.apps.app[0].selector, 1);
    assert_int_equal(c.apps.app[0].protocol, WEFT_UDP_PORT_ROCE);
    assert_int_equal(c.apps.app[0].oui, 0x1b21);
    assert_int_equal(c.apps.app[0].priorities, 8);
}

static void same_bytes_again(void **state) {
    struct weft_lldpdu pdu;
    uint8_t again[sizeof sample], tlvs[sizeof sample];
    assert_int_equal(weft_lldpdu_decode(sample, sizeof sample, &pdu), WEFT_WIRE_OK);
    assert_int_equal(weft_lldpdu_encode(&pdu, again, sizeof again), SAMPLE);
    assert_memory_equal(again, sample, SAMPLE);
    for (size_t room = 0; room < SAMPLE; room++)
        assert_int_equal(weft_lldpdu_encode(&pdu, again, room), 0);

    struct weft_dcbx dcbx = decode_dcbx(sample, sizeof sample);
    const uint8_t *first = pdu.optional + 6; // after the system name
    size_t size = pdu.optional_bytes - 6;
    assert_int_equal(weft_dcbx_encode(&dcbx, tlvs, sizeof tlvs), size);
    assert_memory_equal(tlvs, first, size);
    for (size_t room = 0; room < size; room++)
        assert_int_equal(weft_dcbx_encode(&dcbx, tlvs, room), 0);
}

/// Without End and padding a cut between two TLVs is an LLDPDU that ends there; anywhere else it is truncated.
static void truncated(void **state) {
    size_t whole = 0, boundary = 0;
    for (size_t size = 0; size < SAMPLE; size++) {
        while (boundary < size)
            boundary += WEFT_LLDP_TLV_HEADER + (((unsigned)sample[boundary] << 8 | sample[boundary + 1]) & 511);
        uint8_t copy[SAMPLE]; // exactly as long as declared, for the sanitizer
        memcpy(copy + SAMPLE - size, sample, size);
        struct weft_lldpdu pdu;
        enum weft_wire_status status = weft_lldpdu_decode(copy + SAMPLE - size, size, &pdu);
        bool at_boundary = boundary == size && size >= 20;
        assert_int_equal(status, at_boundary ? WEFT_WIRE_OK : WEFT_WIRE_TRUNCATED);
        if (!at_boundary) continue;
        assert_false(pdu.ended);
        assert_int_equal(weft_lldpdu_bytes(&pdu), size);
        whole++;
    }
    assert_int_equal(whole, 7); // after TTL, name, four IEEE TLVs and CEE
    struct weft_dcbx dcbx;
    for (size_t size = 1; size < 27; size++)
        assert_int_equal(weft_dcbx_decode(sample + 26, size, &dcbx), WEFT_WIRE_TRUNCATED);
}

/// Whatever the bytes: if they decode, they encode to the same, padding aside.
static void holds(const uint8_t *bytes, size_t size) {
    struct weft_lldpdu pdu;
    struct weft_dcbx dcbx, dcbx_again;
    uint8_t again[WEFT_LLDPDU_MAX];
    if (weft_lldpdu_decode(bytes, size, &pdu)) return;
    size_t used = weft_lldpdu_bytes(&pdu);
    assert_true(used <= size);
    assert_int_equal(weft_lldpdu_encode(&pdu, again, sizeof again), used);
    assert_memory_equal(again, bytes, used);
    assert_int_equal(weft_dcbx_decode(pdu.optional, pdu.optional_bytes, &dcbx), WEFT_WIRE_OK);
    size_t written = weft_dcbx_encode(&dcbx, again, sizeof again);
    assert_int_equal(!written, !dcbx.has);
    assert_int_equal(weft_dcbx_decode(again, written, &dcbx_again), WEFT_WIRE_OK);
    assert_int_equal(dcbx_again.has, dcbx.has);
    dcbx_again.repeated = dcbx.repeated;
    dcbx_again.malformed = dcbx.malformed;
    assert_memory_equal(&dcbx_again, &dcbx, sizeof dcbx);
}

static void flipped(void **state) {
    for (size_t bit = 0; bit < 8 * sizeof sample; bit++) {
        uint8_t copy[sizeof sample];
        memcpy(copy, sample, sizeof sample);
        copy[bit / 8] ^= (uint8_t)(1u << bit % 8);
        holds(copy, sizeof copy);
    }
}

static void random_damage(void **state) {
    struct weft_random random = weft_random_stream(1, 0, WEFT_RANDOM_ENTROPY);
    for (unsigned i = 0; i < 20000; i++) {
        uint8_t copy[sizeof sample];
        memcpy(copy, sample, sizeof sample);
        for (unsigned k = 0; k < 3; k++)
            copy[weft_random_u64(&random) % sizeof copy] = (uint8_t)weft_random_u64(&random);
        holds(copy, weft_random_u64(&random) % (sizeof copy + 1));
    }
}

/// The head out of order, twice or of a wrong size; what follows the head is not judged.
static void malformed_head(void **state) {
    struct weft_lldpdu pdu;
    uint8_t swapped[16];
    memcpy(swapped, sample + 9, 7);
    memcpy(swapped + 7, sample, 9);
    assert_int_equal(weft_lldpdu_decode(swapped, sizeof swapped, &pdu), WEFT_WIRE_MALFORMED);
    uint8_t twice[24];
    memcpy(twice, sample, 20);
    memcpy(twice + 20, sample + 16, 4);
    assert_int_equal(weft_lldpdu_decode(twice, sizeof twice, &pdu), WEFT_WIRE_MALFORMED);
    static const uint8_t empty_id[] = {2, 1, 4, 4, 2, 5, 'e', 6, 2, 0, 1, 0, 0};
    assert_int_equal(weft_lldpdu_decode(empty_id, sizeof empty_id, &pdu), WEFT_WIRE_MALFORMED);
    static const uint8_t long_ttl[] = {2, 2, 4, 4, 4, 2, 5, 'e', 6, 3, 0, 1, 0, 0, 0};
    assert_int_equal(weft_lldpdu_decode(long_ttl, sizeof long_ttl, &pdu), WEFT_WIRE_MALFORMED);
    static const uint8_t filled_end[] = {2, 2, 4, 4, 4, 2, 5, 'e', 6, 2, 0, 1, 0, 1, 0};
    assert_int_equal(weft_lldpdu_decode(filled_end, sizeof filled_end, &pdu), WEFT_WIRE_MALFORMED);
}

static void repeated_and_malformed_tlvs(void **state) {
    static const uint8_t tlvs[] = {
        0xfe, 6, 0, 0x80, 0xc2, 11, 0x08, 0x08, // PFC on 3
        0xfe, 6, 0, 0x80, 0xc2, 11, 0x08, 0x10, // and again, on 4
        0xfe, 6, 0, 0x80, 0xc2, 12, 0,    0x63, // an application table that breaks off
        0xfe, 3, 0, 0x80, 0xc2,                 // an OUI without a subtype
        0xfe, 4, 0, 0x80, 0xc2, 9,              // an empty ETS configuration
        0xfe, 6, 0, 0x1b, 0x21, 2,  0x0a, 0,    // CEE with only an unknown sub-TLV
    };
    struct weft_dcbx d;
    assert_int_equal(weft_dcbx_decode(tlvs, sizeof tlvs, &d), WEFT_WIRE_OK);
    assert_int_equal(d.has, WEFT_DCBX_PFC);
    assert_int_equal(d.repeated, WEFT_DCBX_PFC);
    assert_int_equal(d.malformed, WEFT_DCBX_APPS | WEFT_DCBX_ETS | WEFT_DCBX_CEE);
    assert_int_equal(d.pfc.enabled, 8);
}

static void not_representable(void **state) {
    uint8_t bytes[WEFT_LLDPDU_MAX];
    struct weft_dcbx good = decode_dcbx(sample, sizeof sample), d;
#define REFUSED(what)                                                                                                  \
    do {                                                                                                               \
        d = good;                                                                                                      \
        d.what;                                                                                                        \
        assert_int_equal(weft_dcbx_encode(&d, bytes, sizeof bytes), 0);                                                \
    } while (0)
    REFUSED(ets.classes = 0);
    REFUSED(ets.classes = 9);
    REFUSED(ets.reserved = 8);
    REFUSED(ets.table.class_of[7] = 16);
    REFUSED(recommendation.table.class_of[0] = 16);
    REFUSED(pfc.capability = 16);
    REFUSED(pfc.reserved = 4);
    REFUSED(apps.n = WEFT_APPS_MAX + 1);
    REFUSED(apps.app[0].priority = 8);
    REFUSED(apps.app[0].selector = 8);
    REFUSED(apps.app[0].reserved = 4);
    REFUSED(cee.pg.group_of[1] = 16);
    REFUSED(cee.pg.feature.reserved = 32);
    REFUSED(cee.apps.app[0].selector = 4);
    REFUSED(cee.apps.app[0].oui = 1 << 22);
    REFUSED(cee.apps.n = WEFT_CEE_APPS_MAX); // more than the room that the other parts leave
#undef REFUSED
    struct weft_lldpdu pdu;
    assert_int_equal(weft_lldpdu_decode(sample, sizeof sample, &pdu), WEFT_WIRE_OK);
    pdu.optional_bytes--;
    assert_int_equal(weft_lldpdu_encode(&pdu, bytes, sizeof bytes), 0);
    pdu.optional = sample + 16; // a second TTL
    pdu.optional_bytes = 4;
    assert_int_equal(weft_lldpdu_encode(&pdu, bytes, sizeof bytes), 0);
    pdu.optional_bytes = 0;
    assert_int_equal(weft_lldpdu_encode(&pdu, bytes, sizeof bytes), 22);
    pdu.port.length = 0;
    assert_int_equal(weft_lldpdu_encode(&pdu, bytes, sizeof bytes), 0);
    struct weft_lldp_tlv tlv = {.type = 128};
    assert_int_equal(weft_lldp_tlv_encode(&tlv, bytes, sizeof bytes), 0);
}

/// Tables as long as a TLV can hold.
static void full_tables(void **state) {
    uint8_t bytes[WEFT_LLDPDU_MAX];
    struct weft_dcbx d = {.has = WEFT_DCBX_APPS | WEFT_DCBX_CEE, .apps.n = WEFT_APPS_MAX}, again;
    d.cee.has = 1 << WEFT_CEE_APPS;
    d.cee.apps.n = WEFT_CEE_APPS_MAX - 1;
    for (unsigned i = 0; i < WEFT_APPS_MAX; i++)
        d.apps.app[i] = (struct weft_app){(uint8_t)(i % 8), (uint8_t)(i % 4), (uint8_t)(i % 6), (uint16_t)(i * 389)};
    for (unsigned i = 0; i < d.cee.apps.n; i++)
        d.cee.apps.app[i] = (struct weft_cee_app){(uint16_t)(i * 789), (uint8_t)(i % 4), i * 49999, (uint8_t)(i * 3)};
    size_t size = weft_dcbx_encode(&d, bytes, sizeof bytes);
    assert_int_equal(size, 2 + 4 + 1 + 3 * 168 + 2 + 4 + 2 + 4 + 6 * 83);
    assert_int_equal(weft_dcbx_decode(bytes, size, &again), WEFT_WIRE_OK);
    assert_memory_equal(&again, &d, sizeof d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(head),
        cmocka_unit_test(ieee),
        cmocka_unit_test(cee),
        cmocka_unit_test(same_bytes_again),
        cmocka_unit_test(truncated),
        cmocka_unit_test(flipped),
        cmocka_unit_test(random_damage),
        cmocka_unit_test(malformed_head),
        cmocka_unit_test(repeated_and_malformed_tlvs),
        cmocka_unit_test(not_representable),
        cmocka_unit_test(full_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
