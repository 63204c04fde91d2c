// SPDX-License-Identifier: Apache-2.0
// Flow sizes of a Hadoop cluster, first measured by Roy et al., "Inside the social network's (datacenter) network",
// SIGCOMM'15; the points are those of FbHdp_distribution.txt in traffic_gen of
// alibaba-edu/High-Precision-Congestion-Control (Li et al., "HPCC", SIGCOMM'19). Mean 120420.75 bytes.
#include "sizes.h"

static const struct weft__size_point points[] = {
    {0, 0},       {100, .01},    {200, .02},    {300, .05},      {350, .15},     {400, .20},    {500, .30},
    {600, .40},   {700, .50},    {1000, .60},   {2000, .67},     {7000, .70},    {30000, .72},  {50000, .82},
    {80000, .87}, {120000, .90}, {300000, .95}, {1000000, .975}, {2000000, .99}, {10000000, 1},
};
const struct weft__sizes weft__sizes_fbhdp = {points, sizeof points / sizeof *points};
