// SPDX-License-Identifier: Apache-2.0
// A variant of a scenario file with all parameters bound: every value checked and in its struct.
#include "scenario/scenario.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/param.h"
#include "base/tree.h"
#include "weft/goodput.h"
#include "weft/hardware.h"
#include "weft/param.h"

enum { DEVICES_MAX = 4096, WORKLOADS_MAX = 1 << 20 };

#define WEFT_BOX_TOO(kind, name, box)
#define WEFT_BOX(kind, name, box) #box,
static const char *const sections[] = {"fabric", "topology", "link",     "server", "events",
#include "weft/boxes.def"
                                       "dcbx",   "devices",  "workload", "run",    "control", "capture", "base",
                                       "cases",  "variants", "claims",   "sweep",  "goodput", "live",    NULL};
static const char *const hardware_words[] = {"typical", WEFT_HARDWARE_IDEAL, NULL};
const struct weft_param_table weft__scenario_table = WEFT_PARAM_TABLE_OF(
    "scenario", struct weft__scenario_head, .lists = sections,
    WEFT_TEXT(struct weft__scenario_head, name, "name", "", "of the scenario; the file's if it has none"),
    WEFT_PROSE(struct weft__scenario_head, about, "about", "", "what it shows"),
    WEFT_CHOICE(struct weft__scenario_head, hardware, "hardware", "typical", hardware_words,
                "classes of switches and hosts where no key names one: those of today, or ideal ones, the defaults of "
                "their parameters (the environment variable WEFT_HARDWARE says the same)"));

#define WEFT_BOX_TOO(kind, name, box)
#define WEFT_BOX(kind, name, box) #box,
const char *const weft__device_sections[] = {
#include "weft/boxes.def"
    "dcbx", NULL};

const struct weft_param_table *weft__device_section_table(uint32_t section) {
    if (section == WEFT__SECTION_DCBX) return &weft_dcbx_table;
    return weft_model_find(WEFT_KIND_BOX, weft__device_sections[section])->params;
}

void *weft__device_section_conf(const struct weft_device_conf *device, uint32_t section) {
    static const uint32_t kinds[] = {
#define WEFT_BOX_TOO(kind, name, box)
#define WEFT_BOX(kind, name, box) [WEFT__SECTION_##box] = WEFT_BOX_##kind,
#include "weft/boxes.def"
    };
    return section == WEFT__SECTION_DCBX ? (void *)&device->dcbx : device->section[kinds[section]];
}

/// Makes room for each section; a box of two kinds of nodes has only one.
static void make_sections(struct weft_device_conf *device, struct weft_arena *arena) {
    void *conf[WEFT__SECTION_DCBX] = {[WEFT__SECTION_host] = &device->host, [WEFT__SECTION_switch] = &device->sw};
    for (uint32_t k = 0; k < WEFT__SECTION_DCBX; k++)
        if (!conf[k]) conf[k] = weft_arena_alloc(arena, 1, weft__device_section_table(k)->conf_size);
#define WEFT_BOX(kind, name, box) device->section[WEFT_BOX_##kind] = conf[WEFT__SECTION_##box];
#include "weft/boxes.def"
}

const struct weft_param_table weft__device_table = WEFT_PARAM_TABLE_OF(
    "devices", struct weft__device_head, .lists = weft__device_sections,
    WEFT_TEXT(struct weft__device_head, match, "match", NULL, "shell pattern over node names, \"core-*\""));

/// Arguments that the functions below share.
struct bind {
    struct weft_scenario *scenario;
    const struct weft_tree *root;
    struct weft_arena *arena;
    struct weft_error *error;        ///< the first mistake
    struct weft__mistakes *mistakes; ///< gets every mistake; NULL: only the first is wanted
    bool ideal;                      ///< hardware that nobody names
};

/// Notes a mistake; binding goes on with the next section, to find more.
static enum weft_status take_mistake(struct bind *b, const struct weft_error *own) {
    if (own->status && b->mistakes) weft__mistakes_add(b->mistakes, own);
    if (own->status && b->error && !b->error->status) *b->error = *own;
    return own->status;
}

#define FAIL(b, place, ...)                                                                                            \
    ({                                                                                                                 \
        struct weft_error own_ = {0};                                                                                  \
        WEFT_REFUSE(&own_, place, __VA_ARGS__);                                                                        \
        take_mistake(b, &own_);                                                                                        \
    })

static enum weft_status load_params(struct bind *b, const struct weft_param_table *table, const struct weft_tree *tree,
                                    const char *path, void *conf) {
    return weft__params_load_all(table, tree, path, conf, b->arena, b->mistakes, b->error);
}

