// SPDX-License-Identifier: Apache-2.0
// Reachability over time. A device sends a cell for each block of 32 destinations once per cycle on every link, one
// cell after another; a change is sent with the next cell of its block. Only cells with new information are simulated,
// because the others change nothing. A link is down for a device when no cell has arrived for the watchdog's time or,
// if so configured, when its light is gone; it is up again with the first cell.
//
// Source: cells of 32 devices, a table in 44.8 us, watchdog of 100 us: Broadcom's open SDK for this generation of
// fabric chips (OpenBCM, sdk-6.5.24). Processing is assumed. Real tables have four entries per interface node (FBOSS
// numbers cores), ours has one.
#include "control/dsf/reach_run.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "control/agenda.h"
#include "weft/control.h"
#include "weft/memory.h"
#include "weft/param.h"

// Choices of input balanced mode that a scenario makes itself: "fdsw-1/2,sdsw-0/3" lists ports of fabric nodes, for
// each device in the order in which it takes them.

enum { NAME = 128 };

/// The next name of a text, separated by commas; false: there is none. A name too long for a port is truncated.
static bool next_name(const char **text, char *ret) {
    *text += strspn(*text, ", ");
    size_t n = strcspn(*text, ", ");
    if (!n) return false;
    snprintf(ret, NAME, "%.*s", (int)n, *text);
    *text += n;
    return true;
}

enum weft_status weft_control_picks_check(const struct weft_topology *t, const struct weft_control_conf *conf,
                                          const struct weft_tree *control, struct weft_error *ret_error) {
    const struct weft_tree *reach = control ? weft_tree_find(control, "reachability") : NULL;
    const struct weft_tree *said = reach ? weft_tree_find(reach, "picks") : NULL;
    const char *picks = conf->reach.picks;
    char name[NAME];
    while (next_name(&picks, name)) {
        uint32_t port = weft_topology_find_port(t, name);
        if (port == WEFT_NONE || t->node[t->port[port].node].box != WEFT_BOX_DSF_FABRIC)
            return weft_error_set(
                ret_error, WEFT_ERROR_INPUT, said ? said->place : WEFT_NOWHERE,
                "control.reachability.picks: '%s' is not a port of a fabric node; expected ports such as "
                "fdsw-0/0",
                name);
    }
    return WEFT_OK;
}

/// All ports of a fabric node are links of the fabric, in that order.
static bool is_of(const struct weft_fabric_device *device, const char *name, uint32_t *ret_slot) {
    const char *slash = strrchr(name, '/');
    if (strncmp(device->name, name, (size_t)(slash - name)) || device->name[slash - name]) return false;
    *ret_slot = (uint32_t)strtoul(slash + 1, NULL, 10);
    return *ret_slot < device->links;
}

/// The links that a device withdraws before others, in order; in `arena`.
static const uint16_t *picks_of(const struct weft_fabric *f, uint32_t device, const char *picks, uint32_t *ret_n,
                                struct weft_arena *arena) {
    char name[NAME];
    uint32_t slot;
    uint16_t *pick = *picks ? weft_arena_alloc(arena, f->device[device].links, sizeof *pick) : NULL;
    *ret_n = 0;
    while (next_name(&picks, name))
        if (is_of(&f->device[device], name, &slot) && *ret_n < f->device[device].links)
            pick[(*ret_n)++] = (uint16_t)slot;
    return pick;
}

#define T struct weft_reach_conf
static const char *const detections[] = {"watchdog", "signal", NULL};

static const char *reach_check(const void *conf, char *text, size_t size) {
    const T *c = conf;
    if (c->min_join < c->min_remain) return "min_links_to_remain is above min_links_to_join: it would join and leave";
    if (c->detection != WEFT_REACH_BY_WATCHDOG || c->watchdog_ps > c->cycle_ps) return NULL;
    return WEFT_SAY(text, size, "watchdog is not longer than cycle: a link would go down between two cells");
}
const struct weft_param_table weft_reach_table = WEFT_PARAM_TABLE_OF(
    "reachability", T, .check = reach_check,
    WEFT_BOOL(T, balance, "balance", "on",
              "input balanced mode: a device keeps no more input than output links open towards any destination"),
    WEFT_BOOL(T, last_resort, "last_resort", "on",
              "if balancing withdraws every link towards a destination, one is still used"),
    WEFT_TIME(T, cycle_ps, "cycle", "44.8us", "1us", "10ms",
              "time in which a link carries the whole reachability table once"),
    WEFT_UINT(T, table, "table", "2048", "32", "2048", "devices in that table, 32 per cell"),
    WEFT_TIME(T, watchdog_ps, "watchdog", "100us", "1us", "10s",
              "a link without reachability cells for this long is down"),
    WEFT_UINT(T, min_join, "min_links_to_join", "0", "0", "512",
              "an interface node that is drained for lack of links is reached again with this many up; assumed"),
    WEFT_UINT(T, min_remain, "min_links_to_remain", "0", "0", "512",
              "an interface node with fewer links up drains itself; assumed"),
    WEFT_CHOICE(T, detection, "detection", "watchdog", detections,
                "a failed link is detected by the watchdog, or by its signal at once"),
    WEFT_TEXT(T, picks, "picks", "",
              "input links that devices withdraw first, in this order, as ports of fabric nodes: "
              "\"fdsw-1/2,sdsw-0/3\"; the others are drawn. For choices that a source describes"),
    WEFT_TIME(T, processing_ps, "processing", "1us", "0s", "10ms",
              "time from a cell's arrival to the device's reaction; assumed"));
