"""What is rendered is read back the same, and what is read as we write it is rendered the same byte for byte."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memidex import example
from memidex.records.memidex import read, render, values
from records.json_strategies import CHARACTERS, TEXT

# The record on the format's own page, and the log that stands beside it there.
SEED = """\
---
schemaVersion: 2
id: "fact-el-button-place-order-36-00-dd75ab371443d7b6"
kind: "fact"
subtype: "behavioral"
anchors: [{"raw":{"t":"el","role":"button","name":"place order · $36.00","ordinal":0},"normalized":{"t":"el","role":"button","name":"place order · $36.00","ordinal":0}},{"raw":{"t":"platform","platform":"web"},"normalized":{"t":"platform","platform":"web"}}]
scope: {"tier":"product","key":"komazon"}
createdAtOrdinal: 1
originClass: "agent-verified"
evidenceIncomplete: false
---

## Summary

button "place order · $36.00" resolved as a verified element

## Detail

Verified button "place order · $36.00" from the recorded screen state.
"""
LOG = """\
{"buildOrdinal":1,"origin":"agent-verified","type":"confirmed"}
{"buildOrdinal":3,"origin":"agent-verified","type":"confirmed"}
{"buildOrdinal":5,"origin":"agent-verified","type":"confirmed"}
"""

ORDINAL = st.integers(0, 2**53 - 1)
TARGETS = st.one_of(
    st.builds(values.Element, TEXT, TEXT, ORDINAL),
    st.builds(values.Page, TEXT),
    st.builds(values.Flow, TEXT),
    st.builds(values.Platform, st.sampled_from(["web", "android", "ios"])),
    st.builds(values.Selector, TEXT),
    st.builds(values.ErrorMessage, TEXT),
)
ANCHORS = st.builds(values.Anchor, TARGETS, TARGETS)
SCOPES = st.builds(values.Scope, st.sampled_from(["global", "product", "suite", "test"]), st.none() | TEXT)


def plain_body(text: str) -> bool:
    """Whether a section's text is one that we write: not blank, no headings, line ends of one kind, nothing to silence."""
    return bool(
        text == text.strip()
        and text
        and not any(mark in text for mark in ("\0", "\r", "memidex:", "<<<<<<<", "```", "~~~"))
        and not any(line.startswith("##") for line in text.split("\n"))
    )


BODY = st.text(CHARACTERS, min_size=1, max_size=80).map(str.strip).filter(plain_body)
RECORDS = st.builds(
    values.Record,
    id=TEXT,
    kind=st.sampled_from(["fact", "caution", "procedure", "unknown", "policy"]),
    subtype=st.sampled_from([None, "selector", "behavioral", "navigational", "measurement"]),
    anchors=st.lists(ANCHORS, min_size=1, max_size=3).map(tuple),
    scope=SCOPES,
    created=ORDINAL,
    origin=st.sampled_from(["user", "agent-verified"]),
    incomplete=st.booleans(),
    summary=BODY,
    detail=BODY,
)
MAYBE = st.none() | TEXT
INSTANTS = st.none() | st.datetimes(min_value=datetime(1, 1, 2), timezones=st.just(UTC))  # noqa: DTZ001
PATHS = ["deterministic-verdict-floor", "gate1-lower-trust", "gate1+gate2", "user-sovereign"]
EVENTS = st.builds(
    values.Event,
    ordinal=ORDINAL,
    origin=st.sampled_from(["user", "agent-verified"]),
    type=st.sampled_from(
        ["confirmed", "contradicted", "helpful", "harmful", "promoted", "superseded", "deprecated", "window-close"]
    ),
    id=MAYBE,
    at=INSTANTS,
    run=MAYBE,
    actor=MAYBE,
    note=MAYBE,
    test=MAYBE,
    step=st.none() | ORDINAL | TEXT,
    path=st.sampled_from([None, *PATHS]),
    by=MAYBE,
    reason=st.sampled_from([None, "rejected", "forgotten", "retired"]),
    retracts=st.none() | st.lists(TEXT, max_size=3).map(tuple),
    overturns=MAYBE,
)
RELATIONS = st.builds(values.Relation, TEXT, TEXT, st.none() | ORDINAL, MAYBE, st.sampled_from([None, True, False]))
HASHES = st.text("0123456789abcdef", min_size=64, max_size=64)
MANIFESTS = st.builds(
    values.Manifest,
    st.dictionaries(TEXT, st.builds(values.Sealed, HASHES, st.none() | ORDINAL), max_size=4),
    st.just("sha256"),
    st.just(2),
)


