// SPDX-License-Identifier: Apache-2.0
// weft versus as a user calls it: every fabric a row, with figures that a plain run gives too.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>

#include "command.h"
#include "signalled.h"

static const char job[] = "workload:\n- {kind: collective, collective: all_to_all, size: 256KiB, group: moe}\n";
static const char mine[] = "base: roce-spray\nabout: spines of our own\nfabric: {per_leaf: 8}\n";

static int set_up(void **state) {
    static struct fixture f;
    strcpy(f.dir, "/tmp/weft-versus-XXXXXX");
    assert_non_null(mkdtemp(f.dir));
    write_text(&f, "job.yaml", job);
    write_text(&f, "mine.yaml", mine);
    write_text(&f, "few.yaml", "workload: [{kind: incast, sources: host-1..8, dst: host-0, size: 100KB}]\n");
    setenv("XDG_CACHE_HOME", f.dir, 1);
    *state = &f;
    return 0;
}

static json_t *versus(struct fixture *f, const char *arguments) {
    char line[256];
    snprintf(line, sizeof line, "versus %s --quiet --json", arguments);
    assert_int_equal(weft(f, line), 0);
    json_t *root = json_loads(f->out, 0, NULL);
    assert_non_null(root);
    return root;
}

static const json_t *fabric(const json_t *root, const char *name) {
    size_t i;
    const json_t *one, *list = json_object_get(root, "fabrics");
    json_array_foreach(list, i, one) {
        if (!strcmp(json_string_value(json_object_get(one, "name")), name)) return one;
    }
    fail_msg("no fabric %s", name);
    return NULL;
}

static double figure(const json_t *root, const char *name, const char *case_name, const char *measure) {
    const json_t *cases = json_object_get(fabric(root, name), "cases");
    const json_t *of = json_object_get(json_object_get(cases, case_name), measure);
    return json_number_value(json_is_object(of) ? json_object_get(of, "mean") : of);
}

static const char *status(const json_t *root, const char *name) {
    return json_string_value(json_object_get(fabric(root, name), "status"));
}

/// Of a file; free it.
static char *text_of(const struct fixture *f, const char *name) {
    enum { ROOM = 4 << 20 };
    char *text = malloc(ROOM);
    assert_non_null(text);
    slurp(f, name, text, ROOM);
    return text;
}

/// All that come with weft, at 16 hosts; none is faster than the ruler, and figures are those of a plain run.
static void every_fabric(void **state) {
    struct fixture *f = *state;
    json_t *root = versus(f, "job.yaml --hosts 16 --out all");
    size_t i;
    const json_t *one, *list = json_object_get(root, "fabrics");
    assert_int_equal(json_array_size(list), 22);
    json_array_foreach(list, i, one) {
        const char *name = json_string_value(json_object_get(one, "name"));
        assert_string_equal(json_string_value(json_object_get(one, "status")), "ran");
        bool second = !strcmp(name, "rail-only"); // its servers have a network of their own beside their NICs
        assert_true(second || figure(root, name, "job", "time_ps") >= figure(root, "ideal", "job", "time_ps"));
        assert_true(figure(root, name, "job", "busbw_GBps") > 0);
        double p50 = figure(root, name, "job", "fct_p50_ps"), p99 = figure(root, name, "job", "fct_p99_ps");
        assert_true(p50 > 0 && p99 >= p50 && figure(root, name, "job", "fct_p999_ps") >= p99);
        double whole = 0;
        const char *part;
        const json_t *time, *why = json_object_get(json_object_get(json_object_get(one, "cases"), "job"), "why_ps");
        json_object_foreach((json_t *)why, part, time) whole += json_number_value(time);
        assert_true(whole == figure(root, name, "job", "time_ps")); // the critical path of its one iteration
        const json_t *job_case = json_object_get(json_object_get(one, "cases"), "job");
        assert_string_equal(json_string_value(json_object_get(job_case, "why_of")), "iteration");
    }
    double time = figure(root, "dsf-l1", "job", "time_ps");
    json_decref(root);
    assert_int_equal(weft(f, "run all/versus.yaml --variant dsf-l1 --quiet --json"), 0);
    json_t *run = json_loads(f->out, 0, NULL);
    const json_t *jobs = json_array_get(json_object_get(run, "jobs"), 0);
    assert_true(json_number_value(json_object_get(jobs, "iteration_ps")) == time);
    json_decref(run);
}

/// Of one kind, over the steps of a critical path as weft why --json gives them.
static double part_of(const json_t *why, const char *kind) {
    double sum = 0;
    size_t i, k;
    const json_t *step, *part;
    json_array_foreach(json_object_get(why, "steps"), i, step) {
        json_array_foreach(json_object_get(step, "parts"), k, part) {
            if (!strcmp(json_string_value(json_object_get(part, "kind")), kind))
                sum += json_number_value(json_object_get(part, "time_ps"));
        }
    }
    return sum;
}

/// Where the time went is what weft why says of the same run, part by part: the wait behind other messages too, for
/// which the frames of all others at those ports must be known.
static void as_weft_why(void **state) {
    struct fixture *f = *state;
    static const char *const fabrics[] = {"ideal", "roce-ecmp", "dsf-l1", "aquila"};
    json_t *root = versus(f, "job.yaml --hosts 32 --fabrics roce-ecmp,dsf-l1,aquila --out whys");
    for (unsigned i = 0; i < sizeof fabrics / sizeof *fabrics; i++) {
        char line[128];
        snprintf(line, sizeof line, "why whys/versus.yaml --variant %s --job moe --json --quiet", fabrics[i]);
        assert_int_equal(weft(f, line), 0);
        json_t *why = json_loads(f->out, 0, NULL);
        const json_t *of = json_object_get(json_object_get(fabric(root, fabrics[i]), "cases"), "job"), *time;
        const char *kind;
        double queueing = 0, all = 0;
        json_object_foreach((json_t *)json_object_get(of, "why_ps"), kind, time) {
            assert_true(json_number_value(time) == part_of(why, kind));
            if (!strcmp(kind, "queueing")) queueing = json_number_value(time);
            all += json_number_value(time);
        }
        assert_true(all == json_number_value(json_object_get(why, "iteration_ps")));
        assert_true(queueing > all / 4); // each NIC sends 31 messages, one after another
        assert_true(json_is_null(json_object_get(of, "why_note")));
        json_decref(why);
    }
    json_decref(root);
}

