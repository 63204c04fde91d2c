// SPDX-License-Identifier: Apache-2.0
// Configurations of SONiC as they are in the field (tests/data/sonic), judged and imported: pools of each vendor, thin
// headroom, profiles that a device lacks, dual-ToR maps, chassis, parts and dumps of a configuration.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <jansson.h>
#include <stdbool.h>
#include <string.h>

#include "command.h"

static int setup(void **state) {
    static struct fixture fixture = {.dir = "/tmp/weft-sonic-cases-XXXXXX"};
    *state = &fixture;
    return mkdtemp(fixture.dir) ? 0 : -1;
}

static json_t *data(const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s/tests/data/sonic/%s", getenv("WEFT_ROOT"), name);
    json_t *json = json_load_file(path, 0, NULL);
    assert_non_null(json);
    return json;
}

static void set(json_t *config, const char *table, const char *key, const char *field, const char *value) {
    json_t *row = json_object_get(json_object_get(config, table), key);
    assert_non_null(row);
    json_object_set_new(row, field, json_string(value));
}

static void put(struct fixture *f, const char *name, json_t *config) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", f->dir, name);
    assert_int_equal(json_dump_file(config, path, 0), 0);
    json_decref(config);
}

/// `weft plan sonic` of these files of the data; its findings, and its status is 5 if there are any.
static size_t plan(struct fixture *f, const char *files, const char *options) {
    char arguments[512] = "plan sonic --json", part[128];
    for (const char *at = files; *at; at += strcspn(at, " "), at += strspn(at, " ")) {
        const char *folder = strncmp(at, "./", 2) ? "\"$WEFT_ROOT\"/tests/data/sonic/" : "";
        snprintf(part, sizeof part, " %s%.*s", folder, (int)strcspn(at, " "), at);
        strcat(arguments, part);
    }
    strcat(arguments, options);
    int status = weft(f, arguments);
    json_t *result = json_loads(f->out, 0, NULL);
    if (!result) fail_msg("%s: %s", arguments, f->err);
    size_t findings = json_array_size(json_object_get(result, "findings"));
    assert_int_equal(status, findings ? 5 : 0);
    json_decref(result);
    return findings;
}

static void has(const struct fixture *f, const char *text) {
    if (!strstr(f->out, text)) fail_msg("no '%s' in: %s", text, f->out);
}

/// A pool of an NVIDIA switch is what groups have left (sonic-swss, buffer_pool_mellanox.lua: mmu_size less
/// accumulative_occupied_buffer): 2290432 B of 4580864 B pause one input, above a Kmax of 1500000 B. In SAI it contains
/// the groups' 64 x 66560 B: (4580864 - 4259840) / 2 = 160512 B.
static void pools_of_each_vendor(void **state) {
    struct fixture *f = *state;
    assert_int_equal(plan(f, "sn2700.json", ""), 0);
    json_t *config = data("sn2700.json");
    set(config, "DEVICE_METADATA", "localhost", "platform", "x86_64-unknown-r0");
    put(f, "c.json", config);
    assert_true(plan(f, "./c.json", "") > 0);
    has(f, "pauses an input at 160512B");
    config = data("sn2700.json");
    set(config, "DEVICE_METADATA", "localhost", "platform", "");
    set(config, "DEVICE_METADATA", "localhost", "hwsku", "ACS-MSN2700"); // the hwsku says it too
    put(f, "c.json", config);
    assert_int_equal(plan(f, "./c.json", ""), 0);
    config = data("sn2700.json"); // as shipped for T1: the groups have more than the pool
    set(config, "BUFFER_POOL", "ingress_lossless_pool", "size", "3302912");
    put(f, "c.json", config);
    assert_int_equal(plan(f, "./c.json", ""), 0);
    config = data("sn2700.json"); // shared headroom is besides the pool too
    set(config, "BUFFER_POOL", "ingress_lossless_pool", "xoff", "1048576");
    put(f, "c.json", config);
    assert_int_equal(plan(f, "./c.json", ""), 0);
    config = data("sn2700.json");
    set(config, "BUFFER_POOL", "ingress_lossless_pool", "size", "2900000"); // 1450000 B
    put(f, "c.json", config);
    assert_int_equal(plan(f, "./c.json", ""), 1);
    has(f, "pauses an input at 1450KB, before the 1500KB");
}

