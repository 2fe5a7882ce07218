"""Edits of a bundle's texts that rules offer: fields of the frontmatter, headings, sides of a conflict."""

from __future__ import annotations

from typing import Any, Literal

from memidex.records.memidex.bundle import Bundle
from memidex.records.memidex.render import line_of
from memidex.records.memidex.vocabulary import FIELDS
from memidex.rules.rule import FileEdit
from memidex.text import Source, Span

RECORD = "record.md"


def remove_field(bundle: Bundle, name: str) -> FileEdit | None:
    """The edit that takes a field of the frontmatter away with its whole lines.

    None where it is not there, or shares its lines with another field.
    """
    file = bundle.files[RECORD]
    member = file.layout.front.members.get(name)
    if not member:
        return None
    source = file.source
    first = source.line_of(member[0].start)
    last = source.line_of(max(member[0].end, member[1].span.end))
    start = source.line_starts[first]
    end = source.line_starts[last + 1] if last + 1 < len(source.line_starts) else len(source)
    others = (key for other, (key, _) in file.layout.front.members.items() if other != name)
    if any(start <= key.start < end for key in others):
        return None
    return FileEdit(f"{bundle.directory}/{RECORD}", Span(start, end), "")


def add_field(bundle: Bundle, name: str, value: Any) -> FileEdit | None:
    """The edit that gives the frontmatter a field, in the order of the format; None where it has no lines of its own."""
    file = bundle.files[RECORD]
    source, parts = file.source, file.layout
    if parts.unreadable or source[parts.front.span].lstrip().startswith("{"):
        return None
    order = list(FIELDS)
    before = [parts.front.members[other] for other in order[: order.index(name)] if other in parts.front.members]
    line = max((source.line_of(max(key.end, node.span.end)) for key, node in before), default=0) + 1
    at = source.line_starts[line]
    return FileEdit(f"{bundle.directory}/{RECORD}", Span(at, at), f"{name}: {line_of(value)}{line_end(source)}")


def add_section(bundle: Bundle, name: str) -> FileEdit | None:
    """The edit that gives the body an empty section: the summary first, the detail last; None where there is no body."""
    file = bundle.files[RECORD]
    source, parts = file.source, file.layout
    if parts.unreadable:
        return None
    end = line_end(source)
    if name == "Summary":
        at = parts.body.start
        text = f"{end}## {name}{end}"
    else:
        at = len(source)
        text = f"{end}## {name}{end}"
    if at and source.string[at - 1] not in "\r\n":
        text = end + text
    return FileEdit(f"{bundle.directory}/{RECORD}", Span(at, at), text)


def take_side(bundle: Bundle, name: str, side: Literal["ours", "theirs", "both"]) -> FileEdit:
    """The edit that settles every conflict of a file; it touches no more than it must."""
    from memidex.records.memidex import explain

    return rewrite(bundle, name, explain.resolve(bundle.files[name].source, side))


def rewrite(bundle: Bundle, name: str, after: str) -> FileEdit:
    """The edit that gives a file another text; it touches no more lines than it must."""
    before = bundle.files[name].source.string
    start = 0
    limit = min(len(before), len(after))
    while start < limit and before[start] == after[start]:
        start += 1
    # Whole lines, so that what is shown of the edit can be read.
    start = before.rfind("\n", 0, start) + 1
    tail = 0
    while tail < limit - start and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    return FileEdit(f"{bundle.directory}/{name}", Span(start, len(before) - tail), after[start : len(after) - tail])


def line_end(source: Source) -> str:
    """How the lines of a text end."""
    return "\r\n" if "\r\n" in source.string else "\n"
