// SPDX-License-Identifier: Apache-2.0
// A run of weft, captured, and the capture as a workload: the same messages, bytes and starts. Also what is refused.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"

static int make_folder(void **state) {
    static struct fixture f;
    strcpy(f.dir, "/tmp/weft-capture-XXXXXX");
    *state = &f;
    return mkdtemp(f.dir) ? 0 : -1;
}

static const char captured[] = "name: captured\n"
                               "topology: {kind: single, hosts: 4, rate: 100Gbps}\n"
                               "host: {cc: dcqcn}\n"
                               "switch: {aqm: {kind: wred, min: 20KB, max: 100KB}}\n"
                               "workload:\n"
                               "- {kind: flow, src: host-0, dst: host-3, size: 200KB}\n"
                               "- {kind: flow, src: host-1, dst: host-3, size: 200KB, start: 1us}\n"
                               "- {kind: flow, src: host-2, dst: host-3, size: 150001B, verb: send, start: 2us}\n"
                               "- {kind: flow, src: host-2, dst: host-1, size: 40KB, verb: read, start: 5us}\n"
                               "- {kind: flow, src: host-1, dst: host-0, size: 1B, start: 7us}\n"
                               "capture: {ports: 'host-*', file: a.pcapng}\n";
static const char replayed[] = "name: replayed\n"
                               "topology: {kind: single, hosts: 6, rate: 100Gbps}\n"
                               "workload:\n"
                               "- {kind: capture, file: a.pcapng, start: 3us%s}\n";

static void put_replayed(const struct fixture *f, const char *more) {
    char text[1024];
    snprintf(text, sizeof text, replayed, more);
    write_text(f, "replayed.yaml", text);
}

static json_t *flows_of(struct fixture *f, const char *scenario) {
    char arguments[128];
    json_error_t error;
    snprintf(arguments, sizeof arguments, "run %s --json --quiet", scenario);
    if (weft(f, arguments)) fail_msg("%s", f->err);
    json_t *result = json_loads(f->out, 0, &error), *flows = json_incref(json_object_get(result, "flows"));
    assert_non_null(flows);
    json_decref(result);
    return flows;
}

static json_int_t whole(const json_t *flows, size_t i, const char *key) {
    return json_integer_value(json_object_get(json_array_get(flows, i), key));
}

static void assert_same_flows(const json_t *was, const json_t *is, const unsigned *host) {
    assert_int_equal(json_array_size(is), json_array_size(was));
    for (size_t i = 0; i < json_array_size(was); i++) { // both are in the order of their starts
        assert_int_equal(whole(is, i, "src"), host[whole(was, i, "src")]);
        assert_int_equal(whole(is, i, "dst"), host[whole(was, i, "dst")]);
        assert_int_equal(whole(is, i, "bytes"), whole(was, i, "bytes"));
        const char *verb = json_string_value(json_object_get(json_array_get(was, i), "verb"));
        assert_string_equal(json_string_value(json_object_get(json_array_get(is, i), "verb")), verb);
        // from the end of the first packet at the sender, which is 339 ns of 4096 B at 100G at most; 3 us were asked
        // for
        json_int_t late = whole(is, i, "start_ps") - whole(was, i, "start_ps") - 3000000;
        if (late < -339000 || late > 339000) fail_msg("flow %zu starts %lld ps late", i, (long long)late);
    }
}

static void the_same_again(void **state) {
    struct fixture *f = *state;
    write_text(f, "captured.yaml", captured);
    json_t *was = flows_of(f, "captured.yaml");
    assert_int_equal(json_array_size(was), 5);

    put_replayed(f, ""); // in the order of first packets: 10.0.0.1, 10.0.0.4, 10.0.0.2, 10.0.0.3
    json_t *is = flows_of(f, "replayed.yaml");
    assert_same_flows(was, is, (unsigned[]){0, 2, 3, 1});
    json_decref(is);

    put_replayed(f, ", addresses: '10.0.0.1, 10.0.0.2,10.0.0.3,10.0.0.4'");
    is = flows_of(f, "replayed.yaml");
    assert_same_flows(was, is, (unsigned[]){0, 1, 2, 3});
    json_decref(is);

    put_replayed(f, ", addresses: '10.0.0.2', hosts: 'host-5,host-1,host-2..4'"); // then .1, .4, .3
    is = flows_of(f, "replayed.yaml");
    assert_same_flows(was, is, (unsigned[]){1, 5, 3, 2});
    json_decref(is);
    json_decref(was);
}