/// The import's switch pauses where SONiC's does: 52161690 B / 2 on an SN5600 with 64 ports; with a pool as in SAI
/// (52161690 - 128 x 303104) / 2, and the reserve of 19456 B of the group itself.
static void pools_of_imports(void **state) {
    static const struct {
        const char *platform, *xoff;
    } cases[] = {{"x86_64-nvidia_sn5600-r0", "26080845B"}, {"x86_64-unknown-r0", "6701645B"}};
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static const char *const tables[] = {"PORT", "BUFFER_PG", "PORT_QOS_MAP"};
        json_t *config = data("sn5600.json");
        json_t *cables = json_object_get(json_object_get(config, "CABLE_LENGTH"), "AZURE");
        set(config, "DEVICE_METADATA", "localhost", "platform", cases[i].platform);
        set(config, "BUFFER_PROFILE", "pg_lossless_x", "xoff", "283648");
        set(config, "BUFFER_PROFILE", "pg_lossless_x", "size", "303104");
        for (int p = 4; p < 64; p++)
            for (size_t t = 0; t < 3; t++) {
                char key[32];
                json_t *table = json_object_get(config, tables[t]);
                json_t *row = json_object_get(table, t == 1 ? "Ethernet0|3-4" : "Ethernet0");
                assert_non_null(row);
                snprintf(key, sizeof key, "Ethernet%d%s", 8 * p, t == 1 ? "|3-4" : "");
                json_object_set(table, key, row);
                if (!t) json_object_set_new(cables, key, json_string("40m"));
            }
        put(f, "c.json", config);
        assert_int_equal(weft(f, "import sonic c.json --out c.yaml --force"), 0);
        assert_int_equal(weft(f, "plan ecn c.yaml --run off --set "
                                 "'workload=[{kind: incast, sources: \"host-1,host-2\", dst: host-0, size: 1MB}]'"),
                         0);
        has(f, cases[i].xoff);
    }
}

/// NVIDIA's tables: 283648 B for 400G and 40 m on an SN5600 (ACS-SN5600), 104448 B on an SN5610N, whose traffic is half
/// of packets of 4096 B (Mellanox-SN5610N-C256S2), 38912 B for 100G on an SN2700. Enough for full frames: 105789 B.
static void thin_headroom(void **state) {
    static const struct {
        const char *platform, *pattern, *xoff, *rate, *cable;
        bool fits;
    } cases[] = {
        {"x86_64-nvidia_sn5600-r0", NULL, "110592", "400000", "40m", false},
        {"x86_64-nvidia_sn5600-r0", NULL, "283647", "400000", "40m", false},
        {"x86_64-nvidia_sn5600-r0", NULL, "283648", "400000", "40m", true},
        {"x86_64-nvidia_sn5600-r0", NULL, "677888", "400000", "300m", true},
        {"x86_64-nvidia_sn5600-r0", NULL, "676864", "400000", "300m", false},
        {"x86_64-nvidia_sn5610n-r0", "4096", "60416", "200000", "40m", true},
        {"x86_64-nvidia_sn5610n-r0", "4096", "243712", "400000", "300m", true},
        {"x86_64-mlnx_msn4700-r0", NULL, "373760", "400000", "300m", true},
        {"x86_64-mlnx_msn4700-r0", NULL, "372736", "400000", "300m", false},
        {"x86_64-arista_7050cx3_32s", NULL, "49408", "100000", "5m", false}, // lost packets: sonic-buildimage PR 11901
        {"x86_64-dellemc_z9864f_f9548-r0", NULL, "446024", "400000", "40m", true}, // as shipped
        {"x86_64-dellemc_z9332f_d1508-r0", NULL, "201930", "400000", "40m", true},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *config = data("sn5600.json"), *port;
        const char *name;
        set(config, "DEVICE_METADATA", "localhost", "platform", cases[i].platform);
        set(config, "BUFFER_PROFILE", "pg_lossless_x", "xoff", cases[i].xoff);
        set(config, "BUFFER_PROFILE", "pg_lossless_x", "size", "900000");
        json_object_foreach(json_object_get(config, "PORT"), name, port) {
            set(config, "PORT", name, "speed", cases[i].rate);
            set(config, "CABLE_LENGTH", "AZURE", name, cases[i].cable);
        }
        if (cases[i].pattern)
            json_object_set_new(
                config, "LOSSLESS_TRAFFIC_PATTERN",
                json_pack("{s{ssss}}", "AZURE", "mtu", cases[i].pattern, "small_packet_percentage", "50"));
        put(f, "c.json", config);
        plan(f, "./c.json", "");
        if (!strstr(f->out, "enough for full frames only") != cases[i].fits)
            fail_msg("%s %s %s: %s", cases[i].platform, cases[i].cable, cases[i].xoff, f->out);
    }
    assert_true(plan(f, "sn5600.json", "") > 0);
    has(f, "283648");
    has(f, "105789B");
}

