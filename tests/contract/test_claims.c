// SPDX-License-Identifier: Apache-2.0
// Claims as a user meets them: weft check, compare and verify, their verdicts and exit statuses.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/weft-test-claims-XXXXXX";
static char text[1 << 16];

/// Two to one, with and without room for it: small pauses, large does not.
static const char network[] = "topology: {kind: single, hosts: 3, rate: 200Gbps, delay: 150ns}\n"
                              "workload: [{kind: incast, sources: host-1..2, dst: host-0, size: 300KB, group: g}]\n"
                              "variants:\n"
                              "  small: {switch.buffer: {size: 120KB, xoff: 90KB, xon: 80KB}}\n"
                              "  large: {switch.buffer: {size: 2MB, xoff: 1MB, xon: 1MB}}\n";
static const char true_claim[] =
    "  - {text: room avoids pauses, that: large.counters.pfc_xoff_frames < small.counters.pfc_xoff_frames}\n";
static const char finding[] = "  - {text: pauses cost time, that: small.g.fct.max > large.g.fct.max * 110%,\n"
                              "     expected: no, reason: the link is busy either way}\n";
static const char false_claim[] = "  - {text: it is quick, that: small.g.fct.max < 1us, source: a leaflet}\n";
static const char surprise[] = "  - {text: they end, that: small.g.finished == 2, expected: no, reason: none}\n";

/// Of this test alone.
static const char *cache_folder(void) {
    static char path[sizeof folder + 8];
    snprintf(path, sizeof path, "%s/cache", folder);
    return path;
}

static int set_up(void **state) {
    (void)state;
    return mkdtemp(folder) && !chdir(folder) && !setenv("XDG_CACHE_HOME", cache_folder(), 1) ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return chdir("/") || system(command);
}

/// FOLDER/NAME with these claims.
static void write_scenario(const char *name, const char *a, const char *b) {
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fprintf(file, "%s%s%s%s", network, *a ? "claims:\n" : "", a, b);
    fclose(file);
}

static const char *output_of(const char *arguments, int expected_status) {
    char command[1024];
    snprintf(command, sizeof command, "exec 2>&1; \"$WEFT\" %s", arguments);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    text[fread(text, 1, sizeof text - 1, pipe)] = 0;
    int status = pclose(pipe);
    if (status >> 8 != expected_status) fail_msg("weft %s: exit status %d: %s", arguments, status >> 8, text);
    return text;
}

static json_t *json_of(const char *arguments, int expected_status) {
    json_error_t error;
    json_t *root = json_loads(output_of(arguments, expected_status), JSON_REJECT_DUPLICATES, &error);
    if (!root) fail_msg("%s", error.text);
    return root;
}

static void assert_holds(const char *part) {
    if (!strstr(text, part)) fail_msg("\"%s\" is not in:\n%s", part, text);
}

static void compare_shows_them(void **state) {
    (void)state;
    write_scenario("s.yaml", true_claim, finding);
    output_of("check s.yaml", 0);
    output_of("compare s.yaml --quiet", 0);
    assert_holds("\nclaims: 1 hold, 1 known not to (findings), 0 unexpected\n"
                 "  holds            room avoids pauses\n"
                 "                   large.counters.pfc_xoff_frames < small.counters.pfc_xoff_frames\n"
                 "                   0 < ");
    assert_holds("  finding          pauses cost time\n");
    assert_holds("not expected to hold: the link is busy either way\n");
    write_scenario("s.yaml", true_claim, false_claim);
    output_of("compare s.yaml --quiet", 5);
    assert_holds("  DOES NOT HOLD    it is quick (a leaflet)\n");
    write_scenario("s.yaml", surprise, "");
    output_of("compare s.yaml --quiet", 5);
    assert_holds("  HOLDS AFTER ALL  they end\n");
    output_of("run s.yaml --quiet", 0);                        // one variant proves nothing
    output_of("compare s.yaml --quiet --set run.until=1s", 0); // another scenario than the one that is claimed about
    assert_null(strstr(text, "claims"));
    output_of("verify s.yaml --quiet --set run.until=1s", 5);
    write_scenario("s.yaml", "", "");
    output_of("compare s.yaml --quiet", 0);
    assert_null(strstr(text, "claims"));
}

static void json_has_them(void **state) {
    (void)state;
    write_scenario("s.yaml", true_claim, false_claim);
    json_error_t error;
    json_t *root = json_loads(output_of("compare s.yaml --json", 5), JSON_REJECT_DUPLICATES, &error);
    if (!root) fail_msg("%s", error.text);
    const json_t *claims = json_object_get(root, "claims"), *variants = json_object_get(root, "variants");
    assert_int_equal(json_array_size(claims), 2);
    assert_int_equal(json_array_size(variants), 2);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(json_is_true(json_object_get(json_array_get(claims, i), "holds")), !i);
    // the values are those of the runs
    const json_t *values = json_object_get(json_array_get(claims, 0), "values");
    for (size_t i = 0; i < 2; i++) {
        const json_t *counters = json_object_get(json_array_get(variants, 1 - i), "counters");
        assert_float_equal(json_number_value(json_array_get(values, i)),
                           json_number_value(json_object_get(counters, "pfc_xoff_frames")), 0);
    }
    json_decref(root);
    output_of("compare s.yaml --quiet --out out", 5);
    root = json_load_file("out/result.json", 0, &error);
    assert_int_equal(json_array_size(json_object_get(root, "claims")), 2);
    json_decref(root);
}

