# Weft: everything a person types. `make demo` and `make test` need make, a C compiler, and curl or Rust; the rest they
# install, or they say in one line what is missing. Nothing here needs the network once tools and crates are there.

SHELL := /bin/sh
export PATH := $(PATH):$(HOME)/.cargo/bin

RUST      = 1.95
DENY      = 0.20.2
MDBOOK    = 0.5.4
FUZZ      = 0.13.2
FUZZ_TIME = 60
DECISIONS = 2000
HDL_TOOLS = g++ verilator iverilog yosys
NET_TOOLS = ip ping traceroute iperf3 tshark ethtool
NET_FILES = /usr/lib/frr/ospfd /usr/lib/frr/bgpd /usr/lib/ipsec/charon /usr/sbin/swanctl \
	/usr/lib/ipsec/plugins/libstrongswan-kernel-libipsec.so /usr/lib/ipsec/plugins/libstrongswan-openssl.so
NET_PACKAGES = iproute2 iputils-ping traceroute iperf3 tshark ethtool frr \
	strongswan-charon strongswan-swanctl libcharon-extra-plugins libstrongswan-standard-plugins
NET_SERVICES = frr strongswan-starter

.PHONY: miri nightly help demo setup test deny advisories docs bench counts fuzz rust chromium valgrind hardware hardware-full hardware-tools hardware-page hardware-library

help:
	@echo "make demo    build Weft, run the demo scenario, print table and report"
	@echo "make setup   install what the tests need, saying what: Rust (stable, and nightly with Miri), Chromium, valgrind, cargo-deny, mdbook, cargo-fuzz, hardware and network tools"
	@echo "make test    everything that must hold before a change lands; does what make setup does first"
	@echo "make docs    the book and the API pages (part of make test)"
	@echo "make bench   what a simulated packet costs here, beside a loop that only moves packets (part of make test, one case)"
	@echo "make counts  compare what packets cost with bench/counts.json (part of make test)"
	@echo "make hardware       lint, simulate and prove DRILL in SystemVerilog (part of make test)"
	@echo "make hardware-full  a million decisions per parameter set and simulator, in hours; resumes where it stopped"
	@echo "make hardware-page  synthesise DRILL and write docs/src/hardware.md; installs the cell library"
	@echo "make advisories  look for known vulnerabilities of dependencies, where the database can be fetched"
	@echo "make miri    tests of packets and switches under an interpreter that finds errors of unsafe code (part of make test)"
	@echo "make hostile  send HOSTILE_FRAMES=$(HOSTILE_FRAMES) hostile frames through a running router (part of make test, a million)"
	@echo "make fuzz    fuzz the scenario parser for FUZZ_TIME=$(FUZZ_TIME) seconds (part of make test, for 5)"

demo: rust
	cargo build --release --locked --quiet --package weft-cli
	target/release/weft run scenarios/slow-cable.toml --demo

# What is missing is named before anything is installed; packages of the system come from apt-get.
setup:
	@for tool in cargo valgrind cargo-deny mdbook cargo-fuzz $(HDL_TOOLS); do \
		command -v $$tool >/dev/null || echo "make setup: $$tool is missing and will be installed"; \
	done
	@{ $(CHROMIUM); } >/dev/null || echo "make setup: chromium is missing and will be installed"
	@cargo +nightly miri --version >/dev/null 2>&1 || echo "make setup: a nightly compiler with miri is missing and will be installed if rustup can"
	@for tool in $(NET_TOOLS); do \
		command -v $$tool >/dev/null || echo "make setup: $$tool is missing and will be installed where apt-get can"; \
	done
	@for file in $(NET_FILES); do \
		test -e $$file || echo "make setup: $$file is missing and will be installed where apt-get can"; \
	done
	@test -x target/hardware/symbiyosys/bin/yowasp-sby || echo "make setup: SymbiYosys is missing and will be installed from PyPI if it can be reached"
	@test -x target/python/bin/python || echo "make setup: Python packages for the book's recipes are missing and will be installed from PyPI"
	@$(MAKE) --no-print-directory rust nightly chromium valgrind cargo-deny mdbook cargo-fuzz hardware-tools network-tools python

