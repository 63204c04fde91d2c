// SPDX-License-Identifier: Apache-2.0
// The scenario that a table is compared with: its set-up, or the user's with the table's collectives as its work; and
// its run. A barrier, after which all ranks go on at once, stands before each collective: a byte to everybody. Hosts
// take their median times.
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/grow.h"
#include "base/stream.h"
#include "fit/fit.h"
#include "weft/job.h"
#include "weft/outcome.h"
#include "weft/param.h"
#include "weft/scenario.h"
#include "weft/sim.h"
#include "weft/tree.h"

enum { BARRIER_RANKS = 4096 }; ///< bytes of a barrier where a table does not say how many ranks it needs

/// The class of a server, by what the name of its GPU has in it.
static const char *class_of(const char *gpu) {
    static const char *const classes[][2] = {{"A100", "dgx_a100"}, {"H100", "dgx_h100"}, {"H200", "dgx_h100"},
                                             {"H800", "dgx_h100"}, {"H20", "dgx_h100"},  {"B200", "dgx_b200"},
                                             {"B300", "dgx_b200"}};
    for (uint32_t k = 0; k < sizeof classes / sizeof *classes; k++)
        if (strstr(gpu, classes[k][0])) return classes[k][1];
    return NULL;
}

/// NICs of a node; within one nothing needs them.
static uint32_t nics_of(const struct weft_fit_setup *s) {
    return s->nodes > 1 && s->nics && s->nics < s->gpus ? s->nics : s->gpus;
}

static void write_server(FILE *file, const struct weft_fit_setup *s, const char *class) {
    uint32_t nics = nics_of(s);
    fprintf(file, "{kind: \"%s\", gpus: %" PRIu32 ", nics: %" PRIu32, class, s->gpus, nics);
    if (s->nvls) fprintf(file, ", nvls: %s", s->nvls == 2 ? "on" : "off");
    if (s->cpu)
        fprintf(file, ", cpu: %s", s->cpu);
    else if (s->gpu && (strstr(s->gpu, "GH200") || strstr(s->gpu, "GB200") || strstr(s->gpu, "GB300")))
        fputs(", cpu: arm", file);
    putc('}', file);
}

static void write_size(FILE *file, const struct weft_fit_table *t, weft_bytes bytes, const struct weft_fit_line *line) {
    const struct weft_fit_setup *s = &t->setup;
    const char *model = weft__fit_collective(s->collective)->model;
    const char *algo = line && line->algorithm ? line->algorithm : s->algo;
    const char *proto = line && line->protocol ? line->protocol : s->proto;
    if (!t->job) fprintf(file, "{collective: all_to_all, size: %" PRIu32 "B}, ", s->ranks ? s->ranks : BARRIER_RANKS);
    fprintf(file, "{collective: %.*s", (int)strlen(model) - 1, model);
    if (s->version == WEFT_NCCL_2_26) fputs(", version: \"2.26\"", file);
    if (algo) fprintf(file, ", NCCL_ALGO: \"%s\"", algo);
    if (proto) fprintf(file, ", NCCL_PROTO: \"%s\"", proto);
    if (s->min_ctas) fprintf(file, ", NCCL_MIN_CTAS: %" PRIu64, s->min_ctas);
    if (s->max_ctas) fprintf(file, ", NCCL_MAX_CTAS: %" PRIu64, s->max_ctas);
    fprintf(file, "}, size: %" PRIu64 "B}, ", bytes);
}

/// Sizes that are run: those of the rows and, where some are larger, two with what NCCL chooses for these.
static void write_sizes(FILE *file, const struct weft_fit *fit, const struct weft_fit_table *t) {
    putc('[', file);
    for (uint32_t i = t->row0; i < t->row0 + t->rows; i++)
        if (!fit->row[i].beyond && !(t->job && fit->row[i].use == WEFT_FIT_OUTLYING))
            write_size(file, t, fit->row[i].bytes, NULL);
    for (uint32_t k = 0; k < t->lines; k++)
        for (uint32_t end = 0; end < 2; end++)
            write_size(file, t, t->line_bytes + end * t->line[k].more_bytes, &t->line[k]);
    putc(']', file);
}

