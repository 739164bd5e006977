"""The code is formatted, free of what the linter knows, and its types hold."""

from __future__ import annotations

import subprocess
import sys

import blocks
import pytest


@pytest.mark.parametrize("command", ["ruff check", "ruff format --check", "mypy"])
def test_tool_has_nothing_to_say(command: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *command.split()],
        cwd=blocks.ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout
