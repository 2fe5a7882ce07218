"""The one function that decides every change, whoever asks (contract, section 10; learning, sections 5 to 7).

It looks at the root as it is, and answers with what is to be written or why nothing is. It writes nothing, reads no clock
and draws no chance: the time and the ids are handed in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from msgspec import Struct

from memidex.history.change import Actor, Change, Held, Policy, Refused, tail
from memidex.history.standing import Standing, Step, standing, timeline
from memidex.records import secrets
from memidex.records.memidex import bundle as bundles
from memidex.records.memidex import ids, render
from memidex.records.memidex.anchors import fold
from memidex.records.memidex.bundle import Bundle
from memidex.records.memidex.read import Log
from memidex.records.memidex.values import Event, Provenance, Record, Relation, Writer
from memidex.records.memidex.vocabulary import PROMOTABLE_KINDS
from memidex.store.commit import Birth, Commit, Part, RelationEdit, Rule, relations_after
from memidex.store.snapshot import Entry, Root, normal_address

LOG, RECORD, RELATIONS, POLICIES = "evidence/outcomes.jsonl", "record.md", "relations.json", "policies.md"
PROPOSED, SUPERSEDES, SUPERSEDED_BY = "proposed-supersession-of", "supersedes", "superseded-by"
TICK = timedelta(microseconds=1)
ENDS = ("superseded", "deprecated")
OVERTURNABLE = ("promoted", *ENDS)


class Accepted(Struct, frozen=True):
    """A change that is granted: what is to be written, and the record that it is about afterwards."""

    commit: Commit
    record: str
    """The id of the record whose card answers the change; of a supersession that of the new one."""


Decision = Accepted | Held | Refused


def decide(
    root: Root, change: Change, actor: Actor, policy: Policy, ordinal: int, now: datetime, new_id: Callable[[], str]
) -> Decision:
    """What a change comes to: the exact events and edits, or a named reason of `learning.reasons`.

    `ordinal` is the product's current one. Of the events of one decision all have one time, later than that of any event
    of the same ordinal before, so that whatever clocks say they are read last; it is also what tells them together.
    """
    try:
        return decided(Case(root, change, actor, policy, ordinal, now, new_id))
    except Answer as answer:
        return answer.value


class Answer(Exception):
    """A change that is not granted, on its way out of `decide`."""

    def __init__(self, value: Held | Refused) -> None:
        super().__init__(value.message)
        self.value = value


def refuse(reason: str, message: str) -> Answer:
    return Answer(Refused(reason, message))


class Subject(NamedTuple):
    """A record that a decision looks at, as it stands now."""

    entry: Entry
    bundle: Bundle
    state: Standing

    @property
    def log(self) -> Log:
        return self.bundle.log

    @property
    def steps(self) -> list[Step]:
        return timeline(self.bundle.record, self.bundle.log)


@dataclass
class Draft:
    """What is going to happen to one bundle. Events have neither id nor time yet."""

    subject: Subject
    events: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    relations: list[RelationEdit] = field(default_factory=list[RelationEdit])
    seals: bool = False

    def add(self, kind: str, target: str, ordinal: int) -> None:
        self.relations.append(RelationEdit("add", Relation(kind, target, ordinal)))


class Case:
    """One change that is being decided, with everything that it depends on."""

    def __init__(
        self,
        root: Root,
        change: Change,
        actor: Actor,
        policy: Policy,
        ordinal: int,
        now: datetime,
        new_id: Callable[[], str],
    ) -> None:
        self.root = root
        self.change = change
        self.actor = actor
        self.policy = policy
        self.ordinal = ordinal
        self.now = now
        self.new_id = new_id
        self.drafts: dict[str, Draft] = {}
        self.rules: list[Rule] = []
        self.main = self.subject(self.found(change.record), "seal" if change.operation == "seal" else "")

    @property
    def person(self) -> bool:
        return self.actor.origin == "user"

    def found(self, address: str) -> Entry:
        entry = self.root.find(address)
        if entry is None:
            raise refuse("unknown-record", f"no record has the address {address!r}")
        if len(self.root.all_of(entry.id)) > 1 and address != entry.directory:
            raise refuse("repeated-id", f"several records bear the id {entry.id}; name one by its folder")
        return entry

    def subject(self, entry: Entry, purpose: str = "") -> Subject:
        """The record as it stands; refused where what it says cannot be told."""
        bundle = self.root.bundle(entry)
        if bundle is None:
            raise refuse("unknown-record", f"{entry.id} went in the meantime")
        if purpose == "seal":
            if bundle.faults:
                name, fault = min(bundle.faults.items())
                raise refuse("unsound", f"{name} of {entry.id}: {fault.message}")
        else:
            self.look_at(entry, bundle)
        return Subject(entry, bundle, standing(bundle.record, bundle.log))

    def look_at(self, entry: Entry, bundle: Bundle) -> None:
        if bundle.record.version != 2:
            raise refuse("unsupported-version", f"{entry.id} is of version {bundle.record.version}")
        for name in (RECORD, LOG):
            fault = bundle.faults.get(name) or bundle.faults.get(name.partition("/")[0])
            file = bundle.files.get(name)
            if fault or file is None:
                raise refuse("unsound", f"{name} of {entry.id}: {fault.message if fault else 'it is not there'}")
            wrong = next((problem for problem in file.problems if problem.rule in UNSOUND), None)
            if wrong:
                raise refuse("unsound", f"{name} of {entry.id}: {wrong.message}")
        if not bundle.record.kind:
            raise refuse("unsound", f"{RECORD} of {entry.id}: of what kind the record is cannot be read")

    def draft(self, subject: Subject) -> Draft:
        return self.drafts.setdefault(subject.entry.directory, Draft(subject))

    def ordinal_of(self, entry: Entry) -> int:
        """The current ordinal of the record's product; a record is never decided upon before it was created."""
        same = entry.product == self.main.entry.product
        return max(self.ordinal if same else self.root.product(entry.product).current, entry.created)

    def time(self, ordinal: int | None = None) -> datetime:
        """The one time of the decision's events."""
        latest = self.now
        for draft in self.drafts.values():
            here = self.ordinal_of(draft.subject.entry) if ordinal is None else ordinal
            for event in draft.subject.log.events:
                if event.ordinal == here and event.at and event.at >= latest and event.at.year < 9999:
                    latest = event.at + TICK
        return latest

    def event(self, ordinal: int, at: datetime, what: dict[str, Any]) -> Event:
        return Event(
            ordinal,
            self.actor.origin,
            id=self.new_id(),
            at=at,
            actor=self.actor.name,
            note=self.change.note or None,
            **what,
        )

    def commit(self, births: Callable[[datetime], Iterable[Birth]] = lambda _: ()) -> Commit:
        at = self.time()
        parts: list[Part] = []
        for draft in self.drafts.values():
            entry, bundle, _ = draft.subject
            ordinal = self.ordinal_of(entry)
            if draft.relations:
                self.check_relations(draft)
            parts.append(
                Part(
                    place=place_of(self.root, entry),
                    tail=tail_of(bundle),
                    events=tuple([self.event(ordinal, at, what) for what in draft.events]),
                    relations=tuple(draft.relations),
                    seals=draft.seals,
                )
            )
        return Commit(parts=tuple(parts), births=tuple(births(at)), rules=tuple(self.rules))

    def check_relations(self, draft: Draft) -> None:
        entry, bundle, _ = draft.subject
        file = bundle.files.get(RELATIONS)
        fault = bundle.faults.get(RELATIONS)
        if fault or relations_after(file.data if file else None, draft.relations) is None:
            raise refuse("unreadable-relations", f"{RELATIONS} of {entry.id} cannot be edited")


