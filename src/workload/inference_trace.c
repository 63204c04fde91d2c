// SPDX-License-Identifier: Apache-2.0
// Requests of public traces, a line at a time. Sources: kvcache-ai/Mooncake, FAST25-release/traces (an object of JSON a
// line: timestamp in ms, input_length, output_length, hash_ids, one for each block of 512 tokens);
// Azure/AzurePublicDataset, AzureLLMInferenceTrace 2023 and 2024 (CSV: TIMESTAMP, ContextTokens, GeneratedTokens).
#include <ctype.h>
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "base/grow.h"
#include "base/json_read.h"
#include "inference.h"

#define START_MAX_S INT64_C(1000000)
#define BAD(trace, ...) WEFT_REFUSE(ret_error, (trace)->lines.place, __VA_ARGS__)

enum column { TIMESTAMP, CONTEXT, GENERATED, COLUMNS };
const struct weft__column weft__azure_columns[] = {
    [TIMESTAMP] = {"TIMESTAMP", " timestamp ", WEFT__COUNT, "", true, true},
    [CONTEXT] = {"ContextTokens", " contexttokens ", WEFT__COUNT, "", true, false},
    [GENERATED] = {"GeneratedTokens", " generatedtokens ", WEFT__COUNT, "", true, false},
};

enum weft_status weft__inference_trace_open(struct weft__inference_trace *t, uint32_t kind, const char *path,
                                            struct weft_place place, struct weft_error *ret_error) {
    *t = (struct weft__inference_trace){.kind = kind};
    enum weft_status status = weft__lines_open(&t->lines, path, place, ret_error);
    if (!status && kind == WEFT__ARRIVALS_AZURE)
        status = weft__table_header(&t->lines, weft__azure_columns, COLUMNS, NULL, &t->table, ret_error);
    return status;
}

void weft__inference_trace_close(struct weft__inference_trace *t) {
    weft_memory_free(WEFT_MEMORY_SCENARIO, t->hash, t->hash_room * sizeof *t->hash);
    t->hash = NULL;
    t->hash_room = 0;
    weft__lines_close(&t->lines);
}

static enum weft_status take_tokens(const struct weft__inference_trace *t, const char *key, uint64_t tokens,
                                    uint32_t *ret_tokens, struct weft_error *ret_error) {
    *ret_tokens = (uint32_t)tokens;
    if (tokens && tokens <= WEFT__REQUEST_TOKENS_MAX) return WEFT_OK;
    return BAD(t, "%s is %" PRIu64 "; expected 1 to %d tokens", key, tokens, WEFT__REQUEST_TOKENS_MAX);
}

/// `s` seconds and a part of one, on any clock.
static enum weft_status take_time(struct weft__inference_trace *t, int64_t s, uint64_t part_ps, weft_time_ps *ret_at,
                                  struct weft_error *ret_error) {
    if (!t->begun) {
        t->begun = true;
        t->first_s = s;
        t->first_part_ps = part_ps;
    }
    int64_t after = s - t->first_s;
    if (after < 0 || (!after && part_ps < t->first_part_ps))
        return BAD(t, "the request is earlier than the first one; expected requests in the order of their times");
    if (after > START_MAX_S)
        return BAD(t, "the request is more than %" PRId64 " s after the first one; expected no more", START_MAX_S);
    *ret_at = (weft_time_ps)after * WEFT_PS_PER_S + part_ps - t->first_part_ps;
    if (*ret_at < t->last_ps)
        return BAD(t, "the request is earlier than the one before; expected requests in the order of their times");
    t->last_ps = *ret_at;
    return WEFT_OK;
}

// --- Mooncake -----------------------------------------------------------------------------------------------------

static enum weft_status take_number(const struct weft__inference_trace *t, const json_t *value, const char *key,
                                    uint64_t *ret_number, struct weft_error *ret_error) {
    bool whole = json_is_integer(value) && json_integer_value(value) >= 0;
    if (!whole)
        return BAD(t, "%s is %s; expected a whole number", key, value ? "not a whole number from 0 on" : "missing");
    *ret_number = (uint64_t)json_integer_value(value);
    return WEFT_OK;
}

static enum weft_status take_hashes(struct weft__inference_trace *t, const json_t *list, struct weft__arrival *a,
                                    struct weft_error *ret_error) {
    size_t n = json_array_size(list), blocks = (a->input + WEFT__PREFIX_TOKENS - 1) / WEFT__PREFIX_TOKENS;
    if (!list) return WEFT_OK;
    if (!json_is_array(list) || n != blocks)
        return BAD(t,
                   "hash_ids has %zu entries, and input_length is %" PRIu32 "; expected a list of %zu, one for each "
                   "%d tokens",
                   n, a->input, blocks, WEFT__PREFIX_TOKENS);
    t->hash = weft__memory_grow_to(t->hash, n, &t->hash_room, sizeof *t->hash);
    enum weft_status status = WEFT_OK;
    for (size_t i = 0; i < n && !status; i++)
        status = take_number(t, json_array_get(list, i), "an entry of hash_ids", &t->hash[i], ret_error);
    a->hash = t->hash;
    a->hashes = (uint32_t)n;
    return status;
}

