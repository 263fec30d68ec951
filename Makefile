# Every goal makes .venv on first use and keeps it until setup.cfg changes. Needs python3 (3.10 or newer, with venv),
# make and a C compiler; PYTHON and VENV choose another interpreter and another folder.

PYTHON ?= python3
VENV ?= .venv
PY := $(VENV)/bin/python
READY := $(VENV)/ready
PEER_VENV ?= .venv-peer
PEER_READY := $(PEER_VENV)/ready

.DELETE_ON_ERROR:
.PHONY: help demo demo-web test test-fast check docs sdist fuzz peer-test test-targets directives golden bench bench-peers bench-compile bench-unseen clean

help:
	@echo "make demo           blur a photograph with five schedules (examples/blur_photo.py)"
	@echo "make demo-web       a page that blurs the photograph in a browser, and a look at it in a headless one"
	@echo "make test           run the tests"
	@echo "make test-fast      run some tests of every file, in less than 90 seconds"
	@echo "make check          ruff, mypy strict, the layer test"
	@echo "make sdist          a source distribution, dist/halide_core-*.tar.gz, which builds, tests and documents itself"
	@echo "make docs           the documentation as pages, from the docstrings: docs/out/index.html"
	@echo "make fuzz           random programs against all judges (CASES=400 SEED=1 FUZZ=--compiled)"
	@echo "make peer-test      the language beside Halide 21, which gets an environment of its own (.venv-peer)"
	@echo "make test-targets   the applications for other machines, in emulators: the same bytes (TARGETS='arm-64-linux …')"
	@echo "make directives     what the tests show of each directive: a table without an empty cell"
	@echo "make golden         rewrite tests/golden; read the difference before you commit it"
	@echo "make bench-unseen   random pipelines under random schedules beside Halide's wheel; SEED, BENCH='--threads 2'"
	@echo "make bench          the benchmarks beside Halide's wheel, in one run; BENCH='--help' shows the options"
	@echo "make bench-peers    the same beside numpy, scipy, OpenCV, numba and torch too, and shares of the peak"
	@echo "make bench-compile  measure how lowering grows with the pipeline"
	@echo "make clean          remove .venv and everything that tools and examples wrote"

demo: $(READY)
	@$(PY) examples/blur_photo.py

# Needs Chromium; ziglang joins the environment on first use.
demo-web: $(READY)
	@$(PY) -c 'import ziglang' 2>/dev/null || $(PY) -m pip install -q --disable-pip-version-check -e '.[zig]'
	@$(PY) examples/web/build.py --screenshot

# A process a core; the tests of one file share one, with what they compile.
test: $(READY)
	@$(PY) -m pytest -q -n auto --dist loadfile

# Some of each file, by tests/durations.json, which "pytest --update-durations" writes; in order, so that tests of what
# processes leave in the cache come after those that look whether it is whole.
test-fast: $(READY)
	@$(PY) -m pytest -q -n auto --dist loadfile --no-loadscope-reorder --fast

# All three run, so that one look shows all there is to mend.
check: $(READY)
	@failed=0; \
	$(PY) -m ruff check || failed=1; \
	$(PY) -m mypy || failed=1; \
	$(PY) -m pytest -q tests/test_layers.py || failed=1; \
	exit $$failed

# The tools for it join the environment on first use. A warning is an error: what a docstring says is shown as it is meant.
docs: $(READY)
	@$(PY) -c 'import sphinx' 2>/dev/null || $(PY) -m pip install -q --disable-pip-version-check -e '.[docs]'
	@$(PY) -m sphinx -q -W --keep-going -b html docs docs/out
	@echo "docs/out/index.html"

sdist: $(READY)
	@$(PY) -c "import setuptools" 2>/dev/null || $(PY) -m pip install -q --disable-pip-version-check setuptools
	@mkdir -p dist; $(PY) -c "from setuptools import build_meta; print('dist/' + build_meta.build_sdist('dist'))" | tail -1

CASES ?= 400
SEED ?= 1
FUZZ ?=

fuzz: $(READY)
	@$(PY) -m tests.campaigns.fuzz --cases $(CASES) --seed $(SEED) $(FUZZ)

# Not part of "make test": it downloads Halide 21, and only compares.
peer-test: $(READY) $(PEER_READY)
	@$(PY) -m tests.campaigns.peer.linked --peer $(PEER_VENV)/bin/python
	@$(PY) -m tests.campaigns.peer --peer $(PEER_VENV)/bin/python

# Needs qemu-user and node; ziglang joins the environment on first use.
test-targets: $(READY)
	@$(PY) -c 'import ziglang' 2>/dev/null || $(PY) -m pip install -q --disable-pip-version-check -e '.[zig]'
	@$(PY) -m tests.campaigns.targets $(TARGETS)

directives: $(READY)
	@$(PY) -m tests.campaigns.directives --seed $(SEED)

golden: $(READY)
	@$(PY) -m pytest -q tests --update-golden

# The peers get an environment of their own, under benchmarks/out, on first use.
bench: $(READY)
	@$(PY) -m benchmarks.run $(BENCH)

bench-peers: $(READY)
	@$(PY) -m benchmarks.run --libraries $(BENCH)

bench-unseen: $(READY)
	@$(PY) -m benchmarks.unseen --seed $(SEED) $(BENCH)

bench-compile: $(READY)
	@$(PY) -m benchmarks.compile_time

$(READY): setup.cfg pyproject.toml $(PY)
	@echo "Installing halide-core and its tools into $(VENV) ..."
	@$(PY) -m pip install -q --disable-pip-version-check -e '.[dev]'
	@touch $@

$(PEER_READY):
	@echo "Installing Halide 21 into $(PEER_VENV) ..."
	@rm -rf $(PEER_VENV)
	@$(PYTHON) -m venv $(PEER_VENV) || $(PYTHON) -m virtualenv -q $(PEER_VENV)
	@$(PEER_VENV)/bin/python -m pip install -q --disable-pip-version-check halide==21.0.0 numpy
	@touch $@

# A symbolic link whose target is gone counts as missing, so an interpreter that was removed makes a new .venv.
$(PY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { \
	    echo "make: halide-core needs Python 3.10 or newer as \"$(PYTHON)\"; name another: make PYTHON=python3.12" >&2; \
	    exit 1; }
	@rm -rf $(VENV)
	@$(PYTHON) -m venv $(VENV) || $(PYTHON) -m virtualenv -q $(VENV) || { \
	    rm -rf $(VENV); \
	    echo "make: \"$(PYTHON)\" can't make a virtual environment in \"$(VENV)\" (its own words are above)." >&2; \
	    echo "make: On Debian and Ubuntu: apt install python3-venv. Or: pip install virtualenv. Then again." >&2; \
	    exit 1; }

clean:
	rm -rf $(VENV) $(PEER_VENV) build dist *.egg-info src/*.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis examples/out benchmarks/out docs/out
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
