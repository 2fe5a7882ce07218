"""What a person reads when resting on a word: cards, meanings, what an event did, a rule's page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from memidex.editor.card import held, steps, title
from memidex.editor.markdown import code, escaped
from memidex.editor.picture import picture
from memidex.editor.subject import (
    Address,
    AnchorHere,
    EventHere,
    EventName,
    Field,
    RuleName,
    Title,
    Word,
    subject,
    text_of,
)
from memidex.editor.view import View
from memidex.history import trust as sums
from memidex.history.standing import Step
from memidex.learning.serving import REASONS
from memidex.records.memidex.bundle import Bundle
from memidex.records.memidex.places import Place
from memidex.records.memidex.render import instant
from memidex.records.memidex.values import AnyTarget, Event, Provenance, Relation
from memidex.records.memidex.vocabulary import (
    ANCHORS,
    EVENTS,
    FIELDS,
    INVERSE,
    KINDS,
    ORIGINS,
    SECTIONS,
    SUBTYPES,
    TIERS,
)
from memidex.rules.rule import Rule
from memidex.store.snapshot import BY_EVENT, Entry, Link, Root
from memidex.text import Span

MAX_MARKDOWN = 100_000
"""VS Code shows no more of one hover."""
MAX_DRAWN = 20_000
"""Events of a log above which no picture is drawn: the fold of each step is not worth the wait."""
MAX_ROOTS = 4
SHOWN = 8
"""Relations and anchors in a card before `and N more`."""
ALLOWED = {"kind": KINDS, "subtype": SUBTYPES, "originClass": ORIGINS, "scope": TIERS, "anchors": ANCHORS}
INTEGRITY = {
    "sealed": "sealed",
    "appended": "sealed; the log has grown since, which is as it should be",
    "edited": "**edited since it was sealed**",
    "rewritten": "**the sealed part of its log was changed**",
    "incomplete": "**files are missing or not listed in its manifest**",
    "unknown": "unknown: no manifest that can be read",
}
WORDS_IN = {
    "supersedes": "superseded by",
    "superseded-by": "supersedes",
    "derived-from": "source of",
    "renamed-from": "renamed to",
    "proposed-supersession-of": "replacement proposed:",
}
"""How a relation reads from its target's side."""


class Hover(NamedTuple):
    """Markdown about a stretch of the text."""

    markdown: str
    span: Span


def hover(view: View, offset: int) -> Hover | None:
    """What to show at `offset`; None where there is nothing to say."""
    here = subject(view, offset)
    match here:
        case Address(span, text, root, entry):
            markdown = named(view, text) if root and entry else unknown(text)
        case AnchorHere(span, anchor):
            markdown = about_anchor(view, anchor)
        case Title(span):
            markdown = (
                record(view.root, view.entry) if view.root and view.entry else meaning("Summary", SECTIONS["Summary"])
            )
        case Field(span, name):
            markdown = field(name)
        case Word(span, word, text):
            markdown = meaning(word, text)
        case EventHere(span, line, word):
            markdown, span = event_line(view, line, word), word.span if word else span
        case EventName(span, identity):
            markdown = named_event(view, identity)
        case RuleName(span, rule):
            markdown = rule_page(rule)
        case None:
            return None
    return Hover(bounded(markdown), span) if markdown else None


def named(view: View, address: str) -> str:
    """The card of an address; in a text of no root that of every root that has the address, since short ids repeat."""
    found = [(root, entry) for root in view.roots() if (entry := root.find(address))]
    if len(found) == 1:
        return record(*found[0])
    return "\n\n---\n\n".join(f"{code(root.path)}\n\n{record(root, entry)}" for root, entry in found[:MAX_ROOTS])


def bounded(markdown: str) -> str:
    if len(markdown) <= MAX_MARKDOWN - 100:
        return markdown
    # Cut between blocks, so that nothing is left open.
    head = markdown[: MAX_MARKDOWN - 100]
    return head[: max(head.rfind("\n\n"), 0)] + "\n\n*More is left out here.*"


