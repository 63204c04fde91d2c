// SPDX-License-Identifier: Apache-2.0
// Claims in the bands of hardware: each claim is run at low, typical and high of each value that it can hang on, one
// value at a time. Where it turns between two numbers, bisection says where.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "verify.h"
#include "weft/param_load.h"

static const char *const ends[3] = {"low", "typical", "high"};
static const char *const default_class[WEFT_HARDWARE_KINDS] = {
    [WEFT_HARDWARE_CHIP] = WEFT_HARDWARE_CHIP_DEFAULT,
    [WEFT_HARDWARE_INTERFACE] = WEFT_HARDWARE_INTERFACE_DEFAULT,
    [WEFT_HARDWARE_ELEMENT] = WEFT_HARDWARE_ELEMENT_DEFAULT,
    [WEFT_HARDWARE_NIC] = WEFT_HARDWARE_NIC_DEFAULT,
};

// --- values -------------------------------------------------------------------------------------------------------

/// "switch.processing" of "devices.0.switch.processing".
static const char *within_device(const char *path) {
    if (strncmp(path, "devices.", 8) != 0) return path;
    const char *dot = strchr(path + 8, '.');
    return dot ? dot + 1 : path;
}

/// The kind whose section the path is in; WEFT_HARDWARE_KINDS: none.
static uint32_t kind_of(const char *path) {
    const char *section = within_device(path);
    size_t n = strcspn(section, ".");
    uint32_t k = 0;
    while (k < WEFT_HARDWARE_KINDS &&
           (strlen(weft_hardware_kind_section(k)) != n || strncmp(weft_hardware_kind_section(k), section, n) != 0))
        k++;
    return k;
}

static bool is_class(const char *path) {
    uint32_t kind = kind_of(path);
    const char *dot = strrchr(path, '.');
    return kind < WEFT_HARDWARE_KINDS && dot && !strcmp(dot + 1, weft_hardware_kind_row(kind));
}

/// What the variants of a claim say of a band's value, and of the class.
struct search {
    const char *path, *class_path;
    const char *value, *class_name; ///< NULL: none, or the variants differ
    bool differ;
    struct weft_arena *arena;
};

static void on_value(void *context, const char *path, const char *value, const char *dflt) {
    struct search *x = context;
    if (!strcmp(path, x->class_path)) x->class_name = weft_arena_text(x->arena, value);
    if (strcmp(path, x->path) != 0) return;
    x->differ |= x->value && strcmp(x->value, value) != 0;
    x->value = weft_arena_text(x->arena, value);
}

static bool names_variant(const struct weft_claim *c, uint32_t variant) {
    for (uint32_t m = 0; m < c->metrics; m++)
        if (c->metric[m].variant == variant) return true;
    return false;
}

static enum weft_status find_own(const struct verified *s, const struct weft_claim *c, struct verify_band *b,
                                 struct search *x, struct weft_error *ret_error) {
    const char *path = b->is->path;
    uint32_t kind = kind_of(path);
    x->path = path;
    x->class_path = kind < WEFT_HARDWARE_KINDS
                        ? weft_arena_format(x->arena, "%.*s%s.%s", (int)(within_device(path) - path), path,
                                            weft_hardware_kind_section(kind), weft_hardware_kind_row(kind))
                        : "";
    for (uint32_t i = 0; i < weft_scenario_variants(s->file); i++) {
        struct weft_scenario *scenario = NULL;
        if (!names_variant(c, i)) continue;
        WEFT_TRY(weft_scenario_new(s->file, i, &scenario, ret_error));
        weft_scenario_each(scenario, on_value, x);
        if (!b->row) b->row = weft_scenario_row(scenario, path);
        weft_scenario_free(scenario);
    }
    return WEFT_OK;
}

