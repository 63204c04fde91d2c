// SPDX-License-Identifier: Apache-2.0
// What ranks send each other, by MPI.
#pragma once

#include <mpi.h>

#include "weft/ranks.h"

/// Ends all ranks; the launcher says so.
_Noreturn void weft__mpi_fail(const char *what);

/// Until all of these are done. MPI itself would spin, or yield time after time to whoever else computes here.
void weft__mpi_await(int requests, MPI_Request *request);
/// From now on waits sleep: another rank has long work to do.
void weft__mpi_doze(void);

void weft__mpi_exchange_init(const struct weft_ranks *ranks);
/// Those of struct weft_ranks.
void weft__mpi_exchange(struct weft_ranks *ranks, struct weft_parcel *out, struct weft_parcel *into);
void weft__mpi_send(struct weft_ranks *ranks, uint32_t to, const void *bytes, size_t n);
void weft__mpi_receive(struct weft_ranks *ranks, uint32_t from, void *bytes, size_t n);
