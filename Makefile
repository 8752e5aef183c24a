# Two commands: `make reproduce` runs the main job, `make test` runs all checks. Both install what they need.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: help setup test lint types check reproduce docs bench clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 16

setup: $(STAMP)  ## build .venv with every extra; nothing happens when nothing changed

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet -c constraints.txt --editable '.[all]'
	touch $@

test: lint types check  ## all checks: lint, format, types, tests

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

check: setup
	$(BIN)/pytest -n 2 -m "not slow"

reproduce: setup  ## train one LSSM on one source-localization graph and print its accuracy
	$(BIN)/python docs/examples/source_localization.py

docs: setup  ## build the documentation into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

clean:  ## remove what was built
	rm -rf .venv site dist .pytest_cache .ruff_cache .mypy_cache
