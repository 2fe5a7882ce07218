"""Findings as LSP diagnostics: plain objects, encoded once and kept as bytes, since most are sent again unchanged."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from memidex.lsp import convert
from memidex.text import Encoding, Source, Span

if TYPE_CHECKING:
    from memidex.rules.rule import Finding

SEVERITY = {"error": 1, "warning": 2, "info": 3, "hint": 4}
TAG = {"unnecessary": 1, "deprecated": 2}
RULE_PAGES = "https://memidex.invalid/rules/"
MOST = 2_000
"""Diagnostics of one file that are sent: more make an editor slow and nobody reads them."""
encode = msgspec.json.Encoder().encode
Sources = Callable[[str], Source]


class Report(msgspec.Struct, frozen=True, gc=False):
    """The diagnostics of one file as they are sent: the JSON list, and an id that changes just when the list does."""

    items: bytes
    result_id: str


EMPTY = Report(b"[]", "0")


def report(
    findings: Iterable[Finding], source: Source, encoding: Encoding, sources: Sources, page: Callable[[str], str]
) -> Report:
    """The findings of one file. `sources` gives the texts of related files, `page` the address of a rule's page."""
    findings = list(findings)
    items = [diagnostic(finding, source, encoding, sources, page) for finding in findings[:MOST]]
    if not items:
        return EMPTY
    if len(findings) > MOST:
        message = f"{len(findings) - MOST:,} more findings in this file are not shown here; `memidex check` lists them"
        items.append({**items[-1], "severity": 3, "message": message, "data": None, "tags": []})
    data = encode(items)
    return Report(data, hashlib.blake2b(data, digest_size=8).hexdigest())


def diagnostic(
    finding: Finding, source: Source, encoding: Encoding, sources: Sources, page: Callable[[str], str]
) -> dict[str, Any]:
    item: dict[str, Any] = {
        "range": range_of(source, finding.span, encoding),
        "severity": SEVERITY[finding.severity],
        "code": finding.rule.code,
        "source": "memidex",
        "message": f"{finding.message} [{finding.rule.name}]",
        "data": {"rule": finding.rule.name, "record": finding.record},
    }
    address = page(finding.rule.name)
    if address:
        item["codeDescription"] = {"href": address}
    if finding.tags:
        item["tags"] = [TAG[tag] for tag in finding.tags]
    if finding.related:
        item["relatedInformation"] = [
            {
                "location": {"uri": convert.path_to_uri(path), "range": range_of(sources(path), span, encoding)},
                "message": message,
            }
            for path, span, message in finding.related
        ]
    return item


def range_of(source: Source, span: Span, encoding: Encoding) -> dict[str, Any]:
    place = convert.range_(source, span, encoding)
    start, end = place.start, place.end
    return {
        "start": {"line": start.line, "character": start.character},
        "end": {"line": end.line, "character": end.character},
    }
