// SPDX-License-Identifier: Apache-2.0
// Results of a whole run.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "report/text.h"
#include "results/rows.h"
#include "weft/transport.h"

#include "base/units.h"

/// Tables of one row: part 0 is the outcome, part 1 what `state` holds.
static bool next_once(struct weft_result_cursor *c) {
    c->part[0] = c->run->outcome;
    c->part[1] = c->state;
    return !c->at++;
}

// --- run ----------------------------------------------------------------------------------------------------------

/// What is not in the outcome.
struct head {
    uint64_t version, seed;
    const char *weft, *commit, *scenario, *variant, *end, *stall;
    uint32_t hosts, switches, links;
    bool interrupted;
    char digest[17];
};

static bool next_run(struct weft_result_cursor *c) {
    const struct weft_run *run = c->run;
    struct head *head = c->state = c->state ? c->state : weft_arena_alloc(c->arena, 1, sizeof *head);
    *head = (struct head){.version = WEFT_RESULTS_VERSION,
                          .weft = WEFT_VERSION,
                          .commit = run->commit,
                          .scenario = run->scenario->name,
                          .variant = run->scenario->variant,
                          .seed = run->scenario->run.seed,
                          .end = weft__report_end_name(run->outcome->end),
                          .interrupted = weft_report_interrupted(run, 1),
                          .stall = run->outcome->stall,
                          .hosts = run->topology->hosts,
                          .switches = run->topology->switches,
                          .links = run->topology->links};
    snprintf(head->digest, sizeof head->digest, "%016" PRIx64, run->outcome->digest);
    return next_once(c);
}

WEFT_RESULT_VALUE(digest_of, WEFT__RESULT_TEXT(((struct head *)c->state)->digest))

static struct weft_result_value hops_rate(struct weft_result_cursor *c) {
    const struct weft_outcome *o = c->run->outcome;
    return WEFT__RESULT_REAL(o->cpu_s > 0 ? (double)o->packet_hops / o->cpu_s : NAN);
}

static struct weft_result_value unrecorded_from(struct weft_result_cursor *c) {
    const struct weft_outcome *o = c->run->outcome;
    return (struct weft_result_value){.known = o->unrecorded, .whole = o->unrecorded_ps};
}

#define HEAD(field, kind, ...) WEFT_RESULT_AT(1, struct head, field, #field, kind, __VA_ARGS__)
#define OF_RUN(field, kind, ...) WEFT_RESULT(struct weft_outcome, field, kind, __VA_ARGS__)
const struct weft_result_table weft__results_run = WEFT_RESULT_TABLE_OF(
    "run", OBJECT, "a run: one a variant with weft compare", .next = next_run, HEAD(weft, TEXT, "version of weft"),
    HEAD(commit, TEXT, "commit of the source tree that the program was built from", .flags = WEFT_RESULT_TABLES),
    WEFT_RESULT_AT(1, struct head, version, "results_version", COUNT,
                   "version of the schema of results; results that do not say it have version 1"),
    HEAD(scenario, TEXT, "name of the scenario"),
    HEAD(variant, TEXT, "name of the variant; empty if the scenario has none"),
    HEAD(seed, COUNT, "run.seed, which all random numbers follow from"), OF_RUN(threads, COUNT, "worker threads"),
    WEFT_RESULT_CALL(
        digest_of, "digest", TEXT,
        "16 hex digits over every flow's completion and every counter; the same for any number of threads"),
    HEAD(end, TEXT,
         "why the run ended: done, until (the time run.until came), interrupted, stall, or time (the end of simulated "
         "time, 100 days)",
         .was = "ended"),
    HEAD(interrupted, BOOL, "whether the user ended the run: its results are of the time until then"),
    HEAD(stall, TEXT, "who waits for whom, if the run stalled", .flags = WEFT_RESULT_SPARSE),
    HEAD(hosts, COUNT, "hosts of the topology", .flags = WEFT_RESULT_TABLES),
    HEAD(switches, COUNT, "switches of the topology", .flags = WEFT_RESULT_TABLES),
    HEAD(links, COUNT, "links of the topology", .flags = WEFT_RESULT_TABLES),
    OF_RUN(sim_time_ps, TIME, "simulated time: up to the last event, or to run.until where that ended the run"),
    OF_RUN(wall_s, REAL, "time that the run took on the clock", .unit = "s"),
    OF_RUN(cpu_s, REAL, "processor time that the run took", .unit = "s"),
    OF_RUN(packet_hops, COUNT,
           "packets of any kind over one link between boxes; a message within a server crosses none"),
    OF_RUN(events, COUNT, "events handled"),
    WEFT_RESULT_CALL(hops_rate, "packet_hops_per_cpu_s", REAL, "packet hops a second of processor time", .unit = "1/s"),
    OF_RUN(peak_rss_bytes, BYTES, "most memory of the process"),
    OF_RUN(windows, COUNT, "windows of the engine with work"),
    OF_RUN(window_ps, TIME, "length of a window of the engine"),
    OF_RUN(unrecorded, COUNT, "events left out because their node had run.events of them already"),
    WEFT_RESULT_CALL(unrecorded_from, "unrecorded_ps", TIME,
                     "time of the first event left out because its node had run.events of them already"));

