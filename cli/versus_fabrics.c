// SPDX-License-Identifier: Apache-2.0
// The fabrics of a versus: read, sized, billed; those that cannot be built, or cost too much, get a reason.
#define _GNU_SOURCE // realpath
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cli.h"
#include "versus.h"

// --- the budget ---------------------------------------------------------------------------------------------------

static const struct {
    const char *name, *unit;
} limits[] = {{"chips", ""}, {"ports", ""}, {"optics", " modules"}, {"fibre", " m"}, {"watts", " W"}, {"price", ""}};
enum { LIMITS = sizeof limits / sizeof *limits };

static double amount_of(const struct weft_fabric_bill *b, unsigned limit) {
    const double all[LIMITS] = {(double)b->chips, (double)b->ports, b->optics, b->fibre_m, b->watts, b->price};
    return all[limit];
}

bool versus_amount_of(const struct weft_fabric_bill *b, const char *name, double *ret_amount) {
    for (unsigned i = 0; i < LIMITS; i++) {
        if (strcmp(limits[i].name, name) != 0) continue;
        *ret_amount = amount_of(b, i);
        return true;
    }
    return false;
}

/// "watts=20000,optics=800"; `limit`: [LIMITS], 0: none.
static bool parse_budget(const char *text, double *limit) {
    for (const char *at = text; *at;) {
        char name[16];
        double value;
        int end = 0;
        unsigned i = 0;
        if (sscanf(at, "%15[a-z]=%lf%n", name, &value, &end) != 2 || !(value > 0) || (at[end] && at[end] != ','))
            return false;
        while (i < LIMITS && strcmp(limits[i].name, name))
            i++;
        if (i == LIMITS) return false;
        limit[i] = value;
        at += end + (at[end] == ',');
    }
    return *text != 0;
}

static void check_budget(struct weft_versus_fabric *f, const double *limit, struct weft_arena *arena) {
    for (unsigned i = 0; i < LIMITS && f->status == WEFT_VERSUS_RAN; i++) {
        if (!(limit[i] > 0)) continue;
        if (!strcmp(limits[i].name, "price") && !f->bill.priced) {
            f->status = WEFT_VERSUS_OVER_BUDGET;
            f->reason = "its price is not known: some part has none (--set fabric.leaf.price=...)";
        } else if (amount_of(&f->bill, i) > limit[i]) {
            f->status = WEFT_VERSUS_OVER_BUDGET;
            f->reason = weft_arena_format(arena, "%s: %.0f%s, over the budget of %.0f", limits[i].name,
                                          amount_of(&f->bill, i), limits[i].unit, limit[i]);
        }
    }
}

// --- fabrics ------------------------------------------------------------------------------------------------------

enum weft_status versus_find_base(const char *item, struct weft_arena *arena, const char **ret_base,
                                  struct weft_error *ret_error) {
    *ret_base = item;
    if (weft_blueprint_find(item)) return WEFT_OK;
    char *path = realpath(item, NULL);
    if (path) {
        *ret_base = weft_arena_text(arena, path);
        free(path);
        return WEFT_OK;
    }
    return weft_cli_no_blueprint("--fabrics", item, ret_error);
}

/// "clos" of "some/where/clos.yaml". A dot would separate parts of a path.
static const char *stem_of(const char *path, struct weft_arena *arena) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    char *text = weft_arena_format(arena, "%.*s", dot && dot != name ? (int)(dot - name) : (int)strlen(name), name);
    for (char *c = text; *c; c++)
        if (*c == '.') *c = '-';
    return text;
}

/// The elements that can fail, from its network.
static enum weft_status find_domains(const struct weft_cli_options *o, struct weft_scenario_file *file,
                                     struct weft_versus_fabric *f, struct weft_error *ret_error) {
    static const char work[] = "workload=[{kind: flow, src: host-0, dst: host-1, size: 1B}]";
    WEFT_ENDS(weft_cli_simulation_deinit) struct weft_cli_simulation sim = {0};
    enum weft_status status = weft_scenario_file_set(file, work, ret_error);
    if (!status) status = weft_cli_simulation_init(&sim, file, 0, ret_error);
    WEFT_SCRATCH(passing, WEFT_MEMORY_RESULT);
    if (!status) {
        uint32_t n;
        const struct weft_versus_domain *domain = weft_versus_domains(sim.topology, passing, &n);
        f->domain = weft_versus_domains_copy(domain, n, o->arena);
        f->domains = n;
    }
    return status;
}

