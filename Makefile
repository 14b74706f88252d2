# Needs Rust (rustup) and Python 3.11 or newer; everything else goes into .venv and target.
#
#   make run     build, run the degraded-path scenario, write its report
#   make test    every Rust and Python test, with the same random cases each time
#   make fuzz    the Rust tests with new random cases, ROUNDS times, 100 000 attacked connections in all
#   make gates   bonds on random cases, both drawings (hours); what has run is kept
#   make mutants every mutant of tcp and mptcp against their tests (an hour); what was judged is kept
#   make interop our stack and Linux's against each other, 50 MB each way (root, five minutes)
#   make stops   200 stops at random moments of every command
#   make lint    formatters and linters, warnings as errors
#   make bench   the benchmarks, of a build laid out for what runs most, as releases are
#   make emulation      what links between Linux hosts carry in real time, and how late; as root
#   make gateway-bars   what the gateway carries and costs here; as root
#   make gateway-deb   a Debian package of the gateway, by cargo-deb
#   make docs    the documentation as a site, in the folder site; a broken link is an error
#   make release wheels and sdist, built and checked, in the folder dist; nothing is uploaded
#   make clean   remove what the others made

VENV := .venv
BIN := $(VENV)/bin
# The first interpreter that is new enough; `make PYTHON=/path/to/python3` overrides it.
PYTHON ?= $(shell for p in python3 python3.11 python3.12 python3.13 python3.14 python3.15; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo "$$p"; break; }; done)
RUST_SOURCES := Cargo.toml Cargo.lock $(wildcard crates/*/Cargo.toml) \
	$(shell find crates/*/src -name '*.rs' 2>/dev/null)
# Where the random cases of `make test` begin. Another seed, other cases: PROPTEST_RNG_SEED=2 make test-rust
PROPTEST_RNG_SEED ?= 1
ROUNDS ?= 10
# Connections under attack by blind segments in all rounds of `make fuzz`; `make test` has 2 000.
CONNECTIONS ?= 100000
RUFF = $(BIN)/ruff

export PYO3_PYTHON := $(abspath $(BIN))/python
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: run test test-rust test-python fuzz mutants gates interop stops lint lint-rust lint-python
.PHONY: bench emulation gateway-bars gateway-deb docs release clean

run: $(VENV)/.package
	$(BIN)/ropewalk run scenarios/degraded-path.toml
	$(BIN)/ropewalk reproduce degraded-path --quick

test: test-rust test-python

test-rust: $(VENV)/pyvenv.cfg
	PROPTEST_RNG_SEED=$(PROPTEST_RNG_SEED) cargo test --locked --workspace

# Comparisons of bonds run the daemon.
test-python: export ROPEWALK_GATEWAY = $(abspath target/debug/ropewalk-gateway)
test-python: $(VENV)/.tested
	$(BIN)/python -m pytest -q -m 'not real_time' -n auto --dist worksteal --hypothesis-seed=$(PROPTEST_RNG_SEED)
	$(BIN)/python -m pytest -q -m real_time

# It needs `cargo install cargo-mutants`.
mutants: $(VENV)/pyvenv.cfg
	$(BIN)/python -m pip install -q 'tree-sitter>=0.26' 'tree-sitter-rust>=0.24'
	$(BIN)/python benches/mutants

fuzz: $(VENV)/pyvenv.cfg
	@for round in $$(seq $(ROUNDS)); do \
		seed=$$(od -An -N4 -tu4 /dev/urandom | tr -d ' '); \
		echo "round $$round of $(ROUNDS): PROPTEST_RNG_SEED=$$seed"; \
		PROPTEST_RNG_SEED=$$seed ROPEWALK_CONNECTIONS=$$(( ($(CONNECTIONS) + $(ROUNDS) - 1) / $(ROUNDS) )) \
			cargo test --locked --workspace --quiet || exit 1; \
	done

# In a build that is laid out for what runs most: it takes a fifth less time.
gates:
	benches/profile cargo build --locked --release -p ropewalk-benches --bin gates
	@status=0; for drawing in first second; do \
		echo "the $$drawing drawing"; target/profiled/release/gates $$drawing || status=$$?; \
	done; exit $$status

interop: $(VENV)/pyvenv.cfg
	ROPEWALK_MEGABYTES=50 cargo test --locked --release -p ropewalk-live --test interop -- --nocapture

