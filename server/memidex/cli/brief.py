"""`memidex brief`: what a run would be served, and why the rest is not."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from memidex.cli import roots
from memidex.cli.console import DONE, Console, Parser, columns, cut, line
from memidex.cli.records import in_order, printable
from memidex.editor import card as cards
from memidex.history import trust as sums
from memidex.learning import serving
from memidex.records.memidex.vocabulary import PLATFORMS
from memidex.store import opening
from memidex.store.snapshot import Entry, Root


def brief_arguments(parser: Parser) -> None:
    parser.add_argument("--product", required=True, metavar="P", help="the product that the run tests")
    parser.add_argument("--suite", metavar="S", help="its suite")
    parser.add_argument("--test", metavar="T", help="its test")
    parser.add_argument("--platform", choices=PLATFORMS, help="without one, records of every platform fit")
    parser.add_argument("--at", type=roots.build, metavar="N", help="the run's build; else the product's newest")
    parser.add_argument("--all", action="store_true", help="also what is not served, and why")
    roots.json_argument(parser)
    roots.arguments(parser)


def brief(options: Namespace, console: Console) -> int:
    root = roots.opened(roots.one(options, console), console)
    product = roots.known_product(options.product, root)
    run = serving.Run(product, options.suite, options.test, options.platform, options.at)
    served = serving.brief(root, run)
    there = {item.entry.directory for item in served}
    held: list[tuple[Entry, str]] = []
    for entry in in_order(root.entries.values()) if options.all else ():
        reason = None if entry.directory in there else serving.held_reason(root, entry, run)
        if reason:
            held.append((entry, reason))
    root = opening.give_short_ids(root, [item.entry.id for item in served] + [entry.id for entry, _ in held])
    if options.format == "json":
        at = root.product(product).current if options.at is None else options.at
        document: dict[str, Any] = {
            "version": 1,
            "run": {"product": product, "suite": run.suite, "test": run.test, "platform": run.platform, "at": at},
            "served": [
                {**row(root, item.entry, options.at, console), "servedTrust": float(item.trust), "note": item.note}
                for item in served
            ],
        }
        if options.all:
            document["held"] = [{**row(root, entry, None, console), "heldReason": reason} for entry, reason in held]
        console.json(document)
        return DONE
    for item in served:
        show(root, item.entry, f"{sums.shown(item.trust)}  ", f"  ({item.note})" if item.note else "", console)
    if held:
        console.print()
        console.print(console.painted("Not served:", "bold"))
    for reason, text in serving.REASONS.items():
        of_reason = [entry for entry, why in held if why == reason]
        if of_reason:
            console.print(console.painted(f"{reason}: {text}", "dim"))
        for entry in of_reason:
            show(root, entry, "      ", "", console)
    console.say(f"{len(served):,} of {len(root.entries):,} records would be served")
    return DONE


def row(root: Root, entry: Entry, as_of: int | None, console: Console) -> dict[str, Any]:
    found = cards.row(root, entry, as_of) or cards.row(root, entry)
    return printable(found, console) if found else {"id": entry.id}


def show(root: Root, entry: Entry, before: str, after: str, console: Console) -> None:
    start = f"{before}{root.short(entry) or line(entry.id)}  "
    room = console.width - columns(start) - len(after) if console.width else None
    title = line(entry.title)
    console.print(start + (cut(title, max(room, 20)) if room else title) + after)
