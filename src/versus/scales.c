// SPDX-License-Identifier: Apache-2.0
// The map of leaders, with its borders. Rows: numbers of hosts. Columns: message sizes or loads.
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "versus/versus.h"

// --- columns ------------------------------------------------------------------------------------------------------

static bool is_on_map(const struct weft_versus_case *c) {
    return !c->failure && c->healthy == WEFT_NONE;
}

static uint32_t family_size(const struct weft_versus *v, const char *family) {
    uint32_t n = 0;
    for (uint32_t c = 0; c < v->n_cases; c++)
        n += is_on_map(&v->cases[c]) && !strcmp(v->cases[c].family, family);
    return n;
}

/// The sheet of a case: that of its family, or the one shared by all cases that are alone; a new one if there is none
/// yet.
static struct weft__versus_sheet *sheet_of(const struct weft_versus *v, const char *family,
                                           struct weft__versus_sheet *sheet, uint32_t *sheets,
                                           struct weft_arena *arena) {
    bool mixed = family_size(v, family) == 1;
    const char *title = mixed ? "by workload" : family;
    for (uint32_t i = 0; i < *sheets; i++)
        if (!strcmp(sheet[i].title, title)) return &sheet[i];
    sheet[*sheets] =
        (struct weft__versus_sheet){title, weft_arena_alloc(arena, v->n_cases, sizeof(uint32_t)), .mixed = mixed};
    return &sheet[(*sheets)++];
}

struct weft__versus_sheet *weft__versus_sheets(const struct weft_versus *v, struct weft_arena *arena, uint32_t *ret_n) {
    struct weft__versus_sheet *sheet = weft_arena_alloc(arena, v->n_cases + 1, sizeof *sheet);
    *ret_n = 0;
    for (uint32_t c = 0; c < v->n_cases; c++) {
        if (!is_on_map(&v->cases[c])) continue;
        struct weft__versus_sheet *of = sheet_of(v, v->cases[c].family, sheet, ret_n, arena);
        of->case_at[of->cases++] = c;
    }
    return sheet;
}

const char *weft__versus_head_text(const struct weft_versus *v, const struct weft__versus_sheet *sheet, uint32_t i,
                                   struct weft_arena *arena) {
    const struct weft_versus_case *c = &v->cases[sheet->case_at[i]];
    return sheet->mixed ? c->name : weft__versus_column_text(c, arena);
}

// --- who leads ----------------------------------------------------------------------------------------------------

struct weft__versus_lead weft__versus_lead(const struct weft_versus *v, uint32_t scale, uint32_t case_at,
                                           struct weft_arena *arena) {
    const struct weft_versus at = weft_versus_at(v, scale);
    uint32_t n;
    const struct weft_versus_place *place = weft_versus_rank(&at, case_at, arena, &n);
    struct weft__versus_lead lead = {.lead = NAN};
    if (n) lead.first = at.fabric[place[0].fabric].name;
    if (n < 2) return lead;
    lead.second = at.fabric[place[1].fabric].name;
    lead.lead = place[1].value.mean / place[0].value.mean;
    lead.noise = place[1].noise || lead.lead == 1; // a tie needs no seeds
    lead.unknown = place[1].unknown;
    return lead;
}

/// "star 1.04", "star, noise", "star, alone", "-"
static const char *lead_text(const struct weft__versus_lead *lead, struct weft_arena *arena) {
    if (!lead->first) return "-";
    if (!lead->second) return weft_arena_format(arena, "%s, alone", lead->first);
    if (lead->noise) return weft_arena_format(arena, "%s, noise", lead->first);
    return weft_arena_format(arena, lead->lead < 1.005 ? "%s %.4f" : "%s %.2f", lead->first, lead->lead);
}

// --- where that changes with the number of hosts ------------------------------------------------------------------

/// NAN: there is no such fabric, or it has no value.
static double value_at(const struct weft_versus *v, uint32_t scale, uint32_t c, const char *fabric,
                       struct weft_arena *arena) {
    const struct weft_versus at = weft_versus_at(v, scale);
    for (uint32_t f = 0; f < at.fabrics; f++)
        if (!strcmp(at.fabric[f].name, fabric))
            return weft__versus_spread(&at, f, c, weft_versus_measure_names[v->cases[c].by], arena).mean;
    return NAN;
}

