"""Which old generations go: of a chain of supersession the three newest superseded ones stay (contract, section 12)."""

from __future__ import annotations

from typing import Final

from memidex.history.change import tail
from memidex.records.memidex.bundle import Bundle
from memidex.records.memidex.values import Relation
from memidex.store.commit import Commit, Part, RelationEdit, Removal
from memidex.store.snapshot import Entry, Root

STAY: Final = 3
LOG = "evidence/outcomes.jsonl"


def collected(root: Root) -> list[Entry]:
    """The records that retention removes, oldest generations of each chain.

    Never one of origin `user`, one that somebody edited since it was sealed, or one whose place in a chain is not clear.
    """
    known: dict[str, int] = {}
    found: list[Entry] = []
    for entry in root.entries.values():
        if entry.status != "superseded" or entry.standing.origin == "user" or not entry.judged:
            continue
        if generation(root, entry, known) > STAY:
            bundle = root.bundle(entry)
            if bundle and bundle.integrity in ("sealed", "appended") and not bundle.faults:
                found.append(entry)
    return sorted(found, key=lambda entry: (entry.created, entry.directory))


def generation(root: Root, entry: Entry, known: dict[str, int]) -> int:
    """How many superseded generations there are up to and with this one, the newest being the first; 0 in a circle.

    Of a record that several superseded the shortest way counts, so that it stays as long as any of them keeps it.
    """
    path: list[Entry] = [entry]
    while path:
        here = path[-1]
        if here.directory in known:
            path.pop()
            continue
        newer = [other for other in successors(root, here) if other.status == "superseded"]
        waiting = [other for other in newer if other.directory not in known]
        if any(other in path for other in waiting):
            known[here.directory] = 0
            path.pop()
        elif waiting:
            path.append(waiting[0])
        else:
            counts = [known[other.directory] for other in newer]
            alive = len(newer) < len(successors(root, here)) or not newer
            known[here.directory] = 1 if alive else 0 if 0 in counts else min(counts) + 1
            path.pop()
    return known[entry.directory]


def successors(root: Root, entry: Entry) -> list[Entry]:
    by = root.find(entry.standing.by) if entry.standing.by else None
    found = root.successors(entry)
    return found if by is None or by in found else [*found, by]


def collection(root: Root) -> Commit:
    """What removes them, and marks every relation that remains to one of them; empty where nothing is to be removed."""
    gone = {entry.directory: entry for entry in collected(root)}
    edits: dict[str, list[RelationEdit]] = {}
    for entry in gone.values():
        for other, _ in root.links_to(entry):
            if other.directory not in gone:
                for relation in naming(root, other, entry):
                    edits.setdefault(other.directory, []).append(RelationEdit("collect", relation))
    parts: list[Part] = []
    for directory, marks in sorted(edits.items()):
        bundle = root.reader.bundle(directory)
        if bundle:
            unique = {(edit.relation.type, edit.relation.target): edit for edit in marks}
            parts.append(Part(place=place_of(root, directory), tail=log_tail(bundle), relations=tuple(unique.values())))
    removals = [
        Removal(place_of(root, directory), log_tail(bundle))
        for directory in sorted(gone)
        if (bundle := root.reader.bundle(directory))
    ]
    return Commit(parts=tuple(parts), removals=tuple(removals))


def naming(root: Root, entry: Entry, other: Entry) -> list[Relation]:
    """The relations of a record that name another one."""
    found: list[Relation] = []
    for relation in entry.relations:
        there = None if relation.collected else root.find(relation.target)
        if there is not None and there.directory == other.directory:
            found.append(relation)
    return found


def place_of(root: Root, directory: str) -> str:
    return directory.removeprefix(root.path + "/")


def log_tail(bundle: Bundle) -> str:
    file = bundle.files.get(LOG)
    return tail(file.data if file else b"")
