// SPDX-License-Identifier: Apache-2.0
// weft plan as a user calls it: the numbers in the formula, the three warnings, scenarios, and bad input.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CASE_1 "plan sfc --rate 200Gbps --delay 150ns --processing 300ns --layers 2 --incast 3 --buffer 400KB "
#define INCAST " \"$WEFT_ROOT/scenarios/foundation/incast.yaml\" "
#define HEADROOM " \"$WEFT_ROOT/scenarios/foundation/headroom.yaml\" "

static char text[1 << 16];

static const char *output_of(const char *arguments, int expected_status) {
    char command[4096];
    snprintf(command, sizeof command, "exec 2>&1; \"$WEFT\" %s", arguments);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    text[fread(text, 1, sizeof text - 1, pipe)] = 0;
    int status = pclose(pipe);
    if (status >> 8 != expected_status) fail_msg("weft %s: exit status %d: %s", arguments, status >> 8, text);
    return text;
}

static const struct {
    const char *arguments;
    int status;
    const char *part;
} cases[] = {
    // Formulas with their numbers.
    {CASE_1, 0, "(2 x 150ns + 300ns) x 200Gbps / 8 = 15KB\n"},
    {CASE_1, 0, "3 links x 2 x 150ns + 5 switches x 300ns = 2.4us\n"},
    {CASE_1, 0, "(3 - 1) x 2.4us x 200Gbps / 8 = 2 x 60KB = 120KB\n"},
    {CASE_1, 0, "at most 385KB - 120KB = 265KB; chosen: 198KB\n"},
    {CASE_1, 0, "\n  settings       switch.sfc: {kind: fixed, threshold: 198KB, pause: 9us, interval: 9us}\n"},
    {CASE_1 "--pfc-threshold 380KB --threshold 200KB --pause 10us", 0, "(4.8us, 12.8us); given: 10us, messages at"},
    {CASE_1 "--pfc-threshold 380KB --threshold 200KB --pause 10us", 0, "  all in range\n"},
    // The study's three terms, and losses.
    {CASE_1 "--threshold 300KB", 0, "warning, SFC reacts too slowly: SFC threshold 300KB + headroom 120KB is above"},
    {CASE_1 "--threshold 200KB --pause 3us", 0, "warning, SFC under-reacts: a pause of 3us is 1.8us too short"},
    {CASE_1 "--threshold 200KB --pause 13us", 0, "warning, SFC over-reacts: a pause of 13us is 200ns too long"},
    {CASE_1 "--pfc-threshold 390KB", 0, "warning, lossy: PFC threshold 390KB + headroom 15KB is above the buffer"},
    {CASE_1 "--incast 8", 0, "none is allowed"},
    {CASE_1 "--best-effort yes", 0, "frames are dropped above the buffer of 400KB"},
    // PFC.
    {"plan pfc --rate 400Gbps --cable 5m --formula sonic", 0, "peer 1.1584us x 400Gbps / 8 = 57920B"},
    {"plan pfc --rate 400Gbps --cable 5m --formula sonic", 0, "= 208KiB (xoff)"},
    {"plan pfc --rate 100Gbps --cable 2km --buffer 100KB", 0, "warning, lossy: the headroom is more than the buffer"},
    {"plan pfc --rate 200Gbps --delay 150ns --processing 300ns --formula study", 0,
     "(2 x 150ns + 300ns) x 200Gbps / 8 = 15KB\n"},
    {"plan pfc --rate 200Gbps --delay 150ns --buffer 400KB --xoff 390KB", 0, "warning, lossy: XOFF at 390KB leaves"},
    {"plan pfc --rate 106.25Gbps --delay 5ns --formula study", 0, "headroom"},
    // DSF.
    {"plan dsf", 0, "160 lanes x 106.25Gbps = 17Tbps: 1.18 times the ports\n"},
    {"plan dsf", 0, "= 15.3Tbps: 1.06\n"},
    {"plan dsf --rate 800Gbps --ports 16 --rtt 5us", 0, "800Gbps x 5us / (8 x 4KiB) = 123 in flight, 492KiB\n"},
    {"plan dsf --rtt 10us --credits 61", 0, "min(400Gbps, 61 x 4KiB x 8 / 10us) = 199.8848Gbps\n"},
    {"plan dsf --rtt 10us --credits 61", 0, "warning, starving: "},
    {"plan dsf --cable 2km --fabric-nodes 1", 0, "10.101011us of cables + (1 + 1) nodes x 300ns"},
    {"plan dsf --distance-km 40", 0, "40 km x 5us = 200us one way; a port has 2 x 200us x 400Gbps / 8 = 20MB"},
    {"plan dsf --lanes 140", 0, "warning, blocking: "},
    {"plan dsf --skew 80us", 0, "warning, skew: "},
    {"plan dsf --sram 1MB", 0, "warning, lossy: "},
    {"plan dsf --rate 106.25Gbps", 0, "PFC to NICs    headroom 46099B a port"},
    {"plan dsf" INCAST, 2, "the topology has no DSF interface nodes"},
    {"plan dsf --json", 0, "\"inflight_credits\":13,\"empty_bytes\":57344,\"balance_bytes_max\":155648"},
    // Scenarios: the configuration compared with computed values, equal variants together.
    {"plan sfc" INCAST, 0, "variants pfc, pfc+dcqcn\nSFC for 3 to 1 at 200Gbps: queue of access-0 towards host-0"},
    {"plan sfc" INCAST, 0,
     "\n  settings       switch.sfc: {kind: fixed, threshold: 427KB, pause: 17us, interval: 17us}\n"},
    {"plan sfc" INCAST, 0, "warning, lossy: PFC threshold 780KB + headroom 27666B is above the buffer of 800KB"},
    {"plan sfc --set switch.buffer.xoff=770KB" INCAST, 0, "  all in range\n"},
    {"plan sfc --delay 0ns" INCAST, 0, "PFC headroom   20166B, formula bound (weft plan pfc)\n"},
    {"plan sfc" INCAST, 0, "5 links x 2 x 150ns + 9 switches x 300ns = 4.2us\n"},
    {"plan sfc" INCAST, 0, "at most 800KB - 27666B = 772334B; in force: 780KB\n"},
    {"plan sfc --incast 5 --threshold 200KB" INCAST, 0, "4 x 105KB = 420KB\n"},
    {"plan sfc --incast 5 --threshold 200KB" INCAST, 0, "(16.8us, 24.8us)"},
    {"plan sfc --layers 2" INCAST, 0, "3 links x 2 x 150ns + 5 switches x 300ns = 2.4us\n"},
    {"plan sfc --set switch.pfc.priorities=none --variant pfc" INCAST, 0, "frames are dropped above the buffer"},
    {"plan pfc --set hardware=typical" HEADROOM, 0, "size 800KB - xoff 780KB: 7666B TOO LITTLE\n"},
    {"plan pfc" HEADROOM, 0, "size 800KB - xoff 780KB: 7666B TOO LITTLE\n"},
    {"plan pfc" HEADROOM, 0, "size 800KB - xoff 772KB\n"},
    {"plan pfc --formula study --variant 20KB" HEADROOM, 0, "size 800KB - xoff 780KB\n"},
    // A pool for all ports has headroom for each; a dynamic buffer likewise; the links within a fabric have no PFC.
    {"plan pfc --variant 20KB --set 'switch.buffer={kind: pool, size: 8MB, xoff: 400KB, xon: 400KB, headroom: "
     "10KB}'" HEADROOM,
     0, "10KB, headroom 10KB: 17666B TOO LITTLE\n"},
    {"plan pfc --variant 2/pfc \"$WEFT_ROOT/scenarios/sfc/part5_buffer_pool.yaml\"", 0, "40KB, headroom 40KB\n"},
    {"plan pfc --variant 20KB --set 'switch.buffer={kind: dynamic, headroom: 27KB}'" HEADROOM, 0,
     "27KB, headroom 27KB: 666B TOO LITTLE\n"},
    {"plan pfc --variant whole/dsf \"$WEFT_ROOT/scenarios/dsf/incast.yaml\"", 0,
     "rdsw -> fdsw    576  100Gbps  350ns  50382B  12500B  130KiB  no PFC here\n"},
    {"plan sfc --variant 2/pfc \"$WEFT_ROOT/scenarios/sfc/part5_buffer_pool.yaml\"", 0,
     "buffer         xoff 380KB of the pool of all ports, and headroom 40KB of each\n"},
    {"plan pfc --variant 2/pfc \"$WEFT_ROOT/scenarios/sfc/part5_buffer_egress.yaml\"", 0, "40KB, headroom 40KB\n"},
    {"plan sfc --variant 2/pfc \"$WEFT_ROOT/scenarios/sfc/part5_buffer_egress.yaml\"", 0,
     "buffer         xoff 380KB of an output's queue, and headroom 40KB of each\n"},
    // Frames of RoCEv1 and a tag are 16 bytes longer.
    {"plan pfc --variant roce-v1 \"$WEFT_ROOT/scenarios/foundation/classification.yaml\"", 0,
     "host -> switch      5  100Gbps  150ns  45430B "},
    // SFC as a scenario configures it; a model that finds its own values leaves them to be chosen.
    {"plan sfc --set 'switch.sfc={kind: fixed, threshold: 200KB, pause: 10us}' --variant pfc" INCAST, 0,
     "(8.4us, 16.4us); in force: 10us, a message for every packet above the threshold\n"},
    {"plan sfc --set 'switch.sfc={kind: fixed, threshold: 600KB, pause: 20us, interval: 20us}' --variant pfc" INCAST, 0,
     "warning, SFC reacts too slowly: SFC threshold 600KB + headroom 210KB is above the PFC threshold of 780KB"},
    {"plan sfc --set switch.sfc=adaptive --variant pfc" INCAST, 0, "at most 780KB - 210KB = 570KB; chosen: 427KB\n"},
    // Tables and figures of the answers to values, and to a scenario.
    {"plan pfc --csv variants.lines" HEADROOM, 0,
     "\n28KB,0,leaf -> spine,leaf,,spine,,2,1,28000,1,,bound,200000000000,"},
    {"plan pfc --pick 'variants.28KB.lines.leaf -> spine.headroom_bytes'" HEADROOM, 0, "27666\n"},
    {"plan pfc --rate 200Gbps --delay 5ns --csv variants.lines", 2, "no table of results \"variants.lines\"; expected"},
    {"plan sfc --pick variants.pfc.inputs.incast" INCAST, 0, "3\n"},
    {"plan dsf --pick rci_bps.1 --pick warnings.count", 0, "4556722500000\n0\n"},
    // Bad input: what was wrong, what was expected.
    {"plan", 2, "expected one of pfc, sfc"},
    {"plan sfx", 2, "no calculator \"sfx\"; did you mean"},
    {"plan --help", 0, "usage: weft plan"},
    {"plan sfc --help", 0, "--pfc-threshold SIZE"},
    {"plan sfc", 2, "--rate is missing (rate of the links); expected a rate such as \"200Gbps\""},
    {"plan sfc --rate 200", 2, "--rate: \"200\" has no unit; expected a rate such as \"200Gbps\""},
    {"plan sfc --rate 0bps", 2, "--rate: \"0bps\" is out of range 10Mbps to 100Tbps"},
    {"plan sfc --rate -1Gbps", 2, "is negative"},
    {CASE_1 "--delay 150", 2, "--delay: \"150\" has no unit; expected a time such as \"150ns\""},
    {CASE_1 "--buffer 400", 2, "--buffer: \"400\" has no unit; expected a size"},
    {CASE_1 "--buffer 0B", 2, "--buffer: \"0B\" is out of range"},
    {CASE_1 "--incast 1", 2, "--incast: \"1\" is out of range 2 to 65536"},
    {CASE_1 "--incast many", 2, "--incast: \"many\": expected a whole number"},
    {CASE_1 "--layers 0", 2, "--layers: \"0\" is out of range 1 to 16"},
    {CASE_1 "--pause 10", 2, "--pause: \"10\" has no unit"},
    {CASE_1 "--pfc-threshold 500KB", 2, "pfc_threshold (500KB) is above buffer (400KB)"},
    {CASE_1 "--threshold 500KB", 2, "threshold (500KB) is above buffer (400KB)"},
    {CASE_1 "--cable 5m", 2, "--cable and --delay: give only one"},
    {CASE_1 "--pfc-threshold 380KB --best-effort true", 2, "--pfc-threshold: best effort has no PFC"},
    {CASE_1 "--cabel 5m", 2, "unrecognized option '--cabel'"},
    {CASE_1 "a.yaml b.yaml", 2, "unexpected argument \"b.yaml\""},
    {"plan pfc --rate 400Gbps", 2, "--delay is missing"},
    {"plan pfc --rate 400Gbps --cable 5", 2, "--cable: \"5\" has no unit; expected a length such as \"40m\""},
    {"plan pfc --rate 400Gbps --cable 5yd", 2, "\"yd\" is not a unit (mm, cm, m, km, in, ft, mi)"},
    {"plan pfc --rate 400Gbps --cable 99999999km", 2, "is out of range 0ns to 100ms"},
    {"plan pfc --rate 400Gbps --delay 5ns --reaction never", 2, "--reaction: \"never\""},
    {"plan pfc --rate 400Gbps --delay 5ns --reaction 2ms", 2,
     "--reaction: \"2ms\" is out of range 0ns to 1ms, or standard"},
    {"plan pfc --rate 400Gbps --cable 5m --formula sonik", 2, "did you mean \"sonic\"?"},
    {"plan pfc --rate 400Gbps --cable 5m --xoff 5KB", 2, "xoff is given without buffer"},
    {"plan pfc --rate 400Gbps --cable 5m --xoff 5KB --buffer 4KB", 2, "xoff (5KB) is above buffer (4KB)"},
    {"plan pfc /nonexistent.yaml", 2, "/nonexistent.yaml"},
    {"plan sfc --variant pcf" INCAST, 2, "--variant pcf: no such variant"},
    {"plan sfc --set workload=[]" INCAST, 2, "no host has two senders: there is no incast to plan for"},
};

