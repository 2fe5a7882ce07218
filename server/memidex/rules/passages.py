"""What the texts of a bundle say to a reader: each file as it stands, and its JSON strings with their escapes undone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TypeVar

from memidex.records.memidex.bundle import Bundle
from memidex.records.memidex.read import File
from memidex.text import Span

T = TypeVar("T", bound=tuple[Span, object])
UNREAD = frozenset({"manifest.json"})
"""Hashes and sizes alone."""
MAX_HITS = 100
"""Reports of one rule in one file; whoever wrote more has understood by then."""
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*+)"')
ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
PLAIN = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
FENCED_JSON = re.compile(r"^ {0,3}(`{3,}|~{3,})[ \t]*json[ \t]*\n(.*?)^ {0,3}\1", re.MULTILINE | re.DOTALL)


def joined(bundle: Bundle, but: frozenset[str] = UNREAD) -> bytes:
    """The bytes of its files together, to look for something that is in none of them."""
    return b"\n".join([file.data for name, file in bundle.files.items() if name not in but])


def respelt(data: bytes) -> bool:
    """Whether escapes stand for letters in these bytes, so that a look for letters proves nothing."""
    return b"\\" in data and any(escape in data for escape in (b"\\u", b"\\x", b"\\U", b"\\/"))


def hits(file: File, find: Callable[[str], Iterable[tuple[Span, str]]]) -> Iterator[tuple[Span, str]]:
    """What `find` finds in a file, at its place there; also where it shows only once escapes are undone."""
    return islice(every_hit(file, find), MAX_HITS)


def every_hit(file: File, find: Callable[[str], Iterable[tuple[Span, str]]]) -> Iterator[tuple[Span, str]]:
    string = file.source.string
    found: list[Span] = []
    for span, what in find(string):
        found.append(span)
        yield span, what
    if "\\" not in string:
        return
    for start, end in escaped_parts(file):
        for literal in LITERAL.finditer(string, start, end):
            if "\\" not in literal.group(1):
                continue
            text, places = unescaped(literal.group(1), literal.start(1))
            for span, what in find(text):
                place = Span(places[span.start], places[span.end])
                if not any(place.start < other.end and other.start < place.end for other in found):
                    found.append(place)
                    yield place, what


def escaped_parts(file: File) -> list[tuple[int, int]]:
    """The stretches of a file in which a backslash escapes: all of a JSON file, of `record.md` the fields and JSON blocks."""
    if not file.name.endswith(".md"):
        return [(0, len(file.source))]
    if file.name != "record.md":
        return []
    body = file.layout.body
    blocks = [match.span(2) for match in FENCED_JSON.finditer(file.source.string, body.start)]
    return [(0, body.start), *blocks]


def unescaped(text: str, start: int) -> tuple[str, list[int]]:
    """The inside of a JSON string that starts at `start`, its escapes undone, and the offset of each of its characters."""
    letters: list[str] = []
    places: list[int] = []
    at = 0
    for escape in ESCAPE.finditer(text):
        letters += text[at : escape.start()]
        places += range(start + at, start + escape.start())
        code = escape.group(1) or escape.group(2) or escape.group(3)
        letter = chr(min(int(code, 16), 0x10FFFF)) if code else PLAIN.get(escape.group(4), escape.group(4))
        if letters and "\udc00" <= letter <= "\udfff" and "\ud800" <= letters[-1] <= "\udbff":
            letters[-1] = (letters[-1] + letter).encode("utf-16", "surrogatepass").decode("utf-16")
        else:
            letters.append(letter)
            places.append(start + escape.start())
        at = escape.end()
    letters += text[at:]
    places += range(start + at, start + len(text) + 1)
    return "".join(letters), places
