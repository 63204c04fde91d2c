// SPDX-License-Identifier: Apache-2.0
// weft trace-control of a Clique as a user runs it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "command.h"

static struct fixture fixture = {.dir = "/tmp/weft-clique-XXXXXX"};

static int setup(void **state) {
    *state = &fixture;
    return mkdtemp(fixture.dir) ? 0 : -1;
}

static json_t *trace(const char *arguments) {
    char command[384];
    snprintf(command, sizeof command, "trace-control \"$WEFT_ROOT\"/scenarios/aquila/control.yaml --json %s",
             arguments);
    if (weft(&fixture, command)) fail_msg("%s", fixture.err);
    json_error_t error;
    json_t *root = json_loads(fixture.out, JSON_REJECT_DUPLICATES, &error);
    if (!root) fail_msg("%s", error.text);
    return root;
}

static json_int_t number(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    if (!json_is_integer(value)) fail_msg("%s is not a number", key);
    return json_integer_value(value);
}

static json_int_t sum(const json_t *list, const char *key) {
    json_int_t n = 0;
    size_t i;
    json_t *entry;
    json_array_foreach(list, i, entry) n += number(entry, key);
    return n;
}

static const json_t *event(const json_t *list, const char *what) {
    size_t i;
    json_t *entry;
    json_array_foreach(list, i, entry) {
        if (!strcmp(json_string_value(json_object_get(entry, "do")), what)) return entry;
    }
    fail_msg("no event %s", what);
    return NULL;
}

/// 120 addresses: 20 TiNs of 2 hosts and a processor, IPv4 and IPv6. One failed link of a mesh without spare ones.
static void a_small_clique(void **state) {
    (void)state;
    json_t *root = trace("--variant small");
    const json_t *state_of = json_object_get(root, "state"), *controller = json_object_get(root, "controller"),
                 *events = json_object_get(controller, "events"), *bootstrap = json_object_get(root, "bootstrap");
    assert_int_equal(number(state_of, "ip_flows"), 120 * 20);
    assert_int_equal(number(state_of, "ip_flows") / number(state_of, "ip_flows_indexed"), 20);
    assert_true(json_is_true(json_object_get(controller, "checked")));
    assert_int_equal(sum(events, "black_holes"), 0);
    assert_true(number(event(events, "down"), "pairs_cut") > 0);
    assert_int_equal(number(event(events, "down"), "pairs_left"), 0);
    assert_int_equal(number(event(events, "reboot"), "pairs_cut"), 0); // non-stop forwarding
    assert_true(number(event(events, "reboot"), "session_ps") > 10000000000000);
    assert_string_equal(json_string_value(json_object_get(controller, "suspect")), "tin-7");
    assert_int_equal(number(controller, "not_as_meant"), 1);
    const json_t *sent = json_object_get(event(events, "down"), "sent");
    assert_int_equal(number(json_object_get(sent, "port_status"), "messages"), 2);
    assert_int_equal(number(json_object_get(sent, "port_notice"), "last_ps"),
                     number(event(events, "down"), "noticed_ps"));
    assert_int_equal(sum(events, "messages"), number(controller, "messages"));
    assert_int_equal(number(bootstrap, "done"), 20);
    assert_int_equal(json_array_size(json_object_get(bootstrap, "tins")), 20);
    const json_t *clocks = json_object_get(root, "timesync");
    size_t i;
    json_t *depth;
    json_array_foreach(json_object_get(clocks, "depths"), i, depth) {
        assert_true(number(depth, "max_ps") <= number(depth, "bound_ps"));
    }
    assert_true(number(event(json_object_get(clocks, "events"), "down"), "moved") > 0);
    assert_true(number(event(json_object_get(clocks, "events"), "jump"), "signalled") > 0);
    json_decref(root);
}

/// (18 endpoints with one VC + 32 links with four) x (4 pods + 3 TiNs) x 20; with one endpoint less, 140 less.
static void endpoints_have_entries(void **state) {
    (void)state;
    static const char *const set[] = {"", "--set tin.control_endpoints=1", "--set tin.ip_endpoints=7"};
    for (uint32_t i = 0; i < 3; i++) {
        char arguments[128];
        snprintf(arguments, sizeof arguments, "--variant small %s", set[i]);
        json_t *root = trace(arguments);
        assert_int_equal(number(json_object_get(root, "state"), "gnet_flows_by_port"), (18 - !!i + 32 * 4) * 7 * 20);
        json_decref(root);
    }
}

