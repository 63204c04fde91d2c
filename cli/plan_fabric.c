// SPDX-License-Identifier: Apache-2.0
// weft plan fabric: how many chips, links and modules a blueprint needs for a number of hosts, or why it cannot be
// built.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "blueprints.h"
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
    .accept = WEFT_CLI_SET | WEFT_CLI_REPLACE | WEFT_CLI_JSON,
    .operands_max = 64,
    .option = own,
};

struct fabric {
    struct weft_scenario_file *file;
    const char *name, *about;
    struct weft_model_conf model;
    struct weft_fabric_plan *plan;
    struct weft_fabric_bill bill;
};

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
        status = weft_error_set(ret_error, WEFT_ERROR_INPUT, (struct weft_place){.file = path},
                                "has no section fabric; expected a blueprint");
    if (status) return status;
    f->plan = weft_fabric_plan_new(&f->model, o->arena);
    f->bill = weft_fabric_bill(f->plan);
    return WEFT_OK;
}

// --- text ---------------------------------------------------------------------------------------------------------

static void print_layers(const struct fabric *f, struct weft_arena *arena) {
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
        printf("  %-22s %6llu links of %s, %g m, %s\n", c->name, (unsigned long long)c->links,
               plan_rate(arena, c->rate_bps), c->metres, c->optical ? "optical" : "copper");
    }
}

static void print_fabric(const struct fabric *f, struct weft_arena *arena) {
    const struct weft_fabric_plan *p = f->plan;
    const struct weft_fabric_bill *b = &f->bill;
    printf("%s: %s\n", f->name, f->about);
    printf("  for %s at %s", weft__counted(p->conf->hosts, "host").text, plan_rate(arena, p->conf->rate_bps));
    if (*p->reason) {
        printf(": cannot be built: %s\n", p->reason);
        return;
    }
    printf(", oversubscription %g; %s\n", p->conf->oversubscription, weft__counted(p->host_ports, "host port").text);
    print_layers(f, arena);
    printf("  bill: %s, %s (%.1f Tbps), %.0f optical modules, %.0f m of fibre, %.0f m of copper, %s of packet memory, "
           "%.0f W",
           weft__counted(b->chips, "chip").text, weft__counted(b->ports, "port").text, b->port_tbps, b->optics,
           b->fibre_m, b->copper_m, weft__bytes_text((weft_bytes)b->buffer_bytes).text, b->watts);
    if (b->priced) printf(", price %.0f", b->price);
    printf("\n  settings: %s\n", p->conf->source);
}

// --- JSON ---------------------------------------------------------------------------------------------------------

static void json_layers(struct weft__json *j, const struct weft_fabric_plan *p) {
    weft__json_key(j, "layers");
    weft__json_begin_array(j);
    for (uint32_t i = 0; i < p->layers; i++) {
        const struct weft_fabric_layer *l = &p->layer[i];
        weft__json_begin_object(j);
        weft__json_key_string(j, "name", l->name);
        weft__json_key_u64(j, "chips", l->chips);
        weft__json_key_u64(j, "ports", l->ports);
        weft__json_key_u64(j, "ports_max", l->ports_max);
        weft__json_key_string(j, "part", l->part->name);
        weft__json_key_string(j, "source", l->part->source);
        weft__json_key_real(j, "watts", l->part->watts);
        weft__json_key_u64(j, "buffer_bytes", l->part->buffer_bytes);
        weft__json_end_object(j);
    }
    weft__json_end_array(j);
    weft__json_key(j, "cables");
    weft__json_begin_array(j);
    for (uint32_t i = 0; i < p->cables; i++) {
        const struct weft_fabric_cable *c = &p->cable[i];
        weft__json_begin_object(j);
        weft__json_key_string(j, "name", c->name);
        weft__json_key_u64(j, "links", c->links);
        weft__json_key_u64(j, "rate_bps", c->rate_bps);
        weft__json_key_real(j, "metres", c->metres);
        weft__json_key_bool(j, "optical", c->optical);
        weft__json_end_object(j);
    }
    weft__json_end_array(j);
}

static void json_fabric(struct weft__json *j, const struct fabric *f) {
    const struct weft_fabric_plan *p = f->plan;
    weft__json_begin_object(j);
    weft__json_key_string(j, "name", f->name);
    weft__json_key_string(j, "about", f->about);
    weft__json_key_string(j, "kind", f->model.model->name);
    weft__json_key_string(j, "source", p->conf->source);
    weft__json_key_u64(j, "hosts", p->conf->hosts);
    weft__json_key_u64(j, "rate_bps", p->conf->rate_bps);
    weft__json_key_bool(j, "built", !*p->reason);
    weft__json_key_string(j, "reason", *p->reason ? p->reason : NULL);
    if (!*p->reason) {
        weft__json_key_u64(j, "host_ports", p->host_ports);
        json_layers(j, p);
        weft_fabric_bill_json(j, &f->bill);
    }
    weft__json_end_object(j);
}

static void print_json(const struct fabric *f, uint32_t n) {
    struct weft__json j = {.file = stdout};
    weft__json_begin_object(&j);
    weft__json_key_string(&j, "weft", WEFT_VERSION);
    weft__json_key_string(&j, "plan", "fabric");
    weft__json_key(&j, "fabrics");
    weft__json_begin_array(&j);
    for (uint32_t i = 0; i < n; i++)
        json_fabric(&j, &f[i]);
    weft__json_end_array(&j);
    weft__json_end_object(&j);
    putchar('\n');
}

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
    enum weft_status status = weft_scenario_new(f->file, 0, &s, ret_error);
    if (status) return status;
    struct written w = {s->tree, o->arena};
    status = weft_cli_replace_file(scenario_path, write_scenario, &w, ret_error);
    weft_scenario_free(s);
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
    if (o->json) print_json(f, n);
    for (uint32_t i = 0; i < n && !o->json; i++) {
        if (i) putchar('\n');
        print_fabric(&f[i], o->arena);
    }
    if (scenario_path) return save_scenario(&f[0], o, ret_error);
    return n == 1 && *f[0].plan->reason ? WEFT_ERROR_INPUT : WEFT_OK;
}

int plan_fabric(int argc, char **argv) {
    struct weft_cli_options o;
    struct weft_error error = {0};
    int exit_status = weft_cli_parse(&command, argc, argv, &o);
    if (exit_status == WEFT_CLI_GO) {
        uint32_t n = o.operands ? o.operands : weft_blueprint_count();
        struct fabric *f = weft_arena_alloc(o.arena, n, sizeof *f);
        if (!o.operands == !all || (scenario_path && n != 1))
            exit_status = (int)weft_error_set(&error, WEFT_ERROR_INPUT, WEFT_NOWHERE,
                                              scenario_path ? "--scenario: expected one FABRIC"
                                                            : "plan fabric: expected FABRIC, or --all");
        else
            exit_status = (int)plan_all(&o, f, n, &error);
        for (uint32_t i = 0; i < n; i++)
            weft_scenario_file_free(f[i].file);
        if (error.status) weft_cli_fail(&error);
    }
    weft_cli_options_deinit(&o);
    return exit_status;
}
