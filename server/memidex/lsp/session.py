"""One client's session: the snapshot, the open buffers over it, and the findings that the client was told.

Everything here lives on the loop's thread. Long work (opening a root, verifying it, checking all of it) runs on the
wire's workers over values that do not change, and its results come back to the loop, where they are taken only if
nothing newer is known.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import msgspec

from memidex.lsp import convert
from memidex.lsp.findings import EMPTY, Report, report
from memidex.lsp.wire import Cancelled, Server
from memidex.records.memidex.bundle import Bundle
from memidex.records.memidex.read import File, parse
from memidex.rules import engine
from memidex.rules.rule import Finding, Selection
from memidex.store import disk, opening
from memidex.store.disk import Stamp
from memidex.store.snapshot import Entry, Root, Snapshot, entry, place_of
from memidex.text import Source

logger = logging.getLogger(__name__)

BATCH = 50
"""Records whose findings come back from a worker at a time."""
STORM = 200
"""Changed files in one burst above which every stamp of the root is looked at instead of each file."""
SETTLE = 0.05
"""Seconds that a burst of outside changes is given to end."""
POLL = 1.0
"""Seconds between two looks at the disk where the client does not watch it."""
SLICE = 0.01
"""Seconds of one such look, so that watching costs about a hundredth of one core."""
SLOW = 0.02
"""Seconds that the check of an edit may take before further edits are gathered first."""


BUNDLE = re.compile(r"/memory/[^/]+/bundles/[^/]+")


class Owner(NamedTuple):
    """Whose findings they are: a bundle's folder, or with an empty one the root itself."""

    root: str
    directory: str


