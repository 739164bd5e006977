"""The code is formatted, free of what the linter knows, and its types hold."""

from __future__ import annotations

import subprocess
import sys

import blocks
import pytest

# What mypy finds depends on torch's annotations.
COMMANDS = ["ruff check", "ruff format --check", pytest.param("mypy", marks=pytest.mark.pinned_torch)]


@pytest.mark.parametrize("command", COMMANDS)
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
