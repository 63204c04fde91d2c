// SPDX-License-Identifier: Apache-2.0
// YAML to a tree, from the events of libyaml, which reports when memory runs out. We build the tree ourselves rather
// than let the library build a document, so that every limit is checked before memory is spent, an alias is a shared
// branch whose nodes are counted, and hostile text meets little code. For the same reason the text is first checked to
// be UTF-8 that means the same in YAML 1.1, which the library reads, and YAML 1.2.
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/grow.h"
#include "base/order.h"
#include "base/tree.h"
#include "base/utf8.h"
#include "weft/tree.h"

struct anchor {
    const char *name;
    const struct weft_tree *tree;
    uint32_t nodes;  ///< in it
    uint32_t height; ///< levels in it
    bool open;       ///< we are still inside it
};

/// A map or list being read.
struct frame {
    struct weft_tree *tree;
    struct weft_tree **child;
    uint32_t capacity, height;
    uint32_t nodes_before;
    struct anchor *anchor;
    const char *key; ///< read, and its value is due
    struct weft_place key_place;
};

struct reader {
    const char *file;
    bool lines; ///< places have lines
    struct weft_arena *arena;
    const char *text; ///< what the parser reads
    struct {
        size_t character, byte;
    } at; ///< in `text`, at the last anchor
    yaml_parser_t parser;
    yaml_event_t event;
    struct weft_memory_cleanup cleanup; ///< frees both
    struct frame frame[WEFT__TREE_DEPTH_MAX];
    uint32_t depth, nodes;
    struct anchor anchor[WEFT__TREE_ANCHORS_MAX];
    uint32_t anchors, documents;
    struct weft_tree *root;
    struct weft_place last; ///< of the last event
    struct weft_error *error;
};

#define FAIL(r, place, ...) WEFT_REFUSE((r)->error, place, __VA_ARGS__)

static struct weft_place place_at(const struct reader *r, int line, int column) {
    return r->lines ? (struct weft_place){.file = r->file, .line = line, .column = column}
                    : (struct weft_place){.file = r->file};
}

static struct weft_place place_of(const struct reader *r, yaml_mark_t mark) {
    return place_at(r, (int)mark.line + 1, (int)mark.column + 1);
}

/// For a node whose mark is at its anchor: where the node itself begins, if that is on the same line.
static struct weft_place place_behind_anchor(struct reader *r, yaml_mark_t mark) {
    for (; r->at.character < mark.index; r->at.character++)
        r->at.byte += weft__utf8_length((const unsigned char *)&r->text[r->at.byte]);
    const char *anchor = &r->text[r->at.byte];
    size_t name = strcspn(anchor, " \t\n,[]{}"), blanks = strspn(&anchor[name], " \t");
    if (blanks && !strchr("\n#", anchor[name + blanks])) mark.column += name + blanks;
    return place_of(r, mark);
}

static const char *copy_text(struct reader *r, const yaml_char_t *text, size_t n) {
    char *copy = weft_arena_alloc(r->arena, n + 1, 1);
    return memcpy(copy, text, n);
}

WEFT__ORDER_OF_POINTERS(compare_keys, struct weft_tree,
                        WEFT__TEXT(key) ?: WEFT__UP(key_place.line) ?: WEFT__UP(key_place.column))

static enum weft_status check_keys(struct reader *r, const struct weft_tree *map) {
    if (map->n < 2) return WEFT_OK;
    size_t bytes = map->n * sizeof *map->child;
    WEFT_FREED struct weft_tree **sorted = weft_memory_new(WEFT_MEMORY_SCENARIO, 1, bytes);
    memcpy(sorted, map->child, bytes);
    qsort(sorted, map->n, sizeof *sorted, compare_keys);
    for (uint32_t i = 1; i < map->n; i++)
        if (!strcmp(sorted[i]->key, sorted[i - 1]->key))
            return FAIL(r, sorted[i]->key_place, "%.80s: this key is in line %d already", sorted[i]->key,
                        sorted[i - 1]->key_place.line);
    return WEFT_OK;
}

static struct anchor *anchor_find(struct reader *r, const char *name) {
    for (uint32_t i = 0; i < r->anchors; i++)
        if (!strcmp(r->anchor[i].name, name)) return &r->anchor[i];
    return NULL;
}

