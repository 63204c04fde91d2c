// SPDX-License-Identifier: Apache-2.0
// To be preloaded: allocation number WEFT_FAIL_AT (from 1) finds no memory left; with WEFT_FAIL_ON, all after it as
// well. Those of the C library and of all other libraries count, and mappings without a file, which weft's large
// objects are. At the end, how many there were is written into the file WEFT_FAIL_COUNT. Debian's C library only.
#define _GNU_SOURCE // syscall
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);

static atomic_ulong allocations;
static unsigned long fail_at; ///< 0: never
static bool fail_on;

__attribute__((constructor)) static void begin(void) {
    const char *at = getenv("WEFT_FAIL_AT");
    fail_at = at ? strtoul(at, NULL, 10) : 0;
    fail_on = getenv("WEFT_FAIL_ON");
    atomic_store(&allocations, 0);
}

__attribute__((destructor)) static void end(void) {
    const char *path = getenv("WEFT_FAIL_COUNT");
    unsigned long n = atomic_load(&allocations);
    fail_at = 0;
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file) return;
    fprintf(file, "%lu\n", n);
    fclose(file);
}

static bool fails(void) {
    unsigned long n = atomic_fetch_add(&allocations, 1) + 1;
    if (!fail_at || n < fail_at || (n > fail_at && !fail_on)) return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t bytes) {
    return fails() ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t n, size_t bytes) {
    return fails() ? NULL : __libc_calloc(n, bytes);
}

void *realloc(void *memory, size_t bytes) {
    return fails() ? NULL : __libc_realloc(memory, bytes);
}

void *mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset) {
    if ((flags & MAP_ANONYMOUS) && fails()) return MAP_FAILED;
    return (void *)syscall(SYS_mmap, at, bytes, protection, flags, file, offset); // NOLINT
}
