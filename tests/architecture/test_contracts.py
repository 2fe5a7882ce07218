"""Every gate is seen to fail: a fault planted in a copy of the tree is found, and the tree as it is has none."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent.parent
BIN = Path(sys.executable).parent
CONTRACTS = tomllib.loads((PROJECT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
NAMES = {contract["id"]: contract["name"] for contract in CONTRACTS}

# For each contract: a module, the import to plant in it, and how the linter tells of it.
PLANTED = {
    "rooms": [
        ("memidex/text/planted.py", "import memidex.records.memidex.values", "memidex.text.planted -> memidex.records.memidex.values"),
        ("memidex/records/planted.py", "import memidex.history.trust", "memidex.records.planted -> memidex.history.trust"),
        ("memidex/history/planted.py", "import memidex.store.snapshot", "memidex.history.planted -> memidex.store.snapshot"),
        ("memidex/store/planted.py", "import memidex.rules.engine", "memidex.store.planted -> memidex.rules.engine"),
        ("memidex/learning/planted.py", "import memidex.rules.engine", "memidex.learning.planted -> memidex.rules.engine"),
        ("memidex/rules/planted.py", "import memidex.editor.view", "memidex.rules.planted -> memidex.editor.view"),
        ("memidex/editor/planted.py", "import memidex.config", "memidex.editor.planted -> memidex.config"),
        ("memidex/lsp/planted.py", "import memidex.cli.main", "memidex.lsp.planted -> memidex.cli.main"),
        ("memidex/cli/planted.py", "import memidex.lsp.session", "memidex.cli.planted -> memidex.lsp.session"),
    ],
    "protocol": [
        ("memidex/editor/planted2.py", "from lsprotocol import types", "memidex.editor.planted2 -> lsprotocol"),
        ("memidex/cli/planted2.py", "import pygls", "memidex.cli.planted2 -> pygls"),
    ],
    "world": [
        ("memidex/editor/planted3.py", "from pathlib import Path", "memidex.editor.planted3 -> pathlib"),
        ("memidex/rules/planted3.py", "import time", "memidex.rules.planted3 -> time"),
        ("memidex/store/planted3.py", "import os", "memidex.store.planted3 -> os"),
        ("memidex/records/planted3.py", "import tempfile", "memidex.records.planted3 -> tempfile"),
    ],
    "disk": [("memidex/rules/planted4.py", "from memidex.store import disk", "memidex.rules.planted4 -> memidex.store.disk")],
    "formats": [("memidex/store/planted5.py", "def late():\n    import pydantic", "memidex.store.planted5 -> pydantic")],
    "alone": [
        ("memidex/rules/checks/planted6.py", "import memidex.rules.checks.unknown_value", "memidex.rules.checks.planted6 -> memidex.rules.checks.unknown_value"),
    ],
    "plain": [("memidex/text/planted7.py", "import msgspec", "memidex.text.planted7 -> msgspec")],
}  # fmt: skip


def copy_of(folder: Path) -> Path:
    """A copy of the project that tools can be pointed at."""
    shutil.copytree(
        PROJECT / "server" / "memidex",
        folder / "server" / "memidex",
        ignore=shutil.ignore_patterns("__pycache__", "agent-qa-knowledge"),
    )
    shutil.copy(PROJECT / "pyproject.toml", folder)
    shutil.copy(PROJECT / "server" / "run.py", folder / "server")
    return folder


def run(folder: Path, *command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    paths = {
        "PYTHONPATH": str(folder / "server"),
        "PATH": f"{BIN}:/usr/local/bin:/usr/bin:/bin",
        "COLUMNS": "400",
        "HOME": str(folder),
    }
    return subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env={**paths, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def lint(folder: Path) -> dict[str, str]:
    """What the import linter says of each broken contract of a tree, by the contract's name."""
    done = run(folder, BIN / "lint-imports", "--no-cache", "--config", "pyproject.toml")
    verdicts = dict(re.findall(r"^(.+?) (KEPT|BROKEN)(?: \(.*\))?$", done.stdout, re.MULTILINE))
    assert sorted(verdicts) == sorted(NAMES.values()), done.stdout + done.stderr
    broken = {name for name, verdict in verdicts.items() if verdict == "BROKEN"}
    assert done.returncode == (1 if broken else 0)
    told = done.stdout.partition("Broken contracts")[2]
    return {name: told.partition(f"\n{name}\n---")[2].partition("\n\n\n\n")[0] or told for name in broken}


def plant(folder: Path, planted: Mapping[str, str]) -> None:
    for name, text in planted.items():
        (folder / name).write_text(text + "\n")


def test_every_contract_has_a_planted_violation() -> None:
    assert set(PLANTED) == set(NAMES)


