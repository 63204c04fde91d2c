// SPDX-License-Identifier: Apache-2.0
// The last lines of htsim's RoCE runs: one per finished flow, then the packets of all flows (RoceSrc::processAck of
// sim/roce.cpp and the end of main_roce.cpp, Broadcom/csg-htsim). Times are in microseconds, to the picosecond.
//
// Difference: flows have their numbers in weft, and New counts packets, unlike there.
#include "export/export.h"
#include "weft/device.h"
#include "weft/memory.h"

#include <inttypes.h>

static uint64_t packets_of(const struct weft_flow *f, weft_bytes mtu) {
    uint64_t packets = 0;
    for (uint32_t q = 0; q < f->qps; q++)
        packets += (f->bytes / f->qps + (q < f->bytes % f->qps) + mtu - 1) / mtu;
    return packets;
}

void weft__export_htsim(FILE *file, const struct weft_run *run) {
    const struct weft_topology *t = run->topology;
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    const uint32_t *number = weft__export_numbers(t, arena);
    const struct weft_device_conf **device = weft_device_confs(run->scenario, t, arena);
    uint64_t once = 0, again = 0;
    uint32_t n;
    const uint32_t *done = weft__export_acked(run, arena, &n);
    for (uint32_t i = 0; i < n; i++) {
        const struct weft_flow *f = &run->workload->flow[done[i]];
        weft_time_ps at = run->outcome->flow[done[i]].acked_ps;
        once += packets_of(f, device[t->host[f->src]]->host.mtu_bytes);
        fprintf(file, "Flow Roce_%u_%u %u finished at %" PRIu64 ".%06" PRIu64 " total bytes %" PRIu64 "\n",
                number[t->host[f->src]], number[t->host[f->dst]], done[i], at / WEFT_PS_PER_US, at % WEFT_PS_PER_US,
                f->bytes);
    }
    for (uint32_t f = 0; f < run->outcome->flows; f++)
        again += run->outcome->flow[f].packets_again;
    fprintf(file, "Done\nNew: %" PRIu64 " Rtx: %" PRIu64 "\n", once, again);
}
