// SPDX-License-Identifier: Apache-2.0
// Which runs a sweep has. A run is a function of this program, of the values in force and of the files that they name.
// A hash of all of these is the name of its file, so the content of the file is valid whenever and wherever it was
// written.
#define _GNU_SOURCE // qsort_r
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "claims.h"
#include "cli.h"
#include "cost.h"
#include "sweep.h"
#include "weft/sim.h"

// --- keys ---------------------------------------------------------------------------------------------------------

/// A file that some value names; other points that name it need not read it again.
struct content {
    const char *path;
    uint64_t hash;
    struct content *next;
};

struct key {
    uint64_t hash;
    const char *path; ///< of the scenario
    char seed[24];    ///< from the values in force
    struct content **contents;
    struct weft_arena *arena; ///< of contents
};

static uint64_t hash_content(FILE *file) {
    char part[1 << 16];
    size_t n;
    uint64_t hash = WEFT__HASH_START;
    while ((n = fread(part, 1, sizeof part, file)) > 0)
        hash = weft__hash(hash, part, n);
    return hash;
}

/// NULL: there is no such file.
static const struct content *content_of(struct key *key, const char *path) {
    struct stat about;
    struct content *c = *key->contents;
    while (c && strcmp(c->path, path))
        c = c->next;
    if (c || stat(path, &about) || !S_ISREG(about.st_mode)) return c;
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    c = weft_arena_alloc(key->arena, 1, sizeof *c);
    *c = (struct content){weft_arena_text(key->arena, path), hash_content(file), *key->contents};
    *key->contents = c;
    fclose(file);
    return c;
}

/// Any value may be the name of a file, relative to the folder of the scenario.
static void hash_file(struct key *key, const char *value) {
    char path[4096];
    const char *slash = strrchr(key->path, '/');
    size_t folder = slash && *value != '/' ? (size_t)(slash + 1 - key->path) : 0;
    if (!*value || folder + strlen(value) >= sizeof path) return;
    snprintf(path, sizeof path, "%.*s%s", (int)folder, key->path, value);
    const struct content *content = content_of(key, path);
    if (content) key->hash = weft__hash(key->hash, &content->hash, sizeof content->hash);
}

static void add_value(void *context, const char *path, const char *value, const char *dflt) {
    struct key *key = context;
    if (!strcmp(path, "name") || !strcmp(path, "about") || !strncmp(path, "capture.", 8) ||
        !strncmp(path, "fabric.", 7))
        return; // the fabric's result is in the other values
    if (!strcmp(path, "run.seed")) {
        snprintf(key->seed, sizeof key->seed, "%s", value);
        return;
    }
    key->hash = weft__hash_text(key->hash, path);
    key->hash = weft__hash_text(key->hash, value);
    hash_file(key, value);
}

// --- the folder ---------------------------------------------------------------------------------------------------

/// The folder of a sweep without --out. It is in the cache, where the same sweep finds it after a kill and continues;
/// without a cache it is temporary, and removed at the end.
static const char *passing_folder(struct sweep *s, uint64_t hash) {
    const char *cache = weft_cli_cache(s->o->arena), *temporary = getenv("TMPDIR");
    struct weft_error ignored = {0};
    char *folder = cache ? weft_arena_format(s->o->arena, "%s/sweep-%016" PRIx64, cache, hash) : NULL;
    if (folder && !weft_report_folder(folder, &ignored)) {
        s->lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (s->lock >= 0 && !flock(s->lock, LOCK_EX | LOCK_NB)) return folder;
        if (s->lock >= 0) close(s->lock); // the same sweep is running at this moment
        s->lock = -1;
    }
    folder = weft_arena_format(s->o->arena, "%s/weft-sweep-XXXXXX", temporary ? temporary : "/tmp");
    return mkdtemp(folder);
}

