"""From a file's bytes to its value: accepted in one typed step where it is as we write it, explained where it is not."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import msgspec

from memidex.records.memidex import values
from memidex.records.memidex.places import At, Layout, Node, Path, Place, Unreadable, field_span, json_tree, layout
from memidex.text import NOWHERE, Source, Span, decode


class Problem(NamedTuple):
    """Something a file says wrongly: the rule that reports it, where, and what would be right."""

    rule: str
    at: At
    message: str
    value: Any = None
    """The wrong value or name itself, for a fix to start from."""


class File:
    """One file of a bundle: its bytes, what they say, and what is wrong with them."""

    def __init__(self, name: str, data: bytes, value: Any, problems: tuple[Problem, ...] = ()) -> None:
        self.name = name
        self.data = data
        self.value = value
        self.problems = problems
        self.last_tree: tuple[int, Node | None] | None = None

    @cached_property
    def source(self) -> Source:
        return Source(decode(self.data)[0])

    @cached_property
    def layout(self) -> Layout:
        """The parts of a `record.md`."""
        return layout(self.source)

    @cached_property
    def tree(self) -> Node | None:
        """The tree of a `.json` file; None where it is not JSON."""
        try:
            return json_tree(self.source.string)
        except Unreadable:
            return None

    def line_tree(self, line: int) -> Node | None:
        """The tree of one line of a `.jsonl` file; None where it is not JSON."""
        # Kept until another line is asked for: many findings may stand in one long line.
        if self.last_tree is None or self.last_tree[0] != line:
            span = self.source.line_span(line)
            try:
                self.last_tree = line, json_tree(self.source.string, span.start, span.end)
            except Unreadable:
                self.last_tree = line, None
        return self.last_tree[1]

    def span(self, at: At) -> Span:
        """Where a place of this file stands; of a place that is not there, the nearest thing around it."""
        if isinstance(at, Span):
            return at
        if self.name.endswith(".jsonl"):
            line = at.path[0] if at.path else 0
            span = self.source.line_span(line if isinstance(line, int) else 0)
            tree = self.line_tree(line) if len(at.path) > 1 and isinstance(line, int) else None
            return tree.span_of(Place(at.path[1:], at.part)) if tree else span
        if self.name.endswith(".md"):
            # Most findings of a store stand on the id of a healthy record, for which its one line is enough.
            simple = len(at.path) == 1 and not self.problems and "layout" not in self.__dict__
            return (simple and field_span(self.source, at)) or self.layout.span_of(at)
        if self.tree:
            return self.tree.span_of(at)
        return self.source.line_span(0) if len(self.source) else NOWHERE


@dataclass(frozen=True, slots=True)
class Log:
    """The events of an outcome log in the order of its lines, with each one's line from 0 and identity."""

    events: tuple[values.Event, ...] = ()
    lines: tuple[int, ...] | range = ()
    identities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RelationList:
    """The relations of a bundle, each with the path to it in `relations.json`, which is read in three shapes."""

    relations: tuple[values.Relation, ...] = ()
    paths: tuple[Path, ...] = ()


def identity(line: bytes) -> str:
    """The identity of an event that has no `id`: the SHA-256 of its line (contract, section 5)."""
    return hashlib.sha256(line.rstrip(b"\r\n")).hexdigest()


def parse(name: str, data: bytes) -> File:
    """The file `name` of a bundle, or `runs.jsonl` of a product. Never raises, whatever the bytes."""
    reader = READERS.get(name)
    if reader is None:
        return File(name, data, None)
    try:
        return File(name, data, reader(data))
    except Exception:  # anything at all: the slow path says what it was
        from memidex.records.memidex import explain

        return explain.file(name, data)


