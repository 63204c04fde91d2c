// SPDX-License-Identifier: Apache-2.0
// Matching of inputs to outputs of a switch whose queues are at the inputs (IQ, VOQ). Each output has already chosen
// the priority it wants to serve; the arbiter chooses the inputs. Sets of inputs are bit sets of 64-bit words.
#pragma once

#include "weft/model.h"

#define WEFT_ARBITER_NONE UINT16_MAX

struct weft_arbiter_ops {
    size_t (*state_size)(const void *conf, uint32_t ports);      ///< required
    void (*init)(void *state, const void *conf, uint32_t ports); ///< required
    /// Required. `outputs`: bit o set if output o requests; only the rows of those are read, and only their ret_input
    /// is written. requests[o * words + w]: bit i set if input 64 w + i has something for output o and both are free;
    /// words = (ports + 63) / 64, bits beyond `ports` are 0. ret_input[o]: the input matched to output o or
    /// WEFT_ARBITER_NONE. No input is matched twice, and only requested pairs are.
    void (*match)(void *state, const void *conf, uint32_t ports, const uint64_t *outputs, const uint64_t *requests,
                  uint16_t *ret_input);
    weft_model_fingerprint *fingerprint; ///< optional
};