/// `whole`: the server is the set-up's, else of that class and otherwise the user's.
static const char *work_of(const struct weft_fit *fit, const struct weft_fit_table *t, const char *class, bool whole) {
    struct weft__text_stream stream;
    FILE *file = weft__text_stream_open(&stream);
    fputs("workload: [{kind: job, group: fit, server: ", file);
    if (whole)
        write_server(file, &t->setup, class);
    else if (class)
        fprintf(file, "{kind: \"%s\"}", class);
    else
        fputs("{}", file);
    fputs(", operations: ", file);
    write_sizes(file, fit, t);
    fputs("}]\nrun: {jitter: off}\n", file);
    const char *text = weft_arena_text(fit->arena, weft__text_stream_text(&stream));
    weft__text_stream_free(&stream);
    return text;
}

static enum weft_status make_scenario(struct weft_fit *fit, struct weft_fit_table *t, const char *class,
                                      struct weft_error *ret_error) {
    const struct weft_fit_setup *s = &t->setup;
    uint32_t nics = nics_of(s);
    uint64_t rate = s->nic_rate_bps ? s->nic_rate_bps * (s->nics > nics ? s->nics / nics : 1) : 400000000000;
    const char *text = weft_arena_format(
        fit->arena, "name: fit\ntopology: {kind: single, hosts: %" PRIu32 ", rate: %" PRIu64 "bps}\n%s",
        s->nodes * nics, rate, work_of(fit, t, class, true));
    t->parsed = true;
    return weft_scenario_file_parse("fit", text, strlen(text), NULL, 0, &t->scenario, ret_error);
}

static enum weft_status lay_over(const char *text, struct weft_arena *arena, const struct weft_tree **ret_tree,
                                 struct weft_error *ret_error) {
    struct weft_tree *tree = NULL;
    enum weft_status status = weft_tree_parse("fit", text, strlen(text), arena, &tree, ret_error);
    *ret_tree = tree;
    return status;
}

/// The first entry of the workload that has servers.
static const struct weft_tree *entry_in(const struct weft_tree *work) {
    for (uint32_t i = 0; work && work->type == WEFT_TREE_LIST && i < work->n; i++)
        if (weft_tree_find(work->child[i], "server")) return work->child[i];
    return NULL;
}

