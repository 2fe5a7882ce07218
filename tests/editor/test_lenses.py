"""What stands above a title, and what pressing it does."""

from __future__ import annotations

from pathlib import Path

import pytest
from cursor import scene

from deciding import MIRA, NOW, record, related
from memidex.editor.lenses import Lens, lenses
from memidex.history.change import Policy

PROPOSED = "proposed-supersession-of"


def decisions(text: str, folder: Path, policy: Policy = Policy()) -> list[Lens]:  # noqa: B008
    found = lenses(scene(text, folder).view, MIRA, policy, NOW)
    assert [lens.opens for lens in found[:2]] == ["card", "references"]
    assert {lens.opens for lens in found[2:]} <= {"decision"}
    return found[2:]


def texts(text: str, folder: Path, policy: Policy = Policy()) -> list[str]:  # noqa: B008
    return [lens.text for lens in decisions(text, folder, policy)]


def test_a_candidate_has_its_decisions_above_its_title(tmp_path: Path) -> None:
    assert texts(record("a", "candidate"), tmp_path) == ["Accept", "Reject", "Supersede...", "Forget"]


def test_an_active_record_is_neither_accepted_nor_rejected(tmp_path: Path) -> None:
    assert texts(record("a"), tmp_path) == ["Supersede...", "Forget"]


def test_a_policy_is_accepted(tmp_path: Path) -> None:
    assert texts(record("a", "candidate", "policy"), tmp_path)[:2] == ["Accept", "Reject"]


@pytest.mark.parametrize("state", ["superseded", "deprecated"])
def test_what_is_retired_has_no_decisions(tmp_path: Path, state: str) -> None:
    assert texts(record("a", state) + record("b"), tmp_path) == []


def test_without_somebody_who_decides_there_are_none(tmp_path: Path) -> None:
    found = lenses(scene(record("a", "candidate"), tmp_path).view)
    assert [(lens.opens, lens.command, lens.argument) for lens in found] == [
        ("card", "", None),
        ("references", "", None),
    ]


@pytest.mark.parametrize("policy", [Policy(trusted=False), Policy(read_only=True)])
def test_where_nothing_may_be_changed_there_are_none(tmp_path: Path, policy: Policy) -> None:
    assert texts(record("a", "candidate"), tmp_path, policy) == []


def test_a_proposal_is_applied_or_compared_with_what_it_replaces(tmp_path: Path) -> None:
    here = scene(record("a", "candidate") + record("b") + related("a", PROPOSED, "b"), tmp_path)
    apply, compare, reject, *_ = lenses(here.view, MIRA, Policy(), NOW)[2:]
    assert (apply.text, apply.command) == ("Apply", "memidex.accept")
    assert (compare.text, compare.command, reject.text) == ("Compare", "memidex.compare", "Reject")
    assert compare.argument == {"id": here.drawn.ids["a"], "root": here.root.path, "target": here.drawn.ids["b"]}


def test_a_proposal_of_what_is_retired_cannot_be_applied(tmp_path: Path) -> None:
    text = record("a", "candidate") + record("b", "deprecated") + related("a", PROPOSED, "b")
    assert texts(text, tmp_path) == ["Reject", "Supersede...", "Forget"]


def test_a_lens_carries_the_log_that_the_person_saw(tmp_path: Path) -> None:
    here = scene(record("a", "candidate"), tmp_path)
    for lens in lenses(here.view, MIRA, Policy(), NOW)[2:]:
        assert lens.command == f"memidex.{lens.text.strip('.').lower()}"
        assert lens.argument is not None
        assert (lens.argument["id"], lens.argument["root"]) == (here.drawn.ids["a"], here.root.path)
        assert lens.argument["seen"]
