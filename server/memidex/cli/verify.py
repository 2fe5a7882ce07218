"""`memidex verify`: every manifest against the files it seals."""

from __future__ import annotations

from argparse import Namespace
from collections import Counter
from typing import Any

from memidex.cli import roots
from memidex.cli.console import DONE, REFUSED, Console, Parser, line
from memidex.records.memidex.bundle import Bundle
from memidex.store import opening
from memidex.store.snapshot import entry

STATES = ("sealed", "appended", "edited", "rewritten", "incomplete", "unknown")
BROKEN = ("edited", "rewritten", "incomplete")
COLOURS = {"edited": "warning", "rewritten": "error", "incomplete": "error", "appended": "good", "unknown": "warning"}


def verify_arguments(parser: Parser) -> None:
    roots.json_argument(parser)
    roots.arguments(parser)


def verify(options: Namespace, console: Console) -> int:
    root = roots.one(options, console)
    rows: list[dict[str, Any]] = []
    lines: list[tuple[str, str, str]] = []

    def seen(bundle: Bundle) -> None:
        # An id of no right form is no address: the folder's name is the bundle's id then, as everywhere.
        rows.append(
            {
                "id": entry(bundle).id,
                "path": console.shown(bundle.directory),
                "integrity": bundle.integrity,
                "files": files(bundle),
            }
        )
        for name, state in bundle.seals:
            lines.append((console.shown(f"{bundle.directory}/{name}"), state, why(bundle, name, state)))

    opening.cold(root, seen=seen, progress=lambda done, whole: console.progress("verifying", done, whole))
    console.progress.clear()
    counted = Counter(str(row["integrity"]) for row in rows)
    summary = {state: counted[state] for state in STATES}
    if options.format == "json":
        console.json({"version": 1, "bundles": rows, "summary": summary})
    else:
        for path, state, reason in lines:
            console.print(f"{line(path)}: {console.painted(state, COLOURS[state])}: {reason}")
        found = ", ".join(f"{count:,} {state}" for state, count in summary.items() if count)
        console.say(f"{len(rows):,} bundle{'' if len(rows) == 1 else 's'}" + (f": {found}" if found else ""))
    return REFUSED if any(summary[state] for state in BROKEN) else DONE


def files(bundle: Bundle) -> list[dict[str, str]]:
    """Every file that is there or that the manifest lists, but the manifest itself where it says something."""
    states = {name: "sealed" for name in bundle.files if name != "manifest.json"} | dict(bundle.seals)
    return [{"path": name, "state": states[name]} for name in sorted(states)]


def why(bundle: Bundle, name: str, state: str) -> str:
    if name in bundle.faults:
        return bundle.faults[name].message
    if name == "manifest.json":
        return "there is no manifest" if state == "incomplete" else "it is of a shape that is not known"
    match state:
        case "incomplete":
            return (
                "there, but the manifest does not list it"
                if name in bundle.files or name in bundle.others
                else "the manifest lists it, and it is not there"
            )
        case "appended":
            return "events were appended since it was sealed, and the sealed part is as it was"
        case "rewritten":
            return "the sealed part of the log changed: history was rewritten"
        case "edited":
            return "it differs from what was sealed"
        case _:
            return "sealed by a hash of a kind that is not known"