/// SONiC sets no headroom where the device's table has no row (sonic-swss, buffermgr.cpp: "No PG profile configured for
/// speed"); what such a table would say is not in the file.
static void missing_profiles(void **state) {
    struct fixture *f = *state;
    static const char *const tables[] = {"one_speed.ini", "empty.ini"};
    for (size_t i = 0; i < 2; i++) {
        char options[128];
        snprintf(options, sizeof options, " --profiles \"$WEFT_ROOT\"/tests/data/sonic/%s", tables[i]);
        assert_int_equal(plan(f, "as7816.json", options), 3);
        has(f, "Ethernet0: the device's profiles have none for 100G with 40m of cable");
        has(f, "Ethernet16: the device's profiles have none for 100G with 40m of cable");
    }
    assert_int_equal(plan(f, "as7816.json", ""), 1);
    has(f, "the profile is not in the file, and assumed");
    json_t *config = data("as7816.json"); // computed by SONiC
    set(config, "DEVICE_METADATA", "localhost", "platform", "x86_64-nvidia_sn5600-r0");
    set(config, "DEVICE_METADATA", "localhost", "buffer_model", "dynamic");
    put(f, "c.json", config);
    assert_int_equal(plan(f, "./c.json", ""), 0);
    config = data("as7816.json");
    set(config, "DEVICE_METADATA", "localhost", "platform", "x86_64-nvidia_sn5600-r0");
    put(f, "c.json", config);
    assert_int_equal(plan(f, "./c.json", ""), 1);
    has(f, "the profile is not in the file, and assumed");
    assert_true(plan(f, "as7816.json", " --profiles \"$WEFT_ROOT\"/tests/data/sonic/sn2201.ini") > 0);
    has(f, "xoff of 38KiB"); // the row of 100G and 40 m; that of 100 Mbit/s is read
    assert_int_equal(weft(f, "import sonic \"$WEFT_ROOT\"/tests/data/sonic/as7816.json "
                             "\"$WEFT_ROOT\"/tests/data/sonic/empty.ini"),
                     0);
    has(f, "SONiC itself sets no headroom");
}

/// Traffic classes up to 15 (sonic-types.yang): class 8 of a dual ToR.
static void traffic_classes(void **state) {
    struct fixture *f = *state;
    assert_int_equal(plan(f, "dualtor.json", ""), 0);
    assert_int_equal(weft(f, "import sonic \"$WEFT_ROOT\"/tests/data/sonic/dualtor.json"), 0);
    json_t *config = data("dualtor.json");
    set(config, "DSCP_TO_TC_MAP", "AZURE", "33", "16");
    put(f, "c.json", config);
    assert_int_equal(weft(f, "plan sonic c.json"), 2);
    assert_non_null(strstr(f->err, "DSCP_TO_TC_MAP|AZURE.33: '16'; expected a whole number of at most 15"));
    config = data("dualtor.json"); // a class above 7 is judged as any other
    set(config, "TC_TO_QUEUE_MAP", "AZURE", "8", "3");
    set(config, "TC_TO_PRIORITY_GROUP_MAP", "AZURE", "8", "0");
    put(f, "c.json", config);
    assert_int_equal(plan(f, "./c.json", ""), 1);
    has(f, "class 8 has queue 3");
}

/// Keys hostname|asic|port|queues of a chassis: those of another line card or asic are left out.
static void keys_of_a_chassis(void **state) {
    struct fixture *f = *state;
    assert_int_equal(plan(f, "chassis.json", ""), 0);
    assert_int_equal(weft(f, "import sonic \"$WEFT_ROOT\"/tests/data/sonic/chassis.json"), 0);
    json_t *config = data("chassis.json"), *queue = json_object_get(config, "BUFFER_QUEUE");
    json_object_set_new(queue, "sw-2|asic0|Ethernet999|3-4", json_object());
    json_object_set_new(queue, "sw-1|asic1|Ethernet999|3-4", json_object());
    put(f, "c.json", config);
    assert_int_equal(plan(f, "./c.json", ""), 0);
    config = data("chassis.json");
    json_object_set_new(json_object_get(config, "BUFFER_QUEUE"), "SW-1|Asic0|Ethernet999|3-4", json_object());
    put(f, "c.json", config);
    assert_int_equal(weft(f, "plan sonic c.json"), 2);
    assert_non_null(strstr(f->err, "there is no PORT 'Ethernet999'"));
    config = data("chassis.json");
    json_object_del(json_object_get(json_object_get(config, "DEVICE_METADATA"), "localhost"), "hostname");
    put(f, "c.json", config);
    assert_int_equal(weft(f, "plan sonic c.json"), 2);
    assert_non_null(strstr(f->err, "expected DEVICE_METADATA|localhost.hostname"));
}

