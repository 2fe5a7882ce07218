"""From a folder on disk to a root: read everything (cold), or believe the cache and look for what differs (warm)."""

from __future__ import annotations

import gc
import zlib
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import msgspec
from immutables import Map
from msgspec import Struct

from memidex.records.memidex import bundle as bundles
from memidex.records.memidex.bundle import Bundle
from memidex.records.memidex.read import File, parse
from memidex.records.memidex.values import Run
from memidex.store import disk, writing
from memidex.store.snapshot import Entry, Made, Reader, Root, entry, links_of, short_id

CACHE_VERSION = 3
PAUSE = 64
"""Bundles between two looks at whether to go on."""
SHORTLY = 1
"""Seconds that who only reads a root waits for another process that writes to it."""


class Disk:
    """The reader that knows no open buffers."""

    def __init__(self, root: str) -> None:
        self.root = root

    def bundle(self, directory: str) -> Bundle | None:
        return read_bundle(directory, self.root)

    def file(self, path: str) -> File | None:
        name, found = path.rpartition("/")[2], disk.read_other(path, self.root)
        if isinstance(found, bundles.Fault):
            return bundles.unread(name, found)
        return None if found is None else parse(name, found)


class Stopped(Exception):
    """The work was called off."""


def read_bundle(directory: str, root: str) -> Bundle | None:
    """One bundle from disk; None where it is not there."""
    found = disk.read(directory, root)
    return bundle_of(directory, found) if found else None


def bundle_of(directory: str, found: disk.Contents) -> Bundle:
    product = directory.rsplit("/", 3)[1]
    return bundles.read(directory, product, found.files, found.others, found.faults)


