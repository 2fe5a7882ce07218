"""The findings of a check in the forms that people, editors and CI systems read."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from xml.etree import ElementTree

from memidex import __version__
from memidex.cli.console import Console, line, visible
from memidex.rules import registry
from memidex.rules.rule import SEVERITIES

if TYPE_CHECKING:
    from memidex.cli.check import Checked, Located, Range


@dataclass(frozen=True)
class Report:
    """What a check found in every root, and how long it took."""

    roots: list[Checked]
    seconds: float
    hints: bool
    """Whether hints are shown where they are not always."""

    @property
    def findings(self) -> list[Located]:
        return [item for root in self.roots for item in root.findings]

    @property
    def shown(self) -> list[Located]:
        """The findings without those that only invite to act."""
        return [item for item in self.findings if self.hints or item.finding.severity != "hint"]

    @property
    def counts(self) -> dict[str, int]:
        counted = Counter(item.finding.severity for item in self.findings)
        return {severity: counted[severity] for severity in SEVERITIES}

    @property
    def records(self) -> int:
        return sum(len(root.records) for root in self.roots)


def text(report: Report, console: Console) -> None:
    """`path:line:column: severity: message [rule]`, which editors and terminals make a link of."""
    for item in report.shown:
        finding = item.finding
        where = console.painted(place(finding.path, item.range, console), "bold")
        rule = console.painted(f"[{finding.rule.name}]", "dim")
        console.print(f"{where}: {console.painted(finding.severity, finding.severity)}: {line(finding.message)} {rule}")
        for path, at, message in item.related:
            console.print(f"    {place(path, at, console)}: {line(message)}")
    summary(report, console)


def place(path: str, at: Range, console: Console) -> str:
    return f"{line(console.shown(path))}:{at.start[0]}:{at.start[1]}"


def summary(report: Report, console: Console) -> None:
    """One line on stderr: the result is on stdout alone."""
    counts = [counted(count, severity) for severity, count in report.counts.items() if count]
    found = ", ".join(counts) or "no findings"
    console.say(f"{found} in {counted(report.records, 'record')} ({report.seconds:.1f} s)")


def counted(count: int, word: str) -> str:
    return f"{count:,} {word}" + ("" if count == 1 or word == "info" else "s")


# JSON: our own, SARIF and GitLab's ------------------------------------------------------------------------------------


def as_json(report: Report, console: Console) -> None:
    findings = [
        {
            "rule": item.finding.rule.name,
            "code": item.finding.rule.code,
            "severity": item.finding.severity,
            "message": item.finding.message,
            "path": console.shown(item.finding.path),
            "range": range_(item.range),
            "record": item.finding.record,
            "related": [
                {"path": console.shown(path), "range": range_(at), "message": message}
                for path, at, message in item.related
            ],
            "fixes": [fix.title for fix in item.finding.fixes],
        }
        for item in report.findings
    ]
    told = {**report.counts, "records": report.records, "seconds": round(report.seconds, 3)}
    console.json(
        {
            "version": 1,
            "roots": [console.shown(root.root) for root in report.roots],
            "findings": findings,
            "summary": told,
        }
    )


def range_(at: Range) -> dict[str, dict[str, int]]:
    return {"start": {"line": at.start[0], "column": at.start[1]}, "end": {"line": at.end[0], "column": at.end[1]}}


SARIF_LEVEL = {"error": "error", "warning": "warning", "info": "note", "hint": "note"}


def sarif(report: Report, console: Console) -> None:
    """SARIF 2.1.0 (OASIS), as code scanning services take it."""
    rules = [
        {
            "id": rule.code,
            "name": rule.name,
            "shortDescription": {"text": rule.sentence or rule.name},
            "help": {"text": rule.page or rule.name, "markdown": rule.page or rule.name},
            "defaultConfiguration": {"level": SARIF_LEVEL[rule.severity]},
        }
        for rule in registry.RULES
    ]
    index = {rule.code: number for number, rule in enumerate(registry.RULES)}
    results: list[dict[str, Any]] = []
    for item, print_ in zip(report.shown, fingerprints(report.shown, console), strict=True):
        finding = item.finding
        result: dict[str, Any] = {
            "ruleId": finding.rule.code,
            "ruleIndex": index[finding.rule.code],
            "level": SARIF_LEVEL[finding.severity],
            "message": {"text": sarif_text(finding.message)},
            "locations": [{"physicalLocation": physical(finding.path, item.range, console)}],
            "partialFingerprints": {"memidex/v1": print_},
        }
        if item.related:
            result["relatedLocations"] = [
                {
                    "id": number,
                    "message": {"text": sarif_text(message)},
                    "physicalLocation": physical(path, at, console),
                }
                for number, (path, at, message) in enumerate(item.related)
            ]
        results.append(result)
    run = {
        "tool": {"driver": {"name": "memidex", "version": __version__, "rules": rules}},
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    console.json({"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]})
    summary(report, console)


def sarif_text(message: str) -> str:
    """A message in which nothing reads as a link of SARIF's (section 3.11.6)."""
    return visible(message).replace("[", "\\[").replace("]", "\\]") if "](" in message else visible(message)


def physical(path: str, at: Range, console: Console) -> dict[str, Any]:
    region = {"startLine": at.start[0], "startColumn": at.start[1], "endLine": at.end[0], "endColumn": at.end[1]}
    return {"artifactLocation": {"uri": uri(console.shown(path))}, "region": region}