/// Whether a key of the user's entry says where and how a job runs, and not what it does: the table says that.
static bool is_kept(const char *key) {
    static const char *const kept[] = {"server",       "hosts",       "order",    "priority",   "admission",
                                       "cts_priority", "qps",         "ranks",    "qp_scaling", "placement",
                                       "occupied",     "share_hosts", "rank_file"};
    for (uint32_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (!strcmp(kept[i], key)) return true;
    return false;
}

static enum weft_status take_scenario(const struct weft_fit_conf *conf, struct weft_fit *fit, struct weft_fit_table *t,
                                      struct weft_error *ret_error) {
    const struct weft_tree *tree, *work, *user, *entry;
    WEFT_TRY(weft_scenario_tree(conf->scenario, conf->variant, fit->arena, &tree, ret_error));
    WEFT_TRY(weft_scenario_work(tree, fit->arena, &user, ret_error));
    WEFT_TRY(lay_over(work_of(fit, t, conf->server, false), fit->arena, &work, ret_error));
    entry = entry_in(user);
    if (!entry)
        return WEFT_REFUSE(ret_error, tree->place,
                           "no server: expected an entry of the workload with one, such as {kind: job, server: {kind: "
                           "dgx_h100, gpus: 8}}");
    struct weft_tree *path = weft_arena_alloc(fit->arena, 1, sizeof *path);
    *path = (struct weft_tree){.type = WEFT_TREE_MAP, .place = entry->place};
    path->child = weft_arena_alloc(fit->arena, entry->n, sizeof *path->child);
    for (uint32_t k = 0; k < entry->n; k++) {
        const struct weft_tree *key = entry->child[k];
        if (!is_kept(key->key)) continue;
        struct weft_tree *own = path->child[path->n++] = weft_arena_alloc(fit->arena, 1, sizeof *own);
        *own = *key;
        own->key = weft_arena_format(fit->arena, "workload.0.%s", key->key);
        if (!conf->server || key->type != WEFT_TREE_MAP || strcmp(key->key, "server")) continue;
        own->child = weft_arena_alloc(fit->arena, key->n, sizeof *own->child);
        own->n = 0; // another kind laid over it would drop its other keys
        for (uint32_t i = 0; i < key->n; i++)
            if (strcmp(key->child[i]->key, "kind")) own->child[own->n++] = key->child[i];
    }
    const struct weft_tree *over[] = {work, path};
    t->scenario = weft_scenario_file_over(conf->scenario, over, 2, fit->arena);
    return WEFT_OK;
}

/// How NCCL would choose, for whom reads the rows. Returns the bytes of a loop round a ring; 1: it is none.
static weft_bytes name_choice(const struct weft_fit_table *t, const struct weft_job_op *op,
                              const struct weft_nccl_machine *of, struct weft_fit_row *row) {
    const struct weft__fit_collective *c = weft__fit_collective(t->setup.collective);
    struct weft_nccl_machine m = *of;
    struct weft_nccl_choice choice;
    m.gpus = op->shape.per_server;
    m.nodes = op->shape.ranks / m.gpus;
    m.nics = op->shape.per_nic ? m.gpus / op->shape.per_nic : m.gpus;
    m.version = t->setup.version;
    m.min_ctas = (uint32_t)t->setup.min_ctas;
    m.max_ctas = (uint32_t)t->setup.max_ctas;
    weft_nccl_mask(t->setup.algo ? t->setup.algo : "", weft_nccl_algorithm_names, m.algorithms, NULL, 0);
    weft_nccl_mask(t->setup.proto ? t->setup.proto : "", weft_nccl_protocol_names, m.protocols, NULL, 0);
    if (c->function == WEFT_NONE || !weft_nccl_choose(&m, c->function, row->bytes, &choice)) return 1;
    row->algorithm = weft_nccl_algorithm_names[choice.algorithm];
    row->protocol = weft_nccl_protocol_names[choice.protocol];
    return choice.algorithm == WEFT_NCCL_RING ? choice.channels * choice.chunk_bytes * op->shape.ranks : 1;
}

static bool is_on(const struct weft_fit_row *row, const struct weft_fit_line *line) {
    return row->algorithm == line->algorithm && row->protocol == line->protocol;
}

static enum weft_status set_scenario(const struct weft_fit_conf *conf, struct weft_fit *fit, struct weft_fit_table *t,
                                     struct weft_error *ret_error) {
    if (t->parsed) weft_scenario_file_free(t->scenario);
    t->parsed = false;
    if (conf->scenario) return take_scenario(conf, fit, t, ret_error);
    const char *class = conf->server ? conf->server : class_of(t->setup.gpu);
    if (class) return make_scenario(fit, t, class, ret_error);
    return WEFT_REFUSE(ret_error, t->setup.place,
                       "no class of servers is known for gpu=%s; expected A100, H100, H200, B200 or B300 in its name, "
                       "or --server",
                       t->setup.gpu);
}

/// From one end of a line to the other: about a quarter, in whole loops unless these are too long to run.
static weft_bytes more_bytes(const struct weft_fit_table *t, weft_bytes loop) {
    weft_bytes quarter = t->line_bytes / 4;
    return quarter > loop ? quarter / loop * loop : loop > 2 * WEFT_FIT_LINE ? quarter : loop;
}

/// A line for each of what NCCL chooses for the smallest and for the largest row that is not run.
static enum weft_status find_lines(const struct weft_fit_conf *conf, struct weft_fit *fit, struct weft_fit_table *t,
                                   struct weft_error *ret_error) {
    struct weft_fit_row *smallest = NULL, *largest = NULL;
    struct weft_simulation *s = NULL;
    weft_bytes loop[2] = {1, 1};
    enum weft_status status = weft_simulation_new(t->scenario, conf->variant, &s, ret_error);
    if (status) return status;
    const struct weft_job *job = &s->workload->job[0];
    for (uint32_t i = t->row0; i < t->row0 + t->rows; i++) {
        struct weft_fit_row *row = &fit->row[i];
        weft_bytes bytes = name_choice(t, &job->op[job->ops - 1], job->machine, row);
        if (row->beyond && (!smallest || row->bytes < smallest->bytes)) {
            smallest = row;
            loop[0] = bytes;
        }
        if (row->beyond && (!largest || row->bytes > largest->bytes)) {
            largest = row;
            loop[1] = bytes;
        }
    }
    weft_simulation_free(s);
    t->line[0] = (struct weft_fit_line){smallest->algorithm, smallest->protocol, more_bytes(t, loop[0])};
    t->line[1] = (struct weft_fit_line){largest->algorithm, largest->protocol, more_bytes(t, loop[1])};
    t->lines = is_on(largest, &t->line[0]) ? 1 : 2;
    return t->line[0].algorithm ? set_scenario(conf, fit, t, ret_error) : WEFT_OK;
}

/// What weft made of a set-up and refuses is wrong in the lines that say it.
static enum weft_status blame_setup(const struct weft_fit_table *t, enum weft_status status,
                                    struct weft_error *ret_error) {
    const struct weft_error made = *ret_error;
    if (status != WEFT_ERROR_INPUT || strncmp(made.text, "fit:", 4)) return status;
    *ret_error = (struct weft_error){0};
    return WEFT_REFUSE(ret_error, t->setup.place, "%s", made.text + made.message_at);
}

enum weft_status weft__fit_scenario(const struct weft_fit_conf *conf, struct weft_fit *fit, struct weft_fit_table *t,
                                    struct weft_error *ret_error) {
    const bool inside = t->setup.nodes == 1;
    const weft_bytes simulated = inside ? 2 * WEFT_FIT_LINE : WEFT_FIT_SIMULATED;
    t->line_bytes = inside ? simulated : t->setup.nodes > 4 ? WEFT_FIT_LINE * 4 / t->setup.nodes : WEFT_FIT_LINE;
    if (t->line_bytes < simulated) t->line_bytes = simulated;
    t->lines = 0;
    for (uint32_t i = t->row0; i < t->row0 + t->rows; i++) {
        fit->row[i].beyond = fit->row[i].bytes > simulated;
        if (fit->row[i].beyond) t->lines = 1;
    }
    enum weft_status status = blame_setup(t, set_scenario(conf, fit, t, ret_error), ret_error);
    return status || !t->lines ? status : blame_setup(t, find_lines(conf, fit, t, ret_error), ret_error);
}

enum weft_status weft_fit_job(const struct weft_fit_conf *conf, struct weft_fit *fit, struct weft_error *ret_error) {
    struct weft_fit_row *smallest = NULL;
    for (uint32_t i = 0; i < fit->rows; i++) {
        struct weft_fit_row *row = &fit->row[i];
        if (row->use != WEFT_FIT_OUTLYING && (!smallest || row->bytes < smallest->bytes)) smallest = row;
    }
    smallest->beyond = false; // at most a third of a table is outlying
    fit->table->job = true;
    fit->table->lines = 0;
    return take_scenario(conf, fit, fit->table, ret_error);
}

// --- a run --------------------------------------------------------------------------------------------------------

static const char *values_of(const struct weft_fit *fit, struct weft_arena *arena) {
    const char *text = "";
    for (uint32_t k = 0; k < fit->constants; k++) {
        const struct weft_fit_constant *c = &fit->constant[k];
        if (!c->used) continue;
        const char *value = !strcmp(c->key, "costs.factor") ? weft_arena_format(arena, "%.9f", c->at)
                            : c->rate                       ? weft_arena_format(arena, "%.0fbps", 8e12 / c->at)
                                                            : weft_arena_format(arena, "%.0fps", c->at * 1e6);
        text = weft_arena_format(arena, "%sworkload.0.server.%s: %s\n", text, c->key, value);
    }
    return text;
}

/// On a line through two sizes, which took line_us. Between what is run and that line times grow as a power of the
/// size.
static double time_beyond(const struct weft_fit_table *t, uint32_t line, const double line_us[2], weft_bytes bytes,
                          const struct weft_fit_row *last, double last_us) {
    double from = line_us[0], further = (double)bytes - (double)t->line_bytes;
    if (further >= 0 || !last) return from + fmax(line_us[1] - from, 0) * further / (double)t->line[line].more_bytes;
    double power = log(from / last_us) / log((double)t->line_bytes / (double)last->bytes);
    return from * pow((double)bytes / (double)t->line_bytes, power);
}

/// A job as weft builds it must be the table's.
static enum weft_status check_ranks(const struct weft_fit_table *t, const struct weft_job *job,
                                    struct weft_error *ret_error) {
    const struct weft_fit_setup *s = &t->setup;
    uint32_t gpus = job->op[1].shape.per_server;
    if ((!s->ranks || s->ranks == job->ranks) && (!s->gpus || s->gpus == gpus)) return WEFT_OK;
    return WEFT_REFUSE(ret_error, s->place,
                       "the table is of %" PRIu32 " ranks, %" PRIu32 " a node, and the scenario has %" PRIu32
                       " ranks, %" PRIu32 " a server; expected the same",
                       s->ranks, s->gpus, job->ranks, gpus);
}

/// Of a table, with the constants as they are.
struct running {
    const struct weft_fit_conf *conf;
    struct weft_fit *fit;
    const struct weft_fit_table *t;
    const char *values;
    const bool *wanted;    ///< [rows]; NULL: all
    double *ret_log;       ///< [rows]
    uint32_t ranks, nodes; ///< of the size that ran last
};

/// Runs one size alone: after another its ranks would start apart, by what happened there.
static enum weft_status run_size(struct running *x, weft_bytes bytes, const struct weft_fit_line *line,
                                 struct weft_fit_row *row, double *ret_us, struct weft_error *ret_error) {
    struct weft__text_stream stream;
    const struct weft_tree *over;
    WEFT_SCRATCH(arena, WEFT_MEMORY_SCENARIO);
    WEFT_ENDS(weft_simulation_end) struct weft_simulation *s = NULL;
    struct weft_outcome *outcome = NULL;
    FILE *file = weft__text_stream_open(&stream);
    fprintf(file, "%sworkload.0.operations: [", x->values);
    write_size(file, x->t, bytes, line);
    fputs("]\n", file);
    const char *text = weft_arena_text(arena, weft__text_stream_text(&stream));
    weft__text_stream_free(&stream);
    WEFT_TRY(lay_over(text, arena, &over, ret_error));
    struct weft_scenario_file *scenario = weft_scenario_file_over(x->t->scenario, &over, 1, arena);
    WEFT_TRY(blame_setup(x->t, weft_simulation_new(scenario, x->conf->variant, &s, ret_error), ret_error));
    const struct weft_job *job = &s->workload->job[0];
    WEFT_TRY(check_ranks(x->t, job, ret_error));
    WEFT_TRY(weft_simulate(s->scenario, s->topology, s->workload, &(struct weft_sim_options){0}, &outcome, ret_error));
    const struct weft_op_outcome *one = &outcome->job[0].op[1];
    *ret_us = (double)(one->end_ps - one->start_ps) / (double)WEFT_PS_PER_US;
    weft_outcome_free(outcome);
    x->ranks = job->op[1].shape.ranks;
    x->nodes = x->ranks / job->op[1].shape.per_server;
    if (!row->algorithm) name_choice(x->t, &job->op[1], job->machine, row);
    return WEFT_OK;
}

static enum weft_status run_beyond(struct running *x, struct weft_error *ret_error) {
    const struct weft_fit_table *t = x->t;
    const struct weft_fit_row *last = NULL; // and largest that is run
    double line_us[2][2] = {{0}};
    for (uint32_t i = t->row0; i < t->row0 + t->rows; i++) {
        const struct weft_fit_row *row = &x->fit->row[i];
        if (!row->beyond && (!last || row->bytes > last->bytes)) last = row;
    }
    for (uint32_t i = t->row0; i < t->row0 + t->rows; i++) {
        struct weft_fit_row *row = &x->fit->row[i];
        uint32_t k = t->lines > 1 && is_on(row, &t->line[1]);
        if (!row->beyond || (x->wanted && !x->wanted[i])) continue;
        for (uint32_t end = 0; end < 2 && !line_us[k][1]; end++)
            WEFT_TRY(run_size(x, t->line_bytes + end * t->line[k].more_bytes, &t->line[k], row, &line_us[k][end],
                              ret_error));
        row->ranks = x->ranks;
        row->nodes = x->nodes;
        x->ret_log[i] =
            log(time_beyond(t, k, line_us[k], row->bytes, last, last ? exp(x->ret_log[last - x->fit->row]) : 0));
    }
    return WEFT_OK;
}

static enum weft_status run_table(struct running *x, struct weft_error *ret_error) {
    for (uint32_t i = x->t->row0; i < x->t->row0 + x->t->rows; i++) {
        struct weft_fit_row *row = &x->fit->row[i];
        double us;
        if (row->beyond || (x->wanted && !x->wanted[i])) continue;
        WEFT_TRY(run_size(x, row->bytes, NULL, row, &us, ret_error));
        row->ranks = x->ranks;
        row->nodes = x->nodes;
        x->ret_log[i] = log(us);
    }
    return run_beyond(x, ret_error);
}

enum weft_status weft__fit_run(const struct weft_fit_conf *conf, struct weft_fit *fit, const bool *wanted,
                               double *ret_log, struct weft_error *ret_error) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_SCENARIO);
    struct running x = {
        .conf = conf, .fit = fit, .values = values_of(fit, arena), .wanted = wanted, .ret_log = ret_log};
    enum weft_status status = WEFT_OK;
    for (uint32_t t = 0; t < fit->tables && !status; t++) {
        x.t = &fit->table[t];
        status = conf->is_interrupted && conf->is_interrupted()
                     ? weft_error_set(ret_error, WEFT_INTERRUPTED, WEFT_NOWHERE, "interrupted")
                     : run_table(&x, ret_error);
    }
    fit->runs += fit->tables;
    return status;
}