class Buffers:
    """The reader of a root that gives open buffers first, then what was read last, then the disk."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.bundles: dict[str, Bundle] = {}
        """Bundles with an open buffer in them."""
        self.files: dict[str, File] = {}
        """Open files outside bundles: ledgers, `policies.md`."""

    def bundle(self, directory: str) -> Bundle | None:
        return self.bundles.get(directory) or opening.read_bundle(directory, self.root)

    def file(self, path: str) -> File | None:
        if path in self.files:
            return self.files[path]
        return opening.Disk(self.root).file(path)


class Recent:
    """A reader that remembers the last bundles it gave, for work that asks for one several times."""

    KEPT = 2 * BATCH

    def __init__(self, reader: Buffers) -> None:
        self.reader = reader
        self.kept: OrderedDict[str, Bundle | None] = OrderedDict()

    def bundle(self, directory: str) -> Bundle | None:
        if directory not in self.kept:
            self.kept[directory] = self.reader.bundle(directory)
            if len(self.kept) > self.KEPT:
                self.kept.popitem(last=False)
        return self.kept[directory]

    def file(self, path: str) -> File | None:
        return self.reader.file(path)

    def listed(self, items: Iterable[Entry]) -> list[Entry]:
        """The entries of those bundles that were opened by name, with the full stamp of a look at what is there."""
        found: list[Entry] = []
        for item in items:
            if item.numbers.startswith(disk.UNLISTED) and item.directory not in self.reader.bundles:
                contents = disk.read(item.directory, self.reader.root)
                if contents:
                    bundle = opening.bundle_of(item.directory, contents)
                    self.kept[item.directory] = bundle
                    found.append(entry(bundle, contents.stamp))
        return found


class Checked(NamedTuple):
    """The findings of one owner, by file, ready to be sent."""

    owner: Owner
    findings: dict[str, tuple[Finding, ...]]
    reports: dict[str, Report]


class Session:
    """See the module. `publish` is told the files whose findings changed; `moved` the records that did."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.snapshot = Snapshot()
        self.buffers: dict[str, Buffers] = {}
        self.checked: dict[Owner, Checked] = {}
        self.reports: dict[str, Report] = {}
        """What is wrong in each file, as it is sent; files with nothing wrong are left out."""
        self.selections: dict[str, Selection] = {}
        self.epoch = 0
        self.seen: dict[Owner, int] = {}
        """The epoch in which an owner was last checked or changed."""
        self.waiting: OrderedDict[Owner, None] = OrderedDict()
        """Owners to be checked again, those in front of the person first."""
        self.edited: dict[str, None] = {}
        """Paths of open files whose newest text is not in the snapshot yet."""
        self.opening: dict[str, asyncio.Task[None]] = {}
        self.tasks: set[asyncio.Task[Any]] = set()
        self.settling: asyncio.TimerHandle | asyncio.Handle | None = None
        self.settle_took = 0.0
        self.outside: dict[str, set[str]] = {}
        self.outside_timer: asyncio.TimerHandle | None = None
        self.publish: Callable[[Iterable[str]], None] = lambda _paths: None
        self.moved: Callable[[Iterable[str]], None] = lambda _records: None
        self.progress: Callable[[str], Awaitable[Callable[[int, int], None]]] | None = None
        self.select: Callable[[str], Selection] = lambda _root: Selection()
        self.page: Callable[[str], str] = lambda _rule: ""
        self.discovered = asyncio.Event()
        self.sweeps = 0
        self.idle = asyncio.Event()
        self.idle.set()

    # Texts ------------------------------------------------------------------------------------------------------------

    def path(self, uri: str) -> str | None:
        """The path that a `file:` URI names, with forward slashes; None for any other, such as a diff view's."""
        path = convert.uri_to_path(uri)
        return path.replace("\\", "/") if path else None

    def open(self, uri: str) -> None:
        """A document was opened or changed: its text waits to be read into the snapshot."""
        path = self.path(uri)
        if path is None:
            return
        self.edited[path] = None
        if self.snapshot.root_of(path) is None and "/memory/" in path and not self.opening_of(path):
            self.start(self.find_above(path))
        self.schedule()

    def close(self, uri: str) -> None:
        """A document was closed: what is on disk counts again."""
        path = self.path(uri)
        root = self.snapshot.root_of(path) if path else None
        if path is None or root is None:
            return
        self.edited.pop(path, None)
        held = self.buffers[root.path]
        held.files.pop(path, None)
        place = place_of(root.path, path)
        if place and place[0] in held.bundles:
            others = [name for name in self.open_names(place[0]) if name != place[1]]
            if others:
                data = opening.read_bundle(place[0], root.path)
                found = data.files.get(place[1]) if data else None
                held.bundles[place[0]] = held.bundles[place[0]].with_file(place[1], found.data if found else None)
            else:
                del held.bundles[place[0]]
            self.apply_disk(root, [place[0]])
        elif path.endswith("/runs.jsonl"):
            self.ledger_changed(root, path)
        self.schedule()

    def open_names(self, directory: str) -> list[str]:
        """The names in a bundle of the files that are open."""
        paths = [self.path(document.uri) for document in self.server.documents]
        return [path[len(directory) + 1 :] for path in paths if path and path.startswith(directory + "/")]

    def current(self) -> Snapshot:
        """The snapshot with every edit in it."""
        if self.edited:
            for path in list(self.edited):
                del self.edited[path]
                self.apply_buffer(path)
        return self.snapshot

    def apply_buffer(self, path: str) -> None:
        root = self.snapshot.root_of(path)
        document = self.server.documents.find(convert.path_to_uri(path))
        if root is None or document is None:
            return
        held = self.buffers[root.path]
        data = document.source.string.encode("utf-8", "replace")
        place = place_of(root.path, path)
        if place is None:
            held.files[path] = parse(path.rpartition("/")[2], data)
            if path.endswith("/runs.jsonl"):
                self.ledger_changed(root, path)
            return
        directory, name = place
        before = held.bundles.get(directory) or opening.read_bundle(directory, root.path)
        if before is None:
            return
        after = before.with_file(name, data)
        held.bundles[directory] = after
        old = root.entries.get(directory)
        stamp = Stamp(old.names, old.numbers) if old else None
        self.take(root, [entry(after, stamp)], [])

    def source(self, path: str) -> Source:
        """The text of a file of a root as it counts: the buffer's where one is open."""
        root = self.snapshot.root_of(path)
        place = place_of(root.path, path) if root else None
        file = None
        if root and place:
            bundle = root.reader.bundle(place[0])
            file = bundle.files.get(place[1]) if bundle else None
        elif root:
            file = root.reader.file(path)
        return file.source if file else Source("")

    # Roots ------------------------------------------------------------------------------------------------------------

    def start(self, work: Any) -> asyncio.Task[Any]:
        task = asyncio.get_running_loop().create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    async def discover(self, folders: Iterable[str]) -> None:
        """Find and open every root in the workspace's folders, and the one that holds each of them."""
        found: list[str] = []
        for folder in folders:
            above = await self.server.run_cancellable(lambda _cancelled, folder=folder: disk.root_above(folder))
            if above:
                found.append(above)
            else:
                found += await self.server.run_cancellable(
                    lambda cancelled, folder=folder: disk.roots_below(folder, lambda: not cancelled())
                )
        await asyncio.gather(*[self.ensure(path) for path in dict.fromkeys(found)])
        self.discovered.set()

    async def find_above(self, path: str) -> None:
        above = await self.server.run_cancellable(lambda _cancelled: disk.root_above(path))
        if above:
            await self.ensure(above)
            for document in self.server.documents:
                open_path = self.path(document.uri)
                if open_path and open_path.startswith(above + "/"):
                    self.edited[open_path] = None
            self.schedule()

    def opening_of(self, path: str) -> asyncio.Task[None] | None:
        return next(
            (task for root, task in self.opening.items() if path.startswith(root + "/") and not task.done()), None
        )

    def ensure(self, path: str) -> asyncio.Task[None]:
        """The task that opens a root; one for each."""
        if path not in self.opening:
            self.opening[path] = self.start(self.open_root(path))
        return self.opening[path]

    async def ready(self, path: str) -> Snapshot:
        """The snapshot once the root of a file is open, as far as it has one."""
        task = self.opening_of(path)
        if task:
            await asyncio.shield(task)
        return self.current()

    async def open_root(self, path: str) -> None:
        """Open a root: from its cache at once where there is one, then from disk what differs."""
        started = time.monotonic()
        held = self.buffers.setdefault(path, Buffers(path))
        self.selections[path] = self.select(path)
        try:
            root = await self.server.run_cancellable(lambda _cancelled: opening.warm(path, held))
            warm = root is not None
            if root is None:
                tell = await self.progress(f"Reading {path.rpartition('/')[2]}") if self.progress else None
                loop = asyncio.get_running_loop()

                def told(done: int, every: int) -> bool:
                    if tell:
                        loop.call_soon_threadsafe(tell, done, every)
                    return True

                root = await self.server.run_cancellable(lambda _cancelled: opening.cold(path, held, progress=told))
                if tell:
                    tell(len(root.entries), len(root.entries))
        except OSError as error:
            logger.error("cannot open %s: %s", path, error)
            return
        self.snapshot = self.snapshot.with_root(root)
        self.reopen_buffers(path)
        logger.info(
            "%s: %d records in %.2f s (%s)",
            path,
            len(root.entries),
            time.monotonic() - started,
            "warm" if warm else "cold",
        )
        self.start(self.settle_in(path, warm=warm))

    def reopen_buffers(self, path: str) -> None:
        for document in self.server.documents:
            open_path = self.path(document.uri)
            if open_path and open_path.startswith(path + "/"):
                self.edited[open_path] = None
        self.schedule()

    async def settle_in(self, path: str, *, warm: bool) -> None:
        """After a root can be used: look for what changed since its cache was written, check it all, write it again."""
        changed = await self.verify(path) if warm else 1
        await self.sweep(path)
        root = self.root_at(path)
        if changed and root:
            await self.server.run_cancellable(lambda _cancelled: opening.save(root))

    async def verify(self, path: str) -> int:
        """Compare every stamp of a root with the disk and read again what differs; how many bundles that were."""
        root = self.root_at(path)
        if root is None:
            return 0
        changed, gone = await self.server.run_cancellable(lambda _cancelled: opening.changes(root))
        names = await self.server.run_cancellable(lambda _cancelled: disk.is_root(path))
        if not names:
            self.forget(path)
            return len(root.entries)
        if changed or gone:
            await self.reread(path, [*changed, *gone])
        return len(changed) + len(gone)

    async def reread(self, path: str, directories: list[str]) -> None:
        """Read bundles again on a worker, and take them in one step."""
        root = self.root_at(path)
        if root is None or not directories:
            return
        after = await self.server.run_cancellable(lambda _cancelled: read_entries(root, directories))
        root = self.root_at(path)
        if root:
            new = [item for item in after if item.directory not in self.buffers[path].bundles]
            there = {item.directory for item in after}
            self.take(root, new, [directory for directory in directories if directory not in there])
            self.apply_disk(
                self.root_at(path) or root,
                [item.directory for item in after if item.directory in self.buffers[path].bundles],
            )
            self.schedule()

    def root_at(self, path: str) -> Root | None:
        return next((root for root in self.snapshot.roots if root.path == path), None)

    def forget(self, path: str) -> None:
        """A root is no more: nothing of it stays behind."""
        self.snapshot = self.snapshot.without(path)
        self.opening.pop(path, None)
        self.buffers.pop(path, None)
        owners = [owner for owner in self.checked if owner.root == path]
        for owner in owners:
            self.replace_findings(Checked(owner, {}, {}))
            del self.checked[owner]

    # Changes ----------------------------------------------------------------------------------------------------------

    def take(self, root: Root, new: list[Entry], gone: list[str]) -> None:
        """Put changed entries into the snapshot, and remember which findings may change with them."""
        changed = [item for item in new if root.entries.get(item.directory) != item]
        gone = [directory for directory in gone if directory in root.entries]
        touched = {item.directory for item in new} | set(gone)
        near: set[str] = set()
        before = {item.product: root.product(item.product).current for item in changed}
        for directory in touched:
            old = root.entries.get(directory)
            if old and (directory in gone or any(item.directory == directory for item in changed)):
                near |= engine.dependents(root, old)
        after = root.changed(changed, gone)
        for item in changed:
            near |= engine.dependents(after, item)
        for product, ordinal in before.items():
            if after.product(product).current != ordinal:
                near.update(item.directory for item in after.entries.values() if item.product == product)
        self.snapshot = self.snapshot.with_root(after)
        self.epoch += 1
        for directory in gone:
            self.seen[Owner(root.path, directory)] = self.epoch
            self.replace_findings(Checked(Owner(root.path, directory), {}, {}))
        front = set(self.buffers[root.path].bundles)
        for directory in [*(touched - set(gone)), *(near & front), *sorted(near - front)]:
            if directory not in gone:
                owner = Owner(root.path, directory)
                self.seen[owner] = self.epoch
                self.waiting[owner] = None
        for item in changed:
            owner = Owner(root.path, item.directory)
            self.waiting.move_to_end(owner, last=False)
        if changed or gone:
            self.moved([*(item.id for item in changed), *(directory.rpartition("/")[2] for directory in gone)])

    def apply_disk(self, root: Root, directories: Iterable[str]) -> None:
        """Read bundles from disk again, open buffers over them."""
        new: list[Entry] = []
        gone: list[str] = []
        held = self.buffers[root.path]
        for directory in directories:
            found = disk.read(directory, root.path)
            bundle = opening.bundle_of(directory, found) if found else None
            if bundle and directory in held.bundles:
                for name in self.open_names(directory):
                    buffer = held.bundles[directory].files.get(name)
                    if buffer:
                        bundle = bundle.with_file(name, buffer.data)
                held.bundles[directory] = bundle
            if bundle and found:
                new.append(entry(bundle, found.stamp))
            else:
                held.bundles.pop(directory, None)
                gone.append(directory)
        self.take(root, new, gone)

    def ledger_changed(self, root: Root, path: str) -> None:
        """A run ledger changed: every record of the product may fade or wake."""
        product = path.split("/")[-2]
        buffer = self.buffers[root.path].files.get(path)
        after = opening.with_ledger(root, product, buffer.data if buffer else None)
        self.snapshot = self.snapshot.with_root(after)
        self.epoch += 1
        self.waiting[Owner(root.path, "")] = None
        if after.product(product).runs != root.product(product).runs:
            for item in after.entries.values():
                if item.product == product:
                    self.seen[Owner(root.path, item.directory)] = self.epoch
                    self.waiting[Owner(root.path, item.directory)] = None

    def changed_outside(self, paths: Iterable[str]) -> None:
        """Files changed on disk: gathered until the burst ends, then read as one update."""
        for path in paths:
            root = self.snapshot.root_of(path)
            if root is None:
                if "/memory/" in path and "/bundles/" in path and not self.opening_of(path):
                    self.start(self.find_above(path))
                continue
            self.outside.setdefault(root.path, set()).add(path)
        if self.outside and self.outside_timer is None:
            self.outside_timer = asyncio.get_running_loop().call_later(SETTLE, self.settle_outside)

    def settle_outside(self) -> None:
        self.outside_timer = None
        gathered, self.outside = self.outside, {}
        for path, paths in gathered.items():
            self.start(self.read_outside(path, paths))

    async def read_outside(self, path: str, paths: set[str]) -> None:
        root = self.root_at(path)
        if root is None:
            return
        for ledger in [item for item in paths if item.endswith("/runs.jsonl")]:
            self.ledger_changed(self.root_at(path) or root, ledger)
        directories: set[str] = set()
        whole = False
        for item in paths:
            place = BUNDLE.match(item[len(path) :])
            if place:
                directories.add(path + place.group())
            elif not item.endswith(("/runs.jsonl", "policies.md")):
                whole = True  # a folder above the bundles
        if whole or len(directories) > STORM:
            await self.verify(path)
        else:
            await self.reread(path, sorted(directories))
        self.schedule()

    async def poll(self) -> None:
        """Look for outside changes where the client does not tell of them: a slice of the stamps at a time.

        What is open is looked at each time, then as many of the others as fit in a slice, round and round.
        """
        at: dict[str, int] = {}
        while True:
            await asyncio.sleep(POLL)
            for root in self.snapshot.roots if not self.sweeps else ():
                found, at[root.path] = await self.server.run_cancellable(
                    lambda _cancelled, root=root: look(
                        root, at.get(root.path, 0), list(self.buffers[root.path].bundles)
                    )
                )
                if found == {""}:
                    await self.verify(root.path)
                elif found:
                    self.changed_outside(
                        [f"{directory}/record.md" if "/bundles/" in directory else directory for directory in found]
                    )

    # Findings ---------------------------------------------------------------------------------------------------------

    def schedule(self) -> None:
        """Check what waits soon: at once after a quick check, a little later where checks are slow."""
        if self.settling is None:
            self.idle.clear()
            loop = asyncio.get_running_loop()
            if self.settle_took > SLOW:
                self.settling = loop.call_later(min(1.0, 2 * self.settle_took), self.settle)
            else:
                self.settling = loop.call_soon(self.settle)

    def settle(self) -> None:
        """Check what waits, for a moment at a time, and tell the client what differs."""
        self.settling = None
        started = time.perf_counter()
        self.current()
        published: list[str] = []
        while self.waiting:
            owner, _ = self.waiting.popitem(last=False)
            published += self.check(owner)
            if time.perf_counter() - started > SLICE:
                break
        self.settle_took = time.perf_counter() - started
        if published:
            self.publish(dict.fromkeys(published))
        if self.waiting:
            self.settling = asyncio.get_running_loop().call_later(0.001, self.settle)
        else:
            self.idle.set()

    def check(self, owner: Owner) -> list[str]:
        """Check one owner now; the files whose findings changed."""
        root = self.root_at(owner.root)
        if root is None:
            return []
        return self.replace_findings(
            checked(
                replace(root, reader=Recent(self.buffers[owner.root])),
                owner,
                self.selection(owner.root),
                self.server.encoding,
                self.page,
            )
        )

    def selection(self, root: str) -> Selection:
        return self.selections.get(root, Selection())

    def replace_findings(self, new: Checked) -> list[str]:
        """Take an owner's findings; the files whose reports changed."""
        old = self.checked.get(new.owner)
        paths = {*(old.reports if old else ()), *new.reports}
        differ = [
            path
            for path in sorted(paths)
            if self.reports.get(path, EMPTY).result_id != new.reports.get(path, EMPTY).result_id
        ]
        for path in paths:
            if path in new.reports:
                self.reports[path] = new.reports[path]
            else:
                self.reports.pop(path, None)
        if new.reports:
            self.checked[new.owner] = new
        else:
            self.checked.pop(new.owner, None)
        return differ

    def findings(self, path: str) -> tuple[Finding, ...]:
        """What is wrong in a file, as last checked."""
        root = self.snapshot.root_of(path)
        if root is None:
            return ()
        place = place_of(root.path, path)
        found = self.checked.get(Owner(root.path, place[0] if place else ""))
        return found.findings.get(path, ()) if found else ()

    async def report(self, path: str) -> Report:
        """The diagnostics of one file, up to date."""
        await self.ready(path)
        root = self.snapshot.root_of(path)
        if root is None:
            return EMPTY
        place = place_of(root.path, path)
        owner = Owner(root.path, place[0] if place else "")
        if owner in self.waiting or owner not in self.seen:
            self.waiting.pop(owner, None)
            self.seen[owner] = self.epoch
            self.publish(self.check(owner))
        return self.reports.get(path, EMPTY)

    async def whole(self) -> None:
        """Wait until everything that is open was checked."""
        await self.discovered.wait()
        while True:
            running = [task for task in self.opening.values() if not task.done()]
            if running:
                await asyncio.gather(*[asyncio.shield(task) for task in running])
            elif self.sweeps or self.waiting or self.settling:
                await asyncio.sleep(0.01)
            else:
                return

    async def sweep(self, path: str) -> None:
        """Check a whole root on a worker. What is edited meanwhile is checked on its own and wins."""
        self.sweeps += 1
        try:
            root = self.root_at(path)
            if root is None:
                return
            epoch = self.epoch
            recent = Recent(self.buffers[path])
            root = replace(root, reader=recent)
            selection, encoding, page = self.selection(path), self.server.encoding, self.page
            owners = [Owner(path, ""), *(Owner(path, directory) for directory in sorted(root.entries))]
            for start in range(0, len(owners), BATCH):
                batch = [owner for owner in owners[start : start + BATCH] if self.seen.get(owner, 0) <= epoch]

                def work(
                    _cancelled: Cancelled, batch: list[Owner] = batch, root: Root = root
                ) -> tuple[list[Checked], list[Entry]]:
                    fresh = recent.listed([root.entries[owner.directory] for owner in batch if owner.directory])
                    return [checked(root, owner, selection, encoding, page) for owner in batch], fresh

                results, fresh = await self.server.run_cancellable(work)
                self.restamp(path, fresh)
                differ: list[str] = []
                for result in results:
                    if self.seen.get(result.owner, 0) <= epoch and self.root_at(path):
                        self.seen.setdefault(result.owner, epoch)
                        differ += self.replace_findings(result)
                if differ:
                    self.publish(differ)
        finally:
            self.sweeps -= 1

    def restamp(self, path: str, fresh: list[Entry]) -> None:
        """Take the full stamps of bundles that a cold start opened by name, unless they changed since."""
        root = self.root_at(path)
        if root is None or not fresh:
            return
        same = [item for item in fresh if alike(root.entries.get(item.directory), item)]
        if same:
            self.snapshot = self.snapshot.with_root(root.restamped(same))
        changed = [
            item for item in fresh if item.directory in root.entries and not alike(root.entries[item.directory], item)
        ]
        if changed:
            self.changed_outside([f"{item.directory}/record.md" for item in changed])

    def configure(self) -> None:
        """The configuration changed: everything is checked again."""
        self.epoch += 1
        self.selections = {root.path: self.select(root.path) for root in self.snapshot.roots}
        for root in self.snapshot.roots:
            for directory in self.buffers[root.path].bundles:
                self.seen[Owner(root.path, directory)] = self.epoch
                self.waiting[Owner(root.path, directory)] = None
            self.seen = {
                owner: epoch for owner, epoch in self.seen.items() if owner.root != root.path or owner in self.waiting
            }
            self.start(self.sweep(root.path))
        self.schedule()


