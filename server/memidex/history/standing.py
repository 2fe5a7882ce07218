"""From a log to what is believed: which events count, the counts, the status and the window of validity.

One pure function of (record, log): the order of lines in the file and lines that git merged in twice change nothing
(contract, sections 5 and 6).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from typing import Literal, NamedTuple

from msgspec import Struct

from memidex.history import trust as sums
from memidex.records.memidex.read import Log
from memidex.records.memidex.values import Event, Record
from memidex.records.memidex.vocabulary import EVENT_RANK, PROMOTABLE_KINDS

Status = Literal["candidate", "active", "superseded", "deprecated"]
# What an event makes of a record of a status; of any other status it makes nothing (contract, section 6).
NEXT: dict[tuple[str, Status], Status] = {
    ("promoted", "candidate"): "active",
    ("superseded", "candidate"): "superseded",
    ("superseded", "active"): "superseded",
    ("deprecated", "candidate"): "deprecated",
    ("deprecated", "active"): "deprecated",
    ("deprecated", "superseded"): "deprecated",
}
DECISIONS = frozenset({"promoted", "superseded", "deprecated"})
EPOCH = datetime(1, 1, 1, tzinfo=UTC)


class Standing(Struct, frozen=True, gc=False, array_like=True):
    """What a log says of its record. Everything here is worked out; nothing of it is stored in a bundle."""

    status: Status = "candidate"
    confirmed: int = 0
    contradicted: int = 0
    helpful: int = 0
    harmful: int = 0
    origin: Literal["user", "agent-verified"] = "agent-verified"
    last_confirmed: int | None = None
    """The ordinal of the last live confirmation."""
    valid_to: int | None = None
    """The first ordinal at which the record no longer holds; None while it does."""
    by: str | None = None
    """Of a superseded record the successor that its event names."""
    reason: str | None = None
    """Of a deprecated record why: rejected, forgotten or retired."""
    ended_by: str | None = None
    """The origin of the event that made it superseded or deprecated."""
    path: str | None = None
    """Of a promoted record the path of the promotion."""
    person_deprecated: bool = False
    """Whether a person, at any time and not taken back, deprecated it."""
    overruled: tuple[str, ...] = ()
    """The decisions that a person overturned with no later confirmation: an agent may not take them again."""

    @property
    def trust(self) -> Fraction:
        return sums.trust(self.confirmed, self.contradicted, self.helpful, self.harmful, self.origin)

    @property
    def arithmetic(self) -> str:
        return sums.arithmetic(self.confirmed, self.contradicted, self.helpful, self.harmful, self.origin)

    @property
    def live(self) -> bool:
        """Neither superseded nor deprecated."""
        return self.status in ("candidate", "active")


class Step(NamedTuple):
    """One event of a log, in reading order, with what it did."""

    event: Event
    identity: str
    line: int
    live: bool
    effective: bool
    """Whether it counted: live, and allowed by the state it met."""
    trust: Fraction
    """Trust after it."""
    status: Status
    """Status after it."""
    why: str
    """Why it did not count; empty where it did."""


def reading_order(log: Log) -> list[int]:
    """The indexes of the log's events in reading order, repeated ones left out (contract, section 5)."""
    events, identities = log.events, log.identities
    first: dict[str, int] = {}
    for index, identity in enumerate(identities):
        kept = first.setdefault(identity, index)
        # Two writers may have used one id for two events: whichever sorts first counts, wherever its line stands.
        if kept != index and content(events[index]) < content(events[kept]):
            first[identity] = index
    return sorted(first.values(), key=lambda index: order_key(events[index], identities[index]))


def order_key(event: Event, identity: str) -> tuple[int, datetime, int, str]:
    return event.ordinal, event.at or EPOCH, EVENT_RANK[event.type], identity


def content(event: Event) -> str:
    return repr(event)


