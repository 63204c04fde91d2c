// SPDX-License-Identifier: Apache-2.0
// Slurm's topology.conf and topology.yaml: a tree of switches, or blocks of nodes. Source: topology.conf(5) and
// topology.yaml(5) of Slurm 25. The files say which switch is below which, but neither how many cables there are nor
// their speed: a node has one of the given rate, and a switch with n nodes below has n / oversubscription of them to
// the switch above (bundled where there are many). A block is a switch, below one switch of all blocks.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/grow.h"
#include "base/lines.h"
#include "base/tree.h"
#include "import/cables/cables.h"
#include "weft/memory.h"
#include "weft/tree.h"

enum { DIGITS_MAX = 9 };

struct expansion {
    struct weft_arena *arena;
    const char **name;
    uint32_t n, max;
    char *why;
    size_t size;
};

#define REFUSE(x, ...) (snprintf((x)->why, (x)->size, __VA_ARGS__), false)

static bool expand_part(struct expansion *x, const char *done, const char *rest, const char *end);

static bool add_name(struct expansion *x, const char *name) {
    if (x->n == x->max) return REFUSE(x, "more than %" PRIu32 " names", x->max);
    WEFT__ADD(x->arena, x->name, x->n) = name;
    return true;
}

/// "16" or "16-31" of [from, to), each number in place of the brackets.
static bool expand_range(struct expansion *x, const char *done, const char *from, const char *to, const char *rest,
                         const char *end) {
    size_t low = strspn(from, "0123456789"), high = from[low] == '-' ? strspn(from + low + 1, "0123456789") : 0;
    const char *last = from[low] == '-' ? from + low + 1 + high : from + low;
    if (!low || low > DIGITS_MAX || high > DIGITS_MAX || last != to || (from[low] == '-' && !high))
        return REFUSE(x, "'%.*s': expected numbers and ranges such as [1-4,7]", (int)(to - from), from);
    unsigned long first = strtoul(from, NULL, 10), stop = high ? strtoul(from + low + 1, NULL, 10) : first;
    if (stop < first) return REFUSE(x, "'%.*s': expected a range that goes up", (int)(to - from), from);
    for (unsigned long i = first; i <= stop; i++)
        if (!expand_part(x, weft_arena_format(x->arena, "%s%0*lu", done, (int)low, i), rest, end)) return false;
    return true;
}

/// Continues a name, of which `done` is ready, with the text [rest, end).
static bool expand_part(struct expansion *x, const char *done, const char *rest, const char *end) {
    const char *open = memchr(rest, '[', (size_t)(end - rest));
    const char *close = open ? memchr(open, ']', (size_t)(end - open)) : NULL;
    if (open && !close) return REFUSE(x, "'%.*s': expected a ] behind the [", (int)(end - rest), rest);
    done = weft_arena_format(x->arena, "%s%.*s", done, (int)((open ? open : end) - rest), rest);
    if (!open) return add_name(x, done);
    for (const char *from = open + 1, *to; from <= close; from = to + 1) {
        to = memchr(from, ',', (size_t)(close - from));
        if (!to) to = close;
        if (!expand_range(x, done, from, to, close + 1, end)) return false;
    }
    return true;
}

/// The end of the entry that begins here: the next comma outside brackets.
static const char *entry_end(const char *from) {
    bool inside = false;
    for (; *from && (inside || *from != ','); from++)
        inside = *from == '[' || (inside && *from != ']');
    return from;
}

/// The names, in the list's order and with the digits of the range's first number. False, with the reason in `why`: a
/// bracket without an end, a range that goes down or has no number, or more than `max` names.
static bool expand_host_list(const char *text, uint32_t max, struct weft_arena *arena, const char ***ret_name,
                             uint32_t *ret_n, char *why, size_t size) {
    struct expansion x = {.arena = arena, .max = max, .why = why, .size = size};
    bool good = true;
    for (const char *from = text, *end; *from && good; from = *end ? end + 1 : end) {
        from += strspn(from, " ");
        end = entry_end(from);
        if (end > from) good = expand_part(&x, "", from, end);
    }
    *ret_name = x.name;
    *ret_n = x.n;
    return good;
}

enum { CABLES_MAX = 64, DEPTH_MAX = 32, NAMES_MAX = 1 << 20 };

struct branch {
    const char *name;
    const char *nodes, *switches; ///< host lists; NULL: none
    uint32_t above;               ///< switches that have it below them
    bool added;                   ///< with all that is below it
    double hosts;                 ///< below it, its part of those that others have below them as well
    struct weft_place place;
};