# Everything is built once, with the features that the whole workspace needs: `cargo xtask` would build its part with fewer.
# From the tests on two at a time: all have long parts that use one core. The command for the costs is built while the tests run,
# with what they leave of the processor.
test: setup deny
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- --deny warnings
	cargo build --locked --workspace --all-targets
	target/debug/xtask all
	RUSTDOCFLAGS='--deny warnings' $(MAKE) docs
	$(MAKE) -j2 --no-print-directory suites release
	$(MAKE) -j2 --no-print-directory unsafe-code costs
	@if test -s $(SKIPPED); then sort -u $(SKIPPED); echo "make test: everything that could run here holds"; \
	else echo "make test: everything holds"; fi

# A make that decides itself how many jobs it runs.
ALONE = MAKEFLAGS='$(filter-out -j% --jobserver-%,$(MAKEFLAGS))' $(MAKE) --no-print-directory

# Tests that could not run here, and why, one line each.
SKIPPED = $(CURDIR)/target/skipped.txt
.PHONY: suites release unsafe-code costs
# Weft leaves signals alone that were ignored at its start, as with nohup; the tests that send it signals need them, whatever started make.
HEARS_SIGNALS = $(shell env --default-signal=INT true 2>/dev/null && echo env --default-signal=INT,HUP,TERM)
suites:
	@rm -f $(SKIPPED)
	MAKEFLAGS= WEFT_SKIPPED=$(SKIPPED) $(HEARS_SIGNALS) cargo test --locked --workspace --no-fail-fast
release:
	@MAKEFLAGS= nice -n 19 cargo build --release --locked --quiet --package weft-cli
unsafe-code:
	@$(ALONE) miri fuzz FUZZ_TIME=5 FUZZ_BUILD=--dev
costs:
	@$(ALONE) counts bench hardware BENCH='incast --repeat 1'

# Licences, banned crates and origins of what we depend on; the rules are in deny.toml.
deny: rust cargo-deny
	cargo deny --log-level error --all-features check licenses bans sources

.PHONY: cargo-deny
cargo-deny: rust
	@command -v cargo-deny >/dev/null || cargo install cargo-deny --debug --locked --quiet --version $(DENY)

# Known vulnerabilities of what we depend on. The database comes from the network; without it nothing is checked.
advisories: rust cargo-deny
	@if cargo deny --log-level error fetch db; then \
		cargo deny --log-level error --all-features check advisories && \
		cargo deny --log-level error --manifest-path fuzz/Cargo.toml --config deny.toml check advisories; \
	else \
		echo "make advisories: nothing checked, the advisory database cannot be fetched"; \
	fi

docs: rust mdbook
	mdbook build docs
	cargo doc --locked --workspace --no-deps --quiet
	@echo "docs/book/index.html and target/doc/weft/index.html"

.PHONY: mdbook cargo-fuzz
mdbook: rust
	@command -v mdbook >/dev/null || \
		cargo install mdbook --debug --locked --quiet --version $(MDBOOK) --no-default-features --features search

cargo-fuzz: rust
	@command -v cargo-fuzz >/dev/null || cargo install cargo-fuzz --debug --locked --quiet --version $(FUZZ)

# BENCH: names of cases and options, such as BENCH='r1 incast --repeat 9'.
bench: rust valgrind
	cargo build --release --locked --quiet --package weft-cli
	target/release/weft bench $(BENCH)

# Instructions and allocations, which depend on the compiler but not on the load of the machine. After an intended change:
# target/release/weft bench --count --json > bench/counts.json && cargo xtask counts --write
# target/release/weft bench router $(ROUTED) --count --json > bench/router.json
ROUTED = forward route-256k route-256k-8 route-256k-1 route-v6-256k lookup-256k lookup-1m lookup-v6-256k
counts: rust valgrind
	cargo build --release --locked --quiet --package weft-cli
	target/release/weft bench --count --against bench/counts.json
	target/release/weft bench router $(ROUTED) --count --against bench/router.json

