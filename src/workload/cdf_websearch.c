// SPDX-License-Identifier: Apache-2.0
// Flow sizes of a web search cluster, first measured by Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM'10; the
// points are those of WebSearch_distribution.txt in traffic_gen of alibaba-edu/High-Precision-Congestion-Control
// (Li et al., "HPCC", SIGCOMM'19). Mean 1711250 bytes.
#include "sizes.h"

static const struct weft__size_point points[] = {
    {0, 0},        {10000, .15},   {20000, .20},   {30000, .30},   {50000, .40},    {80000, .53},
    {200000, .60}, {1000000, .70}, {2000000, .80}, {5000000, .90}, {10000000, .97}, {30000000, 1},
};
const struct weft__sizes weft__sizes_websearch = {points, sizeof points / sizeof *points};
