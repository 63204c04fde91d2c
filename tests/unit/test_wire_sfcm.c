// SPDX-License-Identifier: Apache-2.0
// The layout that weft/wire_sfcm.h draws; whatever is decoded encodes to the same bytes.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <string.h>

#include "weft/random.h"
#include "wire_decode.h"

static const uint8_t bytes[WEFT_SFCM_BYTES] = {0x12, 0x63, 0xc0, 0x01, 0x04, 0x05, 0x06, 0x07, 0,
                                               0x01, 0x86, 0xa0, 0,    0,    0x01, 0x02, 0x10, 0x11};

static void layout(void **state) {
    (void)state;
    struct weft_sfcm m;
    assert_int_equal(sfcm_decode(bytes, sizeof bytes, &m), WEFT_WIRE_OK);
    assert_int_equal(m.version, 1);
    assert_int_equal(m.flags, 2);
    assert_int_equal(m.priority, 3);
    assert_int_equal(m.reserved1, 3);
    assert_int_equal(m.src_port, 0xc001);
    assert_int_equal(m.reserved4, 4);
    assert_int_equal(m.dest_qp, 0x050607);
    assert_int_equal(m.pause_ns, 100000);
    assert_int_equal(m.congestion_point, 258);
    assert_int_equal(m.reserved16, 0x1011);
    // a frame of it is of the size that the simulator counts
    assert_int_equal(WEFT_ETHERNET_BYTES + WEFT_IPV4_BYTES + WEFT_UDP_BYTES + WEFT_SFCM_BYTES + WEFT_FCS_BYTES, 64);
}

static void any_bytes(void **state) {
    (void)state;
    struct weft_random random = weft_random_stream(1, 0, WEFT_RANDOM_TEST);
    for (unsigned round = 0; round < 20000; round++) {
        uint8_t in[WEFT_SFCM_BYTES], out[WEFT_SFCM_BYTES];
        for (size_t i = 0; i < sizeof in; i++)
            in[i] = (uint8_t)weft_random_u64(&random);
        struct weft_sfcm m = {.pause_ns = 77};
        enum weft_wire_status status = sfcm_decode(in, sizeof in, &m);
        assert_int_equal(status, in[0] >> 4 == 1 ? WEFT_WIRE_OK : WEFT_WIRE_MALFORMED);
        if (status) {
            assert_int_equal(m.pause_ns, 77); // not touched
            continue;
        }
        assert_int_equal(weft_sfcm_encode(&m, out, sizeof out), sizeof out);
        assert_memory_equal(in, out, sizeof in);
    }
}

static void too_short(void **state) {
    (void)state;
    struct weft_sfcm m;
    assert_int_equal(sfcm_decode(bytes, sizeof bytes, &m), WEFT_WIRE_OK);
    for (size_t size = 0; size < sizeof bytes; size++) {
        struct weft_sfcm other;
        uint8_t out[WEFT_SFCM_BYTES];
        assert_int_equal(sfcm_decode(bytes, size, &other), WEFT_WIRE_TRUNCATED);
        assert_int_equal(weft_sfcm_encode(&m, out, size), 0);
    }
}

static void more_than_fits(void **state) {
    (void)state;
    const struct weft_sfcm wrong[] = {
        {.version = 16}, {.flags = 16}, {.priority = 8}, {.reserved1 = 32}, {.dest_qp = 0x1000000}};
    uint8_t out[WEFT_SFCM_BYTES];
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(weft_sfcm_encode(&wrong[i], out, sizeof out), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(layout), cmocka_unit_test(any_bytes),
                                       cmocka_unit_test(too_short), cmocka_unit_test(more_than_fits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
