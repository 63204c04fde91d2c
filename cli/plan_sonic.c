// SPDX-License-Identifier: Apache-2.0
// weft plan sonic: what is wrong with the configuration of a SONiC switch, and a patch for it.
#include <inttypes.h>
#include <stdio.h>

#include "plan.h"
#include "simulation.h"
#include "weft/param.h"
#include "weft/plan_sonic.h"

#include "base/json.h"
#include "base/param.h"
#include "base/units.h"

static const char *patch_file, *scenario_file, *profiles_file, *given[4];
static const char *const rows[] = {"formula", "processing", "mtu", "phy"};
static const struct weft_cli_option own[] = {
    {"patch", "FILE", "write what mends the findings to FILE, as a JSON patch (RFC 6902)", &patch_file, NULL},
    {"scenario", "FILE", "take MTU, processing, reaction and missing cables from the links to switches of a scenario",
     &scenario_file, NULL},
    {"profiles", "FILE", "pg_profile_lookup.ini of the device, for profiles that SONiC computes", &profiles_file, NULL},
    {"formula", "NAME", "of the headroom: bound, study or sonic (default bound)", &given[0], NULL},
    {"processing", "TIME", "of the switch, from the last bit of a frame to its buffer (default 300ns)", &given[1],
     NULL},
    {"mtu", "SIZE", "payload of a full packet (default 4096B); the port's MTU is in the file", &given[2], NULL},
    {"phy", "TIME", "delay of both PHYs of a link together, one way (default 0ns; bound)", &given[3], NULL},
    {0},
};
static const struct weft_cli_command command = {
    .name = "plan sonic",
    .operands = "CONFIG_DB.JSON ...",
    .about = "Judges the configuration of a SONiC switch, from config_db.json, its parts (qos.json buffers.json "
             "ports.json)\n"
             "or CONFIG_DB.json of show techsupport: headroom for cables and speeds, thresholds against pools, ECN\n"
             "below XOFF, maps against PFC, times of the watchdog. Each finding has its reason and the rule's source.\n"
             "A finding without a patch needs a decision. docs/plan.md says what is judged.\n"
             "Exit status: 0 nothing found, 2 bad input, 5 findings.",
    .accept = WEFT_CLI_REPLACE,
    .operands_min = 1,
    .operands_max = 64,
    .option = own,
    .answer = &weft__answer_plan_sonic,
};

static enum weft_status load_base(struct weft_plan_pfc_conf *base, bool defaults, struct weft_arena *arena,
                                  struct weft_error *ret_error) {
    enum weft_status status = WEFT_OK;
    const struct weft_param_table *table = &weft_plan_pfc_table;
    for (uint32_t i = 0; i < table->n && !status && defaults; i++)
        if (table->rows[i].dflt)
            status = weft_param_parse(&table->rows[i], table->rows[i].dflt, WEFT_NOWHERE, base, arena, ret_error);
    for (uint32_t k = 0; k < 4 && !status; k++)
        if (given[k])
            status = weft__param_parse_at(weft_param_find(table, rows[k]), given[k], WEFT_NOWHERE,
                                          weft_arena_format(arena, "--%s", rows[k]), base, arena, ret_error);
    return status;
}