struct slurm {
    const struct weft__cables_file *file;
    struct weft__cable_list *list;
    struct weft_arena *arena;
    struct branch *branch;
    uint32_t branches;
};

static struct branch *find_branch(const struct slurm *s, const char *name) {
    for (uint32_t i = 0; i < s->branches; i++)
        if (!strcmp(s->branch[i].name, name)) return &s->branch[i];
    return NULL;
}

static enum weft_status add_branch(struct slurm *s, const struct branch *b, struct weft_error *ret_error) {
    if (find_branch(s, b->name))
        return WEFT_REFUSE(ret_error, b->place, "%.60s is there twice; expected it once", b->name);
    if (!b->nodes && !b->switches) return WEFT_OK;
    WEFT__ADD(s->arena, s->branch, s->branches) = *b;
    return WEFT_OK;
}

// --- topology.conf ------------------------------------------------------------------------------------------------

/// Ends a line where Slurm does: at a '#' without a backslash, in whatever it stands.
static void cut_comment(char *line) {
    char *end = strchr(line, '#');
    while (end && end > line && end[-1] == '\\')
        end = strchr(end + 1, '#');
    size_t n = end ? (size_t)(end - line) : strlen(line);
    while (n && strchr(" \t", line[n - 1]))
        n--;
    line[n] = 0;
}

/// A line "SwitchName=s0 Nodes=tux[0-5]"; keys in any case, values perhaps in quotes.
static enum weft_status take_line(struct slurm *s, char *line, struct weft_place place, struct weft_error *ret_error) {
    struct branch b = {.place = place};
    bool known = false;
    char *rest = NULL;
    for (char *word = strtok_r(line, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest)) {
        char *value = strchr(word, '=');
        if (!value) return WEFT_REFUSE(ret_error, place, "'%.40s'; expected key=value, such as SwitchName=s0", word);
        *value++ = 0;
        size_t n = strlen(value);
        if (n > 1 && *value == '"' && value[n - 1] == '"') value[n - 1] = 0, value++;
        known |= !strcasecmp(word, "BlockSizes") || !strcasecmp(word, "LinkSpeed");
        if (!strcasecmp(word, "SwitchName") || !strcasecmp(word, "BlockName")) b.name = value;
        if (!strcasecmp(word, "Nodes")) b.nodes = value;
        if (!strcasecmp(word, "Switches")) b.switches = value;
    }
    if (!b.name && known) return WEFT_OK;
    if (!b.name) return WEFT_REFUSE(ret_error, b.place, "expected SwitchName= or BlockName= in the line");
    return add_branch(s, &b, ret_error);
}

/// The rest of a line that ends with a backslash stands on the next one. *line, in the arena, becomes all of it.
static enum weft_status join_lines(struct slurm *s, struct weft__lines *lines, char **line,
                                   struct weft_error *ret_error) {
    bool more = true;
    cut_comment(*line);
    for (size_t n; more && (n = strlen(*line)) && (*line)[n - 1] == '\\';) {
        (*line)[n - 1] = 0;
        WEFT_TRY(weft__lines_next(lines, &more, ret_error));
        if (!more) break;
        cut_comment(lines->line);
        *line = weft_arena_format(s->arena, "%s%s", *line, lines->line);
    }
    return WEFT_OK;
}

static enum weft_status read_conf(struct slurm *s, struct weft_error *ret_error) {
    WEFT_ENDS(weft__lines_close) struct weft__lines lines = {0};
    bool more = true;
    WEFT_TRY(weft__lines_open(&lines, s->file->path, s->file->place, ret_error));
    while (more) {
        WEFT_TRY(weft__lines_next_full(&lines, &more, ret_error));
        if (!more) break;
        struct weft_place place = {.file = lines.path, .line = lines.place.line, .column = 1};
        char *line = weft_arena_format(s->arena, "%s", lines.line);
        WEFT_TRY(join_lines(s, &lines, &line, ret_error));
        WEFT_TRY(take_line(s, line, place, ret_error));
    }
    return WEFT_OK;
}

// --- topology.yaml ------------------------------------------------------------------------------------------------

static enum weft_status take_entries(struct slurm *s, const struct weft_tree *list, const char *name,
                                     struct weft_error *ret_error) {
    for (uint32_t i = 0; list && list->type == WEFT_TREE_LIST && i < list->n; i++) {
        const struct weft_tree *entry = list->child[i];
        struct branch b = {.name = weft__tree_text(entry, name),
                           .nodes = weft__tree_text(entry, "nodes"),
                           .switches = weft__tree_text(entry, "children"),
                           .place = entry->place};
        if (!b.name) return WEFT_REFUSE(ret_error, entry->place, "no '%s'; expected its name", name);
        WEFT_TRY(add_branch(s, &b, ret_error));
    }
    return WEFT_OK;
}