/// The row of a fabric behind a heading, in what was printed last.
static const char *row_of(const struct fixture *f, const char *heading, const char *name) {
    char start[64];
    const char *at = strstr(f->out, heading);
    assert_non_null(at);
    snprintf(start, sizeof start, "\n  %s ", name);
    at = strstr(at, start);
    assert_non_null(at);
    return at + strlen(start);
}

/// Rows of the table add up to 100%, and each has the time that it is of.
static void where_adds_up(void **state) {
    struct fixture *f = *state;
    static const char *const fabrics[] = {"ideal", "star", "roce-ecmp", "dsf-l1", "dsf-region", "aquila"};
    assert_int_equal(weft(f, "versus job.yaml --hosts 16 --fabrics star,roce-ecmp,dsf-l1,dsf-region,aquila --quiet"),
                     0);
    assert_non_null(strstr(f->out, "  other\n"));
    assert_non_null(strstr(f->out, "\n  other: "));
    assert_non_null(strstr(f->out, "\n  queueing       the port sends frames of others\n"));
    for (unsigned i = 0; i < sizeof fabrics / sizeof *fabrics; i++) {
        char *at;
        const char *row =
            row_of(f, "where the time on the critical path of the longest iteration went, %\n", fabrics[i]);
        double time = strtod(row, &at), sum = 0;
        assert_true(fabs(time - strtod(row_of(f, "fabric           time, us", fabrics[i]), NULL)) < 0.001);
        while (*at != '\n')
            sum += strtod(at, &at);
        assert_true(fabs(sum - 100) < 1e-6);
    }
}

/// A fabric whose packets do not fit into memory says so, in a table and in JSON. Steady flows coast, so that the
/// measured run takes no time.
static void where_left_out(void **state) {
    struct fixture *f = *state;
    write_text(f, "big.yaml", "workload: [{kind: flow, src: host-0, dst: host-1, size: 60GB}]\n");
    static const char note[] = "to follow its packets and cells would take more than 4 GB";
    char wanted[128];
    json_t *root =
        versus(f, "big.yaml --hosts 4 --fabrics star --set run.fast_forward=steady --set run.events=0 --out b");
    const json_t *of = json_object_get(json_object_get(fabric(root, "star"), "cases"), "job");
    assert_true(json_is_null(json_object_get(of, "why_of")));
    assert_string_equal(json_string_value(json_object_get(of, "why_note")), note);
    json_decref(root);
    snprintf(wanted, sizeof wanted, "\nwhere the time went\n  ideal           not known: %s\n", note);
    char *text = text_of(f, "b/versus.txt"), *page = text_of(f, "b/versus.html");
    assert_non_null(strstr(text, wanted));
    snprintf(wanted, sizeof wanted, "job, star: not known: %s.", note);
    assert_non_null(strstr(page, wanted));
    free(text);
    free(page);
}

/// A fabric that cannot be built is a row with its reason, and so is one beyond the budget.
static void rows_with_reasons(void **state) {
    struct fixture *f = *state;
    json_t *root = versus(f, "few.yaml --hosts 1200 --fabrics aquila,star");
    assert_string_equal(status(root, "aquila"), "unbuildable");
    assert_non_null(strstr(json_string_value(json_object_get(fabric(root, "aquila"), "reason")), "ends at 1152 hosts"));
    assert_string_equal(status(root, "ideal"), "ran");
    json_decref(root);
    root = versus(f, "job.yaml --hosts 16 --fabrics star,roce-ecmp --budget watts=1000");
    assert_string_equal(status(root, "star"), "over_budget");
    assert_string_equal(status(root, "roce-ecmp"), "ran"); // a single leaf
    json_decref(root);
    root = versus(f, "job.yaml --hosts 16 --fabrics star,aquila --rate 3Gbps");
    assert_string_equal(status(root, "star"), "ran");
    assert_string_equal(status(root, "aquila"), "unbuildable");
    assert_non_null(strstr(json_string_value(json_object_get(fabric(root, "aquila"), "reason")),
                           "it cannot take 3Gbps: tin.egress_buffer: "));
    json_decref(root);
    assert_int_equal(weft(f, "versus few.yaml --hosts 1200 --fabrics aquila --quiet"), 0);
    assert_non_null(strstr(f->out, "aquila         cannot be built: a Clique ends at 1152 hosts"));
}

/// The user's own blueprint takes part like the others.
static void own_blueprint(void **state) {
    struct fixture *f = *state;
    json_t *root = versus(f, "job.yaml --hosts 16 --fabrics mine.yaml,roce-spray --seeds 1..3 --no-why");
    const json_t *own = fabric(root, "mine");
    assert_string_equal(json_string_value(json_object_get(own, "about")), "spines of our own");
    assert_int_equal(json_integer_value(json_object_get(json_object_get(own, "bill"), "chips")), 4);
    assert_int_equal(figure(root, "mine", "job", "rank") + figure(root, "roce-spray", "job", "rank"), 3);
    const json_t *cases = json_object_get(json_object_get(own, "cases"), "job");
    assert_int_equal(json_integer_value(json_object_get(json_object_get(cases, "time_ps"), "seeds")), 3);
    json_decref(root);
}