static void what_it_prints(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *found = output_of(cases[i].arguments, cases[i].status);
        if (!strstr(found, cases[i].part))
            fail_msg("weft %s: \"%s\" is not in:\n%s", cases[i].arguments, cases[i].part, found);
    }
}

static json_t *json_of(const char *arguments) {
    json_error_t error;
    json_t *root = json_loads(output_of(arguments, 0), JSON_REJECT_DUPLICATES, &error);
    if (!root) fail_msg("weft %s: %s", arguments, error.text);
    return root;
}

static json_int_t number(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    if (!json_is_integer(value)) fail_msg("%s is not a number", key);
    return json_integer_value(value);
}

static void json_holds_the_same(void **state) {
    (void)state;
    json_t *root = json_of(CASE_1 "--pfc-threshold 380KB --threshold 200KB --pause 13us --json");
    assert_int_equal(number(root, "pfc_headroom_bytes"), 15000);
    assert_int_equal(number(root, "headroom_bytes"), 120000);
    assert_int_equal(number(root, "threshold_bytes_max"), 260000);
    assert_int_equal(number(root, "pause_ps_min"), 4800000);
    assert_int_equal(number(root, "pause_ps_max"), 12800000);
    const json_t *warnings = json_object_get(root, "warnings");
    assert_int_equal(json_array_size(warnings), 1);
    assert_string_equal(json_string_value(json_array_get(warnings, 0)), "over_reacting");
    json_decref(root);
    root = json_of("plan pfc --json" HEADROOM);
    const json_t *variants = json_object_get(root, "variants");
    assert_int_equal(json_array_size(variants), 2);
    for (size_t v = 0; v < 2; v++) {
        const json_t *line = json_array_get(json_object_get(json_array_get(variants, v), "lines"), 0);
        assert_int_equal(number(line, "headroom_bytes"), 27666);
        assert_int_equal(number(line, "configured_headroom_bytes"), v ? 28000 : 20000);
        assert_int_equal(json_is_true(json_object_get(line, "enough")), v);
    }
    json_decref(root);
}

