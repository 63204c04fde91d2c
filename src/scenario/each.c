// SPDX-License-Identifier: Apache-2.0
// The effective configuration as a flat list of paths and values.
#include <stdio.h>

#include "base/param.h"
#include "scenario/scenario.h"
#include "weft/param.h"

struct sink {
    void (*on_value)(void *context, const char *path, const char *value, const char *dflt);
    void *context;
};

/// The leaves of what no table describes: the lists of a topology, the events.
static void tree_each(const struct sink *sink, const struct weft_tree *tree, const char *path) {
    if (tree->type == WEFT_TREE_TEXT) sink->on_value(sink->context, path, tree->text, NULL);
    for (uint32_t i = 0; i < tree->n; i++) {
        char child_path[WEFT__PATH_MAX], number[16];
        snprintf(number, sizeof number, "%u", i);
        const struct weft_tree *child = tree->child[i];
        tree_each(sink, child, weft__path_join(child_path, sizeof child_path, path, child->key ? child->key : number));
    }
}

static void model_each(const struct sink *sink, const struct weft_model_conf *model, const char *path);

/// Models by name, of the same kind as `model`; anything else is as the user wrote it.
static void models_each(const struct sink *sink, const struct weft_model_conf *model, const char *key,
                        const char *path) {
    const struct weft_tree *map = weft_tree_find(model->tree, key);
    WEFT_SCRATCH(arena, WEFT_MEMORY_SCENARIO);
    for (uint32_t i = 0; map && i < map->n; i++) {
        const struct weft_tree *child = map->child[i];
        char map_path[WEFT__PATH_MAX], child_path[WEFT__PATH_MAX];
        weft__path_join(map_path, sizeof map_path, path, key);
        weft__path_join(child_path, sizeof child_path, map_path, child->key);
        struct weft_model_conf inner;
        if (weft__model_load_at(model->model->kind, NULL, child, child_path, &inner, arena, NULL))
            tree_each(sink, child, child_path);
        else
            model_each(sink, &inner, child_path);
    }
}

/// A model with the lists that it reads itself.
static void model_each(const struct sink *sink, const struct weft_model_conf *model, const char *path) {
    weft__model_each(model, path, sink->on_value, sink->context);
    for (const char *const *key = model->model->params->models; key && *key; key++)
        models_each(sink, model, *key, path);
    const char *const *list = model->model->params->lists;
    for (; list && *list; list++) {
        const struct weft_tree *tree = weft_tree_find(model->tree, *list);
        char list_path[WEFT__PATH_MAX];
        if (tree) tree_each(sink, tree, weft__path_join(list_path, sizeof list_path, path, *list));
    }
}

static void device_each(const struct sink *sink, const struct weft_device_conf *device, uint32_t i) {
    char prefix[64] = "", path[WEFT__PATH_MAX];
    if (i) {
        snprintf(prefix, sizeof prefix, "devices.%u", i - 1); // the first is the default, not an entry
        sink->on_value(sink->context, weft__path_join(path, sizeof path, prefix, "match"), device->match, NULL);
    }
    for (uint32_t k = 0; k < WEFT__DEVICE_SECTIONS; k++) {
        weft_params_each(weft__device_section_table(k), weft__device_section_conf(device, k),
                         weft__path_join(path, sizeof path, prefix, weft__device_sections[k]), sink->on_value,
                         sink->context);
    }
}

void weft_scenario_each(const struct weft_scenario *scenario,
                        void (*on_value)(void *context, const char *path, const char *value, const char *dflt),
                        void *context) {
    struct sink sink = {on_value, context};
    on_value(context, "name", scenario->name, NULL);
    on_value(context, "about", scenario->about, NULL);
    if (scenario->fabric.model) model_each(&sink, &scenario->fabric, "fabric");
    model_each(&sink, &scenario->topology, "topology");
    weft_params_each(&weft_link_table, &scenario->link, "link", on_value, context);
    if (scenario->events_tree) tree_each(&sink, scenario->events_tree, "events");
    for (uint32_t i = 0; i < scenario->devices; i++)
        device_each(&sink, &scenario->device[i], i);
    for (uint32_t i = 0; i < scenario->workloads; i++) {
        char path[64];
        snprintf(path, sizeof path, "workload.%u", i);
        model_each(&sink, &scenario->workload[i], path);
    }
    weft_params_each(&weft_run_table, &scenario->run, "run", on_value, context);
    weft_params_each(&weft_control_table, &scenario->control, "control", on_value, context);
    const struct weft_tree *happening = weft_tree_find(scenario->control_tree, "events");
    if (happening) tree_each(&sink, happening, "control.events");
    if (scenario->goodput_tree) tree_each(&sink, scenario->goodput_tree, "goodput");
    if (scenario->live_tree) tree_each(&sink, scenario->live_tree, "live");
    weft_params_each(&weft_capture_table, &scenario->capture, "capture", on_value, context);
}
