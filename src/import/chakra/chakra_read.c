// SPDX-License-Identifier: Apache-2.0
#include "import/chakra/chakra_read.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/stream.h"
#include "base/tree.h"
#include "import/chakra/chakra_json.h"

enum {
    MESSAGE_BYTES_MAX = 16 << 20, ///< per message; unpacked it takes about ten times as much
    MESSAGES_BYTES = 1 << 20,     ///< bytes read before the memory of messages is reused
    FIELD_MESSAGE = 2             ///< wire type of texts and messages
};

static const char *const number_names[WEFT__CHAKRA_NUMBERS] = {
    [WEFT__CHAKRA_CPU_OP] = "is_cpu_op",    [WEFT__CHAKRA_OPS] = "num_ops",
    [WEFT__CHAKRA_COMM_TYPE] = "comm_type", [WEFT__CHAKRA_COMM_SIZE] = "comm_size",
    [WEFT__CHAKRA_COMM_SRC] = "comm_src",   [WEFT__CHAKRA_COMM_DST] = "comm_dst",
    [WEFT__CHAKRA_COMM_TAG] = "comm_tag",
};

enum weft_status weft__chakra_fail(const struct weft__chakra_reader *r, uint64_t at, struct weft_error *ret_error,
                                   const char *format, ...) {
    char why[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    if (r->json)
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = r->name, .line = (int)at, .column = 1}, "%s", why);
    return WEFT_REFUSE(ret_error, (struct weft_place){.file = r->name}, "byte %" PRIu64 ": %s", at, why);
}

const char *weft__chakra_where(const struct weft__chakra_reader *r, uint64_t at, char *text, size_t size) {
    return WEFT_SAY(text, size, "%s %" PRIu64, r->json ? "line" : "byte", at);
}

// --- messages -----------------------------------------------------------------------------------------------------

static void *allocate_part(void *arena, size_t size) {
    return weft_arena_alloc(arena, size, 1);
}
static void release_part(void *arena, void *memory) {}

static enum weft_status fail_reading(const struct weft__chakra_reader *r, struct weft_error *ret_error) {
    if (ferror(r->file)) return weft__chakra_fail(r, r->at, ret_error, "cannot be read: %s", weft__file_why(errno));
    return weft__chakra_fail(r, r->at, ret_error, "the file ends within a message");
}

/// The length before a message; *ret_more is false at the end of the file.
static enum weft_status read_length(struct weft__chakra_reader *r, uint32_t *ret_length, bool *ret_more,
                                    struct weft_error *ret_error) {
    uint64_t value = 0, begin = r->at;
    int c = 0x80;
    *ret_more = true;
    for (unsigned shift = 0; shift < 35 && c & 0x80; shift += 7) {
        c = getc(r->file);
        if (c == EOF) {
            *ret_more = r->at > begin || ferror(r->file);
            return *ret_more ? fail_reading(r, ret_error) : WEFT_OK;
        }
        r->at++;
        value |= (uint64_t)(c & 0x7f) << shift;
    }
    if (c & 0x80 || value > MESSAGE_BYTES_MAX)
        return weft__chakra_fail(r, begin, ret_error,
                                 "not the length of a message; expected a varint of at most %d (is it a Chakra trace?)",
                                 MESSAGE_BYTES_MAX);
    *ret_length = (uint32_t)value;
    return WEFT_OK;
}

/// The bytes of the next message, which live until the following one is read.
static enum weft_status read_message(struct weft__chakra_reader *r, ProtobufCBinaryData *ret_bytes, bool *ret_more,
                                     struct weft_error *ret_error) {
    uint32_t length = 0;
    enum weft_status status = read_length(r, &length, ret_more, ret_error);
    if (status || !*ret_more) return status;
    if (!r->message || r->message_bytes > MESSAGES_BYTES) {
        weft_arena_free(r->message);
        r->message = weft_arena_new(WEFT_MEMORY_SCENARIO);
        r->message_bytes = 0;
    }
    r->message_bytes += length;
    *ret_bytes = (ProtobufCBinaryData){length, weft_arena_alloc(r->message, length, 1)};
    size_t got = fread(ret_bytes->data, 1, length, r->file);
    r->at += got;
    return got == length ? WEFT_OK : fail_reading(r, ret_error);
}

