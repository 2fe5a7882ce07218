"""What a run is served, and why a record is not (contract, section 6, "Servable")."""

from __future__ import annotations

from fractions import Fraction
from typing import Final, NamedTuple

from memidex.history.standing import Standing, standing
from memidex.records.memidex.anchors import fold
from memidex.records.memidex.values import Flow
from memidex.records.memidex.vocabulary import PROMOTABLE_KINDS
from memidex.store.churn import churning
from memidex.store.snapshot import Entry, Root

# The closed list of reasons, in the order in which they are looked for.
REASONS: Final[dict[str, str]] = {
    "unsupported-version": "its version of the format is not understood",
    "not-servable-kind": "a record of this kind is never served as a hint",
    "other-scope": "it applies to another product, suite or test",
    "not-active": "only an active record is served",
    "outside-validity": "the run is outside of the builds for which it holds",
    "other-platform": "it is about another platform",
    "anchor-churning": "its anchor keeps changing",
    "other-flow": "it is the procedure of another flow",
    "no-later-confirmation": "no run after the one that recorded it has confirmed the flow",
}


class Run(NamedTuple):
    """The run that asks. `ordinal` None is the product's current one; without a platform every platform's records fit."""

    product: str
    suite: str | None = None
    test: str | None = None
    platform: str | None = None
    ordinal: int | None = None


class Served(NamedTuple):
    """A record as a run is served it."""

    entry: Entry
    trust: Fraction
    note: str | None
    """`unconfirmed since build N`, where its trust is lowered for that."""


def held_reason(root: Root, entry: Entry, run: Run) -> str | None:
    """The first reason for which a run is not served a record; None where it is."""
    is_procedure = entry.kind == "procedure"
    if not entry.judged:
        return "unsupported-version"
    if entry.kind not in PROMOTABLE_KINDS and not is_procedure:
        return "not-servable-kind"
    if not applies(entry, run):
        return "other-scope"
    state = standing_at(root, entry, run)
    if not (state.live if is_procedure else state.status == "active"):
        return "not-active"
    now = moment(root, entry, run)
    if now < entry.created or (state.valid_to is not None and now >= state.valid_to):
        return "outside-validity"
    if entry.platform and run.platform and entry.platform != run.platform:
        return "other-platform"
    if entry.main is not None and churning(root, entry.main, entry.product, now):
        return "anchor-churning"
    return procedure_reason(entry, state, run) if is_procedure else None


def procedure_reason(entry: Entry, state: Standing, run: Run) -> str | None:
    """The matcher of procedures: the flow of the test itself, confirmed by a later run than the one that recorded it."""
    if run.test is None or Flow(fold(run.test)) not in entry.anchors:
        return "other-flow"
    return None if was_confirmed_later(entry, state) else "no-later-confirmation"


def was_confirmed_later(entry: Entry, state: Standing) -> bool:
    return state.last_confirmed is not None and state.last_confirmed > entry.created


def applies(entry: Entry, run: Run) -> bool:
    """Whether the scope holds the run. Suites and tests of two products are not the same, whatever their names."""
    scope = entry.scope
    if scope is None:
        return False
    if scope.tier == "global":
        return True
    wanted = {"product": run.product, "suite": run.suite, "test": run.test}[scope.tier]
    return entry.product == run.product and wanted is not None and scope.key == wanted


def moment(root: Root, entry: Entry, run: Run) -> int:
    """The run's ordinal in the counting of the record's product: that of a global record of another one is its newest."""
    if run.ordinal is None or entry.product != run.product:
        return root.product(entry.product).current
    return run.ordinal


def standing_at(root: Root, entry: Entry, run: Run) -> Standing:
    """The record's standing when the run asks."""
    now = moment(root, entry, run)
    if not entry.ordinals or now >= max(entry.ordinals):
        return entry.standing
    bundle = root.bundle(entry)
    return standing(bundle.record, bundle.log, now) if bundle else entry.standing


def brief(root: Root, run: Run) -> list[Served]:
    """Everything that the run is served, most trusted first; of equal trust what is active, then by id."""
    served: list[tuple[Fraction, str, str, Served]] = []
    for entry in root.entries.values():
        if held_reason(root, entry, run) is None:
            state, now = standing_at(root, entry, run), moment(root, entry, run)
            since = root.unconfirmed_since(entry, now, state)
            trust = root.served_trust(entry, now, state)
            note = None if since is None else f"unconfirmed since build {since}"
            served.append((-trust, state.status, entry.id, Served(entry, trust, note)))
    return [item for *_, item in sorted(served, key=lambda found: found[:3])]
