"""One client's session: the snapshot, the open buffers over it, and the findings that the client was told.

Everything here lives on the loop's thread. Long work (opening a root, reading bundles again, checking many records)
runs on the wire's workers over values that do not change, and its results come back to the loop, where they are taken
only if nothing newer is known.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any, Literal, NamedTuple, ParamSpec, Protocol, TypeVar

from memidex.lsp import convert
from memidex.lsp.checking import (
    NO_FINDINGS,
    Buffers,
    Checked,
    Owner,
    check_owners,
    checked,
    owner_of,
    source_of,
    with_text,
)
from memidex.lsp.documents import Document
from memidex.lsp.findings import EMPTY, Report
from memidex.lsp.reading import (
    STORM,
    Opened,
    Reading,
    bundle_of,
    opened,
    outline,
    overlaid,
    product_of_ledger,
    read_again,
    restamped,
    stamp_in,
    store,
)
from memidex.lsp.watching import Watch, look
from memidex.lsp.wire import Cancelled, Server
from memidex.records.memidex.bundle import Bundle
from memidex.rules import engine
from memidex.rules.rule import Finding, Selection
from memidex.store import disk, opening
from memidex.store.snapshot import Entry, Root, Snapshot, entry, place_of
from memidex.text import Source, decode
from memidex.text.source import BOM

logger = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

BATCH = 50
"""Records that are checked on a worker at a time."""
SETTLE = 0.05
"""Seconds that a burst of outside changes is given to end."""
POLL = 1.0
"""Seconds between two looks at the disk."""
SLICE = 0.01
"""Seconds of checking on the loop's thread, between which messages are read."""
HEAVY = 256 * 1024
"""Characters of a text from which on it is read and checked on a worker."""
DISCOVERY_SHARE = 50
"""A search for new roots may run once in so many times as long as it took."""


class Events(Protocol):
    """Who is told what happens."""

    def publish(self, paths: Iterable[str]) -> None:
        """The findings of these files changed, or their text did."""

    def moved(self, records: Iterable[str]) -> None:
        """These records are not as they were; by id."""

    async def begin(self, title: str) -> Callable[[int, int], None]:
        """Long work begins: the way to tell how far it is, (done, all); the last call has both equal."""
        ...

    def select(self, root: str) -> Selection:
        """The rules for a root."""
        ...

    def excluded(self, folder: str, root: str) -> bool:
        """Whether the configuration of a workspace folder leaves out a root below it."""
        ...

    def page(self, rule: str) -> str:
        """The address of a rule's page; empty where there is none."""
        ...


class Overtaken(NamedTuple):
    """The text that a client has of a file that a decision wrote to, and the text that the decision left there."""

    text: str
    left: str


