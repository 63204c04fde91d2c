// SPDX-License-Identifier: Apache-2.0
// What the address sanitizer does in a fuzz target, unless ASAN_OPTIONS says otherwise. Arenas take and free 64 KiB at
// a time: with the sanitizer's 256 MiB of quarantine each input would fault its pages in anew, and be nine times as
// slow.
const char *__asan_default_options(void);

const char *__asan_default_options(void) {
    return "quarantine_size_mb=4:thread_local_quarantine_size_kb=64:max_malloc_fill_size=0:malloc_context_size=4";
}
