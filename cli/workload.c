// SPDX-License-Identifier: Apache-2.0
// weft workload: what everything that communicates in a scenario is compiled to, a DAG of steps per rank; executed
// without a network; and how much each sends to each.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "simulation.h"
#include "weft/chakra.h"
#include "weft/dag.h"
#include "weft/moe.h"
#include "workload.h"

#include "base/param.h"
#include "base/units.h"

enum { COLUMNS_MAX = 16 };

static const char *between;
static bool shows_nccl, shows_plan;
static struct weft_cli_schedule as_schedule;
static const char *const unit_names[] = {"host", "rack", "pod", NULL};
enum units { BETWEEN_HOSTS, BETWEEN_RACKS, BETWEEN_PODS };

static const struct weft_cli_option own[] = {
    {"between", "WHAT", "traffic matrix between hosts, racks (the switch of a host's first port) or pods", &between,
     NULL},
    {"goal", "FILE",
     "write it as a schedule in GOAL: rank R is host R, collectives are messages; it takes the scenario's paths with "
     "{kind: goal, order: listed, tag_connections: on}",
     &as_schedule.goal, NULL},
    {"chakra", "PREFIX", "write its job as Chakra execution traces: PREFIX.N.et for rank N, PREFIX.groups.json",
     &as_schedule.chakra, NULL},
    {"loggops", "L,o,g,G,O,S",
     "execute it as a schedule under the LogGOPS model, without a network: times in ns, S in bytes",
     &as_schedule.loggops, NULL},
    {"nccl", NULL, "what NCCL chooses, by size, for operations of kind nccl, as NCCL_DEBUG_SUBSYS=TUNING shows it",
     NULL, &shows_nccl},
    {"plan", NULL,
     "jobs by model and plan: bytes by dimension, and the time of a step without a network, at the full rate of each",
     NULL, &shows_plan},
    {0},
};
static const struct weft_cli_command command = {
    .name = "workload",
    .operands = "SCENARIO",
    .about =
        "Shows the work of a scenario's hosts: jobs, collectives and flows as one DAG of steps that compute,\n"
        "receive and send. It executes them without a network, where messages take no time, to check that every\n"
        "step can complete, and to count bytes and the time of compute and start times. Remote memory access is not\n"
        "part of it.\n"
        "With variants: the first, or the one that --variant names.\n"
        "With --goal or --loggops it first becomes a schedule: collectives are messages of their algorithms,\n"
        "without clear-to-send. SCENARIO may also be a schedule in GOAL, text or binary; its first bytes tell\n"
        "which.\n"
        "Exit status: 0 done, 2 bad input, 4 steps that wait for one another for ever.",
    .accept = WEFT_CLI_SET | WEFT_CLI_VARIANT | WEFT_CLI_REPLACE,
    .operands_min = 1,
    .operands_max = 1,
    .option = own,
    .answer = &weft__answer_workload,
    .other = &weft__answer_schedule,
    .to_option = {&weft__answer_nccl, &weft__answer_training},
};

/// What a job or a group of flows is compiled to.
struct part {
    const char *name, *of; ///< of: "job" or "flows"
    uint32_t ranks;        ///< of a job; or hosts that send
    uint64_t steps, messages;
    weft_bytes bytes, network_bytes;
    weft_time_ps end_ps;
};

/// The busiest host: its bytes, and their time at the rate of its link.
struct busiest {
    const char *host; ///< NULL: no host
    weft_bytes bytes;
    weft_time_ps time_ps;
};

struct view {
    const struct weft_topology *t;
    const struct weft_workload *w;
    struct weft_dag dag;
    struct weft_dag_result result;
    struct part *part;           ///< jobs, then groups of flows; some are empty
    weft_bytes *sent, *received; ///< over the network, by host
    enum units units;
    uint32_t n, *unit;  ///< of a host
    const char **name;  ///< of a unit
    weft_bytes *matrix; ///< [n * n], over the network
    // For the answer:
    const char *scenario, *variant;
    struct busiest sends, receives;
    const struct busiest *sends_most, *receives_most; ///< NULL: no host
    struct part *shown;                               ///< parts with steps
    uint32_t parts;
    bool experts; ///< a job has some
};

