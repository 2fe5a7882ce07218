"""What else a decision touches, and how that is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from deciding import drawn, record, related
from memidex.learning.impact import NOTHING, Impact, impact, sentences

PROPOSED = "proposed-supersession-of"


def found(text: str, folder: Path, operation: str, nick: str = "a") -> dict[str, list[str]]:
    """The nicks of what is touched, by the list that they are in; no empty lists."""
    decided = drawn(text, folder)
    touched = impact(decided.root, decided.entry(nick), operation)
    nicks = {record_id: nick for nick, record_id in decided.drawn.ids.items()}
    lists = {name: [nicks[entry.id] for entry in getattr(touched, name)] for name in Impact._fields}
    return {name: entries for name, entries in lists.items() if entries}


def told(text: str, folder: Path, operation: str) -> list[str]:
    decided = drawn(text, folder)
    touched = impact(decided.root, decided.entry(), operation)
    return sentences(decided.root, touched, lambda text, limit: text[:limit])


@pytest.mark.parametrize("operation", ["reject", "forget", "supersede"])
def test_what_is_derived_from_a_retired_record_loses_its_support(tmp_path: Path, operation: str) -> None:
    text = record("a") + record("b") + related("b", "derived-from", "a")
    assert found(text, tmp_path, operation) == {"unsupported": ["b"]}


@pytest.mark.parametrize("operation", ["confirm", "contradict", "accept", "seal", "retract"])
def test_what_retires_nothing_touches_nothing(tmp_path: Path, operation: str) -> None:
    text = record("a") + record("b") + related("b", "derived-from", "a")
    assert found(text, tmp_path, operation) == {}


def test_a_record_without_relations_is_alone(tmp_path: Path) -> None:
    decided = drawn(record("a") + record("b"), tmp_path)
    assert impact(decided.root, decided.entry(), "forget").is_alone
    assert not Impact(related=(decided.entry("b"),)).is_alone


def test_an_accepted_proposal_retires_its_target_with_all_that_rests_on_that(tmp_path: Path) -> None:
    text = record("a", "candidate") + record("b") + record("c") + record("d", "candidate")
    text += related("a", PROPOSED, "b") + related("c", "derived-from", "b") + related("d", PROPOSED, "b")
    assert found(text, tmp_path, "accept") == {"retired": ["b"], "unsupported": ["c"], "proposals": ["d"]}


def test_a_rejected_proposal_leaves_its_target_alone(tmp_path: Path) -> None:
    text = record("a", "candidate") + record("b") + related("a", PROPOSED, "b")
    assert found(text, tmp_path, "reject") == {}


def test_what_is_retired_already_is_not_touched(tmp_path: Path) -> None:
    text = record("a") + record("b", "deprecated") + related("b", "derived-from", "a")
    assert found(text, tmp_path, "forget") == {}


def test_a_record_joined_in_several_ways_is_told_once(tmp_path: Path) -> None:
    text = record("a") + record("b") + related("a", "relates-to", "b") + related("b", "derived-from", "a")
    assert found(text, tmp_path, "forget") == {"unsupported": ["b"]}


def test_a_relation_to_nowhere_touches_nothing(tmp_path: Path) -> None:
    text = record("a") + related("a", "relates-to", "b").replace("@b", "019a0000-0000-7000-8000-00000000dead")
    assert found(text, tmp_path, "forget") == {}


def test_the_record_that_is_kept_is_not_told_as_touched(tmp_path: Path) -> None:
    text = record("a") + record("b") + record("c") + related("a", "conflicts-with", "b")
    decided = drawn(text + related("c", "derived-from", "a"), tmp_path)
    touched = impact(decided.root, decided.entry(), "supersede", decided.entry("b"))
    assert touched == Impact(unsupported=(decided.entry("c"),))


def test_what_is_touched_is_said_in_sentences(tmp_path: Path) -> None:
    many = "".join(record(nick) + related(nick, "derived-from", "a") for nick in "bcdef")
    [sentence] = told(record("a") + many, tmp_path / "many", "forget")
    assert sentence.endswith(" and 2 more lose what they were derived from.")
    one = told(record("a") + record("b") + related("b", "relates-to", "a"), tmp_path / "one", "forget")
    assert [text.rpartition(") ")[2] for text in one] == ["is related to it."]
    decided = drawn(record("a"), tmp_path / "none")
    assert sentences(decided.root, NOTHING, lambda text, _: text) == []