UNSOUND = frozenset({"unreadable-frontmatter", "conflict-markers", "unsupported-version"})


def place_of(root: Root, entry: Entry) -> str:
    return entry.directory.removeprefix(root.path + "/")


def tail_of(bundle: Bundle) -> str:
    file = bundle.files.get(LOG)
    return tail(file.data if file else b"")


def decided(case: Case) -> Decision:
    change, policy = case.change, case.policy
    if not policy.trusted:
        raise refuse("untrusted", "the folder is not trusted, so nothing in it is changed")
    if policy.read_only:
        raise refuse("read-only", f"{case.root.path} cannot be written")
    if change.seen is not None and change.seen != tail_of(case.main.bundle):
        raise refuse(
            "stale", f"{case.main.entry.id} changed after it was looked at; it is {case.main.state.status} now"
        )
    if not case.person:
        agents(case)
    match change.operation:
        case "confirm":
            live(case)
            confirm(case, case.main)
        case "accept":
            accept(case)
        case "reject":
            reject(case)
        case "forget":
            forget(case)
        case "contradict":
            live(case)
            if last_word(case, case.main) == "contradicted":
                raise already(case, "contradicted it at this build")
            case.draft(case.main).events.append({"type": "contradicted"})
        case "supersede":
            return supersede(case)
        case "retract":
            retract(case)
        case "overturn":
            overturn(case)
        case "seal":
            seal(case)
    return Accepted(case.commit(), case.main.entry.id)


