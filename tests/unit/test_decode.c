// SPDX-License-Identifier: Apache-2.0
// Captures read and analysed: conversations worked out by hand, the same frames as pcapng, as pcap by libpcap and in
// the other byte order, frames of Linux rdma_rxe, and files that are cut or wrong at every byte.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "weft/decode.h"
#include "weft/packet.h"
#include "weft/result.h"

enum { ROOM = 1 << 16, FILE_NAME = 4096 };

/// A capture in the making.
struct made {
    FILE *file;
    char *bytes;
    size_t size;
    uint64_t time_ns;
};

static void begin(struct made *m, uint32_t interfaces) {
    *m = (struct made){0};
    m->file = open_memstream(&m->bytes, &m->size);
    weft_pcapng_write_section(m->file, "test", NULL);
    for (uint32_t i = 0; i < interfaces; i++)
        weft_pcapng_write_interface(
            m->file, &(struct weft_pcapng_interface){.name = i ? "second" : "first", .rate_bps = 200000000000});
}

static void put(struct made *m, uint32_t interface, const uint8_t *bytes, size_t size, size_t kept) {
    m->time_ns += 1000;
    weft_pcapng_write_packet(m->file, &(struct weft_pcapng_packet){.interface = interface,
                                                                   .time_ns = m->time_ns,
                                                                   .bytes = (uint32_t)size,
                                                                   .captured = (uint32_t)kept,
                                                                   .frame = bytes});
}

struct packet {
    uint8_t opcode, src, dst, code, value, ecn, ttl;
    uint16_t port, payload;
    uint32_t qp, psn, length, interface;
    bool wrong;    ///< ICRC
    uint32_t kept; ///< 0: all
};

static void put_packet(struct made *m, struct packet p) {
    static uint8_t payload[8192];
    uint8_t bytes[ROOM];
    const struct weft_roce_opcode *opcode = weft_roce_opcode_find(p.opcode);
    struct weft_frame f = {
        .layers = WEFT_LAYER_IPV4 | WEFT_LAYER_UDP | WEFT_LAYER_BTH | WEFT_LAYER_ICRC | opcode->layers,
        .ipv4 = {.ecn = p.ecn ? p.ecn : WEFT_ECN_ECT0,
                 .ttl = p.ttl ? p.ttl : 64,
                 .src = 0x0a000000u + p.src,
                 .dst = 0x0a000000u + p.dst},
        .udp = {.src_port = p.port ? p.port : 50000},
        .bth = {.opcode = p.opcode, .pkey = 0xffff, .dest_qp = p.qp, .psn = p.psn},
        .reth = {.length = p.length},
        .aeth = {.code = p.code, .value = p.value},
        .payload = payload,
        .payload_bytes = p.payload,
    };
    size_t size = weft_frame_build(&f, bytes, sizeof bytes);
    assert_true(size);
    if (p.wrong) bytes[60] ^= 1;
    put(m, p.interface, bytes, size, p.kept ? p.kept : size);
}

static enum weft_status decode_bytes(const void *bytes, size_t size, const struct weft_decode_conf *conf,
                                     struct weft_arena *in, struct weft_decode *d, struct weft_error *error) {
    FILE *file = fmemopen((void *)bytes, size, "rb");
    assert_non_null(file);
    enum weft_status status = weft_decode_run(file, "x", conf, in, d, error);
    fclose(file);
    return status;
}

static void end(struct made *m, const struct weft_decode_conf *conf, struct weft_arena *in, struct weft_decode *d) {
    struct weft_error error = {0};
    assert_int_equal(fclose(m->file), 0);
    if (decode_bytes(m->bytes, m->size, conf, in, d, &error)) fail_msg("%s", error.text);
    free(m->bytes);
}

// --- Ultra Ethernet -----------------------------------------------------------------------------------------------

/// Of which so many bytes are kept in the datagram.
static void put_uet(struct made *m, struct weft_pds pds, size_t bytes) {
    uint8_t header[64] = {(uint8_t)(pds.type << 3)}, frame[256];
    weft_pds_encode(&pds, header, sizeof header);
    struct weft_frame f = {.layers = WEFT_LAYER_IPV4 | WEFT_LAYER_UDP,
                           .ipv4 = {.ttl = 64, .src = 1, .dst = 2},
                           .udp = {.src_port = 50000, .dst_port = WEFT_UDP_PORT_UET},
                           .payload = header,
                           .payload_bytes = bytes};
    size_t size = weft_frame_build(&f, frame, sizeof frame);
    put(m, 0, frame, size, size);
}