@contextmanager
def bulk() -> Generator[None]:
    """No garbage collection while many small values are made, which none of them is; afterwards they are left alone."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.freeze()
            gc.enable()


def cold(
    path: str,
    reader: Reader | None = None,
    seen: Callable[[Bundle], None] | None = None,
    progress: Callable[[int, int], bool] = lambda _done, _all: True,
) -> Root:
    """The root at `path`, everything read. Each bundle is shown to `seen` while its texts are at hand.

    `progress` is told (bundles done, bundles in all) now and then; raises `Stopped` when it returns False.
    """
    root, folders = bare(path, reader or Disk(path))
    entries: list[Entry] = []
    read_ = disk.read_listed if seen else disk.read_known
    with bulk():
        for index, directory in enumerate(folders):
            if index % PAUSE == 0 and not progress(index, len(folders)):
                raise Stopped
            found = read_(directory, path)
            if found is None:
                continue
            bundle = bundle_of(directory, found)
            entries.append(entry(bundle, found.stamp))
            if seen:
                seen(bundle)
        root = joined(root, entries)
    progress(len(folders), len(folders))
    return root


def bare(path: str, reader: Reader) -> tuple[Root, list[str]]:
    """The root without its entries, and the folders of all its bundles; what a crash left of a commit is finished first."""
    writing.roll_forward(path, patience=SHORTLY)
    root = Root(path, reader).with_short_ids(short_ids(path))
    folders: list[str] = []
    links = disk.product_links(path)
    for name, folder in disk.products(path):
        real, linked = disk.bundles(folder)
        folders += real
        links += linked
        root = with_ledger(root, name)
    return replace(root, links=tuple(links)), folders


def with_ledger(root: Root, product: str, data: bytes | None = None) -> Root:
    """The root after the run ledger of a product was read again, from `data` where a buffer holds it."""
    path = f"{root.path}/memory/{product}/runs.jsonl"
    numbers = disk.file_numbers(path)
    if data is None:
        found = disk.read_other(path, root.path)
        data = found if isinstance(found, bytes) else b""
    runs: Iterable[Run] = parse("runs.jsonl", data).value or ()
    return root.with_ledger(product, runs, numbers)


def joined(root: Root, entries: Iterable[Entry]) -> Root:
    """The root with all its entries, the tables made in plain dicts first: a row of many folders grows in place."""
    by_folder: dict[str, Entry] = {}
    ids: dict[str, list[str]] = {}
    backlinks: dict[str, list[Any]] = {}
    anchors: dict[Any, list[str]] = {}
    created: dict[Made, list[str]] = {}
    counts: dict[str, dict[int, int]] = {}
    for item in entries:
        here = item.directory
        by_folder[here] = item
        ids.setdefault(item.id, []).append(here)
        if item.id != item.folder:
            ids.setdefault(item.folder, []).append(here)
        if item.relations or item.standing.by:
            for target, link in links_of(item):
                backlinks.setdefault(target, []).append(link)
        if item.anchors:
            anchors.setdefault(item.anchors[0], []).append(here)
        created.setdefault((item.scope, item.created), []).append(here)
        of_product = counts.setdefault(item.product, {})
        for ordinal in item.ordinals:
            of_product[ordinal] = of_product.get(ordinal, 0) + 1
    products = root.products
    for name, found in counts.items():
        before = root.product(name)
        products = products.set(name, type(before)(before.runs, found, before.ledger))
    return replace(
        root,
        entries=Map(by_folder),
        ids=rows(ids),
        backlinks=rows(backlinks),
        anchors=rows(anchors),
        created=rows(created),
        products=products,
    )


def rows(table: dict[Any, list[Any]]) -> Any:
    return Map({key: tuple(row) for key, row in table.items()})


# The cache ------------------------------------------------------------------------------------------------------------


class Cache(Struct, frozen=True, array_like=True):
    """What is written, after the checksum of it."""

    version: int
    root: str
    entries: tuple[Entry, ...]


ENCODER = msgspec.msgpack.Encoder()
DECODER: msgspec.msgpack.Decoder[Cache] = msgspec.msgpack.Decoder(Cache)


def warm(path: str, reader: Reader | None = None) -> Root | None:
    """The root as the cache remembers it; None where there is no cache that can be believed. Then look for `changes`."""
    try:
        data = memoryview(disk.read_state(path, "index"))
        if zlib.crc32(data[4:]) != int.from_bytes(data[:4]):
            return None
        with bulk():
            cache = DECODER.decode(data[4:])
            if cache.version != CACHE_VERSION or cache.root != path:
                return None
            return joined(bare(path, reader or Disk(path))[0], cache.entries)
    except (OSError, msgspec.DecodeError, msgspec.ValidationError, RecursionError, ValueError):
        return None


def save(root: Root) -> bool:
    """Write the cache; False where that is not possible, which is no fault (a read-only root)."""
    entries = tuple(
        item if disk.settled(item.numbers) else msgspec.structs.replace(item, numbers=b"")
        for item in root.entries.values()
    )
    try:
        data = ENCODER.encode(Cache(CACHE_VERSION, root.path, entries))
        disk.replace(f"{disk.state_folder(root.path)}/index", zlib.crc32(data).to_bytes(4) + data)
    except (OSError, UnicodeEncodeError):  # the second: a root at a path that is not UTF-8
        return False
    return True


def changes(root: Root, progress: Callable[[int, int], bool] = lambda _done, _all: True) -> tuple[list[str], list[str]]:
    """(folders that came or changed, folders that went) since the root was read, by their stamps alone."""
    changed: list[str] = []
    gone: list[str] = []
    there: set[str] = set()
    for _, folder in disk.products(root.path):
        there.update(disk.bundles(folder)[0])
    known = root.entries
    gone = [directory for directory in known if directory not in there]
    changed = [directory for directory in there if directory not in known]
    for index, (directory, item) in enumerate(known.items()):
        if index % (16 * PAUSE) == 0 and not progress(index, len(known)):
            raise Stopped
        if directory in there and disk.stamp(directory, item.names) != item.numbers:
            changed.append(directory)
    return sorted(changed), sorted(gone)


def refreshed(root: Root, directories: Iterable[str]) -> Root:
    """The root after these folders were read again; those that are no more are taken out."""
    new: list[Entry] = []
    gone: list[str] = []
    for directory in directories:
        found = disk.read(directory, root.path)
        bundle = root.reader.bundle(directory)  # an open buffer wins over the disk
        if bundle is None or found is None:
            gone.append(directory)
        else:
            new.append(entry(bundle, found.stamp))
    return root.changed(new, gone)


# Short ids ------------------------------------------------------------------------------------------------------------


class ShortId(Struct, frozen=True):
    n: int
    id: str


SHORT_ID = msgspec.json.Decoder(ShortId)


def short_ids(path: str) -> list[tuple[int, str]]:
    """The short ids that this machine has given in a root, as (number, record id)."""
    found: list[tuple[int, str]] = []
    with suppress(OSError):
        for line in disk.read_state(path, "short-ids.jsonl").split(b"\n"):
            with suppress(msgspec.DecodeError, msgspec.ValidationError):
                item = SHORT_ID.decode(line)
                found.append((item.n, item.id))
    return found


def give_short_ids(root: Root, records: Iterable[str]) -> Root:
    """The root after each of these records has a short id; what is new is kept on this machine.

    On a root that cannot be written the records stay without one. A number is never given twice: the file only grows.
    """
    missing = [record for record in dict.fromkeys(records) if record not in root.short_ids]
    if not missing:
        return root
    try:
        with disk.locked(root.path, "short-ids.jsonl") as file:
            given = short_ids(root.path)
            have = {record for _, record in given}
            number = max((number for number, _ in given), default=0)
            fresh: list[tuple[int, str]] = []
            for record in missing:
                if record not in have:
                    number += 1
                    fresh.append((number, record))
            disk.append(file, b"".join(msgspec.json.encode(ShortId(n, record)) + b"\n" for n, record in fresh))
    except OSError:
        return root
    return root.with_short_ids([*given, *fresh])


__all__ = [
    "Disk",
    "Stopped",
    "changes",
    "cold",
    "give_short_ids",
    "read_bundle",
    "refreshed",
    "save",
    "short_id",
    "warm",
]
