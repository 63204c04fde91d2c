# SPDX-License-Identifier: Apache-2.0
# The front door. Meson does the work; `make help` lists what there is.
BUILD ?= build
MESON_OPTIONS ?=
DEMO_SCENARIO ?= scenarios/foundation/demo.yaml
DEMO_ARGS ?=
FUZZ_SECONDS ?= 20
RANDOM_SEEDS ?= 5000
RANDOM_FIRST ?= 1
RANDOM_JOBS ?= 2
PREFIX ?= /usr/local
PART ?= 1/1
DESTDIR ?=
BENCH_ARGS ?= engine
CALIBRATE_ARGS ?= --cases 40 --hosts 16,64,128,256,1024

WEFT := $(BUILD)/weft
, := ,
# A sanitizer's finding ends the test.
SANITIZE := -Dtests=enabled -Doptimization=1 -Db_lundef=false -Dc_args=-fno-omit-frame-pointer
export ASAN_OPTIONS ?= halt_on_error=1:detect_leaks=1
export UBSAN_OPTIONS ?= halt_on_error=1:print_stacktrace=1
export TSAN_OPTIONS ?= halt_on_error=1:second_deadlock_stack=1

.DEFAULT_GOAL := build
.NOTPARALLEL:
.PHONY: build build-tests mpi dist deb wheel tarball install setup setup-tests help demo live-demo test test-long sanitize sanitize-address sanitize-thread arm64 random fuzz mutation \
        bench format format-check lint readme calibrate figures choosing validation hardware book moving clean

# The summary, not meson, decides: it also counts a test that ended before it reported.
# $(call run-tests,BUILD_DIR,MESON_TEST_ARGUMENTS)
define run-tests
rm -f $(1)/meson-logs/testlog.json
meson test -C $(1) --no-rebuild $(2) || true
tools/test-summary $(1)
endef

# $(call build-in,BUILD_DIR,MESON_OPTIONS)
define build-in
test -f $(1)/build.ninja || meson setup $(1) $(2)
ninja -C $(1)
endef

build: setup ## build the program and leave it at build/weft
	@test -f $(BUILD)/build.ninja || meson setup $(BUILD) $(MESON_OPTIONS)
	@ninja -C $(BUILD) weft

mpi: build ## build build/weft-mpi too, which runs one scenario over several processes or machines (Open MPI)
	@tools/setup mpi
	@meson configure $(BUILD) -Dmpi=enabled
	@ninja -C $(BUILD) weft-mpi

setup: ## install what is missing (apt, as root or by sudo)
	@tools/setup

setup-tests: setup
	@tools/setup tests

install: build ## install program, library, headers and schema below PREFIX (/usr/local), or DESTDIR/PREFIX
	@tools/install $(BUILD) $(PREFIX) $(if $(DESTDIR),$(abspath $(DESTDIR)))

dist: ## the source tarball of this commit, in build-dist/
	@tools/dist tarball $(BUILD)-dist

deb: ## Debian packages of this commit, in build-dist/: program, library, development files, Python, documentation
	@tools/setup deb
	@tools/dist deb $(BUILD)-dist

wheel: ## build-portable/: a wheel for pip and a tarball, with all libraries, for any Linux of glibc 2.31 or newer; SUITE=bookworm: 2.36
	@tools/setup portable
	@tools/portable $(BUILD)-portable

tarball: wheel ## the tarball that make wheel builds beside the wheel

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' Makefile | awk -F '|' '{ printf "make %-18s%s\n", $$1, $$2 }'

demo: ## an incast among 1024 GPUs under PFC, DCQCN and source flow control; V=1: show the installer and the compiler
	@test -f $(DEMO_SCENARIO) || { echo "demo: there is no $(DEMO_SCENARIO)" >&2; exit 2; }
	@tools/step "installing what is missing" $(MAKE) -s setup
	@tools/step "building weft" $(MAKE) -s build
	@$(WEFT) compare $(DEMO_SCENARIO) --brief --no-hints --out $(BUILD)/demo --force $(DEMO_ARGS)
	@$(WEFT) report $(BUILD)/demo --out $(BUILD)/demo.html --force --quiet
	@printf '%s\n' '' 'The page $(BUILD)/demo.html shows it in pictures. What to try next:' \
	    '  $(WEFT) why $(BUILD)/demo 3 --variant 5MB/pfc   where the time of a slow flow went' \
	    '  $(WEFT) verify $(DEMO_SCENARIO)                 what we claim of it, judged' \
	    '  $(WEFT) timeline $(BUILD)/demo --variant 5MB/pfc   who paused whom, and because of what' \
	    '  docs/start/   ten minutes each for operators, architects, ML engineers, researchers, ...'

# The build folder of `make` may have been made without what only tests need.
build-tests: build
	@tools/setup tests
	@meson configure $(BUILD) -Dtests=enabled
	@ninja -C $(BUILD)

test: build-tests ## run every test but the long ones
	@tools/setup peers || echo "make test: tests that need them are skipped"
	@$(MAKE) -s mpi || echo "make test: the tests over several processes are skipped"
	@tools/fetch-lldpd $(BUILD)/lldpd || echo "make test: the test with lldpd is skipped"
	@$(call run-tests,$(BUILD),--no-suite long)

# Random scenarios run under the sanitizers too.
test-long: export WEFT_SANITIZED = $(abspath $(BUILD)-asan/weft)
test-long: build-tests ## run the long tests; PART=I/N: a part of them
	@tools/long-part $(BUILD) $(PART) >/dev/null
	@test -f $(BUILD)-asan/build.ninja || meson setup $(BUILD)-asan -Db_sanitize=address$(,)undefined $(SANITIZE)
	@ninja -C $(BUILD)-asan weft
	@$(MAKE) -s mpi || echo "make test-long: the tests over several processes are skipped"
	@$(call run-tests,$(BUILD),--suite long $$(tools/long-part $(BUILD) $(PART)))

