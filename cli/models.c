// SPDX-License-Identifier: Apache-2.0
// weft models: what there is to choose from, with every parameter. All of it is generated from the tables.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "results.h"
#include "simulation.h"

#include "base/param.h"
#include "weft/fabric.h"
#include "weft/goodput.h"
#include "weft/hardware.h"
#include "weft/param.h"
#include "weft/tin_rma.h"
#include "weft/training.h"
#include "weft/transport.h"
#include "weft/workload.h"

/// Sections of a scenario that are not models. The section of a box has the name of the box.
static const struct {
    const struct weft_param_table *table;
    const char *summary;
} sections[] = {
    {&weft_sample_table, "operations of a job that run in packets, in place of all"},
    {&weft_post_table, "messages that a flow posts in a closed loop"},
    {&weft_pfc_table, "priority-based flow control, of switch and host alike"},
    {&weft_wire_table, "what a frame costs on the wire, of switch and host alike"},
    {&weft_tin_rma_table, "1RMA in a TiN, the key rma of tin"},
    {&weft_dcbx_table, "LLDP and DCBX between neighbours, of switch and host alike"},
    {&weft_fabric_part_table, "a chip, optical module or NIC of a fabric, and what one takes"},
    {&weft_link_table, "cables of links, which give these their delays"},
    {&weft_event_table, "a link that goes down or up, an entry of events"},
    {&weft_run_table, "the run itself"},
    {&weft_goodput_table, "what failures leave of a long job (weft goodput)"},
    {&weft_goodput_part_table, "a class of parts that fail, an entry of goodput.parts"},
    {&weft_control_table, "the control plane of a DSF fabric or a Clique"},
    {&weft_reach_table, "reachability in a DSF fabric, and input balanced mode"},
    {&weft_fsdb_table, "what interface nodes of a DSF fabric know of each other"},
    {&weft_bgp_table, "routes from a DSF fabric to other buildings"},
    {&weft_bootstrap_table, "in-band bootstrap of a Clique of TiNs"},
    {&weft_sdn_table, "the controller of a Clique and the firmware of its TiNs"},
    {&weft_timesync_table, "clocks of a Clique"},
    {&weft_capture_table, "frames of chosen ports, for Wireshark"},
    {&weft_live_table, "real hosts on the simulated network (weft live)"},
    {&weft_live_host_table, "where one of them is attached, an entry of live.hosts"},
    {&weft_server_table, "servers of several GPUs, in a collective or job"},
    {&weft_occupied_table, "servers that are not free, in a collective or job"},
    {&weft_rma_processor_table, "what software costs in remote memory access, the key processor of workload rma"},
    {&weft_inference_arrivals_table, "requests to a service, the key arrivals of workload inference"},
    {&weft_inference_prefill_table, "the pool that computes prompts, the key prefill of workload inference"},
    {&weft_inference_decode_table, "the pool that writes answers, the key decode of workload inference"},
    {&weft_inference_transfer_table, "how keys and values are sent, the key transfer of workload inference"},
    {&weft_inference_gpu_table, "GPUs of both pools, the key gpu of workload inference"},
    {&weft_inference_slo_table, "objectives of a request, the key slo of workload inference"},
    {&weft_operation_table, "an entry of a job's list of operations"},
    {&weft_training_model_table,
     "the key model of a job or of inference: the shape of a transformer, by name or by its sizes"},
    {&weft_training_plan_table, "the key plan of a job with a model: how its GPUs share the work, published or own"},
    {&weft_pipeline_table, "the key pipeline of such an entry: microbatches through stages, one forward, one backward"},
};
enum { SECTIONS = sizeof sections / sizeof *sections, NAMES_MAX = 512 };