/// The status of two parts: the first that failed.
static enum weft_status worse_status(enum weft_status first, enum weft_status second) {
    return first ? first : second;
}

/// "clos" of "some/where/clos.yaml".
static const char *stem_of(struct weft_arena *arena, const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    name = weft_arena_format(arena, "%.*s", dot && dot != name ? (int)(dot - name) : (int)strlen(name), name);
    return weft__text_shown(name, arena);
}

/// Names the ideal class wherever the file names none.
static enum weft_status take_ideal(struct bind *b) {
    const char *keys = "";
    for (uint32_t k = 0; k <= WEFT_HARDWARE_NIC; k++) {
        const char *section = weft_hardware_kind_section(k), *row = weft_hardware_kind_row(k);
        if (weft__tree_section(weft__tree_section(b->root, section), row)) continue;
        keys = weft_arena_format(b->arena, "%s%s.%s: " WEFT_HARDWARE_IDEAL ", ", keys, section, row);
    }
    struct weft_tree *over, *merged;
    const char *text = weft_arena_format(b->arena, "{%s}", keys);
    enum weft_status status = weft__tree_parse_own(text, b->arena, &over, b->error);
    if (!status) status = weft_tree_override(b->root, over, b->arena, &merged, b->error);
    if (!status) b->root = merged;
    return status;
}

static enum weft_status load_head(struct bind *b) {
    static const char *const fixed[] = {"base", "cases", "variants", "claims", "sweep"};
    for (uint32_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
        const struct weft_tree *tree = weft_tree_find(b->root, fixed[i]);
        if (tree) return FAIL(b, tree->key_place, "%s: cannot be overridden", fixed[i]);
    }
    struct weft__scenario_head head;
    WEFT_TRY(load_params(b, &weft__scenario_table, b->root, "", &head));
    b->scenario->name = *head.name ? head.name : stem_of(b->arena, b->scenario->path);
    b->scenario->about = head.about;
    b->ideal = head.hardware == WEFT__HARDWARE_IDEAL;
    return WEFT_OK;
}

static enum weft_status load_topology(struct bind *b) {
    const struct weft_tree *tree = weft__tree_section(b->root, "topology");
    if (!tree)
        return FAIL(b, b->root->place,
                    "topology is missing: expected a kind and its parameters, or base: with "
                    "a scenario or a blueprint such as roce-spray");
    b->scenario->topology_tree = tree;
    b->scenario->events_tree = weft__tree_section(b->root, "events");
    return weft__model_load_all(WEFT_KIND_TOPOLOGY, NULL, tree, "topology", &b->scenario->topology, b->arena,
                                b->mistakes, b->error);
}

/// `tree`: of each section, NULL if the user sets nothing in it; `entry`: the map that contains, or would contain,
/// them.
static enum weft_status load_device(struct bind *b, struct weft_device_conf *device, const struct weft_tree *entry,
                                    const struct weft_tree *const tree[WEFT__DEVICE_SECTIONS], const char *path) {
    enum weft_status status = WEFT_OK;
    const struct weft_tree empty = {.type = WEFT_TREE_NULL, .place = entry->place};
    make_sections(device, b->arena);
    device->tree = entry;
    device->defaults = b->root;
    for (uint32_t i = 0; i < WEFT__DEVICE_SECTIONS; i++) {
        char child_path[WEFT__PATH_MAX];
        weft__path_join(child_path, sizeof child_path, path, weft__device_sections[i]);
        status = worse_status(status, load_params(b, weft__device_section_table(i), tree[i] ? tree[i] : &empty,
                                                  child_path, weft__device_section_conf(device, i)));
    }
    return status;
}

/// The default section `key`, overridden by the entry.
static enum weft_status over_default(struct bind *b, const struct weft_tree *entry, const char *key,
                                     const struct weft_tree **ret_tree) {
    const struct weft_tree *base = weft__tree_section(b->root, key), *over = weft__tree_section(entry, key);
    *ret_tree = over ? over : base;
    if (!over || over->type != WEFT_TREE_MAP) return WEFT_OK;
    struct weft_tree *merged;
    struct weft_error own = {0};
    if (!weft_tree_override(base, over, b->arena, &merged, &own)) {
        merged->place = over->place; // what is wrong with both together is said of the entry
        *ret_tree = merged;
    }
    return take_mistake(b, &own);
}

