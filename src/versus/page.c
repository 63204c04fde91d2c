// SPDX-License-Identifier: Apache-2.0
// A versus as a page of HTML: the answer in sentences, the map of which fabric leads at which number of hosts, the map
// of message size against fabric, every case side by side, where the time went, and what each fabric costs.
#include <math.h>
#include <string.h>

#include "base/stream.h"
#include "base/units.h"
#include "versus/versus.h"

struct maker {
    const struct weft_versus *v;
    struct weft_arena *arena;
    uint32_t columns, *fabric; ///< [columns]: the fabrics that run, the ruler first
    const char **column;
    const char *where; ///< " at 128 hosts" if there are several numbers of hosts; else ""
};
/// A matrix that grows by rows.
struct growing {
    struct weft_report_row *row;
    struct weft_report_cell *cell;
    uint32_t rows, room;
};

static const struct weft_report_cell nothing = {NAN, NAN, NAN, 0, NAN, NAN, NULL};

static struct growing growing_new(const struct maker *m, uint32_t room) {
    return (struct growing){.row = weft_arena_alloc(m->arena, room, sizeof(struct weft_report_row)),
                            .cell =
                                weft_arena_alloc(m->arena, (size_t)room * m->columns, sizeof(struct weft_report_cell)),
                            .room = room};
}

/// The cells of the new row, all without a value.
static struct weft_report_cell *add_row(const struct maker *m, struct growing *g, const char *subject,
                                        const char *figure, const char *unit) {
    struct weft_report_cell *cell = g->cell + (size_t)g->rows * m->columns;
    g->row[g->rows++] = (struct weft_report_row){subject, figure, unit};
    for (uint32_t i = 0; i < m->columns; i++)
        cell[i] = nothing;
    return cell;
}

/// Removes the last row if all its values are 0 or missing.
static void drop_empty(const struct maker *m, struct growing *g) {
    const struct weft_report_cell *cell = g->cell + (size_t)(g->rows - 1) * m->columns;
    bool any = false;
    for (uint32_t i = 0; i < m->columns; i++)
        any |= cell[i].n && fabs(cell[i].mean) > 0;
    if (!any) g->rows--;
}

static struct weft_report_matrix to_matrix(const struct maker *m, const struct growing *g, enum weft_report_form form,
                                           const char *title, const char *caption, const char *method) {
    title = weft_arena_format(m->arena, "%s%s", title, m->where);
    return (struct weft_report_matrix){form,    title,     caption, method,  m->columns,
                                       g->rows, m->column, g->row,  g->cell, NULL};
}

static struct weft_report_cell cell_of(const struct weft_spread *s) {
    return (struct weft_report_cell){s->mean, s->half, s->median, s->n, NAN, NAN, NULL};
}

static uint32_t column_of(const struct maker *m, uint32_t fabric) {
    uint32_t i = 0;
    while (m->fabric[i] != fabric)
        i++;
    return i;
}

/// Describes a place relative to the first.
static const char *verdict_of(const struct weft_versus_place *place, uint32_t i) {
    return !i ? "first" : place[i].noise ? "within noise" : NULL;
}

// --- matrices -----------------------------------------------------------------------------------------------------

static void add_measure(const struct maker *m, struct growing *g, uint32_t c, enum weft_versus_measure k) {
    const struct weft_versus_case *versus_case = &m->v->cases[c];
    uint32_t n;
    struct weft_report_cell *cell = add_row(m, g, versus_case->name, weft_versus_helps[k], weft_versus_units[k]);
    for (uint32_t i = 0; i < m->columns; i++) {
        struct weft_spread s = weft__versus_spread(m->v, m->fabric[i], c, weft_versus_measure_names[k], m->arena);
        if (s.n) cell[i] = cell_of(&s);
    }
    const struct weft_versus_place *place = weft_versus_rank(m->v, c, m->arena, &n);
    for (uint32_t i = 0; i < n && k == versus_case->by; i++)
        cell[column_of(m, place[i].fabric)].verdict = verdict_of(place, i);
    drop_empty(m, g);
}

static void add_of_ruler(const struct maker *m, struct growing *g, uint32_t c, const char *subject,
                         const char *figure) {
    uint32_t n;
    const struct weft_versus_place *place = weft_versus_rank(m->v, c, m->arena, &n);
    struct weft_report_cell *cell = add_row(m, g, subject, figure, "");
    for (uint32_t i = 0; i < n; i++) {
        struct weft_report_cell *at = &cell[column_of(m, place[i].fabric)];
        *at = cell_of(&place[i].of_ruler);
        at->verdict = verdict_of(place, i);
    }
    drop_empty(m, g);
}