# What the state allows ------------------------------------------------------------------------------------------------


def live(case: Case) -> None:
    state = case.main.state
    if not state.live:
        why = f", {state.reason}" if state.reason else f" by {state.by}" if state.by else ""
        raise refuse("not-live", f"{case.main.entry.id} is {state.status}{why}")


def already(case: Case, what: str) -> Answer:
    who = case.actor.name or ("a person" if case.person else "the agent")
    return refuse("already-so", f"{case.main.entry.id}: {who} {what}")


def last_word(case: Case, subject: Subject) -> str | None:
    """What this actor said last of the record at this build, for or against it; None where nothing."""
    ordinal = case.ordinal_of(subject.entry)
    said = [
        step.event.type
        for step in subject.steps
        if step.live
        and step.event.type in ("confirmed", "contradicted")
        and (step.event.ordinal, step.event.origin, step.event.actor) == (ordinal, case.actor.origin, case.actor.name)
    ]
    return said[-1] if said else None


def is_proposal(subject: Subject) -> bool:
    return any(relation.type == PROPOSED and not relation.collected for relation in subject.bundle.relations.relations)


def agents(case: Case) -> None:
    """What an agent may not, whatever the state (learning, sections 5 and 7)."""
    operation, record = case.change.operation, case.main.entry.id
    if operation in ("accept", "overturn", "seal"):
        raise refuse("agent-may-not", f"only a person may {operation}")
    if operation not in ("supersede", "reject", "forget"):
        return
    if operation != "supersede" and case.main.state.status == "active":
        raise refuse("agent-retires-active", f"{record} is active, and an agent cannot retire it on its own")
    wanted = "superseded" if operation == "supersede" else "deprecated"
    if wanted in case.main.state.overruled:
        raise refuse("overturned", f"a person overturned this on {record}, and no later build has confirmed the record")
    if case.policy.ci:
        raise Answer(Held("ci-run", f"{record} is not changed by a CI run"))


# Operations -----------------------------------------------------------------------------------------------------------


def confirm(case: Case, subject: Subject) -> None:
    """`confirmed`, and of a candidate that can be active `promoted`; what the actor said at this build is not repeated."""
    promotes = case.person and subject.state.status == "candidate" and subject.entry.kind in PROMOTABLE_KINDS
    said = last_word(case, subject) == "confirmed"
    events = case.draft(subject).events
    if not said:
        events.append({"type": "confirmed"})
    if promotes:
        events.append({"type": "promoted", "path": "user-sovereign"})
    if not events and subject is case.main:
        raise already(case, "confirmed it at this build")


