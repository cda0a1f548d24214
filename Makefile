# `make help` lists the targets. Each target installs what it needs.

SHELL := /bin/bash
BIN := .venv/bin
UV := .venv/.uv/bin/uv

NODE_MODULES := $(patsubst %,%/node_modules/.package-lock.json,clients/typescript examples/webhook_express)

HOST ?= 127.0.0.1
PORT ?= 8000
# The documents to measure on: see benchmarks/.
DATA ?= ../shared/data
# One more than there are cores, because tests also wait; at most 4, because each may hold the models.
# Two more take longer.
TEST_PROCESSES ?= $(shell cores=$$(nproc); echo $$((cores < 3 ? cores + 1 : 4)))
# No release younger than a week: most bad releases are noticed by then.
COMPILE = $(UV) pip compile -q --generate-hashes --no-emit-index-url --no-header -p 3.11 \
	--exclude-newer $(shell date -u -d '7 days ago' +%F) $(LOCK_FLAGS)

# Tests start hundreds of processes: compile what they import once, not each time.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run setup test check lint tests fmt messages clients docs bench lock main dev

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-7s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: main ## Serve on http://127.0.0.1:8000 (HOST=... PORT=...)
	@exec $(BIN)/recibo serve --host $(HOST) --port $(PORT)

setup: dev ## Install the dependencies for running and testing

test: check ## Check everything: format, types, imports, spelling, tests

check: lint tests ## The same

lint: dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell

# A test that fails on a busy machine runs once more, and is listed as RERUN: fix it. On a disk that
# others use, too, tests wait for it most of the time.
tests: dev
	scripts/in-memory $(BIN)/pytest --reruns 1 --rerun-show-tracebacks -n $(TEST_PROCESSES) --dist loadgroup $(PYTEST_FLAGS)

fmt: dev ## Format the code and apply automatic fixes
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

messages: dev ## Update the translations of the portal
	@scripts/messages

clients: dev ## Generate the clients' part of the API again
	$(BIN)/python -m clients.generate

docs: dev ## Build the documentation site into build/docs
	@scripts/site

bench: dev ## Print the tables of benchmarks/ (DATA=... the documents to measure on)
	$(BIN)/python -m benchmarks.accuracy $(DATA)
	$(BIN)/python -m benchmarks.accuracy $(DATA) --accuracy high
	$(BIN)/python -m benchmarks.bookkeeping $(DATA)
	$(BIN)/python -m benchmarks.latency $(DATA)/sroie/img
	$(BIN)/python -m benchmarks.latency $(DATA)/sroie/img --accuracy high
	$(BIN)/python -m benchmarks.latency $(DATA)/documents/files --only 'nf[es]*-clean.png' --a4
	$(BIN)/python -m benchmarks.text_pages $(DATA)/documents/files
	$(BIN)/python -m benchmarks.memory $(DATA)/documents/files
	$(BIN)/python -m benchmarks.service
	$(BIN)/python -m benchmarks.distributed
	$(BIN)/python -m benchmarks.fairness
	$(BIN)/python -m benchmarks.limits
	$(BIN)/python -m benchmarks.growth
	$(BIN)/python -m benchmarks.growth --sizes 10000 100000
	$(BIN)/python -m benchmarks.exports
	$(BIN)/python -m benchmarks.portal
	$(BIN)/python -m benchmarks.api
	$(BIN)/python -m benchmarks.webhooks
	$(BIN)/python -m benchmarks.webhooks --distributed

lock: main ## Update the lock files (LOCK_FLAGS=--upgrade moves to newer ones)
	$(COMPILE) pyproject.toml -o requirements/main.txt
	echo openvino | $(COMPILE) - -c requirements/main.txt --no-emit-package numpy --no-annotate \
		-o requirements/openvino.txt
	$(COMPILE) pyproject.toml -c requirements/main.txt --group dev -o requirements/dev.txt
	$(COMPILE) --group build -o requirements/build.txt
	$(COMPILE) --group uv -o requirements/uv.txt

main: ## Install only the dependencies for running
	@scripts/environment main

dev: $(NODE_MODULES)
	@scripts/debian-packages caddy dovecot postgresql pgbouncer redis-server chromium-headless-shell strace
	@scripts/environment dev

# npm writes this file last. Packages run no scripts when they are installed.
$(NODE_MODULES): %/node_modules/.package-lock.json: %/package-lock.json
	@scripts/debian-packages npm
	@npm ci --prefix $* --ignore-scripts --silent
	@touch $@
