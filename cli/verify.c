// SPDX-License-Identifier: Apache-2.0
// weft verify: the claims of many scenarios. Every variant that a claim names runs in a process of its own, `weft run
// --json`, several at a time; the claims are judged here.
#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/stream.h"
#include "claims.h"
#include "verify.h"

static const char *jobs_text, *seeds_text;
static const struct weft_cli_option own[] = {
    {"jobs", "N", "runs at a time (default: as many as there are processors)", &jobs_text, NULL},
    {"seeds", "LIST", "run everything with each of these seeds, such as 1..5: which claims hold with how many",
     &seeds_text, NULL},
    {0}};

static const struct weft_cli_command command = {
    .name = "verify",
    .operands = "DIR|SCENARIO...",
    .about =
        "Runs what the claims of scenarios are about and says which hold. DIR: every .yaml file in it and below;\n"
        "those without claims are left out. A claim with `expected: no` that does not hold is a finding.\n"
        "Exit status: 0 as expected, 1 system error, 2 bad input (nothing was run), 3 bytes not conserved (a bug),\n"
        "4 a variant stalled, 5 a claim turned out other than expected.",
    .accept = WEFT_CLI_SET | WEFT_CLI_THREADS | WEFT_CLI_JSON | WEFT_CLI_QUIET,
    .operands_min = 1,
    .operands_max = UINT32_MAX,
    .option = own,
};

enum { DEPTH_MAX = 16 };

/// The settings of the user's, and the seed, if it is given.
static struct verified *new_scenario(const struct verify *v, const char *path, const uint64_t *seed) {
    struct weft_arena *arena = v->o->arena;
    struct verified *s = weft_arena_alloc(arena, 1, sizeof *s);
    s->path = weft_arena_text(arena, path);
    s->setting = weft_arena_alloc(arena, v->o->settings + 1, sizeof *s->setting);
    for (; s->settings < v->o->settings; s->settings++)
        s->setting[s->settings] = v->o->setting[s->settings];
    if (!seed) return s;
    s->seed = *seed;
    s->setting[s->settings++] = weft_arena_format(arena, "run.seed=%llu", (unsigned long long)*seed);
    return s;
}

static enum weft_status add_once(struct verify *v, const char *path, const uint64_t *seed,
                                 struct weft_error *ret_error) {
    struct verified *s = new_scenario(v, path, seed);
    enum weft_status status = weft_scenario_file_read(path, s->setting, s->settings, &s->file, ret_error);
    if (status) return status;
    if (!weft_scenario_claims(s->file)) {
        weft_scenario_file_free(s->file);
        v->without += !seed || seed == v->seed;
        return WEFT_OK;
    }
    *v->last = s;
    v->last = &s->next;
    return weft_cli_claims_init(&s->claims, s->file, v->o->arena, ret_error);
}

static enum weft_status add_file(struct verify *v, const char *path, struct weft_error *ret_error) {
    if (!v->seeds) return add_once(v, path, NULL, ret_error);
    enum weft_status status = WEFT_OK;
    for (uint32_t i = 0; i < v->seeds && !status; i++)
        status = add_once(v, path, &v->seed[i], ret_error);
    return status;
}

static int is_scenario_or_folder(const struct dirent *entry) {
    return *entry->d_name != '.';
}

static bool is_yaml(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot && (!strcmp(dot, ".yaml") || !strcmp(dot, ".yml"));
}

static enum weft_status add_path(struct verify *v, const char *path, uint32_t depth, struct weft_error *ret_error);

static enum weft_status add_folder(struct verify *v, const char *path, uint32_t depth, struct weft_error *ret_error) {
    struct dirent **entry;
    int n = scandir(path, &entry, is_scenario_or_folder, alphasort);
    if (n < 0 && errno == ENOMEM) weft_memory_fail();
    if (n < 0)
        return weft_error_set(ret_error, WEFT_ERROR_INPUT, WEFT_NOWHERE, "cannot read '%s': %s", path, strerror(errno));
    enum weft_status status = WEFT_OK;
    for (int i = 0; i < n; i++) {
        size_t length = strlen(path);
        while (length > 1 && path[length - 1] == '/')
            length--;
        const char *below = weft_arena_format(v->o->arena, "%.*s/%s", (int)length, path, entry[i]->d_name);
        if (!status && depth < DEPTH_MAX) status = add_path(v, below, depth + 1, ret_error);
        free(entry[i]);
    }
    free(entry);
    return status;
}

