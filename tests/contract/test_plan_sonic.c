// SPDX-License-Identifier: Apache-2.0
// weft plan sonic: each rule finds its fault, and a patch applied leaves nothing that a patch can mend.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/weft-plan-sonic-XXXXXX";

static int setup(void **state) {
    return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state) {
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

/// What `weft plan sonic --json` says; its exit status is 5 if it finds anything.
static json_t *judged(json_t *config) {
    char path[128], command[1024];
    snprintf(path, sizeof path, "%s/config_db.json", folder);
    assert_int_equal(json_dump_file(config, path, 0), 0);
    snprintf(command, sizeof command, "'%s' plan sonic '%s' --json", getenv("WEFT"), path);
    FILE *pipe = popen(command, "r");
    json_error_t why;
    json_t *result = json_loadf(pipe, 0, &why);
    if (!result) fail_msg("%s", why.text);
    int status = pclose(pipe) >> 8;
    size_t i;
    json_t *finding;
    json_array_foreach(json_object_get(result, "findings"), i, finding) { // no port counts twice
        size_t ports = (size_t)json_integer_value(json_object_get(finding, "ports"));
        assert_true(ports <= json_object_size(json_object_get(config, "PORT")));
    }
    assert_int_equal(status, json_array_size(json_object_get(result, "findings")) ? 5 : 0);
    return result;
}

static json_t *sample(void) {
    char path[512];
    snprintf(path, sizeof path, "%s/examples/import/sonic/config_db.json", getenv("WEFT_ROOT"));
    json_t *config = json_load_file(path, 0, NULL);
    assert_non_null(config);
    return config;
}

/// The next part of a JSON pointer, unescaped; *at is after it.
static void next_part(const char **at, char *part) {
    assert_int_equal(**at, '/');
    for (++*at; **at && **at != '/'; ++*at) {
        *part = **at;
        if (**at == '~') *part = *++*at == '1' ? '/' : '~';
        part++;
    }
    *part = 0;
}

static void apply(json_t *config, const json_t *patch) {
    size_t i;
    json_t *op;
    json_array_foreach(patch, i, op) {
        const char *path = json_string_value(json_object_get(op, "path"));
        bool replace = !strcmp(json_string_value(json_object_get(op, "op")), "replace");
        json_t *at = config;
        char part[256];
        for (next_part(&path, part); *path; next_part(&path, part)) {
            at = json_object_get(at, part);
            assert_true(json_is_object(at));
        }
        assert_int_equal(json_object_get(at, part) != NULL, replace);
        json_object_set(at, part, json_object_get(op, "value"));
        assert_true(json_string_length(json_object_get(op, "reason")) > 0);
    }
}

static const json_t *find(const json_t *result, const char *rule) {
    size_t i;
    json_t *finding;
    json_array_foreach(json_object_get(result, "findings"), i, finding) {
        if (!strcmp(json_string_value(json_object_get(finding, "rule")), rule)) return finding;
    }
    return NULL;
}

static void set(json_t *config, const char *table, const char *key, const char *field, const char *value) {
    json_t *row = json_object_get(json_object_get(config, table), key);
    assert_non_null(row);
    json_object_set_new(row, field, json_string(value));
}

static void the_sample_is_sound(void **state) {
    json_t *config = sample(), *result = judged(config);
    char *text = json_dumps(result, 0);
    if (json_array_size(json_object_get(result, "findings"))) fail_msg("%s", text);
    free(text);
    json_decref(result);
    json_decref(config);
}

/// What SONiC's own buffers of Dell and Broadcom switches have: lossy profiles with a static threshold above the pool
/// in a dynamic pool (they have no limit of their own), and a dynamic one in a static pool. SAI has the mode in the
/// profile.
static void thresholds_of_lossy_profiles(void **state) {
    json_t *config = sample();
    json_object_del(json_object_get(json_object_get(config, "BUFFER_PROFILE"), "ingress_lossy_profile"), "dynamic_th");
    set(config, "BUFFER_PROFILE", "ingress_lossy_profile", "static_th", "99000000000");
    set(config, "BUFFER_POOL", "egress_lossless_pool", "mode", "dynamic");
    json_t *result = judged(config);
    char *text = json_dumps(result, 0);
    if (json_array_size(json_object_get(result, "findings"))) fail_msg("%s", text);
    free(text);
    json_decref(result);
    json_decref(config);
}

static const struct fault {
    const char *table, *key, *field, *value, *rule;
    bool mended;
} faults[] = {
    {"BUFFER_PROFILE", "pg_lossless_400000_5m_profile", "xoff", "50000", "headroom", true},
    {"CABLE_LENGTH", "AZURE", "Ethernet0", "2km", "headroom", true},
    {"CABLE_LENGTH", "AZURE", "Ethernet0", "0m", "headroom", false},
    {"BUFFER_PROFILE", "pg_lossless_400000_5m_profile", "size", "20000", "pool", true},
    {"BUFFER_POOL", "ingress_lossless_pool", "size", "1000000", "pool", false},
    {"BUFFER_PROFILE", "pg_lossless_400000_5m_profile", "static_th", "65000000000", "threshold", true},
    {"BUFFER_PROFILE", "pg_lossless_400000_5m_profile", "dynamic_th", "-6", "ecn", true},
    {"WRED_PROFILE", "AZURE_LOSSLESS", "green_max_threshold", "60000000", "ecn", true},
    {"WRED_PROFILE", "AZURE_LOSSLESS", "ecn", "ecn_none", "ecn", true},
    {"PORT_QOS_MAP", "Ethernet8", "pfc_enable", "3", "pfc", true},
    {"BUFFER_PG", "Ethernet8|3-4", "profile", "ingress_lossy_profile", "pfc", true},
    {"TC_TO_QUEUE_MAP", "AZURE", "3", "2", "map", true},
    {"TC_TO_PRIORITY_GROUP_MAP", "AZURE", "4", "0", "map", true},
    {"TC_TO_PRIORITY_GROUP_MAP", "AZURE", "4", "3", "map", true},
    {"DSCP_TO_TC_MAP", "AZURE", "3", "1", "map", false},
    {"PFC_WD", "Ethernet0", "detection_time", "50", "watchdog", true},
    {"PFC_WD", "Ethernet0", "restoration_time", "70000", "watchdog", true},
    {"PFC_WD", "GLOBAL", "POLL_INTERVAL", "300", "watchdog", true},
    {"PFC_WD", "Ethernet0", "detection_time", "0", "watchdog", true},
    {"PFC_WD", "Ethernet0", "restoration_time", "0", "watchdog", true},
    {"PFC_WD", "GLOBAL", "POLL_INTERVAL", "0", "watchdog", true},
};
enum { FAULTS = sizeof faults / sizeof *faults };

/// Patched and judged again, no finding has a patch.
static void assert_mends(json_t *config, const json_t *result) {
    apply(config, json_object_get(result, "patch"));
    json_t *again = judged(config);
    char *text = json_dumps(again, 0);
    if (json_array_size(json_object_get(again, "patch"))) fail_msg("%s", text);
    free(text);
    json_decref(again);
}

/// Both priorities have lost their code points: one finding of each port, which names both.
static void priorities_of_one_finding(void **state) {
    json_t *config = sample();
    set(config, "DSCP_TO_TC_MAP", "AZURE", "3", "1");
    set(config, "DSCP_TO_TC_MAP", "AZURE", "4", "1");
    json_t *result = judged(config);
    const json_t *finding = find(result, "map");
    assert_int_equal(json_integer_value(json_object_get(finding, "ports")), 8);
    assert_non_null(strstr(json_string_value(json_object_get(finding, "reason")), "lossless priorities 3,4"));
    json_decref(result);
    json_decref(config);
}

/// A threshold of nothing is one: the group pauses its input at once, before any mark.
static void the_lowest_thresholds(void **state) {
    static const char *const values[] = {"0", "1", "1000000"};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        json_t *config = sample();
        const char *profile = "pg_lossless_400000_5m_profile";
        json_object_del(json_object_get(json_object_get(config, "BUFFER_PROFILE"), profile), "dynamic_th");
        set(config, "BUFFER_PROFILE", profile, "static_th", values[i]);
        json_t *result = judged(config);
        const json_t *finding = find(result, "ecn");
        assert_non_null(finding);
        assert_int_equal(json_is_true(json_object_get(finding, "patch")), i > 0);
        assert_mends(config, result);
        json_decref(result);
        json_decref(config);
    }
}

