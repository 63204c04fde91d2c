// SPDX-License-Identifier: Apache-2.0
// weft dcbx from a user's view, on captures written with libpcap: what it prints, its JSON, and files that are not
// captures.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <jansson.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "weft/dcbx.h"

static char folder[] = "/tmp/weft-dcbx-XXXXXX";
static char capture[64], other[64];

/// What `weft dcbx` prints; to be freed.
static char *dcbx(const char *file, const char *options, int expected_status) {
    char command[1024];
    snprintf(command, sizeof command, "'%s' dcbx '%s' %s 2>&1", getenv("WEFT"), file, options);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    enum { ROOM = 1 << 16 };
    char *text = calloc(1, ROOM);
    fread(text, 1, ROOM - 1, pipe);
    int status = pclose(pipe);
    if (status >> 8 != expected_status) fail_msg("dcbx %s: exit status %d: %s", options, status >> 8, text);
    return text;
}

static void assert_holds(char *text, const char *part) {
    if (!strstr(text, part)) fail_msg("\"%s\" is not in: %s", part, text);
}

static struct weft_dcbx_end sender(uint8_t mac, bool willing, uint8_t pfc) {
    static const uint64_t weight[WEFT_PRIORITIES] = {1, 0, 0, 3};
    char why[256];
    struct weft_dcbx_end end = {.mac = {2, 0, 0, 0, 1, mac}};
    end.says.has = WEFT_DCBX_PFC | WEFT_DCBX_ETS | WEFT_DCBX_APPS;
    end.says.pfc = (struct weft_pfc_configuration){.willing = willing, .capability = 8, .enabled = pfc};
    end.says.ets = (struct weft_ets_configuration){.classes = 8, .table = weft_ets_table_of_weights(weight)};
    assert_null(weft_dcbx_apps_parse("udp:4791:3", &end.says.apps, why, sizeof why));
    return end;
}

static void dump(pcap_dumper_t *dumper, const uint8_t *bytes, size_t size, size_t kept) {
    struct pcap_pkthdr header = {.caplen = (bpf_u_int32)kept, .len = (bpf_u_int32)size};
    pcap_dump((uint8_t *)dumper, &header, bytes);
}

/// Twice the same from a switch, once from a host, one that is not LLDP, a cut one and a broken one.
static int write_captures(void **state) {
    if (!mkdtemp(folder)) return -1;
    snprintf(capture, sizeof capture, "%s/lldp.pcap", folder);
    snprintf(other, sizeof other, "%s/other", folder);
    pcap_t *pcap = pcap_open_dead(DLT_EN10MB, 65535);
    pcap_dumper_t *dumper = pcap_dump_open(pcap, capture);
    if (!dumper) return -1;
    struct weft_dcbx_end leaf = sender(1, false, 0x08), host = sender(2, true, 0x10);
    uint8_t bytes[1024] = {0};
    size_t size = weft_dcbx_frame_encode(&leaf, "leaf-0", "leaf-0/3", 120, bytes, sizeof bytes);
    dump(dumper, bytes, size, size);
    dump(dumper, bytes, size, size);
    dump(dumper, bytes, size, 60);
    bytes[14] = 0x04; // a port id first
    dump(dumper, bytes, size, size);
    size = weft_dcbx_frame_encode(&host, "host-3", "host-3/0", 120, bytes, sizeof bytes);
    dump(dumper, bytes, size, size);
    bytes[13] = 0; // not LLDP
    dump(dumper, bytes, size, size);
    pcap_dump_close(dumper);
    pcap_close(pcap);
    return 0;
}

static int remove_captures(void **state) {
    remove(capture);
    remove(other);
    return rmdir(folder);
}

