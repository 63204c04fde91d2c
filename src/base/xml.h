// SPDX-License-Identifier: Apache-2.0
// XML files of any size, element by element, each with its place. Only one element is in memory. A file with a document
// type is refused, so the only entities are those of XML itself.
#pragma once

#include "weft/error.h"
#include "weft/memory.h"
#include "weft/types.h"

enum { WEFT__XML_DEPTH = 64, WEFT__XML_ELEMENT_BYTES = 1 << 20 }; ///< at most

struct weft__xml_element {
    const char *name;
    const char *const *attribute; ///< name and value in turn, then NULL
    struct weft_place place;
    uint32_t depth; ///< 0: the root
};

/// Callbacks for elements, in the order of the file.
struct weft__xml_handler {
    enum weft_status (*begin)(void *context, const struct weft__xml_element *element, struct weft_error *ret_error);
    /// May be NULL; with the place where the element ends.
    enum weft_status (*end)(void *context, const struct weft__xml_element *element, struct weft_error *ret_error);
    /// May be NULL: text is ignored. Called with a piece of text at this depth; one text may come in several pieces.
    enum weft_status (*text)(void *context, const char *piece, size_t n, uint32_t depth, struct weft_place place,
                             struct weft_error *ret_error);
};

/// `path` must live as long as the places. A file that cannot be read is an error at `place`.
enum weft_status weft__xml_read(const char *path, struct weft_place place, const struct weft__xml_handler *handler,
                                void *context, struct weft_error *ret_error);
/// Whether a file with this beginning looks like XML with the root `root`.
bool weft__xml_recognise(const char *head, const char *root);

const char *weft__xml_find(const struct weft__xml_element *element, const char *key); ///< NULL: no such attribute
/// The attribute, which is required.
enum weft_status weft__xml_text(const struct weft__xml_element *element, const char *key, const char **ret_text,
                                struct weft_error *ret_error);
/// The attribute as a whole number from min to max, decimal or 0x...
enum weft_status weft__xml_number(const struct weft__xml_element *element, const char *key, int64_t min, int64_t max,
                                  int64_t *ret_number, struct weft_error *ret_error);
/// The same; without such an attribute, `otherwise`.
enum weft_status weft__xml_number_or(const struct weft__xml_element *element, const char *key, int64_t min, int64_t max,
                                     int64_t otherwise, int64_t *ret_number, struct weft_error *ret_error);
