#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tools of this repository find what they are there to find."""
import importlib.machinery
import importlib.util
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

TOOLS = Path(os.environ["WEFT_ROOT"]) / "tools"
SPDX = "// SPDX-License-Identifier: Apache-2.0\n"


def run(tool, *arguments):
    done = subprocess.run([TOOLS / tool, *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


class Summary(unittest.TestCase):
    def summary(self, *programs):
        with tempfile.TemporaryDirectory() as build:
            (Path(build) / "meson-logs").mkdir()
            log = Path(build) / "meson-logs" / "testlog.json"
            rows = [dict(name="t", stdout=out, stderr="", result=result, returncode=0) for out, result in programs]
            log.write_text("".join(json.dumps(row) + "\n" for row in rows))
            status, text = run("test-summary", build)
            self.printed = text.splitlines()
            return status, self.printed[-1]

    def test_counts_functions_and_programs(self):
        cmocka = "[ RUN      ] a\n[       OK ] a\n[ RUN      ] b\n[       OK ] b\n[ RUN      ] c\n[  SKIPPED ] c\n"
        self.assertEqual(self.summary((cmocka, "OK"), ("hello", "OK")), (0, "3 passed, 0 failed, 1 skipped"))

    def test_says_why_a_test_was_skipped(self):
        self.summary(("skipped: there is no tshark\n", "SKIP"), ("[ RUN      ] a\n[       OK ] a\n", "OK"))
        self.assertEqual(self.printed[0], "skipped: t: there is no tshark")
        self.summary(("[ RUN      ] a\nskipped: no program\n[  SKIPPED ] a\n", "OK"))
        self.assertEqual(self.printed[0], "skipped: t: no program")
        self.summary(("", "SKIP"))
        self.assertEqual(self.printed[0], "skipped: t: it does not say why")

    def test_failed_function(self):
        cmocka = "[ RUN      ] a\n[  FAILED  ] a\n[ RUN      ] b\n[       OK ] b\n[  FAILED  ] a\n"
        self.assertEqual(self.summary((cmocka, "FAIL")), (1, "1 passed, 1 failed"))

    def test_crash_in_a_function_and_after_the_last(self):
        self.assertEqual(self.summary(("[ RUN      ] a\n", "ERROR")), (1, "0 passed, 1 failed"))
        self.assertEqual(self.summary(("[ RUN      ] a\n", "OK")), (1, "0 passed, 1 failed"))
        self.assertEqual(self.summary(("[ RUN      ] a\n[       OK ] a\n", "FAIL")), (1, "1 passed, 1 failed"))
        self.assertEqual(self.summary(("", "TIMEOUT")), (1, "0 passed, 1 failed"))

    def test_nothing_ran(self):
        self.assertEqual(self.summary(), (1, "0 passed, 0 failed"))
        with tempfile.TemporaryDirectory() as build:
            self.assertEqual(run("test-summary", build)[0], 1)


class LongParts(unittest.TestCase):
    """Parts of make test-long: together all long tests, each once."""

    def part(self, text):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        meson = Path(folder.name) / "meson" # as meson test --list prints tests
        meson.write_text("#!/bin/sh\nfor i in 1 2 3 4 5 6 7; do echo \"weft:golden+long / test_$i\"; done\n")
        meson.chmod(0o755)
        return subprocess.run([TOOLS / "long-part", "build", text], capture_output=True, text=True, check=False,
                              env={**os.environ, "PATH": f"{folder.name}:{os.environ['PATH']}"})

    def test_parts_are_all_of_it(self):
        names = [self.part(f"{i}/3").stdout.split() for i in (1, 2, 3)]
        self.assertEqual(names[0], ["test_1", "test_4", "test_7"])
        self.assertEqual(sorted(sum(names, [])), [f"test_{i}" for i in range(1, 8)])
        self.assertEqual(len(self.part("1/1").stdout.split()), 7)

    def test_what_is_no_part(self):
        for text in ("0/3", "4/3", "3", "x", "1/x", "", "1/2/3", "/3", "3/"):
            done = self.part(text)
            self.assertEqual((done.returncode, done.stdout), (2, ""), text)
            self.assertIn("expected I/N", done.stderr)


class Names(unittest.TestCase):
    def faults(self, text, name="src/cc/x.c"):
        with tempfile.TemporaryDirectory() as root:
            path = Path(root) / name
            path.parent.mkdir(parents=True)
            path.write_text(text)
            status, out = run("check-names", root)
            self.assertEqual(status, 1 if len(out.splitlines()) > 1 else 0)
            return [line.split(": ", 1) for line in out.splitlines()[:-1]]

    def test_statics_of_one_word(self):
        for text in ("static void add(struct x *x) {\n}\n", "static inline uint8_t add(void) {\n    return 0;\n}\n",
                     "static enum weft_status *add(int n);\n", "static const struct weft_result_value *\nadd(int n) {\n}\n",
                     "static void add(struct x *x,\n                int n) {\n}\n",
                     "static __attribute__((noinline, format(printf, 1, 2))) bool add(int n) {\n}\n"):
            with self.subTest(text=text):
                self.assertEqual([fault for _, fault in self.faults(text)],
                                 ["static function 'add'; expected its noun as well, as in add_flow"])
        for text in ("static void add_flow(void) {\n    add(1);\n}\n", "void add(void);\n", "int main(int argc, char **argv) {\n}\n",
                     "static const struct ops ops = {.add = add(1)};\n", "// static void add(void) {\n",
                     'static const char text[] = "static void add(int n) {";\n', "#define ADD \\\nstatic void add(void) {\n",
                     "struct ops {\n    void (*add)(int n);\n};\n"):
            with self.subTest(text=text):
                self.assertEqual(self.faults(text), [])

    def test_names_that_say_nothing(self):
        self.assertEqual([place for place, _ in self.faults("// the_case\nint f(int the_case) {\n}\n")], ["src/cc/x.c:2"])
        self.assertEqual(self.faults("int f(int case_at) {\n}\n"), [])

    def test_parameters(self):
        eight = ", ".join("int a[3]" for _ in range(8))
        for head in ("void weft_add(%s) {\n}\n", "static void add_flow(%s) {\n}\n", "bool weft__add(%s);\n",
                     "struct ops {\n    void (*add)(%s);\n};\n", "static void (*const all[])(%s) = {0};\n",
                     "typedef int add_fn(%s);\n"):
            with self.subTest(head=head):
                self.assertEqual(self.faults(head % eight), [])
                self.assertEqual(self.faults(head % (eight + ", void (*each)(int a, int b)"))[0][1].split(" has ")[1],
                                 "9 parameters; expected at most 8, and a struct of what belongs together")
        self.assertEqual(self.faults(f"void weft_add({eight},\n              int n);\n", "include/weft/x.h")[0][0], "include/weft/x.h:1")
        self.assertEqual(self.faults("void weft_add(void) {\n    add_flow(%s);\n}\n" % ", ".join("12345678 9")), [])

    def test_nothing_to_check(self):
        with tempfile.TemporaryDirectory() as root:
            self.assertEqual(run("check-names", root)[0], 1)


class Layers(unittest.TestCase):
    def faults(self, name, text, guarded=True):
        with tempfile.TemporaryDirectory() as root:
            path = Path(root) / name
            path.parent.mkdir(parents=True)
            path.write_text(text + "#pragma once\n" * (guarded and name.endswith(".h")))
            status, out = run("check-layers", root)
            self.assertEqual(status, 1 if len(out.splitlines()) > 1 else 0)
            return [line.split(": ")[0].rpartition(":")[2] for line in out.splitlines()[:-1]]

    def test_includes(self):
        for name, header, allowed in [
            ("src/cc/x.c", "weft/cc.h", True), ("src/cc/x.c", "base/json.h", True), ("src/cc/x.c", "cc/y.h", True),
            ("src/cc/x.c", "engine/engine.h", False), ("src/cc/x.c", "aqm/y.h", False), ("src/cc/x.c", "y.h", True),
            ("src/link/x.c", "engine/engine.h", True), ("src/base/x.c", "engine/engine.h", False),
            ("src/box/dsf/x.c", "link/port.h", True), ("src/link/x.c", "box/box.h", False),
            ("src/box/dsf/x.c", "box/dsf/y.h", True), ("src/box/dsf/x.c", "box/tin/y.h", False),
            ("src/engine/x.c", "link/port.h", False), ("src/sim/x.c", "box/tin/y.h", False),
            ("src/sim/x.c", "box/box.h", True), ("src/box/tin/x.c", "sim/y.h", False),
            ("src/engine/x.c", "base/bits.h", True), ("src/engine/x.c", "weft/run.h", True),
            ("src/engine/x.h", "weft/outcome.h", False), ("src/engine/x.c", "weft/topology.h", False),
            ("src/report/x.c", "box/results.h", True), ("src/report/x.c", "box/tin/y.h", False),
            ("src/scenario/x.c", "box/control.h", True), ("src/control/x.c", "box/control.h", False), ("src/control/dsf/x.c", "box/control.h", False),
            ("src/base/x.c", "models.def", True), ("src/cc/x.c", "models.def", False),
            ("include/weft/x.h", "weft/types.h", True), ("include/weft/x.h", "weft/param.h", False),
            ("src/cc/x.h", "weft/param.h", False), ("src/cc/x.c", "weft/param.h", True), ("include/weft/x.h", "base/json.h", False),
            ("cli/x.c", "cli.h", True), ("cli/x.c", "weft/sim.h", True), ("cli/x.c", "engine/engine.h", False),
        ]:
            with self.subTest(name=name, header=header):
                self.assertEqual(self.faults(name, SPDX + f'#include "{header}"\n'), [] if allowed else ["2"])

    def test_what_the_engine_is_not_to_know(self):
        for line in ("if (packet->kind == WEFT_PACKET_PFC) return;", "p.kind = 0;", "drop(w, WEFT_DROP_NO_ROUTE);",
                     "box == WEFT_BOX_DSF"):
            with self.subTest(line=line):
                self.assertEqual(self.faults("src/engine/x.c", SPDX + line + "\n"), ["2"])
                self.assertEqual(self.faults("src/link/x.c", SPDX + line + "\n"), [])
        self.assertEqual(self.faults("src/engine/x.c", SPDX + "// Of every kind.\nassert(n <= WEFT_PACKET_NODES);\n"), [])

    def test_rooms_that_know_no_kind_of_box(self):
        for name, allowed in [("src/report/x.c", False), ("src/sim/x.c", False), ("src/control/x.c", False),
                              ("src/control/dsf/x.c", True), ("src/box/tin/x.c", True), ("cli/topo.c", False),
                              ("cli/trace_control.c", True)]:
            with self.subTest(name=name):
                self.assertEqual(self.faults(name, SPDX + "box == WEFT_BOX_TIN\n"), [] if allowed else ["2"])
                self.assertEqual(self.faults(name, SPDX + "kind < WEFT_BOXES\n"), [])

    def test_counters_of_ports_are_not_walked_by_hand(self):
        for line in ("sum += o->counters[i].drops;", "c = r.outcome->counters + port * 8;", "t.counters [port]"):
            with self.subTest(line=line):
                self.assertEqual(self.faults("src/box/switch/x.c", SPDX + line + "\n"), ["2"])
                self.assertEqual(self.faults("include/weft/outcome.h", SPDX + line + "\n"), [])
        self.assertEqual(self.faults("src/box/x.c", SPDX + "counters[0] = weft_outcome_at(o, port, 3);\n"), [])

    def test_headers_are_guarded(self):
        self.assertEqual(self.faults("src/cc/x.h", SPDX + "int x;\n", guarded=False), ["1"])
        self.assertEqual(self.faults("src/cc/x.h", SPDX + "#pragma once\n", guarded=False), [])

    def test_files_that_comments_name_are_in_the_tree(self):
        for named, found in [("src/cc/x.c", True), ("cc/x.c", True), ("src/*/x.c", True), ("src/cc/y.c", False), ("cc/y.h", False), ("src/cc/*_y.c", False),
                             ("include/weft/y.h", False), ("weft/y.h", False), ("include/uapi/linux/y.h", True), ("src/graph/y.h", True), ("src/cc/mine.c", True)]:
            with self.subTest(named=named):
                self.assertEqual(self.faults("src/cc/x.c", SPDX + f"// As in {named}.\n"), [] if found else ["2"])

    def link_faults(self, files, library="libweft.so.0.1.0"):
        """What check-layers says of objects built from `files`, {name: text}."""
        with tempfile.TemporaryDirectory() as root:
            entries = []
            for name, text in files.items():
                path = Path(root) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(SPDX + text + "#pragma once\n" * name.endswith(".h"))
            for name in [name for name in files if name.endswith(".c")]:
                path = Path(root) / name
                object_name = f"{library if name.startswith('src/') else 'weft'}.p/{path.stem}.o"
                entries.append({"directory": f"{root}/build", "output": object_name, "file": f"../{name}"})
                (Path(root) / "build" / object_name).parent.mkdir(parents=True, exist_ok=True)
                subprocess.run(["cc", "-w", f"-I{root}/src", f"-I{root}/include", "-c", path, "-o", Path(root) / "build" / object_name], check=True)
            (Path(root) / "build").mkdir(exist_ok=True)
            (Path(root) / "build" / "compile_commands.json").write_text(json.dumps(entries))
            status, out = run("check-layers", root, f"{root}/build")
            self.assertEqual(status, 1 if len(out.splitlines()) > 1 else 0)
            return out.splitlines()[:-1]

    def test_calls(self):
        call, give = "int weft_f(void); int {}(void) {{ return weft_f(); }}\n", "int weft_f(void) { return 1; }\n"
        for caller, giver, allowed in [("src/sim/x.c", "src/box/y.c", True), ("src/box/x.c", "src/sim/y.c", False),
                                       ("src/cc/x.c", "src/base/y.c", True), ("src/cc/x.c", "src/cc/y.c", True),
                                       ("src/box/tin/x.c", "src/box/y.c", True), ("src/box/tin/x.c", "src/box/dsf/y.c", False),
                                       ("cli/x.c", "src/sim/y.c", True)]:
            with self.subTest(caller=caller, giver=giver):
                faults = self.link_faults({caller: call.format("caller"), giver: give})
                if allowed:
                    self.assertEqual(faults, [])
                else:
                    self.assertEqual(len(faults), 1)
                    self.assertIn(f"{caller}: weft_f of {giver}: ", faults[0])

    def test_data_of_another_room_and_private_names(self):
        table = {"src/box/x.c": "extern const int weft_table[]; int at(int i) { return weft_table[i]; }\n",
                 "src/report/y.c": "const int weft_table[] = {1, 2};\n"}
        self.assertIn("src/box/x.c: weft_table of src/report/y.c: ", self.link_faults(table)[0])
        private = {"cli/x.c": "int weft__f(void); int g(void) { return weft__f(); }\n", "src/sim/y.c": "int weft__f(void) { return 1; }\n"}
        self.assertIn("cli/x.c: weft__f of src/sim/y.c: ", self.link_faults(private)[0])

    def test_only_the_reader_of_a_list_reaches_what_it_lists(self):
        reader = '#include "models.def"\nextern int weft__cc_none; int *{}(void) {{ return &weft__cc_none; }}\n'
        files = {"src/models.def": "#define WEFT_MODEL(a, b)\nWEFT_MODEL(cc, none)\n", "src/cc/none.c": "int weft__cc_none = 1;\n"}
        self.assertEqual(self.link_faults(files | {"src/base/x.c": reader.format("f")}), [])
        other = {"src/base/x.c": reader.split("\n")[1].format("f")}
        self.assertIn("src/base/x.c: weft__cc_none of src/cc/none.c: ", self.link_faults(files | other)[0])

    def test_objects_are_found_whatever_the_version(self):
        files = {"src/box/x.c": "int weft_f(void); int g(void) { return weft_f(); }\n", "src/sim/y.c": "int weft_f(void) { return 1; }\n"}
        for library in ("libweft.so.0.1.0", "libweft.so.12.3", "libweft.so"):
            self.assertEqual(len(self.link_faults(files, library)), 1, library)

    def test_a_build_without_objects_is_no_answer(self):
        self.assertIn("no object of it is built", self.link_faults({"src/cc/x.h": "\n"})[0])

    def test_a_header_with_one_reader_lives_with_it(self):
        header, include = {"include/weft/x.h": "\n"}, '#include "weft/x.h"\n'
        self.assertIn("include/weft/x.h: only src/cc reads it", "".join(self.link_faults(header | {"src/cc/y.c": include, "src/cc/z.c": include})))
        read = {"src/cc/v.c": '#include "weft/z.h"\n', "cli/w.c": '#include "weft/z.h"\n'}
        for other in ({"src/link/z.c": include}, {"cli/z.c": include}, read | {"include/weft/z.h": include}):
            with self.subTest(other=list(other)):
                self.assertEqual(self.link_faults(header | {"src/cc/y.c": include} | other), [])

    def test_the_table_of_rooms_has_no_circle(self):
        loader = importlib.machinery.SourceFileLoader("check_layers", str(TOOLS / "check-layers"))
        checks = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_layers", loader))
        loader.exec_module(checks)
        self.assertIsNone(checks.circle(checks.ROOMS))
        self.assertEqual(checks.circle({"a": {"b"}, "b": {"c/d"}, "c/d": set(), "c": {"a"}}), ["a", "b", "c/d", "c", "a"])

    def test_licence_size_words_and_paths(self):
        self.assertEqual(self.faults("src/cc/x.c", "int x;\n"), ["1"])
        self.assertEqual(self.faults("src/cc/x.c", SPDX + "int x;\n" * 799), [])
        self.assertEqual(self.faults("src/cc/x.c", SPDX + "int x;\n" * 800), ["801"])
        self.assertEqual(self.faults("docs/x.yaml", "# " + SPDX + "a: 1 # TO" "DO\n"), ["2"])
        self.assertEqual(self.faults("docs/x.md", "<!-- " + SPDX + "see /ho" "me/someone\n"), ["2"])


if __name__ == "__main__":
    unittest.main()
