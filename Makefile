# Two commands for a fresh clone: `make demo` and `make test`. Both set up .venv by themselves.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Python compiles what it imports, which is a small part of what pip would compile.
INSTALL := $(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check --constraint constraints.txt

.PHONY: demo setup test test-fast test-all coverage check check-js npm-tools format regenerate memo stubs figures picture site vendor clean

demo: $(VENV)/light
	@$(BIN)/python tests/support/demo_class.py demo-out

# What contributors need. With another Python: make setup PYTHON=python3.13
setup: $(VENV)/dev
	@echo "Ready. Next: . $(BIN)/activate"

# One process per core and one more, with one thread each (tests/conftest.py). The tests of a file stay together, because
# they share fixtures.
PYTEST := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

# Without compiled files, each of the many processes would compile Headway again.
unexport PYTHONDONTWRITEBYTECODE

# Three lanes (tests/support/lanes.py). The same draw again: make test SEED=123
LANE := $(PYTEST) $(if $(SEED),--seed $(SEED)) --lane

test: $(VENV)/dev
	$(LANE) test

test-fast: $(VENV)/dev
	$(LANE) fast

test-all: $(VENV)/dev
	$(LANE) all

# Which lines the fast lane runs, also in the commands that it starts, but not in student processes. Writes
# build/coverage.md. The true figures are higher: the other lanes are left out.
coverage: $(VENV)/dev
	$(PYTEST) --lane fast --cov --cov-report=markdown:build/coverage.md

# Without PyTorch: make check CHECK_WITH=style. Then mypy leaves out the modules that import it, above all the references.
CHECK_WITH ?= dev
TORCH := ^ *(import|from) (torch|tokenizers)
LEFT_OUT = $(if $(filter style,$(CHECK_WITH)),$(shell grep -rlE --include='*.py' '$(TORCH)' autograder))
SCHEMA := $(BIN)/check-jsonschema --quiet --builtin-schema
check: $(VENV)/$(CHECK_WITH)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python tests/support/line_budget.py
	@$(BIN)/mypy --strict autograder $(LEFT_OUT:%=--exclude '^%$$')
	$(BIN)/codespell --builtin clear,rare,en-GB_to_en-US -D - -D docs/vocabulary.txt README.md CONTRIBUTING.md SECURITY.md CHANGELOG.md docs autograder solutions tests pyproject.toml
	$(SCHEMA) vendor.github-workflows .github/workflows/*.yml
	$(SCHEMA) vendor.dependabot .github/dependabot.yml
	$(SCHEMA) vendor.github-issue-forms .github/ISSUE_TEMPLATE/*.yml

# Types of the pages' scripts, and what ESLint forbids there. Needs Node.js; npm refuses a version that is too old.
FRONTEND := autograder/web/site/frontend
check-js: npm-tools
	npm --prefix $(FRONTEND) run check

npm-tools: $(FRONTEND)/node_modules/.package-lock.json
$(FRONTEND)/node_modules/.package-lock.json: $(FRONTEND)/package-lock.json
	npm --prefix $(FRONTEND) ci
	touch $@

format: $(VENV)/dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Every file that is made from others and committed. Tests compare them with their sources.
regenerate: memo figures picture

# PyTorch's answers to the public inputs, and the stubs: both are generated, and tests prove that they are up to date.
memo: $(VENV)/dev
	$(BIN)/python -m autograder.authoring.build_memo

stubs: $(VENV)/dev
	$(BIN)/headway release assignments --format stubs
	$(BIN)/headway release assignments/notebooks --format notebooks

# The pictures in the lessons, which stubs and notebooks contain.
figures: $(VENV)/dev
	$(BIN)/python -m autograder.models.lesson_figures
	$(MAKE) stubs

# The session that the README shows, the report on the site's start page, and the layers in CONTRIBUTING.md.
picture: $(VENV)/dev
	$(BIN)/python tests/support/readme_picture.py
	$(BIN)/python tests/support/layers_picture.py

# The third-party code of the lesson pages, at the versions of package-lock.json. Needs Node.js.
vendor: npm-tools
	npm --prefix $(FRONTEND) run build

# First a light installation, enough for a demo, then what the tests need, above all PyTorch.
$(VENV)/light: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(INSTALL) --editable '.[sandbox,report]'
	touch $@

$(VENV)/style: $(VENV)/light
	$(INSTALL) --editable '.[style]'
	touch $@

$(VENV)/dev: $(VENV)/light
	$(INSTALL) --editable '.[dev]'
	touch $@

# The course as a website, in site/. Look at it: python -m http.server -d site
site: $(VENV)/dev
	$(BIN)/headway site --out site

clean:
	rm -rf $(VENV) demo-out build dist .coverage* .pytest_cache .mypy_cache .ruff_cache
