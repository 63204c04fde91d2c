// SPDX-License-Identifier: Apache-2.0
#include "base/units.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weft/error.h"

struct unit {
    const char *name;
    uint64_t factor;
    bool binary;      ///< 1024-based
    uint8_t decimals; ///< of the factor: a foot is 3048 tenths of a millimetre
    bool read_only;   ///< never written
};

static const struct quantity {
    const char *expected, *units_text;
    struct unit unit[16]; ///< ascending within decimal and within binary; the first is the base unit
} quantities[] = {
    [WEFT__TIME] = {"a time such as \"150ns\"",
                    "ps, ns, us, ms, s",
                    {{"ps", 1, .binary = false},
                     {"ns", WEFT_PS_PER_NS, .binary = false},
                     {"us", WEFT_PS_PER_US, .binary = false},
                     {"ms", WEFT_PS_PER_MS, .binary = false},
                     {"s", WEFT_PS_PER_S, .binary = false}}},
    [WEFT__RATE] = {"a rate such as \"200Gbps\"",
                    "bps, kbps, Mbps, Gbps, Tbps, or k, M, G, T",
                    {{"bps", 1, .binary = false},
                     {"kbps", 1000, .binary = false},
                     {"Mbps", 1000000, .binary = false},
                     {"Gbps", 1000000000, .binary = false},
                     {"Tbps", UINT64_C(1000000000000), .binary = false}}},
    [WEFT__BYTES] = {"a size such as \"4096B\" or \"200KB\"",
                     "B, KB, MB, GB, TB, KiB, MiB, GiB, TiB",
                     {{"B", 1, .binary = false},
                      {"KB", 1000, .binary = false},
                      {"MB", 1000000, .binary = false},
                      {"GB", 1000000000, .binary = false},
                      {"TB", UINT64_C(1000000000000), .binary = false},
                      {"KiB", UINT64_C(1) << 10, .binary = true},
                      {"MiB", UINT64_C(1) << 20, .binary = true},
                      {"GiB", UINT64_C(1) << 30, .binary = true},
                      {"TiB", UINT64_C(1) << 40, .binary = true}}},
    [WEFT__COUNT] = {"a whole number such as \"5\"", "none", {{"", 1, .binary = false}}},
    [WEFT__LENGTH] = {"a length such as \"40m\"",
                      "mm, cm, m, km, in, ft, mi",
                      {{"mm", 1, .binary = false},
                       {"m", 1000, .binary = false},
                       {"km", 1000000, .binary = false},
                       {"cm", 10, .read_only = true},
                       {"in", 254, .decimals = 1, .read_only = true},
                       {"ft", 3048, .decimals = 1, .read_only = true},
                       {"mi", 1609344, .read_only = true},
                       {"Meters", 1000, .read_only = true}, // as NetBox spells them
                       {"Centimeters", 10, .read_only = true},
                       {"Feet", 3048, .decimals = 1, .read_only = true},
                       {"Inches", 254, .decimals = 1, .read_only = true}}},
};

static const char *const base_nouns[] = {[WEFT__TIME] = " of picoseconds",
                                         [WEFT__RATE] = " of bits per second",
                                         [WEFT__BYTES] = " of bytes",
                                         [WEFT__COUNT] = "",
                                         [WEFT__LENGTH] = " of millimetres"};

const char *weft__quantity_expected(enum weft__quantity quantity) {
    return quantities[quantity].expected;
}

static const struct unit *unit_called(const struct quantity *q, const char *name) {
    for (const struct unit *u = q->unit; u->name; u++)
        if (!strcmp(u->name, name)) return u;
    return NULL;
}

/// Other spellings of a unit that have one meaning only: 400G, 1.6t, 100Gb/s, 400GbE and 100Gbit/s of rates (bits, as
/// in "Gbps"; "GB/s" is refused), 64kB, 5usec.
static const struct unit *unit_find(enum weft__quantity quantity, const char *name) {
    static const char prefixes[] = "kKmMgGtT";
    static const char *const ends[] = {"", "b", "b/s", "bE", "bps", "bit", "bit/s", "bits/s"};
    static const char *const others[][2] = {{"kB", "KB"},        {"nsec", "ns"}, {"usec", "us"}, {"\xc2\xb5s", "us"},
                                            {"\xce\xbcs", "us"}, {"msec", "ms"}, {"sec", "s"}};
    const struct quantity *q = &quantities[quantity];
    const struct unit *unit = unit_called(q, name);
    if (unit || !*name) return unit;
    if (quantity == WEFT__RATE) {
        const char *prefix = strchr(prefixes, *name);
        for (size_t e = prefix ? 0 : 1; e < sizeof ends / sizeof *ends; e++)
            if (!strcmp(name + (prefix != NULL), ends[e])) return &q->unit[prefix ? 1 + (prefix - prefixes) / 2 : 0];
    }
    for (size_t o = 0; o < sizeof others / sizeof *others; o++)
        if (!strcmp(name, others[o][0])) return unit_called(q, others[o][1]);
    return NULL;
}