static void *unpack_message(struct weft__chakra_reader *r, const ProtobufCMessageDescriptor *type,
                            ProtobufCBinaryData bytes) {
    ProtobufCAllocator allocator = {allocate_part, release_part, r->message};
    ProtobufCMessage *message = protobuf_c_message_unpack(type, &allocator, bytes.len, bytes.data);
    if (message) r->unknown += message->n_unknown_fields;
    return message;
}

// --- metadata -----------------------------------------------------------------------------------------------------

/// The version of the schema, from an attribute; NULL: it is another attribute.
static const char *schema_of(const Weft__Chakra__Attribute *a) {
    bool text = a->value_case == WEFT__CHAKRA__ATTRIBUTE__VALUE_STRING_VAL;
    return text && !strcmp(a->name, "schema") && *a->string_val ? a->string_val : NULL;
}

/// The value with number 1: an attribute in traces of 2023, else the text of the version.
static const char *version_of(struct weft__chakra_reader *r, ProtobufCBinaryData bytes) {
    if (bytes.len && bytes.data[0] == (1 << 3 | FIELD_MESSAGE)) {
        const Weft__Chakra__Attribute *a = unpack_message(r, &weft__chakra__attribute__descriptor, bytes);
        return a ? schema_of(a) : NULL;
    }
    char *text = weft_arena_alloc(r->message, bytes.len + 1, 1);
    if (bytes.len) memcpy(text, bytes.data, bytes.len);
    return *text ? text : NULL;
}

static enum weft_status take_version(struct weft__chakra_reader *r, const char *version, struct weft_error *ret_error) {
    if (version && (strlen(version) > 64 || !weft__text_is_plain(version)))
        return weft__chakra_fail(r, r->json != NULL, ret_error,
                                 "a version that is not a text; expected one such as 0.0.4");
    r->version = weft_arena_text(r->arena, version ? version : "");
    if (isdigit((unsigned char)*r->version) && strtoul(r->version, NULL, 10) > 1)
        return weft__chakra_fail(r, r->json != NULL, ret_error, "version %s of the schema; expected 0 or 1",
                                 r->version);
    return WEFT_OK;
}

static enum weft_status read_metadata(struct weft__chakra_reader *r, struct weft_error *ret_error) {
    ProtobufCBinaryData bytes;
    bool more;
    WEFT_TRY(read_message(r, &bytes, &more, ret_error));
    if (!more) return weft__chakra_fail(r, 0, ret_error, "the file is empty; expected a Chakra trace");
    if (bytes.len && bytes.data[0] == 1 << 3)
        return weft__chakra_fail(
            r, 0, ret_error,
            "begins with a node, as traces did before Chakra 0.0.4; expected global metadata first "
            "(convert it with Chakra's tools)");
    const Weft__Chakra__Metadata *m = unpack_message(r, &weft__chakra__metadata__descriptor, bytes);
    if (!m) return weft__chakra_fail(r, 0, ret_error, "no global metadata; expected a Chakra trace, 0.0.4 or later");
    const char *version = NULL;
    for (size_t i = 0; i < m->n_version && !version; i++)
        version = version_of(r, m->version[i]);
    for (size_t i = 0; i < m->n_attr && !version; i++)
        version = schema_of(m->attr[i]);
    return take_version(r, version, ret_error);
}

static enum weft_status begin_json(struct weft__chakra_reader *r, struct weft_error *ret_error) {
    const char *version;
    r->json = weft_arena_alloc(r->arena, 1, sizeof *r->json);
    enum weft_status status = weft__chakra_json_begin(r->json, r->file, r->name, r->arena, &version, ret_error);
    return status ? status : take_version(r, version, ret_error);
}

/// For a stream that the caller closes. `name` says whether it is JSON.
static enum weft_status chakra_begin(struct weft__chakra_reader *r, FILE *file, const char *name,
                                     struct weft_arena *arena, struct weft_error *ret_error) {
    *r = (struct weft__chakra_reader){.file = file, .name = name, .arena = arena, .version = ""};
    return weft__chakra_json_named(name) ? begin_json(r, ret_error) : read_metadata(r, ret_error);
}

enum weft_status weft__chakra_open(struct weft__chakra_reader *r, const char *path, struct weft_place place,
                                   struct weft_arena *arena, struct weft_error *ret_error) {
    struct weft_memory_cleanup cleanup;
    FILE *file = weft__file_open_unpacked(path);
    if (!file) return WEFT_REFUSE(ret_error, place, "cannot read '%s': %s", path, weft__file_why(errno));
    weft_memory_cleanup_add(&cleanup, weft__file_close, file);
    enum weft_status status = chakra_begin(r, file, path, arena, ret_error);
    weft_memory_cleanup_remove(&cleanup);
    weft_memory_cleanup_add(&r->cleanup, weft__file_close, file);
    r->opened = true;
    if (status) weft__chakra_close(r);
    return status;
}

