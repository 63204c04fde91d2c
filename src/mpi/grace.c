// SPDX-License-Identifier: Apache-2.0
#include "grace.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/draft.h"
#include "weft/weft.h"

static sem_t came;

/// Seconds from SIGTERM to SIGKILL: a parameter of mpirun, which it gives its ranks if the user set it.
static long grace_seconds(void) {
    const char *text = getenv("OMPI_MCA_odls_base_sigkill_timeout");
    long seconds = text ? strtol(text, NULL, 10) : 1;
    return seconds > 0 ? seconds : 0;
}

static void *wait_for_signal(void *context) {
    (void)context;
    while (sem_wait(&came) && errno == EINTR) {
    }
    long seconds = grace_seconds();
    struct timespec left = {.tv_sec = seconds ? seconds - 1 : 0, .tv_nsec = seconds ? 700000000 : 0};
    while (nanosleep(&left, &left) && errno == EINTR) {
    }
    weft__drafts_remove();
    fprintf(stderr,
            "weft: interrupted, and results could not be written within the %ld s that mpirun gives; expected a signal "
            "that it passes on (kill -USR1), or --mca odls_base_sigkill_timeout 60\n",
            seconds);
    _exit(WEFT_INTERRUPTED);
}

/// mpirun itself, or its daemon on another machine.
static bool is_launched_by_mpirun(void) {
    char path[64], name[32] = "";
    snprintf(path, sizeof path, "/proc/%ld/comm", (long)getppid());
    FILE *file = fopen(path, "r");
    if (!file) return false;
    if (!fgets(name, sizeof name, file)) *name = 0;
    fclose(file);
    name[strcspn(name, ".\n")] = 0; // Debian has mpirun.openmpi
    static const char *const launchers[] = {"mpirun", "mpiexec", "orterun", "orted", "prterun", "prted"};
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
        if (!strcmp(name, launchers[i])) return true;
    return false;
}

static bool waits; ///< a thread, for a signal

bool weft__grace_begin(void) {
    sigset_t all, was;
    pthread_t thread;
    if (!is_launched_by_mpirun()) return true;
    weft__drafts_keep();
    sem_init(&came, 0, 0);
    sigfillset(&all); // signals are for the other threads
    pthread_sigmask(SIG_SETMASK, &all, &was);
    waits = !pthread_create(&thread, NULL, wait_for_signal, NULL);
    pthread_sigmask(SIG_SETMASK, &was, NULL);
    return waits;
}

void weft__grace_note(int number, pid_t sender) {
    if (waits && number == SIGTERM && sender == getppid()) sem_post(&came);
}