// --- fast_forward -------------------------------------------------------------------------------------------------

WEFT_RESULT_PRESENT(has_fast_forward, run->outcome->fast_forward != NULL)
WEFT_RESULT_ONE(next_fast_forward, c->run->outcome->fast_forward)

static void print_fast_forward(FILE *file, const struct weft_run *run) {
    const struct weft_fast_forward_outcome *o = run->outcome->fast_forward;
    char skipped[32], whole[32];
    weft_format_time(o->skipped_ps, skipped, sizeof skipped);
    weft_format_time(run->outcome->sim_time_ps, whole, sizeof whole);
    if (o->refused)
        fprintf(file, "fast-forward: nothing was skipped: %s\n", o->refused);
    else if (o->packets)
        fprintf(file, "fast-forward: %s of flows were skipped", weft__counted(o->packets, "packet").text);
    else if (o->stretches)
        fprintf(file, "fast-forward: %s, %s and %s of collectives, %s of %s, were skipped",
                weft__counted(o->iterations, "iteration").text, weft__counted(o->operations, "operation").text,
                weft__counted(o->steps, "step").text, skipped, whole);
    bool exact = run->scenario->run.fast_forward == WEFT_FAST_FORWARD_EXACT;
    if (o->packets)
        fprintf(file, "; before that these kept to their pace, to %.2g %%", 100 * (o->error > 1e-6 ? o->error : 1e-6));
    else if (!o->refused && o->stretches && !exact)
        fprintf(file, "; they took as long as what came before, to %.2g %%", 100 * (o->error > 1e-6 ? o->error : 1e-6));
    else if (!o->refused && o->stretches && exact)
        fprintf(file, "; nothing differs from a full run");
    if (o->stretches && o->draws_left_out) fprintf(file, "; what hosts would have drawn for them is left out");
    if (o->stretches) putc('\n', file);
    if (o->audited)
        fprintf(file,
                "fast-forward: audit: %u %s run in full, of which %u ended at another time than predicted; largest "
                "difference %.3g %%\n",
                o->audited, o->audited == 1 ? "stretch" : "stretches", o->failed, 100 * o->audit_error);
    if (o->dropped)
        fprintf(file, "fast-forward: %u %s not be judged: the predicted end was never reached\n", o->dropped,
                o->dropped == 1 ? "audit could" : "audits could");
}