static void ultra_ethernet(void **state) {
    struct made m;
    struct weft_decode d;
    begin(&m, 1);
    put_uet(&m, (struct weft_pds){.type = WEFT_PDS_RUD_REQUEST, .next = 3}, 56);
    put_uet(&m, (struct weft_pds){.type = WEFT_PDS_RUD_REQUEST, .flags = WEFT_PDS_AGAIN | WEFT_PDS_ASKS}, 56);
    put_uet(&m, (struct weft_pds){.type = WEFT_PDS_ACK_CC, .flags = WEFT_PDS_MARKED | WEFT_PDS_AGAIN}, 44);
    put_uet(&m, (struct weft_pds){.type = WEFT_PDS_ACK_CC, .flags = WEFT_PDS_ASKS},
            44); // there it means something else
    put_uet(&m, (struct weft_pds){.type = WEFT_PDS_NACK, .offset = WEFT_PDS_NACK_TRIMMED << 8}, 16);
    put_uet(&m, (struct weft_pds){.type = WEFT_PDS_NACK, .offset = 4 << 8}, 16);
    put_uet(&m, (struct weft_pds){.type = WEFT_PDS_CONTROL, .next = 1, .flags = WEFT_PDS_ASKS}, 16);
    put_uet(&m, (struct weft_pds){.type = WEFT_PDS_UUD_REQUEST}, 4);
    put_uet(&m, (struct weft_pds){.type = WEFT_PDS_RUD_REQUEST}, 11); // too short for its header
    put_uet(&m, (struct weft_pds){.type = 31}, 16);                   // there is no such type
    end(&m, &(struct weft_decode_conf){0}, arena, &d);
    const struct weft_decode_uet *of = d.uet;
    assert_true(d.frames == 10 && d.uets == 10 && !d.others && d.broken == 2);
    assert_true(of[WEFT_PDS_RUD_REQUEST].packets == 3 && of[WEFT_PDS_RUD_REQUEST].again == 1);
    assert_true(of[WEFT_PDS_RUD_REQUEST].asks == 1 && of[WEFT_PDS_CONTROL].asks == 1 && !of[WEFT_PDS_ACK_CC].asks);
    assert_true(of[WEFT_PDS_ACK_CC].packets == 2 && of[WEFT_PDS_ACK_CC].marked == 1 && of[WEFT_PDS_ACK_CC].again == 1);
    assert_true(of[WEFT_PDS_NACK].packets == 2 && of[WEFT_PDS_NACK].trimmed == 1 &&
                of[WEFT_PDS_UUD_REQUEST].packets == 1);
}

// --- losses -------------------------------------------------------------------------------------------------------

/// PSN 100 to 109, of which 103 and 104 are lost, 104 comes late, 105 (the first behind the gap) and 107 twice, and a
/// jump to 4 million.
static void sequence(void **state) {
    static const uint32_t psn[] = {100, 101, 102, 105, 105, 104, 106, 107, 107, 108, 109, 4000000};
    struct made m;
    struct weft_decode d;
    begin(&m, 1);
    for (unsigned i = 0; i < sizeof psn / sizeof *psn; i++)
        put_packet(&m, (struct packet){.opcode = WEFT_RC_WRITE_ONLY,
                                       .src = 1,
                                       .dst = 2,
                                       .qp = 7,
                                       .psn = psn[i],
                                       .length = 64,
                                       .payload = 64,
                                       .wrong = i == 6});
    end(&m, &(struct weft_decode_conf){0}, arena, &d);
    assert_int_equal(d.conversations, 1);
    const struct weft_conversation *c = d.conversation[0];
    assert_int_equal(c->key.qp, 7);
    assert_int_equal(c->packets, 12);
    assert_int_equal(c->payload_bytes, 12 * 64);
    assert_int_equal(c->writes, 9); // neither the late one nor the one sent again begins a message
    assert_int_equal(c->gaps, 1);
    assert_int_equal(c->missing, 1);
    assert_int_equal(c->late, 1);
    assert_int_equal(c->resent, 2);
    assert_int_equal(c->restarts, 1);
    assert_int_equal(c->icrc_checked, 12);
    assert_int_equal(c->icrc_wrong, 1);
    assert_int_equal(c->last_ps - c->first_ps, 11 * 1000 * WEFT_PS_PER_NS);
}

/// Across the end of the 24 bits, a single gap of which the middle comes late: two numbers stay missing.
static void sequence_wraps(void **state) {
    static const uint32_t psn[] = {0xfffffd, 0xfffffe, 2, 0, 3};
    struct made m;
    struct weft_decode d;
    begin(&m, 1);
    for (unsigned i = 0; i < sizeof psn / sizeof *psn; i++)
        put_packet(
            &m, (struct packet){.opcode = WEFT_RC_SEND_ONLY, .src = 1, .dst = 2, .qp = 7, .psn = psn[i], .payload = 8});
    end(&m, &(struct weft_decode_conf){0}, arena, &d);
    const struct weft_conversation *c = d.conversation[0];
    assert_int_equal(c->gaps, 1);
    assert_int_equal(c->late, 1);
    assert_int_equal(c->missing, 2);
    assert_int_equal(c->resent, 0);
}

// --- messages -----------------------------------------------------------------------------------------------------

struct messages {
    uint32_t n;
    struct weft_decode_message message[32];
};

static void keep(void *context, const struct weft_decode_message *message) {
    struct messages *all = context;
    all->message[all->n++ % 32] = *message;
}

static void assert_message(const struct messages *all, uint32_t i, enum weft_verb verb, weft_bytes bytes, bool front,
                           bool back) {
    const struct weft_decode_message *m = &all->message[i];
    assert_true(i < all->n);
    assert_int_equal(m->verb, verb);
    assert_int_equal(m->bytes, bytes);
    assert_int_equal(m->cut_front, front);
    assert_int_equal(m->cut_back, back);
}