/// Notes which sections `own` has, an entry of `devices` or the scenario itself. Settings of the command line apply to
/// all variants, even to those in which they have no effect.
static void note_sections(struct weft_device_conf *device, const struct weft_tree *own) {
    const struct weft_place *said[WEFT__SECTION_DCBX];
    for (uint32_t k = 0; k < WEFT__SECTION_DCBX; k++) {
        const struct weft_tree *tree = weft__tree_section(own, weft__device_sections[k]);
        said[k] = tree && tree->n && tree->place.line ? &tree->place : NULL;
    }
#define WEFT_BOX(kind, name, box) device->said[WEFT_BOX_##kind] = said[WEFT__SECTION_##box];
#include "weft/boxes.def"
}

static enum weft_status load_device_entry(struct bind *b, const struct weft_tree *entry, uint32_t i,
                                          struct weft_device_conf *device) {
    char path[WEFT__PATH_MAX];
    snprintf(path, sizeof path, "devices.%u", i);
    struct weft__device_head head;
    const struct weft_tree *tree[WEFT__DEVICE_SECTIONS];
    enum weft_status status = load_params(b, &weft__device_table, entry, path, &head);
    for (uint32_t k = 0; k < WEFT__DEVICE_SECTIONS && !status; k++)
        status = over_default(b, entry, weft__device_sections[k], &tree[k]);
    if (!status) status = load_device(b, device, entry, tree, path);
    note_sections(device, entry);
    device->match = status ? NULL : head.match;
    return status;
}

/// The entries of a list; *ret_n is 0 if it is missing.
static enum weft_status list_of(struct bind *b, const char *key, uint32_t max, const struct weft_tree **ret_list,
                                uint32_t *ret_n) {
    *ret_list = weft__tree_section(b->root, key);
    *ret_n = *ret_list ? (*ret_list)->n : 0;
    if (!*ret_list) return WEFT_OK;
    if ((*ret_list)->type != WEFT_TREE_LIST) return FAIL(b, (*ret_list)->place, "%s: expected a list of entries", key);
    if (*ret_n > max) return FAIL(b, (*ret_list)->place, "%s: more than %u entries", key, max);
    return WEFT_OK;
}

static enum weft_status load_devices(struct bind *b) {
    const struct weft_tree *list;
    uint32_t n;
    WEFT_TRY(list_of(b, "devices", DEVICES_MAX, &list, &n));
    struct weft_device_conf *device = weft_arena_alloc(b->arena, n + 1, sizeof *device);
    b->scenario->device = device;
    b->scenario->devices = n + 1;
    const struct weft_tree *tree[WEFT__DEVICE_SECTIONS];
    for (uint32_t k = 0; k < WEFT__DEVICE_SECTIONS; k++)
        tree[k] = weft__tree_section(b->root, weft__device_sections[k]);
    enum weft_status status = load_device(b, &device[0], b->root, tree, "");
    note_sections(&device[0], b->root);
    for (uint32_t i = 0; i < n; i++)
        status = worse_status(status, load_device_entry(b, list->child[i], i, &device[i + 1]));
    return status;
}

/// An entry of the workload, over the section `server` if it can have servers.
static enum weft_status with_server(const struct weft_tree *root, struct weft_arena *arena, struct weft_tree **entry,
                                    bool *used, struct weft_error *ret_error) {
    const struct weft_tree *server = weft__tree_section(root, "server"), *kind = weft_tree_find(*entry, "kind");
    const struct weft_model *model = kind && kind->text ? weft_model_find(WEFT_KIND_WORKLOAD, kind->text) : NULL;
    if (!server || !model || !weft_param_find(model->params, "server")) return WEFT_OK;
    struct weft_tree base = {.type = WEFT_TREE_MAP, .place = (*entry)->place, .n = 1}, *own, *merged;
    own = weft_arena_alloc(arena, 1, sizeof *own);
    *own = *server;
    base.child = &own;
    *used = true;
    enum weft_status status = weft_tree_override(&base, *entry, arena, &merged, ret_error);
    if (!status) *entry = merged;
    return status;
}

enum weft_status weft_scenario_work(const struct weft_tree *root, struct weft_arena *arena,
                                    const struct weft_tree **ret_work, struct weft_error *ret_error) {
    const struct weft_tree *list = weft__tree_section(root, "workload");
    enum weft_status status = WEFT_OK;
    bool used;
    *ret_work = list;
    if (!list || list->type != WEFT_TREE_LIST) return WEFT_OK;
    struct weft_tree *own = weft_arena_alloc(arena, 1, sizeof *own);
    *own = *list;
    own->child = weft_arena_alloc(arena, list->n + 1, sizeof *own->child);
    for (uint32_t i = 0; i < list->n && !status; i++) {
        own->child[i] = list->child[i];
        status = with_server(root, arena, &own->child[i], &used, ret_error);
    }
    *ret_work = own;
    return status;
}