#define FAST(field, kind, ...) WEFT_RESULT(struct weft_fast_forward_outcome, field, kind, __VA_ARGS__)
const struct weft_result_table weft__results_fast_forward = WEFT_RESULT_TABLE_OF(
    "fast_forward", OBJECT, "skipped parts of a run (docs/fast-forward.md)",
    WEFT_RESULT_AND(.next = next_fast_forward, .print = print_fast_forward, .present = has_fast_forward),
    FAST(refused, TEXT, "why nothing could be skipped; null: nothing prevented it", .flags = WEFT_RESULT_SPARSE),
    FAST(stretches, COUNT, "stretches of time that were skipped"),
    FAST(iterations, COUNT, "iterations of jobs that were skipped"),
    FAST(operations, COUNT, "operations of jobs that were skipped within iterations"),
    FAST(steps, COUNT, "steps of collectives, each at one rank and channel, that were skipped within operations"),
    FAST(packets, COUNT, "packets of flows, on links that are not full, that were skipped"),
    FAST(skipped_ps, TIME, "simulated time that was skipped"),
    FAST(error, REAL,
         "steady: largest relative difference between what was taken over, iterations, operations or steps, and what "
         "came before it"),
    FAST(audited, COUNT, "stretches that were run in full instead, to compare (run.fast_forward_audit)"),
    FAST(failed, COUNT,
         "audited stretches that ended at another time than foretold; steady: by more than run.steady_error"),
    FAST(dropped, COUNT,
         "audits that could not be judged, as what had been foretold never came; they are not among the audited"),
    FAST(audit_error, REAL, "largest relative difference between the end foretold of an audited stretch and its end"));

// --- config -------------------------------------------------------------------------------------------------------

struct setting {
    const char *path, *value, *dflt;
};
struct settings {
    struct weft_arena *arena;
    uint32_t n, room;
    struct setting *setting;
};

static void count_setting(void *context, const char *path, const char *value, const char *dflt) {
    ((struct settings *)context)->room++;
}

static void keep_setting(void *context, const char *path, const char *value, const char *dflt) {
    struct settings *s = context;
    if (s->n < s->room)
        s->setting[s->n++] = (struct setting){weft_arena_text(s->arena, path), weft_arena_text(s->arena, value),
                                              dflt ? weft_arena_text(s->arena, dflt) : NULL};
}

/// A program may have built its network without a scenario's text.
WEFT_RESULT_PRESENT(has_settings, run->scenario->topology.model != NULL)

static bool next_setting(struct weft_result_cursor *c) {
    struct settings *s = c->state;
    if (!s) {
        s = c->state = weft_arena_alloc(c->arena, 1, sizeof *s);
        s->arena = c->arena;
        weft_scenario_each(c->run->scenario, count_setting, s);
        s->setting = weft_arena_alloc(c->arena, s->room, sizeof *s->setting);
        weft_scenario_each(c->run->scenario, keep_setting, s);
    }
    if (c->at == s->n) return false;
    c->part[0] = &s->setting[c->at++];
    return true;
}

const struct weft_result_table weft__results_config = WEFT_RESULT_TABLE_OF(
    "config", NUMBERS, "a value in force, defaults included",
    WEFT_RESULT_AND(.next = next_setting, .present = has_settings),
    WEFT_RESULT(struct setting, path, TEXT, "where the value stands in a scenario: switch.pfc.quanta",
                .flags = WEFT_RESULT_KEY),
    WEFT_RESULT(struct setting, value, TEXT, "the value in force, as a scenario would have it"),
    WEFT_RESULT_NAMED(struct setting, dflt, "default", TEXT, "default of the parameter; null: none"));

// --- sources --------------------------------------------------------------------------------------------------------

/// A relative name refers to another file in another folder. A blueprint is not a file, and its name is the same
/// everywhere.
static const char *absolute_path(const char *name, struct weft_arena *arena) {
    if (!name || *name == '/' || weft_blueprint_find(name)) return name;
    char *folder = getcwd(NULL, 0);
    if (!folder) return name;
    const char *path = weft_arena_format(arena, "%s/%s", folder, name);
    free(folder);
    return path;
}

static bool next_source(struct weft_result_cursor *c) {
    uint32_t n;
    const struct weft_scenario_source *source = weft_scenario_sources(c->run->scenario->file, &n);
    if (c->at == n) return false;
    struct weft_scenario_source *row = c->state = c->state ? c->state : weft_arena_alloc(c->arena, 1, sizeof *row);
    *row = (struct weft_scenario_source){absolute_path(source[c->at].name, c->arena), source[c->at].text};
    c->part[0] = row;
    c->at++;
    return true;
}

