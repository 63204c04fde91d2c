// SPDX-License-Identifier: Apache-2.0
// The tables of a versus in words: who leads and by how much, what is within noise, what the last ones wait for, and
// what the lead costs.
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "versus/versus.h"

static const char noise_unknown[] = " One seed does not show noise; --seeds 1..5 does.";

/// Numbers of estimates with an interval, and of those that are not calibrated.
static void count_intervals(const struct weft_versus *v, struct weft_arena *arena, uint32_t count[2]) {
    count[0] = count[1] = 0;
    for (uint32_t c = 0; c < v->n_cases; c++) {
        uint32_t n;
        const struct weft_versus_place *place = weft_versus_rank(v, c, arena, &n);
        for (uint32_t i = 0; i < n; i++)
            if (place[i].estimated) count[isinf(place[i].high)]++;
    }
}

/// What must be said of all times.
static void say_trust(FILE *file, const struct weft_versus *v) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    uint32_t count[2];
    if (v->fluid) {
        count_intervals(v, arena, count);
        fputs(" Times are estimates but where packets are named", file);
        if (count[0]) fprintf(file, "; 90%% of such %sare within the interval", count[1] ? "with an interval " : "");
        if (count[1])
            fprintf(file, "; %u %s not calibrated: how far off is not known", count[1], count[1] > 1 ? "are" : "is");
        fputs(". --packets 20 runs what they do not decide.", file);
    } else if (weft__versus_seeds(v) == 1)
        fputs(noise_unknown, file);
}

struct saying {
    FILE *file;
    const struct weft_versus *v;
    struct weft_arena *arena;
};

static const char *name_of(const struct saying *s, uint32_t fabric) {
    return s->v->fabric[fabric].name;
}

static const char *value_text(const struct saying *s, uint32_t c, double value) {
    char text[32];
    const char *unit = weft_versus_units[s->v->cases[c].by];
    if (strcmp(unit, "ps")) return weft_arena_format(s->arena, "%.2f", value);
    weft_format_time((weft_time_ps)llround(value), text, sizeof text);
    return weft_arena_text(s->arena, text);
}

static void say_noise(const struct saying *s, const struct weft_versus_place *place, uint32_t n) {
    uint32_t noise = 0, said = 0, between = 0, last = 0;
    for (uint32_t i = 1; i < n; i++)
        noise += place[i].noise;
    if (!noise) return;
    bool estimated = false;
    for (uint32_t i = 0; i < n; i++)
        estimated |= place[i].estimated;
    fputs(estimated ? " Not told from it by estimates: " : " Within noise of it: ", s->file);
    for (uint32_t i = 1; i < n; i++) {
        if (place[i].noise) fprintf(s->file, "%s%s", said++ ? ", " : "", name_of(s, place[i].fabric));
        if (place[i].noise) last = i;
    }
    for (uint32_t i = 1; i < last; i++) // faster than one that may be as fast as the first
        if (!place[i].noise)
            fprintf(s->file, "%s%s",
                    between++   ? ", "
                    : estimated ? "; between them, but told from it: "
                                : "; between them, but beyond noise: ",
                    name_of(s, place[i].fabric));
    fputc('.', s->file);
}

/// The part of why in which the fabric differs most from the first, if both are of the same thing.
static void say_why(const struct saying *s, uint32_t c, uint32_t first, uint32_t last) {
    const struct weft__versus_where a = weft__versus_where(s->v, first, c, s->arena);
    const struct weft__versus_where b = weft__versus_where(s->v, last, c, s->arena);
    double most = 0;
    uint32_t kind = WEFT_NONE;
    for (uint32_t k = 0; k < WEFT_WHYS && a.of == b.of; k++)
        if (b.part_ps[k] - a.part_ps[k] > most) most = b.part_ps[k] - a.part_ps[k], kind = k;
    if (kind == WEFT_NONE) return;
    char text[32];
    weft_format_time((weft_time_ps)llround(most), text, sizeof text);
    fprintf(s->file, "; %s spends %s more on %s",
            a.of == WEFT__VERSUS_WHERE_ITERATION ? "its critical path" : "its last flow", text, weft_why_names[kind]);
}

/// Where one chip leads, which cannot grow: the first of those with more chips, if it is not the only other one.
static void say_beyond_a_chip(const struct saying *s, uint32_t c, const struct weft_versus_place *place, uint32_t n) {
    uint32_t i = 0;
    while (i < n && s->v->fabric[place[i].fabric].bill.chips == 1)
        i++;
    if (!i || i + 1 >= n) return;
    fprintf(s->file, " Of more than one chip %s leads with %s.", name_of(s, place[i].fabric),
            value_text(s, c, place[i].value.mean));
}

