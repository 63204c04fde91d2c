// SPDX-License-Identifier: Apache-2.0
// Cabling plans in Graphviz's DOT, as ptmd reads them: "leaf-1":"swp51" -- "spine-1":"swp1". Source: the DOT language
// of Graphviz; topology.dot of Cumulus Linux's Prescriptive Topology Manager, where `function` says what a node is.
// Read are nodes, edges and attributes; subgraphs in braces and HTML texts are refused.
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/lines.h"
#include "import/cables/cables.h"

enum { TEXT_MAX = 4096, CHAIN_MAX = 256 };

struct dot {
    struct weft__lines lines;
    struct weft__cable_list *list;
    char token[TEXT_MAX]; ///< "" : the file has ended
    bool quoted;
    struct weft_place place; ///< of the token
};

#define BAD(d, ...) WEFT_REFUSE(ret_error, (d)->place, __VA_ARGS__)

/// Skips blanks and comments; false: the line has ended.
static bool skip_blanks(struct dot *d, bool *in_comment) {
    char *at = d->lines.at;
    for (;;) {
        if (*in_comment) {
            char *end = strstr(at, "*/");
            if (!end) return false;
            at = end + 2;
            *in_comment = false;
        }
        at += strspn(at, " \t\r");
        if (!strncmp(at, "/*", 2)) {
            *in_comment = true;
            at += 2;
            continue;
        }
        d->lines.at = at;
        return *at && strncmp(at, "//", 2) && *at != '#';
    }
}

static bool is_name(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '.' || (unsigned char)c >= 0x80;
}

/// A quoted text, a word, an edge or a sign.
static enum weft_status take_token(struct dot *d, struct weft_error *ret_error) {
    char *at = d->lines.at;
    size_t n = 0;
    d->place = (struct weft_place){
        .file = d->lines.path, .line = d->lines.place.line, .column = (int)(at - d->lines.line) + 1};
    d->quoted = *at == '"';
    if (d->quoted) {
        for (at++; *at && *at != '"' && n + 1 < TEXT_MAX; at++) {
            if (*at == '\\' && at[1] == '"') at++;
            d->token[n++] = *at;
        }
        if (*at++ != '"')
            return BAD(d, "a text without its second quote on this line, or of more than %d bytes", TEXT_MAX);
    } else if (!strncmp(at, "--", 2) || !strncmp(at, "->", 2)) {
        d->token[n++] = *at++;
        d->token[n++] = *at++;
    } else if (*at == '<') {
        return BAD(d, "an HTML text; expected names in quotes");
    } else if (is_name(*at) || (*at == '-' && (isdigit((unsigned char)at[1]) || at[1] == '.'))) {
        do
            d->token[n++] = *at++;
        while (is_name(*at) && n + 1 < TEXT_MAX);
    } else {
        d->token[n++] = *at++;
    }
    d->token[n] = 0;
    d->lines.at = at;
    return WEFT_OK;
}

static enum weft_status next_token(struct dot *d, struct weft_error *ret_error) {
    bool in_comment = false, more = true;
    d->token[0] = 0;
    d->quoted = false;
    while (!skip_blanks(d, &in_comment)) {
        WEFT_TRY(weft__lines_next(&d->lines, &more, ret_error));
        if (!more) return WEFT_OK;
        d->lines.at = d->lines.line;
    }
    return take_token(d, ret_error);
}

static bool is_sign(const struct dot *d, const char *sign) {
    return !d->quoted && !strcmp(d->token, sign);
}

static enum weft_status take_name(struct dot *d, const char *expected, const char **ret_name,
                                  struct weft_error *ret_error) {
    if (!d->quoted && !is_name(d->token[0])) return BAD(d, "'%.40s'; expected %s", d->token, expected);
    WEFT_TRY(weft__lines_name(&d->lines, d->token, ret_error));
    *ret_name = weft_arena_text(d->list->arena, d->token);
    return next_token(d, ret_error);
}

static enum weft__cable_role role_of(const char *function) {
    static const char *const hosts[] = {"host", "server", "gpu", "node"};
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++)
        if (!strcasecmp(function, hosts[i])) return WEFT__CABLE_HOST;
    return WEFT__CABLE_SWITCH;
}

