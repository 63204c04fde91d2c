// SPDX-License-Identifier: Apache-2.0
// The clock of a live run, and its loop: read what hosts have sent, run the network ahead of the wall clock by less
// than frames need to get in, write what is due, sleep. A frame that a host sends at time t reaches its port at t +
// delay, and the network may run to t + delay - lookahead: so what leaves it is known before it is due.
#define _GNU_SOURCE
#include "live/live.h"

#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>

#include "base/clock.h"
#include "base/units.h"
#include "weft/memory.h"
#include "weft/report.h"
#include "weft/sim.h"

enum { FDS_MAX = 2 * WEFT_LIVE_HOSTS_MAX + WEFT__LIVE_CLIENTS + WEFT__LIVE_VISITORS + 2 };
#define PS_PER_NS ((double)WEFT_PS_PER_NS)
#define SLEEP_MAX_NS 20000000.0 // commands and the terminal are looked at so often
#define SLEEP_MIN_NS 50000.0

weft_time_ps weft__live_now(const struct weft__live *l) {
    return (weft_time_ps)((double)(weft__wall_ns() - l->begun_ns) * PS_PER_NS / l->slow);
}

/// Simulated time goes on from where it is.
static void set_clock(struct weft__live *l, weft_time_ps now) {
    l->begun_ns = weft__wall_ns() - (uint64_t)((double)now * l->slow / PS_PER_NS);
}

void weft__live_set_slow(struct weft__live *l, double slow) {
    weft_time_ps now = weft__live_now(l);
    l->slow = l->answer->slow = slow;
    set_clock(l, now);
}

weft_time_ps weft__live_soon(const struct weft__live *l) {
    weft_time_ps now = weft_drive_now(l->drive);
    return now ? now + l->lookahead_ps : 0;
}

void weft__live_note(struct weft__live *l, weft_time_ps time, const char *text) {
    struct weft_live *a = l->answer;
    struct weft_live_note *more = weft_arena_alloc(l->arena, a->notes + 1, sizeof *more);
    if (a->notes) memcpy(more, a->note, a->notes * sizeof *more);
    more[a->notes++] = (struct weft_live_note){time, weft_arena_text(l->arena, text)};
    a->note = more;
}

// --- the network --------------------------------------------------------------------------------------------------

static enum weft_status make_network(struct weft__live *l, struct weft_error *ret_error) {
    struct weft_sim_options options = {.threads = l->options->threads};
    WEFT_TRY(weft_simulation_new(l->file, l->options->variant, &l->simulation, ret_error));
    l->conf = &l->simulation->scenario->live;
    if (!l->conf->hosts)
        return WEFT_REFUSE(ret_error, WEFT_NOWHERE,
                           "%s attaches no host; expected live: {hosts: {host-0: {unix: h0.sock}, ...}}",
                           l->simulation->scenario->name);
    enum weft_status status = weft_drive_new(l->simulation, &options, &l->drive, ret_error);
    if (!status) l->lookahead_ps = weft_drive_lookahead(l->drive);
    return status;
}

static void drop_network(struct weft__live *l) {
    weft_drive_free(l->drive);
    weft_simulation_free(l->simulation);
    l->drive = NULL;
    l->simulation = NULL;
}

static void run_network(struct weft__live *l, weft_time_ps until) {
    enum weft_drive_end end;
    struct weft_error error = {0};
    if (until <= l->ran_ps || l->over) return;
    enum weft_status status = weft_drive_run(l->drive, until, &end, &error);
    l->ran_ps = until;
    if (!status && end != WEFT_DRIVE_OVER) return;
    l->over = true;
    l->why = status ? weft_arena_text(l->arena, error.text) : "run.until is reached";
}

/// How slow the network must be with its own workload, before any frame comes: wall time over simulated time.
static enum weft_status measure_pace(struct weft__live *l, struct weft_error *ret_error) {
    enum { STEPS = 1000, WALL_NS = 300000000 };
    uint64_t begun = weft__wall_ns();
    weft_time_ps ran = 0, step = 2 * WEFT_PS_PER_US;
    enum weft_drive_end end = WEFT_DRIVE_UNTIL;
    enum weft_status status = WEFT_OK;
    for (int i = 0; i < STEPS && !status && end == WEFT_DRIVE_UNTIL && weft__wall_ns() - begun < WALL_NS; i++)
        status = weft_drive_run(l->drive, ran += step, &end, ret_error);
    l->answer->slow_least = (double)(weft__wall_ns() - begun) * PS_PER_NS / (double)ran;
    drop_network(l);
    return status ? status : make_network(l, ret_error);
}