static void add_step(const struct weft_versus *v, uint32_t c, uint32_t s, struct weft__versus_step *step, uint32_t *n,
                     struct weft_arena *arena) {
    const struct weft__versus_lead now = weft__versus_lead(v, s, c, arena),
                                   then = weft__versus_lead(v, s + 1, c, arena);
    if (!now.first || !then.first || !strcmp(now.first, then.first)) return;
    double low = value_at(v, s, c, now.first, arena) / value_at(v, s, c, then.first, arena);
    double after = value_at(v, s + 1, c, now.first, arena), high = after / value_at(v, s + 1, c, then.first, arena);
    struct weft__versus_step *one = &step[(*n)++];
    *one = (struct weft__versus_step){.case_at = c, .before = s, .first = now.first, .second = then.first};
    const struct weft_versus here = weft_versus_at(v, s), next = weft_versus_at(v, s + 1);
    one->noise =
        weft__versus_is_noise(&here, c, then.first, arena) || weft__versus_is_noise(&next, c, now.first, arena);
    one->hosts = isnan(low) || isnan(high)
                     ? (double)NAN
                     : weft__versus_crossing((double)v->scale[s].hosts, low, (double)v->scale[s + 1].hosts, high);
    one->first_ends = isnan(after);
}

struct weft__versus_step *weft__versus_steps(const struct weft_versus *v, struct weft_arena *arena, uint32_t *ret_n) {
    struct weft__versus_step *step = weft_arena_alloc(arena, v->n_cases * v->scales + 1, sizeof *step);
    *ret_n = 0;
    for (uint32_t c = 0; c < v->n_cases && v->variants; c++)
        for (uint32_t s = 0; s + 1 < v->scales && is_on_map(&v->cases[c]); s++)
            add_step(v, c, s, step, ret_n, arena);
    return step;
}

const char *weft__versus_step_text(const struct weft_versus *v, const struct weft__versus_step *step,
                                   struct weft_arena *arena) {
    unsigned long long before = v->scale[step->before].hosts, after = v->scale[step->before + 1].hosts;
    if (isnan(step->hosts))
        return weft_arena_format(arena, "%s leads at %s, %s at %llu, where %s", step->first,
                                 weft__counted(before, "host").text, step->second, after,
                                 step->first_ends
                                     ? weft_arena_format(arena, "%s does not run", step->first)
                                     : weft_arena_format(arena, "%s runs for the first time", step->second));
    return weft_arena_format(arena, "between %llu and %llu hosts, from %s to %s%s", before, after, step->first,
                             step->second, step->noise ? " (within noise)" : "");
}

// --- outputs ------------------------------------------------------------------------------------------------------

static void sheet_text(FILE *file, const struct weft_versus *v, const struct weft__versus_sheet *sheet,
                       struct weft_arena *arena) {
    const struct weft_versus_case *first = &v->cases[sheet->case_at[0]];
    int *width = weft_arena_alloc(arena, sheet->cases, sizeof *width);
    fprintf(file, "\nwho leads, and the second's value over the first's: %s\n  %-8s", sheet->title,
            sheet->mixed          ? ""
            : first->bytes        ? "bytes"
            : first->load_percent ? "load"
                                  : "");
    for (uint32_t i = 0; i < sheet->cases; i++) {
        const char *head = weft__versus_head_text(v, sheet, i, arena);
        width[i] = (int)strlen(head);
        for (uint32_t s = 0; s < v->scales; s++) {
            const struct weft__versus_lead lead = weft__versus_lead(v, s, sheet->case_at[i], arena);
            int n = (int)strlen(lead_text(&lead, arena));
            if (n > width[i]) width[i] = n;
        }
        fprintf(file, "  %*s", width[i], head);
    }
    for (uint32_t s = 0; s < v->scales; s++) {
        fprintf(file, "\n  %-8llu", (unsigned long long)v->scale[s].hosts);
        for (uint32_t i = 0; i < sheet->cases; i++) {
            const struct weft__versus_lead lead = weft__versus_lead(v, s, sheet->case_at[i], arena);
            fprintf(file, "  %*s", width[i], lead_text(&lead, arena));
        }
    }
    putc('\n', file);
}