static void mistakes_are_found_before_anything_runs(void **state) {
    (void)state;
    static const struct {
        const char *claim, *message;
    } cases[] = {
        {"  - {text: a, that: small.h.fct.max < 1us}\n", "s.yaml:7:21: small.h.fct.max: variant small has no metric of "
                                                         "that name; did you mean \"g.fct.max\"?"},
        {"  - {text: a, that: large.counters.pfc_xof_frames < 1}\n", "did you mean \"counters.pfc_xoff_frames\"?"},
        {"  - {text: a, that: large.counters.drops < 1}\n", "did you mean \"counters.drops.buffer_full\"?"},
        {"  - {text: a, that: large.sim_time_ps.x < 1us}\n", "it has no parts"},
        {"  - {text: a, that: large.digest < 1}\n", "it is not a number"},
        {"  - {text: a, that: large.flows.2.fct_ps < 1us}\n", "large.flows.2.fct_ps: variant large has no metric"},
        {"  - {text: a, that: lagre.sim_time_ps < 1us}\n", "did you mean \"large\"?"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static const char *const commands[] = {"check s.yaml", "check --json s.yaml", "compare --out none s.yaml",
                                               "verify s.yaml"};
        write_scenario("s.yaml", cases[i].claim, "");
        for (unsigned c = 0; c < 4; c++) {
            output_of(commands[c], 2);
            assert_holds(cases[i].message);
        }
        assert_int_not_equal(access("none", F_OK), 0);
    }
    write_scenario("s.yaml", "  - {text: a, that: large.flows.1.fct_ps < 1s}\n", "");
    output_of("check s.yaml", 0);
}

/// A ring all-reduce of 1 MB among 4 at 200G takes 2 (3/4) 1 MB / 25 B/ns = 60 us and latencies.
static void jobs_have_metrics(void **state) {
    (void)state;
    FILE *file = fopen("job.yaml", "w");
    assert_non_null(file);
    fputs("topology: {kind: single, hosts: 4, rate: 200Gbps, delay: 150ns}\n"
          "workload: [{kind: collective, size: 1MB}]\n"
          "claims:\n"
          "- {text: it takes its time, that: 60us < jobs.0.iteration_ps < 90us and jobs.0.collectives.0.busbw_GBps < "
          "25}\n",
          file);
    fclose(file);
    output_of("verify job.yaml", 0);
    output_of("check job.yaml", 0);
}

static void verify_runs_all(void **state) {
    (void)state;
    assert_int_equal(system("mkdir -p many/below"), 0);
    write_scenario("many/a.yaml", true_claim, finding);
    write_scenario("many/below/b.yaml", true_claim, "");
    write_scenario("many/none.yaml", "", "");
    write_scenario("many/not-read.txt", false_claim, "");
    const char table[] = "scenario          variants  claims    hold  findings  controls  unexpected\n"
                         "many/a.yaml              2       2       1         1         0           0\n"
                         "many/below/b.yaml        2       1       1         0         0           0\n"
                         "all                      4       3       2         1         0           0\n"
                         "\n4 runs, for 4 uses of them\n1 file without claims left out\n"
                         "\nmany/a.yaml\n  finding          pauses cost time\n";
    for (unsigned jobs = 1; jobs <= 3; jobs++) {
        char command[64];
        snprintf(command, sizeof command, "verify many/ --jobs %u", jobs);
        output_of(command, 0);
        assert_memory_equal(text, table, sizeof table - 1);
    }
    write_scenario("many/below/b.yaml", false_claim, "");
    output_of("verify many", 5);
    assert_holds("\nmany/below/b.yaml\n  DOES NOT HOLD    it is quick (a leaflet)\n");
    assert_holds("many/below/b.yaml        1       1       0         0         0           1\n"); // what claims name
    output_of("verify many --all", 5);
    assert_holds("\nmany/a.yaml\n  holds            room avoids pauses\n");
    json_t *root = json_of("verify many --json", 5);
    const json_t *second = json_array_get(json_object_get(root, "scenarios"), 1);
    assert_string_equal(json_string_value(json_object_get(second, "path")), "many/below/b.yaml");
    assert_int_equal(json_integer_value(json_object_get(second, "unexpected")), 1);
    assert_true(json_is_false(json_object_get(root, "interrupted")));
    json_decref(root);
    output_of("verify many --set workload.0.size=1KB", 5); // settings reach the runs: no pauses, so nothing to avoid
    assert_holds("many/a.yaml              2       2       0         1         0           1\n");
}

/// Claims of a folder share runs that are the same, whatever they are called; another folder may have other files.
static void equal_runs_are_one(void **state) {
    (void)state;
    assert_int_equal(system("mkdir -p same other"), 0);
    write_scenario("same/a.yaml", true_claim, "");
    write_scenario("same/b.yaml", true_claim, finding);
    write_scenario("other/c.yaml", true_claim, "");
    output_of("verify same other", 0);
    assert_holds("\n4 runs, for 6 uses of them\n");
    output_of("verify same --seeds 1..4", 0); // one switch, no marking: nothing to draw
    assert_holds("\n2 runs, for 16 uses of them\n");
    output_of("verify same --seeds 1..4 --set switch.aqm=wred", 0);
    assert_holds("\n8 runs, for 16 uses of them\n");
}

/// An answer about several variants is not that of one of them: a setting that changes only another one changes it.
static void answers_about_variants_are_their_own(void **state) {
    (void)state;
    FILE *file = fopen("month.yaml", "w");
    assert_non_null(file);
    fputs("topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 2}\nrun: {detection: 0ns}\n"
          "workload: [{kind: job, start: 10us, operations: [{collective: all_to_all, size: 1MB}]}]\n"
          "goodput: {gpus: 64, parts: [{name: fabric_link, variant: port}]}\n"
          "variants: {whole: {}, port: {events: [{at: 0ns, link: leaf-0--spine-0, state: down}]}}\n"
          "claims: [{text: a, that: whole.goodput.designs.0.parts.fabric_link.slowdown > 1, without: {events: []}}]\n",
          file);
    fclose(file);
    output_of("verify month.yaml --teeth", 0);
    assert_holds("\n2 runs, for 2 uses of them\n");
    output_of("verify month.yaml --teeth --seeds 1..2", 0);
    assert_holds("\n4 runs, for 4 uses of them\n");
}

/// An operand without claims is reported; the claims of the others are judged.
static void operands_without_claims_are_reported(void **state) {
    (void)state;
    assert_int_equal(system("mkdir -p claimless && echo 'topology: single' > claimless/a.yaml"), 0);
    write_scenario("s.yaml", true_claim, "");
    static const char *const commands[] = {"verify s.yaml claimless/a.yaml", "verify claimless s.yaml"};
    for (unsigned i = 0; i < sizeof commands / sizeof *commands; i++) {
        output_of(commands[i], 0);
        assert_holds("weft: no scenario with claims in 'claimless");
        assert_holds("s.yaml          2       1       1         0         0           0\n");
    }
    write_scenario("s.yaml", false_claim, "");
    output_of("verify s.yaml claimless", 5);
}

static void verify_refuses(void **state) {
    (void)state;
    assert_int_equal(system("mkdir -p empty bad && echo 'topology: single' > empty/a.yaml && echo 'x: 1' > bad/a.yaml"),
                     0);
    write_scenario("s.yaml", true_claim, "");
    output_of("verify empty", 2);
    assert_holds("no scenario with claims in 'empty'");
    output_of("verify empty empty/a.yaml", 2);
    assert_holds("weft: no scenario with claims in 'empty'\nweft: no scenario with claims in 'empty/a.yaml'\n");
    output_of("verify bad empty", 2);
    output_of("verify nowhere", 2);
    output_of("verify - <s.yaml", 2);
    assert_holds("expected a file");
    output_of("verify", 2);
    output_of("verify empty --jobs 0", 2);
    output_of("verify empty --jobs many", 2);
}

/// A claim that its mechanism is needed for breaks without it, and one that is not does not.
static void teeth_are_tried(void **state) {
    (void)state;
    static const char biting[] = "  - text: small buffers pause\n"
                                 "    that: small.counters.pfc_xoff_frames > 0\n"
                                 "    without: {switch.buffer: {size: 2MB, xoff: 1MB, xon: 1MB}}\n";
    static const char toothless[] = "  - text: they end\n"
                                    "    that: small.g.finished == 2\n"
                                    "    without: {workload.0.size: 1KB}\n";
    static const char exempt[] = "  - {text: two are two, that: small.g.count == 2, toothless: arithmetic}\n";
    static const char definition[] = "  - {text: two send, that: small.g.count == 2, definition: its workload}\n";
    write_scenario("s.yaml", biting, exempt);
    output_of("verify s.yaml --teeth --all", 0);
    assert_holds("scenario variants  claims    hold  findings  controls  unexpected  toothless  exempt\n"
                 "s.yaml          1       2       2         0         0           0          0       1\n");
    assert_holds("\n2 runs, for 2 uses of them\n");
    assert_holds("broken with switch.buffer={\"size\":\"2MB\",\"xoff\":\"1MB\",\"xon\":\"1MB\"}: 0 > 0\n");
    assert_holds("toothless: arithmetic\n");
    write_scenario("s.yaml", biting, definition);
    output_of("verify s.yaml --teeth --all", 0);
    assert_holds("definition: its workload\n");
    write_scenario("s.yaml", "  - {text: a, that: small.g.count == 2, definition: b, toothless: c}\n", "");
    output_of("check s.yaml", 2);
    assert_holds("a definition holds and has no teeth");
    write_scenario("s.yaml", biting, toothless);
    output_of("verify s.yaml", 0); // not requested
    output_of("verify s.yaml --teeth", 5);
    assert_holds("  HAS NO TEETH     they end\n");
    assert_holds("TOOTHLESS: holds also with workload.0.size=\"1KB\": 2 == 2\n");
    json_t *root = json_of("verify s.yaml --teeth --json", 5);
    const json_t *one = json_array_get(json_object_get(root, "scenarios"), 0), *claims = json_object_get(one, "claims");
    assert_int_equal(json_integer_value(json_object_get(one, "toothless")), 1);
    assert_string_equal(json_string_value(json_object_get(json_array_get(claims, 0), "teeth")), "bites");
    assert_string_equal(json_string_value(json_object_get(json_array_get(claims, 1), "teeth")), "toothless");
    json_decref(root);
    write_scenario("s.yaml", true_claim, finding); // names nothing; a finding needs nothing
    output_of("verify s.yaml --teeth", 5);
    assert_holds("TOOTHLESS: nothing is named that must break it\n");
    assert_holds("s.yaml          2       2       1         1         0           0          1       0\n");
    write_scenario("s.yaml", "  - {text: a, that: small.g.finished == 2, without: {switch.bufer: static}}\n", "");
    output_of("verify s.yaml --teeth", 2);
    assert_holds("s.yaml:7:53: without: switch.bufer: unknown key");
    write_scenario("s.yaml", "  - {text: a, that: small.g.finished == 2, without: {workload.0.group: h}}\n", "");
    output_of("verify s.yaml --teeth", 2); // a number that is gone is no proof
    assert_holds("s.yaml:7:53: without: small.g.finished: variant small has no metric of that name; did you mean "
                 "\"h.finished\"?");
}

/// The last packet crosses the switch once, so each nanosecond of it costs one: 350 ns are left at 650, of which 300
/// are the scenario's own.
static void bands_are_tried(void **state) {
    (void)state;
    static const char bounds[] = "  - text: pauses need no chip\n"
                                 "    that: small.counters.pfc_xoff_frames > 0\n"
                                 "    bands: [switch.processing, host.nic]\n"
                                 "    in_band: holds\n";
    static const char turning[] =
        "  - {text: it ends soon, that: large.flows.0.fct_ps < FCT + 350ns, bands: [switch.processing]}\n"
        "  - {text: and stays so, that: large.flows.0.fct_ps < FCT + 100ns, bands: [{switch.processing: [350ns, "
        "500ns, 900ns]}, host.send_latency], in_band: turns}\n";
    char claims[2048];
    write_scenario("s.yaml", "", "");
    json_t *run = json_of("run s.yaml --variant large --quiet --json --set hardware=ideal", 0);
    const json_t *flow = json_array_get(json_object_get(run, "flows"), 0);
    char fct[40];
    snprintf(fct, sizeof fct, "%lldps", (long long)json_integer_value(json_object_get(flow, "fct_ps")));
    json_decref(run);
    size_t n = 0;
    for (const char *at = turning; *at; n++, at++) {
        if (!strncmp(at, "FCT", 3)) {
            n += (size_t)sprintf(claims + n, "%s", fct);
            at += 3;
        }
        claims[n] = *at;
    }
    claims[n] = 0;
    write_scenario("s.yaml", bounds, claims);
    output_of("verify s.yaml --quiet --set hardware=ideal", 0); // not requested
    output_of("verify s.yaml --bands --all --quiet --set hardware=ideal", 5);
    assert_holds("3 claims with bands of hardware: 1 hold in the band, 1 turn in the band, 0 within what hosts hide, 1 "
                 "only at their own values;");
    assert_holds("; 1 unexpected\n");
    assert_holds("switch.processing (typical_switch): holds in the band; low 600ns holds, typical 700ns holds, high "
                 "900ns holds; own 300ns\n");
    assert_holds("switch.processing (typical_switch): turns in the band, turns at 6");
    assert_holds("switch.processing: turns in the band, turns at ");
    assert_holds("host.send_latency (typical_nic): only at its own values, turns at ");
    assert_holds("UNEXPECTED: only at its own values, where in_band is turns\n");
    json_t *root = json_of("verify s.yaml --bands --json --quiet --set hardware=ideal", 5);
    const json_t *one = json_array_get(json_object_get(root, "scenarios"), 0);
    const json_t *claim = json_array_get(json_object_get(one, "claims"), 1);
    const json_t *band = json_array_get(json_object_get(claim, "bands"), 0);
    assert_int_equal(json_integer_value(json_object_get(one, "ideal_in_band")), 1);
    assert_string_equal(json_string_value(json_object_get(claim, "found_in_band")), "turns");
    double turns_at = atof(json_string_value(json_object_get(band, "turns_at")));
    assert_true(turns_at > 617 && turns_at < 683); // within a twentieth, as bisection says
    json_decref(root);
    output_of("verify s.yaml --bands --budget 1ns --quiet --set hardware=ideal", 0);
    assert_holds("3 not judged;");
}

/// The second of two flows ends 0.17% after the first, and 0.004% where hosts take a millisecond.
static void hosts_hide(void **state) {
    (void)state;
    write_scenario("s.yaml",
                   "  - {text: the first is first, that: small.flows.0.fct_ps < small.flows.1.fct_ps * 99.9%, bands: "
                   "[{host.send_latency: [200us, 500us, 1ms]}], in_band: hidden}\n",
                   "");
    output_of("verify s.yaml --bands --all --quiet --set hardware=ideal", 0);
    assert_holds("within what hosts hide, turns at ");
}

static void bands_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *bands, *message;
    } cases[] = {
        {"switch.processing", "claims.0.bands: expected a list of paths"},
        {"[]", "claims.0.bands: expected a list of paths"},
        {"[{a: b, c: d}]", "claims.0.bands.0: expected a path, {path: class} or {path: [low, typical, high]}"},
        {"[{a: [1, 2, 3, 4]}]", "claims.0.bands.0: expected a path"},
        {"[{a: b, with: c}]", "claims.0.bands.0: expected a path"},
        {"[switch.bufer.size]", "no class of hardware has a band for it"},
        {"[{switch.processing: tomahawk55}]", "bands: no chip \"tomahawk55\"; did you mean \"tomahawk5\"?"},
        {"[{switch.processing: connectx7}]", "bands: connectx7 is of kind nic, not chip"},
        {"[{switch.pfc.quanta: tomahawk5}]", "bands: switch.pfc.quanta of tomahawk5 has no band"},
        {"[{switch.processing: [1ns, 2ns, fast]}]", "bands: switch.processing: "},
        {"[{switch.processing: [20us, 1us]}]", "bands: switch.processing: 20us is above 1us; expected low, typical"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char claim[256];
        snprintf(claim, sizeof claim, "  - {text: a, that: small.g.count == 2, bands: %s}\n", cases[i].bands);
        write_scenario("s.yaml", claim, "");
        output_of("verify s.yaml --bands --quiet", 2);
        assert_holds("s.yaml:7:");
        assert_holds(cases[i].message);
    }
    write_scenario("s.yaml",
                   "  - {text: a, that: small.counters.pfc_xoff_frames > 0, bands: [{switch.processing: [400ns], with: "
                   "{switch.buffer: {size: 2MB, xoff: 1MB, xon: 1MB}}}], in_band: ideal}\n",
                   "");
    output_of("verify s.yaml --bands --quiet --all", 0);
    assert_holds("switch.processing: only at its own values; other 400ns does not;");
    write_scenario("s.yaml", "  - {text: a, that: small.g.count == 3, bands: [{switch.processing: [400ns]}]}\n", "");
    output_of("verify s.yaml --bands --quiet", 5);
    assert_holds("switch.processing: stands in the band; other 400ns does not");
    write_scenario("s.yaml", "  - {text: a, that: small.g.count == 2, in_band: holds}\n", "");
    output_of("check s.yaml", 2);
    assert_holds("in_band is holds; expected bands that it is judged in");
    output_of("verify s.yaml --budget 1s", 2);
}