static void add_energy(const struct maker *m, struct growing *g, uint32_t c) {
    struct weft_report_cell *cell =
        add_row(m, g, m->v->cases[c].name, "energy of the fabric and its NICs over that time, in joules", "");
    for (uint32_t i = 0; i < m->columns; i++) {
        struct weft_spread s = weft__versus_energy(m->v, m->fabric[i], c, m->arena);
        if (s.n) cell[i] = cell_of(&s);
    }
    drop_empty(m, g);
}

static struct weft_report_matrix cases_matrix(const struct maker *m) {
    struct growing g = growing_new(m, m->v->n_cases * (WEFT_VERSUS_MEASURED + 2) + 1);
    for (uint32_t c = 0; c < m->v->n_cases; c++) {
        add_measure(m, &g, c, m->v->cases[c].by);
        add_of_ruler(m, &g, c, m->v->cases[c].name, "the same over that of the ruler");
        for (enum weft_versus_measure k = 0; k < WEFT_VERSUS_MEASURED; k++)
            if (k != m->v->cases[c].by) add_measure(m, &g, c, k);
        add_energy(m, &g, c);
    }
    return to_matrix(
        m, &g, WEFT_REPORT_DOTS, "Side by side",
        weft__versus_seeds(m->v) > 1
            ? "A dot is the mean over seeds, its bar the 95% interval of that mean (Student's t). \"within "
              "noise\": the differences from the first, seed by seed, cannot be told from 0; all comparisons "
              "of a case share the 5% in which one of them errs."
            : "One seed: nothing is known of noise.",
        "versus.csv, of weft versus --out");
}

static struct weft_report_matrix map_matrix(const struct maker *m) {
    struct growing g = growing_new(m, m->v->n_cases + 1);
    for (uint32_t c = 0; c < m->v->n_cases; c++)
        if (m->v->cases[c].bytes || m->v->cases[c].load_percent)
            add_of_ruler(m, &g, c, m->v->cases[c].family, weft__versus_column_text(&m->v->cases[c], m->arena));
    return to_matrix(
        m, &g, WEFT_REPORT_MAP, "Message size against fabric",
        "The measure that judges over that of the ruler, by bytes a rank, or by load. Where the lead changes "
        "stands among the answers.",
        "versus.csv over that of the ideal switch with the same seed, mean over seeds");
}

static struct weft_report_matrix degradation_matrix(const struct maker *m) {
    struct growing g = growing_new(m, m->v->n_cases + 1);
    for (uint32_t c = 0; c < m->v->n_cases; c++) {
        if (m->v->cases[c].healthy == WEFT_NONE) continue;
        struct weft_report_cell *cell = add_row(m, &g, m->v->cases[c].family, m->v->cases[c].failure->name, "");
        for (uint32_t i = 0; i < m->columns; i++) {
            struct weft_spread s = weft_versus_degradation(m->v, m->fabric[i], c, m->arena);
            if (s.n && m->fabric[i] != m->v->ruler) cell[i] = cell_of(&s);
        }
        drop_empty(m, &g);
    }
    return to_matrix(
        m, &g, WEFT_REPORT_MAP, "With failures",
        "The measure that judges, over the same without the failure, seed by seed. A fabric without such a "
        "part has no value.",
        "versus.json: over_healthy");
}

static struct weft_report_matrix domains_matrix(const struct maker *m) {
    struct growing g = growing_new(m, 2 * WEFT_VERSUS_DOMAINS);
    for (uint32_t k = 0; k < 2 * WEFT_VERSUS_DOMAINS; k++) {
        const char *name = weft_versus_domain_names[k / 2];
        struct weft_report_cell *cell =
            add_row(m, &g, weft_arena_format(m->arena, "One %s fails", name),
                    k % 2 ? "hosts that others no longer reach" : "part of the capacity between switches", "");
        for (uint32_t i = 0; i < m->columns; i++) {
            const struct weft_versus_domain *d = weft_versus_domain_of(&m->v->fabric[m->fabric[i]], k / 2);
            if (!d || m->fabric[i] == m->v->ruler) continue;
            cell[i].mean = k % 2 ? (double)d->hosts_cut : d->capacity_lost;
            cell[i].n = isnan(cell[i].mean) ? 0U : 1U;
        }
        drop_empty(m, &g);
    }
    return to_matrix(
        m, &g, WEFT_REPORT_DOTS, "What goes with what fails",
        "A plane: switches without hosts that reach one another without the switches next to hosts. A leaf: a "
        "switch with hosts.",
        "counted in the network");
}