static void say_case(const struct saying *s, uint32_t c) {
    const struct weft_versus *v = s->v;
    uint32_t n;
    const struct weft_versus_place *place = weft_versus_rank(v, c, s->arena, &n);
    if (!n) {
        const char *by = weft_versus_measure_names[v->cases[c].by];
        bool ruler = v->ruler != WEFT_NONE && weft__versus_spread(v, v->ruler, c, by, s->arena).n;
        fprintf(s->file, "no fabric%s has a time.", ruler ? " but the ruler" : "");
        return;
    }
    const struct weft_versus_place *first = &place[0], *last = &place[n - 1];
    uint32_t equal = 1; // fabrics with the value of the first, to the last digit
    while (equal < n && !(place[equal].value.mean > first->value.mean))
        equal++;
    for (uint32_t i = 0; i < equal; i++)
        fprintf(s->file, "%s%s", !i ? "" : i + 1 < equal ? ", " : " and ", name_of(s, place[i].fabric));
    fprintf(s->file, " %s with %s", equal > 1 ? "lead" : "leads", value_text(s, c, first->value.mean));
    if (!isnan(first->of_ruler.mean)) fprintf(s->file, ", %.2f times that of ideal", first->of_ruler.mean);
    fputc('.', s->file);
    if (n < 2 || equal == n) return;
    say_noise(s, place, n);
    fprintf(s->file, " %s is last with %s, %.2f times that", name_of(s, last->fabric),
            value_text(s, c, last->value.mean), last->value.mean / first->value.mean);
    say_why(s, c, first->fabric, last->fabric);
    fputc('.', s->file);
    say_beyond_a_chip(s, c, place, n);
}

/// Which fabric gets most done per watt, in the first case.
static void say_power(const struct saying *s) {
    uint32_t n;
    const struct weft__versus_least least = weft__versus_least(s->v, s->arena);
    if (least.first == WEFT_NONE) return;
    fprintf(s->file, " %s uses the least energy%s%s: %.3g J, its time at %.0f W, NICs included",
            name_of(s, least.first), s->v->n_cases > 1 ? " in " : "", s->v->n_cases > 1 ? s->v->cases[0].name : "",
            least.joule, s->v->fabric[least.first].bill.watts);
    const struct weft__versus_power *power = weft__versus_powers(s->v, s->arena, &n);
    if (n && power->turns)
        fprintf(s->file, "; with a %s at %g W instead of the assumed %g W it is %s", power->part->name,
                power->factor * power->part->watts, power->part->watts, name_of(s, power->with.first));
    fputc('.', s->file);
}

/// Includes the number of hosts if there are several.
static void say_others(const struct saying *s) {
    uint32_t unbuildable = 0;
    for (uint32_t f = 0; f < s->v->fabrics; f++)
        if (s->v->fabric[f].status == WEFT_VERSUS_UNBUILDABLE)
            fprintf(s->file, "%s%s", unbuildable++ ? ", " : " Not to be built: ", s->v->fabric[f].label);
    if (unbuildable) fputc('.', s->file);
    uint32_t refused = 0;
    for (uint32_t f = 0; f < s->v->fabrics; f++)
        if (s->v->fabric[f].status == WEFT_VERSUS_REFUSED)
            fprintf(s->file, "%s%s",
                    refused++ ? ", " : " Left out, for there is no estimate of them: ", s->v->fabric[f].label);
    if (refused) fputc('.', s->file);
}

/// Without all runs nobody is known to lead.
static bool is_incomplete(const struct weft_versus *v) {
    for (uint32_t f = 0; f < v->fabrics; f++)
        if (v->fabric[f].status == WEFT_VERSUS_NOT_RUN) return true;
    return false;
}

static void say_incomplete(FILE *file, const struct weft_versus *v) {
    uint32_t n = 0;
    fputs("The answer is incomplete. Not all runs are done of: ", file);
    for (uint32_t f = 0; f < v->fabrics; f++)
        if (v->fabric[f].status == WEFT_VERSUS_NOT_RUN) fprintf(file, "%s%s", n++ ? ", " : "", v->fabric[f].label);
    fputc('.', file);
}

void weft__versus_case_say(FILE *file, const struct weft_versus *v, uint32_t case_at) {
    struct saying s = {file, v, weft_arena_new(WEFT_MEMORY_RESULT)};
    if (is_incomplete(v))
        say_incomplete(file, v);
    else
        say_case(&s, case_at);
    weft_arena_free(s.arena);
}

