// SPDX-License-Identifier: Apache-2.0
// Whether the program is one of several that a launcher (mpirun, srun) has started for one run. Of the two programs
// only weft-mpi can do such a run; weft hands over to it.
#ifndef WEFT_CLI_RANKS_H
#define WEFT_CLI_RANKS_H

#include <stdbool.h>
#include <sys/types.h>

struct weft_ranks;

/// First of all in main. False: there is nothing more to do, and *ret_status is the exit status.
bool weft_cli_ranks_begin(int *argc, char ***argv, int *ret_status);
/// NULL: the program is alone.
struct weft_ranks *weft_cli_ranks(void);
/// Of a signal handler: the signal is that which ends the run, and comes from `sender`.
void weft_cli_ranks_interrupt(int number, pid_t sender);
/// Last of all; returns the exit status.
int weft_cli_ranks_end(int status);

#endif
