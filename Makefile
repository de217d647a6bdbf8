# SPDX-License-Identifier: Apache-2.0
# Corral's front door: a thin layer over Meson. Each kind of build has a directory of its own.
#
#   make               build/corral (release), build/firmware/core0.elf and core1.elf
#   make run           the demo on the built-in virtual board (ARGS="--seconds 5" adds options)
#   make test          every test, on an ASan and UBSan build; the last line is the count (ARGS="NAME..." picks)
#   make test-kernel   the Linux driver in a virtual machine (part of make test; ARGS="SCENARIO..." picks)
#   make test-kernel-debug  the same on a kernel with KASAN, lockdep and kmemleak, which it builds first (minutes)
#   make install       honours DESTDIR and prefix
#   make bench         the benchmarks, on a release build
#   make fuzz          each fuzz target for SECONDS (60)
#   make soak          long runs on slow terminals, SECONDS (60) each; some minutes, and no part of make test
#   make lint          layers, documents, formatting, clang-tidy: zero findings
#   make format        clang-format over the tree
#   make test-fresh    the README's commands in a fresh Debian system (root, debootstrap)
#   make mutants       each known defect in tests/mutants must be noticed by its test (ARGS="NAME..." picks)
#   make clean         removes every build directory
#
# The first three install what a Debian 12 machine lacks (tools/install-deps); CORRAL_NO_INSTALL=1 forbids it.

MESON ?= meson
NINJA ?= ninja
ARGS ?=
SECONDS ?= 60
prefix ?= /usr/local

# Warnings are errors where nobody is there to read them.
WERROR = $(if $(CI),true,false)
SANITIZE = -Dbuildtype=debugoptimized -Db_sanitize=address,undefined -Db_lundef=false

.PHONY: all run test test-kernel test-kernel-debug install bench fuzz soak lint format test-fresh mutants clean deps-run deps-test deps-lint
.DEFAULT_GOAL := all

all: build/build.ninja
	@$(NINJA) -C build

run: all
	build/corral demo $(ARGS)

test: build-test/build.ninja
	@$(NINJA) -C build-test
	@tools/run-tests build-test $(ARGS)

test-kernel: build-test/build.ninja
	@$(NINJA) -C build-test corral
	@python3 tests/kernel/run.py build-test/corral build-test/kernel $(ARGS)

test-kernel-debug: build-test/build.ninja
	@tools/install-deps debug-kernel
	@tools/build-debug-kernel build-debug-kernel
	@$(NINJA) -C build-test corral
	@python3 tests/kernel/run.py --kernel build-debug-kernel/linux --scale 12 build-test/corral build-test/kernel $(ARGS)

install: all
	@$(MESON) configure build -Dprefix=$(abspath $(prefix))
	@DESTDIR=$(DESTDIR) $(MESON) install -C build --quiet

bench: build-bench/build.ninja
	@$(NINJA) -C build-bench
	@$(MESON) test -C build-bench --no-rebuild --benchmark --verbose $(ARGS)

fuzz: build-fuzz/build.ninja
	@$(NINJA) -C build-fuzz
	@tools/run-fuzz build-fuzz $(SECONDS) $(ARGS)

soak: build-test/build.ninja
	@$(NINJA) -C build-test corral tests/soak/soak_core0.elf tests/soak/soak_core1.elf
	@python3 tests/soak/soak_log.py build-test/corral build-test/tests/soak/soak_core0.elf \
	    build-test/tests/soak/soak_core1.elf $(SECONDS) $(ARGS)
	@$(NINJA) -C build-test tests/soak/soak_profile firmware/core0_10khz.elf firmware/core1_10khz.elf \
	    firmware/core0_records.elf firmware/core1_records.elf
	@build-test/tests/soak/soak_profile 30 build-test/firmware/core0_10khz.elf build-test/firmware/core1_10khz.elf \
	    build-test/firmware/core0_records.elf build-test/firmware/core1_records.elf
	@$(NINJA) -C build-test tests/unit/group/test_group_rounds
	@CORRAL_ROUNDS=1000 build-test/tests/unit/group/test_group_rounds
	@python3 tests/soak/soak_gdb.py build-test/corral build-test/firmware/core0_10khz.elf \
	    build-test/firmware/core1_10khz.elf $(SECONDS)

lint: deps-lint build-test/build.ninja
	@$(NINJA) -C build-test
	@tools/lint build-test

format:
	@git ls-files -z '*.c' '*.h' ':!kernel' | xargs -0 clang-format -i

test-fresh:
	@tools/test-fresh

mutants: deps-test
	@tools/run-mutants $(ARGS)

clean:
	rm -rf build build-test build-bench build-fuzz build-mutants build-debug-kernel

# Each target looks for what it needs every time: that takes a tenth of a second.
deps-run deps-test deps-lint:
	@tools/install-deps $(subst deps-,,$@)

build/build.ninja: | deps-run
	@$(MESON) setup build -Dbuildtype=release -Dtests=disabled -Dwerror=$(WERROR)

build-test/build.ninja: | deps-test
	@$(MESON) setup build-test $(SANITIZE) -Dtests=enabled -Dwerror=$(WERROR)

build-bench/build.ninja: | deps-test
	@$(MESON) setup build-bench -Dbuildtype=release -Dtests=enabled

build-fuzz/build.ninja: | deps-test
	@CC=clang $(MESON) setup build-fuzz $(SANITIZE) -Dtests=enabled -Dfuzz=true
