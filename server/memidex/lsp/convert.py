"""What the protocol counts and names, to what we count and name: positions and offsets, URIs and paths."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from typing import Protocol
from urllib.parse import quote, unquote, urlsplit

from lsprotocol import types

from memidex.text import Encoding, Source, Span, from_units, to_units
from memidex.text.source import BOM

MOST = 2**31 - 1  # the largest LSP uinteger: lsprotocol refuses more
DRIVE = re.compile(r"/([A-Za-z]):(?=/|$)")


class Place(Protocol):
    """A line and a column in the client's units; lsprotocol's `Position` and the document store's own are such."""

    @property
    def line(self) -> int: ...
    @property
    def character(self) -> int: ...


def position(source: Source, offset: int, encoding: Encoding) -> types.Position:
    """The client's position of `offset`, clamped to the text."""
    line, column = source.position(offset)
    if encoding != "utf-32" and column:
        column = to_units(source.line_text(line), column, encoding)
    return types.Position(line, column)


def mark(source: Source) -> int:
    """How many characters stand before what a text says: its byte order mark, where a client gives that too."""
    return 1 if source.string.startswith(BOM) else 0


def range_(source: Source, span: Span, encoding: Encoding) -> types.Range:
    """The client's range of `span`, which does not count a byte order mark."""
    first = mark(source)
    return types.Range(position(source, span.start + first, encoding), position(source, span.end + first, encoding))


def offset(source: Source, place: Place, encoding: Encoding) -> int:
    """The offset of a client's position.

    A column past the end of a line is the line's end, a line past the last the text's end (LSP 3.17, `Position`).
    """
    span = source.line_span(max(0, place.line))
    units = max(0, place.character)
    if encoding == "utf-32" or not units:
        return min(span.start + units, span.end)
    return span.start + from_units(source[span], units, encoding)


def uri_to_path(uri: str) -> str | None:
    """The path of a `file:` URI; None for other schemes, for `git:` and `untitled:` among them."""
    return path_in(os.name, uri)


def path_to_uri(path: str) -> str:
    """The `file:` URI of an absolute path, spelt as VS Code spells it except for the colon of a drive."""
    return uri_in(os.name, path)


def path_in(system: str, uri: str) -> str | None:
    """`uri_to_path` as on the system named as by `os.name`, so that Windows' rules can be tried anywhere."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    if parts.scheme.lower() != "file":
        return None
    path = unquote(parts.path, errors="surrogateescape")
    if "\0" in path:
        return None  # no file system has such a name, and every call of the operating system would raise
    if parts.netloc and parts.netloc.lower() != "localhost":
        path = f"//{unquote(parts.netloc)}{path}"
    if system == "nt":
        # One key for `c%3A`, `C:` and `c:`
        path = DRIVE.sub(lambda drive: drive[1].lower() + ":", path, count=1) if DRIVE.match(path) else path
        return path.replace("/", "\\")
    return path or "/"


def uri_in(system: str, path: str) -> str:
    """`path_to_uri` as on the system named as by `os.name`."""
    host = ""
    if system == "nt":
        path = path.replace("\\", "/")
        if path.startswith("//"):
            host, _, rest = path[2:].partition("/")
            path = "/" + rest
        elif not path.startswith("/"):
            path = "/" + path
        path = DRIVE.sub(lambda drive: f"/{drive[1].lower()}:", path, count=1) if DRIVE.match(path) else path
    return f"file://{quote(host)}{quote(path, safe='/:', errors='surrogateescape')}"


@lru_cache(maxsize=4096)
def key(uri: str) -> str:
    """One name for all spellings of one `file:` URI; other URIs are their own."""
    path = uri_to_path(uri)
    return uri if path is None else path_to_uri(path)
