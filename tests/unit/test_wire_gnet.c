// SPDX-License-Identifier: Apache-2.0
// Cells of GNet: the layouts that weft/wire_gnet.h draws; sizes of the Aquila paper (NSDI 2022,
// sections 3.1, 3.3 to 3.5, B.1); whatever is decoded encodes to the same bytes.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <string.h>

#include "box/tin/gnet_cell.h"
#include "gnet_decode.h"
#include "weft/random.h"

static struct weft_gnet_cell sample(enum weft_gnet_type type) {
    struct weft_gnet_cell c = {.header = {.type = (uint8_t)type, .hops = 9, .vc = 31, .trace = true}};
    c.header.source = weft_gnet_address_pack((struct weft_gnet_address){47, 11, 17});
    c.header.destination = weft_gnet_address_pack((struct weft_gnet_address){1, 2, 3});
    switch (type) {
    case WEFT_GNET_TYPE_RTS:
        c.rts = (struct weft_gnet_rts){1500, 7, 128, 0x01020304};
        break;
    case WEFT_GNET_TYPE_CTS:
        c.cts = (struct weft_gnet_cts){false, 0x01020304, 0x05060708};
        break;
    case WEFT_GNET_TYPE_CTD:
        c.cts = (struct weft_gnet_cts){true, 0x01020304, 0};
        break;
    case WEFT_GNET_TYPE_DATA:
        c.data = (struct weft_gnet_data){1023, 63, 152, {1, 2, 3}};
        break;
    case WEFT_GNET_TYPE_REQ:
        c.req = (struct weft_gnet_req){WEFT_GNET_READ, 4096, 77, 5, 0x1122334455667788, {9, 8, 7}, 0, 0};
        break;
    default:
        c.resp = (struct weft_gnet_resp){77, 256, 0, 128, {4, 5, 6}};
        break;
    }
    return c;
}

static void layout(void **state) {
    (void)state;
    uint8_t bytes[WEFT_GNET_CELL_BYTES_MAX];
    struct weft_gnet_cell rts = sample(WEFT_GNET_TYPE_RTS);
    const uint8_t expected[] = {0x5f, 0x71, 0x02, 0x43, 16, 0x19, 0xfc, 0, 0x05, 0xdc, 0xe0, 128, 1, 2, 3, 4};
    assert_int_equal(weft_gnet_cell_encode(&rts, bytes, sizeof bytes), sizeof expected);
    bytes[7] = 0; // the CRC, below
    assert_memory_equal(bytes, expected, sizeof expected);
    // CRC-8 with polynomial 0x07 preset to ones, of one octet shifted in by hand: 0xff, then seven of 0
    const uint8_t zeros[7] = {0};
    uint32_t remainder = 0xff;
    for (unsigned bit = 0; bit < 56; bit++)
        remainder = remainder >> 7 ? (remainder * 2 ^ 0x107) : remainder * 2;
    assert_int_equal(weft_gnet_crc8(zeros), remainder);
    struct weft_gnet_address a = gnet_address_unpack(0x5f71);
    assert_int_equal(a.pod, 47);
    assert_int_equal(a.tin, 11);
    assert_int_equal(a.endpoint, 17);
}

/// RTS, CTS and CTD 16 octets, Req 48, three times CTS; a full data cell 160; the smallest completion cell 64 and
/// header.
static void sizes(void **state) {
    (void)state;
    const size_t bytes[] = {[WEFT_GNET_TYPE_RTS] = 16,   [WEFT_GNET_TYPE_CTS] = 16, [WEFT_GNET_TYPE_CTD] = 16,
                            [WEFT_GNET_TYPE_DATA] = 160, [WEFT_GNET_TYPE_REQ] = 48, [WEFT_GNET_TYPE_RESP] = 144};
    for (uint32_t type = 1; type < WEFT_GNET_TYPES; type++) {
        struct weft_gnet_cell c = sample(type), again;
        uint8_t out[WEFT_GNET_CELL_BYTES_MAX], twice[WEFT_GNET_CELL_BYTES_MAX];
        assert_int_equal(weft_gnet_cell_encode(&c, out, sizeof out), bytes[type]);
        assert_int_equal(gnet_cell_decode(out, bytes[type], &again), WEFT_GNET_WIRE_OK);
        assert_int_equal(again.header.length, bytes[type]);
        assert_true(again.header.trace);
        assert_int_equal(weft_gnet_cell_encode(&again, twice, sizeof twice), bytes[type]);
        assert_memory_equal(out, twice, bytes[type]);
    }
}

