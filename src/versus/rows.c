// SPDX-License-Identifier: Apache-2.0
// A versus as rows: what every output that is for programs tells.
#include <math.h>

#include "base/grow.h"
#include "base/stream.h"
#include "versus/rows.h"
#include "versus/versus.h"

/// Of no seed: no value at all.
static struct spread_row spread_row(const struct weft_spread *s) {
    if (!s->n) return (struct spread_row){WEFT_NONE, NAN, NAN, NAN, NAN};
    return (struct spread_row){s->n, s->mean, s->median, s->mean - s->half, s->mean + s->half};
}

static uint8_t known_truth(bool known, bool value) {
    return known ? value : UINT8_MAX;
}

static uint64_t size_of(const struct weft_versus_case *c) {
    return c->bytes ? c->bytes : WEFT_TIME_NEVER;
}

static uint32_t load_of(const struct weft_versus_case *c) {
    return c->load_percent ? c->load_percent : WEFT_NONE;
}

// --- a fabric in a case -------------------------------------------------------------------------------------------

static void add_place(struct case_row *row, const struct weft_versus *v, uint32_t f, uint32_t c,
                      struct weft_arena *arena) {
    uint32_t n;
    const struct weft_versus_place *place = weft_versus_rank(v, c, arena, &n);
    row->rank = WEFT_NONE;
    row->noise = UINT8_MAX;
    row->of_ruler = spread_row(&(struct weft_spread){0});
    for (uint32_t i = 0; i < n; i++) {
        if (place[i].fabric != f) continue;
        row->rank = i + 1;
        row->of_ruler = spread_row(&place[i].of_ruler);
        if (!place[i].of_ruler.n) row->of_ruler.seeds = 0; // there is no ruler
        row->noise = known_truth(!place[i].unknown, !i || place[i].noise);
    }
}

static void add_why(struct case_row *row, const struct weft_versus *v, uint32_t f, uint32_t c,
                    struct weft_arena *arena) {
    static const char *const of[] = {NULL, "flow", "iteration"};
    struct weft__versus_where w = weft__versus_where(v, f, c, arena);
    row->why_of = of[w.of];
    row->why_note = w.note;
    row->part = weft_arena_alloc(arena, WEFT_WHYS, sizeof *row->part);
    for (uint32_t k = 0; k < WEFT_WHYS; k++)
        if (w.part_ps[k] > 0) row->part[row->parts++] = (struct part_row){weft_why_names[k], w.part_ps[k]};
}

static void add_runs(struct weft_versus_answer *a, struct case_row *row, uint32_t f, uint32_t c) {
    const struct weft_versus *v = &a->at;
    const struct weft_versus_fabric *fabric = &v->fabric[f];
    const double *value[WEFT_VERSUS_MEASURED];
    uint32_t seeds = weft__versus_seeds(v);
    for (uint32_t i = 0; i < WEFT_VERSUS_MEASURED; i++)
        value[i] = weft_versus_values(v, f, c, weft_versus_measure_names[i], a->arena);
    row->run = weft_arena_alloc(a->arena, seeds, sizeof *row->run);
    for (; row->runs < seeds; row->runs++) {
        const struct weft_sweep_run *run = weft__versus_run(v, f, c, row->runs);
        struct run_row *to = &row->run[row->runs];
        bool estimated = row->estimated && run->state == WEFT_SWEEP_DONE;
        *to = (struct run_row){.fabric = fabric->name,
                               .case_name = row->name,
                               .state = estimated ? "estimated" : weft_sweep_state_names[run->state],
                               .digest = run->rows && !estimated ? run->digest : NULL,
                               .hosts = fabric->hosts,
                               .bytes = v->cases[c].bytes,
                               .seed = run->seed,
                               .bill = fabric->bill};
        for (uint32_t i = 0; i < WEFT_VERSUS_MEASURED; i++)
            to->value[i] = value[i][row->runs];
        ADD_ROW(a, measured, *to);
    }
}

static struct case_row case_row(struct weft_versus_answer *a, uint32_t f, uint32_t c) {
    const struct weft_versus *v = &a->at;
    struct case_row row = {.name = v->cases[c].name};
    for (uint32_t i = 0; i < WEFT_VERSUS_MEASURED; i++) {
        struct weft_spread s = weft__versus_spread(v, f, c, weft_versus_measure_names[i], a->arena);
        row.measure[i] = spread_row(&s);
    }
    add_place(&row, v, f, c, a->arena);
    bool fails = v->cases[c].healthy != WEFT_NONE;
    struct weft_spread healthy = fails ? weft_versus_degradation(v, f, c, a->arena) : (struct weft_spread){0};
    struct weft_spread energy = weft__versus_energy(v, f, c, a->arena);
    struct weft_spread used = weft__versus_spread(v, f, c, WEFT_VERSUS_HOSTS_USED, a->arena);
    const struct weft_versus_place place = weft__versus_place_of(v, f, c, a->arena);
    row.estimated = place.estimated;
    row.low = isinf(place.high) ? (double)NAN : place.low;
    row.high = isinf(place.high) ? (double)NAN : place.high;
    row.over_healthy = spread_row(&healthy);
    row.energy = spread_row(&energy);
    row.hosts_used = used.n ? (uint64_t)used.mean : WEFT_TIME_NEVER;
    add_why(&row, v, f, c, a->arena);
    add_runs(a, &row, f, c);
    return row;
}