def accept(case: Case) -> None:
    subject = case.main
    if is_proposal(subject):
        live(case)
        accept_proposal(case)
        return
    if subject.state.status == "active":
        raise refuse("already-so", f"{subject.entry.id} is active")
    live(case)
    if subject.entry.kind == "policy":
        accept_policy(case)
    else:
        confirm(case, subject)


def accept_proposal(case: Case) -> None:
    proposal = case.main
    ordinal = case.ordinal_of(proposal.entry)
    said = last_word(case, proposal) == "confirmed"
    draft = case.draft(proposal)
    if not said:
        draft.events.append({"type": "confirmed"})
    if proposal.state.status == "candidate" and proposal.entry.kind in PROMOTABLE_KINDS:
        draft.events.append({"type": "promoted", "path": "user-sovereign"})
    for relation in proposal.bundle.relations.relations:
        if relation.type != PROPOSED or relation.collected:
            continue
        target = case.root.find(relation.target)
        if target is None or target.directory == proposal.entry.directory:
            raise refuse("target-missing", f"{relation.target}, which the proposal would replace, is not there")
        old = case.subject(target)
        if not old.state.live:
            raise refuse("target-not-live", f"{target.id}, which the proposal would replace, is {old.state.status}")
        draft.relations.append(RelationEdit("drop", relation))
        draft.add(SUPERSEDES, target.id, ordinal)
        replace(case, old, proposal.entry.id)


def replace(case: Case, old: Subject, by: str) -> None:
    """The old record's side of a supersession."""
    draft = case.draft(old)
    draft.events += [{"type": "superseded", "by": by}, {"type": "window-close"}]
    draft.add(SUPERSEDED_BY, by, case.ordinal_of(old.entry))


def accept_policy(case: Case) -> None:
    subject = case.main
    rule = rule_of(subject)
    file = case.root.reader.file(f"{case.root.path}/{POLICIES}")
    there = file is not None and rule.address in file.source.string
    said = last_word(case, subject) == "confirmed"
    if there and said:
        raise already(case, f"confirmed it at this build, and its rule is in {POLICIES}")
    if not said:
        case.draft(subject).events.append({"type": "confirmed"})
    else:
        case.draft(subject)
    if not there:
        case.rules.append(rule)


def rule_of(subject: Subject) -> Rule:
    """The line of a policy in `policies.md`: what it says, and where that comes from."""
    address = f"agentqa://memory/{subject.entry.id}"
    return Rule("add", f"- {fold(subject.bundle.record.summary)} ({address})", address)


def reject(case: Case) -> None:
    state = case.main.state
    if state.status == "deprecated" and state.reason == "rejected":
        raise refuse("already-so", f"{case.main.entry.id} is rejected already")
    live(case)
    if state.status == "active" and not is_proposal(case.main):
        raise refuse("not-a-candidate", f"{case.main.entry.id} is active, and neither a candidate nor a proposal")
    case.draft(case.main).events.append({"type": "deprecated", "reason": "rejected"})


def forget(case: Case) -> None:
    if case.main.state.status == "deprecated":
        raise refuse("already-so", f"{case.main.entry.id} is {case.main.state.reason or 'deprecated'} already")
    live(case)
    case.draft(case.main).events += [{"type": "deprecated", "reason": "forgotten"}, {"type": "window-close"}]


def seal(case: Case) -> None:
    subject = case.main
    integrity = subject.bundle.integrity
    if integrity in ("sealed", "appended"):
        more = "" if integrity == "sealed" else " but for its log, which the next decision seals"
        raise refuse("already-so", f"{subject.entry.id} is as it was sealed{more}")
    manifest = subject.bundle.files.get("manifest.json")
    if integrity == "unknown" and manifest is not None and manifest.tree is not None:
        raise refuse("manifest-unknown", f"the manifest of {subject.entry.id} is of a shape that is not known")
    case.draft(subject).seals = True


# Superseding ----------------------------------------------------------------------------------------------------------


