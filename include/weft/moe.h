// SPDX-License-Identifier: Apache-2.0
// Expert-parallel traffic: which experts each token goes to, and what follows from that without a network.
#pragma once

#include "weft/types.h"

/// What the tokens of a job need, means over all of them. A token is sent once to each node that has an expert for it,
/// its own included, and there to each rank with such an expert.
struct weft_moe {
    uint32_t ranks, nodes, experts, top_k;
    uint64_t tokens;           ///< of all ranks
    double token_nodes;        ///< nodes that a token goes to
    double token_ranks;        ///< ranks that a token goes to
    double token_experts;      ///< experts that a token goes to
    double load_most;          ///< tokens of the rank that gets most, over the mean
    weft_bytes message_bytes;  ///< of a token in the dispatch, with what goes with it
    weft_bytes dispatch_bytes; ///< of a rank, mean: as DeepEP counts them, the own node included
    weft_bytes combine_bytes;
};
