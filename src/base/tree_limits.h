// SPDX-License-Identifier: Apache-2.0
// What a scenario's text may be at most; see weft/tree.h.
#ifndef WEFT_BASE_TREE_LIMITS_H
#define WEFT_BASE_TREE_LIMITS_H

#define WEFT__TREE_BYTES_MAX (16u << 20)
#define WEFT__TREE_DEPTH_MAX 64u
#define WEFT__TREE_NODES_MAX (4u << 20)
#define WEFT__TREE_KEYS_MAX 4096u
#define WEFT__TREE_ANCHORS_MAX 256u

#endif