static void add_point(const struct verify *v, struct verified *s, uint32_t claim, struct verify_band *b,
                      struct verify_point point, const char **setting, uint32_t settings) {
    for (uint32_t i = 0; i < b->points; i++)
        if (!strcmp(b->point[i].text, point.text) && b->row) return; // the class has no such end
    point.layer = verify_layer_at(v, s, claim, setting, settings, true);
    b->point[b->points++] = point;
}

static uint32_t add_with(const struct verify_band *b, const char **setting, uint32_t n) {
    for (uint32_t i = 0; i < b->is->withs; i++)
        setting[n++] = b->is->with[i];
    return n;
}

static void add_value(const struct verify *v, struct verified *s, uint32_t claim, struct verify_band *b,
                      const char *name, const char *text) {
    struct weft_arena *arena = v->o->arena;
    const char **setting = weft_arena_alloc(arena, 1 + b->is->withs, sizeof *setting);
    setting[0] = weft_arena_format(arena, "%s=%s", b->is->path, text);
    struct verify_point point = {.name = name, .text = text, .number = (double)NAN};
    if (b->row) weft_param_number(b->row, text, arena, &point.number);
    add_point(v, s, claim, b, point, setting, add_with(b, setting, 1));
}

static const char *end_of(const struct weft_hardware_value *value, uint32_t end) {
    const char *text[] = {value->low, value->typical, value->high};
    return text[end] ? text[end] : value->typical;
}

/// Every value of the class that has a band, at one end of it.
static void add_class(const struct verify *v, struct verified *s, uint32_t claim, struct verify_band *b) {
    struct weft_arena *arena = v->o->arena;
    const char *path = b->is->path;
    int before = (int)(strrchr(path, '.') - path);
    b->row = NULL;
    for (uint32_t end = 0; end < 3; end++) {
        const char **setting = weft_arena_alloc(arena, b->of->n + 1 + b->is->withs, sizeof *setting);
        uint32_t n = 0;
        setting[n++] = weft_arena_format(arena, "%s=%s", path, b->of->name);
        for (const struct weft_hardware_value *one = b->of->value; one < b->of->value + b->of->n; one++)
            if (!one->fact && (one->low || one->high) && !strchr(one->key, '.'))
                setting[n++] = weft_arena_format(arena, "%.*s.%s=%s", before, path, one->key, end_of(one, end));
        add_point(v, s, claim, b, (struct verify_point){ends[end], b->of->name, (double)NAN, NULL}, setting,
                  add_with(b, setting, n));
    }
}

/// Half and twice, as no class has a band.
static enum weft_status add_factors(const struct verify *v, struct verified *s, uint32_t claim, struct verify_band *b,
                                    struct weft_error *ret_error) {
    static const char *const names[] = {"half", "twice"};
    const char *path = b->is->path;
    if (!b->ours || !b->row || isnan(b->number) || !(b->number > 0))
        return WEFT_REFUSE(ret_error, b->is->place,
                           "bands: %s: no class of hardware has a band for it, and it is not one number above 0 in all "
                           "variants of the claim; expected {%s: class} or {%s: [low, typical, high]}",
                           path, path, path);
    for (unsigned k = 0; k < 2; k++) {
        const char *text = weft_param_number_text(b->row, b->number * (k ? 2 : 0.5), v->o->arena);
        if (text) add_value(v, s, claim, b, names[k], text);
    }
    return WEFT_OK;
}