static void what_was_said(void **state) {
    char *text = dcbx(capture, "", 0);
    assert_holds(text, "lldp.pcap: 6 frames, 5 of them LLDP\n"
                       "2 of them cannot be read; the first is frame 3: the capture has only the beginning of it\n");
    assert_holds(text, "02:00:00:00:01:01, leaf-0, chassis 02:00:00:00:01:01, port leaf-0/3: 2 frames, the first is "
                       "frame 1\n"
                       "  time to live    120 s\n"
                       "  PFC             on 3; not willing; 8 at most\n"
                       "  ETS             0: 25 %; 3: 75 %; 1, 2, 4, 5, 6 and 7: strict; not willing; 8 classes\n"
                       "  applications    UDP 4791 (RoCEv2): 3\n");
    assert_holds(text, "02:00:00:00:01:02, host-3, chassis 02:00:00:00:01:02, port host-3/0: 1 frame, the first is "
                       "frame 5\n");
    if (strstr(text, "negotiated")) fail_msg("nothing was asked to be negotiated");
    free(text);
}

static void negotiated(void **state) {
    char *text = dcbx(capture, "--pfc 3,4", 0);
    assert_holds(text, "  negotiated      PFC here on 3 and 4 (neither end is willing); lossless: 3\n"
                       "  difference      PFC on 3 and 4 here, on 3 there; neither end is willing\n"
                       "                  so priority 4 is lossy on this link\n");
    free(text);
    text = dcbx(capture, "--pfc 3,4 --willing --mac 02:00:00:00:02:00", 0);
    assert_holds(text, "PFC here on 3 (this end is willing and takes the neighbour's); lossless: 3\n");
    assert_holds(text, "PFC here on 4 (both ends are willing and the neighbour's MAC address is the lower one");
    free(text);
    text = dcbx(capture, "--pfc 3 --apps udp:4791:5 --ets 25,s,s,75,s,s,s,s", 0);
    assert_holds(text, "UDP 4791 (RoCEv2) has priority 5 here, 3 there\n");
    assert_holds(text, "UDP 4791 (RoCEv2) has priority 5\n                  so it is lossy on this link\n");
    if (strstr(text, "bandwidth")) fail_msg("the shares are the same: %s", text);
    free(text);
    text = dcbx(capture, "--pfc 3 --ets 50,s,s,50,s,s,s,s", 0);
    assert_holds(text, "the ends share out bandwidth differently for priorities 0 and 3\n");
    free(text);
}

static void as_json(void **state) {
    char *text = dcbx(capture, "--json --pfc 3 --willing", 0);
    json_t *root = json_loads(text, 0, NULL);
    assert_non_null(root);
    assert_int_equal(json_integer_value(json_object_get(root, "unreadable")), 2);
    json_t *senders = json_object_get(root, "senders"), *host = json_array_get(senders, 1);
    assert_int_equal(json_array_size(senders), 2);
    assert_string_equal(json_string_value(json_object_get(host, "system_name")), "host-3");
    json_t *enabled = json_object_get(json_object_get(host, "pfc"), "enabled");
    assert_int_equal(json_integer_value(json_array_get(enabled, 0)), 4);
    json_t *result = json_object_get(host, "negotiated");
    assert_int_equal(json_array_size(json_object_get(result, "pfc")), 1);
    json_t *difference = json_array_get(json_object_get(result, "differences"), 0);
    assert_non_null(json_string_value(json_object_get(difference, "consequence")));
    json_decref(root);
    free(text);
}