static const char *topology_name(const struct weft_tree *topology) {
    const char *name = weft__tree_text(topology, "topology");
    return name ? name : "without a name";
}

/// Lists the topologies that were left out.
static void note_others(struct slurm *s, const struct weft_tree *root, const struct weft_tree *taken) {
    const char *names = NULL;
    for (uint32_t i = 0; i < root->n && root->type == WEFT_TREE_LIST; i++)
        if (root->child[i] != taken)
            weft__cables_name(s->list, &names,
                              weft_arena_format(s->arena, "topology %s", topology_name(root->child[i])));
    if (!names) return;
    names = weft_arena_format(s->arena, "%s (topology %s is taken)", names, topology_name(taken));
    weft__cables_name(s->list, &s->list->others, names);
}

/// The topology that is the cluster's default, else the first with a tree or blocks.
static const struct weft_tree *chosen_topology(const struct weft_tree *root) {
    const struct weft_tree *first = NULL;
    for (uint32_t i = 0; i < root->n && root->type == WEFT_TREE_LIST; i++) {
        const struct weft_tree *t = root->child[i];
        if (!weft_tree_find(t, "tree") && !weft_tree_find(t, "block")) continue;
        const char *is_default = weft__tree_text(t, "cluster_default");
        if (is_default && !strcasecmp(is_default, "true")) return t;
        if (!first) first = t;
    }
    return first;
}

static enum weft_status read_yaml(struct slurm *s, struct weft_error *ret_error) {
    struct weft_tree *root = NULL;
    WEFT_TRY(weft_tree_read(s->file->path, s->arena, &root, ret_error));
    const struct weft_tree *topology = chosen_topology(root);
    if (!topology) return WEFT_REFUSE(ret_error, root->place, "no topology with 'tree' or 'block' in it");
    note_others(s, root, topology);
    enum weft_status status =
        take_entries(s, weft_tree_find(weft_tree_find(topology, "tree"), "switches"), "switch", ret_error);
    return status ? status
                  : take_entries(s, weft_tree_find(weft_tree_find(topology, "block"), "blocks"), "block", ret_error);
}

// --- cables -------------------------------------------------------------------------------------------------------

static enum weft_status expand_hosts(struct slurm *s, const char *text, struct weft_place place, const char ***ret_name,
                                     uint32_t *ret_n, struct weft_error *ret_error) {
    char why[160];
    if (expand_host_list(text, NAMES_MAX, s->arena, ret_name, ret_n, why, sizeof why)) return WEFT_OK;
    return WEFT_REFUSE(ret_error, place, "%s", why);
}

static void add_cables(struct slurm *s, const struct branch *b, const char *below, uint32_t n, weft_rate_bps rate) {
    struct weft__cable c = {.device = {b->name, below}, .rate_bps = rate, .place = b->place};
    for (uint32_t i = 0; i < n; i++)
        weft__cables_add(s->list, &c);
}

/// As many cables as the hosts below send at their rate, divided by the oversubscription; in bundles if they are many.
static void add_uplinks(struct slurm *s, const struct branch *above, const char *below, double hosts) {
    weft_rate_bps rate = s->file->conf->rate_bps;
    double wanted = hosts / s->file->conf->oversubscription;
    uint64_t cables = wanted < 1 ? 1 : (uint64_t)(wanted + 0.999999);
    uint64_t bundle = (cables + CABLES_MAX - 1) / CABLES_MAX, most = WEFT__RATE_MAX / rate;
    if (bundle > most) bundle = most ? most : 1;
    add_cables(s, above, below, (uint32_t)((cables + bundle - 1) / bundle), bundle * rate);
}