static struct part *part_of(const struct view *v, uint32_t rank, const struct weft_dag_step *step) {
    struct weft_dag_rank r = weft_dag_rank_at(&v->dag, rank);
    if (r.job != WEFT_NONE) return &v->part[r.job];
    struct weft_dag_connection c = weft_dag_connection_at(&v->dag, step->sends ? step->send[0] : step->recv[0]);
    return &v->part[v->w->jobs + v->w->flow[c.flow].group];
}

static void on_step(void *context, const struct weft_dag_cursor *lane, const struct weft_dag_step *step) {
    struct view *v = context;
    struct part *part = part_of(v, lane->rank, step);
    part->steps++;
    for (uint32_t k = 0; k < step->sends; k++) {
        struct weft_dag_connection c = weft_dag_connection_at(&v->dag, step->send[k]);
        uint32_t src = weft_dag_rank_at(&v->dag, c.src).host, dst = weft_dag_rank_at(&v->dag, c.dst).host;
        part->messages++;
        part->bytes += step->bytes;
        if (c.flow == WEFT_NONE) continue;
        part->network_bytes += step->bytes;
        v->sent[src] += step->bytes;
        v->received[dst] += step->bytes;
        if (v->matrix) v->matrix[(size_t)v->unit[src] * v->n + v->unit[dst]] += step->bytes;
    }
}

// --- units --------------------------------------------------------------------------------------------------------

static uint64_t unit_key(const struct view *v, uint32_t host) {
    const struct weft_topology *t = v->t;
    const struct weft_node_info *node = &t->node[t->host[host]];
    if (v->units == BETWEEN_HOSTS) return host;
    if (v->units == BETWEEN_PODS) return node->pod;
    return t->port[weft_topology_port(t, t->host[host], 0)->peer].node;
}

static const char *unit_name(const struct view *v, uint32_t host, struct weft_arena *arena) {
    const struct weft_topology *t = v->t;
    if (v->units == BETWEEN_HOSTS) return t->node[t->host[host]].name;
    if (v->units == BETWEEN_RACKS) return t->node[unit_key(v, host)].name;
    uint32_t pod = t->node[t->host[host]].pod;
    return pod == WEFT_NONE ? "no pod" : weft_arena_format(arena, "pod %" PRIu32, pod);
}

static void find_units(struct view *v, struct weft_arena *arena) {
    const struct weft_topology *t = v->t;
    uint64_t *key = weft_arena_alloc(arena, t->hosts, sizeof *key);
    v->unit = weft_arena_alloc(arena, t->hosts, sizeof *v->unit);
    v->name = weft_arena_alloc(arena, t->hosts, sizeof *v->name);
    for (uint32_t h = 0; h < t->hosts; h++) {
        uint64_t own_key = unit_key(v, h);
        uint32_t u = v->n; // usually that of the previous host
        while (u && key[u - 1] != own_key)
            u--;
        v->unit[h] = u ? u - 1 : v->n;
        if (u) continue;
        key[v->n] = own_key;
        v->name[v->n++] = unit_name(v, h, arena);
    }
    v->matrix = weft_arena_alloc(arena, (size_t)v->n * v->n, sizeof *v->matrix);
}

static enum weft_status choose_units(struct view *v, struct weft_arena *arena, struct weft_error *ret_error) {
    enum { MATRIX_MAX = 4096 };
    if (!between) return WEFT_OK;
    uint32_t k = 0;
    while (unit_names[k] && strcmp(unit_names[k], between))
        k++;
    struct weft_place place = {.file = "--between"};
    char expected[128];
    weft__names_expected(between, unit_names, 3, expected, sizeof expected);
    if (!unit_names[k]) return WEFT_REFUSE(ret_error, place, "no \"%s\"; %s", between, expected);
    v->units = (enum units)k;
    if (v->units == BETWEEN_HOSTS && v->t->hosts > MATRIX_MAX)
        return WEFT_REFUSE(ret_error, place, "%s; expected at most %d, or rack or pod",
                           weft__counted(v->t->hosts, "host").text, MATRIX_MAX);
    find_units(v, arena);
    return WEFT_OK;
}

// --- what is printed ----------------------------------------------------------------------------------------------

