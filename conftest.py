"""Run every Python block of the pages, the READMEs and the docstrings as a test; see ``tools/blocks.py``.

``pytest`` compares what is shown with what the run gives; ``pytest --record`` writes it anew.
"""

from __future__ import annotations

import blocks
import pytest
import torch
from sybil import Sybil
from sybil.document import PythonDocStringDocument
from xdist.scheduler import LoadFileScheduling


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record", action="store_true", help="write outputs, figures and page feet anew")


def pytest_configure(config: pytest.Config) -> None:
    record = config.getoption("--record")
    config.addinivalue_line("markers", "pinned_torch: holds on the torch of constraints.txt alone")
    config.addinivalue_line("markers", "site: looks at the built site; the tests' conftest.py marks them")
    config.addinivalue_line("markers", "offline: holds for the edition without a server too")

    def setup(namespace: dict[str, object]) -> None:
        torch.manual_seed(0)
        # torch prints some warnings once in a process, and each page is a process to its reader.
        torch.set_warn_always(True)
        namespace.update(
            __name__="__main__",
            _record=record,
            _settings=[read() for read, _ in SETTINGS],
        )

    def teardown(namespace: dict[str, object]) -> None:
        for (_, write), value in zip(SETTINGS, namespace["_settings"]):
            write(value)
        torch.set_default_device(None)
        torch.set_printoptions(profile="default")

    pages.setup = setup
    pages.teardown = teardown


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        example = getattr(item, "example", None)
        if example is not None and isinstance(example.region.evaluator, blocks.Block):
            blocks.found_blocks[blocks.kind(example)] += 1
        if not blocks.IS_PINNED and item.get_closest_marker("pinned_torch"):
            item.add_marker(pytest.mark.skip(reason=blocks.PINNED_ONLY))


def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.config.getoption("--record"):
        write = blocks.write_recordings if blocks.IS_PINNED else blocks.write_differing
        session.config.stash[RECORDED] = write()
    # One of several processes: make test runs the files in two.
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["blocks"] = (dict(blocks.found_blocks), dict(blocks.ran_blocks))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> LoadFileScheduling:
    return ByFile(config, log)


class ByFile(LoadFileScheduling):
    """A file's tests in one process: the blocks of a page are one program, and most files set up what takes long.

    The longest files are shared out: the browser's by page, and those whose tests start a process each.
    """

    def _split_scope(self, nodeid: str) -> str:
        file, _, test = nodeid.partition("::")
        if file.endswith("test_browser.py"):
            return f"{file} {test.partition('[')[2].rpartition('/')[0]}"
        return nodeid if file.endswith(("test_bites.py", "test_snippets.py")) else file


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: object) -> None:
    # Each process has found all blocks and run some.
    found, ran = node.workeroutput["blocks"]
    blocks.found_blocks |= found
    blocks.ran_blocks.update(ran)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    counts = [f"{name} {blocks.ran_blocks[name]} of {n}" for name, n in sorted(blocks.found_blocks.items())]
    if counts:
        terminalreporter.write_line(f"Python blocks run: {', '.join(counts)}")
    if not blocks.IS_PINNED:
        differing = sum(map(len, blocks.differing_here.values()))
        terminalreporter.write_line(
            f"torch {blocks.RUNNING}, not {blocks.PINNED}: {differing} recorded differences"
            if blocks.differing_here
            else f"torch {blocks.RUNNING}, not {blocks.PINNED}, and nothing recorded: every difference fails"
        )
        skipped = terminalreporter.stats.get("skipped", [])
        if left_out := [report for report in skipped if report.longrepr[2].endswith(blocks.PINNED_ONLY)]:
            terminalreporter.write_line(
                f"{len(left_out)} tests were left out, each because {blocks.PINNED_ONLY}"
            )
    if RECORDED in terminalreporter.config.stash:
        names = terminalreporter.config.stash[RECORDED]
        terminalreporter.write_line("Recorded: " + (", ".join(names) or "nothing has changed"))
        for page in sorted(blocks.pages_failed):
            terminalreporter.write_line(f"Left as it was, because a block failed: {page}")


# What a page may change for a while, and finds as it was.
SETTINGS = (
    (torch.is_grad_enabled, torch.set_grad_enabled),
    (torch.is_anomaly_enabled, torch.autograd.set_detect_anomaly),
    (torch.get_default_dtype, torch.set_default_dtype),
    (torch.get_num_threads, torch.set_num_threads),
    (torch.are_deterministic_algorithms_enabled, torch.use_deterministic_algorithms),
    (torch.get_float32_matmul_precision, torch.set_float32_matmul_precision),
)
RECORDED = pytest.StashKey[list[str]]()
# Sybil collects below the folder of the file that makes it.
pages = Sybil(
    parsers=[blocks.blocks],
    patterns=["*.md", "gradfn_tutorial/*.py"],
    document_types={".py": PythonDocStringDocument},
)
pytest_collect_file = pages.pytest()
