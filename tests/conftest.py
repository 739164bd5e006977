"""What the tests of the built site share: the site, built once and served."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from published import PORT, REPOSITORY_URL, ROOT, SITE_URL, SOURCES

if TYPE_CHECKING:
    from collections.abc import Iterator
NOT_BUILT = pytest.StashKey[bool]()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that asks for ``page`` on every page."""
    if "page" in metafunc.fixturenames:
        # Module scope keeps the tests of a page together, so that a browser opens it once.
        metafunc.parametrize("page", SOURCES, scope="module")


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess]:
    out = tmp_path_factory.mktemp("built") / "site"
    done = subprocess.run(
        [sys.executable, "tools/site.py", "--out", out],
        cwd=ROOT,
        env=os.environ | {"SITE_URL": SITE_URL, "REPOSITORY_URL": REPOSITORY_URL},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        check=False,
    )
    return out, done


@pytest.fixture(scope="session")
def site(build: tuple[Path, subprocess.CompletedProcess], pytestconfig: pytest.Config) -> Path:
    """Give the folder of the built site."""
    out, done = build
    if done.returncode:
        pytestconfig.stash[NOT_BUILT] = True
        pytest.skip("the site was not built; test_the_site_builds says why")
    return out


@pytest.fixture(scope="session")
def served(site: Path) -> Iterator[None]:
    """Serve the built site at SITE_URL."""
    command = [sys.executable, "tools/serve.py", site, "--port", str(PORT)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        assert SITE_URL in server.stdout.readline()
        yield
        server.terminate()


def pytest_sessionfinish(session: pytest.Session) -> None:
    # Whichever tests were selected, skipping them for want of a site is no success.
    if session.config.stash.get(NOT_BUILT, False):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = terminalreporter.stats.get("skipped", [])
    left_out = [report for report in skipped if "test_browser.py" in report.nodeid]
    if left_out:
        reason = left_out[0].longrepr[2].removeprefix("Skipped: ")
        terminalreporter.write_line(f"{len(left_out)} browser tests were left out: {reason}")