enum weft_status weft__live_change(struct weft__live *l, const char *setting, struct weft_error *ret_error) {
    struct weft_simulation *simulation = l->simulation;
    struct weft_drive *drive = l->drive;
    const struct weft_scenario_file *file = l->file;
    struct weft_tree *over;
    WEFT_TRY(weft_tree_parse("live", setting, strlen(setting), l->arena, &over, ret_error));
    l->file = weft_scenario_file_over(file, (const struct weft_tree *const[]){over}, 1, l->arena);
    enum weft_status status = make_network(l, ret_error);
    if (status) { // all is as before
        l->file = file;
        if (l->drive != drive) weft_drive_free(l->drive);
        if (l->simulation != simulation) weft_simulation_free(l->simulation);
        l->simulation = simulation;
        l->drive = drive;
        l->conf = &simulation->scenario->live;
        return status;
    }
    weft_drive_free(drive);
    weft_simulation_free(simulation);
    weft_time_ps ran = l->ran_ps;
    l->quiet = true;
    l->ran_ps = 0;
    l->answer->restarts++;
    status = weft__live_record_again(l, ret_error);
    if (!status) status = weft__live_listen(l, ret_error);
    if (!status) run_network(l, ran);
    l->quiet = false;
    return status;
}

// --- the loop -----------------------------------------------------------------------------------------------------

/// Guests stand still until the network is where the clock is.
static void catch_up(struct weft__live *l) {
    weft_time_ps now = weft__live_now(l);
    uint64_t begun = weft__wall_ns();
    weft__live_qmp(l, "stop");
    run_network(l, now + l->delay_ps - l->lookahead_ps);
    weft__live_qmp(l, "cont");
    l->answer->freezes++;
    l->answer->frozen_s += (double)(weft__wall_ns() - begun) * 1e-9;
    set_clock(l, now);
}

static void advance_network(struct weft__live *l) {
    run_network(l, weft__live_now(l) + l->delay_ps - l->lookahead_ps);
    if (l->conf->qmps && !l->over && weft__live_now(l) > l->ran_ps) catch_up(l);
}

/// Those that were here are all gone.
static bool are_gone(const struct weft__live *l) {
    uint64_t connections = 0;
    for (uint32_t i = 0; i < l->conf->hosts; i++) {
        connections += l->attach[i].counts->connections;
        if (l->attach[i].fd >= 0) return false;
    }
    return connections > 0;
}

static void add_fd(struct pollfd *fds, uint32_t *n, int fd, bool in, bool out) {
    fds[(*n)++] = (struct pollfd){.fd = fd, .events = (short)((in ? POLLIN : 0) | (out ? POLLOUT : 0))};
}

static uint32_t list_fds(struct weft__live *l, struct pollfd *fds) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < l->conf->hosts; i++) {
        struct weft__attach *a = &l->attach[i];
        add_fd(fds, &n, a->fd, a->fd >= 0 && weft__live_has_room(l, i), weft__attach_waits(a));
        add_fd(fds, &n, a->listener, a->fd < 0, false);
    }
    for (uint32_t c = 0; c < WEFT__LIVE_CLIENTS; c++)
        add_fd(fds, &n, l->client[c].in, true, false);
    add_fd(fds, &n, l->listener, true, false);
    for (uint32_t v = 0; v < WEFT__LIVE_VISITORS; v++)
        add_fd(fds, &n, l->visitor[v].fd, !l->visitor[v].answered, l->visitor[v].answered);
    add_fd(fds, &n, l->page_listener, true, false);
    return n;
}