static uint32_t counted(enum weft__cell_type type, uint32_t bytes) {
    return weft__gnet_wire(
        &(struct weft_packet){.bytes = (uint16_t)bytes, .entropy = weft__gnet_head(type, 0, false) & 0x3fffu});
}

/// The simulation counts the octets that a cell has: 8 before what it carries of a packet; 16 before bytes of memory,
/// whose answers say to what as well.
static void simulated_cells_are_as_long(void **state) {
    (void)state;
    uint8_t out[WEFT_GNET_CELL_BYTES_MAX];
    for (uint32_t n = 1; n <= WEFT_GNET_PAYLOAD; n++) {
        struct weft_gnet_cell c = sample(WEFT_GNET_TYPE_DATA);
        c.data.bytes = (uint8_t)(n < 8 ? 8 : n); // the last one of a packet is padded
        assert_int_equal(counted(WEFT__GNET_DATA, n), n < 8 ? 16 : 8 + n);
        assert_int_equal(weft_gnet_cell_encode(&c, out, sizeof out), counted(WEFT__GNET_DATA, n));
    }
    for (uint32_t n = 0; n <= WEFT_GNET_RESP_BYTES_MAX; n++) {
        struct weft_gnet_cell c = sample(WEFT_GNET_TYPE_RESP);
        c.resp.bytes = (uint8_t)n;
        assert_int_equal(counted(WEFT__GNET_RESP, n), 16 + n);
        assert_int_equal(weft_gnet_cell_encode(&c, out, sizeof out), counted(WEFT__GNET_RESP, n));
    }
    assert_int_equal(counted(WEFT__GNET_DATA, WEFT_GNET_PAYLOAD), 160);
    assert_int_equal(counted(WEFT__GNET_RESP, WEFT_GNET_RESP_BYTES_MAX), 160);
    assert_int_equal(counted(WEFT__GNET_DATA, 3 * WEFT_GNET_PAYLOAD + 1), 3 * 160 + 16); // a train
}

/// An atomic's Req has 48 octets too: its operands take the place of the length and of half of the HMAC.
static void operands_fit(void **state) {
    (void)state;
    struct weft_gnet_cell swap = sample(WEFT_GNET_TYPE_REQ), again;
    uint8_t out[WEFT_GNET_CELL_BYTES_MAX];
    swap.req = (struct weft_gnet_req){WEFT_GNET_COMPARE_SWAP,   8,    0xa1a2a3, 0xb1b2b3b4, 0x1122334455667788,
                                      {1, 2, 3, 4, 5, 6, 7, 8}, 0xc1, 0xd1};
    const uint8_t expected[] = {3,    0xa1, 0xa2, 0xa3, 0xb1, 0xb2, 0xb3, 0xb4, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66,
                                0x77, 0x88, 0,    0,    0,    0,    0,    0,    0,    0xc1, 0,    0,    0,    0,
                                0,    0,    0,    0xd1, 1,    2,    3,    4,    5,    6,    7,    8};
    assert_int_equal(weft_gnet_cell_encode(&swap, out, sizeof out), 48);
    assert_memory_equal(out + 8, expected, sizeof expected);
    assert_int_equal(gnet_cell_decode(out, 48, &again), WEFT_GNET_WIRE_OK);
    assert_true(again.req.operand == 0xc1 && again.req.compare == 0xd1 && again.req.number == 0xa1a2a3);
    assert_true(again.req.bytes == 8 && again.req.address == 0x1122334455667788 && again.req.region == 0xb1b2b3b4);
    assert_memory_equal(again.req.hmac, swap.req.hmac, sizeof swap.req.hmac);
}

