// SPDX-License-Identifier: Apache-2.0
// Which part of a sweep this process has, by what clusters tell their processes.
//
// Open MPI's mpirun sets OMPI_COMM_WORLD_RANK and _SIZE, launchers with PMI (MPICH, Intel MPI) PMI_RANK and PMI_SIZE,
// srun SLURM_PROCID. A batch script of Slurm has SLURM_PROCID as well, and SLURM_NTASKS, but is no rank: only steps
// have SLURM_STEP_NUM_TASKS. Tasks of an array have SLURM_ARRAY_TASK_ID, _COUNT, _MIN and _STEP (sbatch(1), srun(1)).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/// Ranks of a parallel job; one rank is no part.
static bool find_rank(struct sweep_share *share) {
    static const char *const pairs[][2] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                           {"PMI_RANK", "PMI_SIZE"},
                                           {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};
    for (unsigned i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        uint64_t rank, size;
        if (!number_of(pairs[i][0], &rank) || !number_of(pairs[i][1], &size)) continue;
        if (rank >= size || size < 2 || size > TASKS_MAX) continue;
        *share = (struct sweep_share){(uint32_t)rank, (uint32_t)size, pairs[i][0]};
        return true;
    }
    return false;
}

/// A task of a job array. Numbers of the array must be evenly apart: of 1,3,7 no task knows which one it is.
static bool find_array(struct sweep_share *ret_share, bool *ret_there) {
    uint64_t id, count = 0, min = 0, step = 1;
    *ret_there = number_of("SLURM_ARRAY_TASK_ID", &id);
    if (!*ret_there) return true;
    bool counted = number_of("SLURM_ARRAY_TASK_COUNT", &count) && count && count <= TASKS_MAX;
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

bool sweep_share_find(const char *text, struct sweep_share *ret_share) {
    struct sweep_share rank, array;
    bool of_array;
    *ret_share = (struct sweep_share){.tasks = 1};
    if (text) return parse_task(text, ret_share);
    if (!find_array(&array, &of_array)) return false;
    bool of_ranks = find_rank(&rank);
    if (of_array && of_ranks && (uint64_t)array.tasks * rank.tasks <= TASKS_MAX)
        *ret_share =
            (struct sweep_share){array.task * rank.tasks + rank.task, array.tasks * rank.tasks, "SLURM_ARRAY_TASK_ID"};
    else if (of_array)
        *ret_share = array;
    else if (of_ranks)
        *ret_share = rank;
    return true;
}
