// SPDX-License-Identifier: Apache-2.0
// Classes of hardware: each mistake of a file is refused at its place, a section gets what its class says and no more,
// and a network is refused that the hardware cannot be.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <unistd.h>

#include "base/param.h"
#include "run.h"
#include "weft/device.h"
#include "weft/hardware.h"
#include "weft/job.h"
#include "weft/param.h"
#include "weft/param_load.h"
#include "weft/report.h"
#include "weft/tree.h"

// --- the reader ---------------------------------------------------------------------------------------------------

#define HEAD "name: mine\nkind: chip\nabout: a chip\nvalues:\n"
#define AS ", basis: assumed, source: me}\n"

static const struct {
    const char *text, *error;
} refused[] = {
    {HEAD "  procesing: {typical: 1us" AS,
     "m.yaml:5:3: values.procesing: no parameter of the section switch and no fact of "
     "kind chip; did you mean \"processing\"?"},
    {HEAD "  bufer.size: {typical: 1MB" AS, "did you mean \"buffer.size\"?"},
    {HEAD "  chip: {typical: other" AS,
     "m.yaml:5:3: values.chip: no parameter of the section switch and no fact of kind chip; expected"},
    {HEAD "  preset: {typical: htsim" AS, "m.yaml:5:3: values.preset: no parameter"},
    {HEAD "  pfc: {typical: 1" AS, "m.yaml:5:3: values.pfc: no parameter"},
    {HEAD "  pcie: {typical: gen5 x16" AS, "values.pcie: no parameter of the section switch and no fact of kind chip"},
    {HEAD "  processing: {typical: 1us, source: me}\n", "m.yaml:5:15: values.processing.basis is missing"},
    {HEAD "  processing: {typical: 1us, basis: assumed}\n", "m.yaml:5:15: values.processing.source is missing"},
    {HEAD "  processing: {typical: 1us, basis: assumed, source: ''}\n", "values.processing.source is empty"},
    {HEAD "  processing: {low: 1us" AS, "m.yaml:5:15: values.processing.typical is missing"},
    {HEAD "  processing: {typical: 1us, basis: heard, source: me}\n",
     "m.yaml:5:37: values.processing.basis: no choice"},
    {HEAD "  processing: {typical: 1" AS, "m.yaml:5:25: values.processing.typical: \"1\" has no unit; expected a time"},
    {HEAD "  processing: {typical: 1s" AS, "m.yaml:5:25: values.processing.typical: "},
    {HEAD "  processing: {low: 2us, typical: 1us" AS, "m.yaml:5:21: values.processing.low: 2us is above typical (1us)"},
    {HEAD "  processing: {typical: 1us, high: 900ns" AS, "m.yaml:5:36: values.processing.high: 900ns is below typical"},
    {HEAD "  processing: {typical: 1us, highest: 2us" AS,
     "values.processing.highest: unknown key; did you mean \"high\"?"},
    {HEAD "  forwarding: {low: cut_through, typical: cut_through" AS, "low and high are for numbers"},
    {HEAD "  forwarding: {typical: cut" AS,
     "values.forwarding.typical: no choice \"cut\"; expected one of store_and_forward"},
    {HEAD "  buffer.kind: {typical: statik" AS,
     "m.yaml:5:26: values.buffer.kind.typical: no buffer \"statik\"; did you mean"},
    {HEAD "  buffer: {typical: pool" AS "  buffer.total: {typical: 1MB" AS,
     "m.yaml:6:3: values.buffer.total: no parameter"},
    {HEAD "  processing: 1us\n", "m.yaml:5:15: values.processing: found a text; expected a map"},
    {"name: mine\nkind: chips\nabout: a chip\nvalues: {}\n",
     "m.yaml:2:7: kind: no choice \"chips\"; did you mean \"chip\"?"},
    {"kind: chip\nabout: a chip\nvalues: {}\n", "name is missing"},
    {"name: mine\nkind: chip\nabout: a chip\n", "values: expected a map of parameters and facts"},
    {"name: mine\nkind: chip\nabout: a chip\nvalues: [a]\n", "m.yaml:4:9: values: expected a map"},
    {"name: mine\nkind: chip\nabot: a chip\nvalues: {}\n", "m.yaml:3:1: abot: unknown key; did you mean \"about\"?"},
    {"[a]\n", "m.yaml:1:1: expected a class of hardware"},
};

