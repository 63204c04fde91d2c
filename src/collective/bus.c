// SPDX-License-Identifier: Apache-2.0
#include "weft/collective.h"

double weft_calc_bus_factor(enum weft_collective_goal goal, uint32_t ranks) {
    double n = ranks;
    switch (goal) {
    case WEFT_GOAL_ALL_REDUCE:
        return 2 * (n - 1) / n;
    case WEFT_GOAL_REDUCE_SCATTER:
    case WEFT_GOAL_ALL_GATHER:
    case WEFT_GOAL_EXCHANGE:
        return (n - 1) / n;
    case WEFT_GOAL_BROADCAST:
    case WEFT_GOAL_REDUCE:
    case WEFT_GOAL_NEXT:
    case WEFT_GOAL_OTHER:
    case WEFT_GOALS:
        break;
    }
    return 1;
}