static enum weft_status load_workload(struct bind *b) {
    const struct weft_tree *list;
    uint32_t n;
    enum weft_status status = list_of(b, "workload", WORKLOADS_MAX, &list, &n);
    if (status) return status;
    b->scenario->workload = weft_arena_alloc(b->arena, n, sizeof *b->scenario->workload);
    b->scenario->workloads = n;
    const struct weft_tree *server = weft__tree_section(b->root, "server");
    bool used = !server || !server->place.line; // a setting of the command line is for all variants
    for (uint32_t i = 0; i < n; i++) {
        char path[WEFT__PATH_MAX];
        struct weft_tree *entry = list->child[i];
        struct weft_error wrong = {0};
        snprintf(path, sizeof path, "workload.%u", i);
        if (with_server(b->root, b->arena, &entry, &used, &wrong))
            status = worse_status(status, take_mistake(b, &wrong));
        status = worse_status(status, weft__model_load_all(WEFT_KIND_WORKLOAD, NULL, entry, path,
                                                           &b->scenario->workload[i], b->arena, b->mistakes, b->error));
    }
    if (used) return status;
    return worse_status(status, FAIL(b, server->place,
                                     "server: has no effect, for no entry of the workload has GPUs in servers; "
                                     "expected a collective or a job"));
}

static enum weft_status load_capture(struct bind *b) {
    const struct weft_tree *tree = weft__tree_section(b->root, "capture"), *ports = weft__tree_section(tree, "ports");
    b->scenario->capture_place = ports ? ports->place : tree ? tree->place : WEFT_NOWHERE;
    return load_params(b, &weft_capture_table, tree, "capture", &b->scenario->capture);
}

/// Loads the file's fabric and solves it.
static enum weft_status load_fabric(struct bind *b) {
    struct weft_error own = {0};
    enum weft_status status = weft_fabric_load(b->root, b->arena, &b->scenario->fabric, &own);
    if (!status) status = weft_fabric_expand(b->root, &b->scenario->fabric, b->arena, &b->root, &own);
    b->scenario->tree = b->root;
    return take_mistake(b, &own);
}

/// run.jitter: off.
static void forbid_draws(struct weft_device_conf *device) {
    device->sw.clock_ppm = device->host.clock_ppm = 0;
    device->host.jitter = device->host.launch_skew = 0;
    device->host.stall_ps = 0;
}

/// Frames with sizes or a wire of their own are stored whole. A switch that cuts through because its class does, not
/// because the user says so, stores them whole, too.
static void store_own_frames(struct weft_scenario *scenario) {
    bool own = false;
    for (uint32_t i = 0; i < scenario->devices; i++)
        own |=
            weft_host_has_own_frames(&scenario->device[i].host) || !weft_wire_is_standard(&scenario->device[i].sw.wire);
    for (uint32_t i = 0; own && i < scenario->devices; i++)
        if (!weft_device_says(&scenario->device[i], "switch", "forwarding"))
            scenario->device[i].sw.forwarding = WEFT_STORE_AND_FORWARD;
}

/// Every section, even after a mistake in one: the user sees them all at once.
static enum weft_status bind_all(struct bind *b) {
    enum weft_status status = load_head(b); // with an unknown key a section may be there under another name
    status = worse_status(status, load_fabric(b));
    if (b->ideal) status = worse_status(status, take_ideal(b));
    if (!status || weft__tree_section(b->root, "topology")) status = worse_status(status, load_topology(b));
    b->scenario->link_tree = weft__tree_section(b->root, "link");
    status = worse_status(status, load_params(b, &weft_link_table, b->scenario->link_tree, "link", &b->scenario->link));
    status = worse_status(status, load_devices(b));
    status = worse_status(status, load_workload(b));
    status = worse_status(
        status, load_params(b, &weft_run_table, weft__tree_section(b->root, "run"), "run", &b->scenario->run));
    for (uint32_t i = 0; !status && !b->scenario->run.jitter && i < b->scenario->devices; i++)
        forbid_draws(&b->scenario->device[i]);
    if (!status) store_own_frames(b->scenario);
    b->scenario->control_tree = weft__tree_section(b->root, "control");
    status = worse_status(status, load_params(b, &weft_control_table, weft__tree_section(b->root, "control"), "control",
                                              &b->scenario->control));
    struct weft_goodput_conf goodput; // nothing of it is in a run, but its mistakes are told
    b->scenario->goodput_tree = weft__tree_section(b->root, "goodput");
    status = worse_status(status, weft_goodput_load(b->scenario->goodput_tree, b->arena, &goodput, b->error));
    b->scenario->live_tree = weft__tree_section(b->root, "live");
    struct weft_error own = {0};
    if (weft__live_load(b->scenario->live_tree, &b->scenario->live, b->arena, b->mistakes, &own))
        status = worse_status(status, own.status);
    if (own.status && b->error && !b->error->status) *b->error = own;
    return worse_status(status, load_capture(b));
}