static void a_mistake_is_refused_at_its_place(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
        const struct weft_hardware *h;
        struct weft_error error = {0};
        enum weft_status status =
            weft_hardware_parse("m.yaml", refused[i].text, strlen(refused[i].text), arena, &h, &error);
        if (status != WEFT_ERROR_INPUT || !strstr(error.text, refused[i].error))
            fail_msg("expected: %s\ngot: %s\nof: %s", refused[i].error, error.text, refused[i].text);
        weft_arena_free(arena);
    }
}

static const struct weft_hardware *parse(const char *text, struct weft_arena *arena) {
    const struct weft_hardware *h;
    struct weft_error error = {0};
    if (weft_hardware_parse("m.yaml", text, strlen(text), arena, &h, &error)) fail_msg("%s", error.text);
    return h;
}

static void values_are_numbers_in_their_units(void **state) {
    (void)state;
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    const struct weft_hardware *h = parse(
        HEAD "  processing: {low: 500ns, typical: 1us, basis: vendor, source: sheet}\n"
             "  rate: {typical: 1.6Tbps" AS "  watts: {typical: 300.5" AS "  forwarding: {typical: cut_through" AS,
        arena);
    const struct weft_hardware_value *v = weft_hardware_value(h, "processing");
    assert_int_equal(h->kind, WEFT_HARDWARE_CHIP);
    assert_true(!v->fact && v->low_number == 500e3 && v->number == 1e6 && isnan(v->high_number));
    assert_int_equal(v->basis, WEFT_BASIS_VENDOR);
    assert_string_equal(weft_hardware_unit(v), "ps");
    assert_true(weft_hardware_value(h, "rate")->fact && weft_hardware_number(h, "rate", 0) == 1.6e12);
    assert_true(weft_hardware_number(h, "watts", 0) == 300.5);
    assert_true(weft_hardware_number(h, "forwarding", 7) == 7 && weft_hardware_number(h, "radix", 9) == 9);
    assert_null(weft_hardware_value(h, "radix"));
    assert_true(weft_hardware_band(h, "switch.processing") == v);
    assert_null(weft_hardware_band(h, "host.processing"));
    assert_null(weft_hardware_band(h, "switch.forwarding")); // no band
    assert_null(weft_hardware_band(h, "switch.rate"));       // a fact
    assert_true(weft_hardware_is_typical(v, "1000ns", arena) && !weft_hardware_is_typical(v, "1001ns", arena));
    weft_arena_free(arena);
}

static void shipped_classes_load_on_the_defaults_of_their_section(void **state) {
    (void)state;
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    assert_true(weft_hardware_count() >= 2);
    for (uint32_t i = 0; i < weft_hardware_count(); i++) {
        const struct weft_hardware *h;
        struct weft_error wrong = {0};
        if (weft_hardware_find(WEFT_HARDWARE_KINDS, weft_hardware_name(i), WEFT_NOWHERE, "", arena, &h, &wrong))
            fail_msg("%s", wrong.text);
        const struct weft_param_table *table = weft_hardware_kind_table(h->kind);
        struct weft_error error = {0};
        struct weft_tree *tree;
        const char *text = weft_arena_format(arena, "{%s: %s}", weft_hardware_kind_row(h->kind), h->name);
        assert_string_equal(h->name, weft_hardware_name(i));
        if (!table->n) continue; // a section that is not there yet
        assert_int_equal(weft_tree_parse("t.yaml", text, strlen(text), arena, &tree, &error), WEFT_OK);
        if (weft_params_load(table, tree, weft_arena_alloc(arena, 1, table->conf_size), arena, &error))
            fail_msg("%s: %s", h->name, error.text);
    }
    weft_arena_free(arena);
}

