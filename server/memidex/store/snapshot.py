"""What is there, as a value: the entries of every root and the tables that join them.

A snapshot after a change shares all but a path of its maps with the one before, so an edit costs the same however many
records there are. What an entry does not keep (details, events, places) is read again from its bundle through `reader`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from immutables import Map
from msgspec import Struct

from memidex.history import trust as sums
from memidex.history.standing import Standing, standing
from memidex.records.memidex import ids
from memidex.records.memidex.bundle import Bundle
from memidex.records.memidex.read import File
from memidex.records.memidex.values import AnyTarget, Element, Platform, Relation, Run, Scope
from memidex.store.disk import Stamp

if TYPE_CHECKING:
    from immutables._protocols import MapMutation

K = TypeVar("K")
T = TypeVar("T")


class Entry(Struct, frozen=True, gc=False, array_like=True):
    """What a snapshot keeps of a bundle: enough to list, join and judge it; its texts are read again when asked for."""

    directory: str
    product: str
    id: str
    """The record's own id where it is of the right form, else the folder's name."""
    kind: str
    subtype: str | None
    anchors: tuple[AnyTarget, ...]
    """Normalized; the first is the main one."""
    scope: Scope | None
    created: int
    incomplete: bool
    summary: str
    relations: tuple[Relation, ...]
    standing: Standing
    ordinals: tuple[int, ...]
    """The distinct ordinals of its events."""
    judged: bool
    """False for a record of a version that is not understood, of which nothing else is judged."""
    names: tuple[str, ...] = ()
    numbers: bytes = b""

    @property
    def folder(self) -> str:
        return self.directory.rpartition("/")[2]

    @property
    def main(self) -> AnyTarget | None:
        return self.anchors[0] if self.anchors else None

    @property
    def platform(self) -> str | None:
        return next((anchor.platform for anchor in self.anchors if isinstance(anchor, Platform)), None)

    @property
    def status(self) -> str:
        return self.standing.status

    @property
    def title(self) -> str:
        """One line that a person knows the record by."""
        return " ".join(self.summary.split()) or self.id

    def related(self, kind: str) -> Iterator[str]:
        """The targets of its relations of one type."""
        return (normal_address(relation.target) for relation in self.relations if relation.type == kind)


def entry(bundle: Bundle, stamp: Stamp | None = None) -> Entry:
    """What is kept of a bundle."""
    record = bundle.record
    log = bundle.log
    directory = bundle.directory
    # An id equal to the folder's name is the folder's name, whatever its form.
    own = directory.endswith(f"/{record.id}") or ids.FORM.fullmatch(record.id)
    return Entry(
        directory,
        bundle.product,
        record.id if own else bundle.folder,
        record.kind,
        record.subtype,
        tuple([anchor.normalized for anchor in record.anchors]),
        record.scope,
        record.created,
        record.incomplete,
        record.summary,
        bundle.relations.relations,
        standing(record, log),
        tuple({event.ordinal for event in log.events}),
        record.version == 2,
        *(stamp or ((), b"")),
    )


@dataclass(frozen=True)
class Product:
    """The run counts of one product."""

    runs: tuple[int, ...] = ()
    """The distinct ordinals of its ledger, rising."""
    events: Mapping[int, int] = field(default_factory=dict[int, int])
    """How many records have an event at each ordinal."""
    ledger: tuple[int, int, int] = (0, 0, 0)
    """The stamp of `runs.jsonl`."""

    @cached_property
    def counted(self) -> tuple[int, ...]:
        """The ordinals in which runs are counted, rising.

        Those of the ledger (contract, section 6); of a product whose writer keeps none, those of its events.
        """
        return self.runs or tuple(sorted(self.events))

    @cached_property
    def current(self) -> int:
        """The product's current ordinal: the highest in its ledger or in any event; 0 where there is none."""
        return max(self.runs[-1] if self.runs else 0, max(self.events, default=0))

    def since(self, ordinal: int, until: int | None = None) -> int:
        """How many runs came after `ordinal`, up to `until` (the current one)."""
        last = self.current if until is None else until
        return max(0, bisect_right(self.counted, last) - bisect_right(self.counted, ordinal))

    def newest(self, count: int) -> tuple[int, ...]:
        """The `count` newest run counts, rising."""
        return self.counted[-count:]