/// Where nothing differs the two are within noise; a star is indistinguishable from an equal one.
static void noise(void **state) {
    struct fixture *f = *state;
    write_text(f, "twin.yaml", "base: roce-e-ecmp\n");
    json_t *root = versus(f, "job.yaml --hosts 32 --fabrics roce-e-ecmp,twin.yaml,ai-zone --seeds 1..4 --no-why");
    const json_t *lead = json_array_get(json_object_get(root, "cases"), 0);
    assert_int_equal(json_array_size(json_object_get(lead, "within_noise")), 1);
    assert_string_equal(json_string_value(json_object_get(lead, "first")), "roce-e-ecmp");
    json_decref(root);
}

/// Cases by size, and where the lead changes.
static void battery(void **state) {
    struct fixture *f = *state;
    json_t *root = versus(f, "--battery quick --hosts 16 --fabrics star,aquila --no-why");
    assert_int_equal(json_array_size(json_object_get(root, "cases")), 6);
    double small = figure(root, "star", "all-to-all-4KiB", "time_ps");
    assert_true(small > 0 && figure(root, "star", "all-to-all-4MiB", "time_ps") > small);
    json_decref(root);
}

/// The entry of a list whose `key` is that name, at so many hosts.
static const json_t *entry_at(const json_t *list, const char *key, const char *name, int hosts) {
    size_t i;
    const json_t *one;
    json_array_foreach(list, i, one) {
        if (!strcmp(json_string_value(json_object_get(one, key)), name) &&
            json_integer_value(json_object_get(one, "hosts")) == hosts)
            return one;
    }
    fail_msg("no %s %s at %d hosts", key, name, hosts);
    return NULL;
}

static const json_t *fabric_at(const json_t *root, const char *name, int hosts) {
    return entry_at(json_object_get(root, "fabrics"), "name", name, hosts);
}

static double time_at(const json_t *root, const char *name, int hosts, const char *case_name) {
    const json_t *cases = json_object_get(fabric_at(root, name, hosts), "cases");
    return json_number_value(json_object_get(json_object_get(json_object_get(cases, case_name), "time_ps"), "mean"));
}

static const json_t *lead_at(const json_t *root, const char *case_name, int hosts) {
    return entry_at(json_object_get(json_object_get(root, "map"), "leads"), "case", case_name, hosts);
}

/// Several numbers of hosts: each has the times of a versus of its own; the map says who leads by how much, and a
/// border is where lines through the times of both cross. A star has long cables and a Clos is a single leaf with short
/// ones up to 16 hosts, so that the lead turns between 16 and 32.
static void map_over_hosts(void **state) {
    struct fixture *f = *state;
    static const char args[] = "--battery quick --sizes 4KiB..256KiB --fabrics roce-ecmp,star --no-why";
    char line[256];
    snprintf(line, sizeof line, "%s --hosts 32,8..16:2 --out map", args);
    json_t *root = versus(f, line);
    assert_int_equal(json_array_size(json_object_get(root, "fabrics")), 9);
    assert_int_equal(json_array_size(json_object_get(root, "cases")), 12);
    assert_int_equal(json_array_size(json_object_get(json_object_get(root, "map"), "leads")), 12);
    static const int hosts[] = {8, 16, 32};
    for (unsigned i = 0; i < 3; i++) {
        snprintf(line, sizeof line, "%s --hosts %d", args, hosts[i]);
        json_t *alone = versus(f, line);
        double star = figure(alone, "star", "all-to-all-256KiB", "time_ps"),
               clos = figure(alone, "roce-ecmp", "all-to-all-256KiB", "time_ps");
        assert_true(time_at(root, "star", hosts[i], "all-to-all-256KiB") == star);
        assert_true(time_at(root, "roce-ecmp", hosts[i], "all-to-all-256KiB") == clos);
        const json_t *lead = lead_at(root, "all-to-all-256KiB", hosts[i]);
        assert_string_equal(json_string_value(json_object_get(lead, "first")), star < clos ? "star" : "roce-ecmp");
        assert_true(json_number_value(json_object_get(lead, "lead")) == (star < clos ? clos / star : star / clos));
        assert_int_equal(star < clos, hosts[i] == 32);
        json_decref(alone);
    }
    size_t i;
    const json_t *border, *borders = json_object_get(json_object_get(root, "map"), "borders");
    assert_int_equal(json_array_size(borders), 4);
    json_array_foreach(borders, i, border) {
        const char *name = json_string_value(json_object_get(border, "case"));
        double low = log(time_at(root, "roce-ecmp", 16, name) / time_at(root, "star", 16, name));
        double high = log(time_at(root, "roce-ecmp", 32, name) / time_at(root, "star", 32, name));
        double at = json_number_value(json_object_get(border, "hosts"));
        assert_true(fabs(at - 16 * pow(2, -low / (high - low))) < 1e-9 * at);
        assert_string_equal(json_string_value(json_object_get(border, "below")), "roce-ecmp");
    }
    json_decref(root);
    assert_int_equal(weft(f, "versus --battery quick --sizes 4KiB..256KiB --fabrics roce-ecmp,star --no-why --hosts "
                             "32,8,16 --out map"),
                     0);
    assert_non_null(strstr(f->err, "36 of 36 runs are there already"));
    assert_non_null(strstr(f->out, "who leads, and the second's value over the first's: all-to-all\n  bytes "));
    assert_non_null(strstr(f->out, "\n  32             star 2.5"));
    assert_non_null(strstr(f->out, "\n  all-to-all-4KiB: between 16 and 32 hosts, from roce-ecmp to star\n"));
    assert_non_null(strstr(f->out, "\n=== 32 hosts\n"));
    char *page = text_of(f, "map/versus.html"), *table = text_of(f, "map/map.csv");
    assert_non_null(strstr(page, "\"title\":\"Who leads\""));
    assert_non_null(strstr(page, "\"title\":\"What is not equal at 16 hosts\""));
    assert_non_null(strstr(table, "\n16,all-to-all,all-to-all-4KiB,4096,,roce-ecmp,star,1.3"));
    free(page);
    free(table);
    // one size of each: no size tells two workloads apart
    assert_int_equal(weft(f, "versus --battery quick --sizes 4KiB..4KiB --fabrics roce-ecmp,star --no-why --hosts "
                             "8,16"),
                     0);
    assert_non_null(strstr(f->out, "over the first's: by workload\n            all-to-all-4KiB  all-reduce-4KiB\n"));
}

