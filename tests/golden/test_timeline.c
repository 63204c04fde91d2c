// SPDX-License-Identifier: Apache-2.0
// weft timeline from a user's view, on a cascade of pauses with a known story: two GPUs send to a third over a spine,
// its link is too slow, and the pauses spread back hop by hop to the senders.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#include "command_json.h"
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static const char scenario[] = "name: cascade\n"
                               "topology:\n"
                               "  kind: list\n"
                               "  nodes:\n"
                               "    - {name: rail-a, role: switch}\n"
                               "    - {name: rail-b, role: switch}\n"
                               "    - {name: rail-c, role: switch}\n"
                               "    - {name: spine, role: switch}\n"
                               "    - {name: gpu-a, role: host}\n"
                               "    - {name: gpu-b, role: host}\n"
                               "    - {name: gpu-c, role: host}\n"
                               "    - {name: gpu-d, role: host}\n"
                               "  links:\n"
                               "    - {from: gpu-a, to: rail-a, rate: 100Gbps}\n"
                               "    - {from: gpu-b, to: rail-b, rate: 100Gbps}\n"
                               "    - {from: gpu-c, to: rail-c, rate: 100Gbps, to_port: E12/24}\n"
                               "    - {from: rail-a, to: spine}\n"
                               "    - {from: rail-b, to: spine}\n"
                               "    - {from: rail-c, to: spine, from_port: E3/24}\n"
                               "    - {from: gpu-d, to: rail-a, rate: 100Gbps}\n"
                               "switch: {buffer: {kind: static, size: 300KB, xoff: 200KB, xon: 150KB}}\n"
                               "host: {ack_own_priority: true}\n"
                               "workload:\n"
                               "  - {kind: flow, src: gpu-a, dst: gpu-c, size: 2MB}\n"
                               "  - {kind: flow, src: gpu-b, dst: gpu-c, size: 2MB}\n"
                               "  - {kind: flow, src: gpu-d, dst: gpu-b, size: 20KB, priority: 2}\n"
                               "variants:\n"
                               "  pfc: {}\n"
                               "  slow-host:\n"
                               "    devices: [{match: gpu-c, host: {drain_rate: 50Gbps}}]\n"
                               "    workload: [{kind: flow, src: gpu-a, dst: gpu-c, size: 2MB}]\n"
                               "  quiet:\n"
                               "    workload: [{kind: flow, src: gpu-a, dst: gpu-c, size: 20KB}]\n";

static int setup(void **state) {
    static struct fixture f;
    strcpy(f.dir, "/tmp/weft-timeline-XXXXXX");
    if (!mkdtemp(f.dir)) return -1;
    char path[128];
    snprintf(path, sizeof path, "%s/s.yaml", f.dir);
    FILE *file = fopen(path, "w");
    if (!file) return -1;
    fputs(scenario, file);
    fclose(file);
    *state = &f;
    return weft(&f, "compare s.yaml --quiet --out r");
}

static int teardown(void **state) {
    struct fixture *f = *state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", f->dir);
    return system(command);
}

/// What was printed holds these texts in this order.
static void assert_in_order(const struct fixture *f, const char *const *text, size_t n) {
    const char *at = f->out;
    for (size_t i = 0; i < n; i++) {
        const char *found = strstr(at, text[i]);
        if (!found) fail_msg("no \"%s\" where expected in\n%s", text[i], f->out);
        at = found + strlen(text[i]);
    }
}
#define ASSERT_IN_ORDER(f, ...)                                                                                        \
    assert_in_order(f, (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void pauses_are_told_hop_by_hop(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "timeline r"), 0);
    // Indented by two more columns per hop. The order of rail-a and rail-b is open.
    ASSERT_IN_ORDER(f, "cascade, variant pfc: ", "flow 0, gpu-a to gpu-c: 2.00MB, priority 3; finished after",
                    "us  rail-c/E12/24 to gpu-c, priority 3: its queue fills\n", "congested with 20",
                    "us    spine/2 to rail-c: priority 3 paused", "paused by rail-c/E3/24, above XOFF with up to 20",
                    "us      rail-", "/1 to spine: priority 3 paused", "us        gpu-", "/0 to rail-",
                    ": priority 3 paused");
    assert_null(strstr(f->out, "gpu-d/0 to rail-a: priority"));
    assert_null(strstr(f->out, "first packet"));
}

static void the_other_variants_are_mentioned(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "timeline r"), 0);
    assert_string_equal(f->err, "weft: showing variant 'pfc'; --variant NAME chooses another: 'slow-host' 'quiet'\n");
    assert_int_equal(weft(f, "timeline r --variant pfc"), 0);
    assert_string_equal(f->err, "");
    assert_int_equal(weft(f, "timeline r --json"), 0);
    assert_string_equal(f->err, "");
}

