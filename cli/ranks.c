// SPDX-License-Identifier: Apache-2.0
// For weft, which is built without MPI.
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ranks.h"

/// How launchers tell their processes how many there are, and which one this is. PMIx gives no count, so that only a
/// rank above 0 knows that there are several; therefore Open MPI's and Slurm's own variables come first.
static const struct {
    const char *size, *rank;
} launchers[] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
    {"PMI_SIZE", "PMI_RANK"},
    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"},
};

static bool find_launcher(unsigned long *ret_size, unsigned long *ret_rank) {
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        const char *size = getenv(launchers[i].size), *rank = getenv(launchers[i].rank);
        *ret_size = size ? strtoul(size, NULL, 10) : 0;
        *ret_rank = rank ? strtoul(rank, NULL, 10) : 0;
        if (size && rank && *ret_size > 1) return true;
    }
    return false;
}

/// Commands that only print something about the program may always run.
static bool is_run(int argc, char **argv) {
    return argc > 1 && !strcmp(argv[1], "run");
}

/// Finds the program of that name in the folder of this one.
static bool find_beside(const char *name, char *ret_path, size_t size) {
    ssize_t n = readlink("/proc/self/exe", ret_path, size - 1);
    if (n <= 0) return false;
    ret_path[n] = 0;
    char *slash = strrchr(ret_path, '/');
    if (!slash || (size_t)(slash + 1 - ret_path) + strlen(name) >= size) return false;
    strcpy(slash + 1, name);
    return !access(ret_path, X_OK);
}

bool weft_cli_ranks_begin(int *argc, char ***argv, int *ret_status) {
    unsigned long size, rank;
    char path[4096];
    if (!is_run(*argc, *argv) || !find_launcher(&size, &rank)) return true;
    if (find_beside("weft-mpi", path, sizeof path)) execv(path, *argv);
    char machine[65] = ""; // weft-mpi may be missing on some of them only
    gethostname(machine, sizeof machine - 1);
    if (rank)
        fprintf(stderr, "weft: rank %lu on %s: no weft-mpi beside this program\n", rank, machine);
    else
        fprintf(stderr,
                "weft: started %lu times for one run, which takes weft-mpi beside this program; `make mpi` builds it\n",
                size);
    *ret_status = 2;
    return false;
}

struct weft_ranks *weft_cli_ranks(void) {
    return NULL;
}

void weft_cli_ranks_interrupt(int number, pid_t sender) {
    (void)number, (void)sender;
}

int weft_cli_ranks_end(int status) {
    return status;
}
