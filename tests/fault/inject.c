// SPDX-License-Identifier: Apache-2.0
// To be preloaded (tests/tools/test_faults.py): something happens at step number WEFT_FAULT_AT (from 1). A step is an
// allocation, of weft, the C library or any other library, and each mapping without a file, which weft's large objects
// are; or, if WEFT_FAULT_WRITES is set, something done to a file or folder that takes room on the disk. The step fails,
// with WEFT_FAULT_ON all after it too; or, if WEFT_FAULT_SIGNAL is set, that signal reaches the program and its runs.
// At the end, the number of steps is written into the file WEFT_FAULT_COUNT; with WEFT_FAULT_STACKS also, a line each,
// the number of the first step of every stack of calls that the program takes one by. Debian's C library only.
#define _GNU_SOURCE // syscall, REG_RAX
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);

static atomic_ulong steps;
static unsigned long fail_at; ///< 0: never
static bool fail_on, writes;
static int number; ///< of the signal; 0: none
static pid_t program;

// --- stacks of calls ----------------------------------------------------------------------------------------------

enum { STACKS = 1 << 18, FRAMES_MAX = 48 };

static struct {
    uint64_t hash; ///< of the addresses that calls return to; 0: none
    unsigned long step;
} stack[STACKS];
static bool stacks;
static atomic_flag stacks_taken = ATOMIC_FLAG_INIT;
static _Thread_local bool looking; // the first look allocates

static uint64_t hash_stack(void) {
    void *frame[FRAMES_MAX];
    uint64_t hash = 14695981039346656037u; // FNV-1a
    int n = backtrace(frame, FRAMES_MAX);
    for (int i = 0; i < n; i++)
        hash = (hash ^ (uint64_t)(uintptr_t)frame[i]) * 1099511628211u;
    return hash ? hash : 1;
}

/// Notes the stack of this step, if it is new. More than there is room for are left out.
static void note_stack(unsigned long step) {
    if (looking || getpid() != program) return;
    looking = true;
    uint64_t hash = hash_stack();
    while (atomic_flag_test_and_set(&stacks_taken)) {
    }
    for (uint64_t i = 0, at = hash % STACKS; i < STACKS; i++, at = (at + 1) % STACKS) {
        if (stack[at].hash == hash) break;
        if (stack[at].hash) continue;
        stack[at].hash = hash;
        stack[at].step = step;
        break;
    }
    atomic_flag_clear(&stacks_taken);
    looking = false;
}

/// Counts a step; whether it fails.
static bool fails(int error) {
    unsigned long n = atomic_fetch_add(&steps, 1) + 1;
    if (stacks) note_stack(n);
    if (!fail_at || n < fail_at || (n > fail_at && !fail_on)) return false;
    if (number && getpid() == program) kill(0, number);
    if (!number) errno = error;
    return !number;
}

// --- allocations --------------------------------------------------------------------------------------------------

void *malloc(size_t bytes) {
    return !writes && fails(ENOMEM) ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t n, size_t bytes) {
    return !writes && fails(ENOMEM) ? NULL : __libc_calloc(n, bytes);
}

void *realloc(void *memory, size_t bytes) {
    return !writes && fails(ENOMEM) ? NULL : __libc_realloc(memory, bytes);
}

void *mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset) {
    if ((flags & MAP_ANONYMOUS) && !writes && fails(ENOMEM)) return MAP_FAILED;
    return (void *)syscall(SYS_mmap, at, bytes, protection, flags, file, offset); // NOLINT
}

// --- writes -------------------------------------------------------------------------------------------------------

// The kernel hands these calls over whatever library makes them, unless the sixth argument, which none of them has, is
// this: then they are ours.
enum { OURS = 0x77656674, FILTER_MAX = 64 };

#if defined __x86_64__
enum { RESULT = REG_RAX };
static const int argument_at[] = {REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8};
static greg_t *registers_of(ucontext_t *c) {
    return c->uc_mcontext.gregs;
}
#elif defined __aarch64__
enum { RESULT = 0 };
static const int argument_at[] = {0, 1, 2, 3, 4};
static unsigned long long *registers_of(ucontext_t *c) {
    return c->uc_mcontext.regs;
}
#endif

