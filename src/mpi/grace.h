// SPDX-License-Identifier: Apache-2.0
// mpirun that is interrupted sends its ranks SIGTERM, and after a time of grace SIGKILL. Rank 0 ends before that, and
// removes what of its files is not complete by then.
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/// False: no thread can be had.
bool weft__grace_begin(void);
/// A signal has come. Of a signal handler.
void weft__grace_note(int number, pid_t sender);