static void a_control_must_not_hold(void **state) {
    (void)state;
    write_scenario("s.yaml", "  - {text: room pauses, that: large.counters.pfc_xoff_frames > 0, control: yes}\n", "");
    output_of("verify s.yaml --teeth", 0);
    assert_holds("s.yaml          1       1       0         0         1           0          0       0\n");
    output_of("compare s.yaml --quiet", 0);
    assert_holds("claims: 0 hold, 0 known not to (findings), 1 not to (controls), 0 unexpected\n");
    write_scenario("s.yaml", "  - {text: it pauses, that: small.counters.pfc_xoff_frames > 0, control: yes}\n", "");
    output_of("verify s.yaml", 5);
    assert_holds("  HOLDS AFTER ALL  it pauses\n");
}

/// The output of topo, plan and other commands about a variant can be claimed like its measurements.
static void claims_reach_other_commands(void **state) {
    (void)state;
    write_scenario("s.yaml",
                   "  - {text: a, that: small.topo.hosts == 3 and small.workload.messages == 2}\n"
                   "  - {text: b, that: small.plan.pfc.lines.switch.buffer_bytes == 120KB < "
                   "large.plan.pfc.lines.1.buffer_bytes and small.plan.pfc.lines.count == 2}\n",
                   finding);
    output_of("check s.yaml", 0);
    output_of("verify s.yaml", 0);
    output_of("compare s.yaml", 0);
    assert_holds("left to weft verify: 2 claims about what other commands say");
    assert_holds("claims: 0 hold, 1 known not to (findings), 0 unexpected\n");
    write_scenario("s.yaml", "  - {text: a, that: small.plan.pfc.lines.switch.bufer == 1}\n", "");
    output_of("verify s.yaml", 2);
    assert_holds("s.yaml:7:21: small.plan.pfc.lines.switch.bufer: not a number in what `weft plan pfc --json s.yaml`");
}

