"""Which words of a text mean something: kinds, anchors, event and relation types, and records by their status."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Literal, NamedTuple

from memidex.editor.definition import inner
from memidex.editor.subject import LOG, addresses, text_of
from memidex.editor.view import View
from memidex.records.memidex.places import Node
from memidex.records.memidex.vocabulary import ANCHORS, EVENTS, KINDS, ORIGINS, RELATIONS, SUBTYPES, TIERS
from memidex.text import Span

MAX_TOKENS = 20_000
TokenKind = Literal["kind", "subtype", "origin", "tier", "anchor", "event", "relation", "record"]
FRONT: dict[str, tuple[TokenKind, dict[str, str]]] = {
    "kind": ("kind", KINDS),
    "subtype": ("subtype", SUBTYPES),
    "originClass": ("origin", ORIGINS),
}


class Token(NamedTuple):
    """A word on one line, and what it is; of a record also its status."""

    span: Span
    kind: TokenKind
    status: str = ""


def tokens(view: View, span: Span | None = None) -> list[Token]:
    """The tokens of a stretch of the text in view, by place and apart from each other; of all of it where none is given."""
    whole = Span(0, len(view.source))
    start, end = span or whole
    within = Span(max(0, min(start, whole.end)), max(0, min(end, whole.end)))
    kept: list[Token] = []
    for token in sorted(islice(each_token(view, within), MAX_TOKENS)):
        clear = not kept or kept[-1].span.end <= token.span.start
        if clear and within.start <= token.span.start < token.span.end <= within.end and one_line(view, token.span):
            kept.append(token)
    return kept


def one_line(view: View, span: Span) -> bool:
    return view.source.line_of(span.start) == view.source.line_of(span.end)


def each_token(view: View, within: Span) -> Iterator[Token]:
    for span, text in addresses(view.source.string, within.start, within.end):
        found = view.find(text)
        if found:
            yield Token(span, "record", found[1].status)
    file = text_of(view)
    if view.name == "record.md":
        yield from in_front(file.layout.front)
    elif view.name == LOG:
        for line in range(view.source.line_of(within.start), view.source.line_of(within.end) + 1):
            tree = file.line_tree(line)
            if tree:
                yield from word(tree, "type", "event", EVENTS)
                yield from word(tree, "origin", "origin", ORIGINS)
    elif view.name == "relations.json" and file.tree:
        for _, node in file.tree.walk():
            yield from word(node, "type", "relation", RELATIONS)


def in_front(front: Node) -> Iterator[Token]:
    for name, (kind, known) in FRONT.items():
        yield from word(front, name, kind, known)
    scope = front.get(("scope",))
    if scope:
        yield from word(scope, "tier", "tier", TIERS)
    anchors = front.get(("anchors",))
    for _, node in anchors.walk() if anchors else ():
        yield from word(node, "t", "anchor", ANCHORS)


def word(node: Node, name: str, kind: TokenKind, known: dict[str, str]) -> Iterator[Token]:
    """The value of a member, where it is one of the known words, without its quotes."""
    value = node.get((name,))
    if value and isinstance(value.value, str) and value.value in known:
        quoted = value.span.end - value.span.start > len(value.value)
        yield Token(inner(value.span) if quoted else value.span, kind)


__all__ = ["Token", "TokenKind", "tokens"]
