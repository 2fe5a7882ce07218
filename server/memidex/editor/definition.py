"""Where a cursor leads: to records and events, to everything that names a record, and along links."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from memidex.editor.card import steps
from memidex.editor.subject import (
    LOG,
    Address,
    AnchorHere,
    EventHere,
    EventName,
    Title,
    addresses,
    subject,
    text_of,
)
from memidex.editor.view import View
from memidex.records.memidex.bundle import Bundle
from memidex.records.memidex.places import Node, Path, Place
from memidex.store.snapshot import Entry, Root, normal_address
from memidex.text import NOWHERE, Source, Span

MAX_TARGETS = 100
MAX_READ = 6
"""Of more targets the others are the beginning of their files: finding each id costs a reading of its bundle."""
MAX_LINKS = 5_000


class Target(NamedTuple):
    """A stretch of the file at `path`, and the stretch of the text in view that leads there."""

    path: str
    span: Span
    origin: Span


class Link(NamedTuple):
    """A stretch of the text in view that opens the file at `path`; of an artifact it is not known whether it is there."""

    span: Span
    path: str
    tooltip: str


# Definitions ----------------------------------------------------------------------------------------------------------


def definitions(view: View, offset: int) -> list[Target]:
    """The records or events that the word at `offset` means; an anchor means the other records whose main anchor it is."""
    match subject(view, offset):
        case Address(span, text, _, entry) if entry is not None:
            found = [pair for root in view.roots() for pair in named(root, text)]
            return record_targets(found[:MAX_TARGETS], span)
        case AnchorHere(span, anchor) if view.root:
            folders = view.root.anchors.get(anchor, ())[: MAX_TARGETS + 1]
            own = view.entry.directory if view.entry else ""
            others = [(view.root, view.root.entries[folder]) for folder in folders if folder != own]
            return record_targets(others[:MAX_TARGETS], span)
        case EventName(span, identity) if view.bundle:
            return [
                Target(view.path, view.source.line_span(step.line), span)
                for step in steps(view.bundle)
                if step.identity == identity
            ]
        case _:
            return []


def named(root: Root, address: str) -> Iterator[tuple[Root, Entry]]:
    """Every record of an address; more than one where an id is repeated."""
    first = root.find(address)
    if first:
        yield root, first
        for other in root.all_of(first.id):
            if other.directory != first.directory:
                yield root, other


def record_targets(found: list[tuple[Root, Entry]], origin: Span) -> list[Target]:
    read = [record_target(root, entry, origin) for root, entry in found[:MAX_READ]]
    return [*read, *(Target(f"{entry.directory}/record.md", NOWHERE, origin) for _, entry in found[MAX_READ:])]


def record_target(root: Root, entry: Entry, origin: Span) -> Target:
    """The id in the record's own text."""
    bundle = root.bundle(entry)
    file = bundle.files.get("record.md") if bundle else None
    return Target(f"{entry.directory}/record.md", file.span(Place(("id",))) if file else NOWHERE, origin)


# References -----------------------------------------------------------------------------------------------------------


def references(view: View, offset: int, texts: Iterable[tuple[str, Source]] = ()) -> list[Target]:
    """Everything that names the record or event at `offset`, by path and place, without the place where it names itself.

    `texts` are open texts, as (path, text), to be searched besides what the snapshot knows.
    """
    return sorted(set(each_reference(view, offset, texts)))


def each_reference(view: View, offset: int, texts: Iterable[tuple[str, Source]] = ()) -> Iterator[Target]:
    """The same one by one as they are found, so that a caller can stop; one may come twice."""
    match subject(view, offset):
        case Address(span, _, root, entry) if root is not None and entry is not None:
            yield from to_record(root, entry, span, texts)
        case Title(span) if view.root and view.entry:
            yield from to_record(view.root, view.entry, span, texts)
        case AnchorHere(span, anchor) if view.root:
            yield from record_targets([(view.root, item) for item in view.root.about(anchor)], span)
        case EventHere(span, line, _) if view.bundle:
            identity = next((step.identity for step in steps(view.bundle) if step.line == line), None)
            yield from to_event(view, view.bundle, identity, span)
        case EventName(span, identity) if view.bundle:
            yield from to_event(view, view.bundle, identity, span)
        case _:
            return