/// --pick prints a line a figure, and one that there is not is an empty line and, at the end, an error.
static void figures_are_picked(void **state) {
    (void)state;
    write_scenario("s.yaml", "  - {text: it ends, that: small.g.finished == 2, source: nobody}\n", finding);
    json_t *all = json_of("compare s.yaml --quiet --no-hints --json", 0);
    const json_t *variant = json_array_get(json_object_get(all, "variants"), 1);
    char expected[256];
    snprintf(expected, sizeof expected, "2\n%s\n%lld\nfinding\n2\n",
             json_string_value(json_object_get(variant, "digest")),
             (long long)json_integer_value(json_object_get(variant, "events")));
    assert_string_equal(
        output_of("compare s.yaml --quiet --no-hints --pick variants.count --pick variants.large.digest "
                  "--pick variants.1.events --pick claims.1.verdict --pick 'claims.it ends.values.0'",
                  0),
        expected);
    json_decref(all);
    assert_string_equal(output_of("run s.yaml --quiet --no-hints --pick groups.g.finished --pick "
                                  "'\"groups\".g.count' --pick stall",
                                  0),
                        "2\n2\n\n");
    output_of("run s.yaml --quiet --pick groups.h.finished --pick variant", 2);
    assert_true(strstr(text, "\nsmall\n") != NULL);
    assert_holds("weft: --pick groups.h.finished: the answer has no such figure; ");
    output_of("run s.yaml --quiet --pick groups.g.finished --json", 2);
    assert_string_equal(output_of("verify s.yaml --quiet --pick scenarios.0.claims.0.median.0 --pick "
                                  "'scenarios.\"s.yaml\".claims.count' --pick scenarios.0.claims.1.runs.0.holds",
                                  0),
                        "2\n2\n0\n");
}