# A record's card ------------------------------------------------------------------------------------------------------


def record(root: Root, entry: Entry) -> str:
    """The card of a record as Markdown, with the picture of its trust where that fits."""
    bundle = root.bundle(entry)
    head = f"**{escaped(title(entry))}**\n\n{standing_line(root, entry)}"
    tail = "\n".join(f"- {line}" for line in facts(root, entry, bundle))
    drawn = image(root, entry, bundle)
    whole = "\n\n".join(part for part in (head, drawn, tail) if part)
    return whole if len(whole) <= MAX_MARKDOWN - 100 else f"{head}\n\n{tail}"


def standing_line(root: Root, entry: Entry) -> str:
    state = entry.standing
    sum_, _, result = state.arithmetic.rpartition(" = ")
    since = root.unconfirmed_since(entry)
    served = (
        f" · served {sums.shown(root.served_trust(entry))}, unconfirmed since build {since}"
        if since is not None
        else ""
    )
    kind = " ".join(word for word in (entry.subtype, entry.kind) if word) or "record"
    short = root.short(entry)
    address = f"{code(short)} · " if short else ""
    return f"{address}{kind} · **{entry.status}**{ended(entry)}\n\ntrust **{result}** = {escaped(sum_)}{served}"


def ended(entry: Entry) -> str:
    state = entry.standing
    if state.status == "superseded" and state.by:
        return f" by {code(state.by)}"
    if state.status == "deprecated":
        return ", ".join(
            ["", *(word for word in (state.reason, "by a person" if state.ended_by == "user" else "by a run") if word)]
        )
    return ""


def image(root: Root, entry: Entry, bundle: Bundle | None) -> str:
    if bundle is None or not bundle.log.events:
        return ""
    count = len(bundle.log.events)
    if count > MAX_DRAWN:
        return f"*No picture: the log has {count:,} events.*"
    uri, alt = picture(steps(bundle), entry.created, root.product(entry.product).current, entry.standing.origin)
    return f"![{alt}]({uri})"


def facts(root: Root, entry: Entry, bundle: Bundle | None) -> Iterator[str]:
    state = entry.standing
    counts = [
        f"{count:,} {word}"
        for word, count in (
            ("confirmed", state.confirmed),
            ("contradicted", state.contradicted),
            ("helpful", state.helpful),
            ("harmful", state.harmful),
        )
        if count
    ]
    yield f"counts: {', '.join(counts) or 'none yet'}"
    end = "" if state.valid_to is None else f", until build {state.valid_to}"
    yield f"valid from build {entry.created}{end}"
    if entry.scope:
        yield f"scope: {escaped(str(entry.scope))}"
    if entry.anchors:
        yield f"anchors: {limited([escaped(str(anchor), 200) for anchor in entry.anchors[:SHOWN]], len(entry.anchors), '; ')}"
    yield provenance(state.origin, bundle)
    yield from relation_lines(root, entry)
    reason = held(root, entry)
    if reason:
        yield f"not served: {REASONS[reason]} ({code(reason)})"
    yield f"integrity: {INTEGRITY[bundle.integrity] if bundle else 'unknown'}"
    yield code(entry.id)


def limited(items: list[str], count: int, between: str) -> str:
    more = count - len(items)
    return between.join([*items, *([f"and {more:,} more"] if more > 0 else [])])


def provenance(origin: str, bundle: Bundle | None) -> str:
    head = "from a person" if origin == "user" else "learned from a run"
    known: Provenance | None = bundle.value("provenance.json") if bundle else None
    if known is None:
        return head
    parts = [
        f"run {code(known.run, 80)}" if known.run else "",
        f"build {known.ordinal}" if known.ordinal is not None else "",
        known.mode or "",
        f"test {escaped(known.test, 120)}" if known.test else "",
        f"step {escaped(str(known.step), 120)}" if known.step is not None else "",
        f"written by {known.writer.by}" if known.writer and known.writer.by else "",
        instant(known.at) if known.at else "",
    ]
    return f"{head}: {', '.join(part for part in parts if part)}" if any(parts) else head


