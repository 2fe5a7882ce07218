"""The promotion gate as far as the store can tell: why a candidate is not active (learning, section 6)."""

from __future__ import annotations

from typing import Final

from memidex.history.standing import timeline
from memidex.records.memidex.bundle import Bundle
from memidex.records.memidex.vocabulary import PROMOTABLE_KINDS
from memidex.store.churn import churning
from memidex.store.snapshot import Entry, Root

# The closed list of reasons, in the order in which the gate looks; a candidate stays with the first that applies.
REASONS: Final[dict[str, str]] = {
    "ci-run": "it was learned in CI, and a CI run never promotes",
    "not-promotable-kind": "only facts and cautions become active",
    "person-deprecated": "a person deprecated it",
    "anchor-churning": "its anchor keeps changing",
    "no-confirmed-evidence": "no verified step confirms it",
    "needs-enrichment": "its evidence is incomplete",
    "ambiguous-match": "its step matched other than one element",
    "no-root-cause": "the root cause of the failure is not known",
}


def held(root: Root, entry: Entry, bundle: Bundle | None = None) -> str | None:
    """The first reason for which the gate would hold a candidate now, of those that the store can tell; None: it passes.

    The run's own reasons (`ci-run`, `ambiguous-match`, `no-root-cause`) are not to be seen in a store.
    """
    standing = entry.standing
    if entry.kind not in PROMOTABLE_KINDS:
        return "not-promotable-kind"
    if standing.person_deprecated:
        return "person-deprecated"
    if entry.main is not None and churning(root, entry.main, entry.product):
        return "anchor-churning"
    if standing.last_confirmed is None or overruled(bundle or root.bundle(entry), standing.last_confirmed):
        return "no-confirmed-evidence"
    return "needs-enrichment" if entry.incomplete else None


def overruled(bundle: Bundle | None, confirmed: int) -> bool:
    """Whether a person overturned a promotion and nothing confirmed the record in a later run (contract, section 5)."""
    if bundle is None or not any(event.type == "overturned" for event in bundle.log.events):
        return False
    steps = timeline(bundle.record, bundle.log)
    promotions = {step.identity for step in steps if step.event.type == "promoted"}
    return any(
        step.effective
        and step.event.type == "overturned"
        and step.event.overturns in promotions
        and step.event.ordinal >= confirmed
        for step in steps
    )
