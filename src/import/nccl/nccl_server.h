// SPDX-License-Identifier: Apache-2.0
// What the readers of NCCL's files share.
#pragma once

#include "base/xml.h"
#include "import/nccl/nccl.h"

enum { WEFT__NCCL_GPUS_MAX = 72 };

enum weft_status weft__nccl_check_version(const struct weft__xml_element *e, struct weft_error *ret_error);
/// Call it when all GPUs and NICs are read: which GPU uses which NIC.
void weft__nccl_share_nics(struct weft__nccl_server *s, struct weft_arena *arena);
