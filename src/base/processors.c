// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE // sched_getaffinity
#include "base/processors.h"

#include <sched.h>
#include <unistd.h>

uint32_t weft__processors(void) {
    cpu_set_t set;
    if (!sched_getaffinity(0, sizeof set, &set)) return (uint32_t)CPU_COUNT(&set);
    long online = sysconf(_SC_NPROCESSORS_ONLN); // more than a set has room for
    return online > 0 ? (uint32_t)online : 1;
}