#undef T

enum { DUE_CELL, DUE_HEARD, DUE_DOWN, DUE_UP, DUE_NOTICE_DOWN, DUE_NOTICE_UP, DUE_ADMIN, DUE_ASIC_ERROR };

struct direction {      ///< of a link, from its end 0 or 1
    uint64_t pending;   ///< blocks for which a cell is due
    weft_time_ps phase; ///< of its cells in the cycle
    uint32_t round;     ///< of the next cell
};

struct weft__reach_run {
    const struct weft_fabric *f;
    struct weft_reach_conf conf;
    uint64_t seed;
    bool keep;
    struct weft_reach_agent **agent;
    struct weft_reach_link *wired;
    struct direction *direction; ///< [2 * links]: 2 * link + sending end
    uint32_t *failures;          ///< [links] odd: it is down
    enum weft_drain *drain;      ///< [devices]: actual state
    bool *to_drain;              ///< [devices]: requested state
    uint32_t blocks;             ///< per cycle
    struct weft__agenda agenda;
    struct weft_arena *arena;
    struct weft_reach_out out;
    struct weft_reach_stats stats;
    struct { ///< why the agent that is called acts
        weft_time_ps time_ps;
        uint32_t device, slot, round;
    } now;
    struct weft_reach_change *change;
    uint32_t changes, changes_capacity;
    struct weft_reach_note *note;
    uint32_t notes, notes_capacity;
};

static struct weft_reach_note *add_note(struct weft__reach_run *run, enum weft_reach_deed deed) {
    struct weft_reach_note *note =
        &WEFT__ADD_DOUBLE(WEFT_MEMORY_RESULT, run->note, run->notes, run->notes_capacity, 64);
    *note = (struct weft_reach_note){.time_ps = run->now.time_ps,
                                     .deed = deed,
                                     .device = run->now.device,
                                     .round = run->now.round,
                                     .slot = run->now.slot};
    return note;
}

static uint32_t end_of(const struct weft_fabric_link *l, uint32_t device) {
    return l->device[1] == device;
}

static uint32_t link_at(const struct weft_fabric *f, uint32_t device, uint32_t slot) {
    return f->at[f->device[device].link0 + slot];
}

/// The first time at or after `time` with this `phase` in the cycle.
static weft_time_ps next_in_cycle(weft_time_ps time, weft_time_ps phase, weft_time_ps cycle) {
    weft_time_ps into = time % cycle;
    return time + (phase >= into ? phase - into : cycle - into + phase);
}

static void note_cell(struct weft__reach_run *run, uint32_t sending, uint32_t block, weft_time_ps from) {
    weft_time_ps cell = run->conf.cycle_ps / run->blocks;
    weft_time_ps phase = (run->direction[sending].phase + block * cell) % run->conf.cycle_ps;
    struct weft__due due = {
        .time_ps = next_in_cycle(from, phase, run->conf.cycle_ps), .kind = DUE_CELL, .who = sending, .what = block};
    weft__agenda_note(&run->agenda, due);
}

static void on_said(void *context, uint32_t slot, uint32_t dest) {
    struct weft__reach_run *run = context;
    uint32_t link = link_at(run->f, run->now.device, slot), block = dest / WEFT_REACH_BLOCK;
    uint32_t sending = 2 * link + end_of(&run->f->link[link], run->now.device);
    struct direction *d = &run->direction[sending];
    if (!d->pending || d->round <= run->now.round) d->round = run->now.round + 1;
    if (d->pending >> block & 1) return;
    d->pending |= UINT64_C(1) << block;
    note_cell(run, sending, block, run->now.time_ps);
}