def read_record(data: bytes) -> values.Record:
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n")
        if b"\r" in data:  # it ends a line too
            raise ValueError
    end = data.index(b"\n---\n", 3)
    if data[:4] != b"---\n" or b"\0" in data:
        raise ValueError
    found: dict[bytes, Any] = {}
    for line in data[4:end].split(b"\n"):
        key, _, value = line.partition(b": ")
        if key in found:
            raise ValueError
        found[key] = values.FRONTMATTER[key](value)
    body = data[end + 5 :]
    cut = body.index(b"\n\n## Detail\n\n")
    # Anything that is not the plain shape (another heading, an allow comment, conflict markers) is for the slow path.
    if (
        not body.startswith(b"\n## Summary\n\n")
        or found[b"schemaVersion"] != 2
        or body.count(b"\n## ") != 2
        or b"\n##\t" in body
        or b"memidex:" in body
        or b"<<<<<<<" in body
        or b"```" in body[:cut]
        or b"~~~" in body[:cut]
    ):
        raise ValueError
    summary = body[13:cut].decode().strip()
    detail = body[cut + 13 :].decode().strip()
    if not summary or not detail or not found[b"anchors"]:
        raise ValueError
    return values.Record(
        2, found[b"id"], found[b"kind"], found.get(b"subtype"), found[b"anchors"], found[b"scope"],
        found[b"createdAtOrdinal"], found[b"originClass"], found[b"evidenceIncomplete"], summary, detail,
    )  # fmt: skip


def read_log(data: bytes) -> Log:
    if not data:
        return Log()
    events = each_line(values.EVENT, data)
    identities = tuple([event.id for event in events])
    if not all(identities):
        lines = data.split(b"\n")
        identities = tuple([event.id or identity(line) for event, line in zip(events, lines, strict=False)])
    # A word may be written with escapes.
    for event in events if b"retracted" in data or b"overturned" in data or b"\\u" in data else ():
        if (event.type == "retracted" and event.retracts is None) or (
            event.type == "overturned" and not event.overturns
        ):
            raise ValueError
    return Log(events, range(len(events)), identities)  # pyright: ignore[reportArgumentType]


def read_relations(data: bytes) -> RelationList:
    relations = values.RELATIONS.decode(data).relations
    return RelationList(relations, tuple([("relations", index) for index in range(len(relations))]))


def read_manifest(data: bytes) -> values.Manifest:
    manifest = values.MANIFEST.decode(data)
    # Looked at together, which is much faster: each a SHA-256 in hex digits, as we write it, or it is for the slow path.
    digits = "".join([sealed.hash for sealed in manifest.files.values()])
    if len(digits) != 64 * len(manifest.files) or len(bytes.fromhex(digits)) != 32 * len(manifest.files):
        raise ValueError
    return manifest


def lines(decoder: msgspec.json.Decoder[Any]) -> Callable[[bytes], tuple[Any, ...]]:
    return lambda data: each_line(decoder, data) if data else ()


def each_line(decoder: msgspec.json.Decoder[Any], data: bytes) -> tuple[Any, ...]:
    """The value of each line, where every line holds just one; the decoder alone would let a value go over lines."""
    found = tuple(decoder.decode_lines(data))
    if (
        data[-1] != 10
        or data.count(b"\n") != len(found)
        or (b"\r" in data and data.count(b"\r") != data.count(b"\r\n"))
    ):
        raise ValueError
    return found


def read_text(data: bytes) -> None:
    if b"<<<<<<<" in data:
        raise ValueError


READERS: dict[str, Callable[[bytes], Any]] = {
    "record.md": read_record,
    "evidence/outcomes.jsonl": read_log,
    "provenance.json": values.PROVENANCE.decode,
    "manifest.json": read_manifest,
    "observations.jsonl": lines(values.OBSERVATION),
    "relations.json": read_relations,
    "evidence/evidence.md": read_text,
    "evidence/gates.jsonl": lines(values.GATE),
    "evidence/measurements.json": values.MEASUREMENT.decode,
    "artifacts.index.json": values.ARTIFACTS.decode,
    "runs.jsonl": lines(values.RUN),
}