/// [function="leaf", color=red][...], of `device` unless it is NULL.
static enum weft_status take_attributes(struct dot *d, const char *device, struct weft_error *ret_error) {
    enum weft_status status = WEFT_OK;
    while (!status && is_sign(d, "[")) {
        status = next_token(d, ret_error);
        while (!status && !is_sign(d, "]")) {
            const char *key, *value = "";
            if (is_sign(d, ",") || is_sign(d, ";")) {
                status = next_token(d, ret_error);
                continue;
            }
            status = take_name(d, "an attribute, or ]", &key, ret_error);
            if (!status && is_sign(d, "=")) {
                status = next_token(d, ret_error);
                if (!status) status = take_name(d, "the value of an attribute", &value, ret_error);
            }
            if (!status && device && !strcmp(key, "function")) weft__cables_tell(d->list, device, role_of(value));
        }
        if (!status) status = next_token(d, ret_error);
    }
    return status;
}

/// name, name:port; a compass point behind it is skipped.
static enum weft_status take_end(struct dot *d, const char **ret_device, const char **ret_port,
                                 struct weft_error *ret_error) {
    const char *compass;
    *ret_port = NULL;
    enum weft_status status = take_name(d, "the name of a device", ret_device, ret_error);
    for (const char **to = ret_port; !status && is_sign(d, ":"); to = &compass) {
        status = next_token(d, ret_error);
        if (!status) status = take_name(d, "the name of a port", to, ret_error);
    }
    return status;
}

/// A node with its attributes, a chain of edges, or an attribute of the graph.
static enum weft_status take_statement(struct dot *d, struct weft_error *ret_error) {
    struct weft__cable c = {.place = d->place};
    if (is_sign(d, "{") || (!d->quoted && !strcasecmp(d->token, "subgraph")))
        return BAD(d, "a subgraph; expected nodes and edges");
    bool is_default = !d->quoted && (!strcasecmp(d->token, "node") || !strcasecmp(d->token, "edge") ||
                                     !strcasecmp(d->token, "graph"));
    enum weft_status status = take_end(d, &c.device[0], &c.port[0], ret_error);
    if (!status && is_sign(d, "=")) {
        const char *value;
        status = next_token(d, ret_error);
        return status ? status : take_name(d, "the value of an attribute", &value, ret_error);
    }
    bool edge = false;
    while (!status && (is_sign(d, "--") || is_sign(d, "->"))) {
        edge = true;
        status = next_token(d, ret_error);
        if (!status) status = take_end(d, &c.device[1], &c.port[1], ret_error);
        if (status) return status;
        weft__cables_add(d->list, &c);
        c.device[0] = c.device[1];
        c.port[0] = c.port[1];
    }
    return status ? status : take_attributes(d, edge || is_default ? NULL : c.device[0], ret_error);
}

static enum weft_status take_graph(struct dot *d, struct weft_error *ret_error) {
    enum weft_status status = next_token(d, ret_error);
    while (!status && *d->token && !is_sign(d, "{")) // [strict] graph [name]
        status = next_token(d, ret_error);
    if (!status) status = next_token(d, ret_error);
    while (!status && *d->token && !is_sign(d, "}"))
        status = is_sign(d, ";") ? next_token(d, ret_error) : take_statement(d, ret_error);
    if (!status && !is_sign(d, "}")) return BAD(d, "the file ends within the graph; expected }");
    return status;
}

enum weft_status weft__cables_read_dot(const struct weft__cables_file *file, struct weft__cable_list *list,
                                       struct weft_error *ret_error) {
    struct dot *d = weft_arena_alloc(list->arena, 1, sizeof *d);
    d->list = list;
    WEFT_TRY(weft__lines_open(&d->lines, file->path, file->place, ret_error));
    static char nothing[1];
    d->lines.at = nothing;
    d->place = (struct weft_place){.file = file->path, .line = 1, .column = 1};
    enum weft_status status = take_graph(d, ret_error);
    weft__lines_close(&d->lines);
    return status;
}

bool weft__cables_is_dot(const char *head) {
    while (*(head += strspn(head, " \t\r\n"))) { // comments
        if (*head == '#' || !strncmp(head, "//", 2)) {
            head += strcspn(head, "\n");
        } else if (!strncmp(head, "/*", 2)) {
            const char *end = strstr(head, "*/");
            head = end ? end + 2 : head + strlen(head);
        } else {
            break;
        }
    }
    if (!strncasecmp(head, "strict", 6)) head += 6 + strspn(head + 6, " \t\r\n");
    if (!strncasecmp(head, "di", 2)) head += 2;
    return !strncasecmp(head, "graph", 5) && strchr(" \t\r\n{\"", head[5]) && strchr(head, '{');
}
