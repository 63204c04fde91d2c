// SPDX-License-Identifier: Apache-2.0
// Flow sizes of a storage cluster of Alibaba in 2019; the points are those of AliStorage2019.txt in traffic_gen of
// alibaba-edu/High-Precision-Congestion-Control (Li et al., "HPCC", SIGCOMM'19). Mean 40869.80 bytes.
#include "sizes.h"

static const struct weft__size_point points[] = {
    {0, 0},         {4000, .2293},   {8000, .6921},   {16000, .8061}, {32000, .9047},
    {64000, .9353}, {128000, .9677}, {256000, .9753}, {2000000, 1},
};
const struct weft__sizes weft__sizes_alistorage2019 = {points, sizeof points / sizeof *points};
