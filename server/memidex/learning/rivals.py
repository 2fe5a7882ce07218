"""Active facts about one thing of which only one can be right."""

from __future__ import annotations

from collections.abc import Iterable

from memidex.records.memidex.anchors import fold
from memidex.records.memidex.values import Scope
from memidex.store.snapshot import Entry, Root

SETTLED = frozenset({"supersedes", "superseded-by", "conflicts-with", "equivalent-to"})
"""Relations that say how two such facts stand to each other."""


def rivals(root: Root, entry: Entry) -> list[Entry]:
    """The other active facts of its subtype, main anchor and scope that claim something else; by folder.

    Facts of different platforms are no rivals, nor are two that a relation already calls equivalent, in conflict, or old
    and new. Of the record itself it does not matter whether it is active.
    """
    if entry.kind != "fact" or entry.main is None:
        return []
    row = root.anchors.get(entry.main, ())
    if len(row) < 2:
        return []
    found = [other for folder in row if (other := root.entries[folder]) is not entry and are_rivals(root, entry, other)]
    return sorted(found, key=lambda other: other.directory)


def contested(root: Root) -> set[str]:
    """The folders of all active facts that have rivals.

    However many facts are about one thing, those that claim the same are not compared with each other.
    """
    return {
        entry.directory
        for row in root.anchors.values()
        if len(row) > 1
        for claims in claims_of(root, row)
        for claim, entries in claims.items()
        for entry in entries
        if is_contested(root, entry, claim, claims)
    }


def is_contested(root: Root, entry: Entry, claim: str, claims: dict[str, list[Entry]]) -> bool:
    """Whether a fact has a rival among those that claim something else."""
    others = (other for another, group in claims.items() if another != claim for other in group)
    return any(are_rivals(root, entry, other) for other in others)


def claims_of(root: Root, row: Iterable[str]) -> Iterable[dict[str, list[Entry]]]:
    """The active facts among these folders by what they claim, for each subtype and scope."""
    found: dict[tuple[str | None, Scope | None], dict[str, list[Entry]]] = {}
    for folder in row:
        entry = root.entries[folder]
        if entry.kind == "fact" and entry.status == "active":
            claims = found.setdefault((entry.subtype, entry.scope), {})
            claims.setdefault(fold(entry.summary), []).append(entry)
    return found.values()


def are_rivals(root: Root, entry: Entry, other: Entry) -> bool:
    return (
        other.kind == "fact"
        and other.standing.status == "active"
        and other.subtype == entry.subtype
        and other.scope == entry.scope
        and (entry.platform is None or other.platform is None or entry.platform == other.platform)
        and fold(entry.summary) != fold(other.summary)
        and not settled(root, entry, other)
    )


def settled(root: Root, entry: Entry, other: Entry) -> bool:
    """Whether a relation says how the two stand to each other, by either one's word."""
    return any(
        relation.type in SETTLED and (target := root.find(relation.target)) and target.directory == there.directory
        for here, there in ((entry, other), (other, entry))
        for relation in here.relations
    )
