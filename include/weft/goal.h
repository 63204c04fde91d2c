// SPDX-License-Identifier: Apache-2.0
// GOAL, the schedules of LogGOPSim and ATLAHS: for each rank operations that send, receive and calculate. A text and a
// binary form, read as streams and written.
#pragma once

#include <stdio.h>

#include "weft/schedule.h"

/// Whether a file that begins with these bytes looks like GOAL, of either form.
bool weft_goal_recognise(const void *bytes, size_t size);
/// Either form, to its end. `name` is for messages. Errors have a line, or, of the binary form, a byte offset. It is
/// read but not checked: weft_schedule_check.
enum weft_status weft_goal_read(FILE *file, const char *name, struct weft_arena *arena,
                                struct weft_schedule **ret_schedule, struct weft_error *ret_error);
/// Opens, reads and checks. `place`: for what is wrong with the file as a whole.
enum weft_status weft_goal_load(const char *path, struct weft_place place, struct weft_arena *arena,
                                struct weft_schedule **ret_schedule, struct weft_error *ret_error);

/// Whole nanoseconds: what a compute has beyond is rounded to the nearest. Errors are those of the stream (ferror).
void weft_goal_write(FILE *file, const struct weft_schedule *s);
