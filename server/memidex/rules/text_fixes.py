"""Edits of `record.md` that several rules offer."""

from __future__ import annotations

from memidex.records.memidex.bundle import Bundle
from memidex.rules.rule import FileEdit
from memidex.text import Span

RECORD = "record.md"


def remove_field(bundle: Bundle, name: str) -> FileEdit | None:
    """The edit that takes a field of the frontmatter away with its whole lines; None where it is not there."""
    file = bundle.files[RECORD]
    member = file.layout.front.members.get(name)
    if not member:
        return None
    source = file.source
    first = source.line_of(member[0].start)
    last = source.line_of(max(member[0].end, member[1].span.end))
    start = source.line_starts[first]
    end = source.line_starts[last + 1] if last + 1 < len(source.line_starts) else len(source)
    return FileEdit(f"{bundle.directory}/{RECORD}", Span(start, end), "")
