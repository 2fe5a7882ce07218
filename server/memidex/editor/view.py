"""One text in front of a person, with the record it belongs to: what every feature of the editor starts from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from memidex.records.memidex.bundle import Bundle
from memidex.records.memidex.read import File
from memidex.store.snapshot import Entry, Root, Snapshot, place_of
from memidex.text import Source


@dataclass(frozen=True)
class View:
    """The text of the file at `path` (absolute, forward slashes) among everything that is known.

    `source` is what the person sees; where the file belongs to a bundle, the bundle has been read from it too.
    """

    snapshot: Snapshot
    path: str
    source: Source

    @cached_property
    def root(self) -> Root | None:
        """The root that the file is in; None for any other text of the workspace."""
        return self.snapshot.root_of(self.path)

    @cached_property
    def place(self) -> tuple[str, str] | None:
        """(folder of the bundle, name in it) where the file is a bundle's."""
        return place_of(self.root.path, self.path) if self.root else None

    @property
    def name(self) -> str:
        """The file's name in its bundle, such as `evidence/outcomes.jsonl`; empty for a file of no bundle."""
        return self.place[1] if self.place else ""

    @cached_property
    def entry(self) -> Entry | None:
        return self.root.entries.get(self.place[0]) if self.root and self.place else None

    @cached_property
    def bundle(self) -> Bundle | None:
        return self.root.bundle(self.entry) if self.root and self.entry else None

    @cached_property
    def file(self) -> File | None:
        """The file as its bundle read it."""
        return self.bundle.files.get(self.name) if self.bundle else None

    def find(self, address: str) -> tuple[Root, Entry] | None:
        """The record of an exact address: in the file's own root, or for a text of no root in any."""
        for root in self.roots():
            found = root.find(address)
            if found:
                return root, found
        return None

    def roots(self) -> Iterator[Root]:
        if self.root:
            yield self.root
        else:
            yield from self.snapshot.roots
