"""`memidex accept`, `confirm`, `reject`, `forget`, `contradict`, `supersede`, `retract`, `overturn`, `seal`, `gc`: a person decides.

Each address is answered for itself. With `--format json` always one document, `{"version": 1, "results": [...]}`, also for a
single address: each result has `address`, the new `card` or `refused` and `message`, and the `events` that were written,
each with the `record` on whose log it is. `--dry-run` writes nothing, and `events` are those that would be written.
"""

from __future__ import annotations

import json
import os
from argparse import Namespace
from collections.abc import Iterable, Iterator
from typing import Any

from memidex import desk as desks
from memidex.cli import roots
from memidex.cli.console import CANNOT_RUN, DONE, REFUSED, Console, Parser, cut, line
from memidex.cli.records import printable, unknown
from memidex.editor import card as cards
from memidex.history import trust as sums
from memidex.history.change import Actor, Change, Operation, Policy, Refused
from memidex.learning.decide import Accepted, undo
from memidex.learning.retention import collection
from memidex.records.memidex.render import bare, line_of
from memidex.store import disk, opening, writing
from memidex.store.commit import Commit
from memidex.store.snapshot import Entry, Root, place_of

LOG = "evidence/outcomes.jsonl"
DONE_WORDS: dict[str, str] = {
    "confirm": "confirmed", "accept": "accepted", "reject": "rejected", "forget": "forgotten", "supersede": "superseded",
    "contradict": "contradicted", "retract": "taken back", "overturn": "overturned", "seal": "sealed",
}  # fmt: skip


def common_arguments(parser: Parser) -> None:
    parser.add_argument("--note", metavar="T", help="why; written beside each event")
    parser.add_argument(
        "--dry-run", action="store_true", help="print the events that would be written, and write nothing"
    )
    roots.json_argument(parser)
    roots.arguments(parser)


def address_arguments(parser: Parser) -> None:
    parser.add_argument(
        "address", nargs="+", metavar="ADDRESS", help="a record id, a short id (MEM-1), a URI, or a path"
    )
    common_arguments(parser)


accept_arguments = confirm_arguments = reject_arguments = forget_arguments = address_arguments
contradict_arguments = seal_arguments = address_arguments


def accept(options: Namespace, console: Console) -> int:
    return each(options, console, "accept")


def confirm(options: Namespace, console: Console) -> int:
    return each(options, console, "confirm")


def reject(options: Namespace, console: Console) -> int:
    return each(options, console, "reject")


def forget(options: Namespace, console: Console) -> int:
    return each(options, console, "forget")


def contradict(options: Namespace, console: Console) -> int:
    return each(options, console, "contradict")


def seal(options: Namespace, console: Console) -> int:
    return each(options, console, "seal")


def each(options: Namespace, console: Console, operation: Operation) -> int:
    desk = Desk(options, console, options.address)
    for address in options.address:
        desk.ask(address, Change(operation=operation, record=desk.place(address), note=options.note))
    return desk.answer()


def supersede_arguments(parser: Parser) -> None:
    parser.add_argument("address", metavar="ADDRESS", help="the record that is replaced")
    parser.add_argument("--summary", metavar="T", default="", help="what the new record says")
    parser.add_argument("--detail", metavar="T", default="", help="how it was seen, and what else a reader needs")
    parser.add_argument("--by", metavar="ADDRESS", help="a record that is there and replaces it, in place of a new one")
    common_arguments(parser)


def supersede(options: Namespace, console: Console) -> int:
    desk = Desk(options, console, [options.address])
    change = Change(
        operation="supersede",
        record=desk.place(options.address),
        note=options.note,
        summary=options.summary,
        detail=options.detail,
        by=None if options.by is None else desk.place(options.by),
    )
    desk.ask(options.address, change)
    return desk.answer()


def retract_arguments(parser: Parser) -> None:
    parser.add_argument(
        "event", nargs="+", metavar="EVENT", help="an event's id as in `get --format json`; a record's address takes back what a person decided last on it"
    )  # fmt: skip
    common_arguments(parser)


