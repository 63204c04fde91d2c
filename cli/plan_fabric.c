// SPDX-License-Identifier: Apache-2.0
// weft plan fabric: how many chips, links and modules a blueprint needs for a number of hosts, or why it cannot be
// built.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/param.h"
#include "cli.h"
#include "plan.h"
#include "simulation.h"
#include "weft/fabric.h"

static const char *hosts, *rate, *oversubscription, *radix, *scenario_path;
static bool all;
static const struct weft_cli_option own[] = {
    {"all", NULL, "every blueprint that comes with weft", NULL, &all},
    {"hosts", "N", "hosts (default: as the blueprint says, 256)", &hosts, NULL},
    {"rate", "RATE", "of a host's link (default: as the blueprint says, 400Gbps)", &rate, NULL},
    {"oversubscription", "X", "of leaves, at most", &oversubscription, NULL},
    {"radix", "K", "ports of a switch chip at that rate (default: the chip's rate over it)", &radix, NULL},
    {"scenario", "FILE", "write the fabric as a scenario, with the topology spelled out", &scenario_path, NULL},
    {0}};
static const struct weft_cli_command command = {
    .name = "plan fabric",
    .operands = "[FABRIC...]",
    .about =
        "For blueprints, by name or file: chips of each layer, ports, parallel links, and the bill: optical modules,\n"
        "metres of fibre, packet memory, watts, and a price if each part has one (--set fabric.leaf.price=...).\n"
        "A fabric that cannot be built for so many hosts is listed with the reason.\n"
        "Exit status: 0 done, 2 bad input, or a single fabric that cannot be built.",
    .accept = WEFT_CLI_SET | WEFT_CLI_REPLACE,
    .operands_max = 64,
    .option = own,
    .answer = &weft__answer_plan_fabric,
};

struct fabric {
    struct weft_scenario_file *file;
    const char *name, *about;
    struct weft_model_conf model;
    struct weft_fabric_plan *plan;
    const char *kind, *source, *reason; ///< reason: NULL if it can be built
    uint64_t hosts;
    weft_rate_bps rate_bps;
    bool built;
    // Nothing, the largest number or NULL if it cannot be built:
    uint64_t host_ports;
    uint32_t layers, cables;
    const struct weft_fabric_cable *cable;
    const struct weft_fabric_bill *bill;
};

struct fabrics {
    const char *plan; ///< "fabric"
    struct fabric *fabric;
    uint32_t fabrics;
};

static void describe_fabric(struct fabric *f, struct weft_arena *arena) {
    const struct weft_fabric_plan *p = f->plan;
    f->kind = f->model.model->name;
    f->source = p->conf->source;
    f->hosts = p->conf->hosts;
    f->rate_bps = p->conf->rate_bps;
    f->built = !*p->reason;
    f->reason = f->built ? NULL : p->reason;
    f->host_ports = f->built ? p->host_ports : UINT64_MAX;
    if (!f->built) return;
    struct weft_fabric_bill *bill = weft_arena_alloc(arena, 1, sizeof *bill);
    *bill = weft_fabric_bill(p);
    f->bill = bill;
    f->layers = p->layers;
    f->cables = p->cables;
    f->cable = p->cable;
}

/// Lays the command line over the blueprint.
static enum weft_status set_options(struct weft_scenario_file *file, struct weft_arena *arena,
                                    struct weft_error *ret_error) {
    const char *const option[][2] = {
        {"hosts", hosts}, {"rate", rate}, {"oversubscription", oversubscription}, {"radix", radix}};
    enum weft_status status = WEFT_OK;
    for (unsigned i = 0; i < sizeof option / sizeof *option && !status; i++)
        if (option[i][1])
            status = weft_scenario_file_set(file, weft_arena_format(arena, "fabric.%s=%s", option[i][0], option[i][1]),
                                            ret_error);
    return status;
}

static enum weft_status load_fabric(const struct weft_cli_options *o, const char *path, struct fabric *f,
                                    struct weft_error *ret_error) {
    if (!weft_blueprint_find(path) && strcmp(path, "-") != 0 && access(path, F_OK))
        return weft_cli_no_blueprint("plan fabric", path, ret_error);
    enum weft_status status = weft_scenario_file_read(path, o->setting, o->settings, &f->file, ret_error);
    if (!status) status = set_options(f->file, o->arena, ret_error);
    if (!status) status = weft_scenario_fabric(f->file, 0, o->arena, &f->model, &f->name, &f->about, ret_error);
    if (!status && !f->model.model)
        status =
            WEFT_REFUSE(ret_error, (struct weft_place){.file = path}, "has no section fabric; expected a blueprint");
    if (status) return status;
    f->plan = weft_fabric_plan_new(&f->model, o->arena);
    describe_fabric(f, o->arena);
    return WEFT_OK;
}

// --- text ---------------------------------------------------------------------------------------------------------