// --- the constants ------------------------------------------------------------------------------------------------

static bool is_asked(const struct weft_fit_conf *conf, const char *key) {
    const char *only = conf->only;
    if (conf->why) return true;
    const char *dot = strchr(key, '.'), *name = dot ? dot + 1 : key;
    static const char *const known[] = {"costs.factor", "costs.proxy", "costs.busy"}; // by others of them
    for (uint32_t k = 0; k < sizeof known / sizeof *known && !only; k++)
        if (!strcmp(key, known[k])) return false;
    if (!only) return true;
    for (size_t n; *only; only += n + (only[n] == ',')) {
        n = strcspn(only, ",");
        if (strlen(name) == n && !strncmp(name, only, n)) return true;
    }
    return false;
}

static void add_constant(const struct weft_fit_conf *conf, struct weft_fit *fit, const char *key,
                         enum weft_param_type type, double before) {
    const double least_us = 1, least_rate = 0.1, least_factor = 0.05; // 0.1 us a MB: 80 Tbit/s
    const double least_launch_us = 0.001;                             // of none, server.launch means that of the hosts
    struct weft_fit_constant c = {.key = key, .rate = type == WEFT_PARAM_RATE, .deviation = (double)NAN};
    if (!is_asked(conf, key)) return;
    c.before = c.value = before;
    c.expected = c.rate ? 8e3 / before : before;
    c.width = c.rate || type == WEFT_PARAM_REAL || c.expected > least_us ? c.expected : least_us;
    c.least = c.rate                    ? least_rate
              : type == WEFT_PARAM_REAL ? least_factor
              : !strcmp(key, "launch")  ? least_launch_us
                                        : 0;
    c.at = c.expected;
    WEFT__ADD(fit->arena, fit->constant, fit->constants) = c;
}

