// SPDX-License-Identifier: Apache-2.0
// Tables of weft plan sonic: findings, notes, and the patch.
#include <string.h>

#include "weft/plan_sonic.h"
#include "weft/result.h"

/// Whether an earlier finding, or an earlier change of this one, already has this change.
static bool is_repeated(const struct weft_sonic_judgement *s, const char *pointer) {
    for (uint32_t i = 0; i < s->operations; i++)
        if (!strcmp(s->operation[i].path, pointer)) return true;
    return false;
}

struct weft_sonic_judgement weft_plan_sonic_judge(const struct weft_sonic *sonic, const struct weft_plan_pfc_conf *base,
                                                  const char *file, struct weft_arena *arena) {
    struct weft_sonic_judgement s = {.plan = "sonic", .file = file, .ports = sonic->ports};
    s.finding = weft_plan_sonic(sonic, base, arena, &s.findings);
    s.operation = weft_arena_alloc(arena, 2 * (size_t)s.findings + 1, sizeof *s.operation);
    for (uint32_t i = 0; i < s.findings; i++) {
        const struct weft_sonic_finding *f = &s.finding[i];
        s.notes += f->note;
        s.patched += f->patched;
        for (uint32_t k = 0; k < f->changes; k++)
            if (!is_repeated(&s, f->change[k].pointer))
                s.operation[s.operations++] = (struct weft_sonic_operation){
                    f->change[k].there ? "replace" : "add", f->change[k].pointer, f->change[k].value, f->reason};
    }
    return s;
}

#define JUDGEMENT(field, kind, ...) WEFT_RESULT(struct weft_sonic_judgement, field, kind, __VA_ARGS__)
#define FINDING(field, key, kind, ...) WEFT_RESULT_NAMED(struct weft_sonic_finding, field, key, kind, __VA_ARGS__)
#define OPERATION(field, ...) WEFT_RESULT(struct weft_sonic_operation, field, TEXT, __VA_ARGS__)

/// Of the tables "findings" and "notes".
static bool next_finding(struct weft_result_cursor *c) {
    const struct weft_sonic_judgement *s = c->subject;
    bool note = !strcmp(c->table->name, "notes");
    while (c->at < s->findings && s->finding[c->at].note != note)
        c->at++;
    if (c->at == s->findings) return false;
    c->part[0] = &s->finding[c->at++];
    return true;
}

static const struct weft_result_column findings_columns[] = {
    FINDING(name, "rule", TEXT, "the rule: headroom, pool, threshold, ecn, pfc, map or watchdog"),
    FINDING(where, "where", TEXT, "place in the configuration: TABLE|key.field"),
    FINDING(ports, "ports", COUNT, "ports of which the finding holds; 0: the finding is not about a port"),
    FINDING(reason, "reason", TEXT, "what is wrong, at the first port"),
    FINDING(source, "source", TEXT, "source of the rule"),
    FINDING(patched, "patch", BOOL, "whether the patch mends it"),
};
static const struct weft_result_table plan_table =
    WEFT_RESULT_TABLE_OF("plan", OBJECT, "the judgement", WEFT_RESULT_SUBJECT, JUDGEMENT(plan, TEXT, "the calculator"),
                         JUDGEMENT(file, TEXT, "the first file of the configuration"));
static const struct weft_result_table findings_table =
    WEFT_RESULT_TABLE("findings", LIST, "a fault of the configuration", findings_columns, .next = next_finding);
static const struct weft_result_table notes_table = WEFT_RESULT_TABLE(
    "notes", LIST, "a case that a sound value does not cover", findings_columns, .next = next_finding);
static const struct weft_result_table patch_table = WEFT_RESULT_TABLE_OF(
    "patch", LIST, "a change that mends a finding",
    WEFT_RESULT_EACH(struct weft_sonic_judgement, operation, operations), OPERATION(op, "add or replace (RFC 6902)"),
    OPERATION(path, "the field, as a JSON pointer (RFC 6901)", .flags = WEFT_RESULT_KEY),
    OPERATION(value, "new value of the key"), OPERATION(reason, "finding that the setting mends"));
const struct weft_answer weft__answer_plan_sonic =
    WEFT_ANSWER_OF("plan_sonic", "weft plan sonic: what is wrong with the configuration of a SONiC switch", &plan_table,
                   &findings_table, &notes_table, &patch_table);