def checked(root: Root, owner: Owner, selection: Selection, encoding: Any, page: Callable[[str], str]) -> Checked:
    """The findings of one owner, with everything that sending them needs."""
    if not owner.directory:
        found = engine.check_root(root, selection)
    else:
        item = root.entries.get(owner.directory)
        found = engine.check_entry(item, root, selection) if item else []
    by_path: dict[str, list[Finding]] = {}
    for finding in found:
        by_path.setdefault(finding.path, []).append(finding)

    def source(path: str) -> Source:
        place = place_of(root.path, path)
        if place:
            bundle = root.reader.bundle(place[0])
            file = bundle.files.get(place[1]) if bundle else None
        else:
            file = root.reader.file(path)
        return file.source if file else Source("")

    return Checked(
        owner,
        {path: tuple(items) for path, items in by_path.items()},
        {path: report(items, source(path), encoding, source, page) for path, items in by_path.items()},
    )


def alike(one: Entry | None, two: Entry) -> bool:
    """Whether two entries say the same, whatever their stamps."""
    return one is not None and msgspec.structs.replace(one, names=two.names, numbers=two.numbers) == two


def read_entries(root: Root, directories: Iterable[str]) -> list[Entry]:
    """The entries of bundles as they are on disk now; those that are gone are left out."""
    found: list[Entry] = []
    for directory in directories:
        contents = disk.read(directory, root.path)
        if contents:
            found.append(entry(opening.bundle_of(directory, contents), contents.stamp))
    return found


def look(root: Root, start: int, first: list[str]) -> tuple[set[str], int]:
    """(folders and ledgers that changed, where to go on), from a slice of a root's stamps; {""} for a new or lost bundle."""
    found: set[str] = set()
    there = 0
    for name, folder in disk.products(root.path):
        there += len(disk.bundles(folder)[0])
        ledger = f"{root.path}/memory/{name}/runs.jsonl"
        if disk.file_numbers(ledger) != root.product(name).ledger:
            found.add(ledger)
    if there != len(root.entries):
        return {""}, start
    items = list(root.entries.items())
    deadline = time.perf_counter() + SLICE
    wanted = [(directory, root.entries[directory]) for directory in first if directory in root.entries]
    at = start
    for index in range(len(items) + len(wanted)):
        if index >= len(wanted):
            if time.perf_counter() > deadline:
                break
            directory, item = items[at % len(items)]
            at += 1
        else:
            directory, item = wanted[index]
        if disk.stamp(directory, item.names) != item.numbers:
            found.add(directory)
    return found, at % max(1, len(items))
