"""The accepting path and the explaining path are one reader: what the first accepts the second reads the same."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memidex.records.memidex import explain, read
from memidex.records.memidex.read import File, Log, Problem
from records.json_strategies import FILES, damaged, records, texts

SOMETIMES = settings(max_examples=120)


def accepted(name: str, data: bytes) -> tuple[bool, Any]:
    """Whether the accepting path takes a file, and the value it reads."""
    try:
        return True, plain(read.READERS[name](data))
    except Exception:
        return False, None


def plain(value: Any) -> Any:
    return (value.events, tuple(value.lines), value.identities) if isinstance(value, Log) else value


def agree(name: str, data: bytes) -> File:
    """The file as it is explained, once it is sure that the accepting path says no other thing."""
    explained = explain.file(name, data)
    taken, value = accepted(name, data)
    if taken:
        assert explained.problems == ()
        assert plain(explained.value) == value
    parsed = read.parse(name, data)
    assert plain(parsed.value) == plain(explained.value)
    assert told(parsed) == told(explained)
    return explained


def told(file: File) -> list[Problem]:
    return list(file.problems)


@pytest.mark.parametrize("name", FILES)
@given(data=st.data())
@SOMETIMES
def test_what_the_models_accept_is_accepted_at_once_and_has_no_problem(name: str, data: st.DataObject) -> None:
    text = data.draw(texts(name, wrong=False))
    explained = agree(FILES[name], text)
    assert [problem for problem in explained.problems if problem.rule != "unclear-retraction"] == []
    # A manifest may be written in several ways; only our own is accepted at once.
    assert accepted(FILES[name], text)[0] or explained.problems or name == "manifest"


@pytest.mark.parametrize("name", FILES)
@given(data=st.data())
@SOMETIMES
def test_of_wrong_values_both_say_the_same(name: str, data: st.DataObject) -> None:
    agree(FILES[name], data.draw(texts(name, wrong=True)))


@pytest.mark.parametrize("name", FILES)
@given(data=st.data())
@SOMETIMES
def test_of_damaged_text_both_say_the_same(name: str, data: st.DataObject) -> None:
    agree(FILES[name], data.draw(texts(name, wrong=False).flatmap(damaged)))


@given(data=st.one_of(records(wrong=False), records(wrong=True), records(wrong=False).flatmap(damaged)))
@settings(max_examples=400)
def test_of_a_record_both_say_the_same(data: bytes) -> None:
    agree("record.md", data)


@given(data=records(wrong=False))
def test_a_plain_record_has_no_problem_in_its_frontmatter(data: bytes) -> None:
    rules = {problem.rule for problem in explain.file("record.md", data).problems}
    assert rules <= {"missing-section", "blank-section", "no-anchor"}


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("evidence/outcomes.jsonl", b'{"buildOrdinal":1,"origin":"user",\r"type":"confirmed"}\n'),
        ("evidence/outcomes.jsonl", b'{"buildOrdinal":1,"origin":"user","type":"confirmed"}{"a":1}\n'),
        ("evidence/outcomes.jsonl", b'{"buildOrdinal":1,"origin":"user","type":"confirmed"}\n \n'),
        ("evidence/outcomes.jsonl", b'{"buildOrdinal":1.0,"origin":"user","type":"confirmed"}\n'),
        ("evidence/outcomes.jsonl", b'{"buildOrdinal":1e0,"origin":"user","type":"confirmed"}\n'),
        ("evidence/outcomes.jsonl", b'{"buildOrdinal":1,"origin":"user","type":"confirmed","id":""}\n'),
        ("evidence/outcomes.jsonl", b'{"buildOrdinal":1,"origin":"user","type":"confirmed","x":"\xff"}\n'),
        ("evidence/outcomes.jsonl", b'{"buildOrdinal":1,"origin":"user","type":"confirmed","x":"\\ud800"}\n'),
        ("evidence/outcomes.jsonl", b'{"buildOrdinal":1,"buildOrdinal":2,"origin":"user","type":"confirmed"}\n'),
        ("evidence/outcomes.jsonl", b'{"buildOrdinal":1,"origin":"user","type":"\\u0072etracted"}\n'),
        ("evidence/outcomes.jsonl", b'{"buildOrdinal":1,"origin":"user","type":"overturned","overturns":""}\n'),
        ("evidence/outcomes.jsonl", b'{"buildOrdinal":1,"origin":"user","type":"confirmed","at":"2026-01-01T00:00:60Z"}\n'),
        ("evidence/outcomes.jsonl", b'{"buildOrdinal":1,"origin":"user","type":"confirmed","at":"2026-01-01"}\n'),
        ("evidence/outcomes.jsonl", b'{"buildOrdinal":1,"origin":"user","type":"confirmed","x":' + b"1" * 5000 + b"}\n"),
        ("evidence/outcomes.jsonl", b'{"buildOrdinal":1,"origin":"user","type":"confirmed","x":1e999}\n'),
        ("evidence/measurements.json", b'{"samples":[{"value":' + b"9" * 400 + b"}]}"),
        ("evidence/measurements.json", b'{"samples":[{"value":1e999}]}'),
        ("evidence/measurements.json", b'{"samples":[{"value":' + b"9" * 5000 + b"}]}"),
        ("evidence/measurements.json", b'{"baseline":{"n":-0}}'),
        ("manifest.json", b'{"schemaVersion":"2","files":{}}'),
        ("manifest.json", b'{"schemaVersion":2.0,"algorithm":7,"files":{}}'),
        ("manifest.json", b'{"files":[{"path":["x"],"hash":"0"}]}'),
        ("manifest.json", b'{"files":[]}'),
        ("relations.json", b'{"relations":[],"relations":[{"type":"x","target":"y"}]}'),
        ("relations.json", b'{"relations":[{"type":"x","target":7}]}'),
        ("relations.json", b'{"supersedes":["a",{"target":"b"},3,null]}'),
        ("relations.json", b'[{"type":"x","target":"y"},7]'),
        ("evidence/evidence.md", b"<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n"),
    ],
)  # fmt: skip
def test_both_say_the_same_of_what_is_known_to_part_readers(name: str, data: bytes) -> None:
    agree(name, data)


SEED = b"""---
schemaVersion: 2
id: "fact-el-button-place-order-36-00-dd75ab371443d7b6"
kind: "fact"
subtype: "behavioral"
anchors: [{"raw":{"t":"page","url":"/"},"normalized":{"t":"page","url":"/"}}]
scope: {"tier":"product","key":"komazon"}
createdAtOrdinal: 1
originClass: "agent-verified"
evidenceIncomplete: false
---