/// If the user's job leaves hosts idle, which a fabric is built and billed for all the same.
static void say_idle(const struct saying *s) {
    const struct weft_versus *v = s->v;
    double most = 0;
    for (uint32_t f = 0; f < v->fabrics && v->n_cases && v->job && !strcmp(v->cases[0].name, "job"); f++)
        most = fmax(most, weft__versus_spread(v, f, 0, WEFT_VERSUS_HOSTS_USED, s->arena).mean);
    if (most > 0 && most < (double)v->hosts)
        fprintf(s->file, " The job uses %.0f of the %llu hosts.", most, (unsigned long long)v->hosts);
}

void weft__versus_whole_say(FILE *file, const struct weft_versus *v) {
    struct saying s = {file, v, weft_arena_new(WEFT_MEMORY_RESULT)};
    if (v->variants) say_idle(&s);
    if (v->variants && !is_incomplete(v)) say_power(&s);
    if (v->variants && !is_incomplete(v)) weft__versus_assumptions_say(file, v);
    weft__versus_goodput_say(file, v);
    say_trust(file, v);
    say_others(&s);
    weft_arena_free(s.arena);
}

/// For each failure, which fabric loses least and which most, over all cases with it.
static void say_failures(const struct saying *s) {
    const struct weft_versus *v = s->v;
    for (uint32_t c = 0; c < v->n_cases; c++) {
        const struct weft_versus_failure *f = v->cases[c].failure;
        bool first = v->cases[c].healthy != WEFT_NONE;
        for (uint32_t b = 0; b < c; b++)
            first &= v->cases[b].failure != f;
        if (!first) continue;
        double least = INFINITY, most = 0;
        uint32_t best = WEFT_NONE, worst = WEFT_NONE;
        for (uint32_t k = 0; k < v->fabrics; k++) {
            double product = 0;
            uint32_t n = 0;
            for (uint32_t i = c; i < v->n_cases; i++) {
                if (v->cases[i].failure != f || v->cases[i].healthy == WEFT_NONE) continue;
                struct weft_spread ratio = weft_versus_degradation(v, k, i, s->arena);
                if (ratio.n && ratio.mean > 0) product += log(ratio.mean), n++;
            }
            if (!n || k == v->ruler) continue;
            double mean = exp(product / n);
            if (mean < least) least = mean, best = k;
            if (mean > most) most = mean, worst = k;
        }
        if (best == WEFT_NONE || best == worst) continue;
        if (most < 1.01)
            fprintf(s->file, " With %s, none takes 1%% longer (geometric mean over cases).", f->name);
        else
            fprintf(s->file, " With %s, %s loses least (%.2f times, geometric mean over cases), %s most (%.2f).",
                    f->name, name_of(s, best), least, name_of(s, worst), most);
    }
    if (weft__versus_has_failures(v)) weft__versus_one_leaf_say(s->file, v, " ");
}

static void say_many(FILE *file, const struct weft_versus *v) {
    struct saying s = {file, v, weft_arena_new(WEFT_MEMORY_RESULT)};
    uint32_t n;
    weft__versus_cases_say(file, v);
    const struct weft__versus_border *border = weft__versus_borders(v, s.arena, &n);
    for (uint32_t i = 0; i < n; i++)
        fprintf(file, " %s: %s.", border[i].family, weft__versus_border_text(v, &border[i], s.arena));
    say_failures(&s);
    weft_arena_free(s.arena);
}

/// For several numbers of hosts.
static void say_scales(FILE *file, const struct weft_versus *v) {
    if (v->variants) weft__versus_scales_say(file, v);
    say_trust(file, v);
    for (uint32_t i = 0; i < v->scales; i++) {
        const struct weft_versus at = weft_versus_at(v, i);
        struct saying s = {file, &at, weft_arena_new(WEFT_MEMORY_RESULT)};
        say_others(&s);
        weft_arena_free(s.arena);
    }
}

void weft_versus_paragraph(FILE *file, const struct weft_versus *v) {
    enum { EACH = 12 }; // with more sentences it is no paragraph
    if (is_incomplete(v)) {
        say_incomplete(file, v);
    } else if (v->scales > 1) {
        say_scales(file, v);
    } else {
        if (v->variants && v->n_cases > EACH) say_many(file, v);
        for (uint32_t c = 0; c < v->n_cases && v->variants && v->n_cases <= EACH; c++) {
            if (v->n_cases > 1) fprintf(file, "%s%s: ", c ? " " : "", v->cases[c].name);
            weft__versus_case_say(file, v, c);
        }
        weft__versus_whole_say(file, v);
    }
    fputc('\n', file);
}
