"""`memidex inspect`, `get` and `resolve`: what is known, as a list, a card and the answer to free text."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

from memidex.cli import roots
from memidex.cli.console import DONE, REFUSED, Console, Failed, Parser, columns, cut, line, padded, visible
from memidex.editor import card as cards
from memidex.editor import search
from memidex.history import trust as sums
from memidex.history.standing import Step
from memidex.learning import review, serving
from memidex.records.memidex import ids
from memidex.records.memidex.vocabulary import INVERSE, KINDS
from memidex.store import disk, opening
from memidex.store.snapshot import Entry, Root, place_of

STATUSES = ("candidate", "active", "superseded", "deprecated")
COLOURS = {"active": "good", "candidate": "warning", "superseded": "dim", "deprecated": "dim"}
WIDE = 130
"""Columns from which a terminal has room for whole ids beside the summaries."""


# inspect --------------------------------------------------------------------------------------------------------------


def inspect_arguments(parser: Parser) -> None:
    parser.add_argument("--status", choices=STATUSES, help="only records of this status, at that build")
    parser.add_argument("--kind", choices=tuple(KINDS))
    parser.add_argument("--product", metavar="P")
    parser.add_argument("--as-of-build", type=roots.build, metavar="N", help="the records as they were at build N")
    parser.add_argument("--review", action="store_true", help="what waits for a person, the riskiest first, and why")
    roots.json_argument(parser)
    roots.arguments(parser)


def inspect(options: Namespace, console: Console) -> int:
    root = roots.opened(roots.one(options, console), console)
    if options.product is not None:
        roots.known_product(options.product, root)
    as_of: int | None = options.as_of_build
    if options.review:
        if as_of is not None:
            raise Failed("the review queue is of now: leave out --as-of-build")
        return review_queue(root, options, console)
    whole = options.format == "json"
    chosen: list[tuple[Entry, str]] = []
    for entry in in_order(root.entries.values()):
        if as_of is not None and entry.created > as_of:
            continue
        if options.product not in (None, entry.product) or options.kind not in (None, entry.kind):
            continue
        status = entry.status if as_of is None else cards.standing_of(entry, root.bundle(entry), as_of).status
        if options.status in (None, status):
            chosen.append((entry, status))
    root = opening.give_short_ids(root, [entry.id for entry, _ in chosen])
    if whole:
        rows = [row for entry, _ in chosen if (row := cards.row(root, entry, as_of))]
        console.json({"version": 1, "ordinals": ordinals(root), "records": [printable(row, console) for row in rows]})
        return DONE
    table(root, [entry for entry, _ in chosen], as_of, console)
    console.say(told(root, [status for _, status in chosen]))
    return DONE


def review_queue(root: Root, options: Namespace, console: Console) -> int:
    items = [
        item
        for item in review.queue([root], options.product)
        if options.kind in (None, item.entry.kind) and options.status in (None, item.entry.status)
    ]
    root = opening.give_short_ids(root, [entry.id for entry in in_order(item.entry for item in items)])
    if options.format == "json":
        rows = [
            {**printable(row, console), **cards.review(item)} for item in items if (row := cards.row(root, item.entry))
        ]
        console.json({"version": 1, "ordinals": ordinals(root), "records": rows})
        return DONE
    for item in items:
        name = root.short(item.entry) or item.entry.id
        console.print(f"{item.reason:<9}  {name}  {line(item.entry.title)}")
        console.print(f"{'':<9}  {line(item.message)}")
    console.say(f"{len(items):,} record{'' if len(items) == 1 else 's'} to review")
    return DONE


def in_order(entries: Iterable[Entry]) -> list[Entry]:
    """The order of creation, in which short ids are given too."""
    return sorted(entries, key=lambda entry: (entry.created, entry.id, entry.directory))


def ordinals(root: Root) -> dict[str, int]:
    return {name: root.product(name).current for name in sorted(root.products)}


def printable(row: dict[str, Any], console: Console) -> dict[str, Any]:
    return {**row, "path": console.shown(row["path"])}


def table(root: Root, entries: list[Entry], as_of: int | None, console: Console) -> None:
    width = console.width
    names = [root.short(entry) or "-" for entry in entries]
    short = max(map(len, names), default=0)
    with_id = width is None or width >= WIDE or "-" in names
    widest = max((columns(entry.id) for entry in entries), default=0) if with_id else 0
    if width and entries:  # in a pipe there are rows only
        heading = f"{'':<{short}}  {'status':<10}  trust served {'kind':<9}  " + (
            f"{'id':<{widest}}  " if with_id else ""
        )
        console.print(console.painted(f"{heading}summary", "dim"))
    for entry, name in zip(entries, names, strict=True):
        state = cards.standing_of(entry, None if as_of is None else root.bundle(entry), as_of)
        served = root.served_trust(entry, as_of, state)
        faded = sums.shown(served) if served != state.trust else "    "
        start = f"{name:<{short}}  {state.status:<10}  {sums.shown(state.trust)}  {faded}  {entry.kind or '?':<9}  "
        if with_id:
            start += f"{padded(line(entry.id), widest)}  "
        summary = line(entry.title)
        text = cut(summary, max(width - columns(start), 20)) if width else summary
        console.print(start.replace(state.status, console.painted(state.status, COLOURS[state.status]), 1) + text)


def told(root: Root, statuses: list[str]) -> str:
    counts = ", ".join(f"{statuses.count(status)} {status}" for status in STATUSES if status in statuses)
    builds = ", ".join(f"{line(name)} at build {number}" for name, number in ordinals(root).items())
    return (
        f"{len(statuses):,} record{'' if len(statuses) == 1 else 's'}"
        + (f": {counts}" if counts else "")
        + (f" ({builds})" if builds else "")
    )


# get ------------------------------------------------------------------------------------------------------------------


def get_arguments(parser: Parser) -> None:
    parser.add_argument(
        "address",
        metavar="ADDRESS",
        help="a record id, a short id (MEM-1), a URI, or the path of a bundle or a file in it",
    )
    parser.add_argument("--as-of-build", type=roots.build, metavar="N", help="the record as it was at build N")
    roots.json_argument(parser)
    roots.arguments(parser)


def get(options: Namespace, console: Console) -> int:
    root, address = addressed(options.address, options, console)
    entry = root.find(address)
    if entry is None:
        raise Failed(unknown(options.address, root), REFUSED)
    twins = root.all_of(entry.id)
    if len(twins) > 1 and address != entry.directory:
        paths = "\n".join(f"  {console.shown(twin.directory)}" for twin in twins)
        raise Failed(f"{len(twins)} records bear the id {entry.id}; name one by its path:\n{paths}", REFUSED)
    root = opening.give_short_ids(root, [entry.id])
    card = cards.card(root, entry, options.as_of_build)
    if card is None:
        created = f"{entry.id} was not there at build {options.as_of_build}; it was created at build {entry.created}"
        raise Failed(created, REFUSED)
    if options.format == "json":
        console.json(printable(card, console))
    else:
        print_card(root, entry, card, options.as_of_build, console)
    return DONE


def addressed(address: str, options: Namespace, console: Console) -> tuple[Root, str]:
    """The root that an address is looked up in, and the address; of a path to a bundle or a file in it the bundle's folder."""
    path = console.absolute(address)
    above = disk.root_above(path) if "\0" not in path and os.path.exists(path) else None
    place = place_of(above, f"{path}/record.md" if os.path.isdir(path) else path) if above else None
    if place and above and options.root is None:
        return roots.opened(roots.readable(above), console), place[0]
    root = roots.opened(roots.one(options, console), console)
    return root, place[0] if place else address


def unknown(address: str, root: Root) -> str:
    near = search.resolve(root, address).candidates[:3]
    names = "".join(f"\n  {match.entry.id}: {line(match.entry.title)}" for match in near)
    if ids.SHORT_ID.fullmatch(address):
        return f"no record has the short id {address} on this machine; `memidex inspect` lists them"
    return f"no record has the address {address!r}" + (f"; the nearest are{names}" if near else "")


def print_card(root: Root, entry: Entry, card: dict[str, Any], as_of: int | None, console: Console) -> None:
    """A card for people. Text of the record stands behind a bar, so that no line of it is taken for ours or for a command."""
    console.print(console.painted(line(entry.title), "bold"))
    kind = " ".join(word for word in (entry.subtype, entry.kind) if word) or "record of no known kind"
    console.print(f"{card['shortId'] + ' · ' if card['shortId'] else ''}{line(card['id'])} · {kind}")
    console.print()
    for name, text in facts(root, entry, card, as_of, console):
        console.print(f"{console.painted(f'{name:<11}', 'dim')}{text}")
    console.print()
    for text in visible(card["detail"]).split("\n"):
        console.print(f"  │ {text}".rstrip())
    bundle = root.bundle(entry)
    steps = cards.steps(bundle, as_of) if bundle else []
    if steps:
        console.print()
        for text in events(steps, console):
            console.print(text)


def facts(
    root: Root, entry: Entry, card: dict[str, Any], as_of: int | None, console: Console
) -> Iterator[tuple[str, str]]:
    state = cards.standing_of(entry, root.bundle(entry), as_of)
    status = console.painted(state.status, COLOURS[state.status])
    why = f", {state.reason}" if state.reason else f" by {line(state.by)}" if state.by else ""
    yield "status", f"{status}{why}" + (f" (as of build {as_of})" if as_of is not None else "")
    sum_, _, result = state.arithmetic.rpartition(" = ")
    since = card["unconfirmedSince"]
    served = (
        f"; served as {sums.shown(root.served_trust(entry, as_of, state))}, unconfirmed since build {since}"
        if since is not None
        else ""
    )
    yield "trust", f"{result} = {sum_}{served}"
    yield "counts", ", ".join(f"{count} {name}" for name, count in card["counts"].items())
    yield "origin", card["origin"]
    yield (
        "valid",
        f"from build {card['validFrom']}"
        + (f" until build {card['validTo']}" if card["validTo"] is not None else " on"),
    )
    yield "scope", line(str(entry.scope)) if entry.scope else "none that can be read"
    for index, anchor in enumerate(entry.anchors):
        yield "" if index else "anchors", line(str(anchor))
    for index, text in enumerate(relations(root, card["relations"])):
        yield "" if index else "relations", text
    yield "integrity", card["integrity"]
    yield "served", "to runs of its scope" if card["servable"] else f"no: {reason(card['heldReason'])}"
    yield "file", line(console.shown(card["path"]))


def reason(held: str) -> str:
    """A reason for which a record is not served, in words."""
    name, _, detail = held.partition(": ")
    return serving.REASONS.get(name, name) + (f", and it is {detail}" if detail else "")


def relations(root: Root, rows: list[dict[str, Any]]) -> Iterator[str]:
    """A line for each relation; one that both records tell of is told once."""
    inward = {(row["type"], row["target"]) for row in rows if row["direction"] == "in"}
    outward = {(INVERSE.get(row["type"]), row["target"]) for row in rows if row["direction"] == "out"}
    for row in rows:
        other = root.find(row["target"])
        title = f"{line(other.title)} ({row['status']})" if other else "no such record"
        name = line((root.short(other) if other else None) or row["target"])
        if row["direction"] == "out":
            arrow = "↔" if (INVERSE.get(row["type"]), row["target"]) in inward else "→"
        elif (row["type"], row["target"]) in outward:
            continue
        else:
            arrow = "←"
        yield f"{arrow} {line(row['type'])} {name}: {title}"


def events(steps: list[Step], console: Console) -> Iterator[str]:
    before: Fraction | None = None
    for step in steps:
        event = step.event
        change = sums.shown(step.trust) if step.trust != before else "    "
        before = step.trust
        note = f"  {line(event.note)}" if event.note else ""
        text = f"  build {event.ordinal:<4} {event.type:<12}  {event.origin:<14}  {change}  {step.status:<10}{note}"
        yield console.painted(f"{text}  no effect: {step.why}", "dim") if step.why else text.rstrip()


# resolve --------------------------------------------------------------------------------------------------------------


def resolve_arguments(parser: Parser) -> None:
    parser.add_argument(
        "text", nargs="+", metavar="TEXT", help="words of the summary, the id or the anchor; an exact address wins"
    )
    roots.json_argument(parser)
    roots.arguments(parser)


def resolve(options: Namespace, console: Console) -> int:
    text = " ".join(options.text)
    root, address = addressed(text, options, console)
    found = search.resolve(root, address)
    root = opening.give_short_ids(root, [match.entry.id for match in found.candidates])
    if options.format == "json":
        candidates = [
            {**printable(row, console), "score": match.score}
            for match in found.candidates
            if (row := cards.row(root, match.entry))
        ]
        match = cards.row(root, found.match) if found.match else None
        console.json(
            {
                "match": printable(match, console) if match else None,
                "score": found.candidates[0].score if found.candidates else None,
                "candidates": candidates,
                "ambiguous": found.match is None and bool(candidates),
                "why": found.why,
            }
        )
    else:
        for match in found.candidates:
            mark = "→" if match.entry is found.match else " "
            entry = match.entry
            status = console.painted(f"{entry.status:<10}", COLOURS[entry.status])
            name = root.short(entry) or entry.id
            start = f"{mark} {match.score:5.1f}  {name}  {entry.status:<10}  {sums.shown(entry.standing.trust)}  "
            title = (
                cut(line(entry.title), max(console.width - columns(start), 20)) if console.width else line(entry.title)
            )
            console.print(start.replace(f"{entry.status:<10}", status) + title)
    if found.match is None:
        console.warn(found.why)
        return REFUSED
    return DONE
