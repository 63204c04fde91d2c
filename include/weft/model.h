// SPDX-License-Identifier: Apache-2.0
// The registry of models: one file each, one line each in src/models.def. A model is functions of what they are told:
// it owns no clock, engine, allocator, socket or global; state and configuration are structs that the caller keeps.
#pragma once

#include "weft/tree.h"

struct weft_param_table;

enum weft_model_kind {
    WEFT_KIND_TOPOLOGY,   ///< ops: struct weft_topology_ops   (weft/topology.h)
    WEFT_KIND_WORKLOAD,   ///< ops: struct weft_workload_ops   (weft/workload.h)
    WEFT_KIND_QUEUEING,   ///< ops: struct weft_queueing_ops   (weft/queueing.h)
    WEFT_KIND_ARBITER,    ///< ops: struct weft_arbiter_ops    (weft/arbiter.h)
    WEFT_KIND_SCHEDULER,  ///< ops: struct weft_scheduler_ops  (weft/scheduler.h)
    WEFT_KIND_BUFFER,     ///< ops: struct weft_buffer_ops     (weft/buffer.h)
    WEFT_KIND_AQM,        ///< ops: struct weft_aqm_ops        (weft/aqm.h)
    WEFT_KIND_ROUTE,      ///< ops: struct weft_route_ops      (weft/route.h)
    WEFT_KIND_CC,         ///< ops: struct weft_cc_ops         (weft/cc.h)
    WEFT_KIND_TRANSPORT,  ///< ops: struct weft_transport_ops  (weft/transport.h)
    WEFT_KIND_SPRAY,      ///< ops: struct weft_spray_ops      (weft/spray.h)
    WEFT_KIND_RETRY,      ///< ops: struct weft_retry_ops      (weft/retry.h)
    WEFT_KIND_CREDIT,     ///< ops: struct weft_credit_ops     (weft/credit.h)
    WEFT_KIND_SFC,        ///< ops: struct weft_sfc_ops        (weft/sfc.h)
    WEFT_KIND_COLLECTIVE, ///< ops: struct weft_collective_ops (weft/collective.h)
    WEFT_KIND_PLACEMENT,  ///< ops: struct weft_placement_ops  (weft/placement.h)
    WEFT_KIND_IMPORT,     ///< ops: struct weft_import_ops     (weft/import.h)
    WEFT_KIND_FABRIC,     ///< ops: struct weft_fabric_ops     (weft/fabric.h)
    WEFT_KIND_BOX,        ///< ops: struct weft__box           (src/box/box.h); its lines are in weft/boxes.def
    WEFT_KINDS
};

struct weft__fingerprint; // base/digest.h
/// Optional operation `fingerprint` of each kind of model that keeps state in a box, for run.fast_forward: exact.
/// Called while no packet is in flight: mixes everything in the state that determines what the model does next, with
/// times relative to now. Two states that mix equal numbers must act alike from then on. A run with a model that keeps
/// state and does not have the operation is not skipped, and weft names the model. (run.fast_forward: steady keeps all
/// state as it is, and asks for nothing.)
typedef void weft_model_fingerprint(const void *state, const void *conf, struct weft__fingerprint *fingerprint);

struct weft_model {
    enum weft_model_kind kind;
    const char *name;    ///< as the user writes it
    const char *summary; ///< one line
    const char *source;  ///< paper, clause or file, and where we differ
    const struct weft_param_table *params;
    const void *ops;
    bool draws; ///< random numbers: with another run.seed it may do otherwise
};
/// A model of WEFT_KIND_`of`; other members may follow.
#define WEFT_MODEL_OF(of, title, line, from, table, operations, ...)                                                   \
    {                                                                                                                  \
        .kind = WEFT_KIND_##of, .name = title, .summary = line, .source = from, .params = table, .ops = operations,    \
        __VA_ARGS__                                                                                                    \
    }

/// A model chosen by the user, with its configuration.
struct weft_model_conf {
    const struct weft_model *model;
    void *conf; ///< model->params->conf_size bytes, in the arena
    struct weft_place place;
    const struct weft_tree *tree; ///< what the user wrote, for the lists that a model reads itself; NULL: nothing
};

extern const struct weft_param_table weft_no_params; ///< of models without parameters

const char *weft_kind_name(enum weft_model_kind kind); ///< "cc"
/// Number of models of a kind, and the i-th in the order of models.def.
uint32_t weft_model_count(enum weft_model_kind kind);
const struct weft_model *weft_model_at(enum weft_model_kind kind, uint32_t i);
const struct weft_model *weft_model_find(enum weft_model_kind kind, const char *name); ///< NULL if there is none
