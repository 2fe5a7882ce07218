"""The review queue in any editor: a page of it, and the next and the previous record."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from editor_client import VSCODE, Editor, merged, uri

from deciding import record, related
from memidex.lsp.reviewing import neighbour
from sketch import Sketch, sketch

SHOWS = merged(VSCODE, {"window": {"showDocument": {"support": True}}})
TEXT = record("c", "candidate") + record("a") + record("b") + related("a", "conflicts-with", "b")


def started(folder: Path, capabilities: Any = VSCODE) -> tuple[Editor, Sketch]:
    made = sketch(TEXT, folder)
    editor = Editor(folder, capabilities=capabilities, settings={"confirmRetire": "never"})
    editor.settled()
    return editor, made


def run(editor: Editor, command: str, **wanted: Any) -> Any:
    return editor.request("workspace/executeCommand", {"command": f"memidex.{command}", "arguments": [wanted]})


def test_the_queue_is_paged_and_counted(tmp_path: Path) -> None:
    editor, made = started(tmp_path)
    with editor:
        page = editor.request("memidex/reviewQueue", {"limit": 1})
        assert page["total"] == 2
        assert (page["counts"]["conflict"], page["counts"]["candidate"]) == (1, 1)
        [row] = page["records"]
        assert (row["id"], row["reason"], row["risk"]) == (made.ids["a"], "conflict", 1)
        assert row["fileUri"] == uri(made.path("record.md"))
        rest = editor.request("memidex/reviewQueue", {"offset": 1})["records"]
        assert [one["id"] for one in rest] == [made.ids["c"]]


def test_next_and_previous_go_round(tmp_path: Path) -> None:
    editor, made = started(tmp_path, SHOWS)
    with editor:
        first = run(editor, "reviewNext")
        assert (first["record"], first["position"], first["total"]) == (made.ids["a"], 1, 2)
        second = run(editor, "reviewNext", uri=first["uri"])
        assert second["record"] == made.ids["c"]
        assert run(editor, "reviewNext", uri=second["uri"])["record"] == made.ids["a"]
        assert run(editor, "reviewPrevious", uri=first["uri"])["record"] == made.ids["c"]
        assert run(editor, "reviewPrevious")["record"] == made.ids["c"]
        editor.until(lambda: any(one["method"] == "window/showDocument" for one in editor.asked))
        shown = next(one["params"] for one in editor.asked if one["method"] == "window/showDocument")
        assert shown["uri"] == first["uri"]
        assert shown["takeFocus"] is True
        text = made.path("record.md").read_text().splitlines()
        assert text[shown["selection"]["start"]["line"] - 2] == "## Summary"


def test_what_is_decided_leaves_the_queue(tmp_path: Path) -> None:
    editor, made = started(tmp_path)
    with editor:
        run(editor, "accept", id=made.ids["c"])
        assert editor.request("memidex/reviewQueue", {})["counts"]["candidate"] == 0
        run(editor, "supersede", id=made.ids["b"], by=made.ids["a"])
        assert editor.request("memidex/reviewQueue", {})["total"] == 0
        assert run(editor, "reviewNext") is None


def test_after_a_decision_the_way_goes_on_from_where_the_record_stood(tmp_path: Path) -> None:
    made = sketch("".join(record(nick, "candidate") for nick in "abcd"), tmp_path)
    editor = Editor(tmp_path, settings={"confirmRetire": "never"})
    with editor:
        editor.settled()
        order = [row["id"] for row in editor.request("memidex/reviewQueue", {})["records"]]
        assert sorted(order) == sorted(made.ids[nick] for nick in "abcd")
        first = run(editor, "reviewNext")
        second = run(editor, "reviewNext", uri=first["uri"])
        run(editor, "accept", uri=second["uri"])
        third = run(editor, "reviewNext", uri=second["uri"])
        assert [one["record"] for one in (first, second, third)] == order[:3]
        assert (third["position"], third["total"]) == (2, 3)


@pytest.mark.parametrize(
    ("now", "walked", "path", "forward", "expected"),
    [
        ("", "", None, 1, None),
        ("", "ab", "a/record.md", 1, None),
        ("abc", "", None, 1, 0),
        ("abc", "", None, -1, 2),
        ("abc", "", "c/record.md", 1, 0),
        ("abc", "", "a/evidence/outcomes.jsonl", -1, 2),
        ("a", "", "a/record.md", 1, 0),
        ("abc", "", "x/record.md", 1, 0),
        ("abd", "abcd", "c/record.md", 1, 2),
        ("abd", "abcd", "c/record.md", -1, 1),
        ("ab", "abcd", "d/record.md", 1, 0),
        ("da", "abcd", "c/record.md", 1, 0),
    ],
)
def test_the_neighbour(now: str, walked: str, path: str | None, forward: int, expected: int | None) -> None:
    assert neighbour(list(now), list(walked), path, forward) == expected