def relation_lines(root: Root, entry: Entry) -> Iterator[str]:
    """Its own relations and those that name it, a few of each, with how many there are in all."""
    for relation in entry.relations[:SHOWN]:
        yield f"{escaped(relation.type.replace('-', ' '), 40)}: {target(root, relation)}"
    if len(entry.relations) > SHOWN:
        yield f"and {len(entry.relations) - SHOWN:,} more relations"
    own = {
        (relation.type, found.directory) for relation in entry.relations[:200] if (found := root.find(relation.target))
    }
    links, count = links_to(root, entry, SHOWN + len(own))
    # The other side of a relation that is told already says nothing new.
    new = [link for link in links if (INVERSE.get(link.type), link.directory) not in own]
    count -= len(links) - len(new)
    for link in new[:SHOWN]:
        other = root.entries[link.directory]
        yield f"{escaped(WORDS_IN.get(link.type, link.type.replace('-', ' ')), 40)} {brief(root, other)}"
    if count > SHOWN:
        yield f"and {count - SHOWN:,} more records name this one"


def links_to(root: Root, entry: Entry, limit: int) -> tuple[list[Link], int]:
    """The first relations that name a record, and how many do: of thousands only the shown ones are looked at."""
    rows = [root.backlinks.get(name, ()) for name in {entry.id, entry.folder, root.short(entry) or entry.id}]
    rows = [tuple(link for link in row if link.type != BY_EVENT) for row in rows]
    rows = [row for row in rows if row]
    if len(rows) == 1:
        head = [link for link in dict.fromkeys(rows[0][: 4 * limit]) if link.directory in root.entries]
        return head[:limit], len(rows[0]) if len(rows[0]) > 4 * limit else len(head)
    found = [link for link in dict.fromkeys(link for row in rows for link in row) if link.directory in root.entries]
    return found[:limit], len(found)


def target(root: Root, relation: Relation) -> str:
    found = root.find(relation.target)
    if found:
        return brief(root, found)
    return code(relation.target) + (" (collected)" if relation.collected else " (no such record)")


def brief(root: Root, entry: Entry) -> str:
    """A record in a few words: title, status, address."""
    return f"{escaped(title(entry), 120)} ({entry.status}, {code(root.short(entry) or entry.id)})"


def unknown(text: str) -> str:
    return f"{code(text)}: no such record in this root."


# Meanings -------------------------------------------------------------------------------------------------------------


def meaning(word: str, text: str) -> str:
    return f"**{escaped(word)}**: {text}"


def field(name: str) -> str:
    text = FIELDS.get(name) or SECTIONS.get(name)
    if text is None:
        return f"**{escaped(name)}** is worked out from the outcome log each time the record is read and is never stored here."
    allowed = "".join(f"\n- {code(word)}: {says}" for word, says in ALLOWED.get(name, {}).items())
    if name == "evidenceIncomplete":
        allowed = "\n- `true`\n- `false`"
    return meaning(name, text) + (f"\n{allowed}" if allowed else "")


def about_anchor(view: View, anchor: AnyTarget) -> str:
    head = f"**{escaped(str(anchor))}**: {ANCHORS[anchor.t][:1].lower()}{ANCHORS[anchor.t][1:]}"
    if not view.root or not view.entry:
        return head
    folders = [folder for folder in view.root.anchors.get(anchor, ())[: SHOWN + 1] if folder != view.entry.directory]
    count = len(view.root.anchors.get(anchor, ())) - (view.entry.main == anchor)
    items = [brief(view.root, view.root.entries[folder]) for folder in folders[:SHOWN]]
    others = f"\n\nMain anchor of {limited(items, count, '; ')}." if items else ""
    return f"{head}{others}\n\n---\n\n{record(view.root, view.entry)}"


