// SPDX-License-Identifier: Apache-2.0
// One value of a parameter: to and from text.
#include "base/param.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/tree.h"
#include "base/units.h"
#include "weft/param.h"

const struct weft_param_table weft_no_params = {.conf_size = 1};

enum { WHY_MAX = 512, DSCPS = 64 };

/// The state of parsing a value, shared by the parsers of all types.
struct parse {
    const struct weft_param *row;
    const char *text;
    void *field;
    struct weft_arena *arena;
    char why[WHY_MAX]; ///< set on failure: what is wrong, what was expected
};

static bool is_never(const struct weft_param *row, const char *text) {
    if (row->type != WEFT_PARAM_TIME) return false;
    if (row->choices) return !strcmp(text, row->choices[0]);
    return row->max && !strcmp(row->max, "never") && !strcmp(text, "never");
}

static enum weft__quantity quantity_of(enum weft_param_type type) {
    switch (type) {
    case WEFT_PARAM_TIME:
        return WEFT__TIME;
    case WEFT_PARAM_RATE:
        return WEFT__RATE;
    case WEFT_PARAM_BYTES:
        return WEFT__BYTES;
    default:
        return WEFT__COUNT;
    }
}

const char *weft__param_expected(const struct weft_param *row) {
    static const char *const expected[] = {
        [WEFT_PARAM_REAL] = "a number such as \"0.5\", \"1/256\" or \"1%\"",
        [WEFT_PARAM_BOOL] = "true or false",
        [WEFT_PARAM_CHOICE] = "a name",
        [WEFT_PARAM_TEXT] = "a text or a list of texts",
        [WEFT_PARAM_PROSE] = "a text or a list of texts",
        [WEFT_PARAM_PRIORITIES] = "priorities 0 to 7 such as [3, 4], \"0-6\", all or none",
        [WEFT_PARAM_WEIGHTS] = "one weight, or eight such as [1, 1, 1, 4, 1, 1, 1, 1]",
        [WEFT_PARAM_DSCP_MAP] = "code points 0 to 63 and their priorities 0 to 7 such as {26: 3, 48: 7}",
        [WEFT_PARAM_MODEL] = "the name of a model, or a map with its kind and parameters",
        [WEFT_PARAM_SECTION] = "a map of parameters",
    };
    const char *text = row->type < sizeof expected / sizeof *expected ? expected[row->type] : NULL;
    return text ? text : weft__quantity_expected(quantity_of(row->type));
}

/// "\"x\": expected ..." for the row.
static bool fail_unexpected(struct parse *p) {
    snprintf(p->why, sizeof p->why, "\"%.80s\": expected %s", p->text, weft__param_expected(p->row));
    return false;
}

/// A bound from the table itself; failure to parse it would be a bug.
static uint64_t bound_of(const struct weft_param *row, const char *text) {
    if (is_never(row, text)) return WEFT_TIME_NEVER;
    uint64_t value = 0;
    char why[WHY_MAX];
    bool ok = weft__quantity_parse(quantity_of(row->type), text, &value, why, sizeof why);
    assert(ok);
    return value;
}

static bool out_of_range(struct parse *p, const char *text) {
    const struct weft_param *row = p->row;
    if (is_never(row, row->max)) {
        snprintf(p->why, sizeof p->why,
                 "\"%.80s\" is out of range %s to 8640000s (simulated time has 100 days), or never", text, row->min);
        return false;
    }
    if (row->min && row->max)
        snprintf(p->why, sizeof p->why, "\"%.80s\" is out of range %s to %s%s%s", text, row->min, row->max,
                 row->choices ? ", or " : "", row->choices ? row->choices[0] : "");
    else
        snprintf(p->why, sizeof p->why, "\"%.80s\" is out of range: %s %s", text, row->min ? "at least" : "at most",
                 row->min ? row->min : row->max);
    return false;
}

