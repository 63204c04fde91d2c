// SPDX-License-Identifier: Apache-2.0
// JSON Schema, draft 2020-12 (json-schema.org/draft/2020-12/json-schema-core). Each table of parameters is a
// definition: "switch", "cc.dcqcn". Each kind of model is another one: "cc" is any of its models.
#include "results.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/units.h"
#include "weft/goodput.h"
#include "weft/hardware.h"
#include "weft/nccl.h"
#include "weft/param.h"
#include "weft/param_load.h"
#include "weft/scenario.h"
#include "weft/sweep.h"
#include "weft/tin_rma.h"
#include "weft/training.h"
#include "weft/workload.h"

#define NUMBER "^ *[0-9]+(\\.[0-9]+)? *"
#define BOOLS "[true,false,\"on\",\"off\",\"yes\",\"no\"]"
#define TYPE "{\"type\":\"%s\"}"
#define REFERENCE "{\"$ref\":\"#/$defs/%s\"}"

/// A member whose value is JSON already, with at most one text in it.
static __attribute__((format(printf, 3, 0))) void add_member(struct weft__json *j, const char *key, const char *format,
                                                             const char *text) {
    weft__json_key(j, key);
    fprintf(weft__json_value(j), format, text);
}

const struct weft_param_table *weft_cli_list_table(const char *key) {
    static const struct {
        const char *key;
        const struct weft_param_table *table;
    } all[] = {
        {"model", &weft_training_model_table}, {"plan", &weft_training_plan_table}, {"pipeline", &weft_pipeline_table}};
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        if (!strcmp(all[i].key, key)) return all[i].table;
    return NULL;
}

static void type_pattern(struct weft__json *j, const char *pattern) {
    weft__json_key_string(j, "type", "string");
    weft__json_key_string(j, "pattern", pattern);
}

static void type_uint(struct weft__json *j, const struct weft_param *row) {
    char why[128];
    uint64_t bound;
    add_member(j, "type", row->otherwise ? "[\"integer\",\"string\"]" : "\"integer\"", NULL);
    if (row->min && weft__quantity_parse(WEFT__COUNT, row->min, &bound, why, sizeof why))
        weft__json_key_u64(j, "minimum", bound);
    if (row->max && weft__quantity_parse(WEFT__COUNT, row->max, &bound, why, sizeof why))
        weft__json_key_u64(j, "maximum", bound);
}

static void put_names(struct weft__json *j, const char *const *name) {
    weft__json_key(j, "enum");
    weft__json_begin_array(j);
    for (; *name; name++)
        weft__json_string(j, *name);
    weft__json_end_array(j);
}

static void type_real(struct weft__json *j) {
    add_member(j, "type", "[\"number\",\"string\"]", NULL);
    weft__json_key_string(j, "pattern", "^[-+0-9.eE]+(/[-+0-9.eE]+|%)?$");
}

static void type_time(struct weft__json *j, const struct weft_param *row) {
    char pattern[128];
    snprintf(pattern, sizeof pattern, NUMBER "(ps|ns|us|ms|s|nsec|usec|msec|sec|\xc2\xb5s|\xce\xbcs)$|^%s$",
             row->choices ? row->choices[0] : "never");
    type_pattern(j, pattern);
}

static void type_of(struct weft__json *j, const struct weft_param *row) {
    switch (row->type) {
    case WEFT_PARAM_TIME:
        type_time(j, row);
        return;
    case WEFT_PARAM_RATE:
        type_pattern(j, NUMBER "([kKmMgGtT]?(bps|b|bE|b/s|bit|bit/s|bits/s)|[kKmMgGtT])$");
        return;
    case WEFT_PARAM_BYTES:
        type_pattern(j, NUMBER "(B|kB|[KMGT]i?B)$");
        return;
    case WEFT_PARAM_UINT:
        type_uint(j, row);
        return;
    case WEFT_PARAM_REAL:
        type_real(j);
        return;
    case WEFT_PARAM_BOOL:
        add_member(j, "enum", BOOLS, NULL);
        return;
    case WEFT_PARAM_CHOICE:
        put_names(j, row->choices);
        return;
    case WEFT_PARAM_DSCP_MAP:
        add_member(j, "type", "[\"object\",\"string\"]", NULL);
        return;
    case WEFT_PARAM_TEXT:
    case WEFT_PARAM_PROSE:
    case WEFT_PARAM_PRIORITIES:
    case WEFT_PARAM_WEIGHTS:
        add_member(j, "type", "[\"string\",\"number\",\"array\"]", NULL);
        return;
    case WEFT_PARAM_MODEL:
    case WEFT_PARAM_SECTION:
        break;
    }
}