static void serve_fds(struct weft__live *l, const struct pollfd *fds) {
    const struct pollfd *at = fds;
    for (uint32_t i = 0; i < l->conf->hosts; i++, at += 2) {
        struct weft__attach *a = &l->attach[i];
        if (at[0].fd >= 0 && at[0].revents & POLLOUT) weft__attach_flush(a);
        if (at[0].fd >= 0 && at[0].revents & (POLLIN | POLLHUP | POLLERR) && a->fd >= 0) weft__live_read_host(l, i);
        if (at[1].revents & POLLIN) weft__attach_accept(a);
    }
    for (uint32_t c = 0; c < WEFT__LIVE_CLIENTS; c++, at++)
        if (at->fd >= 0 && at->revents) weft__live_control_read(l, &l->client[c]);
    if (at++->revents & POLLIN) weft__live_control_accept(l);
    for (uint32_t v = 0; v < WEFT__LIVE_VISITORS; v++, at++) {
        if (at->fd < 0 || !at->revents) continue;
        if (l->visitor[v].answered)
            weft__live_page_write(&l->visitor[v]);
        else
            weft__live_page_read(l, &l->visitor[v]);
    }
    if (at->revents & POLLIN) weft__live_page_accept(l);
}

/// Until the next frame is due, or the network may run further by half of what it may be ahead.
static void sleep_and_serve(struct weft__live *l, bool waits) {
    struct pollfd fds[FDS_MAX];
    uint32_t n = list_fds(l, fds);
    double ahead = (double)(l->delay_ps - l->lookahead_ps) * l->slow / PS_PER_NS / 2, sleep = SLEEP_MAX_NS;
    if (!waits && sleep > ahead) sleep = ahead;
    weft_time_ps due = weft__live_next_due(l), now = waits ? 0 : weft__live_now(l);
    if (due != WEFT_TIME_NEVER) sleep = fmin(sleep, due > now ? (double)(due - now) * l->slow / PS_PER_NS : 0);
    if (due == WEFT_TIME_NEVER) sleep = fmax(sleep, SLEEP_MIN_NS);
    struct timespec time = {.tv_nsec = (long)sleep};
    if (ppoll(fds, n, &time, NULL) > 0) serve_fds(l, fds);
}

static bool check_end(struct weft__live *l, bool running) {
    if (l->options->is_interrupted && l->options->is_interrupted() && !l->over) {
        l->over = true;
        l->why = "interrupted";
    }
    if (running && !l->over && are_gone(l)) {
        l->over = true;
        l->why = "all hosts are gone";
    }
    return !l->over;
}

/// Hosts at stream sockets connect before time begins.
static bool are_there(const struct weft__live *l) {
    bool all = true;
    for (uint32_t i = 0; i < l->conf->hosts; i++)
        all &= l->attach[i].counts->connections > 0;
    return all;
}

static enum weft_status run_loop(struct weft__live *l, struct weft_error *ret_error) {
    set_clock(l, 0);
    while (!are_there(l) && check_end(l, false)) { // what is read now came at time 0
        struct pollfd fds[FDS_MAX];
        uint32_t n = list_fds(l, fds);
        for (uint32_t i = 0; i < l->conf->hosts; i++)
            fds[2 * i].fd = -1;
        if (poll(fds, n, (int)(SLEEP_MAX_NS / 1e6)) > 0) serve_fds(l, fds);
    }
    enum weft_status status = l->over ? WEFT_OK : weft__live_qmp_begin(l, ret_error); // guests are there now
    if (status) return status;
    set_clock(l, 0);
    uint64_t begun = weft__wall_ns();
    while (check_end(l, true)) {
        advance_network(l);
        weft__live_write_due(l);
        weft__live_show(l);
        weft__live_film(l);
        sleep_and_serve(l, false);
    }
    l->answer->wall_s = (double)(weft__wall_ns() - begun) * 1e-9;
    return WEFT_OK;
}

// --- from begin to end --------------------------------------------------------------------------------------------

static enum weft_status begin_live(struct weft__live *l, struct weft_error *ret_error) {
    enum weft_status status = make_network(l, ret_error);
    if (!status && !l->conf->slow)
        status = WEFT_REFUSE(ret_error, l->conf->place,
                             "live.slow: 0 is for programs (weft/drive.h), without a wall clock; expected 1 or more");
    if (!status) status = measure_pace(l, ret_error);
    if (!status) status = weft__live_attach(l, ret_error);
    if (!status) status = weft__live_listen(l, ret_error);
    if (!status) status = weft__live_record_begin(l, ret_error);
    if (!status) status = weft__live_control_begin(l, ret_error);
    if (!status) status = weft__live_page_begin(l, ret_error);
    if (status) return status;
    l->slow = l->answer->slow = (double)l->conf->slow;
    l->delay_ps = l->conf->delay_ps < 2 * l->lookahead_ps ? 2 * l->lookahead_ps : l->conf->delay_ps;
    l->answer->delay_ps = l->delay_ps;
    l->answer->lookahead_ps = l->lookahead_ps;
    l->trip_ps = WEFT_TIME_NEVER;
    return WEFT_OK;
}