static struct busiest find_busiest(const struct view *v, const weft_bytes *bytes) {
    struct busiest b = {0};
    for (uint32_t h = 0; h < v->t->hosts; h++) {
        weft_rate_bps rate = v->t->link[weft_topology_port(v->t, v->t->host[h], 0)->link].rate_bps;
        weft_time_ps time = (weft_time_ps)llround((double)bytes[h] * 8 / (double)rate * (double)WEFT_PS_PER_S);
        if (time > b.time_ps) b = (struct busiest){v->t->node[v->t->host[h]].name, bytes[h], time};
    }
    return b;
}

static void print_busiest(const char *verb, const struct busiest *b) {
    char time[WEFT_CLI_TEXT];
    if (!b) return;
    weft_format_time(b->time_ps, time, sizeof time);
    printf("%s %s most, %s: %s at the rate of its link\n", b->host, verb,
           weft_cli_bytes_text(b->bytes, (char[WEFT_CLI_TEXT]){0}), time);
}

static void print_matrix(const struct view *v) {
    printf("\n%-16s", "from, to");
    for (uint32_t b = 0; b < v->n; b++)
        printf(" %12s", v->name[b]);
    putchar('\n');
    for (uint32_t a = 0; a < v->n; a++) {
        printf("%-16s", v->name[a]);
        for (uint32_t b = 0; b < v->n; b++) {
            weft_bytes bytes = v->matrix[(size_t)a * v->n + b];
            printf(" %12s", bytes ? weft_cli_bytes_text(bytes, (char[WEFT_CLI_TEXT]){0}) : "-");
        }
        putchar('\n');
    }
}

// --- tables -------------------------------------------------------------------------------------------------------

static void complete_answer(struct view *v, const struct weft_scenario *s, struct weft_arena *arena) {
    v->scenario = s->name;
    v->variant = s->variant;
    v->sends = find_busiest(v, v->sent);
    v->receives = find_busiest(v, v->received);
    v->sends_most = v->sends.host ? &v->sends : NULL;
    v->receives_most = v->receives.host ? &v->receives : NULL;
    v->shown = weft_arena_alloc(arena, v->w->jobs + v->w->groups, sizeof *v->shown);
    for (uint32_t i = 0; i < v->w->jobs + v->w->groups; i++)
        if (v->part[i].steps) v->shown[v->parts++] = v->part[i];
    for (uint32_t j = 0; j < v->w->jobs; j++)
        v->experts |= v->w->job[j].moe != NULL;
}

WEFT_RESULT_PRESENT(has_matrix, ((const struct view *)(const void *)run)->matrix)

static bool next_between(struct weft_result_cursor *c) {
    const struct view *v = c->subject;
    while (c->at < (uint64_t)v->n * v->n && !v->matrix[c->at])
        c->at++;
    if (c->at == (uint64_t)v->n * v->n) return false;
    c->part[0] = &v->matrix[c->at];
    c->part[1] = &v->name[c->at / v->n];
    c->part[2] = &v->name[c->at++ % v->n];
    return true;
}

struct unit {
    const char *name;
};
#define WORKLOAD(field, key, kind, ...) WEFT_RESULT_NAMED(struct view, field, key, kind, __VA_ARGS__)
#define PART(field, kind, ...) WEFT_RESULT(struct part, field, kind, __VA_ARGS__)
static const struct weft_result_column busiest_columns[] = {
    WEFT_RESULT(struct busiest, host, TEXT, "the busiest host"),
    WEFT_RESULT(struct busiest, bytes, BYTES, "bytes of the busiest host over the network"),
    WEFT_RESULT(struct busiest, time_ps, TIME, "time that these bytes take at the rate of the busiest host's link"),
};
static const struct weft_result_table workload_table =
    WEFT_RESULT_TABLE_OF("workload", OBJECT, "the work of all hosts", WEFT_RESULT_SUBJECT,
                         WORKLOAD(scenario, "scenario", TEXT, "name of the scenario"),
                         WORKLOAD(variant, "variant", TEXT, "name of the variant"),
                         WORKLOAD(result.lanes, "lanes", COUNT, "lanes: sequences of steps of a rank"),
                         WORKLOAD(result.steps, "steps", COUNT, "steps that were executed"),
                         WORKLOAD(result.messages, "messages", COUNT, "messages that were sent"),
                         WORKLOAD(result.bytes, "bytes", BYTES, "bytes of all messages"),
                         WORKLOAD(result.end_ps, "compute_ps", TIME, "end of the last step if messages take no time"));
