// SPDX-License-Identifier: Apache-2.0
// Read by expat, piece by piece.
#include "base/xml.h"

#include <errno.h>
#include <expat.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/stream.h"

enum { PIECE = 65536 };

struct reading {
    FILE *file;
    const char *path;
    XML_Parser parser;
    const struct weft__xml_handler *handler;
    void *context;
    uint32_t depth;
    enum weft_status status;
    struct weft_error *error;
};

static struct weft_place place_of(const struct reading *r) {
    XML_Size line = XML_GetCurrentLineNumber(r->parser), column = XML_GetCurrentColumnNumber(r->parser);
    return (struct weft_place){.file = r->path,
                               .line = line < INT32_MAX ? (int)line : INT32_MAX,
                               .column = column < INT32_MAX ? (int)column + 1 : INT32_MAX};
}

static void stop_reading(struct reading *r, enum weft_status status) {
    r->status = status;
    XML_StopParser(r->parser, XML_FALSE);
}

static void begin_element(void *context, const XML_Char *name, const XML_Char **attribute) {
    struct reading *r = context;
    if (r->status) return;
    const struct weft__xml_element element = {name, (const char *const *)attribute, place_of(r), r->depth};
    enum weft_status status = WEFT_OK;
    if (r->depth++ == WEFT__XML_DEPTH)
        status = WEFT_REFUSE(r->error, element.place, "expected at most %d levels of elements", WEFT__XML_DEPTH);
    if (!status) status = r->handler->begin(r->context, &element, r->error);
    if (status) stop_reading(r, status);
}

static void end_element(void *context, const XML_Char *name) {
    struct reading *r = context;
    static const char *const none[] = {NULL};
    if (r->status) return;
    r->depth--;
    if (!r->handler->end) return;
    const struct weft__xml_element element = {name, none, place_of(r), r->depth};
    enum weft_status status = r->handler->end(r->context, &element, r->error);
    if (status) stop_reading(r, status);
}

static void on_text(void *context, const XML_Char *piece, int n) {
    struct reading *r = context;
    if (r->status) return;
    enum weft_status status = r->handler->text(r->context, piece, (size_t)n, r->depth, place_of(r), r->error);
    if (status) stop_reading(r, status);
}

static void on_document_type(void *context, const XML_Char *name, const XML_Char *system, const XML_Char *public,
                             int internal) {
    struct reading *r = context;
    stop_reading(r, WEFT_REFUSE(r->error, place_of(r),
                                "a document type (<!DOCTYPE>), which may have entities; expected a file without"));
}

static enum weft_status parse_file(struct reading *r) {
    uint64_t fed = 0;
    for (bool last = false; !last;) {
        void *piece = XML_GetBuffer(r->parser, PIECE);
        if (!piece) weft_memory_fail();
        size_t n = fread(piece, 1, PIECE, r->file);
        if (ferror(r->file))
            return WEFT_REFUSE(r->error, (struct weft_place){.file = r->path}, "cannot be read: %s",
                               weft__file_why(errno));
        last = n < PIECE;
        fed += n;
        if (XML_ParseBuffer(r->parser, (int)n, last) == XML_STATUS_ERROR) {
            if (r->status) return r->status;
            enum XML_Error why = XML_GetErrorCode(r->parser);
            if (why == XML_ERROR_NO_MEMORY) weft_memory_fail();
            return WEFT_REFUSE(r->error, place_of(r), "%s; expected XML", XML_ErrorString(why));
        }
        if (fed - (uint64_t)XML_GetCurrentByteIndex(r->parser) > WEFT__XML_ELEMENT_BYTES)
            return WEFT_REFUSE(r->error, place_of(r), "expected an element of at most %d bytes",
                               WEFT__XML_ELEMENT_BYTES);
    }
    return WEFT_OK;
}

static void close_reading(void *object) {
    struct reading *r = object;
    XML_ParserFree(r->parser);
    fclose(r->file);
}