static enum weft_status take_object(struct weft__inference_trace *t, const json_t *object, struct weft__arrival *a,
                                    struct weft_error *ret_error) {
    uint64_t ms = 0, input = 0, output = 0;
    enum weft_status status = take_number(t, json_object_get(object, "timestamp"), "timestamp", &ms, ret_error);
    if (!status) status = take_number(t, json_object_get(object, "input_length"), "input_length", &input, ret_error);
    if (!status) status = take_number(t, json_object_get(object, "output_length"), "output_length", &output, ret_error);
    if (!status) status = take_tokens(t, "input_length", input, &a->input, ret_error);
    if (!status) status = take_tokens(t, "output_length", output, &a->output, ret_error);
    if (!status) status = take_time(t, (int64_t)(ms / 1000), ms % 1000 * WEFT_PS_PER_MS, &a->at_ps, ret_error);
    return status ? status : take_hashes(t, json_object_get(object, "hash_ids"), a, ret_error);
}

static enum weft_status read_mooncake(struct weft__inference_trace *t, struct weft__arrival *a,
                                      struct weft_error *ret_error) {
    json_error_t why;
    json_t *object = json_loads(t->lines.at, JSON_REJECT_DUPLICATES, &why);
    if (!json_is_object(object)) {
        json_decref(object);
        return BAD(t,
                   "%s; expected an object of JSON such as {\"timestamp\": 0, \"input_length\": 6758, "
                   "\"output_length\": 500}",
                   object ? "no object" : why.text);
    }
    struct weft_memory_cleanup cleanup;
    weft_memory_cleanup_add(&cleanup, weft__json_release, object);
    enum weft_status status = take_object(t, object, a, ret_error);
    weft_memory_cleanup_remove(&cleanup);
    json_decref(object);
    return status;
}

// --- Azure --------------------------------------------------------------------------------------------------------

/// Days from 1970-01-01 on (Howard Hinnant, "chrono-compatible low-level date algorithms").
static int64_t days_of(int64_t y, int64_t m, int64_t d) {
    y -= m <= 2;
    int64_t era = y / 400, yoe = y - era * 400, doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
    return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

/// "2023-11-16 18:15:46.6805900", or with a zone that is UTC behind it.
static bool parse_time(const char *text, int64_t *ret_s, uint64_t *ret_part_ps) {
    static const char form[] = "dddd-dd-dd dd:dd:dd";
    for (size_t i = 0; form[i]; i++)
        if (form[i] == 'd' ? !isdigit((unsigned char)text[i]) : text[i] != form[i] && !(i == 10 && text[i] == 'T'))
            return false;
    int value[6];
    static const uint8_t at[6] = {0, 5, 8, 11, 14, 17};
    for (size_t k = 0; k < 6; k++) {
        value[k] = 0;
        for (size_t i = at[k]; isdigit((unsigned char)text[i]); i++)
            value[k] = 10 * value[k] + text[i] - '0';
    }
    if (value[1] < 1 || value[1] > 12 || value[2] < 1 || value[2] > 31 || value[3] > 23 || value[4] > 59 ||
        value[5] > 60)
        return false;
    bool ends = value[1] == 12; // the year
    if (days_of(value[0], value[1], value[2]) >= days_of(value[0] + ends, ends ? 1 : value[1] + 1, 1)) return false;
    const char *rest = text + sizeof form - 1;
    uint64_t unit = WEFT_PS_PER_S;
    *ret_part_ps = 0;
    if (*rest == '.') {
        for (rest++; isdigit((unsigned char)*rest); rest++) {
            unit /= 10;
            *ret_part_ps += unit * (uint64_t)(*rest - '0');
        }
        if (unit == WEFT_PS_PER_S) return false;
    }
    *ret_s = days_of(value[0], value[1], value[2]) * 86400 + value[3] * 3600 + value[4] * 60 + value[5];
    return !*rest || !strcmp(rest, "+00:00") || !strcmp(rest, "Z");
}

static enum weft_status read_azure(struct weft__inference_trace *t, struct weft__arrival *a,
                                   struct weft_error *ret_error) {
    struct weft__table_row row = {0};
    int64_t s;
    uint64_t part_ps;
    WEFT_TRY(weft__table_row(&t->lines, &t->table, false, &row, ret_error));
    t->lines.place = row.place[TIMESTAMP];
    if (!parse_time(row.text[TIMESTAMP], &s, &part_ps))
        return BAD(t, "\"%.60s\" is no time; expected one such as \"2023-11-16 18:15:46.6805900\" (UTC)",
                   row.text[TIMESTAMP]);
    enum weft_status status = take_time(t, s, part_ps, &a->at_ps, ret_error);
    t->lines.place = row.place[CONTEXT];
    if (!status) status = take_tokens(t, "ContextTokens", row.value[CONTEXT], &a->input, ret_error);
    t->lines.place = status ? t->lines.place : row.place[GENERATED];
    return status ? status : take_tokens(t, "GeneratedTokens", row.value[GENERATED], &a->output, ret_error);
}

enum weft_status weft__inference_trace_next(struct weft__inference_trace *t, struct weft__arrival *a, bool *ret_more,
                                            struct weft_error *ret_error) {
    *a = (struct weft__arrival){0};
    t->lines.place.column = 1;
    enum weft_status status = weft__lines_next(&t->lines, ret_more, ret_error);
    if (status || !*ret_more) return status;
    if (!t->lines.at[strspn(t->lines.at, " \t")]) return BAD(t, "an empty line; expected a request in every line");
    return t->kind == WEFT__ARRIVALS_AZURE ? read_azure(t, a, ret_error) : read_mooncake(t, a, ret_error);
}
