// SPDX-License-Identifier: Apache-2.0
// The row of the parameter that a value of a scenario belongs to, found by its path.
#include <string.h>

#include "scenario/scenario.h"
#include "weft/param.h"

/// What follows "name." in the path; NULL: the path does not begin with it.
static const char *path_after(const char *path, const char *name) {
    size_t n = strlen(name);
    return !strncmp(path, name, n) && path[n] == '.' ? path + n + 1 : NULL;
}

static const struct weft_param *row_at(const struct weft_param_table *table, const void *conf, const char *path) {
    for (uint32_t i = 0; i < table->n; i++) {
        const struct weft_param *row = &table->rows[i], *found = NULL;
        const void *field = (const char *)conf + row->offset;
        const char *rest = path_after(path, row->name);
        if (row->type == WEFT_PARAM_SECTION) {
            found = rest ? row_at(row->table, field, rest) : NULL;
        } else if (row->type == WEFT_PARAM_MODEL) {
            const struct weft_model_conf *model = field;
            const char *inner = row->beside ? path : rest;
            found = model->model && inner ? row_at(model->model->params, model->conf, inner) : NULL;
        } else if (!strcmp(row->name, path)) {
            return row;
        }
        if (found) return found;
    }
    return NULL;
}

const struct weft_param *weft_scenario_row(const struct weft_scenario *scenario, const char *path) {
    const char *rest = path_after(path, "fabric");
    if (rest && scenario->fabric.model) return row_at(scenario->fabric.model->params, scenario->fabric.conf, rest);
    for (uint32_t k = 0; k < WEFT__DEVICE_SECTIONS; k++)
        if ((rest = path_after(path, weft__device_sections[k])))
            return row_at(weft__device_section_table(k), weft__device_section_conf(&scenario->device[0], k), rest);
    return NULL;
}
