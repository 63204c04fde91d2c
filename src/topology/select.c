// SPDX-License-Identifier: Apache-2.0
// Globs over names, and hosts selected by text. In brackets stand characters, as in a shell, or numbers with several
// digits, as Slurm and pdsh write lists of hosts (slurm.conf(5), NodeName; pdsh(1), hostlist expressions).
#include <stdio.h>
#include <string.h>

#include "topology/builder.h"

/// Matches one character against the set that starts after '['. *ret_end: after ']', or NULL if there is none.
static bool in_set(const char *p, const char *end, char c, const char **ret_end) {
    bool negated = p < end && (*p == '!' || *p == '^'), found = false;
    const char *first = p += negated;
    for (; p < end && (*p != ']' || p == first); p++) {
        if (p + 2 < end && p[1] == '-' && p[2] != ']') {
            found |= (unsigned char)p[0] <= (unsigned char)c && (unsigned char)c <= (unsigned char)p[2];
            p += 2;
        } else {
            found |= *p == c;
        }
    }
    *ret_end = p < end ? p + 1 : NULL;
    return found != negated;
}

// --- lists of numbers ---------------------------------------------------------------------------------------------

/// A range of numbers, as in "[001-004,007]"; a single number is one, too.
struct range {
    uint32_t from, to;
    size_t width; ///< digits that are written at least
};

/// Reads a number of 1 to 9 digits that is all of [p, end).
static bool read_number(const char *p, const char *end, uint32_t *ret_number) {
    *ret_number = 0;
    if (p == end || end - p > 9) return false;
    for (; p < end; p++) {
        if (*p < '0' || *p > '9') return false;
        *ret_number = *ret_number * 10 + (uint32_t)(*p - '0');
    }
    return true;
}

/// Reads the range at *p, which ends at a comma or at `end`, and advances *p past it. Numbers with leading zeros have
/// the width of the first.
static bool next_range(const char **p, const char *end, struct range *ret_range) {
    const char *item = *p, *stop = item, *dash;
    while (stop < end && *stop != ',')
        stop++;
    for (dash = item; dash < stop && *dash != '-';)
        dash++;
    *p = stop < end ? stop + 1 : stop;
    if (!read_number(item, dash, &ret_range->from)) return false;
    ret_range->to = ret_range->from;
    ret_range->width = *item == '0' ? (size_t)(dash - item) : 1;
    if (dash == stop) return true;
    bool padded = dash[1] == '0' && stop - dash > 2, fits = (size_t)(stop - dash - 1) >= ret_range->width;
    return fits && (!padded || *item == '0') && read_number(dash + 1, stop, &ret_range->to);
}

enum brackets { BRACKETS_SET, BRACKETS_EITHER, BRACKETS_LIST, BRACKETS_BAD };

/// What stands in brackets, [p, end): numbers with several digits, such as "16-31" or "08,12", are a list. Where each
/// has one digit, "0-7", list and set of characters are the same; and digits alone, "[05]", are a set. What is neither
/// clearly, "!16-31", "a-c,10", "1-,3", "16..31" or with a step, "0-12/4", is bad: patterns match nothing by it, and
/// choices of hosts refuse it.
static enum brackets kind_of(const char *p, const char *end) {
    bool list = false, longer = false;
    for (const char *c = p; c < end; c++) {
        if (c > p && c[-1] == '.' && *c == '.') return BRACKETS_BAD;
        if (c > p && c[-1] >= '0' && c[-1] <= '9' && (*c == '/' || *c == ':')) return BRACKETS_BAD;
        list |= *c == '-' || *c == ',';
        longer |= c > p && c[-1] >= '0' && c[-1] <= '9' && *c >= '0' && *c <= '9';
    }
    if (p == end || (!list && longer)) return BRACKETS_SET;
    bool comma = memchr(p, ',', (size_t)(end - p));
    if (end[-1] == ',') return BRACKETS_BAD;
    while (p < end) {
        struct range r;
        if (!next_range(&p, end, &r)) return longer || comma ? BRACKETS_BAD : BRACKETS_SET;
    }
    return longer ? BRACKETS_LIST : BRACKETS_EITHER;
}