const struct weft_result_table weft__results_sources = WEFT_RESULT_TABLE_OF(
    "sources", APART, "what the scenario was read from, in this order: weft run FOLDER repeats the run from it",
    .next = next_source,
    WEFT_RESULT(struct weft_scenario_source, name, TEXT,
                "a file, the scenario first, then the one it stands on; null: a setting of the command line"),
    WEFT_RESULT(struct weft_scenario_source, text, TEXT, "what the file said, or path=value"));

// --- files ---------------------------------------------------------------------------------------------------------

static bool next_file(struct weft_result_cursor *c) {
    return c->at++ < c->run->files;
}
WEFT_RESULT_VALUE(file_name, WEFT__RESULT_TEXT(c->run->file[c->at - 1]))
const struct weft_result_table weft__results_files = WEFT_RESULT_TABLE_OF(
    "files", APART,
    "a file that the run wrote beside its results: a capture, or one of --export; --out --force removes it",
    .next = next_file, WEFT_RESULT_CALL(file_name, "name", TEXT, "the file's name within the folder of --out"));

// --- the moving picture --------------------------------------------------------------------------------------------

WEFT_RESULT_PRESENT(has_motion, run->motion)
WEFT_RESULT_VALUE(motion_json, WEFT__RESULT_TEXT(c->run->motion))
static bool next_motion(struct weft_result_cursor *c) {
    return c->run->motion && !c->at++;
}
const struct weft_result_table weft__results_motion = WEFT_RESULT_TABLE_OF(
    "motion", APART,
    "the picture of the network over time, of a run with --out and without run.sample_interval; weft report shows it",
    WEFT_RESULT_AND(.next = next_motion, .present = has_motion),
    WEFT_RESULT_CALL(motion_json, "json", TEXT, "nodes, links and ports in use, and up to 64 steps of what they did"));

// --- ranks ---------------------------------------------------------------------------------------------------------

WEFT_RESULT_ROWS(next_rank, c->run->outcome->ranks, c->run->outcome->rank)
#define OF_RANK(field, kind, ...) WEFT_RESULT(struct weft_rank_outcome, field, kind, __VA_ARGS__)
const struct weft_result_table weft__results_ranks = WEFT_RESULT_TABLE_OF(
    "ranks", APART, "a process of a run over several (docs/scale.md)", .next = next_rank,
    WEFT_RESULT_CALL(weft_result_index, "rank", COUNT, "the process; rank 0 wrote the results"),
    OF_RANK(host, TEXT, "machine on which the rank ran"),
    OF_RANK(nodes, COUNT, "switches and hosts of the rank's part"),
    OF_RANK(threads, COUNT, "worker threads of the process"),
    OF_RANK(events, COUNT, "events handled: the rank's part of the load"),
    OF_RANK(cpu_s, REAL, "processor time", .unit = "s"),
    OF_RANK(wait_s, REAL, "time in exchanges with others, from the first message to the last", .unit = "s"),
    OF_RANK(messages, COUNT, "messages sent to other ranks"),
    OF_RANK(bytes, BYTES, "bytes sent to other ranks while the run lasted"),
    OF_RANK(peak_rss_bytes, BYTES, "most memory of the process, before rank 0 took over that of the others"));

// --- memory -------------------------------------------------------------------------------------------------------

WEFT_RESULT_ROWS(next_memory, WEFT_MEMORY_KINDS, c->run->memory_bytes_max)
WEFT_RESULT_VALUE(memory_kind, WEFT__RESULT_TEXT(weft_memory_name((enum weft_memory_kind)(c->at - 1))))

