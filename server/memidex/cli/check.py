"""`memidex check`: every finding of every root, by the rules the editor uses."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from memidex.cli import reports, roots
from memidex.cli.console import DONE, REFUSED, Console, Failed, Parser
from memidex.config import LEVELS, Level, rule
from memidex.records.memidex.bundle import Bundle
from memidex.rules import engine
from memidex.rules.rule import SEVERITIES, Finding, Selection
from memidex.store import opening
from memidex.store.snapshot import place_of
from memidex.text import Source, Span

Position = tuple[int, int]


class Range(NamedTuple):
    """Lines and columns from 1, in code points; the end is the first character after."""

    start: Position
    end: Position


TOP = Range((1, 1), (1, 1))


class Located(NamedTuple):
    """A finding with its lines and columns, which are worked out while the texts are at hand."""

    finding: Finding
    range: Range
    related: tuple[tuple[str, Range, str], ...]


@dataclass
class Checked:
    """What a check found in one root."""

    root: str
    fails: frozenset[str]
    """The severities that make the check fail."""
    records: list[str] = field(default_factory=list[str])
    """The folders of the bundles that were looked at."""
    findings: list[Located] = field(default_factory=list[Located])

    @property
    def failed(self) -> bool:
        return any(item.finding.severity in self.fails for item in self.findings)


def check_arguments(parser: Parser) -> None:
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="a folder with roots, a root, or a product, bundle or file of one"
    )
    parser.add_argument("--format", choices=tuple(reports.FORMATS), default="text")
    parser.add_argument("--fail-on", choices=LEVELS, help="from which severity on the exit code is 1 (default: error)")
    parser.add_argument(
        "--select",
        action="append",
        default=[],
        metavar="RULE,...",
        help="only these rules: names, codes or beginnings of codes",
    )
    parser.add_argument("--ignore", action="append", default=[], metavar="RULE,...", help="all rules but these")
    parser.add_argument("--hints", action="store_true", help="show hints too, which otherwise only --format json does")
    roots.arguments(parser)


def check(options: Namespace, console: Console) -> int:
    started = console.clock()
    select, ignore = rules(options.select), rules(options.ignore)
    done: list[Checked] = []
    warned: set[str] = set()
    for path, wanted in roots.several(options.paths, options, console).items():
        settings = roots.configured(path, select=select, ignore=ignore)
        for warning in settings.warnings:
            if warning not in warned:
                console.warn(warning)
                warned.add(warning)
        found = checked(path, wanted, settings.selection, console)
        done.append(Checked(path, failing(options.fail_on or settings.fail_on), found.records, found.findings))
    console.progress.clear()
    reports.FORMATS[options.format](reports.Report(done, console.clock() - started, options.hints), console)
    return REFUSED if any(item.failed for item in done) else DONE


def rules(given: Iterable[str]) -> list[str]:
    """The rules that options name; one that is not there would make a check that is wrongly clean."""
    try:
        return [rule(word) for item in given for word in item.split(",") if word.strip()]
    except LookupError as error:
        raise Failed(str(error.args[0])) from None


def failing(level: Level) -> frozenset[str]:
    return frozenset(SEVERITIES[: SEVERITIES.index(level) + 1] if level != "never" else ())


def checked(path: str, wanted: Sequence[str], selection: Selection, console: Console) -> Checked:
    """The findings of one root in the files and folders that are asked for, in the order they are printed in.

    Everything is read once: each bundle's texts are checked as it is read, with the root's run ledgers known; what
    joins records is checked once all are there.
    """
    reader = roots.Reader(path)
    ledgers, _ = opening.bare(path, reader)
    result = Checked(path, frozenset())

    def asked(place: str) -> bool:
        return any(roots.within(place, one) for one in wanted)

    def keep(findings: Iterable[Finding], bundle: Bundle | None = None) -> None:
        result.findings += [located(finding, reader, bundle) for finding in findings if asked(finding.path)]

    def seen(bundle: Bundle) -> None:
        reader.keep(bundle)
        if asked(bundle.directory) or any(roots.within(one, bundle.directory) for one in wanted):
            result.records.append(bundle.directory)
            keep(engine.check_texts(bundle, ledgers, selection), bundle)

    root = opening.cold(path, reader, seen, lambda done, whole: console.progress("reading", done, whole))
    with opening.bulk():
        for index, directory in enumerate(result.records):
            if index % opening.PAUSE == 0:
                console.progress("comparing", index, len(result.records))
            keep(engine.check_links(root.entries[directory], root, selection))
        keep(engine.check_root(root, selection))
    unique = {order(item, console): item for item in result.findings}
    result.findings = [unique[key] for key in sorted(unique)]
    return result


def order(item: Located, console: Console) -> tuple[str, Position, str, Position, str]:
    finding = item.finding
    return console.shown(finding.path), item.range.start, finding.rule.code, item.range.end, finding.message


def located(finding: Finding, reader: roots.Reader, bundle: Bundle | None = None) -> Located:
    related = tuple((path, placed(path, span, reader, None), message) for path, span, message in finding.related)
    return Located(finding, placed(finding.path, finding.span, reader, bundle), related)


def placed(path: str, span: Span, reader: roots.Reader, bundle: Bundle | None) -> Range:
    source = source_of(path, reader, bundle)
    if source is None:
        return TOP
    (line, column), (end_line, end_column) = source.position(span.start), source.position(span.end)
    return Range((line + 1, column + 1), (end_line + 1, end_column + 1))


def source_of(path: str, reader: roots.Reader, bundle: Bundle | None) -> Source | None:
    """The text of a file of the root; None where there is none to read, as of a missing file or a link."""
    if bundle is None:
        place = place_of(reader.root, path)
        bundle = reader.bundle(place[0]) if place else None
    if bundle is None:
        file = reader.file(path)
    else:
        file = bundle.files.get(path.removeprefix(bundle.directory + "/"))
    return file.source if file else None
