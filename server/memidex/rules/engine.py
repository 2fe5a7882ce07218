"""Runs the rules over a record or a root, and gives findings their places."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

from memidex.records import secrets
from memidex.records.memidex.bundle import Bundle
from memidex.records.memidex.places import Place
from memidex.records.memidex.vocabulary import SCHEMA_VERSION
from memidex.rules.rule import (
    ALL,
    Finding,
    FromParser,
    Report,
    Rule,
    Selection,
    Severity,
)
from memidex.store import churn
from memidex.store.snapshot import Entry, Link, Root, normal_address
from memidex.text import NOWHERE, Span

log = logging.getLogger(__name__)
ALWAYS = ("unsupported-version", "conflict-markers")
"""Reported of a record of any version."""
LEDGER = "runs.jsonl"
OF_ANY_TEXT = frozenset({"bad-encoding", "hidden-characters", "secret-in-text"})
MAX_CHAIN = 10_000


Planned = tuple[Rule, Severity, Callable[[Any, Any], Iterable[Report]]]
"""A rule that runs, its severity, and its check."""


class Plan(NamedTuple):
    """The rules that a selection runs, by what they look at."""

    parsed: dict[str, Planned]
    """By name, those whose problems the parser finds."""
    texts: tuple[Planned, ...]
    links: tuple[Planned, ...]


def named(name: str) -> Rule | None:
    """The rule of a name."""
    from memidex.rules import registry

    return registry.BY_NAME.get(name)


@lru_cache(maxsize=16)
def plan(selection: Selection) -> Plan:
    # The rules are some sixty modules: the first check imports them, and not the way to an `initialize` answer.
    from memidex.rules import registry

    chosen: list[tuple[Rule, Severity]] = [
        (rule, severity) for rule in registry.RULES if (severity := selection.severity(rule))
    ]
    texts: list[Planned] = [(rule, severity, rule.bundle) for rule, severity in chosen if rule.bundle]
    return Plan(
        {rule.name: planned for planned in texts if isinstance((rule := planned[0]).bundle, FromParser)},
        tuple(planned for planned in texts if not isinstance(planned[0].bundle, FromParser)),
        tuple((rule, severity, rule.store) for rule, severity in chosen if rule.store),
    )


def check_texts(bundle: Bundle, root: Root, selection: Selection = ALL) -> list[Finding]:
    """What is wrong with one record's files, taken alone."""
    plans = plan(selection)
    problems = {problem.rule for file in bundle.files.values() if file.problems for problem in file.problems}
    judged = bundle.record.version == SCHEMA_VERSION
    found = [plans.parsed[name] for name in problems if name in plans.parsed and (judged or name in ALWAYS)]
    rules = (*found, *plans.texts) if judged else found
    return list(run(rules, (bundle, root), bundle.directory, root, lambda: bundle))


def check_links(entry: Entry, root: Root, selection: Selection = ALL) -> list[Finding]:
    """What is wrong with one record among the others."""
    if not entry.judged:
        return []
    return list(run(plan(selection).links, (root, entry), entry.directory, root, lambda: root.bundle(entry)))


def check_entry(entry: Entry, root: Root, selection: Selection = ALL) -> list[Finding]:
    """Everything that is wrong with one record, by position."""
    bundle = root.bundle(entry)
    return ordered([*(check_texts(bundle, root, selection) if bundle else ()), *check_links(entry, root, selection)])


def run(
    rules: Iterable[Planned], subject: tuple[Any, Any], directory: str, root: Root, load: Callable[[], Bundle | None]
) -> Iterator[Finding]:
    """The findings of rules on one record. A rule that fails is itself a finding; the others run on."""
    one, two = subject
    for rule, severity, check in rules:
        try:
            reports = [*check(one, two)]
        except Exception as error:
            log.exception("rule %s failed on %s", rule.name, directory)
            crashed = named("rule-crashed") or rule
            message = (
                f"the rule {rule.name} failed on this record ({type(error).__name__}); the others ran. Please report it"
            )
            failed = [Report("record.md", Place(("id",)), message)]
            yield from placed(failed, crashed, crashed.severity, directory, root, load)
            continue
        if reports:
            yield from placed(reports, rule, severity, directory, root, load)


