"""What a rule is, and what it reports."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from memidex.records.memidex.bundle import Bundle
from memidex.records.memidex.places import At, Place
from memidex.store.snapshot import Entry, Root
from memidex.text import Span

Severity = Literal["error", "warning", "info", "hint"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info", "hint")
Tag = Literal["unnecessary", "deprecated"]


class FileEdit(NamedTuple):
    """Replace `span` of the file at `path` (absolute) by `text`."""

    path: str
    span: Span
    text: str


class Fix(NamedTuple):
    """A way to mend what a finding reports, as edits of text."""

    title: str
    edits: tuple[FileEdit, ...]
    safe: bool = False
    """Right without a look: applied by fix-all."""
    preferred: bool = True
    """The one right answer, where there is one."""


class Related(NamedTuple):
    """A place in another record, or elsewhere in this one, that a report is also about."""

    directory: str
    file: str
    at: At
    message: str


@dataclass(frozen=True, slots=True)
class Report:
    """What a check says of the record it looked at; the engine finds the place and makes it a `Finding`."""

    file: str
    """The name in the bundle, such as `record.md`."""
    at: At
    message: str
    fixes: tuple[Fix, ...] = ()
    related: tuple[Related, ...] = ()
    tags: tuple[Tag, ...] = ()
    severity: Severity | None = None
    """Where it is not the rule's own."""


BundleCheck = Callable[[Bundle, Root], Iterable[Report]]
StoreCheck = Callable[[Root, Entry], Iterable[Report]]


@dataclass(frozen=True)
class Rule:
    """One thing that can be wrong.

    `bundle` looks at one record's files alone, at all their texts; `store` looks at an entry among the others and
    reads no text unless it reports something. A rule has one of the two.
    """

    code: str
    name: str
    severity: Severity
    bundle: BundleCheck | None = None
    store: StoreCheck | None = None

    @property
    def page(self) -> str:
        """The rule's page in Markdown: the docstring of its module."""
        own = sys.modules.get(f"memidex.rules.checks.{self.name.replace('-', '_')}")
        return inspect.cleandoc(own.__doc__ or "") if own else ""

    @property
    def sentence(self) -> str:
        """The first sentence of the page."""
        return " ".join(self.page.split("\n\n")[0].split())

    def examples(self, kind: Literal["flagged", "fixed", "clean"]) -> list[str]:
        """The sketches of one kind on the page."""
        return re.findall(rf"^```{kind}\n(.*?)^```$", self.page, re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong, at its place."""

    rule: Rule
    severity: Severity
    path: str
    """The file, absolute, with forward slashes."""
    span: Span
    message: str
    record: str | None
    related: tuple[tuple[str, Span, str], ...] = ()
    """(path, span, message) of other places it is about."""
    fixes: tuple[Fix, ...] = ()
    tags: tuple[Tag, ...] = ()


@dataclass(frozen=True, eq=False)
class Selection:
    """Which rules run, and how severe each is where it is not as the rule says; `off` silences one."""

    severities: Mapping[str, Severity | Literal["off"]] = field(default_factory=dict[str, "Severity | Literal['off']"])
    only: frozenset[str] = frozenset()
    """Names or codes, or beginnings of codes; empty for all."""
    ignored: frozenset[str] = frozenset()

    def severity(self, rule: Rule) -> Severity | None:
        """The severity at which a rule reports; None where it does not run."""

        def named(names: Iterable[str]) -> bool:
            return any(rule.name == name or rule.code.startswith(name.upper()) for name in names if name)

        if (self.only and not named(self.only)) or named(self.ignored):
            return None
        chosen = self.severities.get(rule.name, self.severities.get(rule.code, rule.severity))
        return None if chosen == "off" else chosen


ALL = Selection()


@dataclass(frozen=True)
class FromParser:
    """The check of a rule whose problems the parser finds: it passes on those filed under the rule's name.

    The engine calls it only for a bundle in which there are any.
    """

    name: str
    fixes: Callable[[Bundle, str, Any], Iterable[Fix]] | None = None

    def __call__(self, bundle: Bundle, root: Root) -> Iterator[Report]:
        for file in bundle.files.values():
            for problem in file.problems:
                if problem.rule == self.name:
                    mends = tuple(self.fixes(bundle, file.name, problem)) if self.fixes else ()
                    yield Report(file.name, problem.at, problem.message, mends)


def from_parser(name: str, fixes: Callable[[Bundle, str, Any], Iterable[Fix]] | None = None) -> BundleCheck:
    """The check of a rule that the parser finds; `fixes(bundle, file, problem)` gives what mends one of its problems."""
    return FromParser(name, fixes)


def edit(bundle: Bundle, file: str, at: At, text: str) -> FileEdit:
    """An edit of the place `at` in a file of the bundle."""
    return FileEdit(f"{bundle.directory}/{file}", bundle.files[file].span(at), text)


__all__ = [
    "ALL", "BundleCheck", "FileEdit", "Finding", "Fix", "Place", "Related", "Report", "Rule", "Selection", "Severity",
    "StoreCheck", "edit", "from_parser",
]  # fmt: skip
