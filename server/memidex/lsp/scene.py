"""What one request is answered from: everything as it is at that moment, so that a worker can take its time."""

from __future__ import annotations

import re
from collections.abc import Mapping

from lsprotocol import types

from memidex.editor.view import View
from memidex.lsp import convert
from memidex.lsp.checking import source_of
from memidex.lsp.documents import Document
from memidex.store.snapshot import Snapshot
from memidex.text import Encoding, Source, Span
from memidex.text.source import BOM


class Scene:
    """The snapshot, its reader's buffers left as they are now, and the open texts; converts to what the client counts."""

    def __init__(self, snapshot: Snapshot, documents: Mapping[str, Document], encoding: Encoding) -> None:
        self.snapshot = snapshot
        self.documents = documents
        """By path."""
        self.encoding: Encoding = encoding

    def text(self, path: str) -> Source:
        """The text of any file, with its byte order mark where the client gave one."""
        document = self.documents.get(path)
        if document:
            return document.source
        root = self.snapshot.root_of(path)
        return source_of(root, path) if root else Source("")

    def uri(self, path: str) -> str:
        document = self.documents.get(path)
        return document.uri if document else convert.path_to_uri(path)

    def range(self, path: str, span: Span) -> types.Range:
        return convert.range_(self.text(path), span, self.encoding)

    def location(self, path: str, span: Span) -> types.Location:
        return types.Location(self.uri(path), self.range(path, span))

    def offset(self, path: str, place: types.Position) -> int:
        """The offset of the client's position in a text without its byte order mark."""
        source = self.text(path)
        return max(0, convert.offset(source, place, self.encoding) - convert.mark(source))

    def span(self, path: str, stretch: types.Range) -> Span:
        start, end = self.offset(path, stretch.start), self.offset(path, stretch.end)
        return Span(min(start, end), max(start, end))


class Seen(Scene):
    """A scene with one text in front of the person."""

    def __init__(
        self, snapshot: Snapshot, documents: Mapping[str, Document], encoding: Encoding, path: str, source: Source
    ) -> None:
        super().__init__(snapshot, documents, encoding)
        string = source.string
        self.view = View(snapshot, path, Source(string[1:]) if string.startswith(BOM) else source)
        self.path = path

    def here(self, span: Span) -> types.Range:
        return self.range(self.path, span)

    def at(self, place: types.Position) -> int:
        return self.offset(self.path, place)


IMAGE = re.compile(r"!\[[^\]\n]*\]\([^)\n]*\)\n*")
LINK = re.compile(r"(?<![\\!])\[([^\]\n]*)\]\([^)\n]*\)")
EMPHASIS = re.compile(r"(?<!\\)(\*\*|[*`])")
ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")


def without_images(markdown: str) -> str:
    """Markdown for a client in a terminal, which would show a picture as a screen of letters."""
    return IMAGE.sub("", markdown)


def plaintext(markdown: str) -> str:
    """Markdown of ours for a client that shows none."""
    return ESCAPE.sub(r"\1", EMPHASIS.sub("", LINK.sub(r"\1", without_images(markdown)))).strip()
