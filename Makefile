# `make` alone lists all commands. They need Python 3.11 or newer with venv; all else comes from the locked requirements.

PYTHON  ?= python3
VENV    := .venv
BIOME   := $(VENV)/bin/biome
PIP     := $(VENV)/bin/python -m pip --disable-pip-version-check
# One worker more than the machine has cores, because some tests wait.
WORKERS ?= $(shell n=$$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN); echo $$((n < 2 ? 3 : n + 1)))
# Tests write to a disk in memory if there is one with room: on a real disk they wait ten thousand times.
SCRATCH := $(shell df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 && $$4 > 2000000 {print "TMPDIR=/dev/shm"}')
# Tests start hundreds of processes, and each would compile the same files again if the result were not kept.
COMPILED := env -u PYTHONDONTWRITEBYTECODE
# make chaos ends after so many moves and faults, or after so many seconds.
MOVES   ?= 100000
FAULTS  ?= 1000
SECONDS ?= 10800
UV      ?= uv==0.13.8
LOCK    := pip compile --quiet --universal --python-version 3.11 --generate-hashes --annotation-style line \
           --no-emit-index-url --no-emit-find-links --group build

# $(call step,TITLE,COMMAND,ADVICE): print the title, run the command, print how long it took; if it fails, print the advice.
# The three must not contain a comma or an apostrophe: make and the shell would end the argument there.
define step
@echo '-- $(strip $(1))'; start=$$(date +%s); { $(2); } || { echo '!! failed: $(strip $(3))' >&2; exit 1; }; \
echo "   $$(($$(date +%s) - start)) s"
endef

run_alone = the lines above name the tests that fail; run one alone with $(VENV)/bin/pytest $(1) -k NAME

.DEFAULT_GOAL := help
.PHONY: help play test lint format types pytest soak chaos catalogues pictures bench bots release-check browser env lock clean

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

play: $(VENV)/run.stamp ## install Depesche, start it, and print the address of a table against a bot (PORT=9000 chooses the port)
	$(VENV)/bin/depesche serve --demo $(if $(PORT),--port $(PORT))

test: lint ## check style and types and run the tests: every change must pass it
	@$(MAKE) --no-print-directory --jobs=2 types pytest # mypy uses one core alone

lint: env ## check the style of Python (ruff) and of scripts (biome)
	$(call step,ruff: rules,$(VENV)/bin/ruff check --quiet,the lines above name file and rule; make format corrects what it can)
	$(call step,ruff: layout,$(VENV)/bin/ruff format --check,make format corrects the layout of these files)
	$(call step,biome: rules and layout of scripts,if [ -x $(BIOME) ]; then $(BIOME) check --error-on-warnings; \
	else echo "   biome has no wheel for this kind of machine; CI runs it"; fi,\
	the lines above name file and rule; make format corrects what it can)

format: env ## correct style and layout in place
	$(call step,ruff: correcting,$(VENV)/bin/ruff check --quiet --fix-only && $(VENV)/bin/ruff format --quiet,\
	the lines above name the file that could not be read)
	$(call step,biome: correcting,! [ -x $(BIOME) ] || $(BIOME) check --write,the lines above name what you have to correct by hand)

types: env ## check the types (mypy, strict)
	$(call step,mypy: types of engine; service; workers,$(VENV)/bin/mypy --no-error-summary,the lines above name file and reason)

pytest: env ## run the tests alone, in parallel (WORKERS=4 ARGS="-k kaiser")
	$(call step,pytest: $(WORKERS) workers,$(COMPILED) $(SCRATCH) $(VENV)/bin/pytest -q -n $(WORKERS) \
	--dist loadgroup --no-loadscope-reorder $(ARGS),$(call run_alone,))

soak: env ## run the tests that take minutes
	$(call step,pytest: soak,$(VENV)/bin/pytest -m soak $(ARGS),$(call run_alone,-m soak))

chaos: env ## play while servers and processes fail (until MOVES=100000 and FAULTS=1000; at most SECONDS=10800)
	$(call step,pytest: chaos,CHAOS_MOVES=$(MOVES) CHAOS_FAULTS=$(FAULTS) CHAOS_SECONDS=$(SECONDS) $(SCRATCH) \
	$(VENV)/bin/pytest -m soak -s -k servers_for_long tests/workers/test_survival.py $(ARGS),\
	the lines above name the promise that was broken and the fault before it)

catalogues: env ## gather all texts into templates/locale, and list missing translations
	@$(VENV)/bin/python -m service.text.translation_catalogues

pictures: env ## write the pictures of the documentation, from a real browser
	$(call step,pictures of the documentation,$(VENV)/bin/python -m tests.pictures,\
	the lines above say why; make browser installs Chromium)

bench: env ## measure speed in ten minutes, and store it in tests/bench/RESULTS.md (ARGS="rebuild audit": only these; ARGS=all)
	$(COMPILED) $(VENV)/bin/python -m tests.bench.results $(ARGS)

bots: env ## measure how strong the bots are, in matches that take hours (ARGS="20 kaiser": 20 pairs of games of kaiser)
	nice -n 15 $(VENV)/bin/python -m tests.bench.bots $(ARGS)

release-check: env ## check a release: wheels, recipes, pictures (LONG=1: also a bare server, soak and bench)
	$(call step,pytest: release,$(COMPILED) $(SCRATCH) $(VENV)/bin/pytest -q -n $(WORKERS) --dist loadgroup --no-loadscope-reorder \
	-m "release and not soak" --ignore tests/test_ratios.py $(ARGS),$(call run_alone,-m release))
	$(call step,pytest: ratios of speed; alone,$(VENV)/bin/pytest -q -m release tests/test_ratios.py,$(call run_alone,-m release))
	$(if $(LONG),$(MAKE) soak bench)

browser: ## look for Chromium, which the browser tests need; root installs it
	@for name in chromium-headless-shell chromium chromium-browser google-chrome; do \
	  if command -v $$name >/dev/null; then echo "found: $$(command -v $$name)"; exit 0; fi; \
	done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then apt-get update \
	&& { apt-get install -y chromium-headless-shell || apt-get install -y chromium; }; \
	else echo "no Chromium here; on Debian or Ubuntu: sudo apt-get install chromium" >&2; exit 1; fi

env: $(VENV)/test.stamp ## install everything for tests into .venv

lock: ## write requirements/*.txt from pyproject.toml
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && export UV_CUSTOM_COMPILE_COMMAND="make lock" && \
	echo "-- locking with $(UV)" && $(PYTHON) -m venv "$$dir" && "$$dir/bin/pip" install --quiet "$(UV)" && \
	"$$dir/bin/uv" $(LOCK) pyproject.toml --extra prod --extra test -o requirements/test.txt $(LOCKARGS) && \
	"$$dir/bin/uv" $(LOCK) pyproject.toml -c requirements/test.txt -o requirements/run.txt $(LOCKARGS) && \
	"$$dir/bin/uv" $(LOCK) pyproject.toml --extra prod -c requirements/test.txt -o requirements/prod.txt $(LOCKARGS)

clean: ## remove .venv and everything that tools wrote
	rm -rf $(VENV) build dist *.egg-info .coverage* htmlcov .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Depesche needs Python 3.11 or newer; name one: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "this Python has no venv; on Debian or Ubuntu: sudo apt install python3-venv" >&2; exit 1; }
	$(call step,making $(VENV),$(PYTHON) -m venv $(VENV),remove $(VENV) and call make again)

# A stamp marks a finished installation: while the lock is unchanged, the next call does nothing.
$(VENV)/%.stamp: requirements/%.txt pyproject.toml | $(VENV)/bin/python
	$(call step,installing requirements/$*.txt,$(PIP) install --quiet --require-hashes -r requirements/$*.txt,\
	the lines above say why; it needs a network; call make again when you have one)
	$(call step,installing Depesche itself,$(PIP) install --quiet --no-deps --no-build-isolation --editable .,\
	the lines above say why; make clean and call make again)
	@touch $@