def to_record(root: Root, entry: Entry, origin: Span, texts: Iterable[tuple[str, Source]]) -> Iterator[Target]:
    names = {entry.id, entry.folder, root.short(entry)}
    near = {other.directory: other for other, _ in root.links_to(entry)}
    for relation in entry.relations:
        other = root.find(relation.target)
        if other and other.directory != entry.directory:
            near.setdefault(other.directory, other)
    for other in near.values():
        bundle = root.bundle(other)
        if bundle:
            yield from in_bundle(bundle, names, origin)
    own = record_target(root, entry, origin)
    for path, source in texts:
        for span, text in addresses(source.string, 0, len(source)):
            if root.find(text) is entry and (path, span) != (own.path, Span(own.span.start + 1, own.span.end - 1)):
                yield Target(path, span, origin)


def in_bundle(bundle: Bundle, names: set[str | None], origin: Span) -> Iterator[Target]:
    """The relations and events of a bundle that name a record of these names."""
    file = bundle.files.get("relations.json")
    if file:
        for relation, path in zip(bundle.relations.relations, bundle.relations.paths, strict=True):
            if normal_address(relation.target) in names:
                yield Target(f"{bundle.directory}/relations.json", inner(file.span(Place((*path, "target")))), origin)
    file = bundle.files.get(LOG)
    if file:
        for event, line in zip(bundle.log.events, bundle.log.lines, strict=True):
            if event.by is not None and normal_address(event.by) in names:
                yield Target(f"{bundle.directory}/{LOG}", inner(file.span(Place((line, "by")))), origin)


def inner(span: Span) -> Span:
    """The text between the quotes of a JSON string, which is what a person, a rename and a text search call the name."""
    return Span(span.start + 1, span.end - 1) if span.end - span.start >= 2 else span


def to_event(view: View, bundle: Bundle, identity: str | None, origin: Span) -> Iterator[Target]:
    for event, line in zip(bundle.log.events, bundle.log.lines, strict=True):
        if identity is not None and (identity in (event.retracts or ()) or event.overturns == identity):
            yield Target(view.path, view.source.line_span(line), origin)


# Links ----------------------------------------------------------------------------------------------------------------


def links(view: View) -> list[Link]:
    """The addresses of a text that lead to records, and the files that its bundle or root names."""
    return sorted(islice(each_link(view), MAX_LINKS))


def each_link(view: View) -> Iterator[Link]:
    for span, text in addresses(view.source.string, 0, len(view.source)):
        found = view.find(text)
        if found and f"{found[1].directory}/record.md" != view.path:
            yield Link(span, f"{found[1].directory}/record.md", "Open the record")
    if view.root is None:
        return
    if view.name == "artifacts.index.json" and view.place:
        for path, node in values(view, "artifacts"):
            if len(path) == 3 and path[-1] == "path" and isinstance(node.value, str) and below(node.value):
                yield Link(
                    inner(node.span), f"{view.place[0]}/{node.value}", "Open the artifact, where this machine has it"
                )
    if view.name == "manifest.json" and view.place and view.bundle:
        tree = text_of(view).tree
        files = tree.get(("files",)) if tree else None
        for name, (key, _) in files.members.items() if files else ():
            if name in view.bundle.files:
                yield Link(inner(key), f"{view.place[0]}/{name}", "Open the file")
    if view.name == "record.md" and view.entry and view.entry.kind == "policy":
        policies = f"{view.root.path}/policies.md"
        if view.root.reader.file(policies):
            front = text_of(view).layout.front
            yield Link(inner(front.span_of(Place(("kind",)))), policies, "Open the accepted policies")


def values(view: View, name: str) -> Iterator[tuple[Path, Node]]:
    """Every value below a member of the JSON file in view."""
    tree = text_of(view).tree
    node = tree.get((name,)) if tree else None
    return node.walk((name,)) if node else iter(())


def below(path: str) -> bool:
    """Whether a path stays in its bundle."""
    return (
        bool(path)
        and not path.startswith(("/", "\\"))
        and ":" not in path
        and ".." not in path.replace("\\", "/").split("/")
    )


__all__ = ["Link", "Target", "definitions", "each_reference", "links", "record_target", "references"]