static void a_slow_host_is_a_cause(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "timeline r --variant slow-host"), 0);
    ASSERT_IN_ORDER(f, "us  rail-c/E12/24 to gpu-c: priority 3 paused", "paused by gpu-c/0",
                    "its host takes data too slowly", "us    spine/2 to rail-c: priority 3 paused");
    assert_int_equal(weft(f, "timeline r --variant slow-host --why spine/2"), 0);
    ASSERT_IN_ORDER(f, "spine/2 was not allowed to send priority 3", "by rail-c/E3/24, because of the host of gpu-c/0",
                    "spine/2 to rail-c: priority 3 paused", "because rail-c/E12/24 to gpu-c: priority 3 paused",
                    "because gpu-c/0 from rail-c, priority 3: above XOFF with", "too slowly\n");
}

static void a_quiet_run_tells_the_way_of_its_packets(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "timeline r --variant quiet"), 0);
    ASSERT_IN_ORDER(f, "us  flow 0, gpu-a to gpu-c: 20.0KB",
                    "us    rail-a/1 to spine: first packet with DSCP 24, from rail-a/0: priority 3",
                    "us    spine/2 to rail-c: first packet", "us    rail-c/E12/24 to gpu-c: first packet");
}

static void why_follows_the_causes_to_their_end(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "timeline r --why gpu-a/0/3"), 0);
    ASSERT_IN_ORDER(
        f, "gpu-a/0 was not allowed to send priority 3", " by rail-a/0, because of the queue of rail-c/E12/24",
        "gpu-a/0 to rail-a: priority 3 paused", "because gpu-a/0 from rail-a: pause frame received",
        "because rail-a/0 to gpu-a: pause frame sent, classes 0x08, priority 3: 65535 quanta",
        "because rail-a/0 from gpu-a, priority 3: above XOFF with", "most of it for rail-a/1",
        "because rail-a/1 to spine: priority 3 paused", "because spine/0 from rail-a, priority 3: above XOFF",
        "because spine/2 to rail-c: priority 3 paused", "because rail-c/E3/24 from spine, priority 3: above XOFF with",
        "because rail-c/E12/24 to gpu-c, priority 3: congested", "by 2 queue pairs: flow ");
    assert_int_equal(weft(f, "timeline r --why rail-c/E3/24"), 2); // a receiver, never paused
    assert_non_null(strstr(f->err, "was not paused for priority 3; --why-not rail-c/E3/24/3 says why not"));
    assert_int_equal(weft(f, "timeline r --why gpu-a/0 --at 1ns"), 2);
    assert_non_null(strstr(f->err, "not paused for priority 3 at that time; the nearest pause is from"));

    assert_int_equal(weft(f, "timeline r --why gpu-a/0 --json"), 0);
    json_t *json = printed_json(f), *because = json_object_get(json, "because");
    assert_int_equal(json_array_size(because), 13);
    const char *kinds[] = {"paused", "pause_received", "pause_sent", "xoff"};
    for (size_t i = 0; i < 12; i++)
        assert_string_equal(json_string_value(json_object_get(json_array_get(because, i), "kind")), kinds[i % 4]);
    assert_string_equal(json_string_value(json_object_get(json_array_get(because, 12), "kind")), "congested");
    json_int_t pauses = json_integer_value(json_object_get(json, "pauses"));
    assert_true(pauses > 0);
    assert_true(json_integer_value(json_object_get(json, "paused_ps")) >= pauses);
    json_decref(json);
}

/// The reason that --why-not gives, for programs.
static void assert_why_not(struct fixture *f, const char *place, const char *reason, const char *text) {
    char arguments[128];
    snprintf(arguments, sizeof arguments, "timeline r --why-not %s --json", place);
    assert_int_equal(weft(f, arguments), 0);
    json_t *json = printed_json(f);
    assert_string_equal(json_string_value(json_object_get(json, "reason")), reason);
    const char *said = json_string_value(json_object_get(json, "text"));
    if (!strstr(said, text)) fail_msg("no \"%s\" in \"%s\"", text, said);
    json_decref(json);
}