/// The file's tree, overridden by its variant and then by the settings.
static enum weft_status apply_overrides(struct bind *b, const struct weft_scenario_file *file, uint32_t variant) {
    struct weft_tree *merged;
    enum weft_status status = WEFT_OK;
    b->root = file->variant[variant].root;
    for (uint32_t i = 0; i <= file->settings && !status; i++) {
        const struct weft_tree *over = i ? file->setting[i - 1] : file->variant[variant].over;
        if (!over) continue;
        status = weft_tree_override(b->root, over, b->arena, &merged, b->error);
        if (!status) b->root = merged;
    }
    return status;
}

/// Appends the variant's name: a file can be valid in one variant and invalid in another.
static void name_variant(const struct weft_scenario *scenario, uint32_t variants, struct weft_error *error) {
    size_t used = error ? strlen(error->text) : 0;
    if (error && variants > 1)
        snprintf(error->text + used, sizeof error->text - used, " (variant %s)", scenario->variant);
}

static enum weft_status bind_variant(const struct weft_scenario_file *file, uint32_t variant, struct bind *b) {
    struct weft_arena *arena = b->arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    struct weft_scenario *scenario = b->scenario = weft_arena_alloc(arena, 1, sizeof *scenario);
    scenario->arena = arena;
    scenario->file = file;
    scenario->path = file->path;
    scenario->variant = file->variant[variant].name;
    scenario->case_name = file->variant[variant].case_name;
    struct weft_error own = {0};
    struct bind overriding = {.scenario = scenario, .arena = arena, .error = &own};
    if (apply_overrides(&overriding, file, variant)) return take_mistake(b, &own);
    b->root = overriding.root;
    return bind_all(b);
}

enum weft_status weft_scenario_new(const struct weft_scenario_file *file, uint32_t variant,
                                   struct weft_scenario **ret_scenario, struct weft_error *ret_error) {
    assert(variant < file->variants);
    struct bind b = {.error = ret_error};
    enum weft_status status = bind_variant(file, variant, &b);
    if (status) {
        name_variant(b.scenario, file->variants, ret_error);
        weft_scenario_free(b.scenario);
    } else {
        *ret_scenario = b.scenario;
    }
    return status;
}

uint32_t weft_scenario_mistakes(const struct weft_scenario_file *file, uint32_t variant,
                                void (*on_mistake)(void *context, const struct weft_error *error), void *context) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_SCENARIO);
    struct weft__mistakes mistakes = {.arena = arena};
    struct weft_error first = {0};
    struct bind b = {.error = &first, .mistakes = &mistakes};
    bind_variant(file, variant, &b);
    for (uint32_t i = 0; i < mistakes.n; i++) {
        name_variant(b.scenario, file->variants, mistakes.error[i]);
        on_mistake(context, mistakes.error[i]);
    }
    uint32_t left_out = mistakes.left_out;
    weft_scenario_free(b.scenario);
    return left_out;
}

enum weft_status weft_scenario_tree(const struct weft_scenario_file *file, uint32_t variant, struct weft_arena *arena,
                                    const struct weft_tree **ret_tree, struct weft_error *ret_error) {
    struct bind b = {.arena = arena, .error = ret_error};
    enum weft_status status = apply_overrides(&b, file, variant);
    *ret_tree = b.root;
    return status;
}

enum weft_status weft_scenario_fabric(const struct weft_scenario_file *file, uint32_t variant, struct weft_arena *arena,
                                      struct weft_model_conf *ret_fabric, const char **ret_name, const char **ret_about,
                                      struct weft_error *ret_error) {
    struct weft_scenario scenario = {.path = file->path};
    struct bind b = {.scenario = &scenario, .arena = arena, .error = ret_error};
    enum weft_status status = apply_overrides(&b, file, variant);
    if (!status) status = load_head(&b);
    *ret_name = scenario.name;
    *ret_about = scenario.about;
    return status ? status : weft_fabric_load(b.root, arena, ret_fabric, ret_error);
}

void weft_scenario_free(struct weft_scenario *scenario) {
    if (scenario) weft_arena_free(scenario->arena); // the scenario itself is in it
}
