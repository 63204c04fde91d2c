// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"
#include "base/utf8.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t level_bit(const struct weft__json *j) {
    return UINT64_C(1) << (j->depth - 1);
}

static void flush_text(struct weft__json *j) {
    fwrite_unlocked(j->text, 1, j->kept, j->file);
    j->kept = 0;
}

static void put_char(struct weft__json *j, char c) {
    if (j->kept == WEFT__JSON_KEPT) flush_text(j);
    j->text[j->kept++] = c;
}

static void put_bytes(struct weft__json *j, const void *bytes, size_t n) {
    assert(n <= WEFT__JSON_KEPT);
    if (n > WEFT__JSON_KEPT - j->kept) flush_text(j);
    memcpy(j->text + j->kept, bytes, n);
    j->kept += (uint32_t)n;
}

static void put_text(struct weft__json *j, const char *text) {
    put_bytes(j, text, strlen(text));
}

/// Writes what must precede the next value or key.
static void put_separator(struct weft__json *j) {
    if (!j->depth) return;
    if (j->filled & level_bit(j)) put_char(j, ',');
    j->filled |= level_bit(j);
}

static void before_value(struct weft__json *j) {
    assert(!j->depth || j->keyed == !!(j->object & level_bit(j)));
    if (!j->keyed) put_separator(j);
    j->keyed = false;
}

/// A value outside any other is in the file as soon as it has been written.
static void after_value(struct weft__json *j) {
    if (!j->depth) flush_text(j);
}

static void begin_level(struct weft__json *j, bool object) {
    before_value(j);
    assert(j->depth < WEFT__JSON_DEPTH);
    j->depth++;
    j->filled &= ~level_bit(j);
    j->object = object ? j->object | level_bit(j) : j->object & ~level_bit(j);
    put_char(j, object ? '{' : '[');
}

static void end_level(struct weft__json *j, bool object) {
    assert(j->depth && !j->keyed && object == !!(j->object & level_bit(j)));
    j->depth--;
    put_char(j, object ? '}' : ']');
    after_value(j);
}

void weft__json_begin_object(struct weft__json *j) {
    begin_level(j, true);
}
void weft__json_end_object(struct weft__json *j) {
    end_level(j, true);
}
void weft__json_begin_array(struct weft__json *j) {
    begin_level(j, false);
}
void weft__json_end_array(struct weft__json *j) {
    end_level(j, false);
}

static bool is_plain(char c) {
    return (unsigned char)c >= 0x20 && (unsigned char)c < 0x7f && c != '"' && c != '\\';
}

/// Writes the bytes that need no escaping, in most texts all. Returns the rest.
static const char *put_plain(struct weft__json *j, const char *text) {
    do {
        uint32_t kept = j->kept;
        while (kept < WEFT__JSON_KEPT && is_plain(*text))
            j->text[kept++] = *text++;
        j->kept = kept;
        if (kept == WEFT__JSON_KEPT) flush_text(j);
    } while (is_plain(*text));
    return text;
}

static void put_quoted(struct weft__json *j, const char *text) {
    put_char(j, '"');
    for (const unsigned char *s = (const unsigned char *)put_plain(j, text); *s;) {
        char code[8];
        unsigned n = weft__utf8_length(s);
        if (*s == '"' || *s == '\\') {
            put_char(j, '\\');
            put_char(j, (char)*s);
        } else if (*s == '\n') {
            put_text(j, "\\n");
        } else if (*s < 0x20 || *s == 0x7f) {
            snprintf(code, sizeof code, "\\u%04x", *s);
            put_text(j, code);
        } else if (!n) {
            put_text(j, "\\ufffd");
        } else {
            put_bytes(j, s, n);
        }
        s += n ? n : 1;
    }
    put_char(j, '"');
}

void weft__json_key(struct weft__json *j, const char *key) {
    assert(j->depth && !j->keyed && (j->object & level_bit(j)));
    put_separator(j);
    put_quoted(j, key);
    put_char(j, ':');
    j->keyed = true;
}

void weft__json_key_ready(struct weft__json *j, const char *text, size_t length) {
    assert(j->depth && !j->keyed && (j->object & level_bit(j)));
    put_separator(j);
    put_bytes(j, text, length);
    j->keyed = true;
}

void weft__json_string(struct weft__json *j, const char *text) {
    if (!text) {
        weft__json_null(j);
        return;
    }
    before_value(j);
    put_quoted(j, text);
    after_value(j);
}

/// Two digits at a time, starting with the last ones. Returns the end of the text; WEFT__JSON_NUMBER bytes are written.
static char *print_u64(char *text, uint64_t value) {
    static const char pairs[] =
        "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748"
        "49505152535455565758596061626364656667686970717273747576777879808182838485868788899091929394959697"
        "9899";
    char digits[2 * WEFT__JSON_NUMBER], *end = digits + WEFT__JSON_NUMBER, *at = end;
    if (value < 10) {
        *text = (char)('0' + value);
        return text + 1;
    }
    for (; value >= 10; value /= 100) {
        at -= 2;
        memcpy(at, &pairs[2 * (value % 100)], 2);
    }
    if (value) *--at = (char)('0' + value); // one digit is left
    memcpy(text, at, WEFT__JSON_NUMBER);
    return text + (end - at);
}

