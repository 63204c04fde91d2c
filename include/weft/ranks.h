// SPDX-License-Identifier: Apache-2.0
// A run over several processes, "ranks", as an engine sees the others: what it asks of whatever carries bytes between
// them (MPI: src/mpi). Within the project.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Bytes to or from another rank; malloc's.
struct weft_parcel {
    unsigned char *bytes;
    size_t n, capacity;
};

struct weft_ranks {
    uint32_t n, self; ///< rank 0 writes the results
    void *context;
    /// Between all, once a window: parcel out[r] to each other rank r, which is sent even if empty, and into[r] from
    /// it. A rank that cannot go on ends all.
    void (*exchange)(struct weft_ranks *ranks, struct weft_parcel *out, struct weft_parcel *into);
    /// Beside exchanges, between rank 0 and another. Any number of bytes.
    void (*send)(struct weft_ranks *ranks, uint32_t to, const void *bytes, size_t n);
    void (*receive)(struct weft_ranks *ranks, uint32_t from, void *bytes, size_t n);
    /// Of a rank other than 0: all of its run is with rank 0. The process ends when that does.
    void (*leave)(struct weft_ranks *ranks);
    uint64_t exchanges, messages, bytes; ///< sent, of exchanges
    uint64_t wait_ns;                    ///< in exchanges
    bool running;                        ///< the run has begun
    bool over;                           ///< some rank has ended before
    char host[64];                       ///< that this one is on
};

/// What every rank tells all others before the run, in an exchange.
struct weft_ranks_word {
    uint32_t ended, status; ///< it goes no further, and with this exit status
    uint32_t threads;       ///< that it would run
    uint64_t layout;        ///< of its memory; the same in all
    char text[512];         ///< why it has ended; "": the others know
};
/// A word for each rank, `own` among them. If some rank has ended, ranks->over is set.
void weft_ranks_meet(struct weft_ranks *ranks, const struct weft_ranks_word *own, struct weft_ranks_word *ret_word);
