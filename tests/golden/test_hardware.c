// SPDX-License-Identifier: Apache-2.0
// weft models hardware from a user's view: the letter of tests/golden/hardware.txt for a class of one's own, every
// class that comes with weft, and what is refused; and a run of results that were stored before there were classes.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#include "command_json.h"
#include "query.h"
#include "weft/hardware.h"
#include <string.h>

static int setup(void **state) {
    static struct fixture f;
    strcpy(f.dir, "/tmp/weft-hardware-XXXXXX");
    assert_non_null(mkdtemp(f.dir));
    write_text(
        &f, "mine.yaml",
        "name: mine\nkind: chip\nabout: a chip of the laboratory\nvalues:\n"
        "  processing: {low: 600ns, typical: 700ns, high: 900ns, basis: measured, source: 'laboratory, 64 B, idle'}\n"
        "  rate: {typical: 51.2Tbps, basis: vendor, source: data sheet}\n"
        "  forwarding: {typical: cut_through, basis: vendor, source: data sheet}\n"
        "  watts: {typical: 640, high: 2218, basis: secondary, source: another's list}\n");
    write_text(&f, "s.yaml",
               "topology: {kind: single, hosts: 2}\nworkload: [{kind: flow, src: host-0, dst: host-1, "
               "size: 1MB}]\nvariants: {plain: {}, own: {switch.chip: mine.yaml}}\n");
    *state = &f;
    return 0;
}

static void the_letter(void **state) {
    struct fixture *f = *state;
    char path[512], expected[1 << 12];
    snprintf(path, sizeof path, "%s/tests/golden/hardware.txt", getenv("WEFT_ROOT"));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    expected[fread(expected, 1, sizeof expected - 1, file)] = 0;
    fclose(file);
    assert_int_equal(weft(f, "models hardware ./mine.yaml"), 0);
    assert_string_equal(f->err, "");
    if (strcmp(f->out, expected)) fail_msg("printed\n%s\nexpected\n%s", f->out, expected);
    assert_int_equal(weft(f, "models hardware ./mine.yaml --pick class.0.values.0.high_number --pick "
                             "class.0.values.0.unit --pick class.0.values.1.fact --pick class.0.named_by"),
                     0);
    assert_string_equal(f->out, "900000\nps\n1\nswitch.chip\n");
}

static void every_class_is_shown(void **state) {
    struct fixture *f = *state;
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    for (uint32_t i = 0; i < weft_hardware_count(); i++) {
        const struct weft_hardware *h = weft_hardware_at(i, arena);
        char command[128];
        snprintf(command, sizeof command, "models hardware %s", h->name);
        assert_int_equal(weft(f, command), 0);
        assert_non_null(strstr(f->out, h->about));
        for (uint32_t k = 0; k < h->n; k++)
            if (!strstr(f->out, h->value[k].source) || !strstr(f->out, h->value[k].key))
                fail_msg("%s: %s: %s is not in %s", h->name, h->value[k].key, h->value[k].source, f->out);
    }
    assert_int_equal(weft(f, "models hardware"), 0);
    for (uint32_t i = 0; i < weft_hardware_count(); i++)
        assert_non_null(strstr(f->out, weft_hardware_name(i)));
    weft_arena_free(arena);
}

static void mistakes(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "models hardware tomahwk5"), 2);
    assert_non_null(strstr(f->err, "hardware: no class \"tomahwk5\"; did you mean \"tomahawk5\"?"));
    assert_int_equal(weft(f, "models hardware ideal"), 2);
    assert_non_null(strstr(f->err, "ideal is no product"));
    assert_int_equal(weft(f, "models hardware ./none.yaml"), 2);
    assert_non_null(strstr(f->err, "./none.yaml"));
    assert_int_equal(weft(f, "models switch --csv class"), 2);
    assert_non_null(strstr(f->err, "of weft models hardware only"));
}

static json_t *hardware_of(struct fixture *f, const char *command) {
    assert_int_equal(weft(f, command), 0);
    json_t *root = printed_json(f), *hardware = json_incref(json_object_get(root, "hardware"));
    json_decref(root);
    return hardware;
}