static void add_fabric(struct weft_versus_answer *a, uint32_t f) {
    const struct weft_versus *v = &a->at;
    const struct weft_versus_fabric *fabric = &v->fabric[f];
    bool built = fabric->status != WEFT_VERSUS_UNBUILDABLE;
    struct fabric_row row = {.is = *fabric,
                             .source = fabric->plan->conf->source,
                             .status = weft_versus_status_names[fabric->status],
                             .ruler = f == v->ruler,
                             .oversubscription = built ? fabric->plan->conf->oversubscription : (double)NAN,
                             .queue_pairs = built ? fabric->plan->conf->queue_pairs : WEFT_TIME_NEVER};
    row.bill = built ? &fabric->bill : NULL;
    row.domain = weft_arena_alloc(a->arena, fabric->domains, sizeof *row.domain);
    for (uint32_t i = 0; i < fabric->domains; i++)
        row.domain[i] = (struct domain_row){fabric->domain[i], weft_versus_domain_names[fabric->domain[i].kind]};
    if (built) row.grown = weft_arena_alloc(a->arena, 1, sizeof *row.grown);
    if (built) *row.grown = (struct grown_row){fabric->grown_reason, fabric->grown_reason ? NULL : &fabric->grown};
    row.cases = weft_arena_alloc(a->arena, v->n_cases, sizeof *row.cases);
    for (; row.n_cases < v->n_cases && fabric->variant != WEFT_NONE; row.n_cases++)
        row.cases[row.n_cases] = case_row(a, f, row.n_cases);
    ADD_ROW(a, fabric, row);
    if (fabric->variant != WEFT_NONE) return;
    struct run_row none = {.fabric = fabric->name,
                           .state = row.status,
                           .hosts = v->hosts,
                           .bytes = WEFT_TIME_NEVER,
                           .seed = WEFT_TIME_NEVER,
                           .bill = {.chips = WEFT_TIME_NEVER, .optics = NAN, .watts = NAN, .price = NAN}};
    for (uint32_t i = 0; i < WEFT_VERSUS_MEASURED; i++)
        none.value[i] = NAN;
    ADD_ROW(a, measured, none);
}

// --- who leads ----------------------------------------------------------------------------------------------------

static void add_case(struct weft_versus_answer *a, uint32_t i) {
    const struct weft_versus *v = &a->at;
    const struct weft_versus_case *c = &v->cases[i];
    uint32_t n;
    const struct weft_versus_place *place = weft_versus_rank(v, i, a->arena, &n);
    struct lead_row row = {.case_name = c->name,
                           .family = c->family,
                           .failure = c->failure ? c->failure->name : NULL,
                           .healthy = c->healthy == WEFT_NONE ? NULL : v->cases[c->healthy].name,
                           .judged_by = weft_versus_measure_names[c->by],
                           .first = n ? v->fabric[place[0].fabric].name : NULL,
                           .hosts = v->hosts,
                           .bytes = size_of(c),
                           .load = load_of(c)};
    row.noise = weft_arena_alloc(a->arena, n, sizeof *row.noise);
    for (uint32_t k = 1; k < n; k++)
        if (place[k].noise) row.noise[row.noises++] = v->fabric[place[k].fabric].name;
    ADD_ROW(a, lead, row);
}

static void add_borders(struct weft_versus_answer *a) {
    const struct weft_versus *v = &a->at;
    uint32_t n;
    const struct weft__versus_border *border = weft__versus_borders(v, a->arena, &n);
    for (uint32_t i = 0; i < n; i++) {
        bool sizes = v->cases[border[i].before].bytes;
        ADD_ROW(a, border,
                ((struct border_row){.family = border[i].family,
                                     .below = v->fabric[border[i].first].name,
                                     .above = v->fabric[border[i].second].name,
                                     .from = v->hosts,
                                     .bytes = sizes ? border[i].at : (double)NAN,
                                     .load = sizes ? (double)NAN : border[i].at,
                                     .noise = border[i].noise}));
    }
}

