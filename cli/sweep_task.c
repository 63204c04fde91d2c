// SPDX-License-Identifier: Apache-2.0
// Which part of a sweep this process has, according to the variables that clusters set.
//
// Open MPI's mpirun sets OMPI_COMM_WORLD_RANK and _SIZE, launchers with PMI (MPICH, Intel MPI) PMI_RANK and PMI_SIZE,
// srun SLURM_PROCID. A batch script of Slurm has SLURM_PROCID as well, and SLURM_NTASKS, but is no rank: only steps
// have SLURM_STEP_NUM_TASKS; srun with PMIx sets PMIX_RANK beside those. Tasks of an array have SLURM_ARRAY_TASK_ID,
// _COUNT, _MIN and _STEP (sbatch(1), srun(1)).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "processes.h"
#include "sweep.h"

enum { TASKS_MAX = 1000000 };

/// A number in the environment; false: there is none.
static bool number_of(const char *name, uint64_t *ret) {
    const char *text = getenv(name);
    char *end;
    if (!text || *text < '0' || *text > '9') return false;
    *ret = strtoull(text, &end, 10);
    return !*end;
}

/// Whether a launcher has set the number of ranks, even if it is one.
static bool sizes_known(void) {
    return getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMI_SIZE") || getenv("SLURM_STEP_NUM_TASKS");
}

/// Whether SLURM_PROCID and SLURM_NTASKS belong to a step that does not tell its size, not to a batch script.
static bool is_step(uint64_t rank) {
    return !getenv("SLURM_STEP_NUM_TASKS") && (rank || getenv("SLURM_STEP_ID"));
}

/// Ranks of a parallel job; a single rank is not a part. False: the environment is contradictory, and every rank would
/// do all the work.
static bool find_rank(struct sweep_share *ret_share, bool *ret_there) {
    static const char *const pairs[][2] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                           {"PMI_RANK", "PMI_SIZE"},
                                           {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
                                           {"SLURM_PROCID", "SLURM_NTASKS"}};
    for (unsigned i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        uint64_t rank = 0, size;
        bool ranked = number_of(pairs[i][0], &rank), sized = number_of(pairs[i][1], &size);
        if (!sized || (!ranked && !getenv(pairs[i][0]))) continue;
        if (!strcmp(pairs[i][1], "SLURM_NTASKS") && !is_step(rank)) continue;
        if (!ranked || !size || rank >= size || size > TASKS_MAX) {
            fprintf(stderr,
                    "weft: %s=%s, %s=%s: expected a rank below the number of ranks, which is %d at most; --task I/N "
                    "says which task this is\n",
                    pairs[i][0], getenv(pairs[i][0]), pairs[i][1], getenv(pairs[i][1]), TASKS_MAX);
            return false;
        }
        if (size < 2) continue;
        *ret_share = (struct sweep_share){(uint32_t)rank, (uint32_t)size, pairs[i][0]};
        *ret_there = true;
        return true;
    }
    uint64_t rank = 0;
    if (!number_of("PMIX_RANK", &rank) || !rank || sizes_known()) return true;
    fputs("weft: PMIX_RANK: expected the number of ranks as well (OMPI_COMM_WORLD_SIZE, SLURM_STEP_NUM_TASKS); "
          "--task I/N says which task this is\n",
          stderr);
    return false;
}

/// A task of a job array. The array's numbers must be evenly spaced: with 1,3,7 no task knows which one it is.
static bool find_array(struct sweep_share *ret_share, bool *ret_there) {
    uint64_t id = 0, count = 0, min = 0, step = 1;
    const char *said = getenv("SLURM_ARRAY_TASK_ID");
    *ret_there = said && *said;
    if (!*ret_there) return true;
    bool counted = number_of("SLURM_ARRAY_TASK_ID", &id) && number_of("SLURM_ARRAY_TASK_COUNT", &count) && count &&
                   count <= TASKS_MAX;
    number_of("SLURM_ARRAY_TASK_MIN", &min);
    number_of("SLURM_ARRAY_TASK_STEP", &step);
    if (!counted || !step || id < min || (id - min) % step || (id - min) / step >= count) {
        fputs("weft: SLURM_ARRAY_TASK_ID: expected an array whose numbers are evenly apart, such as --array=0-9; "
              "--task I/N says which task this is\n",
              stderr);
        return false;
    }
    *ret_share = (struct sweep_share){(uint32_t)((id - min) / step), (uint32_t)count, "SLURM_ARRAY_TASK_ID"};
    return true;
}

static bool parse_task(const char *text, struct sweep_share *ret_share) {
    unsigned long task, tasks;
    int end = 0;
    bool digits = text[strspn(text, "0123456789/")] == 0;
    if (digits && sscanf(text, "%lu/%lu%n", &task, &tasks, &end) == 2 && !text[end] && task >= 1 && task <= tasks &&
        tasks <= TASKS_MAX) {
        *ret_share = (struct sweep_share){(uint32_t)task - 1, (uint32_t)tasks, "--task"};
        return true;
    }
    fprintf(stderr, "weft: --task: '%s' is not understood; expected I/N, from 1/4 to 4/4 for four tasks\n", text);
    return false;
}

static bool find_share(const char *text, struct sweep_share *ret_share) {
    struct sweep_share rank, array;
    bool of_array;
    *ret_share = (struct sweep_share){.tasks = 1};
    if (text) return parse_task(text, ret_share);
    if (!find_array(&array, &of_array)) return false;
    bool of_ranks = false;
    if (!find_rank(&rank, &of_ranks)) return false;
    if (of_array && of_ranks && (uint64_t)array.tasks * rank.tasks <= TASKS_MAX)
        *ret_share =
            (struct sweep_share){array.task * rank.tasks + rank.task, array.tasks * rank.tasks, "SLURM_ARRAY_TASK_ID"};
    else if (of_array)
        *ret_share = array;
    else if (of_ranks)
        *ret_share = rank;
    return true;
}

bool sweep_share_out(struct sweep *s, const char *task, const char *jobs, uint32_t *ret_jobs) {
    s->share = (struct sweep_share){.tasks = 1};
    if (!s->merge && !find_share(task, &s->share)) return false;
    if (s->share.tasks > 1 && !s->o->out) {
        fprintf(stderr, "weft: %s: expected --out DIR, a folder that all tasks see\n", s->share.from);
        return false;
    }
    bool rank = s->share.from && strcmp(s->share.from, "--task") != 0 && strncmp(s->share.from, "SLURM_ARRAY", 11) != 0;
    return weft_cli_jobs_parse(rank && !jobs ? "1" : jobs, ret_jobs);
}
