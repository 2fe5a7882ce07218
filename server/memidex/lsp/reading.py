"""From the disk to a root, and to what differs of it: what the session asks of a worker when files are to be read."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import NamedTuple

import msgspec
from immutables import Map

from memidex.records.memidex.read import File, parse
from memidex.store import disk, opening
from memidex.store.disk import Stamp
from memidex.store.snapshot import Entry, Product, Reader, Root, entry
from memidex.text import Source
from memidex.text.source import BOM

STORM = 200
"""Changed records in one burst from which on a root's tables are made anew, which is linear, rather than mended."""
WORTH_TELLING = 500
"""Bundles from which on reading a root is long work."""
BUNDLE = re.compile(r"/memory/[^/]+/bundles/[^/]+")
LEDGER = re.compile(r"/memory/([^/]+)/runs\.jsonl")


class Opened(NamedTuple):
    """A root, and how it was come by."""

    root: Root
    warm: bool
    differs: bool
    """Whether it is not as its cache says."""


class Reading(NamedTuple):
    """What was found when bundles were read again."""

    new: list[Entry]
    gone: list[str]
    after: Root | None
    """The whole root after a storm of changes; None after fewer, which are put into it one by one."""

    @property
    def directories(self) -> list[str]:
        return [*(item.directory for item in self.new), *self.gone]


class Outline(NamedTuple):
    """What there is of a root besides its bundles."""

    products: dict[str, tuple[int, int, int]]
    """The stamp of each product's run ledger."""
    links: tuple[str, ...]


def never() -> bool:
    return False


def bundle_of(root: str, path: str) -> str | None:
    """The folder of the bundle that a path is in or is; None for any other."""
    match = BUNDLE.match(path, len(root)) if path.startswith(root + "/") else None
    return path[: match.end()] if match else None


def product_of_ledger(root: str, path: str) -> str | None:
    """The product whose run ledger a path is; None for any other."""
    match = LEDGER.fullmatch(path, len(root)) if path.startswith(root + "/") else None
    return match.group(1) if match else None


def opened(path: str, reader: Reader, told: Callable[[int, int], None], cancelled: Callable[[], bool]) -> Opened:
    """The root at `path`: from its cache and from disk what differs, or without a cache all from disk."""

    def goes_on(done: int, every: int) -> bool:
        if every >= WORTH_TELLING:
            told(done, every)
        return not cancelled()

    root = opening.warm(path, reader)
    if root is None:
        return Opened(opening.cold(path, reader, progress=goes_on), warm=False, differs=True)
    found = read_again(root, None, cancelled)
    root = found.after or root.changed(found.new, found.gone)
    return Opened(root, warm=True, differs=bool(found.directories))


def read_again(root: Root, directories: Iterable[str] | None, cancelled: Callable[[], bool] = never) -> Reading:
    """Bundles as they are on disk now, open buffers left aside; with None those whose stamps differ."""
    if directories is None:
        changed, gone = opening.changes(root, lambda _done, _all: not cancelled())
        directories = [*changed, *gone]
    directories = list(dict.fromkeys(directories))
    # Links, hidden folders and other spellings are no bundles, whoever names them: what is not known is looked up in its
    # folder. What is known is only looked at, so that a decision costs the same however many records are beside it.
    strange = {item.rpartition("/")[0] for item in directories if item not in root.entries}
    there = {one for folder in strange for one in disk.bundles(folder)[0]}
    there.update(one for one in directories if one in root.entries and disk.is_plain_folder(one, root.path))
    new: list[Entry] = []
    gone: list[str] = []
    for directory in directories:
        if cancelled():
            raise opening.Stopped
        contents = disk.read(directory, root.path) if directory in there else None
        if contents:
            new.append(entry(opening.bundle_of(directory, contents), contents.stamp))
        else:
            gone.append(directory)
    after = replaced(root, new, gone) if len(directories) > STORM else None
    return Reading(new, gone, after)


def replaced(root: Root, new: list[Entry], gone: list[str]) -> Root:
    """The root with these entries, its tables made from nothing."""
    entries = dict(root.entries)
    entries.update({item.directory: item for item in new})
    for directory in gone:
        entries.pop(directory, None)
    counts = {name: Product(product.runs, {}, product.ledger) for name, product in root.products.items()}
    return opening.joined(replace(root, products=Map(counts)), [entries[name] for name in sorted(entries)])


def outline(path: str) -> Outline:
    """What is on disk of a root besides its bundles; without products it is none any more."""
    ledgers: dict[str, tuple[int, int, int]] = {}
    links: list[str] = []
    for name, folder in disk.products(path):
        ledgers[name] = disk.file_numbers(f"{path}/memory/{name}/runs.jsonl")
        links += disk.bundles(folder)[1]
    return Outline(ledgers, tuple(links))


def store(root: Root, unsaved: Iterable[str]) -> bool:
    """Write a root's cache; bundles with an unsaved text in them will be read again."""
    items = [msgspec.structs.replace(root.entries[name], numbers=b"") for name in unsaved if name in root.entries]
    return opening.save(root.restamped(items))


def overlaid(known: File | None, name: str, source: Source) -> File:
    """A file with an open text in place of its own: the same file where it says the same.

    An editor shows no byte order mark, and U+FFFD for a wrong byte: what it gave back unchanged is no change.
    """
    string = source.string.removeprefix(BOM)
    if known is not None and string == known.source.string:
        return known
    if (
        known is not None
        and len(string) == len(known.source)
        and string == known.data.decode("utf-8", "replace").removeprefix(BOM)
    ):
        return known
    data = string.encode("utf-8", "replace")
    if known is not None and known.data.startswith(codecs.BOM_UTF8):
        data = codecs.BOM_UTF8 + data  # which an editor writes again when it saves
    return parse(name, data)


def stamp_in(root: Root, directory: str) -> Stamp | None:
    """The stamp that a root has of a bundle; of one that a cold start opened by name, the stamp of a full look."""
    item = root.entries.get(directory)
    if item and item.numbers:
        return Stamp(item.names, item.numbers)
    contents = disk.read(directory, root.path)
    return contents.stamp if contents else None


def restamped(known: Entry, item: Entry) -> Entry:
    """An entry with the stamp of another."""
    return msgspec.structs.replace(known, names=item.names, numbers=item.numbers)