struct memory {
    weft_bytes bytes_max;
};
const struct weft_result_table weft__results_memory = WEFT_RESULT_TABLE_OF(
    "memory", NUMBERS, "a kind of object", .next = next_memory,
    WEFT_RESULT_CALL(memory_kind, "kind", TEXT, "what the memory holds", .flags = WEFT_RESULT_KEY),
    WEFT_RESULT(struct memory, bytes_max, BYTES, "most memory that objects of this kind had at a time"));

// --- connections --------------------------------------------------------------------------------------------------

static struct weft_connection_bytes most_of_hosts(const struct weft_run *run) {
    struct weft_connection_bytes most = {0};
    bool messages = false;
    for (uint32_t f = 0; f < run->workload->flows; f++)
        messages |= run->workload->flow[f].messages;
    for (uint32_t d = 0; d < run->scenario->devices; d++) {
        const struct weft_host_conf *host = &run->scenario->device[d].host;
        if (!host->transport.model) continue; // no network was built
        struct weft_connection_bytes own = weft_connection_bytes(&host->transport, &host->cc, messages);
        if (own.sender > most.sender) most.sender = own.sender;
        if (own.receiver > most.receiver) most.receiver = own.receiver;
    }
    return most;
}

static bool next_connection(struct weft_result_cursor *c) {
    if (!c->state) {
        struct weft_connection_bytes *most = c->state = weft_arena_alloc(c->arena, 1, sizeof *most);
        *most = most_of_hosts(c->run);
    }
    return next_once(c);
}

WEFT_RESULT_VALUE(connection_sender, WEFT__RESULT_WHOLE(((const struct weft_connection_bytes *)c->state)->sender))
WEFT_RESULT_VALUE(connection_receiver, WEFT__RESULT_WHOLE(((const struct weft_connection_bytes *)c->state)->receiver))

const struct weft_result_table weft__results_connection = WEFT_RESULT_TABLE_OF(
    "connection", OBJECT, "the state of a connection, of the hosts that keep most", .next = next_connection,
    WEFT_RESULT_CALL(connection_sender, "sender_bytes", BYTES,
                     "what the model keeps of a queue pair at its sender: transport, path choice, congestion control"),
    WEFT_RESULT_CALL(connection_receiver, "receiver_bytes", BYTES,
                     "what the model keeps of a queue pair at its receiver"));

// --- drops -----------------------------------------------------------------------------------------------------------

static bool next_drop(struct weft_result_cursor *c) {
    if (c->at == WEFT_DROPS) return false;
    c->part[0] = &weft_drop_names[c->at];
    c->part[1] = &c->run->outcome->drops[c->at];
    c->part[2] = &c->run->outcome->drop_bytes[c->at];
    c->at++;
    return true;
}

struct text {
    const char *value;
};
struct number {
    uint64_t value;
};
const struct weft_result_table weft__results_drops = WEFT_RESULT_TABLE_OF(
    "counters.drops", NUMBERS, "a reason to drop packets", WEFT_RESULT_AND(.next = next_drop, .was = "drops"),
    WEFT_RESULT_NAMED(struct text, value, "reason", TEXT, "why packets were dropped", .flags = WEFT_RESULT_KEY),
    WEFT_RESULT_AT(1, struct number, value, "packets", COUNT, "packets dropped for this reason"),
    WEFT_RESULT_AT(2, struct number, value, "bytes", BYTES, "bytes of packets dropped for this reason"));

// --- conservation -------------------------------------------------------------------------------------------------

#define FRAMES(field, key, what)                                                                                       \
    WEFT_RESULT_NAMED(struct weft_outcome, field, key, BYTES, "bytes of frames of every kind " what, .was = #field)
const struct weft_result_table weft__results_conservation = WEFT_RESULT_TABLE_OF(
    "conservation", OBJECT, "bytes accounted for, of a run", .next = next_once,
    FRAMES(injected_bytes, "injected", "that were sent for the first time: the sum of delivered, dropped and held"),
    FRAMES(delivered_bytes, "delivered", "that reached their receiver"),
    FRAMES(dropped_bytes, "dropped", "that were dropped"),
    FRAMES(held_bytes, "held", "in queues and on links when the run ended"));
