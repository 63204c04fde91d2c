// SPDX-License-Identifier: Apache-2.0
// Links by DCBX as a user sees them: weft check --links, the table after a run, JSON and SQLite.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <jansson.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/weft-links-XXXXXX";

static const char scenario[] = //
    "topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 3}\n"
    "switch: {pfc: {priorities: [3, 4]}}\n"
    "workload: [{kind: flow, src: host-0, dst: host-5, size: 4KB}]\n"
    "variants:\n"
    "  off: {}\n"
    "  on: {dcbx.enabled: true}\n"
    "  willing: {dcbx.enabled: true, devices: [{match: 'host-*', dcbx: {willing: true}}]}\n"
    "  one_side: {devices: [{match: 'host-*', dcbx: {enabled: true}}]}\n"
    "  shares: {dcbx.enabled: true, host.pfc.priorities: 3-4, switch.scheduler: {kind: dwrr, strict: 0-6}}\n";

static int set_up(void **state) {
    if (!mkdtemp(folder) || chdir(folder)) return -1;
    FILE *file = fopen("s.yaml", "w");
    if (!file) return -1;
    fputs(scenario, file);
    return fclose(file);
}

static int tear_down(void **state) {
    static const char *const files[] = {"s.yaml", "out/results.sqlite", "out/result.json", "out"};
    for (unsigned i = 0; i < 4; i++)
        remove(files[i]);
    return chdir("/") || rmdir(folder);
}

/// What the program prints; to be freed.
static char *weft(const char *arguments) {
    char command[1024];
    snprintf(command, sizeof command, "'%s' %s 2>&1", getenv("WEFT"), arguments);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    enum { ROOM = 1 << 18 };
    char *text = calloc(1, ROOM);
    fread(text, 1, ROOM - 1, pipe);
    int status = pclose(pipe);
    if (status) fail_msg("%s: %d: %s", arguments, status >> 8, text);
    return text;
}

#define NO_DIFFERENCE "DCBX   10 links, 0 with differences between their ends\n"
#define SIX_DIFFER "DCBX   10 links, 6 with differences between their ends\n"
#define HEAD " links  between            LLDP      PFC configured  in force        lossless\n"

static const struct {
    const char *variant, *table;
} tables[] = {
    {"off", SIX_DIFFER HEAD
     "     6  leaf - host        off       3 and 4 | 3     3 and 4 | 3     3\n"
     "        as at leaf-0/0: PFC on 3 and 4 here, on 3 there; they have not heard of each other by DCBX\n"
     "          so priority 4 is lossy on this link\n"
     "     4  leaf - spine       off       3 and 4         3 and 4         3 and 4\n"},
    {"on", SIX_DIFFER HEAD "     6  leaf - host        both      3 and 4 | 3     3 and 4 | 3     3\n"
                           "        as at leaf-0/0: PFC on 3 and 4 here, on 3 there; neither end is willing\n"
                           "          so priority 4 is lossy on this link\n"
                           "     4  leaf - spine       both      3 and 4         3 and 4         3 and 4\n"},
    {"willing", NO_DIFFERENCE HEAD "     6  leaf - host        both      3 and 4 | 3     3 and 4         3 and 4\n"
                                   "     4  leaf - spine       both      3 and 4         3 and 4         3 and 4\n"},
    {"one_side", SIX_DIFFER HEAD
     "     6  leaf - host        not seen  3 and 4 | 3     3 and 4 | 3     3\n"
     "        as at leaf-0/0: PFC on 3 and 4 here, on 3 there; they have not heard of each other by DCBX\n"
     "          so priority 4 is lossy on this link\n"
     "        as at host-0/0: no LLDP seen from the neighbour\n"
     "          so nothing says that the neighbour pauses for priority 3: lossy unless it is set by hand\n"
     "     4  leaf - spine       off       3 and 4         3 and 4         3 and 4\n"},
    {"shares", SIX_DIFFER HEAD "     6  leaf - host        both      3 and 4         3 and 4         3 and 4\n"
                               "        as at leaf-0/0: the ends share out bandwidth differently for priority 7\n"
                               "          so the share of the link depends on the direction\n"
                               "     4  leaf - spine       both      3 and 4         3 and 4         3 and 4\n"},
};

static void check_links(void **state) {
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        char arguments[128];
        snprintf(arguments, sizeof arguments, "check s.yaml --no-hints --links --variant %s", tables[i].variant);
        char *text = weft(arguments), *second = strchr(text, '\n');
        assert_non_null(second);
        assert_string_equal(second + 1, tables[i].table);
        free(text);
    }
    char *text = weft("check s.yaml --variant on");
    assert_null(strstr(text, "DCBX"));
    free(text);
}

static json_t *link_between(const json_t *links, const char *port) {
    for (size_t i = 0; i < json_array_size(links); i++) {
        json_t *ends = json_object_get(json_array_get(links, i), "ends");
        for (size_t k = 0; k < 2; k++)
            if (!strcmp(json_string_value(json_object_get(json_array_get(ends, k), "port")), port))
                return json_array_get(links, i);
    }
    fail_msg("no link at %s", port);
    return NULL;
}