static void print_type(const struct weft_param *row) {
    static const char *const names[] = {[WEFT_PARAM_TIME] = "time",
                                        [WEFT_PARAM_RATE] = "rate",
                                        [WEFT_PARAM_BYTES] = "size",
                                        [WEFT_PARAM_UINT] = "whole number",
                                        [WEFT_PARAM_REAL] = "number",
                                        [WEFT_PARAM_BOOL] = "true or false",
                                        [WEFT_PARAM_CHOICE] = "",
                                        [WEFT_PARAM_TEXT] = "text",
                                        [WEFT_PARAM_PROSE] = "text",
                                        [WEFT_PARAM_PRIORITIES] = "priorities",
                                        [WEFT_PARAM_WEIGHTS] = "one value, or one for each priority",
                                        [WEFT_PARAM_DSCP_MAP] = "map of code points to priorities",
                                        [WEFT_PARAM_MODEL] = "model",
                                        [WEFT_PARAM_SECTION] = "section"};
    fputs(names[row->type], stdout);
    for (uint32_t i = 0; row->type == WEFT_PARAM_CHOICE && row->choices[i]; i++)
        printf("%s%s", i ? " | " : "", row->choices[i]);
    if (row->min && row->max) printf(", %s to %s", row->min, row->max);
    if (row->type != WEFT_PARAM_CHOICE && row->choices) printf(", or %s", row->choices[0]);
    if (row->otherwise) printf(", or a %s", row->otherwise);
    if (row->min && !row->max) printf(", at least %s", row->min);
    if (!row->min && row->max) printf(", at most %s", row->max);
    if (row->type == WEFT_PARAM_MODEL)
        printf(": weft models %s", weft_kind_name((enum weft_model_kind)row->model_kind));
    if (row->needs) printf("; needs %s", row->needs);
    if (row->beside) printf("; its parameters may stand here as well");
    if (row->type == WEFT_PARAM_SECTION) printf(": weft models %s", row->table->name);
}

/// "name: default" as in a scenario, then its meaning.
static void print_row(const struct weft_param *row) {
    bool section = row->type == WEFT_PARAM_SECTION;
    printf("  %s:%s%s   (", row->name, section ? "" : " ",
           section      ? ""
           : !row->dflt ? "..."
           : *row->dflt ? row->dflt
                        : "\"\"");
    print_type(row);
    printf("%s)\n      %s\n", row->dflt ? "" : "; must be given", row->help);
}

static void print_table(const struct weft_param_table *table) {
    if (!table->n && !table->lists && !table->models) printf("  no parameters\n");
    for (uint32_t i = 0; i < table->n; i++)
        print_row(&table->rows[i]);
    for (const struct weft_param_preset *p = table->presets; p && p->name; p++) {
        printf("  preset %s:", p->name);
        for (const struct weft_param_value *v = p->value; v->key; v++)
            printf("%s%s: %s", v == p->value ? " " : ", ", v->key, v->text);
        putchar('\n');
    }
    for (const char *const *list = table->lists; list && *list; list++) {
        const struct weft_param_table *own = weft_cli_list_table(*list);
        printf(own ? "  %s:   (section: weft models %s)\n" : "  %s: [...]   (list)\n", *list, own ? own->name : "");
    }
    for (const char *const *key = table->models; key && *key; key++)
        printf("  %s: {NAME: ...}   (map of names, each a model of this kind)\n", *key);
}

/// With its defaults.
static void print_connection(const struct weft_model *transport) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_SCENARIO);
    struct weft_error error = {0};
    void *conf = weft_arena_alloc(arena, 1, transport->params->conf_size);
    if (!weft_params_load(transport->params, NULL, conf, arena, &error)) {
        const struct weft_model_conf own = {.model = transport, .conf = conf};
        struct weft_connection_bytes bytes = weft_connection_bytes(&own, NULL, false);
        printf("  a connection's state here, without congestion control: %" PRIu64 "B at its sender, %" PRIu64
               "B at its receiver\n\n",
               bytes.sender, bytes.receiver);
    }
}

static void print_model(const struct weft_model *model) {
    printf("%s: %s\n", weft_kind_name(model->kind), model->name);
    printf("  %s\n  source: %s\n\n", model->summary, model->source);
    if (model->kind == WEFT_KIND_TRANSPORT) print_connection(model);
    print_table(model->params);
}

enum { NAME = 16 }; // most names have room in it

/// Summaries stand in one column.
static int name_width(enum weft_model_kind kind) {
    size_t width = NAME;
    for (uint32_t i = 0; i < weft_model_count(kind); i++) {
        size_t length = strlen(weft_model_at(kind, i)->name);
        if (length > width) width = length;
    }
    return (int)width;
}

static void list_kind(enum weft_model_kind kind) {
    for (uint32_t i = 0; i < weft_model_count(kind); i++) {
        const struct weft_model *model = weft_model_at(kind, i);
        printf("  %-10s %-*s %s\n", weft_kind_name(kind), name_width(kind), model->name, model->summary);
    }
}

/// Whole fabrics, each a scenario that uses a model of kind fabric.
static void list_blueprints(void) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_SCENARIO);
    printf("\nblueprints of whole fabrics: weft models fabric NAME shows one, weft plan fabric NAME its bill\n");
    for (uint32_t i = 0; i < weft_blueprint_count(); i++) {
        const struct weft_blueprint *b = weft_blueprint_at(i);
        struct weft_tree *tree = NULL;
        const struct weft_tree *about =
            weft_tree_parse(b->name, b->text, b->size, arena, &tree, NULL) ? NULL : weft_tree_find(tree, "about");
        printf("  %-10s %-16s %s\n", "blueprint", b->name, about && about->text ? about->text : "");
    }
}