/// Each value may be said again beside the class, also one that has an effect by another value of the class alone.
static void keys_beside_a_class_need_no_more(void **state) {
    (void)state;
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    uint32_t said = 0;
    for (uint32_t i = 0; i < weft_hardware_count(); i++) {
        const struct weft_hardware *h = weft_hardware_at(i, arena);
        const struct weft_param_table *table = weft_hardware_kind_table(h->kind);
        for (uint32_t v = 0; v < h->n; v++) {
            if (h->value[v].fact || strchr(h->value[v].key, '.')) continue;
            const char *text = weft_arena_format(arena, "{%s: %s, %s: %s}", weft_hardware_kind_row(h->kind), h->name,
                                                 h->value[v].key, h->value[v].typical);
            struct weft_error error = {0};
            struct weft_tree *tree;
            assert_int_equal(weft_tree_parse("t.yaml", text, strlen(text), arena, &tree, &error), WEFT_OK);
            if (weft_params_load(table, tree, weft_arena_alloc(arena, 1, table->conf_size), arena, &error))
                fail_msg("%s: %s", h->name, error.text);
            said += h->value[v].row->needs != NULL;
        }
    }
    assert_true(said > 0);
    weft_arena_free(arena);
}

static enum weft_status load_text(const struct weft_param_table *table, const char *text, struct weft_arena *arena,
                                  struct weft_error *ret_error) {
    struct weft_tree *tree;
    assert_int_equal(weft_tree_parse("t.yaml", text, strlen(text), arena, &tree, ret_error), WEFT_OK);
    return weft_params_load(table, tree, weft_arena_alloc(arena, 1, table->conf_size), arena, ret_error);
}

/// The user's value overrides the class, also where it contradicts another value of the class. Returns how many values
/// of the row load without the class.
static uint32_t try_values(const struct weft_hardware *h, const struct weft_param *row) {
    const struct weft_param_table *table = weft_hardware_kind_table(h->kind);
    const char *value[40] = {row->dflt, row->min, row->max, row->type == WEFT_PARAM_BOOL ? "true" : NULL};
    uint32_t n = 4, loaded = 0;
    for (const char *const *c = row->choices; c && *c && n < 40; c++)
        value[n++] = *c;
    for (uint32_t i = 0; i < n; i++) {
        struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
        struct weft_error error = {0};
        const char *said = value[i] && *value[i] ? value[i] : "''", *kind = weft_hardware_kind_row(h->kind);
        const char *without = weft_arena_format(arena, "{%s: ideal, %s: %s}", kind, row->name, said),
                   *with = weft_arena_format(arena, "{%s: %s, %s: %s}", kind, h->name, row->name, said);
        if (value[i] && !load_text(table, without, arena, NULL)) {
            loaded++;
            bool needs_more = load_text(table, with, arena, &error) && strstr(error.text, "has no effect without");
            if (error.status && !needs_more) fail_msg("%s: %s", with, error.text);
        }
        weft_arena_free(arena);
    }
    return loaded;
}

static void keys_override_a_class(void **state) {
    (void)state;
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    uint32_t loaded = 0;
    for (uint32_t i = 0; i < weft_hardware_count(); i++) {
        const struct weft_hardware *h = weft_hardware_at(i, arena);
        const struct weft_param_table *table = weft_hardware_kind_table(h->kind);
        for (uint32_t r = 0; r < table->n; r++) {
            const struct weft_param *row = &table->rows[r];
            if (!strcmp(row->name, weft_hardware_kind_row(h->kind)) || row->type == WEFT_PARAM_SECTION) continue;
            if (row->type != WEFT_PARAM_MODEL) loaded += try_values(h, row);
            if (!row->beside) continue;
            const struct weft_model *model = weft_model_find((enum weft_model_kind)row->model_kind, row->dflt);
            for (uint32_t k = 0; k < model->params->n; k++)
                loaded += try_values(h, &model->params->rows[k]);
        }
    }
    assert_true(loaded > 1000);
    weft_arena_free(arena);
}

// --- what a section gets ------------------------------------------------------------------------------------------