def retract(options: Namespace, console: Console) -> int:
    desk = Desk(options, console, options.event)
    named: dict[str, list[str]] = {}
    for name in options.event:
        found = desk.root.find(desk.place(name))
        if found:
            change = undo(desk.root, found)
            if change is None:
                desk.refused(
                    name, Refused("nothing-to-undo", f"no person's decision on {found.id} is left to take back")
                )
            else:
                desk.ask(name, with_note(change, options.note))
            continue
        directory = bearer(desk.root, name)
        if directory is None:
            desk.refused(name, Refused("unknown-event", f"no log has the event {name}"))
        else:
            named.setdefault(directory, []).append(name)
    for directory, events in named.items():  # those of one record are one decision
        change = Change(operation="retract", record=directory, events=tuple(events), note=options.note)
        desk.ask(" ".join(events), change)
    return desk.answer()


def overturn_arguments(parser: Parser) -> None:
    parser.add_argument("event", metavar="EVENT", help="an agent's promoted, superseded or deprecated event, by its id")
    common_arguments(parser)


def overturn(options: Namespace, console: Console) -> int:
    desk = Desk(options, console, [])
    directory = bearer(desk.root, options.event)
    if directory is None:
        desk.refused(options.event, Refused("unknown-event", f"no log has the event {options.event}"))
    else:
        change = Change(operation="overturn", record=directory, events=(options.event,), note=options.note)
        desk.ask(options.event, change)
    return desk.answer()


def with_note(change: Change, note: str | None) -> Change:
    return Change(operation=change.operation, record=change.record, events=change.events, note=note, label=change.label)


def bearer(root: Root, event: str) -> str | None:
    """The folder of the record whose log has an event; None where none has."""
    wanted = line_of(event).encode()
    hashed = len(event) == 64 and all(character in "0123456789abcdef" for character in event)
    for directory in root.entries:
        data = disk.read_other(f"{directory}/{LOG}", root.path)
        if isinstance(data, bytes) and (hashed or wanted in data):
            bundle = root.reader.bundle(directory)
            if bundle and event in bundle.log.identities:
                return directory
    return None


class Desk:
    """Where changes are asked for one after another, each decided upon the root as the one before left it."""

    def __init__(self, options: Namespace, console: Console, addresses: Iterable[str]) -> None:
        self.options = options
        self.console = console
        self.root = roots.opened(root_of(addresses, options, console), console)
        self.actor = Actor("user", desks.who(console.environment))
        self.policy = Policy(ci=desks.in_ci(console.environment))
        self.results: list[dict[str, Any]] = []
        self.code = DONE

    @property
    def whole(self) -> bool:
        return self.options.format == "json"

    def place(self, address: str) -> str:
        """What the root finds a record by: of a path the bundle's folder."""
        path = self.console.absolute(address)
        if "\0" in path or not os.path.exists(path):
            return address
        found = place_of(self.root.path, f"{path}/record.md" if os.path.isdir(path) else path)
        return found[0] if found else address

    # One change -------------------------------------------------------------------------------------------------------

    def ask(self, address: str, change: Change) -> None:
        if self.root.find(change.record) is None:
            self.refused(address, Refused("unknown-record", unknown(address, self.root)))
            return
        try:
            outcome = desks.ask(
                self.root, change, self.actor, self.policy, rehearsal=self.options.dry_run, again=self.again
            )
        except OSError as error:
            self.failed(address, error)
            return
        self.root = outcome.root
        if isinstance(outcome.answer, Refused):
            self.refused(address, outcome.answer)
            return
        for place in outcome.unsealed:
            self.console.warn(f"{place}: written, but its manifest could not be sealed")
        state = outcome.before.standing if outcome.before else None
        self.tell(address, change, outcome.answer, f"{state.status}, trust {sums.shown(state.trust)}" if state else "")

    def again(self, root: Root, directories: Iterable[str]) -> Root:
        """The root after these bundles were read again."""
        reader = root.reader
        if isinstance(reader, roots.Reader):
            reader.last.clear()
            reader.shown.clear()
        return opening.refreshed(root, directories)

    # Answers ----------------------------------------------------------------------------------------------------------

    def tell(self, address: str, change: Change, answer: Accepted, before: str) -> None:
        events = list(events_of(answer.commit))
        old = self.root.find(change.record)
        found = self.root.find(answer.record) or old
        if found is None:
            return
        self.root = opening.give_short_ids(self.root, [found.id])
        card = cards.card(self.root, found)
        self.results.append(
            {"address": address, "card": printable(card, self.console) if card else None, "events": events}
        )
        if self.whole:
            return
        if self.options.dry_run:
            for text in plan_lines(answer.commit):
                self.console.print(line(text))
            return
        state = (old or found).standing
        word = f"{DONE_WORDS[change.operation]}: {change.label}" if change.label else DONE_WORDS[change.operation]
        now = f"{state.status}, trust {sums.shown(state.trust)}"
        self.console.print(
            line(f"{self.name(old or found)} {word}: {before} → {now}" if before != now else f"{self.name(old or found)} {word}: {now}")
        )  # fmt: skip
        if old is not None and found.directory != old.directory:
            state = found.standing
            self.console.print(line(f"{self.name(found)} replaces it: {state.status}, trust {sums.shown(state.trust)}"))

    def name(self, entry: Entry) -> str:
        return f"{self.root.short(entry) or entry.id} ({cut(line(cards.title(entry)), 60)})"

    def refused(self, address: str, answer: Refused) -> None:
        self.code = max(self.code, REFUSED)
        self.results.append({"address": address, "refused": answer.reason, "message": answer.message, "events": []})
        if not self.whole:
            self.console.warn(f"{answer.message} [{answer.reason}]")

    def failed(self, address: str, error: OSError) -> None:
        self.code = CANNOT_RUN
        message = f"{error.filename or self.root.path}: {error.strerror or error}"
        self.results.append({"address": address, "error": message, "events": []})
        if not self.whole:
            self.console.warn(message)

    def answer(self) -> int:
        if self.whole:
            dry = {"dryRun": True} if self.options.dry_run else {}
            self.console.json({"version": 1, **dry, "results": self.results})
        return self.code


