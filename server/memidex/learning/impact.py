"""What else is touched when a record is retired: shown before a person decides (contract, surfaces, section 3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from memidex.history.change import Operation
from memidex.learning.rivals import rivals
from memidex.store.snapshot import Entry, Root

PROPOSED, DERIVED = "proposed-supersession-of", "derived-from"
SUPERSESSION = frozenset({"supersedes", "superseded-by"})
RETIRING = frozenset({"reject", "forget", "supersede"})
SHOWN, LONGEST = 3, 60


class Impact(NamedTuple):
    """Live records besides the one that is retired, by folder; a record is in the first list that is true of it."""

    retired: tuple[Entry, ...] = ()
    """What a proposal replaces, besides itself."""
    unsupported: tuple[Entry, ...] = ()
    """Derived from what is retired."""
    proposals: tuple[Entry, ...] = ()
    """Proposals to replace it, which then have nothing to replace."""
    rivals: tuple[Entry, ...] = ()
    """Active facts that claim something else about the same thing as its replacement does."""
    related: tuple[Entry, ...] = ()
    """Joined with it in any other way."""

    @property
    def is_alone(self) -> bool:
        """Whether the record alone is touched."""
        return not any(self)


NOTHING = Impact()


def impact(root: Root, entry: Entry, operation: Operation | str, kept: Entry | None = None) -> Impact:
    """What else is touched when this operation retires a record; nothing for one that retires none.

    Accepting a proposal retires what it would replace. `kept` is the record that the person keeps in its place, where
    there is one: that needs no telling. Costs as much as the record has relations, and rivals.
    """
    if operation == "accept":
        targets = [target for target in root.targets(entry, PROPOSED) if target.standing.live]
        if not targets:
            return NOTHING
        found = [around(root, target, operation, kept) for target in targets]
        skip = {entry.directory, *(target.directory for target in targets)}
        rest = [unique((other for one in found for other in one[index]), skip) for index in range(1, len(NOTHING))]
        return Impact(tuple(targets), *rest)
    return around(root, entry, operation, kept) if operation in RETIRING else NOTHING


def around(root: Root, entry: Entry, operation: str, kept: Entry | None) -> Impact:
    """The live records around one that is retired."""
    links = [(other, kind) for other, kind in root.links_to(entry) if other.standing.live]
    own = [
        target
        for relation in entry.relations
        if relation.type not in SUPERSESSION
        and (target := root.find(relation.target)) is not None
        and target.standing.live
    ]
    # Turning a proposal down leaves what it would replace as it is.
    skip = {entry.directory, *(target.directory for target in root.targets(entry, PROPOSED))}
    if kept is not None:
        skip.add(kept.directory)
    unsupported = unique((other for other, kind in links if kind == DERIVED), skip)
    proposals = unique((other for other, kind in links if kind == PROPOSED), skip)
    replaced = operation in ("supersede", "accept")
    rivalling = unique(rivals(root, entry) if replaced else (), skip)
    related = unique((*(other for other, kind in links if kind not in SUPERSESSION), *own), skip)
    return Impact((), unsupported, proposals, rivalling, related)


def unique(entries: Iterable[Entry], skip: set[str]) -> tuple[Entry, ...]:
    """Each record once, and none that was told of before."""
    found: list[Entry] = []
    for entry in entries:
        if entry.directory not in skip:
            skip.add(entry.directory)
            found.append(entry)
    return tuple(found)


def sentences(root: Root, found: Impact, shown: Callable[[str, int], str]) -> list[str]:
    """What is touched, a plain sentence for each way; `shown(text, limit)` makes a record's own words safe to show."""
    told: list[str] = []
    for entries, one, several in (
        (found.retired, "It replaces {}.", "It replaces {}."),
        (found.unsupported, "{} loses what it was derived from.", "{} lose what they were derived from."),
        (found.proposals, "{} then has nothing to replace.", "{} then have nothing to replace."),
        (found.rivals, "{} claims something else about the same thing.", "{} claim something else about the same thing."),
        (found.related, "{} is related to it.", "{} are related to it."),
    ):  # fmt: skip
        if entries:
            told.append((one if len(entries) == 1 else several).format(named(root, entries, shown)))
    return told


def named(root: Root, entries: tuple[Entry, ...], shown: Callable[[str, int], str]) -> str:
    names = [f"{root.short(entry) or entry.id} ({shown(entry.title, LONGEST)})" for entry in entries[:SHOWN]]
    if len(entries) > SHOWN:
        names.append(f"{len(entries) - SHOWN:,} more")
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
