"""Every row of the contract's table on every state; what is refused writes nothing; an undo gives the standing of before."""

from __future__ import annotations

import os
import shutil
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deciding import AGENT, LOG, MIRA, NOW, STATES, TEXT, Decided, drawn, reason, record, related
from memidex.history import trust
from memidex.history.change import OPERATIONS, Actor, Policy
from memidex.history.standing import Standing
from memidex.learning.decide import Accepted, undo
from memidex.learning.reasons import BY_NAME, REASONS
from memidex.records.memidex.vocabulary import KINDS, PROMOTABLE_KINDS
from memidex.rules import engine

WITH = {"supersede": TEXT, "retract": {"events": ("a-1",)}, "overturn": {"events": ("a-2",)}}
MAY = {
    "confirm": ("candidate", "active"),
    "accept": ("candidate",),
    "reject": ("candidate",),
    "forget": ("candidate", "active"),
    "supersede": ("candidate", "active"),
    "contradict": ("candidate", "active"),
    "retract": tuple(STATES),
    "overturn": ("active", "superseded", "deprecated"),
    "seal": (),
}
AFTER = {
    "confirm": "active",
    "accept": "active",
    "reject": "deprecated",
    "forget": "deprecated",
    "supersede": "superseded",
}
B = record("b")


def kinds(decision: Accepted, part: int = 0) -> list[str]:
    return [event.type for event in decision.commit.parts[part].events]


def errors(decided: Decided) -> list[str]:
    root = decided.root
    return [
        f"{finding.rule.name}: {finding.message}"
        for entry in root.entries.values()
        for finding in engine.check_entry(entry, root)
        if finding.severity == "error"
    ]


def state(decided: Decided, nick: str = "a") -> Standing:
    return decided.entry(nick).standing


# The table ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("before", STATES)
@pytest.mark.parametrize("kind", KINDS)
def test_an_operation_is_granted_in_the_states_of_the_contract_and_in_no_other(
    kind: str, before: str, operation: str, tmp_path: Path
) -> None:
    decided = drawn(B + record("a", before, kind), tmp_path)
    files = decided.files()
    decision = decided.decide(operation, **WITH.get(operation, {}))
    wanted = before in MAY[operation]
    if operation == "overturn" and (before != "active" or kind not in PROMOTABLE_KINDS):
        wanted = False  # of the sketched events the promotion alone is an agent's that can be overturned here
    if kind not in PROMOTABLE_KINDS and before == "active":  # these never are active: it is a candidate
        wanted = operation in MAY and "candidate" in MAY[operation]
    if kind == "procedure" and operation == "supersede" and before in ("candidate", "active"):
        wanted = False
    if operation == "overturn" and before in ("superseded", "deprecated") and kind in PROMOTABLE_KINDS:
        wanted = True
    assert isinstance(decision, Accepted) == wanted, decision
    if isinstance(decision, Accepted):
        decided.apply(decision)
        if operation in AFTER and (AFTER[operation] != "active" or kind in PROMOTABLE_KINDS):
            assert state(decided).status == AFTER[operation]
        assert {entry.directory for entry in decided.root.entries.values()} >= {decided.entry().directory}
        assert decided.root.bundle(decided.entry()).integrity == "sealed"  # type: ignore[union-attr]
    else:
        assert decision.reason in BY_NAME
        assert decided.files() == files


@pytest.mark.parametrize(
    ("operation", "before", "wanted"),
    [
        ("confirm", "active", ["confirmed"]),
        ("confirm", "candidate", ["confirmed", "promoted"]),
        ("accept", "candidate", ["confirmed", "promoted"]),
        ("reject", "candidate", ["deprecated"]),
        ("forget", "active", ["deprecated", "window-close"]),
        ("supersede", "active", ["superseded", "window-close"]),
        ("contradict", "active", ["contradicted"]),
        ("retract", "active", ["retracted"]),
        ("overturn", "active", ["overturned"]),
    ],
)
def test_the_events_are_those_of_the_table_of_one_time_and_the_persons(
    operation: str, before: str, wanted: list[str], tmp_path: Path
) -> None:
    decided = drawn(record("a", before), tmp_path)
    decision = decided.do(operation, note="so it is", **WITH.get(operation, {}))
    events = decision.commit.parts[0].events
    assert [event.type for event in events] == wanted
    assert {(event.origin, event.actor, event.ordinal, event.at, event.note) for event in events} == {
        ("user", "mira", 3, NOW, "so it is")
    }
    assert len({event.id for event in events}) == len(events)
    assert errors(decided) == []


