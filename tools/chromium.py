"""The Chromium of this machine: where it is, how it is started, and a folder served for it."""

from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
PROGRAMS = ("chromium", "google-chrome", "chromium-browser")
# No sandbox, since CI is root; the rest keeps the browser from talking to anyone but the site.
SWITCHES = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def find() -> str | None:
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


def needed() -> str:
    return find() or sys.exit(f"Found none of {', '.join(PROGRAMS)}.")


@contextlib.contextmanager
def serving(site: Path) -> Iterator[int]:
    """Serve a folder on this machine, and give the port."""
    command = [sys.executable, "tools/serve.py", site, "--port", "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        try:
            yield int(re.search(r":(\d+)/", server.stdout.readline())[1])
        finally:
            server.terminate()
