"""What stands at an offset of a text: an address, an anchor, a title, a field, a word, an event, a rule, or nothing.

Hover, definition, references and links all start from here, so that they agree on what a cursor is on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memidex.editor.view import View
from memidex.records.memidex import ids
from memidex.records.memidex.places import Layout, Node, Path, Place
from memidex.records.memidex.read import File
from memidex.records.memidex.values import AnyTarget
from memidex.records.memidex.vocabulary import (
    DERIVED_FIELDS,
    EVENTS,
    FIELDS,
    KINDS,
    ORIGINS,
    RELATIONS,
    SECTIONS,
    SUBTYPES,
    TIERS,
)
from memidex.rules import registry
from memidex.rules.rule import Rule
from memidex.store.snapshot import Entry, Root
from memidex.text import Span

WINDOW = 400
"""How far around a cursor an address is looked for: a line may be megabytes long."""
ALLOW = re.compile(r"<!--[ \t]*memidex:[ \t]*allow[ \t]+([A-Za-z0-9_, -]*)")
RULE = re.compile(r"(?<![\w-])(?:MX[0-9]{3}|[a-z]+(?:-[a-z]+)+)(?![\w-])", re.IGNORECASE)
LOG = "evidence/outcomes.jsonl"


@dataclass(frozen=True, slots=True)
class Address:
    """A record named by its id, short id or URI; `entry` is None where there is no such record."""

    span: Span
    text: str
    root: Root | None
    entry: Entry | None


@dataclass(frozen=True, slots=True)
class AnchorHere:
    """One of the record's own anchors, normalized."""

    span: Span
    anchor: AnyTarget


@dataclass(frozen=True, slots=True)
class Title:
    """The `## Summary` heading or the summary itself."""

    span: Span


@dataclass(frozen=True, slots=True)
class Field:
    """A key of the frontmatter, or a section's heading."""

    span: Span
    name: str


@dataclass(frozen=True, slots=True)
class Word:
    """A word of one of the closed lists, with what it means."""

    span: Span
    word: str
    meaning: str


@dataclass(frozen=True, slots=True)
class EventHere:
    """A line of the log, from 0; `word` is what the cursor is on in it, where that has a meaning of its own."""

    span: Span
    line: int
    word: Word | None = None


@dataclass(frozen=True, slots=True)
class EventName:
    """The identity of an event that another one takes back."""

    span: Span
    identity: str


@dataclass(frozen=True, slots=True)
class RuleName:
    span: Span
    rule: Rule


Subject = Address | AnchorHere | Title | Field | Word | EventHere | EventName | RuleName


def subject(view: View, offset: int) -> Subject | None:
    """What the cursor at `offset` is on; None where that is nothing we know of. Never raises, whatever the text."""
    offset = max(0, min(offset, len(view.source)))
    return address_at(view, offset) or in_bundle(view, offset) or rule_at(view, offset)


# Any text -------------------------------------------------------------------------------------------------------------


def addresses(string: str, start: int, end: int) -> Iterator[tuple[Span, str]]:
    """Every address in a stretch of text, by place; a URI is one address, not also the id in it."""
    after = start
    pattern = ADDRESS
    for match in pattern.finditer(string, start, end):
        if match.start() >= after:
            after = match.end()
            yield Span(match.start(), match.end()), match.group()


ADDRESS = re.compile(f"{ids.URI.pattern}|(?-i:{ids.IN_TEXT.pattern})|{ids.SHORT_ID.pattern}", re.IGNORECASE)


def address_at(view: View, offset: int) -> Address | None:
    string = view.source.string
    start, end = max(0, offset - WINDOW), min(len(string), offset + WINDOW)
    for span, text in addresses(string, start, end):
        if span.holds(offset):
            return resolved(view, span, text)
    return None


def resolved(view: View, span: Span, text: str) -> Address | None:
    """The address with its record. In a text of no root, what names no record is only some text."""
    found = view.find(text)
    if found is None:
        return Address(span, text, None, None) if view.root else None
    return Address(span, text, *found)


def rule_at(view: View, offset: int) -> RuleName | None:
    string = view.source.string
    start, end = max(0, offset - WINDOW), min(len(string), offset + WINDOW)
    for match in RULE.finditer(string, start, end):
        if match.start() <= offset <= match.end():
            rule = registry.find(match.group())
            return RuleName(Span(match.start(), match.end()), rule) if rule else None
    # Names of one word are rules only where rules are named.
    for match in ALLOW.finditer(string, start, end):
        for name in re.finditer(r"[A-Za-z0-9_-]+", match.group(1)):
            span = Span(name.start(), name.end()).shifted(match.start(1))
            rule = registry.find(name.group())
            if rule and span.holds(offset):
                return RuleName(span, rule)
    return None


