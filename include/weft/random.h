// SPDX-License-Identifier: Apache-2.0
// Counter-based random numbers: Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC'11),
// from the random123 library. A stream is named by (seed, who, purpose); draws of one stream never depend on another,
// so the same numbers come out on any number of threads, and adding a flow does not change the draws of the rest.
#pragma once

#include "weft/types.h"

enum weft_random_purpose {
    WEFT_RANDOM_ECN = 1,
    WEFT_RANDOM_BIT_ERROR,
    WEFT_RANDOM_HASH_SEED,
    WEFT_RANDOM_ENTROPY, ///< UDP source ports of queue pairs
    WEFT_RANDOM_WORKLOAD,
    WEFT_RANDOM_ARRIVAL,
    WEFT_RANDOM_SIZE,
    WEFT_RANDOM_TEST,
    WEFT_RANDOM_ROUTE,
    WEFT_RANDOM_REACH,            ///< links withdrawn in input balanced mode
    WEFT_RANDOM_PHASE,            ///< when a device's periodic messages are sent
    WEFT_RANDOM_PLACEMENT = 32,   ///< order of servers; which are occupied
    WEFT_RANDOM_SPRAY,            ///< of cells over the links of a DSF box
    WEFT_RANDOM_CELL_TRACE = 36,  ///< which cells of a TiN are traced
    WEFT_RANDOM_RMA_ARRIVAL = 40, ///< of operations at a client
    WEFT_RANDOM_RMA_SERVER,       ///< the server of an operation
    WEFT_RANDOM_JITTER,           ///< how much later than said a flow starts
    WEFT_RANDOM_DRAW,             ///< which of the pairs named a flow has
    WEFT_RANDOM_SAMPLE,           ///< points of a sweep
    WEFT_RANDOM_PATH,             ///< entropy values of a sender's packets
    WEFT_RANDOM_CLOCK,            ///< how far a device's clock is off
    WEFT_RANDOM_ISSUE,            ///< how long the NIC takes to issue a message
    WEFT_RANDOM_STALL,            ///< whether it stalls, and for how long
    WEFT_RANDOM_LAUNCH,           ///< how long the host takes to start a collective
    WEFT_RANDOM_TIMEOUT,          ///< first timeout of a queue pair
    WEFT_RANDOM_FAILURE,          ///< when parts of a long job fail
    WEFT_RANDOM_OPERATION,        ///< which operations of a job run in packets
    WEFT_RANDOM_EXPERT,           ///< experts that a token goes to
    WEFT_RANDOM_IDLE,             ///< when a NIC's line is idle between frames, and for how long
};

struct weft_random {
    uint64_t seed;
    uint32_t who; ///< node, port, flow: whatever owns the stream
    uint32_t purpose;
    uint64_t drawn; ///< draws so far; the counter
};

/// A seed for the streams of one device. It depends on the device's name and not on its number, so that other devices
/// change none of its draws.
uint64_t weft_random_seed_of(uint64_t seed, const char *name);
struct weft_random weft_random_stream(uint64_t seed, uint32_t who, enum weft_random_purpose purpose);
uint64_t weft_random_u64(struct weft_random *random);
double weft_random_unit(struct weft_random *random);                ///< [0, 1)
uint64_t weft_random_below(struct weft_random *random, uint64_t n); ///< [0, n), unbiased, n > 0
double weft_random_exponential(struct weft_random *random, double mean);
/// Normal with mean 0 and deviation 1; drawn again until its size is at most `bound`. This and the
/// exponential consist of operations that IEEE 754 defines to the last bit, so every machine draws the same.
double weft_random_normal(struct weft_random *random, double bound);
double weft_random_lognormal(struct weft_random *random, double median, double sigma);