static struct weft_report_matrix growth_matrix(const struct maker *m) {
    static const char *const names[] = {"chips", "ports of chips", "optical modules", "metres of fibre", "watts"};
    enum { ITEMS = sizeof names / sizeof *names };
    struct growing g = growing_new(m, ITEMS);
    for (unsigned k = 0; k < ITEMS; k++) {
        struct weft_report_cell *cell = add_row(m, &g, "Half as many hosts again", names[k], "");
        for (uint32_t i = 0; i < m->columns; i++) {
            const struct weft_versus_fabric *f = &m->v->fabric[m->fabric[i]];
            const struct weft_fabric_bill *a = &f->bill, *b = &f->grown;
            const double more[ITEMS] = {(double)b->chips - (double)a->chips, (double)b->ports - (double)a->ports,
                                        b->optics - a->optics, b->fibre_m - a->fibre_m, b->watts - a->watts};
            if (f->grown_reason || m->fabric[i] == m->v->ruler) continue;
            cell[i].mean = more[k];
            cell[i].n = 1;
        }
        drop_empty(m, &g);
    }
    return to_matrix(
        m, &g, WEFT_REPORT_DOTS, "What growing by half costs",
        "What the larger fabric takes more than this one. A fabric without a value cannot be built so large.",
        "weft plan fabric NAME --hosts N");
}

/// Behind what always holds, which bars are missing or of something else, and why.
static const char *why_caption(const struct maker *m) {
    const char *text = "Parts that add up, with the first seed: of the longest iteration of the slowest job; without "
                       "jobs, of the flow that finished last.";
    for (uint32_t c = 0; c < m->v->n_cases; c++)
        for (uint32_t i = 0; i < m->columns; i++) {
            const struct weft__versus_where w = weft__versus_where(m->v, m->fabric[i], c, m->arena);
            const char *note = weft__versus_where_note(&w, weft__versus_where_of(m->v, c, m->arena), m->arena);
            if (note)
                text = weft_arena_format(m->arena, "%s %s, %s: %s.", text, m->v->cases[c].name, m->column[i], note);
        }
    return text;
}

static struct weft_report_matrix why_matrix(const struct maker *m) {
    struct growing g = growing_new(m, m->v->n_cases * WEFT_WHYS + 1);
    for (uint32_t c = 0; c < m->v->n_cases; c++) {
        const char *of = weft__versus_where_text(weft__versus_where_of(m->v, c, m->arena));
        const char *subject = weft_arena_format(m->arena, "%s: %s", m->v->cases[c].name, of);
        for (uint32_t k = 0; k < WEFT_WHYS; k++) {
            struct weft_report_cell *cell = add_row(m, &g, subject, weft_why_names[k], "ps");
            for (uint32_t i = 0; i < m->columns; i++) {
                struct weft_spread s = weft__versus_spread(m->v, m->fabric[i], c, weft_why_names[k], m->arena);
                if (s.n) cell[i] = cell_of(&s);
            }
            drop_empty(m, &g);
        }
    }
    return to_matrix(m, &g, WEFT_REPORT_STACK, "Where the time went", why_caption(m),
                     "weft why --job NAME, or weft why FLOW");
}

static struct weft_report_matrix bill_matrix(const struct maker *m) {
    static const struct {
        const char *name, *unit;
    } items[] = {{"chips", ""},
                 {"ports of chips", ""},
                 {"rate of all ports", "bit/s"},
                 {"optical modules", ""},
                 {"metres of fibre", ""},
                 {"packet memory", "bytes"},
                 {"watts", ""},
                 {"price", ""}};
    enum { ITEMS = sizeof items / sizeof *items };
    struct growing g = growing_new(m, ITEMS);
    for (unsigned k = 0; k < ITEMS; k++) {
        struct weft_report_cell *cell = add_row(m, &g, "The bill", items[k].name, items[k].unit);
        for (uint32_t i = 0; i < m->columns; i++) {
            const struct weft_fabric_bill *b = &m->v->fabric[m->fabric[i]].bill;
            const double of[ITEMS] = {(double)b->chips,
                                      (double)b->ports,
                                      b->port_tbps * 1e12,
                                      b->optics,
                                      b->fibre_m,
                                      b->buffer_bytes,
                                      b->watts,
                                      b->priced ? b->price : (double)NAN};
            if (m->fabric[i] == m->v->ruler || isnan(of[k])) continue;
            cell[i] = nothing;
            cell[i].mean = of[k];
            cell[i].n = 1;
        }
        drop_empty(m, &g);
    }
    return to_matrix(m, &g, WEFT_REPORT_DOTS, "What is not equal",
                     "What each fabric takes for the same hosts at the same rate; the ruler is no fabric to be bought.",
                     "weft plan fabric NAME --hosts N --rate R");
}

