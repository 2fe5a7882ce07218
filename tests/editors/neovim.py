"""A real Neovim as a second client: `python tests/editors/neovim.py` with the Python that has memidex.

Neovim watches no files, has no pull diagnostics and no images: what it sees is what every plain client sees.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
EXAMPLE = Path(os.environ.get("MEMIDEX_EXAMPLE", HERE.parent.parent / "server" / "memidex" / "example"))
RECORD = "fact-el-button-place-order-36-00-dd75ab371443d7b6"
EVENT = {"buildOrdinal": 5, "origin": "agent-verified", "type": "contradicted", "at": "2026-01-01T00:00:00Z"}
LIMIT = 120


def related(bundles: Path) -> tuple[Path, str]:
    """A relations file of the example, and a record that it names."""
    for file in sorted(bundles.glob("*/relations.json")):
        for target in re.findall(r'"([a-z]+-[a-z0-9-]+-[0-9a-f]{16})"', file.read_text("utf-8")):
            if target != file.parent.name and (bundles / target / "record.md").exists():
                return file, target
    raise AssertionError("the example has no relation between two records")


def candidate(bundles: Path) -> Path:
    """The folder of a fact that nobody has decided about."""
    for log in sorted(bundles.glob("fact-*/evidence/outcomes.jsonl")):
        if not re.search(r'"(promoted|superseded|deprecated|retracted|overturned)"', log.read_text("utf-8")):
            return log.parent.parent
    raise AssertionError("the example has no candidate fact")


def main() -> int:
    if not shutil.which("nvim"):
        print("no Neovim: run tests/editors/install.sh\n0 passed, 1 failed")
        return 1
    with tempfile.TemporaryDirectory(prefix="mdx-nvim-") as folder:
        workspace = Path(folder).resolve() / "ws"
        shutil.copytree(EXAMPLE, workspace, ignore=shutil.ignore_patterns(".memidex", "__pycache__"))
        bundles = next(workspace.rglob("memory/komazon/bundles"))
        record = bundles / RECORD / "record.md"
        whole = record.read_text("utf-8")
        record.write_text(whole.replace('kind: "fact"', 'kind: "fct"'), "utf-8")
        relations, target = related(bundles)
        given = {
            "command": json.loads(os.environ.get("MEMIDEX_COMMAND", "null"))
            or [sys.executable, "-m", "memidex", "lsp", "--stdio"],
            "workspace": str(workspace),
            "record": str(record),
            "whole": whole.rstrip("\n"),
            "relations": str(relations),
            "target": target,
            "destination": str(bundles / target / "record.md"),
            "candidate": str(candidate(bundles) / "record.md"),
            "candidate_log": str(candidate(bundles) / "evidence" / "outcomes.jsonl"),
            "log": str(bundles / RECORD / "evidence" / "outcomes.jsonl"),
            "event": json.dumps(EVENT, separators=(",", ":")),
        }
        home = Path(folder) / "home"
        home.mkdir()
        environment = {**os.environ, "HOME": str(home), "MEMIDEX_NEOVIM": json.dumps(given)}
        environment = {name: value for name, value in environment.items() if not name.startswith("XDG_")}
        nvim = ["nvim", "--headless", "-u", "NONE", "-i", "NONE", "-n", "-S", str(HERE / "neovim.lua")]
        try:
            return subprocess.run(
                nvim, cwd=workspace, env=environment, stdin=subprocess.DEVNULL, timeout=LIMIT, check=False
            ).returncode
        except subprocess.TimeoutExpired:
            print(f"Neovim did not end in {LIMIT} s\n0 passed, 1 failed")
            return 1


if __name__ == "__main__":
    sys.exit(main())