/// What editors show: the help, and what the type cannot express.
static void describe_row(struct weft__json *j, const struct weft_param *row) {
    char text[1024];
    int n = snprintf(text, sizeof text, "%s", row->help);
    if (row->dflt && *row->dflt) n += snprintf(text + n, sizeof text - (size_t)n, "; default %s", row->dflt);
    if (row->min) n += snprintf(text + n, sizeof text - (size_t)n, "; at least %s", row->min);
    if (row->max) n += snprintf(text + n, sizeof text - (size_t)n, "; at most %s", row->max);
    if (row->needs) snprintf(text + n, sizeof text - (size_t)n, "; needs %s", row->needs);
    weft__json_key_string(j, "description", text);
}

/// A row that names a class of hardware: those that come with weft are examples, for a file may have any name.
static void put_examples(struct weft__json *j, const struct weft_param_table *table, const struct weft_param *row) {
    uint32_t kind = 0;
    while (kind < WEFT_HARDWARE_KINDS && (weft_hardware_kind_table(kind)->rows != table->rows ||
                                          strcmp(weft_hardware_kind_row(kind), row->name) != 0))
        kind++;
    if (kind == WEFT_HARDWARE_KINDS) return;
    WEFT_SCRATCH(arena, WEFT_MEMORY_SCENARIO);
    weft__json_key(j, "examples");
    weft__json_begin_array(j);
    weft__json_string(j, WEFT_HARDWARE_IDEAL);
    for (uint32_t i = 0; i < weft_hardware_count(); i++)
        if (weft_hardware_at(i, arena)->kind == kind) weft__json_string(j, weft_hardware_name(i));
    weft__json_end_array(j);
}

static void put_parameter(struct weft__json *j, const struct weft_param_table *table, const struct weft_param *row) {
    weft__json_key(j, row->name);
    weft__json_begin_object(j);
    describe_row(j, row);
    const struct weft_param_classes *classes = row->type == WEFT_PARAM_SECTION ? row->table->classes : NULL;
    if (classes && !strcmp(classes->rows[0], "kind")) {
        add_member(j, "anyOf", "[{\"type\":\"string\"}," REFERENCE "]", row->table->name);
    } else if (row->type == WEFT_PARAM_SECTION || row->type == WEFT_PARAM_MODEL) {
        add_member(j, "$ref", "\"#/$defs/%s\"",
                   row->type == WEFT_PARAM_SECTION ? row->table->name
                                                   : weft_kind_name((enum weft_model_kind)row->model_kind));
    } else {
        type_of(j, row);
        put_examples(j, table, row);
    }
    weft__json_end_object(j);
}

static void put_required(struct weft__json *j, const struct weft_param_table *table, const char *kind) {
    weft__json_key(j, "required");
    weft__json_begin_array(j);
    if (kind) weft__json_string(j, kind);
    for (uint32_t i = 0; i < table->n; i++)
        if (!table->rows[i].dflt) weft__json_string(j, table->rows[i].name);
    weft__json_end_array(j);
}

/// Parameters of all models of a row's kind, which may be beside it. Those with the same name are described once.
static void parameters_beside(struct weft__json *j, const struct weft_param *row) {
    enum weft_model_kind kind = (enum weft_model_kind)row->model_kind;
    for (uint32_t m = 0; m < weft_model_count(kind); m++) {
        const struct weft_param_table *table = weft_model_at(kind, m)->params;
        for (uint32_t i = 0; i < table->n; i++) {
            bool known = false;
            for (uint32_t before = 0; before < m && !known; before++)
                known = weft_param_find(weft_model_at(kind, before)->params, table->rows[i].name) != NULL;
            if (!known) put_parameter(j, table, &table->rows[i]);
        }
    }
}