static void without_order_and_without_nsf(void **state) {
    (void)state;
    json_t *root = trace("--variant small-unordered");
    const json_t *events = json_object_get(json_object_get(root, "controller"), "events");
    assert_true(sum(events, "black_holes") > 0);
    assert_int_equal(number(event(events, "down"), "pairs_left"), 0); // all is well at the end all the same
    json_decref(root);
    root = trace("--variant small-without-nsf");
    events = json_object_get(json_object_get(root, "controller"), "events");
    const json_t *reboot = event(events, "reboot");
    assert_true(number(reboot, "pairs_cut") >= 38); // to and from the TiN at least
    assert_true(number(reboot, "repaired") > 0);
    assert_int_equal(number(reboot, "pairs_left"), 0);
    json_decref(root);
}

static const char *table(const char *name, const char *variant) {
    char arguments[256];
    snprintf(arguments, sizeof arguments,
             "trace-control \"$WEFT_ROOT\"/scenarios/aquila/control.yaml --variant %s --csv %s", variant, name);
    assert_int_equal(weft(&fixture, arguments), 0);
    return fixture.out;
}

static void tables_for_plotting(void **state) {
    (void)state;
    uint32_t lines = 0;
    for (const char *c = table("clique.bootstrap.tins", "small"); *c; c++)
        lines += *c == '\n';
    assert_int_equal(lines, 1 + 20);
    assert_non_null(strstr(table("clique.timesync.depths", "small"), "depth,tins,samples"));
    assert_non_null(strstr(table("clique_controller_events", "small"), ",reboot,tin-5,"));
    const char *messages = table("clique.messages", "small");
    assert_non_null(strstr(messages, ",1001000000000,1001100000000,0,port_status,TiN,front-end,tin-0\n"));
    assert_non_null(strstr(messages, "spine_status,spine,IBR controller,ibr-3\n"));
    assert_string_equal(
        table("dsf.bursts", "small"),
        "time_ps,links_down,links_up,drains,settled,convergence_ps,cells,rounds,withdrawn,opened,changes\n");
}

static void refused(const char *events, const char *message) {
    char text[256];
    snprintf(text, sizeof text, "topology: {kind: dragonfly, pods: 2, tins: 4}\ncontrol: {events: [%s]}\n", events);
    write_text(&fixture, "bad.yaml", text);
    assert_int_equal(weft(&fixture, "trace-control bad.yaml"), 2);
    if (!strstr(fixture.err, message)) fail_msg("'%s' is not in: %s", message, fixture.err);
    assert_string_equal(fixture.out, "");
}

static void what_does_not_happen_to_a_tin(void **state) {
    (void)state;
    refused("{at: 1s, do: crash, node: tin-1}", "bad.yaml:2:33: 'crash' does not happen to tin-1");
    refused("{at: 1s, do: reboot, node: host-1}", "host-1 is not an interface node or a TiN");
    refused("{at: 1s, do: cut, node: \"tin-*\"}", "and not all");
    refused("{at: 1s, do: reboot}", "expected 'node'");
}

/// No Ethernet: nothing to begin a bootstrap with, and no failure of it.
static void a_clique_by_itself(void **state) {
    (void)state;
    write_text(&fixture, "alone.yaml", "topology: {kind: dragonfly, pods: 2, tins: 4}\n");
    assert_int_equal(weft(&fixture, "trace-control alone.yaml"), 0);
    assert_non_null(strstr(fixture.out, "no TiN can start"));
    assert_int_equal(weft(&fixture, "trace-control alone.yaml --json"), 0);
    assert_non_null(strstr(fixture.out, "\"bootstrap\":null"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_clique),
        cmocka_unit_test(endpoints_have_entries),
        cmocka_unit_test(without_order_and_without_nsf),
        cmocka_unit_test(tables_for_plotting),
        cmocka_unit_test(what_does_not_happen_to_a_tin),
        cmocka_unit_test(a_clique_by_itself),
    };
    return cmocka_run_group_tests(tests, setup, remove_folder);
}
