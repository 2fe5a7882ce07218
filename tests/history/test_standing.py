"""The fold of a log: what changes a standing, and what must not."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memidex.history import trust as sums
from memidex.history.standing import Standing, counts_for_nothing, reading_order, standing, timeline
from memidex.records.memidex.bundle import read
from memidex.records.memidex.read import Log, identity
from memidex.records.memidex.render import events as written
from memidex.records.memidex.values import Event, Record
from memidex.records.memidex.vocabulary import DEPRECATION_REASONS, EVENTS, PROMOTION_PATHS

START = datetime(2026, 1, 1, tzinfo=UTC)
RECORD = Record(id="fact-el-button-a-0123456789abcdef", kind="fact", subtype="behavioral")


def log_of(events: list[Event]) -> Log:
    """The log as it is read from a file with one line an event, so that identities are the reader's own."""
    log = read("/r/memory/p/bundles/x", "p", {"evidence/outcomes.jsonl": written(events).encode()}).log
    assert len(log.events) == len(events)
    return log


@st.composite
def logs(draw: st.DrawFn) -> list[Event]:
    """Events of every type, some without id or time, whose retractions name earlier, later and missing ones."""
    count = draw(st.integers(0, 12))
    names = [f"e{index}" for index in range(count)]
    found: list[Event] = []
    for name in names:
        kind = draw(st.sampled_from([*EVENTS, "retracted", "overturned", "promoted"]))
        targets = draw(st.lists(st.sampled_from([*names, "missing"]), max_size=3))
        found.append(
            Event(
                draw(st.integers(0, 5)),
                draw(st.sampled_from(["user", "agent-verified"])),
                kind,  # type: ignore[arg-type]
                name if draw(st.booleans()) or kind in ("retracted", "overturned") else None,
                draw(st.none() | st.integers(0, 3).map(lambda seconds: START + timedelta(seconds=seconds))),
                path=draw(st.sampled_from(PROMOTION_PATHS)) if kind == "promoted" else None,  # type: ignore[arg-type]
                by=draw(st.none() | st.just("fact-x-0123456789abcdef")) if kind == "superseded" else None,
                reason=draw(st.sampled_from(DEPRECATION_REASONS)) if kind == "deprecated" else None,  # type: ignore[arg-type]
                retracts=tuple(targets) if kind == "retracted" else None,
                overturns=(targets or ["missing"])[0] if kind == "overturned" else None,
            )
        )
    return found


records = st.builds(
    lambda kind, origin: Record(kind=kind, origin=origin),
    st.sampled_from(["fact", "caution", "procedure", "unknown", "policy", ""]),
    st.sampled_from(["user", "agent-verified"]),
)


@given(records, logs(), st.randoms(use_true_random=False))
def test_the_order_of_the_lines_does_not_matter(record: Record, events: list[Event], random: object) -> None:
    shuffled = list(events)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert standing(record, log_of(shuffled)) == standing(record, log_of(events))
    same = [step._replace(line=0) for step in timeline(record, log_of(events))]
    assert [step._replace(line=0) for step in timeline(record, log_of(shuffled))] == same


@given(records, logs(), st.data())
def test_a_repeated_line_changes_nothing(record: Record, events: list[Event], data: st.DataObject) -> None:
    again = data.draw(st.lists(st.sampled_from(events), max_size=4)) if events else []
    assert standing(record, log_of([*events, *again])) == standing(record, log_of(events))


@given(records, logs(), st.data())
def test_retracting_an_event_equals_never_having_said_it(
    record: Record, events: list[Event], data: st.DataObject
) -> None:
    events = [event for event in events if event.type not in ("retracted", "overturned")]
    gone = data.draw(st.lists(st.sampled_from(range(len(events))), unique=True)) if events else []
    log = log_of(events)
    # Two events without an id that say the same are one event.
    names = {log.identities[index] for index in gone}
    taken_back = Event(data.draw(st.integers(0, 9)), "user", "retracted", "undo", retracts=tuple(names))
    without = [event for event, name in zip(events, log.identities, strict=True) if name not in names]
    assert standing(record, log_of([*events, taken_back])) == standing(record, log_of(without))


@given(records, logs(), st.integers(0, 6))
def test_as_of_a_build_equals_the_log_up_to_it(record: Record, events: list[Event], build: int) -> None:
    upto = [event for event in events if event.ordinal <= build]
    assert standing(record, log_of(events), as_of=build) == standing(record, log_of(upto))
    assert [step.identity for step in timeline(record, log_of(events), as_of=build)] == [
        step.identity for step in timeline(record, log_of(upto))
    ]