@pytest.fixture(scope="module")
def as_it_is(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return lint(copy_of(tmp_path_factory.mktemp("tree")))


def test_the_tree_keeps_every_contract(as_it_is: dict[str, str]) -> None:
    assert as_it_is == {}


@pytest.mark.parametrize("contract", PLANTED)
def test_a_planted_import_breaks_its_contract_and_no_other(
    contract: str, tmp_path: Path, as_it_is: dict[str, str]
) -> None:
    folder = copy_of(tmp_path)
    plant(folder, {f"server/{path}": line for path, line, _ in PLANTED[contract]})
    broken = lint(folder)
    assert set(broken) == {NAMES[contract], *as_it_is}
    for _, _, told in PLANTED[contract]:
        assert f"{told} (l." in broken[NAMES[contract]]


def test_a_room_that_no_contract_knows_is_found(tmp_path: Path) -> None:
    folder = copy_of(tmp_path)
    plant(folder, {"server/memidex/annex.py": "ANNEX = 1"})
    done = run(folder, BIN / "lint-imports", "--no-cache", "--config", "pyproject.toml")
    assert done.returncode == 1
    assert "annex" in done.stdout + done.stderr


def test_the_command_lines_one_import_of_the_server_is_allowed(tmp_path: Path, as_it_is: dict[str, str]) -> None:
    folder = copy_of(tmp_path)
    plant(folder, {"server/memidex/cli/planted.py": "def serve():\n    from memidex.lsp.server import serve_stdio"})
    assert set(lint(folder)) == set(as_it_is)


def test_a_planted_fault_of_style_is_found(tmp_path: Path) -> None:
    folder = copy_of(tmp_path)
    clean, faulty = folder / "server/memidex/text/units.py", folder / "server/memidex/text/planted.py"
    assert run(folder, BIN / "ruff", "check", "--no-cache", clean).returncode == 0
    assert run(folder, BIN / "ruff", "format", "--no-cache", "--check", clean).returncode == 0
    plant(folder, {"server/memidex/text/planted.py": "import sys\nx = {  'a':1 }"})
    checked = run(folder, BIN / "ruff", "check", "--no-cache", "--output-format", "concise", ".")
    assert checked.returncode == 1
    assert "planted.py:1:8: F401" in checked.stdout
    assert run(folder, BIN / "ruff", "format", "--no-cache", "--check", faulty).returncode == 1


PYRIGHT = PROJECT / "tests" / "node_modules" / ".bin" / "pyright"


@pytest.mark.skipif(not PYRIGHT.exists(), reason="the type checker is installed by the `types` step of tests/all.py")
def test_a_planted_fault_of_types_is_found(tmp_path: Path) -> None:
    folder = copy_of(tmp_path)
    plant(
        folder,
        {
            "server/memidex/text/planted.py": "def length(text: str) -> int:\n    return text\n\n\ndef loose(value):\n    return value"
        },
    )
    settings = tomllib.loads((folder / "pyproject.toml").read_text())["tool"]["pyright"]
    (folder / "pyrightconfig.json").write_text(
        json.dumps({**settings, "include": ["server/memidex/text"], "venvPath": str(PROJECT)})
    )
    done = run(folder, PYRIGHT, "--outputjson")
    found = json.loads(done.stdout)["generalDiagnostics"]
    assert done.returncode == 1
    assert {(Path(item["file"]).name, item["rule"]) for item in found} >= {
        ("planted.py", "reportReturnType"),
        ("planted.py", "reportMissingParameterType"),  # strict
    }
    assert {Path(item["file"]).name for item in found} == {"planted.py"}


def test_a_page_whose_example_does_not_hold_is_found(tmp_path: Path) -> None:
    folder = copy_of(tmp_path)
    for name in ("conftest.py", "sketch.py", "rules/test_pages.py"):
        (folder / "tests" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PROJECT / "tests" / name, folder / "tests" / name)
    command = (sys.executable, "-m", "pytest", "-p", "no:xdist", "-k", "unknown-value", "tests/rules/test_pages.py")
    assert run(folder, *command).returncode == 0
    page = folder / "server/memidex/rules/checks/unknown_value.py"
    text = page.read_text()
    first, kind = text.index("```flagged"), len("```flagged")
    page.write_text(text[:first] + "```clean" + text[first + kind :].replace("```clean", "```flagged", 1))
    done = run(folder, *command)
    assert done.returncode == 1
    assert "FAILED tests/rules/test_pages.py::test_a_flagged_example_is_reported" in done.stdout
    assert "FAILED tests/rules/test_pages.py::test_a_clean_example_is_not_reported" in done.stdout