/// A table as an object; `model`, if there is one, adds the key `kind`.
static void table_object(struct weft__json *j, const struct weft_param_table *table, const struct weft_model *model) {
    weft__json_begin_object(j);
    weft__json_key_string(j, "type", "object");
    if (model) weft__json_key_string(j, "description", model->summary);
    weft__json_key(j, "properties");
    weft__json_begin_object(j);
    if (model) add_member(j, "kind", "{\"const\":\"%s\"}", model->name);
    for (uint32_t i = 0; i < table->n; i++)
        put_parameter(j, table, &table->rows[i]);
    for (uint32_t i = 0; i < table->n; i++)
        if (table->rows[i].beside) parameters_beside(j, &table->rows[i]);
    for (const char *const *list = table->lists; list && *list; list++) {
        const struct weft_param_table *own = weft_cli_list_table(*list);
        if (own)
            add_member(j, *list, "{\"anyOf\":[{\"type\":\"string\"}," REFERENCE "]}", own->name);
        else if (model && model->kind == WEFT_KIND_TOPOLOGY && !strcmp(*list, "plane")) // a network within it
            add_member(j, *list, REFERENCE, weft_kind_name(model->kind));
        else
            add_member(j, *list, TYPE,
                       table == &weft_sweep_table || (table == &weft_live_table && !strcmp(*list, "hosts"))
                           ? "object"
                           : "array"); // axes by their paths, hosts by their names
    }
    // Names chosen by the user, each with a model, or with another name of the map.
    for (const char *const *key = model ? table->models : NULL; key && *key; key++)
        add_member(j, *key,
                   "{\"type\":\"object\",\"additionalProperties\":{\"anyOf\":[" REFERENCE ",{\"type\":\"string\"}]}}",
                   weft_kind_name(model->kind));
    weft__json_end_object(j);
    put_required(j, table, NULL);
    weft__json_key_bool(j, "additionalProperties", false);
    weft__json_end_object(j);
}

static void define_kind(struct weft__json *j, enum weft_model_kind kind) {
    const char *kind_name = weft_kind_name(kind);
    char name[128];
    for (uint32_t i = 0; i < weft_model_count(kind); i++) {
        const struct weft_model *model = weft_model_at(kind, i);
        snprintf(name, sizeof name, "%s.%s", kind_name, model->name);
        weft__json_key(j, name);
        table_object(j, model->params, model);
    }
    weft__json_key(j, kind_name);
    weft__json_begin_object(j);
    weft__json_key(j, "anyOf");
    weft__json_begin_array(j);
    weft__json_begin_object(j);
    weft__json_key(j, "enum");
    weft__json_begin_array(j);
    for (uint32_t i = 0; i < weft_model_count(kind); i++)
        weft__json_string(j, weft_model_at(kind, i)->name);
    weft__json_end_array(j);
    weft__json_end_object(j);
    for (uint32_t i = 0; i < weft_model_count(kind); i++)
        fprintf(weft__json_value(j), "{\"$ref\":\"#/$defs/%s.%s\"}", kind_name, weft_model_at(kind, i)->name);
    weft__json_end_array(j);
    weft__json_end_object(j);
}

static void define_all(struct weft__json *j) {
    const struct weft_param_table *const tables[] = {&weft_pfc_table,
                                                     &weft_dcbx_table,
                                                     &weft_run_table,
                                                     &weft_capture_table,
                                                     &weft_fabric_part_table,
                                                     &weft_server_table,
                                                     &weft_occupied_table,
                                                     &weft_operation_table,
                                                     &weft_pipeline_table,
                                                     &weft_control_table,
                                                     &weft_reach_table,
                                                     &weft_fsdb_table,
                                                     &weft_bgp_table,
                                                     &weft_bootstrap_table,
                                                     &weft_sdn_table,
                                                     &weft_timesync_table,
                                                     &weft_rma_processor_table,
                                                     &weft_gnet_table,
                                                     &weft_tin_rma_table,
                                                     &weft_wire_table,
                                                     &weft_goodput_table,
                                                     &weft_goodput_part_table,
                                                     &weft_sweep_table,
                                                     &weft_post_table,
                                                     &weft_sample_table,
                                                     &weft_link_table,
                                                     &weft_event_table,
                                                     &weft_nccl_costs_table,
                                                     &weft_training_model_table,
                                                     &weft_training_plan_table,
                                                     &weft_live_table,
                                                     &weft_live_host_table,
                                                     &weft_inference_arrivals_table,
                                                     &weft_inference_prefill_table,
                                                     &weft_inference_decode_table,
                                                     &weft_inference_transfer_table,
                                                     &weft_inference_gpu_table,
                                                     &weft_inference_slo_table};
    weft__json_key(j, "$defs");
    weft__json_begin_object(j);
    for (unsigned i = 0; i < sizeof tables / sizeof *tables; i++) {
        weft__json_key(j, tables[i]->name);
        table_object(j, tables[i], NULL);
    }
    for (uint32_t i = 0; i < weft_model_count(WEFT_KIND_BOX); i++) { // as a section
        weft__json_key(j, weft_model_at(WEFT_KIND_BOX, i)->name);
        table_object(j, weft_model_at(WEFT_KIND_BOX, i)->params, NULL);
    }
    for (unsigned kind = 0; kind < WEFT_KIND_BOX; kind++)
        define_kind(j, (enum weft_model_kind)kind);
    weft__json_end_object(j);
}