/// Each statement with the claims that name it; what none checks is open, or says why.
static void sources_have_an_index(void **state) {
    (void)state;
    assert_int_equal(
        system("mkdir -p says && printf '%s\\n' 'source: {name: s, title: A leaflet}' 'statements:' "
               "'- {id: s-1, at: section 1, says: room helps}' '- {id: s-2, says: it is blue, none: colour}' "
               "'- {id: s-3, says: it is fast}' > says/s.yaml"),
        0);
    write_scenario("s.yaml",
                   "  - {text: room avoids pauses, checks: 's-1', that: large.counters.pfc_xoff_frames == 0}\n", "");
    output_of("verify --sources says s.yaml", 0);
    assert_holds("s: A leaflet\n  s-1        section 1: room helps\n             s.yaml: room avoids pauses\n"
                 "  s-2        it is blue\n             none: colour\n"
                 "  s-3        it is fast\n             OPEN: no claim checks it\n"
                 "\nsource     statements  checked     none     open   claims definitions with bands    holds    turns "
                 "  hidden    "
                 "ideal\n"
                 "s                   3        1        1        1        1           0          0        0        0   "
                 "     0        0\n");
    json_t *root = json_of("verify --sources says s.yaml --json", 0);
    const json_t *first = json_array_get(json_object_get(root, "statements"), 0);
    assert_int_equal(json_array_size(json_object_get(first, "claims")), 1);
    json_decref(root);
    write_scenario("s.yaml", "  - {text: a, checks: 's-1,s-4', that: large.counters.pfc_xoff_frames == 0}\n", "");
    output_of("verify --sources says s.yaml", 2);
    assert_holds("s.yaml:7:40: checks: no source has a statement s-4\n");
    output_of("verify --sources nowhere s.yaml", 2);
    assert_int_equal(system("echo 'statements: []' > says/t.yaml"), 0);
    output_of("verify --sources says s.yaml", 2);
    assert_holds("says/t.yaml:1:1: expected `source` and a list of `statements`");
}