def rule_page(rule: Rule) -> str:
    return f"**{rule.code} {rule.name}** ({rule.severity})\n\n{rule.page}"


# Events ---------------------------------------------------------------------------------------------------------------


def event_line(view: View, line: int, word: Word | None = None) -> str:
    """What the event on a line of the log did."""
    parts = [meaning(word.word, word.meaning)] if word and word.word not in EVENTS else []
    bundle = view.bundle
    if bundle is None:
        return "\n\n".join(parts)
    every = steps(bundle)
    at = next((index for index, step in enumerate(every) if step.line == line), None)
    if at is None:
        return "\n\n".join([*parts, *not_counted(view, bundle, line)])
    step = every[at]
    before = every[at - 1] if at else None
    return "\n\n".join([*parts, *told(step, before, every, bundle)])


def told(step: Step, before: Step | None, every: list[Step], bundle: Bundle) -> Iterator[str]:
    event = step.event
    origin = "a person" if event.origin == "user" else "a run"
    yield f"**{event.type}** in build {event.ordinal}, by {origin}: {EVENTS[event.type]}"
    if step.effective:
        trust = before.trust if before else sums.trust(0, 0, 0, 0, bundle.record.origin)
        status = before.status if before else "candidate"
        yield f"trust {change(sums.shown(trust), sums.shown(step.trust))} · status {change(status, step.status)}"
    else:
        taker = taken_back_by(step, every)
        yield f"**No effect**: {escaped(step.why)}" + (f" (line {taker.line + 1}, {taker.event.type})" if taker else "")
    rest = list(details(event))
    if rest:
        yield "\n".join(f"- {item}" for item in rest)


def change(before: str, after: str) -> str:
    return f"{before} → **{after}**" if before != after else f"{after}, unchanged"


def taken_back_by(step: Step, every: Iterable[Step]) -> Step | None:
    if step.live:
        return None
    takers = (
        other
        for other in every
        if other.live and (step.identity in (other.event.retracts or ()) or other.event.overturns == step.identity)
    )
    return next(takers, None)


def details(event: Event) -> Iterator[str]:
    if event.by:
        yield f"by {code(event.by)}"
    if event.reason:
        yield f"reason: {event.reason}"
    if event.path:
        yield f"path: {event.path}"
    if event.note:
        yield f"note: {escaped(event.note, 1000)}"
    if event.test:
        yield f"test {escaped(event.test)}" + (f", step {escaped(str(event.step))}" if event.step is not None else "")
    if event.run:
        yield f"run {code(event.run)}"
    if event.actor:
        yield f"actor {escaped(event.actor)}"
    if event.at:
        yield instant(event.at)


def not_counted(view: View, bundle: Bundle, line: int) -> Iterator[str]:
    """Why a line of the log is no step of the history."""
    log = bundle.log
    if line in log.lines:
        identity = log.identities[list(log.lines).index(line)]
        first = next((step for step in steps(bundle) if step.identity == identity), None)
        if first:
            yield f"**No effect**: the same event as on line {first.line + 1}, which counts once."
        return
    file = text_of(view)
    for problem in file.problems:
        if isinstance(problem.at, Place) and problem.at.path[:1] != (line,):
            continue
        if isinstance(problem.at, Span) and view.source.line_of(problem.at.start) != line:
            continue
        yield f"**No effect**: {escaped(problem.message)}"
        return


def named_event(view: View, identity: str) -> str:
    bundle = view.bundle
    if bundle is None:
        return ""
    line = next((step.line for step in steps(bundle) if step.identity == identity), None)
    if line is None:
        return f"{code(identity)}: no such event in this log."
    return f"Line {line + 1}:\n\n{event_line(view, line)}"


__all__ = ["Hover", "hover", "links_to", "record"]