static void why_not_says_what_was_missing(void **state) {
    struct fixture *f = *state;
    assert_why_not(f, "gpu-a/0/3", "paused", "--why gpu-a/0/3 says");
    assert_why_not(f, "gpu-d/0/2", "pfc_off", "rail-a has no PFC for priority 2 (switch.pfc.priorities: 3)");
    assert_why_not(f, "gpu-d/0/3", "nothing_sent", "gpu-d/0 never sent anything of priority 3");
    assert_why_not(f, "rail-c/E12/24", "below_xoff", "gpu-c/0 never sent a pause: its host takes data as fast");
    assert_why_not(f, "gpu-a/0 --variant quiet", "below_xoff",
                   "rail-a/0 never sent a pause: its ingress buffer held 4.");
    assert_why_not(f, "gpu-a/0 --variant quiet", "below_xoff", "XOFF is above 200KB (switch.buffer.xoff)");
    assert_int_equal(weft(f, "timeline r --why-not gpu-a/0 --variant quiet"), 0);
    assert_non_null(strstr(f->out, "gpu-a/0, priority 3: rail-a/0 never sent a pause"));
}

static void why_not_knows_what_is_not_obeyed(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "run s.yaml --quiet --out slip --set host.pfc.priorities=4 --set run.until=200us"), 0);
    assert_int_equal(weft(f, "timeline slip --why-not gpu-a/0/3"), 0);
    ASSERT_IN_ORDER(f, "gpu-a/0, priority 3: it received",
                    "but does not obey them: priority 3 is not lossless at gpu-a/0");
    assert_int_equal(weft(f, "timeline slip"), 0);
    ASSERT_IN_ORDER(f, "rail-a/0 from gpu-a, priority 3: above XOFF", "gpu-a/0 pays no attention to");
}

static void filters_keep_what_led_to_it(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "timeline r --port gpu-a/0 --priority 3 --limit 0"), 0);
    ASSERT_IN_ORDER(f, "rail-c/E12/24 to gpu-c, priority 3: its queue fills", "spine/2 to rail-c: priority 3 paused",
                    "rail-a/1 to spine: priority 3 paused", "gpu-a/0 to rail-a: priority 3 paused");
    assert_null(strstr(f->out, "rail-b"));
    assert_int_equal(weft(f, "timeline r --to 1ns"), 0);
    assert_null(strstr(f->out, "paused"));
    assert_int_equal(weft(f, "timeline r --flow 2"), 0);
    ASSERT_IN_ORDER(f, "flow 2, gpu-d to gpu-b", "first packet with DSCP 16");
    assert_null(strstr(f->out, "flow 0"));
    assert_int_equal(weft(f, "timeline r --port gpu-a/0 --priority 7"), 0);
    assert_non_null(strstr(f->out, "no events match"));
    assert_int_equal(weft(f, "timeline r --port nowhere"), 2);
    assert_int_equal(weft(f, "timeline r --from 2us --to 1us"), 2);
}

static void every_event_stands_below_its_cause(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "timeline r --all"), 0);
    ASSERT_IN_ORDER(
        f, "us  rail-c/E12/24 to gpu-c, priority 3: congested", "us    rail-c/E3/24 from spine, priority 3: above XOFF",
        "us      rail-c/E3/24 to spine: pause frame sent", "us        spine/2 from rail-c: pause frame received",
        "us          spine/2 to rail-c: priority 3 paused");
    assert_int_equal(weft(f, "timeline r --all --json"), 0);
    json_t *json = printed_json(f), *events = json_object_get(json, "events");
    size_t n = json_array_size(events);
    for (size_t i = 0; i < n; i++) {
        const json_t *e = json_array_get(events, i);
        assert_int_equal(json_integer_value(json_object_get(e, "event")), i + 1);
        assert_true((size_t)json_integer_value(json_object_get(e, "cause")) <= i);
    }
    json_decref(json);
    // As many lines as events, but for the head.
    weft(f, "timeline r --all");
    size_t lines = 0;
    for (const char *c = f->out; (c = strchr(c, '\n')); c++)
        lines++;
    assert_int_equal(lines, n + 2);
}

static void the_story_as_json_is_a_tree(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "timeline r --json"), 0);
    json_t *json = printed_json(f), *story = json_object_get(json, "story");
    size_t n = json_array_size(story), pauses = 0;
    assert_true(n > 5);
    for (size_t i = 0; i < n; i++) {
        const json_t *s = json_array_get(story, i), *parent = json_object_get(s, "parent");
        pauses += !strcmp(json_string_value(json_object_get(s, "kind")), "pause");
        bool found = !parent;
        for (size_t k = 0; k < i && !found; k++)
            found = json_integer_value(json_object_get(json_array_get(story, k), "id")) == json_integer_value(parent);
        assert_true(found); // parents come first
    }
    assert_true(pauses >= 5);
    json_decref(json);
}

