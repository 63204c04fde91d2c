// SPDX-License-Identifier: Apache-2.0
// A versus as JSON.
#include "base/json.h"

#include "base/stream.h"
#include "versus/versus.h"

static void json_spread(struct weft__json *j, const char *key, const struct weft_spread *s) {
    weft__json_key(j, key);
    weft__json_begin_object(j);
    weft__json_key_u64(j, "seeds", s->n);
    weft__json_key_real(j, "mean", s->mean);
    weft__json_key_real(j, "median", s->median);
    weft__json_key_real(j, "low", s->mean - s->half);
    weft__json_key_real(j, "high", s->mean + s->half);
    weft__json_end_object(j);
}

/// The parts of weft why that exist.
static void json_why(struct weft__json *j, const struct weft_versus *v, uint32_t f, uint32_t c,
                     struct weft_arena *arena) {
    static const char *const of[] = {NULL, "flow", "iteration"};
    struct weft__versus_where w = weft__versus_where(v, f, c, arena);
    weft__json_key_string(j, "why_of", of[w.of]);
    weft__json_key_string(j, "why_note", w.note);
    weft__json_key(j, "why_ps");
    weft__json_begin_object(j);
    for (uint32_t k = 0; k < WEFT_WHYS; k++)
        if (w.part_ps[k] > 0) weft__json_key_time(j, weft_why_names[k], w.part_ps[k]);
    weft__json_end_object(j);
}

static void json_case(struct weft__json *j, const struct weft_versus *v, uint32_t f, uint32_t c,
                      struct weft_arena *arena) {
    weft__json_key(j, v->cases[c].name);
    weft__json_begin_object(j);
    for (uint32_t i = 0; i < WEFT_VERSUS_MEASURED; i++) {
        struct weft_spread s = weft__versus_spread(v, f, c, weft_versus_measure_names[i], arena);
        if (s.n) json_spread(j, weft_versus_measure_names[i], &s);
    }
    uint32_t n;
    const struct weft_versus_place *place = weft_versus_rank(v, c, arena, &n);
    for (uint32_t i = 0; i < n; i++) {
        if (place[i].fabric != f) continue;
        weft__json_key_u64(j, "rank", i + 1);
        json_spread(j, "of_ruler", &place[i].of_ruler);
        weft__json_key(j, "within_noise_of_first");
        if (place[i].unknown)
            weft__json_null(j);
        else
            weft__json_bool(j, !i || place[i].noise);
    }
    if (v->cases[c].healthy != WEFT_NONE) {
        struct weft_spread s = weft_versus_degradation(v, f, c, arena);
        if (s.n) json_spread(j, "over_healthy", &s);
    }
    struct weft_spread used = weft__versus_spread(v, f, c, WEFT_VERSUS_HOSTS_USED, arena);
    if (used.n) weft__json_key_u64(j, "hosts_used", (uint64_t)used.mean);
    struct weft_spread energy = weft__versus_energy(v, f, c, arena);
    if (energy.n) json_spread(j, "energy_J", &energy);
    json_why(j, v, f, c, arena);
    weft__json_key(j, "runs");
    weft__json_begin_array(j);
    for (uint32_t k = 0; k < weft__versus_seeds(v); k++) {
        const struct weft_sweep_run *run = weft__versus_run(v, f, c, k);
        weft__json_begin_object(j);
        weft__json_key_u64(j, "seed", run->seed);
        weft__json_key_string(j, "state", weft_sweep_state_names[run->state]);
        weft__json_key_string(j, "digest", run->rows ? run->digest : NULL);
        weft__json_end_object(j);
    }
    weft__json_end_array(j);
    weft__json_end_object(j);
}

static void json_domains(struct weft__json *j, const struct weft_versus_fabric *fabric) {
    weft__json_key(j, "failure_domains");
    weft__json_begin_array(j);
    for (uint32_t i = 0; i < fabric->domains; i++) {
        const struct weft_versus_domain *d = &fabric->domain[i];
        weft__json_begin_object(j);
        weft__json_key_string(j, "kind", weft_versus_domain_names[d->kind]);
        weft__json_key_string(j, "such_as", d->name);
        weft__json_key_u64(j, "there", d->there);
        weft__json_key_u64(j, "hosts_cut", d->hosts_cut);
        weft__json_key_real(j, "capacity_lost", d->capacity_lost);
        weft__json_end_object(j);
    }
    weft__json_end_array(j);
}

