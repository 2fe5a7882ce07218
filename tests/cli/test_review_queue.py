"""`memidex inspect --review`."""

from __future__ import annotations

import json
from pathlib import Path

from command import inside

from deciding import drawn, record, related


def test_what_waits_is_told_with_its_reason_the_riskiest_first(tmp_path: Path) -> None:
    here = drawn(record("c", "candidate") + record("a") + record("b") + related("a", "conflicts-with", "b"), tmp_path)
    done = inside(Path(here.path), "inspect", "--review")
    assert done.code == 0
    assert [text.split()[0] for text in done.out.splitlines()[::2]] == ["conflict", "candidate"]
    assert "2 records to review" in done.err
    whole = json.loads(inside(Path(here.path), "inspect", "--review", "--format", "json").out)
    assert whole["version"] == 1
    assert [(row["id"], row["reason"], row["risk"]) for row in whole["records"]] == [
        (here.drawn.ids["a"], "conflict", 1),
        (here.drawn.ids["c"], "candidate", 5),
    ]
    assert whole["records"][0]["reasons"] == ["conflict"]


def test_the_queue_is_narrowed_like_the_list(tmp_path: Path) -> None:
    here = drawn(record("a", "candidate") + record("b", "candidate", "unknown"), tmp_path)
    only = json.loads(inside(Path(here.path), "inspect", "--review", "--kind", "unknown", "--format", "json").out)
    assert [row["id"] for row in only["records"]] == [here.drawn.ids["b"]]


def test_the_queue_is_of_now_alone(tmp_path: Path) -> None:
    here = drawn(record("a", "candidate"), tmp_path)
    done = inside(Path(here.path), "inspect", "--review", "--as-of-build", "1")
    assert done.code == 2
    assert "--as-of-build" in done.err