def placed(
    reports: list[Report], rule: Rule, severity: Severity, directory: str, root: Root, load: Callable[[], Bundle | None]
) -> Iterator[Finding]:
    """Reports as findings, with their places; none where the record silences the rule."""
    bundle = load()
    if bundle is None:
        return
    if rule.name in bundle.record.allowed or rule.code in bundle.record.allowed:
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
            secrets.masked(report.message),  # a value that a message quotes may be one
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
    """The folders of the other records whose findings may change with this one.

    After a change, what may differ is the record, its dependents before, and its dependents after. Where the run counts
    of a product change, all of its records may.
    """
    near = {link.directory for link in pointing(root, entry)}
    for relation in entry.relations:
        near.update(bearers(root, relation.target))
    near.update(bearers(root, entry.id), bearers(root, entry.folder))
    near.update(circle(root, entry))
    near.update(alike(root, entry))
    if entry.scope is not None:
        newest = churn.newest_first(root, entry.scope, entry.product)
        near.update({newest.directory} if newest else ())
    near.discard(entry.directory)
    return near


def bearers(root: Root, address: str) -> tuple[str, ...]:
    """The folders of all records that an address may be found to be; more than one where an id is repeated."""
    plain = normal_address(address)
    return root.ids.get(root.short_ids.get(plain, plain) if plain.startswith("MEM-") else plain, ())


def pointing(root: Root, entry: Entry) -> Iterator[Link]:
    """Every relation whose target may be found to be the record, by any of its names."""
    for name in {entry.id, entry.folder}:
        yield from root.backlinks.get(name, ())
        if name in root.short_ids:
            yield from root.backlinks.get(root.short_ids[name], ())


def alike(root: Root, entry: Entry) -> Iterator[str]:
    """Of the records about the same main anchor those that may be compared with this one, or are paused with it."""
    row = root.anchors.get(entry.main, ()) if entry.main is not None else ()
    if len(row) < 2 or entry.main is None:
        return
    paused = churn.churning(root, entry.main, entry.product)
    for folder in row:
        other = root.entries[folder]
        if other.standing.live and (
            (paused and other.product == entry.product)
            or (
                entry.standing.live
                and other.kind == entry.kind
                and other.scope == entry.scope
                and (other.anchors == entry.anchors or (other.kind == "fact" and other.subtype == entry.subtype))
            )
        ):
            yield folder


def circle(root: Root, entry: Entry) -> set[str]:
    """The folders of all records from which supersession leads to the record and back; empty for a plain chain."""
    twins = {*bearers(root, entry.id), *bearers(root, entry.folder)} - {entry.directory}
    starts = [entry, *(root.entries[folder] for folder in twins)]
    newer = generations(root, starts, "supersedes", "superseded-by")
    older = generations(root, starts, "superseded-by", "supersedes") if newer else set[str]()
    return newer & older


def generations(root: Root, starts: list[Entry], theirs: str, own: str) -> set[str]:
    """The folders that supersession leads to from these, by either side's word."""
    found: set[str] = set()
    waiting = list(starts)
    while waiting and len(found) < MAX_CHAIN:
        here = waiting.pop()
        folders = [link.directory for link in pointing(root, here) if link.type == theirs]
        for target in here.related(own):
            folders += bearers(root, target)
        for folder in folders:
            if folder not in found:
                found.add(folder)
                waiting.append(root.entries[folder])
    return found


def check_ledger(directory: str, product: str, root: Root, selection: Selection) -> Iterator[Finding]:
    """What is wrong with a product's run ledger: what its parser found, and what is looked for in any text."""
    file = root.reader.file(f"{directory}/{LEDGER}")
    if file is None:
        return
    alone = Bundle(directory, product, {LEDGER: file})
    for problem in file.problems:
        rule = named(problem.rule)
        severity = selection.severity(rule) if rule else None
        if rule and severity:
            mends = rule.bundle.fixes if isinstance(rule.bundle, FromParser) else None
            fixes = tuple(mends(alone, LEDGER, problem)) if mends else ()
            at, message = file.span(problem.at), secrets.masked(problem.message)
            yield Finding(rule, severity, f"{directory}/{LEDGER}", at, message, None, fixes=fixes)
    rules = [planned for planned in plan(selection).texts if planned[0].name in OF_ANY_TEXT]
    for finding in run(rules, (alone, root), directory, root, lambda: alone):
        yield replace(finding, record=None)


def check_root(root: Root, selection: Selection = ALL) -> list[Finding]:
    """What is wrong with a root outside its bundles: run ledgers, links among the bundles' folders."""
    found: list[Finding] = []
    for name in root.products:
        found += check_ledger(f"{root.path}/memory/{name}", name, root, selection)
    link_rule = named("link-leaves-root")
    severity = selection.severity(link_rule) if link_rule else None
    if link_rule and severity:
        message = "a symbolic link where a folder of the root belongs; it is not followed"
        found += [Finding(link_rule, severity, link, NOWHERE, message, None) for link in root.links]
    return ordered(found)
