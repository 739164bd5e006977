"""Move the pin: write another version of torch into constraints.txt, install it, record everything anew, and say what changed.

    make pin TORCH=2.15.0

The pin stands in constraints.txt alone. What differed on the new version is no longer a difference; what differs on the old
one from now on is recorded by hand, in an environment with the old torch (CONTRIBUTING.md says how). The pins of the other packages,
the prose that names a version, and the words of tests stay as they are: `make test` and `git diff` show what to look at.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys

from shown import PINNED, ROOT

CONSTRAINTS = ROOT / "constraints.txt"
RECORDINGS = ROOT / "docs" / "recordings"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("torch", help="2.15.0, for example")
    new = parser.parse_args().torch
    if not re.fullmatch(r"\d+\.\d+\.\d+", new):
        sys.exit(f"A version of torch is three numbers, 2.15.0 for example, and not {new!r}.")
    if git("status", "--porcelain"):
        sys.exit("Commit or put away what has changed first, so that only the new torch's changes are told.")
    text = CONSTRAINTS.read_text(encoding="utf-8")
    CONSTRAINTS.write_text(text.replace(f"\ntorch=={PINNED}\n", f"\ntorch=={new}\n"), encoding="utf-8")
    # torch may pin other packages: pip then names the line that has to go with it.
    if subprocess.run(["make", ".venv/test.installed"], cwd=ROOT, check=False).returncode:
        CONSTRAINTS.write_text(text, encoding="utf-8")
        sys.exit("It could not be installed with the other pins, and constraints.txt is as it was.")
    (RECORDINGS / "versions" / f"{new}.json").unlink(missing_ok=True)
    if (RECORDINGS / "names").is_dir() and not (RECORDINGS / "names" / f"{new}.json").exists():
        subprocess.run(["make", "names", f"TORCHES={new}"], cwd=ROOT, check=True)
    done = subprocess.run(["make", "record"], cwd=ROOT, check=False)
    print(git("diff", "--stat"))
    print("Read the outputs that changed (git diff docs), and what the prose around them says.")
    print(f"Then record what differs on torch {PINNED}, and run: make test")
    sys.exit(done.returncode)


def git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


if __name__ == "__main__":
    main()