static void print_layers(const struct fabric *f) {
    const struct weft_fabric_plan *p = f->plan;
    for (uint32_t i = 0; i < p->layers; i++) {
        const struct weft_fabric_layer *l = &p->layer[i];
        printf("  %-12s %6llu x %s, %s used", l->name, (unsigned long long)l->chips,
               *l->part->name ? l->part->name : "switch", weft__counted(l->ports, "port").text);
        if (l->ports_max) printf(" of %llu", (unsigned long long)l->ports_max);
        printf("\n               (%s)\n", l->part->source);
    }
    for (uint32_t i = 0; i < p->cables; i++) {
        const struct weft_fabric_cable *c = &p->cable[i];
        printf("  %-22s %6llu links of %s, %g m, %s\n", c->name, (unsigned long long)c->links, RATE(c->rate_bps),
               c->metres, c->optical ? "optical" : "copper");
    }
}

static void print_fabric(const struct fabric *f) {
    const struct weft_fabric_plan *p = f->plan;
    const struct weft_fabric_bill *b = f->bill;
    printf("%s: %s\n", f->name, f->about);
    printf("  for %s at %s", weft__counted(p->conf->hosts, "host").text, RATE(p->conf->rate_bps));
    if (*p->reason) {
        printf(": cannot be built: %s\n", p->reason);
        return;
    }
    printf(", oversubscription %g; %s\n", p->conf->oversubscription, weft__counted(p->host_ports, "host port").text);
    print_layers(f);
    printf("  bill: %s, %s (%.1f Tbps), %.0f optical modules, %.0f m of fibre, %.0f m of copper, %s of packet memory, "
           "%.0f W",
           weft__counted(b->chips, "chip").text, weft__counted(b->ports, "port").text, b->port_tbps, b->optics,
           b->fibre_m, b->copper_m, weft__bytes_text((weft_bytes)b->buffer_bytes).text, b->watts);
    if (b->priced) printf(", price %.0f", b->price);
    printf("\n  settings: %s\n", p->conf->source);
}

static void print_fabrics(FILE *file, const void *subject) {
    const struct fabrics *list = subject;
    for (uint32_t i = 0; i < list->fabrics; i++) {
        if (i) putchar('\n');
        print_fabric(&list->fabric[i]);
    }
}

// --- tables -------------------------------------------------------------------------------------------------------

static bool next_layer(struct weft_result_cursor *c) {
    const struct fabric *f = c->above->part[0];
    if (c->at == f->layers) return false;
    const struct weft_fabric_layer *layer = &f->plan->layer[c->at++];
    c->part[0] = layer;
    c->part[1] = layer->part;
    c->part[2] = f;
    return true;
}

#define FABRIC(field, key, kind, ...) WEFT_RESULT_NAMED(struct fabric, field, key, kind, __VA_ARGS__)
#define OF_FABRIC(n)                                                                                                   \
    WEFT_RESULT_AT(n, struct fabric, name, "fabric", TEXT, "name of the fabric",                                       \
                   .flags = WEFT_RESULT_KEY | WEFT_RESULT_ABOVE)
#define LAYER(field, kind, ...) WEFT_RESULT(struct weft_fabric_layer, field, kind, __VA_ARGS__)
#define PART(field, key, kind, ...) WEFT_RESULT_AT(1, struct weft_fabric_part, field, key, kind, __VA_ARGS__)
#define CABLE(field, kind, ...) WEFT_RESULT(struct weft_fabric_cable, field, kind, __VA_ARGS__)

static const struct weft_result_table plan_table =
    WEFT_RESULT_TABLE_OF("plan", OBJECT, "the answer", WEFT_RESULT_SUBJECT, WEFT_RESULT_VERSION,
                         WEFT_RESULT(struct fabrics, plan, TEXT, "the calculator"));
static const struct weft_result_table fabrics_table = WEFT_RESULT_TABLE_OF(
    "fabrics", LIST, "a fabric", WEFT_RESULT_EACH(struct fabrics, fabric, fabrics),
    FABRIC(name, "name", TEXT, "name of the fabric", .flags = WEFT_RESULT_KEY),
    FABRIC(about, "about", TEXT, "the fabric in a sentence"), FABRIC(kind, "kind", TEXT, "shape of the fabric"),
    FABRIC(source, "source", TEXT, "sources of its settings"), FABRIC(hosts, "hosts", COUNT, "hosts"),
    FABRIC(rate_bps, "rate_bps", RATE, "rate of a host's link"),
    FABRIC(built, "built", BOOL, "whether the fabric can be built for so many hosts"),
    FABRIC(reason, "reason", TEXT, "why the fabric cannot be built"),
    FABRIC(host_ports, "host_ports", COUNT, "ports for hosts", .flags = WEFT_RESULT_SPARSE));