static void messages(void **state) {
    struct made m;
    struct weft_decode d;
    struct messages all = {0};
    const struct packet way = {.src = 1, .dst = 2, .qp = 7, .payload = 1024};
    struct packet p = way;
    begin(&m, 1);
    // the end of a SEND that began before; a WRITE of 3000 whole; one of 4096 of which two packets are lost
    p.opcode = WEFT_RC_SEND_LAST, p.payload = 100, put_packet(&m, p);
    p = way, p.psn = 1, p.opcode = WEFT_RC_WRITE_FIRST, p.length = 3000, put_packet(&m, p);
    p.psn = 2, p.opcode = WEFT_RC_WRITE_MIDDLE, put_packet(&m, p);
    p.psn = 3, p.opcode = WEFT_RC_WRITE_LAST, p.payload = 952, put_packet(&m, p);
    p = way, p.psn = 4, p.opcode = WEFT_RC_WRITE_FIRST, p.length = 4096, put_packet(&m, p);
    p.psn = 7, p.opcode = WEFT_RC_WRITE_LAST, put_packet(&m, p);
    // a READ of 2500: three numbers, asked twice, answered
    p = way, p.psn = 8, p.opcode = WEFT_RC_READ_REQUEST, p.length = 2500, p.payload = 0, put_packet(&m, p);
    put_packet(&m, p);
    p = (struct packet){.src = 2, .dst = 1, .qp = 9, .psn = 8, .payload = 1024, .opcode = WEFT_RC_READ_RESPONSE_FIRST};
    put_packet(&m, p);
    p.psn = 9, p.opcode = WEFT_RC_READ_RESPONSE_MIDDLE, put_packet(&m, p);
    p.psn = 10, p.opcode = WEFT_RC_READ_RESPONSE_LAST, p.payload = 452, put_packet(&m, p);
    // the answer to another READ, 40 numbers on
    p.psn = 50, p.opcode = WEFT_RC_READ_RESPONSE_ONLY, p.payload = 10, put_packet(&m, p);
    // a SEND of which the file has the beginning, headers only
    p = way, p.psn = 11, p.opcode = WEFT_RC_SEND_FIRST, p.kept = 80, put_packet(&m, p);
    end(&m, &(struct weft_decode_conf){.context = &all, .on_message = keep}, arena, &d);

    assert_int_equal(all.n, 7);
    assert_message(&all, 0, WEFT_VERB_SEND, 100, true, false);
    assert_message(&all, 1, WEFT_VERB_WRITE, 3000, false, false);
    assert_message(&all, 2, WEFT_VERB_WRITE, 4096, false, false);
    assert_message(&all, 3, WEFT_VERB_READ, 2500, false, false);
    assert_true(all.message[3].request);
    assert_message(&all, 4, WEFT_VERB_READ, 2500, false, false);
    assert_true(all.message[4].response);
    assert_message(&all, 5, WEFT_VERB_READ, 10, false, false);
    assert_message(&all, 6, WEFT_VERB_SEND, 1024, false, true);

    assert_int_equal(d.conversations, 2);
    const struct weft_conversation *there = d.conversation[0], *back = d.conversation[1];
    assert_int_equal(there->peer, 2);
    assert_int_equal(back->peer, 1);
    assert_int_equal(there->reads, 1);
    assert_int_equal(there->writes, 2);
    assert_int_equal(there->sends, 2);
    assert_int_equal(there->gaps, 1); // the numbers of the READ's answer are none
    assert_int_equal(there->missing, 2);
    assert_int_equal(there->resent, 1);
    assert_int_equal(there->cut_packets, 1);
    assert_int_equal(back->read_responses, 2);
    assert_int_equal(back->gaps, 0);
}

/// The second interface sees the same: counted there too, but no message again.
static void two_interfaces(void **state) {
    struct made m;
    struct weft_decode d;
    struct messages all = {0};
    begin(&m, 2);
    for (uint32_t i = 0; i < 4; i++)
        put_packet(&m, (struct packet){.opcode = WEFT_RC_WRITE_ONLY,
                                       .src = 1,
                                       .dst = 2,
                                       .qp = 7,
                                       .psn = i / 2,
                                       .length = 8,
                                       .payload = 8,
                                       .interface = i % 2,
                                       .ttl = (uint8_t)(64 - i % 2)});
    end(&m, &(struct weft_decode_conf){.context = &all, .on_message = keep}, arena, &d);
    assert_int_equal(d.conversations, 2);
    assert_int_equal(all.n, 2);
    assert_false(d.conversation[0]->again);
    assert_true(d.conversation[1]->again);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(d.conversation[i]->resent, 0);
        assert_int_equal(d.conversation[i]->writes, 2);
        assert_int_equal(d.conversation[i]->ttl_changes, 0);
    }
}

// --- what comes back ----------------------------------------------------------------------------------------------

