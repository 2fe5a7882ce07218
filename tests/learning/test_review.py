"""What waits for a person, and in which order."""

from __future__ import annotations

from pathlib import Path

import pytest

from deciding import Decided, drawn, record, related
from memidex.learning.review import REASONS, queue
from memidex.learning.rivals import contested, rivals

CLAIM = """## Summary

%s

## Detail

Seen.
"""
ANCHORS = (
    'anchors: [{"raw":{"t":"el","role":"button","name":"x"},"normalized":{"t":"el","role":"button","name":"x"}}%s]\n'
)
PLATFORM = ',{"raw":{"t":"platform","platform":"x"},"normalized":{"t":"platform","platform":"x"}}'
IOS, WEB = PLATFORM.replace('"x"', '"ios"'), PLATFORM.replace('"x"', '"web"')


def claiming(nick: str, claim: str, state: str = "active", platform: str = "") -> str:
    """A fact about the one button."""
    return record(nick, state).replace('kind: "fact"\n', 'kind: "fact"\n' + ANCHORS % platform + CLAIM % claim)


def runs(count: int) -> str:
    return "-- runs.jsonl --\n" + "".join(f'{{"ordinal":{number}}}\n' for number in range(1, count + 1))


def messages(here: Decided) -> dict[str, str]:
    nicks = {name: nick for nick, name in here.drawn.ids.items()}
    return {nicks[item.entry.id]: item.message for item in queue([here.root])}


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
    here = drawn(record("a") + runs(6), tmp_path)
    assert ("a", ("fading",)) in waiting(here)
    assert "unconfirmed since build 1: served with trust" in messages(here)["a"]
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


def test_a_fact_fades_at_the_fifth_run_without_a_confirmation(tmp_path: Path) -> None:
    assert waiting(drawn(record("a") + runs(5), tmp_path / "five")) == []
    assert waiting(drawn(record("a") + runs(6), tmp_path / "six")) == [("a", ("fading",))]


def test_rivals_wait_both_and_each_names_the_other(tmp_path: Path) -> None:
    here = drawn(claiming("a", "it buys") + claiming("b", "it sells") + claiming("c", "it sells"), tmp_path)
    assert sorted(waiting(here)) == [("a", ("rival",)), ("b", ("rival",)), ("c", ("rival",))]
    told = messages(here)
    assert told["a"].endswith(" and 1 more")
    assert told["b"].endswith(here.drawn.ids["a"])


@pytest.mark.parametrize(
    "text",
    [
        claiming("a", "it buys") + claiming("b", "it  buys"),
        claiming("a", "it buys") + claiming("b", "it sells", "candidate"),
        claiming("a", "it buys") + claiming("b", "it sells", "deprecated"),
        claiming("a", "it buys", platform=IOS) + claiming("b", "it sells", platform=WEB),
        claiming("a", "it buys") + claiming("b", "it sells") + related("b", "equivalent-to", "a"),
    ],
)
def test_no_rivals_wait_where_they_agree_or_are_settled(tmp_path: Path, text: str) -> None:
    assert not [nick for nick, reasons in waiting(drawn(text, tmp_path)) if "rival" in reasons]


def test_the_queue_and_the_rule_see_the_same_rivals(tmp_path: Path) -> None:
    text = claiming("a", "1", platform=IOS) + claiming("b", "2", platform=WEB) + claiming("c", "1")
    text += claiming("d", "3") + related("d", "conflicts-with", "a") + claiming("e", "2", "candidate")
    root = drawn(text, tmp_path).root
    one_by_one = {
        entry.directory for entry in root.entries.values() if entry.status == "active" and rivals(root, entry)
    }
    assert contested(root) == one_by_one
    assert len(one_by_one) == 3


def test_of_several_reasons_the_riskiest_counts_and_all_are_told(tmp_path: Path) -> None:
    text = record("a") + record("b") + related("a", "conflicts-with", "b") + related("b", "conflicts-with", "a")
    here = drawn(text + runs(6), tmp_path)
    assert sorted(waiting(here)) == [("a", ("conflict", "fading")), ("b", ("conflict", "fading"))]
    assert messages(here)["a"] == f"it and {here.drawn.ids['b']} conflict, and both are active"


def test_a_proposal_says_what_became_of_the_record_it_would_replace(tmp_path: Path) -> None:
    text = record("a", "candidate") + related("a", "proposed-supersession-of", "b")
    served = drawn(text + record("b"), tmp_path / "served")
    assert messages(served)["a"] == f"a proposal to replace {served.drawn.ids['b']}"
    retired = drawn(text + record("b", "deprecated"), tmp_path / "retired")
    assert messages(retired)["a"].endswith(", which is deprecated")
    assert messages(drawn(text, tmp_path / "gone"))["a"].endswith(", which is not there")


def test_a_candidate_is_told_with_what_the_gate_last_decided(tmp_path: Path) -> None:
    gate = '-- a/evidence/gates.jsonl --\n{"buildOrdinal":1,"passed":false,"reason":"ci-run"}\n'
    assert messages(drawn(record("a", "candidate"), tmp_path / "plain"))["a"] == "a candidate that nothing holds"
    held = messages(drawn(record("a", "candidate") + gate, tmp_path / "held"))["a"]
    assert held == "a candidate, held: ci-run (it was learned in CI, and a CI run never promotes)"


def test_of_equal_risk_the_more_trusted_comes_first(tmp_path: Path) -> None:
    here = drawn(record("a", "candidate") + record("b", "candidate"), tmp_path)
    here.do("contradict")
    assert [nick for nick, _ in waiting(here)] == ["b", "a"]