/// A star ends at 128 hosts: at 160 it is a row with its reason, at 128 it runs. Parts give what the whole gives.
static void map_with_an_end(void **state) {
    struct fixture *f = *state;
    static const char args[] = "few.yaml --hosts 128,160 --fabrics star,roce-ecmp --no-why";
    char line[256];
    snprintf(line, sizeof line, "%s --out whole", args);
    json_t *root = versus(f, line);
    assert_string_equal(json_string_value(json_object_get(fabric_at(root, "star", 128), "status")), "ran");
    assert_string_equal(json_string_value(json_object_get(fabric_at(root, "star", 160), "status")), "unbuildable");
    const json_t *lead = lead_at(root, "job", 160);
    assert_string_equal(json_string_value(json_object_get(lead, "first")), "roce-ecmp");
    assert_true(json_is_null(json_object_get(lead, "second")) && json_is_null(json_object_get(lead, "lead")));
    assert_non_null(strstr(json_string_value(json_object_get(root, "paragraph")), "Not to be built: star@160."));
    json_decref(root);
    snprintf(line, sizeof line, "versus %s --csv measurements --quiet --out whole", args);
    assert_int_equal(weft(f, line), 0);
    assert_non_null(strstr(f->out, "\nstar,128,job,0,1,done,"));
    assert_non_null(strstr(f->out, "\nstar,160,,,,unbuildable,"));
    char *whole = strdup(f->out);
    for (unsigned i = 1; i <= 2; i++) {
        snprintf(line, sizeof line, "versus %s --out halves --task %u/2", args, i);
        assert_int_equal(weft(f, line), 0);
    }
    snprintf(line, sizeof line, "versus %s --out halves --merge --csv measurements", args);
    assert_int_equal(weft(f, line), 0);
    assert_string_equal(f->out, whole);
    free(whole);
    snprintf(line, sizeof line, "versus %s --quiet --diff whole", args);
    assert_int_equal(weft(f, line), 0);
    assert_non_null(strstr(f->out, "\n  nothing has changed\n"));
    assert_int_equal(weft(f, "versus few.yaml --hosts 64,128 --fabrics star,roce-ecmp --no-why --quiet --diff whole "
                             "--rate 200Gbps"),
                     0);
    assert_non_null(strstr(f->out, "\n  160 hosts: no longer there\n"));
    assert_non_null(strstr(f->out, "\n  64 hosts: were not there\n"));
    assert_non_null(strstr(f->out, "\n  star@128, job: time_ps "));
    assert_null(strstr(f->out, "@64, job: time_ps "));
}

/// Loads have a map too, and workloads that name hosts name those of each size.
static void map_of_loads(void **state) {
    struct fixture *f = *state;
    json_t *root = versus(f, "--battery full --cases 'rpc*,incast,incast-link-gone' --hosts 16,24 --seeds 1 --no-why "
                             "--fabrics dsf-l1,roce-spray --out loads");
    assert_int_equal(json_array_size(json_object_get(json_object_get(root, "map"), "leads")), 8); // no failures
    assert_int_equal(
        json_integer_value(json_object_get(json_array_get(json_object_get(root, "cases"), 1), "load_percent")), 30);
    json_decref(root);
    char *text = text_of(f, "loads/versus.yaml");
    assert_non_null(strstr(text, "sources: host-8..15, dst"));
    assert_non_null(strstr(text, "\"dsf-l1@24\": {workload: [{kind: incast, group: incast, sources: host-12..23, dst"));
    assert_null(strstr(text, "\"dsf-l1@16\": {workload: "));
    free(text);
}

static double over_healthy(const json_t *root, const char *name, const char *case_name) {
    return figure(root, name, case_name, "over_healthy");
}

/// Every workload once, and with each failure: what fails costs, and recovery is a time; a star has no link between
/// switches that could fail.
static void full_battery(void **state) {
    struct fixture *f = *state;
    json_t *root = versus(f, "--battery full --sizes 1KiB..1KiB --hosts 16 --fabrics star,dsf-l1 --seeds 1 --no-why");
    assert_int_equal(json_array_size(json_object_get(root, "cases")), 4 + 9 + 13 * 5 + 4);
    assert_true(over_healthy(root, "dsf-l1", "moe-switch-gone") > 1);
    assert_true(over_healthy(root, "star", "moe-slow-receiver") > 2);
    assert_true(over_healthy(root, "star", "moe-switch-gone") == 0); // has none
    assert_true(figure(root, "star", "moe-switch-gone", "time_ps") == 0);
    assert_true(figure(root, "dsf-l1", "incast", "victims_slowdown") >= 1);
    assert_true(figure(root, "dsf-l1", "recovery-link-fails", "recovery_ps") > 0);
    assert_true(figure(root, "dsf-l1", "recovery-link-fails", "drops") > 0);
    const json_t *domains = json_object_get(fabric(root, "dsf-l1"), "failure_domains");
    assert_int_equal(json_array_size(domains), 4);
    assert_non_null(json_object_get(fabric(root, "dsf-l1"), "half_as_many_again"));
    json_decref(root);
    assert_int_equal(weft(f, "versus --battery full --cases 'scale-up*' --hosts 16 --seeds 1 --no-why"), 0);
    root = versus(f, "--battery full --cases 'scale-up*' --hosts 288 --fabrics dual-tor --seeds 1 --no-why");
    assert_true(over_healthy(root, "dual-tor", "scale-up-plane-gone") > 1);
    assert_true(figure(root, "dual-tor", "scale-up-slow-receiver", "time_ps") ==
                0);    // a NIC of planes has no drain_rate
    json_decref(root); // twins lead together, so neither is counted; a rack has all 16 hosts, with nothing above it
    assert_int_equal(weft(f, "versus --battery full --sizes 1KiB..1KiB --cases 'all-*-1KiB*' --hosts 16 --fabrics "
                             "roce-ecmp,roce-pinned,dsf-l1 --seeds 1 --no-why --quiet"),
                     0);
    assert_non_null(strstr(f->out, "Of 18 cases: in 6 the first two cannot be told apart; in 12 only one fabric has a "
                                   "time."));
}