void weft__chakra_close(struct weft__chakra_reader *r) {
    if (r->json) weft__chakra_json_end(r->json);
    weft_arena_free(r->message);
    r->message = NULL;
    if (!r->opened) return;
    weft_memory_cleanup_remove(&r->cleanup);
    fclose(r->file);
    r->opened = false;
}

// --- nodes --------------------------------------------------------------------------------------------------------

enum number { NO_NUMBER, NEGATIVE, NUMBER };

static enum number of_signed(int64_t value, uint64_t *ret) {
    *ret = (uint64_t)value;
    return value < 0 ? NEGATIVE : NUMBER;
}

/// Writers use different types for an attribute: any whole number is accepted.
static enum number number_of(const Weft__Chakra__Attribute *a, uint64_t *ret) {
    switch (a->value_case) {
    case WEFT__CHAKRA__ATTRIBUTE__VALUE_INT32_VAL:
        return of_signed(a->int32_val, ret);
    case WEFT__CHAKRA__ATTRIBUTE__VALUE_INT64_VAL:
        return of_signed(a->int64_val, ret);
    case WEFT__CHAKRA__ATTRIBUTE__VALUE_SINT32_VAL:
        return of_signed(a->sint32_val, ret);
    case WEFT__CHAKRA__ATTRIBUTE__VALUE_SINT64_VAL:
        return of_signed(a->sint64_val, ret);
    case WEFT__CHAKRA__ATTRIBUTE__VALUE_SFIXED32_VAL:
        return of_signed(a->sfixed32_val, ret);
    case WEFT__CHAKRA__ATTRIBUTE__VALUE_SFIXED64_VAL:
        return of_signed(a->sfixed64_val, ret);
    case WEFT__CHAKRA__ATTRIBUTE__VALUE_UINT32_VAL:
        *ret = a->uint32_val;
        return NUMBER;
    case WEFT__CHAKRA__ATTRIBUTE__VALUE_UINT64_VAL:
        *ret = a->uint64_val;
        return NUMBER;
    case WEFT__CHAKRA__ATTRIBUTE__VALUE_FIXED32_VAL:
        *ret = a->fixed32_val;
        return NUMBER;
    case WEFT__CHAKRA__ATTRIBUTE__VALUE_FIXED64_VAL:
        *ret = a->fixed64_val;
        return NUMBER;
    case WEFT__CHAKRA__ATTRIBUTE__VALUE_BOOL_VAL:
        *ret = a->bool_val != 0;
        return NUMBER;
    default:
        return NO_NUMBER;
    }
}

static enum weft_status take_number(const struct weft__chakra_reader *r, const Weft__Chakra__Attribute *a,
                                    enum weft__chakra_number what, struct weft__chakra_node *n,
                                    struct weft_error *ret_error) {
    switch (number_of(a, &n->number[what])) {
    case NUMBER:
        break;
    case NEGATIVE:
        return weft__chakra_fail(r, n->at, ret_error, "node %" PRIu64 ": %s is %" PRId64 "; expected 0 or more", n->id,
                                 number_names[what], (int64_t)n->number[what]);
    case NO_NUMBER:
        return weft__chakra_fail(r, n->at, ret_error, "node %" PRIu64 ": %s is not a whole number", n->id,
                                 number_names[what]);
    }
    n->has |= UINT32_C(1) << what;
    return WEFT_OK;
}

static enum weft_status take_group(struct weft__chakra_reader *r, const Weft__Chakra__Attribute *a,
                                   struct weft__chakra_node *n, struct weft_error *ret_error) {
    uint64_t number;
    if (a->value_case == WEFT__CHAKRA__ATTRIBUTE__VALUE_STRING_VAL)
        n->group = a->string_val;
    else if (number_of(a, &number) == NUMBER)
        n->group = weft_arena_format(r->message, "%" PRIu64, number);
    else
        return weft__chakra_fail(r, n->at, ret_error, "node %" PRIu64 ": pg_name is not a text", n->id);
    if (weft__text_is_plain(n->group) && strlen(n->group) <= 200) return WEFT_OK;
    return weft__chakra_fail(r, n->at, ret_error,
                             "node %" PRIu64 ": pg_name is longer than 200 bytes, no UTF-8, or has control characters",
                             n->id);
}