# Columns and rings of packets and the ports of switches, which unsafe code reads, under an interpreter that sees every access
# outside memory and every use of what is gone. Debug assertions are off: they would stop a test before the access it is about.
# .ci/miri is this as a job of its own; MIRI_TESTS= runs all of the vocabulary but tests of many draws, for hours.
MIRI_TIME = 300
MIRI_TESTS = pool ring record
MIRI_SKIP = $(addprefix --skip ,$(MIRI_SLOW))
MIRI_SLOW = bitmap::tests::it_agrees_with_a_set random:: histogram:: quiver:: ports_name_a_flow
MIRI = RUSTFLAGS='-C debug-assertions=off' MIRIFLAGS=-Zmiri-disable-isolation timeout $(MIRI_TIME) cargo +nightly miri test --locked --lib
miri: rust nightly
	@if cargo +nightly miri --version >/dev/null 2>&1; then \
		{ $(MIRI) --package weft-switch -- foreign && $(MIRI) --package weft-device -- pool && $(MIRI) --package weft-core -- $(MIRI_TESTS) $(MIRI_SKIP); } || { \
			test $$? = 124 && echo "make miri: stopped after $(MIRI_TIME) s; the tests before that are clean"; }; \
	else \
		echo "make miri: skipped, there is no nightly toolchain with miri (rustup toolchain install nightly --component miri)"; \
	fi

# A nightly compiler with Miri, for this user, where rustup is there and the network lets it; what needs one goes without otherwise.
nightly: rust
	@cargo +nightly miri --version >/dev/null 2>&1 || ! command -v rustup >/dev/null || { \
		echo "a nightly compiler with miri is missing; installing it with rustup"; \
		timeout 600 rustup toolchain install nightly --profile minimal --component miri,rust-src >/dev/null 2>&1 || true; }

# Ten million hostile frames through a running router; `make test` sends a million.
HOSTILE_FRAMES = 10000000
.PHONY: hostile
hostile: rust
	WEFT_HOSTILE_FRAMES=$(HOSTILE_FRAMES) cargo test --locked --release --package weft-router --test routing hostile

# With a nightly compiler memory errors are found as well (address sanitizer); without, overflow checks and debug assertions
# stay on. FUZZ_BUILD=--dev builds sooner what runs slower (`fuzz/Cargo.toml`), for short runs.
fuzz: rust cargo-fuzz
	@if cargo +nightly --version >/dev/null 2>&1; then \
		compiler=+nightly; sanitizer=address; \
	else \
		compiler=; sanitizer=none; \
	fi; \
	for target in $$(cargo fuzz list); do \
		cargo $$compiler fuzz run $(FUZZ_BUILD) --sanitizer $$sanitizer $$target -- -max_total_time=$(FUZZ_TIME) || exit 1; \
	done

# DRILL in SystemVerilog decides as the simulator does: vectors from the simulator's engine, played by Icarus and Verilator for
# every parameter set, and by Icarus for the schemes beside it; at the same time the proofs. Forty candidates take Icarus long.
HARDWARE = $(ALONE) --silent -C hdl/drill OUT=$(CURDIR)/target/hardware
hardware: rust hardware-tools
	cargo build --release --locked --quiet --package weft-cli
	$(HARDWARE) lint
	target/release/weft vectors drill --out target/hardware --decisions $(DECISIONS)
	target/release/weft vectors drill twenty --out target/hardware --decisions $$(($(DECISIONS) / 4))
	target/release/weft vectors compare --out target/hardware/compare
	$(HARDWARE) -j2 prove $$(target/release/weft vectors drill --list | sed 's/ .*//; s/.*/icarus-& verilator-&/') compare
	@OUT=$(CURDIR)/target/hardware hdl/drill/full.sh --check

# A million decisions per set and simulator, one run after the other. It resumes where it stopped, and keeps its record in
# hdl/drill/runs.csv, from which the page is written. LIMIT=3600 begins no run after an hour.
hardware-full: rust hardware-tools
	cargo build --release --locked --quiet --package weft-cli
	OUT=$(CURDIR)/target/hardware hdl/drill/full.sh

# The page about hardware, docs/src/hardware.md: everything is synthesised to the cells of Debian's library, in half an hour.
hardware-page: rust hardware-tools hardware-library
	cargo xtask hardware --write

LIBRARY = /usr/share/qflow/tech/osu018/osu018_stdcells.lib
hardware-library:
	@test -f $(LIBRARY) || { \
		echo "the cell library is missing; installing qflow-tech-osu018 with apt-get"; \
		{ $(ROOT) apt-get update && $(ROOT) apt-get install --yes --no-install-recommends qflow-tech-osu018; } \
			>/dev/null 2>&1 || true; }
	@test -f $(LIBRARY) || { \
		echo "area is that of the cells in $(LIBRARY): install the package qflow-tech-osu018" >&2; exit 1; }

