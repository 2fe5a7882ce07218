"""What several rules about the outcome log share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memidex.history.standing import Step, counts_for_nothing, reading_order, timeline
from memidex.records.memidex.bundle import Bundle
from memidex.records.memidex.places import Place
from memidex.records.memidex.read import Log
from memidex.records.memidex.values import Event
from memidex.rules.rule import BundleCheck, Report
from memidex.store.snapshot import Root

LOG = "evidence/outcomes.jsonl"


def at(line: int, name: str) -> Place:
    """The member `name` of the event in that line, from 0."""
    return Place((line, name))


def counting(log: Log) -> Iterator[tuple[int, Event]]:
    """(line, event) in reading order, without repeats and without what a later event took back.

    A log only grows, so taking an event back is the one way to mend it: what is taken back is no longer reported.
    """
    order = reading_order(log)
    dead = counts_for_nothing(log, order)
    for index in order:
        if log.identities[index] not in dead:
            yield log.lines[index], log.events[index]


def steps(bundle: Bundle) -> Iterator[tuple[str, Step]]:
    """(status before it, step) of every event of the record's log that was not taken back."""
    before = "candidate"
    for step in timeline(bundle.record, bundle.log):
        if step.live:
            yield before, step
        before = step.status


def from_log(name: str) -> BundleCheck:
    """The check of a rule that the parser of the log finds: it passes on the problems filed under the rule's name."""

    def check(bundle: Bundle, root: Root) -> Iterable[Report]:
        file = bundle.files.get(LOG)
        if not file or not file.problems:
            return ()
        return [Report(LOG, problem.at, problem.message) for problem in file.problems if problem.rule == name]

    return check