/// 10 packets of 1000 bytes in 10 us, a CNP in the second interval, then 5; NAKs; changes of the path.
static void answers(void **state) {
    struct made m;
    struct weft_decode d;
    begin(&m, 1);
    uint32_t psn = 0;
    struct packet data = {.opcode = WEFT_RC_WRITE_MIDDLE, .src = 1, .dst = 2, .qp = 7, .payload = 1000};
    struct packet ack = {.opcode = WEFT_RC_ACK, .src = 2, .dst = 1, .qp = 9, .value = WEFT_AETH_NO_CREDITS};
    for (unsigned i = 0; i < 10; i++) { // 1 us each; interval 0
        data.psn = psn++;
        put_packet(&m, data);
    }
    ack.psn = 3, m.time_ns = 12000, put_packet(&m, ack);
    put_packet(&m, (struct packet){.opcode = WEFT_ROCE_CNP, .src = 2, .dst = 1, .qp = 9, .payload = 16});
    for (unsigned i = 0; i < 5; i++) {
        m.time_ns = 21000 + i * 1000;
        data.psn = psn++;
        data.ecn = WEFT_ECN_CE;
        put_packet(&m, data);
    }
    ack.code = WEFT_AETH_NAK, ack.value = WEFT_NAK_PSN_SEQUENCE, put_packet(&m, ack);
    ack.value = WEFT_NAK_REMOTE_ACCESS, put_packet(&m, ack);
    ack.code = WEFT_AETH_RNR_NAK, put_packet(&m, ack);
    m.time_ns = 31000, data.psn = psn++, data.port = 50001, data.ttl = 60, put_packet(&m, data);
    end(&m, &(struct weft_decode_conf){.interval_ps = 10 * WEFT_PS_PER_US}, arena, &d);

    const struct weft_conversation *there = d.conversation[0], *back = d.conversation[1];
    assert_int_equal(there->peer, 2);
    assert_int_equal(there->cnp.intervals, 1);
    assert_int_equal(there->cnp.before_bytes, 10 * 1000);
    assert_int_equal(there->cnp.after_bytes, 5 * 1000);
    assert_int_equal(there->ce, 6);
    assert_int_equal(there->ect, 16);
    assert_int_equal(there->port_changes, 1);
    assert_int_equal(there->ttl_changes, 1);
    assert_int_equal(there->bucket[0], 10 * 1000);
    assert_int_equal(there->bucket[1], 0);
    assert_int_equal(there->bucket[2], 5 * 1000);
    assert_int_equal(back->acks, 4);
    assert_int_equal(back->naks, 1);
    assert_int_equal(back->other_naks, 1);
    assert_int_equal(back->rnr_naks, 1);
    assert_int_equal(back->cnps, 1);
    assert_int_equal(back->payload_bytes, 0); // a CNP carries none
    assert_int_equal(d.cnps, 1);
}

/// Two queue pairs between the same hosts, both at the same number: the answer's UDP port decides, or nothing does.
static void who_belongs_together(void **state) {
    for (unsigned ports = 0; ports < 2; ports++) {
        struct made m;
        struct weft_decode d;
        begin(&m, 1);
        for (uint32_t qp = 7; qp <= 8; qp++)
            put_packet(&m, (struct packet){.opcode = WEFT_RC_SEND_ONLY,
                                           .src = 1,
                                           .dst = 2,
                                           .qp = qp,
                                           .payload = 8,
                                           .port = (uint16_t)(50000 + qp)});
        put_packet(&m,
                   (struct packet){
                       .opcode = WEFT_RC_ACK, .src = 2, .dst = 1, .qp = 9, .value = 31, .port = ports ? 50008 : 60000});
        end(&m, &(struct weft_decode_conf){0}, arena, &d);
        assert_int_equal(d.conversation[2]->peer, ports ? 2 : WEFT_NONE);
        assert_int_equal(d.conversation[0]->peer, WEFT_NONE);
        assert_int_equal(d.conversation[1]->peer, ports ? 3 : WEFT_NONE);
    }
}

/// A long conversation: 64 intervals hold it, twice as long each time it outgrows them.
static void rates(void **state) {
    struct made m;
    struct weft_decode d;
    begin(&m, 1);
    for (uint32_t i = 0; i < 1000; i++)
        put_packet(&m,
                   (struct packet){.opcode = WEFT_RC_SEND_ONLY, .src = 1, .dst = 2, .qp = 7, .psn = i, .payload = 8});
    end(&m, &(struct weft_decode_conf){.interval_ps = WEFT_PS_PER_US}, arena, &d);
    const struct weft_conversation *c = d.conversation[0];
    weft_bytes sum = 0;
    for (unsigned i = 0; i < WEFT_DECODE_BUCKETS; i++)
        sum += c->bucket[i];
    assert_int_equal(c->rate_shift, 4); // 1000 us / 64 < 16 us
    assert_int_equal(c->bucket[0], 16 * 8);
    assert_int_equal(sum, 1000 * 8);
    assert_int_equal(weft_decode_rate(c), 64000000); // 8 bytes each us, behind the first
}

// --- pauses and DCBX ----------------------------------------------------------------------------------------------

static void pauses(void **state) {
    struct made m;
    struct weft_decode d;
    uint8_t bytes[64];
    begin(&m, 1);
    struct weft_frame f = {.layers = WEFT_LAYER_PFC, .ethernet.src = {2, 0, 0, 0, 0, 1}};
    memcpy(f.ethernet.dst, WEFT_MAC_CONTROL_ADDRESS, 6);
    f.pfc = (struct weft_pfc){.classes = 0x18, .quanta = {[3] = 1000, [4] = 65535}};
    size_t size = weft_frame_build(&f, bytes, sizeof bytes);
    put(&m, 0, bytes, size, size); // at 1 us: priority 3 for 1000 x 512 bits at 200G = 2.56 us
    m.time_ns = 9000;              // that one is over
    f.pfc.quanta[3] = f.pfc.quanta[4] = 0;
    size = weft_frame_build(&f, bytes, sizeof bytes);
    put(&m, 0, bytes, size, size); // at 10 us: priority 4 after 9 us
    f = (struct weft_frame){.layers = WEFT_LAYER_PAUSE, .ethernet.src = {2, 0, 0, 0, 0, 2}, .pause.quanta = 100};
    size = weft_frame_build(&f, bytes, sizeof bytes);
    put(&m, 0, bytes, size, size); // 256 ns, but the file ends
    end(&m, &(struct weft_decode_conf){0}, arena, &d);
    assert_int_equal(d.pauses, 3);
    assert_int_equal(d.pausers, 3);
    assert_int_equal(d.pauser[0].priority, 3);
    assert_int_equal(d.pauser[0].paused_ps, 2560 * WEFT_PS_PER_NS);
    assert_int_equal(d.pauser[1].priority, 4);
    assert_int_equal(d.pauser[1].paused_ps, 9000 * WEFT_PS_PER_NS);
    assert_int_equal(d.pauser[1].xoff, 1);
    assert_int_equal(d.pauser[1].xon, 1);
    assert_int_equal(d.pauser[2].priority, WEFT_PRIORITIES);
    assert_int_equal(d.pauser[2].paused_ps, 0);
    assert_int_equal(d.warnings, 0); // the interface says its speed
}

static void dcbx(void **state) {
    struct made m;
    struct weft_decode d;
    uint8_t bytes[1024];
    begin(&m, 1);
    for (uint8_t i = 1; i <= 2; i++) {
        struct weft_dcbx_end e = {.mac = {2, 0, 0, 0, 0, i}, .says.has = WEFT_DCBX_PFC};
        e.says.pfc = (struct weft_pfc_configuration){.capability = 8, .enabled = (uint8_t)(1 << (2 + i))};
        size_t size = weft_dcbx_frame_encode(&e, "x", "y", 120, bytes, sizeof bytes);
        for (unsigned n = 0; n < 2; n++)
            put(&m, 0, bytes, size, size);
    }
    end(&m, &(struct weft_decode_conf){0}, arena, &d);
    assert_int_equal(d.lldp_frames, 4);
    assert_int_equal(d.lldps, 2);
    assert_int_equal(d.lldp[0].frames, 2);
    assert_int_equal(d.lldp[0].changes, 0);
    assert_true(d.differences);
    assert_string_equal(d.difference[0].found, "PFC on 3 here, on 4 there; neither end is willing");
}

// --- files --------------------------------------------------------------------------------------------------------

static pcap_t *open_rxe(char path[FILE_NAME]) {
    char why[PCAP_ERRBUF_SIZE];
    snprintf(path, FILE_NAME, "%s/tests/data/linux-rxe-rocev2.pcap", getenv("WEFT_ROOT"));
    pcap_t *pcap = pcap_open_offline(path, why);
    if (!pcap) fail_msg("%s", why);
    return pcap;
}

/// The same frames as libpcap reads them, byte for byte and to the nanosecond.
static void as_libpcap(void **state) {
    char path[FILE_NAME];
    pcap_t *pcap = open_rxe(path);
    struct weft_capture_reader *reader;
    struct weft_capture_frame frame;
    struct weft_error error = {0};
    struct pcap_pkthdr *header;
    const uint8_t *bytes;
    bool any = true;
    uint64_t frames = 0;
    FILE *file = fopen(path, "rb");
    assert_int_equal(weft_capture_open(file, path, arena, &reader, &error), WEFT_OK);
    while (!weft_capture_next(reader, &frame, &any, &error) && any) {
        assert_int_equal(pcap_next_ex(pcap, &header, &bytes), 1);
        assert_int_equal(frame.number, ++frames);
        assert_int_equal(frame.captured, header->caplen);
        assert_int_equal(frame.bytes, header->len);
        assert_int_equal(frame.time_ns, (uint64_t)header->ts.tv_sec * 1000000000 + (uint64_t)header->ts.tv_usec * 1000);
        assert_memory_equal(frame.data, bytes, header->caplen);
    }
    assert_int_equal(error.status, 0);
    assert_int_equal(frames, 120);
    assert_int_equal(weft_capture_cut(reader), 0);
    assert_int_equal(pcap_next_ex(pcap, &header, &bytes), PCAP_ERROR_BREAK);
    pcap_close(pcap);
    fclose(file);
}