enum weft_status weft__xml_read(const char *path, struct weft_place place, const struct weft__xml_handler *handler,
                                void *context, struct weft_error *ret_error) {
    struct reading r = {.path = path, .handler = handler, .context = context, .error = ret_error};
    r.file = weft__file_open_unpacked(path);
    if (!r.file) return WEFT_REFUSE(ret_error, place, "cannot read '%s': %s", path, weft__file_why(errno));
    r.parser = XML_ParserCreate(NULL);
    struct weft_memory_cleanup cleanup = {0};
    if (!r.parser) {
        fclose(r.file);
        weft_memory_fail();
    }
    weft_memory_cleanup_add(&cleanup, close_reading, &r);
    XML_SetUserData(r.parser, &r);
    XML_SetElementHandler(r.parser, begin_element, end_element);
    if (handler->text) XML_SetCharacterDataHandler(r.parser, on_text);
    XML_SetStartDoctypeDeclHandler(r.parser, on_document_type);
    enum weft_status status = parse_file(&r);
    weft_memory_cleanup_remove(&cleanup);
    close_reading(&r);
    return status;
}

/// Skips what may precede the root: blanks, a byte order mark, a declaration, comments.
static const char *skip_prolog(const char *s) {
    if (!strncmp(s, "\xef\xbb\xbf", 3)) s += 3;
    for (;;) {
        s += strspn(s, " \t\r\n");
        const char *stop = !strncmp(s, "<?", 2) ? "?>" : !strncmp(s, "<!--", 4) ? "-->" : NULL;
        const char *found = stop ? strstr(s, stop) : NULL;
        if (!found) return s;
        s = found + strlen(stop);
    }
}

bool weft__xml_recognise(const char *head, const char *root) {
    static const char document_type[] = "!DOCTYPE ";
    const char *s = skip_prolog(head);
    size_t n = strlen(root);
    if (*s++ != '<') return false;
    if (!strncmp(s, document_type, sizeof document_type - 1)) s += sizeof document_type - 1; // to report what is wrong
    return !strncmp(s, root, n) && s[n] && strchr(" \t\r\n/>", s[n]);
}

// --- attributes ---------------------------------------------------------------------------------------------------

const char *weft__xml_find(const struct weft__xml_element *element, const char *key) {
    for (const char *const *a = element->attribute; *a; a += 2)
        if (!strcmp(*a, key)) return a[1];
    return NULL;
}

enum weft_status weft__xml_text(const struct weft__xml_element *element, const char *key, const char **ret_text,
                                struct weft_error *ret_error) {
    *ret_text = weft__xml_find(element, key);
    if (*ret_text) return WEFT_OK;
    return WEFT_REFUSE(ret_error, element->place, "<%s> has no attribute '%s'; expected one", element->name, key);
}

enum weft_status weft__xml_number(const struct weft__xml_element *element, const char *key, int64_t min, int64_t max,
                                  int64_t *ret_number, struct weft_error *ret_error) {
    const char *text;
    char *stop;
    WEFT_TRY(weft__xml_text(element, key, &text, ret_error));
    errno = 0;
    long long value = strtoll(text, &stop, !strncmp(text, "0x", 2) ? 16 : 10);
    bool number = *text && !*stop && !errno && strchr("-0123456789", *text);
    *ret_number = value;
    if (number && value >= min && value <= max) return WEFT_OK;
    return WEFT_REFUSE(ret_error, element->place,
                       "<%s> has %s=\"%.24s\"; expected a whole number from %" PRId64 " to %" PRId64, element->name,
                       key, strspn(text, "-+.,0123456789abcdefxABCDEFX") == strlen(text) ? text : "...", min, max);
}

enum weft_status weft__xml_number_or(const struct weft__xml_element *element, const char *key, int64_t min, int64_t max,
                                     int64_t otherwise, int64_t *ret_number, struct weft_error *ret_error) {
    *ret_number = otherwise;
    return weft__xml_find(element, key) ? weft__xml_number(element, key, min, max, ret_number, ret_error) : WEFT_OK;
}