static bool show_blueprint(const char *name) {
    const struct weft_blueprint *b = weft_blueprint_find(name);
    if (!b) return false;
    printf("blueprint: %s\n  base: %s puts a scenario on it, weft plan fabric %s shows its chips and its bill\n\n%.*s",
           name, name, name, (int)b->size, b->text);
    return true;
}

/// It is long, and half of it is of no use: a signal waits.
static void show_schema(void) {
    weft_cli_catch_interrupt();
    weft_cli_schema(stdout);
}

static void list_all(void) {
    printf("models\n");
    for (unsigned kind = 0; kind < WEFT_KINDS; kind++)
        list_kind((enum weft_model_kind)kind);
    printf("\nsections of a scenario, beside those of boxes, which bear their names\n");
    for (unsigned i = 0; i < SECTIONS; i++)
        printf("  %-*s %s\n", 10 + 1 + NAME, sections[i].table->name, sections[i].summary);
    printf("\nweft models KIND [NAME] tells more, weft models SECTION too; weft models results [TABLE] lists what runs "
           "measure, weft models hardware [CLASS] classes of hardware\n");
}

static int fail_unknown(const char *what, const char *word, const char *const *names, uint32_t n) {
    struct weft_error error = {0};
    char expected[512];
    weft__names_expected(word, names, n, expected, sizeof expected);
    WEFT_REFUSE(&error, WEFT_NOWHERE, "no %s \"%s\"; %s", what, word, expected);
    return weft_cli_fail(&error);
}

static int show_model(enum weft_model_kind kind, const char *name) {
    const struct weft_model *model = weft_model_find(kind, name);
    if (model) {
        print_model(model);
        return WEFT_OK;
    }
    if (kind == WEFT_KIND_FABRIC && show_blueprint(name)) return WEFT_OK;
    const char *names[NAMES_MAX];
    uint32_t n = 0;
    for (; n < weft_model_count(kind) && n < NAMES_MAX; n++)
        names[n] = weft_model_at(kind, n)->name;
    for (uint32_t i = 0; kind == WEFT_KIND_FABRIC && i < weft_blueprint_count() && n < NAMES_MAX; i++)
        if (!weft_model_find(kind, weft_blueprint_at(i)->name)) names[n++] = weft_blueprint_at(i)->name;
    return fail_unknown(weft_kind_name(kind), name, names, n);
}

/// Shows a model by its name alone, or lists the kinds that have one of that name; false: there is none.
static bool show_by_name(const char *name) {
    const struct weft_model *found[WEFT_KINDS];
    uint32_t n = 0;
    for (unsigned kind = 0; kind < WEFT_KINDS; kind++)
        if ((found[n] = weft_model_find((enum weft_model_kind)kind, name))) n++;
    for (uint32_t i = 0; n > 1 && i < n; i++)
        printf("weft models %-10s %-16s %s\n", weft_kind_name(found[i]->kind), name, found[i]->summary);
    if (n == 1) print_model(found[0]);
    return n || show_blueprint(name);
}

/// The model whose name is closest to a word; NULL: one of these names is as close, or none is.
static const char *nearest_model(const char *word, const char *const *names, uint32_t n) {
    const char *all[NAMES_MAX];
    uint32_t count = 0;
    for (; count < n && count < NAMES_MAX; count++)
        all[count] = names[count];
    for (unsigned kind = 0; kind < WEFT_KINDS; kind++)
        for (uint32_t m = 0; m < weft_model_count((enum weft_model_kind)kind) && count < NAMES_MAX; m++)
            all[count++] = weft_model_at((enum weft_model_kind)kind, m)->name;
    const char *nearest = weft_error_nearest(word, all, count);
    for (uint32_t i = 0; nearest && i < n; i++)
        if (!strcmp(nearest, names[i])) return NULL;
    return nearest;
}

static int show_results(const char *name) {
    const struct weft_result_table *table;
    const struct weft_answer *answer;
    struct weft_error error = {0};
    if (!name)
        weft_cli_tables_list();
    else if ((answer = weft_cli_answer_find(name)))
        weft_cli_answer_show(answer);
    else if (weft_cli_table_find(weft_run_answer(), name, &table, &error))
        return weft_cli_fail(&error);
    else
        weft_cli_table_show(table);
    return WEFT_OK;
}

