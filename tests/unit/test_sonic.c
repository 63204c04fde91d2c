// SPDX-License-Identifier: Apache-2.0
// config_db.json of SONiC: both styles of references, profiles that SONiC computes, what a switch becomes, bad files.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <unistd.h>

#include "run.h"
#include "weft/import.h"
#include "weft/sonic.h"

static char folder[] = "/tmp/weft-sonic-XXXXXX";
static char file_path[64];

static int setup(void **state) {
    if (!mkdtemp(folder)) return -1;
    snprintf(file_path, sizeof file_path, "%s/config_db.json", folder);
    return 0;
}

static int teardown(void **state) {
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static void put(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static struct weft_sonic *read_text(const char *text, struct weft_arena *arena) {
    struct weft_error error = {0};
    struct weft_sonic *s = NULL;
    put(file_path, text);
    if (weft_sonic_read(&(const char *){file_path}, 1, NULL, arena, &s, &error)) fail_msg("%s", error.text);
    return s;
}

#define PORTS                                                                                                          \
    "\"PORT\": {\"Ethernet0\": {\"speed\": \"400000\", \"lanes\": \"1,2,3,4\"}, \"Ethernet4\": {\"speed\": 100000, "   \
    "\"lanes\": \"5,6,7,8\", \"mtu\": \"9100\"}}"
#define POOL "\"BUFFER_POOL\": {\"in\": {\"type\": \"ingress\", \"mode\": \"dynamic\", \"size\": \"60000000\"}}"
#define PROFILE                                                                                                        \
    "\"BUFFER_PROFILE\": {\"lossless\": {\"pool\": \"%s\", \"size\": \"20000\", \"xoff\": \"300000\", "                \
    "\"xon_offset\": "                                                                                                 \
    "\"3556\", \"dynamic_th\": \"-2\"}}"

/// References as names and as [TABLE|name] are the same; keys list ports and ranges of priorities.
static void both_styles(void **state) {
    static const char *const styles[][4] = {
        {"in", "lossless", "W", "S"},
        {"[BUFFER_POOL|in]", "[BUFFER_PROFILE|lossless]", "[WRED_PROFILE|W]", "[SCHEDULER|S]"}};
    for (int i = 0; i < 2; i++) {
        struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
        const char *const *name = styles[i];
        struct weft_sonic *s =
            read_text(weft_arena_format(
                          arena,
                          "{" PORTS "," POOL "," PROFILE ", \"BUFFER_PG\": {\"Ethernet0,Ethernet4|3-4\": "
                          "{\"profile\": \"%s\"}}, \"WRED_PROFILE\": {\"W\": {\"ecn\": \"ecn_all\", "
                          "\"green_min_threshold\": \"1000\", \"green_max_threshold\": \"2000\"}}, \"SCHEDULER\": "
                          "{\"S\": {\"type\": \"STRICT\"}}, \"QUEUE\": {\"Ethernet4|3\": {\"wred_profile\": \"%s\", "
                          "\"scheduler\": \"%s\"}}}",
                          name[0], name[1], name[2], name[3]),
                      arena);
        for (uint32_t p = 0; p < 2; p++) {
            assert_null(s->port[p].pg[2]);
            assert_ptr_equal(s->port[p].pg[3], s->profile);
            assert_ptr_equal(s->port[p].pg[4], s->profile);
            assert_null(s->port[p].pg[5]);
        }
        assert_ptr_equal(s->profile->pool, s->pool);
        assert_int_equal(s->profile->xoff_bytes, 300000);
        assert_int_equal(s->profile->dynamic_th, -2);
        assert_null(s->port[0].wred[3]);
        assert_true(s->port[1].wred[3]->marks);
        assert_int_equal(s->port[1].wred[3]->percent, 100); // the default of sonic-wred-profile.yang
        assert_string_equal(s->port[1].scheduler[3]->type, "STRICT");
        assert_int_equal(s->port[1].rate_bps, UINT64_C(100000000000));
        weft_arena_free(arena);
    }
}

/// 5 m at 400G is 208 KiB: `weft plan pfc --rate 400Gbps --cable 5m --formula sonic`.
static void what_sonic_computes(void **state) {
    static const char *const groups[] = {
        "\"BUFFER_PG\": {\"Ethernet0|3\": {\"profile\": \"NULL\"}},",
        "\"BUFFER_PG\": {\"Ethernet0|3\": {}},",
        "\"BUFFER_PG\": {\"Ethernet0|3\": {\"profile\": \"[BUFFER_PROFILE|pg_lossless_400000_5m_profile]\"}},",
        "\"PORT_QOS_MAP\": {\"Ethernet0\": {\"pfc_enable\": \"3\"}},",
    };
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
        struct weft_sonic *s =
            read_text(weft_arena_format(arena,
                                        "{%s" PORTS "," POOL ", \"CABLE_LENGTH\": {\"AZURE\": {\"Ethernet0\": "
                                        "\"5m\", \"Ethernet99\": \"5m\"}}}",
                                        groups[i]),
                      arena);
        assert_non_null(s->port[0].pg[3]);
        assert_int_equal(s->port[0].pg[3]->xoff_bytes, 208 * 1024);
        assert_string_equal(s->port[0].pg[3]->name, "pg_lossless_400000_5m_profile");
        assert_ptr_equal(s->port[0].pg[3]->pool, s->pool);
        assert_true(s->port[0].pg[3]->computed);
        assert_null(s->port[1].pg[3]);
        weft_arena_free(arena);
    }
}

/// With a headroom pool, or as many groups to a share of it, a group has only XON for itself: 18 KiB assumed.
static void shared_headroom(void **state) {
    static const struct {
        const char *pool, *more;
        uint32_t size_kib;
    } file[] = {
        {POOL, "", 208 + 18},
        {"\"BUFFER_POOL\": {\"in\": {\"type\": \"ingress\", \"mode\": \"dynamic\", \"size\": \"60000000\", \"xoff\": "
         "\"2000000\"}}",
         "", 18},
        {POOL, ", \"DEFAULT_LOSSLESS_BUFFER_PARAMETER\": {\"AZURE\": {\"over_subscribe_ratio\": \"2\"}}", 18},
        {POOL, ", \"DEFAULT_LOSSLESS_BUFFER_PARAMETER\": {\"AZURE\": {\"over_subscribe_ratio\": \"0\"}}", 208 + 18},
    };
    for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
        struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
        struct weft_sonic *s =
            read_text(weft_arena_format(arena,
                                        "{\"BUFFER_PG\": {\"Ethernet0|3\": {\"profile\": \"NULL\"}}," PORTS
                                        ", %s, \"CABLE_LENGTH\": {\"AZURE\": {\"Ethernet0\": \"5m\"}}%s}",
                                        file[i].pool, file[i].more),
                      arena);
        assert_int_equal(s->port[0].pg[3]->xoff_bytes, 208 * 1024);
        assert_int_equal(s->port[0].pg[3]->size_bytes, file[i].size_kib * 1024);
        weft_arena_free(arena);
    }
}

