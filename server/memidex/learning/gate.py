"""The promotion gate as far as the store can tell: why a candidate is not active (learning, section 6)."""

from __future__ import annotations

from typing import Final

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


def held(root: Root, entry: Entry) -> str | None:
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
    if standing.last_confirmed is None or "promoted" in standing.overruled:
        return "no-confirmed-evidence"
    return "needs-enrichment" if entry.incomplete else None


def last_decision(root: Root, entry: Entry, bundle: Bundle | None) -> str | None:
    """Why a candidate is held: what the gate left in its bundle when it last looked, else what the store tells now."""
    decisions = (bundle.value("evidence/gates.jsonl") if bundle else None) or ()
    if decisions and decisions[-1].passed is False and decisions[-1].reason:
        return decisions[-1].reason
    return held(root, entry)