void weft__live_say(const struct weft__live *l, const char *format, ...) {
    char text[512];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    if (l->options->say) l->options->say(text);
}

static void say_begin(const struct weft__live *l) {
    const char *then = l->conf->qmps ? ": guests will stand still at times" : ": frames will be late";
    weft__live_say(l, "a frame takes %s to its port (live.delay; the lookahead is %s)",
                   weft__short_time(l->delay_ps).text, weft__short_time(l->lookahead_ps).text);
    weft__live_say(l, "the network and its own workload keep up if live.slow is %.0f or more; it is %.0f%s",
                   ceil(l->answer->slow_least), l->slow, l->answer->slow_least <= l->slow ? "" : then);
    for (uint32_t i = 0; i < l->conf->hosts; i++)
        weft__live_say(l, "%s at %s", l->attach[i].counts->name, l->attach[i].counts->where);
    weft__live_say(l, "commands at %s", l->control);
    if (l->page) weft__live_say(l, "the network in motion at http://127.0.0.1:%u/", (unsigned)l->conf->page);
}

void weft__live_judge(struct weft__live *l) {
    struct weft_live *a = l->answer;
    a->late_p50_ps = weft_histogram_quantile(l->lateness, 0.5);
    a->late_p99_ps = weft_histogram_quantile(l->lateness, 0.99);
    a->late_max_ps = l->lateness->max;
    a->round_trip_ps = l->trip_ps == WEFT_TIME_NEVER ? 0 : 2 * l->trip_ps;
    a->bound_ps = a->round_trip_ps * l->conf->lateness_percent / 100;
    a->holds = !a->round_trip_ps || a->late_p99_ps <= a->bound_ps;
}

static void count_pauses(struct weft__live *l, const struct weft_run *run) {
    for (uint32_t i = 0; i < l->conf->hosts; i++) {
        uint32_t port = run->topology->node[run->topology->host[l->number[i]]].port0;
        for (uint32_t p = 0; p < WEFT_PRIORITIES; p++)
            l->attach[i].counts->paused_ps += weft_outcome_at(run->outcome, port, p)->paused_ps;
    }
}

static enum weft_status end_live(struct weft__live *l, struct weft_error *ret_error) {
    struct weft_result *result = NULL;
    weft__live_judge(l);
    enum weft_status status = weft_drive_finish(l->drive, &result, ret_error);
    if (result) {
        l->answer->digest = weft_arena_format(l->arena, "%016" PRIx64, weft_result_digest(result));
        l->answer->sim_time_ps = weft_result_sim_time(result);
        count_pauses(l, weft__result_run(result));
    }
    weft_result_free(result);
    enum weft_status kept = weft__live_record_end(l, status ? NULL : ret_error);
    return status ? status : kept;
}

enum weft_status weft_live_run(const struct weft_scenario_file *file, const struct weft_live_options *options,
                               struct weft_arena *arena, struct weft_live *ret_live, struct weft_error *ret_error) {
    *ret_live = (struct weft_live){0};
    struct weft__live *l = weft_arena_alloc(arena, 1, sizeof *l);
    *l = (struct weft__live){
        .file = file, .options = options, .arena = arena, .answer = ret_live, .listener = -1, .page_listener = -1};
    l->lateness = weft_arena_alloc(arena, 1, sizeof *l->lateness);
    for (uint32_t c = 0; c < WEFT__LIVE_CLIENTS; c++)
        l->client[c].in = l->client[c].out = -1;
    for (uint32_t v = 0; v < WEFT__LIVE_VISITORS; v++)
        l->visitor[v].fd = -1;
    enum weft_status status = begin_live(l, ret_error);
    if (!status) say_begin(l);
    if (!status) status = run_loop(l, ret_error);
    if (!status) weft__live_say(l, "%s", l->why);
    if (!status) status = end_live(l, ret_error);
    weft__live_qmp_end(l);
    weft__live_control_end(l);
    weft__live_page_end(l);
    weft__live_drop_outputs(l);
    if (l->record) fclose(l->record);
    for (uint32_t i = 0; l->attach && i < ret_live->hosts; i++)
        weft__attach_close(&l->attach[i]);
    drop_network(l);
    return status;
}