static enum weft_status prepare_band(const struct verify *v, struct verified *s, uint32_t claim, struct verify_band *b,
                                     struct weft_error *ret_error) {
    struct weft_arena *arena = v->o->arena;
    struct search x = {.arena = arena};
    const char *path = b->is->path;
    WEFT_TRY(find_own(s, &s->claims.claim[claim], b, &x, ret_error));
    b->number = (double)NAN;
    if (b->row && !weft_param_is_number(b->row)) b->row = NULL;
    if (x.value && !x.differ) b->ours = x.value;
    if (b->ours && b->row && !b->is->withs) weft_param_number(b->row, b->ours, arena, &b->number);
    for (uint32_t i = 0; i < b->is->values; i++)
        add_value(v, s, claim, b, b->is->values == 1 ? "other" : ends[b->is->values == 2 ? 2 * i : i], b->is->value[i]);
    for (uint32_t i = 1; i < b->points; i++)
        if (b->point[i - 1].number > b->point[i].number)
            return WEFT_REFUSE(ret_error, b->is->place,
                               "bands: %s: %s is above %s; expected low, typical and high in order", path,
                               b->point[i - 1].text, b->point[i].text);
    if (b->is->values) return WEFT_OK;
    uint32_t kind = kind_of(path);
    const char *name = *b->is->hardware ? b->is->hardware : x.class_name;
    if (kind < WEFT_HARDWARE_KINDS && (!name || !strcmp(name, WEFT_HARDWARE_IDEAL))) name = default_class[kind];
    if (name && kind < WEFT_HARDWARE_KINDS)
        WEFT_TRY(weft_hardware_find(kind, name, b->is->place, "bands", arena, &b->of, ret_error));
    if (b->of && is_class(path)) {
        add_class(v, s, claim, b);
        return WEFT_OK;
    }
    const struct weft_hardware_value *band = b->of ? weft_hardware_band(b->of, within_device(path)) : NULL;
    if (!band) b->of = NULL;
    if (!band && *b->is->hardware)
        return WEFT_REFUSE(ret_error, b->is->place, "bands: %s of %s has no band", path, b->is->hardware);
    for (uint32_t end = 0; band && end < 3; end++)
        add_value(v, s, claim, b, ends[end], end_of(band, end));
    return band ? WEFT_OK : add_factors(v, s, claim, b, ret_error);
}

enum weft_status verify_prepare_bands(struct verify *v, struct verified *s, struct weft_error *ret_error) {
    const struct verify_layer *before = s->layer;
    s->band = weft_arena_alloc(v->o->arena, s->claims.n, sizeof *s->band);
    for (uint32_t i = 0; i < s->claims.n; i++) {
        const struct weft_claim *c = &s->claims.claim[i];
        s->band[i] = weft_arena_alloc(v->o->arena, c->bands, sizeof **s->band);
        for (uint32_t k = 0; k < c->bands; k++) {
            s->band[i][k].is = &c->band[k];
            WEFT_TRY(prepare_band(v, s, i, &s->band[i][k], ret_error));
        }
    }
    return verify_prepare_layers(v, s, before, ret_error);
}

// --- judging ------------------------------------------------------------------------------------------------------

struct outcome {
    bool known, holds;
    const double *median;
};

static struct outcome outcome_of(const struct verified *s, const struct verify_reading *r, uint32_t claim,
                                 struct weft_arena *arena) {
    const struct weft_claim *c = &s->claims.claim[claim];
    struct verify_judgement j = verify_judge_readings(s, r, claim, arena);
    struct outcome o = {.known = weft_claim_is_judged(c, j.seeds), .median = j.median};
    for (uint32_t k = 0; k < s->readings; k++)
        o.known &= !r[k].judged[claim] || !r[k].left;
    o.holds = j.hold && j.hold >= weft_claim_seeds_needed(c, j.seeds);
    return o;
}

/// Whether the times that a claim compares lie in the same order as before, and nearer together.
static bool are_nearer(const struct weft_claim *c, const double *before, const double *now) {
    double widest = 0, widest_now = 0;
    for (uint32_t i = 0; i < c->metrics; i++)
        for (uint32_t k = 0; k < i; k++) {
            bool times = c->metric[i].dimension == WEFT_CLAIM_TIME && c->metric[k].dimension == WEFT_CLAIM_TIME;
            if (!times || !(before[i] > 0) || !(before[k] > 0) || !(now[i] > 0) || !(now[k] > 0)) continue;
            double was = log(before[i] / before[k]), is = log(now[i] / now[k]);
            if (was * is < 0 && fabs(is) > 0.01) return false;
            widest = fmax(widest, fabs(was));
            widest_now = fmax(widest_now, fabs(is));
        }
    return widest > widest_now;
}