/// Adds what is below a branch, once. A circle goes deeper than any tree.
static enum weft_status add_below(struct slurm *s, struct branch *b, unsigned depth, struct weft_error *ret_error) {
    const char **name = NULL;
    uint32_t n = 0;
    if (depth == DEPTH_MAX)
        return WEFT_REFUSE(ret_error, b->place, "%.60s is below itself, or %d switches deep", b->name, DEPTH_MAX);
    if (b->added) return WEFT_OK;
    weft__cables_tell(s->list, b->name, WEFT__CABLE_SWITCH);
    enum weft_status status = b->nodes ? expand_hosts(s, b->nodes, b->place, &name, &n, ret_error) : WEFT_OK;
    for (uint32_t i = 0; i < n && !status; i++) {
        weft__cables_tell(s->list, name[i], WEFT__CABLE_HOST);
        add_cables(s, b, name[i], 1, s->file->conf->rate_bps);
    }
    b->hosts = n;
    n = 0;
    if (!status && b->switches) status = expand_hosts(s, b->switches, b->place, &name, &n, ret_error);
    for (uint32_t i = 0; i < n && !status; i++) {
        struct branch *below = find_branch(s, name[i]);
        if (!below) return WEFT_REFUSE(ret_error, b->place, "switch %.60s has no line of its own", name[i]);
        status = add_below(s, below, depth + 1, ret_error);
        if (!status) add_uplinks(s, b, below->name, below->hosts / below->above);
        b->hosts += below->hosts / below->above;
    }
    b->added = true;
    return status;
}

static enum weft_status mark_below(struct slurm *s, struct weft_error *ret_error) {
    for (uint32_t i = 0; i < s->branches; i++) {
        const char **name;
        uint32_t n = 0;
        if (!s->branch[i].switches) continue;
        WEFT_TRY(expand_hosts(s, s->branch[i].switches, s->branch[i].place, &name, &n, ret_error));
        for (uint32_t k = 0; k < n; k++) {
            struct branch *below = find_branch(s, name[k]);
            if (below) below->above++;
        }
    }
    return WEFT_OK;
}

/// Several switches or blocks with nothing above them are joined by one more, unless they have the same switches below.
static enum weft_status add_all(struct slurm *s, struct weft_error *ret_error) {
    enum weft_status status = mark_below(s, ret_error);
    struct branch core = {.name = "core", .place = {.file = s->file->path, .line = 1, .column = 1}};
    uint32_t tops = 0;
    bool shared = false;
    for (uint32_t i = 0; i < s->branches; i++) {
        tops += !s->branch[i].above;
        shared |= s->branch[i].above > 1;
    }
    if (!status && !tops) return WEFT_REFUSE(ret_error, core.place, "every switch is below another; expected a tree");
    while (find_branch(s, core.name))
        core.name = weft_arena_format(s->arena, "%s-0", core.name);
    bool joined = tops > 1 && !shared;
    if (joined) weft__cables_tell(s->list, core.name, WEFT__CABLE_SWITCH);
    if (joined) s->list->core = core.name;
    for (uint32_t i = 0; i < s->branches && !status; i++) {
        struct branch *top = &s->branch[i];
        if (top->above) continue;
        status = add_below(s, top, 0, ret_error);
        if (!status && joined) add_uplinks(s, &core, top->name, top->hosts);
    }
    return status;
}

static enum weft_status read_slurm(const struct weft__cables_file *file, struct weft__cable_list *list,
                                   enum weft_status (*read)(struct slurm *, struct weft_error *),
                                   struct weft_error *ret_error) {
    struct slurm s = {.file = file, .list = list, .arena = list->arena};
    enum weft_status status = read(&s, ret_error);
    list->shapes++;
    if (!status && !s.branches)
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = file->path, .line = 1, .column = 1},
                           "no switch and no block is in it");
    return status ? status : add_all(&s, ret_error);
}

enum weft_status weft__cables_read_slurm(const struct weft__cables_file *file, struct weft__cable_list *list,
                                         struct weft_error *ret_error) {
    return read_slurm(file, list, read_conf, ret_error);
}

enum weft_status weft__cables_read_slurm_yaml(const struct weft__cables_file *file, struct weft__cable_list *list,
                                              struct weft_error *ret_error) {
    return read_slurm(file, list, read_yaml, ret_error);
}

/// True if a line of `head`, perhaps of an entry ("- "), begins with the word; case is ignored.
static bool has_line(const char *head, const char *word) {
    for (const char *line = head; line; line = strchr(line, '\n')) {
        line += strspn(line, " \t\r\n-");
        if (!strncasecmp(line, word, strlen(word))) return true;
    }
    return false;
}

bool weft__cables_is_slurm(const char *head) {
    return has_line(head, "SwitchName=") || has_line(head, "BlockName=");
}

/// A list whose entries have these keys, in any order.
bool weft__cables_is_slurm_yaml(const char *head) {
    while (*head && (strchr("#\r\n", *head) || !strncmp(head, "---", 3)))
        head = strchr(head, '\n') ? strchr(head, '\n') + 1 : "";
    return *head == '-' && has_line(head, "topology:") && (has_line(head, "tree:") || has_line(head, "block:"));
}