/// Whether one of the ranges has the number that is all of [name, end).
static bool in_list(const char *p, const char *end, const char *name, const char *name_end) {
    uint32_t number;
    if (!read_number(name, name_end, &number)) return false;
    while (p < end) {
        struct range r;
        if (!next_range(&p, end, &r)) return false;
        size_t width = (size_t)(name_end - name);
        bool written = *name == '0' && width > 1 ? width == r.width : width >= r.width;
        if (written && r.from <= number && number <= r.to) return true;
    }
    return false;
}

// --- patterns -----------------------------------------------------------------------------------------------------

enum { NAME_MAX = 512 };

/// The places in a name that a pattern can have reached.
struct reached {
    bool at[NAME_MAX + 1];
};

/// One element of the pattern, from `p` on, at every place reached; returns its end.
static const char *match_element(const char *p, const char *end, const char *name, size_t n, const struct reached *from,
                                 struct reached *to) {
    const char *close = NULL;
    if (*p == '[') in_set(p + 1, end, 'x', &close); // never closed: '[' is an ordinary character
    enum brackets kind = close ? kind_of(p + 1, close - 1) : BRACKETS_SET;
    bool list = kind == BRACKETS_LIST, star = *p == '*', before = false;
    if (kind == BRACKETS_BAD) return close;
    for (size_t i = 0; i <= n; i++) {
        const char *after;
        before |= from->at[i];
        if (star) {
            to->at[i] = before;
        } else if (!from->at[i] || i == n) {
            continue;
        } else if (list) {
            for (size_t digits = 1; digits <= 9 && i + digits <= n; digits++)
                to->at[i + digits] |= in_list(p + 1, close - 1, name + i, name + i + digits);
        } else if (close ? in_set(p + 1, end, name[i], &after) : *p == '?' || *p == name[i]) {
            to->at[i + 1] = true;
        }
    }
    return close ? close : p + 1;
}

/// One alternative, [p, end).
static bool match_one(const char *p, const char *end, const char *name) {
    size_t n = strlen(name);
    if (n > NAME_MAX) return false;
    struct reached reached = {.at = {true}};
    while (p < end) {
        struct reached next;
        memset(next.at, 0, n + 1);
        p = match_element(p, end, name, n, &reached, &next);
        memcpy(reached.at, next.at, n + 1);
    }
    return reached.at[n];
}

/// The end of the alternative that starts at `p`: a comma outside brackets, or the end of the text.
static const char *alternative_end(const char *p) {
    bool bracket = false;
    for (; *p && (bracket || *p != ','); p++)
        bracket = bracket ? *p != ']' : *p == '[' && strchr(p, ']');
    return p;
}

static void trim_blanks(const char **p, const char **end) {
    while (*p < *end && **p == ' ')
        ++*p;
    while (*p < *end && (*end)[-1] == ' ')
        --*end;
}

bool weft_glob_match(const char *pattern, const char *name) {
    for (const char *p = pattern;; p++) {
        const char *end = alternative_end(p), *first = p, *last = end;
        trim_blanks(&first, &last);
        if (match_one(first, last, name)) return true;
        if (!*end) return false;
        p = end;
    }
}

bool weft__choice_next(const char **text, char *item) {
    if (!*text) return false;
    const char *end = alternative_end(*text), *first = *text, *last = end;
    trim_blanks(&first, &last);
    memcpy(item, first, (size_t)(last - first));
    item[last - first] = 0;
    *text = *end ? end + 1 : NULL;
    return true;
}

struct choice {
    const struct weft_topology *t;
    struct weft_place place;
    struct weft_error *ret_error;
    const char *network; ///< names are those of machines, and their NICs in this network are chosen; NULL: names are
                         ///< those of hosts
    uint8_t *chosen;     ///< by host index: not, by a pattern, or by its own name
    uint32_t *host, n;
};

enum how { NOT_CHOSEN, BY_PATTERN, BY_NAME };

static void choose_host(struct choice *c, uint32_t host) {
    if (c->chosen[host]) return;
    c->chosen[host] = BY_PATTERN;
    c->host[c->n++] = host;
}

