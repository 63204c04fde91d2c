// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE // MAP_FIXED_NOREPLACE
#include "base/image.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { CONSTANT, COMMON, OWN }; // regions; from OWN on, one per rank
enum { REGIONS = OWN + WEFT__IMAGE_RANKS_MAX };
enum {
    PAGE = 4096,
    LARGE_PAGE = 2 << 20,
    LARGE_FROM = 1 << 20,
    GIVEN_FROM = 32 << 10,
    ZEROS_FROM = 64 << 10,
    FINE = 16,
    FINE_UP_TO = 512,
    STEPS = 4
};
enum { CLASSES = FINE_UP_TO / FINE + 1 + STEPS * 64 };

/// Far from the addresses of programs, libraries, stacks and sanitizers' shadow memory on x86-64 and 64-bit ARM with 47
/// address bits, and from the middle of the largest holes, at 43 and 21 TiB, where PMIx has memory that ranks share
/// (Open MPI 5, gds/shmem2).
static const uintptr_t base = UINT64_C(24) << 40;
#define ROOM (UINT64_C(1) << 38)
static const size_t room = ROOM; ///< of a region
_Static_assert(REGIONS *ROOM < UINT64_C(17) << 40, "the last region ends before 41 TiB");

/// A freed object, in the list of its size.
struct gap {
    struct gap *next;
    bool zero; ///< the memory after it has been returned to the system, and reads as zero
};
_Static_assert(sizeof(struct gap) <= FINE, "the smallest object has room for it");

/// Where everything is: part of what a file of the image contains.
struct table {
    size_t used[REGIONS];
    uint64_t layout;
    struct gap *gap[CLASSES];
};

static struct {
    bool open, parted;
    uint32_t self;
    struct table table;
    unsigned char *before; ///< a copy of the common region, taken at weft__image_part
    size_t before_bytes;
    pthread_mutex_t lock;
} image = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uintptr_t page_of(uintptr_t at) {
    return at & ~(uintptr_t)(PAGE - 1);
}

static unsigned char *region_at(uint32_t k) {
    return (unsigned char *)base + k * room;
}