static void json_fabric(struct weft__json *j, const struct weft_versus *v, uint32_t f, struct weft_arena *arena) {
    const struct weft_versus_fabric *fabric = &v->fabric[f];
    weft__json_begin_object(j);
    weft__json_key_string(j, "name", fabric->name);
    weft__json_key_string(j, "about", fabric->about);
    weft__json_key_string(j, "kind", fabric->kind);
    weft__json_key_u64(j, "hosts", fabric->hosts);
    weft__json_key_string(j, "source", fabric->plan->conf->source);
    weft__json_key_string(j, "status", weft_versus_status_names[fabric->status]);
    weft__json_key_string(j, "reason", fabric->reason);
    weft__json_key_bool(j, "ruler", f == v->ruler);
    if (fabric->status != WEFT_VERSUS_UNBUILDABLE) {
        weft__json_key_real(j, "oversubscription", fabric->plan->conf->oversubscription);
        weft__json_key_u64(j, "queue_pairs", fabric->plan->conf->queue_pairs);
        weft_fabric_bill_json(j, &fabric->bill);
        weft__json_key(j, "half_as_many_again");
        weft__json_begin_object(j);
        weft__json_key_string(j, "reason", fabric->grown_reason);
        if (!fabric->grown_reason) weft_fabric_bill_json(j, &fabric->grown);
        weft__json_end_object(j);
    }
    json_domains(j, fabric);
    weft__json_key(j, "cases");
    weft__json_begin_object(j);
    for (uint32_t c = 0; c < v->n_cases && fabric->variant != WEFT_NONE; c++)
        json_case(j, v, f, c, arena);
    weft__json_end_object(j);
    weft__json_end_object(j);
}

static void json_leads_of(struct weft__json *j, const struct weft_versus *v, uint32_t c, struct weft_arena *arena) {
    uint32_t n;
    const struct weft_versus_place *place = weft_versus_rank(v, c, arena, &n);
    weft__json_begin_object(j);
    weft__json_key_string(j, "name", v->cases[c].name);
    weft__json_key_u64(j, "hosts", v->hosts);
    weft__json_key_string(j, "family", v->cases[c].family);
    if (v->cases[c].bytes) weft__json_key_u64(j, "bytes", v->cases[c].bytes);
    if (v->cases[c].load_percent) weft__json_key_u64(j, "load_percent", v->cases[c].load_percent);
    if (v->cases[c].failure) weft__json_key_string(j, "failure", v->cases[c].failure->name);
    if (v->cases[c].healthy != WEFT_NONE) weft__json_key_string(j, "healthy", v->cases[v->cases[c].healthy].name);
    weft__json_key_string(j, "judged_by", weft_versus_measure_names[v->cases[c].by]);
    weft__json_key_string(j, "first", n ? v->fabric[place[0].fabric].name : NULL);
    weft__json_key(j, "within_noise");
    weft__json_begin_array(j);
    for (uint32_t i = 1; i < n; i++)
        if (place[i].noise) weft__json_string(j, v->fabric[place[i].fabric].name);
    weft__json_end_array(j);
    weft__json_end_object(j);
}

static void json_leads(struct weft__json *j, const struct weft_versus *v, struct weft_arena *arena) {
    for (uint32_t c = 0; c < v->n_cases; c++)
        json_leads_of(j, v, c, arena);
}

static void json_fabrics(struct weft__json *j, const struct weft_versus *v, struct weft_arena *arena) {
    for (uint32_t f = 0; f < v->fabrics; f++)
        json_fabric(j, v, f, arena);
}

