// SPDX-License-Identifier: Apache-2.0
// Sizes of all RPCs of a Google cluster in 2008; the points are those of GoogleRPC2008.txt in traffic_gen of
// alibaba-edu/High-Precision-Congestion-Control (Li et al., "HPCC", SIGCOMM'19), parts to 2e-6. From one size in the
// table below to the next the file has points at which the part has risen, and the reciprocal of the size has fallen,
// by equal steps. Mean 2891 bytes.
#include <math.h>

#include "sizes.h"

static const struct step {
    double bytes, part;
    uint32_t steps; ///< from the row before
} row[] = {
    {3, .0648826, 1},       {32, .0973239, 1},    {64, .155271, 5},     {128, .351573, 6},     {256, .497901, 8},
    {512, .784921, 11},     {1024, .8632, 14},    {2048, .908862, 18},  {4096, .934955, 24},   {8192, .964309, 31},
    {16384, .984694, 41},   {32768, .990402, 53}, {65536, .993256, 69}, {131072, .997129, 90}, {262144, .998453, 118},
    {524288, .999498, 153}, {15158197, 1, 199},
};
enum { ROWS = sizeof row / sizeof *row, POINTS = 843 };

void weft__sizes_googlerpc2008(struct weft_arena *arena, struct weft__sizes *ret_sizes) {
    struct weft__size_point *point = weft_arena_alloc(arena, POINTS, sizeof *point); // the first is {0, 0}
    uint32_t n = 1;
    point[n++] = (struct weft__size_point){row[0].bytes, row[0].part};
    for (uint32_t r = 1; r < ROWS; r++)
        for (uint32_t k = 1; k <= row[r].steps; k++) {
            double done = (double)k / row[r].steps, from = 1 / row[r - 1].bytes, to = 1 / row[r].bytes;
            double part = row[r - 1].part + (row[r].part - row[r - 1].part) * done;
            point[n++] = (struct weft__size_point){round(1 / (from + (to - from) * done)), part};
        }
    *ret_sizes = (struct weft__sizes){point, n};
}