/// Chosen by name, with the cases that they are compared with.
static void chosen_cases(void **state) {
    struct fixture *f = *state;
    json_t *root =
        versus(f, "--battery full --cases two-jobs-slow-receiver --hosts 16 --fabrics star --seeds 1 --no-why");
    const json_t *cases = json_object_get(root, "cases");
    assert_int_equal(json_array_size(cases), 2);
    assert_string_equal(json_string_value(json_object_get(json_array_get(cases, 1), "healthy")), "two-jobs");
    assert_true(over_healthy(root, "star", "two-jobs-slow-receiver") > 1);
    json_decref(root);
}

/// The first; one that is slower in each seed, by longer cables; one that collides in two seeds of six, so that its
/// mean is last and yet within noise of the first. The one between them is named too.
static void between_the_first_and_noise(void **state) {
    struct fixture *f = *state;
    write_text(f, "far.yaml", "base: star\nname: far\nfabric: {host_cable: 40}\n");
    write_text(f, "hash.yaml",
               "base: roce-ecmp\nname: hash\n"
               "fabric: {per_leaf: 2, oversubscription: 0.25, spines_min: 8, host_cable: 20, leaf_cable: 20}\n");
    write_text(f, "pair.yaml",
               "workload:\n- {kind: flow, src: host-0, dst: host-2, size: 1MB}\n"
               "- {kind: flow, src: host-1, dst: host-3, size: 1MB}\n");
    assert_int_equal(
        weft(f, "versus pair.yaml --hosts 4 --fabrics star,far.yaml,hash.yaml --seeds 1..6 --no-why --quiet"), 0);
    assert_non_null(strstr(f->out, "star leads with "));
    assert_non_null(
        strstr(f->out, " Within noise of it: hash; between them, but beyond noise: far. hash is last with"));
}

/// Two stars: one with long cables, one with slow PHYs, which leads by 5 ns a link. With cables half as long the other
/// one leads; of all assumptions this is told first.
static void assumptions(void **state) {
    struct fixture *f = *state;
    write_text(f, "far.yaml", "base: star\nfabric: {host_cable: 40}\n");
    write_text(f, "slow.yaml", "base: star\nfabric: {phy: 195ns}\n");
    json_t *root = versus(f, "job.yaml --hosts 8 --fabrics far.yaml,slow.yaml --assumptions --no-why");
    const json_t *list = json_object_get(root, "assumptions"), *one;
    size_t i, turning = 0;
    bool cable = false;
    assert_string_equal(json_string_value(json_object_get(json_array_get(json_object_get(root, "cases"), 0), "first")),
                        "slow");
    json_array_foreach(list, i, one) {
        const char *path = json_string_value(json_object_get(one, "path"));
        bool turns = json_is_true(json_object_get(one, "turns")),
             halved = json_number_value(json_object_get(one, "factor")) < 1;
        turning += turns;
        assert_true(!turns || i == turning - 1);
        if (!strcmp(path, "fabric.host_cable")) {
            assert_int_equal(turns, halved);
            assert_string_equal(json_string_value(json_object_get(one, "first")), halved ? "far" : "slow");
            cable = true;
        }
        assert_non_null(strstr(json_string_value(json_object_get(one, "help")), "assumed"));
    }
    assert_true(cable && json_array_size(json_object_get(root, "cases")) == 1);
    json_decref(root);
}

/// Two stars that are equally fast. The chip of one takes 500 W, as assumed, and that of the other 400 W, as a data
/// sheet says: at half its power the first uses the least energy. Nothing has to run again for that.
static void powers(void **state) {
    struct fixture *f = *state;
    write_text(f, "hot.yaml", "base: star\nfabric: {leaf: {name: hot, rate: 51.2Tbps, watts: 500, source: assumed}}\n");
    write_text(f, "cool.yaml",
               "base: star\nfabric: {leaf: {name: cool, rate: 51.2Tbps, watts: 400, source: data sheet}}\n");
    json_t *root = versus(f, "job.yaml --hosts 8 --fabrics hot.yaml,cool.yaml --no-why");
    const json_t *list = json_object_get(root, "power_assumptions"), *one;
    size_t i;
    unsigned hot = 0, nics = 0;
    const char *paragraph = json_string_value(json_object_get(root, "paragraph"));
    assert_non_null(strstr(paragraph, "cool uses the least energy: "));
    assert_non_null(strstr(paragraph, "J, its time at 736 W, NICs included")); // 8 NICs of 25 W, 8 modules of 17 W
    assert_non_null(strstr(paragraph, "; with a hot at 250 W instead of the assumed 500 W it is hot."));
    json_array_foreach(list, i, one) {
        bool is_hot = !strcmp(json_string_value(json_object_get(one, "part")), "hot"),
             halved = json_number_value(json_object_get(one, "factor")) < 1;
        assert_string_not_equal(json_string_value(json_object_get(one, "part")), "cool"); // is not assumed
        assert_int_equal(json_is_true(json_object_get(one, "turns")), is_hot && halved);
        if (is_hot && halved) assert_true(fabs(json_number_value(json_object_get(one, "lead")) - 736.0 / 586) < 1e-9);
        hot += is_hot;
        if (strcmp(json_string_value(json_object_get(one, "part")), "connectx7")) continue;
        double factor = json_number_value(json_object_get(one, "factor")); // the class has 22 W to 30 W
        assert_true(fabs(factor - (factor < 1 ? 22.0 : 30.0) / 25) < 1e-9);
        nics++;
    }
    assert_true(hot == 2 && nics == 2);
    json_decref(root);
}