static void borders_text(FILE *file, const struct weft_versus *v, struct weft_arena *arena) {
    bool any = false;
    for (uint32_t s = 0; s < v->scales; s++) {
        const struct weft_versus at = weft_versus_at(v, s);
        uint32_t n;
        const struct weft__versus_border *border = weft__versus_borders(&at, arena, &n);
        for (uint32_t i = 0; i < n; i++, any = true)
            fprintf(file, "%s  %s, %s: %s\n", any ? "" : "\nwhere the lead turns\n",
                    weft__counted(at.hosts, "host").text, border[i].family,
                    weft__versus_border_text(&at, &border[i], arena));
    }
    uint32_t n;
    const struct weft__versus_step *step = weft__versus_steps(v, arena, &n);
    for (uint32_t i = 0; i < n; i++, any = true)
        fprintf(file, "%s  %s: %s\n", any ? "" : "\nwhere the lead turns\n", v->cases[step[i].case_at].name,
                weft__versus_step_text(v, &step[i], arena));
}

void weft__versus_scales_text(FILE *file, const struct weft_versus *v) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    uint32_t n;
    const struct weft__versus_sheet *sheet = weft__versus_sheets(v, arena, &n);
    for (uint32_t i = 0; i < n; i++)
        sheet_text(file, v, &sheet[i], arena);
    borders_text(file, v, arena);
}

static bool is_among(const char *name, const char *const *list, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (!strcmp(list[i], name)) return true;
    return false;
}

static void say_counts(FILE *file, const struct weft_versus *v, bool of_map) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    const char **name = weft_arena_alloc(arena, v->fabrics + 1, sizeof *name);
    uint32_t *leads = weft_arena_alloc(arena, v->fabrics + 1, sizeof *leads), names = 0, places = 0, said = 0,
             noise = 0, alone = 0;
    for (uint32_t f = 0; f < v->fabrics; f++)
        if (!is_among(v->fabric[f].name, name, names)) name[names++] = v->fabric[f].name;
    bool several = names > (v->ruler == WEFT_NONE ? 1 : 2);
    for (uint32_t s = 0; s < v->scales; s++)
        for (uint32_t c = 0; c < v->n_cases; c++) {
            if (of_map && !is_on_map(&v->cases[c])) continue;
            const struct weft__versus_lead lead = weft__versus_lead(v, s, c, arena);
            places++;
            noise += lead.noise;
            bool is_alone = several && lead.first && !lead.second; // others have nothing of what fails there
            alone += is_alone;
            for (uint32_t i = 0; i < names && lead.first && !lead.noise && !is_alone; i++)
                leads[i] += !strcmp(name[i], lead.first);
        }
    fprintf(file, "Of %u %s", places, of_map ? "places of the map" : "cases");
    for (uint32_t most = places; most; most--)
        for (uint32_t i = 0; i < names; i++)
            if (leads[i] == most) fprintf(file, "%s %s leads in %u", said++ ? "," : "", name[i], most);
    if (noise) fprintf(file, "%s in %u the first two cannot be told apart", said++ ? ";" : ":", noise);
    if (alone) fprintf(file, "%s in %u only one fabric has a time", said++ ? ";" : ":", alone);
    fputs(said ? "." : " none has a leader.", file);
}

void weft__versus_places_say(FILE *file, const struct weft_versus *v) {
    say_counts(file, v, true);
}
void weft__versus_cases_say(FILE *file, const struct weft_versus *v) {
    say_counts(file, v, false);
}

void weft__versus_scales_say(FILE *file, const struct weft_versus *v) {
    enum { EACH = 12 }; // with more sentences it is no paragraph
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    uint32_t n;
    weft__versus_places_say(file, v);
    const struct weft__versus_step *step = weft__versus_steps(v, arena, &n);
    for (uint32_t i = 0; i < n && i < EACH; i++)
        fprintf(file, " %s: %s.", v->cases[step[i].case_at].name, weft__versus_step_text(v, &step[i], arena));
    if (n > EACH) fprintf(file, " The lead turns at %s.", weft__counted(n - EACH, "further border").text);
}