static void add_turns(struct weft_versus_answer *a) {
    const struct weft_versus *v = &a->at;
    uint32_t n;
    const struct weft_versus_turn *turn = weft_versus_turns(v, a->arena, &n);
    for (uint32_t i = 0; i < n; i++) {
        const struct weft_versus_case *c = &v->cases[turn[i].case_at];
        ADD_ROW(a, turn,
                ((struct turn_row){.case_name = v->cases[c->healthy].name,
                                   .what = c->assumption->path,
                                   .help = c->assumption->help,
                                   .first = v->fabric[turn[i].first].name,
                                   .hosts = v->hosts,
                                   .factor = c->assumption->factor[c->twice],
                                   .band = c->assumption->band,
                                   .lead = turn[i].lead,
                                   .before = turn[i].lead_before,
                                   .turns = turn[i].turns,
                                   .noise = turn[i].noise}));
    }
    const struct weft__versus_power *power = weft__versus_powers(v, a->arena, &n);
    for (uint32_t i = 0; i < n; i++)
        ADD_ROW(a, power,
                ((struct turn_row){.case_name = v->cases[0].name,
                                   .what = power[i].part->name,
                                   .help = power[i].part->source,
                                   .first = v->fabric[power[i].with.first].name,
                                   .hosts = v->hosts,
                                   .watts = power[i].part->watts,
                                   .factor = power[i].factor,
                                   .lead = power[i].with.lead,
                                   .before = power[i].lead_before,
                                   .turns = power[i].turns}));
}

/// Which fabric leads where, and between which numbers of hosts the leader changes.
static struct map_row *map_of(const struct weft_versus *v, struct weft_arena *arena) {
    struct map_row *map = weft_arena_alloc(arena, 1, sizeof *map);
    uint32_t sheets;
    const struct weft__versus_sheet *sheet = weft__versus_sheets(v, arena, &sheets);
    const struct weft__versus_step *step = weft__versus_steps(v, arena, &map->borders);
    map->arena = arena;
    map->hosts = weft_arena_alloc(arena, v->scales, sizeof *map->hosts);
    for (; map->scales < v->scales; map->scales++)
        map->hosts[map->scales] = v->scale[map->scales].hosts;
    for (uint32_t i = 0; i < sheets * v->scales; i++)
        for (uint32_t k = 0; k < sheet[i / v->scales].cases; k++) {
            uint32_t at = sheet[i / v->scales].case_at[k], s = i % v->scales;
            const struct weft_versus_case *c = &v->cases[at];
            const struct weft__versus_lead lead = weft__versus_lead(v, s, at, arena);
            ADD_ROW(map, lead,
                    ((struct lead_row){.case_name = c->name,
                                       .family = c->family,
                                       .first = lead.first,
                                       .second = lead.second,
                                       .hosts = v->scale[s].hosts,
                                       .bytes = size_of(c),
                                       .load = load_of(c),
                                       .lead = lead.second ? lead.lead : (double)NAN,
                                       .is_noise = known_truth(lead.second && !lead.unknown, lead.noise)}));
        }
    map->border = weft_arena_alloc(arena, map->borders, sizeof *map->border);
    for (uint32_t i = 0; i < map->borders; i++)
        map->border[i] = (struct border_row){.family = v->cases[step[i].case_at].name,
                                             .below = step[i].first,
                                             .above = step[i].second,
                                             .from = v->scale[step[i].before].hosts,
                                             .to = v->scale[step[i].before + 1].hosts,
                                             .hosts = step[i].hosts,
                                             .noise = step[i].noise};
    return map;
}

// --- the whole ----------------------------------------------------------------------------------------------------

struct weft_versus_answer *weft_versus_answer(const struct weft_versus *v, bool interrupted, struct weft_arena *arena) {
    struct weft_versus_answer *a = weft_arena_alloc(arena, 1, sizeof *a);
    WEFT__TEXT_STREAM(stream, file);
    weft_versus_paragraph(file, v);
    *a = (struct weft_versus_answer){.v = *v, .interrupted = interrupted, .arena = arena};
    a->ruler = v->ruler == WEFT_NONE ? NULL : v->fabric[v->ruler].name;
    a->paragraph = weft_arena_text(arena, weft__text_stream_text(&stream));
    for (uint32_t s = 0; s < v->scales; s++) {
        a->at = weft_versus_at(v, s);
        for (uint32_t c = 0; c < v->n_cases; c++)
            add_case(a, c);
        for (uint32_t f = 0; f < a->at.fabrics; f++)
            add_fabric(a, f);
        add_borders(a);
        if (v->variants) add_turns(a);
    }
    if (v->variants) a->map = map_of(v, arena);
    if (v->since) a->since = &a->v;
    return a;
}
