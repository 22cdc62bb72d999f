# CrowdNotes: `make app` and `make test` are all a new machine needs (Python 3.11+, git, make).

PYTHON ?= python3
PORT ?= 8501
# Each worker spends twenty seconds of processor time on imports, so a few chosen tests (ARGS) run in one process.
WORKERS ?= $(if $(ARGS),0,2)
# Let Python cache compiled tests even if the shell forbids it: the next run starts ten seconds sooner.
export PYTHONDONTWRITEBYTECODE :=
VENV := .venv
BIN := $(VENV)/bin
# Python compiles what it imports when it first does; pip would spend a minute on all the rest too.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
TORCH := torch==2.13.0
# The usual PyTorch for Linux brings gigabytes for graphics cards; this index of PyTorch's has builds for the processor.
# `TORCH_INDEX=` takes the usual one.
TORCH_INDEX ?= $(if $(filter Linux,$(shell uname -s)),https://download.pytorch.org/whl/cpu)
PYTEST = $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

.DEFAULT_GOAL := help
.PHONY: help app install test test-deep coverage check picture bench lock clean

help: ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 12

app: install ## Start the program at http://localhost:8501 (PORT=… for another port)
	@echo "CrowdNotes: http://localhost:$(PORT)  (Ctrl+C ends it)"
	@exec $(BIN)/python -m streamlit run app.py --server.port $(PORT)

install: $(VENV)/.installed ## Make .venv and install the pinned requirements

test: $(VENV)/.tested ## Install what tests need, a browser included, and run the tests (ARGS="-k name": some)
	@$(BIN)/python -m tests.browser
	@$(PYTEST) $(ARGS)

# Deep tests spend half their time waiting for browsers and other processes: three share two cores well.
test-deep: WORKERS = $(if $(ARGS),0,3)
test-deep: $(VENV)/.tested ## The tests that train models or take long, and every property on more examples
	@$(BIN)/python -m tests.browser
	@$(PYTEST) -m "deep or hypothesis" --hypothesis-profile=deep $(ARGS)

coverage: $(VENV)/.tested ## The tests again, with the shares of lines and branches that they run
	@$(BIN)/python -m tests.browser
	@$(PYTEST) --cov --cov-report=term:skip-covered $(ARGS)

# The two processes of mypy may lose each other on a busy machine, so what fails is checked by one again.
check: $(VENV)/.tested ## Style, strict types, the layers of the design, links in the documents
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy || $(BIN)/mypy --num-workers 0
	@$(BIN)/lint-imports
	@$(BIN)/python -m tests.links

picture: $(VENV)/.tested ## Take the README's picture of the Draft page anew
	@CROWDNOTES_RENEW_PICTURE=1 $(BIN)/python -m pytest -q -n 0 -m "" tests/journeys/test_readme_picture.py

bench: $(VENV)/.tested ## Measure speed and memory (DATA=… a table of documents; a made one without)
	@$(BIN)/python -m tests.bench $(if $(DATA),--data $(DATA))

lock: $(VENV)/.tested ## Write constraints.txt from what is installed
	@{ echo "# Everything that requirements.txt and requirements-dev.txt bring, pinned. Made by \`make lock\`."; \
	   $(BIN)/python -m pip freeze --exclude-editable | sed 's/+cpu//' | grep -vE '^(pip|setuptools|wheel)=='; } > constraints.txt

clean: ## Remove the environment and everything that was built (your cases are elsewhere)
	rm -rf $(VENV) build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	  || { echo "CrowdNotes needs Python 3.11 or newer; '$(PYTHON)' is not. Try: make app PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv $(VENV)

# torch goes first and alone: nothing else is taken from its index, and nothing later asks for another build.
$(VENV)/.installed: requirements.txt constraints.txt pyproject.toml | $(BIN)/python
	@echo "Installing (a few minutes the first time)…"
	@$(PIP) --no-deps --retries 2 --timeout 20 $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX)) $(TORCH) \
	  || { echo "No PyTorch from $(TORCH_INDEX); taking the usual one."; $(PIP) $(TORCH); }
	@$(PIP) -r requirements.txt
	@$(PIP) --no-deps --editable .
	@touch $@

$(VENV)/.tested: $(VENV)/.installed requirements-dev.txt
	@$(PIP) -r requirements-dev.txt
	@touch $@