@pytest.mark.parametrize("ci", [True, False])
def test_a_persons_decision_is_the_same_in_ci(ci: bool, tmp_path: Path) -> None:
    decided = drawn(record("a", "candidate"), tmp_path)
    decided.apply(decided.decide("accept", policy=Policy(ci=ci)))
    assert state(decided).status == "active"
    assert state(decided).path == "user-sovereign"


def test_the_trust_after_one_confirmation_is_the_seeds(tmp_path: Path) -> None:
    decided = drawn(record("a", "active"), tmp_path)
    assert trust.shown(state(decided).trust) == "0.75"
    new = decided.do("supersede", **TEXT).record
    assert trust.shown(state(decided, new).trust) == "0.80"


def test_what_clocks_say_a_decision_is_read_after_what_it_was_decided_upon(tmp_path: Path) -> None:
    late = '{"buildOrdinal":3,"origin":"user","type":"contradicted","id":"late","at":"2027-01-01T00:00:00Z"}\n'
    decided = drawn(record("a", "active", more=late), tmp_path)
    event = decided.do("forget").commit.parts[0].events[0]
    assert event.at
    assert event.at > NOW + timedelta(days=200)


# Proposals, policies, supersession ------------------------------------------------------------------------------------


def proposal(folder: Path, target: str = "active", status: str = "candidate") -> Decided:
    return drawn(record("a", status) + related("a", "proposed-supersession-of", "b") + record("b", target), folder)


def relations(decided: Decided, nick: str) -> list[tuple[str, str]]:
    names = {record_id: nick for nick, record_id in decided.drawn.ids.items()}
    return [(relation.type, names.get(relation.target, relation.target)) for relation in decided.entry(nick).relations]


def test_accepting_a_proposal_applies_it_on_both_records(tmp_path: Path) -> None:
    decided = proposal(tmp_path)
    decided.do("accept")
    assert (state(decided).status, state(decided, "b").status) == ("active", "superseded")
    assert state(decided, "b").by == decided.drawn.ids["a"]
    assert relations(decided, "a") == [("supersedes", "b")]
    assert relations(decided, "b") == [("superseded-by", "a")]
    assert errors(decided) == []


def test_undoing_an_accepted_proposal_makes_it_a_proposal_again_from_either_record(tmp_path: Path) -> None:
    for number, nick in enumerate("ab"):
        decided = proposal(tmp_path / str(number))
        before = state(decided), state(decided, "b")
        decided.do("accept")
        assert decided.undo(nick) in ("accept", "supersede")
        assert (state(decided), state(decided, "b")) == before
        assert relations(decided, "a") == [("proposed-supersession-of", "b")]
        assert relations(decided, "b") == []
        assert errors(decided) == []


def test_an_undone_supersession_can_be_done_again(tmp_path: Path) -> None:
    decided = proposal(tmp_path)
    decided.do("accept")
    after = state(decided), state(decided, "b")
    decided.undo()
    back = [
        event.id
        for event in decided.root.bundle(decided.entry("b")).log.events
        if event.type == "retracted"  # type: ignore[union-attr]
    ]
    decided.do("retract", "b", events=tuple(back))
    assert (state(decided), state(decided, "b")) == after
    assert (relations(decided, "a"), relations(decided, "b")) == ([("supersedes", "b")], [("superseded-by", "a")])
    assert errors(decided) == []


def test_rejecting_a_proposal_leaves_its_target_byte_for_byte(tmp_path: Path) -> None:
    decided = proposal(tmp_path)
    before = {name: data for name, data in decided.files().items() if "button-b-" in name}
    decided.do("reject")
    assert {name: data for name, data in decided.files().items() if "button-b-" in name} == before