static void box_references(struct weft__json *j) {
    for (uint32_t i = 0; i < weft_model_count(WEFT_KIND_BOX); i++)
        add_member(j, weft_model_at(WEFT_KIND_BOX, i)->name, REFERENCE, weft_model_at(WEFT_KIND_BOX, i)->name);
    add_member(j, "dcbx", REFERENCE, "dcbx");
}

/// "devices": entries with a match and the sections that differ.
static void put_devices(struct weft__json *j) {
    weft__json_key(j, "devices");
    weft__json_begin_object(j);
    weft__json_key_string(j, "type", "array");
    weft__json_key(j, "items");
    weft__json_begin_object(j);
    weft__json_key_string(j, "type", "object");
    weft__json_key(j, "properties");
    weft__json_begin_object(j);
    add_member(j, "match", TYPE, "string");
    box_references(j);
    weft__json_end_object(j);
    add_member(j, "required", "[\"match\"]", NULL);
    weft__json_key_bool(j, "additionalProperties", false);
    weft__json_end_object(j);
    weft__json_end_object(j);
}

/// Seeds: each, mean or {mean: 1..8} or {at_least: 6, reason: ...}.
static const char a_claim[] =
    "{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"},\"source\":{\"type\":\"string\"},"
    "\"checks\":{\"type\":\"string\"},\"that\":{\"type\":\"string\"},\"reason\":{\"type\":\"string\"},"
    "\"toothless\":{\"type\":\"string\"},\"definition\":{\"type\":\"string\"},\"cases\":{\"type\":\"string\"},"
    "\"expected\":{\"enum\":" BOOLS "},"
    "\"control\":{\"enum\":" BOOLS "},\"without\":{\"type\":\"object\"},\"seeds\":{},\"bands\":{\"type\":\"array\"},"
    "\"in_band\":{\"enum\":[\"unknown\",\"holds\",\"turns\",\"hidden\",\"ideal\"]}},"
    "\"required\":[\"text\",\"that\"],\"additionalProperties\":false}";

void weft_cli_schema(FILE *file) {
    struct weft__json j = {.file = file};
    weft__json_begin_object(&j);
    weft__json_key_string(&j, "$schema", "https://json-schema.org/draft/2020-12/schema");
    weft__json_key_string(&j, "title", "a scenario of weft " WEFT_VERSION);
    weft__json_key_string(&j, "type", "object");
    weft__json_key(&j, "properties");
    weft__json_begin_object(&j);
    add_member(&j, "name", TYPE, "string");
    add_member(&j, "about", TYPE, "string");
    add_member(&j, "hardware", "{\"enum\":[\"typical\",\"ideal\"]}", NULL);
    add_member(&j, "fabric", REFERENCE, "fabric");
    add_member(&j, "topology", REFERENCE, "topology");
    add_member(&j, "link", REFERENCE, "link");
    add_member(&j, "server", REFERENCE, "server");
    add_member(&j, "events", "{\"type\":\"array\",\"items\":" REFERENCE "}", "event");
    box_references(&j);
    put_devices(&j);
    add_member(&j, "workload", "{\"type\":\"array\",\"items\":" REFERENCE "}", "workload");
    add_member(&j, "run", REFERENCE, "run");
    add_member(&j, "control", REFERENCE, "control");
    add_member(&j, "capture", REFERENCE, "capture");
    add_member(&j, "live", REFERENCE, "live");
    add_member(&j, "base", TYPE, "string");
    add_member(&j, "cases", TYPE, "object");
    add_member(&j, "variants", TYPE, "object");
    add_member(&j, "claims", "{\"type\":\"array\",\"items\":%s}", a_claim);
    add_member(&j, "sweep", REFERENCE, "sweep");
    add_member(&j, "goodput", REFERENCE, "goodput");
    weft__json_end_object(&j);
    add_member(&j, "anyOf",
               "[{\"required\":[\"topology\"]},{\"required\":[\"fabric\"]},{\"required\":[\"base\"]},"
               "{\"required\":[\"variants\"]}]",
               NULL); // what makes a network
    // beside a base, also one of each variant, settings by their paths
    add_member(&j, "patternProperties", "{\"[.]\":{}}", NULL);
    add_member(&j, "if",
               "{\"anyOf\":[{\"required\":[\"base\"]},{\"required\":[\"variants\"],\"properties\":{\"variants\":"
               "{\"additionalProperties\":{\"type\":\"object\",\"required\":[\"base\"]}}}}]}",
               NULL);
    add_member(&j, "else", "{\"propertyNames\":{\"pattern\":\"^[^.]*$\"}}", NULL);
    weft__json_key_bool(&j, "additionalProperties", false);
    define_all(&j);
    weft__json_end_object(&j);
    putc('\n', file);
}