NO_PRODUCT = Product()


Made = tuple[Scope | None, int]
"""The scope of a record and the ordinal of its creation."""
BY_EVENT = "by"


class Link(NamedTuple):
    """A relation seen from its target; of type `BY_EVENT` where it is not a relation but the event that ended a record."""

    directory: str
    type: str


class Reader(Protocol):
    """Where bundles are read from: open buffers first, then the disk."""

    def bundle(self, directory: str) -> Bundle | None:
        """The bundle as it is now; None where it is gone."""
        ...

    def file(self, path: str) -> File | None:
        """Any other file of a root, such as a run ledger or `policies.md`, as it is now; None where it is not there."""
        ...


def normal_address(text: str) -> str:
    """An address in the one spelling it is looked up by: `mem-1` and `agentqa://memory/MEM-1` are `MEM-001`."""
    if text[:4].upper() != "MEM-" and "/" not in text:
        return text
    uri = ids.URI.fullmatch(text)
    if uri:
        text = uri.group(1)
    short = re.fullmatch(r"[Mm][Ee][Mm]-0*([0-9]{1,9})", text)
    return short_id(int(short.group(1))) if short else text


def short_id(number: int) -> str:
    return f"MEM-{number:03d}"


@dataclass(frozen=True)
class Root:
    """One knowledge root: its entries by folder, and the tables that join them."""

    path: str
    reader: Reader = field(repr=False, compare=False)
    entries: Map[str, Entry] = field(default_factory=lambda: Map[str, Entry](), repr=False)
    ids: Map[str, tuple[str, ...]] = field(default_factory=lambda: Map[str, tuple[str, ...]](), repr=False)
    """Folders by record id; more than one where an id is repeated."""
    backlinks: Map[str, tuple[Link, ...]] = field(default_factory=lambda: Map[str, tuple[Link, ...]](), repr=False)
    anchors: Map[AnyTarget, tuple[str, ...]] = field(
        default_factory=lambda: Map[AnyTarget, tuple[str, ...]](), repr=False
    )
    """Folders by main anchor."""
    created: Map[Made, tuple[str, ...]] = field(default_factory=lambda: Map[Made, tuple[str, ...]](), repr=False)
    """Folders by scope and ordinal of creation."""
    products: Map[str, Product] = field(default_factory=lambda: Map[str, Product](), repr=False)
    short_ids: Map[str, str] = field(default_factory=lambda: Map[str, str](), repr=False)
    """Record ids by short id, and short ids by record id."""
    links: tuple[str, ...] = ()
    """Symbolic links where a bundle's folder belongs; not followed."""

    # What is there ----------------------------------------------------------------------------------------------------

    def find(self, address: str) -> Entry | None:
        """The entry of an exact address: record id, short id, URI or folder; None where there is none."""
        address = normal_address(address)
        address = self.short_ids.get(address, address) if address.startswith("MEM-") else address
        folders = self.ids.get(address)
        if folders:
            return self.entries.get(min(folders))  # of a repeated id always the same one
        return self.entries.get(address)

    def all_of(self, record_id: str) -> tuple[Entry, ...]:
        """Every entry that bears an id; more than one where it is repeated."""
        return tuple(self.entries[folder] for folder in self.ids.get(record_id, ()))

    def of_file(self, path: str) -> tuple[Entry, str] | None:
        """The entry that a file belongs to and the file's name in the bundle; None for any other file."""
        place = place_of(self.path, path)
        if not place:
            return None
        found = self.entries.get(place[0])
        return (found, place[1]) if found else None

    def bundle(self, item: Entry) -> Bundle | None:
        """The whole bundle of an entry; None where it went in the meantime."""
        return self.reader.bundle(item.directory)

    def links_to(self, item: Entry) -> list[tuple[Entry, str]]:
        """Every relation that names the record, as (entry that has it, its type)."""
        names = {item.id, item.folder, self.short_ids.get(item.id, item.id)}
        found = {link for name in names for link in self.backlinks.get(name, ()) if link.type != BY_EVENT}
        return [(self.entries[link.directory], link.type) for link in sorted(found) if link.directory in self.entries]

    def targets(self, item: Entry, kind: str) -> list[Entry]:
        """The records that its relations of one type name, as far as they are there."""
        return [found for target in item.related(kind) if (found := self.find(target))]

    def successors(self, item: Entry) -> list[Entry]:
        """The records that supersede it, by either side's word."""
        found = {other.directory: other for other, kind in self.links_to(item) if kind == "supersedes"}
        for other in self.targets(item, "superseded-by"):
            found.setdefault(other.directory, other)
        return [found[directory] for directory in sorted(found)]

    def predecessors(self, item: Entry) -> list[Entry]:
        """The records that it supersedes, by either side's word."""
        found = {other.directory: other for other in self.targets(item, "supersedes")}
        for other, kind in self.links_to(item):
            if kind == "superseded-by":
                found.setdefault(other.directory, other)
        return [found[directory] for directory in sorted(found)]

    def about(self, anchor: AnyTarget) -> list[Entry]:
        """The records whose main anchor it is."""
        return [self.entries[folder] for folder in self.anchors.get(anchor, ())]

    def product(self, name: str) -> Product:
        return self.products.get(name, NO_PRODUCT)

    def short(self, item: Entry) -> str | None:
        """The record's short id on this machine, where it was given one."""
        return self.short_ids.get(item.id)

    # What is worked out from several files ----------------------------------------------------------------------------

    def unconfirmed_since(self, item: Entry, now: int | None = None, current: Standing | None = None) -> int | None:
        """The ordinal since which nothing confirmed a live record, once that is long ago (seed, "Trust"); else None."""
        state = current or item.standing
        if not state.live:
            return None
        since = item.created if state.last_confirmed is None else state.last_confirmed
        limit = sums.RUNS_UNTIL_MEASUREMENT_FADED if item.subtype == "measurement" else sums.RUNS_UNTIL_FADED
        return since if self.product(item.product).since(since, now) >= limit else None

    def served_trust(self, item: Entry, now: int | None = None, current: Standing | None = None) -> Fraction:
        """Trust as it is served: lowered once, not compounding, where nothing confirmed the record for long."""
        state = current or item.standing
        return state.trust * (sums.FADED if self.unconfirmed_since(item, now, current) is not None else 1)

    # What changes it --------------------------------------------------------------------------------------------------

    def with_entry(self, new: Entry) -> Root:
        """The root with this entry in place of the one of the same folder."""
        return self.changed([new], [])

    def without(self, directory: str) -> Root:
        return self.changed([], [directory])

    def changed(self, new: Iterable[Entry], gone: Iterable[str]) -> Root:
        """The root after entries came, changed and went, in one step."""
        tables = Tables(self)
        for directory in gone:
            tables.remove(directory)
        for item in new:
            tables.remove(item.directory)
            tables.add(item)
        return tables.root()

    def restamped(self, items: Iterable[Entry]) -> Root:
        """The root with entries that differ from those it has in nothing but their stamps."""
        return replace(self, entries=self.entries.update({item.directory: item for item in items}))

    def with_ledger(self, name: str, runs: Iterable[Run], stamp: tuple[int, int, int]) -> Root:
        """The root after the run ledger of a product was read."""
        ordinals = tuple(sorted({run.ordinal for run in runs}))
        before = self.product(name)
        return replace(self, products=self.products.set(name, Product(ordinals, before.events, stamp)))

    def with_short_ids(self, numbers: Iterable[tuple[int, str]]) -> Root:
        """The root with the short ids that this machine has given."""
        both = {
            key: value
            for number, record in numbers
            for key, value in ((short_id(number), record), (record, short_id(number)))
        }
        return replace(self, short_ids=Map(both))


