"""The example root is what its script makes, holds one of everything, and has no fault but what it shows on purpose."""

from __future__ import annotations

from collections import Counter

import pytest

from memidex import example
from memidex.history.standing import timeline
from memidex.records.memidex import vocabulary
from memidex.records.memidex.bundle import Bundle
from memidex.rules import engine, registry
from memidex.store import opening
from memidex.store.snapshot import Root
from tools import make_example

# Which rules report on which record (by its nick in the script), and nothing else does.
SHOWN = {
    "basket-link-proposal": {"proposed-supersession"},
    "coupon-lowers": {"conflicting-records"},
    "coupon-waits": {"conflicting-records"},
    "slot-1": {"superseded"},
    "slot-2": {"superseded"},
    "slot-3": {"superseded"},
    "slot-4": {"superseded"},
    "slot-5": {"churning-anchor"},
    "slot-churns": {"open-question"},
    "summer-banner": {"deprecated"},
    "ios-buy": {"awaiting-review"},
    "reports-1": {"superseded"},
    "reports-2": {"superseded"},
    "reports-3": {"superseded"},
    "reports-4": {"superseded"},
    "undo-toast": {"fading"},
    "bank-gateway": {"awaiting-review"},
    "quarter-default": {"awaiting-review"},
    "closes-month": {"awaiting-review"},
    "rounding": {"open-question"},
    "keep-bookings": {"awaiting-review"},
    "new-entry": {"deprecated"},
}
ITEMS = {item.nick: item for item in make_example.items()}


@pytest.fixture(scope="module")
def root() -> Root:
    return opening.cold(example.path().as_posix())


@pytest.fixture(scope="module")
def bundles(root: Root) -> list[Bundle]:
    return [bundle for entry in root.entries.values() if (bundle := root.bundle(entry))]


def test_the_committed_example_is_what_the_script_makes_byte_for_byte() -> None:
    found = {
        path.relative_to(example.path()).as_posix(): path.read_bytes()
        for path in example.path().rglob("*")
        if path.is_file() and ".memidex" not in path.parts
    }
    made = make_example.example()
    assert sorted(found) == sorted(made)
    assert [name for name, data in made.items() if found[name] != data] == []


def test_each_record_has_the_id_that_is_minted_for_it_but_for_the_one_of_the_formats_own_page(
    bundles: list[Bundle],
) -> None:
    from memidex.records.memidex.ids import mint

    others = []
    for bundle in bundles:
        record = bundle.record
        assert record.scope
        if record.id != mint(
            record.kind, record.subtype, [anchor.normalized for anchor in record.anchors], record.scope, record.summary
        ):
            others.append(record.id)
    assert others == ["fact-el-button-place-order-36-00-dd75ab371443d7b6"]


def test_the_formats_own_example_is_confirmed_at_builds_1_3_and_5(root: Root) -> None:
    entry = root.find("fact-el-button-place-order-36-00-dd75ab371443d7b6")
    assert entry
    bundle = root.bundle(entry)
    assert bundle
    assert bundle.files["record.md"].data == make_example.SEED.encode()
    assert [event.ordinal for event in bundle.log.events if event.type == "confirmed"] == [1, 3, 5]


def test_it_holds_every_kind_subtype_status_tier_anchor_event_and_relation(root: Root, bundles: list[Bundle]) -> None:
    entries = list(root.entries.values())
    assert {entry.product for entry in entries} == {"komazon", "ledgerly"}
    assert {entry.kind for entry in entries} == set(vocabulary.KINDS)
    assert {entry.subtype for entry in entries if entry.subtype} == set(vocabulary.SUBTYPES)
    assert {entry.status for entry in entries} == {"candidate", "active", "superseded", "deprecated"}
    assert {entry.scope.tier for entry in entries if entry.scope} == set(vocabulary.TIERS)
    assert {anchor.t for entry in entries for anchor in entry.anchors} == set(vocabulary.ANCHORS)
    assert {event.type for bundle in bundles for event in bundle.log.events} == set(vocabulary.EVENTS)
    assert {relation.type for entry in entries for relation in entry.relations} >= set(vocabulary.RELATIONS) - {
        "equivalent-to"
    }
    assert {name for bundle in bundles for name in bundle.files} == set(vocabulary.FILES)


def test_every_event_of_it_takes_effect_but_those_taken_back(bundles: list[Bundle]) -> None:
    idle = [step.why for bundle in bundles for step in timeline(bundle.record, bundle.log) if not step.effective]
    assert Counter(idle) == {"taken back by a later event": 2}


def test_it_shows_a_chain_of_five_generations_a_fading_record_and_a_measurement(root: Root) -> None:
    newest = root.find(ITEMS["reports-5"].record.id)
    assert newest
    assert newest.status == "active"
    chain = [newest]
    while older := root.predecessors(chain[-1]):
        chain += older
    assert [ITEMS[f"reports-{number}"].record.id for number in (5, 4, 3, 2, 1)] == [entry.id for entry in chain]
    fading = root.find(ITEMS["undo-toast"].record.id)
    assert fading
    assert root.unconfirmed_since(fading) == 7
    measured = root.find(ITEMS["balance-time"].record.id)
    assert measured
    bundle = root.bundle(measured)
    assert bundle
    assert bundle.value("evidence/measurements.json").baseline.n == 5
    assert root.unconfirmed_since(measured) is None


def test_every_bundle_of_it_is_sealed(bundles: list[Bundle]) -> None:
    assert {bundle.integrity for bundle in bundles} == {"sealed"}


def test_check_reports_what_it_shows_on_purpose_and_nothing_else(root: Root) -> None:
    findings = [finding for entry in root.entries.values() for finding in engine.check_entry(entry, root)]
    assert engine.check_root(root) == []
    nicks = {item.record.id: nick for nick, item in ITEMS.items()}
    found: dict[str, set[str]] = {}
    for finding in findings:
        assert finding.severity != "error", finding.message
        assert finding.record
        found.setdefault(nicks[finding.record], set()).add(finding.rule.name)
    known = {nick: {name for name in names if name in registry.BY_NAME} for nick, names in SHOWN.items()}
    assert found == {nick: names for nick, names in known.items() if names}