/// 100 m at 100G by hand, cells of 144 B (3 for 144 B of packets of 64 B): 9100 + 820 + 12626 of cable (5.05 ns a
/// metre) + 394 quanta of 64 B = 47761 B under way, times (100 - s + 3 s) / 100 with s the share of small packets in
/// bytes. Of all packets s = 100; of half of them and 4096 B s = 100 x 64 / 2080 = 3.08.
static void traffic_patterns(void **state) {
    static const struct {
        const char *pattern;
        uint32_t xoff_kib;
    } file[] = {
        {"", 141}, // 1024 + 3 x 47761
        {", \"LOSSLESS_TRAFFIC_PATTERN\": {\"AZURE\": {\"mtu\": \"1024\", \"small_packet_percentage\": \"100\"}}", 141},
        {", \"LOSSLESS_TRAFFIC_PATTERN\": {\"AZURE\": {\"mtu\": \"4096\", \"small_packet_percentage\": \"50\"}}", 54},
        {", \"LOSSLESS_TRAFFIC_PATTERN\": {\"AZURE\": {\"mtu\": \"9100\", \"small_packet_percentage\": \"100\"}}", 149},
    };
    for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
        struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
        struct weft_sonic *s =
            read_text(weft_arena_format(arena,
                                        "{\"BUFFER_PG\": {\"Ethernet4|3\": {\"profile\": \"NULL\"}}," PORTS "," POOL
                                        ", \"CABLE_LENGTH\": {\"AZURE\": {\"Ethernet4\": \"100m\"}}%s}",
                                        file[i].pattern),
                      arena);
        assert_int_equal(s->port[1].pg[3]->xoff_bytes, file[i].xoff_kib * 1024);
        weft_arena_free(arena);
    }
}