@given(records, logs())
def test_the_standing_is_what_the_last_step_of_the_timeline_says(record: Record, events: list[Event]) -> None:
    steps = timeline(record, log_of(events))
    now = standing(record, log_of(events))
    if steps:
        assert (now.status, now.trust) == (steps[-1].status, steps[-1].trust)
    counted = [step.event.type for step in steps if step.effective]
    assert (now.confirmed, now.contradicted, now.helpful, now.harmful) == tuple(
        counted.count(kind) for kind in ("confirmed", "contradicted", "helpful", "harmful")
    )
    ends = [
        step.event.ordinal
        for step in steps
        if step.live and step.event.type in ("superseded", "deprecated", "window-close")
    ]
    assert now.valid_to == min(ends, default=None)
    assert all(bool(step.why) != step.effective for step in steps)


@given(logs())
def test_an_event_counts_for_nothing_just_where_one_that_counts_takes_it_back(events: list[Event]) -> None:
    log = log_of(events)
    dead = counts_for_nothing(log, reading_order(log))
    kept = {log.identities[index]: log.events[index] for index in reading_order(log)}
    takes = {
        name: set(event.retracts or ())
        if event.type == "retracted"
        else {event.overturns}
        if event.type == "overturned" and event.origin == "user"
        else set()
        for name, event in kept.items()
    }
    taken = {target for name, targets in takes.items() if name not in dead for target in targets - {name}}
    assert dead & set(kept) <= taken
    for name in taken & set(kept) - dead:
        assert in_circle(name, takes), "only the last of a circle counts though one that counts takes it back"


def in_circle(name: str, takes: dict[str, set[str]]) -> bool:
    seen: set[str] = set()
    waiting = list(takes[name] - {name})
    while waiting:
        here = waiting.pop()
        if here == name:
            return True
        if here not in seen:
            seen.add(here)
            waiting += takes.get(here, set()) - {here}
    return False


@pytest.mark.parametrize(
    ("origin", "confirmations", "trust"),
    [("user", 1, "0.80"), ("agent-verified", 1, "0.75"), ("agent-verified", 3, "0.83")],
)
def test_trust_is_as_the_seed_tells_it(origin: str, confirmations: int, trust: str) -> None:
    events = [Event(build, "agent-verified", "confirmed") for build in range(1, confirmations + 1)]
    now = standing(Record(kind="fact", origin=origin), log_of(events))  # type: ignore[arg-type]
    assert sums.shown(now.trust) == trust
    assert now.arithmetic.endswith(f"= {trust}")


def test_helpful_and_harmful_count_a_quarter() -> None:
    quarters = [Event(1, "user", "helpful", f"h{n}") for n in range(4)]
    harm = [Event(1, "user", "harmful", f"x{n}") for n in range(4)]
    one = standing(RECORD, log_of([Event(1, "user", "confirmed", "c"), Event(1, "user", "contradicted", "d")]))
    assert standing(RECORD, log_of([*quarters, *harm])).trust == one.trust


def retraction(name: str, *targets: str, build: int = 2, at: int = 0) -> Event:
    return Event(build, "user", "retracted", name, START + timedelta(seconds=at), retracts=targets)


PROMOTED = [Event(1, "user", "confirmed", "c", START), Event(1, "user", "promoted", "p", START, path="user-sovereign")]


def test_a_retraction_can_itself_be_retracted() -> None:
    once = [*PROMOTED, retraction("r1", "p", at=1)]
    twice = [*once, retraction("r2", "r1", at=2)]
    thrice = [*twice, retraction("r3", "r2", at=3)]
    assert [standing(RECORD, log_of(events)).status for events in (once, twice, thrice)] == [
        "candidate",
        "active",
        "candidate",
    ]


def test_of_two_that_retract_each_other_the_later_one_stays() -> None:
    log = [*PROMOTED, retraction("r1", "r2", "p", at=1), retraction("r2", "r1", at=2)]
    assert standing(RECORD, log_of(log)).status == "active"
    swapped = [*PROMOTED, retraction("r1", "r2", "p", at=2), retraction("r2", "r1", at=1)]
    assert standing(RECORD, log_of(swapped)).status == "candidate"


def test_what_a_circle_takes_back_does_not_decide_the_circle() -> None:
    # r3 is the last of all, but r2, which stays, takes it back.
    log = [*PROMOTED, retraction("r1", "r2", at=1), retraction("r2", "r1", "r3", at=2), retraction("r3", "p", at=3)]
    assert standing(RECORD, log_of(log)).status == "active"


def test_a_circle_of_three_is_settled_the_same_in_any_order_of_lines() -> None:
    circle = [retraction("r1", "r2", "p", at=1), retraction("r2", "r3", at=2), retraction("r3", "r1", at=3)]
    # r3 is the last and stays, so r1 counts for nothing, and what r1 took back counts.
    found = {standing(RECORD, log_of([*PROMOTED, *order])).status for order in permutations(circle)}
    assert found == {"active"}