/// Chooses the NICs of machine `m` in the network; returns how many there are.
static uint32_t choose_nics(struct choice *c, uint32_t m) {
    const struct weft_machine_info *machine = &c->t->machine[m];
    uint32_t n = 0;
    for (uint32_t i = 0; i < machine->nics; i++) {
        const struct weft_nic_info *nic = &c->t->nic[machine->nic0 + i];
        if (c->network && strcmp(nic->network, c->network)) continue;
        choose_host(c, nic->host);
        n++;
    }
    return n;
}

static uint32_t find_machine(const struct weft_topology *t, const char *name) {
    for (uint32_t m = 0; m < t->machines; m++)
        if (!strcmp(t->machine[m].name, name)) return m;
    return WEFT_NONE;
}

static enum weft_status choose_machine(struct choice *c, const char *name) {
    const struct weft_topology *t = c->t;
    uint32_t m = find_machine(t, name);
    if (m == WEFT_NONE)
        return WEFT_REFUSE(c->ret_error, c->place, "no machine '%s'; machines are %s to %s", name, t->machine[0].name,
                           t->machine[t->machines - 1].name);
    if (choose_nics(c, m)) return WEFT_OK;
    return WEFT_REFUSE(c->ret_error, c->place, "machine %s has no NIC in a network '%s'; its first is in '%s'", name,
                       c->network, t->nic[t->machine[m].nic0].network);
}

static enum weft_status choose_name(struct choice *c, const char *name, enum how how) {
    if (c->network) return choose_machine(c, name);
    const struct weft_topology *t = c->t;
    uint32_t node = weft_topology_find_node(t, name);
    if (node != WEFT_NONE && t->node[node].role == WEFT_NODE_HOST) {
        uint32_t host = t->node[node].index;
        if (how == BY_NAME && c->chosen[host] == BY_NAME)
            return WEFT_REFUSE(c->ret_error, c->place, "'%s' is chosen twice; expected each host once", name);
        choose_host(c, host);
        if (how == BY_NAME) c->chosen[host] = BY_NAME;
        return WEFT_OK;
    }
    const char *first = t->node[t->host[0]].name, *last = t->node[t->host[t->hosts - 1]].name;
    if (node != WEFT_NONE)
        return WEFT_REFUSE(c->ret_error, c->place, "'%s' is a switch; expected a host (%s to %s, %u hosts)", name,
                           first, last, t->hosts);
    uint32_t machine = find_machine(t, name);
    if (machine != WEFT_NONE && t->networks == 1) {
        choose_nics(c, machine);
        return WEFT_OK;
    }
    if (machine != WEFT_NONE)
        return WEFT_REFUSE(c->ret_error, c->place, "'%s' is a machine; expected its NICs in a network, as in %s@%s",
                           name, name, t->nic[t->machine[machine].nic0].network);
    const char *nearest = weft__topology_nearest_node(t, name, strlen(name));
    return WEFT_REFUSE(c->ret_error, c->place, "no host '%s'; expected %s to %s (%u hosts)%s%s%s", name, first, last,
                       t->hosts, nearest ? "; nearest: '" : "", nearest ? nearest : "", nearest ? "'" : "");
}

/// Whether a pattern matches a host: by its name, or, unless a NIC of its machine does so, by that of the machine.
static void match_hosts(const struct choice *c, const char *glob, bool *ret_match) {
    const struct weft_topology *t = c->t;
    for (uint32_t h = 0; h < t->hosts; h++) {
        const struct weft_node_info *node = &t->node[t->host[h]];
        bool by_name = glob[0] == node->name[0]; // "*" is every host except the control processors of TiNs
        ret_match[h] = (!weft_node_is_processor(node) || by_name) && weft_glob_match(glob, node->name);
    }
    for (uint32_t m = 0; t->networks == 1 && m < t->machines; m++) {
        const struct weft_nic_info *nic = &t->nic[t->machine[m].nic0];
        bool any = !weft_glob_match(glob, t->machine[m].name);
        for (uint32_t i = 0; i < t->machine[m].nics && !any; i++)
            any = ret_match[nic[i].host];
        for (uint32_t i = 0; i < t->machine[m].nics && !any; i++)
            ret_match[nic[i].host] = true;
    }
}

