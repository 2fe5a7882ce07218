"""What can be decided at a place of a text: titles, and commands with what they carry.

It decides nothing: whether an operation is offered is asked of `learning.decide`, with the record as the person sees it.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final, NamedTuple

from memidex.editor.markdown import plain
from memidex.editor.subject import Address, EventHere, EventName, subject
from memidex.editor.view import View
from memidex.history.change import Actor, Change, Policy, Refused, tail
from memidex.history.standing import Step, timeline
from memidex.learning import impact as impacts
from memidex.learning.decide import OVERTURNABLE, decide, undo
from memidex.records.memidex.bundle import Bundle
from memidex.store.snapshot import Entry, Root

LOG, RELATIONS = "evidence/outcomes.jsonl", "relations.json"
PROPOSED, CONFLICTS = "proposed-supersession-of", "conflicts-with"
LONGEST = 60
NO_ID: Final = "00000000-0000-7000-8000-000000000000"
SEAL: Final = "memidex.seal"
SEALED: Final = ("edited-since-sealed", "listed-file-missing", "unlisted-file", "log-rewritten")


class Offer(NamedTuple):
    """One decision that a person may take here."""

    title: str
    command: str
    argument: dict[str, Any]
    """What the command is given: the record, its root, and the tail of the log that the person sees."""
    rules: tuple[str, ...] = ()
    """The rules whose finding at this place asks for it: there it is a quick fix."""
    preferred: bool = False
    impact: str = ""
    """What else it touches, in plain sentences."""


def offers(
    view: View, offset: int, actor: Actor, policy: Policy, now: datetime, wanted: frozenset[str] | None = None
) -> list[Offer]:
    """The decisions at `offset`, the likeliest first, of `wanted` commands alone where that is given.

    They are those of the record that an address at the place names, else of the record that the text belongs to; in a log
    also those on the event of the line, and at a `conflicts-with` relation of the two records that it joins. None where
    nothing may be changed.
    """
    if not policy.trusted or policy.read_only:
        return []
    here = subject(view, offset)
    own = (view.root, view.entry) if view.root and view.entry else None
    named = (here.root, here.entry) if isinstance(here, Address) and here.root and here.entry else None
    if named and own and named[1].id == own[1].id:
        named = None  # its own id, which another bundle may repeat
    pair = named or own
    if pair is None:
        return []
    table = Table(*pair, actor, policy, now)
    found: list[Offer] = []
    if named is None and view.name == LOG and isinstance(here, EventHere | EventName):
        found += table.of_event(view.source.line_of(offset))
    elif view.name != RELATIONS or named is None:
        for other in table.root.targets(table.entry, CONFLICTS):
            found += table.kept_against(other)
    found = [*found, *table.of_record()] if view.name in (LOG, RELATIONS) else [*table.of_record(), *found]
    if named and own:
        found = beside(found, named[1], Table(*own, actor, policy, now), view.name)
    return unique(found, wanted)


def beside(found: list[Offer], other: Entry, own: Table, name: str) -> list[Offer]:
    """The decisions on another record, in a text of one whose findings ask nothing of the other.

    What seals here is the manifest of the record that the text belongs to, where that wants it.
    """
    seals = list(own.seal())
    first = list(own.kept_against(other)) if name == RELATIONS else []
    rest = [offer._replace(rules=()) for offer in found if not (seals and offer.command == SEAL)]
    return [*first, *rest, *seals]


def offers_of(view: View, actor: Actor, policy: Policy, now: datetime) -> list[Offer]:
    """The decisions on the record that the text belongs to, wherever the cursor is."""
    if not policy.trusted or policy.read_only or view.root is None or view.entry is None:
        return []
    return list(Table(view.root, view.entry, actor, policy, now).of_record())


def unique(found: list[Offer], wanted: frozenset[str] | None) -> list[Offer]:
    taken: dict[tuple[str, str], Offer] = {}
    for offer in found:
        if wanted is None or offer.command in wanted:
            taken.setdefault((offer.title, str(offer.argument)), offer)
    return list(taken.values())


class Table:
    """The decisions on one record, as it is seen now."""

    def __init__(self, root: Root, entry: Entry, actor: Actor, policy: Policy, now: datetime) -> None:
        self.root = root
        self.entry = entry
        self.actor = actor
        self.policy = policy
        self.now = now
        self.bundle: Bundle | None = root.bundle(entry)
        file = self.bundle.files.get(LOG) if self.bundle else None
        self.seen = tail(file.data if file else b"")

    @property
    def address(self) -> str:
        """What names the record alone: its id, or its folder where another bundle bears the same id."""
        return self.entry.directory if len(self.root.all_of(self.entry.id)) > 1 else self.entry.id

    def allows(self, change: Change) -> bool:
        """Whether it would be granted; of a supersession that only lacks its words it is so."""
        ordinal = self.root.product(self.entry.product).current
        answer = decide(self.root, change, self.actor, self.policy, ordinal, self.now, lambda: NO_ID)
        return not isinstance(answer, Refused) or answer.reason == "no-replacement"

    def offer(self, operation: Any, title: str, *rules: str, preferred: bool = False, **more: Any) -> Iterator[Offer]:
        events = tuple(more.get("events", ()))
        change = Change(operation=operation, record=self.entry.directory, events=events, by=more.get("by"))
        if self.bundle is None or not self.allows(change):
            return
        argument = {"id": self.address, "root": self.root.path, "seen": self.seen, **more}
        kept = self.root.find(change.by) if change.by else None
        told = impacts.sentences(self.root, impacts.impact(self.root, self.entry, operation, kept), plain)
        yield Offer(title, f"memidex.{operation}", argument, rules, preferred, " ".join(told))

    def of_record(self) -> Iterator[Offer]:
        """The decisions on the record itself."""
        title = plain(self.entry.title, LONGEST)
        proposal = self.entry.standing.live and any(self.entry.related(PROPOSED))
        accepting = list(
            self.offer("accept", f"Accept: {title}", "awaiting-review", "proposed-supersession", preferred=True)
        )
        # A procedure or an open question that is confirmed stays what it is: that is no acceptance.
        if accepting and (proposal or self.entry.kind in ("fact", "caution", "policy")):
            yield from accepting
            yield from self.offer("reject", "Reject", "awaiting-review", "proposed-supersession")
        else:
            yield from self.offer("confirm", "Confirm", "fading", "awaiting-review", preferred=True)
            # A proposal whose target is gone or retired cannot be accepted any more, only turned down.
            yield from self.offer("reject", "Reject", "awaiting-review", "proposed-supersession")
        yield from self.offer("supersede", "Supersede...", "fading")
        yield from self.offer("contradict", "Contradict")
        yield from self.offer("forget", "Forget", "fading", "open-question")
        yield from self.undone()
        yield from self.seal()

    def seal(self) -> Iterator[Offer]:
        """Writing the manifest anew, where what it sealed is no longer what is there."""
        if self.bundle and self.bundle.integrity in ("edited", "incomplete", "rewritten"):
            yield from self.offer("seal", "Seal manifest as edited by hand", *SEALED)

    def undone(self) -> Iterator[Offer]:
        """Taking back what a person decided last."""
        last = undo(self.root, self.entry)
        if last is not None:
            yield from self.offer("retract", f"Undo: {last.label}", events=list(last.events), label=last.label)

    def kept_against(self, other: Entry) -> Iterator[Offer]:
        """Of two records in conflict this one stays and the other goes."""
        joined = any(found.directory == other.directory for found in self.root.targets(self.entry, CONFLICTS)) or any(
            found.directory == self.entry.directory for found in self.root.targets(other, CONFLICTS)
        )
        if joined and self.entry.standing.live and other.standing.live:
            table = Table(self.root, other, self.actor, self.policy, self.now)
            title = "Keep this one, supersede the other"
            yield from table.offer("supersede", title, "conflicting-records", by=self.address)

    def of_event(self, line: int) -> Iterator[Offer]:
        """The decisions on the event of a line of the log, from 0."""
        step = self.step(line)
        if step is None or not step.live:
            return
        what = f"{step.event.type} of build {step.event.ordinal}"
        if step.event.origin != "user" and step.event.type in OVERTURNABLE:
            yield from self.offer("overturn", f"Overturn: {what}", events=[step.identity])
        yield from self.offer("retract", f"Retract: {what}", events=[step.identity])

    def step(self, line: int) -> Step | None:
        if self.bundle is None:
            return None
        steps = timeline(self.bundle.record, self.bundle.log)
        return next((step for step in steps if step.line == line), None)


__all__ = ["Offer", "offers", "offers_of"]