/// Room for this many bytes.
static char *make_room(struct weft__json *j, size_t bytes) {
    if (bytes > WEFT__JSON_KEPT - j->kept) flush_text(j);
    return j->text + j->kept;
}

void weft__json_u64(struct weft__json *j, uint64_t value) {
    before_value(j);
    j->kept = (uint32_t)(print_u64(make_room(j, WEFT__JSON_NUMBER), value) - j->text);
    after_value(j);
}

void weft__json_member_u64(struct weft__json *j, const char *text, size_t length, uint64_t value) {
    uint64_t own = level_bit(j);
    assert(j->depth && !j->keyed && (j->object & own) && length < WEFT__JSON_KEPT / 2);
    char *at = make_room(j, 1 + length + WEFT__JSON_KEY + WEFT__JSON_NUMBER);
    if (j->filled & own) *at++ = ',';
    j->filled |= own;
    if (length <= WEFT__JSON_KEY)
        memcpy(at, text, WEFT__JSON_KEY);
    else
        memcpy(at, text, length);
    j->kept = (uint32_t)(print_u64(at + length, value) - j->text);
}

/// value = mantissa / 2^shift.
struct binary {
    uint64_t mantissa;
    unsigned shift;
};

/// The value times `power`, rounded like printf; returns whether it reads back as the value. Exactly between two
/// doubles, or at powers of two, that is left to the C library: *ret_unsure.
static bool scale_binary(const struct binary *b, uint64_t power, uint64_t *ret_scaled, bool *ret_unsure) {
    unsigned __int128 exact = (unsigned __int128)b->mantissa * power, half = (unsigned __int128)1 << (b->shift - 1);
    unsigned __int128 cut = exact & (2 * half - 1);
    *ret_scaled = (uint64_t)(exact >> b->shift);
    if (cut > half || (cut == half && (*ret_scaled & 1))) ++*ret_scaled;
    unsigned __int128 back = (unsigned __int128)*ret_scaled << b->shift;
    unsigned __int128 off = back > exact ? back - exact : exact - back;
    *ret_unsure = 2 * off == power || (off && b->mantissa == UINT64_C(1) << 52);
    return 2 * off < power;
}

/// A number with this many digits and a point after the first of them, without trailing zeros; NULL: it has more.
static char *print_digits(uint64_t number, unsigned digits, unsigned wholes, char *text) {
    char *end = text + digits + 1, *point = text + wholes;
    for (char *at = end; at-- > text;) {
        *at = at == point ? '.' : (char)('0' + number % 10);
        if (at != point) number /= 10;
    }
    while (end[-1] == '0')
        end--;
    return number ? NULL : end - (end[-1] == '.');
}

/// The fewest of 15 to 17 digits that read back the same, for values between 1 and 10^15, for which 128 bits suffice.
/// Returns the end of the text; NULL: the C library must do it.
static char *print_quickly(double value, char *text) {
    if (!(value >= 1 && value < 1e15)) return NULL;
    int exponent;
    double fraction = frexp(value, &exponent);
    struct binary b = {(uint64_t)ldexp(fraction, 53), 53 - (unsigned)exponent};
    uint64_t power = 1, scaled;
    unsigned wholes = 1;
    for (uint64_t whole = b.mantissa >> b.shift; whole >= 10; whole /= 10)
        wholes++;
    for (unsigned digits = wholes; digits <= 17; digits++, power *= 10) {
        bool unsure;
        if (digits < 15) continue;
        bool same = scale_binary(&b, power, &scaled, &unsure);
        if (unsure) return NULL;
        if (same) return print_digits(scaled, digits, wholes, text);
    }
    return NULL;
}

void weft__json_real(struct weft__json *j, double value) {
    if (!isfinite(value)) {
        weft__json_null(j);
        return;
    }
    before_value(j);
    char text[40], *end = print_quickly(value, text);
    for (int digits = 15; !end; digits++) {
        int n = snprintf(text, sizeof text, "%.*g", digits, value);
        double back = strtod(text, NULL);
        if (digits == 17 || (back >= value && back <= value)) end = text + n;
    }
    put_bytes(j, text, (size_t)(end - text));
    after_value(j);
}

void weft__json_bool(struct weft__json *j, bool value) {
    before_value(j);
    put_text(j, value ? "true" : "false");
    after_value(j);
}

FILE *weft__json_value(struct weft__json *j) {
    before_value(j);
    flush_text(j);
    return j->file;
}

void weft__json_null(struct weft__json *j) {
    before_value(j);
    put_text(j, "null");
    after_value(j);
}

void weft__json_key_string(struct weft__json *j, const char *key, const char *text) {
    weft__json_key(j, key);
    weft__json_string(j, text);
}
void weft__json_key_u64(struct weft__json *j, const char *key, uint64_t value) {
    weft__json_key(j, key);
    weft__json_u64(j, value);
}
void weft__json_key_real(struct weft__json *j, const char *key, double value) {
    weft__json_key(j, key);
    weft__json_real(j, value);
}
void weft__json_key_bool(struct weft__json *j, const char *key, bool value) {
    weft__json_key(j, key);
    weft__json_bool(j, value);
}
