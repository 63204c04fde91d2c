// SPDX-License-Identifier: Apache-2.0
// The order in which a stage of a pipeline works on microbatches.
#ifndef WEFT_WORKLOAD_PIPELINE_H
#define WEFT_WORKLOAD_PIPELINE_H

#include <stdbool.h>
#include <stdint.h>

struct weft__pass {
    uint32_t microbatch;
    bool backward;
};

/// Into ret_pass[2 * microbatches].
void weft__pipeline_order(uint32_t stage, uint32_t stages, uint32_t microbatches, struct weft__pass *ret_pass);

#endif