def links_of(item: Entry) -> Iterator[tuple[str, Link]]:
    """What a record says of others, each with the one spelling of the other's address."""
    for relation in item.relations:
        yield normal_address(relation.target), Link(item.directory, relation.type)
    if item.standing.by:
        yield normal_address(item.standing.by), Link(item.directory, BY_EVENT)


class Tables:
    """The tables of a root while entries are put in and taken out."""

    def __init__(self, before: Root) -> None:
        self.before = before
        self.entries = before.entries.mutate()
        self.ids = before.ids.mutate()
        self.backlinks = before.backlinks.mutate()
        self.anchors = before.anchors.mutate()
        self.created = before.created.mutate()
        self.counts: dict[str, dict[int, int]] = {}

    def names(self, item: Entry) -> set[str]:
        return {item.id, item.folder}

    def add(self, item: Entry) -> None:
        here = item.directory
        self.entries[here] = item
        for name in self.names(item):
            self.ids[name] = (*self.ids.get(name, ()), here)
        for target, link in links_of(item):
            self.backlinks[target] = (*self.backlinks.get(target, ()), link)
        if item.main is not None:
            self.anchors[item.main] = (*self.anchors.get(item.main, ()), here)
        key = (item.scope, item.created)
        self.created[key] = (*self.created.get(key, ()), here)
        counts = self.count(item.product)
        for ordinal in item.ordinals:
            counts[ordinal] = counts.get(ordinal, 0) + 1

    def remove(self, directory: str) -> None:
        item = self.entries.get(directory)
        if item is None:
            return
        del self.entries[directory]

        def here(folder: str) -> bool:
            return folder == directory

        def from_here(link: Link) -> bool:
            return link.directory == directory

        for name in self.names(item):
            drop(self.ids, name, here)
        for relation in item.relations:
            drop(self.backlinks, normal_address(relation.target), from_here)
        if item.main is not None:
            drop(self.anchors, item.main, here)
        drop(self.created, (item.scope, item.created), here)
        counts = self.count(item.product)
        for ordinal in item.ordinals:
            counts[ordinal] -= 1
            if not counts[ordinal]:
                del counts[ordinal]

    def count(self, product: str) -> dict[int, int]:
        if product not in self.counts:
            self.counts[product] = dict(self.before.product(product).events)
        return self.counts[product]

    def root(self) -> Root:
        products = self.before.products
        for name, counts in self.counts.items():
            before = self.before.product(name)
            products = products.set(name, Product(before.runs, counts, before.ledger))
        return replace(
            self.before,
            entries=self.entries.finish(),
            ids=self.ids.finish(),
            backlinks=self.backlinks.finish(),
            anchors=self.anchors.finish(),
            created=self.created.finish(),
            products=products,
        )


