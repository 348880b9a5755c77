# Two commands do everything:  make demo  and  make test.  Both set up .venv first, and nothing outside it.
PYTHON ?= python3
VENV := .venv
ifeq ($(OS),Windows_NT)
BIN := $(VENV)/Scripts
else
BIN := $(VENV)/bin
endif
LOWEST := .venv-lowest

SECONDS ?= 600
MINUTES ?= 60

.PHONY: demo test papers papers-compute mutants quick bare portable slow fuzz lint review coverage docs look lite paper bench lowest dist clean

demo: $(VENV)/.ready  ## fit a transductive SVM to real data by two solvers: a table, and a picture in demo.png
	$(BIN)/convex-tsvm compare breast_cancer --sigma 10 --C 10 --methods svm,cccp --solver native,cvxpy --plot demo.png

# One thread of BLAS for each of the processes that run tests or build pages: their problems are small.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
PYTEST := $(ONE_THREAD) $(BIN)/python -m pytest

test: $(VENV)/.ready lint  ## style, types, and the tests, on two cores
	$(PYTEST) -n 2 --dist worksteal

papers: $(VENV)/.ready  ## every statement of the five papers, with mistakes planted in it; derivations, and the course
	$(PYTEST) -n 2 --dist worksteal -m "papers and not slow" tests

papers-compute: $(VENV)/.ready  ## what is missing of the papers' tables, for MINUTES on one core at low priority; takes up where it was
	$(BIN)/python benchmarks/papers --minutes $(MINUTES)

quick: $(VENV)/.ready  ## what one runs while editing: one case of every test that takes no time
	$(PYTEST) -n 2 --dist worksteal --quick -m "not slow" tests

# Without compiled loops: tests that take minutes then, and those of what is compiled or imported.
NOT_BARE := benchopt capabilities cccp cli clustering compilation contest cost_path derive ensemble exact fuzz_claims \
	hard_duals hard_margin interval_certificates interval_search label_methods linear_solver live look nothing_false \
	partitioned pipelines potts proven_labels readme regularizers scale selection self_training several_outputs shares \
	side_information signs structure targets terms weight_search without_libraries
BARE := tests/losses $(filter-out $(NOT_BARE:%=tests/test_%.py),$(wildcard tests/test_*.py))

bare: $(VENV)/.ready  ## quick tests of small problems without numba, psutil, SCS and HiGHS, as where nothing can be compiled
	PYTHONPATH=tests/bare $(PYTEST) -n 2 --dist worksteal --quick -m "not slow" $(BARE)

portable: $(VENV)/.ready  ## the quick tests and the gallery as on other machines: kernels of OpenBLAS, threads, rounding
	$(BIN)/python tests/portable.py

slow: $(VENV)/.ready  ## the tests that take long
	$(PYTEST) -m slow

fuzz: $(VENV)/.ready  ## random degenerate instances against rigorous arithmetic, for SECONDS (before every release)
	$(BIN)/python tests/fuzz.py --seconds $(SECONDS)

mutants: $(VENV)/.ready  ## plant faults in a copy of the package, one at a time; fails if no test sees one (minutes)
	$(BIN)/python tests/mutants.py

lint: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

review: $(VENV)/.review  ## what a stranger's checklist asks of a repository: its files, metadata, workflows, spelling
	$(BIN)/sp-repo-review .
	$(BIN)/zizmor --offline .
	$(BIN)/validate-pyproject pyproject.toml
	$(BIN)/cffconvert --validate
	git ls-files -z | xargs -0 $(BIN)/codespell

coverage: $(VENV)/.coverage  ## the tests, counting lines and branches of the package that they reach; at least 95 %
	$(BIN)/python -m coverage erase
	$(ONE_THREAD) $(BIN)/python -m coverage run -m pytest -n 2 --dist worksteal -m "not slow"
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage report --fail-under=95

docs: $(VENV)/.docs  ## the pages, in docs/_build
	$(ONE_THREAD) $(BIN)/sphinx-build -W -b html docs docs/_build
	$(BIN)/python docs/check.py

look: docs  ## render every page at four widths, and count what is cut off or overlaps (needs Chromium)
	$(BIN)/python docs/look.py

lite: $(VENV)/.lite  ## the course as a site whose notebooks run in the browser, in docs/_lite
	$(BIN)/python docs/lite.py

paper: $(VENV)/.paper  ## the paper and the report, as PDF in paper/_build
	$(ONE_THREAD) $(BIN)/python paper/build.py

bench: $(VENV)/.bench  ## every data set and solver of benchmark_s3vm, tried by benchopt on small problems, offline
	$(ONE_THREAD) PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/benchopt test benchmark_s3vm --skip-install

# Old versions of other packages warn of what newer ones of yet others do, and CVXPY 1.9 computes with empty arrays; scikit-learn
# 1.7 has two checks of a name. None of it is ours to mend.
lowest: $(LOWEST)/.ready  ## the tests with the lowest versions that pyproject.toml allows (needs its lowest Python)
	$(ONE_THREAD) $(LOWEST)/bin/python -m pytest -n 2 --dist worksteal -m "not slow" -p no:cacheprovider -W default \
		-o strict_parametrization_ids=false

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
	$(BIN)/python -m pip install --quiet --editable . --group test
	touch $@

# What is needed for some targets only: the dependency group of their name.
$(VENV)/.bench $(VENV)/.docs $(VENV)/.lite $(VENV)/.paper $(VENV)/.review $(VENV)/.coverage: $(VENV)/.%: $(VENV)/.ready
	$(BIN)/python -m pip install --quiet --group $*
	touch $@

clean:
	rm -rf $(VENV) $(LOWEST) dist docs/_build demo.png