def uri(path: str) -> str:
    """A relative reference, or the `file:` URI of an absolute path."""
    encoded = quote(path, safe="/", errors="surrogateescape")
    if path.startswith("/"):
        return f"file://{encoded}"
    return f"file:///{path[:2]}{encoded[4:]}" if path[1:3] == ":/" else encoded


def fingerprints(items: Iterable[Located], console: Console) -> Iterator[str]:
    """What tells a finding from the others and stays when lines move: rule, file, message, and which of several equal ones."""
    met: Counter[tuple[str, str, str]] = Counter()
    for item in items:
        key = (item.finding.rule.code, console.shown(item.finding.path), item.finding.message)
        met[key] += 1
        yield hashlib.sha256("\0".join((*key, str(met[key]))).encode("utf-8", "surrogatepass")).hexdigest()


GITLAB_SEVERITY = {"error": "major", "warning": "minor", "info": "info", "hint": "info"}


def gitlab(report: Report, console: Console) -> None:
    """GitLab's code quality report (Code Climate's list of issues)."""
    items = report.shown
    console.json(
        [
            {
                "description": visible(item.finding.message),
                "check_name": item.finding.rule.name,
                "fingerprint": print_,
                "severity": GITLAB_SEVERITY[item.finding.severity],
                "location": {"path": console.shown(item.finding.path), "lines": {"begin": item.range.start[0]}},
            }
            for item, print_ in zip(items, fingerprints(items, console), strict=True)
        ]
    )
    summary(report, console)


# GitHub and JUnit -----------------------------------------------------------------------------------------------------

GITHUB_COMMAND = {"error": "error", "warning": "warning", "info": "notice", "hint": "notice"}


def github(report: Report, console: Console) -> None:
    """Workflow commands, which GitHub shows beside the lines of a pull request."""
    for item in report.shown:
        finding, (start, end) = item.finding, item.range
        properties = {
            "title": finding.rule.name,
            "file": console.shown(finding.path),
            "line": start[0],
            "endLine": end[0],
            "col": start[1],
        }
        if start[0] == end[0]:
            properties["endColumn"] = end[1]  # GitHub refuses columns of a stretch of several lines
        else:
            del properties["col"]
        named = ",".join(f"{name}={github_escape(str(value), ':,')}" for name, value in properties.items())
        console.print(f"::{GITHUB_COMMAND[finding.severity]} {named}::{github_escape(visible(finding.message))}")
    summary(report, console)


def github_escape(value: str, more: str = "") -> str:
    for character in "%\r\n" + more:
        value = value.replace(character, f"%{ord(character):02X}")
    return value


def junit(report: Report, console: Console) -> None:
    """JUnit's XML: a root is a suite, a record a test, which fails by findings at or above `--fail-on`."""
    suites = ElementTree.Element("testsuites", name="memidex", time=f"{report.seconds:.3f}")
    for root in report.roots:
        of_place: dict[str, list[Located]] = {directory: [] for directory in sorted(root.records)}
        for item in root.findings:
            if report.hints or item.finding.severity != "hint":
                of_place.setdefault(owner(item.finding.path, of_place), []).append(item)
        failures = 0
        suite = ElementTree.SubElement(suites, "testsuite", name=xml_text(console.shown(root.root)))
        for directory, items in of_place.items():
            inside = console.shown(directory)
            product = directory.removeprefix(root.root + "/memory/").partition("/")[0]
            case = ElementTree.SubElement(
                suite,
                "testcase",
                classname=xml_text(product),
                name=xml_text(inside.rpartition("/")[2]),
                file=xml_text(inside),
            )
            bad = [item for item in items if item.finding.severity in root.fails]
            rest = [item for item in items if item.finding.severity not in root.fails]
            if bad:
                failures += 1
                failure = ElementTree.SubElement(
                    case, "failure", type=bad[0].finding.rule.name, message=xml_text(line(bad[0].finding.message))
                )
                failure.text = xml_text("\n".join(plain(item, console) for item in bad))
            if rest:
                ElementTree.SubElement(case, "system-out").text = xml_text(
                    "\n".join(plain(item, console) for item in rest)
                )
        suite.attrib.update(tests=str(len(of_place)), failures=str(failures), errors="0", skipped="0")
    for name in ("tests", "failures", "errors"):
        suites.set(name, str(sum(int(suite.get(name, "0")) for suite in suites)))
    ElementTree.indent(suites)
    console.print('<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(suites, "unicode"))
    summary(report, console)


def owner(path: str, directories: Container[str]) -> str:
    """The bundle that a file is in, or a file of no bundle itself."""
    here = path
    while "/" in here.lstrip("/"):
        if here in directories:
            return here
        here = here.rpartition("/")[0]
    return path


def plain(item: Located, console: Console) -> str:
    finding = item.finding
    return (
        f"{place(finding.path, item.range, console)}: {finding.severity}: {line(finding.message)} [{finding.rule.name}]"
    )


def xml_text(value: str) -> str:
    """Text without the characters that XML 1.0 cannot hold."""
    return visible(value).replace("\ufffe", "\\ufffe").replace("\uffff", "\\uffff")


FORMATS: dict[str, Callable[[Report, Console], None]] = {
    "text": text,
    "json": as_json,
    "sarif": sarif,
    "junit": junit,
    "github": github,
    "gitlab": gitlab,
}