static void bad_files(void **state) {
    static const struct {
        const char *text, *expected;
    } bad[] = {
        {"{\n  \"PORT\": {\n", "config_db.json:3:"},
        {"{\"PORT\": {}, \"PORT\": {}}", "duplicate"},
        {"{\"PORT\": {}}", "PORT: expected a port at least"},
        {"{\"PORT\": 5}", "PORT: expected an object with rows"},
        {"{" PORTS ", \"LOSSLESS_TRAFFIC_PATTERN\": {\"AZURE\": {\"mtu\": \"0\"}}}",
         "LOSSLESS_TRAFFIC_PATTERN|AZURE.mtu: expected 64 at least"},
        {"{\"PORT\": {\"Ethernet0\": {\"speed\": \"fast\"}}}", "PORT|Ethernet0.speed: 'fast'; expected a whole number"},
        {"{\"PORT\": {\"Ethernet0\": {\"speed\": \"9\"}}}", "PORT|Ethernet0.speed: expected 10 to 100000000"},
        {"{" PORTS ", \"BUFFER_PG\": {\"Ethernet8|3-4\": {\"profile\": \"x\"}}}", "there is no PORT 'Ethernet8'"},
        {"{" PORTS ", \"BUFFER_PG\": {\"Ethernet0|4-3\": {}}}", "BUFFER_PG|Ethernet0|4-3: '4-3'; expected priorities"},
        {"{" PORTS ", \"BUFFER_PG\": {\"Ethernet0|3\": {\"profile\": \"x\"}}}",
         "BUFFER_PG|Ethernet0|3.profile: there is no BUFFER_PROFILE 'x'"},
        {"{" PORTS ", \"BUFFER_PG\": {\"Ethernet0|3\": {\"profile\": \"[QUEUE|x]\"}}}",
         "expected a name or [BUFFER_PROFILE"},
        {"{" PORTS ", \"BUFFER_PG\": {\"Ethernet0|3\": {\"profile\": \"NULL\"}}}",
         "is left to SONiC, but CABLE_LENGTH says nothing of Ethernet0"},
        {"{" PORTS ", \"CABLE_LENGTH\": {\"AZURE\": {\"Ethernet0\": \"5\"}}}",
         "CABLE_LENGTH|AZURE.Ethernet0: \"5\" has no unit"},
        {"{" PORTS ", \"PORT_QOS_MAP\": {\"Ethernet0\": {\"pfc_enable\": \"3,8\"}}}",
         "PORT_QOS_MAP|Ethernet0.pfc_enable: '3,8'"},
        {"{" PORTS ", \"DSCP_TO_TC_MAP\": {\"A\": {\"64\": \"1\"}}}",
         "DSCP_TO_TC_MAP|A.64: '64'; expected a whole number of"},
        {"{" PORTS ", \"WRED_PROFILE\": {\"W\": {\"green_min_threshold\": \"9\", \"green_max_threshold\": \"8\"}}}",
         "WRED_PROFILE|W.green_max_threshold: is below"},
        {"{" PORTS ", \"PFC_WD\": {\"Ethernet0\": {\"action\": \"wait\"}}}", "PFC_WD|Ethernet0.action: 'wait'"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
        struct weft_error error = {0};
        struct weft_sonic *s;
        put(file_path, bad[i].text);
        assert_int_equal(weft_sonic_read(&(const char *){file_path}, 1, NULL, arena, &s, &error), WEFT_ERROR_INPUT);
        if (!strstr(error.text, bad[i].expected) || strncmp(error.text, file_path, strlen(file_path)))
            fail_msg("'%s': '%s' where '%s' was expected", bad[i].text, error.text, bad[i].expected);
        weft_arena_free(arena);
    }
}

/// SONiC takes the speed of a port without one from its platform's files: here from the importer's rate. What would be
/// computed from it is not.
static void speed_not_said(void **state) {
    const char *path = file_path;
    char *text = NULL;
    size_t size;
    struct weft_error error = {0};
    put(file_path, "{\"PORT\": {\"Ethernet0\": {}, \"Ethernet4\": {\"speed\": \"100000\"}}}");
    FILE *out = open_memstream(&text, &size);
    weft_import_write(weft_model_find(WEFT_KIND_IMPORT, "sonic"), NULL, &path, 1, "", out, NULL, &error);
    fclose(out);
    assert_string_equal(error.text, "");
    assert_non_null(strstr(text, "speed of the 1 ports of which PORT says none (rate)"));
    assert_non_null(strstr(text, "to_port: Ethernet0, rate: 200Gbps"));
    assert_non_null(strstr(text, "to_port: Ethernet4, rate: 100Gbps"));
    free(text);
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    struct weft_sonic *s;
    put(file_path, "{\"PORT\": {\"Ethernet0\": {}}, \"CABLE_LENGTH\": {\"AZURE\": {\"Ethernet0\": \"5m\"}}, "
                   "\"BUFFER_PG\": {\"Ethernet0|3\": {\"profile\": \"NULL\"}}}");
    assert_int_equal(weft_sonic_read(&(const char *){file_path}, 1, NULL, arena, &s, &error), WEFT_ERROR_INPUT);
    assert_non_null(strstr(error.text, "is left to SONiC, but PORT says no speed of Ethernet0"));
    weft_arena_free(arena);
}

/// A watchdog that SONiC refuses to start is lost, and the import says so.
static void watchdogs_that_sonic_refuses(void **state) {
    static const struct {
        const char *row, *expected;
    } cases[] = {
        {"\"detection_time\": \"0\"", "the PFC watchdog (PFC_WD|Ethernet0): SONiC refuses its detection_time, 0ms"},
        {"\"restoration_time\": \"400\"", "the PFC watchdog (PFC_WD|Ethernet0): it has no detection_time"},
        {"\"detection_time\": \"200\", \"restoration_time\": \"0\"", "the restoration_time of PFC_WD|Ethernet0: SONiC"},
        {"\"detection_time\": \"200\"", "watchdog: 200ms"},
    };
    const char *path = file_path;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
        struct weft_error error = {0};
        char *text = NULL;
        size_t size;
        put(file_path, weft_arena_format(arena, "{" PORTS ", \"PFC_WD\": {\"Ethernet0\": {%s}}}", cases[i].row));
        FILE *out = open_memstream(&text, &size);
        weft_import_write(weft_model_find(WEFT_KIND_IMPORT, "sonic"), NULL, &path, 1, "", out, NULL, &error);
        fclose(out);
        if (!strstr(text, cases[i].expected)) fail_msg("%s: %s", cases[i].row, text);
        assert_null(strstr(text, "restore:"));
        free(text);
        weft_arena_free(arena);
    }
}

