"""One bundle: the files of one record, read together."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

from memidex.records.memidex import values
from memidex.records.memidex.read import File, Log, RelationList, parse

Integrity = Literal["sealed", "appended", "edited", "rewritten", "incomplete", "unknown"]


@dataclass(frozen=True, slots=True)
class Fault:
    """A file that is there but was not read."""

    why: Literal["too-large", "unreadable", "not-a-file", "link"]
    message: str


NO_RECORD = values.Record()
NO_LOG = Log()
NO_RELATIONS = RelationList()


@dataclass(frozen=True)
class Bundle:
    """What the files of a bundle's folder say. `directory` is its path, `product` the product's folder name."""

    directory: str
    product: str
    files: Mapping[str, File]
    others: tuple[str, ...] = ()
    """Names below the folder that are no files of the format, `artifacts/` left out."""
    faults: Mapping[str, Fault] = field(default_factory=dict[str, Fault])

    @property
    def folder(self) -> str:
        return self.directory.replace("\\", "/").rpartition("/")[2]

    @cached_property
    def record(self) -> values.Record:
        return self.value("record.md") or NO_RECORD

    @property
    def log(self) -> Log:
        return self.value("evidence/outcomes.jsonl") or NO_LOG

    @property
    def relations(self) -> RelationList:
        return self.value("relations.json") or NO_RELATIONS

    def value(self, name: str) -> Any:
        """What a file says; None where it is not there or cannot be read."""
        found = self.files.get(name)
        return found.value if found else None

    def with_file(self, name: str, data: bytes | None) -> Bundle:
        """The bundle after one file changed, or with None went; no other file is read again."""
        files = dict(self.files)
        faults = {other: fault for other, fault in self.faults.items() if other != name}
        if data is None:
            files.pop(name, None)
        else:
            files[name] = parse(name, data)
        return replace(self, files=files, faults=faults)

    @cached_property
    def integrity(self) -> Integrity:
        """How the files stand to the manifest (contract, section 8); the worst state of any file."""
        states = {state for _, state in self.seals}
        for state in ("unknown", "rewritten", "edited", "incomplete", "appended"):
            if state in states:
                return state
        return "sealed"

    @cached_property
    def seals(self) -> tuple[tuple[str, Integrity], ...]:
        """Each committed file that is not simply sealed, with its state; `manifest.json` itself where it says nothing."""
        manifest: values.Manifest | None = self.value("manifest.json")
        if manifest is None:
            return (("manifest.json", "unknown" if "manifest.json" in self.files else "incomplete"),)
        found: list[tuple[str, Integrity]] = []
        for name, sealed in manifest.files.items():
            held = self.files.get(name)
            if held is None:
                if name not in self.faults and not name.startswith("artifacts/") and name != "manifest.json":
                    found.append((name, "incomplete"))
                continue
            state = seal(held.data, sealed, manifest.algorithm, name.endswith("outcomes.jsonl"), held.problems)
            if state != "sealed":
                found.append((name, state))
        unlisted = [name for name in self.files if name not in manifest.files and name != "manifest.json"]
        return (*found, *((name, "incomplete") for name in unlisted))


ALGORITHMS = {32: "md5", 40: "sha1", 64: "sha256", 96: "sha384", 128: "sha512"}


def digest(data: bytes, sealed: str, algorithm: str | None) -> tuple[str, str] | None:
    """(hash of the data, hash it should have), by the algorithm that a prefix, the manifest or the length tells."""
    prefix, _, wanted = sealed.rpartition(":")
    name = (prefix or algorithm or ALGORITHMS.get(len(wanted), "")).lower().replace("-", "")
    name = name if name in hashlib.algorithms_guaranteed and not name.startswith("shake") else ALGORITHMS.get(len(wanted), "")
    if not name:
        return None
    return hashlib.new(name, data, usedforsecurity=False).hexdigest(), wanted.lower()


def seal(data: bytes, sealed: values.Sealed, algorithm: str | None, is_log: bool, problems: Iterable[Any]) -> Integrity:  # noqa: FBT001
    pair = digest(data, sealed.hash, algorithm)
    if pair is None:
        return "unknown"
    if pair[0] == pair[1]:
        return "sealed"
    if not is_log:
        return "edited"
    # The log may only grow: its first sealed bytes must still be what was sealed, and what follows whole events.
    if sealed.size is not None and len(data) > sealed.size:
        head = digest(data[: sealed.size], sealed.hash, algorithm)
        whole = data[: sealed.size].endswith(b"\n") or sealed.size == 0
        if head and head[0] == head[1] and whole:
            return "appended"
    return "rewritten"


def seal_of(files: Mapping[str, bytes]) -> values.Manifest:
    """The manifest that seals these files as they are."""
    return values.Manifest(
        {
            name: values.Sealed(hashlib.sha256(data).hexdigest(), len(data))
            for name, data in sorted(files.items())
            if name != "manifest.json"
        },
        "sha256",
        2,
    )


def read(directory: str, product: str, contents: Mapping[str, bytes], others: tuple[str, ...] = (), faults: Mapping[str, Fault] | None = None) -> Bundle:
    """The bundle of a folder with these contents. Never raises, whatever the bytes."""
    return Bundle(directory, product, {name: parse(name, data) for name, data in contents.items()}, others, faults or {})
