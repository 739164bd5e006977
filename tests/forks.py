"""Run Python programs as ``python`` would, in forks of one process that has loaded torch: to load it takes seconds."""

from __future__ import annotations

import json
import os
import runpy
import signal
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

ROOT = Path(__file__).parent.parent


class Forks:
    def __init__(self) -> None:
        self.server = subprocess.Popen(
            [sys.executable, __file__],
            # This checkout's package, whatever is installed.
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, *command: str | Path, cwd: Path, seconds: int = 0) -> subprocess.CompletedProcess[str]:
        """Run ``python COMMAND``, a file or ``-m MODULE`` and its arguments, and return its status and all it printed.

        After ``seconds`` it is ended, and the status is below 0.
        """
        with tempfile.NamedTemporaryFile("r", encoding="utf-8") as printed:
            request = [list(map(str, command)), str(cwd), printed.name, seconds]
            print(json.dumps(request), file=self.server.stdin, flush=True)
            status = int(self.server.stdout.readline())
            return subprocess.CompletedProcess(command, status, printed.read())

    def close(self) -> None:
        self.server.stdin.close()
        self.server.wait()
        self.server.stdout.close()


def serve() -> None:
    import pytest  # noqa: F401
    import torch  # noqa: F401

    for line in sys.stdin:
        command, cwd, printed, seconds = json.loads(line)
        pid = os.fork()
        if not pid:
            signal.alarm(seconds)
            os._exit(become(command, cwd, printed))
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


def become(command: list[str], cwd: str, printed: str) -> int:
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    out = os.open(printed, os.O_WRONLY)
    os.dup2(out, 1)
    os.dup2(out, 2)
    # By lines: what the two print stays in its order.
    sys.stdout = sys.stderr = open(1, "w", buffering=1, encoding="utf-8", closefd=False)  # noqa: SIM115
    os.chdir(cwd)
    is_module = command[0] == "-m"
    sys.argv = command[is_module:]
    sys.path[0] = cwd if is_module else str(Path(command[0]).parent)
    try:
        if is_module:
            runpy.run_module(command[1], run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(command[0], run_name="__main__")
    except SystemExit as ended:
        return int(ended.code or 0)
    except BaseException:
        traceback.print_exc()
        return 1
    finally:
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    serve()