/// A capture of 10000 senders is no work; each is told once, in order. They speak CEE DCBX.
static void many_senders(void **state) {
    enum { SENDERS = 10000 };
    pcap_t *pcap = pcap_open_dead(DLT_EN10MB, 65535);
    pcap_dumper_t *dumper = pcap_dump_open(pcap, other);
    assert_non_null(dumper);
    struct weft_dcbx_end end = {
        .mac = {2},
        .says = {.has = WEFT_DCBX_CEE,
                 .cee = {.has = 1 << WEFT_CEE_APPS,
                         .apps = {.n = 2, .app = {{0x8906, 0, 0x1b21, 0x08}, {3260, 1, 0x1b21, 0x30}}}}}};
    for (uint32_t i = 0; i < 2 * SENDERS; i++) {
        end.mac[4] = (uint8_t)(i % SENDERS >> 8);
        end.mac[5] = (uint8_t)(i % SENDERS);
        uint8_t bytes[512];
        size_t size = weft_dcbx_frame_encode(&end, "leaf", "0", 120, bytes, sizeof bytes);
        dump(dumper, bytes, size, size);
    }
    pcap_dump_close(dumper);
    pcap_close(pcap);
    char *text = dcbx(other, "| head -20", 0);
    assert_holds(text, "other: 20000 frames, 20000 of them LLDP\n\n"
                       "02:00:00:00:00:00, leaf, chassis 02:00:00:00:00:00, port 0: 2 frames, the first is frame 1\n"
                       "  time to live    120 s\n"
                       "  CEE DCBX        EtherType 0x8906 (FCoE): 3; TCP or UDP 3260: 4 and 5\n\n"
                       "02:00:00:00:00:01, leaf, chassis 02:00:00:00:00:01, port 0: 2 frames, the first is frame 2\n");
    free(text);
}

static void assert_refused(const char *file, const char *options, const char *message) {
    char *text = dcbx(file, options, 2);
    assert_holds(text, message);
    free(text);
}

static void write_other(const void *bytes, size_t size) {
    FILE *file = fopen(other, "w");
    assert_non_null(file);
    fwrite(bytes, 1, size, file);
    fclose(file);
}

static void bad_files(void **state) {
    assert_refused("/no/such/file", "", "weft: /no/such/file: cannot be read: No such file or directory\n");
    write_other("hello, world: this is not a capture", 32);
    assert_refused(other, "", "other: byte 0: the file is not a capture; expected pcap or pcapng\n");
    write_other("", 0);
    assert_refused(other, "", "other: byte 0: the file has 0 bytes; expected a capture, pcap or pcapng");
    pcap_t *raw = pcap_open_dead(DLT_RAW, 65535);
    pcap_dump_close(pcap_dump_open(raw, other));
    pcap_close(raw);
    assert_refused(other, "", "other: frames are of link type 101, expected Ethernet (1)\n");
    uint8_t whole[400];
    FILE *file = fopen(capture, "r");
    assert_int_equal(fread(whole, 1, sizeof whole, file), sizeof whole);
    fclose(file);
    write_other(whole, 200);
    assert_refused(other, "", "other: after 1 frame the file ends within the record at byte ");
    pcap_t *empty = pcap_open_dead(DLT_EN10MB, 65535);
    pcap_dump_close(pcap_dump_open(empty, other));
    pcap_close(empty);
    char *text = dcbx(other, "", 0);
    assert_holds(text, "other: 0 frames, 0 of them LLDP\n");
    free(text);
}

static void bad_options(void **state) {
    assert_refused(capture, "--willing", "needs --pfc");
    assert_refused(capture, "--pfc 8", "--pfc: \"8\"");
    assert_refused(capture, "--pfc 3 --ets 50,50", "eight shares");
    assert_refused(capture, "--pfc 3 --ets 50,0,0,49,s,s,s,s", "eight shares");
    assert_refused(capture, "--pfc 3 --ets 50,0,0,50,s,s,s,s,", "eight shares");
    assert_refused(capture, "--pfc 3 --ets -1,0,0,50,s,s,s,s", "eight shares");
    assert_refused(capture, "--pfc 3 --apps udp:3", "--apps: \"udp:3\" is not an application");
    assert_refused(capture, "--pfc 3 --mac 1:2:3", "six octets");
    assert_refused(capture, "--pfc 3 --capability 9", "out of range 0 to 8");
    assert_refused(capture, "--pfc 3 --nonsense", "unrecognized option");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_said), cmocka_unit_test(negotiated),   cmocka_unit_test(as_json),
        cmocka_unit_test(bad_files),     cmocka_unit_test(many_senders), cmocka_unit_test(bad_options),
    };
    return cmocka_run_group_tests(tests, write_captures, remove_captures);
}