// --- sentences ----------------------------------------------------------------------------------------------------

static const char *text_of(const struct maker *m, void (*say)(FILE *file, const struct weft_versus *v)) {
    WEFT__TEXT_STREAM(stream, out);
    say(out, m->v);
    const char *text = weft_arena_text(m->arena, weft__text_stream_text(&stream));
    return text + (*text == ' ');
}

static const char *case_text(const struct maker *m, uint32_t c) {
    WEFT__TEXT_STREAM(stream, file);
    weft__versus_case_say(file, m->v, c);
    return weft_arena_text(m->arena, weft__text_stream_text(&stream));
}

struct answers {
    const char **text; ///< [n][2]
    uint32_t n;
};

static void add_answer(const struct maker *m, struct answers *a, const char *of, const char *text) {
    bool several = *m->where && *of;
    a->text[2 * a->n] =
        *m->where ? weft_arena_format(m->arena, "%s%s%s", m->where + strlen(" at "), several ? ", " : "", of) : of;
    a->text[2 * a->n++ + 1] = text;
}

/// For one number of hosts. With several, each case has its place on the map and among the charts.
static void add_answers(const struct maker *m, struct answers *a) {
    const struct weft_versus *v = m->v;
    uint32_t borders, turns = 0;
    const struct weft__versus_border *border = weft__versus_borders(v, m->arena, &borders);
    const struct weft_versus_turn *turn = v->variants ? weft_versus_turns(v, m->arena, &turns) : NULL;
    uint32_t turning = weft__versus_turning(turn, turns);
    const char **text =
        weft_arena_alloc(m->arena, 2 * (a->n + v->n_cases + borders + turning + v->fabrics + 1), sizeof *text);
    if (a->n) memcpy(text, a->text, 2 * a->n * sizeof *text);
    a->text = text;
    for (uint32_t c = 0; c < v->n_cases && v->variants && !*m->where; c++)
        add_answer(m, a, v->n_cases > 1 ? v->cases[c].name : "", case_text(m, c));
    for (uint32_t i = 0; i < borders; i++)
        add_answer(m, a, border[i].family, weft__versus_border_text(v, &border[i], m->arena));
    for (uint32_t i = 0; i < turning; i++)
        add_answer(m, a, "turns the answer", weft__versus_turn_text(v, &turn[i], m->arena));
    for (uint32_t f = 0; f < v->fabrics; f++)
        if (v->fabric[f].status != WEFT_VERSUS_RAN)
            add_answer(m, a, v->fabric[f].name,
                       weft_arena_format(m->arena, "%s: %s", weft__versus_status_text(v->fabric[f].status),
                                         v->fabric[f].reason));
    const char *whole = text_of(m, weft__versus_whole_say);
    if (*whole) add_answer(m, a, "", whole);
}

static void find_columns(struct maker *m) {
    m->columns = 0;
    m->fabric = weft_arena_alloc(m->arena, m->v->fabrics + 1, sizeof *m->fabric);
    m->column = weft_arena_alloc(m->arena, m->v->fabrics + 1, sizeof *m->column);
    for (uint32_t f = 0; f < m->v->fabrics; f++) {
        if (m->v->fabric[f].variant == WEFT_NONE) continue;
        m->column[m->columns] = m->v->fabric[f].name;
        m->fabric[m->columns++] = f;
    }
}

// --- all ----------------------------------------------------------------------------------------------------------

enum { MATRICES = 7 }; // per number of hosts