def counts_for_nothing(log: Log, order: Sequence[int]) -> frozenset[str]:
    """The identities of the events that live `retracted` and `overturned` events name.

    An event is live when no live event takes it back, so a retraction can itself be retracted; of those that take each
    other back in a circle the last one in reading order stays.
    """
    takers: dict[str, list[str]] = {}
    takes: dict[str, list[str]] = {}
    for index in order:
        event = log.events[index]
        if event.type == "retracted":
            named = event.retracts or ()
        elif event.type == "overturned" and event.origin == "user":  # only a person may (MX212)
            named = (event.overturns,) if event.overturns else ()
        else:
            continue
        identity = log.identities[index]
        takes[identity] = [name for name in named if name != identity]
        for name in takes[identity]:
            takers.setdefault(name, []).append(identity)
    if not takes:
        return frozenset()
    alive = alive_of(list(takes), takers)
    return frozenset(name for taker, names in takes.items() if alive[taker] for name in names if not alive.get(name))


def alive_of(names: list[str], takers: dict[str, list[str]]) -> dict[str, bool]:
    """Which of these events, given in reading order, no live one of them takes back."""
    alive: dict[str, bool] = {}
    place = {name: index for index, name in enumerate(names)}
    groups = circles(names, takers)[::-1]
    while groups:
        group = groups.pop()
        left = [name for name in group if not any(alive.get(taker) for taker in takers.get(name, ()))]
        alive.update(dict.fromkeys(group, False))
        if len(left) < len(group):  # some of a circle is taken back from outside, which may have opened it
            groups += circles(left, takers)[::-1]
        else:
            # Nothing outside takes any of it back: of a circle the last one in reading order stays.
            stays = max(left, key=lambda name: place[name])
            alive[stays] = True
            groups += circles([name for name in left if name != stays], takers)[::-1]
    return alive


def circles(names: list[str], takers: dict[str, list[str]]) -> list[list[str]]:
    """The groups of events that take each other back, alone or in a circle, each after the groups that take it back.

    Tarjan's components, without recursion: a log may be a long row of retractions.
    """
    wanted = set(names)
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    open_: list[str] = []
    is_open: set[str] = set()
    found: list[list[str]] = []
    for start in names:
        if start in number:
            continue
        number[start] = low[start] = len(number)
        open_.append(start)
        is_open.add(start)
        path = [(start, iter(takers.get(start, ())))]
        while path:
            name, rest = path[-1]
            for taker in rest:
                if taker not in wanted:
                    continue
                if taker not in number:
                    number[taker] = low[taker] = len(number)
                    open_.append(taker)
                    is_open.add(taker)
                    path.append((taker, iter(takers.get(taker, ()))))
                    break
                if taker in is_open:
                    low[name] = min(low[name], number[taker])
            else:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[name])
                if low[name] == number[name]:
                    group = [open_.pop()]
                    while group[-1] != name:
                        group.append(open_.pop())
                    is_open.difference_update(group)
                    found.append(group)
    return found


def standing(record: Record, log: Log, as_of: int | None = None) -> Standing:
    """The standing after all events, or after those with a `buildOrdinal` up to `as_of`.

    Linear in the log but for the sort, which meets a log in its order already.
    """
    log = up_to(log, as_of)
    events, identities = log.events, log.identities
    kinds = [event.type for event in events]
    plain = "retracted" not in kinds and "overturned" not in kinds and len(set(identities)) == len(identities)
    if plain and in_order(events):
        live: Iterable[Event] = events
    else:
        order = reading_order(log)
        dead = frozenset[str]() if plain else counts_for_nothing(log, order)
        live = [events[index] for index in order if identities[index] not in dead]

    status: Status = "candidate"
    confirmed = contradicted = helpful = harmful = 0
    last_confirmed = valid_to = by = reason = ended_by = path = None
    person_deprecated = False
    promotable = record.kind in PROMOTABLE_KINDS
    overturned: dict[str, int] = {}
    for event in live:
        kind = event.type
        if kind == "confirmed":
            confirmed += 1
            last_confirmed = event.ordinal
        elif kind == "helpful":
            helpful += 1
        elif kind == "contradicted":
            contradicted += 1
        elif kind == "harmful":
            harmful += 1
        elif kind in DECISIONS:
            after = NEXT.get((kind, status))
            if after is None or (kind == "promoted" and not promotable) or repeats(event, overturned, last_confirmed):
                continue
            status = after
            if kind == "promoted":
                path = event.path
                continue
            ended_by = event.origin
            if kind == "superseded":
                by = event.by
            else:
                reason = event.reason
                person_deprecated = person_deprecated or event.origin == "user"
            if valid_to is None:
                valid_to = event.ordinal
        elif kind == "window-close":
            if valid_to is None:
                valid_to = event.ordinal
        elif kind == "overturned":
            overturn(event, log, overturned)
    return Standing(
        status, confirmed, contradicted, helpful, harmful, record.origin, last_confirmed, valid_to, by, reason, ended_by,
        path, person_deprecated, tuple([kind for kind in overturned if unconfirmed(overturned[kind], last_confirmed)]),
    )  # fmt: skip