/// Switches and links that differ, checked by hand. Host links 100 ns, spine links 1 us; switches 300 ns, leaf-1 700
/// ns; NICs 50 ns. Four hosts, of leaf-0 and leaf-1, send to host-4 behind leaf-2. The farthest is host-2 of leaf-1:
/// links 100 ns + 1 us + 1 us = 2.1 us; switches leaf-1, spine, leaf-2 there, spine and leaf-1 back: 2 x 700 + 3 x 300
/// ns = 2.3 us. Round trip 2 x 2.1 + 2.3 + 0.05 = 6.55 us. The flow of host-0 that comes on top adds no sender.
static void unlike_switches(void **state) {
    (void)state;
    json_t *root = json_of("plan sfc --json - <<'END'\n"
                           "topology: {kind: leaf_spine, leaves: 3, spines: 2, hosts_per_leaf: 2, rate: 400Gbps,\n"
                           "  delay: 100ns, spine_delay: 1us}\n"
                           "switch: {buffer: {kind: dynamic, total: 32MB, reserve: 4KB, alpha: 1/2, weights: [1, 1, 1, "
                           "2, 1, 1, 1, 1], headroom: 100KB}}\n"
                           "host: {processing: 50ns}\n"
                           "devices: [{match: leaf-1, switch: {processing: 700ns}}]\n"
                           "workload:\n"
                           "  - {kind: incast, sources: host-0..3, dst: host-4, size: 1MB}\n"
                           "  - {kind: flow, src: host-0, dst: host-4, size: 1MB}\n"
                           "  - {kind: incast, sources: host-1..3, dst: host-5, size: 1MB}\n"
                           "END\n");
    const json_t *v = json_array_get(json_object_get(root, "variants"), 0);
    assert_string_equal(json_string_value(json_object_get(v, "receiver")), "host-4");
    assert_string_equal(json_string_value(json_object_get(v, "switch")), "leaf-2");
    assert_string_equal(json_string_value(json_object_get(v, "source")), "host-2");
    assert_int_equal(number(v, "links"), 3);
    assert_int_equal(number(v, "round_trip_ps"), 6550000);
    const json_t *inputs = json_object_get(v, "inputs");
    assert_int_equal(number(inputs, "incast"), 4);
    assert_int_equal(number(v, "headroom_bytes"), 3 * 327500);
    // leaf-2 has 4 ports: 32 MB - 4 x (8 x 4 KB + 100 KB) = 31.472 MB are shared; one group with alpha 1 holds half.
    assert_int_equal(number(inputs, "pfc_threshold_bytes"), 31472000 / 2 + 4000);
    assert_int_equal(number(inputs, "buffer_bytes"), 31472000 / 2 + 4000 + 100000);
    json_decref(root);
}

