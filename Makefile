# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0

PYTHON ?= python3
BIN := .venv/bin

.PHONY: help quickstart test goldens check fix qa zoo versions soak fast full fuzz lowest newest coverage site package
.PHONY: environment tools browser prometheus clean

# This list: each target with the comment above it.
help:
	@awk '/^# / {text = text (text ? " " : "") substr($$0, 3)} \
	  /^[a-z]+:/ && text {sub(/:.*/, ""); printf "%-12s %s\n", $$0, text} \
	  !/^# / {text = ""}' $(MAKEFILE_LIST)

# Everything from nothing: environment, server and perf_analyzer, a first profile.
quickstart: environment
	$(BIN)/model-analyzer runtime install
	test -d quick-start || $(BIN)/model-analyzer init quick-start
	$(BIN)/model-analyzer profile -f quick-start/config.yaml

# All tests but the slow ones, with those on the real server and the real perf_analyzer; with
# CHANGED=1 those that are due for what has changed since main.
test: tools browser prometheus
	$(BIN)/model-analyzer runtime install
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow" $(if $(CHANGED),$$($(BIN)/python -m tools.changed))

# The tests of `make test` that need no real programs: for the time between two edits.
fast: tools
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not e2e and not slow"

# All tests that need no real programs, at full size: for every night.
full: tools browser prometheus
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not e2e" --hypothesis-profile nightly

# What commands, pages and searches give becomes what tests expect: look at the difference in git.
goldens: tools
	RENEW=1 $(BIN)/python -m pytest -q -n 2 tests/cli/test_outputs.py \
	  tests/unit/reports/test_words_of_the_answer.py tests/unit/search/test_modes.py

# Everything on the real programs, slow or not, with a table of the scenarios; qa/run Q4 runs one.
qa: tools prometheus
	$(BIN)/model-analyzer runtime install
	$(BIN)/python -m pytest qa -v
	$(MAKE) soak

# Models of every kind, whose true answers are known, through every command; qa/zoo/run KIND takes one.
zoo: tools
	$(BIN)/model-analyzer runtime install
	$(BIN)/python qa/zoo/run

# Kinds of models on each version of Triton that is installed, every night.
versions: tools
	$(BIN)/python qa/versions/run

# Faults at random moments on the real programs, for some minutes: nothing acknowledged may be lost.
soak: MINUTES ?= 5
soak: SEED ?= 0
soak: tools
	$(BIN)/python qa/soak.py --minutes $(MINUTES) --seed $(SEED)

# Nine minutes of input of every kind, right and wrong: none may end in a traceback.
fuzz: tools
	$(BIN)/python tools/fuzz.py --minutes 9

# The fast tests with the oldest packages that pyproject.toml allows, on the oldest Python.
lowest: tools
	$(BIN)/uv venv -q --clear --python 3.10 .venv-lowest
	$(BIN)/uv pip install -q --python .venv-lowest --resolution lowest-direct -e ".[dev]"
	.venv-lowest/bin/python -m pytest -n 2 --dist worksteal -m "not e2e and not slow"

# The fast tests with the newest packages, on Python 3.13 or newer.
newest: tools
	$(BIN)/uv venv -q --clear --python '>=3.13' .venv-newest
	$(BIN)/uv pip install -q --python .venv-newest --upgrade -e ".[dev]"
	.venv-newest/bin/python -m pytest -n 2 --dist worksteal -m "not e2e and not slow"

# A Chromium for the tests of reports; without one they are skipped.
browser:
	tools/debian.sh chromium tests/browser chromium chromium-browser google-chrome google-chrome-stable

# A Prometheus for the tests of alert rules; without one they are skipped.
prometheus:
	tools/debian.sh prometheus tests/features/monitoring promtool

# Formatter, linter, and types of package, tests, tools and benchmarks.
check: tools
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy

# Formats, and mends what the linter can mend by itself.
fix: tools
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

# Which lines of the package the tests without the real programs run, in htmlcov/: measured, no gate.
coverage: tools
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not e2e and not slow" \
	  --cov --cov-report=html --cov-report=term:skip-covered

# The documentation as a site, in site/; any warning is an error.
site: tools
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build
	@echo "wrote site/index.html"

# Wheel and source distribution in dist/; the wheel is tried in an empty environment.
package: tools
	$(BIN)/python tools/package.py

# What a user needs.
environment: .venv/installed

# What tests, checks and documentation need.
tools: .venv/tools

# Both are made in one go, and by one make at a time: an interrupted installation is started again.
.venv/installed: pyproject.toml
	flock .venv.lock sh -ec 'test .venv/installed -nt pyproject.toml && exit; \
	  $(PYTHON) -m venv --clear .venv; \
	  $(BIN)/python -m pip install -q --disable-pip-version-check -e .; \
	  touch .venv/installed'

.venv/tools: .venv/installed
	flock .venv.lock sh -ec 'test .venv/tools -nt .venv/installed && exit; \
	  $(BIN)/python -m pip install -q --disable-pip-version-check -e ".[dev]"; \
	  touch .venv/tools'

# Removes what the other targets made.
clean:
	rm -rf .venv .venv.lock .venv-lowest .venv-newest quick-start site dist htmlcov .coverage