static enum weft_status choose_glob(struct choice *c, const char *glob) {
    bool *match = weft_memory_new(WEFT_MEMORY_TOPOLOGY, c->t->hosts, sizeof *match), any = false;
    match_hosts(c, glob, match);
    for (uint32_t h = 0; h < c->t->hosts; h++) {
        if (match[h]) choose_host(c, h);
        any |= match[h];
    }
    weft_memory_free(WEFT_MEMORY_TOPOLOGY, match, c->t->hosts * sizeof *match);
    if (any) return WEFT_OK;
    return WEFT_REFUSE(c->ret_error, c->place, "no host matches '%s'; hosts are %s to %s", glob,
                       c->t->node[c->t->host[0]].name, c->t->node[c->t->host[c->t->hosts - 1]].name);
}

static enum weft_status choose_machine_glob(struct choice *c, const char *glob) {
    const struct weft_topology *t = c->t;
    uint32_t n = 0;
    for (uint32_t m = 0; m < t->machines; m++)
        if (weft_glob_match(glob, t->machine[m].name)) n += choose_nics(c, m);
    if (n) return WEFT_OK;
    return WEFT_REFUSE(c->ret_error, c->place,
                       "no machine that matches '%s' has a NIC in a network '%s'; machines are %s to %s", glob,
                       c->network, t->machine[0].name, t->machine[t->machines - 1].name);
}

/// "host-3..15": from the first name's own number to the second number, with as many digits.
static enum weft_status choose_range(struct choice *c, const char *text, const char *dots) {
    const char *digits = dots;
    while (digits > text && digits[-1] >= '0' && digits[-1] <= '9')
        digits--;
    uint32_t from, to;
    char name[128];
    if (!read_number(digits, dots, &from) || !read_number(dots + 2, dots + strlen(dots), &to) || from > to ||
        digits - text > 100)
        return WEFT_REFUSE(c->ret_error, c->place,
                           "'%s' is not a range; expected a first and a last number, as in host-0..15", text);
    int width = *digits == '0' ? (int)(dots - digits) : 1;
    for (uint32_t i = from; i <= to; i++) {
        snprintf(name, sizeof name, "%.*s%0*u", (int)(digits - text), text, width, i);
        WEFT_TRY(choose_name(c, name, BY_PATTERN));
    }
    return WEFT_OK;
}

// --- lists of hosts, as Slurm and pdsh write them -----------------------------------------------------------------

/// The brackets at or after `p`, without the brackets themselves; false: there are no more.
static bool find_brackets(const char *p, const char **ret_first, const char **ret_end) {
    const char *open = strchr(p, '['), *close = open ? strchr(open, ']') : NULL;
    if (!close) return false;
    *ret_first = open + 1;
    *ret_end = close;
    return true;
}

/// Whether an item is a list: all of its brackets are, or can be, and one must be. One in which digits stand alone
/// ("host-[13]") is a pattern, and an error if a host has this number.
static enum weft_status is_list(const struct choice *c, const char *item, bool *ret_list) {
    const char *first, *end;
    char name[128] = "";
    size_t n = 0;
    bool sets = false, lists = false;
    *ret_list = false;
    for (const char *p = item; find_brackets(p, &first, &end); p = end + 1) {
        enum brackets kind = kind_of(first, end);
        if (kind == BRACKETS_BAD)
            return WEFT_REFUSE(c->ret_error, c->place,
                               "'[%.*s]' is neither a list of numbers nor a set of characters; expected such as "
                               "[16-31], [001-004,007] or [a-f0-9]",
                               (int)(end - first), first);
        sets |= kind == BRACKETS_SET;
        lists |= kind == BRACKETS_LIST;
    }
    *ret_list = lists && !sets && !strpbrk(item, "*?");
    if (*ret_list || strpbrk(item, "*?") || strlen(item) >= sizeof name) return WEFT_OK;
    for (const char *p = item; *p; p++)
        if (*p != '[' && *p != ']') name[n++] = *p;
    uint32_t node = sets ? weft_topology_find_node(c->t, name) : WEFT_NONE;
    if (node == WEFT_NONE || c->t->node[node].role != WEFT_NODE_HOST) return WEFT_OK;
    return WEFT_REFUSE(c->ret_error, c->place,
                       "'%s' is %s as a list, and one of these digits as a pattern; expected %s, or a comma between "
                       "the digits",
                       item, name, name);
}

/// Every name of a list, in its order: `prefix` (of `length`), then what `rest` makes.
static enum weft_status choose_list(struct choice *c, char *name, size_t length, size_t size, const char *rest) {
    const char *first, *end;
    bool more = find_brackets(rest, &first, &end);
    size_t n = more ? (size_t)(first - 1 - rest) : strlen(rest);
    if (length + n + 10 >= size)
        return WEFT_REFUSE(c->ret_error, c->place, "'%.40s...' is too long for a list of hosts", name);
    memcpy(name + length, rest, n);
    length += n;
    name[length] = 0;
    if (!more) return choose_name(c, name, BY_PATTERN);
    enum weft_status status = WEFT_OK;
    for (const char *p = first; p < end && !status;) {
        const char *item = p;
        struct range r;
        next_range(&p, end, &r);
        if (r.from > r.to)
            return WEFT_REFUSE(c->ret_error, c->place,
                               "'%.*s' is not a range; expected a first and a last number, as in [16-31]",
                               (int)(end - item), item);
        for (uint32_t i = r.from; i <= r.to && !status; i++) {
            int digits = snprintf(name + length, size - length, "%0*u", (int)r.width, i);
            status = choose_list(c, name, length + (size_t)digits, size, end + 1);
        }
    }
    return status;
}

static enum weft_status choose_item(struct choice *c, char *item) {
    char *at = strchr(item, '@');
    c->network = at ? at + 1 : NULL;
    if (at && !c->t->machines)
        return WEFT_REFUSE(c->ret_error, c->place,
                           "'%s' is of a machine, and the topology has no machines; expected hosts", item);
    if (at) *at = 0;
    const char *dots = strstr(item, "..");
    if (!*item)
        return WEFT_REFUSE(c->ret_error, c->place,
                           "an empty name; expected hosts, as in \"host-3\", \"host-0..15\" or \"host-*\"");
    bool list;
    char name[128];
    WEFT_TRY(is_list(c, item, &list));
    if (list) return choose_list(c, name, 0, sizeof name, item);
    if (strpbrk(item, "*?[")) return at ? choose_machine_glob(c, item) : choose_glob(c, item);
    return dots ? choose_range(c, item, dots) : choose_name(c, item, BY_NAME);
}

enum weft_status weft_topology_select_hosts(const struct weft_topology *t, const char *text, struct weft_place place,
                                            uint32_t **ret_hosts, uint32_t *ret_n, struct weft_error *ret_error) {
    struct choice c = {.t = t, .place = place, .ret_error = ret_error};
    c.chosen = weft_memory_new(WEFT_MEMORY_TOPOLOGY, t->hosts, sizeof *c.chosen);
    c.host = weft_memory_new(WEFT_MEMORY_TOPOLOGY, t->hosts, sizeof *c.host);
    size_t size = strlen(text) + 1;
    WEFT_FREED char *item = weft_memory_new(WEFT_MEMORY_TOPOLOGY, size, 1);
    enum weft_status status = WEFT_OK;
    for (const char *rest = text; !status && weft__choice_next(&rest, item);)
        status = choose_item(&c, item);
    if (!status) {
        *ret_hosts = weft_arena_alloc(t->arena, c.n, sizeof **ret_hosts);
        memcpy(*ret_hosts, c.host, c.n * sizeof *c.host);
        *ret_n = c.n;
    }
    weft_memory_free(WEFT_MEMORY_TOPOLOGY, c.host, t->hosts * sizeof *c.host);
    weft_memory_free(WEFT_MEMORY_TOPOLOGY, c.chosen, t->hosts * sizeof *c.chosen);
    return status;
}