static char folder[] = "/tmp/weft-hardware-XXXXXX";

static const char *path_of(const char *name) {
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void write_text(const char *name, const char *text) {
    FILE *file = fopen(path_of(name), "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static const char own_chip[] =
    HEAD "  processing: {low: 1us, typical: 2us, high: 3us" AS "  forwarding: {typical: cut_through" AS
         "  buffer.size: {typical: 3MB" AS "  pfc.reaction: {typical: 5ns" AS "  aqm.min: {typical: 5KB" AS
         "  aqm.least: {typical: 2KB" AS "  rate: {typical: 1Tbps" AS "  port_rate: {typical: 100Gbps" AS
         "  radix: {typical: 8" AS;
static const char own_nic[] =
    "name: mine\nkind: nic\nabout: a NIC\nvalues:\n  transport.timeout: {typical: 7ms" AS
    "  processing: {typical: 9ns" AS "  cc.preset: {typical: ns3_rdma" AS "  rate: {typical: 200Gbps" AS;

#define NETWORK                                                                                                        \
    "topology: {kind: single, hosts: 4, rate: 100Gbps}\nworkload: [{kind: flow, src: host-0, dst: host-1, size: "      \
    "1KB}]\n"

/// Binds NETWORK with these sections, read as a file beside mine.yaml and nic.yaml.
static enum weft_status bind(struct run *r, const char *sections) {
    char text[1024];
    snprintf(text, sizeof text, NETWORK "%s\n", sections);
    write_text("s.yaml", text);
    *r = (struct run){0};
    enum weft_status status = weft_scenario_file_read(path_of("s.yaml"), NULL, 0, &r->file, &r->error);
    return status ? status : run_bind(r, 0);
}

static void collect(void *context, const char *path, const char *value, const char *dflt) {
    char *all = context;
    (void)dflt;
    size_t n = strlen(all);
    assert_true(n + strlen(path) + strlen(value) + 4 < 65536);
    sprintf(all + n, "%s=%s;", path, value);
}

/// Whether the effective configuration has all of the texts, one after ";" each.
static void assert_config(const char *sections, const char *const *wanted) {
    struct run r;
    char *all = calloc(1, 65536);
    strcpy(all, ";");
    if (bind(&r, sections)) fail_msg("%s: %s", sections, r.error.text);
    weft_scenario_each(r.scenario, collect, all);
    for (; *wanted; wanted++) {
        char one[256];
        snprintf(one, sizeof one, ";%s;", *wanted);
        if (!strstr(all, one)) fail_msg("%s: %s is not in %s", sections, *wanted, all);
    }
    run_free(&r);
    free(all);
}
#define ASSERT_CONFIG(sections, ...) assert_config(sections, (const char *const[]){__VA_ARGS__, NULL})

static void a_class_lies_below_keys_and_presets(void **state) {
    (void)state;
    ASSERT_CONFIG("", "switch.chip=ideal", "host.nic=ideal", "switch.processing=300ns",
                  "switch.forwarding=store_and_forward");
    ASSERT_CONFIG("switch: {chip: ./mine.yaml}", "switch.chip=./mine.yaml", "switch.processing=2us",
                  "switch.forwarding=cut_through", "switch.buffer.kind=static", "switch.buffer.size=3MB",
                  "switch.pfc.reaction=5ns", "switch.aqm.kind=none");
    ASSERT_CONFIG("switch: {chip: mine.yaml, processing: 1ns, pfc: {reaction: 9ns}}", "switch.processing=1ns",
                  "switch.pfc.reaction=9ns", "switch.forwarding=cut_through");
    ASSERT_CONFIG("switch: {chip: mine.yaml, preset: htsim}", "switch.processing=0ns", "switch.buffer.size=18MB",
                  "switch.forwarding=store_and_forward");
    ASSERT_CONFIG("switch: {preset: htsim}", "switch.chip=ideal");
    ASSERT_CONFIG("host: {preset: uet_htsim}", "host.nic=ideal");
    // empty: as if it were not there
    ASSERT_CONFIG("switch: {chip: }", "switch.chip=ideal", "switch.processing=300ns");
}

static void assert_refused(const char *sections, const char *expected);

/// A key that another one switches on overrides that of a class, which has both.
static void a_class_switches_on_what_a_key_needs(void **state) {
    (void)state;
    ASSERT_CONFIG("host: {nic: connectx5, rx_buffer: 300KB, drain_slow_time: 1us, jitter: 0, stall_chance: 0.5, "
                  "adaptive_to: 2s}",
                  "host.rx_buffer=300KB", "host.drain_slow_time=1us", "host.jitter=0", "host.stall_chance=0.5",
                  "host.adaptive_to=2s");
    ASSERT_CONFIG("host: {nic: ideal, jitter: 0}", "host.jitter=0"); // as of typical hosts, in a comparison
    assert_refused("host: {nic: ideal, rx_buffer: 300KB}", "s.yaml:3:20: host.rx_buffer: has no effect without");
    assert_refused("host: {nic: connectx7, rx_buffer: 300KB}", "s.yaml:3:24: host.rx_buffer: has no effect without");
}

static void what_a_model_in_use_lacks_is_left_out(void **state) {
    (void)state;
    ASSERT_CONFIG("switch: {chip: mine.yaml, buffer: dynamic}", "switch.buffer.kind=dynamic",
                  "switch.buffer.total=32MB");
    ASSERT_CONFIG("switch: {chip: mine.yaml, aqm: wred}", "switch.aqm.min=5KB");
    ASSERT_CONFIG("switch: {chip: mine.yaml, aqm: {kind: wred, min: 6KB}}", "switch.aqm.min=6KB");
    ASSERT_CONFIG("switch: {chip: mine.yaml, aqm: {kind: codel}}", "switch.aqm.least=2KB");
    ASSERT_CONFIG("switch: {chip: mine.yaml, aqm: {kind: wred, preset: hpcc}}", "switch.aqm.min=400KB");
    write_text("pool.yaml", HEAD "  buffer: {typical: pool" AS "  buffer.headroom: {typical: 3KB" AS
                                 "  queueing.kind: {typical: voq" AS);
    ASSERT_CONFIG("switch: {chip: pool.yaml}", "switch.buffer.kind=pool", "switch.buffer.headroom=3KB",
                  "switch.queueing.kind=voq");
    ASSERT_CONFIG("switch: {chip: pool.yaml, buffer: egress, queueing: oq}", "switch.buffer.kind=egress",
                  "switch.queueing.kind=oq", "switch.buffer.headroom=3KB");
    // a value that the model of that name refuses
    ASSERT_CONFIG("host: {nic: nic.yaml, cc: dcqcn}", "host.cc.preset=ns3_rdma", "host.timeout=7ms",
                  "host.processing=9ns");
    ASSERT_CONFIG("host: {nic: nic.yaml, cc: dcqcn_connectx}", "host.cc.kind=dcqcn_connectx", "host.timeout=7ms");
    // a value of the class that contradicts the user's
    ASSERT_CONFIG("host: {nic: connectx5, retransmission: selective}", "host.retransmission=selective",
                  "host.nak_interval=never", "host.adaptive_timeout=true");
    ASSERT_CONFIG("host: {nic: connectx5, transport: {timeout: never}}", "host.timeout=never",
                  "host.adaptive_timeout=false", "host.nak_interval=500us");
    // a key of the transport stands beside it
    ASSERT_CONFIG("host: {nic: nic.yaml, timeout: 8ms}", "host.timeout=8ms");
    ASSERT_CONFIG("host: {nic: nic.yaml, transport: {timeout: 8ms}}", "host.timeout=8ms");
}

static void devices_have_classes_of_their_own(void **state) {
    (void)state;
    ASSERT_CONFIG("switch: {processing: 4ns}\ndevices: [{match: 'switch-*', switch: {chip: mine.yaml}}]",
                  "switch.chip=ideal", "switch.processing=4ns", "switch.forwarding=store_and_forward",
                  "devices.0.switch.chip=mine.yaml", "devices.0.switch.processing=4ns",
                  "devices.0.switch.forwarding=cut_through");
    ASSERT_CONFIG("switch: {chip: mine.yaml}\ndevices: [{match: 'switch-*', switch: {chip: ideal}}]",
                  "switch.processing=2us", "devices.0.switch.processing=300ns");
}

static void a_server_has_a_class(void **state) {
    (void)state;
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    write_text("server.yaml", "name: box\nkind: server\nabout: a server\nvalues:\n  gpus: {typical: 2" AS
                              "  latency: {low: 1us, typical: 2us" AS);
    const char *text = weft_arena_format(arena, "{kind: '%s', latency: 3us}", path_of("server.yaml"));
    struct weft_tree *tree;
    struct weft_server_conf conf;
    struct weft_error error = {0};
    assert_int_equal(weft_tree_parse("t.yaml", text, strlen(text), arena, &tree, &error), WEFT_OK);
    if (weft_params_load(&weft_server_table, tree, &conf, arena, &error)) fail_msg("%s", error.text);
    assert_int_equal(conf.gpus, 2);
    assert_int_equal(conf.latency_ps, 3000000);
    weft_arena_free(arena);
}

// --- what is refused ----------------------------------------------------------------------------------------------

static void assert_refused(const char *sections, const char *expected) {
    struct run r;
    enum weft_status status = bind(&r, sections);
    if (!status) status = weft_simulation_check(r.scenario, r.topology, &r.error);
    if (status != WEFT_ERROR_INPUT || !strstr(r.error.text, expected))
        fail_msg("%s\nexpected: %s\ngot: %s", sections, expected, r.error.text);
    run_free(&r);
}

static void a_class_that_does_not_fit_is_refused(void **state) {
    (void)state;
    assert_refused("switch: {chip: tomahwk5}",
                   "s.yaml:3:16: switch.chip: no chip \"tomahwk5\"; did you mean \"tomahawk5\"?");
    assert_refused("switch: {chip: connectx7}",
                   "s.yaml:3:16: switch.chip: connectx7 is of kind nic, not chip; expected one of ideal, ");
    assert_refused("host: {nic: mine.yaml}", "s.yaml:3:13: host.nic: mine.yaml is of kind chip, not nic");
    assert_refused("switch: {chip: ./none.yaml}", "s.yaml:3:16: ");
    assert_refused("switch: {chip: ./none.yaml}", "none.yaml: cannot be read");
    assert_refused("switch: {chip: [a]}", "switch.chip");
    write_text("bad.yaml",
               "name: bad\nkind: chip\nabout: x\nvalues: {procesing: {typical: 1us, basis: vendor, source: y}}\n");
    assert_refused("switch: {chip: bad.yaml}", "bad.yaml:4:10: values.procesing: no parameter");
    assert_refused("devices: [{match: '*', switch: {chip: ideals}}]",
                   "devices.0.switch.chip: no chip \"ideals\"; did you mean \"ideal\"?");
}

/// Names that fit are shown whole: the last of them, or "..." for those without room.
static void all_that_fit_are_named(void **state) {
    (void)state;
    struct weft_error error = {0};
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    const struct weft_hardware *h;
    weft_hardware_find(WEFT_HARDWARE_KINDS, "none", WEFT_NOWHERE, "x", arena, &h, &error);
    for (uint32_t i = 0; i < weft_hardware_count(); i++)
        assert_non_null(strstr(error.text, weft_hardware_name(i)));
    static const char *const names[] = {"abc", "defg", "hij"};
    static const char *const joined[] = {
        [9] = "abc, ...", [12] = "abc, ...", [14] = "abc, ...", [15] = "abc, defg, hij"};
    for (size_t size = 9; size < 16; size++) {
        char text[16];
        weft__names_join(names, 3, text, size);
        assert_true(strlen(text) < size);
        if (joined[size]) assert_string_equal(text, joined[size]);
    }
    weft_arena_free(arena);
}

/// A class that cuts through stores frames with sizes or a wire of their own, unless the user says that it does not.
static void own_frames_are_stored_whole(void **state) {
    (void)state;
    static const char *const hosts[] = {"preset: uet", "preset: htsim", "preset: ns3_hpcc", "data_header: 80B",
                                        "wire: {overhead: 12B}"};
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        char text[160];
        snprintf(text, sizeof text, "switch: {chip: tomahawk5}\nhost: {%s}", hosts[i]);
        ASSERT_CONFIG(text, "switch.chip=tomahawk5", "switch.forwarding=store_and_forward");
        snprintf(text, sizeof text, "switch: {chip: tomahawk5, forwarding: cut_through}\nhost: {%s}", hosts[i]);
        assert_refused(text, "s.yaml:3:");
    }
    ASSERT_CONFIG("switch: {chip: tomahawk5}\nhost: {}", "switch.forwarding=cut_through");
}

/// Of NETWORK with both files, and one or two settings.
static enum weft_status check_settings(const char *first, const char *second, struct weft_error *ret_error) {
    struct run r = {0};
    const char *const settings[] = {first, second};
    write_text("s.yaml", NETWORK "switch: {chip: mine.yaml}\nhost: {nic: nic.yaml}\n");
    enum weft_status status = weft_scenario_file_read(path_of("s.yaml"), settings, second ? 2 : 1, &r.file, &r.error);
    if (!status) status = run_bind(&r, 0);
    if (!status) status = weft_simulation_check(r.scenario, r.topology, &r.error);
    *ret_error = r.error;
    run_free(&r);
    return status;
}

static void hardware_that_cannot_do_it_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *first, *second, *error;
    } checks[] = {
        {"run.seed=2", NULL, NULL}, // 4 ports of 100G: mine.yaml has 8, of 100G each, 1T together
        {"topology.hosts=8", NULL, NULL},
        {"topology.rate=150Gbps", NULL,
         "s.yaml:3:16: switch.chip: mine cannot do the rate: it has 100Gbps a port, and switch-0 needs 150Gbps; "
         "expected "
         "ideal, or one that can: "},
        {"topology.hosts=9", NULL,
         "s.yaml:3:16: switch.chip: mine has at most 8 ports, and switch-0 has 9; expected ideal"},
        {"topology.rate=201Gbps", "switch.chip=ideal",
         "s.yaml:4:13: host.nic: mine cannot do the rate: it has 200Gbps a port, and host-0 needs 201Gbps; expected "
         "ideal, "
         "or one that can: connectx7"},
        {"topology.rate=100Gbps", "switch.chip=./wide.yaml",
         "switch.chip: mine cannot do the rate: it has 300Gbps for all ports together, and switch-0 needs 400Gbps"},
        {"topology.rate=100Tbps", "host.nic=ideal", "switch-0 needs 100Tbps; expected ideal"},
    };
    write_text("wide.yaml", HEAD "  rate: {typical: 300Gbps" AS);
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        struct weft_error error;
        enum weft_status status = check_settings(checks[i].first, checks[i].second, &error);
        bool as_expected = checks[i].error ? status && strstr(error.text, checks[i].error) : !status;
        if (!as_expected) fail_msg("%s: expected: %s; got: %s", checks[i].first, checks[i].error, error.text);
    }
}

