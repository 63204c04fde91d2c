// SPDX-License-Identifier: Apache-2.0
// Quantities as written by the user. Exact: a decimal fraction is never rounded.
#pragma once

#include "weft/types.h"

enum weft__quantity { WEFT__TIME, WEFT__RATE, WEFT__BYTES, WEFT__COUNT, WEFT__LENGTH };

/// "a time such as \"150ns\""
const char *weft__quantity_expected(enum weft__quantity quantity);
/// True, or false with the error in `why`: `"150" has no unit; expected a time such as "150ns"`.
bool weft__quantity_parse(enum weft__quantity quantity, const char *text, uint64_t *ret_value, char *why, size_t size);
/// As programs write numbers: a unit that is missing is `unit` ("s", "B"), "1e-06" is a number, "50Mb/s" and "400G" are
/// rates, and a fraction of a picosecond, bit per second or millimetre is cut off. Bytes and counts are whole.
bool weft__number_parse(enum weft__quantity quantity, const char *unit, const char *text, uint64_t *ret_value,
                        char *why, size_t size);
/// Exact text that weft__quantity_parse reads back: "2.5us", "4KiB", "106.25Gbps". snprintf-like.
int weft__quantity_format(enum weft__quantity quantity, uint64_t value, char *text, size_t size);
/// True if the text is a decimal number, a fraction a/b or a percentage: "0.5", "1e-12", "1/256", "1%".
bool weft__real_parse(const char *text, double *ret_value);
/// The shortest text that weft__real_parse reads back to the same value.
int weft__real_format(double value, char *text, size_t size);
/// The same, for one expression: weft__bytes_text(4096).text.
struct weft__quantity_text {
    char text[32];
};
struct weft__quantity_text weft__bytes_text(weft_bytes bytes);
struct weft__quantity_text weft__time_text(weft_time_ps time);
struct weft__quantity_text weft__rate_text(weft_rate_bps rate);
/// As weft_format_time and its like, for one expression.
struct weft__quantity_text weft__short_time(weft_time_ps time);
struct weft__quantity_text weft__short_bytes(weft_bytes bytes);
struct weft__quantity_text weft__short_rate(weft_rate_bps rate);
/// Three significant digits, "3.01us", "524KB"; and a point in time to the nanosecond, in us: "63.105us".
struct weft__quantity_text weft__about_time(weft_time_ps time);
struct weft__quantity_text weft__about_bytes(weft_bytes bytes);
struct weft__quantity_text weft__at_us(weft_time_ps time);
/// "1 flow", "2 flows", "2 switches", "2 entries", for one expression: weft__counted(n, "flow").text; weft__noun is the
/// noun alone, for columns of numbers.
struct weft__counted {
    char text[96];
};
struct weft__counted weft__counted(uint64_t n, const char *noun);
struct weft__counted weft__noun(uint64_t n, const char *noun);
/// "xon (300KB) is above xoff (200KB)" in `text`, for the check of a table; NULL if it is not.
const char *weft__bytes_above(const char *lower, weft_bytes lower_bytes, const char *upper, weft_bytes upper_bytes,
                              char *text, size_t size);

/// 9150000 -> "9.15 M". Returns `text`.
enum { WEFT__COUNT_TEXT = 32 };
const char *weft__count_text(char text[WEFT__COUNT_TEXT], double count);

/// Quantities as people read them: "12.8us", "1.05MB", "200Gbps". Three significant digits unless exact.
int weft_format_time(weft_time_ps time, char *text, size_t size);
int weft_format_bytes(weft_bytes bytes, char *text, size_t size);
int weft_format_rate(weft_rate_bps rate, char *text, size_t size);
