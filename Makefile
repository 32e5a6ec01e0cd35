# Thin on purpose: scripts/ does the work.
.DEFAULT_GOAL := help
.PHONY: help run test check e2e domains compatibility torture upgrade cluster fuzz bench bench-guard packages reproducible release generate eval-phishing bench-phishing eval-honest

help: ## show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: ## start the server on http://localhost:8080, data in ./data
	cargo run --profile quick --locked -p dropleaf -- serve

test: ## everything, as CI runs it: lints, Rust, browser, custom domains, torture, a cluster under faults, OpenAPI, fuzzing
	scripts/test

check: ## formatting, lints, licenses and boundaries between crates
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets --all-features -- -D warnings
	scripts/install-test-tools deny
	scripts/deny

e2e: ## only the browser tests
	scripts/install-test-tools
	cargo build --locked -p dropleaf
	scripts/e2e

domains: ## only custom domains and automatic HTTPS, with Pebble, Caddy, curl and Chromium
	scripts/install-test-tools
	cargo build --locked -p dropleaf
	scripts/domains

compatibility: ## rebuild the output of common tools (needs the package registries) and compare how it is shown
	scripts/install-test-tools
	cargo build --locked -p dropleaf
	scripts/compatibility --long

torture: ## the long torture tests: crashes, syncs, full disk, hostile clients and archives, payments
	scripts/install-test-tools
	cargo build --locked -p dropleaf
	scripts/torture long

upgrade: ## upgrades under traffic, also beside the program of the last release, which is built from git (long)
	scripts/install-test-tools
	cargo build --locked -p dropleaf
	scripts/upgrade-test long

cluster: ## the long tests of several nodes under faults of databases, S3 and the network (as root)
	scripts/install-test-tools
	cargo build --locked -p dropleaf
	scripts/cluster test long

fuzz: ## every fuzz target for ten minutes
	scripts/install-test-tools
	FUZZ_SEED=0 scripts/fuzz 600

bench: ## benchmarks of viewing, TLS, publishing and scale, compared with nginx and wastebin, of payments and of several nodes
	scripts/install-test-tools bench
	cargo build --locked --release -p dropleaf --bins --example tls_load
	scripts/bench

bench-guard: ## short benchmarks against the recorded ratios; fails on a regression of more than 25 % in three measurements
	scripts/install-test-tools bench
	cargo build --locked --release -p dropleaf
	scripts/bench guard

packages: ## make the packages and try them out as root: Debian package, image, compose file, tarball (long)
	scripts/install-test-tools packages
	scripts/packages

reproducible: ## compile and package HEAD twice, in two folders, and compare the files (very long)
	scripts/install-test-tools packages
	env -u DROPLEAF_BIN scripts/release --verify HEAD

release: ## make the files of a release: make release TAG=v0.1.0
	scripts/install-test-tools packages
	scripts/release "$(TAG)"

generate: ## rewrite openapi/openapi.json, docs/errors.md, docs/configuration.md
	UPDATE_GENERATED=1 cargo nextest run --locked --workspace --all-features drift

eval-phishing: ## recall, false positives, evasions and speed of the phishing check; PHISHING_FACTS=FILE and PHISHING_CORPUS=DIR add labeled pages
	cargo run --release --locked -q -p dropleaf-inspect --example eval_phishing -- --facts "$(PHISHING_FACTS)" --corpus "$(PHISHING_CORPUS)" --log "$(PHISHING_LOG)" --commit "$$(git describe --always --dirty)"
	scripts/phishing-weights "$(PHISHING_FACTS)" "$(PHISHING_CORPUS)"
	cargo run --release --locked -q -p dropleaf-inspect --example bench_phishing -- --brief

bench-phishing: ## how the time of the phishing check grows with the size of the input, on input made to be slow
	cargo run --release --locked -q -p dropleaf-inspect --example bench_phishing

HONEST_PAGES ?= target/honest-pages
eval-honest: ## the phishing check on legitimate pages made with common tools (several minutes, needs the package registries)
	scripts/phishing-tool-pages $(HONEST_PAGES)
	cargo run --release --locked -q -p dropleaf-inspect --example eval_phishing -- --argued docs/phishing-figures.md --check $(HONEST_PAGES)/pages/*