static enum weft_status take_attribute(struct weft__chakra_reader *r, const Weft__Chakra__Attribute *a,
                                       struct weft__chakra_node *n, struct weft_error *ret_error) {
    r->unknown += a->base.n_unknown_fields;
    if (!strcmp(a->name, "pg_name")) return take_group(r, a, n, ret_error);
    if (a->value_case == WEFT__CHAKRA__ATTRIBUTE__VALUE_BOOL_LIST &&
        (!strcmp(a->name, "involved_dim") || !strcmp(a->name, "involve_dims")))
        for (size_t i = 0; i < a->bool_list->n_values; i++)
            n->partial |= !a->bool_list->values[i];
    for (unsigned what = 0; what < WEFT__CHAKRA_NUMBERS; what++)
        if (!strcmp(a->name, number_names[what])) return take_number(r, a, what, n, ret_error);
    return WEFT_OK;
}

/// The next node, and where it begins; NULL: at the end of the file.
static enum weft_status read_node(struct weft__chakra_reader *r, uint64_t *ret_at, const Weft__Chakra__Node **ret_node,
                                  struct weft_error *ret_error) {
    ProtobufCBinaryData bytes;
    bool more;
    *ret_at = r->at;
    *ret_node = NULL;
    enum weft_status status = read_message(r, &bytes, &more, ret_error);
    if (status || !more) return status;
    *ret_node = unpack_message(r, &weft__chakra__node__descriptor, bytes);
    if (*ret_node) return WEFT_OK;
    return weft__chakra_fail(r, *ret_at, ret_error, "no node of a Chakra trace, or one that is damaged");
}

static enum weft_status read_json_node(struct weft__chakra_reader *r, uint64_t *ret_at,
                                       const Weft__Chakra__Node **ret_node, struct weft_error *ret_error) {
    Weft__Chakra__Node *n;
    weft_arena_free(r->message);
    r->message = weft_arena_new(WEFT_MEMORY_SCENARIO);
    enum weft_status status = weft__chakra_json_next(r->json, r->message, &n, ret_error);
    *ret_at = (uint64_t)r->json->objects.place.line;
    *ret_node = n;
    return status;
}

enum weft_status weft__chakra_next(struct weft__chakra_reader *r, struct weft__chakra_node *ret_node, bool *ret_more,
                                   struct weft_error *ret_error) {
    uint64_t at;
    const Weft__Chakra__Node *n;
    enum weft_status status = r->json ? read_json_node(r, &at, &n, ret_error) : read_node(r, &at, &n, ret_error);
    *ret_more = n != NULL;
    if (status || !n) return status;
    *ret_node = (struct weft__chakra_node){
        .id = n->id,
        .at = at,
        .name = n->name,
        .type = n->type,
        .data_deps = n->data_deps,
        .ctrl_deps = n->ctrl_deps,
        .n_data_deps = n->n_data_deps,
        .n_ctrl_deps = n->n_ctrl_deps,
        .duration_us = n->duration_micros,
        .inputs = n->inputs ? n->inputs->values : "",
        .group = "",
    };
    for (size_t i = 0; i < n->n_attr && !status; i++)
        status = take_attribute(r, n->attr[i], ret_node, ret_error);
    return status;
}

// --- what a file looks like ---------------------------------------------------------------------------------------

bool weft__chakra_recognise(const void *bytes, size_t size, bool named) {
    const unsigned char *b = bytes;
    size_t at = 0;
    while (at < size && at < 4 && b[at] & 0x80)
        at++;
    if (++at >= size) return named && size;
    uint32_t field = b[at] >> 3, wire = b[at] & 7;
    if (named) return b[at - 1] == 0 || field == 1 || field == 2; // no metadata, it, or a node of an older one
    if (wire != FIELD_MESSAGE || (field != 1 && field != 2) || at + 3 >= size) return false;
    if (field == 1 && isdigit(b[at + 2]) &&
        memchr(b + at + 2, '.', b[at + 1] < size - at - 2 ? b[at + 1] : size - at - 2))
        return true;                                          // the text of a version
    for (size_t i = at + 1; i < at + 6 && i + 8 <= size; i++) // an attribute
        if (!memcmp(b + i, "\x0a\x06schema", 8)) return true;
    return false;
}
