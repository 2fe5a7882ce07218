"""Churn and burst, on both sides of each boundary."""

from __future__ import annotations

import pytest

from memidex.history.standing import Standing
from memidex.records.memidex.bundle import Bundle
from memidex.records.memidex.read import File
from memidex.records.memidex.values import Flow, Relation, Run, Scope
from memidex.store import churn
from memidex.store.snapshot import Entry, Root

PAY = Flow("pay")
SHOP = Scope("product", "shop")


class Nothing:
    """A reader of a root whose texts nobody asks for."""

    def bundle(self, directory: str) -> Bundle | None:
        raise AssertionError("no text is read")

    def file(self, path: str) -> File | None:
        raise AssertionError("no text is read")


def item(name: str, created: int = 1, superseded: int | None = None, anchor: Flow = PAY, **more: object) -> Entry:
    standing = Standing("active") if superseded is None else Standing("superseded", valid_to=superseded)
    product = str(more.pop("product", "shop"))
    values: dict[str, object] = {
        "kind": "fact", "subtype": "behavioral", "anchors": (anchor,), "scope": SHOP, "created": created, "incomplete": False,
        "summary": "It pays.", "relations": (), "standing": standing, "ordinals": (created,), "judged": True, **more,
    }  # fmt: skip
    return Entry(f"/kb/memory/{product}/bundles/{name}", product, name, **values)  # type: ignore[arg-type]


def root_of(*items: Entry, runs: int = 0, ledger: list[int] | None = None) -> Root:
    root = Root("/kb", Nothing()).changed(items, [])
    ordinals = ledger or list(range(1, runs + 1))
    return root.with_ledger("shop", [Run(ordinal) for ordinal in ordinals], (0, 0, 0, 0)) if ordinals else root


def replaced(*ordinals: int) -> list[Entry]:
    return [item(f"old{index}", 1, ordinal) for index, ordinal in enumerate(ordinals)]


@pytest.mark.parametrize(
    ("ordinals", "paused"),
    [
        ((1, 2, 3), False),  # three are not more than three
        ((1, 2, 3, 5), True),  # from run 1 to run 5 there are five runs
        ((1, 2, 3, 6), False),  # and to run 6 six
        ((4, 4, 4, 4), True),
        ((1, 3, 4, 5, 6), True),  # the last four are within five
    ],
)
def test_an_anchor_is_paused_after_more_than_three_supersessions_within_five_runs(
    ordinals: tuple[int, ...], paused: bool
) -> None:
    root = root_of(*replaced(*ordinals), item("now"), runs=max(ordinals))
    assert bool(churn.churning(root, PAY, "shop")) is paused


@pytest.mark.parametrize(("now", "paused"), [(4, True), (8, True), (9, False)])
def test_the_pause_ends_when_five_runs_passed_without_a_supersession(now: int, paused: bool) -> None:
    root = root_of(*replaced(1, 2, 3, 4), item("now"), runs=now)
    assert bool(churn.churning(root, PAY, "shop")) is paused
    assert bool(churn.churning(root_of(*replaced(1, 2, 3, 4), item("now"), runs=20), PAY, "shop", now)) is paused


def test_a_supersession_during_the_pause_makes_it_longer_and_one_after_it_does_not() -> None:
    assert churn.churning(root_of(*replaced(1, 2, 3, 4, 8), item("now"), runs=12), PAY, "shop") == churn.Churn(5, 1, 8)
    assert churn.churning(root_of(*replaced(1, 2, 3, 4, 10), item("now"), runs=10), PAY, "shop") is None


def test_runs_are_those_of_the_ledger_however_far_apart_their_numbers() -> None:
    old = replaced(10, 20, 30, 50)
    assert churn.churning(root_of(*old, ledger=[10, 20, 30, 40, 50]), PAY, "shop")
    assert not churn.churning(root_of(*old, ledger=[10, 20, 30, 40, 45, 50]), PAY, "shop")


def test_without_a_ledger_the_builds_of_the_events_count() -> None:
    events = [item(f"e{n}", n, anchor=Flow(f"{n}"), ordinals=(n,)) for n in range(1, 7)]
    assert churn.churning(root_of(*replaced(1, 2, 3, 5), *events[:5]), PAY, "shop")
    assert not churn.churning(root_of(*replaced(1, 2, 3, 6), *events), PAY, "shop")


def test_another_product_and_another_anchor_do_not_count() -> None:
    others = [item("o1", 1, 2, Flow("other")), item("o2", 1, 2, product="desk")]
    assert churn.churning(root_of(*replaced(1, 2, 3), *others, runs=4), PAY, "shop") is None


def test_a_generation_that_was_collected_still_counts() -> None:
    heir = item("heir", 2, 2, relations=(Relation("supersedes", "gone", 1, collected=True),))
    assert churn.churning(root_of(heir, *replaced(3, 4), item("now"), runs=4), PAY, "shop") == churn.Churn(4, 1, 4)


def test_eight_new_anchors_within_five_runs_are_a_burst_and_seven_are_none() -> None:
    many = [item(f"r{n}", 2 + n % 5, anchor=Flow(f"f{n}")) for n in range(8)]
    found = churn.burst(root_of(*many, runs=6), SHOP, "shop")
    assert found
    assert (found.anchors, found.since) == (8, 2)
    assert found.records[-1].endswith("/r4"), "the newest, and of one build the last by name"
    assert churn.burst(root_of(*many[:7], runs=6), SHOP, "shop") is None
    # One run later the first of the builds is no longer among the five newest.
    assert churn.burst(root_of(*many, runs=7), SHOP, "shop") is None


def test_an_anchor_that_the_scope_knew_is_not_new() -> None:
    many = [item(f"r{n}", 6, anchor=Flow(f"f{n}")) for n in range(8)]
    assert churn.burst(root_of(*many, item("old", 1, anchor=Flow("f3")), runs=6), SHOP, "shop") is None
    assert churn.burst(root_of(*many, item("old", 1, anchor=Flow("f3"), scope=Scope("global")), runs=6), SHOP, "shop")


def test_a_burst_is_told_on_just_one_record() -> None:
    many = [item(f"r{n}", 5 + n % 2, anchor=Flow(f"f{n // 2}")) for n in range(18)]
    root = root_of(*many, runs=6)
    told = [entry.folder for entry in many if churn.is_newest_first(root, entry)]
    newest = churn.newest_first(root, SHOP, "shop")
    found = churn.burst(root, SHOP, "shop")
    assert newest
    assert found
    assert told == [newest.folder] == [found.records[-1].rpartition("/")[2]]


def test_an_unknown_raised_about_a_burst_is_no_part_of_it() -> None:
    many = [item(f"r{n}", 6, anchor=Flow(f"f{n}")) for n in range(7)]
    asks = item("asks", 6, anchor=Flow("f9"), kind="unknown", subtype=None)
    assert churn.burst(root_of(*many, asks, runs=6), SHOP, "shop") is None
