"""The outline of a text, and every record of the workspace by fuzzy name."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Literal, NamedTuple

from memidex.editor.card import steps, title
from memidex.editor.hover import MAX_DRAWN
from memidex.editor.markdown import plain
from memidex.editor.search import Match, resolve, search
from memidex.editor.subject import LOG, text_of
from memidex.editor.view import View
from memidex.history import trust as sums
from memidex.history.standing import Step
from memidex.records.memidex.places import Node, Place
from memidex.records.memidex.vocabulary import FIELDS
from memidex.store.snapshot import Entry, Root, Snapshot
from memidex.text import Span

MAX_SYMBOLS = 5_000
"""Of a longer log only the newest events are in the outline."""
SymbolKind = Literal["field", "anchor", "section", "build", "event", "relation"]


class Symbol(NamedTuple):
    """A part of the text: all of it, and the part that names it."""

    name: str
    detail: str
    kind: SymbolKind
    span: Span
    selection: Span
    children: tuple[Symbol, ...] = ()


class RecordSymbol(NamedTuple):
    """A record of the workspace. Where its id stands in its text is known to `definition.record_target`."""

    name: str
    container: str
    path: str
    root: Root
    entry: Entry


# Of one text ----------------------------------------------------------------------------------------------------------


def document_symbols(view: View) -> list[Symbol]:
    """The parts of the text in view: fields, anchors and sections of a record, events by build, relations."""
    if view.name == "record.md":
        return [*fields(view), *sections(view)]
    if view.name == LOG:
        return builds(view)
    if view.name == "relations.json":
        return list(relations(view))
    return []


def fields(view: View) -> Iterator[Symbol]:
    front = text_of(view).layout.front
    for name, (key, node) in front.members.items():
        span = Span(key.start, max(key.end, node.span.end))
        children = tuple(anchors(view, node)) if name == "anchors" else ()
        shown = "" if children else value_of(view, node)
        yield Symbol(plain(name) or "?", shown if name in FIELDS or not children else "", "field", span, key, children)


def anchors(view: View, node: Node) -> Iterator[Symbol]:
    known = view.entry.anchors if view.entry else ()
    for index, item in enumerate(node.items[:200]):
        name = plain(str(known[index])) if index < len(known) else value_of(view, item)
        yield Symbol(name or "anchor", "main anchor" if index == 0 else "", "anchor", item.span, item.span)


def value_of(view: View, node: Node) -> str:
    return plain(
        node.value
        if isinstance(node.value, str)
        else view.source[Span(node.span.start, min(node.span.end, node.span.start + 200))]
    )


def sections(view: View) -> Iterator[Symbol]:
    for section in text_of(view).layout.sections[:MAX_SYMBOLS]:
        span = Span(section.heading.start, max(section.heading.end, section.text.end))
        text = view.source[Span(section.text.start, min(section.text.end, section.text.start + 400))]
        yield Symbol(plain(section.name) or "section", plain(text), "section", span, section.heading)


def builds(view: View) -> list[Symbol]:
    """The events of a log, those of one build together where they stand together."""
    bundle = view.bundle
    if bundle is None:
        return []
    log = bundle.log
    known = {step.line: step for step in steps(bundle)} if len(log.events) <= MAX_DRAWN else None
    kinds = {line: event.type for event, line in zip(log.events[-MAX_SYMBOLS:], log.lines[-MAX_SYMBOLS:], strict=True)}
    pairs = [(event.ordinal, line) for event, line in zip(log.events, log.lines, strict=True)][-MAX_SYMBOLS:]
    found: list[Symbol] = []
    for ordinal, group in groupby(pairs, key=lambda pair: pair[0]):
        events = tuple(event(view, line, kinds[line], known) for _, line in group)
        span = Span(events[0].span.start, events[-1].span.end)
        count = f"{len(events)} event{'s' if len(events) != 1 else ''}"
        found.append(Symbol(f"build {ordinal}", count, "build", span, events[0].selection, events))
    return found


def event(view: View, line: int, kind: str, known: dict[int, Step] | None) -> Symbol:
    """An event with what it did; of a log so long that its history is not worth the wait (None) the event alone."""
    span = view.source.line_span(line)
    step = known.get(line) if known is not None else None
    if step:
        did = f"trust {sums.shown(step.trust)}, {step.status}" if step.effective else f"no effect: {step.why}"
    else:
        did = "" if known is None else "no effect: told before"
    return Symbol(kind, did, "event", span, span)


def relations(view: View) -> Iterator[Symbol]:
    bundle, root = view.bundle, view.root
    file = text_of(view)
    if bundle is None or root is None:
        return
    listed = zip(bundle.relations.relations[:MAX_SYMBOLS], bundle.relations.paths, strict=False)
    for relation, path in listed:
        span = file.span(Place(path))
        found = root.find(relation.target)
        yield Symbol(
            plain(relation.type) or "relation",
            plain(title(found) if found else relation.target),
            "relation",
            span,
            span,
        )


# Of the workspace -----------------------------------------------------------------------------------------------------


def workspace_symbols(snapshot: Snapshot, query: str, limit: int = 100) -> list[RecordSymbol]:
    """The records that a query may mean, best first; some records where nothing is asked."""
    found: list[tuple[Root, Match]] = []
    for root in snapshot.roots:
        if query.strip():
            exact = resolve(root, query, 1).match if len(query) < 200 else None
            near = search(root, query, limit)
            head = [Match(exact, 100.0)] if exact and (not near or near[0].entry is not exact) else []
            found += [
                (root, match) for match in (*head, *(match for match in near if not head or match.entry is not exact))
            ]
        else:
            found += [(root, Match(entry, 0.0)) for entry, _ in zip(root.entries.values(), range(limit), strict=False)]
    found.sort(key=lambda pair: -pair[1].score)
    return [record_symbol(root, match.entry) for root, match in found[:limit]]


def record_symbol(root: Root, entry: Entry) -> RecordSymbol:
    address = root.short(entry) or entry.id
    container = f"{address} · {entry.status} · trust {sums.shown(entry.standing.trust)} · {plain(entry.product)}"
    return RecordSymbol(plain(title(entry), 160), container, f"{entry.directory}/record.md", root, entry)