/// Two flows over two spines: whether they meet is the hash's, and so the seed's.
static void write_collision(const char *rest) {
    FILE *file = fopen("seeds.yaml", "w");
    assert_non_null(file);
    fprintf(file,
            "topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 2}\n"
            "switch: {route: ecmp, buffer: {kind: static, size: 2MB, xoff: 1MB, xon: 1MB}}\n"
            "workload: [{kind: flow, src: host-0, dst: host-2, size: 300KB, group: g}, "
            "{kind: flow, src: host-1, dst: host-3, size: 300KB, group: g}]\n"
            "claims:\n  - {text: they meet, that: g.slowdown.max > 1.5%s}\n"
            "  - {text: both end, that: g.finished == 2}\n",
            rest);
    fclose(file);
}

/// With how many of the seeds 1 to 8 a run by itself says that they meet.
static uint32_t count_meetings(void) {
    uint32_t meet = 0;
    write_collision("");
    for (uint32_t seed = 1; seed <= 8; seed++) {
        char command[64];
        snprintf(command, sizeof command, "\"$WEFT\" verify seeds.yaml --seed %u >/dev/null", seed);
        int status = system(command) >> 8;
        assert_true(status == 0 || status == 5);
        meet += !status;
    }
    assert_in_range(meet, 1, 7);
    return meet;
}

static void verify_counts_seeds(void **state) {
    (void)state;
    uint32_t meet = count_meetings();
    char row[160];
    output_of("verify seeds.yaml --seeds 1..8", 5); // it is to hold with each
    assert_holds("with 8 seeds\nscenario   variants  claims    hold  findings  controls  unexpected\n"
                 "seeds.yaml        1       2       1         0         0           1\n");
    snprintf(row, sizeof row,
             "\n  DOES NOT HOLD    they meet\n                   g.slowdown.max > 1.5\n"
             "                   %u of 8 seeds\n                   median: ",
             meet);
    assert_holds(row);
    assert_holds("                   least:  1");
    snprintf(row, sizeof row, ", seeds: {at_least: %u, reason: two ways}", meet);
    write_collision(row);
    output_of("verify seeds.yaml --seeds 1..7,8", 0);
    snprintf(row, sizeof row, "at least %u of 8 seeds: two ways\n", meet);
    assert_holds(row);
    snprintf(row, sizeof row, ", seeds: {at_least: %u, reason: two ways}", meet + 1);
    write_collision(row);
    output_of("verify seeds.yaml --seeds 1..8", 5);
    static const char *const bad[] = {"1..", "2..1", "1,1", "", "1-5", "1..1001", "a"};
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        char command[64];
        snprintf(command, sizeof command, "verify seeds.yaml --seeds '%s'", bad[i]);
        output_of(command, 2);
        assert_holds("is not understood; expected at most 1000 numbers");
    }
}

/// Teeth over seeds: as many must break as must hold. Two spines where one is left do not help.
static void teeth_count_seeds(void **state) {
    (void)state;
    uint32_t meet = count_meetings();
    char row[160];
    snprintf(row, sizeof row, ", seeds: {at_least: %u, reason: two ways}, without: {topology.spines: 1}", meet);
    write_collision(row);
    output_of("verify seeds.yaml --seeds 1..8 --teeth", 5); // with one spine they always meet
    snprintf(row, sizeof row, "TOOTHLESS: holds also with topology.spines=\"1\" (8 of 8): ");
    assert_holds(row);
    snprintf(row, sizeof row, ", seeds: {at_least: %u, reason: two ways}, without: {workload.1.start: 1ms}", meet);
    write_collision(row);
    output_of("verify seeds.yaml --seeds 1..8 --teeth --all", 5); // the other claim names nothing
    assert_holds("broken with workload.1.start=\"1ms\" (8 of 8): ");
}

