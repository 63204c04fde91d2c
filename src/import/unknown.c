// SPDX-License-Identifier: Apache-2.0
#include "import/unknown.h"

#include <string.h>

#include "base/json_read.h"
#include "base/tree.h"
#include "base/xml.h"

enum { SHOWN = 40 };

/// Where the first word of a text is.
static struct weft_place find_word(const struct weft_import_file *file, const char **ret_word) {
    struct weft_place place = {.file = file->path, .line = 1, .column = 1};
    const char *c = file->head + (strncmp(file->head, "\xef\xbb\xbf", 3) ? 0 : 3);
    for (; *c && strchr(" \t\r\n", *c); c++) {
        place.column++;
        if (*c != '\n') continue;
        place.line++;
        place.column = 1;
    }
    *ret_word = c;
    return place;
}

static bool is_text(const struct weft_import_file *file) {
    for (size_t i = 0; i < file->size; i++) {
        unsigned char c = (unsigned char)file->head[i];
        if (c < 0x20 && !strchr("\t\r\n", c)) return false;
        if (!c || c == 0x7f) return false;
    }
    return true;
}

static unsigned syntax_of(const struct weft_import_file *file, const char *word) {
    if (!is_text(file)) return WEFT_IMPORT_BINARY;
    return *word == '{' || *word == '[' ? WEFT_IMPORT_JSON : *word == '<' ? WEFT_IMPORT_XML : WEFT_IMPORT_TEXT;
}

static enum weft_status pass_element(void *context, const struct weft__xml_element *element,
                                     struct weft_error *ret_error) {
    (void)context;
    (void)element;
    (void)ret_error;
    return WEFT_OK;
}

/// A text that is neither JSON nor XML has its error where it stops being that.
static enum weft_status check_syntax(const struct weft_import_file *file, unsigned syntax,
                                     struct weft_error *ret_error) {
    static const struct weft__xml_handler handler = {.begin = pass_element};
    struct weft_place place = {.file = file->path};
    if (syntax == WEFT_IMPORT_XML) return weft__xml_read(file->path, place, &handler, NULL, ret_error);
    if (syntax != WEFT_IMPORT_JSON) return WEFT_OK;
    struct weft__json_file json;
    enum weft_status status = weft__json_open(&json, file->path, place, ret_error);
    if (!status) weft__json_close(&json);
    return status;
}

/// How files of this syntax begin.
static const char *expected_begins(const struct weft_model *importer, unsigned syntax, struct weft_arena *arena) {
    const char *list = "";
    for (uint32_t m = 0; m < weft_model_count(WEFT_KIND_IMPORT); m++) {
        const struct weft_model *model = weft_model_at(WEFT_KIND_IMPORT, m);
        const struct weft_import_ops *ops = model->ops;
        if (importer ? model != importer : !(ops->syntax & syntax)) continue;
        list = weft_arena_format(arena, "%s%s%s (%s)", list, *list ? "; " : "", ops->begins, model->name);
    }
    return list;
}

/// The beginning of a text up to the end of the line, without terminal control characters.
static const char *show_text(const char *word, struct weft_arena *arena) {
    size_t n = strcspn(word, "\r\n");
    bool cut = n > SHOWN;
    if (cut)
        for (n = SHOWN; n > SHOWN - 4 && ((unsigned char)word[n] & 0xc0) == 0x80;)
            n--;
    const char *text = weft_arena_format(arena, "%.*s", (int)n, word);
    return weft__text_is_plain(text) ? weft_arena_format(arena, "'%s%s'", text, cut ? "..." : "")
                                     : "text that is not UTF-8";
}

static const char *show_bytes(const struct weft_import_file *file, struct weft_arena *arena) {
    const char *bytes = "bytes";
    for (size_t i = 0; i < 8 && i < file->size; i++)
        bytes = weft_arena_format(arena, "%s %02x", bytes, (unsigned char)file->head[i]);
    return bytes;
}

enum weft_status weft__import_unknown(const struct weft_import_file *file, const struct weft_model *importer,
                                      struct weft_arena *arena, struct weft_error *ret_error) {
    const char *word,
        *of = importer ? weft_arena_format(arena, "a %s file", importer->name) : "a file of a known format";
    struct weft_place place = find_word(file, &word);
    unsigned syntax = syntax_of(file, word);
    if (file->folder || file->absent)
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = file->path},
                           importer ? "is a folder; expected files of format %s"
                                    : "is a folder without Chakra traces; expected files",
                           importer ? importer->name : "");
    if (!file->size || (syntax != WEFT_IMPORT_BINARY && !*word))
        return WEFT_REFUSE(ret_error, place, "the file is empty; expected %s",
                           importer ? expected_begins(importer, 0, arena) : "a file of a known format");
    enum weft_status status = importer ? WEFT_OK : check_syntax(file, syntax, ret_error);
    if (status) return status;
    if (syntax == WEFT_IMPORT_BINARY)
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = file->path},
                           "byte 0: %s do not begin %s; expected %s", show_bytes(file, arena), of,
                           expected_begins(importer, syntax, arena));
    return WEFT_REFUSE(ret_error, place, "%s does not begin %s; expected %s", show_text(word, arena), of,
                       expected_begins(importer, syntax, arena));
}