// --- results ------------------------------------------------------------------------------------------------------

static void assert_line(const char *sections, const char *line) {
    struct run r;
    if (bind(&r, sections)) fail_msg("%s", r.error.text);
    r.outcome = run_again(&r, 1, "");
    const struct weft_run run = {
        .scenario = r.scenario, .topology = r.topology, .workload = r.workload, .outcome = r.outcome};
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    weft_report_table(file, &run);
    fclose(file);
    if (!strstr(text, line)) fail_msg("%s is not in %s", line, text);
    free(text);
    run_free(&r);
}

static void a_run_says_what_was_ideal(void **state) {
    (void)state;
    assert_line("", "\nhardware: ideal: switches, hosts, links\n");
    assert_line("switch: {chip: mine.yaml}", "\nhardware: switches mine.yaml; ideal: hosts, links\n");
    assert_line("devices: [{match: host-0, host: {nic: nic.yaml}}]",
                "\nhardware: hosts nic.yaml (1); ideal: switches, hosts (3), links\n");
}

/// Keys that override a class, of whichever device, once each; a model that lacks a key of the class is named itself.
static void a_run_says_what_overrides_a_class(void **state) {
    (void)state;
    assert_line("switch: {chip: mine.yaml, processing: 2000ns}",
                "\nhardware: switches mine.yaml; ideal: hosts, links\n");
    assert_line("switch: {chip: mine.yaml, processing: 1us, pfc: {reaction: 6ns}}",
                "\nhardware: switches mine.yaml but processing, pfc.reaction; ideal: hosts, links\n");
    assert_line(
        "host: {nic: nic.yaml, timeout: 8ms}\ndevices: [{match: host-0, host: {processing: 1ns}}, {match: host-2, "
        "host: {processing: 2ns}}]",
        "\nhardware: hosts nic.yaml but processing, timeout; ideal: switches, links\n");
    assert_line("host: {nic: connectx5, cc: none, retransmission: selective}",
                "\nhardware: hosts connectx5 but nak_interval, cc; ideal: switches, links\n");
}