@pytest.mark.parametrize("kind", ["fact", "caution", "unknown", "policy"])
def test_the_new_record_of_a_supersession_is_the_persons_about_the_same_and_without_findings(
    kind: str, tmp_path: Path
) -> None:
    decided = drawn(record("a", "active", kind), tmp_path)
    old = decided.entry()
    decision = decided.do("supersede", **TEXT)
    new = decided.entry(decision.record)
    assert (new.kind, new.subtype, new.anchors, new.scope, new.created) == (
        old.kind, old.subtype, old.anchors, old.scope, 3,
    )  # fmt: skip
    assert new.standing.origin == "user"
    assert new.status == ("active" if kind in PROMOTABLE_KINDS else "candidate")
    bundle = decided.root.bundle(new)
    assert bundle
    assert bundle.integrity == "sealed"
    assert bundle.value("provenance.json").writer.by == "person"
    assert bundle.value("observations.jsonl") == ()
    assert errors(decided) == []
    assert [
        finding.rule.name for finding in engine.check_entry(new, decided.root) if finding.severity == "warning"
    ] == []


def test_one_of_two_that_conflict_is_kept_and_the_other_superseded_by_it(tmp_path: Path) -> None:
    decided = drawn(
        record("a") + related("a", "conflicts-with", "b") + record("b") + related("b", "conflicts-with", "a"), tmp_path
    )
    before = state(decided), state(decided, "b")
    decided.do("supersede", "b", by=decided.drawn.ids["a"])
    assert (state(decided).status, state(decided, "b").status) == ("active", "superseded")
    assert errors(decided) == []
    decided.undo("b")
    assert (state(decided), state(decided, "b")) == before
    assert errors(decided) == []


def test_a_policys_rule_is_appended_once_with_the_records_address_and_taken_out_by_the_undo(tmp_path: Path) -> None:
    decided = drawn(record("a", "candidate", "policy") + "-- policies.md --\n# Ours\n\n- no real cards", tmp_path)
    policies = Path(decided.path) / "policies.md"
    before = policies.read_text()
    decided.do("accept")
    rule = f'- button "a" resolved as a verified element (agentqa://memory/{decided.drawn.ids["a"]})\n'
    assert policies.read_text() == before + rule
    assert reason(decided.decide("accept")) == "already-so"
    decided.do("accept", actor=Actor("user", "noor"))
    assert policies.read_text() == before + rule
    decided.undo()
    decided.undo()
    assert policies.read_text() == before
    assert state(decided).confirmed == 1


def test_an_overturned_supersession_brings_the_old_record_back_on_both_sides(tmp_path: Path) -> None:
    decided = drawn(
        record("a", "superseded") + related("a", "superseded-by", "b") + record("b") + related("b", "supersedes", "a"),
        tmp_path,
    )
    decided.do("overturn", events=("a-3",))
    assert (state(decided).status, state(decided, "b").status) == ("active", "active")
    assert (relations(decided, "a"), relations(decided, "b")) == ([], [])
    assert errors(decided) == []
    assert reason(decided.decide("supersede", actor=AGENT, **TEXT)) == "overturned"
    later = '{"buildOrdinal":9,"origin":"agent-verified","type":"confirmed","id":"later"}\n'
    with decided.file(LOG).open("a") as log:
        log.write(later)
    assert isinstance(decided.decide("supersede", actor=AGENT, **TEXT), Accepted)
    decided.undo()
    assert (relations(decided, "a"), relations(decided, "b")) == ([("superseded-by", "b")], [("supersedes", "a")])


# Once and no more -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "operation", ["confirm", "accept", "reject", "forget", "supersede", "contradict", "retract", "overturn"]
)
def test_deciding_twice_is_refused_and_nothing_is_doubled(operation: str, tmp_path: Path) -> None:
    decided = drawn(record("a", "active" if operation == "overturn" else "candidate"), tmp_path)
    more: dict[str, Any] = WITH.get(operation, {})
    seen = decided.tail()
    decided.do(operation, **more)
    files = decided.files()
    assert reason(decided.decide(operation, **more)) in ("already-so", "not-live")
    assert reason(decided.decide(operation, seen=seen, **more)) == "stale"
    assert decided.files() == files