/// A decimal number as digits x 10^-decimals.
struct decimal {
    unsigned __int128 digits;
    uint32_t decimals;
    bool overflow;
};

static void decimal_push(struct decimal *d, unsigned digit, bool fraction) {
    d->overflow |= __builtin_mul_overflow(d->digits, (unsigned __int128)10, &d->digits);
    d->overflow |= __builtin_add_overflow(d->digits, (unsigned __int128)digit, &d->digits);
    d->decimals += fraction;
}

/// Reads digits[.digits]; returns where it ended, `text` itself if there is no number. Trailing zeros of the fraction
/// are skipped.
static const char *decimal_read(const char *text, struct decimal *ret) {
    *ret = (struct decimal){0};
    const char *s = text;
    for (; isdigit((unsigned char)*s); s++)
        decimal_push(ret, (unsigned)(*s - '0'), false);
    if (s == text || *s != '.' || !isdigit((unsigned char)s[1])) return s;
    uint32_t zeros = 0;
    for (s++; isdigit((unsigned char)*s); s++) {
        if (*s == '0') {
            zeros++;
            continue;
        }
        for (; zeros; zeros--)
            decimal_push(ret, 0, true);
        decimal_push(ret, (unsigned)(*s - '0'), true);
    }
    return s;
}

/// Half a picosecond is nothing to keep, half a byte or half a flow is a mistake.
static bool is_divisible(enum weft__quantity quantity) {
    return quantity != WEFT__BYTES && quantity != WEFT__COUNT;
}

/// Units as people write them, and the units that weft accepts: the unit of 1000, and that of 1024 if they may mean it.
static const struct {
    enum weft__quantity quantity;
    const char *words, *unit, *binary;
} informal[] = {
    {WEFT__BYTES, " b byte bytes ", "B", NULL},
    {WEFT__BYTES, " k kb kib ", "KB", "KiB"},
    {WEFT__BYTES, " m mb mib ", "MB", "MiB"},
    {WEFT__BYTES, " g gb gib ", "GB", "GiB"},
    {WEFT__BYTES, " t tb tib ", "TB", "TiB"},
    {WEFT__TIME, " n nsec nsecs nanoseconds ", "ns", NULL},
    {WEFT__TIME, " u usec usecs microseconds \xc2\xb5s \xce\xbcs ", "us", NULL},
    {WEFT__TIME, " m msec msecs milliseconds ", "ms", NULL},
    {WEFT__TIME, " sec secs second seconds ", "s", NULL},
};

/// "64k": "64KB" (decimal) or "64KiB" (binary); the example of the quantity if the unit is not known.
static const char *instead_of(enum weft__quantity quantity, const char *text, const char *unit, char *ret,
                              size_t size) {
    char word[16] = " ";
    size_t n = strlen(unit);
    snprintf(ret, size, "%s", quantities[quantity].expected);
    if (n + 3 > sizeof word) return ret;
    for (size_t i = 0; i < n; i++)
        word[i + 1] = (char)tolower((unsigned char)unit[i]);
    word[n + 1] = ' ';
    int digits = (int)(unit - text) < 40 ? (int)(unit - text) : 0;
    while (digits && text[digits - 1] == ' ')
        digits--;
    for (size_t i = 0; i < sizeof informal / sizeof *informal && digits; i++) {
        if (informal[i].quantity != quantity || !strstr(informal[i].words, word)) continue;
        const char *unit_of = informal[i].unit, *binary = informal[i].binary;
        if (binary)
            snprintf(ret, size, "\"%.*s%s\" (decimal) or \"%.*s%s\" (binary)", digits, text, unit_of, digits, text,
                     binary);
        else
            snprintf(ret, size, "\"%.*s%s\"", digits, text, unit_of);
        break;
    }
    return ret;
}

