# Two commands: `make reproduce` runs the main job, `make test` runs all checks. Both install what they need.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
TEXTS ?= ../shared/corpus

.PHONY: help setup test test-slow fuzz test-processors test-mutants lint types check reproduce reproduce-all docs bench clean

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
	OMP_NUM_THREADS=1 $(BIN)/pytest -n 2 -m "not slow"  # a thread a worker: more would wait for each other

reproduce: setup  ## the paper's Figure 1 as its authors' library reads it, 4 realizations per cell, into runs/quick
	@echo "Reading: the conventions of the authors' public library; for the others see docs/which_reading.md"
	$(BIN)/shiftstate reproduce figure1 --preset library --set graphs=4 --set draws=1 --out runs/quick

reproduce-all: setup  ## all experiments with few realizations per cell, into runs/quick; table2 where TEXTS is a folder
	$(BIN)/shiftstate reproduce all --preset quick --out runs/quick $(if $(wildcard $(TEXTS)/.),--texts $(TEXTS))

test-slow: setup  ## proofs that take minutes
	$(BIN)/pytest -m slow

fuzz: setup  ## an hour of made-up files for all readers; finds go to runs/fuzz/finds
	OMP_NUM_THREADS=1 PYTHONPATH=. $(BIN)/python tests/hostile/fuzz.py runs/fuzz --seconds 3600

test-processors: setup  ## the whole suite as other processors would run it, on one and on four threads
	$(BIN)/python tests/processors.py

test-mutants: setup  ## do the tests notice? change 600 single operators at random; an hour or two, into runs/mutants.jsonl
	OMP_NUM_THREADS=1 $(BIN)/python tests/mutants.py

bench: setup  ## time the kernels on this machine, into runs/bench.json and runs/bench.svg
	mkdir -p runs
	$(BIN)/shiftstate bench --json runs/bench.json --plot runs/bench.svg

docs: setup  ## build the documentation into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

clean:  ## remove what was built
	rm -rf .venv site dist .pytest_cache .ruff_cache .mypy_cache
