"""What the client has open: uri to text, version and language, in place of `pygls.workspace` (faults 1, 2 and 18 of it).

It does not know what a text means, nor who is told of a change.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from memidex.lsp import convert
from memidex.text import Encoding, Source
from memidex.text.source import LINE_END

logger = logging.getLogger(__name__)


class Place(msgspec.Struct, frozen=True, gc=False):
    """A position on the wire."""

    line: int
    character: int


class Stretch(msgspec.Struct, frozen=True, gc=False):
    """A range on the wire."""

    start: Place
    end: Place


class Change(msgspec.Struct, frozen=True, gc=False):
    """One of a `didChange` notification's changes: a stretch's new text, or without one the whole new text."""

    text: str
    range: Stretch | None = None


class Document(NamedTuple):
    """A document as it stands in the editor, saved or not; `uri` is spelt as the client spells it."""

    uri: str
    language: str
    version: int | None
    source: Source


class Documents:
    """The open documents; a uri is found under each of its spellings."""

    def __init__(self) -> None:
        self.encoding: Encoding = "utf-16"
        self._open: dict[str, Document] = {}

    def __len__(self) -> int:
        return len(self._open)

    def __iter__(self) -> Iterator[Document]:
        return iter(list(self._open.values()))

    def __contains__(self, uri: str) -> bool:
        return convert.key(uri) in self._open

    def find(self, uri: str) -> Document | None:
        return self._open.get(convert.key(uri))

    def open(self, uri: str, language: str, version: int | None, text: str) -> Document:
        """Keep a document; one that was open already is replaced, for the client's text is the truth."""
        document = Document(uri, language, version, Source(text))
        self._open[convert.key(uri)] = document
        return document

    def change(self, uri: str, version: int | None, changes: Iterable[Change]) -> Document | None:
        """Apply changes one after the other; None, and nothing done, for a document that is not open.

        A version that goes back is taken as it is: the text follows the edits, whatever they are numbered.
        """
        document = self.find(uri)
        if document is None:
            logger.warning("ignored a change of %s, which is not open", uri)
            return None
        source = document.source
        for one in changes:
            source = changed(source, one, self.encoding)
        document = document._replace(version=document.version if version is None else version, source=source)
        self._open[convert.key(uri)] = document
        return document

    def close(self, uri: str) -> Document | None:
        """Forget a document; None if it was not open."""
        return self._open.pop(convert.key(uri), None)


def changed(source: Source, change: Change, encoding: Encoding) -> Source:
    """The text after a change.

    The table of lines is carried over but for the lines that the change touches, so that a thousand cursors in a long
    text do not count its lines a thousand times.
    """
    if change.range is None:
        return Source(change.text)
    start, end = sorted(
        (convert.offset(source, change.range.start, encoding), convert.offset(source, change.range.end, encoding))
    )
    result = Source(source.string[:start] + change.text + source.string[end:])
    starts = source.line_starts
    # From the line before, whose lone \r a new \n would join; up to the end of the line that the change ends in.
    first = max(0, source.line_of(start) - 1)
    after = source.line_of(end) + 1
    moved = start + len(change.text) - end
    stop = starts[after] + moved if after < len(starts) else len(result)
    result.line_starts = [
        *starts[: first + 1],
        *(match.end() for match in LINE_END.finditer(result.string, starts[first], stop)),
        *[at + moved for at in starts[after + 1 :]],
    ]
    return result