def test_who_changed_their_mind_is_heard_again(tmp_path: Path) -> None:
    decided = drawn(record("a"), tmp_path)
    for operation in ("confirm", "contradict", "confirm"):
        decided.do(operation)
    assert (state(decided).confirmed, state(decided).contradicted) == (3, 1)


def test_undo_after_undo_takes_back_the_decision_before_and_ends(tmp_path: Path) -> None:
    decided = drawn(record("a", "candidate"), tmp_path)
    standings = [state(decided)]
    for operation in ("accept", "contradict", "forget"):
        decided.do(operation)
        standings.append(state(decided))
    for label in ("forget", "contradict", "accept"):
        standings.pop()
        assert decided.undo() == label
        assert state(decided) == standings[-1]
    assert undo(decided.root, decided.entry()) is None


# Reasons --------------------------------------------------------------------------------------------------------------


def bad(name: str, text: str) -> str:
    return f"-- a/{name} (whole) --\n{text}\n"


CASES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "unsupported-version": ("-- record.md --\nschemaVersion: 3\n", "confirm", {}),
    "unsound": (bad("record.md", "no frontmatter"), "confirm", {}),
    "unreadable-relations": (record("a") + bad("relations.json", "{"), "supersede", TEXT),
    "stale": (record("a"), "confirm", {"seen": "1-0"}),
    "untrusted": (record("a"), "confirm", {"policy": Policy(trusted=False)}),
    "read-only": (record("a"), "confirm", {"policy": Policy(read_only=True)}),
    "agent-may-not": (record("a", "candidate"), "accept", {"actor": AGENT}),
    "agent-retires-active": (record("a"), "forget", {"actor": AGENT}),
    "ci-run": (record("a"), "supersede", {"actor": AGENT, "policy": Policy(ci=True), **TEXT}),
    "already-so": (record("a"), "accept", {}),
    "not-live": (B + record("a", "superseded"), "confirm", {}),
    "not-a-candidate": (record("a"), "reject", {}),
    "target-missing": (record("a", "candidate") + related("a", "proposed-supersession-of", "z"), "accept", {}),
    "target-not-live": (
        record("a", "candidate") + related("a", "proposed-supersession-of", "b") + record("b", "deprecated"), "accept", {},
    ),
    "manifest-unknown": (record("a") + bad("manifest.json", '{"ours": []}'), "seal", {}),
    "no-replacement": (record("a"), "supersede", {"summary": " ", "detail": "x"}),
    "bad-replacement": (record("a"), "supersede", {"summary": "x\n\n## Detail\n\ny", "detail": "x"}),
    "credential": (record("a"), "supersede", {"summary": "log in", "detail": "with ghp_16C7e42F292c6912E7710c838347Ae178B4a"}),
    "nothing-to-undo": (record("a"), "retract", {}),
    "unknown-event": (record("a"), "retract", {"events": ("nobody",)}),
    "not-overturnable": (record("a"), "overturn", {"events": ("a-1",)}),
}  # fmt: skip
ELSEWHERE = {"unknown-record", "repeated-id", "overturned", "replacement-exists", "busy", "cannot-lock"}
ELSEWHERE |= {"unsaved-edits", "cancelled"}  # of the editor: tests/lsp/test_decisions.py


@pytest.mark.parametrize("name", CASES)
def test_a_reason_is_reached_and_nothing_is_written(name: str, tmp_path: Path) -> None:
    text, operation, more = CASES[name]
    decided = drawn(text, tmp_path)
    before = decided.files()
    assert reason(decided.decide(operation, **more)) == name
    assert decided.files() == before


def test_every_reason_has_one_paragraph_and_a_test_that_reaches_it() -> None:
    assert {*CASES, *ELSEWHERE} == set(BY_NAME)
    assert len(BY_NAME) == len(REASONS)
    for item in REASONS:
        assert item.page.endswith(".")
        assert "\n" not in item.page


