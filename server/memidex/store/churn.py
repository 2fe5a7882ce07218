"""Anchors and scopes that change too fast to be believed, worked out from the logs (learning, section 8)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from memidex.records.memidex.values import AnyTarget, Scope
from memidex.store.snapshot import Entry, Product, Root

RUNS = 5
CHURN = 4
"""More than three supersessions."""
BURST = 8


class Churn(NamedTuple):
    """Why nothing about an anchor is served: superseded `times` times from build `first` to build `last`.

    `last` is the newest supersession: five runs without another one end the pause.
    """

    times: int
    first: int
    last: int


class Burst(NamedTuple):
    """The records that brought `anchors` new anchors into one scope since build `since`, the newest last."""

    anchors: int
    since: int
    records: tuple[str, ...]
    """Folders; one for each new anchor."""


def run_counts(product: Product) -> list[int] | tuple[int, ...]:
    """The run counts that runs are counted in, rising: the ledger's, else those of the events (contract, section 6)."""
    return product.runs or sorted(product.events)


def after(counts: list[int] | tuple[int, ...], ordinal: int, until: int) -> int:
    """How many runs came after `ordinal`, up to and with `until`."""
    return max(0, bisect_right(counts, until) - bisect_right(counts, ordinal))


def churning(root: Root, anchor: AnyTarget, product: str, now: int | None = None) -> Churn | None:
    """Why facts about a main anchor are not served at `now` (the product's current ordinal); None where they are.

    An anchor superseded more than three times within five runs, the first one's run counted, is paused until five runs
    pass without a supersession of it.
    """
    folders = root.anchors.get(anchor)
    if not folders:
        return None
    found: list[int] = []
    for folder in folders:
        item = root.entries[folder]
        if item.product == product and (item.relations or item.standing.valid_to is not None):
            found += supersessions(item)
    if len(found) < CHURN:
        return None
    whole = root.product(product)
    last = whole.current if now is None else now
    ordinals = sorted(ordinal for ordinal in found if ordinal <= last)
    counts = run_counts(whole)
    paused: Churn | None = None
    for index in range(len(ordinals)):
        here = ordinals[index]
        # In the fifth run after the last supersession only four have passed without one.
        if paused and after(counts, paused.last, here) > RUNS:
            paused = None
        first = ordinals[max(0, index - CHURN + 1)]
        if paused:
            paused = Churn(paused.times + 1, paused.first, here)
        elif index >= CHURN - 1 and after(counts, first, here) < RUNS:
            paused = Churn(CHURN, first, here)
    return paused if paused and after(counts, paused.last, last) < RUNS else None


def supersessions(item: Entry) -> Iterator[int]:
    """The ordinals at which the record was superseded, and at which it superseded one that is no more.

    Old generations are collected (contract, section 12); what is left of them is the relation of their successor.
    """
    standing = item.standing
    if standing.valid_to is not None and (standing.status == "superseded" or standing.by is not None):
        yield standing.valid_to
    for relation in item.relations:
        if relation.collected and relation.type == "supersedes":
            yield item.created if relation.ordinal is None else relation.ordinal


def burst(root: Root, scope: Scope, product: str, now: int | None = None) -> Burst | None:
    """Eight or more anchors new to a scope within the product's five newest runs up to `now`; else None."""
    whole = root.product(product)
    last = whole.current if now is None else now
    since = start_of_newest(whole, last)
    found: list[Entry] = []
    for ordinal in builds(whole, since, last):
        found += (item for item in at_build(root, scope, product, ordinal) if is_first(root, item))
    if len(found) < BURST:
        return None
    return Burst(len(found), since, tuple(item.directory for item in sorted(found, key=age)))


def newest_first(root: Root, scope: Scope, product: str) -> Entry | None:
    """The newest record of the five newest runs that brought a new anchor into a scope: where a burst is told."""
    whole = root.product(product)
    last = whole.current
    for ordinal in reversed(builds(whole, start_of_newest(whole, last), last)):
        for folder in sorted(root.created.get((scope, ordinal), ()), reverse=True):
            item = root.entries[folder]
            if brings(item, scope, product) and is_first(root, item):
                return item
    return None


def is_newest_first(root: Root, item: Entry) -> bool:
    """Whether `newest_first` of its scope is this record; of any other record this mostly shows at the first look."""
    if item.scope is None or not brings(item, item.scope, item.product):
        return False
    whole = root.product(item.product)
    if not in_newest_runs(whole, item.created):
        return False
    for ordinal in reversed(builds(whole, item.created, whole.current)):
        for folder in reversed(root.created.get((item.scope, ordinal), ())):
            if folder > item.directory or ordinal > item.created:
                other = root.entries[folder]
                if brings(other, item.scope, item.product) and is_first(root, other):
                    return False
    return item.created <= whole.current and is_first(root, item)


def at_build(root: Root, scope: Scope, product: str, ordinal: int) -> Iterator[Entry]:
    """The records of one scope created at an ordinal that may have brought an anchor."""
    for folder in root.created.get((scope, ordinal), ()):
        item = root.entries[folder]
        if brings(item, scope, product):
            yield item


def brings(item: Entry, scope: Scope, product: str) -> bool:
    """Whether a record counts in a scope. An `unknown` does not: it asks, often about the burst itself."""
    return (
        item.product == product and item.scope == scope and item.main is not None and item.kind not in ("unknown", "")
    )


def is_first(root: Root, item: Entry) -> bool:
    """Whether no older record of its scope has the same main anchor."""
    if item.scope is None or item.main is None:
        return False
    for folder in root.anchors.get(item.main, ()):
        other = root.entries[folder]
        if other.created <= item.created and age(other) < age(item) and brings(other, item.scope, item.product):
            return False
    return True


def age(item: Entry) -> tuple[int, str]:
    return item.created, item.directory


def start_of_newest(product: Product, last: int) -> int:
    counts = run_counts(product)
    end = bisect_right(counts, last)
    return counts[max(0, end - RUNS)] if end else 0


def builds(product: Product, since: int, until: int) -> list[int]:
    """The ordinals from `since` to `until` at which something may have been created, rising."""
    if until - since <= len(product.events) + RUNS:
        return list(range(since, until + 1))
    runs = product.runs[bisect_left(product.runs, since) : bisect_right(product.runs, until)]
    return sorted({*runs, *(ordinal for ordinal in product.events if since <= ordinal <= until)})


def in_newest_runs(product: Product, ordinal: int) -> bool:
    """Whether an ordinal is of the five newest runs; nothing is sorted where that shows without."""
    if product.runs:
        return ordinal >= product.runs[-RUNS:][0]
    later = 0
    for other in range(ordinal + 1, ordinal + 65):
        if other in product.events:
            later += 1
            if later == RUNS:
                return False
    return ordinal >= (sorted(product.events)[-RUNS:] or [0])[0]
