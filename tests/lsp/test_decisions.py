"""A person decides in the editor: the answer, the files, and what the editor is told afterwards."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from editor_client import NEOVIM, VSCODE, Editor, merged, uri
from sketch import Sketch, record_id, sketch

from memidex.history.change import tail

LOG = "evidence/outcomes.jsonl"
KNOWS = merged(VSCODE, {"experimental": {"memidex": True}})
CANDIDATE = """-- record.md --
-- evidence/outcomes.jsonl --
{"buildOrdinal":1,"id":"a-1","origin":"agent","type":"confirmed"}
"""
PROPOSAL = (
    CANDIDATE
    + """-- b/record.md --
-- b/relations.json --
{"relations":[{"type":"proposed-supersession-of","target":"@a"}]}
-- b/evidence/outcomes.jsonl --
{"buildOrdinal":2,"id":"b-1","origin":"agent","type":"confirmed"}
"""
)


def run(editor: Editor, operation: str, **wanted: Any) -> Any:
    return editor.request("workspace/executeCommand", {"command": f"memidex.{operation}", "arguments": [wanted]})


def log(made: Sketch, nick: str = "a") -> list[dict[str, Any]]:
    return [json.loads(line) for line in made.path(LOG, nick).read_text().splitlines()]


def started(folder: Path, text: str = CANDIDATE, capabilities: Any = KNOWS, **more: Any) -> tuple[Editor, Sketch]:
    made = sketch(text, folder)
    editor = Editor(folder, capabilities=capabilities, **more)
    editor.settled()
    return editor, made


def test_accept(tmp_path: Path) -> None:
    editor, made = started(tmp_path)
    with editor:
        record = made.path("record.md")
        editor.open(record)
        before = log(made)
        seen = tail(made.path(LOG).read_bytes())
        card = run(editor, "accept", uri=uri(record), seen=seen)
        assert card["status"] == "active"
        new = log(made)[len(before) :]
        assert [(event["type"], event["origin"]) for event in new] == [("confirmed", "user"), ("promoted", "user")]
        assert editor.request("memidex/card", {"uri": uri(record)})["status"] == "active"
        assert "active" in (editor.hover(record, 2, 8) or "")
        assert run(editor, "accept", uri=uri(record), seen=seen)["refused"] == "stale"