/// `cut`: a fraction of the base unit is cut off, unless that unit is indivisible.
static bool parse_quantity(enum weft__quantity quantity, const char *text, bool cut, uint64_t *ret_value, char *why,
                           size_t size) {
    const struct quantity *q = &quantities[quantity];
    const char *start = text + strspn(text, " ");
    if (*start == '-' && isdigit((unsigned char)start[1])) {
        snprintf(why, size, "\"%.80s\" is negative; expected %s", text, q->expected);
        return false;
    }
    struct decimal d;
    const char *end = decimal_read(start, &d);
    if (end == start) {
        snprintf(why, size, "\"%.80s\": expected %s", text, q->expected);
        return false;
    }
    const char *unit_text = end + strspn(end, " ");
    const struct unit *unit = unit_find(quantity, unit_text);
    if (!unit) {
        char instead[160];
        if (!*unit_text)
            snprintf(why, size, "\"%.80s\" has no unit; expected %s", text, q->expected);
        else if (quantity == WEFT__BYTES && strchr("kKMGT", *unit_text) && !unit_text[1])
            snprintf(why, size, "\"%.80s\": \"%s\" may be 1000 or 1024; expected %cB or %ciB", text, unit_text,
                     *unit_text == 'k' ? 'K' : *unit_text, *unit_text == 'k' ? 'K' : *unit_text);
        else
            snprintf(why, size, "\"%.80s\": \"%.80s\" is not a unit (%s); expected %s", text, unit_text, q->units_text,
                     instead_of(quantity, start, unit_text, instead, sizeof instead));
        return false;
    }
    unsigned __int128 value;
    bool overflow = __builtin_mul_overflow(d.digits, (unsigned __int128)unit->factor, &value);
    bool whole = true;
    for (d.decimals += unit->decimals; d.decimals; d.decimals--) {
        if (value % 10) whole = false;
        value /= 10;
    }
    if (d.overflow || overflow || value > UINT64_MAX - 1) { // UINT64_MAX is "never"
        snprintf(why, size, "\"%.80s\" is too large or has too many digits; expected %s", text, q->expected);
        return false;
    }
    cut |= unit->decimals > 0; // no inch is a whole number of millimetres
    if (!whole && !(cut && is_divisible(quantity))) {
        snprintf(why, size, "\"%.80s\" is not a whole number%s", text, base_nouns[quantity]);
        return false;
    }
    *ret_value = (uint64_t)value;
    return true;
}

bool weft__quantity_parse(enum weft__quantity quantity, const char *text, uint64_t *ret_value, char *why, size_t size) {
    return parse_quantity(quantity, text, false, ret_value, why, size);
}

/// "1e-06", possibly followed by a unit.
static bool parse_power(enum weft__quantity quantity, const char *unit, const char *text, uint64_t *ret_value,
                        char *why, size_t size) {
    char one[64], *end;
    uint64_t factor;
    long double value = strtold(text, &end);
    end += strspn(end, " ");
    snprintf(one, sizeof one, "1%.40s", *end ? end : unit);
    if (!weft__quantity_parse(quantity, one, &factor, why, size)) return false;
    value *= (long double)factor;
    if (!(value >= 0 && value < 18446744073709551615.0L)) {
        snprintf(why, size, "\"%.80s\" is too large or negative; expected %s", text, quantities[quantity].expected);
        return false;
    }
    *ret_value = (uint64_t)llroundl(value);
    if (!is_divisible(quantity) && (value < (long double)*ret_value || value > (long double)*ret_value)) {
        snprintf(why, size, "\"%.80s\" is not a whole number%s", text, base_nouns[quantity]);
        return false;
    }
    return true;
}

bool weft__number_parse(enum weft__quantity quantity, const char *unit, const char *text, uint64_t *ret_value,
                        char *why, size_t size) {
    char whole[128];
    const char *rest = text + strspn(text, "0123456789.");
    if (rest > text && (*rest == 'e' || *rest == 'E') && strchr("+-0123456789", rest[1]) && rest[1])
        return parse_power(quantity, unit, text, ret_value, why, size);
    if (rest > text && !*rest) {
        snprintf(whole, sizeof whole, "%.100s%.20s", text, unit);
        text = whole;
    }
    return parse_quantity(quantity, text, true, ret_value, why, size);
}