def supersede(case: Case) -> Decision:
    change, old = case.change, case.main
    live(case)
    ordinal = case.ordinal_of(old.entry)
    if change.by is not None:
        new = case.subject(case.found(change.by))
        if new.entry.directory == old.entry.directory:
            raise refuse("bad-replacement", f"{old.entry.id} cannot replace itself")
        if not new.state.live:
            raise refuse("target-not-live", f"{new.entry.id}, which would replace it, is {new.state.status}")
        replace(case, old, new.entry.id)
        confirm(case, new)
        draft = case.draft(new)
        draft.relations += [RelationEdit("drop", relation) for relation in naming(case.root, new, old, PROPOSED)]
        draft.add(SUPERSEDES, old.entry.id, ordinal)
        return Accepted(case.commit(), new.entry.id)
    record = replacement(case, ordinal)
    if change.draft:
        return Accepted(case.commit(lambda at: [birth(case, record, at)]), record.id)
    replace(case, old, record.id)
    return Accepted(case.commit(lambda at: [birth(case, record, at)]), record.id)


def replacement(case: Case, ordinal: int) -> Record:
    """The record that a person words in place of another: about the same, of the same kind."""
    change, old = case.change, case.main.bundle.record
    summary, detail = change.summary.strip(), change.detail.strip()
    if change.draft:
        summary, detail = summary or f"Draft: {old.summary.strip()}", detail or old.detail.strip()
    if not summary or not detail:
        raise refuse("no-replacement", "a replacement needs a summary and a detail")
    if not old.anchors or old.scope is None:
        raise refuse("unsound", f"the anchors or the scope of {case.main.entry.id} cannot be read")
    hit = next(iter((*secrets.find(summary), *secrets.find(detail), *secrets.find(change.note or ""))), None)
    if hit:
        raise refuse("credential", "the text holds what looks like a credential")
    anchors = [anchor.normalized for anchor in old.anchors]
    record_id = ids.mint(old.kind, old.subtype, anchors, old.scope, summary)
    twin = case.root.find(record_id)
    if record_id == case.main.entry.id or (twin is not None and twin.directory == case.main.entry.directory):
        raise refuse("bad-replacement", f"{record_id} says just this already")
    if twin is not None:
        raise refuse("replacement-exists", f"{record_id} says just this already, and is {twin.status}")
    record = Record(
        2, record_id, old.kind, old.subtype, old.anchors, old.scope, ordinal, case.actor.origin, False, summary, detail
    )
    read = bundles.read("/x", "x", {RECORD: render.record(record).encode("utf-8", "surrogatepass")})
    if read.files[RECORD].problems or read.record != record:
        raise refuse("bad-replacement", "the text holds what would be read as another part of the file")
    if old.kind == "procedure" and not ACTIONS.search(detail):
        raise refuse("bad-replacement", "the detail of a procedure keeps its actions in a fenced json block")
    return record


ACTIONS = re.compile(r"^(`{3,}|~{3,})[ \t]*json\b[^\n]*\n(.*?)^\1", re.MULTILINE | re.DOTALL)


def birth(case: Case, record: Record, at: datetime) -> Birth:
    """The whole new bundle, sealed."""
    old = case.main.entry
    events = [] if case.change.draft else [{"type": "confirmed"}]
    if events and case.person and record.kind in PROMOTABLE_KINDS:
        events.append({"type": "promoted", "path": "user-sovereign"})
    log = [case.event(record.created, at, what) for what in events]
    provenance = Provenance(
        ordinal=record.created,
        mode="ci" if case.policy.ci else "local",
        writer=Writer("person" if case.person else "model", case.actor.name),
        at=at,
    )
    files = {
        RECORD: render.record(record),
        LOG: render.events(log),
        "provenance.json": render.document(render.bare(provenance)),
        "observations.jsonl": "",
        RELATIONS: render.relations([Relation(PROPOSED if case.change.draft else SUPERSEDES, old.id, record.created)]),
        "evidence/evidence.md": evidence(record, case),
    }
    files["manifest.json"] = render.manifest(bundles.seal_of({name: text.encode() for name, text in files.items()}))
    place = f"{place_of(case.root, old).rpartition('/')[0]}/{record.id}"
    return Birth(place, files)


