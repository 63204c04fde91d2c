// SPDX-License-Identifier: Apache-2.0
// weft plan sonic: what is wrong with the configuration of a SONiC switch, and a patch for it.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "plan.h"
#include "simulation.h"
#include "weft/plan_sonic.h"

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
    .accept = WEFT_CLI_REPLACE | WEFT_CLI_JSON,
    .operands_min = 1,
    .operands_max = 64,
    .option = own,
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
    if (!status) status = weft_topology_new(&s->topology, s->topology_tree, s->events_tree, s->arena, &t, ret_error);
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
    weft_scenario_free(s);
    weft_scenario_file_free(file);
    return status;
}

// --- output -------------------------------------------------------------------------------------------------------

static bool is_first(const struct weft_sonic_finding *f, uint32_t i, uint32_t k) {
    for (uint32_t a = 0; a <= i; a++)
        for (uint32_t b = 0; b < (a == i ? k : f[a].changes); b++)
            if (!strcmp(f[a].change[b].pointer, f[i].change[k].pointer)) return false;
    return true;
}

/// According to RFC 6902, section 4, readers ignore unknown members: here the reason of each operation.
static void json_patch(struct weft__json *j, const struct weft_sonic_finding *f, uint32_t findings) {
    weft__json_begin_array(j);
    for (uint32_t i = 0; i < findings; i++)
        for (uint32_t k = 0; k < f[i].changes; k++) {
            if (!is_first(f, i, k)) continue;
            weft__json_begin_object(j);
            weft__json_key_string(j, "op", f[i].change[k].there ? "replace" : "add");
            weft__json_key_string(j, "path", f[i].change[k].pointer);
            weft__json_key_string(j, "value", f[i].change[k].value);
            weft__json_key_string(j, "reason", f[i].reason);
            weft__json_end_object(j);
        }
    weft__json_end_array(j);
}

static void json_list(struct weft__json *j, const char *key, const struct weft_sonic_finding *f, uint32_t findings,
                      bool notes) {
    weft__json_key(j, key);
    weft__json_begin_array(j);
    for (uint32_t i = 0; i < findings; i++) {
        if (f[i].note != notes) continue;
        weft__json_begin_object(j);
        weft__json_key_string(j, "rule", weft_sonic_rule_names[f[i].rule]);
        weft__json_key_string(j, "where", f[i].where);
        weft__json_key_u64(j, "ports", f[i].ports);
        weft__json_key_string(j, "reason", f[i].reason);
        weft__json_key_string(j, "source", weft_sonic_rule_sources[f[i].rule]);
        weft__json_key_bool(j, "patch", f[i].changes != 0);
        weft__json_end_object(j);
    }
    weft__json_end_array(j);
}

static void print_json(const char *path, const struct weft_sonic_finding *f, uint32_t findings) {
    struct weft__json j = {.file = stdout};
    weft__json_begin_object(&j);
    weft__json_key_string(&j, "plan", "sonic");
    weft__json_key_string(&j, "file", path);
    json_list(&j, "findings", f, findings, false);
    json_list(&j, "notes", f, findings, true);
    weft__json_key(&j, "patch");
    json_patch(&j, f, findings);
    weft__json_end_object(&j);
    putchar('\n');
}
static uint32_t count_notes(const struct weft_sonic_finding *f, uint32_t findings) {
    uint32_t notes = 0;
    for (uint32_t i = 0; i < findings; i++)
        notes += f[i].note;
    return notes;
}

static void print_finding(const struct weft_sonic_finding *f) {
    printf("%-9s  %s", f->note ? "note" : weft_sonic_rule_names[f->rule], f->where);
    if (f->ports > 1) printf("  (%s)", weft__counted(f->ports, "port").text);
    printf("\n           %s\n", f->reason);
    for (uint32_t k = 0; k < f->changes; k++)
        printf("           patch: %s = %s\n", f->change[k].pointer, f->change[k].value);
    if (!f->changes && !f->note) printf("           no patch\n");
    printf("           source: %s\n", weft_sonic_rule_sources[f->rule]);
}

static void print_text(const struct weft_sonic *s, const struct weft_sonic_finding *f, uint32_t findings) {
    uint32_t mended = 0, notes = count_notes(f, findings);
    for (uint32_t i = 0; i < findings; i++) {
        mended += f[i].changes != 0;
        print_finding(&f[i]);
    }
    printf("%s, %s, %" PRIu32 " of them with a patch", weft__counted(s->ports, "port").text,
           weft__counted(findings - notes, "finding").text, mended);
    if (notes) printf("; %s", weft__counted(notes, "note").text);
    putchar('\n');
}

struct patch {
    const struct weft_sonic_finding *f;
    uint32_t findings;
};

static void write_patch(FILE *file, const void *context) {
    const struct patch *patch = context;
    struct weft__json j = {.file = file};
    json_patch(&j, patch->f, patch->findings);
    fputc('\n', file);
}

static int judge_sonic(const struct weft_cli_options *o, struct weft_error *ret_error) {
    struct weft_plan_pfc_conf base = {0};
    struct weft_sonic *s = NULL;
    struct weft_sonic_lookup *lookup = NULL;
    uint32_t findings = 0;
    enum weft_status status = patch_file ? weft_cli_can_write_file("--patch", patch_file, o, ret_error) : WEFT_OK;
    if (!status) status = load_base(&base, true, o->arena, ret_error);
    if (!status && scenario_file) status = load_scenario(&base, ret_error);
    if (!status) status = load_base(&base, false, o->arena, ret_error);
    if (!status && profiles_file) status = weft_sonic_lookup_read(profiles_file, o->arena, &lookup, ret_error);
    if (!status)
        status = weft_sonic_read((const char *const *)o->operand, o->operands, lookup, o->arena, &s, ret_error);
    if (status) return (int)status;
    const struct weft_sonic_finding *f = weft_plan_sonic(s, &base, o->arena, &findings);
    if (patch_file) status = weft_cli_replace_file(patch_file, write_patch, &(struct patch){f, findings}, ret_error);
    if (status) return (int)status;
    if (patch_file) weft_cli_mention_file(patch_file, o);
    if (o->json)
        print_json(o->operand[0], f, findings);
    else
        print_text(s, f, findings);
    return findings > count_notes(f, findings) ? WEFT_ERROR_CLAIM : WEFT_OK;
}

int plan_sonic(int argc, char **argv) {
    struct weft_cli_options o;
    struct weft_error error = {0};
    int status = weft_cli_parse(&command, argc, argv, &o);
    if (status == WEFT_CLI_GO) {
        status = judge_sonic(&o, &error);
        if (*error.text) status = weft_cli_fail(&error);
    }
    weft_cli_options_deinit(&o);
    return status;
}
