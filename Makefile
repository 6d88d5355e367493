# All of it needs Python 3.11 or newer, make and the package index, nothing else.
# Another interpreter: make test PYTHON=python3.12

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
DEMO_HOME := .demo
BENCHMARKS := ingest_rate lexical_engines
# The demo is the offline path: a key in the environment is left out of it, so that it never costs anything.
DEMO := env -u OPENAI_API_KEY -u OPENAI_BASE_URL CITELOOP_HOME=$(DEMO_HOME) $(BIN)/citeloop

.DEFAULT_GOAL := help
.PHONY: help install demo test lint types eval bench clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

install: $(INSTALLED) ## Make .venv and install citeloop into it, versions pinned

# The stamp keeps a second call quick: it is older than these files only when what is to be installed has changed.
$(INSTALLED): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo 'citeloop needs Python 3.11 or newer; name one that is, as in: make $(or $(MAKECMDGOALS),test) PYTHON=python3.12' >&2; exit 1; }
	@echo 'Installing citeloop and its pinned dependencies into $(VENV) (a few minutes, once)'
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[offline,dev]'
	@touch $@

demo: $(INSTALLED) ## Index the sample handbook, ask it questions, print the cited answers
	@echo '$$ citeloop index examples/handbook --corpus handbook'
	@$(DEMO) index examples/handbook --corpus handbook
	@printf '\n%s\n' "$$ citeloop ask 'When must the DPO hear of an incident with personal data?'"
	@$(DEMO) ask 'When must the DPO hear of an incident with personal data?'
	@printf '\n%s\n' "$$ citeloop query 'How many unused days of leave carry over?' --corpus handbook --reason 'trying citeloop'"
	@$(DEMO) query 'How many unused days of leave carry over?' --corpus handbook --reason 'trying citeloop'

test: $(INSTALLED) ## Run all tests (ARGS='-k fusion' for some)
	@$(BIN)/python -m pytest $(ARGS)

lint: $(INSTALLED) ## Check style and format
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(INSTALLED) ## Check types, strictly
	@$(BIN)/mypy

eval: $(INSTALLED) ## Score the engine on a data set: make eval SET=folder ARGS='--strategy standard'
	@test -n '$(SET)' || { echo 'which set? make eval SET=folder (its format: evals/README.md)' >&2; exit 2; }
	@$(BIN)/citeloop eval '$(SET)' $(ARGS)

bench: $(INSTALLED) ## Measure on your data: make bench DATA=folder
	@test -n '$(DATA)' || { echo 'which data? make bench DATA=folder (its format: evals/README.md)' >&2; exit 2; }
	@for name in $(BENCHMARKS); do echo "== $$name"; $(BIN)/python "benchmarks/$$name.py" '$(DATA)' || exit; done

clean: ## Remove the virtual environment, the demo's index and all caches
	rm -rf $(VENV) $(DEMO_HOME) .cache .langgraph_api .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
