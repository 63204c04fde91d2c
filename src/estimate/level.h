// SPDX-License-Identifier: Apache-2.0
// Rates of flows that share links, max-min fair: no flow can have more without taking it from one that has no more than
// that. Each link has a level, the rate of a flow that this link limits; a flow has the least level of its links. When
// flows come and go, levels are computed again from the links that changed, and on to others only where they change:
// for most changes that is a few links. Source: Bertsekas, Gallager, "Data Networks", 2nd edition, 6.5.2; the level of
// a link as in Charny, Clark, Jain, "Congestion control with explicit rate indication", ICC 1995. Theirs is for one
// share a link; here a flow may cross a link with a weight, as a ring does that has several of its hops there.
// Where most links have changed at once, as in an all-to-all, all levels are computed in order, the least first (the
// algorithm of 6.5.2 itself), and only what loads take is put right link by link.
#pragma once

#include "weft/types.h"

/// A link that a flow crosses, with so many times its rate. A load is there whatever the link's level is: it takes from
/// what others share, and the link does not bound the flow. (Acknowledgements go first, and are few.)
struct weft__crossed {
    uint32_t link;
    float weight; ///< below 0: a load, of that amount
    uint32_t at;  ///< of the level's own: the place in the link's list
};

enum { WEFT__LEVEL_USED = 4 }; ///< values of weft__level_link.used_of
struct weft__level_link {
    double capacity, level; ///< bytes a picosecond
    const float *used_of;   ///< the part that flows use which could send 1, 2, 4, 8 times the capacity; NULL: all
    double part;            ///< that they use now
    uint32_t part_mark, part_tries; ///< when that was found, and how often
    double bytes;                   ///< carried, for the caller
    uint32_t ports;                 ///< for the caller: each packet draws one of so many; 0: none does
    uint32_t used_at;               ///< when `used` was found, for the caller
    uint32_t used_by;               ///< and by how many flows
    bool gathers;                   ///< they begin on several links
    double used;
    double *queued_ps;  ///< for the caller: [ports] of a NIC's lines, what waits for each
    weft_time_ps at_ps; ///< at that time
    double weights;     ///< of its members, loads too
    struct weft__level_member {
        uint32_t flow, entry;
    } * member;
    uint32_t members, room, members_max;
    bool queued, loaded;  ///< loaded: some flow may be a load
    double left, sharing; ///< scratch: of the capacity, of the weights, what flows without a rate have yet
};

struct weft__level_flow {
    uint32_t first, entries; ///< among all entries
    uint32_t mark;           ///< of the last settling that may have changed it
    uint32_t filled;         ///< when all levels were last computed in order, by which `least` is known; 0: not so
    uint32_t at;             ///< entry whose link has the least level; WEFT_NONE: `most` is less
    bool active, known;      ///< known: the three that follow from levels
    float most;              ///< its rate at most, whatever the links; 0: no bound
    float share;             ///< of a level: its rate
    double least, next; ///< of the levels of its links and what `most` is as one: the least, and that of the others
    double rate;
};

struct weft__levels {
    struct weft__level_link *link;
    struct weft__level_flow *flow;
    struct weft__crossed *entry;
    uint32_t links, links_room, flows, flows_room, entries, entries_room;
    double level_max; ///< no flow can have more
    double tolerance; ///< a level that changes by less, relatively, is left as it is
    uint32_t *queue;  ///< [links_room], a ring
    uint32_t queued, queue_first;
    uint32_t mark;
    bool bounded;      ///< some flow has a bound
    bool settled;      ///< no flow has come or gone since
    uint32_t *changed; ///< [flows_room] whose rate may have changed since the last settling
    uint32_t changes;
    double *other; ///< scratch
    uint32_t other_room;
    uint32_t filled;
    uint64_t members, waiting; ///< at all links; at links that came into the queue since the last settling
    struct weft__level_step {
        double level;
        uint32_t of; ///< a link, or behind the links a flow with a bound
    } * step;        ///< a heap
    uint32_t steps, steps_room;
    uint64_t updates, visits; ///< of links, of flows at them
};

void weft__levels_init(struct weft__levels *l, double tolerance);
void weft__levels_deinit(struct weft__levels *l);
/// Makes room for so many flows and entries at first.
void weft__levels_expect(struct weft__levels *l, uint32_t flows, uint32_t entries);
uint32_t weft__levels_add_link(struct weft__levels *l, double capacity);
/// A flow, which is not active yet. `most`: 0: no bound but its links.
uint32_t weft__levels_add_flow(struct weft__levels *l, const struct weft__crossed *crossed, uint32_t n, double most);
void weft__levels_begin(struct weft__levels *l, uint32_t flow);
void weft__levels_end(struct weft__levels *l, uint32_t flow);
/// A flow crosses the link of one of its entries with another weight from now on.
void weft__levels_weigh(struct weft__levels *l, uint32_t flow, uint32_t entry, float weight);
/// A flow has this part of a level from now on, at all its links; at first 1.
void weft__levels_share(struct weft__levels *l, uint32_t flow, float share);
/// Gives all flows their rates; `changed` then has those that may have changed. The next change of flows empties it.
void weft__levels_settle(struct weft__levels *l);