/// qos.json and buffers.json as SONiC renders them, and CONFIG_DB.json of show techsupport.
static void parts_and_dumps(void **state) {
    struct fixture *f = *state;
    assert_int_equal(plan(f, "ports.json qos.json buffers.json", ""), 0);
    assert_int_equal(plan(f, "dump.json", ""), 0);
    // A part that is not given is named, once, and nothing is patched for want of it.
    assert_int_equal(plan(f, "ports.json buffers.json", ""), 1);
    has(f, "\"where\":\"PORT_QOS_MAP\"");
    has(f, "\"patch\":[]");
    assert_int_equal(plan(f, "ports.json qos.json", ""), 1);
    has(f, "\"where\":\"CABLE_LENGTH\"");
    has(f, "\"patch\":[]");
    static const char *const parts[] = {"qos.json", "buffers.json"};
    for (size_t i = 0; i < 2; i++) {
        char arguments[256];
        snprintf(arguments, sizeof arguments, "plan sonic \"$WEFT_ROOT\"/tests/data/sonic/%s", parts[i]);
        assert_int_equal(weft(f, arguments), 2);
        assert_non_null(strstr(f->err, "this is a part of config_db.json; expected the file with PORT as well"));
    }
#define SONIC_DATA "\"$WEFT_ROOT\"/tests/data/sonic/"
    assert_int_equal(
        weft(f, "import sonic " SONIC_DATA "buffers.json " SONIC_DATA "ports.json " SONIC_DATA "qos.json --out a.yaml"),
        0);
    assert_int_equal(weft(f, "import sonic " SONIC_DATA "dump.json --out b.yaml"), 0);
    put(f, "c.json", json_pack("{s{ss}}", "SYSLOG_SERVER|10.0.0.1", "NULL", "NULL"));
    assert_int_equal(weft(f, "import c.json"), 0); // recognised by the form of its keys
    has(f, "config_db (sonic)");
    assert_int_equal(weft(f, "import sonic " SONIC_DATA "buffers.json " SONIC_DATA "ports.json --out part.yaml"), 0);
    assert_non_null(strstr(f->err, "lost: the headroom of priority groups"));
    assert_int_equal(weft(f, "check a.yaml"), 0);
    assert_int_equal(weft(f, "check b.yaml"), 0);
    assert_int_equal(weft(f, "import sonic " SONIC_DATA "sn5600.json " SONIC_DATA "sn2700.json " SONIC_DATA "qos.json"),
                     2);
    assert_non_null(strstr(f->err, "qos.json: this is a part of config_db.json, and there are several switches"));
    json_t *config = data("ports.json");
    set(config, "PORT", "Ethernet0", "mtu", "1500");
    put(f, "c.json", config);
    assert_int_equal(weft(f, "plan sonic " SONIC_DATA "ports.json c.json"), 2);
    assert_non_null(strstr(f->err, "c.json: PORT|Ethernet0.mtu: another value than in the files before"));
    put(f, "c.json",
        json_pack("{s{sss{ssss}}}", "PORT|Ethernet0", "type", "hash", "value", "speed", "400000", "NULL", "NULL"));
    assert_int_equal(weft(f, "plan sonic c.json"), 0);
    put(f, "c.json",
        json_pack("{s{ss}s{s{ss}}}", "PORT|Ethernet0", "speed", "1000", "WRED_PROFILE", "W", "green_min_threshold",
                  "x"));
    assert_int_equal(weft(f, "plan sonic " SONIC_DATA "sn5600.json c.json"), 2);
    assert_non_null(strstr(f->err, "c.json: PORT|Ethernet0.speed: another value"));
}