def overturn(event: Event, log: Log, overturned: dict[str, int]) -> None:
    """Note the kind of decision that a person's `overturned` event overruled, with the ordinal of that."""
    if event.origin == "user" and event.overturns in log.identities:
        named = log.events[log.identities.index(event.overturns)]
        if named.type in DECISIONS:
            overturned[named.type] = event.ordinal


def repeats(event: Event, overturned: Mapping[str, int], last_confirmed: int | None) -> bool:
    """Whether an agent takes a decision again that a person overruled, with no later confirmation (contract, section 5)."""
    since = overturned.get(event.type) if overturned and event.origin != "user" else None
    return since is not None and unconfirmed(since, last_confirmed)


def unconfirmed(since: int, last_confirmed: int | None) -> bool:
    return last_confirmed is None or last_confirmed <= since


def up_to(log: Log, as_of: int | None) -> Log:
    """The log as it was at build `as_of`: the events with an ordinal up to it."""
    if as_of is None:
        return log
    kept = [index for index, event in enumerate(log.events) if event.ordinal <= as_of]
    return Log(
        tuple(log.events[index] for index in kept),
        tuple(log.lines[index] for index in kept),
        tuple(log.identities[index] for index in kept),
    )


def in_order(events: Sequence[Event]) -> bool:
    """Whether the events of a log without repeats surely stand in reading order already: a cheap test that may say no."""
    before_ordinal, before_at = -1, EPOCH
    for event in events:
        at = event.at or EPOCH
        if event.ordinal < before_ordinal or (event.ordinal == before_ordinal and at <= before_at):
            return False
        before_ordinal, before_at = event.ordinal, at
    return True


def timeline(record: Record, log: Log, as_of: int | None = None) -> list[Step]:
    """Every event in reading order with the trust and status after it, and why it did not count where it did not."""
    log = up_to(log, as_of)
    order = reading_order(log)
    dead = counts_for_nothing(log, order)
    steps: list[Step] = []
    status: Status = "candidate"
    counts = {"confirmed": 0, "contradicted": 0, "helpful": 0, "harmful": 0}
    last_confirmed: int | None = None
    overturned: dict[str, int] = {}
    for index in order:
        event, identity = log.events[index], log.identities[index]
        if identity in dead:
            why = "taken back by a later event"
        elif repeats(event, overturned, last_confirmed):
            why = "a person overruled this decision, and no later run confirmed the record"
        else:
            why = not_allowed(event, status, record)
        if not why:
            if event.type in counts:
                counts[event.type] += 1
            if event.type == "confirmed":
                last_confirmed = event.ordinal
            if event.type == "overturned":
                overturn(event, log, overturned)
            status = NEXT.get((event.type, status), status)
        trust = sums.trust(**counts, origin=record.origin)
        steps.append(Step(event, identity, log.lines[index], identity not in dead, not why, trust, status, why))
    return steps


def not_allowed(event: Event, status: Status, record: Record) -> str:
    """Why an event has no effect on a record of this status; empty where it has one."""
    if event.type == "overturned" and event.origin != "user":
        return "only a person may overturn"
    if event.type == "promoted" and record.kind not in PROMOTABLE_KINDS:
        return f"a {record.kind or 'record of no known kind'} cannot become active"
    if event.type in DECISIONS and (event.type, status) not in NEXT:
        return NEEDS[event.type].format(status)
    return ""


NEEDS = {
    "promoted": "only a candidate can be promoted, and it was {}",
    "superseded": "only a candidate or active record can be superseded, and it was {}",
    "deprecated": "it was {} already",
}
