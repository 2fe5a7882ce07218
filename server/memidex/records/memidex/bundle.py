"""One bundle: the files of one record, read together."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

from memidex.records.memidex import values
from memidex.records.memidex.read import File, Log, Problem, RelationList, parse
from memidex.text import NOWHERE

Integrity = Literal["sealed", "appended", "edited", "rewritten", "incomplete", "unknown"]


WHOLE = ""
"""The name under which a fault of the bundle's folder itself is filed."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A file that is there but was not read."""

    why: Literal["too-large", "unreadable", "not-a-file", "link"]
    message: str


FAULTS = {
    "too-large": "file-too-large",
    "unreadable": "unreadable-file",
    "not-a-file": "unreadable-file",
    "link": "link-leaves-root",
}
"""The rules that report them."""


def unread(name: str, fault: Fault) -> File:
    """A file that was not read, for one that is in no bundle: it says nothing, and has the fault as its problem."""
    return File(name, b"", None, (Problem(FAULTS[fault.why], NOWHERE, f"{name}: {fault.message}"),))


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

    @property
    def manifest(self) -> values.Manifest | None:
        """None where it is not there, or of a shape that is not known."""
        return self.value("manifest.json")

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
        for state in ("rewritten", "edited", "incomplete", "unknown", "appended"):
            if state in states:
                return state
        return "sealed"

    @cached_property
    def seals(self) -> tuple[tuple[str, Integrity], ...]:
        """Each committed file that is not simply sealed, with its state; `manifest.json` itself where it says nothing.

        Of a file that is there and could not be read nothing is known.
        """
        unread: list[tuple[str, Integrity]] = [
            (name, "unknown")
            for name in self.faults
            if not is_left_over(name) and name.partition("/")[0] != "artifacts"
        ]
        file = self.files.get("manifest.json")
        if file is None:
            return tuple(unread) if "manifest.json" in self.faults else (("manifest.json", "incomplete"), *unread)
        manifest: values.Manifest | None = file.value
        if manifest is None or any(problem.rule == "conflict-markers" for problem in file.problems):
            return (("manifest.json", "unknown"), *unread)
        found = unread
        listed: set[str] = set()
        for name, sealed in manifest.files.items():
            held = self.files.get(name)
            if held is None:
                path = plain(name)
                listed.add(path)
                held = self.files.get(path)
                if held is None:
                    if not self.unseen(path):
                        found.append((path, "incomplete"))
                    continue
                name = path
            state = seal(name, held.data, sealed, manifest.algorithm)
            if state != "sealed":
                found.append((name, state))
        for name in (*self.files, *self.others):
            if (
                name in manifest.files
                or name in listed
                or name in self.faults
                or name == "manifest.json"
                or is_left_over(name)
            ):
                continue
            if name in self.files or not any(other.startswith(name + "/") for other in listed):
                found.append((name, "incomplete"))
        return tuple(dict.fromkeys(found))

    def unseen(self, path: str) -> bool:
        """Whether a listed file that was not read may be there all the same, or need not be."""
        head = path.partition("/")[0]
        return (
            head == "artifacts"
            or path == "manifest.json"
            or path in self.faults
            or head in self.faults
            or path in self.others
            or head in self.others
            or leaves(path)
        )


LEAVING = re.compile(r"[/\\]|[A-Za-z][A-Za-z0-9+.-]*:|(?:.*[/\\])?\.\.(?:[/\\]|$)|.*\\", re.DOTALL)
LEFT_OVER = re.compile(
    r"\.memidex-.*\.tmp|.*\.sw[a-p]|.*~|\.#.*|#.*#|\..*\.kate-swp|.*\.(?:bak|orig|rej|tmp)|4913",
    re.IGNORECASE | re.DOTALL,
)
"""Temporary files: ours, those that editors keep beside a file, and those that patches and merges leave."""
JUNK = re.compile(
    r"\.DS_Store|\._.*|\.directory|\.git(?:ignore|attributes|keep)|Thumbs\.db|desktop\.ini", re.IGNORECASE | re.DOTALL
)
"""What operating systems and git itself put into any folder."""


def leaves(path: str) -> bool:
    """Whether a path is not one below the bundle's folder, written with `/`."""
    return LEAVING.match(path) is not None