static uint32_t add_matrices(const struct maker *m, struct weft_report_matrix *matrix) {
    const struct weft_versus *v = m->v;
    uint32_t n = 0;
    if (!v->variants) return 0;
    if (weft__versus_has_map(v)) matrix[n++] = map_matrix(m);
    matrix[n++] = cases_matrix(m);
    if (weft__versus_has_failures(v)) matrix[n++] = degradation_matrix(m);
    matrix[n++] = why_matrix(m);
    matrix[n++] = bill_matrix(m);
    matrix[n++] = growth_matrix(m);
    matrix[n++] = domains_matrix(m);
    return n;
}

/// Rows: numbers of hosts. Columns: sizes or loads.
static struct weft_report_matrix leads_matrix(const struct maker *whole) {
    const struct weft_versus *v = whole->v;
    struct maker m = *whole;
    uint32_t sheets;
    m.columns = v->scales;
    m.column = weft_arena_alloc(m.arena, m.columns, sizeof *m.column);
    for (uint32_t s = 0; s < v->scales; s++)
        m.column[s] = weft_arena_format(m.arena, "%s", weft__counted(v->scale[s].hosts, "host").text);
    struct growing g = growing_new(&m, v->n_cases + 1);
    const struct weft__versus_sheet *sheet = weft__versus_sheets(v, m.arena, &sheets);
    for (uint32_t i = 0; i < sheets; i++)
        for (uint32_t k = 0; k < sheet[i].cases; k++) {
            uint32_t c = sheet[i].case_at[k];
            struct weft_report_cell *cell =
                add_row(&m, &g, sheet[i].title, weft__versus_head_text(v, &sheet[i], k, m.arena), "");
            for (uint32_t s = 0; s < v->scales; s++) {
                const struct weft__versus_lead lead = weft__versus_lead(v, s, c, m.arena);
                if (!lead.first) continue;
                cell[s].mean = lead.second ? lead.lead : 1;
                cell[s].n = 1;
                cell[s].verdict = weft_arena_format(m.arena, "%s%s", lead.first,
                                                    !lead.second ? ", alone"
                                                    : lead.noise ? ", within noise"
                                                                 : "");
            }
        }
    return to_matrix(&m, &g, WEFT_REPORT_MAP, "Who leads",
                     "The fabric that leads, by number of hosts and by message size, load or workload; as dark as the "
                     "second is far behind. Where the lead changes stands among the answers.",
                     "map.csv, of weft versus --out");
}

static void add_steps(const struct maker *m, struct answers *a) {
    uint32_t n;
    const struct weft__versus_step *step = weft__versus_steps(m->v, m->arena, &n);
    a->text = weft_arena_alloc(m->arena, 2 * (n + 1), sizeof *a->text);
    add_answer(m, a, "", text_of(m, weft__versus_places_say));
    for (uint32_t i = 0; i < n; i++)
        add_answer(m, a, m->v->cases[step[i].case_at].name, weft__versus_step_text(m->v, &step[i], m->arena));
}

struct weft_report_page *weft_versus_page(const struct weft_versus *v) {
    struct maker m = {.v = v, .arena = weft_arena_new(WEFT_MEMORY_RESULT), .where = ""};
    char rate[32];
    uint32_t n = 0;
    struct answers a = {NULL, 0};
    struct weft_report_matrix *matrix = weft_arena_alloc(m.arena, 1 + MATRICES * v->scales, sizeof *matrix);
    if (v->scales > 1 && v->variants) add_steps(&m, &a);
    if (v->scales > 1 && v->variants) matrix[n++] = leads_matrix(&m);
    for (uint32_t s = 0; s < v->scales; s++) {
        const struct weft_versus at = weft_versus_at(v, s);
        m.v = &at;
        if (v->scales > 1) m.where = weft_arena_format(m.arena, " at %s", weft__counted(at.hosts, "host").text);
        find_columns(&m);
        add_answers(&m, &a);
        n += add_matrices(&m, matrix + n);
    }
    weft_format_rate(v->rate_bps, rate, sizeof rate);
    struct weft_report_head head = {
        .title = weft_arena_format(m.arena, "%s on every fabric", v->job ? v->job : "A battery"),
        .about = weft_arena_format(m.arena, "%s hosts at %s; %s, %s; weft %s", weft__versus_hosts_text(v, m.arena),
                                   rate, weft__counted(v->scale[0].fabrics, "fabric").text,
                                   weft__counted(weft__versus_seeds(v), "seed").text, WEFT_VERSION),
        .answer = a.text,
        .answers = a.n};
    struct weft_report_page *page = weft_report_page_of(&head, matrix, n, false);
    weft_arena_free(m.arena);
    return page;
}
