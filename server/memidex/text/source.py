"""One text and its lines: offsets are code points, lines end only where LSP says they do."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from typing import NamedTuple

LINE_END = re.compile(r"\r\n|\n|\r")
BOM = "\ufeff"


class Span(NamedTuple):
    """A half-open stretch of a text, in code points from its start."""

    start: int
    end: int

    def holds(self, offset: int) -> bool:
        """Whether a cursor at `offset` touches the stretch; both edges count."""
        return self.start <= offset <= self.end

    def shifted(self, by: int) -> Span:
        return Span(self.start + by, self.end + by)


NOWHERE = Span(0, 0)


class Source:
    """An immutable text with its lines.

    Lines end at `\\n`, `\\r\\n` or a lone `\\r` and nowhere else (LSP 3.17, "Text Documents"): `str.splitlines` also
    splits at form feeds and at U+2028, which occur inside JSON strings.
    """

    def __init__(self, string: str) -> None:
        self.string = string

    def __repr__(self) -> str:
        return f"Source({self.string!r})"

    @cached_property
    def line_starts(self) -> list[int]:
        """The offset of the first character of each line; there is always a line 0."""
        return [0, *(match.end() for match in LINE_END.finditer(self.string))]

    def line_of(self, offset: int) -> int:
        """The line, from 0, that `offset` stands in; an offset past the end is in the last line."""
        return bisect_right(self.line_starts, offset) - 1

    def line_span(self, line: int) -> Span:
        """The line's characters without its end; a line past the last is the empty stretch at the end of the text."""
        if line >= len(self.line_starts):
            return Span(len(self.string), len(self.string))
        start = self.line_starts[line]
        if line + 1 == len(self.line_starts):
            return Span(start, len(self.string))
        end = self.line_starts[line + 1]
        return Span(start, end - 2 if self.string.startswith("\r\n", end - 2) and end - 2 >= start else end - 1)

    def line_text(self, line: int) -> str:
        return self[self.line_span(line)]

    def position(self, offset: int) -> tuple[int, int]:
        """(line, column) from 0, the column in code points; clamped to the text."""
        offset = max(0, min(offset, len(self.string)))
        line = self.line_of(offset)
        return line, offset - self.line_starts[line]

    def offset(self, line: int, column: int) -> int:
        """The offset of a (line, column); a column past the line's end is its end, a line past the last the text's end."""
        span = self.line_span(line)
        return min(span.start + column, span.end)

    def __getitem__(self, span: Span) -> str:
        return self.string[span.start : span.end]

    def __len__(self) -> int:
        return len(self.string)


def decode(data: bytes) -> tuple[str, int | None]:
    """The text of a file without its byte order mark, and the offset of its first byte that is not UTF-8 (None: all is).

    Wrong bytes are kept as lone surrogates, so that encoding with `surrogateescape` gives the same bytes again.
    """
    try:
        return data.decode("utf-8").removeprefix(BOM), None
    except UnicodeDecodeError as error:
        string = data.decode("utf-8", "surrogateescape")
        offset = len(data[: error.start].decode("utf-8"))
        without_mark = string.removeprefix(BOM)
        return without_mark, offset - (len(string) - len(without_mark))