/// value / factor in decimal, exactly; factor is a power of ten.
static int format_exact(uint64_t value, uint64_t factor, const char *unit, char *text, size_t size) {
    uint64_t rest = value % factor;
    char fraction[24] = "";
    if (rest) {
        int digits = 0;
        for (uint64_t f = factor; f > 1; f /= 10)
            digits++;
        int n = snprintf(fraction, sizeof fraction, ".%0*" PRIu64, digits, rest);
        while (fraction[n - 1] == '0')
            fraction[--n] = 0;
    }
    return snprintf(text, size, "%" PRIu64 "%s%s", value / factor, fraction, unit);
}

int weft__quantity_format(enum weft__quantity quantity, uint64_t value, char *text, size_t size) {
    const struct quantity *q = &quantities[quantity];
    const struct unit *best = q->unit;
    for (const struct unit *u = q->unit; u->name; u++) {
        bool divides = value % u->factor == 0;
        bool better = u->binary ? best->factor == 1 || best->binary : true;
        // Bytes stay whole numbers (4096B, 4KiB, 400KB); times and rates may have a fraction (2.5us).
        if (!u->read_only && value >= u->factor && better && (divides || quantity != WEFT__BYTES)) best = u;
    }
    if (!value && quantity == WEFT__TIME) best = unit_called(q, "ns");
    if (best->binary) return snprintf(text, size, "%" PRIu64 "%s", value / best->factor, best->name);
    return format_exact(value, best->factor, best->name, text, size);
}

static bool number_read(const char **text, double *ret) {
    const char *s = *text;
    s += *s == '-' || *s == '+';
    if (!isdigit((unsigned char)*s) && *s != '.') return false;
    if (strspn(s, "0123456789.eE+-") < strcspn(s, "/% ")) return false; // no hexadecimal, nan, inf
    char *end;
    *ret = strtod(*text, &end);
    bool ok = end != *text && isfinite(*ret);
    *text = end;
    return ok;
}

bool weft__real_parse(const char *text, double *ret_value) {
    double value, divisor;
    if (!number_read(&text, &value)) return false;
    if (*text == '/') {
        text++;
        if (!number_read(&text, &divisor) || !(divisor > 0 || divisor < 0)) return false;
        value /= divisor;
    } else if (*text == '%') {
        text++;
        value /= 100;
    }
    *ret_value = value;
    return !*text && isfinite(value);
}

int weft__real_format(double value, char *text, size_t size) {
    char shortest[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(shortest, sizeof shortest, "%.*g", digits, value);
        double back = strtod(shortest, NULL);
        if (back >= value && back <= value) break;
    }
    return snprintf(text, size, "%s", shortest);
}

/// Significant digits of a whole number: all but its trailing zeros.
static unsigned significant_digits(uint64_t value) {
    while (value && value % 10 == 0)
        value /= 10;
    unsigned n = 0;
    for (; value; value /= 10)
        n++;
    return n;
}

/// Rounds to three significant digits, halves up.
static uint64_t round_digits(uint64_t value) {
    uint64_t step = 1;
    while (value / step >= 1000)
        step *= 10;
    uint64_t down = value - value % step;
    return value % step >= (step + 1) / 2 && step > 1 && down <= UINT64_MAX - step ? down + step : down;
}

enum { EXACT_DIGITS = 5 }; // up to this many digits, an exact figure is as easy to read as a rounded one

static int format_for_people(enum weft__quantity quantity, uint64_t value, char *text, size_t size) {
    const struct quantity *q = &quantities[quantity];
    if (significant_digits(value) > EXACT_DIGITS) value = round_digits(value);
    const struct unit *best = q->unit;
    for (const struct unit *u = q->unit; u->name && !u->binary; u++)
        if (value >= u->factor) best = u;
    return format_exact(value, best->factor, best->name, text, size);
}

int weft_format_time(weft_time_ps time, char *text, size_t size) {
    if (time == WEFT_TIME_NEVER) return snprintf(text, size, "never");
    return time ? format_for_people(WEFT__TIME, time, text, size) : snprintf(text, size, "0ns");
}
int weft_format_bytes(weft_bytes bytes, char *text, size_t size) {
    if (bytes < 10000) return snprintf(text, size, "%" PRIu64 "B", bytes);
    return format_for_people(WEFT__BYTES, bytes, text, size);
}
int weft_format_rate(weft_rate_bps rate, char *text, size_t size) {
    return format_for_people(WEFT__RATE, rate, text, size);
}

static struct weft__quantity_text exact_text(enum weft__quantity quantity, uint64_t value) {
    struct weft__quantity_text t;
    weft__quantity_format(quantity, value, t.text, sizeof t.text);
    return t;
}