def value(name: str, text: str) -> Any:
    file = read.parse(name, text.encode())
    assert file.problems == ()
    return file.value


def test_the_formats_own_example_is_read_and_written_byte_for_byte() -> None:
    record = value("record.md", SEED)
    assert record.summary == 'button "place order · $36.00" resolved as a verified element'
    assert record.anchors[0].normalized == values.Element("button", "place order · $36.00")
    assert render.record(record) == SEED
    log = value("evidence/outcomes.jsonl", LOG)
    assert [event.ordinal for event in log.events] == [1, 3, 5]
    assert render.events(log.events) == LOG


@given(record=RECORDS)
def test_a_record_is_read_back_as_it_was(record: values.Record) -> None:
    text = render.record(record)
    assert value("record.md", text) == record
    assert render.record(value("record.md", text)) == text


@given(record=RECORDS)
def test_a_record_with_other_line_ends_says_the_same(record: values.Record) -> None:
    assert value("record.md", render.record(record).replace("\n", "\r\n")) == record


@given(events=st.lists(EVENTS, max_size=5))
def test_a_log_is_read_back_as_it_was(events: list[values.Event]) -> None:
    text = render.events(events)
    log = value("evidence/outcomes.jsonl", text)
    assert list(log.events) == events
    assert render.events(log.events) == text
    assert len(log.identities) == len(events)
    assert list(log.lines) == list(range(len(events)))


@given(relations=st.lists(RELATIONS, max_size=4))
def test_relations_are_read_back_as_they_were(relations: list[values.Relation]) -> None:
    text = render.relations(relations)
    assert list(value("relations.json", text).relations) == relations
    assert render.relations(value("relations.json", text).relations) == text


@given(manifest=MANIFESTS)
def test_a_manifest_is_read_back_as_it_was(manifest: values.Manifest) -> None:
    text = render.manifest(manifest)
    assert value("manifest.json", text) == manifest
    assert render.manifest(value("manifest.json", text)) == text


@pytest.mark.parametrize("path", sorted(example.path().rglob("bundles/*/record.md")), ids=lambda path: path.parent.name)
def test_a_record_of_the_example_is_written_as_it_stands(path: Path) -> None:
    assert render.record(value("record.md", path.read_text(encoding="utf-8"))) == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["evidence/outcomes.jsonl", "relations.json", "manifest.json"])
def test_a_file_of_the_example_is_written_as_it_stands(name: str) -> None:
    writers = {
        "evidence/outcomes.jsonl": lambda found: render.events(found.events),
        "relations.json": lambda found: render.relations(found.relations),
        "manifest.json": render.manifest,
    }
    paths = sorted(example.path().rglob(f"bundles/*/{name}"))
    assert len(paths) > 30
    for path in paths:
        text = path.read_text(encoding="utf-8")
        assert writers[name](value(name, text)) == text, path


def test_the_identity_of_an_event_without_an_id_is_the_hash_of_its_line_whatever_ends_it() -> None:
    unix, windows = value("evidence/outcomes.jsonl", LOG), value("evidence/outcomes.jsonl", LOG.replace("\n", "\r\n"))
    assert unix.identities == windows.identities
    assert len(set(unix.identities)) == 3
    assert all(len(identity) == 64 for identity in unix.identities)


def test_every_struct_can_be_rendered() -> None:
    assert render.bare(values.Run(1, at=datetime(2026, 1, 1, tzinfo=UTC), tests=values.Tests(1, 0))) == {
        "ordinal": 1,
        "at": "2026-01-01T00:00:00Z",
        "tests": {"passed": 1, "failed": 0},
    }
    assert msgspec.json.decode(render.line_of(render.bare(values.Platform("ios")))) == {
        "t": "platform",
        "platform": "ios",
    }
