"""What waits for a person, and in which order."""

from __future__ import annotations

from pathlib import Path

import pytest

from deciding import Decided, drawn, record, related
from memidex.learning.review import REASONS, queue


def waiting(here: Decided) -> list[tuple[str, tuple[str, ...]]]:
    """(nick, reasons) of what waits, in order."""
    nicks = {name: nick for nick, name in here.drawn.ids.items()}
    return [(nicks[item.entry.id], item.reasons) for item in queue([here.root])]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (record("a", "candidate"), [("a", ("candidate",))]),
        (record("a"), []),
        (record("a", "deprecated"), []),
        (record("a", "candidate", "unknown"), [("a", ("question",))]),
        (record("a", "candidate") + record("b") + related("a", "proposed-supersession-of", "b"), [("a", ("proposal",))]),
    ],
)  # fmt: skip
def test_each_reason_is_told(tmp_path: Path, text: str, expected: list[tuple[str, tuple[str, ...]]]) -> None:
    assert waiting(drawn(text, tmp_path)) == expected


def test_what_is_served_and_in_conflict_comes_before_what_waits_unserved(tmp_path: Path) -> None:
    text = record("c", "candidate") + record("a") + record("b") + related("a", "conflicts-with", "b")
    found = waiting(drawn(text, tmp_path))
    assert found == [("a", ("conflict",)), ("c", ("candidate",))]


def test_what_fades_waits_until_it_is_confirmed(tmp_path: Path) -> None:
    runs = "-- runs.jsonl --\n" + "".join(f'{{"ordinal":{number}}}\n' for number in range(1, 7))
    here = drawn(record("a") + runs, tmp_path)
    assert ("a", ("fading",)) in waiting(here)
    here.do("confirm")
    assert "a" not in [nick for nick, _ in waiting(here)]


def test_a_record_is_in_the_queue_once_and_leaves_it_when_it_is_decided(tmp_path: Path) -> None:
    here = drawn(record("a", "candidate") + record("b", "candidate"), tmp_path)
    assert sorted(nick for nick, _ in waiting(here)) == ["a", "b"]
    here.do("accept")
    assert [nick for nick, _ in waiting(here)] == ["b"]
    here.undo()
    assert sorted(nick for nick, _ in waiting(here)) == ["a", "b"]


def test_one_product_may_be_asked_for(tmp_path: Path) -> None:
    here = drawn(record("a", "candidate"), tmp_path)
    product = here.entry().product
    assert len(queue([here.root], product)) == 1
    assert queue([here.root], "another") == []


def test_the_order_is_the_same_however_the_roots_are_given(tmp_path: Path) -> None:
    one = drawn(record("a", "candidate"), tmp_path / "one").root
    two = drawn(record("a") + record("b") + related("a", "conflicts-with", "b"), tmp_path / "two").root
    there = [item.entry.directory for item in queue([one, two])]
    assert there == [item.entry.directory for item in queue([two, one])]
    assert [item.risk for item in queue([one, two])] == [1, len(REASONS) - 1]
