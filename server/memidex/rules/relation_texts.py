"""Relations in the text of `relations.json`, which is read in three shapes: where they stand, and edits of them."""

from __future__ import annotations

from memidex.records.memidex import relation_edits
from memidex.records.memidex.bundle import Bundle
from memidex.records.memidex.places import Node, Place
from memidex.rules.rule import FileEdit
from memidex.store.snapshot import Entry, Root, normal_address
from memidex.text import Edit

RELATIONS = "relations.json"
RECORD = "record.md"


def found(root: Root, address: str) -> Entry | None:
    """`Root.find`, quick for the record id that an address mostly is."""
    folders = root.ids.get(address)
    return root.entries.get(folders[0]) if folders else root.find(address)


def texts(root: Root, entry: Entry) -> Bundle | None:
    """The bundle of an entry; None where its relations are no longer those that the entry knows."""
    bundle = root.bundle(entry)
    return bundle if bundle and bundle.relations.relations == entry.relations else None


def address(root: Root, text: str) -> str:
    """The record id that an address is meant to be, whether or not there is such a record."""
    plain = normal_address(text)
    return root.short_ids.get(plain, plain) if plain.startswith("MEM-") else plain


def related(root: Root, entry: Entry, outward: str, inward: str) -> bool:
    """Whether the record has a relation of the one type, or some record one of the other type to it."""
    for relation in entry.relations:
        if relation.type == outward:
            return True
    links = root.backlinks.get(entry.id, ())
    if root.short_ids or entry.folder != entry.id:
        links = (
            *links,
            *root.backlinks.get(entry.folder, ()),
            *root.backlinks.get(root.short_ids.get(entry.id, ""), ()),
        )
    return any(link.type == inward for link in links) if links else False


def joined(root: Root, entry: Entry, other: Entry, kinds: frozenset[str]) -> bool:
    """Whether a relation of one of these types joins two records, by either one's word."""
    return any(
        relation.type in kinds and same(found(root, relation.target), there)
        for here, there in ((entry, other), (other, entry))
        for relation in here.relations
    )


def same(one: Entry | None, other: Entry) -> bool:
    return one is not None and one.directory == other.directory


def called(entry: Entry) -> str:
    """A record as a message names it: its id and what it says."""
    title = entry.title
    if title == entry.id:
        return entry.id
    return f"{entry.id} ({title if len(title) <= 60 else title[:57] + '...'})"


def target_at(bundle: Bundle, index: int) -> Place:
    """Where the target of a relation stands."""
    path = bundle.relations.paths[index]
    node = node_of(bundle, index)
    return Place((*path, "target")) if node and "target" in node.members else Place(path)


def type_at(bundle: Bundle, index: int) -> Place:
    """Where the type of a relation stands."""
    path = bundle.relations.paths[index]
    node = node_of(bundle, index)
    return Place(path[:-1], "key") if node and "type" not in node.members and len(path) == 2 else Place((*path, "type"))


def node_of(bundle: Bundle, index: int) -> Node | None:
    file = bundle.files.get(RELATIONS)
    return file.tree.get(bundle.relations.paths[index]) if file and file.tree else None


def relation_at(bundle: Bundle | None, root: Root, other: Entry, *kinds: str) -> tuple[str, Place]:
    """(file, place) of the record's relation of one of these types to another record; where it has none, its id."""
    if bundle:
        for index, relation in enumerate(bundle.relations.relations):
            if relation.type in kinds and same(found(root, relation.target), other):
                return RELATIONS, target_at(bundle, index)
    return RECORD, Place(("id",))


# Edits ----------------------------------------------------------------------------------------------------------------


def removal(bundle: Bundle, index: int) -> FileEdit | None:
    """The edit that takes a relation and its comma away and leaves every other byte; None where it cannot be told."""
    file = bundle.files.get(RELATIONS)
    return of_file(bundle, relation_edits.removal(file, bundle.relations.paths[index])) if file else None


def addition(bundle: Bundle, kind: str, target: str, ordinal: int | None) -> FileEdit | None:
    """The edit that adds a relation in the shape and layout of the file; None where the file is no list of relations."""
    file = bundle.files.get(RELATIONS)
    if not file or file.problems:
        return None
    return of_file(bundle, relation_edits.addition(file, kind, target, ordinal))


def of_file(bundle: Bundle, edit: Edit | None) -> FileEdit | None:
    return FileEdit(f"{bundle.directory}/{RELATIONS}", edit.span, edit.text) if edit else None