/// An anchor with an existing name replaces the earlier one (YAML 1.2.2, 7.1).
static enum weft_status anchor_add(struct reader *r, const yaml_char_t *anchor, struct weft_place place,
                                   struct anchor **ret_anchor) {
    *ret_anchor = NULL;
    if (!anchor) return WEFT_OK;
    const char *name = weft_arena_text(r->arena, (const char *)anchor);
    struct anchor *a = anchor_find(r, name);
    if (a && a->open) return FAIL(r, place, "&%.80s: this anchor is inside an anchor of the same name", name);
    if (!a) {
        if (r->anchors == WEFT__TREE_ANCHORS_MAX) return FAIL(r, place, "more than %u anchors", WEFT__TREE_ANCHORS_MAX);
        a = &r->anchor[r->anchors++];
    }
    *a = (struct anchor){.name = name};
    *ret_anchor = a;
    return WEFT_OK;
}

static enum weft_status count_nodes(struct reader *r, uint32_t nodes, struct weft_place place) {
    if (nodes > WEFT__TREE_NODES_MAX - r->nodes)
        return FAIL(r, place, "more than %u nodes, aliases expanded", WEFT__TREE_NODES_MAX);
    r->nodes += nodes;
    return WEFT_OK;
}

/// Puts a finished node, `height` levels high, into its parent.
static enum weft_status attach_tree(struct reader *r, struct weft_tree *tree, uint32_t height) {
    if (!r->depth) {
        r->root = tree;
        return WEFT_OK;
    }
    struct frame *f = &r->frame[r->depth - 1];
    if (f->tree->type == WEFT_TREE_MAP) {
        if (f->tree->n == WEFT__TREE_KEYS_MAX)
            return FAIL(r, f->key_place, "more than %u keys in one map", WEFT__TREE_KEYS_MAX);
        tree->key = f->key;
        tree->key_place = f->key_place;
        f->key = NULL;
    }
    WEFT__ADD_DOUBLE(WEFT_MEMORY_SCENARIO, f->child, f->tree->n, f->capacity, 8) = tree;
    if (f->height < height + 1) f->height = height + 1;
    return WEFT_OK;
}

static bool key_is_due(const struct reader *r) {
    if (!r->depth) return false;
    const struct frame *f = &r->frame[r->depth - 1];
    return f->tree->type == WEFT_TREE_MAP && !f->key;
}

static bool is_null(yaml_scalar_style_t style, const char *text) {
    return style == YAML_PLAIN_SCALAR_STYLE && (!*text || !strcmp(text, "~") || !strcmp(text, "null"));
}

static enum weft_status on_scalar(struct reader *r, const yaml_event_t *event, struct weft_place place) {
    size_t length = event->data.scalar.length;
    if (!length && event->start_mark.index == event->end_mark.index && r->depth && r->frame[r->depth - 1].key)
        place = r->frame[r->depth - 1].key_place; // an empty value: use the place of its key
    const char *text = copy_text(r, event->data.scalar.value, length);
    if (strlen(text) < length) return FAIL(r, place, "a text must not hold the character 0");
    struct anchor *anchor;
    enum weft_status status = anchor_add(r, event->data.scalar.anchor, place, &anchor);
    if (status) return status;
    bool null = is_null(event->data.scalar.style, text);
    if (key_is_due(r)) {
        if (null) return FAIL(r, place, "a key is missing before \":\"");
        int control = weft__text_control(text, false);
        if (control) return FAIL(r, place, "a key with the control character 0x%02x; expected one without", control);
        r->frame[r->depth - 1].key = text;
        r->frame[r->depth - 1].key_place = place;
    }
    struct weft_tree *tree = weft_arena_alloc(r->arena, 1, sizeof *tree);
    *tree =
        (struct weft_tree){.type = null ? WEFT_TREE_NULL : WEFT_TREE_TEXT, .place = place, .text = null ? NULL : text};
    if (anchor) {
        anchor->tree = tree;
        anchor->nodes = 1;
    }
    if ((status = count_nodes(r, 1, place))) return status;
    return r->depth && r->frame[r->depth - 1].key == text ? WEFT_OK : attach_tree(r, tree, 0);
}