static int show_section(const struct weft_param_table *table, const char *summary, const char *name) {
    if (name) {
        struct weft_error error = {0};
        WEFT_REFUSE(&error, WEFT_NOWHERE, "'%s' is a section, it has no models; got \"%s\"", table->name, name);
        return weft_cli_fail(&error);
    }
    printf("%s: %s\n\n", table->name, summary);
    print_table(table);
    return WEFT_OK;
}

static int show_kind(const char *word, const char *name) {
    const char *names[WEFT_KINDS + WEFT_BOXES + SECTIONS + 2];
    uint32_t n = 0;
    if (!strcmp(word, "results")) return show_results(name);
    for (unsigned kind = 0; kind < WEFT_KINDS; kind++) {
        names[n++] = weft_kind_name((enum weft_model_kind)kind);
        if (strcmp(word, names[kind])) continue;
        if (name) return show_model((enum weft_model_kind)kind, name);
        list_kind((enum weft_model_kind)kind);
        if (kind == WEFT_KIND_FABRIC) list_blueprints();
        return WEFT_OK;
    }
    for (uint32_t i = 0; i < weft_model_count(WEFT_KIND_BOX); i++) {
        const struct weft_model *box = weft_model_at(WEFT_KIND_BOX, i);
        names[n++] = box->name;
        if (!strcmp(word, box->name)) return show_section(box->params, box->summary, name);
    }
    for (unsigned i = 0; i < SECTIONS; i++) {
        names[n++] = sections[i].table->name;
        if (!strcmp(word, sections[i].table->name)) return show_section(sections[i].table, sections[i].summary, name);
    }
    names[n++] = "results";
    names[n++] = "hardware";
    if (!name && show_by_name(word)) return WEFT_OK;
    const char *nearest = name ? NULL : nearest_model(word, names, n);
    if (!nearest) return fail_unknown("kind or section", word, names, n);
    struct weft_error error = {0};
    WEFT_REFUSE(&error, WEFT_NOWHERE, "no kind or model \"%s\"; did you mean \"%s\"?", word, nearest);
    return weft_cli_fail(&error);
}

static int show_family(const char *family) {
    const char *names[16];
    uint32_t n = 0;
    if (weft_cli_tables_markdown(family)) return WEFT_OK;
    for (uint32_t i = 0; i < weft_result_table_count() && n < sizeof names / sizeof *names; i++) {
        uint32_t k = 0;
        while (k < n && strcmp(names[k], weft_result_family_at(i)))
            k++;
        if (k == n) names[n++] = weft_result_family_at(i);
    }
    return fail_unknown("family of results", family, names, n);
}

static int show_hardware(const struct weft_cli_options *o) {
    struct weft_error error = {0};
    if (!weft_cli_models_hardware(o, o->operands > 1 ? o->operand[1] : NULL, &error)) return WEFT_OK;
    return weft_cli_fail(&error);
}

static int fail_form(void) {
    struct weft_error error = {0};
    WEFT_REFUSE(&error, WEFT_NOWHERE, "--csv, --out and --pick: of weft models hardware only");
    return weft_cli_fail(&error);
}

int weft_cli_models(int argc, char **argv) {
    static const char *markdown;
    static const struct weft_cli_option own[] = {
        {"markdown", "FAMILY", "a family of tables of results with their columns, as docs/results/FAMILY.md has them",
         &markdown, NULL},
        {0}};
    static const struct weft_cli_command command = {
        .name = "models",
        .operands = "[KIND [NAME]]",
        .about =
            "Lists all models, or the parameters of one: default, range, meaning, source. If only one kind has the\n"
            "name, the name is enough: weft models dcqcn.\n"
            "weft models hardware [CLASS]: classes of hardware, or the values of one with their sources.\n"
            "weft models results [TABLE|ANSWER]: the tables of results, or the columns of one, or of a command's "
            "answer.\n"
            "With --json: a JSON schema (draft 2020-12) of scenario files, for editors.",
        .answer = &weft__answer_hardware_classes,
        .operands_max = 2,
        .option = own,
    };
    struct weft_cli_options options;
    int status = weft_cli_parse(&command, argc, argv, &options);
    if (status == WEFT_CLI_GO) {
        status = WEFT_OK;
        if (options.operands && !strcmp(options.operand[0], "hardware"))
            status = show_hardware(&options);
        else if (options.csv || options.database || options.picks)
            status = fail_form();
        else if (options.json)
            show_schema();
        else if (markdown)
            status = show_family(markdown);
        else if (options.operands)
            status = show_kind(options.operand[0], options.operands > 1 ? options.operand[1] : NULL);
        else
            list_all();
    }
    return status;
}
