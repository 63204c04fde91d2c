// SPDX-License-Identifier: Apache-2.0
// The layouts that weft/wire_uet.h draws: bits where Wireshark's dissector looks for them. Whatever is decoded encodes
// to the same bytes.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <string.h>

#include "weft/random.h"
#include "weft/wire_uet.h"

static struct weft_pds decoded(const uint8_t *bytes, size_t size) {
    struct weft_pds p;
    assert_int_equal(weft_pds_decode(bytes, size, &p), WEFT_WIRE_OK);
    uint8_t again[WEFT_PDS_BYTES_MAX];
    assert_int_equal(weft_pds_encode(&p, again, sizeof again), size);
    assert_memory_equal(bytes, again, size);
    return p;
}

// Type 2 is the upper five bits, next header 3 (standard request) the next four, AR 0x08 and retransmitted 0x10.
static void a_request_that_asks(void **state) {
    static const uint8_t bytes[] = {0x11, 0x98, 0xff, 0xfe, 0x00, 0x01, 0x02, 0x03, 0x12, 0x34, 0x56, 0x78};
    struct weft_pds p = decoded(bytes, sizeof bytes);
    assert_int_equal(p.type, WEFT_PDS_RUD_REQUEST);
    assert_int_equal(p.next, 3);
    assert_int_equal(p.flags, WEFT_PDS_ASKS | WEFT_PDS_AGAIN);
    assert_int_equal((int16_t)p.offset, -2); // clear PSN: two below
    assert_int_equal(p.psn, 0x00010203);
    assert_int_equal(p.source, 0x1234);
    assert_int_equal(p.destination, 0x5678);
}

// Type 8, next header 4 (response), marked 0x20; an ACK of PSN 260 while 256 is cumulative, SACK from 257 on.
static void an_acknowledgement_with_sack(void **state) {
    static const uint8_t bytes[] = {0x42, 0x20, 0x00, 0x04, 0x00, 0x00, 0x01, 0x00, 0,    1,   0,
                                    2,    0x1f, 0x80, 0x00, 0x01, 0,    0,    0,    0,    0,   0,
                                    0,    0x05, 0,    0x10, 0x7f, 0x00, 0x20, 0x00, 0x00, 0x03};
    struct weft_pds p = decoded(bytes, sizeof bytes);
    assert_int_equal(p.type, WEFT_PDS_ACK_CC);
    assert_int_equal(p.next, 4);
    assert_int_equal(p.flags, WEFT_PDS_MARKED);
    assert_int_equal(p.psn + p.offset, 260);
    assert_int_equal(p.cc_type, 1);
    assert_int_equal(p.cc_flags, 15);
    assert_int_equal(p.range, 128);
    assert_int_equal(p.psn + p.sack_offset, 257);
    assert_true(p.sack_bits == 5 && p.state == UINT64_C(0x00107f0020000003));
}

static void a_refusal_and_a_request_for_an_answer(void **state) {
    static const uint8_t nack[] = {0x50, 0x00, 0x01, 0x00, 0, 0, 0, 7, 0, 1, 0, 2, 0, 0, 0, 9};
    struct weft_pds p = decoded(nack, sizeof nack);
    assert_int_equal(p.type, WEFT_PDS_NACK);
    assert_int_equal(p.offset >> 8, WEFT_PDS_NACK_TRIMMED);
    assert_int_equal(p.payload, 9);
    static const uint8_t control[] = {0x58, 0x88, 0xab, 0xcd, 0, 0, 0, 7, 0, 1, 0, 2, 0, 0, 0, 0};
    p = decoded(control, sizeof control);
    assert_int_equal(p.type, WEFT_PDS_CONTROL);
    assert_int_equal(p.next, 1);
    assert_int_equal(p.flags, WEFT_PDS_ASKS);
    assert_int_equal(p.offset, 0xabcd);
}

