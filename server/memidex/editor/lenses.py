"""What stands above the title of a record: how it stands, and how often it is named."""

from __future__ import annotations

from typing import Literal, NamedTuple

from memidex.editor.hover import links_to
from memidex.editor.subject import text_of, title
from memidex.editor.view import View
from memidex.history import trust as sums
from memidex.store.snapshot import Entry, Root
from memidex.text import Span


class Lens(NamedTuple):
    """A line above `span`; what happens when it is pressed is named by `opens`."""

    span: Span
    text: str
    opens: Literal["card", "references"]
    record: str


def lenses(view: View) -> list[Lens]:
    """The lenses of a `record.md`; none in another text."""
    if view.root is None or view.entry is None or view.name != "record.md":
        return []
    found = title(view)
    span = found[0] if found else text_of(view).layout.opening
    _, count = links_to(view.root, view.entry, 1)
    named = f"{count:,} reference{'s' if count != 1 else ''}"
    record = view.entry.id
    return [Lens(span, standing_of(view.root, view.entry), "card", record), Lens(span, named, "references", record)]


def standing_of(root: Root, entry: Entry) -> str:
    """Such as `active · trust 0.83 · 3 confirmations`."""
    state = entry.standing
    parts = [state.status, f"trust {sums.shown(state.trust)}"]
    since = root.unconfirmed_since(entry)
    if since is not None:
        parts.append(f"served {sums.shown(root.served_trust(entry))}, unconfirmed since build {since}")
    parts.append(f"{state.confirmed:,} confirmation{'s' if state.confirmed != 1 else ''}")
    if state.contradicted:
        parts.append(f"{state.contradicted:,} contradiction{'s' if state.contradicted != 1 else ''}")
    return " · ".join(parts)