static void linux_rxe(void **state) {
    char path[FILE_NAME];
    struct weft_decode d;
    struct weft_error error = {0};
    pcap_close(open_rxe(path));
    assert_int_equal(weft_decode_file(path, &(struct weft_decode_conf){0}, arena, &d, &error), WEFT_OK);
    assert_int_equal(d.roce, 120);
    assert_int_equal(d.conversations, 2);
    uint64_t acks = 0, writes = 0, resent = 0, checked = 0, wrong = 0;
    for (uint32_t i = 0; i < 2; i++) {
        acks += d.conversation[i]->acks;
        writes += d.conversation[i]->writes;
        resent += d.conversation[i]->resent;
        checked += d.conversation[i]->icrc_checked;
        wrong += d.conversation[i]->icrc_wrong;
    }
    assert_int_equal(acks, 60);
    assert_int_equal(writes + resent, 60);
    assert_int_equal(resent, 1); // frame 101 has the number of frame 100
    assert_int_equal(checked, 120);
    assert_int_equal(wrong, 0);
}

/// A pcapng of one packet block and one of each other kind.
static size_t sample(char **ret) {
    struct made m;
    begin(&m, 1);
    weft_pcapng_write_name(m.file, 0x0a000001, "host-0");
    for (uint32_t i = 0; i < 3; i++)
        put_packet(&m,
                   (struct packet){
                       .opcode = WEFT_RC_WRITE_ONLY, .src = 1, .dst = 2, .qp = 7, .psn = i, .length = 8, .payload = 8});
    fclose(m.file);
    *ret = m.bytes;
    return m.size;
}

/// A file that ends early: an error while its first header is not whole, else what came before counts, and where it
/// ends is said.
static void every_length(void **state) {
    char *bytes;
    size_t size = sample(&bytes);
    unsigned cuts = 0;
    for (size_t n = 1; n <= size; n++) {
        struct weft_decode d;
        struct weft_error error = {0};
        struct weft_arena *own = weft_arena_new(WEFT_MEMORY_SCENARIO);
        enum weft_status status = decode_bytes(bytes, n, &(struct weft_decode_conf){0}, own, &d, &error);
        assert_int_equal(!status, !*error.text);
        if (status) {
            assert_int_equal(status, WEFT_ERROR_INPUT);
            assert_non_null(strstr(error.text, "x: "));
            assert_true(n < size / 2);
        } else if (d.warnings) {
            cuts++;
            assert_non_null(strstr(d.warning[0], "the file ends within the record that begins at byte "));
        }
        if (n == size) assert_true(!d.warnings && d.roce == 3);
        weft_arena_free(own);
    }
    assert_true(cuts > 100);
    free(bytes);
}

/// Any one byte another: an error with the byte, or a capture; never anything else.
static void every_byte(void **state) {
    char *bytes;
    size_t size = sample(&bytes);
    for (size_t i = 0; i < size; i++)
        for (unsigned bit = 0; bit < 8; bit++) {
            struct weft_decode d;
            struct weft_error error = {0};
            bytes[i] = (char)(bytes[i] ^ 1 << bit);
            struct weft_arena *own = weft_arena_new(WEFT_MEMORY_SCENARIO);
            enum weft_status status = decode_bytes(bytes, size, &(struct weft_decode_conf){0}, own, &d, &error);
            assert_int_equal(!status, !*error.text);
            bytes[i] = (char)(bytes[i] ^ 1 << bit);
            weft_arena_free(own);
        }
    free(bytes);
}

/// The capture of rdma_rxe as other devices would have it: a header of `header` bytes in the place of Ethernet's 14. In
/// it, the type of Ethernet stands at `type`, the source at `source`.
static void decode_as(uint32_t link, size_t header, size_t type, size_t source, struct weft_decode *ret) {
    char path[FILE_NAME], *text;
    size_t size;
    pcap_t *pcap = open_rxe(path);
    struct pcap_pkthdr *head;
    const uint8_t *bytes;
    struct weft_error error = {0};
    FILE *file = open_memstream(&text, &size);
    const uint32_t start[] = {0xa1b2c3d4, 4u << 16 | 2, 0, 0, 65535, link};
    fwrite(start, 1, sizeof start, file);
    while (pcap_next_ex(pcap, &head, &bytes) == 1) {
        uint8_t own[32] = {0};
        if (header) memcpy(own + type, bytes + 12, 2);
        if (header) memcpy(own + source, bytes + 6, 6);
        uint32_t less = WEFT_ETHERNET_BYTES - (uint32_t)header;
        const uint32_t record[] = {(uint32_t)head->ts.tv_sec, (uint32_t)head->ts.tv_usec, head->caplen - less,
                                   head->len - less};
        fwrite(record, 1, sizeof record, file);
        fwrite(own, 1, header, file);
        fwrite(bytes + WEFT_ETHERNET_BYTES, 1, head->caplen - WEFT_ETHERNET_BYTES, file);
    }
    const uint32_t empty[] = {0, 0, 0, 0};
    fwrite(empty, 1, sizeof empty, file); // a packet of no bytes: broken
    fclose(file);
    pcap_close(pcap);
    file = fmemopen(text, size, "rb");
    assert_int_equal(weft_decode_run(file, "x", &(struct weft_decode_conf){0}, arena, ret, &error), WEFT_OK);
    fclose(file);
    free(text);
}