static bool map_region(uint32_t k) {
    void *want = region_at(k);
    void *got = mmap(want, room, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (got == MAP_FAILED) return false;
    if (got != want) { // a kernel that does not know the flag took the address for a hint
        munmap(got, room);
        errno = EEXIST;
        return false;
    }
    madvise(got, room, MADV_HUGEPAGE); // advice: may fail
    madvise(got, room, MADV_DONTDUMP);
    return true;
}

const char *weft__image_open(uint32_t ranks, uint32_t self) {
    assert(!image.open && ranks <= WEFT__IMAGE_RANKS_MAX && self < ranks);
#ifdef __SANITIZE_THREAD__ // nothing may be mapped at addresses that the sanitizer does not know
    return "the thread sanitizer does not leave them to the program; expected a build without it";
#endif
    for (uint32_t k = 0; k < OWN + ranks; k++)
        if (!map_region(k)) return strerror(errno);
    image.open = true;
    image.self = self;
    return NULL;
}

bool weft__image_is_open(void) {
    return image.open;
}

bool weft__image_holds(const void *memory) {
    uintptr_t at = (uintptr_t)memory;
    return image.open && at >= base && at - base < REGIONS * room;
}

bool weft__image_is_shared(const void *memory) {
    return image.parted && weft__image_holds(memory) && (uintptr_t)memory - base < OWN * room;
}

/// Objects of one class have the same size.
static uint32_t class_of(size_t bytes, size_t *ret_size) {
    if (bytes <= FINE_UP_TO) {
        uint32_t k = (uint32_t)((bytes + FINE - 1) / FINE);
        *ret_size = (size_t)k * FINE;
        return k;
    }
    uint32_t top = 63 - (uint32_t)__builtin_clzll(bytes - 1); // bytes - 1 in [2^top, 2^(top + 1))
    size_t step = (size_t)1 << (top - 2), k = (bytes - 1 - ((size_t)1 << top)) / step;
    *ret_size = ((size_t)1 << top) + (k + 1) * step;
    return FINE_UP_TO / FINE + 1 + STEPS * top + (uint32_t)k;
}

/// Cuts an object from fresh memory; large objects begin on a large page.
static unsigned char *cut_object(uint32_t k, size_t size) {
    size_t at = image.table.used[k] + WEFT__IMAGE_HEAD;
    if (size >= LARGE_FROM) at = (at + LARGE_PAGE - 1) & ~(size_t)(LARGE_PAGE - 1);
    if (at + size > room) return NULL;
    image.table.used[k] = at + size;
    image.table.layout = (image.table.layout ^ (at << 8) ^ k) * UINT64_C(0x9e3779b97f4a7c15);
    return region_at(k) + at;
}

void *weft__image_new(size_t bytes, bool constant) {
    size_t size;
    if (bytes > room) return NULL;
    uint32_t class = class_of(bytes, &size), k = image.parted ? OWN + image.self : constant ? CONSTANT : COMMON;
    pthread_mutex_lock(&image.lock);
    struct gap *gap = k == CONSTANT ? NULL : image.table.gap[class];
    if (gap) image.table.gap[class] = gap->next;
    unsigned char *memory = gap ? (unsigned char *)gap : cut_object(k, size);
    pthread_mutex_unlock(&image.lock);
    if (gap) memset(memory, 0, gap->zero ? sizeof *gap : bytes);
    return memory;
}

/// Returns unneeded memory of a gap to the system, because growing arrays leave behind as much as they use. Pages
/// shared by processes stay: each process may write only its own objects.
static bool give_back(unsigned char *memory, size_t size) {
    if (size < GIVEN_FROM || weft__image_is_shared(memory)) return false;
    unsigned char *end = memory + size,
                  *from = (unsigned char *)page_of((uintptr_t)memory + sizeof(struct gap) + PAGE - 1);
    unsigned char *to = (unsigned char *)page_of((uintptr_t)end);
    if (madvise(from, (size_t)(to - from), MADV_DONTNEED)) return false;
    memset(memory, 0, (size_t)(from - memory));
    memset(to, 0, (size_t)(end - to));
    return true;
}

/// Constant objects are freed only before they are shared, or at the end; they are never reused.
void weft__image_free(void *memory, size_t bytes) {
    size_t size, offset = (size_t)((uintptr_t)memory - base);
    uint32_t class = class_of(bytes, &size);
    if (!size) return;
    bool zero = give_back(memory, size);
    if (offset < (CONSTANT + 1) * room) return;
    struct gap *gap = memory;
    gap->zero = zero;
    pthread_mutex_lock(&image.lock);
    gap->next = image.table.gap[class];
    image.table.gap[class] = gap;
    pthread_mutex_unlock(&image.lock);
}

uint64_t weft__image_layout(void) {
    return image.table.layout;
}

static size_t pages_of(uint32_t k) {
    return (image.table.used[k] + PAGE - 1) & ~(size_t)(PAGE - 1);
}

/// What is all zero of a region, back to the system: room of arrays to grow, and what of a large page nothing was put
/// on.
static void give_back_zeros(uint32_t k) {
    unsigned char *at = region_at(k), *end = at + pages_of(k);
    for (unsigned char *from = at; at < end; from = at) {
        while (at < end && weft__image_is_zero(at, PAGE))
            at += PAGE;
        if (at - from >= ZEROS_FROM) madvise(from, (size_t)(at - from), MADV_DONTNEED);
        while (at < end && !weft__image_is_zero(at, PAGE))
            at += PAGE;
    }
}

/// As it is now, to be compared with.
static bool copy_common(void) {
    size_t bytes = pages_of(COMMON);
    unsigned char *copy = mmap(NULL, bytes ? bytes : PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED) return false;
    const unsigned char *from = region_at(COMMON), *end = from + bytes;
    for (unsigned char *to = copy; from < end; from += PAGE, to += PAGE)
        if (!weft__image_is_zero(from, PAGE))
            memcpy(to, from, PAGE); // a page that nobody has used takes no memory here either
    give_back_zeros(CONSTANT);
    give_back_zeros(COMMON);
    image.before = copy;
    image.before_bytes = bytes;
    return true;
}

static bool set_protection(int protection) {
    return !mprotect(region_at(CONSTANT), page_of(image.table.used[CONSTANT] + PAGE - 1), protection);
}

bool weft__image_part(void) {
    if (!copy_common()) return false;
    memset(image.table.gap, 0, sizeof image.table.gap); // each process would reuse the same gaps
    image.parted = true;
    return set_protection(PROT_READ);
}

bool weft__image_part_again(const uint64_t *change, size_t words) {
    if (!copy_common()) return false;
    uint64_t *was = (uint64_t *)(void *)image.before;
    size_t all = image.before_bytes / sizeof *was;
    image.parted = true;
    for (size_t i = 0; i + 1 < words; i += 2 + change[i + 1]) {
        if (change[i] > all || change[i + 1] > all - change[i] || change[i + 1] > words - i - 2) return false;
        for (size_t k = 0; k < change[i + 1]; k++)
            was[change[i] + k] ^= change[i + 2 + k];
    }
    return true;
}

void weft__image_protect(void) {
    set_protection(PROT_READ);
}

bool weft__image_is_parted(void) {
    return image.parted;
}

void weft__image_forget(void *memory, size_t bytes) {
    size_t at = (size_t)((unsigned char *)memory - region_at(COMMON));
    assert(at + bytes <= image.before_bytes);
    memcpy(memory, image.before + at, bytes);
}

void *weft__image_own(size_t *ret_bytes) {
    *ret_bytes = image.table.used[OWN + image.self];
    return region_at(OWN + image.self);
}

void *weft__image_of(uint32_t rank) {
    return region_at(OWN + rank);
}

/// A list that grows, of words.
struct words {
    uint64_t *word;
    size_t n, capacity;
    bool failed;
};

static void add_word(struct words *list, uint64_t word) {
    if (list->n == list->capacity && !list->failed) {
        size_t capacity = list->capacity ? list->capacity * 2 : 4096;
        uint64_t *grown = realloc(list->word, capacity * sizeof *grown);
        list->failed = !grown;
        if (grown) list->word = grown;
        if (grown) list->capacity = capacity;
    }
    if (!list->failed) list->word[list->n++] = word;
}

/// Adds the words of a page that differ, in runs: position, length, and the difference of each.
static void add_page(struct words *list, size_t first) {
    const uint64_t *now = (const uint64_t *)(const void *)region_at(COMMON) + first;
    const uint64_t *was = (const uint64_t *)(const void *)image.before + first;
    for (size_t i = 0, n; i < PAGE / sizeof *now; i += n) {
        for (n = 0; i + n < PAGE / sizeof *now && now[i + n] != was[i + n];)
            n++;
        if (!n) {
            n = 1;
            continue;
        }
        add_word(list, first + i);
        add_word(list, n);
        for (size_t k = 0; k < n; k++)
            add_word(list, now[i + k] ^ was[i + k]);
    }
}

uint64_t *weft__image_changes(size_t *ret_words) {
    struct words list = {0};
    for (size_t at = 0; at < image.before_bytes; at += PAGE)
        if (memcmp(region_at(COMMON) + at, image.before + at, PAGE)) add_page(&list, at / sizeof *list.word);
    add_word(&list, 0);
    add_word(&list, 0);
    *ret_words = list.n;
    if (!list.failed) return list.word;
    free(list.word);
    return NULL;
}

/// The non-zero bytes of a word, set to all ones.
static uint64_t bytes_of(uint64_t word) {
    uint64_t low = word & UINT64_C(0x7f7f7f7f7f7f7f7f);
    uint64_t high = ((low + UINT64_C(0x7f7f7f7f7f7f7f7f)) | word) & UINT64_C(0x8080808080808080);
    return (high >> 7) * 0xff;
}

bool weft__image_apply(const uint64_t *change, size_t words) {
    uint64_t *now = (uint64_t *)(void *)region_at(COMMON);
    const uint64_t *was = (const uint64_t *)(const void *)image.before;
    bool apart = true;
    for (size_t i = 0; i + 1 < words; i += 2 + change[i + 1])
        for (size_t k = 0; k < change[i + 1]; k++) {
            size_t at = change[i] + k;
            uint64_t theirs = change[i + 2 + k];
            if (bytes_of(now[at] ^ was[at]) & bytes_of(theirs)) apart = false;
            now[at] ^= theirs;
        }
    return apart;
}

void weft__image_join(void) {
    set_protection(PROT_READ | PROT_WRITE);
    if (image.before) munmap(image.before, image.before_bytes ? image.before_bytes : PAGE);
    image.before = NULL;
    image.parted = false;
    memset(image.table.gap, 0, sizeof image.table.gap);
}

void weft__image_pieces(struct weft__image_piece ret_piece[WEFT__IMAGE_PIECES]) {
    ret_piece[0] = (struct weft__image_piece){(unsigned char *)&image.table, sizeof image.table, sizeof image.table};
    for (uint32_t k = CONSTANT; k <= OWN; k++) {
        uint32_t at = k == OWN ? OWN + image.self : k;
        ret_piece[1 + k] = (struct weft__image_piece){region_at(at), image.table.used[at], room};
    }
}
