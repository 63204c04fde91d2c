// SPDX-License-Identifier: Apache-2.0
// Devices of an InfraGraph file: components, links, and the meaning of a path such as "cx5[0:8].port[0]".
#pragma once

#include "import/infragraph/infragraph_read.h"
#include "import/infragraph/infragraph_schema.h"

/// Names of a list, to look them up.
struct weft__names {
    const char **name; ///< [n] in the order of the list
    uint32_t n;
    struct weft__name {
        const char *name;
        uint32_t number;
    } * sorted;
};
/// `names->name` and `n` are set. Returns a duplicate name, or WEFT_NONE.
uint32_t weft__names_sort(struct weft__names *names, struct weft_arena *arena);
/// The index of a name, which has `length` bytes. If it does not exist, the error says what was looked for.
enum weft_status weft__names_find(const struct weft__names *names, const char *name, size_t length, const char *what,
                                  struct weft_place place, uint32_t *ret_number, struct weft_error *ret_error);

/// The entries of a list; an empty one if the key is missing.
enum weft_status weft__infragraph_list(const struct weft_tree *map, const char *key, const struct weft_tree **ret_list,
                                       struct weft_error *ret_error);

struct weft__infragraph_link {
    weft_rate_bps rate_bps; ///< 0: not in bits
    weft_time_ps delay_ps;  ///< 0: none
    bool transfers;         ///< a rate in transfers
};
struct weft__infragraph_links {
    struct weft__names names;
    struct weft__infragraph_link *link;
};
/// `links` of the file or of a device.
enum weft_status weft__infragraph_read_links(const struct weft_tree *map, struct weft_arena *arena,
                                             struct weft__infragraph_links *ret_links, struct weft_error *ret_error);
/// An edge: its scheme, its ends by `end_table`, its link.
enum weft_status weft__infragraph_load_edge(const struct weft_tree *tree, const struct weft_param_table *end_table,
                                            const struct weft__infragraph_links *links, struct weft_arena *arena,
                                            uint32_t *ret_scheme, struct weft__infragraph_end_conf ret_end[2],
                                            const struct weft__infragraph_link **ret_link,
                                            struct weft_error *ret_error);

/// A device and its components, which are numbered by slots: those of a component are consecutive, and a device within
/// has as many as its own components.
struct weft__infragraph_part {
    struct weft__infragraph_device about;
    const struct weft_tree *tree;
    struct weft__names names;
    struct weft__infragraph_component {
        enum weft__infragraph_choice choice;
        uint64_t count, slot;
        const struct weft__infragraph_part *within; ///< of a device
    } * component;
    uint64_t slots;
    bool has_nic, open, done;
};
#define WEFT__INFRAGRAPH_SLOTS_MAX (UINT64_C(1) << 40)

struct weft__infragraph_parts {
    struct weft__names names;
    struct weft__infragraph_part *part;
};
/// The number of a device. Where no file given defines it, the error names one beside them that does.
enum weft_status weft__infragraph_find_device(const struct weft__infragraph_parts *parts, const char *name,
                                              struct weft_place place, struct weft_arena *arena, uint32_t *ret_number,
                                              struct weft_error *ret_error);
enum weft_status weft__infragraph_read_devices(const struct weft_tree *root, struct weft_arena *arena,
                                               struct weft__infragraph_parts *ret_parts, struct weft_error *ret_error);

/// A slice of `count` elements.
struct weft__infragraph_slice {
    int64_t start, step;
    uint64_t n; ///< at least 1
};
/// Parses what follows a name at *at: "[2]", "[0:8]", "[0:8:2]", ".2", or nothing, which means all of the `count`. *at
/// moves past it. `whole`: the text, for errors.
enum weft_status weft__infragraph_read_slice(const char **at, const char *whole, uint64_t count,
                                             struct weft_place place, struct weft__infragraph_slice *ret,
                                             struct weft_error *ret_error);

struct weft__infragraph_slots {
    uint64_t *slot; ///< [WEFT__PORTS_MAX], the caller's
    uint64_t n;
    enum weft__infragraph_choice choice; ///< of all of them
};
/// All components that a path selects, in its order.
enum weft_status weft__infragraph_expand(const struct weft__infragraph_part *part, const char *path,
                                         struct weft_place place, struct weft__infragraph_slots *ret,
                                         struct weft_error *ret_error);
/// "cx5.0.port.1", the path of one slot.
const char *weft__infragraph_path(const struct weft__infragraph_part *part, uint64_t slot, struct weft_arena *arena);