/// As it would be for another number of hosts.
static enum weft_status plan_for(uint64_t hosts, struct weft_scenario_file *file, struct weft_arena *arena,
                                 const struct weft_fabric_plan **ret_plan, struct weft_error *ret_error) {
    struct weft_model_conf model;
    const char *name, *about, *size = weft_arena_format(arena, "fabric.hosts=%llu", (unsigned long long)hosts);
    WEFT_TRY(weft_scenario_file_set(file, size, ret_error));
    WEFT_TRY(weft_scenario_fabric(file, 0, arena, &model, &name, &about, ret_error));
    *ret_plan = weft_fabric_plan_new(&model, arena);
    return WEFT_OK;
}

/// What it would cost with half as many hosts again, and how it would be for the job whose goodput is asked for.
static enum weft_status grow_hosts(const struct weft_cli_options *o, uint64_t gpus, struct weft_scenario_file *file,
                                   struct weft_versus_fabric *f, struct weft_error *ret_error) {
    const struct weft_fabric_plan *plan;
    WEFT_TRY(plan_for(f->hosts + (f->hosts + 1) / 2, file, o->arena, &plan, ret_error));
    f->grown_reason = *plan->reason ? plan->reason : NULL;
    if (!f->grown_reason) f->grown = weft_fabric_bill(plan);
    return gpus ? plan_for(gpus, file, o->arena, &f->at_job, ret_error) : WEFT_OK;
}

/// `rate`: 0: the fabric's own. `gpus`: of weft_versus.
static enum weft_status read_fabric(const struct weft_cli_options *o, weft_rate_bps rate, uint64_t gpus,
                                    const char *item, struct weft_versus_fabric *f, struct weft_error *ret_error) {
    struct weft_scenario_file *file = NULL;
    struct weft_model_conf model;
    const char *name;
    enum weft_status status = versus_find_base(item, o->arena, &f->base, ret_error);
    const char *const size[] = {weft_arena_format(o->arena, "fabric.hosts=%llu", (unsigned long long)f->hosts),
                                weft_arena_format(o->arena, "fabric.rate=%llubps", (unsigned long long)rate)};
    const uint32_t sizes = rate ? 2 : 1;
    const struct weft_tree *root = NULL;
    if (!status) status = weft_scenario_file_read(f->base, NULL, 0, &file, ret_error);
    if (!status) status = weft_scenario_tree(file, 0, o->arena, &root, ret_error);
    if (!status && !weft_tree_find(root, "fabric"))
        status =
            WEFT_REFUSE(ret_error, (struct weft_place){.file = item}, "has no section fabric; expected a blueprint");
    for (uint32_t i = 0; i < o->settings + sizes && !status; i++)
        status = weft_scenario_file_set(file, i < sizes ? size[i] : o->setting[i - sizes], ret_error);
    if (!status) status = weft_scenario_fabric(file, 0, o->arena, &model, &name, &f->about, ret_error);
    if (status) return status;
    f->name = weft_blueprint_find(item) ? item : stem_of(item, o->arena);
    f->kind = model.model->name;
    f->plan = weft_fabric_plan_new(&model, o->arena);
    f->variant = WEFT_NONE;
    if (*f->plan->reason) {
        f->status = WEFT_VERSUS_UNBUILDABLE;
        f->reason = f->plan->reason;
        return WEFT_OK;
    }
    f->bill = weft_fabric_bill(f->plan);
    const struct weft_tree *devices = weft_tree_find(root, "devices");
    if (devices && devices->type == WEFT_TREE_LIST) f->devices = weft_tree_text(devices, o->arena);
    status = find_domains(o, file, f, ret_error);
    return status ? status : grow_hosts(o, gpus, file, f, ret_error);
}

