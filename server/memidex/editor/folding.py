"""What of a text can be folded, and what a selection grows to."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, islice
from typing import Literal, NamedTuple

from memidex.editor.subject import LOG, text_of
from memidex.editor.view import View
from memidex.records.memidex.places import Node
from memidex.text import Span

MAX_FOLDS = 5_000


class Fold(NamedTuple):
    """Lines, from 0, of which all but the first can be hidden."""

    first: int
    last: int
    kind: Literal["frontmatter", "section", "build", "object"]


def folds(view: View) -> list[Fold]:
    """The folds of a bundle's file, by line; none in another text."""
    return sorted(fold for fold in islice(each_fold(view), MAX_FOLDS) if fold.last > fold.first)


def each_fold(view: View) -> Iterator[Fold]:
    line = view.source.line_of
    if view.name == "record.md":
        parts = text_of(view).layout
        if parts.opening != parts.closing:
            yield Fold(line(parts.opening.start), line(parts.closing.end), "frontmatter")
        for section in parts.sections:
            yield Fold(line(section.heading.start), line(section.text.end), "section")
    elif view.name == LOG and view.bundle:
        log = view.bundle.log
        pairs = zip((event.ordinal for event in log.events), log.lines, strict=True)
        for _, group in groupby(pairs, key=lambda pair: pair[0]):
            lines = [at for _, at in group]
            yield Fold(lines[0], min(lines[-1], len(view.source.line_starts) - 1), "build")
    elif view.name.endswith(".json"):
        tree = text_of(view).tree
        for _, node in tree.walk() if tree else ():
            if node.members or node.items:
                yield Fold(line(node.span.start), line(node.span.end), "object")


def selections(view: View, offset: int) -> list[Span]:
    """The stretches that a selection at `offset` grows to, each within the next; the last is the whole text."""
    offset = max(0, min(offset, len(view.source)))
    whole = Span(0, len(view.source))
    line = view.source.line_span(view.source.line_of(offset))
    found = [*word(view, line, offset), *values(view, offset), line, *blocks(view, offset), whole]
    grown: list[Span] = []
    for span in found:
        holds = span.start <= offset <= span.end
        if holds and (not grown or (span.start <= grown[-1].start and span.end >= grown[-1].end and span != grown[-1])):
            grown.append(span)
    return grown


def word(view: View, line: Span, offset: int) -> Iterator[Span]:
    string, start, end = view.source.string, offset, offset
    while start > line.start and (string[start - 1].isalnum() or string[start - 1] in "_-"):
        start -= 1
    while end < line.end and (string[end].isalnum() or string[end] in "_-"):
        end += 1
    if end > start:
        yield Span(start, end)


def values(view: View, offset: int) -> Iterator[Span]:
    """The values that hold the offset, innermost first: a string also without its quotes, a member also with its name."""
    file = text_of(view)
    tree: Node | None = None
    if view.name == "record.md":
        tree = file.layout.front if offset <= file.layout.closing.start else None
    elif view.name.endswith(".jsonl"):
        tree = file.line_tree(view.source.line_of(offset))
    elif view.name.endswith(".json"):
        tree = file.tree
    place = tree.at(offset) if tree else None
    path = place.path if place else ()
    for depth in range(len(path), 0, -1):
        around, node = tree.get(path[: depth - 1]) if tree else None, tree.get(path[:depth]) if tree else None
        if around is None or node is None:
            continue
        if isinstance(node.value, str) and node.span.end - node.span.start >= 2:
            yield Span(node.span.start + 1, node.span.end - 1)
        yield node.span
        member = around.members.get(str(path[depth - 1]))
        if member:
            yield Span(member[0].start, node.span.end)
    if tree:
        yield tree.span


def blocks(view: View, offset: int) -> Iterator[Span]:
    if view.name != "record.md":
        return
    parts = text_of(view).layout
    if parts.opening.start <= offset <= parts.closing.end:
        yield Span(parts.opening.start, parts.closing.end)
    for section in parts.sections:
        if section.text.holds(offset):
            yield section.text
        whole = Span(section.heading.start, max(section.heading.end, section.text.end))
        if whole.holds(offset):
            yield whole