# A Rust compiler that is recent enough.
rust:
	@command -v cargo >/dev/null || { \
		echo "Rust is missing; installing it for this user with rustup"; \
		curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | \
			sh -s -- -y --quiet --profile minimal --component clippy --component rustfmt --no-modify-path; \
	} && command -v cargo >/dev/null || { \
		echo "cannot install Rust: get version $(RUST) or newer from https://rustup.rs and try again" >&2; exit 1; \
	}
	@have=$$(cargo --version | cut -d ' ' -f 2); \
	test "$$(printf '%s\n' $(RUST) "$$have" | sort -V | head -n 1)" = $(RUST) || { \
		echo "Rust $$have is too old: version $(RUST) or newer is needed (rustup update stable)" >&2; exit 1; }

# The browser that opens the report in the tests.
CHROMIUM = command -v chromium || command -v chromium-browser || command -v google-chrome || \
	command -v google-chrome-stable
ROOT = $(shell test "$$(id -u)" = 0 || echo sudo -n)
chromium:
	@{ $(CHROMIUM); } >/dev/null || { \
		echo "Chromium is missing; installing it with apt-get"; \
		{ $(ROOT) apt-get update && $(ROOT) apt-get install --yes --no-install-recommends chromium; } \
			>/dev/null 2>&1 || true; }
	@{ $(CHROMIUM); } >/dev/null || { \
		echo "the report is tested in Chromium: install the package \`chromium\` of your system" >&2; exit 1; }

# What reads Parquet in the recipes of the book, in an environment of its own. Without it the test of the recipes says so and
# skips them.
PYTHON_PACKAGES = pandas==3.1.1 polars==2.1.0 duckdb==2.0.0 pyarrow==26.0.1
.PHONY: python
python:
	@test -x target/python/bin/python || { \
		python3 -m venv target/python && target/python/bin/pip install --quiet $(PYTHON_PACKAGES); } || { \
		rm -rf target/python; \
		echo "make setup: no Python packages; the recipes of the book will not be run"; }

# Real clients and daemons for the tests of the router, which say so and skip what is missing. The tests start the daemons
# themselves: services that come with these packages are neither started nor enabled.
.PHONY: network-tools
network-tools:
	@for tool in $(NET_TOOLS); do command -v $$tool >/dev/null || missing=1; done; \
	for file in $(NET_FILES); do test -e $$file || missing=1; done; \
	test -z "$$missing" || { \
		echo "tools for the router's tests are missing; installing $(NET_PACKAGES) with apt-get"; \
		for service in $(NET_SERVICES); do \
			test -e /lib/systemd/system/$$service.service || new="$$new $$service"; \
		done; \
		{ test -z "$$new" || $(ROOT) systemctl mask $$new; \
		$(ROOT) apt-get update && $(ROOT) env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 \
			apt-get install --yes --no-install-recommends $(NET_PACKAGES); \
		test -z "$$new" || { $(ROOT) systemctl unmask $$new; $(ROOT) systemctl disable $$new; }; } >/dev/null 2>&1 || true; }

# What counts instructions.
valgrind:
	@command -v valgrind >/dev/null || { \
		echo "valgrind is missing; installing it with apt-get"; \
		{ $(ROOT) apt-get update && $(ROOT) apt-get install --yes --no-install-recommends valgrind; } \
			>/dev/null 2>&1 || true; }
	@command -v valgrind >/dev/null || { \
		echo "instructions are counted by valgrind: install the package \`valgrind\` of your system" >&2; exit 1; }

# What checks hardware: Verilator, Icarus Verilog, Yosys with yosys-abc, and SymbiYosys if PyPI can be reached.
hardware-tools:
	@for tool in $(HDL_TOOLS); do command -v $$tool >/dev/null || { \
		echo "$$tool is missing; installing it with apt-get"; \
		{ $(ROOT) apt-get update && $(ROOT) apt-get install --yes --no-install-recommends $$tool; } \
			>/dev/null 2>&1 || true; }; done
	@for tool in $(HDL_TOOLS); do command -v $$tool >/dev/null || { \
		echo "hardware is checked by $$tool: install the package of this name of your system" >&2; exit 1; }; done
	@$(HARDWARE) sby