static void on_usable(void *context, uint32_t slot, uint32_t dest, bool usable) {
    struct weft__reach_run *run = context;
    run->stats.changes++;
    run->stats.last_ps = run->now.time_ps;
    if (!run->keep) return;
    WEFT__ADD_DOUBLE(WEFT_MEMORY_RESULT, run->change, run->changes, run->changes_capacity, 64) =
        (struct weft_reach_change){run->now.time_ps, run->now.device, dest, (uint16_t)slot, usable};
}

static void on_balance(void *context, const struct weft_reach_balance *before, const uint64_t *links, bool opened) {
    struct weft__reach_run *run = context;
    uint32_t words = (run->f->device[run->now.device].links + 63) / 64;
    for (uint32_t w = 0; w < words; w++)
        *(opened ? &run->stats.opened : &run->stats.withdrawn) += (uint64_t)__builtin_popcountll(links[w]);
    if (!run->keep) return;
    struct weft_reach_note *note = add_note(run, opened ? WEFT_REACH_OPENED : WEFT_REACH_WITHDREW);
    note->before = *before;
    memcpy(note->links, links, words * sizeof *links);
}

static void init_agents(struct weft__reach_run *run) {
    const struct weft_fabric *f = run->f;
    for (uint32_t i = 0; i < f->devices; i++) {
        const struct weft_fabric_device *d = &f->device[i];
        for (uint32_t k = 0; k < d->links; k++) {
            const struct weft_fabric_link *l = &f->link[link_at(f, i, k)];
            uint32_t peer = l->device[!end_of(l, i)];
            run->wired[d->link0 + k] = (struct weft_reach_link){
                .peer = peer,
                .peer_dest = f->device[peer].dest,
                .peer_cluster = f->device[peer].level == 2 ? WEFT_NONE : f->device[peer].cluster,
                .peer_level = f->device[peer].level,
            };
        }
        struct weft_reach_setup setup = {
            .seed = run->seed,
            .who = i,
            .level = d->level,
            .cluster = d->level == 2 ? WEFT_NONE : d->cluster,
            .self = d->dest,
            .links = d->links,
            .dests = f->dests,
            .link = &run->wired[d->link0],
            .dest_cluster = f->dest_cluster,
            .balance = run->conf.balance,
            .last_resort = run->conf.last_resort,
        };
        setup.pick = picks_of(f, i, run->conf.picks, &setup.picks, run->arena);
        void *memory = weft_arena_alloc(run->arena, weft_reach_agent_size(&setup), 1);
        run->agent[i] = weft_reach_agent_init(memory, &setup);
    }
}

struct weft__reach_run *weft__reach_run_new(const struct weft_fabric *f, const struct weft_reach_conf *conf,
                                            uint64_t seed, bool keep) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_ROUTES);
    struct weft__reach_run *run = weft_arena_alloc(arena, 1, sizeof *run);
    assert(f->dests <= conf->table && conf->table <= UINT64_C(64) * WEFT_REACH_BLOCK);
    run->f = f;
    run->conf = *conf;
    run->seed = seed;
    run->keep = keep;
    run->arena = arena;
    run->blocks = (uint32_t)((conf->table + WEFT_REACH_BLOCK - 1) / WEFT_REACH_BLOCK);
    run->out = (struct weft_reach_out){run, on_said, on_usable, on_balance};
    run->agent = weft_arena_alloc(arena, f->devices, sizeof *run->agent);
    run->wired = weft_arena_alloc(arena, 2 * (size_t)f->links, sizeof *run->wired);
    run->direction = weft_arena_alloc(arena, 2 * (size_t)f->links, sizeof *run->direction);
    run->failures = weft_arena_alloc(arena, f->links, sizeof *run->failures);
    run->drain = weft_arena_alloc(arena, f->devices, sizeof *run->drain);
    run->to_drain = weft_arena_alloc(arena, f->devices, sizeof *run->to_drain);
    for (uint32_t i = 0; i < 2 * f->links; i++) {
        struct weft_random random = weft_random_stream(seed, i, WEFT_RANDOM_PHASE);
        run->direction[i].phase = weft_random_below(&random, conf->cycle_ps);
    }
    init_agents(run);
    weft__reach_run_count(run);
    return run;
}

void weft__reach_run_free(struct weft__reach_run *run) {
    if (!run) return;
    weft_memory_free(WEFT_MEMORY_RESULT, run->change, run->changes_capacity * sizeof *run->change);
    weft_memory_free(WEFT_MEMORY_RESULT, run->note, run->notes_capacity * sizeof *run->note);
    weft__agenda_deinit(&run->agenda);
    weft_arena_free(run->arena);
}