static void json_borders(struct weft__json *j, const struct weft_versus *v, struct weft_arena *arena) {
    uint32_t n;
    const struct weft__versus_border *border = weft__versus_borders(v, arena, &n);
    for (uint32_t i = 0; i < n; i++) {
        bool sizes = v->cases[border[i].before].bytes;
        weft__json_begin_object(j);
        weft__json_key_string(j, "family", border[i].family);
        weft__json_key_u64(j, "hosts", v->hosts);
        weft__json_key_string(j, "below", v->fabric[border[i].first].name);
        weft__json_key_string(j, "above", v->fabric[border[i].second].name);
        weft__json_key_real(j, sizes ? "bytes" : "load_percent", border[i].at);
        weft__json_key_bool(j, "within_noise", border[i].noise);
        weft__json_end_object(j);
    }
}

static void json_lead(struct weft__json *j, const struct weft_versus *v, uint32_t scale, uint32_t c,
                      struct weft_arena *arena) {
    const struct weft__versus_lead lead = weft__versus_lead(v, scale, c, arena);
    weft__json_begin_object(j);
    weft__json_key_u64(j, "hosts", v->scale[scale].hosts);
    weft__json_key_string(j, "case", v->cases[c].name);
    weft__json_key_string(j, "first", lead.first);
    weft__json_key_string(j, "second", lead.second);
    weft__json_key_real(j, "lead", lead.lead);
    weft__json_key(j, "within_noise");
    if (!lead.second || lead.unknown)
        weft__json_null(j);
    else
        weft__json_bool(j, lead.noise);
    weft__json_end_object(j);
}

/// Which fabric leads where, and between which numbers of hosts the leader changes.
static void json_map(struct weft__json *j, const struct weft_versus *v, struct weft_arena *arena) {
    uint32_t n;
    weft__json_key(j, "map");
    weft__json_begin_object(j);
    weft__json_key(j, "hosts");
    weft__json_begin_array(j);
    for (uint32_t s = 0; s < v->scales; s++)
        weft__json_u64(j, v->scale[s].hosts);
    weft__json_end_array(j);
    weft__json_key(j, "leads");
    weft__json_begin_array(j);
    const struct weft__versus_sheet *sheet = weft__versus_sheets(v, arena, &n);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t s = 0; s < v->scales; s++)
            for (uint32_t k = 0; k < sheet[i].cases; k++)
                json_lead(j, v, s, sheet[i].the_case[k], arena);
    weft__json_end_array(j);
    weft__json_key(j, "borders");
    weft__json_begin_array(j);
    const struct weft__versus_step *step = weft__versus_steps(v, arena, &n);
    for (uint32_t i = 0; i < n; i++) {
        weft__json_begin_object(j);
        weft__json_key_string(j, "case", v->cases[step[i].the_case].name);
        weft__json_key_string(j, "below", step[i].first);
        weft__json_key_string(j, "above", step[i].second);
        weft__json_key_u64(j, "from_hosts", v->scale[step[i].before].hosts);
        weft__json_key_u64(j, "to_hosts", v->scale[step[i].before + 1].hosts);
        weft__json_key_real(j, "hosts", step[i].hosts);
        weft__json_key_bool(j, "within_noise", step[i].noise);
        weft__json_end_object(j);
    }
    weft__json_end_array(j);
    weft__json_end_object(j);
}

static void json_assumptions(struct weft__json *j, const struct weft_versus *v, struct weft_arena *arena) {
    uint32_t n;
    const struct weft_versus_turn *turn = weft_versus_turns(v, arena, &n);
    for (uint32_t i = 0; i < n; i++) {
        const struct weft_versus_case *c = &v->cases[turn[i].the_case];
        weft__json_begin_object(j);
        weft__json_key_string(j, "case", v->cases[c->healthy].name);
        weft__json_key_u64(j, "hosts", v->hosts);
        weft__json_key_string(j, "path", c->assumption->path);
        weft__json_key_string(j, "help", c->assumption->help);
        weft__json_key_real(j, "factor", c->twice ? 2 : 0.5);
        weft__json_key_string(j, "first", v->fabric[turn[i].first].name);
        weft__json_key_bool(j, "turns", turn[i].turns);
        weft__json_key_bool(j, "within_noise", turn[i].noise);
        weft__json_key_real(j, "lead", turn[i].lead);
        weft__json_key_real(j, "lead_as_assumed", turn[i].lead_before);
        weft__json_end_object(j);
    }
}