/// What weft import writes runs, and says what the capture shows.
static void imported(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "import capture a.pcapng --out made.yaml"), 0);
    char made[1 << 13];
    slurp(f, "made.yaml", made, sizeof made);
    assert_non_null(strstr(made, "# - a.pcapng: 5 flows, 590KB, of 20 conversations\n"));
    assert_non_null(strstr(made, "# - host-1 is 10.0.0.4\n"));
    assert_non_null(strstr(made, "\n  rate: 100Gbps\n"));
    assert_non_null(strstr(made, "  pfc: {priorities: none} # the capture has no PFC frame that pauses\n"));
    assert_non_null(strstr(made, "  cc: dcqcn # the capture has CNPs\n"));
    assert_non_null(strstr(made, "  aqm: {kind: wred, min: "));
    json_t *flows = flows_of(f, "made.yaml");
    assert_int_equal(json_array_size(flows), 5);
    json_decref(flows);
}

static void capture(struct fixture *f, const char *scenario, const char *ports) {
    char arguments[128];
    write_text(f, "thresholds.yaml", scenario);
    snprintf(arguments, sizeof arguments, "run thresholds.yaml --capture '%s' --quiet", ports);
    if (weft(f, arguments)) fail_msg("%s", f->err);
    if (weft(f, "import capture capture.pcapng --out made.yaml --force")) fail_msg("%s", f->err);
}

/// The number after `key` in the output of weft import.
static double made(const struct fixture *f, const char *key) {
    char text[1 << 13];
    slurp(f, "made.yaml", text, sizeof text);
    const char *at = strstr(text, "\nswitch:"); // not in the notes
    at = at ? strstr(at, key) : NULL;
    if (!at) fail_msg("no %s in %s", key, text);
    return strtod(at + strlen(key), NULL);
}

static void assert_between(const char *what, double value, double low, double high) {
    if (value < low || value > high) fail_msg("%s is %g; expected %g to %g", what, value, low, high);
}

#define STAR(more) "topology: {kind: single, hosts: 7, rate: 100Gbps, delay: 500ns}\nhost: {cc: none" more "}\n"
#define INCAST "workload: [{kind: incast, sources: 'host-1..4', dst: host-0, size: 2MB}]\n"
#define WRED                                                                                                           \
    "switch: {buffer: {size: 5MB, xoff: 4MB, xon: 3MB}, aqm: {kind: wred, min: 60KB, max: 240KB, max_probability: "    \
    "0.2}}\n"

/// XOFF and XON from what senders have on their way, be it all of them or one; and the scenario pauses again. What left
/// the switch before a pause ended, and is not acknowledged, may be a burst: half a round trip of 2.9 us at line rate.
static void thresholds_of_pauses(void **state) {
    static const struct {
        const char *scenario, *ports;
        double xoff, xon;
    } run[] = {
        {STAR("") "switch: {buffer: {size: 500KB, xoff: 200KB, xon: 120KB}, aqm: none}\n" INCAST, "host-*", 2e5, 1.2e5},
        {STAR("") "switch: {buffer: {size: 500KB, xoff: 200KB, xon: 120KB}, aqm: none}\n" INCAST, "host-1", 2e5, 1.2e5},
        {STAR(", mtu: 1024B") "switch: {buffer: {size: 400KB, xoff: 90KB, xon: 60KB}, aqm: none}\n" INCAST,
         "host-2,host-3", 9e4, 6e4},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof run / sizeof *run; i++) {
        capture(f, run[i].scenario, run[i].ports);
        assert_between("xoff", made(f, " xoff: "), 0.9 * run[i].xoff, 1.1 * run[i].xoff);
        assert_between("xon", made(f, " xon: "), 0.95 * run[i].xon, 1.05 * run[i].xon + 1.45e-6 * 100e9 / 8);
        assert_int_equal(weft(f, "run made.yaml"), 0);
        if (i == 0) assert_null(strstr(f->out, "PFC    0 pause frames sent"));
    }
}

