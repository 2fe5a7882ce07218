"""What a run of the example root is served, most trusted first, and why the rest is not."""

from __future__ import annotations

import pytest

from memidex import example
from memidex.learning import gate
from memidex.learning.serving import REASONS, Run, brief, held_reason
from memidex.store import opening
from memidex.store.snapshot import Entry, Root
from tools import make_example

IDS = {item.nick: item.record.id for item in make_example.items()}
NICKS = {record: nick for nick, record in IDS.items()}


@pytest.fixture(scope="module")
def root() -> Root:
    return opening.cold(example.path().as_posix())


def entry(root: Root, nick: str) -> Entry:
    found = root.find(IDS[nick])
    assert found
    return found


def served(root: Root, run: Run) -> set[str]:
    return {NICKS[item.entry.id] for item in brief(root, run)}


SHOP = {"place-order", "search-box", "basket-link", "coupon-lowers", "coupon-waits", "card-timeout"}


def test_a_run_is_served_the_active_records_of_its_product_and_the_global_ones(root: Root) -> None:
    assert served(root, Run("komazon", "search", "search › finds a kettle", "web")) == {*SHOP, "consent"}


def test_a_suite_is_served_its_own_records_too_and_a_test_the_procedure_of_its_flow(root: Root) -> None:
    assert served(root, Run("komazon", "checkout", "checkout › buys as a guest", "web")) == {
        *SHOP,
        "consent",
        "vat-line",
        "buys-as-guest",
    }


def test_suites_of_another_product_are_not_the_same_whatever_their_names(root: Root) -> None:
    assert held_reason(root, entry(root, "vat-line"), Run("ledgerly", "checkout")) == "other-scope"


@pytest.mark.parametrize(
    ("nick", "run", "reason"),
    [
        ("slot-churns", Run("komazon"), "not-servable-kind"),
        ("sandbox-only", Run("komazon"), "not-servable-kind"),
        ("place-order", Run("ledgerly"), "other-scope"),
        ("vat-line", Run("komazon", "search"), "other-scope"),
        ("slot-1", Run("komazon"), "not-active"),
        ("summer-banner", Run("komazon"), "not-active"),
        ("slot-5", Run("komazon"), "anchor-churning"),
        ("place-order", Run("komazon", platform="ios"), "other-platform"),
        ("place-order", Run("komazon", platform="web"), None),
        ("buys-as-guest", Run("komazon", test="checkout › pays by card"), "other-flow"),
        ("buys-as-guest", Run("komazon"), "other-flow"),
        ("closes-month", Run("ledgerly", test="closing › closes a month"), "no-later-confirmation"),
        ("place-order", Run("komazon", ordinal=0), "not-active"),
    ],
)
def test_what_is_not_served_has_a_named_reason(root: Root, nick: str, run: Run, reason: str | None) -> None:
    assert held_reason(root, entry(root, nick), run) == reason
    assert reason is None or reason in REASONS


def test_the_store_is_served_as_it_was_at_an_earlier_build(root: Root) -> None:
    for ordinal, nick in [
        (5, "reports-1"),
        (6, "reports-2"),
        (10, "reports-2"),
        (11, "reports-3"),
        (19, "reports-4"),
        (20, "reports-5"),
    ]:
        found = served(root, Run("ledgerly", ordinal=ordinal))
        assert {name for name in found if name.startswith("reports")} == {nick}


def test_a_procedure_was_not_served_before_a_later_run_confirmed_it(root: Root) -> None:
    flow = "checkout › buys as a guest"
    assert (
        held_reason(root, entry(root, "buys-as-guest"), Run("komazon", test=flow, ordinal=4)) == "no-later-confirmation"
    )
    assert held_reason(root, entry(root, "buys-as-guest"), Run("komazon", test=flow, ordinal=5)) is None


def test_a_brief_starts_with_the_most_trusted_and_notes_what_faded(root: Root) -> None:
    found = brief(root, Run("ledgerly"))
    assert [item.trust for item in found] == sorted((item.trust for item in found), reverse=True)
    notes = {NICKS[item.entry.id]: item.note for item in found if item.note}
    assert notes == {"undo-toast": "unconfirmed since build 7"}


def test_the_gate_names_its_reasons_in_the_contracts_order(root: Root) -> None:
    assert gate.held(root, entry(root, "ios-buy")) == "needs-enrichment"
    assert gate.held(root, entry(root, "bank-gateway")) == "no-confirmed-evidence"
    assert gate.held(root, entry(root, "closes-month")) == "not-promotable-kind"
    assert gate.held(root, entry(root, "slot-5")) == "anchor-churning"
    assert gate.held(root, entry(root, "summer-banner")) == "person-deprecated"
    assert gate.held(root, entry(root, "quarter-default")) == "no-confirmed-evidence"
    assert gate.held(root, entry(root, "basket-link-proposal")) is None
    assert list(gate.REASONS) == [
        "ci-run", "not-promotable-kind", "person-deprecated", "anchor-churning", "no-confirmed-evidence", "needs-enrichment",
        "ambiguous-match", "no-root-cause",
    ]  # fmt: skip
