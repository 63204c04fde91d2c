// SPDX-License-Identifier: Apache-2.0
// Whether the program is one of several that a launcher (mpirun, srun) has started for one run. Only weft-mpi can do
// such a run; weft hands over to it.
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct weft_ranks;

/// Call it first in main. False: *ret_status is the exit status, and nothing more must be done.
bool weft_cli_ranks_begin(int *argc, char ***argv, int *ret_status);
/// NULL: there is only this process.
struct weft_ranks *weft_cli_ranks(void);
/// Of a signal handler: the signal is that which ends the run, and comes from `sender`.
void weft_cli_ranks_interrupt(int number, pid_t sender);
/// Last of all; returns the exit status.
int weft_cli_ranks_end(int status);