static bool parse_quantity(struct parse *p, const char *text, uint64_t *ret) {
    const struct weft_param *row = p->row;
    if (is_never(row, text)) {
        *ret = WEFT_TIME_NEVER;
        return true;
    }
    uint64_t value;
    if (!weft__quantity_parse(quantity_of(row->type), text, &value, p->why, sizeof p->why)) return false;
    uint64_t max = row->max ? bound_of(row, row->max) : UINT64_MAX;
    if (max == WEFT_TIME_NEVER && row->type == WEFT_PARAM_TIME) max = WEFT_TIME_MAX;
    if ((row->min && value < bound_of(row, row->min)) || value > max) return out_of_range(p, text);
    *ret = value;
    return true;
}

static bool parse_real(struct parse *p, double *ret) {
    const struct weft_param *row = p->row;
    double value, min = 0, max = 0;
    if (!weft__real_parse(p->text, &value)) return fail_unexpected(p);
    bool known = (!row->min || weft__real_parse(row->min, &min)) && (!row->max || weft__real_parse(row->max, &max));
    assert(known);
    if ((row->min && value < min) || (row->max && value > max)) return out_of_range(p, p->text);
    *ret = value;
    return true;
}

static bool parse_bool(struct parse *p, bool *ret) {
    static const char *const words[] = {"true", "false", "on", "off", "yes", "no"};
    for (unsigned i = 0; i < 6; i++) {
        if (strcmp(p->text, words[i])) continue;
        *ret = i % 2 == 0;
        return true;
    }
    return fail_unexpected(p);
}

void weft__names_join(const char *const *names, uint32_t n, char *text, size_t size) {
    static const char more[] = ", ...";
    size_t used = 0;
    *text = 0;
    for (uint32_t i = 0; i < n; i++) {
        size_t room = size - used - (i + 1 < n ? sizeof more - 1 : 0);
        int own = snprintf(NULL, 0, "%s%s", i ? ", " : "", names[i]);
        if ((size_t)own >= room) {
            snprintf(text + used, size - used, "%s", i ? more : more + 2);
            return;
        }
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", names[i]);
    }
}

void weft__names_expected(const char *word, const char *const *names, uint32_t n, char *text, size_t size) {
    char key[64];
    const char *nearest = weft__synonym_find(word, names, n, key, sizeof key);
    if (!nearest) nearest = weft_error_nearest(word, names, n);
    int used = !n        ? snprintf(text, size, "there is none")
               : nearest ? snprintf(text, size, "did you mean \"%s\"? ", nearest)
                         : snprintf(text, size, "%s", "");
    if (n && (size_t)used < size)
        used += snprintf(text + used, size - (size_t)used, "expected %s", n > 1 ? "one of " : "");
    if (n && (size_t)used + 8 < size) weft__names_join(names, n, text + used, size - (size_t)used);
}

static bool parse_choice(struct parse *p, uint32_t *ret) {
    uint32_t n = 0;
    for (; p->row->choices[n]; n++) {
        if (strcmp(p->text, p->row->choices[n])) continue;
        *ret = n;
        return true;
    }
    char expected[WHY_MAX / 2];
    weft__names_expected(p->text, p->row->choices, n, expected, sizeof expected);
    snprintf(p->why, sizeof p->why, "no choice \"%.80s\"; %s", p->text, expected);
    return false;
}

/// One digit 0 to 7, with optional spaces around it.
static bool priority_read(const char **text, unsigned *ret) {
    *text += strspn(*text, " ");
    if (**text < '0' || **text > '7') return false;
    *ret = (unsigned)(*(*text)++ - '0');
    *text += strspn(*text, " ");
    return true;
}

static bool parse_priorities(struct parse *p, uint8_t *ret) {
    if (!strcmp(p->text, "none") || !strcmp(p->text, "all")) {
        *ret = p->text[0] == 'a' ? 0xff : 0;
        return true;
    }
    unsigned mask = 0;
    for (const char *s = p->text;; s++) {
        unsigned first, last;
        if (!priority_read(&s, &first)) return fail_unexpected(p);
        last = first;
        if (*s == '-') {
            s++;
            if (!priority_read(&s, &last) || last < first) return fail_unexpected(p);
        }
        for (unsigned i = first; i <= last; i++)
            mask |= 1u << i;
        if (!*s) break;
        if (*s != ',') return fail_unexpected(p);
    }
    *ret = (uint8_t)mask;
    return true;
}