/// What a battery will cost is said before it runs, and asks nothing: in seconds of a processor.
static double announced(struct fixture *f, const char *arguments, unsigned runs) {
    char line[256], unit[8] = "";
    unsigned said = 0;
    double value = 0;
    snprintf(line, sizeof line, "versus %s --fabrics star --no-why --set run.events=0", arguments);
    assert_int_equal(weft(f, line), 0);
    bool at_most = strstr(f->err, " of processor time at most, less what fast-forward skips; ");
    assert_int_equal(at_most, strstr(arguments, "fast_forward") != NULL);
    assert_int_equal(
        sscanf(f->err, at_most ? "weft: %u runs, %lf %7s" : "weft: %u runs, about %lf %7s", &said, &value, unit), 3);
    assert_int_equal(said, runs);
    return !strcmp(unit, "s") ? value : 60 * value;
}

/// Bytes cost, and so do messages and packets, however few bytes are in them. What fast-forward skips is not known
/// before: it is told, and makes these runs short.
static void cost(void **state) {
    struct fixture *f = *state;
    announced(f, "job.yaml --hosts 16", 2);
    write_text(f, "big.yaml",
               "workload: [{kind: flow, src: host-0, dst: host-1, size: 60GB}]\n"
               "run: {fast_forward: steady}\n");
    double whole = announced(f, "big.yaml --hosts 4 --set run.fast_forward=steady", 2);
    write_text(f, "ten.yaml", "workload: [{kind: flow, src: host-0, dst: host-1, size: 600GB}]\n");
    double ten = announced(f, "ten.yaml --hosts 4 --set run.fast_forward=steady", 2);
    assert_true(ten > 9 * whole && ten < 11 * whole);
    // 480000 messages of 64 bytes a run: 31 MB, as few packets as 10 ms take
    write_text(f, "small.yaml",
               "workload:\n- {kind: collective, collective: all_reduce_ring, size: 1KiB, repeat: "
               "1000}\n");
    assert_true(announced(f, "small.yaml --hosts 16 --set run.fast_forward=exact", 2) > 0.3);
}

/// Parts give what the whole gives, and nothing is run twice.
static void in_parts(void **state) {
    struct fixture *f = *state;
    static const char args[] = "versus job.yaml --hosts 16 --fabrics star,roce-ecmp,dsf-l1";
    char line[256];
    snprintf(line, sizeof line, "%s --csv measurements --out one", args);
    assert_int_equal(weft(f, line), 0);
    char *one = strdup(f->out);
    for (unsigned i = 1; i <= 2; i++) {
        snprintf(line, sizeof line, "%s --out two --task %u/2", args, i);
        assert_int_equal(weft(f, line), 0);
        assert_string_equal(f->out, "");
    }
    snprintf(line, sizeof line, "%s --out two --merge --csv measurements", args);
    assert_int_equal(weft(f, line), 0);
    assert_string_equal(f->out, one);
    free(one);
    snprintf(line, sizeof line, "%s --out two --csv measurements", args);
    assert_int_equal(weft(f, line), 0);
    assert_non_null(strstr(f->err, "4 of 4 runs are there already"));
}

/// Killed in the middle: the runs that are done stay, and the same command does the others.
static void goes_on(void **state) {
    struct fixture *f = *state;
    write_text(f, "long.yaml", "workload:\n- {kind: collective, collective: all_to_all, size: 16MiB}\n");
    killed_when(f, "versus long.yaml --hosts 16 --no-why --jobs 1 --out k --quiet",
                "[ $(ls k/runs 2>/dev/null | wc -l) -ge 2 ]");
    char path[256];
    snprintf(path, sizeof path, "%s/k/versus.json", f->dir);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_equal(weft(f, "versus long.yaml --hosts 16 --no-why --out k"), 0);
    unsigned there = 0;
    assert_int_equal(sscanf(strstr(f->err, "weft: "), "weft: %u of 15 runs are there already", &there), 1);
    assert_true(there >= 2 && there < 15);
}

/// Interrupted, or with parts that other tasks have still to do: nobody leads, and what is missing is "not run".
static void incomplete(void **state) {
    struct fixture *f = *state;
    static const char args[] = "versus job.yaml --hosts 16 --fabrics star,roce-ecmp,dsf-l1 --no-why --out some";
    char line[256];
    snprintf(line, sizeof line, "%s --task 1/2", args);
    assert_int_equal(weft(f, line), 0);
    snprintf(line, sizeof line, "%s --merge", args);
    assert_int_equal(weft(f, line), 1);
    assert_non_null(strstr(f->out, " not run: job, seed 1\n"));
    assert_non_null(strstr(f->out, "\nThe answer is incomplete. Not all runs are done of: "));
    assert_null(strstr(f->out, " leads with "));
    assert_null(strstr(f->out, " failed: "));
    char *page = text_of(f, "some/versus.html");
    assert_null(strstr(page, " leads with "));
    free(page);
    long id; // without a folder that lasts, the same command would begin anew
    write_text(f, "long.yaml", "workload:\n- {kind: collective, collective: all_to_all, size: 16MiB}\n");
    write_text(f, "no-cache", "");
    char path[256];
    snprintf(path, sizeof path, "%s/no-cache", f->dir);
    setenv("XDG_CACHE_HOME", path, 1);
    assert_int_equal(signalled_when(f, SIGTERM, "versus long.yaml --hosts 16 --no-why --jobs 1",
                                    "grep -q 'processor time' err.txt", &id),
                     130);
    setenv("XDG_CACHE_HOME", f->dir, 1);
    assert_non_null(strstr(f->err, "weft: interrupted; with --out DIR, the runs that are done would be kept\n"));
    assert_non_null(strstr(f->out, " not run: job, seed 1\n"));
}