## Summary

one

## Detail

two
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"one", b"one\nmore"), (b"one", b"one\r\nmore"), (b"one", b"one\rmore"), (b"one", b"o\x85ne\xe2\x80\xa8"), (b"two", b"##\tMore\n\nx"),
        (b"two", b"## More\n\nx"), (b"two", b"two\r## Summary\r\rx"), (b"one", b"##\tDetail\n\nx"), (b"one", b"one <!-- memidex: allow id-form -->"),
        (b"one", b"~~~\n## Detail\n\nx\n~~~"), (b"one", b" \x0c "), (b"createdAtOrdinal: 1", b"createdAtOrdinal: 1.0"),
        (b"createdAtOrdinal: 1", b"createdAtOrdinal: 1 "), (b"createdAtOrdinal: 1", b"createdAtOrdinal:  1"),
        (b"createdAtOrdinal: 1", b"createdAtOrdinal: 01"), (b"createdAtOrdinal: 1", b"createdAtOrdinal: 1 # one"),
        (b'kind: "fact"', b"kind: fact"), (b'kind: "fact"', b"kind: 'fact'"), (b'subtype: "behavioral"', b"subtype: null"),
        (b'subtype: "behavioral"\n', b""), (b"evidenceIncomplete: false", b"evidenceIncomplete: no"),
        (b'"key":"komazon"', b'"key":null'), (b'"key":"komazon"', b'"key":"\\ud83d\\ude00"'), (b'"komazon"', b'"\x85"'),
        (b'"t":"page"', b'"t":"page","more":[1]'), (b"---\n\n## Summary", b"--- \n\n## Summary"), (b"---\n\n## Summary", b"---\n## Summary"),
        (b"## Summary", b"## Summary "), (b"## Summary", b"## summary"), (b"## Detail", b"### Detail"), (b"\ntwo\n", b"\ntwo"),
        (b"---\nschema", b"\xef\xbb\xbf---\nschema"), (b"schemaVersion: 2", b"schemaVersion: 3"), (b"schemaVersion: 2", b"schemaVersion: \"2\""),
        (b"[{", b"[{\"raw\":1},{"), (b"one", b"\xff"), (b"one", b"\0"), (b"one", b"<<<<<<< x"),
    ],
)  # fmt: skip
def test_both_say_the_same_of_a_record_that_differs_a_little(old: bytes, new: bytes) -> None:
    assert SEED.count(old) >= 1
    for text in (SEED, SEED.replace(b"\n", b"\r\n")):
        agree("record.md", text.replace(old, new, 1))