def evidence(record: Record, case: Case) -> str:
    """`evidence.md` of a record that nobody observed but somebody worded."""
    who = "A person" if case.person else "An agent"
    return f"# Evidence\n\n- {who} worded this at build {record.created}; it was not observed in a run.\n"


# Taking back ----------------------------------------------------------------------------------------------------------

Act = tuple[Any, ...]


def act(event: Event) -> Act:
    """What the events of one decision have in common; without a time they are told together within one build only."""
    return (event.at, event.actor, event.origin) if event.at else (None, event.ordinal, event.actor, event.origin)


def naming(root: Root, subject: Subject, other: Subject, kind: str) -> Iterator[Relation]:
    """The record's relations of one type to another record, by any of its names."""
    for relation in subject.bundle.relations.relations:
        if relation.type == kind and not relation.collected:
            if normal_address(relation.target) == other.entry.id:
                yield relation
                continue
            found = root.find(relation.target)
            if found is not None and found.directory == other.entry.directory:
                yield relation


class Taken:
    """The events that go together when one of them is taken back: a decision is undone on every record that it touched."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.subjects = {case.main.entry.directory: case.main}
        self.steps = {case.main.entry.directory: case.main.steps}
        self.events: dict[str, set[str]] = {}
        self.pairs: set[tuple[str, str]] = set()
        """(folder of the old record, folder of the new one) of each supersession that is taken back."""
        self.waiting: list[tuple[str, Step]] = []

    def subject(self, entry: Entry) -> Subject | None:
        """A record besides the one asked about; one that cannot be read is left as it is."""
        if entry.directory not in self.subjects:
            try:
                found = self.case.subject(entry)
            except Answer:
                return None
            self.subjects[entry.directory] = found
            self.steps[entry.directory] = found.steps
        return self.subjects[entry.directory]

    def take(self, directory: str, step: Step) -> None:
        mine = self.events.setdefault(directory, set())
        if step.live and step.identity not in mine:
            mine.add(step.identity)
            self.waiting.append((directory, step))

    def follow(self) -> None:
        while self.waiting:
            directory, step = self.waiting.pop()
            kind = step.event.type
            if kind in ENDS:
                for other in self.steps[directory]:
                    if other.event.type == "window-close" and act(other.event) == act(step.event):
                        self.take(directory, other)
            if kind == "superseded":
                self.new_side(directory, step)
            elif kind == "retracted" and step.event.at:
                self.other_retractions(directory, step)
            elif kind in ("confirmed", "promoted", "window-close") and step.event.at:
                self.rest(directory, step)

    def new_side(self, directory: str, step: Step) -> None:
        """What the same decision did to the record that replaced this one."""
        old = self.subjects[directory]
        entry = self.case.root.find(step.event.by) if step.event.by else None
        entries = [entry] if entry else self.case.root.successors(old.entry) if not step.event.by else []
        for entry in entries:
            new = self.subject(entry)
            if new is None or entry.directory == directory:
                continue
            self.pairs.add((directory, entry.directory))
            for other in self.steps[entry.directory]:
                same = step.event.at and act(other.event) == act(step.event)
                if same and other.event.type in ("confirmed", "promoted"):
                    self.take(entry.directory, other)

    def other_retractions(self, directory: str, step: Step) -> None:
        """Of an undone supersession that is done again the retraction on the other record."""
        here = self.subjects[directory].entry
        back = [other.event.by for other in self.steps[directory] if other.identity in (step.event.retracts or ())]
        names = [*(name for name in back if name), *here.related(PROPOSED), *here.related(SUPERSEDES)]
        for entry in filter(None, map(self.case.root.find, names)):
            if entry.directory != directory and self.subject(entry):
                for other in self.steps[entry.directory]:
                    if other.live and other.event.type == "retracted" and act(other.event) == act(step.event):
                        self.take(entry.directory, other)

    def rest(self, directory: str, step: Step) -> None:
        """Where an event belongs to a supersession, the rest of it here and on the record that was replaced."""
        new = self.subjects[directory]
        here = self.steps[directory]
        if step.event.type == "window-close":
            for other in here:
                if other.event.type == "superseded" and act(other.event) == act(step.event):
                    self.take(directory, other)
            return
        for entry in self.case.root.predecessors(new.entry):
            old = self.subject(entry)
            for other in self.steps[entry.directory] if old else ():
                if other.live and other.event.type == "superseded" and act(other.event) == act(step.event):
                    self.take(entry.directory, other)


def retract(case: Case) -> None:
    change, main = case.change, case.main
    if not change.events:
        raise refuse("nothing-to-undo", "no event was named to take back")
    taken = Taken(case)
    by_identity = {step.identity: step for step in taken.steps[main.entry.directory]}
    missing = [name for name in change.events if name not in by_identity]
    if missing:
        raise refuse("unknown-event", f"the log of {main.entry.id} has no event {missing[0]}")
    wanted = [by_identity[name] for name in dict.fromkeys(change.events)]
    if not any(step.live for step in wanted):
        raise refuse(
            "already-so", f"{'this event counts' if len(wanted) == 1 else 'these events count'} for nothing already"
        )
    for step in wanted:
        taken.take(main.entry.directory, step)
    taken.follow()
    if not case.person:
        for directory, names in taken.events.items():
            if any(step.event.origin == "user" for step in taken.steps[directory] if step.identity in names):
                raise refuse("agent-may-not", "an agent cannot take back what a person said")
    after = take_back(case, taken)
    if main.entry.kind == "policy":
        drop_rule(case, after[main.entry.directory])


def take_back(case: Case, taken: Taken) -> dict[str, Log]:
    """`retracted` on every record; the logs as they will be, but for their times."""
    after: dict[str, Log] = {}
    for directory, names in taken.events.items():
        if not names:
            continue
        subject = taken.subjects[directory]
        retracts = tuple([step.identity for step in taken.steps[directory] if step.identity in names])
        case.draft(subject).events.append({"type": "retracted", "retracts": retracts})
        event = Event(case.ordinal_of(subject.entry), case.actor.origin, "retracted", at=case.now, retracts=retracts)
        log = subject.log
        after[directory] = Log((*log.events, event), (*log.lines, 0), (*log.identities, "the retraction"))
    for old_folder, new_folder in sorted(taken.pairs):
        unlink(case, taken.subjects[old_folder], taken.subjects[new_folder], after.get(new_folder))
    for directory, log in after.items():
        link_again(case, taken, directory, log)
    return after


def link_again(case: Case, taken: Taken, directory: str, log: Log) -> None:
    """Where what took a supersession back is itself taken back, the relations come back with it."""
    old = taken.subjects[directory]
    now = standing(old.bundle.record, log)
    entry = case.root.find(now.by) if now.by else None
    new = taken.subject(entry) if entry and now.status == "superseded" and old.state.by is None else None
    if new is None or new.entry.directory == directory:
        return
    case.draft(old).add(SUPERSEDED_BY, new.entry.id, case.ordinal_of(old.entry))
    draft = case.draft(new)
    draft.relations += [RelationEdit("drop", relation) for relation in naming(case.root, new, old, PROPOSED)]
    draft.add(SUPERSEDES, old.entry.id, case.ordinal_of(new.entry))


def unlink(case: Case, old: Subject, new: Subject, log: Log | None) -> None:
    """Take the relations of a supersession away; where the new record is a candidate again it becomes a proposal."""
    gone = [RelationEdit("drop", relation) for relation in naming(case.root, old, new, SUPERSEDED_BY)]
    if gone:
        case.draft(old).relations += gone
    mine = [RelationEdit("drop", relation) for relation in naming(case.root, new, old, SUPERSEDES)]
    if not mine:
        return
    draft = case.draft(new)
    draft.relations += mine
    if standing(new.bundle.record, log or new.log).status == "candidate":
        draft.add(PROPOSED, old.entry.id, case.ordinal_of(new.entry))


def drop_rule(case: Case, log: Log) -> None:
    """Take a policy's rule out of `policies.md` again where no person's word for it is left."""
    subject = case.main
    steps = timeline(subject.bundle.record, log)
    if not any(step.live and step.event.type == "confirmed" and step.event.origin == "user" for step in steps):
        rule = rule_of(subject)
        file = case.root.reader.file(f"{case.root.path}/{POLICIES}")
        if file is not None and rule.line in file.source.string.splitlines():
            case.rules.append(Rule("drop", rule.line, rule.address))


def overturn(case: Case) -> None:
    change, main = case.change, case.main
    if len(change.events) != 1:
        raise refuse("nothing-to-undo", "name the one event that is to be overturned")
    taken = Taken(case)
    steps = taken.steps[main.entry.directory]
    step = next((step for step in steps if step.identity == change.events[0]), None)
    if step is None:
        raise refuse("unknown-event", f"the log of {main.entry.id} has no event {change.events[0]}")
    if not step.live:
        raise refuse("already-so", "this event counts for nothing already")
    if step.event.origin == "user" or step.event.type not in OVERTURNABLE:
        raise refuse("not-overturnable", f"it is a `{step.event.type}` of origin {step.event.origin}")
    draft = case.draft(main)
    draft.events.append({"type": "overturned", "overturns": step.identity})
    if step.event.type not in ENDS:
        return
    closing = [
        other.identity
        for other in steps
        if other.live and other.event.type == "window-close" and act(other.event) == act(step.event)
    ]
    if closing:
        draft.events.append({"type": "retracted", "retracts": tuple(closing)})
    if step.event.type == "superseded":
        taken.new_side(main.entry.directory, step)
        for old_folder, new_folder in sorted(taken.pairs):
            unlink(case, taken.subjects[old_folder], taken.subjects[new_folder], None)


# Undo -----------------------------------------------------------------------------------------------------------------

LABELS = {"superseded": "supersede", "overturned": "overturn", "promoted": "accept", "confirmed": "confirm", "contradicted": "contradict"}  # fmt: skip
TRACES = ("confirmed", "contradicted", "promoted", "superseded", "deprecated", "window-close", "overturned")
REASONS = {"rejected": "reject", "forgotten": "forget", "retired": "retire"}


def undo(root: Root, entry: Entry) -> Change | None:
    """The change that takes back what a person decided last on a record, with what that was as its label.

    None where nothing of a person's is left to take back. Once it is done, the next one is the decision before.
    """
    bundle = root.bundle(entry)
    if bundle is None or bundle.record.version != 2:
        return None
    steps = timeline(bundle.record, bundle.log)
    own = [step for step in steps if step.live and step.event.origin == "user" and step.event.type in TRACES]
    if not own:
        return None
    last = own[-1].event
    events = [step for step in own if act(step.event) == act(last)] if last.at else [own[-1]]
    names = [step.identity for step in events]
    if any(step.event.type == "overturned" for step in events):  # what it took back besides comes back with it
        names += [
            step.identity
            for step in steps
            if step.live and step.event.type == "retracted" and act(step.event) == act(last)
        ]
    return Change(
        operation="retract",
        record=entry.directory,
        seen=tail_of(bundle),
        events=tuple(names),
        label=label(root, entry, [step.event for step in events]),
    )


def label(root: Root, entry: Entry, events: list[Event]) -> str:
    """What a decision was, from its events."""
    kinds = {event.type: event for event in events}
    if "deprecated" in kinds:
        return REASONS.get(kinds["deprecated"].reason or "", "retire")
    name = next((LABELS[kind] for kind in LABELS if kind in kinds), "retire")
    if name in ("accept", "confirm") and entry.created == events[0].ordinal and any(entry.related(SUPERSEDES)):
        return "supersede"
    return name


__all__ = ["Accepted", "Decision", "decide", "undo"]