# A bundle's files -----------------------------------------------------------------------------------------------------


def text_of(view: View) -> File:
    """The text in view as a file of its bundle, for its tree and layout; what the bundle read is used where it is the same."""
    held = view.file
    if held is not None and held.source.string == view.source.string:
        return held
    fresh = File(view.name, b"", None)
    fresh.source = view.source
    return fresh


def in_bundle(view: View, offset: int) -> Subject | None:
    if view.name == "record.md":
        return in_record(view, offset)
    if view.name == LOG:
        return in_log(view, offset)
    if view.name == "relations.json":
        return in_relations(view, offset)
    return None


def in_record(view: View, offset: int) -> Subject | None:
    parts: Layout = text_of(view).layout
    place = parts.front.at(offset) if offset <= parts.closing.start else None
    if place and place.path:
        return in_front(view, parts.front, place)
    for section in parts.sections:
        if section.name.lower() == "summary" and (section.heading.holds(offset) or section.text.holds(offset)):
            return Title(section.heading if section.heading.holds(offset) else section.text)
        if section.heading.holds(offset) and section.name in SECTIONS:
            return Field(section.heading, section.name)
    return None


def in_front(view: View, front: Node, place: Place) -> Subject | None:
    name = str(place.path[0])
    span = front.span_of(place)
    if len(place.path) == 1 and place.part == "key":
        return Field(span, name) if name in FIELDS or name in DERIVED_FIELDS else None
    if name == "anchors" and len(place.path) > 1:
        return anchor(view, front, place.path)
    value = front.get(place.path)
    text = str(value.value) if value and isinstance(value.value, str) else ""
    if name == "id":
        return resolved(view, span, text)
    words = {"kind": KINDS, "subtype": SUBTYPES, "originClass": ORIGINS}.get(name)
    if name == "scope":
        words = TIERS if place.path[1:] == ("tier",) and place.part == "value" else None
    if words and text in words:
        return Word(span, text, words[text])
    return Field(front.span_of(Place((name,), "value")), name) if name in FIELDS else None


def anchor(view: View, front: Node, path: Path) -> AnchorHere | None:
    index = path[1]
    whole = front.span_of(Place(path[:2]))
    known = view.entry.anchors if view.entry else ()
    return AnchorHere(whole, known[index]) if isinstance(index, int) and index < len(known) else None


def in_log(view: View, offset: int) -> Subject | None:
    line = view.source.line_of(offset)
    span = view.source.line_span(line)
    if not view.source[span].strip() or not span.holds(offset):
        return None
    tree = text_of(view).line_tree(line)
    place = tree.at(offset) if tree else None
    if tree is None or place is None or not place.path:
        return EventHere(span, line)
    name, value = place.path[0], tree.get(place.path)
    text = str(value.value) if value and isinstance(value.value, str) else ""
    here = tree.span_of(place)
    if place.part == "value" and text and name in ("retracts", "overturns"):
        return EventName(here, text)
    if place.part == "value" and text and name == "by":
        return resolved(view, here, text)
    words = {"type": EVENTS, "origin": ORIGINS}.get(str(name), {})
    meaning = words.get(text) if len(place.path) == 1 else None
    return EventHere(span, line, Word(here, text, meaning) if meaning else None)


def in_relations(view: View, offset: int) -> Subject | None:
    tree = text_of(view).tree
    place = tree.at(offset) if tree else None
    if tree is None or place is None or not place.path:
        return None
    span, last = tree.span_of(place), place.path[-1]
    value = tree.get(place.path)
    text = str(value.value) if value and isinstance(value.value, str) else ""
    if place.part == "key":
        return Word(span, str(last), RELATIONS[last]) if isinstance(last, str) and last in RELATIONS else None
    if last == "type" and text in RELATIONS:
        return Word(span, text, RELATIONS[text])
    # In the third shape, an object of type to targets, a target is an item of a list.
    if text and (last == "target" or (isinstance(last, int) and len(place.path) == 2 and place.path[0] in RELATIONS)):
        return resolved(view, span, text)
    return None


def title(view: View) -> tuple[Span, Span] | None:
    """(heading, text) of the summary of the `record.md` in view; None in any other text."""
    if view.name != "record.md":
        return None
    section = text_of(view).layout.section("Summary")
    return (section.heading, section.text) if section else None


__all__ = [
    "LOG", "Address", "AnchorHere", "EventHere", "EventName", "Field", "RuleName", "Subject", "Title", "Word", "addresses",
    "subject", "text_of", "title",
]  # fmt: skip
