"""What a server shows of a root, and what a command that reads it anew shows, in one shape."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from editor_client import Editor

WHERE = ("path", "uri", "root", "shortId", "short")
"""What is told in another way at each front door."""


def rows(told: Any) -> list[Any]:
    plain = [{name: value for name, value in row.items() if name not in WHERE} for row in told["records"]]
    return sorted(plain, key=lambda row: row["id"])


def shown(editor: Editor) -> list[Any]:
    return rows(editor.request("memidex/inspect", {"limit": 1000}))


def fresh(root: Path | str) -> list[Any]:
    command = [sys.executable, "-m", "memidex", "inspect", "--format", "json", "--root", str(root)]
    return rows(json.loads(subprocess.run(command, capture_output=True, check=True).stdout))