def test_an_event_that_retracts_itself_takes_nothing_back() -> None:
    assert standing(RECORD, log_of([*PROMOTED, retraction("r1", "r1")])) == standing(RECORD, log_of(PROMOTED))


def test_a_long_row_of_retractions_is_settled_in_no_time() -> None:
    row = [retraction("r0", "p"), *(retraction(f"r{n}", f"r{n - 1}", at=n) for n in range(1, 20_000))]
    ring = [retraction(f"q{n}", f"q{(n + 1) % 20_000}", at=n) for n in range(20_000)]
    log = log_of([*PROMOTED, *row, *ring])
    before = time.process_time()
    assert standing(RECORD, log).status == "active"
    assert time.process_time() - before < 5


def test_an_agent_cannot_overturn() -> None:
    by_agent = Event(2, "agent-verified", "overturned", "o", overturns="p")
    assert standing(RECORD, log_of([*PROMOTED, by_agent])).status == "active"
    assert timeline(RECORD, log_of([*PROMOTED, by_agent]))[-1].why
    assert (
        standing(RECORD, log_of([*PROMOTED, Event(2, "user", "overturned", "o", overturns="p")])).status == "candidate"
    )


def test_what_a_person_overturned_is_overruled_until_a_later_build_confirms_the_record() -> None:
    overturned = [*PROMOTED, Event(2, "user", "overturned", "o", overturns="p")]
    assert standing(RECORD, log_of(PROMOTED)).overruled == ()
    assert standing(RECORD, log_of(overturned)).overruled == ("promoted",)
    same_build = [*overturned, Event(2, "agent-verified", "confirmed", "c2")]
    assert standing(RECORD, log_of(same_build)).overruled == ("promoted",)
    later = [*overturned, Event(3, "agent-verified", "confirmed", "c3")]
    assert standing(RECORD, log_of(later)).overruled == ()
    taken_back = [*overturned, retraction("r", "o", at=3)]
    assert standing(RECORD, log_of(taken_back)).overruled == ()


@pytest.mark.parametrize("origin", ["agent-verified", "user"])
def test_only_an_agent_may_not_take_an_overruled_decision_again(origin: str) -> None:
    again = Event(3, origin, "promoted", "again")  # type: ignore[arg-type]
    log = log_of([*PROMOTED, Event(2, "user", "overturned", "o", overturns="p"), again])
    assert standing(RECORD, log).status == ("active" if origin == "user" else "candidate")


def test_events_without_id_and_time_are_told_apart_by_their_lines() -> None:
    one, other = Event(1, "agent-verified", "confirmed"), Event(2, "agent-verified", "confirmed")
    assert standing(RECORD, log_of([one, other, one])).confirmed == 2
    named = identity(written([one]).encode())
    undone = standing(RECORD, log_of([one, other, Event(3, "user", "retracted", retracts=(named,))]))
    assert (undone.confirmed, undone.last_confirmed) == (1, 2)


def test_of_two_events_under_one_id_the_same_counts_wherever_it_stands() -> None:
    one, other = Event(1, "user", "confirmed", "x"), Event(1, "user", "contradicted", "x")
    assert standing(RECORD, log_of([one, other])) == standing(RECORD, log_of([other, one]))


@pytest.mark.parametrize("kind", ["procedure", "unknown", "policy", ""])
def test_only_a_fact_or_a_caution_becomes_active(kind: str) -> None:
    assert standing(Record(kind=kind), log_of(PROMOTED)).status == "candidate"  # type: ignore[arg-type]


def test_nothing_leads_back_from_deprecated_but_a_retraction() -> None:
    over = [*PROMOTED, Event(2, "user", "deprecated", "d", reason="forgotten")]
    more = [
        Event(3, "user", "promoted", "p2", path="user-sovereign"),
        Event(3, "user", "superseded", "s"),
        Event(3, "user", "confirmed", "c2"),
    ]
    assert standing(RECORD, log_of([*over, *more])).status == "deprecated"
    assert standing(RECORD, log_of([*over, retraction("r", "d")])).status == "active"


def test_an_empty_log_is_a_candidate_with_its_starting_trust() -> None:
    assert standing(RECORD, Log()) == Standing()
    assert sums.shown(standing(replace_origin("user"), Log()).trust) == "0.75"


def replace_origin(origin: str) -> Record:
    return Record(kind="fact", origin=origin)  # type: ignore[arg-type]


def test_the_window_ends_at_the_first_event_that_ends_it() -> None:
    log = [*PROMOTED, Event(4, "user", "window-close", "w"), Event(6, "user", "deprecated", "d", reason="retired")]
    assert standing(RECORD, log_of(log)).valid_to == 4
    assert standing(RECORD, log_of(log), as_of=3).valid_to is None
