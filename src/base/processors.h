// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdint.h>

/// Processors that this process may use (taskset, cpusets of containers and batch systems), at least 1.
uint32_t weft__processors(void);
/// Processors of the machine, at least 1.
uint32_t weft__processors_online(void);
