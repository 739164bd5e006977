"""Run every Python block of the pages, the READMEs and the docstrings as a test; see ``tools/blocks.py``.

``pytest`` compares what is shown with what the run gives; ``pytest --record`` writes it anew.
"""

from __future__ import annotations

import blocks
import pytest
import torch
from sybil import Sybil
from sybil.document import PythonDocStringDocument


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record", action="store_true", help="write outputs, figures and page feet anew")


def pytest_configure(config: pytest.Config) -> None:
    record = config.getoption("--record")

    def setup(namespace: dict[str, object]) -> None:
        torch.manual_seed(0)
        namespace.update(
            __name__="__main__",
            _record=record,
            _restore=(torch.is_grad_enabled(), torch.get_default_dtype()),
        )

    def teardown(namespace: dict[str, object]) -> None:
        grad_enabled, dtype = namespace["_restore"]
        torch.set_grad_enabled(grad_enabled)
        torch.set_default_dtype(dtype)
        torch.set_printoptions(profile="default")
        torch.autograd.set_detect_anomaly(False)

    pages.setup = setup
    pages.teardown = teardown


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        example = getattr(item, "example", None)
        if example is not None and isinstance(example.region.evaluator, blocks.Block):
            blocks.found_blocks[blocks.kind(example)] += 1


def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.config.getoption("--record"):
        session.config.stash[RECORDED] = blocks.write_recordings()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    counts = [f"{name} {blocks.ran_blocks[name]} of {n}" for name, n in sorted(blocks.found_blocks.items())]
    if counts:
        terminalreporter.write_line(f"Python blocks run: {', '.join(counts)}")
    if RECORDED in terminalreporter.config.stash:
        names = terminalreporter.config.stash[RECORDED]
        terminalreporter.write_line("Recorded: " + (", ".join(names) or "nothing has changed"))
        for page in sorted(blocks.pages_failed):
            terminalreporter.write_line(f"Left as it was, because a block failed: {page}")


RECORDED = pytest.StashKey[list[str]]()
# Sybil collects below the folder of the file that makes it.
pages = Sybil(
    parsers=[blocks.blocks],
    patterns=["*.md", "gradfn_tutorial/*.py"],
    document_types={".py": PythonDocStringDocument},
    excludes=["CONTRIBUTING.md", "CHANGELOG.md"],
)
pytest_collect_file = pages.pytest()
