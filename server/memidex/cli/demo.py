"""`memidex demo`: what memidex is, in half a minute, on a throw-away copy of the example root."""

from __future__ import annotations

import difflib
import os
import shutil
import tempfile
from argparse import Namespace
from dataclasses import replace
from importlib.resources import as_file, files

from memidex.cli import main
from memidex.cli.check import checked
from memidex.cli.console import DONE, REFUSED, Console, Failed, Parser
from memidex.editor import card as cards
from memidex.records.memidex.vocabulary import PROMOTABLE_KINDS
from memidex.rules.rule import ALL, Fix
from memidex.store import opening
from memidex.store.snapshot import Entry, Root
from memidex.text import Edit, apply

KNOWLEDGE = "agent-qa-knowledge"


def demo_arguments(parser: Parser) -> None:
    parser.epilog = "Writes nowhere but in a temporary folder, which is removed at the end."


def demo(_: Namespace, console: Console) -> int:
    source = files("memidex") / "example" / KNOWLEDGE
    if not source.is_dir():
        raise Failed("the example root is not part of this installation")
    with tempfile.TemporaryDirectory(prefix="memidex-demo-") as folder, as_file(source) as example:
        here = os.path.realpath(folder).replace("\\", "/")
        shutil.copytree(example, f"{here}/{KNOWLEDGE}", ignore=shutil.ignore_patterns(".memidex"))
        return Tour(replace(console, directory=here, err=console.out), f"{here}/{KNOWLEDGE}").take()


class Tour:
    """The stations of the demonstration; each command in it is really run."""

    def __init__(self, console: Console, path: str) -> None:
        self.console = console
        self.path = path
        self.number = 0
        self.went_well = True

    def take(self) -> int:
        console = self.console
        root = opening.cold(self.path)
        console.print(
            f"A testing agent wrote down what it learned about {len(root.products)} apps: {len(root.entries)} records, each a folder of\n"
            "plain files that is committed like code. memidex shows, judges and corrects them. This is a copy;\n"
            "your files are not touched."
        )
        self.station("What is wrong with it, and what asks for a person? The editor and CI get the same answer.")
        self.run("check")

        record = self.record(root)
        self.station(
            "What is believed, why, and from when to when? Nothing of this is stored: it is worked out from the log."
        )
        self.run("get", record.id)

        builds = sorted(record.ordinals)
        self.station(f"And what was believed before? The same record as of builds {', '.join(map(str, builds))}:")
        for build in builds:
            self.then(root, record, build)

        self.station("What would a test run be told today? The most trusted first, and nothing that was replaced:")
        self.run("brief", "--product", record.product)

        self.station("Somebody edits the record and mistypes a word:")
        file = f"{record.directory}/record.md"
        before = read(file)
        broken = before.replace(f'kind: "{record.kind}"', f'kind: "{record.kind[0]}{record.kind[2:]}"', 1)
        write(file, broken)
        self.changed(before, broken)
        bundle = self.console.shown(record.directory)
        self.run("check", bundle, expected=REFUSED)

        self.station("The finding offers its own fix, here as in the editor. Applied:")
        fix = self.fix(file)
        if fix is None:
            return REFUSED
        mended = apply(broken, [Edit(span, text) for path, span, text in fix.edits if path == file])
        write(file, mended)
        console.print(f"  {fix.title}")
        self.changed(broken, mended)
        self.run("check", bundle)
        console.print(
            "The record is byte for byte as it was sealed." if mended == before else "The record is not as it was."
        )

        candidate = self.candidate(root)
        if candidate:
            self.station("A candidate waits for a person's word. Accepted, and what that appended to its log:")
            log = f"{candidate.directory}/evidence/outcomes.jsonl"
            before_log = read(log)
            self.run("accept", candidate.id)
            self.changed(before_log, read(log))
            self.station("And taken back. Nothing is deleted: the log holds both, and the first counts for nothing.")
            self.run("retract", candidate.id)
        console.print()
        console.print("Next: `memidex inspect` in a folder with knowledge, `memidex rules`, or the editor extension.")
        return DONE if self.went_well and mended == before else REFUSED

    def station(self, text: str) -> None:
        self.number += 1
        self.console.print()
        self.console.print(self.console.painted(f"{self.number}. {text}", "bold"))

    def run(self, *arguments: str, expected: int = DONE) -> None:
        self.console.print(self.console.painted(f"$ memidex {' '.join(arguments)}", "dim"))
        self.went_well = main.run(arguments, self.console) == expected and self.went_well

    def record(self, root: Root) -> Entry:
        """The record with the richest story: replaced, and confirmed most often before."""
        return max(
            root.entries.values(),
            key=lambda entry: (entry.status == "superseded", entry.standing.confirmed, -entry.created, entry.id),
        )

    def candidate(self, root: Root) -> Entry | None:
        """The candidate that would be active for a person's word: no proposal, and the best confirmed."""
        waiting = [
            entry
            for entry in root.entries.values()
            if entry.status == "candidate"
            and entry.kind in PROMOTABLE_KINDS
            and not any(entry.related("proposed-supersession-of"))
        ]
        return min(waiting, key=lambda entry: (-entry.standing.confirmed, entry.id), default=None)

    def then(self, root: Root, record: Entry, build: int) -> None:
        state = cards.standing_of(record, root.bundle(record), build)
        sum_, _, result = state.arithmetic.rpartition(" = ")
        self.console.print(f"  build {build:<4}{state.status:<12}trust {result} = {sum_}")

    def changed(self, before: str, after: str) -> None:
        for text in difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm=""):
            if not text.startswith(("---", "+++", "@@")):
                self.console.print("  " + self.console.painted(text, "error" if text[0] == "-" else "good"))

    def fix(self, file: str) -> Fix | None:
        """The fix that the error of the file offers."""
        found = checked(self.path, [file], ALL, self.console)
        return next(
            (fix for item in found.findings if item.finding.severity == "error" for fix in item.finding.fixes), None
        )


def read(path: str) -> str:
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()


def write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(text)