/// Kmin, Kmax and Pmax from packets that are seen on both sides of the queue; of one side, a bound of Kmin. Windows
/// that open one after another make the queue of every depth.
static void thresholds_of_marks(void **state) {
    struct fixture *f = *state;
    static const char flows[] =
        STAR(", window: 60KB") WRED "workload:\n"
                                    "- {kind: flow, src: host-1, dst: host-0, size: 6MB}\n"
                                    "- {kind: flow, src: host-2, dst: host-0, size: 5MB, start: 50us}\n"
                                    "- {kind: flow, src: host-3, dst: host-0, size: 4MB, start: 100us}\n"
                                    "- {kind: flow, src: host-4, dst: host-0, size: 3MB, start: 150us}\n"
                                    "- {kind: flow, src: host-5, dst: host-0, size: 2MB, start: 200us}\n"
                                    "- {kind: flow, src: host-6, dst: host-0, size: 1MB, start: 250us}\n";
    capture(f, flows, "host-*");
    assert_between("min", made(f, " min: "), 20e3, 110e3);
    assert_between("max", made(f, " max: "), 230e3, 245e3);
    assert_between("max_probability", made(f, " max_probability: "), 0.14, 0.28);
    capture(f, STAR("") WRED INCAST, "host-0");
    assert_between("min", made(f, " min: "), 60e3, 240e3);
    assert_int_equal(weft(f, "check made.yaml"), 0);
}

/// weft decode also reports data that belongs to no complete message.
static void cut_messages(void **state) {
    struct fixture *f = *state;
    capture(f, STAR("") "workload: [{kind: flow, src: host-1, dst: host-0, size: 400KB}]\n", "host-1");
    assert_int_equal(weft(f, "decode capture.pcapng"), 0);
    assert_null(strstr(f->out, "warning"));
    char command[512];
    snprintf(command, sizeof command, "cd %s && head -c 200000 capture.pcapng >cut.pcapng", f->dir);
    assert_int_equal(system(command), 0);
    assert_int_equal(weft(f, "decode cut.pcapng"), 0);
    assert_non_null(strstr(f->out, "1 messages do not end in the file"));
}

static void assert_refused(struct fixture *f, const char *more, const char *why) {
    put_replayed(f, more);
    assert_int_equal(weft(f, "check replayed.yaml"), 2);
    if (!strstr(f->err, why)) fail_msg("\"%s\" is not in: %s", why, f->err);
}

static void refused(void **state) {
    struct fixture *f = *state;
    assert_refused(
        f, ", hosts: 'host-0..2'",
        "replayed.yaml:4:3: the capture has 4 addresses, the last is 10.0.0.3; expected at most 3, as many as "
        "there are hosts for them");
    assert_refused(f, ", addresses: 10.0.0", "addresses: '10.0.0'; expected an IPv4 or IPv6 address");
    assert_refused(f, ", addresses: '10.0.0.1,10.0.0.1'", "addresses: '10.0.0.1' is a duplicate");
    write_text(f, "a.pcapng", "no capture");
    assert_refused(f, "", "a.pcapng: byte 0: the file is not a capture; expected pcap or pcapng");
    char command[4352];
    snprintf(command, sizeof command, "cp %s/tests/data/lldpd-dcbx.pcap %s/a.pcapng", getenv("WEFT_ROOT"), f->dir);
    assert_int_equal(system(command), 0);
    assert_refused(f, "", "a.pcapng: no RoCE message with payload is in its 2 frames");
    assert_int_equal(weft(f, "import capture a.pcapng"), 2);
    assert_string_equal(f->out, "");
    assert_int_equal(unlink(strcat(strcpy(command, f->dir), "/a.pcapng")), 0);
    assert_refused(f, "", "a.pcapng: cannot be read: No such file or directory");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_again),      cmocka_unit_test(imported),     cmocka_unit_test(thresholds_of_pauses),
        cmocka_unit_test(thresholds_of_marks), cmocka_unit_test(cut_messages), cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