/// The sample: what its scenario says, and that it runs without loss.
static void the_sample_runs(void **state) {
    char path[512], *text = NULL;
    size_t size;
    struct run r = {0};
    snprintf(path, sizeof path, "%s/examples/import/sonic/config_db.json", getenv("WEFT_ROOT"));
    const char *paths[] = {path};
    FILE *out = open_memstream(&text, &size);
    if (weft_import_write(weft_model_find(WEFT_KIND_IMPORT, "sonic"), NULL, paths, 1, folder, out, NULL, &r.error))
        fail_msg("%s", r.error.text);
    fclose(out);
    put(file_path, text);
    if (weft_scenario_file_read(file_path, NULL, 0, &r.file, &r.error) || run_bind(&r, 0)) fail_msg("%s", r.error.text);
    const struct weft_switch_conf *sw = &weft_scenario_device(r.scenario, "leaf-1")->sw;
    assert_string_equal(sw->buffer.model->name, "dynamic");
    assert_string_equal(sw->aqm.model->name, "wred");
    assert_string_equal(sw->scheduler.model->name, "dwrr");
    assert_int_equal(sw->pfc.priorities, 1 << 3 | 1 << 4);
    assert_int_equal(sw->pfc.watchdog_ps, 200 * WEFT_PS_PER_MS);
    assert_int_equal(sw->dscp_map[3], 3);
    assert_int_equal(sw->dscp_map[46], 5);
    assert_int_equal(sw->dscp_map[48], 6);
    assert_int_equal(r.topology->hosts, 7);
    assert_int_equal(r.topology->link[0].delay_ps, 25 * WEFT_PS_PER_NS);
    assert_int_equal(r.topology->link[6].delay_ps, 200 * WEFT_PS_PER_NS);
    r.outcome = run_again(&r, 1, text);
    assert_non_null(strstr(text, "Left out:"));
    free(text);
    run_free(&r);
}