/// The mean over seeds is between the values of the seeds.
static void means_are_judged_over_seeds(void **state) {
    (void)state;
    count_meetings();
    json_t *root = json_of("verify seeds.yaml --seeds 1..8 --json", 5);
    const json_t *claim =
        json_array_get(json_object_get(json_array_get(json_object_get(root, "scenarios"), 0), "claims"), 0);
    double mean = 0;
    size_t k;
    json_t *run;
    json_array_foreach(json_object_get(claim, "runs"), k, run) {
        assert_int_equal(json_integer_value(json_object_get(run, "seed")), k + 1);
        mean += json_number_value(json_array_get(json_object_get(run, "values"), 0)) / 8;
    }
    assert_int_equal(k, 8);
    json_decref(root);
    for (int above = 0; above < 2; above++) {
        FILE *file = fopen("mean.yaml", "w");
        assert_int_equal(system("sed '/^claims/,$d' seeds.yaml > mean.head"), 0);
        fprintf(file, "base: mean.head\nclaims:\n  - {text: mean, that: g.slowdown.max > %.9f, seeds: mean}\n",
                mean * (above ? 1.000001 : 0.999999));
        fclose(file);
        output_of("verify mean.yaml --seeds 1..8", above ? 5 : 0);
        assert_null(strstr(text, "by one seed"));
    }
}

/// One seed gives no mean: verify and compare say that they judged by one seed.
static void a_mean_of_one_seed_says_so(void **state) {
    (void)state;
    static const char *const commands[] = {"verify one.yaml", "verify one.yaml --seed 3", "verify one.yaml --seeds 3"};
    write_scenario("one.yaml", "  - {text: they end, that: small.g.finished == 2, seeds: mean}\n", true_claim);
    for (unsigned i = 0; i < sizeof commands / sizeof *commands; i++) {
        output_of(commands[i], 0);
        assert_holds("findings  controls  not judged  unexpected\n");
        assert_holds("1 claim about several seeds not judged by one seed; --seeds 1..8 judges by eight\n");
        assert_null(strstr(text, "they end"));
    }
    output_of("verify one.yaml --all", 0);
    assert_holds("  not judged       they end\n");
    assert_holds("                   about the mean over seeds\n");
    output_of("compare one.yaml", 0);
    assert_holds(
        "claims: 1 hold, 0 known not to (findings), 1 not judged by one seed (weft verify --seeds), 0 unexpected");
    assert_holds("  not judged       they end\n");
    output_of("verify one.yaml --seeds 1..2 --all", 0);
    assert_null(strstr(text, "one seed"));
    assert_null(strstr(text, "not judged"));
    json_t *root = json_of("verify one.yaml --json", 0);
    json_t *claim = json_array_get(json_object_get(json_array_get(json_object_get(root, "scenarios"), 0), "claims"), 0);
    assert_int_equal(json_integer_value(json_object_get(claim, "mean_of")), 1);
    assert_string_equal(json_string_value(json_object_get(claim, "verdict")), "not judged");
    json_decref(root);
    root = json_of("compare one.yaml --json", 0);
    claim = json_array_get(json_object_get(root, "claims"), 0);
    assert_string_equal(json_string_value(json_object_get(claim, "verdict")), "not judged");
    json_decref(root);
}

/// Whatever a claim over several seeds expects, one seed never breaks it; nor does it confirm it.
static void one_seed_breaks_no_claim_over_seeds(void **state) {
    (void)state;
    static const char *const seeds[] = {"mean", "{at_least: 1, of: 8, reason: two ways}"};
    static const char *const than[] = {">", "<"}; // the slowdown is above 0: true and false
    static const char *const expected[] = {"", ", expected: no, reason: none", ", control: yes"};
    for (unsigned i = 0; i < 12; i++) {
        char row[256];
        snprintf(row, sizeof row, "  - {text: c, that: small.g.slowdown.max %s 0.5, seeds: %s%s}\n", than[i % 2],
                 seeds[i / 2 % 2], expected[i / 4]);
        write_scenario("one.yaml", row, "");
        output_of("compare one.yaml", 0);
        json_t *root = json_of("verify one.yaml --json", 0);
        const json_t *file = json_array_get(json_object_get(root, "scenarios"), 0);
        assert_int_equal(json_integer_value(json_object_get(file, "not_judged")), 1);
        assert_int_equal(json_integer_value(json_object_get(file, "hold")), 0);
        assert_int_equal(json_integer_value(json_object_get(file, "findings")), 0);
        json_decref(root);
        output_of("verify one.yaml --seeds 1..8", (i % 2 == 0) == (i < 4) ? 0 : 5);
    }
}