/// What the user names himself is read whatever it is called.
static enum weft_status add_path(struct verify *v, const char *path, uint32_t depth, struct weft_error *ret_error) {
    struct stat info;
    if (!stat(path, &info) && S_ISDIR(info.st_mode)) return add_folder(v, path, depth, ret_error);
    return !depth || is_yaml(path) ? add_file(v, path, ret_error) : WEFT_OK;
}

static struct verify_task *add_task(struct verify *v, struct verified *s, uint32_t variant) {
    struct verify_task *t = weft_arena_alloc(v->o->arena, 1, sizeof *t);
    *t = (struct verify_task){.scenario = s, .variant = variant};
    *v->last_task = t;
    v->last_task = &t->next;
    s->variants++;
    v->tasks++;
    return t;
}

/// Everything about a scenario short of running it.
static enum weft_status prepare(struct verify *v, struct verified *s, struct weft_error *ret_error) {
    enum weft_status status = WEFT_OK;
    for (uint32_t i = 0; i < weft_scenario_variants(s->file) && !status; i++) {
        if (!weft_cli_claims_name(&s->claims, i)) continue;
        struct weft_cli_simulation sim = {0};
        status = weft_cli_simulation_init(&sim, s->file, i, ret_error);
        if (!status) status = weft_cli_claims_check(&s->claims, i, &sim, ret_error);
        if (!status && !s->name) s->name = weft_arena_text(v->o->arena, sim.scenario->name);
        weft_cli_simulation_deinit(&sim);
        add_task(v, s, i);
    }
    return status;
}

static struct weft_claim_counts counts_of(const struct verified *s) {
    struct weft_claim_counts none = {0};
    return s->status && s->status != WEFT_ERROR_STALL ? none : weft_report_claim_counts(s->claims.result, s->claims.n);
}

static void print_row(const char *name, int width, uint32_t variants, uint32_t claims, struct weft_claim_counts c,
                      const char *note) {
    printf("%-*s %8u %7u %7u %9u %11u%s\n", width, name, variants, claims, c.hold, c.findings, c.unexpected, note);
}

static void print_table(const struct verify *v) {
    int width = 8;
    for (const struct verified *s = v->first; s; s = s->next)
        if ((int)strlen(s->path) > width) width = (int)strlen(s->path);
    printf("%-*s %8s %7s %7s %9s %11s\n", width, "scenario", "variants", "claims", "hold", "findings", "unexpected");
    struct weft_claim_counts all = {0};
    uint32_t variants = 0, claims = 0;
    for (const struct verified *s = v->first; s; s = s->next) {
        struct weft_claim_counts c = counts_of(s);
        print_row(s->path, width, s->variants, s->claims.n, c, s->status ? "  FAILED" : "");
        all.hold += c.hold;
        all.findings += c.findings;
        all.unexpected += c.unexpected;
        variants += s->variants;
        claims += s->claims.n;
    }
    print_row("all", width, variants, claims, all, "");
    if (v->without) printf("\n%u file%s without claims left out\n", v->without, v->without == 1 ? "" : "s");
}

/// Findings, then what is unexpected, so that the worst stands last.
static void print_claims(const struct verify *v, bool unexpected) {
    for (const struct verified *s = v->first; s; s = s->next) {
        bool named = false;
        for (uint32_t i = 0; i < s->claims.n; i++) {
            const struct weft_claim_result *r = &s->claims.result[i];
            if (s->status && s->status != WEFT_ERROR_STALL) continue;
            if (weft_report_claim_counts(r, 1).unexpected != unexpected || (!unexpected && r->holds)) continue;
            if (!named) printf("\n%s\n", s->path);
            named = true;
            weft_report_claim(stdout, r);
        }
    }
}

