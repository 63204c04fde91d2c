// SPDX-License-Identifier: Apache-2.0
// The registry: an explicit list, because constructors of a static library are dropped by the linker.
#include "weft/model.h"

#include <assert.h>
#include <string.h>

#define WEFT_MODEL(kind, name) extern const struct weft_model weft__##kind##_##name;
#include "models.def"
#undef WEFT_MODEL
#define WEFT_BOX(kind, name, box) extern const struct weft_model weft__box_##box;
#include "weft/boxes.def"

static const struct weft_model *const models[] = {
#define WEFT_MODEL(kind, name) &weft__##kind##_##name,
#include "models.def"
#undef WEFT_MODEL
#define WEFT_BOX(kind, name, box) &weft__box_##box,
#define WEFT_BOX_TOO(kind, name, box)
#include "weft/boxes.def"
};

static const char *const kind_names[WEFT_KINDS] = {
    [WEFT_KIND_TOPOLOGY] = "topology",
    [WEFT_KIND_WORKLOAD] = "workload",
    [WEFT_KIND_QUEUEING] = "queueing",
    [WEFT_KIND_ARBITER] = "arbiter",
    [WEFT_KIND_SCHEDULER] = "scheduler",
    [WEFT_KIND_BUFFER] = "buffer",
    [WEFT_KIND_AQM] = "aqm",
    [WEFT_KIND_ROUTE] = "route",
    [WEFT_KIND_CC] = "cc",
    [WEFT_KIND_TRANSPORT] = "transport",
    [WEFT_KIND_SPRAY] = "spray",
    [WEFT_KIND_RETRY] = "retry",
    [WEFT_KIND_CREDIT] = "credit",
    [WEFT_KIND_COLLECTIVE] = "collective",
    [WEFT_KIND_SFC] = "sfc",
    [WEFT_KIND_PLACEMENT] = "placement",
    [WEFT_KIND_IMPORT] = "import",
    [WEFT_KIND_FABRIC] = "fabric",
    [WEFT_KIND_BOX] = "box",
};

const char *weft_kind_name(enum weft_model_kind kind) {
    return kind_names[kind];
}

uint32_t weft_model_count(enum weft_model_kind kind) {
    uint32_t n = 0;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        n += models[i]->kind == kind;
    return n;
}

const struct weft_model *weft_model_at(enum weft_model_kind kind, uint32_t i) {
    for (size_t k = 0; k < sizeof models / sizeof *models; k++)
        if (models[k]->kind == kind && i-- == 0) return models[k];
    assert(0 && "model index out of range");
    return NULL;
}

const struct weft_model *weft_model_find(enum weft_model_kind kind, const char *name) {
    for (size_t k = 0; k < sizeof models / sizeof *models; k++)
        if (models[k]->kind == kind && !strcmp(models[k]->name, name)) return models[k];
    return NULL;
}