arm64: ## build for arm64, and by emulation compare digests and run tests of bytes, numbers and threads
	@tools/setup arm64
	@tools/cross-arm64 $(BUILD)-arm64 determinism engine fct histogram json peers units wire_frame wire_gnet wire_headers wire_lldp wire_sfcm

sanitize: sanitize-address sanitize-thread ## run the tests under the address, undefined and thread sanitizers

sanitize-address: setup-tests ## run the tests under the address and undefined sanitizers
	@$(call build-in,$(BUILD)-asan,-Db_sanitize=address$(,)undefined $(SANITIZE))
	@$(call run-tests,$(BUILD)-asan,--no-suite long --no-suite lint --timeout-multiplier 8)

sanitize-thread: setup-tests ## run the tests of the engine under the thread sanitizer
	@$(call build-in,$(BUILD)-tsan,-Db_sanitize=thread $(SANITIZE))
	@$(call run-tests,$(BUILD)-tsan,--suite threads --timeout-multiplier 16)

random: setup ## run RANDOM_SEEDS (5000) random scenarios from RANDOM_FIRST (1) under the sanitizers, RANDOM_JOBS (2) at a time; resumable
	@test -f $(BUILD)-asan/build.ninja || meson setup $(BUILD)-asan -Db_sanitize=address$(,)undefined $(SANITIZE)
	@ninja -C $(BUILD)-asan weft
	@WEFT=$(abspath $(BUILD)-asan/weft) WEFT_RANDOM_RANKS=1000000000 WEFT_RANDOM_JOURNAL=$(abspath $(BUILD)-asan/random_scenarios) \
	WEFT_RANDOM_JOBS=$(RANDOM_JOBS) nice -n 19 tests/tools/test_random_scenarios.py $(RANDOM_SEEDS) $(RANDOM_FIRST)

fuzz: setup ## run every fuzz target for FUZZ_SECONDS (20) each; needs clang
	@tools/setup clang
	@test -f $(BUILD)-fuzz/build.ninja || CC=clang meson setup $(BUILD)-fuzz -Dfuzz=true -Db_lundef=false
	@ninja -C $(BUILD)-fuzz
	@tools/fuzz $(BUILD)-fuzz $(FUZZ_SECONDS)

mutation: build-tests ## change the core in 300 places, one at a time, and see whether tests notice (about 35 minutes of processor time; resumable)
	@nice -n 19 tools/cover $(BUILD)
	@nice -n 19 tools/mutate $(BUILD)

bench: build ## measure the engine: packet-hops per CPU second, memory, phases
	$(WEFT) bench $(BENCH_ARGS)

format: ## rewrite every C file with clang-format 14
	@tools/format

format-check: ## say which files clang-format 14 would change
	@tools/format --check || test $$? -eq 77

lint: build format-check ## check layers by include and by link, includes, licence lines, file sizes and words
	@tools/check-layers . $(BUILD)
	@tools/check-includes
	@tools/check-names

figures: build ## run the scenarios of the studies' figures and draw them (about an hour); FIGURES=dsf/sizes_all_reduce: one, FIGURES=--kept: only draw
	@tools/setup figures
	@tools/figures $(WEFT) $(FIGURES)
	@$(MAKE) -s choosing

live-demo: build ## attach real hosts to simulated networks: soft RoCE, DCTCP, a DSF (five minutes; docs/live.md)
	@WEFT=$(WEFT) WEFT_LIVE_FOLDER=$(abspath $(BUILD))/live-demo python3 examples/live/demo.py

calibrate: build ## measure intervals of weft estimate and write calibration/estimate.txt (an hour); CALIBRATE_ARGS="--cases 5 --hosts 16,64,128": minutes
	@tools/calibrate $(WEFT) $(CALIBRATE_ARGS)
	@$(MAKE) -s build
	@tools/calibrate $(WEFT) --coverage --seed fresh --hosts 16,64,128

choosing: build ## run the commands of docs/choosing.md; write what they print, the answers and the pictures (three minutes)
	@tools/setup figures
	@tools/choosing $(WEFT)

moving: build ## draw the moving picture of README.md from the demo's first run; needs chromium
	@tools/setup peers
	@tools/moving $(WEFT) $(DEMO_SCENARIO) docs/report/motion.svg 5MB/pfc

validation: build-tests ## run what weft is compared with and write the numbers of docs/validation.md (three minutes)
	@tools/setup peers
	@tools/validation $(WEFT)

hardware: build ## write the numbers of docs/hardware.md: weft beside measured clusters, NICs and boxes (five minutes); TABLES=DIR: with tables of your own
	@tools/hardware $(if $(TABLES),--tables $(TABLES)) $(WEFT)

readme: build ## write what the program prints now into README.md and docs/
	@tools/readme $(WEFT)
	@tools/validation --cheap $(WEFT)

# `figures` ends with `choosing`. Each part says what it took, and the last line what all of them did.
book: build ## write every number of README and docs anew: figures, choosing, validation, hardware, readme (an hour and a quarter, the sum of its parts)
	@begun=$$(date +%s); for part in figures validation hardware readme; do \
	    from=$$(date +%s); $(MAKE) -s $$part || exit 1; echo "make book: $$part took $$(($$(date +%s) - from)) s"; done; \
	echo "make book: $$(($$(date +%s) - begun)) s in all"

clean: ## remove every build directory
	rm -rf $(BUILD) $(BUILD)-asan $(BUILD)-tsan $(BUILD)-fuzz
