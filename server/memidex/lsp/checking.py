"""From owners to findings ready to be sent: what the session asks of a worker, over values that do not change."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import NamedTuple

from memidex.lsp.findings import Report, report
from memidex.lsp.reading import overlaid
from memidex.records.memidex.bundle import Bundle
from memidex.records.memidex.read import File
from memidex.records.memidex.vocabulary import FILES
from memidex.rules import engine
from memidex.rules.rule import Finding, Selection
from memidex.store import disk, opening
from memidex.store.snapshot import Entry, Root, Snapshot, entry, place_of
from memidex.text import Encoding, Source

logger = logging.getLogger(__name__)

REMEMBERED = 100
"""Bundles that work over several records keeps, since each reads its neighbours."""


class Owner(NamedTuple):
    """Whose findings they are: a bundle's folder, or with an empty one the root itself."""

    root: str
    directory: str


class Checked(NamedTuple):
    """The findings of one owner, by file, and as they are sent."""

    findings: dict[str, tuple[Finding, ...]]
    reports: dict[str, Report]


NO_FINDINGS = Checked({}, {})


class Buffers:
    """The reader of a root that gives open buffers first, then the disk."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.disk = opening.Disk(root)
        self.bundles: dict[str, Bundle] = {}
        """Bundles with an open buffer in them."""
        self.files: dict[str, File] = {}
        """Open files outside bundles: ledgers, `policies.md`."""
        self.marked: dict[str, Source] = {}
        """Open texts that the client gave with a byte order mark, which moves its columns by one."""

    def pinned(self) -> Buffers:
        """These buffers as they are now."""
        same = Buffers(self.root)
        same.bundles, same.files, same.marked = dict(self.bundles), dict(self.files), dict(self.marked)
        return same

    def bundle(self, directory: str) -> Bundle | None:
        return self.bundles.get(directory) or self.disk.bundle(directory)

    def file(self, path: str) -> File | None:
        return self.files.get(path) or self.disk.file(path)


class Recent:
    """A reader that remembers the last bundles it gave."""

    def __init__(self, reader: Buffers) -> None:
        self.reader = reader
        self.kept: OrderedDict[str, Bundle | None] = OrderedDict()

    def bundle(self, directory: str) -> Bundle | None:
        if directory not in self.kept:
            self.keep(directory, self.reader.bundle(directory))
        return self.kept[directory]

    def keep(self, directory: str, bundle: Bundle | None) -> None:
        self.kept[directory] = bundle
        if len(self.kept) > REMEMBERED:
            self.kept.popitem(last=False)

    def file(self, path: str) -> File | None:
        return self.reader.file(path)

    def listed(self, items: Iterable[Entry]) -> list[Entry]:
        """The entries of those bundles that were opened by name, with the full stamp of a look at what is there."""
        found: list[Entry] = []
        for item in items:
            if not item.numbers and item.directory not in self.reader.bundles:
                contents = disk.read(item.directory, self.reader.root)
                if contents:
                    bundle = opening.bundle_of(item.directory, contents)
                    self.keep(item.directory, bundle)
                    found.append(entry(bundle, contents.stamp))
        return found


def owner_of(snapshot: Snapshot, path: str) -> Owner | None:
    """Whose findings those of a file are; None for a file of no root."""
    root = snapshot.root_of(path)
    if root is None:
        return None
    place = place_of(root.path, path)
    return Owner(root.path, place[0] if place and place[0] in root.entries else "")


def source_of(root: Root, path: str) -> Source:
    """The text of a file of a root as its reader gives it; empty for a file that is not there."""
    place = place_of(root.path, path)
    if place:
        bundle = root.reader.bundle(place[0])
        file = bundle.files.get(place[1]) if bundle else None
    else:
        file = root.reader.file(path)
    return file.source if file else Source("")


def with_text(bundle: Bundle, name: str, source: Source) -> Bundle:
    """A bundle with an open text in place of one of its files.

    A file that a bundle does not know, such as an artifact that someone looks at, does not become one of it.
    """
    known = bundle.files.get(name)
    if known is None and name not in FILES and name not in bundle.others:
        return bundle
    file = overlaid(known, name, source)
    if file is known:
        return bundle
    faults = {other: fault for other, fault in bundle.faults.items() if other != name}
    return replace(bundle, files={**bundle.files, name: file}, faults=faults)


def checked(
    root: Root,
    buffers: Buffers,
    owner: Owner,
    selection: Selection,
    encoding: Encoding,
    page: Callable[[str], str],
) -> Checked:
    """The findings of one owner, with everything that sending them needs. An owner that makes it fail has none."""
    reader = root.reader if isinstance(root.reader, Recent) else Recent(buffers)
    root = replace(root, reader=reader)

    def source(path: str) -> Source:
        return buffers.marked.get(path) or source_of(root, path)

    try:
        if owner.directory:
            item = root.entries.get(owner.directory)
            found = engine.check_entry(item, root, selection) if item else []
        else:
            found = engine.check_root(root, selection)
        by_path: dict[str, list[Finding]] = {}
        for finding in found:
            by_path.setdefault(finding.path, []).append(finding)
        return Checked(
            {path: tuple(items) for path, items in by_path.items()},
            {path: report(items, source(path), encoding, source, page) for path, items in by_path.items()},
        )
    except Exception:
        logger.exception("%s could not be checked", owner.directory or owner.root)
        return NO_FINDINGS


def check_owners(
    root: Root,
    buffers: Buffers,
    owners: Iterable[Owner],
    selection: Selection,
    encoding: Encoding,
    page: Callable[[str], str],
    cancelled: Callable[[], bool],
) -> tuple[dict[Owner, Checked], list[Entry]]:
    """The findings of several owners, and the entries that are known with a full stamp for it."""
    owners = list(owners)
    recent = Recent(buffers)
    root = replace(root, reader=recent)
    fresh = recent.listed([root.entries[owner.directory] for owner in owners if owner.directory in root.entries])
    results: dict[Owner, Checked] = {}
    for owner in owners:
        if cancelled():
            break
        results[owner] = checked(root, buffers, owner, selection, encoding, page)
    return results, fresh
