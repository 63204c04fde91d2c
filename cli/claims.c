// SPDX-License-Identifier: Apache-2.0
#include "claims.h"

#include <assert.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/param.h"
#include "base/stream.h"

enum { NAMES_MAX = 64 };

enum weft_status weft_cli_claims_init(struct weft_cli_claims *c, const struct weft_scenario_file *file,
                                      struct weft_arena *arena, struct weft_error *ret_error) {
    enum weft_status status = weft_claims_new(file, arena, &c->claim, &c->n, ret_error);
    c->result = weft_arena_alloc(arena, c->n, sizeof *c->result);
    for (uint32_t i = 0; i < c->n; i++) {
        c->result[i].claim = &c->claim[i];
        c->result[i].value = weft_arena_alloc(arena, c->claim[i].metrics, sizeof(double));
        for (uint32_t m = 0; m < c->claim[i].metrics; m++)
            c->result[i].value[m] = NAN;
    }
    return status;
}

static const json_t *child(const json_t *value, const char *name) {
    if (!json_is_array(value)) return json_object_get(value, name);
    char *end;
    unsigned long index = strtoul(name, &end, 10);
    return *end || *name < '0' || *name > '9' ? NULL : json_array_get(value, index);
}

/// The metric's value; NULL and in *ret_part where its path ends, in *ret_at what is there instead.
static const json_t *find(const json_t *root, const struct weft_claim_metric *m, uint32_t *ret_part,
                          const json_t **ret_at) {
    for (*ret_part = 0; *ret_part < m->parts; (*ret_part)++) {
        *ret_at = root;
        root = child(root, m->part[*ret_part]);
        if (!root) return NULL;
    }
    *ret_at = root;
    return json_is_number(root) || json_is_null(root) ? root : NULL;
}

bool weft_cli_claims_name(const struct weft_cli_claims *c, uint32_t v) {
    for (uint32_t i = 0; i < c->n; i++)
        for (uint32_t m = 0; m < c->claim[i].metrics; m++)
            if (c->claim[i].metric[m].variant == v) return true;
    return false;
}

static json_t *json_of(const struct weft_run *run) {
    struct weft__text_stream stream;
    weft_report_json(weft__text_stream_open(&stream), run);
    const char *text = weft__text_stream_text(&stream);
    json_t *root = json_loadb(text, stream.size, 0, NULL);
    weft__text_stream_free(&stream);
    assert(root); // our own
    return root;
}

static void take(struct weft_cli_claims *c, uint32_t v, const json_t *root) {
    for (uint32_t i = 0; i < c->n; i++)
        for (uint32_t m = 0; m < c->claim[i].metrics; m++) {
            const struct weft_claim_metric *metric = &c->claim[i].metric[m];
            uint32_t part;
            const json_t *at;
            if (metric->variant != v) continue;
            const json_t *value = find(root, metric, &part, &at);
            c->result[i].value[m] = json_is_number(value) ? json_number_value(value) : (double)NAN;
        }
}

void weft_cli_claims_take(struct weft_cli_claims *c, uint32_t v, const struct weft_run *run) {
    if (!weft_cli_claims_name(c, v)) return;
    json_t *root = json_of(run);
    take(c, v, root);
    json_decref(root);
}

bool weft_cli_claims_take_json(struct weft_cli_claims *c, uint32_t v, const char *text, size_t size) {
    json_t *root = json_loadb(text, size, 0, NULL);
    if (root) take(c, v, root);
    json_decref(root);
    return root;
}

static enum weft_status fail(const struct weft_claim *claim, const struct weft_claim_metric *m, uint32_t part,
                             const json_t *at, const char *variant, struct weft_error *ret_error) {
    const char *names[NAMES_MAX], *key;
    json_t *value;
    uint32_t n = 0;
    char expected[512] = "it has no parts";
    if (part == m->parts) snprintf(expected, sizeof expected, "it is no number; its parts have a dot and a name more");
    if (json_array_size(at)) snprintf(expected, sizeof expected, "expected 0 to %zu", json_array_size(at) - 1);
    json_object_foreach((json_t *)(uintptr_t)at, key, value) if (n < NAMES_MAX) names[n++] = key;
    if (n) weft__names_expected(part < m->parts ? m->part[part] : "", names, n, expected, sizeof expected);
    return weft_error_set(ret_error, WEFT_ERROR_INPUT, claim->place, "%.*s: %s%s has no metric of that name; %s",
                          (int)m->length, claim->that + m->at, *variant ? "variant " : "the scenario", variant,
                          expected);
}

enum weft_status weft_cli_claims_check(const struct weft_cli_claims *c, uint32_t v, const struct weft_cli_simulation *s,
                                       struct weft_error *ret_error) {
    if (!weft_cli_claims_name(c, v)) return WEFT_OK;
    struct weft_outcome *nothing = weft_outcome_new(s->topology, s->workload);
    struct weft_run run = {s->scenario, s->topology, s->workload, nothing, {0}};
    json_t *root = json_of(&run);
    enum weft_status status = WEFT_OK;
    for (uint32_t i = 0; i < c->n && !status; i++)
        for (uint32_t m = 0; m < c->claim[i].metrics && !status; m++) {
            const struct weft_claim_metric *metric = &c->claim[i].metric[m];
            uint32_t part;
            const json_t *at;
            if (metric->variant == v && !find(root, metric, &part, &at))
                status = fail(&c->claim[i], metric, part, at, s->scenario->variant, ret_error);
        }
    json_decref(root);
    weft_outcome_free(nothing);
    return status;
}

enum weft_status weft_cli_claims_judge(struct weft_cli_claims *c) {
    for (uint32_t i = 0; i < c->n; i++)
        c->result[i].holds = weft_claim_holds(&c->claim[i], c->result[i].value);
    return weft_report_claim_counts(c->result, c->n).unexpected ? WEFT_ERROR_CLAIM : WEFT_OK;
}