/// A launch of no time says nothing about one: the expectation is then that of the class typical_nic.
static const double typical_launch_us = 6.1;

enum weft_status weft__fit_constants(const struct weft_fit_conf *conf, struct weft_fit *fit,
                                     struct weft_error *ret_error) {
    struct weft_simulation *s = NULL;
    enum weft_status status = weft_simulation_new(fit->table->scenario, conf->variant, &s, ret_error);
    if (status) return blame_setup(fit->table, status, ret_error);
    struct weft_server_conf *server = weft_arena_alloc(fit->arena, 1, sizeof *server);
    *server = s->workload->job[0].server;
    server->kind = weft_arena_text(fit->arena, server->kind);
    weft_time_ps launch = server->launch_ps ? server->launch_ps : s->scenario->device[0].host.launch_ps;
    add_constant(conf, fit, "launch", WEFT_PARAM_TIME, launch ? (double)launch / 1e6 : typical_launch_us);
    if (server->gpus > 1) add_constant(conf, fit, "rate", WEFT_PARAM_RATE, (double)server->rate_bps / 1e9);
    for (uint32_t k = 0; k < weft_nccl_costs_table.n; k++) {
        const struct weft_param *row = &weft_nccl_costs_table.rows[k];
        const void *at = (const char *)&server->costs + row->offset;
        double value = row->type == WEFT_PARAM_REAL   ? *(const double *)at
                       : row->type == WEFT_PARAM_RATE ? (double)*(const uint64_t *)at / 1e9
                                                      : (double)*(const uint64_t *)at / 1e6;
        if (row->type == WEFT_PARAM_RATE && value <= 0) continue; // no limit, which a fit does not find
        if (!strcmp(row->name, "hand")) continue;                 // a share, which no table determines
        add_constant(conf, fit, weft_arena_format(fit->arena, "costs.%s", row->name), row->type, value);
    }
    fit->server = server;
    weft_simulation_free(s);
    if (!fit->constants)
        status = WEFT_REFUSE(ret_error, WEFT_NOWHERE,
                             "--only %s: no such constant; expected launch, tree_ll, ... (weft "
                             "models nccl_costs)",
                             conf->only);
    return status;
}
