"""Starting costs what is imported: nothing heavy is on the way to an `initialize` answer or to a short command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {
    "pydantic",
    "pydantic_core",
    "frontmatter",
    "yaml",
    "rapidfuzz",
    "detect_secrets",
    "pathspec",
    "filelock",
    "jsonschema",
}


def imported_by(code: str) -> set[str]:
    """The top-level names of every module that a fresh process holds after it ran `code`."""
    shown = f"{code}\nimport json, sys\nprint('\\n' + json.dumps(sorted({{name.partition('.')[0] for name in sys.modules}})))"
    done = subprocess.run(
        [sys.executable, "-c", shown], capture_output=True, text=True, check=True, cwd=Path(__file__).parent
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_the_server_answers_initialize_without_anything_heavy() -> None:
    names = imported_by("import memidex.lsp.server\nmemidex.lsp.server.App()")
    assert names & HEAVY == set()
    assert "msgspec" in names


@pytest.mark.parametrize("arguments", [["--version"], ["--help"]], ids=" ".join)
def test_a_short_command_imports_nothing_heavy_and_no_event_loop(arguments: list[str]) -> None:
    names = imported_by(
        "import contextlib, sys\n"
        f"sys.argv = ['memidex', *{arguments!r}]\n"
        "from memidex.cli.main import main\n"
        "with contextlib.suppress(SystemExit):\n    main()"
    )
    assert names & (HEAVY | {"asyncio", "pygls", "lsprotocol", "cattrs", "attrs"}) == set()
    assert "msgspec" not in names


def test_a_healthy_record_is_read_without_the_models_that_explain_a_faulty_one() -> None:
    names = imported_by(
        "from memidex import example\n"
        "from memidex.store import opening\n"
        "assert opening.cold(example.path().as_posix()).entries"
    )
    assert names & HEAVY == set()