static const json_t *find_variant(const json_t *root, const char *name) {
    const json_t *variants = json_object_get(root, "variants");
    for (size_t i = 0; i < json_array_size(variants); i++) {
        const json_t *v = json_array_get(variants, i);
        if (!strcmp(json_string_value(json_object_get(v, "variant")), name)) return v;
    }
    fail_msg("no variant %s", name);
    return NULL;
}

/// The study's scenarios give, from topology, traffic and configuration, what its tables print (tests/unit/test_plan.c
/// has every row).
static void scenarios_of_the_study(void **state) {
    (void)state;
    static const struct {
        const char *file, *variant;
        int headroom_kb, threshold_kb, pause_min_ns, pause_max_ns;
        const char *warning;
    } rows[] = {
        {"part4", "1/pfc+sfc", 210, 200, 8400, 16400, "over_reacting"},
        {"part4", "2a/pfc+sfc", 420, 200, 16800, 24800, NULL},
        {"part5", "pfc+sfc", 120, 200, 4800, 12800, NULL},
        {"part5_buffer", "2.3/pfc+sfc", 120, 2200, 4800, 92800, NULL},
        {"part5_severity", "3.1/pfc+sfc", 240, 600, 9600, 33600, "too_slow"},
        {"part5_severity", "3.2/pfc+sfc", 240, 800, 9600, 41600, NULL},
        {"part5_delay", "4.6/pfc+sfc", 1920, 50, 76800, 78800, "too_slow"},
        {"part5_pause", "5.1/pfc+sfc", 240, 400, 9600, 25600, "under_reacting"},
        {"part5_pause", "5.8/pfc+sfc", 240, 400, 9600, 25600, "over_reacting"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char arguments[256];
        snprintf(arguments, sizeof arguments, "plan sfc --json --variant %s \"$WEFT_ROOT/scenarios/sfc/%s.yaml\"",
                 rows[i].variant, rows[i].file);
        json_t *root = json_of(arguments);
        const json_t *v = find_variant(root, rows[i].variant), *warnings = json_object_get(v, "warnings");
        // By formula bound, 12666 B more than the study's (its figures are in tests/unit/test_plan.c).
        assert_int_equal(number(v, "pfc_headroom_bytes"), !strcmp(rows[i].variant, "4.6/pfc+sfc") ? 252666 : 27666);
        assert_int_equal(number(v, "headroom_bytes"), rows[i].headroom_kb * 1000);
        assert_int_equal(number(v, "threshold_bytes"), rows[i].threshold_kb * 1000);
        assert_int_equal(number(v, "pause_ps_min"), rows[i].pause_min_ns * 1000);
        assert_int_equal(number(v, "pause_ps_max"), rows[i].pause_max_ns * 1000);
        assert_int_equal(json_array_size(warnings), 1 + (rows[i].warning != NULL));
        assert_string_equal(json_string_value(json_array_get(warnings, 0)), "lossy"); // 20 KB of headroom
        if (rows[i].warning) assert_string_equal(json_string_value(json_array_get(warnings, 1)), rows[i].warning);
        json_decref(root);
    }
}

/// plan pfc, plan sfc and plan buffers have one headroom for one file.
static void one_headroom(void **state) {
    static const char *const files[] = {"foundation/incast.yaml --variant pfc", "sfc/part4.yaml --variant 1/pfc+sfc",
                                        "sfc/part5_delay.yaml --variant 4.6/pfc+sfc"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char arguments[512], said[64];
        snprintf(arguments, sizeof arguments, "plan sfc \"$WEFT_ROOT\"/scenarios/%s", files[i]);
        assert_int_equal(sscanf(strstr(output_of(arguments, 0), "PFC headroom"), "PFC headroom %63[0-9KB]", said), 1);
        snprintf(arguments, sizeof arguments, "plan buffers --run off \"$WEFT_ROOT\"/scenarios/%s", files[i]);
        const char *other = strstr(output_of(arguments, 0), "  headroom ");
        assert_non_null(other);
        other += strspn(other, " headroom");
        assert_int_equal(strncmp(other, said, strlen(said)), 0);
        snprintf(arguments, sizeof arguments, "plan pfc \"$WEFT_ROOT\"/scenarios/%s", files[i]);
        assert_non_null(strstr(output_of(arguments, 0), said));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_headroom),           cmocka_unit_test(what_it_prints),
        cmocka_unit_test(json_holds_the_same),    cmocka_unit_test(unlike_switches),
        cmocka_unit_test(scenarios_of_the_study),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
