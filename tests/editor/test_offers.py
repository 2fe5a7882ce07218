"""What can be decided where."""

from __future__ import annotations

from pathlib import Path
from shutil import copytree

import pytest
from cursor import Scene, free_text, scene
from msgspec.structs import replace

from deciding import MIRA, NOW, Decided, record, related
from memidex.editor.offers import Offer, offers
from memidex.editor.view import View
from memidex.history.change import Policy
from memidex.store import opening
from memidex.store.snapshot import Snapshot
from memidex.text import Source

PROPOSED = "proposed-supersession-of"
NOWHERE = "fact-el-button-nowhere-0123456789abcdef"


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


@pytest.mark.parametrize("kind", ["procedure", "unknown"])
def test_what_cannot_be_active_is_confirmed(tmp_path: Path, kind: str) -> None:
    found = titles(record("a", "candidate", kind), tmp_path)
    assert found == ["Confirm", "Reject", "Supersede...", "Contradict", "Forget"]


@pytest.mark.parametrize("kind", ["caution", "policy"])
def test_a_caution_and_a_policy_are_accepted(tmp_path: Path, kind: str) -> None:
    assert titles(record("a", "candidate", kind), tmp_path)[0].startswith("Accept: ")


@pytest.mark.parametrize("target", ["deprecated", None])
def test_a_proposal_that_cannot_be_applied_is_still_rejected_for_its_finding(
    tmp_path: Path, target: str | None
) -> None:
    text = record("a", "candidate") + (record("b", target) if target else "")
    text += related("a", PROPOSED, "b" if target else "nowhere").replace("@nowhere", NOWHERE)
    found = offered(text, tmp_path)
    assert not any(offer.title.startswith("Accept") for offer in found)
    assert [offer.title for offer in found if "proposed-supersession" in offer.rules] == ["Reject"]


def test_of_a_repeated_id_the_record_in_view_is_decided_upon(tmp_path: Path) -> None:
    here = scene(record("a", "candidate"), tmp_path)
    folder = here.drawn.path("record.md").parent
    folders = [folder, folder.with_name("copy")]
    copytree(folders[0], folders[1])
    root = opening.cold(here.drawn.root.as_posix())
    for one in folders:
        path = one / "record.md"
        view = View(Snapshot((root,)), path.as_posix(), Source(path.read_text()))
        for offset in (0, view.source.string.index(here.drawn.ids["a"])):
            assert {offer.argument["id"] for offer in offers(view, offset, MIRA, Policy(), NOW)} == {one.as_posix()}


def test_an_address_in_any_text_has_the_decisions_of_its_record(tmp_path: Path) -> None:
    here = scene(record("a", "candidate") + record("b"), tmp_path)
    view, offset = free_text(here, "see ‸@a, not @b")
    found = offers(view, offset, MIRA, Policy(), NOW)
    assert {offer.argument["id"] for offer in found} == {here.drawn.ids["a"]}
    assert {offer.argument["root"] for offer in found} == {here.root.path}
    assert offers(view, 0, MIRA, Policy(), NOW) == []


def test_the_findings_of_a_text_ask_nothing_of_a_record_that_it_names(tmp_path: Path) -> None:
    here = scene(record("a") + record("b") + related("a", "relates-to", "‸b").replace("@‸b", "‸@b"), tmp_path)
    for nick in ("a", "b"):
        path = here.drawn.path("record.md", nick)
        path.write_text(path.read_text() + "\nmore\n")
    root = opening.cold(here.drawn.root.as_posix())
    view = View(Snapshot((root,)), here.view.path, here.view.source)
    found = offers(view, here.offset, MIRA, Policy(), NOW)
    seals = [offer for offer in found if offer.command == "memidex.seal"]
    assert [offer.argument["id"] for offer in seals] == [here.drawn.ids["a"]]
    assert "edited-since-sealed" in seals[0].rules
    assert {offer.rules for offer in found if offer.argument["id"] == here.drawn.ids["b"]} == {()}


def test_only_the_wanted_commands_are_offered(tmp_path: Path) -> None:
    here = scene(record("a", "candidate"), tmp_path)
    found = offers(here.view, here.offset, MIRA, Policy(), NOW, frozenset({"memidex.reject"}))
    assert [offer.title for offer in found] == ["Reject"]


def test_what_a_person_decided_last_is_undone_with_its_name_and_events(tmp_path: Path) -> None:
    decided = Decided(scene(record("a", "candidate"), tmp_path).drawn)
    decided.do("accept")
    path = decided.file("record.md")
    view = View(Snapshot((decided.root,)), path.as_posix(), Source(path.read_text()))
    undo = next(offer for offer in offers(view, 0, MIRA, Policy(), NOW) if offer.title.startswith("Undo"))
    assert (undo.title, undo.command, undo.argument["label"]) == ("Undo: accept", "memidex.retract", "accept")
    assert undo.argument["seen"] == decided.tail()
    assert len(undo.argument["events"]) == 2
    decided.do("retract", events=tuple(undo.argument["events"]))
    assert decided.entry().standing.status == "candidate"


def test_an_event_of_a_person_is_retracted_and_not_overturned(tmp_path: Path) -> None:
    text = record("a", "deprecated").replace('"deprecated"', '"depre‸cated"')
    assert titles(text, tmp_path) == ["Retract: deprecated of build 2", "Undo: retire"]


def test_nothing_is_offered_in_a_text_that_names_no_record(tmp_path: Path) -> None:
    here = scene(record("a"), tmp_path)
    view, _ = free_text(here, "nothing of ours")
    assert offers(view, 3, MIRA, Policy(), NOW) == []


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
    assert keep.impact == ""
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