static const struct weft_result_table sends_table = WEFT_RESULT_TABLE(
    "sends_most", OBJECT, "the host that sends longest", busiest_columns, WEFT_RESULT_IF(struct view, sends_most));
static const struct weft_result_table receives_table =
    WEFT_RESULT_TABLE("receives_most", OBJECT, "the host that receives longest", busiest_columns,
                      WEFT_RESULT_IF(struct view, receives_most));
static const struct weft_result_table groups_table = WEFT_RESULT_TABLE_OF(
    "groups", LIST, "a job, or a group of flows", WEFT_RESULT_EACH(struct view, shown, parts),
    PART(name, TEXT, "name of the job or group of flows", .flags = WEFT_RESULT_KEY, .title = "group"),
    PART(of, TEXT, "job or flows", .flags = WEFT_RESULT_KEY, .title = "of"),
    PART(ranks, COUNT, "ranks of the job, or hosts that send", .title = "ranks"),
    PART(steps, COUNT, "steps", .title = "steps"), PART(messages, COUNT, "messages", .title = "messages"),
    PART(bytes, BYTES, "bytes of all messages", .title = "bytes"),
    PART(network_bytes, BYTES, "bytes of messages over the network", .title = "on network"));
static const struct weft_result_table between_table =
    WEFT_RESULT_TABLE_OF("between", LIST, "a pair of hosts, racks or pods with traffic (--between)",
                         WEFT_RESULT_AND(.next = next_between, .present = has_matrix),
                         WEFT_RESULT_AT(1, struct unit, name, "from", TEXT, "host, rack or pod that sends",
                                        .flags = WEFT_RESULT_KEY, .title = "from"),
                         WEFT_RESULT_AT(2, struct unit, name, "to", TEXT, "host, rack or pod that receives",
                                        .flags = WEFT_RESULT_KEY, .title = "to"),
                         WEFT_RESULT_ITEM(weft_bytes, "bytes", BYTES, "bytes over the network", .title = "bytes"));

WEFT_RESULT_PRESENT(has_experts, ((const struct view *)(const void *)run)->experts)

static bool next_experts(struct weft_result_cursor *c) {
    const struct view *v = c->subject;
    while (c->at < v->w->jobs && !v->w->job[c->at].moe)
        c->at++;
    if (c->at == v->w->jobs) return false;
    c->part[0] = v->w->job[c->at].moe;
    c->part[1] = &v->w->group[v->w->job[c->at++].group];
    return true;
}

#define EXPERTS(field, kind, ...) WEFT_RESULT(struct weft_moe, field, kind, __VA_ARGS__)
static const struct weft_result_table experts_table = WEFT_RESULT_TABLE_OF(
    "experts", LIST, "an expert-parallel job: where its tokens go, without a network",
    WEFT_RESULT_AND(.next = next_experts, .present = has_experts),
    WEFT_RESULT_AT(1, struct unit, name, "group", TEXT, "name of the job", .flags = WEFT_RESULT_KEY, .title = "group"),
    EXPERTS(nodes, COUNT, "servers of the job", .title = "nodes"),
    EXPERTS(tokens, COUNT, "tokens of all ranks", .title = "tokens"),
    EXPERTS(token_nodes, REAL, "nodes that a token goes to, mean, its own included", .unit = "1",
            .title = "nodes/token"),
    EXPERTS(token_ranks, REAL, "ranks that a token goes to, mean", .unit = "1", .title = "ranks/token"),
    EXPERTS(load_most, REAL, "tokens of the rank that gets most, over the mean", .unit = "1", .title = "most/mean"),
    EXPERTS(message_bytes, BYTES, "a token on its way to experts, with what goes with it", .title = "token"),
    EXPERTS(dispatch_bytes, BYTES, "what a rank sends to experts, mean, as DeepEP counts it", .title = "dispatch"),
    EXPERTS(combine_bytes, BYTES, "what comes back to a rank, mean, as DeepEP counts it", .title = "combine"));