/// Profiles that SONiC computes are those of the device's file, if it has their speed and cable.
static void looked_up(void **state) {
    static const char config[] =
        "{" PORTS ", \"CABLE_LENGTH\": {\"A\": {\"Ethernet0\": \"40m\", \"Ethernet4\": \"5m\"}}, "
        "\"BUFFER_POOL\": {\"ingress_lossless_pool\": {\"type\": \"ingress\", \"mode\": \"%s\", \"size\": "
        "\"60000000\"}}, "
        "\"PORT_QOS_MAP\": {\"Ethernet0,Ethernet4\": {\"pfc_enable\": \"3\"}}}";
    static const char *const modes[] = {"dynamic", "static"};
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    struct weft_error error = {0};
    char path[512], text[2048];
    snprintf(path, sizeof path, "%s/pg_profile_lookup.ini", folder);
    put(path, "# PG lossless profiles.\n# speed cable size xon xoff threshold xon_offset\n"
              " 400000 40m 18796 100 612140 3 3556\n400000 5m 18796 0 500000 -1\n400000 5m 18796 0 500000 -1\n");
    for (uint32_t mode = 0; mode < 2; mode++) {
        struct weft_sonic_lookup *lookup = NULL;
        struct weft_sonic *s = NULL;
        if (weft_sonic_lookup_read(path, arena, &lookup, &error)) fail_msg("%s", error.text);
        assert_int_equal(lookup->rows, 2); // the same line again is no other
        snprintf(text, sizeof text, config, modes[mode]);
        put(file_path, text);
        if (weft_sonic_read(&(const char *){file_path}, 1, lookup, arena, &s, &error)) fail_msg("%s", error.text);
        const struct weft_sonic_profile *p = s->port[0].pg[3], *other = s->port[1].pg[3];
        assert_string_equal(p->name, "pg_lossless_400000_40m_profile");
        assert_true(p->looked_up && !p->unlisted);
        assert_int_equal(p->xoff_bytes, 612140);
        assert_int_equal(p->xon_bytes, 100);
        assert_int_equal(p->xon_offset_bytes, 3556);
        assert_int_equal(p->size_bytes, 18796);
        assert_int_equal(mode ? (int64_t)p->static_bytes : p->dynamic_th, 3);
        assert_true(p->has_static == mode && p->has_dynamic != mode);
        assert_true(other->unlisted && !other->looked_up && other->xoff_bytes > 0); // 100G and 5m: by the formula
    }
    weft_arena_free(arena);
}

static void bad_lookups(void **state) {
    static const char *const cases[][2] = {
        {"400000 5m 1 2\n", ":1:14: the line ends here; expected xoff"},
        {"400000 5 1 2 3 4\n", ":1:8: a cable: \"5\" has no unit"},
        {"# x\n4x 5m 1 2 3 4\n", ":2:1: a speed in Mbit/s"},
        {"9 5m 1 2 3 4\n", ":1:1: speed 9: expected Mbit/s, 10 to 100000000"},
        {"400000 5m 1 2 3 4 5 6\n", "'6' after xon_offset"},
        {"400000 5m 1 2 3 x\n", ":1:17: 'x': expected a threshold"},
        {"400000 5m 1 2 3\n", "the line ends: expected a threshold"},
        {"400000 5m 1 2 18446744073709551616 0\n", ":1:15: xoff"},
        {"400000 2000km 1 2 3 0\n", "expected a cable of at most 1000km"},
        {"400000 5m 1 2 3 0\n400000 5m 1 2 4 0\n", ":2:1: a second profile of 400000 Mbit/s and 5m"},
    };
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    char path[512];
    snprintf(path, sizeof path, "%s/pg_profile_lookup.ini", folder);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct weft_sonic_lookup *lookup = NULL;
        struct weft_error error = {0};
        put(path, cases[i][0]);
        assert_int_equal(weft_sonic_lookup_read(path, arena, &lookup, &error), WEFT_ERROR_INPUT);
        if (!strstr(error.text, cases[i][1])) fail_msg("%s: %s", cases[i][0], error.text);
    }
    weft_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(looked_up),
        cmocka_unit_test(bad_lookups),
        cmocka_unit_test(both_styles),
        cmocka_unit_test(what_sonic_computes),
        cmocka_unit_test(shared_headroom),
        cmocka_unit_test(traffic_patterns),
        cmocka_unit_test(bad_files),
        cmocka_unit_test(speed_not_said),
        cmocka_unit_test(watchdogs_that_sonic_refuses),
        cmocka_unit_test(the_sample_runs),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