static void what_is_left_out_is_said(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "run s.yaml --quiet --out few --set run.events=20"), 0);
    assert_int_equal(weft(f, "timeline few"), 0);
    assert_non_null(strstr(f->out, "The record is incomplete from "));
    assert_int_equal(weft(f, "run s.yaml --quiet --out none --set run.events=0"), 0);
    assert_int_equal(weft(f, "timeline none"), 2);
    assert_non_null(strstr(f->err, "no events are recorded; run.events was 0"));
    assert_int_equal(weft(f, "timeline none --why gpu-a/0"), 2);
    assert_non_null(strstr(f->err, "gpu-a/0 was paused for priority 3, for "));
    assert_non_null(strstr(f->err, "that is not recorded"));
}

static void a_deadlock_is_followed_round(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "run \"$WEFT_ROOT\"/scenarios/foundation/pfc_deadlock.yaml --quiet --out dead"), 4);
    assert_int_equal(weft(f, "timeline dead"), 0);
    ASSERT_IN_ORDER(f, "s4/2 to s0: priority 3 paused to the end", "The network made no progress any more.\n",
                    "PFC cycle of 5 ports");
    assert_int_equal(weft(f, "timeline dead --why s0/1"), 0);
    ASSERT_IN_ORDER(f, "s0/1 to s1: priority 3 paused", "because s1/2 to s2, priority 3: congested",
                    "It lasts to the end of the run,\n", "because s1/2 is paused since", "because s2/2 is paused since",
                    "because s3/2 is paused since", "because s4/2 is paused since", "because s0/1 is paused since",
                    "and so on in a circle: a deadlock.\n");
}

static void a_storm_is_told(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "run s.yaml --variant slow-host --quiet --out storm --set host.pfc.watchdog=10us "
                             "--set switch.pfc.watchdog=10us --set switch.pfc.restore=30us"),
                     0);
    assert_int_equal(weft(f, "timeline storm"), 0);
    ASSERT_IN_ORDER(f, "us  rail-c/E12/24 to gpu-c: priority 3 paused",
                    "us    rail-c/E12/24 to gpu-c, priority 3: a PFC storm");
}

/// Results edited by hand: events of a flow without the flow.
static void broken_records_are_refused(void **state) {
    struct fixture *f = *state;
    char path[192];
    sqlite3 *db;
    assert_int_equal(weft(f, "run s.yaml --quiet --out broken"), 0);
    snprintf(path, sizeof path, "%s/broken/results.sqlite", f->dir);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "UPDATE events SET flow = NULL WHERE kind = 'flow_started'", NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(db);
    assert_int_equal(weft(f, "timeline broken"), 2);
    assert_non_null(strstr(f->err, "malformed"));
}

static void mistakes_are_said(void **state) {
    struct fixture *f = *state;
    static const struct {
        const char *arguments, *error;
    } mistakes[] = {
        {"timeline nowhere", "nowhere/results.sqlite: is not there, or cannot be read"},
        {"timeline r --variant pcf",
         "--variant pcf: no such variant in the results; did you mean \"pfc\"? expected one of pfc, slow-host, quiet"},
        {"timeline r --why gpu-x/0", "--why gpu-x/0: no such port"},
        {"timeline r --from 5", "--from 5: "},
        {"timeline r --priority 8", "--priority 8: out of range 0 to 7"},
        {"timeline r --flow 9", "--flow 9: out of range 0 to 2"},
        {"timeline r --why gpu-1/0 --priority 3", "it names port and priority"},
        {"timeline r --at 5us", "--at 5us: expected with --why"},
        {"timeline", "expected DIR"},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        assert_int_equal(weft(f, mistakes[i].arguments), 2);
        if (!strstr(f->err, mistakes[i].error)) fail_msg("%s: %s", mistakes[i].arguments, f->err);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pauses_are_told_hop_by_hop),
        cmocka_unit_test(the_other_variants_are_mentioned),
        cmocka_unit_test(a_slow_host_is_a_cause),
        cmocka_unit_test(a_quiet_run_tells_the_way_of_its_packets),
        cmocka_unit_test(why_follows_the_causes_to_their_end),
        cmocka_unit_test(why_not_says_what_was_missing),
        cmocka_unit_test(why_not_knows_what_is_not_obeyed),
        cmocka_unit_test(filters_keep_what_led_to_it),
        cmocka_unit_test(every_event_stands_below_its_cause),
        cmocka_unit_test(the_story_as_json_is_a_tree),
        cmocka_unit_test(what_is_left_out_is_said),
        cmocka_unit_test(a_deadlock_is_followed_round),
        cmocka_unit_test(a_storm_is_told),
        cmocka_unit_test(broken_records_are_refused),
        cmocka_unit_test(mistakes_are_said),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