static enum weft_status on_alias(struct reader *r, const yaml_event_t *event, struct weft_place place) {
    const char *name = weft_arena_text(r->arena, (const char *)event->data.alias.anchor);
    if (key_is_due(r)) return FAIL(r, place, "a key must be plain text; found the alias *%.80s", name);
    const struct anchor *a = anchor_find(r, name);
    if (!a) return FAIL(r, place, "*%.80s: no anchor &%.80s before this", name, name);
    if (a->open) return FAIL(r, place, "*%.80s is inside &%.80s: a cycle", name, name);
    if (r->depth + a->height > WEFT__TREE_DEPTH_MAX)
        return FAIL(r, place, "*%.80s: more than %u levels", name, WEFT__TREE_DEPTH_MAX);
    WEFT_TRY(count_nodes(r, a->nodes, place));
    struct weft_tree *tree = weft_arena_alloc(r->arena, 1, sizeof *tree);
    *tree = *a->tree; // its branches are shared; errors name the place where they are written
    tree->key = NULL;
    return attach_tree(r, tree, a->height);
}

static enum weft_status on_begin(struct reader *r, enum weft_tree_type type, const yaml_char_t *anchor_name,
                                 struct weft_place place) {
    if (key_is_due(r))
        return FAIL(r, place, "a key must be plain text; found a %s", type == WEFT_TREE_MAP ? "map" : "list");
    if (r->depth == WEFT__TREE_DEPTH_MAX) return FAIL(r, place, "more than %u levels", WEFT__TREE_DEPTH_MAX);
    struct anchor *anchor;
    WEFT_TRY(anchor_add(r, anchor_name, place, &anchor));
    WEFT_TRY(count_nodes(r, 1, place));
    struct weft_tree *tree = weft_arena_alloc(r->arena, 1, sizeof *tree);
    *tree = (struct weft_tree){.type = type, .place = place};
    if (anchor) {
        anchor->open = true;
        anchor->tree = tree;
    }
    r->frame[r->depth++] = (struct frame){.tree = tree, .nodes_before = r->nodes - 1, .anchor = anchor, .height = 1};
    return WEFT_OK;
}

static enum weft_status on_end(struct reader *r) {
    struct frame *f = &r->frame[--r->depth];
    struct weft_tree *tree = f->tree;
    tree->child = weft_arena_alloc(r->arena, tree->n, sizeof *tree->child);
    if (tree->n) memcpy(tree->child, f->child, tree->n * sizeof *tree->child);
    weft_memory_free(WEFT_MEMORY_SCENARIO, f->child, f->capacity * sizeof *f->child);
    f->child = NULL;
    if (f->anchor) {
        f->anchor->open = false;
        f->anchor->nodes = r->nodes - f->nodes_before;
        f->anchor->height = f->height;
    }
    WEFT_TRY(tree->type == WEFT_TREE_MAP ? check_keys(r, tree) : WEFT_OK);
    return attach_tree(r, tree, f->height);
}

static const yaml_char_t *anchor_of(const yaml_event_t *event) {
    return event->type == YAML_SCALAR_EVENT           ? event->data.scalar.anchor
           : event->type == YAML_SEQUENCE_START_EVENT ? event->data.sequence_start.anchor
           : event->type == YAML_MAPPING_START_EVENT  ? event->data.mapping_start.anchor
                                                      : NULL;
}

static const yaml_char_t *tag_of(const yaml_event_t *event) {
    return event->type == YAML_SCALAR_EVENT           ? event->data.scalar.tag
           : event->type == YAML_SEQUENCE_START_EVENT ? event->data.sequence_start.tag
           : event->type == YAML_MAPPING_START_EVENT  ? event->data.mapping_start.tag
                                                      : NULL;
}

