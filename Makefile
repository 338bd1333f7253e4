# Two commands are enough: `make run` measures everything and builds the site, `make test` runs the tests.
PYTHON ?= python3
VENV ?= .venv
RESULTS ?= results
SITE ?= site
BIN := $(VENV)/bin
WORKERS ?= 2
STAMP := $(VENV)/.installed

.PHONY: run test check lint install lock peers clean

run: install
	@$(BIN)/bench run --suite all --results $(RESULTS) --site $(SITE) || code=$$?; \
	$(BIN)/bench site --results $(RESULTS) --out $(SITE) && exit $${code:-0}

# A file's tests stay in one process, which shares their fixtures; benchmarks run once there, unmeasured (see `peers`).
test: install
	$(BIN)/pytest -n $(WORKERS) --dist loadfile $(PYTEST_ARGS)

check: lint test

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Each peer is measured beside ours in one run; prints the ratios.
peers: install
	$(BIN)/pytest tests/benchmarks --benchmark-only -s

install: $(STAMP)

$(STAMP): pyproject.toml requirements.lock requirements-data.lock
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --require-hashes -r requirements.lock
	$(BIN)/pip install --quiet --no-deps --require-hashes -r requirements-data.lock
	$(BIN)/pip install --quiet --no-deps --no-build-isolation -e .
	touch $@

# Resolves pyproject.toml anew, with hashes and without the address of any index.
lock:
	$(PYTHON) -m venv $(VENV)-lock
	$(VENV)-lock/bin/pip install --quiet pip-tools
	$(VENV)-lock/bin/pip-compile --quiet --generate-hashes --allow-unsafe --strip-extras \
		--all-extras --all-build-deps --no-emit-index-url --no-emit-find-links --no-emit-trusted-host \
		--output-file requirements.lock pyproject.toml
	rm -rf $(VENV)-lock

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache
