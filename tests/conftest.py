"""What the tests share: the site, built once and served, a browser that opens it, and quick processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from chromium import PROGRAMS, SWITCHES, find, serving
from filelock import FileLock
from forks import Forks
from publish import EDITIONS
from published import HOST, OFFLINE_SITE, PATIENCE, REPOSITORY_URL, ROOT, SITE_URL, SOURCES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, BrowserContext, Page
NOT_BUILT = pytest.StashKey[bool]()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that asks for ``page`` on every page."""
    if "page" in metafunc.fixturenames:
        # Module scope keeps the tests of a page together, so that a browser opens it once.
        metafunc.parametrize("page", SOURCES, scope="module")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for needed, marker in (("build", "site"), ("browser", "offline")):
            if needed in getattr(item, "fixturenames", ()):
                item.add_marker(marker)


@pytest.fixture(scope="session")
def build(
    tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config
) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """Build the site once for all processes of the run."""
    if OFFLINE_SITE:
        return Path(OFFLINE_SITE), subprocess.CompletedProcess([], 0, "")
    run = tmp_path_factory.getbasetemp()
    if hasattr(pytestconfig, "workerinput"):
        run = run.parent
    out, log, editions = run / "built" / "site", run / "built.log", run / "editions"
    command = [sys.executable, "tools/site.py", "--out", str(out), "--editions", str(editions)]
    with FileLock(run / "built.lock"):
        if not log.exists():
            editions.mkdir()
            for name in EDITIONS:
                (editions / name).touch()
            environment = os.environ | {"SITE_URL": SITE_URL, "REPOSITORY_URL": REPOSITORY_URL}
            with log.open("w") as stream:
                done = subprocess.run(
                    command, cwd=ROOT, env=environment, stdout=stream, stderr=subprocess.STDOUT, check=False
                )
                stream.write(f"{done.returncode}\n")
    *printed, status = log.read_text(encoding="utf-8").splitlines(keepends=True)
    return out, subprocess.CompletedProcess(command, int(status), "".join(printed))


@pytest.fixture(scope="session")
def site(build: tuple[Path, subprocess.CompletedProcess[str]], pytestconfig: pytest.Config) -> Path:
    """Give the folder of the built site."""
    out, done = build
    if done.returncode:
        pytestconfig.stash[NOT_BUILT] = True
        pytest.skip("the site was not built; test_the_site_builds says why")
    return out


@pytest.fixture(scope="session")
def served(site: Path) -> Iterator[int]:
    with serving(site) as port:
        yield port


@pytest.fixture(scope="session")
def browser(served: int) -> Iterator[Browser]:
    # Here, since most tests do without.
    from playwright.sync_api import expect, sync_playwright

    program = find()
    if not program:
        leave_out = pytest.fail if os.environ.get("REQUIRE_BROWSER") else pytest.skip
        leave_out(f"found none of {', '.join(PROGRAMS)}")
    expect.set_options(timeout=PATIENCE)
    switches = [*SWITCHES, f"--host-resolver-rules=MAP {HOST} 127.0.0.1:{served}"]
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=program, args=switches)


@pytest.fixture(scope="session")
def context(browser: Browser) -> Iterator[BrowserContext]:
    wide = {"width": 1280, "height": 900}
    options = {
        "base_url": SITE_URL,
        "viewport": wide,
        "reduced_motion": "reduce",
        "offline": bool(OFFLINE_SITE),
    }
    with browser.new_context(**options) as context:
        context.set_default_timeout(PATIENCE)
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        yield context


@pytest.fixture
def tab(context: BrowserContext) -> Iterator[Page]:
    with context.new_page() as tab:
        yield tab


@pytest.fixture(scope="session")
def forks() -> Iterator[Forks]:
    forks = Forks()
    yield forks
    forks.close()


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
