PYTHON ?= python3
PORT ?= 8000
LIMIT ?= 300
MINUTES ?= 60
BIN := .venv/bin

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help serve test record pin site offline publish mutate lighthouse canary bench names

help: ## list these commands
	@sed -n 's/^\([a-z]*\):.*## /make \1\t/p' Makefile | expand -t 14

serve: site ## build both languages and serve them on http://127.0.0.1:8000/ (PORT=8000)
	@$(BIN)/python tools/serve.py --port $(PORT)

test: .venv/test.installed ## run every test, the pages' code included
	@# Two processes whose torch starts a thread for each core would wait for one another.
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2

# Without tests/: they hold the recordings against the runs, and fail until there are new ones. The API pages come from
# the docstrings, and are run as pages afterwards.
record: .venv/test.installed ## run the pages and rewrite their outputs, figures and notebooks
	$(BIN)/python -m pytest --record gradfn_tutorial
	$(BIN)/python tools/api.py
	$(BIN)/python -m pytest --record README.md README.zh.md docs
	$(BIN)/python tools/notebooks.py
	for tool in topics errors claims names glossary cheat_sheet recipes; do $(BIN)/python tools/$$tool.py || exit; done
	$(BIN)/python -m pytest --record docs/*/reference
	$(BIN)/python tools/versions.py

pin: .venv/test.installed ## move the pinned torch and record everything anew (TORCH=2.15.0)
	@$(BIN)/python tools/pin.py $(TORCH)

site: .venv/site.installed ## build both languages into site/
	@$(BIN)/python tools/site.py

offline: .venv/offline.installed ## make dist/: the edition that needs no server, as a zip, and a PDF of each language
	$(BIN)/python tools/site.py --offline --out dist/grad_fn-and-grad
	$(BIN)/python tools/pdf.py dist/grad_fn-and-grad --out dist
	cd dist && rm -f grad_fn-and-grad.zip && $(CURDIR)/$(BIN)/python -m zipfile -c grad_fn-and-grad.zip grad_fn-and-grad

publish: offline ## build both languages with the zip and the PDFs to download from the home page
	@$(BIN)/python tools/site.py --editions dist

mutate: .venv/test.installed ## change 300 things, one at a time, and report what no test notices (LIMIT=300 MINUTES=60)
	OMP_NUM_THREADS=1 $(BIN)/python tools/mutate.py --limit $(LIMIT) --minutes $(MINUTES)

lighthouse: site ## let Lighthouse judge the built site; needs Node.js
	$(BIN)/python tools/lighthouse.py

canary: .venv/canary.installed ## build both languages with Zensical and count the pages
	$(BIN)/python tools/canary.py

bench: .venv/bench.installed ## time the helper package against other tools and rewrite the table of the documentation
	$(BIN)/python tools/bench.py --record

# The oldest torch that the package supports, the one that outputs are recorded with, and the newest.
TORCHES ?= 2.6.0 2.13.0 2.15.0

names: .venv/test.installed ## run the operations with several versions of torch and rewrite the page of node names (TORCHES="2.6.0 2.15.0")
	@$(BIN)/python tools/names.py --versions $(TORCHES)

# One stamp for each extra: pip runs again only when what it would install has changed.
.venv/%.installed: pyproject.toml constraints.txt | .venv/created
	@echo "Installing into .venv. The first time takes minutes; README.md has the line for CPU-only torch on Linux."
	$(BIN)/python -m pip install --editable '.[$*]' --constraint constraints.txt
	@touch $@

.venv/created:
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Building needs Python 3.11 or newer; $(PYTHON) is " + sys.version.split()[0] + ". Name another one: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv .venv
	@touch $@
