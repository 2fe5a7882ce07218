"""Runs the rules over a record or a root, and gives findings their places."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator

from memidex.records.memidex.bundle import Bundle
from memidex.records.memidex.places import Place
from memidex.rules import registry
from memidex.rules.rule import ALL, Finding, Report, Rule, Selection, Severity
from memidex.store.snapshot import Entry, Root
from memidex.text import NOWHERE, Span

log = logging.getLogger(__name__)
MAX_CHAIN = 10_000


def check_texts(bundle: Bundle, root: Root, selection: Selection = ALL) -> list[Finding]:
    """What is wrong with one record's files, taken alone."""
    if bundle.record.version != 2:
        rules: Iterable[Rule] = [registry.BY_NAME["unsupported-version"]]
    else:
        rules = registry.RULES
    found: list[Finding] = []
    for rule in rules:
        severity = selection.severity(rule) if rule.bundle else None
        if severity and rule.bundle:
            check = rule.bundle
            found += run(
                rule, severity, bundle.directory, root, lambda check=check: check(bundle, root), lambda: bundle
            )
    return found


def check_links(entry: Entry, root: Root, selection: Selection = ALL) -> list[Finding]:
    """What is wrong with one record among the others."""
    if not entry.judged:
        return []
    found: list[Finding] = []
    for rule in registry.STORE_RULES:
        severity = selection.severity(rule)
        if severity and rule.store:
            check = rule.store
            found += run(
                rule,
                severity,
                entry.directory,
                root,
                lambda check=check: check(root, entry),
                lambda: root.bundle(entry),
            )
    return found


def check_entry(entry: Entry, root: Root, selection: Selection = ALL) -> list[Finding]:
    """Everything that is wrong with one record, by position."""
    bundle = root.bundle(entry)
    return ordered([*(check_texts(bundle, root, selection) if bundle else ()), *check_links(entry, root, selection)])


def run(
    rule: Rule,
    severity: Severity,
    directory: str,
    root: Root,
    check: Callable[[], Iterable[Report]],
    load: Callable[[], Bundle | None],
) -> Iterator[Finding]:
    """The findings of one rule on one record. A rule that fails is itself a finding; the others run on."""
    try:
        reports = list(check())
    except Exception as error:
        log.exception("rule %s failed on %s", rule.name, directory)
        crashed = registry.BY_NAME["rule-crashed"]
        message = (
            f"the rule {rule.name} failed on this record ({type(error).__name__}); the others ran. Please report it"
        )
        reports, rule, severity = [Report("record.md", Place(("id",)), message)], crashed, crashed.severity
    if not reports:
        return
    bundle = load()
    if bundle is None:
        return
    if rule.name in bundle.record.allowed:
        return
    for report in reports:
        file = bundle.files.get(report.file)
        if (
            file
            and any(problem.rule == "conflict-markers" for problem in file.problems)
            and rule.name != "conflict-markers"
        ):
            continue
        yield Finding(
            rule,
            report.severity if report.severity and severity == rule.severity else severity,
            f"{directory}/{report.file}",
            place(bundle, report.file, report.at),
            report.message,
            bundle.record.id or bundle.folder,
            tuple(related(report, root, bundle)),
            report.fixes,
            report.tags,
        )


def place(bundle: Bundle, name: str, at: Place | Span) -> Span:
    file = bundle.files.get(name)
    return file.span(at) if file else NOWHERE


def related(report: Report, root: Root, bundle: Bundle) -> Iterator[tuple[str, Span, str]]:
    for item in report.related:
        other = bundle if item.directory == bundle.directory else root.reader.bundle(item.directory)
        if other:
            yield f"{item.directory}/{item.file}", place(other, item.file, item.at), item.message


def ordered(findings: Iterable[Finding]) -> list[Finding]:
    """By path, position and code; one that stands twice is told once."""
    unique = {(item.path, item.span, item.rule.code, item.message): item for item in findings}
    return [unique[key] for key in sorted(unique)]


def dependents(root: Root, entry: Entry) -> set[str]:
    """The folders of the other records whose findings may change with this one."""
    near = {other.directory for other, _ in root.links_to(entry)}
    near.update(found.directory for relation in entry.relations if (found := root.find(relation.target)))
    if entry.main is not None:
        near.update(root.anchors.get(entry.main, ()))
    near.update(root.ids.get(entry.id, ()))
    near.update(chain(root, entry))
    near.discard(entry.directory)
    return near


def chain(root: Root, entry: Entry) -> set[str]:
    """The folders of every older and newer generation that supersession joins to the record, and its own."""
    found = {entry.directory}
    waiting = [entry]
    while waiting and len(found) < MAX_CHAIN:
        here = waiting.pop()
        for other in (*root.successors(here), *root.predecessors(here)):
            if other.directory not in found:
                found.add(other.directory)
                waiting.append(other)
    return found


def check_root(root: Root, selection: Selection = ALL) -> list[Finding]:
    """What is wrong with a root outside its bundles: run ledgers, links among the bundles' folders."""
    found: list[Finding] = []
    for name in root.products:
        path = f"{root.path}/memory/{name}/runs.jsonl"
        file = root.reader.file(path)
        for problem in file.problems if file else ():
            rule = registry.BY_NAME.get(problem.rule)
            severity = selection.severity(rule) if rule else None
            if file and rule and severity:
                found.append(Finding(rule, severity, path, file.span(problem.at), problem.message, None))
    link_rule = registry.BY_NAME.get("link-leaves-root")
    severity = selection.severity(link_rule) if link_rule else None
    if link_rule and severity:
        message = "a symbolic link where a bundle's folder belongs; it is not followed"
        found += [Finding(link_rule, severity, link, NOWHERE, message, None) for link in root.links]
    return ordered(found)