/// Ended by run.until: rows with their reason, also the ruler's, and no ratio.
static void unfinished(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "versus job.yaml --hosts 16 --fabrics star --set run.until=1us --quiet"), 0);
    assert_non_null(strstr(f->out, "\n  star           not finished: job, seed 1, at 1us\n"));
    assert_non_null(strstr(f->out, "\n  ideal          not finished: job, seed 1, at 1us\n"));
    assert_null(strstr(f->out, "1.000"));
    json_t *root = versus(f, "few.yaml --hosts 16 --fabrics star --set run.until=1us");
    assert_string_equal(status(root, "star"), "unfinished");
    json_decref(root);
}

/// The same again: nothing has changed. Another rate of hosts: times have.
static void changes(void **state) {
    struct fixture *f = *state;
    static const char args[] = "versus job.yaml --hosts 16 --fabrics star,roce-ecmp --no-why --quiet";
    char line[256];
    snprintf(line, sizeof line, "%s --out old", args);
    assert_int_equal(weft(f, line), 0);
    snprintf(line, sizeof line, "%s --diff old", args);
    assert_int_equal(weft(f, line), 0);
    assert_non_null(strstr(f->out, "\nsince old (weft "));
    assert_non_null(strstr(f->out, "\n  nothing has changed\n"));
    snprintf(line, sizeof line, "%s --diff old --rate 200Gbps", args);
    assert_int_equal(weft(f, line), 0);
    assert_non_null(strstr(f->out, "\n  rate: 400000000000 -> 200000000000 bit/s\n"));
    assert_non_null(strstr(f->out, "\n  star, job: time_ps "));
    assert_null(strstr(f->out, "nothing has changed"));
    json_t *root = versus(f, "job.yaml --hosts 16 --fabrics star,roce-ecmp --no-why --diff old --rate 200Gbps");
    const json_t *said = json_object_get(json_object_get(root, "since"), "changes");
    assert_string_equal(json_string_value(json_array_get(said, 0)), "rate: 400000000000 -> 200000000000 bit/s");
    assert_true(json_array_size(said) > 2);
    json_decref(root);
    root = versus(f, "job.yaml --hosts 16 --fabrics star,roce-ecmp --no-why --diff old");
    assert_int_equal(json_array_size(json_object_get(json_object_get(root, "since"), "changes")), 0);
    assert_non_null(json_object_get(root, "since"));
    json_decref(root);
    snprintf(line, sizeof line, "%s --diff old --csv changes", args);
    assert_int_equal(weft(f, line), 0);
    assert_string_equal(f->out, "hosts,fabric,case,what,was,now,intervals_overlap\n");
    snprintf(line, sizeof line, "%s --diff old --csv changes --rate 200Gbps", args);
    assert_int_equal(weft(f, line), 0);
    assert_non_null(strstr(f->out, "\n,,,rate_bps,400000000000,200000000000,\n"));
    assert_non_null(strstr(f->out, "\n,star,,optics,16,8,\n"));
    const char *row = strstr(f->out, "\n,star,job,time_ps,");
    assert_non_null(row);
    double was = 0, now = 0;
    unsigned overlap = 1;
    assert_int_equal(sscanf(row, "\n,star,job,time_ps,%lf,%lf,%u\n", &was, &now, &overlap), 3);
    assert_true(now > was && !overlap);
    assert_int_equal(weft(f, "versus job.yaml --diff job.yaml"), 2);
    assert_non_null(strstr(f->err, "weft: job.yaml:1:"));
    assert_int_equal(weft(f, "versus job.yaml --diff nowhere"), 2);
}

/// What the job says of a network gives its size; the network itself is left out.
static void other_jobs(void **state) {
    struct fixture *f = *state;
    write_text(f, "whole.yaml",
               "topology: {kind: single, hosts: 24, rate: 200Gbps}\nswitch: {processing: 1us}\n"
               "workload: [{kind: incast, sources: host-1..8, dst: host-0, size: 100KB}]\n");
    json_t *root = versus(f, "whole.yaml --fabrics star");
    assert_int_equal(json_integer_value(json_object_get(root, "hosts")), 24);
    assert_int_equal(json_integer_value(json_object_get(root, "rate_bps")), 200000000000);
    assert_int_equal(json_array_size(json_object_get(root, "ignored")), 2);
    json_decref(root);
    write_text(f, "ring.goal",
               "num_ranks 2\nrank 0 {\nl1: send 100000b to 1 tag 1\n}\nrank 1 {\nl1: recv 100000b from 0 tag 1\n}\n");
    root = versus(f, "ring.goal --hosts 16 --fabrics star,roce-ecmp");
    assert_true(figure(root, "star", "job", "time_ps") > 0);
    assert_true(figure(root, "star", "job", "hosts_used") == 2);
    json_decref(root);
    assert_int_equal(weft(f, "versus ring.goal --hosts 16 --fabrics roce-ecmp,roce-spray,star --no-why --quiet"), 0);
    assert_non_null(strstr(f->out, "\nroce-ecmp and roce-spray lead with ")); // one leaf has both hosts
    assert_non_null(strstr(f->out, " The job uses 2 of the 16 hosts."));
}