static void any_bytes(void **state) {
    struct weft_random random = weft_random_stream(1, 0, WEFT_RANDOM_TEST);
    for (unsigned round = 0; round < 20000; round++) {
        uint8_t in[WEFT_PDS_BYTES_MAX], out[WEFT_PDS_BYTES_MAX];
        for (size_t i = 0; i < sizeof in; i++)
            in[i] = (uint8_t)weft_random_u64(&random);
        size_t size = weft_random_below(&random, sizeof in + 1);
        struct weft_pds p = {.psn = 77};
        enum weft_wire_status status = weft_pds_decode(in, size, &p);
        size_t bytes = size < 2 ? 0 : weft_pds_bytes(in[0] >> 3);
        assert_int_equal(status, size < 2       ? WEFT_WIRE_TRUNCATED
                                 : !bytes       ? WEFT_WIRE_MALFORMED
                                 : size < bytes ? WEFT_WIRE_TRUNCATED
                                                : WEFT_WIRE_OK);
        if (status) {
            assert_int_equal(p.psn, 77); // not touched
            continue;
        }
        assert_int_equal(weft_pds_encode(&p, out, bytes - 1), 0);
        assert_int_equal(weft_pds_encode(&p, out, sizeof out), bytes);
        assert_memory_equal(in, out, bytes);
    }
}

static void too_large(void **state) {
    uint8_t out[WEFT_PDS_BYTES_MAX];
    const struct weft_pds wrong[] = {{.type = 32},
                                     {.type = WEFT_PDS_UUD_REQUEST},
                                     {.type = WEFT_PDS_ACK, .next = 16},
                                     {.type = WEFT_PDS_ACK, .flags = 128},
                                     {.type = WEFT_PDS_ACK_CC, .cc_type = 16},
                                     {.type = WEFT_PDS_ACK_CC, .cc_flags = 16}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(weft_pds_encode(&wrong[i], out, sizeof out), 0);
}

/// The third packet of 4096 B of a message, a SEND of 10,000 B; and the first of a WRITE. Octets as in weft/wire_uet.h.
static void semantic_headers(void **state) {
    uint8_t out[WEFT_SES_REQUEST_BYTES], zero[8] = {0};
    const struct weft_ses_request last = {
        .opcode = WEFT_SES_SEND, .last = true, .message = 0x1234, .payload = 1808, .offset = 8192, .length = 10000};
    assert_int_equal(weft_ses_request_encode(&last, out, sizeof out), 44);
    assert_int_equal(out[0], 5);
    assert_int_equal(out[1], 2);
    assert_memory_equal(out + 2, "\x12\x34", 2);
    assert_memory_equal(out + 32, "\0\0\x07\x10\0\0\x20\0", 8);
    assert_memory_equal(out + 40, "\0\0\x27\x10", 4);
    const struct weft_ses_request first = {
        .opcode = WEFT_SES_WRITE, .first = true, .key = 0x0102030405060708, .payload = 4096, .offset = 7, .length = 9};
    assert_int_equal(weft_ses_request_encode(&first, out, sizeof out), 44);
    assert_int_equal(out[1], 1);
    assert_memory_equal(out + 24, "\1\2\3\4\5\6\7\x08", 8);
    assert_memory_equal(out + 32, zero, 8); // header data
    assert_int_equal(weft_ses_request_encode(&last, out, 43), 0);
    assert_int_equal(weft_ses_request_encode(&(struct weft_ses_request){.opcode = 64}, out, sizeof out), 0);
    assert_int_equal(weft_ses_request_encode(&(struct weft_ses_request){.payload = 0x4000}, out, sizeof out), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_that_asks),
        cmocka_unit_test(an_acknowledgement_with_sack),
        cmocka_unit_test(a_refusal_and_a_request_for_an_answer),
        cmocka_unit_test(any_bytes),
        cmocka_unit_test(too_large),
        cmocka_unit_test(semantic_headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