static void each_fault_is_found_and_mended(void **state) {
    for (size_t i = 0; i < FAULTS; i++) {
        const struct fault *f = &faults[i];
        json_t *config = sample();
        set(config, f->table, f->key, f->field, f->value);
        json_t *result = judged(config);
        const json_t *finding = find(result, f->rule);
        if (!finding || json_is_true(json_object_get(finding, "patch")) != f->mended)
            fail_msg("%s|%s.%s: %s", f->table, f->key, f->field, json_dumps(result, 0));
        assert_mends(config, result);
        json_decref(result);
        json_decref(config);
    }
}

static void faults_together(void **state) {
    for (size_t a = 0; a < FAULTS; a++) {
        json_t *config = sample();
        for (size_t k = 0; k < 4; k++) {
            const struct fault *f = &faults[(a + k * 5) % FAULTS];
            set(config, f->table, f->key, f->field, f->value);
        }
        json_t *result = judged(config);
        assert_mends(config, result);
        json_decref(result);
        json_decref(config);
    }
}

/// A map that ports share, which cannot be right at all of them: nothing is patched there, rather than mended at one
/// port and broken at another.
static void shared_maps(void **state) {
    json_t *config = sample();
    set(config, "PORT_QOS_MAP", "Ethernet8", "pfc_enable", "1,4");
    set(config, "BUFFER_PG", "Ethernet48|0", "profile", "NULL"); // SONiC computes one with headroom
    json_t *result = judged(config);
    assert_false(json_is_true(json_object_get(find(result, "map"), "patch")));
    assert_mends(config, result);
    json_decref(result);
    json_decref(config);
}

/// A class between two lossless priorities keeps its queue: its share of the link is no matter of the patch, and each
/// priority is still reached.
static void a_class_keeps_its_queue(void **state) {
    json_t *config = sample();
    set(config, "TC_TO_PRIORITY_GROUP_MAP", "AZURE", "4", "3");
    json_t *result = judged(config);
    apply(config, json_object_get(result, "patch"));
    json_t *again = judged(config);
    assert_int_equal(json_array_size(json_object_get(again, "findings")), 0);
    const json_t *map = json_object_get(json_object_get(config, "TC_TO_QUEUE_MAP"), "AZURE");
    assert_string_equal(json_string_value(json_object_get(map, "4")), "4");
    json_decref(again);
    json_decref(result);
    json_decref(config);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sample_is_sound),
        cmocka_unit_test(thresholds_of_lossy_profiles),
        cmocka_unit_test(priorities_of_one_finding),
        cmocka_unit_test(the_lowest_thresholds),
        cmocka_unit_test(each_fault_is_found_and_mended),
        cmocka_unit_test(faults_together),
        cmocka_unit_test(shared_maps),
        cmocka_unit_test(a_class_keeps_its_queue),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