/// What a run was read from has the user's classes, and repeats it where their files are no more, or others.
static void classes_are_stored(void **state) {
    (void)state;
    static const char link[] = "name: wire\nkind: cable\nabout: a cable\nvalues:\n  delay_per_metre: {typical: 9ns" AS;
    struct run first, again = {0};
    write_text("stored.yaml", own_chip);
    write_text("wire.yaml", link);
    if (bind(&first,
             "switch: {chip: ./stored.yaml}\nlink: {cable: wire.yaml, length: 2m, phy: none}\ndevices: [{match: "
             "host-1, host: {nic: nic.yaml}}]"))
        fail_msg("%s", first.error.text);
    write_text("stored.yaml", "changed");
    assert_int_equal(unlink(path_of("wire.yaml")), 0);
    uint32_t n;
    const struct weft_scenario_source *source = weft_scenario_sources(first.file, &n);
    assert_true(n >= 4); // and settings of the environment
    if (weft_scenario_file_stored(source, n, &again.file, &again.error) || run_bind(&again, 0) ||
        weft_simulation_check(again.scenario, again.topology, &again.error))
        fail_msg("%s", again.error.text);
    assert_int_equal(weft_scenario_device(again.scenario, "switch-0")->sw.processing_ps, 2000000);
    assert_int_equal(again.topology->link[0].delay_ps, 18000);
    uint32_t again_n;
    weft_scenario_sources(again.file, &again_n);
    assert_int_equal(again_n, n);
    run_free(&first);
    run_free(&again);
}