static const int calls[] = {
    SYS_write,     SYS_writev, SYS_pwrite64,  SYS_pwritev,   SYS_ftruncate,
    SYS_fallocate, SYS_fsync,  SYS_fdatasync, SYS_renameat2, SYS_mkdirat,
#if defined __x86_64__
    SYS_rename,    SYS_mkdir,
#endif
};

static bool is_file(int file) {
    struct stat s;
    return file != STDERR_FILENO && !fstat(file, &s) && S_ISREG(s.st_mode);
}

/// Whether a call takes room on a disk.
static bool takes_room(long call, const long *argument) {
    switch (call) {
    case SYS_openat:
        if (!(argument[2] & O_CREAT) && (argument[2] & O_TMPFILE) != O_TMPFILE) return false;
        return !(argument[2] & O_CREAT) || syscall(SYS_faccessat, argument[0], argument[1], F_OK);
    case SYS_mkdirat:
    case SYS_renameat2:
#if defined __x86_64__
    case SYS_rename:
    case SYS_mkdir:
#endif
        return true;
    default:
        return is_file((int)argument[0]);
    }
}

static void on_call(int received, siginfo_t *info, void *context) {
    (void)received;
    int error = errno;
    long a[sizeof argument_at / sizeof *argument_at];
    for (unsigned i = 0; i < sizeof a / sizeof *a; i++)
        a[i] = (long)registers_of(context)[argument_at[i]];
    long result = -ENOSPC;
    if (!takes_room(info->si_syscall, a) || !fails(ENOSPC)) {
        result = syscall(info->si_syscall, a[0], a[1], a[2], a[3], a[4], OURS);
        if (result < 0) result = -errno;
    }
    registers_of(context)[RESULT] = result;
    errno = error;
}

#define LOAD(field)                                                                                                    \
    { BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, field) }
#define RETURN(action)                                                                                                 \
    { BPF_RET | BPF_K, 0, 0, action }

static void filter_calls(void) {
    struct sock_filter filter[FILTER_MAX] = {LOAD(args[5]),
                                             {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, OURS},
                                             RETURN(SECCOMP_RET_ALLOW),
                                             LOAD(nr),
                                             {BPF_JMP | BPF_JEQ | BPF_K, 0, 4, SYS_openat},
                                             LOAD(args[2]),
                                             {BPF_JMP | BPF_JSET | BPF_K, 0, 1, O_CREAT | O_TMPFILE},
                                             RETURN(SECCOMP_RET_TRAP),
                                             RETURN(SECCOMP_RET_ALLOW)};
    unsigned short n = 9;
    for (unsigned i = 0; i < sizeof calls / sizeof *calls; i++) {
        filter[n++] = (struct sock_filter){BPF_JMP | BPF_JEQ | BPF_K, 0, 1, (unsigned)calls[i]};
        filter[n++] = (struct sock_filter)RETURN(SECCOMP_RET_TRAP);
    }
    filter[n++] = (struct sock_filter)RETURN(SECCOMP_RET_ALLOW);
    struct sigaction action = {.sa_sigaction = on_call, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART};
    struct sock_fprog program_of = {n, filter};
    if (sigaction(SIGSYS, &action, NULL) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program_of)) {
        perror("inject");
        _exit(77);
    }
}

// --- begin and end ------------------------------------------------------------------------------------------------

__attribute__((constructor)) static void begin(void) {
    const char *at = getenv("WEFT_FAULT_AT"), *of = getenv("WEFT_FAULT_SIGNAL");
    fail_at = at ? strtoul(at, NULL, 10) : 0;
    fail_on = getenv("WEFT_FAULT_ON");
    number = of ? atoi(of) : 0;
    program = getpid();
    if (number) setpgid(0, 0); // the signal is for this program and its runs, not for the test
    if (number) signal(number, SIG_DFL);
    stacks = getenv("WEFT_FAULT_STACKS");
    writes = getenv("WEFT_FAULT_WRITES");
    if (writes) filter_calls();
    atomic_store(&steps, 0);
}

__attribute__((destructor)) static void end(void) {
    const char *path = getenv("WEFT_FAULT_COUNT");
    unsigned long n = atomic_load(&steps);
    fail_at = 0;
    stacks = false;
    FILE *file = path && getpid() == program ? fopen(path, "w") : NULL;
    if (!file) return;
    fprintf(file, "%lu\n", n);
    for (uint64_t i = 0; i < STACKS; i++)
        if (stack[i].hash) fprintf(file, "%lu\n", stack[i].step);
    fclose(file);
}
