"""Changes to a text as values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from memidex.text.source import Span


class Edit(NamedTuple):
    """Replace a stretch by other text; an empty stretch inserts."""

    span: Span
    text: str


def apply(string: str, edits: Iterable[Edit]) -> str:
    """The text after all edits, whose spans are of the text before them and must not overlap (ValueError).

    Edits at one place are applied in the order given (LSP `TextEdit[]`).
    """
    parts: list[str] = []
    at = 0
    for span, text in sorted(edits, key=lambda edit: edit.span):
        if span.start < at:
            raise ValueError(f"edits overlap at {span.start}")
        parts += (string[at : span.start], text)
        at = span.end
    return "".join([*parts, string[at:]])