static void assert_class(json_t *hardware, size_t i, const char *what, const char *class, bool ideal) {
    json_t *row = json_array_get(hardware, i);
    assert_string_equal(json_string_value(json_object_get(row, "what")), what);
    assert_string_equal(json_string_value(json_object_get(row, "class")), class);
    assert_int_equal(json_is_true(json_object_get(row, "ideal")), ideal);
}

static void a_run_lists_its_hardware(void **state) {
    struct fixture *f = *state;
    json_t *hardware = hardware_of(f, "run s.yaml --variant own --json --quiet");
    assert_int_equal(json_array_size(hardware), 3);
    assert_class(hardware, 0, "switches", "mine.yaml", false);
    assert_class(hardware, 1, "hosts", "ideal", true);
    assert_class(hardware, 2, "links", "ideal", true);
    json_decref(hardware);
}

/// Results without the keys are of before there were classes: a setting says ideal. Those that have them are as they
/// were, whatever the default is now.
static void stored_runs_without_classes_are_ideal(void **state) {
    struct fixture *f = *state;
    char path[128], with[1 << 18];
    sqlite3 *db;
    assert_int_equal(weft(f, "run s.yaml --variant plain --quiet --out out"), 0);
    assert_int_equal(weft(f, "run out --quiet --out again"), 0);
    snprintf(path, sizeof path, "%s/out/results.sqlite", f->dir);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "DELETE FROM config WHERE path LIKE '%.chip'", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_int_equal(weft(f, "run out --quiet --out old"), 0);
    static const char ideal[] = "SELECT text FROM sources WHERE text LIKE '%.%=ideal' ORDER BY text";
    snprintf(path, sizeof path, "%s/again", f->dir);
    expect_rows(path, ideal, "");
    snprintf(path, sizeof path, "%s/old", f->dir);
    expect_rows(path, ideal, "fabric_node.chip=ideal\ninterface_node.chip=ideal\nswitch.chip=ideal");
    assert_int_equal(weft(f, "run again --pick digest --quiet"), 0);
    strcpy(with, f->out);
    assert_int_equal(weft(f, "run old --pick digest --quiet"), 0);
    assert_string_equal(f->out, with);
    snprintf(path, sizeof path, "%s/out/results.sqlite", f->dir);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    static const char none[] = "DELETE FROM config WHERE path IN ('host.nic', 'link.cable')";
    assert_int_equal(sqlite3_exec(db, none, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_int_equal(weft(f, "run out --quiet --out older"), 0);
    snprintf(path, sizeof path, "%s/older", f->dir);
    expect_rows(path, ideal, "");
    expect_rows(path, "SELECT value FROM config WHERE path = 'host.nic'", "ideal");
    assert_int_equal(weft(f, "run out --set hardware=typical --quiet --out typical"), 0); // the user may say another
    snprintf(path, sizeof path, "%s/typical", f->dir);
    expect_rows(path, "SELECT value FROM config WHERE path = 'host.nic'", "typical_nic");
}

/// A default that has changed since the run is set to what it was; one that the user had set stays his.
static void stored_runs_keep_their_defaults(void **state) {
    struct fixture *f = *state;
    char path[128];
    sqlite3 *db;
    assert_int_equal(weft(f, "run s.yaml --variant plain --quiet --out before"), 0);
    snprintf(path, sizeof path, "%s/before/results.sqlite", f->dir);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    static const char older[] =
        "UPDATE config SET value = '100us', \"default\" = '100us' WHERE path = 'interface_node.request_refresh';"
        "UPDATE config SET \"default\" = '1KB' WHERE path = 'host.mtu'";
    assert_int_equal(sqlite3_exec(db, older, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_int_equal(weft(f, "run before --quiet --out since"), 0);
    snprintf(path, sizeof path, "%s/since", f->dir);
    expect_rows(path, "SELECT text FROM sources WHERE name IS NULL AND text NOT LIKE 'hardware=%'",
                "interface_node.request_refresh=100us");
    expect_rows(path, "SELECT value FROM config WHERE path = 'interface_node.request_refresh'", "100us");
}

/// The NIC's power is assumed, and has a band in its class; that of a part that the file itself describes has none.
static void power_within_bands(void **state) {
    struct fixture *f = *state;
    write_text(f, "nic.yaml",
               "name: mine\nkind: nic\nabout: a NIC\nvalues:\n"
               "  rate: {typical: 400Gbps, basis: vendor, source: sheet}\n"
               "  watts: {low: 20, typical: 25, high: 40, basis: assumed, source: assumed}\n");
    write_text(f, "power.yaml",
               "base: star\nname: power\nfabric: {nic: {class: nic.yaml}, leaf: {name: box, rate: 51.2Tbps, "
               "watts: 500, source: assumed}}\n");
    write_text(f, "job.yaml", "workload: [{kind: incast, sources: host-1..7, dst: host-0, size: 64KB}]\n");
    assert_int_equal(weft(f, "versus job.yaml --hosts 8 --fabrics power.yaml,roce-ecmp --no-why --json --quiet"), 0);
    json_t *root = printed_json(f), *one;
    double nic = 0, box = 0;
    size_t i;
    json_array_foreach(json_object_get(root, "power_assumptions"), i, one) {
        double factor = json_number_value(json_object_get(one, "factor"));
        if (!strcmp(json_string_value(json_object_get(one, "part")), "mine")) nic += factor;
        if (!strcmp(json_string_value(json_object_get(one, "part")), "box")) box += factor;
    }
    assert_true(nic == 20. / 25 + 40. / 25 && box == 2.5);
    json_decref(root);
}

/// A number that comes from a class of hardware moves to the ends of the class's band; where the fabric's file sets
/// another value, and in the fabric without a class, it is halved and doubled if its help says assumed, else left
/// alone.
static void assumptions_within_bands(void **state) {
    struct fixture *f = *state;
    write_text(f, "chip.yaml",
               "name: chip\nkind: chip\nabout: a chip\nvalues:\n"
               "  processing: {low: 600ns, typical: 700ns, high: 1400ns, basis: vendor, source: sheet}\n"
               "  pfc.reaction: {low: 1ns, typical: 2ns, basis: vendor, source: sheet}\n");
    write_text(f, "banded.yaml", "base: star\nname: banded\nswitch: {chip: chip.yaml}\n");
    write_text(f, "set.yaml", "base: star\nname: set\nswitch: {chip: chip.yaml, processing: 701ns}\n");
    write_text(f, "job.yaml", "workload: [{kind: incast, sources: host-1..7, dst: host-0, size: 64KB}]\n");
    assert_int_equal(weft(f,
                          "versus job.yaml --hosts 8 --fabrics banded.yaml,set.yaml,star --assumptions --no-why --json "
                          "--quiet"),
                     0);
    json_t *root = printed_json(f);
    const json_t *list = json_object_get(root, "assumptions"), *one;
    double factors = 0;
    size_t i, banded = 0, reactions = 0;
    json_array_foreach(list, i, one) {
        const char *path = json_string_value(json_object_get(one, "path")),
                   *band = json_string_value(json_object_get(one, "band"));
        double factor = json_number_value(json_object_get(one, "factor"));
        if (!strcmp(path, "switch.pfc.reaction")) reactions += factor < 1; // it has no high
        if (strcmp(path, "switch.processing") != 0) {
            assert_true(*band || factor == 0.5 || factor == 2);
            continue;
        }
        assert_string_equal(band, "600ns to 1400ns of chip (vendor)");
        factors += factor;
        banded++;
    }
    assert_int_equal(banded, 2);
    assert_int_equal(reactions, 1);
    assert_true(factors > 600.0 / 700 + 2 - 1e-9 && factors < 600.0 / 700 + 2 + 1e-9);
    json_decref(root);
    assert_int_equal(weft(f, "versus job.yaml --hosts 8 --fabrics banded.yaml,star --assumptions --no-why --quiet"), 0);
    assert_non_null(strstr(f->out, "at the ends of its hardware's band, or without one halved and doubled: "));
    assert_non_null(strstr(f->out, "switch.processing high within 600ns to 1400ns of chip (vendor): "));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_letter),
        cmocka_unit_test(every_class_is_shown),
        cmocka_unit_test(mistakes),
        cmocka_unit_test(a_run_lists_its_hardware),
        cmocka_unit_test(stored_runs_without_classes_are_ideal),
        cmocka_unit_test(stored_runs_keep_their_defaults),
        cmocka_unit_test(assumptions_within_bands),
        cmocka_unit_test(power_within_bands),
    };
    return cmocka_run_group_tests(tests, setup, remove_folder);
}