def drop(table: MapMutation[K, tuple[T, ...]], key: K, goes: Callable[[T], bool]) -> None:
    """Take what goes out of one row of a table, and the row itself when it is empty."""
    left = tuple(item for item in table.get(key, ()) if not goes(item))
    if left:
        table[key] = left
    elif key in table:
        del table[key]


BUNDLE_FILE = re.compile(r"memory/([^/]+)/bundles/([^/]+)/(.+)")


def place_of(root: str, path: str) -> tuple[str, str] | None:
    """(folder of the bundle, name in it) of a file of a root; None for any other file."""
    if not path.startswith(root + "/"):
        return None
    match = BUNDLE_FILE.fullmatch(path, len(root) + 1)
    return (f"{root}/memory/{match.group(1)}/bundles/{match.group(2)}", match.group(3)) if match else None


@dataclass(frozen=True)
class Snapshot:
    """Every root of a workspace at one moment."""

    roots: tuple[Root, ...] = ()

    def root_of(self, path: str) -> Root | None:
        """The innermost root that holds a file; None for a file of no root."""
        holding = [root for root in self.roots if path.startswith(root.path + "/") or path == root.path]
        return max(holding, key=lambda root: len(root.path), default=None)

    def with_root(self, new: Root) -> Snapshot:
        """The snapshot with this root in place of the one of the same path."""
        others = [root for root in self.roots if root.path != new.path]
        return Snapshot(tuple(sorted((*others, new), key=lambda root: root.path)))

    def without(self, path: str) -> Snapshot:
        return Snapshot(tuple(root for root in self.roots if root.path != path))

    @cached_property
    def size(self) -> int:
        """How many records there are."""
        return sum(len(root.entries) for root in self.roots)


__all__ = [
    "Element",
    "Entry",
    "Link",
    "Product",
    "Reader",
    "Root",
    "Snapshot",
    "entry",
    "normal_address",
    "place_of",
    "short_id",
]
