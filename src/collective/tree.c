// SPDX-License-Identifier: Apache-2.0
#include "tree.h"

/// The binary tree over 0..n-1: a number whose lowest bit is b has its children b/2 below and above it and its parent
/// where bit b is cleared and 2b is set (or only cleared, where that lies beyond n); 0 is the root and has one child.
static void binary_tree(uint32_t n, uint32_t x, struct weft__tree_place *ret_place) {
    uint32_t top = 1;
    while (top < n)
        top *= 2;
    uint32_t bit = x ? x & -x : top;
    *ret_place = (struct weft__tree_place){WEFT_NONE, {WEFT_NONE, WEFT_NONE, WEFT_NONE}};
    if (x) {
        uint32_t up = (x & ~bit) | 2 * bit;
        ret_place->up = up < n ? up : x & ~bit;
    }
    uint32_t children = 0, half = bit / 2;
    if (x && half) ret_place->down[children++] = x - half;
    while (half && x + half >= n)
        half /= 2;
    if (half) ret_place->down[children] = x + half;
}

/// The second tree: the mirror image if n is even, else shifted by one.
static uint32_t renumber_rank(uint32_t n, uint32_t x, bool second, bool back) {
    if (!second || x == WEFT_NONE) return x;
    if (n % 2 == 0) return n - 1 - x;
    return back ? (x + 1) % n : (x + n - 1) % n;
}

struct weft__tree_place weft__server_tree(uint32_t servers, uint32_t server, bool second) {
    struct weft__tree_place place;
    binary_tree(servers, renumber_rank(servers, server, second, false), &place);
    place.up = renumber_rank(servers, place.up, second, true);
    for (uint32_t *down = place.down; *down != WEFT_NONE; down++)
        *down = renumber_rank(servers, *down, second, true);
    return place;
}
