# Pushwatch: developer verbs. `make help` lists them.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

CONFIGURATION ?= debug
UP ?=

.PHONY: help
help: ## List the verbs
	@grep -hE '^[a-z-]+:.*##' '$(firstword $(MAKEFILE_LIST))' | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 20

.PHONY: bootstrap
bootstrap: ## Install what is missing, or print the command
	@bash scripts/bootstrap.sh

.PHONY: build
build: bootstrap ## Build the command line (CONFIGURATION=release|debug)
	@swift build -c $(CONFIGURATION) --product pushwatch

.PHONY: up
up: build ## Build and start everything on an embedded default; UP="--empty --port 9090" passes options
	@exec "$$(swift build -c $(CONFIGURATION) --show-bin-path)/pushwatch" up $(UP)

.PHONY: test
test: ## Install what is missing and run every test
	@bash scripts/bootstrap.sh test
	@swift build --build-tests --explicit-target-dependency-import-check error
	@bash scripts/test.sh

.PHONY: floors
floors: ## Check that no target imports what it did not declare, nor a floor at or above its own
	@bash scripts/check-floors.sh

.PHONY: format
format: ## Format the sources in place
	@swift format --in-place --recursive --parallel Package.swift Sources Tests

.PHONY: lint
lint: ## Check the format
	@swift format lint --strict --recursive --parallel Package.swift Sources Tests

.PHONY: clean
clean: ## Remove what was built
	@rm -rf .build
