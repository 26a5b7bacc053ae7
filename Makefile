# Pushwatch: developer verbs. `make help` lists them.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

CONFIGURATION ?= debug
UP ?=
BENCH ?=

.PHONY: help
help: ## List the verbs
	@grep -hE '^[a-z-]+:.*##' '$(firstword $(MAKEFILE_LIST))' | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 20

.PHONY: bootstrap
bootstrap: ## Install what is missing, or print the command
	@bash scripts/bootstrap.sh

.PHONY: build
build: bootstrap ## Build both programs, pushwatch and pushwatch-dev (CONFIGURATION=release|debug)
	@swift build -c $(CONFIGURATION) --product pushwatch-dev
	@swift build -c $(CONFIGURATION) --product pushwatch

.PHONY: up
up: build ## Build and start everything on an embedded default; UP="--empty --port 9090" passes options
	@exec "$$(swift build -c $(CONFIGURATION) --show-bin-path)/pushwatch-dev" up $(UP)

.PHONY: build-tests
build-tests: ## Build everything with its tests; WARNINGS=error fails on a warning in our own targets
	@bash scripts/bootstrap.sh test
	@mkdir -p .build
	@swift build --build-tests --explicit-target-dependency-import-check error 2>&1 | tee .build/build.log
	@bash scripts/check-warnings.sh .build/build.log

.PHONY: test
test: build-tests ## Install what is missing and run every test
	@bash scripts/test.sh

.PHONY: test-citus
test-citus: build-tests ## Run the suites of attempts again where Citus distributes them, on the server of PUSHWATCH_TEST_CITUS_BIN
	@bash scripts/test-citus.sh

.PHONY: verify
verify: ## The tests that take longer than .ci/run allows: soak, alerts, escalation, limits, soak-send, fuzz, planted, client, cookbook, extend-check, incidents (90 minutes)
	@bash scripts/verify.sh

.PHONY: conformance
conformance: ## Hold docs/openapi.yaml against a running server (two minutes)
	@bash scripts/bootstrap.sh test
	@swift build --product pushwatch-dev
	@swift build --product pushwatch
	@bash scripts/conformance.sh

.PHONY: soak-send
soak-send: ## Send through kills, crashes and restarts; MINUTES=10
	@SOAK_SECONDS=$$(( $(or $(MINUTES),10) * 60 )) bash scripts/soak-send.sh

.PHONY: fuzz
fuzz: ## Attempts, HTTP framing, answers of providers and HTTP/2, mutated, with AddressSanitizer; MINUTES=10 each, SEED=…
	@bash scripts/fuzz.sh $$(( $(or $(MINUTES),10) * 60 ))

.PHONY: soak
soak: ## The fault tests for long: WHAT=ingest, kill, crash, commit, disk, standby, identity, limits, escalation, alerts, citus; MINUTES=10 each
	@bash scripts/soak.sh $(or $(WHAT),ingest) $(or $(MINUTES),10)

.PHONY: cookbook
cookbook: bootstrap ## The analysts' queries on many attempts, with plan cost and time of each; ROWS=5000000
	@swift build --build-tests
	@PUSHWATCH_COOKBOOK_ROWS=$(or $(ROWS),5000000) PUSHWATCH_COOKBOOK_REPORT=1 \
		swift test --skip-build --disable-xctest --filter 'AttemptsTests\.CookbookPlanTests'

.PHONY: planted
planted: ## Plant each defect that a test covers, and see that test fail
	@bash scripts/plant.sh all

.PHONY: planted-rows
planted-rows: ## Plant a defect into each row of scripts/row-mutants.txt, and see the row's test of docs/requirements.md fail
	@bash scripts/plant.sh rows

.PHONY: planted-client
planted-client: ## Plant a defect into each rule of the client, and see a vector fail (at least 95 %)
	@bash scripts/plant.sh client

.PHONY: extend-check
extend-check: ## Apply seven extensions to a copy of the tree, build them, and count the places each touches
	@bash scripts/extend-check.sh

.PHONY: people-paths
people-paths: ## How long people need: from a clone to the first alert, from the page to who is affected and why
	@bash scripts/people-paths.sh

.PHONY: bench
bench: bootstrap ## The benchmarks, as ratios (over half an hour; needs a quiet machine). BENCH=--quick shortens them
	@swift build -c release --product pushwatch-dev
	@binary="$$(swift build -c release --show-bin-path)/pushwatch-dev"; \
	for name in $$("$$binary" bench list); do "$$binary" bench $$name $(BENCH); done

.PHONY: bench-compare
bench-compare: bootstrap ## Sends end to end next to a bare sender on AsyncHTTPClient, which is what APNSwift sends with
	@swift build -c release --product pushwatch-dev
	@swift build -c release --package-path Benchmarks/ahc-sender --scratch-path .build/ahc-sender
	@"$$(swift build -c release --show-bin-path)/pushwatch-dev" bench send --only end-to-end --compare-with .build/ahc-sender/release/ahc-sender

.PHONY: dist
dist: bootstrap ## Pack a release of both programs: dist/pushwatch-VERSION-….tar.gz, and print their sizes
	@bash scripts/dist.sh

.PHONY: sbom
sbom: build ## Print what the programs are made of, as a CycloneDX document (CONFIGURATION=release|debug)
	@binaries="$$(swift build -c $(CONFIGURATION) --show-bin-path)"; python3 scripts/sbom.py "$$binaries/pushwatch" "$$binaries/pushwatch-dev"

.PHONY: reproducible
reproducible: bootstrap ## Build a release twice in one place and compare the archives (an hour)
	@bash scripts/check-reproducible.sh

.PHONY: layers
layers: ## Check that every target imports lower layers only, and that no statement fails where tables are distributed
	@bash scripts/check-layers.sh
	@python3 scripts/check-statements.py

.PHONY: figures
figures: ## Print the size of the sources: lines, types, unused package names, warnings, words outside the glossary
	@bash scripts/figures.sh

.PHONY: format
format: ## Format the sources in place
	@swift format --in-place --recursive --parallel Package.swift Sources Tests Benchmarks

.PHONY: lint
lint: ## Check the format of the sources and the words of names and prose
	@swift format lint --strict --recursive --parallel Package.swift Sources Tests Benchmarks
	@python3 scripts/lint-words.py

.PHONY: clean
clean: ## Remove what was built
	@rm -rf .build
