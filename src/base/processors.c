// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE // sched_getaffinity
#include "base/numa.h"

#include <sched.h>
#include <unistd.h>

uint32_t weft__processors(void) {
    cpu_set_t set;
    if (!sched_getaffinity(0, sizeof set, &set)) return (uint32_t)CPU_COUNT(&set);
    return weft__processors_online(); // more than a set has room for
}

uint32_t weft__processors_online(void) {
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (uint32_t)online : 1;
}
