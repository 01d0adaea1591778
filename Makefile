# One command for everything: `make` alone lists them.
# It needs make and Python 3.11 or newer with venv; the rest comes from the locked requirements.

PYTHON  ?= python3
VENV    := .venv
BIOME   := $(VENV)/bin/biome
PIP     := $(VENV)/bin/python -m pip --disable-pip-version-check
# One more than there are cores, for some tests wait.
WORKERS ?= $(shell n=$$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN); echo $$((n < 2 ? 3 : n + 1)))
# Where there is a disk in memory with room, tests write there: on a real one they wait ten thousand times.
SCRATCH := $(shell df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 && $$4 > 2000000 {print "TMPDIR=/dev/shm"}')
# Tests start hundreds of processes: each would compile the same files again where the environment says not to keep them.
COMPILED := env -u PYTHONDONTWRITEBYTECODE
# How much befalls the service in make chaos, and how long it goes on at most.
MOVES   ?= 100000
FAULTS  ?= 1000
SECONDS ?= 10800
UV      ?= uv==0.13.8
LOCK    := pip compile --quiet --universal --python-version 3.11 --generate-hashes --annotation-style line \
           --no-emit-index-url --no-emit-find-links --group build

# $(call step,what is being done,command,advice when it fails): one line, then how long it took.
# No comma and no apostrophe inside the three: make and the shell would end the argument there.
define step
@echo '-- $(strip $(1))'; start=$$(date +%s); { $(2); } || { echo '!! failed: $(strip $(3))' >&2; exit 1; }; \
echo "   $$(($$(date +%s) - start)) s"
endef

.DEFAULT_GOAL := help
.PHONY: help play test lint format types pytest soak chaos catalogues pictures bench bots release-check browser env lock clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

play: $(VENV)/run.stamp ## install and start a service with a demo table on this machine (PORT=9000 chooses the port)
	$(VENV)/bin/depesche serve --demo $(if $(PORT),--port $(PORT))

test: lint types pytest ## everything a change must pass: style; types; tests in parallel

lint: env ## ruff for Python and biome for scripts: rules and layout
	$(call step,ruff: rules,$(VENV)/bin/ruff check --quiet,the lines above name file and rule; make format mends what can be mended)
	$(call step,ruff: layout,$(VENV)/bin/ruff format --check,make format lays these files out)
	$(call step,biome: rules and layout of scripts,if [ -x $(BIOME) ]; then $(BIOME) check --error-on-warnings; \
	else echo "   there is no biome for this kind of machine; CI checks this"; fi,make format mends what can be mended)

format: env ## mend style and layout in place
	$(call step,ruff: mending,$(VENV)/bin/ruff check --quiet --fix-only && $(VENV)/bin/ruff format --quiet,see the lines above)
	$(call step,biome: mending,! [ -x $(BIOME) ] || $(BIOME) check --write,see the lines above)

types: env ## mypy, strict
	$(call step,mypy: types of engine; service; workers,$(VENV)/bin/mypy --no-error-summary,the lines above name file and reason)

pytest: env ## the tests alone, in parallel (WORKERS=4 ARGS="-k kaiser")
	$(call step,pytest: $(WORKERS) workers,$(COMPILED) $(SCRATCH) $(VENV)/bin/pytest -q -n $(WORKERS) --dist loadgroup --no-loadscope-reorder $(ARGS),run one test alone with $(VENV)/bin/pytest -k NAME)

soak: env ## the tests that take minutes
	$(call step,pytest: soak,$(VENV)/bin/pytest -m soak $(ARGS),see the lines above)

chaos: env ## a service and its servers among faults of every kind (MOVES=100000 FAULTS=1000 SECONDS=10800 at most)
	$(call step,pytest: chaos,CHAOS_MOVES=$(MOVES) CHAOS_FAULTS=$(FAULTS) CHAOS_SECONDS=$(SECONDS) $(SCRATCH) \
	$(VENV)/bin/pytest -m soak -s -k servers_for_long tests/workers/test_survival.py $(ARGS),see the lines above)

catalogues: env ## gather what has to be translated and say what is missing in templates/locale
	@$(VENV)/bin/python -m service.text.messages

pictures: env ## write the pictures of the documentation, from a real browser
	$(VENV)/bin/python -m tests.pictures

bench: env ## the measurements, kept with machine and load in tests/bench/RESULTS.md (ARGS="rebuild audit": only these)
	$(VENV)/bin/python -m tests.bench.results $(ARGS)

bots: env ## how strong the levels of the bots are, in hours of matches (ARGS="20 kaiser": pairs of games, and which)
	nice -n 15 $(VENV)/bin/python -m tests.bench.bots $(ARGS)

release-check: env ## what checks a release: wheels, recipes, golden logs (LONG=1: also what takes hours, and a bare server)
	$(call step,pytest: release,$(COMPILED) $(SCRATCH) $(VENV)/bin/pytest -q -n $(WORKERS) --dist loadgroup -m "release and not soak" \
	$$(grep -rlF mark.release tests --include "test_*.py") $(ARGS),run one test alone with $(VENV)/bin/pytest -m release -k NAME)
	$(call step,audit of the golden logs,$(VENV)/bin/depesche audit tests/golden/*/*.json >/dev/null,\
	a change altered finished games: make it a new edition of the game)
	$(if $(LONG),$(MAKE) soak bench)

browser: ## look for Chromium, which the browser tests drive, and install it when root
	@for name in chromium-headless-shell chromium chromium-browser google-chrome; do \
	  if command -v $$name >/dev/null; then echo "found: $$(command -v $$name)"; exit 0; fi; \
	done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then apt-get update \
	&& { apt-get install -y chromium-headless-shell || apt-get install -y chromium; }; \
	else echo "no Chromium here; on Debian or Ubuntu: sudo apt-get install chromium" >&2; exit 1; fi

env: $(VENV)/test.stamp ## make .venv ready for tests

lock: ## work out requirements/*.txt anew from pyproject.toml
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && export UV_CUSTOM_COMPILE_COMMAND="make lock" && \
	echo "-- locking with $(UV)" && $(PYTHON) -m venv "$$dir" && "$$dir/bin/pip" install --quiet "$(UV)" && \
	"$$dir/bin/uv" $(LOCK) pyproject.toml --extra prod --extra test -o requirements/test.txt $(LOCKARGS) && \
	"$$dir/bin/uv" $(LOCK) pyproject.toml -c requirements/test.txt -o requirements/run.txt $(LOCKARGS) && \
	"$$dir/bin/uv" $(LOCK) pyproject.toml --extra prod -c requirements/test.txt -o requirements/prod.txt $(LOCKARGS)

clean: ## remove the environment and whatever tools left behind
	rm -rf $(VENV) build dist *.egg-info .coverage* htmlcov .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Depesche needs Python 3.11 or newer; name one: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "this Python cannot make environments; on Debian or Ubuntu: sudo apt install python3-venv" >&2; exit 1; }
	$(call step,making $(VENV),$(PYTHON) -m venv $(VENV),remove $(VENV) and call make again)

# A stamp stands for a finished installation: with an unchanged lock the second call does nothing.
$(VENV)/%.stamp: requirements/%.txt pyproject.toml | $(VENV)/bin/python
	$(call step,installing requirements/$*.txt,$(PIP) install --quiet --require-hashes -r requirements/$*.txt,\
	the lines above say why; without a network this step cannot work; then call make again)
	$(call step,installing Depesche itself,$(PIP) install --quiet --no-deps --no-build-isolation --editable .,see the lines above)
	@touch $@
