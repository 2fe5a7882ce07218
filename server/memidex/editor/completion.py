"""What can be written at a cursor: fields and their values, anchors, relations and their targets, events, addresses, rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Literal, NamedTuple

from memidex.editor.card import title
from memidex.editor.hover import record
from memidex.editor.markdown import plain
from memidex.editor.search import search
from memidex.editor.subject import LOG, text_of
from memidex.editor.view import View
from memidex.records.memidex.render import line_of
from memidex.records.memidex.vocabulary import (
    ANCHOR_FIELDS,
    ANCHORS,
    DEPRECATION_REASONS,
    EVENTS,
    FIELDS,
    KINDS,
    ORIGINS,
    PLATFORMS,
    PROMOTION_PATHS,
    RELATIONS,
    SUBTYPES,
    TIERS,
)
from memidex.rules import registry
from memidex.store.snapshot import Entry, Root, Snapshot, short_id
from memidex.text import Span

MAX_PREFIX = 4_000
MAX_ITEMS = 50
CompletionKind = Literal["field", "value", "shape", "record", "event", "rule"]
InsertFormat = Literal["plain", "snippet"]


class Completion(NamedTuple):
    """One thing that can be written in place of `span`."""

    label: str
    text: str
    span: Span
    kind: CompletionKind
    detail: str = ""
    documentation: str = ""
    """Markdown."""
    sort: str = ""
    filter: str = ""
    """What the client compares with what is typed; of records found by fuzzy text it is that text itself."""
    format: InsertFormat = "plain"
    record: tuple[str, str] | None = None
    """(path of the root, record id) whose card is the documentation; see `resolved`."""


class Completions(NamedTuple):
    items: tuple[Completion, ...] = ()
    incomplete: bool = False
    """Whether typing on may bring others: ask again."""


def completions(view: View, offset: int, format: InsertFormat = "plain") -> Completions:  # noqa: A002
    """What can be written at `offset`; anchors and relations as snippets where the client takes them."""
    offset = max(0, min(offset, len(view.source)))
    line = view.source.line_span(view.source.line_of(offset))
    if offset > line.end:  # between a carriage return and its newline
        return Completions()
    cursor = Cursor(view, offset, line, view.source.string[max(line.start, offset - MAX_PREFIX) : offset], format)
    for find in (rules, in_file, addresses):
        found = find(cursor)
        if found is not None:
            return found
    return Completions()


def resolved(snapshot: Snapshot, completion: Completion) -> Completion:
    """The completion with the card of its record as documentation."""
    if completion.record is None:
        return completion
    path, name = completion.record
    root = next((root for root in snapshot.roots if root.path == path), None)
    entry = root.find(name) if root else None
    return completion._replace(documentation=record(root, entry)) if root and entry else completion


class Cursor(NamedTuple):
    """Where something is to be written: what of its line stands before it, and the line."""

    view: View
    offset: int
    line: Span
    before: str
    format: InsertFormat

    def back(self, count: int) -> Span:
        """The last characters before the cursor."""
        return Span(self.offset - count, self.offset)

    def token(self, typed: str) -> Span:
        """What is typed of a JSON string, with its opening quote, and what stands of it behind the cursor."""
        rest = self.view.source.string[self.offset : min(self.line.end, self.offset + 400)]
        behind = re.match(r'[^"\s,\]}\\]*"?' if typed.startswith('"') else r"[\w-]*", rest)
        return Span(self.offset - len(typed), self.offset + (behind.end() if behind else 0))


# Rules and addresses, in any text -------------------------------------------------------------------------------------

ALLOW = re.compile(r"memidex:[ \t]*allow[ \t]+(?:[A-Za-z0-9_-]+[ ,]+)*([A-Za-z0-9_-]*)$")
SHORT = re.compile(r"(?<![\w-])MEM-([0-9]{0,9})$", re.IGNORECASE)
URI = re.compile(r"(?<![\w-])agentqa:(?:/{0,2}|//[a-z]*|//memory/([\w-]*))$", re.IGNORECASE)


def rules(cursor: Cursor) -> Completions | None:
    match = ALLOW.search(cursor.before[-400:])
    if not match:
        return None
    span = cursor.token(match.group(1))
    return Completions(
        tuple(
            Completion(rule.name, rule.name, span, "rule", f"{rule.code} {rule.severity}", rule.page, rule.code)
            for rule in registry.RULES
        )
    )


def addresses(cursor: Cursor) -> Completions | None:
    """Addresses after `MEM-` or `agentqa:`."""
    short = SHORT.search(cursor.before[-40:])
    if short:
        digits, typed = short.group(1), short.group()
        span = cursor.back(len(typed))
        found = [(root, entry) for root in cursor.view.roots() for entry in offered(root, digits)]
        return Completions(
            tuple(
                by_record(root, entry, span, root.short(entry) or entry.id, typed, at)
                for at, (root, entry) in enumerate(found[:MAX_ITEMS])
            ),
            True,
        )
    uri = URI.search(cursor.before[-400:])
    if uri:
        wanted, typed = uri.group(1) or "", uri.group()
        span = cursor.back(len(typed))
        digits = re.fullmatch(r"MEM-?([0-9]*)", wanted, re.IGNORECASE)
        items: list[Completion] = []
        for root in cursor.view.roots():
            if digits or not wanted:
                near = offered(root, digits.group(1) if digits else "")
            else:
                near = (match.entry for match in search(root, wanted, MAX_ITEMS))
            for entry in near:
                address = f"agentqa://memory/{root.short(entry) or entry.id}"
                items.append(by_record(root, entry, span, address, typed, len(items)))
        return Completions(tuple(items[:MAX_ITEMS]), True)
    return None


def offered(root: Root, digits: str) -> Iterator[Entry]:
    """Records whose short ids begin so; without digits also those that have none on this machine, to be named by their own."""
    yield from (entry for entry, _ in numbered(root, digits))
    if not digits:
        yield from islice((entry for entry in root.entries.values() if not root.short(entry)), MAX_ITEMS)


def numbered(root: Root, digits: str) -> Iterator[tuple[Entry, int]]:
    """Records with their short ids that begin so; without digits the newest."""
    given = len(root.short_ids) // 2 + 1
    wanted = digits.lstrip("0")
    numbers: Iterable[int]
    if wanted:
        first = int(wanted)
        numbers = (number for scale in (1, 10, 100, 1000) for number in range(first * scale, (first + 1) * scale))
    else:
        # Numbers are never given twice, so the newest may be above how many there are; that is rare and only loses those.
        numbers = range(given, 0, -1)
    found = 0
    for number in islice(numbers, 2_000):
        name = root.short_ids.get(short_id(number))
        entry = root.find(name) if name else None
        if (entry and short_id(number)[4:].startswith(digits or "")) or (entry and str(number).startswith(wanted)):
            yield entry, number
        else:
            continue
        found += 1
        if found >= MAX_ITEMS:
            return


def by_record(root: Root, entry: Entry, span: Span, text: str, typed: str, at: int) -> Completion:
    label = f"{root.short(entry) or entry.id}  {plain(title(entry), 80)}"
    return Completion(
        label, text, span, "record", f"{entry.status} {entry.kind}", "", f"{at:04d}", typed or text, "plain", (root.path, entry.id)
    )  # fmt: skip


# Files of a bundle ----------------------------------------------------------------------------------------------------


def in_file(cursor: Cursor) -> Completions | None:
    name = cursor.view.name
    if name == "record.md":
        return in_record(cursor)
    if name == "relations.json":
        return in_relations(cursor)
    if name == LOG:
        return in_log(cursor)
    return None


MEMBER = re.compile(r'"(\w+)"[ \t]*:[ \t]*("?[^"\\,{}\[\]]*)$')
"""A member's name and what is typed of its value, at the end of a line's beginning."""
FIELD = re.compile(r"[A-Za-z]*$")
VALUE = re.compile(r"([A-Za-z]+):[ \t]*(.*)$", re.DOTALL)


def words(cursor: Cursor, typed: str, meanings: Mapping[str, str]) -> Completions:
    """The words of a closed list as JSON strings."""
    span = cursor.token(typed)
    return Completions(
        tuple(
            Completion(
                word,
                f'"{word}"',
                span,
                "value",
                "",
                meaning,
                f"{at:02d}",
                f'"{word}"' if typed.startswith('"') else word,
            )
            for at, (word, meaning) in enumerate(meanings.items())
        )
    )


def in_record(cursor: Cursor) -> Completions | None:
    parts = text_of(cursor.view).layout
    if not parts.opening.end < cursor.offset <= max(parts.closing.start, parts.opening.end):
        return None
    if len(cursor.before) == cursor.offset - cursor.line.start:
        if FIELD.fullmatch(cursor.before):
            return fields(cursor)
        value = VALUE.match(cursor.before)
        if value:
            return field_value(cursor, value.group(1), value.group(2))
    return None


def fields(cursor: Cursor) -> Completions:
    """The fields that the record has not yet, those that it needs first."""
    view = cursor.view
    front = text_of(view).layout.front
    there = set(front.members)
    rest = view.source.string[cursor.offset : cursor.line.end]
    word = re.match(r"[A-Za-z]*", rest)
    span = Span(cursor.line.start, cursor.offset + (word.end() if word else 0))
    followed = view.source.string[span.end : cursor.line.end].lstrip().startswith(":")
    there.discard(view.source[span])
    # A text that does not read as a whole still shows its fields line by line.
    for number in range(view.source.line_of(front.span.end) + 1) if not front.members else ():
        match = VALUE.match(view.source.line_text(number)) if number != view.source.line_of(cursor.offset) else None
        there.update([match.group(1)] if match else [])
    kind = front.members["kind"][1].value if "kind" in front.members else None
    items: list[Completion] = []
    for at, (name, meaning) in enumerate(FIELDS.items()):
        if name not in there:
            optional = name == "subtype" and kind not in ("fact", None)
            detail = "not for this kind" if optional else "missing"
            text = name if followed else f"{name}: {first_value(view, name)}"
            items.append(Completion(name, text, span, "field", detail, meaning, f"{int(optional)}{at:02d}", name))
    return Completions(tuple(sorted(items, key=lambda item: item.sort)))


def first_value(view: View, name: str) -> str:
    """What a new field starts with, where that can be known."""
    folder = view.place[0].rpartition("/")[2] if view.place else ""
    product = view.place[0].split("/")[-3] if view.place else ""
    current = view.root.product(product).current if view.root else 0
    known = {
        "schemaVersion": 2,
        "id": folder,
        "scope": {"tier": "product", "key": product},
        "createdAtOrdinal": current,
        "originClass": "user",
        "evidenceIncomplete": False,
    }
    return line_of(known[name]) if name in known else ""


def field_value(cursor: Cursor, name: str, typed: str) -> Completions | None:
    lists: dict[str, Mapping[str, str]] = {"kind": KINDS, "subtype": SUBTYPES, "originClass": ORIGINS}
    if name in lists:
        return words(cursor, typed, lists[name]) if re.fullmatch(r'"?[\w-]*', typed) else None
    if name == "evidenceIncomplete" and re.fullmatch(r"\w*", typed):
        span = cursor.token(typed)
        return Completions(tuple(Completion(word, word, span, "value") for word in ("false", "true")))
    if name in ("schemaVersion", "id", "createdAtOrdinal") and not typed:
        text = first_value(cursor.view, name)
        return Completions((Completion(text, text, cursor.back(0), "value", "", FIELDS[name]),))
    if name == "scope":
        return scope_value(cursor, typed)
    if name == "anchors":
        return anchor_value(cursor, typed)
    return None


def scope_value(cursor: Cursor, typed: str) -> Completions | None:
    member = MEMBER.search(typed)
    if member and member.group(1) == "tier":
        return words(cursor, member.group(2), TIERS)
    product = cursor.view.place[0].split("/")[-3] if cursor.view.place else ""
    if member and member.group(1) == "key":
        return words(cursor, member.group(2), {product: "The folder of this product."})
    if typed:
        return None
    shapes = {
        tier: line_of(
            {"tier": tier} if tier == "global" else {"tier": tier, "key": product if tier == "product" else ""}
        )
        for tier in TIERS
    }
    return Completions(
        tuple(
            Completion(tier, text, cursor.back(0), "value", "", TIERS[tier], f"{at}")
            for at, (tier, text) in enumerate(shapes.items())
        )
    )


def anchor_value(cursor: Cursor, typed: str) -> Completions | None:
    member = MEMBER.search(typed)
    if member and member.group(1) == "t":
        return words(cursor, member.group(2), ANCHORS)
    if member and member.group(1) == "platform":
        return words(cursor, member.group(2), dict.fromkeys(PLATFORMS, ""))
    if member and member.group(1) in ("raw", "normalized") and not member.group(2).strip():
        return shapes(cursor, target_shape)
    stripped = typed.rstrip()
    if not stripped:
        return shapes(cursor, lambda t, stops: f"[{anchor_shape(t, stops)}]")
    # A new item of the list stands after its bracket or after a whole item.
    if stripped == "[" or stripped.endswith("},"):
        return shapes(cursor, anchor_shape)
    return None


def shapes(cursor: Cursor, shape: Callable[[str, Callable[[str, int], str]], str]) -> Completions:
    stops = stop if cursor.format == "snippet" else sample
    items = [
        Completion(t, shape(t, stops), cursor.back(0), "shape", "anchor", ANCHORS[t], f"{at}", t, cursor.format)
        for at, t in enumerate(ANCHORS)
    ]
    return Completions(tuple(items))


def stop(name: str, number: int) -> str:
    return f"${{{number}:{name}}}"


def sample(name: str, number: int) -> str:
    return name


def target_shape(t: str, stops: Callable[[str, int], str]) -> str:
    """An anchor's payload as JSON; a stop that stands twice is typed once."""
    parts = [f'"t":"{t}"']
    for number, name in enumerate(ANCHOR_FIELDS[t], 1):
        if name == "ordinal":
            parts.append('"ordinal":0')
        else:
            parts.append(f'"{name}":"{stops("web" if name == "platform" else name, number)}"')
    inside = ",".join(parts)
    return f"{{{inside}}}"


def anchor_shape(t: str, stops: Callable[[str, int], str]) -> str:
    target = target_shape(t, stops)
    return f'{{"raw":{target},"normalized":{target}}}'


# relations.json and the log -------------------------------------------------------------------------------------------


def in_relations(cursor: Cursor) -> Completions | None:
    member = MEMBER.search(cursor.before)
    if member and member.group(1) == "type":
        return words(cursor, member.group(2), RELATIONS)
    if member and member.group(1) == "target":
        return targets(cursor, member.group(2))
    listed = re.search(r'"([a-z-]+)"[ \t]*:[ \t]*\[(?:[ \t]*"[^"]*"[ \t]*,)*[ \t]*("?[^"\]]*)$', cursor.before)
    if listed and listed.group(1) in RELATIONS:
        return targets(cursor, listed.group(2))
    if re.search(r"[\[,][ \t]*$|^[ \t]*$", cursor.before) and in_list(cursor):
        first, second = ("${1:relates-to}", "$2") if cursor.format == "snippet" else ("relates-to", "")
        text = f'{{"type": "{first}", "target": "{second}"}}'
        return Completions(
            (
                Completion(
                    "relation", text, cursor.back(0), "shape", "", "A link to another record.", "", "", cursor.format
                ),
            )
        )
    return None


def in_list(cursor: Cursor) -> bool:
    """Whether the innermost bracket that is open before the cursor opens a list."""
    depth = 0
    string = cursor.view.source.string
    quoted = re.sub(
        r'"(?:[^"\\\n]|\\.)*"',
        lambda match: " " * len(match.group()),
        string[max(0, cursor.offset - 20_000) : cursor.offset],
    )
    for char in reversed(quoted):
        if char in "]}":
            depth += 1
        elif char in "[{":
            if depth == 0:
                return char == "["
            depth -= 1
    return False


def targets(cursor: Cursor, typed: str) -> Completions:
    """Records by fuzzy text; without any those that are most like the one in view."""
    root, own = cursor.view.root, cursor.view.entry
    if root is None:
        return Completions()
    wanted = typed.lstrip('"').strip()
    span = cursor.token(typed)
    exact = root.find(wanted) if wanted else None
    near = [match.entry for match in search(root, wanted or (title(own) if own else ""), MAX_ITEMS)]
    records = dict.fromkeys(entry.directory for entry in ([exact] if exact else []) + near)
    items = [
        by_record(root, root.entries[folder], span, f'"{root.entries[folder].id}"', typed, at)
        for at, folder in enumerate(records)
        if folder in root.entries and (own is None or folder != own.directory)
    ]
    return Completions(tuple(items), True)


def in_log(cursor: Cursor) -> Completions | None:
    lists: dict[str, Mapping[str, str]] = {
        "type": EVENTS,
        "origin": ORIGINS,
        "path": dict.fromkeys(PROMOTION_PATHS, ""),
        "reason": dict.fromkeys(DEPRECATION_REASONS, ""),
    }
    member = MEMBER.search(cursor.before)
    if member and member.group(1) in lists:
        return words(cursor, member.group(2), lists[member.group(1)])
    if member and member.group(1) == "by":
        return targets(cursor, member.group(2))
    if member and member.group(1) == "overturns":
        return events(cursor, member.group(2))
    listed = re.search(r'"retracts"[ \t]*:[ \t]*\[(?:[ \t]*"[^"]*"[ \t]*,)*[ \t]*("?[^"\]]*)$', cursor.before)
    return events(cursor, listed.group(1)) if listed else None


def events(cursor: Cursor, typed: str) -> Completions:
    """The identities of the log's events, newest first."""
    bundle = cursor.view.bundle
    if bundle is None:
        return Completions()
    span = cursor.token(typed)
    here = cursor.view.source.line_of(cursor.offset)
    log = bundle.log
    items: list[Completion] = []
    for index in range(len(log.events) - 1, -1, -1):
        event, identity, line = log.events[index], log.identities[index], log.lines[index]
        if line != here and len(items) < MAX_ITEMS:
            text = line_of(identity)
            detail = f"{event.type} in build {event.ordinal}, line {line + 1}"
            items.append(
                Completion(
                    plain(identity),
                    text,
                    span,
                    "event",
                    detail,
                    EVENTS[event.type],
                    f"{len(items):03d}",
                    text if typed.startswith('"') else identity,
                )
            )
    return Completions(tuple(items), len(log.events) > MAX_ITEMS)