/// Whoever takes a blueprint lists them if there is none of the name.
static void blueprints(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "plan fabric nope --scenario nope.yaml"), 2);
    assert_non_null(
        strstr(f->err, "weft: plan fabric: 'nope': neither a blueprint nor a file; expected one of ideal, "));
    assert_int_equal(weft(f, "plan fabric ./mine.yaml --hosts 16"), 0);
}

static void bad_input(void **state) {
    struct fixture *f = *state;
    write_text(f, "bad.yaml", "workload:\n- {kind: collective, collective: all_to_all, size: 1Mi}\n");
    write_text(f, "none.yaml", "topology: {kind: single, hosts: 4}\n");
    write_text(f, "empty.yaml", "workload: []\n");
    static const struct {
        const char *arguments, *said;
    } cases[] = {
        {"bad.yaml", "weft: bad.yaml:2:52: workload.0.size: "},
        {"none.yaml", "weft: none.yaml: workload is missing"},
        {"empty.yaml", "weft: empty.yaml:1:11: workload is empty: expected the traffic of every fabric"},
        {"job.yaml --fabrics start", "weft: --fabrics: 'start': neither a blueprint nor a file; "},
        {"job.yaml --fabrics star,star", "weft: --fabrics: 'star' comes twice"},
        {"job.yaml --fabrics job.yaml", "weft: job.yaml: has no section fabric"},
        {"job.yaml --hosts 1", "weft: --hosts: 1 is out of range"},
        {"job.yaml --hosts 16,1", "weft: --hosts: 1 is out of range; expected 2 to 1048576"},
        {"job.yaml --hosts 16,8..32:3,16", "weft: --hosts: 16 comes twice"},
        {"job.yaml --hosts 16,", "weft: --hosts: "},
        {"job.yaml --hosts 16KB..32KB:2", "weft: --hosts: '16KB..32KB:2': expected whole numbers"},
        {"job.yaml --hosts 2..99", "weft: --hosts: '2..99': expected at most 64 numbers"},
        {"job.yaml --rate 400", "weft: --rate: "},
        {"job.yaml --fabrics star --goodput 1020", "weft: --goodput:1:8: goodput.gpus: 1020; expected whole servers"},
        {"job.yaml --budget watt=3", "weft: --budget: 'watt=3' is not understood"},
        {"job.yaml --battery fast", "weft: --battery: 'fast': expected quick or full"},
        {"job.yaml --fabrics ''", "--fabrics: a name is empty; expected blueprints and files"},
        {"--battery full --cases mo", "weft: --cases: 'mo': no case of the battery is called so"},
        {"--battery full --hosts 8 --fabrics star", "8 hosts are too few; expected 16 at least"},
        {"job.yaml --cases moe", "weft: --sizes and --cases are of a --battery"},
        {"--battery quick --sizes 4KiB", "weft: --sizes: '4KiB': expected the smallest and the largest size"},
        {"--battery quick --sizes 4KiB..1KiB",
         "weft: --sizes: '4KiB..1KiB': expected the smallest and the largest size"},
        {"job.yaml --set host.mtu=3", "weft: --set host.mtu=3: host.mtu: "},
        {"job.yaml --set workload.0.size=1KiB", "weft: versus: --set workload.0.size=1KiB: the work is JOB's; expected "
                                                "settings of fabrics, hosts and the run"},
        {"job.yaml --set run.seed=3", "weft: versus: --set run.seed=3: expected --seeds"},
        {"", "weft: versus: expected JOB, or --battery"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        char arguments[256];
        snprintf(arguments, sizeof arguments, "versus --out bad %s", cases[i].arguments);
        int exit_status = weft(f, arguments);
        if (exit_status != 2 || *f->out || !strstr(f->err, cases[i].said))
            fail_msg("%s: %d: %s", cases[i].arguments, exit_status, f->err);
    }
    assert_int_equal(weft(f, "run bad/versus.yaml"), 2); // nothing was written
}

/// A variant may have its own base, if the file has none.
static void variants_with_bases(void **state) {
    struct fixture *f = *state;
    write_text(f, "two.yaml",
               "fabric: {hosts: 16}\nworkload: [{kind: flow, src: host-0, dst: host-1, size: 1MB}]\n"
               "variants: {a: {base: star}, b: {base: dsf-l1, fabric.host_cable: 3}}\n");
    assert_int_equal(weft(f, "compare two.yaml --quiet --csv"), 0);
    assert_int_equal(weft(f, "run two.yaml --variant b --out kept --quiet"), 0);
    assert_int_equal(weft(f, "run kept --quiet"), 0); // the blueprints are stored with the results
    assert_int_equal(weft(f, "versus kept --fabrics star --no-why --quiet"), 0);
    assert_int_equal(weft(f, "topo two.yaml --variant b"), 0);
    assert_non_null(strstr(f->out, "rdsw"));
    write_text(f, "twice.yaml", "base: star\nvariants: {a: {base: dsf-l1}}\n");
    assert_int_equal(weft(f, "check twice.yaml"), 2);
    assert_non_null(strstr(f->err, "weft: twice.yaml:2:22: base: the file has a base already"));
}

int main(void) {
#define T(f) cmocka_unit_test(f)
    // clang-format off
    const struct CMUnitTest tests[] = {
        T(between_the_first_and_noise), T(every_fabric), T(as_weft_why), T(where_adds_up), T(where_left_out),
        T(rows_with_reasons), T(own_blueprint), T(noise), T(battery), T(full_battery), T(map_over_hosts),
        T(map_with_an_end), T(map_of_loads), T(chosen_cases), T(assumptions), T(powers), T(cost), T(in_parts),
        T(goes_on), T(incomplete), T(unfinished), T(changes), T(other_jobs), T(blueprints), T(bad_input),
        T(variants_with_bases),
    };
    // clang-format on
    return cmocka_run_group_tests(tests, set_up, remove_folder);
}