/// The largest values among links to switches of the first variant.
static enum weft_status load_scenario(struct weft_plan_pfc_conf *base, struct weft_error *ret_error) {
    struct weft_scenario_file *file = NULL;
    struct weft_scenario *s = NULL;
    struct weft_topology *t;
    enum weft_status status = weft_scenario_file_read(scenario_file, NULL, 0, &file, ret_error);
    if (!status) status = weft_scenario_new(file, 0, &s, ret_error);
    if (!status) status = weft_scenario_topology(s, s->arena, &t, ret_error);
    uint32_t lines = 0;
    const struct weft_plan_pfc_conf start = *base;
    const struct weft_plan_line *line = status ? NULL : weft_plan_scenario_lines(s, t, &start, s->arena, &lines);
    base->processing_ps = lines ? 0 : base->processing_ps;
    for (uint32_t l = 0; l < lines; l++) {
        const struct weft_plan_pfc_conf *c = &line[l].pfc;
        if (c->processing_ps > base->processing_ps) base->processing_ps = c->processing_ps;
        if (c->delay_ps > base->delay_ps) base->delay_ps = c->delay_ps;
        if (base->reaction_ps == WEFT_TIME_NEVER || c->reaction_ps > base->reaction_ps)
            base->reaction_ps = c->reaction_ps;
        base->mtu_bytes = c->mtu_bytes;
        base->framing_bytes = c->framing_bytes;
    }
    return status;
}

// --- output -------------------------------------------------------------------------------------------------------

static void print_finding(const struct weft_sonic_finding *f) {
    printf("%-9s  %s", f->note ? "note" : f->name, f->where);
    if (f->ports > 1) printf("  (%s)", weft__counted(f->ports, "port").text);
    printf("\n           %s\n", f->reason);
    for (uint32_t k = 0; k < f->changes; k++)
        printf("           patch: %s = %s\n", f->change[k].pointer, f->change[k].value);
    if (!f->changes && !f->note) printf("           no patch\n");
    printf("           source: %s\n", f->source);
}

static void print_text(FILE *file, const void *subject) {
    const struct weft_sonic_judgement *s = subject;
    for (uint32_t i = 0; i < s->findings; i++)
        print_finding(&s->finding[i]);
    printf("%s, %s", weft__counted(s->ports, "port").text, weft__counted(s->findings - s->notes, "finding").text);
    if (s->findings > s->notes) printf(", %" PRIu32 " with a patch", s->patched);
    if (s->notes) printf("; %s", weft__counted(s->notes, "note").text);
    putchar('\n');
}

static void write_patch(FILE *file, const void *judgement) {
    struct weft__json j = {.file = file};
    weft_answer_json_table(&j, &weft__answer_plan_sonic, weft_answer_table(&weft__answer_plan_sonic, "patch"),
                           judgement);
    fputc('\n', file);
}

static int judge_files(const struct weft_cli_options *o, struct weft_error *ret_error) {
    struct weft_plan_pfc_conf base = {0};
    struct weft_sonic *s = NULL;
    struct weft_sonic_lookup *lookup = NULL;
    enum weft_status status = patch_file ? weft_cli_can_write_file("--patch", patch_file, o, ret_error) : WEFT_OK;
    if (!status) status = load_base(&base, true, o->arena, ret_error);
    if (!status && scenario_file) status = load_scenario(&base, ret_error);
    if (!status) status = load_base(&base, false, o->arena, ret_error);
    if (!status && profiles_file) status = weft_sonic_lookup_read(profiles_file, o->arena, &lookup, ret_error);
    if (!status)
        status = weft_sonic_read((const char *const *)o->operand, o->operands, lookup, o->arena, &s, ret_error);
    if (status) return (int)status;
    const struct weft_sonic_judgement found = weft_plan_sonic_judge(s, &base, o->operand[0], o->arena);
    if (patch_file) status = weft_cli_replace_file(patch_file, write_patch, &found, ret_error);
    if (patch_file && !status) weft_cli_mention_file(patch_file, o);
    if (!status) status = weft_cli_answer(o, &weft__answer_plan_sonic, &found, print_text, ret_error);
    if (status) return (int)status;
    return found.findings > found.notes ? WEFT_ERROR_CLAIM : WEFT_OK;
}

int plan_sonic(int argc, char **argv) {
    struct weft_cli_options o;
    struct weft_error error = {0};
    int status = weft_cli_parse(&command, argc, argv, &o);
    if (status == WEFT_CLI_GO) {
        status = judge_files(&o, &error);
        if (*error.text) status = weft_cli_fail(&error);
    }
    return status;
}