/// {mean: 1..8}: the file names the seeds, verify needs no --seeds, and the verdict is that of --seeds with the same
/// list. Runs are shared with other claims and between claims with overlapping lists.
static void claims_name_their_seeds(void **state) {
    (void)state;
    write_collision(", seeds: mean");
    json_t *root = json_of("verify seeds.yaml --seeds 3..6 --json", 0);
    const json_t *claim =
        json_array_get(json_object_get(json_array_get(json_object_get(root, "scenarios"), 0), "claims"), 0);
    double mean = 0;
    for (size_t k = 0; k < 4; k++)
        mean += json_number_value(
                    json_array_get(json_object_get(json_array_get(json_object_get(claim, "runs"), k), "values"), 0)) /
                4;
    json_decref(root);
    assert_int_equal(system("sed '/^claims/,$d' seeds.yaml > mean.head"), 0);
    for (int above = 0; above < 2; above++) {
        FILE *file = fopen("mean.yaml", "w");
        fprintf(file,
                "base: mean.head\nclaims:\n  - {text: mean, that: g.slowdown.max > %.9f, seeds: {mean: 3..6}}\n"
                "  - {text: other, that: g.slowdown.max >= 1, seeds: {mean: '5,6,7'}}\n"
                "  - {text: end, that: g.finished == 2}\n",
                mean * (above ? 1.000001 : 0.999999));
        fclose(file);
        output_of("verify mean.yaml", above ? 5 : 0);
        assert_holds("\n6 runs, for 6 uses of them\n"); // seeds 3 to 7, and the one of the configuration
        assert_null(strstr(text, "not judged"));
        output_of("verify mean.yaml --seed 7", above ? 5 : 0);
        assert_holds("\n5 runs, for 6 uses of them\n");
        output_of("verify mean.yaml --seeds 3..6", above ? 5 : 0);
        assert_holds("\n4 runs, for 4 uses of them\n");
        output_of("check mean.yaml", 0);
        output_of("compare mean.yaml", 0);
        assert_holds("about the mean over 4 seeds\n");
    }
    static const char *const bad[] = {"1", "2..1", "a", "''", "1..1001"};
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        char row[64];
        snprintf(row, sizeof row, ", seeds: {mean: %s}", bad[i]);
        write_collision(row);
        output_of("check seeds.yaml", 2);
        assert_holds("seeds.yaml:5:");
        assert_holds("expected two seeds or more, such as 1..8");
    }
}

/// Signals a verify of 200 runs once `enough` is so; the machine may be busy.
static void signal_verify(const char *enough, const char *signal, const char *then) {
    char command[512];
    snprintf(command, sizeof command,
             "exec 2>err; \"$WEFT\" verify long.yaml --seeds 1..200 --jobs 1 >shown & pid=$!; "
             "until %s || ! kill -0 $pid; do sleep 0.05; done; kill -%s $pid; wait $pid; %s",
             enough, signal, then);
    assert_int_equal(system(command), 0);
}

/// Killed or interrupted, it continues where it was: known results are not run again.
static void a_killed_verify_resumes(void **state) {
    (void)state;
    FILE *file = fopen("long.yaml", "w");
    fprintf(file, "%s",
            "topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 2}\n"
            "workload: [{kind: flow, src: host-0, dst: host-2, size: 20MB, group: g}]\n"
            "claims: [{text: it ends, that: g.finished == 1}]\n");
    fclose(file);
    signal_verify("test $(cat cache/weft/* | wc -l) -ge 2", "KILL", "test ! -s shown");
    signal_verify("grep -q known err", "TERM", "test $? = 130");
    assert_int_equal(system("grep -q '^weft: [1-9][0-9]* of 200 runs are known from a verify that did not end' err && "
                            "grep -q '^interrupted: what had not run to its end by then is not judged' shown"),
                     0);
    output_of("verify long.yaml --seeds 1..200 --jobs 2", 0);
    assert_holds(" of 200 runs are known from a verify that did not end\n");
    assert_holds("long.yaml        1       1       1         0         0           0\n");
    output_of("verify long.yaml --seeds 1..2", 0);
    assert_null(strstr(text, "are known"));
    assert_int_equal(system("test -z \"$(ls cache/weft)\""), 0); // a complete verify leaves nothing behind
}

/// A stalled run is reported, and the claims are judged by its measurements.
static void verify_tells_of_a_stall(void **state) {
    (void)state;
    FILE *file = fopen("stall.yaml", "w");
    fprintf(file, "%s",
            "topology: {kind: single, hosts: 3, rate: 200Gbps, delay: 150ns}\n"
            "workload: [{kind: flow, src: host-1, dst: host-0, size: 300KB, start: 0s}]\n"
            "events: [{at: 1us, link: host-0/0, state: down}]\n"
            "host: {timeout: 10us}\nrun: {stall: 100us}\n"
            "claims: [{text: it never ends, that: all.finished == 0}]\n");
    fclose(file);
    output_of("verify stall.yaml", 4);
    assert_holds("stall.yaml        1       1       1         0         0           0  STALLED\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compare_shows_them),
        cmocka_unit_test(json_has_them),
        cmocka_unit_test(mistakes_are_found_before_anything_runs),
        cmocka_unit_test(jobs_have_metrics),
        cmocka_unit_test(verify_runs_all),
        cmocka_unit_test(verify_refuses),
        cmocka_unit_test(equal_runs_are_one),
        cmocka_unit_test(answers_about_variants_are_their_own),
        cmocka_unit_test(teeth_are_tried),
        cmocka_unit_test(bands_are_tried),
        cmocka_unit_test(hosts_hide),
        cmocka_unit_test(bands_are_refused),
        cmocka_unit_test(a_control_must_not_hold),
        cmocka_unit_test(claims_reach_other_commands),
        cmocka_unit_test(figures_are_picked),
        cmocka_unit_test(sources_have_an_index),
        cmocka_unit_test(verify_counts_seeds),
        cmocka_unit_test(teeth_count_seeds),
        cmocka_unit_test(means_are_judged_over_seeds),
        cmocka_unit_test(one_seed_breaks_no_claim_over_seeds),
        cmocka_unit_test(claims_name_their_seeds),
        cmocka_unit_test(operands_without_claims_are_reported),
        cmocka_unit_test(a_mean_of_one_seed_says_so),
        cmocka_unit_test(a_killed_verify_resumes),
        cmocka_unit_test(verify_tells_of_a_stall),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
