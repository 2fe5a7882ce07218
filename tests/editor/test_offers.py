"""What can be decided where."""

from __future__ import annotations

from pathlib import Path

import pytest
from cursor import Scene, scene
from msgspec.structs import replace

from deciding import MIRA, NOW, record, related
from memidex.editor.lenses import lenses
from memidex.editor.offers import Offer, offers
from memidex.editor.view import View
from memidex.history.change import Policy
from memidex.store import opening
from memidex.store.snapshot import Snapshot


def offered(text: str, folder: Path, policy: Policy = Policy()) -> list[Offer]:  # noqa: B008
    here = scene(text, folder)
    return offers(here.view, here.offset, MIRA, policy, NOW)


def titles(text: str, folder: Path) -> list[str]:
    return [offer.title for offer in offered(text, folder)]


def test_a_candidate_is_accepted_or_rejected_first(tmp_path: Path) -> None:
    found = offered(record("a", "candidate"), tmp_path)
    assert [offer.title.partition(":")[0] for offer in found] == [
        "Accept",
        "Reject",
        "Supersede...",
        "Contradict",
        "Forget",
    ]
    assert found[0].preferred
    assert found[0].rules == ("awaiting-review", "proposed-supersession")
    assert found[0].command == "memidex.accept"


def test_an_active_record_is_confirmed_and_not_rejected(tmp_path: Path) -> None:
    assert titles(record("a"), tmp_path) == ["Confirm", "Supersede...", "Contradict", "Forget"]


@pytest.mark.parametrize("state", ["superseded", "deprecated"])
def test_what_is_retired_is_only_brought_back(tmp_path: Path, state: str) -> None:
    found = titles(record("a", state) + (record("b") if state == "superseded" else ""), tmp_path)
    assert found == ([] if state == "superseded" else ["Undo: retire"])


def test_a_procedure_is_confirmed_since_it_cannot_be_active(tmp_path: Path) -> None:
    assert titles(record("a", "candidate", "unknown"), tmp_path)[0] == "Confirm"


@pytest.mark.parametrize("policy", [Policy(trusted=False), Policy(read_only=True)])
def test_nothing_is_offered_where_nothing_may_be_changed(tmp_path: Path, policy: Policy) -> None:
    assert offered(record("a", "candidate"), tmp_path, policy) == []


def test_the_target_of_a_relation_is_decided_upon(tmp_path: Path) -> None:
    text = record("a") + record("b", "candidate") + related("a", "relates-to", "‸b")
    here = scene(text.replace("@‸b", "‸@b"), tmp_path)
    found = offers(here.view, here.offset, MIRA, Policy(), NOW)
    assert found[0].title.startswith("Accept: ")
    assert found[0].argument["id"] == here.drawn.ids["b"]


def test_of_two_in_conflict_either_may_be_kept(tmp_path: Path) -> None:
    text = record("a") + record("b") + related("a", "conflicts-with", "‸b")
    here = scene(text.replace("@‸b", "‸@b"), tmp_path)
    keep = next(
        offer for offer in offers(here.view, here.offset, MIRA, Policy(), NOW) if offer.title.startswith("Keep")
    )
    assert keep.title == "Keep this one, supersede the other"
    assert keep.command == "memidex.supersede"
    assert (keep.argument["id"], keep.argument["by"]) == (here.drawn.ids["b"], here.drawn.ids["a"])
    assert keep.rules == ("conflicting-records",)
    assert "Keep this one, supersede the other" in titles(text.replace("‸", ""), tmp_path / "again")


def test_an_event_of_an_agent_is_overturned_or_retracted(tmp_path: Path) -> None:
    text = record("a").replace('"promoted"', '"promo‸ted"')
    found = titles(text, tmp_path)
    assert found[:2] == ["Overturn: promoted of build 1", "Retract: promoted of build 1"]


def test_an_action_says_what_else_it_touches(tmp_path: Path) -> None:
    text = record("a") + record("b") + related("b", "derived-from", "a")
    forget = next(offer for offer in offered(text, tmp_path) if offer.title == "Forget")
    assert "loses what it was derived from" in forget.impact
    confirm = next(offer for offer in offered(text, tmp_path / "again") if offer.title == "Confirm")
    assert confirm.impact == ""


def test_an_edited_record_may_be_sealed(tmp_path: Path) -> None:
    here = scene(record("a"), tmp_path)
    path = here.drawn.path("record.md")
    path.write_text(path.read_text() + "\nmore\n")
    again = scene_of(here)
    assert "Seal manifest as edited by hand" in [offer.title for offer in offers(*again, MIRA, Policy(), NOW)]


def scene_of(here: Scene) -> tuple[View, int]:
    """The scene as it is on disk now."""
    root = opening.cold(here.drawn.root.as_posix())
    return View(Snapshot((root,)), here.view.path, here.view.source), 0


def test_a_candidate_has_its_decisions_above_its_title(tmp_path: Path) -> None:
    here = scene(record("a", "candidate"), tmp_path)
    assert [lens.text for lens in lenses(here.view, MIRA, Policy(), NOW)][2:] == [
        "Accept",
        "Reject",
        "Supersede...",
        "Forget",
    ]
    assert len(lenses(here.view)) == 2


def test_a_proposal_is_applied_or_compared(tmp_path: Path) -> None:
    here = scene(record("a", "candidate") + record("b") + related("a", "proposed-supersession-of", "b"), tmp_path)
    found = lenses(here.view, MIRA, Policy(), NOW)
    assert [lens.text for lens in found][2:4] == ["Apply", "Compare"]
    assert found[3].argument is not None
    assert found[3].argument["target"] == here.drawn.ids["b"]


def test_a_title_shows_what_hides_in_a_summary_on_one_line(tmp_path: Path) -> None:
    here = scene(record("a", "candidate"), tmp_path)
    entry = here.entry()
    hostile = f"open \u202e[x](command:y)\u200b\n{'a' * 200}"
    other = View(Snapshot((here.root.with_entry(replace(entry, summary=hostile)),)), here.view.path, here.view.source)
    [first, *_] = offers(other, here.offset, MIRA, Policy(), NOW)
    assert first.title.startswith("Accept: open ")
    assert first.title.isprintable()
    assert len(first.title) < 100


def test_turning_a_proposal_down_touches_nothing_else(tmp_path: Path) -> None:
    text = record("a", "candidate") + record("b") + related("a", "proposed-supersession-of", "b")
    found = {offer.title.partition(":")[0]: offer.impact for offer in offered(text, tmp_path)}
    assert found["Reject"] == ""
    assert found["Accept"].startswith("It replaces ")