const struct weft_answer weft__answer_workload =
    WEFT_ANSWER_OF("workload", "weft workload: what the hosts of a scenario compute, send and receive", &workload_table,
                   &sends_table, &receives_table, &groups_table, &experts_table, &between_table);

static void print_text(FILE *file, const void *subject) {
    const struct view *v = subject;
    char end[WEFT_CLI_TEXT];
    weft_format_time(v->result.end_ps, end, sizeof end);
    weft_answer_text_table(file, &weft__answer_workload, &groups_table, v);
    printf("\nexecuted: %s in %s; %s if messages took no time\n", weft__counted(v->result.steps, "step").text,
           weft__counted(v->result.lanes, "lane").text, end);
    for (uint32_t j = 0; j < v->w->jobs; j++)
        if (v->w->job[j].schedule) printf("%s is a schedule, and not executed here: see --loggops\n", v->part[j].name);
    if (v->w->rmas) printf("remote memory access is left out: what it sends depends on answers\n");
    print_busiest("sends", v->sends_most);
    print_busiest("receives", v->receives_most);
    if (v->experts) {
        putchar('\n');
        weft_answer_text_table(file, &weft__answer_workload, &experts_table, v);
    }
    if (v->matrix && v->n > COLUMNS_MAX) {
        putchar('\n');
        weft_answer_text_table(file, &weft__answer_workload, &between_table, v);
    } else if (v->matrix) {
        print_matrix(v);
    }
}

// --- all of it ----------------------------------------------------------------------------------------------------

/// A schedule is not executed here: only its content is shown. `weft workload` on its own file does more.
static void sum_schedule(const struct weft_job *job, struct part *part) {
    part->steps = job->schedule->steps;
    part->messages = job->schedule->messages;
    part->bytes = job->schedule->bytes;
    for (uint32_t i = 0; i < job->connections; i++)
        if (job->connection[i].flow != WEFT_NONE) part->network_bytes += job->connection[i].bytes;
}

static void name_parts(struct view *v, struct weft_arena *arena) {
    const struct weft_workload *w = v->w;
    v->part = weft_arena_alloc(arena, w->jobs + w->groups, sizeof *v->part);
    for (uint32_t j = 0; j < w->jobs; j++)
        v->part[j] = (struct part){.name = w->group[w->job[j].group], .of = "job", .ranks = w->job[j].ranks};
    for (uint32_t j = 0; j < w->jobs; j++)
        if (w->job[j].schedule) sum_schedule(&w->job[j], &v->part[j]);
    uint32_t *last = weft_arena_alloc(arena, w->groups, sizeof *last);
    for (uint32_t g = 0; g < w->groups; g++)
        v->part[w->jobs + g] = (struct part){.name = w->group[g], .of = "flows"};
    for (uint32_t h = 0; h < v->t->hosts; h++) // each host that sends once
        for (uint32_t i = v->dag.send0[h]; i < v->dag.send0[h + 1]; i++) {
            uint32_t g = w->flow[v->dag.flow[v->dag.send[i]]].group;
            v->part[w->jobs + g].ranks += last[g] != h + 1;
            last[g] = h + 1;
        }
}

/// No workload should ever get here.
static enum weft_status say_stuck(const struct view *v, const struct weft_scenario *s, struct weft_error *ret_error) {
    const struct weft_dag_result *r = &v->result;
    struct weft_dag_rank rank = weft_dag_rank_at(&v->dag, r->rank);
    char what[160] = "what it has begun itself";
    if (r->want != WEFT_DAG_WANTS_COUNTER) {
        struct weft_dag_connection c = weft_dag_connection_at(&v->dag, r->what);
        bool message = r->want == WEFT_DAG_WANTS_MESSAGE;
        uint32_t peer = weft_dag_rank_at(&v->dag, message ? c.src : c.dst).host;
        snprintf(what, sizeof what, "%s %s", message ? "a message from" : "room for a message to",
                 v->t->node[v->t->host[peer]].name);
    }
    return weft_error_set(ret_error, WEFT_ERROR_STALL, (struct weft_place){.file = s->path},
                          "%s wait for ever, the first at %s for %s", weft__counted(r->stuck, "lane").text,
                          v->t->node[v->t->host[rank.host]].name, what);
}