static bool is_of_hosts(const char *path) {
    uint32_t kind = kind_of(path);
    return kind == WEFT_HARDWARE_NIC || kind == WEFT_HARDWARE_SERVER;
}

/// The two numbers nearest to each other, one of them or next to the scenario's own, between which the claim turns.
struct turn {
    double from, to; ///< NAN: there is none
};

static struct turn turn_of(const struct verify_band *b, const struct verify_in_band *in, bool ours_known, bool ours) {
    struct turn turn = {(double)NAN, (double)NAN};
    double at[VERIFY_POINTS + 1];
    bool holds[VERIFY_POINTS + 1];
    uint32_t n = 0;
    for (uint32_t i = 0; i <= b->points; i++) {
        bool own = i == b->points;
        double number = own ? b->number : b->point[i].number;
        if (isnan(number) || !(own ? ours_known : in->known[i])) continue;
        uint32_t k = n++;
        for (; k && at[k - 1] > number; k--)
            at[k] = at[k - 1], holds[k] = holds[k - 1];
        at[k] = number;
        holds[k] = own ? ours : in->holds[i];
    }
    double near = INFINITY;
    for (uint32_t i = 0; i + 1 < n; i++) {
        double far = isnan(b->number) ? at[i] : fmax(fabs(at[i] - b->number), fabs(at[i + 1] - b->number));
        if (holds[i] == holds[i + 1] || !(at[i] < at[i + 1]) || far >= near) continue;
        near = far;
        turn = (struct turn){at[i], at[i + 1]};
    }
    return turn;
}

/// Three digits are more than a bisection knows.
static const char *rounded_text(const struct weft_param *row, double number, struct weft_arena *arena) {
    double unit = number > 0 ? pow(10, floor(log10(number)) - 2) : 1;
    return weft_param_number_text(row, round(number / unit) * unit, arena);
}

static struct verify_in_band judge_band(const struct verified *s, uint32_t claim, uint32_t band,
                                        struct weft_arena *arena, struct turn *ret_turn) {
    const struct verify_band *b = &s->band[claim][band];
    struct verify_in_band in = {.verdict = WEFT_CLAIM_IN_BAND_UNKNOWN};
    struct outcome own = outcome_of(s, s->plain, claim, arena);
    bool known = own.known, nearer = is_of_hosts(b->is->path);
    uint32_t alike = 0, of = 0;
    for (uint32_t i = 0; i < b->points; i++) {
        struct outcome o = outcome_of(s, b->point[i].layer->reading, claim, arena);
        in.known[i] = o.known;
        in.holds[i] = o.holds;
        if (!strcmp(b->point[i].name, "search")) continue;
        known &= o.known;
        of++;
        alike += o.holds == own.holds;
        if (o.holds != own.holds) nearer &= are_nearer(&s->claims.claim[claim], own.median, o.median);
    }
    *ret_turn = turn_of(b, &in, own.known, own.holds);
    if (!known) return in;
    in.verdict = alike == of ? WEFT_CLAIM_IN_BAND_HOLDS
                 : nearer    ? WEFT_CLAIM_IN_BAND_HIDDEN
                 : alike     ? WEFT_CLAIM_IN_BAND_TURNS
                             : WEFT_CLAIM_IN_BAND_IDEAL;
    if (!isnan(ret_turn->from)) in.turns_at = rounded_text(b->row, (ret_turn->from + ret_turn->to) / 2, arena);
    return in;
}

struct verify_in_band verify_judge_band(const struct verify *v, const struct verified *s, uint32_t claim, uint32_t band,
                                        struct weft_arena *arena) {
    struct turn turn;
    return judge_band(s, claim, band, arena, &turn);
}