stops: $(VENV)/.tools
	$(BIN)/python benches/stops.py

lint: lint-rust lint-python

lint-rust: $(VENV)/pyvenv.cfg
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --no-deps

lint-python: $(VENV)/.tested
	$(RUFF) check
	$(RUFF) format --check
	$(BIN)/python -m mypy --strict

bench: $(VENV)/.package
	benches/profile cargo run --locked --release -p ropewalk-benches
	cargo bench --locked -p ropewalk-sim -p ropewalk-tcp -p ropewalk-bonding
	benches/ns3/compare
	$(BIN)/python benches/python_side.py

emulation: $(VENV)/.package
	$(BIN)/python benches/emulation.py

gateway-bars:
	cargo build --locked --profile quick -p ropewalk-gateway -p ropewalk-live -p ropewalk-benches --bins
	target/quick/gateway

# It needs `cargo install cargo-deb`. PROFILE=quick builds faster.
PROFILE ?= release
DEB := target/deb
gateway-deb:
	cargo build --locked --profile $(PROFILE) -p ropewalk-gateway -p ropewalk-live --bins
	rm -rf $(DEB)
	mkdir -p $(DEB)/man
	target/$(PROFILE)/ropewalk-gateway man $(DEB)/man
	target/$(PROFILE)/ropewalk-gateway completions bash > $(DEB)/ropewalk-gateway.bash
	target/$(PROFILE)/ropewalk-gateway completions zsh > $(DEB)/_ropewalk-gateway
	target/$(PROFILE)/ropewalk-gateway completions fish > $(DEB)/ropewalk-gateway.fish
	printf 'ropewalk-gateway (%s-1) unstable; urgency=medium\n\n  * What has changed: CHANGELOG.md of the sources.\n\n -- %s  %s\n' \
		"$$(cargo pkgid -p ropewalk-gateway | sed 's/.*[#@]//')" \
		"$$(sed -n 's/^maintainer = "\(.*\)"/\1/p' crates/gateway/Cargo.toml)" \
		"$$(git log -1 --format=%cD 2>/dev/null || date -R)" > $(DEB)/changelog
	cargo deb --no-build --profile $(PROFILE) -p ropewalk-gateway

docs: $(VENV)/pyvenv.cfg
	$(BIN)/python -m pip install -q 'mkdocs-material>=9.8' 'mkdocstrings-python>=2.0'
	$(BIN)/mkdocs build --strict

release:
	.ci/release

clean:
	rm -rf $(VENV) target out dist site python/ropewalk/*.so

# uv stands in where Python comes without its venv module (Debian splits it off as python3-venv).
$(VENV)/pyvenv.cfg:
	@test -n "$(PYTHON)" || { echo "make: Python 3.11 or newer is needed, and none is on the PATH" >&2; exit 1; }
	@command -v cargo >/dev/null || { echo "make: Rust is needed: install it with rustup" >&2; exit 1; }
	@if $(PYTHON) -c 'import ensurepip, venv' 2>/dev/null; then $(PYTHON) -m venv $(VENV); \
	elif command -v uv >/dev/null; then uv venv --seed --python $(PYTHON) $(VENV); \
	else echo "make: $(PYTHON) lacks the venv module: install python3-venv, or uv" >&2; exit 1; fi

# The package is installed in place: the Python sources are used from where they are, and only a change of
# Rust builds again. It is installed with the extension of a release, or with that of the tests, whichever was asked for last.
$(VENV)/.package: $(VENV)/pyvenv.cfg pyproject.toml $(RUST_SOURCES)
	$(BIN)/python -m pip install -q --editable '.[figures]'
	@rm -f $(VENV)/.tested
	@touch $@

$(VENV)/.tools: $(VENV)/.package
	$(BIN)/python -m pip install -q --editable '.[dev]'
	@touch $@

# What `cargo test` builds, and the extension and the gateway with the same settings, so that nothing is compiled twice.
$(VENV)/.tested: $(VENV)/pyvenv.cfg pyproject.toml $(RUST_SOURCES)
	cargo build --locked --profile test --workspace --lib --bins --tests
	ROPEWALK_EXTENSION=$(abspath target/debug/lib_core.so) $(BIN)/python -m pip install -q --editable '.[dev]'
	@rm -f $(VENV)/.package
	@touch $@