/// Writes the job's operations: a trace names collectives, and the program that replays it chooses their algorithms.
static enum weft_status write_chakra(const struct view *v, const struct weft_scenario *s,
                                     const struct weft_cli_options *o, struct weft_arena *arena,
                                     struct weft_error *ret_error) {
    const struct weft_schedule *schedule;
    struct weft_place place = {.file = s->path};
    if (v->w->jobs != 1 || v->dag.connections > v->dag.connection0[1])
        return WEFT_REFUSE(ret_error, place, "%s and %s; expected one job, and no flows, for traces",
                           weft__counted(v->w->jobs, "job").text,
                           weft__counted(v->dag.connections - v->dag.connection0[v->w->jobs], "flow").text);
    enum weft_status status = WEFT_OK;
    static const char *const first[] = {"groups.json", "0.et"}; // of the files: they are written together
    for (unsigned i = 0; i < sizeof first / sizeof *first && !status; i++) {
        const char *path = weft_arena_format(arena, "%s.%s", as_schedule.chakra, first[i]);
        if (!access(path, F_OK)) status = weft_cli_can_write_file("--chakra", path, o, ret_error);
    }
    if (!status) status = weft_job_schedule(&v->w->job[0], s->path, arena, &schedule, ret_error);
    return status ? status : weft_chakra_write(schedule, as_schedule.chakra, ret_error);
}

static enum weft_status show_schedule(const struct view *v, const struct weft_scenario *s,
                                      const struct weft_cli_options *o, struct weft_arena *arena,
                                      struct weft_error *ret_error) {
    struct weft_schedule *schedule;
    enum weft_status status = weft_dag_schedule(&v->dag, s->path, arena, &schedule, ret_error);
    if (!status) status = weft_schedule_check(schedule, ret_error);
    return status ? status : weft_cli_schedule(schedule, &as_schedule, o, ret_error);
}

static enum weft_status show_workload(const struct weft_cli_options *o, const struct weft_scenario_file *file,
                                      struct weft_error *ret_error) {
    WEFT_ENDS(weft_cli_simulation_deinit) struct weft_cli_simulation s = {0};
    uint32_t variant;
    enum weft_status status = weft_cli_variant(o, file, &variant, ret_error);
    if (!status) status = weft_cli_simulation_init(&s, file, variant, ret_error);
    struct view v = {.t = s.topology, .w = s.workload};
    if (!status) status = choose_units(&v, s.arena, ret_error);
    if (!status && shows_plan) {
        status = weft_cli_workload_plan(v.w, s.scenario, o, ret_error);
        weft_cli_simulation_deinit(&s);
        return status;
    }
    if (!status) v.dag = weft_dag_of(v.w, s.arena);
    if (!status && as_schedule.chakra) status = write_chakra(&v, s.scenario, o, s.arena, ret_error);
    if (!status && shows_nccl) return weft_cli_workload_nccl(v.w, s.scenario, o, ret_error);
    if (!status && (as_schedule.goal || as_schedule.loggops))
        return show_schedule(&v, s.scenario, o, s.arena, ret_error);
    if (!status) {
        v.sent = weft_arena_alloc(s.arena, v.t->hosts, sizeof *v.sent);
        v.received = weft_arena_alloc(s.arena, v.t->hosts, sizeof *v.received);
        name_parts(&v, s.arena);
        v.result = weft_dag_execute(&v.dag, &(struct weft_dag_options){.on_step = on_step, .context = &v});
        if (v.result.stuck) status = say_stuck(&v, s.scenario, ret_error);
    }
    if (!status) {
        complete_answer(&v, s.scenario, s.arena);
        status = weft_cli_answer(o, &weft__answer_workload, &v, print_text, ret_error);
    }
    return status;
}

/// A schedule is not a scenario: it is read at once. The file of --goal is not an operand.
static bool is_goal(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        if (*argv[i] != '-' && strcmp(argv[i - 1], "--goal") && weft_cli_goal_recognise(argv[i])) return true;
    return false;
}

int weft_cli_workload(int argc, char **argv) {
    if (is_goal(argc, argv)) return weft_cli_goal(&command, &as_schedule, argc, argv);
    return weft_cli_on_scenario(&command, argc, argv, show_workload);
}