enum weft_claim_in_band verify_in_bands(const struct verify *v, const struct verified *s, uint32_t claim,
                                        struct weft_arena *arena) {
    enum weft_claim_in_band worst = WEFT_CLAIM_IN_BAND_UNKNOWN;
    for (uint32_t k = 0; k < s->claims.claim[claim].bands; k++) {
        enum weft_claim_in_band one = verify_judge_band(v, s, claim, k, arena).verdict;
        if (!one) return one;
        if (one > worst) worst = one;
    }
    return worst;
}

// --- where it turns -----------------------------------------------------------------------------------------------

/// Halves the range in which the claim turns; false: it is known well enough, within a twentieth.
static bool halve_turn(const struct verify *v, struct verified *s, uint32_t claim, uint32_t band) {
    struct verify_band *b = &s->band[claim][band];
    struct turn turn;
    struct verify_in_band in = judge_band(s, claim, band, v->o->arena, &turn);
    uint32_t before = b->points;
    if (!in.verdict || isnan(turn.from) || before == VERIFY_POINTS || turn.to - turn.from < 0.05 * turn.to)
        return false;
    const char *text = rounded_text(b->row, (turn.from + turn.to) / 2, v->o->arena);
    if (text) add_value(v, s, claim, b, "search", text);
    return b->points > before;
}

static enum weft_status halve_turns(struct verify *v, bool *ret_more, struct weft_error *ret_error) {
    *ret_more = false;
    for (struct verified *s = v->first; s; s = s->next) {
        const struct verify_layer *before = s->layer;
        for (uint32_t i = 0; i < s->claims.n && verify_is_judged(s); i++)
            for (uint32_t k = 0; k < s->claims.claim[i].bands; k++)
                *ret_more |= halve_turn(v, s, i, k);
        WEFT_TRY(verify_prepare_layers(v, v->preparing = s, before, ret_error));
    }
    return WEFT_OK;
}

enum weft_status verify_search_bands(struct verify *v, struct weft_error *ret_error) {
    bool more = true;
    while (more && !v->interrupted && !v->left) {
        WEFT_TRY(halve_turns(v, &more, ret_error));
        if (more) WEFT_TRY(verify_run(v, ret_error));
    }
    return WEFT_OK;
}

// --- text ---------------------------------------------------------------------------------------------------------

void verify_print_bands(const struct verify *v, const struct verified *s, uint32_t claim, struct weft_arena *arena) {
    const struct weft_claim *c = &s->claims.claim[claim];
    for (uint32_t k = 0; k < c->bands; k++) {
        const struct verify_band *b = &s->band[claim][k];
        struct verify_in_band in = verify_judge_band(v, s, claim, k, arena);
        printf("%*s%s%s%s%s: %s", WEFT_CLAIM_INDENT, "", b->is->path, b->of ? " (" : "", b->of ? b->of->name : "",
               b->of ? ")" : "",
               in.verdict == WEFT_CLAIM_IN_BAND_HOLDS && !in.holds[0] // as in the scenario
                   ? "stands in the band"
                   : weft_claim_in_band_texts[in.verdict]);
        if (in.turns_at) printf(", turns at %s", in.turns_at);
        for (uint32_t i = 0, n = 0; i < b->points; i++) {
            const struct verify_point *p = &b->point[i];
            if (!strcmp(p->name, "search")) continue;
            printf("%s%s%s%s %s", n++ ? ", " : "; ", p->name, b->row ? " " : "", b->row ? p->text : "",
                   !in.known[i]  ? "not judged"
                   : in.holds[i] ? "holds"
                                 : "does not");
        }
        if (b->ours) printf("; own %s", b->ours);
        putchar('\n');
    }
    enum weft_claim_in_band found = verify_in_bands(v, s, claim, arena);
    if (verify_is_band_unexpected(c, found))
        printf("%*sUNEXPECTED: %s, where in_band is %s\n", WEFT_CLAIM_INDENT, "", weft_claim_in_band_texts[found],
               weft_claim_in_band_names[c->in_band]);
}