static void json_powers(struct weft__json *j, const struct weft_versus *v, struct weft_arena *arena) {
    uint32_t n;
    const struct weft__versus_power *power = weft__versus_powers(v, arena, &n);
    for (uint32_t i = 0; i < n; i++) {
        weft__json_begin_object(j);
        weft__json_key_string(j, "case", v->cases[0].name);
        weft__json_key_u64(j, "hosts", v->hosts);
        weft__json_key_string(j, "part", power[i].part->name);
        weft__json_key_string(j, "source", power[i].part->source);
        weft__json_key_real(j, "watts_assumed", power[i].part->watts);
        weft__json_key_real(j, "factor", power[i].factor);
        weft__json_key_string(j, "least_energy", v->fabric[power[i].with.first].name);
        weft__json_key_bool(j, "turns", power[i].turns);
        weft__json_key_real(j, "lead", power[i].with.lead);
        weft__json_key_real(j, "lead_as_assumed", power[i].lead_before);
        weft__json_end_object(j);
    }
}

static void json_since(struct weft__json *j, const struct weft_versus *v) {
    if (!v->since) return;
    weft__json_key(j, "since");
    weft__json_begin_object(j);
    weft__json_key_string(j, "answer", v->since);
    weft__json_key(j, "changes");
    weft__json_begin_array(j);
    for (uint32_t i = 0; i < v->changes; i++)
        weft__json_string(j, v->change[i]);
    weft__json_end_array(j);
    weft__json_end_object(j);
}

static void json_head(struct weft__json *j, const struct weft_versus *v, bool interrupted) {
    weft__json_key_string(j, "weft", WEFT_VERSION);
    weft__json_key_string(j, "job", v->job);
    weft__json_key_u64(j, "hosts", v->hosts);
    weft__json_key_u64(j, "rate_bps", v->rate_bps);
    weft__json_key_string(j, "ruler", v->ruler == WEFT_NONE ? NULL : v->fabric[v->ruler].name);
    weft__json_key_bool(j, "interrupted", interrupted);
    weft__json_key(j, "ignored");
    weft__json_begin_array(j);
    for (uint32_t i = 0; i < v->n_ignored; i++)
        weft__json_string(j, v->ignored[i]);
    weft__json_end_array(j);
}

/// A list to which every number of hosts contributes.
static void json_list(struct weft__json *j, const char *key, const struct weft_versus *v, struct weft_arena *arena,
                      void (*add)(struct weft__json *j, const struct weft_versus *at, struct weft_arena *arena)) {
    weft__json_key(j, key);
    weft__json_begin_array(j);
    for (uint32_t s = 0; s < v->scales; s++) {
        const struct weft_versus at = weft_versus_at(v, s);
        add(j, &at, arena);
    }
    weft__json_end_array(j);
}

void weft_versus_json(FILE *file, const struct weft_versus *v, bool interrupted) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    struct weft__json j = {.file = file};
    weft__json_begin_object(&j);
    json_head(&j, v, interrupted);
    json_list(&j, "cases", v, arena, json_leads);
    json_list(&j, "fabrics", v, arena, json_fabrics);
    json_list(&j, "borders", v, arena, json_borders);
    if (v->variants) json_map(&j, v, arena);
    if (v->variants) json_list(&j, "assumptions", v, arena, json_assumptions);
    if (v->variants) json_list(&j, "power_assumptions", v, arena, json_powers);
    json_since(&j, v);
    struct weft__text_stream stream;
    weft_versus_paragraph(weft__text_stream_open(&stream), v);
    weft__json_key_string(&j, "paragraph", weft__text_stream_text(&stream));
    weft__text_stream_free(&stream);
    weft__json_end_object(&j);
    putc('\n', file);
    weft_arena_free(arena);
}
