// SPDX-License-Identifier: Apache-2.0
// One forward, one backward: a stage with k stages after it does k forward passes to warm up, then a forward and a
// backward pass in turn, then the backward passes that are left. Source: Narayanan et al., "Efficient large-scale
// language model training on GPU clusters using Megatron-LM", SC 2021, section 2.2.1 (PipeDream-Flush); the time is
// (m + p - 1) passes both ways for m microbatches and p stages, of which p - 1 are the bubble.
#include "pipeline.h"

void weft__pipeline_order(uint32_t stage, uint32_t stages, uint32_t microbatches, struct weft__pass *ret_pass) {
    uint32_t warm_up = stages - 1 - stage < microbatches ? stages - 1 - stage : microbatches, n = 0;
    for (uint32_t i = 0; i < warm_up; i++)
        ret_pass[n++] = (struct weft__pass){i, false};
    for (uint32_t i = warm_up; i < microbatches; i++) {
        ret_pass[n++] = (struct weft__pass){i, false};
        ret_pass[n++] = (struct weft__pass){i - warm_up, true};
    }
    for (uint32_t i = microbatches - warm_up; i < microbatches; i++)
        ret_pass[n++] = (struct weft__pass){i, true};
}
