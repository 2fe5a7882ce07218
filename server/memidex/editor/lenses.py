"""What stands above the title of a record: how it stands, and how often it is named."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final, Literal, NamedTuple

from memidex.editor.hover import links_to
from memidex.editor.offers import PROPOSED, offers_of
from memidex.editor.subject import text_of, title
from memidex.editor.view import View
from memidex.history import trust as sums
from memidex.history.change import Actor, Policy
from memidex.store.snapshot import Entry, Root
from memidex.text import Span

NOTHING_ALLOWED: Final = Policy(trusted=False)
MIN: Final = datetime.min.replace(tzinfo=UTC)
WORDS: Final = {
    "memidex.accept": "Accept",
    "memidex.reject": "Reject",
    "memidex.forget": "Forget",
    "memidex.supersede": "Supersede...",
}


class Lens(NamedTuple):
    """A line above `span`. `command` is what pressing it does, with its argument; empty where it only tells."""

    span: Span
    text: str
    opens: Literal["card", "references", "decision"]
    record: str
    command: str = ""
    argument: dict[str, Any] | None = None


def lenses(view: View, actor: Actor | None = None, policy: Policy = NOTHING_ALLOWED, now: datetime = MIN) -> list[Lens]:
    """The lenses of a `record.md`, with the decisions that the actor may take on it; none in another text."""
    if view.root is None or view.entry is None or view.name != "record.md":
        return []
    found = title(view)
    span = found[0] if found else text_of(view).layout.opening
    _, count = links_to(view.root, view.entry, 1)
    named = f"{count:,} reference{'s' if count != 1 else ''}"
    record = view.entry.id
    told = [Lens(span, standing_of(view.root, view.entry), "card", record), Lens(span, named, "references", record)]
    return [*told, *decisions(view, span, actor, policy, now)] if actor else told


def decisions(view: View, span: Span, actor: Actor, policy: Policy, now: datetime) -> Iterator[Lens]:
    """`Accept`, `Reject`, `Forget` and `Supersede...`; on a proposal `Apply` and `Compare` in place of the first."""
    assert view.entry is not None
    target = next(view.entry.related(PROPOSED), None) if view.entry.standing.live else None
    for offer in offers_of(view, actor, policy, now):
        text = "Apply" if target and offer.command == "memidex.accept" else WORDS.get(offer.command)
        if text:
            yield Lens(span, text, "decision", view.entry.id, offer.command, offer.argument)
        if text == "Apply":
            both = {"id": view.entry.id, "root": offer.argument["root"], "target": target}
            yield Lens(span, "Compare", "decision", view.entry.id, "memidex.compare", both)


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