def test_a_record_that_is_not_there_or_there_twice_is_not_decided_upon(tmp_path: Path) -> None:
    decided = drawn(record("a"), tmp_path)
    assert reason(decided.decide("confirm", "nobody")) == "unknown-record"
    folder = decided.file("record.md").parent
    shutil.copytree(folder, folder.with_name("fact-other-0123456789abcdef"))
    assert reason(decided.decide("confirm")) == "repeated-id"
    assert isinstance(decided.decide("confirm", folder.as_posix()), Accepted)


def test_a_replacement_that_is_there_already_is_named(tmp_path: Path) -> None:
    decided = drawn(record("a"), tmp_path)
    decided.do("supersede", **TEXT)
    decided.undo()
    assert reason(decided.decide("supersede", **TEXT)) == "replacement-exists"


def test_an_agent_takes_back_its_own_events_and_no_persons(tmp_path: Path) -> None:
    decided = drawn(record("a"), tmp_path)
    event = decided.do("contradict").commit.parts[0].events[0]
    assert reason(decided.decide("retract", actor=AGENT, events=(event.id,))) == "agent-may-not"
    assert isinstance(decided.decide("retract", actor=AGENT, events=("a-2",)), Accepted)


# Any sequence ---------------------------------------------------------------------------------------------------------

STEPS = st.lists(
    st.tuples(st.sampled_from([*MAY, "keep", "undo"]), st.sampled_from("abc"), st.integers(0, 5), st.sampled_from(["mira", "noor"])),
    max_size=7,
)  # fmt: skip


def one(decided: Decided, step: tuple[str, str, int, str]) -> tuple[str, str] | None:
    """Do what a step asks for where it is granted; the record and what it was, of what an undo could take back."""
    operation, nick, number, who = step
    if operation == "undo":
        if undo(decided.root, decided.entry(nick)):
            decided.undo(nick)
        return None
    more: dict[str, Any] = {}
    if operation in ("retract", "overturn"):
        events = decided.root.bundle(decided.entry(nick)).log.identities  # type: ignore[union-attr]
        more["events"] = (events[number % len(events)],)
    if operation == "supersede":
        more = {"summary": f"claim {number}", "detail": "As worded."}
    if operation == "keep":
        operation, more = "supersede", {"by": decided.drawn.ids["abc"[number % 3]]}
    before = decided.files()
    decision = decided.decide(operation, nick, actor=Actor("user", who), **more)
    assert decided.files() == before
    if not isinstance(decision, Accepted):
        assert decision.reason in BY_NAME
        return None
    decided.apply(decision)
    return operation, nick


@settings(max_examples=40)
@given(STEPS)
def test_whatever_is_decided_there_is_no_error_and_the_last_decision_can_be_undone(
    steps: list[tuple[str, str, int, str]],
) -> None:
    folder = Path(tempfile.mkdtemp(dir="/dev/shm" if os.path.isdir("/dev/shm") else None))
    try:
        decided = drawn(
            record("a", "candidate")
            + related("a", "proposed-supersession-of", "b")
            + record("b")
            + record("c", "candidate", "caution"),
            folder,
        )
        for step in steps:
            before = {entry.id: entry.standing for entry in decided.root.entries.values()}
            done = one(decided, step)
            assert errors(decided) == []
            for entry in decided.root.entries.values():
                assert decided.root.bundle(entry).integrity == "sealed"  # type: ignore[union-attr]
            if done and done[0] not in ("retract", "overturn", "seal") and step[2] % 2:
                decided.undo(done[1])
                assert errors(decided) == []
                after = {entry.id: entry.standing for entry in decided.root.entries.values() if entry.id in before}
                assert after == before
    finally:
        shutil.rmtree(folder)


def test_the_persons_name_is_beside_each_event(tmp_path: Path) -> None:
    decided = drawn(record("a"), tmp_path)
    decided.do("confirm", actor=MIRA)
    assert '"actor":"mira"' in decided.file(LOG).read_text().splitlines()[-1]
