// SPDX-License-Identifier: Apache-2.0
// N senders to one receiver: the receiver's link is never idle, and no sender is favoured.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "form.h"
#include "run.h"

enum { SIZE = 1024 * 1024, PACKETS = SIZE / 4096, WIRE = 4096 + 82, BYTE = 40 };

// N flows of S bytes in packets of P start together at line rate. The receiver's link is busy from the first packet on,
// so that the last flow ends N x (S / P) x (P + 82) byte times after the first packet could have: the completion time
// of one flow alone plus (N - 1) times its bytes. Served in turn (one packet each, since all arrive at the same rate),
// the first to end is at most a turn earlier: N packets. Tolerance: one round trip.
static void check(const char *topology, unsigned senders, const char *sources, unsigned rtt_ns, const char *more,
                  bool fair) {
    struct run r = RUN(run_text,
                       "topology: {%s, rate: 200Gbps, delay: 150ns}\n"
                       "switch: {buffer: {kind: static, size: 2MB, xoff: 1MB, xon: 900KB}%s}\n"
                       "workload: [{kind: incast, sources: \"%s\", dst: host-0, size: %dB, verb: send}]\n",
                       topology, more, sources, SIZE);
    run_assert_complete(&r);
    assert_int_equal(run_drops(&r), 0);
    assert_int_equal(r.outcome->flows, senders);
    weft_time_ps first = WEFT_TIME_NEVER, last = 0, alone = r.outcome->flow[0].ideal_ps;
    double sum = 0, squares = 0;
    for (uint32_t i = 0; i < senders; i++) {
        weft_time_ps fct = run_fct(&r, i);
        if (fct < first) first = fct;
        if (fct > last) last = fct;
        sum += 1 / (double)fct;
        squares += 1 / ((double)fct * (double)fct);
    }
    weft_time_ps rtt = rtt_ns * WEFT_PS_PER_NS;
    weft_time_ps expected = alone + (uint64_t)(senders - 1) * PACKETS * WIRE * BYTE;
    form_assert("Last flow of an incast (one alone and the bytes of the others)", (double)last, (double)expected,
                (double)rtt / (double)expected);
    // The aggregate is the line rate while it lasts.
    double idle = (double)(last - alone) / ((double)(senders - 1) * PACKETS * WIRE * BYTE) - 1;
    assert_true(idle < .005 && idle > -.005);
    if (fair && first + senders * WIRE * BYTE + rtt < last)
        fail_msg("%s, %u senders: from %.3f to %.3f us", topology, senders, (double)first * 1e-6, (double)last * 1e-6);
    double jain = sum * sum / (senders * squares); // R. Jain et al., DEC-TR-301, 1984
    if (fair) assert_true(jain > .99);
    run_free(&r);
}

static void incast_at_one_switch(void **state) {
    for (unsigned n = 2; n <= 16; n += n < 4 ? 1 : 4) {
        char topology[80], sources[40];
        snprintf(topology, sizeof topology, "kind: single, hosts: %u", n + 1);
        snprintf(sources, sizeof sources, "host-1..%u", n);
        check(topology, n, sources, 1400, "", true);
        check(topology, n, sources, 1400, ", queueing: voq", true);
        check(topology, n, sources, 1400, ", queueing: iq", true);
    }
}

// Senders of one pod, each under an access switch of its own. The last hop is never idle; but which flows share a link
// from the aggregation layer is up to ECMP, and an access switch that gives each of its inputs the same share gives
// less to each flow of an input that carries several.
static void incast_in_a_clos(void **state) {
    for (unsigned n = 2; n <= 14; n += 4) {
        char sources[200] = "";
        for (unsigned i = 1; i <= n; i++)
            sprintf(sources + strlen(sources), "%shost-%u", i > 1 ? "," : "", 2 * i);
        check("kind: clos3, pods: 2, access_per_pod: 8, aggregation_per_pod: 8, core: 8, hosts_per_access: 2", n,
              sources, 4000, "", false);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(incast_at_one_switch),
        cmocka_unit_test(incast_in_a_clos),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