static enum weft_status find_folder(struct sweep *s, uint64_t hash, struct weft_error *ret_error) {
    if (s->folder) return WEFT_OK; // of the estimates before
    s->lock = -1;
    s->passing = !s->o->out;
    s->folder = s->o->out ? weft_arena_format(s->o->arena, "%s/runs", s->o->out) : passing_folder(s, hash);
    if (s->folder) return WEFT_OK;
    return weft_error_set(ret_error, WEFT_ERROR_SYSTEM, WEFT_NOWHERE, "cannot make a folder for the runs: %s",
                          strerror(errno));
}

// --- points -------------------------------------------------------------------------------------------------------

/// Hashes the runs of a point into `hash` [seeds], and determines the seed of each.
static enum weft_status bind_point(struct sweep *s, uint32_t point, uint64_t program, uint64_t *hash,
                                   struct weft_error *ret_error) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_SCENARIO);
    WEFT_ENDS(weft_scenario_end) struct weft_scenario *scenario = NULL;
    const struct weft_scenario_file *file = weft_sweep_file(s->plan, point, WEFT_NONE, arena);
    WEFT_TRY(weft_scenario_new(file, s->plan->point[point].variant, &scenario, ret_error));
    struct key key = {.hash = program, .path = scenario->path, .contents = &s->contents, .arena = s->o->arena};
    weft_scenario_each(scenario, add_value, &key);
    if (s->fluid && s->fluid[point]) key.hash = weft__hash_text(key.hash, "estimate");
    for (uint32_t k = 0; k < s->plan->seeds; k++) {
        char seed[24];
        snprintf(seed, sizeof seed, "%" PRIu64, s->plan->seed ? s->plan->seed[k] : scenario->run.seed);
        hash[k] = weft__hash_text(key.hash, seed);
        s->r.run[(size_t)point * s->plan->seeds + k].seed = strtoull(seed, NULL, 10);
    }
    if (!point) {
        s->r.name = weft_arena_text(s->o->arena, scenario->name);
        s->r.about = weft_arena_text(s->o->arena, scenario->about);
    }
    return WEFT_OK;
}

void sweep_load(struct sweep *s, uint32_t run) {
    uint64_t seed = s->r.run[run].seed;
    s->r.run[run] = weft_sweep_load(s->record[run], s->r.column, s->r.columns, s->o->arena);
    s->r.run[run].seed = seed;
}

bool sweep_is_due(const struct sweep *s, uint32_t run) {
    const struct weft_sweep_run *r = &s->r.run[run];
    if (sweep_is_fluid(s, run) && s->refused[run]) return !s->falls_back;
    bool there = r->state == WEFT_SWEEP_DONE || r->state == WEFT_SWEEP_STALLED;
    if (there && s->kept && !weft_sweep_run_kept(r, s->kept)) return true; // of a plain sweep
    return !there || !weft_sweep_run_has(r, s->r.metric, s->r.metrics);
}

/// The metrics known to be measured by some run; it is all right if another variant does not measure them.
struct check {
    bool *known;
    bool any;                  ///< some run was built
    struct weft_error missing; ///< for the run built last
};

static void check_metrics(const struct sweep *s, const struct weft_cli_simulation *sim, uint32_t variant,
                          struct check *check) {
    check->any = true;
    check->missing = (struct weft_error){0};
    for (uint32_t i = 0; i < s->r.metrics; i++) {
        struct weft_claim_metric path = s->metric[i].path;
        path.variant = variant;
        struct weft_claim claim = {
            .that = s->metric[i].name, .metrics = 1, .metric = &path, .place = s->metric[i].place};
        struct weft_cli_claims one = {.claim = &claim, .n = 1};
        if (!check->known[i]) check->known[i] = !weft_cli_claims_check(&one, variant, sim, &check->missing);
    }
}