/// The frame ahead of a pause may be of any class (Cisco, Nexus PFC white paper), so it has the port's MTU: 224436 B in
/// flight + 2 x 4194 B + (9216 + 18 + 20) B + 84 B.
static void largest_mtu(void **state) {
    static const char *const rates[] = {"400Gbps --mtu 9216B", "400Gbps --port-mtu 9216B"};
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        char arguments[128];
        snprintf(arguments, sizeof arguments, "plan pfc --cable 300m --rate %s", rates[i]);
        assert_int_equal(weft(f, arguments), 0);
        has(f, "= 242162B");
        strcat(arguments, " --formula sonic");
        assert_int_equal(weft(f, arguments), 0);
        has(f, "port MTU 9KiB");
    }
    assert_int_equal(weft(f, "plan pfc --rate 400Gbps --cable 300m --port-mtu 1500B"), 0);
    has(f, "= 237102B");
    assert_int_equal(weft(f, "plan pfc --rate 400Gbps --cable 300m --mtu 10240B"), 0);
    assert_int_equal(weft(f, "plan pfc --rate 400Gbps --cable 300m --mtu 10241B"), 2);
    assert_int_equal(plan(f, "sn2700.json", ""), 0);
    has(f, "enough if no class has frames of the port's MTU, 9100B: a pause that waits for one needs 51627B");
    assert_true(plan(f, "sn2700.json", " --phy 1.2288us") > 0); // 802.3's limit at 100G, both ends: 30720 B more
    has(f, "needs 77403B");
}

/// JSON has no lines: the first of two cables at a port is not on line 0.
static void two_cables_at_a_port(void **state) {
    struct fixture *f = *state;
    static const char *const names[] = {"a", "b"};
    for (size_t i = 0; i < 2; i++) {
        json_t *config = data("ports.json");
        set(config, "DEVICE_METADATA", "localhost", "hostname", names[i]);
        json_t *end = json_pack("{ssss}", "name", names[!i], "port", "Ethernet64");
        if (!i)
            json_object_set_new(config, "DEVICE_NEIGHBOR",
                                json_pack("{sOsOs{ss}s{ss}}", "Ethernet0", end, "Ethernet8", end, "Ethernet16", "name",
                                          "gpu-1", "Ethernet24", "name", "gpu-2"));
        json_decref(end);
        put(f, i ? "b.json" : "a.json", config);
    }
    assert_int_equal(weft(f, "import sonic a.json b.json --out ab.yaml"), 2);
    if (!strstr(f->err, "a second port Ethernet64 at b") || strstr(f->err, "line 0")) fail_msg("%s", f->err);
}

/// A switch of several ASICs: a file for each, which share a hostname; they call each other ASIC0, their ports
/// Ethernet-BP0, and others call all of them by the hostname.
static void several_asics(void **state) {
    struct fixture *f = *state;
    static const char *const files[] = {"asic0.json", "asic1.json", "spine.json"};
    for (size_t i = 0; i < 3; i++) {
        json_t *config = data("ports.json"), *neighbor, *port = json_object_get(config, "PORT");
        json_t *back = json_deep_copy(json_object_get(port, "Ethernet0"));
        char asic[] = "asic0";
        asic[4] = i ? '1' : '0';
        set(config, "DEVICE_METADATA", "localhost", "hostname", i == 2 ? "spine" : "leaf");
        if (i < 2) {
            set(config, "DEVICE_METADATA", "localhost", "asic_name", asic);
            set(config, "DEVICE_METADATA", "localhost", "sub_role", "FrontEnd");
            json_object_set(port, i ? "Ethernet-BP4" : "Ethernet-BP0", back);
            neighbor = json_pack("{s{ss}s{ssss}s{ss}}", i ? "Ethernet-BP4" : "Ethernet-BP0", "name",
                                 i ? "ASIC0" : "ASIC1", i ? "Ethernet24" : "Ethernet0", "name", "spine", "port",
                                 i ? "Ethernet8" : "Ethernet0", "Ethernet16", "name", i ? "gpu-1" : "gpu-0");
        } else {
            neighbor = json_pack("{s{ssss}s{ssss}}", "Ethernet0", "name", "leaf", "port", "Ethernet0", "Ethernet8",
                                 "name", "leaf", "port", "Ethernet24");
        }
        json_decref(back);
        json_object_set_new(config, "DEVICE_NEIGHBOR", neighbor);
        put(f, files[i], config);
    }
    assert_int_equal(weft(f, "plan sonic asic0.json"), 0);
    assert_int_equal(weft(f, "import sonic asic0.json asic1.json spine.json --out all.yaml"), 0);
    assert_int_equal(weft(f, "topo all.yaml"), 0);
    has(f, "cables: 2 hosts, 3 switches, 5 links");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pools_of_each_vendor), cmocka_unit_test(pools_of_imports),
        cmocka_unit_test(thin_headroom),        cmocka_unit_test(missing_profiles),
        cmocka_unit_test(traffic_classes),      cmocka_unit_test(keys_of_a_chassis),
        cmocka_unit_test(parts_and_dumps),      cmocka_unit_test(largest_mtu),
        cmocka_unit_test(two_cables_at_a_port), cmocka_unit_test(several_asics),
    };
    return cmocka_run_group_tests(tests, setup, remove_folder);
}