static void too_short(void **state) {
    (void)state;
    for (uint32_t type = 1; type < WEFT_GNET_TYPES; type++) {
        struct weft_gnet_cell c = sample(type), other;
        uint8_t out[WEFT_GNET_CELL_BYTES_MAX], none[WEFT_GNET_CELL_BYTES_MAX];
        size_t size = weft_gnet_cell_encode(&c, out, sizeof out);
        for (size_t n = 0; n < size; n++) {
            assert_int_equal(gnet_cell_decode(out, n, &other), WEFT_GNET_WIRE_TRUNCATED);
            assert_int_equal(weft_gnet_cell_encode(&c, none, n), 0);
        }
    }
}

/// The polynomial is (x + 1) times a primitive one of degree 7: up to three wrong bits of up to 127 are seen.
static void wrong_bits(void **state) {
    (void)state;
    struct weft_gnet_header header = sample(WEFT_GNET_TYPE_DATA).header, ret;
    header.length = 100;
    uint8_t bytes[WEFT_GNET_HEADER_BYTES];
    assert_int_equal(weft_gnet_header_encode(&header, bytes, sizeof bytes), sizeof bytes);
    for (unsigned a = 0; a < 64; a++)
        for (unsigned b = a; b < 64; b++)
            for (unsigned c = b; c < 64; c++) {
                uint8_t wrong[WEFT_GNET_HEADER_BYTES];
                memcpy(wrong, bytes, sizeof wrong);
                wrong[a / 8] ^= (uint8_t)(1 << a % 8);
                if (b != a) wrong[b / 8] ^= (uint8_t)(1 << b % 8);
                if (c != b) wrong[c / 8] ^= (uint8_t)(1 << c % 8);
                assert_int_equal(gnet_header_decode(wrong, sizeof wrong, &ret), WEFT_GNET_WIRE_CRC);
            }
    const uint8_t nothing[WEFT_GNET_HEADER_BYTES] = {0};
    assert_int_equal(gnet_header_decode(nothing, sizeof nothing, &ret), WEFT_GNET_WIRE_CRC);
}

static enum weft_gnet_wire_status status_with(enum weft_gnet_type type, size_t octet, uint8_t value) {
    struct weft_gnet_cell c = sample(type), ret = {.header.source = 0xabcd};
    uint8_t bytes[WEFT_GNET_CELL_BYTES_MAX] = {0};
    assert_true(weft_gnet_cell_encode(&c, bytes, sizeof bytes) > 0);
    bytes[octet] = value;
    bytes[7] = weft_gnet_crc8(bytes);
    enum weft_gnet_wire_status status = gnet_cell_decode(bytes, sizeof bytes, &ret);
    if (status) assert_int_equal(ret.header.source, 0xabcd); // not touched
    return status;
}

static void malformed(void **state) {
    (void)state;
    assert_int_equal(status_with(WEFT_GNET_TYPE_RTS, 5, 0x09), WEFT_GNET_WIRE_TYPE);
    assert_int_equal(status_with(WEFT_GNET_TYPE_RTS, 5, 0x79), WEFT_GNET_WIRE_TYPE);
    assert_int_equal(status_with(WEFT_GNET_TYPE_RTS, 4, 24), WEFT_GNET_WIRE_LENGTH);
    assert_int_equal(status_with(WEFT_GNET_TYPE_DATA, 4, 15), WEFT_GNET_WIRE_LENGTH);
    assert_int_equal(status_with(WEFT_GNET_TYPE_DATA, 4, 161), WEFT_GNET_WIRE_LENGTH);
    assert_int_equal(status_with(WEFT_GNET_TYPE_REQ, 4, 56), WEFT_GNET_WIRE_LENGTH);
    assert_int_equal(status_with(WEFT_GNET_TYPE_RTS, 10, 0xe1), WEFT_GNET_WIRE_FIELD); // reserved
    assert_int_equal(status_with(WEFT_GNET_TYPE_CTD, 15, 1), WEFT_GNET_WIRE_FIELD);    // nothing to go to
    assert_int_equal(status_with(WEFT_GNET_TYPE_REQ, 8, 4), WEFT_GNET_WIRE_FIELD);     // operation
    assert_int_equal(status_with(WEFT_GNET_TYPE_REQ, 10, 0x11), WEFT_GNET_WIRE_FIELD); // more than 4 KB
    assert_int_equal(status_with(WEFT_GNET_TYPE_REQ, 4, 64), WEFT_GNET_WIRE_LENGTH);
    assert_int_equal(status_with(WEFT_GNET_TYPE_REQ, 9, 1), WEFT_GNET_WIRE_FIELD);      // reserved
    assert_int_equal(status_with(WEFT_GNET_TYPE_RESP, 8 + 6, 1), WEFT_GNET_WIRE_FIELD); // data with an error
    assert_int_equal(status_with(WEFT_GNET_TYPE_RTS, 6, 0x03), WEFT_GNET_WIRE_OK);      // reserved bits are kept
}