def plain(path: str) -> str:
    """A listed path as the files of a bundle are named, whatever the system of who listed it."""
    return path.replace("\\", "/").removeprefix("./")


def is_left_over(name: str) -> bool:
    """Whether a file is a temporary one or junk of an operating system, which no manifest lists."""
    last = name.rpartition("/")[2]
    return LEFT_OVER.fullmatch(last) is not None or JUNK.fullmatch(last) is not None


ALGORITHMS = {32: "md5", 40: "sha1", 64: "sha256", 96: "sha384", 128: "sha512"}


def algorithm_of(sealed: str, algorithm: str | None) -> tuple[str, str] | None:
    """(name of the algorithm, the hash in lower case), as a prefix, the manifest or the length tells."""
    prefix, _, wanted = sealed.rpartition(":")
    name = (prefix or algorithm or ALGORITHMS.get(len(wanted), "")).lower().replace("-", "")
    known = name in hashlib.algorithms_guaranteed and not name.startswith("shake")
    name = name if known else ALGORITHMS.get(len(wanted), "")
    return (name, wanted.lower()) if name else None


def hash_like(before: str, content: bytes, algorithm: str | None) -> str:
    """The hash of a file, written as the one before: by the same algorithm, with or without its name."""
    prefix, colon, _ = before.rpartition(":")
    known = algorithm_of(before, algorithm)
    name = known[0] if known else "sha256"
    return f"{prefix}{colon}{hashlib.new(name, content, usedforsecurity=False).hexdigest()}"


def seal(name: str, data: bytes, sealed: values.Sealed, algorithm: str | None) -> Integrity:
    """The state of one file that the manifest lists."""
    if algorithm == "sha256" and hashlib.sha256(data).hexdigest() == sealed.hash:
        return "sealed"  # as we write it, and as nearly every file is
    known = algorithm_of(sealed.hash, algorithm)
    if known is None:
        return "unknown"
    is_log = name.endswith("outcomes.jsonl")
    state = as_sealed(data, sealed.size if is_log else -1, *known)
    if state:
        return state
    if not is_log:
        return "edited"
    # A checkout that converts line ends changes every byte after the first line, and no event.
    return "edited" if as_sealed(other_line_ends(data), sealed.size, *known) else "rewritten"


def as_sealed(data: bytes, size: int | None, algorithm: str, wanted: str) -> Literal["sealed", "appended"] | None:
    """Whether bytes are what was sealed, or start with it: at `size`, at any line where it is None, nowhere at -1.

    That what follows in a log is whole and valid is for the log's own rules to say.
    """
    if hashlib.new(algorithm, data, usedforsecurity=False).hexdigest() == wanted:
        return "sealed"
    if size is None:
        running = hashlib.new(algorithm, usedforsecurity=False)
        for line in data.splitlines(keepends=True):
            if running.hexdigest() == wanted:
                return "appended"
            running.update(line)
    elif 0 <= size < len(data) and (size == 0 or b"\n" in data[size - 1 : size + 1]):
        head = hashlib.new(algorithm, data[:size], usedforsecurity=False).hexdigest()
        return "appended" if head == wanted else None
    return None


def other_line_ends(data: bytes) -> bytes:
    """The file as a checkout with other line ends would have it."""
    return data.replace(b"\r\n", b"\n") if b"\r\n" in data else data.replace(b"\n", b"\r\n")


def differs_by_line_ends(file: File, sealed: values.Sealed, algorithm: str | None) -> bool:
    """Whether an edited file is what was sealed but for its line ends."""
    known = algorithm_of(sealed.hash, algorithm)
    size = sealed.size if file.name.endswith("outcomes.jsonl") else -1
    return known is not None and as_sealed(other_line_ends(file.data), size, *known) is not None


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


def read(
    directory: str,
    product: str,
    contents: Mapping[str, bytes],
    others: tuple[str, ...] = (),
    faults: Mapping[str, Fault] | None = None,
) -> Bundle:
    """The bundle of a folder with these contents. Never raises, whatever the bytes."""
    return Bundle(
        directory, product, {name: parse(name, data) for name, data in contents.items()}, others, faults or {}
    )