static const struct weft_result_table layers_table = WEFT_RESULT_TABLE_OF(
    "fabrics.layers", LIST, "a layer of chips", WEFT_RESULT_AND(.next = next_layer, .sparse = true), OF_FABRIC(2),
    LAYER(name, TEXT, "name of the layer", .flags = WEFT_RESULT_KEY), LAYER(chips, COUNT, "chips of the layer"),
    LAYER(ports, COUNT, "ports in use of a chip"), LAYER(ports_max, COUNT, "ports of a chip; 0: no limit"),
    PART(name, "part", TEXT, "name of the chip"), PART(source, "source", TEXT, "source of the chip's figures"),
    PART(watts, "watts", REAL, "power of a chip", .unit = "W"),
    PART(buffer_bytes, "buffer_bytes", BYTES, "packet memory of a chip"));
static const struct weft_result_table cables_table = WEFT_RESULT_TABLE_OF(
    "fabrics.cables", LIST, "a sort of link",
    WEFT_RESULT_AND(WEFT_RESULT_EACH(struct fabric, cable, cables), .sparse = true), OF_FABRIC(1),
    CABLE(name, TEXT, "both ends of the links", .flags = WEFT_RESULT_KEY), CABLE(links, COUNT, "links of this sort"),
    CABLE(rate_bps, RATE, "rate of a link"), CABLE(metres, REAL, "length of a link", .unit = "m"),
    CABLE(optical, BOOL, "whether the link is optical"));
static const struct weft_result_table bill_table =
    WEFT_RESULT_TABLE_OF("fabrics.bill", OBJECT, "sums over all parts of a fabric", WEFT_RESULT_IF(struct fabric, bill),
                         OF_FABRIC(1), WEFT_FABRIC_BILL_COLUMNS);
const struct weft_answer weft__answer_plan_fabric =
    WEFT_ANSWER_OF("plan_fabric", "weft plan fabric: chips, links and the bill of blueprints", &plan_table,
                   &fabrics_table, &layers_table, &cables_table, &bill_table);

// --- the scenario -------------------------------------------------------------------------------------------------

struct written {
    const struct weft_tree *tree;
    struct weft_arena *arena;
};

/// One section per line; everything that the solver found is in it, so `fabric` is not.
static void write_scenario(FILE *file, const void *context) {
    const struct written *w = context;
    for (uint32_t i = 0; i < w->tree->n; i++)
        if (strcmp(w->tree->child[i]->key, "fabric"))
            fprintf(file, "%s: %s\n", w->tree->child[i]->key, weft_tree_text(w->tree->child[i], w->arena));
}

static enum weft_status save_scenario(const struct fabric *f, const struct weft_cli_options *o,
                                      struct weft_error *ret_error) {
    struct weft_scenario *s;
    WEFT_TRY(weft_scenario_new(f->file, 0, &s, ret_error));
    struct written w = {s->tree, o->arena};
    enum weft_status status = weft_cli_replace_file(scenario_path, write_scenario, &w, ret_error);
    if (!status) weft_cli_mention_file(scenario_path, o);
    return status;
}

static enum weft_status plan_all(const struct weft_cli_options *o, struct fabric *f, uint32_t n,
                                 struct weft_error *ret_error) {
    enum weft_status status =
        scenario_path ? weft_cli_can_write_file("--scenario", scenario_path, o, ret_error) : WEFT_OK;
    for (uint32_t i = 0; i < n && !status; i++)
        status = load_fabric(o, o->operands ? o->operand[i] : weft_blueprint_at(i)->name, &f[i], ret_error);
    if (status) return status;
    WEFT_TRY(
        weft_cli_answer(o, &weft__answer_plan_fabric, &(struct fabrics){"fabric", f, n}, print_fabrics, ret_error));
    if (scenario_path) return save_scenario(&f[0], o, ret_error);
    return n == 1 && *f[0].plan->reason ? WEFT_ERROR_INPUT : WEFT_OK;
}

static enum weft_status plan_fabrics(const struct weft_cli_options *o, struct weft_error *ret_error) {
    uint32_t n = o->operands ? o->operands : weft_blueprint_count();
    struct fabric *f = weft_arena_alloc(o->arena, n, sizeof *f);
    if (!o->operands == !all || (scenario_path && n != 1))
        return WEFT_REFUSE(ret_error, WEFT_NOWHERE,
                           scenario_path ? "--scenario: expected one FABRIC"
                                         : "plan fabric: expected FABRIC, or --all");
    return plan_all(o, f, n, ret_error);
}

int plan_fabric(int argc, char **argv) {
    return weft_cli_act(&command, argc, argv, plan_fabrics);
}

enum weft_status weft_cli_no_blueprint(const char *place, const char *item, struct weft_error *ret_error) {
    enum { NAMES_MAX = 64 };
    const char *name[NAMES_MAX];
    char expected[512];
    uint32_t n = 0;
    for (; n < weft_blueprint_count() && n < NAMES_MAX; n++)
        name[n] = weft_blueprint_at(n)->name;
    weft__names_expected(item, name, n, expected, sizeof expected);
    return WEFT_REFUSE(ret_error, (struct weft_place){.file = place}, "'%s': neither a blueprint nor a file; %s", item,
                       expected);
}
