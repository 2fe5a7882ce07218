"""Our own look at the disk, for what no client tells: cheap when nothing happens, so that it can be taken for ever."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable

from memidex.store import disk
from memidex.store.snapshot import Root

SLICE = 0.008
"""Seconds of looking at stamps at a time: with what is around it, less than a hundredth of a core."""
MANY = 20
"""Changes in one look from which on all stamps are looked at: a checkout, an archive unpacked, an agent at work."""
WRITTEN = ("record.md", "evidence/outcomes.jsonl", "manifest.json")
FULL = 6
"""Of so many rounds one looks at every file."""
YOUNG = 2_000_000_000
"""Nanoseconds in which a folder may change twice without its time telling."""


class Watch:
    """What was seen of one root the last time; made before the root is read, so that nothing falls between."""

    def __init__(self, path: str) -> None:
        self.folders: dict[str, int] = {}
        self.at = 0
        self.rounds = 0
        self.items: tuple[object, list[str]] = None, []
        self.short_ids = disk.file_numbers(short_ids(path))
        self.configuration = configuration(path)
        self.reconfigured = False
        """Whether a file changed that may hold the configuration."""


def short_ids(path: str) -> str:
    return f"{path}/{disk.STATE}/short-ids.jsonl"


def configuration(path: str) -> tuple[tuple[int, int, int], ...]:
    """The stamps of the files that may hold a root's configuration."""
    return tuple(disk.file_numbers(file) for file in configuration_files(path))


def look(root: Root, seen: Watch, first: Iterable[str] | None) -> list[str]:
    """What changed on disk: files, a file of each bundle that did, or the root itself where records came or went.

    Folders and ledgers are looked at each time. With `first` also the files of these bundles, and of as many others
    as fit in a slice of time, round and round.
    """
    if structure(root, seen) and listed(root.path) != set(root.entries):
        return [root.path]
    found = [
        path
        for name, product in root.products.items()
        if disk.file_numbers(path := f"{root.path}/memory/{name}/runs.jsonl") != product.ledger
    ]
    identities = disk.file_numbers(short_ids(root.path))
    if seen.short_ids != identities:
        seen.short_ids = identities
        found.append(short_ids(root.path))
    if first is None:
        return found
    now = configuration(root.path)
    seen.reconfigured = seen.configuration != now
    seen.configuration = now
    changed = [directory for directory in first if differs(root, directory)]
    if seen.items[0] is not root.entries:
        seen.items = root.entries, list(root.entries)
    names = seen.items[1]
    deadline = time.perf_counter() + SLICE
    for _ in range(len(names)):
        if time.perf_counter() > deadline:
            break
        seen.at += 1
        if seen.at >= len(names):
            seen.at, seen.rounds = 0, seen.rounds + 1
        test = differs if seen.rounds % FULL == 0 else differs_where_it_may
        if test(root, names[seen.at]):
            changed.append(names[seen.at])
    if len(changed) > MANY:
        return [*found, root.path]
    return [*found, *(f"{directory}/record.md" for directory in changed)]


def structure(root: Root, seen: Watch) -> bool:
    """Whether records may have come or gone: the time of a folder differs, or is too young to tell."""
    products = {f"{root.path}/memory/{name}" for name in root.products}
    folders = [f"{root.path}/memory", *products, *(f"{folder}/bundles" for folder in products)]
    times = {folder: disk.file_numbers(folder)[0] for folder in folders}
    now = time.time_ns()
    fresh = times != seen.folders or any(now - YOUNG < at for at in times.values())
    seen.folders = times
    return fresh


def listed(path: str) -> set[str]:
    """The folders of all bundles of a root."""
    return {directory for _, folder in disk.products(path) for directory in disk.bundles(folder)[0]}


def differs(root: Root, directory: str) -> bool:
    """Whether a bundle's files are not as they were when it was read; one not looked at in full yet is taken as the same."""
    item = root.entries.get(directory)
    if item is None or not item.numbers:
        return False
    return disk.stamp(directory, item.names) != item.numbers


def differs_where_it_may(root: Root, directory: str) -> bool:
    """The same by the files that a person, an agent or a run writes: one of them changes with every right change."""
    item = root.entries.get(directory)
    if item is None or not item.numbers:
        return False
    numbers = memoryview(item.numbers).cast("Q")
    for name in WRITTEN:
        if name in item.names:
            at = 2 + 3 * item.names.index(name)  # behind the times of the two folders
            if disk.file_numbers(f"{directory}/{name}") != tuple(numbers[at : at + 3]):
                return True
    return False


def configuration_files(root: str) -> list[str]:
    """The files that may hold a root's configuration, from the nearest up."""
    found: list[str] = []
    here = root
    while True:
        found.append(os.path.join(here, "pyproject.toml"))
        parent = os.path.dirname(here)
        if parent == here:
            return found
        here = parent