static void without_ethernet(void **state) {
    static const struct {
        uint32_t link, header, type, source;
    } kinds[] = {{101, 0, 0, 0}, {12, 0, 0, 0}, {228, 0, 0, 0}, {113, 16, 14, 6}, {276, 20, 0, 12}};
    char path[FILE_NAME];
    pcap_close(open_rxe(path));
    struct weft_decode as, d;
    struct weft_error error = {0};
    assert_int_equal(weft_decode_file(path, &(struct weft_decode_conf){0}, arena, &as, &error), WEFT_OK);
    assert_true(as.roce > 0 && as.conversations > 0);
    for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        decode_as(kinds[k].link, kinds[k].header, kinds[k].type, kinds[k].source, &d);
        assert_int_equal(d.frames, as.frames + 1);
        assert_int_equal(d.broken, as.broken + 1);
        assert_int_equal(d.others, as.others + 1);
        assert_int_equal(d.foreign, 0);
        assert_int_equal(d.roce, as.roce);
        assert_int_equal(d.conversations, as.conversations);
        for (uint32_t c = 0; c < d.conversations; c++) {
            assert_int_equal(d.conversation[c]->packets, as.conversation[c]->packets);
            assert_int_equal(d.conversation[c]->payload_bytes, as.conversation[c]->payload_bytes);
            assert_int_equal(d.conversation[c]->icrc_wrong, as.conversation[c]->icrc_wrong);
        }
    }
}

static void assert_refused(const void *bytes, size_t size, const char *why) {
    struct weft_decode d;
    struct weft_error error = {0};
    assert_int_equal(decode_bytes(bytes, size, &(struct weft_decode_conf){0}, arena, &d, &error), WEFT_ERROR_INPUT);
    assert_string_equal(error.text, why);
}
#define REFUSED(why, ...)                                                                                              \
    do {                                                                                                               \
        static const uint8_t bytes_[] = {__VA_ARGS__};                                                                 \
        assert_refused(bytes_, sizeof bytes_, why);                                                                    \
    } while (0)
#define SECTION                                                                                                        \
    0x0a, 0x0d, 0x0d, 0x0a, 28, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255,   \
        28, 0, 0, 0
#define INTERFACE(link) 1, 0, 0, 0, 20, 0, 0, 0, link, 0, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0

static void refused(void **state) {
    REFUSED("x: byte 0: the file has 2 bytes; expected a capture, pcap or pcapng", 1, 2);
    REFUSED("x: byte 0: the file is not a capture; expected pcap or pcapng", 'h', 'e', 'l', 'l', 'o');
    REFUSED("x: byte 0: the file is compressed; expected it unpacked, pcap or pcapng", 0x1f, 0x8b, 8, 0);
    REFUSED("x: byte 0: the file ends at byte 6; expected a header of 24 bytes", 0xd4, 0xc3, 0xb2, 0xa1, 2, 0);
    REFUSED("x: byte 4: pcap version 9; expected 2", 0xd4, 0xc3, 0xb2, 0xa1, 9, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
            4, 0, 1, 0, 0, 0);
    REFUSED("x: byte 24: a frame of 5 bytes of which 6 are kept; expected no more than it has", //
            0xa1, 0xb2, 0xc3, 0xd4, 0, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 1, //
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 5, 1, 2, 3, 4, 5, 6);
    REFUSED("x: byte 24: a frame of which 16777216 bytes are kept; expected at most 262144",    //
            0xa1, 0xb2, 0xc3, 0xd4, 0, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 1, //
            0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0);
    REFUSED("x: no interface is described in it", SECTION);
    REFUSED(
        "x: frames are of link type 147; expected Ethernet (1), IP (12, 101, 228, 229), or those of Linux's device any "
        "(113, 276)",
        SECTION, INTERFACE(147));
    REFUSED("x: byte 0: a block that begins with length 28 and ends with 24", 0x0a, 0x0d, 0x0d, 0x0a, 28, 0, 0, 0, 0x4d,
            0x3c, 0x2b, 0x1a, 1, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255, 24, 0, 0, 0);
    REFUSED("x: byte 28: a block of 13 bytes; expected a multiple of 4, 12 at least", SECTION, 5, 0, 0, 0, 13, 0, 0, 0);
    REFUSED("x: byte 28: a block that begins with length 12 and ends with 16", SECTION, 5, 0, 0, 0, 12, 0, 0, 0, 16, 0,
            0, 0);
    REFUSED("x: byte 28: a packet block of 12 bytes; expected 32 at least", SECTION, 6, 0, 0, 0, 12, 0, 0, 0, 12, 0, 0,
            0);
    REFUSED("x: byte 28: a packet, but no interface is described before it", SECTION, 6, 0, 0, 0, 32, 0, 0, 0, //
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 32, 0, 0, 0);
    REFUSED("x: byte 48: a packet of interface 1; expected one of the 1 that are described", SECTION, INTERFACE(1), //
            6, 0, 0, 0, 32, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 32, 0, 0, 0);
    REFUSED("x: byte 48: a frame of which 4 bytes are kept in a block that has 0 left", SECTION, INTERFACE(1), //
            6, 0, 0, 0, 32, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 32, 0, 0, 0);
}