static json_t *json_of(const struct verify *v, const struct verified *s) {
    struct weft__text_stream stream;
    FILE *file = weft__text_stream_open(&stream);
    weft_report_json_claims(file, s->claims.result, s->claims.n);
    const char *text = weft__text_stream_text(&stream);
    json_t *object = json_loadb(text, stream.size, 0, NULL);
    weft__text_stream_free(&stream);
    struct weft_claim_counts c = counts_of(s);
    json_object_set_new(object, "path", json_string(s->path));
    json_object_set_new(object, "scenario", json_string(s->name ? s->name : ""));
    if (v->seeds) json_object_set_new(object, "seed", json_integer((json_int_t)s->seed));
    json_object_set_new(object, "variants", json_integer(s->variants));
    json_object_set_new(object, "status", json_integer(s->status));
    json_object_set_new(object, "hold", json_integer(c.hold));
    json_object_set_new(object, "findings", json_integer(c.findings));
    json_object_set_new(object, "unexpected", json_integer(c.unexpected));
    return object;
}

static void print_json(const struct verify *v) {
    json_t *list = json_array(), *root = json_object();
    for (const struct verified *s = v->first; s; s = s->next)
        json_array_append_new(list, json_of(v, s));
    json_object_set_new(root, "scenarios", list);
    json_dumpf(root, stdout, JSON_COMPACT | JSON_REAL_PRECISION(17));
    putchar('\n');
    json_decref(root);
}

/// Claims can be judged when every run has ended by itself, stalled or not.
static enum weft_status judge(const struct verify *v) {
    static const enum weft_status by_gravity[] = {WEFT_ERROR_CONSERVATION, WEFT_ERROR_SYSTEM, WEFT_ERROR_INPUT,
                                                  WEFT_ERROR_STALL, WEFT_ERROR_CLAIM};
    bool met[WEFT_ERROR_CLAIM + 1] = {0};
    for (struct verified *s = v->first; s; s = s->next) {
        met[s->status] = true;
        if (s->status && s->status != WEFT_ERROR_STALL) continue;
        met[weft_cli_claims_judge(&s->claims)] = true;
    }
    met[WEFT_ERROR_CLAIM] |= verify_seeds_unexpected(v);
    for (unsigned i = 0; i < sizeof by_gravity / sizeof *by_gravity; i++)
        if (met[by_gravity[i]]) return by_gravity[i];
    return WEFT_OK;
}

static enum weft_status read_all(struct verify *v, struct weft_error *ret_error) {
    enum weft_status status = WEFT_OK;
    for (uint32_t i = 0; i < v->o->operands && !status; i++)
        status = add_path(v, v->o->operand[i], 0, ret_error);
    for (struct verified *s = v->first; s && !status; s = s->next)
        status = prepare(v, s, ret_error);
    if (!status && !v->first)
        status = weft_error_set(ret_error, WEFT_ERROR_INPUT, WEFT_NOWHERE, "no scenario with claims in '%s'%s",
                                v->o->operand[0], v->o->operands > 1 ? " and the others" : "");
    return status;
}

static enum weft_status verify(struct verify *v, struct weft_error *ret_error) {
    uint64_t jobs;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    v->jobs = processors > 0 ? (uint32_t)processors : 1;
    if (jobs_text) {
        if (!weft_cli_number("--jobs", jobs_text, 1, 1024, &jobs)) return WEFT_ERROR_INPUT;
        v->jobs = (uint32_t)jobs;
    }
    if (seeds_text && !verify_seeds_parse(v, seeds_text)) return WEFT_ERROR_INPUT;
    enum weft_status status = read_all(v, ret_error);
    if (!status) status = verify_run(v, ret_error);
    if (status) return status;
    status = judge(v);
    if (v->o->json) {
        print_json(v);
    } else if (v->seeds) {
        verify_seeds_print(v);
    } else {
        print_table(v);
        print_claims(v, false);
        print_claims(v, true);
    }
    return status;
}

int weft_cli_verify(int argc, char **argv) {
    struct weft_cli_options o;
    struct weft_error error = {0};
    int exit_status = weft_cli_parse(&command, argc, argv, &o);
    struct verify v = {.o = &o, .last = &v.first, .last_task = &v.task};
    if (exit_status == WEFT_CLI_GO) {
        exit_status = (int)verify(&v, &error);
        if (error.status) weft_cli_fail(&error);
    }
    for (struct verified *s = v.first; s; s = s->next)
        weft_scenario_file_free(s->file);
    weft_cli_options_deinit(&o);
    return exit_status;
}
