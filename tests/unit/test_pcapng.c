// SPDX-License-Identifier: Apache-2.0
// A capture file, byte by byte as draft-ietf-opsawg-pcapng lays it out (4.1 section header, 4.2 interface description,
// 4.3 enhanced packet, 4.5 name resolution; 3.5 options).
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "weft/pcapng.h"

#define ASSERT_WRITES(call, ...)                                                                                       \
    do {                                                                                                               \
        static const uint8_t wanted_[] = {__VA_ARGS__};                                                                \
        char *text_;                                                                                                   \
        size_t size_;                                                                                                  \
        FILE *file = open_memstream(&text_, &size_);                                                                   \
        call;                                                                                                          \
        assert_int_equal(fclose(file), 0);                                                                             \
        assert_int_equal(size_, sizeof wanted_);                                                                       \
        assert_memory_equal(text_, wanted_, size_);                                                                    \
        free(text_);                                                                                                   \
    } while (0)

static void section(void **state) {
    (void)state;
    ASSERT_WRITES(weft_pcapng_write_section(file, "weft", NULL),    //
                  0x0a, 0x0d, 0x0d, 0x0a, 40, 0, 0, 0,              // type, length
                  0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0,               // little-endian, version 1.0
                  0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,   // section length
                  4, 0, 4, 0, 'w', 'e', 'f', 't',                   // shb_userappl
                  0, 0, 0, 0, 40, 0, 0, 0);                         // end of options, length
    ASSERT_WRITES(weft_pcapng_write_section(file, "weft", "abcde"), //
                  0x0a, 0x0d, 0x0d, 0x0a, 52, 0, 0, 0,              //
                  0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0,               //
                  0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,   //
                  1, 0, 5, 0, 'a', 'b', 'c', 'd', 'e', 0, 0, 0,     // opt_comment
                  4, 0, 4, 0, 'w', 'e', 'f', 't',                   //
                  0, 0, 0, 0, 52, 0, 0, 0);
}

static void interface(void **state) {
    (void)state;
    static const uint8_t mac[6] = {2, 0, 0, 0, 0, 7};
    const struct weft_pcapng_interface port = {
        .name = "host-1/0", .rate_bps = 400000000000, .snaplen = 256, .mac = mac, .ipv4 = 0x0a000002};
    ASSERT_WRITES(weft_pcapng_write_interface(file, &port),           //
                  1, 0, 0, 0, 88, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0,    // Ethernet, snaplen
                  2, 0, 8, 0, 'h', 'o', 's', 't', '-', '1', '/', '0', // if_name
                  4, 0, 8, 0, 10, 0, 0, 2, 255, 0, 0, 0,              // if_IPv4addr
                  6, 0, 6, 0, 2, 0, 0, 0, 0, 7, 0, 0,                 // if_MACaddr
                  8, 0, 8, 0, 0x00, 0xa0, 0xdb, 0x21, 0x5d, 0, 0, 0,  // if_speed, 4e11
                  9, 0, 1, 0, 9, 0, 0, 0,                             // if_tsresol, 10^-9 s
                  13, 0, 1, 0, 0, 0, 0, 0,                            // if_fcslen
                  0, 0, 0, 0, 88, 0, 0, 0);
    const struct weft_pcapng_interface bare = {.name = "a/0", .description = "to b"};
    ASSERT_WRITES(weft_pcapng_write_interface(file, &bare),        //
                  1, 0, 0, 0, 68, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, //
                  2, 0, 3, 0, 'a', '/', '0', 0,                    //
                  3, 0, 4, 0, 't', 'o', ' ', 'b',                  // if_description
                  8, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0,              //
                  9, 0, 1, 0, 9, 0, 0, 0,                          //
                  13, 0, 1, 0, 0, 0, 0, 0,                         //
                  0, 0, 0, 0, 68, 0, 0, 0);
}

static void name(void **state) {
    (void)state;
    ASSERT_WRITES(weft_pcapng_write_name(file, 0x0a000102, "host-1"),           //
                  4, 0, 0, 0, 32, 0, 0, 0,                                      //
                  1, 0, 11, 0, 10, 0, 1, 2, 'h', 'o', 's', 't', '-', '1', 0, 0, // nrb_record_ipv4
                  0, 0, 0, 0, 32, 0, 0, 0);                                     // nrb_record_end
}

static void packet(void **state) {
    (void)state;
    static const uint8_t bytes[] = {1, 2, 3, 4, 5};
    struct weft_pcapng_packet p = {.interface = 3,
                                   .time_ns = UINT64_C(0x123456789a),
                                   .bytes = 4178,
                                   .captured = 5,
                                   .frame = bytes,
                                   .direction = WEFT_PCAPNG_OUTBOUND};
    ASSERT_WRITES(weft_pcapng_write_packet(file, &p),    //
                  6, 0, 0, 0, 52, 0, 0, 0, 3, 0, 0, 0,   // type, length, interface
                  0x12, 0, 0, 0, 0x9a, 0x78, 0x56, 0x34, // time: upper word first
                  5, 0, 0, 0, 0x52, 0x10, 0, 0,          // captured, of 4178
                  1, 2, 3, 4, 5, 0, 0, 0,                //
                  2, 0, 4, 0, 2, 0, 0, 0,                // epb_flags: outbound
                  0, 0, 0, 0, 52, 0, 0, 0);
    p.captured = 4;
    p.comment = "lost";
    p.direction = WEFT_PCAPNG_INBOUND;
    ASSERT_WRITES(weft_pcapng_write_packet(file, &p),    //
                  6, 0, 0, 0, 56, 0, 0, 0, 3, 0, 0, 0,   //
                  0x12, 0, 0, 0, 0x9a, 0x78, 0x56, 0x34, //
                  4, 0, 0, 0, 0x52, 0x10, 0, 0,          //
                  1, 2, 3, 4,                            //
                  1, 0, 4, 0, 'l', 'o', 's', 't',        // opt_comment
                  2, 0, 4, 0, 1, 0, 0, 0,                // epb_flags: inbound
                  0, 0, 0, 0, 56, 0, 0, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(section), cmocka_unit_test(interface), cmocka_unit_test(name),
                                       cmocka_unit_test(packet)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