/// Stamps in other units: 2^-10 s and 10^-6 s behind an offset of 3 s.
static void stamps(void **state) {
    static const uint8_t bytes[] = {
        SECTION, 1, 0,  0, 0, 32, 0, 0, 0, 1, 0,  0,  0, 0, 0, 0, 0,  9, 0, 1,  0, 0x8a, 0,  0, 0,  0, 0,
        0,       0, 32, 0, 0, 0,  1, 0, 0, 0, 36, 0,  0, 0, 1, 0, 0,  0, 0, 0,  0, 0,    14, 0, 8,  0, 3,
        0,       0, 0,  0, 0, 0,  0, 0, 0, 0, 0,  36, 0, 0, 0, 6, 0,  0, 0, 32, 0, 0,    0,  0, 0,  0, 0,
        0,       0, 0,  0, 0, 6,  0, 0, 0, 0, 0,  0,  0, 0, 0, 0, 32, 0, 0, 0,  6, 0,    0,  0, 32, 0, 0,
        0,       1, 0,  0, 0, 0,  0, 0, 0, 7, 0,  0,  0, 0, 0, 0, 0,  0, 0, 0,  0, 32,   0,  0, 0,
    };
    static const uint64_t ns[] = {1500000000, 3000007000};
    struct weft_capture_reader *reader;
    struct weft_capture_frame frame;
    struct weft_error error = {0};
    bool any;
    FILE *file = fmemopen((void *)bytes, sizeof bytes, "rb");
    assert_int_equal(weft_capture_open(file, "x", arena, &reader, &error), WEFT_OK);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(weft_capture_next(reader, &frame, &any, &error), WEFT_OK);
        assert_true(any);
        assert_int_equal(frame.interface, i);
        assert_int_equal(frame.time_ns, ns[i]);
    }
    fclose(file);
}

/// No more conversations than asked for; the rest is counted and said.
static void limit(void **state) {
    struct made m;
    struct weft_decode d;
    begin(&m, 1);
    for (uint32_t i = 0; i < 10; i++)
        put_packet(&m, (struct packet){.opcode = WEFT_RC_SEND_ONLY, .src = 1, .dst = 2, .qp = i, .payload = 8});
    end(&m, &(struct weft_decode_conf){.conversations_max = 4}, arena, &d);
    assert_int_equal(d.conversations, 4);
    assert_int_equal(d.roce, 10);
    assert_int_equal(d.uncounted, 6);
    assert_int_equal(d.warnings, 1);
    assert_string_equal(d.warning[0],
                        "more than 4 conversations: 6 packets of later ones are in the total only (--conversations)");
}

static void addresses(void **state) {
    static const struct {
        struct weft_decode_address address;
        const char *text;
    } row[] = {
        {{WEFT_DECODE_IPV4, {10, 0, 0, 1}}, "10.0.0.1"},
        {{WEFT_DECODE_IPV6, {0}}, "::"},
        {{WEFT_DECODE_IPV6, {[15] = 1}}, "::1"},
        {{WEFT_DECODE_IPV6, {0xfe, 0x80, [8] = 2, [15] = 1}}, "fe80::200:0:0:1"},
        {{WEFT_DECODE_ROCE_V1, {0x20, 1, 0xd, 0xb8, 0, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1}}, "2001:db8:0:1:1:1:1:1"},
        {{WEFT_DECODE_IPV6, {0x20, 1}}, "2001::"},
    };
    char text[WEFT_DECODE_TEXT];
    for (unsigned i = 0; i < sizeof row / sizeof *row; i++)
        assert_string_equal(weft_decode_address_text(&row[i].address, text), row[i].text);
}

/// Every column of every table has a value or none, whatever the row.
static void tables(void **state) {
    char path[FILE_NAME], text[32];
    struct weft_decode d;
    const struct weft_result_table *t;
    pcap_close(open_rxe(path));
    assert_int_equal(weft_decode_file(path, &(struct weft_decode_conf){0}, arena, &d, NULL), WEFT_OK);
    uint32_t rows = 0;
    for (uint32_t i = 0; i < weft__answer_decode.tables && (t = weft__answer_decode.table[i]); i++) {
        struct weft_result_walk walk = weft_answer_walk(&weft__answer_decode, &d, t, arena);
        struct weft_result_cursor *row;
        for (; (row = weft_result_next(&walk)); rows++)
            for (uint32_t k = 0; k < t->columns; k++) {
                struct weft_result_value v = weft_result_value(row, &t->column[k]);
                assert_non_null(weft_result_text(&v, text, sizeof text));
            }
    }
    assert_true(rows > 3);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(sequence),       TEST(sequence_wraps), TEST(messages),
        TEST(two_interfaces), TEST(answers),        TEST(who_belongs_together),
        TEST(rates),          TEST(pauses),         TEST(dcbx),
        TEST(as_libpcap),     TEST(linux_rxe),      TEST(without_ethernet),
        TEST(every_length),   TEST(every_byte),     TEST(refused),
        TEST(stamps),         TEST(limit),          TEST(addresses),
        TEST(tables),         TEST(ultra_ethernet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