static bool parse_weights(struct parse *p, uint64_t *ret) {
    uint64_t weight[WEFT_PRIORITIES];
    uint32_t n = 0;
    char *text = weft_arena_text(p->arena, p->text), *rest = text;
    for (char *part; (part = strsep(&rest, ",")) != NULL; n++) {
        part += strspn(part, " ");
        if (n == WEFT_PRIORITIES || !*part) return fail_unexpected(p);
        if (!parse_quantity(p, part, &weight[n])) return false;
    }
    if (n != 1 && n != WEFT_PRIORITIES) return fail_unexpected(p);
    for (uint32_t i = 0; i < WEFT_PRIORITIES; i++)
        ret[i] = weight[n == 1 ? 0 : i];
    return true;
}

static bool parse_dscp_map(struct parse *p, uint8_t *ret) {
    for (unsigned i = 0; i < DSCPS; i++)
        ret[i] = (uint8_t)(i >> 3);
    for (const char *s = p->text; *s; s += *s == ',') {
        unsigned dscp, priority;
        int n = 0;
        s += strspn(s, " ");
        bool ok = isdigit((unsigned char)*s) && sscanf(s, "%2u :%n", &dscp, &n) == 1 && n > 0 && dscp < DSCPS;
        s += ok ? n : 0;
        if (!ok || !priority_read(&s, &priority) || (*s && *s != ',')) return fail_unexpected(p);
        ret[dscp] = (uint8_t)priority;
    }
    return true;
}

static bool parse_value(struct parse *p) {
    switch (p->row->type) {
    case WEFT_PARAM_TIME:
    case WEFT_PARAM_RATE:
    case WEFT_PARAM_BYTES:
    case WEFT_PARAM_UINT:
        return parse_quantity(p, p->text, p->field);
    case WEFT_PARAM_REAL:
        return parse_real(p, p->field);
    case WEFT_PARAM_BOOL:
        return parse_bool(p, p->field);
    case WEFT_PARAM_CHOICE:
        return parse_choice(p, p->field);
    case WEFT_PARAM_TEXT:
    case WEFT_PARAM_PROSE:
        *(const char **)p->field = weft_arena_text(p->arena, p->text);
        return true;
    case WEFT_PARAM_PRIORITIES:
        return parse_priorities(p, p->field);
    case WEFT_PARAM_WEIGHTS:
        return parse_weights(p, p->field);
    case WEFT_PARAM_DSCP_MAP:
        return parse_dscp_map(p, p->field);
    case WEFT_PARAM_MODEL:
    case WEFT_PARAM_SECTION:
        break;
    }
    assert(0 && "a model or a section is not one value");
    return false;
}

enum weft_status weft__param_parse_at(const struct weft_param *row, const char *text, struct weft_place place,
                                      const char *path, void *conf, struct weft_arena *arena,
                                      struct weft_error *ret_error) {
    void *field = (char *)conf + row->offset;
    int control = weft__text_control(text, row->type == WEFT_PARAM_PROSE);
    if (control)
        return WEFT_REFUSE(ret_error, place, "%s: the control character 0x%02x is in it; expected text without", path,
                           control);
    if (row->type == WEFT_PARAM_MODEL) {
        struct weft_tree name = {.type = WEFT_TREE_TEXT, .place = place, .text = text};
        return weft__model_load_at((enum weft_model_kind)row->model_kind, NULL, &name, path, field, arena, ret_error);
    }
    struct parse p = {.row = row, .text = text, .field = field, .arena = arena};
    if (parse_value(&p)) return WEFT_OK;
    return WEFT_REFUSE(ret_error, place, "%s: %s", path, p.why);
}

enum weft_status weft_param_parse(const struct weft_param *row, const char *text, struct weft_place place, void *conf,
                                  struct weft_arena *arena, struct weft_error *ret_error) {
    return weft__param_parse_at(row, text, place, row->name, conf, arena, ret_error);
}

static int format_priorities(uint8_t mask, char *text, size_t size) {
    char list[2 * WEFT_PRIORITIES + 1] = "";
    size_t n = 0;
    for (unsigned i = 0; i < WEFT_PRIORITIES; i++) {
        if (!(mask >> i & 1)) continue;
        if (n) list[n++] = ',';
        list[n++] = (char)('0' + i);
    }
    return snprintf(text, size, "%s", n ? list : "none");
}