static enum weft_status on_event(struct reader *r, const yaml_event_t *event) {
    struct weft_place place =
        anchor_of(event) ? place_behind_anchor(r, event->start_mark) : place_of(r, event->start_mark);
    r->last = place;
    if (tag_of(event)) return FAIL(r, place, "tags (\"!\") have no meaning here");
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (r->documents++) return FAIL(r, place, "a second document begins here; expected one");
        return WEFT_OK;
    case YAML_SCALAR_EVENT:
        return on_scalar(r, event, place);
    case YAML_ALIAS_EVENT:
        return on_alias(r, event, place);
    case YAML_MAPPING_START_EVENT:
        return on_begin(r, WEFT_TREE_MAP, event->data.mapping_start.anchor, place);
    case YAML_SEQUENCE_START_EVENT:
        return on_begin(r, WEFT_TREE_LIST, event->data.sequence_start.anchor, place);
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
        return on_end(r);
    default:
        return WEFT_OK;
    }
}

/// The character where the library gave up.
static char character_at(const struct reader *r, yaml_mark_t mark) {
    const char *at = r->text;
    for (size_t line = 0; line < mark.line && *at; line++)
        at += strcspn(at, "\n") + (at[strcspn(at, "\n")] != 0);
    for (size_t column = 0; column < mark.column && *at && *at != '\n'; column++)
        at += weft__utf8_length((const unsigned char *)at);
    return *at;
}

/// What would have been right, of what users most often get wrong; "": that is clear without.
static const char *expectation_of(const struct reader *r) {
    const char *problem = r->parser.problem, at = character_at(r, r->parser.problem_mark);
    if (strstr(problem, "cannot start any token"))
        return at == '\t' ? "; this is a tab: expected spaces" : "; expected a value that begins with it in quotes";
    if (strstr(problem, "mapping values are not allowed"))
        return "; expected one key in a line, indented as its neighbours, and a value with \": \" in it in quotes";
    if (strstr(problem, "did not find expected key"))
        return "; expected the line indented as the keys above that it belongs to";
    if (strstr(problem, "unexpected end of stream")) return "; expected the quote that ends it";
    return "";
}

/// What the library has to complain about, as our error.
static enum weft_status fail_with(struct reader *r) {
    const yaml_parser_t *p = &r->parser;
    if (p->error == YAML_MEMORY_ERROR) weft_memory_fail();
    if (!p->problem) return FAIL(r, r->last, "not YAML from here on");
    struct weft_place place = place_of(r, p->problem_mark);
    if (!p->context) return FAIL(r, place, "not YAML: %s%s", p->problem, expectation_of(r));
    return FAIL(r, place, "not YAML: %s, %s%s", p->context, p->problem, expectation_of(r));
}

static enum weft_status read_events(struct reader *r) {
    enum weft_status status = WEFT_OK;
    for (bool more = true; more && !status;) {
        if (!yaml_parser_parse(&r->parser, &r->event)) return fail_with(r);
        more = r->event.type != YAML_STREAM_END_EVENT;
        status = on_event(r, &r->event);
        yaml_event_delete(&r->event);
    }
    return status;
}

/// The character of `n` bytes of UTF-8 at `s`.
static uint32_t decode_utf8(const unsigned char *s, unsigned n) {
    if (n == 1) return *s;
    uint32_t c = *s & (0x7fu >> n);
    for (unsigned i = 1; i < n; i++)
        c = c << 6 | (s[i] & 0x3f);
    return c;
}

/// c-printable of YAML 1.2, except what YAML 1.1 treats as the end of a line (U+0085, U+2028, U+2029) and a byte order
/// mark within the text.
static bool is_text(uint32_t c) {
    if (c < 0xa0) return c == '\n' || c == '\t' || (c >= 0x20 && c < 0x7f);
    return c != 0x2028 && c != 0x2029 && c != 0xfeff && c != 0xfffe && c != 0xffff;
}

/// Zeros after the copy, because a UTF-8 character is examined as a whole.
enum { PADDING = 4 };

/// A copy that is safe for the library: UTF-8 without control characters, with lines that end in LF.
static enum weft_status check_text(const struct reader *r, const char *text, size_t size, char *ret_copy,
                                   size_t *ret_size) {
    int line = 1, column = 1;
    memcpy(ret_copy, text, size);
    size_t from = size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0, to = 0; // a byte order mark is allowed
    while (from < size) {
        unsigned char *c = (unsigned char *)&ret_copy[from];
        if (c[0] == '\r' && c[1] == '\n') {
            from++;
            continue;
        }
        unsigned n = weft__utf8_length(c);
        uint32_t character = n ? decode_utf8(c, n) : 0;
        if (!is_text(character) && n < 2)
            return FAIL(r, place_at(r, line, column), "byte 0x%02x is not text; expected YAML in UTF-8", *c);
        if (!is_text(character))
            return FAIL(r, place_at(r, line, column), "U+%04X is not text in YAML; expected it as \"\\u%04X\"",
                        character, character);
        column++;
        if (character == '\n') line++, column = 1;
        memmove(&ret_copy[to], c, n);
        to += n;
        from += n;
    }
    *ret_size = to;
    return WEFT_OK;
}

