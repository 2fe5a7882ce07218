"""Records as a family: older and newer generations, and what was worked out from what."""

from __future__ import annotations

from typing import NamedTuple

from memidex.editor.card import title
from memidex.editor.definition import record_target
from memidex.editor.markdown import plain
from memidex.editor.subject import Address, subject
from memidex.editor.view import View
from memidex.history import trust as sums
from memidex.store.snapshot import Entry, Root
from memidex.text import NOWHERE, Span

MAX_ITEMS = 200
CALLS = ("derived-from", "proposed-supersession-of")


class Item(NamedTuple):
    """A record in a hierarchy."""

    name: str
    detail: str
    path: str
    span: Span
    root: str
    record: str


def item_at(view: View, offset: int) -> Item | None:
    """The record that the cursor names; elsewhere in a bundle the bundle's own."""
    here = subject(view, offset)
    if isinstance(here, Address) and here.root and here.entry:
        return item(here.root, here.entry)
    return item(view.root, view.entry) if view.root and view.entry else None


def item(root: Root, entry: Entry) -> Item:
    target = record_target(root, entry, NOWHERE)
    detail = f"{root.short(entry) or entry.id} · {entry.status} · trust {sums.shown(entry.standing.trust)}"
    return Item(plain(title(entry), 120), detail, target.path, target.span, root.path, entry.id)


def older(root: Root, entry: Entry) -> list[Item]:
    """The records that it supersedes: its supertypes, in the editor's words."""
    return [item(root, other) for other in root.predecessors(entry)[:MAX_ITEMS]]


def newer(root: Root, entry: Entry) -> list[Item]:
    """The records that supersede it: its subtypes."""
    return [item(root, other) for other in root.successors(entry)[:MAX_ITEMS]]


def sources(root: Root, entry: Entry) -> list[tuple[str, Item]]:
    """(relation, record) of what it was worked out from or proposes to replace: its outgoing calls."""
    return [(kind, item(root, other)) for kind in CALLS for other in root.targets(entry, kind)][:MAX_ITEMS]


def derived(root: Root, entry: Entry) -> list[tuple[str, Item]]:
    """(relation, record) of what was worked out from it or proposes to replace it: its incoming calls."""
    return [(kind, item(root, other)) for other, kind in root.links_to(entry) if kind in CALLS][:MAX_ITEMS]
