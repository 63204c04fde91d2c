// SPDX-License-Identifier: Apache-2.0
// A sample of each foreign format that a model reads in place.
#pragma once

#include <stdio.h>

#include "models.h"
#include "weft/param.h"
#include "weft/param_load.h"

/// "file: PATH" for a model that reads a file, else NULL; in `text`.
static inline const char *sample_of(const struct weft_model *model, char *text, size_t size) {
    static const struct {
        enum weft_model_kind kind;
        const char *name, *file;
    } samples[] = {
        {WEFT_KIND_COLLECTIVE, "msccl", "msccl.xml"},
        {WEFT_KIND_COLLECTIVE, "nccl", "nccl/graph.xml"},
        {WEFT_KIND_WORKLOAD, "chakra", "chakra/step"},
        {WEFT_KIND_WORKLOAD, "frames", "../live/frames.pcapng"},
        {WEFT_KIND_WORKLOAD, "goal", "ring.goal"},
        {WEFT_KIND_TOPOLOGY, "hpcc", "hpcc/topology.txt"},
        {WEFT_KIND_TOPOLOGY, "cables", "cables/cables.csv"},
        {WEFT_KIND_TOPOLOGY, "graphml", "graphml/graph.graphml"},
        {WEFT_KIND_TOPOLOGY, "infragraph", "infragraph/clos.yaml"},
        {WEFT_KIND_TOPOLOGY, "nccl", "nccl/topo.xml"},
        {WEFT_KIND_TOPOLOGY, "networkx", "networkx/graph.json"},
        {WEFT_KIND_WORKLOAD, "hpcc", "hpcc/flows.txt"},
        {WEFT_KIND_WORKLOAD, "csv", "flows.csv"},
        {WEFT_KIND_TOPOLOGY, "htsim", "htsim/tree.topo"},
        {WEFT_KIND_WORKLOAD, "htsim", "htsim/flows.cm"},
        {WEFT_KIND_WORKLOAD, "capture", "capture.pcapng"},
        {WEFT_KIND_WORKLOAD, "inspector", "inspector.jsonl"},
        {WEFT_KIND_WORKLOAD, "simai", "simai.txt"},
    };
    const struct weft_param *row = weft_param_find(model->params, "file");
    if (!row || row->dflt) return NULL;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        if (samples[i].kind == model->kind && !strcmp(samples[i].name, model->name)) {
            snprintf(text, size, "file: %s/examples/import/%s", getenv("WEFT_ROOT"), samples[i].file);
            return text;
        }
    fail_msg("no sample of %s %s in tests/samples.h", weft_kind_name(model->kind), model->name);
    return NULL;
}
