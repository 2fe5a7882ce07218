"""Relations in the text of `relations.json`, which is read in three shapes: where they stand, and edits of them."""

from __future__ import annotations

import json
from typing import Any, cast

from memidex.records.memidex.bundle import Bundle
from memidex.records.memidex.places import Node, Place
from memidex.records.memidex.read import File
from memidex.rules.rule import FileEdit
from memidex.store.snapshot import Entry, Root, normal_address
from memidex.text import Span

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


def path_of(bundle: Bundle) -> str:
    return f"{bundle.directory}/{RELATIONS}"


def removal(bundle: Bundle, index: int) -> FileEdit | None:
    """The edit that takes a relation and its comma away and leaves every other byte; None where it cannot be told."""
    file = bundle.files.get(RELATIONS)
    path = bundle.relations.paths[index]
    around = file.tree.get(path[:-1]) if file and file.tree else None
    place = path[-1]
    if not around or not isinstance(place, int) or place >= len(around.items):
        return None
    items = around.items
    if len(items) == 1:
        span = Span(around.span.start + 1, around.span.end - 1)
    elif place + 1 < len(items):
        span = Span(items[place].span.start, items[place + 1].span.start)
    else:
        span = Span(items[place - 1].span.end, items[place].span.end)
    return FileEdit(path_of(bundle), span, "")


def addition(bundle: Bundle, kind: str, target: str, ordinal: int | None) -> FileEdit | None:
    """The edit that adds a relation in the shape and layout of the file; None where the file is no list of relations."""
    file = bundle.files.get(RELATIONS)
    tree = file.tree if file else None
    if not file or not tree or file.problems:
        return None
    item: dict[str, Any] = {"type": kind, "target": target, **({} if ordinal is None else {"atOrdinal": ordinal})}
    if isinstance(tree.value, list):
        return appended(bundle, file, tree, item, "")
    if "relations" in tree.members:
        key, items = tree.members["relations"]
        return appended(bundle, file, items, item, gap(file, tree.span.start + 1, key.start))
    if not tree.members:
        return FileEdit(path_of(bundle), tree.span, written({"relations": [item]}, "", ":"))
    if kind in tree.members:
        key, items = tree.members[kind]
        without_type = {name: value for name, value in item.items() if name != "type"}
        bare = not items.items or isinstance(items.items[-1].value, str)
        return appended(
            bundle, file, items, target if bare else without_type, gap(file, tree.span.start + 1, key.start)
        )
    names = list(tree.members.values())
    (first, _), (key, last) = names[0], names[-1]
    text = f",{gap(file, tree.span.start + 1, first.start)}{json.dumps(kind)}{gap(file, key.end, last.span.start)}[{json.dumps(target)}]"
    return FileEdit(path_of(bundle), Span(last.span.end, last.span.end), text)


def appended(bundle: Bundle, file: File, around: Node, item: dict[str, Any] | str, indent: str) -> FileEdit:
    """The edit that puts one more item at the end of a list; `indent` is what stands before the list's own member."""
    items = around.items
    if not items:
        # The whole list is replaced, so that two such edits of one list are seen to clash.
        newline = "" if "\n" not in indent else indent[: indent.rindex("\n") + 1].lstrip(" \t")
        step = indent.rpartition("\n")[2]
        if newline:
            return FileEdit(path_of(bundle), around.span, written([item], step, ": ", newline, step))
        return FileEdit(
            path_of(bundle),
            around.span,
            written([item], "", ": " if " " in file.source.string[: around.span.start] else ":"),
        )
    lead = gap(file, around.span.start + 1, items[0].span.start)
    between = lead if len(items) < 2 else gap(file, items[-2].span.end, items[-1].span.start).replace(",", "", 1)
    if len(items) == 1 and "\n" not in lead and not lead:
        between = " " if ", " in file.source[items[0].span] else ""
    text = json.dumps(item, ensure_ascii=False) if isinstance(item, str) else like(file, items[-1], item)
    return FileEdit(path_of(bundle), Span(items[-1].span.end, items[-1].span.end), f",{between}{text}")


def like(file: File, model: Node, item: dict[str, Any]) -> str:
    """An object written as another one of the same list is."""
    members = list(model.members.values())
    if not members:
        return json.dumps(item, ensure_ascii=False)
    (first, first_value), (_, last_value) = members[0], members[-1]
    before = gap(file, model.span.start + 1, first.start)
    behind = gap(file, last_value.span.end, model.span.end - 1)
    colon = gap(file, first.end, first_value.span.start)
    comma = f",{before}" if "\n" in before else ", "
    if len(members) > 1:
        comma = gap(file, first_value.span.end, members[1][0].start)
    body = comma.join(
        f"{json.dumps(name)}{colon}{json.dumps(value, ensure_ascii=False)}" for name, value in item.items()
    )
    return f"{{{before}{body}{behind}}}"


def gap(file: File, start: int, end: int) -> str:
    return file.source.string[start:end]


def written(value: Any, step: str, colon: str, newline: str = "", indent: str = "") -> str:
    """JSON with `step` more before each level where `newline` is set, else on one line."""
    if not newline or not isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False, separators=(", " if colon == ": " else ",", colon))
    inner = indent + step
    if isinstance(value, dict):
        members = cast(dict[str, Any], value)
        parts = [
            f"{json.dumps(name)}{colon}{written(part, step, colon, newline, inner)}" for name, part in members.items()
        ]
        opening, closing = "{", "}"
    else:
        items = cast(list[Any], value)
        parts = [written(part, step, colon, newline, inner) for part in items]
        opening, closing = "[", "]"
    body = f",{newline}{inner}".join(parts)
    return f"{opening}{newline}{inner}{body}{newline}{indent}{closing}"