/// A fabric that cannot take the rate, but its own, gets that as its reason.
static enum weft_status read_at_rate(const struct weft_cli_options *o, weft_rate_bps rate, uint64_t gpus,
                                     const char *item, struct weft_versus_fabric *f, struct weft_error *ret_error) {
    struct weft_error error = {0}, other = {0};
    enum weft_status status = read_fabric(o, rate, gpus, item, f, &error);
    if (!status) return WEFT_OK;
    uint64_t hosts = f->hosts;
    *f = (struct weft_versus_fabric){.hosts = hosts};
    bool takes_own = status == WEFT_ERROR_INPUT && strcmp(item, "ideal") != 0 &&
                     !read_fabric(o, 0, gpus, item, f, &other) && f->status == WEFT_VERSUS_RAN;
    if (!takes_own) {
        if (ret_error && !ret_error->status) *ret_error = error;
        return status;
    }
    char text[32];
    weft_format_rate(rate, text, sizeof text);
    f->status = WEFT_VERSUS_UNBUILDABLE;
    f->reason = weft_arena_format(o->arena, "it cannot take %s: %s", text, error.text + error.message_at);
    return WEFT_OK;
}

/// Adds a fabric after those that `scale` has.
static enum weft_status add_fabric(const struct weft_cli_options *o, struct weft_versus *v,
                                   struct weft_versus_scale *scale, const char *item, const double *limit,
                                   struct weft_error *ret_error) {
    struct weft_versus_fabric *f = &v->fabric[v->fabrics];
    f->hosts = scale->hosts;
    WEFT_TRY(read_at_rate(o, v->rate_bps, v->gpus, item, f, ret_error));
    for (uint32_t i = scale->first; i < v->fabrics; i++)
        if (!strcmp(v->fabric[i].name, f->name))
            return WEFT_REFUSE(ret_error, (struct weft_place){.file = "--fabrics"}, "'%s' comes twice", f->name);
    f->label = v->scales == 1 ? f->name : weft_arena_format(o->arena, "%s@%llu", f->name, (unsigned long long)f->hosts);
    f->is_ruler = !strcmp(f->name, "ideal");
    if (f->is_ruler) scale->ruler = scale->fabrics;
    if (!f->is_ruler && f->status == WEFT_VERSUS_RAN) check_budget(f, limit, o->arena);
    if (f->status == WEFT_VERSUS_RAN) f->variant = v->variants++;
    v->fabrics++;
    scale->fabrics++;
    return WEFT_OK;
}

/// All fabrics of the list at one number of hosts.
static enum weft_status add_list(const struct weft_cli_options *o, struct weft_versus *v,
                                 struct weft_versus_scale *scale, const char *list, const double *limit,
                                 struct weft_error *ret_error) {
    uint32_t all = weft_blueprint_count();
    scale->first = v->fabrics;
    scale->ruler = WEFT_NONE;
    enum weft_status status = add_fabric(o, v, scale, "ideal", limit, ret_error); // the ruler is always there
    for (bool more = true; more && !status;) {
        size_t n = strcspn(list, ",");
        if (!n)
            return WEFT_REFUSE(ret_error, (struct weft_place){.file = "--fabrics"},
                               "a name is empty; expected blueprints and files, such as dsf-l1,mine.yaml, or all");
        const char *item = weft_arena_format(o->arena, "%.*s", (int)n, list);
        for (uint32_t i = 0; i < all && !strcmp(item, "all") && !status; i++)
            if (strcmp(weft_blueprint_at(i)->name, "ideal"))
                status = add_fabric(o, v, scale, weft_blueprint_at(i)->name, limit, ret_error);
        if (strcmp(item, "all") && strcmp(item, "ideal")) status = add_fabric(o, v, scale, item, limit, ret_error);
        more = list[n] == ',';
        list += n + more;
    }
    return status;
}

enum weft_status versus_fabrics_read(const struct weft_cli_options *o, const char *list, const char *budget,
                                     struct weft_versus *v, struct weft_versus_scale *scale,
                                     struct weft_error *ret_error) {
    double limit[LIMITS] = {0};
    enum weft_status status = WEFT_OK;
    if (budget && !parse_budget(budget, limit))
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = "--budget"},
                           "'%s' is not understood; expected limits such as watts=20000,optics=800 of chips, ports, "
                           "optics, fibre, watts, price",
                           budget);
    if (!list) list = "all";
    v->fabric = weft_arena_alloc(o->arena, v->scales * (weft_blueprint_count() + strlen(list) + 2), sizeof *v->fabric);
    for (uint32_t s = 0; s < v->scales && !status; s++)
        status = add_list(o, v, &scale[s], list, limit, ret_error);
    v->ruler = v->scales == 1 ? scale->ruler : WEFT_NONE;
    return status;
}