def root_of(addresses: Iterable[str], options: Namespace, console: Console) -> str:
    """The root that the addresses are looked up in: that of a path among them, else as for any other command."""
    if options.root is None:
        for address in addresses:
            path = console.absolute(address)
            above = disk.root_above(path) if "\0" not in path and os.path.exists(path) else None
            if above:
                return roots.readable(above)
    return roots.one(options, console)


def events_of(commit: Commit) -> Iterator[dict[str, Any]]:
    """The events of a commit as they are in the logs, each with its record."""
    for part in commit.parts:
        for event in part.events:
            yield {"record": part.place.rpartition("/")[2], **bare(event)}
    for birth in commit.births:
        for text in birth.files[LOG].splitlines():
            yield {"record": birth.place.rpartition("/")[2], **json.loads(text)}


def plan_lines(commit: Commit) -> Iterator[str]:
    """What a commit would write, for people."""
    for birth in commit.births:
        yield f"would make {birth.place}"
    for part in commit.parts:
        if part.events:
            yield f"would append to {part.place}/{LOG}"
            for event in part.events:
                yield f"  {line_of(bare(event))}"
        for edit in part.relations:
            verb = {"add": "add", "drop": "remove", "collect": "mark as collected"}[edit.action]
            yield f"would {verb} `{edit.relation.type}` {edit.relation.target} in {part.place}/relations.json"
        if part.seals:
            yield f"would seal {part.place}"
    for rule in commit.rules:
        yield f"would {'append to' if rule.action == 'add' else 'remove from'} policies.md: {rule.line}"
    for removal in commit.removals:
        yield f"would remove {removal.place}"


# gc -------------------------------------------------------------------------------------------------------------------


def gc_arguments(parser: Parser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="print what would be removed, and remove nothing")
    roots.json_argument(parser)
    roots.arguments(parser)


def gc(options: Namespace, console: Console) -> int:
    root = roots.opened(roots.one(options, console), console)
    commit = collection(root)
    gone = [removal.place for removal in commit.removals]
    marked = [part.place for part in commit.parts]
    if gone and not options.dry_run:
        written = writing.commit(root.path, commit, "memidex gc")
        if isinstance(written, Refused):
            if options.format == "json":
                console.json(
                    {"version": 1, "refused": written.reason, "message": written.message, "removed": [], "marked": []}
                )
            else:
                console.warn(f"{written.message} [{written.reason}]")
            return REFUSED
    if options.format == "json":
        dry = {"dryRun": True} if options.dry_run else {}
        console.json({"version": 1, **dry, "removed": gone, "marked": marked})
        return DONE
    for place in gone:
        console.print(line(f"{'would remove' if options.dry_run else 'removed'} {place}"))
    told = f"{len(gone):,} old generation{'' if len(gone) == 1 else 's'}"
    console.say(f"{told} {'would go' if options.dry_run else 'removed'}; relations marked in {len(marked):,} record{'' if len(marked) == 1 else 's'}")  # fmt: skip
    return DONE


__all__ = [
    "accept", "confirm", "contradict", "forget", "gc", "overturn", "reject", "retract", "seal", "supersede",
]  # fmt: skip
