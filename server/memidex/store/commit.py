"""What a decision comes to, as a value: events to append, relations to edit, bundles to make and to seal.

It names what changes and not how the files look afterwards: the writer works that out from the files as they are when it
holds the lock, so that what another tool wrote in the meantime stays.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from memidex.records.memidex import relation_edits
from memidex.records.memidex.places import Path
from memidex.records.memidex.read import File, RelationList, parse
from memidex.records.memidex.values import Event, Relation
from memidex.text import Edit, apply


class RelationEdit(Struct, frozen=True):
    """One relation that comes, goes, or is marked as one to a record that retention removed."""

    action: Literal["add", "drop", "collect"]
    relation: Relation


class Part(Struct, frozen=True, kw_only=True):
    """What happens to one bundle. Its manifest then seals what was written, and what was wrong in it before stays wrong."""

    place: str
    """Its folder, from the root on: `memory/<product>/bundles/<folder>`."""
    tail: str
    """Of the log that was decided upon; another one under the lock refuses the whole commit."""
    events: tuple[Event, ...] = ()
    relations: tuple[RelationEdit, ...] = ()
    seals: bool = False
    """Whether the manifest is written anew over all files as they are: a person's explicit act."""


class Birth(Struct, frozen=True):
    """A whole new bundle: its texts by file, the manifest among them."""

    place: str
    files: dict[str, str]


class Rule(Struct, frozen=True):
    """A line of `policies.md` that comes or goes; a line with the same `address` is never added twice."""

    action: Literal["add", "drop"]
    line: str
    address: str


class Removal(Struct, frozen=True):
    """A bundle that retention removes, as long as its log is as it was."""

    place: str
    tail: str


class Commit(Struct, frozen=True, kw_only=True):
    """Everything that one decision writes; all of it or nothing."""

    parts: tuple[Part, ...] = ()
    births: tuple[Birth, ...] = ()
    rules: tuple[Rule, ...] = ()
    removals: tuple[Removal, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not (self.parts or self.births or self.rules or self.removals)


def relations_after(data: bytes | None, edits: Iterable[RelationEdit]) -> bytes | None:
    """`relations.json` after these edits, every other byte kept; None where the file cannot be edited.

    What is so already is left alone, so that editing twice is editing once.
    """
    data = b'{\n  "relations": []\n}\n' if data is None or not data.strip() else data
    for edit in edits:
        file = parse("relations.json", data)
        listed: RelationList | None = file.value
        if listed is None or file.tree is None or any(problem.rule in UNEDITABLE for problem in file.problems):
            return None
        at = [
            path
            for relation, path in zip(listed.relations, listed.paths, strict=True)
            if relation.type == edit.relation.type and relation.target == edit.relation.target
        ]
        found = text_edit(file, edit, at)
        if found == ():
            continue
        if not found:
            return None
        mark = data[:3] if data.startswith(b"\xef\xbb\xbf") else b""
        string = apply(file.source.string, found)
        data = mark + string.encode("utf-8", "surrogateescape")
    return data


UNEDITABLE = frozenset({"conflict-markers", "bad-json", "bad-encoding"})


def text_edit(file: File, edit: RelationEdit, at: list[Path]) -> tuple[Edit, ...] | None:
    """The edit of the text, if any is needed; None where it cannot be told."""
    relation = edit.relation
    if edit.action == "add":
        if at:
            return ()
        found = relation_edits.addition(file, relation.type, relation.target, relation.ordinal)
    elif not at:
        return ()
    elif edit.action == "drop":
        found = relation_edits.removal(file, at[-1])
    else:
        found = relation_edits.collected(file, at[-1])
    return (found,) if found else None