/// Everything of a run short of running it.
static enum weft_status build_run(struct sweep *s, uint32_t run, struct check *check, struct weft_error *ret_error) {
    uint32_t point = run / s->plan->seeds, variant = s->plan->point[point].variant;
    WEFT_SCRATCH(arena, WEFT_MEMORY_SCENARIO);
    WEFT_ENDS(weft_cli_simulation_deinit) struct weft_cli_simulation sim = {0};
    const struct weft_scenario_file *file = weft_sweep_file(s->plan, point, run % s->plan->seeds, arena);
    enum weft_status status = weft_cli_simulation_init(&sim, file, variant, ret_error);
    if (!status) {
        s->cost[point] = weft_cli_cost_s(&sim);
        check_metrics(s, &sim, variant, check);
    } else if (status == WEFT_ERROR_INPUT) {
        size_t used = strlen(ret_error->text);
        snprintf(ret_error->text + used, sizeof ret_error->text - used, ", in %s", sweep_run_name(s, run));
    }
    return status;
}

double sweep_cost_of(const struct sweep *s, uint32_t point) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_SCENARIO);
    WEFT_ENDS(weft_cli_simulation_deinit) struct weft_cli_simulation sim = {0};
    struct weft_error ignored = {0};
    const struct weft_scenario_file *file = weft_sweep_file(s->plan, point, 0, arena);
    return weft_cli_simulation_init(&sim, file, s->plan->point[point].variant, &ignored) ? 0 : weft_cli_cost_s(&sim);
}

/// Builds the points that have a run to do, so that errors in any of them are reported before one has run. A metric
/// that they do not measure may exist with another seed: in a group whose flows are drawn.
static enum weft_status build_points(struct sweep *s, struct weft_error *ret_error) {
    struct check check = {.known = weft_arena_alloc(s->o->arena, s->r.metrics + 1, sizeof(bool))};
    for (uint32_t i = 0; i < s->owned; i++) {
        uint32_t run = s->own[i];
        if (!(s->cost[run / s->plan->seeds] > 0) && sweep_is_due(s, run))
            WEFT_TRY(build_run(s, run, &check, ret_error));
    }
    for (uint32_t k = 1; k < s->plan->seeds && check.any && check.missing.status; k++)
        WEFT_TRY(build_run(s, k, &check, ret_error));
    if (check.any && check.missing.status) {
        *ret_error = check.missing;
        WEFT_TRY(check.missing.status);
    }
    return WEFT_OK;
}

static int by_hash(const void *a, const void *b, void *context) {
    const uint64_t *hash = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return hash[x] != hash[y] ? (hash[x] > hash[y]) - (hash[x] < hash[y]) : (x > y) - (x < y);
}

/// Equal runs (two variants without a difference) become one, the first of them, so that no two tasks write the same
/// file.
static void share_out(struct sweep *s, uint64_t *hash, uint32_t runs) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    uint32_t *order = weft_arena_alloc(arena, runs, sizeof *order);
    bool *again = weft_arena_alloc(arena, runs, sizeof *again);
    for (uint32_t i = 0; i < runs; i++)
        order[i] = i;
    qsort_r(order, runs, sizeof *order, by_hash, hash);
    for (uint32_t i = 1; i < runs; i++)
        again[order[i]] = hash[order[i]] == hash[order[i - 1]];
    s->owned = 0;
    s->own = weft_arena_alloc(s->o->arena, runs, sizeof *s->own);
    for (uint32_t i = 0, n = 0; i < runs; i++)
        if (!again[i] && n++ % s->share.tasks == s->share.task) s->own[s->owned++] = i;
}

void sweep_begin(struct sweep *s, const char *path) {
    s->r.path = path;
    s->r.commit = weft_cli_commit;
    s->r.setting = s->o->setting;
    s->r.settings = s->o->settings;
    s->r.column = weft_sweep_columns(s->o->arena, &s->r.columns);
}

bool sweep_is_quantile(const char *text, size_t length) {
    static const char *const quantiles[] = {"p50", "p95", "p99", "mean", "max"};
    bool is = false;
    for (unsigned i = 0; i < sizeof quantiles / sizeof *quantiles; i++)
        is |= length == strlen(quantiles[i]) && !strncmp(text, quantiles[i], length);
    return is;
}