static int format_weights(const uint64_t *weight, char *text, size_t size) {
    char list[WEFT_PRIORITIES * 21] = "";
    int n = 0;
    for (unsigned i = 0; i < WEFT_PRIORITIES; i++)
        n += snprintf(list + n, sizeof list - (size_t)n, "%s%" PRIu64, i ? "," : "", weight[i]);
    return snprintf(text, size, "%s", list);
}

static int format_dscp_map(const uint8_t *map, char *text, size_t size) {
    char list[DSCPS * 5 + 1] = "";
    int n = 0;
    for (unsigned i = 0; i < DSCPS; i++)
        if (map[i] != i >> 3) n += snprintf(list + n, sizeof list - (size_t)n, "%s%u:%u", n ? "," : "", i, map[i]);
    return snprintf(text, size, "%s", list);
}

int weft_param_format(const struct weft_param *row, const void *conf, char *text, size_t size) {
    const void *field = (const char *)conf + row->offset;
    switch (row->type) {
    case WEFT_PARAM_TIME:
        if (*(const uint64_t *)field == WEFT_TIME_NEVER)
            return snprintf(text, size, "%s", row->choices ? row->choices[0] : "never");
        return weft__quantity_format(WEFT__TIME, *(const uint64_t *)field, text, size);
    case WEFT_PARAM_RATE:
    case WEFT_PARAM_BYTES:
    case WEFT_PARAM_UINT:
        return weft__quantity_format(quantity_of(row->type), *(const uint64_t *)field, text, size);
    case WEFT_PARAM_REAL:
        return weft__real_format(*(const double *)field, text, size);
    case WEFT_PARAM_BOOL:
        return snprintf(text, size, "%s", *(const bool *)field ? "true" : "false");
    case WEFT_PARAM_CHOICE:
        return snprintf(text, size, "%s", row->choices[*(const uint32_t *)field]);
    case WEFT_PARAM_TEXT:
    case WEFT_PARAM_PROSE:
        return snprintf(text, size, "%s", *(const char *const *)field);
    case WEFT_PARAM_PRIORITIES:
        return format_priorities(*(const uint8_t *)field, text, size);
    case WEFT_PARAM_WEIGHTS:
        return format_weights(field, text, size);
    case WEFT_PARAM_DSCP_MAP:
        return format_dscp_map(field, text, size);
    case WEFT_PARAM_MODEL:
        return snprintf(text, size, "%s", ((const struct weft_model_conf *)field)->model->name);
    case WEFT_PARAM_SECTION:
        break;
    }
    assert(0 && "a section is not one value");
    return 0;
}

// --- numbers ------------------------------------------------------------------------------------------------------

bool weft_param_is_number(const struct weft_param *row) {
    return row->type == WEFT_PARAM_TIME || row->type == WEFT_PARAM_RATE || row->type == WEFT_PARAM_BYTES ||
           row->type == WEFT_PARAM_UINT || row->type == WEFT_PARAM_REAL;
}

union number {
    uint64_t whole;
    double real;
};

bool weft_param_number(const struct weft_param *row, const char *text, struct weft_arena *arena, double *ret_number) {
    union number conf = {0};
    struct weft_param at0 = *row;
    at0.offset = 0;
    if (!weft_param_is_number(row) || weft_param_parse(&at0, text, WEFT_NOWHERE, &conf, arena, NULL)) return false;
    *ret_number = row->type == WEFT_PARAM_REAL ? conf.real : (double)conf.whole;
    return true;
}

const char *weft_param_number_text(const struct weft_param *row, double number, struct weft_arena *arena) {
    union number conf = {.real = number};
    struct weft_param at0 = *row;
    char text[64];
    at0.offset = 0;
    if (!(number >= 0) || number > (double)(WEFT_TIME_NEVER / 2)) return NULL;
    if (row->type != WEFT_PARAM_REAL) conf.whole = (uint64_t)(number + 0.5);
    weft_param_format(&at0, &conf, text, sizeof text);
    bool allowed = !weft_param_parse(&at0, text, WEFT_NOWHERE, &conf, arena, NULL);
    return allowed ? weft_arena_text(arena, text) : NULL;
}