static void delete_parser(void *context) {
    struct reader *r = context;
    yaml_event_delete(&r->event);
    yaml_parser_delete(&r->parser);
}

static enum weft_status parse_checked(struct reader *r, const char *text, size_t size) {
    if (!yaml_parser_initialize(&r->parser)) weft_memory_fail();
    weft_memory_cleanup_add(&r->cleanup, delete_parser, r);
    r->text = text;
    yaml_parser_set_encoding(&r->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r->parser, (const yaml_char_t *)text, size);
    enum weft_status status = read_events(r);
    weft_memory_cleanup_remove(&r->cleanup);
    delete_parser(r);
    while (r->depth--) // left over after an error
        weft_memory_free(WEFT_MEMORY_SCENARIO, r->frame[r->depth].child,
                         r->frame[r->depth].capacity * sizeof(struct weft_tree *));
    return status;
}

static enum weft_status parse_text(struct reader *r, const char *text, size_t size) {
    if (size > WEFT__TREE_BYTES_MAX)
        return FAIL(r, place_at(r, 0, 0), "larger than %u MiB, the limit of a scenario", WEFT__TREE_BYTES_MAX >> 20);
    WEFT_FREED char *copy = weft_memory_new(WEFT_MEMORY_SCENARIO, size + PADDING, 1);
    size_t checked = 0;
    WEFT_TRY(check_text(r, text, size, copy, &checked));
    return parse_checked(r, copy, checked);
}

static struct reader *reader_new(const char *name, bool lines, struct weft_arena *arena, struct weft_error *ret_error) {
    struct reader *r = weft_memory_new(WEFT_MEMORY_SCENARIO, 1, sizeof *r);
    r->file = weft_arena_text(arena, name);
    r->lines = lines;
    r->last = place_at(r, 1, 1);
    r->arena = arena;
    r->error = ret_error;
    return r;
}

enum weft_status weft_tree_parse(const char *name, const char *text, size_t size, struct weft_arena *arena,
                                 struct weft_tree **ret_tree, struct weft_error *ret_error) {
    struct reader *r = reader_new(name, true, arena, ret_error);
    enum weft_status status = parse_text(r, text, size);
    if (!status && (!r->root || r->root->type == WEFT_TREE_NULL))
        status = FAIL(r, place_at(r, 0, 0), "is empty; expected a YAML document");
    *ret_tree = r->root;
    weft_memory_free(WEFT_MEMORY_SCENARIO, r, sizeof *r);
    return status;
}

enum weft_status weft__tree_parse_value(const char *name, const char *text, struct weft_arena *arena,
                                        struct weft_tree **ret_tree, struct weft_error *ret_error) {
    struct reader *r = reader_new(name, false, arena, ret_error);
    enum weft_status status = parse_text(r, text, strlen(text));
    *ret_tree = r->root;
    if (!r->root) {
        *ret_tree = weft_arena_alloc(arena, 1, sizeof **ret_tree);
        (*ret_tree)->place = place_at(r, 0, 0);
    }
    weft_memory_free(WEFT_MEMORY_SCENARIO, r, sizeof *r);
    return status;
}

static void forget_places(struct weft_tree *tree) {
    tree->place = tree->key_place = WEFT_NOWHERE;
    for (uint32_t i = 0; i < tree->n; i++)
        forget_places(tree->child[i]);
}

enum weft_status weft__tree_parse_own(const char *text, struct weft_arena *arena, struct weft_tree **ret_tree,
                                      struct weft_error *ret_error) {
    WEFT_TRY(weft__tree_parse_value("", text, arena, ret_tree, ret_error));
    forget_places(*ret_tree);
    return WEFT_OK;
}