enum weft_status sweep_metric_in_full(const char *option, const struct weft_cli_options *o,
                                      const struct weft_scenario_file *file, const char **text,
                                      struct weft_error *ret_error) {
    size_t n = strcspn(*text, ":");
    bool job = n == strlen("iteration") && !strncmp(*text, "iteration", n);
    if (!job && !sweep_is_quantile(*text, n)) return WEFT_OK;
    struct weft_cli_simulation sim = {0};
    enum weft_status status = weft_cli_simulation_init(&sim, file, 0, ret_error);
    if (!status) {
        const struct weft_workload *w = sim.workload;
        const char *names = "";
        uint32_t groups = job ? w->jobs : w->groups;
        for (uint32_t i = 0; i < groups; i++)
            names = weft_arena_format(o->arena, "%s%s%s", names, i ? ", " : "", w->group[job ? w->job[i].group : i]);
        if (groups != 1)
            status = WEFT_REFUSE(ret_error, WEFT_NOWHERE, "%s: names no %s; expected one, as in %s; there is %s",
                                 option, job ? "job" : "group", job ? "jobs.NAME.iteration_ps" : "NAME.fct.p99",
                                 *names ? names : "none");
        else if (job)
            *text = weft_arena_format(o->arena, "jobs.%s.iteration_ps%s", names, *text + n);
        else
            *text = weft_arena_format(o->arena, "%s.fct.%s", names, *text);
    }
    weft_cli_simulation_deinit(&sim);
    return status;
}

void sweep_own(struct sweep *s, uint32_t point, uint32_t seeds) {
    enum { COMPARED = 2000 }; // with more points, equal ones run more than once
    for (uint32_t k = 0; k < seeds; k++) {
        uint32_t run = point * s->plan->seeds + k;
        bool again = false;
        for (uint32_t j = 0; j < s->owned && !again && s->plan->points < COMPARED; j++)
            again = !strcmp(s->record[s->own[j]], s->record[run]);
        if (!again) s->own[s->owned++] = run;
    }
}

enum weft_status sweep_build(struct sweep *s, struct weft_error *ret_error) {
    WEFT_TRY(build_points(s, ret_error));
    if (s->o->out) WEFT_TRY(weft_cli_out_folder(s->o, s->share.tasks > 1, false, ret_error));
    return weft_report_folder(s->folder, ret_error);
}

enum weft_status sweep_prepare(struct sweep *s, bool build, struct weft_error *ret_error) {
    struct weft_arena *arena = s->o->arena;
    uint32_t runs = s->plan->points * s->plan->seeds;
    s->r.sweep = s->plan;
    uint64_t program = weft_cli_program_hash(WEFT__HASH_START), all = program;
    uint64_t *hash = weft_arena_alloc(arena, runs, sizeof *hash);
    s->r.run = weft_arena_alloc(arena, runs, sizeof *s->r.run);
    s->record = weft_arena_alloc(arena, runs, sizeof *s->record);
    s->cost = weft_arena_alloc(arena, s->plan->points, sizeof *s->cost);
    enum weft_status status = WEFT_OK;
    for (uint32_t p = 0; p < s->plan->points && !status; p++)
        status = bind_point(s, p, program, &hash[(size_t)p * s->plan->seeds], ret_error);
    for (uint32_t i = 0; i < runs; i++)
        all = weft__hash(all, &hash[i], sizeof hash[i]);
    if (!status) status = find_folder(s, all, ret_error);
    if (status) return status;
    for (uint32_t i = 0; i < runs; i++) {
        s->record[i] = weft_arena_format(arena, "%s/%016" PRIx64 ".sqlite", s->folder, hash[i]);
        sweep_load(s, i);
    }
    share_out(s, hash, runs);
    if (s->merge && s->o->out) return weft_cli_out_folder(s->o, false, false, ret_error);
    return build ? sweep_build(s, ret_error) : WEFT_OK;
}