static void more_than_fits(void **state) {
    (void)state;
    uint8_t out[WEFT_GNET_CELL_BYTES_MAX];
    struct weft_gnet_cell c;
#define REFUSED(type_, change)                                                                                         \
    c = sample(type_);                                                                                                 \
    change;                                                                                                            \
    assert_int_equal(weft_gnet_cell_encode(&c, out, sizeof out), 0)
    REFUSED(WEFT_GNET_TYPE_RTS, c.header.vc = 32);
    REFUSED(WEFT_GNET_TYPE_RTS, c.header.hops = 16);
    REFUSED(WEFT_GNET_TYPE_RTS, c.header.reserved = 4);
    REFUSED(WEFT_GNET_TYPE_RTS, c.header.type = 0);
    REFUSED(WEFT_GNET_TYPE_RTS, c.header.type = WEFT_GNET_TYPES);
    REFUSED(WEFT_GNET_TYPE_RTS, c.rts.class = 8);
    REFUSED(WEFT_GNET_TYPE_CTS, c.cts.drop = true);
    REFUSED(WEFT_GNET_TYPE_CTD, c.cts.egress = 1);
    REFUSED(WEFT_GNET_TYPE_DATA, c.data.slot = 1024);
    REFUSED(WEFT_GNET_TYPE_DATA, c.data.number = 64);
    REFUSED(WEFT_GNET_TYPE_DATA, c.data.bytes = 7);
    REFUSED(WEFT_GNET_TYPE_DATA, c.data.bytes = 153);
    REFUSED(WEFT_GNET_TYPE_REQ, c.req.bytes = 0);
    REFUSED(WEFT_GNET_TYPE_REQ, c.req.bytes = 4097);
    REFUSED(WEFT_GNET_TYPE_REQ, c.req.compare = 1);
    REFUSED(WEFT_GNET_TYPE_REQ, c.req.operation = WEFT_GNET_FETCH_ADD); // of 4 KB
    REFUSED(WEFT_GNET_TYPE_REQ, (c.req.operation = WEFT_GNET_FETCH_ADD, c.req.bytes = 8, c.req.number = 1u << 24));
    REFUSED(WEFT_GNET_TYPE_REQ, (c.req.operation = WEFT_GNET_FETCH_ADD, c.req.bytes = 8, c.req.hmac[8] = 1));
    REFUSED(WEFT_GNET_TYPE_RESP, c.resp.bytes = 145);
    REFUSED(WEFT_GNET_TYPE_RESP, c.resp.status = 1);
#undef REFUSED
}

static void any_bytes(void **state) {
    (void)state;
    struct weft_random random = weft_random_stream(1, 0, WEFT_RANDOM_TEST);
    uint32_t good = 0;
    for (unsigned round = 0; round < 100000; round++) {
        uint8_t in[WEFT_GNET_CELL_BYTES_MAX], out[WEFT_GNET_CELL_BYTES_MAX];
        for (size_t i = 0; i < sizeof in; i++)
            in[i] = (uint8_t)weft_random_u64(&random);
        if (round % 2) in[4] = (uint8_t)(in[4] % 4 * 16 + 16);
        in[7] = weft_gnet_crc8(in);
        struct weft_gnet_cell c;
        if (gnet_cell_decode(in, sizeof in, &c)) continue;
        good++;
        assert_int_equal(weft_gnet_cell_encode(&c, out, sizeof out), c.header.length);
        assert_memory_equal(in, out, c.header.length);
    }
    assert_true(good > 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layout),       cmocka_unit_test(sizes),          cmocka_unit_test(simulated_cells_are_as_long),
        cmocka_unit_test(operands_fit), cmocka_unit_test(too_short),      cmocka_unit_test(wrong_bits),
        cmocka_unit_test(malformed),    cmocka_unit_test(more_than_fits), cmocka_unit_test(any_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