void weft__reach_run_link(struct weft__reach_run *run, weft_time_ps time, uint32_t link, bool up) {
    assert(link < run->f->links);
    weft__agenda_note(&run->agenda, (struct weft__due){.time_ps = time, .kind = up ? DUE_UP : DUE_DOWN, .who = link});
}

void weft__reach_run_admin(struct weft__reach_run *run, weft_time_ps time, uint32_t device, bool reachable) {
    assert(!run->f->device[device].level);
    weft__agenda_note(&run->agenda,
                      (struct weft__due){.time_ps = time, .kind = DUE_ADMIN, .who = device, .what = reachable});
}

void weft__reach_run_asic_error(struct weft__reach_run *run, weft_time_ps time, uint32_t device) {
    assert(!run->f->device[device].level);
    weft__agenda_note(&run->agenda, (struct weft__due){.time_ps = time, .kind = DUE_ASIC_ERROR, .who = device});
}

enum weft_drain weft__reach_run_drain(const struct weft__reach_run *run, uint32_t device) {
    return run->drain[device];
}

bool weft__reach_run_link_up(const struct weft__reach_run *run, uint32_t link) {
    return !(run->failures[link] & 1);
}

static void note_table(struct weft__reach_run *run, uint32_t sending, weft_time_ps time) {
    struct direction *d = &run->direction[sending];
    if (!d->pending) d->round = 1;
    for (uint32_t block = 0; block * WEFT_REACH_BLOCK < run->f->dests; block++) {
        if (!(d->pending >> block & 1)) note_cell(run, sending, block, time);
        d->pending |= UINT64_C(1) << block;
    }
}

/// A link came back when only one end had noticed that it was down: that end has forgotten what the other end, for
/// which nothing has changed, continues to say.
static void repeat_said(struct weft__reach_run *run, weft_time_ps time, uint32_t link) {
    const struct weft_fabric_link *l = &run->f->link[link];
    bool up[2];
    for (uint32_t end = 0; end < 2; end++)
        up[end] = weft_reach_up(run->agent[l->device[end]], l->slot[end]);
    if (up[0] != up[1]) note_table(run, 2 * link + up[1], time);
}

/// The failure or repair of a link is noticed at both ends, each by the cells of the other.
static void on_link(struct weft__reach_run *run, weft_time_ps time, uint32_t link, bool up) {
    if (weft__reach_run_link_up(run, link) == up) return;
    run->failures[link]++;
    if (run->stats.first_ps == WEFT_TIME_NEVER) run->stats.first_ps = time;
    weft_time_ps cell = run->conf.cycle_ps / run->blocks, delay = run->f->link[link].delay_ps;
    for (uint32_t end = 0; end < 2; end++) {
        weft_time_ps next = next_in_cycle(time, run->direction[2 * link + !end].phase % cell, cell);
        struct weft__due due = {
            .kind = up ? DUE_NOTICE_UP : DUE_NOTICE_DOWN, .who = link, .what = end, .data = run->failures[link]};
        if (up)
            due.time_ps = next + delay + run->conf.processing_ps;
        else if (run->conf.detection == WEFT_REACH_BY_SIGNAL)
            due.time_ps = time + run->conf.processing_ps;
        else // the cell before the next one was the last
            due.time_ps = next + delay + run->conf.watchdog_ps - cell;
        weft__agenda_note(&run->agenda, due);
    }
    if (up) repeat_said(run, time, link);
}

static void tell_end(struct weft__reach_run *run, weft_time_ps time, uint32_t link, uint32_t end, uint32_t round) {
    run->now.time_ps = time;
    run->now.device = run->f->link[link].device[end];
    run->now.slot = run->f->link[link].slot[end];
    run->now.round = round;
    if (round > run->stats.rounds) run->stats.rounds = round;
}

/// An interface node with too few links drains itself; with enough links it can be reached again.
static void review_drain(struct weft__reach_run *run, uint32_t device) {
    uint32_t up = 0;
    const struct weft_reach_agent *a = run->agent[device];
    for (uint32_t k = 0; k < run->f->device[device].links; k++)
        up += weft_reach_up(a, k);
    run->drain[device] = weft_drain_next(run->drain[device], run->to_drain[device], up, &run->conf);
    weft_reach_on_admin(run->agent[device], run->drain[device] == WEFT_UNDRAINED, &run->out);
}

