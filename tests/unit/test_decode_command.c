// SPDX-License-Identifier: Apache-2.0
// weft decode as a user calls it: tables, one packet after another, JSON and CSV of the same rows, and mistakes.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "command.h"

static int make_folder(void **state) {
    static struct fixture f;
    char command[8192];
    strcpy(f.dir, "/tmp/weft-decode-XXXXXX");
    *state = &f;
    if (!mkdtemp(f.dir)) return -1;
    snprintf(command, sizeof command, "cp %s/tests/data/linux-rxe-rocev2.pcap %s/a.pcap", getenv("WEFT_ROOT"), f.dir);
    if (system(command)) return -1;
    snprintf(command, sizeof command, "head -c 5000 %s/a.pcap >%s/cut.pcap", f.dir, f.dir);
    return system(command);
}

static unsigned lines(const char *text) {
    unsigned n = 0;
    for (; *text; text++)
        n += *text == '\n';
    return n;
}

static json_t *json_of(struct fixture *f, const char *arguments) {
    json_error_t error;
    if (weft(f, arguments)) fail_msg("%s", f->err);
    json_t *json = json_loads(f->out, 0, &error);
    if (!json) fail_msg("%s: %s", error.text, f->out);
    return json;
}

static void all_forms(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "decode a.pcap"), 0);
    assert_non_null(strstr(f->out, "a.pcap: 120 frames, 12KB, "));
    assert_non_null(strstr(f->out, "\n120 RoCE, of them 0 CNP; 0 pause; 0 LLDP; 0 other\n"));
    assert_non_null(strstr(f->out, "WRITE 59\n      resent 1\n"));
    json_t *json = json_of(f, "decode a.pcap --json");
    assert_int_equal(json_integer_value(json_object_get(json_object_get(json, "capture"), "frames")), 120);
    assert_int_equal(json_array_size(json_object_get(json, "conversations")), 2);
    assert_int_equal(json_array_size(json_object_get(json, "warnings")), 0);
    json_decref(json);
    assert_int_equal(weft(f, "decode a.pcap --csv conversations"), 0);
    assert_int_equal(lines(f->out), 3);
    assert_int_equal(strncmp(f->out, "number,interface,src,dst,qp,peer,", 33), 0);
}

static void followed(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "decode a.pcap --follow 0x12"), 0);
    assert_int_equal(lines(f->out), 61);
    json_t *json = json_of(f, "decode a.pcap --follow 18 --json");
    assert_int_equal(json_array_size(json_object_get(json, "packets")), 60);
    json_decref(json);
    assert_int_equal(weft(f, "decode a.pcap --follow 18 --csv packets"), 0);
    assert_int_equal(lines(f->out), 61);
    assert_int_equal(weft(f, "decode a.pcap --follow 3"), 0);
    assert_string_equal(f->out, "no packet to queue pair 3 in 120 frames\n");
}

static void cut(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "decode cut.pcap"), 0);
    assert_non_null(strstr(f->out, "warning: the file ends within the record that begins at byte "));
    assert_int_equal(weft(f, "decode cut.pcap --follow 17 --csv packets"), 0);
    assert_non_null(strstr(f->err, "cut.pcap: the file ends within the record that begins at byte "));
}

static void mistakes(void **state) {
    static const struct {
        const char *arguments, *why;
    } row[] = {
        {"decode", "decode: expected a FILE"},
        {"decode absent.pcap", "absent.pcap: cannot be read: No such file or directory"},
        {"decode .", ".: cannot be read: Is a directory"},
        {"decode absent.pcap --follow 18 --json", "absent.pcap: cannot be read"},
        {"decode absent.pcap --follow 18 --csv packets", "absent.pcap: cannot be read"},
        {"decode a.pcap --csv conversation", "no table of results \"conversation\"; "},
        {"decode a.pcap --follow 18 --csv rates", "expected packets with --follow"},
        {"decode a.pcap --csv packets", "expected packets with --follow"},
        {"decode a.pcap --json --csv rates", "--json, --csv and --pick: expected one of them"},
        {"decode a.pcap --follow -1", "--follow"},
        {"decode a.pcap --follow 16777216", "--follow 16777216: expected the number of a queue pair"},
        {"decode a.pcap --interval 10", "10"},
        {"decode a.pcap --rate 10", "10"},
        {"decode a.pcap --conversations 0", "--conversations"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        assert_int_equal(weft(f, row[i].arguments), 2);
        if (!strstr(f->err, row[i].why)) fail_msg("%s: \"%s\" is not in: %s", row[i].arguments, row[i].why, f->err);
        assert_string_equal(f->out, "");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_forms),
        cmocka_unit_test(followed),
        cmocka_unit_test(cut),
        cmocka_unit_test(mistakes),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
