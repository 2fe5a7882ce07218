"""`run.py test` runs the steps that are named, all of them even where one fails, and says at the end how many passed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ALL = Path(__file__).resolve().parent.parent / "all.py"
DRIVER = """
import sys
sys.path.insert(0, {folder!r})
import all as steps
def wrong(): raise steps.Failed("it did not hold")
steps.STEPS = {{"one": lambda: print("ran one"), "two": wrong, "three": lambda: steps.run(sys.executable, "-c", "raise SystemExit(3)"),
    "four": lambda: steps.run("no-such-tool-anywhere"), "five": lambda: print("ran five")}}
sys.exit(steps.main({names!r}))
"""


def steps(*names: str) -> subprocess.CompletedProcess[str]:
    code = DRIVER.format(folder=str(ALL.parent), names=list(names))
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_all_steps_run_even_where_some_fail() -> None:
    done = steps()
    assert done.returncode == 1
    assert "ran one" in done.stdout
    assert "== two FAILED: it did not hold (" in done.stdout
    assert "== three FAILED: exit code 3 (" in done.stdout
    assert "== four FAILED: no-such-tool-anywhere: " in done.stdout
    assert "ran five" in done.stdout
    assert done.stdout.splitlines()[-2:] == ["failed: two, three, four", "2 passed, 3 failed"]


def test_named_steps_run_alone() -> None:
    done = steps("five", "one")
    assert done.returncode == 0
    assert done.stdout.index("ran five") < done.stdout.index("ran one")
    assert done.stdout.splitlines()[-1] == "2 passed, 0 failed"


def test_a_step_that_is_not_there_is_told_with_those_that_are() -> None:
    done = steps("six")
    assert done.returncode == 2
    assert "no step six; there are one, two, three, four, five" in done.stderr


def test_the_steps_are_those_of_the_issue_in_order() -> None:
    done = subprocess.run([sys.executable, ALL, "nothing"], capture_output=True, text=True, check=False)
    names = done.stderr.strip().partition("there are ")[2].split(", ")
    assert names[:6] == ["format", "lint", "types", "contracts", "pytest", "example"]
    assert {"client", "window", "neovim"} < set(names)
