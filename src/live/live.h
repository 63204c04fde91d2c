// SPDX-License-Identifier: Apache-2.0
// What the parts of a live run share. live.c: its clock and its loop; hosts.c: frames in and out; record.c: what is
// kept; control.c: commands, and what a terminal shows; page.c: what a browser shows; qmp.c: guests that stand still.
#pragma once

#include "base/stream.h"
#include "live/attach.h"
#include "weft/histogram.h"

enum { WEFT__LIVE_LINE = 512, WEFT__LIVE_CLIENTS = 4, WEFT__LIVE_VISITORS = 8, WEFT__LIVE_REQUEST = 4096 };

/// A frame that is to leave at its time.
struct weft__live_output {
    struct weft__live_output *next;
    weft_time_ps due_ps;
    uint32_t host, length; ///< host: index among the attached ones
    uint8_t bytes[];
};
struct weft__live_queue {
    struct weft__live_output *first, *last;
};

/// Who sends commands: a line each, answered with a line.
struct weft__live_client {
    int in, out; ///< -1: none
    char line[WEFT__LIVE_LINE];
    size_t n;
};

/// A connection of a browser: one request, one answer.
struct weft__live_visitor {
    int fd; ///< -1: none
    bool answered;
    uint64_t since_ns;
    char request[WEFT__LIVE_REQUEST];
    size_t n, sent; ///< bytes of the request; of the answer
    struct weft__text_stream answer;
};

struct weft__live {
    const struct weft_scenario_file *file; ///< with the events that commands have made
    const struct weft_live_options *options;
    struct weft_arena *arena;
    struct weft_live *answer;
    struct weft_simulation *simulation;
    struct weft_drive *drive;
    const struct weft_live_conf *conf;
    struct weft__attach *attach; ///< [hosts of conf]
    uint32_t *number;            ///< of each among all hosts
    // time: simulated time is wall time since begun, over slow
    uint64_t begun_ns;
    double slow;
    weft_time_ps delay_ps, lookahead_ps, ran_ps;
    bool quiet;  ///< a run is repeated: nothing leaves
    bool frozen; ///< guests stand still
    bool over;
    const char *why; ///< it is over
    struct weft__live_queue network, flood;
    struct weft_histogram *lateness;
    weft_time_ps trip_ps; ///< the shortest of a frame
    FILE *record;
    int *qmp; ///< [conf->qmps]
    const char *control;
    int listener;
    struct weft__live_client client[WEFT__LIVE_CLIENTS]; ///< the first: the terminal
    uint64_t shown_ns, shown_in, shown_out;
    uint64_t *shown_bytes; ///< [ports]
    int page_listener;     ///< -1: no page
    struct weft_report_page *page;
    struct weft__live_film *film;
    struct weft__live_visitor visitor[WEFT__LIVE_VISITORS];
};

/// Simulated time by the wall clock.
weft_time_ps weft__live_now(const struct weft__live *l);
void weft__live_set_slow(struct weft__live *l, double slow);
/// The network changes from some time on, shortly ahead: the run is repeated up to now with the new setting, of what
/// has been recorded. `setting`: YAML, laid over the scenario.
enum weft_status weft__live_change(struct weft__live *l, const char *setting, struct weft_error *ret_error);
void weft__live_say(const struct weft__live *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
/// A time that the run has not reached.
weft_time_ps weft__live_soon(const struct weft__live *l);
void weft__live_note(struct weft__live *l, weft_time_ps time, const char *text);
/// Sets what the answer says of lateness, of frames so far.
void weft__live_judge(struct weft__live *l);

enum weft_status weft__live_attach(struct weft__live *l, struct weft_error *ret_error);
/// The drive of `l` calls back from now on.
enum weft_status weft__live_listen(struct weft__live *l, struct weft_error *ret_error);
void weft__live_read_host(struct weft__live *l, uint32_t i);
/// Puts a frame of the record again.
enum weft_status weft__live_put_again(struct weft__live *l, uint32_t i, weft_time_ps time, const uint8_t *bytes,
                                      size_t length, struct weft_error *ret_error);
/// Whether the host's socket may be read: its attach point has room.
bool weft__live_has_room(struct weft__live *l, uint32_t i);
void weft__live_write_due(struct weft__live *l);
/// When the next frame is due; WEFT_TIME_NEVER: none is.
weft_time_ps weft__live_next_due(const struct weft__live *l);
void weft__live_drop_outputs(struct weft__live *l);

enum weft_status weft__live_record_begin(struct weft__live *l, struct weft_error *ret_error);
void weft__live_record_frame(struct weft__live *l, uint32_t i, weft_time_ps time, const uint8_t *bytes, size_t length);
enum weft_status weft__live_record_again(struct weft__live *l, struct weft_error *ret_error);
enum weft_status weft__live_record_end(struct weft__live *l, struct weft_error *ret_error);

enum weft_status weft__live_control_begin(struct weft__live *l, struct weft_error *ret_error);
void weft__live_control_accept(struct weft__live *l);
void weft__live_control_read(struct weft__live *l, struct weft__live_client *client);
void weft__live_control_end(struct weft__live *l);
void weft__live_show(struct weft__live *l);

enum weft_status weft__live_page_begin(struct weft__live *l, struct weft_error *ret_error);
void weft__live_page_accept(struct weft__live *l);
void weft__live_page_read(struct weft__live *l, struct weft__live_visitor *visitor);
void weft__live_page_write(struct weft__live_visitor *visitor);
void weft__live_page_end(struct weft__live *l);
/// Keeps what ports did, once a window of time is over.
void weft__live_film(struct weft__live *l);

enum weft_status weft__live_qmp_begin(struct weft__live *l, struct weft_error *ret_error);
void weft__live_qmp(struct weft__live *l, const char *command);
void weft__live_qmp_end(struct weft__live *l);
