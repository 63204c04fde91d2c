// SPDX-License-Identifier: Apache-2.0
// Frames that others made. tests/data/linux-rxe-rocev2.pcap: Linux rdma_rxe. The CNP: a ConnectX-4 Lx, as printed in
// the tests of scapy's RoCE layer (test/contrib/roce.uts), field by field.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weft/packet.h"
#include "wire_decode.h"

enum { FRAMES = 120 };

static pcap_t *open_capture(void) {
    const char *root = getenv("WEFT_ROOT");
    assert_non_null(root);
    char path[4096], why[PCAP_ERRBUF_SIZE];
    snprintf(path, sizeof path, "%s/tests/data/linux-rxe-rocev2.pcap", root);
    pcap_t *pcap = pcap_open_offline(path, why);
    if (!pcap) fail_msg("%s", why);
    return pcap;
}

static void same_bytes_again(const uint8_t *bytes, size_t size, struct weft_frame *frame) {
    uint8_t again[2048];
    assert_int_equal(weft_frame_bytes(frame), size);
    assert_int_equal(weft_frame_encode(frame, again, sizeof again), size);
    assert_memory_equal(again, bytes, size);

    // and all that can be computed is computed to the same: lengths, checksum, pad, ICRC
    frame->ipv4.total_length = frame->ipv4.checksum = frame->udp.length = 0;
    frame->ipv4.protocol = frame->bth.pad_count = 0;
    frame->ethernet.ethertype = frame->udp.dst_port = 0;
    frame->icrc = 0;
    memset(again, 0, sizeof again);
    assert_int_equal(weft_frame_build(frame, again, sizeof again), size);
    assert_memory_equal(again, bytes, size);
}

static void linux_rxe(void **state) {
    (void)state;
    pcap_t *pcap = open_capture();
    struct pcap_pkthdr *header;
    const uint8_t *bytes;
    unsigned acks = 0, writes = 0;
    while (pcap_next_ex(pcap, &header, &bytes) == 1) {
        struct weft_frame frame;
        assert_int_equal(weft_frame_decode(bytes, header->caplen, false, &frame), WEFT_WIRE_OK);
        assert_true(frame.layers & WEFT_LAYER_ICRC);
        assert_int_equal(frame_faults(&frame, bytes, header->caplen), 0);
        acks += frame.bth.opcode == WEFT_RC_ACK && (frame.layers & WEFT_LAYER_AETH);
        writes += frame.bth.opcode == WEFT_RC_WRITE_ONLY && (frame.layers & WEFT_LAYER_RETH) &&
                  frame.reth.length == frame.payload_bytes;
        same_bytes_again(bytes, header->caplen, &frame);
    }
    pcap_close(pcap);
    assert_int_equal(acks, FRAMES / 2);
    assert_int_equal(writes, FRAMES / 2);
}

static void connectx_cnp(void **state) {
    (void)state;
    struct weft_frame frame = {
        .layers = WEFT_LAYER_IPV4 | WEFT_LAYER_UDP | WEFT_LAYER_BTH | WEFT_LAYER_ICRC,
        .ethernet = {.dst = {0xe4, 0x1d, 0x2d, 0xab, 0x2b, 0xc2}, .src = {0x7c, 0xfe, 0x90, 0x64, 0x3b, 0x32}},
        .ipv4 = {.dscp = WEFT_CNP_DSCP,
                 .ecn = WEFT_ECN_ECT0,
                 .identification = 0x718c,
                 .dont_fragment = true,
                 .ttl = 64,
                 .src = 0x0a001101,
                 .dst = 0x0a001201},
        .bth = weft_bth_cnp(0x118, WEFT_CNP_BECN),
        .payload_bytes = WEFT_CNP_RESERVED_BYTES,
    };
    static const uint8_t icrc[4] = {0x82, 0xfd, 0x00, 0x2a};
    uint8_t bytes[128];
    size_t size = weft_frame_build(&frame, bytes, sizeof bytes);
    assert_int_equal(size, WEFT_FRAME_CNP - WEFT_FCS_BYTES);
    assert_int_equal(frame.ipv4.total_length, 60);
    assert_int_equal(frame.udp.length, 40);
    assert_int_equal(frame.ipv4.checksum, 0x9161);
    assert_memory_equal(bytes + size - 4, icrc, 4);
}

static void scapy_uc_send(void **state) {
    (void)state;
    static const uint8_t payload[18] = {0x46, 0x30, 0x81, 0x8b, 0xe2, 0x89, 0x35, 0xd9, 0x0e,
                                        0x9a, 0x95, 0x50, 0x54, 0x01, 0xbe, 0x88, 0x5e, 0x50};
    static const uint8_t icrc[4] = {0x78, 0xf3, 0x53, 0xf3};
    struct weft_frame frame = {
        .layers = WEFT_LAYER_IPV4 | WEFT_LAYER_UDP | WEFT_LAYER_BTH | WEFT_LAYER_ICRC,
        .ipv4 = {.ecn = WEFT_ECN_ECT1,
                 .identification = 1144,
                 .dont_fragment = true,
                 .ttl = 64,
                 .src = 0xc0a80007,
                 .dst = 0xc0a80007},
        .udp = {.src_port = 49152},
        .bth = {.opcode = 0x24, .migration = true, .pkey = 0xffff, .dest_qp = 211, .psn = 13571856},
        .payload = payload,
        .payload_bytes = sizeof payload,
    };
    uint8_t bytes[128];
    uint16_t checksum;
    size_t size = weft_frame_build(&frame, bytes, sizeof bytes);
    assert_int_equal(size, WEFT_ETHERNET_BYTES + 64);
    assert_int_equal(frame.bth.pad_count, 2);
    assert_int_equal(frame.ipv4.checksum, 0xb4d5);
    assert_memory_equal(bytes + size - 4, icrc, 4);
    assert_int_equal(weft_udp_checksum_calc(bytes + WEFT_ETHERNET_BYTES, size - WEFT_ETHERNET_BYTES, &checksum),
                     WEFT_WIRE_OK);
    assert_int_equal(checksum, 0xaca2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linux_rxe),
        cmocka_unit_test(connectx_cnp),
        cmocka_unit_test(scapy_uc_send),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