static void assert_link(const json_t *links, const char *port, size_t lossless, size_t differences) {
    const json_t *link = link_between(links, port);
    assert_int_equal(json_array_size(json_object_get(link, "lossless")), lossless);
    const json_t *list = json_object_get(link, "differences");
    assert_int_equal(json_array_size(list), differences);
    if (!differences) return;
    const json_t *first = json_array_get(list, 0);
    assert_string_equal(json_string_value(json_object_get(first, "consequence")), "priority 4 is lossy on this link");
    assert_int_equal(json_integer_value(json_array_get(json_object_get(first, "priorities"), 0)), 4);
}

static void as_json(void **state) {
    char *text = weft("check s.yaml --links --variant on --json");
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    const json_t *variant = json_array_get(json_object_get(root, "variants"), 0);
    assert_link(json_object_get(variant, "links_by_dcbx"), "host-3/0", 1, 1);
    assert_link(json_object_get(variant, "links_by_dcbx"), "spine-1/0", 2, 0);
    json_decref(root);
    free(text);
    text = weft("run s.yaml --variant willing --json");
    root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_link(json_object_get(root, "links"), "host-3/0", 2, 0);
    const json_t *end =
        json_array_get(json_object_get(link_between(json_object_get(root, "links"), "host-3/0"), "ends"), 1);
    assert_int_equal(json_integer_value(json_object_get(end, "lldp_received")), 1);
    json_decref(root);
    free(text);
    text = weft("run s.yaml --variant off --json");
    root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_null(json_object_get(root, "links"));
    json_decref(root);
    free(text);
}

static void after_a_run(void **state) {
    char *text = weft("run s.yaml --variant on --quiet");
    if (!strstr(text, SIX_DIFFER HEAD "     6  leaf - host        both ")) fail_msg("%s", text);
    assert_null(strstr(text, "leaf - spine")); // only what differs
    free(text);
    text = weft("run s.yaml --variant willing --quiet");
    if (!strstr(text, NO_DIFFERENCE)) fail_msg("%s", text);
    assert_null(strstr(text, "lossless"));
    free(text);
    text = weft("run s.yaml --variant off --quiet");
    assert_null(strstr(text, "DCBX"));
    free(text);
}

static void expect(const char *query, const char *expected) {
    sqlite3 *db;
    sqlite3_stmt *statement;
    char got[1024] = "";
    assert_int_equal(sqlite3_open("out/results.sqlite", &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, query, -1, &statement, NULL), SQLITE_OK);
    while (sqlite3_step(statement) == SQLITE_ROW)
        for (int i = 0; i < sqlite3_column_count(statement); i++)
            snprintf(got + strlen(got), sizeof got - strlen(got), "%s|", sqlite3_column_text(statement, i));
    sqlite3_finalize(statement);
    sqlite3_close(db);
    assert_string_equal(got, expected);
}

static void in_sqlite(void **state) {
    free(weft("run s.yaml --variant on --quiet --force --out out"));
    expect("SELECT ports.name, speaks, hears, configured, in_force, lossless, lldp_sent, lldp_received FROM links_ends "
           "JOIN links USING (run, link) JOIN "
           "ports ON ports.port = port_number AND ports.run = links.run WHERE ports.name IN ('host-0/0', 'leaf-0/0') "
           "ORDER BY ports.name",
           "host-0/0|1|1|3|3|3|1|1|leaf-0/0|1|1|3,4|3,4|3|1|1|");
    expect("SELECT count(*), count(DISTINCT port_number), min(priorities), min(consequence) FROM links_differences",
           "6|6|4|priority 4 is lossy on this link|");
    expect("SELECT count(*) FROM links_ends", "20|");
    expect("SELECT value FROM config WHERE path = 'dcbx.apps'", "udp:4791:3|");
    expect("PRAGMA foreign_key_check", "");
    free(weft("run s.yaml --variant off --quiet --force --out out"));
    expect("SELECT count(*) FROM links_ends", "0|");
}

/// A group that is full as DCBX makes it lossless again, here as a link comes back, is paused because of the output
/// that its packets wait for, and not of its own port, where nothing waits.
static void a_pause_without_a_packet_has_its_cause(void **state) {
    (void)state;
    FILE *file = fopen("s.yaml", "w");
    assert_non_null(file);
    fputs("topology: {kind: single, hosts: 4, rate: 10Gbps, delay: 1us}\nhardware: ideal\n"
          "switch: {pfc: {priorities: [3]}, buffer: {kind: static, size: 43KB, xoff: 10KB, xon: 5KB}}\n"
          "host: {timeout: 1ms, pfc: {priorities: 4}}\ndcbx: {enabled: true}\n"
          "devices: [{match: 'switch*', dcbx: {willing: true}}]\nrun: {until: 300us}\n"
          "events: [{at: 200us, link: host-1--switch-0, state: down}, {at: 201us, link: host-1--switch-0, state: up}]\n"
          "workload: [{kind: incast, sources: host-1..3, dst: host-0, size: 20MB, priority: 3}]\n",
          file);
    fclose(file);
    free(weft("run s.yaml --quiet --out out --force"));
    expect("SELECT count(*) > 0 FROM events WHERE kind = 'xoff'", "1|");
    expect("SELECT count(*) FROM events WHERE kind = 'congested' AND value = 0", "0|");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_links),
        cmocka_unit_test(as_json),
        cmocka_unit_test(after_a_run),
        cmocka_unit_test(in_sqlite),
        cmocka_unit_test(a_pause_without_a_packet_has_its_cause),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