static void notice_link(struct weft__reach_run *run, const struct weft__due *due, bool up) {
    if (run->failures[due->who] != due->data) return; // it has changed since
    tell_end(run, due->time_ps, due->who, due->what, 0);
    struct weft_reach_agent *a = run->agent[run->now.device];
    if (weft_reach_up(a, run->now.slot) == up) return;
    if (run->keep) add_note(run, up ? WEFT_REACH_NOTICED_UP : WEFT_REACH_NOTICED_DOWN);
    weft_reach_on_link(a, run->now.slot, up, &run->out);
    if (!run->f->device[run->now.device].level) review_drain(run, run->now.device);
}

static void send_cell(struct weft__reach_run *run, const struct weft__due *due) {
    struct direction *d = &run->direction[due->who];
    const struct weft_fabric_link *l = &run->f->link[due->who / 2];
    uint32_t end = due->who & 1, block = due->what, open, held;
    const struct weft_reach_agent *a = run->agent[l->device[end]];
    if (!weft__reach_run_link_up(run, due->who / 2)) {
        d->pending &= ~(UINT64_C(1) << block);
        if (!weft_reach_up(a, l->slot[end])) return; // when it is up again everything is sent
        d->pending |= UINT64_C(1) << block;
        note_cell(run, due->who, block, due->time_ps + 1);
        return;
    }
    d->pending &= ~(UINT64_C(1) << block);
    weft_reach_cell(a, l->slot[end], block, &open, &held);
    run->stats.cells++;
    struct weft__due heard = {.time_ps = due->time_ps + l->delay_ps + run->conf.processing_ps,
                              .kind = DUE_HEARD,
                              .who = due->who,
                              .what = block,
                              .round = d->round,
                              .data = (uint64_t)open << 32 | held};
    weft__agenda_note(&run->agenda, heard);
}

static void on_admin(struct weft__reach_run *run, const struct weft__due *due) {
    run->now.time_ps = due->time_ps;
    run->now.device = due->who;
    run->now.slot = WEFT_NONE;
    run->now.round = 0;
    if (run->stats.first_ps == WEFT_TIME_NEVER) run->stats.first_ps = due->time_ps;
    if (due->kind == DUE_ASIC_ERROR)
        run->drain[due->who] = WEFT_DRAINED_ASIC_ERROR;
    else
        run->to_drain[due->who] = !due->what;
    review_drain(run, due->who);
}

static void act_on(struct weft__reach_run *run, const struct weft__due *due) {
    switch (due->kind) {
    case DUE_UP:
    case DUE_DOWN:
        on_link(run, due->time_ps, due->who, due->kind == DUE_UP);
        break;
    case DUE_NOTICE_UP:
    case DUE_NOTICE_DOWN:
        notice_link(run, due, due->kind == DUE_NOTICE_UP);
        break;
    case DUE_CELL:
        send_cell(run, due);
        break;
    case DUE_HEARD:
        tell_end(run, due->time_ps, due->who / 2, !(due->who & 1), due->round);
        weft_reach_on_cell(run->agent[run->now.device], run->now.slot, due->what, (uint32_t)(due->data >> 32),
                           (uint32_t)due->data, &run->out);
        break;
    case DUE_ADMIN:
    case DUE_ASIC_ERROR:
        on_admin(run, due);
        break;
    }
}

void weft__reach_run_until(struct weft__reach_run *run, weft_time_ps until) {
    struct weft__due due;
    while (weft__agenda_take(&run->agenda, until, &due))
        act_on(run, &due);
}

void weft__reach_run_settle(struct weft__reach_run *run) {
    weft__reach_run_until(run, WEFT_TIME_NEVER);
}

const struct weft_reach_agent *weft__reach_run_agent(const struct weft__reach_run *run, uint32_t device) {
    return run->agent[device];
}

const struct weft_reach_stats *weft__reach_run_stats(const struct weft__reach_run *run) {
    return &run->stats;
}

bool weft__reach_run_rests(const struct weft__reach_run *run) {
    for (uint32_t i = 0; i < run->agenda.n; i++) {
        uint32_t kind = run->agenda.heap[i].kind;
        if (kind != DUE_UP && kind != DUE_DOWN && kind != DUE_ADMIN && kind != DUE_ASIC_ERROR) return false;
    }
    return true;
}

void weft__reach_run_count(struct weft__reach_run *run) {
    run->stats = (struct weft_reach_stats){.first_ps = WEFT_TIME_NEVER};
}

const struct weft_reach_change *weft__reach_run_changes(const struct weft__reach_run *run, uint32_t *ret_n) {
    *ret_n = run->changes;
    return run->change;
}

const struct weft_reach_note *weft__reach_run_notes(const struct weft__reach_run *run, uint32_t *ret_n) {
    *ret_n = run->notes;
    return run->note;
}
