# Two commands do everything:  make demo  and  make test.  Both set up .venv first, and nothing outside it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LOWEST := .venv-lowest

SECONDS ?= 600

.PHONY: demo test quick slow fuzz lint docs look lowest dist clean

demo: $(VENV)/.ready  ## fit a transductive SVM to real data by two solvers: a table, and a picture in demo.png
	$(BIN)/convex-tsvm compare breast_cancer --sigma 10 --C 10 --methods svm,cccp --solver native,cvxpy --plot demo.png

# One thread of BLAS for each of the processes that run tests or build pages: their problems are small.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
PYTEST := $(ONE_THREAD) $(BIN)/python -m pytest

test: $(VENV)/.ready lint  ## style, types, and the tests, on two cores
	$(PYTEST) -n 2 --dist worksteal

quick: $(VENV)/.ready  ## what one runs while editing: one case of every test that takes no time
	$(PYTEST) -n 2 --dist worksteal --quick tests

slow: $(VENV)/.ready  ## the tests that take long
	$(PYTEST) -m slow

fuzz: $(VENV)/.ready  ## random degenerate instances against rigorous arithmetic, for SECONDS (before every release)
	$(BIN)/python tests/fuzz.py --seconds $(SECONDS)

lint: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/.docs  ## the pages, in docs/_build
	$(ONE_THREAD) $(BIN)/sphinx-build -W -b html docs docs/_build
	$(BIN)/python docs/check.py

look: docs  ## render every page at three widths, and count what is cut off or overlaps (needs Chromium)
	$(BIN)/python docs/look.py

lowest: $(LOWEST)/.ready  ## the tests with the lowest versions that pyproject.toml allows (needs its lowest Python)
	$(LOWEST)/bin/python -m pytest -p no:cacheprovider

dist: $(VENV)/.ready  ## wheel and source distribution in dist/, each tried in an empty environment outside the checkout
	$(BIN)/python -m pip install --quiet build
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python tests/installed.py dist/*.whl dist/*.tar.gz

$(LOWEST)/.ready: pyproject.toml tests/lowest_versions.py
	$(PYTHON) -m venv --clear $(LOWEST)
	$(PYTHON) tests/lowest_versions.py > $(LOWEST)/requirements.txt
	$(LOWEST)/bin/python -m pip install --quiet --requirement $(LOWEST)/requirements.txt
	$(LOWEST)/bin/python -m pip install --quiet --no-deps --editable .
	$(LOWEST)/bin/python -m pip check
	touch $@

$(VENV)/.ready: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed; set PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	touch $@

$(VENV)/.docs: $(VENV)/.ready
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	touch $@

clean:
	rm -rf $(VENV) $(LOWEST) dist docs/_build demo.png