class Session:
    """See the module."""

    def __init__(self, server: Server, events: Events) -> None:
        self.server = server
        self.events = events
        self.snapshot = Snapshot()
        self.buffers: dict[str, Buffers] = {}
        self.selections: dict[str, Selection] = {}
        self.checked: dict[Owner, Checked] = {}
        """Owners with findings; the others are left out."""
        self.reports: dict[str, Report] = {}
        """What is wrong in each file, as it is sent; files with nothing wrong are left out."""
        self.unpublished: dict[str, None] = {}
        # Names
        self.uris: dict[str, str] = {}
        """The open documents' URIs, by path."""
        self.aliases: dict[str, str] = {}
        """Other spellings of roots, through symbolic links, to the one that is used."""
        # What is to be done
        self.epoch = 1
        self.floor = 0
        """The epoch before which nothing that was checked counts."""
        self.changed: dict[Owner, int] = {}
        """The epoch of an owner's last change, while checks from before it may be under way."""
        self.waiting: OrderedDict[Owner, None] = OrderedDict()
        """Owners to be checked, the most urgent first."""
        self.flying: dict[Owner, None] = {}
        """Owners that are being checked on a worker."""
        self.edited: dict[str, None] = {}
        """Paths of open files whose newest text is not in the snapshot yet."""
        self.heavy: dict[str, asyncio.Task[None]] = {}
        """Large open files that are being read."""
        self.overtaken: dict[str, Overtaken] = {}
        """Open files that a decision wrote to, and that the client may not have read again yet."""
        self.crew: asyncio.Task[None] | None = None
        self.settling: asyncio.TimerHandle | asyncio.Handle | None = None
        self.settle_took = 0.0
        self.idle = asyncio.Event()
        """Whether everything is read and checked."""
        self.idle.set()
        # The disk
        self.opening: dict[str, asyncio.Task[None]] = {}
        self.searching: dict[str, asyncio.Task[None]] = {}
        """Searches upwards for the root of a file that no known root has, by folder."""
        self.one_root = asyncio.Lock()
        """Roots are read one after the other, so that workers are left for requests."""
        self.discovered = asyncio.Event()
        self.outside: dict[str, set[str]] = {}
        """Paths that changed on disk, by root; the root itself stands for all of it."""
        self.outside_timer: asyncio.TimerHandle | None = None
        self.reading: dict[str, asyncio.Lock] = {}
        self.watches: dict[str, Watch] = {}
        self.tasks: set[asyncio.Task[Any]] = set()

    # Names ------------------------------------------------------------------------------------------------------------

    def path(self, uri: str) -> str | None:
        """The path that a `file:` URI names, with forward slashes; None for any other, such as a diff view's."""
        path = convert.uri_to_path(uri)
        if not path:
            return None
        path = path.replace("\\", "/")
        for alias, real in self.aliases.items():
            if path.startswith(alias + "/") or path == alias:
                return real + path[len(alias) :]
        return path

    def uri(self, path: str) -> str:
        """The URI of a file, spelt as the client spells it where it has it open."""
        return self.uris.get(path) or convert.path_to_uri(path)

    def document(self, path: str) -> Document | None:
        """The document that is open on a file."""
        uri = self.uris.get(path)
        return self.server.documents.find(uri) if uri else None

    def root_at(self, path: str) -> Root | None:
        return next((root for root in self.snapshot.roots if root.path == path), None)

    def start(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run a task of the session; what makes it fail is logged."""
        task = asyncio.get_running_loop().create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.done)
        return task

    async def away(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What a function gives, run on a worker."""
        return await self.server.run_cancellable(lambda _cancelled: function(*args, **kwargs))

    def done(self, task: asyncio.Task[Any]) -> None:
        self.tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("%s failed", task.get_coro(), exc_info=error)
            self.rest()

    def stop(self) -> None:
        """The session is over: nothing is begun any more, and what runs is called off."""
        for task in list(self.tasks):
            task.cancel()
        for timer in (self.settling, self.outside_timer):
            if timer:
                timer.cancel()

    # Texts ------------------------------------------------------------------------------------------------------------

    def open(self, uri: str) -> None:
        """A document was opened: its text counts, not the disk's."""
        path = self.path(uri)
        if path is None:
            return
        self.uris[path] = uri
        self.unpublished[path] = None
        root = self.snapshot.root_of(path)
        if root is None:
            if "/memory/" in path and not self.opening_of(path):
                self.search(path)
        else:
            place = place_of(root.path, path)
            if place and place[0] not in root.entries:
                self.changed_outside([path])  # a bundle that we have not heard of yet
        self.change(uri)

    def change(self, uri: str) -> None:
        """A document's text changed; it waits to be read into the snapshot."""
        path = self.path(uri)
        if path is not None:
            self.edited[path] = None
            self.schedule()

    def close(self, uri: str) -> None:
        """A document was closed: what is on disk counts again."""
        path = self.path(uri)
        if path is None:
            return
        self.uris.pop(path, None)
        self.edited.pop(path, None)
        self.overtaken.pop(path, None)
        self.unpublished[path] = None
        root = self.snapshot.root_of(path)
        if root is not None:
            self.buffers[root.path].marked.pop(path, None)
            place = place_of(root.path, path)
            if place and self.weight(Owner(root.path, place[0])) == "large":
                self.changed_outside([path])
            elif place:
                self.take_read(root.path, read_again(root, [place[0]]))
            elif self.buffers[root.path].files.pop(path, None):
                self.file_changed(root.path, path)
        self.schedule()

    def current(self) -> Snapshot:
        """The snapshot with every edit in it, but for large texts that are still being read."""
        for path in list(self.edited):
            document = self.document(path)
            if document and len(document.source) > HEAVY and self.snapshot.root_of(path):
                if path not in self.heavy:
                    self.heavy[path] = self.start(self.apply_heavy(path))
            else:
                del self.edited[path]
                self.apply(path)
        return self.snapshot

    def before(self, root: Root, directory: str) -> Bundle | None:
        """A bundle as it is before an edit; None for a folder that is none, or is gone."""
        if directory not in root.entries:
            return None
        held = self.buffers[root.path].bundles.get(directory)
        return held or opening.read_bundle(directory, root.path)

    def apply(self, path: str) -> None:
        """Read an open document into the snapshot."""
        root = self.snapshot.root_of(path)
        document = self.document(path)
        if root is None or document is None:
            return
        source = self.counted(path, document.source)
        held = self.buffers[root.path]
        if source.string.startswith(BOM):
            held.marked[path] = source
        else:
            held.marked.pop(path, None)
        place = place_of(root.path, path)
        if place is None:
            held.files[path] = overlaid(held.file(path), path.rpartition("/")[2], source)
            self.file_changed(root.path, path)
            return
        directory, name = place
        before = self.before(root, directory)
        if before is not None:
            after = with_text(before, name, source)
            self.take_buffer(root, after, entry(after, stamp_in(root, directory)))

    async def apply_heavy(self, path: str) -> None:
        """The same on a worker, over and over while the text goes on changing."""
        try:
            while path in self.edited:
                del self.edited[path]
                root, document = self.snapshot.root_of(path), self.document(path)
                place = place_of(root.path, path) if root else None
                if root is None or document is None:
                    continue
                if place is None:
                    self.apply(path)
                    continue
                before = self.buffers[root.path].bundles.get(place[0])
                counted = self.counted(path, document.source)

                def work(
                    _cancelled: Cancelled,
                    root: Root = root,
                    before: Bundle | None = before,
                    place: tuple[str, str] = place,
                    source: Source = counted,
                ) -> tuple[Bundle, Entry] | None:
                    known = before or (opening.read_bundle(place[0], root.path) if place[0] in root.entries else None)
                    after = with_text(known, place[1], source) if known else None
                    return (after, entry(after, stamp_in(root, place[0]))) if after else None

                found = await self.server.run_cancellable(work)
                now = self.root_at(root.path)
                if found and now and self.document(path) and place[0] in now.entries:
                    held = self.buffers[root.path].bundles.get(place[0])
                    if held is before:
                        self.take_buffer(now, *found)
                    else:  # another file of the bundle was edited meanwhile
                        self.edited[path] = None
        finally:
            del self.heavy[path]
        self.schedule()

    def counted(self, path: str, source: Source) -> Source:
        """What counts of an open file: its text, which wins over the disk.

        Only while it is still the text from before a decision wrote to the file, which is nobody's edit, and the file is
        still as the decision left it, does the file count. What others write is not mixed with what the person sees.
        """
        known = self.overtaken.get(path)
        if known is None or known.text != source.string:
            return source
        now = self.on_disk(path)
        return now if now is not None and now.string == known.left else source

    def on_disk(self, path: str) -> Source | None:
        """The text of a root's file on disk; None where it cannot be read."""
        root = self.snapshot.root_of(path)
        found = disk.read_other(path, root.path) if root else None
        return Source(decode(found)[0]) if isinstance(found, bytes) else None

    def take_buffer(self, root: Root, bundle: Bundle, item: Entry) -> None:
        self.buffers[root.path].bundles[bundle.directory] = bundle
        self.take(root, [item], [])

    def text(self, path: str) -> Source:
        """The text of a file as it counts, and as the client counts its columns."""
        document = self.document(path)
        if document:
            return document.source
        root = self.snapshot.root_of(path)
        return source_of(root, path) if root else Source("")

    # Roots ------------------------------------------------------------------------------------------------------------

    async def discover(self, folders: Iterable[str]) -> None:
        """Find and open the root that holds each of the workspace's folders, or else every root below it."""
        found: list[str] = []
        try:
            for folder in folders:
                found += await self.server.run_cancellable(self.searched, folder)
            await asyncio.gather(*[self.ensure(path) for path in dict.fromkeys(found)])
        finally:
            self.discovered.set()

    def searched(self, cancelled: Cancelled, folder: str) -> list[str]:
        """The roots of a workspace folder, as the command line finds them; runs on a worker."""
        above = disk.root_above(folder)
        if above:
            return [above]
        looked_at = 0

        def goes_on() -> bool:
            nonlocal looked_at
            looked_at += 1
            return not cancelled()

        below = disk.roots_below(folder, goes_on)
        if looked_at >= disk.MAX_SEARCHED:
            logger.warning("%s: searched %d folders for knowledge roots, and no further", folder, looked_at)
        return [root for root in below if root == folder or not self.events.excluded(folder, root)]

    def search(self, path: str) -> None:
        """Look for the root above a file that no known root has."""
        folder = path.partition("/memory/")[0]
        if folder not in self.searching:
            self.searching[folder] = self.start(self.find_above(folder, path))

    async def find_above(self, folder: str, path: str) -> None:
        try:
            above = await self.away(disk.root_above, path)
            if above:
                await self.ensure(above)
        finally:
            del self.searching[folder]

    def opening_of(self, path: str) -> asyncio.Task[None] | None:
        return next((task for root, task in self.opening.items() if path.startswith(root + "/")), None)

    async def ensure(self, path: str) -> None:
        """Have a root open, unless it is one that is known by another name."""
        real = os.path.realpath(path).replace("\\", "/")
        for known in {*self.opening, *(root.path for root in self.snapshot.roots)}:
            if known != path and os.path.realpath(known).replace("\\", "/") == real:
                self.aliases[path] = known
                self.uris = {
                    here: document.uri for document in self.server.documents if (here := self.path(document.uri))
                }
                self.reopen_buffers(known)
                return
        if self.root_at(path) is None:
            if path not in self.opening:
                self.idle.clear()
                self.opening[path] = self.start(self.open_root(path))
            await asyncio.shield(self.opening[path])

    async def ready(self, path: str) -> Snapshot:
        """The snapshot once the root of a file is open, as far as it has one, and its text is read."""
        if self.snapshot.root_of(path) is None:
            for task in (self.searching.get(path.partition("/memory/")[0]), self.opening_of(path)):
                if task:
                    await asyncio.wait([task])
        snapshot = self.current()
        while (task := self.heavy.get(path)) is not None:
            await asyncio.wait([task])
            snapshot = self.current()
        return snapshot

    async def open_root(self, path: str) -> None:
        """Open a root: from its cache where there is one and from disk what differs, or all from disk."""
        started = time.monotonic()
        self.watches[path] = Watch(path)
        try:
            found = await self.read_root(path, self.buffers.setdefault(path, Buffers(path)))
            if found is None:
                del self.buffers[path]
                return
            self.selections[path] = self.events.select(path)
            self.snapshot = self.snapshot.with_root(found.root)
        finally:
            del self.opening[path]
            self.rest()
        took = time.monotonic() - started
        how = "warm" if found.warm else "cold"
        logger.info("%s: %d records in %.2f s (%s)", path, len(found.root.entries), took, how)
        self.check_again(path)
        self.reopen_buffers(path)
        self.settle_outside()
        self.events.moved(())
        if found.differs:
            self.start(self.remember(path))

    async def read_root(self, path: str, held: Buffers) -> Opened | None:
        """What is in a root, read on a worker, or None where it cannot be read; the client is told how far it is."""
        loop = asyncio.get_running_loop()
        tell: Callable[[int, int], None] | None = None
        begun = ended = False

        async def begin() -> None:
            nonlocal tell
            tell = await self.events.begin(f"Reading {path.rpartition('/')[2]}")
            if ended:
                tell(1, 1)

        def told(done: int, every: int) -> None:
            nonlocal begun
            if not begun:
                begun = True
                loop.call_soon_threadsafe(lambda: self.start(begin()))
            elif tell and done < every:
                loop.call_soon_threadsafe(tell, done, every)

        try:
            async with self.one_root:
                return await self.server.run_cancellable(lambda cancelled: opened(path, held, told, cancelled))
        except OSError as error:
            logger.error("cannot open %s: %s", path, error)
            return None
        finally:
            ended = True
            if tell:
                tell(1, 1)

    async def remember(self, path: str) -> None:
        """Write a root's cache once all of it is checked, unsaved texts left out."""
        await self.idle.wait()
        root = self.root_at(path)
        if root:
            unsaved = set(self.buffers[path].bundles)
            await self.away(store, root, unsaved)

    def reopen_buffers(self, path: str) -> None:
        """The documents that are open in a folder are read again."""
        for here in self.uris:
            if here.startswith(path + "/"):
                self.edited[here] = None
        self.schedule()

    def forget(self, path: str) -> None:
        """A root is no more: nothing of it stays behind."""
        self.snapshot = self.snapshot.without(path)
        for owner in [owner for owner in self.checked if owner.root == path]:
            self.replace_findings(owner, NO_FINDINGS)
        for table in (self.waiting, self.changed):
            for owner in [owner for owner in table if owner.root == path]:
                del table[owner]
        for table in (self.buffers, self.selections, self.outside, self.reading, self.watches):
            table.pop(path, None)
        self.aliases = {alias: real for alias, real in self.aliases.items() if real != path}
        self.events.moved(())
        self.schedule()

    def leave(self, folder: str, kept: Iterable[str]) -> None:
        """A workspace folder is left: its roots are forgotten, unless they are another folder's too."""
        folders = [item + "/" for item in kept]
        for root in self.snapshot.roots:
            here = root.path + "/"
            mine = here.startswith(folder + "/") or (folder + "/").startswith(here)
            if mine and not any(here.startswith(other) or other.startswith(here) for other in folders):
                self.forget(root.path)

    # Changes ----------------------------------------------------------------------------------------------------------

    def take(self, root: Root, new: list[Entry], gone: list[str]) -> None:
        """Put changed entries into the snapshot, and remember which findings may change with them."""
        changed = [item for item in new if root.entries.get(item.directory) != item]
        gone = [directory for directory in gone if directory in root.entries]
        self.take_root(root, root.changed(changed, gone), [item.directory for item in new], changed, gone)

    def take_root(self, root: Root, after: Root, touched: list[str], changed: list[Entry], gone: list[str]) -> None:
        """Put `after` in the place of `root`, from which it differs in the entries that changed or are gone."""
        self.snapshot = self.snapshot.with_root(after)
        self.epoch += 1
        if len(changed) + len(gone) > STORM:
            self.check_again(root.path)
        else:
            near: set[str] = set()
            for directory in [*gone, *(item.directory for item in changed)]:
                for side in (root, after):
                    item = side.entries.get(directory)
                    near |= engine.dependents(side, item) if item else set()
            for product in {item.product for item in changed} | {root.entries[directory].product for directory in gone}:
                if after.product(product).current != root.product(product).current:
                    near.update(item.directory for item in after.entries.values() if item.product == product)
            self.wait_for(root.path, near - set(gone))
        self.wait_for(root.path, touched)
        if len(touched) <= STORM:
            for directory in touched:
                self.waiting.move_to_end(Owner(root.path, directory), last=False)
        for directory in gone:
            owner = Owner(root.path, directory)
            self.buffers[root.path].bundles.pop(directory, None)
            self.waiting.pop(owner, None)
            self.replace_findings(owner, NO_FINDINGS)
        if changed or gone:
            self.events.moved([*(item.id for item in changed), *(root.entries[directory].id for directory in gone)])
        self.schedule()

    def wait_for(self, root: str, directories: Iterable[str]) -> None:
        """These owners are to be checked again, with everything known now; what is open comes first."""
        front = self.buffers[root].bundles
        for directory in directories:
            owner = Owner(root, directory)
            self.changed[owner] = self.epoch
            self.waiting[owner] = None
            if directory in front:
                self.waiting.move_to_end(owner, last=False)

    def check_again(self, path: str) -> None:
        """A whole root is to be checked again, what is open first."""
        root = self.root_at(path)
        if root:
            self.epoch += 1
            self.wait_for(path, ["", *sorted(root.entries)])
            self.schedule()

    def file_changed(self, path: str, file: str) -> None:
        """A file outside the bundles changed. With a run ledger every record of its product may fade or wake."""
        root = self.root_at(path)
        if root is None:
            return
        self.epoch += 1
        product = product_of_ledger(path, file)
        if product is not None:
            buffer = self.buffers[path].files.get(file)
            after = opening.with_ledger(root, product, buffer.data if buffer else None)
            self.snapshot = self.snapshot.with_root(after)
            if after.product(product).runs != root.product(product).runs:
                of_product = [item for item in after.entries.values() if item.product == product]
                self.wait_for(path, [item.directory for item in of_product])
                self.events.moved([item.id for item in of_product])
        self.wait_for(path, [""])
        self.waiting.move_to_end(Owner(path, ""), last=False)
        self.schedule()

    def changed_outside(self, paths: Iterable[str]) -> None:
        """Files or folders changed on disk: gathered until the burst ends, then read as one update."""
        for path in paths:
            root = self.snapshot.root_of(path)
            being_opened = next((root for root in self.opening if path.startswith(root + "/")), None)
            if root or being_opened:
                self.outside.setdefault(root.path if root else str(being_opened), set()).add(path)
            elif "/memory/" in path + "/":
                self.search(path)
            for known in self.snapshot.roots:
                if known.path.startswith(path + "/"):
                    self.outside.setdefault(known.path, set()).add(known.path)  # a folder above it
        if self.outside and self.outside_timer is None:
            self.idle.clear()
            self.outside_timer = asyncio.get_running_loop().call_later(SETTLE, self.settle_outside)

    def settle_outside(self) -> None:
        if self.outside_timer:
            self.outside_timer.cancel()
        self.outside_timer = None
        for path in [path for path in self.outside if path not in self.opening]:
            self.start(self.read_outside(path))
        self.rest()

    async def read_outside(self, path: str) -> None:
        """Read what changed outside in a root. One such reading at a time, so that the newest is taken last."""
        lock = self.reading.setdefault(path, asyncio.Lock())
        async with lock:
            paths = self.outside.get(path, set())
            # Kept while it is read, for `idle`.
            self.outside[path] = set()
            try:
                await self.read_paths(path, paths)
            finally:
                if not self.outside.get(path):
                    self.outside.pop(path, None)
        if path in self.outside:
            self.start(self.read_outside(path))
        self.schedule()

    async def read_paths(self, path: str, paths: set[str]) -> None:
        root = self.root_at(path)
        if root is None or not paths:
            return
        directories: set[str] = set()
        whole = False
        for item in paths:
            directory = bundle_of(path, item)
            if directory:
                directories.add(directory)
            elif item == f"{path}/.memidex/short-ids.jsonl":
                continue
            elif item.endswith(("/runs.jsonl", "/policies.md")):
                self.file_changed(path, item)
            else:
                whole = True  # a folder above the bundles
        if f"{path}/.memidex/short-ids.jsonl" in paths:
            numbers = await self.away(opening.short_ids, path)
            root = self.root_at(path)
            if root:
                self.snapshot = self.snapshot.with_root(root.with_short_ids(numbers))
                self.events.moved(())
        if whole or len(directories) > STORM:
            await self.verify(path)
        elif directories:
            await self.read_directories(path, sorted(directories))

    async def read_directories(self, path: str, directories: list[str] | None) -> None:
        """Read bundles again on a worker, or with None those whose stamps differ, and take them in one step."""
        while (root := self.root_at(path)) is not None:
            epoch = self.epoch
            found = await self.away(read_again, root, directories)
            now = self.root_at(path)
            if now is None:
                return
            if now is not root and (
                found.after or any(self.changed.get(Owner(path, one), 0) > epoch for one in found.directories)
            ):
                continue  # something was read meanwhile, perhaps newer than what we have
            self.take_read(path, found)
            return

    async def take_written(self, path: str, directories: Iterable[str], texts: Mapping[str, str]) -> None:
        """Read again what a decision wrote in a root.

        `texts` are those that are open on what it wrote, by path, as they were when it was made: none held an edit then.
        """
        for open_path, text in texts.items():
            document = self.document(open_path)
            left = self.on_disk(open_path)
            appended = left is not None and (not open_path.endswith(".jsonl") or left.string.startswith(text))
            if left is not None and appended and document and document.source.string == text != left.string:
                self.overtaken[open_path] = Overtaken(text, left.string)
        lock = self.reading.setdefault(path, asyncio.Lock())
        async with lock:
            held = self.buffers.get(path)
            for open_path in texts if held else ():
                if held and held.files.pop(open_path, None):
                    self.edited[open_path] = None
            await self.read_directories(path, sorted(directories))
        self.schedule()

    def take_read(self, path: str, found: Reading) -> None:
        """Take what was read from disk, and open buffers over it."""
        root = self.root_at(path)
        if root is None:
            return
        held = self.buffers[path].bundles
        for directory in found.directories:
            held.pop(directory, None)
        if found.after is not None:
            changed = [item for item in found.new if root.entries.get(item.directory) != item]
            self.take_root(root, found.after, [item.directory for item in found.new], changed, found.gone)
        else:
            self.take(root, found.new, found.gone)
        again = set(found.directories)
        for open_path in self.uris:
            place = place_of(path, open_path)
            if place and place[0] in again:
                self.edited[open_path] = None
        self.current()
        self.schedule()

    async def verify(self, path: str) -> None:
        """Compare every stamp of a root with the disk, and read again what differs."""
        ledgers, links = await self.away(outline, path)
        root = self.root_at(path)
        if root is None:
            return
        if not ledgers:
            logger.info("%s: no knowledge root any more", path)
            self.forget(path)
            return
        for name in {*ledgers, *root.products}:
            if ledgers.get(name, (0, 0, 0)) != root.product(name).ledger:
                self.file_changed(path, f"{path}/memory/{name}/runs.jsonl")
        await self.read_directories(path, None)
        root = self.root_at(path)
        if root and root.links != links:
            self.snapshot = self.snapshot.with_root(replace(root, links=links))
            self.epoch += 1
            self.wait_for(path, [""])

    async def watch(self, *, closely: bool) -> None:
        """Look for outside changes: that roots are there and which records, and closely, each file where nobody tells us.

        Of many records what is open is looked at each time, and as many of the others as fit, round and round.
        """
        next_search = time.monotonic() + 5
        while True:
            await asyncio.sleep(POLL if closely else 3 * POLL)
            try:
                await self.look_at_all(closely=closely)
                if closely and time.monotonic() > next_search:
                    started = time.monotonic()
                    await self.discover(self.folders())
                    now = time.monotonic()
                    next_search = now + max(5, DISCOVERY_SHARE * (now - started))
            except Exception:
                logger.exception("looking at the disk failed")

    async def look_at_all(self, *, closely: bool) -> None:
        for root in self.snapshot.roots:
            if root.path in self.outside or root.path not in self.watches:
                continue
            seen = self.watches[root.path]
            first = list(self.buffers[root.path].bundles) if closely else None
            found = await self.away(look, root, seen, first)
            if seen.reconfigured and closely:
                self.configure([root.path])
            self.changed_outside(found)

    def folders(self) -> list[str]:
        """The paths of the workspace's folders."""
        return [path for folder in self.server.folders if (path := self.path(folder.uri))]

    # Findings ---------------------------------------------------------------------------------------------------------

    def schedule(self) -> None:
        """Check what waits soon: at once after a quick check, a little later where checks are slow."""
        if self.settling is None:
            self.idle.clear()
            loop = asyncio.get_running_loop()
            if self.settle_took > SLICE:
                self.settling = loop.call_later(min(0.5, 2 * self.settle_took), self.settle)
            else:
                self.settling = loop.call_soon(self.settle)

    def settle(self) -> None:
        """Check what is in front of the person at once, leave the rest to the crew, and tell the client what differs."""
        self.settling = None
        started = time.perf_counter()
        try:
            self.current()
            while self.waiting:
                owner = next(iter(self.waiting))
                if self.weight(owner) != "open" or time.perf_counter() - started > SLICE:
                    break
                self.check(owner)
        except Exception:
            logger.exception("checking failed")
        self.settle_took = time.perf_counter() - started
        self.flush()
        if self.waiting and self.crew is None:
            self.crew = self.start(self.work_off())
        self.rest()

    def weight(self, owner: Owner) -> Literal["open", "closed", "large"]:
        """Whether an owner is open, and small enough to be checked on the loop's thread."""
        if not owner.directory:
            return "open"
        held = self.buffers.get(owner.root)
        bundle = held.bundles.get(owner.directory) if held else None
        if bundle is None:
            return "closed"
        return "open" if all(len(file.data) <= HEAVY for file in bundle.files.values()) else "large"

    def check(self, owner: Owner) -> None:
        """Check one owner now."""
        self.waiting.pop(owner, None)
        root = self.root_at(owner.root)
        if root is None:
            return
        if owner in self.flying:
            del self.flying[owner]
            self.epoch += 1
            self.changed[owner] = self.epoch  # what comes back from the worker is older
        held, selection = self.buffers[owner.root], self.selection(owner.root)
        self.replace_findings(owner, checked(root, held, owner, selection, self.server.encoding, self.events.page))

    async def work_off(self) -> None:
        """The crew: checks on a worker what waits, and takes what did not change meanwhile."""
        try:
            while self.waiting:
                first = next(iter(self.waiting))
                batch = [first]
                if self.weight(first) != "large":
                    batch = [
                        owner
                        for owner in islice(self.waiting, BATCH)
                        if owner.root == first.root and self.weight(owner) != "large"
                    ]
                try:
                    await self.check_away(batch)
                except Exception:
                    logger.exception("checking failed")
                self.flush()
        finally:
            self.crew = None
            if not self.flying and not self.outside:
                self.changed.clear()
        self.rest()

    async def check_away(self, batch: list[Owner]) -> None:
        """Check owners of one root on a worker."""
        path = batch[0].root
        root = self.root_at(path)
        for owner in batch:
            self.waiting.pop(owner, None)
        if root is None:
            return
        self.flying.update(dict.fromkeys(batch))
        epoch = self.epoch
        try:
            held, selection = self.buffers[path].pinned(), self.selection(path)
            encoding, page = self.server.encoding, self.events.page
            results, fresh = await self.server.run_cancellable(
                lambda cancelled: check_owners(root, held, batch, selection, encoding, page, cancelled)
            )
        finally:
            for owner in batch:
                self.flying.pop(owner, None)
        now = self.root_at(path)
        if now is None or epoch < self.floor:
            return
        for owner, result in results.items():
            there = not owner.directory or owner.directory in now.entries
            if there and self.changed.get(owner, 0) <= epoch:
                self.replace_findings(owner, result)
        self.restamp(now, fresh)

    def restamp(self, root: Root, fresh: list[Entry]) -> None:
        """Take the full stamps of bundles that a cold start opened by name, unless they changed since."""
        same: list[Entry] = []
        for item in fresh:
            known = root.entries.get(item.directory)
            if known is None or known.numbers:
                continue
            if restamped(known, item) == item:
                same.append(item)
            else:
                self.changed_outside([f"{item.directory}/record.md"])
        if same:
            self.snapshot = self.snapshot.with_root(root.restamped(same))

    def selection(self, root: str) -> Selection:
        return self.selections.get(root, Selection())

    def replace_findings(self, owner: Owner, new: Checked) -> None:
        """Take an owner's findings, and note the files whose reports changed."""
        old = self.checked.get(owner, NO_FINDINGS)
        for path in {*old.reports, *new.reports}:
            report = new.reports.get(path)
            if self.reports.get(path, EMPTY).result_id != (report or EMPTY).result_id:
                self.unpublished[path] = None
            if report:
                self.reports[path] = report
            else:
                self.reports.pop(path, None)
        if new.reports:
            self.checked[owner] = new
        else:
            self.checked.pop(owner, None)

    def flush(self) -> None:
        """Tell the client what differs, and for what version of a text that is open it holds."""
        held_back: dict[str, None] = {}
        for path in self.uris:
            owner = owner_of(self.snapshot, path)
            if path in self.edited or path in self.heavy or owner in self.waiting or owner in self.flying:
                held_back[path] = None
        paths = [path for path in {**self.unpublished, **dict.fromkeys(self.uris)} if path not in held_back]
        self.unpublished = held_back
        if paths:
            self.events.publish(paths)

    def findings(self, path: str) -> tuple[Finding, ...]:
        """What is wrong in a file, as last checked."""
        owner = owner_of(self.snapshot, path)
        found = self.checked.get(owner) if owner else None
        return found.findings.get(path, ()) if found else ()

    async def report(self, path: str) -> Report:
        """The diagnostics of one file, up to date."""
        await self.ready(path)
        owner = owner_of(self.snapshot, path)
        if owner is None:
            return EMPTY
        while owner in self.waiting or owner in self.flying:
            if self.weight(owner) == "open":
                self.check(owner)
            elif owner in self.waiting:
                await self.check_away([owner])
            else:
                await asyncio.sleep(0.02)
        return self.reports.get(path, EMPTY)

    def rest(self) -> None:
        """Note whether there is nothing left to do."""
        busy = self.opening or self.waiting or self.flying or self.settling or self.edited or self.heavy or self.outside
        if busy:
            self.idle.clear()
        else:
            self.idle.set()

    async def whole(self) -> None:
        """Wait until everything is open and checked."""
        await self.discovered.wait()
        await self.idle.wait()

    def configure(self, roots: Iterable[str] | None = None) -> None:
        """The configuration of roots changed, or with None of all: they are checked again."""
        for path in [root.path for root in self.snapshot.roots] if roots is None else roots:
            self.selections[path] = self.events.select(path)
            self.check_again(path)
        self.floor = self.epoch