static int set_up(void **state) {
    (void)state;
    if (!mkdtemp(folder) || chdir(folder)) return 1; // files of settings are relative to it
    write_text("mine.yaml", own_chip);
    write_text("nic.yaml", own_nic);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    return system(command);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mistake_is_refused_at_its_place),
        cmocka_unit_test(values_are_numbers_in_their_units),
        cmocka_unit_test(shipped_classes_load_on_the_defaults_of_their_section),
        cmocka_unit_test(keys_beside_a_class_need_no_more),
        cmocka_unit_test(keys_override_a_class),
        cmocka_unit_test(a_class_lies_below_keys_and_presets),
        cmocka_unit_test(a_class_switches_on_what_a_key_needs),
        cmocka_unit_test(what_a_model_in_use_lacks_is_left_out),
        cmocka_unit_test(devices_have_classes_of_their_own),
        cmocka_unit_test(a_server_has_a_class),
        cmocka_unit_test(a_class_that_does_not_fit_is_refused),
        cmocka_unit_test(hardware_that_cannot_do_it_is_refused),
        cmocka_unit_test(all_that_fit_are_named),
        cmocka_unit_test(own_frames_are_stored_whole),
        cmocka_unit_test(a_run_says_what_was_ideal),
        cmocka_unit_test(a_run_says_what_overrides_a_class),
        cmocka_unit_test(classes_are_stored),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