struct weft__quantity_text weft__bytes_text(weft_bytes bytes) {
    return exact_text(WEFT__BYTES, bytes);
}

struct weft__quantity_text weft__time_text(weft_time_ps time) {
    return exact_text(WEFT__TIME, time);
}

struct weft__quantity_text weft__rate_text(weft_rate_bps rate) {
    return exact_text(WEFT__RATE, rate);
}

#define SHORT(name, type)                                                                                              \
    struct weft__quantity_text weft__short_##name(type value) {                                                        \
        struct weft__quantity_text t;                                                                                  \
        weft_format_##name(value, t.text, sizeof t.text);                                                              \
        return t;                                                                                                      \
    }
SHORT(time, weft_time_ps)
SHORT(bytes, weft_bytes)
SHORT(rate, weft_rate_bps)

/// In the largest of these units, each 1000 times the one before, of which there is one at least.
static struct weft__quantity_text show_about(double value, const char *const *unit, unsigned units) {
    struct weft__quantity_text shown;
    double scale = 1;
    unsigned k = 0;
    for (; k + 1 < units && value >= 1000 * scale * 0.9995; k++)
        scale *= 1000;
    value /= scale;
    snprintf(shown.text, sizeof shown.text, "%.*f%s", value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2, value, unit[k]);
    return shown;
}

struct weft__quantity_text weft__about_time(weft_time_ps time) {
    static const char *const unit[] = {"ps", "ns", "us", "ms", "s"};
    return show_about((double)time, unit, 5);
}

struct weft__quantity_text weft__about_bytes(weft_bytes bytes) {
    static const char *const unit[] = {"KB", "MB", "GB", "TB"};
    struct weft__quantity_text shown;
    if (bytes >= 1000) return show_about((double)bytes / 1e3, unit, 4);
    snprintf(shown.text, sizeof shown.text, "%" PRIu64 "B", bytes);
    return shown;
}

struct weft__quantity_text weft__at_us(weft_time_ps time) {
    struct weft__quantity_text shown;
    snprintf(shown.text, sizeof shown.text, "%" PRIu64 ".%03" PRIu64 "us", time / WEFT_PS_PER_US,
             time % WEFT_PS_PER_US / WEFT_PS_PER_NS);
    return shown;
}

struct weft__counted weft__noun(uint64_t n, const char *noun) {
    static const char *const sibilants[] = {"s", "x", "z", "ch", "sh"};
    struct weft__counted c;
    size_t length = strlen(noun);
    bool one = n == 1, ies = length > 1 && noun[length - 1] == 'y' && !strchr("aeiou", noun[length - 2]), es = false;
    for (size_t i = 0; i < sizeof sibilants / sizeof *sibilants; i++) {
        size_t end = strlen(sibilants[i]);
        es |= length >= end && !strcmp(noun + length - end, sibilants[i]);
    }
    int kept = (int)(ies && !one ? length - 1 : length);
    snprintf(c.text, sizeof c.text, "%.*s%s", kept, noun, one ? "" : ies ? "ies" : es ? "es" : "s");
    return c;
}

struct weft__counted weft__counted(uint64_t n, const char *noun) {
    struct weft__counted c;
    snprintf(c.text, sizeof c.text, "%" PRIu64 " %.64s", n, weft__noun(n, noun).text);
    return c;
}

const char *weft__bytes_above(const char *lower, weft_bytes lower_bytes, const char *upper, weft_bytes upper_bytes,
                              char *text, size_t size) {
    if (lower_bytes <= upper_bytes) return NULL;
    char low[32], up[32];
    weft__quantity_format(WEFT__BYTES, lower_bytes, low, sizeof low);
    weft__quantity_format(WEFT__BYTES, upper_bytes, up, sizeof up);
    return WEFT_SAY(text, size, "%s (%s) is above %s (%s)", lower, low, upper, up);
}

const char *weft__count_text(char text[WEFT__COUNT_TEXT], double count) {
    static const char *const prefixes[] = {"", " k", " M", " G", " T"};
    unsigned p = 0;
    for (; p < 4 && count >= 999.5; p++)
        count /= 1000;
    return WEFT_SAY(text, WEFT__COUNT_TEXT, "%.*f%s",
                    p && count < 10    ? 2
                    : p && count < 100 ? 1
                                       : 0,
                    count, prefixes[p]);
}
