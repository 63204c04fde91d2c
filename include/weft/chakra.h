// SPDX-License-Identifier: Apache-2.0
// Chakra execution traces, written: a file for each rank, PREFIX.N.et, and PREFIX.groups.json with the process groups,
// as ASTRA-sim reads them. Source: mlcommons/chakra, schema/protobuf/et_def.proto.
#pragma once

#include "weft/schedule.h"

/// Nodes have the numbers of the steps + 1. A compute is whole microseconds, rounded to the nearest. An error, before
/// any file is written: steps that wait for a start only, wildcards, roots other than number 0.
enum weft_status weft_chakra_write(const struct weft_schedule *s, const char *prefix, struct weft_error *ret_error);
